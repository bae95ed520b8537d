// The body of svd.c for one kind of numbers (real.h, complex.h). A matrix with at least as many rows as columns is turned,
// two columns at a time, until all columns are orthogonal: a v = u diag(s), so their lengths are the singular values
// (Hestenes). A wide matrix goes through its adjoint.

// The turn that makes columns p and q orthogonal, on both a and v; false if they are already, or one of them is nothing
// beside the largest element, which is about 1.
static bool NAME(orthogonalize)(int64_t m, int64_t n, T *p, T *q, T *vp, T *vq) {
  double pp = 0;
  double qq = 0;
  T pq = 0;
  for (int64_t i = 0; i < m; i++) {
    pp += RE(p[i]) * RE(p[i]) + IM(p[i]) * IM(p[i]);
    qq += RE(q[i]) * RE(q[i]) + IM(q[i]) * IM(q[i]);
    pq += CONJ(p[i]) * q[i];
  }
  double size = ABS(pq);
  if (fmin(pp, qq) < NEGLIGIBLE * NEGLIGIBLE || size <= (double)m * DBL_EPSILON * sqrt(pp) * sqrt(qq)) {
    return false;
  }
  T phase = CONJ(pq) / size;  // q times this has a real product with p
  double zeta = (qq - pp) / (2 * size);
  double t = copysign(1, zeta) / (fabs(zeta) + hypot(1, zeta));
  double c = 1 / sqrt(1 + t * t);
  double s = c * t;
  for (int64_t i = 0; i < m + n; i++) {
    T *x = i < m ? &p[i] : &vp[i - m];
    T *y = i < m ? &q[i] : &vq[i - m];
    T turned = *y * phase;
    *y = s * *x + c * turned;
    *x = c * *x - s * turned;
  }
  return true;
}

static indim_status NAME(sweeps)(indim_linalg_work *w, int64_t m, int64_t n, T *a, T *v, int32_t *info) {
  enum { MOST_SWEEPS = 80 };
  for (int sweep = 0; sweep < MOST_SWEEPS; sweep++) {
    bool turned = false;
    for (int64_t p = 0; p < n; p++) {
      for (int64_t q = p + 1; q < n; q++) {
        turned |= NAME(orthogonalize)(m, n, a + p * m, a + q * m, v + p * n, v + q * n);
        INDIM_TRY(indim_linalg_step(w, m));
      }
    }
    if (!turned) {
      return INDIM_OK;
    }
  }
  *info = (int32_t)n;
  return INDIM_OK;
}

static void NAME(exchange)(int64_t count, T *x, T *y) {
  for (int64_t i = 0; i < count; i++) {
    T z = x[i];
    x[i] = y[i];
    y[i] = z;
  }
}

// The lengths of the columns, and all sorted by them, the longest first.
static void NAME(sort_columns)(int64_t m, int64_t n, T *a, T *v, double *s) {
  for (int64_t j = 0; j < n; j++) {
    s[j] = NAME(norm)(m, a + j * m);
  }
  for (int64_t j = 0; j < n; j++) {
    int64_t best = j;
    for (int64_t k = j + 1; k < n; k++) {
      best = s[k] > s[best] ? k : best;
    }
    double length = s[j];
    s[j] = s[best];
    s[best] = length;
    if (best != j) {
      NAME(exchange)(m, a + j * m, a + best * m);
      NAME(exchange)(n, v + j * n, v + best * n);
    }
  }
}

// |columns| orthonormal columns of which the first are those of |a| divided by their lengths, as long as these are not
// negligible; the others come from a QR factorisation of those.
static indim_status NAME(left_vectors)(indim_linalg_work *w, int64_t m, int64_t n, const T *a, const double *s, T *u,
                                       int64_t columns) {
  int64_t rank = 0;
  T *first = NULL;
  T *taus = NULL;
  INDIM_TRY(NAME(scratch)(w, m, n, &first));
  INDIM_TRY(NAME(scratch)(w, 1, n, &taus));
  while (rank < n && s[rank] > s[0] * 2 * (double)n * NEGLIGIBLE) {
    for (int64_t i = 0; i < m; i++) {
      first[i + rank * m] = a[i + rank * m] / s[rank];
    }
    rank++;
  }
  memcpy(u, first, (size_t)(m * rank) * sizeof *u);
  INDIM_TRY(NAME(geqrf)(w, m, rank, u, taus));
  INDIM_TRY(NAME(orgqr)(w, m, columns, rank, u, taus));
  memcpy(u, first, (size_t)(m * rank) * sizeof *u);
  return INDIM_OK;
}

// For m >= n: a v = u diag(s), where a is overwritten.
static indim_status NAME(tall)(indim_linalg_work *w, int64_t m, int64_t n, T *a, double *s, T *u, int64_t u_columns,
                               T *v, int32_t *info) {
  for (int64_t j = 0; j < n; j++) {
    v[j + j * n] = 1;
  }
  INDIM_TRY(NAME(sweeps)(w, m, n, a, v, info));
  NAME(sort_columns)(m, n, a, v, s);
  return u == NULL ? INDIM_OK : NAME(left_vectors)(w, m, n, a, s, u, u_columns);
}

// out (rows of |from_columns|) = the adjoint of the first columns of |from|.
static void NAME(adjoint)(int64_t rows, int64_t columns, const T *from, T *out) {
  for (int64_t j = 0; j < columns; j++) {
    for (int64_t i = 0; i < rows; i++) {
      out[j + i * columns] = CONJ(from[i + j * rows]);
    }
  }
}

static void NAME(svd_nan)(int64_t m, int64_t n, double *s, T *u, int64_t u_columns, T *vt, int64_t vt_rows) {
  indim_real_fill_nan(m < n ? m : n, s);
  NAME(fill_nan)(u == NULL ? 0 : m * u_columns, u);
  NAME(fill_nan)(vt == NULL ? 0 : n * vt_rows, vt);
}

indim_status NAME(svd)(indim_linalg_work *w, int64_t m, int64_t n, const T *a, double *s, T *u, int64_t u_columns,
                       T *vt, int64_t vt_rows, int32_t *info) {
  bool is_tall = m >= n;
  int64_t large = is_tall ? m : n;
  int64_t small = is_tall ? n : m;
  T *b = NULL;
  T *v = NULL;
  T *other = NULL;
  *info = 0;
  if (!NAME(is_finite)(m * n, a)) {
    NAME(svd_nan)(m, n, s, u, u_columns, vt, vt_rows);
    *info = -1;
    return INDIM_OK;
  }
  INDIM_TRY(NAME(scratch)(w, large, small, &b));
  INDIM_TRY(NAME(scratch)(w, small, small, &v));
  if (is_tall) {
    memcpy(b, a, (size_t)(m * n) * sizeof *b);
  } else {
    NAME(adjoint)(m, n, a, b);
  }
  double scale = NAME(scale)(m * n, b);
  for (int64_t i = 0; i < m * n; i++) {
    b[i] *= scale;
  }
  if (is_tall || vt == NULL) {
    INDIM_TRY(NAME(tall)(w, large, small, b, s, is_tall ? u : NULL, u_columns, v, info));
  } else {
    INDIM_TRY(NAME(scratch)(w, n, vt_rows, &other));
    INDIM_TRY(NAME(tall)(w, n, m, b, s, other, vt_rows, v, info));
    NAME(adjoint)(n, vt_rows, other, vt);
  }
  if (is_tall && vt != NULL) {
    NAME(adjoint)(n, n, v, vt);
  }
  if (!is_tall && u != NULL) {
    memcpy(u, v, (size_t)(m * m) * sizeof *u);
  }
  for (int64_t i = 0; i < small; i++) {
    s[i] /= scale;
  }
  return INDIM_OK;
}
