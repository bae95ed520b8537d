// A picture as text for a terminal. A grid is made line by line, so that grids can stand beside each other.
#include <stdio.h>
#include <string.h>

#include "build.h"

typedef struct glyphs {
  const char *gap;
  const char *horizontal;
  const char *vertical;
  const char *rising;  // from the lower left to the upper right
  const char *falling;
  const char *joints[16];  // by the sides that lead away: 1 left, 2 up, 4 right, 8 down
} glyphs;

static const glyphs unicode = {"\u2026",
                               "\u2500",
                               "\u2502",
                               "\u2571",
                               "\u2572",
                               {" ", "\u2500", "\u2502", "\u2518", "\u2500", "\u2500", "\u2514", "\u2534", "\u2502",
                                "\u2510", "\u2502", "\u2524", "\u250c", "\u252c", "\u251c", "\u253c"}};
static const glyphs ascii = {
    "...", "-", "|", "/", "\\", {" ", "-", "|", "+", "-", "-", "+", "+", "|", "+", "|", "+", "+", "+", "+", "+"}};

typedef struct page {
  const picture *p;
  const picture_options *options;
  const glyphs *g;
  int32_t width;
  indim_buffer *out;
} page;

// A grid as lines: title, column labels, then rows with what stands between them.
typedef struct grid_lines {
  const picture_block *grid;
  int32_t label;     // characters of a row label
  int32_t cell;      // of a cell
  bool lines;        // outlines of tiles
  bool path;         // lines from place to place instead
  bool has_columns;  // column labels
  int32_t width;
  int32_t count;
} grid_lines;

static void put(const page *g, const char *text, int32_t times) {
  for (int32_t i = 0; i < times; i++) {
    indim_buffer_text(g->out, text);
  }
}

static void paint(const page *g, const char *code) {
  if (g->options->colour) {
    indim_buffer_printf(g->out, "\x1b[%sm", code);
  }
}

// Asking ----------------------------------------------------------------------------------------------------------

static int32_t cell_size(const page *g, const picture_cell *cell) {
  return cell->kind == PICTURE_GAP ? (g->options->ascii ? 3 : 1)
                                   : (int32_t)strlen(cell->text) + (cell->repeated || cell->marked ? 2 : 0);
}

static const picture_cell *cell_at(const page *g, const picture_block *grid, int32_t row, int32_t column) {
  bool inside = row >= 0 && row < grid->rows && column >= 0 && column < grid->columns;
  return inside ? picture_cell_at(g->p, grid, row, column) : NULL;
}

// Whether memory leads from one cell to the other.
static bool follows(const picture_cell *a, const picture_cell *b) {
  return a != NULL && b != NULL && a->place >= 0 && b->place >= 0 &&
         (a->place == b->place + 1 || b->place == a->place + 1);
}

// Whether an outline stands left of a cell (of the column behind the last, right of the last).
static bool line_left(const page *g, const picture_block *grid, int32_t row, int32_t column) {
  const picture_cell *cell = cell_at(g, grid, row, column);
  const picture_cell *before = cell_at(g, grid, row, column - 1);
  return (cell != NULL && (cell->edges & PICTURE_LEFT) != 0) ||
         (before != NULL && (before->edges & PICTURE_RIGHT) != 0);
}

static bool line_above(const page *g, const picture_block *grid, int32_t row, int32_t column) {
  const picture_cell *cell = cell_at(g, grid, row, column);
  const picture_cell *before = cell_at(g, grid, row - 1, column);
  return (cell != NULL && (cell->edges & PICTURE_TOP) != 0) ||
         (before != NULL && (before->edges & PICTURE_BOTTOM) != 0);
}

static bool has_line_left(const page *g, const picture_block *grid, int32_t column) {
  for (int32_t r = 0; r < grid->rows; r++) {
    if (line_left(g, grid, r, column)) {
      return true;
    }
  }
  return false;
}

static bool has_line_above(const page *g, const picture_block *grid, int32_t row) {
  for (int32_t c = 0; c < grid->columns; c++) {
    if (line_above(g, grid, row, c)) {
      return true;
    }
  }
  return false;
}

// Whether the way of memory crosses from row |row| - 1 to |row| anywhere between neighbours.
static bool has_steps_above(const page *g, const picture_block *grid, int32_t row) {
  for (int32_t c = 0; c < grid->columns; c++) {
    const picture_cell *below = cell_at(g, grid, row, c);
    for (int32_t side = -1; side <= 1; side++) {
      if (follows(cell_at(g, grid, row - 1, c + side), below)) {
        return true;
      }
    }
  }
  return false;
}

// Characters before a column: of the one behind the last, those after the last.
static int32_t space_before(const page *g, const grid_lines *l, int32_t column) {
  bool outer = column == 0 || column == l->grid->columns;
  if (l->lines && has_line_left(g, l->grid, column)) {
    return outer ? 2 : 3;
  }
  return outer ? 0 : l->path ? 2 : 1;
}

static bool has_line_between(const page *g, const grid_lines *l, int32_t row) {
  if (l->lines) {
    return has_line_above(g, l->grid, row);
  }
  return l->path && row > 0 && row < l->grid->rows && has_steps_above(g, l->grid, row);
}

static grid_lines measure(const page *g, const picture_block *grid) {
  grid_lines l = {.grid = grid, .label = (int32_t)strlen(grid->corner), .cell = 1};
  bool has_rows = grid->corner[0] != '\0' && grid->rows > 1;
  for (int32_t r = 0; r < grid->rows; r++) {
    int32_t size = (int32_t)strlen(picture_row_label(g->p, grid, r));
    has_rows = has_rows || size > 0;
    l.label = size > l.label ? size : l.label;
    for (int32_t c = 0; c < grid->columns; c++) {
      const picture_cell *cell = picture_cell_at(g->p, grid, r, c);
      l.lines = l.lines || cell->edges != 0;
      l.cell = cell_size(g, cell) > l.cell ? cell_size(g, cell) : l.cell;
    }
  }
  for (int32_t c = 0; c < grid->columns; c++) {
    int32_t size = (int32_t)strlen(picture_column_label(g->p, grid, c));
    l.has_columns = l.has_columns || size > 0;
    l.cell = size > l.cell ? size : l.cell;
  }
  l.path = grid->path && !l.lines;
  l.width = l.label == 0 ? 0 : l.label + 2;
  for (int32_t c = 0; c <= grid->columns; c++) {
    l.width += space_before(g, &l, c) + (c < grid->columns ? l.cell : 0);
  }
  l.count = 1 + l.has_columns + grid->rows;
  for (int32_t r = 0; r <= grid->rows; r++) {
    l.count += has_line_between(g, &l, r);
  }
  int32_t title = (int32_t)strlen(picture_string(g->p, grid->text));
  l.width = title > l.width ? title : l.width;
  return l;
}

// Lines -----------------------------------------------------------------------------------------------------------

static const char *colour_of(const picture_cell *cell) {
  static const char *const tints[PICTURE_TINTS] = {"36", "33", "32", "35", "34", "31"};
  return cell->marked                    ? "1;7;31"
         : cell->kind == PICTURE_PADDING ? "2"
         : cell->kind == PICTURE_GAP     ? "2"
         : cell->tint == 0               ? NULL
                                         : tints[(cell->tint - 1) % PICTURE_TINTS];
}

static int32_t put_label(const page *g, const grid_lines *l, const char *text) {
  if (l->label > 0) {
    indim_buffer_printf(g->out, "%*s  ", (int)l->label, text);
  }
  return l->label > 0 ? l->label + 2 : 0;
}

static int32_t put_column_labels(const page *g, const grid_lines *l) {
  int32_t used = put_label(g, l, l->grid->corner);
  for (int32_t c = 0; c < l->grid->columns; c++) {
    int32_t before = space_before(g, l, c);
    indim_buffer_printf(g->out, "%*s%*s", (int)before, "", (int)l->cell, picture_column_label(g->p, l->grid, c));
    used += before + l->cell;
  }
  return used;
}

static int32_t put_row(const page *g, const grid_lines *l, int32_t row) {
  const picture_block *grid = l->grid;
  int32_t used = put_label(g, l, picture_row_label(g->p, grid, row));
  for (int32_t c = 0; c <= grid->columns; c++) {
    int32_t before = space_before(g, l, c);
    const picture_cell *cell = cell_at(g, grid, row, c);
    int32_t size = cell == NULL ? 0 : cell_size(g, cell);
    int32_t blanks = cell == NULL ? 0 : l->cell - size;
    used += before + (cell == NULL ? 0 : l->cell);
    if (l->lines && before > 1) {
      put(g, " ", c == 0 ? 0 : 1);
      put(g, line_left(g, grid, row, c) ? g->g->vertical : " ", 1);
      put(g, " ", c == 0 || before == 3 ? 1 : 0);
      put(g, " ", blanks);
    } else {
      bool step = l->path && c > 0 && follows(cell_at(g, grid, row, c - 1), cell);
      put(g, step ? g->g->horizontal : " ", before + blanks);
    }
    if (cell != NULL) {
      const char *colour = colour_of(cell);
      if (colour != NULL) {
        paint(g, colour);
      }
      indim_buffer_printf(g->out,
                          cell->marked     ? ">%s<"
                          : cell->repeated ? "(%s)"
                                           : "%s",
                          cell->kind == PICTURE_GAP ? g->g->gap : cell->text);
      if (colour != NULL) {
        paint(g, "0");
      }
    }
  }
  return used;
}

static int32_t put_outline(const page *g, const grid_lines *l, int32_t row) {
  const picture_block *grid = l->grid;
  int32_t used = put_label(g, l, "");
  for (int32_t c = 0; c <= grid->columns; c++) {
    int32_t before = space_before(g, l, c);
    bool left = c > 0 && line_above(g, grid, row, c - 1);
    bool right = c < grid->columns && line_above(g, grid, row, c);
    used += before + (c < grid->columns ? l->cell : 0);
    if (before > 1) {
      int joint = left | (line_left(g, grid, row - 1, c) << 1) | right << 2 | (line_left(g, grid, row, c) << 3);
      put(g, left ? g->g->horizontal : " ", c == 0 ? 0 : 1);
      put(g, g->g->joints[joint], 1);
      put(g, right ? g->g->horizontal : " ", c == 0 || before == 3 ? 1 : 0);
    } else {
      put(g, left && right ? g->g->horizontal : " ", before);
    }
    if (c < grid->columns) {
      put(g, right ? g->g->horizontal : " ", l->cell);
    }
  }
  return used;
}

// The steps of memory between two rows: straight down under the last character of a cell, aslant between two cells.
static int32_t put_steps(const page *g, const grid_lines *l, int32_t row) {
  const picture_block *grid = l->grid;
  int32_t used = put_label(g, l, "");
  for (int32_t c = 0; c < grid->columns; c++) {
    const picture_cell *above = cell_at(g, grid, row - 1, c);
    const picture_cell *below = cell_at(g, grid, row, c);
    bool falling = follows(cell_at(g, grid, row - 1, c - 1), below);
    bool rising = follows(above, cell_at(g, grid, row, c - 1));
    int32_t before = space_before(g, l, c) + l->cell - 1;
    int32_t middle = c == 0 ? before : before / 2;
    put(g, " ", middle);
    if (c > 0) {
      put(g, rising ? g->g->rising : falling ? g->g->falling : " ", 1);
      put(g, " ", before - middle - 1);
    }
    put(g, follows(above, below) ? g->g->vertical : " ", 1);
    used += before + 1;
  }
  return used;
}

// Line |number| of a grid, filled to its width with blanks if another grid follows beside it.
static void put_line(const page *g, const grid_lines *l, int32_t number, bool fill) {
  int32_t used = 0;
  int32_t at = 1 + l->has_columns;
  if (number == 0) {
    const char *title = picture_string(g->p, l->grid->text);
    indim_buffer_text(g->out, title);
    used = (int32_t)strlen(title);
  } else if (number < at) {
    used = put_column_labels(g, l);
  } else {
    for (int32_t r = 0; r <= l->grid->rows; r++) {
      if (has_line_between(g, l, r) && number == at++) {
        used = l->lines ? put_outline(g, l, r) : put_steps(g, l, r);
        break;
      }
      if (r < l->grid->rows && number == at++) {
        used = put_row(g, l, r);
        break;
      }
    }
  }
  put(g, " ", fill && used < l->width ? l->width - used : 0);
}

enum { MOST_BESIDE = 8, BETWEEN = 4 };

// Blanks at the end of a line say nothing.
static void end_line(const page *g) {
  while (g->out->size > 0 && g->out->data[g->out->size - 1] == ' ' && g->out->status == INDIM_OK) {
    g->out->data[--g->out->size] = '\0';
  }
  indim_buffer_char(g->out, '\n');
}

// Prints the grid |number| and those that stand beside it; returns how many these are.
static size_t put_grids(const page *g, size_t number) {
  grid_lines all[MOST_BESIDE];
  int32_t count = 0;
  int32_t used = 0;
  int32_t lines = 0;
  for (size_t i = number; i < picture_block_count(g->p) && count < MOST_BESIDE; i++) {
    const picture_block *block = picture_block_at(g->p, i);
    if (block->kind != PICTURE_GRID || (count > 0 && !block->beside)) {
      break;
    }
    grid_lines l = measure(g, block);
    if (count > 0 && used + BETWEEN + l.width > g->width - 2) {
      break;
    }
    used += (count == 0 ? 0 : BETWEEN) + l.width;
    lines = l.count > lines ? l.count : lines;
    all[count++] = l;
  }
  for (int32_t n = 0; n < lines; n++) {
    indim_buffer_text(g->out, "  ");
    for (int32_t i = 0; i < count; i++) {
      put(g, " ", i == 0 ? 0 : BETWEEN);
      if (n < all[i].count) {
        put_line(g, &all[i], n, i + 1 < count);
      } else if (i + 1 < count) {
        put(g, " ", all[i].width);
      }
    }
    end_line(g);
  }
  return (size_t)count;
}

// Words, broken at blanks where they would leave the width, with |indent| blanks in front of further lines.
static void put_words(const page *g, const char *text, int32_t indent) {
  int32_t at = indent;
  while (*text != '\0') {
    int32_t size = (int32_t)strcspn(text, " ");
    if (at > indent && at + 1 + size > g->width) {
      indim_buffer_char(g->out, '\n');
      put(g, " ", indent);
      at = indent;
    } else if (at > indent) {
      indim_buffer_char(g->out, ' ');
      at++;
    }
    indim_buffer_append(g->out, text, (size_t)size);
    at += size;
    text += size;
    text += *text == ' ';
  }
  indim_buffer_char(g->out, '\n');
}

enum { FACT_INDENT = 16 };

static void put_block(const page *g, const picture_block *block) {
  const char *text = picture_string(g->p, block->text);
  if (block->kind == PICTURE_HEADING) {
    paint(g, "1");
    indim_buffer_text(g->out, text);
    paint(g, "0");
    indim_buffer_char(g->out, '\n');
  } else if (block->kind == PICTURE_FACT) {
    const char *label = picture_string(g->p, block->label);
    indim_buffer_printf(g->out, "%-*s", FACT_INDENT - 1, label);
    indim_buffer_char(g->out, ' ');
    put_words(g, text, FACT_INDENT);
  } else {
    indim_buffer_text(g->out, "  ");
    put_words(g, text, 2);
  }
}

// A note that ends in a colon belongs to what follows, any other to what is before.
static bool leads(const picture *p, const picture_block *block) {
  const char *text = picture_string(p, block->text);
  size_t size = strlen(text);
  return block->kind == PICTURE_NOTE && size > 0 && text[size - 1] == ':';
}

static bool stands_apart(const picture *p, size_t number) {
  if (number == 0) {
    return false;
  }
  const picture_block *block = picture_block_at(p, number);
  const picture_block *before = picture_block_at(p, number - 1);
  return block->kind == PICTURE_GRID   ? !leads(p, before)
         : block->kind == PICTURE_NOTE ? leads(p, block) || before->kind == PICTURE_FACT
         : block->kind == PICTURE_FACT ? before->kind == PICTURE_GRID || before->kind == PICTURE_NOTE
                                       : true;
}

void picture_print_text(const picture *p, const picture_options *options, indim_buffer *out) {
  static const picture_options usual = {0};
  options = options == NULL ? &usual : options;
  page g = {p, options, options->ascii ? &ascii : &unicode, options->width > 0 ? options->width : 100, out};
  size_t count = picture_block_count(p);
  for (size_t i = 0; i < count && out->status == INDIM_OK;) {
    const picture_block *block = picture_block_at(p, i);
    indim_buffer_text(out, stands_apart(p, i) ? "\n" : "");
    if (block->kind == PICTURE_GRID) {
      i += put_grids(&g, i);
    } else {
      put_block(&g, block);
      i++;
    }
  }
}

indim_status picture_shape_text(indim_buffer *out, const indim_shape *shape, const picture_options *options) {
  picture p;
  picture_init(&p, out->cx);
  indim_status status = picture_add_shape(&p, shape, options);
  if (status == INDIM_OK) {
    picture_print_text(&p, options, out);
    status = out->status;
  }
  picture_deinit(&p);
  return status;
}
