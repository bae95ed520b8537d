// Reads one element of a literal's text: through the lexer, with everything that a type may be written as and the reason
// of a refusal; or straight from the bytes, if it is a plain number.
#include <inttypes.h>
#include <math.h>

#include "array/float_format.h"
#include "array/literal_text.h"
#include "base/number.h"

static indim_status fail_range(indim_lexer *lexer, indim_type type) {
  const indim_token *token = &lexer->token;
  return indim_fail_at(lexer->cx, INDIM_INVALID, &lexer->source, token->offset, "%.*s is out of range for %s",
                       token->text.size < 60 ? (int)token->text.size : 60, token->text.data, indim_type_text(type));
}

// The integer of a token fits when the type holds it; u64 takes all 64 bits, so that -1 is 2^64-1.
static bool int_fits(indim_type type, int64_t value) {
  int32_t bits = indim_type_bits(type);
  if (bits == 64) {
    return true;
  }
  bool is_signed = indim_type_is_signed_int(type);
  int64_t high = (INT64_C(1) << (is_signed ? bits - 1 : bits)) - 1;
  return value <= high && value >= (is_signed ? -high - 1 : 0);
}

static indim_status fail_element(indim_lexer *lexer, indim_type type) {
  const char *what = indim_type_is_complex(type)    ? "a pair (real, imaginary)"
                     : indim_type_is_integral(type) ? "an integer"
                     : type == INDIM_PRED           ? "true, false or an integer"
                                                    : "a number";
  return indim_lexer_expected(lexer, what);
}

// Finite numbers must stay finite when they are rounded to the type.
static bool encode_finite(indim_type type, double value, uint64_t *out_bits) {
  indim_element element = indim_element_of_float(type, value, 0);
  *out_bits = element.bits;
  return isfinite(value) && isfinite(indim_element_real(type, element));
}

static indim_status read_nan(indim_lexer *lexer, indim_type type, uint64_t *out_bits) {
  const indim_token *token = &lexer->token;
  const indim_float_format *format = indim_float_format_of(type);
  const uint64_t f64_quiet = UINT64_C(1) << 51;
  if (token->payload == 0 || (token->payload == f64_quiet && format->payload_mask != 0)) {
    *out_bits = indim_float_encode(type, token->negative ? copysign((double)NAN, -1) : copysign((double)NAN, 1));
    return INDIM_OK;
  }
  if (format->payload_mask == 0) {
    return indim_fail_at(lexer->cx, INDIM_INVALID, &lexer->source, token->offset, "%s does not support NaN payloads",
                         indim_type_text(type));
  }
  if (token->payload > format->payload_mask) {
    return indim_fail_at(lexer->cx, INDIM_INVALID, &lexer->source, token->offset,
                         "the NaN payload 0x%" PRIx64 " is out of range for %s: the largest is 0x%" PRIx64,
                         token->payload, indim_type_text(type), format->payload_mask);
  }
  *out_bits = format->infinity_bits | token->payload | (token->negative ? format->sign_bit : 0);
  return INDIM_OK;
}

// The current token as a real floating-point number; steps over it.
static indim_status read_float(indim_lexer *lexer, indim_type type, uint64_t *out_bits) {
  const indim_token *token = &lexer->token;
  double value = 0;
  if (token->kind == INDIM_TOKEN_NAN) {
    INDIM_TRY(read_nan(lexer, type, out_bits));
  } else if (token->kind == INDIM_TOKEN_INF) {
    *out_bits = indim_element_of_float(type, token->negative ? -(double)INFINITY : (double)INFINITY, 0).bits;
  } else if (token->kind == INDIM_TOKEN_DECIMAL || token->kind == INDIM_TOKEN_INT) {
    value = indim_number_parse(token->text);  // an integer token too, so that -0 keeps its sign
    if (!encode_finite(type, value, out_bits)) {
      return fail_range(lexer, type);
    }
  } else {
    return fail_element(lexer, type);
  }
  indim_lexer_next(lexer);
  return INDIM_OK;
}

static indim_status read_complex(indim_lexer *lexer, indim_type type, indim_element *out) {
  indim_type part = indim_type_component_of(type);
  if (lexer->token.kind != INDIM_TOKEN_LPAREN) {
    return fail_element(lexer, type);
  }
  indim_lexer_next(lexer);
  INDIM_TRY(read_float(lexer, part, &out->bits));
  INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_COMMA, "',' between the real and the imaginary part"));
  INDIM_TRY(read_float(lexer, part, &out->imag));
  return indim_lexer_expect(lexer, INDIM_TOKEN_RPAREN, "')' after the imaginary part");
}

static indim_status read_int(indim_lexer *lexer, indim_type type, indim_element *out) {
  const indim_token *token = &lexer->token;
  bool is_word = indim_lexer_is_word(lexer, "true") || indim_lexer_is_word(lexer, "false");
  if (type == INDIM_PRED && is_word) {
    out->bits = indim_lexer_is_word(lexer, "true");
  } else if (token->kind != INDIM_TOKEN_INT) {
    return fail_element(lexer, type);
  } else if (type != INDIM_PRED && !int_fits(type, token->integer)) {
    return fail_range(lexer, type);
  } else {
    *out = indim_element_of_int(type, token->integer);
  }
  indim_lexer_next(lexer);
  return INDIM_OK;
}

indim_status indim_literal_read_element(indim_lexer *lexer, indim_type type, indim_element *out) {
  *out = (indim_element){0, 0};
  if (indim_type_is_complex(type)) {
    return read_complex(lexer, type, out);
  }
  if (lexer->token.kind == INDIM_TOKEN_LPAREN) {
    return indim_fail_at(lexer->cx, INDIM_SYNTAX, &lexer->source, lexer->token.offset,
                         "parentheses are only for complex numbers, this is %s", indim_type_text(type));
  }
  return indim_type_is_float(type) ? read_float(lexer, type, &out->bits) : read_int(lexer, type, out);
}

// Plain numbers, quickly ------------------------------------------------------------------------------------------

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Length of "-?digits[.digits][e[+-]digits]" at |p|, 0 if there is none. |*out_integer|: neither point nor exponent.
static size_t match_number(const char *p, const char *end, bool *out_integer) {
  const char *q = p + (p < end && *p == '-');
  const char *digits = q;
  *out_integer = true;
  while (q < end && is_digit(*q)) {
    q++;
  }
  if (q == digits) {
    return 0;
  }
  if (q < end && *q == '.') {
    *out_integer = false;
    for (q++; q < end && is_digit(*q); q++) {
    }
  }
  if (q < end && (*q == 'e' || *q == 'E')) {
    *out_integer = false;
    q++;
    q += q < end && (*q == '-' || *q == '+');
    digits = q;
    while (q < end && is_digit(*q)) {
      q++;
    }
    if (q == digits) {
      return 0;
    }
  }
  bool ends = q < end && (*q == ',' || *q == '}' || *q == ' ' || *q == '\n');
  return ends ? (size_t)(q - p) : 0;
}

static bool plain_element(indim_type type, const char *p, size_t size, bool integer, indim_element *out) {
  out->imag = 0;
  if (integer && size > 18) {
    return false;
  }
  if (indim_type_is_float(type)) {
    return encode_finite(type, indim_number_parse((indim_str){p, size}), &out->bits);
  }
  if (!integer) {
    return false;
  }
  int64_t value = 0;
  for (size_t i = *p == '-'; i < size; i++) {
    value = value * 10 + (p[i] - '0');
  }
  value = *p == '-' ? -value : value;
  *out = indim_element_of_int(type, value);
  return type == INDIM_PRED || int_fits(type, value);
}

size_t indim_literal_read_plain(indim_type type, const char *text, const char *end, indim_element *out) {
  bool is_integer = false;
  size_t size = match_number(text, end, &is_integer);
  return size > 0 && plain_element(type, text, size, is_integer, out) ? size : 0;
}
