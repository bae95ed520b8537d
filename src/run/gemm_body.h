// The body of the built-in matrix product for one element type and vector width, which gemm.c has by vector_instances.h.
//
// Each instance computes register tiles of 6 rows (the last ones fewer) by two vectors, down all rows of a block for
// one column panel after the other. A panel of the right side, up to 256 steps deep, is packed on the stack and stays
// in L1 meanwhile, the block of the left side in L2. Rows of the left side are read in place if their elements are
// contiguous. A product with a single row reads everything once, and packs nothing.
#define VECTOR NAME(vector)
#define LANES ((int64_t)(VECTOR_BYTES / sizeof(REAL)))
#define TILE_N (2 * LANES)

typedef REAL VECTOR __attribute__((vector_size(VECTOR_BYTES)));

// out[0..height, 0..TILE_N) (+)= sum over k of a[., k] * b[k, .]; |height| is a constant where this is inlined.
TARGET static inline __attribute__((always_inline)) void NAME(rows)(const int height, int64_t count, const REAL *a,
                                                                    int64_t a_m, int64_t a_k, const REAL *b,
                                                                    int64_t b_k, REAL *out, int64_t out_m,
                                                                    bool accumulate) {
  VECTOR sums[TILE_M][2];
  for (int i = 0; i < height; i++) {
    sums[i][0] = sums[i][1] = (VECTOR){0};
  }
  for (int64_t k = 0; k < count; k++) {
    VECTOR b0;
    VECTOR b1;
    memcpy(&b0, b + k * b_k, sizeof b0);
    memcpy(&b1, b + k * b_k + LANES, sizeof b1);
#pragma GCC unroll 6
    for (int i = 0; i < height; i++) {
      REAL x = a[i * a_m + k * a_k];
      sums[i][0] += x * b0;
      sums[i][1] += x * b1;
    }
  }
#pragma GCC unroll 6
  for (int i = 0; i < height; i++) {
    REAL *row = out + i * out_m;
    if (accumulate) {
      VECTOR before;
      memcpy(&before, row, sizeof before);
      sums[i][0] += before;
      memcpy(&before, row + LANES, sizeof before);
      sums[i][1] += before;
    }
    memcpy(row, &sums[i][0], sizeof(VECTOR));
    memcpy(row + LANES, &sums[i][1], sizeof(VECTOR));
  }
}

// The same for any height up to TILE_M. |a| has contiguous rows or is packed.
TARGET static void NAME(tile)(int64_t height, int64_t count, const REAL *a, int64_t a_m, int64_t a_k, const REAL *b,
                              int64_t b_k, REAL *out, int64_t out_m, bool accumulate) {
  switch (height) {
  case 1:
    NAME(rows)(1, count, a, a_m, a_k, b, b_k, out, out_m, accumulate);
    break;
  case 2:
    NAME(rows)(2, count, a, a_m, a_k, b, b_k, out, out_m, accumulate);
    break;
  case 3:
    NAME(rows)(3, count, a, a_m, a_k, b, b_k, out, out_m, accumulate);
    break;
  case 4:
    NAME(rows)(4, count, a, a_m, a_k, b, b_k, out, out_m, accumulate);
    break;
  case 5:
    NAME(rows)(5, count, a, a_m, a_k, b, b_k, out, out_m, accumulate);
    break;
  default:
    if (a_k == 1) {
      NAME(rows)(TILE_M, count, a, a_m, 1, b, b_k, out, out_m, accumulate);
    } else {
      NAME(rows)(TILE_M, count, a, 1, TILE_M, b, b_k, out, out_m, accumulate);
    }
    break;
  }
}

// A partial tile at the right edge: through a whole temporary one.
TARGET static void NAME(partial_tile)(int64_t height, int64_t count, const REAL *a, int64_t a_m, int64_t a_k,
                                      const REAL *b, int64_t b_k, REAL *out, int64_t out_m, bool accumulate,
                                      int64_t columns) {
  REAL whole[TILE_M * TILE_N];
  NAME(tile)(height, count, a, a_m, a_k, b, b_k, whole, TILE_N, false);
  for (int64_t i = 0; i < height; i++) {
    for (int64_t j = 0; j < columns; j++) {
      REAL sum = whole[i * TILE_N + j];
      out[i * out_m + j] = accumulate ? out[i * out_m + j] + sum : sum;
    }
  }
}

// Packs a column panel of the right side: its |count| rows, contiguous. Columns missing at the right are zero.
TARGET static void NAME(pack_rhs)(int64_t count, int64_t columns, const REAL *rhs, int64_t rhs_k, int64_t rhs_n,
                                  REAL *packed) {
  if (rhs_n == 1 && columns == TILE_N) {
    for (int64_t k = 0; k < count; k++) {
      memcpy(packed + k * TILE_N, rhs + k * rhs_k, (size_t)TILE_N * sizeof(REAL));
    }
    return;
  }
  if (columns < TILE_N) {
    memset(packed, 0, (size_t)(count * TILE_N) * sizeof(REAL));
  }
  int64_t side = SQUARE_BYTES / sizeof(REAL);
  int64_t transposed = rhs_k == 1 && columns == TILE_N ? count / side * side : 0;
  for (int64_t c = 0; c < columns; c += side) {
    for (int64_t k = 0; k < transposed; k += side) {
      TRANSPOSE(rhs + c * rhs_n + k, rhs_n, packed + k * TILE_N + c, TILE_N);
    }
  }
  for (int64_t c = 0; c < columns; c++) {
    for (int64_t k = transposed; k < count; k++) {
      packed[k * TILE_N + c] = rhs[c * rhs_n + k * rhs_k];
    }
  }
}

// Packs rows of the left side, tile by tile: each has its |count| columns contiguous, with room for TILE_M rows. Where
// columns are contiguous in memory, one column at a time: distant columns would evict each other before the next tile
// needs the rest of their lines.
TARGET static void NAME(pack_lhs)(int64_t count, int64_t rows, const REAL *lhs, int64_t lhs_m, int64_t lhs_k,
                                  REAL *packed) {
  int64_t whole = lhs_m == 1 ? rows / TILE_M * TILE_M : 0;
  for (int64_t k = 0; k < count && whole > 0; k++) {
    for (int64_t i = 0; i < whole; i += TILE_M) {
      memcpy(packed + i * count + k * TILE_M, lhs + i + k * lhs_k, TILE_M * sizeof(REAL));
    }
  }
  for (int64_t first = whole; first < rows; first += TILE_M) {
    REAL *tile = packed + first * count;
    int64_t height = rows - first < TILE_M ? rows - first : TILE_M;
    for (int64_t i = 0; i < height; i++) {
      for (int64_t k = 0; k < count; k++) {
        tile[k * TILE_M + i] = lhs[(first + i) * lhs_m + k * lhs_k];
      }
    }
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

// A block of rows and of at most BLOCK_K steps, all columns. The last rows are two tiles of about equal height: one of
// a few rows would take as long as one of four.
TARGET static void NAME(block)(int64_t rows, int64_t n, int64_t count, const REAL *lhs, int64_t lhs_m, int64_t lhs_k,
                               const REAL *rhs, int64_t rhs_k, int64_t rhs_n, REAL *out, int64_t out_m,
                               bool accumulate) {
  _Alignas(64) REAL rhs_packed[BLOCK_K * 2 * VECTOR_BYTES / sizeof(REAL)];
  _Alignas(64) REAL lhs_packed[LHS_BYTES / sizeof(REAL)];
  bool is_packed = lhs_k != 1;
  if (is_packed) {
    NAME(pack_lhs)(count, rows, lhs, lhs_m, lhs_k, lhs_packed);
  }
  for (int64_t j = 0; j < n; j += TILE_N) {
    int64_t columns = n - j < TILE_N ? n - j : TILE_N;
    const REAL *b = rhs + j * rhs_n;
    int64_t b_k = rhs_k;
    if (rows > TILE_M || rhs_n != 1 || columns < TILE_N) {  // else read once only, and not worth packing
      NAME(pack_rhs)(count, columns, b, rhs_k, rhs_n, rhs_packed);
      b = rhs_packed;
      b_k = TILE_N;
    }
    int64_t height = TILE_M;
    for (int64_t i = 0; i < rows; i += height) {
      int64_t left = rows - i;
      REAL *to = out + i * out_m + j;
      const REAL *a = is_packed ? lhs_packed + i * count : lhs + i * lhs_m;
      bool is_last = left <= height;
      height = is_last ? left : !is_packed && left > TILE_M && left < 2 * TILE_M ? (left + 1) / 2 : height;
      if (n - j >= 2 * TILE_N) {
        NAME(prefetch)(count, rhs + (j + TILE_N) * rhs_n, rhs_k, rhs_n, i, i + height, rows);
      }
      if (columns < TILE_N) {
        NAME(partial_tile)
        (height, count, a, is_packed ? 1 : lhs_m, is_packed ? TILE_M : 1, b, b_k, to, out_m, accumulate, columns);
      } else {
        NAME(tile)(height, count, a, is_packed ? 1 : lhs_m, is_packed ? TILE_M : 1, b, b_k, to, out_m, accumulate);
      }
    }
  }
}

// out[0..n) (+)= sum over k of a[k] * b[k, .] where the rows of b are contiguous: four rows at a time onto sums in L1.
TARGET static void NAME(row_by_rows)(int64_t n, int64_t k, const REAL *a, int64_t a_k, const REAL *b, int64_t b_k,
                                     REAL *out, int64_t out_n, bool accumulate) {
  _Alignas(64) REAL sums[ROW_BYTES / sizeof(REAL)];
  int64_t most = (int64_t)(ROW_BYTES / sizeof(REAL));
  for (int64_t begin = 0; begin < n; begin += most) {
    int64_t width = n - begin < most ? n - begin : most;
    memset(sums, 0, (size_t)width * sizeof(REAL));
    int64_t l = 0;
    for (; l + 4 <= k; l += 4) {
      const REAL *b0 = b + l * b_k + begin;
      const REAL *b1 = b0 + b_k;
      const REAL *b2 = b1 + b_k;
      const REAL *b3 = b2 + b_k;
      REAL x0 = a[l * a_k];
      REAL x1 = a[(l + 1) * a_k];
      REAL x2 = a[(l + 2) * a_k];
      REAL x3 = a[(l + 3) * a_k];
      for (int64_t j = 0; j < width; j++) {
        sums[j] = sums[j] + x0 * b0[j] + x1 * b1[j] + (x2 * b2[j] + x3 * b3[j]);
      }
    }
    for (; l < k; l++) {
      for (int64_t j = 0; j < width; j++) {
        sums[j] += a[l * a_k] * b[l * b_k + begin + j];
      }
    }
    for (int64_t j = 0; j < width; j++) {
      REAL *to = out + (begin + j) * out_n;
      *to = accumulate ? *to + sums[j] : sums[j];
    }
  }
}

// The dot product of a and b, both contiguous, or |a| of stride |a_k|.
TARGET static REAL NAME(inner)(int64_t k, const REAL *a, int64_t a_k, const REAL *b) {
  VECTOR sums[4] = {{0}};
  REAL sum = 0;
  int64_t l = 0;
  for (; a_k == 1 && l + 4 * LANES <= k; l += 4 * LANES) {
    for (int i = 0; i < 4; i++) {
      VECTOR x;
      VECTOR y;
      memcpy(&x, a + l + i * LANES, sizeof x);
      memcpy(&y, b + l + i * LANES, sizeof y);
      sums[i] += x * y;
    }
  }
  for (; l < k; l++) {
    sum += a[l * a_k] * b[l];
  }
  VECTOR all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  for (int64_t i = 0; i < LANES; i++) {
    sum += all[i];
  }
  return sum;
}

// A product with one row; |out_n| is the stride of its elements.
TARGET static void NAME(row)(int64_t n, int64_t k, const REAL *a, int64_t a_k, const REAL *b, int64_t b_k, int64_t b_n,
                             REAL *out, int64_t out_n, bool accumulate) {
  if (b_n == 1) {
    NAME(row_by_rows)(n, k, a, a_k, b, b_k, out, out_n, accumulate);
    return;
  }
  for (int64_t j = 0; j < n; j++) {
    REAL sum = NAME(inner)(k, a, a_k, b + j * b_n);
    out[j * out_n] = accumulate ? out[j * out_n] + sum : sum;
  }
}

TARGET static void NAME(gemm)(int64_t m, int64_t n, int64_t k, const REAL *lhs, int64_t lhs_m, int64_t lhs_k,
                              const REAL *rhs, int64_t rhs_k, int64_t rhs_n, REAL *out, int64_t out_m,
                              bool accumulate) {
  if (m == 1 && (rhs_n == 1 || rhs_k == 1)) {
    NAME(row)(n, k, lhs, lhs_k, rhs, rhs_k, rhs_n, out, 1, accumulate);
    return;
  }
  if (n == 1 && (lhs_m == 1 || lhs_k == 1)) {  // the transposed product has one row
    NAME(row)(m, k, rhs, rhs_k, lhs, lhs_k, lhs_m, out, out_m, accumulate);
    return;
  }
  // As few blocks of rows as possible, of about equal height: each packs the right side again.
  int64_t steps = k < BLOCK_K ? k : BLOCK_K;
  // With 64-byte vectors L2 has 1 MiB: twice as many rows take 0.94 of the time for 1000 x 1000 f64.
  int64_t block = BLOCK_BYTES * (VECTOR_BYTES == 64 ? 2 : 1);
  int64_t most = (lhs_k == 1 ? block : LHS_BYTES) / (int64_t)sizeof(REAL) / steps / TILE_M * TILE_M;
  int64_t tiles = (m + TILE_M - 1) / TILE_M;
  int64_t blocks = (m + most - 1) / most;
  int64_t height = (tiles + blocks - 1) / blocks * TILE_M;
  for (int64_t i = 0; i < m; i += height) {
    int64_t rows = m - i < height ? m - i : height;
    for (int64_t begin = 0; begin < k; begin += BLOCK_K) {
      int64_t count = k - begin < BLOCK_K ? k - begin : BLOCK_K;
      NAME(block)
      (rows, n, count, lhs + i * lhs_m + begin * lhs_k, lhs_m, lhs_k, rhs + begin * rhs_k, rhs_k, rhs_n,
       out + i * out_m, out_m, accumulate || begin > 0);
    }
  }
}

#undef VECTOR
#undef LANES
#undef TILE_N
