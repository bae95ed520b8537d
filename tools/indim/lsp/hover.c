// What is under the cursor, explained: a name, an op, an attribute, a shape.
#include <inttypes.h>
#include <string.h>

#include "indim/text.h"
#include "lsp.h"

enum { LONG_LINE = 400 };

static indim_str token_text(const document *d, const token *t) {
  return (indim_str){d->text + t->start, t->end - t->start};
}

// The op of the instruction in which the byte lies.
static bool op_at(document *d, uint32_t offset, indim_op *out_op) {
  const outline *o = document_outline(d);
  int32_t instr = outline_instr_at(o, offset);
  uint32_t op = instr < 0 ? NO_TOKEN : o->symbols[instr].op;
  return op != NO_TOKEN && indim_op_parse(token_text(d, &o->tokens[op]), out_op);
}

// A shape as it is written; the text may be wrong.
static bool explain_written(server *s, const char *text, size_t size, indim_buffer *out) {
  indim_arena *arena = NULL;
  indim_shape shape;
  bool is_known = indim_arena_create(s->cx, &arena) == INDIM_OK &&
                  indim_shape_parse(s->cx, (indim_str){text, size}, arena, &shape) == INDIM_OK;
  if (is_known) {
    explain_shape(s->cx, &shape, out);
  }
  if (arena != NULL) {
    indim_arena_destroy(arena);
  }
  indim_ctx_diagnostics_clear(s->cx);
  return is_known;
}

// A program's text as a block, cut where it is long.
static void print_code(const char *text, size_t size, indim_buffer *out) {
  size_t shown = size < LONG_LINE ? size : LONG_LINE;
  while (shown > 0 && shown < size && ((unsigned char)text[shown] & 0xC0) == 0x80) {
    shown--;
  }
  indim_buffer_text(out, "```hlo\n");
  indim_buffer_append(out, text, shown);
  indim_buffer_text(out, shown < size ? " ...\n```\n" : "\n```\n");
}

static void explain_instr(server *s, document *d, int32_t number, indim_buffer *out) {
  const outline *o = document_outline(d);
  const definition *named = &o->symbols[number];
  const indim_instr *instr = symbol_instr(s, d, number);
  indim_op op = INDIM_OP_COUNT;
  if (instr != NULL) {
    indim_buffer line;
    indim_buffer_init(&line, s->cx);
    indim_instr_print(instr, INDIM_PRINT_ELIDE_CONSTANTS, &line);
    print_code(line.data == NULL ? "" : line.data, line.size, out);
    indim_buffer_deinit(&line);
    explain_shape(s->cx, indim_instr_shape(instr), out);
    op = indim_instr_op(instr);
  } else {
    uint32_t start = o->tokens[named->first].start;
    print_code(d->text + start, o->tokens[named->last].end - start, out);
    if (named->shape_first != NO_TOKEN && named->shape_end > named->shape_first) {
      uint32_t first = o->tokens[named->shape_first].start;
      explain_written(s, d->text + first, o->tokens[named->shape_end - 1].end - first, out);
    }
    (void)op_at(d, start, &op);
  }
  if (op != INDIM_OP_COUNT) {
    indim_buffer_printf(out, "\n**%s**: %s\n", indim_op_get(op)->text, indim_op_get(op)->meaning);
  }
}

static void explain_computation(server *s, document *d, int32_t number, indim_buffer *out) {
  const definition *named = &document_outline(d)->symbols[number];
  const indim_computation *computation = symbol_computation(s, d, number);
  indim_buffer_printf(out, "computation **%s**%s", named->text, named->is_entry ? ", the entry" : "");
  if (computation == NULL) {
    indim_buffer_text(out, "\n");
    return;
  }
  int64_t count = indim_computation_instr_count(computation);
  indim_buffer_printf(out, ", %" PRId64 " instruction%s\n```hlo\n(", count, count == 1 ? "" : "s");
  for (int64_t i = 0; i < indim_computation_parameter_count(computation); i++) {
    const indim_instr *parameter = indim_computation_parameter(computation, i);
    indim_buffer_printf(out, "%s%s: ", i == 0 ? "" : ", ", indim_instr_name(parameter).data);
    indim_shape_print(indim_instr_shape(parameter), false, out);
  }
  indim_buffer_text(out, ") -> ");
  indim_shape_print(indim_instr_shape(indim_computation_root(computation)), false, out);
  indim_buffer_text(out, "\n```\n");
}

static bool explain_attribute_at(document *d, const token *t, indim_buffer *out) {
  indim_op op;
  indim_op_attr_info info;
  if (!op_at(d, t->start, &op)) {
    return false;
  }
  for (int32_t i = 0; indim_op_attr_get(op, i, &info); i++) {
    if (indim_str_equal(token_text(d, t), indim_str_of(info.text))) {
      explain_attribute(op, i, out);
      return true;
    }
  }
  return false;
}

// The array's shape that the byte lies in.
static bool explain_shape_at(server *s, document *d, uint32_t offset, uint32_t *out_start, uint32_t *out_end,
                             indim_buffer *out) {
  const outline *o = document_outline(d);
  for (uint32_t i = 0; i < o->shape_count; i++) {
    uint32_t start = o->tokens[o->shapes[i]].start;
    if (start > offset) {
      break;
    }
    uint32_t behind = outline_shape_end(o, d->text, o->shapes[i]);
    uint32_t last = behind < o->token_count ? outline_previous(o, behind) : outline_previous(o, o->token_count);
    uint32_t end = o->tokens[last].end;
    if (offset < end) {
      *out_start = start;
      *out_end = end;
      return explain_written(s, d->text + start, end - start, out);
    }
  }
  return false;
}

static bool explain_at(server *s, document *d, uint32_t offset, uint32_t *out_start, uint32_t *out_end,
                       indim_buffer *out) {
  const outline *o = document_outline(d);
  if (explain_shape_at(s, d, offset, out_start, out_end, out)) {
    return true;
  }
  uint32_t at = outline_token_at(o, offset);
  if (at == NO_TOKEN) {
    return false;
  }
  const token *t = &o->tokens[at];
  indim_op op;
  *out_start = t->start;
  *out_end = t->end;
  if (t->symbol >= 0 && o->symbols[t->symbol].is_computation) {
    explain_computation(s, d, t->symbol, out);
    return true;
  }
  if (t->symbol >= 0) {
    explain_instr(s, d, t->symbol, out);
    return true;
  }
  if (t->role == ROLE_OP && indim_op_parse(token_text(d, t), &op)) {
    explain_op(op, out);
    return true;
  }
  return t->kind == TOKEN_ATTRIBUTE && explain_attribute_at(d, t, out);
}

cJSON *answer_hover(server *s, document *d, const cJSON *params, const char **out_error) {
  uint32_t offset = 0;
  uint32_t start = 0;
  uint32_t end = 0;
  if (!document_offset(s, d, cJSON_GetObjectItemCaseSensitive(params, "position"), &offset)) {
    *out_error = "the position is malformed";
    return NULL;
  }
  indim_buffer text;
  indim_buffer_init(&text, s->cx);
  cJSON *hover = NULL;
  if (explain_at(s, d, offset, &start, &end, &text) && text.data != NULL) {
    hover = cJSON_CreateObject();
    cJSON *contents = cJSON_AddObjectToObject(hover, "contents");
    cJSON_AddStringToObject(contents, "kind", "markdown");
    cJSON_AddStringToObject(contents, "value", text.data);
    cJSON_AddItemToObject(hover, "range", document_range(s, d, start, end));
  }
  indim_buffer_deinit(&text);
  return hover;
}
