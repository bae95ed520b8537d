// XLA's strict broadcasting of binary operations: a lower-rank operand is matched with the dimensions that the caller
// names, and dimensions of size 1 stretch. Nothing is guessed.
//
//   f32[2,3] with f32[3], dims {1}   -> f32[2,3]      every row
//   f32[2,3] with f32[3], dims {}    -> refused: ranks differ, say which dimension
//   f32[4]   with f32[1,2], dims {0} -> f32[4,2]      both rules together
#ifndef INDIM_BROADCAST_H
#define INDIM_BROADCAST_H

#include "indim/shape.h"

#ifdef __cplusplus
extern "C" {
#endif

// Why a pair of shapes is refused.
typedef enum indim_broadcast_reason {
#define INDIM_BROADCAST_REASON(name, text) INDIM_BROADCAST_##name,
#include "indim/broadcast_reason.def"
} indim_broadcast_reason;

// The result of a broadcast, and where each of its dimensions comes from.
typedef struct indim_broadcast {
  indim_shape shape;                 // result, default layout (the left one's layout when the dimensions are the same)
  int32_t lhs_dims[INDIM_MAX_RANK];  // for result dimension d: the operand's dimension that runs along d, or -1
  int32_t rhs_dims[INDIM_MAX_RANK];
  uint64_t lhs_stretched;  // bit d: that operand dimension has size 1 and is repeated
  uint64_t rhs_stretched;
} indim_broadcast;

// Broadcasts |lhs| with |rhs|; |dims| has |dim_count| entries, entry i naming the dimension of the higher-rank operand
// that dimension i of the lower-rank one is matched with; empty when the ranks are equal or one side is a scalar.
// Element types must be equal or both floating (the result has the higher precision). Refusals are INDIM_INVALID with
// both shapes, the dimension and the way out in the diagnostic, and set |*out_reason| (may be NULL).
INDIM_API INDIM_CHECKED indim_status indim_broadcast_shapes(indim_ctx *cx, const indim_shape *lhs,
                                                            const indim_shape *rhs, const int64_t *dims,
                                                            int32_t dim_count, indim_broadcast *out,
                                                            indim_broadcast_reason *out_reason);

// Draws which dimension meets which, the lower-rank operand under the higher-rank one, as the seed documents do:
//     f32[2,3,4,5]
//     f32[  3,  5]   dims {1,3}
// For refused pairs it marks the dimension at fault. |reason| INDIM_BROADCAST_NONE when it was accepted.
INDIM_API void indim_broadcast_draw(const indim_shape *lhs, const indim_shape *rhs, const int64_t *dims,
                                    int32_t dim_count, const indim_broadcast *result, indim_broadcast_reason reason,
                                    indim_buffer *out);

#ifdef __cplusplus
}
#endif
#endif  // INDIM_BROADCAST_H
