// From a name to where it is defined, and to where it is used.
#include "lsp.h"

uint32_t name_start(const document *d, const token *t) { return t->start + (d->text[t->start] == '%'); }

int32_t symbol_at(server *s, document *d, const cJSON *params, uint32_t *out_token) {
  uint32_t offset = 0;
  if (!document_offset(s, d, cJSON_GetObjectItemCaseSensitive(params, "position"), &offset)) {
    return -1;
  }
  const outline *o = document_outline(d);
  *out_token = outline_token_at(o, offset);
  return *out_token == NO_TOKEN ? -1 : o->tokens[*out_token].symbol;
}

static cJSON *location(const server *s, document *d, uint32_t at) {
  const token *t = &document_outline(d)->tokens[at];
  cJSON *object = cJSON_CreateObject();
  cJSON_AddStringToObject(object, "uri", d->uri);
  cJSON_AddItemToObject(object, "range", document_range(s, d, name_start(d, t), t->end));
  return object;
}

cJSON *answer_definition(server *s, document *d, const cJSON *params, const char **out_error) {
  (void)out_error;
  uint32_t at = NO_TOKEN;
  int32_t symbol = symbol_at(s, d, params, &at);
  return symbol < 0 ? NULL : location(s, d, document_outline(d)->symbols[symbol].name);
}

cJSON *answer_references(server *s, document *d, const cJSON *params, const char **out_error) {
  (void)out_error;
  uint32_t at = NO_TOKEN;
  int32_t symbol = symbol_at(s, d, params, &at);
  if (symbol < 0) {
    return NULL;
  }
  const outline *o = document_outline(d);
  const cJSON *context = cJSON_GetObjectItemCaseSensitive(params, "context");
  bool with_definition = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(context, "includeDeclaration"));
  cJSON *list = cJSON_CreateArray();
  for (uint32_t i = 0; i < o->token_count; i++) {
    if (o->tokens[i].symbol == symbol && (with_definition || i != o->symbols[symbol].name)) {
      cJSON_AddItemToArray(list, location(s, d, i));
    }
  }
  return list;
}

cJSON *answer_highlight(server *s, document *d, const cJSON *params, const char **out_error) {
  (void)out_error;
  enum { READ = 2, WRITE = 3 };
  uint32_t at = NO_TOKEN;
  int32_t symbol = symbol_at(s, d, params, &at);
  const outline *o = document_outline(d);
  cJSON *list = symbol < 0 ? NULL : cJSON_CreateArray();
  for (uint32_t i = 0; list != NULL && i < o->token_count; i++) {
    const token *t = &o->tokens[i];
    if (t->symbol == symbol) {
      cJSON *object = cJSON_CreateObject();
      cJSON_AddItemToObject(object, "range", document_range(s, d, name_start(d, t), t->end));
      cJSON_AddNumberToObject(object, "kind", i == o->symbols[symbol].name ? WRITE : READ);
      cJSON_AddItemToArray(list, object);
    }
  }
  return list;
}
