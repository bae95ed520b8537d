// Equality of shapes and of layouts, with everything that a comparison can be told to leave out.
#include <string.h>

#include "array/shape_internal.h"

static bool ints_equal(const int64_t *a, const int64_t *b, int64_t count) {
  return count == 0 || memcmp(a, b, (size_t)count * sizeof *a) == 0;
}

static int64_t sum(const int32_t *counts, int32_t count) {
  int64_t total = 0;
  for (int32_t i = 0; i < count; i++) {
    total += counts[i];
  }
  return total;
}

static bool tiles_equal(const indim_layout *a, const indim_layout *b) {
  return a->tile_count == b->tile_count &&
         memcmp(a->tile_ranks, b->tile_ranks, (size_t)a->tile_count * sizeof *a->tile_ranks) == 0 &&
         ints_equal(a->tile_sizes, b->tile_sizes, sum(a->tile_ranks, a->tile_count));
}

static bool splits_equal(const indim_layout *a, const indim_layout *b) {
  return a->split_count == b->split_count && ints_equal(a->split_dimensions, b->split_dimensions, a->split_count) &&
         memcmp(a->split_index_counts, b->split_index_counts, (size_t)a->split_count * sizeof *a->split_index_counts) ==
             0 &&
         ints_equal(a->split_indices, b->split_indices, sum(a->split_index_counts, a->split_count));
}

// The value outside a padded array matters only where there is an outside.
static bool padding_equal(const indim_layout *a, const indim_layout *b) {
  return a->padded_rank == b->padded_rank && ints_equal(a->padded_sizes, b->padded_sizes, a->padded_rank) &&
         (a->padded_rank == 0 || a->padding_value == b->padding_value);
}

static bool physical_equal(const indim_shape *a, const indim_shape *b) {
  return a == NULL || b == NULL ? a == b : indim_shape_equal(a, b, 0);
}

bool indim_layout_equal(const indim_layout *a, const indim_layout *b, unsigned ignore) {
  if (a == NULL || b == NULL) {
    return a == b;
  }
#define DIFFERS(option, equal) ((ignore & INDIM_IGNORE_##option) == 0 && !(equal))
  return !(a->rank != b->rank || !ints_equal(a->minor_to_major, b->minor_to_major, a->rank) ||
           DIFFERS(TILES, tiles_equal(a, b)) || DIFFERS(TAIL_PADDING, a->tail_alignment == b->tail_alignment) ||
           DIFFERS(INDEX_TYPE, a->index_type == b->index_type) ||
           DIFFERS(POINTER_TYPE, a->pointer_type == b->pointer_type) ||
           DIFFERS(ELEMENT_SIZE, a->element_bits == b->element_bits) ||
           DIFFERS(MEMORY_SPACE, a->memory_space == b->memory_space) || DIFFERS(SPLIT_CONFIG, splits_equal(a, b)) ||
           DIFFERS(PHYSICAL_SHAPE, physical_equal(a->physical_shape, b->physical_shape)) ||
           DIFFERS(PADDED_DIMENSIONS, padding_equal(a, b)));
#undef DIFFERS
}

static bool types_match(indim_type a, indim_type b, unsigned ignore) {
  return a == b || (ignore & INDIM_IGNORE_ELEMENT_TYPE) != 0 ||
         ((ignore & INDIM_IGNORE_FP_PRECISION) != 0 && indim_type_is_float(a) && indim_type_is_float(b));
}

static bool sizes_match(const indim_shape *a, const indim_shape *b, bool unbounded_matches_any) {
  for (int32_t d = 0; d < a->rank; d++) {
    bool unbounded = a->sizes[d] == INDIM_UNBOUNDED || b->sizes[d] == INDIM_UNBOUNDED;
    if (a->sizes[d] != b->sizes[d] && !(unbounded && unbounded_matches_any)) {
      return false;
    }
  }
  return true;
}

static bool arrays_equal(const indim_shape *a, const indim_shape *b, unsigned ignore) {
  bool ignore_dynamic = (ignore & INDIM_IGNORE_DYNAMIC) != 0;
  if (!types_match(a->type, b->type, ignore) || a->rank != b->rank) {
    return false;
  }
  if ((ignore & INDIM_IGNORE_SIZES) == 0 && !sizes_match(a, b, ignore_dynamic)) {
    return false;
  }
  if (!ignore_dynamic && a->dynamic != b->dynamic) {
    return false;
  }
  if ((ignore & INDIM_IGNORE_LAYOUT) != 0) {
    return true;
  }
  return a->has_layout == b->has_layout && (!a->has_layout || indim_layout_equal(&a->layout, &b->layout, ignore));
}

bool indim_shape_equal(const indim_shape *a, const indim_shape *b, unsigned ignore) {
  if (a == b || a == NULL || b == NULL) {
    return a == b;
  }
  if (a->type == INDIM_TUPLE || b->type == INDIM_TUPLE) {
    if (a->type != b->type || a->member_count != b->member_count) {
      return false;
    }
    for (int64_t i = 0; i < a->member_count; i++) {
      if (!indim_shape_equal(a->members[i], b->members[i], ignore)) {
        return false;
      }
    }
    return true;
  }
  if ((ignore & INDIM_IGNORE_BUFFER) == 0 && (a->type == INDIM_BUFFER) != (b->type == INDIM_BUFFER)) {
    return false;
  }
  a = indim_shape_array_of(a);
  b = indim_shape_array_of(b);
  if (!indim_shape_is_array(a) || !indim_shape_is_array(b)) {
    return a->type == b->type;
  }
  return arrays_equal(a, b, ignore);
}

bool indim_shape_compatible(const indim_shape *a, const indim_shape *b) {
  return indim_shape_equal(a, b, INDIM_COMPATIBLE);
}

bool indim_shape_same_dimensions(const indim_shape *a, const indim_shape *b) {
  if (a == NULL || b == NULL) {
    return false;
  }
  a = indim_shape_array_of(a);
  b = indim_shape_array_of(b);
  return indim_shape_is_array(a) && indim_shape_is_array(b) && a->rank == b->rank && sizes_match(a, b, true);
}
