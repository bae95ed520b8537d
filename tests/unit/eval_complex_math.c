// Complex functions where accuracy is not the question: the vectors of broadcasting.md 3.1 and 3.2, signed zeros on branch
// cuts, infinities and NaN (C's Annex G, with the notes of the header). Accuracy is measured by tests/witness/complex_math.py.
#include "eval/complex_math.h"

#include <math.h>

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

// The list of broadcasting.md 3.2.
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
  CHECK(isinf(indim_complex_multiply(c(INFINITY, NAN), c(1, 0)).re));
  IS(indim_complex_divide(c(-5, 10), c(3, 4)), 1, 2);
  IS(indim_complex_divide(c(1, 2), c(0, 0)), INFINITY, INFINITY);
  IS(indim_complex_divide(c(1, -2), c(-0.0, 0)), -INFINITY, INFINITY);
  indim_complex small = indim_complex_divide(c(1, 2), c(INFINITY, 3));
  CHECK(small.re == 0 && small.im == 0);
  CHECK(isinf(indim_complex_divide(c(INFINITY, 1), c(2, 3)).re));
}

// The sign of a zero chooses the side of the cut.
TEST(cuts) {
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

#define CASES(X)            \
  X(modulus_and_sign)       \
  X(power)                  \
  X(products_and_quotients) \
  X(cuts)                   \
  X(zeros)                  \
  X(infinities)
TEST_MAIN(CASES)
