// Shape inference: each op's rule, from operands and attributes to the result shape.
#ifndef INDIM_GRAPH_INFER_H
#define INDIM_GRAPH_INFER_H

#include "graph/module.h"

// Computes the shape of |instr| from its operands' shapes and attributes; its own shape, if set, is the declared one,
// which ops like reshape need. Tuple results are made in |arena|. Failures are reported at the instruction's place
// with the shapes, the numbers and the way out.
typedef indim_status indim_infer_fn(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                    indim_shape *out_shape);

// One function per name in the infer column of ops.def: indim_infer_unary, indim_infer_dot, ...
#define INDIM_OP(name, text, least, most, types, shape, infer, eval, meaning) indim_infer_fn indim_infer_##infer;
#include "indim/ops.def"

// Operand count, required attributes, then the op's rule.
INDIM_CHECKED indim_infer_fn indim_infer_shape;

#endif  // INDIM_GRAPH_INFER_H
