// Checked arithmetic: every size that comes from outside goes through here. Each returns false on overflow and
// leaves the output unspecified.
#ifndef INDIM_BASE_SIZE_H
#define INDIM_BASE_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool indim_size_add(size_t a, size_t b, size_t *out) {
  *out = a + b;
  return a <= SIZE_MAX - b;
}

static inline bool indim_size_mul(size_t a, size_t b, size_t *out) {
  *out = a * b;
  return b == 0 || a <= SIZE_MAX / b;
}

static inline bool indim_int_add(int64_t a, int64_t b, int64_t *out) {
  if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b) {
    return false;
  }
  *out = a + b;
  return true;
}

// Both factors must not be negative: sizes and counts.
static inline bool indim_count_mul(int64_t a, int64_t b, int64_t *out) {
  if (b != 0 && a > INT64_MAX / b) {
    return false;
  }
  *out = a * b;
  return true;
}

// The greatest common divisor of two numbers, of 0 and another that one; below 0 at most if one of them is.
static inline int64_t indim_gcd(int64_t a, int64_t b) {
  while (b != 0) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

// ceil(a / b) for a >= 0, b > 0, without overflow.
static inline int64_t indim_ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0); }

#endif  // INDIM_BASE_SIZE_H
