// Complex functions where accuracy is not the question: the vectors of the specification, signed zeros on branch
// splits, infinities and NaN (C's Annex G, with the notes of the header). Accuracy is measured by tests/witness/complex_math.py.
#include "eval/complex_math.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "test.h"

#define PI 3.14159265358979323846

static indim_complex c(double re, double im) { return (indim_complex){re, im}; }

// Equal numbers with equal signs of zero; any two NaNs.
static bool same(double a, double b) { return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b); }

static void check(const char *what, indim_complex actual, double re, double im) {
  CHECK_MSG(same(actual.re, re) && same(actual.im, im), "%s is %.17g %.17g, expected %.17g %.17g", what, actual.re,
            actual.im, re, im);
}

static void check_near(const char *what, indim_complex actual, double re, double im) {
  CHECK_MSG(fabs(actual.re - re) <= 1e-7 && fabs(actual.im - im) <= 1e-7, "%s is %.9g %.9g, expected %.9g %.9g", what,
            actual.re, actual.im, re, im);
}

#define IS(call, re, im) check(#call, call, re, im)
#define NEAR(call, re, im) check_near(#call, call, re, im)

TEST(modulus_and_sign) {
  CHECK(indim_complex_abs(c(-0.3, 0.4)) == 0.5);
  CHECK(indim_complex_abs(c(0, INFINITY)) == INFINITY);
  CHECK(indim_complex_abs(c(-INFINITY, 0)) == INFINITY);
  CHECK(indim_complex_abs(c(NAN, INFINITY)) == INFINITY);  // an infinity beats a NaN
  CHECK(isnan(indim_complex_abs(c(NAN, 1))));
  CHECK(indim_complex_abs(c(3e300, 4e300)) == 5e300);
  CHECK(indim_complex_abs(c(3e-310, 4e-310)) == 5e-310);
  NEAR(indim_complex_sign(c(-1, 1)), -0.70710678, 0.70710678);
  IS(indim_complex_sign(c(-0.0, -0.0)), 0, 0);
}

// The list of the specification.
TEST(power) {
  NEAR(indim_complex_power(c(-2, 0), c(0.5, 0)), 0, 1.41421356);
  NEAR(indim_complex_power(c(-0.6, 0), c(0.6, 0)), -0.227443288, 0.69999846);
  NEAR(indim_complex_power(c(-0.6, 0), c(-0.6, 0)), -0.419847531, -1.29215783);
  NEAR(indim_complex_power(c(0, 0), c(0.5, 0)), 0, 0);
  NEAR(indim_complex_power(c(0, 0), c(0.6, 0)), 0, 0);
  NEAR(indim_complex_power(c(0, 0), c(0, 0)), 1, 0);
  NEAR(indim_complex_power(c(1, 0), c(INFINITY, 0)), 1, 0);
  CHECK(indim_complex_power(c(INFINITY, 0), c(1, 0)).re == INFINITY);
  NEAR(indim_complex_power(c(INFINITY, 0), c(-1.1234, 0)), 0, 0);
  NEAR(indim_complex_power(c(1, 0), c(NAN, NAN)), 1, 0);
  NEAR(indim_complex_power(c(NAN, 1), c(0, 0)), 1, 0);
  IS(indim_complex_power(c(0, 1), c(2, 0)), -1, 0);
}

TEST(products_and_quotients) {
  IS(indim_complex_multiply(c(1, 2), c(3, 4)), -5, 10);
  // Each operation is rounded; infinities are not recovered.
  IS(indim_complex_multiply(c(1 + 0x1p-52, 1), c(1 - 0x1p-52, 1)), 0, 2);
  IS(indim_complex_multiply_c64(c(1 + 0x1p-23, 1), c(1 - 0x1p-23, 1)), 0, 2);
  CHECK(indim_complex_multiply_c64(c(0x1p70, 0), c(0x1p70, 0)).re == INFINITY);
  CHECK(isnan(indim_complex_multiply(c(INFINITY, NAN), c(1, 0)).re));
  CHECK(indim_complex_multiply(c(INFINITY, 0), c(0, INFINITY)).im == INFINITY);
  IS(indim_complex_divide(c(-5, 10), c(3, 4)), 1, 2);
  IS(indim_complex_divide(c(1, 2), c(0, 0)), INFINITY, INFINITY);
  IS(indim_complex_divide(c(1, -2), c(-0.0, 0)), -INFINITY, INFINITY);
  indim_complex small = indim_complex_divide(c(1, 2), c(INFINITY, 3));
  CHECK(small.re == 0 && small.im == 0);
  CHECK(isinf(indim_complex_divide(c(INFINITY, 1), c(2, 3)).re));
}

// The sign of a zero chooses the side of the cut.
TEST(splits) {
  IS(indim_complex_sqrt(c(-4, 0.0)), 0, 2);
  IS(indim_complex_sqrt(c(-4, -0.0)), 0, -2);
  IS(indim_complex_sqrt(c(4, -0.0)), 2, -0.0);
  IS(indim_complex_log(c(-1, 0.0)), 0, PI);
  IS(indim_complex_log(c(-1, -0.0)), 0, -PI);
  IS(indim_complex_log1p(c(-2, 0.0)), 0, PI);
  IS(indim_complex_log1p(c(-2, -0.0)), 0, -PI);
  CHECK(indim_complex_asin(c(2, 0.0)).im > 1.3 && indim_complex_asin(c(2, -0.0)).im < -1.3);
  CHECK(indim_complex_asin(c(-2, 0.0)).im > 1.3 && indim_complex_asin(c(-2, -0.0)).im < -1.3);
  CHECK(indim_complex_acos(c(2, 0.0)).im < -1.3 && indim_complex_acos(c(2, -0.0)).im > 1.3);
  CHECK(indim_complex_asinh(c(0.0, 2)).re > 1.3 && indim_complex_asinh(c(-0.0, 2)).re < -1.3);
  CHECK(indim_complex_acosh(c(-2, 0.0)).im == PI && indim_complex_acosh(c(-2, -0.0)).im == -PI);
  CHECK(indim_complex_acosh(c(0.5, 0.0)).im > 1 && indim_complex_acosh(c(0.5, -0.0)).im < -1);
  CHECK(indim_complex_atanh(c(2, 0.0)).im == PI / 2 && indim_complex_atanh(c(2, -0.0)).im == -PI / 2);
  IS(indim_complex_rsqrt(c(4, 0)), 0.5, -0.0);
}

TEST(zeros) {
  IS(indim_complex_exp(c(0, -0.0)), 1, -0.0);
  IS(indim_complex_sin(c(-0.0, 0)), -0.0, 0);
  IS(indim_complex_tanh(c(0, -0.0)), 0, -0.0);
  IS(indim_complex_sinh(c(-0.0, -0.0)), -0.0, -0.0);
  IS(indim_complex_asin(c(-0.0, 0)), -0.0, 0);
  IS(indim_complex_expm1(c(-0.0, 0)), -0.0, 0);
  IS(indim_complex_log1p(c(0, -0.0)), 0, -0.0);
  IS(indim_complex_sqrt(c(0, -0.0)), 0, -0.0);
  CHECK(indim_complex_log(c(0, 0)).re == -INFINITY);
  CHECK(indim_complex_log1p(c(-1, 0)).re == -INFINITY);
  IS(indim_complex_logistic(c(0, 0)), 0.5, 0);
}

TEST(infinities) {
  indim_complex z = indim_complex_exp(c(-INFINITY, INFINITY));
  CHECK(z.re == 0 && z.im == 0);
  IS(indim_complex_exp(c(INFINITY, 0)), INFINITY, 0);
  z = indim_complex_tanh(c(INFINITY, 1));
  CHECK(z.re == 1 && z.im == 0);
  z = indim_complex_tanh(c(-INFINITY, NAN));
  CHECK(z.re == -1 && z.im == 0);
  CHECK(indim_complex_sqrt(c(NAN, INFINITY)).re == INFINITY);
  IS(indim_complex_sqrt(c(-INFINITY, 1)), 0, INFINITY);
  IS(indim_complex_sqrt(c(INFINITY, -1)), INFINITY, -0.0);
  CHECK(indim_complex_log(c(-INFINITY, 0.0)).re == INFINITY && indim_complex_log(c(-INFINITY, 0.0)).im == PI);
  z = indim_complex_logistic(c(INFINITY, 3));
  CHECK(z.re == 1 && z.im == 0);
  z = indim_complex_logistic(c(-INFINITY, 3));
  CHECK(z.re == 0 && z.im == 0);
  CHECK(indim_complex_cosh(c(INFINITY, 0)).re == INFINITY);
  CHECK(isnan(indim_complex_sin(c(INFINITY, 1)).re));
}

// C11 Annex G.6, and TC1 to C11 for the zeros beside NaN: f(x + i y) for y >= +0 or NaN; the lower half follows from
// f(conj z) = conj f(z), checked for every row. Where the sign of a part is unspecified, |free| has 'r' or 'i'.
typedef struct special_case {
  const char *name;
  indim_complex (*function)(indim_complex);
  double x, y, re, im;
  const char *free;
} special_case;

static double without_sign(double a, bool drop) { return drop ? fabs(a) : a; }

static void check_special(const special_case *row, double side) {
  indim_complex got = row->function(c(row->x, copysign(row->y, side)));
  bool free_re = strchr(row->free, 'r') != NULL;
  bool free_im = strchr(row->free, 'i') != NULL;
  double im = isnan(row->im) ? row->im : row->im * side;
  bool re_ok = same(without_sign(got.re, free_re), without_sign(row->re, free_re));
  bool im_ok = same(without_sign(got.im, free_im), without_sign(im, free_im));
  CHECK_MSG(re_ok && im_ok, "%s(%g%+gi) is %.17g %+.17gi, expected %.17g %+.17gi", row->name, row->x, side * row->y,
            got.re, got.im, row->re, im);
}

#define ROW(name, x, y, re, im, free) \
  { #name, indim_complex_##name, x, y, re, im, free }
#define INF INFINITY

TEST(annex_g) {
  static const special_case rows[] = {
      ROW(exp, 0, 0, 1, 0, ""),
      ROW(exp, -0.0, 0, 1, 0, ""),
      ROW(exp, 1, INF, NAN, NAN, ""),
      ROW(exp, 1, NAN, NAN, NAN, ""),
      ROW(exp, INF, 0, INF, 0, ""),
      ROW(exp, -INF, 1, 0, 0, ""),
      ROW(exp, -INF, 2, -0.0, 0, ""),
      ROW(exp, INF, 2, -INF, INF, ""),
      ROW(exp, -INF, INF, 0, 0, "ri"),
      ROW(exp, INF, INF, INF, NAN, "r"),
      ROW(exp, -INF, NAN, 0, 0, "ri"),
      ROW(exp, INF, NAN, INF, NAN, "r"),
      ROW(exp, NAN, 0, NAN, 0, ""),
      ROW(exp, NAN, 1, NAN, NAN, ""),
      ROW(exp, NAN, NAN, NAN, NAN, ""),
      ROW(log, -0.0, 0, -INF, PI, ""),
      ROW(log, 0, 0, -INF, 0, ""),
      ROW(log, 1, INF, INF, PI / 2, ""),
      ROW(log, 1, NAN, NAN, NAN, ""),
      ROW(log, -INF, 1, INF, PI, ""),
      ROW(log, INF, 1, INF, 0, ""),
      ROW(log, -INF, INF, INF, 3 * PI / 4, ""),
      ROW(log, INF, INF, INF, PI / 4, ""),
      ROW(log, INF, NAN, INF, NAN, ""),
      ROW(log, -INF, NAN, INF, NAN, ""),
      ROW(log, NAN, 1, NAN, NAN, ""),
      ROW(log, NAN, INF, INF, NAN, ""),
      ROW(log, NAN, NAN, NAN, NAN, ""),
      ROW(sqrt, 0, 0, 0, 0, ""),
      ROW(sqrt, -0.0, 0, 0, 0, ""),
      ROW(sqrt, 1, INF, INF, INF, ""),
      ROW(sqrt, NAN, INF, INF, INF, ""),
      ROW(sqrt, -INF, INF, INF, INF, ""),
      ROW(sqrt, 1, NAN, NAN, NAN, ""),
      ROW(sqrt, -INF, 1, 0, INF, ""),
      ROW(sqrt, INF, 1, INF, 0, ""),
      ROW(sqrt, -INF, NAN, NAN, INF, "i"),
      ROW(sqrt, INF, NAN, INF, NAN, ""),
      ROW(sqrt, NAN, 1, NAN, NAN, ""),
      ROW(sqrt, NAN, NAN, NAN, NAN, ""),
      ROW(acos, 0, 0, PI / 2, -0.0, ""),
      ROW(acos, -0.0, 0, PI / 2, -0.0, ""),
      ROW(acos, 0, NAN, PI / 2, NAN, ""),
      ROW(acos, -0.0, NAN, PI / 2, NAN, ""),
      ROW(acos, 1, INF, PI / 2, -INF, ""),
      ROW(acos, 1, NAN, NAN, NAN, ""),
      ROW(acos, -INF, 1, PI, -INF, ""),
      ROW(acos, INF, 1, 0, -INF, ""),
      ROW(acos, -INF, INF, 3 * PI / 4, -INF, ""),
      ROW(acos, INF, INF, PI / 4, -INF, ""),
      ROW(acos, INF, NAN, NAN, INF, "i"),
      ROW(acos, -INF, NAN, NAN, INF, "i"),
      ROW(acos, NAN, 1, NAN, NAN, ""),
      ROW(acos, NAN, INF, NAN, -INF, ""),
      ROW(acos, NAN, NAN, NAN, NAN, ""),
      ROW(acosh, 0, 0, 0, PI / 2, ""),
      ROW(acosh, -0.0, 0, 0, PI / 2, ""),
      ROW(acosh, 1, INF, INF, PI / 2, ""),
      ROW(acosh, 0, NAN, NAN, PI / 2, "i"),
      ROW(acosh, 1, NAN, NAN, NAN, ""),
      ROW(acosh, -INF, 1, INF, PI, ""),
      ROW(acosh, INF, 1, INF, 0, ""),
      ROW(acosh, -INF, INF, INF, 3 * PI / 4, ""),
      ROW(acosh, INF, INF, INF, PI / 4, ""),
      ROW(acosh, INF, NAN, INF, NAN, ""),
      ROW(acosh, -INF, NAN, INF, NAN, ""),
      ROW(acosh, NAN, 1, NAN, NAN, ""),
      ROW(acosh, NAN, INF, INF, NAN, ""),
      ROW(acosh, NAN, NAN, NAN, NAN, ""),
      ROW(asinh, 0, 0, 0, 0, ""),
      ROW(asinh, 1, INF, INF, PI / 2, ""),
      ROW(asinh, 1, NAN, NAN, NAN, ""),
      ROW(asinh, INF, 1, INF, 0, ""),
      ROW(asinh, -INF, 1, -INF, 0, ""),
      ROW(asinh, INF, INF, INF, PI / 4, ""),
      ROW(asinh, INF, NAN, INF, NAN, ""),
      ROW(asinh, NAN, 0, NAN, 0, ""),
      ROW(asinh, NAN, 1, NAN, NAN, ""),
      ROW(asinh, NAN, INF, INF, NAN, "r"),
      ROW(asinh, NAN, NAN, NAN, NAN, ""),
      ROW(atanh, 0, 0, 0, 0, ""),
      ROW(atanh, 0, NAN, 0, NAN, ""),
      ROW(atanh, 1, 0, INF, 0, ""),
      ROW(atanh, -1, 0, -INF, 0, ""),
      ROW(atanh, 1, INF, 0, PI / 2, ""),
      ROW(atanh, 1, NAN, NAN, NAN, ""),
      ROW(atanh, INF, 1, 0, PI / 2, ""),
      ROW(atanh, INF, INF, 0, PI / 2, ""),
      ROW(atanh, INF, NAN, 0, NAN, ""),
      ROW(atanh, NAN, 1, NAN, NAN, ""),
      ROW(atanh, NAN, INF, 0, PI / 2, "r"),
      ROW(atanh, NAN, NAN, NAN, NAN, ""),
      ROW(cosh, 0, 0, 1, 0, ""),
      ROW(cosh, 0, INF, NAN, 0, "i"),
      ROW(cosh, 0, NAN, NAN, 0, "i"),
      ROW(cosh, 1, INF, NAN, NAN, ""),
      ROW(cosh, 1, NAN, NAN, NAN, ""),
      ROW(cosh, INF, 0, INF, 0, ""),
      ROW(cosh, -INF, 0, INF, -0.0, ""),
      ROW(cosh, INF, 2, -INF, INF, ""),
      ROW(cosh, -INF, 2, -INF, -INF, ""),
      ROW(cosh, INF, INF, INF, NAN, "r"),
      ROW(cosh, INF, NAN, INF, NAN, ""),
      ROW(cosh, NAN, 0, NAN, 0, "i"),
      ROW(cosh, NAN, 1, NAN, NAN, ""),
      ROW(cosh, NAN, NAN, NAN, NAN, ""),
      ROW(sinh, 0, 0, 0, 0, ""),
      ROW(sinh, 0, INF, 0, NAN, "r"),
      ROW(sinh, 0, NAN, 0, NAN, "r"),
      ROW(sinh, 1, INF, NAN, NAN, ""),
      ROW(sinh, 1, NAN, NAN, NAN, ""),
      ROW(sinh, INF, 0, INF, 0, ""),
      ROW(sinh, INF, 2, -INF, INF, ""),
      ROW(sinh, -INF, 2, INF, INF, ""),
      ROW(sinh, INF, INF, INF, NAN, "r"),
      ROW(sinh, INF, NAN, INF, NAN, "r"),
      ROW(sinh, NAN, 0, NAN, 0, ""),
      ROW(sinh, NAN, 1, NAN, NAN, ""),
      ROW(sinh, NAN, NAN, NAN, NAN, ""),
      ROW(tanh, 0, 0, 0, 0, ""),
      ROW(tanh, 0, INF, 0, NAN, ""),
      ROW(tanh, 1, INF, NAN, NAN, ""),
      ROW(tanh, 0, NAN, 0, NAN, ""),
      ROW(tanh, 1, NAN, NAN, NAN, ""),
      ROW(tanh, INF, 1, 1, 0, ""),
      ROW(tanh, INF, 2, 1, -0.0, ""),
      ROW(tanh, -INF, 1, -1, 0, ""),
      ROW(tanh, INF, INF, 1, 0, "i"),
      ROW(tanh, INF, NAN, 1, 0, "i"),
      ROW(tanh, NAN, 0, NAN, 0, ""),
      ROW(tanh, NAN, 1, NAN, NAN, ""),
      ROW(tanh, NAN, NAN, NAN, NAN, ""),
      // By sin z = -i sinh(iz), cos z = cosh(iz), tan z = -i tanh(iz), asin z = -i asinh(iz).
      ROW(cos, 0, INF, INF, -0.0, ""),
      ROW(cos, INF, 0, NAN, 0, "i"),
      ROW(cos, 2, INF, -INF, -INF, ""),
      ROW(sin, 0, INF, 0, INF, ""),
      ROW(sin, 2, INF, INF, -INF, ""),
      ROW(sin, INF, 0, NAN, 0, "i"),
      ROW(tan, 1, INF, 0, 1, ""),
      ROW(tan, 2, INF, -0.0, 1, ""),
      ROW(tan, INF, 0, NAN, 0, "i"),
      ROW(asin, INF, 1, PI / 2, INF, ""),
      ROW(asin, -INF, INF, -PI / 4, INF, ""),
      ROW(asin, 1, INF, 0, INF, ""),
      ROW(asin, 0, NAN, 0, NAN, ""),
      ROW(asin, NAN, INF, NAN, INF, ""),
      ROW(asin, INF, NAN, NAN, INF, "i"),
      ROW(asin, 1, NAN, NAN, NAN, ""),
      // Not in C: as exp, less 1; as log; as 1 / (1 + exp(-z)); as 1 / sqrt(z).
      ROW(expm1, INF, 2, -INF, INF, ""),
      ROW(expm1, -INF, 1, -1, 0, ""),
      ROW(expm1, -INF, INF, -1, 0, "i"),
      ROW(expm1, NAN, 0, NAN, 0, ""),
      ROW(expm1, 1, INF, NAN, NAN, ""),
      ROW(log1p, -1, 0, -INF, 0, ""),
      ROW(log1p, INF, INF, INF, PI / 4, ""),
      ROW(log1p, NAN, INF, INF, NAN, ""),
      ROW(log1p, 1, NAN, NAN, NAN, ""),
      ROW(logistic, INF, INF, 1, 0, "i"),
      ROW(logistic, INF, NAN, 1, 0, "i"),
      ROW(logistic, -INF, 4, 0, -0.0, ""),
      ROW(logistic, -INF, NAN, 0, 0, "i"),
      ROW(logistic, 1, INF, NAN, NAN, ""),
      ROW(rsqrt, INF, 1, 0, -0.0, ""),
      ROW(rsqrt, -INF, 1, 0, -0.0, ""),
      ROW(rsqrt, 1, INF, 0, -0.0, ""),
      ROW(rsqrt, 0, 0, INF, NAN, ""),
      ROW(rsqrt, NAN, 1, NAN, NAN, ""),
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    check_special(&rows[i], 1);
    check_special(&rows[i], -1);
  }
}

// Where the exact part is 0 it comes out as 0, not as the sine of a rounded pi.
TEST(exact_angles) {
  IS(indim_complex_power(c(-2, 0), c(3, 0)), -8, 0);
  IS(indim_complex_power(c(0, 1), c(3, 0)), 0, -1);
  IS(indim_complex_power(c(1, 1), c(2, 0)), 0, 2);
  IS(indim_complex_power(c(-1, 1), c(4, 0)), -4, 0);
  IS(indim_complex_power(c(-1, -1), c(-2, 0)), 0, -0.5);
  IS(indim_complex_power(c(-4, 0), c(0.5, 0)), 0, 2);
  IS(indim_complex_power(c(-4, -0.0), c(0.5, 0)), 0, -2);
  if (LDBL_MANT_DIG > DBL_MANT_DIG) {  // a double's 53 bits do not carry the exponential to the last one
    IS(indim_complex_power(c(3, 4), c(2, 0)), -7, 24);
    IS(indim_complex_power(c(-7, 24), c(0.5, 0)), 3, 4);
  }
  IS(indim_complex_power(c(0, 1), c(1e300, 0)), 1, 0);
  IS(indim_complex_power(c(2, 0), c(10, 0)), 1024, 0);
  IS(indim_complex_power(c(0, 1), c(0, 1)), 0.20787957635076190854695561983497877, 0);
}

TEST(powers_at_the_ends) {
  IS(indim_complex_power(c(10, 0), c(400, 0)), INFINITY, 0);
  IS(indim_complex_power(c(-10, 0), c(401, 0)), -INFINITY, 0);
  IS(indim_complex_power(c(10, 0), c(-400, 0)), 0, 0);
  indim_complex z = indim_complex_power(c(0, 0), c(-1, 0));
  CHECK(isinf(z.re) && isnan(z.im));
  z = indim_complex_power(c(0, 0), c(1, 1));
  CHECK(z.re == 0 && z.im == 0);
  z = indim_complex_power(c(INFINITY, 0), c(NAN, 0));
  CHECK(isnan(z.re));
  IS(indim_complex_power(c(0, 0), c(2, 0)), 0, 0);
}

TEST(far_from_the_origin) {
  IS(indim_complex_exp(c(-1e308, 3)), -0.0, 0);
  IS(indim_complex_exp(c(1e308, 3)), -INFINITY, INFINITY);
  IS(indim_complex_expm1(c(1e308, 3)), -INFINITY, INFINITY);
  IS(indim_complex_sinh(c(-1e308, 3)), INFINITY, INFINITY);
  IS(indim_complex_cosh(c(1e308, 0.0)), INFINITY, 0);
  IS(indim_complex_tanh(c(-1e308, 3)), -1, -0.0);
  IS(indim_complex_logistic(c(1e308, 3)), 1, 0);
  IS(indim_complex_logistic(c(-1e308, 3)), -0.0, 0);
  IS(indim_complex_sqrt(c(DBL_MAX, 0)), sqrt(DBL_MAX), 0);
  IS(indim_complex_divide(c(DBL_MAX, DBL_MAX), c(DBL_MAX, DBL_MAX)), 1, 0);
  IS(indim_complex_divide(c(0x1p-1074, 0), c(0x1p-1074, 0)), 1, 0);
  IS(indim_complex_divide(c(0x1p900, 0x1p900), c(0x1p-40, 0)), 0x1p940, 0x1p940);
  IS(indim_complex_divide(c(3 * 0x1p1000, 4 * 0x1p1000), c(3 * 0x1p1000, 4 * 0x1p1000)), 1, 0);
  IS(indim_complex_divide(c(3 * 0x1p-1070, 4 * 0x1p-1070), c(0, 5 * 0x1p-1070)), 0.8, -0.6);
  CHECK(indim_complex_divide_c64(c(1 + 0x1p-52, 1), c(1, 1 + 0x1p-52)).im != 0);  // cancels but for the last bit
  IS(indim_complex_sign(c(DBL_MAX, 0)), 1, 0);
  CHECK(indim_complex_abs(c(DBL_MAX, DBL_MAX)) == INFINITY);
  CHECK(indim_complex_log(c(DBL_MAX, DBL_MAX)).re > 709 && indim_complex_log(c(0x1p-1074, 0)).re < -744);
  CHECK(indim_complex_asin(c(DBL_MAX, -DBL_MAX)).im < -710);
  CHECK(indim_complex_acos(c(-DBL_MAX, DBL_MAX)).re == 3 * PI / 4);
  CHECK(indim_complex_atanh(c(DBL_MAX, 1)).re == 0x1p-1024 && indim_complex_atanh(c(DBL_MAX, 1)).im == PI / 2);
}

TEST(cancelling_parts) {
  // Known to the last bit: single bits far below.
  IS(indim_complex_log(c(1, 0x1p-300)), 0x1p-601, 0x1p-300);
  IS(indim_complex_log1p(c(-0x1p-101, 0x1p-50)), 0x1p-203, 0x1p-50);
  indim_complex z = indim_complex_expm1(c(0x1p-101, 0x1p-50));  // x - y^2 / 2 + x^2 / 2 - x y^2 / 2 + y^4 / 24
  CHECK_MSG(fabs(z.re + 0x1p-200 / 12) < (LDBL_MANT_DIG > DBL_MANT_DIG ? 0x1p-240 : 0x1p-206), "%a", z.re);
}

// y / x real: the real function; otherwise -i log((x + i y) / sqrt(x^2 + y^2)).
TEST(complex_atan2) {
  IS(indim_complex_atan2(c(1, 0), c(-1, 0)), 3 * PI / 4, -0.0);
  IS(indim_complex_atan2(c(0.0, 0), c(-1, 0)), PI, -0.0);
  CHECK(indim_complex_atan2(c(-0.0, 0), c(-1, 0)).re == -PI);
  CHECK(isnan(indim_complex_atan2(c(0, 0), c(0, 0)).re));
  CHECK(isnan(indim_complex_atan2(c(NAN, 0), c(1, 0)).re));
  CHECK(isnan(indim_complex_atan2(c(1, 0), c(0, 1)).re));  // x + i y = 2 i, x^2 + y^2 = 0
  indim_complex z = indim_complex_atan2(c(1, 2), c(3, -1));
  // tan z = y / x
  indim_complex t = indim_complex_tan(z);
  NEAR(t, 0.1, 0.7);
  z = indim_complex_atan2(c(-1, -2), c(-3, 1));  // the opposite number: half a turn further
  NEAR(indim_complex_tan(z), 0.1, 0.7);
  CHECK(fabs(fabs(z.re - indim_complex_atan2(c(1, 2), c(3, -1)).re) - PI) < 1e-15);
}

TEST(recovery_of_infinities) {
  indim_complex z = indim_complex_divide(c(1, 1), c(INFINITY, INFINITY));
  CHECK(z.re == 0 && z.im == 0);
  z = indim_complex_divide(c(1, 1), c(3, -INFINITY));
  CHECK(z.re == 0 && z.im == 0);
  CHECK(isinf(indim_complex_divide(c(INFINITY, NAN), c(1, 2)).re));
  CHECK(isnan(indim_complex_divide(c(INFINITY, INFINITY), c(INFINITY, 1)).re));
  CHECK(isnan(indim_complex_divide(c(0, 0), c(0, 0)).re));
  CHECK(isinf(indim_complex_divide(c(NAN, 1), c(0, 0)).im));
}

#define CASES(X)            \
  X(modulus_and_sign)       \
  X(power)                  \
  X(products_and_quotients) \
  X(splits)                 \
  X(zeros)                  \
  X(infinities)             \
  X(annex_g)                \
  X(exact_angles)           \
  X(powers_at_the_ends)     \
  X(far_from_the_origin)    \
  X(cancelling_parts)       \
  X(complex_atan2)          \
  X(recovery_of_infinities)
TEST_MAIN(CASES)
