// What the files about shapes share among themselves.
#ifndef INDIM_ARRAY_SHAPE_INTERNAL_H
#define INDIM_ARRAY_SHAPE_INTERNAL_H

#include "base/ctx.h"
#include "indim/shape.h"

// Leaves the function with INDIM_INVALID when a pointer that is needed is NULL.
#define INDIM_NOT_NULL(cx, pointer)                                                 \
  do {                                                                              \
    if ((pointer) == NULL) {                                                        \
      return indim_fail((cx), INDIM_INVALID, "%s: " #pointer " is NULL", __func__); \
    }                                                                               \
  } while (0)

// A tuple of members that already live in |arena| (or longer): only the list of pointers is new.
INDIM_CHECKED indim_status indim_shape_tuple_of(indim_arena *arena, const indim_shape *const *members, int64_t count,
                                                indim_shape *out_shape);

// The array that has the dimensions: the one inside a buffer, otherwise the shape itself.
static inline const indim_shape *indim_shape_array_of(const indim_shape *shape) {
  return shape->type == INDIM_BUFFER && shape->member_count == 1 ? shape->members[0] : shape;
}

// The part of layout validation that needs no shape, in this order: permutation of 0..rank-1, tail alignment, tiles,
// element bits, and padding together with tiles.
INDIM_CHECKED indim_status indim_layout_check_alone(indim_ctx *cx, const indim_layout *layout);

// Width of a logical dimension in storage: the padded one, or the size.
static inline int64_t indim_shape_width(const indim_shape *shape, int32_t dim) {
  return shape->has_layout && shape->layout.padded_rank == shape->rank ? shape->layout.padded_sizes[dim]
                                                                       : shape->sizes[dim];
}

#endif  // INDIM_ARRAY_SHAPE_INTERNAL_H
