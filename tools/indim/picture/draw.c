// What drawings of an array and of its memory share: what a cell says, what fits, and the layout's padding and tiles.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "build.h"
#include "draw_internal.h"
#include "indim/index.h"
#include "tiles.h"

// Cells --------------------------------------------------------------------------------------------------------------

const char *drawing_padding_text(const indim_layout *layout) {
  if (layout->padded_rank > 0) {
    switch (layout->padding_value) {
    case INDIM_PADDING_ZERO:
      return "0";
    case INDIM_PADDING_ONE:
      return "1";
    case INDIM_PADDING_LOWEST:
      return "lo";
    case INDIM_PADDING_HIGHEST:
      return "hi";
    case INDIM_PADDING_INVALID:
    case INDIM_PADDING_UNKNOWN:
      return "?";
    }
  }
  return ".";
}

static int64_t row_major(const indim_shape *shape, const int64_t *index) {
  int64_t number = 0;
  for (int32_t d = 0; d < shape->rank; d++) {
    number = number * shape->sizes[d] + index[d];
  }
  return number;
}

int64_t draw_element(const draw_source *source, const indim_shape *shape, const int64_t *index) {
  int64_t of[INDIM_MAX_RANK];
  for (int32_t i = 0; source->p != NULL && i < shape->rank; i++) {
    of[source->p[i]] = index[i];
  }
  return source->p == NULL ? row_major(shape, index) : row_major(source->of, of);
}

// Elements of one row have one colour, so that rows are seen in memory; those of one row, by their number.
static uint8_t tint_of(const indim_shape *shape, int64_t element, int64_t elements) {
  int64_t row = shape->rank < 2 ? 1 : shape->sizes[shape->rank - 1];
  bool one_row = row == elements;
  return (uint8_t)(1 + (one_row ? element : element / row) % PICTURE_TINTS);
}

// "1,2", or "#5" where that is too long.
static void index_text(const indim_shape *shape, int64_t element, char *out) {
  char text[INDIM_MAX_RANK * 24];
  int64_t index[INDIM_MAX_RANK];
  int64_t left = element;
  size_t size = 0;
  for (int32_t d = shape->rank - 1; d >= 0; d--) {
    index[d] = left % shape->sizes[d];
    left /= shape->sizes[d];
  }
  for (int32_t d = 0; d < shape->rank; d++) {
    size += (size_t)snprintf(text + size, sizeof text - size, "%s%" PRId64, d == 0 ? "" : ",", index[d]);
  }
  if (shape->rank > 0 && size <= 9) {
    memcpy(out, text, size + 1);
  } else {
    snprintf(out, PICTURE_LABEL_SIZE, "#%" PRId64, element);
  }
}

void drawing_name(const drawing *d, int64_t element, char *out) {
  if (d->elements <= DRAW_LETTERS) {
    snprintf(out, PICTURE_LABEL_SIZE, "%c", (char)('a' + element));
  } else {
    index_text(d->source->of, element, out);
  }
}

// The element of an index into |whole|, or padding, without a text.
void drawing_fill_cell(const drawing *d, const int64_t *index, int64_t place, picture_cell *cell) {
  cell->place = place;
  if (indim_index_in_bounds(d->shape, index)) {
    cell->kind = PICTURE_ELEMENT;
    cell->element = draw_element(d->source, d->shape, index);
    cell->tint = tint_of(d->source->of, cell->element, d->elements);
  } else {
    cell->kind = PICTURE_PADDING;
    snprintf(cell->text, sizeof cell->text, "%s", drawing_padding_text(&d->shape->layout));
  }
}

void drawing_axis_label(char *out, int64_t at) {
  if (at >= 0) {
    snprintf(out, PICTURE_LABEL_SIZE, "%" PRId64, at);
  }
}

// Columns that fit into the width, cells of |size| characters with |between| each two of them.
int32_t drawing_column_limit(const drawing *d, int32_t size, int32_t between) {
  int32_t width = d->options.width > 0 ? d->options.width : 100;
  int32_t limit = (width - 14) / (size + between);
  return d->options.all ? 256 : limit < 4 ? 4 : limit > 24 ? 24 : limit;
}

int32_t drawing_digits(int64_t value) {
  int32_t count = 1;
  for (; value > 9; value /= 10) {
    count++;
  }
  return count;
}

// Characters of the longest name.
int32_t drawing_name_size(const drawing *d) {
  char text[PICTURE_LABEL_SIZE] = "";
  if (d->elements > 0) {
    drawing_name(d, d->elements - 1, text);
  }
  return text[0] == '\0' ? 1 : (int32_t)strlen(text);
}

// The layout ------------------------------------------------------------------------------------------------------

// A tile's size along dimension |dim|, or 0.
int64_t drawing_tile_along(const indim_shape *shape, int32_t dim) {
  const indim_layout *layout = &shape->layout;
  int32_t rank = layout->tile_count > 0 ? layout->tile_ranks[0] : 0;
  for (int32_t i = 0; i < shape->rank && i < rank; i++) {
    int64_t entry = layout->tile_sizes[rank - 1 - i];
    if (layout->minor_to_major[i] == dim) {
      return entry;
    }
  }
  return 0;
}

// The shape whose sizes are the padded widths, or whole tiles: indices of padding are indices of it. Where tiles combine
// dimensions padding has no index of its own.
static void make_whole(drawing *d) {
  const indim_layout *layout = &d->shape->layout;
  indim_shape *whole = &d->whole;
  *whole = *d->shape;
  whole->dynamic = 0;
  bool combines = false;
  for (int32_t i = 0; layout->tile_count > 0 && i < layout->tile_ranks[0]; i++) {
    combines = combines || layout->tile_sizes[i] == INDIM_TILE_COMBINE;
  }
  for (int32_t i = 0; i < whole->rank; i++) {
    int64_t tile = drawing_tile_along(d->shape, i);
    if (layout->padded_rank > 0) {
      whole->sizes[i] = layout->padded_sizes[i];
    } else if (tile > 0 && !combines && whole->sizes[i] > 0) {
      whole->sizes[i] = ((whole->sizes[i] - 1) / tile + 1) * tile;
    }
  }
  if (indim_shape_validate(NULL, whole, true) != INDIM_OK) {
    *whole = *d->shape;  // its bytes overflow, in another element size
    whole->dynamic = 0;
  }
}

// Places of one tile, all later tiles counted; 0 when there is none, or a later one reaches beyond it.
static int64_t tile_places(const indim_layout *layout) {
  const int64_t *tile = layout->tile_sizes;
  tile_list list = {0};
  for (int32_t t = 0; t < layout->tile_count; tile += layout->tile_ranks[t], t++) {
    for (int32_t i = 0; t == 0 && i < layout->tile_ranks[0]; i++) {
      if (tile[i] != INDIM_TILE_COMBINE) {
        list.sizes[list.count++] = tile[i];
      }
    }
    if (t > 0 && layout->tile_ranks[t] > list.count) {
      return 0;
    }
    if (t > 0) {
      tile_list_cut(&list, tile, layout->tile_ranks[t]);
    }
  }
  int64_t places = layout->tile_count > 0;
  for (int32_t i = 0; i < list.count; i++) {
    places *= list.sizes[i];
  }
  return places;
}

drawing drawing_start_of(picture *p, const indim_shape *shape, const draw_source *source, int64_t places,
                         const picture_options *options) {
  drawing d = {.p = p, .cx = p->blocks.cx, .shape = shape, .source = source, .places = places};
  d.options = *options;
  d.options.all = options->all && places <= PICTURE_MOST_PLACES;
  d.elements = indim_shape_element_count(shape);
  if (places > 0) {
    d.tile = tile_places(&shape->layout);
    make_whole(&d);
  }
  return d;
}
