// Squares of 4 x 4 floats or 2 x 2 doubles, transposed in registers: what the kernels of services share.
#ifndef INDIM_HOST_TRANSPOSE_SQUARE_H
#define INDIM_HOST_TRANSPOSE_SQUARE_H

#include <stdint.h>
#include <string.h>

#if defined(__GNUC__)

enum { SQUARE_BYTES = 16 };  // of a row

// to[j, i] = from[i, j], a square with rows of SQUARE_BYTES.
static inline __attribute__((always_inline)) void transpose_f32(const float *from, int64_t from_row, float *to,
                                                                int64_t to_row) {
  typedef float four __attribute__((vector_size(SQUARE_BYTES)));
  four a, b, c, d;
  memcpy(&a, from, sizeof a);
  memcpy(&b, from + from_row, sizeof b);
  memcpy(&c, from + 2 * from_row, sizeof c);
  memcpy(&d, from + 3 * from_row, sizeof d);
  four ac01 = {a[0], c[0], a[1], c[1]};
  four ac23 = {a[2], c[2], a[3], c[3]};
  four bd01 = {b[0], d[0], b[1], d[1]};
  four bd23 = {b[2], d[2], b[3], d[3]};
  a = (four){ac01[0], bd01[0], ac01[1], bd01[1]};
  b = (four){ac01[2], bd01[2], ac01[3], bd01[3]};
  c = (four){ac23[0], bd23[0], ac23[1], bd23[1]};
  d = (four){ac23[2], bd23[2], ac23[3], bd23[3]};
  memcpy(to, &a, sizeof a);
  memcpy(to + to_row, &b, sizeof b);
  memcpy(to + 2 * to_row, &c, sizeof c);
  memcpy(to + 3 * to_row, &d, sizeof d);
}

static inline __attribute__((always_inline)) void transpose_f64(const double *from, int64_t from_row, double *to,
                                                                int64_t to_row) {
  typedef double two __attribute__((vector_size(SQUARE_BYTES)));
  two a, b;
  memcpy(&a, from, sizeof a);
  memcpy(&b, from + from_row, sizeof b);
  two first = {a[0], b[0]};
  two second = {a[1], b[1]};
  memcpy(to, &first, sizeof first);
  memcpy(to + to_row, &second, sizeof second);
}

#define TRANSPOSE(from, ...) _Generic(*(from), float : transpose_f32, double : transpose_f64)(from, __VA_ARGS__)

#endif  // __GNUC__

#endif  // INDIM_HOST_TRANSPOSE_SQUARE_H
