// Real functions as inline arithmetic: which formula an operation has, and the exact product that formulas use where
// there is no fused multiply-add.
#include "emit/math_kit.h"

// |a| with the lower half of its bits cut off.
static val upper_half(const kit *k, val a) {
  int64_t cut = k->is_double ? (int64_t) ~((UINT64_C(1) << 27) - 1) : (int64_t) ~((UINT64_C(1) << 12) - 1);
  return as_real(k, iand(k, as_bits(k, a), whole(k, cut)));
}

pair indim_emit_fn_two_product(const kit *k, val a, val b) {
  val product = mul(k, a, b);
  if (k->e->has_fma) {
    return (pair){product, fused(k, a, b, minus(k, product))};
  }
  val a_high = upper_half(k, a);
  val b_high = upper_half(k, b);
  val a_low = sub(k, a, a_high);
  val b_low = sub(k, b, b_high);
  val error = sub(k, mul(k, a_high, b_high), product);
  error = add(k, add(k, error, mul(k, a_high, b_low)), mul(k, a_low, b_high));
  return (pair){product, add(k, error, mul(k, a_low, b_low))};
}

pair indim_emit_fn_quotient(const kit *k, pair top, pair bottom) {
  val one_over = quotient(k, real(k, 1), bottom.high);
  val first = mul(k, top.high, one_over);
  pair product = indim_emit_fn_two_product(k, first, bottom.high);
  val rest = sub(k, sub(k, top.high, product.high), product.low);
  rest = add(k, rest, sub(k, top.low, mul(k, first, bottom.low)));
  return (pair){first, mul(k, rest, one_over)};
}

val indim_emit_fn_rsqrt(const kit *k, val x) { return quotient(k, real(k, 1), root(k, x)); }

LLVMValueRef indim_emit_math(indim_emit *e, indim_op op, LLVMValueRef x) {
  kit of_x = kit_of(e, x);
  const kit *k = &of_x;
  switch ((int)op) {
  case INDIM_OP_EXPONENTIAL:
    return indim_emit_fn_exp(k, x);
  case INDIM_OP_EXPONENTIAL_MINUS_ONE:
    return indim_emit_fn_expm1(k, x);
  case INDIM_OP_LOG:
    return indim_emit_fn_log(k, x);
  case INDIM_OP_LOGISTIC:
    return indim_emit_fn_logistic(k, x);
  case INDIM_OP_SINE:
    return indim_emit_fn_sin(k, x);
  case INDIM_OP_COSINE:
    return indim_emit_fn_cos(k, x);
  case INDIM_OP_TAN:
    return indim_emit_fn_tan(k, x);
  case INDIM_OP_SINH:
    return indim_emit_fn_sinh(k, x);
  case INDIM_OP_COSH:
    return indim_emit_fn_cosh(k, x);
  case INDIM_OP_TANH:
    return indim_emit_fn_tanh(k, x);
  case INDIM_OP_RSQRT:
    return indim_emit_fn_rsqrt(k, x);
  default:
    return NULL;
  }
}

LLVMValueRef indim_emit_math2(indim_emit *e, indim_op op, LLVMValueRef x, LLVMValueRef y) {
  kit of_x = kit_of(e, x);
  return op == INDIM_OP_POWER && !of_x.is_double ? indim_emit_fn_pow(&of_x, x, y) : NULL;
}

void indim_emit_sincos(indim_emit *e, LLVMValueRef x, LLVMValueRef *out_sin, LLVMValueRef *out_cos) {
  kit of_x = kit_of(e, x);
  indim_emit_fn_sincos(&of_x, x, out_sin, out_cos);
}
