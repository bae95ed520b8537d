// Conversions, and the floats narrower than f32: rounding a float to one of their values, and its bits.
//
// One scheme serves all formats, with constants of float_format.def. A magnitude in the format's normal range is
// rounded and encoded by integer arithmetic on the float's bits. Below it the format's values are equally spaced, and
// adding 2^23 times that spacing to the float leaves their number in its low bits, rounded by the hardware. Doubles are
// first rounded to odd (the last bit is sticky) in float, so that the second rounding is correct.
#include <math.h>
#include <string.h>

#include "array/float_format.h"
#include "emit/scalar/scalar.h"

static const uint64_t sign_of_float = UINT64_C(1) << 31;
static const uint64_t infinity_of_float = UINT64_C(0xFF) << 23;
static const uint64_t nan_of_float = UINT64_C(0x1FF) << 22;

static LLVMTypeRef element_of(LLVMTypeRef type) {
  return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
}

bool indim_emit_is_double(LLVMValueRef x) { return LLVMGetTypeKind(element_of(LLVMTypeOf(x))) == LLVMDoubleTypeKind; }

// Short names for operations on i32 lanes; constants have the lanes of the other operand.
static LLVMValueRef add_const(indim_emit *e, LLVMValueRef x, uint64_t c) {
  return LLVMBuildAdd(e->builder, x, indim_emit_int_like(e, x, c), "");
}
static LLVMValueRef and_const(indim_emit *e, LLVMValueRef x, uint64_t c) {
  return LLVMBuildAnd(e->builder, x, indim_emit_int_like(e, x, c), "");
}
static LLVMValueRef shl_const(indim_emit *e, LLVMValueRef x, int32_t c) {
  return c == 0 ? x : LLVMBuildShl(e->builder, x, indim_emit_int_like(e, x, (uint64_t)c), "");
}
static LLVMValueRef lshr_const(indim_emit *e, LLVMValueRef x, int32_t c) {
  return c == 0 ? x : LLVMBuildLShr(e->builder, x, indim_emit_int_like(e, x, (uint64_t)c), "");
}
static LLVMValueRef compare_const(indim_emit *e, LLVMIntPredicate predicate, LLVMValueRef x, uint64_t c) {
  return LLVMBuildICmp(e->builder, predicate, x, indim_emit_int_like(e, x, c), "");
}
static LLVMValueRef choose_const(indim_emit *e, LLVMValueRef which, uint64_t c, LLVMValueRef otherwise) {
  return LLVMBuildSelect(e->builder, which, indim_emit_int_like(e, otherwise, c), otherwise, "");
}
static LLVMValueRef as_ints(indim_emit *e, LLVMValueRef x) {
  return LLVMBuildBitCast(e->builder, x, indim_emit_int_type(e, LLVMTypeOf(x)), "");
}
static LLVMValueRef as_floats(indim_emit *e, LLVMValueRef bits) {
  return LLVMBuildBitCast(e->builder, bits, indim_emit_floats(e, bits), "");
}

static uint64_t bits_of_float(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

// Constants of the scheme for a format other than e8m0.
typedef struct narrow {
  const indim_float_format *format;
  int32_t dropped;      // bits of a float's mantissa that the format lacks
  uint64_t rebias;      // difference of the float's and the format's encoded exponents, at the format's exponent field
  uint64_t min_normal;  // as a float's bits
  uint64_t max_finite;
  double magic;  // 2^23 times the spacing of subnormals
} narrow;

static narrow narrow_of(indim_type type) {
  const indim_float_format *format = indim_float_format_of(type);
  return (narrow){.format = format,
                  .dropped = 23 - format->mantissa_bits,
                  .rebias = (uint64_t)(127 - format->bias) << format->mantissa_bits,
                  .min_normal = (uint64_t)(128 - format->bias) << 23,
                  .max_finite = bits_of_float((float)indim_float_decode(type, format->max_finite_bits)),
                  .magic = ldexp(1, 1 - format->bias - format->mantissa_bits + 23)};
}

// Rounding ------------------------------------------------------------------------------------------------------------

// A double rounded to odd to float; exact where it is a float.
static LLVMValueRef float_rounded_to_odd(indim_emit *e, LLVMValueRef x) {
  LLVMBuilderRef b = e->builder;
  LLVMValueRef near = LLVMBuildFPTrunc(b, x, indim_emit_floats(e, x), "");
  LLVMValueRef back = LLVMBuildFPExt(b, near, LLVMTypeOf(x), "");
  LLVMValueRef far_out = LLVMBuildFCmp(b, LLVMRealOGT, indim_emit_unary_intrinsic(e, "llvm.fabs", back),
                                       indim_emit_unary_intrinsic(e, "llvm.fabs", x), "");
  LLVMValueRef inexact = LLVMBuildFCmp(b, LLVMRealONE, back, x, "");
  LLVMValueRef bits = as_ints(e, near);
  bits = LLVMBuildAdd(b, bits, LLVMBuildSExt(b, far_out, LLVMTypeOf(bits), ""), "");
  bits = LLVMBuildOr(b, bits, LLVMBuildZExt(b, inexact, LLVMTypeOf(bits), ""), "");
  return as_floats(e, bits);
}

// Round to nearest even in the bits above |dropped|; the carry into the exponent is right as it is.
static LLVMValueRef round_bits(indim_emit *e, LLVMValueRef bits, int32_t dropped) {
  LLVMValueRef last = and_const(e, lshr_const(e, bits, dropped), 1);
  return LLVMBuildAdd(e->builder, add_const(e, bits, (UINT64_C(1) << (dropped - 1)) - 1), last, "");
}

// The same for a bf16 result: rounding keeps a NaN whose lower half is 0.
static LLVMValueRef round_bf16_number(indim_emit *e, LLVMValueRef x) {
  return as_floats(e, and_const(e, round_bits(e, as_ints(e, x), 16), 0xFFFF0000));
}

static LLVMValueRef round_bf16(indim_emit *e, LLVMValueRef x) {
  LLVMValueRef bits = as_ints(e, x);
  LLVMValueRef quiet = LLVMBuildOr(e->builder, bits, indim_emit_int_like(e, bits, UINT64_C(1) << 22), "");
  LLVMValueRef rounded = LLVMBuildSelect(e->builder, indim_emit_is_nan(e, x), quiet, round_bits(e, bits, 16), "");
  return as_floats(e, and_const(e, rounded, 0xFFFF0000));
}

static LLVMValueRef round_f16(indim_emit *e, LLVMValueRef x) {
  LLVMTypeRef half = indim_emit_like(e, LLVMTypeOf(x), LLVMHalfTypeInContext(e->context));
  return LLVMBuildFPExt(e->builder, LLVMBuildFPTrunc(e->builder, x, half, ""), LLVMTypeOf(x), "");
}

// Powers of two, in doubles, where all of f8e8m0 is normal. A tie goes up.
static LLVMValueRef round_scale(indim_emit *e, LLVMValueRef x) {
  LLVMBuilderRef b = e->builder;
  LLVMValueRef wide = indim_emit_is_double(x) ? x : LLVMBuildFPExt(b, x, indim_emit_doubles(e, x), "");
  LLVMValueRef above_zero = LLVMBuildFCmp(b, LLVMRealOGT, wide, indim_emit_real_like(e, wide, 0), "");
  LLVMValueRef below_limit = LLVMBuildFCmp(b, LLVMRealOLT, wide, indim_emit_real_like(e, wide, 0x1.8p127), "");
  LLVMValueRef fits = LLVMBuildAnd(b, above_zero, below_limit, "");
  LLVMValueRef bits = add_const(e, as_ints(e, wide), UINT64_C(1) << 51);
  bits = and_const(e, bits, UINT64_C(0x7FF) << 52);
  bits = indim_emit_binary_intrinsic(e, "llvm.umax", bits, indim_emit_int_like(e, bits, UINT64_C(896) << 52));
  LLVMValueRef power = LLVMBuildBitCast(b, bits, LLVMTypeOf(wide), "");
  LLVMValueRef narrowed = LLVMBuildFPTrunc(b, power, indim_emit_floats(e, x), "");
  return LLVMBuildSelect(b, fits, narrowed, indim_emit_real_like(e, narrowed, (double)NAN), "");
}

// Overflow is decided last, on the rounded magnitude.
static LLVMValueRef round_narrow(indim_emit *e, indim_type type, LLVMValueRef x) {
  LLVMBuilderRef b = e->builder;
  narrow n = narrow_of(type);
  LLVMValueRef bits = as_ints(e, x);
  LLVMValueRef magnitude = and_const(e, bits, sign_of_float - 1);
  LLVMValueRef sign = and_const(e, bits, sign_of_float);
  LLVMValueRef normal = round_bits(e, magnitude, n.dropped);
  normal = and_const(e, normal, (UINT64_C(1) << 32) - (UINT64_C(1) << n.dropped));
  LLVMValueRef magic = indim_emit_real_like(e, x, n.magic);
  LLVMValueRef spaced = LLVMBuildFSub(b, LLVMBuildFAdd(b, as_floats(e, magnitude), magic, ""), magic, "");
  LLVMValueRef is_small = compare_const(e, LLVMIntULT, magnitude, n.min_normal);
  LLVMValueRef rounded = LLVMBuildSelect(b, is_small, as_ints(e, spaced), normal, "");

  LLVMValueRef is_over = compare_const(e, LLVMIntUGT, rounded, n.max_finite);
  LLVMValueRef is_nan = compare_const(e, LLVMIntUGT, magnitude, infinity_of_float);
  switch (n.format->kind) {
  case INDIM_FLOAT_IEEE:
    rounded = choose_const(e, is_over, infinity_of_float, rounded);
    rounded = choose_const(e, is_nan, nan_of_float, rounded);
    break;
  case INDIM_FLOAT_FINITE:  // NaN gives -0, -NaN gives +0
    rounded = choose_const(e, is_over, n.max_finite, rounded);
    rounded = choose_const(e, is_nan, 0, rounded);
    sign = LLVMBuildXor(b, sign, choose_const(e, is_nan, sign_of_float, indim_emit_int_like(e, sign, 0)), "");
    break;
  case INDIM_FLOAT_FNUZ:
    rounded = choose_const(e, is_over, nan_of_float, rounded);
    sign = choose_const(e, compare_const(e, LLVMIntEQ, rounded, 0), 0, sign);
    break;
  case INDIM_FLOAT_FN:
  case INDIM_FLOAT_SCALE:
    rounded = choose_const(e, is_over, nan_of_float, rounded);
    break;
  }
  return as_floats(e, LLVMBuildOr(b, rounded, sign, ""));
}

LLVMValueRef indim_emit_round(indim_emit *e, indim_type type, LLVMValueRef x) {
  if (type == INDIM_F64 || (type == INDIM_F32 && !indim_emit_is_double(x))) {
    return x;
  }
  if (type == INDIM_F32) {
    return LLVMBuildFPTrunc(e->builder, x, indim_emit_floats(e, x), "");
  }
  if (type == INDIM_F8E8M0FNU) {
    return round_scale(e, x);
  }
  LLVMValueRef single = indim_emit_is_double(x) ? float_rounded_to_odd(e, x) : x;
  if (type == INDIM_BF16) {
    return round_bf16(e, single);
  }
  return type == INDIM_F16 && e->has_f16c ? round_f16(e, single) : round_narrow(e, type, single);
}

LLVMValueRef indim_emit_round_instruction(indim_emit *e, indim_type type, LLVMValueRef x) {
  return type == INDIM_BF16 && !indim_emit_is_double(x) ? round_bf16_number(e, x) : indim_emit_round(e, type, x);
}

// Bits ----------------------------------------------------------------------------------------------------------------

// The halves that a float register was extended from, if it is an fpext.
static LLVMValueRef extended_halves(LLVMValueRef x) {
  if (LLVMIsAFPExtInst(x) == NULL) {
    return NULL;
  }
  LLVMValueRef from = LLVMGetOperand(x, 0);
  return LLVMGetTypeKind(element_of(LLVMTypeOf(from))) == LLVMHalfTypeKind ? from : NULL;
}

LLVMValueRef indim_emit_halves(indim_emit *e, LLVMValueRef x) {
  LLVMValueRef half = extended_halves(x);
  LLVMTypeRef halves = indim_emit_like(e, LLVMTypeOf(x), LLVMHalfTypeInContext(e->context));
  return half != NULL ? half : LLVMBuildFPTrunc(e->builder, x, halves, "");
}

// i32 lanes: the encoding of a float that is a value of the format.
static LLVMValueRef encode_narrow(indim_emit *e, indim_type type, LLVMValueRef x) {
  LLVMBuilderRef b = e->builder;
  narrow n = narrow_of(type);
  LLVMValueRef bits = as_ints(e, x);
  LLVMValueRef magnitude = and_const(e, bits, sign_of_float - 1);
  LLVMValueRef sign = and_const(e, lshr_const(e, bits, 32 - n.format->bits), n.format->sign_bit);
  LLVMValueRef shifted = lshr_const(e, magnitude, n.dropped);
  LLVMValueRef normal = add_const(e, shifted, UINT64_C(0) - n.rebias);
  LLVMValueRef sum = LLVMBuildFAdd(b, as_floats(e, magnitude), indim_emit_real_like(e, x, n.magic), "");
  LLVMValueRef count = add_const(e, as_ints(e, sum), UINT64_C(0) - bits_of_float((float)n.magic));
  LLVMValueRef is_small = compare_const(e, LLVMIntULT, magnitude, n.min_normal);
  LLVMValueRef coded = LLVMBuildSelect(b, is_small, count, normal, "");
  LLVMValueRef is_special = compare_const(e, LLVMIntUGE, magnitude, infinity_of_float);
  switch (n.format->kind) {
  case INDIM_FLOAT_IEEE: {  // all ones of the wider exponent to all ones of the narrower one
    LLVMValueRef special = add_const(e, normal, UINT64_C(0) - n.rebias);
    coded = LLVMBuildSelect(b, is_special, special, coded, "");
    break;
  }
  case INDIM_FLOAT_FNUZ:
    return choose_const(e, is_special, n.format->sign_bit, LLVMBuildOr(b, coded, sign, ""));
  case INDIM_FLOAT_FN:
    coded = choose_const(e, is_special, n.format->quiet_nan_bits, coded);
    break;
  case INDIM_FLOAT_FINITE:
  case INDIM_FLOAT_SCALE:
    break;
  }
  return LLVMBuildOr(b, coded, sign, "");
}

static LLVMValueRef decode_narrow(indim_emit *e, indim_type type, LLVMValueRef pattern) {
  LLVMBuilderRef b = e->builder;
  narrow n = narrow_of(type);
  int32_t m = n.format->mantissa_bits;
  LLVMValueRef magnitude = and_const(e, pattern, n.format->sign_bit - 1);
  LLVMValueRef sign_bit = and_const(e, pattern, n.format->sign_bit);
  LLVMValueRef sign = shl_const(e, sign_bit, 32 - n.format->bits);
  LLVMValueRef normal = add_const(e, shl_const(e, magnitude, n.dropped), n.rebias << n.dropped);
  LLVMValueRef sum = as_floats(e, add_const(e, magnitude, bits_of_float((float)n.magic)));
  LLVMValueRef spaced = LLVMBuildFSub(b, sum, indim_emit_real_like(e, sum, n.magic), "");
  LLVMValueRef is_small = compare_const(e, LLVMIntULT, magnitude, UINT64_C(1) << m);
  LLVMValueRef bits = LLVMBuildSelect(b, is_small, as_ints(e, spaced), normal, "");
  switch (n.format->kind) {
  case INDIM_FLOAT_IEEE: {
    LLVMValueRef is_special = compare_const(e, LLVMIntUGE, magnitude, n.format->infinity_bits);
    bits = LLVMBuildSelect(b, is_special, add_const(e, normal, n.rebias << n.dropped), bits, "");
    break;
  }
  case INDIM_FLOAT_FNUZ:
    bits = choose_const(e, compare_const(e, LLVMIntEQ, pattern, n.format->sign_bit), nan_of_float, bits);
    break;
  case INDIM_FLOAT_FN:
    bits = choose_const(e, compare_const(e, LLVMIntEQ, magnitude, n.format->quiet_nan_bits), nan_of_float, bits);
    break;
  case INDIM_FLOAT_FINITE:
  case INDIM_FLOAT_SCALE:
    break;
  }
  return as_floats(e, LLVMBuildOr(b, bits, sign, ""));
}

// Exponent field 0 is 2^-127, a subnormal float; all ones are the NaN.
static LLVMValueRef decode_scale(indim_emit *e, LLVMValueRef pattern) {
  LLVMValueRef bits = shl_const(e, pattern, 23);
  bits = choose_const(e, compare_const(e, LLVMIntEQ, pattern, 0), UINT64_C(1) << 22, bits);
  return as_floats(e, choose_const(e, compare_const(e, LLVMIntEQ, pattern, 0xFF), nan_of_float, bits));
}

LLVMValueRef indim_emit_float_bits(indim_emit *e, indim_type type, LLVMValueRef x) {
  LLVMBuilderRef b = e->builder;
  if (type == INDIM_F32 || type == INDIM_F64) {
    return as_ints(e, x);
  }
  LLVMTypeRef narrow_ints = indim_emit_ints(e, x, 8 * indim_type_bytes(type));
  if (type == INDIM_F16 && e->has_f16c) {
    return LLVMBuildBitCast(b, indim_emit_halves(e, x), narrow_ints, "");
  }
  LLVMValueRef bits = type == INDIM_BF16        ? lshr_const(e, as_ints(e, x), 16)
                      : type == INDIM_F8E8M0FNU ? lshr_const(e, as_ints(e, x), 23)
                                                : encode_narrow(e, type, x);
  return LLVMBuildTrunc(b, bits, narrow_ints, "");
}

LLVMValueRef indim_emit_float_of_bits(indim_emit *e, indim_type type, LLVMValueRef bits) {
  LLVMBuilderRef b = e->builder;
  if (type == INDIM_F64) {
    return LLVMBuildBitCast(b, bits, indim_emit_doubles(e, bits), "");
  }
  if (type == INDIM_F32) {
    return as_floats(e, bits);
  }
  if (type == INDIM_F16 && e->has_f16c) {
    LLVMTypeRef half = indim_emit_like(e, LLVMTypeOf(bits), LLVMHalfTypeInContext(e->context));
    return LLVMBuildFPExt(b, LLVMBuildBitCast(b, bits, half, ""), indim_emit_floats(e, bits), "");
  }
  LLVMValueRef wide = LLVMBuildZExt(b, bits, indim_emit_ints(e, bits, 32), "");
  if (type == INDIM_BF16) {
    return as_floats(e, shl_const(e, wide, 16));
  }
  if (type == INDIM_F8E8M0FNU) {
    return decode_scale(e, wide);
  }
  return decode_narrow(e, type, and_const(e, wide, (UINT64_C(1) << indim_type_bits(type)) - 1));
}

// Converting ----------------------------------------------------------------------------------------------------------

// An integer of |bits| bits rounded to odd to |digits| significant ones, or fewer: exact as a float of so many digits.
static LLVMValueRef int_rounded_to_odd(indim_emit *e, bool is_signed, int32_t bits, int32_t digits, LLVMValueRef x) {
  LLVMBuilderRef b = e->builder;
  const uint64_t exact = UINT64_C(1) << digits;
  const uint64_t dropped = (UINT64_C(1) << (bits - digits)) - 1;
  LLVMValueRef is_exact = is_signed ? compare_const(e, LLVMIntULT, add_const(e, x, exact), 2 * exact)
                                    : compare_const(e, LLVMIntULT, x, exact);
  LLVMValueRef is_inexact = compare_const(e, LLVMIntNE, and_const(e, x, dropped), 0);
  LLVMValueRef sticky = shl_const(e, LLVMBuildZExt(b, is_inexact, LLVMTypeOf(x), ""), bits - digits);
  LLVMValueRef odd = LLVMBuildOr(b, and_const(e, x, ~dropped), sticky, "");
  return LLVMBuildSelect(b, is_exact, x, odd, "");
}

// The double of an integer, rounded to odd to the digits of a float: integers are no subnormal floats.
static LLVMValueRef float_of_whole(indim_emit *e, LLVMValueRef x) {
  LLVMBuilderRef b = e->builder;
  const uint64_t dropped = (UINT64_C(1) << 29) - 1;
  LLVMValueRef bits = as_ints(e, x);
  LLVMValueRef kept = and_const(e, bits, ~dropped);
  LLVMValueRef is_exact = LLVMBuildICmp(b, LLVMIntEQ, kept, bits, "");
  LLVMValueRef odd = LLVMBuildOr(b, kept, indim_emit_int_like(e, bits, dropped + 1), "");
  LLVMValueRef chosen = LLVMBuildSelect(b, is_exact, kept, odd, "");
  return LLVMBuildFPTrunc(b, LLVMBuildBitCast(b, chosen, LLVMTypeOf(x), ""), indim_emit_floats(e, x), "");
}

// An integer as an i32 that becomes the same f16: beyond 2^17 that is infinite.
static LLVMValueRef int_near_f16(indim_emit *e, bool is_signed, LLVMValueRef x) {
  const uint64_t limit = UINT64_C(1) << 17;
  x = indim_emit_binary_intrinsic(e, is_signed ? "llvm.smin" : "llvm.umin", x, indim_emit_int_like(e, x, limit));
  if (is_signed) {
    x = indim_emit_binary_intrinsic(e, "llvm.smax", x, indim_emit_int_like(e, x, UINT64_C(0) - limit));
  }
  return LLVMBuildIntCast2(e->builder, x, indim_emit_ints(e, x, 32), 1, "");
}

// Doubles from 64-bit integers, for which x86 before AVX-512 has no vector instruction: the halves go into the low bits
// of doubles near 2^84 and 2^52, whose difference and sum round once.
static LLVMValueRef doubles_of_s64(indim_emit *e, LLVMValueRef x) {
  LLVMBuilderRef b = e->builder;
  const uint64_t high_exponent = (UINT64_C(1023) + 84) << 52;
  const uint64_t low_exponent = (UINT64_C(1023) + 52) << 52;
  LLVMTypeRef type = indim_emit_doubles(e, x);
  LLVMValueRef flipped = LLVMBuildXor(b, x, indim_emit_int_like(e, x, UINT64_C(1) << 63), "");
  LLVMValueRef high = LLVMBuildOr(b, lshr_const(e, flipped, 32), indim_emit_int_like(e, x, high_exponent), "");
  LLVMValueRef low = LLVMBuildOr(b, and_const(e, x, UINT32_MAX), indim_emit_int_like(e, x, low_exponent), "");
  LLVMValueRef offset = indim_emit_real(e, type, 0x1p84 + 0x1p63 + 0x1p52);
  high = LLVMBuildFSub(b, LLVMBuildBitCast(b, high, type, ""), offset, "");
  return LLVMBuildFAdd(b, high, LLVMBuildBitCast(b, low, type, ""), "");
}

static LLVMValueRef int_to_float(indim_emit *e, indim_type from, indim_type to, LLVMValueRef x) {
  bool is_signed = indim_type_is_signed_int(from);
  int32_t bits = indim_type_bits(from);
  bool is_narrow = to != INDIM_F32 && to != INDIM_F64;
  if (to == INDIM_F16 && bits >= 32) {
    x = int_near_f16(e, is_signed, x);
    is_signed = true;
    bits = 32;
  } else if (is_narrow && bits >= 32) {
    x = int_rounded_to_odd(e, is_signed, bits, bits == 64 ? 53 : 24, x);
  }
  bool through_double = to == INDIM_F64 || (is_narrow && bits == 64);
  LLVMTypeRef type = through_double ? indim_emit_doubles(e, x) : indim_emit_floats(e, x);
  bool is_vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
  LLVMValueRef value = is_signed && is_vector && through_double && bits == 64 ? doubles_of_s64(e, x)
                       : is_signed                                            ? LLVMBuildSIToFP(e->builder, x, type, "")
                                   : LLVMBuildUIToFP(e->builder, x, type, "");
  // Up to 8 bits are exact in these; pred and the rest of the 16-bit integers need not be.
  bool is_exact = !is_narrow || (bits <= 8 && (to == INDIM_BF16 || to == INDIM_F16));
  value = is_narrow && through_double ? float_of_whole(e, value) : value;
  return is_exact ? value : indim_emit_round(e, to, value);
}

static LLVMValueRef to_int(indim_emit *e, bool is_signed, LLVMTypeRef ints, LLVMValueRef x) {
  return is_signed ? LLVMBuildFPToSI(e->builder, x, ints, "") : LLVMBuildFPToUI(e->builder, x, ints, "");
}

// Truncates and saturates; NaN gives 0. Bounds that are floats are clamped to before the conversion: the lower one, and
// the upper one if it fits the significand; otherwise larger numbers are replaced afterwards. (The saturating
// intrinsics are scalarized on x86.)
static LLVMValueRef float_to_int(indim_emit *e, indim_type to, LLVMValueRef x) {
  LLVMBuilderRef b = e->builder;
  bool is_signed = indim_type_is_signed_int(to);
  int32_t bits = indim_type_bits(to);
  int32_t magnitude_bits = is_signed ? bits - 1 : bits;
  LLVMTypeRef ints = indim_emit_ints(e, x, bits < 32 ? 32 : bits);
  LLVMValueRef least = indim_emit_real_like(e, x, is_signed ? -ldexp(1, bits - 1) : 0);
  LLVMValueRef is_number = LLVMBuildFCmp(b, LLVMRealORD, x, x, "");
  LLVMValueRef number = LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealOGT, x, least, ""), x, least, "");
  if (magnitude_bits <= (indim_emit_is_double(x) ? 53 : 24)) {
    LLVMValueRef most = indim_emit_real_like(e, x, ldexp(1, magnitude_bits) - 1);
    number = LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealOLT, number, most, ""), number, most, "");
    LLVMValueRef value = to_int(e, is_signed || bits < 32, ints, number);
    value = LLVMBuildSelect(b, is_number, value, LLVMConstNull(ints), "");
    return LLVMBuildIntCast2(b, value, indim_emit_ints(e, x, 8 * indim_type_bytes(to)), is_signed, "");
  }
  LLVMValueRef limit = indim_emit_real_like(e, x, ldexp(1, magnitude_bits));
  LLVMValueRef value = LLVMBuildSelect(b, is_number, to_int(e, is_signed, ints, number), LLVMConstNull(ints), "");
  uint64_t most = UINT64_MAX >> (64 - magnitude_bits);
  return choose_const(e, LLVMBuildFCmp(b, LLVMRealOGE, x, limit, ""), most, value);
}

static LLVMValueRef float_to_float(indim_emit *e, indim_type from, indim_type to, LLVMValueRef x) {
  if (to == INDIM_F64) {
    return LLVMBuildFPExt(e->builder, x, indim_emit_doubles(e, x), "");
  }
  bool is_wide = to == INDIM_F32 || to == INDIM_F16 || to == INDIM_BF16;
  return from != INDIM_F64 && is_wide && indim_type_cast_preserves_values(from, to) ? x : indim_emit_round(e, to, x);
}

static LLVMValueRef int_to_int(indim_emit *e, indim_type from, indim_type to, LLVMValueRef x) {
  LLVMTypeRef type = indim_emit_ints(e, x, 8 * indim_type_bytes(to));
  bool is_signed = indim_type_is_signed_int(from);
  LLVMValueRef sized = from == INDIM_PRED ? LLVMBuildZExt(e->builder, x, type, "")
                                          : LLVMBuildIntCast2(e->builder, x, type, is_signed, "");
  return indim_type_bits(from) < indim_type_bits(to) && (!is_signed || indim_type_is_signed_int(to))
             ? sized
             : indim_emit_wrap(e, to, sized);
}

LLVMValueRef indim_emit_convert(indim_emit *e, int32_t lanes, indim_type from, indim_type to, LLVMValueRef x) {
  (void)lanes;
  bool from_float = indim_type_is_float(from);
  if (from == to) {
    return x;
  }
  if (to == INDIM_PRED) {
    return from_float ? LLVMBuildFCmp(e->builder, LLVMRealUNE, x, indim_emit_real_like(e, x, 0), "")
                      : compare_const(e, LLVMIntNE, x, 0);
  }
  if (indim_type_is_float(to)) {
    return from_float ? float_to_float(e, from, to, x) : int_to_float(e, from, to, x);
  }
  return from_float ? float_to_int(e, to, x) : int_to_int(e, from, to, x);
}
