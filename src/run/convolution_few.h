// Few columns: the body of the host's convolution for units of steps in place, with lanes along the sum instead of the
// columns; included by convolution_body.h. Each vector of the image is met by the same part of every column.
#define FEW_COLUMNS 4
#define FEW_ROWS 8
#define FEW_HEIGHT(columns) \
  ((columns) == 1 ? FEW_ROWS : (columns) == 2 ? FEW_ROWS / 2 : HEIGHT_STEP)  // sums hide their latency
#define FEW_STEPS (DEPTH * TILE_N / FEW_COLUMNS)                             // as many as there is room for

typedef REAL NAME(part) __attribute__((vector_size(16)));

TARGET static inline __attribute__((always_inline)) REAL NAME(total)(VECTOR x) {
  REAL all[LANES];
  NAME(part) sum, next;
  memcpy(all, &x, sizeof all);
  memcpy(&sum, all, sizeof sum);
#pragma GCC unroll 4
  for (int i = 1; i < VECTOR_BYTES / 16; i++) {
    memcpy(&next, all + i * (int)(16 / sizeof(REAL)), sizeof next);
    sum += next;
  }
  return sizeof(REAL) == 8 ? sum[0] + sum[1]
                           : (sum[0] + sum[1]) + (sum[2 % (16 / sizeof(REAL))] + sum[3 % (16 / sizeof(REAL))]);
}

// out[i][j] = the product of the units that |pointers| has for row i, |pitch| apart, and column j of the packed filter.
TARGET static inline __attribute__((always_inline)) void NAME(sum_few)(const int columns, const REAL *const *pointers,
                                                                       int64_t pitch, int64_t units, int64_t unit,
                                                                       const REAL *filter, REAL (*out)[FEW_COLUMNS]) {
  const int height = FEW_HEIGHT(columns);
  VECTOR sums[FEW_ROWS][FEW_COLUMNS];
#pragma GCC unroll 8
  for (int i = 0; i < height; i++) {
#pragma GCC unroll 4
    for (int j = 0; j < columns; j++) {
      sums[i][j] = (VECTOR){0};
    }
  }
  for (int64_t u = 0; u < units; u++) {
    for (int64_t k = 0; k < unit; k += LANES) {
      VECTOR b[FEW_COLUMNS];
#pragma GCC unroll 4
      for (int j = 0; j < columns; j++) {
        memcpy(&b[j], filter + j * FEW_STEPS + u * unit + k, sizeof b[j]);
      }
#pragma GCC unroll 8
      for (int i = 0; i < height; i++) {
        VECTOR a;
        memcpy(&a, pointers[u * pitch + i] + k, sizeof a);
#pragma GCC unroll 4
        for (int j = 0; j < columns; j++) {
          sums[i][j] += a * b[j];
        }
      }
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < height; i++) {
#pragma GCC unroll 4
    for (int j = 0; j < columns; j++) {
      out[i][j] = NAME(total)(sums[i][j]);
    }
  }
}

#define DEFINE_FEW(columns)                                                                                       \
  TARGET static void NAME(few_##columns)(const REAL *const *pointers, int64_t pitch, int64_t units, int64_t unit, \
                                         const REAL *filter, REAL(*out)[FEW_COLUMNS]) {                           \
    NAME(sum_few)(columns, pointers, pitch, units, unit, filter, out);                                            \
  }
DEFINE_FEW(1)
DEFINE_FEW(2)
DEFINE_FEW(3)
DEFINE_FEW(4)
#undef DEFINE_FEW

// |units| units in |rows| rows, both listed.
TARGET static void NAME(few_rows)(NAME(work) * w, const indim_gather *g, const REAL *image, REAL *out, int64_t rows,
                                  int64_t units, int64_t columns, bool accumulate) {
  typedef void few_fn(const REAL *const *pointers, int64_t pitch, int64_t units, int64_t unit, const REAL *filter,
                      REAL(*out)[FEW_COLUMNS]);
  static few_fn *const few[] = {NAME(few_1), NAME(few_2), NAME(few_3), NAME(few_4)};
  int64_t pitch = indim_ceil_div(rows, FEW_ROWS) * FEW_ROWS;
  to_lists(w->rows, rows, sizeof(REAL), &w->lists);
  for (int64_t u = 0; u < units; u++) {
    const place *step = &w->steps[u];
    NAME(fill)(w->pointers + u * pitch, &w->lists, 0, pitch, step, step, ANYWHERE, g, image, NAME(zeros));
  }
  for (int64_t i = 0; i < rows; i += FEW_HEIGHT(columns)) {
    REAL sums[FEW_ROWS][FEW_COLUMNS];
    int64_t height = rows - i < FEW_HEIGHT(columns) ? rows - i : FEW_HEIGHT(columns);
    few[columns - 1](w->pointers + i, pitch, units, g->unit, w->filter, sums);
    for (int64_t r = 0; r < height; r++) {
      REAL *to = out + w->rows[i + r].other;
      for (int64_t j = 0; accumulate && j < columns; j++) {
        sums[r][j] += to[j];
      }
      NAME(copy)(to, sums[r], columns);
    }
  }
}

// As the function block; the unit is a multiple of the lanes, and no longer than the zeros.
TARGET static void NAME(few)(const indim_gather *g, const REAL *image, const REAL *filter, REAL *out, int64_t row,
                             int64_t rows, int64_t column, int64_t columns) {
  NAME(work) w;
  static const indim_gather_dim one = {1, 0, 0, 0, -1};
  const indim_gather_dim *inner = &g->steps[g->step_dims - 1];
  const indim_gather_dim *dims = g->step_dims > 1 ? g->steps : &one;
  int32_t rank = g->step_dims > 1 ? g->step_dims - 1 : 1;
  const place first_row = {g->first_image, g->first_out + column, {g->origin[0], g->origin[1], g->origin[2]}};
  const place first_step = {0, g->first_filter + column, {0}};
  int64_t all = g->step_count / g->unit;
  int64_t most = FEW_STEPS / g->unit;
  for (int64_t begin = 0; begin < all; begin += most) {
    int64_t units = all - begin < most ? all - begin : most;
    list_places(dims, rank, begin, units, first_step, w.steps);
    for (int64_t u = 0; u < units; u++) {
      for (int64_t k = 0; k < g->unit; k++) {
        for (int64_t j = 0; j < columns; j++) {
          w.filter[j * FEW_STEPS + u * g->unit + k] = filter[w.steps[u].other + k * inner->other + j];
        }
      }
    }
    int64_t room = MOST_POINTERS / units / FEW_ROWS * FEW_ROWS;
    int64_t listed = room < INDIM_GATHER_ROWS ? room : INDIM_GATHER_ROWS;
    for (int64_t i = 0; i < rows; i += listed) {
      int64_t part = rows - i < listed ? rows - i : listed;
      list_places(g->rows, g->row_dims, row + i, part, first_row, w.rows);
      NAME(few_rows)(&w, g, image, out, part, units, columns, begin > 0);
    }
  }
}

#undef FEW_COLUMNS
#undef FEW_ROWS
#undef FEW_HEIGHT
#undef FEW_STEPS
