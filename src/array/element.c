// Loads, stores and converts single elements. Storage is little-endian whatever the host is; bytes are put together by
// shifts, which compilers turn into one load.
#include "array/element.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "array/float_format.h"

// Bits in storage -------------------------------------------------------------------------------------------------

static uint64_t load_bytes(const unsigned char *p, int bytes) {
  switch (bytes) {
  case 1:
    return p[0];
  case 2:
    return (uint64_t)p[0] | (uint64_t)p[1] << 8;
  case 4:
    return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24;
  default:
    return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24 | (uint64_t)p[4] << 32 |
           (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 | (uint64_t)p[7] << 56;
  }
}

static void store_bytes(unsigned char *p, int bytes, uint64_t bits) {
  for (int i = 0; i < bytes; i++) {
    p[i] = (unsigned char)(bits >> (8 * i));
  }
}

// |count| <= 64 bits from bit |at| on.
static uint64_t load_bits(const unsigned char *data, uint64_t at, int count) {
  uint64_t bits = 0;
  for (int got = 0; got < count;) {
    int offset = (int)(at & 7);
    int take = 8 - offset < count - got ? 8 - offset : count - got;
    uint64_t piece = ((uint64_t)data[at >> 3] >> offset) & ((1U << take) - 1);
    bits |= piece << got;
    got += take;
    at += (uint64_t)take;
  }
  return bits;
}

static void store_bits(unsigned char *data, uint64_t at, int count, uint64_t bits) {
  for (int done = 0; done < count;) {
    int offset = (int)(at & 7);
    int take = 8 - offset < count - done ? 8 - offset : count - done;
    unsigned mask = ((1U << take) - 1) << offset;
    unsigned piece = ((unsigned)(bits >> done) << offset) & mask;
    data[at >> 3] = (unsigned char)((data[at >> 3] & ~mask) | piece);
    done += take;
    at += (uint64_t)take;
  }
}

static uint64_t low_mask(int bits) { return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1; }

static uint64_t canonical(indim_type type, uint64_t bits) {
  if (type == INDIM_PRED) {
    return bits != 0;
  }
  int width = indim_type_bits(type);
  return width < 8 ? bits & low_mask(width) : bits;
}

indim_element indim_element_load(indim_type type, int64_t width, const void *data, int64_t place) {
  int bytes = indim_type_bytes(type);
  bool is_complex = indim_type_is_complex(type);
  int part = is_complex ? bytes / 2 : bytes;
  indim_element element = {0, 0};
  if (width % 8 == 0) {
    const unsigned char *p = (const unsigned char *)data + place * (width / 8);
    element.bits = canonical(type, load_bytes(p, part));
    element.imag = is_complex ? load_bytes(p + part, part) : 0;
    return element;
  }
  uint64_t at = (uint64_t)place * (uint64_t)width;
  int part_bits = is_complex ? part * 8 : indim_type_bits(type);
  element.bits = load_bits(data, at, part_bits);
  element.imag = is_complex ? load_bits(data, at + (uint64_t)part_bits, part_bits) : 0;
  return element;
}

void indim_element_store(indim_type type, int64_t width, void *data, int64_t place, indim_element element) {
  int bytes = indim_type_bytes(type);
  bool is_complex = indim_type_is_complex(type);
  int part = is_complex ? bytes / 2 : bytes;
  if (width % 8 == 0) {
    int stored = (int)(width / 8);
    unsigned char *p = (unsigned char *)data + place * stored;
    store_bytes(p, part, element.bits);
    if (is_complex) {
      store_bytes(p + part, part, element.imag);
    }
    if (stored > bytes) {
      memset(p + bytes, 0, (size_t)(stored - bytes));
    }
    return;
  }
  uint64_t at = (uint64_t)place * (uint64_t)width;
  int part_bits = is_complex ? part * 8 : indim_type_bits(type);
  store_bits(data, at, part_bits, element.bits);
  int done = part_bits;
  if (is_complex) {
    store_bits(data, at + (uint64_t)part_bits, part_bits, element.imag);
    done += part_bits;
  }
  for (; done < width; done += 64) {
    store_bits(data, at + (uint64_t)done, width - done < 64 ? (int)(width - done) : 64, 0);
  }
}

// Values ----------------------------------------------------------------------------------------------------------

int64_t indim_element_to_int(indim_type type, indim_element element) {
  int width = indim_type_bits(type);
  if (indim_type_is_signed_int(type) && width < 64) {
    uint64_t sign = UINT64_C(1) << (width - 1);
    return (int64_t)((element.bits ^ sign) - sign);
  }
  return (int64_t)element.bits;
}

indim_element indim_element_of_int(indim_type type, int64_t value) {
  if (type == INDIM_PRED) {
    return (indim_element){value != 0, 0};
  }
  return (indim_element){(uint64_t)value & low_mask(indim_type_bits(type)), 0};
}

// f32 and f64 by the machine, which does the same as float_format and quicker.
static double decode(indim_type type, uint64_t bits) {
  if (type == INDIM_F32) {
    uint32_t word = (uint32_t)bits;
    float value;
    memcpy(&value, &word, sizeof value);
    return (double)value;
  }
  return indim_float_decode(type, bits);
}

static uint64_t encode(indim_type type, double value) {
  if (type == INDIM_F32 && fabs(value) <= (double)FLT_MAX) {
    float narrow = (float)value;
    uint32_t word;
    memcpy(&word, &narrow, sizeof word);
    return word;
  }
  return indim_float_encode(type, value);
}

static indim_type part_of(indim_type type) {
  return indim_type_is_complex(type) ? indim_type_component_of(type) : type;
}

double indim_element_real(indim_type type, indim_element element) { return decode(part_of(type), element.bits); }

double indim_element_imag(indim_type type, indim_element element) {
  return indim_type_is_complex(type) ? decode(part_of(type), element.imag) : 0;
}

indim_element indim_element_of_float(indim_type type, double real, double imag) {
  indim_type part = part_of(type);
  return (indim_element){encode(part, real), indim_type_is_complex(type) ? encode(part, imag) : 0};
}

// Conversion ------------------------------------------------------------------------------------------------------

static indim_element int_of_float(indim_type to, double value) {
  int width = indim_type_bits(to);
  if (isnan(value)) {
    return (indim_element){0, 0};
  }
  if (indim_type_is_signed_int(to)) {
    double limit = ldexp(1, width - 1);
    int64_t most = (int64_t)low_mask(width - 1);
    int64_t result = value >= limit ? most : value <= -limit ? -most - 1 : (int64_t)value;
    return indim_element_of_int(to, result);
  }
  double limit = ldexp(1, width);
  uint64_t result = value >= limit ? low_mask(width) : value <= 0 ? 0 : (uint64_t)value;
  return (indim_element){result, 0};
}

static uint64_t float_of_int(indim_type from, indim_type to, indim_element element) {
  return indim_type_is_signed_int(from) ? indim_float_encode_s64(to, indim_element_to_int(from, element))
                                        : indim_float_encode_u64(to, element.bits);
}

static indim_element convert_real(indim_type from, indim_type to, indim_element element) {
  bool from_float = indim_type_is_float(from);
  if (to == INDIM_PRED) {
    return (indim_element){from_float ? decode(from, element.bits) != 0 : element.bits != 0, 0};
  }
  if (indim_type_is_float(to)) {
    uint64_t bits = from_float ? encode(to, decode(from, element.bits)) : float_of_int(from, to, element);
    return (indim_element){bits, 0};
  }
  return from_float ? int_of_float(to, decode(from, element.bits))
                    : indim_element_of_int(to, indim_element_to_int(from, element));
}

indim_element indim_element_convert(indim_type from, indim_type to, indim_element element) {
  if (from == to) {
    return element;
  }
  if (!indim_type_is_complex(to)) {
    return convert_real(from, to, element);
  }
  indim_type part = part_of(to);
  if (!indim_type_is_complex(from)) {
    return from == part ? element : convert_real(from, part, element);
  }
  indim_element imag = {element.imag, 0};
  return (indim_element){convert_real(part_of(from), part, element).bits, convert_real(part_of(from), part, imag).bits};
}

// Padding ---------------------------------------------------------------------------------------------------------

static indim_element one(indim_type type) {
  return indim_type_is_float(type) || indim_type_is_complex(type) ? indim_element_of_float(type, 1, 0)
                                                                  : indim_element_of_int(type, 1);
}

// The largest value, or the least.
static indim_element extreme(indim_type type, bool highest) {
  const indim_float_format *format = indim_float_format_of(type);
  if (format != NULL) {
    uint64_t magnitude = format->has_infinity ? format->infinity_bits : format->max_finite_bits;
    uint64_t lowest = format->has_sign ? magnitude | format->sign_bit : format->min_positive_bits;
    return (indim_element){highest ? magnitude : lowest, 0};
  }
  int width = indim_type_bits(type);
  if (indim_type_is_signed_int(type)) {
    uint64_t sign = UINT64_C(1) << (width - 1);
    return (indim_element){highest ? sign - 1 : sign, 0};
  }
  return (indim_element){highest ? low_mask(width) : 0, 0};
}

bool indim_element_padding(indim_type type, indim_padding padding, indim_element *out) {
  *out = (indim_element){0, 0};
  switch (padding) {
  case INDIM_PADDING_INVALID:
  case INDIM_PADDING_UNKNOWN:
    return true;
  case INDIM_PADDING_ZERO:
    *out = indim_type_is_float(type) ? indim_element_of_float(type, 0, 0) : *out;
    return true;
  case INDIM_PADDING_ONE:
    *out = one(type);
    return true;
  case INDIM_PADDING_LOWEST:
  case INDIM_PADDING_HIGHEST:
    if (indim_type_is_complex(type)) {
      return false;
    }
    *out = extreme(type, padding == INDIM_PADDING_HIGHEST);
    return true;
  }
  return false;
}
