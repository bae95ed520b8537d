// Dispatch of elementwise operations: scalar_int.c, scalar_float.c, scalar_complex.c by the class of the operands,
// scalar_convert.c for conversions and everything about bits of floats.
#include "emit/scalar/scalar.h"

// Operations ----------------------------------------------------------------------------------------------------------

// Not of or to complex numbers: no other type has their width.
static bool bitcast(const indim_apply *a, indim_reg *out) {
  indim_emit *e = a->e;
  indim_type from = a->types[0];
  if (from == a->type) {
    *out = a->args[0];
    return true;
  }
  int32_t from_bits = from == INDIM_PRED ? 8 : indim_type_bits(from);
  int32_t to_bits = a->type == INDIM_PRED ? 8 : indim_type_bits(a->type);
  if (indim_type_is_complex(from) || indim_type_is_complex(a->type) || from_bits != to_bits) {
    return false;
  }
  LLVMValueRef memory = indim_emit_pack(e, from, a->lanes, a->args[0]);
  memory = LLVMBuildBitCast(e->builder, memory, indim_emit_memory_type(e, a->type, a->lanes), "");
  *out = indim_emit_unpack(e, a->type, a->lanes, memory);
  return true;
}

static indim_reg convert(const indim_apply *a) {
  indim_type from = a->types[0];
  indim_type to = a->type;
  bool to_complex = indim_type_is_complex(to);
  indim_type part = indim_emit_part_of(to);
  LLVMValueRef im = NULL;
  if (to_complex) {
    im = indim_type_is_complex(from)
             ? indim_emit_convert(a->e, a->lanes, indim_emit_part_of(from), part, a->args[0].part[1])
             : indim_emit_real(a->e, indim_emit_part_type(a->e, to, a->lanes), 0);
  }
  return (indim_reg){{indim_emit_convert(a->e, a->lanes, indim_emit_part_of(from), part, a->args[0].part[0]), im}};
}

// A select of bits with a zero operand becomes logic: LLVM 19 does not terminate on some such selects. Frozen, because
// an undefined lane must still be off where the mask is off.
static LLVMValueRef choose_bits(LLVMBuilderRef b, LLVMValueRef which, LLVMValueRef x, LLVMValueRef y) {
  if (LLVMIsConstant(y) && LLVMIsNull(y)) {
    return LLVMBuildAnd(b, which, LLVMBuildFreeze(b, x, ""), "");
  }
  if (LLVMIsConstant(x) && LLVMIsNull(x)) {
    return LLVMBuildAnd(b, LLVMBuildNot(b, which, ""), LLVMBuildFreeze(b, y, ""), "");
  }
  return LLVMBuildSelect(b, which, x, y, "");
}

static indim_reg select_lanes(const indim_apply *a) {
  LLVMBuilderRef b = a->e->builder;
  LLVMValueRef which = a->args[0].part[0];
  const indim_reg *x = &a->args[1];
  const indim_reg *y = &a->args[2];
  if (a->type == INDIM_PRED) {
    return (indim_reg){{choose_bits(b, which, x->part[0], y->part[0]), NULL}};
  }
  LLVMValueRef im = x->part[1] == NULL ? NULL : LLVMBuildSelect(b, which, x->part[1], y->part[1], "");
  return (indim_reg){{LLVMBuildSelect(b, which, x->part[0], y->part[0], ""), im}};
}

indim_status indim_emit_scalar(indim_emit *e, const indim_loop_op *op, indim_type type, int32_t lanes, int32_t count,
                               const indim_type *types, const indim_reg *args, indim_reg *out) {
  indim_apply a = {e, op, type, lanes, count, types, args};
  *out = (indim_reg){{NULL, NULL}};
  if (count < 1) {
    return INDIM_UNSUPPORTED;
  }
  // The ops that do not depend on a class of types.
  if (op->op == INDIM_OP_COPY) {
    *out = args[0];
  } else if (op->op == INDIM_OP_SELECT) {
    *out = select_lanes(&a);
  } else if (op->op == INDIM_OP_CONVERT) {
    *out = convert(&a);
  } else if (op->op == INDIM_OP_BITCAST_CONVERT) {
    return bitcast(&a, out) ? INDIM_OK : INDIM_UNSUPPORTED;
  } else if (op->op == INDIM_OP_COMPLEX && indim_type_is_float(types[0])) {
    *out = (indim_reg){{args[0].part[0], args[1].part[0]}};
  } else if (indim_type_is_complex(types[0])) {
    return indim_emit_complex_op(&a, out) ? INDIM_OK : INDIM_UNSUPPORTED;
  } else {
    out->part[0] = indim_type_is_float(types[0]) ? indim_emit_float_op(&a) : indim_emit_int_op(&a);
    return out->part[0] != NULL ? INDIM_OK : INDIM_UNSUPPORTED;
  }
  return INDIM_OK;
}
