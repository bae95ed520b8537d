// Powers: |x|^y = 2^(y log2 |x|), with log2 to more digits than the type has; what is outside of that (zeros,
// infinities, NaN, negative bases) is chosen afterwards, and folds away where the exponent is a constant.
#include "emit/math_kit.h"

// log2((1 + s) / (1 - s)) = s p(s^2): 2^-43; 2^f for |f| <= 1/2: 2^-28.
static const double log2_coarse[] = {0x1.71547652b8252p+1, 0x1.ec709dc53cdf9p-1, 0x1.2776c29240463p-1,
                                     0x1.a61a2fb59f11bp-2, 0x1.47952db773ef1p-2, 0x1.21b3423b4424fp-2};
static const double exp2_coarse[] = {1,
                                     0x1.62e431172dcb3p-1,
                                     0x1.ebfbe2c44121ap-3,
                                     0x1.c6ae72e55aca1p-5,
                                     0x1.3b270f3b039f9p-7,
                                     0x1.5f72744d12ae9p-10,
                                     0x1.470aaa88a402fp-13};

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

static val is_whole(const kit *k, val y) {
  return compare(k, LLVMRealOEQ, indim_emit_intrinsic(k->e, "llvm.rint", 1, &y), y);
}

val indim_emit_fn_pow(const kit *k, val x, val y) {
  val magnitude = absolute(k, x);
  // Beyond 2^40 nothing changes, and 1 to an infinite power is 1.
  val cut = at_most(k, at_least(k, y, -0x1p40), 0x1p40);
  val power = power_of_floats(k, magnitude, cut);
  val infinite = choose(k, below(k, y, 0), real(k, 0), real(k, HUGE_VAL));
  val zero = choose(k, below(k, y, 0), real(k, HUGE_VAL), real(k, 0));
  power = choose(k, equals(k, magnitude, HUGE_VAL), infinite, power);
  power = choose(k, equals(k, magnitude, 0), zero, power);
  val whole_y = is_whole(k, cut);
  val is_odd = both(k, whole_y, negated(k, is_whole(k, mul(k, cut, real(k, 0.5)))));
  power = choose(k, is_odd, flip(k, power, x), power);
  val no_root = both(k, negated(k, whole_y), both(k, below(k, x, 0), above(k, x, -HUGE_VAL)));
  power = choose(k, no_root, real(k, (double)NAN), power);
  power = choose(k, compare(k, LLVMRealUNO, x, y), real(k, (double)NAN), power);
  return choose(k, either(k, equals(k, x, 1), equals(k, y, 0)), real(k, 1), power);
}
