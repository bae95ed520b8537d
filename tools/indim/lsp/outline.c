// What stands in a text: computations, instructions, and what each name names. One pass over the tokens, by the
// grammar where it fits, and on to the next instruction or computation where it does not.
#include <stdlib.h>
#include <string.h>

#include "lsp.h"

enum { MAX_NESTING = 200 };

// Names that are looked up when all symbols are known.
typedef struct reference {
  uint32_t token;
  int32_t owner;  // the computation in which an instruction is looked for; -1: a computation
} reference;

typedef struct walk {
  outline *o;
  const char *text;
  uint32_t at;  // current token, never a comment
  uint32_t symbol_capacity;
  uint32_t shape_capacity;
  reference *references;
  uint32_t reference_count;
  uint32_t reference_capacity;
  int32_t inline_count;
  int nesting;
} walk;

// Tokens -------------------------------------------------------------------------------------------------------------

static bool at_end(const walk *w) { return w->at >= w->o->token_count; }
static int kind_at(const walk *w, uint32_t at) { return at < w->o->token_count ? (int)w->o->tokens[at].kind : -1; }

static bool is_text(const walk *w, uint32_t at, const char *text) {
  size_t size = strlen(text);
  if (at >= w->o->token_count) {
    return false;
  }
  const token *t = &w->o->tokens[at];
  return t->end - t->start == size && memcmp(w->text + t->start, text, size) == 0;
}

static bool is_sign(const walk *w, uint32_t at, const char *sign) {
  return kind_at(w, at) == TOKEN_PUNCTUATION && is_text(w, at, sign);
}

static bool is_here(const walk *w, const char *sign) { return is_sign(w, w->at, sign); }
static uint32_t ahead(const walk *w) { return at_end(w) ? NO_TOKEN : outline_next(w->o, w->at); }

static void step(walk *w) {
  uint32_t next = ahead(w);
  w->at = next == NO_TOKEN ? w->o->token_count : next;
}

static bool eat(walk *w, const char *sign) {
  bool found = is_here(w, sign);
  if (found) {
    step(w);
  }
  return found;
}

// From a bracket to behind the one that closes it, or to where the brackets around it end.
static void skip_group(walk *w) {
  int depth = 0;
  do {
    bool opens = is_here(w, "{") || is_here(w, "(") || is_here(w, "[");
    bool closes = is_here(w, "}") || is_here(w, ")") || is_here(w, "]");
    depth += opens ? 1 : closes ? -1 : 0;
    if (depth < 0 || (kind_at(w, w->at) == TOKEN_KEYWORD && is_text(w, w->at, "ENTRY"))) {
      return;
    }
    step(w);
  } while (depth > 0 && !at_end(w));
}

// Symbols ------------------------------------------------------------------------------------------------------------

static char *name_of(const walk *w, uint32_t at) {
  const token *t = &w->o->tokens[at];
  uint32_t start = t->start + (w->text[t->start] == '%');
  char *name = must_alloc(t->end - start + 1);
  memcpy(name, w->text + start, t->end - start);
  name[t->end - start] = '\0';
  return name;
}

// |text| becomes the symbol's.
static int32_t add_symbol(walk *w, definition added) {
  outline *o = w->o;
  if ((uint32_t)o->symbol_count == w->symbol_capacity) {
    o->symbols = must_grow(o->symbols, &w->symbol_capacity, sizeof *o->symbols);
  }
  o->symbols[o->symbol_count] = added;
  return o->symbol_count++;
}

static void add_reference(walk *w, uint32_t at, int32_t owner) {
  w->o->tokens[at].role = owner < 0 ? ROLE_COMPUTATION : ROLE_INSTR;
  if (w->reference_count == w->reference_capacity) {
    w->references = must_grow(w->references, &w->reference_capacity, sizeof *w->references);
  }
  w->references[w->reference_count++] = (reference){at, owner};
}

// An array's shape, its layout included: a '{' behind it is one if it begins with what a layout begins with.
static void skip_array(walk *w) {
  outline *o = w->o;
  if (o->shape_count == w->shape_capacity) {
    o->shapes = must_grow(o->shapes, &w->shape_capacity, sizeof *o->shapes);
  }
  o->shapes[o->shape_count++] = w->at;
  step(w);
  if (is_here(w, "[")) {
    skip_group(w);
    uint32_t inside = ahead(w);
    bool is_layout =
        is_here(w, "{") && (kind_at(w, inside) == TOKEN_NUMBER || is_sign(w, inside, ":") || is_sign(w, inside, "}"));
    if (is_layout) {
      skip_group(w);
    }
  }
}

// An array's shape or a tuple of them.
static void skip_shape(walk *w) {
  if (kind_at(w, w->at) == TOKEN_TYPE) {
    skip_array(w);
    return;
  }
  int depth = 0;
  while (!at_end(w)) {
    if (kind_at(w, w->at) == TOKEN_TYPE) {
      skip_array(w);
      continue;
    }
    depth += is_here(w, "(") ? 1 : is_here(w, ")") ? -1 : 0;
    bool is_part = is_here(w, "(") || is_here(w, ")") || is_here(w, ",");
    if (!is_part || depth < 0) {
      return;
    }
    step(w);
    if (depth == 0) {
      return;
    }
  }
}

// Instructions -------------------------------------------------------------------------------------------------------

// "name =", or ROOT before it.
static bool begins_instr(const walk *w) {
  bool is_root = kind_at(w, w->at) == TOKEN_KEYWORD && is_text(w, w->at, "ROOT");
  uint32_t next = ahead(w);
  return is_root || (kind_at(w, w->at) == TOKEN_NAME && is_sign(w, next, "="));
}

// A computation begins where an instruction might: "ENTRY", or "name {", "name (" at the beginning of a line.
static bool begins_computation(const walk *w) {
  if (kind_at(w, w->at) == TOKEN_KEYWORD) {
    return is_text(w, w->at, "ENTRY");
  }
  uint32_t start = at_end(w) ? 0 : w->o->tokens[w->at].start;
  bool is_first = start == 0 || w->text[start - 1] == '\n';
  uint32_t next = ahead(w);
  return kind_at(w, w->at) == TOKEN_NAME && is_first && (is_sign(w, next, "{") || is_sign(w, next, "("));
}

// What stands between the parentheses; the values of a constant name nothing.
static void read_operands(walk *w, int32_t owner, bool are_values) {
  int depth = 0;
  do {
    depth += is_here(w, "(") ? 1 : is_here(w, ")") ? -1 : 0;
    if (kind_at(w, w->at) == TOKEN_TYPE) {
      skip_array(w);
      continue;
    }
    if (begins_instr(w) || is_here(w, "}")) {
      return;  // not closed
    }
    if (is_here(w, "{")) {
      skip_group(w);
      continue;
    }
    if (kind_at(w, w->at) == TOKEN_NAME && !are_values) {
      if (is_sign(w, ahead(w), "(")) {
        w->o->tokens[w->at].role = ROLE_OP;
      } else {
        add_reference(w, w->at, owner);
      }
    }
    step(w);
  } while (depth > 0 && !at_end(w));
}

static void read_body(walk *w, int32_t self);

static bool names_computations(const walk *w, indim_op op, uint32_t at) {
  indim_op_attr_info info;
  for (int32_t i = 0; indim_op_attr_get(op, i, &info); i++) {
    if (info.names_computations && is_text(w, at, info.text)) {
      return true;
    }
  }
  return false;
}

static void read_inline_body(walk *w, int32_t owner) {
  char name[32];
  snprintf(name, sizeof name, w->inline_count == 0 ? "_" : "_.%d", (int)w->inline_count);
  w->inline_count++;
  char *text = must_alloc(strlen(name) + 1);
  strcpy(text, name);
  definition made = {true, false, false, owner, w->at, w->at, w->at, NO_TOKEN, NO_TOKEN, NO_TOKEN, text};
  int32_t self = add_symbol(w, made);
  w->nesting++;
  read_body(w, self);
  w->nesting--;
}

// The value of an attribute of an op, up to the comma or the end of the instruction.
static void read_value(walk *w, uint32_t attribute, int32_t owner, indim_op op) {
  bool is_computation = names_computations(w, op, attribute);
  bool is_instr = is_text(w, attribute, "control-predecessors");
  if (is_here(w, "{")) {
    walk inside = *w;
    step(&inside);
    if (is_computation && begins_instr(&inside) && w->nesting < MAX_NESTING) {
      read_inline_body(w, owner);
      return;
    }
    uint32_t first = w->at;
    skip_group(w);
    for (uint32_t i = first; i < w->at && (is_computation || is_instr); i++) {
      if (kind_at(w, i) == TOKEN_NAME) {
        add_reference(w, i, is_computation ? -1 : owner);
      }
    }
    return;
  }
  if (kind_at(w, w->at) == TOKEN_NAME && is_computation) {
    add_reference(w, w->at, -1);
  }
  if (kind_at(w, w->at) == TOKEN_TYPE || is_here(w, "(")) {
    skip_shape(w);
  } else if (!is_here(w, ",") && !is_here(w, "}") && !begins_instr(w)) {
    step(w);
    if (is_here(w, "{")) {  // a literal's values, a sharding
      skip_group(w);
    }
  }
}

static void read_attributes(walk *w, int32_t owner, indim_op op) {
  while (!at_end(w) && !is_here(w, "}") && !begins_instr(w) && !begins_computation(w)) {
    if (kind_at(w, w->at) == TOKEN_ATTRIBUTE) {
      uint32_t attribute = w->at;
      step(w);
      read_value(w, attribute, owner, op);
    } else if (is_here(w, "{") || is_here(w, "(") || is_here(w, "[")) {
      skip_group(w);
    } else {
      step(w);
    }
  }
}

static void read_instr(walk *w, int32_t owner) {
  definition made = {false, false, false, owner, NO_TOKEN, w->at, w->at, NO_TOKEN, NO_TOKEN, NO_TOKEN, NULL};
  indim_op op = INDIM_OP_COUNT;
  if (kind_at(w, w->at) == TOKEN_KEYWORD) {
    step(w);
  }
  if (kind_at(w, w->at) != TOKEN_NAME || !is_sign(w, ahead(w), "=")) {
    return;  // a ROOT without a name
  }
  made.name = w->at;
  made.text = name_of(w, w->at);
  int32_t self = add_symbol(w, made);
  w->o->tokens[w->at].role = ROLE_INSTR;
  w->o->tokens[w->at].symbol = self;
  step(w);
  step(w);
  if (kind_at(w, w->at) == TOKEN_TYPE || is_here(w, "(")) {
    w->o->symbols[self].shape_first = w->at;
    skip_shape(w);
    w->o->symbols[self].shape_end = w->at;
  }
  if (kind_at(w, w->at) == TOKEN_NAME && !begins_instr(w)) {
    w->o->symbols[self].op = w->at;
    w->o->symbols[self].is_parameter = is_text(w, w->at, "parameter");
    w->o->tokens[w->at].role = ROLE_OP;
    const token *t = &w->o->tokens[w->at];
    op = indim_op_parse((indim_str){w->text + t->start, t->end - t->start}, &op) ? op : INDIM_OP_COUNT;
    step(w);
    if (is_here(w, "(")) {
      read_operands(w, owner, op == INDIM_OP_CONSTANT);
    }
  }
  read_attributes(w, owner, op);
  uint32_t last = outline_previous(w->o, w->at);
  w->o->symbols[self].last = last;
}

// Computations -------------------------------------------------------------------------------------------------------

static void read_body(walk *w, int32_t self) {
  eat(w, "{");
  while (!at_end(w) && !is_here(w, "}") && !begins_computation(w)) {
    uint32_t before = w->at;
    if (begins_instr(w)) {
      read_instr(w, self);
    }
    if (w->at == before) {
      step(w);
    }
  }
  w->o->symbols[self].last = is_here(w, "}") ? w->at : outline_previous(w->o, w->at);
  eat(w, "}");
}

static void read_computation(walk *w) {
  definition made = {true, false, false, -1, NO_TOKEN, w->at, w->at, NO_TOKEN, NO_TOKEN, NO_TOKEN, NULL};
  if (kind_at(w, w->at) == TOKEN_KEYWORD) {
    made.is_entry = true;
    step(w);
  }
  if (kind_at(w, w->at) != TOKEN_NAME) {
    return;
  }
  made.name = w->at;
  made.text = name_of(w, w->at);
  int32_t self = add_symbol(w, made);
  w->o->tokens[w->at].role = ROLE_COMPUTATION;
  w->o->tokens[w->at].symbol = self;
  step(w);
  if (is_here(w, "(")) {
    int depth = 0;
    do {
      depth += is_here(w, "(") ? 1 : is_here(w, ")") ? -1 : 0;
      if (kind_at(w, w->at) == TOKEN_TYPE) {
        skip_array(w);
        continue;
      }
      if (kind_at(w, w->at) == TOKEN_NAME) {
        w->o->tokens[w->at].role = ROLE_LABEL;
      }
      step(w);
    } while (depth > 0 && !at_end(w));
    if (eat(w, "->")) {
      skip_shape(w);
    }
  }
  if (is_here(w, "{")) {
    read_body(w, self);
  }
  if (is_here(w, ",") && kind_at(w, ahead(w)) == TOKEN_ATTRIBUTE) {
    step(w);
    step(w);
    step(w);
  }
}

static void read_header(walk *w) {
  step(w);
  if (!at_end(w) && !is_here(w, ",")) {
    w->o->tokens[w->at].role = ROLE_LABEL;
    step(w);
  }
  while (eat(w, ",")) {
    if (kind_at(w, w->at) == TOKEN_ATTRIBUTE) {
      step(w);
    }
    if (is_here(w, "{") || is_here(w, "(")) {
      uint32_t first = w->at;
      skip_group(w);
      walk inside = *w;
      for (inside.at = first; inside.at < w->at;) {
        if (kind_at(&inside, inside.at) == TOKEN_TYPE) {
          skip_array(&inside);
        } else {
          step(&inside);
        }
      }
      w->shape_capacity = inside.shape_capacity;
    } else if (!is_here(w, ",") && !begins_computation(w)) {
      step(w);
    }
  }
}

// A lone instruction is a computation of its own, which the library calls "_".
static void read_single(walk *w) {
  char *text = must_alloc(2);
  strcpy(text, "_");
  definition made = {true, true, false, -1, w->at, w->at, w->at, NO_TOKEN, NO_TOKEN, NO_TOKEN, text};
  int32_t self = add_symbol(w, made);
  read_instr(w, self);
  w->o->symbols[self].last = outline_previous(w->o, w->at);
}

static void read_text(walk *w) {
  while (!at_end(w)) {
    uint32_t before = w->at;
    bool is_name = kind_at(w, w->at) == TOKEN_NAME;
    if (kind_at(w, w->at) == TOKEN_KEYWORD && is_text(w, w->at, "HloModule")) {
      read_header(w);
    } else if (begins_instr(w)) {
      read_single(w);
    } else if (begins_computation(w) || (is_name && (is_sign(w, ahead(w), "{") || is_sign(w, ahead(w), "(")))) {
      read_computation(w);
    }
    if (w->at == before) {
      step(w);
    }
  }
}

// Names --------------------------------------------------------------------------------------------------------------

typedef struct name_key {
  const char *text;
  int32_t owner;  // -1: a computation
  int32_t symbol;
} name_key;

static int compare_names(const name_key *a, const name_key *b) {
  int order = a->owner < b->owner ? -1 : a->owner > b->owner;
  return order != 0 ? order : strcmp(a->text, b->text);
}

static int compare_keys(const void *a, const void *b) {
  const name_key *x = a;
  const name_key *y = b;
  int order = compare_names(x, y);
  return order != 0 ? order : x->symbol < y->symbol ? -1 : x->symbol > y->symbol;
}

// The first symbol of a name, if it comes twice.
static int32_t find_name(const name_key *keys, uint32_t count, const char *text, int32_t owner) {
  name_key wanted = {text, owner, -1};
  uint32_t low = 0;
  uint32_t high = count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (compare_names(&keys[middle], &wanted) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < count && compare_names(&keys[low], &wanted) == 0 ? keys[low].symbol : -1;
}

static void resolve(walk *w) {
  outline *o = w->o;
  name_key *keys = must_alloc((size_t)o->symbol_count * sizeof *keys);
  for (int32_t i = 0; i < o->symbol_count; i++) {
    const definition *s = &o->symbols[i];
    keys[i] = (name_key){s->text, s->is_computation ? -1 : s->owner, i};
  }
  qsort(keys, (size_t)o->symbol_count, sizeof *keys, compare_keys);
  for (uint32_t i = 0; i < w->reference_count; i++) {
    const reference *r = &w->references[i];
    char *name = name_of(w, r->token);
    o->tokens[r->token].symbol = find_name(keys, (uint32_t)o->symbol_count, name, r->owner);
    free(name);
  }
  free(keys);
}

// Asking -------------------------------------------------------------------------------------------------------------

uint32_t outline_shape_end(const outline *o, const char *text, uint32_t at) {
  outline scratch = {.tokens = o->tokens, .token_count = o->token_count};
  walk w = {.o = &scratch, .text = text, .at = at};
  skip_array(&w);
  free(scratch.shapes);
  return w.at;
}

outline *outline_make(const char *text, size_t size) {
  outline *o = must_alloc(sizeof *o);
  *o = (outline){0};
  o->tokens = scan_tokens(text, size, &o->token_count);
  walk w = {.o = o, .text = text};
  while (kind_at(&w, w.at) == TOKEN_COMMENT) {
    w.at++;
  }
  read_text(&w);
  resolve(&w);
  free(w.references);
  return o;
}

void outline_free(outline *o) {
  if (o == NULL) {
    return;
  }
  for (int32_t i = 0; i < o->symbol_count; i++) {
    free(o->symbols[i].text);
  }
  free(o->symbols);
  free(o->shapes);
  free(o->tokens);
  free(o);
}
