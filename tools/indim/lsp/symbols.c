// The outline of a document: computations with their instructions, and what can be folded.
#include <stdlib.h>
#include <string.h>

#include "lsp.h"

enum { KIND_FUNCTION = 12, KIND_VARIABLE = 13, KIND_CONSTANT = 14, KIND_EVENT = 24, KIND_TYPE_PARAMETER = 26 };

static int kind_of(const document *d, const outline *o, const definition *named) {
  const token *op = named->op == NO_TOKEN ? NULL : &o->tokens[named->op];
  bool is_constant = op != NULL && op->end - op->start == 8 && memcmp(d->text + op->start, "constant", 8) == 0;
  return named->is_computation ? KIND_FUNCTION
         : named->is_parameter ? KIND_TYPE_PARAMETER
         : is_constant         ? KIND_CONSTANT
                               : KIND_VARIABLE;
}

// "f32[2,3] add": the op, and the shape if it is written.
static void add_detail(const document *d, const outline *o, const definition *named, cJSON *object) {
  indim_str shape = {"", 0};
  indim_str op = {"", 0};
  if (named->shape_first != NO_TOKEN && named->shape_end > named->shape_first) {
    uint32_t start = o->tokens[named->shape_first].start;
    shape = (indim_str){d->text + start, o->tokens[named->shape_end - 1].end - start};
  }
  if (named->op != NO_TOKEN) {
    op = (indim_str){d->text + o->tokens[named->op].start, o->tokens[named->op].end - o->tokens[named->op].start};
  }
  char text[160];
  snprintf(text, sizeof text, "%s%s%.*s%s%.*s", named->is_entry ? "ENTRY" : "", "",
           (int)(shape.size < 100 ? shape.size : 0), shape.data, shape.size > 0 && shape.size < 100 ? " " : "",
           (int)(op.size < 40 ? op.size : 40), op.data);
  if (text[0] != '\0') {
    cJSON_AddStringToObject(object, "detail", text);
  }
}

static cJSON *hierarchical(const server *s, document *d, const definition *named) {
  const outline *o = document_outline(d);
  const token *name = &o->tokens[named->name];
  cJSON *object = cJSON_CreateObject();
  cJSON_AddStringToObject(object, "name", named->text);
  add_detail(d, o, named, object);
  cJSON_AddNumberToObject(object, "kind", kind_of(d, o, named));
  cJSON_AddItemToObject(object, "range",
                        document_range(s, d, o->tokens[named->first].start, o->tokens[named->last].end));
  cJSON_AddItemToObject(object, "selectionRange", document_range(s, d, name->start, name->end));
  return object;
}

static cJSON *flat(const server *s, document *d, const definition *named) {
  const outline *o = document_outline(d);
  cJSON *object = cJSON_CreateObject();
  cJSON_AddStringToObject(object, "name", named->text);
  cJSON_AddNumberToObject(object, "kind", kind_of(d, o, named));
  cJSON *location = cJSON_AddObjectToObject(object, "location");
  cJSON_AddStringToObject(location, "uri", d->uri);
  cJSON_AddItemToObject(location, "range",
                        document_range(s, d, o->tokens[named->first].start, o->tokens[named->last].end));
  if (named->owner >= 0) {
    cJSON_AddStringToObject(object, "containerName", o->symbols[named->owner].text);
  }
  return object;
}

cJSON *answer_symbols(server *s, document *d, const cJSON *params, const char **out_error) {
  (void)params;
  (void)out_error;
  const outline *o = document_outline(d);
  cJSON *list = cJSON_CreateArray();
  cJSON **children = must_alloc((size_t)o->symbol_count * sizeof *children);  // of each computation
  for (int32_t i = 0; i < o->symbol_count; i++) {
    const definition *named = &o->symbols[i];
    if (!s->has_hierarchy) {
      cJSON_AddItemToArray(list, flat(s, d, named));
      continue;
    }
    cJSON *object = hierarchical(s, d, named);
    children[i] = named->is_computation ? cJSON_AddArrayToObject(object, "children") : NULL;
    cJSON_AddItemToArray(named->owner >= 0 ? children[named->owner] : list, object);
  }
  free(children);
  return list;
}

static void add_fold(const server *s, document *d, uint32_t start, uint32_t end, const char *kind, cJSON *list) {
  size_t first = 0;
  size_t last = 0;
  size_t character = 0;
  document_place(s, d, start, &first, &character);
  document_place(s, d, end, &last, &character);
  if (last > first) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddNumberToObject(object, "startLine", (double)first);
    cJSON_AddNumberToObject(object, "endLine", (double)last);
    if (kind != NULL) {
      cJSON_AddStringToObject(object, "kind", kind);
    }
    cJSON_AddItemToArray(list, object);
  }
}

cJSON *answer_folding(server *s, document *d, const cJSON *params, const char **out_error) {
  (void)params;
  (void)out_error;
  const outline *o = document_outline(d);
  cJSON *list = cJSON_CreateArray();
  for (int32_t i = 0; i < o->symbol_count; i++) {
    add_fold(s, d, o->tokens[o->symbols[i].first].start, o->tokens[o->symbols[i].last].end, NULL, list);
  }
  for (uint32_t i = 0; i < o->token_count; i++) {  // comments that follow each other
    uint32_t first = i;
    while (o->tokens[i].kind == TOKEN_COMMENT && i + 1 < o->token_count && o->tokens[i + 1].kind == TOKEN_COMMENT) {
      i++;
    }
    if (o->tokens[i].kind == TOKEN_COMMENT) {
      add_fold(s, d, o->tokens[first].start, o->tokens[i].end, "comment", list);
    }
  }
  return list;
}
