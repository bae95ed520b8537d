// x^2.0, x^0.5 and the like, as front ends write them with a constant exponent: to fusion and to the choice of loops, they are the
// few operations that emit/math/math_pow.c has for them, and not a function that is computed once and kept.
//
//   exponent   -2         -1    -0.5                      0   0.5                     1   1.5                     2     3       4
//              1/x 1/x    1/x   0, if -inf;               1   inf, if -inf;           x   inf, if -inf;           x x   x x x   (x x) (x x)
//                               1 / sqrt(x + 0)               sqrt(x + 0)                 (x + 0) sqrt(x + 0)
//
// The sum with 0 is for -0, whose powers are those of 0 where the exponent is no odd integer. Floats narrower than f32 are
// computed in f32, and rounded once. Integers have the exponents from 0 to 4, and wrap.
#include "expand/power.h"

#include <math.h>

// A number that follows from constants: derivatives have exponents like 2 - 1. What a type narrower than f64 would round is
// no exponent that is looked for. Recurses at most |depth| times.
static bool find_number(indim_ctx *cx, const indim_instr *instr, int32_t depth, double *out) {
  static const int64_t first[INDIM_MAX_RANK] = {0};
  double x[2] = {0, 0};
  int64_t number = 0;
  indim_type type = instr->shape->type;
  bool is_float = indim_type_is_float(type);
  if (depth == 0 || type == INDIM_PRED || !(is_float || indim_type_is_integral(type))) {
    return false;
  }
  switch ((int)instr->op) {
  case INDIM_OP_CONSTANT: {
    if (indim_shape_element_count(instr->shape) != 1 || indim_literal_is_elided(instr->literal)) {
      return false;
    }
    if (is_float) {
      return indim_literal_get_float(cx, instr->literal, first, out, NULL) == INDIM_OK;
    }
    bool is_known = indim_literal_get_int(cx, instr->literal, first, &number) == INDIM_OK;
    *out = (double)number;
    return is_known;
  }
  case INDIM_OP_BROADCAST:
  case INDIM_OP_COPY:
  case INDIM_OP_RESHAPE:
    return find_number(cx, instr->operands[0], depth - 1, out);
  case INDIM_OP_ADD:
  case INDIM_OP_SUBTRACT:
    if (!find_number(cx, instr->operands[0], depth - 1, &x[0]) ||
        !find_number(cx, instr->operands[1], depth - 1, &x[1])) {
      return false;
    }
    *out = instr->op == INDIM_OP_ADD ? x[0] + x[1] : x[0] - x[1];
    return true;
  default:
    return false;
  }
}

static bool find_exponent(indim_ctx *cx, const indim_instr *instr, double *out) {
  enum { MOST_STEPS = 8 };
  return find_number(cx, instr->operands[1], MOST_STEPS, out);
}

bool indim_power_suits(indim_ctx *cx, const indim_instr *instr) {
  static const double exponents[] = {0, 1, 2, 3, 4, -2, -1, -0.5, 0.5, 1.5};
  indim_type type = instr->shape->type;
  double exponent = NAN;
  if (instr->op != INDIM_OP_POWER || type == INDIM_PRED || indim_type_is_complex(type) ||
      !find_exponent(cx, instr, &exponent)) {
    return false;
  }
  size_t count = indim_type_is_float(type) ? sizeof exponents / sizeof *exponents : 5;
  for (size_t i = 0; i < count; i++) {
    if (exponent == exponents[i]) {
      return true;
    }
  }
  return false;
}

static value one(indim_expander *x, indim_type type) { return indim_build_scalar(x->b, type, 1); }

static value multiply(indim_expander *x, value a, value b) {
  return indim_build_binary(x->b, INDIM_OP_MULTIPLY, a, b, NULL, 0);
}

static value inverse(indim_expander *x, value a) {
  return a == NULL ? NULL : indim_build_binary(x->b, INDIM_OP_DIVIDE, one(x, a->shape->type), a, NULL, 0);
}

// Of an exponent that is no whole number.
static value half_power(indim_expander *x, value base, double exponent) {
  indim_type type = base->shape->type;
  value positive = indim_build_binary(x->b, INDIM_OP_ADD, base, indim_build_scalar(x->b, type, 0), NULL, 0);
  value root = indim_build_unary(x->b, INDIM_OP_SQRT, positive);
  value power = exponent > 1 ? multiply(x, root, positive) : exponent < 0 ? inverse(x, root) : root;
  value is_least = indim_build_compare(x->b, base, indim_build_scalar(x->b, type, -INFINITY), "EQ", NULL, NULL, 0);
  return indim_build_select(x->b, is_least, indim_build_scalar(x->b, type, exponent < 0 ? 0 : INFINITY), power);
}

static value power_of(indim_expander *x, value base, double exponent) {
  switch ((int)(exponent * 2)) {
  case -4: {
    value one_over = inverse(x, base);
    return multiply(x, one_over, one_over);
  }
  case -2:
    return inverse(x, base);
  case 0:
    return indim_expand_repeat(x, one(x, base->shape->type), base->shape, NULL);
  case 2:
    return base;
  case 4:
    return multiply(x, base, base);
  case 6:
    return multiply(x, multiply(x, base, base), base);
  case 8: {
    value square = multiply(x, base, base);
    return multiply(x, square, square);
  }
  default:
    return half_power(x, base, exponent);
  }
}

value indim_expand_power(indim_expander *x) {
  double exponent = 0;
  indim_type type = x->instr->shape->type;
  bool is_narrow = indim_type_is_float(type) && type != INDIM_F64;
  if (!find_exponent(x->cx, x->instr, &exponent)) {
    return indim_expand_fail(x, INDIM_INTERNAL);
  }
  indim_expand_begin(x);
  value base = indim_expand_convert(x, x->operands[0], is_narrow ? INDIM_F32 : type);
  return base == NULL ? NULL : indim_expand_convert(x, power_of(x, base, exponent), type);
}
