// Instructions: name = shape opcode(operands), attributes. A broken instruction is reported once; its
// name is remembered as broken, so that its uses stay silent, and reading goes on at the next instruction.
#include <stdio.h>
#include <string.h>

#include "array/literal_text.h"
#include "array/shape_text.h"
#include "graph/infer.h"
#include "text/parser.h"

static indim_status fail_at(indim_parser *parser, size_t offset, indim_status status, const char *message,
                            indim_str name) {
  return indim_fail_at(parser->cx, status, &parser->lexer.source, offset, message, (int)name.size, name.data);
}

// Names -------------------------------------------------------------------------------------------------------------

indim_status indim_parse_name(indim_parser *parser, const char *what, indim_str *out_name, size_t *out_offset) {
  indim_lexer *lexer = &parser->lexer;
  *out_name = lexer->token.text;
  *out_offset = lexer->token.offset;
  if (lexer->token.kind != INDIM_TOKEN_NAME && lexer->token.kind != INDIM_TOKEN_IDENT) {
    indim_status status = indim_lexer_expected(lexer, what);
    if (lexer->token.kind == INDIM_TOKEN_ATTRIBUTE) {
      indim_hint(parser->cx, "put a blank between a name and '=', or %% before the name");
    } else if (lexer->token.kind == INDIM_TOKEN_TYPE || lexer->token.kind == INDIM_TOKEN_KEYWORD) {
      indim_hint(parser->cx, "this word has a meaning of its own; rename it, for example %.*s_",
                 (int)lexer->token.text.size, lexer->token.text.data);
    }
    return status;
  }
  indim_lexer_next(lexer);
  return INDIM_OK;
}

// XLA keeps an instruction's name only if sanitising leaves it as it is.
static indim_status check_instr_name(indim_parser *parser, indim_str name, size_t offset) {
  indim_type type;
  bool underscores = name.size >= 2 && memcmp(name.data, "__", 2) == 0;
  bool xla = name.size >= 6 && memcmp(name.data, "__xla_", 6) == 0;
  if (indim_type_parse(name, &type) && type != INDIM_TUPLE && type != INDIM_BUFFER) {
    fail_at(parser, offset, INDIM_INVALID, "%.*s is a type, not a name for an instruction", name);
    indim_hint(parser->cx, "rename it, for example %.*s_", (int)name.size, name.data);
    return INDIM_INVALID;
  }
  if (underscores && !xla) {
    fail_at(parser, offset, INDIM_INVALID, "illegal instruction name %.*s: two underscores begin XLA's own names",
            name);
    indim_hint(parser->cx, "rename it, for example a_%.*s", (int)name.size - 2, name.data + 2);
    return INDIM_INVALID;
  }
  return INDIM_OK;
}

static indim_status check_unique(indim_parser *parser, const indim_scope *scope, indim_str name, size_t offset) {
  const indim_name_entry *entry = indim_names_find(&scope->names, name);
  if (entry == NULL) {
    return INDIM_OK;
  }
  fail_at(parser, offset, INDIM_INVALID, "instruction %.*s already exists", name);
  const indim_instr *first = entry->value;
  if (first != NULL) {
    fail_at(parser, first->offset, INDIM_INVALID, "instruction %.*s is first defined here", name);
  }
  return INDIM_INVALID;
}

// A name for an instruction that has none in the text: the text itself, or with the next free number.
static indim_status free_name(indim_parser *parser, const indim_scope *scope, const char *text, indim_str *out_name) {
  char name[96];
  snprintf(name, sizeof name, "%s", text);
  for (int i = 1; indim_names_find(&scope->names, indim_str_of(name)) != NULL; i++) {
    snprintf(name, sizeof name, "%s.%d", text, i);
  }
  return indim_arena_str(&parser->module->arena, indim_str_of(name), out_name);
}

// Operands ----------------------------------------------------------------------------------------------------------

static bool ends_operand(const indim_lexer *lexer) {
  return lexer->token.kind == INDIM_TOKEN_COMMA || lexer->token.kind == INDIM_TOKEN_RPAREN;
}

static indim_status add_parameter(indim_parser *parser, indim_scope *scope, indim_str name, const indim_shape *shape,
                                  size_t offset, indim_instr **out_instr) {
  char number[32];
  int32_t count = 0;
  for (int32_t i = 0; i < scope->computation->instr_count; i++) {
    count += scope->computation->instrs[i]->op == INDIM_OP_PARAMETER;
  }
  if (name.size == 0) {
    snprintf(number, sizeof number, "_%d", (int)count);
    INDIM_TRY(free_name(parser, scope, number, &name));
  }
  INDIM_TRY(indim_computation_add(scope->computation, INDIM_OP_PARAMETER, name, shape, offset, out_instr));
  (*out_instr)->parameter_number = count;
  return indim_names_set(&scope->names, (*out_instr)->name, *out_instr);
}

static indim_status find_operand(indim_parser *parser, indim_scope *scope, indim_str name, size_t offset,
                                 const indim_shape *declared, indim_instr **out_instr) {
  const indim_name_entry *entry = indim_names_find(&scope->names, name);
  if (entry == NULL && scope->is_single) {
    if (declared == NULL) {
      fail_at(parser, offset, INDIM_INVALID, "operand %.*s has no shape", name);
      indim_hint(parser->cx, "in a lone instruction operands are parameters: write f32[2] %.*s", (int)name.size,
                 name.data);
      return INDIM_INVALID;
    }
    return add_parameter(parser, scope, name, declared, offset, out_instr);
  }
  if (entry == NULL) {
    fail_at(parser, offset, INDIM_INVALID, "instruction %.*s does not exist before this place in the computation",
            name);
    indim_str near = indim_names_nearest(&scope->names, name);
    if (near.size > 0) {
      indim_hint(parser->cx, "did you mean %.*s?", (int)near.size, near.data);
    }
    return INDIM_INVALID;
  }
  *out_instr = entry->value;
  if (*out_instr == NULL) {
    return INDIM_INVALID;  // reported where it is defined
  }
  if (declared != NULL && !indim_shape_compatible(declared, (*out_instr)->shape)) {
    indim_shape_text here;
    indim_shape_text there;
    indim_fail_at(parser->cx, INDIM_INVALID, &parser->lexer.source, offset,
                  "operand %.*s is declared %s here, but %s where it is defined", (int)name.size, name.data,
                  indim_shape_brief(declared, &here), indim_shape_brief((*out_instr)->shape, &there));
    return INDIM_INVALID;
  }
  return INDIM_OK;
}

static indim_status parse_nested_operand(indim_parser *parser, indim_scope *scope, indim_instr **out_instr) {
  indim_lexer *lexer = &parser->lexer;
  size_t offset = lexer->token.offset;
  indim_lexer ahead = *lexer;
  char text[80];
  indim_str name;
  // The opcode gives the name: skip the shape to see it.
  if (indim_shape_text_begins(&ahead)) {
    indim_shape shape;
    INDIM_TRY(indim_shape_parse_tokens(&ahead, &parser->module->arena, &shape));
  }
  snprintf(text, sizeof text, "%.*s.anon", ahead.token.text.size < 60 ? (int)ahead.token.text.size : 60,
           ahead.token.text.data);
  INDIM_TRY(free_name(parser, scope, text, &name));
  if (parser->nesting >= INDIM_MAX_NESTING) {
    return indim_fail_at(parser->cx, INDIM_LIMIT, &lexer->source, offset, "more than %d operations inside each other",
                         (int)INDIM_MAX_NESTING);
  }
  parser->nesting++;
  indim_status status = indim_parse_rhs(parser, scope, name, offset, false, out_instr);
  parser->nesting--;
  INDIM_TRY(status);
  return indim_names_set(&scope->names, (*out_instr)->name, *out_instr);
}

// [shape] name, or a nested instruction; in a lone instruction also a shape alone.
static indim_status parse_operand(indim_parser *parser, indim_scope *scope, indim_instr **out_instr) {
  indim_lexer *lexer = &parser->lexer;
  indim_lexer start = *lexer;
  indim_lexer ahead = *lexer;
  indim_shape shape;
  bool has_shape = indim_shape_text_begins(lexer);
  if (lexer->token.kind == INDIM_TOKEN_NAME || lexer->token.kind == INDIM_TOKEN_IDENT) {
    indim_lexer_next(&ahead);
    if (ends_operand(&ahead)) {
      *lexer = ahead;
      return find_operand(parser, scope, start.token.text, start.token.offset, NULL, out_instr);
    }
  }
  if (has_shape) {
    INDIM_TRY(indim_shape_parse_tokens(lexer, &parser->module->arena, &shape));
    indim_token token = lexer->token;
    if (ends_operand(lexer) && scope->is_single) {
      return add_parameter(parser, scope, (indim_str){"", 0}, &shape, start.token.offset, out_instr);
    }
    if (token.kind == INDIM_TOKEN_NAME || token.kind == INDIM_TOKEN_IDENT) {
      indim_lexer_next(lexer);
      if (ends_operand(lexer)) {
        return find_operand(parser, scope, token.text, token.offset, &shape, out_instr);
      }
    }
    *lexer = start;
  }
  if (!has_shape && lexer->token.kind != INDIM_TOKEN_IDENT) {
    return indim_lexer_expected(lexer, "an operand");
  }
  return parse_nested_operand(parser, scope, out_instr);
}

// "(a, b, c)": pushed onto the parser's stack.
static indim_status parse_operands(indim_parser *parser, indim_scope *scope) {
  indim_lexer *lexer = &parser->lexer;
  indim_status broken = INDIM_OK;
  INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_LPAREN, "'(' before the operands"));
  for (;;) {
    while (indim_lexer_eat(lexer, INDIM_TOKEN_COMMA)) {
    }
    if (indim_lexer_eat(lexer, INDIM_TOKEN_RPAREN)) {
      return broken;
    }
    indim_instr *operand = NULL;
    size_t offset = lexer->token.offset;
    indim_status status = parse_operand(parser, scope, &operand);
    if (indim_parse_is_fatal(status) ||
        (status != INDIM_OK && !(ends_operand(lexer) && lexer->token.offset > offset))) {
      return status;
    }
    // A wrong operand that was read to its end: the others are still looked at.
    broken = broken == INDIM_OK ? status : broken;
    if (status == INDIM_OK) {
      INDIM_TRY(indim_pointers_push(parser, operand));
    }
    if (!ends_operand(lexer)) {
      return indim_lexer_expected(lexer, "',' or ')' after an operand");
    }
  }
}

// Payloads ----------------------------------------------------------------------------------------------------------

static indim_status parse_parameter_number(indim_parser *parser, int64_t *out_number) {
  indim_lexer *lexer = &parser->lexer;
  INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_LPAREN, "'(' before the parameter's number"));
  indim_token token = lexer->token;
  INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_INT, "the parameter's number"));
  if (token.integer < 0) {
    return indim_fail_at(parser->cx, INDIM_INVALID, &lexer->source, token.offset,
                         "parameter number %.*s: it must be 0 or more", (int)token.text.size, token.text.data);
  }
  *out_number = token.integer;
  return indim_lexer_expect(lexer, INDIM_TOKEN_RPAREN, "')' after the parameter's number");
}

static indim_status parse_constant(indim_parser *parser, const indim_shape *shape, const indim_literal **out_literal) {
  indim_lexer *lexer = &parser->lexer;
  indim_literal *literal = NULL;
  INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_LPAREN, "'(' before the constant's value"));
  INDIM_TRY(indim_literal_parse_body(lexer, shape, &literal));
  INDIM_TRY(indim_module_own_literal(parser->module, literal));
  *out_literal = literal;
  return indim_lexer_expect(lexer, INDIM_TOKEN_RPAREN, "')' after the constant's value");
}

// Opcodes -----------------------------------------------------------------------------------------------------------

static indim_status unknown_op(indim_parser *parser, indim_token token) {
  indim_nearest nearest = indim_nearest_begin(token.text);
  for (int op = 0; op < INDIM_OP_COUNT; op++) {
    indim_nearest_offer(&nearest, indim_str_of(indim_op_get((indim_op)op)->text));
  }
  fail_at(parser, token.offset, INDIM_SYNTAX, "unknown operation %.*s", token.text);
  if (nearest.best.size > 0) {
    indim_hint(parser->cx, "did you mean %.*s? `indim ops` lists them all", (int)nearest.best.size, nearest.best.data);
  } else {
    indim_hint(parser->cx, "`indim ops` lists them all");
  }
  return INDIM_SYNTAX;
}

static indim_status parse_opcode(indim_parser *parser, indim_op *out_op) {
  indim_lexer *lexer = &parser->lexer;
  indim_token token = lexer->token;
  if (token.kind != INDIM_TOKEN_IDENT) {
    return indim_lexer_expected(lexer, "an operation such as add");
  }
  indim_lexer ahead = *lexer;
  indim_lexer_next(&ahead);
  if (ahead.token.kind == INDIM_TOKEN_LSQUARE) {
    indim_shape shape;  // of a type that is none, which is what this says
    INDIM_TRY(indim_shape_parse_tokens(lexer, &parser->module->arena, &shape));
  }
  if (!indim_op_parse(token.text, out_op)) {
    return unknown_op(parser, token);
  }
  indim_lexer_next(lexer);
  return INDIM_OK;
}

// Attributes --------------------------------------------------------------------------------------------------------

static int compare_text(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// Lists the attributes an op takes, sorted, into |out|.
static void list_attrs(indim_op op, char *out, size_t capacity) {
  const char *texts[INDIM_MAX_ATTRS];
  int count = 0;
  int32_t cursor = 0;
  indim_attr_id id;
  bool required = false;
  while (count < INDIM_MAX_ATTRS && indim_attr_next(op, &cursor, &id, &required)) {
    const char *text = indim_attr_text(id);
    int at = count++;
    for (; at > 0 && compare_text(&texts[at - 1], &text) > 0; at--) {
      texts[at] = texts[at - 1];
    }
    texts[at] = text;
  }
  size_t size = 0;
  for (int i = 0; i < count && size + 1 < capacity; i++) {
    size += (size_t)snprintf(out + size, capacity - size, "%s%s", i == 0 ? "" : ", ", texts[i]);
  }
}

static indim_status unknown_attr(indim_parser *parser, indim_op op, indim_token token) {
  char list[640];
  indim_nearest nearest = indim_nearest_begin(token.text);
  int32_t cursor = 0;
  indim_attr_id id;
  bool required = false;
  while (indim_attr_next(op, &cursor, &id, &required)) {
    indim_nearest_offer(&nearest, indim_str_of(indim_attr_text(id)));
  }
  list_attrs(op, list, sizeof list);
  indim_fail_at(parser->cx, INDIM_SYNTAX, &parser->lexer.source, token.offset,
                "unexpected attribute %.*s on %s; allowed are %s", (int)token.text.size, token.text.data,
                indim_op_get(op)->text, list);
  if (nearest.best.size > 0) {
    indim_hint(parser->cx, "did you mean %.*s?", (int)nearest.best.size, nearest.best.data);
  }
  return INDIM_SYNTAX;
}

static indim_status check_required(indim_parser *parser, indim_op op, const indim_attr *attrs, int32_t count,
                                   size_t offset) {
  int32_t cursor = 0;
  indim_attr_id id;
  bool required = false;
  while (indim_attr_next(op, &cursor, &id, &required)) {
    bool seen = !required;
    for (int32_t i = 0; i < count; i++) {
      seen = seen || attrs[i].id == id;
    }
    if (!seen) {
      return indim_fail_at(parser->cx, INDIM_SYNTAX, &parser->lexer.source, offset,
                           "%s needs the attribute %s, which is missing", indim_op_get(op)->text, indim_attr_text(id));
    }
  }
  return INDIM_OK;
}

static indim_status parse_attrs(indim_parser *parser, indim_scope *scope, indim_op op, size_t op_offset,
                                indim_attr *attrs, int32_t *out_count) {
  indim_lexer *lexer = &parser->lexer;
  int32_t count = 0;
  while (indim_lexer_eat(lexer, INDIM_TOKEN_COMMA)) {
    indim_token token = lexer->token;
    indim_attr_id id;
    INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_ATTRIBUTE, "an attribute like dimensions={0}"));
    if (!indim_attr_find(op, token.text, &id)) {
      return unknown_attr(parser, op, token);
    }
    for (int32_t i = 0; i < count; i++) {
      if (attrs[i].id == id) {
        return fail_at(parser, token.offset, INDIM_SYNTAX, "attribute %.*s already exists", token.text);
      }
    }
    if (count == INDIM_MAX_ATTRS) {
      return indim_fail_at(parser->cx, INDIM_LIMIT, &lexer->source, token.offset, "more than %d attributes",
                           (int)INDIM_MAX_ATTRS);
    }
    INDIM_TRY(indim_parse_attr(parser, scope, id, token.offset, &attrs[count]));
    count++;
  }
  *out_count = count;
  return check_required(parser, op, attrs, count, op_offset);
}

// Instructions ------------------------------------------------------------------------------------------------------

static indim_status infer_shape(indim_parser *parser, indim_instr *instr) {
  indim_arena arena;
  indim_shape shape;
  indim_arena_init(&arena, parser->cx);
  indim_status status = indim_infer_shape(parser->cx, instr, &arena, &shape);
  if (status == INDIM_OK) {
    status = indim_module_intern(parser->module, &shape, &instr->shape);
  }
  indim_arena_deinit(&arena);
  return status;
}

// What is read of an instruction before it is made.
typedef struct instr_parts {
  indim_op op;
  size_t op_offset;
  bool has_shape;
  indim_shape shape;
  int64_t parameter_number;
  const indim_literal *literal;
  indim_attr attrs[INDIM_MAX_ATTRS];
  int32_t attr_count;
} instr_parts;

static indim_status check_arity(indim_parser *parser, const instr_parts *parts, size_t count) {
  const indim_op_info *info = indim_op_get(parts->op);
  if (count >= (size_t)info->least && (info->most < 0 || count <= (size_t)info->most)) {
    return INDIM_OK;
  }
  const char *bound = info->most < 0 ? "at least " : info->most > info->least ? "up to " : "";
  int wanted = info->most > info->least ? info->most : info->least;
  return indim_fail_at(parser->cx, INDIM_INVALID, &parser->lexer.source, parts->op_offset,
                       "%s takes %s%d operand%s, has %zu", info->text, bound, wanted, wanted == 1 ? "" : "s", count);
}

static indim_status read_parts(indim_parser *parser, indim_scope *scope, bool with_attrs, instr_parts *parts) {
  indim_lexer *lexer = &parser->lexer;
  size_t base = parser->stack.count;
  *parts = (instr_parts){.has_shape = indim_shape_text_begins(lexer)};
  if (parts->has_shape) {
    INDIM_TRY(indim_shape_parse_tokens(lexer, &parser->module->arena, &parts->shape));
  }
  parts->op_offset = lexer->token.offset;
  INDIM_TRY(parse_opcode(parser, &parts->op));
  if (!parts->has_shape && !indim_op_get(parts->op)->shape_inferred) {
    indim_fail_at(parser->cx, INDIM_SYNTAX, &lexer->source, parts->op_offset, "the shape of %s cannot be inferred",
                  indim_op_get(parts->op)->text);
    indim_hint(parser->cx, "write it before the operation: name = f32[2,3] %s(...)", indim_op_get(parts->op)->text);
    return INDIM_SYNTAX;
  }
  if (parts->op == INDIM_OP_PARAMETER) {
    INDIM_TRY(parse_parameter_number(parser, &parts->parameter_number));
  } else if (parts->op == INDIM_OP_CONSTANT) {
    INDIM_TRY(parse_constant(parser, &parts->shape, &parts->literal));
  } else {
    indim_status status = parse_operands(parser, scope);
    if (status != INDIM_OK) {
      return status;
    }
    INDIM_TRY(check_arity(parser, parts, parser->stack.count - base));
  }
  return with_attrs ? parse_attrs(parser, scope, parts->op, parts->op_offset, parts->attrs, &parts->attr_count)
                    : check_required(parser, parts->op, parts->attrs, 0, parts->op_offset);
}

indim_status indim_parse_rhs(indim_parser *parser, indim_scope *scope, indim_str name, size_t offset, bool with_attrs,
                             indim_instr **out_instr) {
  size_t base = parser->stack.count;
  void *memory = NULL;
  // On the heap, since nested operands and bodies recurse through here.
  INDIM_TRY(indim_alloc(parser->cx, sizeof(instr_parts), &memory));
  instr_parts *parts = memory;
  indim_instr *instr = NULL;
  indim_status status = read_parts(parser, scope, with_attrs, parts);
  if (status == INDIM_OK) {
    status = indim_computation_add(scope->computation, parts->op, name, parts->has_shape ? &parts->shape : NULL, offset,
                                   &instr);
  }
  if (status == INDIM_OK) {
    instr->parameter_number = parts->parameter_number;
    instr->literal = parts->literal;
    indim_instr **operands = parser->stack.items == NULL ? NULL : (indim_instr **)parser->stack.items + base;
    status = indim_instr_set_operands(instr, operands, (int64_t)(parser->stack.count - base));
  }
  if (status == INDIM_OK) {
    status = indim_instr_set_attrs(instr, parts->attrs, parts->attr_count);
  }
  if (status == INDIM_OK && instr->shape == NULL) {
    status = infer_shape(parser, instr);
  }
  indim_free(parser->cx, memory, sizeof(instr_parts));
  parser->stack.count = base;
  *out_instr = instr;
  return status;
}

static indim_status parse_instr(indim_parser *parser, indim_scope *scope, indim_str *out_name) {
  indim_lexer *lexer = &parser->lexer;
  size_t root_offset = lexer->token.offset;
  size_t offset = 0;
  indim_instr *instr = NULL;
  *out_name = (indim_str){"", 0};
  bool is_root = indim_lexer_is_word(lexer, "ROOT");
  if (is_root) {
    indim_lexer_next(lexer);
  }
  INDIM_TRY(indim_parse_name(parser, "an instruction like x = f32[2] parameter(0)", out_name, &offset));
  INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_EQUAL, "'=' after the name of an instruction"));
  INDIM_TRY(check_instr_name(parser, *out_name, offset));
  INDIM_TRY(check_unique(parser, scope, *out_name, offset));
  INDIM_TRY(indim_parse_rhs(parser, scope, *out_name, offset, true, &instr));
  if (is_root && scope->root_offset != INDIM_NO_OFFSET) {
    return indim_fail_at(parser->cx, INDIM_INVALID, &lexer->source, root_offset,
                         "a computation has only one ROOT, and this is the second");
  }
  if (is_root) {
    scope->computation->root = instr;
    scope->root_offset = root_offset;
  }
  return indim_names_set(&scope->names, instr->name, instr);
}

// Steps to the next instruction or to the '}' of this body, from the start of the broken one.
static void skip_instr(indim_lexer *lexer, indim_lexer start) {
  int64_t depth = 0;
  bool after_comma = true;  // the broken instruction may itself begin so
  *lexer = start;
  if (indim_lexer_is_word(lexer, "ROOT")) {
    indim_lexer_next(lexer);
  }
  indim_lexer_next(lexer);  // its name
  if (lexer->token.kind == INDIM_TOKEN_EQUAL) {
    indim_lexer_next(lexer);
  }
  for (;; indim_lexer_next(lexer)) {
    indim_token_kind kind = lexer->token.kind;
    bool name = kind == INDIM_TOKEN_NAME || kind == INDIM_TOKEN_IDENT || kind == INDIM_TOKEN_KEYWORD;
    if (kind == INDIM_TOKEN_END || kind == INDIM_TOKEN_ERROR || (depth == 0 && kind == INDIM_TOKEN_RBRACE)) {
      return;
    }
    if (kind == INDIM_TOKEN_LBRACE || kind == INDIM_TOKEN_LPAREN || kind == INDIM_TOKEN_LSQUARE) {
      depth++;
    } else if (kind == INDIM_TOKEN_RBRACE || kind == INDIM_TOKEN_RPAREN || kind == INDIM_TOKEN_RSQUARE) {
      depth -= depth > 0;
    } else if (kind == INDIM_TOKEN_ATTRIBUTE && depth == 0 && !after_comma) {
      return;  // "x=f32[2]...": an instruction whose name touches its '='
    } else if (name && depth == 0) {
      indim_lexer ahead = *lexer;
      indim_lexer_next(&ahead);
      if (ahead.token.kind == INDIM_TOKEN_EQUAL || indim_lexer_is_word(lexer, "ROOT")) {
        return;
      }
    }
    after_comma = kind == INDIM_TOKEN_COMMA;
  }
}

indim_status indim_parse_body(indim_parser *parser, indim_scope *scope) {
  indim_lexer *lexer = &parser->lexer;
  indim_status first = INDIM_OK;
  INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_LBRACE, "'{' before the instructions"));
  do {
    indim_lexer start = *lexer;
    indim_str name;
    size_t base = parser->stack.count;
    indim_status status = parse_instr(parser, scope, &name);
    parser->stack.count = base;
    if (status == INDIM_OK) {
      continue;
    }
    if (indim_parse_is_fatal(status) || lexer->token.kind == INDIM_TOKEN_ERROR ||
        indim_ctx_diagnostic_count(parser->cx) >= INDIM_MAX_DIAGNOSTICS) {
      return status;
    }
    first = first == INDIM_OK ? status : first;
    if (name.size > 0 && indim_names_find(&scope->names, name) == NULL) {
      INDIM_TRY(indim_names_set(&scope->names, name, NULL));
    }
    skip_instr(lexer, start);
    if (lexer->token.kind == INDIM_TOKEN_END || lexer->token.kind == INDIM_TOKEN_ERROR) {
      return first;
    }
  } while (lexer->token.kind != INDIM_TOKEN_RBRACE);
  indim_lexer_next(lexer);
  return first;
}
