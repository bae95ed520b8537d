// Shape rules of what folds, orders or maps lines of elements with a called computation: reduce, scan, sort, topk, map.
#include <inttypes.h>

#include "graph/infer_kit.h"

indim_status indim_infer_reduce(indim_ctx *cx, const indim_instr *instr, indim_arena *arena, indim_shape *out_shape) {
  int32_t count = 0;
  INDIM_TRY(indim_folded_verify(cx, instr, &count));
  const indim_shape *input = indim_operand_shape(instr, 0);
  INDIM_TRY(indim_attr_verify_dims(cx, instr, INDIM_ATTR_DIMENSIONS, input, INDIM_DIMS_UNIQUE));
  INDIM_TRY(indim_combiner_verify(cx, instr, INDIM_ATTR_TO_APPLY, count, count, 0));
  int64_t reduced_count = 0;
  const int64_t *reduced = indim_instr_ints(instr, INDIM_ATTR_DIMENSIONS, &reduced_count);
  uint64_t mask = 0;
  for (int64_t i = 0; i < reduced_count; i++) {
    mask |= UINT64_C(1) << reduced[i];
  }
  indim_shape joined = *input;
  for (int32_t i = 1; i < count; i++) {
    indim_dims_join(&joined, indim_operand_shape(instr, i));
  }
  indim_shape kept = indim_shape_plain(INDIM_TOKEN);
  for (int32_t i = 0; i < joined.rank; i++) {
    if ((mask >> i & 1) == 0) {
      indim_dim_set(&kept, kept.rank++, joined.sizes[i], indim_dim_is_dynamic(&joined, i));
    }
  }
  return indim_folded_make(cx, instr, arena, &kept, out_shape);
}

// Scan ---------------------------------------------------------------------------------------------------------------

// The shape without dimension |dim|, or with that of |like| put in there.
static indim_status drop_dim(indim_ctx *cx, const indim_instr *instr, const indim_shape *shape, int32_t dim,
                             indim_shape *out_shape) {
  indim_shape kept = *shape;
  kept.dynamic = 0;
  kept.rank = 0;
  for (int32_t i = 0; i < shape->rank; i++) {
    if (i != dim) {
      indim_dim_set(&kept, kept.rank++, shape->sizes[i], indim_dim_is_dynamic(shape, i));
    }
  }
  return indim_instr_make_array(cx, instr, shape->type, kept.rank, kept.sizes, kept.dynamic, out_shape);
}

static indim_status insert_dim(indim_ctx *cx, const indim_instr *instr, const indim_shape *shape, int32_t dim,
                               const indim_shape *like, indim_shape *out_shape) {
  int64_t sizes[INDIM_MAX_RANK + 1];
  uint64_t dynamic = 0;
  for (int32_t i = 0, from = 0; i <= shape->rank; i++) {
    bool inserted = i == dim;
    sizes[i] = inserted ? like->sizes[dim] : shape->sizes[from];
    if (i < INDIM_MAX_RANK) {
      dynamic |= (uint64_t)(inserted ? indim_dim_is_dynamic(like, dim) : indim_dim_is_dynamic(shape, from)) << i;
    }
    from += !inserted;
  }
  return indim_instr_make_array(cx, instr, shape->type, shape->rank + 1, sizes, dynamic, out_shape);
}

// The result is what to_apply= returns: outputs, each with the scanned dimension put in, then the carries.
static indim_status make_scan(indim_ctx *cx, const indim_instr *instr, indim_arena *arena, int32_t dim,
                              int32_t carry_count, indim_shape *out_shape) {
  const indim_computation *called = indim_instr_computation(instr, INDIM_ATTR_TO_APPLY);
  const indim_shape *result = called->root->shape;
  indim_shape input = *indim_operand_shape(instr, 0);
  int32_t input_count = instr->operand_count - carry_count;
  bool is_tuple = result->type == INDIM_TUPLE;
  int64_t count = is_tuple ? result->member_count : 1;
  indim_shape_text text;
  for (int32_t i = 0; i < input_count; i++) {
    input.dynamic |= indim_operand_shape(instr, i)->dynamic & UINT64_C(1) << dim;
  }
  if (count < carry_count) {
    return indim_fail_attr(cx, instr, INDIM_ATTR_TO_APPLY, "to_apply=%s returns %s, expected %d carries at its end",
                           called->name.data, indim_shape_brief(result, &text), (int)carry_count);
  }
  void *memory = NULL;
  INDIM_TRY(indim_arena_array(arena, (size_t)count, sizeof(indim_shape), &memory));
  indim_shape *shapes = memory;
  INDIM_TRY(indim_arena_array(arena, (size_t)count, sizeof(indim_shape *), &memory));
  const indim_shape **members = memory;
  for (int64_t i = 0; i < count; i++) {
    const indim_shape *part = is_tuple ? result->members[i] : result;
    int64_t carry = i - (count - carry_count);
    if (carry >= 0) {
      int32_t operand = input_count + (int32_t)carry;
      indim_shape_text carry_text;
      if (!indim_shape_compatible(part, indim_operand_shape(instr, operand))) {
        return indim_fail_attr(
            cx, instr, INDIM_ATTR_TO_APPLY, "to_apply=%s returns %s as carry %" PRId64 ", but operand %d (%s) is %s",
            called->name.data, indim_shape_brief(part, &text), carry, (int)operand, indim_operand_name(instr, operand),
            indim_shape_brief(indim_operand_shape(instr, operand), &carry_text));
      }
      shapes[i] = *part;
    } else if (!indim_shape_is_array(part) || part->rank < dim) {
      return indim_fail_attr(cx, instr, INDIM_ATTR_TO_APPLY,
                             "to_apply=%s returns %s as output %" PRId64 ", expected an array of rank %d at least",
                             called->name.data, indim_shape_brief(part, &text), i, (int)dim);
    } else {
      INDIM_TRY(insert_dim(cx, instr, part, dim, &input, &shapes[i]));
    }
    members[i] = &shapes[i];
  }
  if (!is_tuple) {
    *out_shape = shapes[0];
    return INDIM_OK;
  }
  return indim_instr_make_tuple(cx, instr, arena, members, count, out_shape);
}

// Operands: the inputs, cut along the dimension, then num_carries= carries; to_apply= takes a cut of each, then the
// carries.
indim_status indim_infer_scan(indim_ctx *cx, const indim_instr *instr, indim_arena *arena, indim_shape *out_shape) {
  int64_t carries = indim_instr_int(instr, INDIM_ATTR_NUM_CARRIES, 0);
  if (carries < 0 || carries >= instr->operand_count) {
    return indim_fail_attr(cx, instr, INDIM_ATTR_NUM_CARRIES,
                           "num_carries=%" PRId64 " of %d operands leaves no input to scan", carries,
                           (int)instr->operand_count);
  }
  int32_t carry_count = (int32_t)carries;
  int32_t input_count = instr->operand_count - carry_count;
  const indim_computation *called = indim_instr_computation(instr, INDIM_ATTR_TO_APPLY);
  INDIM_TRY(indim_operands_verify_arrays(cx, instr, 0, instr->operand_count - 1));
  INDIM_TRY(indim_called_verify_count(cx, instr, INDIM_ATTR_TO_APPLY, called, instr->operand_count));
  int32_t dim = 0;
  const indim_shape *first = indim_operand_shape(instr, 0);
  for (int32_t i = 0; i < instr->operand_count; i++) {
    const indim_shape *operand = indim_operand_shape(instr, i);
    indim_shape cut = *operand;
    if (i < input_count) {
      INDIM_TRY(indim_attr_one_dim(cx, instr, INDIM_ATTR_DIMENSIONS, operand, &dim));
      if (!indim_size_fits(operand->sizes[dim], first->sizes[dim])) {
        indim_shape_text text;
        indim_shape_text first_text;
        return indim_fail_instr(
            cx, INDIM_INVALID, instr,
            "inputs of different length in dimension %d: operand 0 (%s) is %s, operand %d (%s) is %s", (int)dim,
            indim_operand_name(instr, 0), indim_shape_brief(first, &first_text), (int)i, indim_operand_name(instr, i),
            indim_shape_brief(operand, &text));
      }
      INDIM_TRY(drop_dim(cx, instr, operand, dim, &cut));
    }
    INDIM_TRY(indim_called_verify_parameter(cx, instr, INDIM_ATTR_TO_APPLY, called, i, &cut,
                                            i < input_count ? "a cut of the operand" : "the carry"));
  }
  return make_scan(cx, instr, arena, dim, carry_count, out_shape);
}

// Sort, topk, map ----------------------------------------------------------------------------------------------------

indim_status indim_infer_sort(indim_ctx *cx, const indim_instr *instr, indim_arena *arena, indim_shape *out_shape) {
  if (instr->operand_count == 0) {
    return indim_fail_instr(cx, INDIM_INVALID, instr, "has no operand, expected one array at least");
  }
  for (int32_t i = 0; i < instr->operand_count; i++) {
    INDIM_TRY(indim_operand_verify_array(cx, instr, i));
    INDIM_TRY(indim_operands_verify_same_dims(cx, instr, 0, i));
  }
  int32_t dim = 0;
  INDIM_TRY(indim_attr_one_dim(cx, instr, INDIM_ATTR_DIMENSIONS, indim_operand_shape(instr, 0), &dim));
  INDIM_TRY(indim_comparator_verify(cx, instr, INDIM_ATTR_TO_APPLY, instr->operand_count));
  if (instr->operand_count == 1) {
    *out_shape = *indim_operand_shape(instr, 0);
    return INDIM_OK;
  }
  return indim_infer_tuple(cx, instr, arena, out_shape);
}

indim_status indim_infer_topk(indim_ctx *cx, const indim_instr *instr, indim_arena *arena, indim_shape *out_shape) {
  INDIM_TRY(indim_operand_verify_array(cx, instr, 0));
  INDIM_TRY(indim_operand_verify_classes(cx, instr, 0, INDIM_CLASS_ANY & ~(unsigned)INDIM_CLASS_COMPLEX));
  const indim_shape *operand = indim_operand_shape(instr, 0);
  indim_shape_text text;
  indim_shape_brief(operand, &text);
  int32_t last = operand->rank - 1;
  int64_t k = indim_instr_int(instr, INDIM_ATTR_K, 0);
  if (last < 0) {
    return indim_fail_instr(cx, INDIM_INVALID, instr, "operand 0 (%s) is %s, expected rank 1 at least",
                            indim_operand_name(instr, 0), text.text);
  }
  if (k < 0 || (operand->sizes[last] != INDIM_UNBOUNDED && k > operand->sizes[last])) {
    indim_dim_text size;
    return indim_fail_attr(cx, instr, INDIM_ATTR_K,
                           "k=%" PRId64 ", expected 0 to %s, the last size of operand 0 (%s), which is %s", k,
                           indim_dim_brief(operand, last, &size), indim_operand_name(instr, 0), text.text);
  }
  void *memory = NULL;
  INDIM_TRY(indim_arena_array(arena, 2, sizeof(indim_shape), &memory));
  indim_shape *results = memory;
  indim_shape dims = *operand;
  indim_dim_set(&dims, last, k, false);
  INDIM_TRY(indim_instr_make_array(cx, instr, operand->type, dims.rank, dims.sizes, dims.dynamic, &results[0]));
  INDIM_TRY(indim_instr_make_array(cx, instr, INDIM_S32, dims.rank, dims.sizes, dims.dynamic, &results[1]));
  const indim_shape *members[] = {&results[0], &results[1]};
  return indim_instr_make_tuple(cx, instr, arena, members, 2, out_shape);
}

// dimensions= says nothing: it must be {0,1,...,rank-1}, or may be left out.
static indim_status verify_map_dims(indim_ctx *cx, const indim_instr *instr, const indim_shape *operand) {
  int64_t count = 0;
  const int64_t *dims = indim_instr_ints(instr, INDIM_ATTR_DIMENSIONS, &count);
  if (indim_instr_attr(instr, INDIM_ATTR_DIMENSIONS) == NULL) {
    return INDIM_OK;
  }
  bool all = count == operand->rank;
  for (int64_t i = 0; all && i < count; i++) {
    all = dims[i] == i;
  }
  if (!all) {
    indim_list_text list;
    indim_shape_text text;
    return indim_fail_attr(cx, instr, INDIM_ATTR_DIMENSIONS,
                           "dimensions=%s: map runs over all dimensions of %s, in their order",
                           indim_list_brief(dims, count, &list), indim_shape_brief(operand, &text));
  }
  return INDIM_OK;
}

indim_status indim_infer_map(indim_ctx *cx, const indim_instr *instr, indim_arena *arena, indim_shape *out_shape) {
  (void)arena;
  const indim_computation *called = indim_instr_computation(instr, INDIM_ATTR_TO_APPLY);
  indim_shape dims = *indim_operand_shape(instr, 0);
  for (int32_t i = 0; i < instr->operand_count; i++) {
    INDIM_TRY(indim_operand_verify_array(cx, instr, i));
    INDIM_TRY(indim_operands_verify_same_dims(cx, instr, 0, i));
    indim_dims_join(&dims, indim_operand_shape(instr, i));
  }
  INDIM_TRY(verify_map_dims(cx, instr, &dims));
  INDIM_TRY(indim_called_verify_count(cx, instr, INDIM_ATTR_TO_APPLY, called, instr->operand_count));
  for (int32_t i = 0; i < instr->operand_count; i++) {
    INDIM_TRY(indim_called_verify_scalar(cx, instr, INDIM_ATTR_TO_APPLY, called, i, i));
  }
  const indim_shape *result = called->root->shape;
  if (!indim_shape_is_scalar(result)) {
    indim_shape_text text;
    return indim_fail_attr(cx, instr, INDIM_ATTR_TO_APPLY, "to_apply=%s returns %s, expected a scalar",
                           called->name.data, indim_shape_brief(result, &text));
  }
  return indim_instr_make_array(cx, instr, result->type, dims.rank, dims.sizes, dims.dynamic, out_shape);
}
