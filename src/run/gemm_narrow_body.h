// The body of the built-in product of narrow elements for one kind of vectors, which gemm_narrow.c includes with:
//
//   NAME(x)                    the name of x in this instance
//   TARGET                     attributes of the functions
//   VECTOR_BYTES               of a vector
//   SUM                        int32_t or float
//   STEPS                      elements of a group: 4 bytes, or 2 of 16 bits
//   RHS_IS_UNSIGNED            1: groups of bytes on the right are of u8, else of s8; those on the left are always of s8
//   MULTIPLY_ADD(sum, x, y)    for each lane: adds the products of the elements of group x (left) and y (right) to |sum|
//
// Both sides are packed into groups of STEPS adjacent steps of the sum, 32 bits each, so that a group is to this product
// what an element is to that of gemm_body.h: tiles of 6 or 12 rows by two vectors. A left side whose rows are such groups is read
// in place. Steps and columns that are missing at the edges are zero in both. Bytes of the other signedness are stored with 128
// added or subtracted, which for them is to flip the highest bit; what this adds to the sums is where the sums begin.
#define VECTOR NAME(vector)
#define GROUPS NAME(groups)
#define LANES ((int64_t)(VECTOR_BYTES / 4))
#define TILE_N (2 * LANES)
#define TILE_M (VECTOR_BYTES == 64 ? 12 : 6)  // rows of a tile of two vectors: 24 of 32 registers, or 12 of 16
#define LHS_GROUPS \
  ((VECTOR_BYTES == 64 ? 264 : 132) * BLOCK_GROUPS)  // of a block of the left side: 256 or 128 rows are one
#define MOST_ROWS (LHS_GROUPS / TILE_M / TILE_M * TILE_M)

typedef SUM VECTOR __attribute__((vector_size(VECTOR_BYTES)));
typedef int32_t GROUPS __attribute__((vector_size(VECTOR_BYTES)));

// The left side of a tile: the first group, the bytes to that of the next row, and to the next one of the same row.
typedef struct NAME(left) {
  const char *at;
  int64_t row_bytes, step_bytes;
} NAME(left);

// out[0..height, 0..TILE_N) (+)= rows[.] + columns[.] + sum over groups of a * b; |height| is a constant where this is inlined.
TARGET static inline __attribute__((always_inline)) void NAME(rows)(const int height, int64_t count,
                                                                    const NAME(left) * a, const int32_t *b,
                                                                    const SUM *rows, const SUM *columns, SUM *out,
                                                                    int64_t out_m, bool accumulate) {
  VECTOR sums[TILE_M][2];
  const int64_t row_bytes = a->row_bytes;
  const int64_t step_bytes = a->step_bytes;
  const char *thirds[(TILE_M + 2) / 3];  // every third row: those between are one and two strides beyond
#pragma GCC unroll 4
  for (int i = 0; i < height; i += 3) {
    thirds[i / 3] = a->at + i * row_bytes;
  }
  VECTOR first;
  VECTOR second;
  memcpy(&first, columns, sizeof first);
  memcpy(&second, columns + LANES, sizeof second);
#pragma GCC unroll 12
  for (int i = 0; i < height; i++) {
    sums[i][0] = rows[i] + first;
    sums[i][1] = rows[i] + second;
  }
  for (int64_t k = 0; k < count; k++) {
    GROUPS b0;
    GROUPS b1;
    memcpy(&b0, b + k * TILE_N, sizeof b0);
    memcpy(&b1, b + k * TILE_N + LANES, sizeof b1);
#pragma GCC unroll 12
    for (int i = 0; i < height; i++) {
      int32_t group;
      memcpy(&group, thirds[i / 3] + i % 3 * row_bytes, sizeof group);
      GROUPS x = group - (GROUPS){0};
      MULTIPLY_ADD(sums[i][0], x, b0);
      MULTIPLY_ADD(sums[i][1], x, b1);
    }
#pragma GCC unroll 4
    for (int i = 0; i < height; i += 3) {
      thirds[i / 3] += step_bytes;
    }
  }
#pragma GCC unroll 12
  for (int i = 0; i < height; i++) {
    SUM *row = out + i * out_m;
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

typedef void NAME(tile_fn)(int64_t count, const NAME(left) * a, const int32_t *b, const SUM *rows, const SUM *columns,
                           SUM *out, int64_t out_m, bool accumulate);

#define DEFINE_TILE(height)                                                                                      \
  TARGET static void NAME(tile_##height)(int64_t count, const NAME(left) * a, const int32_t *b, const SUM *rows, \
                                         const SUM *columns, SUM *out, int64_t out_m, bool accumulate) {         \
    NAME(rows)(height, count, a, b, rows, columns, out, out_m, accumulate);                                      \
  }
#define LOW_HEIGHTS(X) \
  X(1)                 \
  X(2)                 \
  X(3)                 \
  X(4)                 \
  X(5)                 \
  X(6)
#if VECTOR_BYTES == 64
#define HEIGHTS(X)    \
  LOW_HEIGHTS(X) X(7) \
  X(8)                \
  X(9)                \
  X(10)               \
  X(11)               \
  X(12)
#else
#define HEIGHTS(X) LOW_HEIGHTS(X)
#endif
HEIGHTS(DEFINE_TILE)
#undef DEFINE_TILE

TARGET static void NAME(tile)(int64_t height, int64_t count, const NAME(left) * a, const int32_t *b, const SUM *rows,
                              const SUM *columns, SUM *out, int64_t out_m, bool accumulate) {
#define NAME_TILE(height) NAME(tile_##height),
  static NAME(tile_fn) *const tiles[] = {HEIGHTS(NAME_TILE)};
#undef NAME_TILE
  tiles[height - 1](count, a, b, rows, columns, out, out_m, accumulate);
}

// A partial tile at the right edge: through a whole temporary one.
TARGET static void NAME(partial_tile)(int64_t height, int64_t count, const NAME(left) * a, const int32_t *b,
                                      const SUM *rows, const SUM *columns, SUM *out, int64_t out_m, bool accumulate,
                                      int64_t width) {
  SUM whole[TILE_M * TILE_N];
  NAME(tile)(height, count, a, b, rows, columns, whole, TILE_N, false);
  for (int64_t i = 0; i < height; i++) {
    for (int64_t j = 0; j < width; j++) {
      SUM sum = whole[i * TILE_N + j];
      out[i * out_m + j] = accumulate ? out[i * out_m + j] + sum : sum;
    }
  }
}

// The sum of the bytes of each row of a packed tile.
TARGET static void NAME(sum_packed)(int64_t count, int64_t height, const NAME(left) * a, int32_t *sums) {
  const GROUPS ones = 0x01010101 - (GROUPS){0};
  for (int64_t i = 0; i < height; i += LANES) {
    VECTOR parts[4] = {{0}};  // several hide the latency
    int64_t k = 0;
    for (; k + 4 <= count; k += 4) {
#pragma GCC unroll 4
      for (int s = 0; s < 4; s++) {
        GROUPS x;
        memcpy(&x, a->at + (k + s) * a->step_bytes + i * a->row_bytes, sizeof x);
        MULTIPLY_ADD(parts[s], x, ones);
      }
    }
    for (; k < count; k++) {
      GROUPS x;
      memcpy(&x, a->at + k * a->step_bytes + i * a->row_bytes, sizeof x);
      MULTIPLY_ADD(parts[0], x, ones);
    }
    VECTOR all = (parts[0] + parts[1]) + (parts[2] + parts[3]);
    for (int64_t l = 0; l < LANES && i + l < height; l++) {
      sums[i + l] = (int32_t)all[l];
    }
  }
}

// The sum of the bytes of a row that is read in place.
TARGET static int32_t NAME(sum_row)(int64_t count, const char *row) {
  const GROUPS ones = 0x01010101 - (GROUPS){0};
  VECTOR all = {0};
  int32_t sum = 0;
  int64_t k = 0;
  for (; k + LANES <= count; k += LANES) {
    GROUPS x;
    memcpy(&x, row + 4 * k, sizeof x);
    MULTIPLY_ADD(all, x, ones);
  }
  for (int64_t l = 0; l < LANES; l++) {
    sum += (int32_t)all[l];
  }
  for (k *= 4; k < 4 * count; k++) {
    sum += (int8_t)row[k];
  }
  return sum;
}

// What the sums of a tile begin with where bytes are stored flipped: of a = a' + p and b = b' + q the sum of a b is that of
// a' b', and q sum(a') + p sum(b') + p q steps. |rows| gets the first and the last part.
TARGET static void NAME(begin_rows)(int64_t p, int64_t q, int64_t steps, int64_t count, int64_t height,
                                    const NAME(left) * a, SUM *rows) {
  int32_t sums[TILE_M] = {0};
  if (q != 0 && a->step_bytes != 4) {
    NAME(sum_packed)(count, height, a, sums);
  }
  for (int64_t i = 0; i < height && q != 0 && a->step_bytes == 4; i++) {
    sums[i] = NAME(sum_row)(count, a->at + i * a->row_bytes);
  }
  for (int64_t i = 0; i < height; i++) {
    rows[i] = (SUM)((uint32_t)q * (uint32_t)sums[i] + (uint32_t)(p * q * steps));
  }
}

TARGET static void NAME(begin_columns)(int64_t p, int64_t count, const int32_t *b, SUM *columns) {
  VECTOR sums[2] = {{0}};
  for (int64_t k = 0; k < count && p != 0; k++) {
    for (int v = 0; v < 2; v++) {
      GROUPS ones = 0x01010101 - (GROUPS){0};
      GROUPS y;
      memcpy(&y, b + k * TILE_N + v * LANES, sizeof y);
      MULTIPLY_ADD(sums[v], ones, y);
    }
  }
  for (int64_t j = 0; j < TILE_N; j++) {
    columns[j] = (SUM)((uint32_t)p * (uint32_t)sums[j / LANES][j % LANES]);
  }
}

// Packs |width| columns from |first| on, with zeros up to TILE_N.
TARGET static void NAME(pack_columns)(const panel *right, int64_t first, int64_t width, int kind, int64_t p,
                                      int64_t count, int32_t *b, SUM *columns) {
  panel these = *right;
  these.width = width;
  these.from += first * these.next * kind_bytes(kind);
  if (width < TILE_N) {
    memset(b, 0, (size_t)(count * TILE_N) * sizeof *b);
  }
  pack(kind, STEPS, &these, b);
  if (p != 0) {
    NAME(begin_columns)(p, count, b, columns);
  }
}

TARGET static void NAME(product)(int64_t m, int64_t n, int64_t k, int lhs_kind, const char *lhs, int64_t lhs_m,
                                 int64_t lhs_k, int rhs_kind, const char *rhs, int64_t rhs_k, int64_t rhs_n, SUM *out,
                                 int64_t out_m, bool accumulate) {
  _Alignas(64) int32_t a[LHS_GROUPS + VECTOR_BYTES / 4];  // whole vectors of a tile's rows are read
  _Alignas(64) int32_t b[BLOCK_GROUPS * 2 * VECTOR_BYTES / 4];
  _Alignas(64) SUM columns[MOST_PANELS * 2 * VECTOR_BYTES / 4] = {0};
  SUM rows[LHS_GROUPS / TILE_M] = {0};
  NAME(left) lefts[LHS_GROUPS / TILE_M / TILE_M];
  bool flips_lhs = STEPS == 4 && lhs_kind == KIND_U8;
  bool flips_rhs = STEPS == 4 && (rhs_kind == KIND_U8) != (RHS_IS_UNSIGNED != 0);
  int64_t p = flips_lhs ? 128 : 0;
  int64_t q = flips_rhs ? (RHS_IS_UNSIGNED ? -128 : 128) : 0;
  int64_t most = k < BLOCK_GROUPS * STEPS ? k : BLOCK_GROUPS * STEPS;
  int64_t depth = (most + STEPS - 1) / STEPS;
  const int64_t lhs_bytes = kind_bytes(lhs_kind);
  const bool in_place = lhs_k == 1 && STEPS * lhs_bytes == 4 && k % STEPS == 0 && !flips_lhs;
  int64_t block = LHS_GROUPS * (in_place ? 2 : 1) / depth / TILE_M * TILE_M;
  block = block < MOST_ROWS ? block : MOST_ROWS;
  int64_t blocks = (m + block - 1) / block;  // of about equal height: each packs the right side again
  block = ((m + blocks - 1) / blocks + TILE_M - 1) / TILE_M * TILE_M;
  for (int64_t i = 0; i < m; i += block) {
    int64_t height = m - i < block ? m - i : block;
    for (int64_t begin = 0; begin < k; begin += most) {
      int64_t steps = k - begin < most ? k - begin : most;
      int64_t count = (steps + STEPS - 1) / STEPS;
      for (int64_t t = 0; t < height; t += TILE_M) {
        int64_t tall = height - t < TILE_M ? height - t : TILE_M;
        const char *from = lhs + ((i + t) * lhs_m + begin * lhs_k) * lhs_bytes;
        lefts[t / TILE_M] = (NAME(left)){from, lhs_m * lhs_bytes, 4};
        if (!in_place) {
          const panel left = {steps, tall, from, lhs_k, lhs_m, TILE_M, flips_lhs ? 0x80808080 : 0};
          pack(lhs_kind, STEPS, &left, a + t * count);
          lefts[t / TILE_M] = (NAME(left)){(const char *)(a + t * count), 4, TILE_M * 4};
        }
        if (p != 0 || q != 0) {
          NAME(begin_rows)(p, q, steps, count, tall, &lefts[t / TILE_M], rows + t);
        }
      }
      const panel right = {
          steps, 0, rhs + begin * rhs_k * kind_bytes(rhs_kind), rhs_k, rhs_n, TILE_N, flips_rhs ? 0x80808080 : 0};
      int64_t together = BLOCK_GROUPS / count < MOST_PANELS ? BLOCK_GROUPS / count : MOST_PANELS;
      for (int64_t j = 0; j < n; j += together * TILE_N) {
        int64_t width = n - j < together * TILE_N ? n - j : together * TILE_N;
        for (int64_t v = 0; v < width; v += TILE_N) {
          NAME(pack_columns)
          (&right, j + v, width - v < TILE_N ? width - v : TILE_N, rhs_kind, p, count, b + v * count, columns + v);
        }
        for (int64_t t = 0; t < height; t += TILE_M) {
          int64_t tall = height - t < TILE_M ? height - t : TILE_M;
          for (int64_t v = 0; v < width; v += TILE_N) {
            SUM *to = out + (i + t) * out_m + j + v;
            if (width - v < TILE_N) {
              NAME(partial_tile)
              (tall, count, &lefts[t / TILE_M], b + v * count, rows + t, columns + v, to, out_m,
               accumulate || begin > 0, width - v);
            } else {
              NAME(tile)
              (tall, count, &lefts[t / TILE_M], b + v * count, rows + t, columns + v, to, out_m,
               accumulate || begin > 0);
            }
          }
        }
      }
    }
  }
}

#undef VECTOR
#undef GROUPS
#undef LANES
#undef TILE_N
#undef TILE_M
#undef LHS_GROUPS
#undef MOST_ROWS
#undef HEIGHTS
#undef LOW_HEIGHTS
#undef NAME
#undef TARGET
#undef VECTOR_BYTES
#undef STEPS
#undef RHS_IS_UNSIGNED
#undef MULTIPLY_ADD
