// Of lanes.c, for one element type and vector width: arithmetic on lanes, and matrices on their way into lanes and out of them.
//
// A block is as many matrices as a vector has lanes. Its arrays are elements column by column, a vector each; columns begin an
// odd number of vectors apart, so that the elements of a row do not fall into the same sets of a cache.
#define VECTOR NAME(vector)
#define MASK NAME(mask)
#define INT NAME(int)
#define LANES ((int64_t)(VECTOR_BYTES / sizeof(REAL)))
#define SQUARE ((int64_t)(16 / sizeof(REAL)))  // numbers of a piece of 16 bytes
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

INLINE MASK NAME(is_normal)(VECTOR x) {
  const REAL least = sizeof(REAL) == 4 ? (REAL)FLT_MIN : (REAL)DBL_MIN;
  const REAL most = sizeof(REAL) == 4 ? (REAL)FLT_MAX : (REAL)DBL_MAX;
  return (NAME(abs)(x) >= least) & (NAME(abs)(x) <= most);
}

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

TARGET static void NAME(nan_unless)(MASK pred, int64_t count, void *vectors) {
  VECTOR *a = vectors;
  for (int64_t i = 0; i < count; i++) {
    a[i] = NAME(select)(pred, a[i], NAME(all)((REAL)NAN));
  }
}

// Matrices in memory ---------------------------------------------------------------------------------------------------

// Pieces of 16 bytes, and the places of words in two vectors, those of the second behind the first's: in each 16 bytes the lower words
// of both in turn, the upper ones, the lower pairs of words, the upper ones.
typedef int32_t NAME(piece) __attribute__((vector_size(16)));
typedef int32_t NAME(words) __attribute__((vector_size(VECTOR_BYTES)));
enum { NAME(PIECES) = VECTOR_BYTES / 16 };
#if VECTOR_BYTES == 64
typedef int32_t NAME(half) __attribute__((vector_size(32)));
#endif

INLINE VECTOR NAME(join)(const NAME(piece) * p) {
#if VECTOR_BYTES == 16
  return (VECTOR)p[0];
#elif VECTOR_BYTES == 32 && defined(CAN_JOIN)
  return (VECTOR)__builtin_shufflevector(p[0], p[1], 0, 1, 2, 3, 4, 5, 6, 7);
#elif defined(CAN_JOIN)
  NAME(half) lower = __builtin_shufflevector(p[0], p[1], 0, 1, 2, 3, 4, 5, 6, 7);
  NAME(half) upper = __builtin_shufflevector(p[2], p[3], 0, 1, 2, 3, 4, 5, 6, 7);
  return (VECTOR)__builtin_shufflevector(lower, upper, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
#else
  VECTOR x;
  memcpy(&x, p, sizeof x);
  return x;
#endif
}

INLINE void NAME(split)(VECTOR x, NAME(piece) * p) {
#if defined(CAN_JOIN)
  NAME(words) words = (NAME(words))x;
  p[0] = __builtin_shufflevector(words, words, 0, 1, 2, 3);
#if VECTOR_BYTES >= 32
  p[1] = __builtin_shufflevector(words, words, 4, 5, 6, 7);
#endif
#if VECTOR_BYTES == 64
  p[2] = __builtin_shufflevector(words, words, 8, 9, 10, 11);
  p[3] = __builtin_shufflevector(words, words, 12, 13, 14, 15);
#endif
#else
  memcpy(p, &x, sizeof x);
#endif
}

// Transposes a square of SQUARE rows in each 16 bytes.
INLINE void NAME(transpose)(VECTOR *rows) {
  NAME(words) a = (NAME(words))rows[0];
  NAME(words) b = (NAME(words))rows[1];
  if (SQUARE == 2) {
    rows[0] = (VECTOR)SHUFFLE(NAME(words), a, b, PASTE(LOWER_PAIRS, VECTOR_BYTES));
    rows[1] = (VECTOR)SHUFFLE(NAME(words), a, b, PASTE(UPPER_PAIRS, VECTOR_BYTES));
    return;
  }
  NAME(words) c = (NAME(words))rows[SQUARE - 2];
  NAME(words) d = (NAME(words))rows[SQUARE - 1];
  NAME(words) ab01 = SHUFFLE(NAME(words), a, b, PASTE(LOWER, VECTOR_BYTES));
  NAME(words) ab23 = SHUFFLE(NAME(words), a, b, PASTE(UPPER, VECTOR_BYTES));
  NAME(words) cd01 = SHUFFLE(NAME(words), c, d, PASTE(LOWER, VECTOR_BYTES));
  NAME(words) cd23 = SHUFFLE(NAME(words), c, d, PASTE(UPPER, VECTOR_BYTES));
  rows[0] = (VECTOR)SHUFFLE(NAME(words), ab01, cd01, PASTE(LOWER_PAIRS, VECTOR_BYTES));
  rows[1] = (VECTOR)SHUFFLE(NAME(words), ab01, cd01, PASTE(UPPER_PAIRS, VECTOR_BYTES));
  rows[SQUARE - 2] = (VECTOR)SHUFFLE(NAME(words), ab23, cd23, PASTE(LOWER_PAIRS, VECTOR_BYTES));
  rows[SQUARE - 1] = (VECTOR)SHUFFLE(NAME(words), ab23, cd23, PASTE(UPPER_PAIRS, VECTOR_BYTES));
}

// Where the elements of an array go. A line of memory is a column or a row; its numbers are the elements, or the real and
// imaginary parts of each.
typedef struct NAME(lines) {
  int64_t parts, count, length;  // of a line: its numbers
  int64_t matrix_step;           // numbers between matrices
  int64_t line_step, step;       // vectors between lines, and between the elements of one
} NAME(lines);

INLINE NAME(lines) NAME(lines_of)(const indim_linalg_array *a, int64_t row_step, int64_t column_step) {
  int64_t parts = indim_type_is_complex(a->type) ? 2 : 1;
  bool by_columns = a->by_columns || a->sizes[1] == 1;
  return (NAME(lines)){.parts = parts,
                       .count = a->sizes[by_columns ? 1 : 0],
                       .length = parts * a->sizes[by_columns ? 0 : 1],
                       .matrix_step = a->is_batched ? parts * a->sizes[0] * a->sizes[1] : 0,
                       .line_step = parts * (by_columns ? column_step : row_step),
                       .step = parts * (by_columns ? row_step : column_step)};
}

// Where number |i| of a matrix is, in vectors.
INLINE int64_t NAME(place)(const NAME(lines) * x, int64_t i) {
  int64_t line = i / x->length;
  int64_t at = i % x->length;
  return line * x->line_step + (x->parts == 1 ? at * x->step : at / 2 * x->step + at % 2);
}

// Numbers |first| to |first| + SQUARE of each of the matrices become vectors of the block, or, unless |loads|, the other way round.
INLINE void NAME(move_square)(const bool loads, REAL *const *matrices, int64_t first, VECTOR *const *places) {
  VECTOR rows[4];
  NAME(piece) pieces[NAME(PIECES)];
#pragma GCC unroll 4
  for (int64_t k = 0; k < SQUARE; k++) {
#pragma GCC unroll 4
    for (int64_t p = 0; p < NAME(PIECES); p++) {
      if (loads) {
        memcpy(&pieces[p], matrices[p * SQUARE + k] + first, sizeof *pieces);
      }
    }
    rows[k] = loads ? NAME(join)(pieces) : *places[k];
  }
  NAME(transpose)(rows);
#pragma GCC unroll 4
  for (int64_t k = 0; k < SQUARE; k++) {
    if (loads) {
      *places[k] = rows[k];
      continue;
    }
    NAME(split)(rows[k], pieces);
#pragma GCC unroll 4
    for (int64_t p = 0; p < NAME(PIECES); p++) {
      memcpy(matrices[p * SQUARE + k] + first, &pieces[p], sizeof *pieces);
    }
  }
}

// Lines of whole squares; |parts| is a constant.
INLINE void NAME(move_lines)(const bool loads, const int64_t parts, const NAME(lines) * x, REAL *const *matrices,
                             VECTOR *block) {
  int64_t first = 0;
  for (int64_t line = 0; line < x->count; line++) {
    VECTOR *at = block + line * x->line_step;
    for (int64_t end = first + x->length; first < end; first += SQUARE) {
      VECTOR *places[4];
#pragma GCC unroll 4
      for (int64_t k = 0; k < SQUARE; k++) {
        places[k] = at + k / parts * x->step + k % parts;
      }
      NAME(move_square)(loads, matrices, first, places);
      at += SQUARE / parts * x->step;
    }
  }
}

// Squares over the ends of lines. The last one of a matrix ends with it; of fewer numbers each goes alone.
INLINE void NAME(move_numbers)(const bool loads, int64_t count, const NAME(lines) * x, REAL *const *matrices,
                               VECTOR *block) {
  int64_t total = x->count * x->length;
  int64_t line = 0;
  int64_t at = 0;
  for (int64_t i = 0; i + SQUARE <= total; i += SQUARE) {
    VECTOR *places[4];
    for (int64_t k = 0; k < SQUARE; k++) {
      places[k] = block + line + (x->parts == 1 ? at * x->step : (at >> 1) * x->step + (at & 1));
      at++;
      line += at == x->length ? x->line_step : 0;
      at = at == x->length ? 0 : at;
    }
    NAME(move_square)(loads, matrices, i, places);
  }
  if (total % SQUARE == 0) {
    return;
  }
  if (total > SQUARE) {
    VECTOR *places[4];
    for (int64_t k = 0; k < SQUARE; k++) {
      places[k] = block + NAME(place)(x, total - SQUARE + k);
    }
    NAME(move_square)(loads, matrices, total - SQUARE, places);
    return;
  }
  for (int64_t i = 0; i < total; i++) {
    REAL *place = (REAL *)(block + NAME(place)(x, i));
    for (int64_t l = 0; l < LANES && loads; l++) {
      place[l] = matrices[l][i];
    }
    for (int64_t l = 0; l < count && !loads; l++) {
      matrices[l][i] = place[l];
    }
  }
}

// Lanes beyond the last matrix get that one once more, and so write the same to it.
INLINE void NAME(move)(const bool loads, int64_t count, const NAME(lines) * x, REAL *numbers, VECTOR *block) {
  REAL *matrices[LANES];
  for (int64_t l = 0; l < LANES; l++) {
    matrices[l] = numbers + (l < count ? l : count - 1) * x->matrix_step;
  }
  if (x->length % SQUARE != 0) {
    NAME(move_numbers)(loads, count, x, matrices, block);
  } else if (x->parts == 1) {
    NAME(move_lines)(loads, 1, x, matrices, block);
  } else {
    NAME(move_lines)(loads, 2, x, matrices, block);
  }
}

// Steps are in elements.
TARGET static void NAME(load)(const indim_lanes_block *b, int32_t operand, void *to, int64_t row_step,
                              int64_t column_step) {
  NAME(lines) x = NAME(lines_of)(&b->call->operands[operand], row_step, column_step);
  REAL *from = (REAL *)b->arrays[b->call->result_count + operand] + b->first * x.matrix_step;
  NAME(move)(true, b->count, &x, from, to);
}

TARGET static void NAME(store)(const indim_lanes_block *b, int32_t result, const void *from, int64_t row_step,
                               int64_t column_step) {
  NAME(lines) x = NAME(lines_of)(&b->call->results[result], row_step, column_step);
  REAL *to = (REAL *)b->arrays[result] + b->first * x.matrix_step;
  NAME(move)(false, b->count, &x, to, (VECTOR *)from);
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
