// Squares of 4 x 4 floats or 2 x 2 doubles, transposed in registers, and the places of words that do it: what the kernels of services
// share.
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
// Words of two vectors of so many bytes, alternately, of the lower or upper half of each of their quarters of 16 bytes, and the same of
// pairs of words: PASTE(LOWER, VECTOR_BYTES).
#define LOWER_16 0, 4, 1, 5
#define UPPER_16 2, 6, 3, 7
#define LOWER_PAIRS_16 0, 1, 4, 5
#define UPPER_PAIRS_16 2, 3, 6, 7
#define LOWER_32 0, 8, 1, 9, 4, 12, 5, 13
#define UPPER_32 2, 10, 3, 11, 6, 14, 7, 15
#define LOWER_PAIRS_32 0, 1, 8, 9, 4, 5, 12, 13
#define UPPER_PAIRS_32 2, 3, 10, 11, 6, 7, 14, 15
#define LOWER_64 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29
#define UPPER_64 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31
#define LOWER_PAIRS_64 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29
#define UPPER_PAIRS_64 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31

typedef int32_t indim_float_places __attribute__((vector_size(SQUARE_BYTES)));
typedef int64_t indim_double_places __attribute__((vector_size(SQUARE_BYTES)));

typedef uint32_t indim_word_row __attribute__((vector_size(SQUARE_BYTES)));

// to[j, i] = from[i, j] ^ flip, a square of words of 32 bits; the rows lie so many bytes apart.
static inline __attribute__((always_inline)) void transpose_words(const char *from, int64_t from_bytes, uint32_t flip,
                                                                  char *to, int64_t to_bytes) {
  indim_word_row a, b, c, d;
  memcpy(&a, from, sizeof a);
  memcpy(&b, from + from_bytes, sizeof b);
  memcpy(&c, from + 2 * from_bytes, sizeof c);
  memcpy(&d, from + 3 * from_bytes, sizeof d);
  indim_word_row ab01 = SHUFFLE(indim_word_row, a, b, 0, 4, 1, 5) ^ flip;
  indim_word_row ab23 = SHUFFLE(indim_word_row, a, b, 2, 6, 3, 7) ^ flip;
  indim_word_row cd01 = SHUFFLE(indim_word_row, c, d, 0, 4, 1, 5) ^ flip;
  indim_word_row cd23 = SHUFFLE(indim_word_row, c, d, 2, 6, 3, 7) ^ flip;
  a = SHUFFLE(indim_word_row, ab01, cd01, 0, 1, 4, 5);
  b = SHUFFLE(indim_word_row, ab01, cd01, 2, 3, 6, 7);
  c = SHUFFLE(indim_word_row, ab23, cd23, 0, 1, 4, 5);
  d = SHUFFLE(indim_word_row, ab23, cd23, 2, 3, 6, 7);
  memcpy(to, &a, sizeof a);
  memcpy(to + to_bytes, &b, sizeof b);
  memcpy(to + 2 * to_bytes, &c, sizeof c);
  memcpy(to + 3 * to_bytes, &d, sizeof d);
}

// to[j, i] = from[i, j], a square with rows of SQUARE_BYTES.
static inline __attribute__((always_inline)) void transpose_f32(const float *from, int64_t from_row, float *to,
                                                                int64_t to_row) {
  const int64_t size = sizeof *from;
  transpose_words((const char *)from, from_row * size, 0, (char *)to, to_row * size);
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
