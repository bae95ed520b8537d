// Shapes made from others: dimensions added, removed and reordered, and every array of a tree changed alike.
#include <string.h>

#include "array/permutation.h"
#include "array/shape_internal.h"
#include "array/shape_text.h"
#include "base/arena.h"
#include "indim/shape_util.h"

static indim_status need_array(indim_ctx *cx, const indim_shape *shape) {
  if (!indim_shape_is_array(shape)) {
    return indim_fail(cx, INDIM_INVALID, "%s is no array", indim_shape_name_of(shape).text);
  }
  return INDIM_OK;
}

static void give_layout(indim_shape *shape) {
  if (!shape->has_layout) {
    shape->has_layout = true;
    indim_layout_init(shape->rank, &shape->layout);
  }
}

// Dimensions --------------------------------------------------------------------------------------------------------

// The shape with |size| as its last dimension; the layout is the caller's to fix.
static indim_status append(indim_ctx *cx, const indim_shape *shape, int64_t size, indim_shape *out) {
  INDIM_TRY(need_array(cx, shape));
  if (shape->rank == INDIM_MAX_RANK) {
    return indim_fail(cx, INDIM_LIMIT, "rank %d is above the limit of %d", shape->rank + 1, INDIM_MAX_RANK);
  }
  *out = *shape;
  give_layout(out);
  out->sizes[out->rank] = size;
  out->dynamic |= (uint64_t)(size == INDIM_UNBOUNDED) << out->rank;
  if (out->layout.padded_rank > 0) {
    out->layout.padded_sizes[out->layout.padded_rank++] = size;
  }
  out->layout.minor_to_major[out->rank] = out->rank;
  out->layout.rank = ++out->rank;
  return INDIM_OK;
}

indim_status indim_shape_append_major_dim(indim_ctx *cx, const indim_shape *shape, int64_t size,
                                          indim_shape *out_shape) {
  INDIM_NOT_NULL(cx, shape);
  INDIM_NOT_NULL(cx, out_shape);
  indim_shape result;
  INDIM_TRY(append(cx, shape, size, &result));
  INDIM_TRY(indim_shape_validate(cx, &result, true));
  *out_shape = result;
  return INDIM_OK;
}

indim_status indim_shape_append_minor_dim(indim_ctx *cx, const indim_shape *shape, int64_t size,
                                          indim_shape *out_shape) {
  INDIM_NOT_NULL(cx, shape);
  INDIM_NOT_NULL(cx, out_shape);
  indim_shape result;
  INDIM_TRY(append(cx, shape, size, &result));
  indim_permutation_move(result.layout.minor_to_major, result.rank, result.rank - 1, 0);
  INDIM_TRY(indim_shape_validate(cx, &result, true));
  *out_shape = result;
  return INDIM_OK;
}

indim_status indim_shape_insert_dims(indim_ctx *cx, const indim_shape *shape, int32_t index, int32_t count,
                                     const int64_t *sizes, indim_shape *out_shape) {
  INDIM_NOT_NULL(cx, shape);
  INDIM_NOT_NULL(cx, out_shape);
  int64_t all[INDIM_MAX_RANK];
  int64_t order[INDIM_MAX_RANK];
  INDIM_TRY(need_array(cx, shape));
  if (index < 0 || index > shape->rank || count < 0) {
    return indim_fail(cx, INDIM_INVALID, "%d dimensions cannot be inserted at %d into %s", count, index,
                      indim_shape_name_of(shape).text);
  }
  if (count > INDIM_MAX_RANK - shape->rank) {
    return indim_fail(cx, INDIM_LIMIT, "rank %d is above the limit of %d", shape->rank + count, INDIM_MAX_RANK);
  }
  int32_t rank = shape->rank + count;
  for (int32_t d = 0; d < rank; d++) {
    bool before = d < index;
    bool fresh = !before && d < index + count;
    all[d] = before ? shape->sizes[d] : fresh ? sizes[d - index] : shape->sizes[d - count];
  }
  int32_t at = 0;
  for (int32_t k = 0; index == shape->rank && k < count; k++) {
    order[at++] = rank - 1 - k;
  }
  for (int32_t place = 0; place < shape->rank; place++) {
    int64_t dim = shape->has_layout ? shape->layout.minor_to_major[place] : shape->rank - 1 - place;
    order[at++] = dim < index ? dim : dim + count;
    for (int32_t k = 0; dim == index && k < count; k++) {
      order[at++] = index + count - 1 - k;
    }
  }
  indim_shape result;
  INDIM_TRY(indim_shape_init(cx, shape->type, rank, all, &result));
  memcpy(result.layout.minor_to_major, order, (size_t)rank * sizeof *order);
  *out_shape = result;
  return INDIM_OK;
}

indim_status indim_shape_prepend_major_dim(indim_ctx *cx, const indim_shape *shape, int64_t size,
                                           indim_shape *out_shape) {
  INDIM_NOT_NULL(cx, shape);
  INDIM_NOT_NULL(cx, out_shape);
  indim_shape result;
  INDIM_TRY(indim_shape_insert_dims(cx, shape, 0, 1, &size, &result));
  indim_layout_move_dim_to_major(&result.layout, 0);
  *out_shape = result;
  return INDIM_OK;
}

indim_status indim_shape_filter_dims(indim_ctx *cx, const indim_shape *shape, uint64_t keep, indim_shape *out_shape) {
  INDIM_NOT_NULL(cx, shape);
  INDIM_NOT_NULL(cx, out_shape);
  indim_shape result = *shape;
  INDIM_TRY(need_array(cx, shape));
  result.rank = 0;
  result.dynamic = 0;
  for (int32_t d = 0; d < shape->rank; d++) {
    if ((keep >> d & 1) != 0) {
      result.dynamic |= (shape->dynamic >> d & 1) << result.rank;
      result.sizes[result.rank++] = shape->sizes[d];
    }
  }
  for (int32_t d = shape->rank - 1; shape->has_layout && d >= 0; d--) {
    if ((keep >> d & 1) == 0) {
      indim_layout_delete_dim(&result.layout, d);
    }
  }
  *out_shape = result;
  return INDIM_OK;
}

indim_status indim_shape_delete_dims(indim_ctx *cx, const indim_shape *shape, int32_t count, const int64_t *dims,
                                     indim_shape *out_shape) {
  INDIM_NOT_NULL(cx, shape);
  INDIM_NOT_NULL(cx, out_shape);
  uint64_t keep = UINT64_MAX;
  INDIM_TRY(need_array(cx, shape));
  for (int32_t i = 0; i < count; i++) {
    if (dims[i] < 0 || dims[i] >= shape->rank) {
      return indim_fail(cx, INDIM_INVALID, "%s has no dimension %lld", indim_shape_name_of(shape).text,
                        (long long)dims[i]);
    }
    keep &= ~(UINT64_C(1) << dims[i]);
  }
  return indim_shape_filter_dims(cx, shape, keep, out_shape);
}

indim_status indim_shape_drop_degenerate_dims(indim_ctx *cx, const indim_shape *shape, indim_shape *out_shape) {
  INDIM_NOT_NULL(cx, shape);
  INDIM_NOT_NULL(cx, out_shape);
  uint64_t keep = 0;
  for (int32_t d = 0; d < shape->rank; d++) {
    keep |= (uint64_t)(shape->sizes[d] != 1) << d;
  }
  return indim_shape_filter_dims(cx, shape, keep, out_shape);
}

indim_status indim_shape_permute_dims_ignoring_layout(indim_ctx *cx, const indim_shape *shape, const int64_t *p,
                                                      indim_shape *out_shape) {
  INDIM_NOT_NULL(cx, shape);
  INDIM_NOT_NULL(cx, out_shape);
  indim_shape result = *shape;
  INDIM_TRY(need_array(cx, shape));
  if (!indim_permutation_is_valid(p, shape->rank)) {
    return indim_fail(cx, INDIM_INVALID, "no permutation of the dimensions of %s", indim_shape_name_of(shape).text);
  }
  indim_permutation_apply(p, shape->sizes, shape->rank, result.sizes);
  if (shape->layout.padded_rank == shape->rank) {
    indim_permutation_apply(p, shape->layout.padded_sizes, shape->rank, result.layout.padded_sizes);
  }
  result.dynamic = 0;
  for (int32_t d = 0; d < shape->rank; d++) {
    result.dynamic |= (shape->dynamic >> p[d] & 1) << d;
  }
  *out_shape = result;
  return INDIM_OK;
}

indim_status indim_shape_permute_dims(indim_ctx *cx, const indim_shape *shape, const int64_t *p,
                                      indim_shape *out_shape) {
  INDIM_NOT_NULL(cx, shape);
  INDIM_NOT_NULL(cx, out_shape);
  indim_shape result;
  int64_t inverse[INDIM_MAX_RANK];
  int64_t order[INDIM_MAX_RANK];
  INDIM_TRY(indim_shape_permute_dims_ignoring_layout(cx, shape, p, &result));
  indim_permutation_invert(p, shape->rank, inverse);
  if (shape->has_layout) {
    indim_permutation_compose(inverse, shape->layout.minor_to_major, shape->rank, order);
    memcpy(result.layout.minor_to_major, order, (size_t)shape->rank * sizeof *order);
  }
  *out_shape = result;
  return INDIM_OK;
}

indim_status indim_shape_in_memory_order(indim_ctx *cx, const indim_shape *shape, indim_shape *out_shape) {
  INDIM_NOT_NULL(cx, shape);
  INDIM_NOT_NULL(cx, out_shape);
  int64_t p[INDIM_MAX_RANK];
  INDIM_TRY(need_array(cx, shape));
  for (int32_t i = 0; i < shape->rank; i++) {
    p[i] = shape->has_layout ? indim_layout_major(&shape->layout, i) : i;
  }
  return indim_shape_permute_dims(cx, shape, p, out_shape);
}

// Trees -------------------------------------------------------------------------------------------------------------

// What happens to each array; |from| is its counterpart for copy_layouts.
typedef struct change {
  indim_ctx *cx;
  indim_arena *arena;
  indim_status (*apply)(const struct change *change, indim_shape *array);
  int64_t number;  // a type, a dimension, a truth
} change;

static indim_status change_tree(const change *c, const indim_shape *shape, indim_shape *out) {
  if (shape->type != INDIM_TUPLE && shape->type != INDIM_BUFFER) {
    indim_shape result = *shape;
    if (indim_shape_is_array(shape)) {
      INDIM_TRY(c->apply(c, &result));
    }
    *out = result;
    return INDIM_OK;
  }
  if (c->arena == NULL) {
    return indim_fail(c->cx, INDIM_INVALID, "an arena is needed for %s", indim_shape_name_of(shape).text);
  }
  void *memory = NULL;
  size_t count = (size_t)shape->member_count;
  INDIM_TRY(indim_arena_array(c->arena, count, sizeof(indim_shape *), &memory));
  const indim_shape **members = memory;
  for (size_t i = 0; i < count; i++) {
    INDIM_TRY(indim_arena_alloc(c->arena, sizeof(indim_shape), &memory));
    INDIM_TRY(change_tree(c, shape->members[i], memory));
    members[i] = memory;
  }
  indim_shape result = *shape;
  result.members = members;
  *out = result;
  return INDIM_OK;
}

static indim_status move_to_major(const change *c, indim_shape *array) {
  if (c->number < 0 || c->number >= array->rank) {
    return indim_fail(c->cx, INDIM_INVALID, "%s has no dimension %lld", indim_shape_name_of(array).text,
                      (long long)c->number);
  }
  indim_layout layout;
  indim_layout_init(array->rank, &layout);
  if (array->has_layout) {
    memcpy(layout.minor_to_major, array->layout.minor_to_major, sizeof layout.minor_to_major);
  }
  indim_layout_move_dim_to_major(&layout, c->number);
  array->layout = layout;
  array->has_layout = true;
  return INDIM_OK;
}

indim_status indim_shape_move_dim_to_major(indim_ctx *cx, indim_arena *arena, const indim_shape *shape, int32_t dim,
                                           indim_shape *out_shape) {
  INDIM_NOT_NULL(cx, shape);
  INDIM_NOT_NULL(cx, out_shape);
  return change_tree(&(change){cx, arena, move_to_major, dim}, shape, out_shape);
}

static indim_status set_type(const change *c, indim_shape *array) {
  indim_type type = (indim_type)c->number;
  array->type = type;
  if (!indim_type_is_sub_byte(type)) {
    array->layout.element_bits = 0;
  }
  return INDIM_OK;
}

indim_status indim_shape_change_element_type(indim_ctx *cx, indim_arena *arena, const indim_shape *shape,
                                             indim_type type, indim_shape *out_shape) {
  INDIM_NOT_NULL(cx, shape);
  INDIM_NOT_NULL(cx, out_shape);
  if (!indim_type_is_array(type)) {
    return indim_fail(cx, INDIM_INVALID, "%s is no element type", indim_type_text(type));
  }
  return change_tree(&(change){cx, arena, set_type, (int64_t)type}, shape, out_shape);
}

static indim_status set_element_bits(const change *c, indim_shape *array) {
  bool packed = c->number != 0 && indim_type_is_sub_byte(array->type);
  array->layout.element_bits = packed && array->has_layout ? indim_type_bits(array->type) : 0;
  return INDIM_OK;
}

indim_status indim_shape_update_element_bits(indim_ctx *cx, indim_arena *arena, const indim_shape *shape, bool pack,
                                             indim_shape *out_shape) {
  INDIM_NOT_NULL(cx, shape);
  INDIM_NOT_NULL(cx, out_shape);
  return change_tree(&(change){cx, arena, set_element_bits, pack}, shape, out_shape);
}

static indim_status drop_tiles(const change *c, indim_shape *array) {
  (void)c;
  array->layout.tile_count = 0;
  memset(array->layout.tile_ranks, 0, sizeof array->layout.tile_ranks);
  memset(array->layout.tile_sizes, 0, sizeof array->layout.tile_sizes);
  return INDIM_OK;
}

static indim_status make_host(const change *c, indim_shape *array) {
  if (array->has_layout) {
    INDIM_TRY(drop_tiles(c, array));
    array->layout.memory_space = 0;
    array->layout.element_bits = 0;
    array->layout.tail_alignment = 1;
    array->layout.physical_shape = NULL;
    array->layout.metadata_prefix_bytes = 0;
  }
  return INDIM_OK;
}

indim_status indim_shape_to_host(indim_ctx *cx, indim_arena *arena, const indim_shape *shape, indim_shape *out_shape) {
  INDIM_NOT_NULL(cx, shape);
  INDIM_NOT_NULL(cx, out_shape);
  return change_tree(&(change){cx, arena, make_host, 0}, shape, out_shape);
}

bool indim_shape_is_host(const indim_shape *shape) {
  if (shape == NULL) {
    return false;
  }
  indim_shape_walk walk;
  for (indim_shape_walk_init(&walk, shape); indim_shape_walk_next_leaf(&walk);) {
    const indim_shape *array = indim_shape_array_of(walk.shape);
    const indim_layout *layout = &array->layout;
    if (indim_shape_is_array(array) && array->has_layout &&
        (layout->tile_count != 0 || layout->memory_space != 0 || layout->element_bits != 0 ||
         layout->tail_alignment != 1 || layout->physical_shape != NULL || layout->metadata_prefix_bytes != 0)) {
      return false;
    }
  }
  return true;
}

static indim_status drop_dynamic(const change *c, indim_shape *array) {
  (void)c;
  array->dynamic = 0;
  return INDIM_OK;
}

indim_status indim_shape_clear_dynamic(indim_ctx *cx, indim_arena *arena, const indim_shape *shape,
                                       indim_shape *out_shape) {
  INDIM_NOT_NULL(cx, shape);
  INDIM_NOT_NULL(cx, out_shape);
  return change_tree(&(change){cx, arena, drop_dynamic, 0}, shape, out_shape);
}

static indim_status drop_layout(const change *c, indim_shape *array) {
  (void)c;
  array->has_layout = false;
  memset(&array->layout, 0, sizeof array->layout);
  return INDIM_OK;
}

indim_status indim_shape_clear_layout(indim_ctx *cx, indim_arena *arena, const indim_shape *shape,
                                      indim_shape *out_shape) {
  INDIM_NOT_NULL(cx, shape);
  INDIM_NOT_NULL(cx, out_shape);
  return change_tree(&(change){cx, arena, drop_layout, 0}, shape, out_shape);
}

indim_status indim_shape_clear_tiles(indim_ctx *cx, indim_arena *arena, const indim_shape *shape,
                                     indim_shape *out_shape) {
  INDIM_NOT_NULL(cx, shape);
  INDIM_NOT_NULL(cx, out_shape);
  return change_tree(&(change){cx, arena, drop_tiles, 0}, shape, out_shape);
}

static indim_status set_default(const change *c, indim_shape *array) {
  (void)c;
  give_layout(array);
  array->layout.rank = array->rank;
  for (int32_t i = 0; i < array->rank; i++) {
    array->layout.minor_to_major[i] = array->rank - 1 - i;
  }
  return INDIM_OK;
}

indim_status indim_shape_set_default_layout(indim_ctx *cx, indim_arena *arena, const indim_shape *shape,
                                            indim_shape *out_shape) {
  INDIM_NOT_NULL(cx, shape);
  INDIM_NOT_NULL(cx, out_shape);
  return change_tree(&(change){cx, arena, set_default, 0}, shape, out_shape);
}

static indim_status do_nothing(const change *c, indim_shape *array) {
  (void)c;
  (void)array;
  return INDIM_OK;
}

indim_status indim_shape_set_dynamic(indim_ctx *cx, indim_arena *arena, const indim_shape *shape, const int64_t *path,
                                     int32_t length, int32_t dim, bool dynamic, indim_shape *out_shape) {
  INDIM_NOT_NULL(cx, shape);
  INDIM_NOT_NULL(cx, out_shape);
  const indim_shape *target = NULL;
  INDIM_TRY(indim_shape_find(cx, shape, path, length, &target));
  const indim_shape *array = indim_shape_array_of(target);
  if (!indim_shape_is_array(array) || dim < 0 || dim >= array->rank) {
    return indim_fail(cx, INDIM_INVALID, "%s has no dimension %d", indim_shape_name_of(target).text, dim);
  }
  // A tree of our own, of which one array is changed before anybody sees it.
  indim_shape result;
  INDIM_TRY(change_tree(&(change){cx, arena, do_nothing, 0}, shape, &result));
  union {
    const indim_shape *shared;
    indim_shape *own;
  } at = {.own = &result};
  for (int32_t i = 0; i < length; i++) {
    at.shared = at.shared->members[path[i]];
  }
  at.shared = indim_shape_array_of(at.shared);
  at.own->dynamic = (at.own->dynamic & ~(UINT64_C(1) << dim)) | (uint64_t)dynamic << dim;
  *out_shape = result;
  return INDIM_OK;
}

// Layouts from another tree ------------------------------------------------------------------------------------------

static indim_status cannot_copy(indim_ctx *cx, const indim_shape *from, const indim_shape *shape, const char *why) {
  return indim_fail(cx, INDIM_INVALID, "cannot copy layout from shape: %s (%s and %s)", why,
                    indim_shape_name_with_layout(from).text, indim_shape_name_of(shape).text);
}

static indim_status copy_layout(indim_ctx *cx, const indim_shape *from, indim_shape *shape) {
  if (from->rank != shape->rank) {
    return cannot_copy(cx, from, shape, "ranks differ");
  }
  if (from->has_layout) {
    INDIM_TRY(indim_layout_validate(cx, &from->layout, shape));
  }
  shape->has_layout = from->has_layout;
  shape->layout = from->layout;
  return INDIM_OK;
}

static indim_status copy_layouts(indim_ctx *cx, indim_arena *arena, const indim_shape *from, const indim_shape *shape,
                                 indim_shape *out) {
  if ((from->type == INDIM_TUPLE) != (shape->type == INDIM_TUPLE)) {
    return cannot_copy(cx, from, shape, "shape structure differs");
  }
  if (from->member_count != shape->member_count) {
    return cannot_copy(cx, from, shape, "tuple element count differs");
  }
  indim_shape result = *shape;
  if (shape->member_count > 0) {
    void *memory = NULL;
    if (arena == NULL) {
      return indim_fail(cx, INDIM_INVALID, "an arena is needed for %s", indim_shape_name_of(shape).text);
    }
    INDIM_TRY(indim_arena_array(arena, (size_t)shape->member_count, sizeof(indim_shape *), &memory));
    const indim_shape **members = memory;
    for (int64_t i = 0; i < shape->member_count; i++) {
      INDIM_TRY(indim_arena_alloc(arena, sizeof(indim_shape), &memory));
      INDIM_TRY(copy_layouts(cx, arena, from->members[i], shape->members[i], memory));
      members[i] = memory;
    }
    result.members = members;
  } else if (indim_shape_is_array(shape) && indim_shape_is_array(from)) {
    INDIM_TRY(copy_layout(cx, from, &result));
  }
  *out = result;
  return INDIM_OK;
}

indim_status indim_shape_copy_layouts(indim_ctx *cx, indim_arena *arena, const indim_shape *from,
                                      const indim_shape *shape, indim_shape *out_shape) {
  INDIM_NOT_NULL(cx, from);
  INDIM_NOT_NULL(cx, shape);
  INDIM_NOT_NULL(cx, out_shape);
  return copy_layouts(cx, arena, from, shape, out_shape);
}
