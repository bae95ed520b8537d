// Elements in registers: which type a part has there and in memory, loading and storing, constants, and the way from an
// operation to the file that knows it: scalar_int.c, scalar_float.c, scalar_complex.c by the class of the operands,
// scalar_convert.c for conversions and for everything about bits of floats.
#include "emit/scalar.h"

#include <string.h>

#include "array/float_format.h"

static indim_type part_of(indim_type type) {
  return indim_type_is_complex(type) ? indim_type_component_of(type) : type;
}

static LLVMTypeRef with_lanes(LLVMTypeRef element, int32_t lanes) {
  return lanes == 1 ? element : LLVMVectorType(element, (unsigned)lanes);
}

LLVMTypeRef indim_emit_part_type(indim_emit *e, indim_type type, int32_t lanes) {
  indim_type part = part_of(type);
  LLVMTypeRef element = part == INDIM_PRED  ? LLVMInt1TypeInContext(e->context)
                        : part == INDIM_F64 ? LLVMDoubleTypeInContext(e->context)
                        : indim_type_is_float(part)
                            ? LLVMFloatTypeInContext(e->context)
                            : LLVMIntTypeInContext(e->context, 8 * (unsigned)indim_type_bytes(part));
  return with_lanes(element, lanes);
}

LLVMTypeRef indim_emit_memory_type(indim_emit *e, indim_type type, int32_t lanes) {
  indim_type part = part_of(type);
  LLVMTypeRef element = part == INDIM_F64   ? LLVMDoubleTypeInContext(e->context)
                        : part == INDIM_F32 ? LLVMFloatTypeInContext(e->context)
                                            : LLVMIntTypeInContext(e->context, 8 * (unsigned)indim_type_bytes(part));
  return indim_type_is_complex(type) ? LLVMVectorType(element, 2 * (unsigned)lanes) : with_lanes(element, lanes);
}

// Loading and storing -------------------------------------------------------------------------------------------------

// Shuffles of |count| lanes go through this many numbers on the stack; a wider register is made lane by lane.
enum { MAP_LANES = 256 };

static LLVMValueRef index_of(indim_emit *e, int32_t i) {
  return LLVMConstInt(LLVMInt32TypeInContext(e->context), (unsigned)i, 0);
}

// Every second lane, from |first| on.
static LLVMValueRef every_second(indim_emit *e, LLVMValueRef vector, int32_t lanes, int32_t first) {
  if (lanes == 1) {
    return LLVMBuildExtractElement(e->builder, vector, index_of(e, first), "");
  }
  LLVMValueRef map[MAP_LANES];
  if (lanes <= MAP_LANES) {
    for (int32_t i = 0; i < lanes; i++) {
      map[i] = index_of(e, 2 * i + first);
    }
    return LLVMBuildShuffleVector(e->builder, vector, vector, LLVMConstVector(map, (unsigned)lanes), "");
  }
  LLVMValueRef out = LLVMGetPoison(with_lanes(LLVMGetElementType(LLVMTypeOf(vector)), lanes));
  for (int32_t i = 0; i < lanes; i++) {
    LLVMValueRef lane = LLVMBuildExtractElement(e->builder, vector, index_of(e, 2 * i + first), "");
    out = LLVMBuildInsertElement(e->builder, out, lane, index_of(e, i), "");
  }
  return out;
}

// x0 y0 x1 y1 ...
static LLVMValueRef interleave(indim_emit *e, LLVMValueRef x, LLVMValueRef y, int32_t lanes) {
  if (lanes > 1 && 2 * lanes <= MAP_LANES) {
    LLVMValueRef map[MAP_LANES];
    for (int32_t i = 0; i < lanes; i++) {
      map[2 * i] = index_of(e, i);
      map[2 * i + 1] = index_of(e, lanes + i);
    }
    return LLVMBuildShuffleVector(e->builder, x, y, LLVMConstVector(map, 2 * (unsigned)lanes), "");
  }
  LLVMTypeRef element = lanes == 1 ? LLVMTypeOf(x) : LLVMGetElementType(LLVMTypeOf(x));
  LLVMValueRef out = LLVMGetPoison(LLVMVectorType(element, 2 * (unsigned)lanes));
  for (int32_t i = 0; i < 2 * lanes; i++) {
    LLVMValueRef from = i % 2 == 0 ? x : y;
    LLVMValueRef lane = lanes == 1 ? from : LLVMBuildExtractElement(e->builder, from, index_of(e, i / 2), "");
    out = LLVMBuildInsertElement(e->builder, out, lane, index_of(e, i), "");
  }
  return out;
}

indim_reg indim_emit_unpack(indim_emit *e, indim_type type, int32_t lanes, LLVMValueRef memory) {
  if (indim_type_is_complex(type)) {
    return (indim_reg){{every_second(e, memory, lanes, 0), every_second(e, memory, lanes, 1)}};
  }
  if (type == INDIM_PRED) {
    return (indim_reg){{LLVMBuildICmp(e->builder, LLVMIntNE, memory, indim_emit_int_like(e, memory, 0), ""), NULL}};
  }
  if (type == INDIM_F32 || type == INDIM_F64) {
    return (indim_reg){{memory, NULL}};
  }
  return (indim_reg){
      {indim_type_is_float(type) ? indim_emit_float_of_bits(e, type, memory) : indim_emit_wrap(e, type, memory), NULL}};
}

LLVMValueRef indim_emit_pack(indim_emit *e, indim_type type, int32_t lanes, indim_reg value) {
  LLVMValueRef x = value.part[0];
  if (indim_type_is_complex(type)) {
    return interleave(e, x, value.part[1], lanes);
  }
  if (type == INDIM_PRED) {
    return LLVMBuildZExt(e->builder, x, indim_emit_memory_type(e, type, lanes), "");
  }
  if (type == INDIM_F32 || type == INDIM_F64) {
    return x;
  }
  if (indim_type_is_float(type)) {
    return indim_emit_float_bits(e, type, x);
  }
  if (indim_type_is_sub_byte(type)) {
    return LLVMBuildAnd(e->builder, x, indim_emit_int_like(e, x, (UINT64_C(1) << indim_type_bits(type)) - 1), "");
  }
  return x;
}

static LLVMValueRef constant_part(indim_emit *e, indim_type type, int32_t lanes, uint64_t bits) {
  LLVMTypeRef part = indim_emit_part_type(e, type, lanes);
  if (type == INDIM_PRED) {
    return indim_emit_int(e, part, bits != 0);
  }
  if (indim_type_is_float(type)) {
    LLVMTypeRef ints = indim_emit_int_type(e, part);
    uint64_t pattern = bits;
    if (type != INDIM_F32 && type != INDIM_F64) {
      float value = (float)indim_float_decode(type, bits);
      uint32_t word;
      memcpy(&word, &value, sizeof word);
      pattern = type == INDIM_BF16 ? bits << 16 : word;
    }
    return LLVMConstBitCast(indim_emit_int(e, ints, pattern), part);
  }
  int shift = 64 - indim_type_bits(type);
  uint64_t top = bits << shift;
  return indim_emit_int(e, part, indim_type_is_signed_int(type) ? (uint64_t)((int64_t)top >> shift) : top >> shift);
}

indim_reg indim_emit_constant(indim_emit *e, indim_type type, int32_t lanes, uint64_t bits, uint64_t imag) {
  indim_type part = part_of(type);
  return (indim_reg){
      {constant_part(e, part, lanes, bits), indim_type_is_complex(type) ? constant_part(e, part, lanes, imag) : NULL}};
}

// Operations ----------------------------------------------------------------------------------------------------------

// Not when a part becomes bits or the reverse: complex numbers have no other type of their width.
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
  indim_type part = part_of(to);
  LLVMValueRef im = NULL;
  if (to_complex) {
    im = indim_type_is_complex(from) ? indim_emit_convert(a->e, a->lanes, part_of(from), part, a->args[0].part[1])
                                     : indim_emit_real(a->e, indim_emit_part_type(a->e, to, a->lanes), 0);
  }
  return (indim_reg){{indim_emit_convert(a->e, a->lanes, part_of(from), part, a->args[0].part[0]), im}};
}

// Bits chosen against none are logic: LLVM 19 does not come to an end with some selects of them. Frozen,
// because a lane that nobody stands for must still be off where it is switched off.
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
  // A flat choice of the ops that are about no class of types in particular.
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
