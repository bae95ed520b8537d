// An array as a grid, or a grid for each slice: its elements by their names, or the place of each element in memory.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "build.h"
#include "draw_internal.h"
#include "indim/index.h"

enum { MOST_ROWS = 16, MOST_SLICES = 4 };

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
  drawing_fill_cell(d, index, place, cell);
  if (outlined) {
    cell->edges = edges_at(d, index);
  }
  if (cell->kind == PICTURE_ELEMENT && view == DRAW_NAMES) {
    drawing_name(d, cell->element, cell->text);
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
    drawing_axis_label(picture_row_label_of(d->p, grid, r), rows->at[r]);
  }
  for (int32_t c = 0; rank > 0 && c < columns->count; c++) {
    drawing_axis_label(picture_column_label_of(d->p, grid, c), columns->at[c]);
  }
  return INDIM_OK;
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
  picture_axis_pick(row_count, rank > 1 ? d->shape->sizes[rank - 2] : 1,
                    rank > 1 ? drawing_tile_along(d->shape, rank - 2) : 0,
                    d->options.all ? PICTURE_MOST_SHOWN : MOST_ROWS, &rows);
  picture_axis_pick(
      column_count, rank > 0 ? d->shape->sizes[rank - 1] : 1, rank > 0 ? drawing_tile_along(d->shape, rank - 1) : 0,
      drawing_column_limit(d, view == DRAW_NAMES ? drawing_name_size(d) : drawing_digits(d->places - 1), 2), &columns);
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

indim_status draw_array(picture *p, const indim_shape *shape, const draw_source *source, int64_t places, draw_view view,
                        const char *title, bool beside, const picture_options *options) {
  drawing d = drawing_start_of(p, shape, source, places, options);
  return d.elements == 0 ? INDIM_OK : add_array(&d, view, title, beside);
}
