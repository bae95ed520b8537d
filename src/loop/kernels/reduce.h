// Internal to reduce*.c: reduce.c chooses and builds the loops over the output, reduce_rows.c reduces along the vector
// dimension, reduce_bands.c reduces columns row by row, and one long row in pieces.
#ifndef INDIM_LOOP_REDUCE_H
#define INDIM_LOOP_REDUCE_H

#include "loop/kernels/kernels.h"

enum { INDIM_REDUCE_ROWS = 4 };  // at most so many rows are reduced together; a power of two

typedef struct indim_reduction {
  indim_lowering *l;
  indim_flow_item *item;
  int32_t n;  // inputs and results
  indim_flow_item **inputs, **inits;
  const indim_computation *apply;
  bool is_single;  // one input and one op with an identity, |identity|
  bool by_index;   // as argmax: the second input is the index along the vector dimension; lanes keep its order
  indim_loop_op op;
  indim_value_id identity;
  int32_t rank;
  bool is_reduced[INDIM_MAX_RANK];
  int32_t order[INDIM_MAX_RANK];  // reduced dimensions, outermost first, without the vector dimension
  int32_t order_count;
  int64_t sizes[INDIM_MAX_RANK];      // with reduced dimensions collapsed
  int64_t collapsed[INDIM_MAX_RANK];  // with output dimensions collapsed, too
  int32_t vector_dim;
  int32_t lanes;
  bool is_gathered;  // lanes load from addresses of their own: vectors of several registers are long code for nothing
  int64_t stride;    // the most elements between two lanes in memory
  int32_t rows;      // reduced together, if the vector dimension is reduced: concurrent memory streams
} indim_reduction;

static inline indim_flow_item *indim_reduce_result(const indim_reduction *r, int32_t i) {
  return indim_flow_result(r->item, i);
}
// Whether lanes hold partial results of one row, instead of one column each.
static inline bool indim_reduce_is_by_rows(const indim_reduction *r) {
  return r->vector_dim >= 0 && r->is_reduced[r->vector_dim];
}
// reduce.c: |out| = the computation applied to |acc| and |values|, n values each, splat to |lanes| lanes first.
void indim_reduce_apply(indim_reduction *r, int32_t lanes, const indim_value_id *acc, const indim_value_id *values,
                        indim_value_id *out);
void indim_reduce_inputs(indim_reduction *r, int32_t lanes, const indim_coord *index, indim_value_id *out);
void indim_reduce_initial(indim_reduction *r, indim_value_id *acc);
// Sets all coordinates to 0.
void indim_reduce_origin(const indim_reduction *r, indim_coord *index);
// Whether a loop over the whole input may be parallel here.
bool indim_reduce_may_thread(const indim_reduction *r);

// reduce_rows.c -------------------------------------------------------------------------------------------------------

// One of the rows that are reduced together.
typedef struct indim_reduce_row {
  indim_coord index[INDIM_MAX_RANK];  // of the dimensions that are not reduced
  indim_value_id start;               // along the vector dimension
} indim_reduce_row;

// Reduces elements 0 to |size| (exclusive) of |count| rows, over all other reduced dimensions too, into |acc|: n
// values, a lane for each row.
void indim_reduce_rows(indim_reduction *r, int32_t count, indim_reduce_row *rows, int64_t size, indim_value_id *acc);
// Reduces across lanes: |values| has n values of |lanes| lanes for each of |count| rows, |out| n values with a lane per
// row.
void indim_reduce_combine(indim_reduction *r, int32_t count, int32_t lanes, indim_value_id *values,
                          indim_value_id *out);

// reduce_bands.c ------------------------------------------------------------------------------------------------------

// Whether columns are to be reduced row by row, with partial results in the result's memory.
bool indim_reduce_suits_bands(const indim_reduction *r);
// Reduces them into each result k from address |at|[k] on; |index| has the outer dimensions.
void indim_reduce_bands(indim_reduction *r, const indim_coord *index, const indim_value_id *at);
// Whether there is a single row, long enough for parallel pieces.
bool indim_reduce_suits_pieces(const indim_reduction *r);
void indim_reduce_pieces(indim_reduction *r);

#endif  // INDIM_LOOP_REDUCE_H
