// Lanes: shuffles, splats, and sums of indices, scalar or vector.
#include <string.h>

#include "emit/program/program.h"

LLVMValueRef indim_emit_s64_like(indim_generator *g, LLVMValueRef like, int64_t value) {
  return indim_emit_int(&g->e, LLVMTypeOf(like), (uint64_t)value);
}

static LLVMValueRef scaled(indim_generator *g, LLVMValueRef x, int64_t factor) {
  return factor == 1 ? x : LLVMBuildNSWMul(g->e.builder, x, indim_emit_s64_like(g, x, factor), "");
}

LLVMValueRef indim_emit_add_scaled(indim_generator *g, LLVMValueRef sum, LLVMValueRef x, int64_t factor) {
  if (sum != NULL && factor < 0 && factor != INT64_MIN) {
    return LLVMBuildNSWSub(g->e.builder, sum, scaled(g, x, -factor), "");
  }
  x = scaled(g, x, factor);
  return sum == NULL ? x : LLVMBuildNSWAdd(g->e.builder, sum, x, "");
}

// The vector extended by lanes, or without its last ones: an insertion into or extraction from another vector, which
// LLVM does better than a shuffle to another number of lanes.
static LLVMValueRef resized(indim_generator *g, LLVMValueRef a, int32_t lanes) {
  LLVMTypeRef from = LLVMTypeOf(a);
  LLVMTypeRef to = LLVMVectorType(LLVMGetElementType(from), (unsigned)lanes);
  bool grows = (unsigned)lanes > LLVMGetVectorSize(from);
  const char *name = grows ? "llvm.vector.insert" : "llvm.vector.extract";
  LLVMTypeRef types[] = {to, from};
  LLVMValueRef zero = LLVMConstNull(LLVMInt64TypeInContext(g->e.context));
  LLVMValueRef inserted[] = {LLVMGetPoison(to), a, zero};
  LLVMValueRef extracted[] = {a, zero};
  LLVMValueRef function = LLVMGetIntrinsicDeclaration(g->e.module, LLVMLookupIntrinsicID(name, strlen(name)), types, 2);
  return LLVMBuildCall2(g->e.builder, LLVMGlobalGetValueType(function), function, grows ? inserted : extracted,
                        grows ? 3 : 2, "");
}

// Whether LLVM 19 can insert such a subvector: where its lanes are no power of two it fails, or takes lanes of others.
static bool is_part(LLVMValueRef a) {
  unsigned lanes = LLVMGetVectorSize(LLVMTypeOf(a));
  return (lanes & (lanes - 1)) == 0;
}

// Whether the type is a simple value type of LLVM 19's code generator; others are extended types.
static bool is_simple_type(LLVMTypeRef type) {
  unsigned lanes = LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetVectorSize(type) : 1;
  if ((lanes & (lanes - 1)) == 0 || lanes == 3) {
    return true;
  }
  LLVMTypeRef element = LLVMGetElementType(type);
  LLVMTypeKind kind = LLVMGetTypeKind(element);
  bool is_word = kind == LLVMFloatTypeKind || (kind == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(element) == 32);
  return is_word && lanes <= 12;
}

LLVMValueRef indim_emit_loaded(indim_generator *g, LLVMValueRef load) {
  return is_simple_type(LLVMTypeOf(load)) ? load : LLVMBuildFreeze(g->e.builder, load, "");
}

// Whether the shuffle only appends undefined lanes, or drops the last ones.
static bool only_resizes(LLVMValueRef a, int32_t lanes, const int32_t *map) {
  int32_t own = (int32_t)LLVMGetVectorSize(LLVMTypeOf(a));
  if (own < lanes && !is_part(a)) {
    return false;
  }
  for (int32_t k = 0; k < lanes; k++) {
    if (map[k] >= 0 ? map[k] != k : k < own) {
      return false;
    }
  }
  return own != lanes;
}

// Lane k is lane map[k] of the concatenation of a and b (vectors of one type; b may be NULL); undefined where that is
// -1.
LLVMValueRef indim_emit_shuffle(indim_generator *g, LLVMValueRef a, LLVMValueRef b, int32_t lanes, const int32_t *map) {
  LLVMTypeRef word = LLVMInt32TypeInContext(g->e.context);
  LLVMValueRef indices[2 * INDIM_EMIT_MAX_LANES];
  // A shuffle of a constant is a constant; LLVM 19 fails at inserting one whose elements are bits.
  if (b == NULL && !LLVMIsConstant(a) && only_resizes(a, lanes, map)) {
    return resized(g, a, lanes);
  }
  // Constants get no undefined lanes: LLVM 19 would take one in a select for the lane of the other constant, too.
  bool is_constant = LLVMIsConstant(a) && (b == NULL || LLVMIsConstant(b));
  LLVMValueRef any = is_constant ? LLVMConstNull(word) : LLVMGetPoison(word);
  for (int32_t k = 0; k < lanes; k++) {
    indices[k] = map[k] < 0 ? any : LLVMConstInt(word, (unsigned)map[k], 0);
  }
  b = b == NULL ? LLVMGetPoison(LLVMTypeOf(a)) : b;
  return LLVMBuildShuffleVector(g->e.builder, a, b, LLVMConstVector(indices, (unsigned)lanes), "");
}

LLVMValueRef indim_emit_splat(indim_generator *g, LLVMValueRef x, int32_t lanes) {
  if (lanes == 1) {
    return x;
  }
  LLVMTypeRef word = LLVMInt32TypeInContext(g->e.context);
  LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(x), (unsigned)lanes);
  LLVMValueRef one = LLVMBuildInsertElement(g->e.builder, LLVMGetPoison(type), x, LLVMConstNull(word), "");
  return LLVMBuildShuffleVector(g->e.builder, one, LLVMGetPoison(type),
                                LLVMConstNull(LLVMVectorType(word, (unsigned)lanes)), "");
}
