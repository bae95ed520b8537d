// Which ops have a meaning over dynamic dimensions (f32[<=10]); what it is, the evaluator says (eval/dynamic.h).
#ifndef INDIM_GRAPH_DYNAMIC_H
#define INDIM_GRAPH_DYNAMIC_H

#include "graph/module.h"

// Whether each element of the result is of the operands' elements at the same index.
bool indim_instr_is_elementwise(const indim_instr *instr);
bool indim_instr_is_batch_norm(const indim_instr *instr);
// Of ops on a batch (fft, cholesky, triangular-solve, topk, bitcast-convert to elements of other bits): how many dimensions that is.
int32_t indim_instr_batch_rank(const indim_instr *instr);

// The dimensions of a ragged-dot's left side that its group sizes, where they are no vector, have before that of the groups: those
// of the ragged one's kind (batch, contracting or free) before it, behind all batch dimensions. Returns how many.
int32_t indim_ragged_dot_leading(const indim_instr *instr, int64_t *out_dims);

// Dimensions of a reshape's operand and result that belong together: first_from to from - 1 and first_to to to - 1, which have
// equally many elements by their bounds, |count|.
typedef struct indim_reshape_group {
  int32_t first_from, from;
  int32_t first_to, to;
  int64_t count;
} indim_reshape_group;
// The next group behind |*group|, which is {0} before the first; false when all dimensions are behind it.
bool indim_reshape_group_next(const indim_shape *from, const indim_shape *to, indim_reshape_group *group);

// Whether the op takes or gives sizes as numbers, which its arrays need not have as dynamic dimensions.
bool indim_op_has_sizes(indim_op op);
// Whether the instruction or one of its operands has a dynamic dimension, or its sizes are given when the program runs.
bool indim_instr_is_dynamic(const indim_instr *instr);
// UNSUPPORTED, with the way out, for such an instruction that has no meaning.
INDIM_CHECKED indim_status indim_dynamic_verify(indim_ctx *cx, const indim_instr *instr);

#endif  // INDIM_GRAPH_DYNAMIC_H
