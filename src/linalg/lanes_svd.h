// Of lanes.c, for one element type and vector width, and in the words of lanes_real.h or lanes_complex.h: singular values by one-sided
// Jacobi rotations (Golub and Van Loan, Matrix Computations, 8.6), until no lane has anything left to rotate.

// x^H y.
INLINE ELEMENT OF(dot)(int64_t n, const ELEMENT *x, const ELEMENT *y) {
  ELEMENT zero = OF(from_real)((VECTOR){0});
  ELEMENT sums[2] = {zero, zero};
  for (int64_t i = 0; i + 2 <= n; i += 2) {
    sums[0] = OF(plus_product)(sums[0], OF(conj)(x[i]), y[i]);
    sums[1] = OF(plus_product)(sums[1], OF(conj)(x[i + 1]), y[i + 1]);
  }
  ELEMENT sum = OF(plus)(sums[0], sums[1]);
  return n % 2 == 1 ? OF(plus_product)(sum, OF(conj)(x[n - 1]), y[n - 1]) : sum;
}

INLINE VECTOR OF(squared_length)(int64_t n, const ELEMENT *x) { return OF(real_part)(OF(dot)(n, x, x)); }

// Rotates x and y, which is first turned by the phase.
INLINE void OF(rotate_turned)(int64_t n, ELEMENT *x, ELEMENT *y, ELEMENT phase, VECTOR c, VECTOR s) {
  for (int64_t i = 0; i < n; i++) {
    ELEMENT z = OF(turn_back)(y[i], phase);
    y[i] = OF(plus)(OF(times_real)(x[i], s), OF(times_real)(z, c));
    x[i] = OF(minus)(OF(times_real)(x[i], c), OF(times_real)(z, s));
  }
}

// Makes columns p and q orthogonal, whose squared lengths are |squares|. Returns whether a lane was not yet.
TARGET static bool OF(orthogonalize)(int64_t m, int64_t n, ELEMENT *a, int64_t ld, ELEMENT *v, int64_t v_ld,
                                     VECTOR *squares, int64_t p, int64_t q) {
  const REAL epsilon = sizeof(REAL) == 4 ? (REAL)FLT_EPSILON : (REAL)DBL_EPSILON;
  VECTOR xx = squares[p];
  VECTOR yy = squares[q];
  ELEMENT product = OF(dot)(m, a + p * ld, a + q * ld);
  MASK has_rest = OF(square)(product) > 16 * epsilon * epsilon * xx * yy;
  if (!NAME(any)(has_rest)) {
    return false;
  }
  // The rotation that makes (xx, xy; xy, yy) diagonal; of its two angles the smaller one.
  ELEMENT phase;
  VECTOR xy = OF(without_phase)(has_rest, product, &phase);
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
  OF(rotate_turned)(m, a + p * ld, a + q * ld, phase, c, s);
  if (v != NULL) {
    OF(rotate_turned)(n, v + p * v_ld, v + q * v_ld, phase, c, s);
  }
  return true;
}

// Of the m x n matrix, m >= n, or of its transpose if that is the tall one, which has the factors the other way round.
TARGET static void OF(svd)(const indim_lanes_block *b, ELEMENT *scratch, int32_t info_if_not_finite) {
  enum { MOST_SWEEPS = 30 };
  int64_t height = indim_linalg_size(b->call, 'm');
  int64_t width = indim_linalg_size(b->call, 'n');
  bool vectors = b->attrs.mode != 'N';
  bool is_wide = width > height;
  int64_t m = is_wide ? width : height;
  int64_t n = is_wide ? height : width;
  int64_t left_columns = vectors ? indim_linalg_size(b->call, is_wide ? 'q' : 'p') : 0;
  int64_t ld = indim_lanes_step(m);
  int64_t v_ld = indim_lanes_step(n);
  ELEMENT *a = scratch;
  ELEMENT *left = a + ld * n;
  ELEMENT *v = left + ld * m;
  ELEMENT *right = v + v_ld * n;
  ELEMENT *taus = right + v_ld * n;
  VECTOR *squares = (VECTOR *)taus;  // before there are any

  VECTOR *lengths = (VECTOR *)(taus + n);
  int32_t *order = (int32_t *)(lengths + n);
  VECTOR inverse;
  NAME(load)(b, 0, a, is_wide ? ld : 1, is_wide ? 1 : ld);
  NAME(store)(b, 0, a, is_wide ? ld : 1, is_wide ? 1 : ld);
  for (int64_t j = 0; j < n; j++) {
    for (int64_t i = m; i < ld; i++) {
      a[i + j * ld] = OF(from_real)((VECTOR){0});
    }
    for (int64_t i = 0; i < n; i++) {
      v[i + j * v_ld] = OF(from_real)(NAME(all)(i == j));
    }
  }
  MASK is_finite = NAME(scale_all)(PARTS * n * ld, (VECTOR *)a, &inverse);
  bool has_rest = true;
  for (int sweep = 0; sweep < MOST_SWEEPS && has_rest; sweep++) {
    has_rest = false;
    for (int64_t j = 0; j < n; j++) {
      squares[j] = OF(squared_length)(m, a + j * ld);
    }
    for (int64_t p = 0; p < n; p++) {
      for (int64_t q = p + 1; q < n; q++) {
        has_rest |= OF(orthogonalize)(m, n, a, ld, vectors ? v : NULL, v_ld, squares, p, q);
      }
    }
  }
  for (int64_t j = 0; j < n; j++) {
    squares[j] = OF(squared_length)(m, a + j * ld);
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
    const ELEMENT nothing = OF(from_real)((VECTOR){0});
    NAME(store)(b, 2, &nothing, 0, 0);
    NAME(store)(b, 3, &nothing, 0, 0);
    return;
  }
  // The left factor: the sorted columns as those of q of a QR factorization, which are orthogonal where columns vanish, too.
  // The diagonal of r has the signs.
  NAME(permute)(PARTS * m, n, order, (VECTOR *)a, PARTS * ld, (VECTOR *)left, PARTS * ld);
  NAME(permute)(PARTS * n, n, order, (VECTOR *)v, PARTS * v_ld, (VECTOR *)right, PARTS * v_ld);
  OF(qr)(m, n, left, ld, taus);
  for (int64_t j = 0; j < n; j++) {
    lengths[j] = NAME(select)(OF(real_part)(left[j + j * ld]) < 0, NAME(all)(-1), NAME(all)(1));
  }
  OF(q)(m, left_columns, n, left, ld, taus);
  for (int64_t j = 0; j < n; j++) {
    for (int64_t i = 0; i < m; i++) {
      left[i + j * ld] = OF(times_real)(left[i + j * ld], lengths[j]);
    }
  }
  if (NAME(any)(~is_finite)) {
    NAME(nan_unless)(is_finite, PARTS * left_columns * ld, left);
    NAME(nan_unless)(is_finite, PARTS * n * v_ld, right);
  }
  for (int64_t i = 0; i < n * v_ld; i++) {
    right[i] = OF(conj)(right[i]);
  }
  if (is_wide) {
    NAME(store)(b, 2, right, 1, v_ld);
    NAME(store)(b, 3, left, ld, 1);
  } else {
    NAME(store)(b, 2, left, 1, ld);
    NAME(store)(b, 3, right, v_ld, 1);
  }
}

TARGET static void OF(gesdd)(const indim_lanes_block *b, ELEMENT *scratch) { OF(svd)(b, scratch, -4); }
TARGET static void OF(gesvd)(const indim_lanes_block *b, ELEMENT *scratch) { OF(svd)(b, scratch, 0); }
