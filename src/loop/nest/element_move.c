// The ops that move elements, each as the index at which its operand is read: broadcast, transpose, slice, reverse and
// reshape map coordinates, pad and concatenate select by them, dynamic-slice and gather add starts read from operands.
#include <string.h>

#include "array/element.h"
#include "loop/nest/element.h"

// A scalar operand.
static indim_value_id scalar_of(indim_element_ctx *k, indim_flow_item *item) {
  return indim_value_at(k, item, NULL, 0);
}

static indim_value_id copy(indim_element_ctx *k, indim_flow_item *item, const indim_coord *index, indim_value_id mask) {
  return indim_value_at(k, item->operands[0], index, mask);
}

static indim_value_id broadcast(indim_element_ctx *k, indim_flow_item *item, const indim_coord *index,
                                indim_value_id mask) {
  indim_coord inner[INDIM_MAX_RANK];
  int64_t count = 0;
  const int64_t *dims = indim_instr_ints(item->instr, INDIM_ATTR_DIMENSIONS, &count);
  for (int64_t d = 0; d < count; d++) {
    inner[d] = index[dims[d]];
  }
  return indim_value_at(k, item->operands[0], inner, mask);
}

static indim_value_id transpose(indim_element_ctx *k, indim_flow_item *item, const indim_coord *index,
                                indim_value_id mask) {
  indim_coord inner[INDIM_MAX_RANK];
  int64_t count = 0;
  const int64_t *dims = indim_instr_ints(item->instr, INDIM_ATTR_DIMENSIONS, &count);
  for (int64_t d = 0; d < count; d++) {
    inner[dims[d]] = index[d];
  }
  return indim_value_at(k, item->operands[0], inner, mask);
}

static indim_value_id slice(indim_element_ctx *k, indim_flow_item *item, const indim_coord *index,
                            indim_value_id mask) {
  indim_coord inner[INDIM_MAX_RANK];
  const indim_attr *attr = indim_instr_attr(item->instr, INDIM_ATTR_SLICE);
  for (int32_t d = 0; d < item->shape->rank; d++) {
    inner[d] = indim_coord_scale(k, index[d], attr->value.slice[d].stride, attr->value.slice[d].start);
  }
  return indim_value_at(k, item->operands[0], inner, mask);
}

static indim_value_id reverse(indim_element_ctx *k, indim_flow_item *item, const indim_coord *index,
                              indim_value_id mask) {
  indim_coord inner[INDIM_MAX_RANK];
  memcpy(inner, index, (size_t)item->shape->rank * sizeof *inner);
  int64_t count = 0;
  const int64_t *dims = indim_instr_ints(item->instr, INDIM_ATTR_DIMENSIONS, &count);
  for (int64_t i = 0; i < count; i++) {
    inner[dims[i]] = indim_coord_scale(k, index[dims[i]], -1, item->shape->sizes[dims[i]] - 1);
  }
  return indim_value_at(k, item->operands[0], inner, mask);
}

// Dimension |position| of a shape from the most minor: in layout order if |in_memory|, else in logical order.
static int32_t minor_dim(const indim_shape *shape, int32_t position, bool in_memory) {
  return in_memory && shape->has_layout ? (int32_t)shape->layout.minor_to_major[position] : shape->rank - 1 - position;
}

// Of an array without elements none is read, whichever the program names: |inner| has a coordinate that is in no range of such a
// dimension.
static void reach_nothing(indim_element_ctx *k, const indim_shape *to, const indim_coord *index,
                          const indim_shape *from, indim_coord *inner) {
  int32_t empty = 0;
  while (to->sizes[empty] != 0) {
    empty++;
  }
  for (int32_t d = 0; d < from->rank; d++) {
    inner[d] = from->sizes[d] == 0 ? index[empty] : indim_coord_const(k, 0);
  }
}

// Whether the |count| dimensions of a shape from |position| on follow each other in memory in all that |item| is read from, so that
// the innermost can have the index of all.
static bool lie_in_order(const indim_flow_item *item, int32_t position, int32_t count, bool in_memory, int depth) {
  enum { MOST = 4 };
  const indim_location *at = &item->place;
  if (at->storage != NULL && !item->has_regs) {
    bool lie = at->tiled == NULL && at->packed_bits == 0;
    for (int32_t p = position; p + 1 < position + count && lie; p++) {
      int32_t inner = minor_dim(item->shape, p, in_memory);
      lie = at->strides[minor_dim(item->shape, p + 1, in_memory)] == at->strides[inner] * item->shape->sizes[inner];
    }
    return lie;
  }
  if (item->placement != INDIM_PLACEMENT_INLINE || item->kind != INDIM_FLOW_OP || depth > MOST || in_memory) {
    return false;
  }
  if (indim_flow_is_op(item, INDIM_OP_BROADCAST)) {
    return item->operands[0]->shape->rank == 0;
  }
  bool lie = indim_element_move_of(item->instr) == NULL && indim_loop_can_instr(item->instr) && item->operand_count > 0;
  for (int32_t i = 0; i < item->operand_count && lie; i++) {
    lie = item->operands[i]->shape->rank == item->shape->rank &&
          lie_in_order(item->operands[i], position, count, in_memory, depth + 1);
  }
  return lie;
}

// reshape linearizes in row-major order, bitcast in the order of both layouts. From the minor end, dimensions of equal
// size map one to one; other groups go through a linear index.
static indim_value_id reshape(indim_element_ctx *k, indim_flow_item *item, const indim_coord *index,
                              indim_value_id mask) {
  bool in_memory = item->instr->op == INDIM_OP_BITCAST;
  const indim_shape *to = item->shape;
  const indim_shape *from = item->operands[0]->shape;
  indim_coord inner[INDIM_MAX_RANK];
  int32_t i = 0;
  int32_t j = 0;
  if (indim_shape_element_count(to) == 0) {
    reach_nothing(k, to, index, from, inner);
    return indim_value_at(k, item->operands[0], inner, mask);
  }
  while (i < to->rank || j < from->rank) {
    int32_t td = i < to->rank ? minor_dim(to, i, in_memory) : -1;
    int32_t fd = j < from->rank ? minor_dim(from, j, in_memory) : -1;
    if (td >= 0 && to->sizes[td] == 1 && (fd < 0 || from->sizes[fd] != 1)) {
      i++;
      continue;
    }
    if (fd >= 0 && from->sizes[fd] == 1 && (td < 0 || to->sizes[td] != 1)) {
      inner[fd] = indim_coord_const(k, 0);
      j++;
      continue;
    }
    if (td < 0 || fd < 0) {
      indim_loop_fail(&k->l->b, INDIM_INTERNAL);
      return 0;
    }
    if (to->sizes[td] == from->sizes[fd]) {
      inner[fd] = index[td];
      i++;
      j++;
      continue;
    }
    // The smallest groups of dimensions on both sides with equal products.
    int64_t to_size = to->sizes[td];
    int64_t from_size = from->sizes[fd];
    indim_coord linear = index[td];
    int32_t first = j;
    i++;
    j++;
    while (to_size != from_size) {
      if (to_size < from_size && i < to->rank) {
        int32_t d = minor_dim(to, i++, in_memory);
        linear = indim_coord_add(k, linear, indim_coord_scale(k, index[d], to_size, 0));
        to_size *= to->sizes[d];
      } else if (j < from->rank) {
        from_size *= from->sizes[minor_dim(from, j++, in_memory)];
      } else {
        indim_loop_fail(&k->l->b, INDIM_INTERNAL);
        return 0;
      }
    }
    if (j > first + 1 && lie_in_order(item->operands[0], first, j - first, in_memory, 0)) {
      for (int32_t p = first; p < j; p++) {
        inner[minor_dim(from, p, in_memory)] = p == first ? linear : indim_coord_const(k, 0);
      }
      continue;
    }
    for (int32_t p = first; p < j; p++) {
      int32_t d = minor_dim(from, p, in_memory);
      if (p + 1 == j) {
        inner[d] = linear;
      } else {
        indim_coord_divide(k, linear, from->sizes[d], &linear, &inner[d]);
      }
    }
  }
  return indim_value_at(k, item->operands[0], inner, mask);
}

// The coordinate itself. base + step * lane is computed in the result's type, or in s32 for a float, instead of s64:
// the sum wraps as the conversion does.
static indim_value_id iota(indim_element_ctx *k, indim_flow_item *item, const indim_coord *index, indim_value_id mask) {
  (void)mask;
  indim_loop_builder *b = &k->l->b;
  int64_t dim = indim_instr_int(item->instr, INDIM_ATTR_IOTA_DIMENSION, 0);
  indim_coord x = index[dim];
  indim_type type = item->shape->type;
  indim_access_note_value_use(k->l, x);
  if (!indim_coord_has_lanes(k, x)) {
    return indim_loop_convert(b, x.base, type);
  }
  bool is_float = !indim_type_is_integral(type) && item->shape->sizes[dim] <= INT32_MAX;
  if (indim_coord_value_lanes(k, x.base) > 1 || k->lanes > 256 || (!indim_type_is_integral(type) && !is_float)) {
    return indim_loop_convert(b, indim_coord_lanes(k, x), type);
  }
  indim_type iota_type = is_float ? INDIM_S32 : type;
  return indim_loop_convert(b, indim_coord_lanes_as(k, x, iota_type), type);
}

static indim_value_id dynamic_slice(indim_element_ctx *k, indim_flow_item *item, const indim_coord *index,
                                    indim_value_id mask) {
  indim_coord inner[INDIM_MAX_RANK];
  const indim_shape *from = item->operands[0]->shape;
  for (int32_t d = 0; d < from->rank; d++) {
    indim_value_id start =
        indim_clamp_start(k, item->operands, item->operand_count, 1, d, from->sizes[d] - item->shape->sizes[d]);
    inner[d] = indim_coord_add(k, index[d], (indim_coord){start, 0});
  }
  return indim_value_at(k, item->operands[0], inner, mask);
}

indim_value_id indim_clamp_start(indim_element_ctx *k, indim_flow_item **operands, int32_t operand_count, int32_t first,
                                 int32_t d, int64_t most) {
  indim_loop_builder *b = &k->l->b;
  indim_value_id start = 0;
  if (most == 0) {
    return indim_loop_index(b, 0);
  }
  if (operand_count == first + 1 && operands[first]->shape->rank == 1) {  // the old form: one array of starts
    indim_coord position = indim_coord_const(k, d);
    start = indim_value_at(k, operands[first], &position, 0);
  } else {
    start = scalar_of(k, operands[first + d]);
  }
  return indim_loop_clamp_index(b, start, 0, most);
}

// The operand's element that maps to |index|, else the padding value.
static indim_value_id pad(indim_element_ctx *k, indim_flow_item *item, const indim_coord *index, indim_value_id mask) {
  indim_coord inner[INDIM_MAX_RANK];
  const indim_attr *attr = indim_instr_attr(item->instr, INDIM_ATTR_PADDING);
  indim_flow_item *operand = item->operands[0];
  indim_value_id guard = 0;
  indim_value_id value = scalar_of(k, item->operands[1]);
  for (int32_t d = 0; d < item->shape->rank; d++) {
    const indim_padding_dim *p = &attr->value.padding[d];
    int64_t size = operand->shape->sizes[d];
    if (size == 0) {
      return value;
    }
    bool never = false;
    indim_coord x = indim_coord_scale(k, index[d], 1, -p->low);
    if (p->low <= 0 && p->high <= 0 && p->interior == 0) {
      inner[d] = x;  // no guard: the index may be that of collapsed dimensions
      continue;
    }
    guard = indim_mask_and(k, guard, indim_coord_guard(k, x, 0, (size - 1) * (p->interior + 1), &never));
    if (never) {
      return value;
    }
    inner[d] = size == 1 ? indim_coord_const(k, 0) : x;  // where the guard holds
    if (p->interior > 0 && size > 1) {
      indim_coord rest;
      indim_coord_divide(k, x, p->interior + 1, &inner[d], &rest);
      guard = indim_mask_and(k, guard, indim_coord_guard(k, rest, 0, 0, &never));
      if (never) {
        return value;
      }
    }
  }
  if (guard == 0) {
    return indim_value_at(k, operand, inner, mask);
  }
  return indim_select_lanes(k, guard, indim_value_at(k, operand, inner, indim_mask_and(k, mask, guard)), value);
}

static indim_value_id concatenate(indim_element_ctx *k, indim_flow_item *item, const indim_coord *index,
                                  indim_value_id mask) {
  int64_t count = 0;
  int64_t dim = *indim_instr_ints(item->instr, INDIM_ATTR_DIMENSIONS, &count);
  indim_coord inner[INDIM_MAX_RANK];
  memcpy(inner, index, (size_t)item->shape->rank * sizeof *inner);
  indim_value_id result = 0;
  int64_t at = 0;
  for (int32_t i = 0; i < item->operand_count; i++) {
    int64_t size = item->operands[i]->shape->sizes[dim];
    if (size == 0) {
      continue;
    }
    if (size == item->shape->sizes[dim]) {
      return indim_value_at(k, item->operands[i], index, mask);  // the others are empty
    }
    bool never = false;
    indim_value_id guard = indim_coord_guard(k, index[dim], at, at + size - 1, &never);
    if (!never) {
      // Where the guard holds; a lane's step along one element would be that of a gather.
      inner[dim] = size == 1 ? indim_coord_const(k, 0) : indim_coord_scale(k, index[dim], 1, -at);
      indim_value_id value = indim_value_at(k, item->operands[i], inner, indim_mask_and(k, mask, guard));
      result = result == 0 || guard == 0 ? value : indim_select_lanes(k, guard, value, result);
    }
    at += size;
  }
  return result;
}

// The start indices at the result's batch coordinates, clamped, plus the result's offset coordinates.
static indim_value_id gather(indim_element_ctx *k, indim_flow_item *item, const indim_coord *index,
                             indim_value_id mask) {
  const indim_instr *instr = item->instr;
  const indim_shape *from = item->operands[0]->shape;
  const indim_shape *indices = item->operands[1]->shape;
  int64_t offset_count = 0, collapsed_count = 0, map_count = 0, batching_count = 0, size_count = 0;
  const int64_t *offsets = indim_instr_ints(instr, INDIM_ATTR_OFFSET_DIMS, &offset_count);
  const int64_t *collapsed = indim_instr_ints(instr, INDIM_ATTR_COLLAPSED_SLICE_DIMS, &collapsed_count);
  const int64_t *map = indim_instr_ints(instr, INDIM_ATTR_START_INDEX_MAP, &map_count);
  const int64_t *batching = indim_instr_ints(instr, INDIM_ATTR_OPERAND_BATCHING_DIMS, &batching_count);
  const int64_t *indices_batching = indim_instr_ints(instr, INDIM_ATTR_START_INDICES_BATCHING_DIMS, &batching_count);
  const int64_t *sizes = indim_instr_ints(instr, INDIM_ATTR_SLICE_SIZES, &size_count);
  int64_t vector_dim = indim_instr_int(instr, INDIM_ATTR_INDEX_VECTOR_DIM, 0);
  indim_coord start_index[INDIM_MAX_RANK];
  indim_coord inner[INDIM_MAX_RANK];
  int32_t batch = 0;
  for (int32_t d = 0; d < item->shape->rank; d++) {
    if (!indim_list_has(offsets, offset_count, d)) {
      batch += batch == vector_dim ? 1 : 0;
      start_index[batch++] = index[d];
    }
  }
  int64_t window = 0;
  for (int32_t d = 0; d < from->rank; d++) {
    bool is_window = !indim_list_has(collapsed, collapsed_count, d) && !indim_list_has(batching, batching_count, d);
    inner[d] = is_window ? index[offsets[window++]] : indim_coord_const(k, 0);
  }
  for (int64_t i = 0; i < batching_count; i++) {
    inner[batching[i]] = start_index[indices_batching[i]];
  }
  for (int64_t i = 0; i < map_count; i++) {
    if (vector_dim < indices->rank) {
      start_index[vector_dim] = indim_coord_const(k, i);
    }
    indim_value_id start = indim_value_at(k, item->operands[1], start_index, mask);
    start = indim_loop_clamp_index(&k->l->b, start, 0, from->sizes[map[i]] - sizes[map[i]]);
    inner[map[i]] = indim_coord_add(k, inner[map[i]], (indim_coord){start, 0});
  }
  return indim_value_at(k, item->operands[0], inner, mask);
}

indim_element_move *indim_element_move_of(const indim_instr *instr) {
  static indim_element_move *const moves[INDIM_OP_COUNT] = {
      [INDIM_OP_BROADCAST] = broadcast,
      [INDIM_OP_TRANSPOSE] = transpose,
      [INDIM_OP_SLICE] = slice,
      [INDIM_OP_REVERSE] = reverse,
      [INDIM_OP_RESHAPE] = reshape,
      [INDIM_OP_BITCAST] = reshape,
      [INDIM_OP_COPY] = copy,
      [INDIM_OP_IOTA] = iota,
      [INDIM_OP_PAD] = pad,
      [INDIM_OP_CONCATENATE] = concatenate,
      [INDIM_OP_DYNAMIC_SLICE] = dynamic_slice,
      [INDIM_OP_GATHER] = gather,
  };
  bool is_recast = instr->op == INDIM_OP_BITCAST && !indim_recast_is_move(instr);
  return is_recast ? NULL : moves[instr->op];
}
