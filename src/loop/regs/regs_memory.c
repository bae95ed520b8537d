// Loads and stores of register arrays. Contiguous elements are accessed as vectors: an array whose layout is not
// row-major is read or written in memory order and transposed in registers.
#include "loop/ir/build.h"
#include "loop/regs/regs_internal.h"

// The dimensions by decreasing stride, those of size 1 first.
static void find_order(const indim_shape *shape, const int64_t *strides, int32_t *perm) {
  int32_t ones = 0;
  int32_t count = 0;
  for (int32_t d = 0; d < shape->rank; d++) {
    ones += shape->sizes[d] == 1 ? 1 : 0;
  }
  for (int32_t d = 0, one = 0; d < shape->rank; d++) {
    if (shape->sizes[d] == 1) {
      perm[one++] = d;
      continue;
    }
    int32_t k = ones + count++;
    for (; k > ones && indim_index_abs(strides[perm[k - 1]]) < indim_index_abs(strides[d]); k--) {
      perm[k] = perm[k - 1];
    }
    perm[k] = d;
  }
}

// A register array's elements in memory order, and the offset of each.
typedef struct memory_order {
  int32_t perm[INDIM_MAX_RANK];
  int64_t sizes[INDIM_MAX_RANK];  // in the new order
  int32_t lanes;
  int32_t count;
  int64_t offsets[INDIM_REGS_ELEMENTS];
} memory_order;

static void plan_order(const indim_loop_builder *b, const indim_shape *shape, const int64_t *strides, memory_order *w) {
  int64_t index[INDIM_MAX_RANK] = {0};
  find_order(shape, strides, w->perm);
  for (int32_t k = 0; k < shape->rank; k++) {
    w->sizes[k] = shape->sizes[w->perm[k]];
  }
  w->count = (int32_t)indim_shape_element_count(shape);
  w->lanes = w->count <= INDIM_REGS_SCALARS ? 1 : indim_regs_row_lanes(&b->program->target, shape->rank, w->sizes);
  for (int32_t e = 0; e < w->count; e++) {
    w->offsets[e] = 0;
    for (int32_t k = 0; k < shape->rank; k++) {
      w->offsets[e] += index[k] * strides[w->perm[k]];
    }
    for (int32_t k = shape->rank - 1; k >= 0 && ++index[k] == w->sizes[k]; k--) {
      index[k] = 0;
    }
  }
}

// The number of elements from |first| on, below |end|, with a constant stride.
static int32_t run_length(const memory_order *w, int32_t first, int32_t end) {
  int32_t last = first + 1;
  while (last + 1 < end && w->offsets[last + 1] - w->offsets[last] == w->offsets[first + 1] - w->offsets[first]) {
    last++;
  }
  return last < end ? last + 1 - first : 1;
}

static int64_t run_stride(const memory_order *w, int32_t first, int32_t lanes) {
  return lanes == 1 ? 1 : w->offsets[first + 1] - w->offsets[first];
}

void indim_regs_load(indim_loop_builder *b, const indim_shape *shape, indim_storage *storage, indim_value_id address,
                     const int64_t *strides, indim_regs *out) {
  memory_order w;
  indim_regs_pool read = {.type = shape->type};
  indim_regs_pool transposed;
  int32_t inverse[INDIM_MAX_RANK];
  *out = (indim_regs){.shape = shape};
  if (b->status != INDIM_OK) {
    return;
  }
  plan_order(b, shape, strides, &w);
  for (int32_t row = 0; row < w.count; row += w.lanes) {
    for (int32_t e = row; e < row + w.lanes;) {
      int32_t lanes = run_length(&w, e, row + w.lanes);
      int64_t stride = run_stride(&w, e, lanes);
      indim_value_id from = indim_loop_add_const(b, address, w.offsets[e]);
      indim_value_id value = stride == 0 ? indim_loop_splat(b, indim_loop_load(b, storage, from, 1, 1), lanes)
                                         : indim_loop_load(b, storage, from, lanes, stride);
      indim_pool_add_value(value, lanes, &read);
      e += lanes;
    }
  }
  for (int32_t k = 0; k < shape->rank; k++) {
    inverse[w.perm[k]] = k;
  }
  indim_pool_transpose(b, &read, shape->rank, w.sizes, inverse, indim_regs_lanes(&b->program->target, shape),
                       &transposed);
  indim_pool_deal(b, &transposed, NULL, shape, out);
}

void indim_regs_store(indim_loop_builder *b, const indim_regs *regs, indim_storage *storage, indim_value_id address,
                      const int64_t *strides) {
  memory_order w;
  const indim_shape *shape = regs->shape;
  indim_regs_pool pool = {.type = shape->type};
  indim_regs_pool transposed;
  if (b->status != INDIM_OK) {
    return;
  }
  plan_order(b, shape, strides, &w);
  indim_pool_add(regs, &pool);
  indim_pool_transpose(b, &pool, shape->rank, shape->sizes, w.perm, w.lanes, &transposed);
  for (int32_t row = 0; row < w.count; row += w.lanes) {
    for (int32_t e = row; e < row + w.lanes && b->status == INDIM_OK;) {
      int32_t map[INDIM_REGS_ELEMENTS];
      int32_t lanes = run_length(&w, e, row + w.lanes);
      int64_t stride = run_stride(&w, e, lanes);
      for (int32_t k = 0; k < lanes; k++) {
        map[k] = e + k;
      }
      indim_value_id value = indim_pool_pick(b, &transposed, lanes, map);
      indim_loop_store(b, storage, indim_loop_add_const(b, address, w.offsets[e]), value, stride, false);
      e += lanes;
    }
  }
}
