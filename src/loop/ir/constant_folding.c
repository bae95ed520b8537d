// Constant folding of scalars: the number of elements less the degrees of freedom, by which a variance is divided, is known, and its
// division a product where it is a power of two. Only what every target computes to the same bits: NaNs differ in their signs, and
// subnormals may be flushed.
#include <float.h>
#include <math.h>

#include "array/element.h"
#include "loop/ir/build.h"

// Whether a number of the type is zero, normal or infinite.
static bool is_plain(indim_type type, double value) {
  return value == 0 || fabs(value) >= (type == INDIM_F32 ? FLT_MIN : DBL_MIN);
}

// A scalar constant of f32 or f64 that is.
static bool is_plain_float(const indim_loop_builder *b, indim_value_id v, double *out) {
  const indim_loop_value *value = indim_loop_value_of(b, v);
  bool is_float = value->type == INDIM_F32 || value->type == INDIM_F64;
  if (!is_float || value->lanes != 1 || !indim_loop_is(b, v, INDIM_NODE_CONST)) {
    return false;
  }
  *out = indim_element_real(value->type, (indim_element){.bits = indim_loop_node_of(b, v)->u.constant.bits[0]});
  return is_plain(value->type, *out);
}

// The constant, if the number, rounded to the type, is such; 0 otherwise.
static indim_value_id plain_float(indim_loop_builder *b, indim_type type, double value) {
  indim_element element = indim_element_of_float(type, value, 0);
  bool is = is_plain(type, indim_element_real(type, element));
  return is ? indim_loop_const(b, type, element.bits, 0) : 0;
}

static indim_value_id fold_convert(indim_loop_builder *b, indim_type type, indim_value_id arg) {
  const indim_loop_value *from = indim_loop_value_of(b, arg);
  bool is_int = indim_type_is_integral(from->type) && indim_type_bits(from->type) <= 32;  // exact in f64
  if (!is_int || !indim_loop_is(b, arg, INDIM_NODE_CONST)) {
    return 0;
  }
  indim_element element = {.bits = indim_loop_node_of(b, arg)->u.constant.bits[0]};
  return plain_float(b, type, (double)indim_element_to_int(from->type, element));
}

// Rounded to f32 afterwards, it is the result of f32: f64 has more than twice its digits.
static double apply(indim_op op, double x, double y) {
  return op == INDIM_OP_ADD ? x + y : op == INDIM_OP_SUBTRACT ? x - y : op == INDIM_OP_MULTIPLY ? x * y : x / y;
}

static bool compares(int32_t direction, double x, double y) {
  switch ((indim_compare_direction)direction) {
  case INDIM_COMPARE_EQ:
    return x == y;
  case INDIM_COMPARE_NE:
    return x != y;
  case INDIM_COMPARE_GE:
    return x >= y;
  case INDIM_COMPARE_GT:
    return x > y;
  case INDIM_COMPARE_LE:
    return x <= y;
  case INDIM_COMPARE_LT:
    return x < y;
  }
  return false;
}

indim_value_id indim_loop_fold(indim_loop_builder *b, const indim_loop_op *op, indim_type type, int32_t count,
                               const indim_value_id *args) {
  double x = 0;
  double y = 0;
  bool is_float = type == INDIM_F32 || type == INDIM_F64;
  if (count == 1 && op->op == INDIM_OP_CONVERT && is_float && indim_loop_value_of(b, args[0])->lanes == 1) {
    return fold_convert(b, type, args[0]);
  }
  if (count != 2 || !is_plain_float(b, args[0], &x) || !is_plain_float(b, args[1], &y)) {
    return 0;
  }
  bool is_arithmetic =
      op->op == INDIM_OP_ADD || op->op == INDIM_OP_SUBTRACT || op->op == INDIM_OP_MULTIPLY || op->op == INDIM_OP_DIVIDE;
  if (is_float && is_arithmetic) {
    return plain_float(b, type, apply(op->op, x, y));
  }
  bool is_compared = op->op == INDIM_OP_COMPARE && !op->total_order;
  return is_compared ? indim_loop_const(b, INDIM_PRED, compares(op->direction, x, y) ? 1 : 0, 0) : 0;
}
