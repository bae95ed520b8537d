// The remainder of a truncated division, exactly. x - q y with the right q has no rounding; while q has fewer bits than
// a significand it comes from a division, at most one too large or small. Other lanes, which are rare, divide their
// significands as integers, 11 bits at a time, in a block that is normally skipped.
#include "emit/math/math_kit.h"

static LLVMValueRef word(const kit *k, uint64_t value) {
  return LLVMConstInt(LLVMInt64TypeInContext(k->e->context), value, 0);
}

// A double as significand * 2^(exponent - 1075).
typedef struct parts {
  LLVMValueRef significand;
  LLVMValueRef exponent;
} parts;

static parts parts_of(const kit *k, val positive) {
  LLVMBuilderRef b = k->b;
  LLVMValueRef bits = as_bits(k, positive);
  LLVMValueRef fraction = LLVMBuildAnd(b, bits, word(k, (UINT64_C(1) << 52) - 1), "");
  LLVMValueRef exponent = LLVMBuildLShr(b, bits, word(k, 52), "");
  LLVMValueRef is_subnormal = LLVMBuildICmp(b, LLVMIntEQ, exponent, word(k, 0), "");
  LLVMValueRef hidden = LLVMBuildOr(b, fraction, word(k, UINT64_C(1) << 52), "");
  return (parts){choose(k, is_subnormal, fraction, hidden), choose(k, is_subnormal, word(k, 1), exponent)};
}

// 2^(exponent - 1075) * significand; the product is a double.
static val assembled(const kit *k, LLVMValueRef significand, LLVMValueRef exponent) {
  val magnitude = LLVMBuildSIToFP(k->b, significand, k->type, "");
  // Two factors: 2^(exponent - 1075) alone may be smaller than the least normal double.
  LLVMValueRef half = LLVMBuildLShr(k->b, exponent, word(k, 1), "");
  LLVMValueRef rest = LLVMBuildSub(k->b, exponent, half, "");
  LLVMValueRef first = LLVMBuildAdd(k->b, half, word(k, 1023 - 538), "");
  LLVMValueRef second = LLVMBuildAdd(k->b, rest, word(k, 1023 - 537), "");
  return mul(k, mul(k, magnitude, as_real(k, shift_left(k, first, 52))), as_real(k, shift_left(k, second, 52)));
}

// One lane of doubles, |x| >= |y|; arbitrary for zeros, infinities and NaN, but never traps.
static val remainder_of_lane(const kit *k, val x, val y) {
  indim_emit *e = k->e;
  LLVMBuilderRef b = k->b;
  parts of_x = parts_of(k, absolute(k, x));
  parts of_y = parts_of(k, absolute(k, y));
  LLVMValueRef divisor =
      choose(k, LLVMBuildICmp(b, LLVMIntEQ, of_y.significand, word(k, 0), ""), word(k, 1), of_y.significand);
  LLVMValueRef distance = LLVMBuildSub(b, of_x.exponent, of_y.exponent, "");
  LLVMValueRef first = LLVMBuildURem(b, of_x.significand, divisor, "");
  LLVMBasicBlockRef before = LLVMGetInsertBlock(b);
  LLVMBasicBlockRef test = indim_emit_math_block(e, "remainder.test");
  LLVMBasicBlockRef step = indim_emit_math_block(e, "remainder.step");
  LLVMBasicBlockRef after = indim_emit_math_block(e, "remainder.lane");
  LLVMBuildBr(b, test);
  LLVMPositionBuilderAtEnd(b, test);
  LLVMValueRef left = indim_emit_math_phi(e, k->bits, distance, before);
  LLVMValueRef rest = indim_emit_math_phi(e, k->bits, first, before);
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntSGT, left, word(k, 0), ""), step, after);
  LLVMPositionBuilderAtEnd(b, step);
  LLVMValueRef bits = choose(k, LLVMBuildICmp(b, LLVMIntSLT, left, word(k, 11), ""), left, word(k, 11));
  LLVMValueRef next = LLVMBuildURem(b, LLVMBuildShl(b, rest, bits, ""), divisor, "");
  LLVMValueRef next_left = LLVMBuildSub(b, left, bits, "");
  LLVMAddIncoming(left, &next_left, &step, 1);
  LLVMAddIncoming(rest, &next, &step, 1);
  LLVMBuildBr(b, test);
  LLVMPositionBuilderAtEnd(b, after);
  return assembled(k, rest, of_y.exponent);
}

// A scalar of either type, in double, which has every float and every remainder of floats.
static val remainder_of_scalar(indim_emit *e, val x, val y) {
  kit k = kit_of(e, x);
  LLVMTypeRef type = LLVMDoubleTypeInContext(e->context);
  outlined function;
  if (indim_emit_math_outlined_begin(e, "indim.remainder", type, type, 2, &function)) {
    val dividend = LLVMGetParam(function.function, 0);
    kit of_double = kit_of(e, dividend);
    val rest = remainder_of_lane(&of_double, dividend, LLVMGetParam(function.function, 1));
    indim_emit_math_outlined_end(e, function, rest);
  }
  LLVMValueRef args[] = {k.is_double ? x : to_double(&k, x), k.is_double ? y : to_double(&k, y)};
  val rest = indim_emit_math_outlined_call(e, function, args, 2);
  return k.is_double ? rest : from_double(&k, rest);
}

// All lanes, in a loop; leaves the builder after it.
static val remainder_of_lanes(const kit *k, val x, val y) {
  indim_emit *e = k->e;
  if (LLVMGetTypeKind(k->type) != LLVMVectorTypeKind) {
    return remainder_of_scalar(e, x, y);
  }
  LLVMTypeRef index = LLVMInt32TypeInContext(e->context);
  LLVMBasicBlockRef before = LLVMGetInsertBlock(k->b);
  LLVMBasicBlockRef loop = indim_emit_math_block(e, "remainder.loop");
  LLVMBasicBlockRef after = indim_emit_math_block(e, "remainder.lanes");
  LLVMBuildBr(k->b, loop);
  LLVMPositionBuilderAtEnd(k->b, loop);
  LLVMValueRef lane = indim_emit_math_phi(e, index, LLVMConstNull(index), before);
  LLVMValueRef all = indim_emit_math_phi(e, k->type, LLVMGetUndef(k->type), before);
  val one =
      remainder_of_scalar(e, LLVMBuildExtractElement(k->b, x, lane, ""), LLVMBuildExtractElement(k->b, y, lane, ""));
  LLVMValueRef next = LLVMBuildInsertElement(k->b, all, one, lane, "");
  LLVMValueRef next_lane = LLVMBuildAdd(k->b, lane, LLVMConstInt(index, 1, 0), "");
  LLVMBasicBlockRef from = LLVMGetInsertBlock(k->b);
  LLVMAddIncoming(lane, &next_lane, &from, 1);
  LLVMAddIncoming(all, &next, &from, 1);
  LLVMValueRef count = LLVMConstInt(index, LLVMGetVectorSize(k->type), 0);
  LLVMBuildCondBr(k->b, LLVMBuildICmp(k->b, LLVMIntULT, next_lane, count, ""), loop, after);
  LLVMPositionBuilderAtEnd(k->b, after);
  return next;
}

val indim_emit_math_remainder(const kit *k, val x, val y) {
  indim_emit *e = k->e;
  val dividend = absolute(k, x);
  val divisor = absolute(k, y);
  val ratio = quotient(k, dividend, divisor);
  // Rounds to the nearest integer: the sum has no bits below 1.
  val magic = real(k, pick(k, 0x1p23, 0x1p52));
  val count = sub(k, add(k, ratio, magic), magic);
  pair product = {NULL, NULL};
  val near;
  if (e->has_fma) {
    near = fused(k, minus(k, count), divisor, dividend);
  } else {
    product = indim_emit_math_two_product(k, count, divisor);
    near = sub(k, sub(k, dividend, product.high), product.low);
  }
  near = choose(k, below(k, near, 0), add(k, near, divisor), near);
  val is_finite = compare(k, LLVMRealOLT, dividend, real(k, HUGE_VAL));
  val is_inside = compare(k, LLVMRealOLT, dividend, divisor);
  near = choose(k, is_inside, dividend, near);
  near = choose(k, both(k, is_finite, above(k, divisor, 0)), near, real(k, (double)NAN));
  val is_far = compare(k, LLVMRealOGE, ratio, real(k, pick(k, 0x1p22, 0x1p51)));
  if (!e->has_fma) {
    // The products of halves of significands must neither underflow below the least subnormal nor overflow.
    val is_small = below(k, dividend, pick(k, FLT_MIN * 0x1p60, DBL_MIN * 0x1p120));
    LLVMValueRef is_large = above(k, dividend, pick(k, 0x1p126, 0x1p1022));
    is_far = either(k, is_far, both(k, either(k, is_small, is_large), negated(k, is_inside)));
  }
  is_far = both(k, is_far, both(k, is_finite, above(k, divisor, 0)));
  LLVMBasicBlockRef before = LLVMGetInsertBlock(k->b);
  LLVMBasicBlockRef slow = indim_emit_math_block(e, "remainder.far");
  LLVMBasicBlockRef after = indim_emit_math_block(e, "remainder");
  indim_emit_math_branch_rarely(e, indim_emit_math_any_lane(k, is_far), slow, after);
  LLVMPositionBuilderAtEnd(k->b, slow);
  val mixed = choose(k, is_far, remainder_of_lanes(k, x, y), near);
  LLVMBasicBlockRef from = LLVMGetInsertBlock(k->b);
  LLVMBuildBr(k->b, after);
  LLVMPositionBuilderAtEnd(k->b, after);
  val rest = indim_emit_math_phi(e, k->type, near, before);
  LLVMAddIncoming(rest, &mixed, &from, 1);
  return with_sign(k, rest, x);
}
