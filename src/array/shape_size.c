// How many elements, places and bytes an array takes: of its elements alone, and of its storage under the layout.
#include <inttypes.h>
#include <string.h>

#include "array/shape_internal.h"
#include "array/shape_text.h"
#include "base/size.h"

int64_t indim_shape_element_count(const indim_shape *shape) {
  shape = indim_shape_array_of(shape);
  int64_t count = 1;
  for (int32_t d = 0; d < shape->rank; d++) {
    if (shape->sizes[d] < 0 || !indim_count_mul(count, shape->sizes[d], &count)) {
      return 0;  // no valid shape; nothing can be read
    }
  }
  return count;
}

int64_t indim_shape_element_bits(const indim_shape *shape) {
  shape = indim_shape_array_of(shape);
  return shape->has_layout && shape->layout.element_bits > 0 ? shape->layout.element_bits
                                                             : 8 * (int64_t)indim_type_bytes(shape->type);
}

// Bytes of |count| elements; false on overflow.
static bool bytes_of(const indim_shape *shape, int64_t count, int64_t *out_bytes) {
  if (!shape->has_layout || shape->layout.element_bits <= 0) {
    return indim_count_mul(count, indim_type_bytes(shape->type), out_bytes);
  }
  int64_t bits = 0;
  if (!indim_count_mul(count, shape->layout.element_bits, &bits)) {
    return false;
  }
  *out_bytes = indim_ceil_div(bits, 8);
  return true;
}

int64_t indim_shape_element_bytes(const indim_shape *shape) {
  shape = indim_shape_array_of(shape);
  int64_t bytes = 0;
  return bytes_of(shape, indim_shape_element_count(shape), &bytes) ? bytes : 0;
}

// The dimensions of the storage from most major to most minor, while tiles are applied. Every tile entry adds at most
// two: its own, and a leading 1 where the tile is longer than the list.
typedef struct extents {
  int32_t count;
  int64_t sizes[INDIM_MAX_RANK + 2 * INDIM_MAX_TILE_SIZES];
} extents;

// Puts ones in front until there are |count|.
static void lead_with_ones(extents *e, int32_t count) {
  int32_t missing = count - e->count;
  if (missing > 0) {
    memmove(e->sizes + missing, e->sizes, (size_t)e->count * sizeof *e->sizes);
    for (int32_t i = 0; i < missing; i++) {
      e->sizes[i] = 1;
    }
    e->count = count;
  }
}

// Splits the last dimensions into tiles: outer counts, then the tile itself. False on overflow.
static bool apply_tile(extents *e, const int64_t *tile, int32_t rank) {
  int64_t inner[INDIM_MAX_TILE_SIZES];
  lead_with_ones(e, rank);
  int32_t first = e->count - rank;
  int32_t kept = 0;
  int64_t combined = 1;
  for (int32_t i = 0; i < rank; i++) {
    int64_t size = 0;
    if (!indim_count_mul(combined, e->sizes[first + i], &size)) {
      return false;
    }
    if (tile[i] == INDIM_TILE_COMBINE) {
      combined = size;
      continue;
    }
    e->sizes[first + kept] = indim_ceil_div(size, tile[i]);
    inner[kept++] = tile[i];
    combined = 1;
  }
  memcpy(e->sizes + first + kept, inner, (size_t)kept * sizeof *inner);
  e->count = first + 2 * kept;
  return true;
}

static bool product(const extents *e, int64_t *out) {
  int64_t count = 1;
  for (int32_t i = 0; i < e->count; i++) {
    if (!indim_count_mul(count, e->sizes[i], &count)) {
      return false;
    }
  }
  *out = count;
  return true;
}

// False on overflow. The layout must be valid.
static bool count_places(const indim_shape *shape, int64_t *out_count) {
  const indim_layout *layout = &shape->layout;
  extents e = {.count = shape->rank};
  for (int32_t i = 0; i < shape->rank; i++) {
    int32_t dim = shape->has_layout ? (int32_t)layout->minor_to_major[shape->rank - 1 - i] : i;
    e.sizes[i] = indim_shape_width(shape, dim);
    if (e.sizes[i] == 0) {
      *out_count = 0;
      return true;
    }
  }
  if (shape->has_layout) {
    const int64_t *tile = layout->tile_sizes;
    for (int32_t t = 0; t < layout->tile_count; t++) {
      if (!apply_tile(&e, tile, layout->tile_ranks[t])) {
        return false;
      }
      tile += layout->tile_ranks[t];
    }
  }
  int64_t count = 0;
  if (!product(&e, &count)) {
    return false;
  }
  int64_t alignment = shape->has_layout ? layout->tail_alignment : 1;
  return indim_count_mul(indim_ceil_div(count, alignment), alignment, out_count);
}

static indim_status overflow(indim_ctx *cx, const indim_shape *shape) {
  return indim_fail(cx, INDIM_INVALID, "the storage of %s is more than 2^63 bytes",
                    indim_shape_name_with_layout(shape).text);
}

indim_status indim_shape_storage_count(indim_ctx *cx, const indim_shape *shape, int64_t *out_count) {
  INDIM_NOT_NULL(cx, shape);
  INDIM_NOT_NULL(cx, out_count);
  shape = indim_shape_array_of(shape);
  if (!indim_shape_is_array(shape)) {
    indim_fail(cx, INDIM_INVALID, "%s is no array and has no storage of its own", indim_shape_name_of(shape).text);
    indim_hint(cx, "ask for each array in it");
    return INDIM_INVALID;
  }
  INDIM_TRY(indim_shape_validate(cx, shape, false));
  if (indim_shape_is_unbounded(shape)) {
    indim_fail(cx, INDIM_INVALID, "the storage of %s is not known: a dimension is unbounded",
               indim_shape_name_of(shape).text);
    indim_hint(cx, "give the dimension a bound, as <=10");
    return INDIM_INVALID;
  }
  return count_places(shape, out_count) ? INDIM_OK : overflow(cx, shape);
}

indim_status indim_shape_storage_bytes(indim_ctx *cx, const indim_shape *shape, int64_t *out_bytes) {
  int64_t count = 0;
  INDIM_NOT_NULL(cx, out_bytes);
  INDIM_TRY(indim_shape_storage_count(cx, shape, &count));
  shape = indim_shape_array_of(shape);
  return bytes_of(shape, count, out_bytes) ? INDIM_OK : overflow(cx, shape);
}
