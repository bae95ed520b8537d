// Inlay hints: the shapes that the text leaves out.
#include "indim/shape.h"
#include "lsp.h"

static cJSON *hint_of(const server *s, document *d, const definition *named, const indim_instr *instr) {
  const token *op = &document_outline(d)->tokens[named->op];
  indim_buffer label;
  indim_buffer_init(&label, s->cx);
  indim_shape_print(indim_instr_shape(instr), false, &label);
  cJSON *hint = NULL;
  if (label.status == INDIM_OK) {
    enum { TYPE = 1 };
    hint = cJSON_CreateObject();
    cJSON_AddItemToObject(hint, "position", document_position(s, d, op->start));
    cJSON_AddStringToObject(hint, "label", label.data);
    cJSON_AddNumberToObject(hint, "kind", TYPE);
    cJSON_AddTrueToObject(hint, "paddingRight");
  }
  indim_buffer_deinit(&label);
  return hint;
}

cJSON *answer_inlay_hints(server *s, document *d, const cJSON *params, const char **out_error) {
  uint32_t start = 0;
  uint32_t end = 0;
  const cJSON *range = cJSON_GetObjectItemCaseSensitive(params, "range");
  if (!document_offset(s, d, cJSON_GetObjectItemCaseSensitive(range, "start"), &start) ||
      !document_offset(s, d, cJSON_GetObjectItemCaseSensitive(range, "end"), &end)) {
    *out_error = "the range is malformed";
    return NULL;
  }
  const outline *o = document_outline(d);
  cJSON *list = cJSON_CreateArray();
  for (int32_t i = 0; i < o->symbol_count; i++) {
    const definition *named = &o->symbols[i];
    bool is_written = named->shape_first != NO_TOKEN && named->shape_end > named->shape_first;
    if (named->is_computation || is_written || named->op == NO_TOKEN || o->tokens[named->op].start < start ||
        o->tokens[named->op].start > end) {
      continue;
    }
    const indim_instr *instr = symbol_instr(s, d, i);
    if (instr != NULL) {
      cJSON_AddItemToArray(list, hint_of(s, d, named, instr));
    }
  }
  return list;
}
