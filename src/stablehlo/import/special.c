// Special functions as graphs of ordinary elementwise instructions, with one formula for both widths; what differs are
// the lengths of the series and the places where they meet. Everything is computed for every element and chosen at the
// end, so series that are never needed together share one sum, with the coefficients selected.
//
// The errors stated are the worst that tests/witness/special.py has found, in units in the last place of the exact
// value; f32 and f64. They need the functions they are made of to be right to 2 units, and subnormal numbers, as all of
// HLO's are here (docs/math.md).
#include <math.h>

#include "stablehlo/import/series.h"
#include "stablehlo/import/special.h"

typedef indim_import_value value;

// Instructions --------------------------------------------------------------------------------------------------------

static bool is_double(value x) { return x != NULL && x->shape->type == INDIM_F64; }

static value number(indim_import *im, value like, double n) {
  value scalar = like == NULL ? NULL : indim_build_scalar(im->b, like->shape->type, n);
  return scalar == NULL ? NULL : indim_build_broadcast(im->b, scalar, like->shape->sizes, like->shape->rank);
}

static value binary(indim_import *im, indim_op op, value a, value b) {
  return indim_build_binary(im->b, op, a, b, NULL, 0);
}
static value add(indim_import *im, value a, value b) { return binary(im, INDIM_OP_ADD, a, b); }
static value sub(indim_import *im, value a, value b) { return binary(im, INDIM_OP_SUBTRACT, a, b); }
static value mul(indim_import *im, value a, value b) { return binary(im, INDIM_OP_MULTIPLY, a, b); }
static value quotient(indim_import *im, value a, value b) { return binary(im, INDIM_OP_DIVIDE, a, b); }
static value power(indim_import *im, value a, value b) { return binary(im, INDIM_OP_POWER, a, b); }
static value plus(indim_import *im, value a, double n) { return add(im, a, number(im, a, n)); }
static value minus(indim_import *im, double n, value a) { return sub(im, number(im, a, n), a); }
static value times(indim_import *im, value a, double n) { return mul(im, a, number(im, a, n)); }
static value over(indim_import *im, double n, value a) { return quotient(im, number(im, a, n), a); }
static value at_most(indim_import *im, value a, double n) { return binary(im, INDIM_OP_MINIMUM, a, number(im, a, n)); }
static value unary(indim_import *im, indim_op op, value a) { return indim_build_unary(im->b, op, a); }
static value negated(indim_import *im, value a) { return unary(im, INDIM_OP_NEGATE, a); }
static value magnitude(indim_import *im, value a) { return unary(im, INDIM_OP_ABS, a); }

static value is(indim_import *im, value a, const char *direction, double n) {
  return indim_build_compare(im->b, a, number(im, a, n), direction, NULL, NULL, 0);
}

static value choose(indim_import *im, value pred, value on_true, value on_false) {
  return indim_build_select(im->b, pred, on_true, on_false);
}

static value both(indim_import *im, value a, value b) { return binary(im, INDIM_OP_AND, a, b); }

// Coefficients in ascending powers, for each width.
typedef struct series {
  const double *of_f32, *of_f64;
  int f32_count, f64_count;
} series;

#define SERIES(name) \
  { name##_f32, name##_f64, (int)(sizeof name##_f32 / sizeof(double)), (int)(sizeof name##_f64 / sizeof(double)) }

enum { MAX_COEFFICIENTS = 32 };

// c[0] + c[step] y + c[2 step] y^2 + ...
static value horner(indim_import *im, value y, const value *c, int count, int step) {
  int last = (count - 1) / step * step;
  value sum = c[last];
  for (int i = last - step; i >= 0; i -= step) {
    sum = add(im, mul(im, sum, y), c[i]);
  }
  return sum;
}

// One chain of products and sums waits for each of its steps: a long one is cut in two or, at |most|, four, for every
// second or fourth power. More of them lose more where terms cancel.
static value sum_powers(indim_import *im, value x, const value *c, int count, int most) {
  if (count < 8) {
    return horner(im, x, c, count, 1);
  }
  value y = mul(im, x, x);
  if (count < 16 || most < 4) {
    return add(im, horner(im, y, c, count, 2), mul(im, x, horner(im, y, c + 1, count - 1, 2)));
  }
  value z = mul(im, y, y);
  value low = add(im, horner(im, z, c, count, 4), mul(im, x, horner(im, z, c + 1, count - 1, 4)));
  value high = add(im, horner(im, z, c + 2, count - 2, 4), mul(im, x, horner(im, z, c + 3, count - 3, 4)));
  return add(im, low, mul(im, y, high));
}

static value sum_series(indim_import *im, value x, series s) {
  value terms[MAX_COEFFICIENTS] = {NULL};
  const double *c = is_double(x) ? s.of_f64 : s.of_f32;
  int count = is_double(x) ? s.f64_count : s.f32_count;
  for (int i = 0; i < count; i++) {
    terms[i] = number(im, x, c[i]);
  }
  return sum_powers(im, x, terms, count, 4);
}

// The one or the other of two series of one length.
static value sum_either(indim_import *im, value pred, value x, series a, series b) {
  value terms[MAX_COEFFICIENTS] = {NULL};
  const double *c = is_double(x) ? a.of_f64 : a.of_f32, *d = is_double(x) ? b.of_f64 : b.of_f32;
  int count = is_double(x) ? a.f64_count : a.f32_count;
  for (int i = 0; i < count; i++) {
    terms[i] = choose(im, pred, number(im, x, c[i]), number(im, x, d[i]));
  }
  return sum_powers(im, x, terms, count, 2);
}

// The error function --------------------------------------------------------------------------------------------------

// |a| without the lower half of its bits.
static value upper_half(indim_import *im, value a) {
  indim_type ints = is_double(a) ? INDIM_S64 : INDIM_S32;
  value bits = indim_build_bitcast_convert(im->b, a, ints);
  value mask = indim_build_scalar_int(im->b, ints, is_double(a) ? -(INT64_C(1) << 27) : -(INT64_C(1) << 12));
  return indim_build_bitcast_convert(im->b, binary(im, INDIM_OP_AND, bits, mask), a->shape->type);
}

// y e^-aa, though aa loses half a unit, which at aa = 700 would be a thousand units of the result: what is lost is computed
// exactly, and e^-(s + lost) = e^-s (1 - lost), as lost is tiny. The exponential comes last: products with it may be
// subnormal, which processors are slow at. a: at most 28.
static value times_exp_minus_square(indim_import *im, value y, value a) {
  value high = upper_half(im, a);
  value low = sub(im, a, high);
  value square = mul(im, a, a);
  value lost = add(im, sub(im, mul(im, high, high), square), times(im, mul(im, high, low), 2));
  lost = add(im, lost, mul(im, low, low));
  value e = unary(im, INDIM_OP_EXPONENTIAL, negated(im, square));
  return mul(im, sub(im, y, mul(im, y, lost)), e);
}

// erfc(a) = e^-aa (1 + (q + 1) p(q)) / (1 + 2a) for a >= 0, q = (a - 3) / (a + 3), p from -1 to the q where the result
// is 0; 2 - erfc(-x) below 0. Beyond 11 (f32) or 28 (f64) it is 0. Errors: 4.3 and 3.9 units.
value indim_special_erfc(indim_import *im, value x) {
  const series p = SERIES(erfc);
  value a = at_most(im, magnitude(im, x), is_double(x) ? 28 : 11);
  value q = quotient(im, plus(im, a, -3), plus(im, a, 3));
  value sum = plus(im, mul(im, plus(im, q, 1), sum_series(im, q, p)), 1);
  value y = quotient(im, sum, plus(im, times(im, a, 2), 1));
  y = times_exp_minus_square(im, y, a);
  return choose(im, is(im, x, "LT", 0), minus(im, 2, y), y);
}

// erf_inv(x) = x p(w), w = -log((1 - x)(1 + x)): for small w a series in w, else one in its square root (as M. Giles
// has it, "Approximating the erfinv function"). The factors make w right where x is close to 1. NaN outside -1..1.
// Errors: 3.9 and 3.9 units.
value indim_special_erf_inv(indim_import *im, value x) {
  const series near = SERIES(erf_inv_near), far = SERIES(erf_inv_far);
  value product = mul(im, minus(im, 1, x), plus(im, x, 1));
  value w = negated(im, unary(im, INDIM_OP_LOG, product));
  value is_near = is(im, w, "LT", is_double(x) ? 9 : 5.5);
  value root = plus(im, unary(im, INDIM_OP_SQRT, w), is_double(x) ? -4.5 : -3);
  value t = choose(im, is_near, plus(im, w, is_double(x) ? -4.5 : -2.5), root);
  value p = sum_either(im, is_near, t, near, far);
  p = choose(im, is(im, magnitude(im, x), "EQ", 1), number(im, x, HUGE_VAL), p);
  return mul(im, x, p);
}

// The gamma function --------------------------------------------------------------------------------------------------

// The distance of |a| >= 0 from the integer below; NaN for an infinity.
static value fraction(indim_import *im, value a) { return sub(im, a, unary(im, INDIM_OP_FLOOR, a)); }

// log |gamma(a)|, a >= 0, |log_a| its logarithm. From 3 on (a - 1/2)(log a - 1) + h(1/a). Below with d = a - 1 the
// product d (d - 1) p(d - 1), whose factors are exact, so that the zeros at 1 and 2 are; and log gamma(a) = log gamma(a
// + 1) - log a below 1.
static value lgamma_of_positive(indim_import *im, value a, value log_a) {
  const series near = SERIES(lgamma_near), far = SERIES(lgamma_far);
  value is_small = is(im, a, "LT", 1);
  value d = choose(im, is_small, a, plus(im, a, -1));
  value e = plus(im, d, -1);
  value low = mul(im, mul(im, d, e), sum_series(im, e, near));
  low = add(im, low, choose(im, is_small, negated(im, log_a), number(im, a, 0)));
  value high = mul(im, plus(im, a, -0.5), plus(im, log_a, -1));
  high = add(im, high, sum_series(im, over(im, 1, a), far));
  return choose(im, is(im, a, "LT", 3), low, high);
}

// Below 0 log |gamma(x)| = -log |x sin(pi x) / pi| - log gamma(-x). Infinite at 0, the negative integers and both
// infinities. Errors: 4.2 and 4.1 units from 0 on, near the zeros too; below 0, where terms cancel, 2.3 units of the
// largest.
value indim_special_lgamma(indim_import *im, value x) {
  const series sine = SERIES(sin_pi);
  value a = magnitude(im, x);
  value log_a = unary(im, INDIM_OP_LOG, a);
  value positive = lgamma_of_positive(im, a, log_a);
  value r = fraction(im, a);
  r = binary(im, INDIM_OP_MINIMUM, r, minus(im, 1, r));
  value log_sine = unary(im, INDIM_OP_LOG, mul(im, r, sum_series(im, mul(im, r, r), sine)));
  value negative = negated(im, add(im, log_sine, add(im, log_a, positive)));
  value result = choose(im, is(im, x, "LT", 0), negative, positive);
  return choose(im, is(im, positive, "EQ", HUGE_VAL), positive, result);
}

// digamma(a), a >= 0, but for the 1/a that is to be subtracted below 1. Up to 2 (y - z) p(y - z), y = a or a + 1, z the
// zero of digamma as a sum of two numbers; beyond log a - 1/(2a) + h(1/aa) / aa.
static value digamma_of_positive(indim_import *im, value a, value is_small, value inverse) {
  const series near = SERIES(digamma_near), far = SERIES(digamma_far);
  const double zero = is_double(a) ? 1.4616321449683622 : 1.46163213253021240234375;
  const double rest = is_double(a) ? 9.549995429965697e-17 : 1.2438149938739e-8;
  value y = choose(im, is_small, plus(im, a, 1), a);
  value d = plus(im, plus(im, y, -zero), -rest);
  value low = mul(im, d, sum_series(im, d, near));
  value square = mul(im, inverse, inverse);
  value high = sub(im, unary(im, INDIM_OP_LOG, a), times(im, inverse, 0.5));
  high = add(im, high, mul(im, square, sum_series(im, square, far)));
  return choose(im, is(im, a, "LT", 2), low, high);
}

// Below 0 digamma(x) = digamma(-x) - 1/x - pi / tan(pi x). NaN at 0, the negative integers and -inf.
// Errors: 3.1 and 2.8 units from 0 on; below 0 1.2 units of the largest term.
value indim_special_digamma(indim_import *im, value x) {
  const series cotangent = SERIES(cot_pi);
  value a = magnitude(im, x);
  value is_small = is(im, a, "LT", 1), is_negative = is(im, x, "LT", 0);
  value inverse = over(im, 1, a);
  value positive = digamma_of_positive(im, a, is_small, inverse);
  value r = fraction(im, a);
  r = choose(im, is(im, r, "GT", 0.5), plus(im, r, -1), r);
  value cot = quotient(im, sum_series(im, mul(im, r, r), cotangent), r);
  value nothing = number(im, x, 0);
  value negative = add(im, add(im, positive, choose(im, is_small, nothing, inverse)), cot);
  positive = sub(im, positive, choose(im, is_small, inverse, nothing));
  value result = choose(im, is_negative, negative, positive);
  value is_pole = both(im, is(im, x, "LE", 0), is(im, r, "EQ", 0));
  return choose(im, is_pole, number(im, x, NAN), result);
}

// Bessel --------------------------------------------------------------------------------------------------------------

// e^-a I1(a) = a e^-a p(aa) for small a, else p(1/a) / sqrt(a), 1/a moved to -1..1; odd. Errors: 3.2 and 3.8 units.
value indim_special_bessel_i1e(indim_import *im, value x) {
  const series near = SERIES(bessel_near), far = SERIES(bessel_far);
  value a = magnitude(im, x);
  value is_near = is(im, a, "LE", is_double(x) ? 8 : 5);
  value t = choose(im, is_near, mul(im, a, a), plus(im, over(im, is_double(x) ? 16 : 10, a), -1));
  value p = sum_either(im, is_near, t, near, far);
  value low = mul(im, mul(im, x, p), unary(im, INDIM_OP_EXPONENTIAL, negated(im, a)));
  value high = mul(im, quotient(im, p, unary(im, INDIM_OP_SQRT, a)), unary(im, INDIM_OP_SIGN, x));
  return choose(im, is_near, low, high);
}

// Zeta ----------------------------------------------------------------------------------------------------------------

// B(2k) / (2k)!, k = 1, 2, ...: of Euler and Maclaurin's sum.
static const double bernoulli[] = {
    1.0 / 12,
    -1.0 / 720,
    1.0 / 30240,
    -1.0 / 1209600,
    1.0 / 47900160,
    -691.0 / 1307674368000,
    1.0 / 74724249600,
    -3617.0 / 10670622842880000,
    43867.0 / 5109094217170944000,
};

// What the terms from (a/m)^-s on sum up to: the integral r m / (s - 1), r = (a/m)^(1-s), half the first term p and its
// odd derivatives. The bracket can overflow where p is 0 and is the end of nothing.
static value zeta_tail(indim_import *im, value s, value a, value scaled, value scale, int count) {
  value t = plus(im, s, -1);
  value r = power(im, scaled, negated(im, t));
  value first = quotient(im, r, scaled);
  value inverse = over(im, 1, a);
  value sum = number(im, s, bernoulli[count - 1]);
  for (int k = count - 1; k > 0; k--) {
    value factor = mul(im, mul(im, plus(im, s, 2 * k - 1), inverse), mul(im, plus(im, s, 2 * k), inverse));
    sum = plus(im, mul(im, sum, factor), bernoulli[k - 1]);
  }
  sum = plus(im, mul(im, sum, mul(im, s, inverse)), 0.5);
  sum = choose(im, is(im, first, "GT", 0), mul(im, first, sum), number(im, s, 0));
  value integral = quotient(im, scale == NULL ? r : mul(im, r, scale), t);
  return add(im, sum, integral);
}

// The sum over k >= 0 of ((q + k) / scale)^-s for q > 0, s > 1; |scale| a power of two, NULL for 1.
static value zeta_of_positive(indim_import *im, value s, value q, value scale) {
  int terms = is_double(s) ? 9 : 5, count = is_double(s) ? 9 : 4;
  value unscale = scale == NULL ? NULL : over(im, 1, scale);
  value exponent = negated(im, s);
  value a = plus(im, q, terms);
  value sum = zeta_tail(im, s, a, scale == NULL ? a : mul(im, a, unscale), scale, count);
  for (int k = terms - 1; k >= 0; k--) {
    value base = k == 0 ? q : plus(im, q, k);
    base = scale == NULL ? base : mul(im, base, unscale);
    sum = add(im, sum, power(im, base, exponent));
  }
  return sum;
}

// A pair of instructions is passed to the branches of a conditional, or a triple with the scale.
static value tuple_of(indim_import *im, value s, value q, value scale) {
  const value operands[] = {s, q, scale};
  return indim_build_tuple(im->b, operands, scale == NULL ? 2 : 3);
}

// q < 0 with an integer s: the terms before q + k > 0 are the same sum from the other side, less what comes beyond |q|:
// zeta(s, q) = zeta(s, 1 - f) + (-1)^s (zeta(s, f) - zeta(s, |q| + 1)), f = |q| - floor |q|.
static value zeta_of_any(indim_import *im, value s, value q, value scale, value is_even) {
  value a = magnitude(im, q);
  value is_negative = is(im, q, "LT", 0);
  value f = fraction(im, a);
  value right = zeta_of_positive(im, s, choose(im, is_negative, minus(im, 1, f), q), scale);
  value left = sub(im, zeta_of_positive(im, s, f, scale), zeta_of_positive(im, s, plus(im, a, 1), scale));
  left = add(im, right, choose(im, is_even, left, negated(im, left)));
  return choose(im, is_negative, left, right);
}

static value is_even(indim_import *im, value s) {
  value half = times(im, s, 0.5);
  return indim_build_compare(im->b, half, unary(im, INDIM_OP_FLOOR, half), "EQ", NULL, NULL, 0);
}

// A branch that takes a tuple of |from|'s shape.
static const indim_computation *zeta_branch(indim_import *im, value from, bool is_any) {
  indim_computation *before = NULL;
  if (from == NULL) {
    return NULL;
  }
  indim_computation *computation = indim_import_begin(im, is_any ? "zeta_of_any" : "zeta_of_positive", &before);
  value all = computation == NULL ? NULL : indim_build_parameter(im->b, 0, from->shape, NULL);
  value s = indim_build_get_tuple_element(im->b, all, 0), q = indim_build_get_tuple_element(im->b, all, 1);
  value scale = from->shape->member_count > 2 ? indim_build_get_tuple_element(im->b, all, 2) : NULL;
  value root = is_any ? zeta_of_any(im, s, q, scale, is_even(im, s)) : zeta_of_positive(im, s, q, scale);
  return indim_import_end(im, computation, root, before);
}

// Whether one of the elements is true.
static value any(indim_import *im, value pred) {
  int64_t dims[INDIM_MAX_RANK];
  const indim_computation *either = indim_import_scalar_computation(im, INDIM_OP_OR, INDIM_PRED, "or");
  value init = indim_build_scalar_int(im->b, INDIM_PRED, 0);
  if (pred == NULL || either == NULL) {
    return NULL;
  }
  for (int32_t i = 0; i < pred->shape->rank; i++) {
    dims[i] = i;
  }
  return indim_build_reduce(im->b, &pred, &init, 1, either, dims, pred->shape->rank);
}

// The three sums are computed only where some q is negative; scalars, which may stand in the computation of a
// reduction, are always given all three.
static value zeta_of_integers(indim_import *im, value s, value q, value scale) {
  if (s == NULL || s->shape->rank == 0) {
    return s == NULL ? NULL : zeta_of_any(im, s, q, scale, is_even(im, s));
  }
  value operand = tuple_of(im, s, q, scale);
  const indim_computation *branches[] = {zeta_branch(im, operand, true), zeta_branch(im, operand, false)};
  const value operands[] = {operand, operand};
  value pred = any(im, is(im, q, "LT", 0));
  return indim_import_ok(im) ? indim_build_conditional(im->b, pred, branches, operands, 2) : NULL;
}

// What the sum is where it has no limit of its own, as XLA has it: at q = 0, -1, ... infinite for even s, else NaN; NaN
// for another q < 0 with an s that is no integer.
static value zeta_limits(indim_import *im, value s, value q, value sum) {
  value whole_q = indim_build_compare(im->b, q, unary(im, INDIM_OP_FLOOR, q), "EQ", NULL, NULL, 0);
  value broken_s = indim_build_compare(im->b, s, unary(im, INDIM_OP_FLOOR, s), "NE", NULL, NULL, 0);
  value nan = number(im, s, NAN);
  value at_pole = choose(im, is_even(im, s), number(im, s, HUGE_VAL), nan);
  sum = choose(im, both(im, is(im, q, "LT", 0), broken_s), nan, sum);
  return choose(im, both(im, is(im, q, "LE", 0), whole_q), at_pole, sum);
}

// Euler and Maclaurin's sum after a few terms. NaN for x < 1, infinite at 1. Errors: up to 5 units, and x/2 more, as q
// + k is rounded before it is raised to the power -x; below 0 2.4 units of the largest term.
value indim_special_zeta(indim_import *im, value x, value q) {
  value sum = zeta_limits(im, x, q, zeta_of_integers(im, x, q, NULL));
  value is_number = indim_build_compare(im->b, q, q, "EQ", NULL, NULL, 0);
  sum = choose(im, is(im, x, "LT", 1), number(im, x, NAN), sum);
  return choose(im, both(im, is(im, x, "EQ", 1), is_number), number(im, x, HUGE_VAL), sum);
}

// The power of two not above x, in a range where it has an inverse; 1 for x <= 0 and NaN.
static value power_of_two(indim_import *im, value x) {
  bool wide = is_double(x);
  value bits = indim_build_bitcast_convert(im->b, x, wide ? INDIM_U64 : INDIM_U32);
  value mask = indim_build_scalar_int(im->b, wide ? INDIM_U64 : INDIM_U32,
                                      wide ? INT64_C(0x7ff0000000000000) : INT64_C(0x7f800000));
  value exponent =
      indim_build_bitcast_convert(im->b, binary(im, INDIM_OP_AND, bits, mask), wide ? INDIM_F64 : INDIM_F32);
  double range = wide ? 0x1p1022 : 0x1p126;
  value clamped = indim_build_clamp(im->b, number(im, x, 1 / range), exponent, number(im, x, range));
  return choose(im, is(im, x, "GT", 0), clamped, number(im, x, 1));
}

// gamma(z) scale^-z, z >= 2, by Stirling's formula in four equal factors, none of which is out of range where their
// product is not: the fourth root of (z/scale)^(z-1/2) e^-z. For z above |most| the e^-z, or what is left of it, is
// inside the power.
static value scaled_gamma(indim_import *im, value z, value scale, value sum) {
  const series p = SERIES(gamma);
  double most = is_double(z) ? 2000 : 240;
  value exponent = plus(im, z, -0.5);
  value rest = binary(im, INDIM_OP_MINIMUM, minus(im, most, z), number(im, z, 0));
  value base = mul(im, quotient(im, z, scale), unary(im, INDIM_OP_EXPONENTIAL, quotient(im, rest, exponent)));
  value root = mul(im, power(im, base, times(im, exponent, 0.25)),
                   unary(im, INDIM_OP_EXPONENTIAL, times(im, at_most(im, z, most), -0.25)));
  value factor = mul(im, unary(im, INDIM_OP_SQRT, over(im, 1, scale)), sum_series(im, over(im, 1, z), p));
  return mul(im, mul(im, mul(im, root, root), mul(im, root, sum)), mul(im, root, factor));
}

// (-1)^(n+1) n! zeta(n + 1, x), digamma(x) for n = 0; NaN for an n that is negative or no integer. The sum is computed
// for x and its terms divided by a power of two, as n! may be out of range where the product is not. Errors: up to 10
// units, and n more.
value indim_special_polygamma(indim_import *im, value n, value x) {
  value z = plus(im, n, 1);
  value scale = power_of_two(im, x);
  value sum = zeta_limits(im, z, x, zeta_of_integers(im, z, x, scale));
  value product = scaled_gamma(im, z, scale, sum);
  product = choose(im, is_even(im, n), negated(im, product), product);
  value is_whole = indim_build_compare(im->b, n, unary(im, INDIM_OP_FLOOR, n), "EQ", NULL, NULL, 0);
  is_whole = both(im, is_whole, is(im, n, "GE", 0));
  product = choose(im, is(im, n, "EQ", 0), indim_special_digamma(im, x), product);
  return choose(im, is_whole, product, number(im, n, NAN));
}
