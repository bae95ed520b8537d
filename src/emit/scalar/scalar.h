// Shared by scalar*.c: an operation with its operands, and conversion between registers and bit patterns.
#ifndef INDIM_EMIT_SCALAR_H
#define INDIM_EMIT_SCALAR_H

#include "emit/llvm/codegen.h"

// One operation on registers.
typedef struct indim_apply {
  indim_emit *e;
  const indim_loop_op *op;
  indim_type type;  // of the result
  int32_t lanes;
  int32_t count;
  const indim_type *types;  // of the arguments
  const indim_reg *args;
} indim_apply;

// The component type of a complex type; any other type itself.
indim_type indim_emit_part_of(indim_type type);

// By the class of the deciding argument (the second one's for select). NULL and false: undefined for its type.
LLVMValueRef indim_emit_int_op(const indim_apply *a);    // integers and pred
LLVMValueRef indim_emit_float_op(const indim_apply *a);  // floats; not COMPLEX
bool indim_emit_complex_op(const indim_apply *a, indim_reg *out);

// Converts one part by XLA's rules. Neither type is complex.
LLVMValueRef indim_emit_convert(indim_emit *e, int32_t lanes, indim_type from, indim_type to, LLVMValueRef x);
// The value of float type |type| nearest to |x|, floats or doubles, in the type's register. Rounds once only, from
// doubles too.
LLVMValueRef indim_emit_round(indim_emit *e, indim_type type, LLVMValueRef x);
// The same for the result of one instruction on values of that type: a NaN is one of its operands' or the processor's
// default, and has no bits where rounding would drop them.
LLVMValueRef indim_emit_round_instruction(indim_emit *e, indim_type type, LLVMValueRef x);
// x / y for a constant y as products, bit-identical; NULL where that is impossible or not profitable (scalar_divide.c).
LLVMValueRef indim_emit_divide_by_constant(indim_emit *e, LLVMValueRef x, LLVMValueRef y);
// x / y for vectors of 64-bit integers, y neither 0 nor, if signed, -1; NULL where that is not profitable (scalar_divide_wide.c).
LLVMValueRef indim_emit_divide_wide(indim_emit *e, bool is_signed, LLVMValueRef x, LLVMValueRef y);
// The low bits of an integer register extended to its type, after an operation that may have left its range.
LLVMValueRef indim_emit_wrap(indim_emit *e, indim_type type, LLVMValueRef x);

// Sets the fast-math flags that --fast allows on an instruction of f32 or f64.
LLVMValueRef indim_emit_relaxed(indim_emit *e, LLVMValueRef result);

// The halves that the register of an f16 holds as floats.
LLVMValueRef indim_emit_halves(indim_emit *e, LLVMValueRef x);
// The bits of a float's register as integers of the type's bytes (i8, i16, i32, i64), and back.
LLVMValueRef indim_emit_float_bits(indim_emit *e, indim_type type, LLVMValueRef x);
LLVMValueRef indim_emit_float_of_bits(indim_emit *e, indim_type type, LLVMValueRef bits);

// The integer type of |bits| with as many lanes as |like|.
static inline LLVMTypeRef indim_emit_ints(indim_emit *e, LLVMValueRef like, int32_t bits) {
  return indim_emit_like(e, LLVMTypeOf(like), LLVMIntTypeInContext(e->context, (unsigned)bits));
}
static inline LLVMTypeRef indim_emit_floats(indim_emit *e, LLVMValueRef like) {
  return indim_emit_like(e, LLVMTypeOf(like), LLVMFloatTypeInContext(e->context));
}
static inline LLVMTypeRef indim_emit_doubles(indim_emit *e, LLVMValueRef like) {
  return indim_emit_like(e, LLVMTypeOf(like), LLVMDoubleTypeInContext(e->context));
}

// An integer constant of |like|'s type.
static inline LLVMValueRef indim_emit_int_like(indim_emit *e, LLVMValueRef like, uint64_t value) {
  return indim_emit_int(e, LLVMTypeOf(like), value);
}
static inline LLVMValueRef indim_emit_real_like(indim_emit *e, LLVMValueRef like, double value) {
  return indim_emit_real(e, LLVMTypeOf(like), value);
}
static inline LLVMValueRef indim_emit_unary_intrinsic(indim_emit *e, const char *name, LLVMValueRef x) {
  return indim_emit_intrinsic(e, name, 1, &x);
}
static inline LLVMValueRef indim_emit_binary_intrinsic(indim_emit *e, const char *name, LLVMValueRef x,
                                                       LLVMValueRef y) {
  LLVMValueRef args[] = {x, y};
  return indim_emit_intrinsic(e, name, 2, args);
}
// The mask of lanes in which x is NaN.
static inline LLVMValueRef indim_emit_is_nan(indim_emit *e, LLVMValueRef x) {
  return LLVMBuildFCmp(e->builder, LLVMRealUNO, x, x, "");
}
bool indim_emit_is_double(LLVMValueRef x);
// The integer predicate for an indim_compare_direction.
LLVMIntPredicate indim_emit_int_predicate(int32_t direction, bool is_signed);

#endif  // INDIM_EMIT_SCALAR_H
