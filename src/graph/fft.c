// What both engines check of an fft beyond its shape.
#include "graph/fft.h"

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
