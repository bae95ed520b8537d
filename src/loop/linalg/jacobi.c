// Symmetric eigenvalues and singular values by Jacobi's method (Golub and Van Loan, Matrix Computations, 8.5 and 8.6):
// rotations of two rows and columns at a time, all pairs in a fixed order, until nothing is left to rotate in any lane.
#include <float.h>
#include <math.h>

#include <string.h>

#include "loop/ir/build.h"
#include "loop/linalg/code.h"

enum { MOST_SWEEPS = 30 };

// Rotations ------------------------------------------------------------------------------------------------------------

typedef struct rotation {
  value tangent, cosine, sine;
} rotation;

// The rotation that makes the symmetric matrix (p, x; x, q) diagonal, |d| = q - p. Of its two angles the smaller one.
static rotation rotation_of(const indim_matrix_code *c, value d, value x) {
  value zero = indim_code_real(c, 0);
  value one = indim_code_real(c, 1);
  value twice = indim_code_add(c, x, x);
  value root = indim_code_sqrt(c, indim_code_mul_add(c, d, d, indim_code_mul(c, twice, twice)));
  value divisor = indim_code_add(c, indim_code_abs(c, d), root);
  value is_negative = indim_code_compare(c, INDIM_COMPARE_LT, d, zero);
  value is_done = indim_code_compare(c, INDIM_COMPARE_EQ, divisor, zero);
  value signed_twice = indim_code_select(c, is_negative, indim_code_neg(c, twice), twice);
  value tangent =
      indim_code_select(c, is_done, zero, indim_code_div(c, signed_twice, indim_code_select(c, is_done, one, divisor)));
  value length = indim_code_sqrt(c, indim_code_mul_add(c, tangent, tangent, one));
  value cosine = indim_code_div(c, one, length);
  return (rotation){tangent, cosine, indim_code_mul(c, tangent, cosine)};
}

// (x, y) becomes (c x - s y, s x + c y).
static void rotate(const indim_matrix_code *c, const rotation *r, value *x, value *y) {
  value first = indim_code_mul_sub(c, r->sine, *y, indim_code_mul(c, r->cosine, *x));
  *y = indim_code_mul_add(c, r->sine, *x, indim_code_mul(c, r->cosine, *y));
  *x = first;
}

static void rotate_columns(const indim_matrix_code *c, const rotation *r, int64_t rows, value *a, int64_t p,
                           int64_t q) {
  for (int64_t i = 0; i < rows; i++) {
    rotate(c, r, &a[i + p * rows], &a[i + q * rows]);
  }
}

static void identity(const indim_matrix_code *c, int64_t n, value *v) {
  for (int64_t i = 0; i < n * n; i++) {
    v[i] = indim_code_real(c, i % n == i / n ? 1 : 0);
  }
}

// Sweeps ---------------------------------------------------------------------------------------------------------------

// What a sweep changes: the matrix that is made diagonal or orthogonal, and the product of the rotations.
typedef struct sweep {
  int64_t rows, columns;  // of |a|; the rotations are of |columns| dimensions
  value *a, *v;           // |v|: NULL if the vectors are not wanted
  value rest;             // what is left to do: 0 or less when a lane is done
  // Does all pairs and sets |rest|.
  void (*run)(const indim_matrix_code *c, struct sweep *s);
} sweep;

// Carried through the loop: a, v, the rest, and the number of sweeps.
static int32_t gather(const sweep *s, value *out) {
  int32_t count = 0;
  for (int64_t i = 0; i < s->rows * s->columns; i++) {
    out[count++] = s->a[i];
  }
  for (int64_t i = 0; i < s->columns * s->columns && s->v != NULL; i++) {
    out[count++] = s->v[i];
  }
  out[count++] = s->rest;
  return count;
}

static void spread(sweep *s, const value *from) {
  for (int64_t i = 0; i < s->rows * s->columns; i++) {
    s->a[i] = *from++;
  }
  for (int64_t i = 0; i < s->columns * s->columns && s->v != NULL; i++) {
    s->v[i] = *from++;
  }
  s->rest = *from;
}

// Sweeps while a lane has something left, MOST_SWEEPS times at the most (five to eight suffice).
static void run_sweeps(const indim_matrix_code *c, sweep *s) {
  int64_t room = s->rows * s->columns + s->columns * s->columns + 2;
  value *carried = indim_lower_alloc(c->l, room, sizeof *carried);
  value *now = indim_lower_alloc(c->l, room, sizeof *now);
  if (carried == NULL || now == NULL || s->a == NULL || indim_lower_failed(c->l)) {
    return;
  }
  int32_t count = gather(s, carried);
  carried[count] = indim_loop_index(c->b, 0);
  indim_loop_while_begin(c->b, count + 1, carried, now);
  spread(s, now);
  value is_allowed = indim_loop_in_range(c->b, now[count], INT64_MIN, MOST_SWEEPS - 1);
  value pred = indim_loop_binary(c->b, INDIM_OP_AND, indim_code_any(c, s->rest), is_allowed);
  indim_loop_while_body(c->b, pred, now);
  spread(s, now);
  s->run(c, s);
  value sweeps = indim_loop_binary(c->b, INDIM_OP_ADD, now[count], indim_loop_index(c->b, 1));
  gather(s, now);
  now[count] = sweeps;
  indim_loop_while_end(c->b, now, carried);
  spread(s, carried);
}

// Sorts columns: those of |first| and |second| (either may be NULL) with their |keys|, upwards or downwards.
static void sort_columns(const indim_matrix_code *c, int64_t n, value *keys, bool upwards, int64_t rows, value *first,
                         value *second) {
  for (int64_t end = n - 1; end > 0; end--) {
    for (int64_t j = 0; j < end; j++) {
      indim_compare_direction wrong = upwards ? INDIM_COMPARE_GT : INDIM_COMPARE_LT;
      value is_wrong = indim_code_compare(c, wrong, keys[j], keys[j + 1]);
      indim_code_exchange(c, is_wrong, &keys[j], &keys[j + 1]);
      for (int64_t i = 0; i < rows && first != NULL; i++) {
        indim_code_exchange(c, is_wrong, &first[i + j * rows], &first[i + (j + 1) * rows]);
      }
      for (int64_t i = 0; i < n && second != NULL; i++) {
        indim_code_exchange(c, is_wrong, &second[i + j * n], &second[i + (j + 1) * n]);
      }
    }
  }
}

static double epsilon(const indim_matrix_code *c) { return c->type == INDIM_F32 ? (double)FLT_EPSILON : DBL_EPSILON; }

// Scales |a| so that its largest element is next to 1. Returns whether all its elements are finite: a lane where they are not
// becomes 0. |*out_inverse| undoes the scale.
static value scale_all(const indim_matrix_code *c, int64_t count, value *a, value *out_inverse) {
  value scale = 0;
  value largest = indim_code_largest(c, count, a);
  value is_finite = indim_code_compare(c, INDIM_COMPARE_LT, largest, indim_code_real(c, (double)INFINITY));
  indim_code_scale(c, largest, &scale, out_inverse);
  for (int64_t i = 0; i < count; i++) {
    a[i] = indim_code_select(c, is_finite, indim_code_mul(c, a[i], scale), indim_code_real(c, 0));
  }
  return is_finite;
}

static void nan_unless(const indim_matrix_code *c, value pred, int64_t count, value *a) {
  for (int64_t i = 0; i < count; i++) {
    a[i] = indim_code_select(c, pred, a[i], indim_code_real(c, (double)NAN));
  }
}

// Symmetric eigenvalues ------------------------------------------------------------------------------------------------

// Element (i, j) of a symmetric matrix of which the lower triangle is kept.
static value *symmetric(value *a, int64_t n, int64_t i, int64_t j) { return i > j ? &a[i + j * n] : &a[j + i * n]; }

static void rotate_pair(const indim_matrix_code *c, sweep *s, int64_t p, int64_t q) {
  int64_t n = s->columns;
  value x = *symmetric(s->a, n, p, q);
  value *pp = &s->a[p + p * n];
  value *qq = &s->a[q + q * n];
  rotation r = rotation_of(c, indim_code_sub(c, *qq, *pp), x);
  *pp = indim_code_mul_sub(c, r.tangent, x, *pp);
  *qq = indim_code_mul_add(c, r.tangent, x, *qq);
  *symmetric(s->a, n, p, q) = indim_code_real(c, 0);
  for (int64_t i = 0; i < n; i++) {
    if (i != p && i != q) {
      rotate(c, &r, symmetric(s->a, n, i, p), symmetric(s->a, n, i, q));
    }
  }
  if (s->v != NULL) {
    rotate_columns(c, &r, n, s->v, p, q);
  }
}

// The squares off the diagonal that are more than rounding errors of a matrix whose largest element is next to 1.
static value off_diagonal(const indim_matrix_code *c, const sweep *s) {
  value sum = indim_code_real(c, -epsilon(c) * epsilon(c) / 16);
  for (int64_t j = 0; j < s->columns; j++) {
    for (int64_t i = j + 1; i < s->columns; i++) {
      value x = s->a[i + j * s->columns];
      sum = indim_code_mul_add(c, x, x, sum);
    }
  }
  return sum;
}

static void sweep_symmetric(const indim_matrix_code *c, sweep *s) {
  for (int64_t p = 0; p < s->columns; p++) {
    for (int64_t q = p + 1; q < s->columns; q++) {
      rotate_pair(c, s, p, q);
    }
  }
  s->rest = off_diagonal(c, s);
}

void indim_code_syevd(indim_matrix_code *c) {
  bool lower = indim_code_attr(c, "uplo") == 'L';
  bool vectors = indim_code_attr(c, "mode") == 'V';
  int64_t n = indim_code_size(c, 'n');
  sweep s = {.rows = n, .columns = n, .run = sweep_symmetric};
  s.a = indim_code_new(c, n * n, NULL);
  s.v = vectors ? indim_code_new(c, n * n, NULL) : NULL;
  if (s.a == NULL || (vectors && s.v == NULL)) {
    return;
  }
  for (int64_t k = 0; k < n * n; k++) {  // the lower triangle; zeros above
    int64_t i = k % n;
    int64_t j = k / n;
    s.a[k] = i < j ? s.a[k] : lower ? c->in[0][k] : c->in[0][j + i * n];
  }
  value inverse = 0;
  value is_finite = scale_all(c, n * n, s.a, &inverse);
  s.rest = off_diagonal(c, &s);
  if (vectors) {
    identity(c, n, s.v);
  }
  run_sweeps(c, &s);
  for (int64_t j = 0; j < n && !indim_lower_failed(c->l); j++) {
    c->out[1][j] = indim_code_mul(c, s.a[j + j * n], inverse);
  }
  sort_columns(c, n, c->out[1], true, n, NULL, s.v);
  nan_unless(c, is_finite, n, c->out[1]);
  if (vectors) {
    nan_unless(c, is_finite, n * n, s.v);
  }
  c->out[0] = vectors ? s.v : c->in[0];
}

// Singular values ------------------------------------------------------------------------------------------------------

static value dot(const indim_matrix_code *c, int64_t n, const value *x, const value *y) {
  value sum = indim_code_mul(c, x[0], y[0]);
  for (int64_t i = 1; i < n; i++) {
    sum = indim_code_mul_add(c, x[i], y[i], sum);
  }
  return sum;
}

// Makes columns orthogonal. What is left of a pair is its product beyond rounding errors, relative to the lengths.
static void sweep_columns(const indim_matrix_code *c, sweep *s) {
  value tolerance = indim_code_real(c, 16 * epsilon(c) * epsilon(c));
  s->rest = indim_code_real(c, 0);
  for (int64_t p = 0; p < s->columns; p++) {
    for (int64_t q = p + 1; q < s->columns; q++) {
      const value *x = s->a + p * s->rows;
      const value *y = s->a + q * s->rows;
      value xx = dot(c, s->rows, x, x);
      value yy = dot(c, s->rows, y, y);
      value xy = dot(c, s->rows, x, y);
      value allowed = indim_code_mul(c, tolerance, indim_code_mul(c, xx, yy));
      s->rest =
          indim_code_max(c, s->rest, indim_code_mul_sub(c, indim_code_real(c, 1), allowed, indim_code_mul(c, xy, xy)));
      rotation r = rotation_of(c, indim_code_sub(c, yy, xx), xy);
      rotate_columns(c, &r, s->rows, s->a, p, q);
      if (s->v != NULL) {
        rotate_columns(c, &r, s->columns, s->v, p, q);
      }
    }
  }
}

// The left factor: the columns of |a|, orthogonal and in falling order, as those of q of a QR factorization, which are
// orthogonal where columns vanish, too. The diagonal of r has the signs.
static value *left_factor(const indim_matrix_code *c, int64_t m, int64_t n, int64_t columns, const value *a) {
  value *q = indim_code_new(c, m * (columns > n ? columns : n), NULL);
  value *taus = indim_code_new(c, n, NULL);
  value *signs = indim_code_new(c, n, NULL);
  if (q == NULL || taus == NULL || signs == NULL) {
    return NULL;
  }
  memcpy(q, a, (size_t)(m * n) * sizeof *q);
  indim_code_qr(c, m, n, q, taus);
  for (int64_t j = 0; j < n; j++) {
    signs[j] = indim_code_compare(c, INDIM_COMPARE_LT, q[j + j * m], indim_code_real(c, 0));
  }
  indim_code_q(c, m, columns, n, q, taus);
  for (int64_t k = 0; k < m * n; k++) {
    q[k] = indim_code_select(c, signs[k / m], indim_code_neg(c, q[k]), q[k]);
  }
  return q;
}

static value *transposed(const indim_matrix_code *c, int64_t m, int64_t n, const value *a) {
  value *t = indim_code_new(c, m * n, NULL);
  for (int64_t k = 0; k < m * n && t != NULL; k++) {
    t[k / m + k % m * n] = a[k];
  }
  return t;
}

// |long_side| x |short_side|: the matrix, or its transpose, which has the factors the other way round.
static void svd(indim_matrix_code *c, int32_t info_if_not_finite) {
  int64_t rows = indim_code_size(c, 'm');
  int64_t columns = indim_code_size(c, 'n');
  bool vectors = indim_code_attr(c, "mode") != 'N';
  bool is_wide = columns > rows;
  int64_t m = is_wide ? columns : rows;
  int64_t n = is_wide ? rows : columns;
  int64_t left_columns = indim_code_size(c, is_wide ? 'q' : 'p');
  sweep s = {.rows = m, .columns = n, .run = sweep_columns, .rest = indim_code_real(c, 1)};
  s.a = is_wide ? transposed(c, rows, columns, c->in[0]) : indim_code_new(c, m * n, c->in[0]);
  s.v = vectors ? indim_code_new(c, n * n, NULL) : NULL;
  if (s.a == NULL || (vectors && s.v == NULL)) {
    return;
  }
  value inverse = 0;
  value is_finite = scale_all(c, m * n, s.a, &inverse);
  if (vectors) {
    identity(c, n, s.v);
  }
  run_sweeps(c, &s);
  value *lengths = c->out[1];
  for (int64_t j = 0; j < n && !indim_lower_failed(c->l); j++) {
    lengths[j] = dot(c, m, s.a + j * m, s.a + j * m);
  }
  sort_columns(c, n, lengths, false, m, vectors ? s.a : NULL, s.v);
  for (int64_t j = 0; j < n; j++) {
    lengths[j] = indim_code_mul(c, indim_code_sqrt(c, lengths[j]), inverse);
  }
  nan_unless(c, is_finite, n, lengths);
  c->out[0] = c->in[0];
  c->out[4][0] = indim_code_select(c, is_finite, indim_code_s32(c, 0), indim_code_s32(c, info_if_not_finite));
  value *left = vectors ? left_factor(c, m, n, left_columns, s.a) : NULL;
  if (left == NULL) {
    return;
  }
  nan_unless(c, is_finite, m * left_columns, left);
  nan_unless(c, is_finite, n * n, s.v);
  c->out[2] = is_wide ? s.v : left;
  c->out[3] = is_wide ? transposed(c, m, left_columns, left) : transposed(c, n, n, s.v);
}

void indim_code_gesdd(indim_matrix_code *c) { svd(c, -4); }
void indim_code_gesvd(indim_matrix_code *c) { svd(c, 0); }
