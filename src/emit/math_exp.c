// The exponential and what is made of it: expm1, logistic, tanh, sinh, cosh.
//
// x = n ln 2 + r with |r| <= ln(2) / 2, and e^x = 2^n (1 + tail) with tail = r + r^2 q(r). n comes from the bits of
// x / ln 2 + 3 * 2^(mantissa - 1), which are n in two's complement; ln 2 is cut in two so that n times the first is exact.
#include "emit/math_kit.h"

// q of e^r = 1 + r + r^2 q(r) for |r| < 0.35: 2^-28 and 2^-59 of the result (tests/tools/minimax.py).
static const double exp_float[] = {0x1.0p-1, 0x1.555482p-3, 0x1.555526p-5, 0x1.1244ccp-7, 0x1.6cf65cp-10};
static const double exp_double[] = {
    0x1.000000000000dp-1,  0x1.5555555555562p-3,  0x1.555555554f93ap-5,  0x1.111111110d120p-7,  0x1.6c16c1873501ep-10,
    0x1.a01a01bc990dap-13, 0x1.a0199247d38c9p-16, 0x1.71dddbfe4ec24p-19, 0x1.28b4540d01922p-22, 0x1.af8b8346575ddp-26};

static val q_of(const kit *k, val r) {
  return k->is_double ? POLYNOMIAL(k, r, exp_double) : POLYNOMIAL(k, r, exp_float);
}

// n + |offset| in the low bits of |bits|, and r as high + low.
typedef struct reduced {
  val bits;
  val high;
  val low;
} reduced;

// Without |with_low| low is NULL, and high is rounded.
static reduced reduce(const kit *k, val x, int64_t offset, bool with_low) {
  double magic = pick(k, 0x1.8p23, 0x1.8p52) + (double)offset;
  val shifted = fused(k, x, real(k, 0x1.71547652b82fep0), real(k, magic));
  val n = sub(k, shifted, real(k, magic));
  val first = fused(k, n, real(k, pick(k, -0x1.62e4p-1, -0x1.62e42fefap-1)), x);
  double rest = pick(k, -0x1.7f7d1cf79abcap-20, -0x1.cf79abc9e3b39p-40);
  reduced out = {as_bits(k, shifted), NULL, NULL};
  if (!with_low) {
    out.high = fused(k, n, real(k, rest), first);
    return out;
  }
  val second = mul(k, n, real(k, rest));
  out.high = add(k, first, second);
  out.low = sub(k, second, sub(k, out.high, first));
  return out;
}

// The power of two whose biased exponent is in the low bits.
static val power_of_two(const kit *k, val bits) { return as_real(k, shift_left(k, bits, mantissa_bits(k))); }

static val tail_of(const kit *k, val r) { return fused(k, mul(k, r, r), q_of(k, r), r); }

val indim_emit_fn_exp(const kit *k, val x) {
  x = at_most(k, at_least(k, x, pick(k, -104, -746)), pick(k, 89, 710));
  // Halves of the exponent, each with its bias: 2^n alone may be out of range though the result is not.
  reduced r = reduce(k, x, 2 * bias(k), false);
  val tail = tail_of(k, r.high);
  val half = shift_right(k, r.bits, 1);
  val scale = power_of_two(k, half);
  return mul(k, fused(k, tail, scale, scale), power_of_two(k, isub(k, r.bits, half)));
}

// e^x / 4 - |less| as a pair, for x in [-40, ln(max) + 1.2]: a quarter, so that nothing overflows before it must.
static pair quarter_exp(const kit *k, val x, bool minus_one) {
  reduced r = reduce(k, x, bias(k) - 2, true);
  val scale = power_of_two(k, r.bits);
  val above_r = mul(k, mul(k, r.high, r.high), q_of(k, r.high));
  pair tail = quick_two_sum(k, r.high, above_r);
  val low = add(k, tail.low, r.low);
  pair sum = two_sum(k, minus_one ? sub(k, scale, real(k, 0.25)) : scale, mul(k, scale, tail.high));
  return (pair){sum.high, fused(k, scale, low, sum.low)};
}

// Where x itself is the result: the next term is below half a unit in the last place. NaN and -0 too.
static val unless_tiny(const kit *k, val x, val result) {
  return choose(k, above(k, absolute(k, x), pick(k, 0x1p-26, 0x1p-55)), result, x);
}

val indim_emit_fn_expm1(const kit *k, val x) {
  val cut = at_most(k, at_least(k, x, pick(k, -18, -38)), pick(k, 89, 710));
  pair quarter = quarter_exp(k, cut, true);
  return unless_tiny(k, x, mul(k, add(k, quarter.high, quarter.low), real(k, 4)));
}

// 1 / (1 + p) or p / (1 + p), p = e^-|x|. The latter is corrected by what p lost: that times 1 / (1 + p)^2.
val indim_emit_fn_logistic(const kit *k, val x) {
  reduced r = reduce(k, at_least(k, minus(k, absolute(k, x)), pick(k, -104, -746)), 2 * bias(k), false);
  val tail = tail_of(k, r.high);
  val half = shift_right(k, r.bits, 1);
  val scale = power_of_two(k, half);
  val rest_of_scale = power_of_two(k, isub(k, r.bits, half));
  val power = add(k, tail, real(k, 1));
  val low = add(k, sub(k, real(k, 1), power), tail);
  power = mul(k, mul(k, power, scale), rest_of_scale);
  val is_negative = below(k, x, 0);
  val ratio = quotient(k, choose(k, is_negative, power, real(k, 1)), add(k, power, real(k, 1)));
  low = choose(k, is_negative, mul(k, low, scale), real(k, 0));
  val other = sub(k, real(k, 1), ratio);
  return fused(k, mul(k, mul(k, low, rest_of_scale), other), other, ratio);
}

// d / (d + 2) with d = e^2|x| - 1. Beyond |x| = 9.1 the nearest float is 1.
static val tanh_of_float(const kit *k, val x) {
  val magnitude = at_most(k, absolute(k, x), 9.1);
  reduced r = reduce(k, add(k, magnitude, magnitude), bias(k), false);
  val scale = power_of_two(k, r.bits);
  val d = fused(k, scale, tail_of(k, r.high), sub(k, scale, real(k, 1)));
  return with_sign(k, quotient(k, d, add(k, d, real(k, 2))), x);
}

// The same by pairs, which is h / (h + 1/2) of a quarter h.
static val tanh_of_double(const kit *k, val x) {
  val magnitude = at_most(k, absolute(k, x), 20);
  pair h = quarter_exp(k, add(k, magnitude, magnitude), true);
  h = quick_two_sum(k, h.high, h.low);
  pair sum = two_sum(k, h.high, real(k, 0.5));
  pair tangent = indim_emit_fn_quotient(k, h, (pair){sum.high, add(k, sum.low, h.low)});
  return unless_tiny(k, x, with_sign(k, add(k, tangent.high, tangent.low), x));
}

val indim_emit_fn_tanh(const kit *k, val x) { return k->is_double ? tanh_of_double(k, x) : tanh_of_float(k, x); }

// With h = (e^|x| - 1) / 4: sinh |x| = 2 (h + h / (4 h + 1)).
val indim_emit_fn_sinh(const kit *k, val x) {
  val magnitude = at_most(k, absolute(k, x), pick(k, 89.7, 710.6));
  pair h = quarter_exp(k, magnitude, true);
  pair line = two_sum(k, real(k, 1), mul(k, h.high, real(k, 4)));
  line.low = fused(k, h.low, real(k, 4), line.low);
  pair small = indim_emit_fn_quotient(k, h, line);
  pair sum = quick_two_sum(k, h.high, small.high);
  val total = add(k, sum.high, add(k, add(k, sum.low, small.low), h.low));
  total = choose(k, above(k, magnitude, pick(k, 20, 40)), add(k, h.high, h.low), total);
  return unless_tiny(k, x, with_sign(k, add(k, total, total), x));
}

// With h = e^|x| / 4: 2 h + 1 / (8 h).
val indim_emit_fn_cosh(const kit *k, val x) {
  pair h = quarter_exp(k, at_most(k, absolute(k, x), pick(k, 89.7, 710.6)), false);
  val small = quotient(k, real(k, 0.0625), h.high);
  val sum = add(k, h.high, add(k, h.low, small));
  return add(k, sum, sum);
}
