// Large products: some hundred steps of the sum at a time, both sides are packed into panels, and tiles of the result are computed
// from these (gemm_body.h). Threads share the panels first, then blocks of tiles; the order of a sum is that of its steps, whatever
// the blocks are.
#include "run/matmul.h"

#include "base/size.h"
#include "host/matmul.h"
#include "run/aligned_memory.h"

enum {
  MOST_ROWS = 2048,      // of the left side whose panels are there at a time
  MOST_COLUMNS = 2048,   // of the right side
  BLOCK_BYTES = 1 << 18  // of the left side's panels of a block, which stay in L2
};

typedef struct job {
  const indim_host_matmul *sizes;
  int32_t vector_bytes;
  indim_gemm_panels panels;
  int64_t element;  // bytes
  const char *lhs, *rhs;
  char *out;
  char *lhs_panels, *rhs_panels;
  // The part of the product that is computed.
  int64_t first_row, rows, first_column, columns, first_step, steps;
  int64_t block_rows, block_columns;
  bool packs_rhs;  // not yet there
} job;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

// |count| in as few parts of at most |most| as possible, about equal multiples of |step|.
static int64_t part_of(int64_t count, int64_t most, int64_t step) {
  int64_t parts = indim_ceil_div(count, most);
  return indim_ceil_div(indim_ceil_div(count, parts), step) * step;
}

static int64_t row_blocks(const job *j) { return indim_ceil_div(j->rows, j->block_rows); }
static int64_t column_blocks(const job *j) { return indim_ceil_div(j->columns, j->block_columns); }

// Rows whose panels fit L2; columns so that there are enough blocks for threads.
static void find_blocks(job *j) {
  enum { ENOUGH_BLOCKS = 16 };
  j->block_rows = part_of(j->rows, BLOCK_BYTES / INDIM_GEMM_DEPTH / j->element, j->panels.rows);
  int64_t panels = indim_ceil_div(j->columns, j->panels.columns);
  int64_t wanted = indim_ceil_div(ENOUGH_BLOCKS, row_blocks(j));
  j->block_columns = indim_ceil_div(panels, least(panels, wanted)) * j->panels.columns;
}

static void pack_rows(const job *j, int64_t first) {
  const indim_host_matmul *s = j->sizes;
  indim_gemm_pack_lhs((indim_type)s->type, j->vector_bytes, least(j->rows - first, j->block_rows), j->steps,
                      j->lhs + j->element * ((j->first_row + first) * s->lhs_m + j->first_step * s->lhs_k), s->lhs_m,
                      s->lhs_k, j->lhs_panels + j->element * first * j->steps);
}

static void pack_columns(const job *j, int64_t first) {
  const indim_host_matmul *s = j->sizes;
  indim_gemm_pack_rhs((indim_type)s->type, j->vector_bytes, least(j->columns - first, j->block_columns), j->steps,
                      j->rhs + j->element * (j->first_step * s->rhs_k + (j->first_column + first) * s->rhs_n), s->rhs_k,
                      s->rhs_n, j->rhs_panels + j->element * first * j->steps);
}

// Blocks of rows, and behind them of columns, number begin to end.
static void run_packing(void *frame, int64_t begin, int64_t end) {
  const job *j = frame;
  int64_t all = row_blocks(j);
  for (int64_t i = begin; i < end; i++) {
    if (i < all) {
      pack_rows(j, i * j->block_rows);
    } else {
      pack_columns(j, (i - all) * j->block_columns);
    }
  }
}

// Blocks of the result number begin to end, in the order of columns, then rows.
static void run_blocks(void *frame, int64_t begin, int64_t end) {
  const job *j = frame;
  const indim_host_matmul *s = j->sizes;
  bool accumulate = s->accumulate != 0 || j->first_step > 0;
  for (int64_t i = begin; i < end; i++) {
    int64_t row = i / column_blocks(j) * j->block_rows;
    int64_t column = i % column_blocks(j) * j->block_columns;
    indim_gemm_packed((indim_type)s->type, j->vector_bytes, least(j->rows - row, j->block_rows),
                      least(j->columns - column, j->block_columns), j->steps,
                      j->lhs_panels + j->element * row * j->steps, j->rhs_panels + j->element * column * j->steps,
                      j->out + j->element * ((j->first_row + row) * s->out_m + j->first_column + column), s->out_m,
                      accumulate);
  }
}

static void share(indim_parallel_fn *parallel, void *user, void (*run)(void *, int64_t, int64_t), job *j,
                  int64_t pieces) {
  if (parallel == NULL) {
    run(j, 0, pieces);
  } else {
    parallel(user, run, j, pieces, 1);
  }
}

// The steps of the sum that are set, of some columns and all rows.
static void run_steps(job *j, int64_t rows, indim_parallel_fn *parallel, void *user) {
  j->packs_rhs = true;
  for (j->first_row = 0; j->first_row < j->sizes->m; j->first_row += rows) {
    j->rows = least(rows, j->sizes->m - j->first_row);
    find_blocks(j);
    share(parallel, user, run_packing, j, row_blocks(j) + (j->packs_rhs ? column_blocks(j) : 0));
    share(parallel, user, run_blocks, j, row_blocks(j) * column_blocks(j));
    j->packs_rhs = false;
  }
}

bool indim_matmul_packs(const indim_host_matmul *s) {
  enum { LEAST_ROWS = 96, LEAST_COLUMNS = 256, LEAST_DEPTH = 64 };
  static const double least_work = 3e7;
  double work = (double)s->m * (double)s->n * (double)s->k;
  return (s->type == INDIM_F32 || s->type == INDIM_F64) && indim_matmul_lhs_type(s) == s->type && work >= least_work &&
         s->m >= LEAST_ROWS && s->n >= LEAST_COLUMNS && s->k >= LEAST_DEPTH;
}

bool indim_matmul_run_packed(int32_t vector_bytes, indim_parallel_fn *parallel, void *parallel_user,
                             const indim_host_matmul *s, void *out, const void *lhs, const void *rhs) {
  job j = {.sizes = s,
           .vector_bytes = vector_bytes,
           .element = indim_type_bytes((indim_type)s->type),
           .lhs = lhs,
           .rhs = rhs,
           .out = out};
  indim_gemm_panels_of((indim_type)s->type, vector_bytes, &j.panels);
  if (j.panels.rows == 0) {
    return false;
  }
  int64_t rows = part_of(s->m, MOST_ROWS, j.panels.rows);
  int64_t columns = part_of(s->n, MOST_COLUMNS, j.panels.columns);
  int64_t lhs_bytes = rows * INDIM_GEMM_DEPTH * j.element;
  char *memory = indim_aligned_alloc(lhs_bytes + columns * INDIM_GEMM_DEPTH * j.element);
  if (memory == NULL) {
    return false;
  }
  j.lhs_panels = memory;
  j.rhs_panels = memory + lhs_bytes;
  for (int64_t b = 0; b < s->batch; b++) {
    for (j.first_column = 0; j.first_column < s->n; j.first_column += columns) {
      j.columns = least(columns, s->n - j.first_column);
      for (j.first_step = 0; j.first_step < s->k; j.first_step += INDIM_GEMM_DEPTH) {
        j.steps = least(INDIM_GEMM_DEPTH, s->k - j.first_step);
        run_steps(&j, rows, parallel, parallel_user);
      }
    }
    j.lhs += j.element * s->lhs_batch;
    j.rhs += j.element * s->rhs_batch;
    j.out += j.element * s->out_batch;
  }
  indim_aligned_free(memory);
  return true;
}
