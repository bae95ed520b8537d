// One entry after another by its first character: names, then a value up to the comma or brace that is not inside
// brackets or a string.
#include "graph/dictionary.h"

#include <stdint.h>
#include <string.h>

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '.' || c == '$';
}

static void skip_blanks(indim_str text, size_t *cursor) {
  while (*cursor < text.size && is_blank(text.data[*cursor])) {
    ++*cursor;
  }
}

static bool skip_char(indim_str text, size_t *cursor, char c) {
  skip_blanks(text, cursor);
  if (*cursor == text.size || text.data[*cursor] != c) {
    return false;
  }
  ++*cursor;
  return true;
}

// Behind a string that begins at |*cursor|.
static bool skip_string(indim_str text, size_t *cursor) {
  for (++*cursor; *cursor < text.size; ++*cursor) {
    if (text.data[*cursor] == '\\') {
      ++*cursor;
    } else if (text.data[*cursor] == '"') {
      ++*cursor;
      return true;
    }
  }
  *cursor = text.size;
  return false;
}

// A word of name characters, or a string, whose quotes are left out.
static bool read_name(indim_str text, size_t *cursor, indim_str *out_name) {
  skip_blanks(text, cursor);
  size_t start = *cursor;
  if (start < text.size && text.data[start] == '"') {
    if (!skip_string(text, cursor)) {
      return false;
    }
    *out_name = (indim_str){text.data + start + 1, *cursor - start - 2};
    return true;
  }
  while (*cursor < text.size && is_name(text.data[*cursor])) {
    ++*cursor;
  }
  *out_name = (indim_str){text.data + start, *cursor - start};
  return *cursor > start;
}

static bool read_value(indim_str text, size_t *cursor, indim_str *out_value) {
  skip_blanks(text, cursor);
  size_t start = *cursor;
  int64_t depth = 0;
  while (*cursor < text.size) {
    char c = text.data[*cursor];
    if (c == '"') {
      if (!skip_string(text, cursor)) {
        return false;
      }
      continue;
    }
    if (depth == 0 && (c == ',' || c == '}')) {
      break;
    }
    depth += strchr("{[(<", c) != NULL && c != '\0' ? 1 : strchr("}])>", c) != NULL && c != '\0' ? -1 : 0;
    ++*cursor;
  }
  size_t end = *cursor;
  while (end > start && is_blank(text.data[end - 1])) {
    end--;
  }
  *out_value = (indim_str){text.data + start, end - start};
  return depth == 0 && end > start;
}

bool indim_dictionary_next(indim_str text, size_t *cursor, indim_dictionary_entry *out_entry, bool *out_more) {
  bool first = *cursor == 0;
  *out_more = false;
  if (first && !skip_char(text, cursor, '{')) {
    return false;
  }
  if (skip_char(text, cursor, '}')) {
    skip_blanks(text, cursor);
    return *cursor == text.size;
  }
  if (!first && !skip_char(text, cursor, ',')) {
    return false;
  }
  *out_entry = (indim_dictionary_entry){.value = {"", 0}};
  if (!read_name(text, cursor, &out_entry->name)) {
    return false;
  }
  *out_more = true;
  return !skip_char(text, cursor, '=') || read_value(text, cursor, &out_entry->value);
}

bool indim_dictionary_int(indim_str value, int64_t *out_value, indim_str *out_type) {
  size_t cursor = 0;
  bool negative = skip_char(value, &cursor, '-');
  size_t start = cursor;
  int64_t number = 0;
  for (; cursor < value.size && is_digit(value.data[cursor]); cursor++) {
    int digit = value.data[cursor] - '0';
    if (number > (INT64_MAX - digit) / 10) {
      return false;
    }
    number = number * 10 + digit;
  }
  if (cursor == start || !skip_char(value, &cursor, ':')) {
    return false;
  }
  *out_value = negative ? -number : number;
  return read_name(value, &cursor, out_type) && cursor == value.size;
}

bool indim_dictionary_bool(indim_str value, bool *out_value) {
  *out_value = value.size == 4 && memcmp(value.data, "true", 4) == 0;
  return *out_value || (value.size == 5 && memcmp(value.data, "false", 5) == 0);
}
