// Eigenvectors of general matrices: those of the triangular Schur factor by substitution, turned back. A real Schur form
// is first made complex and triangular, one rotation for each pair.
#include <float.h>
#include <math.h>

#include "linalg/math/math.h"

// Solves (t - value) x = 0 with x[k] = 1 and nothing below it, or from the left with nothing above it. A divisor that
// vanishes is replaced by one next to nothing; what grows beyond all bounds is scaled down.
static void triangular_vector(int64_t n, const double complex *t, int64_t k, bool left, double tiny,
                              double complex *x) {
  memset(x, 0, (size_t)n * sizeof *x);
  x[k] = 1;
  for (int64_t step = 1; left ? k + step < n : k - step >= 0; step++) {
    int64_t i = left ? k + step : k - step;
    double complex sum = 0;
    for (int64_t j = left ? k : i + 1; j < (left ? i : k + 1); j++) {
      sum += (left ? conj(t[j + i * n]) : t[i + j * n]) * x[j];
    }
    double complex divisor = t[i + i * n] - t[k + k * n];
    divisor = cabs(divisor) < tiny ? tiny : divisor;
    x[i] = -sum / (left ? conj(divisor) : divisor);
    double scale = cabs(x[i]) > 1e100 ? 1 / cabs(x[i]) : 1;
    for (int64_t j = 0; j < n && scale != 1; j++) {
      x[j] *= scale;
    }
  }
}

// out = z x, of length 1, the largest element real and positive.
static void turn_back(int64_t n, const double complex *z, const double complex *x, double complex *out) {
  int64_t largest = 0;
  memset(out, 0, (size_t)n * sizeof *out);
  for (int64_t j = 0; j < n; j++) {
    for (int64_t i = 0; i < n; i++) {
      out[i] += z[i + j * n] * x[j];
    }
  }
  double length = indim_complex_norm(n, out);
  for (int64_t i = 0; i < n; i++) {
    out[i] /= length;
    largest = cabs(out[i]) > cabs(out[largest]) ? i : largest;
  }
  double size = cabs(out[largest]);
  double complex phase = size == 0 ? 1 : conj(out[largest]) / size;
  for (int64_t i = 0; i < n; i++) {
    out[i] = i == largest ? size : out[i] * phase;
  }
}

static indim_status all_vectors(indim_linalg_work *w, int64_t n, const double complex *t, const double complex *z,
                                bool left, double complex *out) {
  double complex *x = NULL;
  double tiny = fmax(DBL_EPSILON * indim_complex_norm(n * n, t), DBL_MIN);
  if (out == NULL) {
    return INDIM_OK;
  }
  INDIM_TRY(indim_complex_scratch(w, 1, n, &x));
  for (int64_t k = 0; k < n; k++) {
    triangular_vector(n, t, k, left, tiny, x);
    turn_back(n, z, x, out + k * n);
    INDIM_TRY(indim_linalg_step(w, 2 * n * n));
  }
  return INDIM_OK;
}

indim_status indim_complex_geev(indim_linalg_work *w, int64_t n, double complex *a, double complex *values,
                                double complex *left, double complex *right, int32_t *info) {
  double complex *z = NULL;
  bool finite = indim_complex_is_finite(n * n, a);
  INDIM_TRY(indim_complex_scratch(w, n, n, &z));
  INDIM_TRY(indim_complex_gees(w, n, a, z, values, info));
  if (!finite) {
    *info = -4;
    indim_complex_fill_nan(left == NULL ? 0 : n * n, left);
    indim_complex_fill_nan(right == NULL ? 0 : n * n, right);
  }
  if (*info != 0) {
    return INDIM_OK;
  }
  INDIM_TRY(all_vectors(w, n, a, z, true, left));
  return all_vectors(w, n, a, z, false, right);
}

// Real matrices ------------------------------------------------------------------------------------------------------

// A rotation of rows and columns k and k + 1 that makes the 2 x 2 block there triangular with |value| first.
static void split_pair(int64_t n, int64_t k, double complex value, double complex *t, double complex *z) {
  double complex x = t[k + (k + 1) * n];  // (x, y) is an eigenvector of the block
  double complex y = value - t[k + k * n];
  double r = hypot(cabs(x), cabs(y));
  x /= r;
  y /= r;
  for (int64_t j = 0; j < n; j++) {
    double complex *column = t + j * n;
    double complex upper = column[k];
    double complex below = column[k + 1];
    column[k] = conj(x) * upper + conj(y) * below;
    column[k + 1] = x * below - y * upper;
  }
  for (int64_t i = 0; i < 2 * n; i++) {
    double complex *row = i < n ? t + i : z + (i - n);
    double complex first = row[k * n];
    double complex second = row[(k + 1) * n];
    row[k * n] = x * first + y * second;
    row[(k + 1) * n] = conj(x) * second - conj(y) * first;
  }
  t[k + 1 + k * n] = 0;
}

// Vectors of a real eigenvalue are real, those of a pair conjugate to each other.
static void make_conjugate(int64_t n, const double *wi, double complex *vectors) {
  for (int64_t k = 0; k < n && vectors != NULL; k++) {
    for (int64_t i = 0; i < n; i++) {
      double complex *x = &vectors[i + k * n];
      *x = wi[k] == 0 ? creal(*x) : wi[k] < 0 ? conj(vectors[i + (k - 1) * n]) : *x;
    }
  }
}

indim_status indim_real_geev(indim_linalg_work *w, int64_t n, double *a, double *wr, double *wi, double complex *left,
                             double complex *right, int32_t *info) {
  double *real_z = NULL;
  double complex *t = NULL;
  double complex *z = NULL;
  bool finite = indim_real_is_finite(n * n, a);
  INDIM_TRY(indim_real_scratch(w, n, n, &real_z));
  INDIM_TRY(indim_complex_scratch(w, n, n, &t));
  INDIM_TRY(indim_complex_scratch(w, n, n, &z));
  INDIM_TRY(indim_real_gees(w, n, a, real_z, wr, wi, info));
  if (!finite) {
    *info = -4;
    indim_complex_fill_nan(left == NULL ? 0 : n * n, left);
    indim_complex_fill_nan(right == NULL ? 0 : n * n, right);
  }
  if (*info != 0) {
    return INDIM_OK;
  }
  for (int64_t i = 0; i < n * n; i++) {
    t[i] = a[i];
    z[i] = real_z[i];
  }
  for (int64_t k = 0; k + 1 < n; k++) {
    if (wi[k] > 0) {
      split_pair(n, k, indim_complex_make(wr[k], wi[k]), t, z);
    }
  }
  INDIM_TRY(all_vectors(w, n, t, z, true, left));
  INDIM_TRY(all_vectors(w, n, t, z, false, right));
  make_conjugate(n, wi, left);
  make_conjugate(n, wi, right);
  return INDIM_OK;
}
