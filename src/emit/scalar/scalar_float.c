// Real floats. Types narrower than f32 compute in float, whose 24 bits suffice for double rounding to give the
// correctly rounded result of an exact operation; f8e8m0, whose products leave the range of float, computes in double.
// f32 and f64 compute in themselves. Nothing is contracted or reassociated unless the caller of the compiler requests
// it.
#include <math.h>

#include "array/float_format.h"
#include "emit/scalar/scalar.h"

LLVMValueRef indim_emit_relaxed(indim_emit *e, LLVMValueRef result) {
  unsigned flags = ((e->fast & INDIM_FAST_CONTRACT) != 0 ? LLVMFastMathAllowContract : 0) |
                   ((e->fast & INDIM_FAST_REASSOCIATE) != 0 ? LLVMFastMathAllowReassoc : 0) |
                   ((e->fast & INDIM_FAST_RECIPROCAL) != 0 ? LLVMFastMathAllowReciprocal : 0);
  if (flags != 0 && LLVMIsAInstruction(result) != NULL && LLVMCanValueUseFastMathFlags(result)) {
    LLVMSetFastMathFlags(result, flags);
  }
  return result;
}

// Types narrower than f32 are rounded after every operation, so they are never relaxed.
static LLVMValueRef relaxed(const indim_apply *a, LLVMValueRef result) {
  return a->type == INDIM_F32 || a->type == INDIM_F64 ? indim_emit_relaxed(a->e, result) : result;
}

// Exact operations ----------------------------------------------------------------------------------------------------

// NaN from either side; the left operand if they are equal, including zeros of either sign. The first two steps are one
// instruction of x86, which keeps the left operand when unordered.
static LLVMValueRef extreme(indim_emit *e, bool largest, LLVMValueRef x, LLVMValueRef y) {
  LLVMBuilderRef b = e->builder;
  LLVMValueRef takes_y = LLVMBuildFCmp(b, largest ? LLVMRealOGT : LLVMRealOLT, y, x, "");
  LLVMValueRef ordered = LLVMBuildSelect(b, takes_y, y, x, "");
  return LLVMBuildSelect(b, indim_emit_is_nan(e, y), y, ordered, "");
}

// min(max(value, low), high), NaN if any of the three is; constant bounds need no test for NaN.
static LLVMValueRef clamp(indim_emit *e, LLVMValueRef low, LLVMValueRef value, LLVMValueRef high) {
  LLVMBuilderRef b = e->builder;
  LLVMValueRef above = LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealOLT, value, low, ""), low, value, "");
  LLVMValueRef both = LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealOLT, high, above, ""), high, above, "");
  LLVMValueRef low_nan = indim_emit_is_nan(e, low);
  LLVMValueRef high_nan = indim_emit_is_nan(e, high);
  both = LLVMBuildSelect(b, high_nan, high, both, "");
  return LLVMBuildSelect(b, low_nan, low, both, "");
}

// -1, 1, the zero itself, or NaN.
static LLVMValueRef sign(indim_emit *e, LLVMValueRef x) {
  LLVMBuilderRef b = e->builder;
  LLVMValueRef zero = indim_emit_real_like(e, x, 0);
  LLVMValueRef args[] = {indim_emit_real_like(e, x, 1), x};
  LLVMValueRef one = indim_emit_intrinsic(e, "llvm.copysign", 2, args);
  return LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealONE, x, zero, ""), one, x, "");
}

// Halfway and beyond rounds away from zero; the fraction is exact.
static LLVMValueRef round_away(indim_emit *e, LLVMValueRef x) {
  LLVMBuilderRef b = e->builder;
  LLVMValueRef whole = indim_emit_unary_intrinsic(e, "llvm.trunc", x);
  LLVMValueRef rest = indim_emit_unary_intrinsic(e, "llvm.fabs", LLVMBuildFSub(b, x, whole, ""));
  LLVMValueRef args[] = {indim_emit_real_like(e, x, 1), x};
  LLVMValueRef next = LLVMBuildFAdd(b, whole, indim_emit_intrinsic(e, "llvm.copysign", 2, args), "");
  LLVMValueRef goes = LLVMBuildFCmp(b, LLVMRealOGE, rest, indim_emit_real_like(e, x, 0.5), "");
  return LLVMBuildSelect(b, goes, next, whole, "");
}

static LLVMRealPredicate comparison(int32_t direction) {
  switch (direction) {
  case INDIM_COMPARE_EQ:
    return LLVMRealOEQ;
  case INDIM_COMPARE_NE:
    return LLVMRealUNE;
  case INDIM_COMPARE_GE:
    return LLVMRealOGE;
  case INDIM_COMPARE_GT:
    return LLVMRealOGT;
  case INDIM_COMPARE_LE:
    return LLVMRealOLE;
  default:
    return LLVMRealOLT;
  }
}

// The key of an element in TOTALORDER, as an integer of the type's bytes: the magnitude, or its complement below zero.
// FNUZ has no -0, and its NaN orders below everything.
static LLVMValueRef order_key(indim_emit *e, indim_type type, LLVMValueRef x) {
  LLVMBuilderRef b = e->builder;
  const indim_float_format *format = indim_float_format_of(type);
  LLVMValueRef bits = indim_emit_float_bits(e, type, x);
  if (!format->has_sign) {
    return bits;
  }
  LLVMValueRef sign_bit = indim_emit_int_like(e, bits, format->sign_bit);
  LLVMValueRef zero = indim_emit_int_like(e, bits, 0);
  LLVMValueRef negative = LLVMBuildICmp(b, LLVMIntNE, LLVMBuildAnd(b, bits, sign_bit, ""), zero, "");
  LLVMValueRef magnitude = LLVMBuildAnd(b, bits, indim_emit_int_like(e, bits, format->sign_bit - 1), "");
  if (format->has_negative_zero) {
    return LLVMBuildSelect(b, negative, LLVMBuildNot(b, magnitude, ""), magnitude, "");
  }
  LLVMValueRef is_nan = LLVMBuildICmp(b, LLVMIntEQ, bits, sign_bit, "");
  LLVMValueRef key = LLVMBuildSelect(b, negative, LLVMBuildNeg(b, magnitude, ""), magnitude, "");
  return LLVMBuildSelect(b, is_nan, indim_emit_int_like(e, bits, UINT64_C(0) - format->sign_bit), key, "");
}

static LLVMValueRef compare(const indim_apply *a, LLVMValueRef x, LLVMValueRef y) {
  indim_emit *e = a->e;
  if (!a->op->total_order) {
    return LLVMBuildFCmp(e->builder, comparison(a->op->direction), x, y, "");
  }
  bool is_signed = indim_float_format_of(a->types[0])->has_sign;
  return LLVMBuildICmp(e->builder, indim_emit_int_predicate(a->op->direction, is_signed), order_key(e, a->types[0], x),
                       order_key(e, a->types[0], y), "");
}

static LLVMValueRef is_finite(indim_emit *e, LLVMValueRef x) {
  LLVMValueRef magnitude = indim_emit_unary_intrinsic(e, "llvm.fabs", x);
  return LLVMBuildFCmp(e->builder, LLVMRealOLT, magnitude, indim_emit_real_like(e, x, (double)INFINITY), "");
}

// Bits ----------------------------------------------------------------------------------------------------------------

static LLVMValueRef int_const(indim_emit *e, LLVMValueRef like, uint64_t c) { return indim_emit_int_like(e, like, c); }

// Rounds the mantissa, then clamps the exponent's range. Exact NaNs stay, but become infinite if no bit of the mantissa
// is left.
static LLVMValueRef reduce_precision(const indim_apply *a, LLVMValueRef x) {
  indim_emit *e = a->e;
  LLVMBuilderRef b = e->builder;
  const indim_float_format *format = indim_float_format_of(a->type);
  LLVMValueRef bits = indim_emit_float_bits(e, a->type, x);
  LLVMValueRef sign = LLVMBuildAnd(b, bits, int_const(e, bits, format->sign_bit), "");
  LLVMValueRef magnitude = LLVMBuildXor(b, bits, sign, "");
  LLVMValueRef plus = LLVMBuildICmp(b, LLVMIntEQ, sign, int_const(e, bits, 0), "");
  int32_t mantissa_bits = a->op->mantissa_bits;
  int32_t exponent_bits = a->op->exponent_bits;
  if (mantissa_bits < format->mantissa_bits) {
    uint64_t dropped = (uint64_t)(format->mantissa_bits - mantissa_bits);
    LLVMValueRef down = int_const(e, bits, dropped);
    LLVMValueRef last = LLVMBuildAnd(b, LLVMBuildLShr(b, magnitude, down, ""), int_const(e, bits, 1), "");
    LLVMValueRef half = int_const(e, bits, (UINT64_C(1) << (dropped - 1)) - 1);
    magnitude = LLVMBuildAdd(b, LLVMBuildAdd(b, magnitude, half, ""), last, "");
    magnitude = LLVMBuildShl(b, LLVMBuildLShr(b, magnitude, down, ""), down, "");
  }
  // The exponent fields that remain are those above |low| and up to |high|.
  LLVMValueRef result = LLVMBuildOr(b, sign, magnitude, "");
  LLVMValueRef over = LLVMBuildICmp(b, LLVMIntUGT, magnitude, int_const(e, bits, format->max_finite_bits), "");
  if (exponent_bits < format->exponent_bits) {
    int64_t reach = (INT64_C(1) << (exponent_bits - 1)) - 1;
    int64_t low = format->bias - reach;
    uint64_t high = (uint64_t)(format->bias + reach + 1) << format->mantissa_bits;
    if (high <= format->max_finite_bits) {
      over = LLVMBuildICmp(b, LLVMIntUGE, magnitude, int_const(e, bits, high), "");
    }
    if (low >= 0) {
      LLVMValueRef under =
          LLVMBuildICmp(b, LLVMIntULT, magnitude, int_const(e, bits, (uint64_t)(low + 1) << format->mantissa_bits), "");
      LLVMValueRef zero = LLVMBuildSelect(b, plus, int_const(e, bits, indim_float_encode(a->type, 0.0)),
                                          int_const(e, bits, indim_float_encode(a->type, -0.0)), "");
      result = LLVMBuildSelect(b, under, zero, result, "");
    }
  }
  LLVMValueRef end = LLVMBuildSelect(b, plus, int_const(e, bits, indim_float_encode(a->type, (double)INFINITY)),
                                     int_const(e, bits, indim_float_encode(a->type, -(double)INFINITY)), "");
  result = LLVMBuildSelect(b, over, end, result, "");
  if (format->has_infinity) {
    LLVMValueRef infinite =
        LLVMBuildICmp(b, LLVMIntEQ, LLVMBuildXor(b, bits, sign, ""), int_const(e, bits, format->infinity_bits), "");
    result = LLVMBuildSelect(b, infinite, bits, result, "");
  }
  if (format->has_nan) {
    LLVMValueRef kept = mantissa_bits > 0 || !format->has_infinity ? bits : int_const(e, bits, format->infinity_bits);
    result = LLVMBuildSelect(b, indim_emit_is_nan(e, x), kept, result, "");
  }
  return indim_emit_float_of_bits(e, a->type, result);
}

// |x| truncated, plus one if the random bits, as a fraction, are below the fraction of |x|.
static LLVMValueRef stochastic_convert(const indim_apply *a, LLVMValueRef x, LLVMValueRef random) {
  indim_emit *e = a->e;
  LLVMBuilderRef b = e->builder;
  int32_t bits = indim_type_bits(a->type);
  int32_t random_bits = indim_type_bits(a->types[1]);
  LLVMValueRef wide = indim_emit_is_double(x) ? x : LLVMBuildFPExt(b, x, indim_emit_doubles(e, x), "");
  LLVMValueRef magnitude = indim_emit_unary_intrinsic(e, "llvm.fabs", wide);
  LLVMValueRef whole = indim_emit_unary_intrinsic(e, "llvm.floor", magnitude);
  LLVMValueRef rest = LLVMBuildFSub(b, magnitude, whole, "");
  LLVMValueRef scaled = LLVMBuildFMul(b, rest, indim_emit_real_like(e, wide, ldexp(1, random_bits)), "");
  LLVMTypeRef ints = indim_emit_ints(e, x, 64);
  // Out-of-range lanes are replaced below, so any defined value will do for them.
  LLVMValueRef limit = indim_emit_real_like(e, wide, ldexp(1, bits - 1));
  LLVMValueRef in_range = LLVMBuildFCmp(b, LLVMRealOLT, magnitude, limit, "");
  LLVMValueRef zero = indim_emit_real_like(e, wide, 0);
  LLVMValueRef value = LLVMBuildFPToSI(b, LLVMBuildSelect(b, in_range, whole, zero, ""), ints, "");
  LLVMValueRef truncated = LLVMBuildFPToUI(b, LLVMBuildSelect(b, in_range, scaled, zero, ""), ints, "");

  LLVMValueRef pattern = LLVMBuildIntCast2(b, random, ints, 0, "");
  if (random_bits < 64) {
    pattern = LLVMBuildAnd(b, pattern, int_const(e, pattern, (UINT64_C(1) << random_bits) - 1), "");
  }
  LLVMValueRef up = LLVMBuildICmp(b, LLVMIntULT, pattern, truncated, "");
  uint64_t most = (UINT64_C(1) << (bits - 1)) - 1;
  LLVMValueRef negative = LLVMBuildICmp(b, LLVMIntSLT, LLVMBuildBitCast(b, wide, ints, ""), int_const(e, value, 0), "");
  LLVMValueRef end = LLVMBuildSelect(b, negative, int_const(e, value, ~most), int_const(e, value, most), "");
  LLVMValueRef is_most = LLVMBuildICmp(b, LLVMIntEQ, value, int_const(e, value, most), "");
  LLVMValueRef beyond = LLVMBuildAnd(b, up, is_most, "");
  value = LLVMBuildAdd(b, value, LLVMBuildZExt(b, up, ints, ""), "");
  value = LLVMBuildSelect(b, negative, LLVMBuildNeg(b, value, ""), value, "");
  LLVMValueRef ends = LLVMBuildOr(b, beyond, LLVMBuildNot(b, in_range, ""), "");
  value = LLVMBuildSelect(b, ends, end, value, "");
  value = LLVMBuildSelect(b, indim_emit_is_nan(e, wide), int_const(e, value, 0), value, "");
  LLVMValueRef narrowed = LLVMBuildIntCast2(b, value, indim_emit_ints(e, x, 8 * indim_type_bytes(a->type)), 1, "");
  return indim_emit_wrap(e, a->type, narrowed);
}

// Division ------------------------------------------------------------------------------------------------------------

// LLVM 19 constant-folds a lane of a vector quotient to zero when both operands are zero, which is NaN. The lanes that
// it can see are constants, and what shuffles merge with them.
enum { KNOWN_DEPTH = 6 };

static bool is_of_constants(LLVMValueRef v, int depth) {
  if (LLVMIsConstant(v)) {
    return true;
  }
  if (LLVMIsAInstruction(v) == NULL || LLVMIsALoadInst(v) != NULL || LLVMIsAPHINode(v) != NULL || depth == 0) {
    return false;
  }
  int count = LLVMGetNumOperands(v);
  for (int i = 0; i < count; i++) {
    if (!is_of_constants(LLVMGetOperand(v, (unsigned)i), depth - 1)) {
      return false;
    }
  }
  return true;
}

static bool may_have_known_zeros(LLVMValueRef v, int depth) {
  if (LLVMIsConstant(v)) {
    bool has_zero = false;
    for (unsigned k = 0; k < LLVMGetVectorSize(LLVMTypeOf(v)); k++) {
      LLVMValueRef lane = LLVMGetAggregateElement(v, k);
      has_zero = has_zero || lane == NULL || LLVMIsNull(lane);
    }
    return has_zero;
  }
  if (depth > 0 && LLVMIsAShuffleVectorInst(v) != NULL) {
    return may_have_known_zeros(LLVMGetOperand(v, 0), depth - 1) ||
           may_have_known_zeros(LLVMGetOperand(v, 1), depth - 1);
  }
  if (depth > 0 && LLVMIsAInsertElementInst(v) != NULL) {
    return may_have_known_zeros(LLVMGetOperand(v, 0), depth - 1) || is_of_constants(LLVMGetOperand(v, 1), depth - 1);
  }
  return is_of_constants(v, depth);
}

// The same bits, opaque to LLVM: xor-ed with a zero that went through an empty inline asm.
static LLVMValueRef opaque(indim_emit *e, LLVMValueRef x) {
  LLVMBuilderRef b = e->builder;
  LLVMTypeRef ints = indim_emit_int_type(e, LLVMTypeOf(x));
  LLVMTypeRef word = LLVMInt64TypeInContext(e->context);
  LLVMTypeRef type = LLVMFunctionType(word, &word, 1, 0);
  static const char constraints[] = "=r,0";
  LLVMValueRef pass =
      LLVMGetInlineAsm(type, "", 0, constraints, sizeof constraints - 1, 0, 0, LLVMInlineAsmDialectATT, 0);
  LLVMValueRef zero = LLVMConstNull(word);
  zero = LLVMBuildCall2(b, type, pass, &zero, 1, "");
  zero = LLVMBuildTruncOrBitCast(b, zero, LLVMGetElementType(ints), "");
  LLVMValueRef first = LLVMConstNull(LLVMInt32TypeInContext(e->context));
  LLVMValueRef one = LLVMBuildInsertElement(b, LLVMGetPoison(ints), zero, first, "");
  LLVMTypeRef map = LLVMVectorType(LLVMInt32TypeInContext(e->context), LLVMGetVectorSize(ints));
  LLVMValueRef zeros = LLVMBuildShuffleVector(b, one, LLVMGetPoison(ints), LLVMConstNull(map), "");
  LLVMValueRef bits = LLVMBuildXor(b, LLVMBuildBitCast(b, x, ints, ""), zeros, "");
  return LLVMBuildBitCast(b, bits, LLVMTypeOf(x), "");
}

static LLVMValueRef divide(indim_emit *e, LLVMValueRef x, LLVMValueRef y) {
  bool is_vector = LLVMGetTypeKind(LLVMTypeOf(x)) == LLVMVectorTypeKind;
  if (is_vector && may_have_known_zeros(y, KNOWN_DEPTH) && may_have_known_zeros(x, KNOWN_DEPTH)) {
    y = opaque(e, y);
  }
  return LLVMBuildFDiv(e->builder, x, y, "");
}

// Dispatch ------------------------------------------------------------------------------------------------------------

// Results in the computing type, not yet rounded. Ops that are not here are functions of math.c.
static LLVMValueRef arithmetic(const indim_apply *a, LLVMValueRef x, LLVMValueRef y) {
  indim_emit *e = a->e;
  LLVMBuilderRef b = e->builder;
  switch ((int)a->op->op) {
  case INDIM_OP_ADD:
    return relaxed(a, LLVMBuildFAdd(b, x, y, ""));
  case INDIM_OP_SUBTRACT:
    return relaxed(a, LLVMBuildFSub(b, x, y, ""));
  case INDIM_OP_MULTIPLY:
    return relaxed(a, LLVMBuildFMul(b, x, y, ""));
  case INDIM_OP_DIVIDE: {
    LLVMValueRef quotient = a->type == INDIM_F32 ? indim_emit_divide_by_constant(e, x, y) : NULL;
    return quotient != NULL ? quotient : relaxed(a, divide(e, x, y));
  }
  case INDIM_OP_NEGATE:
    return LLVMBuildFNeg(b, x, "");
  case INDIM_OP_SIGN:
    return sign(e, x);
  case INDIM_OP_FLOOR:
    return indim_emit_unary_intrinsic(e, "llvm.floor", x);
  case INDIM_OP_CEIL:
    return indim_emit_unary_intrinsic(e, "llvm.ceil", x);
  case INDIM_OP_ROUND_NEAREST_AFZ:
    return round_away(e, x);
  case INDIM_OP_ROUND_NEAREST_EVEN:
    return indim_emit_unary_intrinsic(e, "llvm.roundeven", x);
  case INDIM_OP_SQRT:
    return indim_emit_unary_intrinsic(e, "llvm.sqrt", x);
  case INDIM_OP_POWER:
  case INDIM_OP_ATAN2:
  case INDIM_OP_REMAINDER:
    return indim_emit_math2(e, a->op->op, x, y);
  default:
    return indim_emit_math(e, a->op->op, x);
  }
}

// Whether the operation maps values of f16 and bf16 to such values, so that no rounding is needed.
static bool stays_exact(indim_op op) {
  return op == INDIM_OP_NEGATE || op == INDIM_OP_SIGN || op == INDIM_OP_FLOOR || op == INDIM_OP_CEIL ||
         op == INDIM_OP_ROUND_NEAREST_AFZ || op == INDIM_OP_ROUND_NEAREST_EVEN || op == INDIM_OP_REMAINDER;
}

// Whether the operation is a single float instruction.
static bool is_instruction(indim_op op) {
  return op == INDIM_OP_ADD || op == INDIM_OP_SUBTRACT || op == INDIM_OP_MULTIPLY || op == INDIM_OP_DIVIDE ||
         op == INDIM_OP_SQRT;
}

LLVMValueRef indim_emit_float_op(const indim_apply *a) {
  indim_emit *e = a->e;
  LLVMBuilderRef b = e->builder;
  indim_type type = a->types[0];
  LLVMValueRef x = a->args[0].part[0];
  LLVMValueRef y = a->count > 1 ? a->args[1].part[0] : NULL;
  switch ((int)a->op->op) {
  case INDIM_OP_ABS:
    return indim_emit_unary_intrinsic(e, "llvm.fabs", x);
  case INDIM_OP_MAXIMUM:
  case INDIM_OP_MINIMUM:
    return extreme(e, a->op->op == INDIM_OP_MAXIMUM, x, y);
  case INDIM_OP_CLAMP:
    return clamp(e, x, y, a->args[2].part[0]);
  case INDIM_OP_COMPARE:
    return compare(a, x, y);
  case INDIM_OP_IS_FINITE:
    return is_finite(e, x);
  case INDIM_OP_REAL:
    return x;
  case INDIM_OP_IMAG:
    return indim_emit_constant(e, type, a->lanes, indim_float_encode(type, 0.0), 0).part[0];
  case INDIM_OP_REDUCE_PRECISION:
    return reduce_precision(a, x);
  case INDIM_OP_STOCHASTIC_CONVERT:
    return stochastic_convert(a, x, y);
  default:
    break;
  }
  // On halves it rounds as on floats and by a conversion, as these have more than twice as many digits.
  if (type == INDIM_F16 && e->has_f16_arithmetic && is_instruction(a->op->op)) {
    LLVMValueRef result = arithmetic(a, indim_emit_halves(e, x), y == NULL ? NULL : indim_emit_halves(e, y));
    return LLVMBuildFPExt(b, result, indim_emit_floats(e, x), "");
  }
  if (type == INDIM_F8E8M0FNU) {
    x = LLVMBuildFPExt(b, x, indim_emit_doubles(e, x), "");
    y = y == NULL ? NULL : LLVMBuildFPExt(b, y, indim_emit_doubles(e, y), "");
  }
  LLVMValueRef result = arithmetic(a, x, y);
  bool is_exact = (type == INDIM_F16 || type == INDIM_BF16) && stays_exact(a->op->op);
  if (result == NULL || is_exact) {
    return result;
  }
  return is_instruction(a->op->op) ? indim_emit_round_instruction(e, type, result) : indim_emit_round(e, type, result);
}
