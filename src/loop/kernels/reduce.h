// What the files of reduce share: reduce.c chooses and runs the output's loops, reduce_rows.c folds along the reduced
// dimension, reduce_bands.c folds whole rows of columns, and one long row in pieces.
#ifndef INDIM_LOOP_REDUCE_H
#define INDIM_LOOP_REDUCE_H

#include "loop/kernels/kernels.h"

enum { INDIM_REDUCE_ROWS = 4 };  // at most so many rows are folded side by side; a power of two

typedef struct indim_reduction {
  indim_lowering *l;
  indim_flow_item *item;
  int32_t n;  // inputs and results
  indim_flow_item **inputs, **inits;
  const indim_computation *apply;
  bool is_single;  // one input and one known op, whose identity is |identity|
  bool by_place;   // two inputs, the second being the place along the vector dimension: lanes are combined in its order
  indim_loop_op op;
  indim_value_id identity;
  int32_t rank;
  bool is_reduced[INDIM_MAX_RANK];
  int32_t order[INDIM_MAX_RANK];  // reduced dimensions, outermost first, without the vector dimension
  int32_t order_count;
  int64_t sizes[INDIM_MAX_RANK];   // after merging
  int64_t merged[INDIM_MAX_RANK];  // likewise, output dimensions merged, too
  int32_t vector_dim;
  int32_t lanes;
  int32_t rows;  // folded side by side, if the vector dimension is reduced: streams that the memory serves at once
} indim_reduction;

static inline indim_flow_item *indim_reduce_result(const indim_reduction *r, int32_t i) {
  return indim_flow_result(r->item, i);
}
// Whether lanes fold parts of a row, not each a column of its own.
static inline bool indim_reduce_is_by_rows(const indim_reduction *r) {
  return r->vector_dim >= 0 && r->is_reduced[r->vector_dim];
}
// reduce.c: |out| = the computation of |acc| and |values|, n values each, which get |lanes| lanes first.
void indim_reduce_apply(indim_reduction *r, int32_t lanes, const indim_value_id *acc, const indim_value_id *values,
                        indim_value_id *out);
void indim_reduce_inputs(indim_reduction *r, int32_t lanes, const indim_coord *index, indim_value_id *out);
void indim_reduce_initial(indim_reduction *r, indim_value_id *acc);
// All coordinates 0.
void indim_reduce_origin(const indim_reduction *r, indim_coord *index);
// Whether what is built now may be a parallel loop over all that is reduced.
bool indim_reduce_may_thread(const indim_reduction *r);

// reduce_rows.c --------------------------------------------------------------------------------------------------------

// One of the rows that are folded side by side.
typedef struct indim_reduce_row {
  indim_coord index[INDIM_MAX_RANK];  // of all dimensions but those that are folded
  indim_value_id start;               // of the row along the vector dimension
} indim_reduce_row;

// Folds elements 0 to |size| (exclusive) of |count| rows, and all indices of the other reduced dimensions, into |acc|: n
// values, a lane for each row.
void indim_reduce_rows(indim_reduction *r, int32_t count, indim_reduce_row *rows, int64_t size, indim_value_id *acc);
// |count| rows of values, row after row, of |lanes| lanes each, as n values of |count| lanes: all lanes of a row become one.
void indim_reduce_combine(indim_reduction *r, int32_t count, int32_t lanes, indim_value_id *values,
                          indim_value_id *out);

// reduce_bands.c -------------------------------------------------------------------------------------------------------

// Whether the columns are folded row by row, partial results lying where the result will be.
bool indim_reduce_suits_bands(const indim_reduction *r);
// Folds them, |at| being where in the result the columns begin; |index| has the dimensions outside of them.
void indim_reduce_bands(indim_reduction *r, const indim_coord *index, indim_value_id at);
// Whether there is one row, long enough for pieces.
bool indim_reduce_suits_pieces(const indim_reduction *r);
void indim_reduce_pieces(indim_reduction *r);

#endif  // INDIM_LOOP_REDUCE_H
