// A matrix whose elements are contiguous is loaded as vectors of its elements; as many of these as such a vector has lanes, one from
// each of so many matrices, are transposed in registers and are then a vector for each element. Where a matrix has fewer elements
// than there are matrices, these are parts of the vectors. Other matrices are loaded element by element, with the stride of the batch.
#include "loop/linalg/blocks.h"

#include <string.h>

static int64_t count_of(const indim_matrix_array *a) { return a->array->sizes[0] * a->array->sizes[1]; }

static int64_t offset_of(const indim_matrix_array *a, int64_t element) {
  int64_t rows = a->array->sizes[0];
  return element % rows * a->row_stride + element / rows * a->column_stride;
}

// The side of the squares that are transposed: elements of one matrix, and matrices.
static int32_t square_of(const indim_matrix_code *c, int64_t count) {
  int32_t square = c->lanes;
  while (square > count) {
    square /= 2;
  }
  return square;
}

// Whether the elements of each matrix are contiguous, and so many that squares of them can be transposed: of up to four the strided
// loads do as much. |*out_order|: the element at each offset.
static bool is_contiguous(const indim_matrix_code *c, const indim_matrix_array *a, int64_t lane_stride,
                          int64_t **out_order) {
  enum { FEW = 4 };
  int64_t count = count_of(a);
  bool is_power = (c->lanes & (c->lanes - 1)) == 0;
  if (c->lanes == 1 || !is_power || (count < c->lanes && count <= FEW) || lane_stride < 2 ||
      c->lanes > INDIM_TRANSPOSE_LANES) {
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

// The next square begins |square| further on, the last one so that it ends with the matrix.
static int64_t next_square(int64_t at, int64_t count, int32_t square) {
  return at + square <= count - square || at == count - square ? at + square : count - square;
}

// Of so many matrices from lane |first| on, the elements in |*out|, by offset.
static void load_part(const indim_matrix_code *c, const indim_matrix_array *a, value batch, int64_t lane_stride,
                      int32_t square, int32_t first, value *out) {
  value rows[INDIM_TRANSPOSE_LANES];
  value columns[INDIM_TRANSPOSE_LANES];
  int64_t count = count_of(a);
  for (int64_t at = 0; at < count; at = next_square(at, count, square)) {
    for (int32_t k = 0; k < square; k++) {
      value address = indim_loop_add_const(c->b, batch, at + (first + k) * lane_stride);
      rows[k] = indim_loop_load(c->b, a->at->storage, address, square, 1);
    }
    indim_transpose_square(c->l, square, rows, columns);
    memcpy(out + at, columns, (size_t)square * sizeof *out);
  }
}

static void load_squares(const indim_matrix_code *c, const indim_matrix_array *a, value batch, int64_t lane_stride,
                         const int64_t *order, value *out) {
  int64_t count = count_of(a);
  int32_t square = square_of(c, count);
  int32_t parts = c->lanes / square;
  int32_t lanes_in_order[INDIM_TRANSPOSE_LANES];
  value some[INDIM_TRANSPOSE_LANES];
  value *all = indim_lower_alloc(c->l, parts * count, sizeof *all);
  for (int32_t part = 0; part < parts && all != NULL; part++) {
    load_part(c, a, batch, lane_stride, square, part * square, all + part * count);
  }
  for (int32_t k = 0; k < c->lanes; k++) {
    lanes_in_order[k] = k;
  }
  for (int64_t k = 0; k < count && all != NULL && !indim_lower_failed(c->l); k++) {
    for (int32_t part = 0; part < parts; part++) {
      some[part] = all[k + part * count];
    }
    out[order[k]] = indim_loop_shuffle(c->b, parts, some, c->lanes, lanes_in_order);
  }
}

static void store_squares(const indim_matrix_code *c, const indim_matrix_array *a, value batch, int64_t lane_stride,
                          const int64_t *order, const value *elements) {
  value rows[INDIM_TRANSPOSE_LANES];
  value columns[INDIM_TRANSPOSE_LANES];
  int32_t lanes_of_part[INDIM_TRANSPOSE_LANES];
  int64_t count = count_of(a);
  int32_t square = square_of(c, count);
  for (int32_t first = 0; first < c->lanes; first += square) {
    for (int32_t k = 0; k < square; k++) {
      lanes_of_part[k] = first + k;
    }
    for (int64_t at = 0; at < count && !indim_lower_failed(c->l); at = next_square(at, count, square)) {
      for (int32_t k = 0; k < square; k++) {
        columns[k] = indim_loop_shuffle(c->b, 1, &elements[order[at + k]], square, lanes_of_part);
      }
      indim_transpose_square(c->l, square, columns, rows);
      for (int32_t k = 0; k < square; k++) {
        value address = indim_loop_add_const(c->b, batch, at + (first + k) * lane_stride);
        indim_loop_store(c->b, a->at->storage, address, rows[k], 1, false);
      }
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
    out[k] = indim_loop_load(c->b, a->at->storage, address, c->lanes, c->lanes == 1 ? 1 : lane_stride);
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
    indim_loop_store(c->b, a->at->storage, address, elements[k], c->lanes == 1 ? 1 : lane_stride, false);
  }
}
