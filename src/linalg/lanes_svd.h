// Of lanes.c, for one element type and vector width: singular values by one-sided Jacobi rotations (Golub and Van Loan, Matrix
// Computations, 8.6), until no lane has anything left to rotate.

INLINE VECTOR NAME(dot)(int64_t n, const VECTOR *x, const VECTOR *y) {
  VECTOR sums[2] = {{0}, {0}};
  int64_t i = 0;
  for (; i + 2 <= n; i += 2) {
    sums[0] += x[i] * y[i];
    sums[1] += x[i + 1] * y[i + 1];
  }
  return i < n ? sums[0] + sums[1] + x[i] * y[i] : sums[0] + sums[1];
}

// Makes columns p and q orthogonal, whose squared lengths are |squares|. Returns whether a lane was not yet.
TARGET static bool NAME(orthogonalize)(int64_t m, int64_t n, VECTOR *a, int64_t ld, VECTOR *v, int64_t v_ld,
                                       VECTOR *squares, int64_t p, int64_t q) {
  const REAL epsilon = sizeof(REAL) == 4 ? (REAL)FLT_EPSILON : (REAL)DBL_EPSILON;
  VECTOR xx = squares[p];
  VECTOR yy = squares[q];
  VECTOR xy = NAME(dot)(m, a + p * ld, a + q * ld);
  MASK has_rest = xy * xy > 16 * epsilon * epsilon * xx * yy;
  if (!NAME(any)(has_rest)) {
    return false;
  }
  // The rotation that makes (xx, xy; xy, yy) diagonal; of its two angles the smaller one.
  VECTOR difference = yy - xx;
  VECTOR twice = 2 * xy;
  VECTOR root = NAME(sqrt)(difference * difference + twice * twice);
  VECTOR divisor = NAME(abs)(difference) + root;
  VECTOR tangent = NAME(select)(difference < 0, -twice, twice) / divisor;
  tangent = NAME(select)(has_rest & (divisor > 0), tangent, (VECTOR){0});
  VECTOR c = 1 / NAME(sqrt)(tangent * tangent + 1);
  VECTOR s = tangent * c;
  squares[p] = xx - tangent * xy;
  squares[q] = yy + tangent * xy;
  NAME(rotate)(m, a + p * ld, a + q * ld, c, s);
  if (v != NULL) {
    NAME(rotate)(n, v + p * v_ld, v + q * v_ld, c, s);
  }
  return true;
}

// Of the m x n matrix, m >= n, or of its transpose if that is the tall one, which has the factors the other way round.
TARGET static void NAME(svd)(const indim_lanes_block *b, VECTOR *scratch, int32_t info_if_not_finite) {
  enum { MOST_SWEEPS = 30 };
  int64_t height = indim_linalg_size(b->call, 'm');
  int64_t width = indim_linalg_size(b->call, 'n');
  bool vectors = indim_linalg_attr(b->call, "mode") != 'N';
  bool is_wide = width > height;
  int64_t m = is_wide ? width : height;
  int64_t n = is_wide ? height : width;
  int64_t left_columns = vectors ? indim_linalg_size(b->call, is_wide ? 'q' : 'p') : 0;
  int64_t ld = indim_lanes_step(m);
  int64_t v_ld = indim_lanes_step(n);
  VECTOR *a = scratch;
  VECTOR *left = a + ld * n;
  VECTOR *v = left + ld * m;
  VECTOR *right = v + v_ld * n;
  VECTOR *squares = right + v_ld * n;
  VECTOR *lengths = squares + n;
  int32_t *order = (int32_t *)(lengths + n);
  VECTOR inverse;
  NAME(load)(b, 0, a, is_wide ? ld : 1, is_wide ? 1 : ld);
  NAME(store)(b, 0, a, is_wide ? ld : 1, is_wide ? 1 : ld);
  for (int64_t j = 0; j < n; j++) {
    for (int64_t i = m; i < ld; i++) {
      a[i + j * ld] = (VECTOR){0};
    }
    for (int64_t i = 0; i < n; i++) {
      v[i + j * v_ld] = NAME(all)(i == j);
    }
  }
  MASK is_finite = NAME(scale_all)(n * ld, a, &inverse);
  bool has_rest = true;
  for (int sweep = 0; sweep < MOST_SWEEPS && has_rest; sweep++) {
    has_rest = false;
    for (int64_t j = 0; j < n; j++) {
      squares[j] = NAME(dot)(m, a + j * ld, a + j * ld);
    }
    for (int64_t p = 0; p < n; p++) {
      for (int64_t q = p + 1; q < n; q++) {
        has_rest |= NAME(orthogonalize)(m, n, a, ld, vectors ? v : NULL, v_ld, squares, p, q);
      }
    }
  }
  for (int64_t j = 0; j < n; j++) {
    squares[j] = NAME(dot)(m, a + j * ld, a + j * ld);
  }
  NAME(sort)(n, squares, true, order);
  NAME(permute)(1, n, order, squares, 1, lengths, 1);
  for (int64_t j = 0; j < n; j++) {
    lengths[j] = NAME(sqrt)(lengths[j]) * inverse;
  }
  NAME(nan_unless)(is_finite, n, lengths);
  NAME(store)(b, 1, lengths, 1, 1);
  MASK info = ~is_finite & (NAME(all_int)(info_if_not_finite));
  NAME(store_ints)(b, 4, &info);
  if (!vectors) {
    return;
  }
  // The left factor: the sorted columns as those of q of a QR factorization, which are orthogonal where columns vanish, too.
  // The diagonal of r has the signs.
  NAME(permute)(m, n, order, a, ld, left, ld);
  NAME(permute)(n, n, order, v, v_ld, right, v_ld);
  NAME(qr)(m, n, left, ld, squares);
  for (int64_t j = 0; j < n; j++) {
    lengths[j] = NAME(select)(left[j + j * ld] < 0, NAME(all)(-1), NAME(all)(1));
  }
  NAME(q)(m, left_columns, n, left, ld, squares);
  for (int64_t j = 0; j < n; j++) {
    for (int64_t i = 0; i < m; i++) {
      left[i + j * ld] *= lengths[j];
    }
  }
  if (NAME(any)(~is_finite)) {
    NAME(nan_unless)(is_finite, left_columns * ld, left);
    NAME(nan_unless)(is_finite, n * v_ld, right);
  }
  if (is_wide) {
    NAME(store)(b, 2, right, 1, v_ld);
    NAME(store)(b, 3, left, ld, 1);
  } else {
    NAME(store)(b, 2, left, 1, ld);
    NAME(store)(b, 3, right, v_ld, 1);
  }
}

TARGET static void NAME(gesdd)(const indim_lanes_block *b, VECTOR *scratch) { NAME(svd)(b, scratch, -4); }
TARGET static void NAME(gesvd)(const indim_lanes_block *b, VECTOR *scratch) { NAME(svd)(b, scratch, 0); }
