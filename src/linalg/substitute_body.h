// The body of substitute.c for one element type and vector width, which it has by host/vector_instances.h.
//
// Unknowns are found a vector's number at a time, the vectors of the matrix that concern both these and others are whole: blocks
// begin at the end at which the substitution does. Where rows lie in memory, what is known is subtracted from a block as
// sums of products; where columns do, a block that is found is subtracted from all the others.
#define VECTOR NAME(vector)
#define MASK NAME(mask)
#define LANES ((int64_t)(VECTOR_BYTES / sizeof(REAL)))

typedef REAL VECTOR __attribute__((vector_size(VECTOR_BYTES)));
typedef __typeof__((VECTOR){0} == (VECTOR){0}) MASK;

TARGET static inline REAL NAME(sum)(VECTOR x) {
  REAL sums[VECTOR_BYTES / sizeof(REAL)];
  memcpy(sums, &x, sizeof sums);
#pragma GCC unroll 4
  for (int64_t half = LANES / 2; half > 0; half /= 2) {
#pragma GCC unroll 8
    for (int64_t i = 0; i < half; i++) {
      sums[i] += sums[i + half];
    }
  }
  return sums[0];
}

// The unknowns from |begin| to |end|, which depend on each other alone; a whole block where |count| is a constant.
TARGET static inline __attribute__((always_inline)) void NAME(solve_block)(const bool is_forward, const int64_t count,
                                                                           const indim_triangle *t, const REAL *a,
                                                                           int64_t begin, REAL *x) {
  const REAL *block = a + begin * (t->row + t->column);
#pragma GCC unroll 16
  for (int64_t step = 0; step < count; step++) {
    const int64_t i = is_forward ? step : count - 1 - step;
    REAL value = x[begin + i];
#pragma GCC unroll 16
    for (int64_t known = 0; known < step; known++) {
      const int64_t j = is_forward ? known : count - 1 - known;
      value -= block[i * t->row + j * t->column] * x[begin + j];
    }
    x[begin + i] = t->is_unit ? value : value / block[i * (t->row + t->column)];
  }
}

TARGET static void NAME(solve_whole_forward)(const indim_triangle *t, const REAL *a, int64_t begin, REAL *x) {
  NAME(solve_block)(true, LANES, t, a, begin, x);
}
TARGET static void NAME(solve_whole_backward)(const indim_triangle *t, const REAL *a, int64_t begin, REAL *x) {
  NAME(solve_block)(false, LANES, t, a, begin, x);
}
TARGET static void NAME(solve_some)(const indim_triangle *t, const REAL *a, int64_t begin, int64_t end, REAL *x) {
  if (end - begin == LANES) {
    (t->is_forward ? NAME(solve_whole_forward) : NAME(solve_whole_backward))(t, a, begin, x);
  } else if (t->is_forward) {
    NAME(solve_block)(true, end - begin, t, a, begin, x);
  } else {
    NAME(solve_block)(false, end - begin, t, a, begin, x);
  }
}

// x[i] -= the sum of a[i, j] x[j] over whole vectors of j, for |height| rows from |first| on.
TARGET static inline __attribute__((always_inline)) void
NAME(subtract_known)(const int height, int64_t row, const REAL *a, int64_t first, int64_t begin, int64_t end, REAL *x) {
  VECTOR sums[2 * ROWS];
#pragma GCC unroll 8
  for (int i = 0; i < 2 * height; i++) {
    sums[i] = (VECTOR){0};
  }
  int64_t j = begin;
  for (; j + 2 * LANES <= end; j += 2 * LANES) {
#pragma GCC unroll 2
    for (int v = 0; v < 2; v++) {
      VECTOR y;
      memcpy(&y, x + j + v * LANES, sizeof y);
#pragma GCC unroll 4
      for (int i = 0; i < height; i++) {
        VECTOR c;
        memcpy(&c, a + (first + i) * row + j + v * LANES, sizeof c);
        sums[v * height + i] += c * y;
      }
    }
  }
  if (j < end) {
    VECTOR y;
    memcpy(&y, x + j, sizeof y);
#pragma GCC unroll 4
    for (int i = 0; i < height; i++) {
      VECTOR c;
      memcpy(&c, a + (first + i) * row + j, sizeof c);
      sums[i] += c * y;
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < height; i++) {
    x[first + i] -= NAME(sum)(sums[i] + sums[height + i]);
  }
}

// Rows lie in memory.
TARGET static void NAME(by_rows)(const indim_triangle *t, const REAL *a, REAL *x) {
  for (int64_t done = 0; done < t->order; done += LANES) {
    int64_t begin = t->is_forward ? done : t->order - done - LANES;
    int64_t end = t->is_forward ? done + LANES : t->order - done;
    begin = begin > 0 ? begin : 0;
    end = end < t->order ? end : t->order;
    int64_t known = t->is_forward ? 0 : end;
    int64_t i = begin;
    for (; i + ROWS <= end && done > 0; i += ROWS) {
      NAME(subtract_known)(ROWS, t->row, a, i, known, known + done, x);
    }
    for (; i < end && done > 0; i++) {
      NAME(subtract_known)(1, t->row, a, i, known, known + done, x);
    }
    NAME(solve_some)(t, a, begin, end, x);
    look_for_subnormals(t->solving);
  }
}

// x[i..] -= the sum of a[i.., j] x[j] over the columns of a block, for the lanes of |which|.
TARGET static inline void NAME(subtract_block)(int64_t column, const REAL *a, const VECTOR *known, int64_t i,
                                               const MASK *which, REAL *x) {
  VECTOR sums[2] = {{0}};
#pragma GCC unroll 16
  for (int64_t j = 0; j < LANES; j++) {
    VECTOR c;
    memcpy(&c, a + i + j * column, sizeof c);
    sums[j % 2] += c * known[j];
  }
  VECTOR sum = sums[0] + sums[1];
  sum = which == NULL ? sum : (VECTOR)((MASK)sum & *which);
  VECTOR before;
  memcpy(&before, x + i, sizeof before);
  before -= sum;
  memcpy(x + i, &before, sizeof before);
}

// Columns lie in memory.
TARGET static void NAME(by_columns)(const indim_triangle *t, const REAL *a, REAL *x) {
  VECTOR lane;
  for (int64_t i = 0; i < LANES; i++) {
    lane[i] = (REAL)i;
  }
  int64_t done = 0;
  for (; done + LANES < t->order; done += LANES) {
    int64_t begin = t->is_forward ? done : t->order - done - LANES;
    NAME(solve_some)(t, a, begin, begin + LANES, x);
    VECTOR known[VECTOR_BYTES / sizeof(REAL)];
#pragma GCC unroll 16
    for (int64_t j = 0; j < LANES; j++) {
      known[j] = (VECTOR){0} + x[begin + j];
    }
    // From the far end on, and what is left beside the block: the vector there has lanes of the block, or of what is done.
    int64_t left = t->order - done - LANES;
    const REAL *block = a + begin * t->column;
    int64_t whole = left / LANES;
    for (int64_t v = 0; v < whole; v++) {
      NAME(subtract_block)
      (t->column, block, known, t->is_forward ? t->order - (v + 1) * LANES : v * LANES, NULL, x);
    }
    if (left > whole * LANES) {
      REAL some = (REAL)(left - whole * LANES);
      MASK which = t->is_forward ? lane >= (VECTOR){0} + ((REAL)LANES - some) : lane < (VECTOR){0} + some;
      NAME(subtract_block)
      (t->column, block, known, t->is_forward ? begin + left - whole * LANES : whole * LANES, &which, x);
    }
    look_for_subnormals(t->solving);
  }
  NAME(solve_some)(t, a, t->is_forward ? done : 0, t->is_forward ? t->order : t->order - done, x);
}

TARGET static void NAME(solve)(const indim_triangle *t, const REAL *a, REAL *x) {
  if (t->column == 1) {
    NAME(by_rows)(t, a, x);
  } else {
    NAME(by_columns)(t, a, x);
  }
}

#undef VECTOR
#undef MASK
#undef LANES
