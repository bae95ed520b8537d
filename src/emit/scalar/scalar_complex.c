// Complex numbers: arithmetic, moduli and roots. Products are the plain formula, quotients of c128 Smith's, both accurate
// relative to their modulus. Of other results each part is accurate to about an ulp by itself, also under cancellation:
// products are exact and added in pairs, divisions and roots corrected by their residuals. Exponents that would overflow
// in intermediate results are split off. Infinities and NaN are those of eval/complex_math.h, mostly in blocks of their
// own that are branched to when a lane needs them, with a call where the code is long.
#include "emit/scalar/scalar_complex.h"

#include <stdio.h>

// Branch weights: keeps code that only the taken side needs out of the other.
static void mark_unlikely(const kit *k, LLVMValueRef branch) {
  LLVMContextRef context = k->e->context;
  LLVMTypeRef word = LLVMInt32TypeInContext(context);
  LLVMMetadataRef parts[] = {LLVMMDStringInContext2(context, "branch_weights", 14),
                             LLVMValueAsMetadata(LLVMConstInt(word, 1, 0)),
                             LLVMValueAsMetadata(LLVMConstInt(word, 2000, 0))};
  LLVMMetadataRef weights = LLVMMDNodeInContext2(context, parts, 3);
  LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(context, "prof", 4), LLVMMetadataAsValue(context, weights));
}

rare indim_emit_rare_begin(const kit *k, val lanes) {
  LLVMBasicBlockRef before = LLVMGetInsertBlock(k->b);
  LLVMValueRef function = LLVMGetBasicBlockParent(before);
  LLVMBasicBlockRef inside = LLVMAppendBasicBlockInContext(k->e->context, function, "");
  LLVMBasicBlockRef after = LLVMAppendBasicBlockInContext(k->e->context, function, "");
  bool is_vector = LLVMGetTypeKind(LLVMTypeOf(lanes)) == LLVMVectorTypeKind;
  val any = is_vector ? indim_emit_unary_intrinsic(k->e, "llvm.vector.reduce.or", lanes) : lanes;
  mark_unlikely(k, LLVMBuildCondBr(k->b, any, inside, after));
  LLVMPositionBuilderAtEnd(k->b, inside);
  return (rare){before, after};
}

static val phi_of(const kit *k, rare block, LLVMBasicBlockRef inside, val usual, val computed) {
  val phi = LLVMBuildPhi(k->b, LLVMTypeOf(usual), "");
  LLVMAddIncoming(phi, (val[]){usual, computed}, (LLVMBasicBlockRef[]){block.before, inside}, 2);
  return phi;
}

complex_val indim_emit_rare_end(const kit *k, rare block, complex_val usual, complex_val computed) {
  LLVMBasicBlockRef inside = LLVMGetInsertBlock(k->b);
  LLVMBuildBr(k->b, block.after);
  LLVMPositionBuilderAtEnd(k->b, block.after);
  val re = phi_of(k, block, inside, usual.re, computed.re);
  return (complex_val){re, phi_of(k, block, inside, usual.im, computed.im)};
}

complex_val indim_emit_complex_out_of_line(const complex_kit *s, const char *name,
                                           complex_val (*build)(const complex_kit *s, const complex_val *args),
                                           const complex_val *args, unsigned count) {
  const kit *k = &s->k;
  bool is_vector = LLVMGetTypeKind(k->type) == LLVMVectorTypeKind;
  char full[48];
  (void)snprintf(full, sizeof full, "indim.complex.%s.%u", name, is_vector ? LLVMGetVectorSize(k->type) : 0);
  LLVMTypeRef result = LLVMStructTypeInContext(k->e->context, (LLVMTypeRef[]){k->type, k->type}, 2, 0);
  outlined function;
  if (indim_emit_math_outlined_begin(k->e, full, result, k->type, 2 * count, &function)) {
    complex_val own[2];
    for (unsigned i = 0; i < count; i++) {
      own[i] = (complex_val){LLVMGetParam(function.function, 2 * i), LLVMGetParam(function.function, 2 * i + 1)};
    }
    complex_val computed = build(s, own);
    val all = LLVMBuildInsertValue(k->b, LLVMGetPoison(result), computed.re, 0, "");
    indim_emit_math_outlined_end(k->e, function, LLVMBuildInsertValue(k->b, all, computed.im, 1, ""));
  }
  val given[4];
  for (unsigned i = 0; i < count; i++) {
    given[2 * i] = args[i].re;
    given[2 * i + 1] = args[i].im;
  }
  val both_parts = indim_emit_math_outlined_call(k->e, function, given, 2 * count);
  return (complex_val){LLVMBuildExtractValue(k->b, both_parts, 0, ""), LLVMBuildExtractValue(k->b, both_parts, 1, "")};
}

// Pairs ---------------------------------------------------------------------------------------------------------------

pair indim_emit_pair_dot(const kit *k, val a, val b, val c, val d) {
  return indim_emit_pair_add(k, indim_emit_math_two_product(k, a, b), indim_emit_math_two_product(k, c, d));
}

pair indim_emit_pair_sum(const kit *k, val *terms, int count) {
  for (int pass = 1; pass < count; pass++) {
    for (int i = 1; i < count; i++) {
      pair sum = two_sum(k, terms[i], terms[i - 1]);
      terms[i] = sum.high;
      terms[i - 1] = sum.low;
    }
  }
  val low = terms[0];
  for (int i = 1; i < count - 1; i++) {
    low = add(k, low, terms[i]);
  }
  return quick_two_sum(k, terms[count - 1], low);
}

// The square root of a pair; 0 of 0.
static pair root_of(const kit *k, pair n) {
  val first = root(k, n.high);
  pair square = indim_emit_math_two_product(k, first, first);
  val rest = add(k, sub(k, sub(k, n.high, square.high), square.low), n.low);
  val step = quotient(k, rest, add(k, first, first));
  return quick_two_sum(k, first, choose(k, is_zero(k, first), first, step));
}

// Times a power of two.
static pair times_real(const kit *k, pair p, val factor) {
  return (pair){mul(k, p.high, factor), mul(k, p.low, factor)};
}

val indim_emit_real_exponent(const kit *k, val x) {
  val field = shift_right(k, iand(k, as_bits(k, x), whole(k, INT64_MAX)), 52);
  field = indim_emit_binary_intrinsic(k->e, "llvm.umax", field, whole(k, 1));
  field = indim_emit_binary_intrinsic(k->e, "llvm.umin", field, whole(k, 2045));
  return isub(k, field, whole(k, 1023));
}

val indim_emit_real_ldexp(const kit *k, val x, val n) {
  val least = indim_emit_binary_intrinsic(k->e, "llvm.smax", n, whole(k, -2040));
  val clamped = indim_emit_binary_intrinsic(k->e, "llvm.smin", least, whole(k, 2040));
  val half = shift_signed(k, clamped, 1);
  return mul(k, mul(k, x, power_of_two(k, half)), power_of_two(k, isub(k, clamped, half)));
}

// A pair times its power of two, rounded once. The high part alone gives it, except where it is halfway between two
// subnormal numbers: there the low part decides.
static val ldexp_of_pair(const kit *k, scaled s) {
  val near = indim_emit_real_ldexp(k, s.modulus.high, s.exponent);
  val up = negated_int(k, s.exponent);
  val rest = sub(k, s.modulus.high, indim_emit_real_ldexp(k, near, up));
  val ulp = indim_emit_real_ldexp(k, real(k, DBL_TRUE_MIN), up);
  val is_tie = compare(k, LLVMRealOEQ, add(k, absolute(k, rest), absolute(k, rest)), ulp);
  val rounds_away = both(k, is_tie, above(k, mul(k, rest, s.modulus.low), 0));
  return choose(k, rounds_away, add(k, near, with_sign(k, real(k, DBL_TRUE_MIN), rest)), near);
}

// A number as mantissa * 2^exponent with 1 <= |mantissa| < 2; zero has a zero mantissa and a very small exponent.
typedef struct decomposed {
  val mantissa;
  val exponent;
} decomposed;

static decomposed decompose(const kit *k, val x) {
  val is_small = below(k, absolute(k, x), DBL_MIN);
  val normal = choose(k, is_small, mul(k, x, real(k, 0x1p54)), x);
  val bits = as_bits(k, normal);
  val field = shift_right(k, iand(k, bits, whole(k, INT64_MAX)), 52);
  val exponent = isub(k, field, choose(k, is_small, whole(k, 1023 + 54), whole(k, 1023)));
  val mantissa = iand(k, bits, whole(k, (int64_t) ~(UINT64_C(0x7FF) << 52)));
  mantissa = as_real(k, ior(k, mantissa, whole(k, INT64_C(1023) << 52)));
  val none = is_zero(k, x);
  return (decomposed){choose(k, none, x, mantissa), choose(k, none, whole(k, -10000), exponent)};
}

// The sum of two pairs, whose high part is the correctly rounded sum, however near to a tie.
static pair sum_to_round(const kit *k, pair p, pair q) {
  pair high = two_sum(k, p.high, q.high);
  pair low = two_sum(k, p.low, q.low);
  pair sum = two_sum(k, high.high, low.high);
  pair middle = two_sum(k, sum.low, high.low);
  sum = two_sum(k, sum.high, middle.high);
  val rest = add(k, middle.low, low.low);
  val last = add(k, sum.low, rest);
  // A remainder too small to change |last| still moves it by a bit (sticky).
  val outwards = compare_bits(k, LLVMIntSGE, ixor(k, as_bits(k, sum.low), as_bits(k, rest)), whole(k, 0));
  val moved = iadd(k, as_bits(k, last), choose(k, outwards, whole(k, 1), whole(k, -1)));
  val is_lost = both(k, compare(k, LLVMRealOEQ, last, sum.low), negated(k, is_zero(k, rest)));
  pair result = quick_two_sum(k, sum.high, choose(k, is_lost, as_real(k, moved), last));
  val is_plain = both(k, is_zero(k, result.high), is_zero(k, high.high));
  return (pair){choose(k, is_plain, high.high, result.high), choose(k, is_plain, high.high, result.low)};
}

// a b + c d as pair * 2^exponent, for any exponents; the high part of the pair is the correctly rounded sum.
static scaled dot_decomposed(const kit *k, decomposed a, decomposed b, decomposed c, decomposed d) {
  val first = iadd(k, a.exponent, b.exponent);
  val second = iadd(k, c.exponent, d.exponent);
  val most = indim_emit_binary_intrinsic(k->e, "llvm.smax", first, second);
  val least = whole(k, -500);  // so far below the other term that its exact size does not matter
  first = indim_emit_binary_intrinsic(k->e, "llvm.smax", isub(k, first, most), least);
  second = indim_emit_binary_intrinsic(k->e, "llvm.smax", isub(k, second, most), least);
  pair p = times_real(k, indim_emit_math_two_product(k, a.mantissa, b.mantissa), power_of_two(k, first));
  pair q = times_real(k, indim_emit_math_two_product(k, c.mantissa, d.mantissa), power_of_two(k, second));
  return (scaled){sum_to_round(k, p, q), most};
}

val indim_emit_real_dot_sign(const kit *k, val a, val b, val c, val d) {
  return dot_decomposed(k, decompose(k, a), decompose(k, b), decompose(k, c), decompose(k, d)).modulus.high;
}

val indim_emit_real_dot(const kit *k, val a, val b, val c, val d) {
  return ldexp_of_pair(k, dot_decomposed(k, decompose(k, a), decompose(k, b), decompose(k, c), decompose(k, d)));
}

// Moduli --------------------------------------------------------------------------------------------------------------

scaled indim_emit_real_hypot(const kit *k, val x, val y) {
  val exponent = indim_emit_real_exponent(k, larger(k, absolute(k, x), absolute(k, y)));
  val down = power_of_two(k, negated_int(k, exponent));
  val a = mul(k, x, down);
  val b = mul(k, y, down);
  return (scaled){root_of(k, indim_emit_pair_dot(k, a, a, b, b)), exponent};
}

// Infinite even if the other part is NaN.
static complex_val any_modulus(const complex_kit *s, const complex_val *args) {
  const kit *k = &s->k;
  complex_val z = args[0];
  val modulus;
  if (s->is_wide) {
    modulus = root(k, add(k, mul(k, z.re, z.re), mul(k, z.im, z.im)));
  } else {
    scaled h = indim_emit_real_hypot(k, z.re, z.im);
    modulus = mul(k, indim_emit_pair_value(k, h.modulus), power_of_two(k, h.exponent));
  }
  modulus = choose(k, compare(k, LLVMRealUNO, z.re, z.im), nan_of(k), modulus);
  modulus = choose(k, any_infinite(k, z), infinity_of(k), modulus);
  return (complex_val){modulus, modulus};
}

static val square_of(const kit *k, complex_val z) { return fused(k, z.re, z.re, mul(k, z.im, z.im)); }

// Whether a square has lost no digits, and is in range.
static val is_usual_square(const kit *k, val square) {
  return both(k, above(k, square, pick(k, 0x1p-90, 0x1p-900)), below(k, square, HUGE_VAL));
}

// Of floats or doubles. Squares that lose digits or leave the range are rare. Where many do, as in an iteration that
// diverges, most lanes are infinite, NaN or 0, and need no more digits.
static val modulus_of(indim_emit *e, complex_val z) {
  kit k = kit_of(e, z.re);
  val square = square_of(&k, z);
  val usual = root(&k, square);
  val is_usual = is_usual_square(&k, square);
  rare block = indim_emit_rare_begin(&k, negated(&k, is_usual));
  val is_limit = any_infinite(&k, z);
  val plain = choose(&k, is_limit, infinity_of(&k), usual);
  val is_origin = both(&k, is_zero(&k, z.re), is_zero(&k, z.im));
  val is_known = either(&k, either(&k, is_usual, is_limit), either(&k, is_origin, is_nan(&k, square)));
  rare inexact = indim_emit_rare_begin(&k, negated(&k, is_known));
  complex_kit s = {k, false};
  complex_val wide = z;
  if (!k.is_double) {
    wide = (complex_val){to_double(&k, z.re), to_double(&k, z.im)};
    s = (complex_kit){kit_of(e, wide.re), true};
  }
  val modulus = indim_emit_complex_out_of_line(&s, k.is_double ? "abs" : "abs_c64", any_modulus, &wide, 1).re;
  modulus = choose(&k, is_known, plain, k.is_double ? modulus : from_double(&k, modulus));
  plain = indim_emit_rare_end(&k, inexact, (complex_val){plain, plain}, (complex_val){modulus, modulus}).re;
  return indim_emit_rare_end(&k, block, (complex_val){usual, usual}, (complex_val){plain, plain}).re;
}

static val corrected_quotient(const kit *k, val x, pair below_it) {
  val first = quotient(k, x, below_it.high);
  pair back = indim_emit_math_two_product(k, first, below_it.high);
  val rest = sub(k, sub(k, sub(k, x, back.high), back.low), mul(k, first, below_it.low));
  val step = quotient(k, rest, below_it.high);
  val is_exact = both(k, is_finite(k, step), above(k, absolute(k, x), 0x1p-900));  // the product did not underflow
  return choose(k, is_exact, with_sign(k, add(k, first, step), first), first);
}

complex_val indim_emit_complex_sign(const complex_kit *s, complex_val z) {
  const kit *k = &s->k;
  val re, im;
  if (s->is_wide) {  // of floats: squares are exact
    val usual = root(k, add(k, mul(k, z.re, z.re), mul(k, z.im, z.im)));
    re = quotient(k, z.re, usual);
    im = quotient(k, z.im, usual);
  } else {
    scaled h = indim_emit_real_hypot(k, z.re, z.im);
    val down = power_of_two(k, negated_int(k, h.exponent));
    re = corrected_quotient(k, mul(k, z.re, down), h.modulus);
    im = corrected_quotient(k, mul(k, z.im, down), h.modulus);
  }
  re = choose(k, is_zero(k, z.re), z.re, re);
  im = choose(k, is_zero(k, z.im), z.im, im);
  val modulus = choose(k, any_infinite(k, z), infinity_of(k), nan_of(k));
  val is_regular = both_finite(k, z);
  re = choose(k, is_regular, re, quotient(k, z.re, modulus));
  im = choose(k, is_regular, im, quotient(k, z.im, modulus));
  val is_origin = both(k, is_zero(k, z.re), is_zero(k, z.im));
  return (complex_val){choose(k, is_origin, real(k, 0), re), choose(k, is_origin, real(k, 0), im)};
}

static complex_val unusual_sign(const complex_kit *s, const complex_val *args) {
  const kit *k = &s->k;
  complex_val wide = {to_double(k, args[0].re), to_double(k, args[0].im)};
  complex_kit in_doubles = {kit_of(k->e, wide.re), true};
  complex_val sign = indim_emit_complex_sign(&in_doubles, wide);
  return (complex_val){from_double(k, sign.re), from_double(k, sign.im)};
}

// Of floats: five roundings where the square is usual, which are less than 3 units.
static complex_val sign_of_floats(indim_emit *e, complex_val z) {
  complex_kit s = {kit_of(e, z.re), false};
  val square = square_of(&s.k, z);
  val modulus = root(&s.k, square);
  complex_val usual = {quotient(&s.k, z.re, modulus), quotient(&s.k, z.im, modulus)};
  rare block = indim_emit_rare_begin(&s.k, negated(&s.k, is_usual_square(&s.k, square)));
  complex_val computed = indim_emit_complex_out_of_line(&s, "unusual_sign", unusual_sign, &z, 1);
  return indim_emit_rare_end(&s.k, block, usual, computed);
}

// Products ------------------------------------------------------------------------------------------------------------

complex_val indim_emit_complex_multiply(const kit *k, complex_val z, complex_val w) {
  indim_emit *e = k->e;
  val ac = indim_emit_relaxed(e, mul(k, z.re, w.re));
  val bd = indim_emit_relaxed(e, mul(k, z.im, w.im));
  val ad = indim_emit_relaxed(e, mul(k, z.re, w.im));
  val bc = indim_emit_relaxed(e, mul(k, z.im, w.re));
  return (complex_val){indim_emit_relaxed(e, sub(k, ac, bd)), indim_emit_relaxed(e, add(k, ad, bc))};
}

// Roots ---------------------------------------------------------------------------------------------------------------

// sqrt((|x| + |z|) / 2) scaled by 2^(-n), and n.
static scaled half_sum_root(const kit *k, complex_val z, pair *out_modulus) {
  val exponent = indim_emit_real_exponent(k, larger(k, absolute(k, z.re), absolute(k, z.im)));
  val half = shift_signed(k, exponent, 1);
  val down = power_of_two(k, negated_int(k, shift_left(k, half, 1)));
  val x = mul(k, absolute(k, z.re), down);
  val y = mul(k, z.im, down);
  *out_modulus = root_of(k, indim_emit_pair_dot(k, x, x, y, y));
  pair sum = indim_emit_pair_add(k, *out_modulus, (pair){x, real(k, 0)});
  return (scaled){root_of(k, times_real(k, sum, real(k, 0.5))), half};
}

static complex_val special_sqrt(const kit *k, complex_val z) {
  val plus_infinity = equals(k, z.re, HUGE_VAL);
  val minus_infinity = equals(k, z.re, -HUGE_VAL);
  val im_nan = is_nan(k, z.im);
  val zero = real(k, 0);
  complex_val right = {infinity_of(k), choose(k, im_nan, nan_of(k), with_sign(k, zero, z.im))};
  complex_val left = {choose(k, im_nan, nan_of(k), zero), with_sign(k, infinity_of(k), z.im)};
  complex_val result = choose_complex(k, minus_infinity, left, (complex_val){nan_of(k), nan_of(k)});
  result = choose_complex(k, plus_infinity, right, result);
  return choose_complex(k, is_infinite(k, z.im), (complex_val){infinity_of(k), z.im}, result);
}

complex_val indim_emit_complex_sqrt(const complex_kit *s, complex_val z) {
  const kit *k = &s->k;
  pair modulus;
  scaled r = half_sum_root(k, z, &modulus);
  pair large = times_real(k, r.modulus, power_of_two(k, r.exponent));
  val big = indim_emit_pair_value(k, large);
  val small = corrected_quotient(k, absolute(k, z.im), times_real(k, large, real(k, 2)));
  // The root of a real number is rounded once.
  val of_real = root(k, absolute(k, z.re));
  val is_real = is_zero(k, z.im);
  big = choose(k, is_real, of_real, big);
  small = choose(k, is_real, absolute(k, z.im), small);
  val is_right = compare(k, LLVMRealOGE, z.re, real(k, 0));
  complex_val usual = {choose(k, is_right, big, small), with_sign(k, choose(k, is_right, small, big), z.im)};
  return choose_complex(k, both_finite(k, z), usual, special_sqrt(k, z));
}

// conj(sqrt(z)) / |z|, scaled so that nothing overflows.
complex_val indim_emit_complex_rsqrt(const complex_kit *s, complex_val z) {
  const kit *k = &s->k;
  pair modulus;
  scaled r = half_sum_root(k, z, &modulus);
  val down = power_of_two(k, negated_int(k, shift_left(k, r.exponent, 1)));
  pair below_small = indim_emit_math_two_product(k, r.modulus.high, modulus.high);
  val rest = add(k, mul(k, r.modulus.high, modulus.low), mul(k, r.modulus.low, modulus.high));
  below_small = quick_two_sum(k, below_small.high, add(k, below_small.low, rest));
  val big = indim_emit_pair_value(k, indim_emit_math_quotient(k, r.modulus, modulus));
  val up = power_of_two(k, negated_int(k, r.exponent));
  big = mul(k, big, up);
  val top = mul(k, mul(k, absolute(k, z.im), down), up);  // before the quotient, where it is exact for small ones
  val small = corrected_quotient(k, top, times_real(k, below_small, real(k, 2)));
  val is_right = compare(k, LLVMRealOGE, z.re, real(k, 0));
  complex_val usual = {choose(k, is_right, big, small), choose(k, is_right, small, big)};
  usual.im = with_sign(k, usual.im, minus(k, z.im));
  complex_val infinite = {real(k, 0), with_sign(k, real(k, 0), minus(k, z.im))};
  complex_val special = choose_complex(k, any_infinite(k, z), infinite, (complex_val){nan_of(k), nan_of(k)});
  complex_val result = choose_complex(k, both_finite(k, z), usual, special);
  val is_origin = both(k, is_zero(k, z.re), is_zero(k, z.im));
  return choose_complex(k, is_origin, (complex_val){infinity_of(k), nan_of(k)}, result);
}

// Dispatch ------------------------------------------------------------------------------------------------------------

// Each part separately.
static indim_reg by_parts(const indim_apply *a) {
  indim_emit *e = a->e;
  indim_reg out = {{NULL, NULL}};
  for (int i = 0; i < 2; i++) {
    LLVMValueRef x = a->args[0].part[i];
    LLVMValueRef y = a->count > 1 ? a->args[1].part[i] : NULL;
    out.part[i] = a->op->op == INDIM_OP_ADD        ? indim_emit_relaxed(e, LLVMBuildFAdd(e->builder, x, y, ""))
                  : a->op->op == INDIM_OP_SUBTRACT ? indim_emit_relaxed(e, LLVMBuildFSub(e->builder, x, y, ""))
                                                   : LLVMBuildFNeg(e->builder, x, "");
  }
  return out;
}

// Only EQ and NE are defined.
static LLVMValueRef compare_parts(const indim_apply *a) {
  LLVMBuilderRef b = a->e->builder;
  bool differ = a->op->direction == INDIM_COMPARE_NE;
  LLVMRealPredicate predicate = differ ? LLVMRealUNE : LLVMRealOEQ;
  LLVMValueRef re = LLVMBuildFCmp(b, predicate, a->args[0].part[0], a->args[1].part[0], "");
  LLVMValueRef im = LLVMBuildFCmp(b, predicate, a->args[0].part[1], a->args[1].part[1], "");
  return differ ? LLVMBuildOr(b, re, im, "") : LLVMBuildAnd(b, re, im, "");
}

static complex_val complex_of(indim_emit *e, indim_reg x) {
  if (indim_emit_is_double(x.part[0])) {
    return (complex_val){x.part[0], x.part[1]};
  }
  LLVMTypeRef type = indim_emit_doubles(e, x.part[0]);
  LLVMValueRef re = LLVMBuildFPExt(e->builder, x.part[0], type, "");
  return (complex_val){re, LLVMBuildFPExt(e->builder, x.part[1], type, "")};
}

static LLVMValueRef part_of(const indim_apply *a, val x) {
  indim_type part = indim_type_is_complex(a->type) ? indim_type_component_of(a->type) : a->type;
  return indim_emit_round(a->e, part, x);
}

static indim_reg product_of(const indim_apply *a) {
  kit k = kit_of(a->e, a->args[0].part[0]);
  complex_val z = {a->args[0].part[0], a->args[0].part[1]};
  complex_val w = {a->args[1].part[0], a->args[1].part[1]};
  complex_val product = indim_emit_complex_multiply(&k, z, w);
  return (indim_reg){{product.re, product.im}};
}

static bool in_doubles(const indim_apply *a, indim_reg *out) {
  complex_val z = complex_of(a->e, a->args[0]);
  complex_val w = a->count > 1 ? complex_of(a->e, a->args[1]) : z;
  complex_kit s = {kit_of(a->e, z.re), a->types[0] == INDIM_C64};
  complex_val result = {NULL, NULL};
  switch ((int)a->op->op) {
  case INDIM_OP_SIGN:
    result = indim_emit_complex_sign(&s, z);
    break;
  case INDIM_OP_DIVIDE:
    result = indim_emit_complex_divide(&s, z, w);
    break;
  case INDIM_OP_SQRT:
    result = indim_emit_complex_sqrt(&s, z);
    break;
  case INDIM_OP_RSQRT:
    result = indim_emit_complex_rsqrt(&s, z);
    break;
  case INDIM_OP_POWER:
    result = indim_emit_complex_power(&s, z, w);
    break;
  case INDIM_OP_ATAN2:
    result = indim_emit_complex_atan2(&s, z, w);
    break;
  default:
    if (!indim_emit_complex_function(&s, a->op->op, z, &result)) {
      return false;
    }
  }
  out->part[0] = part_of(a, result.re);
  out->part[1] = part_of(a, result.im);
  return true;
}

bool indim_emit_complex_op(const indim_apply *a, indim_reg *out) {
  switch ((int)a->op->op) {
  case INDIM_OP_ADD:
  case INDIM_OP_SUBTRACT:
  case INDIM_OP_NEGATE:
    *out = by_parts(a);
    return true;
  case INDIM_OP_MULTIPLY:
    *out = product_of(a);
    return true;
  case INDIM_OP_ABS:
    out->part[0] = modulus_of(a->e, (complex_val){a->args[0].part[0], a->args[0].part[1]});
    return true;
  case INDIM_OP_SIGN: {
    if (a->type != INDIM_C64) {
      return in_doubles(a, out);
    }
    complex_val sign = sign_of_floats(a->e, (complex_val){a->args[0].part[0], a->args[0].part[1]});
    *out = (indim_reg){{sign.re, sign.im}};
    return true;
  }
  case INDIM_OP_REAL:
    out->part[0] = a->args[0].part[0];
    return true;
  case INDIM_OP_IMAG:
    out->part[0] = a->args[0].part[1];
    return true;
  case INDIM_OP_COMPARE:
    if (a->op->direction != INDIM_COMPARE_EQ && a->op->direction != INDIM_COMPARE_NE) {
      return false;
    }
    out->part[0] = compare_parts(a);
    return true;
  default:
    return in_doubles(a, out);
  }
}
