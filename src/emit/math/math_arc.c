// Arc sine, arc cosine and the angle of a point.
#include "emit/math/math_kit.h"

// atan t = t + t z p(z), z = t^2, for t up to 1 and to sqrt(2) - 1; asin t = t + t z p(z), t <= 1/2.
static const double atan_float[] = {-0x1.55554p-2, 0x1.999276p-3,  -0x1.2426f8p-3, 0x1.c0d288p-4,  -0x1.58dc7cp-4,
                                    0x1.dd0ee4p-5, -0x1.01af94p-5, 0x1.6a8facp-7,  -0x1.defef2p-10};
static const double atan_double[] = {-0x1.555555555553dp-2, 0x1.99999999958fbp-3,  -0x1.24924922b1878p-3,
                                     0x1.c71c70e7cacbep-4,  -0x1.745cf90fb4e48p-4, 0x1.3b111cb7986f1p-4,
                                     -0x1.10ebe15e022bdp-4, 0x1.df119f019197dp-5,  -0x1.9cdd257b6e988p-5,
                                     0x1.37efd2ddd7782p-5,  -0x1.25a305767ecf4p-6};
static const double asin_float[] = {0x1.5555cap-3, 0x1.33014ep-4, 0x1.748c5cp-5, 0x1.8ba29ep-6, 0x1.59da92p-5};
static const double asin_double[] = {
    0x1.5555555555578p-3, 0x1.333333332df8p-4,   0x1.6db6db7225fe7p-5, 0x1.f1c71a8dc7c27p-6, 0x1.6e8bdfa5f0986p-6,
    0x1.1c49e2c49c6a6p-6, 0x1.ca20cd27c42edp-7,  0x1.757b81d588108p-7, 0x1.6173c5fdfe7p-7,   0x1.e2c15cff50314p-9,
    0x1.6491cd76d57adp-6, -0x1.59533c477fc23p-6, 0x1.0baffba44eec3p-5};

// |count| times pi/4 (0 to 4), plus |addend| and |small|. The first part of pi/4 has so few bits that its multiples are
// exact.
static val plus_quarters(const kit *k, val count, val addend, val small) {
  val first = real(k, pick(k, 0x1.921fb0p-1, 0x1.921fb54442d18p-1));
  val second = real(k, pick(k, 0x1.5110b4611a626p-23, 0x1.1a62633145c07p-55));
  pair sum = quick_two_sum(k, mul(k, count, first), addend);
  return add(k, sum.high, add(k, sum.low, fused(k, count, second, small)));
}

// asin of what is at most 1/2, or of sqrt((1 - |x|) / 2), which is (pi/2 - asin |x|) / 2; the low part is not added.
static pair arc(const kit *k, val magnitude, val is_large) {
  val half = fused(k, magnitude, real(k, -0.5), real(k, 0.5));
  val z = choose(k, is_large, half, mul(k, magnitude, magnitude));
  val t = choose(k, is_large, root(k, half), magnitude);
  val p = k->is_double ? POLYNOMIAL(k, z, asin_double) : POLYNOMIAL(k, z, asin_float);
  return (pair){t, mul(k, mul(k, t, z), p)};
}

val indim_emit_math_asin(const kit *k, val x) {
  val magnitude = absolute(k, x);
  val is_large = above(k, magnitude, 0.5);
  pair angle = arc(k, magnitude, is_large);
  val minus_two = real(k, -2);
  val rest = plus_quarters(k, real(k, 2), mul(k, angle.high, minus_two), mul(k, angle.low, minus_two));
  return with_sign(k, choose(k, is_large, rest, add(k, angle.high, angle.low)), x);
}

// 2 a, pi - 2 a, pi/2 - a and pi/2 + a.
val indim_emit_math_acos(const kit *k, val x) {
  val magnitude = absolute(k, x);
  val is_large = above(k, magnitude, 0.5);
  val is_negative = below(k, x, 0);
  pair angle = arc(k, magnitude, is_large);
  val factor = choose(k, is_large, real(k, 2), real(k, -1));
  factor = choose(k, is_negative, minus(k, factor), factor);
  val count = choose(k, is_large, choose(k, is_negative, real(k, 4), real(k, 0)), real(k, 2));
  return plus_quarters(k, count, mul(k, angle.high, factor), mul(k, angle.low, factor));
}

// The arc tangent of smaller / larger, or where that is above sqrt(2) - 1 of (smaller - larger) / (smaller + larger),
// which is pi/4 less. The division's residual is added. Neither sums nor reciprocals may overflow or underflow.
static pair angle_of_double(const kit *k, val smaller, val larger, val *out_is_high) {
  val is_tiny = below(k, larger, 0x1p-800);
  val scale = choose(k, above(k, larger, 0x1p1000), real(k, 0x1p-60), choose(k, is_tiny, real(k, 0x1p200), real(k, 1)));
  larger = mul(k, larger, scale);
  smaller = mul(k, smaller, scale);
  *out_is_high = compare(k, LLVMRealOGT, smaller, mul(k, larger, real(k, 0x1.a827999fcef32p-2)));
  pair line = quick_two_sum(k, larger, smaller);
  line.high = choose(k, *out_is_high, line.high, larger);
  line.low = choose(k, *out_is_high, line.low, real(k, 0));
  val top = choose(k, *out_is_high, sub(k, smaller, larger), smaller);
  pair t = indim_emit_math_quotient(k, (pair){top, real(k, 0)}, line);
  val has_rest = both(k, above(k, smaller, 0x1p-900), below(k, larger, HUGE_VAL));
  t.low = choose(k, has_rest, t.low, real(k, 0));
  val z = mul(k, t.high, t.high);
  return (pair){t.high, fused(k, mul(k, t.high, z), POLYNOMIAL(k, z, atan_double), t.low)};
}

// A multiple of pi/4 and the angle of the smaller coordinate over the larger, with a sign.
val indim_emit_math_atan2(const kit *k, val y, val x) {
  val height = absolute(k, y);
  val width = absolute(k, x);
  val is_steep = compare(k, LLVMRealOGT, height, width);
  val larger = choose(k, is_steep, height, width);
  val smaller = choose(k, is_steep, width, height);
  val both_infinite = equals(k, smaller, HUGE_VAL);
  smaller = choose(k, both_infinite, real(k, 1), smaller);
  larger = choose(k, either(k, both_infinite, equals(k, larger, 0)), real(k, 1), larger);
  pair angle = {NULL, NULL};
  val count = real(k, 0);
  if (k->is_double) {
    val is_high = NULL;
    angle = angle_of_double(k, smaller, larger, &is_high);
    count = choose(k, is_high, real(k, 1), count);
  } else {
    val t = quotient(k, smaller, larger);
    val z = mul(k, t, t);
    // Horner: separate sums of the odd and the even terms would have larger rounding errors.
    val p = HORNER(k, z, atan_float);
    angle = (pair){t, mul(k, mul(k, t, z), p)};
  }
  count = choose(k, is_steep, sub(k, real(k, 2), count), count);
  val is_left = compare_bits(k, LLVMIntSLT, as_bits(k, x), whole(k, 0));
  count = choose(k, is_left, sub(k, real(k, 4), count), count);
  LLVMValueRef is_reflected = LLVMBuildXor(k->b, is_steep, is_left, "");
  angle.high = choose(k, is_reflected, minus(k, angle.high), angle.high);
  angle.low = choose(k, is_reflected, minus(k, angle.low), angle.low);
  val result = with_sign(k, plus_quarters(k, count, angle.high, angle.low), y);
  return choose(k, compare(k, LLVMRealUNO, x, y), real(k, (double)NAN), result);
}
