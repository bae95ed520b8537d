// The same values otherwise: in another layout, or in another element type.
#include <string.h>

#include "array/literal_internal.h"
#include "array/shape_text.h"

// Relayout --------------------------------------------------------------------------------------------------------

// Values of one array into another of the same type and sizes.
static void copy_array(const indim_literal *from, indim_literal *to) {
  const indim_shape *shape = &from->shape;
  if (indim_literal_is_strided(from) && indim_literal_is_strided(to)) {
    indim_strided_copy(shape->rank, shape->sizes, indim_type_bytes(shape->type), to->data, to->strides, from->data,
                       from->strides);
    return;
  }
  int64_t index[INDIM_MAX_RANK] = {0};
  int64_t length = indim_row_length(shape->rank, shape->sizes);
  for (bool more = indim_rows_any(shape->rank, shape->sizes); more;
       more = indim_rows_next(shape->rank, shape->sizes, index)) {
    indim_row source = indim_row_at(from, index);
    indim_row target = indim_row_at(to, index);
    for (int64_t i = 0; i < length; i++) {
      indim_literal_store(to, indim_row_place(&target, i), indim_literal_load(from, indim_row_place(&source, i)));
    }
  }
}

static void copy_tree(const indim_literal *from, indim_literal *to) {
  for (int64_t i = 0; i < from->member_count; i++) {
    copy_tree(from->members[i], to->members[i]);
  }
  if (indim_shape_is_array(&from->shape)) {
    copy_array(from, to);
    to->shape.dynamic = from->shape.dynamic;
    memcpy(to->dynamic_sizes, from->dynamic_sizes, sizeof to->dynamic_sizes);
  }
}

indim_status indim_literal_relayout(indim_ctx *cx, const indim_literal *literal, const indim_shape *shape,
                                    indim_literal **out_literal) {
  INDIM_NOT_NULL(cx, literal);
  INDIM_NOT_NULL(cx, shape);
  INDIM_NOT_NULL(cx, out_literal);
  *out_literal = NULL;
  if (!indim_shape_compatible(&literal->shape, shape)) {
    return indim_fail(cx, INDIM_INVALID, "the layout of %s is for other values than %s",
                      indim_shape_name_with_layout(shape).text, indim_shape_name_of(&literal->shape).text);
  }
  if (indim_literal_is_elided(literal)) {
    return indim_fail(cx, INDIM_INVALID, "the values of %s were left out of its text ({...})",
                      indim_shape_name_of(&literal->shape).text);
  }
  INDIM_TRY(indim_literal_create(cx, shape, out_literal));
  copy_tree(literal, *out_literal);
  return INDIM_OK;
}

// Conversion ------------------------------------------------------------------------------------------------------

static indim_status check_convert(indim_ctx *cx, const indim_literal *literal, indim_type type) {
  INDIM_NOT_NULL(cx, literal);
  const indim_shape *shape = &literal->shape;
  bool no_array = !indim_shape_is_array(shape) || !indim_type_is_array(type);
  if (no_array || (indim_type_is_complex(shape->type) && !indim_type_is_complex(type))) {
    indim_fail(cx, INDIM_UNSUPPORTED, "%s cannot be converted to %s", indim_shape_name_of(shape).text,
               indim_type_text(type));
    if (!no_array) {
      indim_hint(cx, "take the real or the imaginary part first");
    }
    return INDIM_UNSUPPORTED;
  }
  return indim_literal_need_array(cx, literal, "a conversion");
}

indim_status indim_literal_convert(indim_ctx *cx, const indim_literal *literal, indim_type type,
                                   indim_literal **out_literal) {
  INDIM_NOT_NULL(cx, out_literal);
  *out_literal = NULL;
  INDIM_TRY(check_convert(cx, literal, type));
  indim_shape shape = literal->shape;
  shape.type = type;
  if (!indim_type_is_sub_byte(type) || shape.layout.element_bits < indim_type_bits(type)) {
    shape.layout.element_bits = 0;
  }
  INDIM_TRY(indim_literal_create(cx, &shape, out_literal));
  indim_literal *to = *out_literal;
  memcpy(to->dynamic_sizes, literal->dynamic_sizes, sizeof to->dynamic_sizes);
  int64_t index[INDIM_MAX_RANK] = {0};
  int64_t length = indim_row_length(shape.rank, shape.sizes);
  for (bool more = indim_rows_any(shape.rank, shape.sizes); more;
       more = indim_rows_next(shape.rank, shape.sizes, index)) {
    indim_row source = indim_row_at(literal, index);
    indim_row target = indim_row_at(to, index);
    for (int64_t i = 0; i < length; i++) {
      indim_element element = indim_literal_load(literal, indim_row_place(&source, i));
      indim_literal_store(to, indim_row_place(&target, i), indim_element_convert(literal->shape.type, type, element));
    }
  }
  return INDIM_OK;
}
