// One element after another, in the order of the value.
#include "eval/matrix.h"

#include <complex.h>

#include "eval/scalar.h"
#include "linalg/math/math.h"

void indim_matrix_load(const indim_value *value, int64_t base, int64_t rows, int64_t columns, void *matrix) {
  indim_type type = value->shape->type;
  for (int64_t i = 0; i < rows * columns; i++) {
    indim_scalar x = indim_scalar_load(type, value->data, base + i);
    int64_t place = i / columns + i % columns * rows;
    if (type == INDIM_S32) {
      ((int32_t *)matrix)[place] = (int32_t)x.i;
    } else if (indim_type_is_complex(type)) {
      ((double complex *)matrix)[place] = indim_complex_make(x.c.re, x.c.im);
    } else {
      ((double *)matrix)[place] = x.f;
    }
  }
}

void indim_matrix_store(const void *matrix, int64_t base, int64_t rows, int64_t columns, indim_value *value) {
  indim_type type = value->shape->type;
  for (int64_t i = 0; i < rows * columns; i++) {
    int64_t place = i / columns + i % columns * rows;
    indim_scalar x;
    if (type == INDIM_S32) {
      x.i = ((const int32_t *)matrix)[place];
    } else if (indim_type_is_complex(type)) {
      double complex z = ((const double complex *)matrix)[place];
      x.c = (indim_complex){creal(z), cimag(z)};
    } else {
      x.f = ((const double *)matrix)[place];
    }
    indim_scalar_store(type, value->data, base + i, x);
  }
}
