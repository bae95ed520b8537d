// Completion, by what stands before the cursor: ops and types behind '=', ops behind a shape, instructions between the
// parentheses, attributes behind a comma, and what an attribute may hold.
#include <string.h>

#include "lsp.h"

enum {
  KIND_METHOD = 2,
  KIND_VARIABLE = 6,
  KIND_PROPERTY = 10,
  KIND_VALUE = 12,
  KIND_KEYWORD = 14,
  KIND_FUNCTION = 3,
  KIND_TYPE = 22
};

// Where the word that is being written begins and ends, and what stands before it.
typedef struct context {
  server *s;
  document *d;
  const outline *o;
  uint32_t start;
  uint32_t end;
  uint32_t before;  // token, or NO_TOKEN
  int32_t instr;    // the last that begins before it, or -1
  indim_op op;      // of the instruction; INDIM_OP_COUNT: not known
  cJSON *list;
} context;

static void offer(context *c, const char *label, int kind, const char *text, const char *detail, const char *more) {
  cJSON *item = cJSON_CreateObject();
  cJSON_AddStringToObject(item, "label", label);
  cJSON_AddNumberToObject(item, "kind", kind);
  if (detail != NULL) {
    cJSON_AddStringToObject(item, "detail", detail);
  }
  if (more != NULL) {
    cJSON *documentation = cJSON_AddObjectToObject(item, "documentation");
    cJSON_AddStringToObject(documentation, "kind", "markdown");
    cJSON_AddStringToObject(documentation, "value", more);
  }
  cJSON_AddItemToObject(item, "textEdit", document_edit(c->s, c->d, c->start, c->end, text));
  cJSON_AddItemToArray(c->list, item);
}

static bool is_sign(const context *c, uint32_t at, char sign) {
  const token *t = at == NO_TOKEN ? NULL : &c->o->tokens[at];
  return t != NULL && t->kind == TOKEN_PUNCTUATION && t->end == t->start + 1 && c->d->text[t->start] == sign;
}

static indim_str text_of(const context *c, uint32_t at) {
  const token *t = &c->o->tokens[at];
  return (indim_str){c->d->text + t->start, t->end - t->start};
}

static void offer_ops(context *c) {
  for (int op = 0; op < INDIM_OP_COUNT; op++) {
    indim_buffer more;
    indim_buffer_init(&more, c->s->cx);
    explain_op((indim_op)op, &more);
    const indim_op_info *info = indim_op_get((indim_op)op);
    offer(c, info->text, KIND_METHOD, info->text, info->meaning, more.data);
    indim_buffer_deinit(&more);
  }
}

static void offer_types(context *c) {
#define INDIM_TYPE(enumerator, number, text, bits, kind)                               \
  if (INDIM_##enumerator != INDIM_TYPE_INVALID && INDIM_##enumerator != INDIM_TUPLE && \
      INDIM_##enumerator != INDIM_BUFFER) {                                            \
    offer(c, text, KIND_TYPE, text, NULL, NULL);                                       \
  }
#include "indim/type.def"
}

// Those that stand before the instruction, with a % if one was typed.
static void offer_instrs(context *c) {
  const definition *self = &c->o->symbols[c->instr];
  bool has_percent = c->start < c->end && c->d->text[c->start] == '%';
  c->start += has_percent;
  for (int32_t i = 0; i < c->instr; i++) {
    const definition *other = &c->o->symbols[i];
    if (other->is_computation || other->owner != self->owner) {
      continue;
    }
    uint32_t from = other->shape_first != NO_TOKEN ? other->shape_first : other->op;
    indim_str detail = {"", 0};
    if (from != NO_TOKEN) {
      detail =
          (indim_str){c->d->text + c->o->tokens[from].start, c->o->tokens[other->last].end - c->o->tokens[from].start};
    }
    char line[120];
    snprintf(line, sizeof line, "%.*s", (int)(detail.size < sizeof line ? detail.size : sizeof line - 1), detail.data);
    offer(c, other->text, KIND_VARIABLE, other->text, line, NULL);
  }
}

static void offer_computations(context *c) {
  for (int32_t i = 0; i < c->o->symbol_count; i++) {
    const definition *other = &c->o->symbols[i];
    bool is_behind = c->o->tokens[other->last].start < c->start;
    if (other->is_computation && other->owner < 0 && !other->is_entry && is_behind) {
      offer(c, other->text, KIND_FUNCTION, other->text, NULL, NULL);
    }
  }
}

static void offer_values(context *c, indim_str attribute) {
  indim_op_attr_info info;
  for (int32_t i = 0; indim_op_attr_get(c->op, i, &info); i++) {
    if (!indim_str_equal(attribute, indim_str_of(info.text))) {
      continue;
    }
    const char *word = NULL;
    for (int32_t w = 0; (word = indim_op_attr_word(c->op, i, w)) != NULL; w++) {
      offer(c, word, KIND_VALUE, word, NULL, NULL);
    }
    if (info.names_computations) {
      offer_computations(c);
    }
    if (strcmp(info.form, "true or false") == 0) {
      offer(c, "true", KIND_KEYWORD, "true", NULL, NULL);
      offer(c, "false", KIND_KEYWORD, "false", NULL, NULL);
    }
    return;
  }
}

static bool is_written(const context *c, const char *attribute) {
  const definition *self = &c->o->symbols[c->instr];
  for (uint32_t i = self->first; i <= self->last && i < c->o->token_count; i++) {
    if (c->o->tokens[i].kind == TOKEN_ATTRIBUTE && indim_str_equal(text_of(c, i), indim_str_of(attribute))) {
      return true;
    }
  }
  return false;
}

static void offer_attributes(context *c) {
  indim_op_attr_info info;
  for (int32_t i = 0; indim_op_attr_get(c->op, i, &info); i++) {
    if (is_written(c, info.text)) {
      continue;
    }
    char text[64];
    snprintf(text, sizeof text, "%s=", info.text);
    indim_buffer more;
    indim_buffer_init(&more, c->s->cx);
    explain_attribute(c->op, i, &more);
    offer(c, info.text, KIND_PROPERTY, text, info.required ? "required" : info.form, more.data);
    indim_buffer_deinit(&more);
  }
}

// The bracket that is open before the cursor, within the instruction; NO_TOKEN if none is.
static uint32_t open_bracket(const context *c) {
  int depth = 0;
  uint32_t first = c->o->symbols[c->instr].first;
  for (uint32_t at = c->before; at != NO_TOKEN && at >= first; at = outline_previous(c->o, at)) {
    bool closes = is_sign(c, at, ')') || is_sign(c, at, '}') || is_sign(c, at, ']');
    bool opens = is_sign(c, at, '(') || is_sign(c, at, '{') || is_sign(c, at, '[');
    depth += closes ? 1 : opens ? -1 : 0;
    if (depth < 0) {
      return at;
    }
  }
  return NO_TOKEN;
}

static void complete_in_instr(context *c) {
  const token *before = &c->o->tokens[c->before];
  const definition *self = &c->o->symbols[c->instr];
  uint32_t open = open_bracket(c);
  uint32_t opener = open == NO_TOKEN ? NO_TOKEN : outline_previous(c->o, open);
  bool has_op = self->op != NO_TOKEN && c->o->tokens[self->op].start < c->start;
  if (is_sign(c, c->before, '=')) {
    offer_ops(c);
    offer_types(c);
  } else if (before->kind == TOKEN_ATTRIBUTE) {
    offer_values(c, text_of(c, c->before));
  } else if (open != NO_TOKEN && opener != NO_TOKEN && c->o->tokens[opener].role == ROLE_OP && is_sign(c, open, '(')) {
    if (before->kind == TOKEN_PUNCTUATION) {
      offer_instrs(c);
    }
  } else if (open != NO_TOKEN && opener != NO_TOKEN && c->o->tokens[opener].kind == TOKEN_ATTRIBUTE) {
    offer_values(c, text_of(c, opener));
  } else if (open == NO_TOKEN && !has_op) {
    offer_ops(c);
  } else if (open == NO_TOKEN && is_sign(c, c->before, ',')) {
    offer_attributes(c);
  }
}

cJSON *answer_completion(server *s, document *d, const cJSON *params, const char **out_error) {
  uint32_t offset = 0;
  if (!document_offset(s, d, cJSON_GetObjectItemCaseSensitive(params, "position"), &offset)) {
    *out_error = "the position is malformed";
    return NULL;
  }
  const outline *o = document_outline(d);
  context c = {s, d, o, offset, offset, NO_TOKEN, -1, INDIM_OP_COUNT, cJSON_CreateArray()};
  for (uint32_t i = 0; i < o->token_count && o->tokens[i].start < offset; i++) {
    const token *t = &o->tokens[i];
    bool is_word =
        t->kind == TOKEN_NAME || t->kind == TOKEN_KEYWORD || t->kind == TOKEN_TYPE || t->kind == TOKEN_ATTRIBUTE;
    if (t->kind == TOKEN_COMMENT || t->kind == TOKEN_STRING) {
      if (offset < t->end || (t->end == offset && d->text[t->start + 1] == '/')) {
        return c.list;  // inside a comment or a string nothing is completed
      }
    } else if (is_word && offset <= t->end) {
      c.start = t->start;
    } else {
      c.before = i;
    }
  }
  for (int32_t i = 0; i < o->symbol_count && o->tokens[o->symbols[i].first].start < c.start; i++) {
    c.instr = o->symbols[i].is_computation ? c.instr : i;
  }
  if (c.instr >= 0 && c.before != NO_TOKEN && c.before >= o->symbols[c.instr].first) {
    uint32_t op = o->symbols[c.instr].op;
    c.op = op != NO_TOKEN && indim_op_parse(text_of(&c, op), &c.op) ? c.op : INDIM_OP_COUNT;
    complete_in_instr(&c);
  } else if (c.before == NO_TOKEN) {
    offer(&c, "HloModule", KIND_KEYWORD, "HloModule ", NULL, NULL);
    offer(&c, "ENTRY", KIND_KEYWORD, "ENTRY ", NULL, NULL);
  }
  return c.list;
}
