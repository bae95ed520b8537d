// Ops on register arrays that only move elements: each maps an element of the result to an element number among the
// concatenated operands. Shuffles are made from these maps (regs_pool.c).
#include "loop/regs/regs_internal.h"

// Maps each element of a result with |sizes| to the source element at |offset| + sum of index[d] * strides[d].
static void fill_strided(int32_t rank, const int64_t *sizes, int64_t offset, const int64_t *strides, int32_t *map) {
  int64_t index[INDIM_MAX_RANK] = {0};
  int64_t from = offset;
  for (int32_t e = 0;; e++) {
    map[e] = (int32_t)from;
    int32_t d = rank - 1;
    for (; d >= 0; d--) {
      from += strides[d];
      if (++index[d] < sizes[d]) {
        break;
      }
      from -= sizes[d] * strides[d];
      index[d] = 0;
    }
    if (d < 0) {
      return;
    }
  }
}

static void dense_strides(const indim_shape *shape, int64_t *out_strides) {
  int64_t stride = 1;
  for (int32_t d = shape->rank - 1; d >= 0; d--) {
    out_strides[d] = stride;
    stride *= shape->sizes[d];
  }
}

// out[o] = x[i], i[k] = o[dimensions[k]]
static void map_broadcast(const indim_instr *instr, int32_t *map) {
  int64_t dense[INDIM_MAX_RANK];
  int64_t strides[INDIM_MAX_RANK] = {0};
  int64_t count = 0;
  const int64_t *dims = indim_instr_ints(instr, INDIM_ATTR_DIMENSIONS, &count);
  dense_strides(instr->operands[0]->shape, dense);
  for (int64_t k = 0; k < count; k++) {
    strides[dims[k]] = dense[k];
  }
  fill_strided(instr->shape->rank, instr->shape->sizes, 0, strides, map);
}

static void map_reverse(const indim_instr *instr, int32_t *map) {
  int64_t strides[INDIM_MAX_RANK];
  int64_t offset = 0;
  int64_t count = 0;
  const int64_t *dims = indim_instr_ints(instr, INDIM_ATTR_DIMENSIONS, &count);
  dense_strides(instr->shape, strides);
  for (int64_t k = 0; k < count; k++) {
    offset += (instr->shape->sizes[dims[k]] - 1) * strides[dims[k]];
    strides[dims[k]] = -strides[dims[k]];
  }
  fill_strided(instr->shape->rank, instr->shape->sizes, offset, strides, map);
}

static void map_slice(const indim_instr *instr, int32_t *map) {
  int64_t strides[INDIM_MAX_RANK];
  int64_t offset = 0;
  const indim_attr *attr = indim_instr_attr(instr, INDIM_ATTR_SLICE);
  dense_strides(instr->operands[0]->shape, strides);
  for (int64_t d = 0; attr != NULL && d < attr->count; d++) {
    offset += attr->value.slice[d].start * strides[d];
    strides[d] *= attr->value.slice[d].stride;
  }
  fill_strided(instr->shape->rank, instr->shape->sizes, offset, strides, map);
}

// Element i of the operand moves to low + i * (interior + 1); the rest is the padding value, which follows the
// operand's elements in the pool.
static void map_pad(const indim_instr *instr, int32_t *map) {
  const indim_shape *from = instr->operands[0]->shape;
  const indim_padding_dim *padding = indim_instr_attr(instr, INDIM_ATTR_PADDING)->value.padding;
  int32_t fill = (int32_t)indim_shape_element_count(from);
  int64_t strides[INDIM_MAX_RANK];
  int64_t index[INDIM_MAX_RANK] = {0};
  dense_strides(from, strides);
  int32_t e = 0;
  do {
    int64_t source = 0;
    for (int32_t d = 0; d < from->rank && source >= 0; d++) {
      int64_t at = index[d] - padding[d].low;
      int64_t step = padding[d].interior + 1;
      bool inside = at >= 0 && at % step == 0 && at / step < from->sizes[d];
      source = inside ? source + at / step * strides[d] : -1;
    }
    map[e++] = source < 0 ? fill : (int32_t)source;
  } while (indim_index_next(instr->shape, index));
}

static void map_concatenate(const indim_instr *instr, int32_t *map) {
  int64_t count = 0;
  int64_t dim = indim_instr_ints(instr, INDIM_ATTR_DIMENSIONS, &count)[0];
  int64_t inner = 1;  // elements per index of the dimension
  for (int32_t d = (int32_t)dim + 1; d < instr->shape->rank; d++) {
    inner *= instr->shape->sizes[d];
  }
  int64_t block = instr->shape->sizes[dim] * inner;
  int32_t from = 0;
  int64_t at = 0;
  for (int32_t i = 0; i < instr->operand_count; i++) {
    int64_t own = instr->operands[i]->shape->sizes[dim] * inner;
    int64_t elements = indim_shape_element_count(instr->operands[i]->shape);
    for (int64_t k = 0; k < elements; k++) {
      map[k / own * block + at + k % own] = from++;
    }
    at += own;
  }
}

// Maps each element of the result to the operand's element at the same address, for dense layouts.
static void map_bitcast(const indim_instr *instr, int32_t *map) {
  const indim_shape *from = instr->operands[0]->shape;
  int32_t at_address[INDIM_REGS_ELEMENTS];
  int64_t strides[INDIM_MAX_RANK];
  int64_t index[INDIM_MAX_RANK] = {0};
  int32_t e = 0;
  for (int32_t side = 0; side < 2; side++) {
    const indim_shape *shape = side == 0 ? from : instr->shape;
    int64_t stride = 1;
    for (int32_t i = 0; i < shape->rank; i++) {
      int64_t d = shape->has_layout ? shape->layout.minor_to_major[i] : shape->rank - 1 - i;
      strides[d] = stride;
      stride *= shape->sizes[d];
    }
    e = 0;
    do {
      int64_t address = 0;
      for (int32_t d = 0; d < shape->rank; d++) {
        address += index[d] * strides[d];
      }
      if (side == 0) {
        at_address[address] = e++;
      } else {
        map[e++] = at_address[address];
      }
    } while (indim_index_next(shape, index));
  }
}

static void transpose(indim_loop_builder *b, const indim_instr *instr, const indim_regs_pool *pool, indim_regs *out) {
  int32_t perm[INDIM_MAX_RANK];
  int64_t count = 0;
  indim_regs_pool moved;
  const int64_t *dims = indim_instr_ints(instr, INDIM_ATTR_DIMENSIONS, &count);
  for (int64_t k = 0; k < count; k++) {
    perm[k] = (int32_t)dims[k];
  }
  const indim_shape *from = instr->operands[0]->shape;
  int32_t lanes = indim_regs_lanes(&b->program->target, instr->shape);
  indim_pool_transpose(b, pool, from->rank, from->sizes, perm, lanes, &moved);
  indim_pool_deal(b, &moved, NULL, instr->shape, out);
}

void indim_regs_move(indim_loop_builder *b, const indim_instr *instr, const indim_regs *operands, indim_regs *out) {
  indim_regs_pool pool = {.type = instr->operands[0]->shape->type};
  int32_t map[INDIM_REGS_ELEMENTS];
  for (int32_t i = 0; i < instr->operand_count; i++) {
    indim_pool_add(&operands[i], &pool);
  }
  if (instr->op == INDIM_OP_TRANSPOSE) {
    transpose(b, instr, &pool, out);
    return;
  }
  if (instr->op == INDIM_OP_RESHAPE) {
    indim_pool_deal(b, &pool, NULL, instr->shape, out);
    return;
  }
  if (instr->op == INDIM_OP_BROADCAST) {
    map_broadcast(instr, map);
  } else if (instr->op == INDIM_OP_REVERSE) {
    map_reverse(instr, map);
  } else if (instr->op == INDIM_OP_SLICE) {
    map_slice(instr, map);
  } else if (instr->op == INDIM_OP_PAD) {
    map_pad(instr, map);
  } else if (instr->op == INDIM_OP_CONCATENATE) {
    map_concatenate(instr, map);
  } else {
    map_bitcast(instr, map);
  }
  indim_pool_deal(b, &pool, map, instr->shape, out);
}
