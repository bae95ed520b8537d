// The default layout, and the rules that a layout obeys: alone, and against the shape it belongs to.
#include <inttypes.h>

#include "array/shape_internal.h"
#include "array/shape_text.h"
#include "base/size.h"

void indim_layout_init(int32_t rank, indim_layout *out_layout) {
  if (out_layout == NULL) {
    return;
  }
  rank = rank < 0 ? 0 : rank > INDIM_MAX_RANK ? INDIM_MAX_RANK : rank;
  *out_layout = (indim_layout){.rank = rank, .tail_alignment = 1};
  for (int32_t i = 0; i < rank; i++) {
    out_layout->minor_to_major[i] = rank - 1 - i;
  }
}

// The counts that say how much of each list is used; wrong ones would be read out of bounds by everybody.
static indim_status check_counts(indim_ctx *cx, const indim_layout *layout) {
  bool fit = layout->rank >= 0 && layout->rank <= INDIM_MAX_RANK && layout->padded_rank >= 0 &&
             layout->padded_rank <= INDIM_MAX_RANK && layout->tile_count >= 0 &&
             layout->tile_count <= INDIM_MAX_TILES && layout->split_count >= 0 &&
             layout->split_count <= INDIM_MAX_SPLITS;
  int64_t entries = 0;
  for (int32_t t = 0; fit && t < layout->tile_count; t++) {
    fit = layout->tile_ranks[t] >= 0;
    entries += layout->tile_ranks[t];
  }
  int64_t indices = 0;
  for (int32_t s = 0; fit && s < layout->split_count; s++) {
    fit = layout->split_index_counts[s] >= 0;
    indices += layout->split_index_counts[s];
  }
  if (fit && entries <= INDIM_MAX_TILE_SIZES && indices <= INDIM_MAX_SPLIT_INDICES) {
    return INDIM_OK;
  }
  return indim_fail(cx, INDIM_LIMIT,
                    "a layout holds at most %d dimensions, %d tiles with %d entries together, and %d splits with %d "
                    "indices together",
                    INDIM_MAX_RANK, INDIM_MAX_TILES, INDIM_MAX_TILE_SIZES, INDIM_MAX_SPLITS, INDIM_MAX_SPLIT_INDICES);
}

static indim_status check_permutation(indim_ctx *cx, const indim_layout *layout) {
  uint64_t seen = 0;
  for (int32_t i = 0; i < layout->rank; i++) {
    int64_t dim = layout->minor_to_major[i];
    const char *wrong = dim < 0 || dim >= layout->rank ? "out-of-bounds" : (seen >> dim & 1) != 0 ? "duplicate" : NULL;
    if (wrong != NULL) {
      indim_fail(cx, INDIM_INVALID, "layout minor_to_major has %s values: %" PRId64 " in %s", wrong, dim,
                 indim_layout_name_of(layout).text);
      indim_hint(cx, "list each of 0 to %d once, the fastest varying first", (int)layout->rank - 1);
      return INDIM_INVALID;
    }
    seen |= UINT64_C(1) << dim;
  }
  return INDIM_OK;
}

static indim_status check_tile(indim_ctx *cx, const indim_layout *layout, int32_t tile, const int64_t *sizes) {
  int32_t rank = layout->tile_ranks[tile];
  const char *wrong = rank == 0                               ? "an empty tile"
                      : sizes[rank - 1] == INDIM_TILE_COMBINE ? "a tile that ends in *"
                                                              : NULL;
  for (int32_t i = 0; wrong == NULL && i < rank; i++) {
    wrong = sizes[i] < 1 && sizes[i] != INDIM_TILE_COMBINE ? "a tile entry below 1" : NULL;
  }
  if (wrong != NULL) {
    indim_fail(cx, INDIM_INVALID, "layout has invalid tiles: %s in %s", wrong, indim_layout_name_of(layout).text);
    indim_hint(cx, "a tile is a list of sizes from 1 up, as T(8,128); * combines a dimension with the next one");
    return INDIM_INVALID;
  }
  return INDIM_OK;
}

static indim_status check_padding(indim_ctx *cx, const indim_layout *layout) {
  if (layout->padded_rank == 0) {
    return INDIM_OK;
  }
  if (layout->tile_count > 0) {
    indim_fail(cx, INDIM_INVALID, "layout %s has padding and tiles; only one of them can say where elements lie",
               indim_layout_name_of(layout).text);
    indim_hint(cx, "tiles round sizes up by themselves; remove PAD or T");
    return INDIM_INVALID;
  }
  if ((unsigned)layout->padding_value > INDIM_PADDING_UNKNOWN) {
    return indim_fail(cx, INDIM_INVALID, "padding value %d is none of zero, one, lowest, highest, unknown (1 to 5)",
                      (int)layout->padding_value);
  }
  for (int32_t d = 0; d < layout->padded_rank; d++) {
    if (layout->padded_sizes[d] < 0) {
      return indim_fail(cx, INDIM_INVALID, "padded width %" PRId64 " of dimension %d is negative",
                        layout->padded_sizes[d], (int)d);
    }
  }
  return INDIM_OK;
}

static indim_status check_tiles(indim_ctx *cx, const indim_layout *layout) {
  const int64_t *sizes = layout->tile_sizes;
  for (int32_t t = 0; t < layout->tile_count; t++) {
    INDIM_TRY(check_tile(cx, layout, t, sizes));
    sizes += layout->tile_ranks[t];
  }
  return INDIM_OK;
}

// What only sparse arrays had.
static indim_status check_dense(indim_ctx *cx, const indim_layout *layout) {
  const char *part = layout->index_type != INDIM_TYPE_INVALID     ? "an index type #(...)"
                     : layout->pointer_type != INDIM_TYPE_INVALID ? "a pointer type *(...)"
                     : layout->physical_shape != NULL             ? "a physical shape P(...)"
                                                                  : NULL;
  if (part != NULL) {
    return indim_fail(cx, INDIM_INVALID, "layout has %s, but is not for a sparse array: %s", part,
                      indim_layout_name_of(layout).text);
  }
  return INDIM_OK;
}

static indim_status check_widths(indim_ctx *cx, const indim_layout *layout, const indim_shape *shape) {
  if (layout->padded_rank == 0) {
    return INDIM_OK;
  }
  if (layout->padded_rank != shape->rank) {
    indim_fail(cx, INDIM_INVALID, "layout has %d padded dimensions, but shape %s has rank %d", (int)layout->padded_rank,
               indim_shape_name_of(shape).text, (int)shape->rank);
    indim_hint(cx, "PAD lists one width for each dimension; a scalar has none");
    return INDIM_INVALID;
  }
  for (int32_t d = 0; d < shape->rank; d++) {
    int64_t width = layout->padded_sizes[d];
    int64_t size = shape->sizes[d];
    if (size == INDIM_UNBOUNDED) {
      indim_fail(cx, INDIM_INVALID, "dimension %d of %s is unbounded and cannot be padded to %" PRId64, (int)d,
                 indim_shape_name_of(shape).text, width);
      indim_hint(cx, "give it a bound, as <=%" PRId64, width);
      return INDIM_INVALID;
    }
    if (width < size) {
      indim_fail(cx, INDIM_INVALID,
                 "for dimension %d, dimension padding (%" PRId64 ") is smaller than the dimension size (%" PRId64
                 ") of the shape %s",
                 (int)d, width, size, indim_shape_name_of(shape).text);
      indim_hint(cx, "a padded width is the size of the dimension or more");
      return INDIM_INVALID;
    }
  }
  return INDIM_OK;
}

// The bits of all elements, padding included, must be countable.
static indim_status check_bits(indim_ctx *cx, const indim_layout *layout, const indim_shape *shape) {
  int64_t bits = layout->element_bits > 0 ? layout->element_bits : indim_type_bytes(shape->type);
  const int64_t *sizes = layout->padded_rank > 0 ? layout->padded_sizes : shape->sizes;
  for (int32_t d = 0; d < shape->rank; d++) {
    if (sizes[d] >= 0 && !indim_count_mul(bits, sizes[d], &bits)) {
      return indim_fail(cx, INDIM_INVALID, "size of %s with layout %s may overflow int64",
                        indim_shape_name_of(shape).text, indim_layout_name_of(layout).text);
    }
  }
  return INDIM_OK;
}

static indim_status check_rank(indim_ctx *cx, const indim_layout *layout, const indim_shape *shape) {
  if (layout->rank != shape->rank) {
    indim_fail(cx, INDIM_INVALID,
               "layout minor_to_major field contains %d elements, but shape has %d dimensions: %s and %s",
               (int)layout->rank, (int)shape->rank, indim_layout_name_of(layout).text, indim_shape_name_of(shape).text);
    indim_hint(cx, "name each dimension once, the fastest varying first, or leave the layout out for the default one");
    return INDIM_INVALID;
  }
  return INDIM_OK;
}

indim_status indim_layout_check(indim_ctx *cx, const indim_layout *layout, const indim_shape *array, bool dense) {
  INDIM_TRY(check_counts(cx, layout));
  if (array != NULL) {
    INDIM_TRY(check_rank(cx, layout, array));
  }
  INDIM_TRY(check_permutation(cx, layout));
  if (layout->tail_alignment < 1) {
    indim_fail(cx, INDIM_INVALID, "layout tail padding alignment is %" PRId64, layout->tail_alignment);
    indim_hint(cx, "L(n) rounds the element count up to a multiple of n: 1 or more");
    return INDIM_INVALID;
  }
  if (dense) {
    INDIM_TRY(check_dense(cx, layout));
  }
  INDIM_TRY(check_tiles(cx, layout));
  if (layout->element_bits < 0) {
    indim_fail(cx, INDIM_INVALID, "layout element size is %" PRId64 " bits", layout->element_bits);
    indim_hint(cx, "E(n) is the bits of a stored element; 0 or no E is the natural width");
    return INDIM_INVALID;
  }
  INDIM_TRY(check_padding(cx, layout));
  if (array != NULL) {
    INDIM_TRY(check_widths(cx, layout, array));
    INDIM_TRY(check_bits(cx, layout, array));
  }
  return INDIM_OK;
}

indim_status indim_layout_validate(indim_ctx *cx, const indim_layout *layout, const indim_shape *shape) {
  INDIM_NOT_NULL(cx, layout);
  INDIM_NOT_NULL(cx, shape);
  if (shape->type == INDIM_TUPLE) {
    indim_fail(cx, INDIM_INVALID, "a single layout is not valid for the tuple shape %s",
               indim_shape_name_of(shape).text);
    indim_hint(cx, "give each array in the tuple its own layout");
    return INDIM_INVALID;
  }
  const indim_shape *array = indim_shape_array_of(shape);
  return indim_shape_is_array(array) ? indim_layout_check(cx, layout, array, true) : INDIM_OK;
}
