// The scalar numerics as a shared library for the Python witnesses: each function over whole arrays, so that a
// witness makes one call for many thousand values.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "array/float_format.h"
#include "eval/complex_math.h"
#include "eval/real_math.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT void witness_float_decode(int type, const uint64_t *bits, double *out, size_t count);
EXPORT void witness_float_encode(int type, const double *values, uint64_t *out, size_t count);
EXPORT void witness_float_encode_s64(int type, const int64_t *values, uint64_t *out, size_t count);
EXPORT void witness_float_encode_u64(int type, const uint64_t *values, uint64_t *out, size_t count);
// Calls indim_math_<name>; |y| is NULL for one argument. Returns 0, or 1 when there is no such function.
EXPORT int witness_real(const char *name, const double *x, const double *y, double *out, size_t count);
// Calls indim_complex_<name> likewise; the modulus comes with imaginary part 0.
EXPORT int witness_complex(const char *name, const indim_complex *x, const indim_complex *y, indim_complex *out,
                           size_t count);

void witness_float_decode(int type, const uint64_t *bits, double *out, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    out[i] = indim_float_decode((indim_type)type, bits[i]);
  }
}

void witness_float_encode(int type, const double *values, uint64_t *out, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    out[i] = indim_float_encode((indim_type)type, values[i]);
  }
}

void witness_float_encode_s64(int type, const int64_t *values, uint64_t *out, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    out[i] = indim_float_encode_s64((indim_type)type, values[i]);
  }
}

void witness_float_encode_u64(int type, const uint64_t *values, uint64_t *out, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    out[i] = indim_float_encode_u64((indim_type)type, values[i]);
  }
}

int witness_real(const char *name, const double *x, const double *y, double *out, size_t count) {
#define UNARY(function) \
  { #function, indim_math_##function, NULL }
#define BINARY(function) \
  { #function, NULL, indim_math_##function }
  static const struct {
    const char *name;
    double (*unary)(double);
    double (*binary)(double, double);
  } table[] = {
      UNARY(exp),   UNARY(expm1), UNARY(log),   UNARY(log1p), UNARY(logistic), UNARY(sqrt),   UNARY(rsqrt), UNARY(cbrt),
      UNARY(sin),   UNARY(cos),   UNARY(tan),   UNARY(sinh),  UNARY(cosh),     UNARY(tanh),   UNARY(asin),  UNARY(acos),
      UNARY(asinh), UNARY(acosh), UNARY(atanh), UNARY(erf),   BINARY(pow),     BINARY(atan2),
  };
  for (size_t f = 0; f < sizeof table / sizeof table[0]; ++f) {
    if (strcmp(table[f].name, name) != 0) {
      continue;
    }
    for (size_t i = 0; i < count; ++i) {
      out[i] = y == NULL ? table[f].unary(x[i]) : table[f].binary(x[i], y[i]);
    }
    return 0;
  }
  return 1;
}

static indim_complex modulus(indim_complex z) { return (indim_complex){indim_complex_abs(z), 0}; }

int witness_complex(const char *name, const indim_complex *x, const indim_complex *y, indim_complex *out,
                    size_t count) {
#undef UNARY
#undef BINARY
#define UNARY(function) \
  { #function, indim_complex_##function, NULL }
#define BINARY(function) \
  { #function, NULL, indim_complex_##function }
  static const struct {
    const char *name;
    indim_complex (*unary)(indim_complex);
    indim_complex (*binary)(indim_complex, indim_complex);
  } table[] = {
      UNARY(sign),
      UNARY(exp),
      UNARY(expm1),
      UNARY(log),
      UNARY(log1p),
      UNARY(logistic),
      UNARY(sqrt),
      UNARY(rsqrt),
      UNARY(sin),
      UNARY(cos),
      UNARY(tan),
      UNARY(sinh),
      UNARY(cosh),
      UNARY(tanh),
      UNARY(asin),
      UNARY(acos),
      UNARY(asinh),
      UNARY(acosh),
      UNARY(atanh),
      BINARY(divide_c64),
      BINARY(power),
      BINARY(atan2),
      {"abs", modulus, NULL},
  };
  for (size_t f = 0; f < sizeof table / sizeof table[0]; ++f) {
    if (strcmp(table[f].name, name) != 0) {
      continue;
    }
    for (size_t i = 0; i < count; ++i) {
      out[i] = y == NULL ? table[f].unary(x[i]) : table[f].binary(x[i], y[i]);
    }
    return 0;
  }
  return 1;
}
