// Layouts: making them in other orders, asking about them, moving and removing dimensions.
#include <string.h>

#include "array/permutation.h"
#include "array/shape_internal.h"
#include "indim/shape_util.h"

void indim_layout_init_ascending(int32_t rank, indim_layout *out_layout) {
  if (out_layout == NULL) {
    return;
  }
  indim_layout_init(rank, out_layout);
  for (int32_t i = 0; i < rank; i++) {
    out_layout->minor_to_major[i] = i;
  }
}

void indim_layout_init_major_to_minor(int32_t rank, const int64_t *major_to_minor, indim_layout *out_layout) {
  if (out_layout == NULL) {
    return;
  }
  indim_layout_init(rank, out_layout);
  for (int32_t i = 0; i < rank; i++) {
    out_layout->minor_to_major[i] = major_to_minor[rank - 1 - i];
  }
}

static bool is_sorted(const indim_layout *layout, int direction) {
  for (int32_t i = 1; i < layout->rank; i++) {
    int64_t before = layout->minor_to_major[i - 1];
    int64_t after = layout->minor_to_major[i];
    if (direction > 0 ? before > after : before < after) {
      return false;
    }
  }
  return true;
}

bool indim_layout_is_ascending(const indim_layout *layout) {
  if (layout == NULL) {
    return false;
  }
  return is_sorted(layout, 1);
}
bool indim_layout_is_descending(const indim_layout *layout) {
  if (layout == NULL) {
    return false;
  }
  return is_sorted(layout, -1);
}

int64_t indim_layout_major(const indim_layout *layout, int32_t place) {
  if (layout == NULL) {
    return -1;
  }
  return place < 0 || place >= layout->rank ? -1 : layout->minor_to_major[layout->rank - 1 - place];
}

int64_t indim_layout_minor(const indim_layout *layout, int32_t place) {
  if (layout == NULL) {
    return -1;
  }
  return place < 0 || place >= layout->rank ? -1 : layout->minor_to_major[place];
}

void indim_layout_logical_to_physical(const indim_layout *layout, int64_t *out) {
  if (layout == NULL) {
    return;
  }
  for (int32_t place = 0; place < layout->rank; place++) {
    out[indim_layout_major(layout, place)] = place;
  }
}

static int32_t place_of(const indim_layout *layout, int64_t dim) {
  for (int32_t i = 0; i < layout->rank; i++) {
    if (layout->minor_to_major[i] == dim) {
      return i;
    }
  }
  return -1;
}

bool indim_layout_move_dim_to_major(indim_layout *layout, int64_t dim) {
  if (layout == NULL) {
    return false;
  }
  int32_t place = place_of(layout, dim);
  if (place >= 0) {
    indim_permutation_move(layout->minor_to_major, layout->rank, place, layout->rank - 1);
  }
  return place >= 0;
}

bool indim_layout_move_dim_to_minor(indim_layout *layout, int64_t dim) {
  if (layout == NULL) {
    return false;
  }
  int32_t place = place_of(layout, dim);
  if (place >= 0) {
    indim_permutation_move(layout->minor_to_major, layout->rank, place, 0);
  }
  return place >= 0;
}

bool indim_layout_delete_dim(indim_layout *layout, int64_t dim) {
  if (layout == NULL) {
    return false;
  }
  int32_t place = place_of(layout, dim);
  if (place < 0) {
    return false;
  }
  indim_permutation_move(layout->minor_to_major, layout->rank, place, layout->rank - 1);
  layout->rank--;
  for (int32_t i = 0; i < layout->rank; i++) {
    layout->minor_to_major[i] -= layout->minor_to_major[i] > dim;
  }
  if (layout->padded_rank > dim) {
    indim_permutation_move(layout->padded_sizes, layout->padded_rank, (int32_t)dim, layout->padded_rank - 1);
    layout->padded_rank--;
  }
  return true;
}

bool indim_layout_are_consecutive(const indim_layout *layout, int32_t count, const int64_t *dims) {
  if (layout == NULL) {
    return false;
  }
  int32_t first = layout->rank;
  int32_t last = -1;
  for (int32_t i = 0; i < count; i++) {
    int32_t place = place_of(layout, dims[i]);
    if (place < 0) {
      return false;
    }
    first = place < first ? place : first;
    last = place > last ? place : last;
  }
  return count == 0 || last - first + 1 == count;
}

// After one tile: divisible everywhere, and behind the first tile entry that is not 1 each dimension fits one tile.
static bool tile_keeps_order(const int64_t *sizes, const int64_t *tile, int32_t rank) {
  bool seen = false;
  for (int32_t i = 0; i < rank; i++) {
    if (tile[i] <= 0 || sizes[i] % tile[i] != 0 || (seen && sizes[i] != tile[i])) {
      return false;
    }
    seen = seen || tile[i] != 1;
  }
  return true;
}

bool indim_layout_is_untiled(const indim_layout *layout, int32_t rank, const int64_t *sizes) {
  if (layout == NULL) {
    return false;
  }
  int64_t list[INDIM_MAX_RANK + INDIM_MAX_TILE_SIZES];
  const int64_t *tile = layout->tile_sizes;
  int32_t count = rank;
  memcpy(list, sizes, (size_t)rank * sizeof *list);
  for (int32_t t = 0; t < layout->tile_count; t++) {
    int32_t tile_rank = layout->tile_ranks[t];
    if (tile_rank > count || !tile_keeps_order(list + count - tile_rank, tile, tile_rank)) {
      return false;
    }
    for (int32_t i = 0; i < tile_rank; i++) {
      list[count + i] = tile[i];
      list[count - tile_rank + i] /= tile[i];
    }
    count += tile_rank;
    tile += tile_rank;
  }
  return true;
}

// Shapes ------------------------------------------------------------------------------------------------------------

indim_status indim_shape_init_with_layout(indim_ctx *cx, indim_type type, int32_t rank, const int64_t *sizes,
                                          const indim_layout *layout, indim_shape *out_shape) {
  INDIM_NOT_NULL(cx, layout);
  INDIM_NOT_NULL(cx, out_shape);
  indim_shape shape;
  INDIM_TRY(indim_shape_init(cx, type, rank, sizes, &shape));
  if (layout->rank != rank) {
    return indim_fail(cx, INDIM_INVALID, "dimensions size is %d, but layout size is %d", rank, layout->rank);
  }
  shape.layout = *layout;
  if (shape.layout.element_bits == 8 * (int64_t)indim_type_bytes(type)) {
    shape.layout.element_bits = 0;
  }
  INDIM_TRY(indim_shape_validate(cx, &shape, true));
  *out_shape = shape;
  return INDIM_OK;
}

bool indim_shape_has_layout(const indim_shape *shape) {
  if (shape == NULL) {
    return false;
  }
  indim_shape_walk walk;
  for (indim_shape_walk_init(&walk, shape); indim_shape_walk_next_leaf(&walk);) {
    const indim_shape *array = indim_shape_array_of(walk.shape);
    if (indim_shape_is_array(array) && !array->has_layout) {
      return false;
    }
  }
  return true;
}

bool indim_shape_has_any_layout(const indim_shape *shape) {
  if (shape == NULL) {
    return false;
  }
  indim_shape_walk walk;
  for (indim_shape_walk_init(&walk, shape); indim_shape_walk_next_leaf(&walk);) {
    const indim_shape *array = indim_shape_array_of(walk.shape);
    if (!indim_shape_is_array(array) || array->has_layout) {
      return true;
    }
  }
  return false;
}

bool indim_shape_has_element_size(const indim_shape *shape) {
  if (shape == NULL) {
    return false;
  }
  indim_shape_walk walk;
  for (indim_shape_walk_init(&walk, shape); indim_shape_walk_next_leaf(&walk);) {
    const indim_shape *array = indim_shape_array_of(walk.shape);
    if (indim_shape_is_array(array) && array->has_layout && array->layout.element_bits != 0) {
      return true;
    }
  }
  return false;
}
