// Real functions: the edge values of the specification, and known values to the last bit. How close they are
// everywhere else is measured by tests/witness/real_math.py.
#include "eval/real_math.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

#include "test.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static const double inf = (double)INFINITY;
static const double nan_value = (double)NAN;

// Equal, the sign of zeros included; NaN equals NaN.
static bool same(double a, double b) {
  if (isnan(a) || isnan(b)) {
    return isnan(a) && isnan(b);
  }
  return a == b && signbit(a) == signbit(b);
}

// At most |ulps| neighbours apart.
static bool close(double a, double b, int ulps) {
  for (int i = 0; i < ulps; ++i) {
    a = same(a, b) ? a : nextafter(a, b);
  }
  return same(a, b);
}

typedef struct unary_case {
  const char *text;
  double (*function)(double);
  double x;
  double expected;
} unary_case;

#define UNARY(function, x, expected) \
  { #function "(" #x ")", indim_math_##function, x, expected }

TEST(edges_3_1) {
  const unary_case cases[] = {
      UNARY(exp, -inf, 0.0),
      UNARY(exp, inf, inf),
      UNARY(exp, 710.0, inf),
      UNARY(exp, -0.0, 1.0),
      UNARY(exp, -745.2, 0.0),
      UNARY(exp, -745.0, 0x1p-1074),
      UNARY(expm1, -0.0, -0.0),
      UNARY(expm1, 0x1p-1074, 0x1p-1074),
      UNARY(expm1, -inf, -1.0),
      UNARY(expm1, inf, inf),
      UNARY(log, 0.0, -inf),
      UNARY(log, -0.0, -inf),
      UNARY(log, -1.0, nan_value),
      UNARY(log, inf, inf),
      UNARY(log, 1.0, 0.0),
      UNARY(log1p, -1.0, -inf),
      UNARY(log1p, -1.5, nan_value),
      UNARY(log1p, -0.0, -0.0),
      UNARY(log1p, inf, inf),
      UNARY(log1p, 0x1p-1074, 0x1p-1074),
      UNARY(logistic, -inf, 0.0),
      UNARY(logistic, inf, 1.0),
      UNARY(logistic, 0.0, 0.5),
      UNARY(logistic, -0.0, 0.5),
      UNARY(logistic, -745.0, 0x1p-1074),
      UNARY(logistic, -1e308, 0.0),
      UNARY(sqrt, -0.0, -0.0),
      UNARY(sqrt, -1.0, nan_value),
      UNARY(sqrt, 2.0, 0x1.6A09E667F3BCDp0),
      UNARY(sqrt, 0x1p-1074, 0x1p-537),
      UNARY(sqrt, inf, inf),
      UNARY(rsqrt, 0.0, inf),
      UNARY(rsqrt, -0.0, -inf),
      UNARY(rsqrt, inf, 0.0),
      UNARY(rsqrt, -1.0, nan_value),
      UNARY(rsqrt, -inf, nan_value),
      UNARY(rsqrt, 4.0, 0.5),
      UNARY(rsqrt, 0x1p-1074, 0x1p537),
      UNARY(cbrt, -8.0, -2.0),
      UNARY(cbrt, -0.0, -0.0),
      UNARY(cbrt, -inf, -inf),
      UNARY(sin, -0.0, -0.0),
      UNARY(sin, inf, nan_value),
      UNARY(cos, -inf, nan_value),
      UNARY(cos, 0.0, 1.0),
      UNARY(tan, -0.0, -0.0),
      UNARY(tan, inf, nan_value),
      UNARY(sinh, -0.0, -0.0),
      UNARY(sinh, -inf, -inf),
      UNARY(cosh, -inf, inf),
      UNARY(cosh, inf, inf),
      UNARY(tanh, inf, 1.0),
      UNARY(tanh, -inf, -1.0),
      UNARY(tanh, -0.0, -0.0),
      UNARY(asin, 1.5, nan_value),
      UNARY(asin, -0.0, -0.0),
      UNARY(asin, 1.0, 0x1.921FB54442D18p0),
      UNARY(acos, -1.5, nan_value),
      UNARY(acos, 1.0, 0.0),
      UNARY(acos, -1.0, 0x1.921FB54442D18p1),
      UNARY(asinh, -0.0, -0.0),
      UNARY(asinh, -inf, -inf),
      UNARY(acosh, 0.5, nan_value),
      UNARY(acosh, 1.0, 0.0),
      UNARY(acosh, inf, inf),
      UNARY(atanh, 1.0, inf),
      UNARY(atanh, -1.0, -inf),
      UNARY(atanh, 2.0, nan_value),
      UNARY(atanh, -0.0, -0.0),
      UNARY(erf, inf, 1.0),
      UNARY(erf, -inf, -1.0),
      UNARY(erf, -0.0, -0.0),
      UNARY(sign, nan_value, nan_value),
      UNARY(sign, 0.0, 0.0),
      UNARY(sign, -0.0, -0.0),
      UNARY(sign, -inf, -1.0),
      UNARY(sign, 0x1p-1074, 1.0),
      UNARY(floor, -0.0, -0.0),
      UNARY(floor, -0.5, -1.0),
      UNARY(floor, inf, inf),
      UNARY(ceil, -0.5, -0.0),
      UNARY(ceil, 0.5, 1.0),
      UNARY(ceil, -inf, -inf),
  };
  for (size_t i = 0; i < COUNT_OF(cases); ++i) {
    double y = cases[i].function(cases[i].x);
    CHECK_MSG(same(y, cases[i].expected), "%s is %a, expected %a", cases[i].text, y, cases[i].expected);
  }
}

TEST(nan_gives_nan) {
  double (*const functions[])(double) = {
      indim_math_exp,  indim_math_expm1, indim_math_log,   indim_math_log1p,     indim_math_logistic,
      indim_math_sqrt, indim_math_rsqrt, indim_math_cbrt,  indim_math_sin,       indim_math_cos,
      indim_math_tan,  indim_math_sinh,  indim_math_cosh,  indim_math_tanh,      indim_math_asin,
      indim_math_acos, indim_math_asinh, indim_math_acosh, indim_math_atanh,     indim_math_erf,
      indim_math_sign, indim_math_floor, indim_math_ceil,  indim_math_round_afz, indim_math_round_even,
  };
  for (size_t i = 0; i < COUNT_OF(functions); ++i) {
    CHECK_MSG(isnan(functions[i](nan_value)), "function %d", (int)i);
  }
}

// The correctly rounded values, to 40 digits and back.
TEST(known_values) {
  const unary_case cases[] = {
      UNARY(exp, 1.0, 2.718281828459045235360287471352662498),
      UNARY(expm1, 0x1p-30, 9.313225750491594e-10),
      UNARY(log, 2.0, 0.6931471805599453094172321214581765681),
      UNARY(log, 10.0, 2.302585092994045684017991454684364208),
      UNARY(log1p, 0.5, 0.4054651081081643819780131154643491366),
      UNARY(logistic, 1.0, 0.7310585786300048792511592418218362744),
      UNARY(rsqrt, 2.0, 0.7071067811865475244008443621048490393),
      UNARY(cbrt, 0x1p-1074, 0x1p-358),
      UNARY(cbrt, 2.0, 1.259921049894873164767210607278228351),
      UNARY(sin, 1.0, 0.8414709848078965066525023216302989996),
      UNARY(cos, 1.0, 0.5403023058681397174009366074429766037),
      UNARY(tan, 1.0, 1.557407724654902230506974807458360173),
      UNARY(sin, 1e22, -0.8522008497671888017727058937530293683),
      UNARY(sinh, 1.0, 1.175201193643801456882381850595600815),
      UNARY(cosh, 1.0, 1.543080634815243778477905620757061683),
      UNARY(tanh, 1.0, 0.7615941559557648881194582826047935904),
      UNARY(asin, 0.5, 0.5235987755982988730771072305465838140),
      UNARY(acos, 0.5, 1.047197551196597746154214461093167628),
      UNARY(asinh, 1.0, 0.8813735870195430252326093249797923090),
      UNARY(acosh, 2.0, 1.316957896924816708625046347307968444),
      UNARY(atanh, 0.5, 0.5493061443340548456976226184612628523),
      UNARY(erf, 0.5, 0.5204998778130465376827466538919645288),
  };
  // Without a wide long double the C library's own accuracy is what there is.
  int allowed = LDBL_MANT_DIG > DBL_MANT_DIG ? 0 : 2;
  for (size_t i = 0; i < COUNT_OF(cases); ++i) {
    double y = cases[i].function(cases[i].x);
    CHECK_MSG(close(y, cases[i].expected, allowed), "%s is %a, expected %a", cases[i].text, y, cases[i].expected);
  }
}

TEST(rounding_3_1) {
  const double afz[][2] = {{0.5, 1},
                           {-0.5, -1},
                           {2.5, 3},
                           {-2.5, -3},
                           {-0.2, -0.0},
                           {0.49999999999999994, 0},
                           {4503599627370497.0, 4503599627370497.0},
                           {-1e300, -1e300},
                           {inf, inf},
                           {-inf, -inf}};
  for (size_t i = 0; i < COUNT_OF(afz); ++i) {
    CHECK_MSG(same(indim_math_round_afz(afz[i][0]), afz[i][1]), "round_afz(%g)", afz[i][0]);
  }
  const double even[][2] = {{-1.4, -1},
                            {-1.5, -2},
                            {-2.5, -2},
                            {-0.5, -0.0},
                            {0, 0},
                            {0.5, 0},
                            {1.5, 2},
                            {2.5, 2},
                            {3.5, 4},
                            {4.5, 4},
                            {-0.2, -0.0},
                            {-0.0, -0.0},
                            {0.7, 1},
                            {-3.5, -4},
                            {4503599627370495.5, 4503599627370496.0},
                            {4503599627370494.5, 4503599627370494.0},
                            {1e300, 1e300},
                            {inf, inf},
                            {-inf, -inf}};
  for (size_t i = 0; i < COUNT_OF(even); ++i) {
    CHECK_MSG(same(indim_math_round_even(even[i][0]), even[i][1]), "round_even(%g)", even[i][0]);
  }
}

typedef struct binary_case {
  double x, y, expected;
} binary_case;

TEST(power_3_2) {
  const binary_case cases[] = {
      {1.0, nan_value, 1.0},
      {nan_value, 0.0, 1.0},
      {nan_value, -0.0, 1.0},
      {inf, 0.0, 1.0},
      {1.0, inf, 1.0},
      {0.0, -1.0, inf},
      {-8.0, 1.0 / 3.0, nan_value},
      {-0.0, -3.0, -inf},
      {-0.0, -2.0, inf},
      {-0.0, 3.0, -0.0},
      {inf, 2.0, inf},
      {inf, -2.0, 0.0},
      {-inf, 3.0, -inf},
      {-inf, -3.0, -0.0},
      {0.5, inf, 0.0},
      {0.5, -inf, inf},
      {2.0, inf, inf},
      {-1.0, inf, 1.0},
      {-1.0, -inf, 1.0},
      {nan_value, 1.0, nan_value},
      {2.0, nan_value, nan_value},
      {2.0, 10.0, 1024.0},
      {-3.0, 5.0, -243.0},
      {2.0, -1074.0, 0x1p-1074},
      {2.0, -1076.0, 0.0},
      {2.0, 1024.0, inf},
      {2.0, 0.5, 1.4142135623730950488016887242096980786},
      {0x1p-1074, 2.0, 0.0},
  };
  for (size_t i = 0; i < COUNT_OF(cases); ++i) {
    double z = indim_math_pow(cases[i].x, cases[i].y);
    CHECK_MSG(same(z, cases[i].expected), "pow(%g, %g) is %a, expected %a", cases[i].x, cases[i].y, z,
              cases[i].expected);
  }
}

TEST(atan2_3_2) {
  const double pi = 0x1.921FB54442D18p1;
  const binary_case cases[] = {
      // x is the first operand, the ordinate
      {0.0, -0.0, pi},
      {-0.0, -0.0, -pi},
      {0.0, 0.0, 0.0},
      {-0.0, 0.0, -0.0},
      {inf, inf, pi / 4},
      {-inf, -inf, -0x1.2D97C7F3321D2p1},
      {1.0, 0.0, pi / 2},
      {-1.0, -0.0, -pi / 2},
      {1.0, inf, 0.0},
      {-1.0, inf, -0.0},
      {1.0, -inf, pi},
      {inf, -1.0, pi / 2},
      {0.0, -1.0, pi},
      {nan_value, 1.0, nan_value},
      {1.0, nan_value, nan_value},
      {0x1p-1074, 1.0, 0x1p-1074},
      {0x1p-1074, 0x1p-1074, pi / 4},
  };
  for (size_t i = 0; i < COUNT_OF(cases); ++i) {
    double z = indim_math_atan2(cases[i].x, cases[i].y);
    CHECK_MSG(same(z, cases[i].expected), "atan2(%g, %g) is %a, expected %a", cases[i].x, cases[i].y, z,
              cases[i].expected);
  }
}

TEST(remainder_3_2) {
  const binary_case cases[] = {
      {-2.5, 10, -2.5},
      {2.25, 1, .25},
      {-10, 10, -0.0},
      {6, -6, 0.0},
      {3, 2, 1},
      {3, -2, 1},
      {-1, 7, -1},
      {-8, -4, -0.0},
      {1, inf, 1},
      {-1, -inf, -1},
      {1, 0, nan_value},
      {inf, 2, nan_value},
      {nan_value, 1, nan_value},
      {1, nan_value, nan_value},
      {1e308, 3, 2},
  };
  for (size_t i = 0; i < COUNT_OF(cases); ++i) {
    double z = indim_math_remainder(cases[i].x, cases[i].y);
    CHECK_MSG(same(z, cases[i].expected), "remainder(%g, %g) is %a, expected %a", cases[i].x, cases[i].y, z,
              cases[i].expected);
  }
  // {25.5, 5.1}: the double nearest 5.1 is below it, so a remainder of nearly nothing is left.
  double rest = indim_math_remainder(25.5, 5.1);
  CHECK_MSG(rest > 0 && rest < 1e-14, "%a", rest);
}

#define CASES(X)   \
  X(edges_3_1)     \
  X(nan_gives_nan) \
  X(known_values)  \
  X(rounding_3_1)  \
  X(power_3_2)     \
  X(atan2_3_2)     \
  X(remainder_3_2)
TEST_MAIN(CASES)
