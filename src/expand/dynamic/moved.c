// Ops that move what counts to its place among what counts: reverse, concatenate, pad, reshapes. What is behind is 0.
#include "expand/dynamic/padder.h"
#include "graph/dynamic.h"
#include "graph/infer_kit.h"

static void sizes_of(const indim_instr *instr, const indim_sized *operands, int32_t i, indim_run_size *sizes) {
  const indim_shape *shape = instr->operands[i]->shape;
  for (int32_t d = 0; d < shape->rank; d++) {
    sizes[d] = indim_size_of(&operands[i], shape, d);
  }
}

static indim_sized finish(indim_padder *p, const indim_instr *instr, value data, const indim_run_size *sizes) {
  return indim_padder_settle(p, instr->shape, indim_padder_clear(p, data, sizes), sizes);
}

// What counts stands at the end of a reversed dimension, from bound - size on: zeros are put behind, and it is taken from there.
indim_sized indim_dynamic_reverse(indim_padder *p, const indim_instr *instr, indim_sized *operands) {
  const indim_shape *shape = instr->shape;
  uint64_t reversed = indim_attr_mask(instr, INDIM_ATTR_DIMENSIONS);
  value data = indim_padder_emit_data(p, instr, operands);
  value starts[INDIM_MAX_RANK];
  int64_t low[INDIM_MAX_RANK] = {0};
  int64_t high[INDIM_MAX_RANK] = {0};
  indim_run_size sizes[INDIM_MAX_RANK];
  bool moves = false;
  sizes_of(instr, operands, 0, sizes);
  for (int32_t d = 0; d < shape->rank; d++) {
    indim_run_size start = indim_size_known(0);
    if ((reversed >> d & 1) != 0 && indim_size_is_cut(sizes[d], shape->sizes[d])) {
      start = indim_size_op(p, INDIM_OP_SUBTRACT, indim_size_known(shape->sizes[d]), sizes[d]);
      high[d] = shape->sizes[d];
      moves = true;
    }
    starts[d] = indim_size_scalar(p, start, INDIM_S64);
  }
  if (moves) {
    data = indim_build_pad(p->x.b, data, indim_build_scalar_int(p->x.b, shape->type, 0), low, high, NULL);
    data = indim_build_dynamic_slice(p->x.b, data, starts, shape->sizes);
  }
  return finish(p, instr, data, sizes);
}

// Each operand is written where the one before it ends, over what of that does not count.
static value place_one_behind_another(indim_padder *p, const indim_instr *instr, const indim_sized *operands,
                                      int64_t dim, indim_run_size *out_size) {
  value starts[INDIM_MAX_RANK];
  indim_run_size end = indim_size_known(0);
  value zero = indim_build_scalar_int(p->x.b, INDIM_S64, 0);
  value data = indim_expand_repeat(&p->x, indim_build_scalar_int(p->x.b, instr->shape->type, 0), instr->shape, NULL);
  for (int32_t i = 0; i < instr->operand_count && !indim_padder_failed(p); i++) {
    for (int32_t d = 0; d < instr->shape->rank; d++) {
      starts[d] = d == dim ? indim_size_scalar(p, end, INDIM_S64) : zero;
    }
    data = indim_build_dynamic_update_slice(p->x.b, data, operands[i].data, starts);
    end = indim_size_op(p, INDIM_OP_ADD, end, indim_size_of(&operands[i], instr->operands[i]->shape, (int32_t)dim));
  }
  *out_size = end;
  return data;
}

indim_sized indim_dynamic_concatenate(indim_padder *p, const indim_instr *instr, indim_sized *operands) {
  int64_t count = 0;
  int64_t dim = indim_instr_ints(instr, INDIM_ATTR_DIMENSIONS, &count)[0];
  indim_run_size sizes[INDIM_MAX_RANK];
  bool moves = false;
  sizes_of(instr, operands, 0, sizes);
  for (int32_t i = 0; i < instr->operand_count; i++) {
    const indim_shape *shape = instr->operands[i]->shape;
    for (int32_t d = 0; d < shape->rank; d++) {
      indim_run_size size = indim_size_of(&operands[i], shape, d);
      sizes[d] = d == dim ? sizes[d] : indim_size_least(p, sizes[d], size);
      moves = moves || (d == dim && i + 1 < instr->operand_count && indim_size_is_cut(size, shape->sizes[d]));
    }
  }
  if (moves) {
    value data = place_one_behind_another(p, instr, operands, dim, &sizes[dim]);
    return finish(p, instr, data, sizes);
  }
  indim_run_size end = indim_size_known(0);
  for (int32_t i = 0; i < instr->operand_count; i++) {
    end = indim_size_op(p, INDIM_OP_ADD, end, indim_size_of(&operands[i], instr->operands[i]->shape, (int32_t)dim));
  }
  sizes[dim] = end;
  return finish(p, instr, indim_padder_emit_data(p, instr, operands), sizes);
}

// Of a dimension. Negative padding takes away no more than there is.
static indim_run_size padded_size(indim_padder *p, indim_run_size size, int64_t bound, int32_t dim,
                                  const indim_padding_dim *padding) {
  bool is_cut = indim_size_is_cut(size, bound);
  size = indim_size_dilated(p, size, padding->interior + 1);
  size = indim_size_op(p, INDIM_OP_ADD, size, indim_size_known(padding->low + padding->high));
  if (is_cut && padding->low + padding->high < 0) {
    value zero = indim_build_scalar_int(p->x.b, INDIM_S64, 0);
    value is_fine = indim_padder_compare(p, indim_size_scalar(p, size, INDIM_S64), zero, "GE");
    indim_padder_check(p, is_fine, INDIM_INVALID, &size, 1, "the padding leaves \1 elements along dimension %d",
                       (int)dim);
  }
  return size;
}

// What does not count becomes the padding, which then stands where it should.
indim_sized indim_dynamic_pad(indim_padder *p, const indim_instr *instr, indim_sized *operands) {
  const indim_shape *shape = instr->operands[0]->shape;
  const indim_padding_dim *padding = indim_instr_attr(instr, INDIM_ATTR_PADDING)->value.padding;
  indim_run_size sizes[INDIM_MAX_RANK];
  sizes_of(instr, operands, 0, sizes);
  operands[0].data = indim_padder_mask(p, operands[0].data, sizes, UINT64_MAX, operands[1].data);
  for (int32_t d = 0; d < shape->rank; d++) {
    sizes[d] = padded_size(p, sizes[d], shape->sizes[d], d, &padding[d]);
  }
  return finish(p, instr, indim_padder_emit_data(p, instr, operands), sizes);
}

// Reshapes ---------------------------------------------------------------------------------------------------------------

static indim_run_size product(indim_padder *p, const indim_run_size *sizes, int32_t begin, int32_t end) {
  indim_run_size count = indim_size_known(1);
  for (int32_t d = begin; d < end; d++) {
    count = indim_size_op(p, INDIM_OP_MULTIPLY, count, sizes[d]);
  }
  return count;
}

// Whether the elements that count of dimensions begin to end lie one after another, those of |bound| after each other too.
static bool is_prefix(const indim_shape *bound, const indim_run_size *sizes, int32_t begin, int32_t end) {
  while (begin < end && bound->sizes[begin] == 1 && !indim_size_is_cut(sizes[begin], 1)) {
    begin++;
  }
  for (int32_t d = begin + 1; d < end; d++) {
    if (indim_size_is_cut(sizes[d], bound->sizes[d])) {
      return false;
    }
  }
  return true;
}

// Dimensions begin to end of the result have |count| elements: the one dynamic one of them has what the others leave.
static void divide_up(indim_padder *p, const indim_instr *instr, indim_run_size count, int64_t bound_count,
                      int32_t begin, int32_t end, indim_run_size *sizes) {
  const indim_shape *bound = instr->shape;
  int32_t open = -1;
  int32_t dynamic = 0;
  int64_t others = 1;
  for (int32_t d = begin; d < end; d++) {
    bool is_open = indim_dim_is_dynamic(bound, d);
    sizes[d] = indim_size_known(bound->sizes[d]);
    others *= is_open ? 1 : bound->sizes[d];
    open = is_open ? d : open;
    dynamic += is_open ? 1 : 0;
  }
  if (!indim_size_is_cut(count, bound_count)) {
    return;
  }
  value wide = indim_size_scalar(p, count, INDIM_S64);
  value is_fine = indim_padder_compare(p, wide, indim_build_scalar_int(p->x.b, INDIM_S64, bound_count), "EQ");
  if (dynamic == 1) {
    indim_run_size rest = indim_size_op(p, INDIM_OP_REMAINDER, count, indim_size_known(others));
    value is_even = indim_padder_compare(p, indim_size_scalar(p, rest, INDIM_S64),
                                         indim_build_scalar_int(p->x.b, INDIM_S64, 0), "EQ");
    is_fine = others == 1 ? NULL : indim_build_binary(p->x.b, INDIM_OP_OR, is_fine, is_even, NULL, 0);
    sizes[open] = indim_size_op(p, INDIM_OP_DIVIDE, count, indim_size_known(others));
  }
  if (is_fine != NULL) {
    indim_padder_check(p, is_fine, INDIM_INVALID, &count, 1,
                       "\1 elements when the program runs cannot be dealt out to the result's %d dimension%s",
                       (int)(end - begin), end - begin == 1 ? "" : "s");
  }
}

// Dimensions on both sides are taken in groups with equally many elements by their bounds. Returns whether what counts lies
// at the same places in row-major order before and after.
static bool reshape_sizes(indim_padder *p, const indim_instr *instr, const indim_run_size *counts,
                          indim_run_size *sizes) {
  const indim_shape *from = instr->operands[0]->shape;
  const indim_shape *to = instr->shape;
  bool stays = true;
  indim_reshape_group g = {0};
  while (!indim_padder_failed(p) && indim_reshape_group_next(from, to, &g)) {
    divide_up(p, instr, product(p, counts, g.first_from, g.from), g.count, g.first_to, g.to, sizes);
    stays = stays && is_prefix(from, counts, g.first_from, g.from) && is_prefix(to, sizes, g.first_to, g.to);
  }
  return stays;
}

// The sizes that the operands of a dynamic-reshape say. Returns whether nothing moves.
static bool stated_sizes(indim_padder *p, const indim_instr *instr, const indim_sized *operands,
                         const indim_run_size *counts, indim_run_size *sizes) {
  const indim_shape *from = instr->operands[0]->shape;
  const indim_shape *to = instr->shape;
  for (int32_t d = 0; d < to->rank && !indim_padder_failed(p); d++) {
    const indim_instr *size = instr->operands[1 + d];
    int64_t number = 0;
    bool is_known =
        size->op == INDIM_OP_CONSTANT && indim_literal_get_int(p->x.cx, size->literal, NULL, &number) == INDIM_OK;
    sizes[d] = is_known ? indim_size_known(number)
                        : (indim_run_size){.scalar = indim_expand_convert(&p->x, operands[1 + d].data, INDIM_S64)};
    indim_padder_check_size(p, sizes[d], d, to->sizes[d]);
  }
  const indim_run_size both[] = {product(p, sizes, 0, to->rank), product(p, counts, 0, from->rank)};
  value is_same =
      indim_padder_compare(p, indim_size_scalar(p, both[0], INDIM_S64), indim_size_scalar(p, both[1], INDIM_S64), "EQ");
  indim_padder_check(p, is_same, INDIM_INVALID, both, 2, "the sizes hold \1 elements, and operand 0 has \1");
  return is_prefix(from, counts, 0, from->rank) && is_prefix(to, sizes, 0, to->rank);
}

static value at_least_one(indim_padder *p, indim_run_size size, indim_type type) {
  return indim_size_scalar(p, indim_size_op(p, INDIM_OP_MAXIMUM, size, indim_size_known(1)), type);
}

static value combine(indim_padder *p, indim_op op, value array, value scalar) {
  value other = array == NULL || scalar == NULL ? NULL : indim_expand_repeat(&p->x, scalar, array->shape, NULL);
  return indim_build_binary(p->x.b, op, array, other, NULL, 0);
}

// Each place of the result reads the element of the same number among those that count.
static value deal_out(indim_padder *p, const indim_instr *instr, value operand, const indim_run_size *counts,
                      const indim_run_size *sizes) {
  const indim_shape *from = instr->operands[0]->shape;
  const indim_shape *to = instr->shape;
  int64_t elements = indim_shape_element_count(to);
  indim_type type = elements <= INT32_MAX ? INDIM_S32 : INDIM_S64;
  indim_shape index;
  indim_build_fail(p->x.b, indim_shape_init(p->x.cx, type, to->rank, to->sizes, &index));
  value zero = indim_build_scalar_int(p->x.b, type, 0);
  value number = indim_padder_failed(p) ? NULL : indim_expand_repeat(&p->x, zero, &index, NULL);
  for (int32_t d = 0; d < to->rank && !indim_padder_failed(p); d++) {
    number = combine(p, INDIM_OP_MULTIPLY, number, indim_size_scalar(p, sizes[d], type));
    number = indim_build_binary(p->x.b, INDIM_OP_ADD, number, indim_build_iota(p->x.b, &index, d), NULL, 0);
  }
  value place = indim_padder_failed(p) ? NULL : indim_expand_repeat(&p->x, zero, &index, NULL);
  int64_t stride = 1;
  for (int32_t d = from->rank - 1; d >= 0 && !indim_padder_failed(p); d--) {
    value size = at_least_one(p, counts[d], type);
    value along = d == 0 ? number : combine(p, INDIM_OP_REMAINDER, number, size);
    along = combine(p, INDIM_OP_MULTIPLY, along, indim_build_scalar_int(p->x.b, type, stride));
    place = indim_build_binary(p->x.b, INDIM_OP_ADD, place, along, NULL, 0);
    number = combine(p, INDIM_OP_DIVIDE, number, size);
    stride *= from->sizes[d];
  }
  const int64_t one = 1;
  const int64_t first = 0;
  value flat = indim_build_reshape(p->x.b, operand, &elements, 1);
  value starts = indim_build_reshape(p->x.b, place, &elements, 1);
  const indim_attr attrs[] = {indim_build_attr_ints(p->x.b, INDIM_ATTR_OFFSET_DIMS, NULL, 0),
                              indim_build_attr_ints(p->x.b, INDIM_ATTR_COLLAPSED_SLICE_DIMS, &first, 1),
                              indim_build_attr_ints(p->x.b, INDIM_ATTR_START_INDEX_MAP, &first, 1),
                              indim_build_attr_int(INDIM_ATTR_INDEX_VECTOR_DIM, 1),
                              indim_build_attr_ints(p->x.b, INDIM_ATTR_SLICE_SIZES, &one, 1)};
  const value both[] = {flat, starts};
  value moved = indim_build_emit(p->x.b, INDIM_OP_GATHER, NULL, both, 2, attrs, 5);
  return indim_build_reshape(p->x.b, moved, to->sizes, to->rank);
}

indim_sized indim_dynamic_reshape(indim_padder *p, const indim_instr *instr, indim_sized *operands) {
  const indim_shape *to = instr->shape;
  indim_run_size counts[INDIM_MAX_RANK];
  indim_run_size sizes[INDIM_MAX_RANK];
  bool is_empty = indim_shape_element_count(to) == 0;
  bool stays = true;
  sizes_of(instr, operands, 0, counts);
  for (int32_t d = 0; d < to->rank; d++) {
    sizes[d] = indim_size_known(to->sizes[d]);
  }
  if (instr->op == INDIM_OP_DYNAMIC_RESHAPE) {
    stays = stated_sizes(p, instr, operands, counts, sizes) || is_empty;
  } else if (!is_empty) {  // else any sizes will do
    stays = reshape_sizes(p, instr, counts, sizes);
  }
  value data = stays ? indim_build_reshape(p->x.b, operands[0].data, to->sizes, to->rank)
                     : deal_out(p, instr, operands[0].data, counts, sizes);
  return finish(p, instr, data, sizes);
}
