// Where in an outline a place is.
#include "lsp.h"

uint32_t outline_next(const outline *o, uint32_t at) {
  do {
    at++;
  } while (at < o->token_count && o->tokens[at].kind == TOKEN_COMMENT);
  return at < o->token_count ? at : NO_TOKEN;
}

uint32_t outline_previous(const outline *o, uint32_t at) {
  while (at-- > 0) {
    if (o->tokens[at].kind != TOKEN_COMMENT) {
      return at;
    }
  }
  return NO_TOKEN;
}

uint32_t outline_token_at(const outline *o, uint32_t offset) {
  uint32_t low = 0;
  uint32_t high = o->token_count;
  while (low < high) {  // the last token that begins at the byte or before it
    uint32_t middle = low + (high - low) / 2;
    if (o->tokens[middle].start <= offset) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low > 0 && offset < o->tokens[low - 1].end && o->tokens[low - 1].kind != TOKEN_PUNCTUATION) {
    return low - 1;
  }
  if (low > 1 && o->tokens[low - 1].start == offset && o->tokens[low - 2].end == offset &&
      o->tokens[low - 2].kind != TOKEN_PUNCTUATION) {
    return low - 2;  // between a name and a sign the name is meant
  }
  return low > 0 && offset <= o->tokens[low - 1].end ? low - 1 : NO_TOKEN;
}

static int32_t innermost(const outline *o, uint32_t offset, bool is_computation) {
  int32_t found = -1;
  for (int32_t i = 0; i < o->symbol_count; i++) {
    const definition *s = &o->symbols[i];
    bool holds = o->tokens[s->first].start <= offset && s->last < o->token_count && offset <= o->tokens[s->last].end;
    found = s->is_computation == is_computation && holds ? i : found;
  }
  return found;
}

int32_t outline_computation_at(const outline *o, uint32_t offset) { return innermost(o, offset, true); }
int32_t outline_instr_at(const outline *o, uint32_t offset) { return innermost(o, offset, false); }
