// Of lanes.c, for one element type and vector width: Cholesky factors, LU with pivots, triangular systems. Blocks of TILE columns
// are brought up to date by one product.

// Solves t z = x for |count| right sides with the lower triangle t; steps may be negative, so that it is an upper one.
TARGET static void NAME(substitute)(int64_t order, int64_t count, bool unit, const VECTOR *t, int64_t t_i, int64_t t_j,
                                    VECTOR *x, int64_t x_i, int64_t x_c) {
  for (int64_t first = 0; first < order; first += TILE) {
    int64_t end = first + TILE < order ? first + TILE : order;
    NAME(subtract_product)
    (end - first, count, first, t + first * t_i, t_i, t_j, x, x_i, x_c, x + first * x_i, x_i, x_c);
    for (int64_t i = first; i < end; i++) {
      VECTOR diagonal = t[i * t_i + i * t_j];
      VECTOR inverse = 1 / diagonal;
      for (int64_t c = 0; c < count; c++) {
        VECTOR z = x[i * x_i + c * x_c];
        for (int64_t k = first; k < i; k++) {
          z -= t[i * t_i + k * t_j] * x[k * x_i + c * x_c];
        }
        x[i * x_i + c * x_c] = unit ? z : count > TILE ? z * inverse : z / diagonal;
      }
    }
  }
}

TARGET static void NAME(trsm)(const indim_lanes_block *b, VECTOR *scratch) {
  const indim_linalg_call *call = b->call;
  bool left = indim_linalg_attr(call, "side") == 'L';
  int64_t m = indim_linalg_size(call, 'm');
  int64_t n = indim_linalg_size(call, 'n');
  int64_t order = left ? m : n;
  int64_t ld = indim_lanes_step(order);
  int64_t x_ld = indim_lanes_step(m);
  VECTOR *t = scratch;
  VECTOR *x = t + ld * order;
  // x op(a) = b is op(a)^T x^T = b^T.
  bool flip = (indim_linalg_attr(call, "trans_x") != 'N') == left;
  bool forward = (indim_linalg_attr(call, "uplo") == 'L') != flip;
  NAME(load)(b, 0, t, flip ? ld : 1, flip ? 1 : ld);
  NAME(load)(b, 1, x, 1, x_ld);
  if (call->operand_count == 3) {
    VECTOR alpha;
    NAME(load)(b, 2, &alpha, 1, 1);
    for (int64_t i = 0; i < n * x_ld; i++) {
      x[i] *= alpha;
    }
  }
  int64_t x_i = left ? 1 : x_ld;
  int64_t last = forward ? 0 : order - 1;
  int64_t sign = forward ? 1 : -1;
  NAME(substitute)
  (order, left ? n : m, indim_linalg_attr(call, "diag") == 'U', t + last * (1 + ld), sign, sign * ld, x + last * x_i,
   sign * x_i, left ? x_ld : 1);
  NAME(store)(b, 0, x, 1, x_ld);
}

// The lower factor of the lower triangle. Returns the order of the first leading minor that is not positive; a lane has nothing
// of use behind it.
TARGET static MASK NAME(factor)(int64_t n, VECTOR *a, int64_t ld) {
  MASK info = {0};
  for (int64_t first = 0; first < n; first += TILE) {
    int64_t end = first + TILE < n ? first + TILE : n;
    for (int64_t j = first; j < end; j++) {
      NAME(subtract_product)(end - j, 1, first, a + j, 1, ld, a + j, ld, 1, a + j + j * ld, 1, ld);
    }
    NAME(subtract_product)
    (n - end, end - first, first, a + end, 1, ld, a + first, ld, 1, a + end + first * ld, 1, ld);
    for (int64_t j = first; j < end; j++) {
      VECTOR d = a[j + j * ld];
      for (int64_t k = first; k < j; k++) {
        d -= a[j + k * ld] * a[j + k * ld];
      }
      MASK fails = d <= 0;
      VECTOR root = NAME(sqrt)(d);
      VECTOR inverse = 1 / root;
      a[j + j * ld] = NAME(select)(fails, d, root);
      info = NAME(select_int)(fails & (info == 0), NAME(all_int)(j + 1), info);
      for (int64_t i = j + 1; i < n; i++) {
        VECTOR x = a[i + j * ld];
        for (int64_t k = first; k < j; k++) {
          x -= a[i + k * ld] * a[j + k * ld];
        }
        a[i + j * ld] = x * inverse;
      }
    }
  }
  return info;
}

TARGET static void NAME(potrf)(const indim_lanes_block *b, VECTOR *a) {
  bool lower = indim_linalg_attr(b->call, "uplo") == 'L';
  int64_t n = indim_linalg_size(b->call, 'n');
  int64_t ld = indim_lanes_step(n);
  NAME(load)(b, 0, a, lower ? 1 : ld, lower ? ld : 1);
  MASK info = NAME(factor)(n, a, ld);
  NAME(store)(b, 0, a, lower ? 1 : ld, lower ? ld : 1);
  NAME(store_ints)(b, 1, &info);
}

// The op: the other triangle is 0, and everything NaN where there is no factor. A NaN reaches the diagonal by itself.
TARGET static void NAME(cholesky)(const indim_lanes_block *b, VECTOR *a) {
  bool lower = indim_linalg_attr(b->call, "lower") != 0;
  int64_t n = indim_linalg_size(b->call, 'n');
  int64_t ld = indim_lanes_step(n);
  NAME(load)(b, 0, a, lower ? 1 : ld, lower ? ld : 1);
  MASK succeeds = NAME(factor)(n, a, ld) == 0;
  for (int64_t j = 0; j < n; j++) {
    succeeds &= a[j + j * ld] == a[j + j * ld];
    for (int64_t i = 0; i < j; i++) {
      a[i + j * ld] = (VECTOR){0};
    }
  }
  if (NAME(any)(~succeeds)) {
    NAME(nan_unless)(succeeds, n * ld, a);
  }
  NAME(store)(b, 0, a, lower ? 1 : ld, lower ? ld : 1);
}

// LU -------------------------------------------------------------------------------------------------------------------

// The row from |k| on with the largest element of a column; of equals the first.
INLINE MASK NAME(pivot_row)(int64_t m, const VECTOR *column, int64_t k) {
  VECTOR most = NAME(abs)(column[k]);
  MASK row = NAME(all_int)(k);
  for (int64_t i = k + 1; i < m; i++) {
    VECTOR x = NAME(abs)(column[i]);
    MASK is_larger = x > most;
    most = NAME(select)(is_larger, x, most);
    row = NAME(select_int)(is_larger, NAME(all_int)(i), row);
  }
  return row;
}

// Exchanges row k of each matrix with its row |pivots|.
TARGET static void NAME(exchange_rows)(int64_t count, int64_t n, VECTOR *a, int64_t ld, int64_t k, MASK pivots) {
  for (int64_t l = 0; l < count; l++) {
    REAL *x = (REAL *)(a + k) + l;
    REAL *y = (REAL *)(a + pivots[l]) + l;
    for (int64_t j = 0; j < n && x != y; j++) {
      REAL z = x[j * ld * LANES];
      x[j * ld * LANES] = y[j * ld * LANES];
      y[j * ld * LANES] = z;
    }
  }
}

TARGET static void NAME(getrf)(const indim_lanes_block *b, VECTOR *scratch) {
  enum { PANEL = 8 };
  int64_t m = indim_linalg_size(b->call, 'm');
  int64_t n = indim_linalg_size(b->call, 'n');
  int64_t steps = m < n ? m : n;
  int64_t ld = indim_lanes_step(m);
  VECTOR *a = scratch;
  MASK *pivots = (MASK *)(a + ld * n);
  MASK info = {0};
  NAME(load)(b, 0, a, 1, ld);
  for (int64_t first = 0; first < steps; first += PANEL) {
    int64_t end = first + PANEL < steps ? first + PANEL : steps;
    for (int64_t k = first; k < end; k++) {
      VECTOR *column = a + k * ld;
      MASK pivot = NAME(pivot_row)(m, column, k);
      NAME(exchange_rows)(b->count, n, a, ld, k, pivot);
      pivots[k] = pivot + 1;
      // Of a pivot of 0 the column below is 0, too: divided by 1 it stays, and eliminates nothing.
      MASK is_zero = column[k] == 0;
      VECTOR divisor = NAME(select)(is_zero, NAME(all)(1), column[k]);
      info = NAME(select_int)(is_zero & (info == 0), NAME(all_int)(k + 1), info);
      for (int64_t i = k + 1; i < m; i++) {
        column[i] /= divisor;
      }
      NAME(subtract_product)
      (m - k - 1, end - k - 1, 1, column + k + 1, 1, ld, column + k + ld, 1, ld, column + k + 1 + ld, 1, ld);
    }
    VECTOR *diagonal = a + first * (1 + ld);
    VECTOR *beside = a + first + end * ld;
    NAME(substitute)(end - first, n - end, true, diagonal, 1, ld, beside, 1, ld);
    NAME(subtract_product)
    (m - end, n - end, end - first, a + end + first * ld, 1, ld, beside, 1, ld, a + end * (1 + ld), 1, ld);
  }
  NAME(store)(b, 0, a, 1, ld);
  NAME(store_ints)(b, 1, pivots);
  NAME(store_ints)(b, 2, &info);
}
