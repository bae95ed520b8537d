// Of lanes.c, for one element type and vector width: QR by Householder's reflectors 1 - tau v v^T with v = (1, ...).

// The reflector that makes (alpha, x) a multiple of (1, 0): leaves that in |*alpha|, the rest of v in |x|. All is computed of
// the numbers times a power of two, so that squares neither overflow nor vanish.
TARGET static VECTOR NAME(reflector)(int64_t count, VECTOR *alpha, VECTOR *x) {
  VECTOR largest = NAME(abs)(*alpha);
  VECTOR most = {0};  // of x
  VECTOR rest = {0};
  VECTOR scale, inverse;
  for (int64_t i = 0; i < count; i++) {
    VECTOR y = NAME(abs)(x[i]);
    most = NAME(select)(y > most, y, most);
  }
  largest = NAME(select)(most > largest, most, largest);
  NAME(scale)(largest, &scale, &inverse);
  for (int64_t i = 0; i < count; i++) {
    VECTOR scaled = x[i] * scale;
    rest += scaled * scaled;
  }
  VECTOR head = *alpha * scale;
  VECTOR norm = NAME(sqrt)(head * head + rest);
  VECTOR beta = NAME(select)(head < 0, norm, -norm);
  // No reflection: tau is 0. Beside an infinite or no number the others are scaled to nothing, and there is one.
  MASK is_done = (rest == 0) & ((most == 0) | (head - head == 0));
  VECTOR factor = 1 / (head - beta);
  for (int64_t i = 0; i < count; i++) {
    x[i] = NAME(select)(is_done, x[i], x[i] * scale * factor);
  }
  *alpha = NAME(select)(is_done, *alpha, beta * inverse);
  return NAME(select)(is_done, (VECTOR){0}, (beta - head) / beta);
}

// |width| vectors (head, rest) of |count| elements lose tau (v . it) v. |v| begins behind its 1.
INLINE void NAME(reflect_some)(const int width, int64_t count, const VECTOR *v, VECTOR tau, VECTOR *x, int64_t x_i,
                               int64_t x_j) {
  VECTOR sums[TILE];
#pragma GCC unroll 4
  for (int j = 0; j < width; j++) {
    sums[j] = x[j * x_j];
  }
  for (int64_t i = 1; i < count; i++) {
#pragma GCC unroll 4
    for (int j = 0; j < width; j++) {
      sums[j] += v[i - 1] * x[i * x_i + j * x_j];
    }
  }
#pragma GCC unroll 4
  for (int j = 0; j < width; j++) {
    sums[j] *= tau;
    x[j * x_j] -= sums[j];
  }
  for (int64_t i = 1; i < count; i++) {
#pragma GCC unroll 4
    for (int j = 0; j < width; j++) {
      x[i * x_i + j * x_j] -= v[i - 1] * sums[j];
    }
  }
}

TARGET static void NAME(reflect)(int64_t width, int64_t count, const VECTOR *v, VECTOR tau, VECTOR *x, int64_t x_i,
                                 int64_t x_j) {
  int64_t j = 0;
  for (; j + TILE <= width; j += TILE) {
    NAME(reflect_some)(TILE, count, v, tau, x + j * x_j, x_i, x_j);
  }
  for (; j < width; j++) {
    NAME(reflect_some)(1, count, v, tau, x + j * x_j, x_i, x_j);
  }
}

TARGET static void NAME(qr)(int64_t m, int64_t n, VECTOR *a, int64_t ld, VECTOR *taus) {
  for (int64_t k = 0; k < (m < n ? m : n); k++) {
    VECTOR *column = a + k + k * ld;
    taus[k] = NAME(reflector)(m - k - 1, column, column + 1);
    NAME(reflect)(n - k - 1, m - k, column + 1, taus[k], column + ld, 1, ld);
  }
}

// The first |columns| columns of q from |count| reflectors, which lie below the diagonal of |a|; in place.
TARGET static void NAME(q)(int64_t m, int64_t columns, int64_t count, VECTOR *a, int64_t ld, const VECTOR *taus) {
  for (int64_t j = count; j < columns; j++) {
    for (int64_t i = 0; i < m; i++) {
      a[i + j * ld] = NAME(all)(i == j);
    }
  }
  for (int64_t k = count - 1; k >= 0; k--) {
    VECTOR *column = a + k + k * ld;
    NAME(reflect)(columns - k - 1, m - k, column + 1, taus[k], column + ld, 1, ld);
    for (int64_t i = 1; i < m - k; i++) {
      column[i] *= -taus[k];
    }
    column[0] = 1 - taus[k];
    for (int64_t i = 0; i < k; i++) {
      a[i + k * ld] = (VECTOR){0};
    }
  }
}

TARGET static void NAME(geqrf)(const indim_lanes_block *b, VECTOR *a) {
  int64_t m = indim_linalg_size(b->call, 'm');
  int64_t n = indim_linalg_size(b->call, 'n');
  int64_t ld = indim_lanes_step(m);
  VECTOR *taus = a + ld * n;
  NAME(load)(b, 0, a, 1, ld);
  NAME(qr)(m, n, a, ld, taus);
  NAME(store)(b, 0, a, 1, ld);
  NAME(store)(b, 1, taus, 1, 1);
}

TARGET static void NAME(orgqr)(const indim_lanes_block *b, VECTOR *a) {
  int64_t m = indim_linalg_size(b->call, 'm');
  int64_t n = indim_linalg_size(b->call, 'n');
  int64_t ld = indim_lanes_step(m);
  VECTOR *taus = a + ld * n;
  NAME(load)(b, 0, a, 1, ld);
  NAME(load)(b, 1, taus, 1, 1);
  NAME(q)(m, n, indim_linalg_size(b->call, 't'), a, ld, taus);
  NAME(store)(b, 0, a, 1, ld);
}

TARGET static void NAME(ormqr)(const indim_lanes_block *b, VECTOR *scratch) {
  bool left = indim_linalg_attr(b->call, "left") != 0;
  bool adjoint = indim_linalg_attr(b->call, "transpose") != 0;
  int64_t m = indim_linalg_size(b->call, 'm');
  int64_t n = indim_linalg_size(b->call, 'n');
  int64_t count = indim_linalg_size(b->call, 't');
  int64_t order = left ? m : n;
  int64_t ld = indim_lanes_step(order);
  int64_t x_ld = indim_lanes_step(m);
  VECTOR *a = scratch;
  VECTOR *taus = a + ld * indim_linalg_size(b->call, 'c');
  VECTOR *x = taus + count;
  NAME(load)(b, 0, a, 1, ld);
  NAME(load)(b, 1, taus, 1, 1);
  NAME(load)(b, 2, x, 1, x_ld);
  for (int64_t step = 0; step < count; step++) {
    int64_t k = left == adjoint ? step : count - 1 - step;
    NAME(reflect)
    (left ? n : m, order - k, a + k + 1 + k * ld, taus[k], left ? x + k : x + k * x_ld, left ? 1 : x_ld,
     left ? x_ld : 1);
  }
  NAME(store)(b, 0, x, 1, x_ld);
}
