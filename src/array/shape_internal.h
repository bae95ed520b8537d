// What the files about shapes share among themselves.
#ifndef INDIM_ARRAY_SHAPE_INTERNAL_H
#define INDIM_ARRAY_SHAPE_INTERNAL_H

#include "array/lexer.h"
#include "indim/shape.h"

// A tuple of members that already live in |arena| (or longer): only the list of pointers is new.
INDIM_CHECKED indim_status indim_shape_tuple_of(indim_arena *arena, const indim_shape *const *members, int64_t count,
                                                indim_shape *out_shape);

// The array that has the dimensions: the one inside a buffer, otherwise the shape itself.
static inline const indim_shape *indim_shape_array_of(const indim_shape *shape) {
  return shape->type == INDIM_BUFFER && shape->member_count == 1 ? shape->members[0] : shape;
}

// Checks a layout: against |array| if that is not NULL, and, if |dense|, that nothing in it is for sparse arrays only.
INDIM_CHECKED indim_status indim_layout_check(indim_ctx *cx, const indim_layout *layout, const indim_shape *array,
                                              bool dense);

// As indim_layout_parse_tokens, for the layout behind the dimensions of |array|: it has to fit, and has no physical
// shape.
INDIM_CHECKED indim_status indim_layout_parse_of_array(indim_lexer *lexer, const indim_shape *array,
                                                       indim_layout *out_layout);

// Reads the current token as a number that int64 can hold, and steps over it.
INDIM_CHECKED indim_status indim_shape_parse_int(indim_lexer *lexer, const char *what, int64_t *out_value);

// Width of a logical dimension in storage: the padded one, or the size.
static inline int64_t indim_shape_width(const indim_shape *shape, int32_t dim) {
  return shape->has_layout && shape->layout.padded_rank == shape->rank ? shape->layout.padded_sizes[dim]
                                                                       : shape->sizes[dim];
}

#endif  // INDIM_ARRAY_SHAPE_INTERNAL_H
