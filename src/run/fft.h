// The host's Fourier transforms, XLA's op fft: of the last one to three dimensions of a dense row-major array.
#ifndef INDIM_RUN_FFT_H
#define INDIM_RUN_FFT_H

#include "indim/execute.h"
#include "run/host.h"

enum { INDIM_HOST_FFT = 0, INDIM_HOST_IFFT = 1, INDIM_HOST_RFFT = 2, INDIM_HOST_IRFFT = 3 };

// out[b, k] = sum over j of in[b, j] * exp(-2 pi i j k / length), along each of |rank| dimensions. IFFT and IRFFT have the
// other sign and divide by the lengths. RFFT takes reals and leaves lengths[rank - 1] / 2 + 1 results in the last
// dimension, which determine the others; IRFFT takes those, and ignores the imaginary parts that are zero in the
// transform of reals.
typedef struct indim_host_fft {
  int64_t kind;
  int64_t type;  // of the parts, an indim_type: F32 or F64
  int64_t batch;
  int64_t rank;        // 1 to 3
  int64_t lengths[3];  // outermost first
  int64_t alone;       // 1: called by one piece of a parallel loop; the calling thread computes all of it
} indim_host_fft;

// Where and how it runs.
typedef struct indim_fft_context {
  indim_parallel_fn *parallel;  // NULL: sequentially
  void *parallel_user;
  const volatile int32_t *stop;  // NULL: never
  int32_t vector_bytes;          // at most; 0: the widest available
} indim_fft_context;

// Bytes of scratch memory that the transform uses on this machine: some times the data of one transform, for each
// piece of a parallel loop. -1: invalid sizes, or no memory for the plan.
int64_t indim_fft_scratch_bytes(const indim_fft_context *context, const indim_host_fft *sizes);

// Computes the transform, with the same bits for any number of threads. |in| and |out| do not overlap. Uses |scratch|
// (aligned to 64 bytes) if it has enough bytes, else memory of its own. Returns INDIM_HOST_STOPPED when |stop| was set
// meanwhile, and INDIM_HOST_FAILED without memory, or for invalid sizes.
int32_t indim_fft_run(const indim_fft_context *context, const indim_host_fft *sizes, void *out, const void *in,
                      void *scratch, int64_t scratch_bytes);

#endif  // INDIM_RUN_FFT_H
