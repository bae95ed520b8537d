// Where an element lies: from a multi-dimensional index to its place in storage and back, for dense, padded and tiled
// layouts, and walks over all indices in logical or in memory order.
//
//   f32[10,20]{0,1}: index (3,5) is place 3 + 10*5 = 53       f32[2,3]{0,1:PAD(3,5;zero)}: (1,2) is place 7
#ifndef INDIM_INDEX_H
#define INDIM_INDEX_H

#include "indim/shape.h"

#ifdef __cplusplus
extern "C" {
#endif

// Whether 0 <= index[d] < size[d] for every dimension (XLA's own lets negatives pass; ours does not).
INDIM_API bool indim_index_in_bounds(const indim_shape *shape, const int64_t *index);

// The place, in stored elements from the start of the array, of one index under the shape's layout (default if it has
// none): minor_to_major, padded widths, every tile, "*". A tile longer than the list of dimensions meets sizes of 1
// there. INDIM_INVALID when out of bounds, and for a layout that does not fit the shape.
//
//   f32[3,5]{1,0:T(2,2)}: (1,0) is place 2, (0,2) is 4     f32[100]{0:T(8,128)}: (5) is place 5
INDIM_API INDIM_CHECKED indim_status indim_index_linearize(indim_ctx *cx, const indim_shape *shape,
                                                           const int64_t *index, int64_t *out_place);
// The reverse. |*out_is_padding| tells that the place belongs to no element; the index then has a coordinate beyond
// its size (if there is any coordinate). INDIM_INVALID when the place is outside the storage, tail padding included.
INDIM_API INDIM_CHECKED indim_status indim_index_delinearize(indim_ctx *cx, const indim_shape *shape, int64_t place,
                                                             int64_t *out_index, bool *out_is_padding);

// Stride of each logical dimension in elements for an untiled layout (padded widths count); INDIM_INVALID if tiled.
INDIM_API INDIM_CHECKED indim_status indim_index_strides(indim_ctx *cx, const indim_shape *shape, int64_t *out_strides);

// Steps to the next index in row-major order, last dimension fastest, whatever the layout; false, with |index| all
// zero again, after the last. Start from all zeros, and check for a size 0 before. An empty index (rank 0): false.
INDIM_API bool indim_index_next(const indim_shape *shape, int64_t *index);
// The same in memory order: minor_to_major[0] fastest.
INDIM_API bool indim_index_next_in_memory(const indim_shape *shape, int64_t *index);
// Lexicographic: -1 if a < b, 1 if a > b, 0 if equal.
INDIM_API int indim_index_compare(int32_t rank, const int64_t *a, const int64_t *b);

// A walk over a part of an array in memory order: dimension d takes base[d], base[d] + step[d], ... below
// base[d] + count[d]. A dimension with step 0 stays at its base, as does one with count 0; the first index is always
// visited, unless the shape has a size 0: then nothing is. Bounds are the caller's business.
//
//   indim_index_walk walk;
//   indim_index_walk_init(&walk, &shape, NULL, NULL, NULL);   // all of it; else base, count, step: rank entries each
//   while (indim_index_walk_next(&walk)) { ... walk.index[0] ... walk.index[rank - 1] ... }
//
//   f32[10,10], base {2,3}, count {3,1}, step {2,1}: visits (2,3) and (4,3)
typedef struct indim_index_walk {
  int32_t rank;
  bool started;
  bool done;
  int64_t order[INDIM_MAX_RANK];  // dimensions, fastest first
  int64_t base[INDIM_MAX_RANK];
  int64_t count[INDIM_MAX_RANK];
  int64_t step[INDIM_MAX_RANK];
  int64_t index[INDIM_MAX_RANK];
} indim_index_walk;
INDIM_API void indim_index_walk_init(indim_index_walk *walk, const indim_shape *shape, const int64_t *base,
                                     const int64_t *count, const int64_t *step);
INDIM_API bool indim_index_walk_next(indim_index_walk *walk);

#ifdef __cplusplus
}
#endif
#endif  // INDIM_INDEX_H
