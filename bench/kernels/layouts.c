// The rows about layouts in plain C. Transposes go in blocks of 32, as anybody who measured once writes them.
#include <stdint.h>
#include <string.h>

#include "kernels.h"

enum { BLOCK = 32 };

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

KERNEL(transpose) {
  const float *restrict x = args[0];
  float *restrict y = results[0];
  int64_t rows = n[0];
  int64_t columns = n[1];
  PARALLEL
  for (int64_t j0 = 0; j0 < columns; j0 += BLOCK) {
    for (int64_t i0 = 0; i0 < rows; i0 += BLOCK) {
      for (int64_t j = j0; j < least(j0 + BLOCK, columns); j++) {
        for (int64_t i = i0; i < least(i0 + BLOCK, rows); i++) {
          y[j * rows + i] = x[i * columns + j];
        }
      }
    }
  }
}

// n: three sizes, three dimensions of the argument in the result's order.
KERNEL(permute) {
  const float *restrict x = args[0];
  float *restrict y = results[0];
  int64_t stride[3] = {n[1] * n[2], n[2], 1};
  int64_t size[3] = {n[n[3]], n[n[4]], n[n[5]]};
  int64_t s0 = stride[n[3]];
  int64_t s1 = stride[n[4]];
  int64_t s2 = stride[n[5]];
  PARALLEL
  for (int64_t i = 0; i < size[0]; i++) {
    for (int64_t j0 = 0; j0 < size[1]; j0 += BLOCK) {
      for (int64_t k0 = 0; k0 < size[2]; k0 += BLOCK) {
        for (int64_t j = j0; j < least(j0 + BLOCK, size[1]); j++) {
          for (int64_t k = k0; k < least(k0 + BLOCK, size[2]); k++) {
            y[(i * size[1] + j) * size[2] + k] = x[i * s0 + j * s1 + k * s2];
          }
        }
      }
    }
  }
}

KERNEL(add_transposed) {
  const float *restrict a = args[0];
  const float *restrict b = args[1];
  float *restrict y = results[0];
  PARALLEL
  for (int64_t i0 = 0; i0 < n[0]; i0 += BLOCK) {
    for (int64_t j0 = 0; j0 < n[0]; j0 += BLOCK) {
      for (int64_t i = i0; i < least(i0 + BLOCK, n[0]); i++) {
        for (int64_t j = j0; j < least(j0 + BLOCK, n[0]); j++) {
          y[i * n[0] + j] = a[i * n[0] + j] + b[j * n[0] + i];
        }
      }
    }
  }
}

KERNEL(untile) {
  const float *restrict x = args[0];
  float *restrict y = results[0];
  PARALLEL
  for (int64_t i = 0; i < n[0]; i++) {
    for (int64_t j0 = 0; j0 < n[1]; j0 += 128) {
      const float *restrict from = x + (i / 8 * (n[1] / 128) + j0 / 128) * 1024 + i % 8 * 128;
      for (int64_t j = 0; j < 128; j++) {
        y[i * n[1] + j0 + j] = from[j] * 2;
      }
    }
  }
}

KERNEL(unpad) {
  const float *restrict x = args[0];
  float *restrict y = results[0];
  PARALLEL
  for (int64_t i = 0; i < n[0]; i++) {
    for (int64_t j = 0; j < n[0]; j++) {
      y[i * n[0] + j] = x[i * n[1] + j] * 2;
    }
  }
}

KERNEL(concatenate) {
  const float *a = args[0];
  const float *b = args[1];
  float *y = results[0];
  size_t bytes = (size_t)n[1] * sizeof(float);
  PARALLEL
  for (int64_t i = 0; i < n[0]; i++) {
    memcpy(y + 2 * i * n[1], a + i * n[1], bytes);
    memcpy(y + (2 * i + 1) * n[1], b + i * n[1], bytes);
  }
}

// n: rows, columns, rows and columns added on each side
KERNEL(pad) {
  const float *x = args[0];
  float *y = results[0];
  int64_t wide = n[1] + 2 * n[3];
  PARALLEL
  for (int64_t i = 0; i < n[0] + 2 * n[2]; i++) {
    float *row = y + i * wide;
    if (i < n[2] || i >= n[0] + n[2]) {
      memset(row, 0, (size_t)wide * sizeof(float));
      continue;
    }
    memset(row, 0, (size_t)n[3] * sizeof(float));
    memcpy(row + n[3], x + (i - n[2]) * n[1], (size_t)n[1] * sizeof(float));
    memset(row + n[3] + n[1], 0, (size_t)n[3] * sizeof(float));
  }
}

// n: rows, columns, first row, first column, columns of the argument
KERNEL(slice) {
  const float *x = args[0];
  float *y = results[0];
  PARALLEL
  for (int64_t i = 0; i < n[0]; i++) {
    memcpy(y + i * n[1], x + (i + n[2]) * n[4] + n[3], (size_t)n[1] * sizeof(float));
  }
}

KERNEL(reverse) {
  const float *restrict x = args[0];
  float *restrict y = results[0];
  PARALLEL
  for (int64_t i = 0; i < n[0]; i++) {
    for (int64_t j = 0; j < n[1]; j++) {
      y[i * n[1] + j] = x[i * n[1] + n[1] - 1 - j];
    }
  }
}

KERNEL(stencil) {
  const float *restrict x = args[0];
  float *restrict y = results[0];
  int64_t rows = n[0];
  int64_t columns = n[1];
  PARALLEL
  for (int64_t i = 0; i < rows; i++) {
    const float *up = x + (i == 0 ? rows - 1 : i - 1) * columns;
    const float *down = x + (i == rows - 1 ? 0 : i + 1) * columns;
    const float *row = x + i * columns;
    float *restrict out = y + i * columns;
    int64_t last = columns - 1;
    out[0] = up[0] + down[0] + row[last] + row[1] - 4 * row[0];
    for (int64_t j = 1; j < last; j++) {
      out[j] = up[j] + down[j] + row[j - 1] + row[j + 1] - 4 * row[j];
    }
    out[last] = up[last] + down[last] + row[last - 1] + row[0] - 4 * row[last];
  }
}
