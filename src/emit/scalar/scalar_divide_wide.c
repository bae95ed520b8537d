// Quotients of vectors of 64-bit integers. x86 has no instruction for them, and divides integers one by one, slowly. The quotient of
// two doubles below 2^51 truncates to the right integer: one that is not an integer is further from the next than its rounding error. Added to
// 3 * 2^51, such an integer is in the low bits of the double. Vectors with larger numbers are left to a function of its own.
#include <stdio.h>

#include "emit/math/math_kit.h"
#include "emit/scalar/scalar.h"

static const double magic = 0x1.8p52;

static val to_real(const kit *k, val x, val bits_of_magic) {
  return sub(k, as_real(k, iadd(k, x, bits_of_magic)), real(k, magic));
}

static val divide_lanes(const kit *k, bool is_signed, val x, val y) {
  return is_signed ? LLVMBuildSDiv(k->b, x, y, "") : LLVMBuildUDiv(k->b, x, y, "");
}

static val divide_out_of_line(const kit *k, bool is_signed, val x, val y) {
  char name[40];
  (void)snprintf(name, sizeof name, "indim.divide.%s64x%u", is_signed ? "s" : "u", LLVMGetVectorSize(k->bits));
  outlined function;
  if (indim_emit_math_outlined_begin(k->e, name, k->bits, k->bits, 2, &function)) {
    val args[] = {LLVMGetParam(function.function, 0), LLVMGetParam(function.function, 1)};
    indim_emit_math_outlined_end(k->e, function, divide_lanes(k, is_signed, args[0], args[1]));
  }
  val args[] = {x, y};
  return indim_emit_math_outlined_call(k->e, function, args, 2);
}

LLVMValueRef indim_emit_divide_wide(indim_emit *e, bool is_signed, LLVMValueRef x, LLVMValueRef y) {
  if (e->program == NULL || e->program->target.arch != INDIM_ARCH_X86_64) {
    return NULL;
  }
  kit of_doubles = {e, e->builder, indim_emit_doubles(e, x), LLVMTypeOf(x), true};
  const kit *k = &of_doubles;
  const int64_t limit = INT64_C(1) << 51;
  val either_high = is_signed ? ior(k, iadd(k, x, whole(k, limit)), iadd(k, y, whole(k, limit))) : ior(k, x, y);
  val high_bits = iand(k, either_high, whole(k, is_signed ? -2 * limit : -limit));
  val is_far = compare_bits(k, LLVMIntNE, high_bits, whole(k, 0));
  LLVMBasicBlockRef far = indim_emit_math_block(e, "divide");
  LLVMBasicBlockRef near = indim_emit_math_block(e, "");
  LLVMBasicBlockRef after = indim_emit_math_block(e, "");
  indim_emit_math_branch_rarely(e, indim_emit_math_any_lane(k, is_far), far, near);
  LLVMPositionBuilderAtEnd(k->b, far);
  val of_any = divide_out_of_line(k, is_signed, x, y);
  LLVMBuildBr(k->b, after);
  LLVMPositionBuilderAtEnd(k->b, near);
  val bits_of_magic = as_bits(k, real(k, magic));
  val ratio = quotient(k, to_real(k, x, bits_of_magic), to_real(k, y, bits_of_magic));
  val truncated = indim_emit_unary_intrinsic(e, "llvm.trunc", ratio);
  val of_near = isub(k, as_bits(k, add(k, truncated, real(k, magic))), bits_of_magic);
  LLVMBuildBr(k->b, after);
  LLVMPositionBuilderAtEnd(k->b, after);
  val result = indim_emit_math_phi(e, k->bits, of_near, near);
  LLVMAddIncoming(result, &of_any, &far, 1);
  return result;
}
