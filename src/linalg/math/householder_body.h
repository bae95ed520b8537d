// The body of householder.c for one kind of numbers (real.h, complex.h). A reflector is 1 - tau v v^H with v = (1, ...);
// to apply one whose 1 is not stored, the 1 is put into its place for the time.

indim_status NAME(scratch)(indim_linalg_work *w, int64_t rows, int64_t columns, T **out) {
  void *memory = NULL;
  INDIM_TRY(indim_arena_array(&w->arena, (size_t)rows, (size_t)columns * sizeof(T), &memory));
  *out = memory;
  return INDIM_OK;
}

bool NAME(is_finite)(int64_t count, const T *x) {
  for (int64_t i = 0; i < count; i++) {
    if (!isfinite(RE(x[i])) || !isfinite(IM(x[i]))) {
      return false;
    }
  }
  return true;
}

double NAME(scale)(int64_t count, const T *x) {
  double largest = 0;
  int exponent = 0;
  for (int64_t i = 0; i < count; i++) {
    largest = fmax(largest, fmax(fabs(RE(x[i])), fabs(IM(x[i]))));
  }
  (void)frexp(largest, &exponent);
  exponent = exponent > 1000 ? 1000 : exponent < -1000 ? -1000 : exponent;
  return largest > 0 && isfinite(largest) ? ldexp(1, -exponent) : 1;
}

void NAME(fill_nan)(int64_t count, T *x) {
  for (int64_t i = 0; i < count; i++) {
    x[i] = MAKE((double)NAN, (double)NAN);
  }
}

static double NAME(scaled_norm)(int64_t n, const T *x, double scale) {
  double sum = 0;
  for (int64_t i = 0; i < n; i++) {
    double re = RE(x[i]) * scale;
    double im = IM(x[i]) * scale;
    sum += re * re + im * im;
  }
  return sqrt(sum);
}

double NAME(norm)(int64_t n, const T *x) {
  double scale = NAME(scale)(n, x);
  return NAME(scaled_norm)(n, x, scale) / scale;
}

// All is computed of the numbers times a power of two, so that squares neither overflow nor vanish.
void NAME(reflector)(int64_t n, T *alpha, T *x, T *tau) {
  double scale = fmin(NAME(scale)(n, x), NAME(scale)(1, alpha));
  scale = *alpha == 0 ? NAME(scale)(n, x) : scale;
  double rest = NAME(scaled_norm)(n, x, scale);
  *tau = 0;
  if (rest == 0 && IM(*alpha) == 0) {
    return;
  }
  T head = *alpha * scale;
  double beta = -copysign(hypot(ABS(head), rest), RE(head));
  T divisor = head - beta;
  *tau = MAKE((beta - RE(head)) / beta, -IM(head) / beta);
  for (int64_t i = 0; i < n; i++) {
    x[i] = x[i] * scale / divisor;
  }
  *alpha = beta / scale;
}

void NAME(reflect_left)(int64_t m, int64_t n, const T *v, T tau, T *c, int64_t stride) {
  for (int64_t j = 0; j < n && tau != 0; j++) {
    T sum = 0;
    for (int64_t i = 0; i < m; i++) {
      sum += CONJ(v[i]) * c[i + j * stride];
    }
    sum *= tau;
    for (int64_t i = 0; i < m; i++) {
      c[i + j * stride] -= v[i] * sum;
    }
  }
}

void NAME(reflect_right)(int64_t m, int64_t n, const T *v, T tau, T *c, int64_t stride) {
  for (int64_t i = 0; i < m && tau != 0; i++) {
    T sum = 0;
    for (int64_t j = 0; j < n; j++) {
      sum += c[i + j * stride] * v[j];
    }
    sum *= tau;
    for (int64_t j = 0; j < n; j++) {
      c[i + j * stride] -= sum * CONJ(v[j]);
    }
  }
}

// QR -----------------------------------------------------------------------------------------------------------------

// Column i of the factorisation: its reflector, applied to the columns behind.
static void NAME(qr_column)(int64_t m, int64_t n, int64_t i, T *a, T *taus) {
  T *column = a + i + i * m;
  NAME(reflector)(m - i - 1, column, column + 1, &taus[i]);
  T diagonal = *column;
  *column = 1;
  NAME(reflect_left)(m - i, n - i - 1, column, CONJ(taus[i]), column + m, m);
  *column = diagonal;
}

indim_status NAME(geqrf)(indim_linalg_work *w, int64_t m, int64_t n, T *a, T *taus) {
  for (int64_t i = 0; i < (m < n ? m : n); i++) {
    NAME(qr_column)(m, n, i, a, taus);
    INDIM_TRY(indim_linalg_step(w, m * n));
  }
  return INDIM_OK;
}

static void NAME(exchange_columns)(int64_t m, T *a, int32_t *order, int64_t i, int64_t j) {
  int32_t number = order[i];
  order[i] = order[j];
  order[j] = number;
  for (int64_t k = 0; k < m && i != j; k++) {
    T x = a[k + i * m];
    a[k + i * m] = a[k + j * m];
    a[k + j * m] = x;
  }
}

// Numbers the columns and moves those that are to come first; returns how many they are.
static int64_t NAME(fix_columns)(int64_t m, int64_t n, T *a, int32_t *order) {
  int64_t fixed = 0;
  for (int64_t j = 0; j < n; j++) {
    bool first = order[j] != 0;
    order[j] = (int32_t)(j + 1);
    if (first) {
      NAME(exchange_columns)(m, a, order, fixed++, j);
    }
  }
  return fixed;
}

indim_status NAME(geqp3)(indim_linalg_work *w, int64_t m, int64_t n, T *a, int32_t *order, T *taus) {
  int64_t fixed = NAME(fix_columns)(m, n, a, order);
  for (int64_t i = 0; i < (m < n ? m : n); i++) {
    int64_t best = i;
    double largest = -1;
    for (int64_t j = i; j < n && i >= fixed; j++) {
      double length = NAME(norm)(m - i, a + i + j * m);
      best = length > largest ? j : best;
      largest = length > largest ? length : largest;
    }
    NAME(exchange_columns)(m, a, order, i, best);
    NAME(qr_column)(m, n, i, a, taus);
    INDIM_TRY(indim_linalg_step(w, m * n));
  }
  return INDIM_OK;
}

indim_status NAME(orgqr)(indim_linalg_work *w, int64_t m, int64_t n, int64_t k, T *a, const T *taus) {
  for (int64_t j = k; j < n; j++) {
    for (int64_t i = 0; i < m; i++) {
      a[i + j * m] = i == j ? 1 : 0;
    }
  }
  for (int64_t i = k - 1; i >= 0; i--) {
    T *column = a + i + i * m;
    *column = 1;
    NAME(reflect_left)(m - i, n - i - 1, column, taus[i], column + m, m);
    for (int64_t j = 1; j < m - i; j++) {
      column[j] *= -taus[i];
    }
    *column = 1 - taus[i];
    for (int64_t j = 0; j < i; j++) {
      a[j + i * m] = 0;
    }
    INDIM_TRY(indim_linalg_step(w, m * n));
  }
  return INDIM_OK;
}

indim_status NAME(ormqr)(indim_linalg_work *w, bool left, bool adjoint, int64_t m, int64_t n, int64_t k, const T *a,
                         const T *taus, T *c) {
  int64_t rows = left ? m : n;
  T *v = NULL;
  INDIM_TRY(NAME(scratch)(w, rows + 1, 1, &v));
  for (int64_t step = 0; step < k; step++) {
    int64_t i = left == adjoint ? step : k - 1 - step;
    T tau = adjoint ? CONJ(taus[i]) : taus[i];
    memcpy(v, a + i + i * rows, (size_t)(rows - i) * sizeof *v);
    v[0] = 1;
    if (left) {
      NAME(reflect_left)(m - i, n, v, tau, c + i, m);
    } else {
      NAME(reflect_right)(m, n - i, v, tau, c + i * m, m);
    }
    INDIM_TRY(indim_linalg_step(w, m * n));
  }
  return INDIM_OK;
}

// Hessenberg and tridiagonal form --------------------------------------------------------------------------------------

indim_status NAME(gehrd)(indim_linalg_work *w, int64_t n, int64_t low, int64_t high, T *a, T *taus) {
  for (int64_t i = 0; i + 1 < n; i++) {
    taus[i] = 0;
  }
  for (int64_t i = low - 1; i < high - 1; i++) {
    T *column = a + i + 1 + i * n;
    int64_t length = high - i - 1;
    NAME(reflector)(length - 1, column, column + 1, &taus[i]);
    T corner = *column;
    *column = 1;
    NAME(reflect_right)(high, length, column, taus[i], a + (i + 1) * n, n);
    NAME(reflect_left)(length, n - i - 1, column, CONJ(taus[i]), a + i + 1 + (i + 1) * n, n);
    *column = corner;
    INDIM_TRY(indim_linalg_step(w, n * n));
  }
  return INDIM_OK;
}

indim_status NAME(hessenberg)(indim_linalg_work *w, int64_t n, T *a, T *z) {
  T *taus = NULL;
  T *q = NULL;
  int64_t k = n - 1;
  INDIM_TRY(NAME(scratch)(w, 1, n, &taus));
  INDIM_TRY(NAME(scratch)(w, k, k, &q));
  INDIM_TRY(NAME(gehrd)(w, n, 1, n, a, taus));
  for (int64_t j = 0; j < k; j++) {
    memcpy(q + j * k, a + 1 + j * n, (size_t)k * sizeof *q);
  }
  INDIM_TRY(NAME(orgqr)(w, k, k, k, q, taus));
  for (int64_t j = 0; j < n; j++) {
    for (int64_t i = 0; i < n; i++) {
      z[i + j * n] = i == 0 || j == 0 ? (i == j ? 1 : 0) : q[i - 1 + (j - 1) * k];
      a[i + j * n] = i > j + 1 ? 0 : a[i + j * n];
    }
  }
  return INDIM_OK;
}

indim_status NAME(whole)(indim_linalg_work *w, bool lower, int64_t n, const T *a, T **out) {
  INDIM_TRY(NAME(scratch)(w, n, n, out));
  for (int64_t j = 0; j < n; j++) {
    for (int64_t i = j; i < n; i++) {
      T x = lower ? a[i + j * n] : CONJ(a[j + i * n]);
      (*out)[i + j * n] = i == j ? RE(x) : x;
      (*out)[j + i * n] = i == j ? RE(x) : CONJ(x);
    }
  }
  return indim_linalg_step(w, n * n);
}

// The column that step i of the reduction makes zero but for one element: rows i+1 on of column i, or for an upper
// triangle rows 0 to i of column i+1, from the last up. |x| gets its rest behind the element that stays.
static void NAME(column_of)(bool lower, int64_t n, int64_t i, const T *b, T *out) {
  int64_t count = lower ? n - i - 1 : i + 1;
  for (int64_t k = 0; k < count; k++) {
    out[k] = lower ? b[i + 1 + k + i * n] : b[i - k + (i + 1) * n];
  }
}

// q^H b q for the reflector of step i, whose vector is |v| in the order of column_of; |u| is room for n.
static void NAME(both_sides)(bool lower, int64_t n, int64_t i, const T *v, T tau, T *u, T *b) {
  for (int64_t k = 0; k < n; k++) {
    u[k] = 0;
  }
  for (int64_t k = 0; k < (lower ? n - i - 1 : i + 1); k++) {
    u[lower ? i + 1 + k : i - k] = v[k];
  }
  NAME(reflect_right)(n, n, u, tau, b, n);
  NAME(reflect_left)(n, n, u, CONJ(tau), b, n);
}

indim_status NAME(sytrd)(indim_linalg_work *w, bool lower, int64_t n, T *a, double *d, double *e, T *taus) {
  T *b = NULL;
  T *v = NULL;
  INDIM_TRY(NAME(whole)(w, lower, n, a, &b));
  INDIM_TRY(NAME(scratch)(w, 2, n, &v));
  for (int64_t step = 0; step + 1 < n; step++) {
    int64_t i = lower ? step : n - 2 - step;
    int64_t count = lower ? n - i - 1 : i + 1;
    NAME(column_of)(lower, n, i, b, v);
    NAME(reflector)(count - 1, v, v + 1, &taus[i]);
    e[i] = RE(v[0]);
    for (int64_t k = 1; k < count; k++) {
      a[lower ? i + 1 + k + i * n : i - k + (i + 1) * n] = v[k];
    }
    v[0] = 1;
    NAME(both_sides)(lower, n, i, v, taus[i], v + n, b);
    INDIM_TRY(indim_linalg_step(w, n * n));
  }
  for (int64_t i = 0; i < n; i++) {
    d[i] = RE(b[i + i * n]);
    a[i + i * n] = d[i];
    if (i + 1 < n) {
      a[lower ? i + 1 + i * n : i + (i + 1) * n] = e[i];
    }
  }
  return INDIM_OK;
}
