// Elementary functions in double-double, for the complex functions whose terms cancel and for powers, whose logarithm
// is multiplied. Each is a series in pairs; its tail, negligible in a pair's low part, is summed in doubles.
#include "emit/scalar/scalar_complex.h"

// atanh(s) * 2 / s in powers of s^2, sin(x) / x and cos(x) in powers of x^2, (exp(x) - 1) / x in powers of x.
static const double atanh_series[][2] = {
    {0x1.0000000000000p+1, 0},
    {0x1.5555555555555p-1, 0x1.5555555555555p-55},
    {0x1.999999999999ap-2, -0x1.999999999999ap-56},
    {0x1.2492492492492p-2, 0x1.2492492492492p-56},
    {0x1.c71c71c71c71cp-3, 0x1.c71c71c71c71cp-57},
    {0x1.745d1745d1746p-3, -0x1.745d1745d1746p-58},
    {0x1.3b13b13b13b14p-3, -0x1.3b13b13b13b14p-57},
    {0x1.1111111111111p-3, 0x1.1111111111111p-59},
    {0x1.e1e1e1e1e1e1ep-4, 0x1.e1e1e1e1e1e1ep-60},
    {0x1.af286bca1af28p-4, 0x1.af286bca1af28p-58},
    {0x1.8618618618618p-4, 0x1.8618618618618p-58},
    {0x1.642c8590b2164p-4, 0x1.642c8590b2164p-59},
    {0x1.47ae147ae147bp-4, -0x1.eb851eb851eb8p-60},
    {0x1.2f684bda12f68p-4, 0x1.2f684bda12f68p-58},
    {0x1.1a7b9611a7b96p-4, 0x1.1a7b9611a7b96p-60},
    {0x1.0842108421084p-4, 0x1.0842108421084p-59},
    {0x1.f07c1f07c1f08p-5, -0x1.f07c1f07c1f08p-60},
    {0x1.d41d41d41d41dp-5, 0x1.0750750750750p-59},
};
static const double sine_series[][2] = {
    {0x1.0000000000000p+0, 0},
    {-0x1.5555555555555p-3, -0x1.5555555555555p-57},
    {0x1.1111111111111p-7, 0x1.1111111111111p-63},
    {-0x1.a01a01a01a01ap-13, -0x1.a01a01a01a01ap-73},
    {0x1.71de3a556c734p-19, -0x1.c154f8ddc6c00p-73},
    {-0x1.ae64567f544e4p-26, 0x1.c062e06d1f209p-80},
    {0x1.6124613a86d09p-33, 0x1.f28e0cc748ebep-87},
    {-0x1.ae7f3e733b81fp-41, -0x1.1d8656b0ee8cbp-97},
    {0x1.952c77030ad4ap-49, 0x1.ac981465ddc6cp-103},
    {-0x1.2f49b46814157p-57, -0x1.2650f61dbdcb4p-112},
    {0x1.71b8ef6dcf572p-66, -0x1.d043ae40c4647p-120},
    {-0x1.761b41316381ap-75, 0x1.3423c7d91404fp-130},
    {0x1.3f3ccdd165fa9p-84, -0x1.58ddadf344487p-139},
    {-0x1.d1ab1c2dccea3p-94, -0x1.054d0c78aea14p-149},
    {0x1.259f98b4358adp-103, 0x1.eaf8c39dd9bc5p-157},
};
static const double cosine_series[][2] = {
    {0x1.0000000000000p+0, 0},
    {-0x1.0000000000000p-1, 0},
    {0x1.5555555555555p-5, 0x1.5555555555555p-59},
    {-0x1.6c16c16c16c17p-10, 0x1.f49f49f49f49fp-65},
    {0x1.a01a01a01a01ap-16, 0x1.a01a01a01a01ap-76},
    {-0x1.27e4fb7789f5cp-22, -0x1.cbbc05b4fa99ap-76},
    {0x1.1eed8eff8d898p-29, -0x1.2aec959e14c06p-83},
    {-0x1.93974a8c07c9dp-37, -0x1.05d6f8a2efd1fp-92},
    {0x1.ae7f3e733b81fp-45, 0x1.1d8656b0ee8cbp-101},
    {-0x1.6827863b97d97p-53, -0x1.eec01221a8b0bp-107},
    {0x1.e542ba4020225p-62, 0x1.ea72b4afe3c2fp-120},
    {-0x1.0ce396db7f853p-70, 0x1.aebcdbd20331cp-124},
    {0x1.f2cf01972f578p-80, -0x1.9ada5fcc1ab14p-135},
    {-0x1.88e85fc6a4e5ap-89, 0x1.71c37ebd16540p-143},
    {0x1.0a18a2635085dp-98, 0x1.b9e2e28e1aa54p-153},
};
static const double expm1_series[][2] = {
    {0x1.0000000000000p+0, 0},
    {0x1.0000000000000p-1, 0},
    {0x1.5555555555555p-3, 0x1.5555555555555p-57},
    {0x1.5555555555555p-5, 0x1.5555555555555p-59},
    {0x1.1111111111111p-7, 0x1.1111111111111p-63},
    {0x1.6c16c16c16c17p-10, -0x1.f49f49f49f49fp-65},
    {0x1.a01a01a01a01ap-13, 0x1.a01a01a01a01ap-73},
    {0x1.a01a01a01a01ap-16, 0x1.a01a01a01a01ap-76},
    {0x1.71de3a556c734p-19, -0x1.c154f8ddc6c00p-73},
    {0x1.27e4fb7789f5cp-22, 0x1.cbbc05b4fa99ap-76},
    {0x1.ae64567f544e4p-26, -0x1.c062e06d1f209p-80},
    {0x1.1eed8eff8d898p-29, -0x1.2aec959e14c06p-83},
    {0x1.6124613a86d09p-33, 0x1.f28e0cc748ebep-87},
    {0x1.93974a8c07c9dp-37, 0x1.05d6f8a2efd1fp-92},
    {0x1.ae7f3e733b81fp-41, 0x1.1d8656b0ee8cbp-97},
    {0x1.ae7f3e733b81fp-45, 0x1.1d8656b0ee8cbp-101},
    {0x1.952c77030ad4ap-49, 0x1.ac981465ddc6cp-103},
    {0x1.6827863b97d97p-53, 0x1.eec01221a8b0bp-107},
    {0x1.2f49b46814157p-57, 0x1.2650f61dbdcb4p-112},
    {0x1.e542ba4020225p-62, 0x1.ea72b4afe3c2fp-120},
    {0x1.71b8ef6dcf572p-66, -0x1.d043ae40c4647p-120},
    {0x1.0ce396db7f853p-70, -0x1.aebcdbd20331cp-124},
    {0x1.761b41316381ap-75, -0x1.3423c7d91404fp-130},
    {0x1.f2cf01972f578p-80, -0x1.9ada5fcc1ab14p-135},
};

// log 2 in parts: the first two are so short that their products with integers are exact.
#define LN2_1 0x1.62e42fefa2000p-1
#define LN2_2 0x1.9ef35793c6000p-41
#define LN2_3 0x1.673007e5ed5e8p-81, 0x1.e6864ce5316c6p-137

val indim_emit_pair_value(const kit *k, pair p) { return add(k, p.high, p.low); }

pair indim_emit_pair_constant(const kit *k, double high, double low) { return (pair){real(k, high), real(k, low)}; }

pair indim_emit_pair_add(const kit *k, pair p, pair q) {
  pair high = two_sum(k, p.high, q.high);
  pair low = two_sum(k, p.low, q.low);
  pair sum = two_sum(k, high.high, low.high);
  pair result = quick_two_sum(k, sum.high, add(k, sum.low, add(k, high.low, low.low)));
  val is_plain = both(k, is_zero(k, result.high), is_zero(k, high.high));
  return (pair){choose(k, is_plain, high.high, result.high), choose(k, is_plain, high.high, result.low)};
}

pair indim_emit_pair_scale(const kit *k, pair p, val factor) {
  pair product = indim_emit_math_two_product(k, p.high, factor);
  return quick_two_sum(k, product.high, add(k, product.low, mul(k, p.low, factor)));
}

pair indim_emit_pair_multiply(const kit *k, pair p, pair q) {
  pair product = indim_emit_math_two_product(k, p.high, q.high);
  val rest = add(k, mul(k, p.high, q.low), mul(k, p.low, q.high));
  return quick_two_sum(k, product.high, add(k, product.low, rest));
}

pair indim_emit_pair_negate(const kit *k, pair p) { return (pair){minus(k, p.high), minus(k, p.low)}; }

// c[0] + c[1] x + ..., the first |precise| coefficients as pairs. Terms decrease, so quick_two_sum suffices.
static pair series(const kit *k, pair x, const double (*c)[2], int count, int precise) {
  val tail = real(k, c[count - 1][0]);
  for (int i = count - 2; i >= precise; i--) {
    tail = fused(k, tail, x.high, real(k, c[i][0]));
  }
  pair sum = {tail, real(k, 0)};
  for (int i = precise - 1; i >= 0; i--) {
    pair term = indim_emit_pair_multiply(k, sum, x);
    pair high = quick_two_sum(k, real(k, c[i][0]), term.high);
    sum = quick_two_sum(k, high.high, add(k, high.low, add(k, term.low, real(k, c[i][1]))));
  }
  return sum;
}
#define SERIES(k, x, c, precise) series(k, x, c, (int)(sizeof(c) / sizeof((c)[0])), precise)

// Sine and cosine of |angle| <= pi / 4.
static void small_sincos(const kit *k, pair angle, pair *out_sin, pair *out_cos) {
  pair square = indim_emit_pair_multiply(k, angle, angle);
  *out_sin = indim_emit_pair_multiply(k, angle, SERIES(k, square, sine_series, 9));
  *out_cos = SERIES(k, square, cosine_series, 9);
}

void indim_emit_pair_sincos(const kit *k, pair x, pair *out_sin, pair *out_cos) {
  val quadrant;
  pair rest = indim_emit_math_reduce(k, x.high, &quadrant);
  rest = indim_emit_pair_add(k, rest, (pair){x.low, real(k, 0)});
  pair sine;
  pair cosine;
  small_sincos(k, rest, &sine, &cosine);
  val swaps = compare_bits(k, LLVMIntNE, iand(k, quadrant, whole(k, 1)), whole(k, 0));
  val sine_sign = as_real(k, shift_left(k, quadrant, 62));
  val cosine_sign = as_real(k, shift_left(k, iadd(k, quadrant, whole(k, 1)), 62));
  pair s = {choose(k, swaps, cosine.high, sine.high), choose(k, swaps, cosine.low, sine.low)};
  pair c = {choose(k, swaps, sine.high, cosine.high), choose(k, swaps, sine.low, cosine.low)};
  *out_sin = (pair){flip(k, s.high, sine_sign), flip(k, s.low, sine_sign)};
  *out_cos = (pair){flip(k, c.high, cosine_sign), flip(k, c.low, cosine_sign)};
}

pair indim_emit_pair_expm1(const kit *k, val x) {
  val shifted = add(k, mul(k, x, real(k, 0x1.71547652B82FEp+0)), real(k, 0x1.8p52));
  val n = sub(k, shifted, real(k, 0x1.8p52));
  pair rest = two_sum(k, x, mul(k, n, real(k, -LN2_1)));
  rest = indim_emit_pair_add(k, rest, (pair){mul(k, n, real(k, -LN2_2)), real(k, 0)});
  rest = indim_emit_pair_add(k, rest, indim_emit_pair_scale(k, indim_emit_pair_constant(k, LN2_3), minus(k, n)));
  pair small = indim_emit_pair_multiply(k, rest, SERIES(k, rest, expm1_series, 13));
  val power = power_of_two(k, isub(k, as_bits(k, shifted), as_bits(k, real(k, 0x1.8p52))));
  pair scaled_up = {mul(k, small.high, power), mul(k, small.low, power)};
  return indim_emit_pair_add(k, two_sum(k, power, real(k, -1)), scaled_up);
}

// With n = |z|^2 = 2^j m, m in about [0.7, 1.4]: log m = 2 atanh((m - 1) / (m + 1)).
pair indim_emit_pair_log_hypot(const kit *k, val x, val y) {
  // The exponent of a subnormal number is in its leading bit.
  val is_small = below(k, larger(k, absolute(k, x), absolute(k, y)), 0x1p-900);
  val factor = choose(k, is_small, real(k, 0x1p100), real(k, 1));
  val a = mul(k, x, factor);
  val b = mul(k, y, factor);
  val exponent = indim_emit_real_exponent(k, larger(k, absolute(k, a), absolute(k, b)));
  val down = power_of_two(k, isub(k, whole(k, 0), exponent));
  exponent = isub(k, exponent, choose(k, is_small, whole(k, 100), whole(k, 0)));
  a = mul(k, a, down);
  b = mul(k, b, down);
  pair aa = indim_emit_math_two_product(k, a, a);
  pair bb = indim_emit_math_two_product(k, b, b);
  val n = add(k, aa.high, bb.high);
  val one = real(k, 1);
  val zero = real(k, 0);
  val j = zero;
  for (double limit = 0x1.6A09E6p+0; limit < 32; limit *= 2) {
    j = add(k, j, choose(k, above(k, n, limit), one, zero));
  }
  // 2^-j without a conversion: the exponent bits of 1 minus j.
  val j_bits = isub(k, as_bits(k, add(k, j, real(k, 0x1.8p52))), as_bits(k, real(k, 0x1.8p52)));
  val up = power_of_two(k, isub(k, whole(k, 0), j_bits));
  // The difference to 1 must keep its digits near the unit circle.
  val terms[] = {mul(k, aa.high, up), mul(k, bb.high, up), real(k, -1), mul(k, aa.low, up), mul(k, bb.low, up)};
  pair over = indim_emit_pair_sum(k, terms, 5);
  pair under = indim_emit_pair_add(k, over, indim_emit_pair_constant(k, 2, 0));
  pair s = indim_emit_math_quotient(k, over, under);
  pair log_m = indim_emit_pair_multiply(k, s, SERIES(k, indim_emit_pair_multiply(k, s, s), atanh_series, 7));
  val exponent_real = sub(k, as_real(k, iadd(k, exponent, as_bits(k, real(k, 0x1.8p52)))), real(k, 0x1.8p52));
  val twice = add(k, add(k, exponent_real, exponent_real), j);
  pair log_power =
      indim_emit_pair_scale(k, indim_emit_pair_constant(k, 0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56), twice);
  pair sum = indim_emit_pair_add(k, log_m, log_power);
  return (pair){mul(k, sum.high, real(k, 0.5)), mul(k, sum.low, real(k, 0.5))};
}

// With a near the angle, atan(small / big) = a + d, d = (small cos a - big sin a) / (big cos a + small sin a).
pair indim_emit_pair_atan_ratio(const kit *k, val small, val big) {
  val down = power_of_two(k, isub(k, whole(k, 0), indim_emit_real_exponent(k, big)));
  val b = mul(k, big, down);
  val c = mul(k, small, down);
  val guess = atan_of(k, c, b);
  pair sine;
  pair cosine;
  small_sincos(k, (pair){guess, real(k, 0)}, &sine, &cosine);
  pair over = indim_emit_pair_add(k, indim_emit_pair_scale(k, cosine, c), indim_emit_pair_scale(k, sine, minus(k, b)));
  pair under = indim_emit_pair_add(k, indim_emit_pair_scale(k, cosine, b), indim_emit_pair_scale(k, sine, c));
  val step = quotient(k, indim_emit_pair_value(k, over), under.high);
  return quick_two_sum(k, guess, choose(k, is_zero(k, guess), real(k, 0), step));
}
