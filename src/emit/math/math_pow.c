// Powers: |x|^y = 2^(y log2 |x|), with log2 to more digits than the type has; special cases (zeros, infinities, NaN,
// negative bases) are selected afterwards, and constant-fold where the exponent is a constant.
#include <stdio.h>

#include "emit/math/math_kit.h"

// log2((1 + s) / (1 - s)) = s p(s^2): 2^-43; 2^f for |f| <= 1/2: 2^-28.
static const double log2_coarse[] = {0x1.71547652b825p+1,  0x1.ec709dc53dd8ap-1, 0x1.2776c291b66d3p-1,
                                     0x1.a61a2fed05b97p-2, 0x1.47952a0c7f005p-2, 0x1.21b342804e9c4p-2};
static const double exp2_coarse[] = {0x1.0p+0,
                                     0x1.62e4311737ee2p-1,
                                     0x1.ebfbe2c58c649p-3,
                                     0x1.c6ae72db0883fp-5,
                                     0x1.3b270e224a00dp-7,
                                     0x1.5f7279161b6fp-10,
                                     0x1.470b802dd3783p-13};

// |x|^y of floats by doubles: every float is a normal double, and so is every product of exponents below.
static val power_of_floats(const kit *k, val magnitude, val y) {
  LLVMTypeRef wide_type = indim_emit_like(k->e, k->type, LLVMDoubleTypeInContext(k->e->context));
  val base = LLVMBuildFPExt(k->b, magnitude, wide_type, "");
  val exponent = LLVMBuildFPExt(k->b, y, wide_type, "");
  kit of_wide = kit_of(k->e, base);
  const kit *w = &of_wide;
  int64_t least = INT64_C(0x3FE6A09E667F3BCD);
  val bits = iadd(w, as_bits(w, base), whole(w, (INT64_C(1023) << 52) - least));
  val m = as_real(w, iadd(w, iand(w, bits, whole(w, (INT64_C(1) << 52) - 1)), whole(w, least)));
  val e = as_real(w, ior(w, shift_right(w, bits, 52), whole(w, INT64_C(0x4330000000000000))));
  e = sub(w, e, real(w, 0x1p52 + 1023));
  val s = quotient(w, sub(w, m, real(w, 1)), add(w, m, real(w, 1)));
  val log2 = fused(w, s, POLYNOMIAL(w, mul(w, s, s), log2_coarse), e);
  val t = mul(w, log2, exponent);
  t = at_most(w, at_least(w, t, -200), 200);
  val shifted = add(w, t, real(w, 0x1.8p52 + 1023));
  val f = sub(w, t, sub(w, shifted, real(w, 0x1.8p52 + 1023)));
  val scale = as_real(w, shift_left(w, as_bits(w, shifted), 52));
  return LLVMBuildFPTrunc(k->b, mul(w, POLYNOMIAL(w, f, exp2_coarse), scale), k->type, "");
}

// No rounding instruction: older processors have none, and this constant-folds if y is a constant.
static val is_whole(const kit *k, val y) {
  double magic = pick(k, 0x1p23, 0x1p52);
  val magnitude = as_real(k, iand(k, as_bits(k, y), whole(k, ~sign_bit(k))));
  val nearest = sub(k, add(k, magnitude, real(k, magic)), real(k, magic));
  val is_near = compare(k, LLVMRealOEQ, nearest, magnitude);
  return either(k, is_near, compare(k, LLVMRealOGE, magnitude, real(k, magic)));
}

// ln of a positive finite double as a pair, to 2^-65: ln((1 + s) / (1 - s)) = 2 s (1 + z / 3 + z^2 p(z)), z = s^2.
static const double log_rest[] = {0x1.999999999999ap-3, 0x1.2492492492523p-3, 0x1.c71c71c6ea3a2p-4,
                                  0x1.745d177ae7f0fp-4, 0x1.3b1395b308c1ap-4, 0x1.1118cdf08e4dp-4,
                                  0x1.df7b9e1d97e43p-5, 0x1.e039c414fd712p-5};

static pair product_of(const kit *k, pair a, pair b) {
  pair product = indim_emit_math_two_product(k, a.high, b.high);
  val cross = fused(k, a.high, b.low, mul(k, a.low, b.high));
  return (pair){product.high, add(k, product.low, cross)};
}

static pair log_of_double(const kit *k, val x, bool is_normal) {
  split parts = indim_emit_math_split(k, x, !is_normal);
  pair line = quick_two_sum(k, real(k, 2), parts.f);
  pair s = indim_emit_math_quotient(k, (pair){parts.f, real(k, 0)}, line);
  s = quick_two_sum(k, s.high, s.low);
  pair z = product_of(k, s, s);
  pair inner = quick_two_sum(k, real(k, 0x1.5555555555555p-2), mul(k, z.high, POLYNOMIAL(k, z.high, log_rest)));
  inner.low = add(k, inner.low, real(k, 0x1.5555555555555p-56));
  pair rest = product_of(k, product_of(k, z, inner), s);
  pair sum = quick_two_sum(k, s.high, rest.high);
  sum.low = add(k, sum.low, add(k, s.low, rest.low));
  val two = real(k, 2);
  pair total = two_sum(k, mul(k, parts.e, real(k, 0x1.62e42fefa2000p-1)), mul(k, sum.high, two));
  val low = fused(k, sum.low, two, mul(k, parts.e, real(k, 0x1.9ef35793c7673p-41)));
  return quick_two_sum(k, total.high, add(k, total.low, low));
}

static val power_of_doubles(const kit *k, val magnitude, val y, bool is_normal) {
  pair log = log_of_double(k, magnitude, is_normal);
  pair t = indim_emit_math_two_product(k, log.high, y);
  val low = fused(k, log.low, y, t.low);
  low = choose(k, below(k, absolute(k, t.high), 800), low, real(k, 0));
  return indim_emit_math_exp_of_sum(k, t.high, low);
}

bool indim_emit_constant_of(val y, double *out_value) {
  if (!LLVMIsConstant(y)) {
    return false;
  }
  LLVMBool lost = 0;
  LLVMTypeRef type = LLVMTypeOf(y);
  val first = y;
  if (LLVMGetTypeKind(type) == LLVMVectorTypeKind) {
    first = LLVMGetAggregateElement(y, 0);
    for (unsigned i = 1; i < LLVMGetVectorSize(type); i++) {
      if (LLVMGetAggregateElement(y, i) != first) {
        return false;
      }
    }
  }
  if (first == NULL || LLVMIsAConstantFP(first) == NULL) {
    return false;
  }
  *out_value = LLVMConstRealGetDouble(first, &lost);
  return true;
}

// x^(-3/2) as r sqrt(r), r = 1/x, and the residuals of both roundings: e of 1 and d of r, together 3/2 e + x d / 2.
static val root_of_inverse_cube(const kit *k, val x) {
  val r = quotient(k, real(k, 1), x);
  val s = root(k, r);
  pair one = indim_emit_math_two_product(k, r, x);
  pair square = indim_emit_math_two_product(k, s, s);
  val e = sub(k, sub(k, real(k, 1), one.high), one.low);
  val d = sub(k, sub(k, r, square.high), square.low);
  val lost = fused(k, e, real(k, 1.5), mul(k, mul(k, x, real(k, 0.5)), d));
  val y = mul(k, r, s);
  // Zeros, infinities and numbers near them have no residual.
  LLVMValueRef is_plain = both(k, below(k, absolute(k, lost), 0x1p-10), below(k, y, HUGE_VAL));
  return choose(k, is_plain, fused(k, y, lost, y), y);
}

bool indim_emit_is_simple_power(double exponent) {
  static const double simple[] = {-2, -1.5, -1, -0.5, 0.5, 1, 1.5, 2, 3, 4};
  for (size_t i = 0; i < sizeof simple / sizeof *simple; i++) {
    if (exponent == simple[i]) {
      return true;
    }
  }
  return false;
}

// Powers that are products, quotients and roots, at most 1.8 ulp off, in an order that neither overflows nor underflows
// too early. A root takes -0 and -inf for their positives.
static val simple_power(const kit *k, val x, double y) {
  val unsigned_zero = add(k, x, real(k, 0));
  val one = real(k, 1);
  switch ((int)(y * 2)) {
  case -4: {
    val inverse = quotient(k, one, x);
    return mul(k, inverse, inverse);
  }
  case -3:
    return root_of_inverse_cube(k, unsigned_zero);
  case -2:
    return quotient(k, one, x);
  case -1:
    return choose(k, equals(k, x, -HUGE_VAL), real(k, 0), quotient(k, one, root(k, unsigned_zero)));
  case 1:
    return choose(k, equals(k, x, -HUGE_VAL), real(k, HUGE_VAL), root(k, unsigned_zero));
  case 2:
    return x;
  case 3:
    return choose(k, equals(k, x, -HUGE_VAL), real(k, HUGE_VAL), mul(k, unsigned_zero, root(k, unsigned_zero)));
  case 4:
    return mul(k, x, x);
  case 6:
    return mul(k, mul(k, x, x), x);
  default: {
    val square = mul(k, x, x);
    return mul(k, square, square);
  }
  }
}

// Beyond that exponent nothing changes, and 1 to an infinite power is 1.
static double most_exponent(const kit *k) { return pick(k, 0x1p40, 0x1p70); }

// Of a positive number, normal if |is_normal|, and an exponent up to the most.
static val power_of_positive(const kit *k, val x, val y, bool is_normal) {
  return k->is_double ? power_of_doubles(k, x, y, is_normal) : power_of_floats(k, x, y);
}

static val power_of_any(const kit *k, val x, val y) {
  val magnitude = absolute(k, x);
  double most = most_exponent(k);
  val clamped = at_most(k, at_least(k, y, -most), most);
  val power = power_of_positive(k, magnitude, clamped, false);
  val infinite = choose(k, below(k, y, 0), real(k, 0), real(k, HUGE_VAL));
  val zero = choose(k, below(k, y, 0), real(k, HUGE_VAL), real(k, 0));
  power = choose(k, equals(k, magnitude, HUGE_VAL), infinite, power);
  power = choose(k, equals(k, magnitude, 0), zero, power);
  val whole_y = is_whole(k, clamped);
  val is_odd = both(k, whole_y, negated(k, is_whole(k, mul(k, clamped, real(k, 0.5)))));
  power = choose(k, is_odd, flip(k, power, x), power);
  val no_root = both(k, negated(k, whole_y), both(k, below(k, x, 0), above(k, x, -HUGE_VAL)));
  power = choose(k, no_root, real(k, (double)NAN), power);
  power = choose(k, compare(k, LLVMRealUNO, x, y), real(k, (double)NAN), power);
  return choose(k, either(k, equals(k, x, 1), equals(k, y, 0)), real(k, 1), power);
}

// An outlined function for vectors with lanes that need it.
static val power_out_of_line(const kit *k, val x, val y) {
  char name[32];
  (void)snprintf(name, sizeof name, "indim.pow.%s%u", k->is_double ? "f64x" : "f32x", LLVMGetVectorSize(k->type));
  outlined function;
  if (indim_emit_math_outlined_begin(k->e, name, k->type, k->type, 2, &function)) {
    val result = power_of_any(k, LLVMGetParam(function.function, 0), LLVMGetParam(function.function, 1));
    indim_emit_math_outlined_end(k->e, function, result);
  }
  val args[] = {x, y};
  return indim_emit_math_outlined_call(k->e, function, args, 2);
}

// Most vectors are powers of positive normal numbers in every lane.
val indim_emit_math_pow(const kit *k, val x, val y) {
  double constant = 0;
  if (indim_emit_constant_of(y, &constant) && indim_emit_is_simple_power(constant)) {
    return simple_power(k, x, constant);
  }
  if (LLVMGetTypeKind(k->type) != LLVMVectorTypeKind) {
    return power_of_any(k, x, y);
  }
  val is_other =
      either(k, indim_emit_math_is_unusual(k, x), compare(k, LLVMRealUGT, absolute(k, y), real(k, most_exponent(k))));
  LLVMBasicBlockRef rare = indim_emit_math_block(k->e, "pow");
  LLVMBasicBlockRef usual = indim_emit_math_block(k->e, "");
  LLVMBasicBlockRef after = indim_emit_math_block(k->e, "");
  indim_emit_math_branch_rarely(k->e, indim_emit_math_any_lane(k, is_other), rare, usual);
  LLVMPositionBuilderAtEnd(k->b, rare);
  val of_any = power_out_of_line(k, x, y);
  LLVMBuildBr(k->b, after);
  LLVMPositionBuilderAtEnd(k->b, usual);
  val of_positive = power_of_positive(k, x, y, true);
  LLVMBuildBr(k->b, after);
  LLVMPositionBuilderAtEnd(k->b, after);
  val result = indim_emit_math_phi(k->e, k->type, of_positive, usual);
  LLVMAddIncoming(result, &of_any, &rare, 1);
  return result;
}

// The cube root: r near x^(-1/3) from a third of the exponent and significand bits, refined once or twice by a series
// of (1 - h)^(-1/3), h = 1 - x r^3; then y = x r^2, and y + (x - y^3) r^2 / 3 with the difference to more digits.
val indim_emit_math_cbrt(const kit *k, val x) {
  val magnitude = absolute(k, x);
  val is_small = below(k, magnitude, pick(k, 0x1p-80, 0x1p-900));
  val is_large = above(k, magnitude, pick(k, 0x1p80, 0x1p900));
  double up = pick(k, 0x1p60, 0x1p300);
  val scale = choose(k, is_small, real(k, up), choose(k, is_large, real(k, 1 / up), real(k, 1)));
  double root_of_up = pick(k, 0x1p20, 0x1p100);
  val back = choose(k, is_small, real(k, 1 / root_of_up), choose(k, is_large, real(k, root_of_up), real(k, 1)));
  val a = mul(k, magnitude, scale);
  val r;
  if (k->is_double) {
    val upper = as_real(k, ior(k, shift_right(k, as_bits(k, a), 32), whole(k, INT64_C(0x4330000000000000))));
    val third = fused(k, sub(k, upper, real(k, 0x1p52)), real(k, -1.0 / 3), real(k, 0x1.8p52 + 0x553ef0ff));
    r = as_real(k, shift_left(k, as_bits(k, third), 32));
  } else {
    val bits = LLVMBuildSIToFP(k->b, as_bits(k, a), k->type, "");
    bits = fused(k, bits, real(k, -1.0 / 3), real(k, 0x54a21000p0));
    r = as_real(k, LLVMBuildFPToSI(k->b, bits, k->bits, ""));
  }
  for (int i = 0; i < (k->is_double ? 2 : 1); i++) {
    val h = fused(k, minus(k, mul(k, a, r)), mul(k, r, r), real(k, 1));
    val series = fused(k, fused(k, h, real(k, 14.0 / 81), real(k, 2.0 / 9)), h, real(k, 1.0 / 3));
    r = fused(k, mul(k, r, h), series, r);
  }
  val square = mul(k, r, r);
  val y = mul(k, a, square);
  pair y2 = indim_emit_math_two_product(k, y, y);
  pair y3 = indim_emit_math_two_product(k, y2.high, y);
  val rest = sub(k, sub(k, sub(k, a, y3.high), y3.low), mul(k, y2.low, y));
  y = fused(k, rest, mul(k, square, real(k, 1.0 / 3)), y);
  val is_plain = both(k, above(k, magnitude, 0), below(k, magnitude, HUGE_VAL));
  return choose(k, is_plain, with_sign(k, mul(k, y, back), x), x);
}
