// A value is known by how it begins: a letter, a quote, a brace or a digit. The elements of arrays are read one by one with
// the type that stands before or behind them.
#include "ffi/attrs.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "graph/dictionary.h"
#include "graph/infer_kit.h"

enum { MOST_DEPTH = 16 };  // dictionaries inside dictionaries

typedef struct reader {
  indim_ctx *cx;
  const indim_instr *instr;
  indim_arena *arena;
  indim_str name;  // of the attribute that is read
  int depth;
} reader;

static int shown(indim_str text) { return (int)(text.size < 80 ? text.size : 80); }

static indim_status fail_value(const reader *r, indim_str value, indim_status status, const char *why) {
  indim_fail_attr(r->cx, r->instr, INDIM_ATTR_BACKEND_CONFIG, "attribute %.*s is %.*s: %s", shown(r->name),
                  r->name.data, shown(value), value.data, why);
  return status;
}

static indim_status fail_kind(const reader *r, indim_str value) {
  indim_status status = fail_value(r, value, INDIM_INVALID,
                                   "it is neither a number with its type, nor true or false, a string, array<...>, "
                                   "dense<...> or a dictionary");
  indim_hint(r->cx, "numbers are like 76 : ui8 or 1.5 : f32, arrays like array<i64: 1, 2>");
  return status;
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static indim_str trimmed(indim_str text) {
  while (text.size > 0 && is_blank(text.data[0])) {
    text = (indim_str){text.data + 1, text.size - 1};
  }
  while (text.size > 0 && is_blank(text.data[text.size - 1])) {
    text.size--;
  }
  return text;
}

static bool begins(indim_str text, const char *word) {
  size_t size = strlen(word);
  return text.size >= size && memcmp(text.data, word, size) == 0;
}

static indim_str after(indim_str text, size_t count) { return (indim_str){text.data + count, text.size - count}; }

// Splits at the last |mark| of the text, which is taken out; false if there is none.
static bool split_last(indim_str text, char mark, indim_str *out_left, indim_str *out_right) {
  size_t at = text.size;
  while (at > 0 && text.data[at - 1] != mark) {
    at--;
  }
  if (at == 0) {
    return false;
  }
  *out_right = trimmed(after(text, at));
  *out_left = trimmed((indim_str){text.data, at - 1});
  return true;
}

// Numbers ------------------------------------------------------------------------------------------------------------

// "i32", "ui8", "f64"; INVALID for types that attributes do not have.
static indim_type find_type(indim_str text) {
  static const struct {
    const char *text;
    indim_type type;
  } rows[] = {{"i8", INDIM_S8},    {"i16", INDIM_S16},  {"i32", INDIM_S32},  {"i64", INDIM_S64}, {"si8", INDIM_S8},
              {"si16", INDIM_S16}, {"si32", INDIM_S32}, {"si64", INDIM_S64}, {"ui8", INDIM_U8},  {"ui16", INDIM_U16},
              {"ui32", INDIM_U32}, {"ui64", INDIM_U64}, {"f32", INDIM_F32},  {"f64", INDIM_F64}, {"i1", INDIM_PRED}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (indim_str_is(text, rows[i].text)) {
      return rows[i].type;
    }
  }
  return INDIM_TYPE_INVALID;
}

static int digit_of(char c) {
  return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

// Digits in base 10, or 16 behind 0x; false for anything else and for 2^64 and more.
static bool read_digits(indim_str text, uint64_t *out) {
  uint64_t base = begins(text, "0x") ? 16 : 10;
  size_t start = base == 16 ? 2 : 0;
  *out = 0;
  for (size_t i = start; i < text.size; i++) {
    uint64_t digit = (uint64_t)digit_of(text.data[i]);
    if (digit >= base || *out > (UINT64_MAX - digit) / base) {
      return false;
    }
    *out = *out * base + digit;
  }
  return text.size > start;
}

// Of |bits| bits; the lowest of them go to |out|.
static bool read_integer(indim_str text, int32_t bits, bool is_signed, uint64_t *out) {
  bool negative = begins(text, "-");
  uint64_t size = 0;
  if (!read_digits(negative ? after(text, 1) : text, &size)) {
    return false;
  }
  uint64_t most = UINT64_MAX >> (64 - bits);
  most = is_signed ? most / 2 : most;
  *out = negative ? 0 - size : size;
  return negative ? is_signed && size <= most + 1 : size <= most;
}

// -?digits[.digits][e[+-]digits], as indim_number_parse demands it.
static bool is_decimal(indim_str text) {
  size_t i = begins(text, "-") ? 1 : 0;
  size_t start = i;
  while (i < text.size && (is_digit(text.data[i]) || (text.data[i] == '.' && i > start))) {
    i++;
  }
  if (i == start || (i < text.size && text.data[i] != 'e' && text.data[i] != 'E')) {
    return false;
  }
  const char *point = memchr(text.data, '.', i);
  if (point != NULL && memchr(point + 1, '.', (size_t)(text.data + i - point - 1)) != NULL) {
    return false;
  }
  if (i == text.size) {
    return true;
  }
  i++;
  i += i < text.size && (text.data[i] == '+' || text.data[i] == '-') ? 1 : 0;
  start = i;
  while (i < text.size && is_digit(text.data[i])) {
    i++;
  }
  return i == text.size && i > start;
}

// MLIR writes what decimal digits do not say, NaN and infinities, as the number's bits: 0x7FC00000.
static bool read_float(indim_str text, indim_type type, unsigned char *out) {
  uint64_t bits = 0;
  if (begins(text, "0x")) {
    uint32_t half = 0;
    bool ok = read_digits(text, &bits) && (type == INDIM_F64 || bits <= UINT32_MAX);
    half = (uint32_t)bits;
    memcpy(out, type == INDIM_F64 ? (void *)&bits : (void *)&half, type == INDIM_F64 ? sizeof bits : sizeof half);
    return ok;
  }
  if (!is_decimal(text)) {
    return false;
  }
  double value = indim_number_parse(text);
  float rounded = (float)value;
  memcpy(out, type == INDIM_F64 ? (void *)&value : (void *)&rounded, type == INDIM_F64 ? sizeof value : sizeof rounded);
  return true;
}

// One element of |type| to |out|.
static bool read_number(indim_str text, indim_type type, unsigned char *out) {
  uint64_t value = 0;
  int32_t bytes = indim_type_bytes(type);
  if (type == INDIM_PRED) {
    *out = indim_str_is(text, "true");
    return *out != 0 || indim_str_is(text, "false");
  }
  if (indim_type_is_float(type)) {
    return read_float(text, type, out);
  }
  if (!read_integer(text, 8 * bytes, indim_type_is_signed_int(type), &value)) {
    return false;
  }
  uint8_t one = (uint8_t)value;
  uint16_t two = (uint16_t)value;
  uint32_t four = (uint32_t)value;
  memcpy(out,
         bytes == 1   ? (void *)&one
         : bytes == 2 ? (void *)&two
         : bytes == 4 ? (void *)&four
                      : (void *)&value,
         (size_t)bytes);
  return true;
}

static indim_status new_elements(const reader *r, indim_custom_attr *attr, indim_type type, int64_t count,
                                 unsigned char **out) {
  void *memory = NULL;
  INDIM_TRY(indim_arena_array(r->arena, (size_t)count, (size_t)indim_type_bytes(type), &memory));
  attr->type = type;
  attr->count = count;
  attr->data = memory;
  *out = memory;
  return INDIM_OK;
}

// "76 : ui8", "1.5 : f32"; without a type, MLIR's are i64 and f64.
static indim_status read_scalar(const reader *r, indim_str value, indim_custom_attr *attr) {
  indim_str number = value;
  indim_str type_text = {"", 0};
  unsigned char *data = NULL;
  bool typed = split_last(value, ':', &number, &type_text);
  indim_type type = typed ? find_type(type_text) : INDIM_S64;
  if (!typed && !begins(number, "0x") && memchr(number.data, '.', number.size) != NULL) {
    type = INDIM_F64;
  }
  if (type == INDIM_TYPE_INVALID || (type == INDIM_PRED && typed)) {
    return fail_value(r, value, INDIM_UNSUPPORTED, "numbers are of i8 to i64, ui8 to ui64, f32 or f64");
  }
  attr->kind = INDIM_CUSTOM_SCALAR;
  INDIM_TRY(new_elements(r, attr, type, 1, &data));
  return read_number(number, type, data) ? INDIM_OK
                                         : fail_value(r, value, INDIM_INVALID, "that is no number of its type");
}

// Arrays -------------------------------------------------------------------------------------------------------------

// The next number of a list with commas and brackets; false at the end.
static bool next_item(indim_str list, size_t *cursor, indim_str *out) {
  while (*cursor < list.size && (is_blank(list.data[*cursor]) || strchr(",[]", list.data[*cursor]) != NULL)) {
    ++*cursor;
  }
  size_t start = *cursor;
  while (*cursor < list.size && !is_blank(list.data[*cursor]) && strchr(",[]", list.data[*cursor]) == NULL) {
    ++*cursor;
  }
  *out = (indim_str){list.data + start, *cursor - start};
  return out->size > 0;
}

static int64_t count_items(indim_str list) {
  int64_t count = 0;
  indim_str item;
  for (size_t cursor = 0; next_item(list, &cursor, &item);) {
    count++;
  }
  return count;
}

// |count| elements from a list that has as many, or one for all.
static indim_status read_list(const reader *r, indim_str value, indim_str list, indim_type type, int64_t count,
                              indim_custom_attr *attr) {
  unsigned char *data = NULL;
  size_t bytes = (size_t)indim_type_bytes(type);
  bool is_splat = count_items(list) == 1;
  indim_str item = {"", 0};
  size_t cursor = 0;
  attr->kind = INDIM_CUSTOM_ARRAY;
  if (!is_splat && count_items(list) != count) {
    return fail_value(r, value, INDIM_INVALID, "it has another number of elements than its type says");
  }
  INDIM_TRY(new_elements(r, attr, type, count, &data));
  for (int64_t i = 0; i < count; i++) {
    if (i == 0 || !is_splat) {
      next_item(list, &cursor, &item);
    }
    if (!read_number(item, type, data + (size_t)i * bytes)) {
      return fail_value(r, value, INDIM_INVALID, "an element is no number of its type");
    }
  }
  return INDIM_OK;
}

// array<i64: 1, 2>
static indim_status read_array(const reader *r, indim_str value, indim_custom_attr *attr) {
  indim_str inside = {value.data + 6, value.size - 7};
  indim_str type_text = inside;
  indim_str list = {"", 0};
  const char *colon = memchr(inside.data, ':', inside.size);
  if (colon != NULL) {
    type_text = trimmed((indim_str){inside.data, (size_t)(colon - inside.data)});
    list = after(inside, (size_t)(colon - inside.data) + 1);
  }
  indim_type type = find_type(trimmed(type_text));
  if (type == INDIM_TYPE_INVALID || type == INDIM_PRED) {
    return fail_value(r, value, INDIM_UNSUPPORTED, "arrays are of i8 to i64, f32 or f64");
  }
  return read_list(r, value, list, type, count_items(list), attr);
}

// "2x3xui8": the number of elements, -1 if it is none, and the type.
static int64_t read_tensor(indim_str text, indim_type *out_type) {
  int64_t count = 1;
  for (;;) {
    const char *x = memchr(text.data, 'x', text.size);
    if (x == NULL || !is_digit(text.data[0])) {
      break;
    }
    uint64_t size = 0;
    if (!read_digits((indim_str){text.data, (size_t)(x - text.data)}, &size) || size > INT32_MAX || count > INT32_MAX) {
      return -1;
    }
    count *= (int64_t)size;
    text = after(text, (size_t)(x - text.data) + 1);
  }
  *out_type = find_type(trimmed(text));
  return count > INT32_MAX ? -1 : count;
}

// dense<"0x0102"> : tensor<2xui8>: the elements' bytes, little-endian.
static indim_status read_bytes(const reader *r, indim_str value, indim_str digits, indim_type type, int64_t count,
                               indim_custom_attr *attr) {
  unsigned char *data = NULL;
  size_t size = (size_t)count * (size_t)indim_type_bytes(type);
  attr->kind = INDIM_CUSTOM_ARRAY;
  if (digits.size != 2 * size) {
    return fail_value(r, value, INDIM_INVALID, "it has another number of bytes than its type says");
  }
  INDIM_TRY(new_elements(r, attr, type, count, &data));
  for (size_t i = 0; i < size; i++) {
    int high = digit_of(digits.data[2 * i]);
    int low = digit_of(digits.data[2 * i + 1]);
    if (high > 15 || low > 15) {
      return fail_value(r, value, INDIM_INVALID, "its digits are not hexadecimal");
    }
    data[i] = (unsigned char)(16 * high + low);
  }
  return INDIM_OK;
}

// dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>, dense<5> : tensor<3xi32>
static indim_status read_dense(const reader *r, indim_str value, indim_custom_attr *attr) {
  indim_str list = {"", 0};
  indim_str tensor = {"", 0};
  indim_type type = INDIM_TYPE_INVALID;
  if (!split_last(value, ':', &list, &tensor) || !begins(tensor, "tensor<") || list.size < 7 ||
      list.data[list.size - 1] != '>' || tensor.data[tensor.size - 1] != '>') {
    return fail_kind(r, value);
  }
  list = trimmed((indim_str){list.data + 6, list.size - 7});
  int64_t count = read_tensor((indim_str){tensor.data + 7, tensor.size - 8}, &type);
  if (count < 0 || type == INDIM_TYPE_INVALID || type == INDIM_PRED) {
    return fail_value(r, value, INDIM_UNSUPPORTED, "arrays are of i8 to i64, ui8 to ui64, f32 or f64, and below 2^31");
  }
  if (begins(list, "\"0x") && list.data[list.size - 1] == '"') {
    return read_bytes(r, value, (indim_str){list.data + 3, list.size - 4}, type, count, attr);
  }
  return read_list(r, value, list, type, count, attr);
}

// Strings and dictionaries -------------------------------------------------------------------------------------------

// The character behind a backslash at |text[at]|, which takes |*out_size| characters; false for an unknown escape.
static bool read_escape(indim_str text, size_t at, char *out, size_t *out_size) {
  char c = at < text.size ? text.data[at] : '\0';
  *out_size = 1;
  if (c == '"' || c == '\\') {
    *out = c;
    return true;
  }
  if (c == 'n' || c == 't') {
    *out = c == 'n' ? '\n' : '\t';
    return true;
  }
  *out_size = 2;
  int high = digit_of(c);
  int low = at + 1 < text.size ? digit_of(text.data[at + 1]) : 99;
  *out = (char)(unsigned char)(16 * high + low);
  return high < 16 && low < 16;
}

static indim_status read_string(const reader *r, indim_str value, indim_custom_attr *attr) {
  indim_str inside = {value.data + 1, value.size - 2};
  void *memory = NULL;
  INDIM_TRY(indim_arena_alloc(r->arena, inside.size + 1, &memory));
  char *out = memory;
  for (size_t i = 0; i < inside.size; i++) {
    size_t taken = 0;
    *out = inside.data[i];
    if (*out == '\\' && !read_escape(inside, i + 1, out, &taken)) {
      return fail_value(r, value, INDIM_INVALID, "an escape is unknown");
    }
    i += taken;
    out++;
  }
  *out = '\0';
  *attr = (indim_custom_attr){
      .name = attr->name, .kind = INDIM_CUSTOM_STRING, .count = out - (char *)memory, .data = memory};
  return INDIM_OK;
}

static indim_status read_dictionary(reader *r, indim_str text, const indim_custom_attr **out_attrs, int64_t *out_count);

static indim_status read_value(reader *r, indim_str value, indim_custom_attr *attr) {
  char last = value.size == 0 ? '\0' : value.data[value.size - 1];
  char first = value.size == 0 ? '\0' : value.data[0];
  unsigned char *flag = NULL;
  bool is_true = false;
  if (value.size == 0) {
    return fail_value(r, value, INDIM_UNSUPPORTED, "a name without a value has no meaning for functions");
  }
  if (indim_dictionary_bool(value, &is_true)) {
    attr->kind = INDIM_CUSTOM_SCALAR;
    INDIM_TRY(new_elements(r, attr, INDIM_PRED, 1, &flag));
    *flag = is_true;
    return INDIM_OK;
  }
  if (first == '"' && last == '"' && value.size > 1) {
    return read_string(r, value, attr);
  }
  if (first == '{') {
    attr->kind = INDIM_CUSTOM_DICTIONARY;
    return read_dictionary(r, value, &attr->entries, &attr->count);
  }
  if (begins(value, "array<") && last == '>') {
    return read_array(r, value, attr);
  }
  if (begins(value, "dense<")) {
    return read_dense(r, value, attr);
  }
  return is_digit(first) || first == '-' ? read_scalar(r, value, attr) : fail_kind(r, value);
}

static int compare_names(const void *a, const void *b) {
  const indim_str *left = &((const indim_custom_attr *)a)->name;
  const indim_str *right = &((const indim_custom_attr *)b)->name;
  size_t size = left->size < right->size ? left->size : right->size;
  int order = size == 0 ? 0 : memcmp(left->data, right->data, size);
  return order != 0 ? order : (left->size > right->size) - (left->size < right->size);
}

static indim_status check_names(const reader *r, const indim_custom_attr *attrs, int64_t count) {
  for (int64_t i = 1; i < count; i++) {
    if (compare_names(&attrs[i - 1], &attrs[i]) == 0) {
      return indim_fail_attr(r->cx, r->instr, INDIM_ATTR_BACKEND_CONFIG, "attribute %.*s stands there twice",
                             shown(attrs[i].name), attrs[i].name.data);
    }
  }
  return INDIM_OK;
}

static indim_status count_entries(const reader *r, indim_str text, int64_t *out_count) {
  indim_dictionary_entry entry;
  size_t cursor = 0;
  *out_count = 0;
  for (bool more = true; more;) {
    if (!indim_dictionary_next(text, &cursor, &entry, &more)) {
      return indim_fail_attr(
          r->cx, r->instr, INDIM_ATTR_BACKEND_CONFIG,
          "backend_config= is no list of attributes like {uplo = 76 : ui8}: character %zu of %.*s is unexpected",
          cursor + 1, shown(text), text.data);
    }
    *out_count += more;
  }
  return INDIM_OK;
}

// Depth is limited.
static indim_status read_dictionary(reader *r, indim_str text, const indim_custom_attr **out_attrs,
                                    int64_t *out_count) {
  indim_dictionary_entry entry;
  void *memory = NULL;
  size_t cursor = 0;
  bool more = true;
  if (r->depth == MOST_DEPTH) {
    return fail_value(r, text, INDIM_LIMIT, "dictionaries are nested too deep");
  }
  INDIM_TRY(count_entries(r, text, out_count));
  INDIM_TRY(indim_arena_array(r->arena, (size_t)*out_count, sizeof(indim_custom_attr), &memory));
  indim_custom_attr *attrs = memory;
  for (int64_t i = 0; i < *out_count && indim_dictionary_next(text, &cursor, &entry, &more); i++) {
    INDIM_TRY(indim_arena_str(r->arena, entry.name, &attrs[i].name));
    r->name = attrs[i].name;
    r->depth++;
    INDIM_TRY(read_value(r, entry.value, &attrs[i]));
    r->depth--;
  }
  if (*out_count > 1) {
    qsort(attrs, (size_t)*out_count, sizeof *attrs, compare_names);
  }
  *out_attrs = attrs;
  return check_names(r, attrs, *out_count);
}

indim_status indim_attrs_read(indim_ctx *cx, const indim_instr *instr, indim_arena *arena, indim_str text,
                              const indim_custom_attr **out_attrs, int64_t *out_count) {
  reader r = {.cx = cx, .instr = instr, .arena = arena, .name = {"", 0}};
  *out_attrs = NULL;
  *out_count = 0;
  return text.size == 0 ? INDIM_OK : read_dictionary(&r, text, out_attrs, out_count);
}
