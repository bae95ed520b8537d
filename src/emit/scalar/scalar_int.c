// Integers and pred. Sub-byte types are held extended in i8: an operation computes on i8 and wraps its result, or uses
// the zero-extended bits for bitwise semantics. Nothing here traps.
#include "emit/scalar/scalar.h"

typedef enum sense { IS_PRED, IS_SIGNED, IS_UNSIGNED } sense;

static sense sense_of(indim_type type) {
  return type == INDIM_PRED ? IS_PRED : indim_type_is_signed_int(type) ? IS_SIGNED : IS_UNSIGNED;
}

LLVMValueRef indim_emit_wrap(indim_emit *e, indim_type type, LLVMValueRef x) {
  int32_t bits = indim_type_bits(type);
  if (type == INDIM_PRED || bits >= 8) {
    return x;
  }
  if (!indim_type_is_signed_int(type)) {
    return LLVMBuildAnd(e->builder, x, indim_emit_int_like(e, x, (UINT64_C(1) << bits) - 1), "");
  }
  LLVMValueRef up = indim_emit_int_like(e, x, (uint64_t)(8 - bits));
  return LLVMBuildAShr(e->builder, LLVMBuildShl(e->builder, x, up, ""), up, "");
}

// The type's bits, zero-extended.
static LLVMValueRef pattern(indim_emit *e, indim_type type, LLVMValueRef x) {
  int32_t bits = indim_type_bits(type);
  return bits >= 8 || type == INDIM_PRED
             ? x
             : LLVMBuildAnd(e->builder, x, indim_emit_int_like(e, x, (UINT64_C(1) << bits) - 1), "");
}

// The type's bits sign-extended, also of unsigned types.
static LLVMValueRef extended(indim_emit *e, indim_type type, LLVMValueRef x) {
  int32_t bits = indim_type_bits(type);
  return bits >= 8 ? x : indim_emit_wrap(e, indim_type_signed_of_bits(bits), x);
}

// x / y for y other than 0 and -1 (0 when unsigned). Vectors have no integer division: up to 32 bits the quotient of
// doubles (floats up to 16 bits) truncates to the right integer, because a noninteger quotient is further from the next
// integer than the rounding error.
static LLVMValueRef quotient(indim_emit *e, indim_type type, LLVMValueRef x, LLVMValueRef y) {
  LLVMBuilderRef b = e->builder;
  bool is_signed = indim_type_is_signed_int(type);
  int32_t bits = indim_type_bits(type);
  bool is_vector = LLVMGetTypeKind(LLVMTypeOf(x)) == LLVMVectorTypeKind;
  LLVMValueRef wide = is_vector && bits > 32 && !LLVMIsConstant(y) ? indim_emit_divide_wide(e, is_signed, x, y) : NULL;
  if (wide != NULL) {
    return wide;
  }
  if (!is_vector || bits > 32 || LLVMIsConstant(y)) {
    return is_signed ? LLVMBuildSDiv(b, x, y, "") : LLVMBuildUDiv(b, x, y, "");
  }
  LLVMTypeRef real = bits > 16 ? indim_emit_doubles(e, x) : indim_emit_floats(e, x);
  LLVMTypeRef ints = bits > 16 ? LLVMTypeOf(x) : indim_emit_ints(e, x, 32);
  if (bits <= 16) {
    x = is_signed ? LLVMBuildSExt(b, x, ints, "") : LLVMBuildZExt(b, x, ints, "");
    y = is_signed ? LLVMBuildSExt(b, y, ints, "") : LLVMBuildZExt(b, y, ints, "");
  }
  bool as_signed = is_signed || bits <= 16;
  LLVMValueRef above = as_signed ? LLVMBuildSIToFP(b, x, real, "") : LLVMBuildUIToFP(b, x, real, "");
  LLVMValueRef below = as_signed ? LLVMBuildSIToFP(b, y, real, "") : LLVMBuildUIToFP(b, y, real, "");
  LLVMValueRef whole = LLVMBuildFDiv(b, above, below, "");
  LLVMValueRef result = as_signed ? LLVMBuildFPToSI(b, whole, ints, "") : LLVMBuildFPToUI(b, whole, ints, "");
  return bits > 16 ? result : LLVMBuildTrunc(b, result, indim_emit_ints(e, x, bits < 8 ? 8 : bits), "");
}

// x / 0 is -1, or all ones when unsigned; the least value / -1 wraps to itself.
static LLVMValueRef divide(indim_emit *e, indim_type type, LLVMValueRef x, LLVMValueRef y) {
  LLVMBuilderRef b = e->builder;
  LLVMValueRef one = indim_emit_int_like(e, x, 1);
  LLVMValueRef minus_one = indim_emit_int_like(e, x, UINT64_MAX);
  LLVMValueRef is_zero = LLVMBuildICmp(b, LLVMIntEQ, y, indim_emit_int_like(e, x, 0), "");
  if (!indim_type_is_signed_int(type)) {
    LLVMValueRef safe = LLVMBuildSelect(b, is_zero, one, y, "");
    return LLVMBuildSelect(b, is_zero, minus_one, quotient(e, type, x, safe), "");
  }
  LLVMValueRef is_minus_one = LLVMBuildICmp(b, LLVMIntEQ, y, minus_one, "");
  LLVMValueRef safe = LLVMBuildSelect(b, LLVMBuildOr(b, is_zero, is_minus_one, ""), one, y, "");
  LLVMValueRef result = quotient(e, type, x, safe);
  result = LLVMBuildSelect(b, is_minus_one, LLVMBuildNeg(b, x, ""), result, "");
  return LLVMBuildSelect(b, is_zero, minus_one, result, "");
}

// x - x / y * y gives x for y == 0 and 0 for y == -1 by itself.
static LLVMValueRef remainder_of(indim_emit *e, indim_type type, LLVMValueRef x, LLVMValueRef y) {
  LLVMValueRef whole = LLVMBuildMul(e->builder, divide(e, type, x, y), y, "");
  return LLVMBuildSub(e->builder, x, whole, "");
}

// Power ---------------------------------------------------------------------------------------------------------------

static LLVMValueRef any_lane(indim_emit *e, LLVMValueRef lanes) {
  return LLVMGetTypeKind(LLVMTypeOf(lanes)) == LLVMVectorTypeKind
             ? indim_emit_unary_intrinsic(e, "llvm.vector.reduce.or", lanes)
             : lanes;
}

// The splat constant, if it is one.
static bool constant_exponent(LLVMValueRef y, uint64_t *out) {
  LLVMValueRef lane = y;
  if (!LLVMIsConstant(y)) {
    return false;
  }
  if (LLVMGetTypeKind(LLVMTypeOf(y)) == LLVMVectorTypeKind) {
    unsigned lanes = LLVMGetVectorSize(LLVMTypeOf(y));
    lane = LLVMGetAggregateElement(y, 0);
    for (unsigned i = 1; lane != NULL && i < lanes; i++) {
      if (LLVMGetAggregateElement(y, i) != lane) {
        return false;
      }
    }
  }
  if (lane == NULL || LLVMIsAConstantInt(lane) == NULL) {
    return false;
  }
  *out = LLVMConstIntGetZExtValue(lane);
  return true;
}

static LLVMValueRef constant_power(indim_emit *e, LLVMValueRef base, uint64_t exponent) {
  LLVMValueRef result = NULL;
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) {
      result = result == NULL ? base : LLVMBuildMul(e->builder, result, base, "");
    }
    if (exponent > 1) {
      base = LLVMBuildMul(e->builder, base, base, "");
    }
  }
  return result == NULL ? indim_emit_int_like(e, base, 1) : result;
}

// By squaring, as many rounds as the largest exponent has bits.
static LLVMValueRef power_loop(indim_emit *e, LLVMValueRef base, LLVMValueRef exponent) {
  LLVMBuilderRef b = e->builder;
  LLVMTypeRef type = LLVMTypeOf(base);
  LLVMBasicBlockRef before = LLVMGetInsertBlock(b);
  LLVMValueRef function = LLVMGetBasicBlockParent(before);
  LLVMBasicBlockRef loop = LLVMAppendBasicBlockInContext(e->context, function, "");
  LLVMBasicBlockRef after = LLVMAppendBasicBlockInContext(e->context, function, "");
  LLVMValueRef one = indim_emit_int(e, type, 1);
  LLVMValueRef zero = indim_emit_int(e, type, 0);
  LLVMBuildBr(b, loop);

  LLVMPositionBuilderAtEnd(b, loop);
  LLVMValueRef result = LLVMBuildPhi(b, type, "");
  LLVMValueRef square = LLVMBuildPhi(b, type, "");
  LLVMValueRef rest = LLVMBuildPhi(b, type, "");
  LLVMValueRef odd = LLVMBuildICmp(b, LLVMIntNE, LLVMBuildAnd(b, rest, one, ""), zero, "");
  LLVMValueRef next = LLVMBuildSelect(b, odd, LLVMBuildMul(b, result, square, ""), result, "");
  LLVMValueRef next_square = LLVMBuildMul(b, square, square, "");
  LLVMValueRef next_rest = LLVMBuildLShr(b, rest, one, "");
  LLVMValueRef any = any_lane(e, next_rest);
  LLVMValueRef more = LLVMBuildICmp(b, LLVMIntNE, any, indim_emit_int_like(e, any, 0), "");
  LLVMBuildCondBr(b, more, loop, after);
  LLVMBasicBlockRef from[] = {before, loop};
  LLVMAddIncoming(result, (LLVMValueRef[]){one, next}, from, 2);
  LLVMAddIncoming(square, (LLVMValueRef[]){base, next_square}, from, 2);
  LLVMAddIncoming(rest, (LLVMValueRef[]){exponent, next_rest}, from, 2);

  LLVMPositionBuilderAtEnd(b, after);
  return next;
}

// A negative exponent gives 1 for base 1 and 0 otherwise.
static LLVMValueRef power(indim_emit *e, indim_type type, LLVMValueRef x, LLVMValueRef y) {
  LLVMBuilderRef b = e->builder;
  uint64_t exponent;
  bool is_known = constant_exponent(y, &exponent);
  LLVMValueRef zero = indim_emit_int_like(e, x, 0);
  LLVMValueRef negative = indim_type_is_signed_int(type) ? LLVMBuildICmp(b, LLVMIntSLT, y, zero, "") : NULL;
  LLVMValueRef result = is_known ? constant_power(e, x, exponent) : power_loop(e, x, y);
  if (negative == NULL) {
    return result;
  }
  LLVMValueRef is_one = LLVMBuildICmp(b, LLVMIntEQ, x, indim_emit_int_like(e, x, 1), "");
  return LLVMBuildSelect(b, negative, LLVMBuildZExt(b, is_one, LLVMTypeOf(x), ""), result, "");
}

// Bits ----------------------------------------------------------------------------------------------------------------

// Amounts are unsigned; an amount of the width or more shifts everything out.
static LLVMValueRef shift(indim_emit *e, indim_op op, indim_type type, LLVMValueRef x, LLVMValueRef y) {
  LLVMBuilderRef b = e->builder;
  int32_t bits = indim_type_bits(type);
  LLVMValueRef amount = pattern(e, type, y);
  if (op == INDIM_OP_SHIFT_RIGHT_ARITHMETIC) {
    amount = indim_emit_binary_intrinsic(e, "llvm.umin", amount, indim_emit_int_like(e, x, (uint64_t)(bits - 1)));
    return LLVMBuildAShr(b, extended(e, type, x), amount, "");
  }
  LLVMValueRef fits = LLVMBuildICmp(b, LLVMIntULT, amount, indim_emit_int_like(e, x, (uint64_t)bits), "");
  LLVMValueRef shifted =
      op == INDIM_OP_SHIFT_LEFT ? LLVMBuildShl(b, x, amount, "") : LLVMBuildLShr(b, pattern(e, type, x), amount, "");
  return LLVMBuildSelect(b, fits, shifted, indim_emit_int_like(e, x, 0), "");
}

static LLVMValueRef leading_zeros(indim_emit *e, indim_type type, LLVMValueRef x) {
  int32_t bits = indim_type_bits(type);
  LLVMValueRef args[] = {pattern(e, type, x), LLVMConstInt(LLVMInt1TypeInContext(e->context), 0, 0)};
  LLVMValueRef zeros = indim_emit_intrinsic(e, "llvm.ctlz", 2, args);
  return bits >= 8 ? zeros : LLVMBuildSub(e->builder, zeros, indim_emit_int_like(e, x, (uint64_t)(8 - bits)), "");
}

// The high half of the product.
static LLVMValueRef high_product(indim_emit *e, indim_type type, LLVMValueRef x, LLVMValueRef y) {
  LLVMBuilderRef b = e->builder;
  int32_t bits = indim_type_bits(type);
  LLVMTypeRef wide = indim_emit_ints(e, x, bits < 8 ? 16 : 2 * bits);
  bool is_signed = indim_type_is_signed_int(type);
  LLVMValueRef a = is_signed ? LLVMBuildSExt(b, x, wide, "") : LLVMBuildZExt(b, x, wide, "");
  LLVMValueRef c = is_signed ? LLVMBuildSExt(b, y, wide, "") : LLVMBuildZExt(b, y, wide, "");
  LLVMValueRef product = LLVMBuildMul(b, a, c, "");
  product = LLVMBuildLShr(b, product, indim_emit_int_like(e, product, (uint64_t)bits), "");
  return LLVMBuildTrunc(b, product, LLVMTypeOf(x), "");
}

// Order ---------------------------------------------------------------------------------------------------------------

LLVMIntPredicate indim_emit_int_predicate(int32_t direction, bool is_signed) {
  switch (direction) {
  case INDIM_COMPARE_EQ:
    return LLVMIntEQ;
  case INDIM_COMPARE_NE:
    return LLVMIntNE;
  case INDIM_COMPARE_GE:
    return is_signed ? LLVMIntSGE : LLVMIntUGE;
  case INDIM_COMPARE_GT:
    return is_signed ? LLVMIntSGT : LLVMIntUGT;
  case INDIM_COMPARE_LE:
    return is_signed ? LLVMIntSLE : LLVMIntULE;
  default:
    return is_signed ? LLVMIntSLT : LLVMIntULT;
  }
}

static LLVMValueRef extreme(indim_emit *e, indim_type type, bool largest, LLVMValueRef x, LLVMValueRef y) {
  switch (sense_of(type)) {
  case IS_PRED:
    return largest ? LLVMBuildOr(e->builder, x, y, "") : LLVMBuildAnd(e->builder, x, y, "");
  case IS_SIGNED:
    return indim_emit_binary_intrinsic(e, largest ? "llvm.smax" : "llvm.smin", x, y);
  case IS_UNSIGNED:
    break;
  }
  return indim_emit_binary_intrinsic(e, largest ? "llvm.umax" : "llvm.umin", x, y);
}

static LLVMValueRef sign(indim_emit *e, indim_type type, LLVMValueRef x) {
  LLVMBuilderRef b = e->builder;
  LLVMValueRef zero = indim_emit_int_like(e, x, 0);
  if (!indim_type_is_signed_int(type)) {
    return LLVMBuildZExt(b, LLVMBuildICmp(b, LLVMIntNE, x, zero, ""), LLVMTypeOf(x), "");
  }
  LLVMValueRef above = LLVMBuildZExt(b, LLVMBuildICmp(b, LLVMIntSGT, x, zero, ""), LLVMTypeOf(x), "");
  LLVMValueRef below = LLVMBuildSExt(b, LLVMBuildICmp(b, LLVMIntSLT, x, zero, ""), LLVMTypeOf(x), "");
  return LLVMBuildOr(b, above, below, "");
}

static LLVMValueRef absolute(indim_emit *e, indim_type type, LLVMValueRef x) {
  if (!indim_type_is_signed_int(type)) {
    return NULL;
  }
  LLVMValueRef args[] = {x, LLVMConstInt(LLVMInt1TypeInContext(e->context), 0, 0)};
  return indim_emit_intrinsic(e, "llvm.abs", 2, args);
}

// Results before wrapping.
static LLVMValueRef unwrapped(const indim_apply *a, indim_type type, LLVMValueRef x, LLVMValueRef y) {
  indim_emit *e = a->e;
  LLVMBuilderRef b = e->builder;
  switch ((int)a->op->op) {
  case INDIM_OP_ABS:
    return absolute(e, type, x);
  case INDIM_OP_NEGATE:
    return LLVMBuildNeg(b, x, "");
  case INDIM_OP_SIGN:
    return sign(e, type, x);
  case INDIM_OP_NOT:
    return LLVMBuildNot(b, x, "");
  case INDIM_OP_POPCNT:
    return indim_emit_unary_intrinsic(e, "llvm.ctpop", pattern(e, type, x));
  case INDIM_OP_COUNT_LEADING_ZEROS:
    return leading_zeros(e, type, x);
  case INDIM_OP_ADD:
    return LLVMBuildAdd(b, x, y, "");
  case INDIM_OP_SUBTRACT:
    return LLVMBuildSub(b, x, y, "");
  case INDIM_OP_MULTIPLY:
    return LLVMBuildMul(b, x, y, "");
  case INDIM_OP_DIVIDE:
    return divide(e, type, x, y);
  case INDIM_OP_REMAINDER:
    return remainder_of(e, type, x, y);
  case INDIM_OP_POWER:
    return power(e, type, x, y);
  case INDIM_OP_MULHI:
    return high_product(e, type, x, y);
  case INDIM_OP_SHIFT_LEFT:
  case INDIM_OP_SHIFT_RIGHT_ARITHMETIC:
  case INDIM_OP_SHIFT_RIGHT_LOGICAL:
    return shift(e, a->op->op, type, x, y);
  default:
    return NULL;
  }
}

// pred is the integers modulo "not zero": 1 + 1 is true.
static LLVMValueRef pred_op(const indim_apply *a, LLVMValueRef x, LLVMValueRef y) {
  LLVMBuilderRef b = a->e->builder;
  switch ((int)a->op->op) {
  case INDIM_OP_NOT:
    return LLVMBuildNot(b, x, "");
  case INDIM_OP_ADD:
    return LLVMBuildOr(b, x, y, "");
  case INDIM_OP_MULTIPLY:
    return LLVMBuildAnd(b, x, y, "");
  default:
    return NULL;
  }
}

LLVMValueRef indim_emit_int_op(const indim_apply *a) {
  indim_emit *e = a->e;
  indim_type type = a->types[0];
  LLVMValueRef x = a->args[0].part[0];
  LLVMValueRef y = a->count > 1 ? a->args[1].part[0] : NULL;
  switch ((int)a->op->op) {
  case INDIM_OP_AND:
    return LLVMBuildAnd(e->builder, x, y, "");
  case INDIM_OP_OR:
    return LLVMBuildOr(e->builder, x, y, "");
  case INDIM_OP_XOR:
    return LLVMBuildXor(e->builder, x, y, "");
  case INDIM_OP_MAXIMUM:
  case INDIM_OP_MINIMUM:
    return extreme(e, type, a->op->op == INDIM_OP_MAXIMUM, x, y);
  case INDIM_OP_CLAMP:  // low, value, high: the upper bound wins when they cross
    return extreme(e, type, false, extreme(e, type, true, y, x), a->args[2].part[0]);
  case INDIM_OP_COMPARE:
    return LLVMBuildICmp(e->builder, indim_emit_int_predicate(a->op->direction, indim_type_is_signed_int(type)), x, y,
                         "");
  default:
    break;
  }
  if (type == INDIM_PRED) {
    return pred_op(a, x, y);
  }
  LLVMValueRef result = unwrapped(a, type, x, y);
  return result == NULL ? NULL : indim_emit_wrap(e, type, result);
}
