// Arithmetic on values of the matrices' type.
#include "array/element.h"
#include "array/float_format.h"
#include "loop/ir/build.h"
#include "loop/linalg/code.h"
#include "loop/regs/regs.h"

static value splat(const indim_matrix_code *c, indim_type type, uint64_t bits) {
  return indim_loop_splat(c->b, indim_loop_const(c->b, type, bits, 0), c->lanes);
}

value indim_code_real(const indim_matrix_code *c, double x) {
  return splat(c, c->type, indim_float_encode(c->type, x));
}
value indim_code_s32(const indim_matrix_code *c, int32_t x) { return splat(c, INDIM_S32, (uint32_t)x); }
value indim_code_false(const indim_matrix_code *c) { return splat(c, INDIM_PRED, 0); }

static value unary(const indim_matrix_code *c, indim_op op, value x) {
  return indim_loop_elementwise(c->b, (indim_loop_op){.op = op}, c->type, 1, &x);
}

value indim_code_add(const indim_matrix_code *c, value x, value y) {
  return indim_loop_binary(c->b, INDIM_OP_ADD, x, y);
}
value indim_code_sub(const indim_matrix_code *c, value x, value y) {
  return indim_loop_binary(c->b, INDIM_OP_SUBTRACT, x, y);
}
value indim_code_mul(const indim_matrix_code *c, value x, value y) {
  return indim_loop_binary(c->b, INDIM_OP_MULTIPLY, x, y);
}
value indim_code_div(const indim_matrix_code *c, value x, value y) {
  return indim_loop_binary(c->b, INDIM_OP_DIVIDE, x, y);
}
value indim_code_max(const indim_matrix_code *c, value x, value y) {
  return indim_loop_binary(c->b, INDIM_OP_MAXIMUM, x, y);
}
value indim_code_and(const indim_matrix_code *c, value x, value y) {
  return indim_loop_binary(c->b, INDIM_OP_AND, x, y);
}
value indim_code_or(const indim_matrix_code *c, value x, value y) { return indim_loop_binary(c->b, INDIM_OP_OR, x, y); }
value indim_code_neg(const indim_matrix_code *c, value x) { return unary(c, INDIM_OP_NEGATE, x); }
value indim_code_abs(const indim_matrix_code *c, value x) { return unary(c, INDIM_OP_ABS, x); }
value indim_code_sqrt(const indim_matrix_code *c, value x) { return unary(c, INDIM_OP_SQRT, x); }

value indim_code_mul_add(const indim_matrix_code *c, value x, value y, value z) {
  return c->l->target->has_fma ? indim_loop_fma(c->b, x, y, z) : indim_code_add(c, z, indim_code_mul(c, x, y));
}

value indim_code_mul_sub(const indim_matrix_code *c, value x, value y, value z) {
  return c->l->target->has_fma ? indim_loop_fma(c->b, indim_code_neg(c, x), y, z)
                               : indim_code_sub(c, z, indim_code_mul(c, x, y));
}

value indim_code_compare(const indim_matrix_code *c, indim_compare_direction direction, value x, value y) {
  const value args[] = {x, y};
  indim_loop_op op = {.op = INDIM_OP_COMPARE, .direction = (int32_t)direction};
  return indim_loop_elementwise(c->b, op, INDIM_PRED, 2, args);
}

value indim_code_select(const indim_matrix_code *c, value pred, value on_true, value on_false) {
  return indim_loop_select(c->b, pred, on_true, on_false);
}

void indim_code_exchange(const indim_matrix_code *c, value pred, value *x, value *y) {
  value first = indim_code_select(c, pred, *y, *x);
  *y = indim_code_select(c, pred, *x, *y);
  *x = first;
}

// The exponent's bits, 2^(e - bias), kept where their counterpart 2^(bias - e) is a normal number, too.
void indim_code_scale(const indim_matrix_code *c, value x, value *out_scale, value *out_inverse) {
  bool is_f32 = c->type == INDIM_F32;
  indim_type bits = is_f32 ? INDIM_U32 : INDIM_U64;
  int32_t mantissa = is_f32 ? 23 : 52;
  uint64_t bias = is_f32 ? 127 : 1023;
  value exponent = indim_loop_binary(c->b, INDIM_OP_AND, indim_loop_bitcast(c->b, x, bits),
                                     splat(c, bits, (2 * bias + 1) << mantissa));
  exponent = indim_loop_binary(c->b, INDIM_OP_MAXIMUM, exponent, splat(c, bits, UINT64_C(1) << mantissa));
  exponent = indim_loop_binary(c->b, INDIM_OP_MINIMUM, exponent, splat(c, bits, (2 * bias - 1) << mantissa));
  value opposite = indim_loop_binary(c->b, INDIM_OP_SUBTRACT, splat(c, bits, 2 * bias << mantissa), exponent);
  *out_scale = indim_loop_bitcast(c->b, opposite, c->type);
  *out_inverse = indim_loop_bitcast(c->b, exponent, c->type);
}

value indim_code_largest(const indim_matrix_code *c, int64_t count, const value *x) {
  value largest = indim_code_real(c, 0);
  for (int64_t i = 0; i < count; i++) {
    largest = indim_code_max(c, largest, indim_code_abs(c, x[i]));
  }
  return largest;
}

value indim_code_any(const indim_matrix_code *c, value x) {
  value most = c->lanes == 1 ? x : indim_loop_reduce(c->b, (indim_loop_op){.op = INDIM_OP_MAXIMUM}, x);
  const value args[] = {most, indim_loop_const(c->b, c->type, 0, 0)};
  indim_loop_op op = {.op = INDIM_OP_COMPARE, .direction = INDIM_COMPARE_GT};
  return indim_loop_elementwise(c->b, op, INDIM_PRED, 2, args);
}

value *indim_code_new(const indim_matrix_code *c, int64_t count, const value *from) {
  value *values = indim_lower_alloc(c->l, count + 1, sizeof *values);
  value zero = indim_code_real(c, 0);
  for (int64_t i = 0; i < count && values != NULL; i++) {
    values[i] = from == NULL ? zero : from[i];
  }
  return values;
}
