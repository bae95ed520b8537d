// The picture of a shape: its parts in words, then the array and its memory; of a tuple, that of each array in it.
#include "shape.h"

#include <inttypes.h>

#include "build.h"
#include "draw.h"
#include "indim/shape_util.h"

enum { MOST_LEAVES = 16 };  // drawn of a tuple; the others are counted

// The array and its memory as grids; |shape| is bounded.
static indim_status add_drawing(picture *p, const indim_shape *shape, int64_t places, const picture_options *options) {
  draw_source own = {shape, NULL};
  int64_t elements = indim_shape_element_count(shape);
  bool has_letters = elements > 0 && elements <= DRAW_LETTERS;
  indim_status status = INDIM_OK;
  if (places == 0) {
    picture_note(p, "a size is 0: no elements, and no memory");
    return INDIM_OK;
  }
  if (has_letters) {
    status = draw_array(p, shape, &own, places, DRAW_NAMES, "the array", false, options);
  }
  if (status == INDIM_OK) {
    status =
        draw_array(p, shape, &own, places, DRAW_PLACES, "the place of each element in memory", has_letters, options);
  }
  if (status == INDIM_OK) {
    status = draw_memory(p, shape, &own, places,
                         elements <= DRAW_LETTERS ? "memory, place by place" : "memory, the index at each place", -1,
                         options);
  }
  if (status == INDIM_OK && places > elements) {
    picture_note(p, shape->layout.padded_rank > 0 ? "padding is shown by its value in memory; ? is not stated"
                                                  : ". is padding");
  }
  return status == INDIM_OK ? picture_status(p) : status;
}

static indim_status add_array(picture *p, const indim_shape *shape, const picture_options *options) {
  unsigned parts = options->parts == 0 ? PICTURE_FACTS | PICTURE_DRAWINGS : options->parts;
  bool is_bounded = !indim_shape_is_unbounded(shape);
  int64_t places = 0;
  int64_t bytes = 0;
  indim_status status = INDIM_OK;
  if (is_bounded) {
    status = indim_shape_storage_count(p->blocks.cx, shape, &places);
    status = status == INDIM_OK ? indim_shape_storage_bytes(p->blocks.cx, shape, &bytes) : status;
  }
  if (status == INDIM_OK && (parts & PICTURE_FACTS) != 0) {
    shape_add_facts(p, shape, places, bytes);
  }
  if (status == INDIM_OK && is_bounded && (parts & PICTURE_DRAWINGS) != 0) {
    status = add_drawing(p, shape, places, options);
  }
  return status;
}

static void add_title(picture *p, const indim_shape *shape, const indim_shape_walk *walk) {
  indim_buffer text;
  indim_buffer_init(&text, p->blocks.cx);
  if (walk != NULL && walk->length > 0) {
    indim_shape_path_print(walk->path, walk->length, &text);
    indim_buffer_text(&text, " ");
  }
  indim_shape_print(shape, true, &text);
  picture_heading_from(p, &text);
  indim_buffer_deinit(&text);
}

static indim_status add_leaf(picture *p, const indim_shape *shape, const picture_options *options) {
  if (shape->type == INDIM_TOKEN) {
    picture_fact(p, "token", "orders what has effects; it has no data");
    return INDIM_OK;
  }
  if (shape->type == INDIM_OPAQUE) {
    picture_fact(p, "opaque", "what only custom calls know; its data is their business");
    return INDIM_OK;
  }
  if (shape->type == INDIM_BUFFER && shape->member_count == 1) {
    picture_fact(p, "buffer", "one array's memory, which may be updated in place");
    return add_array(p, shape->members[0], options);
  }
  return add_array(p, shape, options);
}

static indim_status add_tuple(picture *p, const indim_shape *shape, const picture_options *options) {
  int64_t leaves = indim_shape_leaf_count(shape);
  int64_t shown = 0;
  indim_status status = INDIM_OK;
  indim_shape_walk walk;
  picture_fact(p, "tuple", "%" PRId64 " member%s, %" PRId64 " in all that are no tuples", shape->member_count,
               shape->member_count == 1 ? "" : "s", leaves);
  indim_shape_walk_init(&walk, shape);
  while (status == INDIM_OK && (shown < MOST_LEAVES || options->all) && indim_shape_walk_next_leaf(&walk)) {
    add_title(p, walk.shape, &walk);
    status = add_leaf(p, walk.shape, options);
    shown++;
  }
  if (shown < leaves) {
    picture_note(p, "%" PRId64 " more are not shown", leaves - shown);
  }
  return status;
}

indim_status picture_add_shape(picture *p, const indim_shape *shape, const picture_options *options) {
  static const picture_options usual = {0};
  options = options == NULL ? &usual : options;
  add_title(p, shape, NULL);
  indim_status status = shape->type == INDIM_TUPLE ? add_tuple(p, shape, options) : add_leaf(p, shape, options);
  return status == INDIM_OK ? picture_status(p) : status;
}
