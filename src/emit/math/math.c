// Real functions as inline arithmetic: which formula an operation has.
#include "emit/math/math_kit.h"

LLVMValueRef indim_emit_math(indim_emit *e, indim_op op, LLVMValueRef x) {
  kit of_x = kit_of(e, x);
  const kit *k = &of_x;
  switch ((int)op) {
#define UNARY(name, function) \
  case INDIM_OP_##name:       \
    return indim_emit_math_##function(k, x);
    INDIM_MATH_UNARY(UNARY)
#undef UNARY
  default:
    return NULL;
  }
}

LLVMValueRef indim_emit_math2(indim_emit *e, indim_op op, LLVMValueRef x, LLVMValueRef y) {
  kit of_x = kit_of(e, x);
  switch ((int)op) {
  case INDIM_OP_POWER:
    return indim_emit_math_pow(&of_x, x, y);
  case INDIM_OP_ATAN2:
    return indim_emit_math_atan2(&of_x, x, y);
  case INDIM_OP_REMAINDER:
    return indim_emit_math_remainder(&of_x, x, y);
  default:
    return NULL;
  }
}

void indim_emit_sincos(indim_emit *e, LLVMValueRef x, LLVMValueRef *out_sin, LLVMValueRef *out_cos) {
  kit of_x = kit_of(e, x);
  indim_emit_math_sincos(&of_x, x, out_sin, out_cos);
}
