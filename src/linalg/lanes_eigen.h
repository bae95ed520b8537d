// Of lanes.c, for one element type and vector width, and in the words of lanes_real.h or lanes_complex.h: eigenvalues and eigenvectors
// of general matrices, from Schur's form by substitution. They are complex, whatever the matrix is.
#define COMPLEX NAME(pair)

// t, of which a pair of rows is a block, times elements of a vector are the vector times the value.
typedef struct OF(eigen) {
  int64_t n;
  const ELEMENT *t;  // steps may be negative
  int64_t t_i, t_j;
  const COMPLEX *values;
  int64_t step;
  const ELEMENT *z;  // what turns the vectors; elements of a column are next to each other
  int64_t z_step;
} OF(eigen);

INLINE ELEMENT OF(eigen_at)(const OF(eigen) * e, int64_t i, int64_t j) { return e->t[i * e->t_i + j * e->t_j]; }

// Whether rows |i| - 1 and |i| are a pair.
INLINE MASK OF(is_pair)(const OF(eigen) * e, int64_t i) {
  return i > 0 && i < e->n ? OF(pivot_size)(OF(eigen_at)(e, i, i - 1)) > 0 : (MASK){0};
}

// The difference of a diagonal element and the value.
INLINE COMPLEX OF(eigen_shifted)(const OF(eigen) * e, int64_t i, COMPLEX value) {
  return NAME(complex_minus)(OF(to_complex)(OF(eigen_at)(e, i, i)), value);
}

// Solves for both elements of the pair that begins at row |i|; x[i] and x[i + 1] are their right sides. Pivots are the larger of a
// column, and at least |least|.
INLINE void OF(solve_pair)(const OF(eigen) * e, int64_t i, MASK pred, COMPLEX value, REAL least, COMPLEX *x) {
  COMPLEX a = OF(eigen_shifted)(e, i, value);
  COMPLEX b = OF(to_complex)(OF(eigen_at)(e, i, i + 1));
  COMPLEX c = OF(to_complex)(OF(eigen_at)(e, i + 1, i));
  COMPLEX d = OF(eigen_shifted)(e, i + 1, value);
  MASK swaps = NAME(complex_largest_part)(c) > NAME(complex_largest_part)(a);
  COMPLEX pivot = NAME(complex_select)(swaps, c, a);
  COMPLEX beside = NAME(complex_select)(swaps, d, b);
  COMPLEX side = NAME(complex_select)(swaps, x[i + 1], x[i]);
  COMPLEX factor = NAME(complex_divide)(NAME(complex_select)(swaps, a, c), pivot, least);
  COMPLEX last = NAME(complex_minus)(NAME(complex_select)(swaps, b, d), NAME(complex_times)(factor, beside));
  COMPLEX last_side =
      NAME(complex_minus)(NAME(complex_select)(swaps, x[i], x[i + 1]), NAME(complex_times)(factor, side));
  COMPLEX second = NAME(complex_divide)(last_side, last, least);
  COMPLEX first = NAME(complex_divide)(NAME(complex_minus)(side, NAME(complex_times)(beside, second)), pivot, least);
  x[i] = NAME(complex_select)(pred, first, x[i]);
  x[i + 1] = NAME(complex_select)(pred, second, x[i + 1]);
}

// Scales down where element |i| or the one behind it has grown so far that its square would overflow soon.
INLINE void OF(shrink)(int64_t i, int64_t end, COMPLEX *x) {
  const REAL most = sizeof(REAL) == 4 ? (REAL)1e10 : (REAL)1e100;
  VECTOR size = NAME(complex_largest_part)(x[i]);
  VECTOR next = NAME(complex_largest_part)(x[i + 1 < end ? i + 1 : i]);
  size = NAME(select)(next > size, next, size);
  MASK is_large = size > most;
  if (!NAME(any)(is_large)) {
    return;
  }
  VECTOR scale, inverse;
  NAME(scale)(size, &scale, &inverse);
  scale = NAME(select)(is_large, scale, NAME(all)(1));
  for (int64_t k = i; k < end; k++) {
    x[k] = NAME(complex_times_real)(x[k], scale);
  }
}

// (t - value j) x = 0, with nothing behind x[j], or behind x[j + 1] where a pair begins at j. Returns how many elements x has. A
// divisor that vanishes is replaced by one next to nothing.
TARGET static int64_t OF(triangular_vector)(const OF(eigen) * e, int64_t j, COMPLEX *x) {
  const REAL epsilon = sizeof(REAL) == 4 ? (REAL)FLT_EPSILON : (REAL)DBL_EPSILON;
  COMPLEX value = e->values[j * e->step];
  COMPLEX zero = {{0}, {0}};
  COMPLEX one = {NAME(all)(1), {0}};
  MASK begins = OF(is_pair)(e, j + 1);
  int64_t end = j + 1;
  x[j] = one;
  if (NAME(any)(begins)) {
    x[j] = NAME(complex_select)(begins, NAME(complex_minus)(value, OF(to_complex)(OF(eigen_at)(e, j + 1, j + 1))), one);
    x[j + 1] = NAME(complex_select)(begins, OF(to_complex)(OF(eigen_at)(e, j + 1, j)), zero);
    end = j + 2;
  }
  for (int64_t i = j - 1; i >= 0; i--) {
    MASK is_first = i + 1 < j ? OF(is_pair)(e, i + 1) : (MASK){0};
    MASK is_second = OF(is_pair)(e, i);
    COMPLEX side = zero;
    for (int64_t k = i + 2; k < end; k++) {
      side = OF(minus_multiple)(side, OF(eigen_at)(e, i, k), x[k]);
    }
    side = NAME(complex_select)(is_first, side, OF(minus_multiple)(side, OF(eigen_at)(e, i, i + 1), x[i + 1]));
    x[i] = NAME(complex_select)(is_first | is_second, side,
                                NAME(complex_divide)(side, OF(eigen_shifted)(e, i, value), epsilon));
    if (NAME(any)(is_first)) {
      OF(solve_pair)(e, i, is_first, value, epsilon, x);
    }
    OF(shrink)(i, end, x);
  }
  return end;
}

// out = z x, of length 1, the largest element real and positive (and so of whatever sign it was before).
TARGET static void OF(turn_vector)(const OF(eigen) * e, int64_t end, const COMPLEX *x, MASK is_real, COMPLEX *out) {
  VECTOR sum = {0};
  VECTOR most = {0};
  COMPLEX largest = {NAME(all)(1), {0}};
  MASK at = {0};
  for (int64_t i = 0; i < e->n; i++) {
    COMPLEX y = {{0}, {0}};
    for (int64_t k = 0; k < end; k++) {
      y = OF(minus_multiple)(y, e->z[i + k * e->z_step], x[k]);
    }
    VECTOR square = NAME(complex_square)(y);
    MASK is_larger = square > most;
    most = NAME(select)(is_larger, square, most);
    largest = NAME(complex_select)(is_larger, y, largest);
    at = NAME(select_int)(is_larger, NAME(all_int)(i), at);
    sum += square;
    out[i] = y;
  }
  VECTOR length = NAME(sqrt)(sum);
  VECTOR size = NAME(sqrt)(most);
  largest = NAME(complex_times_real)(largest, 1 / (size * length));
  for (int64_t i = 0; i < e->n; i++) {
    MASK is_largest = at == NAME(all_int)(i);
    out[i] = NAME(complex_turn_back)(out[i], largest);
    out[i].re = NAME(select)(is_largest, size / length, out[i].re);
    out[i].im = NAME(select)(is_largest | is_real, (VECTOR){0}, out[i].im);
  }
}

// The vectors of a pair are conjugate to each other.
TARGET static void OF(eigenvectors)(const OF(eigen) * e, COMPLEX *x, COMPLEX *out, int64_t out_step) {
  for (int64_t j = 0; j < e->n; j++) {
    COMPLEX *to = out + j * out_step;
    MASK is_real = PARTS == 1 ? e->values[j * e->step].im == 0 : (MASK){0};
    int64_t end = OF(triangular_vector)(e, j, x);
    OF(turn_vector)(e, end, x, is_real, to);
    MASK ends = OF(is_pair)(e, j);
    for (int64_t i = 0; i < e->n && NAME(any)(ends); i++) {
      to[i] = NAME(complex_select)(ends, NAME(complex_conj)(to[i - out_step]), to[i]);
    }
  }
}

TARGET static void OF(read_values)(const OF(schur) * s, COMPLEX *values) {
  for (int64_t j = 0; j < s->n; j++) {
    values[j] = OF(to_complex)(*OF(schur_at)(s, j, j));
  }
  for (int64_t j = 0; j + 1 < s->n; j++) {
    ELEMENT below = *OF(schur_at)(s, j + 1, j);
    MASK pair = OF(pivot_size)(below) > 0;
    if (!NAME(any)(pair)) {
      continue;
    }
    VECTOR first = OF(real_part)(*OF(schur_at)(s, j, j));
    VECTOR second = OF(real_part)(*OF(schur_at)(s, j + 1, j + 1));
    VECTOR p = (first - second) / 2;
    VECTOR size = NAME(sqrt)(-(p * p + OF(real_part)(OF(times)(*OF(schur_at)(s, j, j + 1), below))));
    VECTOR middle = second + p;
    values[j] = NAME(complex_select)(pair, (COMPLEX){middle, size}, values[j]);
    values[j + 1] = NAME(complex_select)(pair, (COMPLEX){middle, -size}, values[j + 1]);
  }
}

// Left vectors are right ones of the adjoint matrix; rows and columns from the last to the first, that is of the same form.
TARGET static void OF(left_eigenvectors)(const OF(schur) * s, COMPLEX *values, COMPLEX *x, COMPLEX *out) {
  int64_t n = s->n;
  for (int64_t i = 0; i < n * s->ld; i++) {
    s->a[i] = OF(conj)(s->a[i]);
  }
  for (int64_t j = 0; j < n; j++) {
    values[j] = NAME(complex_conj)(values[j]);
  }
  const OF(eigen)
      e = {n, OF(schur_at)(s, n - 1, n - 1), -s->ld, -1, values + n - 1, -1, s->z + (n - 1) * s->ld, -s->ld};
  OF(eigenvectors)(&e, x, out + (n - 1) * s->ld, -s->ld);
}

TARGET static void OF(store_values)(const indim_lanes_block *b, int64_t n, const COMPLEX *values) {
  if (PARTS == 2) {
    NAME(store)(b, 0, values, 1, 1);
    return;
  }
  VECTOR parts[2 * MOST_SIDE];
  for (int64_t j = 0; j < n; j++) {
    parts[j] = values[j].re;
    parts[MOST_SIDE + j] = values[j].im;
  }
  NAME(store)(b, 0, parts, 1, 1);
  NAME(store)(b, 1, parts + MOST_SIDE, 1, 1);
}

TARGET static void OF(geev)(const indim_lanes_block *b, ELEMENT *scratch) {
  enum { FIRST = PARTS == 2 ? 1 : 2, INFO_IF_NOT_FINITE = -4 };  // result of vectors
  const bool wants[2] = {b->attrs.compute_left == 'V', b->attrs.compute_right == 'V'};
  int64_t n = indim_linalg_size(b->call, 'n');
  int64_t ld = indim_lanes_step(n);
  OF(schur) s = {.n = n, .ld = ld, .a = scratch};
  ELEMENT *z = s.a + n * ld;
  ELEMENT *taus = z + n * ld;
  COMPLEX *values = (COMPLEX *)(taus + n);
  COMPLEX *x = values + n;
  COMPLEX *vectors = x + n;
  VECTOR inverse;
  s.z = wants[0] || wants[1] ? z : NULL;
  NAME(load)(b, 0, s.a, 1, ld);
  for (int64_t j = 0; j < n && ld > n; j++) {
    s.a[n + j * ld] = OF(from_real)((VECTOR){0});
  }
  MASK is_finite = NAME(scale_all)(PARTS * n * ld, (VECTOR *)s.a, &inverse);
  MASK info = OF(schur_of)(&s, taus);
  OF(read_values)(&s, values);
  for (int right = 1; right >= 0; right--) {
    if (!wants[right]) {
      const COMPLEX nothing = {{0}, {0}};
      NAME(store)(b, FIRST + right, &nothing, 0, 0);
      continue;
    }
    if (right) {
      const OF(eigen) e = {n, s.a, 1, ld, values, 1, z, ld};
      OF(eigenvectors)(&e, x, vectors, ld);
    } else {
      OF(left_eigenvectors)(&s, values, x, vectors);
    }
    if (NAME(any)(~is_finite)) {
      NAME(nan_unless)(is_finite, 2 * n * ld, vectors);
    }
    NAME(store)(b, FIRST + right, vectors, 1, ld);
  }
  for (int64_t j = 0; j < n; j++) {
    values[j] = NAME(complex_times_real)(wants[0] ? NAME(complex_conj)(values[j]) : values[j], inverse);
  }
  NAME(nan_unless)(is_finite, 2 * n, values);
  OF(store_values)(b, n, values);
  info = NAME(select_int)(is_finite, info, NAME(all_int)(INFO_IF_NOT_FINITE));
  NAME(store_ints)(b, FIRST + 2, &info);
}
#undef COMPLEX
