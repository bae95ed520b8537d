// QR by Householder's reflectors 1 - tau v v^T with v = (1, ...).
#include "loop/linalg/code.h"

// The reflector that makes (alpha, x) a multiple of (1, 0): leaves that in |*alpha|, the rest of v in |x|. All is computed of
// the numbers times a power of two, so that squares neither overflow nor vanish.
static value reflector(const indim_matrix_code *c, int64_t count, value *alpha, value *x) {
  value scale = 0;
  value inverse = 0;
  value zero = indim_code_real(c, 0);
  value rest = zero;
  value most = indim_code_largest(c, count, x);
  value largest = indim_code_max(c, indim_code_abs(c, *alpha), most);
  indim_code_scale(c, largest, &scale, &inverse);
  for (int64_t i = 0; i < count; i++) {
    value scaled = indim_code_mul(c, x[i], scale);
    rest = indim_code_mul_add(c, scaled, scaled, rest);
  }
  value head = indim_code_mul(c, *alpha, scale);
  value norm = indim_code_sqrt(c, indim_code_mul_add(c, head, head, rest));
  value is_negative = indim_code_compare(c, INDIM_COMPARE_LT, head, zero);
  value beta = indim_code_select(c, is_negative, norm, indim_code_neg(c, norm));
  value is_done = indim_code_compare(c, INDIM_COMPARE_EQ, most, zero);  // no reflection: tau is 0
  value factor = indim_code_div(c, indim_code_real(c, 1), indim_code_sub(c, head, beta));
  for (int64_t i = 0; i < count; i++) {
    value scaled = indim_code_mul(c, x[i], scale);
    x[i] = indim_code_select(c, is_done, x[i], indim_code_mul(c, scaled, factor));
  }
  *alpha = indim_code_select(c, is_done, *alpha, indim_code_mul(c, beta, inverse));
  return indim_code_select(c, is_done, zero, indim_code_div(c, indim_code_sub(c, beta, head), beta));
}

// A vector (head, rest) of |count| elements, |stride| apart, loses tau (v . it) v: nothing where tau is 0. |v| begins behind its 1.
static void reflect(const indim_matrix_code *c, int64_t count, const value *v, value tau, value *x, int64_t stride) {
  value sum = x[0];
  for (int64_t i = 1; i < count; i++) {
    sum = indim_code_mul_add(c, v[i - 1], x[i * stride], sum);
  }
  value zero = indim_code_real(c, 0);
  value stays = indim_code_compare(c, INDIM_COMPARE_EQ, tau, zero);
  sum = indim_code_select(c, stays, zero, indim_code_mul(c, sum, tau));
  x[0] = indim_code_sub(c, x[0], sum);
  for (int64_t i = 1; i < count; i++) {
    x[i * stride] = indim_code_mul_sub(c, v[i - 1], sum, x[i * stride]);
  }
}

void indim_code_qr(const indim_matrix_code *c, int64_t m, int64_t n, value *a, value *taus) {
  for (int64_t k = 0; k < (m < n ? m : n); k++) {
    value *column = a + k + k * m;
    taus[k] = reflector(c, m - k - 1, column, column + 1);
    for (int64_t j = 1; j < n - k; j++) {
      reflect(c, m - k, column + 1, taus[k], column + j * m, 1);
    }
  }
}

void indim_code_q(const indim_matrix_code *c, int64_t m, int64_t columns, int64_t count, value *a, const value *taus) {
  value zero = indim_code_real(c, 0);
  value one = indim_code_real(c, 1);
  for (int64_t j = count; j < columns; j++) {
    for (int64_t i = 0; i < m; i++) {
      a[i + j * m] = i == j ? one : zero;
    }
  }
  for (int64_t k = count - 1; k >= 0; k--) {
    value *column = a + k + k * m;
    for (int64_t j = 1; j < columns - k; j++) {
      reflect(c, m - k, column + 1, taus[k], column + j * m, 1);
    }
    for (int64_t i = 1; i < m - k; i++) {
      column[i] = indim_code_neg(c, indim_code_mul(c, column[i], taus[k]));
    }
    column[0] = indim_code_sub(c, one, taus[k]);
    for (int64_t i = 0; i < k; i++) {
      a[i + k * m] = zero;
    }
  }
}

void indim_code_geqrf(indim_matrix_code *c) {
  int64_t m = indim_code_size(c, 'm');
  int64_t n = indim_code_size(c, 'n');
  value *a = indim_code_new(c, m * n, c->in[0]);
  if (a != NULL) {
    indim_code_qr(c, m, n, a, c->out[1]);
    c->out[0] = a;
  }
}

void indim_code_orgqr(indim_matrix_code *c) {
  int64_t m = indim_code_size(c, 'm');
  int64_t n = indim_code_size(c, 'n');
  value *a = indim_code_new(c, m * n, c->in[0]);
  if (a != NULL) {
    indim_code_q(c, m, n, indim_code_size(c, 't'), a, c->in[1]);
    c->out[0] = a;
  }
}

void indim_code_ormqr(indim_matrix_code *c) {
  bool left = indim_code_attr(c, "left") != 0;
  bool adjoint = indim_code_attr(c, "transpose") != 0;
  int64_t m = indim_code_size(c, 'm');
  int64_t n = indim_code_size(c, 'n');
  int64_t count = indim_code_size(c, 't');
  int64_t order = left ? m : n;
  value *x = indim_code_new(c, m * n, c->in[2]);
  for (int64_t step = 0; step < count && x != NULL; step++) {
    int64_t k = left == adjoint ? step : count - 1 - step;
    for (int64_t j = 0; j < (left ? n : m); j++) {
      value *line = left ? x + k + j * m : x + j + k * m;
      reflect(c, order - k, c->in[0] + k + 1 + k * order, c->in[1][k], line, left ? 1 : m);
    }
  }
  c->out[0] = x;
}
