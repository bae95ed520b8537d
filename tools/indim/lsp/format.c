// Formatting: the canonical text, with the comments at their places. A comment stands before an instruction or a
// computation, behind one on its last line, or at the end of a body; from inside an instruction it moves before it. What
// XLA itself writes, /*index=5*/, is left out.
#include <stdlib.h>
#include <string.h>

#include "indim/text.h"
#include "lsp.h"

typedef struct insertion {
  size_t offset;
  size_t order;
  char *text;
} insertion;

typedef struct formatting {
  document *d;
  const outline *old;
  const char *text;  // canonical
  size_t size;
  const outline *canonical;
  insertion *insertions;
  uint32_t count;
  uint32_t capacity;
} formatting;

static unsigned flags_of(const document *d, const outline *o) {
  unsigned flags = 0;
  for (uint32_t i = 0; i < o->token_count; i++) {
    const token *t = &o->tokens[i];
    size_t size = t->end - t->start;
    const char *text = d->text + t->start;
    bool is_metadata = (t->kind == TOKEN_ATTRIBUTE && size == 8 && memcmp(text, "metadata", 8) == 0) ||
                       (t->kind == TOKEN_KEYWORD && size == 9 && memcmp(text, "FileNames", 9) == 0);
    flags |= is_metadata ? (unsigned)INDIM_PRINT_METADATA : 0;
    flags |= t->kind == TOKEN_NAME && text[0] == '%' ? (unsigned)INDIM_PRINT_PERCENT : 0;
  }
  for (int32_t i = 0; i < o->symbol_count; i++) {
    uint32_t next =
        o->symbols[i].is_computation && o->symbols[i].owner < 0 ? outline_next(o, o->symbols[i].name) : NO_TOKEN;
    bool has_shape = next != NO_TOKEN && d->text[o->tokens[next].start] == '(';
    flags |=
        has_shape && o->tokens[o->symbols[i].name].role == ROLE_COMPUTATION ? (unsigned)INDIM_PRINT_PROGRAM_SHAPES : 0;
  }
  return flags;
}

// Comments -----------------------------------------------------------------------------------------------------------

// Not those that count, which printers write: /*index=5*/ between operands, /*i0=1*/ between rows of a constant.
static bool is_kept(const char *text, const token *t) {
  const char *at = text + t->start + 2;
  if (t->kind != TOKEN_COMMENT || text[t->start + 1] != '*' || *at != 'i') {
    return t->kind == TOKEN_COMMENT;
  }
  at += strncmp(at, "index", 5) == 0 ? 5 : 1;
  at += strspn(at, "0123456789");
  bool has_sign = *at == '=';
  at += has_sign ? 1 + strspn(at + 1, "0123456789") : 0;
  return !has_sign || strncmp(at, "*/", 2) != 0;
}

static bool has_line_end(const char *text, size_t start, size_t end) {
  return memchr(text + start, '\n', end - start) != NULL;
}

static int32_t find_symbol(const outline *o, const outline *in, int32_t symbol) {
  const definition *wanted = &o->symbols[symbol];
  for (int32_t i = 0; i < in->symbol_count; i++) {
    const definition *s = &in->symbols[i];
    bool same = s->is_computation == wanted->is_computation && strcmp(s->text, wanted->text) == 0;
    if (same && (s->is_computation || strcmp(in->symbols[s->owner].text, o->symbols[wanted->owner].text) == 0)) {
      return i;
    }
  }
  return -1;
}

// The symbol whose text holds the token: an instruction rather than its computation, and of those inside each other the
// outermost instruction in a computation that has a name.
static int32_t holder(const outline *o, uint32_t at) {
  int32_t found = -1;
  for (int32_t i = 0; i < o->symbol_count; i++) {
    if (o->symbols[i].first <= at && at <= o->symbols[i].last) {
      found = i;
    }
  }
  return found;
}

static void insert(formatting *f, size_t offset, const char *before, const token *comment, const char *after) {
  if (f->count == f->capacity) {
    f->insertions = must_grow(f->insertions, &f->capacity, sizeof *f->insertions);
  }
  size_t size = comment->end - comment->start;
  char *text = must_alloc(strlen(before) + size + strlen(after) + 1);
  strcpy(text, before);
  memcpy(text + strlen(before), f->d->text + comment->start, size);
  strcpy(text + strlen(before) + size, after);
  f->insertions[f->count] = (insertion){offset, f->count, text};
  f->count++;
}

static void insert_before_line(formatting *f, size_t offset, bool is_indented, const token *comment) {
  while (offset > 0 && f->text[offset - 1] != '\n') {
    offset--;
  }
  insert(f, offset, is_indented ? "  " : "", comment, "\n");
}

// What would stand behind a comment to the end of the line goes before the line.
static void insert_at_line_end(formatting *f, size_t offset, bool is_indented, const token *comment) {
  size_t end = offset;
  while (end < f->size && f->text[end] != '\n') {
    end++;
  }
  bool is_ended = false;
  for (uint32_t i = f->count; i > 0 && f->insertions[i - 1].offset + 2 >= offset && !is_ended; i--) {
    is_ended = f->insertions[i - 1].offset == end && strncmp(f->insertions[i - 1].text, " //", 3) == 0;
  }
  if (is_ended) {
    insert_before_line(f, offset, is_indented, comment);
  } else {
    insert(f, end, " ", comment, "");
  }
}

static bool is_brace(const formatting *f, uint32_t at) {
  const token *t = &f->old->tokens[at];
  return t->kind == TOKEN_PUNCTUATION && f->d->text[t->start] == '}';
}

// False if the place of the comment is not in the canonical text.
static bool place_comment(formatting *f, uint32_t at) {
  const token *comment = &f->old->tokens[at];
  const outline *c = f->canonical;
  uint32_t before = outline_previous(f->old, at);
  uint32_t next = outline_next(f->old, at);
  bool follows = before != NO_TOKEN && !has_line_end(f->d->text, f->old->tokens[before].end, comment->start);
  bool is_last = next == NO_TOKEN || has_line_end(f->d->text, comment->end, f->old->tokens[next].start);
  bool is_behind = follows && is_last;
  int32_t symbol = is_behind ? holder(f->old, before) : next == NO_TOKEN ? -1 : holder(f->old, next);
  if (!is_behind && next == NO_TOKEN) {
    insert(f, f->size, "", comment, "\n");
    return true;
  }
  if (symbol < 0) {  // about the header
    bool is_first = before == NO_TOKEN;
    if (is_first) {
      insert_before_line(f, 0, false, comment);
    } else {
      insert_at_line_end(f, 0, false, comment);
    }
    return true;
  }
  int32_t found = find_symbol(f->old, c, symbol);
  if (found < 0) {
    return false;
  }
  const definition *there = &c->symbols[found];
  bool is_computation = there->is_computation;
  uint32_t reference = is_behind ? before : next;
  bool is_end = is_computation && reference == f->old->symbols[symbol].last && is_brace(f, reference);
  size_t start = c->tokens[is_end ? there->last : there->first].start;
  if (is_behind) {
    insert_at_line_end(f, start, !is_computation || is_end, comment);
  } else {
    insert_before_line(f, start, !is_computation || is_end, comment);
  }
  return true;
}

static int compare_insertions(const void *a, const void *b) {
  const insertion *x = a;
  const insertion *y = b;
  int order = x->offset < y->offset ? -1 : x->offset > y->offset;
  return order != 0 ? order : x->order < y->order ? -1 : 1;
}

static char *merge(const formatting *f) {
  size_t size = f->size;
  for (uint32_t i = 0; i < f->count; i++) {
    size += strlen(f->insertions[i].text);
  }
  char *merged = must_alloc(size + 1);
  size_t at = 0;
  size_t copied = 0;
  if (f->count > 0) {
    qsort(f->insertions, f->count, sizeof *f->insertions, compare_insertions);
  }
  for (uint32_t i = 0; i < f->count; i++) {
    const insertion *in = &f->insertions[i];
    memcpy(merged + at, f->text + copied, in->offset - copied);
    at += in->offset - copied;
    copied = in->offset;
    memcpy(merged + at, in->text, strlen(in->text));
    at += strlen(in->text);
  }
  memcpy(merged + at, f->text + copied, f->size - copied);
  merged[size] = '\0';
  return merged;
}

// The canonical text with the comments of the old one; NULL, and the line of the comment, if one has no place.
static char *with_comments(server *s, document *d, const char *text, size_t size, size_t *out_line) {
  outline *canonical = outline_make(text, size);
  formatting f = {.d = d, .old = document_outline(d), .text = text, .size = size, .canonical = canonical};
  bool all_placed = true;
  for (uint32_t i = 0; i < f.old->token_count && all_placed; i++) {
    if (is_kept(d->text, &f.old->tokens[i])) {
      size_t character = 0;
      all_placed = place_comment(&f, i);
      document_place(s, d, f.old->tokens[i].start, out_line, &character);
    }
  }
  char *merged = all_placed ? merge(&f) : NULL;
  for (uint32_t i = 0; i < f.count; i++) {
    free(f.insertions[i].text);
  }
  free(f.insertions);
  outline_free(canonical);
  return merged;
}

// Whether the text is the same program; comments could only have changed that by a defect of ours.
static bool is_same_program(server *s, const char *text, unsigned flags, const indim_buffer *canonical) {
  indim_module *module = NULL;
  indim_buffer printed;
  indim_buffer_init(&printed, s->cx);
  bool same = indim_module_parse(s->cx, indim_str_of(""), indim_str_of(text), &module) == INDIM_OK;
  if (same) {
    indim_module_print(module, flags, &printed);
    same = printed.size == canonical->size && memcmp(printed.data, canonical->data, printed.size) == 0;
  }
  indim_module_destroy(module);
  indim_buffer_deinit(&printed);
  return same;
}

// One edit, of the lines that differ.
static cJSON *edits_to(const server *s, document *d, const char *text) {
  size_t size = strlen(text);
  size_t first = 0;
  size_t last = 0;
  for (size_t i = 0; i < size && i < d->size && text[i] == d->text[i]; i++) {
    first = text[i] == '\n' ? i + 1 : first;
  }
  for (size_t i = 1; i <= size - first && i <= d->size - first && text[size - i] == d->text[d->size - i]; i++) {
    last = text[size - i] == '\n' ? i - 1 : last;  // what follows the line end
  }
  cJSON *list = cJSON_CreateArray();
  if (size != d->size || memcmp(text, d->text, size) != 0) {
    char *changed = copy_text(text + first, size - last - first);
    cJSON_AddItemToArray(list, document_edit(s, d, first, d->size - last, changed));
    free(changed);
  }
  return list;
}

static cJSON *format(server *s, document *d, const indim_module *module, const char **out_error) {
  static char message[120];  // stays until the next request
  unsigned flags = flags_of(d, document_outline(d));
  size_t line = 0;
  cJSON *edits = NULL;
  indim_buffer canonical;
  indim_buffer_init(&canonical, s->cx);
  indim_module_print(module, flags, &canonical);
  char *text = canonical.status == INDIM_OK ? with_comments(s, d, canonical.data, canonical.size, &line) : NULL;
  if (canonical.status != INDIM_OK) {
    *out_error = "out of memory";
  } else if (text == NULL || !is_same_program(s, text, flags, &canonical)) {
    snprintf(message, sizeof message, "not formatted: the comment in line %zu has no place in the canonical text",
             line + 1);
    *out_error = message;
  } else {
    edits = edits_to(s, d, text);
  }
  free(text);
  indim_buffer_deinit(&canonical);
  return edits;
}

cJSON *answer_formatting(server *s, document *d, const cJSON *params, const char **out_error) {
  (void)params;
  indim_module *module = NULL;
  cJSON *edits = NULL;
  // Of HLO text alone, which the parser for it tells; a text with mistakes stays as it is.
  if (indim_module_parse(s->cx, indim_str_of(""), indim_str_of(d->text), &module) == INDIM_OK) {
    edits = format(s, d, module, out_error);
  }
  indim_module_destroy(module);
  return edits;
}
