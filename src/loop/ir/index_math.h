// The arithmetic of indices: s64 that says whether a result fits or stops at the ends, and division rounded down.
#ifndef INDIM_LOOP_INDEX_MATH_H
#define INDIM_LOOP_INDEX_MATH_H

#include <stdbool.h>
#include <stdint.h>

#include "indim/type.h"

// Products and sums that stop at the ends of s64, and such that say whether they did not.
bool indim_index_mul(int64_t a, int64_t b, int64_t *out);
int64_t indim_index_mul_saturated(int64_t a, int64_t b);
int64_t indim_index_add_saturated(int64_t a, int64_t b);
// Without the sign, likewise.
static inline int64_t indim_index_abs(int64_t x) { return x >= 0 ? x : x == INT64_MIN ? INT64_MAX : -x; }
// Rounded down; |divisor| positive. The remainder is in [0, divisor).
int64_t indim_index_floordiv(int64_t value, int64_t divisor);
int64_t indim_index_modulo(int64_t value, int64_t divisor);
// The values an integer type or pred has, u64 as far as s64 goes. False for other types.
bool indim_index_type_range(indim_type type, int64_t *out_low, int64_t *out_high);

#endif  // INDIM_LOOP_INDEX_MATH_H
