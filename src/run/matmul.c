// The matrix product that compiled code asks the host for: cut into blocks by its sizes alone, each block given to the
// library, or to gemm.c where there is none. The same blocks for any number of threads give the same bits.
#include "run/matmul.h"

#include <string.h>

#include "base/size.h"
#include "run/library.h"

// Of the C interface to BLAS.
enum { ROW_MAJOR = 101, PLAIN = 111, TRANSPOSED = 112 };

// What OpenBLAS says of itself. Built without threads it takes no locks, and calls at the same time give wrong results;
// built for OpenMP its threads are not ours to rule.
enum { BUILT_WITH_THREADS = 1 };

// memcpy from one function pointer to another of its true type.
static bool find(void *library, const char *name, void *out_function, size_t size) {
  indim_symbol *function = indim_library_function(library, name);
  memcpy(out_function, &function, size);
  return function != NULL;
}

void indim_blas_open(indim_blas *out_blas) {
  static const char *const names[] = {"libopenblas.so.0", "libopenblas.so", "libopenblas.dylib"};
  void (*set_threads)(int) = NULL;
  int (*get_parallel)(void) = NULL;
  *out_blas = (indim_blas){0};
  for (size_t i = 0; i < sizeof names / sizeof names[0] && out_blas->library == NULL; i++) {
    out_blas->library = indim_library_open(names[i], NULL);
  }
  if (out_blas->library == NULL) {
    return;
  }
  if (!find(out_blas->library, "cblas_sgemm", &out_blas->sgemm, sizeof out_blas->sgemm) ||
      !find(out_blas->library, "cblas_dgemm", &out_blas->dgemm, sizeof out_blas->dgemm) ||
      !find(out_blas->library, "openblas_set_num_threads", &set_threads, sizeof set_threads) ||
      !find(out_blas->library, "openblas_get_parallel", &get_parallel, sizeof get_parallel) ||
      get_parallel() != BUILT_WITH_THREADS) {
    indim_blas_close(out_blas);
    return;
  }
  set_threads(1);
}

void indim_blas_close(indim_blas *blas) {
  indim_library_close(blas->library);
  *blas = (indim_blas){0};
}

// Blocks ---------------------------------------------------------------------------------------------------------------

typedef struct blocks {
  int64_t rows, columns;              // of a block
  int64_t row_blocks, column_blocks;  // of one product of the batch
} blocks;

// Halves the longer side until a block is small enough to share work well and still large enough to be worth packing its
// operands.
static blocks cut(const indim_host_matmul *s) {
  enum { LEAST_SIDE = 128, MOST_BLOCKS = 16, ROUND = 16 };
  // Multiplications that are worth halving: the first time, so that a second thread has work, and further on. With a
  // single row or column each of them reads an element of its own from memory.
  bool is_single = s->m == 1 || s->n == 1;
  double enough_work = is_single ? 1e5 : 1e7;
  double more_work = is_single ? 1e5 : 5e7;
  blocks b = {s->m, s->n, 1, 1};
  while (b.row_blocks * b.column_blocks < MOST_BLOCKS &&
         (double)b.rows * (double)b.columns * (double)s->k > enough_work) {
    enough_work = more_work;
    bool by_rows = b.rows >= b.columns;
    int64_t side = by_rows ? b.rows : b.columns;
    int64_t half = indim_ceil_div(indim_ceil_div(side, 2), ROUND) * ROUND;
    if (half < LEAST_SIDE || half >= side) {
      break;
    }
    *(by_rows ? &b.rows : &b.columns) = half;
    b.row_blocks = indim_ceil_div(s->m, b.rows);
    b.column_blocks = indim_ceil_div(s->n, b.columns);
  }
  return b;
}

typedef struct job {
  const indim_blas *blas;
  const indim_host_matmul *sizes;
  blocks blocks;
  bool by_library;
  char *out;
  const char *lhs;
  const char *rhs;
} job;

static void run_block(const job *j, int64_t m, int64_t n, char *out, const char *lhs, const char *rhs) {
  const indim_host_matmul *s = j->sizes;
  bool accumulate = s->accumulate != 0;
  if (!j->by_library) {
    if (s->type == INDIM_F32) {
      indim_gemm_f32(m, n, s->k, (const float *)lhs, s->lhs_m, s->lhs_k, (const float *)rhs, s->rhs_k, s->rhs_n,
                     (float *)out, s->out_m, accumulate);
    } else {
      indim_gemm_f64(m, n, s->k, (const double *)lhs, s->lhs_m, s->lhs_k, (const double *)rhs, s->rhs_k, s->rhs_n,
                     (double *)out, s->out_m, accumulate);
    }
    return;
  }
  int lhs_order = s->lhs_k == 1 ? PLAIN : TRANSPOSED;
  int rhs_order = s->rhs_n == 1 ? PLAIN : TRANSPOSED;
  int lhs_stride = (int)(s->lhs_k == 1 ? s->lhs_m : s->lhs_k);
  int rhs_stride = (int)(s->rhs_n == 1 ? s->rhs_k : s->rhs_n);
  if (s->type == INDIM_F32) {
    j->blas->sgemm(ROW_MAJOR, lhs_order, rhs_order, (int)m, (int)n, (int)s->k, 1, (const float *)lhs, lhs_stride,
                   (const float *)rhs, rhs_stride, accumulate, (float *)out, (int)s->out_m);
  } else {
    j->blas->dgemm(ROW_MAJOR, lhs_order, rhs_order, (int)m, (int)n, (int)s->k, 1, (const double *)lhs, lhs_stride,
                   (const double *)rhs, rhs_stride, accumulate, (double *)out, (int)s->out_m);
  }
}

// Blocks number begin to end, counted along the columns, then the rows, then the batch.
static void run_blocks(void *frame, int64_t begin, int64_t end) {
  const job *j = frame;
  const indim_host_matmul *s = j->sizes;
  const blocks *b = &j->blocks;
  int64_t size = s->type == INDIM_F32 ? 4 : 8;
  for (int64_t i = begin; i < end; i++) {
    int64_t column = i % b->column_blocks * b->columns;
    int64_t row = i / b->column_blocks % b->row_blocks * b->rows;
    int64_t batch = i / b->column_blocks / b->row_blocks;
    int64_t m = s->m - row < b->rows ? s->m - row : b->rows;
    int64_t n = s->n - column < b->columns ? s->n - column : b->columns;
    run_block(j, m, n, j->out + size * (batch * s->out_batch + row * s->out_m + column),
              j->lhs + size * (batch * s->lhs_batch + row * s->lhs_m),
              j->rhs + size * (batch * s->rhs_batch + column * s->rhs_n));
  }
}

// Whether the library's int takes all of it, and the strides are such as it knows. Few rows, and a single column, read
// one side once only: gemm.c does that without packing.
static bool fits_library(const indim_blas *blas, const indim_host_matmul *s) {
  enum { FEW_ROWS = 6 };
  bool in_int = s->m <= INT32_MAX && s->n <= INT32_MAX && s->k <= INT32_MAX && s->lhs_m <= INT32_MAX &&
                s->lhs_k <= INT32_MAX && s->rhs_k <= INT32_MAX && s->rhs_n <= INT32_MAX && s->out_m <= INT32_MAX;
  int64_t lhs_stride = s->lhs_k == 1 ? s->lhs_m : s->lhs_k;
  int64_t rhs_stride = s->rhs_n == 1 ? s->rhs_k : s->rhs_n;
  bool strides =
      lhs_stride >= (s->lhs_k == 1 ? s->k : s->m) && rhs_stride >= (s->rhs_n == 1 ? s->n : s->k) && s->out_m >= s->n;
  return blas != NULL && blas->sgemm != NULL && in_int && strides && s->k > 0 && s->m > 1 && s->n > 1 &&
         (s->m > FEW_ROWS || s->rhs_n != 1);
}

bool indim_matmul_run(const indim_blas *blas, indim_parallel_fn *parallel, void *parallel_user,
                      const indim_host_matmul *sizes, void *out, const void *lhs, const void *rhs) {
  const indim_host_matmul *s = sizes;
  if ((s->type != INDIM_F32 && s->type != INDIM_F64) || s->batch < 0 || s->m < 0 || s->n < 0 || s->k < 0 ||
      (s->lhs_m != 1 && s->lhs_k != 1) || (s->rhs_k != 1 && s->rhs_n != 1)) {
    return false;
  }
  if (s->batch == 0 || s->m == 0 || s->n == 0) {
    return true;
  }
  job j = {blas, s, cut(s), fits_library(blas, s), out, lhs, rhs};
  int64_t count = s->batch * j.blocks.row_blocks * j.blocks.column_blocks;
  if (parallel == NULL || count == 1) {
    run_blocks(&j, 0, count);
    return true;
  }
  // So many products of a batch at a time that a piece is worth handing to another thread.
  double work = (double)j.blocks.rows * (double)j.blocks.columns * (double)s->k;
  static const double least_work = 2.5e5;  // multiplications
  double together = work > 0 && work < least_work ? least_work / work : 1;
  parallel(parallel_user, run_blocks, &j, count, together < 1e9 ? (int64_t)together : 1000000000);
  return true;
}
