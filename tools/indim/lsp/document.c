// Documents as the editor has them: opened, changed, closed, and places in them counted its way.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lsp.h"

void *must_grow(void *items, uint32_t *capacity, size_t item_size) {
  uint32_t wanted = *capacity == 0 ? 64 : *capacity * 2;
  void *grown = wanted > *capacity ? realloc(items, wanted * item_size) : NULL;
  if (grown == NULL) {
    fputs("indim: out of memory\n", stderr);
    exit(EXIT_MEMORY);
  }
  *capacity = wanted;
  return grown;
}

char *copy_text(const char *text, size_t size) {
  char *copy = must_alloc(size + 1);
  memcpy(copy, text, size);
  copy[size] = '\0';
  return copy;
}

// The list -----------------------------------------------------------------------------------------------------------

document *document_find(const server *s, const char *uri) {
  for (size_t i = 0; i < s->document_count; i++) {
    if (strcmp(s->documents[i]->uri, uri) == 0) {
      return s->documents[i];
    }
  }
  return NULL;
}

// What was known of the text that was.
static void forget(document *d) {
  free(d->lines);
  outline_free(d->outline);
  analysis_drop(d);
  d->lines = NULL;
  d->line_count = 0;
  d->place_at = 0;
  d->place_units = 0;
  d->outline = NULL;
}

static void set_text(document *d, char *text) {
  forget(d);
  free(d->text);
  d->text = text;
  d->size = strlen(text);
  d->is_dirty = true;
}

void document_open(server *s, const char *uri, const char *text, double version) {
  document *d = document_find(s, uri);
  if (d == NULL) {
    document **grown = realloc(s->documents, (s->document_count + 1) * sizeof *grown);
    if (grown == NULL) {
      fputs("indim: out of memory\n", stderr);
      exit(EXIT_MEMORY);
    }
    s->documents = grown;
    d = must_alloc(sizeof *d);
    *d = (document){.uri = copy_text(uri, strlen(uri))};
    s->documents[s->document_count++] = d;
  }
  d->version = version;
  set_text(d, copy_text(text, strlen(text)));
}

void document_close(server *s, document *d) {
  for (size_t i = 0; i < s->document_count; i++) {
    if (s->documents[i] == d) {
      s->documents[i] = s->documents[--s->document_count];
      break;
    }
  }
  forget(d);
  free(d->text);
  free(d->uri);
  free(d);
}

bool document_change(server *s, document *d, const cJSON *change) {
  const cJSON *text = cJSON_GetObjectItemCaseSensitive(change, "text");
  const cJSON *range = cJSON_GetObjectItemCaseSensitive(change, "range");
  if (!cJSON_IsString(text)) {
    return false;
  }
  uint32_t start = 0;
  uint32_t end = (uint32_t)d->size;
  if (range != NULL && (!document_offset(s, d, cJSON_GetObjectItemCaseSensitive(range, "start"), &start) ||
                        !document_offset(s, d, cJSON_GetObjectItemCaseSensitive(range, "end"), &end) || end < start)) {
    return false;
  }
  size_t added = strlen(text->valuestring);
  char *changed = must_alloc(start + added + (d->size - end) + 1);
  memcpy(changed, d->text, start);
  memcpy(changed + start, text->valuestring, added);
  memcpy(changed + start + added, d->text + end, d->size - end + 1);
  set_text(d, changed);
  return true;
}

const outline *document_outline(document *d) {
  if (d->outline == NULL) {
    d->outline = outline_make(d->text, d->size);
  }
  return d->outline;
}

// Places -------------------------------------------------------------------------------------------------------------

// A line ends at "\n", "\r\n" or "\r".
static void count_lines(document *d) {
  if (d->lines != NULL) {
    return;
  }
  size_t count = 1;
  for (size_t i = 0; i < d->size; i++) {
    count += d->text[i] == '\n' || (d->text[i] == '\r' && d->text[i + 1] != '\n');
  }
  d->lines = must_alloc(count * sizeof *d->lines);
  d->lines[0] = 0;
  d->line_count = 1;
  for (size_t i = 0; i < d->size; i++) {
    if (d->text[i] == '\n' || (d->text[i] == '\r' && d->text[i + 1] != '\n')) {
      d->lines[d->line_count++] = i + 1;
    }
  }
}

size_t document_line_count(document *d) {
  count_lines(d);
  return d->line_count;
}

size_t document_line(document *d, size_t line) {
  count_lines(d);
  return d->lines[line];
}

// Bytes of the character at |text|: a byte that begins none counts as one.
static size_t character_size(const char *text) {
  unsigned char lead = (unsigned char)text[0];
  size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
  for (size_t i = 1; i < size; i++) {
    if (((unsigned char)text[i] & 0xC0) != 0x80) {
      return 1;
    }
  }
  return size;
}

static size_t units_of(position_encoding encoding, size_t bytes) {
  return encoding == POSITION_UTF8 ? bytes : encoding == POSITION_UTF16 && bytes == 4 ? 2 : 1;
}

// A number of the protocol's: a whole one, 0 to 2^31-1.
static bool get_index(const cJSON *object, const char *name, size_t *out_index) {
  const cJSON *number = cJSON_GetObjectItemCaseSensitive(object, name);
  if (!cJSON_IsNumber(number) || !(number->valuedouble >= 0) || number->valuedouble > INT32_MAX ||
      number->valuedouble != floor(number->valuedouble)) {
    return false;
  }
  *out_index = (size_t)number->valuedouble;
  return true;
}

bool document_offset(const server *s, document *d, const cJSON *position, uint32_t *out_offset) {
  size_t line = 0;
  size_t character = 0;
  if (!get_index(position, "line", &line) || !get_index(position, "character", &character)) {
    return false;
  }
  count_lines(d);
  if (line >= d->line_count) {
    *out_offset = (uint32_t)d->size;
    return true;
  }
  size_t at = d->lines[line];
  size_t units = 0;
  while (at < d->size && d->text[at] != '\n' && d->text[at] != '\r') {
    size_t size = character_size(d->text + at);
    units += units_of(s->encoding, size);
    if (units > character) {
      break;
    }
    at += size;
  }
  *out_offset = (uint32_t)at;
  return true;
}

static size_t line_of(document *d, size_t offset) {
  count_lines(d);
  size_t low = 0;
  size_t high = d->line_count;
  while (low + 1 < high) {
    size_t middle = low + (high - low) / 2;
    if (d->lines[middle] <= offset) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

static size_t count_units(const server *s, const document *d, size_t start, size_t end) {
  size_t units = 0;
  for (size_t at = start; at < end;) {
    size_t size = character_size(d->text + at);
    units += units_of(s->encoding, size);
    at += size;
  }
  return units;
}

void document_place(const server *s, document *d, size_t offset, size_t *out_line, size_t *out_character) {
  size_t line = line_of(d, offset);
  size_t units = 0;
  while (offset > d->lines[line] && ((unsigned char)d->text[offset] & 0xC0) == 0x80) {
    offset--;  // a character is not divided
  }
  if (d->place_at >= d->lines[line] && line_of(d, d->place_at) == line) {  // in a long line, from the last place
    units = d->place_at <= offset ? d->place_units + count_units(s, d, d->place_at, offset)
                                  : d->place_units - count_units(s, d, offset, d->place_at);
  } else {
    units = count_units(s, d, d->lines[line], offset);
  }
  d->place_at = offset;
  d->place_units = units;
  *out_line = line;
  *out_character = units;
}

cJSON *document_position(const server *s, document *d, size_t offset) {
  size_t line = 0;
  size_t character = 0;
  document_place(s, d, offset > d->size ? d->size : offset, &line, &character);
  cJSON *position = cJSON_CreateObject();
  cJSON_AddNumberToObject(position, "line", (double)line);
  cJSON_AddNumberToObject(position, "character", (double)character);
  return position;
}

cJSON *document_range(const server *s, document *d, size_t start, size_t end) {
  cJSON *range = cJSON_CreateObject();
  cJSON_AddItemToObject(range, "start", document_position(s, d, start));
  cJSON_AddItemToObject(range, "end", document_position(s, d, end));
  return range;
}

cJSON *document_edit(const server *s, document *d, size_t start, size_t end, const char *text) {
  cJSON *edit = cJSON_CreateObject();
  cJSON_AddItemToObject(edit, "range", document_range(s, d, start, end));
  cJSON_AddStringToObject(edit, "newText", text);
  return edit;
}
