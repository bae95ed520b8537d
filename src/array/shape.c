// Making shapes and asking them: the constructors check what the caller gives, everything else trusts a made shape.
#include "array/shape_internal.h"

#include <inttypes.h>
#include <string.h>

#include "array/shape_text.h"
#include "base/arena.h"
#include "base/size.h"

static indim_status check_sizes(indim_ctx *cx, indim_type type, int32_t rank, const int64_t *sizes, uint64_t dynamic) {
  for (int32_t d = 0; d < rank; d++) {
    bool is_dynamic = (dynamic >> d & 1) != 0;
    if (sizes[d] == INDIM_UNBOUNDED && !is_dynamic) {
      indim_fail(cx, INDIM_INVALID, "invalid dimension size: dimension %d of %s[...] is unbounded but not dynamic",
                 (int)d, indim_type_text(type));
      indim_hint(cx, "mark it dynamic, or give it a size of 0 or more");
      return INDIM_INVALID;
    }
    if (sizes[d] < 0 && sizes[d] != INDIM_UNBOUNDED) {
      indim_fail(cx, INDIM_INVALID, "invalid dimension size: dimension %d of %s[...] has size %" PRId64, (int)d,
                 indim_type_text(type), sizes[d]);
      indim_hint(cx, "sizes are 0 or more; an unknown size is written ?");
      return INDIM_INVALID;
    }
  }
  int64_t bytes = indim_type_bytes(type);
  for (int32_t d = 0; d < rank; d++) {
    if (sizes[d] != INDIM_UNBOUNDED && !indim_count_mul(bytes, sizes[d], &bytes)) {
      return indim_fail(
          cx, INDIM_INVALID,
          "overflow in static extent product: the bytes of this %s array pass 2^63 at dimension %d of size "
          "%" PRId64,
          indim_type_text(type), (int)d, sizes[d]);
    }
  }
  return INDIM_OK;
}

indim_status indim_shape_init_dynamic(indim_ctx *cx, indim_type type, int32_t rank, const int64_t *sizes,
                                      uint64_t dynamic, indim_shape *out_shape) {
  INDIM_NOT_NULL(cx, out_shape);
  if (!indim_type_is_array(type)) {
    indim_fail(cx, INDIM_INVALID, "%s is no element type of an array", indim_type_text(type));
    indim_hint(cx, "array types are pred, s*, u*, f*, bf16 and c*; see type.def");
    return INDIM_INVALID;
  }
  if (rank < 0) {
    return indim_fail(cx, INDIM_INVALID, "rank %d is negative", (int)rank);
  }
  if (rank > INDIM_MAX_RANK) {
    return indim_fail(cx, INDIM_LIMIT, "rank %d is above the largest, %d", (int)rank, INDIM_MAX_RANK);
  }
  if (rank < INDIM_MAX_RANK && dynamic >> rank != 0) {
    return indim_fail(cx, INDIM_INVALID, "dynamic flags 0x%" PRIx64 " name a dimension beyond rank %d", dynamic,
                      (int)rank);
  }
  if (rank > 0) {
    INDIM_NOT_NULL(cx, sizes);
    INDIM_TRY(check_sizes(cx, type, rank, sizes, dynamic));
  }
  indim_shape shape = {.type = type, .rank = rank, .dynamic = dynamic, .has_layout = true};
  indim_layout_init(rank, &shape.layout);
  for (int32_t d = 0; d < rank; d++) {
    shape.sizes[d] = sizes[d];
  }
  *out_shape = shape;
  return INDIM_OK;
}

indim_status indim_shape_init(indim_ctx *cx, indim_type type, int32_t rank, const int64_t *sizes,
                              indim_shape *out_shape) {
  uint64_t dynamic = 0;
  for (int32_t d = 0; sizes != NULL && d < rank && d < INDIM_MAX_RANK; d++) {
    dynamic |= (uint64_t)(sizes[d] == INDIM_UNBOUNDED) << d;
  }
  return indim_shape_init_dynamic(cx, type, rank, sizes, dynamic, out_shape);
}

indim_shape indim_shape_plain(indim_type type) {
  bool is_plain = type == INDIM_TOKEN || type == INDIM_OPAQUE;
  return (indim_shape){.type = is_plain ? type : INDIM_TYPE_INVALID};
}

indim_status indim_shape_tuple_of(indim_arena *arena, const indim_shape *const *members, int64_t count,
                                  indim_shape *out_shape) {
  int32_t depth = 0;
  for (int64_t i = 0; i < count; i++) {
    depth = members[i]->depth > depth ? members[i]->depth : depth;
  }
  if (depth >= INDIM_MAX_TUPLE_DEPTH) {
    return indim_fail(arena->cx, INDIM_LIMIT, "tuples are nested deeper than %d", INDIM_MAX_TUPLE_DEPTH);
  }
  void *list = NULL;
  INDIM_TRY(indim_arena_array(arena, (size_t)count, sizeof *members, &list));
  if (count > 0) {
    memcpy(list, members, (size_t)count * sizeof *members);
  }
  *out_shape = (indim_shape){.type = INDIM_TUPLE, .member_count = count, .members = list, .depth = depth + 1};
  return INDIM_OK;
}

// Copies |count| shapes and lists where they lie.
static indim_status copy_members(indim_arena *arena, const indim_shape *const *members, int64_t count,
                                 const indim_shape ***out_members) {
  void *list = NULL;
  INDIM_TRY(indim_arena_array(arena, (size_t)count, sizeof **out_members, &list));
  const indim_shape **copies = list;
  for (int64_t i = 0; i < count; i++) {
    void *copy = NULL;
    INDIM_TRY(indim_arena_alloc(arena, sizeof(indim_shape), &copy));
    INDIM_TRY(indim_shape_copy(arena, members[i], copy));
    copies[i] = copy;
  }
  *out_members = copies;
  return INDIM_OK;
}

// Depth is bounded: physical shapes and members were made with the limit on nesting.
indim_status indim_shape_copy(indim_arena *arena, const indim_shape *shape, indim_shape *out_shape) {
  if (arena == NULL || shape == NULL || out_shape == NULL) {
    return INDIM_INVALID;
  }
  const indim_shape **members = NULL;
  if (shape->member_count > 0) {
    INDIM_TRY(copy_members(arena, shape->members, shape->member_count, &members));
  }
  void *physical = NULL;
  if (shape->has_layout && shape->layout.physical_shape != NULL) {
    INDIM_TRY(indim_arena_alloc(arena, sizeof(indim_shape), &physical));
    INDIM_TRY(indim_shape_copy(arena, shape->layout.physical_shape, physical));
  }
  if (out_shape != shape) {
    *out_shape = *shape;
  }
  out_shape->members = members;
  out_shape->layout.physical_shape = physical;
  return INDIM_OK;
}

indim_status indim_shape_init_tuple(indim_arena *arena, const indim_shape *members, int64_t count,
                                    indim_shape *out_shape) {
  if (arena == NULL) {
    return INDIM_INVALID;
  }
  INDIM_NOT_NULL(arena->cx, out_shape);
  if (count < 0) {
    return indim_fail(arena->cx, INDIM_INVALID, "a tuple of %" PRId64 " members cannot be", count);
  }
  if (count > 0) {
    INDIM_NOT_NULL(arena->cx, members);
  }
  void *list = NULL;
  INDIM_TRY(indim_arena_array(arena, (size_t)count, sizeof(const indim_shape *), &list));
  const indim_shape **pointers = list;
  for (int64_t i = 0; i < count; i++) {
    pointers[i] = &members[i];
  }
  const indim_shape **copies = NULL;
  INDIM_TRY(copy_members(arena, pointers, count, &copies));
  return indim_shape_tuple_of(arena, copies, count, out_shape);
}

indim_status indim_shape_init_buffer(indim_arena *arena, const indim_shape *array, indim_shape *out_shape) {
  if (arena == NULL) {
    return INDIM_INVALID;
  }
  INDIM_NOT_NULL(arena->cx, array);
  INDIM_NOT_NULL(arena->cx, out_shape);
  if (!indim_shape_is_array(array)) {
    indim_fail(arena->cx, INDIM_INVALID, "a buffer must have an array shape, not %s", indim_shape_name_of(array).text);
    indim_hint(arena->cx, "write it as b(f32[2,3])");
    return INDIM_INVALID;
  }
  const indim_shape **copies = NULL;
  INDIM_TRY(copy_members(arena, &array, 1, &copies));
  *out_shape = (indim_shape){.type = INDIM_BUFFER, .member_count = 1, .members = copies, .depth = 1};
  return INDIM_OK;
}

// Asking ----------------------------------------------------------------------------------------------------------

bool indim_shape_is_array(const indim_shape *shape) { return shape != NULL && indim_type_is_array(shape->type); }
bool indim_shape_is_scalar(const indim_shape *shape) { return indim_shape_is_array(shape) && shape->rank == 0; }
bool indim_shape_is_tuple(const indim_shape *shape) { return shape != NULL && shape->type == INDIM_TUPLE; }

bool indim_shape_is_dynamic_dim(const indim_shape *shape, int32_t dim) {
  if (shape == NULL) {
    return false;
  }
  return dim >= 0 && dim < shape->rank && (shape->dynamic >> dim & 1) != 0;
}

bool indim_shape_is_static(const indim_shape *shape) {
  if (shape == NULL) {
    return false;
  }
  if (shape->dynamic != 0) {
    return false;
  }
  for (int64_t i = 0; i < shape->member_count; i++) {
    if (!indim_shape_is_static(shape->members[i])) {
      return false;
    }
  }
  return true;
}

bool indim_shape_is_unbounded(const indim_shape *shape) {
  if (shape == NULL) {
    return false;
  }
  for (int32_t d = 0; d < shape->rank; d++) {
    if (shape->sizes[d] == INDIM_UNBOUNDED) {
      return true;
    }
  }
  for (int64_t i = 0; i < shape->member_count; i++) {
    if (indim_shape_is_unbounded(shape->members[i])) {
      return true;
    }
  }
  return false;
}

int32_t indim_shape_true_rank(const indim_shape *shape) {
  if (shape == NULL) {
    return 0;
  }
  int32_t count = 0;
  for (int32_t d = 0; d < shape->rank; d++) {
    count += shape->sizes[d] > 1 || shape->sizes[d] == INDIM_UNBOUNDED;
  }
  return count;
}

indim_status indim_shape_dim(indim_ctx *cx, const indim_shape *shape, int64_t dim, int32_t *out_dim) {
  INDIM_NOT_NULL(cx, shape);
  INDIM_NOT_NULL(cx, out_dim);
  int32_t rank = shape->rank;
  if (dim < -rank || dim >= rank) {
    indim_fail(cx, INDIM_INVALID, "dimension %" PRId64 " is out of bounds for %s of rank %d", dim,
               indim_shape_name_of(shape).text, (int)rank);
    if (rank > 0) {
      indim_hint(cx, "use 0 to %d, or -1 (the last) to %d", (int)rank - 1, -(int)rank);
    } else {
      indim_hint(cx, "a scalar has no dimensions");
    }
    return INDIM_INVALID;
  }
  *out_dim = (int32_t)(dim < 0 ? dim + rank : dim);
  return INDIM_OK;
}

char indim_shape_dim_letter(int32_t rank, int32_t dim) {
  static const char letters[] = "pzyx";
  return rank >= 2 && rank <= 4 && dim >= 0 && dim < rank ? letters[4 - rank + dim] : '\0';
}
