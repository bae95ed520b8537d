// The table of ops (op.def).
#include "loop/ir/op.h"

#include "indim/type.h"

typedef struct row {
  uint8_t class, identity;
  int16_t cost[2];  // real, complex
} row;

static const row rows[INDIM_OP_COUNT] = {
#define INDIM_LOOP_OP(op, class, cost, complex_cost, identity) \
  [INDIM_OP_##op] = {INDIM_OP_CLASS_##class, INDIM_IDENTITY_##identity, {cost, complex_cost}},
#include "loop/ir/op.def"
};

// Every op has its row: one that lacks it, or has it elsewhere, is named here by the compiler.
enum {
#define INDIM_LOOP_OP(op, class, cost, complex_cost, identity) ROW_##op,
#include "loop/ir/op.def"
};
#define INDIM_OP(op, text, least, most, types, shape, infer, eval, meaning) \
  _Static_assert((int)ROW_##op == (int)INDIM_OP_##op, "op.def has the rows of ops.def in the same order");
#include "indim/ops.def"

// The rows of class EXPAND are those of expand.def, but for kernels, loops, gathers and powers of which some are expanded.
enum {
#define INDIM_LOOP_OP(op, class, cost, complex_cost, identity) CLASS_OF_##op = (int)INDIM_OP_CLASS_##class,
#include "loop/ir/op.def"
};
#define INDIM_EXPANSION(op, function)                                                                 \
  _Static_assert((int)CLASS_OF_##op == (int)INDIM_OP_CLASS_EXPAND || INDIM_OP_##op == INDIM_OP_FFT || \
                     INDIM_OP_##op == INDIM_OP_REDUCE || INDIM_OP_##op == INDIM_OP_DOT ||             \
                     INDIM_OP_##op == INDIM_OP_CONVOLUTION || INDIM_OP_##op == INDIM_OP_WHILE ||      \
                     INDIM_OP_##op == INDIM_OP_CUSTOM_CALL || INDIM_OP_##op == INDIM_OP_GATHER ||     \
                     INDIM_OP_##op == INDIM_OP_POWER || INDIM_OP_##op == INDIM_OP_REDUCE_WINDOW,      \
                 "an op of expand.def has class EXPAND in op.def");
#include "expand/expand.def"

indim_op_class indim_op_class_of(indim_op op) { return (indim_op_class)rows[op].class; }

indim_op_identity indim_op_identity_of(indim_op op) { return (indim_op_identity)rows[op].identity; }

int32_t indim_op_cost(indim_op op, indim_type type) { return rows[op].cost[indim_type_is_complex(type)]; }

bool indim_op_is_elementwise(indim_op op) {
  indim_op_class class = indim_op_class_of(op);
  return class == INDIM_OP_CLASS_ELEMENTWISE || class == INDIM_OP_CLASS_LONG || class == INDIM_OP_CLASS_FUNCTION;
}

bool indim_op_is_function(indim_op op) { return indim_op_class_of(op) == INDIM_OP_CLASS_FUNCTION; }

bool indim_op_moves(indim_op op) {
  indim_op_class class = indim_op_class_of(op);
  return class == INDIM_OP_CLASS_MOVE || class == INDIM_OP_CLASS_ASSEMBLE || class == INDIM_OP_CLASS_INDEX;
}
