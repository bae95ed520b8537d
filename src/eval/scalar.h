// One element at a time: the meaning of every elementwise operation. Values are widened (integers and pred to 64 bits,
// floats to double, complex numbers to two doubles), computed, and rounded once to the type of the result. Arrays are
// loops over this, and so are the small computations that reduce and map apply.
#ifndef INDIM_EVAL_SCALAR_H
#define INDIM_EVAL_SCALAR_H

#include "eval/complex_math.h"
#include "graph/module.h"

typedef union indim_scalar {
  int64_t i;        // integers, sign- or zero-extended; pred 0 or 1
  double f;         // floats
  indim_complex c;  // complex numbers
} indim_scalar;

// Element |k| of a dense array, one element per indim_type_bytes, and back. Storing wraps integers to the type's bits
// and rounds floats. A NaN that is only moved keeps its bits.
indim_scalar indim_scalar_load(indim_type type, const void *data, int64_t k);
void indim_scalar_store(indim_type type, void *data, int64_t k, indim_scalar value);
// What loading gives back after storing.
indim_scalar indim_scalar_round(indim_type type, indim_scalar value);

// A value of a float type by its bits, and its bits, as loading and storing have them.
indim_scalar indim_scalar_of_bits(indim_type type, uint64_t bits);
uint64_t indim_scalar_bits(indim_type type, indim_scalar value);

// Conversion by XLA's rules. Complex to anything else has none and gives the real part's.
indim_scalar indim_scalar_convert(indim_type from, indim_type to, indim_scalar value);

typedef struct indim_scalar_op indim_scalar_op;
typedef indim_scalar indim_scalar_fn(const indim_scalar_op *op, const indim_scalar *operands);

// An operation with everything decided that does not depend on the values.
struct indim_scalar_op {
  indim_scalar_fn *run;  // the exact result, not yet rounded
  indim_type type;       // of the operands (of operand 1 for select)
  indim_type result;
  indim_type second;                  // of operand 1, where it differs: stochastic-convert
  indim_compare_direction direction;  // compare
  int64_t exponent_bits;
  int64_t mantissa_bits;
};

// Decides how |instr| computes its elements. False if it is no elementwise operation or has no meaning for its type.
bool indim_scalar_prepare(const indim_instr *instr, indim_scalar_op *out_op);
// Where an element of a float type stands in TOTALORDER, by its bits: smaller first.
int64_t indim_total_order_key(indim_type type, uint64_t bits);
// Whether lhs |direction| rhs, for values that have an order.
bool indim_direction_holds(indim_compare_direction direction, bool less, bool equal);

// The rounded result.
static inline indim_scalar indim_scalar_apply(const indim_scalar_op *op, const indim_scalar *operands) {
  return indim_scalar_round(op->result, op->run(op, operands));
}

#endif  // INDIM_EVAL_SCALAR_H
