// fft, computed by the host.
#include "graph/fft.h"
#include "loop/kernels/service.h"

// The host's numbers of the kinds are the graph's.
_Static_assert((int)INDIM_HOST_FFT_FFT == (int)INDIM_FFT_FFT && (int)INDIM_HOST_FFT_IFFT == (int)INDIM_FFT_IFFT &&
                   (int)INDIM_HOST_FFT_RFFT == (int)INDIM_FFT_RFFT && (int)INDIM_HOST_FFT_IRFFT == (int)INDIM_FFT_IRFFT,
               "kinds of transforms");

void indim_lower_fft(indim_lowering *l, indim_flow_item *item) {
  const indim_shape *shape = item->shape;
  l->status = l->status != INDIM_OK ? l->status : indim_fft_check(l->cx, item->instr);
  if (indim_lower_failed(l)) {
    return;
  }
  int64_t rank = 0;
  const int64_t *lengths = indim_instr_ints(item->instr, INDIM_ATTR_FFT_LENGTH, &rank);
  indim_type type = indim_type_is_complex(shape->type) ? indim_type_component_of(shape->type) : shape->type;
  indim_host_fft numbers = {.kind = indim_fft_kind_of(item->instr), .type = type, .batch = 1, .rank = rank};
  for (int64_t d = 0; d < rank && d < 3; d++) {
    numbers.lengths[d] = lengths[d];
  }
  for (int32_t d = 0; d < shape->rank - rank; d++) {
    numbers.batch *= shape->sizes[d];
  }
  indim_lower_service(l, item, INDIM_HOST_FFT, &numbers, NULL);
}
