// The complex functions, from the real ones of math.c by the formulas of eval/complex_math.c. Where their terms cancel,
// exact ones are kept exact (log and log-plus-one near the unit circle), and others computed in double-double in a
// block of their own (the real parts of exponential-minus-one and logistic near their zeros).
#include "emit/scalar/scalar_complex.h"

static const double half_pi = 0x1.921FB54442D18p+0;

static val product_sign_zero(const kit *k, val x, val y) { return flip(k, with_sign(k, real(k, 0), x), y); }
static val squared(const kit *k, val x) { return mul(k, x, x); }
static val halved(const kit *k, val x) { return mul(k, x, real(k, 0.5)); }
static complex_val nans(const kit *k) { return (complex_val){nan_of(k), nan_of(k)}; }

// Exponentials --------------------------------------------------------------------------------------------------------

complex_val indim_emit_complex_times_exp(const complex_kit *s, complex_val factors, val x, double factor) {
  const kit *k = &s->k;
  val power = math(k, INDIM_OP_EXPONENTIAL, x);
  val scale = real(k, factor);
  complex_val usual = {mul(k, mul(k, factors.re, power), scale), mul(k, mul(k, factors.im, power), scale)};
  if (s->is_wide) {
    return usual;
  }
  // exp(x) overflows or underflows, or nearly: scaled by steps of e^381.5625, which is a double to 57 bits.
  const double step = 381.5625;
  val is_large = above(k, x, 600);
  val is_small = below(k, x, -600);
  rare block = indim_emit_rare_begin(k, either(k, is_large, is_small));
  val shift = choose(k, is_large, real(k, -2 * step), choose(k, is_small, real(k, step), real(k, 0)));
  val rest = math(k, INDIM_OP_EXPONENTIAL, add(k, x, shift));
  val up = real(k, 0x1.64a3f4a67b063p+550);
  val down = real(k, 0x1.6f84c30d2288ep-551);
  val first = choose(k, is_large, up, real(k, 1));
  val last = mul(k, choose(k, is_large, up, choose(k, is_small, down, real(k, 1))), scale);
  complex_val result = {mul(k, mul(k, mul(k, factors.re, first), rest), last),
                        mul(k, mul(k, mul(k, factors.im, first), rest), last)};
  result.re = choose(k, is_zero(k, factors.re), factors.re, result.re);
  result.im = choose(k, is_zero(k, factors.im), factors.im, result.im);
  return indim_emit_rare_end(k, block, usual, result);
}

static complex_val complex_exp(const complex_kit *s, complex_val z) {
  const kit *k = &s->k;
  val sine;
  val cosine;
  indim_emit_sincos(k->e, z.im, &sine, &cosine);
  complex_val result = indim_emit_complex_times_exp(s, (complex_val){cosine, sine}, z.re, 1);
  val on_axis = is_zero(k, z.im);
  val power = math(k, INDIM_OP_EXPONENTIAL, z.re);
  // The modulus is 0 or infinite even if the angle is undefined.
  val no_angle = both(k, is_infinite(k, z.re), negated(k, is_finite(k, z.im)));
  val im = choose(k, both(k, no_angle, below(k, z.re, 0)), with_sign(k, real(k, 0), z.im), result.im);
  return (complex_val){choose(k, either(k, on_axis, no_angle), power, result.re), choose(k, on_axis, z.im, im)};
}

static pair one_of(const kit *k, val x) { return (pair){x, real(k, 0)}; }

// 2 x^2.
static pair twice_square(const kit *k, pair x) {
  pair square = indim_emit_pair_multiply(k, x, x);
  return (pair){mul(k, square.high, real(k, 2)), mul(k, square.low, real(k, 2))};
}

// exp(x) cos(y) - 1 = expm1(x) - 2 sin^2(y / 2) exp(x) for x <= 100, which cancels along a curve through 0. c64 can
// afford to lose bits there, up to a point.
static val exact_expm1(const kit *k, complex_val z) {
  pair sine;
  pair cosine;
  indim_emit_pair_sincos(k, one_of(k, halved(k, z.im)), &sine, &cosine);
  pair first = indim_emit_pair_expm1(k, at_least(k, z.re, -600));
  pair power = indim_emit_pair_add(k, indim_emit_pair_constant(k, 1, 0), first);
  pair second = indim_emit_pair_multiply(k, twice_square(k, sine), power);
  return indim_emit_pair_value(k, indim_emit_pair_add(k, first, indim_emit_pair_negate(k, second)));
}

static val difference_of_expm1(const complex_kit *s, complex_val z, val first, val power, val is_moderate) {
  const kit *k = &s->k;
  val sine = math(k, INDIM_OP_SINE, halved(k, z.im));
  val square = mul(k, mul(k, real(k, 2), sine), sine);
  val difference = sub(k, first, mul(k, square, add(k, real(k, 1), first)));
  difference = choose(k, above(k, z.re, 1), sub(k, power, real(k, 1)), difference);
  val inexact = is_moderate;
  if (s->is_wide) {
    val limit = absolute(k, mul(k, first, real(k, 0x1p-6)));
    inexact = both(k, inexact, compare(k, LLVMRealOLT, absolute(k, difference), limit));
  }
  rare block = indim_emit_rare_begin(k, inexact);
  val exact = choose(k, inexact, exact_expm1(k, z), difference);
  return indim_emit_rare_end(k, block, (complex_val){difference, difference}, (complex_val){exact, exact}).re;
}

static complex_val complex_expm1(const complex_kit *s, complex_val z) {
  const kit *k = &s->k;
  complex_val power = complex_exp(s, z);
  val first = math(k, INDIM_OP_EXPONENTIAL_MINUS_ONE, z.re);
  val is_moderate = both(k, both_finite(k, z), compare(k, LLVMRealOLE, z.re, real(k, 100)));
  val difference = difference_of_expm1(s, z, first, power.re, is_moderate);
  val re = choose(k, is_moderate, difference, sub(k, power.re, real(k, 1)));
  return (complex_val){choose(k, is_zero(k, z.im), first, re), power.im};
}

// exp(x) + cos(y), which cancels along a curve where x <= 0. Near x = 0, cos(y) = -1 the sum of both loses digits,
// unlike that of exp(x) - 1 and 1 + cos(y).
static pair exact_exp_plus_cos(const kit *k, val x, val y) {
  pair sine;
  pair cosine;
  pair half_cosine;
  indim_emit_pair_sincos(k, one_of(k, y), &sine, &cosine);
  indim_emit_pair_sincos(k, one_of(k, halved(k, y)), &sine, &half_cosine);
  pair less_one = indim_emit_pair_expm1(k, at_least(k, x, -600));
  pair power = indim_emit_pair_add(k, indim_emit_pair_constant(k, 1, 0), less_one);
  pair far_out = indim_emit_pair_add(k, power, cosine);
  pair near = indim_emit_pair_add(k, less_one, twice_square(k, half_cosine));
  val is_far = below(k, x, -1);
  return (pair){choose(k, is_far, far_out.high, near.high), choose(k, is_far, far_out.low, near.low)};
}

static val exp_plus_cos(const complex_kit *s, complex_val z, val power, val cosine, val half_cosine) {
  const kit *k = &s->k;
  val near = add(k, math(k, INDIM_OP_EXPONENTIAL_MINUS_ONE, z.re), mul(k, real(k, 2), squared(k, half_cosine)));
  val sum = choose(k, below(k, absolute(k, z.re), 1), near, add(k, power, cosine));
  val inexact = both(k, below(k, z.re, 1), is_finite(k, z.im));
  if (s->is_wide) {
    inexact = both(k, inexact, compare(k, LLVMRealOLT, absolute(k, sum), mul(k, power, real(k, 0x1p-6))));
  }
  rare block = indim_emit_rare_begin(k, inexact);
  val exact = choose(k, inexact, indim_emit_pair_value(k, exact_exp_plus_cos(k, z.re, z.im)), sum);
  return indim_emit_rare_end(k, block, (complex_val){sum, sum}, (complex_val){exact, exact}).re;
}

// sinh and cosh of |x|.
static void pair_sinh_cosh(const kit *k, val x, pair *out_sinh, pair *out_cosh) {
  pair less_one = indim_emit_pair_expm1(k, absolute(k, x));
  pair power = indim_emit_pair_add(k, indim_emit_pair_constant(k, 1, 0), less_one);
  pair lost = indim_emit_math_quotient(k, less_one, power);  // 1 - exp(-|x|)
  pair sum = indim_emit_pair_add(k, less_one, lost);
  pair difference = indim_emit_pair_add(k, less_one, indim_emit_pair_negate(k, lost));
  *out_sinh = (pair){halved(k, sum.high), halved(k, sum.low)};
  difference = (pair){halved(k, difference.high), halved(k, difference.low)};
  *out_cosh = indim_emit_pair_add(k, indim_emit_pair_constant(k, 1, 0), difference);
}

static val pair_ratio(const kit *k, pair over, pair under) {
  val ratio = indim_emit_pair_value(k, indim_emit_math_quotient(k, over, under));
  return choose(k, is_zero(k, over.high), over.high, ratio);
}

// complex_logistic for c128 with |x| <= 60.
static complex_val exact_logistic(const kit *k, complex_val z) {
  pair sine;
  pair cosine;
  pair half_sine;
  pair half_cosine;
  pair half_sinh;
  pair half_cosh;
  indim_emit_pair_sincos(k, one_of(k, z.im), &sine, &cosine);
  indim_emit_pair_sincos(k, one_of(k, halved(k, z.im)), &half_sine, &half_cosine);
  pair_sinh_cosh(k, halved(k, at_most(k, at_least(k, z.re, -60), 60)), &half_sinh, &half_cosh);
  pair under = indim_emit_pair_add(k, twice_square(k, half_sinh), twice_square(k, half_cosine));
  under = (pair){add(k, under.high, under.high), add(k, under.low, under.low)};
  pair over = exact_exp_plus_cos(k, at_most(k, z.re, 60), z.im);
  return (complex_val){pair_ratio(k, over, under), pair_ratio(k, sine, under)};
}

// (exp(x) + cos y + i sin y) / (2 cosh x + 2 cos y), with the denominator as a sum of squares.
static complex_val complex_logistic(const complex_kit *s, complex_val z) {
  const kit *k = &s->k;
  val sine;
  val cosine;
  indim_emit_sincos(k->e, z.im, &sine, &cosine);
  val half_cosine = math(k, INDIM_OP_COSINE, halved(k, z.im));
  val half_sinh = math(k, INDIM_OP_SINH, halved(k, z.re));
  val power = math(k, INDIM_OP_EXPONENTIAL, z.re);
  val inverse = math(k, INDIM_OP_EXPONENTIAL, minus(k, absolute(k, z.re)));
  val under = mul(k, real(k, 4), add(k, squared(k, half_sinh), squared(k, half_cosine)));
  val top = exp_plus_cos(s, z, power, cosine, half_cosine);
  complex_val result = {quotient(k, top, under), quotient(k, sine, under)};
  if (!s->is_wide) {
    result = exact_logistic(k, z);
  }
  val is_right = above(k, z.re, 60);
  val is_left = below(k, z.re, -60);
  val far_re = choose(k, is_right, real(k, 1), mul(k, top, power));
  complex_val far_out = {far_re, mul(k, sine, inverse)};
  result = choose_complex(k, either(k, is_right, is_left), far_out, result);
  result = choose_complex(k, is_zero(k, z.im), (complex_val){math(k, INDIM_OP_LOGISTIC, z.re), z.im}, result);
  result = choose_complex(k, both_finite(k, z), result, choose_complex(k, is_zero(k, z.im), result, nans(k)));
  val side = choose(k, is_finite(k, z.im), sine, z.im);
  complex_val end = {choose(k, above(k, z.re, 0), real(k, 1), real(k, 0)), with_sign(k, real(k, 0), side)};
  return choose_complex(k, is_infinite(k, z.re), end, result);
}

// Logarithms ----------------------------------------------------------------------------------------------------------

// log(1 + t) / 2 of the sum of the terms.
static val half_log1p(const kit *k, val *terms, int count) {
  pair sum = indim_emit_pair_sum(k, terms, count);
  return halved(k, math(k, INDIM_OP_LOG_PLUS_ONE, add(k, sum.high, sum.low)));
}

// log |x + i y| for finite parts away from the unit circle; NaN for 0. |error| is the rounding error of x.
static val log_of_modulus(const complex_kit *s, val x, val y, val error) {
  const kit *k = &s->k;
  if (s->is_wide) {
    return halved(k, math(k, INDIM_OP_LOG, add(k, squared(k, x), squared(k, y))));
  }
  val size = larger(k, absolute(k, x), absolute(k, y));
  val is_large = above(k, size, 0x1p1000);
  val is_small = below(k, size, 0x1p-900);
  val factor = choose(k, is_large, real(k, 0x1p-100), choose(k, is_small, real(k, 0x1p200), real(k, 1)));
  val offset = choose(k, is_large, real(k, 0x1.1542457337d43p+6),
                      choose(k, is_small, real(k, -0x1.1542457337d43p+7), real(k, 0)));
  scaled h = indim_emit_real_hypot(k, mul(k, x, factor), mul(k, y, factor));
  val up = power_of_two(k, h.exponent);
  val modulus = mul(k, h.modulus.high, up);
  val rest = quotient(k, h.modulus.low, h.modulus.high);
  if (error != NULL) {
    rest = add(k, rest, mul(k, quotient(k, error, modulus), quotient(k, x, modulus)));
  }
  return add(k, math(k, INDIM_OP_LOG, modulus), add(k, offset, rest));
}

// The real part where a part is not finite, or both are 0.
static val log_ends(const kit *k, complex_val z, val usual) {
  val is_origin = both(k, is_zero(k, z.re), is_zero(k, z.im));
  val result = choose(k, is_origin, real(k, -HUGE_VAL), usual);
  result = choose(k, compare(k, LLVMRealUNO, z.re, z.im), nan_of(k), result);
  return choose(k, any_infinite(k, z), infinity_of(k), result);
}

// log |z|, near the unit circle as log(1 + (x^2 + y^2 - 1)) / 2 of the exact sum.
static val real_log(const complex_kit *s, complex_val z) {
  const kit *k = &s->k;
  pair xx = {mul(k, z.re, z.re), NULL};
  pair yy = {mul(k, z.im, z.im), NULL};
  val terms[5] = {xx.high, yy.high, real(k, -1), NULL, NULL};
  if (!s->is_wide) {
    xx = indim_emit_math_two_product(k, z.re, z.re);
    yy = indim_emit_math_two_product(k, z.im, z.im);
    terms[3] = xx.low;
    terms[4] = yy.low;
  }
  val near = half_log1p(k, terms, s->is_wide ? 3 : 5);
  val norm = add(k, xx.high, yy.high);
  val is_near = both(k, above(k, norm, 0.5), below(k, norm, 2));
  return log_ends(k, z, choose(k, is_near, near, log_of_modulus(s, z.re, z.im, NULL)));
}

static complex_val complex_log(const complex_kit *s, complex_val z) {
  return (complex_val){real_log(s, z), atan_of(&s->k, z.im, z.re)};
}

// log |1 + z|; near |1 + z| = 1 it is log(1 + (2 x + x^2 + y^2)) / 2 of the exact sum.
static complex_val complex_log1p(const complex_kit *s, complex_val z) {
  const kit *k = &s->k;
  pair sum = two_sum(k, real(k, 1), z.re);
  pair xx = {mul(k, z.re, z.re), NULL};
  pair yy = {mul(k, z.im, z.im), NULL};
  val terms[5] = {add(k, z.re, z.re), xx.high, yy.high, NULL, NULL};
  if (!s->is_wide) {
    xx = indim_emit_math_two_product(k, z.re, z.re);
    yy = indim_emit_math_two_product(k, z.im, z.im);
    terms[3] = xx.low;
    terms[4] = yy.low;
  }
  val near = half_log1p(k, terms, s->is_wide ? 3 : 5);
  val norm = add(k, squared(k, sum.high), yy.high);
  val is_near = both(k, above(k, norm, 0.5), below(k, norm, 2));
  complex_val shifted = {sum.high, z.im};
  val re = choose(k, is_near, near, log_of_modulus(s, sum.high, z.im, sum.low));
  re = log_ends(k, shifted, re);
  val on_axis = both(k, is_zero(k, z.im), compare(k, LLVMRealOGE, sum.high, real(k, 0)));
  re = choose(k, on_axis, math(k, INDIM_OP_LOG_PLUS_ONE, z.re), re);
  return (complex_val){re, atan_of(k, z.im, sum.high)};
}

// Circular and hyperbolic functions -----------------------------------------------------------------------------------

// sinh(x) f + i cosh(x) g. Beyond 600 both are exp(|x|) / 2.
static complex_val sinh_cosh_times(const complex_kit *s, val x, val f, val g) {
  const kit *k = &s->k;
  complex_val usual = {mul(k, math(k, INDIM_OP_SINH, x), f), mul(k, math(k, INDIM_OP_COSH, x), g)};
  if (s->is_wide) {
    return usual;
  }
  val is_far = both(k, above(k, absolute(k, x), 600), is_finite(k, x));
  rare block = indim_emit_rare_begin(k, is_far);
  complex_val far_out = indim_emit_complex_times_exp(s, (complex_val){flip(k, f, x), g}, absolute(k, x), 0.5);
  return indim_emit_rare_end(k, block, usual, choose_complex(k, is_far, far_out, usual));
}

static complex_val complex_sinh(const complex_kit *s, complex_val z) {
  const kit *k = &s->k;
  val sine;
  val cosine;
  indim_emit_sincos(k->e, z.im, &sine, &cosine);
  complex_val usual = sinh_cosh_times(s, z.re, cosine, sine);
  val on_axis = is_zero(k, z.im);
  val no_angle = negated(k, is_finite(k, z.im));
  usual.im = choose(k, on_axis, z.im, usual.im);
  val keeps = either(k, both(k, on_axis, negated(k, is_finite(k, z.re))),
                     both(k, no_angle, either(k, is_zero(k, z.re), is_infinite(k, z.re))));
  usual.re = choose(k, keeps, z.re, usual.re);
  usual.im = choose(k, no_angle, nan_of(k), usual.im);
  return usual;
}

static complex_val complex_cosh(const complex_kit *s, complex_val z) {
  const kit *k = &s->k;
  val sine;
  val cosine;
  indim_emit_sincos(k->e, z.im, &sine, &cosine);
  complex_val parts = sinh_cosh_times(s, z.re, sine, cosine);
  val on_axis = is_zero(k, z.im);
  val no_angle = negated(k, is_finite(k, z.im));
  val re = choose(k, both(k, on_axis, negated(k, is_finite(k, z.re))), absolute(k, z.re), parts.im);
  re = choose(k, both(k, no_angle, is_infinite(k, z.re)), infinity_of(k), re);
  val im = choose(k, on_axis, product_sign_zero(k, z.im, z.re), parts.re);
  im = choose(k, both(k, no_angle, is_zero(k, z.re)), with_sign(k, real(k, 0), z.re), im);
  return (complex_val){re, im};
}

// The same for c128 with |x| <= 40.
static complex_val exact_tanh(const kit *k, complex_val z) {
  pair sine;
  pair cosine;
  pair sinh_x;
  pair cosh_x;
  indim_emit_pair_sincos(k, one_of(k, z.im), &sine, &cosine);
  pair_sinh_cosh(k, at_most(k, absolute(k, z.re), 40), &sinh_x, &cosh_x);
  pair square = indim_emit_pair_multiply(k, sinh_x, sinh_x);
  pair under = indim_emit_pair_add(k, square, indim_emit_pair_multiply(k, cosine, cosine));
  val re = pair_ratio(k, indim_emit_pair_multiply(k, sinh_x, cosh_x), under);
  re = choose(k, below(k, absolute(k, z.re), 0x1p-500), quotient(k, absolute(k, z.re), under.high), re);
  return (complex_val){with_sign(k, re, z.re), pair_ratio(k, indim_emit_pair_multiply(k, sine, cosine), under)};
}

static complex_val complex_tanh(const complex_kit *s, complex_val z) {
  const kit *k = &s->k;
  val sine;
  val cosine;
  indim_emit_sincos(k->e, z.im, &sine, &cosine);
  val sinh_x = math(k, INDIM_OP_SINH, z.re);
  val cosh_x = math(k, INDIM_OP_COSH, z.re);
  val under = add(k, squared(k, sinh_x), squared(k, cosine));
  val product = mul(k, sine, cosine);
  complex_val result = {quotient(k, mul(k, sinh_x, cosh_x), under), quotient(k, product, under)};
  val size = absolute(k, z.re);
  if (!s->is_wide) {
    result = exact_tanh(k, z);
  }
  val small = math(k, INDIM_OP_EXPONENTIAL, mul(k, size, real(k, -2)));
  val one = with_sign(k, real(k, 1), z.re);
  complex_val far_out = {one, mul(k, mul(k, real(k, 4), product), small)};
  result = choose_complex(k, above(k, size, 40), far_out, result);
  result.re = choose(k, both_finite(k, z), result.re, nan_of(k));
  result.re = choose(k, is_zero(k, z.re), z.re, result.re);
  result.im = choose(k, is_zero(k, z.im), z.im, result.im);
  val angle = choose(k, is_finite(k, z.im), product, z.im);
  return choose_complex(k, is_infinite(k, z.re), (complex_val){one, with_sign(k, real(k, 0), angle)}, result);
}

// Inverse functions ---------------------------------------------------------------------------------------------------

// Beyond this modulus asin, acos and asinh are logarithms of 2 z to full precision.
static val is_huge(const complex_kit *s, complex_val z) {
  const kit *k = &s->k;
  return above(k, larger(k, absolute(k, z.re), absolute(k, z.im)), s->is_wide ? 0x1p100 : 0x1p200);
}

static val log_twice(const complex_kit *s, complex_val z) {
  return add(&s->k, log_of_modulus(s, z.re, z.im, NULL), real(&s->k, 0x1.62E42FEFA39EFp-1));
}

// sqrt(1 - z) and sqrt(1 + z), whose imaginary parts have opposite signs.
static void both_roots(const complex_kit *s, complex_val z, complex_val *out_minus, complex_val *out_plus) {
  const kit *k = &s->k;
  *out_minus = indim_emit_complex_sqrt(s, (complex_val){sub(k, real(k, 1), z.re), minus(k, z.im)});
  *out_plus = indim_emit_complex_sqrt(s, (complex_val){add(k, real(k, 1), z.re), z.im});
}

// a b + c d, rounded once for c128.
static val dot_of(const complex_kit *s, val a, val b, val c, val d) {
  const kit *k = &s->k;
  return s->is_wide ? add(k, mul(k, a, b), mul(k, c, d)) : indim_emit_pair_value(k, indim_emit_pair_dot(k, a, b, c, d));
}

static complex_val complex_asin(const complex_kit *s, complex_val z) {
  const kit *k = &s->k;
  complex_val low;
  complex_val high;
  both_roots(s, z, &low, &high);
  val across = dot_of(s, low.re, high.re, minus(k, low.im), high.im);
  val along = dot_of(s, low.re, high.im, minus(k, low.im), high.re);
  complex_val usual = {atan_of(k, z.re, across), math(k, INDIM_OP_ASINH, along)};
  complex_val huge = {atan_of(k, z.re, absolute(k, z.im)), with_sign(k, log_twice(s, z), z.im)};
  complex_val result = choose_complex(k, is_huge(s, z), huge, usual);

  val re_infinite = is_infinite(k, z.re);
  val im_infinite = is_infinite(k, z.im);
  val y = choose(k, im_infinite, infinity_of(k), real(k, 1));
  val re = choose(k, compare(k, LLVMRealUNO, z.re, z.im), nan_of(k), atan_of(k, z.re, y));
  complex_val special = {choose(k, is_zero(k, z.re), z.re, nan_of(k)), nan_of(k)};
  special = choose_complex(k, re_infinite, (complex_val){re, with_sign(k, infinity_of(k), z.im)}, special);
  special = choose_complex(k, im_infinite, (complex_val){re, z.im}, special);
  return choose_complex(k, both_finite(k, z), result, special);
}

static complex_val complex_acos(const complex_kit *s, complex_val z) {
  const kit *k = &s->k;
  complex_val low;
  complex_val high;
  both_roots(s, z, &low, &high);
  val along = dot_of(s, low.im, high.re, minus(k, low.re), high.im);
  val angle = atan_of(k, low.re, high.re);
  complex_val usual = {add(k, angle, angle), math(k, INDIM_OP_ASINH, along)};
  val reflected = atan_of(k, absolute(k, z.im), z.re);
  complex_val huge = {reflected, with_sign(k, log_twice(s, z), minus(k, z.im))};
  complex_val result = choose_complex(k, is_huge(s, z), huge, usual);

  val re = choose(k, compare(k, LLVMRealUNO, z.re, z.im), nan_of(k), reflected);
  complex_val infinite = {re, with_sign(k, infinity_of(k), minus(k, z.im))};
  complex_val special = {choose(k, is_zero(k, z.re), real(k, half_pi), nan_of(k)), nan_of(k)};
  special = choose_complex(k, any_infinite(k, z), infinite, special);
  return choose_complex(k, both_finite(k, z), result, special);
}

static complex_val complex_acosh(const complex_kit *s, complex_val z) {
  complex_val angle = complex_acos(s, z);
  return (complex_val){absolute(&s->k, angle.im), with_sign(&s->k, angle.re, z.im)};
}

static complex_val complex_atanh(const complex_kit *s, complex_val z) {
  const kit *k = &s->k;
  val x = absolute(k, z.re);
  val one = real(k, 1);
  val rest = sub(k, one, x);
  val ratio = quotient(k, mul(k, real(k, 4), x), add(k, squared(k, rest), squared(k, z.im)));
  val re = mul(k, math(k, INDIM_OP_LOG_PLUS_ONE, ratio), real(k, 0.25));
  val across = sub(k, mul(k, rest, add(k, one, x)), squared(k, z.im));
  val im = halved(k, atan_of(k, add(k, z.im, z.im), across));
  // x / |z|^2, in two steps to stay in range.
  val half_x = halved(k, x);
  val half_y = halved(k, z.im);
  scaled h = indim_emit_real_hypot(k, half_x, half_y);
  val modulus = mul(k, h.modulus.high, power_of_two(k, h.exponent));
  val far_re = mul(k, quotient(k, quotient(k, x, modulus), modulus), real(k, 0.25));
  val quarter = with_sign(k, real(k, half_pi), z.im);
  val huge = is_huge(s, z);
  complex_val result = {with_sign(k, choose(k, huge, far_re, re), z.re), choose(k, huge, quarter, im)};

  val zero = with_sign(k, real(k, 0), z.re);
  val has_end = either(k, is_infinite(k, z.im), both(k, is_infinite(k, z.re), negated(k, is_nan(k, z.im))));
  val has_zero = either(k, is_infinite(k, z.re), is_zero(k, z.re));
  complex_val special = {choose(k, has_zero, zero, nan_of(k)), nan_of(k)};
  special = choose_complex(k, has_end, (complex_val){zero, quarter}, special);
  return choose_complex(k, both_finite(k, z), result, special);
}

bool indim_emit_complex_function(const complex_kit *s, indim_op op, complex_val z, complex_val *out) {
  const kit *k = &s->k;
  switch ((int)op) {
  case INDIM_OP_EXPONENTIAL:
    *out = complex_exp(s, z);
    return true;
  case INDIM_OP_EXPONENTIAL_MINUS_ONE:
    *out = complex_expm1(s, z);
    return true;
  case INDIM_OP_LOGISTIC:
    *out = complex_logistic(s, z);
    return true;
  case INDIM_OP_LOG:
    *out = complex_log(s, z);
    return true;
  case INDIM_OP_LOG_PLUS_ONE:
    *out = complex_log1p(s, z);
    return true;
  case INDIM_OP_SINH:
    *out = complex_sinh(s, z);
    return true;
  case INDIM_OP_COSH:
    *out = complex_cosh(s, z);
    return true;
  case INDIM_OP_TANH:
    *out = complex_tanh(s, z);
    return true;
  case INDIM_OP_SINE:
    *out = times_minus_i(k, complex_sinh(s, times_i(k, z)));
    return true;
  case INDIM_OP_COSINE:
    *out = complex_cosh(s, times_i(k, z));
    return true;
  case INDIM_OP_TAN:
    *out = times_minus_i(k, complex_tanh(s, times_i(k, z)));
    return true;
  case INDIM_OP_ASIN:
    *out = complex_asin(s, z);
    return true;
  case INDIM_OP_ACOS:
    *out = complex_acos(s, z);
    return true;
  case INDIM_OP_ASINH:
    *out = times_minus_i(k, complex_asin(s, times_i(k, z)));
    return true;
  case INDIM_OP_ACOSH:
    *out = complex_acosh(s, z);
    return true;
  case INDIM_OP_ATANH:
    *out = complex_atanh(s, z);
    return true;
  default:
    return false;
  }
}
