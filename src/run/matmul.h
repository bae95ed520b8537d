// The host's matrix product (indim_host.h): a library's if there is one, else the built-in one.
#ifndef INDIM_RUN_MATMUL_H
#define INDIM_RUN_MATMUL_H

#include "indim/execute.h"
#include "indim/indim_host.h"

// Functions of a BLAS through its C interface, and the library itself. All NULL: the built-in product.
typedef struct indim_blas {
  int32_t vector_bytes;  // of the built-in product: those of the program's target, 0: the widest available
  void *library;
  void (*sgemm)(int order, int lhs_transposed, int rhs_transposed, int m, int n, int k, float alpha, const float *lhs,
                int lhs_stride, const float *rhs, int rhs_stride, float beta, float *out, int out_stride);
  void (*dgemm)(int order, int lhs_transposed, int rhs_transposed, int m, int n, int k, double alpha, const double *lhs,
                int lhs_stride, const double *rhs, int rhs_stride, double beta, double *out, int out_stride);
} indim_blas;

// Loads an OpenBLAS that several threads may call at once (Debian: libopenblas0-pthread); everything stays NULL when
// there is none, or one whose code is not for this processor. Turns off its own threads, for the whole process. blas.c.
void indim_blas_open(indim_blas *out_blas);
void indim_blas_close(indim_blas *blas);

// Whether a library would compute this product faster than the built-in code: it is large. Loading one takes a tenth of a
// second, so programs without such products do not.
bool indim_matmul_wants_library(const indim_host_matmul *sizes, int32_t vector_bytes);

// Computes the product, split into blocks, or a long sum into parts, by its sizes alone and distributed by |parallel| (NULL: sequentially), so
// that the result is the same for any number of threads. A large product takes some MB meanwhile, if it gets them. False for invalid sizes: a type other than
// those of host/matmul.h, a negative size, an operand of which neither stride is 1.
bool indim_matmul_run(const indim_blas *blas, indim_parallel_fn *parallel, void *parallel_user,
                      const indim_host_matmul *sizes, void *out, const void *lhs, const void *rhs);

// One block by the built-in product, with vectors of at most so many bytes, as far as the processor has them: out[m, n]
// (+)= sum over k of lhs[m, k] * rhs[k, n]. The strides in elements are arbitrary.
void indim_gemm_f32(int32_t vector_bytes, int64_t m, int64_t n, int64_t k, const float *lhs, int64_t lhs_m,
                    int64_t lhs_k, const float *rhs, int64_t rhs_k, int64_t rhs_n, float *out, int64_t out_m,
                    bool accumulate);
void indim_gemm_f64(int32_t vector_bytes, int64_t m, int64_t n, int64_t k, const double *lhs, int64_t lhs_m,
                    int64_t lhs_k, const double *rhs, int64_t rhs_k, int64_t rhs_n, double *out, int64_t out_m,
                    bool accumulate);

// Both sides packed: panels of so many rows of the left side and columns of the right one, all steps of a panel one after the
// other. 0: the compiler has no vectors for it.
typedef struct indim_gemm_panels {
  int64_t rows, columns;
} indim_gemm_panels;

enum { INDIM_GEMM_DEPTH = 256 };  // steps of the sum that are added up before they are added to what is there

void indim_gemm_panels_of(indim_type type, int32_t vector_bytes, indim_gemm_panels *out);
// Packs |count| steps, into whole panels, aligned to 64 bytes.
void indim_gemm_pack_lhs(indim_type type, int32_t vector_bytes, int64_t rows, int64_t count, const void *lhs,
                         int64_t lhs_m, int64_t lhs_k, void *packed);
void indim_gemm_pack_rhs(indim_type type, int32_t vector_bytes, int64_t columns, int64_t count, const void *rhs,
                         int64_t rhs_k, int64_t rhs_n, void *packed);
// out[m, n] (+)= their product, the same bits as indim_gemm_f32 and indim_gemm_f64 give where these do not split the sum into lanes.
void indim_gemm_packed(indim_type type, int32_t vector_bytes, int64_t m, int64_t n, int64_t count, const void *lhs,
                       const void *rhs, void *out, int64_t out_m, bool accumulate);

// matmul_packed.c: whether a product is so large that its sides are better packed, and that product; false without memory for it.
bool indim_matmul_packs(const indim_host_matmul *sizes);
bool indim_matmul_run_packed(int32_t vector_bytes, indim_parallel_fn *parallel, void *parallel_user,
                             const indim_host_matmul *sizes, void *out, const void *lhs, const void *rhs);

// matmul_subnormal.c: products whose sides have subnormal numbers, where the processor minds.
typedef struct indim_matmul_subnormals {
  bool in_lhs, in_rhs;
  double least;  // if subnormal numbers are taken as zeros, a result is right that is at least so large; 0: who knows
} indim_matmul_subnormals;

bool indim_matmul_meets_subnormals(const indim_host_matmul *sizes, const void *lhs, const void *rhs,
                                   indim_matmul_subnormals *out);
// Whether a result that was computed so is right in all elements.
bool indim_matmul_stands_flushing(const indim_host_matmul *sizes, const indim_matmul_subnormals *found,
                                  const void *out);

// A product as one of copies without subnormal numbers, times 2^power.
typedef struct indim_matmul_scaled {
  indim_host_matmul sizes;
  const void *lhs, *rhs;
  void *copies[2];
  int power;
} indim_matmul_scaled;

// False, and nothing to be freed, if there is no memory for it, or a side is larger than is worth a copy.
bool indim_matmul_scale(indim_matmul_scaled *scaled, const indim_host_matmul *sizes,
                        const indim_matmul_subnormals *found, const void *lhs, const void *rhs);
// False if a sum is not finite: the product has to be computed from the sides themselves.
bool indim_matmul_unscale(const indim_matmul_scaled *scaled, void *out);
void indim_matmul_scaled_free(indim_matmul_scaled *scaled);

// The same of narrow elements, each S8, U8 or S16: sums modulo 2^32. Of each side one of the strides is 1.
void indim_gemm_s32(int32_t vector_bytes, int64_t m, int64_t n, int64_t k, indim_type lhs_type, const void *lhs,
                    int64_t lhs_m, int64_t lhs_k, indim_type rhs_type, const void *rhs, int64_t rhs_k, int64_t rhs_n,
                    int32_t *out, int64_t out_m, bool accumulate);
// And of BF16, whose products are exact: sums in f32.
void indim_gemm_bf16(int32_t vector_bytes, int64_t m, int64_t n, int64_t k, const void *lhs, int64_t lhs_m,
                     int64_t lhs_k, const void *rhs, int64_t rhs_k, int64_t rhs_n, float *out, int64_t out_m,
                     bool accumulate);

#endif  // INDIM_RUN_MATMUL_H
