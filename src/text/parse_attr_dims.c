// Attribute values that say something for each dimension: padding, slices, windows, the labels of a convolution.
#include <string.h>

#include "text/parser.h"

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

indim_status indim_parse_padding(indim_parser *parser, indim_attr *attr) {
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

indim_status indim_parse_slice(indim_parser *parser, indim_attr *attr) {
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
    INDIM_TRY(indim_parse_int(parser, &dim->start));
    INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_COLON, "':' between start and limit"));
    INDIM_TRY(indim_parse_int(parser, &dim->limit));
    if (indim_lexer_eat(lexer, INDIM_TOKEN_COLON)) {
      INDIM_TRY(indim_parse_int(parser, &dim->stride));
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

indim_status indim_parse_window(indim_parser *parser, indim_attr *attr) {
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

indim_status indim_parse_dim_labels(indim_parser *parser, indim_attr *attr) {
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
