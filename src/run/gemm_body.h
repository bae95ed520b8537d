// The body of the built-in matrix product for one element type and vector width, which gemm.c has by vector_instances.h.
//
// Lanes of a register tile are columns of the result: the left side is read in place, an element at a time, and a panel of
// columns of the right side a vector at a time. A panel that several tiles use is packed on the stack, at most BLOCK_K steps of
// it, and stays in L1 meanwhile, the block of the left side in L2. Where both sides lie along the sum and one has few rows, lanes
// are partial sums instead (dots), and nothing is packed. Of a product and its transpose, which is computed with the strides of
// the result exchanged, that one is chosen whose operands are read along their rows.
#define VECTOR NAME(vector)
#define MASK NAME(mask)
#define QUARTER NAME(quarter)
#define LANES ((int64_t)(VECTOR_BYTES / sizeof(REAL)))
#define TILE_M (VECTOR_BYTES == 64 ? 12 : 6)  // rows of a tile of two vectors: 24 of 32 registers, or 12 of 16
#define TILE_N (2 * LANES)
#define FEW (VECTOR_BYTES == 64 ? 4 : 2)   // rows of a tile of WIDE vectors
#define DOTS (VECTOR_BYTES == 64 ? 4 : 2)  // rows of a tile of partial sums, by DOTS_N columns
#define PANEL_M \
  (VECTOR_BYTES == 64 ? 8 : 6)  // a tile of packed sides: 24 registers of 32 with eleven loads, or 12 of 16
#define PANEL_N ((VECTOR_BYTES == 64 ? 3 : 2) * LANES)
#define TURNED_STEPS \
  (VECTOR_BYTES * 3 / 2 / (int64_t)sizeof(REAL))  // of a sum for which a right side that lies along it is turned
#define SUMS (TALL > TILE_M * 2 ? TALL : TILE_M * 2)

typedef REAL VECTOR __attribute__((vector_size(VECTOR_BYTES)));
typedef REAL QUARTER __attribute__((vector_size(16)));
typedef __typeof__((VECTOR){0} == (VECTOR){0}) MASK;
typedef int32_t NAME(words) __attribute__((vector_size(VECTOR_BYTES)));

// Lanes are columns -------------------------------------------------------------------------------------------------------

// |sum|, onto what is at |to| or in its place.
TARGET static inline __attribute__((always_inline)) VECTOR NAME(onto)(VECTOR sum, const REAL *to, bool accumulate) {
  if (accumulate) {
    VECTOR before;
    memcpy(&before, to, sizeof before);
    sum += before;
  }
  return sum;
}

// out[0..height, 0..vectors * LANES) (+)= sum over k of a[., k] * b[k, .]; the constants are so where this is inlined. Of two vectors the
// second begins |second| columns behind the first, which it may overlap: both have the same sums there.
TARGET static inline __attribute__((always_inline)) void
NAME(sum_up)(const int height, const int vectors, int64_t count, const REAL *a, int64_t a_m, int64_t a_k, const REAL *b,
             int64_t b_k, int64_t second, REAL *out, int64_t out_m, bool accumulate) {
  const int64_t apart = vectors == 2 ? second : LANES;
  VECTOR sums[SUMS];
  const REAL *rows[(TALL + 2) / 3];  // every third: those between are one and two strides beyond
#pragma GCC unroll 24
  for (int i = 0; i < height * vectors; i++) {
    sums[i] = (VECTOR){0};
  }
#pragma GCC unroll 4
  for (int i = 0; i < height; i += 3) {
    rows[i / 3] = a + i * a_m;
  }
#pragma GCC unroll 2
  for (int64_t k = 0; k < count; k++) {
    VECTOR y[WIDE];
#pragma GCC unroll 6
    for (int v = 0; v < vectors; v++) {
      memcpy(&y[v], b + v * apart, sizeof y[v]);
    }
    b += b_k;
#pragma GCC unroll 12
    for (int i = 0; i < height; i++) {
      REAL x = rows[i / 3][i % 3 * a_m];
#pragma GCC unroll 6
      for (int v = 0; v < vectors; v++) {
        sums[i * vectors + v] += x * y[v];
      }
    }
#pragma GCC unroll 4
    for (int i = 0; i < height; i += 3) {
      rows[i / 3] += a_k;
    }
  }
#pragma GCC unroll 12
  for (int i = 0; i < height; i++) {
    REAL *row = out + i * out_m;
#pragma GCC unroll 6
    for (int v = 0; v < vectors; v++) {
      VECTOR *sum = &sums[i * vectors + v];
      *sum = NAME(onto)(*sum, row + v * apart, accumulate);
    }
#pragma GCC unroll 6
    for (int v = 0; v < vectors; v++) {
      memcpy(row + v * apart, &sums[i * vectors + v], sizeof(VECTOR));
    }
  }
}

typedef void NAME(tile_fn)(int64_t count, const REAL *a, int64_t a_m, int64_t a_k, const REAL *b, int64_t b_k,
                           int64_t second, REAL *out, int64_t out_m, bool accumulate);

#define DEFINE_TILE(height, vectors)                                                                         \
  TARGET static void NAME(tile_##height##_##vectors)(int64_t count, const REAL *a, int64_t a_m, int64_t a_k, \
                                                     const REAL *b, int64_t b_k, int64_t second, REAL *out,  \
                                                     int64_t out_m, bool accumulate) {                       \
    NAME(sum_up)(height, vectors, count, a, a_m, a_k, b, b_k, second, out, out_m, accumulate);               \
  }
#define SIX(X, vectors) \
  X(1, vectors)         \
  X(2, vectors)         \
  X(3, vectors)         \
  X(4, vectors)         \
  X(5, vectors)         \
  X(6, vectors)
#define TWELVE(X, vectors)      \
  SIX(X, vectors) X(7, vectors) \
  X(8, vectors)                 \
  X(9, vectors)                 \
  X(10, vectors)                \
  X(11, vectors)                \
  X(12, vectors)
TWELVE(DEFINE_TILE, 1)
DEFINE_TILE(1, 6)
DEFINE_TILE(2, 6)
#if VECTOR_BYTES == 64
TWELVE(DEFINE_TILE, 2)
DEFINE_TILE(3, 6)
DEFINE_TILE(4, 6)
#else
SIX(DEFINE_TILE, 2)
#endif
#undef DEFINE_TILE

// to[0..columns) (+)= sums[0..columns). The last vector ends with the row; a shorter row has pieces of half a vector, a quarter ...
TARGET static inline void NAME(store_row)(int64_t columns, const REAL *sums, REAL *to, bool accumulate) {
  if (columns >= LANES) {
    int64_t last = columns - LANES;
    VECTOR end;
    memcpy(&end, sums + last, sizeof end);
    end = NAME(onto)(end, to + last, accumulate);
    for (int64_t j = 0; j < last; j += LANES) {
      VECTOR sum;
      memcpy(&sum, sums + j, sizeof sum);
      sum = NAME(onto)(sum, to + j, accumulate);
      memcpy(to + j, &sum, sizeof sum);
    }
    memcpy(to + last, &end, sizeof end);
    return;
  }
  int64_t j = 0;
#pragma GCC unroll 4
  for (int64_t piece = LANES / 2; piece > 0; piece /= 2) {
    if ((columns & piece) != 0) {
      for (int64_t i = 0; i < piece; i++) {
        to[j + i] = accumulate ? to[j + i] + sums[j + i] : sums[j + i];
      }
      j += piece;
    }
  }
}

// A tile of so many vectors, of which |columns| columns are stored; of two vectors these are more than one.
TARGET static void NAME(tile)(int64_t height, int64_t vectors, int64_t columns, int64_t count, const REAL *a,
                              int64_t a_m, int64_t a_k, const REAL *b, int64_t b_k, REAL *out, int64_t out_m,
                              bool accumulate) {
#define NAME_TILE(height, vectors) NAME(tile_##height##_##vectors),
#if VECTOR_BYTES == 64
  static NAME(tile_fn) *const two[] = {TWELVE(NAME_TILE, 2)};
  static NAME(tile_fn) *const wide[] = {NAME(tile_1_6), NAME(tile_2_6), NAME(tile_3_6), NAME(tile_4_6)};
#else
  static NAME(tile_fn) *const two[] = {SIX(NAME_TILE, 2)};
  static NAME(tile_fn) *const wide[] = {NAME(tile_1_6), NAME(tile_2_6)};
#endif
  static NAME(tile_fn) *const one[] = {TWELVE(NAME_TILE, 1)};
#undef NAME_TILE
  NAME(tile_fn) *tile = vectors == 1 ? one[height - 1] : vectors == 2 ? two[height - 1] : wide[height - 1];
  if (columns == vectors * LANES || vectors == 2) {
    tile(count, a, a_m, a_k, b, b_k, columns - LANES, out, out_m, accumulate);
    return;
  }
  _Alignas(64) REAL whole[SUMS * VECTOR_BYTES / sizeof(REAL)];
  tile(count, a, a_m, a_k, b, b_k, LANES, whole, vectors * LANES, false);
  for (int64_t i = 0; i < height; i++) {
    NAME(store_row)(columns, whole + i * vectors * LANES, out + i * out_m, accumulate);
  }
}

// Packs a column panel of the right side: its |count| rows, contiguous. Columns missing at the right are anything. |width| is a
// constant where this is inlined into pack_panel.
TARGET static inline __attribute__((always_inline)) void
NAME(pack)(int64_t count, int64_t columns, int64_t width, const REAL *rhs, int64_t rhs_k, int64_t rhs_n, REAL *packed) {
  if (rhs_n == 1) {
    const REAL *end = rhs + (count - 1) * rhs_k + columns;
    enum { STEPS_AHEAD = 16 };  // that are asked for: each is a line or two of another page
    for (int64_t k = 0; k < count; k++) {
      const REAL *row = rhs + k * rhs_k;
      const REAL *later = rhs + (k + STEPS_AHEAD < count ? k + STEPS_AHEAD : k) * rhs_k;
      for (int64_t c = 0; c < columns; c += 64 / (int64_t)sizeof(REAL)) {
        __builtin_prefetch(later + c);
      }
      if (end - row >= width) {  // beyond its end is the next row
        memcpy(packed + k * width, row, (size_t)width * sizeof(REAL));
      } else {
        for (int64_t c = 0; c < width; c++) {
          packed[k * width + c] = c < columns ? row[c] : 0;
        }
      }
    }
    return;
  }
  if (columns < width) {
    memset(packed, 0, (size_t)(count * width) * sizeof(REAL));
  }
  int64_t side = SQUARE_BYTES / sizeof(REAL);
  int64_t squares = rhs_k == 1 ? columns / side * side : 0;
  int64_t transposed = count / side * side;
  for (int64_t c = 0; c < squares; c += side) {
    for (int64_t k = 0; k < transposed; k += side) {
      TRANSPOSE(rhs + c * rhs_n + k, rhs_n, packed + k * width + c, width);
    }
  }
  for (int64_t c = 0; c < columns; c++) {
    for (int64_t k = c < squares ? transposed : 0; k < count; k++) {
      packed[k * width + c] = rhs[c * rhs_n + k * rhs_k];
    }
  }
}

TARGET static void NAME(pack_panel)(int64_t count, int64_t columns, int64_t vectors, const REAL *rhs, int64_t rhs_k,
                                    int64_t rhs_n, REAL *packed) {
  if (vectors == 1) {
    NAME(pack)(count, columns, LANES, rhs, rhs_k, rhs_n, packed);
  } else {
    NAME(pack)(count, columns, TILE_N, rhs, rhs_k, rhs_n, packed);
  }
}

// Prefetches a share of the next column panel of the right side, |begin| to |end| of |all|: lines of distant rows,
// which hardware prefetchers miss.
TARGET static void NAME(prefetch)(int64_t count, const REAL *rhs, int64_t rhs_k, int64_t rhs_n, int64_t begin,
                                  int64_t end, int64_t all) {
  int64_t rows = rhs_n == 1 ? count : TILE_N;
  int64_t line = 64 / (int64_t)sizeof(REAL);
  for (int64_t r = rows * begin / all; r < rows * end / all; r++) {
    if (rhs_n == 1) {
      __builtin_prefetch(rhs + r * rhs_k);
    } else {
      for (int64_t k = 0; k < count; k += line) {
        __builtin_prefetch(rhs + r * rhs_n + k * rhs_k);
      }
    }
  }
}

// Rows of a tile of so many vectors. Rows at a distance of a multiple of 2 KiB share the sets of L1, which has eight ways.
TARGET static int64_t NAME(tile_height)(int64_t vectors, int64_t lhs_m) {
  enum { SAME_SETS = 2048, WAYS = 6 };
  int64_t most = vectors == 1 ? TALL : vectors == 2 ? TILE_M : FEW;
  return lhs_m * (int64_t)sizeof(REAL) % SAME_SETS == 0 && most > WAYS ? WAYS : most;
}

// A block of rows and of at most BLOCK_K steps, all columns. The last rows are two tiles of about equal height: one of
// a few rows would take as long as one of four. |in_place|: panels of the right side are not packed.
TARGET static void NAME(block)(int64_t rows, int64_t n, int64_t count, const REAL *lhs, int64_t lhs_m, int64_t lhs_k,
                               const REAL *rhs, int64_t rhs_k, int64_t rhs_n, REAL *out, int64_t out_m, bool accumulate,
                               bool in_place, bool is_streamed) {
  _Alignas(64) REAL packed[BLOCK_K * 2 * VECTOR_BYTES / sizeof(REAL)];
  int64_t vectors = 0;
  for (int64_t j = 0; j < n; j += vectors * LANES) {
    int64_t left = n - j;
    vectors = left <= LANES ? 1 : in_place && rows <= FEW && left >= WIDE * LANES ? WIDE : 2;
    int64_t width = vectors * LANES;
    int64_t columns = left < width ? left : width;
    int64_t most = NAME(tile_height)(vectors, lhs_m);
    const REAL *b = rhs + j * rhs_n;
    int64_t b_k = rhs_k;
    if (!in_place || (is_streamed && columns < width)) {
      NAME(pack_panel)(count, columns, vectors, b, rhs_k, rhs_n, packed);
      b = packed;
      b_k = width;
    }
    int64_t height = most;
    for (int64_t i = 0; i < rows; i += height) {
      height = rows - i <= most ? rows - i : rows - i < 2 * most ? (rows - i + 1) / 2 : most;
      if (!in_place && left >= 2 * TILE_N) {
        NAME(prefetch)(count, rhs + (j + TILE_N) * rhs_n, rhs_k, rhs_n, i, i + height, rows);
      }
      for (int64_t r = i; r < i + height && is_streamed; r++) {
        __builtin_prefetch(out + r * out_m + j + 2 * TILE_N, 1);
        __builtin_prefetch(out + r * out_m + j + 2 * TILE_N + LANES, 1);
      }
      NAME(tile)
      (height, vectors, columns, count, lhs + i * lhs_m, lhs_m, lhs_k, b, b_k, out + i * out_m + j, out_m, accumulate);
    }
  }
}

// The steps at the end that are packed in any case where rows of the right side are read in place as whole vectors: what is
// read beyond a row's end is the next row's, but for the last ones. -1: rows have gaps between them.
TARGET static int64_t NAME(last_steps)(int64_t n, int64_t k, int64_t rhs_k) {
  int64_t beyond = (LANES - n % LANES) % LANES;
  int64_t steps = (beyond + n - 1) / n;
  return beyond == 0 ? 0 : rhs_k != n ? -1 : steps < k ? steps : k;
}

// Whether a result is better written in bands of some rows, where its sums are short: it does not stay in L2.
TARGET static bool NAME(is_large)(int64_t m, int64_t n) {
  return n >= 4 * TILE_N && m * n * (int64_t)sizeof(REAL) > LARGE_BYTES / 4;
}

TARGET static void NAME(tiles)(int64_t m, int64_t n, int64_t k, const REAL *lhs, int64_t lhs_m, int64_t lhs_k,
                               const REAL *rhs, int64_t rhs_k, int64_t rhs_n, REAL *out, int64_t out_m,
                               bool accumulate) {
  enum { STEPS_OF_FEW = 16, STEPS_IN_PLACE = 64, STEPS_OF_BAND = 64, BAND_TILES = 2 };
  // A panel that two tiles use, or whose rows are contiguous, is not worth packing. Of distant rows few are read at a time, and of those
  // of a side larger than L2 so few that each is a stream of its own.
  // Nor is one of a short sum whose result does not stay in L2: that is written in bands of some rows then, each row a stream.
  bool in_bands = rhs_n == 1 && k <= STEPS_OF_BAND && NAME(is_large)(m, n);
  bool in_place = rhs_n == 1 && (in_bands || m <= 2 * TILE_M || (rhs_k == n && n % LANES == 0 && n <= TILE_N));
  int64_t last = in_place && !in_bands ? NAME(last_steps)(n, k, rhs_k) : 0;
  in_place = in_place && last >= 0;
  int64_t whole = in_place ? k - last : k;
  int64_t few = k * rhs_k * (int64_t)sizeof(REAL) > LARGE_BYTES ? 64 / (int64_t)sizeof(REAL) : STEPS_IN_PLACE;
  int64_t depth = !in_place || rhs_k <= TILE_N ? BLOCK_K : m <= FEW ? STEPS_OF_FEW : few;
  // As few blocks of rows as possible, of about equal height: each packs the right side again.
  int64_t steps = k < BLOCK_K ? k : BLOCK_K;
  // With 64-byte vectors L2 has 1 MiB: twice as many rows take 0.94 of the time for 1000 x 1000 f64.
  int64_t most = BLOCK_BYTES * (VECTOR_BYTES == 64 ? 2 : 1) / (int64_t)sizeof(REAL) / steps / TALL * TALL;
  int64_t tiles = (m + TALL - 1) / TALL;
  int64_t blocks = (m + most - 1) / most;
  int64_t height = in_bands && in_place ? BAND_TILES * TILE_M : (tiles + blocks - 1) / blocks * TALL;
  for (int64_t i = 0; i < m; i += height) {
    int64_t rows = m - i < height ? m - i : height;
    int64_t count = 0;
    for (int64_t begin = 0; begin < k; begin += count) {
      bool is_whole = begin < whole;
      int64_t end = is_whole ? whole : k;
      count = end - begin < depth ? end - begin : depth;
      NAME(block)
      (rows, n, count, lhs + i * lhs_m + begin * lhs_k, lhs_m, lhs_k, rhs + begin * rhs_k, rhs_k, rhs_n,
       out + i * out_m, out_m, accumulate || begin > 0, in_place && is_whole, in_bands);
    }
  }
}

// The same of a short sum along which the right side lies: that is turned, some columns at a time, which are written in bands.
TARGET static void NAME(turned)(int64_t m, int64_t n, int64_t k, const REAL *lhs, int64_t lhs_m, int64_t lhs_k,
                                const REAL *rhs, int64_t rhs_k, int64_t rhs_n, REAL *out, int64_t out_m,
                                bool accumulate) {
  _Alignas(64) REAL packed[DOTS_BYTES / sizeof(REAL)];
  int64_t most = DOTS_BYTES / (int64_t)sizeof(REAL) / k / TILE_N * TILE_N;
  for (int64_t j = 0; j < n; j += most) {
    int64_t columns = n - j < most ? n - j : most;
    NAME(pack)(k, columns, columns, rhs + j * rhs_n, rhs_k, rhs_n, packed);
    NAME(tiles)(m, columns, k, lhs, lhs_m, lhs_k, packed, columns, 1, out + j, out_m, accumulate);
  }
}

// The same for any stride of the result's columns: of a few rows or columns then, of which a band at a time is computed in L1.
TARGET static void NAME(bands)(int64_t m, int64_t n, int64_t k, const REAL *lhs, int64_t lhs_m, int64_t lhs_k,
                               const REAL *rhs, int64_t rhs_k, int64_t rhs_n, REAL *out, int64_t out_m, int64_t out_n,
                               bool accumulate) {
  _Alignas(64) REAL band[BAND_BYTES / sizeof(REAL)];
  if (out_n == 1 && rhs_n != 1 && k <= TURNED_STEPS && NAME(is_large)(m, n)) {
    NAME(turned)(m, n, k, lhs, lhs_m, lhs_k, rhs, rhs_k, rhs_n, out, out_m, accumulate);
    return;
  }
  if (out_n == 1) {
    NAME(tiles)(m, n, k, lhs, lhs_m, lhs_k, rhs, rhs_k, rhs_n, out, out_m, accumulate);
    return;
  }
  int64_t room = BAND_BYTES / (int64_t)sizeof(REAL);
  int64_t height = m <= n ? m : room / n / TALL * TALL;
  int64_t width = m <= n ? room / m / TILE_N * TILE_N : n;
  for (int64_t first = 0; first < m; first += height) {
    int64_t rows = m - first < height ? m - first : height;
    for (int64_t at = 0; at < n; at += width) {
      int64_t columns = n - at < width ? n - at : width;
      NAME(tiles)
      (rows, columns, k, lhs + first * lhs_m, lhs_m, lhs_k, rhs + at * rhs_n, rhs_k, rhs_n, band, columns, false);
      for (int64_t j = 0; j < columns; j++) {
        for (int64_t i = 0; i < rows; i++) {
          REAL *to = out + (first + i) * out_m + (at + j) * out_n;
          *to = accumulate ? *to + band[i * columns + j] : band[i * columns + j];
        }
      }
    }
  }
}

// A few rows whose right side has contiguous rows: these are read in order, as memory is fastest, ROW_STEPS at a time onto sums
// in L1. sums[0..height, 0..width) += a[., 0..steps) * b[0..steps, .]. The last vector of b ends with the row.
TARGET static inline __attribute__((always_inline)) void NAME(add_steps)(const int height, const int steps,
                                                                         int64_t width, const REAL *a, int64_t a_m,
                                                                         int64_t a_k, const REAL *b, int64_t b_k,
                                                                         REAL *sums, int64_t sums_m) {
  const int64_t line = 64 / (int64_t)sizeof(REAL);
  VECTOR x[FEW * ROW_STEPS];
#pragma GCC unroll 16
  for (int i = 0; i < height * steps; i++) {
    x[i] = (VECTOR){0} + a[i / steps * a_m + i % steps * a_k];
  }
  for (int64_t j = 0; j < width; j += LANES) {
    const REAL *from = b + (j + LANES <= width ? j : width - LANES);
    VECTOR y[ROW_STEPS];
#pragma GCC unroll 4
    for (int s = 0; s < steps; s++) {
      if (j % line == 0) {
        __builtin_prefetch(from + (s + steps) * b_k);
      }
      memcpy(&y[s], from + s * b_k, sizeof y[s]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < height; i++) {
      VECTOR sum;
      memcpy(&sum, sums + i * sums_m + j, sizeof sum);
#pragma GCC unroll 4
      for (int s = 0; s < steps; s++) {
        sum += x[i * steps + s] * y[s];
      }
      memcpy(sums + i * sums_m + j, &sum, sizeof sum);
    }
  }
}

typedef void NAME(steps_fn)(int64_t width, const REAL *a, int64_t a_m, int64_t a_k, const REAL *b, int64_t b_k,
                            REAL *sums, int64_t sums_m);

#define DEFINE_STEPS(height, steps)                                                                           \
  TARGET static void NAME(steps_##height##_##steps)(int64_t width, const REAL *a, int64_t a_m, int64_t a_k,   \
                                                    const REAL *b, int64_t b_k, REAL *sums, int64_t sums_m) { \
    NAME(add_steps)(height, steps, width, a, a_m, a_k, b, b_k, sums, sums_m);                                 \
  }
DEFINE_STEPS(1, 1)
DEFINE_STEPS(1, 4)
DEFINE_STEPS(2, 1)
DEFINE_STEPS(2, 4)
#if VECTOR_BYTES == 64
DEFINE_STEPS(3, 1)
DEFINE_STEPS(3, 4)
DEFINE_STEPS(4, 1)
DEFINE_STEPS(4, 4)
#endif
#undef DEFINE_STEPS

// For |m| up to MOST_ROWS and |n| of LANES and more.
TARGET static void NAME(few_rows)(int64_t m, int64_t n, int64_t k, const REAL *a, int64_t a_m, int64_t a_k,
                                  const REAL *b, int64_t b_k, REAL *out, int64_t out_m, int64_t out_n,
                                  bool accumulate) {
  static NAME(steps_fn) *const functions[][2] = {
    {NAME(steps_1_1), NAME(steps_1_4)},
    {NAME(steps_2_1), NAME(steps_2_4)},
#if VECTOR_BYTES == 64
    {NAME(steps_3_1), NAME(steps_3_4)},
    {NAME(steps_4_1), NAME(steps_4_4)},
#endif
  };
  _Alignas(64) REAL sums[ROW_BYTES / sizeof(REAL)];
  int64_t most = ROW_BYTES / (int64_t)sizeof(REAL) / m / LANES * LANES - LANES;
  int64_t parts = (n + most - 1) / most;
  int64_t part = ((n + parts - 1) / parts + LANES - 1) / LANES * LANES;
  int64_t width = 0;
  for (int64_t begin = 0; begin < n; begin += width) {
    width = n - begin < part + LANES ? n - begin : part;  // what is left may be less than a vector
    int64_t row = (width + LANES - 1) / LANES * LANES;
    memset(sums, 0, (size_t)(m * row) * sizeof(REAL));
    int64_t steps = ROW_STEPS;
    for (int64_t l = 0; l < k; l += steps) {
      steps = k - l < ROW_STEPS ? 1 : ROW_STEPS;
      for (int64_t i = 0; i < m; i += FEW) {
        int64_t height = m - i < FEW ? m - i : FEW;
        functions[height - 1][steps > 1](width, a + i * a_m + l * a_k, a_m, a_k, b + l * b_k + begin, b_k,
                                         sums + i * row, row);
      }
    }
    int64_t whole = width / LANES * LANES;
    for (int64_t i = 0; i < m; i++) {
      for (int64_t j = 0; j < width; j++) {
        REAL sum = sums[i * row + (j < whole ? j : j + LANES - width % LANES)];
        REAL *to = out + i * out_m + (begin + j) * out_n;
        *to = accumulate ? *to + sum : sum;
      }
    }
  }
}

// Both sides are packed ---------------------------------------------------------------------------------------------------

TARGET static void NAME(panels)(indim_gemm_panels *out) {
  *out = (indim_gemm_panels){.rows = PANEL_M, .columns = PANEL_N};
}

// Rows of the left side, PANEL_M of each step together; those missing in the last panel are anything.
TARGET static void NAME(pack_lhs)(int64_t rows, int64_t count, const REAL *lhs, int64_t lhs_m, int64_t lhs_k,
                                  REAL *packed) {
  for (int64_t i = 0; i < rows; i += PANEL_M) {
    NAME(pack)
    (count, rows - i < PANEL_M ? rows - i : PANEL_M, PANEL_M, lhs + i * lhs_m, lhs_k, lhs_m, packed + i * count);
  }
}

TARGET static void NAME(pack_rhs)(int64_t columns, int64_t count, const REAL *rhs, int64_t rhs_k, int64_t rhs_n,
                                  REAL *packed) {
  for (int64_t j = 0; j < columns; j += PANEL_N) {
    NAME(pack)
    (count, columns - j < PANEL_N ? columns - j : PANEL_N, PANEL_N, rhs + j * rhs_n, rhs_k, rhs_n, packed + j * count);
  }
}

// A tile of two panels, of the right one its first vectors. Lines of the result are asked for before the sums, which take longer than
// these take to come.
#define DEFINE_PANEL_TILE(vectors)                                                                                     \
  TARGET static void NAME(panel_tile_##vectors)(int64_t count, const REAL *a, const REAL *b, REAL *out, int64_t out_m, \
                                                bool accumulate) {                                                     \
    _Pragma("GCC unroll 8") for (int i = 0; i < PANEL_M; i++) {                                                        \
      _Pragma("GCC unroll 3") for (int v = 0; v < vectors; v++) {                                                      \
        __builtin_prefetch(out + i * out_m + v * LANES, 1);                                                            \
      }                                                                                                                \
    }                                                                                                                  \
    NAME(sum_up)(PANEL_M, vectors, count, a, 1, PANEL_M, b, PANEL_N, LANES, out, out_m, accumulate);                   \
  }
DEFINE_PANEL_TILE(1)
DEFINE_PANEL_TILE(2)
#if VECTOR_BYTES == 64
DEFINE_PANEL_TILE(3)
#endif
#undef DEFINE_PANEL_TILE

// All tiles of some panels of both sides. The left ones stay in L2, where a right one comes to from memory once.
TARGET static void NAME(packed)(int64_t m, int64_t n, int64_t count, const REAL *lhs, const REAL *rhs, REAL *out,
                                int64_t out_m, bool accumulate) {
  typedef void tile_fn(int64_t count, const REAL *a, const REAL *b, REAL *out, int64_t out_m, bool accumulate);
  static tile_fn *const tiles[] = {
    NAME(panel_tile_1),
    NAME(panel_tile_2),
#if VECTOR_BYTES == 64
    NAME(panel_tile_3),
#endif
  };
  _Alignas(64) REAL whole[PANEL_M * PANEL_N];
  for (int64_t j = 0; j < n; j += PANEL_N) {
    int64_t columns = n - j < PANEL_N ? n - j : PANEL_N;
    tile_fn *tile = tiles[(columns - 1) / LANES];
    for (int64_t i = 0; i < m; i += PANEL_M) {
      int64_t rows = m - i < PANEL_M ? m - i : PANEL_M;
      REAL *to = out + i * out_m + j;
      if (rows == PANEL_M && columns % LANES == 0) {
        tile(count, lhs + i * count, rhs + j * count, to, out_m, accumulate);
        continue;
      }
      tile(count, lhs + i * count, rhs + j * count, whole, PANEL_N, false);
      for (int64_t r = 0; r < rows; r++) {
        NAME(store_row)(columns, whole + r * PANEL_N, to + r * out_m, accumulate);
      }
    }
  }
}

// Lanes are partial sums --------------------------------------------------------------------------------------------------

// Of the four floats' or two doubles' vectors: in each quarter the sums of each one's elements there.
TARGET static inline __attribute__((always_inline)) VECTOR NAME(sums_in_quarters)(const VECTOR *sums) {
  const int square = SQUARE_BYTES / sizeof(REAL);
  NAME(words) pairs[2];
#pragma GCC unroll 2
  for (int i = 0; i < 2; i++) {
    NAME(words) a = (NAME(words))sums[i * square / 2];
    if (square == 2) {
      pairs[i] = a;
    } else {
      NAME(words) b = (NAME(words))sums[i * square / 2 + 1];
      pairs[i] = (NAME(words))((VECTOR)SHUFFLE(NAME(words), a, b, PASTE(LOWER, VECTOR_BYTES)) +
                               (VECTOR)SHUFFLE(NAME(words), a, b, PASTE(UPPER, VECTOR_BYTES)));
    }
  }
  return (VECTOR)SHUFFLE(NAME(words), pairs[0], pairs[1], PASTE(LOWER_PAIRS, VECTOR_BYTES)) +
         (VECTOR)SHUFFLE(NAME(words), pairs[0], pairs[1], PASTE(UPPER_PAIRS, VECTOR_BYTES));
}

TARGET static inline __attribute__((always_inline)) QUARTER NAME(sum_of_quarters)(VECTOR x) {
  QUARTER parts[VECTOR_BYTES / 16];
  memcpy(parts, &x, sizeof parts);
  QUARTER sum = parts[0];
  for (int i = 1; i < VECTOR_BYTES / 16; i++) {
    sum += parts[i];
  }
  return sum;
}

// out[j] = the sum of the lanes of sums[j], of one, two or four vectors.
TARGET static inline __attribute__((always_inline)) void NAME(sums_of_lanes)(const int count, const VECTOR *sums,
                                                                             REAL *out) {
  const int square = SQUARE_BYTES / sizeof(REAL);
#pragma GCC unroll 2
  for (int j = 0; j < count; j += square) {
    VECTOR some[SQUARE_BYTES / sizeof(REAL)];
#pragma GCC unroll 4
    for (int i = 0; i < square; i++) {
      some[i] = sums[j + i < count ? j + i : count - 1];
    }
    QUARTER sum = NAME(sum_of_quarters)(NAME(sums_in_quarters)(some));
    memcpy(out + j, &sum, (size_t)(count - j < square ? count - j : square) * sizeof(REAL));
  }
}

// sums[i * DOTS_N + j] = sum over k of a[i, k] * b[j, k] of contiguous rows. The last lanes are a vector that ends with them.
// |is_panel|: the vectors of the columns' rows lie in b[0] in the order in which they are read.
TARGET static inline __attribute__((always_inline)) void
NAME(dot_up)(const int height, const int columns, const bool is_panel, int64_t k, const REAL *const *a,
             const REAL *const *b, int64_t next_count, const REAL *next, int64_t next_m, REAL *out) {
  const int64_t line = 64 / (int64_t)sizeof(REAL);
  VECTOR sums[DOTS * DOTS_N];
  VECTOR x[DOTS];
  VECTOR y[DOTS_N];
#pragma GCC unroll 16
  for (int i = 0; i < height * columns; i++) {
    sums[i] = (VECTOR){0};
  }
  const REAL *panel = b[0];
  int64_t l = 0;
  for (; l + LANES <= k; l += LANES) {
    if (l % line == 0) {
#pragma GCC unroll 4
      for (int i = 0; i < DOTS; i++) {
        if (i < next_count) {
          __builtin_prefetch(next + i * next_m + l, 0, 2);  // into L2: L1 is full
        }
      }
    }
#pragma GCC unroll 4
    for (int j = 0; j < columns; j++) {
      memcpy(&y[j], is_panel ? panel + j * LANES : b[j] + l, sizeof y[j]);
    }
    panel += is_panel ? columns * LANES : 0;
#pragma GCC unroll 4
    for (int i = 0; i < height; i++) {
      memcpy(&x[i], a[i] + l, sizeof x[i]);
#pragma GCC unroll 4
      for (int j = 0; j < columns; j++) {
        sums[i * columns + j] += x[i] * y[j];
      }
    }
  }
  if (l < k) {
    VECTOR lane;
    for (int i = 0; i < LANES; i++) {
      lane[i] = (REAL)i;
    }
    MASK is_left = lane >= (VECTOR){0} + (REAL)(LANES - (k - l));
    l = k - LANES;
#pragma GCC unroll 4
    for (int j = 0; j < columns; j++) {
      memcpy(&y[j], is_panel ? panel + j * LANES : b[j] + l, sizeof y[j]);
      y[j] = (VECTOR)((MASK)y[j] & is_left);
    }
#pragma GCC unroll 4
    for (int i = 0; i < height; i++) {
      memcpy(&x[i], a[i] + l, sizeof x[i]);
      x[i] = (VECTOR)((MASK)x[i] & is_left);
#pragma GCC unroll 4
      for (int j = 0; j < columns; j++) {
        sums[i * columns + j] += x[i] * y[j];
      }
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < height; i++) {
    NAME(sums_of_lanes)(columns, sums + i * columns, out + i * DOTS_N);
  }
}

#define DEFINE_DOTS(height, columns)                                                                        \
  TARGET static void NAME(dots_##height##_##columns)(int64_t k, const REAL *const *a, const REAL *const *b, \
                                                     int64_t next_count, const REAL *next, int64_t next_m,  \
                                                     REAL *out) {                                           \
    NAME(dot_up)(height, columns, false, k, a, b, next_count, next, next_m, out);                           \
  }
#define DEFINE_PANEL_DOTS(columns)                                                                                 \
  TARGET static void NAME(panel_dots_##columns)(int64_t k, const REAL *const *a, const REAL *const *b,             \
                                                int64_t next_count, const REAL *next, int64_t next_m, REAL *out) { \
    NAME(dot_up)(DOTS, columns, true, k, a, b, next_count, next, next_m, out);                                     \
  }
DEFINE_DOTS(1, 1)
DEFINE_DOTS(1, 2)
DEFINE_DOTS(1, 4)
DEFINE_DOTS(2, 1)
DEFINE_DOTS(2, 2)
DEFINE_DOTS(2, 4)
#if VECTOR_BYTES == 64
DEFINE_DOTS(4, 1)
DEFINE_DOTS(4, 2)
DEFINE_DOTS(4, 4)
#endif
DEFINE_PANEL_DOTS(1)
DEFINE_PANEL_DOTS(2)
DEFINE_PANEL_DOTS(4)
#undef DEFINE_DOTS
#undef DEFINE_PANEL_DOTS

// A tile of at most DOTS by DOTS_N; of three rows or columns the last is computed twice.
// |next_count| rows from |next| on are asked for. |is_panel|: the columns are packed.
TARGET static void NAME(dot_tile)(int64_t height, int64_t columns, int64_t k, const REAL *a, int64_t a_m, const REAL *b,
                                  int64_t b_n, bool is_panel, int64_t next_count, const REAL *next, REAL *out,
                                  int64_t out_m, int64_t out_n, bool accumulate) {
  typedef void dots_fn(int64_t k, const REAL *const *a, const REAL *const *b, int64_t next_count, const REAL *next,
                       int64_t next_m, REAL *out);
  static dots_fn *const dots[][3] = {
    {NAME(dots_1_1), NAME(dots_1_2), NAME(dots_1_4)},
    {NAME(dots_2_1), NAME(dots_2_2), NAME(dots_2_4)},
#if VECTOR_BYTES == 64
    {NAME(dots_4_1), NAME(dots_4_2), NAME(dots_4_4)},
#endif
  };
  static dots_fn *const panel_dots[] = {NAME(panel_dots_1), NAME(panel_dots_2), NAME(panel_dots_4)};
  const REAL *as[DOTS];
  const REAL *bs[DOTS_N];
  REAL sums[DOTS * DOTS_N];
  for (int64_t i = 0; i < DOTS; i++) {
    as[i] = a + (i < height ? i : height - 1) * a_m;
  }
  for (int64_t j = 0; j < DOTS_N; j++) {
    bs[j] = b + (j < columns ? j : columns - 1) * b_n;
  }
  int width = columns > 2 ? 2 : (int)columns - 1;
  dots_fn *sum_up = is_panel ? panel_dots[width] : dots[height > 2 ? 2 : height - 1][width];
  sum_up(k, as, bs, next_count, next, a_m, sums);
  for (int64_t i = 0; i < height; i++) {
    if (columns == DOTS_N && out_n == 1) {
      REAL row[DOTS_N];
      memcpy(row, out + i * out_m, sizeof row);
      for (int j = 0; j < DOTS_N; j++) {
        row[j] = accumulate ? row[j] + sums[i * DOTS_N + j] : sums[i * DOTS_N + j];
      }
      memcpy(out + i * out_m, row, sizeof row);
      continue;
    }
    for (int64_t j = 0; j < columns; j++) {
      REAL *to = out + i * out_m + j * out_n;
      *to = accumulate ? *to + sums[i * DOTS_N + j] : sums[i * DOTS_N + j];
    }
  }
}

// Packs the rows of the columns of each tile as a panel: their vectors in the order in which they are read. A third column's is also the
// fourth's.
TARGET static void NAME(pack_panels)(int64_t n, int64_t k, const REAL *rhs, int64_t rhs_n, REAL *packed) {
  for (int64_t j = 0; j < n; j += DOTS_N) {
    int64_t columns = n - j < DOTS_N ? n - j : DOTS_N;
    for (int64_t l = 0; l < k; l += LANES) {
      for (int64_t c = 0; c < (columns > 2 ? DOTS_N : columns); c++) {
        const REAL *row = rhs + (j + (c < columns ? c : columns - 1)) * rhs_n;
        memcpy(packed, row + (l + LANES <= k ? l : k - LANES), VECTOR_BYTES);
        packed += LANES;
      }
    }
  }
}

// All of it by such tiles, of at least LANES steps. The side with more rows is read once, and asked for a tile ahead: each tile of
// columns asks for its share of the next rows.
TARGET static void NAME(dots)(int64_t m, int64_t n, int64_t k, const REAL *lhs, int64_t lhs_m, const REAL *rhs,
                              int64_t rhs_n, REAL *out, int64_t out_m, int64_t out_n, bool accumulate) {
  if (m < n) {
    NAME(dots)(n, m, k, rhs, rhs_n, lhs, lhs_m, out, out_n, out_m, accumulate);
    return;
  }
  enum { MANY = 64 };
  _Alignas(64) REAL packed[DOTS_BYTES / sizeof(REAL)];
  int64_t depth = (k + LANES - 1) / LANES * LANES;
  // Vectors of 64 bytes that are not aligned take two lines each: from panels, which are, half of them take one.
  bool packs = VECTOR_BYTES == 64 && m >= MANY && n > 1 &&
               (n + DOTS_N - 1) / DOTS_N * DOTS_N * depth <= DOTS_BYTES / (int64_t)sizeof(REAL);
  if (packs) {
    NAME(pack_panels)(n, k, rhs, rhs_n, packed);
  }
  for (int64_t i = 0; i < m; i += DOTS) {
    int64_t left = m - i > DOTS ? m - i - DOTS : 0;
    int64_t next_rows = left < DOTS ? left : DOTS;
    const REAL *next = lhs + (left > 0 ? i + DOTS : 0) * lhs_m;
    for (int64_t j = 0; j < n; j += DOTS_N) {
      int64_t columns = n - j < DOTS_N ? n - j : DOTS_N;
      int64_t first = next_rows * j / n;
      NAME(dot_tile)
      (m - i < DOTS ? m - i : DOTS, columns, k, lhs + i * lhs_m, lhs_m, packs ? packed + j * depth : rhs + j * rhs_n,
       rhs_n, packs, next_rows * (j + columns) / n - first, next + first * lhs_m, out + i * out_m + j * out_n, out_m,
       out_n, accumulate);
    }
  }
}

// The same of a sum of any length in about equal parts. A side that does not lie along the sum, and has few rows, is packed.
TARGET static void NAME(long_sums)(int64_t m, int64_t n, int64_t k, const REAL *lhs, int64_t lhs_m, int64_t lhs_k,
                                   const REAL *rhs, int64_t rhs_k, int64_t rhs_n, REAL *out, int64_t out_m,
                                   int64_t out_n, bool accumulate) {
  _Alignas(64) REAL packed[DOTS_BYTES / sizeof(REAL)];
  int64_t few = m < n ? m : n;
  int64_t most = lhs_k == 1 && rhs_k == 1 ? DEPTH_BYTES / (int64_t)sizeof(REAL)
                                          : DOTS_BYTES / (int64_t)sizeof(REAL) / few / LANES * LANES;
  int64_t near = NEAR_BYTES / (int64_t)sizeof(REAL) / few;
  most = near >= NEAR_VECTORS * LANES && near < most && k > 2 * near ? near : most;
  int64_t parts = (k + most - 1) / most;
  int64_t depth = ((k + parts - 1) / parts + LANES - 1) / LANES * LANES;
  for (int64_t begin = 0; begin < k; begin += depth) {
    int64_t count = k - begin < depth ? k - begin : depth;
    const REAL *a = lhs + begin * lhs_k;
    const REAL *b = rhs + begin * rhs_k;
    int64_t a_m = lhs_m;
    int64_t b_n = rhs_n;
    bool is_left = lhs_k != 1;
    if (is_left || rhs_k != 1) {
      NAME(pack)
      (few, count, depth, is_left ? a : b, is_left ? lhs_m : rhs_n, is_left ? lhs_k : rhs_k, packed);
      a = is_left ? packed : a;
      b = is_left ? b : packed;
      a_m = is_left ? depth : a_m;
      b_n = is_left ? b_n : depth;
    }
    if (count >= LANES) {
      NAME(dots)(m, n, count, a, a_m, b, b_n, out, out_m, out_n, accumulate || begin > 0);
    } else {
      NAME(bands)(m, n, count, a, a_m, 1, b, 1, b_n, out, out_m, out_n, accumulate || begin > 0);
    }
  }
}

// Whether lanes are better partial sums: both sides lie along the sum, so that one would be packed, but it has few rows, and
// the other one, too, or not enough for its panels.
TARGET static bool NAME(wants_dots)(int64_t few, int64_t many, int64_t k) {
  enum { MANY = 128 };
  if (few == 1) {
    return k >= LANES;
  }
  int64_t lanes = (few + LANES - 1) / LANES * LANES;
  bool fits = few * k * (int64_t)sizeof(REAL) <= DOTS_BYTES;  // else L2 limits dots
  bool fills_panels = few % LANES == 0 || few % LANES > LANES / 4 * 3 ||
                      (VECTOR_BYTES == 64 && few > LANES && !fits && few * 8 > lanes * (sizeof(REAL) == 8 ? 5 : 6));
  return k >= LONG_SUM * LANES && few <= FEW_DOTS && (many < MANY || !fills_panels);
}

TARGET static void NAME(gemm)(int64_t m, int64_t n, int64_t k, const REAL *lhs, int64_t lhs_m, int64_t lhs_k,
                              const REAL *rhs, int64_t rhs_k, int64_t rhs_n, REAL *out, int64_t out_m, int64_t out_n,
                              bool accumulate) {
  bool is_long = k >= LONG_SUM * LANES;
  bool along = lhs_k == 1 && rhs_k == 1;
  int64_t few = m < n ? m : n;
  bool is_dots = along && NAME(wants_dots)(few, m < n ? n : m, k);
  // The shorter side, which is packed or read again and again, is the right one.
  bool is_tall = lhs_m == 1 && lhs_k != 1 && (n < m || (n == m && n > 1 && rhs_n != 1)) && n <= 2 * TILE_M;
  bool is_broad = along && m > 1 && m < n && m <= FEW_DOTS && !is_dots;
  if ((n == 1 && m > 1) || (is_long && (is_tall || is_broad))) {
    NAME(gemm)(n, m, k, rhs, rhs_n, rhs_k, lhs, lhs_k, lhs_m, out, out_n, out_m, accumulate);
    return;
  }
  bool packs_left = is_long && rhs_k == 1 && lhs_k != 1 && m <= 2 * TILE_M && m < n;
  bool packs_right = is_long && lhs_k == 1 && rhs_k != 1 && n < LANES && n < m;
  // What stays in L2 is read again by each tile; one whose columns are all in a tile is read in order there, too.
  bool in_order = m <= MOST_ROWS && rhs_n == 1 && n > TILE_N && k * n * (int64_t)sizeof(REAL) >= LARGE_BYTES;
  if (in_order) {
    NAME(few_rows)(m, n, k, lhs, lhs_m, lhs_k, rhs, rhs_k, out, out_m, out_n, accumulate);
  } else if (is_dots || packs_left || packs_right) {
    NAME(long_sums)(m, n, k, lhs, lhs_m, lhs_k, rhs, rhs_k, rhs_n, out, out_m, out_n, accumulate);
  } else {
    NAME(bands)(m, n, k, lhs, lhs_m, lhs_k, rhs, rhs_k, rhs_n, out, out_m, out_n, accumulate);
  }
}

#undef VECTOR
#undef MASK
#undef QUARTER
#undef LANES
#undef TILE_M
#undef TILE_N
#undef FEW
#undef DOTS
#undef PANEL_M
#undef PANEL_N
#undef TURNED_STEPS
#undef SUMS
#undef SIX
#undef TWELVE
