// Questions about literals, and the moves that need no arithmetic: reshape, transpose, slice, broadcast, and the like.
// All take any layout. Every result is a new literal for the caller to destroy; elided literals are refused with
// INDIM_INVALID, and questions about them answer false or 0.
#ifndef INDIM_LITERAL_UTIL_H
#define INDIM_LITERAL_UTIL_H

#include "indim/literal.h"

#ifdef __cplusplus
extern "C" {
#endif

// Asking ----------------------------------------------------------------------------------------------------------

// Whether every element is this number, exactly: u8 255 is not -1, f32 42.0001 is not 42, -0 is 0; pred is 0 or 1; a
// complex number needs imaginary part 0. True for an array without elements, false for tuples.
INDIM_API bool indim_literal_is_all(const indim_literal *literal, int64_t value);
// The same for floating-point arrays, |value| rounded to their type first: bf16 128 is_all_float(128.5). False for any
// other type. The second is for complex arrays alone.
INDIM_API bool indim_literal_is_all_float(const indim_literal *literal, double value);
INDIM_API bool indim_literal_is_all_complex(const indim_literal *literal, double real, double imag);
// Whether all elements have the bits of the first; false if there is none.
INDIM_API bool indim_literal_is_all_first(const indim_literal *literal);

// How many elements equal |value| after it is converted to their type (as C converts: 1.5 counts the ones of an s8
// array); a NaN counts NaNs. A real value on a complex array has imaginary part 0; a complex one on any other array,
// and anything on a tuple, counts 0.
INDIM_API int64_t indim_literal_count_equal_int(const indim_literal *literal, int64_t value);
INDIM_API int64_t indim_literal_count_equal_float(const indim_literal *literal, double value);
INDIM_API int64_t indim_literal_count_equal_complex(const indim_literal *literal, double real, double imag);

// Moving ----------------------------------------------------------------------------------------------------------

// The same elements in row-major order under other sizes, with the default layout. The counts must be equal.
// INDIM_UNSUPPORTED for dynamic dimensions.
INDIM_API INDIM_CHECKED indim_status indim_literal_reshape(indim_ctx *cx, const indim_literal *literal, int32_t rank,
                                                           const int64_t *sizes, indim_literal **out_literal);
// Dimension i of the result is dimension permutation[i] of the literal. The bytes are the same, only the layout
// changes.
INDIM_API INDIM_CHECKED indim_status indim_literal_transpose(indim_ctx *cx, const indim_literal *literal,
                                                             const int64_t *permutation, indim_literal **out_literal);
// Elements start[d] <= index[d] < limit[d]; the layout keeps its minor_to_major alone. A run-time size becomes what is
// left of it inside the slice.
INDIM_API INDIM_CHECKED indim_status indim_literal_slice(indim_ctx *cx, const indim_literal *literal,
                                                         const int64_t *start, const int64_t *limit,
                                                         indim_literal **out_literal);
// Replicates the literal over |shape|: dimension d of the literal is dimension dimensions[d] of the result, sizes
// equal; along all others the values repeat. The result has the layout of |shape|. INDIM_UNSUPPORTED for dynamic
// dimensions.
//
//   {1, 2} to s32[2,3], dimensions {0}: {{1, 1, 1}, {2, 2, 2}}       dimensions {1} to s32[3,2]: {{1, 2}, {1, 2}, {1, 2}}
INDIM_API INDIM_CHECKED indim_status indim_literal_broadcast(indim_ctx *cx, const indim_literal *literal,
                                                             const indim_shape *shape, const int64_t *dimensions,
                                                             indim_literal **out_literal);
// |times| copies along a new first dimension, with the default layout.
INDIM_API INDIM_CHECKED indim_status indim_literal_replicate(indim_ctx *cx, const indim_literal *literal, int64_t times,
                                                             indim_literal **out_literal);
// The literal without dynamic dimensions, cut to its run-time sizes; tuples member by member. A static literal is
// copied.
INDIM_API INDIM_CHECKED indim_status indim_literal_to_static(indim_ctx *cx, const indim_literal *literal,
                                                             indim_literal **out_literal);
// Writes the block of |sizes| at |source_base| into |target| at |target_base|. Same type and rank; the two may be the
// same literal only if the blocks do not overlap.
INDIM_API INDIM_CHECKED indim_status indim_literal_copy_slice(indim_ctx *cx, const indim_literal *source,
                                                              const int64_t *source_base, indim_literal *target,
                                                              const int64_t *target_base, const int64_t *sizes);
// The storage's bytes, unchanged, as another array of as many bytes: u32[2] and f32[2], u32[2] and u8[2,4]. No dynamic
// dimensions on either side.
INDIM_API INDIM_CHECKED indim_status indim_literal_bitcast(indim_ctx *cx, const indim_literal *literal,
                                                           const indim_shape *shape, indim_literal **out_literal);

#ifdef __cplusplus
}
#endif
#endif  // INDIM_LITERAL_UTIL_H
