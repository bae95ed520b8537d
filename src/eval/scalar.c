// Loading, storing, rounding and converting single elements, and choosing the function of an operation.
#include "eval/scalar.h"

#include <math.h>
#include <string.h>

#include "array/float_format.h"
#include "eval/scalar_ops.h"

// Integers of a type's width from their low bits.
static int64_t wrap(indim_type type, int64_t value) {
  if (type == INDIM_PRED) {
    return value != 0;
  }
  int shift = 64 - indim_type_bits(type);
  uint64_t top = (uint64_t)value << shift;
  return indim_type_is_signed_int(type) ? (int64_t)top >> shift : (int64_t)(top >> shift);
}

static uint64_t load_bits(const void *data, int64_t k, int32_t bytes) {
  const unsigned char *at = (const unsigned char *)data + k * bytes;
  if (bytes == 1) {
    return *at;
  }
  if (bytes == 2) {
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return value;
  }
  if (bytes == 4) {
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
  }
  uint64_t value;
  memcpy(&value, at, sizeof value);
  return value;
}

static void store_bits(void *data, int64_t k, int32_t bytes, uint64_t bits) {
  unsigned char *at = (unsigned char *)data + k * bytes;
  uint8_t one = (uint8_t)bits;
  uint16_t two = (uint16_t)bits;
  uint32_t four = (uint32_t)bits;
  memcpy(at,
         bytes == 1   ? (void *)&one
         : bytes == 2 ? (void *)&two
         : bytes == 4 ? (void *)&four
                      : (void *)&bits,
         (size_t)bytes);
}

// Floats ------------------------------------------------------------------------------------------------------------

// GCC 12 makes one vector of the two parts of a complex number and then leaves both conversions out; not through memory.
static float to_float(double value) {
  volatile float rounded = (float)value;
  return rounded;
}

// NaNs keep their bits: sign and payload stand at the top of the double's, signalling or not. Converting and computing
// makes them quiet, so they are moved as integers.
#define F64_INFINITY (INT64_C(0x7FF) << 52)
#define F64_QUIET (INT64_C(1) << 51)

indim_scalar indim_scalar_of_bits(indim_type type, uint64_t bits) {
  const indim_float_format *format = indim_float_format_of(type);
  indim_scalar value = {.i = (int64_t)bits};
  if (type != INDIM_F64) {
    value.f = indim_float_decode(type, bits);
  }
  if (type != INDIM_F64 && isnan(value.f) && (bits & format->payload_mask) != 0) {
    uint64_t payload = (bits & format->payload_mask) << (52 - format->mantissa_bits);
    value.i = (value.i & INT64_MIN) | F64_INFINITY | (int64_t)payload;
  }
  return value;
}

uint64_t indim_scalar_bits(indim_type type, indim_scalar value) {
  const indim_float_format *format = indim_float_format_of(type);
  if (type == INDIM_F64) {
    return (uint64_t)value.i;
  }
  uint64_t bits = indim_float_encode(type, value.f);
  uint64_t payload = ((uint64_t)value.i >> (52 - format->mantissa_bits)) & format->payload_mask;
  return isnan(value.f) && payload != 0 ? (bits & format->sign_bit) | format->infinity_bits | payload : bits;
}

// One element ---------------------------------------------------------------------------------------------------------

indim_scalar indim_scalar_load(indim_type type, const void *data, int64_t k) {
  if (type == INDIM_F32) {
    float value;
    memcpy(&value, (const char *)data + k * 4, sizeof value);
    if (!isnan(value)) {
      return (indim_scalar){.f = (double)value};
    }
  }
  if (indim_type_is_complex(type)) {
    indim_type part = indim_type_component_of(type);
    return (indim_scalar){.c = {indim_scalar_load(part, data, 2 * k).f, indim_scalar_load(part, data, 2 * k + 1).f}};
  }
  uint64_t bits = load_bits(data, k, indim_type_bytes(type));
  return indim_type_is_float(type) ? indim_scalar_of_bits(type, bits) : (indim_scalar){.i = wrap(type, (int64_t)bits)};
}

void indim_scalar_store(indim_type type, void *data, int64_t k, indim_scalar value) {
  if (type == INDIM_F32 && !isnan(value.f)) {
    float rounded = (float)value.f;
    memcpy((char *)data + k * 4, &rounded, sizeof rounded);
  } else if (indim_type_is_complex(type)) {
    indim_type part = indim_type_component_of(type);
    indim_scalar_store(part, data, 2 * k, (indim_scalar){.f = value.c.re});
    indim_scalar_store(part, data, 2 * k + 1, (indim_scalar){.f = value.c.im});
  } else {
    bool is_float = indim_type_is_float(type);
    store_bits(data, k, indim_type_bytes(type),
               is_float ? indim_scalar_bits(type, value) : (uint64_t)wrap(type, value.i));
  }
}

indim_scalar indim_scalar_round(indim_type type, indim_scalar value) {
  if (type == INDIM_F64 || type == INDIM_C128) {
    return value;
  }
  if (type == INDIM_F32 && !isnan(value.f)) {
    return (indim_scalar){.f = (double)to_float(value.f)};
  }
  if (type == INDIM_C64) {
    return (indim_scalar){.c = {indim_scalar_round(INDIM_F32, (indim_scalar){.f = value.c.re}).f,
                                indim_scalar_round(INDIM_F32, (indim_scalar){.f = value.c.im}).f}};
  }
  if (indim_type_is_float(type)) {
    return indim_scalar_of_bits(type, indim_scalar_bits(type, value));
  }
  return (indim_scalar){.i = wrap(type, value.i)};
}

// To the nearest value of another float type; a NaN becomes quiet, and the type says which.
static indim_scalar float_to_float(indim_type to, indim_scalar value) {
  if (!isnan(value.f)) {
    return indim_scalar_round(to, value);
  }
  value.i |= F64_QUIET;
  return (indim_scalar){.f = indim_float_decode(to, indim_float_encode(to, value.f))};
}

// Truncated and saturated; NaN gives 0.
static int64_t float_to_int(indim_type to, double value) {
  int32_t bits = indim_type_bits(to);
  if (isnan(value)) {
    return 0;
  }
  if (indim_type_is_signed_int(to)) {
    double limit = ldexp(1, bits - 1);
    int64_t most = indim_scalar_most(to);
    return value >= limit ? most : value < -limit ? -most - 1 : (int64_t)value;
  }
  double limit = ldexp(1, bits);
  return (int64_t)(value >= limit ? UINT64_MAX >> (64 - bits) : value <= -1 ? 0 : (uint64_t)value);
}

static double int_to_float(indim_type from, indim_type to, int64_t value) {
  bool is_unsigned = indim_type_is_unsigned_int(from);
  return indim_float_decode(to, is_unsigned ? indim_float_encode_u64(to, (uint64_t)value)
                                            : indim_float_encode_s64(to, value));
}

indim_scalar indim_scalar_convert(indim_type from, indim_type to, indim_scalar value) {
  bool from_float = indim_type_is_float(from);
  if (indim_type_is_complex(from)) {
    indim_type part = indim_type_component_of(from);
    indim_scalar re = {.f = value.c.re};
    indim_scalar im = {.f = value.c.im};
    if (!indim_type_is_complex(to)) {
      return indim_scalar_convert(part, to, re);
    }
    indim_type component = indim_type_component_of(to);
    return (indim_scalar){
        .c = {indim_scalar_convert(part, component, re).f, indim_scalar_convert(part, component, im).f}};
  }
  if (from == to) {
    return value;
  }
  if (indim_type_is_complex(to)) {
    indim_type component = indim_type_component_of(to);
    return (indim_scalar){.c = {indim_scalar_convert(from, component, value).f, 0}};
  }
  if (to == INDIM_PRED) {
    return (indim_scalar){.i = from_float ? value.f != 0 : value.i != 0};
  }
  if (indim_type_is_float(to)) {
    return from_float ? float_to_float(to, value) : (indim_scalar){.f = int_to_float(from, to, value.i)};
  }
  return (indim_scalar){.i = from_float ? float_to_int(to, value.f) : wrap(to, value.i)};
}

// Choosing ----------------------------------------------------------------------------------------------------------

#define indim_int_none NULL
#define indim_float_none NULL
#define indim_complex_op_none NULL

static const struct {
  indim_op op;
  indim_scalar_fn *on_int;
  indim_scalar_fn *on_float;
  indim_scalar_fn *on_complex;
} rows[] = {
#define INDIM_SCALAR_OP(op, integer, float, complex) \
  {INDIM_OP_##op, indim_int_##integer, indim_float_##float, indim_complex_op_##complex},
#include "eval/scalar_ops.def"
};

bool indim_scalar_prepare(const indim_instr *instr, indim_scalar_op *out_op) {
  int of = instr->op == INDIM_OP_SELECT ? 1 : 0;
  if (instr->operand_count <= of || !indim_shape_is_array(instr->shape) ||
      !indim_shape_is_array(instr->operands[of]->shape)) {
    return false;
  }
  indim_scalar_op op = {.type = instr->operands[of]->shape->type, .result = instr->shape->type};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (rows[i].op == instr->op) {
      op.run = indim_type_is_float(op.type)     ? rows[i].on_float
               : indim_type_is_complex(op.type) ? rows[i].on_complex
                                                : rows[i].on_int;
    }
  }
  if (op.run == NULL) {
    return false;
  }
  op.second = instr->operand_count > 1 ? instr->operands[1]->shape->type : op.type;
  op.exponent_bits = indim_instr_int(instr, INDIM_ATTR_EXPONENT_BITS, 0);
  op.mantissa_bits = indim_instr_int(instr, INDIM_ATTR_MANTISSA_BITS, 0);
  if (instr->op == INDIM_OP_COMPARE) {
    op.direction = indim_instr_direction(instr);
    op.run = indim_instr_is_total_order(instr) ? indim_float_compare_total : op.run;
  }
  *out_op = op;
  return true;
}
