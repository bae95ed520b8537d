// A picture as SVG: words and grids from top to bottom, lines that follow memory, arrows between equal elements.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "markup.h"

enum { CHARACTER = 8, LINE = 20, ROW = 24, MARGIN = 16, LABEL_COLUMN = 128, BETWEEN = 32 };

// Where a grid's cells stand.
typedef struct place {
  int32_t x, y;  // of the first cell
  int32_t cell;  // width
} place;

typedef struct sheet {
  const picture *p;
  indim_buffer *out;
  int32_t width;
  int32_t y;
  size_t first, end;    // blocks
  indim_buffer places;  // a place for each block of the picture
} sheet;

void markup_escape(indim_buffer *out, const char *text) {
  for (; *text != '\0'; text++) {
    switch (*text) {
    case '&':
      indim_buffer_text(out, "&amp;");
      break;
    case '<':
      indim_buffer_text(out, "&lt;");
      break;
    case '>':
      indim_buffer_text(out, "&gt;");
      break;
    case '"':
      indim_buffer_text(out, "&quot;");
      break;
    default:
      indim_buffer_char(out, *text);
    }
  }
}

void markup_style(indim_buffer *out) {
  indim_buffer_text(
      out,
      ".pic{color-scheme:light dark;--ink:#1f2328;--faint:#6e7781;--line:#d0d7de;--pad:#eaeef2;--bad:#cf222e;"
      "--t1:#b6e3ff;--t2:#fae17d;--t3:#aceebb;--t4:#ecd8ff;--t5:#ffd8b5;--t6:#ffcecb}\n"
      "@media(prefers-color-scheme:dark){.pic{--ink:#e6edf3;--faint:#8d96a0;--line:#444c56;--pad:#2d333b;--bad:#ff7b72;"
      "--t1:#0c4a6e;--t2:#5c4400;--t3:#14532d;--t4:#4c2889;--t5:#6b2e00;--t6:#67060c}}\n"
      ".pic text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:var(--ink)}\n"
      ".pic .head{font-weight:bold}.pic .faint{fill:var(--faint)}.pic .cell{text-anchor:middle}"
      ".pic .end{text-anchor:end}\n"
      ".pic rect{stroke:var(--line);fill:none}.pic .pad{fill:var(--pad)}.pic .gap{stroke:none}\n"
      ".pic .t1{fill:var(--t1)}.pic .t2{fill:var(--t2)}.pic .t3{fill:var(--t3)}.pic .t4{fill:var(--t4)}"
      ".pic .t5{fill:var(--t5)}.pic .t6{fill:var(--t6)}\n"
      ".pic .copy{fill-opacity:.45}.pic .bad{stroke:var(--bad);stroke-width:2.5}\n"
      ".pic .tile{stroke:var(--ink);stroke-width:2;fill:none}\n"
      ".pic .path{stroke:var(--faint);stroke-width:1.2;fill:none;opacity:.7}"
      ".pic .jump{stroke-dasharray:3 4;opacity:.45}\n"
      ".pic .arrow{stroke:var(--faint);fill:none;opacity:.6}\n");
}

static void put_text(const sheet *s, int32_t x, int32_t y, const char *class, const char *text) {
  if (text[0] == '\0') {
    return;
  }
  indim_buffer_printf(s->out, "<text x=\"%d\" y=\"%d\"", (int)x, (int)y);
  if (class[0] != '\0') {
    indim_buffer_printf(s->out, " class=\"%s\"", class);
  }
  indim_buffer_char(s->out, '>');
  markup_escape(s->out, text);
  indim_buffer_text(s->out, "</text>\n");
}

// Words in lines that fit, from |x| on; moves |y|.
static void put_words(sheet *s, int32_t x, const char *class, const char *text) {
  int32_t room = (s->width - MARGIN - x) / CHARACTER;
  char line[256];
  room = room > 250 ? 250 : room < 20 ? 20 : room;
  do {
    size_t size = strlen(text);
    if (size > (size_t)room) {
      size = (size_t)room;
      while (size > 0 && text[size] != ' ') {
        size--;
      }
      size = size == 0 ? (size_t)room : size;  // a word longer than a line is cut
    }
    memcpy(line, text, size);
    line[size] = '\0';
    put_text(s, x, s->y + LINE - 6, class, line);
    s->y += LINE;
    text += size;
    text += *text == ' ';
  } while (*text != '\0');
}

// Grids -----------------------------------------------------------------------------------------------------------

static bool has_row_labels(const sheet *s, const picture_block *grid) {
  bool has = grid->corner[0] != '\0';
  for (int32_t r = 0; r < grid->rows; r++) {
    has = has || picture_row_label(s->p, grid, r)[0] != '\0';
  }
  return has;
}

static int32_t label_width(const sheet *s, const picture_block *grid) {
  size_t size = strlen(grid->corner);
  for (int32_t r = 0; r < grid->rows; r++) {
    size_t label = strlen(picture_row_label(s->p, grid, r));
    size = label > size ? label : size;
  }
  return has_row_labels(s, grid) ? (int32_t)size * CHARACTER + 10 : 0;
}

static int32_t cell_width(const sheet *s, const picture_block *grid) {
  size_t size = 2;
  for (int32_t c = 0; c < grid->columns; c++) {
    size_t label = strlen(picture_column_label(s->p, grid, c));
    size = label > size ? label : size;
    for (int32_t r = 0; r < grid->rows; r++) {
      size_t text = strlen(picture_cell_at(s->p, grid, r, c)->text);
      size = text > size ? text : size;
    }
  }
  return (int32_t)size * CHARACTER + 10;
}

static int32_t grid_width(const sheet *s, const picture_block *grid) {
  int32_t title = (int32_t)strlen(picture_string(s->p, grid->text)) * CHARACTER;
  int32_t cells = label_width(s, grid) + grid->columns * cell_width(s, grid);
  return title > cells ? title : cells;
}

// Lines over the first row: the title, and labels of columns where there are any. Room for arrows above a joined grid.
static int32_t head_height(const sheet *s, const picture_block *grid) {
  bool has_labels = grid->corner[0] != '\0';
  for (int32_t c = 0; c < grid->columns; c++) {
    has_labels = has_labels || picture_column_label(s->p, grid, c)[0] != '\0';
  }
  return (has_labels ? 2 : 1) * LINE + (grid->joined >= 0 ? LINE : 0);
}

static int32_t grid_height(const sheet *s, const picture_block *grid) {
  return head_height(s, grid) + grid->rows * ROW + 8;
}

static void put_box(const sheet *s, const picture_cell *cell, int32_t x, int32_t y, int32_t width) {
  char class[48];
  const char *kind = cell->kind == PICTURE_PADDING || cell->repeated ? "pad" : cell->kind == PICTURE_GAP ? "gap" : "";
  snprintf(class, sizeof class, "%s", kind);
  if (cell->tint > 0) {
    snprintf(class, sizeof class, "t%d%s%s", (int)cell->tint, cell->repeated ? " copy" : "",
             cell->marked ? " bad" : "");
  } else if (cell->marked) {
    snprintf(class, sizeof class, "bad");
  }
  indim_buffer_printf(s->out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"", (int)x, (int)y, (int)width, ROW);
  if (class[0] != '\0') {
    indim_buffer_printf(s->out, " class=\"%s\"", class);
  }
  indim_buffer_text(s->out, "/>\n");
}

static void put_tile_edges(const sheet *s, const picture_block *grid, const place *at) {
  indim_buffer path;
  indim_buffer_init(&path, s->out->cx);
  for (int32_t r = 0; r < grid->rows; r++) {
    for (int32_t c = 0; c < grid->columns; c++) {
      uint8_t edges = picture_cell_at(s->p, grid, r, c)->edges;
      int x = at->x + c * at->cell;
      int y = at->y + r * ROW;
      if ((edges & PICTURE_LEFT) != 0) {
        indim_buffer_printf(&path, "M%d %dv%d", x, y, ROW);
      }
      if ((edges & PICTURE_TOP) != 0) {
        indim_buffer_printf(&path, "M%d %dh%d", x, y, (int)at->cell);
      }
      if ((edges & PICTURE_RIGHT) != 0) {
        indim_buffer_printf(&path, "M%d %dv%d", x + (int)at->cell, y, ROW);
      }
      if ((edges & PICTURE_BOTTOM) != 0) {
        indim_buffer_printf(&path, "M%d %dh%d", x, y + ROW, (int)at->cell);
      }
    }
  }
  if (path.size > 0) {
    indim_buffer_printf(s->out, "<path class=\"tile\" d=\"%s\"/>\n", path.data);
  }
  s->out->status = s->out->status == INDIM_OK ? path.status : s->out->status;
  indim_buffer_deinit(&path);
}

// A cell on the way of memory.
typedef struct step {
  int64_t place;
  int32_t x, y;
} step;

static int by_place(const void *a, const void *b) {
  const step *x = a;
  const step *y = b;
  return x->place < y->place ? -1 : x->place > y->place;
}

// Lines from each place to the next; dashed where places between are not shown.
static void put_path(const sheet *s, const picture_block *grid, const place *at) {
  indim_buffer steps;
  indim_buffer_init(&steps, s->out->cx);
  for (int32_t r = 0; r < grid->rows; r++) {
    for (int32_t c = 0; c < grid->columns; c++) {
      const picture_cell *cell = picture_cell_at(s->p, grid, r, c);
      step one = {cell->place, at->x + c * at->cell + at->cell / 2, at->y + r * ROW + ROW / 2};
      if (cell->place >= 0) {
        indim_buffer_append(&steps, (const char *)&one, sizeof one);
      }
    }
  }
  size_t count = steps.size / sizeof(step);
  step *all = (step *)(void *)steps.data;
  if (count > 1 && steps.status == INDIM_OK) {
    qsort(all, count, sizeof *all, by_place);
    for (int jumps = 0; jumps < 2; jumps++) {
      bool any = false;
      for (size_t i = 1; i < count; i++) {
        if ((all[i].place != all[i - 1].place + 1) == (jumps == 1)) {
          indim_buffer_printf(s->out, "%sM%d %dL%d %d",
                              any          ? ""
                              : jumps == 0 ? "<path class=\"path\" d=\""
                                           : "<path class=\"path jump\" d=\"",
                              (int)all[i - 1].x, (int)all[i - 1].y, (int)all[i].x, (int)all[i].y);
          any = true;
        }
      }
      indim_buffer_text(s->out, any ? "\"/>\n" : "");
    }
  }
  s->out->status = s->out->status == INDIM_OK ? steps.status : s->out->status;
  indim_buffer_deinit(&steps);
}

static place *place_of(const sheet *s, size_t block) { return (place *)(void *)s->places.data + block; }

// Arrows from the elements of one grid to the same elements in another.
static void put_arrows(const sheet *s, const picture_block *to, const place *at, size_t from_number) {
  const picture_block *from = picture_block_at(s->p, from_number);
  const place *start = place_of(s, from_number);
  for (int32_t i = 0; i < from->rows * from->columns; i++) {
    const picture_cell *a = picture_cell_at(s->p, from, i / from->columns, i % from->columns);
    for (int32_t k = 0; a->element >= 0 && k < to->rows * to->columns; k++) {
      const picture_cell *b = picture_cell_at(s->p, to, k / to->columns, k % to->columns);
      if (b->element == a->element) {
        indim_buffer_printf(s->out, "<path class=\"arrow\" d=\"M%d %dL%d %d\"/>\n",
                            (int)(start->x + i % from->columns * start->cell + start->cell / 2),
                            (int)(start->y + (i / from->columns + 1) * ROW),
                            (int)(at->x + k % to->columns * at->cell + at->cell / 2),
                            (int)(at->y + k / to->columns * ROW));
      }
    }
  }
}

static void put_labels(const sheet *s, const picture_block *grid, int32_t x, const place *at) {
  bool has_labels = head_height(s, grid) - (grid->joined >= 0 ? LINE : 0) > LINE;
  put_text(s, x, at->y - (has_labels ? LINE : 0) - 6, "faint", picture_string(s->p, grid->text));
  put_text(s, x, at->y - 6, "faint", grid->corner);
  for (int32_t c = 0; c < grid->columns; c++) {
    put_text(s, at->x + c * at->cell + at->cell / 2, at->y - 6, "cell faint", picture_column_label(s->p, grid, c));
  }
  for (int32_t r = 0; r < grid->rows; r++) {
    put_text(s, at->x - 6, at->y + r * ROW + 16, "end faint", picture_row_label(s->p, grid, r));
  }
}

// Boxes first, then lines, then what is to be read.
static void put_grid(const sheet *s, size_t number, int32_t x) {
  const picture_block *grid = picture_block_at(s->p, number);
  place at = {x + label_width(s, grid), s->y + head_height(s, grid), cell_width(s, grid)};
  int32_t count = grid->rows * grid->columns;
  *place_of(s, number) = at;
  if (grid->joined >= 0) {
    put_arrows(s, grid, &at, (size_t)grid->joined);
  }
  put_labels(s, grid, x, &at);
  for (int32_t i = 0; i < count; i++) {
    const picture_cell *cell = picture_cell_at(s->p, grid, i / grid->columns, i % grid->columns);
    if (cell->kind != PICTURE_EMPTY) {
      put_box(s, cell, at.x + i % grid->columns * at.cell, at.y + i / grid->columns * ROW, at.cell);
    }
  }
  if (grid->path) {
    put_path(s, grid, &at);
  }
  put_tile_edges(s, grid, &at);
  for (int32_t i = 0; i < count; i++) {
    const picture_cell *cell = picture_cell_at(s->p, grid, i / grid->columns, i % grid->columns);
    put_text(s, at.x + i % grid->columns * at.cell + at.cell / 2, at.y + i / grid->columns * ROW + 16,
             cell->kind == PICTURE_ELEMENT ? "cell" : "cell faint", cell->kind == PICTURE_GAP ? "\u2026" : cell->text);
  }
}

// The grid |number| and those beside it; returns how many.
static size_t put_grids(sheet *s, size_t number) {
  int32_t x = MARGIN;
  int32_t height = 0;
  size_t i = number;
  for (; i < s->end; i++) {
    const picture_block *grid = picture_block_at(s->p, i);
    if (grid->kind != PICTURE_GRID || (i > number && (!grid->beside || x + grid_width(s, grid) > s->width - MARGIN))) {
      break;
    }
    put_grid(s, i, x);
    x += grid_width(s, grid) + BETWEEN;
    height = grid_height(s, grid) > height ? grid_height(s, grid) : height;
  }
  s->y += height;
  return i - number;
}

static int32_t widest(const sheet *s) {
  int32_t width = 0;
  for (size_t i = s->first; i < s->end; i++) {
    const picture_block *block = picture_block_at(s->p, i);
    int32_t own = block->kind == PICTURE_GRID      ? grid_width(s, block)
                  : block->kind == PICTURE_HEADING ? (int32_t)strlen(picture_string(s->p, block->text)) * CHARACTER
                                                   : 0;
    width = own > width ? own : width;
  }
  return width + 2 * MARGIN;
}

// Everything between the tags; leaves the height in |s->y|.
static void put_blocks(sheet *s) {
  s->y = MARGIN;
  for (size_t i = s->first; i < s->end;) {
    const picture_block *block = picture_block_at(s->p, i);
    const char *text = picture_string(s->p, block->text);
    bool after_facts = i > s->first && picture_block_at(s->p, i - 1)->kind == PICTURE_FACT;
    s->y += after_facts && block->kind != PICTURE_FACT ? LINE / 2 : 0;
    if (block->kind == PICTURE_GRID) {
      i += put_grids(s, i);
      continue;
    }
    if (block->kind == PICTURE_FACT) {
      put_text(s, MARGIN, s->y + LINE - 6, "faint", picture_string(s->p, block->label));
      put_words(s, MARGIN + LABEL_COLUMN, "", text);
    } else {
      s->y += block->kind == PICTURE_HEADING && i > s->first ? LINE / 2 : 0;
      put_words(s, MARGIN, block->kind == PICTURE_HEADING ? "head" : "faint", text);
    }
    i++;
  }
  s->y += MARGIN;
}

void markup_svg(const picture *p, const picture_options *options, size_t first, size_t end, bool with_style,
                indim_buffer *out) {
  int32_t characters = options != NULL && options->width > 0 ? options->width : 100;
  sheet s = {.p = p, .out = out, .width = characters * CHARACTER + 2 * MARGIN, .first = first, .end = end};
  static const place nowhere = {0};
  indim_buffer body;
  indim_buffer_init(&body, out->cx);
  indim_buffer_init(&s.places, out->cx);
  for (size_t i = 0; i < picture_block_count(p); i++) {
    indim_buffer_append(&s.places, (const char *)&nowhere, sizeof nowhere);
  }
  s.width = widest(&s) > s.width || !with_style ? widest(&s) : s.width;
  s.out = &body;
  if (s.places.status == INDIM_OK) {
    put_blocks(&s);
  }
  indim_buffer_printf(out,
                      "<svg class=\"pic\" xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                      "viewBox=\"0 0 %d %d\" role=\"img\">\n",
                      (int)s.width, (int)s.y, (int)s.width, (int)s.y);
  if (with_style) {
    indim_buffer_text(out, "<style>");
    markup_style(out);
    indim_buffer_text(out, "</style>\n");
  }
  indim_buffer_append(out, body.data, body.size);
  indim_buffer_text(out, "</svg>\n");
  if (out->status == INDIM_OK) {
    out->status = body.status != INDIM_OK ? body.status : s.places.status;
  }
  indim_buffer_deinit(&body);
  indim_buffer_deinit(&s.places);
}

void picture_print_svg(const picture *p, const picture_options *options, indim_buffer *out) {
  markup_svg(p, options, 0, picture_block_count(p), true, out);
}

indim_status picture_shape_svg(indim_buffer *out, const indim_shape *shape, const picture_options *options) {
  picture p;
  picture_init(&p, out->cx);
  indim_status status = picture_add_shape(&p, shape, options);
  if (status == INDIM_OK) {
    picture_print_svg(&p, options, out);
    status = out->status;
  }
  picture_deinit(&p);
  return status;
}
