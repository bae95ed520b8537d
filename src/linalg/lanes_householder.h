// Of lanes.c, for one element type and vector width, and in the words of lanes_real.h or lanes_complex.h: QR by Householder's
// reflectors 1 - tau v v^H with v = (1, ...).

// The reflector that makes (alpha, x) a multiple of (1, 0): leaves that in |*alpha|, the rest of v in |x|. All is computed of
// the numbers times a power of two, so that squares neither overflow nor vanish.
TARGET static ELEMENT OF(reflector)(int64_t count, ELEMENT *alpha, ELEMENT *x) {
  VECTOR largest = OF(largest_part)(*alpha);
  VECTOR most = {0};  // of x
  VECTOR rest = {0};
  VECTOR scale, inverse;
  for (int64_t i = 0; i < count; i++) {
    VECTOR y = OF(largest_part)(x[i]);
    most = NAME(select)(y > most, y, most);
  }
  largest = NAME(select)(most > largest, most, largest);
  NAME(scale)(largest, &scale, &inverse);
  for (int64_t i = 0; i < count; i++) {
    rest += OF(square)(OF(times_real)(x[i], scale));
  }
  ELEMENT head = OF(times_real)(*alpha, scale);
  VECTOR norm = NAME(sqrt)(OF(square)(head) + rest);
  VECTOR beta = NAME(select)(OF(real_part)(head) < 0, norm, -norm);
  MASK is_done = (most == 0) & (rest == 0) & OF(is_real)(*alpha);  // no reflection: tau is 0; a NaN is in the sum alone
  ELEMENT factor = OF(inverse)(OF(minus_real)(head, beta));
  for (int64_t i = 0; i < count; i++) {
    x[i] = OF(select)(is_done, x[i], OF(times)(OF(times_real)(x[i], scale), factor));
  }
  *alpha = OF(select)(is_done, *alpha, OF(from_real)(beta * inverse));
  return OF(select)(is_done, OF(from_real)((VECTOR){0}), OF(tau)(head, beta));
}

// |width| columns (head, rest) of |count| elements lose tau (v^H it) v, or, |of_rows|, as many rows tau (it v) v^H: nothing where tau is 0.
// |v| begins behind its 1.
INLINE void OF(reflect_some)(const int width, bool of_rows, int64_t count, const ELEMENT *v, ELEMENT tau, ELEMENT *x,
                             int64_t x_i, int64_t x_j) {
  ELEMENT sums[TILE];
  MASK stays = OF(is_zero)(tau);
#pragma GCC unroll 4
  for (int j = 0; j < width; j++) {
    sums[j] = x[j * x_j];
  }
  for (int64_t i = 1; i < count; i++) {
    ELEMENT y = of_rows ? v[i - 1] : OF(conj)(v[i - 1]);
#pragma GCC unroll 4
    for (int j = 0; j < width; j++) {
      sums[j] = OF(plus_product)(sums[j], y, x[i * x_i + j * x_j]);
    }
  }
#pragma GCC unroll 4
  for (int j = 0; j < width; j++) {
    sums[j] = OF(select)(stays, OF(from_real)((VECTOR){0}), OF(times)(sums[j], tau));
    x[j * x_j] = OF(minus)(x[j * x_j], sums[j]);
  }
  for (int64_t i = 1; i < count; i++) {
    ELEMENT y = of_rows ? OF(conj)(v[i - 1]) : v[i - 1];
#pragma GCC unroll 4
    for (int j = 0; j < width; j++) {
      x[i * x_i + j * x_j] = OF(minus_product)(x[i * x_i + j * x_j], y, sums[j]);
    }
  }
}

// Not inlined: of reflectors of up to three elements GCC 12 fails where comparisons of f64 are none of the machine's.
TARGET static __attribute__((noinline)) void OF(reflect)(int64_t width, bool of_rows, int64_t count, const ELEMENT *v,
                                                         ELEMENT tau, ELEMENT *x, int64_t x_i, int64_t x_j) {
  int64_t j = 0;
  for (; j + TILE <= width; j += TILE) {
    OF(reflect_some)(TILE, of_rows, count, v, tau, x + j * x_j, x_i, x_j);
  }
  for (; j < width; j++) {
    OF(reflect_some)(1, of_rows, count, v, tau, x + j * x_j, x_i, x_j);
  }
}

// By the adjoints of the reflectors.
TARGET static void OF(qr)(int64_t m, int64_t n, ELEMENT *a, int64_t ld, ELEMENT *taus) {
  for (int64_t k = 0; k < (m < n ? m : n); k++) {
    ELEMENT *column = a + k + k * ld;
    taus[k] = OF(reflector)(m - k - 1, column, column + 1);
    OF(reflect)(n - k - 1, false, m - k, column + 1, OF(conj)(taus[k]), column + ld, 1, ld);
  }
}

// The first |columns| columns of q from |count| reflectors, which lie below the diagonal of |a|; in place.
TARGET static void OF(q)(int64_t m, int64_t columns, int64_t count, ELEMENT *a, int64_t ld, const ELEMENT *taus) {
  ELEMENT zero = OF(from_real)((VECTOR){0});
  ELEMENT one = OF(from_real)(NAME(all)(1));
  for (int64_t j = count; j < columns; j++) {
    for (int64_t i = 0; i < m; i++) {
      a[i + j * ld] = i == j ? one : zero;
    }
  }
  for (int64_t k = count - 1; k >= 0; k--) {
    ELEMENT *column = a + k + k * ld;
    OF(reflect)(columns - k - 1, false, m - k, column + 1, taus[k], column + ld, 1, ld);
    for (int64_t i = 1; i < m - k; i++) {
      column[i] = OF(minus_product)(zero, column[i], taus[k]);
    }
    column[0] = OF(minus)(one, taus[k]);
    for (int64_t i = 0; i < k; i++) {
      a[i + k * ld] = zero;
    }
  }
}

TARGET static void OF(geqrf)(const indim_lanes_block *b, ELEMENT *a) {
  int64_t m = indim_linalg_size(b->call, 'm');
  int64_t n = indim_linalg_size(b->call, 'n');
  int64_t ld = indim_lanes_step(m);
  ELEMENT *taus = a + ld * n;
  NAME(load)(b, 0, a, 1, ld);
  OF(qr)(m, n, a, ld, taus);
  NAME(store)(b, 0, a, 1, ld);
  NAME(store)(b, 1, taus, 1, 1);
}

TARGET static void OF(orgqr)(const indim_lanes_block *b, ELEMENT *a) {
  int64_t m = indim_linalg_size(b->call, 'm');
  int64_t n = indim_linalg_size(b->call, 'n');
  int64_t ld = indim_lanes_step(m);
  ELEMENT *taus = a + ld * n;
  NAME(load)(b, 0, a, 1, ld);
  NAME(load)(b, 1, taus, 1, 1);
  OF(q)(m, n, indim_linalg_size(b->call, 't'), a, ld, taus);
  NAME(store)(b, 0, a, 1, ld);
}

TARGET static void OF(ormqr)(const indim_lanes_block *b, ELEMENT *scratch) {
  bool left = b->attrs.left != 0;
  bool adjoint = b->attrs.transpose != 0;
  int64_t m = indim_linalg_size(b->call, 'm');
  int64_t n = indim_linalg_size(b->call, 'n');
  int64_t count = indim_linalg_size(b->call, 't');
  int64_t order = left ? m : n;
  int64_t ld = indim_lanes_step(order);
  int64_t x_ld = indim_lanes_step(m);
  ELEMENT *a = scratch;
  ELEMENT *taus = a + ld * indim_linalg_size(b->call, 'c');
  ELEMENT *x = taus + count;
  NAME(load)(b, 0, a, 1, ld);
  NAME(load)(b, 1, taus, 1, 1);
  NAME(load)(b, 2, x, 1, x_ld);
  for (int64_t step = 0; step < count; step++) {
    int64_t k = left == adjoint ? step : count - 1 - step;
    OF(reflect)
    (left ? n : m, !left, order - k, a + k + 1 + k * ld, adjoint ? OF(conj)(taus[k]) : taus[k],
     left ? x + k : x + k * x_ld, left ? 1 : x_ld, left ? x_ld : 1);
  }
  NAME(store)(b, 0, x, 1, x_ld);
}
