// Executables: construction for given shapes, queries, and memory.
#if defined(__linux__)
#define _DEFAULT_SOURCE  // madvise
#endif

#include "run/executable.h"

#include "base/size.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

// Memory ---------------------------------------------------------------------------------------------------------------

// Page faults of 4 KiB each cost more than computing what is written there.
static void advise_large_pages(void *memory, size_t size) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  enum { LARGE_PAGE = 2 << 20 };
  uintptr_t begin = ((uintptr_t)memory + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
  uintptr_t end = ((uintptr_t)memory + size) / LARGE_PAGE * LARGE_PAGE;
  if (begin < end) {
    (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE);
  }
#else
  (void)memory;
  (void)size;
#endif
}

indim_status indim_scratch_alloc(indim_ctx *cx, int64_t bytes, void **out_block, void **out_aligned) {
  size_t size = 0;
  *out_block = NULL;
  *out_aligned = NULL;
  if (bytes < 0 || (uint64_t)bytes > SIZE_MAX || !indim_size_add((size_t)bytes, INDIM_SCRATCH_ALIGNMENT, &size)) {
    return indim_fail(cx, INDIM_NO_MEMORY, "%lld bytes of working memory are more than there can be", (long long)bytes);
  }
  INDIM_TRY(indim_alloc(cx, size, out_block));
  advise_large_pages(*out_block, size);
  uintptr_t at = (uintptr_t)*out_block;
  *out_aligned = (void *)((at + INDIM_SCRATCH_ALIGNMENT - 1) / INDIM_SCRATCH_ALIGNMENT * INDIM_SCRATCH_ALIGNMENT);
  return INDIM_OK;
}

void indim_executable_set_alias(indim_executable *e, int64_t result, int64_t argument, bool is_copied) {
  e->results[result].alias = (int32_t)argument;
  e->results[result].is_copied = is_copied;
  e->has_copies = e->has_copies || is_copied;
}

// Appends |bytes| at |*end|, aligned; false on overflow.
static bool lay_out(int64_t *end, int64_t bytes, int64_t *out_offset) {
  int64_t aligned = indim_ceil_div(*end, INDIM_SCRATCH_ALIGNMENT);
  return indim_count_mul(aligned, INDIM_SCRATCH_ALIGNMENT, out_offset) && indim_int_add(*out_offset, bytes, end);
}

indim_status indim_executable_set_scratch(indim_executable *e, int64_t bytes) {
  int64_t end = bytes;
  bool fits = bytes >= 0;
  if (e->has_copies) {
    fits = fits && lay_out(&end, e->argument_count * (int64_t)sizeof(void *), &e->alias_list);
  }
  for (int64_t i = 0; i < e->result_count && fits; i++) {
    if (e->results[i].is_copied) {
      indim_leaf *argument = &e->arguments[e->results[i].alias];
      fits = lay_out(&end, argument->bytes, &argument->copy);
    }
  }
  if (!fits) {
    return indim_fail(e->cx, INDIM_NO_MEMORY, "the working memory is more than there can be");
  }
  e->scratch_bytes = end;
  return end == 0 || e->missing != NULL ? INDIM_OK : indim_scratch_alloc(e->cx, end, &e->scratch_block, &e->scratch);
}

// Making ---------------------------------------------------------------------------------------------------------------

static int64_t alignment_of(indim_type type) {
  indim_type part = indim_type_is_complex(type) ? indim_type_component_of(type) : type;
  int64_t bytes = indim_type_bytes(part);
  return bytes > 0 ? bytes : 1;
}

bool indim_leaf_next(indim_shape_walk *walk) {
  while (indim_shape_walk_next_leaf(walk)) {
    if (indim_shape_is_array(walk->shape)) {
      return true;
    }
  }
  return false;
}

static indim_status add_leaf(indim_ctx *cx, const indim_shape *shape, int32_t size_of, indim_leaf *leaf) {
  *leaf = (indim_leaf){.shape = shape, .size_of = size_of, .alias = -1};
  leaf->misaligned = (uintptr_t)alignment_of(shape->type) - 1;
  return indim_shape_storage_bytes(cx, shape, &leaf->bytes);
}

// A dynamic array and its sizes.
static indim_status add_dynamic(indim_executable *e, const indim_shape *shape, indim_leaf *leaves, int64_t *count) {
  void *memory = NULL;
  INDIM_TRY(indim_arena_array(&e->arena, 2, sizeof *shape, &memory));
  indim_shape *both = memory;
  both[0] = *shape;
  both[0].dynamic = 0;
  INDIM_TRY(indim_shape_init(e->cx, INDIM_S32, 0, NULL, &both[1]));
  INDIM_TRY(add_leaf(e->cx, &both[0], -1, &leaves[(*count)++]));
  for (int32_t d = 0; d < shape->rank; d++) {
    if (indim_shape_is_dynamic_dim(shape, d)) {
      INDIM_TRY(add_leaf(e->cx, &both[1], d, &leaves[(*count)++]));
    }
  }
  return INDIM_OK;
}

static int64_t count_leaves(const indim_shape *shape) {
  indim_shape_walk walk;
  int64_t count = 0;
  indim_shape_walk_init(&walk, shape);
  while (indim_leaf_next(&walk)) {
    count++;
    for (uint64_t dynamic = walk.shape->dynamic; dynamic != 0; dynamic &= dynamic - 1) {
      count++;
    }
  }
  return count;
}

static indim_status add_leaves(indim_executable *e, const indim_shape *shape, indim_leaf *leaves, int64_t *count) {
  indim_shape_walk walk;
  indim_shape_walk_init(&walk, shape);
  while (indim_leaf_next(&walk)) {
    INDIM_TRY(walk.shape->dynamic != 0 ? add_dynamic(e, walk.shape, leaves, count)
                                       : add_leaf(e->cx, walk.shape, -1, &leaves[(*count)++]));
  }
  return INDIM_OK;
}

static indim_status copy_shape(indim_arena *arena, const indim_shape *shape, const indim_shape **out) {
  void *memory = NULL;
  INDIM_TRY(indim_arena_alloc(arena, sizeof *shape, &memory));
  indim_shape *copy = memory;
  INDIM_TRY(indim_shape_copy(arena, shape, copy));
  *out = copy;
  return INDIM_OK;
}

static indim_status fill(indim_executable *e, const indim_shape *const *parameter_shapes,
                         const indim_str *parameter_names, int64_t parameter_count, const indim_shape *result_shape) {
  void *memory = NULL;
  int64_t leaves = 0;
  INDIM_TRY(indim_arena_array(&e->arena, (size_t)parameter_count, sizeof *e->parameter_shapes, &memory));
  e->parameter_shapes = memory;
  INDIM_TRY(indim_arena_array(&e->arena, (size_t)parameter_count, sizeof *e->parameter_names, &memory));
  e->parameter_names = memory;
  e->parameter_count = parameter_count;
  for (int64_t i = 0; i < parameter_count; i++) {
    INDIM_TRY(copy_shape(&e->arena, parameter_shapes[i], &e->parameter_shapes[i]));
    INDIM_TRY(indim_arena_str(&e->arena, parameter_names[i], &e->parameter_names[i]));
    leaves += count_leaves(parameter_shapes[i]);
  }
  INDIM_TRY(copy_shape(&e->arena, result_shape, &e->result_shape));
  INDIM_TRY(indim_arena_array(&e->arena, (size_t)leaves, sizeof *e->arguments, &memory));
  e->arguments = memory;
  for (int64_t i = 0; i < parameter_count; i++) {
    INDIM_TRY(add_leaves(e, e->parameter_shapes[i], e->arguments, &e->argument_count));
  }
  size_t result_leaves = (size_t)count_leaves(result_shape);
  INDIM_TRY(indim_arena_array(&e->arena, result_leaves, sizeof *e->results, &memory));
  e->results = memory;
  return add_leaves(e, e->result_shape, e->results, &e->result_count);
}

indim_status indim_executable_create(indim_ctx *cx, const indim_shape *const *parameter_shapes,
                                     const indim_str *parameter_names, int64_t parameter_count,
                                     const indim_shape *result_shape, indim_executable **out_executable) {
  void *memory = NULL;
  *out_executable = NULL;
  INDIM_TRY(indim_alloc_zeroed(cx, sizeof(indim_executable), &memory));
  indim_executable *e = memory;
  e->cx = cx;
  indim_arena_init(&e->arena, cx);
  indim_status status = fill(e, parameter_shapes, parameter_names, parameter_count, result_shape);
  if (status != INDIM_OK) {
    indim_executable_destroy(e);
    return status;
  }
  *out_executable = e;
  return INDIM_OK;
}

indim_status indim_executable_set_target(indim_executable *executable, const char *name, int32_t vector_bytes,
                                         const char *missing) {
  indim_str copy;
  INDIM_TRY(indim_arena_str(&executable->arena, indim_str_of(name), &copy));
  executable->target = copy.data;
  executable->vector_bytes = vector_bytes;
  if (missing[0] != '\0') {
    INDIM_TRY(indim_arena_str(&executable->arena, indim_str_of(missing), &copy));
    executable->missing = copy.data;
  }
  return INDIM_OK;
}

void indim_executable_destroy(indim_executable *executable) {
  if (executable == NULL) {
    return;
  }
  indim_blas_close(&executable->blas);
  if (executable->release != NULL) {
    executable->release(executable->code, executable->library);
  }
  if (executable->calls.calls != NULL) {
    executable->calls.destroy(executable->cx, executable->calls.calls);
  }
  indim_free(executable->cx, executable->scratch_block, (size_t)executable->scratch_bytes + INDIM_SCRATCH_ALIGNMENT);
  indim_arena_deinit(&executable->arena);
  indim_free(executable->cx, executable, sizeof *executable);
}

// Queries --------------------------------------------------------------------------------------------------------------

static const indim_leaf *argument_of(const indim_executable *e, int64_t leaf) {
  return e == NULL || leaf < 0 || leaf >= e->argument_count ? NULL : &e->arguments[leaf];
}

static const indim_leaf *result_of(const indim_executable *e, int64_t leaf) {
  return e == NULL || leaf < 0 || leaf >= e->result_count ? NULL : &e->results[leaf];
}

static const indim_shape *shape_of(const indim_leaf *leaf) { return leaf == NULL ? NULL : leaf->shape; }
static int64_t bytes_of(const indim_leaf *leaf) { return leaf == NULL ? 0 : leaf->bytes; }
static int64_t alignment_of_leaf(const indim_leaf *leaf) { return leaf == NULL ? 0 : (int64_t)leaf->misaligned + 1; }

int64_t indim_executable_argument_count(const indim_executable *e) { return e == NULL ? 0 : e->argument_count; }
int64_t indim_executable_result_count(const indim_executable *e) { return e == NULL ? 0 : e->result_count; }

const indim_shape *indim_executable_argument_shape(const indim_executable *e, int64_t leaf) {
  return shape_of(argument_of(e, leaf));
}

const indim_shape *indim_executable_result_shape(const indim_executable *e, int64_t leaf) {
  return shape_of(result_of(e, leaf));
}

int64_t indim_executable_argument_bytes(const indim_executable *e, int64_t leaf) {
  return bytes_of(argument_of(e, leaf));
}

int64_t indim_executable_result_bytes(const indim_executable *e, int64_t leaf) { return bytes_of(result_of(e, leaf)); }

int64_t indim_executable_argument_alignment(const indim_executable *e, int64_t leaf) {
  return alignment_of_leaf(argument_of(e, leaf));
}

int64_t indim_executable_result_alignment(const indim_executable *e, int64_t leaf) {
  return alignment_of_leaf(result_of(e, leaf));
}

int64_t indim_executable_result_alias(const indim_executable *e, int64_t leaf) {
  const indim_leaf *result = result_of(e, leaf);
  return result == NULL ? -1 : result->alias;
}

int64_t indim_executable_scratch_bytes(const indim_executable *e) { return e == NULL ? 0 : e->scratch_bytes; }
int64_t indim_executable_code_bytes(const indim_executable *e) { return e == NULL ? 0 : e->code_bytes; }
const char *indim_executable_target(const indim_executable *e) { return e == NULL ? NULL : e->target; }
int32_t indim_executable_vector_bytes(const indim_executable *e) { return e == NULL ? 0 : e->vector_bytes; }
const char *indim_executable_missing(const indim_executable *e) { return e == NULL ? NULL : e->missing; }

int64_t indim_executable_step_count(const indim_executable *e) { return e == NULL ? 0 : e->step_count; }

const indim_profile_step *indim_executable_step(const indim_executable *e, int64_t index) {
  return e == NULL || index < 0 || index >= e->step_count ? NULL : &e->steps[index];
}

void indim_executable_times(const indim_executable *e, indim_compile_times *out_times) {
  if (out_times != NULL) {
    *out_times = e == NULL ? (indim_compile_times){0} : e->times;
  }
}
