// XLA:CPU's own top-k, as its optimized programs have it: the custom call TopK, which is the op topk.
//
//   (f32[20,5], s32[20,5]) custom-call(x), custom_call_target="TopK", called_computations={greater}
//     -> topk(x), k=5, largest=true
#ifndef INDIM_GRAPH_TOPK_CALL_H
#define INDIM_GRAPH_TOPK_CALL_H

#include "graph/module.h"

// Points into itself: it stays where it is.
typedef struct indim_topk_call {
  indim_instr topk;  // stands in for the instruction, in whose computation it is not
  indim_attr attrs[2];
} indim_topk_call;

bool indim_is_topk_call(const indim_instr *instr);
// INDIM_INVALID with what is wrong and what is expected; UNSUPPORTED for dynamic dimensions. The comparator is not looked at: XLA
// writes this call for the largest elements alone.
INDIM_CHECKED indim_status indim_topk_call_read(indim_ctx *cx, const indim_instr *instr, indim_topk_call *out);

#endif  // INDIM_GRAPH_TOPK_CALL_H
