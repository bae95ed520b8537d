// The built-in matrix product, for machines without a BLAS: plain C over vectors of the compiler's, one instance for
// each element type and vector width, dispatched to the widest that the processor has. This file is compiled with
// FMA contraction: the order and rounding of a product's sums are unspecified.
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "run/matmul.h"

#if defined(__GNUC__)

enum {
  TILE_M = 6,             // rows of a register tile: 12 of 16 registers are accumulators
  BLOCK_K = 256,          // depth of a block: 16 KiB of packed columns of the right side
  BLOCK_BYTES = 3 << 16,  // most of a block of the left side, which stays in L2
  LHS_BYTES = 3 << 14,    // the same if it is packed, on the stack
  SQUARE_BYTES = 16,      // of a row of the squares that are transposed in registers
  ROW_BYTES = 8192        // of the accumulators of a product with a single row
};

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

#define BODY "run/gemm_body.h"
#include "run/vector_instances.h"

static void product_f32(int32_t vector_bytes, int64_t m, int64_t n, int64_t k, const float *lhs, int64_t lhs_m,
                        int64_t lhs_k, const float *rhs, int64_t rhs_k, int64_t rhs_n, float *out, int64_t out_m,
                        bool accumulate) {
  DISPATCH(gemm, f32, m, n, k, lhs, lhs_m, lhs_k, rhs, rhs_k, rhs_n, out, out_m, accumulate);
  gemm_f32_16(m, n, k, lhs, lhs_m, lhs_k, rhs, rhs_k, rhs_n, out, out_m, accumulate);
}

static void product_f64(int32_t vector_bytes, int64_t m, int64_t n, int64_t k, const double *lhs, int64_t lhs_m,
                        int64_t lhs_k, const double *rhs, int64_t rhs_k, int64_t rhs_n, double *out, int64_t out_m,
                        bool accumulate) {
  DISPATCH(gemm, f64, m, n, k, lhs, lhs_m, lhs_k, rhs, rhs_k, rhs_n, out, out_m, accumulate);
  gemm_f64_16(m, n, k, lhs, lhs_m, lhs_k, rhs, rhs_k, rhs_n, out, out_m, accumulate);
}

#else  // another compiler: a plain loop order that reads and writes along rows

#define DEFINE_PRODUCT(type, REAL)                                                                                   \
  static void product_##type(int32_t vector_bytes, int64_t m, int64_t n, int64_t k, const REAL *lhs, int64_t lhs_m,  \
                             int64_t lhs_k, const REAL *rhs, int64_t rhs_k, int64_t rhs_n, REAL *out, int64_t out_m, \
                             bool accumulate) {                                                                      \
    (void)vector_bytes;                                                                                              \
    for (int64_t i = 0; i < m; i++) {                                                                                \
      for (int64_t l = 0; l < k; l++) {                                                                              \
        REAL x = lhs[i * lhs_m + l * lhs_k];                                                                         \
        for (int64_t j = 0; j < n; j++) {                                                                            \
          REAL before = accumulate || l > 0 ? out[i * out_m + j] : 0;                                                \
          out[i * out_m + j] = before + x * rhs[l * rhs_k + j * rhs_n];                                              \
        }                                                                                                            \
      }                                                                                                              \
    }                                                                                                                \
  }
DEFINE_PRODUCT(f32, float)
DEFINE_PRODUCT(f64, double)

#endif

// An empty sum is zero.
static bool is_empty(int64_t m, int64_t n, int64_t k, void *out, int64_t row_bytes, int64_t element_bytes,
                     bool accumulate) {
  if (k == 0 && !accumulate) {
    for (int64_t i = 0; i < m; i++) {
      memset((char *)out + i * row_bytes, 0, (size_t)(n * element_bytes));
    }
  }
  return m == 0 || n == 0 || k == 0;
}

void indim_gemm_f32(int32_t vector_bytes, int64_t m, int64_t n, int64_t k, const float *lhs, int64_t lhs_m,
                    int64_t lhs_k, const float *rhs, int64_t rhs_k, int64_t rhs_n, float *out, int64_t out_m,
                    bool accumulate) {
  if (!is_empty(m, n, k, out, out_m * (int64_t)sizeof *out, sizeof *out, accumulate)) {
    product_f32(vector_bytes, m, n, k, lhs, lhs_m, lhs_k, rhs, rhs_k, rhs_n, out, out_m, accumulate);
  }
}

void indim_gemm_f64(int32_t vector_bytes, int64_t m, int64_t n, int64_t k, const double *lhs, int64_t lhs_m,
                    int64_t lhs_k, const double *rhs, int64_t rhs_k, int64_t rhs_n, double *out, int64_t out_m,
                    bool accumulate) {
  if (!is_empty(m, n, k, out, out_m * (int64_t)sizeof *out, sizeof *out, accumulate)) {
    product_f64(vector_bytes, m, n, k, lhs, lhs_m, lhs_k, rhs, rhs_k, rhs_n, out, out_m, accumulate);
  }
}
