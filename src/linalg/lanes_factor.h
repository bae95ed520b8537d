// Of lanes.c, for one element type and vector width, and in the words of lanes_real.h or lanes_complex.h: Cholesky factors, LU
// with pivots, triangular systems. Blocks of TILE columns are brought up to date by one product.

// c -= a b, or a times the conjugate of b: |height| x |width| and |depth| between; steps in elements between rows and columns of each.
// The tile's sizes are constants.
INLINE void OF(tile)(const int height, const int width, bool conjugates, int64_t depth, const ELEMENT *a, int64_t a_i,
                     int64_t a_k, const ELEMENT *b, int64_t b_k, int64_t b_j, ELEMENT *c, int64_t c_i, int64_t c_j) {
  ELEMENT sums[TILE][TILE];
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
      ELEMENT x = b[k * b_k + j * b_j];
      x = conjugates ? OF(conj)(x) : x;
#pragma GCC unroll 4
      for (int i = 0; i < height; i++) {
        sums[i][j] = OF(minus_product)(sums[i][j], a[i * a_i + k * a_k], x);
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

TARGET static void OF(subtract_product)(bool conjugates, int64_t height, int64_t width, int64_t depth, const ELEMENT *a,
                                        int64_t a_i, int64_t a_k, const ELEMENT *b, int64_t b_k, int64_t b_j,
                                        ELEMENT *c, int64_t c_i, int64_t c_j) {
  enum { WIDE = (VECTOR_BYTES == 64 ? TILE : TILE / 2) / PARTS };  // as many sums as there are registers for
  for (int64_t j = 0; j < width;) {
    int64_t columns = width - j >= WIDE ? WIDE : 1;
    for (int64_t i = 0; i < height;) {
      int64_t rows = height - i >= TILE ? TILE : 1;
      const ELEMENT *left = a + i * a_i;
      const ELEMENT *right = b + j * b_j;
      ELEMENT *to = c + i * c_i + j * c_j;
      if (rows == TILE && columns == WIDE) {
        OF(tile)(TILE, WIDE, conjugates, depth, left, a_i, a_k, right, b_k, b_j, to, c_i, c_j);
      } else if (rows == TILE) {
        OF(tile)(TILE, 1, conjugates, depth, left, a_i, a_k, right, b_k, b_j, to, c_i, c_j);
      } else if (columns == WIDE) {
        OF(tile)(1, WIDE, conjugates, depth, left, a_i, a_k, right, b_k, b_j, to, c_i, c_j);
      } else {
        OF(tile)(1, 1, conjugates, depth, left, a_i, a_k, right, b_k, b_j, to, c_i, c_j);
      }
      i += rows;
    }
    j += columns;
  }
}

// Solves t z = x for |count| right sides with the lower triangle t; steps may be negative, so that it is an upper one.
TARGET static void OF(substitute)(int64_t order, int64_t count, bool unit, const ELEMENT *t, int64_t t_i, int64_t t_j,
                                  ELEMENT *x, int64_t x_i, int64_t x_c) {
  for (int64_t first = 0; first < order && count > 0; first += TILE) {
    int64_t end = first + TILE < order ? first + TILE : order;
    OF(subtract_product)
    (false, end - first, count, first, t + first * t_i, t_i, t_j, x, x_i, x_c, x + first * x_i, x_i, x_c);
    for (int64_t i = first; i < end; i++) {
      OF(divisor) diagonal = {0};
      if (!unit) {
        diagonal = OF(divisor_of)(t[i * t_i + i * t_j], count > TILE);
      }
      for (int64_t c = 0; c < count; c++) {
        ELEMENT z = x[i * x_i + c * x_c];
        for (int64_t k = first; k < i; k++) {
          z = OF(minus_product)(z, t[i * t_i + k * t_j], x[k * x_i + c * x_c]);
        }
        x[i * x_i + c * x_c] = unit ? z : OF(quotient)(z, &diagonal);
      }
    }
  }
}

TARGET static void OF(trsm)(const indim_lanes_block *b, ELEMENT *scratch) {
  const indim_linalg_call *call = b->call;
  bool left = b->attrs.side == 'L';
  int64_t m = indim_linalg_size(call, 'm');
  int64_t n = indim_linalg_size(call, 'n');
  int64_t order = left ? m : n;
  int64_t ld = indim_lanes_step(order);
  int64_t x_ld = indim_lanes_step(m);
  ELEMENT *t = scratch;
  ELEMENT *x = t + ld * order;
  // x op(a) = b is op(a)^T x^T = b^T.
  bool flip = (b->attrs.trans_x != 'N') == left;
  bool forward = (b->attrs.uplo == 'L') != flip;
  NAME(load)(b, 0, t, flip ? ld : 1, flip ? 1 : ld);
  NAME(load)(b, 1, x, 1, x_ld);
  for (int64_t i = 0; i < ld * order && b->attrs.trans_x == 'C'; i++) {
    t[i] = OF(conj)(t[i]);
  }
  if (call->operand_count == 3) {
    ELEMENT alpha;
    NAME(load)(b, 2, &alpha, 1, 1);
    for (int64_t i = 0; i < n * x_ld; i++) {
      x[i] = OF(times)(x[i], alpha);
    }
  }
  int64_t x_i = left ? 1 : x_ld;
  int64_t last = forward ? 0 : order - 1;
  int64_t sign = forward ? 1 : -1;
  OF(substitute)
  (order, left ? n : m, b->attrs.diag == 'U', t + last * (1 + ld), sign, sign * ld, x + last * x_i, sign * x_i,
   left ? x_ld : 1);
  NAME(store)(b, 0, x, 1, x_ld);
}

// The lower factor of the lower triangle. (The transpose of an upper one is that of the conjugate matrix, and so is its factor.)
// Returns the order of the first leading minor that is not positive; a lane has nothing of use behind it.
TARGET static MASK OF(factor)(int64_t n, ELEMENT *a, int64_t ld) {
  MASK info = {0};
  for (int64_t first = 0; first < n; first += TILE) {
    int64_t end = first + TILE < n ? first + TILE : n;
    for (int64_t j = first; j < end; j++) {
      OF(subtract_product)(true, end - j, 1, first, a + j, 1, ld, a + j, ld, 1, a + j + j * ld, 1, ld);
    }
    OF(subtract_product)
    (true, n - end, end - first, first, a + end, 1, ld, a + first, ld, 1, a + end + first * ld, 1, ld);
    for (int64_t j = first; j < end; j++) {
      VECTOR d = OF(real_part)(a[j + j * ld]);
      for (int64_t k = first; k < j; k++) {
        d -= OF(square)(a[j + k * ld]);
      }
      MASK fails = d <= 0;
      VECTOR root = NAME(sqrt)(d);
      VECTOR inverse = 1 / root;
      a[j + j * ld] = OF(from_real)(NAME(select)(fails, d, root));
      info = NAME(select_int)(fails & (info == 0), NAME(all_int)(j + 1), info);
      for (int64_t i = j + 1; i < n; i++) {
        ELEMENT x = a[i + j * ld];
        for (int64_t k = first; k < j; k++) {
          x = OF(minus_product)(x, a[i + k * ld], OF(conj)(a[j + k * ld]));
        }
        a[i + j * ld] = OF(times_real)(x, inverse);
      }
    }
  }
  return info;
}

TARGET static void OF(potrf)(const indim_lanes_block *b, ELEMENT *a) {
  bool lower = b->attrs.uplo == 'L';
  int64_t n = indim_linalg_size(b->call, 'n');
  int64_t ld = indim_lanes_step(n);
  NAME(load)(b, 0, a, lower ? 1 : ld, lower ? ld : 1);
  MASK info = OF(factor)(n, a, ld);
  NAME(store)(b, 0, a, lower ? 1 : ld, lower ? ld : 1);
  NAME(store_ints)(b, 1, &info);
}

// The op: the other triangle is 0, and everything NaN where there is no factor. A NaN reaches the diagonal by itself.
TARGET static void OF(cholesky)(const indim_lanes_block *b, ELEMENT *a) {
  bool lower = b->attrs.lower != 0;
  int64_t n = indim_linalg_size(b->call, 'n');
  int64_t ld = indim_lanes_step(n);
  NAME(load)(b, 0, a, lower ? 1 : ld, lower ? ld : 1);
  MASK succeeds = OF(factor)(n, a, ld) == 0;
  for (int64_t j = 0; j < n; j++) {
    VECTOR d = OF(real_part)(a[j + j * ld]);
    succeeds &= d == d;
    for (int64_t i = 0; i < j; i++) {
      a[i + j * ld] = OF(from_real)((VECTOR){0});
    }
  }
  if (NAME(any)(~succeeds)) {
    NAME(nan_unless)(succeeds, PARTS * n * ld, a);
  }
  NAME(store)(b, 0, a, lower ? 1 : ld, lower ? ld : 1);
}

// LU -------------------------------------------------------------------------------------------------------------------

// The row from |k| on with the largest element of a column; of equals the first.
INLINE MASK OF(pivot_row)(int64_t m, const ELEMENT *column, int64_t k) {
  VECTOR most = OF(pivot_size)(column[k]);
  MASK row = NAME(all_int)(k);
  for (int64_t i = k + 1; i < m; i++) {
    VECTOR x = OF(pivot_size)(column[i]);
    MASK is_larger = x > most;
    most = NAME(select)(is_larger, x, most);
    row = NAME(select_int)(is_larger, NAME(all_int)(i), row);
  }
  return row;
}

// Exchanges row k of one column of few rows behind it with the row that is the pivot's; |column| begins at row k.
INLINE void OF(exchange_in_column)(int64_t rows, const MASK *is_pivot, ELEMENT *column) {
  ELEMENT old = column[0];
  ELEMENT new = old;
  for (int64_t i = 0; i < rows; i++) {
    ELEMENT x = column[i + 1];
    new = OF(select)(is_pivot[i], x, new);
    column[i + 1] = OF(select)(is_pivot[i], old, x);
  }
  column[0] = new;
}

// Of few rows behind row k, whose column is exchanged and divided by the pivot: exchanges them in the other columns, and eliminates
// in those up to |end|.
TARGET static void OF(exchange_and_eliminate)(int64_t m, int64_t n, int64_t end, ELEMENT *a, int64_t ld, int64_t k,
                                              const MASK *is_pivot) {
  const ELEMENT *factors = a + k + 1 + k * ld;
  for (int64_t j = 0; j < n; j++) {
    ELEMENT *column = a + k + j * ld;
    if (j != k) {
      OF(exchange_in_column)(m - k - 1, is_pivot, column);
    }
    for (int64_t i = 0; i < m - k - 1 && j > k && j < end; i++) {
      column[i + 1] = OF(minus_product)(column[i + 1], factors[i], column[0]);
    }
  }
}

// Exchanges row k of each matrix with its row |pivots|, of those beyond the last, too: they are stored over it (lanes_block.h).
TARGET static void OF(exchange_rows)(int64_t n, ELEMENT *a, int64_t ld, int64_t k, MASK pivots) {
  for (int64_t l = 0; l < LANES; l++) {
    REAL *x = (REAL *)(a + k) + l;
    REAL *y = (REAL *)(a + pivots[l]) + l;
    for (int64_t j = 0; j < n && x != y; j++) {
      for (int64_t part = 0; part < PARTS; part++) {
        int64_t at = (j * ld * PARTS + part) * LANES;
        REAL z = x[at];
        x[at] = y[at];
        y[at] = z;
      }
    }
  }
}

TARGET static void OF(getrf)(const indim_lanes_block *b, ELEMENT *scratch) {
  enum { PANEL = 8 };
  int64_t m = indim_linalg_size(b->call, 'm');
  int64_t n = indim_linalg_size(b->call, 'n');
  int64_t steps = m < n ? m : n;
  int64_t ld = indim_lanes_step(m);
  ELEMENT *a = scratch;
  MASK *pivots = (MASK *)(a + ld * n);
  MASK info = {0};
  NAME(load)(b, 0, a, 1, ld);
  for (int64_t first = 0; first < steps; first += PANEL) {
    int64_t end = first + PANEL < steps ? first + PANEL : steps;
    for (int64_t k = first; k < end; k++) {
      ELEMENT *column = a + k * ld;
      MASK pivot = OF(pivot_row)(m, column, k);
      MASK is_pivot[LANES];
      bool has_few = m - k - 1 < LANES;
      if (has_few) {
        for (int64_t i = k + 1; i < m; i++) {
          is_pivot[i - k - 1] = pivot == NAME(all_int)(i);
        }
        OF(exchange_in_column)(m - k - 1, is_pivot, column + k);
      } else {
        OF(exchange_rows)(n, a, ld, k, pivot);
      }
      pivots[k] = pivot + 1;
      // Of a pivot of 0 the column below is 0, too: divided by 1 it stays, and eliminates nothing.
      MASK is_zero = OF(is_zero)(column[k]);
      ELEMENT pivot_or_one = OF(select)(is_zero, OF(from_real)(NAME(all)(1)), column[k]);
      OF(divisor) divisor = OF(divisor_of)(pivot_or_one, false);
      info = NAME(select_int)(is_zero & (info == 0), NAME(all_int)(k + 1), info);
      for (int64_t i = k + 1; i < m; i++) {
        column[i] = OF(quotient)(column[i], &divisor);
      }
      if (has_few) {
        OF(exchange_and_eliminate)(m, n, end, a, ld, k, is_pivot);
        continue;
      }
      OF(subtract_product)
      (false, m - k - 1, end - k - 1, 1, column + k + 1, 1, ld, column + k + ld, 1, ld, column + k + 1 + ld, 1, ld);
    }
    ELEMENT *diagonal = a + first * (1 + ld);
    ELEMENT *beside = a + first + end * ld;
    OF(substitute)(end - first, n - end, true, diagonal, 1, ld, beside, 1, ld);
    OF(subtract_product)
    (false, m - end, n - end, end - first, a + end + first * ld, 1, ld, beside, 1, ld, a + end * (1 + ld), 1, ld);
  }
  NAME(store)(b, 0, a, 1, ld);
  NAME(store_ints)(b, 1, pivots);
  NAME(store_ints)(b, 2, &info);
}
