// Shared by all of emit/: the state of one compilation, and the register types of values.
//
//   storage type               in a register, per lane   note
//   pred                       i1
//   s8..s64, u8..u64           i8..i64
//   s1 s2 s4 u1 u2 u4          i8                        sign- or zero-extended, wrapped after every operation
//   f16 bf16 f8* f6* f4* e8m0  float                     a value of the type: rounded after every operation; if only
//                                                        moved, or f16: the integer of its bits (legalize.c)
//   f32, f64                   float, double
//   c64, c128                  two floats, two doubles   real and imaginary part in separate registers
//
// One lane is a scalar of LLVM (i32), more are a vector (<8 x i32>), of any number of lanes.
#ifndef INDIM_EMIT_CODEGEN_H
#define INDIM_EMIT_CODEGEN_H

#include <llvm-c/Core.h>

#include "emit/interface/emit.h"

typedef struct indim_emit {
  indim_ctx *cx;
  const indim_loop_program *program;
  unsigned fast;  // INDIM_FAST_*
  bool has_fma;
  bool has_f16c;             // conversions between f16 and f32 in hardware
  bool has_f16_arithmetic;   // instructions on f16
  bool has_slow_subnormals;  // an operation with a subnormal number may take a hundred times as long
  LLVMContextRef context;
  LLVMModuleRef module;
  LLVMBuilderRef builder;  // at the end of the current block
  LLVMValueRef function;   // that contains the block
} indim_emit;

// A value in registers.
typedef struct indim_reg {
  LLVMValueRef
      part[2];  // [1]: the imaginary part; NULL for types that are not complex (but see legalize.c for rows of bf16)
} indim_reg;

// scalar.c: the meaning of every elementwise operation (eval/ is the reference) ---------------------

// The register type of one part, and the memory type of an element (pred i8, f16 i16 or half, bf16 i16, f8 i8, c64 two
// consecutive floats: lanes * 2 of them).
LLVMTypeRef indim_emit_part_type(indim_emit *e, indim_type type, int32_t lanes);
LLVMTypeRef indim_emit_memory_type(indim_emit *e, indim_type type, int32_t lanes);
// From the memory type to the register type, and back.
indim_reg indim_emit_unpack(indim_emit *e, indim_type type, int32_t lanes, LLVMValueRef memory);
LLVMValueRef indim_emit_pack(indim_emit *e, indim_type type, int32_t lanes, indim_reg value);
// The element with these bits (array/element.h) in every lane.
indim_reg indim_emit_constant(indim_emit *e, indim_type type, int32_t lanes, uint64_t bits, uint64_t imag);
// |op| on |count| registers. |types| are the arguments' types, |type| the result's. INDIM_UNSUPPORTED, without a
// diagnostic, for an operation that is undefined for its types. The builder may be in another block afterwards, after a
// loop or a branch for rare lanes.
INDIM_CHECKED indim_status indim_emit_scalar(indim_emit *e, const indim_loop_op *op, indim_type type, int32_t lanes,
                                             int32_t count, const indim_type *types, const indim_reg *args,
                                             indim_reg *out);

// math.c: real functions of float and double, scalar or vector, inline ----------------------------------------------

// |op| is EXPONENTIAL, EXPONENTIAL_MINUS_ONE, LOG, LOG_PLUS_ONE, LOGISTIC, SINE, COSINE, TAN, SINH, COSH, TANH, ASIN,
// ACOS, ASINH, ACOSH, ATANH, CBRT, ERF, RSQRT. At most 2 ulp anywhere (docs/math.md has the measured worst),
// subnormals, infinities and NaN as in XLA. NULL for another op.
LLVMValueRef indim_emit_math(indim_emit *e, indim_op op, LLVMValueRef x);
// POWER, ATAN2 and REMAINDER (exact: fmod).
LLVMValueRef indim_emit_math2(indim_emit *e, indim_op op, LLVMValueRef x, LLVMValueRef y);
// Whether a power of that exponent is a few products, quotients and roots, where the exponent is a constant.
bool indim_emit_is_simple_power(double exponent);
// Sine and cosine of one argument, sharing the range reduction.
void indim_emit_sincos(indim_emit *e, LLVMValueRef x, LLVMValueRef *out_sin, LLVMValueRef *out_cos);

// Helpers (codegen.c) --------------------------------------------------------------------------------------------------

// An intrinsic by name, overloaded on |types|: ("llvm.lrint", {<8 x i32>, <8 x float>}), none for one that is not.
LLVMValueRef indim_emit_intrinsic_of(indim_emit *e, const char *name, LLVMTypeRef *types, size_t type_count,
                                     LLVMValueRef *args, int32_t count);
// The same ("llvm.fabs"), overloaded on the type of the first argument.
LLVMValueRef indim_emit_intrinsic(indim_emit *e, const char *name, int32_t count, LLVMValueRef *args);
// The number in every lane of the type (float or double, scalar or vector), and an integer of any such type.
LLVMValueRef indim_emit_real(indim_emit *e, LLVMTypeRef type, double value);
LLVMValueRef indim_emit_int(indim_emit *e, LLVMTypeRef type, uint64_t value);
// The integer type of the same lanes and bits; the type with another element and the same lanes.
LLVMTypeRef indim_emit_int_type(indim_emit *e, LLVMTypeRef type);
LLVMTypeRef indim_emit_like(indim_emit *e, LLVMTypeRef type, LLVMTypeRef element);
// a * b + c: one instruction where the target has it, else two roundings.
LLVMValueRef indim_emit_fma(indim_emit *e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c);

#endif  // INDIM_EMIT_CODEGEN_H
