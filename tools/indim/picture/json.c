// A picture as JSON, for programs: {"blocks":[...]}, cells with their element's number and place.
#include <inttypes.h>

#include "build.h"

static void put_string(indim_buffer *out, const char *text) { indim_buffer_json(out, indim_str_of(text)); }

static void put_cell(const picture_cell *cell, indim_buffer *out) {
  static const char *const kinds[] = {"empty", "element", "padding", "gap"};
  indim_buffer_printf(out, "{\"kind\":\"%s\"", kinds[cell->kind]);
  if (cell->text[0] != '\0') {
    indim_buffer_text(out, ",\"text\":");
    put_string(out, cell->text);
  }
  if (cell->element >= 0) {
    indim_buffer_printf(out, ",\"element\":%" PRId64, cell->element);
  }
  if (cell->place >= 0) {
    indim_buffer_printf(out, ",\"place\":%" PRId64, cell->place);
  }
  if (cell->edges != 0) {
    indim_buffer_printf(out, ",\"edges\":\"%s%s%s%s\"", (cell->edges & PICTURE_LEFT) != 0 ? "l" : "",
                        (cell->edges & PICTURE_TOP) != 0 ? "t" : "", (cell->edges & PICTURE_RIGHT) != 0 ? "r" : "",
                        (cell->edges & PICTURE_BOTTOM) != 0 ? "b" : "");
  }
  indim_buffer_text(out, cell->repeated ? ",\"repeated\":true" : "");
  indim_buffer_text(out, cell->marked ? ",\"marked\":true" : "");
  indim_buffer_char(out, '}');
}

static void put_grid(const picture *p, const picture_block *grid, indim_buffer *out) {
  indim_buffer_text(out, ",\"corner\":");
  put_string(out, grid->corner);
  indim_buffer_text(out, ",\"row_labels\":[");
  for (int32_t r = 0; r < grid->rows; r++) {
    indim_buffer_text(out, r == 0 ? "" : ",");
    put_string(out, picture_row_label(p, grid, r));
  }
  indim_buffer_text(out, "],\"column_labels\":[");
  for (int32_t c = 0; c < grid->columns; c++) {
    indim_buffer_text(out, c == 0 ? "" : ",");
    put_string(out, picture_column_label(p, grid, c));
  }
  indim_buffer_text(out, "],\"rows\":[");
  for (int32_t r = 0; r < grid->rows; r++) {
    indim_buffer_text(out, r == 0 ? "\n[" : ",\n[");
    for (int32_t c = 0; c < grid->columns; c++) {
      indim_buffer_text(out, c == 0 ? "" : ",");
      put_cell(picture_cell_at(p, grid, r, c), out);
    }
    indim_buffer_char(out, ']');
  }
  indim_buffer_char(out, ']');
  if (grid->joined >= 0) {
    indim_buffer_printf(out, ",\"joined\":%d", (int)grid->joined);
  }
}

void picture_print_json(const picture *p, indim_buffer *out) {
  static const char *const kinds[] = {"heading", "fact", "note", "grid"};
  indim_buffer_text(out, "{\"blocks\":[");
  for (size_t i = 0; i < picture_block_count(p); i++) {
    const picture_block *block = picture_block_at(p, i);
    indim_buffer_printf(out, "%s\n{\"kind\":\"%s\"", i == 0 ? "" : ",", kinds[block->kind]);
    if (block->kind == PICTURE_FACT) {
      indim_buffer_text(out, ",\"label\":");
      put_string(out, picture_string(p, block->label));
    }
    indim_buffer_text(out, block->kind == PICTURE_GRID ? ",\"title\":" : ",\"text\":");
    put_string(out, picture_string(p, block->text));
    if (block->kind == PICTURE_GRID) {
      put_grid(p, block, out);
    }
    indim_buffer_char(out, '}');
  }
  indim_buffer_text(out, "]}");
}
