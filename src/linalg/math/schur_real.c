// The real Schur form by Francis's double-shift QR (Golub and Van Loan, Matrix Computations, 7.5): Hessenberg form, then
// steps that chase a bulge of 3 x 3 down the active block until a subdiagonal element is negligible.
#include <float.h>
#include <math.h>

#include "linalg/math/math.h"

#define NEGLIGIBLE 1e-140  // as good as 0 where the largest element is about 1: its square still is a number

enum { MOST_STEPS = 90 };  // for one eigenvalue

typedef struct schur {
  indim_linalg_work *w;
  int64_t n;
  double *h;
  double *z;
  double size;  // of the matrix: what is negligible where the diagonal is 0
} schur;

static double *at(const schur *s, int64_t i, int64_t j) { return &s->h[i + j * s->n]; }

// Applies the reflector of |count| elements at row |k| to h from both sides and to z.
static void reflect(const schur *s, int64_t k, int64_t count, const double *v, double tau, int64_t first_column,
                    int64_t rows) {
  indim_real_reflect_left(count, s->n - first_column, v, tau, at(s, k, first_column), s->n);
  indim_real_reflect_right(rows, count, v, tau, at(s, 0, k), s->n);
  indim_real_reflect_right(s->n, count, v, tau, s->z + k * s->n, s->n);
}

// The first column of (h - shift 1) (h - shift 2) on the block low..high, where it is not 0.
static void first_column(const schur *s, int64_t low, int64_t high, bool exceptional, double *out) {
  double sum = *at(s, high - 1, high - 1) + *at(s, high, high);
  double product = *at(s, high - 1, high - 1) * *at(s, high, high) - *at(s, high - 1, high) * *at(s, high, high - 1);
  if (exceptional) {
    double size = fabs(*at(s, high, high - 1)) + fabs(*at(s, high - 1, high - 2));
    sum = 1.5 * size;
    product = size * size;
  }
  double a = *at(s, low, low);
  double b = *at(s, low, low + 1);
  double c = *at(s, low + 1, low);
  double d = *at(s, low + 1, low + 1);
  out[0] = a * a + b * c - sum * a + product;
  out[1] = c * (a + d - sum);
  out[2] = c * *at(s, low + 2, low + 1);
}

static void francis_step(const schur *s, int64_t low, int64_t high, bool exceptional) {
  double v[3];
  first_column(s, low, high, exceptional, v);
  for (int64_t k = low; k < high; k++) {
    int64_t count = k + 2 <= high ? 3 : 2;
    for (int64_t i = 0; i < count && k > low; i++) {
      v[i] = *at(s, k + i, k - 1);
    }
    double tau = 0;
    indim_real_reflector(count - 1, &v[0], &v[1], &tau);
    double beta = v[0];
    v[0] = 1;
    reflect(s, k, count, v, tau, k, k + 3 < high ? k + 4 : high + 1);
    for (int64_t i = 0; i < count && k > low; i++) {
      *at(s, k + i, k - 1) = i == 0 ? beta : 0;
    }
  }
}

// Turns rows and columns k and k + 1 by an angle with this cosine and sine.
static void rotate(const schur *s, int64_t k, double cosine, double sine) {
  for (int64_t j = k; j < s->n; j++) {
    double x = *at(s, k, j);
    double y = *at(s, k + 1, j);
    *at(s, k, j) = cosine * x + sine * y;
    *at(s, k + 1, j) = cosine * y - sine * x;
  }
  for (int64_t i = 0; i < s->n + k + 2; i++) {
    double *column = i < s->n ? s->z + i : at(s, i - s->n, 0);
    double x = column[k * s->n];
    double y = column[(k + 1) * s->n];
    column[k * s->n] = cosine * x + sine * y;
    column[(k + 1) * s->n] = cosine * y - sine * x;
  }
}

// A 2 x 2 block at k with real eigenvalues becomes a triangle.
static void split(const schur *s, int64_t k) {
  double c = *at(s, k + 1, k);
  double p = (*at(s, k, k) - *at(s, k + 1, k + 1)) / 2;
  double q = p * p + *at(s, k, k + 1) * c;
  double root = p + copysign(sqrt(q), p);
  double r = hypot(root, c);
  rotate(s, k, root / r, c / r);
  *at(s, k + 1, k) = 0;
}

// A 2 x 2 block at k with complex eigenvalues gets equal diagonals.
static void balance(const schur *s, int64_t k) {
  double a = *at(s, k, k);
  double d = *at(s, k + 1, k + 1);
  if (a == d) {
    return;
  }
  double angle = atan2(d - a, *at(s, k, k + 1) + *at(s, k + 1, k)) / 2;
  rotate(s, k, cos(angle), sin(angle));
  double middle = (*at(s, k, k) + *at(s, k + 1, k + 1)) / 2;
  *at(s, k, k) = middle;
  *at(s, k + 1, k + 1) = middle;
}

static void standardize(const schur *s, int64_t k) {
  double p = (*at(s, k, k) - *at(s, k + 1, k + 1)) / 2;
  if (p * p + *at(s, k, k + 1) * *at(s, k + 1, k) < 0) {
    balance(s, k);
  }
  // A pair next to the real axis may have come down on it.
  p = (*at(s, k, k) - *at(s, k + 1, k + 1)) / 2;
  if (p * p + *at(s, k, k + 1) * *at(s, k + 1, k) >= 0 && *at(s, k + 1, k) != 0) {
    split(s, k);
  }
}

// The first row of the block that ends at |high|: above it the subdiagonal is negligible, and made 0.
static int64_t block_start(const schur *s, int64_t high) {
  for (int64_t k = high; k > 0; k--) {
    double near = fabs(*at(s, k - 1, k - 1)) + fabs(*at(s, k, k));
    near = near == 0 ? s->size : near;
    if (fabs(*at(s, k, k - 1)) <= DBL_EPSILON / 2 * near || fabs(*at(s, k, k - 1)) < NEGLIGIBLE) {
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
    if (high - low <= 1) {
      if (low < high) {
        standardize(s, low);
      }
      high = low - 1;
      steps = 0;
      continue;
    }
    if (steps == MOST_STEPS) {
      *info = (int32_t)(high + 1);
      return INDIM_OK;
    }
    francis_step(s, low, high, ++steps % 10 == 0);
    INDIM_TRY(indim_linalg_step(s->w, s->n * (high - low)));
  }
  return INDIM_OK;
}

static void read_values(const schur *s, double scale, double *wr, double *wi) {
  for (int64_t i = 0; i < s->n; i++) {
    bool pair = i + 1 < s->n && *at(s, i + 1, i) != 0;
    wr[i] = *at(s, i, i) / scale;
    wi[i] = 0;
    if (pair) {
      wi[i] = sqrt(fabs(*at(s, i, i + 1))) * sqrt(fabs(*at(s, i + 1, i))) / scale;
      wr[i + 1] = wr[i];
      wi[i + 1] = -wi[i];
      i++;
    }
  }
}

indim_status indim_real_gees(indim_linalg_work *w, int64_t n, double *a, double *z, double *wr, double *wi,
                             int32_t *info) {
  *info = 0;
  if (!indim_real_is_finite(n * n, a)) {
    indim_real_fill_nan(n * n, a);
    indim_real_fill_nan(n * n, z);
    indim_real_fill_nan(n, wr);
    indim_real_fill_nan(n, wi);
    return INDIM_OK;
  }
  if (n == 0) {
    return INDIM_OK;
  }
  double scale = indim_real_scale(n * n, a);
  for (int64_t i = 0; i < n * n; i++) {
    a[i] *= scale;
  }
  INDIM_TRY(indim_real_hessenberg(w, n, a, z));
  schur s = {.w = w, .n = n, .h = a, .z = z, .size = indim_real_norm(n * n, a)};
  INDIM_TRY(iterate(&s, info));
  read_values(&s, scale, wr, wi);
  for (int64_t i = 0; i < n * n; i++) {
    a[i] /= scale;
  }
  return INDIM_OK;
}
