// Scans one token at a time, trying the alternatives in XLA's order, which decides between, say,
// the integer 3, the size 3x3, the padding 3_3 and the labels 0bf_0io->0bf.
#include "array/lexer.h"

#include <string.h>

// A cursor over the text; at the end it reads as '\0'.
typedef struct scan {
  const char *data;
  size_t size;
  size_t at;
} scan;

static char peek(const scan *s, size_t ahead) { return ahead < s->size - s->at ? s->data[s->at + ahead] : '\0'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_name_char(char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '-'; }

static size_t skip_digits(const scan *s, size_t ahead) {
  while (is_digit(peek(s, ahead))) {
    ahead++;
  }
  return ahead;
}

// Skips blanks and comments. False at an unterminated comment, with |at| on its start.
static bool skip_blanks(scan *s) {
  for (;;) {
    char c = peek(s, 0);
    if (s->at < s->size && (c == ' ' || c == '\t' || c == '\n' || c == '\r')) {
      s->at++;
    } else if (c == '/' && peek(s, 1) == '/') {
      while (s->at < s->size && s->data[s->at] != '\n' && s->data[s->at] != '\r') {
        s->at++;
      }
    } else if (c == '/' && peek(s, 1) == '*') {
      size_t end = s->at + 2;
      while (end + 1 < s->size && !(s->data[end] == '*' && s->data[end + 1] == '/')) {
        end++;
      }
      if (end + 1 >= s->size) {
        return false;
      }
      s->at = end + 2;
    } else {
      return true;
    }
  }
}

// The patterns of L6; each returns the length matched at |at|, 0 if none.

static size_t match_decimal(const scan *s) {
  size_t i = peek(s, 0) == '-';
  size_t whole = skip_digits(s, i) - i;
  i += whole;
  bool point = peek(s, i) == '.';
  size_t fraction = 0;
  if (point) {
    fraction = skip_digits(s, i + 1) - (i + 1);
    i += 1 + fraction;
  }
  if (whole + fraction == 0) {
    return 0;
  }
  if (peek(s, i) == 'e' || peek(s, i) == 'E') {
    size_t digits = i + 1 + (peek(s, i + 1) == '+' || peek(s, i + 1) == '-');
    if (is_digit(peek(s, digits))) {
      return skip_digits(s, digits);
    }
  }
  return point ? i : 0;
}

static size_t match_run(const scan *s, size_t ahead, const char *letters) {
  size_t start = ahead;
  while (is_digit(peek(s, ahead)) || (peek(s, ahead) != '\0' && strchr(letters, peek(s, ahead)) != NULL)) {
    ahead++;
  }
  return ahead - start;
}

static size_t match_dim_labels(const scan *s) {
  size_t input = match_run(s, 0, "bf?");
  if (input < 2 || peek(s, input) != '_') {
    return 0;
  }
  size_t kernel = match_run(s, input + 1, "io?");
  size_t arrow = input + 1 + kernel;
  if (kernel < 2 || peek(s, arrow) != '-' || peek(s, arrow + 1) != '>') {
    return 0;
  }
  size_t output = match_run(s, arrow + 2, "bf?");
  return output < 2 ? 0 : arrow + 2 + output;
}

static size_t match_dxd(const scan *s) {
  size_t i = skip_digits(s, 0);
  size_t matched = 0;
  while (i > 0 && peek(s, i) == 'x' && is_digit(peek(s, i + 1))) {
    i = skip_digits(s, i + 1);
    matched = i;
  }
  return matched;
}

static size_t match_signed(const scan *s, size_t ahead) {
  size_t digits = ahead + (peek(s, ahead) == '-');
  size_t end = skip_digits(s, digits);
  return end == digits ? 0 : end;
}

static size_t match_pad(const scan *s) {
  size_t matched = 0;
  size_t i = 0;
  for (;;) {
    size_t low = match_signed(s, i);
    size_t high = low != 0 && peek(s, low) == '_' ? match_signed(s, low + 1) : 0;
    if (high == 0) {
      return matched;
    }
    if (peek(s, high) == '_' && is_digit(peek(s, high + 1))) {
      high = skip_digits(s, high + 1);
    }
    matched = high;
    if (peek(s, high) != 'x') {
      return matched;
    }
    i = high + 1;
  }
}

// Reads "(0x...)" behind nan. Returns its length, 0 if there is none, and sets |*error| if it is malformed.
static size_t match_payload(const scan *s, size_t ahead, uint64_t *out_payload, const char **error) {
  if (peek(s, ahead) != '(' || peek(s, ahead + 1) != '0' || peek(s, ahead + 2) != 'x') {
    return 0;
  }
  size_t i = ahead + 3;
  uint64_t value = 0;
  for (;; i++) {
    char c = peek(s, i);
    unsigned digit = is_digit(c)              ? (unsigned)(c - '0')
                     : (c >= 'a' && c <= 'f') ? (unsigned)(c - 'a') + 10
                     : (c >= 'A' && c <= 'F') ? (unsigned)(c - 'A') + 10
                                              : 16;
    if (digit == 16) {
      break;
    }
    value = value >> 60 != 0 ? UINT64_MAX : value << 4 | digit;
  }
  if (i == ahead + 3 || peek(s, i) != ')') {
    return 0;
  }
  if (value == 0 || value > UINT64_C(0xFFFFFFFFFFFFF)) {
    *error = "a NaN payload must be 0x1 to 0xfffffffffffff";
  }
  *out_payload = value;
  return i + 1 - ahead;
}

static bool word_is(indim_str text, const char *word) {
  return text.size == strlen(word) && memcmp(text.data, word, text.size) == 0;
}

static bool is_keyword(indim_str text) {
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
    if (word_is(text, words[i])) {
      return true;
    }
  }
  return false;
}

static void finish(indim_token *token, const scan *s, indim_token_kind kind, size_t size) {
  token->kind = kind;
  token->end = token->offset + size;
  token->text = (indim_str){s->data + token->offset, size};
}

static void scan_error(indim_token *token, const scan *s, const char *error) {
  finish(token, s, INDIM_TOKEN_ERROR, 0);
  token->error = error;
}

static size_t name_size(const scan *s, size_t ahead) {
  size_t end = ahead;
  if (is_letter(peek(s, ahead))) {
    do {
      end++;
    } while (is_name_char(peek(s, end)));
  }
  return end - ahead;
}

static void scan_nan(indim_token *token, const scan *s, size_t size) {
  size_t payload = match_payload(s, size, &token->payload, &token->error);
  finish(token, s, token->error != NULL ? INDIM_TOKEN_ERROR : INDIM_TOKEN_NAN, size + payload);
}

static void scan_identifier(indim_token *token, const scan *s) {
  size_t size = name_size(s, 0);
  char next = peek(s, size);
  finish(token, s, INDIM_TOKEN_IDENT, size);
  if (next == ':') {
    token->kind = INDIM_TOKEN_NAME;
    token->end++;
  } else if (next == '=') {
    token->kind = INDIM_TOKEN_ATTRIBUTE;
    token->end++;
  } else if (indim_type_parse(token->text, &token->type) && token->type != INDIM_TUPLE && token->type != INDIM_BUFFER) {
    token->kind = INDIM_TOKEN_TYPE;
  } else if (word_is(token->text, "nan")) {
    scan_nan(token, s, 3);
  } else if (word_is(token->text, "inf")) {
    token->kind = INDIM_TOKEN_INF;
  } else if (is_keyword(token->text)) {
    token->kind = INDIM_TOKEN_KEYWORD;
  } else if (match_dim_labels(s) != 0) {
    finish(token, s, INDIM_TOKEN_DIM_LABELS, match_dim_labels(s));
  }
}

static void scan_integer(indim_token *token, const scan *s, size_t size) {
  uint64_t value = 0;
  uint64_t limit = token->negative ? UINT64_C(1) << 63 : UINT64_MAX;
  for (size_t i = token->negative; i < size; i++) {
    uint64_t digit = (uint64_t)(s->data[s->at + i] - '0');
    if (value > (limit - digit) / 10) {
      scan_error(token, s, "the integer does not fit in 64 bits");
      token->end = token->offset + size;
      return;
    }
    value = value * 10 + digit;
  }
  finish(token, s, INDIM_TOKEN_INT, size);
  token->integer = (int64_t)(token->negative ? 0 - value : value);
}

static void scan_number(indim_token *token, const scan *s) {
  size_t size = 0;
  token->negative = peek(s, 0) == '-';
  if ((size = match_decimal(s)) != 0) {
    finish(token, s, INDIM_TOKEN_DECIMAL, size);
  } else if ((size = match_dim_labels(s)) != 0) {
    finish(token, s, INDIM_TOKEN_DIM_LABELS, size);
  } else if ((size = match_dxd(s)) != 0) {
    finish(token, s, INDIM_TOKEN_DXD, size);
  } else if ((size = match_pad(s)) != 0) {
    finish(token, s, INDIM_TOKEN_PAD, size);
  } else if ((size = match_signed(s, 0)) != 0) {
    scan_integer(token, s, size);
  } else if (name_size(s, 1) == 3 && memcmp(s->data + s->at, "-inf", 4) == 0) {
    finish(token, s, INDIM_TOKEN_INF, 4);
  } else if (name_size(s, 1) == 3 && memcmp(s->data + s->at, "-nan", 4) == 0) {
    scan_nan(token, s, 4);
  } else {
    scan_error(token, s, "'-' stands before no number");
  }
}

static void scan_string(indim_token *token, const scan *s) {
  char quote = peek(s, 0);
  size_t i = 1;
  while (s->at + i < s->size && s->data[s->at + i] != quote) {
    i += s->data[s->at + i] == '\\' ? 2 : 1;
  }
  if (s->at + i >= s->size) {
    scan_error(token, s, "the string is not closed");
    return;
  }
  finish(token, s, INDIM_TOKEN_STRING, i + 1);
  token->text = (indim_str){s->data + token->offset + 1, i - 1};
}

static void scan_punctuation(indim_token *token, const scan *s) {
  static const char singles[] = "=,:;*#+~?[]{}()";
  static const indim_token_kind kinds[] = {
      INDIM_TOKEN_EQUAL,   INDIM_TOKEN_COMMA,  INDIM_TOKEN_COLON,  INDIM_TOKEN_SEMICOLON, INDIM_TOKEN_ASTERISK,
      INDIM_TOKEN_HASH,    INDIM_TOKEN_PLUS,   INDIM_TOKEN_TILDE,  INDIM_TOKEN_QUESTION,  INDIM_TOKEN_LSQUARE,
      INDIM_TOKEN_RSQUARE, INDIM_TOKEN_LBRACE, INDIM_TOKEN_RBRACE, INDIM_TOKEN_LPAREN,    INDIM_TOKEN_RPAREN};
  char c = peek(s, 0);
  const char *found = c == '\0' ? NULL : strchr(singles, c);
  if (found != NULL) {
    finish(token, s, kinds[found - singles], 1);
  } else if (c == '<' && peek(s, 1) == '=') {
    finish(token, s, INDIM_TOKEN_LESS_EQUAL, 2);
  } else if (c == '.' && peek(s, 1) == '.' && peek(s, 2) == '.') {
    finish(token, s, INDIM_TOKEN_DOTS, 3);
  } else if (c > ' ' && c < 127) {
    scan_error(token, s, "this character begins no token");
  } else {
    scan_error(token, s, "a byte that is no printable ASCII stands outside of strings and comments");
  }
}

static void scan_token(indim_lexer *lexer, size_t from) {
  scan s = {lexer->source.text.data, lexer->source.text.size, from};
  indim_token *token = &lexer->token;
  bool closed = skip_blanks(&s);
  *token = (indim_token){.offset = s.at, .end = s.at};
  char c = peek(&s, 0);
  if (!closed) {
    scan_error(token, &s, "the comment is not closed");
  } else if (s.at >= s.size) {
    finish(token, &s, INDIM_TOKEN_END, 0);
  } else if (is_letter(c)) {
    scan_identifier(token, &s);
  } else if (c == '%') {
    size_t size = name_size(&s, 1);
    finish(token, &s, size == 0 ? INDIM_TOKEN_PERCENT : INDIM_TOKEN_NAME, size + 1);
    token->text = (indim_str){s.data + s.at + 1, size};
  } else if (c == '-' && peek(&s, 1) == '>') {
    finish(token, &s, INDIM_TOKEN_ARROW, 2);
  } else if (is_digit(c) || c == '-') {
    scan_number(token, &s);
  } else if (c == '"' || c == '\'') {
    scan_string(token, &s);
  } else {
    scan_punctuation(token, &s);
  }
}

void indim_lexer_init(indim_lexer *lexer, indim_ctx *cx, indim_source source) {
  *lexer = (indim_lexer){.cx = cx, .source = source};
  scan_token(lexer, 0);
}

void indim_lexer_next(indim_lexer *lexer) {
  if (lexer->token.kind != INDIM_TOKEN_END && lexer->token.kind != INDIM_TOKEN_ERROR) {
    lexer->previous_end = lexer->token.end;
    scan_token(lexer, lexer->token.end);
  }
}

void indim_lexer_seek(indim_lexer *lexer, size_t offset) {
  lexer->previous_end = offset;
  scan_token(lexer, offset);
}

bool indim_lexer_eat(indim_lexer *lexer, indim_token_kind kind) {
  if (lexer->token.kind != kind) {
    return false;
  }
  indim_lexer_next(lexer);
  return true;
}

bool indim_lexer_is_word(const indim_lexer *lexer, const char *word) {
  indim_token_kind kind = lexer->token.kind;
  return (kind == INDIM_TOKEN_IDENT || kind == INDIM_TOKEN_KEYWORD) && word_is(lexer->token.text, word);
}

indim_status indim_lexer_expected(indim_lexer *lexer, const char *what) {
  const indim_token *token = &lexer->token;
  if (token->kind == INDIM_TOKEN_ERROR) {
    return indim_fail_at(lexer->cx, INDIM_SYNTAX, &lexer->source, token->offset, "%s", token->error);
  }
  if (token->kind == INDIM_TOKEN_END) {
    return indim_fail_at(lexer->cx, INDIM_SYNTAX, &lexer->source, token->offset,
                         "expected %s, found the end of the text", what);
  }
  size_t size = token->end - token->offset;
  bool cut = size > 60;
  return indim_fail_at(lexer->cx, INDIM_SYNTAX, &lexer->source, token->offset, "expected %s, found '%.*s%s'", what,
                       cut ? 60 : (int)size, lexer->source.text.data + token->offset, cut ? "..." : "");
}

indim_status indim_lexer_expect(indim_lexer *lexer, indim_token_kind kind, const char *what) {
  return indim_lexer_eat(lexer, kind) ? INDIM_OK : indim_lexer_expected(lexer, what);
}

indim_status indim_lexer_raw_braces(indim_lexer *lexer, indim_str *out_text) {
  size_t start = lexer->token.offset;
  indim_str text = lexer->source.text;
  size_t depth = 0;
  char quote = '\0';
  for (size_t i = start; i < text.size; i++) {
    char c = text.data[i];
    if (quote != '\0') {
      i += c == '\\';
      quote = c == quote ? '\0' : quote;
    } else if (c == '"') {
      quote = c;
    } else if (c == '{') {
      depth++;
    } else if (c == '}' && --depth == 0) {
      *out_text = (indim_str){text.data + start, i + 1 - start};
      lexer->previous_end = i + 1;
      scan_token(lexer, i + 1);
      return INDIM_OK;
    }
  }
  return indim_fail_at(lexer->cx, INDIM_SYNTAX, &lexer->source, start, "the '{' is not closed");
}
