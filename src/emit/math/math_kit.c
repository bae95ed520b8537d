// Building blocks of the real functions: double-double products and quotients, coefficients, rarely taken branches,
// outlined functions.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "emit/math/math_kit.h"

// |a| rounded to half of its bits, so that the remainder has the other half and a sign.
static val upper_half(const kit *k, val a) {
  int64_t lost = k->is_double ? INT64_C(1) << 27 : INT64_C(1) << 12;
  return as_real(k, iand(k, iadd(k, as_bits(k, a), whole(k, lost / 2)), whole(k, -lost)));
}

pair indim_emit_math_two_product(const kit *k, val a, val b) {
  val product = mul(k, a, b);
  if (k->e->has_fma) {
    return (pair){product, fused(k, a, b, minus(k, product))};
  }
  val a_high = upper_half(k, a);
  val b_high = upper_half(k, b);
  val a_low = sub(k, a, a_high);
  val b_low = sub(k, b, b_high);
  val error = sub(k, mul(k, a_high, b_high), product);
  error = add(k, add(k, error, mul(k, a_high, b_low)), mul(k, a_low, b_high));
  return (pair){product, add(k, error, mul(k, a_low, b_low))};
}

pair indim_emit_math_quotient(const kit *k, pair top, pair bottom) {
  val one_over = quotient(k, real(k, 1), bottom.high);
  val first = mul(k, top.high, one_over);
  pair product = indim_emit_math_two_product(k, first, bottom.high);
  val rest = sub(k, sub(k, top.high, product.high), product.low);
  rest = add(k, rest, sub(k, top.low, mul(k, first, bottom.low)));
  return (pair){first, mul(k, rest, one_over)};
}

// With vectors of 256 bits the code generator would broadcast a constant by an instruction of its own, in each
// iteration under register pressure. A whole vector in memory is an operand of the instruction that uses it.
val indim_emit_math_coefficient(const kit *k, double value) {
  char name[48];
  indim_emit *e = k->e;
  if (LLVMGetTypeKind(k->type) != LLVMVectorTypeKind || e->program == NULL || e->program->target.vector_bytes != 32) {
    return real(k, value);
  }
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof bits);
  (void)snprintf(name, sizeof name, "%s%u_%016" PRIx64, k->is_double ? "f64x" : "f32x", LLVMGetVectorSize(k->type),
                 bits);
  val global = LLVMGetNamedGlobal(e->module, name);
  if (global == NULL) {
    global = LLVMAddGlobal(e->module, k->type, name);
    LLVMSetInitializer(global, real(k, value));
    LLVMSetGlobalConstant(global, 1);
    LLVMSetLinkage(global, LLVMPrivateLinkage);
    LLVMSetAlignment(global, 32);
  }
  val load = LLVMBuildLoad2(k->b, k->type, global, "");
  LLVMSetAlignment(load, 32);
  LLVMSetMetadata(load, LLVMGetMDKindIDInContext(e->context, "invariant.load", 14),
                  LLVMMDNodeInContext(e->context, NULL, 0));
  return load;
}

LLVMValueRef indim_emit_math_is_unusual(const kit *k, val x) {
  int64_t one = INT64_C(1) << mantissa_bits(k);  // of the exponent
  int64_t count = 2 * bias(k) * one;             // of positive normal numbers
  val from_least = isub(k, as_bits(k, x), whole(k, one + sign_bit(k)));
  return compare_bits(k, LLVMIntSGE, from_least, whole(k, count + sign_bit(k)));
}

LLVMValueRef indim_emit_math_any_lane(const kit *k, LLVMValueRef condition) {
  LLVMTypeRef type = LLVMTypeOf(condition);
  if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) {
    return condition;
  }
  LLVMTypeRef mask = LLVMIntTypeInContext(k->e->context, LLVMGetVectorSize(type));
  LLVMValueRef bits = LLVMBuildBitCast(k->b, condition, mask, "");
  return LLVMBuildICmp(k->b, LLVMIntNE, bits, LLVMConstNull(mask), "");
}

LLVMValueRef indim_emit_math_phi(indim_emit *e, LLVMTypeRef type, LLVMValueRef first, LLVMBasicBlockRef from) {
  LLVMValueRef phi = LLVMBuildPhi(e->builder, type, "");
  LLVMAddIncoming(phi, &first, &from, 1);
  return phi;
}

LLVMBasicBlockRef indim_emit_math_block(indim_emit *e, const char *name) {
  LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInsertBlock(e->builder));
  return LLVMAppendBasicBlockInContext(e->context, function, name);
}

void indim_emit_math_branch_rarely(indim_emit *e, LLVMValueRef condition, LLVMBasicBlockRef rare,
                                   LLVMBasicBlockRef usual) {
  static const char weights[] = "branch_weights";
  static const char profile[] = "prof";
  LLVMTypeRef number = LLVMInt32TypeInContext(e->context);
  LLVMValueRef branch = LLVMBuildCondBr(e->builder, condition, rare, usual);
  LLVMValueRef parts[] = {LLVMMDStringInContext(e->context, weights, sizeof weights - 1), LLVMConstInt(number, 1, 0),
                          LLVMConstInt(number, 1 << 20, 0)};
  LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(e->context, profile, sizeof profile - 1),
                  LLVMMDNodeInContext(e->context, parts, 3));
}

bool indim_emit_math_outlined_begin(indim_emit *e, const char *name, LLVMTypeRef result, LLVMTypeRef parameter,
                                    unsigned count, outlined *out_function) {
  LLVMTypeRef parameters[] = {parameter, parameter, parameter, parameter};
  return indim_emit_math_outlined_new(e, name, LLVMFunctionType(result, parameters, count, 0), out_function);
}

bool indim_emit_math_outlined_new(indim_emit *e, const char *name, LLVMTypeRef type, outlined *out_function) {
  out_function->type = type;
  out_function->function = LLVMGetNamedFunction(e->module, name);
  out_function->resume = NULL;
  if (out_function->function != NULL) {
    return false;
  }
  out_function->function = LLVMAddFunction(e->module, name, out_function->type);
  LLVMSetLinkage(out_function->function, LLVMInternalLinkage);
  out_function->resume = LLVMGetInsertBlock(e->builder);
  LLVMPositionBuilderAtEnd(e->builder, LLVMAppendBasicBlockInContext(e->context, out_function->function, ""));
  return true;
}

void indim_emit_math_outlined_end(indim_emit *e, outlined function, LLVMValueRef result) {
  (void)(result == NULL ? LLVMBuildRetVoid(e->builder) : LLVMBuildRet(e->builder, result));
  LLVMPositionBuilderAtEnd(e->builder, function.resume);
}

LLVMValueRef indim_emit_math_outlined_call(indim_emit *e, outlined function, LLVMValueRef *args, unsigned count) {
  return LLVMBuildCall2(e->builder, function.type, function.function, args, count, "");
}

val indim_emit_math_rsqrt(const kit *k, val x) { return quotient(k, real(k, 1), root(k, x)); }
