// Reads and writes NumPy's .npy files: a magic string, a version, a header that is a Python dict in text, the elements.
//
//   \x93NUMPY 1 0 <length> {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }  ...  24 bytes
//
// The header is read by a small reader of exactly that kind of dict. Written files are byte for byte those of
// numpy.save, with types that NumPy lacks as ml_dtypes' arrays are saved: raw bytes of their width ("<V2" for bf16).
// Source: NumPy Enhancement Proposal 1.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "array/literal_internal.h"
#include "array/shape_internal.h"
#include "array/shape_text.h"
#include "base/size.h"
#include "indim/literal_util.h"

// What a dtype is called -------------------------------------------------------------------------------------------

typedef struct dtype_row {
  indim_type type;
  const char *descr;  // as numpy.save writes it
  const char *name;   // of the dtype
} dtype_row;

static const dtype_row dtypes[] = {
    {INDIM_PRED, "|b1", "bool"},
    {INDIM_S8, "|i1", "int8"},
    {INDIM_S16, "<i2", "int16"},
    {INDIM_S32, "<i4", "int32"},
    {INDIM_S64, "<i8", "int64"},
    {INDIM_U8, "|u1", "uint8"},
    {INDIM_U16, "<u2", "uint16"},
    {INDIM_U32, "<u4", "uint32"},
    {INDIM_U64, "<u8", "uint64"},
    {INDIM_F16, "<f2", "float16"},
    {INDIM_F32, "<f4", "float32"},
    {INDIM_F64, "<f8", "float64"},
    {INDIM_C64, "<c8", "complex64"},
    {INDIM_C128, "<c16", "complex128"},
    {INDIM_BF16, "<V2", "bfloat16"},
    {INDIM_F8E5M2, "<f1", "float8_e5m2"},  // the one that ml_dtypes registers as a float kind
    {INDIM_F8E4M3FN, "<V1", "float8_e4m3fn"},
    {INDIM_F8E4M3B11FNUZ, "<V1", "float8_e4m3b11fnuz"},
    {INDIM_F8E5M2FNUZ, "<V1", "float8_e5m2fnuz"},
    {INDIM_F8E4M3FNUZ, "<V1", "float8_e4m3fnuz"},
    {INDIM_F8E4M3, "<V1", "float8_e4m3"},
    {INDIM_F8E3M4, "<V1", "float8_e3m4"},
    {INDIM_F8E8M0FNU, "<V1", "float8_e8m0fnu"},
    {INDIM_F6E3M2FN, "<V1", "float6_e3m2fn"},
    {INDIM_F6E2M3FN, "<V1", "float6_e2m3fn"},
    {INDIM_F4E2M1FN, "<V1", "float4_e2m1fn"},
    {INDIM_S4, "<V1", "int4"},
    {INDIM_U4, "<V1", "uint4"},
    {INDIM_S2, "<V1", "int2"},
    {INDIM_U2, "<V1", "uint2"},
    {INDIM_S1, "<V1", "int1"},
    {INDIM_U1, "<V1", "uint1"},
};

enum { DTYPE_COUNT = sizeof dtypes / sizeof dtypes[0] };

static const char *descr_of(indim_type type) {
  for (size_t i = 0; i < DTYPE_COUNT; i++) {
    if (dtypes[i].type == type) {
      return dtypes[i].descr;
    }
  }
  return NULL;
}

// What the header says.
typedef struct header {
  indim_str descr;
  bool has_descr, has_order, has_shape;
  bool fortran;
  int32_t rank;
  int64_t sizes[INDIM_MAX_RANK];
  indim_type type;
  bool swapped;  // elements have their high byte first
} header;

static indim_status fail_dtype(indim_ctx *cx, indim_str descr, const char *reason, const char *hint) {
  indim_fail(cx, INDIM_UNSUPPORTED, ".npy: the element type '%.*s' %s", descr.size < 60 ? (int)descr.size : 60,
             descr.data, reason);
  indim_hint(cx, "%s", hint);
  return INDIM_UNSUPPORTED;
}

// Raw bytes, of which only the caller can know what they mean.
static indim_status find_void(indim_ctx *cx, header *h, int64_t width, indim_type type) {
  if (type == INDIM_TYPE_INVALID) {
    return fail_dtype(cx, h->descr,
                      "is raw bytes: the file does not say what they are (so numpy saves the types of ml_dtypes)",
                      width == 2   ? "name the type they have: bf16"
                      : width == 1 ? "name the type they have: f8e4m3fn, s4, ..."
                                   : "save the array with a dtype of NumPy, or of ml_dtypes");
  }
  if (!indim_type_is_array(type) || indim_type_bytes(type) != width) {
    return indim_fail(cx, INDIM_INVALID,
                      ".npy: elements of %" PRId64 " bytes ('%.*s') cannot be %s, which has %" PRId32, width,
                      (int)h->descr.size, h->descr.data, indim_type_text(type), indim_type_bytes(type));
  }
  h->type = type;
  return INDIM_OK;
}

static bool parse_width(indim_str text, int64_t *out) {
  *out = 0;
  for (size_t i = 0; i < text.size; i++) {
    if (text.data[i] < '0' || text.data[i] > '9' || *out > 1000000) {
      return false;
    }
    *out = *out * 10 + (text.data[i] - '0');
  }
  return text.size > 0;
}

static bool find_kind(header *h, char kind, int64_t width) {
  for (size_t i = 0; i < DTYPE_COUNT; i++) {
    int64_t row_width = 0;
    const char *descr = dtypes[i].descr;
    if (descr[1] == kind && kind != 'V' && parse_width(indim_str_of(descr + 2), &row_width) && row_width == width) {
      h->type = dtypes[i].type;
      return true;
    }
  }
  return false;
}

static bool find_name(header *h) {
  for (size_t i = 0; i < DTYPE_COUNT; i++) {
    if (indim_str_equal(h->descr, indim_str_of(dtypes[i].name))) {
      h->type = dtypes[i].type;
      return true;
    }
  }
  return false;
}

static indim_status find_type(indim_ctx *cx, header *h, indim_type type) {
  static const char convert_hint[] = "convert it in NumPy (array.astype) to bool, an integer, float or complex type";
  indim_str d = h->descr;
  int64_t width = 0;
  if (find_name(h)) {
    return INDIM_OK;
  }
  size_t prefix = d.size > 0 && memchr("<>=|", d.data[0], 4) != NULL ? 1 : 0;
  if (d.size == prefix + 1 && d.data[prefix] == '?') {
    h->type = INDIM_PRED;
    return INDIM_OK;
  }
  char kind = d.size > prefix ? d.data[prefix] : '\0';
  if (kind == 'O') {
    return fail_dtype(cx, d, "is Python objects", convert_hint);
  }
  if (kind == 'U' || kind == 'S' || kind == 'a' || kind == 'T') {
    return fail_dtype(cx, d, "is text", convert_hint);
  }
  if (kind == 'M' || kind == 'm') {
    return fail_dtype(cx, d, "is a date or a span of time", convert_hint);
  }
  if (d.size <= prefix || !parse_width((indim_str){d.data + prefix + 1, d.size - prefix - 1}, &width)) {
    return fail_dtype(cx, d, "is not known", convert_hint);
  }
  if (kind == 'V') {
    return find_void(cx, h, width, type);
  }
  h->swapped = prefix == 1 && d.data[0] == '>';
  return find_kind(h, kind, width) ? INDIM_OK : fail_dtype(cx, d, "has no counterpart here", convert_hint);
}

// The header's dict ------------------------------------------------------------------------------------------------

typedef struct dict_reader {
  indim_ctx *cx;
  indim_str text;
  size_t at;
} dict_reader;

static indim_status fail_header(const dict_reader *r, const char *expected) {
  size_t left = r->text.size - r->at;
  return indim_fail(r->cx, INDIM_SYNTAX, ".npy: byte %zu of the header: expected %s, found %s%.*s%s", r->at, expected,
                    left == 0 ? "its end" : "'", left < 20 ? (int)left : 20, r->text.data + r->at,
                    left == 0 ? "" : "'");
}

static void skip_blanks(dict_reader *r) {
  while (r->at < r->text.size && memchr(" \t\r\n", r->text.data[r->at], 4) != NULL) {
    r->at++;
  }
}

// Steps over blanks and, if it comes next, |c|.
static bool eat(dict_reader *r, char c) {
  skip_blanks(r);
  bool found = r->at < r->text.size && r->text.data[r->at] == c;
  r->at += found;
  return found;
}

static indim_status read_string(dict_reader *r, indim_str *out) {
  skip_blanks(r);
  char quote = r->at < r->text.size ? r->text.data[r->at] : '\0';
  if (quote != '\'' && quote != '"') {
    return fail_header(r, "a string");
  }
  const char *start = r->text.data + r->at + 1;
  const char *end = memchr(start, quote, r->text.size - r->at - 1);
  if (end == NULL) {
    return fail_header(r, "a closed string");
  }
  *out = (indim_str){start, (size_t)(end - start)};
  r->at += out->size + 2;
  return INDIM_OK;
}

static bool eat_word(dict_reader *r, const char *word) {
  size_t size = strlen(word);
  skip_blanks(r);
  bool found = r->text.size - r->at >= size && memcmp(r->text.data + r->at, word, size) == 0;
  r->at += found ? size : 0;
  return found;
}

static indim_status read_order(dict_reader *r, header *h) {
  h->fortran = eat_word(r, "True");
  return h->fortran || eat_word(r, "False") ? INDIM_OK : fail_header(r, "True or False");
}

static bool next_is_digit(const dict_reader *r) {
  return r->at < r->text.size && r->text.data[r->at] >= '0' && r->text.data[r->at] <= '9';
}

static indim_status read_size(dict_reader *r, int64_t *out) {
  skip_blanks(r);
  if (!next_is_digit(r)) {
    return fail_header(r, "a size of 0 or more");
  }
  size_t start = r->at;
  for (*out = 0; next_is_digit(r); r->at++) {
    if (!indim_count_mul(*out, 10, out) || !indim_int_add(*out, r->text.data[r->at] - '0', out)) {
      r->at = start;
      return fail_header(r, "a size below 2^63");
    }
  }
  r->at += r->at < r->text.size && r->text.data[r->at] == 'L';  // Python 2's long integers
  return INDIM_OK;
}

// "(2, 3)", "(3,)", "()". A number in parentheses without a comma is no tuple.
static indim_status read_shape(dict_reader *r, header *h) {
  bool comma = true;
  if (!eat(r, '(')) {
    return fail_header(r, "'(' of the shape");
  }
  h->rank = 0;
  while (!eat(r, ')')) {
    if (!comma) {
      return fail_header(r, "',' or ')' in the shape");
    }
    if (h->rank == INDIM_MAX_RANK) {
      return indim_fail(r->cx, INDIM_LIMIT, ".npy: the rank is above the largest, %d", INDIM_MAX_RANK);
    }
    INDIM_TRY(read_size(r, &h->sizes[h->rank++]));
    comma = eat(r, ',');
  }
  return comma || h->rank > 1 ? INDIM_OK : fail_header(r, "a shape, which is a tuple such as (3,)");
}

static indim_status read_entry(dict_reader *r, header *h) {
  indim_str key;
  INDIM_TRY(read_string(r, &key));
  bool *seen = indim_str_equal(key, indim_str_of("descr"))           ? &h->has_descr
               : indim_str_equal(key, indim_str_of("fortran_order")) ? &h->has_order
               : indim_str_equal(key, indim_str_of("shape"))         ? &h->has_shape
                                                                     : NULL;
  if (seen == NULL || *seen) {
    return indim_fail(r->cx, INDIM_SYNTAX, ".npy: the header has the key '%.*s' %s", key.size < 60 ? (int)key.size : 60,
                      key.data, seen == NULL ? "besides descr, fortran_order and shape" : "twice");
  }
  *seen = true;
  if (!eat(r, ':')) {
    return fail_header(r, "':' after a key");
  }
  if (seen == &h->has_order) {
    return read_order(r, h);
  }
  if (seen == &h->has_shape) {
    return read_shape(r, h);
  }
  skip_blanks(r);
  if (r->at < r->text.size && r->text.data[r->at] == '[') {
    return fail_dtype(r->cx, indim_str_of("[...]"), "is a structure of fields",
                      "save each field as an array of its own");
  }
  return read_string(r, &h->descr);
}

static indim_status read_dict(dict_reader *r, header *h) {
  bool comma = true;
  if (!eat(r, '{')) {
    return fail_header(r, "'{'");
  }
  while (!eat(r, '}')) {
    if (!comma) {
      return fail_header(r, "',' or '}'");
    }
    INDIM_TRY(read_entry(r, h));
    comma = eat(r, ',');
  }
  skip_blanks(r);
  if (r->at < r->text.size) {
    return fail_header(r, "nothing but blanks behind '}'");
  }
  if (!h->has_descr || !h->has_order || !h->has_shape) {
    return indim_fail(r->cx, INDIM_SYNTAX, ".npy: the header has no key '%s'",
                      !h->has_descr   ? "descr"
                      : !h->has_order ? "fortran_order"
                                      : "shape");
  }
  return INDIM_OK;
}

// Reading ----------------------------------------------------------------------------------------------------------

static const unsigned char magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

// Finds the header's text and where the elements begin.
static indim_status find_header(indim_ctx *cx, const unsigned char *bytes, size_t size, indim_str *out_text) {
  size_t shown = size < sizeof magic ? size : sizeof magic;
  if (bytes == NULL || memcmp(bytes, magic, shown) != 0) {
    indim_fail(cx, INDIM_INVALID, ".npy: the file does not begin with \\x93NUMPY");
    indim_hint(cx, size >= 2 && bytes != NULL && bytes[0] == 'P' && bytes[1] == 'K'
                       ? "this is an archive (.npz): take the .npy files out of it"
                       : "write it with numpy.save");
    return INDIM_INVALID;
  }
  if (size < 10) {
    return indim_fail(cx, INDIM_INVALID, ".npy: the file ends after %zu bytes, inside its header", size);
  }
  int major = bytes[6];
  if (major < 1 || major > 3 || bytes[7] != 0) {
    indim_fail(cx, INDIM_UNSUPPORTED, ".npy: format %d.%d; 1.0, 2.0 and 3.0 are known", major, bytes[7]);
    return INDIM_UNSUPPORTED;
  }
  size_t start = major == 1 ? 10 : 12;
  if (size < start) {
    return indim_fail(cx, INDIM_INVALID, ".npy: the file ends after %zu bytes, inside its header", size);
  }
  size_t length = (size_t)bytes[8] | (size_t)bytes[9] << 8;
  length |= major == 1 ? 0 : (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
  if (length > size - start) {
    return indim_fail(cx, INDIM_INVALID, ".npy: the header has %zu bytes, the file only %zu more", length,
                      size - start);
  }
  *out_text = (indim_str){(const char *)bytes + start, length};
  return INDIM_OK;
}

static void swap_bytes(unsigned char *bytes, size_t size, size_t item) {
  for (size_t i = 0; item > 1 && i + item <= size; i += item) {
    for (size_t j = 0; j < item / 2; j++) {
      unsigned char byte = bytes[i + j];
      bytes[i + j] = bytes[i + item - 1 - j];
      bytes[i + item - 1 - j] = byte;
    }
  }
}

static indim_status check_data(indim_ctx *cx, const indim_shape *shape, size_t available) {
  int64_t needed = indim_shape_element_bytes(shape);
  if ((uint64_t)needed > available) {
    indim_fail(cx, INDIM_INVALID, ".npy: %s needs %" PRId64 " bytes of elements, the file has %zu",
               indim_shape_name_of(shape).text, needed, available);
    indim_hint(cx, "the file was cut off, or its header changed");
    return INDIM_INVALID;
  }
  if ((uint64_t)needed < available) {
    indim_fail(cx, INDIM_INVALID, ".npy: %s needs %" PRId64 " bytes of elements, the file has %zu",
               indim_shape_name_of(shape).text, needed, available);
    indim_hint(cx, "something else was appended, or the header changed");
    return INDIM_INVALID;
  }
  return INDIM_OK;
}

indim_status indim_npy_parse(indim_ctx *cx, const void *bytes, size_t size, indim_type type,
                             indim_literal **out_literal) {
  INDIM_NOT_NULL(cx, out_literal);
  *out_literal = NULL;
  header h = {.type = INDIM_TYPE_INVALID};
  dict_reader r = {.cx = cx};
  indim_shape shape;
  indim_literal *literal = NULL;
  INDIM_TRY(find_header(cx, bytes, size, &r.text));
  INDIM_TRY(read_dict(&r, &h));
  INDIM_TRY(find_type(cx, &h, type));
  INDIM_TRY(indim_shape_init(cx, h.type, h.rank, h.sizes, &shape));
  const char *data = r.text.data + r.text.size;
  INDIM_TRY(check_data(cx, &shape, size - (size_t)(data - (const char *)bytes)));
  for (int32_t d = 0; h.fortran && d < h.rank; d++) {
    shape.layout.minor_to_major[d] = d;
  }
  INDIM_TRY(indim_literal_create(cx, &shape, &literal));
  if (literal->bytes > 0) {
    memcpy(literal->data, data, literal->bytes);
    size_t item = (size_t)indim_type_bytes(h.type) / (indim_type_is_complex(h.type) ? 2 : 1);
    swap_bytes(literal->data, literal->bytes, h.swapped ? item : 1);
    indim_literal_canonicalize(h.type, literal->data, literal->bytes);
  }
  *out_literal = literal;
  return INDIM_OK;
}

// Writing ----------------------------------------------------------------------------------------------------------

// Whether NumPy would call the array Fortran-ordered: first dimension fastest, and not the last too.
static bool is_fortran(const indim_shape *shape) {
  int64_t before = -1;  // dimension of size above 1 met last, from the fastest on
  bool ascending = true;
  int32_t met = 0;
  for (int32_t i = 0; i < shape->rank; i++) {
    int64_t d = shape->layout.minor_to_major[i];
    if (shape->sizes[d] == 0) {
      return false;
    }
    if (shape->sizes[d] > 1) {
      ascending = ascending && d > before;
      before = d;
      met++;
    }
  }
  return ascending && met > 1;
}

static void print_header(const indim_shape *shape, bool fortran, indim_buffer *out) {
  enum { ALIGNMENT = 64, ROOM_TO_GROW = 21, PREFIX = 10 };
  indim_buffer_printf(out, "{'descr': '%s', 'fortran_order': %s, 'shape': (", descr_of(shape->type),
                      fortran ? "True" : "False");
  for (int32_t d = 0; d < shape->rank; d++) {
    indim_buffer_printf(out, "%s%" PRId64, d > 0 ? ", " : "", shape->sizes[d]);
  }
  indim_buffer_text(out, shape->rank == 1 ? ",), }" : "), }");
  if (shape->rank > 0) {  // room for the digits of the dimension that grows when elements are appended
    char digits[24];
    int used = snprintf(digits, sizeof digits, "%" PRId64, shape->sizes[fortran ? shape->rank - 1 : 0]);
    indim_buffer_printf(out, "%*s", ROOM_TO_GROW - used, "");
  }
  size_t padding = ALIGNMENT - (PREFIX + out->size + 1) % ALIGNMENT;
  indim_buffer_printf(out, "%*s\n", (int)padding, "");
}

// |literal| is static and lies in the order that is written.
static void print_file(const indim_literal *literal, bool fortran, indim_buffer *out) {
  indim_buffer text;
  indim_buffer_init(&text, out->cx);
  print_header(&literal->shape, fortran, &text);
  if (text.status != INDIM_OK) {
    out->status = text.status;
  } else {
    const char prefix[10] = {(char)magic[0],        'N', 'U', 'M', 'P', 'Y', 1, 0, (char)(text.size & 0xFF),
                             (char)(text.size >> 8)};
    indim_buffer_append(out, prefix, sizeof prefix);
    indim_buffer_append(out, text.data, text.size);
    indim_buffer_append(out, (const char *)literal->data, literal->bytes);
  }
  indim_buffer_deinit(&text);
}

// The same elements without gaps in the order that is written.
static indim_status lay_out(indim_ctx *cx, const indim_literal *literal, bool fortran, indim_literal **out) {
  indim_shape shape;
  INDIM_TRY(indim_shape_init(cx, literal->shape.type, literal->shape.rank, literal->shape.sizes, &shape));
  for (int32_t d = 0; fortran && d < shape.rank; d++) {
    shape.layout.minor_to_major[d] = d;
  }
  return indim_literal_relayout(cx, literal, &shape, out);
}

indim_status indim_npy_print(indim_ctx *cx, const indim_literal *literal, indim_buffer *out) {
  indim_literal *fixed = NULL;
  indim_literal *ordered = NULL;
  INDIM_NOT_NULL(cx, out);
  INDIM_TRY(indim_literal_need_array(cx, literal, "a .npy file"));
  if (literal->shape.dynamic != 0) {
    INDIM_TRY(indim_literal_to_static(cx, literal, &fixed));
    literal = fixed;
  }
  bool fortran = is_fortran(&literal->shape);
  indim_status status = INDIM_OK;
  if (!indim_literal_is_plain(literal)) {
    status = lay_out(cx, literal, fortran, &ordered);
    literal = ordered;
  }
  if (status == INDIM_OK) {
    print_file(literal, fortran, out);
    status = out->status;
  }
  indim_literal_destroy(ordered);
  indim_literal_destroy(fixed);
  return status;
}
