// Of lanes.c, for one element type and vector width: eigenvalues of real tridiagonal matrices, by implicit QL steps (Golub and
// Van Loan, Matrix Computations, 8.3). Lanes whose matrices would go different ways take every step together, and those that have
// nothing to do in one rotate by nothing.

INLINE void NAME(rotate)(int64_t n, VECTOR *x, VECTOR *y, VECTOR c, VECTOR s) {
  for (int64_t i = 0; i < n; i++) {
    VECTOR first = c * x[i] - s * y[i];
    y[i] = s * x[i] + c * y[i];
    x[i] = first;
  }
}

// One implicit QL step with Wilkinson's shift on rows |l| to |m| of the tridiagonal matrices where |active|; |most|: the largest m.
// The rotations are applied to the columns of q, |height| vectors each.
TARGET static void NAME(ql_step)(int64_t height, int64_t l, int64_t most, MASK m, MASK active, VECTOR last, VECTOR *d,
                                 VECTOR *e, VECTOR *q, int64_t ld) {
  // Sums of squares below this are treated as 0: next to underflow they have too few digits, and leaving them out is less than the
  // rounding error.
  const REAL nothing = sizeof(REAL) == 4 ? (REAL)1e-30 : (REAL)1e-290;
  VECTOR g = (d[l + 1] - d[l]) / (2 * e[l]);
  VECTOR r = NAME(sqrt)(g * g + 1);
  g = last - d[l] + e[l] / (g + NAME(select)(g < 0, -r, r));
  VECTOR s = NAME(all)(1);
  VECTOR c = s;
  VECTOR p = {0};
  MASK whole = active;
  for (int64_t i = most - 1; i >= l; i--) {
    MASK here = whole & (m > NAME(all_int)(i));
    VECTOR f = s * e[i];
    VECTOR b = c * e[i];
    VECTOR square = f * f + g * g;
    MASK splits = here & (square < nothing);
    r = NAME(sqrt)(square);
    e[i + 1] = NAME(select)(splits, (VECTOR){0}, NAME(select)(here, r, e[i + 1]));
    d[i + 1] = NAME(select)(splits, d[i + 1] - p, d[i + 1]);
    whole &= ~splits;
    here &= ~splits;
    s = NAME(select)(here, f / r, s);
    c = NAME(select)(here, g / r, c);
    VECTOR next = d[i + 1] - p;
    r = (d[i] - next) * s + 2 * c * b;
    p = NAME(select)(here, s * r, p);
    d[i + 1] = NAME(select)(here, next + p, d[i + 1]);
    g = NAME(select)(here, c * r - b, g);
    if (q != NULL) {
      NAME(rotate)
      (height, q + i * ld, q + (i + 1) * ld, NAME(select)(here, c, NAME(all)(1)), NAME(select)(here, s, (VECTOR){0}));
    }
  }
  d[l] = NAME(select)(whole, d[l] - p, d[l]);
  e[l] = NAME(select)(whole, g, e[l]);
  for (int64_t i = l; i <= most; i++) {
    e[i] = NAME(select)(active & (m == NAME(all_int)(i)), (VECTOR){0}, e[i]);
  }
}

// Makes the tridiagonal matrices diagonal; their largest elements are next to 1. Returns info.
TARGET static MASK NAME(ql)(int64_t n, VECTOR *d, VECTOR *e, int64_t height, VECTOR *q, int64_t ld) {
  enum { MOST_STEPS = 60 };
  const REAL epsilon = sizeof(REAL) == 4 ? (REAL)FLT_EPSILON : (REAL)DBL_EPSILON;
  MASK info = {0};
  for (int64_t l = 0; l + 1 < n; l++) {
    for (int steps = 0;; steps++) {
      MASK m = NAME(all_int)(n - 1);
      VECTOR last = d[n - 1];
      int64_t most = n - 1;
      for (int64_t i = n - 2; i >= l; i--) {
        VECTOR limit = epsilon / 2 * (NAME(abs)(d[i]) + NAME(abs)(d[i + 1])) + epsilon * epsilon;
        MASK ends = NAME(abs)(e[i]) <= limit;
        m = NAME(select_int)(ends, NAME(all_int)(i), m);
        last = NAME(select)(ends, d[i], last);
        most = most == i + 1 && !NAME(any)(m > NAME(all_int)(i)) ? i : most;
      }
      MASK active = m > NAME(all_int)(l);
      if (!NAME(any)(active)) {
        break;
      }
      if (steps == MOST_STEPS) {  // these lanes have nothing left to do
        info = NAME(select_int)(active, NAME(all_int)(l + 1), info);
        for (int64_t i = l; i < n; i++) {
          e[i] = NAME(select)(active, (VECTOR){0}, e[i]);
        }
        break;
      }
      NAME(ql_step)(height, l, most, m, active, last, d, e, q, ld);
    }
  }
  return info;
}

// The places of each lane's |n| keys in ascending or descending order: |order|, LANES for each place.
TARGET static void NAME(sort)(int64_t n, const VECTOR *keys, bool descending, int32_t *order) {
  for (int64_t l = 0; l < LANES; l++) {
    for (int64_t j = 0; j < n; j++) {
      REAL key = keys[j][l];
      int64_t at = j;
      for (; at > 0; at--) {
        REAL before = keys[order[(at - 1) * LANES + l]][l];
        if (descending ? before >= key : before <= key) {
          break;
        }
        order[at * LANES + l] = order[(at - 1) * LANES + l];
      }
      order[at * LANES + l] = (int32_t)j;
    }
  }
}

// Columns of |n| elements in that order.
TARGET static void NAME(permute)(int64_t n, int64_t columns, const int32_t *order, const VECTOR *from, int64_t from_ld,
                                 VECTOR *to, int64_t to_ld) {
  for (int64_t j = 0; j < columns; j++) {
    for (int64_t l = 0; l < LANES; l++) {
      const REAL *source = (const REAL *)(from + order[j * LANES + l] * from_ld) + l;
      REAL *target = (REAL *)(to + j * to_ld) + l;
      for (int64_t i = 0; i < n; i++) {
        target[i * LANES] = source[i * LANES];
      }
    }
  }
}
