// Where the padding of tiles comes from, and which order of the dimensions would have less of it.
#include <inttypes.h>
#include <string.h>

#include "build.h"
#include "shape.h"

enum { MOST_ORDERED = 6 };  // dimensions whose orders are all tried, 720 of them

// What a tile makes of each dimension that it does not divide.
static void say_rounding(const indim_shape *shape, indim_buffer *out) {
  const indim_layout *layout = &shape->layout;
  int32_t rank = layout->tile_ranks[0];
  for (int32_t i = 0; i < rank; i++) {
    if (layout->tile_sizes[i] == INDIM_TILE_COMBINE) {
      return;  // dimensions are joined before they are cut
    }
  }
  for (int32_t i = 0; i < rank; i++) {
    int64_t tile = layout->tile_sizes[rank - 1 - i];
    int64_t dim = i < shape->rank ? layout->minor_to_major[i] : -1;
    int64_t size = dim < 0 ? 1 : shape->sizes[dim];
    int64_t stored = size % tile == 0 ? size : size + (tile - size % tile);
    char name[8];
    if (stored == size) {
      continue;
    }
    indim_buffer_text(out, out->size == 0 ? "tiles are whole: " : ", ");
    if (dim >= 0) {
      picture_dim_name(shape, (int32_t)dim, name);
      indim_buffer_printf(out, "%s takes %" PRId64 " for %" PRId64, name, stored, size);
    } else {
      indim_buffer_printf(out, "the tile's %" PRId64 " over no dimension", tile);
    }
  }
}

typedef struct search {
  const indim_shape *shape;
  indim_shape candidate;
  indim_shape best;
  int64_t best_bytes;
  int32_t best_kept;  // entries of minor_to_major that stay
} search;

static void judge(search *s) {
  int64_t bytes = 0;
  int32_t kept = 0;
  for (int32_t i = 0; i < s->shape->rank; i++) {
    kept += s->candidate.layout.minor_to_major[i] == s->shape->layout.minor_to_major[i];
  }
  if (indim_shape_storage_bytes(NULL, &s->candidate, &bytes) == INDIM_OK &&
      (bytes < s->best_bytes || (bytes == s->best_bytes && kept > s->best_kept))) {
    s->best = s->candidate;
    s->best_bytes = bytes;
    s->best_kept = kept;
  }
}

// Every order of the entries from |first| on.
static void try_orders(search *s, int32_t first) {
  int64_t *order = s->candidate.layout.minor_to_major;
  if (first >= s->shape->rank - 1) {
    judge(s);
    return;
  }
  for (int32_t i = first; i < s->shape->rank; i++) {
    int64_t swap = order[first];
    order[first] = order[i];
    order[i] = swap;
    try_orders(s, first + 1);
    order[i] = order[first];
    order[first] = swap;
  }
}

// Sizes of 1 made the most major.
static void try_degenerate(search *s) {
  const int64_t *order = s->shape->layout.minor_to_major;
  int32_t count = 0;
  for (int ones = 0; ones < 2; ones++) {
    for (int32_t i = 0; i < s->shape->rank; i++) {
      if ((s->shape->sizes[order[i]] == 1) == (ones == 1)) {
        s->candidate.layout.minor_to_major[count++] = order[i];
      }
    }
  }
  judge(s);
}

void shape_add_waste(picture *p, const indim_shape *shape, int64_t bytes) {
  indim_buffer text;
  search s = {.shape = shape, .candidate = *shape, .best = *shape, .best_bytes = bytes, .best_kept = shape->rank};
  indim_buffer_init(&text, p->blocks.cx);
  say_rounding(shape, &text);
  if (text.size > 0) {
    picture_fact_from(p, "padding", &text);
  }
  if (shape->rank <= MOST_ORDERED) {
    try_orders(&s, 0);
  } else {
    try_degenerate(&s);
  }
  if (s.best_bytes < bytes) {
    indim_buffer_printf(&text, "%" PRId64 " bytes, %.1f times less, as ", s.best_bytes,
                        (double)bytes / (double)s.best_bytes);
    indim_shape_print(&s.best, true, &text);
    picture_fact_from(p, "smaller", &text);
  }
  indim_buffer_deinit(&text);
}
