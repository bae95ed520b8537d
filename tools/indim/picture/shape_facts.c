// The parts of a shape in words.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "build.h"
#include "indim/index.h"
#include "shape.h"
#include "tiles.h"

static const char *plural(int64_t count) { return count == 1 ? "" : "s"; }

static const char *class_of(indim_type type) {
  return type == INDIM_PRED                 ? "true or false"
         : indim_type_is_signed_int(type)   ? "signed integer"
         : indim_type_is_unsigned_int(type) ? "unsigned integer"
         : indim_type_is_complex(type)      ? "complex number"
         : indim_type_is_float(type)        ? "floating point"
         : type == INDIM_F8E8M0FNU          ? "power of two"
                                            : "number";
}

static void say_type(picture *p, const indim_shape *shape) {
  int32_t bits = indim_type_bits(shape->type);
  int32_t bytes = indim_type_bytes(shape->type);
  int64_t stored = indim_shape_element_bits(shape);
  indim_buffer text;
  indim_buffer_init(&text, p->blocks.cx);
  indim_buffer_printf(&text, "%s: %s, %d bit%s", indim_type_text(shape->type), class_of(shape->type), (int)bits,
                      plural(bits));
  if (shape->layout.element_bits != 0) {
    indim_buffer_printf(&text, "; E(%" PRId64 ") stores each in %" PRId64 " bits", shape->layout.element_bits, stored);
    if (stored > 0 && stored < 8 && 8 % stored == 0) {
      indim_buffer_printf(&text, ", %" PRId64 " in a byte, the first in its low bits", 8 / stored);
    }
  } else if (bits < 8) {
    indim_buffer_printf(&text, ", each in a byte of its own");
  } else {
    indim_buffer_printf(&text, ", %d byte%s", (int)bytes, plural(bytes));
  }
  picture_fact_from(p, "type", &text);
  indim_buffer_deinit(&text);
}

static void say_dimensions(picture *p, const indim_shape *shape) {
  indim_buffer text;
  indim_buffer_init(&text, p->blocks.cx);
  for (int32_t d = 0; d < shape->rank; d++) {
    char name[8];
    picture_dim_name(shape, d, name);
    if (shape->sizes[d] == INDIM_UNBOUNDED) {
      indim_buffer_printf(&text, "%s%s = ?", d == 0 ? "" : ", ", name);
    } else {
      indim_buffer_printf(&text, "%s%s %s %" PRId64, d == 0 ? "" : ", ", name,
                          indim_shape_is_dynamic_dim(shape, d) ? "<=" : "=", shape->sizes[d]);
    }
  }
  int32_t true_rank = indim_shape_true_rank(shape);
  indim_buffer_printf(&text, "%srank %d", shape->rank == 0 ? "none: a scalar, " : "; ", (int)shape->rank);
  if (true_rank != shape->rank) {
    indim_buffer_printf(&text, ", of which %d %s larger than 1", (int)true_rank, true_rank == 1 ? "is" : "are");
  }
  picture_fact_from(p, "dimensions", &text);
  if (!indim_shape_is_static(shape)) {
    picture_fact(p, "dynamic", "%s",
                 indim_shape_is_unbounded(shape)
                     ? "? has no bound: the size is known when the program runs, and no memory can be laid out"
                     : "<= is a bound: there are at most so many when the program runs, and memory for all of them");
  }
  indim_buffer_deinit(&text);
}

static void say_order(picture *p, const indim_shape *shape) {
  if (shape->rank < 2) {
    return;
  }
  const indim_layout *layout = &shape->layout;
  indim_buffer text;
  indim_buffer_init(&text, p->blocks.cx);
  bool ascending = true;
  bool descending = true;
  indim_buffer_char(&text, '{');
  for (int32_t i = 0; i < layout->rank; i++) {
    indim_buffer_printf(&text, "%s%" PRId64, i == 0 ? "" : ",", layout->minor_to_major[i]);
    ascending = ascending && layout->minor_to_major[i] == i;
    descending = descending && layout->minor_to_major[i] == layout->rank - 1 - i;
  }
  for (int32_t i = 0; i < layout->rank; i++) {
    char name[8];
    picture_dim_name(shape, (int32_t)layout->minor_to_major[i], name);
    indim_buffer_printf(&text, i == 0 ? "}: %s runs fastest" : ", then %s", name);
  }
  indim_buffer_text(&text, descending ? " (row-major)" : ascending ? " (column-major)" : "");
  picture_fact_from(p, "minor to major", &text);
  indim_buffer_deinit(&text);
}

static const char *padding_words(indim_padding value) {
  switch (value) {
  case INDIM_PADDING_ZERO:
    return "zero";
  case INDIM_PADDING_ONE:
    return "one";
  case INDIM_PADDING_LOWEST:
    return "the type's lowest value";
  case INDIM_PADDING_HIGHEST:
    return "the type's highest value";
  case INDIM_PADDING_UNKNOWN:
    return "anything";
  case INDIM_PADDING_INVALID:
    break;
  }
  return "what is not stated";
}

static void say_padding(picture *p, const indim_shape *shape) {
  const indim_layout *layout = &shape->layout;
  indim_buffer text;
  indim_buffer_init(&text, p->blocks.cx);
  for (int32_t d = 0; d < layout->padded_rank; d++) {
    char name[8];
    picture_dim_name(shape, d, name);
    indim_buffer_printf(&text, "%s%s is stored %" PRId64 " wide", d == 0 ? "PAD: " : ", ", name,
                        layout->padded_sizes[d]);
  }
  indim_buffer_printf(&text, "; the places beyond hold %s", padding_words(layout->padding_value));
  picture_fact_from(p, "padding", &text);
  indim_buffer_deinit(&text);
}

static void print_tile(indim_buffer *out, const int64_t *tile, int32_t rank) {
  for (int32_t i = 0; i < rank; i++) {
    if (tile[i] == INDIM_TILE_COMBINE) {
      indim_buffer_printf(out, "%s*", i == 0 ? "(" : ",");
    } else {
      indim_buffer_printf(out, "%s%" PRId64, i == 0 ? "(" : ",", tile[i]);
    }
  }
  indim_buffer_text(out, ")");
}

// What each tile does to the list of sizes.
static void say_tiles(picture *p, const indim_shape *shape) {
  const indim_layout *layout = &shape->layout;
  static const int64_t origin[INDIM_MAX_RANK] = {0};
  const int64_t *tile = layout->tile_sizes;
  tile_list list;
  indim_buffer text;
  indim_buffer_init(&text, p->blocks.cx);
  tile_list_start(shape, origin, &list);
  for (int32_t t = 0; t < layout->tile_count; tile += layout->tile_ranks[t], t++) {
    int32_t rank = layout->tile_ranks[t];
    bool combines = false;
    for (int32_t i = 0; i < rank; i++) {
      combines = combines || tile[i] == INDIM_TILE_COMBINE;
    }
    indim_buffer_text(&text, t == 0 ? "T" : "then ");
    print_tile(&text, tile, rank);
    indim_buffer_text(&text, " cuts ");
    tile_list_lengthen(&list, rank);
    picture_print_sizes(&text, list.sizes, list.count);
    tile_list_cut(&list, tile, rank);
    indim_buffer_text(&text, " into ");
    picture_print_sizes(&text, list.sizes, list.count);
    indim_buffer_text(&text, combines ? "; * joins a size with the next one" : "");
    indim_buffer_text(&text, t == 0 ? "; a tile lies in one piece" : "");
    picture_fact_from(p, t == 0 ? "tiles" : "", &text);
  }
  indim_buffer_deinit(&text);
}

static const char *space_words(int64_t space) {
  return space == 1   ? "fast memory on the chip"
         : space == 5 ? "the host's memory"
         : space == 6 ? "the host's memory, not pinned"
                      : "what it means is the device's business";
}

static void say_splits(picture *p, const indim_shape *shape) {
  const indim_layout *layout = &shape->layout;
  const int64_t *index = layout->split_indices;
  for (int32_t s = 0; s < layout->split_count; s++) {
    char name[8] = "?";
    int64_t physical = layout->split_dimensions[s];
    if (physical >= 0 && physical < shape->rank) {
      picture_dim_name(shape, (int32_t)layout->minor_to_major[shape->rank - 1 - physical], name);
    }
    indim_buffer text;
    indim_buffer_init(&text, p->blocks.cx);
    indim_buffer_printf(&text, "SC(%" PRId64 ": ...): %s is cut at", physical, name);
    for (int32_t i = 0; i < layout->split_index_counts[s]; i++) {
      indim_buffer_printf(&text, "%s%" PRId64, i == 0 ? " " : ", ", *index++);
    }
    indim_buffer_text(&text, ", each part in a memory of its own");
    picture_fact_from(p, s == 0 ? "splits" : "", &text);
    indim_buffer_deinit(&text);
  }
}

static void say_rest_of_layout(picture *p, const indim_shape *shape) {
  const indim_layout *layout = &shape->layout;
  if (layout->tail_alignment != 1) {
    picture_fact(p, "tail", "L(%" PRId64 "): padding at the end, up to a multiple of %" PRId64 " elements",
                 layout->tail_alignment, layout->tail_alignment);
  }
  if (layout->memory_space != 0) {
    picture_fact(p, "memory space", "S(%" PRId64 "): %s", layout->memory_space, space_words(layout->memory_space));
  }
  say_splits(p, shape);
  if (layout->metadata_prefix_bytes > 0) {
    picture_fact(p, "metadata", "M(%" PRId64 "): %" PRId64 " bytes in front, for sizes known when the program runs",
                 layout->metadata_prefix_bytes, layout->metadata_prefix_bytes);
  }
}

static void say_strides(picture *p, const indim_shape *shape) {
  int64_t strides[INDIM_MAX_RANK];
  if (shape->rank == 0 || shape->layout.tile_count > 0 || indim_index_strides(NULL, shape, strides) != INDIM_OK) {
    return;
  }
  int64_t bits = indim_shape_element_bits(shape);
  indim_buffer text;
  indim_buffer_init(&text, p->blocks.cx);
  for (int32_t d = 0; d < shape->rank; d++) {
    char name[8];
    picture_dim_name(shape, d, name);
    indim_buffer_printf(&text, "%s%s %" PRId64, d == 0 ? "" : ", ", name, strides[d]);
  }
  indim_buffer_text(&text, " in elements");
  for (int32_t d = 0; bits > 8 && bits % 8 == 0 && d < shape->rank; d++) {
    if (strides[d] <= INT64_MAX / bits) {
      indim_buffer_printf(&text, "%s%" PRId64, d == 0 ? "; " : ", ", strides[d] * (bits / 8));
    }
  }
  indim_buffer_text(&text, bits > 8 && bits % 8 == 0 ? " in bytes" : "");
  picture_fact_from(p, "strides", &text);
  indim_buffer_deinit(&text);
}

static void say_bytes(picture *p, const indim_shape *shape, int64_t places, int64_t bytes) {
  int64_t elements = indim_shape_element_count(shape);
  int64_t element_bytes = indim_shape_element_bytes(shape);
  picture_fact(p, "elements", "%" PRId64 "%s", elements, indim_shape_is_static(shape) ? "" : " at most");
  if (places == elements) {
    picture_fact(p, "bytes", "%" PRId64 ", no padding", bytes);
    return;
  }
  picture_fact(p, "bytes",
               "%" PRId64 ", %" PRId64 " of them elements and %" PRId64 " padding (%.1f %%): %" PRId64
               " places for %" PRId64 " element%s",
               bytes, element_bytes, bytes - element_bytes, 100.0 * (double)(places - elements) / (double)places,
               places, elements, plural(elements));
}

// An index somewhere in the middle, so that its way through tiles is seen.
static void choose_index(const indim_shape *shape, int64_t *out) {
  for (int32_t d = 0; d < shape->rank; d++) {
    int64_t size = shape->sizes[d];
    out[d] = size <= 4 ? size - 1 : size / 2 + 1;
  }
}

static void print_byte(indim_buffer *out, const indim_shape *shape, int64_t place) {
  int64_t bits = indim_shape_element_bits(shape);
  if (bits == 8 || bits <= 0 || place > INT64_MAX / bits) {
    return;
  }
  indim_buffer_printf(out, ", byte %" PRId64, place * bits / 8);
  if (place * bits % 8 != 0) {
    indim_buffer_printf(out, " from bit %" PRId64, place * bits % 8);
  }
}

static void print_index(indim_buffer *out, const int64_t *index, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    indim_buffer_printf(out, "%s%" PRId64, i == 0 ? "(" : ",", index[i]);
  }
  indim_buffer_text(out, count == 0 ? "()" : ")");
}

static void say_untiled_address(picture *p, const indim_shape *shape, const int64_t *index) {
  int64_t strides[INDIM_MAX_RANK];
  if (indim_index_strides(NULL, shape, strides) != INDIM_OK) {
    return;
  }
  indim_buffer text;
  indim_buffer_init(&text, p->blocks.cx);
  indim_buffer_text(&text, "place = ");
  int64_t place = 0;
  for (int32_t d = 0; d < shape->rank; d++) {
    char name[8];
    picture_dim_name(shape, d, name);
    indim_buffer_text(&text, d == 0 ? "" : " + ");
    indim_buffer_text(&text, name);
    if (strides[d] != 1) {
      indim_buffer_printf(&text, "*%" PRId64, strides[d]);
    }
    place += index[d] * strides[d];
  }
  indim_buffer_text(&text, "; ");
  print_index(&text, index, shape->rank);
  indim_buffer_text(&text, " is at ");
  for (int32_t d = 0; d < shape->rank; d++) {
    indim_buffer_printf(&text, "%s%" PRId64, d == 0 ? "" : " + ", index[d]);
    if (strides[d] != 1) {
      indim_buffer_printf(&text, "*%" PRId64, strides[d]);
    }
  }
  if (shape->rank > 1 || strides[0] != 1) {
    indim_buffer_printf(&text, " = %" PRId64, place);
  }
  print_byte(&text, shape, place);
  picture_fact_from(p, "address", &text);
  indim_buffer_deinit(&text);
}

static void say_tiled_address(picture *p, const indim_shape *shape, const int64_t *index) {
  const indim_layout *layout = &shape->layout;
  const int64_t *tile = layout->tile_sizes;
  tile_list list;
  indim_buffer text;
  indim_buffer_init(&text, p->blocks.cx);
  tile_list_start(shape, index, &list);
  indim_buffer_text(&text, "index ");
  print_index(&text, index, shape->rank);
  indim_buffer_text(&text, " is ");
  print_index(&text, list.at, list.count);
  indim_buffer_text(&text, " in ");
  picture_print_sizes(&text, list.sizes, list.count);
  for (int32_t t = 0; t < layout->tile_count; tile += layout->tile_ranks[t], t++) {
    tile_list_cut(&list, tile, layout->tile_ranks[t]);
    indim_buffer_text(&text, ", ");
    print_index(&text, list.at, list.count);
    indim_buffer_text(&text, " in ");
    picture_print_sizes(&text, list.sizes, list.count);
  }
  picture_fact_from(p, "address", &text);
  indim_buffer_text(&text, "place = ");
  int32_t opened = 0;
  for (int32_t i = 0; i < list.count; i++) {
    opened += i > 1 && list.sizes[i - 1] != 0 ? 1 : 0;
  }
  for (int32_t i = 0; i < opened; i++) {
    indim_buffer_char(&text, '(');
  }
  for (int32_t i = 0; i < list.count; i++) {
    if (i == 0) {
      indim_buffer_printf(&text, "%" PRId64, list.at[0]);
    } else {
      indim_buffer_printf(&text, "%s*%" PRId64 " + %" PRId64, i > 1 ? ")" : "", list.sizes[i], list.at[i]);
    }
  }
  int64_t place = tile_list_place(&list);
  indim_buffer_printf(&text, " = %" PRId64, place);
  print_byte(&text, shape, place);
  picture_fact_from(p, "", &text);
  indim_buffer_deinit(&text);
}

void shape_add_facts(picture *p, const indim_shape *shape, int64_t places, int64_t bytes) {
  const indim_layout *layout = &shape->layout;
  int64_t index[INDIM_MAX_RANK];
  bool is_bounded = !indim_shape_is_unbounded(shape);
  say_type(p, shape);
  say_dimensions(p, shape);
  say_order(p, shape);
  if (layout->padded_rank > 0) {
    say_padding(p, shape);
  }
  if (layout->tile_count > 0 && is_bounded && places > 0) {
    say_tiles(p, shape);
  }
  say_rest_of_layout(p, shape);
  if (!is_bounded) {
    return;
  }
  say_strides(p, shape);
  say_bytes(p, shape, places, bytes);
  if (layout->tile_count > 0 && places > indim_shape_element_count(shape) && indim_shape_element_count(shape) > 0) {
    shape_add_waste(p, shape, bytes);
  }
  if (shape->rank > 0 && indim_shape_element_count(shape) > 0) {
    choose_index(shape, index);
    if (layout->tile_count > 0) {
      say_tiled_address(p, shape, index);
    } else {
      say_untiled_address(p, shape, index);
    }
  }
}
