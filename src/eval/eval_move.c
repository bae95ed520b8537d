// Shape and data movement: each op says where the elements of a box come from and where they go, as strides; the copying
// is one loop (indim_eval_copy_box).
#include <string.h>

#include "base/size.h"
#include "eval/evaluator.h"

void indim_eval_dense_strides(const indim_shape *shape, int64_t *out_strides) {
  int64_t stride = 1;
  for (int32_t d = shape->rank - 1; d >= 0; d--) {
    out_strides[d] = stride;
    stride = (int64_t)((uint64_t)stride * (uint64_t)shape->sizes[d]);  // too large for any but an empty array
  }
}

indim_status indim_eval_copy_box(indim_evaluator *e, int32_t rank, const int64_t *sizes, int64_t bytes,
                                 unsigned char *to, const int64_t *to_strides, const unsigned char *from,
                                 const int64_t *from_strides) {
  enum { BETWEEN_POLLS = 1 << 18 };
  int64_t index[INDIM_MAX_RANK] = {0};
  int64_t row = rank == 0 ? 1 : sizes[rank - 1];
  int64_t to_step = rank == 0 ? 0 : to_strides[rank - 1] * bytes;
  int64_t from_step = rank == 0 ? 0 : from_strides[rank - 1] * bytes;
  for (int32_t d = 0; d < rank; d++) {
    if (sizes[d] == 0) {
      return INDIM_OK;
    }
  }
  for (int64_t moved = row;; moved += row) {
    if (to_step == bytes && from_step == bytes) {
      memcpy(to, from, (size_t)(row * bytes));
    } else {
      for (int64_t i = 0; i < row; i++) {
        memcpy(to + i * to_step, from + i * from_step, (size_t)bytes);
      }
    }
    int32_t d = rank - 2;
    for (; d >= 0 && ++index[d] == sizes[d]; d--) {
      to -= (sizes[d] - 1) * to_strides[d] * bytes;
      from -= (sizes[d] - 1) * from_strides[d] * bytes;
      index[d] = 0;
    }
    if (d < 0) {
      return INDIM_OK;
    }
    to += to_strides[d] * bytes;
    from += from_strides[d] * bytes;
    if (moved >= BETWEEN_POLLS) {
      moved = 0;
      INDIM_TRY(indim_poll(e->cx));
    }
  }
}

// A new value, every element of which is read from |operand| at offset + index . strides.
static indim_status read_strided(indim_evaluator *e, const indim_instr *instr, const indim_value *operand,
                                 int64_t offset, const int64_t *strides, indim_value **out) {
  int64_t dense[INDIM_MAX_RANK];
  int64_t bytes = indim_type_bytes(instr->shape->type);
  indim_value *result = NULL;
  INDIM_TRY(indim_value_new(e->cx, instr->shape, &result));
  indim_eval_dense_strides(instr->shape, dense);
  indim_status status = INDIM_OK;
  if (result->count > 0) {
    status = indim_eval_copy_box(e, instr->shape->rank, instr->shape->sizes, bytes, result->data, dense,
                                 operand->data + offset * bytes, strides);
  }
  if (status != INDIM_OK) {
    indim_value_release(e->cx, result);
    return status;
  }
  *out = result;
  return INDIM_OK;
}

// out[o] = x[i], i[k] = o[dimensions[k]]
indim_status indim_eval_broadcast(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                  indim_value **out) {
  int64_t dense[INDIM_MAX_RANK];
  int64_t strides[INDIM_MAX_RANK] = {0};
  int64_t count = 0;
  const int64_t *dims = indim_instr_ints(instr, INDIM_ATTR_DIMENSIONS, &count);
  indim_eval_dense_strides(operands[0]->shape, dense);
  for (int64_t k = 0; k < count; k++) {
    strides[dims[k]] = dense[k];
  }
  return read_strided(e, instr, operands[0], 0, strides, out);
}

// out[o] = x[i], i[dimensions[k]] = o[k]
indim_status indim_eval_transpose(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                  indim_value **out) {
  int64_t dense[INDIM_MAX_RANK];
  int64_t strides[INDIM_MAX_RANK] = {0};
  int64_t count = 0;
  const int64_t *dims = indim_instr_ints(instr, INDIM_ATTR_DIMENSIONS, &count);
  indim_eval_dense_strides(operands[0]->shape, dense);
  for (int64_t k = 0; k < count; k++) {
    strides[k] = dense[dims[k]];
  }
  return read_strided(e, instr, operands[0], 0, strides, out);
}

indim_status indim_eval_reverse(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                indim_value **out) {
  int64_t strides[INDIM_MAX_RANK];
  int64_t offset = 0;
  int64_t count = 0;
  const int64_t *dims = indim_instr_ints(instr, INDIM_ATTR_DIMENSIONS, &count);
  indim_eval_dense_strides(operands[0]->shape, strides);
  for (int64_t k = 0; k < count; k++) {
    offset += (operands[0]->shape->sizes[dims[k]] - 1) * strides[dims[k]];
    strides[dims[k]] = -strides[dims[k]];
  }
  return read_strided(e, instr, operands[0], offset, strides, out);
}

// out[o] = x[start + o * stride]
indim_status indim_eval_slice(indim_evaluator *e, const indim_instr *instr, indim_value **operands, indim_value **out) {
  int64_t strides[INDIM_MAX_RANK];
  int64_t offset = 0;
  const indim_attr *attr = indim_instr_attr(instr, INDIM_ATTR_SLICE);
  indim_eval_dense_strides(operands[0]->shape, strides);
  for (int64_t d = 0; d < attr->count; d++) {
    offset += attr->value.slice[d].start * strides[d];
    strides[d] *= attr->value.slice[d].stride;
  }
  return read_strided(e, instr, operands[0], offset, strides, out);
}

// The elements stay in row-major order, so the bytes stay as they are.
indim_status indim_eval_reshape(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                indim_value **out) {
  indim_value *result = NULL;
  INDIM_TRY(indim_value_new(e->cx, instr->shape, &result));
  if (result->bytes > 0) {
    memcpy(result->data, operands[0]->data, (size_t)result->bytes);
  }
  *out = result;
  return INDIM_OK;
}

// The bytes of the operand in its layout are the bytes of the result in its layout.
indim_status indim_eval_bitcast(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                indim_value **out) {
  indim_literal *from = NULL;
  indim_literal *to = NULL;
  // The value's own shape may be a fusion's or a loop's: the instruction knows the layout.
  indim_status status = indim_value_to_literal(e->cx, operands[0], instr->operands[0]->shape, &from);
  if (status == INDIM_OK) {
    status = indim_literal_create(e->cx, instr->shape, &to);
  }
  if (status == INDIM_OK && indim_literal_bytes(from) != indim_literal_bytes(to)) {
    status = indim_fail_instr(e->cx, INDIM_INVALID, instr, "%lld bytes cannot be seen as %lld",
                              (long long)indim_literal_bytes(from), (long long)indim_literal_bytes(to));
  }
  if (status == INDIM_OK && indim_literal_bytes(to) > 0) {
    memcpy(indim_literal_mutable_data(to), indim_literal_data(from), (size_t)indim_literal_bytes(to));
  }
  if (status == INDIM_OK) {
    status = indim_value_from_literal(e->cx, to, instr->shape, out);
  }
  indim_literal_destroy(from);
  indim_literal_destroy(to);
  return status;
}

indim_status indim_eval_concatenate(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                    indim_value **out) {
  int64_t to_strides[INDIM_MAX_RANK];
  int64_t from_strides[INDIM_MAX_RANK];
  int64_t bytes = indim_type_bytes(instr->shape->type);
  int64_t count = 0;
  int64_t dim = indim_instr_ints(instr, INDIM_ATTR_DIMENSIONS, &count)[0];
  int64_t at = 0;
  indim_value *result = NULL;
  INDIM_TRY(indim_value_new(e->cx, instr->shape, &result));
  indim_eval_dense_strides(instr->shape, to_strides);
  for (int32_t i = 0; i < instr->operand_count; i++) {
    const indim_shape *shape = operands[i]->shape;
    indim_eval_dense_strides(shape, from_strides);
    indim_status status = INDIM_OK;
    if (operands[i]->count > 0) {
      status = indim_eval_copy_box(e, shape->rank, shape->sizes, bytes, result->data + at * to_strides[dim] * bytes,
                                   to_strides, operands[i]->data, from_strides);
    }
    if (status != INDIM_OK) {
      indim_value_release(e->cx, result);
      return status;
    }
    at += shape->sizes[dim];
  }
  *out = result;
  return INDIM_OK;
}

// Element i of the operand lands at low + i * (interior + 1), if that is inside; the rest holds the padding value.
indim_status indim_eval_pad(indim_evaluator *e, const indim_instr *instr, indim_value **operands, indim_value **out) {
  const indim_shape *shape = operands[0]->shape;
  const indim_attr *attr = indim_instr_attr(instr, INDIM_ATTR_PADDING);
  int64_t to_strides[INDIM_MAX_RANK];
  int64_t from_strides[INDIM_MAX_RANK];
  int64_t sizes[INDIM_MAX_RANK];
  int64_t bytes = indim_type_bytes(instr->shape->type);
  int64_t to = 0;
  int64_t from = 0;
  indim_value *result = NULL;
  INDIM_TRY(indim_value_new(e->cx, instr->shape, &result));
  for (int64_t k = 0; k < result->count; k++) {
    memcpy(result->data + k * bytes, operands[1]->data, (size_t)bytes);
  }
  indim_eval_dense_strides(instr->shape, to_strides);
  indim_eval_dense_strides(shape, from_strides);
  bool empty = false;
  for (int32_t d = 0; d < shape->rank; d++) {
    const indim_padding_dim *pad = &attr->value.padding[d];
    int64_t step = pad->interior + 1;
    int64_t first = pad->low < 0 ? indim_ceil_div(-pad->low, step) : 0;
    int64_t room = instr->shape->sizes[d] - 1 - pad->low;
    int64_t last = room < 0 ? -1 : room / step;
    last = last < shape->sizes[d] - 1 ? last : shape->sizes[d] - 1;
    sizes[d] = last - first + 1;
    empty = empty || sizes[d] <= 0;
    to += (pad->low + first * step) * to_strides[d];
    from += first * from_strides[d];
    to_strides[d] *= step;
  }
  indim_status status = INDIM_OK;
  if (!empty) {
    status = indim_eval_copy_box(e, shape->rank, sizes, bytes, result->data + to * bytes, to_strides,
                                 operands[0]->data + from * bytes, from_strides);
  }
  if (status != INDIM_OK) {
    indim_value_release(e->cx, result);
    return status;
  }
  *out = result;
  return INDIM_OK;
}

// Dynamic slices ----------------------------------------------------------------------------------------------------

// The start in dimension |d|, clamped so that |size| elements fit: from one scalar for each dimension, or from one
// vector in older text.
static int64_t clamped_start(const indim_instr *instr, indim_value **starts, int32_t d, int64_t room) {
  bool vector = starts[0]->shape->rank == 1;
  const indim_value *value = vector ? starts[0] : starts[d];
  (void)instr;
  indim_type type = value->shape->type;
  int64_t start = indim_scalar_load(type, value->data, vector ? d : 0).i;
  if (indim_type_is_unsigned_int(type) && start < 0) {
    return room;  // 2^63 and more
  }
  return start < 0 ? 0 : start > room ? room : start;
}

indim_status indim_eval_dynamic_slice(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                      indim_value **out) {
  const indim_shape *shape = operands[0]->shape;
  int64_t strides[INDIM_MAX_RANK];
  int64_t offset = 0;
  indim_eval_dense_strides(shape, strides);
  for (int32_t d = 0; d < shape->rank; d++) {
    offset += clamped_start(instr, operands + 1, d, shape->sizes[d] - instr->shape->sizes[d]) * strides[d];
  }
  return read_strided(e, instr, operands[0], offset, strides, out);
}

// In place when nobody else has the operand, so that a loop that updates k elements of a large array costs k. Of an update
// that is short (eval/dynamic.h), what counts is written.
indim_status indim_eval_dynamic_update_slice(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                             indim_value **out) {
  const indim_value *update = operands[1];
  const indim_shape *shape = operands[0]->shape;
  int64_t to_strides[INDIM_MAX_RANK];
  int64_t from_strides[INDIM_MAX_RANK];
  int64_t bytes = indim_type_bytes(shape->type);
  int64_t offset = 0;
  INDIM_TRY(indim_value_own(e->cx, &operands[0]));
  indim_eval_dense_strides(shape, to_strides);
  indim_eval_dense_strides(update->shape, from_strides);
  for (int32_t d = 0; d < shape->rank; d++) {
    int64_t room = shape->sizes[d] - update->shape->sizes[d];
    offset += clamped_start(instr, operands + 2, d, room) * to_strides[d];
  }
  if (update->count > 0) {
    const int64_t *sizes = update->sizes != NULL ? update->sizes : update->shape->sizes;
    INDIM_TRY(indim_eval_copy_box(e, shape->rank, sizes, bytes, operands[0]->data + offset * bytes, to_strides,
                                  update->data, from_strides));
  }
  *out = operands[0];
  operands[0] = NULL;
  return INDIM_OK;
}

// Sources -----------------------------------------------------------------------------------------------------------

indim_status indim_eval_constant(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                 indim_value **out) {
  (void)operands;
  if (indim_literal_is_elided(instr->literal)) {
    indim_fail_instr(e->cx, INDIM_INVALID, instr, "its values were left out of the text ({...}), so it cannot be run");
    indim_hint(e->cx, "print the program with its constants in full (in JAX: lowered.as_text(\"hlo\"), in TensorFlow: "
                      "stage=\"hlo_serialized\")");
    return INDIM_INVALID;
  }
  // What may run again keeps its constants.
  indim_value **constants = e->plans[instr->computation->index].constants;
  if (constants != NULL && constants[instr->index] != NULL) {
    *out = indim_value_retain(constants[instr->index]);
    return INDIM_OK;
  }
  INDIM_TRY(indim_value_from_literal(e->cx, instr->literal, instr->shape, out));
  if (constants != NULL) {
    constants[instr->index] = indim_value_retain(*out);
  }
  return INDIM_OK;
}

// Parameters are put into their frame when it begins.
indim_status indim_eval_parameter(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                  indim_value **out) {
  (void)operands;
  (void)out;
  return indim_fail_instr(e->cx, INDIM_INTERNAL, instr, "a parameter is not computed");
}

indim_status indim_eval_iota(indim_evaluator *e, const indim_instr *instr, indim_value **operands, indim_value **out) {
  (void)operands;
  int64_t dim = indim_instr_int(instr, INDIM_ATTR_IOTA_DIMENSION, 0);
  int64_t strides[INDIM_MAX_RANK];
  indim_value *result = NULL;
  INDIM_TRY(indim_value_new(e->cx, instr->shape, &result));
  indim_eval_dense_strides(instr->shape, strides);
  for (int64_t k = 0; k < result->count; k++) {
    indim_scalar index = {.i = k / strides[dim] % instr->shape->sizes[dim]};
    indim_scalar_store(instr->shape->type, result->data, k, indim_scalar_convert(INDIM_S64, instr->shape->type, index));
  }
  *out = result;
  return INDIM_OK;
}

// On one device every number is 0.
indim_status indim_eval_device_id(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                  indim_value **out) {
  (void)operands;
  INDIM_TRY(indim_value_new(e->cx, instr->shape, out));
  memset((*out)->data, 0, (size_t)(*out)->bytes);
  return INDIM_OK;
}
