// Ops that would mix what does not count with what does: reduce, reduce-window, sort, topk, dot, ragged-dot, convolution.
#include <math.h>

#include "array/element.h"
#include "array/float_format.h"
#include "expand/dynamic/padder.h"
#include "graph/dynamic.h"
#include "graph/infer_kit.h"

// Folds ------------------------------------------------------------------------------------------------------------------

static value identity_of_extreme(indim_padder *p, indim_type type, bool is_maximum) {
  const double infinity = is_maximum ? -(double)INFINITY : (double)INFINITY;
  if (indim_type_is_float(type)) {
    return indim_build_scalar(p->x.b, type, infinity);
  }
  if (type == INDIM_PRED) {
    return indim_build_scalar_int(p->x.b, type, is_maximum ? 0 : 1);
  }
  int32_t bits = indim_type_bits(type);
  if (indim_type_is_unsigned_int(type)) {
    return indim_build_scalar_int(p->x.b, type, is_maximum ? 0 : bits == 64 ? -1 : (INT64_C(1) << bits) - 1);
  }
  int64_t least = bits == 64 ? INT64_MIN : -(INT64_C(1) << (bits - 1));
  return indim_build_scalar_int(p->x.b, type, is_maximum ? least : -1 - least);
}

// What a fold with one plain op leaves alone; NULL for other computations, and types that have no such value.
static value find_identity(indim_padder *p, const indim_computation *combiner) {
  const indim_instr *root = combiner->root;
  indim_type type = root->shape->type;
  bool is_plain = indim_computation_single_op(combiner) != NULL && !indim_type_is_complex(type);
  bool has_infinities = type == INDIM_F16 || type == INDIM_BF16 || type == INDIM_F32 || type == INDIM_F64;
  if (!is_plain || (indim_type_is_float(type) && !has_infinities)) {
    return NULL;
  }
  switch ((int)root->op) {
  case INDIM_OP_ADD:
    return indim_type_is_float(type) ? indim_build_scalar(p->x.b, type, -0.0)
                                     : indim_build_scalar_int(p->x.b, type, 0);  // of preds it is or
  case INDIM_OP_MULTIPLY:
    return indim_build_scalar_int(p->x.b, type, 1);
  case INDIM_OP_MAXIMUM:
  case INDIM_OP_MINIMUM:
    return identity_of_extreme(p, type, root->op == INDIM_OP_MAXIMUM);
  case INDIM_OP_OR:
  case INDIM_OP_XOR:
    return indim_build_scalar_int(p->x.b, type, 0);
  case INDIM_OP_AND:
    return indim_build_scalar_int(p->x.b, type, type == INDIM_PRED ? 1 : -1);
  default:
    return NULL;
  }
}

// (accumulators, whether there are any, values, whether they count) -> the accumulators, combined with what counts.
static const indim_computation *make_combiner(indim_padder *p, const indim_instr *instr, int32_t n) {
  const indim_computation *old = indim_instr_computation(instr, INDIM_ATTR_TO_APPLY);
  const indim_computation *made = p->made[old->index];
  indim_shape flag;
  indim_build_fail(p->x.b, indim_shape_init(p->x.cx, INDIM_PRED, 0, NULL, &flag));
  value *all = indim_expand_values(&p->x, 4 * (int64_t)n + 4);
  value *results = indim_expand_values(&p->x, (int64_t)n + 1);
  indim_computation *outer = indim_padder_begin(p, "combine");
  for (int32_t k = 0; results != NULL && k < 2 * n + 2; k++) {
    int32_t of = k % (n + 1);
    all[k] = indim_padder_parameter(p, k, of == n ? &flag : old->parameters[of]->shape);
  }
  if (results != NULL && !indim_padder_failed(p)) {
    value *arguments = all + 2 * n + 2;
    for (int32_t k = 0; k < n; k++) {
      arguments[k] = all[k];
      arguments[n + k] = all[n + 1 + k];
    }
    value combined = indim_expand_call(&p->x, made, arguments, 2 * n);
    value *members = indim_padder_take_apart(p, combined, n, indim_shape_is_tuple(old->root->shape));
    for (int32_t k = 0; members != NULL && k < n; k++) {
      value with = indim_build_select(p->x.b, all[n], members[k], arguments[n + k]);
      results[k] = indim_build_select(p->x.b, all[2 * n + 1], with, all[k]);
    }
    results[n] = indim_build_binary(p->x.b, INDIM_OP_OR, all[n], all[2 * n + 1], NULL, 0);
  }
  return indim_padder_end(p, results == NULL ? NULL : indim_build_tuple(p->x.b, results, n + 1), outer);
}

// The fold of |n| arrays with a further one that says which elements count. Returns the results.
static value *fold_flagged(indim_padder *p, const indim_instr *instr, const indim_sized *operands, int32_t n,
                           value counts) {
  indim_attr *attrs = indim_padder_attrs(p, instr);
  const indim_computation *combiner = make_combiner(p, instr, n);
  value *all = indim_expand_values(&p->x, 2 * (int64_t)n + 2);
  if (all == NULL || attrs == NULL || combiner == NULL) {
    return NULL;
  }
  for (int32_t i = 0; i < instr->attr_count; i++) {
    if (attrs[i].id == INDIM_ATTR_TO_APPLY) {
      attrs[i] = indim_build_attr_computation(p->x.b, INDIM_ATTR_TO_APPLY, combiner);
    }
  }
  for (int32_t k = 0; k < n; k++) {
    all[k] = operands[k].data;
    all[n + 1 + k] = operands[n + k].data;
  }
  all[n] = counts;
  all[2 * n + 1] = indim_build_scalar_int(p->x.b, INDIM_PRED, 1);
  return indim_padder_take_apart(p, indim_build_emit(p->x.b, instr->op, NULL, all, 2 * n + 2, attrs, instr->attr_count),
                                 n, true);
}

// The fold over what counts, of which only |dims| matter.
static value *fold(indim_padder *p, const indim_instr *instr, indim_sized *operands, const indim_run_size *sizes,
                   uint64_t dims) {
  int32_t n = instr->operand_count / 2;
  const indim_shape *shape = instr->operands[0]->shape;
  value counts = indim_padder_counts(p, shape, sizes, dims);
  if (counts != NULL) {
    value identity = n > 1 ? NULL : find_identity(p, indim_instr_computation(instr, INDIM_ATTR_TO_APPLY));
    if (identity == NULL) {
      return fold_flagged(p, instr, operands, n, counts);
    }
    value fill = indim_expand_repeat(&p->x, identity, shape, NULL);
    operands[0].data = indim_build_select(p->x.b, counts, operands[0].data, fill);
  }
  value *all = indim_expand_values(&p->x, 2 * (int64_t)n);
  for (int32_t k = 0; all != NULL && k < 2 * n; k++) {
    all[k] = operands[k].data;
  }
  value result = all == NULL ? NULL : indim_padder_emit(p, instr, NULL, all, 2 * (int64_t)n);
  return indim_padder_take_apart(p, result, n, indim_shape_is_tuple(instr->shape));
}

indim_sized indim_dynamic_reduce(indim_padder *p, const indim_instr *instr, indim_sized *operands) {
  const indim_shape *shape = instr->operands[0]->shape;
  uint64_t reduced = indim_attr_mask(instr, INDIM_ATTR_DIMENSIONS);
  indim_run_size sizes[INDIM_MAX_RANK];
  indim_run_size kept[INDIM_MAX_RANK];
  int32_t rank = 0;
  indim_padder_least_sizes(p, instr, operands, instr->operand_count / 2, sizes);
  value *results = fold(p, instr, operands, sizes, reduced);
  for (int32_t d = 0; d < shape->rank; d++) {
    if ((reduced >> d & 1) == 0) {
      kept[rank++] = sizes[d];
    }
  }
  for (int32_t k = 0; results != NULL && k < instr->operand_count / 2; k++) {
    results[k] = indim_padder_clear(p, results[k], kept);
  }
  return indim_padder_results(p, instr, results, instr->operand_count / 2, kept);
}

indim_sized indim_dynamic_reduce_window(indim_padder *p, const indim_instr *instr, indim_sized *operands) {
  const indim_shape *shape = instr->operands[0]->shape;
  const indim_attr *window = indim_instr_attr(instr, INDIM_ATTR_WINDOW);
  int32_t n = instr->operand_count / 2;
  indim_run_size sizes[INDIM_MAX_RANK];
  indim_padder_least_sizes(p, instr, operands, n, sizes);
  value *results = fold(p, instr, operands, sizes, UINT64_MAX);
  for (int32_t d = 0; d < shape->rank; d++) {
    sizes[d] = indim_size_windows(p, sizes[d], &window->value.window[d]);
  }
  for (int32_t k = 0; results != NULL && k < n; k++) {
    results[k] = indim_padder_clear(p, results[k], sizes);
  }
  return indim_padder_results(p, instr, results, n, sizes);
}

// Sort -------------------------------------------------------------------------------------------------------------------

// What counts stands before what does not; among itself it is compared as before.
static const indim_computation *make_comparison(indim_padder *p, const indim_instr *instr, int32_t n) {
  const indim_computation *old = indim_instr_computation(instr, INDIM_ATTR_TO_APPLY);
  indim_shape flag;
  value result = NULL;
  indim_build_fail(p->x.b, indim_shape_init(p->x.cx, INDIM_PRED, 0, NULL, &flag));
  value *all = indim_expand_values(&p->x, 2 * (int64_t)n + 2);
  indim_computation *outer = indim_padder_begin(p, "compare");
  for (int32_t k = 0; all != NULL && k < 2 * n + 2; k++) {
    all[k] = indim_padder_parameter(p, k, k >= 2 * n ? &flag : old->parameters[k]->shape);
  }
  if (all != NULL && !indim_padder_failed(p)) {
    value is_less = indim_expand_call(&p->x, p->made[old->index], all, 2 * n);
    value right = indim_build_select(p->x.b, all[2 * n + 1], is_less, indim_build_scalar_int(p->x.b, INDIM_PRED, 1));
    result = indim_build_binary(p->x.b, INDIM_OP_AND, all[2 * n], right, NULL, 0);
  }
  return indim_padder_end(p, result, outer);
}

indim_sized indim_dynamic_sort(indim_padder *p, const indim_instr *instr, indim_sized *operands) {
  int64_t dims = 0;
  int64_t dim = indim_instr_ints(instr, INDIM_ATTR_DIMENSIONS, &dims)[0];
  int32_t n = instr->operand_count;
  indim_run_size sizes[INDIM_MAX_RANK];
  indim_padder_least_sizes(p, instr, operands, n, sizes);
  value counts = indim_padder_counts(p, instr->operands[0]->shape, sizes, UINT64_C(1) << dim);
  indim_attr *attrs = indim_padder_attrs(p, instr);
  value *all = indim_expand_values(&p->x, (int64_t)n + 1);
  for (int32_t k = 0; all != NULL && k < n; k++) {
    all[k] = operands[k].data;
  }
  if (all == NULL || attrs == NULL) {
    return (indim_sized){0};
  }
  if (counts != NULL) {
    const indim_computation *comparison = make_comparison(p, instr, n);
    for (int32_t i = 0; i < instr->attr_count; i++) {
      if (attrs[i].id == INDIM_ATTR_TO_APPLY) {
        attrs[i] = indim_build_attr_computation(p->x.b, INDIM_ATTR_TO_APPLY, comparison);
      }
    }
    all[n] = counts;
  }
  int32_t count = counts == NULL ? n : n + 1;
  value sorted = indim_build_emit(p->x.b, INDIM_OP_SORT, NULL, all, count, attrs, instr->attr_count);
  value *results = indim_padder_take_apart(p, sorted, n, count > 1);
  for (int32_t k = 0; results != NULL && k < n; k++) {
    results[k] = indim_padder_clear(p, results[k], sizes);
  }
  return indim_padder_results(p, instr, results, n, sizes);
}

// The element that no other comes after in topk's order, which is the total one of floats.
static value find_last(indim_padder *p, indim_type type, bool largest) {
  indim_shape scalar;
  indim_literal *literal = NULL;
  if (!indim_type_is_float(type)) {
    return identity_of_extreme(p, type, largest);
  }
  const indim_float_format *format = indim_float_format_of(type);
  int32_t bits = indim_type_bits(type);
  uint64_t all = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
  uint64_t least = !format->has_sign ? 0 : format->has_negative_zero ? all : format->sign_bit;
  indim_build_fail(p->x.b, indim_shape_init(p->x.cx, type, 0, NULL, &scalar));
  indim_build_fail(p->x.b, indim_padder_failed(p) ? INDIM_OK : indim_literal_create(p->x.cx, &scalar, &literal));
  if (literal == NULL) {
    return NULL;
  }
  indim_element element = {.bits = largest ? least : all & ~format->sign_bit};
  indim_element_store(type, 8 * indim_type_bytes(type), indim_literal_mutable_data(literal), 0, element);
  return indim_build_take_constant(p->x.b, literal);
}

// What does not count becomes an element that comes last; of equals the first is taken, and what counts stands first.
indim_sized indim_dynamic_topk(indim_padder *p, const indim_instr *instr, indim_sized *operands) {
  const indim_shape *shape = instr->operands[0]->shape;
  int32_t last = shape->rank - 1;
  indim_run_size sizes[INDIM_MAX_RANK];
  if (!indim_dim_is_dynamic(shape, last)) {
    return indim_dynamic_batch(p, instr, operands);
  }
  indim_padder_least_sizes(p, instr, operands, 1, sizes);
  value fill = find_last(p, shape->type, indim_instr_bool(instr, INDIM_ATTR_LARGEST, true));
  operands[0].data = indim_padder_mask(p, operands[0].data, sizes, UINT64_C(1) << last, fill);
  value *results = indim_padder_take_apart(p, indim_padder_emit_data(p, instr, operands), 2, true);
  sizes[last] = indim_size_least(p, sizes[last], indim_size_known(indim_instr_int(instr, INDIM_ATTR_K, 0)));
  for (int32_t k = 0; results != NULL && k < 2; k++) {
    results[k] = indim_padder_clear(p, results[k], sizes);
  }
  return indim_padder_results(p, instr, results, 2, sizes);
}

// Products ---------------------------------------------------------------------------------------------------------------

static const indim_attr_id contracting[] = {INDIM_ATTR_LHS_CONTRACTING_DIMS, INDIM_ATTR_RHS_CONTRACTING_DIMS};
static const indim_attr_id batch[] = {INDIM_ATTR_LHS_BATCH_DIMS, INDIM_ATTR_RHS_BATCH_DIMS};

// Dimensions that meet have the lesser size.
static void meet(indim_padder *p, indim_run_size *a, indim_run_size *b) { *a = *b = indim_size_least(p, *a, *b); }

static void meet_pairs(indim_padder *p, const indim_instr *instr, indim_run_size sizes[][INDIM_MAX_RANK]) {
  for (int kind = 0; kind < 2; kind++) {
    const indim_attr_id *ids = kind == 0 ? contracting : batch;
    int64_t count = 0;
    const int64_t *lhs = indim_instr_ints(instr, ids[0], &count);
    const int64_t *rhs = indim_instr_ints(instr, ids[1], &count);
    for (int64_t k = 0; k < count; k++) {
      meet(p, &sizes[0][lhs[k]], &sizes[1][rhs[k]]);
    }
  }
}

static void own_sizes(indim_padder *p, const indim_instr *instr, const indim_sized *operands, int32_t i,
                      indim_run_size *sizes) {
  indim_padder_least_sizes(p, &(indim_instr){.operands = &instr->operands[i]}, &operands[i], 1, sizes);
}

// The product where what is beyond the contracted sizes is 0 on both sides, as it may be infinite. |result| are the sizes, of which
// the first |rank| are known; |dropped| are dimensions of the right side that the result has not.
static indim_sized multiply(indim_padder *p, const indim_instr *instr, indim_sized *operands,
                            indim_run_size sizes[][INDIM_MAX_RANK], uint64_t dropped, int32_t rank,
                            indim_run_size *result) {
  int64_t count = 0;
  const int64_t *lhs = indim_instr_ints(instr, batch[0], &count);
  for (int64_t k = 0; k < count; k++) {
    result[rank++] = sizes[0][lhs[k]];
  }
  for (int32_t i = 0; i < 2; i++) {
    const indim_shape *shape = instr->operands[i]->shape;
    uint64_t met = indim_attr_mask(instr, contracting[i]);
    uint64_t taken = met | indim_attr_mask(instr, batch[i]) | (i == 1 ? dropped : 0);
    value zero = indim_build_scalar_int(p->x.b, shape->type, 0);
    operands[i].data = indim_padder_mask(p, operands[i].data, sizes[i], met, zero);
    for (int32_t d = 0; d < shape->rank; d++) {
      if ((taken >> d & 1) == 0) {
        result[rank++] = sizes[i][d];
      }
    }
  }
  value data = indim_padder_emit_data(p, instr, operands);
  return indim_padder_settle(p, instr->shape, indim_padder_clear(p, data, result), result);
}

indim_sized indim_dynamic_dot(indim_padder *p, const indim_instr *instr, indim_sized *operands) {
  indim_run_size sizes[2][INDIM_MAX_RANK];
  indim_run_size result[2 * INDIM_MAX_RANK];
  for (int32_t i = 0; i < 2; i++) {
    own_sizes(p, instr, operands, i, sizes[i]);
  }
  meet_pairs(p, instr, sizes);
  return multiply(p, instr, operands, sizes, 0, 0, result);
}

// As a dot. Groups that do not count have nothing.
indim_sized indim_dynamic_ragged_dot(indim_padder *p, const indim_instr *instr, indim_sized *operands) {
  indim_run_size sizes[3][INDIM_MAX_RANK];
  indim_run_size result[3 * INDIM_MAX_RANK];
  int64_t leading[INDIM_MAX_RANK];
  int64_t count = 0;
  const int64_t *group = indim_instr_ints(instr, INDIM_ATTR_RHS_GROUP_DIMS, &count);
  int64_t ragged = indim_instr_ints(instr, INDIM_ATTR_LHS_RAGGED_DIMS, &(int64_t){0})[0];
  bool contracts = (indim_attr_mask(instr, INDIM_ATTR_LHS_CONTRACTING_DIMS) >> ragged & 1) != 0;
  int32_t last = instr->operands[2]->shape->rank - 1;
  (void)indim_ragged_dot_leading(instr, leading);
  for (int32_t i = 0; i < 3; i++) {
    own_sizes(p, instr, operands, i, sizes[i]);
  }
  for (int pass = 0; pass < 2; pass++) {  // the least reaches all in two
    meet_pairs(p, instr, sizes);
    for (int32_t d = 0; d < last; d++) {
      meet(p, &sizes[2][d], &sizes[0][leading[d]]);
    }
    if (count > 0) {
      meet(p, &sizes[2][last], &sizes[1][group[0]]);
    }
  }
  value nothing = indim_build_scalar_int(p->x.b, instr->operands[2]->shape->type, 0);
  operands[2].data = indim_padder_mask(p, operands[2].data, sizes[2], UINT64_C(1) << last, nothing);
  result[0] = sizes[2][last];
  return multiply(p, instr, operands, sizes, count > 0 ? UINT64_C(1) << group[0] : 0, contracts ? 1 : 0, result);
}

// What is beyond is padding to the window, and nothing to the sum over the features.
indim_sized indim_dynamic_convolution(indim_padder *p, const indim_instr *instr, indim_sized *operands) {
  const indim_dim_labels *labels = indim_instr_attr(instr, INDIM_ATTR_DIM_LABELS)->value.dim_labels;
  const indim_attr *window = indim_instr_attr(instr, INDIM_ATTR_WINDOW);
  indim_run_size sizes[2][INDIM_MAX_RANK];
  indim_run_size result[INDIM_MAX_RANK];
  uint64_t met[2] = {UINT64_C(1) << labels->input_feature, UINT64_C(1) << labels->kernel_input};
  for (int32_t i = 0; i < 2; i++) {
    indim_padder_least_sizes(p, &(indim_instr){.operands = &instr->operands[i]}, &operands[i], 1, sizes[i]);
  }
  if (indim_instr_int(instr, INDIM_ATTR_FEATURE_GROUP_COUNT, 1) == 1) {
    indim_run_size features = indim_size_least(p, sizes[0][labels->input_feature], sizes[1][labels->kernel_input]);
    sizes[0][labels->input_feature] = sizes[1][labels->kernel_input] = features;
  }
  for (int32_t d = 0; d < instr->shape->rank; d++) {
    result[d] = indim_size_known(instr->shape->sizes[d]);
  }
  if (indim_instr_int(instr, INDIM_ATTR_BATCH_GROUP_COUNT, 1) == 1) {
    result[labels->output_batch] = sizes[0][labels->input_batch];
  }
  result[labels->output_feature] = sizes[1][labels->kernel_output];
  for (int32_t k = 0; k < labels->spatial_count; k++) {
    int32_t from = labels->input_spatial[k];
    met[0] |= UINT64_C(1) << from;
    result[labels->output_spatial[k]] = indim_size_windows(p, sizes[0][from], &window->value.window[k]);
  }
  for (int32_t i = 0; i < 2; i++) {
    value zero = indim_build_scalar_int(p->x.b, instr->operands[i]->shape->type, 0);
    operands[i].data = indim_padder_mask(p, operands[i].data, sizes[i], met[i], zero);
  }
  value data = indim_padder_emit_data(p, instr, operands);
  return indim_padder_settle(p, instr->shape, indim_padder_clear(p, data, result), result);
}
