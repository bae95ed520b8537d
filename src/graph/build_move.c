// Builder calls for shape and data movement, reductions, products, tuples and control flow. Shapes that HLO text must
// declare are computed here only where the arguments give them directly; the op's inference rule checks them.
#include <string.h>

#include "base/size.h"
#include "graph/build.h"

// A list argument of |count| entries must be there. False after an error.
static bool need(indim_builder *builder, const char *what, const void *list, int64_t count) {
  if (builder == NULL) {
    return false;
  }
  if (builder->status == INDIM_OK && list == NULL && count > 0) {
    indim_build_fail(
        builder, indim_fail(builder->cx, INDIM_INVALID, "%s: a list of %lld entries is NULL", what, (long long)count));
  }
  return builder->status == INDIM_OK;
}

// |sizes| as a shape of the operand's type with the default layout. False after an error.
static bool declare(indim_builder *builder, const indim_instr *operand, const int64_t *sizes, int32_t rank,
                    indim_shape *out_shape) {
  if (!need(builder, "sizes", sizes, rank)) {
    return false;
  }
  indim_build_fail(builder, indim_shape_init(builder->cx, operand->shape->type, rank, sizes, out_shape));
  return builder->status == INDIM_OK;
}

const indim_instr *indim_build_broadcast(indim_builder *builder, const indim_instr *operand, const int64_t *sizes,
                                         int32_t count) {
  int64_t all[INDIM_MAX_RANK];
  int64_t dims[INDIM_MAX_RANK];
  if (!indim_build_ready(builder, "broadcast", &operand, 1)) {
    return NULL;
  }
  int32_t rank = operand->shape->rank;
  if (!need(builder, "broadcast", sizes, count)) {
    return NULL;
  }
  if (count < 0 || count > INDIM_MAX_RANK - rank) {
    indim_build_fail(builder, indim_fail(builder->cx, INDIM_LIMIT, "broadcast: rank %d is above the limit of %d",
                                         count < 0 ? count : rank + count, INDIM_MAX_RANK));
    return NULL;
  }
  for (int32_t i = 0; i < count + rank; i++) {
    all[i] = i < count ? sizes[i] : operand->shape->sizes[i - count];
    dims[i] = count + i;
  }
  indim_shape shape;
  if (!declare(builder, operand, all, count + rank, &shape)) {
    return NULL;
  }
  shape.dynamic = count < 64 ? operand->shape->dynamic << count : 0;
  indim_attr attr = indim_build_attr_ints(builder, INDIM_ATTR_DIMENSIONS, dims, rank);
  return indim_build_emit(builder, INDIM_OP_BROADCAST, &shape, &operand, 1, &attr, 1);
}

// The checks of XLA, in its order.
static indim_status check_in_dim(indim_ctx *cx, const indim_shape *from, const indim_shape *to, const int64_t *dims,
                                 int32_t dim_count) {
  if (dim_count != from->rank) {
    return indim_fail(cx, INDIM_INVALID, "broadcast: %d dimensions for an operand of rank %d; give one for each",
                      dim_count, from->rank);
  }
  if (from->rank > to->rank) {
    return indim_fail(cx, INDIM_INVALID, "broadcast from rank %d to rank %d must be to an equal or higher ranked shape",
                      from->rank, to->rank);
  }
  for (int32_t i = 0; i < dim_count; i++) {
    if (dims[i] < 0 || dims[i] >= to->rank) {
      return indim_fail(cx, INDIM_INVALID, "broadcast: dimension number %lld is outside 0 to %d", (long long)dims[i],
                        to->rank - 1);
    }
    if (from->sizes[i] != to->sizes[dims[i]] && from->sizes[i] != 1) {
      return indim_fail(
          cx, INDIM_INVALID,
          "broadcast: size %lld of operand dimension %d is neither 1 nor size %lld of result dimension %lld",
          (long long)from->sizes[i], i, (long long)to->sizes[dims[i]], (long long)dims[i]);
    }
    if (indim_shape_is_dynamic_dim(from, i) != indim_shape_is_dynamic_dim(to, (int32_t)dims[i])) {
      return indim_fail(cx, INDIM_INVALID,
                        "broadcast: operand dimension %d and result dimension %lld must both be dynamic", i,
                        (long long)dims[i]);
    }
    if (i > 0 && dims[i] <= dims[i - 1]) {
      return indim_fail(cx, INDIM_INVALID, "broadcast: dimensions order is wrong: %lld comes after %lld",
                        (long long)dims[i], (long long)dims[i - 1]);
    }
  }
  return INDIM_OK;
}

const indim_instr *indim_build_broadcast_in_dim(indim_builder *builder, const indim_instr *operand,
                                                const int64_t *sizes, int32_t rank, const int64_t *dims,
                                                int32_t dim_count) {
  indim_shape shape;
  if (!indim_build_ready(builder, "broadcast", &operand, 1) || !declare(builder, operand, sizes, rank, &shape)) {
    return NULL;
  }
  if (!need(builder, "broadcast", dims, dim_count)) {
    return NULL;
  }
  indim_build_fail(builder, check_in_dim(builder->cx, operand->shape, &shape, dims, dim_count));
  return builder->status == INDIM_OK ? indim_build_expand(builder, operand, &shape, dims) : NULL;
}

const indim_instr *indim_build_reshape(indim_builder *builder, const indim_instr *operand, const int64_t *sizes,
                                       int32_t rank) {
  indim_shape shape;
  if (!indim_build_ready(builder, "reshape", &operand, 1) || !declare(builder, operand, sizes, rank, &shape)) {
    return NULL;
  }
  return indim_build_emit(builder, INDIM_OP_RESHAPE, &shape, &operand, 1, NULL, 0);
}

static const indim_instr *with_dims(indim_builder *builder, indim_op op, const indim_instr *operand,
                                    const int64_t *dims, int32_t count) {
  indim_attr attr = indim_build_attr_ints(builder, INDIM_ATTR_DIMENSIONS, dims, count);
  return indim_build_emit(builder, op, NULL, &operand, 1, &attr, 1);
}

const indim_instr *indim_build_transpose(indim_builder *builder, const indim_instr *operand, const int64_t *permutation,
                                         int32_t count) {
  return with_dims(builder, INDIM_OP_TRANSPOSE, operand, permutation, count);
}

const indim_instr *indim_build_reverse(indim_builder *builder, const indim_instr *operand, const int64_t *dims,
                                       int32_t count) {
  return with_dims(builder, INDIM_OP_REVERSE, operand, dims, count);
}

// |count| items of |size| bytes in the module. NULL after an error.
static void *module_array(indim_builder *builder, int64_t count, size_t size) {
  void *memory = NULL;
  if (builder->status == INDIM_OK) {
    indim_build_fail(builder, indim_arena_array(&builder->module->arena, (size_t)count, size, &memory));
  }
  return memory;
}

const indim_instr *indim_build_slice(indim_builder *builder, const indim_instr *operand, const int64_t *starts,
                                     const int64_t *limits, const int64_t *strides) {
  if (!indim_build_ready(builder, "slice", &operand, 1)) {
    return NULL;
  }
  indim_shape shape = *operand->shape;
  indim_slice_dim *slice = module_array(builder, shape.rank, sizeof *slice);
  if (slice == NULL || !need(builder, "slice", starts, shape.rank) || !need(builder, "slice", limits, shape.rank)) {
    return NULL;
  }
  for (int32_t d = 0; d < shape.rank; d++) {
    slice[d] = (indim_slice_dim){starts[d], limits[d], strides == NULL ? 1 : strides[d]};
    bool sound = slice[d].stride > 0 && slice[d].start >= 0 && slice[d].limit >= slice[d].start;
    shape.sizes[d] = sound ? indim_ceil_div(slice[d].limit - slice[d].start, slice[d].stride) : 0;
    shape.dynamic &= ~((uint64_t)(shape.sizes[d] == 1) << d);
  }
  indim_layout_init(shape.rank, &shape.layout);
  indim_attr attr = {.id = INDIM_ATTR_SLICE, .offset = INDIM_NO_OFFSET, .count = shape.rank, .value.slice = slice};
  return indim_build_emit(builder, INDIM_OP_SLICE, &shape, &operand, 1, &attr, 1);
}

// |first| operands, then one start per dimension of the first.
static const indim_instr *with_starts(indim_builder *builder, indim_op op, const indim_shape *declared,
                                      const indim_instr *const *first, int32_t first_count,
                                      const indim_instr *const *starts, const indim_attr *attrs, int64_t attr_count) {
  const indim_instr *operands[INDIM_MAX_RANK + 2];
  int32_t rank = first[0]->shape->rank;
  if (!need(builder, indim_op_get(op)->text, starts, rank)) {
    return NULL;
  }
  for (int32_t i = 0; i < first_count + rank; i++) {
    operands[i] = i < first_count ? first[i] : starts[i - first_count];
  }
  return indim_build_emit(builder, op, declared, operands, first_count + rank, attrs, attr_count);
}

const indim_instr *indim_build_dynamic_slice(indim_builder *builder, const indim_instr *operand,
                                             const indim_instr *const *starts, const int64_t *sizes) {
  if (!indim_build_ready(builder, "dynamic-slice", &operand, 1)) {
    return NULL;
  }
  indim_attr attr = indim_build_attr_ints(builder, INDIM_ATTR_DYNAMIC_SLICE_SIZES, sizes, operand->shape->rank);
  return with_starts(builder, INDIM_OP_DYNAMIC_SLICE, NULL, &operand, 1, starts, &attr, 1);
}

const indim_instr *indim_build_dynamic_update_slice(indim_builder *builder, const indim_instr *operand,
                                                    const indim_instr *update, const indim_instr *const *starts) {
  const indim_instr *first[] = {operand, update};
  if (!indim_build_ready(builder, "dynamic-update-slice", first, 2)) {
    return NULL;
  }
  return with_starts(builder, INDIM_OP_DYNAMIC_UPDATE_SLICE, operand->shape, first, 2, starts, NULL, 0);
}

const indim_instr *indim_build_pad(indim_builder *builder, const indim_instr *operand, const indim_instr *value,
                                   const int64_t *low, const int64_t *high, const int64_t *interior) {
  const indim_instr *operands[] = {operand, value};
  if (!indim_build_ready(builder, "pad", operands, 2)) {
    return NULL;
  }
  int32_t rank = operand->shape->rank;
  indim_padding_dim *padding = module_array(builder, rank, sizeof *padding);
  if (padding == NULL || !need(builder, "pad", low, rank) || !need(builder, "pad", high, rank)) {
    return NULL;
  }
  for (int32_t d = 0; d < rank; d++) {
    padding[d] = (indim_padding_dim){low[d], high[d], interior == NULL ? 0 : interior[d]};
  }
  indim_attr attr = {.id = INDIM_ATTR_PADDING, .offset = INDIM_NO_OFFSET, .count = rank, .value.padding = padding};
  return indim_build_emit(builder, INDIM_OP_PAD, NULL, operands, 2, &attr, 1);
}

const indim_instr *indim_build_concatenate(indim_builder *builder, const indim_instr *const *operands, int32_t count,
                                           int64_t dim) {
  indim_attr attr = indim_build_attr_ints(builder, INDIM_ATTR_DIMENSIONS, &dim, 1);
  return indim_build_emit(builder, INDIM_OP_CONCATENATE, NULL, operands, count, &attr, 1);
}

// Reductions and products ------------------------------------------------------------------------------------------

const indim_instr *indim_build_reduce(indim_builder *builder, const indim_instr *const *operands,
                                      const indim_instr *const *inits, int32_t count, const indim_computation *to_apply,
                                      const int64_t *dims, int32_t dim_count) {
  if (!indim_build_ready(builder, "reduce", operands, count) || !indim_build_ready(builder, "reduce", inits, count)) {
    return NULL;
  }
  indim_attr attrs[] = {indim_build_attr_ints(builder, INDIM_ATTR_DIMENSIONS, dims, dim_count),
                        indim_build_attr_computation(builder, INDIM_ATTR_TO_APPLY, to_apply)};
  const indim_instr **both = module_array(builder, 2 * (int64_t)count, sizeof *both);
  if (both == NULL) {
    return NULL;
  }
  for (int32_t i = 0; i < count; i++) {
    both[i] = operands[i];
    both[count + i] = inits[i];
  }
  return indim_build_emit(builder, INDIM_OP_REDUCE, NULL, both, 2 * (int64_t)count, attrs, 2);
}

const indim_instr *indim_build_map(indim_builder *builder, const indim_instr *const *operands, int32_t count,
                                   const indim_computation *to_apply) {
  if (!indim_build_ready(builder, "map", operands, count)) {
    return NULL;
  }
  int64_t dims[INDIM_MAX_RANK];
  for (int i = 0; i < INDIM_MAX_RANK; i++) {
    dims[i] = i;
  }
  int32_t rank = count > 0 ? operands[0]->shape->rank : 0;
  indim_attr attrs[] = {indim_build_attr_ints(builder, INDIM_ATTR_DIMENSIONS, dims, rank),
                        indim_build_attr_computation(builder, INDIM_ATTR_TO_APPLY, to_apply)};
  return indim_build_emit(builder, INDIM_OP_MAP, NULL, operands, count, attrs, 2);
}

const indim_instr *indim_build_dot(indim_builder *builder, const indim_instr *lhs, const indim_instr *rhs,
                                   const indim_dot_dims *dims) {
  const indim_instr *operands[] = {lhs, rhs};
  if (!need(builder, "dot", dims, 1)) {
    return NULL;
  }
  indim_attr attrs[] = {
      indim_build_attr_ints(builder, INDIM_ATTR_LHS_BATCH_DIMS, dims->lhs_batch, dims->batch_count),
      indim_build_attr_ints(builder, INDIM_ATTR_LHS_CONTRACTING_DIMS, dims->lhs_contracting, dims->contracting_count),
      indim_build_attr_ints(builder, INDIM_ATTR_RHS_BATCH_DIMS, dims->rhs_batch, dims->batch_count),
      indim_build_attr_ints(builder, INDIM_ATTR_RHS_CONTRACTING_DIMS, dims->rhs_contracting, dims->contracting_count)};
  return indim_build_emit(builder, INDIM_OP_DOT, NULL, operands, 2, attrs, 4);
}

// Tuples and control flow -------------------------------------------------------------------------------------------

const indim_instr *indim_build_tuple(indim_builder *builder, const indim_instr *const *operands, int32_t count) {
  return indim_build_emit(builder, INDIM_OP_TUPLE, NULL, operands, count, NULL, 0);
}

const indim_instr *indim_build_get_tuple_element(indim_builder *builder, const indim_instr *operand, int64_t index) {
  indim_attr attr = indim_build_attr_int(INDIM_ATTR_INDEX, index);
  return indim_build_emit(builder, INDIM_OP_GET_TUPLE_ELEMENT, NULL, &operand, 1, &attr, 1);
}

const indim_instr *indim_build_call(indim_builder *builder, const indim_computation *to_apply,
                                    const indim_instr *const *operands, int32_t count) {
  indim_attr attr = indim_build_attr_computation(builder, INDIM_ATTR_TO_APPLY, to_apply);
  return indim_build_emit(builder, INDIM_OP_CALL, NULL, operands, count, &attr, 1);
}

const indim_instr *indim_build_while(indim_builder *builder, const indim_computation *condition,
                                     const indim_computation *body, const indim_instr *init) {
  indim_attr attrs[] = {indim_build_attr_computation(builder, INDIM_ATTR_CONDITION, condition),
                        indim_build_attr_computation(builder, INDIM_ATTR_BODY, body)};
  return indim_build_emit(builder, INDIM_OP_WHILE, NULL, &init, 1, attrs, 2);
}

const indim_instr *indim_build_conditional(indim_builder *builder, const indim_instr *index,
                                           const indim_computation *const *branches, const indim_instr *const *operands,
                                           int32_t count) {
  if (!indim_build_ready(builder, "conditional", &index, 1) ||
      !indim_build_ready(builder, "conditional", operands, count) || !need(builder, "conditional", branches, count)) {
    return NULL;
  }
  const indim_instr **all = module_array(builder, (int64_t)count + 1, sizeof *all);
  indim_computation **targets = module_array(builder, count, sizeof *targets);
  if (builder->status != INDIM_OK) {
    return NULL;
  }
  all[0] = index;
  for (int32_t i = 0; i < count; i++) {
    indim_attr one = indim_build_attr_computation(builder, INDIM_ATTR_BRANCH_COMPUTATIONS, branches[i]);
    all[i + 1] = operands[i];
    targets[i] = one.count == 1 ? one.value.computations[0] : NULL;
  }
  bool two = index->shape->type == INDIM_PRED && count == 2;
  indim_attr attrs[] = {
      {.id = two ? INDIM_ATTR_TRUE_COMPUTATION : INDIM_ATTR_BRANCH_COMPUTATIONS,
       .offset = INDIM_NO_OFFSET,
       .count = two ? 1 : count,
       .value.computations = targets},
      {.id = INDIM_ATTR_FALSE_COMPUTATION, .offset = INDIM_NO_OFFSET, .count = 1, .value.computations = targets + 1}};
  return indim_build_emit(builder, INDIM_OP_CONDITIONAL, NULL, all, (int64_t)count + 1, attrs, two ? 2 : 1);
}
