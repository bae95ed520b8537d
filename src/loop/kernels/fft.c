// fft, computed by the host.
#include "graph/fft.h"
#include "loop/kernels/service.h"

static int64_t kind_of(const indim_instr *instr) {
  static const char *const words[] = {"FFT", "IFFT", "RFFT", "IRFFT"};  // as in INDIM_HOST_FFT_...
  int64_t kind = 0;
  while (kind < 3 && !indim_str_is(indim_instr_word(instr, INDIM_ATTR_FFT_TYPE), words[kind])) {
    kind++;
  }
  return kind;
}

void indim_lower_fft(indim_lowering *l, indim_flow_item *item) {
  const indim_shape *shape = item->shape;
  l->status = l->status != INDIM_OK ? l->status : indim_fft_check(l->cx, item->instr);
  if (indim_lower_failed(l)) {
    return;
  }
  int64_t rank = 0;
  const int64_t *lengths = indim_instr_ints(item->instr, INDIM_ATTR_FFT_LENGTH, &rank);
  indim_type type = indim_type_is_complex(shape->type) ? indim_type_component_of(shape->type) : shape->type;
  indim_host_fft numbers = {.kind = kind_of(item->instr), .type = type, .batch = 1, .rank = rank};
  for (int64_t d = 0; d < rank && d < 3; d++) {
    numbers.lengths[d] = lengths[d];
  }
  for (int32_t d = 0; d < shape->rank - rank; d++) {
    numbers.batch *= shape->sizes[d];
  }
  indim_lower_service(l, item, INDIM_HOST_FFT, &numbers, 0);
}
