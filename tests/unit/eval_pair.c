// Pairs of long doubles: sums and products without error, and functions held against identities that only hold to far
// more digits than one long double has.
#include "eval/pair.h"

#include <math.h>

#include "test.h"

static const indim_pair one = {1, 0};

// |a - b| at most 2^-(bits) |b|, where |bits| counts down from what a pair carries.
static bool agrees(indim_pair a, indim_pair b, int lost_bits) {
  indim_pair difference = indim_pair_add(a, indim_pair_negate(b));
  return fabsl(difference.hi) <= ldexpl(fabsl(b.hi), lost_bits - 2 * LDBL_MANT_DIG);
}

TEST(sums_without_error) {
  indim_pair sum = indim_pair_of_sum(1, 0x1p-200L);
  CHECK(sum.hi == 1 && sum.lo == 0x1p-200L);
  indim_wide terms[] = {0x1p-300L, 1, 0x1p-100L, -1, 0x1p-700L, -0x1p-100L};
  sum = indim_pair_sum(terms, 6);
  CHECK(sum.hi == 0x1p-300L && sum.lo == 0x1p-700L);
  indim_wide nothing[] = {1, -1};
  CHECK(indim_pair_sum(nothing, 2).hi == 0);
}

TEST(products_without_error) {
  indim_wide x = 1 + LDBL_EPSILON;
  indim_pair square = indim_pair_product(x, x);
  CHECK(square.hi == 1 + 2 * LDBL_EPSILON && square.lo == LDBL_EPSILON * LDBL_EPSILON);
  // Next to the largest number, where cutting it in halves could overflow.
  square = indim_pair_product(LDBL_MAX / 4, 1 - LDBL_EPSILON);
  CHECK(isfinite(square.hi) && isfinite(square.lo));
  indim_pair third = indim_pair_divide(one, (indim_pair){3, 0});
  CHECK(agrees(indim_pair_scale(third, 3), one, 4));
  CHECK(third.lo != 0);
}

TEST(exp_and_log_are_inverses) {
  for (int i = -34; i <= 34; ++i) {
    indim_wide x = (indim_wide)i * 17.125L;
    CHECK_MSG(agrees(indim_pair_multiply(indim_pair_exp(x), indim_pair_exp(-x)), one, 12), "exp(%Lg)", x);
  }
  for (int i = -120; i <= 2; ++i) {
    indim_wide x = ldexpl(i % 2 == 0 ? 0.75L : -0.75L, i < 0 ? i : 0);
    indim_pair back = indim_pair_log1p(indim_pair_expm1(x));
    CHECK_MSG(agrees(back, (indim_pair){x, 0}, 14), "log1p(expm1(%Lg)) - x is %Lg", x, back.hi - x + back.lo);
  }
  // e to its last bits: the factorials' sum.
  indim_pair e = one;
  for (int n = 40; n >= 1; --n) {
    e = indim_pair_add(one, indim_pair_divide(e, (indim_pair){(indim_wide)n, 0}));
  }
  CHECK(agrees(indim_pair_exp(1), e, 8));
}

TEST(log_of_a_modulus) {
  // log |2^k (3 + 4 i)| = k log 2 + log 5, near the ends of the exponents too.
  indim_pair log5 = indim_pair_log1p((indim_pair){4, 0});
  for (int k = -1000; k <= 1000; k += 125) {
    indim_pair expected = indim_pair_add(log5, indim_pair_scale(indim_pair_log2(), (indim_wide)k));
    CHECK_MSG(agrees(indim_pair_log_hypot(ldexpl(3, k), ldexpl(-4, k)), expected, 16), "k %d", k);
  }
  // log |1 + i y| = y^2 / 2 - y^4 / 4 + ...
  CHECK(indim_pair_log_hypot(1, 0x1p-400L).hi == 0x1p-801L);
  // |(x, y)|^2 = 1 + 2^-104 where x = 1 - 2^-53 and y^2 is as good as what is missing.
  indim_wide x = 1 - 0x1p-40L;
  indim_wide y = sqrtl((1 - x) * (1 + x));
  indim_wide terms[] = {indim_pair_product(x, x).hi, indim_pair_product(x, x).lo, indim_pair_product(y, y).hi,
                        indim_pair_product(y, y).lo, -1};
  indim_pair excess = indim_pair_sum(terms, 5);
  indim_pair twice = indim_pair_scale(indim_pair_log_hypot(x, y), 2);
  CHECK(fabsl(excess.hi) < 8 * LDBL_EPSILON && fabsl(twice.hi - excess.hi) <= 2 * LDBL_EPSILON * fabsl(excess.hi));
}

TEST(atan_and_turns_agree) {
  for (int i = 1; i <= 200; ++i) {
    indim_wide small = (indim_wide)i;
    indim_pair angle = indim_pair_atan_ratio(small, 200);
    indim_pair sine;
    indim_pair cosine;
    indim_turns turns = indim_turns_add(indim_turns_of(angle.hi), indim_turns_of(angle.lo));
    indim_turns_sincos(turns, &sine, &cosine);
    CHECK_MSG(agrees(indim_pair_scale(sine, 200), indim_pair_scale(cosine, small), 12), "atan(%d / 200)", i);
    indim_pair norm = indim_pair_add(indim_pair_multiply(sine, sine), indim_pair_multiply(cosine, cosine));
    CHECK_MSG(agrees(norm, one, 8), "sin^2 + cos^2 at atan(%d / 200)", i);
  }
  CHECK(indim_pair_atan_ratio(0, 1).hi == 0);
}

// Every quadrant, every size: against the C library as far as it goes, and by the double angle beyond.
TEST(reduction_of_angles) {
  indim_wide x = 0.7L;
  for (int i = 0; i < 1000; ++i) {
    x = i % 2 == 0 ? -x * 2.0078125L : x;
    indim_wide angle = (indim_wide)(double)x;
    if (fabsl(angle) > 0x1p1020L) {
      break;
    }
    indim_pair sine;
    indim_pair cosine;
    indim_turns_sincos(indim_turns_of(angle), &sine, &cosine);
    CHECK_MSG(fabsl(sine.hi - sinl(angle)) <= 4 * LDBL_EPSILON && fabsl(cosine.hi - cosl(angle)) <= 4 * LDBL_EPSILON,
              "%La", angle);
    indim_pair double_sine;
    indim_pair double_cosine;
    indim_turns_sincos(indim_turns_of(2 * angle), &double_sine, &double_cosine);
    indim_pair product = indim_pair_scale(indim_pair_multiply(sine, cosine), 2);
    indim_pair difference = indim_pair_add(product, indim_pair_negate(double_sine));
    CHECK_MSG(fabsl(difference.hi) <= ldexpl(1, 10 - 2 * LDBL_MANT_DIG), "2 * %La", angle);
  }
  // Multiples of pi / 2 stay as small as they are: the double nearest pi misses it by 1.2246...e-16.
  indim_pair sine;
  indim_pair cosine;
  indim_turns_sincos(indim_turns_of(0x1.921FB54442D18p1L), &sine, &cosine);
  indim_pair missing =
      indim_pair_add(indim_pair_scale(indim_pair_half_pi(), 2), (indim_pair){-0x1.921FB54442D18p1L, 0});
  CHECK(sine.hi == missing.hi && cosine.hi == -1);
  // Exact quarters.
  for (int quadrant = 0; quadrant < 4; ++quadrant) {
    indim_turns_sincos((indim_turns){quadrant, {0, 0}}, &sine, &cosine);
    CHECK(sine.hi == (quadrant % 2 == 0 ? 0 : 2 - quadrant) && cosine.hi == (quadrant % 2 == 1 ? 0 : 1 - quadrant));
  }
}

#define CASES(X)              \
  X(sums_without_error)       \
  X(products_without_error)   \
  X(exp_and_log_are_inverses) \
  X(log_of_a_modulus)         \
  X(atan_and_turns_agree)     \
  X(reduction_of_angles)
TEST_MAIN(CASES)
