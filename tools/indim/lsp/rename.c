// Renaming: every token that names the symbol. A text that was right must be right afterwards, with the same meaning.
#include <stdlib.h>
#include <string.h>

#include "indim/text.h"
#include "lsp.h"

cJSON *answer_prepare_rename(server *s, document *d, const cJSON *params, const char **out_error) {
  (void)out_error;
  uint32_t at = NO_TOKEN;
  if (symbol_at(s, d, params, &at) < 0) {
    return NULL;
  }
  const token *t = &document_outline(d)->tokens[at];
  return document_range(s, d, name_start(d, t), t->end);
}

static bool is_name(const char *text) {
  uint32_t count = 0;
  token *tokens = scan_tokens(text, strlen(text), &count);
  bool is_one = count == 1 && tokens[0].kind == TOKEN_NAME && text[0] != '%' && tokens[0].end == strlen(text);
  free(tokens);
  return is_one;
}

// Whether another symbol of the same computation, or another computation, has the name.
static bool is_taken(const outline *o, int32_t symbol, const char *name) {
  const definition *renamed = &o->symbols[symbol];
  for (int32_t i = 0; i < o->symbol_count; i++) {
    const definition *other = &o->symbols[i];
    bool same_kind = other->is_computation == renamed->is_computation;
    if (i != symbol && same_kind && (other->is_computation || other->owner == renamed->owner) &&
        strcmp(other->text, name) == 0) {
      return true;
    }
  }
  return false;
}

static char *renamed_text(document *d, int32_t symbol, const char *name) {
  const outline *o = document_outline(d);
  size_t added = strlen(name);
  size_t uses = 0;
  for (uint32_t i = 0; i < o->token_count; i++) {
    uses += o->tokens[i].symbol == symbol;
  }
  char *text = must_alloc(d->size + uses * added + 1);
  size_t size = 0;
  uint32_t copied = 0;
  for (uint32_t i = 0; i < o->token_count; i++) {
    const token *t = &o->tokens[i];
    if (t->symbol == symbol) {
      uint32_t start = name_start(d, t);
      memcpy(text + size, d->text + copied, start - copied);
      size += start - copied;
      memcpy(text + size, name, added);
      size += added;
      copied = t->end;
    }
  }
  memcpy(text + size, d->text + copied, d->size - copied + 1);
  return text;
}

// Whether the library, too, reads the new text; what it says against that stays in |reason|.
static bool still_reads(server *s, document *d, int32_t symbol, const char *name, char *reason, size_t capacity) {
  if (!analyse(s, d) || d->module == NULL) {
    return true;
  }
  char *text = renamed_text(d, symbol, name);
  indim_module *module = NULL;
  bool reads = indim_module_parse(s->cx, indim_str_of(""), indim_str_of(text), &module) == INDIM_OK;
  const indim_diagnostic *problem = indim_ctx_diagnostic_get(s->cx, 0);
  snprintf(reason, capacity, "%s", problem == NULL ? "" : problem->message);
  indim_ctx_diagnostics_clear(s->cx);
  indim_module_destroy(module);
  free(text);
  return reads;
}

cJSON *answer_rename(server *s, document *d, const cJSON *params, const char **out_error) {
  static char reason[896];  // stays until the next request; as long as a message
  uint32_t at = NO_TOKEN;
  int32_t symbol = symbol_at(s, d, params, &at);
  const cJSON *new_name = cJSON_GetObjectItemCaseSensitive(params, "newName");
  const char *name = cJSON_IsString(new_name) ? new_name->valuestring : "";
  name += name[0] == '%';
  if (symbol < 0) {
    *out_error = "no instruction or computation is named here";
  } else if (!is_name(name)) {
    *out_error =
        "a name is letters, digits, '_', '.' and '-', begins with a letter or '_', and is no word of the language";
  } else if (is_taken(document_outline(d), symbol, name)) {
    *out_error = "the name is taken";
  } else if (!still_reads(s, d, symbol, name, reason, sizeof reason)) {
    *out_error = reason;
  }
  if (*out_error != NULL) {
    return NULL;
  }
  const outline *o = document_outline(d);
  cJSON *result = cJSON_CreateObject();
  cJSON *edits = cJSON_AddArrayToObject(cJSON_AddObjectToObject(result, "changes"), d->uri);
  for (uint32_t i = 0; i < o->token_count; i++) {
    const token *t = &o->tokens[i];
    if (t->symbol == symbol) {
      cJSON_AddItemToArray(edits, document_edit(s, d, name_start(d, t), t->end, name));
    }
  }
  return result;
}
