// Powers and the two-argument arc tangent of complex numbers, by the formulas of eval/complex_math.c. The logarithm and
// the angle of a base are pairs, because the exponent multiplies their errors. Angles below the least double count as
// 0.
#include "emit/scalar/scalar_complex.h"

static pair choose_pair(const kit *k, val which, pair yes, pair no) {
  return (pair){choose(k, which, yes.high, no.high), choose(k, which, yes.low, no.low)};
}

static pair half_pi(const kit *k) { return indim_emit_pair_constant(k, 0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54); }

// x minus the multiple of |modulus|, a power of two, that keeps its sign.
static val modulo(const kit *k, val x, double modulus) {
  val ratio = mul(k, x, real(k, 1 / modulus));
  val whole_ones = indim_emit_unary_intrinsic(k->e, "llvm.trunc", ratio);
  return sub(k, x, mul(k, whole_ones, real(k, modulus)));
}

// An argument as quarters * pi / 2 + rest: quarters is a multiple of 1/2 and exact on the axes and diagonals.
typedef struct split_angle {
  val quarters;
  pair rest;
} split_angle;

static split_angle argument_of(const kit *k, complex_val z) {
  val x = absolute(k, z.re);
  val y = absolute(k, z.im);
  pair rest = indim_emit_pair_atan_ratio(k, smaller(k, x, y), larger(k, x, y));
  val is_diagonal = compare(k, LLVMRealOEQ, x, y);
  val is_steep = compare(k, LLVMRealOLT, x, y);
  rest = choose_pair(k, is_diagonal, indim_emit_pair_constant(k, 0, 0), rest);
  val quarters = choose(k, is_diagonal, real(k, 0.5), choose(k, is_steep, real(k, 1), real(k, 0)));
  // The angle from the nearest axis; each reflection flips its sign.
  val is_left = below(k, z.re, 0);
  val is_reflected = LLVMBuildXor(k->b, is_steep, is_left, "");
  val is_below = compare_bits(k, LLVMIntSLT, as_bits(k, z.im), whole(k, 0));
  is_reflected = LLVMBuildXor(k->b, is_reflected, is_below, "");
  quarters = choose(k, is_left, sub(k, real(k, 2), quarters), quarters);
  quarters = choose(k, is_below, minus(k, quarters), quarters);
  return (split_angle){quarters, choose_pair(k, is_reflected, indim_emit_pair_negate(k, rest), rest)};
}

// Modulus and angle of exp((c + i d) (log |base| + i arg)) for finite operands, base neither 0 nor 1.
static complex_val power_by_logarithm(const complex_kit *s, complex_val base, complex_val exponent) {
  const kit *k = &s->k;
  pair log = indim_emit_pair_log_hypot(k, base.re, base.im);
  split_angle arg = argument_of(k, base);
  pair whole_arg = indim_emit_pair_add(k, indim_emit_pair_scale(k, half_pi(k), arg.quarters), arg.rest);
  pair log_modulus = indim_emit_pair_add(k, indim_emit_pair_scale(k, log, exponent.re),
                                         indim_emit_pair_scale(k, whole_arg, minus(k, exponent.im)));

  // The product with the quarters is reduced exactly; only the remainder is multiplied by pi / 2.
  pair quarters = indim_emit_math_two_product(k, modulo(k, exponent.re, 8), arg.quarters);
  quarters.high = modulo(k, quarters.high, 4);
  val shifted = add(k, quarters.high, real(k, 0x1.8p52));
  val nearest = sub(k, shifted, real(k, 0x1.8p52));
  pair fraction = two_sum(k, sub(k, quarters.high, nearest), quarters.low);
  pair rest = indim_emit_pair_add(k, indim_emit_pair_scale(k, arg.rest, exponent.re),
                                  indim_emit_pair_scale(k, log, exponent.im));
  pair angle = indim_emit_pair_add(k, indim_emit_pair_multiply(k, fraction, half_pi(k)), rest);
  pair sine_pair;
  pair cosine_pair;
  indim_emit_pair_sincos(k, angle, &sine_pair, &cosine_pair);
  val exact_sine = indim_emit_pair_value(k, sine_pair);
  val exact_cosine = indim_emit_pair_value(k, cosine_pair);
  // Rotated by |nearest| quarters.
  val quadrant = as_bits(k, shifted);
  val swaps = compare_bits(k, LLVMIntNE, iand(k, quadrant, whole(k, 1)), whole(k, 0));
  val sine = flip(k, choose(k, swaps, exact_cosine, exact_sine), as_real(k, shift_left(k, quadrant, 62)));
  val next = as_real(k, shift_left(k, iadd(k, quadrant, whole(k, 1)), 62));
  val cosine = flip(k, choose(k, swaps, exact_sine, exact_cosine), next);
  // Exact zeros: the sine's has the sign of the angle, as if rounded; the cosine's is positive.
  val no_angle = both(k, is_zero(k, whole_arg.high), negated(k, is_zero(k, base.im)));
  val some_angle = choose(k, no_angle, with_sign(k, real(k, 0x1p-1000), base.im), whole_arg.high);
  val full_angle = indim_emit_real_dot_sign(k, exponent.re, some_angle, exponent.im, log.high);
  sine = choose(k, is_zero(k, sine), with_sign(k, real(k, 0), full_angle), sine);
  cosine = choose(k, is_zero(k, cosine), real(k, 0), cosine);
  val correction = add(k, real(k, 1), choose(k, is_finite(k, log_modulus.low), log_modulus.low, real(k, 0)));
  complex_kit own = {s->k, false};
  return indim_emit_complex_times_exp(&own, (complex_val){mul(k, cosine, correction), mul(k, sine, correction)},
                                      log_modulus.high, 1);
}

// Literally exp(exponent * log(base)).
static complex_val power_by_formula(const kit *k, complex_val base, complex_val exponent) {
  complex_kit own = {*k, false};
  complex_val log = base;
  complex_val result = base;
  (void)indim_emit_complex_function(&own, INDIM_OP_LOG, base, &log);
  (void)indim_emit_complex_function(&own, INDIM_OP_EXPONENTIAL, indim_emit_complex_multiply(k, exponent, log), &result);
  return result;
}

complex_val indim_emit_complex_power(const complex_kit *s, complex_val base, complex_val exponent) {
  const kit *k = &s->k;
  val zero = real(k, 0);
  val is_origin = both(k, is_zero(k, base.re), is_zero(k, base.im));
  val is_regular = both(k, both_finite(k, base), both_finite(k, exponent));
  val literal = either(k, is_origin, negated(k, is_regular));
  complex_val result = power_by_logarithm(s, base, exponent);
  rare block = indim_emit_rare_begin(k, literal);
  complex_val computed = choose_complex(k, literal, power_by_formula(k, base, exponent), result);
  result = indim_emit_rare_end(k, block, result, computed);

  val is_real = is_zero(k, exponent.im);
  val grows = both(k, is_real, above(k, exponent.re, 0));
  result = choose_complex(k, both(k, is_origin, grows), (complex_val){zero, zero}, result);
  val is_end = both(k, both(k, equals(k, base.re, HUGE_VAL), is_zero(k, base.im)), is_real);
  complex_val end = choose_complex(k, above(k, exponent.re, 0), base,
                                   (complex_val){choose(k, is_nan(k, exponent.re), nan_of(k), zero), zero});
  result = choose_complex(k, is_end, end, result);
  val is_one =
      either(k, both(k, is_zero(k, exponent.re), is_real), both(k, equals(k, base.re, 1), is_zero(k, base.im)));
  return choose_complex(k, is_one, (complex_val){real(k, 1), zero}, result);
}

// Arc tangent ---------------------------------------------------------------------------------------------------------

static complex_val atan2_by_formula(const kit *k, complex_val y, complex_val x) {
  complex_kit own = {*k, false};
  complex_val yy = indim_emit_complex_multiply(k, y, y);
  complex_val xx = indim_emit_complex_multiply(k, x, x);
  complex_val root_of_sum = indim_emit_complex_sqrt(&own, (complex_val){add(k, xx.re, yy.re), add(k, xx.im, yy.im)});
  complex_val sum = {sub(k, x.re, y.im), add(k, x.im, y.re)};
  complex_val log = sum;
  (void)indim_emit_complex_function(&own, INDIM_OP_LOG, indim_emit_complex_divide(&own, sum, root_of_sum), &log);
  return times_minus_i(k, log);
}

// a^2 + b^2 - c^2 - d^2.
static val difference_of_norms(const kit *k, val a, val b, val c, val d) {
  pair negative = indim_emit_pair_negate(k, indim_emit_pair_dot(k, c, c, d, d));
  return indim_emit_pair_value(k, indim_emit_pair_add(k, indim_emit_pair_dot(k, a, a, b, b), negative));
}

// a b + c d, given that it has the sign of |sign|.
static val signed_dot(const kit *k, val a, val b, val c, val d, val sign) {
  return with_sign(k, indim_emit_real_dot(k, a, b, c, d), sign);
}

// With p = x + i y and m = x - i y (both complex) the quotient is p / sqrt(p m), its square p / m: the result is (arg p
// - arg m) / 2 - i log |p / m| / 2, up to a multiple of pi in the real part that the branch of the root decides.
// Neither part is computed from those differences: arg(p / m) = atan2(2 Re(x conj y), |x|^2 - |y|^2), and |p|^2 - |m|^2
// = 4 Im(x conj y).
complex_val indim_emit_complex_atan2(const complex_kit *s, complex_val y, complex_val x) {
  const kit *k = &s->k;
  val of_x = larger(k, absolute(k, x.re), absolute(k, x.im));
  val of_y = larger(k, absolute(k, y.re), absolute(k, y.im));
  val down = power_of_two(k, isub(k, whole(k, 0), indim_emit_real_exponent(k, larger(k, of_x, of_y))));
  val a = mul(k, x.re, down);
  val b = mul(k, x.im, down);
  val c = mul(k, y.re, down);
  val d = mul(k, y.im, down);
  // Signs are those of the numbers before scaling, which may flush small ones.
  val cross_sign = indim_emit_real_dot_sign(k, x.im, y.re, minus(k, x.re), y.im);
  pair cross = indim_emit_pair_dot(k, b, c, minus(k, a), d);
  pair twice_cross = {add(k, cross.high, cross.high), add(k, cross.low, cross.low)};
  pair norms = indim_emit_pair_add(k, indim_emit_pair_dot(k, a, a, b, b), indim_emit_pair_dot(k, c, c, d, d));
  pair p_norm = indim_emit_pair_add(k, norms, twice_cross);
  pair m_norm = indim_emit_pair_add(k, norms, indim_emit_pair_negate(k, twice_cross));
  pair four_cross = {add(k, twice_cross.high, twice_cross.high), add(k, twice_cross.low, twice_cross.low)};
  val ratio = indim_emit_pair_value(k, indim_emit_math_quotient(k, four_cross, m_norm));
  val near = math(k, INDIM_OP_LOG_PLUS_ONE, ratio);
  val far_out = math(k, INDIM_OP_LOG, indim_emit_pair_value(k, indim_emit_math_quotient(k, p_norm, m_norm)));
  val four_im = choose(k, below(k, absolute(k, ratio), 0.5), near, far_out);
  val im = with_sign(k, mul(k, four_im, real(k, 0.25)), minus(k, cross_sign));

  val dot_sign = indim_emit_real_dot_sign(k, x.re, y.re, x.im, y.im);
  val dot = signed_dot(k, a, c, b, d, dot_sign);
  val half = mul(k, atan_of(k, add(k, dot, dot), difference_of_norms(k, a, b, c, d)), real(k, 0.5));
  // The branch that the formula's own steps take, for the multiple of pi.
  val norm_re = difference_of_norms(k, a, c, b, d);
  val norm_im = signed_dot(k, a, b, c, d, indim_emit_real_dot_sign(k, x.re, x.im, y.re, y.im));
  val p_re = with_sign(k, sub(k, a, d), sub(k, x.re, y.im));
  val p_im = with_sign(k, add(k, b, c), add(k, x.im, y.re));
  val target = sub(k, atan_of(k, p_im, p_re), mul(k, atan_of(k, add(k, norm_im, norm_im), norm_re), real(k, 0.5)));
  const double pi = 0x1.921fb54442d18p+1;
  target = choose(k, above(k, target, pi), sub(k, target, real(k, 2 * pi)), target);
  target = choose(k, below(k, target, -pi), add(k, target, real(k, 2 * pi)), target);
  val is_other = above(k, absolute(k, sub(k, target, half)), pi / 2);
  val is_positive = either(k, above(k, half, 0), above(k, dot_sign, 0));
  val moved = add(k, half, choose(k, is_positive, real(k, -pi), real(k, pi)));
  val re = choose(k, is_other, moved, half);
  val is_real = both(k, is_zero(k, x.im), is_zero(k, y.im));
  complex_val usual = {choose(k, is_real, atan_of(k, c, a), re), im};

  val is_regular = both(k, both_finite(k, x), both_finite(k, y));
  val literal = either(k, negated(k, is_regular), either(k, is_zero(k, p_norm.high), is_zero(k, m_norm.high)));
  rare block = indim_emit_rare_begin(k, literal);
  complex_val computed = choose_complex(k, literal, atan2_by_formula(k, y, x), usual);
  return indim_emit_rare_end(k, block, usual, computed);
}
