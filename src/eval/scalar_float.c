// Floats of every width, in double. Exact operations on two values of at most 24 bits of
// significand, computed in double and rounded once more to their own type, are correctly rounded: 53 >= 2 * 24 + 2.
#include <float.h>
#include <math.h>

#include "array/float_format.h"
#include "eval/real_math.h"
#include "eval/scalar_ops.h"

#define X (operands[0].f)
#define Y (operands[1].f)
#define FLOAT_OP(name) indim_scalar indim_float_##name(const indim_scalar_op *op, const indim_scalar *operands)
// An op that is a function of one or two doubles.
#define FLOAT_UNARY(name, function) \
  FLOAT_OP(name) {                  \
    (void)op;                       \
    return of(function(X));         \
  }
#define FLOAT_BINARY(name, expression) \
  FLOAT_OP(name) {                     \
    (void)op;                          \
    return of(expression);             \
  }

static indim_scalar of(double value) { return (indim_scalar){.f = value}; }
static indim_scalar of_int(int64_t value) { return (indim_scalar){.i = value}; }

FLOAT_UNARY(sign, indim_math_sign)
FLOAT_UNARY(floor, indim_math_floor)
FLOAT_UNARY(ceil, indim_math_ceil)
FLOAT_UNARY(round_afz, indim_math_round_afz)
FLOAT_UNARY(round_even, indim_math_round_even)
FLOAT_UNARY(exp, indim_math_exp)
FLOAT_UNARY(expm1, indim_math_expm1)
FLOAT_UNARY(log, indim_math_log)
FLOAT_UNARY(log1p, indim_math_log1p)
FLOAT_UNARY(logistic, indim_math_logistic)
FLOAT_UNARY(sqrt, indim_math_sqrt)
FLOAT_UNARY(rsqrt, indim_math_rsqrt)
FLOAT_UNARY(cbrt, indim_math_cbrt)
FLOAT_UNARY(sin, indim_math_sin)
FLOAT_UNARY(cos, indim_math_cos)
FLOAT_UNARY(tan, indim_math_tan)
FLOAT_UNARY(sinh, indim_math_sinh)
FLOAT_UNARY(cosh, indim_math_cosh)
FLOAT_UNARY(tanh, indim_math_tanh)
FLOAT_UNARY(asin, indim_math_asin)
FLOAT_UNARY(acos, indim_math_acos)
FLOAT_UNARY(asinh, indim_math_asinh)
FLOAT_UNARY(acosh, indim_math_acosh)
FLOAT_UNARY(atanh, indim_math_atanh)
FLOAT_UNARY(erf, indim_math_erf)
FLOAT_BINARY(add, X + Y)
FLOAT_BINARY(subtract, X - Y)
FLOAT_BINARY(multiply, X *Y)
FLOAT_BINARY(divide, X / Y)
FLOAT_BINARY(remainder, indim_math_remainder(X, Y))
FLOAT_BINARY(power, indim_math_pow(X, Y))
FLOAT_BINARY(atan2, indim_math_atan2(X, Y))

// What moves its operand or changes the sign keeps the bits of a NaN.
FLOAT_OP(abs) {
  (void)op;
  return (indim_scalar){.i = operands[0].i & INT64_MAX};
}

FLOAT_OP(negate) {
  (void)op;
  return (indim_scalar){.i = operands[0].i ^ INT64_MIN};
}

FLOAT_OP(copy) {
  (void)op;
  return operands[0];
}

FLOAT_OP(real) {
  (void)op;
  return operands[0];
}

// NaN from either side; the left operand where they are equal, zeros of either sign too.
FLOAT_OP(maximum) {
  (void)op;
  return operands[!isnan(X) && (isnan(Y) || X < Y)];
}

FLOAT_OP(minimum) {
  (void)op;
  return operands[!isnan(X) && (isnan(Y) || Y < X)];
}

FLOAT_OP(imag) {
  (void)op;
  (void)operands;
  return of(0);
}

FLOAT_OP(is_finite) {
  (void)op;
  return of_int(isfinite(X) != 0);
}

FLOAT_OP(complex) {
  (void)op;
  return (indim_scalar){.c = {X, Y}};
}

// IEEE: a NaN makes everything false but NE.
FLOAT_OP(compare) {
  if (isnan(X) || isnan(Y)) {
    return of_int(op->direction == INDIM_COMPARE_NE);
  }
  return of_int(indim_direction_holds(op->direction, X < Y, X == Y));
}

// -NaN < -inf < ... < -0 < +0 < ... < inf < NaN; FNUZ has one zero and its one NaN below everything, e8m0 no sign.
int64_t indim_total_order_key(indim_type type, uint64_t bits) {
  const indim_float_format *format = indim_float_format_of(type);
  int64_t magnitude = (int64_t)(bits & ~format->sign_bit);
  if ((bits & format->sign_bit) == 0) {
    return magnitude;
  }
  if (format->has_negative_zero) {
    return -magnitude - 1;
  }
  return magnitude == 0 ? -(int64_t)format->sign_bit : -magnitude;
}

FLOAT_OP(compare_total) {
  int64_t x = indim_total_order_key(op->type, indim_scalar_bits(op->type, operands[0]));
  int64_t y = indim_total_order_key(op->type, indim_scalar_bits(op->type, operands[1]));
  return of_int(indim_direction_holds(op->direction, x < y, x == y));
}

FLOAT_OP(select) {
  (void)op;
  return operands[0].i != 0 ? operands[1] : operands[2];
}

FLOAT_OP(clamp) {
  (void)op;
  for (int i = 0; i < 3; i++) {
    if (isnan(operands[i].f)) {
      return operands[i];
    }
  }
  double low = operands[0].f;
  double high = operands[2].f;
  double value = Y < low ? low : Y;
  return of(high < value ? high : value);
}

FLOAT_OP(convert) { return indim_scalar_convert(op->type, op->result, operands[0]); }

// Rounds the magnitude's bits to nearest even, which carries into the exponent by itself, then cuts the exponent's range.
// NaNs stay as they are, but infinite if no mantissa bit is left.
static uint64_t reduce_precision(indim_type type, int64_t exponent_bits, int64_t mantissa_bits, uint64_t bits) {
  const indim_float_format *format = indim_float_format_of(type);
  double value = indim_float_decode(type, bits);
  uint64_t sign = bits & format->sign_bit;
  uint64_t magnitude = bits ^ sign;
  if (isnan(value)) {
    return mantissa_bits > 0 || !format->has_infinity ? bits : format->infinity_bits;
  }
  if (isinf(value)) {
    return bits;
  }
  if (mantissa_bits < format->mantissa_bits) {
    int64_t dropped = format->mantissa_bits - mantissa_bits;
    magnitude += (UINT64_C(1) << (dropped - 1)) - 1 + (magnitude >> dropped & 1);
    magnitude = magnitude >> dropped << dropped;
  }
  int64_t reach = exponent_bits < format->exponent_bits ? (INT64_C(1) << (exponent_bits - 1)) - 1 : INT64_MAX / 2;
  int64_t exponent = (int64_t)(magnitude >> format->mantissa_bits);
  if (magnitude > format->max_finite_bits || exponent > format->bias + reach) {
    return indim_float_encode(type, sign != 0 ? -HUGE_VAL : HUGE_VAL);
  }
  if (exponent <= format->bias - reach) {
    return indim_float_encode(type, sign != 0 ? -0.0 : 0.0);
  }
  return sign | magnitude;
}

FLOAT_OP(reduce_precision) {
  uint64_t bits = indim_scalar_bits(op->type, operands[0]);
  return indim_scalar_of_bits(op->type, reduce_precision(op->type, op->exponent_bits, op->mantissa_bits, bits));
}

// |x| truncated, and one more if the random bits, as a fraction, are below the part cut off.
FLOAT_OP(stochastic_convert) {
  int64_t most = indim_scalar_most(op->result);
  int64_t end = signbit(X) ? -most - 1 : most;
  double magnitude = fabs(X);
  if (isnan(X)) {
    return of_int(0);
  }
  if (magnitude >= ldexp(1, indim_type_bits(op->result) - 1)) {
    return of_int(end);
  }
  double whole = floor(magnitude);
  double fraction = ldexp(magnitude - whole, indim_type_bits(op->second));
  int64_t value = (int64_t)whole;
  if (magnitude != whole && indim_scalar_pattern(op->second, operands[1].i) < (uint64_t)fraction) {
    if (value == most) {
      return of_int(end);
    }
    value++;
  }
  return of_int(X < 0 ? -value : value);
}
