// The one lexer, for shape, layout, literal and HLO text: tokens with their place. It stands in the
// array layer because shapes and literals are read there.
//
// A lexer is a plain value: copy it to look ahead, assign it back to return.
#ifndef INDIM_ARRAY_LEXER_H
#define INDIM_ARRAY_LEXER_H

#include "base/ctx.h"
#include "indim/type.h"

typedef enum indim_token_kind {
  INDIM_TOKEN_END,         // end of the text
  INDIM_TOKEN_ERROR,       // no token; |error| says why
  INDIM_TOKEN_EQUAL,       // =
  INDIM_TOKEN_COMMA,       // ,
  INDIM_TOKEN_PERCENT,     // % not before a name
  INDIM_TOKEN_COLON,       // :
  INDIM_TOKEN_SEMICOLON,   // ;   only in PAD(...)
  INDIM_TOKEN_ASTERISK,    // *
  INDIM_TOKEN_HASH,        // #
  INDIM_TOKEN_PLUS,        // +
  INDIM_TOKEN_TILDE,       // ~
  INDIM_TOKEN_QUESTION,    // ?
  INDIM_TOKEN_LSQUARE,     // [
  INDIM_TOKEN_RSQUARE,     // ]
  INDIM_TOKEN_LBRACE,      // {
  INDIM_TOKEN_RBRACE,      // }
  INDIM_TOKEN_LPAREN,      // (
  INDIM_TOKEN_RPAREN,      // )
  INDIM_TOKEN_ARROW,       // ->
  INDIM_TOKEN_LESS_EQUAL,  // <=
  INDIM_TOKEN_DOTS,        // ...
  INDIM_TOKEN_NAME,        // %name, or name: with the colon swallowed; |text| is the name alone
  INDIM_TOKEN_ATTRIBUTE,   // name= with the sign swallowed; |text| is the name alone
  INDIM_TOKEN_TYPE,        // f32, token, opaque; |type|
  INDIM_TOKEN_IDENT,       // any other identifier
  INDIM_TOKEN_KEYWORD,     // true false HloModule ENTRY ROOT FileNames ... ; see |text|
  INDIM_TOKEN_DIM_LABELS,  // bf01_oi01->bf01
  INDIM_TOKEN_DXD,         // 3x3
  INDIM_TOKEN_PAD,         // 0_0x1_1
  INDIM_TOKEN_INT,         // -?digits; |integer|
  INDIM_TOKEN_DECIMAL,     // number with a point or an exponent; value by indim_number_parse(text)
  INDIM_TOKEN_INF,         // inf, -inf; |negative|
  INDIM_TOKEN_NAN,         // nan, -nan, nan(0x1); |negative|, |payload| (0: none written)
  INDIM_TOKEN_STRING       // "..." or '...'; |text| is what stands between the quotes, escapes not yet resolved
} indim_token_kind;

typedef struct indim_token {
  indim_token_kind kind;
  size_t offset;     // first byte in the source
  size_t end;        // one past the last byte
  indim_str text;    // what the kind says; otherwise the token as written
  int64_t integer;   // INT: read as unsigned 64 bits if not negative, then reinterpreted (2^64-1 is -1)
  uint64_t payload;  // NAN
  bool negative;     // INT, INF, NAN: began with '-'
  indim_type type;   // TYPE
  const char *error;
} indim_token;

typedef struct indim_lexer {
  indim_ctx *cx;
  indim_source source;
  size_t previous_end;  // end of the token before the current one
  indim_token token;    // the current one
} indim_lexer;

// Starts at the first token of the source.
void indim_lexer_init(indim_lexer *lexer, indim_ctx *cx, indim_source source);
// Steps to the next token; at the end or at an ERROR token it stays.
void indim_lexer_next(indim_lexer *lexer);
// Steps to the first token that begins at |offset| or behind it, for readers of the bytes themselves.
void indim_lexer_seek(indim_lexer *lexer, size_t offset);
// The current token is |kind|: steps over it and returns true; else false.
bool indim_lexer_eat(indim_lexer *lexer, indim_token_kind kind);
// Whether the current token is an identifier or keyword with this text.
bool indim_lexer_is_word(const indim_lexer *lexer, const char *word);

// Fails with INDIM_SYNTAX at the current token: "expected |what|, found 'x'" (or why there is no token).
indim_status indim_lexer_expected(indim_lexer *lexer, const char *what);
// Eats |kind| or fails with expected(what).
INDIM_CHECKED indim_status indim_lexer_expect(indim_lexer *lexer, indim_token_kind kind, const char *what);

// The current token is '{': steps over it and everything to its matching '}', respecting quoted strings, and returns
// the raw text from brace to brace.
INDIM_CHECKED indim_status indim_lexer_raw_braces(indim_lexer *lexer, indim_str *out_text);

#endif  // INDIM_ARRAY_LEXER_H
