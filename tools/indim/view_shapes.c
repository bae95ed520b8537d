// The shapes of a program for `indim view`: sizes, and pictures of their layouts.
#include <stdlib.h>
#include <string.h>

#include "picture/picture.h"
#include "tool.h"
#include "view.h"

// What is told of each shape that occurs, by its text. Those of more than so many are not told of, and not drawn when
// drawings take so many bytes together.
enum { MOST_SHAPES = 2000, SHAPE_SLOTS = 8192, MOST_DRAWING_BYTES = 200 << 10 };

typedef struct shape_table {
  indim_ctx *cx;
  char *slots[SHAPE_SLOTS];  // open addressing; at most a quarter is taken
  int count;
  size_t drawn;  // bytes of drawings
  indim_buffer *out;
} shape_table;

// Whether the text is new; it is kept then, and belongs to the table.
static bool is_new_shape(shape_table *t, char *text) {
  uint32_t hash = 2166136261u;
  for (const char *c = text; *c != '\0'; c++) {
    hash = (hash ^ (unsigned char)*c) * 16777619u;
  }
  size_t at = hash % SHAPE_SLOTS;
  for (; t->slots[at] != NULL; at = (at + 1) % SHAPE_SLOTS) {
    if (strcmp(t->slots[at], text) == 0) {
      return false;
    }
  }
  t->slots[at] = text;
  return true;
}

// A grid: its cells row by row, joined by '|': the kind ('.' empty, '-' padding, '~' left out, else the tint of an element), the
// sides where tiles end as a hexadecimal digit, and the text.
static void put_grid(const picture *p, const picture_block *grid, indim_buffer *out) {
  indim_buffer cells;
  indim_buffer_init(&cells, out->cx);
  indim_buffer_printf(out, ",\"beside\":%s,\"corner\":", grid->beside ? "true" : "false");
  indim_buffer_json(out, indim_str_of(grid->corner));
  indim_buffer_text(out, ",\"columns\":[");
  for (int32_t c = 0; c < grid->columns; c++) {
    indim_buffer_text(out, c == 0 ? "" : ",");
    indim_buffer_json(out, indim_str_of(picture_column_label(p, grid, c)));
  }
  indim_buffer_text(out, "],\"rows\":[");
  for (int32_t r = 0; r < grid->rows; r++) {
    indim_buffer_text(out, r == 0 ? "[" : ",[");
    indim_buffer_json(out, indim_str_of(picture_row_label(p, grid, r)));
    indim_buffer_clear(&cells);
    for (int32_t c = 0; c < grid->columns; c++) {
      static const char kinds[] = {
          [PICTURE_EMPTY] = '.', [PICTURE_ELEMENT] = '0', [PICTURE_PADDING] = '-', [PICTURE_GAP] = '~'};
      const picture_cell *cell = picture_cell_at(p, grid, r, c);
      char kind = (char)(kinds[cell->kind] + (cell->kind == PICTURE_ELEMENT ? cell->tint : 0));
      indim_buffer_printf(&cells, "%s%c%x%s", c == 0 ? "" : "|", kind, (unsigned)cell->edges, cell->text);
    }
    indim_buffer_char(out, ',');
    indim_buffer_json(out, (indim_str){cells.size == 0 ? "" : cells.data, cells.size});
    indim_buffer_char(out, ']');
  }
  indim_buffer_text(out, "]");
  for (int32_t k = 0; k < grid->rows * grid->columns && grid->path; k++) {
    const picture_cell *cell = picture_cell_at(p, grid, k / grid->columns, k % grid->columns);
    indim_buffer_printf(out, k == 0 ? ",\"path\":[%lld" : ",%lld", (long long)cell->place);
  }
  indim_buffer_text(out, grid->path && grid->rows * grid->columns > 0 ? "]" : "");
  indim_buffer_deinit(&cells);
}

// The picture of a shape as a list of blocks, drawn by view/picture.js.
static void put_picture(const picture *p, indim_buffer *out) {
  static const char *const kinds[] = {
      [PICTURE_HEADING] = "heading", [PICTURE_FACT] = "fact", [PICTURE_NOTE] = "note", [PICTURE_GRID] = "grid"};
  for (size_t i = 0; i < picture_block_count(p); i++) {
    const picture_block *block = picture_block_at(p, i);
    indim_buffer_printf(out, "%s{\"kind\":\"%s\",\"text\":", i == 0 ? "" : ",", kinds[block->kind]);
    indim_buffer_json(out, indim_str_of(picture_string(p, block->text)));
    if (block->kind == PICTURE_FACT) {
      indim_buffer_text(out, ",\"label\":");
      indim_buffer_json(out, indim_str_of(picture_string(p, block->label)));
    } else if (block->kind == PICTURE_GRID) {
      put_grid(p, block, out);
    }
    indim_buffer_char(out, '}');
  }
}

static void put_drawing(shape_table *t, const indim_shape *shape) {
  static const picture_options options = {.width = 64};
  picture p;
  indim_buffer text;
  if (t->drawn >= MOST_DRAWING_BYTES) {
    return;
  }
  indim_buffer_init(&text, t->cx);
  picture_init(&p, t->cx);
  if (picture_add_shape(&p, shape, &options) == INDIM_OK) {
    put_picture(&p, &text);
    if (text.status == INDIM_OK && t->drawn + text.size <= MOST_DRAWING_BYTES) {
      t->drawn += text.size;
      indim_buffer_text(t->out, ",\"picture\":[");
      indim_buffer_append(t->out, text.data, text.size);
      indim_buffer_char(t->out, ']');
    }
  }
  picture_deinit(&p);
  indim_buffer_deinit(&text);
}

static void put_shape(shape_table *t, const indim_shape *shape) {
  char *text = shape_text(t->cx, shape, true);
  if (t->count >= MOST_SHAPES || !is_new_shape(t, text)) {
    free(text);
    return;
  }
  int64_t bytes = 0;
  indim_buffer_text(t->out, t->count++ == 0 ? "\n" : ",\n");
  indim_buffer_json(t->out, indim_str_of(text));
  indim_buffer_text(t->out, ":{");
  if (indim_shape_is_array(shape) && indim_shape_is_static(shape) &&
      indim_shape_storage_bytes(t->cx, shape, &bytes) == INDIM_OK) {
    indim_buffer_printf(t->out, "\"elements\":%lld,\"bytes\":%lld", (long long)indim_shape_element_count(shape),
                        (long long)bytes);
    put_drawing(t, shape);
  }
  indim_buffer_char(t->out, '}');
}

void view_put_shapes(indim_ctx *cx, const indim_module *module, indim_buffer *out) {
  shape_table *table = must_alloc(sizeof *table);
  memset(table, 0, sizeof *table);
  table->cx = cx;
  table->out = out;
  for (int64_t c = 0; c < indim_module_computation_count(module); c++) {
    const indim_computation *computation = indim_module_computation(module, c);
    for (int64_t i = 0; i < indim_computation_instr_count(computation); i++) {
      const indim_shape *shape = indim_instr_shape(indim_computation_instr(computation, i));
      if (shape != NULL) {
        put_shape(table, shape);
      }
    }
  }
  for (int i = 0; i < SHAPE_SLOTS; i++) {
    free(table->slots[i]);
  }
  free(table);
}
