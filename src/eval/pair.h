// Numbers of twice the precision of long double: the unevaluated sum of two of them, |lo| at most half an ulp of |hi|.
//
// The complex functions use them where two nearly equal terms cancel and what is left must still be right to the last
// bit of a double: log |z| near the unit circle, exp(z) - 1 near its zeros, powers. With a 64-bit significand (x87) a
// pair carries about 126 bits, with binary128 about 224, and where long double is only double still 105.
//
//   indim_pair_product(x, x)  ->  x * x exactly
//   indim_pair_sum of {1, 2^-100, -1}  ->  2^-100
//
// Overflow and non-finite values are the caller's to avoid. Every function here relies on strict rounding: no
// contraction, no reassociation. Source: the error-free transformations of Dekker (1971), Knuth and Moeller; the
// summation of Ogita, Rump and Oishi (2005); the reduction of Payne and Hanek (1983).
#ifndef INDIM_EVAL_PAIR_H
#define INDIM_EVAL_PAIR_H

#include <float.h>

typedef long double indim_wide;

typedef struct indim_pair {
  indim_wide hi;
  indim_wide lo;
} indim_pair;

// a + b, exactly.
static inline indim_pair indim_pair_of_sum(indim_wide a, indim_wide b) {
  indim_wide sum = a + b;
  indim_wide from_b = sum - a;
  return (indim_pair){sum, (a - (sum - from_b)) + (b - from_b)};
}

// a * b, exactly unless it underflows.
indim_pair indim_pair_product(indim_wide a, indim_wide b);

// Sums, products and quotients, right to all but the last few bits of a pair. The sum keeps its relative accuracy
// only as far as its terms have one: 1 + 2^-70 less 1 loses what the first had rounded off.
indim_pair indim_pair_add(indim_pair a, indim_pair b);
indim_pair indim_pair_negate(indim_pair a);
indim_pair indim_pair_multiply(indim_pair a, indim_pair b);
indim_pair indim_pair_scale(indim_pair a, indim_wide factor);
indim_pair indim_pair_divide(indim_pair a, indim_pair b);

// The sum of |count| numbers as if computed exactly, then rounded to a pair, however much of it cancels. Overwrites
// |terms|.
indim_pair indim_pair_sum(indim_wide *terms, int count);

// pi / 2 and log 2.
indim_pair indim_pair_half_pi(void);
indim_pair indim_pair_log2(void);

// exp(x), and exp(x) - 1 accurate near 0 too, for |x| < 1000 (700 where long double is only double).
indim_pair indim_pair_exp(indim_wide x);
indim_pair indim_pair_expm1(indim_wide x);
// log(1 + x) for x.hi > -0.9, accurate near 0 too.
indim_pair indim_pair_log1p(indim_pair x);
// log(sqrt(x^2 + y^2)) for finite x and y, not both 0, accurate near the unit circle too.
indim_pair indim_pair_log_hypot(indim_wide x, indim_wide y);
// atan(small / big) for 0 <= small <= big, big > 0, both finite.
indim_pair indim_pair_atan_ratio(indim_wide small, indim_wide big);

// An angle of (quadrant + fraction) * pi / 2 with |fraction| <= 1/2.
typedef struct indim_turns {
  int quadrant;  // 0 to 3
  indim_pair fraction;
} indim_turns;

// The angle |radians|, any finite number: reduced by as many digits of pi as it takes.
indim_turns indim_turns_of(indim_wide radians);
indim_turns indim_turns_add(indim_turns a, indim_turns b);
// Exactly 0, 1 or -1 where the fraction is 0.
void indim_turns_sincos(indim_turns angle, indim_pair *out_sin, indim_pair *out_cos);

#endif  // INDIM_EVAL_PAIR_H
