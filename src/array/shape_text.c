// Reads shape text: arrays with dimensions and layout, tuples, buffers, tokens. One function for each of these; nesting
// is bounded before each step down.
#include "array/shape_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "array/shape_internal.h"
#include "base/arena.h"

// How a '{' behind the dimensions is understood.
typedef enum brace_rule {
  BRACE_LAYOUT,           // a layout
  BRACE_ADJACENT_LAYOUT,  // a layout where it touches the ']'; otherwise not ours
} brace_rule;

static indim_status fail_here(indim_lexer *lexer, indim_status status, const char *what) {
  return indim_fail_at(lexer->cx, status, &lexer->source, lexer->token.offset, "%s", what);
}

static indim_status read_dimension(indim_lexer *lexer, int64_t *out_size, bool *out_dynamic) {
  size_t offset = lexer->token.offset;
  *out_dynamic = true;
  *out_size = INDIM_UNBOUNDED;
  if (indim_lexer_eat(lexer, INDIM_TOKEN_QUESTION)) {
    return INDIM_OK;
  }
  *out_dynamic = indim_lexer_eat(lexer, INDIM_TOKEN_LESS_EQUAL);
  INDIM_TRY(indim_shape_parse_int(lexer, *out_dynamic ? "a bound" : "a dimension size", out_size));
  if (*out_size < 0 && !(*out_dynamic && *out_size == INDIM_UNBOUNDED)) {
    indim_fail_at(lexer->cx, INDIM_INVALID, &lexer->source, offset, "the dimension size %" PRId64 " is negative",
                  *out_size);
    indim_hint(lexer->cx, "sizes are 0 or more; <=10 is a bound, ? an unknown size");
    return INDIM_INVALID;
  }
  return INDIM_OK;
}

// [2,<=3,?]
static indim_status read_dimensions(indim_lexer *lexer, indim_type type, indim_shape *out_shape) {
  size_t start = lexer->token.offset;
  int64_t sizes[INDIM_MAX_RANK];
  uint64_t dynamic = 0;
  int32_t rank = 0;
  INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_LSQUARE, "'['"));
  while (rank > 0 || lexer->token.kind != INDIM_TOKEN_RSQUARE) {
    if (rank == INDIM_MAX_RANK) {
      return indim_fail_at(lexer->cx, INDIM_LIMIT, &lexer->source, lexer->token.offset,
                           "the rank is above the largest, %d", INDIM_MAX_RANK);
    }
    bool is_dynamic = false;
    INDIM_TRY(read_dimension(lexer, &sizes[rank], &is_dynamic));
    dynamic |= (uint64_t)is_dynamic << rank;
    rank++;
    if (!indim_lexer_eat(lexer, INDIM_TOKEN_COMMA)) {
      break;
    }
  }
  INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_RSQUARE, rank > 0 ? "',' or ']'" : "']'"));
  indim_status status = indim_shape_init_dynamic(lexer->cx, type, rank, sizes, dynamic, out_shape);
  if (status != INDIM_OK) {
    indim_place(lexer->cx, &lexer->source, start);
  }
  return status;
}

// Whether the current '{' begins a layout of |shape|.
static bool layout_follows(const indim_lexer *lexer, const indim_shape *shape, brace_rule rule) {
  if (lexer->token.kind != INDIM_TOKEN_LBRACE ||
      (rule == BRACE_ADJACENT_LAYOUT && lexer->token.offset != lexer->previous_end)) {
    return false;
  }
  indim_lexer ahead = *lexer;
  indim_lexer_next(&ahead);
  indim_token_kind kind = ahead.token.kind;
  return kind == INDIM_TOKEN_INT || kind == INDIM_TOKEN_COLON || (kind == INDIM_TOKEN_RBRACE && shape->rank == 0);
}

// The current token is a type.
static indim_status read_array(indim_lexer *lexer, brace_rule rule, indim_shape *out_shape) {
  indim_type type = lexer->token.type;
  indim_lexer_next(lexer);
  if (type == INDIM_TOKEN || type == INDIM_OPAQUE) {
    INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_LSQUARE, "'['"));
    if (lexer->token.kind != INDIM_TOKEN_RSQUARE) {
      return indim_lexer_expected(lexer, type == INDIM_TOKEN ? "']' (a token has no dimensions)"
                                                             : "']' (an opaque value has no dimensions)");
    }
    indim_lexer_next(lexer);
    *out_shape = indim_shape_plain(type);
    return INDIM_OK;
  }
  INDIM_TRY(read_dimensions(lexer, type, out_shape));
  return layout_follows(lexer, out_shape, rule) ? indim_layout_parse_of_array(lexer, out_shape, &out_shape->layout)
                                                : INDIM_OK;
}

static indim_status new_shape(indim_lexer *lexer, indim_arena *arena, indim_shape **out) {
  if (arena == NULL) {
    fail_here(lexer, INDIM_INVALID, "only an array can be read here");
    indim_hint(lexer->cx, "tuples and buffers need an arena to live in, and none was given");
    return INDIM_INVALID;
  }
  void *memory = NULL;
  INDIM_TRY(indim_arena_alloc(arena, sizeof(indim_shape), &memory));
  *out = memory;
  return INDIM_OK;
}

static indim_status add_member(indim_arena *arena, const indim_shape ***members, int64_t *count, int64_t *capacity,
                               const indim_shape *member) {
  if (*count == *capacity) {
    void *longer = NULL;
    int64_t room = *capacity == 0 ? 4 : *capacity * 2;
    INDIM_TRY(indim_arena_array(arena, (size_t)room, sizeof **members, &longer));
    if (*count > 0) {
      memcpy(longer, *members, (size_t)*count * sizeof **members);
    }
    *members = longer;
    *capacity = room;
  }
  (*members)[(*count)++] = member;
  return INDIM_OK;
}

static indim_status read_shape(indim_lexer *lexer, indim_arena *arena, int32_t depth, brace_rule rule,
                               indim_shape *out_shape);

// The current token is behind the '('.
static indim_status read_tuple(indim_lexer *lexer, indim_arena *arena, int32_t depth, brace_rule rule,
                               indim_shape *out_shape) {
  const indim_shape **members = NULL;
  int64_t count = 0;
  int64_t capacity = 0;
  if (arena == NULL) {
    indim_shape *none = NULL;
    return new_shape(lexer, arena, &none);
  }
  while (count > 0 || lexer->token.kind != INDIM_TOKEN_RPAREN) {
    indim_shape *member = NULL;
    INDIM_TRY(new_shape(lexer, arena, &member));
    INDIM_TRY(read_shape(lexer, arena, depth + 1, rule, member));
    INDIM_TRY(add_member(arena, &members, &count, &capacity, member));
    if (!indim_lexer_eat(lexer, INDIM_TOKEN_COMMA)) {
      break;
    }
  }
  INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_RPAREN, count > 0 ? "',' or ')'" : "')'"));
  return indim_shape_tuple_of(arena, members, count, out_shape);
}

// The current token is behind the "b(".
static indim_status read_buffer(indim_lexer *lexer, indim_arena *arena, brace_rule rule, indim_shape *out_shape) {
  indim_shape *array = NULL;
  if (lexer->token.kind != INDIM_TOKEN_TYPE || !indim_type_is_array(lexer->token.type)) {
    return indim_lexer_expected(lexer, "an array shape in the buffer");
  }
  INDIM_TRY(new_shape(lexer, arena, &array));
  INDIM_TRY(read_array(lexer, rule, array));
  INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_RPAREN, "')' (a buffer holds one array)"));
  return indim_shape_init_buffer(arena, array, out_shape);
}

// The type that other languages call so: "float32", "I32", "bool", "BF16". INVALID if there is none.
static indim_type type_of_other_name(indim_str text) {
  static const char *const names[][2] = {{"i1", "pred"},   {"", ""},          {"float", "f"},  {"float", "f32"},
                                         {"bfloat", "bf"}, {"double", "f64"}, {"half", "f16"}, {"int", "s"},
                                         {"int", "s32"},   {"uint", "u"},     {"i", "s"},      {"ui", "u"},
                                         {"si", "s"},      {"complex", "c"},  {"bool", "pred"}};
  char lower[16] = "";
  indim_type type = INDIM_TYPE_INVALID;
  if (text.size >= sizeof lower) {
    return type;
  }
  for (size_t i = 0; i < text.size; i++) {
    char c = text.data[i];
    lower[i] = (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  }
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    char ours[32];
    size_t size = strlen(names[i][0]);
    snprintf(ours, sizeof ours, "%s%s", names[i][1], lower + size);
    if (strncmp(lower, names[i][0], size) == 0 && indim_type_parse(indim_str_of(ours), &type) &&
        indim_type_is_array(type)) {
      return type;
    }
  }
  return INDIM_TYPE_INVALID;
}

static indim_status no_shape(indim_lexer *lexer) {
  indim_status status = indim_lexer_expected(lexer, "a shape");
  if (lexer->token.kind == INDIM_TOKEN_IDENT) {
    indim_type type = type_of_other_name(lexer->token.text);
    if (type != INDIM_TYPE_INVALID) {
      indim_hint(lexer->cx, "the type is written %s", indim_type_text(type));
    } else {
      indim_hint(lexer->cx, "as f32[2,3], s32[], (f32[2], token[])");
    }
  }
  return status;
}

static bool is_buffer(const indim_lexer *lexer) {
  if (!indim_lexer_is_word(lexer, "b")) {
    return false;
  }
  indim_lexer ahead = *lexer;
  indim_lexer_next(&ahead);
  return ahead.token.kind == INDIM_TOKEN_LPAREN;
}

static indim_status read_shape(indim_lexer *lexer, indim_arena *arena, int32_t depth, brace_rule rule,
                               indim_shape *out_shape) {
  if (lexer->token.kind == INDIM_TOKEN_TYPE) {
    return read_array(lexer, rule, out_shape);
  }
  bool buffer = is_buffer(lexer);
  if (!buffer && lexer->token.kind != INDIM_TOKEN_LPAREN) {
    return no_shape(lexer);
  }
  if (depth >= INDIM_MAX_TUPLE_DEPTH) {
    return indim_fail_at(lexer->cx, INDIM_LIMIT, &lexer->source, lexer->token.offset,
                         "shapes are nested deeper than %d", INDIM_MAX_TUPLE_DEPTH);
  }
  indim_lexer_next(lexer);
  if (buffer) {
    indim_lexer_next(lexer);
    return read_buffer(lexer, arena, rule, out_shape);
  }
  return read_tuple(lexer, arena, depth, rule, out_shape);
}

static indim_status read_whole(indim_lexer *lexer, indim_arena *arena, brace_rule rule, indim_shape *out_shape) {
  indim_shape shape;
  INDIM_TRY(read_shape(lexer, arena, 0, rule, &shape));
  *out_shape = shape;
  return INDIM_OK;
}

bool indim_shape_text_begins(const indim_lexer *lexer) {
  return lexer->token.kind == INDIM_TOKEN_TYPE || lexer->token.kind == INDIM_TOKEN_LPAREN || is_buffer(lexer);
}

indim_status indim_shape_parse_tokens(indim_lexer *lexer, indim_arena *arena, indim_shape *out_shape) {
  return read_whole(lexer, arena, BRACE_LAYOUT, out_shape);
}

indim_status indim_shape_parse_tokens_before_values(indim_lexer *lexer, indim_arena *arena, indim_shape *out_shape) {
  return read_whole(lexer, arena, BRACE_ADJACENT_LAYOUT, out_shape);
}

indim_status indim_shape_parse(indim_ctx *cx, indim_str text, indim_arena *arena, indim_shape *out_shape) {
  INDIM_NOT_NULL(cx, out_shape);
  indim_lexer lexer;
  indim_shape shape;
  indim_lexer_init(&lexer, cx, (indim_source){.text = text});
  INDIM_TRY(indim_shape_parse_tokens(&lexer, arena, &shape));
  if (lexer.token.kind != INDIM_TOKEN_END) {
    bool brace = lexer.token.kind == INDIM_TOKEN_LBRACE;
    indim_status status = indim_lexer_expected(&lexer, "the end of the text after the shape");
    if (brace) {
      indim_hint(cx, "a layout lists each dimension of the array once, the fastest varying first: {1,0}");
    }
    return status;
  }
  *out_shape = shape;
  return INDIM_OK;
}
