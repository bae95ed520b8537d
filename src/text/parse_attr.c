// Attribute values: one function per kind. Here are numbers, words and references; parse_attr_dims.c has what tells of
// dimensions, parse_attr_text.c what is kept as text.
#include <string.h>

#include "array/literal_text.h"
#include "array/shape_text.h"
#include "base/number.h"
#include "text/parser.h"

// Integers ----------------------------------------------------------------------------------------------------------

indim_status indim_parse_int(indim_parser *parser, int64_t *out_value) {
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
    INDIM_TRY(indim_parse_int(parser, &value));
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

static indim_status parse_string(indim_parser *parser, indim_str *out_text) {
  indim_lexer *lexer = &parser->lexer;
  indim_token token = lexer->token;
  INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_STRING, "a quoted string"));
  return indim_parse_unescape(parser, token.text, token.offset, out_text);
}

static indim_status parse_raw_or_string(indim_parser *parser, indim_attr *attr) {
  attr->is_string = parser->lexer.token.kind == INDIM_TOKEN_STRING;
  return attr->is_string ? parse_string(parser, &attr->value.text) : indim_parse_raw(parser, &attr->value.text);
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
    return indim_parse_int(parser, &attr->value.integer);
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
    return id == INDIM_ATTR_METADATA          ? indim_parse_metadata(parser, attr)
           : id == INDIM_ATTR_RESULT_ACCURACY ? indim_parse_accuracy(parser, attr)
                                              : parse_raw_or_string(parser, attr);
  case INDIM_KIND_GROUPS:
    return indim_parse_raw(parser, &attr->value.text);
  case INDIM_KIND_WINDOW:
    return indim_parse_window(parser, attr);
  case INDIM_KIND_PADDING:
    return indim_parse_padding(parser, attr);
  case INDIM_KIND_SLICE:
    return indim_parse_slice(parser, attr);
  case INDIM_KIND_DIM_LABELS:
    return indim_parse_dim_labels(parser, attr);
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
