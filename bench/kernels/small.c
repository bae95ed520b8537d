// The small rows in plain C, as a careful programmer writes them: sizes known, no reordering of sums, no fast mathematics.
// Every kernel takes the row's arguments, its results and its numbers.
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "kernels.h"

KERNEL(chain_6x6) {
  const double *a = args[1];
  const double *b = args[2];
  double x[36];
  double y[36];
  memcpy(x, args[0], sizeof x);
  for (int64_t step = 0; step < n[0]; step++) {
    for (int64_t op = 0; op < n[1]; op++) {
      if (op % 2 == 1) {
        for (int i = 0; i < 36; i++) {
          x[i] += b[i];
        }
        continue;
      }
      for (int i = 0; i < 6; i++) {
        double row[6] = {0};
        for (int k = 0; k < 6; k++) {
          for (int j = 0; j < 6; j++) {
            row[j] += x[i * 6 + k] * a[k * 6 + j];
          }
        }
        memcpy(y + i * 6, row, sizeof row);
      }
      memcpy(x, y, sizeof x);
    }
  }
  memcpy(results[0], x, sizeof x);
}

KERNEL(while_3x3) {
  const double *r = args[1];
  double x[9];
  memcpy(x, args[0], sizeof x);
  for (int64_t step = 0; step < n[0]; step++) {
    double y[9];
    for (int i = 0; i < 3; i++) {
      for (int j = 0; j < 3; j++) {
        y[i * 3 + j] = x[i * 3] * r[j] + x[i * 3 + 1] * r[3 + j] + x[i * 3 + 2] * r[6 + j];
      }
    }
    memcpy(x, y, sizeof x);
  }
  memcpy(results[0], x, sizeof x);
}

KERNEL(twice_square) {
  const float *restrict x = args[0];
  float *restrict y = results[0];
  for (int i = 0; i < 10; i++) {
    y[i] = 2 * x[i] * x[i];
  }
  (void)n;
}

KERNEL(scalars_60) {
  float v[60];
  float w[60];
  memcpy(v, args[0], sizeof v);
  for (int64_t step = 0; step < n[0]; step++) {
    for (int i = 0; i < 60; i++) {
      w[i] = 0.99F * v[i] + 0.01F * sinf(v[(i + 1) % 60]);
    }
    memcpy(v, w, sizeof v);
  }
  memcpy(results[0], v, sizeof v);
}

KERNEL(matrices_60) {
  float v[540];
  float w[540];
  memcpy(v, args[0], sizeof v);
  for (int64_t step = 0; step < n[0]; step++) {
    for (int i = 0; i < 540; i++) {
      w[i] = tanhf(v[i]) + 0.1F * sinf(v[(i + 9) % 540]);
    }
    memcpy(v, w, sizeof v);
  }
  memcpy(results[0], v, sizeof v);
}

// n: elements, updates, whether the argument is kept.
KERNEL(update_slice) {
  float *x = results[0];
  float s[4];
  if (n[2]) {
    memcpy(x, args[0], (size_t)n[0] * sizeof(float));
  }
  memcpy(s, args[1], sizeof s);
  for (int32_t i = 0; i < (int32_t)n[1]; i++) {
    int32_t at = (i * 37) % ((int32_t)n[0] - 4);
    memcpy(x + at, s, sizeof s);
    for (int k = 0; k < 4; k++) {
      s[k] *= 0.999F;
    }
  }
}

static void lorenz_rate(const float u[3], float r[3]) {
  r[0] = 10 * (u[1] - u[0]);
  r[1] = u[0] * (10 - u[2]) - u[1];
  r[2] = u[0] * u[1] - (float)(8.0 / 3) * u[2];
}

KERNEL(lorenz) {
  const float h = 0.005F;
  float u[3];
  memcpy(u, args[0], sizeof u);
  for (int64_t step = 0; step < n[0]; step++) {
    float k1[3];
    float k2[3];
    float k3[3];
    float k4[3];
    float v[3];
    lorenz_rate(u, k1);
    for (int i = 0; i < 3; i++) {
      v[i] = u[i] + h / 2 * k1[i];
    }
    lorenz_rate(v, k2);
    for (int i = 0; i < 3; i++) {
      v[i] = u[i] + h / 2 * k2[i];
    }
    lorenz_rate(v, k3);
    for (int i = 0; i < 3; i++) {
      v[i] = u[i] + h * k3[i];
    }
    lorenz_rate(v, k4);
    for (int i = 0; i < 3; i++) {
      u[i] += h / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
    }
  }
  memcpy(results[0], u, sizeof u);
}

KERNEL(three_bodies) {
  const float *mass = args[2];
  float p[9];
  float v[9];
  memcpy(p, args[0], sizeof p);
  memcpy(v, args[1], sizeof v);
  for (int64_t step = 0; step < n[0]; step++) {
    for (int i = 0; i < 3; i++) {
      float a[3] = {0};
      for (int j = 0; j < 3; j++) {
        float d[3];
        for (int k = 0; k < 3; k++) {
          d[k] = p[j * 3 + k] - p[i * 3 + k];
        }
        float r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.01F;
        float w = mass[j] / (r2 * sqrtf(r2));
        for (int k = 0; k < 3; k++) {
          a[k] += d[k] * w;
        }
      }
      for (int k = 0; k < 3; k++) {
        v[i * 3 + k] += 0.001F * a[k];
      }
    }
    for (int k = 0; k < 9; k++) {
      p[k] += 0.001F * v[k];
    }
  }
  memcpy(results[0], p, sizeof p);
  memcpy(results[1], v, sizeof v);
}

KERNEL(rigid_body) {
  const float h = 0.001F;
  float q[4];
  float w[3];
  memcpy(q, args[0], sizeof q);
  memcpy(w, args[1], sizeof w);
  for (int64_t step = 0; step < n[0]; step++) {
    float l[3] = {w[0], 2 * w[1], 3 * w[2]};
    float dw[3] = {-(w[1] * l[2] - w[2] * l[1]), -(w[2] * l[0] - w[0] * l[2]) / 2, -(w[0] * l[1] - w[1] * l[0]) / 3};
    float dq[4] = {
        0.5F * -(q[1] * w[0] + q[2] * w[1] + q[3] * w[2]), 0.5F * (q[0] * w[0] + (q[2] * w[2] - q[3] * w[1])),
        0.5F * (q[0] * w[1] + (q[3] * w[0] - q[1] * w[2])), 0.5F * (q[0] * w[2] + (q[1] * w[1] - q[2] * w[0]))};
    for (int i = 0; i < 4; i++) {
      q[i] += h * dq[i];
    }
    float size = sqrtf(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int i = 0; i < 4; i++) {
      q[i] /= size;
    }
    for (int i = 0; i < 3; i++) {
      w[i] += h * dw[i];
    }
  }
  memcpy(results[0], q, sizeof q);
  memcpy(results[1], w, sizeof w);
}

// out[rows, columns] = a[rows, inner] b[inner, columns], for sizes that are constants where it is inlined.
static inline void product(int rows, int inner, int columns, const float *a, const float *b, float *out) {
  for (int i = 0; i < rows; i++) {
    for (int j = 0; j < columns; j++) {
      out[i * columns + j] = 0;
    }
    for (int k = 0; k < inner; k++) {
      for (int j = 0; j < columns; j++) {
        out[i * columns + j] += a[i * inner + k] * b[k * columns + j];
      }
    }
  }
}

static inline void transposed(int rows, int columns, const float *a, float *out) {
  for (int i = 0; i < rows; i++) {
    for (int j = 0; j < columns; j++) {
      out[j * rows + i] = a[i * columns + j];
    }
  }
}

static void invert_3x3(const float *m, float *out) {
  float a = m[0], b = m[1], c = m[2], d = m[3], e = m[4], f = m[5], g = m[6], h = m[7], i = m[8];
  float A = e * i - f * h, B = f * g - d * i, C = d * h - e * g;
  float det = a * A + b * B + c * C;
  float adjugate[9] = {A, c * h - b * i, b * f - c * e, B, a * i - c * g, c * d - a * f,
                       C, b * g - a * h, a * e - b * d};
  for (int k = 0; k < 9; k++) {
    out[k] = adjugate[k] / det;
  }
}

KERNEL(kalman) {
  const float *f = args[2];
  const float *h = args[3];
  const float *q = args[4];
  const float *r = args[5];
  const float *z = args[6];
  float x[6];
  float p[36];
  float ft[36];
  float ht[18];
  memcpy(x, args[0], sizeof x);
  memcpy(p, args[1], sizeof p);
  transposed(6, 6, f, ft);
  transposed(3, 6, h, ht);
  for (int64_t step = 0; step < n[0]; step++) {
    float fx[6];
    float fp[36];
    float hp[18];
    float s[9];
    float si[9];
    float pht[18];
    float k[18];
    float y[3];
    float kh[36];
    product(6, 6, 1, f, x, fx);
    product(6, 6, 6, f, p, fp);
    product(6, 6, 6, fp, ft, p);
    for (int i = 0; i < 36; i++) {
      p[i] += q[i];
    }
    product(3, 6, 6, h, p, hp);
    product(3, 6, 3, hp, ht, s);
    for (int i = 0; i < 9; i++) {
      s[i] += r[i];
    }
    invert_3x3(s, si);
    product(6, 6, 3, p, ht, pht);
    product(6, 3, 3, pht, si, k);
    product(3, 6, 1, h, fx, y);
    for (int i = 0; i < 3; i++) {
      y[i] = z[i] - y[i];
    }
    float ky[6];
    product(6, 3, 1, k, y, ky);
    for (int i = 0; i < 6; i++) {
      x[i] = fx[i] + ky[i];
    }
    product(6, 3, 6, k, h, kh);
    product(6, 6, 6, kh, p, fp);
    for (int i = 0; i < 36; i++) {
      p[i] -= fp[i];
    }
  }
  memcpy(results[0], x, sizeof x);
  memcpy(results[1], p, sizeof p);
}

static float logistic(float x) { return 1 / (1 + expf(-x)); }

KERNEL(lstm) {
  int batch = (int)n[1];
  const float *x = args[0];
  const float *wx = args[3];
  const float *wh = args[4];
  const float *b = args[5];
  float *h = results[0];
  float *c = results[1];
  float state[16 * 32];
  memcpy(state, args[1], (size_t)batch * 32 * sizeof(float));
  memcpy(c, args[2], (size_t)batch * 32 * sizeof(float));
  for (int64_t step = 0; step < n[0]; step++) {
    for (int i = 0; i < batch; i++) {
      float gates[128];
      memcpy(gates, b, sizeof gates);
      for (int k = 0; k < 32; k++) {
        for (int j = 0; j < 128; j++) {
          gates[j] += x[i * 32 + k] * wx[k * 128 + j];
        }
      }
      for (int k = 0; k < 32; k++) {
        for (int j = 0; j < 128; j++) {
          gates[j] += state[i * 32 + k] * wh[k * 128 + j];
        }
      }
      for (int j = 0; j < 32; j++) {
        float cell = logistic(gates[32 + j]) * c[i * 32 + j] + logistic(gates[j]) * tanhf(gates[64 + j]);
        c[i * 32 + j] = cell;
        state[i * 32 + j] = logistic(gates[96 + j]) * tanhf(cell);
      }
    }
  }
  memcpy(h, state, (size_t)batch * 32 * sizeof(float));
}

KERNEL(bodies) {
  int count = (int)n[1];
  const float *mass = args[2];
  float p[3][512];
  float v[3][512];
  for (int i = 0; i < count; i++) {
    for (int k = 0; k < 3; k++) {
      p[k][i] = ((const float *)args[0])[i * 3 + k];
      v[k][i] = ((const float *)args[1])[i * 3 + k];
    }
  }
  for (int64_t step = 0; step < n[0]; step++) {
    for (int i = 0; i < count; i++) {
      float ax = 0;
      float ay = 0;
      float az = 0;
      for (int j = 0; j < count; j++) {
        float dx = p[0][j] - p[0][i];
        float dy = p[1][j] - p[1][i];
        float dz = p[2][j] - p[2][i];
        float r2 = dx * dx + dy * dy + dz * dz + 0.01F;
        float w = mass[j] / (r2 * sqrtf(r2));
        ax += dx * w;
        ay += dy * w;
        az += dz * w;
      }
      v[0][i] += 0.001F * ax;
      v[1][i] += 0.001F * ay;
      v[2][i] += 0.001F * az;
    }
    for (int k = 0; k < 3; k++) {
      for (int i = 0; i < count; i++) {
        p[k][i] += 0.001F * v[k][i];
      }
    }
  }
  for (int i = 0; i < count; i++) {
    for (int k = 0; k < 3; k++) {
      ((float *)results[0])[i * 3 + k] = p[k][i];
      ((float *)results[1])[i * 3 + k] = v[k][i];
    }
  }
}

KERNEL(matmul_4x4) {
  const float *restrict a = args[0];
  const float *restrict b = args[1];
  float *restrict y = results[0];
  PARALLEL
  for (int64_t i = 0; i < n[0]; i++) {
    for (int r = 0; r < 4; r++) {
      float row[4] = {0};
      for (int k = 0; k < 4; k++) {
        for (int c = 0; c < 4; c++) {
          row[c] += a[i * 16 + r * 4 + k] * b[i * 16 + k * 4 + c];
        }
      }
      memcpy(y + i * 16 + r * 4, row, sizeof row);
    }
  }
}

KERNEL(points_3x3) {
  const float *restrict p = args[0];
  const float *restrict m = args[1];
  float *restrict y = results[0];
  PARALLEL
  for (int64_t i = 0; i < n[0]; i++) {
    for (int j = 0; j < 3; j++) {
      y[i * 3 + j] = p[i * 3] * m[j] + p[i * 3 + 1] * m[3 + j] + p[i * 3 + 2] * m[6 + j];
    }
  }
}
