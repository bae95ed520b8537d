// Random shapes, drawn: none fails, and what the picture says of a place is what indim_index_* says of it: 3,000 of them,
// or as many as INDIM_TEST_COUNT says.
#include <stdlib.h>

#include "indim/index.h"
#include "picture.h"
#include "test.h"

// Numbers ---------------------------------------------------------------------------------------------------------

static uint64_t draw(uint64_t *state, uint64_t below) {
  *state += UINT64_C(0x9E3779B97F4A7C15);
  uint64_t z = *state;
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return (z ^ (z >> 31)) % below;
}

static int64_t any_size(uint64_t *state) {
  static const int64_t sizes[] = {0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 16, 17, 31, 100, 128, 129, 1000};
  if (draw(state, 60) == 0) {
    return (int64_t)(draw(state, UINT64_C(1) << (1 + draw(state, 62))));
  }
  return sizes[draw(state, sizeof sizes / sizeof sizes[0])];
}

static indim_type any_type(uint64_t *state) {
  for (;;) {
    indim_type type = (indim_type)draw(state, INDIM_TYPE_COUNT);
    if (indim_type_is_array(type)) {
      return type;
    }
  }
}

static void any_tiles(uint64_t *state, indim_layout *layout) {
  static const int64_t entries[] = {1, 2, 2, 3, 4, 8, 128};
  int32_t at = 0;
  layout->tile_count = 1 + (int32_t)draw(state, 3);
  for (int32_t t = 0; t < layout->tile_count; t++) {
    layout->tile_ranks[t] = 1 + (int32_t)draw(state, 4);
    for (int32_t i = 0; i < layout->tile_ranks[t]; i++) {
      bool combines = i + 1 < layout->tile_ranks[t] && draw(state, 6) == 0;
      layout->tile_sizes[at++] =
          combines ? INDIM_TILE_COMBINE : entries[draw(state, sizeof entries / sizeof entries[0])];
    }
  }
}

static void any_layout(uint64_t *state, indim_shape *shape) {
  indim_layout *layout = &shape->layout;
  for (int32_t i = shape->rank - 1; i > 0; i--) {
    int32_t k = (int32_t)draw(state, (uint64_t)i + 1);
    int64_t swap = layout->minor_to_major[i];
    layout->minor_to_major[i] = layout->minor_to_major[k];
    layout->minor_to_major[k] = swap;
  }
  uint64_t kind = draw(state, 4);
  if (kind == 0) {
    any_tiles(state, layout);
  } else if (kind == 1) {
    layout->padded_rank = shape->rank;
    layout->padding_value = (indim_padding)draw(state, 6);
    for (int32_t d = 0; d < shape->rank; d++) {
      layout->padded_sizes[d] = shape->sizes[d] == INDIM_UNBOUNDED ? 0 : shape->sizes[d] + (int64_t)draw(state, 4);
    }
  }
  layout->tail_alignment = draw(state, 8) == 0 ? 1 + (int64_t)draw(state, 40) : 1;
  layout->element_bits = draw(state, 8) == 0 ? 1 << draw(state, 7) : 0;
  layout->memory_space = draw(state, 8) == 0 ? (int64_t)draw(state, 8) : 0;
  layout->metadata_prefix_bytes = draw(state, 16) == 0 ? 64 : 0;
  if (draw(state, 16) == 0 && shape->rank > 0) {
    layout->split_count = 1;
    layout->split_dimensions[0] = (int64_t)draw(state, (uint64_t)shape->rank);
    layout->split_index_counts[0] = 2;
    layout->split_indices[1] = 3;
  }
}

static indim_shape any_shape(uint64_t *state) {
  indim_shape shape;
  for (;;) {
    int64_t sizes[INDIM_MAX_RANK];
    int32_t rank = (int32_t)(draw(state, 20) == 0 ? draw(state, INDIM_MAX_RANK + 1) : draw(state, 5));
    uint64_t dynamic = 0;
    for (int32_t d = 0; d < rank; d++) {
      sizes[d] = rank > 6 ? (int64_t)draw(state, 3) : any_size(state);
      if (draw(state, 24) == 0) {
        dynamic |= UINT64_C(1) << d;
        sizes[d] = draw(state, 2) == 0 ? INDIM_UNBOUNDED : sizes[d];
      }
    }
    if (indim_shape_init_dynamic(NULL, any_type(state), rank, sizes, dynamic, &shape) != INDIM_OK) {
      continue;
    }
    int64_t bytes = 0;
    any_layout(state, &shape);
    if (indim_shape_validate(NULL, &shape, true) == INDIM_OK &&
        (indim_shape_is_unbounded(&shape) || indim_shape_storage_bytes(NULL, &shape, &bytes) == INDIM_OK)) {
      return shape;
    }
  }
}

// Reading the picture back -----------------------------------------------------------------------------------------

static void index_of(const indim_shape *shape, int64_t element, int64_t *out) {
  for (int32_t d = shape->rank - 1; d >= 0; d--) {
    out[d] = element % shape->sizes[d];
    element /= shape->sizes[d];
  }
}

static bool is_memory(const picture *p, const picture_block *grid) {
  return strncmp(picture_string(p, grid->text), "memory", 6) == 0;
}

static bool check_cell(const picture *p, const picture_block *grid, const indim_shape *shape, int32_t row,
                       int32_t column) {
  const picture_cell *cell = picture_cell_at(p, grid, row, column);
  int64_t index[INDIM_MAX_RANK];
  int64_t place = -1;
  bool is_padding = false;
  if (cell->kind == PICTURE_ELEMENT) {
    index_of(shape, cell->element, index);
    if (indim_index_linearize(NULL, shape, index, &place) != INDIM_OK || place != cell->place) {
      return false;
    }
    if (is_memory(p, grid)) {
      return true;
    }
    bool row_agrees = shape->rank < 2 || strtoll(picture_row_label(p, grid, row), NULL, 10) == index[shape->rank - 2];
    bool column_agrees =
        shape->rank < 1 || strtoll(picture_column_label(p, grid, column), NULL, 10) == index[shape->rank - 1];
    return row_agrees && column_agrees && (!grid->path || strtoll(cell->text, NULL, 10) == place);
  }
  if (cell->kind == PICTURE_PADDING) {
    return indim_index_delinearize(NULL, shape, cell->place, index, &is_padding) == INDIM_OK && is_padding;
  }
  return cell->element == -1 && cell->place == -1;
}

// Of a memory without gaps: every place once, in order. Of one with gaps: in order.
static bool check_memory(const picture *p, const picture_block *grid, int64_t places) {
  int64_t next = 0;
  bool has_gaps = false;
  for (int32_t i = 0; i < grid->rows * grid->columns; i++) {
    const picture_cell *cell = picture_cell_at(p, grid, i / grid->columns, i % grid->columns);
    has_gaps = has_gaps || cell->kind == PICTURE_GAP;
    if (cell->place >= 0) {
      if (cell->place < next || (cell->place > next && !has_gaps)) {
        return false;
      }
      next = cell->place + 1;
    }
  }
  return has_gaps || next == places;
}

static bool check_picture(const picture *p, const indim_shape *shape) {
  int64_t places = 0;
  bool bounded = !indim_shape_is_unbounded(shape);
  bool has_memory = false;
  if (bounded && indim_shape_storage_count(NULL, shape, &places) != INDIM_OK) {
    return false;
  }
  for (size_t i = 0; i < picture_block_count(p); i++) {
    const picture_block *block = picture_block_at(p, i);
    if (block->kind != PICTURE_GRID) {
      continue;
    }
    for (int32_t n = 0; n < block->rows * block->columns; n++) {
      if (!check_cell(p, block, shape, n / block->columns, n % block->columns)) {
        return false;
      }
    }
    if (is_memory(p, block)) {
      has_memory = true;
      if (!check_memory(p, block, places)) {
        return false;
      }
    }
  }
  return has_memory == (bounded && places > 0);
}

// Every line within the width, unless a miniature cannot be so narrow. Counted in characters, not bytes.
static bool all_ascii(const indim_buffer *text) {
  for (size_t i = 0; i < text->size; i++) {
    if ((unsigned char)text->data[i] >= 0x80 || (text->data[i] < 0x20 && text->data[i] != '\n')) {
      return false;
    }
  }
  return true;
}

static int64_t shape_count(void) {
  const char *count = getenv("INDIM_TEST_COUNT");
  return count == NULL ? 3000 / TEST_SAMPLE : strtoll(count, NULL, 10);
}

TEST(every_shape_is_drawn_and_read_back) {
  uint64_t state = 7;
  int64_t count = shape_count();
  indim_ctx *cx = NULL;
  REQUIRE(indim_ctx_create(NULL, &cx) == INDIM_OK);
  for (int64_t i = 0; i < count; i++) {
    indim_shape shape = any_shape(&state);
    picture_options options = {.width = (int32_t)(40 + draw(&state, 120)), .all = draw(&state, 50) == 0};
    picture p;
    indim_buffer out;
    indim_buffer name;
    indim_buffer_init(&name, cx);
    indim_buffer_init(&out, cx);
    indim_shape_print(&shape, true, &name);
    picture_init(&p, cx);
    indim_status status = picture_add_shape(&p, &shape, &options);
    CHECK_MSG(status == INDIM_OK, "%s: %s", name.data, indim_status_name(status));
    if (status == INDIM_OK) {
      CHECK_MSG(check_picture(&p, &shape), "%s, width %d: the picture is not what the index functions say", name.data,
                (int)options.width);
      options.ascii = true;
      picture_print_text(&p, &options, &out);
      CHECK_MSG(out.status == INDIM_OK && out.size > 0 && all_ascii(&out), "%s: text", name.data);
      options.ascii = false;
      options.colour = true;
      indim_buffer_clear(&out);
      picture_print_text(&p, &options, &out);
      picture_print_svg(&p, &options, &out);
      picture_print_html(&p, &options, name.data, &out);
      picture_print_json(&p, &out);
      CHECK_MSG(out.status == INDIM_OK, "%s: %s", name.data, indim_status_name(out.status));
    }
    picture_deinit(&p);
    indim_buffer_deinit(&out);
    indim_buffer_deinit(&name);
  }
  CHECK_EQ_INT((int64_t)indim_ctx_memory_in_use(cx), (int64_t)0);
  indim_ctx_destroy(cx);
}

#define CASES(X) X(every_shape_is_drawn_and_read_back)
TEST_MAIN(CASES)
