// The arithmetic of the Fourier transforms (fft.h): several transforms at a time, one in each lane of a vector. An
// instance for each element type and vector width. Plans are fft_plan.c's.
#ifndef INDIM_RUN_FFT_KERNELS_H
#define INDIM_RUN_FFT_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { INDIM_FFT_MOST_RADIX = 127, INDIM_FFT_MOST_FACTORS = 40, INDIM_FFT_MOST_LANES = 16 };

// A pass of the mixed-radix algorithm. Complex numbers are pairs of the transform's element type.
typedef struct indim_fft_factor {
  int64_t radix;
  bool is_fused;         // may read and write columns in memory: there are such passes for this radix
  const void *roots;     // odd radix: cos and sin of 2 pi j / radix, j < radix
  const void *twiddles;  // radix - 1 for each of length / (product of the radices up to this one)
} indim_fft_factor;

// A length whose prime factors are at most INDIM_FFT_MOST_RADIX.
typedef struct indim_fft_lanes {
  int64_t length;
  int32_t factor_count;
  indim_fft_factor factors[INDIM_FFT_MOST_FACTORS];
} indim_fft_lanes;

// Transforms side by side, exp(-2 pi i / length). Strides from one element of a column to its next, in reals. The
// imaginary parts are multiplied by |in_sign| on the way in, the parts of the results by |out_re| and |out_im|; but if
// there are twiddle factors, the results are multiplied by those alone: lane_twiddles[element, lane] (split) times
// group_twiddles[element] (NULL: 1).
typedef struct indim_fft_columns {
  const indim_fft_lanes *plan;
  const void *in;
  int64_t in_stride;
  void *out;
  int64_t out_stride;
  double in_sign, out_re, out_im;
  const void *lane_twiddles, *group_twiddles;
  void *buffer;  // room for 4 * length * lanes reals, aligned to 64 bytes
} indim_fft_columns;

typedef struct indim_fft_kernels {
  int64_t lanes;
  void *(*columns)(const indim_fft_columns *columns);
  void (*transpose)(int64_t rows, int64_t columns, const void *from, int64_t from_stride, void *to, int64_t to_stride);
  void (*real_from_half_lanes)(int64_t half, const void *roots, const void *from, void *to);
  void (*half_from_real_lanes)(int64_t half, const void *roots, void *array);
  void (*real_row)(bool back, int64_t half, const void *roots, const void *from, void *to);
  void (*multiply)(int64_t count, const void *in, const void *factors, double sign_in, double scale, double sign_out,
                   void *out);
  void (*dense)(int64_t length, const void *matrix, const indim_fft_columns *columns);
} indim_fft_kernels;

// The instance with vectors of so many bytes (0: scalars, else 16, 32, 64); NULL if there is none or the processor
// lacks it.
const indim_fft_kernels *indim_fft_kernels_for(bool is_f64, int32_t vector_bytes);

#endif  // INDIM_RUN_FFT_KERNELS_H
