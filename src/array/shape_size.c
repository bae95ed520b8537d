// How many elements, places and bytes an array takes: of its elements alone, and of its storage under the layout.
#include "array/index_plan.h"
#include "array/shape_internal.h"
#include "array/shape_text.h"
#include "base/size.h"

int64_t indim_shape_element_count(const indim_shape *shape) {
  if (shape == NULL) {
    return 0;
  }
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
  if (shape == NULL) {
    return 0;
  }
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
  if (shape == NULL) {
    return 0;
  }
  shape = indim_shape_array_of(shape);
  int64_t bytes = 0;
  return bytes_of(shape, indim_shape_element_count(shape), &bytes) ? bytes : 0;
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
  indim_index_plan plan;
  INDIM_TRY(indim_index_plan_init(cx, shape, &plan));
  *out_count = plan.padded_count;
  return INDIM_OK;
}

indim_status indim_shape_storage_bytes(indim_ctx *cx, const indim_shape *shape, int64_t *out_bytes) {
  int64_t count = 0;
  INDIM_NOT_NULL(cx, out_bytes);
  INDIM_TRY(indim_shape_storage_count(cx, shape, &count));
  shape = indim_shape_array_of(shape);
  return bytes_of(shape, count, out_bytes) ? INDIM_OK : overflow(cx, shape);
}
