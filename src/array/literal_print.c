// Writes literals as XLA does: values in logical order whatever the layout, rows two blanks in, comments
// with the outer indices from rank 4 on. Floats get the digits that always read back, and f32 and f64 fewer if those do.
#include "array/literal_text.h"

#include <string.h>

#include "array/float_format.h"
#include "array/literal_internal.h"
#include "base/number.h"

// Elements --------------------------------------------------------------------------------------------------------

static size_t print_unsigned(uint64_t value, char *out) {
  char digits[24];
  size_t count = 0;
  do {
    digits[count++] = (char)('0' + value % 10);
    value /= 10;
  } while (value > 0);
  for (size_t i = 0; i < count; i++) {
    out[i] = digits[count - 1 - i];
  }
  out[count] = '\0';
  return count;
}

static size_t print_signed(int64_t value, char *out) {
  if (value >= 0) {
    return print_unsigned((uint64_t)value, out);
  }
  out[0] = '-';
  return 1 + print_unsigned(UINT64_C(0) - (uint64_t)value, out + 1);
}

static size_t print_hex(uint64_t value, char *out) {
  size_t digits = 1;
  while (digits < 16 && value >> (4 * digits) != 0) {
    digits++;
  }
  for (size_t i = 0; i < digits; i++) {
    out[i] = "0123456789abcdef"[value >> (4 * (digits - 1 - i)) & 0xF];
  }
  return digits;
}

// "nan", with its sign, and its payload unless that is the quiet bit alone or the type has none.
static size_t print_nan(const indim_float_format *format, uint64_t bits, char *out) {
  size_t size = 0;
  uint64_t payload = bits & format->payload_mask;
  if ((bits & format->sign_bit) != 0) {
    out[size++] = '-';
  }
  memcpy(out + size, "nan", 3);
  size += 3;
  if (format->payload_mask != 0 && payload != (format->quiet_nan_bits & format->payload_mask)) {
    memcpy(out + size, "(0x", 3);
    size += 3;
    size += print_hex(payload, out + size);
    out[size++] = ')';
  }
  out[size] = '\0';
  return size;
}

static size_t print_float(indim_type type, uint64_t bits, char *out) {
  const indim_float_format *format = indim_float_format_of(type);
  double value = indim_element_real(type, (indim_element){bits, 0});
  if (value != value) {
    return print_nan(format, bits, out);
  }
  if (type == INDIM_F32 || type == INDIM_F64) {
    size_t size = indim_number_print(value, format->digits10, out);
    double back = value - value == 0 ? indim_number_parse((indim_str){out, size}) : value;
    if ((type == INDIM_F32 ? (double)(float)back : back) == value) {
      return size;
    }
  }
  return indim_number_print(value, format->max_digits10, out);
}

size_t indim_element_print(indim_type type, indim_element element, char *out) {
  if (indim_type_is_float(type)) {
    return print_float(type, element.bits, out);
  }
  if (!indim_type_is_complex(type)) {
    return indim_type_is_signed_int(type) ? print_signed(indim_element_to_int(type, element), out)
                                          : print_unsigned(element.bits, out);
  }
  indim_type part = indim_type_component_of(type);
  size_t size = 0;
  out[size++] = '(';
  size += print_float(part, element.bits, out + size);
  out[size++] = ',';
  out[size++] = ' ';
  size += print_float(part, element.imag, out + size);
  out[size++] = ')';
  out[size] = '\0';
  return size;
}

// Arrays ----------------------------------------------------------------------------------------------------------

typedef struct printer {
  const indim_literal *literal;
  const char *line_break;
  bool one_line;
  indim_buffer *out;
  int64_t index[INDIM_MAX_RANK];
} printer;

static void print_scalar(printer *p) {
  char text[INDIM_ELEMENT_TEXT_SIZE];
  indim_type type = p->literal->shape.type;
  indim_element element = indim_literal_load(p->literal, indim_literal_place(p->literal, p->index));
  if (type == INDIM_PRED) {
    indim_buffer_text(p->out, element.bits != 0 ? "true" : "false");
  } else {
    indim_buffer_append(p->out, text, indim_element_print(type, element, text));
  }
}

static void print_row_values(printer *p, int64_t length) {
  char text[INDIM_ELEMENT_TEXT_SIZE + 2];
  indim_type type = p->literal->shape.type;
  indim_row row = indim_row_at(p->literal, p->index);
  for (int64_t i = 0; i < length && p->out->status == INDIM_OK; i++) {
    size_t size = indim_element_print(type, indim_literal_load(p->literal, indim_row_place(&row, i)), text);
    if (i < length - 1) {
      text[size++] = ',';
      text[size++] = ' ';
    }
    indim_buffer_append(p->out, text, size);
  }
}

static void print_row(printer *p) {
  int32_t rank = p->literal->shape.rank;
  int64_t length = p->literal->dynamic_sizes[rank - 1];
  bool blanks = rank > 1 && length > 1;
  indim_buffer_text(p->out, rank > 1 && !p->one_line ? "  {" : "{");
  indim_buffer_text(p->out, blanks ? " " : "");
  print_row_values(p, length);
  indim_buffer_text(p->out, blanks ? " }" : "}");
}

// Dimensions |dim| to the last for the current values of those before. As deep as the rank.
static void print_dimensions(printer *p, int32_t dim) {
  int32_t rank = p->literal->shape.rank;
  int64_t size = p->literal->dynamic_sizes[dim];
  if (dim == rank - 1) {
    print_row(p);
    return;
  }
  indim_buffer_char(p->out, '{');
  if (rank > 3 && dim > 0) {
    char number[24];
    indim_buffer_text(p->out, " /*i");
    indim_buffer_append(p->out, number, print_signed(dim - 1, number));
    indim_buffer_char(p->out, '=');
    indim_buffer_append(p->out, number, print_signed(p->index[dim - 1], number));
    indim_buffer_text(p->out, "*/");
    indim_buffer_text(p->out, size > 0 ? p->line_break : "");
  } else {
    indim_buffer_text(p->out, p->line_break);
  }
  for (int64_t i = 0; i < size && p->out->status == INDIM_OK; i++) {
    p->index[dim] = i;
    print_dimensions(p, dim + 1);
    if (i < size - 1) {
      indim_buffer_char(p->out, ',');
      indim_buffer_text(p->out, p->line_break);
    }
  }
  p->index[dim] = 0;
  indim_buffer_text(p->out, p->line_break);
  indim_buffer_char(p->out, '}');
}

static void print_prefix(const indim_literal *literal, unsigned flags, indim_buffer *out) {
  if ((flags & (INDIM_LITERAL_SHAPE | INDIM_LITERAL_LAYOUT)) == 0) {
    return;
  }
  indim_shape_print(&literal->shape, (flags & INDIM_LITERAL_LAYOUT) != 0, out);
  if (literal->shape.dynamic != 0) {
    for (int32_t d = 0; d < literal->shape.rank; d++) {
      indim_buffer_char(out, d == 0 ? '(' : ',');
      indim_buffer_int(out, literal->dynamic_sizes[d]);
    }
    indim_buffer_char(out, ')');
  }
  indim_buffer_char(out, ' ');
}

static void print_array(const indim_literal *literal, unsigned flags, indim_buffer *out) {
  bool one_line = (flags & INDIM_LITERAL_ONE_LINE) != 0;
  printer p = {.literal = literal, .line_break = one_line ? " " : "\n", .one_line = one_line, .out = out};
  print_prefix(literal, flags, out);
  if (literal->elided) {
    indim_buffer_text(out, "{...}");
  } else if (literal->shape.rank == 0) {
    print_scalar(&p);
  } else {
    print_dimensions(&p, 0);
  }
}

void indim_literal_print(const indim_literal *literal, unsigned flags, indim_buffer *out) {
  if (literal == NULL) {
    return;
  }
  const char *line_break = (flags & INDIM_LITERAL_ONE_LINE) != 0 ? " " : "\n";
  if (indim_shape_is_array(&literal->shape)) {
    print_array(literal, flags, out);
    return;
  }
  if (!indim_shape_is_tuple(&literal->shape)) {
    indim_buffer_text(out, "token");
    return;
  }
  indim_buffer_char(out, '(');
  indim_buffer_text(out, line_break);
  for (int64_t i = 0; i < literal->member_count; i++) {
    indim_literal_print(literal->members[i], flags, out);
    if (i < literal->member_count - 1) {
      indim_buffer_char(out, ',');
      indim_buffer_text(out, line_break);
    }
  }
  indim_buffer_text(out, line_break);
  indim_buffer_char(out, ')');
}
