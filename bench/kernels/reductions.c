// The reductions in plain C. Sums keep their order where one accumulator is written; along the other axes they vectorise.
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "kernels.h"

// Sums x[outer, length, inner] over the middle.
static void sum_middle(int64_t outer, int64_t length, int64_t inner, const float *restrict x, float *restrict y) {
  PARALLEL
  for (int64_t o = 0; o < outer; o++) {
    const float *restrict block = x + o * length * inner;
    float *restrict out = y + o * inner;
    if (inner == 1) {
      // Eight partial sums, as one writes by hand to let the compiler use vectors.
      float part[8] = {0};
      int64_t i = 0;
      for (; i + 8 <= length; i += 8) {
        for (int k = 0; k < 8; k++) {
          part[k] += block[i + k];
        }
      }
      float sum = 0;
      for (int k = 0; k < 8; k++) {
        sum += part[k];
      }
      for (; i < length; i++) {
        sum += block[i];
      }
      out[0] = sum;
      continue;
    }
    memset(out, 0, (size_t)inner * sizeof(float));
    for (int64_t i = 0; i < length; i++) {
      for (int64_t j = 0; j < inner; j++) {
        out[j] += block[i * inner + j];
      }
    }
  }
}

// n: rank, sizes, axis (-1: all)
KERNEL(sum) {
  int64_t rank = n[0];
  int64_t axis = n[1 + rank];
  int64_t outer = 1;
  int64_t length = 1;
  int64_t inner = 1;
  for (int64_t i = 0; i < rank; i++) {
    *(axis < 0 || i == axis ? &length : i < axis ? &outer : &inner) *= n[1 + i];
  }
  sum_middle(outer, length, inner, args[0], results[0]);
}

KERNEL(argmax) {
  const float *restrict x = args[0];
  int32_t *restrict y = results[0];
  PARALLEL
  for (int64_t i = 0; i < n[0]; i++) {
    const float *row = x + i * n[1];
    int32_t best = 0;
    for (int32_t j = 1; j < (int32_t)n[1]; j++) {
      best = row[j] > row[best] ? j : best;
    }
    y[i] = best;
  }
}

KERNEL(softmax) {
  const float *restrict x = args[0];
  float *restrict y = results[0];
  PARALLEL
  for (int64_t i = 0; i < n[0]; i++) {
    const float *row = x + i * n[1];
    float *out = y + i * n[1];
    float most = row[0];
    for (int64_t j = 1; j < n[1]; j++) {
      most = row[j] > most ? row[j] : most;
    }
    float sum = 0;
    for (int64_t j = 0; j < n[1]; j++) {
      out[j] = expf(row[j] - most);
      sum += out[j];
    }
    for (int64_t j = 0; j < n[1]; j++) {
      out[j] /= sum;
    }
  }
}

KERNEL(layer_norm) {
  const float *restrict x = args[0];
  const float *restrict g = args[1];
  const float *restrict b = args[2];
  float *restrict y = results[0];
  PARALLEL
  for (int64_t i = 0; i < n[0]; i++) {
    const float *row = x + i * n[1];
    float *out = y + i * n[1];
    float sum = 0;
    float squares = 0;
    for (int64_t j = 0; j < n[1]; j++) {
      sum += row[j];
    }
    float mean = sum / (float)n[1];
    for (int64_t j = 0; j < n[1]; j++) {
      squares += (row[j] - mean) * (row[j] - mean);
    }
    float scale = sqrtf(squares / (float)n[1] + 1e-5F);
    for (int64_t j = 0; j < n[1]; j++) {
      out[j] = (row[j] - mean) / scale * g[j] + b[j];
    }
  }
}

KERNEL(cumsum) {
  const float *restrict x = args[0];
  float *restrict y = results[0];
  PARALLEL
  for (int64_t i = 0; i < n[0]; i++) {
    float sum = 0;
    for (int64_t j = 0; j < n[1]; j++) {
      sum += x[i * n[1] + j];
      y[i * n[1] + j] = sum;
    }
  }
}

KERNEL(difference_square_sum) {
  const float *restrict a = args[0];
  const float *restrict b = args[1];
  float *restrict y = results[0];
  PARALLEL
  for (int64_t i = 0; i < n[0]; i++) {
    for (int64_t j = 0; j < n[0]; j++) {
      float sum = 0;
      for (int64_t k = 0; k < n[0]; k++) {
        float d = a[i * n[0] + k] - b[j * n[0] + k];
        sum += d * d;
      }
      y[i * n[0] + j] = sum;
    }
  }
}
