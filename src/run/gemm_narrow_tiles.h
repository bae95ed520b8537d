// The product of narrow elements by tiles (amx.h), which gemm_narrow.c includes: blocks of both sides are laid out as tiles, the left
// side's only where they are not whole rows of the matrix, which are read in place.
#if defined(__x86_64__)

enum {
  TILE = INDIM_AMX_ROWS,  // rows of the left side, columns of the right one, and groups along the sum
  TILE_WORDS = INDIM_AMX_TILE_BYTES / 4,
  TILE_BLOCK_ROWS = 256,    // of the left side
  TILE_BLOCK_COLUMNS = 64,  // of the right side: whole cache lines of its rows
  TILE_BLOCK_TILES = 8      // along the sum; of a shorter one the block has more columns
};

static int64_t padded(int64_t size, int64_t to) { return indim_ceil_div(size, to) * to; }

// Whether tiles are full enough. Vectors multiply bytes at half the speed, with less to set up, and bf16 at a sixth.
static bool suits_tiles(int32_t vector_bytes, int64_t m, int64_t n, int64_t k, int64_t size) {
  enum { LEAST_WORK = 1 << 16 };
  double work = (double)m * (double)n * (double)k;
  double whole = (double)padded(m, TILE) * (double)padded(n, TILE) * (double)padded(k, INDIM_AMX_ROW_BYTES / size);
  return vector_bytes >= 64 && work >= LEAST_WORK && whole <= (size == 1 ? 1.3 : 2.5) * work && indim_amx_has();
}

typedef struct tile_side {
  const char *at;
  int64_t neighbour, step;  // elements to the next row or column, and along the sum
  int kind;
} tile_side;

// Groups of steps |step_bytes| apart, of |count| times 16 neighbours that lie side by side: those of the next 16 are packed
// |distance| words behind.
__attribute__((target("avx512f,avx512bw"))) static void pack_neighbours(int64_t size, int64_t groups, const char *from,
                                                                        int64_t step_bytes, int64_t count,
                                                                        int64_t distance, uint32_t *to) {
  enum { AHEAD = 8 };
  typedef uint32_t words __attribute__((vector_size(64)));
  typedef struct row {
    char bytes[TILE];
  } row;
  typedef struct row_of_halves {
    char bytes[2 * TILE];
  } row_of_halves;
  const int64_t steps = 4 / size;
  for (int64_t g = 0; g < groups; g++, from += steps * step_bytes, to += TILE) {
    for (int64_t s = 0; s < steps && g + AHEAD < groups; s++) {
      __builtin_prefetch(from + (AHEAD * steps + s) * step_bytes);
    }
    for (int64_t t = 0; t < count; t++) {
      words all = {0};
      words x;
      for (int s = 0; s < 4 && size == 1; s++) {  // GCC converts bytes one by one
        __asm__("vpmovzxbd %1, %0" : "=v"(x) : "m"(*(const row *)(from + s * step_bytes + t * TILE)));
        all |= x << (8 * s);
      }
      for (int s = 0; s < 2 && size == 2; s++) {
        __asm__("vpmovzxwd %1, %0" : "=v"(x) : "m"(*(const row_of_halves *)(from + s * step_bytes + t * 2 * TILE)));
        all |= x << (16 * s);
      }
      memcpy(to + t * distance, &all, sizeof all);
    }
  }
}

// A tile of the left side: |rows| rows, |steps| along the sum.
static void pack_left_tile(const tile_side *x, int64_t rows, int64_t steps, int64_t size, char *tile) {
  if (rows < TILE || steps * size < INDIM_AMX_ROW_BYTES) {
    memset(tile, 0, INDIM_AMX_TILE_BYTES);
  } else if (x->step != 1) {
    enum { SIDE = 4 };
    _Alignas(64) uint32_t turned[TILE_WORDS];
    pack_neighbours(size, TILE, x->at, x->step * size, 1, 0, turned);
    for (int64_t row = 0; row < TILE; row += SIDE) {
      for (int64_t group = 0; group < TILE; group += SIDE) {
        transpose_words((const char *)(turned + group * TILE + row), INDIM_AMX_ROW_BYTES, 0,
                        tile + row * INDIM_AMX_ROW_BYTES + group * 4, INDIM_AMX_ROW_BYTES);
      }
    }
    return;
  }
  for (int64_t i = 0; i < rows && x->step == 1; i++) {
    memcpy(tile + i * INDIM_AMX_ROW_BYTES, x->at + i * x->neighbour * size, (size_t)(steps * size));
  }
  for (int64_t k = 0; k < steps && x->step != 1; k++) {
    const char *from = x->at + k * x->step * size;
    for (int64_t i = 0; i < rows; i++) {
      memcpy(tile + i * INDIM_AMX_ROW_BYTES + k * size, from + i * x->neighbour * size, (size_t)size);
    }
  }
}

// The tiles of 16 columns at most, one behind the other, from group |done| on.
static void pack_right_tiles(const tile_side *y, int64_t columns, int64_t steps, int64_t tiles, int64_t done,
                             int32_t *packed) {
  const int64_t size = kind_bytes(y->kind);
  const int64_t group = 4 / size;
  int64_t whole = columns == TILE ? steps / group * TILE : 0;  // words that are written in any case
  memset(packed + whole, 0, (size_t)((tiles * TILE_WORDS - whole) * 4));
  const panel rest = {
      steps - done * group, columns, y->at + done * group * y->step * size, y->step, y->neighbour, TILE, 0};
  pack(y->kind, (int)group, &rest, packed + done * TILE);
}

// Those of some more columns.
static void pack_right(const tile_side *y, int64_t columns, int64_t steps, int64_t tiles, int32_t *packed) {
  const int64_t size = kind_bytes(y->kind);
  int64_t simple = y->neighbour == 1 ? columns / TILE : 0;
  int64_t done = steps / (4 / size);
  if (simple > 0) {
    pack_neighbours(size, done, y->at, y->step * size, simple, tiles * TILE_WORDS, (uint32_t *)packed);
  }
  for (int64_t v = 0; v * TILE < columns; v++) {
    tile_side part = *y;
    part.at += v * TILE * y->neighbour * size;
    int64_t left = columns - v * TILE;
    pack_right_tiles(&part, left < TILE ? left : TILE, steps, tiles, v < simple ? done : 0,
                     packed + v * tiles * TILE_WORDS);
  }
}

// What becomes of the sums before: nothing, the tiles' begin with them, or, as tiles take numbers of f32 below the normal ones for zero,
// they are added to the tiles'.
typedef enum sums_before { SUMS_NONE, SUMS_FIRST, SUMS_ADDED } sums_before;

static void add_floats(int64_t count, const uint32_t *from, uint32_t *to) {
  for (int64_t j = 0; j < count; j++) {
    float x;
    float y;
    memcpy(&x, from + j, sizeof x);
    memcpy(&y, to + j, sizeof y);
    y += x;
    memcpy(to + j, &y, sizeof y);
  }
}

// One block of sums of 16 or 32 rows and columns; |out| has |rows| and |columns| of them.
static void multiply_tiles(indim_amx_kind kind, int64_t tiles, const indim_amx_left *left, const int32_t *b,
                           uint32_t *out, int64_t out_m, int64_t rows, int64_t columns, sums_before before) {
  enum { SIDE = 2 * TILE };
  const void *right[] = {b, b + tiles * TILE_WORDS};
  int32_t tall = rows > TILE ? 2 : 1;
  int32_t wide = columns > TILE ? 2 : 1;
  if (rows == tall * TILE && columns == wide * TILE && before != SUMS_ADDED) {
    indim_amx_multiply(kind, tiles, left, tall, right, wide, out, out_m * 4, before == SUMS_FIRST);
    return;
  }
  _Alignas(64) uint32_t whole[SIDE * SIDE];
  for (int64_t i = 0; i < rows && before == SUMS_FIRST; i++) {
    memcpy(whole + i * SIDE, out + i * out_m, (size_t)columns * 4);
  }
  indim_amx_multiply(kind, tiles, left, tall, right, wide, whole, (int64_t)(SIDE * 4), before == SUMS_FIRST);
  for (int64_t i = 0; i < rows; i++) {
    if (before == SUMS_ADDED) {
      add_floats(columns, whole + i * SIDE, out + i * out_m);
    } else {
      memcpy(out + i * out_m, whole + i * SIDE, (size_t)columns * 4);
    }
  }
}

static void product_tiles(indim_amx_kind kind, int64_t m, int64_t n, int64_t k, const tile_side *lhs,
                          const tile_side *rhs, uint32_t *out, int64_t out_m, bool accumulate) {
  _Alignas(64) char a[TILE_BLOCK_ROWS / TILE * TILE_BLOCK_TILES * INDIM_AMX_TILE_BYTES];
  _Alignas(64) int32_t b[TILE_BLOCK_COLUMNS / TILE * TILE_BLOCK_TILES * TILE_WORDS];
  indim_amx_left left[TILE_BLOCK_ROWS / TILE];
  const int64_t size = kind_bytes(lhs->kind);
  const int64_t tile_steps = INDIM_AMX_ROW_BYTES / size;
  const int64_t depth = TILE_BLOCK_TILES * tile_steps;
  indim_amx_begin();
  for (int64_t i = 0; i < m; i += TILE_BLOCK_ROWS) {
    int64_t height = m - i < TILE_BLOCK_ROWS ? m - i : TILE_BLOCK_ROWS;
    for (int64_t begin = 0; begin < k; begin += depth) {
      int64_t steps = k - begin < depth ? k - begin : depth;
      int64_t tiles = indim_ceil_div(steps, tile_steps);
      sums_before before = begin > 0 || accumulate ? SUMS_FIRST : SUMS_NONE;
      before = accumulate && kind == INDIM_AMX_BF16 ? SUMS_ADDED : before;
      for (int64_t t = 0; t < height; t += TILE) {
        int64_t rows = height - t < TILE ? height - t : TILE;
        tile_side x = *lhs;
        x.at += ((i + t) * x.neighbour + begin * x.step) * size;
        left[t / TILE] = (indim_amx_left){x.at, x.neighbour * size, INDIM_AMX_ROW_BYTES};
        if (x.step == 1 && rows == TILE && steps % tile_steps == 0) {
          continue;
        }
        char *packed = a + t / TILE * tiles * INDIM_AMX_TILE_BYTES;
        left[t / TILE] = (indim_amx_left){packed, INDIM_AMX_ROW_BYTES, INDIM_AMX_TILE_BYTES};
        for (int64_t l = 0; l < tiles; l++, x.at += tile_steps * x.step * size) {
          int64_t some = steps - l * tile_steps < tile_steps ? steps - l * tile_steps : tile_steps;
          pack_left_tile(&x, rows, some, size, packed + l * INDIM_AMX_TILE_BYTES);
        }
      }
      int64_t most_columns = TILE_BLOCK_COLUMNS * (TILE_BLOCK_TILES / tiles);
      for (int64_t j = 0; j < n; j += most_columns) {
        int64_t width = n - j < most_columns ? n - j : most_columns;
        tile_side y = *rhs;
        y.at += (j * y.neighbour + begin * y.step) * size;
        pack_right(&y, width, steps, tiles, b);
        for (int64_t t = 0; t < height; t += 2 * TILE) {
          int64_t rows = height - t < 2 * TILE ? height - t : 2 * TILE;
          for (int64_t v = 0; v < width; v += 2 * TILE) {
            int64_t columns = width - v < 2 * TILE ? width - v : 2 * TILE;
            multiply_tiles(kind, tiles, &left[t / TILE], b + v / TILE * tiles * TILE_WORDS,
                           out + (i + t) * out_m + j + v, out_m, rows, columns, before);
          }
        }
      }
    }
  }
  indim_amx_end();
}

// False where vectors are better. Elements of 16 bits are bf16.
static bool run_tiles(int32_t vector_bytes, int64_t m, int64_t n, int64_t k, int lhs_kind, const char *lhs,
                      int64_t lhs_m, int64_t lhs_k, int rhs_kind, const char *rhs, int64_t rhs_k, int64_t rhs_n,
                      uint32_t *out, int64_t out_m, bool accumulate) {
  static const indim_amx_kind kinds[2][2] = {{INDIM_AMX_S8_S8, INDIM_AMX_S8_U8}, {INDIM_AMX_U8_S8, INDIM_AMX_U8_U8}};
  if ((lhs_kind == KIND_16) != (rhs_kind == KIND_16) || !suits_tiles(vector_bytes, m, n, k, kind_bytes(lhs_kind))) {
    return false;
  }
  const tile_side x = {lhs, lhs_m, lhs_k, lhs_kind};
  const tile_side y = {rhs, rhs_n, rhs_k, rhs_kind};
  product_tiles(lhs_kind == KIND_16 ? INDIM_AMX_BF16 : kinds[lhs_kind == KIND_U8][rhs_kind == KIND_U8], m, n, k, &x, &y,
                out, out_m, accumulate);
  return true;
}

#else

static bool run_tiles(int32_t vector_bytes, int64_t m, int64_t n, int64_t k, int lhs_kind, const char *lhs,
                      int64_t lhs_m, int64_t lhs_k, int rhs_kind, const char *rhs, int64_t rhs_k, int64_t rhs_n,
                      uint32_t *out, int64_t out_m, bool accumulate) {
  (void)vector_bytes, (void)m, (void)n, (void)k, (void)lhs_kind, (void)lhs, (void)lhs_m, (void)lhs_k, (void)rhs_kind;
  (void)rhs, (void)rhs_k, (void)rhs_n, (void)out, (void)out_m, (void)accumulate;
  return false;
}

#endif
