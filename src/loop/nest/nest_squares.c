// Loops around squares that are transposed in registers.
#include "base/size.h"
#include "loop/ir/build.h"
#include "loop/nest/element.h"
#include "loop/target/cost.h"

// A scalar loop over the transposed dimension around the vector loop.
static void run_untransposed(indim_nest *nest, indim_coord *index, const int64_t *w, const int64_t *v) {
  indim_loop_builder *b = &nest->l->b;
  if (w[0] >= w[1] || v[0] >= v[1]) {
    return;
  }
  indim_value_id at = indim_loop_for_begin(b, indim_loop_index(b, w[0]), indim_loop_index(b, w[1]), 1, 0, NULL, NULL);
  index[nest->transpose_dim] = (indim_coord){at, 0};
  indim_nest_vector_loop(nest, index, v[0], v[1], false);
  indim_loop_for_end(b, NULL, NULL);
}

// Squares per block along v and along w: as many as fill a cache line of the result.
static int32_t squares_of(const indim_nest *nest) {
  int64_t count = indim_nest_line(nest) / nest->lanes;
  return (int32_t)(count > INDIM_MAX_SQUARES ? INDIM_MAX_SQUARES : count);
}

// Blocks of transposed squares, whole cache lines in both directions.
// Non-temporal stores, and stores between loads of other arrays, have to fill whole cache lines: then adjacent squares
// are transposed together; otherwise one at a time, which fits the registers.
static void run_squares(indim_nest *nest, indim_coord *index, indim_value_id w_low, indim_value_id w_high,
                        indim_value_id v_low, indim_value_id v_high, int32_t squares) {
  indim_loop_builder *b = &nest->l->b;
  int64_t block = (int64_t)squares * nest->lanes;
  indim_value_id at_w = indim_loop_for_begin(b, w_low, w_high, block, 0, NULL, NULL);
  indim_value_id at_v = indim_loop_for_begin(b, v_low, v_high, block, 0, NULL, NULL);
  int32_t together = nest->streams || indim_transpose_is_mixed(nest) ? squares : 1;
  indim_value_id from_w = at_w;
  if (squares > 1) {
    indim_value_id x =
        indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, block), nest->lanes, 0, NULL, NULL);
    from_w = indim_loop_add(b, at_w, x);
  }
  for (int64_t y = 0; y < block; y += together * nest->lanes) {
    indim_transpose_block(nest, index, from_w, indim_loop_add_const(b, at_v, y), together);
  }
  if (squares > 1) {
    indim_loop_for_end(b, NULL, NULL);
  }
  indim_loop_for_end(b, NULL, NULL);
  indim_loop_for_end(b, NULL, NULL);
}

// What is left of |of| elements beside the whole squares: in squares of half the side, where it is more than a small part.
static void run_edge(indim_nest *nest, indim_coord *index, const int64_t *w, const int64_t *v, int64_t of) {
  enum { LEAST_SIDE = 4, SMALL_PART = 16 };
  int32_t lanes = nest->lanes;
  int64_t rows = w[1] - w[0];
  int64_t columns = v[1] - v[0];
  int64_t left = rows < columns ? rows : columns;
  if (lanes / 2 < LEAST_SIDE || left < lanes / 2 || left * SMALL_PART < of) {
    run_untransposed(nest, index, w, v);
    return;
  }
  nest->lanes = lanes / 2;
  indim_nest_squares(nest, index, w, v);
  nest->lanes = lanes;
}

// Squares, in bands along |v|: the pages of a band's rows stay in the TLB during the loop over |w|. Then the remainders
// of both dimensions.
void indim_nest_squares(indim_nest *nest, indim_coord *index, const int64_t *w, const int64_t *v) {
  indim_loop_builder *b = &nest->l->b;
  int64_t lanes = nest->lanes;
  int64_t most = squares_of(nest) * lanes;
  int32_t squares = w[1] - w[0] >= most && v[1] - v[0] >= most ? squares_of(nest) : 1;
  int64_t block = squares * lanes;
  int64_t w_end = w[0] + (w[1] - w[0]) / block * block;
  int64_t v_end = v[0] + (v[1] - v[0]) / block * block;
  int64_t bands = indim_ceil_div(v_end - v[0], INDIM_COST_TRANSPOSE_BAND);
  indim_value_id w_low = indim_loop_index(b, w[0]);
  indim_value_id w_high = indim_loop_index(b, w_end);
  if (w_end > w[0] && bands > 1) {
    indim_value_id end = indim_loop_index(b, v_end);
    indim_value_id band =
        indim_loop_for_begin(b, indim_loop_index(b, v[0]), end, INDIM_COST_TRANSPOSE_BAND, 0, NULL, NULL);
    if (indim_nest_worth_threads(nest, indim_nest_elements(nest))) {
      indim_loop_for_parallel(b, (bands + INDIM_NEST_PIECES - 1) / INDIM_NEST_PIECES);
    }
    indim_value_id to = indim_loop_add_const(b, band, INDIM_COST_TRANSPOSE_BAND);
    to = indim_loop_value_of(b, to)->high > v_end ? indim_loop_binary(b, INDIM_OP_MINIMUM, to, end) : to;
    run_squares(nest, index, w_low, w_high, band, to, squares);
    indim_loop_for_end(b, NULL, NULL);
  } else if (w_end > w[0] && v_end > v[0]) {
    run_squares(nest, index, w_low, w_high, indim_loop_index(b, v[0]), indim_loop_index(b, v_end), squares);
  }
  run_edge(nest, index, (int64_t[]){w_end, w[1]}, v, w[1] - w[0]);
  run_edge(nest, index, (int64_t[]){w[0], w_end}, (int64_t[]){v_end, v[1]}, v[1] - v[0]);
}

// A joined dimension --------------------------------------------------------------------------------------------------

// How many rows along the vector dimension are joined to a cache line, if the result goes on along |dim| where one ends.
static int32_t joined_rows(const indim_nest *nest, int32_t dim) {
  int64_t row = nest->sizes[nest->vector_dim];
  int64_t count = indim_nest_line(nest) / row;
  int64_t most = INDIM_MAX_SQUARES / (row / nest->lanes);
  count = count < most ? count : most;
  return (int32_t)(count < nest->sizes[dim] ? count : nest->sizes[dim]);
}

void indim_nest_choose_joined(indim_nest *nest) {
  const indim_access_list *list = nest->list;
  int64_t row = nest->transposes && nest->side == 0 && nest->stacked == 0 ? nest->sizes[nest->vector_dim] : 0;
  bool is_short = row > 0 && row % nest->lanes == 0 && row < indim_nest_line(nest) &&
                  list->split_point_count[nest->vector_dim] == 0;
  nest->joined = 0;
  for (int32_t d = 0; d < nest->rank && is_short; d++) {
    bool joins = d != nest->vector_dim && d != nest->transpose_dim && list->split_point_count[d] == 0 &&
                 joined_rows(nest, d) > 1;
    for (int32_t i = 0; i < list->count && joins; i++) {
      const indim_access *access = &list->accesses[i];
      joins = access->item != NULL || (access->strides != NULL && access->strides[d] == row);
    }
    nest->joined = joins ? d + 1 : nest->joined;
  }
}

// |count| rows from |from| on along the joined dimension, in squares along the transposed one.
static void run_rows(indim_nest *nest, indim_coord *index, indim_value_id from, int64_t count, const int64_t *w) {
  indim_loop_builder *b = &nest->l->b;
  int64_t squares = count * (nest->sizes[nest->vector_dim] / nest->lanes);
  indim_value_id at =
      indim_loop_for_begin(b, indim_loop_index(b, w[0]), indim_loop_index(b, w[1]), nest->lanes, 0, NULL, NULL);
  index[nest->joined - 1] = (indim_coord){from, 0};
  indim_transpose_block(nest, index, at, indim_loop_index(b, 0), (int32_t)squares);
  indim_loop_for_end(b, NULL, NULL);
}

void indim_nest_squares_joined(indim_nest *nest, indim_coord *index, const int64_t *w) {
  indim_loop_builder *b = &nest->l->b;
  int32_t dim = nest->joined - 1;
  int64_t size = nest->sizes[dim];
  int64_t rows = joined_rows(nest, dim);
  int64_t blocks = size / rows;
  const int64_t whole[] = {w[0], w[0] + (w[1] - w[0]) / nest->lanes * nest->lanes};
  const int64_t v[] = {0, nest->sizes[nest->vector_dim]};
  if (whole[1] > w[0]) {
    bool threads = blocks >= 2 * INDIM_NEST_PIECES && indim_nest_worth_threads(nest, indim_nest_elements(nest));
    indim_value_id at =
        indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, blocks * rows), rows, 0, NULL, NULL);
    if (threads) {
      indim_loop_for_parallel(b, (blocks + INDIM_NEST_PIECES - 1) / INDIM_NEST_PIECES);
    }
    run_rows(nest, index, at, rows, whole);
    indim_loop_for_end(b, NULL, NULL);
  }
  if (whole[1] > w[0] && blocks * rows < size) {
    run_rows(nest, index, indim_loop_index(b, blocks * rows), size - blocks * rows, whole);
  }
  if (whole[1] < w[1]) {
    indim_value_id at = indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, size), 1, 0, NULL, NULL);
    index[dim] = (indim_coord){at, 0};
    nest->joined = 0;
    run_edge(nest, index, (int64_t[]){whole[1], w[1]}, v, w[1] - w[0]);
    nest->joined = dim + 1;
    indim_loop_for_end(b, NULL, NULL);
  }
}
