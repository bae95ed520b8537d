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

indim_scalar indim_scalar_load(indim_type type, const void *data, int64_t k) {
  if (type == INDIM_F32) {
    float value;
    memcpy(&value, (const char *)data + k * 4, sizeof value);
    return (indim_scalar){.f = (double)value};
  }
  if (type == INDIM_F64) {
    double value;
    memcpy(&value, (const char *)data + k * 8, sizeof value);
    return (indim_scalar){.f = value};
  }
  if (type == INDIM_C64) {
    float parts[2];
    memcpy(parts, (const char *)data + k * 8, sizeof parts);
    return (indim_scalar){.c = {(double)parts[0], (double)parts[1]}};
  }
  if (type == INDIM_C128) {
    double parts[2];
    memcpy(parts, (const char *)data + k * 16, sizeof parts);
    return (indim_scalar){.c = {parts[0], parts[1]}};
  }
  uint64_t bits = load_bits(data, k, indim_type_bytes(type));
  if (indim_type_is_float(type)) {
    return (indim_scalar){.f = indim_float_decode(type, bits)};
  }
  return (indim_scalar){.i = wrap(type, (int64_t)bits)};
}

void indim_scalar_store(indim_type type, void *data, int64_t k, indim_scalar value) {
  if (type == INDIM_F32) {
    float rounded = (float)value.f;
    memcpy((char *)data + k * 4, &rounded, sizeof rounded);
  } else if (type == INDIM_F64) {
    memcpy((char *)data + k * 8, &value.f, sizeof value.f);
  } else if (type == INDIM_C64) {
    float parts[2] = {(float)value.c.re, (float)value.c.im};
    memcpy((char *)data + k * 8, parts, sizeof parts);
  } else if (type == INDIM_C128) {
    double parts[2] = {value.c.re, value.c.im};
    memcpy((char *)data + k * 16, parts, sizeof parts);
  } else if (indim_type_is_float(type)) {
    store_bits(data, k, indim_type_bytes(type), indim_float_encode(type, value.f));
  } else {
    store_bits(data, k, indim_type_bytes(type), (uint64_t)wrap(type, value.i));
  }
}

indim_scalar indim_scalar_round(indim_type type, indim_scalar value) {
  if (type == INDIM_F64 || type == INDIM_C128) {
    return value;
  }
  if (type == INDIM_F32) {
    return (indim_scalar){.f = (double)(float)value.f};
  }
  if (type == INDIM_C64) {
    return (indim_scalar){.c = {(double)(float)value.c.re, (double)(float)value.c.im}};
  }
  if (indim_type_is_float(type)) {
    return (indim_scalar){.f = indim_float_decode(type, indim_float_encode(type, value.f))};
  }
  return (indim_scalar){.i = wrap(type, value.i)};
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
    if (indim_type_is_complex(to)) {
      return indim_scalar_round(to, value);
    }
    return indim_scalar_convert(indim_type_component_of(from), to, (indim_scalar){.f = value.c.re});
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
    return from_float ? indim_scalar_round(to, value) : (indim_scalar){.f = int_to_float(from, to, value.i)};
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

static int32_t direction_of(indim_str word) {
  static const char *const words[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
  for (int32_t i = 0; i < 6; i++) {
    if (indim_str_is(word, words[i])) {
      return i;
    }
  }
  return -1;
}

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
    op.direction = direction_of(indim_instr_word(instr, INDIM_ATTR_DIRECTION));
    bool total = indim_str_is(indim_instr_word(instr, INDIM_ATTR_COMPARE_TYPE), "TOTALORDER");
    op.run = total && indim_type_is_float(op.type) ? indim_float_compare_total : op.run;
  }
  *out_op = op;
  return true;
}
