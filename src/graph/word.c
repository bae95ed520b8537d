// The table of word.def.
#include "graph/word.h"

#include <stdio.h>
#include <string.h>

static const struct {
  indim_attr_id id;
  const char *word;
} words[] = {
#define INDIM_WORD(attribute, word) {INDIM_ATTR_##attribute, word},
#define INDIM_WORD_ANY_CASE(attribute)
#include "graph/word.def"
};

static const bool any_case[INDIM_ATTR_COUNT] = {
#define INDIM_WORD(attribute, word)
#define INDIM_WORD_ANY_CASE(attribute) [INDIM_ATTR_##attribute] = true,
#include "graph/word.def"
};

enum { WORD_COUNT = (int)(sizeof words / sizeof words[0]) };

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

bool indim_word_equal(indim_attr_id id, indim_str word, const char *other) {
  if (word.size != strlen(other)) {
    return false;
  }
  for (size_t i = 0; i < word.size; i++) {
    bool same = word.data[i] == other[i] || (any_case[id] && lower(word.data[i]) == lower(other[i]));
    if (!same) {
      return false;
    }
  }
  return true;
}

bool indim_word_is_known(indim_attr_id id, indim_str word) {
  bool listed = false;
  for (int i = 0; i < WORD_COUNT; i++) {
    if (words[i].id == id) {
      listed = true;
      if (indim_word_equal(id, word, words[i].word)) {
        return true;
      }
    }
  }
  return !listed;
}

const char *indim_word_list(indim_attr_id id, char *out, size_t capacity) {
  int left = 0;
  for (int i = 0; i < WORD_COUNT; i++) {
    left += words[i].id == id;
  }
  size_t size = 0;
  out[0] = '\0';
  for (int i = 0; i < WORD_COUNT && size + 1 < capacity; i++) {
    if (words[i].id == id) {
      const char *between = size == 0 ? "" : left == 1 ? " or " : ", ";
      size += (size_t)snprintf(out + size, capacity - size, "%s%s", between, words[i].word);
      left--;
    }
  }
  if (size >= capacity) {
    memcpy(out + capacity - 4, "...", 4);
  }
  return out;
}

const char *indim_word_at(indim_attr_id id, int32_t index) {
  for (int i = 0; i < WORD_COUNT && index >= 0; i++) {
    if (words[i].id == id && index-- == 0) {
      return words[i].word;
    }
  }
  return NULL;
}
