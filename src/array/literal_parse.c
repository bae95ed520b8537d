// Reads literal text. Values go row by row into a dense array, which is the literal's own storage when
// that is plain. Rows of plain numbers are read straight from the bytes; whatever is unusual goes through the lexer.
//
// The text is trusted in nothing: storage is only allocated when the text is long enough to hold that many values.
#include "array/literal_text.h"

#include <inttypes.h>
#include <string.h>

#include "array/literal_internal.h"
#include "array/shape_text.h"
#include "base/arena.h"

typedef struct reader {
  indim_lexer *lexer;
  const indim_shape *shape;
  const int64_t *sizes;          // that the text must have
  unsigned char *values;         // dense, of the shape's bounds; NULL: count only
  const int64_t *strides;        // of |values|, in elements
  int32_t level;                 // braces open
  bool elided;                   // {...} was seen
  int64_t seen[INDIM_MAX_RANK];  // items of each open brace
} reader;

// Arrays ----------------------------------------------------------------------------------------------------------

static int64_t row_start(const reader *r) {
  int64_t at = 0;
  for (int32_t d = 0; d < r->shape->rank - 1; d++) {
    at += (r->seen[d] - 1) * r->strides[d];
  }
  return at;
}

// Reads numbers as long as they are plain and the row has room, then puts the lexer behind them.
static void read_plain_row(reader *r) {
  indim_type type = r->shape->type;
  int32_t last = r->shape->rank - 1;
  int64_t natural = 8 * (int64_t)indim_type_bytes(type);
  const char *text = r->lexer->source.text.data;
  const char *end = text + r->lexer->source.text.size;
  const char *p = text + r->lexer->token.offset;
  const char *start = p;
  int64_t at = row_start(r);
  while (r->seen[last] < r->sizes[last]) {
    indim_element element;
    size_t size = indim_literal_read_plain(type, p, end, &element);
    if (size == 0) {
      break;
    }
    if (r->values != NULL) {
      indim_element_store(type, natural, r->values, at + r->seen[last], element);
    }
    r->seen[last]++;
    p += size;
    while (p < end && (*p == ',' || *p == ' ' || *p == '\n')) {
      p++;
    }
  }
  if (p != start) {
    indim_lexer_seek(r->lexer, (size_t)(p - text));
  }
}

// "[1,0]": which item of the outer |count| braces the text is in.
static void index_text(const reader *r, int32_t count, char out[64]) {
  size_t size = 0;
  out[size++] = '[';
  for (int32_t d = 0; d < count && size < 40; d++) {
    char number[24];
    size_t digits = indim_element_print(INDIM_S64, indim_element_of_int(INDIM_S64, r->seen[d] - 1), number);
    if (d > 0) {
      out[size++] = ',';
    }
    memcpy(out + size, number, digits);
    size += digits;
  }
  out[size++] = ']';
  out[size] = '\0';
}

static indim_status fail_place(const reader *r, const char *message) {
  return indim_fail_at(r->lexer->cx, INDIM_INVALID, &r->lexer->source, r->lexer->token.offset, "%s: %s",
                       indim_shape_name_of(r->shape).text, message);
}

static indim_status fail_count(const reader *r, int32_t dim, bool more) {
  char index[64];
  index_text(r, dim, index);
  char sees[40] = "more";
  if (!more) {
    indim_element_print(INDIM_S64, indim_element_of_int(INDIM_S64, r->seen[dim]), sees);
  }
  return indim_fail_at(r->lexer->cx, INDIM_INVALID, &r->lexer->source, r->lexer->token.offset,
                       "%s: expects %" PRId64 " elements in the %sth element, but sees %s",
                       indim_shape_name_of(r->shape).text, r->sizes[dim], index, sees);
}

static indim_status open_brace(reader *r) {
  if (r->level == r->shape->rank) {
    char message[80] = "expects nested array in rank ";
    indim_element_print(INDIM_S64, indim_element_of_int(INDIM_S64, r->shape->rank), message + strlen(message));
    strcat(message, ", but sees larger");
    return fail_place(r, message);
  }
  if (r->level > 0 && ++r->seen[r->level - 1] > r->sizes[r->level - 1]) {
    return fail_count(r, r->level - 1, true);
  }
  r->seen[r->level++] = 0;
  indim_lexer_next(r->lexer);
  return INDIM_OK;
}

static indim_status close_brace(reader *r) {
  if (r->level == 0) {
    return fail_place(r, "unexpected '}' token");
  }
  r->level--;
  if (r->seen[r->level] != r->sizes[r->level]) {
    return fail_count(r, r->level, false);
  }
  indim_lexer_next(r->lexer);
  return INDIM_OK;
}

// "..." stands for all that the outermost braces hold, also for what was read before it.
static indim_status read_dots(reader *r) {
  if (r->level != 1 || r->elided) {
    return fail_place(r, "'...' is only allowed once, directly inside the outermost braces");
  }
  r->elided = true;
  r->seen[0] = r->sizes[0];
  indim_lexer_next(r->lexer);
  return INDIM_OK;
}

static indim_status read_item(reader *r) {
  int32_t rank = r->shape->rank;
  indim_element element;
  if (r->level != rank) {
    if (r->lexer->token.kind == INDIM_TOKEN_END || r->lexer->token.kind == INDIM_TOKEN_ERROR) {
      return indim_lexer_expected(r->lexer, r->level == 0 ? "'{'" : "'{' or '}'");
    }
    indim_fail_at(r->lexer->cx, INDIM_INVALID, &r->lexer->source, r->lexer->token.offset,
                  "%s: expects nested array in rank %" PRId32 ", but sees %" PRId32, indim_shape_name_of(r->shape).text,
                  rank, r->level);
    indim_hint(r->lexer->cx, "values stand inside as many braces as the array has dimensions");
    return INDIM_INVALID;
  }
  if (rank > 0 && r->seen[rank - 1] >= r->sizes[rank - 1] && r->lexer->token.kind != INDIM_TOKEN_END &&
      r->lexer->token.kind != INDIM_TOKEN_ERROR) {
    return fail_count(r, rank - 1, true);
  }
  INDIM_TRY(indim_literal_read_element(r->lexer, r->shape->type, &element));
  if (r->values != NULL) {
    int64_t at = rank > 0 ? row_start(r) + r->seen[rank - 1] : 0;
    indim_element_store(r->shape->type, 8 * (int64_t)indim_type_bytes(r->shape->type), r->values, at, element);
  }
  if (rank > 0) {
    r->seen[rank - 1]++;
  }
  return INDIM_OK;
}

static indim_status read_values(reader *r) {
  int32_t rank = r->shape->rank;
  do {
    switch ((int)r->lexer->token.kind) {
    case INDIM_TOKEN_LBRACE:
      INDIM_TRY(open_brace(r));
      break;
    case INDIM_TOKEN_RBRACE:
      INDIM_TRY(close_brace(r));
      break;
    case INDIM_TOKEN_DOTS:
      INDIM_TRY(read_dots(r));
      break;
    case INDIM_TOKEN_COMMA:
      if (r->level == 0) {
        return indim_lexer_expected(r->lexer, rank == 0 ? "a value" : "'{'");
      }
      indim_lexer_next(r->lexer);
      break;
    default:
      INDIM_TRY(read_item(r));
    }
    INDIM_TRY(indim_poll(r->lexer->cx));
    bool number = r->lexer->token.kind == INDIM_TOKEN_INT || r->lexer->token.kind == INDIM_TOKEN_DECIMAL;
    if (rank > 0 && r->level == rank && number && !indim_type_is_complex(r->shape->type)) {
      read_plain_row(r);
    }
  } while (r->level > 0);
  return INDIM_OK;
}

// "{...}" from the current token on; steps over it.
static bool eat_dots(indim_lexer *lexer) {
  indim_lexer ahead = *lexer;
  if (indim_lexer_eat(&ahead, INDIM_TOKEN_LBRACE) && indim_lexer_eat(&ahead, INDIM_TOKEN_DOTS) &&
      indim_lexer_eat(&ahead, INDIM_TOKEN_RBRACE)) {
    *lexer = ahead;
    return true;
  }
  return false;
}

// Reads the values into |literal|, or only counts them if that is NULL.
static indim_status read_into(reader *r, indim_literal *literal) {
  indim_ctx *cx = r->lexer->cx;
  int64_t strides[INDIM_MAX_RANK];
  indim_dense_strides(r->shape->rank, r->shape->sizes, strides);
  r->strides = strides;
  if (literal == NULL || indim_literal_is_plain(literal)) {
    r->values = literal == NULL ? NULL : literal->data;
    return read_values(r);
  }
  void *dense = NULL;
  size_t bytes = (size_t)(indim_shape_element_count(r->shape) * indim_type_bytes(r->shape->type));
  INDIM_TRY(indim_alloc_zeroed(cx, bytes, &dense));
  r->values = dense;
  indim_status status = read_values(r);
  if (status == INDIM_OK && !r->elided) {
    status = indim_literal_write_dense(cx, literal, dense, (int64_t)bytes);
  }
  indim_free(cx, dense, bytes);
  return status;
}

// |sizes|: what the text holds along each dimension, at most the shape's own sizes.
static indim_status read_array(indim_lexer *lexer, const indim_shape *shape, const int64_t *sizes,
                               indim_literal **out) {
  indim_ctx *cx = lexer->cx;
  reader r = {.lexer = lexer, .shape = shape, .sizes = sizes};
  if (shape->rank > 0 && eat_dots(lexer)) {
    return indim_literal_create_elided(cx, shape, out);
  }
  // A value takes at least one byte of text. With less text than values only the reason is of interest.
  int64_t count = 1;
  for (int32_t d = 0; d < shape->rank; d++) {
    count = sizes[d] == 0 ? 0 : count > INT64_MAX / sizes[d] ? INT64_MAX : count * sizes[d];
  }
  indim_literal *literal = NULL;
  if ((uint64_t)count <= lexer->source.text.size - lexer->token.offset) {
    INDIM_TRY(indim_literal_create(cx, shape, &literal));
  }
  indim_status status = read_into(&r, literal);
  if (status == INDIM_OK && (r.elided || literal == NULL)) {
    indim_literal_destroy(literal);
    return r.elided ? indim_literal_create_elided(cx, shape, out)
                    : indim_fail(cx, INDIM_INTERNAL, "a literal has more values than bytes of text");
  }
  if (status != INDIM_OK) {
    indim_literal_destroy(literal);
    return status;
  }
  *out = literal;
  return INDIM_OK;
}

// Tuples ----------------------------------------------------------------------------------------------------------

// Literals that become a tuple.
typedef struct member_list {
  indim_ctx *cx;
  indim_literal **items;
  size_t count;
  size_t capacity;
} member_list;

static indim_status add_member(member_list *list, indim_literal *literal) {
  if (list->count == list->capacity) {
    size_t capacity = list->capacity == 0 ? 4 : list->capacity * 2;
    void *items = list->items;
    indim_status status =
        indim_resize(list->cx, &items, list->capacity * sizeof list->items[0], capacity * sizeof list->items[0]);
    if (status != INDIM_OK) {
      indim_literal_destroy(literal);
      return status;
    }
    list->items = items;
    list->capacity = capacity;
  }
  list->items[list->count++] = literal;
  return INDIM_OK;
}

// Makes the tuple if all went well so far; frees the list either way.
static indim_status finish_members(member_list *list, indim_status status, indim_literal **out) {
  if (status == INDIM_OK) {
    status = indim_literal_create_tuple(list->cx, list->items, (int64_t)list->count, out);
  }
  for (size_t i = 0; status != INDIM_OK && i < list->count; i++) {
    indim_literal_destroy(list->items[i]);
  }
  indim_free(list->cx, list->items, list->capacity * sizeof list->items[0]);
  return status;
}

static indim_status fail_depth(indim_lexer *lexer) {
  return indim_fail_at(lexer->cx, INDIM_LIMIT, &lexer->source, lexer->token.offset, "tuples are nested deeper than %d",
                       INDIM_MAX_TUPLE_DEPTH);
}

static indim_status read_body(indim_lexer *lexer, const indim_shape *shape, int32_t depth, indim_literal **out);

static indim_status read_member_bodies(indim_lexer *lexer, const indim_shape *shape, int32_t depth, member_list *list) {
  INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_LPAREN, "'(' before the members of a tuple"));
  for (int64_t i = 0; i < shape->member_count; i++) {
    indim_literal *member = NULL;
    if (i > 0) {
      INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_COMMA, "',' between the members of a tuple"));
    }
    INDIM_TRY(read_body(lexer, shape->members[i], depth + 1, &member));
    INDIM_TRY(add_member(list, member));
  }
  return indim_lexer_expect(lexer, INDIM_TOKEN_RPAREN, "')' after the last member of the tuple");
}

// |shape| without its dynamic flags: text has all elements up to the bounds.
static indim_status read_static_array(indim_lexer *lexer, const indim_shape *shape, indim_literal **out) {
  if (indim_shape_is_unbounded(shape)) {
    return indim_fail_at(lexer->cx, INDIM_INVALID, &lexer->source, lexer->token.offset,
                         "a literal cannot be %s: a dimension has no bound", indim_shape_name_of(shape).text);
  }
  if (shape->dynamic == 0) {
    return read_array(lexer, shape, shape->sizes, out);
  }
  indim_shape fixed = *shape;
  fixed.dynamic = 0;
  return read_array(lexer, &fixed, fixed.sizes, out);
}

static indim_status read_body(indim_lexer *lexer, const indim_shape *shape, int32_t depth, indim_literal **out) {
  if (indim_shape_is_array(shape)) {
    return read_static_array(lexer, shape, out);
  }
  if (!indim_shape_is_tuple(shape)) {
    return indim_fail_at(lexer->cx, INDIM_INVALID, &lexer->source, lexer->token.offset,
                         "there is no literal text for %s", indim_shape_name_of(shape).text);
  }
  if (depth >= INDIM_MAX_TUPLE_DEPTH) {
    return fail_depth(lexer);
  }
  member_list list = {.cx = lexer->cx};
  indim_status status = read_member_bodies(lexer, shape, depth, &list);
  return finish_members(&list, status, out);
}

indim_status indim_literal_parse_body(indim_lexer *lexer, const indim_shape *shape, indim_literal **out_literal) {
  *out_literal = NULL;
  INDIM_TRY(indim_shape_validate(lexer->cx, shape, false));
  return read_body(lexer, shape, 0, out_literal);
}

// With shapes -----------------------------------------------------------------------------------------------------

// Whether the parentheses that begin here hold shapes only and values follow: "(f32[2], s32[]) ({1, 2}, 3)", not
// "(f32[2] {1, 2}, s32[] 3)".
static bool tuple_shape_ahead(const indim_lexer *lexer) {
  indim_lexer ahead = *lexer;
  size_t open = 0;
  bool in_sizes = false;
  for (;;) {
    indim_token_kind kind = ahead.token.kind;
    bool touching = ahead.token.offset == ahead.previous_end;
    if (kind == INDIM_TOKEN_LPAREN || kind == INDIM_TOKEN_RPAREN) {
      open += kind == INDIM_TOKEN_LPAREN ? 1U : (size_t)-1;
    } else if (kind == INDIM_TOKEN_LSQUARE || kind == INDIM_TOKEN_RSQUARE) {
      in_sizes = kind == INDIM_TOKEN_LSQUARE;
    } else if (kind == INDIM_TOKEN_LBRACE && touching) {
      while (ahead.token.kind != INDIM_TOKEN_RBRACE && ahead.token.kind != INDIM_TOKEN_END &&
             ahead.token.kind != INDIM_TOKEN_ERROR) {
        indim_lexer_next(&ahead);
      }
    } else if (!in_sizes && kind != INDIM_TOKEN_TYPE && kind != INDIM_TOKEN_COMMA &&
               !indim_lexer_is_word(&ahead, "b")) {
      return false;
    } else if (kind == INDIM_TOKEN_END || kind == INDIM_TOKEN_ERROR) {
      return false;
    }
    indim_lexer_next(&ahead);
    if (open == 0) {
      return ahead.token.kind == INDIM_TOKEN_LPAREN || ahead.token.kind == INDIM_TOKEN_LBRACE;
    }
  }
}

// "(2,3)": the run-time sizes that the printer puts behind a dynamic shape.
static indim_status read_run_time_sizes(indim_lexer *lexer, const indim_shape *shape, int64_t *out_sizes) {
  for (int32_t d = 0; d < shape->rank; d++) {
    INDIM_TRY(indim_lexer_expect(lexer, d == 0 ? INDIM_TOKEN_LPAREN : INDIM_TOKEN_COMMA,
                                 "a run-time size for each dimension"));
    const indim_token *token = &lexer->token;
    bool fixed = !indim_shape_is_dynamic_dim(shape, d);
    if (token->kind != INDIM_TOKEN_INT) {
      return indim_lexer_expected(lexer, "a run-time size");
    }
    if (token->integer < 0 || token->integer > shape->sizes[d] || (fixed && token->integer != shape->sizes[d])) {
      return indim_fail_at(lexer->cx, INDIM_INVALID, &lexer->source, token->offset,
                           "the run-time size %" PRId64 " of dimension %" PRId32 " does not fit %s", token->integer, d,
                           indim_shape_name_of(shape).text);
    }
    out_sizes[d] = token->integer;
    indim_lexer_next(lexer);
  }
  return indim_lexer_expect(lexer, INDIM_TOKEN_RPAREN, "')' after the run-time sizes");
}

static indim_status read_dynamic_array(indim_lexer *lexer, const indim_shape *shape, indim_literal **out) {
  int64_t sizes[INDIM_MAX_RANK];
  INDIM_TRY(read_run_time_sizes(lexer, shape, sizes));
  INDIM_TRY(read_array(lexer, shape, sizes, out));
  memcpy((*out)->dynamic_sizes, sizes, (size_t)shape->rank * sizeof sizes[0]);
  return INDIM_OK;
}

static indim_status read_shape_and_body(indim_lexer *lexer, indim_literal **out) {
  indim_shape shape;
  indim_arena arena;
  indim_arena_init(&arena, lexer->cx);
  indim_status status = indim_shape_parse_tokens_before_values(lexer, &arena, &shape);
  if (status == INDIM_OK) {
    bool has_sizes = indim_shape_is_array(&shape) && shape.dynamic != 0 && !indim_shape_is_unbounded(&shape) &&
                     lexer->token.kind == INDIM_TOKEN_LPAREN;
    status = has_sizes ? read_dynamic_array(lexer, &shape, out) : read_body(lexer, &shape, 0, out);
  }
  indim_arena_deinit(&arena);
  return status;
}

static indim_status read_literal(indim_lexer *lexer, int32_t depth, indim_literal **out);

static indim_status read_members(indim_lexer *lexer, int32_t depth, member_list *list) {
  indim_lexer_next(lexer);
  while (lexer->token.kind != INDIM_TOKEN_RPAREN) {
    indim_literal *member = NULL;
    INDIM_TRY(read_literal(lexer, depth + 1, &member));
    INDIM_TRY(add_member(list, member));
    indim_lexer_eat(lexer, INDIM_TOKEN_COMMA);
  }
  indim_lexer_next(lexer);
  return INDIM_OK;
}

static indim_status read_literal(indim_lexer *lexer, int32_t depth, indim_literal **out) {
  if (lexer->token.kind != INDIM_TOKEN_LPAREN || tuple_shape_ahead(lexer)) {
    return read_shape_and_body(lexer, out);
  }
  if (depth >= INDIM_MAX_TUPLE_DEPTH) {
    return fail_depth(lexer);
  }
  member_list list = {.cx = lexer->cx};
  indim_status status = read_members(lexer, depth, &list);
  return finish_members(&list, status, out);
}

indim_status indim_literal_parse(indim_ctx *cx, indim_str text, indim_literal **out_literal) {
  indim_lexer lexer;
  INDIM_NOT_NULL(cx, cx);
  INDIM_NOT_NULL(cx, out_literal);
  *out_literal = NULL;
  indim_lexer_init(&lexer, cx, (indim_source){{"", 0}, text});
  INDIM_TRY(read_literal(&lexer, 0, out_literal));
  if (lexer.token.kind != INDIM_TOKEN_END) {
    indim_literal_destroy(*out_literal);
    *out_literal = NULL;
    return indim_lexer_expected(&lexer, "the end of the literal");
  }
  return INDIM_OK;
}
