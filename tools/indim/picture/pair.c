// The picture of A -> B: what it is, why, how many bytes move, which layout of B would be free, and both drawn with the
// elements under the same names.
#include "pair.h"

#include <inttypes.h>
#include <string.h>

#include "build.h"
#include "draw.h"
#include "indim/shape_util.h"

typedef struct pair {
  picture *p;
  const indim_shape *a;
  const indim_shape *b;
  const picture_options *options;
  indim_buffer text;  // of the fact being made
} pair;

static void say_name(pair *q, int64_t element) {
  int64_t index[INDIM_MAX_RANK];
  int64_t left = element;
  for (int32_t d = q->a->rank - 1; d >= 0; d--) {
    index[d] = left % q->a->sizes[d];
    left /= q->a->sizes[d];
  }
  if (indim_shape_element_count(q->a) <= DRAW_LETTERS) {
    indim_buffer_printf(&q->text, "%c", (char)('a' + element));
    return;
  }
  indim_buffer_text(&q->text, "the element (");
  for (int32_t d = 0; d < q->a->rank; d++) {
    indim_buffer_printf(&q->text, "%s%" PRId64, d == 0 ? "" : ",", index[d]);
  }
  indim_buffer_text(&q->text, ")");
}

static void say_permutation(pair *q, const int64_t *p, int32_t rank) {
  indim_buffer_char(&q->text, '{');
  for (int32_t i = 0; i < rank; i++) {
    indim_buffer_printf(&q->text, "%s%" PRId64, i == 0 ? "" : ",", p[i]);
  }
  indim_buffer_char(&q->text, '}');
}

static void say_kind(pair *q, const pair_reading *r) {
  bool same_type = q->a->type == q->b->type;
  if (r->kind == PAIR_SAME) {
    indim_buffer_text(&q->text,
                      r->is_free ? "the same indices, and a bitcast: no byte moves" : "a copy into another layout");
  } else if (r->kind == PAIR_TRANSPOSE) {
    indim_buffer_text(&q->text, "a transpose by ");
    say_permutation(q, r->p, q->b->rank);
  } else {
    indim_buffer_text(&q->text, "a reshape");
  }
  if (r->kind != PAIR_SAME) {
    indim_buffer_text(&q->text, r->is_free ? " that is a bitcast: no byte moves" : ", with a copy");
  }
  if (!same_type) {
    indim_buffer_printf(&q->text, "; the bits of each %s are read as %s (bitcast-convert)", indim_type_text(q->a->type),
                        indim_type_text(q->b->type));
  }
}

static void say_why(pair *q, const pair_reading *r) {
  if (r->is_free && r->is_sampled) {
    indim_buffer_printf(&q->text, "every element looked at (%" PRId64 " of %" PRId64 ") lies at the same place in both",
                        r->looked_at, indim_shape_element_count(q->a));
  } else if (r->is_free) {
    indim_buffer_text(&q->text, "every element lies at the same place in both");
  } else if (r->obstacle != NULL && r->first < 0) {
    indim_buffer_text(&q->text, r->obstacle);
  } else if (r->first >= 0) {
    say_name(q, r->first);
    indim_buffer_printf(&q->text, " lies at place %" PRId64 " of A and has to be at place %" PRId64 " of B", r->from,
                        r->to);
    if (r->obstacle != NULL) {
      indim_buffer_printf(&q->text, "; and %s", r->obstacle);
    }
  }
}

static void say_moves(pair *q, const pair_reading *r) {
  int64_t read = indim_shape_element_bytes(q->a);
  int64_t written = 0;
  if (r->is_free) {
    indim_buffer_text(&q->text, "0 bytes");
  } else if (indim_shape_storage_bytes(NULL, q->b, &written) == INDIM_OK) {
    indim_buffer_printf(&q->text, "%" PRId64 " bytes are read and %" PRId64 " written", read, written);
    if (!r->is_sampled && r->looked_at == indim_shape_element_count(q->a)) {
      indim_buffer_printf(&q->text, "; %" PRId64 " of %" PRId64 " elements change their place", r->moved, r->looked_at);
    }
  }
}

static void say_free(pair *q, const pair_reading *r) {
  if (r->has_free) {
    indim_shape_print(&r->free, true, &q->text);
    indim_buffer_text(&q->text, " would be a bitcast");
  } else {
    indim_buffer_text(&q->text,
                      r->kind == PAIR_RESHAPE
                          ? "no layout of B is known: its dimensions join or cut what does not lie together in A"
                          : "no layout of B is known");
  }
}

static void say_dimensions(pair *q, const pair_reading *r) {
  for (int32_t i = 0; i < q->b->rank; i++) {
    char name_a[8];
    char name_b[8];
    picture_dim_name(q->a, (int32_t)r->p[i], name_a);
    picture_dim_name(q->b, i, name_b);
    indim_buffer_printf(&q->text, "%sB's %s is A's %s", i == 0 ? "" : ", ", name_b, name_a);
  }
}

static void say_reading(pair *q, const pair_reading *r, bool is_first) {
  say_kind(q, r);
  if (!is_first && !r->is_free && r->has_free) {
    indim_buffer_text(&q->text, "; ");
    say_free(q, r);
  }
  picture_fact_from(q->p, is_first ? "what" : "or read as", &q->text);
  if (!is_first) {
    return;
  }
  say_why(q, r);
  picture_fact_from(q->p, "why", &q->text);
  if (r->kind == PAIR_TRANSPOSE) {
    say_dimensions(q, r);
    picture_fact_from(q->p, "dimensions", &q->text);
  }
  say_moves(q, r);
  picture_fact_from(q->p, "moves", &q->text);
  if (!r->is_free) {
    say_free(q, r);
    picture_fact_from(q->p, "free", &q->text);
  }
}

// Grids ------------------------------------------------------------------------------------------------------------

static int64_t places_of(const indim_shape *shape) {
  int64_t places = 0;
  return indim_shape_storage_count(NULL, shape, &places) == INDIM_OK ? places : 0;
}

static indim_status draw_pair(pair *q, const pair_reading *r) {
  draw_source own = {q->a, NULL};
  draw_source moved = {q->a, r->kind == PAIR_TRANSPOSE ? r->p : NULL};
  int64_t places[2] = {places_of(q->a), places_of(q->b)};
  bool is_small = indim_shape_element_count(q->a) <= DRAW_LETTERS;
  indim_status status = draw_array(q->p, q->a, &own, places[0], DRAW_NAMES, "A", false, q->options);
  if (status == INDIM_OK) {
    status =
        draw_array(q->p, q->b, &moved, places[1], DRAW_NAMES, is_small ? "B" : "B, by A's indices", true, q->options);
  }
  if (status == INDIM_OK) {
    status = draw_memory(q->p, q->a, &own, places[0], "memory of A", -1, q->options);
  }
  int32_t from = (int32_t)picture_block_count(q->p) - 1;
  bool joins = is_small && places[0] > 0 && places[1] > 0;
  while (joins && from > 0 && picture_block_at(q->p, (size_t)from)->kind != PICTURE_GRID) {
    from--;
  }
  if (status == INDIM_OK) {
    status = draw_memory(q->p, q->b, &moved, places[1], "memory of B", joins ? from : -1, q->options);
  }
  return status;
}

static void say_shape(pair *q, const char *label, const indim_shape *shape) {
  int64_t bytes = 0;
  indim_shape_print(shape, true, &q->text);
  if (indim_shape_is_array(shape) && !indim_shape_is_unbounded(shape) &&
      indim_shape_storage_bytes(NULL, shape, &bytes) == INDIM_OK) {
    indim_buffer_printf(&q->text, ": %" PRId64 " elements, %" PRId64 " bytes", indim_shape_element_count(shape), bytes);
  }
  picture_fact_from(q->p, label, &q->text);
}

static bool is_readable(const indim_shape *shape) {
  return indim_shape_is_array(shape) && !indim_shape_is_unbounded(shape);
}

// bitcast-convert between types of other widths: the narrower one has the parts as its last dimension. Says so and
// whether a byte moves, or says nothing.
static void say_parts(pair *q) {
  bool widens = indim_shape_element_bits(q->a) < indim_shape_element_bits(q->b);
  const indim_shape *narrow = widens ? q->a : q->b;
  const indim_shape *wide = widens ? q->b : q->a;
  int64_t parts = indim_shape_element_bits(wide) / indim_shape_element_bits(narrow);
  int64_t last = narrow->rank - 1;
  indim_shape whole;
  if (narrow->rank != wide->rank + 1 || narrow->sizes[last] != parts ||
      pair_type_bits(narrow->type) * parts != pair_type_bits(wide->type) ||
      memcmp(narrow->sizes, wide->sizes, (size_t)wide->rank * sizeof wide->sizes[0]) != 0 ||
      indim_shape_delete_dims(NULL, narrow, 1, &last, &whole) != INDIM_OK) {
    return;
  }
  bool is_free = narrow->layout.tile_count == 0 && wide->layout.tile_count == 0 &&
                 narrow->layout.minor_to_major[0] == last && indim_shape_reshape_is_bitcast(&whole, wide, true);
  indim_buffer_printf(&q->text, "a bitcast-convert: %" PRId64 " %s are the bits of a %s, along %s's last dimension; %s",
                      parts, indim_type_text(narrow->type), indim_type_text(wide->type), widens ? "A" : "B",
                      is_free ? "no byte moves" : "in these layouts bytes move");
}

// The lists of dimensions by which HLO's broadcast makes B of A, a few of them; sizes of 1 are not stretched by it.
static void say_broadcast(pair *q) {
  enum { MOST_LISTS = 16 };
  int64_t lists[MOST_LISTS * INDIM_MAX_RANK];
  int32_t rank = q->a->rank;
  int64_t count = rank < q->b->rank ? picture_valid_dims(q->a, q->b, lists, MOST_LISTS) : 0;
  for (int64_t n = 0; n < count && n < MOST_LISTS; n++) {
    const int64_t *dims = lists + n * rank;
    bool fits = true;
    for (int32_t i = 0; i < rank; i++) {
      fits = fits && q->a->sizes[i] == q->b->sizes[dims[i]];
    }
    if (fits) {
      indim_buffer_text(&q->text, q->text.size == 0 ? "a broadcast of A makes B, with dimensions=" : " or ");
      say_permutation(q, dims, rank);
    }
  }
  if (q->text.size > 0) {
    picture_fact_from(q->p, "way out", &q->text);
  }
}

// Why there is no way by moving elements, if so. Numbers of another type are other values, not other places.
static bool say_impossible(pair *q) {
  if (!is_readable(q->a) || !is_readable(q->b)) {
    indim_buffer_text(&q->text, "impossible: only arrays with known sizes can be compared");
    return true;
  }
  if (indim_type_is_complex(q->a->type) != indim_type_is_complex(q->b->type)) {
    indim_buffer_text(&q->text, "impossible: complex numbers and real ones are not read as each other (real, imag and "
                                "complex make new elements)");
    return true;
  }
  if (indim_shape_element_bits(q->a) != indim_shape_element_bits(q->b)) {
    say_parts(q);
  }
  if (q->text.size > 0) {
    return true;
  }
  if (indim_shape_element_count(q->a) != indim_shape_element_count(q->b)) {
    indim_buffer_printf(&q->text,
                        "impossible: %" PRId64 " elements cannot become %" PRId64
                        " (broadcast, slice, pad, reduce change their number)",
                        indim_shape_element_count(q->a), indim_shape_element_count(q->b));
  } else if (q->a->type != q->b->type && (pair_type_bits(q->a->type) != pair_type_bits(q->b->type) ||
                                          indim_shape_element_bits(q->a) != indim_shape_element_bits(q->b))) {
    indim_buffer_printf(&q->text,
                        "not the same bytes: every %s has to become a %s (convert): %" PRId64
                        " bytes are read and %" PRId64 " written",
                        indim_type_text(q->a->type), indim_type_text(q->b->type), indim_shape_element_bytes(q->a),
                        indim_shape_element_bytes(q->b));
  }
  return q->text.size > 0;
}

static indim_status add_pair(pair *q, pair_reading *readings) {
  unsigned parts = q->options->parts == 0 ? PICTURE_FACTS | PICTURE_DRAWINGS : q->options->parts;
  indim_buffer_text(&q->text, "A -> B");
  picture_heading_from(q->p, &q->text);
  say_shape(q, "A", q->a);
  say_shape(q, "B", q->b);
  if (say_impossible(q)) {
    picture_fact_from(q->p, "what", &q->text);
    if (is_readable(q->a) && is_readable(q->b) && q->a->type == q->b->type) {
      say_broadcast(q);
    }
    return picture_status(q->p);
  }
  int32_t count = pair_read(q->a, q->b, readings);
  for (int32_t i = 0; i < count; i++) {
    say_reading(q, &readings[i], i == 0);
  }
  if (count > 0 && (parts & PICTURE_DRAWINGS) != 0) {
    indim_status status = draw_pair(q, &readings[0]);
    return status == INDIM_OK ? picture_status(q->p) : status;
  }
  return picture_status(q->p);
}

indim_status picture_add_pair(picture *p, const indim_shape *a, const indim_shape *b, const picture_options *options) {
  static const picture_options usual = {0};
  pair_reading readings[PAIR_MOST_READINGS];
  pair q = {.p = p, .a = a, .b = b, .options = options == NULL ? &usual : options};
  indim_buffer_init(&q.text, p->blocks.cx);
  indim_status status = add_pair(&q, readings);
  indim_buffer_deinit(&q.text);
  return status;
}
