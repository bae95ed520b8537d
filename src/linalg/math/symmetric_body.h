// The body of symmetric.c for one kind of numbers (real.h, complex.h): a = q t q^H with t tridiagonal, then rotations
// that make t diagonal, applied to q (Golub and Van Loan, Matrix Computations, 8.3).

// The eigenvectors' start: q of the reduction that sytrd leaves in the lower triangle of |a|; replaces |a|.
static indim_status NAME(reduction_q)(indim_linalg_work *w, int64_t n, T *a, const T *taus) {
  T *q = NULL;
  int64_t k = n - 1;
  INDIM_TRY(NAME(scratch)(w, k, k, &q));
  for (int64_t j = 0; j < k; j++) {
    memcpy(q + j * k, a + 1 + j * n, (size_t)k * sizeof *q);
  }
  INDIM_TRY(NAME(orgqr)(w, k, k, k, q, taus));
  for (int64_t j = 0; j < n; j++) {
    for (int64_t i = 0; i < n; i++) {
      a[i + j * n] = i == 0 || j == 0 ? (i == j ? 1 : 0) : q[i - 1 + (j - 1) * k];
    }
  }
  return INDIM_OK;
}

static void NAME(rotate_columns)(int64_t n, T *q, int64_t k, double c, double s) {
  for (int64_t i = 0; i < n; i++) {
    T x = q[i + (k + 1) * n];
    T y = q[i + k * n];
    q[i + (k + 1) * n] = s * y + c * x;
    q[i + k * n] = c * y - s * x;
  }
}

// One implicit QL step with Wilkinson's shift on rows l to m of the tridiagonal matrix.
static void NAME(ql_step)(int64_t n, int64_t l, int64_t m, double *d, double *e, T *q) {
  double g = (d[l + 1] - d[l]) / (2 * e[l]);
  double r = hypot(g, 1);
  g = d[m] - d[l] + e[l] / (g + copysign(r, g));
  double s = 1;
  double c = 1;
  double p = 0;
  for (int64_t i = m - 1; i >= l; i--) {
    double f = s * e[i];
    double b = c * e[i];
    r = hypot(f, g);
    e[i + 1] = r;
    if (r == 0) {
      d[i + 1] -= p;
      e[m] = 0;
      return;
    }
    s = f / r;
    c = g / r;
    g = d[i + 1] - p;
    r = (d[i] - g) * s + 2 * c * b;
    p = s * r;
    d[i + 1] = g + p;
    g = c * r - b;
    if (q != NULL) {
      NAME(rotate_columns)(n, q, i, c, s);
    }
  }
  d[l] -= p;
  e[l] = g;
  e[m] = 0;
}

// Turns the tridiagonal matrix round if its large end is the first: QL wants it last.
static void NAME(large_end_last)(int64_t n, double *d, double *e, T *q) {
  for (int64_t i = 0; i < n / 2; i++) {
    double x = d[i];
    d[i] = d[n - 1 - i];
    d[n - 1 - i] = x;
    for (int64_t k = 0; k < n && q != NULL; k++) {
      T y = q[k + i * n];
      q[k + i * n] = q[k + (n - 1 - i) * n];
      q[k + (n - 1 - i) * n] = y;
    }
  }
  for (int64_t i = 0; i < (n - 1) / 2; i++) {
    double x = e[i];
    e[i] = e[n - 2 - i];
    e[n - 2 - i] = x;
  }
}

// Makes the tridiagonal matrix diagonal. e has room for n.
static indim_status NAME(ql)(indim_linalg_work *w, int64_t n, double *d, double *e, T *q, int32_t *info) {
  enum { MOST_STEPS = 60 };
  for (int64_t l = 0; l < n; l++) {
    for (int steps = 0;; steps++) {
      int64_t m = l;
      while (m + 1 < n && !(fabs(e[m]) <= DBL_EPSILON / 2 * (fabs(d[m]) + fabs(d[m + 1])) + NEGLIGIBLE)) {
        m++;
      }
      if (m == l) {
        break;
      }
      if (steps == MOST_STEPS) {
        *info = (int32_t)(l + 1);
        return INDIM_OK;
      }
      NAME(ql_step)(n, l, m, d, e, q);
      INDIM_TRY(indim_linalg_step(w, n * (m - l)));
    }
  }
  return INDIM_OK;
}

static void NAME(sort_values)(int64_t n, double *d, T *q) {
  for (int64_t i = 0; i < n; i++) {
    int64_t least = i;
    for (int64_t j = i + 1; j < n; j++) {
      least = d[j] < d[least] ? j : least;
    }
    double value = d[i];
    d[i] = d[least];
    d[least] = value;
    for (int64_t k = 0; k < n && q != NULL && least != i; k++) {
      T x = q[k + i * n];
      q[k + i * n] = q[k + least * n];
      q[k + least * n] = x;
    }
  }
}

indim_status NAME(syevd)(indim_linalg_work *w, bool vectors, bool lower, int64_t n, T *a, double *values,
                         int32_t *info) {
  T *b = NULL;
  T *taus = NULL;
  void *memory = NULL;
  *info = 0;
  INDIM_TRY(NAME(whole)(w, lower, n, a, &b));
  if (n == 1) {
    values[0] = RE(b[0]);
    a[0] = vectors ? 1 : a[0];
    return INDIM_OK;
  }
  if (!NAME(is_finite)(n * n, b)) {
    NAME(fill_nan)(n * n, a);
    indim_real_fill_nan(n, values);
    return INDIM_OK;
  }
  INDIM_TRY(NAME(scratch)(w, 1, n, &taus));
  INDIM_TRY(indim_arena_array(&w->arena, (size_t)n, sizeof(double), &memory));
  double *e = memory;
  double scale = NAME(scale)(n * n, b);
  for (int64_t i = 0; i < n * n; i++) {
    b[i] *= scale;
  }
  INDIM_TRY(NAME(sytrd)(w, true, n, b, values, e, taus));
  if (vectors && n > 0) {
    INDIM_TRY(NAME(reduction_q)(w, n, b, taus));
  }
  if (n > 0 && fabs(values[0]) > fabs(values[n - 1])) {
    NAME(large_end_last)(n, values, e, vectors ? b : NULL);
  }
  INDIM_TRY(NAME(ql)(w, n, values, e, vectors ? b : NULL, info));
  NAME(sort_values)(n, values, vectors ? b : NULL);
  for (int64_t i = 0; i < n; i++) {
    values[i] /= scale;
  }
  if (vectors && n > 0) {
    memcpy(a, b, (size_t)(n * n) * sizeof *a);
  }
  return INDIM_OK;
}
