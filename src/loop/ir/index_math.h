// Index arithmetic on s64, checked or saturating, and floor division.
#ifndef INDIM_LOOP_INDEX_MATH_H
#define INDIM_LOOP_INDEX_MATH_H

#include <stdbool.h>
#include <stdint.h>

#include "indim/type.h"

// Products and sums, checked (false on overflow) or saturating; a checked product that overflows is saturated, too.
bool indim_index_mul(int64_t a, int64_t b, int64_t *out);
int64_t indim_index_mul_saturated(int64_t a, int64_t b);
int64_t indim_index_add_saturated(int64_t a, int64_t b);
// The absolute value, saturated.
static inline int64_t indim_index_abs(int64_t x) { return x >= 0 ? x : x == INT64_MIN ? INT64_MAX : -x; }
// Floor division; |divisor| positive. The remainder is in [0, divisor).
int64_t indim_index_floordiv(int64_t value, int64_t divisor);
int64_t indim_index_modulo(int64_t value, int64_t divisor);
// The range of an integer type or pred, u64 clipped to s64. False for other types.
bool indim_index_type_range(indim_type type, int64_t *out_low, int64_t *out_high);

#endif  // INDIM_LOOP_INDEX_MATH_H
