// Of lanes.c, for one element type and vector width: arithmetic on lanes, and matrices on their way into lanes and out of them.
//
// A block is as many matrices as a vector has lanes. Its arrays are elements column by column, a vector each; columns begin an
// odd number of vectors apart, so that the elements of a row do not fall into the same sets of a cache.
#define VECTOR NAME(vector)
#define MASK NAME(mask)
#define INT NAME(int)
#define LANES ((int64_t)(VECTOR_BYTES / sizeof(REAL)))
#define SQUARE (LANES < 4 ? LANES : 4)
#define INLINE TARGET static inline __attribute__((always_inline))

typedef REAL VECTOR __attribute__((vector_size(VECTOR_BYTES)));
typedef __typeof__(_Generic((REAL)0, float : (int32_t)0, double : (int64_t)0)) INT;
typedef INT MASK __attribute__((vector_size(VECTOR_BYTES)));  // what comparisons give: -1 is true

// Arithmetic -----------------------------------------------------------------------------------------------------------

INLINE VECTOR NAME(all)(REAL x) { return x - (VECTOR){0}; }
INLINE MASK NAME(all_int)(int64_t x) { return (MASK){0} + (INT)x; }

INLINE VECTOR NAME(select)(MASK pred, VECTOR on_true, VECTOR on_false) {
  return (VECTOR)((pred & (MASK)on_true) | (~pred & (MASK)on_false));
}

INLINE MASK NAME(select_int)(MASK pred, MASK on_true, MASK on_false) { return (pred & on_true) | (~pred & on_false); }

INLINE VECTOR NAME(abs)(VECTOR x) { return (VECTOR)((MASK)x & ~(MASK)NAME(all)(-(REAL)0)); }

INLINE VECTOR NAME(sqrt)(VECTOR x) {
  VECTOR y = x;
  for (int64_t l = 0; l < LANES; l++) {
    y[l] = SQRT(x[l]);
  }
  return y;
}

INLINE bool NAME(any)(MASK pred) {
  int64_t words[VECTOR_BYTES / 8];
  int64_t all = 0;
  memcpy(words, &pred, sizeof words);
  for (size_t i = 0; i < VECTOR_BYTES / 8; i++) {
    all |= words[i];
  }
  return all != 0;
}

// A power of two that brings |x| >= 0 into [1, 2) when it is multiplied by it, and its inverse; both are normal numbers.
INLINE void NAME(scale)(VECTOR x, VECTOR *out_scale, VECTOR *out_inverse) {
  const int bits = sizeof(REAL) == 4 ? 23 : 52;
  const int64_t most = sizeof(REAL) == 4 ? 254 : 2046;  // twice the exponent's bias
  MASK largest = NAME(all_int)(most - 1);
  MASK exponent = (MASK)x >> bits;
  exponent = NAME(select_int)(exponent < 1, NAME(all_int)(1), exponent);
  exponent = NAME(select_int)(exponent > largest, largest, exponent);
  *out_scale = (VECTOR)((largest + 1 - exponent) << bits);
  *out_inverse = (VECTOR)(exponent << bits);
}

// Brings the largest of |count| elements next to 1. Returns which lanes have finite elements alone; the others become 0.
// |*out_inverse| undoes the scale.
TARGET static MASK NAME(scale_all)(int64_t count, VECTOR *a, VECTOR *out_inverse) {
  VECTOR largest = {0};
  VECTOR nothing = {0};  // NaN of what is not finite
  VECTOR scale;
  for (int64_t i = 0; i < count; i++) {
    VECTOR x = NAME(abs)(a[i]);
    largest = NAME(select)(x > largest, x, largest);
    nothing += a[i] * 0;
  }
  MASK is_finite = nothing == 0;
  NAME(scale)(largest, &scale, out_inverse);
  for (int64_t i = 0; i < count; i++) {
    a[i] = NAME(select)(is_finite, a[i] * scale, (VECTOR){0});
  }
  return is_finite;
}

TARGET static void NAME(nan_unless)(MASK pred, int64_t count, VECTOR *a) {
  for (int64_t i = 0; i < count; i++) {
    a[i] = NAME(select)(pred, a[i], NAME(all)((REAL)NAN));
  }
}

// c -= a b: |height| x |width| and |depth| between; steps in vectors between rows and columns of each. The tile's are constants.
INLINE void NAME(tile)(const int height, const int width, int64_t depth, const VECTOR *a, int64_t a_i, int64_t a_k,
                       const VECTOR *b, int64_t b_k, int64_t b_j, VECTOR *c, int64_t c_i, int64_t c_j) {
  VECTOR sums[TILE][TILE];
#pragma GCC unroll 4
  for (int i = 0; i < height; i++) {
#pragma GCC unroll 4
    for (int j = 0; j < width; j++) {
      sums[i][j] = c[i * c_i + j * c_j];
    }
  }
  for (int64_t k = 0; k < depth; k++) {
#pragma GCC unroll 4
    for (int j = 0; j < width; j++) {
      VECTOR x = b[k * b_k + j * b_j];
#pragma GCC unroll 4
      for (int i = 0; i < height; i++) {
        sums[i][j] -= a[i * a_i + k * a_k] * x;
      }
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < height; i++) {
#pragma GCC unroll 4
    for (int j = 0; j < width; j++) {
      c[i * c_i + j * c_j] = sums[i][j];
    }
  }
}

TARGET static void NAME(subtract_product)(int64_t height, int64_t width, int64_t depth, const VECTOR *a, int64_t a_i,
                                          int64_t a_k, const VECTOR *b, int64_t b_k, int64_t b_j, VECTOR *c,
                                          int64_t c_i, int64_t c_j) {
  enum { WIDE = VECTOR_BYTES == 64 ? TILE : TILE / 2 };  // as many sums as there are registers for
  for (int64_t j = 0; j < width;) {
    int64_t columns = width - j >= WIDE ? WIDE : 1;
    for (int64_t i = 0; i < height;) {
      int64_t rows = height - i >= TILE ? TILE : 1;
      const VECTOR *left = a + i * a_i;
      const VECTOR *right = b + j * b_j;
      VECTOR *to = c + i * c_i + j * c_j;
      if (rows == TILE && columns == WIDE) {
        NAME(tile)(TILE, WIDE, depth, left, a_i, a_k, right, b_k, b_j, to, c_i, c_j);
      } else if (rows == TILE) {
        NAME(tile)(TILE, 1, depth, left, a_i, a_k, right, b_k, b_j, to, c_i, c_j);
      } else if (columns == WIDE) {
        NAME(tile)(1, WIDE, depth, left, a_i, a_k, right, b_k, b_j, to, c_i, c_j);
      } else {
        NAME(tile)(1, 1, depth, left, a_i, a_k, right, b_k, b_j, to, c_i, c_j);
      }
      i += rows;
    }
    j += columns;
  }
}

// Matrices in memory ---------------------------------------------------------------------------------------------------

typedef REAL NAME(four) __attribute__((vector_size(4 * sizeof(REAL))));
typedef INT NAME(four_places) __attribute__((vector_size(4 * sizeof(REAL))));

// to[j, i] = from[i, j], SQUARE x SQUARE.
INLINE void NAME(transpose)(const REAL *from, int64_t from_row, REAL *to, int64_t to_row) {
  if (SQUARE < 4) {
    TRANSPOSE(from, from_row, to, to_row);
    return;
  }
  NAME(four) a, b, c, d;
  memcpy(&a, from, sizeof a);
  memcpy(&b, from + from_row, sizeof b);
  memcpy(&c, from + 2 * from_row, sizeof c);
  memcpy(&d, from + 3 * from_row, sizeof d);
  NAME(four) ab02 = SHUFFLE(NAME(four_places), a, b, 0, 4, 2, 6);
  NAME(four) ab13 = SHUFFLE(NAME(four_places), a, b, 1, 5, 3, 7);
  NAME(four) cd02 = SHUFFLE(NAME(four_places), c, d, 0, 4, 2, 6);
  NAME(four) cd13 = SHUFFLE(NAME(four_places), c, d, 1, 5, 3, 7);
  a = SHUFFLE(NAME(four_places), ab02, cd02, 0, 1, 4, 5);
  b = SHUFFLE(NAME(four_places), ab13, cd13, 0, 1, 4, 5);
  c = SHUFFLE(NAME(four_places), ab02, cd02, 2, 3, 6, 7);
  d = SHUFFLE(NAME(four_places), ab13, cd13, 2, 3, 6, 7);
  memcpy(to, &a, sizeof a);
  memcpy(to + to_row, &b, sizeof b);
  memcpy(to + 2 * to_row, &c, sizeof c);
  memcpy(to + 3 * to_row, &d, sizeof d);
}

// Where the elements of an array go: |row_step| and |column_step| vectors apart. A line of memory is a column or a row.
typedef struct NAME(lines) {
  int64_t count, length;
  int64_t matrix_step;      // elements between matrices
  int64_t line_step, step;  // vectors between lines, and between the elements of one
} NAME(lines);

INLINE NAME(lines) NAME(lines_of)(const indim_linalg_array *a, int64_t row_step, int64_t column_step) {
  NAME(lines)
  x = {.count = a->sizes[1],
       .length = a->sizes[0],
       .matrix_step = a->is_batched ? a->sizes[0] * a->sizes[1] : 0,
       .line_step = column_step,
       .step = row_step};
  if (!a->by_columns && a->sizes[1] != 1) {
    x = (NAME(lines)){x.length, x.count, x.matrix_step, row_step, column_step};
  }
  return x;
}

// Lanes beyond the last matrix get that one once more.
TARGET static void NAME(load)(const indim_lanes_block *b, int32_t operand, VECTOR *to, int64_t row_step,
                              int64_t column_step) {
  NAME(lines) x = NAME(lines_of)(&b->call->operands[operand], row_step, column_step);
  const REAL *from = (const REAL *)b->arrays[b->call->result_count + operand] + b->first * x.matrix_step;
  for (int64_t line = 0; line < x.count; line++) {
    for (int64_t lane = 0; lane < LANES; lane += SQUARE) {
      const REAL *source = from + lane * x.matrix_step + line * x.length;
      REAL *target = (REAL *)(to + line * x.line_step) + lane;
      int64_t whole = lane + SQUARE <= b->count && x.length >= SQUARE ? x.length : 0;
      for (int64_t i = 0; i < whole; i += SQUARE) {
        int64_t at = i + SQUARE <= whole ? i : whole - SQUARE;
        NAME(transpose)(source + at, x.matrix_step, target + at * x.step * LANES, x.step * LANES);
      }
      for (int64_t l = 0; l < SQUARE && whole == 0; l++) {
        int64_t matrix = lane + l < b->count ? lane + l : b->count - 1;
        for (int64_t i = 0; i < x.length; i++) {
          target[i * x.step * LANES + l] = from[matrix * x.matrix_step + line * x.length + i];
        }
      }
    }
  }
}

TARGET static void NAME(store)(const indim_lanes_block *b, int32_t result, const VECTOR *from, int64_t row_step,
                               int64_t column_step) {
  NAME(lines) x = NAME(lines_of)(&b->call->results[result], row_step, column_step);
  REAL *to = (REAL *)b->arrays[result] + b->first * x.matrix_step;
  for (int64_t line = 0; line < x.count; line++) {
    for (int64_t lane = 0; lane < b->count; lane += SQUARE) {
      const REAL *source = (const REAL *)(from + line * x.line_step) + lane;
      REAL *target = to + lane * x.matrix_step + line * x.length;
      int64_t whole = lane + SQUARE <= b->count && x.length >= SQUARE ? x.length : 0;
      for (int64_t i = 0; i < whole; i += SQUARE) {
        int64_t at = i + SQUARE <= whole ? i : whole - SQUARE;
        NAME(transpose)(source + at * x.step * LANES, x.step * LANES, target + at, x.matrix_step);
      }
      for (int64_t l = 0; l < SQUARE && whole == 0 && lane + l < b->count; l++) {
        for (int64_t i = 0; i < x.length; i++) {
          target[l * x.matrix_step + i] = source[i * x.step * LANES + l];
        }
      }
    }
  }
}

// Integers: info and pivots.
TARGET static void NAME(store_ints)(const indim_lanes_block *b, int32_t result, const MASK *from) {
  int64_t count = b->call->results[result].sizes[0];
  int32_t *to = (int32_t *)b->arrays[result] + b->first * count;
  for (int64_t l = 0; l < b->count; l++) {
    for (int64_t i = 0; i < count; i++) {
      to[l * count + i] = (int32_t)from[i][l];
    }
  }
}
