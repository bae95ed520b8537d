// Ops that are computed over the bounds: only the sizes of their results follow a rule.
#include <string.h>

#include "base/size.h"
#include "expand/dynamic/padder.h"
#include "expand/rng.h"
#include "ffi/call.h"
#include "graph/dynamic.h"
#include "graph/infer_kit.h"
#include "linalg/alias.h"

// Elementwise ------------------------------------------------------------------------------------------------------------

static bool has_dim(const indim_instr *instr, const indim_sized *operand, int32_t i, int32_t dim) {
  const indim_shape *shape = instr->operands[i]->shape;
  return operand->sizes != NULL && shape->rank == instr->shape->rank && indim_dim_is_dynamic(shape, dim);
}

static value is_one(indim_padder *p, indim_run_size size) {
  value one = indim_build_scalar_int(p->x.b, INDIM_S64, 1);
  return indim_padder_compare(p, indim_size_scalar(p, size, INDIM_S64), one, "EQ");
}

// The least size but for those of 1, which are repeated, and 1 where all are.
static indim_run_size common_size(indim_padder *p, const indim_run_size *sizes, int32_t count) {
  value none = indim_build_scalar_int(p->x.b, INDIM_S64, INT64_MAX);
  value least = none;
  for (int32_t i = 0; i < count; i++) {
    value size = indim_size_scalar(p, sizes[i], INDIM_S64);
    size = indim_build_select(p->x.b, is_one(p, sizes[i]), none, size);
    least = indim_build_binary(p->x.b, INDIM_OP_MINIMUM, least, size, NULL, 0);
  }
  value has_other = indim_padder_compare(p, least, none, "LT");
  value one = indim_build_scalar_int(p->x.b, INDIM_S64, 1);
  return (indim_run_size){.scalar = indim_build_select(p->x.b, has_other, least, one)};
}

// Where the one element of |operand| along |dim| is to be |count|: it there, the other elements as they are.
static value spread(indim_padder *p, value operand, indim_run_size own, int32_t dim, indim_run_size count) {
  int64_t starts[INDIM_MAX_RANK] = {0};
  int64_t limits[INDIM_MAX_RANK];
  int64_t kept[INDIM_MAX_RANK];
  int64_t sizes[INDIM_MAX_RANK];
  indim_run_size counts[INDIM_MAX_RANK];
  int32_t rank = 0;
  if (operand == NULL || operand->shape->sizes[dim] == 0) {
    return operand;
  }
  const indim_shape *shape = operand->shape;
  for (int32_t d = 0; d < shape->rank; d++) {
    limits[d] = d == dim ? 1 : shape->sizes[d];
    if (d != dim) {
      sizes[rank] = shape->sizes[d];
      kept[rank++] = d;
    }
  }
  value first = indim_build_slice(p->x.b, operand, starts, limits, NULL);
  first = indim_expand_repeat(&p->x, indim_build_reshape(p->x.b, first, sizes, rank), shape, kept);
  counts[dim] = count;
  value inside = indim_padder_counts(p, shape, counts, UINT64_C(1) << dim);
  value repeats = indim_expand_repeat(&p->x, is_one(p, own), shape, NULL);
  repeats = inside == NULL ? repeats : indim_build_binary(p->x.b, INDIM_OP_AND, repeats, inside, NULL, 0);
  return indim_build_select(p->x.b, repeats, first, operand);
}

// The size of a dimension that all operands have.
static indim_run_size match_dim(indim_padder *p, const indim_instr *instr, indim_sized *operands, int32_t dim) {
  int32_t count = 0;
  bool all_same = true;
  indim_run_size *sizes = indim_sizes_new(p, instr->operand_count);
  for (int32_t i = 0; sizes != NULL && i < instr->operand_count; i++) {
    if (has_dim(instr, &operands[i], i, dim)) {
      sizes[count++] = operands[i].sizes[dim];
      all_same = all_same && indim_size_same(sizes[0], sizes[count - 1]);
    }
  }
  if (sizes == NULL || count == 0) {
    return indim_size_known(instr->shape->sizes[dim]);
  }
  if (all_same) {
    return sizes[0];
  }
  indim_run_size size = common_size(p, sizes, count);
  for (int32_t i = 0; i < instr->operand_count; i++) {
    if (has_dim(instr, &operands[i], i, dim)) {
      operands[i].data = spread(p, operands[i].data, operands[i].sizes[dim], dim, size);
    }
  }
  return size;
}

indim_sized indim_dynamic_elementwise(indim_padder *p, const indim_instr *instr, indim_sized *operands) {
  indim_run_size sizes[INDIM_MAX_RANK];
  for (int32_t d = 0; d < instr->shape->rank; d++) {
    sizes[d] = match_dim(p, instr, operands, d);
  }
  return indim_padder_settle(p, instr->shape, indim_padder_emit_data(p, instr, operands), sizes);
}

// Moves ------------------------------------------------------------------------------------------------------------------

static indim_run_size slice_size(indim_padder *p, const indim_slice_dim *slice, indim_run_size size) {
  size = indim_size_least(p, size, indim_size_known(slice->limit));
  size = indim_size_op(p, INDIM_OP_SUBTRACT, size, indim_size_known(slice->start));
  size = indim_size_op(p, INDIM_OP_MAXIMUM, size, indim_size_known(0));
  if (slice->stride == 1) {
    return size;
  }
  size = indim_size_op(p, INDIM_OP_ADD, size, indim_size_known(slice->stride - 1));
  return indim_size_op(p, INDIM_OP_DIVIDE, size, indim_size_known(slice->stride));
}

// A dimension of a gather's result is one of the operand's that is sliced, or one of the indices'.
static void gather_sizes(const indim_instr *instr, const indim_sized *operands, indim_run_size *sizes) {
  int64_t count = 0;
  const int64_t *slice = indim_instr_ints(instr, INDIM_ATTR_SLICE_SIZES, &count);
  const indim_shape *from = instr->operands[0]->shape;
  int64_t vector = indim_instr_int(instr, INDIM_ATTR_INDEX_VECTOR_DIM, 0);
  uint64_t offsets = indim_attr_mask(instr, INDIM_ATTR_OFFSET_DIMS);
  uint64_t left_out = indim_attr_mask(instr, INDIM_ATTR_COLLAPSED_SLICE_DIMS) |
                      indim_attr_mask(instr, INDIM_ATTR_OPERAND_BATCHING_DIMS);
  int32_t from_operand = 0;
  int32_t from_indices = 0;
  for (int32_t d = 0; d < instr->shape->rank; d++) {
    if ((offsets >> d & 1) != 0) {
      while ((left_out >> from_operand & 1) != 0) {
        from_operand++;
      }
      bool is_whole = slice[from_operand] == from->sizes[from_operand];
      sizes[d] = is_whole ? indim_size_of(&operands[0], from, from_operand) : sizes[d];
      from_operand++;
    } else {
      from_indices += from_indices == vector ? 1 : 0;
      sizes[d] = indim_size_of(&operands[1], instr->operands[1]->shape, from_indices++);
    }
  }
}

indim_sized indim_dynamic_moved(indim_padder *p, const indim_instr *instr, indim_sized *operands) {
  int64_t count = 0;
  const int64_t *dims = indim_instr_ints(instr, INDIM_ATTR_DIMENSIONS, &count);
  const indim_shape *from = instr->operands[0]->shape;
  indim_run_size sizes[INDIM_MAX_RANK];
  for (int32_t d = 0; d < instr->shape->rank; d++) {
    sizes[d] = indim_size_known(instr->shape->sizes[d]);
  }
  if (instr->op == INDIM_OP_GATHER) {
    gather_sizes(instr, operands, sizes);
  } else if (instr->op == INDIM_OP_BROADCAST) {
    for (int32_t k = 0; k < count; k++) {
      sizes[dims[k]] = indim_size_of(&operands[0], from, k);
    }
  } else {
    for (int32_t d = 0; d < from->rank; d++) {
      indim_run_size size = indim_size_of(&operands[0], from, d);
      bool is_dynamic = indim_dim_is_dynamic(from, d);
      if (instr->op == INDIM_OP_TRANSPOSE) {
        sizes[d] = indim_size_of(&operands[0], from, (int32_t)dims[d]);
      } else if (instr->op == INDIM_OP_DYNAMIC_SLICE) {
        sizes[d] = instr->shape->sizes[d] == from->sizes[d] ? size : sizes[d];
      } else if (is_dynamic && indim_dim_is_dynamic(instr->shape, d)) {
        sizes[d] = slice_size(p, &indim_instr_attr(instr, INDIM_ATTR_SLICE)->value.slice[d], size);
      }
    }
  }
  return indim_padder_settle(p, instr->shape, indim_padder_emit_data(p, instr, operands), sizes);
}

// Updates ----------------------------------------------------------------------------------------------------------------

static indim_sized as_first(indim_padder *p, const indim_instr *instr, const indim_sized *operands) {
  indim_run_size sizes[INDIM_MAX_RANK];
  for (int32_t d = 0; d < instr->shape->rank; d++) {
    sizes[d] = indim_size_of(&operands[0], instr->operands[0]->shape, d);
  }
  return indim_padder_settle(p, instr->shape, indim_padder_emit_data(p, instr, operands), sizes);
}

// What stands where the update is to go.
static value read_old(indim_padder *p, const indim_instr *instr, const indim_sized *operands) {
  const indim_shape *shape = instr->operands[1]->shape;
  value *all = indim_expand_values(&p->x, instr->operand_count);
  if (all == NULL) {
    return NULL;
  }
  all[0] = operands[0].data;
  for (int32_t k = 2; k < instr->operand_count; k++) {
    all[k - 1] = operands[k].data;
  }
  indim_attr attr = indim_build_attr_ints(p->x.b, INDIM_ATTR_DYNAMIC_SLICE_SIZES, shape->sizes, shape->rank);
  return indim_build_emit(p->x.b, INDIM_OP_DYNAMIC_SLICE, NULL, all, instr->operand_count - 1, &attr, 1);
}

// Of an update that is short, only what counts is written.
indim_sized indim_dynamic_update(indim_padder *p, const indim_instr *instr, indim_sized *operands) {
  value counts = operands[1].sizes == NULL
                     ? NULL
                     : indim_padder_counts(p, instr->operands[1]->shape, operands[1].sizes, UINT64_MAX);
  if (counts != NULL) {
    operands[1].data = indim_build_select(p->x.b, counts, operands[1].data, read_old(p, instr, operands));
  }
  return as_first(p, instr, operands);
}

// Ends the run where a window of update |i| is short, and cuts |rows|, the sizes of the indices, to its rows.
static void check_update(indim_padder *p, const indim_instr *instr, const indim_sized *operands, int32_t i,
                         indim_run_size *rows) {
  const indim_shape *updates = instr->operands[i]->shape;
  int64_t vector = indim_instr_int(instr, INDIM_ATTR_INDEX_VECTOR_DIM, 0);
  uint64_t windows = indim_attr_mask(instr, INDIM_ATTR_UPDATE_WINDOW_DIMS);
  int32_t row = 0;
  for (int32_t d = 0; d < updates->rank; d++) {
    indim_run_size size = indim_size_of(&operands[i], updates, d);
    bool is_window = (windows >> d & 1) != 0;
    if (is_window && indim_size_is_cut(size, updates->sizes[d])) {
      value bound = indim_build_scalar_int(p->x.b, INDIM_S64, updates->sizes[d]);
      value is_whole = indim_padder_compare(p, indim_size_scalar(p, size, INDIM_S64), bound, "EQ");
      indim_padder_check(p, is_whole, INDIM_UNSUPPORTED, &size, 1,
                         "the windows of the updates have \1 of %lld elements along dimension %d; they must be whole",
                         (long long)updates->sizes[d], (int)d);
    }
    if (!is_window) {
      row += row == vector ? 1 : 0;
      rows[row] = indim_size_least(p, rows[row], size);
      row++;
    }
  }
}

// Rows of indices and updates that do not count go nowhere: their indices become -1.
static value drop_rows(indim_padder *p, const indim_instr *instr, const indim_sized *operands) {
  int32_t at = instr->operand_count / 2;
  const indim_shape *indices = instr->operands[at]->shape;
  int64_t vector = indim_instr_int(instr, INDIM_ATTR_INDEX_VECTOR_DIM, 0);
  indim_run_size rows[INDIM_MAX_RANK];
  for (int32_t d = 0; d < indices->rank; d++) {
    rows[d] = indim_size_of(&operands[at], indices, d);
  }
  for (int32_t i = at + 1; i < instr->operand_count; i++) {
    check_update(p, instr, operands, i, rows);
  }
  value nowhere = indim_build_scalar_int(p->x.b, INDIM_S64, -1);
  value wide = indim_expand_convert(&p->x, operands[at].data, INDIM_S64);
  return indim_padder_mask(p, wide, rows, ~(vector < 64 ? UINT64_C(1) << vector : 0), nowhere);
}

indim_sized indim_dynamic_scatter(indim_padder *p, const indim_instr *instr, indim_sized *operands) {
  int64_t count = 0;
  int32_t n = instr->operand_count / 2;
  bool drops = false;
  (void)indim_instr_ints(instr, INDIM_ATTR_SCATTER_DIMS_TO_OPERAND_DIMS, &count);
  for (int32_t i = n; i < instr->operand_count; i++) {
    drops = drops || operands[i].sizes != NULL;
  }
  if (drops && count == 0) {  // no index to change
    indim_build_fail(p->x.b, indim_fail_instr(p->x.cx, INDIM_UNSUPPORTED, instr,
                                              "without indices it is compiled with as many updates as their bounds"));
    return (indim_sized){0};
  }
  indim_attr *attrs = indim_padder_attrs(p, instr);
  value *all = indim_expand_values(&p->x, instr->operand_count);
  if (all == NULL || attrs == NULL) {
    return (indim_sized){0};
  }
  for (int32_t i = 0; i < instr->operand_count; i++) {
    all[i] = i == n && drops ? drop_rows(p, instr, operands) : operands[i].data;
  }
  for (int32_t i = 0; i < instr->attr_count && drops; i++) {
    if (attrs[i].id == INDIM_ATTR_INDICES_ARE_SORTED) {
      attrs[i].value.integer = 0;
    }
  }
  value result = indim_build_emit(p->x.b, instr->op, NULL, all, instr->operand_count, attrs, instr->attr_count);
  indim_run_size sizes[INDIM_MAX_RANK];
  indim_padder_least_sizes(p, instr, operands, n, sizes);
  return indim_padder_results(p, instr, indim_padder_take_apart(p, result, n, n > 1), n, sizes);
}

// Batches ----------------------------------------------------------------------------------------------------------------

// The results of |instr|, a tuple or one, over the bounds. Each has the sizes of |batch| in its first dimensions, and all of the
// others.
static indim_sized settle_results(indim_padder *p, const indim_instr *instr, value result, const indim_run_size *batch,
                                  int32_t batch_rank) {
  indim_run_size sizes[INDIM_MAX_RANK];
  bool is_tuple = indim_shape_is_tuple(instr->shape);
  int32_t count = is_tuple ? (int32_t)instr->shape->member_count : 1;
  value *results = indim_padder_take_apart(p, result, count, is_tuple);
  for (int32_t k = 0; results != NULL && k < count; k++) {
    const indim_shape *shape = is_tuple ? instr->shape->members[k] : instr->shape;
    for (int32_t d = 0; d < shape->rank; d++) {
      sizes[d] = d < batch_rank ? batch[d] : indim_size_known(shape->sizes[d]);
    }
    indim_sized one = indim_padder_settle(p, shape, results[k], sizes);
    if (!is_tuple) {
      return one;
    }
    results[k] = indim_padder_pack(p, shape, &one);
  }
  return (indim_sized){.data = results == NULL ? NULL : indim_build_tuple(p->x.b, results, count)};
}

indim_sized indim_dynamic_batch(indim_padder *p, const indim_instr *instr, indim_sized *operands) {
  indim_run_size sizes[INDIM_MAX_RANK];
  indim_padder_least_sizes(p, instr, operands, instr->operand_count, sizes);
  return settle_results(p, instr, indim_padder_emit_data(p, instr, operands), sizes, indim_instr_batch_rank(instr));
}

// A batch of LAPACK's; other functions take static shapes only, and say so.
static indim_status read_custom_call(indim_padder *p, const indim_instr *instr, indim_linalg_call *out) {
  indim_call *call = NULL;
  if (indim_call_kind_of(p->x.cx, instr) != INDIM_CALL_UNKNOWN) {
    indim_status status = indim_call_create(p->x.cx, instr, &call);
    indim_call_destroy(call);
    return status != INDIM_OK ? status
                              : indim_fail_instr(p->x.cx, INDIM_UNSUPPORTED, instr, "functions take static shapes");
  }
  indim_linalg_alias alias;
  return indim_linalg_is_alias(instr) ? indim_linalg_read_alias(p->x.cx, instr, &alias, out)
                                      : indim_linalg_read(p->x.cx, instr, out);
}

indim_sized indim_dynamic_custom_call(indim_padder *p, const indim_instr *instr, indim_sized *operands) {
  indim_linalg_call call;
  indim_run_size batch[INDIM_MAX_RANK];
  indim_status status = read_custom_call(p, instr, &call);
  if (status != INDIM_OK) {
    (void)indim_expand_fail(&p->x, status);
    return (indim_sized){0};
  }
  for (int32_t i = 0; i < instr->operand_count; i++) {
    const indim_shape *shape = instr->operands[i]->shape;
    for (int32_t d = 0; d < call.batch_rank && d < shape->rank; d++) {
      indim_run_size size = indim_size_of(&operands[i], shape, d);
      batch[d] = i == 0 ? size : indim_size_least(p, batch[d], size);
    }
  }
  return settle_results(p, instr, indim_padder_emit_data(p, instr, operands), batch, call.batch_rank);
}

// Numbers from nowhere: as many as the bounds.
indim_sized indim_dynamic_drawn(indim_padder *p, const indim_instr *instr, indim_sized *operands) {
  if (instr->op != INDIM_OP_RNG) {
    return settle_results(p, instr, indim_padder_emit_data(p, instr, operands), NULL, 0);
  }
  value limits[] = {operands[0].data, operands[1].data};
  p->x.operands = limits;
  indim_sized drawn = settle_results(p, instr, indim_rng_build(&p->x), NULL, 0);
  p->x.operands = NULL;
  return drawn;
}
