// Which ops have a meaning over dynamic dimensions (f32[<=10]); what it is, the evaluator says (eval/dynamic.h).
#ifndef INDIM_GRAPH_DYNAMIC_H
#define INDIM_GRAPH_DYNAMIC_H

#include "graph/module.h"

// Whether each element of the result is of the operands' elements at the same index.
bool indim_instr_is_elementwise(const indim_instr *instr);
// Of ops on a batch (fft, cholesky, triangular-solve, topk, bitcast-convert to elements of other bits): how many dimensions that is.
int32_t indim_instr_batch_rank(const indim_instr *instr);

// Whether the instruction or one of its operands has a dynamic dimension, or its sizes are given when the program runs.
bool indim_instr_is_dynamic(const indim_instr *instr);
// UNSUPPORTED, with the way out, for such an instruction that has no meaning.
INDIM_CHECKED indim_status indim_dynamic_verify(indim_ctx *cx, const indim_instr *instr);

#endif  // INDIM_GRAPH_DYNAMIC_H
