// A matrix whose elements are contiguous is loaded as vectors of its elements; as many of these as it has lanes, one from each
// matrix, are transposed in registers and are then a vector for each element. Others are loaded element by element, with the
// stride of the batch.
#include "loop/linalg/blocks.h"

static int64_t count_of(const indim_matrix_array *a) { return a->array->sizes[0] * a->array->sizes[1]; }

static int64_t offset_of(const indim_matrix_array *a, int64_t element) {
  int64_t rows = a->array->sizes[0];
  return element % rows * a->row_stride + element / rows * a->column_stride;
}

// Whether the elements of each matrix are contiguous and at least as many as the lanes, so that squares can be transposed.
// |*out_order|: the element at each offset.
static bool is_contiguous(const indim_matrix_code *c, const indim_matrix_array *a, int64_t lane_stride,
                          int64_t **out_order) {
  int64_t count = count_of(a);
  bool is_power = (c->lanes & (c->lanes - 1)) == 0;
  if (c->lanes == 1 || !is_power || count < c->lanes || lane_stride < 2 || c->lanes > INDIM_TRANSPOSE_LANES) {
    return false;
  }
  int64_t *order = indim_lower_alloc(c->l, count, sizeof *order);
  for (int64_t k = 0; k < count && order != NULL; k++) {
    order[k] = -1;
  }
  for (int64_t k = 0; k < count && order != NULL; k++) {
    int64_t offset = offset_of(a, k);
    if (offset < 0 || offset >= count || order[offset] >= 0) {
      return false;
    }
    order[offset] = k;
  }
  *out_order = order;
  return order != NULL;
}

// The next square begins |lanes| further on, the last one so that it ends with the matrix.
static int64_t next_square(int64_t at, int64_t count, int32_t lanes) {
  return at + lanes <= count - lanes || at == count - lanes ? at + lanes : count - lanes;
}

static void load_squares(const indim_matrix_code *c, const indim_matrix_array *a, value batch, int64_t lane_stride,
                         const int64_t *order, value *out) {
  value rows[INDIM_TRANSPOSE_LANES];
  value columns[INDIM_TRANSPOSE_LANES];
  int64_t count = count_of(a);
  for (int64_t at = 0; at < count; at = next_square(at, count, c->lanes)) {
    for (int32_t k = 0; k < c->lanes; k++) {
      value address = indim_loop_add_const(c->b, batch, at + k * lane_stride);
      rows[k] = indim_loop_load(c->b, a->at->storage, address, c->lanes, 1);
    }
    indim_transpose_square(c->l, c->lanes, rows, columns);
    for (int32_t k = 0; k < c->lanes; k++) {
      out[order[at + k]] = columns[k];
    }
  }
}

static void store_squares(const indim_matrix_code *c, const indim_matrix_array *a, value batch, int64_t lane_stride,
                          const int64_t *order, const value *elements) {
  value rows[INDIM_TRANSPOSE_LANES];
  value columns[INDIM_TRANSPOSE_LANES];
  int64_t count = count_of(a);
  for (int64_t at = 0; at < count; at = next_square(at, count, c->lanes)) {
    for (int32_t k = 0; k < c->lanes; k++) {
      columns[k] = elements[order[at + k]];
    }
    indim_transpose_square(c->l, c->lanes, columns, rows);
    for (int32_t k = 0; k < c->lanes; k++) {
      value address = indim_loop_add_const(c->b, batch, at + k * lane_stride);
      indim_loop_store(c->b, a->at->storage, address, rows[k], 1, false);
    }
  }
}

void indim_block_load(const indim_matrix_code *c, const indim_matrix_array *a, value batch, int64_t lane_stride,
                      value *out) {
  int64_t *order = NULL;
  if (is_contiguous(c, a, lane_stride, &order)) {
    load_squares(c, a, batch, lane_stride, order, out);
    return;
  }
  for (int64_t k = 0; k < count_of(a) && !indim_lower_failed(c->l); k++) {
    value address = indim_loop_add_const(c->b, batch, offset_of(a, k));
    out[k] = indim_loop_load(c->b, a->at->storage, address, c->lanes, c->lanes == 1 ? 1 : (int32_t)lane_stride);
  }
}

void indim_block_store(const indim_matrix_code *c, const indim_matrix_array *a, value batch, int64_t lane_stride,
                       const value *elements) {
  int64_t *order = NULL;
  if (is_contiguous(c, a, lane_stride, &order)) {
    store_squares(c, a, batch, lane_stride, order, elements);
    return;
  }
  for (int64_t k = 0; k < count_of(a) && !indim_lower_failed(c->l); k++) {
    value address = indim_loop_add_const(c->b, batch, offset_of(a, k));
    indim_loop_store(c->b, a->at->storage, address, elements[k], c->lanes == 1 ? 1 : (int32_t)lane_stride, false);
  }
}
