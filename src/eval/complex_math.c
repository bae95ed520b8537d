// The complex elementary functions. Each starts with its non-finite cases, then takes the textbook formula that has no
// cancellation, in long double; the few that must subtract nearly equal terms do it in pairs (pair.h). One rounding
// to double ends each part.
//
// Formulas are kept from overflowing where long double is no wider than double, so that such platforms lose accuracy
// (a few ulp, as their C library) but not the sense of a result. Source of the inverse functions: Kahan, "Branch cuts
// for complex elementary functions" (1987).
#include "eval/complex_math.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "eval/pair.h"

static const double infinity = (double)INFINITY;
static const double not_a_number = (double)NAN;
static const double pi = 0x1.921FB54442D18p+1;

static bool is_finite(indim_complex z) { return isfinite(z.re) && isfinite(z.im); }

static indim_complex rounded(indim_wide re, indim_wide im) { return (indim_complex){(double)re, (double)im}; }

static indim_complex times_i(indim_complex z) { return (indim_complex){-z.im, z.re}; }

static indim_complex times_minus_i(indim_complex z) { return (indim_complex){z.im, -z.re}; }

static indim_wide value_of(indim_pair a) { return a.hi + a.lo; }

// The exponent of the larger of two numbers: both times 2^-exponent are below 1. 0 if both are zero.
static int larger_exponent(indim_wide a, indim_wide b) {
  int exponent = 0;
  (void)frexpl(fmaxl(fabsl(a), fabsl(b)), &exponent);
  return exponent;
}

// factor * exp(x), infinite or zero only if the product is.
static indim_wide times_exp(indim_wide factor, indim_wide x) {
  const indim_wide most = 0.69L * LDBL_MAX_EXP;
  for (int i = 0; i < 3 && fabsl(x) > most && factor != 0; ++i) {
    factor *= expl(copysignl(most, x));
    x -= copysignl(most, x);
  }
  return factor == 0 ? factor : factor * expl(x);
}

double indim_complex_abs(indim_complex z) { return (double)hypotl((indim_wide)z.re, (indim_wide)z.im); }

indim_complex indim_complex_sign(indim_complex z) {
  if (z.re == 0 && z.im == 0) {
    return (indim_complex){0, 0};
  }
  int shift = is_finite(z) ? -larger_exponent((indim_wide)z.re, (indim_wide)z.im) : 0;
  indim_wide x = ldexpl((indim_wide)z.re, shift);
  indim_wide y = ldexpl((indim_wide)z.im, shift);
  indim_wide modulus = hypotl(x, y);
  return rounded(x / modulus, y / modulus);
}

// a * b + c * d from the exact products. A zero keeps the sign that plain arithmetic gives it.
static indim_wide sum_of_products(indim_wide a, indim_wide b, indim_wide c, indim_wide d) {
  indim_wide sum = value_of(indim_pair_add(indim_pair_product(a, b), indim_pair_product(c, d)));
  return isfinite(sum) && sum != 0 ? sum : a * b + c * d;
}

// For the recovery of infinities: an infinity becomes 1 and anything else 0, with its sign.
static double direction_of(double a) { return copysign(isinf(a) ? 1.0 : 0.0, a); }

static indim_complex directions_of(indim_complex z) { return (indim_complex){direction_of(z.re), direction_of(z.im)}; }

static bool has_infinity(indim_complex z) { return isinf(z.re) || isinf(z.im); }

static bool has_only_nan(indim_complex z) { return isnan(z.re) && isnan(z.im); }

indim_complex indim_complex_multiply(indim_complex z, indim_complex w) {
  return (indim_complex){z.re * w.re - z.im * w.im, z.re * w.im + z.im * w.re};
}

indim_complex indim_complex_multiply_c64(indim_complex z, indim_complex w) {
  float a = (float)z.re;
  float b = (float)z.im;
  float c = (float)w.re;
  float d = (float)w.im;
  float ac = a * c;
  float bd = b * d;
  float ad = a * d;
  float bc = b * c;
  return (indim_complex){(double)(ac - bd), (double)(ad + bc)};
}

// The product inside a function: parts that cancel keep their digits.
static indim_complex accurate_product(indim_complex z, indim_complex w) {
  if (!is_finite(z) || !is_finite(w)) {
    return indim_complex_multiply(z, w);
  }
  return rounded(sum_of_products((indim_wide)z.re, (indim_wide)w.re, (indim_wide)-z.im, (indim_wide)w.im),
                 sum_of_products((indim_wide)z.re, (indim_wide)w.im, (indim_wide)z.im, (indim_wide)w.re));
}

// Smith's formula; |*out_below| is what both parts are divided by.
static indim_complex smith_quotient(indim_complex z, indim_complex w, double *out_below) {
  bool is_steep = fabs(w.re) < fabs(w.im);
  double ratio = is_steep ? w.re / w.im : w.im / w.re;
  double below = is_steep ? w.re * ratio + w.im : w.re + w.im * ratio;
  double re = is_steep ? z.re * ratio + z.im : z.re + z.im * ratio;
  double im = is_steep ? z.im * ratio - z.re : z.im - z.re * ratio;
  *out_below = below;
  return (indim_complex){re / below, im / below};
}

// The quotient when something is not finite or w is 0: Smith's formula, then the infinities and zeros it lost.
static indim_complex divide_special(indim_complex z, indim_complex w) {
  double below = 0;
  indim_complex quotient = smith_quotient(z, w, &below);
  if (!has_only_nan(quotient)) {
    return quotient;
  }
  double factor = 0;
  if (w.re == 0 && w.im == 0 && !has_only_nan(z)) {
    factor = copysign(infinity, w.re);
    return (indim_complex){factor * z.re, factor * z.im};
  }
  if (has_infinity(z) && is_finite(w)) {
    factor = infinity;
    z = directions_of(z);
  } else if (has_infinity(w) && is_finite(z)) {
    w = directions_of(w);
  } else {
    return quotient;
  }
  return (indim_complex){factor * (z.re * w.re + z.im * w.im), factor * (z.im * w.re - z.re * w.im)};
}

static bool is_special_quotient(indim_complex z, indim_complex w) {
  return !is_finite(z) || !is_finite(w) || (w.re == 0 && w.im == 0);
}

// The exponent of the larger part, at least that of the least normal number.
static int exponent_of(indim_complex z) {
  double larger = fmax(fabs(z.re), fabs(z.im));
  return larger < DBL_MIN ? DBL_MIN_EXP - 1 : ilogb(larger) > 1022 ? 1022 : ilogb(larger);
}

static indim_complex scaled(indim_complex z, int exponent) {
  return (indim_complex){ldexp(z.re, exponent), ldexp(z.im, exponent)};
}

indim_complex indim_complex_divide(indim_complex z, indim_complex w) {
  double below = 0;
  indim_complex quotient = smith_quotient(z, w, &below);
  if (fabs(below) > 0x1p-500 && fabs(below) < 0x1p500 && fabs(quotient.re) + fabs(quotient.im) < infinity) {
    return quotient;
  }
  if (is_special_quotient(z, w)) {
    return divide_special(z, w);
  }
  int above = exponent_of(z);
  int under = exponent_of(w);
  quotient = smith_quotient(scaled(z, -above), scaled(w, -under), &below);
  return scaled(quotient, above - under);
}

indim_complex indim_complex_divide_c64(indim_complex z, indim_complex w) {
  if (is_special_quotient(z, w)) {
    return divide_special(z, w);
  }
  int above = larger_exponent((indim_wide)z.re, (indim_wide)z.im);
  int below = larger_exponent((indim_wide)w.re, (indim_wide)w.im);
  indim_wide a = ldexpl((indim_wide)z.re, -above);
  indim_wide b = ldexpl((indim_wide)z.im, -above);
  indim_wide c = ldexpl((indim_wide)w.re, -below);
  indim_wide d = ldexpl((indim_wide)w.im, -below);
  indim_wide norm = c * c + d * d;
  indim_wide re = sum_of_products(a, c, b, d) / norm;
  indim_wide im = sum_of_products(b, c, -a, d) / norm;
  return rounded(ldexpl(re, above - below), ldexpl(im, above - below));
}

// exp where a part is infinite or NaN and the imaginary part is not zero.
static indim_complex exp_special(indim_complex z) {
  if (z.re == -infinity) {
    return isfinite(z.im) ? (indim_complex){0.0 * cos(z.im), 0.0 * sin(z.im)}
                          : (indim_complex){0.0, copysign(0.0, z.im)};
  }
  if (z.re == infinity) {
    return isfinite(z.im) ? (indim_complex){infinity * cos(z.im), infinity * sin(z.im)}
                          : (indim_complex){infinity, not_a_number};
  }
  return (indim_complex){not_a_number, not_a_number};
}

indim_complex indim_complex_exp(indim_complex z) {
  indim_wide x = z.re;
  indim_wide y = z.im;
  if (y == 0) {
    return rounded(expl(x), y);
  }
  if (!is_finite(z)) {
    return exp_special(z);
  }
  return rounded(times_exp(cosl(y), x), times_exp(sinl(y), x));
}

// exp(x) cos(y) - 1 = expm1(x) - 2 sin^2(y / 2) exp(x), whose terms cancel along a curve through 0.
static indim_wide expm1_real_part(indim_wide x, indim_wide y) {
  if (x > 100) {
    return times_exp(cosl(y), x) - 1;
  }
  indim_wide sine = sinl(y / 2);
  indim_wide first = expm1l(x);
  indim_wide difference = first - 2 * sine * sine * (1 + first);
  if (fabsl(difference) >= fabsl(first) / 64) {
    return difference;
  }
  indim_pair exact_sine;
  indim_pair cosine;
  indim_turns_sincos(indim_turns_of(y / 2), &exact_sine, &cosine);
  indim_pair exact = indim_pair_expm1(x);
  indim_pair power = indim_pair_add((indim_pair){1, 0}, exact);
  indim_pair second = indim_pair_multiply(indim_pair_multiply(exact_sine, exact_sine), power);
  return value_of(indim_pair_add(exact, indim_pair_scale(second, -2)));
}

indim_complex indim_complex_expm1(indim_complex z) {
  indim_wide x = z.re;
  indim_wide y = z.im;
  if (y == 0) {
    return rounded(expm1l(x), y);
  }
  if (!is_finite(z)) {
    indim_complex power = exp_special(z);
    return (indim_complex){power.re - 1, power.im};
  }
  return rounded(expm1_real_part(x, y), times_exp(sinl(y), x));
}

indim_complex indim_complex_log(indim_complex z) {
  indim_wide x = z.re;
  indim_wide y = z.im;
  bool is_regular = is_finite(z) && (x != 0 || y != 0);
  return rounded(is_regular ? value_of(indim_pair_log_hypot(x, y)) : logl(hypotl(x, y)), atan2l(y, x));
}

// log |1 + z| for finite z. Next to the circle |1 + z| = 1 it is log1p(2 x + x^2 + y^2) / 2, that sum taken exactly.
static indim_wide log1p_real_part(indim_wide x, indim_wide y) {
  indim_wide sum = 1 + x;
  if (y == 0 && sum >= 0) {
    return log1pl(x);
  }
  indim_wide largest = fmaxl(fabsl(sum), fabsl(y));
  if (largest < 0.5L || largest >= 2) {
    return value_of(indim_pair_log_hypot(sum, y));
  }
  indim_pair xx = indim_pair_product(x, x);
  indim_pair yy = indim_pair_product(y, y);
  indim_wide terms[] = {2 * x, xx.hi, yy.hi, xx.lo, yy.lo};
  return value_of(indim_pair_log1p(indim_pair_sum(terms, 5))) / 2;
}

indim_complex indim_complex_log1p(indim_complex z) {
  indim_wide x = z.re;
  indim_wide y = z.im;
  return rounded(is_finite(z) ? log1p_real_part(x, y) : logl(hypotl(1 + x, y)), atan2l(y, 1 + x));
}

// exp(x) + cos(y) for x < 1000, which cancels along a curve where x <= 0.
static indim_wide exp_plus_cos(indim_wide x, indim_wide y) {
  indim_wide power = expl(x);
  indim_wide sum = power + cosl(y);
  if (fabsl(sum) >= power / 64) {
    return sum;
  }
  indim_pair sine;
  indim_pair cosine;
  if (x < -1) {
    indim_turns_sincos(indim_turns_of(y), &sine, &cosine);
    return value_of(indim_pair_add(indim_pair_exp(x), cosine));
  }
  // Around x = 0, cos(y) = -1 both terms lose what they leave over: exp(x) - 1 and 1 + cos(y) = 2 cos^2(y / 2) do not.
  indim_turns_sincos(indim_turns_of(y / 2), &sine, &cosine);
  return value_of(indim_pair_add(indim_pair_expm1(x), indim_pair_scale(indim_pair_multiply(cosine, cosine), 2)));
}

indim_complex indim_complex_logistic(indim_complex z) {
  indim_wide x = z.re;
  indim_wide y = z.im;
  if (isinf(z.re)) {
    double side = isfinite(z.im) ? sin(z.im) : z.im;
    return (indim_complex){z.re > 0 ? 1.0 : 0.0, copysign(0.0, side)};
  }
  if (y == 0) {
    indim_wide power = expl(-fabsl(x));
    return rounded((x < 0 ? power : 1) / (1 + power), y);
  }
  if (!is_finite(z)) {
    return (indim_complex){not_a_number, not_a_number};
  }
  if (x > 60) {
    return rounded(1, times_exp(sinl(y), -x));
  }
  if (x < -60) {
    return rounded(times_exp(x < -1000 ? cosl(y) : exp_plus_cos(x, y), x), times_exp(sinl(y), x));
  }
  // Numerator and denominator times exp(x / 2): (exp(x) + cos y + i sin y) / (2 cosh x + 2 cos y), with the
  // denominator as a sum of squares.
  indim_wide sinh_half = sinhl(x / 2);
  indim_wide cos_half = cosl(y / 2);
  indim_wide below = 4 * (sinh_half * sinh_half + cos_half * cos_half);
  return rounded(exp_plus_cos(x, y) / below, sinl(y) / below);
}

typedef struct wide_complex {
  indim_wide re;
  indim_wide im;
} wide_complex;

// The square root of x + i y, both finite, with a real part >= 0.
static wide_complex wide_sqrt(indim_wide x, indim_wide y) {
  if (x == 0 && y == 0) {
    return (wide_complex){0, y};
  }
  int exponent = larger_exponent(x, y) / 2;
  x = ldexpl(x, -2 * exponent);
  y = ldexpl(y, -2 * exponent);
  indim_wide larger = sqrtl((fabsl(x) + hypotl(x, y)) / 2);
  indim_wide smaller = ldexpl(fabsl(y) / (2 * larger), exponent);
  larger = ldexpl(larger, exponent);
  return x >= 0 ? (wide_complex){larger, copysignl(smaller, y)} : (wide_complex){smaller, copysignl(larger, y)};
}

static indim_complex sqrt_special(indim_complex z) {
  if (isinf(z.im)) {
    return (indim_complex){infinity, z.im};
  }
  if (z.re == infinity) {
    return (indim_complex){infinity, isnan(z.im) ? not_a_number : copysign(0.0, z.im)};
  }
  if (z.re == -infinity) {
    return (indim_complex){isnan(z.im) ? not_a_number : 0.0, copysign(infinity, z.im)};
  }
  return (indim_complex){not_a_number, not_a_number};
}

indim_complex indim_complex_sqrt(indim_complex z) {
  if (!is_finite(z)) {
    return sqrt_special(z);
  }
  if (z.im == 0) {  // rounded once, as the real root is
    double root = sqrt(fabs(z.re));
    return z.re >= 0 ? (indim_complex){root, z.im} : (indim_complex){0, copysign(root, z.im)};
  }
  wide_complex root = wide_sqrt((indim_wide)z.re, (indim_wide)z.im);
  return rounded(root.re, root.im);
}

indim_complex indim_complex_rsqrt(indim_complex z) {
  if (z.re == 0 && z.im == 0) {
    return (indim_complex){infinity, not_a_number};
  }
  if (!is_finite(z)) {
    return has_infinity(z) ? (indim_complex){0, -copysign(0.0, z.im)} : (indim_complex){not_a_number, not_a_number};
  }
  // conj(sqrt(z)) / |z|, at a scale where nothing overflows.
  int exponent = larger_exponent((indim_wide)z.re, (indim_wide)z.im) / 2;
  indim_wide x = ldexpl((indim_wide)z.re, -2 * exponent);
  indim_wide y = ldexpl((indim_wide)z.im, -2 * exponent);
  wide_complex root = wide_sqrt(x, y);
  indim_wide modulus = hypotl(x, y);
  return rounded(ldexpl(root.re / modulus, -exponent), ldexpl(-root.im / modulus, -exponent));
}

// sinh(x) * f + i cosh(x) * g for finite x.
static wide_complex sinh_cosh_times(indim_wide x, indim_wide f, indim_wide g) {
  if (fabsl(x) < 100) {
    return (wide_complex){sinhl(x) * f, coshl(x) * g};
  }
  return (wide_complex){times_exp(copysignl(f / 2, x * f), fabsl(x)), times_exp(g / 2, fabsl(x))};
}

indim_complex indim_complex_sinh(indim_complex z) {
  if (is_finite(z)) {
    wide_complex parts = sinh_cosh_times((indim_wide)z.re, cosl((indim_wide)z.im), sinl((indim_wide)z.im));
    return rounded(parts.re, parts.im);
  }
  if (z.im == 0 || (z.re == 0 && !isfinite(z.im))) {
    return (indim_complex){z.re, z.im == 0 ? z.im : not_a_number};
  }
  if (isinf(z.re)) {
    return isfinite(z.im) ? (indim_complex){z.re * cos(z.im), infinity * sin(z.im)}
                          : (indim_complex){z.re, not_a_number};
  }
  return (indim_complex){not_a_number, not_a_number};
}

indim_complex indim_complex_cosh(indim_complex z) {
  if (is_finite(z)) {
    wide_complex parts = sinh_cosh_times((indim_wide)z.re, sinl((indim_wide)z.im), cosl((indim_wide)z.im));
    return rounded(parts.im, parts.re);
  }
  if (z.im == 0 || (z.re == 0 && !isfinite(z.im))) {
    double zero = z.im == 0 ? z.im : 0.0;
    return (indim_complex){z.im == 0 ? fabs(z.re) : not_a_number, copysign(1.0, z.re) * zero};
  }
  if (isinf(z.re)) {
    return isfinite(z.im) ? (indim_complex){infinity * cos(z.im), z.re * sin(z.im)}
                          : (indim_complex){infinity, not_a_number};
  }
  return (indim_complex){not_a_number, not_a_number};
}

static indim_complex tanh_special(indim_complex z) {
  if (isinf(z.re)) {
    return (indim_complex){copysign(1.0, z.re), copysign(0.0, isfinite(z.im) ? sin(z.im) * cos(z.im) : z.im)};
  }
  double re = z.re == 0 ? z.re : not_a_number;
  return (indim_complex){re, z.im == 0 ? z.im : not_a_number};
}

indim_complex indim_complex_tanh(indim_complex z) {
  if (!is_finite(z)) {
    return tanh_special(z);
  }
  indim_wide x = z.re;
  indim_wide sine = sinl((indim_wide)z.im);
  indim_wide cosine = cosl((indim_wide)z.im);
  if (fabsl(x) > 40) {
    return rounded(copysignl(1, x), times_exp(4 * sine * cosine, -2 * fabsl(x)));
  }
  indim_wide sinh_x = sinhl(x);
  indim_wide below = sinh_x * sinh_x + cosine * cosine;
  return rounded(sinh_x * coshl(x) / below, sine * cosine / below);
}

indim_complex indim_complex_sin(indim_complex z) { return times_minus_i(indim_complex_sinh(times_i(z))); }

indim_complex indim_complex_cos(indim_complex z) { return indim_complex_cosh(times_i(z)); }

indim_complex indim_complex_tan(indim_complex z) { return times_minus_i(indim_complex_tanh(times_i(z))); }

// Beyond this modulus asin, acos and asinh are logarithms of 2 z to more digits than a pair has.
#define HUGE_MODULUS 0x1p200

static bool is_huge(indim_complex z) { return fabs(z.re) > HUGE_MODULUS || fabs(z.im) > HUGE_MODULUS; }

// log |2 z| for huge z.
static indim_wide log_twice(indim_complex z) {
  indim_pair log = indim_pair_log_hypot((indim_wide)z.re, (indim_wide)z.im);
  return value_of(indim_pair_add(log, indim_pair_log2()));
}

static indim_complex asin_special(indim_complex z) {
  if (isinf(z.im)) {
    return (indim_complex){isnan(z.re) ? not_a_number : atan2(z.re, infinity), z.im};
  }
  if (isinf(z.re)) {
    return (indim_complex){isnan(z.im) ? not_a_number : atan2(z.re, 1.0), copysign(infinity, z.im)};
  }
  return (indim_complex){z.re == 0 ? z.re : not_a_number, not_a_number};
}

// With a + i b = sqrt(1 - z) and c + i d = sqrt(1 + z), whose b and d have opposite signs, none of the differences
// below subtracts: asin z = atan2(x, a c - b d) + i asinh(a d - b c), acos z = 2 atan2(a, c) + i asinh(b c - a d).
indim_complex indim_complex_asin(indim_complex z) {
  if (!is_finite(z)) {
    return asin_special(z);
  }
  indim_wide x = z.re;
  indim_wide y = z.im;
  if (is_huge(z)) {
    return rounded(atan2l(x, fabsl(y)), copysignl(log_twice(z), y));
  }
  wide_complex minus = wide_sqrt(1 - x, -y);
  wide_complex plus = wide_sqrt(1 + x, y);
  return rounded(atan2l(x, minus.re * plus.re - minus.im * plus.im), asinhl(minus.re * plus.im - minus.im * plus.re));
}

static indim_complex acos_special(indim_complex z) {
  if (isinf(z.re) || isinf(z.im)) {
    bool has_nan = isnan(z.re) || isnan(z.im);
    return (indim_complex){has_nan ? not_a_number : atan2(fabs(z.im), z.re), -copysign(infinity, z.im)};
  }
  return (indim_complex){z.re == 0 ? pi / 2 : not_a_number, not_a_number};
}

indim_complex indim_complex_acos(indim_complex z) {
  if (!is_finite(z)) {
    return acos_special(z);
  }
  indim_wide x = z.re;
  indim_wide y = z.im;
  if (is_huge(z)) {
    return rounded(atan2l(fabsl(y), x), -copysignl(log_twice(z), y));
  }
  wide_complex minus = wide_sqrt(1 - x, -y);
  wide_complex plus = wide_sqrt(1 + x, y);
  return rounded(2 * atan2l(minus.re, plus.re), asinhl(minus.im * plus.re - minus.re * plus.im));
}

indim_complex indim_complex_asinh(indim_complex z) { return times_minus_i(indim_complex_asin(times_i(z))); }

indim_complex indim_complex_acosh(indim_complex z) {
  indim_complex angle = indim_complex_acos(z);
  return (indim_complex){fabs(angle.im), copysign(angle.re, z.im)};
}

static indim_complex atanh_special(indim_complex z) {
  if (isinf(z.im) || (isinf(z.re) && !isnan(z.im))) {
    return (indim_complex){copysign(0.0, z.re), copysign(pi / 2, z.im)};
  }
  bool is_real_zero = isinf(z.re) || z.re == 0;
  return (indim_complex){is_real_zero ? copysign(0.0, z.re) : not_a_number, not_a_number};
}

indim_complex indim_complex_atanh(indim_complex z) {
  if (!is_finite(z)) {
    return atanh_special(z);
  }
  indim_wide x = fabsl((indim_wide)z.re);
  indim_wide y = z.im;
  if (is_huge(z)) {  // x / |z|^2, in two steps for its exponent's sake
    indim_wide modulus = hypotl(x / 2, y / 2);
    return rounded(copysignl(x / modulus / 4 / modulus, (indim_wide)z.re), copysignl((indim_wide)pi / 2, y));
  }
  indim_wide re = log1pl(4 * x / ((1 - x) * (1 - x) + y * y)) / 4;
  indim_wide im = atan2l(2 * y, (1 - x) * (1 + x) - y * y) / 2;
  return rounded(copysignl(re, (indim_wide)z.re), im);
}

// The argument of a finite number other than 0 as quarters * pi / 2 + rest: quarters is a multiple of 1/2 and carries
// all of it on the axes and diagonals, where |rest| is 0.
typedef struct split_angle {
  double quarters;
  indim_pair rest;
} split_angle;

static split_angle argument_of(indim_complex z) {
  double x = fabs(z.re);
  double y = fabs(z.im);
  split_angle angle = {0, {0, 0}};
  double sign = 1;  // of the angle that leads away from the nearest axis
  if (x > y) {
    angle.rest = indim_pair_atan_ratio((indim_wide)y, (indim_wide)x);
  } else if (x < y) {
    angle.rest = indim_pair_atan_ratio((indim_wide)x, (indim_wide)y);
    angle.quarters = 1;
    sign = -1;
  } else {
    angle.quarters = 0.5;
  }
  if (z.re < 0) {
    angle.quarters = 2 - angle.quarters;
    sign = -sign;
  }
  if (signbit(z.im)) {
    angle.quarters = -angle.quarters;
    sign = -sign;
  }
  angle.rest = sign < 0 ? indim_pair_negate(angle.rest) : angle.rest;
  return angle;
}

// base^exponent for finite operands, base neither 0 nor 1: modulus and angle of exp((c + i d) * (log |base| + i arg)).
static indim_complex power_by_logarithm(indim_complex base, indim_complex exponent) {
  indim_wide c = exponent.re;
  indim_wide d = exponent.im;
  indim_pair log = indim_pair_log_hypot((indim_wide)base.re, (indim_wide)base.im);
  split_angle arg = argument_of(base);
  indim_pair whole_arg = indim_pair_add(indim_pair_scale(indim_pair_half_pi(), (indim_wide)arg.quarters), arg.rest);
  indim_pair log_modulus = indim_pair_add(indim_pair_scale(log, c), indim_pair_scale(whole_arg, -d));

  // c * quarters is reduced exactly; only what is left has digits of pi in it.
  indim_wide quarters = fmodl(fmodl(c, 8) * (indim_wide)arg.quarters, 4);
  indim_wide nearest = roundl(quarters);
  indim_turns turns = {((int)nearest + 4) % 4, {quarters - nearest, 0}};
  indim_pair rest = indim_pair_add(indim_pair_scale(arg.rest, c), indim_pair_scale(log, d));
  turns = indim_turns_add(turns, indim_turns_of(rest.hi));
  turns = indim_turns_add(turns, indim_turns_of(rest.lo));
  indim_pair sine;
  indim_pair cosine;
  indim_turns_sincos(turns, &sine, &cosine);
  // Exact zeros: the sine's has the sign of the angle, as when it comes from rounding; the cosine's is positive.
  sine.hi = sine.hi == 0 ? copysignl(0, c * whole_arg.hi + d * log.hi) : sine.hi;
  cosine.hi = cosine.hi == 0 ? 0 : cosine.hi;
  indim_wide correction = 1 + log_modulus.lo;
  return rounded(times_exp(cosine.hi * correction, log_modulus.hi), times_exp(sine.hi * correction, log_modulus.hi));
}

indim_complex indim_complex_power(indim_complex base, indim_complex exponent) {
  bool is_real = exponent.im == 0;
  if ((exponent.re == 0 && is_real) || (base.re == 1 && base.im == 0)) {
    return (indim_complex){1, 0};
  }
  if (base.re == infinity && base.im == 0 && is_real) {
    return exponent.re > 0 ? base : (indim_complex){isnan(exponent.re) ? not_a_number : 0.0, 0.0};
  }
  if (base.re == 0 && base.im == 0 && is_real && exponent.re > 0) {
    return (indim_complex){0, 0};
  }
  if ((base.re == 0 && base.im == 0) || !is_finite(base) || !is_finite(exponent)) {
    return indim_complex_exp(accurate_product(exponent, indim_complex_log(base)));
  }
  return power_by_logarithm(base, exponent);
}

static indim_complex atan2_by_formula(indim_complex y, indim_complex x) {
  indim_complex yy = accurate_product(y, y);
  indim_complex xx = accurate_product(x, x);
  indim_complex root = indim_complex_sqrt((indim_complex){xx.re + yy.re, xx.im + yy.im});
  indim_complex sum = {x.re - y.im, x.im + y.re};
  return times_minus_i(indim_complex_log(indim_complex_divide_c64(sum, root)));
}

// a^2 + b^2 - c^2 - d^2, as if exactly.
static indim_wide difference_of_norms(indim_wide a, indim_wide b, indim_wide c, indim_wide d) {
  indim_pair aa = indim_pair_product(a, a);
  indim_pair bb = indim_pair_product(b, b);
  indim_pair cc = indim_pair_product(c, c);
  indim_pair dd = indim_pair_product(d, d);
  indim_wide terms[] = {aa.hi, bb.hi, -cc.hi, -dd.hi, aa.lo, bb.lo, -cc.lo, -dd.lo};
  return value_of(indim_pair_sum(terms, 8));
}

// With p = x + i y and m = x - i y (both complex) the quotient is p / sqrt(p m), its square p / m. So the result is
// (arg p - arg m) / 2 - i log |p / m| / 2, the first but for a multiple of pi that the root's branch decides. Neither
// part is taken from those differences: arg(p / m) = atan2(2 Re(x conj y), |x|^2 - |y|^2), and
// |p|^2 - |m|^2 = 4 Im(x conj y).
indim_complex indim_complex_atan2(indim_complex y, indim_complex x) {
  if (!is_finite(x) || !is_finite(y)) {
    return atan2_by_formula(y, x);
  }
  int exponent = larger_exponent(fmaxl(fabsl((indim_wide)x.re), fabsl((indim_wide)x.im)),
                                 fmaxl(fabsl((indim_wide)y.re), fabsl((indim_wide)y.im)));
  indim_wide a = ldexpl((indim_wide)x.re, -exponent);
  indim_wide b = ldexpl((indim_wide)x.im, -exponent);
  indim_wide c = ldexpl((indim_wide)y.re, -exponent);
  indim_wide d = ldexpl((indim_wide)y.im, -exponent);
  wide_complex p = {a - d, b + c};
  wide_complex m = {a + d, b - c};
  indim_wide p_norm = p.re * p.re + p.im * p.im;
  indim_wide m_norm = m.re * m.re + m.im * m.im;
  if (p_norm == 0 || m_norm == 0) {
    return atan2_by_formula(y, x);
  }
  indim_wide ratio = 4 * sum_of_products(b, c, -a, d) / m_norm;
  indim_wide twice_im = (fabsl(ratio) < 0.5L ? log1pl(ratio) : logl(p_norm / m_norm)) / 2;

  if (b == 0 && d == 0) {
    return rounded(atan2l(c, a), -twice_im / 2);
  }

  indim_wide dot = sum_of_products(a, c, b, d);
  indim_wide half = atan2l(2 * dot, difference_of_norms(a, b, c, d)) / 2;
  // Where the formula's own steps lead, to know the multiple of pi.
  indim_wide norm_re = difference_of_norms(a, c, b, d);
  indim_wide norm_im = 2 * sum_of_products(a, b, c, d);
  indim_wide full_turn = 4 * indim_pair_half_pi().hi;
  indim_wide target = remainderl(atan2l(p.im, p.re) - atan2l(norm_im, norm_re) / 2, full_turn);
  if (fabsl(target - half) >
      full_turn / 4) {  // to the side that stays in (-pi, pi], whatever rounding did to the target
    half += half > 0 ? -full_turn / 2 : full_turn / 2;
  }
  return rounded(half, -twice_im / 2);
}
