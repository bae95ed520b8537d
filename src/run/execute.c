// Running an executable: everything about the caller's buffers is checked first, then the code runs with the host table.
// Nothing here allocates, unless two runs want the executable's one scratch block at the same time.
#include "run/executable.h"

#include <string.h>

// Services -------------------------------------------------------------------------------------------------------------

// What the host table's functions know of this run.
typedef struct run {
  indim_parallel_fn *parallel;
  void *parallel_user;
  const indim_blas *blas;
} run;

static void run_parallel(void *user, indim_host_piece *piece, void *frame, int64_t count, int64_t grain) {
  const run *r = user;
  r->parallel(r->parallel_user, piece, frame, count, grain);
}

static int32_t run_matmul(void *user, const indim_host_matmul *sizes, void *out, const void *lhs, const void *rhs) {
  const run *r = user;
  return indim_matmul_run(r->blas, r->parallel, r->parallel_user, sizes, out, lhs, rhs) ? INDIM_HOST_OK
                                                                                        : INDIM_HOST_FAILED;
}

// Checks ---------------------------------------------------------------------------------------------------------------

static indim_status check_count(indim_ctx *cx, const char *what, int64_t wanted, int64_t given, const void *list) {
  if (given != wanted) {
    indim_fail(cx, INDIM_INVALID, "the program has %lld %s leaves, %lld are given", (long long)wanted, what,
               (long long)given);
    indim_hint(cx, "each array of a tuple is a leaf of its own");
    return INDIM_INVALID;
  }
  if (list == NULL && wanted > 0) {
    return indim_fail(cx, INDIM_INVALID, "the list of %ss is NULL", what);
  }
  return INDIM_OK;
}

static indim_status refuse_buffer(indim_ctx *cx, const char *what, int64_t i, const void *buffer,
                                  const indim_leaf *leaf) {
  if (buffer == NULL) {
    return indim_fail(cx, INDIM_INVALID, "%s leaf %lld is NULL and should hold %lld bytes", what, (long long)i,
                      (long long)leaf->bytes);
  }
  return indim_fail(cx, INDIM_INVALID, "%s leaf %lld lies at %p, which is no multiple of %lld, the alignment of %s",
                    what, (long long)i, buffer, (long long)leaf->misaligned + 1, indim_type_text(leaf->shape->type));
}

static inline bool is_wrong(const void *buffer, const indim_leaf *leaf) {
  return leaf->bytes > 0 && (buffer == NULL || ((uintptr_t)buffer & leaf->misaligned) != 0);
}

static inline bool overlap(const void *a, int64_t a_bytes, const void *b, int64_t b_bytes) {
  uintptr_t x = (uintptr_t)a;
  uintptr_t y = (uintptr_t)b;
  return x < y + (uintptr_t)b_bytes && y < x + (uintptr_t)a_bytes;
}

static indim_status refuse_overlap(indim_ctx *cx, int64_t result, const char *what, int64_t other, bool is_same) {
  indim_fail(cx, INDIM_INVALID, "result leaf %lld overlaps %s leaf %lld", (long long)result, what, (long long)other);
  if (is_same) {
    indim_hint(cx, "a program gives an argument's buffer to a result by its input_output_alias");
  }
  return INDIM_INVALID;
}

static indim_status check_overlaps(indim_ctx *cx, const indim_executable *e, const indim_run_options *o) {
  for (int64_t r = 0; r < e->result_count; r++) {
    const void *buffer = o->results[r];
    int64_t bytes = e->results[r].bytes;
    if (bytes == 0) {
      continue;
    }
    for (int64_t a = 0; a < e->argument_count; a++) {
      bool is_alias = e->results[r].alias == a && buffer == o->arguments[a];
      if (!is_alias && e->arguments[a].bytes > 0 && overlap(buffer, bytes, o->arguments[a], e->arguments[a].bytes)) {
        return refuse_overlap(cx, r, "argument", a, buffer == o->arguments[a]);
      }
    }
    for (int64_t s = 0; s < r; s++) {
      if (e->results[s].bytes > 0 && overlap(buffer, bytes, o->results[s], e->results[s].bytes)) {
        return refuse_overlap(cx, r, "result", s, false);
      }
    }
  }
  return INDIM_OK;
}

static indim_status check(const indim_executable *e, const indim_run_options *o) {
  indim_ctx *cx = o->cx;
  INDIM_TRY(check_count(cx, "argument", e->argument_count, o->argument_count, o->arguments));
  INDIM_TRY(check_count(cx, "result", e->result_count, o->result_count, o->results));
  for (int64_t i = 0; i < e->argument_count; i++) {
    if (is_wrong(o->arguments[i], &e->arguments[i])) {
      return refuse_buffer(cx, "argument", i, o->arguments[i], &e->arguments[i]);
    }
  }
  for (int64_t i = 0; i < e->result_count; i++) {
    if (is_wrong(o->results[i], &e->results[i])) {
      return refuse_buffer(cx, "result", i, o->results[i], &e->results[i]);
    }
  }
  if (((uintptr_t)o->scratch & (INDIM_SCRATCH_ALIGNMENT - 1)) != 0) {
    return indim_fail(cx, INDIM_INVALID, "scratch lies at %p, which is no multiple of %d", o->scratch,
                      (int)INDIM_SCRATCH_ALIGNMENT);
  }
  return check_overlaps(cx, e, o);
}

// Scratch --------------------------------------------------------------------------------------------------------------

#if defined(__GNUC__)
static bool take(uint32_t *in_use) { return __atomic_exchange_n(in_use, 1, __ATOMIC_ACQUIRE) == 0; }
static void give_back(uint32_t *in_use) { __atomic_store_n(in_use, 0, __ATOMIC_RELEASE); }
#else  // nothing to agree by: every run has a block of its own
static bool take(uint32_t *in_use) {
  (void)in_use;
  return false;
}
static void give_back(uint32_t *in_use) { (void)in_use; }
#endif

// A block beside the executable's own. Without a context of this thread it comes uncounted from the allocator.
static indim_status alloc_scratch(const indim_executable *e, indim_ctx *cx, void **out_block, void **out_aligned) {
  if (cx != NULL) {
    return indim_scratch_alloc(cx, e->scratch_bytes, out_block, out_aligned);
  }
  const indim_allocator *allocator = &e->cx->allocator;
  size_t size = (size_t)e->scratch_bytes + INDIM_SCRATCH_ALIGNMENT;
  *out_block = allocator->resize(allocator->self, NULL, 0, size);
  if (*out_block == NULL) {
    return INDIM_NO_MEMORY;
  }
  uintptr_t at = (uintptr_t)*out_block + INDIM_SCRATCH_ALIGNMENT - 1;
  *out_aligned = (void *)(at / INDIM_SCRATCH_ALIGNMENT * INDIM_SCRATCH_ALIGNMENT);
  return INDIM_OK;
}

static void free_scratch(const indim_executable *e, indim_ctx *cx, void *block) {
  size_t size = (size_t)e->scratch_bytes + INDIM_SCRATCH_ALIGNMENT;
  if (cx != NULL) {
    indim_free(cx, block, size);
  } else {
    e->cx->allocator.resize(e->cx->allocator.self, block, size, 0);
  }
}

// Running --------------------------------------------------------------------------------------------------------------

static const volatile int32_t never = 0;

// The list of arguments with copies of those whose buffers are also results', where the code does not stand that.
static const void *const *copy_arguments(const indim_executable *e, const indim_run_options *o, void *scratch) {
  const void **list = (const void **)(void *)((char *)scratch + e->alias_list);
  memcpy(list, o->arguments, (size_t)e->argument_count * sizeof *list);
  for (int64_t r = 0; r < e->result_count; r++) {
    const indim_leaf *leaf = &e->results[r];
    if (leaf->is_copied && leaf->bytes > 0 && o->results[r] == o->arguments[leaf->alias]) {
      void *copy = (char *)scratch + e->arguments[leaf->alias].copy;
      memcpy(copy, o->results[r], (size_t)leaf->bytes);
      list[leaf->alias] = copy;
    }
  }
  return list;
}

static int32_t call(const indim_executable *e, const indim_run_options *o, void *scratch) {
  run r = {.parallel = o->parallel, .parallel_user = o->parallel_user, .blas = &e->blas};
  if (r.parallel == NULL) {  // without a pool, one piece after another
    r.parallel = indim_pool_run;
    r.parallel_user = o->pool;
  }
  indim_host host = {
      .user = &r, .stop = o->stop == NULL ? &never : o->stop, .parallel = run_parallel, .matmul = run_matmul};
  const void *const *arguments = e->has_copies ? copy_arguments(e, o, scratch) : o->arguments;
  return e->function(arguments, o->results, scratch, &host);
}

static indim_status finish(indim_ctx *cx, int32_t code) {
  if (code == INDIM_HOST_OK) {
    return INDIM_OK;
  }
  if (code == INDIM_HOST_STOPPED) {
    return indim_fail(cx, INDIM_INTERRUPTED, "interrupted");
  }
  return indim_fail(cx, INDIM_INTERNAL, "a matrix product was refused by the host");
}

indim_status indim_execute(indim_executable *executable, const indim_run_options *options) {
  if (executable == NULL || options == NULL) {
    return indim_fail(options == NULL ? NULL : options->cx, INDIM_INVALID,
                      "indim_execute: a pointer that is needed is NULL");
  }
  INDIM_TRY(check(executable, options));
  if (options->scratch != NULL || executable->scratch_bytes == 0) {
    return finish(options->cx, call(executable, options, options->scratch));
  }
  if (take(&executable->scratch_in_use)) {
    int32_t code = call(executable, options, executable->scratch);
    give_back(&executable->scratch_in_use);
    return finish(options->cx, code);
  }
  void *block = NULL;
  void *scratch = NULL;
  INDIM_TRY(alloc_scratch(executable, options->cx, &block, &scratch));
  int32_t code = call(executable, options, scratch);
  free_scratch(executable, options->cx, block);
  return finish(options->cx, code);
}
