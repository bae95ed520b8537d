// Arithmetic and a few elementary functions on pairs of long doubles. Functions start from the C library's value or a
// short Taylor series after halving the argument, and are carried to full accuracy by one Newton step where an inverse
// is at hand: log from exp, atan from sine and cosine.
#include "eval/pair.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

// 2^s + 1 with s half the significand, rounded up: multiplying by it cuts a number into two halves.
#define SPLITTER ((indim_wide)(UINT64_C(1) << (LDBL_MANT_DIG + 1) / 2) + 1)

// As indim_pair_of_sum, for |a| >= |b| or a == 0.
static indim_pair ordered_sum(indim_wide a, indim_wide b) {
  indim_wide sum = a + b;
  return (indim_pair){sum, b - (sum - a)};
}

static indim_pair pair_of(indim_wide a) { return (indim_pair){a, 0}; }

// Cuts |a| into two parts whose products with other such parts are exact.
static indim_pair split(indim_wide a) {
  if (fabsl(a) > LDBL_MAX / (2 * SPLITTER)) {
    indim_pair part = split(ldexpl(a, -LDBL_MANT_DIG));
    return (indim_pair){ldexpl(part.hi, LDBL_MANT_DIG), ldexpl(part.lo, LDBL_MANT_DIG)};
  }
  indim_wide scaled = SPLITTER * a;
  indim_wide hi = scaled - (scaled - a);
  return (indim_pair){hi, a - hi};
}

indim_pair indim_pair_product(indim_wide a, indim_wide b) {
  indim_wide product = a * b;
  indim_pair x = split(a);
  indim_pair y = split(b);
  return (indim_pair){product, ((x.hi * y.hi - product) + x.hi * y.lo + x.lo * y.hi) + x.lo * y.lo};
}

indim_pair indim_pair_add(indim_pair a, indim_pair b) {
  indim_pair high = indim_pair_of_sum(a.hi, b.hi);
  indim_pair low = indim_pair_of_sum(a.lo, b.lo);
  high = ordered_sum(high.hi, high.lo + low.hi);
  return ordered_sum(high.hi, high.lo + low.lo);
}

indim_pair indim_pair_negate(indim_pair a) { return (indim_pair){-a.hi, -a.lo}; }

indim_pair indim_pair_multiply(indim_pair a, indim_pair b) {
  indim_pair product = indim_pair_product(a.hi, b.hi);
  return ordered_sum(product.hi, product.lo + (a.hi * b.lo + a.lo * b.hi));
}

indim_pair indim_pair_scale(indim_pair a, indim_wide factor) {
  indim_pair product = indim_pair_product(a.hi, factor);
  return ordered_sum(product.hi, product.lo + a.lo * factor);
}

indim_pair indim_pair_divide(indim_pair a, indim_pair b) {
  indim_wide first = a.hi / b.hi;
  indim_pair rest = indim_pair_add(a, indim_pair_negate(indim_pair_scale(b, first)));
  indim_wide second = rest.hi / b.hi;
  rest = indim_pair_add(rest, indim_pair_negate(indim_pair_scale(b, second)));
  indim_pair quotient = ordered_sum(first, second);
  return indim_pair_add(quotient, pair_of(rest.hi / b.hi));
}

indim_pair indim_pair_sum(indim_wide *terms, int count) {
  // Each pass moves the rounding errors of the running sum down; after count - 1 passes no two terms overlap.
  for (int pass = 1; pass < count; ++pass) {
    for (int i = 1; i < count; ++i) {
      indim_pair sum = indim_pair_of_sum(terms[i], terms[i - 1]);
      terms[i] = sum.hi;
      terms[i - 1] = sum.lo;
    }
  }
  indim_pair total = pair_of(terms[0]);
  for (int i = 1; i < count; ++i) {
    total = indim_pair_add(total, pair_of(terms[i]));
  }
  return total;
}

// a / divisor for a small integer.
static indim_pair divide_by(indim_pair a, int divisor) {
  indim_wide quotient = a.hi / (indim_wide)divisor;
  indim_pair back = indim_pair_product(quotient, (indim_wide)divisor);
  indim_wide rest = ((a.hi - back.hi) - back.lo) + a.lo;
  return ordered_sum(quotient, rest / (indim_wide)divisor);
}

// A constant from doubles that add up to it, largest first: 212 bits, enough for a pair of binary128 to be as good as
// its first half needs.
static indim_pair constant(const double chunks[4]) {
  indim_pair sum = pair_of((indim_wide)chunks[3]);
  for (int i = 2; i >= 0; --i) {
    sum = indim_pair_add(sum, pair_of((indim_wide)chunks[i]));
  }
  return sum;
}

indim_pair indim_pair_half_pi(void) {
  static const double chunks[4] = {0x1.921FB54442D18p+0, 0x1.1A62633145C07p-54, -0x1.F1976B7ED8FBCp-110,
                                   0x1.4CF98E804177Dp-164};
  return constant(chunks);
}

indim_pair indim_pair_log2(void) {
  static const double chunks[4] = {0x1.62E42FEFA39EFp-1, 0x1.ABC9E3B39803Fp-56, 0x1.7B57A079A1934p-111,
                                   -0x1.ACE93A4EBE5D1p-165};
  return constant(chunks);
}

static indim_pair two_over_pi(void) {
  static const double chunks[4] = {0x1.45F306DC9C883p-1, -0x1.6B01EC5417056p-55, -0x1.6447E493AD4CEp-109,
                                   0x1.E21C820FF28B2p-163};
  return constant(chunks);
}

// Terms of a Taylor series in x / 16 or x^2 that reach below the last bit of a pair.
#define EXP_TERMS (LDBL_MANT_DIG > 64 ? 26 : 15)
#define SINE_TERMS (LDBL_MANT_DIG > 64 ? 26 : 16)

// exp(r) - 1 for |r| <= 0.35: the series at r / 16, then four times e(2r) = e(r) * (2 + e(r)).
static indim_pair small_expm1(indim_pair r) {
  r = (indim_pair){r.hi / 16, r.lo / 16};
  indim_pair sum = pair_of(1);
  for (int n = EXP_TERMS; n >= 2; --n) {
    sum = indim_pair_multiply(sum, divide_by(r, n));
    sum = indim_pair_add(pair_of(1), sum);
  }
  sum = indim_pair_multiply(sum, r);
  for (int i = 0; i < 4; ++i) {
    sum = indim_pair_multiply(sum, indim_pair_add(pair_of(2), sum));
  }
  return sum;
}

// x = k log 2 + r with |r| <= 0.35.
static indim_pair reduced_by_log2(indim_wide x, int *out_k) {
  indim_pair log2 = indim_pair_log2();
  *out_k = (int)lrintl(x / log2.hi);
  return indim_pair_add(pair_of(x), indim_pair_scale(log2, (indim_wide) - *out_k));
}

indim_pair indim_pair_exp(indim_wide x) {
  int k;
  indim_pair r = reduced_by_log2(x, &k);
  indim_pair power = indim_pair_add(pair_of(1), small_expm1(r));
  return (indim_pair){ldexpl(power.hi, k), ldexpl(power.lo, k)};
}

indim_pair indim_pair_expm1(indim_wide x) {
  int k;
  indim_pair r = reduced_by_log2(x, &k);
  return k == 0 ? small_expm1(r) : indim_pair_add(indim_pair_exp(x), pair_of(-1));
}

// log(n) for n in [1/8, 8], right to a pair's last bits in absolute terms: with l close to log(n) and d = n / e^l - 1,
// log(n) = l + d - d^2 / 2, and d is so small that the next term is out of sight.
static indim_pair log_by_newton(indim_pair n) {
  indim_wide guess = logl(n.hi);
  indim_pair inverse = indim_pair_exp(-guess);
  indim_pair d = indim_pair_add(indim_pair_multiply(n, inverse), pair_of(-1));
  indim_pair step = indim_pair_add(d, pair_of(-d.hi * d.hi / 2));
  return indim_pair_add(pair_of(guess), step);
}

indim_pair indim_pair_log1p(indim_pair x) {
  if (fabsl(x.hi) >= 0x1p-10L) {
    return log_by_newton(indim_pair_add(pair_of(1), x));
  }
  // 2 atanh(u) with u = x / (2 + x): the series 2 (u + u^3 / 3 + u^5 / 5 + ...), each term 2^-22 of the one before.
  indim_pair u = indim_pair_divide(x, indim_pair_add(pair_of(2), x));
  indim_pair square = indim_pair_multiply(u, u);
  indim_pair sum = pair_of(0);
  for (int n = LDBL_MANT_DIG > 64 ? 23 : 13; n >= 1; n -= 2) {
    sum = indim_pair_add(indim_pair_multiply(sum, square), divide_by(pair_of(2), n));
  }
  return indim_pair_multiply(sum, u);
}

indim_pair indim_pair_log_hypot(indim_wide x, indim_wide y) {
  indim_wide largest = fmaxl(fabsl(x), fabsl(y));
  int exponent = 0;
  bool is_near_one = largest >= 0.5L && largest < 2;
  if (!is_near_one) {
    (void)frexpl(largest, &exponent);
    x = ldexpl(x, -exponent);
    y = ldexpl(y, -exponent);
  }
  indim_pair xx = indim_pair_product(x, x);
  indim_pair yy = indim_pair_product(y, y);
  indim_wide terms[] = {xx.hi, yy.hi, -1, xx.lo, yy.lo};
  indim_pair twice = indim_pair_log1p(indim_pair_sum(terms, 5));
  twice = indim_pair_add(twice, indim_pair_scale(indim_pair_log2(), (indim_wide)(2 * exponent)));
  return (indim_pair){twice.hi / 2, twice.lo / 2};
}

// sin(r) and cos(r) for |r| <= pi / 4, by their Taylor series.
static void small_sincos(indim_pair r, indim_pair *out_sin, indim_pair *out_cos) {
  indim_pair square = indim_pair_negate(indim_pair_multiply(r, r));
  indim_pair sine = pair_of(1);
  indim_pair cosine = pair_of(1);
  for (int n = 2 * SINE_TERMS; n >= 2; n -= 2) {
    indim_pair step = divide_by(square, n * (n + 1));
    sine = indim_pair_add(pair_of(1), indim_pair_multiply(sine, step));
    step = divide_by(square, n * (n - 1));
    cosine = indim_pair_add(pair_of(1), indim_pair_multiply(cosine, step));
  }
  *out_sin = indim_pair_multiply(sine, r);
  *out_cos = cosine;
}

indim_pair indim_pair_atan_ratio(indim_wide small, indim_wide big) {
  if (small == 0) {
    return pair_of(0);
  }
  // With a close to the angle, atan(small / big) = a + atan(d), d = (small cos a - big sin a) / (big cos a + small sin a).
  indim_wide guess = atan2l(small, big);
  indim_pair sine;
  indim_pair cosine;
  small_sincos(pair_of(guess), &sine, &cosine);
  indim_pair above = indim_pair_add(indim_pair_scale(cosine, small), indim_pair_negate(indim_pair_scale(sine, big)));
  indim_pair below = indim_pair_add(indim_pair_scale(cosine, big), indim_pair_scale(sine, small));
  return indim_pair_add(pair_of(guess), indim_pair_divide(above, below));
}

// The bits of 2 / pi after the point, 32 at a time: enough for the largest exponent of a power's angle (2^1100) and
// WINDOW words beyond.
static const uint32_t two_over_pi_bits[] = {
    0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0, 0xDB629599, 0x3C439041, 0xFE5163AB, 0xDEBBC561,
    0xB7246E3A, 0x424DD2E0, 0x06492EEA, 0x09D1921C, 0xFE1DEB1C, 0xB129A73E, 0xE88235F5, 0x2EBB4484,
    0xE99C7026, 0xB45F7E41, 0x3991D639, 0x835339F4, 0x9C845F8B, 0xBDF9283B, 0x1FF897FF, 0xDE05980F,
    0xEF2F118B, 0x5A0A6D1F, 0x6D367ECF, 0x27CB09B7, 0x4F463F66, 0x9E5FEA2D, 0x7527BAC7, 0xEBE5F17B,
    0x3D0739F7, 0x8A5292EA, 0x6BFB5FB1, 0x1F8D5D08, 0x56033046, 0xFC7B6BAB, 0xF0CFBC20, 0x9AF4361D,
    0xA9E39161, 0x5EE61B08, 0x6599855F, 0x14A06840, 0x8DFFD880, 0x4D732731, 0x06061556, 0xCA73A8C9,
};
#define WINDOW 10
#define LIMBS (WINDOW + 2)
#define LARGEST_EXPONENT (32 * ((int)(sizeof two_over_pi_bits / sizeof two_over_pi_bits[0]) - WINDOW))

// product[] = integer * the window of 2 / pi that starts at word |first|, least significant limb first.
static void multiply_window(uint64_t integer, int first, uint32_t product[LIMBS]) {
  for (int i = 0; i < LIMBS; ++i) {
    product[i] = 0;
  }
  const uint32_t halves[2] = {(uint32_t)integer, (uint32_t)(integer >> 32)};
  for (int h = 0; h < 2; ++h) {
    uint64_t carry = 0;
    for (int i = 0; i < WINDOW; ++i) {
      carry += (uint64_t)halves[h] * two_over_pi_bits[first + WINDOW - 1 - i] + product[i + h];
      product[i + h] = (uint32_t)carry;
      carry >>= 32;
    }
    product[WINDOW + h] = (uint32_t)carry;
  }
}

static uint32_t bit_at(const uint32_t limbs[LIMBS], int bit) { return limbs[bit / 32] >> (bit % 32) & 1; }

// integer * 2^exponent radians, for integer < 2^53. Words of 2 / pi that contribute whole turns only are left out,
// then those too small to matter; what stays is an integer product whose point is at bit |point|.
static indim_turns turns_of_chunk(uint64_t integer, int exponent) {
  int first = exponent < 2 ? 0 : (exponent - 2) / 32;
  uint32_t product[LIMBS];
  multiply_window(integer, first, product);
  int point = 32 * (first + WINDOW) - exponent;
  int quadrant = (int)(bit_at(product, point) | bit_at(product, point + 1) << 1);
  bool is_upper_half = bit_at(product, point - 1) != 0;
  for (int i = 0; i < LIMBS; ++i) {  // keep the fraction; of an upper half, what is missing to the next quadrant
    uint32_t mask = i < point / 32 ? UINT32_MAX : i == point / 32 ? (UINT32_C(1) << (point % 32)) - 1 : 0;
    product[i] = (is_upper_half ? ~product[i] : product[i]) & mask;
  }
  indim_pair fraction = pair_of(0);
  for (int i = 0; i < LIMBS; ++i) {
    fraction = indim_pair_add(pair_of(ldexpl((indim_wide)product[i], 32 * i - point)), fraction);
  }
  if (is_upper_half) {
    return (indim_turns){(quadrant + 1) % 4, indim_pair_negate(fraction)};
  }
  return (indim_turns){quadrant, fraction};
}

indim_turns indim_turns_of(indim_wide radians) {
  if (fabsl(radians) < 0.5L) {
    return (indim_turns){0, indim_pair_scale(two_over_pi(), radians)};
  }
  int exponent;
  indim_wide rest = frexpl(fabsl(radians), &exponent);
  if (exponent > LARGEST_EXPONENT) {
    return (indim_turns){0, pair_of(0)};
  }
  indim_turns turns = {0, {0, 0}};
  while (rest != 0) {
    rest = ldexpl(rest, 53);
    exponent -= 53;
    uint64_t integer = (uint64_t)rest;
    rest -= (indim_wide)integer;
    indim_turns chunk = integer == 0      ? (indim_turns){0, {0, 0}}
                        : exponent >= -53 ? turns_of_chunk(integer, exponent)
                                          : indim_turns_of(ldexpl((indim_wide)integer, exponent));
    turns = indim_turns_add(turns, chunk);
  }
  return radians < 0 ? (indim_turns){(4 - turns.quadrant) % 4, indim_pair_negate(turns.fraction)} : turns;
}

indim_turns indim_turns_add(indim_turns a, indim_turns b) {
  indim_pair sum = indim_pair_add(a.fraction, b.fraction);
  int whole = sum.hi > 0.5L ? 1 : sum.hi < -0.5L ? -1 : 0;
  sum = indim_pair_add(sum, pair_of((indim_wide)-whole));
  return (indim_turns){(a.quadrant + b.quadrant + whole + 4) % 4, sum};
}

void indim_turns_sincos(indim_turns angle, indim_pair *out_sin, indim_pair *out_cos) {
  indim_pair sine;
  indim_pair cosine;
  small_sincos(indim_pair_multiply(angle.fraction, indim_pair_half_pi()), &sine, &cosine);
  switch (angle.quadrant) {
  case 0:
    *out_sin = sine;
    *out_cos = cosine;
    break;
  case 1:
    *out_sin = cosine;
    *out_cos = indim_pair_negate(sine);
    break;
  case 2:
    *out_sin = indim_pair_negate(sine);
    *out_cos = indim_pair_negate(cosine);
    break;
  default:
    *out_sin = indim_pair_negate(cosine);
    *out_cos = sine;
    break;
  }
}
