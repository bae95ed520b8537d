// Attribute values: one function per kind (hlo-text.md 6).
#include <string.h>

#include "array/literal_text.h"
#include "array/shape_text.h"
#include "base/number.h"
#include "text/parser.h"

// Integers ----------------------------------------------------------------------------------------------------------

static indim_status parse_int(indim_parser *parser, int64_t *out_value) {
  *out_value = parser->lexer.token.integer;
  return indim_lexer_expect(&parser->lexer, INDIM_TOKEN_INT, "an integer");
}

// A growing array of integers in the module's arena.
typedef struct int_list {
  int64_t *items;
  int64_t count;
  int64_t capacity;
} int_list;

static indim_status append_int(indim_parser *parser, int_list *list, int64_t value) {
  if (list->count == list->capacity) {
    int64_t capacity = list->capacity == 0 ? 8 : list->capacity * 2;
    void *memory = NULL;
    INDIM_TRY(indim_arena_array(&parser->module->arena, (size_t)capacity, sizeof *list->items, &memory));
    if (list->count > 0) {
      memcpy(memory, list->items, (size_t)list->count * sizeof *list->items);
    }
    list->items = memory;
    list->capacity = capacity;
  }
  list->items[list->count++] = value;
  return INDIM_OK;
}

static indim_status parse_int_items(indim_parser *parser, int_list *list) {
  indim_lexer *lexer = &parser->lexer;
  INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_LBRACE, "'{' before a list of integers"));
  while (lexer->token.kind != INDIM_TOKEN_RBRACE) {
    int64_t value = 0;
    INDIM_TRY(parse_int(parser, &value));
    INDIM_TRY(append_int(parser, list, value));
    if (!indim_lexer_eat(lexer, INDIM_TOKEN_COMMA)) {
      break;
    }
    if (lexer->token.kind == INDIM_TOKEN_RBRACE) {
      return indim_lexer_expected(lexer, "an integer");
    }
  }
  return indim_lexer_expect(lexer, INDIM_TOKEN_RBRACE, "',' or '}' in a list of integers");
}

indim_status indim_parse_ints(indim_parser *parser, const int64_t **out_ints, int64_t *out_count) {
  int_list list = {NULL, 0, 0};
  INDIM_TRY(parse_int_items(parser, &list));
  *out_ints = list.items;
  *out_count = list.count;
  return INDIM_OK;
}

static indim_status parse_int_lists(indim_parser *parser, indim_attr *attr) {
  indim_lexer *lexer = &parser->lexer;
  int_list items = {NULL, 0, 0};
  int_list sizes = {NULL, 0, 0};
  INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_LBRACE, "'{' before lists of integers"));
  while (lexer->token.kind == INDIM_TOKEN_LBRACE) {
    int64_t before = items.count;
    INDIM_TRY(parse_int_items(parser, &items));
    INDIM_TRY(append_int(parser, &sizes, items.count - before));
    if (!indim_lexer_eat(lexer, INDIM_TOKEN_COMMA)) {
      break;
    }
  }
  attr->value.ints = items.items;
  attr->list_sizes = sizes.items;
  attr->count = sizes.count;
  return indim_lexer_expect(lexer, INDIM_TOKEN_RBRACE, "'}' after lists of integers");
}

static indim_status parse_bool(indim_parser *parser, int64_t *out_value) {
  indim_lexer *lexer = &parser->lexer;
  *out_value = indim_lexer_is_word(lexer, "true");
  if (!*out_value && !indim_lexer_is_word(lexer, "false")) {
    return indim_lexer_expected(lexer, "true or false");
  }
  indim_lexer_next(lexer);
  return INDIM_OK;
}

static indim_status parse_bools(indim_parser *parser, indim_attr *attr) {
  indim_lexer *lexer = &parser->lexer;
  int_list list = {NULL, 0, 0};
  INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_LBRACE, "'{' before a list of true and false"));
  while (lexer->token.kind != INDIM_TOKEN_RBRACE) {
    int64_t value = 0;
    INDIM_TRY(parse_bool(parser, &value));
    INDIM_TRY(append_int(parser, &list, value));
    if (!indim_lexer_eat(lexer, INDIM_TOKEN_COMMA)) {
      break;
    }
  }
  attr->value.ints = list.items;
  attr->count = list.count;
  return indim_lexer_expect(lexer, INDIM_TOKEN_RBRACE, "'}' after a list of true and false");
}

static indim_status parse_float(indim_parser *parser, double *out_value) {
  indim_lexer *lexer = &parser->lexer;
  indim_token_kind kind = lexer->token.kind;
  if (kind != INDIM_TOKEN_DECIMAL && kind != INDIM_TOKEN_INT) {
    return indim_lexer_expected(lexer, "a number");
  }
  *out_value = indim_number_parse(lexer->token.text);
  indim_lexer_next(lexer);
  return INDIM_OK;
}

// Text --------------------------------------------------------------------------------------------------------------

static bool is_word_token(const indim_lexer *lexer) {
  indim_token_kind kind = lexer->token.kind;
  return kind == INDIM_TOKEN_IDENT || kind == INDIM_TOKEN_KEYWORD || kind == INDIM_TOKEN_TYPE;
}

static indim_status parse_word(indim_parser *parser, indim_str *out_word) {
  indim_lexer *lexer = &parser->lexer;
  if (!is_word_token(lexer)) {
    return indim_lexer_expected(lexer, "a word");
  }
  INDIM_TRY(indim_arena_str(&parser->module->arena, lexer->token.text, out_word));
  indim_lexer_next(lexer);
  return INDIM_OK;
}

static indim_status parse_words(indim_parser *parser, indim_attr *attr) {
  enum { MOST = 16 };
  indim_lexer *lexer = &parser->lexer;
  void *memory = NULL;
  INDIM_TRY(indim_arena_array(&parser->module->arena, MOST, sizeof(indim_str), &memory));
  indim_str *words = memory;
  attr->value.words = words;
  INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_LBRACE, "'{' before a list of words"));
  while (lexer->token.kind != INDIM_TOKEN_RBRACE) {
    if (attr->count == MOST) {
      return indim_lexer_expected(lexer, "'}' after 16 words");
    }
    INDIM_TRY(parse_word(parser, &words[attr->count++]));
    if (!indim_lexer_eat(lexer, INDIM_TOKEN_COMMA)) {
      break;
    }
  }
  return indim_lexer_expect(lexer, INDIM_TOKEN_RBRACE, "'}' after a list of words");
}

static int hex_digit(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

// Reads the escape behind a backslash at |at|; returns the bytes it takes, 0 for an unknown one.
static size_t read_escape(indim_str text, size_t at, char *out) {
  static const char letters[] = "abfnrtv\\\"'?";
  static const char meanings[] = "\a\b\f\n\r\t\v\\\"'?";
  char c = text.data[at];
  const char *found = c == '\0' ? NULL : strchr(letters, c);
  if (found != NULL) {
    *out = meanings[found - letters];
    return 1;
  }
  unsigned value = 0;
  size_t size = 0;
  if (c == 'x') {
    for (size = 1; size <= 2 && at + size < text.size && hex_digit(text.data[at + size]) >= 0; size++) {
      value = value * 16 + (unsigned)hex_digit(text.data[at + size]);
    }
    *out = (char)value;
    return size > 1 ? size : 0;
  }
  for (; size < 3 && at + size < text.size && text.data[at + size] >= '0' && text.data[at + size] <= '7'; size++) {
    value = value * 8 + (unsigned)(text.data[at + size] - '0');
  }
  *out = (char)value;
  return value < 256 ? size : 0;
}

indim_status indim_parse_unescape(indim_parser *parser, indim_str quoted, size_t offset, indim_str *out_text) {
  void *memory = NULL;
  INDIM_TRY(indim_arena_alloc(&parser->module->arena, quoted.size + 1, &memory));
  char *out = memory;
  size_t size = 0;
  for (size_t i = 0; i < quoted.size;) {
    if (quoted.data[i] != '\\') {
      out[size++] = quoted.data[i++];
      continue;
    }
    size_t taken = i + 1 < quoted.size ? read_escape(quoted, i + 1, &out[size]) : 0;
    if (taken == 0) {
      return indim_fail_at(parser->cx, INDIM_SYNTAX, &parser->lexer.source, offset + 1 + i,
                           "unknown escape in a string");
    }
    size++;
    i += 1 + taken;
  }
  *out_text = (indim_str){out, size};
  return INDIM_OK;
}

static indim_status parse_string(indim_parser *parser, indim_str *out_text) {
  indim_lexer *lexer = &parser->lexer;
  indim_token token = lexer->token;
  INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_STRING, "a quoted string"));
  return indim_parse_unescape(parser, token.text, token.offset, out_text);
}

// Whether the value that began before the current token is over: it stands before the next attribute, instruction or
// the end of the body.
static bool value_is_over(const indim_lexer *lexer) {
  indim_token_kind kind = lexer->token.kind;
  indim_lexer ahead = *lexer;
  indim_lexer_next(&ahead);
  if (kind == INDIM_TOKEN_COMMA) {
    return ahead.token.kind == INDIM_TOKEN_ATTRIBUTE;
  }
  if (kind == INDIM_TOKEN_IDENT || kind == INDIM_TOKEN_KEYWORD) {
    return ahead.token.kind == INDIM_TOKEN_EQUAL || indim_lexer_is_word(lexer, "ROOT");
  }
  return kind == INDIM_TOKEN_NAME || kind == INDIM_TOKEN_RBRACE || kind == INDIM_TOKEN_RPAREN ||
         kind == INDIM_TOKEN_RSQUARE || kind == INDIM_TOKEN_END || kind == INDIM_TOKEN_ERROR;
}

indim_status indim_parse_raw(indim_parser *parser, indim_str *out_text) {
  indim_lexer *lexer = &parser->lexer;
  size_t start = lexer->token.offset;
  int64_t depth = 0;
  indim_str text = lexer->source.text;
  if (lexer->token.kind == INDIM_TOKEN_LBRACE) {
    INDIM_TRY(indim_lexer_raw_braces(lexer, out_text));
    return indim_arena_str(&parser->module->arena, *out_text, out_text);
  }
  do {
    indim_token_kind kind = lexer->token.kind;
    if (kind == INDIM_TOKEN_ERROR || kind == INDIM_TOKEN_END) {
      return indim_lexer_expected(lexer, "a value");
    }
    bool opens = kind == INDIM_TOKEN_LPAREN || kind == INDIM_TOKEN_LSQUARE || kind == INDIM_TOKEN_LBRACE;
    bool closes = kind == INDIM_TOKEN_RPAREN || kind == INDIM_TOKEN_RSQUARE || kind == INDIM_TOKEN_RBRACE;
    depth += opens ? 1 : closes ? -1 : 0;
    if (depth < 0) {
      return indim_lexer_expected(lexer, "a value");
    }
    indim_lexer_next(lexer);
  } while (depth > 0 || !value_is_over(lexer));
  *out_text = (indim_str){text.data + start, lexer->previous_end - start};
  return indim_arena_str(&parser->module->arena, *out_text, out_text);
}

// What a part of metadata holds; UNKNOWN_PART for parts of printers newer than this.
typedef enum metadata_part { UNKNOWN_PART, STRING_PART, INT_PART, BRACES_PART } metadata_part;

static metadata_part metadata_part_of(indim_str name) {
  static const struct {
    const char *name;
    metadata_part part;
  } rows[] = {{"op_type", STRING_PART},         {"op_name", STRING_PART},          {"source_file", STRING_PART},
              {"source_line", INT_PART},        {"source_end_line", INT_PART},     {"source_column", INT_PART},
              {"source_end_column", INT_PART},  {"profile_type", BRACES_PART},     {"deduplicated_name", STRING_PART},
              {"scheduling_name", STRING_PART}, {"metadata_payload", STRING_PART}, {"stack_frame_id", INT_PART}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (indim_str_is(name, rows[i].name)) {
      return rows[i].part;
    }
  }
  return UNKNOWN_PART;
}

// Kept as written, but read: {op_name="..." source_line=3 ...}, blanks or commas between, each part once. Parts that we
// do not know are stepped over, for printers newer than this.
static indim_status parse_metadata(indim_parser *parser, indim_attr *attr) {
  enum { MOST = 32 };
  indim_lexer *lexer = &parser->lexer;
  size_t start = lexer->token.offset;
  indim_str seen[MOST];
  int count = 0;
  INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_LBRACE, "'{' before metadata"));
  while (lexer->token.kind != INDIM_TOKEN_RBRACE) {
    indim_token name = lexer->token;
    indim_str ignored;
    INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_ATTRIBUTE, "a part of metadata like op_name="));
    for (int i = 0; i < count; i++) {
      if (indim_str_equal(seen[i], name.text)) {
        return indim_fail_at(parser->cx, INDIM_SYNTAX, &lexer->source, name.offset,
                             "%.*s already exists in this metadata", (int)name.text.size, name.text.data);
      }
    }
    seen[count] = name.text;
    count += count < MOST - 1;
    metadata_part part = metadata_part_of(name.text);
    indim_token_kind kind = lexer->token.kind;
    if ((part == STRING_PART && kind != INDIM_TOKEN_STRING) || (part == INT_PART && kind != INDIM_TOKEN_INT) ||
        (part == BRACES_PART && kind != INDIM_TOKEN_LBRACE)) {
      return indim_lexer_expected(lexer, part == STRING_PART ? "a quoted string"
                                         : part == INT_PART  ? "an integer"
                                                             : "'{'");
    }
    if (kind == INDIM_TOKEN_STRING) {
      INDIM_TRY(indim_parse_unescape(parser, lexer->token.text, lexer->token.offset, &ignored));
      indim_lexer_next(lexer);
    } else if (lexer->token.kind == INDIM_TOKEN_LBRACE) {
      INDIM_TRY(indim_lexer_raw_braces(lexer, &ignored));
    } else if (lexer->token.kind == INDIM_TOKEN_INT || lexer->token.kind == INDIM_TOKEN_IDENT ||
               lexer->token.kind == INDIM_TOKEN_KEYWORD) {
      indim_lexer_next(lexer);
    } else {
      return indim_lexer_expected(lexer, "a string or a number");
    }
    if (indim_lexer_eat(lexer, INDIM_TOKEN_COMMA) && lexer->token.kind == INDIM_TOKEN_RBRACE) {
      return indim_lexer_expected(lexer, "a part of metadata like op_name=");
    }
  }
  indim_lexer_next(lexer);
  attr->value.text = (indim_str){lexer->source.text.data + start, lexer->previous_end - start};
  return indim_arena_str(&parser->module->arena, attr->value.text, &attr->value.text);
}

// Whether |text| is |word| in any case; |word| is in lower case.
static bool is_word_in_any_case(indim_str text, const char *word) {
  if (text.size != strlen(word)) {
    return false;
  }
  for (size_t i = 0; i < text.size; i++) {
    char c = text.data[i];
    if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != word[i]) {
      return false;
    }
  }
  return true;
}

// {mode=highest} or {tolerance={atol=..., rtol=..., ulps=...}}; kept as written.
static indim_status parse_accuracy(indim_parser *parser, indim_attr *attr) {
  indim_lexer *lexer = &parser->lexer;
  size_t start = lexer->token.offset;
  indim_str ignored;
  INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_LBRACE, "'{' before an accuracy"));
  bool mode = lexer->token.kind == INDIM_TOKEN_ATTRIBUTE && indim_str_is(lexer->token.text, "mode");
  if (!mode && !(lexer->token.kind == INDIM_TOKEN_ATTRIBUTE && indim_str_is(lexer->token.text, "tolerance"))) {
    return indim_lexer_expected(lexer, "mode= or tolerance=");
  }
  indim_lexer_next(lexer);
  if (mode && !is_word_in_any_case(lexer->token.text, "highest") &&
      !is_word_in_any_case(lexer->token.text, "default")) {
    return indim_lexer_expected(lexer, "highest or default");
  }
  if (mode) {
    indim_lexer_next(lexer);
  } else if (lexer->token.kind == INDIM_TOKEN_LBRACE) {
    INDIM_TRY(indim_lexer_raw_braces(lexer, &ignored));
  } else {
    return indim_lexer_expected(lexer, "'{' before a tolerance");
  }
  INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_RBRACE, "'}' after an accuracy"));
  attr->value.text = (indim_str){lexer->source.text.data + start, lexer->previous_end - start};
  return indim_arena_str(&parser->module->arena, attr->value.text, &attr->value.text);
}

static indim_status parse_raw_or_string(indim_parser *parser, indim_attr *attr) {
  attr->is_string = parser->lexer.token.kind == INDIM_TOKEN_STRING;
  return attr->is_string ? parse_string(parser, &attr->value.text) : indim_parse_raw(parser, &attr->value.text);
}

// Dimensions --------------------------------------------------------------------------------------------------------

// Reads "3x3", "0_1x-2_0" and the like: for each 'x'-separated entry its '_'-separated numbers into a row of |width|.
// |*out_least| is the fewest numbers of an entry. False if a number does not fit.
static bool split_numbers(indim_str text, int width, int64_t (*rows)[3], int32_t capacity, int32_t *out_count,
                          int *out_least) {
  int32_t row = 0;
  int column = 0;
  *out_least = width;
  for (size_t i = 0; i < text.size;) {
    bool negative = text.data[i] == '-';
    int64_t value = 0;
    for (i += negative; i < text.size && text.data[i] >= '0' && text.data[i] <= '9'; i++) {
      int digit = text.data[i] - '0';
      if (value > (INT64_MAX - digit) / 10) {
        return false;
      }
      value = value * 10 + digit;
    }
    if (row == capacity || column == width) {
      return false;
    }
    rows[row][column++] = negative ? -value : value;
    bool ends = i == text.size || text.data[i] == 'x';
    if (ends) {
      *out_least = column < *out_least ? column : *out_least;
      row++;
      column = 0;
    }
    i++;
  }
  *out_count = row;
  return true;
}

static indim_status parse_padding(indim_parser *parser, indim_attr *attr) {
  indim_lexer *lexer = &parser->lexer;
  int64_t rows[INDIM_MAX_RANK][3] = {{0}};
  int32_t count = 0;
  int least = 0;
  void *memory = NULL;
  if (lexer->token.kind != INDIM_TOKEN_PAD) {
    return indim_lexer_expected(lexer, "padding like 0_1x2_0 (low_high, or low_high_interior, for each dimension)");
  }
  if (!split_numbers(lexer->token.text, 3, rows, INDIM_MAX_RANK, &count, &least)) {
    return indim_lexer_expected(lexer, "padding of at most 64 dimensions and 64 bits");
  }
  INDIM_TRY(indim_arena_array(&parser->module->arena, (size_t)count, sizeof(indim_padding_dim), &memory));
  indim_padding_dim *padding = memory;
  for (int32_t i = 0; i < count; i++) {
    padding[i] = (indim_padding_dim){rows[i][0], rows[i][1], rows[i][2]};
  }
  attr->count = count;
  attr->value.padding = padding;
  indim_lexer_next(lexer);
  return INDIM_OK;
}

static indim_status parse_slice(indim_parser *parser, indim_attr *attr) {
  indim_lexer *lexer = &parser->lexer;
  void *memory = NULL;
  INDIM_TRY(indim_arena_array(&parser->module->arena, INDIM_MAX_RANK, sizeof(indim_slice_dim), &memory));
  indim_slice_dim *slice = memory;
  attr->value.slice = slice;
  INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_LBRACE, "'{' before slices like {[0:2], [1:5:2]}"));
  while (lexer->token.kind == INDIM_TOKEN_LSQUARE) {
    if (attr->count == INDIM_MAX_RANK) {
      return indim_lexer_expected(lexer, "'}' after 64 dimensions");
    }
    indim_slice_dim *dim = &slice[attr->count++];
    dim->stride = 1;
    indim_lexer_next(lexer);
    INDIM_TRY(parse_int(parser, &dim->start));
    INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_COLON, "':' between start and limit"));
    INDIM_TRY(parse_int(parser, &dim->limit));
    if (indim_lexer_eat(lexer, INDIM_TOKEN_COLON)) {
      INDIM_TRY(parse_int(parser, &dim->stride));
    }
    INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_RSQUARE, "']' after a slice"));
    if (!indim_lexer_eat(lexer, INDIM_TOKEN_COMMA)) {
      break;
    }
  }
  return indim_lexer_expect(lexer, INDIM_TOKEN_RBRACE, "'[' or '}' in slices like {[0:2], [1:5:2]}");
}

// The fields of a window, in the order of the table.
enum { SIZE, STRIDE, PAD, LHS_DILATE, RHS_DILATE, RHS_REVERSAL, WINDOW_FIELDS };
static const char *const window_fields[] = {"size", "stride", "pad", "lhs_dilate", "rhs_dilate", "rhs_reversal"};

static indim_status set_window_field(indim_parser *parser, int field, const int64_t (*rows)[3], int32_t count,
                                     indim_window_dim *window) {
  for (int32_t i = 0; i < count; i++) {
    int64_t value = rows[i][0];
    switch (field) {
    case SIZE:
      window[i].size = value;
      break;
    case STRIDE:
      window[i].stride = value;
      break;
    case PAD:
      window[i].pad_low = value;
      window[i].pad_high = rows[i][1];
      break;
    case LHS_DILATE:
      window[i].base_dilation = value;
      break;
    case RHS_DILATE:
      window[i].window_dilation = value;
      break;
    default:
      if (value != 0 && value != 1) {
        return indim_lexer_expected(&parser->lexer, "0 or 1 for each dimension of rhs_reversal");
      }
      window[i].reversal = value != 0;
    }
  }
  return INDIM_OK;
}

static indim_status parse_window_field(indim_parser *parser, indim_window_dim *window, int32_t *counts) {
  indim_lexer *lexer = &parser->lexer;
  int field = 0;
  while (field < WINDOW_FIELDS && !indim_str_is(lexer->token.text, window_fields[field])) {
    field++;
  }
  if (lexer->token.kind != INDIM_TOKEN_ATTRIBUTE || field == WINDOW_FIELDS) {
    return indim_lexer_expected(lexer, "size=, stride=, pad=, lhs_dilate=, rhs_dilate= or rhs_reversal=");
  }
  if (counts[field] >= 0) {
    return indim_lexer_expected(lexer, "each part of a window once");
  }
  indim_lexer_next(lexer);
  int64_t rows[INDIM_MAX_RANK][3] = {{0}};
  int least = 0;
  int width = field == PAD ? 2 : 1;
  indim_token_kind kind = lexer->token.kind;
  bool right = field == PAD ? kind == INDIM_TOKEN_PAD : kind == INDIM_TOKEN_INT || kind == INDIM_TOKEN_DXD;
  if (!right || !split_numbers(lexer->token.text, width, rows, INDIM_MAX_RANK, &counts[field], &least) ||
      least != width) {
    return indim_lexer_expected(lexer, field == PAD ? "padding like 0_1x1_1 (low_high for each dimension)"
                                                    : "numbers like 3x3, one for each dimension");
  }
  INDIM_TRY(set_window_field(parser, field, (const int64_t(*)[3])rows, counts[field], window));
  indim_lexer_next(lexer);
  return INDIM_OK;
}

static indim_status parse_window(indim_parser *parser, indim_attr *attr) {
  indim_lexer *lexer = &parser->lexer;
  size_t offset = lexer->token.offset;
  int32_t counts[WINDOW_FIELDS];
  void *memory = NULL;
  INDIM_TRY(indim_arena_array(&parser->module->arena, INDIM_MAX_RANK, sizeof(indim_window_dim), &memory));
  indim_window_dim *window = memory;
  for (int i = 0; i < INDIM_MAX_RANK; i++) {
    window[i] = (indim_window_dim){1, 1, 0, 0, 1, 1, false};
  }
  for (int i = 0; i < WINDOW_FIELDS; i++) {
    counts[i] = -1;
  }
  INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_LBRACE, "'{' before a window"));
  bool empty = lexer->token.kind == INDIM_TOKEN_RBRACE;
  while (lexer->token.kind != INDIM_TOKEN_RBRACE) {
    INDIM_TRY(parse_window_field(parser, window, counts));
  }
  indim_lexer_next(lexer);
  if (!empty && counts[SIZE] < 0) {
    return indim_fail_at(parser->cx, INDIM_INVALID, &lexer->source, offset, "a window needs size=");
  }
  for (int i = 0; i < WINDOW_FIELDS; i++) {
    if (counts[i] >= 0 && counts[i] != counts[SIZE]) {
      return indim_fail_at(parser->cx, INDIM_INVALID, &lexer->source, offset,
                           "%s of the window has %d dimensions, size has %d", window_fields[i], counts[i],
                           counts[SIZE]);
    }
  }
  attr->count = empty ? 0 : counts[SIZE];
  attr->value.window = window;
  return INDIM_OK;
}

// One part of dim_labels: |letters| are its two letters. Fails with the reason.
static const char *read_labels(indim_str part, const char *letters, int32_t *first, int32_t *second, int32_t *spatial,
                               int32_t *out_spatial_count) {
  uint64_t seen = 0;
  int32_t digits = 0;
  *first = -1;
  *second = -1;
  if (part.size > INDIM_MAX_RANK) {
    return "the labels have more than 64 dimensions";
  }
  for (size_t i = 0; i < part.size; i++) {
    char c = part.data[i];
    if (c >= '0' && c <= '9') {
      if ((seen >> (c - '0') & 1) != 0) {
        return "a label stands twice";
      }
      seen |= UINT64_C(1) << (c - '0');
      spatial[c - '0'] = (int32_t)i;
      digits++;
    } else if (c != '?') {
      int32_t *slot = c == letters[0] ? first : c == letters[1] ? second : NULL;
      if (slot == NULL) {
        return "a label is none of those that belong here";
      }
      if (*slot >= 0) {
        return "a label stands twice";
      }
      *slot = (int32_t)i;
    }
  }
  if (*first < 0 || *second < 0) {
    return "each part needs its two letters (b and f, or i and o)";
  }
  if (seen != (UINT64_C(1) << digits) - 1) {
    return "spatial dimensions are numbered 0, 1, 2, ... without gaps";
  }
  *out_spatial_count = digits;
  return NULL;
}

static indim_status parse_dim_labels(indim_parser *parser, indim_attr *attr) {
  indim_lexer *lexer = &parser->lexer;
  indim_token token = lexer->token;
  void *memory = NULL;
  INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_DIM_LABELS, "labels like b01f_01io->b01f"));
  INDIM_TRY(indim_arena_alloc(&parser->module->arena, sizeof(indim_dim_labels), &memory));
  indim_dim_labels *labels = memory;
  INDIM_TRY(indim_arena_str(&parser->module->arena, token.text, &labels->text));
  const char *text = labels->text.data;
  const char *underscore = strchr(text, '_');
  const char *arrow = strstr(text, "->");
  indim_str input = {text, (size_t)(underscore - text)};
  indim_str kernel = {underscore + 1, (size_t)(arrow - underscore - 1)};
  indim_str output = {arrow + 2, strlen(arrow + 2)};
  int32_t kernel_spatial = 0;
  int32_t output_spatial = 0;
  const char *error = read_labels(input, "bf", &labels->input_batch, &labels->input_feature, labels->input_spatial,
                                  &labels->spatial_count);
  error = error != NULL ? error
                        : read_labels(kernel, "io", &labels->kernel_input, &labels->kernel_output,
                                      labels->kernel_spatial, &kernel_spatial);
  error = error != NULL ? error
                        : read_labels(output, "bf", &labels->output_batch, &labels->output_feature,
                                      labels->output_spatial, &output_spatial);
  if (error == NULL && (kernel_spatial != labels->spatial_count || output_spatial != labels->spatial_count)) {
    error = "the three parts need the same number of spatial dimensions";
  }
  if (error != NULL) {
    return indim_fail_at(parser->cx, INDIM_INVALID, &lexer->source, token.offset, "dim_labels %s: %s", text, error);
  }
  labels->input_rank = (int32_t)input.size;
  labels->kernel_rank = (int32_t)kernel.size;
  labels->output_rank = (int32_t)output.size;
  attr->value.dim_labels = labels;
  attr->count = labels->spatial_count;
  return INDIM_OK;
}

// References --------------------------------------------------------------------------------------------------------

// Moves what was pushed above |base| into the module's arena.
static indim_status take_from_stack(indim_parser *parser, size_t base, int64_t *out_count, void *out_items) {
  size_t count = parser->stack.count - base;
  void *memory = NULL;
  INDIM_TRY(indim_arena_array(&parser->module->arena, count, sizeof(void *), &memory));
  if (count > 0) {
    memcpy(memory, parser->stack.items + base, count * sizeof(void *));
  }
  parser->stack.count = base;
  *out_count = (int64_t)count;
  memcpy(out_items, &memory, sizeof memory);
  return INDIM_OK;
}

static indim_status parse_computations(indim_parser *parser, indim_attr *attr) {
  indim_lexer *lexer = &parser->lexer;
  size_t base = parser->stack.count;
  INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_LBRACE, "'{' before a list of computations"));
  while (lexer->token.kind != INDIM_TOKEN_RBRACE) {
    indim_computation *computation = NULL;
    INDIM_TRY(indim_parse_computation_ref(parser, &computation));
    INDIM_TRY(indim_pointers_push(parser, computation));
    if (!indim_lexer_eat(lexer, INDIM_TOKEN_COMMA)) {
      break;
    }
  }
  INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_RBRACE, "'}' after a list of computations"));
  return take_from_stack(parser, base, &attr->count, &attr->value.computations);
}

static indim_status parse_instrs(indim_parser *parser, indim_scope *scope, indim_attr *attr) {
  indim_lexer *lexer = &parser->lexer;
  size_t base = parser->stack.count;
  INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_LBRACE, "'{' before a list of instructions"));
  do {
    indim_str name;
    size_t offset = 0;
    INDIM_TRY(indim_parse_name(parser, "an instruction's name", &name, &offset));
    const indim_name_entry *entry = indim_names_find(&scope->names, name);
    if (entry == NULL) {
      return indim_fail_at(parser->cx, INDIM_INVALID, &lexer->source, offset, "instruction %.*s is not defined",
                           (int)name.size, name.data);
    }
    if (entry->value == NULL) {
      return INDIM_INVALID;  // reported where it is defined
    }
    INDIM_TRY(indim_pointers_push(parser, entry->value));
  } while (indim_lexer_eat(lexer, INDIM_TOKEN_COMMA));
  INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_RBRACE, "'}' after a list of instructions"));
  return take_from_stack(parser, base, &attr->count, &attr->value.instrs);
}

static indim_status parse_shape(indim_parser *parser, const indim_shape **out_shape) {
  indim_shape shape;
  INDIM_TRY(indim_shape_parse_tokens(&parser->lexer, &parser->module->arena, &shape));
  return indim_module_intern(parser->module, &shape, out_shape);
}

static indim_status parse_shapes(indim_parser *parser, indim_attr *attr) {
  indim_lexer *lexer = &parser->lexer;
  size_t base = parser->stack.count;
  INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_LBRACE, "'{' before a list of shapes"));
  while (lexer->token.kind != INDIM_TOKEN_RBRACE) {
    union {
      const indim_shape *shape;
      void *pointer;
    } item = {NULL};
    INDIM_TRY(parse_shape(parser, &item.shape));
    INDIM_TRY(indim_pointers_push(parser, item.pointer));
    if (!indim_lexer_eat(lexer, INDIM_TOKEN_COMMA)) {
      break;
    }
  }
  INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_RBRACE, "'}' after a list of shapes"));
  return take_from_stack(parser, base, &attr->count, &attr->value.shapes);
}

static indim_status parse_literal(indim_parser *parser, indim_attr *attr) {
  indim_shape shape;
  indim_literal *literal = NULL;
  INDIM_TRY(indim_shape_parse_tokens_before_values(&parser->lexer, &parser->module->arena, &shape));
  INDIM_TRY(indim_literal_parse_body(&parser->lexer, &shape, &literal));
  INDIM_TRY(indim_module_own_literal(parser->module, literal));
  attr->value.literal = literal;
  return INDIM_OK;
}

static indim_status parse_one_pointer(indim_parser *parser, indim_attr *attr, bool is_shape) {
  void *memory = NULL;
  INDIM_TRY(indim_arena_alloc(&parser->module->arena, sizeof(void *), &memory));
  if (is_shape) {
    const indim_shape **shapes = memory;
    attr->value.shapes = shapes;
    return parse_shape(parser, &shapes[0]);
  }
  indim_computation **computations = memory;
  attr->value.computations = computations;
  return indim_parse_computation_ref(parser, &computations[0]);
}

indim_status indim_parse_attr(indim_parser *parser, indim_scope *scope, indim_attr_id id, size_t offset,
                              indim_attr *out_attr) {
  indim_attr *attr = out_attr;
  *attr = (indim_attr){.id = id, .offset = offset};
  switch (indim_attr_kind_of(id)) {
  case INDIM_KIND_INT:
    attr->count = 1;
    return parse_int(parser, &attr->value.integer);
  case INDIM_KIND_BOOL:
    attr->count = 1;
    return parse_bool(parser, &attr->value.integer);
  case INDIM_KIND_FLOAT:
    attr->count = 1;
    return parse_float(parser, &attr->value.number);
  case INDIM_KIND_INTS:
    return indim_parse_ints(parser, &attr->value.ints, &attr->count);
  case INDIM_KIND_BOOLS:
    return parse_bools(parser, attr);
  case INDIM_KIND_INT_LISTS:
    return parse_int_lists(parser, attr);
  case INDIM_KIND_WORD:
    attr->count = 1;
    return parse_word(parser, &attr->value.text);
  case INDIM_KIND_WORDS:
    return parse_words(parser, attr);
  case INDIM_KIND_STRING:
    attr->count = 1;
    return parse_string(parser, &attr->value.text);
  case INDIM_KIND_RAW:
    return id == INDIM_ATTR_METADATA          ? parse_metadata(parser, attr)
           : id == INDIM_ATTR_RESULT_ACCURACY ? parse_accuracy(parser, attr)
                                              : parse_raw_or_string(parser, attr);
  case INDIM_KIND_GROUPS:
    return indim_parse_raw(parser, &attr->value.text);
  case INDIM_KIND_WINDOW:
    return parse_window(parser, attr);
  case INDIM_KIND_PADDING:
    return parse_padding(parser, attr);
  case INDIM_KIND_SLICE:
    return parse_slice(parser, attr);
  case INDIM_KIND_DIM_LABELS:
    return parse_dim_labels(parser, attr);
  case INDIM_KIND_COMPUTATION:
    attr->count = 1;
    return parse_one_pointer(parser, attr, false);
  case INDIM_KIND_COMPUTATIONS:
    return parse_computations(parser, attr);
  case INDIM_KIND_INSTRS:
    return parse_instrs(parser, scope, attr);
  case INDIM_KIND_SHAPE:
    attr->count = 1;
    return parse_one_pointer(parser, attr, true);
  case INDIM_KIND_SHAPES:
    return parse_shapes(parser, attr);
  case INDIM_KIND_LITERAL:
    attr->count = 1;
    return parse_literal(parser, attr);
  }
  return indim_fail(parser->cx, INDIM_INTERNAL, "attribute %s has no reader", indim_attr_text(id));
}
