// The host's Fourier transforms, for Python through ctypes.
#include "run/fft.h"

#if defined(__GNUC__)
#define EXPORT __attribute__((visibility("default")))
#else
#define EXPORT
#endif

EXPORT int64_t witness_fft_scratch_bytes(int32_t kind, int32_t is_f64, int32_t vector_bytes, int32_t alone,
                                         int64_t batch, int64_t rank, const int64_t *lengths);
EXPORT int32_t witness_fft(int32_t kind, int32_t is_f64, int32_t vector_bytes, int32_t alone, int64_t batch,
                           int64_t rank, const int64_t *lengths, void *out, const void *in, void *scratch,
                           int64_t scratch_bytes, int64_t times);

static indim_host_fft sizes_of(int32_t kind, int32_t is_f64, int32_t alone, int64_t batch, int64_t rank,
                               const int64_t *lengths) {
  return (indim_host_fft){.kind = kind,
                          .type = is_f64 != 0 ? INDIM_F64 : INDIM_F32,
                          .batch = batch,
                          .rank = rank,
                          .lengths = {lengths[0], lengths[1], lengths[2]},
                          .single_thread = alone};
}

int64_t witness_fft_scratch_bytes(int32_t kind, int32_t is_f64, int32_t vector_bytes, int32_t alone, int64_t batch,
                                  int64_t rank, const int64_t *lengths) {
  indim_host_fft sizes = sizes_of(kind, is_f64, alone, batch, rank, lengths);
  indim_fft_context context = {.vector_bytes = vector_bytes};
  return indim_fft_scratch_bytes(&context, &sizes);
}

// The same transform |times| times, for benchmarks.
int32_t witness_fft(int32_t kind, int32_t is_f64, int32_t vector_bytes, int32_t alone, int64_t batch, int64_t rank,
                    const int64_t *lengths, void *out, const void *in, void *scratch, int64_t scratch_bytes,
                    int64_t times) {
  indim_host_fft sizes = sizes_of(kind, is_f64, alone, batch, rank, lengths);
  indim_fft_context context = {.vector_bytes = vector_bytes};
  int32_t status = INDIM_HOST_OK;
  for (int64_t i = 0; i < times && status == INDIM_HOST_OK; i++) {
    status = indim_fft_run(&context, &sizes, out, in, scratch, scratch_bytes);
  }
  return status;
}
