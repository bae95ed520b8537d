// Complex numbers: arithmetic, moduli and roots. Each part is accurate to about an ulp by itself, also under
// cancellation: products are exact and added in pairs, divisions and roots corrected by their residuals. Exponents that
// would overflow in intermediate results are split off. Infinities and NaN are those of eval/complex_math.h, mostly in
// blocks of their own that are branched to when a lane needs them.
#include "emit/scalar/scalar_complex.h"

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

static val negated_int(const kit *k, val n) { return isub(k, whole(k, 0), n); }

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
val indim_emit_complex_abs(const complex_kit *s, complex_val z) {
  const kit *k = &s->k;
  val modulus;
  if (s->is_wide) {
    modulus = root(k, add(k, mul(k, z.re, z.re), mul(k, z.im, z.im)));
  } else {
    scaled h = indim_emit_real_hypot(k, z.re, z.im);
    modulus = mul(k, indim_emit_pair_value(k, h.modulus), power_of_two(k, h.exponent));
  }
  modulus = choose(k, compare(k, LLVMRealUNO, z.re, z.im), nan_of(k), modulus);
  return choose(k, any_infinite(k, z), infinity_of(k), modulus);
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
  scaled h = indim_emit_real_hypot(k, z.re, z.im);
  val down = power_of_two(k, negated_int(k, h.exponent));
  val re = corrected_quotient(k, mul(k, z.re, down), h.modulus);
  val im = corrected_quotient(k, mul(k, z.im, down), h.modulus);
  re = choose(k, is_zero(k, z.re), z.re, re);
  im = choose(k, is_zero(k, z.im), z.im, im);
  val modulus = choose(k, any_infinite(k, z), infinity_of(k), nan_of(k));
  val is_regular = both_finite(k, z);
  re = choose(k, is_regular, re, quotient(k, z.re, modulus));
  im = choose(k, is_regular, im, quotient(k, z.im, modulus));
  val is_origin = both(k, is_zero(k, z.re), is_zero(k, z.im));
  return (complex_val){choose(k, is_origin, real(k, 0), re), choose(k, is_origin, real(k, 0), im)};
}

// Products ------------------------------------------------------------------------------------------------------------

static complex_val plain_product(const kit *k, complex_val z, complex_val w) {
  return (complex_val){sub(k, mul(k, z.re, w.re), mul(k, z.im, w.im)), add(k, mul(k, z.re, w.im), mul(k, z.im, w.re))};
}

// 1 for an infinity, 0 for anything else, with its sign.
static val direction_of(const kit *k, val x) {
  return with_sign(k, choose(k, is_infinite(k, x), real(k, 1), real(k, 0)), x);
}
static complex_val directions_of(const kit *k, complex_val z) {
  return (complex_val){direction_of(k, z.re), direction_of(k, z.im)};
}

static val zero_if_nan(const kit *k, val x) { return choose(k, is_nan(k, x), with_sign(k, real(k, 0), x), x); }
static complex_val without_nan(const kit *k, complex_val z) {
  return (complex_val){zero_if_nan(k, z.re), zero_if_nan(k, z.im)};
}

static val both_nan(const kit *k, complex_val z) { return both(k, is_nan(k, z.re), is_nan(k, z.im)); }

static complex_val times(const kit *k, complex_val z, val factor) {
  return (complex_val){mul(k, z.re, factor), mul(k, z.im, factor)};
}

static complex_val exact_product(const kit *k, complex_val z, complex_val w) {
  return (complex_val){indim_emit_real_dot(k, z.re, w.re, minus(k, z.im), w.im),
                       indim_emit_real_dot(k, z.re, w.im, z.im, w.re)};
}

// a b + c d, and where that may be wrong: outside the range in which the products are exact (except for a zero factor),
// or so near to a tie that the truncation error of the pair sum could decide.
static val usual_part(const kit *k, val a, val b, val c, val d, val *out_is_rare) {
  pair sum = indim_emit_pair_dot(k, a, b, c, d);
  val part = indim_emit_pair_value(k, sum);
  val size = absolute(k, part);
  val has_terms = either(k, both(k, negated(k, is_zero(k, a)), negated(k, is_zero(k, b))),
                         both(k, negated(k, is_zero(k, c)), negated(k, is_zero(k, d))));
  val is_extreme = either(k, negated(k, below(k, size, HUGE_VAL)), both(k, below(k, size, 0x1p-960), has_terms));
  val is_tie = compare(k, LLVMRealUNE, fused(k, sum.low, real(k, 1 + 0x1p-40), sum.high), sum.high);
  *out_is_rare = either(k, is_extreme, is_tie);
  return part;
}

static complex_val usual_product(const kit *k, complex_val z, complex_val w, val *out_is_rare) {
  val rare_re;
  val rare_im;
  val re = usual_part(k, z.re, w.re, minus(k, z.im), w.im, &rare_re);
  val im = usual_part(k, z.re, w.im, z.im, w.re, &rare_im);
  *out_is_rare = either(k, rare_re, rare_im);
  return (complex_val){re, im};
}

// Recomputes lanes where the usual product may be wrong.
static complex_val special_product(const complex_kit *s, complex_val z, complex_val w, complex_val usual) {
  const kit *k = &s->k;
  // Finite operands: terms that overflowed though their difference may not, or lost digits by underflow.
  val is_regular = both(k, both_finite(k, z), both_finite(k, w));
  complex_val again = s->is_wide ? usual : exact_product(k, z, w);
  complex_val product = plain_product(k, z, w);
  val overflow = either(k, is_infinite(k, mul(k, z.re, w.re)), is_infinite(k, mul(k, z.im, w.im)));
  overflow = either(k, overflow, is_infinite(k, mul(k, z.re, w.im)));
  overflow = either(k, overflow, is_infinite(k, mul(k, z.im, w.re)));
  val recovers = either(k, overflow, either(k, any_infinite(k, z), any_infinite(k, w)));
  recovers = both(k, recovers, both_nan(k, product));
  complex_val from = choose_complex(k, any_infinite(k, z), directions_of(k, z), without_nan(k, z));
  complex_val to = choose_complex(k, any_infinite(k, w), directions_of(k, w), without_nan(k, w));
  complex_val recovered = times(k, plain_product(k, from, to), infinity_of(k));
  product = choose_complex(k, recovers, recovered, product);
  return choose_complex(k, is_regular, again, product);
}

complex_val indim_emit_complex_multiply(const complex_kit *s, complex_val z, complex_val w) {
  const kit *k = &s->k;
  val is_rare = NULL;
  complex_val usual = s->is_wide ? plain_product(k, z, w) : usual_product(k, z, w, &is_rare);
  is_rare = s->is_wide ? both_nan(k, usual) : is_rare;
  rare block = indim_emit_rare_begin(k, is_rare);
  complex_val computed = choose_complex(k, is_rare, special_product(s, z, w, usual), usual);
  return indim_emit_rare_end(k, block, usual, computed);
}

// Quotients -----------------------------------------------------------------------------------------------------------

// Smith's formula, then the infinities and zeros that it loses.
static complex_val special_quotient(const kit *k, complex_val z, complex_val w) {
  val is_steep = compare(k, LLVMRealOLT, absolute(k, w.re), absolute(k, w.im));
  val large = choose(k, is_steep, w.im, w.re);
  val small = choose(k, is_steep, w.re, w.im);
  val ratio = quotient(k, small, large);
  val below_it = choose(k, is_steep, add(k, mul(k, w.re, ratio), w.im), add(k, w.re, mul(k, w.im, ratio)));
  val re = choose(k, is_steep, add(k, mul(k, z.re, ratio), z.im), add(k, z.re, mul(k, z.im, ratio)));
  val im = choose(k, is_steep, sub(k, mul(k, z.im, ratio), z.re), sub(k, z.im, mul(k, z.re, ratio)));
  complex_val result = {quotient(k, re, below_it), quotient(k, im, below_it)};

  val by_zero = both(k, both(k, is_zero(k, w.re), is_zero(k, w.im)), negated(k, both_nan(k, z)));
  complex_val over_zero = times(k, z, with_sign(k, infinity_of(k), w.re));
  val infinite_above = both(k, any_infinite(k, z), both_finite(k, w));
  val infinite_below = both(k, any_infinite(k, w), both_finite(k, z));
  val factor = choose(k, infinite_above, infinity_of(k), real(k, 0));
  complex_val above_it = choose_complex(k, infinite_above, directions_of(k, z), z);
  complex_val under = choose_complex(k, infinite_above, w, directions_of(k, w));
  val dot = add(k, mul(k, above_it.re, under.re), mul(k, above_it.im, under.im));
  val cross = sub(k, mul(k, above_it.im, under.re), mul(k, above_it.re, under.im));
  complex_val directed = {mul(k, factor, dot), mul(k, factor, cross)};
  complex_val recovered = choose_complex(k, either(k, infinite_above, infinite_below), directed, result);
  recovered = choose_complex(k, by_zero, over_zero, recovered);
  return choose_complex(k, both_nan(k, result), recovered, result);
}

static val scaled_quotient(const kit *k, scaled top, scaled bottom) {
  val ratio = indim_emit_pair_value(k, indim_emit_math_quotient(k, top.modulus, bottom.modulus));
  ratio = choose(k, is_zero(k, top.modulus.high), top.modulus.high, ratio);
  return indim_emit_real_ldexp(k, ratio, isub(k, top.exponent, bottom.exponent));
}

complex_val indim_emit_complex_divide(const complex_kit *s, complex_val z, complex_val w) {
  const kit *k = &s->k;
  complex_val usual;
  if (s->is_wide) {
    val norm = add(k, mul(k, w.re, w.re), mul(k, w.im, w.im));
    val dot = add(k, mul(k, z.re, w.re), mul(k, z.im, w.im));
    val cross = sub(k, mul(k, z.im, w.re), mul(k, z.re, w.im));
    usual = (complex_val){quotient(k, dot, norm), quotient(k, cross, norm)};
  } else {
    decomposed a = decompose(k, z.re);
    decomposed b = decompose(k, z.im);
    decomposed c = decompose(k, w.re);
    decomposed d = decompose(k, w.im);
    decomposed negative = {minus(k, a.mantissa), a.exponent};
    scaled norm = dot_decomposed(k, c, c, d, d);
    usual = (complex_val){scaled_quotient(k, dot_decomposed(k, a, c, b, d), norm),
                          scaled_quotient(k, dot_decomposed(k, b, c, negative, d), norm)};
  }
  val is_regular = both(k, both_finite(k, z), both_finite(k, w));
  is_regular = both(k, is_regular, negated(k, both(k, is_zero(k, w.re), is_zero(k, w.im))));
  rare block = indim_emit_rare_begin(k, negated(k, is_regular));
  complex_val computed = choose_complex(k, is_regular, usual, special_quotient(k, z, w));
  return indim_emit_rare_end(k, block, usual, computed);
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

static bool in_doubles(const indim_apply *a, indim_reg *out) {
  complex_val z = complex_of(a->e, a->args[0]);
  complex_val w = a->count > 1 ? complex_of(a->e, a->args[1]) : z;
  complex_kit s = {kit_of(a->e, z.re), a->types[0] == INDIM_C64};
  complex_val result = {NULL, NULL};
  switch ((int)a->op->op) {
  case INDIM_OP_ABS:
    out->part[0] = part_of(a, indim_emit_complex_abs(&s, z));
    return true;
  case INDIM_OP_SIGN:
    result = indim_emit_complex_sign(&s, z);
    break;
  case INDIM_OP_MULTIPLY:
    result = indim_emit_complex_multiply(&s, z, w);
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
