// Few columns: the body of the host's convolution for units of steps in place, with lanes along the sum instead of the
// columns; included by convolution_body.h. Each vector of the image is met by the same part of every column.
#define FEW_COLUMNS (VECTOR_BYTES == 64 ? 8 : 4)  // as registers allow
#define FEW_ROWS 8
#define FEW_HEIGHT(columns)        \
  ((columns) == 1   ? FEW_ROWS     \
   : (columns) == 2 ? FEW_ROWS / 2 \
   : (columns) <= 4 ? HEIGHT_STEP  \
                    : 3)                          // sums hide their latency
#define FEW_STEPS (DEPTH * TILE_N / FEW_COLUMNS)  // as many as there is room for

#define FEW_SUMS (FEW_ROWS * FEW_COLUMNS)  // room for those of a tile, row after row, in whole vectors of 16 bytes
#define PART NAME(part)
#define PART_LANES ((int)(16 / sizeof(REAL)))

typedef REAL PART __attribute__((vector_size(16)));
typedef int32_t NAME(part_words) __attribute__((vector_size(16)));

// Halves of a vector added to each other until 16 bytes are left.
TARGET static inline __attribute__((always_inline)) PART NAME(fold)(VECTOR x) {
#if VECTOR_BYTES == 16
  return x;
#else
  typedef REAL half __attribute__((vector_size(32)));
  typedef intptr_t half_words __attribute__((vector_size(32)));
  typedef intptr_t part_pairs __attribute__((vector_size(16)));
#if VECTOR_BYTES == 64
  WORDS all = (WORDS)x;
  half_words lower_half = SHUFFLE(half_words, all, all, 0, 1, 2, 3);
  half_words upper_half = SHUFFLE(half_words, all, all, 4, 5, 6, 7);
  half h = (half)lower_half + (half)upper_half;
#else
  half h = x;
#endif
  half_words words = (half_words)h;
  part_pairs lower = SHUFFLE(part_pairs, words, words, 0, 1);
  part_pairs upper = SHUFFLE(part_pairs, words, words, 2, 3);
  return (PART)lower + (PART)upper;
#endif
}

// The sums of the elements of each of PART_LANES vectors.
TARGET static inline __attribute__((always_inline)) PART NAME(totals)(const VECTOR *x) {
  typedef NAME(part_words) words;
  words a = (words)NAME(fold)(x[0]);
  words b = (words)NAME(fold)(x[1]);
  if (sizeof(REAL) == 8) {
    return (PART)SHUFFLE(words, a, b, LOWER_PAIRS_16) + (PART)SHUFFLE(words, a, b, UPPER_PAIRS_16);
  }
  words c = (words)NAME(fold)(x[2 % PART_LANES]);
  words d = (words)NAME(fold)(x[3 % PART_LANES]);
  words ab = (words)((PART)SHUFFLE(words, a, b, LOWER_16) + (PART)SHUFFLE(words, a, b, UPPER_16));
  words cd = (words)((PART)SHUFFLE(words, c, d, LOWER_16) + (PART)SHUFFLE(words, c, d, UPPER_16));
  return (PART)SHUFFLE(words, ab, cd, LOWER_PAIRS_16) + (PART)SHUFFLE(words, ab, cd, UPPER_PAIRS_16);
}

// sums[i * columns + j] += the vector |at| elements behind the pointer of row i, with the bits of |mask| alone, times vector j of
// |filter|.
TARGET static inline __attribute__((always_inline)) void NAME(add_few)(const int columns, const bool is_masked,
                                                                       const WORDS *mask, const REAL *const *pointers,
                                                                       int64_t at, const REAL *filter, VECTOR *sums) {
  const int height = FEW_HEIGHT(columns);
  VECTOR b[FEW_COLUMNS];
#pragma GCC unroll 8
  for (int j = 0; j < columns; j++) {
    memcpy(&b[j], filter + j * LANES, sizeof b[j]);
#if VECTOR_BYTES == 64
    __asm__("" : "+v"(b[j]));  // loaded once, not by each row's operation
#endif
  }
#pragma GCC unroll 8
  for (int i = 0; i < height; i++) {
    VECTOR a;
    memcpy(&a, pointers[i] + at, sizeof a);
    if (is_masked) {
      a = (VECTOR)((WORDS)a & *mask);
    }
#pragma GCC unroll 8
    for (int j = 0; j < columns; j++) {
      sums[i * columns + j] += a * b[j];
    }
  }
}

// out[i * columns + j] = the product of the units that |pointers| has for row i, |pitch| apart, and column j of the packed filter.
// Of a unit that is not whole vectors the last one overlaps the one before; |end|: all bits of what is in it alone.
TARGET static inline __attribute__((always_inline)) void NAME(sum_few)(const int columns, const REAL *const *pointers,
                                                                       int64_t pitch, int64_t units, int64_t unit,
                                                                       const WORDS *end, const REAL *filter,
                                                                       REAL *out) {
  const int count = FEW_HEIGHT(columns) * columns;
  const int64_t whole = unit / LANES * LANES;
  const WORDS mask = *end;
  VECTOR sums[FEW_SUMS];
#pragma GCC unroll 32
  for (int s = 0; s < count + PART_LANES - 1; s++) {
    sums[s] = (VECTOR){0};
  }
  for (int64_t u = 0; u < units; u++, pointers += pitch) {
    for (int64_t k = 0; k < whole; k += LANES, filter += columns * LANES) {
      NAME(add_few)(columns, false, &mask, pointers, k, filter, sums);
    }
    if (whole < unit) {
      NAME(add_few)(columns, true, &mask, pointers, unit - LANES, filter, sums);
      filter += columns * LANES;
    }
  }
#pragma GCC unroll 16
  for (int s = 0; s < count; s += PART_LANES) {
    PART totals = NAME(totals)(sums + s);
    memcpy(out + s, &totals, sizeof totals);
  }
}

#define DEFINE_FEW(columns)                                                                                       \
  TARGET static void NAME(few_##columns)(const REAL *const *pointers, int64_t pitch, int64_t units, int64_t unit, \
                                         const WORDS *end, const REAL *filter, REAL *out) {                       \
    NAME(sum_few)(columns, pointers, pitch, units, unit, end, filter, out);                                       \
  }
DEFINE_FEW(1)
DEFINE_FEW(2)
DEFINE_FEW(3)
DEFINE_FEW(4)
#if VECTOR_BYTES == 64
DEFINE_FEW(5)
DEFINE_FEW(6)
DEFINE_FEW(7)
DEFINE_FEW(8)
#endif
#undef DEFINE_FEW

// |units| units in |rows| rows, both listed.
TARGET static void NAME(few_rows)(NAME(work) * w, const indim_gather *g, const REAL *image, REAL *out, int64_t rows,
                                  int64_t units, int64_t columns, bool accumulate) {
  typedef void few_fn(const REAL *const *pointers, int64_t pitch, int64_t units, int64_t unit, const WORDS *end,
                      const REAL *filter, REAL *out);
  static few_fn *const few[] = {
    NAME(few_1),
    NAME(few_2),
    NAME(few_3),
    NAME(few_4),
#if VECTOR_BYTES == 64
    NAME(few_5),
    NAME(few_6),
    NAME(few_7),
    NAME(few_8)
#endif
  };
  char bytes[VECTOR_BYTES] = {0};
  WORDS end;
  size_t rest = (size_t)(g->unit % LANES) * sizeof(REAL);
  memset(bytes + VECTOR_BYTES - rest, 0xff, rest);
  memcpy(&end, bytes, sizeof end);
  int64_t most = FEW_HEIGHT(columns);
  int64_t pitch = indim_ceil_div(rows, most) * most;
  to_lists(w->rows, rows, sizeof(REAL), &w->lists);
  for (int64_t u = 0; u < units; u++) {
    const place *step = &w->steps[u];
    NAME(fill)(w->pointers + u * pitch, &w->lists, 0, pitch, step, step, ANYWHERE, g, image, NAME(zeros));
  }
  for (int64_t i = 0; i < rows; i += most) {
    REAL sums[FEW_SUMS];
    int64_t height = rows - i < most ? rows - i : most;
    few[columns - 1](w->pointers + i, pitch, units, g->unit, &end, w->filter, sums);
    for (int64_t r = 0; r < height; r++) {
      REAL *of_row = sums + r * columns;
      REAL *to = out + w->rows[i + r].other;
      for (int64_t j = 0; accumulate && j < columns; j++) {
        of_row[j] += to[j];
      }
      NAME(copy)(to, of_row, columns);
    }
  }
}

// As the function block; the unit is a vector at least, and no longer than the zeros.
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
  int64_t whole = g->unit / LANES * LANES;
  int64_t padded = indim_ceil_div(g->unit, LANES) * LANES;
  int64_t most = FEW_STEPS / padded;
  for (int64_t begin = 0; begin < all; begin += most) {
    int64_t units = all - begin < most ? all - begin : most;
    list_places(dims, rank, begin, units, first_step, w.steps);
    for (int64_t u = 0; u < units; u++) {
      REAL *to = w.filter + u * padded * columns;
      memset(to + whole * columns, 0, (size_t)((padded - whole) * columns) * sizeof *to);
      for (int64_t k = 0; k < g->unit; k++) {
        int64_t at = k < whole ? k : k + padded - g->unit;
        for (int64_t j = 0; j < columns; j++) {
          to[(at / LANES * columns + j) * LANES + at % LANES] = filter[w.steps[u].other + k * inner->other + j];
        }
      }
    }
    int64_t room = MOST_POINTERS / units;
    int64_t listed = (room < INDIM_GATHER_ROWS ? room : INDIM_GATHER_ROWS) / FEW_HEIGHT(columns) * FEW_HEIGHT(columns);
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
#undef FEW_SUMS
#undef PART
#undef PART_LANES
