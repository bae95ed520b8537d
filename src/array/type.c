// Element types: every fact comes from type.def, and what a floating type can hold from float_format.h.
#include "indim/type.h"

#include <string.h>

#include "array/float_format.h"

typedef enum type_class {
  CLASS_INVALID,
  CLASS_PRED,
  CLASS_SIGNED,
  CLASS_UNSIGNED,
  CLASS_FLOAT,
  CLASS_COMPLEX,
  CLASS_OTHER
} type_class;

typedef struct type_info {
  const char *text;
  const char *name;
  size_t text_size;
  int32_t bits;
  type_class class;
} type_info;

static const type_info types[INDIM_TYPE_COUNT] = {
#define INDIM_TYPE(name, number, text, bits, class) {text, #name, sizeof text - 1, bits, CLASS_##class},
#include "indim/type.def"
};

// Numbers that are no type read as INVALID.
static const type_info *info_of(indim_type type) {
  return (unsigned)type < INDIM_TYPE_COUNT ? &types[type] : &types[INDIM_TYPE_INVALID];
}

static type_class class_of(indim_type type) { return info_of(type)->class; }

const char *indim_type_text(indim_type type) { return info_of(type)->text; }

const char *indim_type_name(indim_type type) {
  const type_info *info = info_of(type);
  if (info == &types[INDIM_TYPE_INVALID]) {
    return "PRIMITIVE_TYPE_INVALID";
  }
  return type == INDIM_OPAQUE ? "OPAQUE_TYPE" : info->name;
}

bool indim_type_parse(indim_str text, indim_type *out_type) {
  for (int type = 1; type < INDIM_TYPE_COUNT; type++) {
    if (types[type].text_size == text.size && memcmp(types[type].text, text.data, text.size) == 0) {
      *out_type = (indim_type)type;
      return true;
    }
  }
  return false;
}

bool indim_type_is_array(indim_type type) { return class_of(type) != CLASS_INVALID && class_of(type) != CLASS_OTHER; }
bool indim_type_is_signed_int(indim_type type) { return class_of(type) == CLASS_SIGNED; }
bool indim_type_is_unsigned_int(indim_type type) { return class_of(type) == CLASS_UNSIGNED; }
bool indim_type_is_integral(indim_type type) {
  return class_of(type) == CLASS_SIGNED || class_of(type) == CLASS_UNSIGNED;
}
bool indim_type_is_float(indim_type type) { return class_of(type) == CLASS_FLOAT; }
bool indim_type_is_complex(indim_type type) { return class_of(type) == CLASS_COMPLEX; }
bool indim_type_is_sub_byte(indim_type type) {
  return indim_type_is_array(type) && type != INDIM_PRED && info_of(type)->bits < 8;
}

int32_t indim_type_bits(indim_type type) { return info_of(type)->bits; }
int32_t indim_type_bytes(indim_type type) { return (info_of(type)->bits + 7) / 8; }

indim_type indim_type_complex_of(indim_type component) {
  return component == INDIM_F32 ? INDIM_C64 : component == INDIM_F64 ? INDIM_C128 : INDIM_TYPE_INVALID;
}

indim_type indim_type_component_of(indim_type complex) {
  return complex == INDIM_C64 ? INDIM_F32 : complex == INDIM_C128 ? INDIM_F64 : INDIM_TYPE_INVALID;
}

static indim_type find(type_class class, int32_t bits) {
  for (int type = 0; type < INDIM_TYPE_COUNT; type++) {
    if (types[type].class == class && types[type].bits == bits) {
      return (indim_type)type;
    }
  }
  return INDIM_TYPE_INVALID;
}

indim_type indim_type_unsigned_of_bits(int32_t bits) { return find(CLASS_UNSIGNED, bits); }
indim_type indim_type_signed_of_bits(int32_t bits) { return find(CLASS_SIGNED, bits); }

// The real type behind |type|: a complex type's component, any other type itself.
static indim_type real_of(indim_type type) {
  return indim_type_is_complex(type) ? indim_type_component_of(type) : type;
}

indim_type indim_type_higher_precision(indim_type a, indim_type b) {
  enum { KEYS = 5 };
  int keys[2][KEYS];
  const indim_type pair[2] = {a, b};
  for (int i = 0; i < 2; i++) {
    const indim_float_format *format = indim_float_format_of(real_of(pair[i]));
    keys[i][0] = indim_type_is_complex(pair[i]);
    keys[i][1] = format != NULL ? format->overflow_exponent : -1;
    keys[i][2] = format != NULL ? format->significand_bits : -1;
    keys[i][3] = indim_type_bits(pair[i]);
    keys[i][4] = indim_type_is_signed_int(pair[i]);
  }
  for (int k = 0; k < KEYS; k++) {
    if (keys[0][k] != keys[1][k]) {
      return keys[0][k] > keys[1][k] ? a : b;
    }
  }
  return a;
}

static bool float_holds_float(indim_type from, indim_type to) {
  const indim_float_format *f = indim_float_format_of(from);
  const indim_float_format *t = indim_float_format_of(to);
  return t->significand_bits >= f->significand_bits && t->exponent_bits >= f->exponent_bits &&
         t->overflow_exponent >= f->overflow_exponent && t->has_infinity >= f->has_infinity &&
         t->has_nan >= f->has_nan && t->has_negative_zero >= f->has_negative_zero &&
         indim_float_decode(to, t->min_positive_bits) <= indim_float_decode(from, f->min_positive_bits);
}

// The least value of a signed type is -2^n with n value bits and needs one exponent more than the largest, 2^n - 1.
static bool float_holds_int(indim_type from, indim_type to) {
  const indim_float_format *t = indim_float_format_of(to);
  int32_t is_signed = indim_type_is_signed_int(from);
  int32_t value_bits = indim_type_bits(from) - is_signed;
  return value_bits <= t->significand_bits && value_bits + is_signed <= t->overflow_exponent;
}

bool indim_type_cast_preserves_values(indim_type from, indim_type to) {
  if (!indim_type_is_array(from) || !indim_type_is_array(to)) {
    return false;
  }
  if (from == to) {
    return true;
  }
  if (to == INDIM_F8E8M0FNU || to == INDIM_PRED) {
    return false;  // neither zero nor anything beyond two values
  }
  if (from == INDIM_PRED) {
    return true;
  }
  if (indim_type_is_complex(to)) {
    return indim_type_cast_preserves_values(real_of(from), real_of(to));
  }
  if (indim_type_is_complex(from)) {
    return false;
  }
  if (indim_type_is_float(from)) {
    return indim_type_is_float(to) && float_holds_float(from, to);
  }
  if (indim_type_is_float(to)) {
    return float_holds_int(from, to);
  }
  bool same_sign = indim_type_is_signed_int(from) == indim_type_is_signed_int(to);
  if (same_sign) {
    return indim_type_bits(to) >= indim_type_bits(from);
  }
  return indim_type_is_signed_int(to) && indim_type_bits(to) > indim_type_bits(from);
}
