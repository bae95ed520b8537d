// The complex Schur form by single-shift QR: Hessenberg form, then steps that chase a bulge of one element down the
// active block by Givens rotations until a subdiagonal element is negligible.
#include <float.h>
#include <math.h>

#include "linalg/math/math.h"

#define NEGLIGIBLE 1e-140  // as good as 0 where the largest element is about 1: its square still is a number

enum { MOST_STEPS = 90 };  // for one eigenvalue

typedef struct schur {
  indim_linalg_work *w;
  int64_t n;
  double complex *h;
  double complex *z;
  double size;  // of the matrix: what is negligible where the diagonal is 0
} schur;

static double complex *at(const schur *s, int64_t i, int64_t j) { return &s->h[i + j * s->n]; }
static double size_of(double complex x) { return fabs(creal(x)) + fabs(cimag(x)); }

// The rotation of rows k and k + 1 that takes (x, y) to (r, 0), and of columns and z the other way round.
static void rotate(const schur *s, int64_t k, double complex x, double complex y, int64_t first_column, int64_t rows) {
  double r = hypot(cabs(x), cabs(y));
  if (r == 0) {
    return;
  }
  double complex phase = x == 0 ? 1 : x / cabs(x);
  double c = cabs(x) / r;
  double complex t = phase * conj(y) / r;
  for (int64_t j = first_column; j < s->n; j++) {
    double complex upper = *at(s, k, j);
    double complex below = *at(s, k + 1, j);
    *at(s, k, j) = c * upper + t * below;
    *at(s, k + 1, j) = c * below - conj(t) * upper;
  }
  for (int64_t i = 0; i < s->n + rows; i++) {
    double complex *row = i < s->n ? s->z + i : at(s, i - s->n, 0);
    double complex left = row[k * s->n];
    double complex right = row[(k + 1) * s->n];
    row[k * s->n] = c * left + conj(t) * right;
    row[(k + 1) * s->n] = c * right - t * left;
  }
}

// The eigenvalue of the last 2 x 2 block that is nearer to the last element.
static double complex wilkinson(const schur *s, int64_t high) {
  double complex a = *at(s, high - 1, high - 1);
  double complex bc = *at(s, high - 1, high) * *at(s, high, high - 1);
  double complex d = *at(s, high, high);
  double complex p = (a - d) / 2;
  double complex q = csqrt(p * p + bc);
  double complex sum = creal(conj(p) * q) < 0 ? p - q : p + q;
  return sum == 0 ? d : d - bc / sum;
}

static void qr_step(const schur *s, int64_t low, int64_t high, bool exceptional) {
  double complex shift = exceptional ? *at(s, high, high) + 0.75 * size_of(*at(s, high, high - 1)) : wilkinson(s, high);
  rotate(s, low, *at(s, low, low) - shift, *at(s, low + 1, low), low, low + 3 <= high + 1 ? low + 3 : high + 1);
  for (int64_t k = low + 1; k < high; k++) {
    rotate(s, k, *at(s, k, k - 1), *at(s, k + 1, k - 1), k - 1, k + 3 <= high + 1 ? k + 3 : high + 1);
    *at(s, k + 1, k - 1) = 0;
  }
}

static int64_t block_start(const schur *s, int64_t high) {
  for (int64_t k = high; k > 0; k--) {
    double near = size_of(*at(s, k - 1, k - 1)) + size_of(*at(s, k, k));
    near = near == 0 ? s->size : near;
    double below = size_of(*at(s, k, k - 1));
    if (below <= DBL_EPSILON / 2 * near || below < NEGLIGIBLE) {
      *at(s, k, k - 1) = 0;
      return k;
    }
  }
  return 0;
}

static indim_status iterate(const schur *s, int32_t *info) {
  int steps = 0;
  for (int64_t high = s->n - 1; high >= 0;) {
    int64_t low = block_start(s, high);
    if (low == high) {
      high--;
      steps = 0;
      continue;
    }
    if (steps == MOST_STEPS) {
      *info = (int32_t)(high + 1);
      return INDIM_OK;
    }
    qr_step(s, low, high, ++steps % 10 == 0);
    INDIM_TRY(indim_linalg_step(s->w, s->n * (high - low)));
  }
  return INDIM_OK;
}

indim_status indim_complex_gees(indim_linalg_work *w, int64_t n, double complex *a, double complex *z,
                                double complex *values, int32_t *info) {
  *info = 0;
  if (!indim_complex_is_finite(n * n, a)) {
    indim_complex_fill_nan(n * n, a);
    indim_complex_fill_nan(n * n, z);
    indim_complex_fill_nan(n, values);
    return INDIM_OK;
  }
  if (n == 0) {
    return INDIM_OK;
  }
  double scale = indim_complex_scale(n * n, a);
  for (int64_t i = 0; i < n * n; i++) {
    a[i] *= scale;
  }
  INDIM_TRY(indim_complex_hessenberg(w, n, a, z));
  schur s = {.w = w, .n = n, .h = a, .z = z, .size = indim_complex_norm(n * n, a)};
  INDIM_TRY(iterate(&s, info));
  for (int64_t i = 0; i < n * n; i++) {
    a[i] /= scale;
  }
  for (int64_t i = 0; i < n; i++) {
    values[i] = a[i + i * n];
  }
  return INDIM_OK;
}
