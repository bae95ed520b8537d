// What the compiler knows of the graph's ops, from the table op.def.
#ifndef INDIM_LOOP_OP_H
#define INDIM_LOOP_OP_H

#include "graph/module.h"

// Where an element of an op's result comes from.
typedef enum indim_op_class {
  INDIM_OP_CLASS_NONE,         // not compiled
  INDIM_OP_CLASS_NAME,         // only names other values: no item of the flow
  INDIM_OP_CLASS_SAME,         // operand 0, at the same index
  INDIM_OP_CLASS_SOURCE,       // no element of an operand
  INDIM_OP_CLASS_ELEMENTWISE,  // the operands' elements at the same index, by a few instructions that overlap with others
  INDIM_OP_CLASS_LONG,         // the same, by an instruction of long latency that few others overlap with
  INDIM_OP_CLASS_FUNCTION,     // the same, by a function of emit/math: tens of instructions
  INDIM_OP_CLASS_APPLY,        // the same, by a called computation
  INDIM_OP_CLASS_MOVE,         // one element of operand 0, at an index that is affine in its own
  INDIM_OP_CLASS_ASSEMBLE,     // one element of one of the operands, which its index says
  INDIM_OP_CLASS_INDEX,        // one element of operand 0, at an index that other operands say
  INDIM_OP_CLASS_UPDATE,       // operand 0 but for a part that is overwritten
  INDIM_OP_CLASS_KERNEL,       // many elements: it has loops of its own
  INDIM_OP_CLASS_CONTROL,      // computations that run any number of times
  INDIM_OP_CLASS_CALL,         // a called computation: the flow has its items instead
  INDIM_OP_CLASS_EXPAND        // a computation of other ops (expand/): the same
} indim_op_class;

// The x with op(x, y) = y for every y.
typedef enum indim_op_identity {
  INDIM_IDENTITY_NONE,
  INDIM_IDENTITY_ZERO,
  INDIM_IDENTITY_NEGATIVE_ZERO,  // of floats; 0 of other numbers; pred has none
  INDIM_IDENTITY_ONE,            // complex numbers have none: 1 times an infinity is not that infinity
  INDIM_IDENTITY_LOWEST,
  INDIM_IDENTITY_HIGHEST,
  INDIM_IDENTITY_ALL_BITS
} indim_op_identity;

indim_op_class indim_op_class_of(indim_op op);
indim_op_identity indim_op_identity_of(indim_op op);
// Of one element of |type|, in operations that take one instruction.
int32_t indim_op_cost(indim_op op, indim_type type);

// Whether elements of the result are computed from the operands' elements at the same index, by one node.
bool indim_op_is_elementwise(indim_op op);
// Whether |op| of floats is a function whose code is long: a series, not an instruction or two.
bool indim_op_is_function(indim_op op);
// Whether elements of the result are elements of the operands, at other indices.
bool indim_op_moves(indim_op op);

#endif  // INDIM_LOOP_OP_H
