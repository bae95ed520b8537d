// The real elementary functions of the oracle, on double, each within 1 ulp over its whole range.
//
// They serve f64 directly and every narrower type by one further rounding: compute in double, then encode. Subnormal
// arguments and results are kept, zeros keep their sign, NaN gives NaN, and edge values are those of the C standard's
// Annex F; what XLA asks beyond that is said at the function. No errno or floating-point flags are promised.
//
// Where long double is wider than double (x87, binary128) the functions go through it, which leaves them 0.51 ulp at
// most: glibc's own double tanh, cbrt, sinh, cosh, acosh, asinh, atanh and erf are off by 1 to 3. Where it is not, the
// result is as good as that platform's double functions.
#ifndef INDIM_EVAL_REAL_MATH_H
#define INDIM_EVAL_REAL_MATH_H

double indim_math_exp(double x);
double indim_math_expm1(double x);
double indim_math_log(double x);
double indim_math_log1p(double x);
double indim_math_logistic(double x);  // 1 / (1 + exp(-x))
double indim_math_sqrt(double x);      // correctly rounded
double indim_math_rsqrt(double x);     // 1 / sqrt(x): rsqrt(+0) = inf, rsqrt(-0) = -inf
double indim_math_cbrt(double x);
double indim_math_sin(double x);
double indim_math_cos(double x);
double indim_math_tan(double x);
double indim_math_sinh(double x);
double indim_math_cosh(double x);
double indim_math_tanh(double x);
double indim_math_asin(double x);
double indim_math_acos(double x);
double indim_math_asinh(double x);
double indim_math_acosh(double x);
double indim_math_atanh(double x);
double indim_math_erf(double x);

// Exact ones. sign: -1, 1, the zero itself, or NaN. round_afz: ties away from zero; round_even: ties to even, whatever
// the rounding mode; both keep the sign of a zero result.
double indim_math_sign(double x);
double indim_math_floor(double x);
double indim_math_ceil(double x);
double indim_math_round_afz(double x);
double indim_math_round_even(double x);

// lhs to the power rhs. 1^y and x^0 are 1 even with a NaN, signalling ones included.
double indim_math_pow(double lhs, double rhs);
// The angle of (x, y) in (-pi, pi], signed zeros and infinities told apart: atan2(0, -0) = pi, atan2(inf, inf) = pi/4.
double indim_math_atan2(double y, double x);
// C's fmod, exact: the result has the dividend's sign; remainder(x, inf) = x; remainder(x, 0) is NaN.
double indim_math_remainder(double dividend, double divisor);

#endif  // INDIM_EVAL_REAL_MATH_H
