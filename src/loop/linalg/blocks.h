// Loads of the matrices of a batch into lanes, and stores from them.
#ifndef INDIM_LOOP_LINALG_BLOCKS_H
#define INDIM_LOOP_LINALG_BLOCKS_H

#include "loop/linalg/code.h"
#include "loop/nest/element.h"

// An array of a call in memory. Of an array that all matrices share the strides of the batch are 0.
typedef struct indim_matrix_array {
  const indim_linalg_array *array;
  const indim_location *at;
  int64_t batch_strides[INDIM_MAX_RANK];  // of the batch's dimensions, as many as they were merged to
  int64_t row_stride, column_stride;
} indim_matrix_array;

// |batch|: the place of the first of |c->lanes| matrices; the others follow at |lane_stride|. Elements column by column.
void indim_block_load(const indim_matrix_code *c, const indim_matrix_array *a, value batch, int64_t lane_stride,
                      value *out);
void indim_block_store(const indim_matrix_code *c, const indim_matrix_array *a, value batch, int64_t lane_stride,
                       const value *elements);

#endif  // INDIM_LOOP_LINALG_BLOCKS_H
