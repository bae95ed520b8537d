// Questions about one array, and sizes as XLA counts them.
#include "array/shape_internal.h"
#include "array/shape_text.h"
#include "base/size.h"
#include "indim/index.h"
#include "indim/shape_util.h"

bool indim_shape_is_zero_element(const indim_shape *shape) {
  if (shape == NULL) {
    return false;
  }
  const indim_shape *array = indim_shape_array_of(shape);
  for (int32_t d = 0; indim_shape_is_array(array) && d < array->rank; d++) {
    if (array->sizes[d] == 0) {
      return true;
    }
  }
  return false;
}

bool indim_shape_is_effective_scalar(const indim_shape *shape) {
  if (shape == NULL) {
    return false;
  }
  for (int32_t d = 0; d < shape->rank; d++) {
    if (shape->sizes[d] != 1) {
      return false;
    }
  }
  return indim_shape_is_array(shape);
}

bool indim_shape_has_degenerate_dims(const indim_shape *shape) {
  if (shape == NULL) {
    return false;
  }
  for (int32_t d = 0; d < shape->rank; d++) {
    if (shape->sizes[d] == 1) {
      return true;
    }
  }
  return false;
}

bool indim_shape_is_padded(const indim_shape *shape) {
  if (shape == NULL) {
    return false;
  }
  for (int32_t d = 0; d < shape->rank; d++) {
    if (indim_shape_width(shape, d) > shape->sizes[d]) {
      return true;
    }
  }
  return false;
}

bool indim_shape_element_is_signed(const indim_shape *shape) {
  if (shape == NULL) {
    return false;
  }
  indim_type type = indim_shape_array_of(shape)->type;
  return indim_type_is_signed_int(type) || indim_type_is_float(type);
}

bool indim_shape_is_most_major(const indim_shape *shape, int32_t dim) {
  if (shape == NULL) {
    return false;
  }
  for (int32_t place = 0; shape->has_layout && place < shape->layout.rank; place++) {
    int64_t at = indim_layout_major(&shape->layout, place);
    if (at == dim) {
      return true;
    }
    if (shape->sizes[at] != 1) {
      return false;
    }
  }
  return false;
}

bool indim_shape_last_dim_is_minor_most(const indim_shape *shape) {
  if (shape == NULL) {
    return false;
  }
  return shape->has_layout && shape->rank > 0 && shape->layout.minor_to_major[0] == shape->rank - 1;
}

indim_status indim_shape_packed_factor(indim_ctx *cx, const indim_shape *shape, int64_t *out_factor) {
  INDIM_NOT_NULL(cx, shape);
  INDIM_NOT_NULL(cx, out_factor);
  const indim_layout *layout = &shape->layout;
  if (!indim_shape_is_array(shape) || shape->rank != 1 || !shape->has_layout || layout->tile_count != 3 ||
      layout->tile_ranks[2] != 2) {
    indim_fail(cx, INDIM_INVALID, "%s is no interleaved array of rank 1", indim_shape_name_with_layout(shape).text);
    indim_hint(cx, "such a one has three tiles, the last of rank 2: bf16[1024]{0:T(1024)(128)(2,1)}");
    return INDIM_INVALID;
  }
  *out_factor = layout->tile_sizes[layout->tile_ranks[0] + layout->tile_ranks[1]];
  return INDIM_OK;
}

// Sizes -------------------------------------------------------------------------------------------------------------

static indim_status too_large(indim_ctx *cx, const indim_shape *shape) {
  return indim_fail(cx, INDIM_INVALID, "the size of %s overflows", indim_shape_name_of(shape).text);
}

// A bounded array is needed.
static indim_status need_array(indim_ctx *cx, const indim_shape *shape) {
  if (!indim_shape_is_array(shape)) {
    return indim_fail(cx, INDIM_INVALID, "%s is no array", indim_shape_name_of(shape).text);
  }
  if (indim_shape_is_unbounded(shape)) {
    return indim_fail(cx, INDIM_INVALID, "%s has no bound", indim_shape_name_of(shape).text);
  }
  return INDIM_OK;
}

// |count| elements in bytes: ceil(count * E / 8), or by the type.
static indim_status to_bytes(indim_ctx *cx, const indim_shape *shape, int64_t count, int64_t *out_bytes) {
  int64_t bits = indim_shape_element_bits(shape);
  if (bits % 8 == 0 ? !indim_count_mul(count, bits / 8, out_bytes) : !indim_count_mul(count, bits, out_bytes)) {
    return too_large(cx, shape);
  }
  *out_bytes = bits % 8 == 0 ? *out_bytes : indim_ceil_div(*out_bytes, 8);
  return INDIM_OK;
}

indim_status indim_shape_total_elements(indim_ctx *cx, const indim_shape *shape, int64_t *out_count) {
  INDIM_NOT_NULL(cx, shape);
  INDIM_NOT_NULL(cx, out_count);
  indim_shape_walk walk;
  int64_t total = 0;
  for (indim_shape_walk_init(&walk, shape); indim_shape_walk_next_leaf(&walk);) {
    const indim_shape *array = indim_shape_array_of(walk.shape);
    INDIM_TRY(need_array(cx, array));
    if (!indim_int_add(total, indim_shape_element_count(array), &total)) {
      return too_large(cx, shape);
    }
  }
  *out_count = total;
  return INDIM_OK;
}

indim_status indim_shape_total_element_bytes(indim_ctx *cx, const indim_shape *shape, int64_t *out_bytes) {
  INDIM_NOT_NULL(cx, shape);
  INDIM_NOT_NULL(cx, out_bytes);
  indim_shape_walk walk;
  int64_t total = 0;
  for (indim_shape_walk_init(&walk, shape); indim_shape_walk_next_leaf(&walk);) {
    const indim_shape *array = indim_shape_array_of(walk.shape);
    INDIM_TRY(need_array(cx, array));
    if (!indim_int_add(total, indim_shape_element_bytes(array), &total)) {
      return too_large(cx, shape);
    }
  }
  *out_bytes = total;
  return INDIM_OK;
}

indim_status indim_shape_byte_size(indim_ctx *cx, const indim_shape *shape, int64_t pointer_bytes, int64_t *out_bytes) {
  INDIM_NOT_NULL(cx, shape);
  INDIM_NOT_NULL(cx, out_bytes);
  const indim_shape *array = indim_shape_array_of(shape);
  if (shape->type == INDIM_TOKEN) {
    *out_bytes = 0;
    return INDIM_OK;
  }
  if (shape->type == INDIM_TUPLE || shape->type == INDIM_OPAQUE) {
    if (pointer_bytes <= 0) {
      return indim_fail(cx, INDIM_INVALID, "the size of %s needs the size of a pointer",
                        indim_shape_name_of(shape).text);
    }
    int64_t count = shape->type == INDIM_TUPLE ? shape->member_count : 1;
    return indim_count_mul(count, pointer_bytes, out_bytes) ? INDIM_OK : too_large(cx, shape);
  }
  INDIM_TRY(need_array(cx, array));
  int64_t count = 1;
  for (int32_t d = 0; d < array->rank; d++) {
    if (!indim_count_mul(count, indim_shape_width(array, d), &count)) {
      return too_large(cx, shape);
    }
  }
  return to_bytes(cx, array, count, out_bytes);
}

int64_t indim_shape_max_split_size(const indim_shape *shape, int32_t dim) {
  if (shape == NULL) {
    return 0;
  }
  const indim_layout *layout = &shape->layout;
  const int64_t *indices = layout->split_indices;
  for (int32_t i = 0; shape->has_layout && i < layout->split_count; i++) {
    int64_t at = layout->split_dimensions[i];
    if (at >= 0 && at < layout->rank && indim_layout_major(layout, (int32_t)at) == dim) {
      int64_t previous = 0;
      int64_t largest = 0;
      for (int32_t k = 0; k <= layout->split_index_counts[i]; k++) {
        int64_t next = k < layout->split_index_counts[i] ? indices[k] : shape->sizes[dim];
        largest = next - previous > largest ? next - previous : largest;
        previous = next;
      }
      return largest;
    }
    indices += layout->split_index_counts[i];
  }
  return shape->sizes[dim];
}

int64_t indim_shape_max_split_elements(const indim_shape *shape) {
  if (shape == NULL) {
    return 0;
  }
  int64_t count = 1;
  for (int32_t d = 0; d < shape->rank; d++) {
    if (!indim_count_mul(count, indim_shape_max_split_size(shape, d), &count)) {
      return INT64_MAX;
    }
  }
  return count;
}

// Minor to major, or the default.
static int32_t minor(const indim_shape *shape, int32_t place) {
  return shape->has_layout ? (int32_t)shape->layout.minor_to_major[place] : shape->rank - 1 - place;
}

indim_status indim_shape_array_size(indim_ctx *cx, const indim_shape *shape, int64_t *out_bytes) {
  INDIM_NOT_NULL(cx, shape);
  INDIM_NOT_NULL(cx, out_bytes);
  INDIM_TRY(need_array(cx, shape));
  const indim_layout *layout = &shape->layout;
  if (!shape->has_layout || layout->tile_count == 0) {
    return to_bytes(cx, shape, indim_shape_max_split_elements(shape), out_bytes);
  }
  int32_t tile_rank = layout->tile_ranks[0];
  int64_t count = 1;
  for (int32_t k = 0; k < tile_rank || k < shape->rank; k++) {
    int64_t size = k < shape->rank ? indim_shape_max_split_size(shape, minor(shape, k)) : 1;
    int64_t tile = k < tile_rank ? layout->tile_sizes[tile_rank - 1 - k] : 1;
    if (tile <= 0) {
      return indim_fail(cx, INDIM_INVALID, "%s: XLA's size of an array knows no tile entry '*'",
                        indim_shape_name_with_layout(shape).text);
    }
    if (!indim_count_mul(indim_ceil_div(size, tile), tile, &size) || !indim_count_mul(count, size, &count)) {
      return too_large(cx, shape);
    }
  }
  if (!indim_count_mul(indim_ceil_div(count, layout->tail_alignment), layout->tail_alignment, &count)) {
    return too_large(cx, shape);
  }
  return to_bytes(cx, shape, count, out_bytes);
}

// XLA's LinearIndex: the first tile only, none at rank 1.
static bool first_tile_index(const indim_shape *shape, const int64_t *index, int64_t *out) {
  const indim_layout *layout = &shape->layout;
  int32_t tile_rank = shape->has_layout && layout->tile_count > 0 && shape->rank > 1 ? layout->tile_ranks[0] : 0;
  int64_t outer = 1;
  int64_t inner = 1;
  int64_t linear = 0;
  for (int32_t i = 0; i < tile_rank; i++) {
    if (layout->tile_sizes[i] <= 0 || !indim_count_mul(outer, layout->tile_sizes[i], &outer)) {
      return false;
    }
  }
  for (int32_t k = 0; k < shape->rank; k++) {
    int32_t dim = minor(shape, k);
    int64_t tile = k < tile_rank ? layout->tile_sizes[tile_rank - 1 - k] : 1;
    int64_t part = 0;
    if (!indim_count_mul(outer, index[dim] / tile, &part) || !indim_int_add(linear, part, &linear) ||
        !indim_count_mul(inner, index[dim] % tile, &part) || !indim_int_add(linear, part, &linear) ||
        !indim_count_mul(outer, indim_ceil_div(shape->sizes[dim], tile), &outer) ||
        !indim_count_mul(inner, tile, &inner)) {
      return false;
    }
  }
  *out = linear;
  return true;
}

indim_status indim_shape_array_data_size(indim_ctx *cx, const indim_shape *shape, int64_t *out_bytes) {
  INDIM_NOT_NULL(cx, shape);
  INDIM_NOT_NULL(cx, out_bytes);
  int64_t last[INDIM_MAX_RANK];
  int64_t linear = 0;
  INDIM_TRY(need_array(cx, shape));
  for (int32_t d = 0; d < shape->rank; d++) {
    last[d] = shape->sizes[d] - 1;
  }
  if (indim_shape_is_zero_element(shape)) {
    *out_bytes = 0;
    return INDIM_OK;
  }
  return first_tile_index(shape, last, &linear) ? to_bytes(cx, shape, linear + 1, out_bytes) : too_large(cx, shape);
}

static indim_status byte_strides(indim_ctx *cx, const indim_shape *shape, int64_t element_bytes, int64_t *out_strides) {
  INDIM_TRY(need_array(cx, shape));
  int64_t stride = element_bytes;
  for (int32_t k = 0; k < shape->rank; k++) {
    int32_t dim = minor(shape, k);
    out_strides[dim] = stride;
    if (!indim_count_mul(stride, indim_shape_width(shape, dim), &stride)) {
      return too_large(cx, shape);
    }
  }
  return INDIM_OK;
}

indim_status indim_shape_unpacked_byte_strides(indim_ctx *cx, const indim_shape *shape, int64_t *out_strides) {
  INDIM_NOT_NULL(cx, shape);
  return byte_strides(cx, shape, indim_type_bytes(shape->type), out_strides);
}

indim_status indim_shape_byte_strides(indim_ctx *cx, const indim_shape *shape, int64_t *out_strides) {
  INDIM_NOT_NULL(cx, shape);
  INDIM_TRY(need_array(cx, shape));
  int64_t bits = indim_shape_element_bits(shape);
  if (bits % 8 != 0) {
    return indim_fail(cx, INDIM_INVALID, "elements of %lld bits have no stride in bytes", (long long)bits);
  }
  return byte_strides(cx, shape, bits / 8, out_strides);
}

bool indim_shape_strides_are_row_major(const indim_shape *shape, const int64_t *strides) {
  if (shape == NULL) {
    return false;
  }
  int64_t expected = indim_type_bytes(shape->type);
  for (int32_t d = shape->rank - 1; d >= 0; d--) {
    if (strides[d] != expected || !indim_count_mul(expected, shape->sizes[d], &expected)) {
      return false;
    }
  }
  return true;
}
