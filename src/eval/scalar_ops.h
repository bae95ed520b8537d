// The functions that scalar_ops.def names.
#ifndef INDIM_EVAL_SCALAR_OPS_H
#define INDIM_EVAL_SCALAR_OPS_H

#include "eval/scalar.h"

// The name "none" is declared too, and never defined.
#define INDIM_SCALAR_OP(op, integer, float, complex) \
  indim_scalar_fn indim_int_##integer;               \
  indim_scalar_fn indim_float_##float;               \
  indim_scalar_fn indim_complex_op_##complex;
#include "eval/scalar_ops.def"

// FLOAT order is in the table; this is TOTALORDER.
indim_scalar_fn indim_float_compare_total;

// The largest value of a signed integer type; the least is -most - 1.
int64_t indim_scalar_most(indim_type type);
// The value of |x| in the type's bits, zero-extended: 255 for s8 -1.
uint64_t indim_scalar_pattern(indim_type type, int64_t x);

#endif  // INDIM_EVAL_SCALAR_OPS_H
