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
  value is_done = indim_code_compare(c, INDIM_COMPARE_EQ, root, zero);  // or nearly
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

// Loops ----------------------------------------------------------------------------------------------------------------

// What loops change: the columns that are rotated or sorted, and what goes with them. Lists of values that are NULL are not
// there.
typedef struct columns {
  int64_t rows, count;  // of |a|; |v| is count x count
  value *a;             // the matrix that becomes diagonal, or has orthogonal columns
  value *v;             // the product of the rotations
  value *keys;          // by which columns are sorted
  value rest;           // what is left to do: 0 or less when a lane is done
} columns;

typedef struct part {
  value *values;
  int64_t count;
} part;

enum { PARTS = 4 };

static void parts_of(columns *s, part *out) {
  out[0] = (part){s->a, s->a == NULL ? 0 : s->rows * s->count};
  out[1] = (part){s->v, s->v == NULL ? 0 : s->count * s->count};
  out[2] = (part){s->keys, s->keys == NULL ? 0 : s->count};
  out[3] = (part){&s->rest, 1};
}

// All values as a list for a loop to carry, with room for one more; and back. Returns how many they are.
static int32_t gather(columns *s, value *out) {
  part parts[PARTS];
  int32_t count = 0;
  parts_of(s, parts);
  for (int i = 0; i < PARTS; i++) {
    for (int64_t k = 0; k < parts[i].count; k++) {
      out[count++] = parts[i].values[k];
    }
  }
  return count;
}

static void spread(columns *s, const value *from) {
  part parts[PARTS];
  parts_of(s, parts);
  for (int i = 0; i < PARTS; i++) {
    for (int64_t k = 0; k < parts[i].count; k++) {
      parts[i].values[k] = *from++;
    }
  }
}

static value *new_list(const indim_matrix_code *c, const columns *s) {
  return indim_lower_alloc(c->l, s->rows * s->count + s->count * s->count + s->count + 2, sizeof(value));
}

typedef void step_fn(const indim_matrix_code *c, columns *s);

// Runs |step| that many times.
static void repeat(const indim_matrix_code *c, columns *s, int64_t times, step_fn *step) {
  value *before = new_list(c, s);
  value *now = new_list(c, s);
  if (before == NULL || now == NULL || indim_lower_failed(c->l) || times == 0) {
    return;
  }
  if (times == 1) {
    step(c, s);
    return;
  }
  int32_t count = gather(s, before);
  indim_loop_for_begin(c->b, indim_loop_index(c->b, 0), indim_loop_index(c->b, times), 1, count, before, now);
  spread(s, now);
  step(c, s);
  gather(s, now);
  indim_loop_for_end(c->b, now, before);
  spread(s, before);
}

// A round of a tournament. An odd number of columns are on a circle, and those meet that lie opposite to each other; if their
// number is even, the first one is beside it and meets the one that has no opposite. Then the circle turns by one. After as
// many rounds as are on it each column has met every other once, and all are where they were.
static int64_t circle(const columns *s) { return s->count - (s->count % 2 == 0); }

static void meet(const indim_matrix_code *c, columns *s,
                 void (*pair)(const indim_matrix_code *, columns *, int64_t, int64_t)) {
  int64_t first = s->count - circle(s);
  for (int64_t i = 0; i < circle(s) / 2; i++) {
    pair(c, s, first + i, s->count - 1 - i);
  }
  if (first == 1) {
    pair(c, s, 0, 1 + circle(s) / 2);
  }
}

// Where the column |j| is after a turn.
static int64_t turned(const columns *s, int64_t j) {
  int64_t first = s->count - circle(s);
  return j < first ? j : first + (j - first + 1) % circle(s);
}

static void turn(const columns *s, int64_t rows, value *a, value *scratch) {
  memcpy(scratch, a, (size_t)(rows * s->count) * sizeof *a);
  for (int64_t j = 0; j < s->count; j++) {
    memcpy(a + turned(s, j) * rows, scratch + j * rows, (size_t)rows * sizeof *a);
  }
}

// Sweeps while a lane has something left, MOST_SWEEPS times at the most (five to eight suffice). |before| and |after| each
// sweep may be NULL.
static void run_sweeps(const indim_matrix_code *c, columns *s, step_fn *before, step_fn *step, step_fn *after) {
  value *carried = new_list(c, s);
  value *now = new_list(c, s);
  if (carried == NULL || now == NULL || s->a == NULL || s->count < 2 || indim_lower_failed(c->l)) {
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
  value sweeps = indim_loop_binary(c->b, INDIM_OP_ADD, now[count], indim_loop_index(c->b, 1));
  if (before != NULL) {
    before(c, s);
  }
  repeat(c, s, circle(s), step);
  if (after != NULL) {
    after(c, s);
  }
  gather(s, now);
  now[count] = sweeps;
  indim_loop_while_end(c->b, now, carried);
  spread(s, carried);
}

// Sorting --------------------------------------------------------------------------------------------------------------

static void order(const indim_matrix_code *c, columns *s, int64_t j, indim_compare_direction wrong) {
  value is_wrong = indim_code_compare(c, wrong, s->keys[j], s->keys[j + 1]);
  indim_code_exchange(c, is_wrong, &s->keys[j], &s->keys[j + 1]);
  for (int64_t i = 0; i < s->rows && s->a != NULL; i++) {
    indim_code_exchange(c, is_wrong, &s->a[i + j * s->rows], &s->a[i + (j + 1) * s->rows]);
  }
  for (int64_t i = 0; i < s->count && s->v != NULL; i++) {
    indim_code_exchange(c, is_wrong, &s->v[i + j * s->count], &s->v[i + (j + 1) * s->count]);
  }
}

static void order_all(const indim_matrix_code *c, columns *s, indim_compare_direction wrong) {
  for (int64_t first = 0; first < 2; first++) {
    for (int64_t j = first; j + 1 < s->count; j += 2) {
      order(c, s, j, wrong);
    }
  }
}
static void order_upwards(const indim_matrix_code *c, columns *s) { order_all(c, s, INDIM_COMPARE_GT); }
static void order_downwards(const indim_matrix_code *c, columns *s) { order_all(c, s, INDIM_COMPARE_LT); }

// By |keys|: odd-even transposition, which has sorted n columns after n of its half steps.
static void sort(const indim_matrix_code *c, columns *s, bool upwards) {
  repeat(c, s, s->count < 2 ? 0 : (s->count + 1) / 2, upwards ? order_upwards : order_downwards);
}

// Scales ---------------------------------------------------------------------------------------------------------------

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

static void rotate_pair(const indim_matrix_code *c, columns *s, int64_t p, int64_t q) {
  int64_t n = s->count;
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

static void turn_symmetric(const indim_matrix_code *c, columns *s) {
  int64_t n = s->count;
  value *scratch = indim_code_new(c, n * n, s->a);
  for (int64_t k = 0; k < n * n && scratch != NULL; k++) {
    if (k % n >= k / n) {
      *symmetric(s->a, n, turned(s, k % n), turned(s, k / n)) = scratch[k];
    }
  }
  if (scratch != NULL && s->v != NULL) {
    turn(s, n, s->v, scratch);
  }
}

// The squares off the diagonal that are more than rounding errors of a matrix whose largest element is next to 1.
static void off_diagonal(const indim_matrix_code *c, columns *s) {
  value sum = indim_code_real(c, -epsilon(c) * epsilon(c) / 16);
  for (int64_t j = 0; j < s->count; j++) {
    for (int64_t i = j + 1; i < s->count; i++) {
      value x = s->a[i + j * s->count];
      sum = indim_code_mul_add(c, x, x, sum);
    }
  }
  s->rest = sum;
}

static void step_symmetric(const indim_matrix_code *c, columns *s) {
  meet(c, s, rotate_pair);
  turn_symmetric(c, s);
}

void indim_code_syevd(indim_matrix_code *c) {
  bool lower = indim_code_attr(c, "uplo") == 'L';
  bool vectors = indim_code_attr(c, "mode") == 'V';
  int64_t n = indim_code_size(c, 'n');
  if (n == 1) {  // whatever the element is
    c->out[0][0] = vectors ? indim_code_real(c, 1) : c->in[0][0];
    c->out[1][0] = c->in[0][0];
    return;
  }
  columns s = {.rows = n, .count = n};
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
  off_diagonal(c, &s);
  if (vectors) {
    identity(c, n, s.v);
  }
  run_sweeps(c, &s, NULL, step_symmetric, off_diagonal);
  for (int64_t j = 0; j < n && !indim_lower_failed(c->l); j++) {
    c->out[1][j] = indim_code_mul(c, s.a[j + j * n], inverse);
  }
  columns sorted = {.rows = n, .count = n, .v = s.v, .keys = c->out[1], .rest = s.rest};
  sort(c, &sorted, true);
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

// Makes a pair of columns orthogonal. What is left to do is its product beyond rounding errors, relative to the lengths.
static void orthogonalize(const indim_matrix_code *c, columns *s, int64_t p, int64_t q) {
  const value *x = s->a + p * s->rows;
  const value *y = s->a + q * s->rows;
  value xx = dot(c, s->rows, x, x);
  value yy = dot(c, s->rows, y, y);
  value xy = dot(c, s->rows, x, y);
  value tolerance = indim_code_real(c, 16 * epsilon(c) * epsilon(c));
  value excess = indim_code_mul_sub(c, tolerance, indim_code_mul(c, xx, yy), indim_code_mul(c, xy, xy));
  s->rest = indim_code_max(c, s->rest, excess);
  rotation r = rotation_of(c, indim_code_sub(c, yy, xx), xy);
  rotate_columns(c, &r, s->rows, s->a, p, q);
  if (s->v != NULL) {
    rotate_columns(c, &r, s->count, s->v, p, q);
  }
}

static void turn_both(const indim_matrix_code *c, columns *s) {
  value *scratch = indim_code_new(c, s->rows * s->count, NULL);  // rows >= count
  if (scratch != NULL) {
    turn(s, s->rows, s->a, scratch);
  }
  if (scratch != NULL && s->v != NULL) {
    turn(s, s->count, s->v, scratch);
  }
}

static void step_columns(const indim_matrix_code *c, columns *s) {
  meet(c, s, orthogonalize);
  turn_both(c, s);
}
static void forget_rest(const indim_matrix_code *c, columns *s) { s->rest = indim_code_real(c, 0); }

// The left factor: the columns of |a|, orthogonal and in falling order, as those of q of a QR factorization, which are
// orthogonal where columns vanish, too. The diagonal of r has the signs.
static value *left_factor(const indim_matrix_code *c, int64_t m, int64_t n, int64_t wanted, const value *a) {
  value *q = indim_code_new(c, m * (wanted > n ? wanted : n), NULL);
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
  indim_code_q(c, m, wanted, n, q, taus);
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

// Makes the columns of |s| orthogonal and sorts them; |lengths| are then their lengths before everything was scaled. Returns where
// all elements are finite.
static value orthogonalize_all(const indim_matrix_code *c, columns *s, value *lengths) {
  value inverse = 0;
  value is_finite = scale_all(c, s->rows * s->count, s->a, &inverse);
  if (s->v != NULL) {
    identity(c, s->count, s->v);
  }
  run_sweeps(c, s, forget_rest, step_columns, NULL);
  for (int64_t j = 0; j < s->count && !indim_lower_failed(c->l); j++) {
    lengths[j] = dot(c, s->rows, s->a + j * s->rows, s->a + j * s->rows);
  }
  s->keys = lengths;
  sort(c, s, false);
  for (int64_t j = 0; j < s->count; j++) {
    lengths[j] = indim_code_mul(c, indim_code_sqrt(c, lengths[j]), inverse);
  }
  nan_unless(c, is_finite, s->count, lengths);
  return is_finite;
}

// Of the matrix, or of its transpose if that is the tall one, which has the factors the other way round.
static void svd(indim_matrix_code *c, int32_t info_if_not_finite) {
  int64_t rows = indim_code_size(c, 'm');
  int64_t width = indim_code_size(c, 'n');
  bool vectors = indim_code_attr(c, "mode") != 'N';
  bool is_wide = width > rows;
  int64_t m = is_wide ? width : rows;
  int64_t n = is_wide ? rows : width;
  int64_t left_columns = indim_code_size(c, is_wide ? 'q' : 'p');
  columns s = {.rows = m, .count = n, .rest = indim_code_real(c, 1)};
  s.a = is_wide ? transposed(c, rows, width, c->in[0]) : indim_code_new(c, m * n, c->in[0]);
  s.v = vectors ? indim_code_new(c, n * n, NULL) : NULL;
  if (s.a == NULL || (vectors && s.v == NULL)) {
    return;
  }
  value is_finite = orthogonalize_all(c, &s, c->out[1]);
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
