// Semantic tokens: what each token is, for colours. A name is a computation or an instruction, whatever it looks like.
#include <stdlib.h>

#include "lsp.h"

static const char *const types[] = {"function", "variable", "parameter", "method", "property",
                                    "type",     "keyword",  "number",    "string", "comment"};
enum {
  TYPE_FUNCTION,
  TYPE_VARIABLE,
  TYPE_PARAMETER,
  TYPE_METHOD,
  TYPE_PROPERTY,
  TYPE_TYPE,
  TYPE_KEYWORD,
  TYPE_NUMBER,
  TYPE_STRING,
  TYPE_COMMENT,
  TYPE_COUNT
};
static const char *const modifiers[] = {"definition"};

cJSON *semantic_legend(void) {
  cJSON *legend = cJSON_CreateObject();
  cJSON_AddItemToObject(legend, "tokenTypes", cJSON_CreateStringArray(types, TYPE_COUNT));
  cJSON_AddItemToObject(legend, "tokenModifiers", cJSON_CreateStringArray(modifiers, 1));
  return legend;
}

// -1: nothing to say of it.
static int type_of(const outline *o, const token *t) {
  static const int of_kind[] = {[TOKEN_NAME] = -1,
                                [TOKEN_ATTRIBUTE] = TYPE_PROPERTY,
                                [TOKEN_TYPE] = TYPE_TYPE,
                                [TOKEN_KEYWORD] = TYPE_KEYWORD,
                                [TOKEN_NUMBER] = TYPE_NUMBER,
                                [TOKEN_STRING] = TYPE_STRING,
                                [TOKEN_COMMENT] = TYPE_COMMENT,
                                [TOKEN_PUNCTUATION] = -1,
                                [TOKEN_WRONG] = -1};
  switch ((token_role)t->role) {
  case ROLE_OP:
    return TYPE_METHOD;
  case ROLE_COMPUTATION:
    return TYPE_FUNCTION;
  case ROLE_INSTR:
    return t->symbol >= 0 && o->symbols[t->symbol].is_parameter ? TYPE_PARAMETER : TYPE_VARIABLE;
  case ROLE_LABEL:
    return TYPE_PARAMETER;
  case ROLE_NONE:
    break;
  }
  return of_kind[t->kind];
}

cJSON *answer_semantic_tokens(server *s, document *d, const cJSON *params, const char **out_error) {
  (void)params;
  (void)out_error;
  const outline *o = document_outline(d);
  indim_buffer data;
  indim_buffer_init(&data, s->cx);
  indim_buffer_text(&data, "{\"data\":[");
  size_t previous_line = 0;
  size_t previous_character = 0;
  bool is_first = true;
  for (uint32_t i = 0; i < o->token_count; i++) {
    const token *t = &o->tokens[i];
    int type = type_of(o, t);
    size_t line = 0, character = 0, end_line = 0, end_character = 0;
    if (type < 0) {
      continue;
    }
    document_place(s, d, t->start, &line, &character);
    document_place(s, d, t->end, &end_line, &end_character);
    if (end_line != line) {
      continue;  // editors take no token of several lines
    }
    bool is_definition = t->symbol >= 0 && o->symbols[t->symbol].name == i;
    indim_buffer_printf(&data, "%s%zu,%zu,%zu,%d,%d", is_first ? "" : ",", line - previous_line,
                        line == previous_line ? character - previous_character : character, end_character - character,
                        type, is_definition ? 1 : 0);
    is_first = false;
    previous_line = line;
    previous_character = character;
  }
  indim_buffer_text(&data, "]}");
  cJSON *result = data.status == INDIM_OK ? cJSON_CreateRaw(data.data) : NULL;
  indim_buffer_deinit(&data);
  return result;
}
