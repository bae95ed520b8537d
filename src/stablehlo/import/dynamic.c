// Ops that are given sizes as operands. Where the result's type says the sizes, they are what they would be with these as
// attributes; where it has bounds, what is made has those, and then the sizes that the operand says.
#include "stablehlo/import/import.h"

// Element |i| of a list of integers as a scalar.
static indim_import_value element(indim_import *im, indim_import_value list, int64_t i) {
  const int64_t limit = i + 1;
  indim_import_value one = list == NULL ? NULL : indim_build_slice(im->b, list, &i, &limit, NULL);
  one = indim_build_reshape(im->b, one, NULL, 0);
  return one == NULL || one->shape->type == INDIM_S32 ? one : indim_build_convert(im->b, one, INDIM_S32);
}

// The result's shape, which the list has a size for each dimension of; NULL after an error.
static const indim_shape *sized_result(indim_import *im, const indim_vhlo_op *op, indim_import_value list) {
  const indim_shape *shape = indim_import_result_shape(im, op);
  if (shape == NULL || list == NULL) {
    return NULL;
  }
  if (list->shape->rank != 1 || list->shape->sizes[0] != shape->rank) {
    indim_import_fail(im, INDIM_INVALID, "the sizes are not a list of %d, the result's rank", (int)shape->rank);
    return NULL;
  }
  return shape;
}

// An array of the bounds with the sizes of |list| in the dimensions that are dynamic in |shape| alone.
static indim_import_value set_sizes(indim_import *im, indim_import_value array, const indim_shape *shape,
                                    indim_import_value list) {
  for (int32_t d = 0; array != NULL && d < shape->rank; d++) {
    if (!indim_shape_is_dynamic_dim(shape, d) || indim_shape_is_dynamic_dim(array->shape, d)) {
      continue;
    }
    int64_t *dim = indim_import_array(im, 1, sizeof *dim);
    if (dim == NULL) {
      return NULL;
    }
    *dim = d;
    const indim_attr attr = {.id = INDIM_ATTR_DIMENSIONS, .offset = INDIM_NO_OFFSET, .count = 1, .value.ints = dim};
    const indim_import_value both[] = {array, element(im, list, d)};
    array = indim_import_emit(im, INDIM_OP_SET_DIMENSION_SIZE, NULL, both, 2, &attr, 1);
  }
  return array;
}

static const indim_shape *of_bounds(indim_import *im, const indim_shape *shape, uint64_t dynamic) {
  indim_shape bounds = *shape;
  bounds.dynamic = dynamic;
  return indim_import_own_shape(im, &bounds);
}

void indim_import_dynamic_iota(indim_import *im, const indim_vhlo_op *op) {
  indim_import_value list = indim_import_operand(im, op, 0);
  const indim_shape *shape = sized_result(im, op, list);
  indim_attr attr = indim_import_attr_int(INDIM_ATTR_IOTA_DIMENSION, op, INDIM_VHLO_ATTR_IOTA_DIMENSION, 0);
  const indim_shape *bounds = shape == NULL ? NULL : of_bounds(im, shape, 0);
  if (bounds != NULL) {
    indim_import_value iota = indim_import_emit(im, INDIM_OP_IOTA, bounds, NULL, 0, &attr, 1);
    indim_import_result(op, 0, set_sizes(im, iota, shape, list));
  }
}

void indim_import_dynamic_reshape(indim_import *im, const indim_vhlo_op *op) {
  indim_import_value operand = indim_import_operand(im, op, 0);
  indim_import_value list = indim_import_operand(im, op, 1);
  const indim_shape *shape = sized_result(im, op, list);
  if (shape == NULL || operand == NULL) {
    return;
  }
  if (indim_shape_is_static(shape) && indim_shape_is_static(operand->shape)) {
    indim_import_result(op, 0, indim_import_emit(im, INDIM_OP_RESHAPE, shape, &operand, 1, NULL, 0));
    return;
  }
  indim_import_value *all = indim_import_array(im, (int64_t)shape->rank + 1, sizeof *all);
  for (int32_t d = 0; all != NULL && d < shape->rank; d++) {
    all[1 + d] = element(im, list, d);
  }
  if (all != NULL) {
    all[0] = operand;
    indim_import_result(op, 0, indim_import_emit(im, INDIM_OP_DYNAMIC_RESHAPE, shape, all, shape->rank + 1, NULL, 0));
  }
}

// A dimension that is dynamic in the operand is so in the result and has its size; others have those of the list.
void indim_import_dynamic_broadcast(indim_import *im, const indim_vhlo_op *op) {
  int64_t count = 0;
  uint64_t dynamic = 0;
  indim_import_value operand = indim_import_operand(im, op, 0);
  indim_import_value list = indim_import_operand(im, op, 1);
  const indim_shape *shape = sized_result(im, op, list);
  const int64_t *dims = indim_import_ints(im, indim_vhlo_op_value(op, INDIM_VHLO_ATTR_BROADCAST_DIMENSIONS), &count);
  for (int64_t k = 0; shape != NULL && operand != NULL && k < count && k < operand->shape->rank; k++) {
    bool is_dynamic = dims[k] >= 0 && dims[k] < shape->rank && indim_shape_is_dynamic_dim(operand->shape, (int32_t)k);
    dynamic |= is_dynamic ? UINT64_C(1) << dims[k] : 0;
  }
  const indim_shape *bounds = shape == NULL ? NULL : of_bounds(im, shape, dynamic);
  if (bounds != NULL) {
    indim_import_result(op, 0, set_sizes(im, indim_import_broadcast_to(im, op, bounds), shape, list));
  }
}

// With operands that are constants ------------------------------------------------------------------------------------------

// The numbers of a list that is written in the program; NULL, after a refusal, for any other.
static const int64_t *known_list(indim_import *im, const indim_vhlo_op *op, int64_t i, int32_t count) {
  indim_import_value list = indim_import_operand(im, op, i);
  int64_t *numbers = indim_import_array(im, (int64_t)count + 1, sizeof *numbers);
  if (list == NULL || numbers == NULL) {
    return NULL;
  }
  bool is_splat = list->op == INDIM_OP_BROADCAST && list->operands[0]->shape->rank == 0;
  indim_import_value from = is_splat ? list->operands[0] : list;
  if (from->op != INDIM_OP_CONSTANT) {
    indim_import_fail(im, INDIM_UNSUPPORTED, "operand %lld is not known before the run", (long long)i);
    indim_hint(im->cx, "give it as a constant, or export the program for given shapes");
    return NULL;
  }
  if (list->shape->rank != 1 || list->shape->sizes[0] != count) {
    indim_import_fail(im, INDIM_INVALID, "operand %lld is not a list of %d numbers", (long long)i, (int)count);
    return NULL;
  }
  for (int64_t k = 0; k < count; k++) {
    indim_build_fail(im->b, indim_literal_get_int(im->cx, from->literal, is_splat ? NULL : &k, &numbers[k]));
  }
  return indim_import_ok(im) ? numbers : NULL;
}

void indim_import_dynamic_pad(indim_import *im, const indim_vhlo_op *op) {
  indim_import_value operand = indim_import_operand(im, op, 0);
  indim_import_value fill = indim_import_operand(im, op, 1);
  int32_t rank = operand == NULL ? 0 : operand->shape->rank;
  const int64_t *low = known_list(im, op, 2, rank);
  const int64_t *high = low == NULL ? NULL : known_list(im, op, 3, rank);
  const int64_t *between = high == NULL ? NULL : known_list(im, op, 4, rank);
  if (between != NULL) {
    indim_import_result(op, 0, indim_build_pad(im->b, operand, fill, low, high, between));
  }
}

void indim_import_real_dynamic_slice(indim_import *im, const indim_vhlo_op *op) {
  indim_import_value operand = indim_import_operand(im, op, 0);
  int32_t rank = operand == NULL ? 0 : operand->shape->rank;
  const int64_t *starts = known_list(im, op, 1, rank);
  const int64_t *limits = starts == NULL ? NULL : known_list(im, op, 2, rank);
  const int64_t *strides = limits == NULL ? NULL : known_list(im, op, 3, rank);
  if (strides != NULL) {
    indim_import_result(op, 0, indim_build_slice(im->b, operand, starts, limits, strides));
  }
}
