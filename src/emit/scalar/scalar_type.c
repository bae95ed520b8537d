// Elements in registers: register and memory types of a part, conversion between them, constants.
#include <string.h>

#include "array/float_format.h"
#include "emit/scalar/scalar.h"

indim_type indim_emit_part_of(indim_type type) {
  return indim_type_is_complex(type) ? indim_type_component_of(type) : type;
}

static LLVMTypeRef with_lanes(LLVMTypeRef element, int32_t lanes) {
  return lanes == 1 ? element : LLVMVectorType(element, (unsigned)lanes);
}

LLVMTypeRef indim_emit_part_type(indim_emit *e, indim_type type, int32_t lanes) {
  indim_type part = indim_emit_part_of(type);
  LLVMTypeRef element = part == INDIM_PRED  ? LLVMInt1TypeInContext(e->context)
                        : part == INDIM_F64 ? LLVMDoubleTypeInContext(e->context)
                        : indim_type_is_float(part)
                            ? LLVMFloatTypeInContext(e->context)
                            : LLVMIntTypeInContext(e->context, 8 * (unsigned)indim_type_bytes(part));
  return with_lanes(element, lanes);
}

LLVMTypeRef indim_emit_memory_type(indim_emit *e, indim_type type, int32_t lanes) {
  indim_type part = indim_emit_part_of(type);
  LLVMTypeRef element = part == INDIM_F64   ? LLVMDoubleTypeInContext(e->context)
                        : part == INDIM_F32 ? LLVMFloatTypeInContext(e->context)
                                            : LLVMIntTypeInContext(e->context, 8 * (unsigned)indim_type_bytes(part));
  return indim_type_is_complex(type) ? LLVMVectorType(element, 2 * (unsigned)lanes) : with_lanes(element, lanes);
}

// Loading and storing -------------------------------------------------------------------------------------------------

// The longest shuffle mask kept on the stack; a wider register is built lane by lane.
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
  indim_type part = indim_emit_part_of(type);
  return (indim_reg){
      {constant_part(e, part, lanes, bits), indim_type_is_complex(type) ? constant_part(e, part, lanes, imag) : NULL}};
}
