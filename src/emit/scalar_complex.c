// Complex numbers, real and imaginary part in registers of their own. Parts of c64 are widened to double, computed
// there, and rounded once.
#include "emit/scalar.h"

// Both parts by themselves.
static indim_reg by_parts(const indim_apply *a) {
  indim_emit *e = a->e;
  indim_reg out = {{NULL, NULL}};
  for (int i = 0; i < 2; i++) {
    LLVMValueRef x = a->args[0].part[i];
    LLVMValueRef y = a->count > 1 ? a->args[1].part[i] : NULL;
    out.part[i] = a->op->op == INDIM_OP_ADD        ? LLVMBuildFAdd(e->builder, x, y, "")
                  : a->op->op == INDIM_OP_SUBTRACT ? LLVMBuildFSub(e->builder, x, y, "")
                                                   : LLVMBuildFNeg(e->builder, x, "");
  }
  return out;
}

// Only EQ and NE have a meaning.
static LLVMValueRef compare(const indim_apply *a) {
  LLVMBuilderRef b = a->e->builder;
  bool differ = a->op->direction == INDIM_COMPARE_NE;
  LLVMRealPredicate predicate = differ ? LLVMRealUNE : LLVMRealOEQ;
  LLVMValueRef re = LLVMBuildFCmp(b, predicate, a->args[0].part[0], a->args[1].part[0], "");
  LLVMValueRef im = LLVMBuildFCmp(b, predicate, a->args[0].part[1], a->args[1].part[1], "");
  return differ ? LLVMBuildOr(b, re, im, "") : LLVMBuildAnd(b, re, im, "");
}

bool indim_emit_complex_op(const indim_apply *a, indim_reg *out) {
  switch ((int)a->op->op) {
  case INDIM_OP_ADD:
  case INDIM_OP_SUBTRACT:
  case INDIM_OP_NEGATE:
    *out = by_parts(a);
    return true;
  case INDIM_OP_REAL:
    out->part[0] = a->args[0].part[0];
    return true;
  case INDIM_OP_IMAG:
    out->part[0] = a->args[0].part[1];
    return true;
  case INDIM_OP_COMPARE:
    out->part[0] = compare(a);
    return a->op->direction == INDIM_COMPARE_EQ || a->op->direction == INDIM_COMPARE_NE;
  default:
    return false;
  }
}
