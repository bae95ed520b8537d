// Cholesky factors, LU with pivots, triangular systems.
#include <math.h>

#include "loop/linalg/code.h"

// Element (i, j) of the lower factor, in the triangle that is stored.
static value *place(bool lower, int64_t n, value *a, int64_t i, int64_t j) {
  return lower ? &a[i + j * n] : &a[j + i * n];
}

// Column j of the factor of |a|. Returns whether its diagonal is not positive; it is then left as what it is the root of.
static value factor_column(const indim_matrix_code *c, bool lower, int64_t n, value *a, int64_t j) {
  value d = *place(lower, n, a, j, j);
  for (int64_t k = 0; k < j; k++) {
    value x = *place(lower, n, a, j, k);
    d = indim_code_mul_sub(c, x, x, d);
  }
  value fails = indim_code_compare(c, INDIM_COMPARE_LE, d, indim_code_real(c, 0));
  value root = indim_code_sqrt(c, d);
  *place(lower, n, a, j, j) = indim_code_select(c, fails, d, root);
  for (int64_t i = j + 1; i < n; i++) {
    value x = *place(lower, n, a, i, j);
    for (int64_t k = 0; k < j; k++) {
      x = indim_code_mul_sub(c, *place(lower, n, a, i, k), *place(lower, n, a, j, k), x);
    }
    *place(lower, n, a, i, j) = indim_code_div(c, x, root);
  }
  return fails;
}

void indim_code_potrf(indim_matrix_code *c) {
  bool lower = indim_code_attr(c, "uplo") == 'L';
  int64_t n = indim_code_size(c, 'n');
  value *a = indim_code_new(c, n * n, c->in[0]);
  value *out = indim_code_new(c, n * n, c->in[0]);
  value failed = indim_code_false(c);
  value info = indim_code_s32(c, 0);
  for (int64_t j = 0; j < n && out != NULL && a != NULL; j++) {
    value fails = factor_column(c, lower, n, a, j);
    value is_first = indim_code_select(c, failed, indim_code_false(c), fails);
    info = indim_code_select(c, is_first, indim_code_s32(c, (int32_t)(j + 1)), info);
    for (int64_t i = j; i < n; i++) {  // behind a failure all stays as it was
      value *to = place(lower, n, out, i, j);
      *to = indim_code_select(c, failed, *to, *place(lower, n, a, i, j));
      failed = i == j ? indim_code_or(c, failed, fails) : failed;
    }
  }
  c->out[0] = out;
  c->out[1][0] = info;
}

// The op: the other triangle is 0, and everything NaN where there is no factor. A NaN reaches the diagonal by itself.
void indim_code_cholesky(indim_matrix_code *c) {
  bool lower = indim_code_attr(c, "lower") != 0;
  int64_t n = indim_code_size(c, 'n');
  value *a = indim_code_new(c, n * n, c->in[0]);
  value failed = indim_code_false(c);
  for (int64_t j = 0; j < n && a != NULL; j++) {
    failed = indim_code_or(c, failed, factor_column(c, lower, n, a, j));
    value d = *place(lower, n, a, j, j);
    failed = indim_code_or(c, failed, indim_code_compare(c, INDIM_COMPARE_NE, d, d));
  }
  for (int64_t k = 0; k < n * n && a != NULL; k++) {
    bool keeps = lower ? k % n >= k / n : k % n <= k / n;
    c->out[0][k] = indim_code_select(c, failed, indim_code_real(c, (double)NAN), keeps ? a[k] : indim_code_real(c, 0));
  }
}

// LU -------------------------------------------------------------------------------------------------------------------

// The row (from 1) from |k| on with the largest element of column k; of equals the first.
static value pivot_row(const indim_matrix_code *c, int64_t m, const value *column, int64_t k) {
  value most = indim_code_abs(c, column[k]);
  value row = indim_code_s32(c, (int32_t)(k + 1));
  for (int64_t i = k + 1; i < m; i++) {
    value x = indim_code_abs(c, column[i]);
    value is_larger = indim_code_compare(c, INDIM_COMPARE_GT, x, most);
    most = indim_code_select(c, is_larger, x, most);
    row = indim_code_select(c, is_larger, indim_code_s32(c, (int32_t)(i + 1)), row);
  }
  return row;
}

// Exchanges row k with row |pivot|, which is one of those from |k| on.
static void exchange_rows(const indim_matrix_code *c, int64_t m, int64_t n, value *a, int64_t k, value pivot) {
  for (int64_t i = k + 1; i < m; i++) {
    value is_it = indim_code_compare(c, INDIM_COMPARE_EQ, pivot, indim_code_s32(c, (int32_t)(i + 1)));
    for (int64_t j = 0; j < n; j++) {
      indim_code_exchange(c, is_it, &a[k + j * m], &a[i + j * m]);
    }
  }
}

static void eliminate(const indim_matrix_code *c, int64_t m, int64_t n, value *a, int64_t k, value divisor) {
  for (int64_t i = k + 1; i < m; i++) {
    a[i + k * m] = indim_code_div(c, a[i + k * m], divisor);
  }
  for (int64_t j = k + 1; j < n; j++) {
    for (int64_t i = k + 1; i < m; i++) {
      a[i + j * m] = indim_code_mul_sub(c, a[i + k * m], a[k + j * m], a[i + j * m]);
    }
  }
}

void indim_code_getrf(indim_matrix_code *c) {
  int64_t m = indim_code_size(c, 'm');
  int64_t n = indim_code_size(c, 'n');
  value *a = indim_code_new(c, m * n, c->in[0]);
  value info = indim_code_s32(c, 0);
  value zero = indim_code_real(c, 0);
  for (int64_t k = 0; k < (m < n ? m : n) && a != NULL; k++) {
    value pivot = pivot_row(c, m, a + k * m, k);
    exchange_rows(c, m, n, a, k, pivot);
    // Of a pivot of 0 the column below is 0, too: divided by 1 it stays, and eliminates nothing.
    value is_zero = indim_code_compare(c, INDIM_COMPARE_EQ, a[k + k * m], zero);
    value is_first = indim_code_compare(c, INDIM_COMPARE_EQ, info, indim_code_s32(c, 0));
    info = indim_code_select(c, indim_code_and(c, is_zero, is_first), indim_code_s32(c, (int32_t)(k + 1)), info);
    eliminate(c, m, n, a, k, indim_code_select(c, is_zero, indim_code_real(c, 1), a[k + k * m]));
    c->out[1][k] = pivot;
  }
  c->out[0] = a;
  c->out[2][0] = info;
}

// Row i was exchanged with row swaps[i], one of those behind it.
void indim_code_lu_permutation(indim_matrix_code *c) {
  int64_t m = indim_code_size(c, 'm');
  value *rows = c->out[0];
  for (int64_t i = 0; i < m; i++) {
    rows[i] = indim_code_s32(c, (int32_t)i);
  }
  for (int64_t i = 0; i < indim_code_size(c, 't') && i < m; i++) {
    value old = rows[i];
    for (int64_t k = i + 1; k < m; k++) {
      value is_it = indim_code_compare(c, INDIM_COMPARE_EQ, c->in[0][i], indim_code_s32(c, (int32_t)k));
      rows[i] = indim_code_select(c, is_it, rows[k], rows[i]);
      rows[k] = indim_code_select(c, is_it, old, rows[k]);
    }
  }
}

// Triangular systems ---------------------------------------------------------------------------------------------------

typedef struct triangle {
  bool lower, flip, unit;  // |flip|: coefficient (i, j) is a[j, i]
  int64_t order;
  const value *a;
} triangle;

// One right side, elements |stride| apart.
static void substitute(const indim_matrix_code *c, const triangle *t, value *x, int64_t stride) {
  bool forward = t->lower != t->flip;
  int64_t n = t->order;
  for (int64_t step = 0; step < n; step++) {
    int64_t i = forward ? step : n - 1 - step;
    value sum = x[i * stride];
    for (int64_t j = forward ? 0 : i + 1; j < (forward ? i : n); j++) {
      value coefficient = t->flip ? t->a[j + i * n] : t->a[i + j * n];
      sum = indim_code_mul_sub(c, coefficient, x[j * stride], sum);
    }
    x[i * stride] = t->unit ? sum : indim_code_div(c, sum, t->a[i + i * n]);
  }
}

void indim_code_trsm(indim_matrix_code *c) {
  bool left = indim_code_attr(c, "side") == 'L';
  int64_t m = indim_code_size(c, 'm');
  int64_t n = indim_code_size(c, 'n');
  // x op(a) = b is op(a)^T x^T = b^T: row by row, with rows and columns of a exchanged once more.
  triangle t = {.lower = indim_code_attr(c, "uplo") == 'L',
                .flip = (indim_code_attr(c, "trans_x") != 'N') == left,
                .unit = indim_code_attr(c, "diag") == 'U',
                .order = left ? m : n,
                .a = c->in[0]};
  value *x = indim_code_new(c, m * n, c->in[1]);
  for (int64_t k = 0; k < m * n && x != NULL && c->call->operand_count == 3; k++) {
    x[k] = indim_code_mul(c, x[k], c->in[2][0]);
  }
  for (int64_t k = 0; k < (left ? n : m) && x != NULL; k++) {
    substitute(c, &t, left ? x + k * m : x + k, left ? 1 : m);
  }
  c->out[0] = x;
}
