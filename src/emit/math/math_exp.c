// The exponential and functions based on it: expm1, logistic, tanh, sinh, cosh, erf.
//
// x = n ln 2 + r with |r| <= ln(2) / 2, and e^x = 2^n (1 + tail) with tail = r + r^2 q(r). n comes from the bits of x /
// ln 2 + 3 * 2^(mantissa - 1), which are n in two's complement; ln 2 is in two parts so that n times the first is
// exact.
#include "emit/math/math_kit.h"

// q of e^r = 1 + r + r^2 q(r) for |r| < 0.35: 2^-28 and 2^-59 of the result (tests/tools/minimax.py).
static const double exp_float[] = {0x1.0p-1, 0x1.555482p-3, 0x1.555528p-5, 0x1.1244f8p-7, 0x1.6cf2cep-10};
static const double exp_double[] = {
    0x1.000000000000dp-1,  0x1.5555555555562p-3,  0x1.555555554f935p-5,  0x1.111111110d142p-7,  0x1.6c16c18735e84p-10,
    0x1.a01a01bc8ef49p-13, 0x1.a0199245c02d1p-16, 0x1.71dddc110e809p-19, 0x1.28b455b571cf3p-22, 0x1.af8b6b758341ep-26};

static val q_of(const kit *k, val r) {
  return k->is_double ? POLYNOMIAL(k, r, exp_double) : POLYNOMIAL(k, r, exp_float);
}

// n, and what was added to it, in the low bits of |bits|; r as high + low.
typedef struct reduced {
  val bits;
  val high;
  val low;
} reduced;

// What a number below 2^22 (of doubles 2^51) is added to, to be rounded and in the low bits: plus |offset|.
static val magic_of(const kit *k, int64_t offset) { return real(k, pick(k, 0x1.8p23, 0x1.8p52) + (double)offset); }

// Without |with_low|, low is NULL and high is rounded.
static reduced reduce(const kit *k, val x, val magic, bool with_low) {
  val shifted = fused(k, x, real(k, 0x1.71547652b82fep0), magic);
  val n = sub(k, shifted, magic);
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

// What underflows takes a processor with slow subnormals some hundred cycles. There are three ways to 2^n (1 + tail): a
// conversion, a sum (where there is no conversion) and, for other processors, a product.
//
// x has been limited to where results are neither 0 nor infinite, or a little more. What it is compared with is compared before
// that, so that nothing waits for both.

static val nearest_integer(const kit *k, val a) {
  LLVMTypeRef types[] = {k->bits, k->type};
  return indim_emit_intrinsic_of(k->e, "llvm.lrint", types, 2, &a, 1);
}

// 2^n (1 + tail) is 2^(n - 1) (1 + tail) twice. Where half of it is subnormal (|is_small|), it is a whole number of the
// least subnormal ones, and that integer has its bits.
static val exp_by_conversion(const kit *k, val x, val low, LLVMValueRef is_small) {
  int64_t units = bias(k) - 1 + mantissa_bits(k);
  val magic = choose(k, is_small, magic_of(k, bias(k) + units), magic_of(k, bias(k) - 1));
  reduced r = reduce(k, x, magic, false);
  val scale = power_of_two(k, r.bits);
  val scaled = fused(k, tail_of(k, low == NULL ? r.high : add(k, r.high, low)), scale, scale);
  return choose(k, is_small, as_real(k, nearest_integer(k, scaled)), add(k, scaled, scaled));
}

// The exponent in halves, each with its bias: 2^n alone may be out of range though the result is not.
static val exp_by_halves(const kit *k, val x, val low, LLVMValueRef is_subnormal) {
  reduced r = reduce(k, x, magic_of(k, 2 * bias(k)), false);
  val half = shift_right(k, r.bits, 1);
  val scale = power_of_two(k, half);
  val scaled = fused(k, tail_of(k, low == NULL ? r.high : add(k, r.high, low)), scale, scale);
  val rest = power_of_two(k, isub(k, r.bits, half));
  if (is_subnormal == NULL) {
    return mul(k, scaled, rest);
  }
  // A product below the least normal number, and that number: the sum is rounded to the least subnormal ones.
  val least = choose(k, is_subnormal, as_real(k, whole(k, INT64_C(1) << mantissa_bits(k))), real(k, 0));
  return as_real(k, isub(k, as_bits(k, fused(k, scaled, rest, least)), as_bits(k, least)));
}

// Whether numbers of the kit are converted to integers of their size in one instruction: doubles in vectors are with AVX-512.
static bool converts(const kit *k) {
  return !k->is_double || LLVMGetTypeKind(k->type) != LLVMVectorTypeKind ||
         (k->e->program != NULL && k->e->program->target.vector_bytes == 64);
}

val indim_emit_math_exp_of_sum(const kit *k, val x, val low) {
  val limited = at_most(k, x, pick(k, 89, 710));
  if (k->e->has_slow_subnormals && converts(k)) {
    LLVMValueRef is_small = below(k, x, pick(k, -125, -1021) * 0x1.62e42fefa39efp-1);
    return exp_by_conversion(k, at_least(k, limited, pick(k, -104, -746)), low, is_small);
  }
  if (k->e->has_slow_subnormals && k->e->has_fma) {
    LLVMValueRef is_subnormal = below(k, x, pick(k, -126, -1022) * 0x1.62e42fefa39efp-1);
    return exp_by_halves(k, at_least(k, limited, pick(k, -104, -746)), low, is_subnormal);
  }
  // Where the result is 0, both factors are: masks of attention are full of such. e^-176 is 2^-254, of which the biased
  // exponent of both halves is 0.
  val zero = real(k, pick(k, -254 * 0x1.62e43p-1, -2046 * 0x1.62e43p-1));
  return exp_by_halves(k, choose(k, below(k, x, pick(k, -104, -746)), zero, limited), low, NULL);
}

val indim_emit_math_exp(const kit *k, val x) { return indim_emit_math_exp_of_sum(k, x, NULL); }

// e^x / 4 - |less| as a pair, for x in [-40, ln(max) + 1.2]: a quarter, so that nothing overflows too early.
static pair quarter_exp(const kit *k, val x, bool minus_one) {
  reduced r = reduce(k, x, magic_of(k, bias(k) - 2), true);
  val scale = power_of_two(k, r.bits);
  val above_r = mul(k, mul(k, r.high, r.high), q_of(k, r.high));
  pair tail = quick_two_sum(k, r.high, above_r);
  val low = add(k, tail.low, r.low);
  pair sum = two_sum(k, minus_one ? sub(k, scale, real(k, 0.25)) : scale, mul(k, scale, tail.high));
  return (pair){sum.high, fused(k, scale, low, sum.low)};
}

// x itself where the next term is below half an ulp. NaN and -0 too.
static val unless_tiny(const kit *k, val x, val result) {
  return choose(k, above(k, absolute(k, x), pick(k, 0x1p-26, 0x1p-55)), result, x);
}

val indim_emit_math_expm1(const kit *k, val x) {
  val clamped = at_most(k, at_least(k, x, pick(k, -18, -38)), pick(k, 89, 710));
  pair quarter = quarter_exp(k, clamped, true);
  return unless_tiny(k, x, mul(k, add(k, quarter.high, quarter.low), real(k, 4)));
}

// 1 / (1 + 2^n (1 + tail)), e^-x = 2^n (1 + tail); numerator and denominator times 2^-a, half of n, to stay in range.
val indim_emit_math_logistic(const kit *k, val x) {
  double most = pick(k, 104, 746);
  reduced r = reduce(k, minus(k, at_most(k, at_least(k, x, -most), most)), magic_of(k, 2 * bias(k)), false);
  val half = shift_right(k, r.bits, 1);
  val one = power_of_two(k, isub(k, whole(k, 2 * bias(k)), half));
  val scale = power_of_two(k, isub(k, r.bits, half));
  // The rounding error of the sum of both powers of two is added to the smaller addend.
  val sum = add(k, scale, one);
  val lost = sub(k, one, sub(k, sum, scale));
  // 0 by a numerator of 0, as in exp.
  val top = choose(k, below(k, x, -most), real(k, 0), one);
  return quotient(k, top, add(k, sum, fused(k, tail_of(k, r.high), scale, lost)));
}

// a - b c, which is small.
static val rest_of_product(const kit *k, val a, val b, val c) {
  pair product = indim_emit_math_two_product(k, b, c);
  return sub(k, sub(k, a, product.high), product.low);
}

// c[0] + c[1] x + ... + c[4] x^4.
static val by_pairs(const kit *k, val x, val square, const double *c) {
  val low = fused(k, real(k, c[1]), x, real(k, c[0]));
  val middle = fused(k, real(k, c[3]), x, real(k, c[2]));
  return fused(k, fused(k, real(k, c[4]), square, middle), square, low);
}

// With FMA. With m = |x| and -2 m = n ln 2 + r: r = -2 s, s = m + n ln 2 / 2. For floats one part of ln 2 is enough: the
// effect of n times its error on p is negligible beside 1 - p. For doubles the second part is added to the small terms.
static val tanh_by_fma(const kit *k, val x) {
  val magnitude = at_most(k, absolute(k, x), pick(k, 9.1, 19.5));
  double magic = pick(k, 0x1.8p23, 0x1.8p52) + (double)bias(k);
  val shifted = fused(k, magnitude, real(k, -0x1.71547652b82fep1), real(k, magic));
  val n = sub(k, shifted, real(k, magic));
  val s = fused(k, n, real(k, pick(k, 0x1.62e42fefap-2, 0x1.62e42fefa39efp-2)), magnitude);
  double rest[sizeof exp_double / sizeof *exp_double];  // -4 q(-2 s)
  const double *q = k->is_double ? exp_double : exp_float;
  int32_t terms = k->is_double ? sizeof exp_double / sizeof *exp_double : sizeof exp_float / sizeof *exp_float;
  for (int32_t i = 0; i < terms; i++) {
    rest[i] = ldexp(i % 2 == 0 ? -q[i] : q[i], i + 2);
  }
  // p = 2^n (1 - drop). Of floats the terms are added by pairs: a filter that waits for each result waits less, and the worst result is
  // 1.96 units off instead of 2.04.
  val square = mul(k, s, s);
  val series = k->is_double ? polynomial(k, s, rest, terms) : by_pairs(k, s, square, rest);
  val twice = add(k, s, s);
  val drop = k->is_double ? add(k, twice, fused(k, square, series, mul(k, n, real(k, 0x1.abc9e3b39803fp-56))))
                          : fused(k, square, series, twice);
  val scale = power_of_two(k, as_bits(k, shifted));
  val one = real(k, 1);
  val more = add(k, one, scale);
  val top = fused(k, scale, drop, sub(k, one, scale));
  val bottom = fused(k, minus(k, scale), drop, more);
  val ratio = quotient(k, top, bottom);
  if (k->is_double) {
    // The residuals of the sum below and of the quotient; 1 / (1 + p) = (1 + q) / 2.
    val lost = fused(k, minus(k, scale), drop, sub(k, more, bottom));
    lost = fused(k, minus(k, ratio), lost, fused(k, minus(k, ratio), bottom, top));
    ratio = fused(k, lost, fused(k, ratio, real(k, 0.5), real(k, 0.5)), ratio);
  }
  return under_sign(k, ratio, x);
}

// q = (1 - p) / (1 + p) with p = e^-2|x| = scale (1 + tail). Beyond the limit the nearest number is 1. Without FMA, all
// residuals are collected: of the tail, of both sums and of the quotient; 1 / (1 + p) = (1 + q) / 2.
val indim_emit_math_tanh(const kit *k, val x) {
  if (k->e->has_fma) {
    return tanh_by_fma(k, x);
  }
  val magnitude = at_most(k, absolute(k, x), pick(k, 9.1, 19.5));
  reduced r = reduce(k, mul(k, magnitude, real(k, -2)), magic_of(k, bias(k)), true);
  val scale = power_of_two(k, r.bits);
  val above_r = mul(k, mul(k, r.high, r.high), q_of(k, r.high));
  val tail = add(k, r.high, above_r);
  val less = sub(k, real(k, 1), scale);
  val more = add(k, real(k, 1), scale);
  val top = fused(k, minus(k, scale), tail, less);
  val bottom = fused(k, scale, tail, more);
  val ratio = quotient(k, top, bottom);
  val scaled = mul(k, scale, tail);
  val lost_tail = mul(k, scale, add(k, add(k, sub(k, r.high, tail), above_r), r.low));
  val lost_top = sub(k, sub(k, sub(k, less, top), scaled), lost_tail);
  val lost_bottom = add(k, add(k, sub(k, more, bottom), scaled), lost_tail);
  val lost = add(k, rest_of_product(k, top, ratio, bottom), sub(k, lost_top, mul(k, ratio, lost_bottom)));
  ratio = fused(k, lost, fused(k, ratio, real(k, 0.5), real(k, 0.5)), ratio);
  return under_sign(k, ratio, x);
}

// With h = (e^|x| - 1) / 4: sinh |x| = 2 (h + h / (4 h + 1)).
val indim_emit_math_sinh(const kit *k, val x) {
  val magnitude = at_most(k, absolute(k, x), pick(k, 89.7, 710.6));
  pair h = quarter_exp(k, magnitude, true);
  pair line = two_sum(k, real(k, 1), mul(k, h.high, real(k, 4)));
  line.low = fused(k, h.low, real(k, 4), line.low);
  pair small = indim_emit_math_quotient(k, h, line);
  pair sum = quick_two_sum(k, h.high, small.high);
  val total = add(k, sum.high, add(k, add(k, sum.low, small.low), h.low));
  total = choose(k, above(k, magnitude, pick(k, 20, 40)), add(k, h.high, h.low), total);
  return unless_tiny(k, x, with_sign(k, add(k, total, total), x));
}

// With h = e^|x| / 4: 2 h + 1 / (8 h).
val indim_emit_math_cosh(const kit *k, val x) {
  pair h = quarter_exp(k, at_most(k, absolute(k, x), pick(k, 89.7, 710.6)), false);
  val small = quotient(k, real(k, 0.0625), h.high);
  val sum = add(k, h.high, add(k, h.low, small));
  return add(k, sum, sum);
}

// erf x = x + x p(x^2) up to the limit. Beyond, 1 - erf x is q(|x| - 2.375)^4 for floats, and e^p(|x|) for doubles: its
// fourth root and its logarithm are smooth.
static const double erf_near_float[] = {0x1.06eba8p-3,   -0x1.812746p-2, 0x1.ce2f2p-4,    -0x1.b82c96p-6, 0x1.56563ep-8,
                                        -0x1.bfb9d2p-11, 0x1.f406fcp-14, -0x1.cb79dep-17, 0x1.0dc1dap-20};
static const double erf_near_double[] = {0x1.06eba8214db68p-3,   -0x1.812746b03799fp-2,  0x1.ce2f21a03eda1p-4,
                                         -0x1.b82ce31136c6cp-6,  0x1.565bccd393af9p-8,   -0x1.c02da808ce2a9p-11,
                                         0x1.f9a1a1d167766p-14,  -0x1.f4b2828679b13p-17, 0x1.b837998e99263p-20,
                                         -0x1.5120924a556d4p-23, 0x1.6ef73571bf8f3p-27};
static const double erf_far_float[] = {0x1.5694ap-3,  -0x1.b643b6p-3, 0x1.8fafcp-4,   -0x1.1af03p-7,  -0x1.0a0bep-7,
                                       0x1.5d45dap-9, 0x1.cf7278p-13, -0x1.eb348p-13, -0x1.35b5b6p-16};
static const double erf_far_double[] = {
    0x1.5304959b4ca6fp-27, -0x1.20dd776a55384p+0,  -0x1.45f2e65ca9fp-1,    -0x1.a4f92ab036e83p-4,
    0x1.3998fc24e813dp-6,  0x1.7f68d05b337c3p-13,  -0x1.b0f1d978325b9p-10, 0x1.1604bbab0acb3p-11,
    0x1.43c0a3f7c2052p-15, -0x1.faa1c2546299dp-14, 0x1.240cae3739557p-14,  -0x1.b76819c9390ccp-16,
    0x1.efac83e2b4d9ep-18, -0x1.b30d475daca44p-20, 0x1.2a55de5fe232cp-22,  -0x1.3b09bcd25aaa7p-25,
    0x1.efd7024d70c2cp-29, -0x1.12149bb234d34p-32, 0x1.7bca75d0a5ec3p-37,  -0x1.f02195eb27b4ep-43};

// Both polynomials have as many terms, so that each lane takes its own coefficients: selects are faster than another
// polynomial, as they run beside the products.
static val erf_of_floats(const kit *k, val x) {
  enum { TERMS = sizeof erf_near_float / sizeof *erf_near_float };
  _Static_assert(sizeof erf_far_float == sizeof erf_near_float, "as many terms");
  val magnitude = at_most(k, absolute(k, x), 4);
  val is_far = above(k, magnitude, 1.05);
  val u = choose(k, is_far, sub(k, magnitude, real(k, 2.375)), mul(k, x, x));
  val square = mul(k, u, u);
  val sums[2] = {NULL, NULL};  // of the even and the odd terms
  for (int32_t i = TERMS - 1; i >= 0; i--) {
    val term = choose(k, is_far, indim_emit_math_coefficient(k, erf_far_float[i]),
                      indim_emit_math_coefficient(k, -erf_near_float[i]));
    sums[i % 2] = sums[i % 2] == NULL ? term : fused(k, sums[i % 2], square, term);
  }
  val sum = fused(k, sums[1], u, sums[0]);
  val root_of_missing = mul(k, sum, sum);
  val less = choose(k, is_far, mul(k, root_of_missing, root_of_missing), sum);
  val whole_part = choose(k, is_far, with_sign(k, real(k, 1), x), x);
  return fused(k, minus(k, whole_part), less, whole_part);
}

val indim_emit_math_erf(const kit *k, val x) {
  if (!k->is_double) {
    return erf_of_floats(k, x);
  }
  val magnitude = at_most(k, absolute(k, x), 6);
  val z = mul(k, x, x);
  val near = fused(k, x, POLYNOMIAL(k, z, erf_near_double), x);
  val missing = indim_emit_math_exp(k, POLYNOMIAL(k, magnitude, erf_far_double));
  val far = under_sign(k, sub(k, real(k, 1), missing), x);
  return choose(k, above(k, magnitude, 0.845), far, near);
}
