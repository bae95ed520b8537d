// Ops that move elements: broadcasts, slices, pads, gathers.
#include <string.h>

#include "stablehlo/import/import.h"

// One operand, and one list of dimensions.
static void with_dims(indim_import *im, const indim_vhlo_op *op, indim_attr_id id, indim_vhlo_attr_name name) {
  indim_import_value operand = indim_import_operand(im, op, 0);
  indim_attr attr = indim_import_attr_ints(im, id, op, name);
  indim_op hlo = indim_import_row_of(op->code)->op;
  indim_import_result(op, 0, indim_import_emit(im, hlo, indim_import_result_shape(im, op), &operand, 1, &attr, 1));
}

void indim_import_transpose(indim_import *im, const indim_vhlo_op *op) {
  with_dims(im, op, INDIM_ATTR_DIMENSIONS, INDIM_VHLO_ATTR_PERMUTATION);
}

void indim_import_reverse(indim_import *im, const indim_vhlo_op *op) {
  with_dims(im, op, INDIM_ATTR_DIMENSIONS, INDIM_VHLO_ATTR_DIMENSIONS);
}

void indim_import_iota(indim_import *im, const indim_vhlo_op *op) {
  indim_attr attr = indim_import_attr_int(INDIM_ATTR_IOTA_DIMENSION, op, INDIM_VHLO_ATTR_IOTA_DIMENSION, 0);
  indim_import_result(op, 0,
                      indim_import_emit(im, INDIM_OP_IOTA, indim_import_result_shape(im, op), NULL, 0, &attr, 1));
}

void indim_import_concatenate(indim_import *im, const indim_vhlo_op *op) {
  const indim_import_value *operands = indim_import_operands(im, op);
  int64_t *dim = indim_import_array(im, 1, sizeof *dim);
  if (dim == NULL) {
    return;
  }
  dim[0] = indim_vhlo_op_int(op, INDIM_VHLO_ATTR_DIMENSION, 0);
  indim_attr attr = {.id = INDIM_ATTR_DIMENSIONS, .offset = INDIM_NO_OFFSET, .count = 1, .value.ints = dim};
  indim_import_result(op, 0,
                      indim_import_emit(im, INDIM_OP_CONCATENATE, indim_import_result_shape(im, op), operands,
                                        op->operand_count, &attr, 1));
}

void indim_import_broadcast(indim_import *im, const indim_vhlo_op *op) {
  int64_t count = 0;
  const int64_t *sizes = indim_import_ints(im, indim_vhlo_op_value(op, INDIM_VHLO_ATTR_BROADCAST_SIZES), &count);
  if (count > INDIM_MAX_RANK) {
    indim_import_fail(im, INDIM_LIMIT, "rank above %d", INDIM_MAX_RANK);
    return;
  }
  indim_import_value operand = indim_import_operand(im, op, 0);
  indim_import_result(op, 0, operand == NULL ? NULL : indim_build_broadcast(im->b, operand, sizes, (int32_t)count));
}

// The operand's dimensions in the order of the result's: HLO's dimensions= increases. |dims| becomes sorted.
static indim_import_value in_order(indim_import *im, indim_import_value operand, int64_t *dims, int32_t rank) {
  int64_t permutation[INDIM_MAX_RANK];
  bool is_sorted = true;
  for (int32_t i = 0; i < rank; i++) {
    permutation[i] = i;
    is_sorted = is_sorted && (i == 0 || dims[i - 1] < dims[i]);
  }
  if (is_sorted) {
    return operand;
  }
  for (int32_t i = 1; i < rank; i++) {  // insertion sort
    int64_t dim = dims[i], from = permutation[i];
    int32_t k = i;
    for (; k > 0 && dims[k - 1] > dim; k--) {
      dims[k] = dims[k - 1];
      permutation[k] = permutation[k - 1];
    }
    dims[k] = dim;
    permutation[k] = from;
  }
  return indim_build_transpose(im->b, operand, permutation, rank);
}

// broadcast_dimensions: one for each dimension of the operand, none twice, within the result's rank, sizes equal or 1.
static bool check_broadcast(indim_import *im, const indim_shape *from, const indim_shape *to, const int64_t *dims,
                            int64_t count) {
  uint64_t seen = 0;
  if (count != from->rank) {
    indim_import_fail(im, INDIM_INVALID, "broadcast_dimensions has %lld entries for an operand of rank %d",
                      (long long)count, from->rank);
    return false;
  }
  for (int64_t i = 0; i < count; i++) {
    if (dims[i] < 0 || dims[i] >= to->rank || (seen >> dims[i] & 1) != 0) {
      indim_import_fail(im, INDIM_INVALID, "broadcast_dimensions[%lld] = %lld: dimensions 0 to %d, each at most once",
                        (long long)i, (long long)dims[i], to->rank - 1);
      return false;
    }
    seen |= (uint64_t)1 << dims[i];
    if (from->sizes[i] != 1 && from->sizes[i] != to->sizes[dims[i]]) {
      indim_import_fail(im, INDIM_INVALID,
                        "operand dimension %lld of size %lld along result dimension %lld of size %lld", (long long)i,
                        (long long)from->sizes[i], (long long)dims[i], (long long)to->sizes[dims[i]]);
      return false;
    }
  }
  return true;
}

indim_import_value indim_import_broadcast_to(indim_import *im, const indim_vhlo_op *op, const indim_shape *shape) {
  int64_t sorted[INDIM_MAX_RANK];
  int64_t count = 0;
  indim_import_value operand = indim_import_operand(im, op, 0);
  const int64_t *dims = indim_import_ints(im, indim_vhlo_op_value(op, INDIM_VHLO_ATTR_BROADCAST_DIMENSIONS), &count);
  if (operand == NULL || shape == NULL || !check_broadcast(im, operand->shape, shape, dims, count)) {
    return NULL;
  }
  for (int64_t i = 0; i < count; i++) {
    sorted[i] = dims[i];
  }
  operand = in_order(im, operand, sorted, (int32_t)count);
  bool is_same = operand != NULL && count == shape->rank &&
                 memcmp(operand->shape->sizes, shape->sizes, (size_t)count * sizeof *shape->sizes) == 0;
  if (is_same || shape->dynamic == 0) {
    return is_same ? operand
                   : indim_build_broadcast_in_dim(im->b, operand, shape->sizes, shape->rank, sorted, (int32_t)count);
  }
  return operand == NULL ? NULL : indim_build_expand(im->b, operand, shape, sorted);
}

void indim_import_broadcast_in_dim(indim_import *im, const indim_vhlo_op *op) {
  indim_import_result(op, 0, indim_import_broadcast_to(im, op, indim_import_result_shape(im, op)));
}

// The |i|th numbers of three lists of as many as the operand has dimensions.
typedef struct lists {
  const int64_t *a, *b, *c;
  int64_t count;
} lists;

static bool read_lists(indim_import *im, const indim_vhlo_op *op, const indim_vhlo_attr_name *names, int64_t rank,
                       lists *out) {
  const int64_t *all[3] = {NULL, NULL, NULL};
  for (int i = 0; i < 3; i++) {
    int64_t count = 0;
    all[i] = indim_import_ints(im, indim_vhlo_op_value(op, names[i]), &count);
    if (count != rank) {
      indim_import_fail(im, INDIM_INVALID, "%s has %lld entries for an operand of rank %lld",
                        indim_vhlo_attr_text(names[i]), (long long)count, (long long)rank);
      return false;
    }
  }
  *out = (lists){all[0], all[1], all[2], rank};
  return indim_import_ok(im);
}

void indim_import_slice(indim_import *im, const indim_vhlo_op *op) {
  static const indim_vhlo_attr_name names[] = {INDIM_VHLO_ATTR_START_INDICES, INDIM_VHLO_ATTR_LIMIT_INDICES,
                                               INDIM_VHLO_ATTR_STRIDES};
  indim_import_value operand = indim_import_operand(im, op, 0);
  lists all;
  if (operand != NULL && read_lists(im, op, names, operand->shape->rank, &all)) {
    indim_import_result(op, 0, indim_build_slice(im->b, operand, all.a, all.b, all.c));
  }
}

void indim_import_pad(indim_import *im, const indim_vhlo_op *op) {
  static const indim_vhlo_attr_name names[] = {INDIM_VHLO_ATTR_EDGE_PADDING_LOW, INDIM_VHLO_ATTR_EDGE_PADDING_HIGH,
                                               INDIM_VHLO_ATTR_INTERIOR_PADDING};
  indim_import_value operand = indim_import_operand(im, op, 0), value = indim_import_operand(im, op, 1);
  lists all;
  if (operand != NULL && read_lists(im, op, names, operand->shape->rank, &all)) {
    indim_import_result(op, 0, indim_build_pad(im->b, operand, value, all.a, all.b, all.c));
  }
}

static bool check_starts(indim_import *im, const indim_vhlo_op *op, int64_t first, indim_import_value operand) {
  if (operand != NULL && op->operand_count - first != operand->shape->rank) {
    indim_import_fail(im, INDIM_INVALID, "%lld start indices for an operand of rank %d",
                      (long long)(op->operand_count - first), operand->shape->rank);
  }
  return operand != NULL && indim_import_ok(im);
}

void indim_import_dynamic_slice(indim_import *im, const indim_vhlo_op *op) {
  const indim_import_value *all = indim_import_operands(im, op);
  int64_t count = 0;
  const int64_t *sizes = indim_import_ints(im, indim_vhlo_op_value(op, INDIM_VHLO_ATTR_SLICE_SIZES), &count);
  if (all == NULL || !check_starts(im, op, 1, all[0])) {
    return;
  }
  if (count != all[0]->shape->rank) {
    indim_import_fail(im, INDIM_INVALID, "slice_sizes has %lld entries for an operand of rank %d", (long long)count,
                      all[0]->shape->rank);
    return;
  }
  indim_import_result(op, 0, indim_build_dynamic_slice(im->b, all[0], all + 1, sizes));
}

void indim_import_dynamic_update_slice(indim_import *im, const indim_vhlo_op *op) {
  const indim_import_value *all = indim_import_operands(im, op);
  if (all != NULL && check_starts(im, op, 2, all[0])) {
    indim_import_result(op, 0, indim_build_dynamic_update_slice(im->b, all[0], all[1], all + 2));
  }
}

// get_dimension_size and set_dimension_size. A size that no run changes is a constant.
void indim_import_dimension_size(indim_import *im, const indim_vhlo_op *op) {
  const indim_import_value *operands = indim_import_operands(im, op);
  int64_t dim = indim_vhlo_op_int(op, INDIM_VHLO_ATTR_DIMENSION, 0);
  int64_t *dims = indim_import_array(im, 1, sizeof *dims);
  if (operands == NULL || operands[0] == NULL || dims == NULL) {
    return;
  }
  const indim_shape *shape = operands[0]->shape;
  if (dim < 0 || dim >= shape->rank) {
    indim_import_fail(im, INDIM_INVALID, "dimension %lld of an operand of rank %d", (long long)dim, shape->rank);
    return;
  }
  if (op->code == INDIM_VHLO_GET_DIMENSION_SIZE && !indim_shape_is_dynamic_dim(shape, (int32_t)dim)) {
    indim_import_result(op, 0, indim_build_scalar_int(im->b, INDIM_S32, shape->sizes[dim]));
    return;
  }
  dims[0] = dim;
  indim_attr attr = {.id = INDIM_ATTR_DIMENSIONS, .offset = INDIM_NO_OFFSET, .count = 1, .value.ints = dims};
  indim_op hlo = indim_import_row_of(op->code)->op;
  indim_import_result(
      op, 0, indim_import_emit(im, hlo, indim_import_result_shape(im, op), operands, op->operand_count, &attr, 1));
}

void indim_import_get_tuple_element(indim_import *im, const indim_vhlo_op *op) {
  indim_import_value operand = indim_import_operand(im, op, 0);
  indim_import_result(op, 0,
                      indim_build_get_tuple_element(im->b, operand, indim_vhlo_op_int(op, INDIM_VHLO_ATTR_INDEX, 0)));
}

void indim_import_gather(indim_import *im, const indim_vhlo_op *op) {
  const indim_import_value *operands = indim_import_operands(im, op);
  indim_attr attrs[] = {
      indim_import_attr_ints(im, INDIM_ATTR_OFFSET_DIMS, op, INDIM_VHLO_ATTR_OFFSET_DIMS),
      indim_import_attr_ints(im, INDIM_ATTR_COLLAPSED_SLICE_DIMS, op, INDIM_VHLO_ATTR_COLLAPSED_SLICE_DIMS),
      indim_import_attr_ints(im, INDIM_ATTR_START_INDEX_MAP, op, INDIM_VHLO_ATTR_START_INDEX_MAP),
      indim_import_attr_int(INDIM_ATTR_INDEX_VECTOR_DIM, op, INDIM_VHLO_ATTR_INDEX_VECTOR_DIM, 0),
      indim_import_attr_ints(im, INDIM_ATTR_SLICE_SIZES, op, INDIM_VHLO_ATTR_SLICE_SIZES),
      indim_import_attr_ints(im, INDIM_ATTR_OPERAND_BATCHING_DIMS, op, INDIM_VHLO_ATTR_OPERAND_BATCHING_DIMS),
      indim_import_attr_ints(im, INDIM_ATTR_START_INDICES_BATCHING_DIMS, op,
                             INDIM_VHLO_ATTR_START_INDICES_BATCHING_DIMS),
      indim_import_attr_int(INDIM_ATTR_INDICES_ARE_SORTED, op, INDIM_VHLO_ATTR_INDICES_ARE_SORTED, 0),
  };
  // HLO text leaves out what is empty or false.
  indim_attr kept[8];
  int64_t count = 0;
  for (int i = 0; i < 8; i++) {
    bool is_default = i >= 5 && (i == 7 ? attrs[i].value.integer == 0 : attrs[i].count == 0);
    if (!is_default) {
      kept[count++] = attrs[i];
    }
  }
  indim_import_result(
      op, 0, indim_import_emit(im, INDIM_OP_GATHER, indim_import_result_shape(im, op), operands, 2, kept, count));
}
