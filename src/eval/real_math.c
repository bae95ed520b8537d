// The real elementary functions: a double goes in, the function is taken in the widest type the C library has, and
// one rounding brings it back. That rounding dominates: the long double functions err by a few units of their own last
// place, which is 2^-11 of a double's.
#include "eval/real_math.h"

#include <math.h>
#include <stdbool.h>

#define THROUGH_LONG_DOUBLE(name) \
  double indim_math_##name(double x) { return (double)name##l((long double)x); }

THROUGH_LONG_DOUBLE(exp)
THROUGH_LONG_DOUBLE(expm1)
THROUGH_LONG_DOUBLE(log)
THROUGH_LONG_DOUBLE(log1p)
THROUGH_LONG_DOUBLE(cbrt)
THROUGH_LONG_DOUBLE(sin)
THROUGH_LONG_DOUBLE(cos)
THROUGH_LONG_DOUBLE(tan)
THROUGH_LONG_DOUBLE(sinh)
THROUGH_LONG_DOUBLE(cosh)
THROUGH_LONG_DOUBLE(tanh)
THROUGH_LONG_DOUBLE(asin)
THROUGH_LONG_DOUBLE(acos)
THROUGH_LONG_DOUBLE(asinh)
THROUGH_LONG_DOUBLE(acosh)
THROUGH_LONG_DOUBLE(atanh)
THROUGH_LONG_DOUBLE(erf)

double indim_math_logistic(double x) {
  long double power = expl(-fabsl((long double)x));
  return (double)((x < 0 ? power : 1) / (1 + power));
}

double indim_math_sqrt(double x) { return sqrt(x); }

double indim_math_rsqrt(double x) { return (double)(1.0L / sqrtl((long double)x)); }

double indim_math_sign(double x) {
  if (x > 0) {
    return 1.0;
  }
  return x < 0 ? -1.0 : x;
}

double indim_math_floor(double x) { return floor(x); }

double indim_math_ceil(double x) { return ceil(x); }

double indim_math_round_afz(double x) { return round(x); }

double indim_math_round_even(double x) {
  double rounded = round(x);
  bool is_tie = fabs(x - trunc(x)) == 0.5;
  return is_tie && fmod(rounded, 2.0) != 0 ? copysign(fabs(rounded) - 1.0, x) : rounded;
}

double indim_math_pow(double lhs, double rhs) {
  if (lhs == 1.0 || rhs == 0.0) {
    return 1.0;
  }
  if (isinf(lhs)) {  // glibc's powl takes -2^63 for an odd exponent
    return pow(lhs, rhs);
  }
  return (double)powl((long double)lhs, (long double)rhs);
}

double indim_math_atan2(double y, double x) { return (double)atan2l((long double)y, (long double)x); }

double indim_math_remainder(double dividend, double divisor) { return fmod(dividend, divisor); }
