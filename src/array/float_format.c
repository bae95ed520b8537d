// Converts between values and the bits of every floating-point element type.
//
// In: a row of float_format.def and a number; out: its bits (or the reverse). One idea serves all formats: a finite
// number is significand * 2^exponent with a 64-bit integer significand, and a format keeps the top bits of it down to
// a quantum that the exponent decides. Rounding happens in that one shift, so subnormals, carries into the next
// exponent and overflow need no cases of their own.
#include "array/float_format.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

// Facts of a row that the table spells out. 30103 / 100000 is log10(2), good far beyond 53 bits.
#define HAS_SIGN(kind) (INDIM_FLOAT_##kind != INDIM_FLOAT_SCALE)
#define WIDTH(e, m, kind) ((e) + (m) + (HAS_SIGN(kind) ? 1 : 0))
#define SIGN_BIT(e, m, kind) (HAS_SIGN(kind) ? UINT64_C(1) << ((e) + (m)) : UINT64_C(0))
#define MANTISSA_MASK(m) ((UINT64_C(1) << (m)) - 1)
#define MAGNITUDE_MASK(e, m) ((UINT64_C(1) << ((e) + (m))) - 1)
#define INFINITY_BITS(e, m, kind) \
  (INDIM_FLOAT_##kind == INDIM_FLOAT_IEEE ? MAGNITUDE_MASK(e, m) - MANTISSA_MASK(m) : UINT64_C(0))
#define QUIET_BIT(m) ((m) > 0 ? UINT64_C(1) << ((m) > 0 ? (m)-1 : 0) : UINT64_C(0))
#define QUIET_NAN_BITS(e, m, kind)                                                       \
  (INDIM_FLOAT_##kind == INDIM_FLOAT_IEEE     ? INFINITY_BITS(e, m, kind) | QUIET_BIT(m) \
   : INDIM_FLOAT_##kind == INDIM_FLOAT_FNUZ   ? SIGN_BIT(e, m, kind)                     \
   : INDIM_FLOAT_##kind == INDIM_FLOAT_FINITE ? UINT64_C(0)                              \
                                              : MAGNITUDE_MASK(e, m))

static const indim_float_format formats[] = {
#define INDIM_FLOAT_FORMAT(type, e, m, bias_value, max_finite, kind_name)                                    \
  [INDIM_##type] = {.kind = INDIM_FLOAT_##kind_name,                                                         \
                    .bits = WIDTH(e, m, kind_name),                                                          \
                    .exponent_bits = (e),                                                                    \
                    .mantissa_bits = (m),                                                                    \
                    .bias = (bias_value),                                                                    \
                    .significand_bits = (m) + 1,                                                             \
                    .underflow_exponent = (HAS_SIGN(kind_name) ? 2 : 1) - (bias_value),                      \
                    .overflow_exponent = (int)(UINT64_C(max_finite) >> (m)) - (bias_value) + 1,              \
                    .digits10 = (m)*30103 / 100000,                                                          \
                    .max_digits10 = 2 + ((m) + 1) * 30103 / 100000,                                          \
                    .has_sign = HAS_SIGN(kind_name),                                                         \
                    .has_infinity = INDIM_FLOAT_##kind_name == INDIM_FLOAT_IEEE,                             \
                    .has_nan = INDIM_FLOAT_##kind_name != INDIM_FLOAT_FINITE,                                \
                    .has_negative_zero = HAS_SIGN(kind_name) && INDIM_FLOAT_##kind_name != INDIM_FLOAT_FNUZ, \
                    .has_subnormals = HAS_SIGN(kind_name),                                                   \
                    .sign_bit = SIGN_BIT(e, m, kind_name),                                                   \
                    .max_finite_bits = UINT64_C(max_finite),                                                 \
                    .min_normal_bits = HAS_SIGN(kind_name) ? UINT64_C(1) << (m) : UINT64_C(0),               \
                    .min_positive_bits = HAS_SIGN(kind_name) ? UINT64_C(1) : UINT64_C(0),                    \
                    .infinity_bits = INFINITY_BITS(e, m, kind_name),                                         \
                    .quiet_nan_bits = QUIET_NAN_BITS(e, m, kind_name),                                       \
                    .payload_mask = INDIM_FLOAT_##kind_name == INDIM_FLOAT_IEEE ? MANTISSA_MASK(m) : UINT64_C(0)},
#include "array/float_format.def"
};

const indim_float_format *indim_float_format_of(indim_type type) {
  size_t index = (size_t)type;
  return index < sizeof formats / sizeof formats[0] && formats[index].bits != 0 ? &formats[index] : NULL;
}

static uint64_t bits_of_double(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static double double_of_bits(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

#define F64_SIGN (UINT64_C(1) << 63)
#define F64_INFINITY (UINT64_C(0x7FF) << 52)
#define F64_QUIET (UINT64_C(1) << 51)

// The infinity or quiet NaN for a magnitude (bits without the sign) that is no finite value.
static double decode_special(const indim_float_format *format, uint64_t magnitude, bool negative) {
  uint64_t sign = negative ? F64_SIGN : 0;
  if (format->has_infinity && magnitude == format->infinity_bits) {
    return double_of_bits(sign | F64_INFINITY);
  }
  uint64_t payload = (magnitude & format->payload_mask) << (52 - format->mantissa_bits);
  return double_of_bits(sign | F64_INFINITY | F64_QUIET | payload);
}

double indim_float_decode(indim_type type, uint64_t bits) {
  if (type == INDIM_F64) {
    return double_of_bits(bits);
  }
  const indim_float_format *format = indim_float_format_of(type);
  int m = format->mantissa_bits;
  bool negative = (bits & format->sign_bit) != 0;
  uint64_t magnitude = bits & ((UINT64_C(1) << (format->exponent_bits + m)) - 1);
  bool is_absent_zero = magnitude == 0 && negative && !format->has_negative_zero;
  if (is_absent_zero || magnitude > format->max_finite_bits) {
    return decode_special(format, magnitude, negative);
  }
  int field = (int)(magnitude >> m);
  uint64_t significand = magnitude & MANTISSA_MASK(m);
  if (field == 0 && format->has_subnormals) {
    field = 1;
  } else {
    significand |= UINT64_C(1) << m;
  }
  double value = ldexp((double)significand, field - format->bias - m);
  return negative ? -value : value;
}

static uint64_t encode_nan(const indim_float_format *format, bool negative) {
  uint64_t sign = negative ? format->sign_bit : 0;
  if (!format->has_nan) {
    return negative ? 0 : format->sign_bit;
  }
  return format->quiet_nan_bits | sign;
}

static uint64_t encode_overflow(const indim_float_format *format, bool negative) {
  uint64_t sign = negative ? format->sign_bit : 0;
  switch (format->kind) {
  case INDIM_FLOAT_IEEE:
    return format->infinity_bits | sign;
  case INDIM_FLOAT_FINITE:
    return format->max_finite_bits | sign;
  case INDIM_FLOAT_FN:
  case INDIM_FLOAT_FNUZ:
  case INDIM_FLOAT_SCALE:
    break;
  }
  return encode_nan(format, negative);
}

static uint64_t encode_zero(const indim_float_format *format, bool negative) {
  if (format->kind == INDIM_FLOAT_SCALE) {
    return format->quiet_nan_bits;
  }
  return negative && format->has_negative_zero ? format->sign_bit : 0;
}

// |significand| / 2^|shift| to the nearest integer, ties to even. The top bit of |significand| is set, shift > 0.
static uint64_t shift_right_rounded(uint64_t significand, int shift) {
  if (shift > 64) {
    return 0;
  }
  uint64_t kept = shift == 64 ? 0 : significand >> shift;
  uint64_t half = UINT64_C(1) << (shift - 1);
  uint64_t rest = significand & (half | (half - 1));
  return kept + (rest > half || (rest == half && (kept & 1) != 0) ? 1 : 0);
}

// Encodes (-1)^negative * significand * 2^exponent, significand > 0.
static uint64_t encode_finite(const indim_float_format *format, bool negative, uint64_t significand, int exponent) {
  if (negative && !format->has_sign) {
    return format->quiet_nan_bits;
  }
  while (significand >> 63 == 0) {
    significand <<= 1;
    exponent -= 1;
  }
  // The value is now 2^top times a significand in [1, 2); the format's values around it are multiples of
  // 2^(quantum_top - mantissa_bits), and a field of 0 stands for the range that ends at 2^lowest_top.
  int top = exponent + 63;
  int lowest_top = format->underflow_exponent - 1;
  int quantum_top = top > lowest_top ? top : lowest_top;
  uint64_t rounded = shift_right_rounded(significand, 63 - format->mantissa_bits + (quantum_top - top));
  uint64_t steps = (uint64_t)(quantum_top - lowest_top) << format->mantissa_bits;
  uint64_t magnitude = steps + rounded;
  if (!format->has_subnormals) {
    magnitude -= magnitude > 0 ? 1 : 0;  // its bits 0 are 2^lowest_top, and less than that saturates there
  }
  if (magnitude > format->max_finite_bits) {
    return encode_overflow(format, negative);
  }
  return magnitude == 0 && format->has_subnormals ? encode_zero(format, negative)
                                                  : magnitude | (negative ? format->sign_bit : 0);
}

uint64_t indim_float_encode(indim_type type, double value) {
  uint64_t bits = bits_of_double(value);
  if (type == INDIM_F64) {
    return bits;
  }
  const indim_float_format *format = indim_float_format_of(type);
  bool negative = (bits & F64_SIGN) != 0;
  uint64_t magnitude = bits & ~F64_SIGN;
  if (magnitude > F64_INFINITY) {
    uint64_t payload = type == INDIM_F32 ? (bits >> (52 - format->mantissa_bits)) & format->payload_mask : 0;
    return encode_nan(format, negative) | payload;
  }
  if (magnitude == F64_INFINITY) {
    return encode_overflow(format, negative);
  }
  if (magnitude == 0) {
    return encode_zero(format, negative);
  }
  int field = (int)(magnitude >> 52);
  uint64_t significand = magnitude & MANTISSA_MASK(52);
  return field == 0 ? encode_finite(format, negative, significand, -1074)
                    : encode_finite(format, negative, significand | UINT64_C(1) << 52, field - 1075);
}

uint64_t indim_float_encode_u64(indim_type type, uint64_t value) {
  const indim_float_format *format = indim_float_format_of(type);
  return value == 0 ? encode_zero(format, false) : encode_finite(format, false, value, 0);
}

uint64_t indim_float_encode_s64(indim_type type, int64_t value) {
  if (value >= 0) {
    return indim_float_encode_u64(type, (uint64_t)value);
  }
  return encode_finite(indim_float_format_of(type), true, UINT64_C(0) - (uint64_t)value, 0);
}
