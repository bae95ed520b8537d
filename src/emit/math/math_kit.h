// Shared by math*.c: short names for building arithmetic on float or double, scalar or vector, and the parts common to
// several functions (exponential, logarithm, range reduction of angles).
//
//   kit k = kit_of(e, x);                      // the type of x decides: k.type, k.bits (the integers of the same lanes)
//   LLVMValueRef r = fma(&k, n, real(&k, -0.5), x);
//
// Formulas must work without fused multiply-add: where the rounding error of a product matters, two_product computes it
// on every target.
#ifndef INDIM_EMIT_MATH_KIT_H
#define INDIM_EMIT_MATH_KIT_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "emit/llvm/codegen.h"

typedef LLVMValueRef val;

typedef struct kit {
  indim_emit *e;
  LLVMBuilderRef b;
  LLVMTypeRef type;  // float or double, scalar or vector
  LLVMTypeRef bits;  // its integers
  bool is_double;
} kit;

static inline kit kit_of(indim_emit *e, val x) {
  LLVMTypeRef type = LLVMTypeOf(x);
  LLVMTypeRef element = LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
  return (kit){e, e->builder, type, indim_emit_int_type(e, type), LLVMGetTypeKind(element) == LLVMDoubleTypeKind};
}

// Constants. pick: one for each precision.
static inline val real(const kit *k, double value) { return indim_emit_real(k->e, k->type, value); }
static inline val whole(const kit *k, int64_t value) { return indim_emit_int(k->e, k->bits, (uint64_t)value); }
static inline double pick(const kit *k, double for_float, double for_double) {
  return k->is_double ? for_double : for_float;
}
static inline int64_t mantissa_bits(const kit *k) { return k->is_double ? 52 : 23; }
static inline int64_t bias(const kit *k) { return k->is_double ? 1023 : 127; }
static inline int64_t sign_bit(const kit *k) { return k->is_double ? INT64_MIN : INT64_C(0x80000000); }

// Floating-point arithmetic.
static inline val add(const kit *k, val a, val b) { return LLVMBuildFAdd(k->b, a, b, ""); }
static inline val sub(const kit *k, val a, val b) { return LLVMBuildFSub(k->b, a, b, ""); }
static inline val mul(const kit *k, val a, val b) { return LLVMBuildFMul(k->b, a, b, ""); }
static inline val quotient(const kit *k, val a, val b) { return LLVMBuildFDiv(k->b, a, b, ""); }
static inline val minus(const kit *k, val a) { return LLVMBuildFNeg(k->b, a, ""); }
static inline val fused(const kit *k, val a, val b, val c) { return indim_emit_fma(k->e, a, b, c); }
static inline val absolute(const kit *k, val a) { return indim_emit_intrinsic(k->e, "llvm.fabs", 1, &a); }
static inline val root(const kit *k, val a) { return indim_emit_intrinsic(k->e, "llvm.sqrt", 1, &a); }
static inline val with_sign(const kit *k, val magnitude, val sign) {
  val args[] = {magnitude, sign};
  return indim_emit_intrinsic(k->e, "llvm.copysign", 2, args);
}

// Integers of the same lanes.
static inline val as_bits(const kit *k, val a) { return LLVMBuildBitCast(k->b, a, k->bits, ""); }
static inline val as_real(const kit *k, val a) { return LLVMBuildBitCast(k->b, a, k->type, ""); }
static inline val iadd(const kit *k, val a, val b) { return LLVMBuildAdd(k->b, a, b, ""); }
static inline val isub(const kit *k, val a, val b) { return LLVMBuildSub(k->b, a, b, ""); }
static inline val iand(const kit *k, val a, val b) { return LLVMBuildAnd(k->b, a, b, ""); }
static inline val ior(const kit *k, val a, val b) { return LLVMBuildOr(k->b, a, b, ""); }
static inline val ixor(const kit *k, val a, val b) { return LLVMBuildXor(k->b, a, b, ""); }
static inline val shift_left(const kit *k, val a, int64_t by) { return LLVMBuildShl(k->b, a, whole(k, by), ""); }
static inline val shift_right(const kit *k, val a, int64_t by) { return LLVMBuildLShr(k->b, a, whole(k, by), ""); }
static inline val shift_signed(const kit *k, val a, int64_t by) { return LLVMBuildAShr(k->b, a, whole(k, by), ""); }

// Comparisons (false with NaN, except UNO and the U... ones) and selects.
static inline val compare(const kit *k, LLVMRealPredicate how, val a, val b) {
  return LLVMBuildFCmp(k->b, how, a, b, "");
}
static inline val compare_bits(const kit *k, LLVMIntPredicate how, val a, val b) {
  return LLVMBuildICmp(k->b, how, a, b, "");
}
static inline val below(const kit *k, val a, double limit) { return compare(k, LLVMRealOLT, a, real(k, limit)); }
static inline val above(const kit *k, val a, double limit) { return compare(k, LLVMRealOGT, a, real(k, limit)); }
static inline val equals(const kit *k, val a, double value) { return compare(k, LLVMRealOEQ, a, real(k, value)); }
static inline val is_nan(const kit *k, val a) { return compare(k, LLVMRealUNO, a, a); }
static inline val choose(const kit *k, val condition, val yes, val no) {
  if (LLVMIsConstant(condition)) {
    if (LLVMIsNull(condition)) {
      return no;
    }
    if (condition == LLVMConstAllOnes(LLVMTypeOf(condition))) {
      return yes;
    }
  }
  return LLVMBuildSelect(k->b, condition, yes, no, "");
}
static inline val both(const kit *k, val a, val b) { return LLVMBuildAnd(k->b, a, b, ""); }
static inline val either(const kit *k, val a, val b) { return LLVMBuildOr(k->b, a, b, ""); }
static inline val negated(const kit *k, val a) { return LLVMBuildNot(k->b, a, ""); }
// NaN is kept.
static inline val at_least(const kit *k, val a, double limit) {
  return choose(k, below(k, a, limit), real(k, limit), a);
}
static inline val at_most(const kit *k, val a, double limit) {
  return choose(k, above(k, a, limit), real(k, limit), a);
}
// |a| with the sign bit of |sign| xor-ed in.
static inline val flip(const kit *k, val a, val sign) {
  return as_real(k, ixor(k, as_bits(k, a), iand(k, as_bits(k, sign), whole(k, sign_bit(k)))));
}

// The same for a magnitude without sign bit, which is one instruction less.
static inline val under_sign(const kit *k, val magnitude, val sign) {
  return as_real(k, ior(k, as_bits(k, magnitude), iand(k, as_bits(k, sign), whole(k, sign_bit(k)))));
}

// A constant of a function that has more of them than there are registers (math_kit.c).
val indim_emit_math_coefficient(const kit *k, double value);

// c[0] + c[stride] x + ... by Horner's rule, |count| terms.
static inline val horner(const kit *k, val x, const double *c, int32_t count, int32_t stride) {
  val sum = indim_emit_math_coefficient(k, c[(count - 1) * stride]);
  for (int32_t i = count - 2; i >= 0; i--) {
    sum = fused(k, sum, x, indim_emit_math_coefficient(k, c[i * stride]));
  }
  return sum;
}

// c[0] + c[1] x + ..., the odd and the even terms separately (Estrin's first step): half the latency, which limits a
// loop.
static inline val polynomial(const kit *k, val x, const double *c, int32_t count) {
  if (count < 5) {
    return horner(k, x, c, count, 1);
  }
  val square = mul(k, x, x);
  val even = horner(k, square, c, (count + 1) / 2, 2);
  return fused(k, horner(k, square, c + 1, count / 2, 2), x, even);
}
#define HORNER(k, x, c) horner(k, x, c, (int32_t)(sizeof(c) / sizeof((c)[0])), 1)
#define POLYNOMIAL(k, x, c) polynomial(k, x, c, (int32_t)(sizeof(c) / sizeof((c)[0])))

// A double-double: an unevaluated sum; low is at most half an ulp of high.
typedef struct pair {
  val high;
  val low;
} pair;

// a * b exactly (math_kit.c).
pair indim_emit_math_two_product(const kit *k, val a, val b);
// a + b exactly; the first if |a| >= |b| or a is 0.
static inline pair quick_two_sum(const kit *k, val a, val b) {
  val sum = add(k, a, b);
  return (pair){sum, sub(k, b, sub(k, sum, a))};
}
static inline pair two_sum(const kit *k, val a, val b) {
  val sum = add(k, a, b);
  val of_b = sub(k, sum, a);
  val of_a = sub(k, sum, of_b);
  return (pair){sum, add(k, sub(k, a, of_a), sub(k, b, of_b))};
}

// top / bottom, with the division's residual. |bottom.high| is neither subnormal nor infinite (math_kit.c).
pair indim_emit_math_quotient(const kit *k, pair top, pair bottom);

// The functions of one argument, each of a value of k's type.
// clang-format off
#define INDIM_MATH_UNARY(X) \
  X(EXPONENTIAL, exp) \
  X(EXPONENTIAL_MINUS_ONE, expm1) \
  X(LOGISTIC, logistic) \
  X(TANH, tanh) \
  X(SINH, sinh) \
  X(COSH, cosh) \
  X(ERF, erf) \
  X(LOG, log) \
  X(LOG_PLUS_ONE, log1p) \
  X(ASINH, asinh) \
  X(ACOSH, acosh) \
  X(ATANH, atanh) \
  X(SINE, sin) \
  X(COSINE, cos) \
  X(TAN, tan) \
  X(ASIN, asin) \
  X(ACOS, acos) \
  X(CBRT, cbrt) \
  X(RSQRT, rsqrt)
// clang-format on
#define INDIM_MATH_DECLARE(op, name) val indim_emit_math_##name(const kit *k, val x);
INDIM_MATH_UNARY(INDIM_MATH_DECLARE)
#undef INDIM_MATH_DECLARE
// x minus the nearest multiple of pi / 2, for any x; the multiple is in the low two bits of |out_quarters|.
pair indim_emit_math_reduce(const kit *k, val x, val *out_quarters);
void indim_emit_math_sincos(const kit *k, val x, val *out_sin, val *out_cos);
val indim_emit_math_pow(const kit *k, val x, val y);
val indim_emit_math_atan2(const kit *k, val y, val x);
val indim_emit_math_remainder(const kit *k, val x, val y);

// Whether y is a splat of one constant (math_pow.c).
bool indim_emit_constant_of(val y, double *out_value);

// Shared parts -----------------------------------------------------------------------------------------------------

// e^(x + low); |low| is so small that it does not change the rounding of x, or NULL.
val indim_emit_math_exp_of_sum(const kit *k, val x, val low);
// A positive finite number as 2^e (1 + f), 1 + f in [sqrt(1/2), sqrt(2)); e as a real. Handles subnormal x if
// |subnormal|.
typedef struct split {
  val e;
  val f;
} split;
split indim_emit_math_split(const kit *k, val x, bool subnormal);
// Where x is no positive normal number: one comparison of its bits tells.
LLVMValueRef indim_emit_math_is_unusual(const kit *k, val x);
// Whether the condition holds in any lane, as one bit.
LLVMValueRef indim_emit_math_any_lane(const kit *k, LLVMValueRef condition);
// A new block of the current function, and a branch to a block that is rarely taken.
LLVMBasicBlockRef indim_emit_math_block(indim_emit *e, const char *name);
void indim_emit_math_branch_rarely(indim_emit *e, LLVMValueRef condition, LLVMBasicBlockRef rare,
                                   LLVMBasicBlockRef usual);
// An outlined function of the module for rare blocks, so that there is one copy of it. begin, for parameters of one type, and new
// return true when the function is new: then build its body, and finish it by end with its result, or NULL.
typedef struct outlined {
  LLVMValueRef function;
  LLVMTypeRef type;
  LLVMBasicBlockRef resume;
} outlined;
bool indim_emit_math_outlined_begin(indim_emit *e, const char *name, LLVMTypeRef result, LLVMTypeRef parameter,
                                    unsigned count, outlined *out_function);
bool indim_emit_math_outlined_new(indim_emit *e, const char *name, LLVMTypeRef type, outlined *out_function);
void indim_emit_math_outlined_end(indim_emit *e, outlined function, LLVMValueRef result);
LLVMValueRef indim_emit_math_outlined_call(indim_emit *e, outlined function, LLVMValueRef *args, unsigned count);
LLVMValueRef indim_emit_math_phi(indim_emit *e, LLVMTypeRef type, LLVMValueRef first, LLVMBasicBlockRef from);
// The same lanes in double, and back.
static inline val to_double(const kit *k, val a) {
  return LLVMBuildFPExt(k->b, a, indim_emit_like(k->e, k->type, LLVMDoubleTypeInContext(k->e->context)), "");
}
static inline val from_double(const kit *k, val a) { return LLVMBuildFPTrunc(k->b, a, k->type, ""); }

#endif  // INDIM_EMIT_MATH_KIT_H
