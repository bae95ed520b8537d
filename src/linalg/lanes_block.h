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

typedef REAL NAME(four) __attribute__((vector_size(4 * sizeof(REAL))));
typedef INT NAME(four_places) __attribute__((vector_size(4 * sizeof(REAL))));

// to[j][i] = from[i][j], SQUARE x SQUARE.
INLINE void NAME(transpose)(const REAL *const *from, REAL *const *to) {
  if (SQUARE < 4) {
    TRANSPOSE(from[0], from[1] - from[0], to[0], to[1] - to[0]);
    return;
  }
  NAME(four) a, b, c, d;
  memcpy(&a, from[0], sizeof a);
  memcpy(&b, from[1], sizeof b);
  memcpy(&c, from[2], sizeof c);
  memcpy(&d, from[3], sizeof d);
  NAME(four) ab02 = SHUFFLE(NAME(four_places), a, b, 0, 4, 2, 6);
  NAME(four) ab13 = SHUFFLE(NAME(four_places), a, b, 1, 5, 3, 7);
  NAME(four) cd02 = SHUFFLE(NAME(four_places), c, d, 0, 4, 2, 6);
  NAME(four) cd13 = SHUFFLE(NAME(four_places), c, d, 1, 5, 3, 7);
  a = SHUFFLE(NAME(four_places), ab02, cd02, 0, 1, 4, 5);
  b = SHUFFLE(NAME(four_places), ab13, cd13, 0, 1, 4, 5);
  c = SHUFFLE(NAME(four_places), ab02, cd02, 2, 3, 6, 7);
  d = SHUFFLE(NAME(four_places), ab13, cd13, 2, 3, 6, 7);
  memcpy(to[0], &a, sizeof a);
  memcpy(to[1], &b, sizeof b);
  memcpy(to[2], &c, sizeof c);
  memcpy(to[3], &d, sizeof d);
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

// Where number |i| of a line is, in numbers.
INLINE int64_t NAME(place)(const NAME(lines) * x, int64_t i) {
  return LANES * (x->parts == 1 ? i * x->step : i / 2 * x->step + i % 2);
}

// Lanes beyond the last matrix get that one once more. Steps are in elements.
TARGET static void NAME(load)(const indim_lanes_block *b, int32_t operand, void *to, int64_t row_step,
                              int64_t column_step) {
  NAME(lines) x = NAME(lines_of)(&b->call->operands[operand], row_step, column_step);
  const REAL *from = (const REAL *)b->arrays[b->call->result_count + operand] + b->first * x.matrix_step;
  for (int64_t line = 0; line < x.count; line++) {
    for (int64_t lane = 0; lane < LANES; lane += SQUARE) {
      const REAL *source = from + lane * x.matrix_step + line * x.length;
      REAL *target = (REAL *)((VECTOR *)to + line * x.line_step) + lane;
      int64_t whole = lane + SQUARE <= b->count && x.length >= SQUARE ? x.length : 0;
      for (int64_t i = 0; i < whole; i += SQUARE) {
        int64_t at = i + SQUARE <= whole ? i : whole - SQUARE;
        const REAL *rows[4];
        REAL *columns[4];
#pragma GCC unroll 4
        for (int64_t k = 0; k < SQUARE; k++) {
          rows[k] = source + at + k * x.matrix_step;
          columns[k] = target + NAME(place)(&x, at + k);
        }
        NAME(transpose)(rows, columns);
      }
      for (int64_t l = 0; l < SQUARE && whole == 0; l++) {
        int64_t matrix = lane + l < b->count ? lane + l : b->count - 1;
        for (int64_t i = 0; i < x.length; i++) {
          target[NAME(place)(&x, i) + l] = from[matrix * x.matrix_step + line * x.length + i];
        }
      }
    }
  }
}

TARGET static void NAME(store)(const indim_lanes_block *b, int32_t result, const void *from, int64_t row_step,
                               int64_t column_step) {
  NAME(lines) x = NAME(lines_of)(&b->call->results[result], row_step, column_step);
  REAL *to = (REAL *)b->arrays[result] + b->first * x.matrix_step;
  for (int64_t line = 0; line < x.count; line++) {
    for (int64_t lane = 0; lane < b->count; lane += SQUARE) {
      const REAL *source = (const REAL *)((const VECTOR *)from + line * x.line_step) + lane;
      REAL *target = to + lane * x.matrix_step + line * x.length;
      int64_t whole = lane + SQUARE <= b->count && x.length >= SQUARE ? x.length : 0;
      for (int64_t i = 0; i < whole; i += SQUARE) {
        int64_t at = i + SQUARE <= whole ? i : whole - SQUARE;
        const REAL *columns[4];
        REAL *rows[4];
#pragma GCC unroll 4
        for (int64_t k = 0; k < SQUARE; k++) {
          rows[k] = target + at + k * x.matrix_step;
          columns[k] = source + NAME(place)(&x, at + k);
        }
        NAME(transpose)(columns, rows);
      }
      for (int64_t l = 0; l < SQUARE && whole == 0 && lane + l < b->count; l++) {
        for (int64_t i = 0; i < x.length; i++) {
          target[l * x.matrix_step + i] = source[NAME(place)(&x, i) + l];
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
