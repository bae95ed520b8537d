// Whole-tree validation, for shapes that were not made by our constructors: from the wire, or changed by hand.
#include <inttypes.h>

#include "array/shape_internal.h"
#include "array/shape_text.h"
#include "base/size.h"

static indim_status check_dimensions(indim_ctx *cx, const indim_shape *shape) {
  if (shape->rank < 0 || shape->rank > INDIM_MAX_RANK) {
    return indim_fail(cx, shape->rank < 0 ? INDIM_INVALID : INDIM_LIMIT, "rank %d is not in 0 to %d", (int)shape->rank,
                      INDIM_MAX_RANK);
  }
  int64_t count = 1;
  for (int32_t d = 0; d < shape->rank; d++) {
    int64_t size = shape->sizes[d];
    if (size == INDIM_UNBOUNDED && indim_shape_is_dynamic_dim(shape, d)) {
      continue;
    }
    if (size < 0) {
      indim_fail(cx, INDIM_INVALID, "Shape Error: negative dimension at index %d: %" PRId64 "; shape(%s): %s", (int)d,
                 size, indim_type_text(shape->type), indim_shape_name_of(shape).text);
      indim_hint(cx, "sizes are 0 or more; only a dynamic dimension can be unbounded (?)");
      return INDIM_INVALID;
    }
    if (!indim_count_mul(count, size, &count)) {
      return indim_fail(cx, INDIM_INVALID, "Shape Error: dimensions overflow: the elements of %s are more than 2^63",
                        indim_shape_name_of(shape).text);
    }
  }
  if (!indim_count_mul(count, indim_type_bytes(shape->type), &count)) {
    return indim_fail(cx, INDIM_INVALID, "Shape %s size may overflow int64: its bytes are more than 2^63",
                      indim_shape_name_of(shape).text);
  }
  return INDIM_OK;
}

static indim_status validate_array(indim_ctx *cx, const indim_shape *shape, bool need_layouts) {
  INDIM_TRY(check_dimensions(cx, shape));
  if (shape->has_layout) {
    return indim_layout_validate(cx, &shape->layout, shape);
  }
  if (need_layouts) {
    indim_fail(cx, INDIM_INVALID, "shape %s does not have a layout", indim_shape_name_of(shape).text);
    indim_hint(cx, "set the default one, or name the dimensions from the fastest varying to the slowest");
    return INDIM_INVALID;
  }
  return INDIM_OK;
}

static indim_status validate(indim_ctx *cx, const indim_shape *shape, bool need_layouts, int32_t depth) {
  if (depth > INDIM_MAX_TUPLE_DEPTH) {
    return indim_fail(cx, INDIM_LIMIT, "tuples are nested deeper than %d", INDIM_MAX_TUPLE_DEPTH);
  }
  if (indim_type_is_array(shape->type)) {
    return validate_array(cx, shape, need_layouts);
  }
  if (shape->type == INDIM_TOKEN || shape->type == INDIM_OPAQUE) {
    return INDIM_OK;
  }
  if (shape->type == INDIM_BUFFER && (shape->member_count != 1 || !indim_shape_is_array(shape->members[0]))) {
    return indim_fail(cx, INDIM_INVALID, "Shape Error: a buffer holds exactly one array shape");
  }
  if (shape->type != INDIM_TUPLE && shape->type != INDIM_BUFFER) {
    indim_fail(cx, INDIM_INVALID, "Shape Error: invalid element type; shape(%d)", (int)shape->type);
    indim_hint(cx, "an all-zero shape has no type yet; make shapes with indim_shape_init");
    return INDIM_INVALID;
  }
  for (int64_t i = 0; i < shape->member_count; i++) {
    INDIM_TRY(validate(cx, shape->members[i], need_layouts, depth + 1));
  }
  return INDIM_OK;
}

indim_status indim_shape_validate(indim_ctx *cx, const indim_shape *shape, bool need_layouts) {
  INDIM_NOT_NULL(cx, shape);
  return validate(cx, shape, need_layouts, 0);
}
