// The built-in matrix product, for machines without a BLAS: plain C over vectors of the compiler's, one instance for
// each element type and vector width, dispatched to the widest that the processor has. This file is compiled with
// FMA contraction: the order and rounding of a product's sums are unspecified.
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "host/transpose_square.h"
#include "run/matmul.h"

#if defined(__GNUC__)

enum {
  TALL = 12,                   // rows of a register tile of one vector
  WIDE = 6,                    // vectors of a tile of few rows
  DOTS_N = 4,                  // columns of a tile of partial sums
  BLOCK_K = INDIM_GEMM_DEPTH,  // depth of a block: 16 KiB of packed columns of the right side
  BLOCK_BYTES = 3 << 16,       // most of a block of the left side, which stays in L2
  LONG_SUM = 8,                // vectors: those of a sum whose lanes are worth adding up at its end
  FEW_DOTS = 32,               // rows of the shorter side of a product of partial sums
  DEPTH_BYTES = 8192,          // of a row of one, at a time
  DOTS_BYTES = 1 << 15,        // of its shorter side, where it is packed
  NEAR_BYTES = 5 << 12,        // of it, where it is more than twice that: what stays in L1 beside the other side,
  NEAR_VECTORS = 32,           // unless its rows are shorter then, whose lanes take longer to add up than L1 saves
  BAND_BYTES = 1 << 15,        // of a band of a result whose columns are contiguous
  LARGE_BYTES = 1 << 20,       // of a side that does not stay in L2
  ROW_STEPS = 4,               // rows of such a right side at a time where the left one has at most MOST_ROWS
  MOST_ROWS = 12,
  ROW_BYTES = 1 << 14  // of their sums
};

#define BODY "run/gemm_body.h"
#include "host/vector_instances.h"

// A function of the widest vectors, or of 16 bytes.
#define CALL(function, type, ...)          \
  do {                                     \
    DISPATCH(function, type, __VA_ARGS__); \
    function##_##type##_16(__VA_ARGS__);   \
  } while (0)

// A vector of half the bytes holds all columns of a short sum.
static int32_t narrowed(int32_t vector_bytes, int64_t n, int64_t k, int64_t bytes) {
  return n * bytes <= 32 && k * bytes < LONG_SUM * 64 && vector_bytes > 32 ? 32 : vector_bytes;
}

static void product_f32(int32_t vector_bytes, int64_t m, int64_t n, int64_t k, const float *lhs, int64_t lhs_m,
                        int64_t lhs_k, const float *rhs, int64_t rhs_k, int64_t rhs_n, float *out, int64_t out_m,
                        bool accumulate) {
  vector_bytes = narrowed(vector_bytes, n, k, sizeof *out);
  DISPATCH(gemm, f32, m, n, k, lhs, lhs_m, lhs_k, rhs, rhs_k, rhs_n, out, out_m, 1, accumulate);
  gemm_f32_16(m, n, k, lhs, lhs_m, lhs_k, rhs, rhs_k, rhs_n, out, out_m, 1, accumulate);
}

static void product_f64(int32_t vector_bytes, int64_t m, int64_t n, int64_t k, const double *lhs, int64_t lhs_m,
                        int64_t lhs_k, const double *rhs, int64_t rhs_k, int64_t rhs_n, double *out, int64_t out_m,
                        bool accumulate) {
  vector_bytes = narrowed(vector_bytes, n, k, sizeof *out);
  DISPATCH(gemm, f64, m, n, k, lhs, lhs_m, lhs_k, rhs, rhs_k, rhs_n, out, out_m, 1, accumulate);
  gemm_f64_16(m, n, k, lhs, lhs_m, lhs_k, rhs, rhs_k, rhs_n, out, out_m, 1, accumulate);
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

#define CALL(function, type, ...) (void)vector_bytes  // nothing is packed

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

// Packed sides -----------------------------------------------------------------------------------------------------------

void indim_gemm_panels_of(indim_type type, int32_t vector_bytes, indim_gemm_panels *out) {
  *out = (indim_gemm_panels){0};
  if (type == INDIM_F32) {
    CALL(panels, f32, out);
  } else {
    CALL(panels, f64, out);
  }
}

void indim_gemm_pack_lhs(indim_type type, int32_t vector_bytes, int64_t rows, int64_t count, const void *lhs,
                         int64_t lhs_m, int64_t lhs_k, void *packed) {
  if (type == INDIM_F32) {
    CALL(pack_lhs, f32, rows, count, lhs, lhs_m, lhs_k, packed);
  } else {
    CALL(pack_lhs, f64, rows, count, lhs, lhs_m, lhs_k, packed);
  }
}

void indim_gemm_pack_rhs(indim_type type, int32_t vector_bytes, int64_t columns, int64_t count, const void *rhs,
                         int64_t rhs_k, int64_t rhs_n, void *packed) {
  if (type == INDIM_F32) {
    CALL(pack_rhs, f32, columns, count, rhs, rhs_k, rhs_n, packed);
  } else {
    CALL(pack_rhs, f64, columns, count, rhs, rhs_k, rhs_n, packed);
  }
}

void indim_gemm_packed(indim_type type, int32_t vector_bytes, int64_t m, int64_t n, int64_t count, const void *lhs,
                       const void *rhs, void *out, int64_t out_m, bool accumulate) {
  if (type == INDIM_F32) {
    CALL(packed, f32, m, n, count, lhs, rhs, out, out_m, accumulate);
  } else {
    CALL(packed, f64, m, n, count, lhs, rhs, out, out_m, accumulate);
  }
}
