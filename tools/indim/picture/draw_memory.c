// The memory of an array as a grid, from its first place to its last.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "build.h"
#include "draw_internal.h"
#include "indim/index.h"
#include "tiles.h"

enum {
  MOST_ROWS = 16,
  SHORT_MEMORY = 32  // places that stand on one line, with a border between what would be lines
};

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
    snprintf(cell->text, sizeof cell->text, "%s", drawing_padding_text(&d->shape->layout));
  } else {
    drawing_fill_cell(d, index, place, cell);
    drawing_name(d, cell->element, cell->text);
  }
  return INDIM_OK;
}

static bool fits_on_line(const drawing *d, int64_t run) {
  int64_t width = d->options.width > 0 ? d->options.width : 100;
  int64_t places = d->places;
  return d->elements <= DRAW_LETTERS && places <= SHORT_MEMORY &&
         places * (drawing_digits(places - 1) + 1) + 2 * ((places - 1) / run + 1) + 12 <= width;
}

static indim_status add_memory(const drawing *d, const char *title, int32_t joined) {
  int64_t run = memory_line(d);
  bool is_short = fits_on_line(d, run);
  int64_t line = is_short ? d->places : run;
  picture_axis rows;
  picture_axis columns;
  int32_t cell =
      drawing_name_size(d) > drawing_digits(line - 1) + 1 ? drawing_name_size(d) : drawing_digits(line - 1) + 1;
  int32_t limit = is_short ? SHORT_MEMORY : drawing_column_limit(d, cell, 1);
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
    drawing_axis_label(picture_row_label_of(d->p, grid, r), rows.at[r] < 0 || rows.count == 1 ? -1 : rows.at[r] * line);
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

indim_status draw_memory(picture *p, const indim_shape *shape, const draw_source *source, int64_t places,
                         const char *title, int32_t joined, const picture_options *options) {
  drawing d = drawing_start_of(p, shape, source, places, options);
  return places == 0 ? INDIM_OK : add_memory(&d, title, joined);
}
