// The streams in plain C: one loop each, left to the compiler to vectorise.
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "kernels.h"

#define ADD(name, type)                   \
  KERNEL(name) {                          \
    const type *restrict a = args[0];     \
    const type *restrict b = args[1];     \
    type *restrict y = results[0];        \
    const int64_t count = n[0];           \
    PARALLEL                              \
    for (int64_t i = 0; i < count; i++) { \
      y[i] = (type)(a[i] + b[i]);         \
    }                                     \
  }

ADD(add_f32, float)
ADD(add_f64, double)
ADD(add_s8, int8_t)

static inline float widen(uint16_t bits) {
  uint32_t word = (uint32_t)bits << 16;
  float value;
  memcpy(&value, &word, sizeof value);
  return value;
}

static inline uint16_t narrow(float value) {
  uint32_t word;
  memcpy(&word, &value, sizeof word);
  uint32_t rounded = (word + 0x7fff + (word >> 16 & 1)) >> 16;
  return (uint16_t)(value != value ? word >> 16 | 0x40 : rounded);
}

KERNEL(add_bf16) {
  const uint16_t *restrict a = args[0];
  const uint16_t *restrict b = args[1];
  uint16_t *restrict y = results[0];
  PARALLEL
  for (int64_t i = 0; i < n[0]; i++) {
    y[i] = narrow(widen(a[i]) + widen(b[i]));
  }
}

KERNEL(add_row) {
  const float *restrict x = args[0];
  const float *restrict v = args[1];
  float *restrict y = results[0];
  PARALLEL
  for (int64_t i = 0; i < n[0]; i++) {
    for (int64_t j = 0; j < n[1]; j++) {
      y[i * n[1] + j] = x[i * n[1] + j] + v[j];
    }
  }
}

KERNEL(add_column) {
  const float *restrict x = args[0];
  const float *restrict v = args[1];
  float *restrict y = results[0];
  PARALLEL
  for (int64_t i = 0; i < n[0]; i++) {
    for (int64_t j = 0; j < n[1]; j++) {
      y[i * n[1] + j] = x[i * n[1] + j] + v[i];
    }
  }
}

KERNEL(add_scalar) {
  const float *restrict x = args[0];
  const float s = *(const float *)args[1];
  float *restrict y = results[0];
  PARALLEL
  for (int64_t i = 0; i < n[0]; i++) {
    y[i] = x[i] + s;
  }
}

KERNEL(outer) {
  const float *restrict u = args[0];
  const float *restrict v = args[1];
  float *restrict y = results[0];
  PARALLEL
  for (int64_t i = 0; i < n[0]; i++) {
    for (int64_t j = 0; j < n[1]; j++) {
      y[i * n[1] + j] = u[i] + v[j];
    }
  }
}

KERNEL(rank5) {
  const float *restrict x = args[0];
  const float *restrict v = args[1];
  float *restrict y = results[0];
  PARALLEL
  for (int64_t row = 0; row < n[0] * n[1]; row++) {
    for (int64_t j = 0; j < n[2]; j++) {
      y[row * n[2] + j] = x[row * n[2] + j] + v[row / n[1] * n[2] + j];
    }
  }
}

KERNEL(gelu) {
  const float *restrict x = args[0];
  const float *restrict s = args[1];
  const float *restrict b = args[2];
  float *restrict y = results[0];
  PARALLEL
  for (int64_t i = 0; i < n[0]; i++) {
    for (int64_t j = 0; j < n[1]; j++) {
      float z = x[i * n[1] + j] * s[j] + b[j];
      y[i * n[1] + j] = 0.5F * z * (1 + tanhf(0.7978845608F * (z + 0.044715F * z * z * z)));
    }
  }
}

KERNEL(chain10) {
  const float *restrict x = args[0];
  const float *restrict w = args[1];
  float *restrict r = results[0];
  PARALLEL
  for (int64_t i = 0; i < n[0]; i++) {
    float z = x[i] * w[i];
    z = z + x[i];
    z = z - w[i] * 0.5F;
    z = z * z;
    z = z + 1;
    z = x[i] / z;
    z = z * 2 - w[i];
    r[i] = z * x[i];
  }
}

#define UNARY(name, call)                \
  KERNEL(name) {                         \
    const float *restrict x = args[0];   \
    float *restrict y = results[0];      \
    PARALLEL                             \
    for (int64_t i = 0; i < n[0]; i++) { \
      y[i] = call(x[i]);                 \
    }                                    \
  }

UNARY(exp_f32, expf)
UNARY(log_f32, logf)
UNARY(tanh_f32, tanhf)
UNARY(sin_f32, sinf)

KERNEL(power_f32) {
  const float *restrict x = args[0];
  const float *restrict e = args[1];
  float *restrict y = results[0];
  PARALLEL
  for (int64_t i = 0; i < n[0]; i++) {
    y[i] = powf(x[i], e[i]);
  }
}

// In place: results are the first three arguments.
KERNEL(adam) {
  float *restrict p = results[0];
  float *restrict m = results[1];
  float *restrict v = results[2];
  const float *restrict g = args[3];
  PARALLEL
  for (int64_t i = 0; i < n[0]; i++) {
    m[i] = 0.9F * m[i] + 0.1F * g[i];
    v[i] = 0.999F * v[i] + 0.001F * g[i] * g[i];
    p[i] -= 0.001F * (m[i] / 0.1F) / (sqrtf(v[i] / 0.001F) + 1e-8F);
  }
}

KERNEL(heat) {
  static float block[2][65536];
  const float *x = args[0];
  for (int64_t step = 0; step < n[0]; step++) {
    float *restrict y = step == n[0] - 1 ? results[0] : block[step % 2];
    const float *restrict from = x;
    int64_t last = n[1] - 1;
    PARALLEL
    for (int64_t i = 1; i < last; i++) {
      y[i] = from[i] + 0.2F * (from[i - 1] - 2 * from[i] + from[i + 1]);
    }
    y[0] = from[0] + 0.2F * (from[last] - 2 * from[0] + from[1]);
    y[last] = from[last] + 0.2F * (from[last - 1] - 2 * from[last] + from[0]);
    x = y;
  }
}
