// The logarithm: x = 2^e m with m in [sqrt(1/2), sqrt(2)), ln x = e ln 2 + ln m. ln m is f - f^2/2 and a small
// remainder, f = m - 1, so that no precision is lost near x = 1.
#include <stdio.h>

#include "emit/math/math_kit.h"

// ln(1 + f) = f + f^2 p(f): 2^-27 of the result.
static const double log_float[] = {-0x1.fffff8p-2, 0x1.555544p-2,  -0x1.0003fep-2, 0x1.99a96ap-3, -0x1.543246p-3,
                                   0x1.22115ap-3,  -0x1.0e840ep-3, 0x1.0a56dcp-3,  -0x1.4072a2p-4};
// ln((1 + s) / (1 - s)) = 2 s + s z p(z), z = s^2: 2^-58.
static const double log_double[] = {0x1.5555555555592p-1, 0x1.999999997fd7cp-2, 0x1.24924941f4c63p-2,
                                    0x1.c71c520629aaap-3, 0x1.74663f9c829e2p-3, 0x1.39a1a771313c1p-3,
                                    0x1.2f06306fff65ep-3};

split indim_emit_math_split(const kit *k, val x, bool subnormal) {
  int64_t shift = mantissa_bits(k);
  int64_t least = k->is_double ? INT64_C(0x3FE6A09E667F3BCD) : INT64_C(0x3F3504F3);
  int64_t exponent_of_up = k->is_double ? 54 : 24;
  val offset = whole(k, k->is_double ? least + INT64_MIN : least);
  val normal = x;
  if (subnormal) {
    val is_small = below(k, x, pick(k, FLT_MIN, DBL_MIN));
    normal = choose(k, is_small, mul(k, x, real(k, pick(k, 0x1p24, 0x1p54))), x);
    offset = choose(k, is_small, iadd(k, offset, whole(k, exponent_of_up << shift)), offset);
  }
  val bits = isub(k, as_bits(k, normal), offset);
  val m = as_real(k, iadd(k, iand(k, bits, whole(k, (INT64_C(1) << shift) - 1)), whole(k, least)));
  val e;
  if (k->is_double) {
    // No instruction converts 64-bit integers before AVX-512: the exponent plus 2048 goes into the low bits of 2^52.
    e = as_real(k, ior(k, shift_right(k, bits, shift), whole(k, INT64_C(0x4330000000000000))));
    e = sub(k, e, real(k, 0x1p52 + 2048));
  } else {
    e = LLVMBuildSIToFP(k->b, shift_signed(k, bits, shift), k->type, "");
  }
  return (split){e, sub(k, m, real(k, 1))};
}

// ln of 2^e (1 + f) times (1 + relative), which may be NULL for 0.
static val log_of_split(const kit *k, split s, val relative) {
  const val f = s.f;
  val square = mul(k, f, f);
  val ln2_high = real(k, pick(k, 0x1.62e4p-1, 0x1.62e42fefap-1));
  val rest = mul(k, s.e, real(k, pick(k, 0x1.7f7d1cf79abcap-20, 0x1.cf79abc9e3b39p-40)));
  if (relative != NULL) {
    rest = add(k, rest, relative);
  }
  if (k->is_double) {
    val half_square = mul(k, square, real(k, 0.5));
    val ratio = quotient(k, f, add(k, f, real(k, 2)));
    val z = mul(k, ratio, ratio);
    rest = fused(k, ratio, fused(k, z, POLYNOMIAL(k, z, log_double), half_square), rest);
    return fused(k, s.e, ln2_high, sub(k, f, sub(k, half_square, rest)));
  }
  rest = fused(k, square, POLYNOMIAL(k, f, log_float), rest);
  return fused(k, s.e, ln2_high, add(k, f, rest));
}

// The logarithm of zero, negative numbers, infinity and NaN.
static val outside_of_log(const kit *k, val x, val result) {
  val outside = choose(k, equals(k, x, 0), real(k, -HUGE_VAL), real(k, (double)NAN));
  result = choose(k, above(k, x, 0), result, outside);
  return choose(k, equals(k, x, HUGE_VAL), x, result);
}

static val log_of_any(const kit *k, val x) {
  return outside_of_log(k, x, log_of_split(k, indim_emit_math_split(k, x, true), NULL));
}

// An outlined function for vectors with lanes that are not positive normal numbers.
static val log_out_of_line(const kit *k, val x) {
  char name[32];
  (void)snprintf(name, sizeof name, "indim.log.%s%u", k->is_double ? "f64x" : "f32x", LLVMGetVectorSize(k->type));
  outlined function;
  if (indim_emit_math_outlined_begin(k->e, name, k->type, k->type, 1, &function)) {
    indim_emit_math_outlined_end(k->e, function, log_of_any(k, LLVMGetParam(function.function, 0)));
  }
  return indim_emit_math_outlined_call(k->e, function, &x, 1);
}

// Most vectors are positive normal numbers in every lane.
val indim_emit_math_log(const kit *k, val x) {
  if (LLVMGetTypeKind(k->type) != LLVMVectorTypeKind) {
    return log_of_any(k, x);
  }
  val is_other = indim_emit_math_is_unusual(k, x);
  val usual = log_of_split(k, indim_emit_math_split(k, x, false), NULL);
  LLVMBasicBlockRef rare = indim_emit_math_block(k->e, "log");
  LLVMBasicBlockRef after = indim_emit_math_block(k->e, "");
  LLVMBasicBlockRef before = LLVMGetInsertBlock(k->b);
  indim_emit_math_branch_rarely(k->e, indim_emit_math_any_lane(k, is_other), rare, after);
  LLVMPositionBuilderAtEnd(k->b, rare);
  val other = log_out_of_line(k, x);
  LLVMBuildBr(k->b, after);
  LLVMPositionBuilderAtEnd(k->b, after);
  val result = indim_emit_math_phi(k->e, k->type, usual, before);
  LLVMAddIncoming(result, &other, &rare, 1);
  return result;
}

// ln(1 + x.high + x.low), or ln(2 x.high) where |doubled|, a condition or NULL, holds.
static val log_of_one_and(const kit *k, pair x, LLVMValueRef doubled) {
  pair sum = two_sum(k, real(k, 1), x.high);
  if (x.low != NULL) {
    sum.low = add(k, sum.low, x.low);
  }
  val relative = quotient(k, sum.low, sum.high);
  if (doubled == NULL) {
    return outside_of_log(k, sum.high, log_of_split(k, indim_emit_math_split(k, sum.high, false), relative));
  }
  split s = indim_emit_math_split(k, choose(k, doubled, x.high, sum.high), false);
  s.e = add(k, s.e, choose(k, doubled, real(k, 1), real(k, 0)));
  return log_of_split(k, s, choose(k, doubled, real(k, 0), relative));
}

// x itself where that is the result to all digits; -0 and NaN too.
static val unless_tiny(const kit *k, val x, val result) {
  return choose(k, above(k, absolute(k, x), pick(k, 0x1p-26, 0x1p-55)), result, x);
}

val indim_emit_math_log1p(const kit *k, val x) { return unless_tiny(k, x, log_of_one_and(k, (pair){x, NULL}, NULL)); }

// ln(|x| + sqrt(x^2 + 1)) = ln(1 + |x| + x^2 / (1 + sqrt(x^2 + 1))), and ln(2 |x|) for large |x|.
val indim_emit_math_asinh(const kit *k, val x) {
  val magnitude = absolute(k, x);
  val clamped = at_most(k, magnitude, 0x1p30);
  val square = mul(k, clamped, clamped);
  val line = add(k, root(k, add(k, square, real(k, 1))), real(k, 1));
  val is_far = above(k, magnitude, 0x1p29);
  pair sum = quick_two_sum(k, clamped, quotient(k, square, line));
  sum.high = choose(k, is_far, magnitude, sum.high);
  val result = log_of_one_and(k, sum, is_far);
  result = choose(k, equals(k, magnitude, HUGE_VAL), magnitude, result);
  return choose(k, above(k, magnitude, pick(k, 0x1p-13, 0x1p-28)), with_sign(k, result, x), x);
}

// With t = x - 1: ln(1 + t + sqrt(2 t + t^2)), and ln(2 x) for large x.
val indim_emit_math_acosh(const kit *k, val x) {
  val clamped = at_most(k, x, 0x1p30);
  val t = sub(k, clamped, real(k, 1));
  val is_far = above(k, x, 0x1p29);
  pair sum = two_sum(k, t, root(k, fused(k, t, t, add(k, t, t))));
  sum.high = choose(k, is_far, x, sum.high);
  val result = log_of_one_and(k, sum, is_far);
  result = choose(k, compare(k, LLVMRealOGE, x, real(k, 1)), result, real(k, (double)NAN));
  return choose(k, equals(k, x, HUGE_VAL), x, result);
}

// ln((1 + |x|) / (1 - |x|)) / 2 = ln(1 + 2 |x| / (1 - |x|)) / 2.
val indim_emit_math_atanh(const kit *k, val x) {
  val magnitude = absolute(k, x);
  pair line = quick_two_sum(k, real(k, 1), minus(k, magnitude));
  pair ratio = indim_emit_math_quotient(k, (pair){add(k, magnitude, magnitude), real(k, 0)}, line);
  val result = mul(k, log_of_one_and(k, quick_two_sum(k, ratio.high, ratio.low), NULL), real(k, 0.5));
  result = choose(k, equals(k, magnitude, 1), real(k, HUGE_VAL), result);
  return choose(k, above(k, magnitude, pick(k, 0x1p-13, 0x1p-28)), with_sign(k, result, x), x);
}
