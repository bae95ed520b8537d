// Reads layout text: {minor_to_major:parts}, the parts in one fixed order (shape.h lists them). Each part is a small
// reader of its own that runs when its name stands at the current token, so the order of the calls is the grammar.
#include <inttypes.h>

#include "array/shape_internal.h"
#include "array/shape_text.h"
#include "base/arena.h"

indim_status indim_shape_parse_int(indim_lexer *lexer, const char *what, int64_t *out_value) {
  const indim_token *token = &lexer->token;
  if (token->kind != INDIM_TOKEN_INT) {
    return indim_lexer_expected(lexer, what);
  }
  if (!token->negative && token->integer < 0) {
    return indim_fail_at(lexer->cx, INDIM_INVALID, &lexer->source, token->offset,
                         "%s %" PRIu64 " is beyond the largest, %" PRId64, what, (uint64_t)token->integer, INT64_MAX);
  }
  *out_value = token->integer;
  indim_lexer_next(lexer);
  return INDIM_OK;
}

// A number of at least |least|, with the text's place and |why| when it is less.
static indim_status read_int_from(indim_lexer *lexer, const char *what, int64_t least, const char *why,
                                  int64_t *out_value) {
  size_t offset = lexer->token.offset;
  int64_t value = 0;
  INDIM_TRY(indim_shape_parse_int(lexer, what, &value));
  if (value < least) {
    indim_fail_at(lexer->cx, INDIM_INVALID, &lexer->source, offset, "%s is %" PRId64, what, value);
    indim_hint(lexer->cx, "%s", why);
    return INDIM_INVALID;
  }
  *out_value = value;
  return INDIM_OK;
}

static indim_status too_many(indim_lexer *lexer, const char *what, int limit) {
  return indim_fail_at(lexer->cx, INDIM_LIMIT, &lexer->source, lexer->token.offset, "a layout holds at most %d %s",
                       limit, what);
}

// Integers separated by commas, at least one, appended to |values| of |capacity| from |*count| on.
static indim_status read_ints(indim_lexer *lexer, const char *what, int64_t least, const char *why, int64_t *values,
                              int32_t capacity, int32_t *count) {
  do {
    if (*count == capacity) {
      return too_many(lexer, what, capacity);
    }
    INDIM_TRY(read_int_from(lexer, what, least, why, &values[*count]));
    (*count)++;
  } while (indim_lexer_eat(lexer, INDIM_TOKEN_COMMA));
  return INDIM_OK;
}

static indim_status open_part(indim_lexer *lexer) { return indim_lexer_expect(lexer, INDIM_TOKEN_LPAREN, "'('"); }
static indim_status close_part(indim_lexer *lexer) { return indim_lexer_expect(lexer, INDIM_TOKEN_RPAREN, "')'"); }

// D(D,C+~): kinds of the dimensions of sparse arrays, which no longer mean anything.
static indim_status read_dimension_kinds(indim_lexer *lexer) {
  INDIM_TRY(open_part(lexer));
  do {
    if (!indim_lexer_is_word(lexer, "D") && !indim_lexer_is_word(lexer, "C") && !indim_lexer_is_word(lexer, "S") &&
        !indim_lexer_is_word(lexer, "H")) {
      return indim_lexer_expected(lexer, "a dimension kind D, C, S or H");
    }
    indim_lexer_next(lexer);
    indim_lexer_eat(lexer, INDIM_TOKEN_PLUS);
    indim_lexer_eat(lexer, INDIM_TOKEN_TILDE);
  } while (indim_lexer_eat(lexer, INDIM_TOKEN_COMMA));
  return close_part(lexer);
}

static indim_status read_padding(indim_lexer *lexer, indim_layout *layout) {
  static const char *const words[] = {"zero", "one", "lowest", "highest", "unknown"};
  INDIM_TRY(open_part(lexer));
  INDIM_TRY(read_ints(lexer, "padded widths", 0, "a padded width is the size of its dimension or more",
                      layout->padded_sizes, INDIM_MAX_RANK, &layout->padded_rank));
  if (indim_lexer_eat(lexer, INDIM_TOKEN_SEMICOLON)) {
    for (int i = 0; i < 5; i++) {
      if (indim_lexer_is_word(lexer, words[i])) {
        layout->padding_value = (indim_padding)(INDIM_PADDING_ZERO + i);
      }
    }
    if (layout->padding_value == INDIM_PADDING_INVALID) {
      return indim_lexer_expected(lexer, "a padding value: zero, one, lowest, highest or unknown");
    }
    indim_lexer_next(lexer);
  }
  return close_part(lexer);
}

static indim_status read_tile_entry(indim_lexer *lexer, int64_t *out_entry) {
  if (indim_lexer_eat(lexer, INDIM_TOKEN_ASTERISK)) {
    *out_entry = INDIM_TILE_COMBINE;
    return INDIM_OK;
  }
  if (lexer->token.kind == INDIM_TOKEN_INT && lexer->token.negative && lexer->token.integer == INDIM_TILE_COMBINE) {
    *out_entry = INDIM_TILE_COMBINE;  // how the marker reads as a number
    indim_lexer_next(lexer);
    return INDIM_OK;
  }
  return read_int_from(lexer, "a tile entry", 1, "a tile entry is a size from 1 up, or * to combine dimensions",
                       out_entry);
}

// T(8,128)(2,1)
static indim_status read_tiles(indim_lexer *lexer, indim_layout *layout) {
  int32_t entries = 0;
  INDIM_TRY(open_part(lexer));
  do {
    if (layout->tile_count == INDIM_MAX_TILES) {
      return too_many(lexer, "tiles", INDIM_MAX_TILES);
    }
    int32_t first = entries;
    do {
      if (entries == INDIM_MAX_TILE_SIZES) {
        return too_many(lexer, "tile entries", INDIM_MAX_TILE_SIZES);
      }
      INDIM_TRY(read_tile_entry(lexer, &layout->tile_sizes[entries]));
      entries++;
    } while (indim_lexer_eat(lexer, INDIM_TOKEN_COMMA));
    INDIM_TRY(close_part(lexer));
    layout->tile_ranks[layout->tile_count++] = entries - first;
  } while (indim_lexer_eat(lexer, INDIM_TOKEN_LPAREN));
  return INDIM_OK;
}

// SC(0:3)(1:0,4)
static indim_status read_splits(indim_lexer *lexer, indim_layout *layout) {
  int32_t indices = 0;
  INDIM_TRY(open_part(lexer));
  do {
    if (layout->split_count == INDIM_MAX_SPLITS) {
      return too_many(lexer, "splits", INDIM_MAX_SPLITS);
    }
    int32_t first = indices;
    INDIM_TRY(indim_shape_parse_int(lexer, "a split dimension", &layout->split_dimensions[layout->split_count]));
    INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_COLON, "':'"));
    INDIM_TRY(
        read_ints(lexer, "split indices", INT64_MIN, "", layout->split_indices, INDIM_MAX_SPLIT_INDICES, &indices));
    INDIM_TRY(close_part(lexer));
    layout->split_index_counts[layout->split_count++] = indices - first;
  } while (indim_lexer_eat(lexer, INDIM_TOKEN_LPAREN));
  return INDIM_OK;
}

// (u32)
static indim_status read_type(indim_lexer *lexer, indim_type *out_type) {
  INDIM_TRY(open_part(lexer));
  if (lexer->token.kind != INDIM_TOKEN_TYPE || !indim_type_is_unsigned_int(lexer->token.type)) {
    return indim_lexer_expected(lexer, "an unsigned integer type");
  }
  *out_type = lexer->token.type;
  indim_lexer_next(lexer);
  return close_part(lexer);
}

// (n)
static indim_status read_number(indim_lexer *lexer, const char *what, int64_t least, const char *why,
                                int64_t *out_value) {
  INDIM_TRY(open_part(lexer));
  INDIM_TRY(read_int_from(lexer, what, least, why, out_value));
  return close_part(lexer);
}

// An array's own layout has none; only a layout read alone may.
static indim_status read_physical_shape(indim_lexer *lexer, indim_arena *arena, const indim_shape *array,
                                        indim_layout *layout) {
  if (array != NULL) {
    return indim_fail_at(lexer->cx, INDIM_INVALID, &lexer->source, lexer->token.offset,
                         "layout has physical shape, but is not for a sparse array");
  }
  indim_lexer_next(lexer);
  INDIM_TRY(open_part(lexer));
  if (arena == NULL) {
    return indim_fail_at(lexer->cx, INDIM_INVALID, &lexer->source, lexer->token.offset,
                         "a physical shape needs an arena to live in, and none was given");
  }
  void *shape = NULL;
  INDIM_TRY(indim_arena_alloc(arena, sizeof(indim_shape), &shape));
  INDIM_TRY(indim_shape_parse_tokens(lexer, arena, shape));
  layout->physical_shape = shape;
  return close_part(lexer);
}

static bool eat_word(indim_lexer *lexer, const char *word) {
  if (!indim_lexer_is_word(lexer, word)) {
    return false;
  }
  indim_lexer_next(lexer);
  return true;
}

// What stands behind the colon.
static indim_status read_parts(indim_lexer *lexer, indim_arena *arena, const indim_shape *array, indim_layout *layout) {
  if (eat_word(lexer, "D")) {
    INDIM_TRY(read_dimension_kinds(lexer));
  }
  if (eat_word(lexer, "PAD")) {
    INDIM_TRY(read_padding(lexer, layout));
  }
  if (eat_word(lexer, "T")) {
    INDIM_TRY(read_tiles(lexer, layout));
  }
  if (eat_word(lexer, "L")) {
    INDIM_TRY(read_number(lexer, "the tail alignment", 1, "L(n) rounds the element count up to a multiple of n",
                          &layout->tail_alignment));
  }
  if (indim_lexer_eat(lexer, INDIM_TOKEN_HASH)) {
    INDIM_TRY(read_type(lexer, &layout->index_type));
  }
  if (indim_lexer_eat(lexer, INDIM_TOKEN_ASTERISK)) {
    INDIM_TRY(read_type(lexer, &layout->pointer_type));
  }
  if (eat_word(lexer, "E")) {
    INDIM_TRY(read_number(lexer, "the element size", 0, "E(n) is the bits of a stored element; 0 is the natural width",
                          &layout->element_bits));
  }
  if (eat_word(lexer, "S")) {
    INDIM_TRY(read_number(lexer, "the memory space", INT64_MIN, "", &layout->memory_space));
  }
  if (eat_word(lexer, "SC")) {
    INDIM_TRY(read_splits(lexer, layout));
  }
  if (indim_lexer_is_word(lexer, "P")) {
    INDIM_TRY(read_physical_shape(lexer, arena, array, layout));
  }
  if (eat_word(lexer, "M")) {
    INDIM_TRY(
        read_number(lexer, "the metadata prefix", 0, "M(n) is a number of bytes", &layout->metadata_prefix_bytes));
  }
  return INDIM_OK;
}

static indim_status read_end(indim_lexer *lexer) {
  indim_token_kind kind = lexer->token.kind;
  if (kind == INDIM_TOKEN_RBRACE) {
    indim_lexer_next(lexer);
    return INDIM_OK;
  }
  indim_status status = indim_lexer_expected(lexer, "'}' after the layout");
  if (kind == INDIM_TOKEN_IDENT || kind == INDIM_TOKEN_HASH || kind == INDIM_TOKEN_ASTERISK) {
    indim_hint(lexer->cx, "the parts stand in this order, each at most once: PAD T L # * E S SC P M");
  }
  return status;
}

static indim_status read_layout(indim_lexer *lexer, indim_arena *arena, const indim_shape *array,
                                indim_layout *out_layout) {
  size_t start = lexer->token.offset;
  indim_layout layout;
  indim_layout_init(0, &layout);
  INDIM_TRY(indim_lexer_expect(lexer, INDIM_TOKEN_LBRACE, "a layout"));
  if (lexer->token.kind == INDIM_TOKEN_INT) {
    INDIM_TRY(read_ints(lexer, "dimensions", INT64_MIN, "", layout.minor_to_major, INDIM_MAX_RANK, &layout.rank));
  }
  if (indim_lexer_eat(lexer, INDIM_TOKEN_COLON)) {
    INDIM_TRY(read_parts(lexer, arena, array, &layout));
  }
  INDIM_TRY(read_end(lexer));
  indim_status status = indim_layout_check(lexer->cx, &layout, array, false);
  if (status != INDIM_OK) {
    indim_place(lexer->cx, &lexer->source, start);
    return status;
  }
  *out_layout = layout;
  return INDIM_OK;
}

indim_status indim_layout_parse_tokens(indim_lexer *lexer, indim_arena *arena, indim_layout *out_layout) {
  return read_layout(lexer, arena, NULL, out_layout);
}

indim_status indim_layout_parse_of_array(indim_lexer *lexer, const indim_shape *array, indim_layout *out_layout) {
  return read_layout(lexer, NULL, array, out_layout);
}

indim_status indim_layout_parse(indim_ctx *cx, indim_str text, indim_arena *arena, indim_layout *out_layout) {
  INDIM_NOT_NULL(cx, out_layout);
  indim_lexer lexer;
  indim_layout layout;
  indim_lexer_init(&lexer, cx, (indim_source){.text = text});
  INDIM_TRY(indim_layout_parse_tokens(&lexer, arena, &layout));
  INDIM_TRY(indim_lexer_expect(&lexer, INDIM_TOKEN_END, "the end of the text after the layout"));
  *out_layout = layout;
  return INDIM_OK;
}
