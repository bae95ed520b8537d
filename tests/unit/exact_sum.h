// Sums of products that are exact in any order, for tests that compare a kernel with the plainest loop.
#ifndef INDIM_EXACT_SUM_H
#define INDIM_EXACT_SUM_H

#include <stdint.h>

// Four sums at a time: one would wait for each of its additions.
static inline double exact_sum(const double *lhs, int64_t lhs_step, const double *rhs, int64_t rhs_step,
                               int64_t count) {
  double a = 0, b = 0, c = 0, d = 0;
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    a += lhs[0] * rhs[0];
    b += lhs[lhs_step] * rhs[rhs_step];
    c += lhs[2 * lhs_step] * rhs[2 * rhs_step];
    d += lhs[3 * lhs_step] * rhs[3 * rhs_step];
    lhs += 4 * lhs_step;
    rhs += 4 * rhs_step;
  }
  for (; i < count; i++) {
    a += *lhs * *rhs;
    lhs += lhs_step;
    rhs += rhs_step;
  }
  return a + b + (c + d);
}

#endif  // INDIM_EXACT_SUM_H
