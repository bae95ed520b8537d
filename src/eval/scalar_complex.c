// Complex numbers as pairs of doubles; c64 is rounded to floats afterwards.
#include "eval/scalar_ops.h"

#define X (operands[0].c)
#define Y (operands[1].c)
#define COMPLEX_OP(name) indim_scalar indim_complex_op_##name(const indim_scalar_op *op, const indim_scalar *operands)
#define COMPLEX_UNARY(name)             \
  COMPLEX_OP(name) {                    \
    (void)op;                           \
    return of(indim_complex_##name(X)); \
  }
#define COMPLEX_BINARY(name)               \
  COMPLEX_OP(name) {                       \
    (void)op;                              \
    return of(indim_complex_##name(X, Y)); \
  }

static indim_scalar of(indim_complex value) { return (indim_scalar){.c = value}; }

COMPLEX_UNARY(sign)
COMPLEX_UNARY(exp)
COMPLEX_UNARY(expm1)
COMPLEX_UNARY(log)
COMPLEX_UNARY(log1p)
COMPLEX_UNARY(logistic)
COMPLEX_UNARY(sqrt)
COMPLEX_UNARY(rsqrt)
COMPLEX_UNARY(sin)
COMPLEX_UNARY(cos)
COMPLEX_UNARY(tan)
COMPLEX_UNARY(sinh)
COMPLEX_UNARY(cosh)
COMPLEX_UNARY(tanh)
COMPLEX_UNARY(asin)
COMPLEX_UNARY(acos)
COMPLEX_UNARY(asinh)
COMPLEX_UNARY(acosh)
COMPLEX_UNARY(atanh)
COMPLEX_BINARY(power)
COMPLEX_BINARY(atan2)

COMPLEX_OP(multiply) {
  return of(op->type == INDIM_C64 ? indim_complex_multiply_c64(X, Y) : indim_complex_multiply(X, Y));
}

COMPLEX_OP(divide) { return of(op->type == INDIM_C64 ? indim_complex_divide_c64(X, Y) : indim_complex_divide(X, Y)); }

COMPLEX_OP(abs) {
  (void)op;
  return (indim_scalar) { .f = indim_complex_abs(X) };
}

COMPLEX_OP(real) {
  (void)op;
  return (indim_scalar) {
    .f = X
    .re
  };
}

COMPLEX_OP(imag) {
  (void)op;
  return (indim_scalar) {
    .f = X
    .im
  };
}

COMPLEX_OP(copy) {
  (void)op;
  return operands[0];
}

COMPLEX_OP(negate) {
  (void)op;
  return of((indim_complex) {
    -X
    .re, -X
    .im
  });
}

COMPLEX_OP(add) {
  (void)op;
  return of((indim_complex) {
    X
    .re + Y.re, X
    .im + Y.im
  });
}

COMPLEX_OP(subtract) {
  (void)op;
  return of((indim_complex) {
    X
    .re - Y.re, X
    .im - Y.im
  });
}

// Only EQ and NE; the verifier refuses the others.
COMPLEX_OP(compare) {
  bool equal = X
  .re == Y.re &&X
  .im == Y.im;
  return (indim_scalar){.i = op->direction == INDIM_COMPARE_NE ? !equal : equal};
}

COMPLEX_OP(select) {
  (void)op;
  return operands[0].i != 0 ? operands[1] : operands[2];
}

COMPLEX_OP(convert) { return indim_scalar_convert(op->type, op->result, operands[0]); }
