// Of lanes.c, for one element type and vector width, and in the words of lanes_real.h or lanes_complex.h: Schur's form by Francis's
// double steps (Golub and Van Loan, Matrix Computations, 7.5). Lanes whose matrices would go different ways take every step together,
// and those that have nothing to do in one reflect by nothing.

typedef struct OF(schur) {
  int64_t n, ld;
  ELEMENT *a;
  ELEMENT *z;                     // the product of all reflectors; NULL: not wanted
  MASK active, low, high, steps;  // the block that is worked on, and for how long already
} OF(schur);

INLINE ELEMENT *OF(schur_at)(const OF(schur) * s, int64_t i, int64_t j) { return &s->a[i + j * s->ld]; }

// Of a reflector at row |k| with |count| elements: the rest of them are in |v|. Columns to the left of |k| are left alone, rows
// from |rows| on have nothing but 0 there.
INLINE void OF(schur_reflect)(const OF(schur) * s, int64_t k, int64_t count, const ELEMENT *v, ELEMENT tau,
                              int64_t rows) {
  OF(reflect)(s->n - k, false, count, v, OF(conj)(tau), OF(schur_at)(s, k, k), 1, s->ld);
  OF(reflect)(rows, true, count, v, tau, OF(schur_at)(s, 0, k), s->ld, 1);
  if (s->z != NULL) {
    OF(reflect)(s->n, true, count, v, tau, s->z + k * s->ld, s->ld, 1);
  }
}

TARGET static void OF(hessenberg)(const OF(schur) * s, ELEMENT *taus) {
  ELEMENT zero = OF(from_real)((VECTOR){0});
  taus[s->n > 1 ? s->n - 2 : 0] = zero;
  for (int64_t k = 0; k + 2 < s->n; k++) {
    ELEMENT *v = OF(schur_at)(s, k + 1, k);
    int64_t size = s->n - k - 1;
    taus[k] = OF(reflector)(size - 1, v, v + 1);
    OF(reflect)(size, false, size, v + 1, OF(conj)(taus[k]), v + s->ld, 1, s->ld);
    OF(reflect)(s->n, true, size, v + 1, taus[k], OF(schur_at)(s, 0, k + 1), s->ld, 1);
  }
  if (s->z != NULL) {
    memcpy(s->z, s->a, (size_t)(s->n * s->ld) * sizeof *s->z);
    OF(tridiagonal_q)(s->n, s->z, s->ld, taus);
  }
  for (int64_t j = 0; j < s->n; j++) {
    for (int64_t i = j + 2; i < s->n; i++) {
      *OF(schur_at)(s, i, j) = zero;
    }
  }
}

// Makes negligible elements below the diagonal 0 and finds each lane's last block of more than two rows. The largest elements
// of the matrices are next to 1.
TARGET static void OF(find_blocks)(OF(schur) * s) {
  const REAL epsilon = sizeof(REAL) == 4 ? (REAL)FLT_EPSILON : (REAL)DBL_EPSILON;
  MASK none = {0};
  MASK active = none;
  MASK is_open = none;  // the block's first row is not found yet
  MASK couples_below = none;
  MASK low = none;
  MASK high = none;
  for (int64_t k = s->n - 1; k > 0; k--) {
    ELEMENT *x = OF(schur_at)(s, k, k - 1);
    VECTOR near = OF(pivot_size)(*OF(schur_at)(s, k - 1, k - 1)) + OF(pivot_size)(*OF(schur_at)(s, k, k));
    MASK couples = OF(pivot_size)(*x) > epsilon / 2 * near + epsilon * epsilon;
    *x = OF(select)(couples, *x, OF(from_real)((VECTOR){0}));
    low = NAME(select_int)(is_open & ~couples, NAME(all_int)(k), low);
    is_open &= couples;
    MASK begins = couples & couples_below & ~active;
    high = NAME(select_int)(begins, NAME(all_int)(k + 1), high);
    active |= begins;
    is_open |= begins;
    couples_below = couples;
  }
  s->steps = (s->steps + 1) & (high == s->high);
  s->active = active;
  s->low = low;
  s->high = high;
}

// The first column of (a - shift 1) (a - shift 2) on each lane's block, where it is not 0, divided by one of its factors. The shifts
// are the eigenvalues of the block's last two rows, or now and then others, so that no block stays as it is.
TARGET static void OF(first_column)(OF(schur) * s, ELEMENT *out) {
  enum { PATIENCE = 10 };
  ELEMENT zero = OF(from_real)((VECTOR){0});
  ELEMENT one = OF(from_real)(NAME(all)(1));
  ELEMENT last = zero;
  ELEMENT before = zero;
  ELEMENT product = zero;
  VECTOR size = {0};
  for (int64_t k = 2; k < s->n; k++) {
    MASK here = s->active & (s->high == NAME(all_int)(k));
    ELEMENT x = *OF(schur_at)(s, k, k - 1);
    last = OF(select)(here, *OF(schur_at)(s, k, k), last);
    before = OF(select)(here, *OF(schur_at)(s, k - 1, k - 1), before);
    product = OF(select)(here, OF(times)(x, *OF(schur_at)(s, k - 1, k)), product);
    size = NAME(select)(here, OF(pivot_size)(x) + OF(pivot_size)(*OF(schur_at)(s, k - 1, k - 2)), size);
  }
  MASK is_stuck = s->steps > NAME(all_int)(PATIENCE - 1);
  s->steps &= ~is_stuck;
  last = OF(select)(is_stuck, OF(plus)(last, OF(from_real)(size * (REAL)0.75)), last);
  before = OF(select)(is_stuck, last, before);
  product = OF(select)(is_stuck, OF(from_real)(size * size * (REAL)-0.4375), product);
  ELEMENT first = zero;
  ELEMENT beside = zero;
  ELEMENT below = one;
  ELEMENT next = zero;
  ELEMENT third = zero;
  for (int64_t k = 0; k + 2 < s->n; k++) {
    MASK here = s->active & (s->low == NAME(all_int)(k));
    first = OF(select)(here, *OF(schur_at)(s, k, k), first);
    beside = OF(select)(here, *OF(schur_at)(s, k, k + 1), beside);
    below = OF(select)(here, *OF(schur_at)(s, k + 1, k), below);
    next = OF(select)(here, *OF(schur_at)(s, k + 1, k + 1), next);
    third = OF(select)(here, *OF(schur_at)(s, k + 2, k + 1), third);
  }
  OF(divisor) divisor = OF(divisor_of)(below, false);
  last = OF(minus)(last, first);
  before = OF(minus)(before, first);
  product = OF(minus)(OF(times)(last, before), product);
  out[0] = OF(plus)(OF(quotient)(product, &divisor), beside);
  out[1] = OF(minus)(OF(minus)(OF(minus)(next, first), last), before);
  out[2] = third;
}

// Chases the bulge of three rows down each lane's block.
TARGET static void OF(francis_step)(OF(schur) * s) {
  ELEMENT zero = OF(from_real)((VECTOR){0});
  ELEMENT start[3];
  OF(first_column)(s, start);
  for (int64_t k = 0; k + 1 < s->n; k++) {
    MASK here = s->active & (s->low <= NAME(all_int)(k)) & (s->high > NAME(all_int)(k));
    MASK starts = here & (s->low == NAME(all_int)(k));
    if (!NAME(any)(here)) {
      continue;
    }
    int64_t count = k + 2 < s->n ? 3 : 2;
    ELEMENT v[3];
    for (int64_t i = 0; i < count; i++) {
      v[i] = k == 0 ? start[i] : OF(select)(starts, start[i], *OF(schur_at)(s, k + i, k - 1));
    }
    v[2] = count == 3 ? OF(select)(here & (s->high == NAME(all_int)(k + 1)), zero, v[2]) : zero;
    ELEMENT tau = OF(reflector)(count - 1, &v[0], &v[1]);
    tau = OF(select)(here, tau, zero);
    for (int64_t i = 0; i < count && k > 0; i++) {
      ELEMENT *x = OF(schur_at)(s, k + i, k - 1);
      *x = OF(select)(here & ~starts, i == 0 ? v[0] : zero, *x);
    }
    OF(schur_reflect)(s, k, count, v + 1, tau, k + 4 < s->n ? k + 4 : s->n);
  }
}

// Blocks of two rows become triangles where they have eigenvalues of the elements' kind.
TARGET static void OF(split_pairs)(const OF(schur) * s) {
  ELEMENT zero = OF(from_real)((VECTOR){0});
  for (int64_t k = 0; k + 1 < s->n; k++) {
    ELEMENT *below = OF(schur_at)(s, k + 1, k);
    MASK splits = OF(pivot_size)(*below) > 0;
    if (!NAME(any)(splits)) {
      continue;
    }
    ELEMENT last = *OF(schur_at)(s, k + 1, k + 1);
    ELEMENT p = OF(times_real)(OF(minus)(*OF(schur_at)(s, k, k), last), NAME(all)((REAL)0.5));
    ELEMENT q = OF(plus_product)(OF(times)(p, p), *OF(schur_at)(s, k, k + 1), *below);
    ELEMENT v[2] = {zero, *below};  // an eigenvector
    splits &= OF(larger_root)(p, q, &v[0]);
    ELEMENT tau = OF(reflector)(1, &v[0], &v[1]);
    OF(schur_reflect)(s, k, 2, v + 1, OF(select)(splits, tau, zero), k + 2);
    *below = OF(select)(splits, zero, *below);
  }
}

// Returns info.
TARGET static MASK OF(schur_of)(OF(schur) * s, ELEMENT *taus) {
  enum { MOST_STEPS = 30 };  // for each row; of small matrices as for ten
  MASK info = {0};
  OF(hessenberg)(s, taus);
  for (int64_t steps = 0;; steps++) {
    OF(find_blocks)(s);
    if (!NAME(any)(s->active)) {
      break;
    }
    if (steps == MOST_STEPS * (s->n > 10 ? s->n : 10)) {
      info = NAME(select_int)(s->active, s->high + 1, info);
      break;
    }
    OF(francis_step)(s);
  }
  OF(split_pairs)(s);
  return info;
}
