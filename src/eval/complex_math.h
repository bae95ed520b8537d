// The complex functions of the oracle on pairs of doubles, each part within 3 ulp over the whole plane.
//
// They serve c128 directly and c64 by one further rounding of each part. "Within 3 ulp" holds for each part by itself,
// also where that part is a small difference of large terms: log |z| next to the unit circle, the real part of
// exp(z) - 1 next to its zeros; products and quotients of c128 are accurate relative to their modulus. Results that are subnormal are as close in units of the
// subnormal spacing. The one limit is an angle of 2^50 and more inside a power (z^w with |Im(w log z)| that large),
// whose error grows with it.
//
// Branch cuts, signed zeros, infinities and NaN follow the C standard's Annex G wherever C has the function; the sign
// of a zero says on which side of a cut a number lies: sqrt(-4 + 0i) = 2i, sqrt(-4 - 0i) = -2i. What C lacks is said
// at the function. Signs that Annex G leaves open are ours to choose. No errno or flags are promised.
#ifndef INDIM_EVAL_COMPLEX_MATH_H
#define INDIM_EVAL_COMPLEX_MATH_H

typedef struct indim_complex {
  double re;
  double im;
} indim_complex;

// The modulus, without overflow on the way; an infinite part gives inf even beside a NaN.
double indim_complex_abs(indim_complex z);
// z / |z|, and +0 + 0i for zero.
indim_complex indim_complex_sign(indim_complex z);

// (a c - b d) + (a d + b c) i, each operation rounded, as XLA and NumPy compute it: accurate relative to |z w|, not to a part
// whose terms cancel, and without the recovery of infinities that Annex G has. c64 computes in floats.
indim_complex indim_complex_multiply(indim_complex z, indim_complex w);
indim_complex indim_complex_multiply_c64(indim_complex z, indim_complex w);
// Smith's formula, of numbers scaled by powers of two where it would leave the range of doubles: accurate relative to
// |z / w|. finite / 0 is copysign(inf, w.re) times the parts of z, inf / finite is inf, finite / inf is 0.
indim_complex indim_complex_divide(indim_complex z, indim_complex w);
// The same with each part by itself within 3 ulp, also where its terms cancel, which costs c64 nothing.
indim_complex indim_complex_divide_c64(indim_complex z, indim_complex w);

indim_complex indim_complex_exp(indim_complex z);
// exp(z) - 1, accurate near its zeros. Not in C: edges are those of exp, less 1.
indim_complex indim_complex_expm1(indim_complex z);
// log |z| + i atan2(im, re).
indim_complex indim_complex_log(indim_complex z);
// log(1 + z), accurate near z = 0 and all along |1 + z| = 1; log1p(-1) = -inf.
indim_complex indim_complex_log1p(indim_complex z);
// 1 / (1 + exp(-z)); re = inf gives 1, re = -inf gives 0, whatever the other part.
indim_complex indim_complex_logistic(indim_complex z);
indim_complex indim_complex_sqrt(indim_complex z);
// 1 / sqrt(z); zero gives inf + NaN i, as the division does.
indim_complex indim_complex_rsqrt(indim_complex z);

indim_complex indim_complex_sin(indim_complex z);
indim_complex indim_complex_cos(indim_complex z);
indim_complex indim_complex_tan(indim_complex z);
indim_complex indim_complex_sinh(indim_complex z);
indim_complex indim_complex_cosh(indim_complex z);
indim_complex indim_complex_tanh(indim_complex z);
indim_complex indim_complex_asin(indim_complex z);
indim_complex indim_complex_acos(indim_complex z);
indim_complex indim_complex_asinh(indim_complex z);
indim_complex indim_complex_acosh(indim_complex z);
indim_complex indim_complex_atanh(indim_complex z);

// base to the power |exponent|, exp(exponent * log(base)) with the principal logarithm. 1^w = 1 and z^0 = 1 even with
// NaN; (+inf)^c is the base for real c > 0 and 0 for real c < 0; 0^c is 0 for real c > 0. Where the angle is a multiple
// of pi / 2, the part that vanishes is exactly 0: i^2 = -1 + 0i. Other infinite or NaN operands, and other powers of
// 0, give what that formula gives literally.
indim_complex indim_complex_power(indim_complex base, indim_complex exponent);
// -i log((x + i y) / sqrt(x^2 + y^2)), for complex y and x; the real atan2 where both are real and not both zero.
// Zeros of x^2 + y^2 and non-finite operands give what the formula gives literally (mostly NaN).
indim_complex indim_complex_atan2(indim_complex y, indim_complex x);

#endif  // INDIM_EVAL_COMPLEX_MATH_H
