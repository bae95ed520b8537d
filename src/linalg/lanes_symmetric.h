// Of lanes.c, for one element type and vector width, and in the words of lanes_real.h or lanes_complex.h: eigenvalues of symmetric
// and Hermitian matrices, by Householder's real tridiagonal form (Golub and Van Loan, Matrix Computations, 8.3) and lanes_ql.h.

// Makes the lower triangle tridiagonal; below the first subdiagonal are then the reflectors. |w| has room for n.
TARGET static void OF(tridiagonalize)(int64_t n, ELEMENT *a, int64_t ld, VECTOR *d, VECTOR *e, ELEMENT *taus,
                                      ELEMENT *w) {
  for (int64_t k = 0; k + 1 < n; k++) {
    ELEMENT *v = a + k + 1 + k * ld;  // its 1 stands where e belongs meanwhile
    int64_t size = n - k - 1;
    ELEMENT *rest = a + (k + 1) * (1 + ld);
    taus[k] = OF(reflector)(size - 1, v, v + 1);
    d[k] = OF(real_part)(a[k + k * ld]);
    e[k] = OF(real_part)(v[0]);
    v[0] = OF(from_real)(NAME(all)(1));
    for (int64_t i = 0; i < size; i++) {
      w[i] = OF(from_real)((VECTOR){0});
    }
    ELEMENT dot = OF(from_real)((VECTOR){0});
    for (int64_t j = 0; j < size; j++) {  // w = tau a v
      ELEMENT sum = OF(plus_product)(w[j], rest[j + j * ld], v[j]);
      for (int64_t i = j + 1; i < size; i++) {
        w[i] = OF(plus_product)(w[i], rest[i + j * ld], v[j]);
        sum = OF(plus_product)(sum, OF(conj)(rest[i + j * ld]), v[i]);
      }
      w[j] = OF(times)(sum, taus[k]);
      dot = OF(plus_product)(dot, OF(conj)(w[j]), v[j]);
    }
    dot = OF(times)(dot, OF(times_real)(taus[k], NAME(all)((REAL)0.5)));
    for (int64_t i = 0; i < size; i++) {
      w[i] = OF(minus_product)(w[i], dot, v[i]);
    }
    for (int64_t j = 0; j < size; j++) {  // a -= v w^H + w v^H
      ELEMENT vj = OF(conj)(v[j]);
      ELEMENT wj = OF(conj)(w[j]);
      for (int64_t i = j; i < size; i++) {
        rest[i + j * ld] = OF(minus_product)(OF(minus_product)(rest[i + j * ld], v[i], wj), w[i], vj);
      }
    }
  }
  d[n - 1] = OF(real_part)(a[(n - 1) * (1 + ld)]);
  e[n - 1] = (VECTOR){0};
}

// Replaces the reflectors by the product of them.
TARGET static void OF(tridiagonal_q)(int64_t n, ELEMENT *a, int64_t ld, const ELEMENT *taus) {
  for (int64_t j = n - 1; j > 0; j--) {
    for (int64_t i = 1; i < n; i++) {
      a[i + j * ld] = a[i + (j - 1) * ld];
    }
  }
  for (int64_t i = 0; i < n; i++) {
    a[i] = a[i * ld] = OF(from_real)((VECTOR){0});
  }
  a[0] = OF(from_real)(NAME(all)(1));
  OF(q)(n - 1, n - 1, n - 1, a + 1 + ld, ld, taus);
}

// Of 1 x 1 matrices: the element, whatever it is.
TARGET static void OF(syevd_of_one)(const indim_lanes_block *b, ELEMENT *x, bool vectors) {
  MASK info = {0};
  VECTOR value = OF(real_part)(*x);
  ELEMENT vector = vectors ? OF(from_real)(NAME(all)(1)) : *x;
  NAME(store)(b, 0, &vector, 1, 1);
  NAME(store)(b, 1, &value, 1, 1);
  NAME(store_ints)(b, 2, &info);
}

TARGET static void OF(syevd)(const indim_lanes_block *b, ELEMENT *scratch) {
  bool lower = b->attrs.uplo == 'L';
  bool vectors = b->attrs.mode == 'V';
  int64_t n = indim_linalg_size(b->call, 'n');
  int64_t ld = indim_lanes_step(n);
  ELEMENT *a = scratch;
  ELEMENT *sorted = a + n * ld;
  ELEMENT *taus = sorted + n * ld;
  ELEMENT *w = taus + n;
  VECTOR *d = (VECTOR *)(w + n);
  VECTOR *e = d + n;
  VECTOR inverse;
  int32_t *order = (int32_t *)w;
  NAME(load)(b, 0, a, 1, ld);
  if (n == 1) {
    OF(syevd_of_one)(b, a, vectors);
    return;
  }
  if (!vectors) {
    NAME(store)(b, 0, a, 1, ld);
  }
  for (int64_t j = 0; j < n; j++) {
    for (int64_t i = 0; i < ld; i++) {
      ELEMENT *x = &a[i + j * ld];
      *x = i < j || i >= n ? OF(from_real)((VECTOR){0}) : lower ? *x : OF(conj)(a[j + i * ld]);
      *x = i == j ? OF(from_real)(OF(real_part)(*x)) : *x;
    }
  }
  MASK is_finite = NAME(scale_all)(PARTS * n * ld, (VECTOR *)a, &inverse);
  OF(tridiagonalize)(n, a, ld, d, e, taus, w);
  if (vectors) {
    OF(tridiagonal_q)(n, a, ld, taus);
  }
  MASK info = NAME(ql)(n, d, e, PARTS * n, vectors ? (VECTOR *)a : NULL, PARTS * ld);
  NAME(sort)(n, d, false, order);
  NAME(permute)(1, n, order, d, 1, e, 1);
  for (int64_t j = 0; j < n; j++) {
    e[j] *= inverse;
  }
  NAME(nan_unless)(is_finite, n, e);
  if (vectors) {
    NAME(permute)(PARTS * n, n, order, (VECTOR *)a, PARTS * ld, (VECTOR *)sorted, PARTS * ld);
    if (NAME(any)(~is_finite)) {
      NAME(nan_unless)(is_finite, PARTS * n * ld, sorted);
    }
    NAME(store)(b, 0, sorted, 1, ld);
  }
  NAME(store)(b, 1, e, 1, 1);
  NAME(store_ints)(b, 2, &info);
}
