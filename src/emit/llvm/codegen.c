// Helpers of the code generator: constants, types with the same lanes, intrinsics by name.
#include "emit/llvm/codegen.h"

#include <string.h>

static int32_t lanes_of(LLVMTypeRef type) {
  return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? (int32_t)LLVMGetVectorSize(type) : 0;
}

static LLVMTypeRef element_of(LLVMTypeRef type) {
  return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
}

LLVMTypeRef indim_emit_like(indim_emit *e, LLVMTypeRef type, LLVMTypeRef element) {
  (void)e;
  int32_t lanes = lanes_of(type);
  return lanes == 0 ? element : LLVMVectorType(element, (unsigned)lanes);
}

LLVMTypeRef indim_emit_int_type(indim_emit *e, LLVMTypeRef type) {
  LLVMTypeRef element = element_of(type);
  unsigned bits = LLVMGetTypeKind(element) == LLVMDoubleTypeKind  ? 64
                  : LLVMGetTypeKind(element) == LLVMFloatTypeKind ? 32
                  : LLVMGetTypeKind(element) == LLVMHalfTypeKind  ? 16
                                                                  : LLVMGetIntTypeWidth(element);
  return indim_emit_like(e, type, LLVMIntTypeInContext(e->context, bits));
}

static LLVMValueRef every_lane(LLVMTypeRef type, LLVMValueRef element) {
  int32_t lanes = lanes_of(type);
  if (lanes == 0) {
    return element;
  }
  LLVMValueRef few[64];
  int32_t count = lanes < 64 ? lanes : 64;
  for (int32_t i = 0; i < count; i++) {
    few[i] = element;
  }
  if (lanes <= 64) {
    return LLVMConstVector(few, (unsigned)lanes);
  }
  // Longer splats of a constant are constant-folded from an insert and a shuffle.
  LLVMValueRef one = LLVMConstVector(few, 1);
  LLVMTypeRef map = LLVMVectorType(LLVMInt32TypeInContext(LLVMGetTypeContext(type)), (unsigned)lanes);
  return LLVMConstShuffleVector(one, LLVMGetPoison(LLVMTypeOf(one)), LLVMConstNull(map));
}

LLVMValueRef indim_emit_real(indim_emit *e, LLVMTypeRef type, double value) {
  (void)e;
  return every_lane(type, LLVMConstReal(element_of(type), value));
}

LLVMValueRef indim_emit_int(indim_emit *e, LLVMTypeRef type, uint64_t value) {
  (void)e;
  return every_lane(type, LLVMConstInt(element_of(type), value, 0));
}

LLVMValueRef indim_emit_intrinsic_of(indim_emit *e, const char *name, LLVMTypeRef *types, size_t type_count,
                                     LLVMValueRef *args, int32_t count) {
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  LLVMValueRef function = LLVMGetIntrinsicDeclaration(e->module, id, types, type_count);
  LLVMTypeRef function_type = LLVMIntrinsicGetType(e->context, id, types, type_count);
  return LLVMBuildCall2(e->builder, function_type, function, args, (unsigned)count, "");
}

LLVMValueRef indim_emit_intrinsic(indim_emit *e, const char *name, int32_t count, LLVMValueRef *args) {
  LLVMTypeRef type = LLVMTypeOf(args[0]);
  return indim_emit_intrinsic_of(e, name, &type, 1, args, count);
}

LLVMValueRef indim_emit_fma(indim_emit *e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  if (!e->has_fma) {
    return LLVMBuildFAdd(e->builder, LLVMBuildFMul(e->builder, a, b, ""), c, "");
  }
  LLVMValueRef args[] = {a, b, c};
  return indim_emit_intrinsic(e, "llvm.fma", 3, args);
}
