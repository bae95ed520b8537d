// The matrix product service of the host: split into blocks by its sizes alone, each block computed by gemm.c, or by
// the library if it is present and faster for such sizes. The same blocks for any number of threads give the same bits.
#include "run/matmul.h"

#include <string.h>

#include "base/size.h"
#include "host/matmul.h"
#include "run/flushing.h"

// Constants of CBLAS.
enum { ROW_MAJOR = 101, PLAIN = 111, TRANSPOSED = 112 };

// Blocks ---------------------------------------------------------------------------------------------------------------

typedef struct blocks {
  int64_t rows, columns;              // of a block
  int64_t row_blocks, column_blocks;  // of one product of the batch
} blocks;

static bool is_narrow(const indim_host_matmul *s) { return indim_matmul_lhs_type(s) != s->type; }

// Such products take the time in which the right side is read, which is best done in long rows.
static bool has_few_rows(const indim_host_matmul *s) {
  enum { FEW_ROWS = 12 };
  return s->m <= FEW_ROWS && s->rhs_n == 1 && !is_narrow(s);
}

// A product of some rows reads the right side's in place, and one of a short sum writes the result's as streams: long ones. So does one
// whose right side is turned for that (gemm_body.h).
static bool has_long_rows(const indim_host_matmul *s) {
  enum { SOME_ROWS = 64, SHORT_SUM = 64, TURNED_BYTES = 96 };
  return s->rhs_n == 1 ? s->m <= SOME_ROWS || s->k <= SHORT_SUM
                       : s->k * indim_type_bytes((indim_type)s->type) <= TURNED_BYTES;
}

// Limits for halving: multiplications of a block, and its sides.
typedef struct least {
  double work;
  int64_t rows, columns;
} least;

// The library packs both sides again for every block. A block of our own reads the rows in place and packs its columns.
// With a single row or column each multiplication reads an element of its own from memory.
static least least_block(const indim_host_matmul *s, bool by_library) {
  enum { NARROW = 16 };
  if (has_few_rows(s)) {
    return (least){1e5, 128, 512};
  }
  if (s->m == 1 || s->n == 1) {
    return (least){1e5, 128, 128};
  }
  if (is_narrow(s)) {  // four times as fast as f32, and both sides are packed
    return (least){4e7, 128, 128};
  }
  if (by_library) {
    return (least){1.5e7, 128, 128};
  }
  bool is_turned = s->rhs_n == 1 ? s->n < NARROW : has_long_rows(s);  // the right side, for each block
  return (least){5e5, is_turned ? 224 : 96, has_long_rows(s) ? 512 : 64};
}

// Halves a side until the products of the batch together make enough blocks for threads, or blocks are hardly worth
// one.
static blocks split_blocks(const indim_host_matmul *s, bool by_library) {
  enum { ENOUGH_BLOCKS = 16, ROUND = 16, TALL = 4 };
  least l = least_block(s, by_library);
  bool packs_both = by_library || is_narrow(s);
  blocks b = {s->m, s->n, 1, 1};
  while ((double)s->batch * (double)b.row_blocks * (double)b.column_blocks < ENOUGH_BLOCKS &&
         (double)b.rows * (double)b.columns * (double)s->k > l.work) {
    int64_t rows = indim_ceil_div(indim_ceil_div(b.rows, 2), ROUND) * ROUND;
    int64_t columns = indim_ceil_div(indim_ceil_div(b.columns, 2), ROUND) * ROUND;
    bool can_rows = rows >= l.rows && rows < b.rows;
    bool can_columns = columns >= l.columns && columns < b.columns;
    if (!can_rows && !can_columns) {
      break;
    }
    int64_t tall = packs_both ? b.columns : TALL * b.columns;
    if (can_rows && (!can_columns || b.rows >= tall || (!packs_both && has_long_rows(s)))) {
      b.rows = rows;
    } else {
      b.columns = columns;
    }
    b.row_blocks = indim_ceil_div(s->m, b.rows);
    b.column_blocks = indim_ceil_div(s->n, b.columns);
  }
  return b;
}

// A product of few elements and a long sum is split along the sum: into so many parts, the sums of which are added up in order.
enum { MOST_PARTS = 16, PART_DEPTH = 1024, PART_STEPS = 64, PART_ELEMENTS = 1 << 16, PARTS_BYTES = 1 << 16 };

static int64_t split_sum(const indim_host_matmul *s) {
  if (s->batch != 1 || s->m > PARTS_BYTES || s->n > PARTS_BYTES) {
    return 1;
  }
  int64_t depth = has_few_rows(s) ? PART_ELEMENTS / s->n : PART_DEPTH;  // at least
  depth = depth < PART_STEPS ? PART_STEPS : depth < PART_DEPTH ? depth : PART_DEPTH;
  if (s->k < 2 * depth) {
    return 1;
  }
  int64_t room = PARTS_BYTES / (s->m * s->n * indim_type_bytes((indim_type)s->type));
  int64_t parts = s->k / depth < MOST_PARTS ? s->k / depth : MOST_PARTS;
  return parts < room ? parts : room > 1 ? room : 1;
}

// A matrix times its own transpose is symmetric: an element and its mirror image are the same products, added up in the same order. It
// is computed in bands of columns, each down to the diagonal only. Returns their width, or 0.
static int64_t symmetric_band(const indim_host_matmul *s) {
  enum { BANDS = 8, LEAST_DEPTH = 64, PANEL_BYTES = 128 };
  int64_t panel = PANEL_BYTES / indim_type_bytes((indim_type)s->type);
  if (s->is_symmetric == 0 || is_narrow(s) || s->accumulate != 0 || s->n <= panel || s->k < LEAST_DEPTH) {
    return 0;
  }
  return indim_ceil_div(indim_ceil_div(s->n, BANDS), panel) * panel;
}

// At most, of the built-in product.
static int32_t vector_bytes_of(const indim_blas *blas) {
  return blas == NULL || blas->vector_bytes == 0 ? 64 : blas->vector_bytes;
}

typedef struct job {
  const indim_blas *blas;
  const indim_host_matmul *sizes;
  blocks blocks;
  int64_t depth;  // of a part of the sum, where it is split
  int64_t band;   // columns of a band of a symmetric product, otherwise 0
  bool by_library;
  char *out;
  const char *lhs;
  const char *rhs;
} job;

static void run_built_in(const job *j, int64_t m, int64_t n, int64_t k, char *out, int64_t out_m, const char *lhs,
                         const char *rhs, bool accumulate) {
  const indim_host_matmul *s = j->sizes;
  int32_t vector_bytes = vector_bytes_of(j->blas);
  if (s->type == INDIM_F32) {
    indim_gemm_f32(vector_bytes, m, n, k, (const float *)lhs, s->lhs_m, s->lhs_k, (const float *)rhs, s->rhs_k,
                   s->rhs_n, (float *)out, out_m, accumulate);
  } else {
    indim_gemm_f64(vector_bytes, m, n, k, (const double *)lhs, s->lhs_m, s->lhs_k, (const double *)rhs, s->rhs_k,
                   s->rhs_n, (double *)out, out_m, accumulate);
  }
}

// to[j, i] = from[i, j], squares of which stay in L1.
#define DEFINE_MIRROR(type, REAL)                                                                     \
  static void mirror_##type(int64_t rows, int64_t columns, const REAL *from, REAL *to, int64_t row) { \
    enum { SIDE = 16 };                                                                               \
    for (int64_t first = 0; first < rows; first += SIDE) {                                            \
      int64_t end = rows - first < SIDE ? rows : first + SIDE;                                        \
      for (int64_t j = 0; j < columns; j++) {                                                         \
        for (int64_t i = first; i < end; i++) {                                                       \
          to[j * row + i] = from[i * row + j];                                                        \
        }                                                                                             \
      }                                                                                               \
    }                                                                                                 \
  }
DEFINE_MIRROR(f32, float)
DEFINE_MIRROR(f64, double)

static int64_t columns_of_band(const job *j, int64_t first) {
  const indim_host_matmul *s = j->sizes;
  return s->n - first < j->band ? s->n - first : j->band;
}

// Of a symmetric product, rows |begin| to |end| of the band of columns from |first| on, and their mirror image.
static void run_band(const job *j, int64_t first, int64_t begin, int64_t end, int64_t k, char *out, int64_t out_m,
                     const char *lhs, const char *rhs) {
  const indim_host_matmul *s = j->sizes;
  int64_t size = indim_type_bytes((indim_type)s->type);
  int64_t columns = columns_of_band(j, first);
  int64_t mirrored = (end < first ? end : first) - begin;
  char *band = out + size * (begin * out_m + first);
  char *image = out + size * (first * out_m + begin);
  run_built_in(j, end - begin, columns, k, band, out_m, lhs + size * begin * s->lhs_m, rhs + size * first * s->rhs_n,
               false);
  if (s->type == INDIM_F32) {
    mirror_f32(mirrored, columns, (const float *)band, (float *)image, out_m);
  } else {
    mirror_f64(mirrored, columns, (const double *)band, (double *)image, out_m);
  }
}

static void run_block(const job *j, int64_t m, int64_t n, char *out, const char *lhs, const char *rhs) {
  const indim_host_matmul *s = j->sizes;
  bool accumulate = s->accumulate != 0;
  if (is_narrow(s)) {
    if (s->type == INDIM_S32) {
      indim_gemm_s32(vector_bytes_of(j->blas), m, n, s->k, (indim_type)indim_matmul_lhs_type(s), lhs, s->lhs_m,
                     s->lhs_k, (indim_type)indim_matmul_rhs_type(s), rhs, s->rhs_k, s->rhs_n, (int32_t *)out, s->out_m,
                     accumulate);
    } else {
      indim_gemm_bf16(vector_bytes_of(j->blas), m, n, s->k, lhs, s->lhs_m, s->lhs_k, rhs, s->rhs_k, s->rhs_n,
                      (float *)out, s->out_m, accumulate);
    }
    return;
  }
  if (!j->by_library) {
    run_built_in(j, m, n, s->k, out, s->out_m, lhs, rhs, accumulate);
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

// Blocks number begin to end, in the order of columns, then rows, then the batch.
static void run_blocks(void *frame, int64_t begin, int64_t end) {
  const job *j = frame;
  const indim_host_matmul *s = j->sizes;
  const blocks *b = &j->blocks;
  int64_t size = indim_type_bytes((indim_type)s->type);
  int64_t lhs_size = indim_type_bytes((indim_type)indim_matmul_lhs_type(s));
  int64_t rhs_size = indim_type_bytes((indim_type)indim_matmul_rhs_type(s));
  for (int64_t i = begin; i < end; i++) {
    int64_t column = i % b->column_blocks * b->columns;
    int64_t row = i / b->column_blocks % b->row_blocks * b->rows;
    int64_t batch = i / b->column_blocks / b->row_blocks;
    int64_t m = s->m - row < b->rows ? s->m - row : b->rows;
    int64_t n = s->n - column < b->columns ? s->n - column : b->columns;
    run_block(j, m, n, j->out + size * (batch * s->out_batch + row * s->out_m + column),
              j->lhs + lhs_size * (batch * s->lhs_batch + row * s->lhs_m),
              j->rhs + rhs_size * (batch * s->rhs_batch + column * s->rhs_n));
  }
}

// Threads share a band of many columns: pieces of twice as many rows, the last one of one to three times as many. Of fewer columns
// the order of a sum depends on the rows (FEW_DOTS of gemm.c).
static int64_t pieces_of_band(const job *j, int64_t first) {
  enum { MANY_COLUMNS = 33 };
  int64_t pieces = (first + columns_of_band(j, first) + j->band) / (2 * j->band);
  return pieces > 1 && columns_of_band(j, first) >= MANY_COLUMNS ? pieces : 1;
}

static int64_t pieces_of_bands(const job *j) {
  int64_t pieces = 0;
  for (int64_t first = 0; first < j->sizes->n; first += j->band) {
    pieces += pieces_of_band(j, first);
  }
  return pieces;
}

// Bands number begin to end of the products of the batch.
static void run_bands(void *frame, int64_t begin, int64_t end) {
  const job *j = frame;
  const indim_host_matmul *s = j->sizes;
  int64_t size = indim_type_bytes((indim_type)s->type);
  int64_t bands = indim_ceil_div(s->n, j->band);
  for (int64_t i = begin; i < end; i++) {
    int64_t batch = i / bands;
    int64_t first = i % bands * j->band;
    run_band(j, first, 0, first + columns_of_band(j, first), s->k, j->out + size * batch * s->out_batch, s->out_m,
             j->lhs + size * batch * s->lhs_batch, j->rhs + size * batch * s->rhs_batch);
  }
}

// Pieces number begin to end of the bands of the products of the batch.
static void run_band_pieces(void *frame, int64_t begin, int64_t end) {
  const job *j = frame;
  const indim_host_matmul *s = j->sizes;
  int64_t size = indim_type_bytes((indim_type)s->type);
  int64_t all = pieces_of_bands(j);
  for (int64_t i = begin; i < end; i++) {
    int64_t batch = i / all;
    int64_t piece = i % all;
    int64_t first = 0;
    for (; piece >= pieces_of_band(j, first); first += j->band) {
      piece -= pieces_of_band(j, first);
    }
    int64_t row = piece * 2 * j->band;
    int64_t row_end = piece + 1 == pieces_of_band(j, first) ? first + columns_of_band(j, first) : row + 2 * j->band;
    run_band(j, first, row, row_end, s->k, j->out + size * batch * s->out_batch, s->out_m,
             j->lhs + size * batch * s->lhs_batch, j->rhs + size * batch * s->rhs_batch);
  }
}

static void run_parts(void *frame, int64_t begin, int64_t end) {
  const job *j = frame;
  const indim_host_matmul *s = j->sizes;
  int64_t size = indim_type_bytes((indim_type)s->type);
  for (int64_t i = begin; i < end; i++) {
    int64_t first = i * j->depth;
    int64_t k = s->k - first < j->depth ? s->k - first : j->depth;
    char *out = j->out + size * i * s->m * s->n;
    const char *lhs = j->lhs + size * first * s->lhs_k;
    const char *rhs = j->rhs + size * first * s->rhs_k;
    if (j->band == 0) {
      run_built_in(j, s->m, s->n, k, out, s->n, lhs, rhs, false);
    }
    for (int64_t at = 0; j->band > 0 && at < s->n; at += j->band) {
      run_band(j, at, 0, at + columns_of_band(j, at), k, out, s->n, lhs, rhs);
    }
  }
}

#define DEFINE_ADD_PARTS(type, REAL)                                                                     \
  static void add_parts_##type(const indim_host_matmul *s, int64_t parts, const REAL *sums, REAL *out) { \
    for (int64_t p = 0; p < parts; p++) {                                                                \
      for (int64_t i = 0; i < s->m; i++) {                                                               \
        for (int64_t j = 0; j < s->n; j++) {                                                             \
          REAL sum = sums[(p * s->m + i) * s->n + j];                                                    \
          out[i * s->out_m + j] = p > 0 || s->accumulate != 0 ? out[i * s->out_m + j] + sum : sum;       \
        }                                                                                                \
      }                                                                                                  \
    }                                                                                                    \
  }
DEFINE_ADD_PARTS(f32, float)
DEFINE_ADD_PARTS(f64, double)

static void run_split_sum(job *j, int64_t parts, indim_parallel_fn *parallel, void *parallel_user) {
  const indim_host_matmul *s = j->sizes;
  _Alignas(64) char sums[PARTS_BYTES];
  char *out = j->out;
  j->out = sums;
  j->depth = indim_ceil_div(indim_ceil_div(s->k, parts), PART_STEPS) * PART_STEPS;
  parts = indim_ceil_div(s->k, j->depth);
  if (parallel == NULL) {
    run_parts(j, 0, parts);
  } else {
    parallel(parallel_user, run_parts, j, parts, 1);
  }
  if (s->type == INDIM_F32) {
    add_parts_f32(s, parts, (const float *)sums, (float *)out);
  } else {
    add_parts_f64(s, parts, (const double *)sums, (double *)out);
  }
}

// Whether the sizes fit the library's int, and the strides are such as it accepts.
static bool fits_library(const indim_blas *blas, const indim_host_matmul *s) {
  bool in_int = s->m <= INT32_MAX && s->n <= INT32_MAX && s->k <= INT32_MAX && s->lhs_m <= INT32_MAX &&
                s->lhs_k <= INT32_MAX && s->rhs_k <= INT32_MAX && s->rhs_n <= INT32_MAX && s->out_m <= INT32_MAX;
  int64_t lhs_stride = s->lhs_k == 1 ? s->lhs_m : s->lhs_k;
  int64_t rhs_stride = s->rhs_n == 1 ? s->rhs_k : s->rhs_n;
  bool strides =
      lhs_stride >= (s->lhs_k == 1 ? s->k : s->m) && rhs_stride >= (s->rhs_n == 1 ? s->n : s->k) && s->out_m >= s->n;
  return blas != NULL && blas->sgemm != NULL && in_int && strides && s->k > 0;
}

// Measured with Zen 3: the built-in product is faster (by a fifth for 256 x 64 x 256) until a product is so large that
// the library's blocking for all caches pays, which it never does for a short sum or a few columns. A single column, or a few
// rows, read one side once only: the built-in product packs nothing then. With AVX-512 and OpenBLAS 0.3.21 the threshold
// differs: split into blocks for threads, each of which the library packs again, 512^3 takes the built-in product 0.88 of the
// time, 1024^3 0.95, 1536^3 f64 0.94, 2048^3 f32 0.98 and f64 1.05.
bool indim_matmul_wants_library(const indim_host_matmul *s, int32_t vector_bytes) {
  enum { FEW_ROWS = 6, SHORT = 128, FEW_COLUMNS = 64 };
  if (is_narrow(s) || s->m == 1 || s->n == 1 || (s->m <= FEW_ROWS && s->rhs_n == 1)) {
    return false;
  }
  double work = (double)s->m * (double)s->n * (double)s->k;
  return work >= (vector_bytes >= 64 ? 4e9 : 1e8) && s->k > SHORT && s->n > FEW_COLUMNS;
}

static void run_valid(const indim_blas *blas, indim_parallel_fn *parallel, void *parallel_user,
                      const indim_host_matmul *s, void *out, const void *lhs, const void *rhs) {
  bool by_library = fits_library(blas, s) && indim_matmul_wants_library(s, vector_bytes_of(blas));
  blocks whole = {s->m, s->n, 1, 1};
  job j = {blas, s, s->single_thread != 0 ? whole : split_blocks(s, by_library), s->k, 0, by_library, out, lhs, rhs};
  j.band = by_library ? 0 : symmetric_band(s);
  int64_t parts = by_library || is_narrow(s) || s->single_thread != 0 ? 1 : split_sum(s);
  if (parts > 1) {
    run_split_sum(&j, parts, parallel, parallel_user);
    return;
  }
  indim_parallel_fn *shared = s->single_thread != 0 ? NULL : parallel;
  if (!by_library && j.band == 0 && indim_matmul_packs(s) &&
      indim_matmul_run_packed(vector_bytes_of(blas), shared, parallel_user, s, out, lhs, rhs)) {
    return;
  }
  bool is_parallel = shared != NULL;
  int64_t pieces = j.band == 0   ? j.blocks.row_blocks * j.blocks.column_blocks
                   : is_parallel ? pieces_of_bands(&j)
                                 : indim_ceil_div(s->n, j.band);
  void (*run)(void *, int64_t, int64_t) = j.band == 0 ? run_blocks : is_parallel ? run_band_pieces : run_bands;
  if (!is_parallel || s->batch * pieces == 1) {
    run(&j, 0, s->batch * pieces);
    return;
  }
  // So many products of a batch at a time that a piece is worth handing to another thread.
  double work = j.band > 0 ? (double)j.band * (double)j.band * 2 * (double)s->k
                           : (double)j.blocks.rows * (double)j.blocks.columns * (double)s->k;
  static const double least_work = 2.5e5;  // multiplications
  double together = work > 0 && work < least_work ? least_work / work : 1;
  parallel(parallel_user, run, &j, s->batch * pieces, together < 1e9 ? (int64_t)together : 1000000000);
}

// With subnormal numbers as zeros, all or only those that would be results.
static void run_flushing(const indim_blas *blas, indim_parallel_fn *parallel, void *parallel_user,
                         const indim_host_matmul *s, void *out, const void *lhs, const void *rhs, bool only_results) {
  indim_flushing flushing = {parallel, parallel_user, only_results};
  indim_float_mode before = only_results ? indim_float_mode_flush_results() : indim_float_mode_flush();
  run_valid(blas, parallel == NULL ? NULL : indim_flushing_run, &flushing, s, out, lhs, rhs);
  indim_float_mode_restore(before);
}

bool indim_matmul_run(const indim_blas *blas, indim_parallel_fn *parallel, void *parallel_user,
                      const indim_host_matmul *sizes, void *out, const void *lhs, const void *rhs) {
  const indim_host_matmul *s = sizes;
  if (!indim_matmul_takes(s->type, indim_matmul_lhs_type(s), indim_matmul_rhs_type(s)) || s->batch < 0 || s->m < 0 ||
      s->n < 0 || s->k < 0 || (s->lhs_m != 1 && s->lhs_k != 1) || (s->rhs_k != 1 && s->rhs_n != 1) ||
      (s->is_symmetric != 0 && !indim_matmul_is_own_transpose(s))) {
    return false;
  }
  if (s->batch == 0 || s->m == 0 || s->n == 0) {
    return true;
  }
  indim_matmul_subnormals found;
  if (!indim_matmul_meets_subnormals(s, lhs, rhs, &found)) {
    run_valid(blas, parallel, parallel_user, s, out, lhs, rhs);
    return true;
  }
  if (found.least > 0) {
    run_flushing(blas, parallel, parallel_user, s, out, lhs, rhs, false);
    if (indim_matmul_stands_flushing(s, &found, out)) {
      return true;
    }
  }
  // What is flushed of scaled sums is far less than they are rounded by in the end.
  indim_matmul_scaled scaled;
  if (indim_matmul_scale(&scaled, s, &found, lhs, rhs)) {
    run_flushing(blas, parallel, parallel_user, &scaled.sizes, out, scaled.lhs, scaled.rhs, true);
    bool is_done = indim_matmul_unscale(&scaled, out);
    indim_matmul_scaled_free(&scaled);
    if (is_done) {
      return true;
    }
  }
  run_valid(blas, parallel, parallel_user, s, out, lhs, rhs);
  return true;
}
