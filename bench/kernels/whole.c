// Whole programs in plain C: products as rows added up, which the compiler vectorises, and loops around them.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"

// y[m, n] = bias (or 0) + a[m, k] b[k, n]
static void product(int64_t m, int64_t k, int64_t n, const float *restrict a, const float *restrict b,
                    const float *restrict bias, float *restrict y) {
  PARALLEL
  for (int64_t i = 0; i < m; i++) {
    float *restrict out = y + i * n;
    if (bias) {
      memcpy(out, bias, (size_t)n * sizeof(float));
    } else {
      memset(out, 0, (size_t)n * sizeof(float));
    }
    for (int64_t p = 0; p < k; p++) {
      float s = a[i * k + p];
      for (int64_t j = 0; j < n; j++) {
        out[j] += s * b[p * n + j];
      }
    }
  }
}

static void relu(int64_t count, float *x) {
  for (int64_t i = 0; i < count; i++) {
    x[i] = x[i] > 0 ? x[i] : 0;
  }
}

KERNEL(mlp) {
  static float h1[128 * 512];
  static float h2[128 * 512];
  int64_t batch = n[0];
  product(batch, 784, 512, args[0], args[1], args[2], h1);
  relu(batch * 512, h1);
  product(batch, 512, 512, h1, args[3], args[4], h2);
  relu(batch * 512, h2);
  product(batch, 512, 10, h2, args[5], args[6], results[0]);
}

// n: heads, length, width
KERNEL(attention) {
  int64_t length = n[1];
  int64_t width = n[2];
  PARALLEL
  for (int64_t head = 0; head < n[0]; head++) {
    const float *q = (const float *)args[0] + head * length * width;
    const float *k = (const float *)args[1] + head * length * width;
    const float *v = (const float *)args[2] + head * length * width;
    float *y = (float *)results[0] + head * length * width;
    float kt[64 * 256];
    for (int64_t i = 0; i < length; i++) {
      for (int64_t d = 0; d < width; d++) {
        kt[d * length + i] = k[i * width + d];
      }
    }
    for (int64_t i = 0; i < length; i++) {
      float s[256] = {0};
      for (int64_t d = 0; d < width; d++) {
        for (int64_t j = 0; j < length; j++) {
          s[j] += q[i * width + d] * kt[d * length + j];
        }
      }
      float most = s[0];
      float sum = 0;
      for (int64_t j = 1; j < length; j++) {
        most = s[j] > most ? s[j] : most;
      }
      for (int64_t j = 0; j < length; j++) {
        s[j] = expf((s[j] - most) / 8);
        sum += s[j];
      }
      float out[64] = {0};
      for (int64_t j = 0; j < length; j++) {
        for (int64_t d = 0; d < width; d++) {
          out[d] += s[j] / sum * v[j * width + d];
        }
      }
      memcpy(y + i * width, out, sizeof out);
    }
  }
}

// A step of descent for tanh(x w1 + b1) w2 + b2 with the cross entropy; n: batch.
KERNEL(digits_training) {
  enum { IN = 64, HIDDEN = 64, OUT = 10, MOST = 128 };
  static float h[MOST * HIDDEN];
  static float d[MOST * OUT];
  static float dh[MOST * HIDDEN];
  const float *w1 = args[0];
  const float *b1 = args[1];
  const float *w2 = args[2];
  const float *b2 = args[3];
  const float *x = args[4];
  const int32_t *label = args[5];
  float *w1_out = results[0];
  float *b1_out = results[1];
  float *w2_out = results[2];
  float *b2_out = results[3];
  int64_t batch = n[0];
  float loss = 0;
  product(batch, IN, HIDDEN, x, w1, b1, h);
  for (int64_t i = 0; i < batch * HIDDEN; i++) {
    h[i] = tanhf(h[i]);
  }
  product(batch, HIDDEN, OUT, h, w2, b2, d);
  for (int64_t i = 0; i < batch; i++) {
    float *row = d + i * OUT;
    float most = row[0];
    float sum = 0;
    for (int j = 1; j < OUT; j++) {
      most = row[j] > most ? row[j] : most;
    }
    for (int j = 0; j < OUT; j++) {
      sum += expf(row[j] - most);
    }
    float log_sum = most + logf(sum);
    loss -= row[label[i]] - log_sum;
    for (int j = 0; j < OUT; j++) {
      row[j] = (expf(row[j] - log_sum) - (j == label[i] ? 1.0F : 0.0F)) / (float)batch;
    }
    for (int k = 0; k < HIDDEN; k++) {
      float s = 0;
      for (int j = 0; j < OUT; j++) {
        s += row[j] * w2[k * OUT + j];
      }
      dh[i * HIDDEN + k] = s * (1 - h[i * HIDDEN + k] * h[i * HIDDEN + k]);
    }
  }
  memcpy(w1_out, w1, sizeof(float) * IN * HIDDEN);
  memcpy(b1_out, b1, sizeof(float) * HIDDEN);
  memcpy(w2_out, w2, sizeof(float) * HIDDEN * OUT);
  memcpy(b2_out, b2, sizeof(float) * OUT);
  for (int64_t i = 0; i < batch; i++) {
    for (int k = 0; k < IN; k++) {
      float s = 0.1F * x[i * IN + k];
      for (int j = 0; j < HIDDEN; j++) {
        w1_out[k * HIDDEN + j] -= s * dh[i * HIDDEN + j];
      }
    }
    for (int k = 0; k < HIDDEN; k++) {
      float s = 0.1F * h[i * HIDDEN + k];
      b1_out[k] -= 0.1F * dh[i * HIDDEN + k];
      for (int j = 0; j < OUT; j++) {
        w2_out[k * OUT + j] -= s * d[i * OUT + j];
      }
    }
    for (int j = 0; j < OUT; j++) {
      b2_out[j] -= 0.1F * d[i * OUT + j];
    }
  }
  *(float *)results[4] = loss / (float)batch;
}
