// A text to tokens, as the library's lexer divides it, but without an end at the first wrong character.
#include <stdlib.h>
#include <string.h>

#include "lsp.h"

typedef struct scan {
  const char *text;
  uint32_t size;
  uint32_t at;
} scan;

static char peek(const scan *s, uint32_t ahead) { return ahead < s->size - s->at ? s->text[s->at + ahead] : '\0'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_name_char(char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '-'; }

static uint32_t word_size(const scan *s, uint32_t ahead) {
  uint32_t end = ahead;
  if (is_letter(peek(s, ahead))) {
    do {
      end++;
    } while (is_name_char(peek(s, end)));
  }
  return end - ahead;
}

static bool is_keyword(const char *text, size_t size) {
  static const char *const words[] = {"true",
                                      "false",
                                      "HloModule",
                                      "ENTRY",
                                      "ROOT",
                                      "FileNames",
                                      "FunctionNames",
                                      "FileLocations",
                                      "StackFrames",
                                      "maximal",
                                      "replicated",
                                      "manual",
                                      "last_tile_dim_replicate",
                                      "shard_as",
                                      "shard_like",
                                      "unknown",
                                      "unreduced"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if (strlen(words[i]) == size && memcmp(words[i], text, size) == 0) {
      return true;
    }
  }
  return false;
}

static token_kind kind_of_word(const scan *s, uint32_t size) {
  indim_str word = {s->text + s->at, size};
  indim_type type;
  bool is_type = indim_type_parse(word, &type) && type != INDIM_TUPLE && type != INDIM_BUFFER;
  if (peek(s, size) == '=') {
    return TOKEN_ATTRIBUTE;
  }
  if (peek(s, size) == ':') {
    return TOKEN_NAME;
  }
  if (size == 3 && (memcmp(word.data, "nan", 3) == 0 || memcmp(word.data, "inf", 3) == 0)) {
    return TOKEN_NUMBER;
  }
  return is_type ? TOKEN_TYPE : is_keyword(word.data, size) ? TOKEN_KEYWORD : TOKEN_NAME;
}

// The end of a comment or string that begins here; 0 if it does not end.
static uint32_t closed_size(const scan *s, char quote) {
  uint32_t i = quote != '\0' ? 1 : 2;
  while (i < s->size - s->at) {
    if (quote != '\0' && peek(s, i) == quote) {
      return i + 1;
    }
    if (quote == '\0' && peek(s, i) == '*' && peek(s, i + 1) == '/') {
      return i + 2;
    }
    i += quote != '\0' && peek(s, i) == '\\' ? 2 : 1;
  }
  return 0;
}

static uint32_t line_size(const scan *s) {
  uint32_t i = 0;
  while (i < s->size - s->at && peek(s, i) != '\n' && peek(s, i) != '\r') {
    i++;
  }
  return i;
}

// Numbers, sizes, padding and labels: a run of what they are made of. "->" and "..." end it.
static uint32_t number_size(const scan *s) {
  uint32_t i = 1;
  for (;; i++) {
    char c = peek(s, i);
    bool is_arrow = c == '-' && peek(s, i + 1) == '>';
    bool is_label_arrow =
        is_arrow && is_letter(peek(s, i - 1)) && (is_letter(peek(s, i + 2)) || is_digit(peek(s, i + 2)));
    if (is_label_arrow) {
      i++;
    } else if (is_arrow || !(is_name_char(c) || c == '+') || (c == '.' && peek(s, i + 1) == '.') ||
               (c == '+' && peek(s, i - 1) != 'e' && peek(s, i - 1) != 'E')) {
      return i;
    }
  }
}

// Labels such as bf01_io01->bf01, which begin as a name does.
static uint32_t label_size(const scan *s, uint32_t word) {
  uint32_t end = word;
  bool has_bar = memchr(s->text + s->at, '_', word) != NULL;
  if (has_bar && s->text[s->at + word - 1] == '-') {
    end--;  // the '-' of the arrow was taken for a part of the name
  }
  if (!has_bar || peek(s, end) != '-' || peek(s, end + 1) != '>' || !is_name_char(peek(s, end + 2))) {
    return 0;
  }
  end += 2;
  while (is_name_char(peek(s, end)) || peek(s, end) == '?') {
    end++;
  }
  return end;
}

static token next_token(const scan *s) {
  char c = peek(s, 0);
  uint32_t size = 1;
  token_kind kind = TOKEN_PUNCTUATION;
  bool is_line = c == '/' && peek(s, 1) == '/';
  bool is_block = c == '/' && peek(s, 1) == '*';
  if (is_line || is_block || c == '"' || c == '\'') {
    size = is_line ? line_size(s) : closed_size(s, is_block ? '\0' : c);
    kind = size == 0 ? TOKEN_WRONG : is_line || is_block ? TOKEN_COMMENT : TOKEN_STRING;
    size = size == 0 ? line_size(s) : size;  // the rest of the text would be lost otherwise
  } else if (is_letter(c)) {
    size = word_size(s, 0);
    uint32_t labels = label_size(s, size);
    kind = labels != 0 ? TOKEN_NUMBER : kind_of_word(s, size);
    size = labels != 0 ? labels : size;
  } else if (c == '%' && word_size(s, 1) > 0) {
    size = 1 + word_size(s, 1);
    kind = TOKEN_NAME;
  } else if (is_digit(c) || (c == '-' && (is_digit(peek(s, 1)) || is_letter(peek(s, 1)) || peek(s, 1) == '.'))) {
    size = number_size(s);
    kind = TOKEN_NUMBER;
  } else if ((c == '-' && peek(s, 1) == '>') || (c == '<' && peek(s, 1) == '=')) {
    size = 2;
  } else if (c == '.' && peek(s, 1) == '.' && peek(s, 2) == '.') {
    size = 3;
  } else if (c == '\0' || strchr("=,%:;*#+~?[]{}()", c) == NULL) {
    kind = TOKEN_WRONG;
  }
  return (token){s->at, s->at + size, (uint8_t)kind, ROLE_NONE, -1};
}

token *scan_tokens(const char *text, size_t size, uint32_t *out_count) {
  scan s = {text, (uint32_t)size, 0};
  uint32_t capacity = 0;
  uint32_t count = 0;
  token *tokens = NULL;
  for (;;) {
    while (s.at < s.size && strchr(" \t\r\n", text[s.at]) != NULL && text[s.at] != '\0') {
      s.at++;
    }
    if (s.at >= s.size) {
      break;
    }
    if (count == capacity) {
      tokens = must_grow(tokens, &capacity, sizeof *tokens);
    }
    tokens[count] = next_token(&s);
    s.at = tokens[count].end + (tokens[count].kind == TOKEN_ATTRIBUTE);  // the sign belongs to it
    count++;
  }
  *out_count = count;
  return tokens;
}
