// An array and its memory as grids: the elements under their letters, the place of each element with the way of memory
// through them, and the memory from its first place to its last.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "build.h"
#include "indim/index.h"
#include "draw.h"
#include "shape.h"
#include "tiles.h"

enum { MOST_ROWS = 16, MOST_SLICES = 4 };

typedef struct drawing {
  picture *p;
  indim_ctx *cx;
  const indim_shape *shape;
  const draw_source *source;
  picture_options options;
  int64_t elements;
  int64_t places;
  indim_shape whole;  // the same with the padding as elements, where indices reach it
  int64_t tile;       // places of one tile; 0: none to outline
} drawing;

// What a cell says -------------------------------------------------------------------------------------------------

static const char *padding_text(const indim_layout *layout) {
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

static void name_text(const drawing *d, int64_t element, char *out) {
  if (d->elements <= DRAW_LETTERS) {
    snprintf(out, PICTURE_LABEL_SIZE, "%c", (char)('a' + element));
  } else {
    index_text(d->source->of, element, out);
  }
}

// The element of an index into |whole|, or padding, without a text.
static void fill_cell(const drawing *d, const int64_t *index, int64_t place, picture_cell *cell) {
  cell->place = place;
  if (indim_index_in_bounds(d->shape, index)) {
    cell->kind = PICTURE_ELEMENT;
    cell->element = draw_element(d->source, d->shape, index);
    cell->tint = tint_of(d->source->of, cell->element, d->elements);
  } else {
    cell->kind = PICTURE_PADDING;
    snprintf(cell->text, sizeof cell->text, "%s", padding_text(&d->shape->layout));
  }
}

// The array ---------------------------------------------------------------------------------------------------------

// A tile's size along dimension |dim|, or 0.
static int64_t tile_along(const indim_shape *shape, int32_t dim) {
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
    int64_t tile = tile_along(d->shape, i);
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

// The number of the tile that an index of |whole| lies in, or -1 outside.
static int64_t tile_at(const drawing *d, const int64_t *index) {
  int64_t place = 0;
  return indim_index_in_bounds(&d->whole, index) && indim_index_linearize(NULL, &d->whole, index, &place) == INDIM_OK
             ? place / d->tile
             : -1;
}

static uint8_t edges_at(const drawing *d, int64_t *index) {
  static const uint8_t sides[2][2] = {{PICTURE_LEFT, PICTURE_RIGHT}, {PICTURE_TOP, PICTURE_BOTTOM}};
  int32_t rank = d->shape->rank;
  int64_t here = tile_at(d, index);
  uint8_t edges = 0;
  for (int32_t way = 0; way < 2 && way < rank; way++) {
    for (int step = -1; step <= 1; step += 2) {
      index[rank - 1 - way] += step;
      edges |= tile_at(d, index) != here ? sides[way][step > 0] : 0;
      index[rank - 1 - way] -= step;
    }
  }
  return rank == 1 ? edges | PICTURE_TOP | PICTURE_BOTTOM : edges;
}

static indim_status fill_array_cell(const drawing *d, draw_view view, bool outlined, int64_t *index,
                                    picture_cell *cell) {
  int64_t place = 0;
  indim_status status = indim_index_linearize(d->cx, &d->whole, index, &place);
  if (status != INDIM_OK) {
    return status;
  }
  fill_cell(d, index, place, cell);
  if (outlined) {
    cell->edges = edges_at(d, index);
  }
  if (cell->kind == PICTURE_ELEMENT && view == DRAW_NAMES) {
    name_text(d, cell->element, cell->text);
  } else if (cell->kind == PICTURE_ELEMENT) {
    snprintf(cell->text, sizeof cell->text, "%" PRId64, place);
  } else if (view == DRAW_PLACES) {
    snprintf(cell->text, sizeof cell->text, ".");
  }
  return INDIM_OK;
}

// Tiles are outlined across what is left out, too.
static void fill_gap(picture *p, const picture_block *grid, int32_t row, int32_t column) {
  picture_cell *cell = picture_cell_of(p, grid, row, column);
  cell->kind = PICTURE_GAP;
  if (column > 0) {
    cell->edges |= picture_cell_of(p, grid, row, column - 1)->edges & (PICTURE_TOP | PICTURE_BOTTOM);
  }
  if (row > 0) {
    cell->edges |= picture_cell_of(p, grid, row - 1, column)->edges & (PICTURE_LEFT | PICTURE_RIGHT);
  }
}

static void axis_label(char *out, int64_t at) {
  if (at >= 0) {
    snprintf(out, PICTURE_LABEL_SIZE, "%" PRId64, at);
  }
}

// One slice: |index| says which.
static indim_status add_slice(const drawing *d, draw_view view, const picture_axis *rows, const picture_axis *columns,
                              int64_t *index, picture_block *grid) {
  int32_t rank = d->shape->rank;
  bool outlined = d->tile > 0 && (view == DRAW_NAMES || d->elements > DRAW_LETTERS);
  char names[2][8] = {"", ""};
  for (int32_t i = 0; i < rank && i < 2; i++) {
    picture_dim_name(d->shape, rank - 1 - i, names[i]);
  }
  snprintf(grid->corner, sizeof grid->corner, "%s%s%s", names[1], rank > 1 ? "\\" : "", names[0]);
  grid->path = view == DRAW_PLACES;
  for (int32_t r = 0; r < rows->count; r++) {
    for (int32_t c = 0; c < columns->count; c++) {
      if (rows->at[r] < 0 || columns->at[c] < 0) {
        fill_gap(d->p, grid, r, c);
        continue;
      }
      if (rank > 1) {
        index[rank - 2] = rows->at[r];
      }
      if (rank > 0) {
        index[rank - 1] = columns->at[c];
      }
      indim_status status = fill_array_cell(d, view, outlined, index, picture_cell_of(d->p, grid, r, c));
      if (status != INDIM_OK) {
        return status;
      }
    }
  }
  for (int32_t r = 0; rank > 1 && r < rows->count; r++) {
    axis_label(picture_row_label_of(d->p, grid, r), rows->at[r]);
  }
  for (int32_t c = 0; rank > 0 && c < columns->count; c++) {
    axis_label(picture_column_label_of(d->p, grid, c), columns->at[c]);
  }
  return INDIM_OK;
}

// Columns that fit into the width, cells of |size| characters with |between| each two of them.
static int32_t column_limit(const drawing *d, int32_t size, int32_t between) {
  int32_t width = d->options.width > 0 ? d->options.width : 100;
  int32_t limit = (width - 14) / (size + between);
  return d->options.all ? 256 : limit < 4 ? 4 : limit > 24 ? 24 : limit;
}

static int32_t digits(int64_t value) {
  int32_t count = 1;
  for (; value > 9; value /= 10) {
    count++;
  }
  return count;
}

// "z = 0" of the slice |number|, and its index.
static void slice_index(const drawing *d, int64_t number, int64_t *index, indim_buffer *title) {
  for (int32_t i = d->shape->rank - 3; i >= 0; i--) {
    index[i] = number % d->whole.sizes[i];
    number /= d->whole.sizes[i];
  }
  for (int32_t i = 0; i < d->shape->rank - 2; i++) {
    char name[8];
    picture_dim_name(d->shape, i, name);
    indim_buffer_printf(title, "%s%s = %" PRId64, i == 0 ? "" : ", ", name, index[i]);
  }
}

static void say_left_out(const drawing *d, int64_t slices, int64_t rows, int64_t columns) {
  const struct {
    int64_t count;
    const char *what;
  } all[] = {{slices, "slice"}, {rows, "row"}, {columns, "column"}};
  indim_buffer text;
  indim_buffer_init(&text, d->cx);
  for (int i = 0; i < 3; i++) {
    if (all[i].count > 0) {
      indim_buffer_printf(&text, "%s%" PRId64 " %s%s", text.size == 0 ? "left out: " : ", ", all[i].count, all[i].what,
                          all[i].count == 1 ? "" : "s");
    }
  }
  if (text.size > 0) {
    picture_note_from(d->p, &text);
  }
  indim_buffer_deinit(&text);
}

// Characters of the longest name.
static int32_t name_size(const drawing *d) {
  char text[PICTURE_LABEL_SIZE] = "";
  if (d->elements > 0) {
    name_text(d, d->elements - 1, text);
  }
  return text[0] == '\0' ? 1 : (int32_t)strlen(text);
}

static indim_status add_array(const drawing *d, draw_view view, const char *title, bool beside) {
  int32_t rank = d->shape->rank;
  int64_t row_count = rank > 1 ? d->whole.sizes[rank - 2] : 1;
  int64_t column_count = rank > 0 ? d->whole.sizes[rank - 1] : 1;
  int64_t slice_count = 1;
  for (int32_t i = 0; i < rank - 2; i++) {
    slice_count *= d->whole.sizes[i];
  }
  picture_axis slices;
  picture_axis rows;
  picture_axis columns;
  int64_t real_slices = 1;
  for (int32_t i = 0; i < rank - 2; i++) {
    real_slices *= d->shape->sizes[i];
  }
  picture_axis_pick(slice_count, real_slices, 0, d->options.all ? 256 : MOST_SLICES, &slices);
  picture_axis_pick(row_count, rank > 1 ? d->shape->sizes[rank - 2] : 1, rank > 1 ? tile_along(d->shape, rank - 2) : 0,
                    d->options.all ? PICTURE_MOST_SHOWN : MOST_ROWS, &rows);
  picture_axis_pick(column_count, rank > 0 ? d->shape->sizes[rank - 1] : 1,
                    rank > 0 ? tile_along(d->shape, rank - 1) : 0,
                    column_limit(d, view == DRAW_NAMES ? name_size(d) : digits(d->places - 1), 2), &columns);
  if (rank > 2) {
    picture_note(d->p, "%s, slice by slice:", title);
  }
  for (int32_t s = 0; s < slices.count; s++) {
    if (slices.at[s] < 0) {
      continue;
    }
    int64_t index[INDIM_MAX_RANK] = {0};
    indim_buffer slice;
    indim_buffer_init(&slice, d->cx);
    slice_index(d, slices.at[s], index, &slice);
    picture_block *grid =
        picture_add_grid(d->p, rows.count, columns.count, "%s", rank > 2 && slice.data != NULL ? slice.data : title);
    indim_status status = slice.status;
    indim_buffer_deinit(&slice);
    if (grid == NULL || status != INDIM_OK) {
      return status != INDIM_OK ? status : picture_status(d->p);
    }
    grid->beside = s > 0 || (beside && rank <= 2);
    status = add_slice(d, view, &rows, &columns, index, grid);
    if (status != INDIM_OK) {
      return status;
    }
  }
  say_left_out(d, slices.left_out, rows.left_out, columns.left_out);
  return INDIM_OK;
}

// The memory --------------------------------------------------------------------------------------------------------

// How many places stand on a line: the fastest dimension, or of tiles so many of the innermost sizes as make a line.
static int64_t memory_line(const drawing *d) {
  const indim_shape *shape = d->shape;
  const indim_layout *layout = &shape->layout;
  int64_t line = 1;
  if (layout->tile_count == 0 && shape->rank > 0) {
    line = d->whole.sizes[layout->minor_to_major[0]];
    for (int32_t i = 1; line == 1 && i < shape->rank; i++) {
      line = d->whole.sizes[layout->minor_to_major[i]];
    }
  } else if (layout->tile_count > 0) {
    static const int64_t origin[INDIM_MAX_RANK] = {0};
    const int64_t *tile = layout->tile_sizes;
    tile_list list;
    tile_list_start(shape, origin, &list);
    for (int32_t t = 0; t < layout->tile_count; tile += layout->tile_ranks[t], t++) {
      tile_list_cut(&list, tile, layout->tile_ranks[t]);
    }
    for (int32_t i = list.count - 1; i >= 0 && line < 8 && line * list.sizes[i] <= d->places; i--) {
      if (d->tile > 0 && line == d->tile) {
        break;
      }
      line *= list.sizes[i];
    }
  }
  while (d->options.all && (d->places + line - 1) / line > PICTURE_MOST_SHOWN) {
    line *= 2;
  }
  return line;
}

static indim_status fill_memory_cell(const drawing *d, int64_t place, picture_cell *cell) {
  int64_t index[INDIM_MAX_RANK];
  bool is_padding = false;
  indim_status status = indim_index_delinearize(d->cx, d->shape, place, index, &is_padding);
  if (status != INDIM_OK) {
    return status;
  }
  if (is_padding) {
    cell->kind = PICTURE_PADDING;
    cell->place = place;
    snprintf(cell->text, sizeof cell->text, "%s", padding_text(&d->shape->layout));
  } else {
    fill_cell(d, index, place, cell);
    name_text(d, cell->element, cell->text);
  }
  return INDIM_OK;
}

enum { SHORT_MEMORY = 32 };  // places that stand on one line, with a border between lines that would be

static bool fits_on_line(const drawing *d, int64_t run) {
  int64_t width = d->options.width > 0 ? d->options.width : 100;
  int64_t places = d->places;
  return d->elements <= DRAW_LETTERS && places <= SHORT_MEMORY &&
         places * (digits(places - 1) + 1) + 2 * ((places - 1) / run + 1) + 12 <= width;
}

static indim_status add_memory(const drawing *d, const char *title, int32_t joined) {
  int64_t run = memory_line(d);
  bool is_short = fits_on_line(d, run);
  int64_t line = is_short ? d->places : run;
  picture_axis rows;
  picture_axis columns;
  int32_t cell = name_size(d) > digits(line - 1) + 1 ? name_size(d) : digits(line - 1) + 1;
  int32_t limit = is_short ? SHORT_MEMORY : column_limit(d, cell, 1);
  picture_axis_pick(line, line, 0, limit, &columns);
  picture_axis_pick((d->places - 1) / line + 1, (d->places - 1) / line + 1, 0,
                    d->options.all ? PICTURE_MOST_SHOWN : MOST_ROWS, &rows);
  picture_block *grid = picture_add_grid(d->p, rows.count, columns.count, "%s", title);
  if (grid == NULL) {
    return picture_status(d->p);
  }
  grid->joined = joined;
  snprintf(grid->corner, sizeof grid->corner, "place");
  for (int32_t r = 0; r < rows.count; r++) {
    for (int32_t c = 0; c < columns.count; c++) {
      if (rows.at[r] < 0 || columns.at[c] < 0) {
        picture_cell_of(d->p, grid, r, c)->kind = PICTURE_GAP;
      } else if (columns.at[c] < d->places - rows.at[r] * line) {
        indim_status status = fill_memory_cell(d, rows.at[r] * line + columns.at[c], picture_cell_of(d->p, grid, r, c));
        if (status != INDIM_OK) {
          return status;
        }
        int64_t at = columns.at[c];
        picture_cell_of(d->p, grid, r, c)->edges =
            (line > run && at % run == 0 ? PICTURE_LEFT : 0) | (line > run && at + 1 == line ? PICTURE_RIGHT : 0);
      }
    }
    axis_label(picture_row_label_of(d->p, grid, r), rows.at[r] < 0 || rows.count == 1 ? -1 : rows.at[r] * line);
  }
  for (int32_t c = 0; c < columns.count; c++) {
    if (columns.at[c] >= 0) {
      snprintf(picture_column_label_of(d->p, grid, c), PICTURE_LABEL_SIZE, rows.count > 1 ? "+%" PRId64 : "%" PRId64,
               columns.at[c]);
    }
  }
  if (columns.left_out > 0 || rows.left_out > 0) {
    int64_t shown = 0;
    for (int32_t i = 0; i < grid->rows * grid->columns; i++) {
      shown += picture_cell_of(d->p, grid, i / grid->columns, i % grid->columns)->place >= 0;
    }
    picture_note(d->p, "a miniature: %" PRId64 " of %" PRId64 " places", shown, d->places);
  }
  return INDIM_OK;
}

// The parts ---------------------------------------------------------------------------------------------------------

static drawing start(picture *p, const indim_shape *shape, const draw_source *source, int64_t places,
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

indim_status draw_array(picture *p, const indim_shape *shape, const draw_source *source, int64_t places, draw_view view,
                        const char *title, bool beside, const picture_options *options) {
  drawing d = start(p, shape, source, places, options);
  return d.elements == 0 ? INDIM_OK : add_array(&d, view, title, beside);
}

indim_status draw_memory(picture *p, const indim_shape *shape, const draw_source *source, int64_t places,
                         const char *title, int32_t joined, const picture_options *options) {
  drawing d = start(p, shape, source, places, options);
  return places == 0 ? INDIM_OK : add_memory(&d, title, joined);
}

indim_status shape_add_drawing(picture *p, const indim_shape *shape, int64_t places, const picture_options *options) {
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
