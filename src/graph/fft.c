// The kind of an fft, and what both engines check of it beyond its shape.
#include "graph/fft.h"

indim_fft_kind indim_fft_kind_of(const indim_instr *instr) {
  static const char *const words[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
  int kind = INDIM_FFT_FFT;
  while (kind < INDIM_FFT_IRFFT && !indim_str_is(indim_instr_word(instr, INDIM_ATTR_FFT_TYPE), words[kind])) {
    kind++;
  }
  return (indim_fft_kind)kind;
}

indim_status indim_fft_check(indim_ctx *cx, const indim_instr *instr) {
  int64_t rank = 0;
  const indim_shape *shape = instr->operands[0]->shape;
  const int64_t *lengths = indim_instr_ints(instr, INDIM_ATTR_FFT_LENGTH, &rank);
  bool is_complex = indim_type_is_complex(shape->type) && indim_type_is_complex(instr->shape->type);
  for (int64_t i = 0; i < rank && is_complex; i++) {
    int64_t dim = shape->rank - rank + i;
    if (lengths[i] != shape->sizes[dim]) {
      indim_fail_instr(cx, INDIM_UNSUPPORTED, instr,
                       "a transform of length %lld of dimension %lld, which has size %lld", (long long)lengths[i],
                       (long long)dim, (long long)shape->sizes[dim]);
      indim_hint(cx, "slice or pad the operand to the length, or set fft_length= to the sizes");
      return INDIM_UNSUPPORTED;
    }
  }
  return INDIM_OK;
}
