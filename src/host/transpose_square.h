// Squares of 4 x 4 floats or 2 x 2 doubles, transposed in registers: what the kernels of services share.
#ifndef INDIM_HOST_TRANSPOSE_SQUARE_H
#define INDIM_HOST_TRANSPOSE_SQUARE_H

#include <stdint.h>
#include <string.h>

#if defined(__GNUC__)

enum { SQUARE_BYTES = 16 };  // of a row

typedef float indim_float_row __attribute__((vector_size(SQUARE_BYTES)));
typedef double indim_double_row __attribute__((vector_size(SQUARE_BYTES)));

// Elements of two vectors by their places, those of the second behind the first's; |places|: a vector of integers as wide. Built from
// its elements one by one a vector goes through general registers with GCC.
#if defined(__clang__) || __GNUC__ >= 12
#define SHUFFLE(places, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(places, a, b, ...) __builtin_shuffle(a, b, (places){__VA_ARGS__})
#endif
typedef int32_t indim_float_places __attribute__((vector_size(SQUARE_BYTES)));
typedef int64_t indim_double_places __attribute__((vector_size(SQUARE_BYTES)));

// to[j, i] = from[i, j], a square with rows of SQUARE_BYTES.
static inline __attribute__((always_inline)) void transpose_f32(const float *from, int64_t from_row, float *to,
                                                                int64_t to_row) {
  indim_float_row a, b, c, d;
  memcpy(&a, from, sizeof a);
  memcpy(&b, from + from_row, sizeof b);
  memcpy(&c, from + 2 * from_row, sizeof c);
  memcpy(&d, from + 3 * from_row, sizeof d);
  indim_float_row ab01 = SHUFFLE(indim_float_places, a, b, 0, 4, 1, 5);
  indim_float_row ab23 = SHUFFLE(indim_float_places, a, b, 2, 6, 3, 7);
  indim_float_row cd01 = SHUFFLE(indim_float_places, c, d, 0, 4, 1, 5);
  indim_float_row cd23 = SHUFFLE(indim_float_places, c, d, 2, 6, 3, 7);
  a = SHUFFLE(indim_float_places, ab01, cd01, 0, 1, 4, 5);
  b = SHUFFLE(indim_float_places, ab01, cd01, 2, 3, 6, 7);
  c = SHUFFLE(indim_float_places, ab23, cd23, 0, 1, 4, 5);
  d = SHUFFLE(indim_float_places, ab23, cd23, 2, 3, 6, 7);
  memcpy(to, &a, sizeof a);
  memcpy(to + to_row, &b, sizeof b);
  memcpy(to + 2 * to_row, &c, sizeof c);
  memcpy(to + 3 * to_row, &d, sizeof d);
}

static inline __attribute__((always_inline)) void transpose_f64(const double *from, int64_t from_row, double *to,
                                                                int64_t to_row) {
  indim_double_row a, b;
  memcpy(&a, from, sizeof a);
  memcpy(&b, from + from_row, sizeof b);
  indim_double_row first = SHUFFLE(indim_double_places, a, b, 0, 2);
  indim_double_row second = SHUFFLE(indim_double_places, a, b, 1, 3);
  memcpy(to, &first, sizeof first);
  memcpy(to + to_row, &second, sizeof second);
}

#define TRANSPOSE(from, ...) _Generic(*(from), float : transpose_f32, double : transpose_f64)(from, __VA_ARGS__)

#endif  // __GNUC__

#endif  // INDIM_HOST_TRANSPOSE_SQUARE_H
