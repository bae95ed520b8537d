// Few columns: the body of the host's convolution for units of steps in place, with lanes along the sum instead of the
// columns; included by convolution_body.h. Each vector of the image is met by the same part of every column.
#define FEW_COLUMNS 4
#define FEW_ROWS HEIGHT_STEP
#define FEW_STEPS (DEPTH * TILE_N / FEW_COLUMNS)  // as many as there is room for

TARGET static inline REAL NAME(total)(VECTOR x) {
  REAL parts[VECTOR_BYTES / sizeof(REAL)];
  memcpy(parts, &x, sizeof parts);
  for (int64_t half = LANES / 2; half > 0; half /= 2) {
    for (int64_t i = 0; i < half; i++) {
      parts[i] += parts[i + half];
    }
  }
  return parts[0];
}

// out[i][j] (+)= the product of the units that |pointers| has for row i, FEW_ROWS each, and column j of the packed filter.
TARGET static inline __attribute__((always_inline)) void NAME(sum_few)(const int columns, const REAL *const *pointers,
                                                                       int64_t units, int64_t unit, const REAL *filter,
                                                                       REAL (*out)[FEW_COLUMNS]) {
  VECTOR sums[FEW_ROWS][FEW_COLUMNS];
#pragma GCC unroll 4
  for (int i = 0; i < FEW_ROWS; i++) {
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
#pragma GCC unroll 4
      for (int i = 0; i < FEW_ROWS; i++) {
        VECTOR a;
        memcpy(&a, pointers[u * FEW_ROWS + i] + k, sizeof a);
#pragma GCC unroll 4
        for (int j = 0; j < columns; j++) {
          sums[i][j] += a * b[j];
        }
      }
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < FEW_ROWS; i++) {
#pragma GCC unroll 4
    for (int j = 0; j < columns; j++) {
      out[i][j] = NAME(total)(sums[i][j]);
    }
  }
}

#define DEFINE_FEW(columns)                                                                                            \
  TARGET static void NAME(few_##columns)(const REAL *const *pointers, int64_t units, int64_t unit, const REAL *filter, \
                                         REAL(*out)[FEW_COLUMNS]) {                                                    \
    NAME(sum_few)(columns, pointers, units, unit, filter, out);                                                        \
  }
DEFINE_FEW(1)
DEFINE_FEW(2)
DEFINE_FEW(3)
DEFINE_FEW(4)
#undef DEFINE_FEW

// |units| units in |rows| rows, both listed.
TARGET static void NAME(few_rows)(NAME(work) * w, const indim_gather *g, const REAL *image, REAL *out, int64_t rows,
                                  int64_t units, int64_t columns, bool accumulate) {
  typedef void few_fn(const REAL *const *pointers, int64_t units, int64_t unit, const REAL *filter,
                      REAL(*out)[FEW_COLUMNS]);
  static few_fn *const few[] = {NAME(few_1), NAME(few_2), NAME(few_3), NAME(few_4)};
  for (int64_t i = 0; i < rows; i += FEW_ROWS) {
    REAL sums[FEW_ROWS][FEW_COLUMNS];
    int64_t height = rows - i < FEW_ROWS ? rows - i : FEW_ROWS;
    for (int64_t u = 0; u < units; u++) {
      for (int64_t r = 0; r < FEW_ROWS; r++) {
        const place *row = &w->rows[i + (r < height ? r : 0)];
        const place *step = &w->steps[u];
        w->pointers[u * FEW_ROWS + r] = is_inside(g, row, step) ? image + (row->image + step->image) : NAME(zeros);
      }
    }
    few[columns - 1](w->pointers, units, g->unit, w->filter, sums);
    for (int64_t r = 0; r < height; r++) {
      REAL *to = out + w->rows[i + r].other;
      for (int64_t j = 0; j < columns; j++) {
        to[j] = accumulate ? to[j] + sums[r][j] : sums[r][j];
      }
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
    for (int64_t i = 0; i < rows; i += INDIM_GATHER_ROWS) {
      int64_t part = rows - i < INDIM_GATHER_ROWS ? rows - i : INDIM_GATHER_ROWS;
      list_places(g->rows, g->row_dims, row + i, part, first_row, w.rows);
      NAME(few_rows)(&w, g, image, out, part, units, columns, begin > 0);
    }
  }
}

#undef FEW_COLUMNS
#undef FEW_ROWS
#undef FEW_STEPS
