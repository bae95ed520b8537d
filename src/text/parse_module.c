// Modules: header, frame sections, computations, and the two short forms.
#include <string.h>

#include "array/shape_text.h"
#include "base/size.h"
#include "indim/text.h"
#include "text/parser.h"

bool indim_parse_is_fatal(indim_status status) {
  return status != INDIM_OK && status != INDIM_SYNTAX && status != INDIM_INVALID && status != INDIM_UNSUPPORTED;
}

void indim_parse_failed(indim_parser *parser, indim_status status) {
  if (parser->status == INDIM_OK) {
    parser->status = status;
  }
}

indim_status indim_pointers_push(indim_parser *parser, void *item) {
  indim_pointers *stack = &parser->stack;
  if (stack->count == stack->capacity) {
    size_t capacity = stack->capacity == 0 ? 64 : stack->capacity * 2;
    void *items = stack->items;
    INDIM_TRY(
        indim_resize(parser->cx, &items, stack->capacity * sizeof *stack->items, capacity * sizeof *stack->items));
    stack->items = items;
    stack->capacity = capacity;
  }
  stack->items[stack->count++] = item;
  return INDIM_OK;
}

// Computations ------------------------------------------------------------------------------------------------------

static indim_status check_computation_name(indim_parser *parser, indim_str name, size_t offset) {
  const indim_name_entry *entry = indim_names_find(&parser->computations, name);
  if (entry == NULL) {
    return INDIM_OK;
  }
  const indim_source *source = &parser->lexer.source;
  indim_fail_at(parser->cx, INDIM_INVALID, source, offset, "computation %.*s already exists", (int)name.size,
                name.data);
  const indim_computation *first = entry->value;
  if (first != NULL) {
    indim_fail_at(parser->cx, INDIM_INVALID, source, first->offset, "computation %.*s is first defined here",
                  (int)name.size, name.data);
  }
  return INDIM_INVALID;
}

// Reads a body into a new computation.
static indim_status parse_computation_body(indim_parser *parser, indim_str name, size_t offset,
                                           indim_computation **out_computation) {
  indim_scope scope = {.root_offset = INDIM_NO_OFFSET};
  // Appended when it is read: its place comes after the inline bodies inside it.
  INDIM_TRY(indim_module_new_computation(parser->module, name, offset, &scope.computation));
  indim_names_init(&scope.names, parser->cx);
  indim_status status = indim_parse_body(parser, &scope);
  indim_names_deinit(&scope.names);
  INDIM_TRY(status);
  if (scope.computation->root == NULL) {
    scope.computation->root = scope.computation->instrs[scope.computation->instr_count - 1];
  }
  INDIM_TRY(indim_computation_finish(scope.computation));
  INDIM_TRY(indim_module_append(parser->module, scope.computation));
  *out_computation = scope.computation;
  return indim_names_set(&parser->computations, scope.computation->name, scope.computation);
}

// "_", "_.1", ...: the name of an inline body.
static indim_status inline_name(indim_parser *parser, indim_str *out_name) {
  indim_buffer name;
  indim_buffer_init(&name, parser->cx);
  indim_buffer_text(&name, "_");
  for (int64_t i = 1;
       name.status == INDIM_OK && indim_names_find(&parser->computations, (indim_str){name.data, name.size}) != NULL;
       i++) {
    indim_buffer_clear(&name);
    indim_buffer_printf(&name, "_.%lld", (long long)i);
  }
  indim_status status = name.status;
  if (status == INDIM_OK) {
    status = indim_arena_str(&parser->module->arena, (indim_str){name.data, name.size}, out_name);
  }
  indim_buffer_deinit(&name);
  return status;
}

indim_status indim_parse_computation_ref(indim_parser *parser, indim_computation **out_computation) {
  indim_lexer *lexer = &parser->lexer;
  indim_str name;
  size_t offset = lexer->token.offset;
  if (lexer->token.kind == INDIM_TOKEN_LBRACE) {
    if (parser->nesting >= INDIM_MAX_NESTING) {
      return indim_fail_at(parser->cx, INDIM_LIMIT, &lexer->source, offset,
                           "more than %d computations inside each other", (int)INDIM_MAX_NESTING);
    }
    INDIM_TRY(inline_name(parser, &name));
    // Reserves the name, so that a body inside this one takes another.
    INDIM_TRY(indim_names_set(&parser->computations, name, NULL));
    parser->nesting++;
    indim_status status = parse_computation_body(parser, name, offset, out_computation);
    parser->nesting--;
    return status;
  }
  INDIM_TRY(indim_parse_name(parser, "a computation's name, or its body in braces", &name, &offset));
  const indim_name_entry *entry = indim_names_find(&parser->computations, name);
  if (entry == NULL) {
    indim_fail_at(parser->cx, INDIM_INVALID, &lexer->source, offset,
                  "computation %.*s does not exist before this place", (int)name.size, name.data);
    indim_str near = indim_names_nearest(&parser->computations, name);
    if (near.size > 0) {
      indim_hint(parser->cx, "did you mean %.*s?", (int)near.size, near.data);
    } else {
      indim_hint(parser->cx, "a computation stands before those that call it");
    }
    return INDIM_INVALID;
  }
  *out_computation = entry->value;
  return entry->value == NULL ? INDIM_INVALID : INDIM_OK;
}

// "(p0: f32[2], ...) -> f32[2]": only the result matters, which the root's shape must agree with.
static indim_status parse_program_shape(indim_parser *parser, indim_shape *out_result) {
  indim_lexer *lexer = &parser->lexer;
  indim_shape ignored;
  INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_LPAREN, "'(' before the parameters"));
  while (lexer->token.kind != INDIM_TOKEN_RPAREN) {
    indim_str name;
    size_t offset = 0;
    INDIM_TRY(indim_parse_name(parser, "a parameter's name and ':'", &name, &offset));
    indim_lexer_eat(lexer, INDIM_TOKEN_COLON);
    INDIM_TRY(indim_shape_parse_tokens(lexer, &parser->module->arena, &ignored));
    if (!indim_lexer_eat(lexer, INDIM_TOKEN_COMMA)) {
      break;
    }
  }
  INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_RPAREN, "')' after the parameters"));
  INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_ARROW, "'->' before the result's shape"));
  return indim_shape_parse_tokens(lexer, &parser->module->arena, out_result);
}

static indim_status parse_thread(indim_parser *parser, indim_computation *computation) {
  indim_lexer *lexer = &parser->lexer;
  if (!indim_lexer_eat(lexer, INDIM_TOKEN_COMMA)) {
    return INDIM_OK;
  }
  if (lexer->token.kind != INDIM_TOKEN_ATTRIBUTE || !indim_str_is(lexer->token.text, "execution_thread")) {
    return indim_lexer_expected(lexer, "execution_thread= after a computation");
  }
  indim_lexer_next(lexer);
  indim_token token = lexer->token;
  INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_STRING, "a quoted string"));
  return indim_parse_unescape(parser, token.text, token.offset, &computation->execution_thread);
}

// Steps behind a computation whose body is broken, to the next one.
static void skip_body(indim_lexer *lexer, indim_lexer at_brace) {
  indim_str ignored;
  *lexer = at_brace;
  indim_ctx *cx = lexer->cx;
  size_t before = indim_diagnostics_mark(cx);
  if (lexer->token.kind != INDIM_TOKEN_LBRACE || indim_lexer_raw_braces(lexer, &ignored) != INDIM_OK) {
    indim_diagnostics_rollback(cx, before);  // what is wrong has been said already
    while (lexer->token.kind != INDIM_TOKEN_END && lexer->token.kind != INDIM_TOKEN_ERROR) {
      indim_lexer_next(lexer);
    }
  }
}

static indim_status parse_computation(indim_parser *parser) {
  indim_lexer *lexer = &parser->lexer;
  size_t entry_offset = lexer->token.offset;
  indim_str name;
  size_t offset = 0;
  indim_shape result;
  indim_computation *computation = NULL;
  bool is_entry = indim_lexer_is_word(lexer, "ENTRY");
  if (is_entry) {
    indim_lexer_next(lexer);
  }
  INDIM_TRY(indim_parse_name(parser, "a computation's name", &name, &offset));
  bool has_shape = lexer->token.kind == INDIM_TOKEN_LPAREN;
  if (has_shape) {
    INDIM_TRY(parse_program_shape(parser, &result));
  }
  indim_lexer at_brace = *lexer;
  indim_status status = check_computation_name(parser, name, offset);
  if (status == INDIM_OK) {
    status = parse_computation_body(parser, name, offset, &computation);
    if (indim_parse_is_fatal(status) || lexer->token.kind == INDIM_TOKEN_ERROR) {
      return status;
    }
  }
  if (status != INDIM_OK) {
    INDIM_TRY(indim_arena_str(&parser->module->arena, name, &name));
    if (indim_names_find(&parser->computations, name) == NULL) {
      INDIM_TRY(indim_names_set(&parser->computations, name, NULL));
    }
    skip_body(lexer, at_brace);
    return status;
  }
  INDIM_TRY(parse_thread(parser, computation));
  if (has_shape && !indim_shape_compatible(&result, computation->root->shape)) {
    indim_shape_text declared;
    indim_shape_text actual;
    return indim_fail_at(parser->cx, INDIM_INVALID, &lexer->source, offset,
                         "computation %s is declared to give %s, but its root %s is %s", computation->name.data,
                         indim_shape_brief(&result, &declared), computation->root->name.data,
                         indim_shape_brief(computation->root->shape, &actual));
  }
  if (is_entry && parser->module->entry != NULL) {
    return indim_fail_at(parser->cx, INDIM_INVALID, &lexer->source, entry_offset,
                         "a module has only one ENTRY, and this is the second");
  }
  if (is_entry) {
    parser->module->entry = computation;
  }
  return INDIM_OK;
}

static indim_status parse_computations(indim_parser *parser) {
  indim_lexer *lexer = &parser->lexer;
  indim_module *module = parser->module;
  do {
    size_t offset = lexer->token.offset;
    indim_status status = parse_computation(parser);
    indim_parse_failed(parser, status);
    if (indim_parse_is_fatal(status)) {
      return status;
    }
    if (status != INDIM_OK && (lexer->token.offset == offset || lexer->token.kind == INDIM_TOKEN_ERROR ||
                               !(lexer->token.kind == INDIM_TOKEN_NAME || lexer->token.kind == INDIM_TOKEN_IDENT ||
                                 lexer->token.kind == INDIM_TOKEN_KEYWORD))) {
      return status;
    }
  } while (lexer->token.kind != INDIM_TOKEN_END);
  if (parser->status == INDIM_OK && module->entry == NULL) {
    module->entry = module->computations[module->computation_count - 1];
  }
  return parser->status;
}

// Header ------------------------------------------------------------------------------------------------------------

static const char *const header_attrs[] = {"is_scheduled",
                                           "replica_count",
                                           "num_partitions",
                                           "input_output_alias",
                                           "buffer_donor",
                                           "alias_passthrough_params",
                                           "entry_computation_layout",
                                           "frontend_attributes",
                                           "allow_spmd_sharding_propagation_to_parameters",
                                           "allow_spmd_sharding_propagation_to_output",
                                           "origin_recovery_table"};
enum { HEADER_ATTRS = (int)(sizeof header_attrs / sizeof header_attrs[0]) };

static indim_status parse_bool(indim_parser *parser, bool *out_value) {
  indim_lexer *lexer = &parser->lexer;
  *out_value = indim_lexer_is_word(lexer, "true");
  if (!*out_value && !indim_lexer_is_word(lexer, "false")) {
    return indim_lexer_expected(lexer, "true or false");
  }
  indim_lexer_next(lexer);
  return INDIM_OK;
}

static indim_status parse_count(indim_parser *parser, int64_t *out_value) {
  *out_value = parser->lexer.token.integer;
  if (parser->lexer.token.kind == INDIM_TOKEN_INT && *out_value < 1) {
    return indim_lexer_expected(&parser->lexer, "a count of 1 or more");
  }
  return indim_lexer_expect(&parser->lexer, INDIM_TOKEN_INT, "an integer");
}

// {(f32[2]{0}, ...)->f32[2]{0}}
static indim_status parse_entry_layout(indim_parser *parser) {
  indim_lexer *lexer = &parser->lexer;
  indim_module *module = parser->module;
  indim_shape shape;
  size_t base = parser->stack.count;
  INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_LBRACE, "'{' before the entry's shapes"));
  INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_LPAREN, "'(' before the parameters' shapes"));
  while (lexer->token.kind != INDIM_TOKEN_RPAREN) {
    union {
      const indim_shape *shape;
      void *pointer;
    } item = {NULL};
    INDIM_TRY(indim_shape_parse_tokens(lexer, &module->arena, &shape));
    INDIM_TRY(indim_module_intern(module, &shape, &item.shape));
    INDIM_TRY(indim_pointers_push(parser, item.pointer));
    if (!indim_lexer_eat(lexer, INDIM_TOKEN_COMMA)) {
      break;
    }
  }
  INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_RPAREN, "',' or ')' after a parameter's shape"));
  INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_ARROW, "'->' before the result's shape"));
  INDIM_TRY(indim_shape_parse_tokens(lexer, &module->arena, &shape));
  INDIM_TRY(indim_module_intern(module, &shape, &module->entry_result_shape));
  size_t count = parser->stack.count - base;
  void *memory = NULL;
  INDIM_TRY(indim_arena_array(&module->arena, count, sizeof(indim_shape *), &memory));
  module->entry_parameter_shapes = memory;
  for (size_t i = 0; i < count; i++) {
    module->entry_parameter_shapes[i] = parser->stack.items[base + i];
  }
  module->entry_shape_count = (int64_t)count;
  parser->stack.count = base;
  return indim_lexer_expect(lexer, INDIM_TOKEN_RBRACE, "'}' after the entry's shapes");
}

// "{0,1}" of non-negative integers, in aliases and donors.
static indim_status parse_index(indim_parser *parser, const char *what) {
  indim_lexer *lexer = &parser->lexer;
  INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_LBRACE, what));
  while (lexer->token.kind != INDIM_TOKEN_RBRACE) {
    INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_INT, "an integer in an index like {0,1}"));
    if (!indim_lexer_eat(lexer, INDIM_TOKEN_COMMA)) {
      break;
    }
  }
  return indim_lexer_expect(lexer, INDIM_TOKEN_RBRACE, "'}' after an index like {0,1}");
}

// { {0}: (0, {}, may-alias), ... }, or for donors { (0, {}), ... }.
static indim_status parse_aliases(indim_parser *parser, bool with_output) {
  indim_lexer *lexer = &parser->lexer;
  INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_LBRACE, "'{'"));
  while (lexer->token.kind != INDIM_TOKEN_RBRACE) {
    if (with_output) {
      INDIM_TRY(parse_index(parser, "'{' before an output's index like {0}"));
      INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_COLON, "':' after an output's index"));
    }
    INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_LPAREN, "'(' before a parameter's number"));
    INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_INT, "a parameter's number"));
    INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_COMMA, "',' after a parameter's number"));
    INDIM_TRY(parse_index(parser, "'{' before a parameter's index like {}"));
    if (with_output && indim_lexer_eat(lexer, INDIM_TOKEN_COMMA)) {
      if (!indim_lexer_is_word(lexer, "may-alias") && !indim_lexer_is_word(lexer, "must-alias")) {
        return indim_lexer_expected(lexer, "may-alias or must-alias");
      }
      indim_lexer_next(lexer);
    }
    INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_RPAREN, "')'"));
    if (!indim_lexer_eat(lexer, INDIM_TOKEN_COMMA)) {
      break;
    }
  }
  return indim_lexer_expect(lexer, INDIM_TOKEN_RBRACE, "',' or '}'");
}

static indim_status unknown_header_attr(indim_parser *parser, indim_token token) {
  char list[400];
  size_t size = 0;
  for (int i = 0; i < HEADER_ATTRS; i++) {
    size_t length = strlen(header_attrs[i]);
    memcpy(list + size, header_attrs[i], length);
    memcpy(list + size + length, ", ", 3);
    size += length + 2;
  }
  list[size - 2] = '\0';
  return indim_fail_at(parser->cx, INDIM_SYNTAX, &parser->lexer.source, token.offset,
                       "unexpected attribute %.*s of a module; allowed are %s", (int)token.text.size, token.text.data,
                       list);
}

static indim_status keep_header_attr(indim_parser *parser, const char *name, indim_token token, size_t start) {
  indim_module *module = parser->module;
  if (module->header_attrs == NULL) {
    void *memory = NULL;
    INDIM_TRY(indim_arena_array(&module->arena, HEADER_ATTRS, sizeof(indim_header_attr), &memory));
    module->header_attrs = memory;
  }
  indim_header_attr *attr = &module->header_attrs[module->header_attr_count++];
  indim_str text = {parser->lexer.source.text.data + start, parser->lexer.previous_end - start};
  attr->name = indim_str_of(name);
  attr->offset = token.offset;
  return indim_arena_str(&module->arena, text, &attr->text);
}

static indim_status parse_header_attr(indim_parser *parser, bool *seen) {
  indim_lexer *lexer = &parser->lexer;
  indim_module *module = parser->module;
  indim_token token = lexer->token;
  int which = 0;
  INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_ATTRIBUTE, "an attribute of the module"));
  while (which < HEADER_ATTRS && !indim_str_is(token.text, header_attrs[which])) {
    which++;
  }
  if (which == HEADER_ATTRS) {
    return unknown_header_attr(parser, token);
  }
  if (seen[which]) {
    return indim_fail_at(parser->cx, INDIM_SYNTAX, &lexer->source, token.offset, "attribute %s already exists",
                         header_attrs[which]);
  }
  seen[which] = true;
  const char *name = header_attrs[which];
  size_t start = lexer->token.offset;
  indim_str ignored;
  if (strcmp(name, "is_scheduled") == 0) {
    return parse_bool(parser, &module->is_scheduled);
  }
  if (strcmp(name, "replica_count") == 0) {
    return parse_count(parser, &module->replica_count);
  }
  if (strcmp(name, "num_partitions") == 0) {
    return parse_count(parser, &module->num_partitions);
  }
  if (strcmp(name, "entry_computation_layout") == 0) {
    return parse_entry_layout(parser);
  }
  if (strcmp(name, "input_output_alias") == 0) {
    INDIM_TRY(parse_aliases(parser, true));
  } else if (strcmp(name, "buffer_donor") == 0) {
    INDIM_TRY(parse_aliases(parser, false));
  } else if (lexer->token.kind == INDIM_TOKEN_LBRACE) {
    INDIM_TRY(indim_lexer_raw_braces(lexer, &ignored));
  } else {
    bool value = false;
    INDIM_TRY(parse_bool(parser, &value));
  }
  return keep_header_attr(parser, name, token, start);
}

// The four sections, each a keyword and numbered lines; kept as written.
static indim_status parse_frames(indim_parser *parser) {
  static const char *const sections[] = {"FileNames", "FunctionNames", "FileLocations", "StackFrames"};
  indim_lexer *lexer = &parser->lexer;
  size_t start = lexer->token.offset;
  if (!indim_lexer_is_word(lexer, sections[0])) {
    return INDIM_OK;
  }
  for (int i = 0; i < 4; i++) {
    if (!indim_lexer_is_word(lexer, sections[i])) {
      return indim_lexer_expected(lexer, "FileNames, FunctionNames, FileLocations and StackFrames, in this order");
    }
    indim_lexer_next(lexer);
    while (indim_lexer_eat(lexer, INDIM_TOKEN_INT)) {
      indim_str ignored;
      if (i < 2) {
        INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_STRING, "a quoted name"));
      } else if (lexer->token.kind == INDIM_TOKEN_LBRACE) {
        INDIM_TRY(indim_lexer_raw_braces(lexer, &ignored));
      } else {
        return indim_lexer_expected(lexer, "'{'");
      }
    }
  }
  indim_str text = {lexer->source.text.data + start, lexer->previous_end - start};
  return indim_arena_str(&parser->module->arena, text, &parser->module->frames);
}

static indim_status parse_header(indim_parser *parser) {
  indim_lexer *lexer = &parser->lexer;
  bool seen[HEADER_ATTRS] = {false};
  indim_lexer_next(lexer);
  indim_token_kind kind = lexer->token.kind;
  if (kind != INDIM_TOKEN_NAME && kind != INDIM_TOKEN_IDENT && kind != INDIM_TOKEN_KEYWORD &&
      kind != INDIM_TOKEN_TYPE) {
    return indim_lexer_expected(lexer, "the module's name");
  }
  INDIM_TRY(indim_arena_str(&parser->module->arena, lexer->token.text, &parser->module->name));
  indim_lexer_next(lexer);
  while (indim_lexer_eat(lexer, INDIM_TOKEN_COMMA)) {
    INDIM_TRY(parse_header_attr(parser, seen));
  }
  return parse_frames(parser);
}

// Forms -------------------------------------------------------------------------------------------------------------

static bool is_utf16(indim_str text) {
  return text.size >= 2 && (memcmp(text.data, "\xFF\xFE", 2) == 0 || memcmp(text.data, "\xFE\xFF", 2) == 0);
}

// What Windows' tools put before a text.
static const char *hint_of_beginning(indim_str text) {
  if (text.size >= 3 && memcmp(text.data, "\xEF\xBB\xBF", 3) == 0) {
    return "the text begins with a byte order mark; save it as UTF-8 without one";
  }
  if (is_utf16(text)) {
    return "the text is UTF-16; save it as UTF-8";
  }
  return "a program begins with HloModule NAME, or with ENTRY NAME {";
}

static indim_status parse_single(indim_parser *parser) {
  indim_lexer *lexer = &parser->lexer;
  indim_scope scope = {.root_offset = INDIM_NO_OFFSET, .is_single = true};
  indim_lexer ahead = *lexer;
  indim_str name = {"", 0};
  size_t offset = lexer->token.offset;
  indim_instr *instr = NULL;
  INDIM_TRY(indim_arena_str(&parser->module->arena, indim_str_of("_"), &parser->module->name));
  INDIM_TRY(indim_module_new_computation(parser->module, indim_str_of("_"), offset, &scope.computation));
  INDIM_TRY(indim_names_set(&parser->computations, scope.computation->name, NULL));
  parser->module->entry = scope.computation;
  if (indim_lexer_is_word(lexer, "ROOT")) {
    indim_lexer_next(lexer);
    ahead = *lexer;
  }
  indim_lexer_next(&ahead);
  indim_token_kind kind = lexer->token.kind;
  if ((kind == INDIM_TOKEN_NAME || kind == INDIM_TOKEN_IDENT) && ahead.token.kind == INDIM_TOKEN_EQUAL) {
    INDIM_TRY(indim_parse_name(parser, "a name", &name, &offset));
    indim_lexer_next(lexer);
  } else if (kind == INDIM_TOKEN_NAME || (kind != INDIM_TOKEN_IDENT && !indim_shape_text_begins(lexer))) {
    indim_status status = indim_lexer_expected(lexer, "HloModule, ENTRY, or an instruction");
    indim_hint(parser->cx, "%s", hint_of_beginning(lexer->source.text));
    return status;
  }
  indim_names_init(&scope.names, parser->cx);
  indim_status status = indim_parse_rhs(parser, &scope, name.size > 0 ? name : indim_str_of("_"), offset, true, &instr);
  indim_names_deinit(&scope.names);
  INDIM_TRY(status);
  if (name.size == 0) {
    INDIM_TRY(indim_arena_str(&parser->module->arena, indim_str_of(indim_op_get(instr->op)->text), &instr->name));
  }
  scope.computation->root = instr;
  INDIM_TRY(indim_computation_finish(scope.computation));
  return indim_module_append(parser->module, scope.computation);
}

// What JAX prints unless it is asked for HLO.
static bool is_mlir(indim_str text) {
  static const char *const beginnings[] = {"module @", "module {", "module attributes", "func.func", "#loc"};
  for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++) {
    size_t size = strlen(beginnings[i]);
    if (text.size >= size && memcmp(text.data, beginnings[i], size) == 0) {
      return true;
    }
  }
  return false;
}

// The first byte near the beginning that tells another format than text: a zero, or a control byte among the first few.
static const char *find_binary(indim_str text) {
  enum { FEW = 8, MORE = 64 };
  for (size_t i = 0; i < text.size && i < MORE && !is_utf16(text); i++) {
    unsigned char c = (unsigned char)text.data[i];
    if (c == 0 || (i < FEW && c < ' ' && strchr("\t\n\v\f\r", c) == NULL)) {
      return text.data + i;
    }
  }
  return NULL;
}

static indim_status refuse_binary(const indim_parser *parser, const char *where) {
  const indim_source *source = &parser->lexer.source;
  int name_size = (int)source->name.size;
  if (source->text.size >= 6 && memcmp(source->text.data, "\x93NUMPY", 6) == 0) {
    indim_fail(parser->cx, INDIM_SYNTAX, "%.*s is an array (.npy), not HLO text", name_size, source->name.data);
    indim_hint(parser->cx, "the program comes first: indim run PROGRAM ARRAY...");
  } else {
    indim_fail(parser->cx, INDIM_SYNTAX, "%.*s is a binary file, not HLO text: byte %zu is %d", name_size,
               source->name.data, (size_t)(where - source->text.data), (int)*where);
    indim_hint(parser->cx, "from JAX: jax.jit(f).lower(...).as_text(\"hlo\")");
  }
  return INDIM_SYNTAX;
}

static indim_status parse_form(indim_parser *parser) {
  indim_lexer *lexer = &parser->lexer;
  const char *where = find_binary(lexer->source.text);
  if (where != NULL) {
    return refuse_binary(parser, where);
  }
  if (is_mlir(lexer->source.text)) {
    indim_fail_at(parser->cx, INDIM_SYNTAX, &lexer->source, 0, "this is a program in MLIR, not HLO text");
    indim_hint(parser->cx, "from JAX: jax.jit(f).lower(...).as_text(\"hlo\")");
    return INDIM_SYNTAX;
  }
  indim_lexer ahead = *lexer;
  indim_lexer_next(&ahead);
  indim_token_kind kind = lexer->token.kind;
  bool computation = indim_lexer_is_word(lexer, "ENTRY") || ((kind == INDIM_TOKEN_NAME || kind == INDIM_TOKEN_IDENT) &&
                                                             ahead.token.kind == INDIM_TOKEN_LBRACE);
  if (indim_lexer_is_word(lexer, "HloModule")) {
    INDIM_TRY(parse_header(parser));
    INDIM_TRY(parse_computations(parser));
  } else if (computation) {
    INDIM_TRY(parse_computations(parser));
    indim_buffer name;
    indim_buffer_init(&name, parser->cx);
    indim_buffer_printf(&name, "module_%s", parser->module->entry->name.data);
    indim_status status = name.status;
    if (status == INDIM_OK) {
      status = indim_arena_str(&parser->module->arena, (indim_str){name.data, name.size}, &parser->module->name);
    }
    indim_buffer_deinit(&name);
    INDIM_TRY(status);
  } else {
    INDIM_TRY(parse_single(parser));
    if (lexer->token.kind != INDIM_TOKEN_END) {
      indim_status status = indim_lexer_expected(lexer, "the end of the text after a lone instruction");
      indim_hint(parser->cx, "a program of several instructions begins with HloModule NAME, or with ENTRY NAME {");
      return status;
    }
  }
  return INDIM_OK;
}

indim_status indim_module_parse(indim_ctx *cx, indim_str name, indim_str text, indim_module **out_module) {
  indim_parser parser = {.cx = cx};
  indim_source source = {name, text};
  if (out_module == NULL || (text.data == NULL && text.size > 0)) {
    return indim_fail(cx, INDIM_INVALID, "indim_module_parse: the text or the place for the module is NULL");
  }
  *out_module = NULL;
  INDIM_TRY(indim_module_create(cx, name, source, &parser.module));
  indim_names_init(&parser.computations, cx);
  indim_lexer_init(&parser.lexer, cx, parser.module->source);
  indim_status status = parse_form(&parser);
  indim_names_deinit(&parser.computations);
  indim_free(cx, parser.stack.items, parser.stack.capacity * sizeof *parser.stack.items);
  if (status != INDIM_OK) {
    indim_module_destroy(parser.module);
    return status;
  }
  *out_module = parser.module;
  return INDIM_OK;
}
