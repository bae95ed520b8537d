// Quotients of complex numbers: Smith's formula for c128, whose result where it leaves the range of doubles is computed
// again from scaled numbers, out of line; the textbook one in doubles for c64.
#include "emit/scalar/scalar_complex.h"

// 1 for an infinity, 0 for anything else, with its sign.
static val direction_of(const kit *k, val x) {
  return with_sign(k, choose(k, is_infinite(k, x), real(k, 1), real(k, 0)), x);
}
static complex_val directions_of(const kit *k, complex_val z) {
  return (complex_val){direction_of(k, z.re), direction_of(k, z.im)};
}

static val both_nan(const kit *k, complex_val z) { return both(k, is_nan(k, z.re), is_nan(k, z.im)); }

static complex_val times(const kit *k, complex_val z, val factor) {
  return (complex_val){mul(k, z.re, factor), mul(k, z.im, factor)};
}

// Smith's formula; |*out_below| is what both parts are divided by.
static complex_val smith_quotient(const kit *k, complex_val z, complex_val w, val *out_below) {
  val is_steep = compare(k, LLVMRealOLT, absolute(k, w.re), absolute(k, w.im));
  val large = choose(k, is_steep, w.im, w.re);
  val small = choose(k, is_steep, w.re, w.im);
  val first = choose(k, is_steep, z.im, z.re);
  val second = choose(k, is_steep, z.re, z.im);
  val ratio = quotient(k, small, large);
  val scaled_first = mul(k, first, ratio);
  val im = choose(k, is_steep, sub(k, scaled_first, second), sub(k, second, scaled_first));
  *out_below = add(k, mul(k, small, ratio), large);
  return (complex_val){quotient(k, add(k, mul(k, second, ratio), first), *out_below), quotient(k, im, *out_below)};
}

// Smith's formula, then the infinities and zeros that it loses.
static complex_val special_quotient(const kit *k, complex_val z, complex_val w) {
  val below_it;
  complex_val result = smith_quotient(k, z, w, &below_it);
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

static val is_special_quotient(const kit *k, complex_val z, complex_val w) {
  val is_regular = both(k, both_finite(k, z), both_finite(k, w));
  return negated(k, both(k, is_regular, negated(k, both(k, is_zero(k, w.re), is_zero(k, w.im)))));
}

static val exponent_of(const kit *k, complex_val z) {
  return indim_emit_real_exponent(k, larger(k, absolute(k, z.re), absolute(k, z.im)));
}

// Of numbers scaled by powers of two, so that nothing leaves the range of doubles.
static complex_val any_quotient(const complex_kit *s, const complex_val *args) {
  const kit *k = &s->k;
  complex_val z = args[0];
  complex_val w = args[1];
  val up = exponent_of(k, z);
  val down = exponent_of(k, w);
  val below_it;
  complex_val result = smith_quotient(k, times(k, z, power_of_two(k, negated_int(k, up))),
                                      times(k, w, power_of_two(k, negated_int(k, down))), &below_it);
  val back = isub(k, up, down);
  result = (complex_val){indim_emit_real_ldexp(k, result.re, back), indim_emit_real_ldexp(k, result.im, back)};
  return choose_complex(k, is_special_quotient(k, z, w), special_quotient(k, z, w), result);
}

static complex_val quotient_of_doubles(const complex_kit *s, complex_val z, complex_val w) {
  const kit *k = &s->k;
  val below_it;
  complex_val usual = smith_quotient(k, z, w, &below_it);
  val size = absolute(k, below_it);
  val sum = add(k, absolute(k, usual.re), absolute(k, usual.im));
  val is_usual = both(k, above(k, size, 0x1p-500), below(k, size, 0x1p500));
  is_usual = both(k, is_usual, below(k, sum, HUGE_VAL));
  rare block = indim_emit_rare_begin(k, negated(k, is_usual));
  complex_val computed = indim_emit_complex_out_of_line(s, "divide", any_quotient, (complex_val[]){z, w}, 2);
  return indim_emit_rare_end(k, block, usual, choose_complex(k, is_usual, usual, computed));
}

static complex_val quotient_of_floats(const complex_kit *s, complex_val z, complex_val w) {
  const kit *k = &s->k;
  val norm = add(k, mul(k, w.re, w.re), mul(k, w.im, w.im));
  val dot = add(k, mul(k, z.re, w.re), mul(k, z.im, w.im));
  val cross = sub(k, mul(k, z.im, w.re), mul(k, z.re, w.im));
  complex_val usual = {quotient(k, dot, norm), quotient(k, cross, norm)};
  val is_special = is_special_quotient(k, z, w);
  rare block = indim_emit_rare_begin(k, is_special);
  complex_val computed = choose_complex(k, is_special, special_quotient(k, z, w), usual);
  return indim_emit_rare_end(k, block, usual, computed);
}

complex_val indim_emit_complex_divide(const complex_kit *s, complex_val z, complex_val w) {
  return s->is_wide ? quotient_of_floats(s, z, w) : quotient_of_doubles(s, z, w);
}
