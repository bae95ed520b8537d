// What the tests of the host's Fourier transforms share: inputs, and the definition to compare with.
#ifndef INDIM_FFT_TEST_H
#define INDIM_FFT_TEST_H

#include <math.h>
#include <stdlib.h>

#include "run/fft.h"
#include "test.h"

typedef struct sample {
  indim_host_fft sizes;
  int64_t in_sizes[4], out_sizes[4];  // batch and up to three dimensions, 1 where there are fewer
  int64_t in_count, out_count;        // numbers, real or complex
  bool in_real, out_real;
  void *in, *out;
} sample;

static inline uint64_t fft_random(uint64_t *state) {
  *state = *state * 6364136223846793005U + 1442695040888963407U;
  return *state >> 33;
}

static inline long double fft_get(const sample *s, const void *array, int64_t i) {
  return s->sizes.type == INDIM_F32 ? (long double)((const float *)array)[i] : (long double)((const double *)array)[i];
}

static inline void sample_deinit(sample *s) {
  free(s->in);
  free(s->out);
}

// Fills the input with numbers between -1 and 1, and the output with NaN.
static inline bool sample_init(sample *s, int64_t kind, indim_type type, int64_t batch, int64_t rank,
                               const int64_t *lengths) {
  uint64_t state = (uint64_t)(lengths[0] * 31 + kind);
  *s = (sample){.sizes = {.kind = kind, .type = type, .batch = batch, .rank = rank},
                .in_real = kind == INDIM_HOST_FFT_RFFT,
                .out_real = kind == INDIM_HOST_FFT_IRFFT,
                .in_count = batch,
                .out_count = batch};
  for (int64_t d = 0; d < 4; d++) {
    s->in_sizes[d] = s->out_sizes[d] = d == 0 ? batch : 1;
  }
  for (int64_t d = 0; d < rank; d++) {
    int64_t half = lengths[d] == 0 ? 0 : lengths[d] / 2 + 1;
    s->sizes.lengths[d] = lengths[d];
    s->in_sizes[d + 1] = s->out_real && d == rank - 1 ? half : lengths[d];
    s->out_sizes[d + 1] = s->in_real && d == rank - 1 ? half : lengths[d];
    s->in_count *= s->in_sizes[d + 1];
    s->out_count *= s->out_sizes[d + 1];
  }
  size_t bytes = type == INDIM_F32 ? sizeof(float) : sizeof(double);
  s->in = malloc((size_t)s->in_count * 2 * bytes + 1);
  s->out = malloc((size_t)s->out_count * 2 * bytes + 1);
  for (int64_t i = 0; s->in != NULL && i < s->in_count * (s->in_real ? 1 : 2); i++) {
    double x = (double)fft_random(&state) / (double)(1U << 30) - 1;
    if (type == INDIM_F32) {
      ((float *)s->in)[i] = (float)x;
    } else {
      ((double *)s->in)[i] = x;
    }
  }
  if (s->out != NULL) {
    memset(s->out, 0xff, (size_t)s->out_count * 2 * bytes);
  }
  return s->in != NULL && s->out != NULL;
}

// The distance of result number |i| from the definition, relative to the root of the mean square of all results in
// exact arithmetic (Parseval's theorem; within a factor of two for IRFFT). |waves|[d]: cos and sin of 2 pi j / lengths[d].
static inline double sample_error(const sample *s, int64_t i, long double *const *waves) {
  int64_t k[4];
  int64_t rest = i;
  for (int d = 3; d >= 0; d--) {
    k[d] = rest % s->out_sizes[d];
    rest /= s->out_sizes[d];
  }
  bool inverse = s->sizes.kind == INDIM_HOST_FFT_IFFT || s->sizes.kind == INDIM_HOST_FFT_IRFFT;
  int64_t each = s->in_count / s->in_sizes[0];
  int64_t last = s->sizes.lengths[s->sizes.rank - 1];
  long double re = 0;
  long double im = 0;
  long double squares = 0;
  long double all = 1;
  for (int64_t d = 0; d < s->sizes.rank; d++) {
    all *= (long double)s->sizes.lengths[d];
  }
  int64_t coordinates[3] = {0};
  int64_t turns[3] = {0};  // coordinates[d] * k[d + 1], modulo lengths[d]
  for (int64_t j = 0; j < each; j++) {
    int64_t place = k[0] * each + j;
    long double x = fft_get(s, s->in, s->in_real ? place : 2 * place);
    long double y = s->in_real ? 0 : fft_get(s, s->in, 2 * place + 1);
    long double c = 1;
    long double n = 0;
    int64_t j_last = coordinates[s->sizes.rank - 1];
    for (int64_t d = s->sizes.rank - 1; d >= 0; d--) {
      long double wave_re = waves[d][2 * turns[d]];
      long double wave_im = inverse ? waves[d][2 * turns[d] + 1] : -waves[d][2 * turns[d] + 1];
      long double product = c * wave_re - n * wave_im;
      n = c * wave_im + n * wave_re;
      c = product;
    }
    for (int64_t d = s->sizes.rank - 1; d >= 0; d--) {
      turns[d] += k[d + 1];
      turns[d] -= turns[d] >= s->sizes.lengths[d] ? s->sizes.lengths[d] : 0;
      if (++coordinates[d] < s->in_sizes[d + 1]) {
        break;
      }
      coordinates[d] = turns[d] = 0;
    }
    long double weight = s->out_real && j_last != 0 && 2 * j_last != last ? 2 : 1;  // its conjugate is not stored
    re += weight * (x * c - y * n);
    im += s->out_real ? 0 : x * n + y * c;
    squares += weight * (x * x + y * y);
  }
  long double scale = inverse ? 1 / all : 1;
  long double norm = sqrtl(squares) * scale;
  long double got_re = fft_get(s, s->out, s->out_real ? i : 2 * i);
  long double got_im = s->out_real ? 0 : fft_get(s, s->out, 2 * i + 1);
  return norm == 0 ? (double)(fabsl(got_re) + fabsl(got_im))
                   : (double)(hypotl(got_re - re * scale, got_im - im * scale) / norm);
}

// The largest error of |tries| results, or of all if there are fewer; infinite where one is NaN.
static inline double sample_worst(const sample *s, int64_t tries) {
  long double *waves[3] = {NULL, NULL, NULL};
  uint64_t state = 99;
  double worst = 0;
  for (int64_t d = 0; d < s->sizes.rank; d++) {
    int64_t n = s->sizes.lengths[d];
    waves[d] = malloc((size_t)(2 * n + 1) * sizeof *waves[d]);
    for (int64_t j = 0; j < n && waves[d] != NULL; j++) {
      long double angle = 6.283185307179586476925286766559005768L * (long double)j / (long double)n;
      waves[d][2 * j] = cosl(angle);
      waves[d][2 * j + 1] = sinl(angle);
    }
  }
  for (int64_t i = 0; i < s->out_count && i < tries; i++) {
    int64_t place = s->out_count <= tries ? i : (int64_t)(fft_random(&state) % (uint64_t)s->out_count);
    double error = sample_error(s, place, waves);
    worst = error <= worst ? worst : error < INFINITY ? error : INFINITY;
  }
  for (int d = 0; d < 3; d++) {
    free(waves[d]);
  }
  return worst;
}

#endif  // INDIM_FFT_TEST_H
