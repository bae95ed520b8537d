// The logarithm: x = 2^e m with m in [sqrt(1/2), sqrt(2)), ln x = e ln 2 + ln m. ln m is f - f^2/2 and a small rest,
// f = m - 1, so that nothing is lost where x is near 1.
#include "emit/math_kit.h"

// ln(1 + f) = f - f^2/2 + f^3 p(f): 2^-30 of the result.
static const double log_float[] = {0x1.555546p-2,  -0x1.ffffeep-3, 0x1.99a546p-3,  -0x1.5562e2p-3, 0x1.2332bap-3,
                                   -0x1.fb434ep-4, 0x1.e6510ap-4,  -0x1.e2e90ep-4, 0x1.1b412ep-4};
// ln((1 + s) / (1 - s)) = 2 s + s z p(z), z = s^2: 2^-58.
static const double log_double[] = {0x1.5555555555592p-1, 0x1.999999997fdddp-2, 0x1.24924941ef659p-2,
                                    0x1.c71c520a9c012p-3, 0x1.74663eadb0f8cp-3, 0x1.39a1c01d381c7p-3,
                                    0x1.2f0531606caf8p-3};

// A positive finite number as 2^e (1 + f); e as a real.
typedef struct split {
  val e;
  val f;
} split;

static split split_of(const kit *k, val x) {
  int64_t shift = mantissa_bits(k);
  val is_small = below(k, x, pick(k, FLT_MIN, DBL_MIN));
  double up = pick(k, 0x1p24, 0x1p54);
  val normal = choose(k, is_small, mul(k, x, real(k, up)), x);
  int64_t least = k->is_double ? INT64_C(0x3FE6A09E667F3BCD) : INT64_C(0x3F3504F3);
  val bits = isub(k, as_bits(k, normal), whole(k, least));
  val f = as_real(k, iadd(k, iand(k, bits, whole(k, (INT64_C(1) << shift) - 1)), whole(k, least)));
  val e;
  if (k->is_double) {
    // No instruction converts 64-bit integers before AVX-512: the exponent goes into the low bits of 3 * 2^51.
    val biased = shift_right(k, iadd(k, bits, whole(k, INT64_C(1024) << 52)), shift);
    e = as_real(k, ior(k, biased, whole(k, INT64_C(0x4330000000000000))));
    e = sub(k, e, choose(k, is_small, real(k, 0x1p52 + 1024 + 54), real(k, 0x1p52 + 1024)));
  } else {
    e = LLVMBuildSIToFP(k->b, shift_signed(k, bits, shift), k->type, "");
    e = sub(k, e, choose(k, is_small, real(k, 24), real(k, 0)));
  }
  return (split){e, sub(k, f, real(k, 1))};
}

// ln of a positive finite number; |low| is a small relative addend of f, or NULL.
static val log_of_split(const kit *k, split s) {
  const val f = s.f;
  val half_square = mul(k, mul(k, f, f), real(k, 0.5));
  double ln2_low = pick(k, 0x1.7f7d1cf79abcap-20, 0x1.cf79abc9e3b39p-40);
  val ln2_high = real(k, pick(k, 0x1.62e4p-1, 0x1.62e42fefap-1));
  val rest;
  if (k->is_double) {
    val ratio = quotient(k, f, add(k, f, real(k, 2)));
    val z = mul(k, ratio, ratio);
    val sum = fused(k, z, POLYNOMIAL(k, z, log_double), half_square);
    rest = fused(k, ratio, sum, mul(k, s.e, real(k, ln2_low)));
  } else {
    val cube = mul(k, mul(k, f, f), f);
    rest = fused(k, cube, POLYNOMIAL(k, f, log_float), mul(k, s.e, real(k, ln2_low)));
  }
  return fused(k, s.e, ln2_high, sub(k, f, sub(k, half_square, rest)));
}

val indim_emit_fn_log(const kit *k, val x) {
  val result = log_of_split(k, split_of(k, x));
  val outside = choose(k, equals(k, x, 0), real(k, -HUGE_VAL), real(k, (double)NAN));
  result = choose(k, above(k, x, 0), result, outside);
  return choose(k, equals(k, x, HUGE_VAL), x, result);
}
