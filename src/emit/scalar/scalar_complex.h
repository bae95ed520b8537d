// Shared by scalar_complex.c (arithmetic), scalar_complex_divide.c and scalar_complex_fn.c (functions). Complex values here are two doubles a
// lane, for any element type: c64 is widened and rounded once at the end, except for products. |is_wide| says that the parts were
// floats, whose products are exact and whose squares stay in range.
#ifndef INDIM_EMIT_SCALAR_COMPLEX_H
#define INDIM_EMIT_SCALAR_COMPLEX_H

#include "emit/math/math_kit.h"
#include "emit/scalar/scalar.h"

typedef struct complex_val {
  val re;
  val im;
} complex_val;

typedef struct complex_kit {
  kit k;
  bool is_wide;
} complex_kit;

static inline val nan_of(const kit *k) { return real(k, (double)NAN); }
static inline val infinity_of(const kit *k) { return real(k, HUGE_VAL); }
static inline val is_infinite(const kit *k, val x) { return equals(k, absolute(k, x), HUGE_VAL); }
static inline val is_finite(const kit *k, val x) { return below(k, absolute(k, x), HUGE_VAL); }
static inline val is_zero(const kit *k, val x) { return equals(k, x, 0); }
static inline val both_finite(const kit *k, complex_val z) { return both(k, is_finite(k, z.re), is_finite(k, z.im)); }
static inline val any_infinite(const kit *k, complex_val z) {
  return either(k, is_infinite(k, z.re), is_infinite(k, z.im));
}
static inline val larger(const kit *k, val x, val y) { return choose(k, compare(k, LLVMRealOGT, x, y), x, y); }
static inline val smaller(const kit *k, val x, val y) { return choose(k, compare(k, LLVMRealOLT, x, y), x, y); }
static inline complex_val choose_complex(const kit *k, val which, complex_val yes, complex_val no) {
  return (complex_val){choose(k, which, yes.re, no.re), choose(k, which, yes.im, no.im)};
}
static inline complex_val times_i(const kit *k, complex_val z) { return (complex_val){minus(k, z.im), z.re}; }
static inline complex_val times_minus_i(const kit *k, complex_val z) { return (complex_val){z.im, minus(k, z.re)}; }
static inline val math(const kit *k, indim_op op, val x) { return indim_emit_math(k->e, op, x); }
static inline val atan_of(const kit *k, val y, val x) { return indim_emit_math2(k->e, INDIM_OP_ATAN2, y, x); }

// 2^n for integers n from -1022 to 1023.
static inline val power_of_two(const kit *k, val n) {
  return as_real(k, shift_left(k, iadd(k, n, whole(k, 1023)), 52));
}

static inline val negated_int(const kit *k, val n) { return isub(k, whole(k, 0), n); }

// A block that few lanes need: branched to when one of them does.
typedef struct rare {
  LLVMBasicBlockRef before;
  LLVMBasicBlockRef after;
} rare;
rare indim_emit_rare_begin(const kit *k, val lanes);
// Phis after the block: |usual| if it did not run, else |computed|.
complex_val indim_emit_rare_end(const kit *k, rare block, complex_val usual, complex_val computed);

// A call of an outlined function "indim.complex.|name|" of one or two numbers, which |build| makes.
complex_val indim_emit_complex_out_of_line(const complex_kit *s, const char *name,
                                           complex_val (*build)(const complex_kit *s, const complex_val *args),
                                           const complex_val *args, unsigned count);

// Double-double arithmetic (scalar_complex_pair.c). A sum is accurate even if the high parts cancel; a zero has the
// sign of the plain sum.
val indim_emit_pair_value(const kit *k, pair p);
pair indim_emit_pair_constant(const kit *k, double high, double low);
pair indim_emit_pair_add(const kit *k, pair p, pair q);
pair indim_emit_pair_negate(const kit *k, pair p);
pair indim_emit_pair_multiply(const kit *k, pair p, pair q);
pair indim_emit_pair_scale(const kit *k, pair p, val factor);
void indim_emit_pair_sincos(const kit *k, pair x, pair *out_sin, pair *out_cos);
// exp(x) - 1 for |x| < 700.
pair indim_emit_pair_expm1(const kit *k, val x);
// log |x + i y| for finite numbers that are not both 0.
pair indim_emit_pair_log_hypot(const kit *k, val x, val y);
// atan(small / big) for 0 <= small <= big, big > 0, both finite.
pair indim_emit_pair_atan_ratio(const kit *k, val small, val big);

// The exponent of |x|, clamped to those from the least normal number to the largest but one.
val indim_emit_real_exponent(const kit *k, val x);
// x * 2^n with one rounding, for any integer n.
val indim_emit_real_ldexp(const kit *k, val x, val n);

// a b + c d in double-double, accurate under any cancellation; a zero has the sign of plain arithmetic.
pair indim_emit_pair_dot(const kit *k, val a, val b, val c, val d);
// The same rounded, also where a product is out of range.
val indim_emit_real_dot(const kit *k, val a, val b, val c, val d);
// A number of moderate size with the sign of a b + c d, 0 only where that is 0.
val indim_emit_real_dot_sign(const kit *k, val a, val b, val c, val d);
// The sum of |count| numbers as if exact. Overwrites |terms|.
pair indim_emit_pair_sum(const kit *k, val *terms, int count);
// |x + i y| as modulus * scale, scale a power of two; x and y finite.
typedef struct scaled {
  pair modulus;
  val exponent;  // of the scale, an integer
} scaled;
scaled indim_emit_real_hypot(const kit *k, val x, val y);

complex_val indim_emit_complex_sign(const complex_kit *s, complex_val z);
complex_val indim_emit_complex_multiply(const kit *k, complex_val z, complex_val w);
complex_val indim_emit_complex_divide(const complex_kit *s, complex_val z, complex_val w);
complex_val indim_emit_complex_sqrt(const complex_kit *s, complex_val z);
complex_val indim_emit_complex_rsqrt(const complex_kit *s, complex_val z);
// f * exp(x) and g * exp(x), times |factor|, a power of two, for |f|, |g| <= 1: infinite or zero only if the product
// is.
complex_val indim_emit_complex_times_exp(const complex_kit *s, complex_val factors, val x, double factor);
// False if |op| is no function of one complex number.
bool indim_emit_complex_function(const complex_kit *s, indim_op op, complex_val z, complex_val *out);
complex_val indim_emit_complex_power(const complex_kit *s, complex_val base, complex_val exponent);
complex_val indim_emit_complex_atan2(const complex_kit *s, complex_val y, complex_val x);

#endif  // INDIM_EMIT_SCALAR_COMPLEX_H
