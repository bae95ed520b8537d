// The model of a picture: blocks, cells, labels and strings in growing buffers.
#include "build.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void picture_init(picture *p, indim_ctx *cx) {
  indim_buffer_init(&p->blocks, cx);
  indim_buffer_init(&p->cells, cx);
  indim_buffer_init(&p->labels, cx);
  indim_buffer_init(&p->strings, cx);
}

void picture_deinit(picture *p) {
  indim_buffer_deinit(&p->blocks);
  indim_buffer_deinit(&p->cells);
  indim_buffer_deinit(&p->labels);
  indim_buffer_deinit(&p->strings);
}

indim_status picture_status(const picture *p) {
  const indim_buffer *const all[] = {&p->blocks, &p->cells, &p->labels, &p->strings};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    if (all[i]->status != INDIM_OK) {
      return all[i]->status;
    }
  }
  return INDIM_OK;
}

// Reading ---------------------------------------------------------------------------------------------------------

static void *item(const indim_buffer *buffer, size_t size, size_t number) { return buffer->data + size * number; }

size_t picture_block_count(const picture *p) { return p->blocks.size / sizeof(picture_block); }

const picture_block *picture_block_at(const picture *p, size_t number) {
  return item(&p->blocks, sizeof(picture_block), number);
}

const char *picture_string(const picture *p, size_t offset) { return p->strings.data + offset; }

const picture_cell *picture_cell_at(const picture *p, const picture_block *grid, int32_t row, int32_t column) {
  return item(&p->cells, sizeof(picture_cell), grid->first_cell + (size_t)row * (size_t)grid->columns + (size_t)column);
}

const char *picture_row_label(const picture *p, const picture_block *grid, int32_t row) {
  return item(&p->labels, PICTURE_LABEL_SIZE, grid->first_label + (size_t)row);
}

const char *picture_column_label(const picture *p, const picture_block *grid, int32_t column) {
  return item(&p->labels, PICTURE_LABEL_SIZE, grid->first_label + (size_t)grid->rows + (size_t)column);
}

// Making ----------------------------------------------------------------------------------------------------------

// A place in |strings| for a text that is appended next; keep_string ends it.
static void keep_string(picture *p) { indim_buffer_char(&p->strings, '\0'); }

static size_t add_string(picture *p, const char *text) {
  size_t at = p->strings.size;
  indim_buffer_text(&p->strings, text);
  keep_string(p);
  return at;
}

static size_t add_format(picture *p, const char *format, va_list arguments) {
  char text[1024];
  vsnprintf(text, sizeof text, format, arguments);
  return add_string(p, text);
}

static void add_block(picture *p, const picture_block *block) {
  if (picture_status(p) == INDIM_OK) {
    indim_buffer_append(&p->blocks, (const char *)block, sizeof *block);
  }
}

void picture_heading(picture *p, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  size_t text = add_format(p, format, arguments);
  va_end(arguments);
  add_block(p, &(picture_block){.kind = PICTURE_HEADING, .text = text, .joined = -1});
}

void picture_note(picture *p, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  size_t text = add_format(p, format, arguments);
  va_end(arguments);
  add_block(p, &(picture_block){.kind = PICTURE_NOTE, .text = text, .joined = -1});
}

void picture_fact(picture *p, const char *label, const char *format, ...) {
  size_t name = add_string(p, label);
  va_list arguments;
  va_start(arguments, format);
  size_t text = add_format(p, format, arguments);
  va_end(arguments);
  add_block(p, &(picture_block){.kind = PICTURE_FACT, .label = name, .text = text, .joined = -1});
}

// The text of a buffer, which is cleared.
static size_t add_text_of(picture *p, indim_buffer *text) {
  if (text->status != INDIM_OK && p->strings.status == INDIM_OK) {
    p->strings.status = text->status;
  }
  size_t at = add_string(p, text->data == NULL ? "" : text->data);
  indim_buffer_clear(text);
  return at;
}

void picture_fact_from(picture *p, const char *label, indim_buffer *text) {
  size_t name = add_string(p, label);
  size_t at = add_text_of(p, text);
  add_block(p, &(picture_block){.kind = PICTURE_FACT, .label = name, .text = at, .joined = -1});
}

void picture_heading_from(picture *p, indim_buffer *text) {
  size_t at = add_text_of(p, text);
  add_block(p, &(picture_block){.kind = PICTURE_HEADING, .text = at, .joined = -1});
}

void picture_note_from(picture *p, indim_buffer *text) {
  size_t at = add_text_of(p, text);
  add_block(p, &(picture_block){.kind = PICTURE_NOTE, .text = at, .joined = -1});
}

picture_block *picture_add_grid(picture *p, int32_t rows, int32_t columns, const char *format, ...) {
  static const picture_cell empty = {.element = -1, .place = -1};
  static const char no_label[PICTURE_LABEL_SIZE] = {0};
  va_list arguments;
  va_start(arguments, format);
  size_t text = add_format(p, format, arguments);
  va_end(arguments);
  picture_block block = {.kind = PICTURE_GRID, .text = text, .rows = rows, .columns = columns, .joined = -1};
  block.first_cell = p->cells.size / sizeof empty;
  block.first_label = p->labels.size / sizeof no_label;
  for (int64_t i = 0; i < (int64_t)rows * columns; i++) {
    indim_buffer_append(&p->cells, (const char *)&empty, sizeof empty);
  }
  for (int32_t i = 0; i < rows + columns; i++) {
    indim_buffer_append(&p->labels, no_label, sizeof no_label);
  }
  add_block(p, &block);
  return picture_status(p) != INDIM_OK ? NULL : item(&p->blocks, sizeof block, picture_block_count(p) - 1);
}

picture_cell *picture_cell_of(picture *p, const picture_block *grid, int32_t row, int32_t column) {
  return item(&p->cells, sizeof(picture_cell), grid->first_cell + (size_t)row * (size_t)grid->columns + (size_t)column);
}

char *picture_row_label_of(picture *p, const picture_block *grid, int32_t row) {
  return item(&p->labels, PICTURE_LABEL_SIZE, grid->first_label + (size_t)row);
}

char *picture_column_label_of(picture *p, const picture_block *grid, int32_t column) {
  return item(&p->labels, PICTURE_LABEL_SIZE, grid->first_label + (size_t)grid->rows + (size_t)column);
}

// Choosing what is shown ------------------------------------------------------------------------------------------

// Puts |at| into the sorted list, once. Nothing if the list with its gaps would be longer than |limit|.
static void offer(picture_axis *axis, int64_t at, int64_t extent, int32_t limit) {
  int32_t place = 0;
  while (place < axis->count && axis->at[place] < at) {
    place++;
  }
  if (at < 0 || at >= extent || (place < axis->count && axis->at[place] == at) || axis->count == limit) {
    return;
  }
  memmove(axis->at + place + 1, axis->at + place, (size_t)(axis->count - place) * sizeof axis->at[0]);
  axis->at[place] = at;
  axis->count++;
  int32_t gaps = axis->at[axis->count - 1] < extent - 1;
  for (int32_t i = 0; i < axis->count; i++) {
    gaps += i == 0 ? axis->at[0] > 0 : axis->at[i] > axis->at[i - 1] + 1;
  }
  if (axis->count + gaps > limit) {
    memmove(axis->at + place, axis->at + place + 1, (size_t)(axis->count - place - 1) * sizeof axis->at[0]);
    axis->count--;
  }
}

// Writes the gaps: one index alone takes as much room as a gap, and is shown.
static void open_gaps(picture_axis *axis, int64_t extent) {
  picture_axis with = {0};
  int64_t next = 0;
  for (int32_t i = 0; i <= axis->count; i++) {
    int64_t at = i == axis->count ? extent : axis->at[i];
    if (at == next + 1) {
      with.at[with.count++] = next;
    } else if (at > next) {
      with.at[with.count++] = -1;
      with.left_out += at - next;
    }
    if (i < axis->count) {
      with.at[with.count++] = at;
    }
    next = at + 1;
  }
  *axis = with;
}

void picture_axis_pick(int64_t extent, int64_t size, int64_t period, int32_t limit, picture_axis *out) {
  *out = (picture_axis){0};
  limit = limit > PICTURE_MOST_SHOWN ? PICTURE_MOST_SHOWN : limit < 4 ? 4 : limit;
  if (extent <= limit) {
    for (int64_t i = 0; i < extent; i++) {
      out->at[out->count++] = i;
    }
    return;
  }
  bool has_border = period > 1 && period < extent;
  const int64_t first[] = {0,
                           size > 0 ? size - 1 : extent - 1,
                           1,
                           extent - 1,
                           has_border ? period : 2,
                           has_border ? period - 1 : 2,
                           2,
                           size,
                           size - 2};
  for (size_t i = 0; i < sizeof first / sizeof first[0]; i++) {
    offer(out, first[i], extent, limit);
  }
  for (int64_t i = 1; has_border && i <= 4 && period <= extent / (i + 1); i++) {
    offer(out, i * period + 1, extent, limit);
    offer(out, (i + 1) * period - 1, extent, limit);
    offer(out, (i + 1) * period, extent, limit);
  }
  for (int64_t i = 3; i < 3 + limit; i++) {
    offer(out, i, extent, limit);
  }
  open_gaps(out, extent);
}

void picture_dim_name(const indim_shape *shape, int32_t dim, char *out) {
  char letter = shape->rank == 1 ? 'x' : indim_shape_dim_letter(shape->rank, dim);
  if (letter != 0) {
    snprintf(out, 8, "%c", letter);
  } else {
    snprintf(out, 8, "d%d", (int)dim);
  }
}

void picture_print_sizes(indim_buffer *out, const int64_t *sizes, int32_t count) {
  indim_buffer_char(out, '[');
  for (int32_t i = 0; i < count; i++) {
    indim_buffer_printf(out, "%s%" PRId64, i == 0 ? "" : ",", sizes[i]);
  }
  indim_buffer_char(out, ']');
}
