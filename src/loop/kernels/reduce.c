// reduce: loops over the output's dimensions around loops over the reduced ones. If the vector dimension is an output
// dimension, every lane reduces its own column; if it is reduced, lanes hold partial results of a row and are combined
// at the end. The order of a reduction is the compiler's choice; the initial value is used once.
#include "loop/kernels/reduce.h"

#include <string.h>

#include "array/element.h"
#include "expand/split.h"
#include "loop/ir/build.h"
#include "loop/target/cost.h"

// Reducers with an identity -------------------------------------------------------------------------------------------

// Accumulating --------------------------------------------------------------------------------------------------------

// Whether the innermost loop is one over eight adjacent elements of rows that follow each other: it is unrolled, as narrow ones
// are loaded as whole vectors that are taken apart for all steps together.
static bool has_unrolled_bytes(const indim_reduction *r) {
  enum { STEPS = 8, CHEAP = 8 };
  int32_t last = r->rank - 1;
  return r->n == 1 && r->order_count > 0 && r->order[r->order_count - 1] == last && r->sizes[last] == STEPS &&
         r->vector_dim >= 0 && r->stride <= STEPS && r->inputs[0]->cost <= CHEAP;
}

// Accumulates into |acc| (of |lanes| lanes each) over the reduced dimensions from |position| on; |index| has the
// others.
static void reduced_dims(indim_reduction *r, int32_t position, int32_t lanes, indim_coord *index, indim_value_id *acc) {
  indim_loop_builder *b = &r->l->b;
  indim_value_id *values = indim_lower_alloc(r->l, r->n, sizeof *values);
  if (values == NULL || indim_lower_failed(r->l)) {
    return;
  }
  if (position == r->order_count) {
    indim_reduce_inputs(r, lanes, index, values);
    indim_reduce_apply(r, lanes, acc, values, acc);
    return;
  }
  int32_t dim = r->order[position];
  if (r->sizes[dim] <= 4 || (position == r->order_count - 1 && has_unrolled_bytes(r))) {
    for (int64_t i = 0; i < r->sizes[dim]; i++) {
      index[dim] = (indim_coord){indim_loop_index(b, i), 0};
      reduced_dims(r, position + 1, lanes, index, acc);
    }
    return;
  }
  indim_value_id at =
      indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, r->sizes[dim]), 1, r->n, acc, values);
  index[dim] = (indim_coord){at, 0};
  r->l->loop_depth++;
  reduced_dims(r, position + 1, lanes, index, values);
  r->l->loop_depth--;
  indim_loop_for_end(b, values, acc);
}

// The nest over the output --------------------------------------------------------------------------------------------

static void store_results(indim_reduction *r, indim_element_ctx *k, const indim_coord *output,
                          const indim_value_id *acc) {
  for (int32_t i = 0; i < r->n && !indim_lower_failed(r->l); i++) {
    indim_flow_item *result = indim_reduce_result(r, i);
    indim_store_at(k, result->shape, &result->place, output, acc[i]);
  }
}

// Maps coordinates of the output to the input; those of lane |lane| only, or all lanes if it is negative.
static void input_index(const indim_reduction *r, const indim_coord *output, int32_t lane, indim_coord *index) {
  int32_t at = 0;
  indim_reduce_origin(r, index);
  for (int32_t d = 0; d < r->rank; d++) {
    if (!r->is_reduced[d]) {
      index[d] = output[at++];
      if (lane >= 0 && index[d].step != 0) {
        index[d] = (indim_coord){indim_loop_add_const(&r->l->b, index[d].base, lane * index[d].step), 0};
      }
    }
  }
}

static void output_body(indim_nest *nest, indim_element_ctx *k, const indim_coord *output) {
  indim_reduction *r = nest->user;
  indim_value_id *acc = indim_lower_alloc(r->l, r->n, sizeof *acc);
  if (acc == NULL) {
    return;
  }
  indim_reduce_initial(r, acc);
  if (indim_reduce_is_by_rows(r)) {
    indim_reduce_row rows[INDIM_REDUCE_ROWS];
    for (int32_t lane = 0; lane < k->lanes; lane++) {
      input_index(r, output, lane, rows[lane].index);
      rows[lane].start = indim_loop_index(&r->l->b, 0);
    }
    indim_reduce_rows(r, k->lanes, rows, r->sizes[r->vector_dim], acc);
  } else {
    indim_coord index[INDIM_MAX_RANK];
    input_index(r, output, -1, index);
    for (int32_t i = 0; i < r->n; i++) {
      acc[i] = indim_loop_splat(&r->l->b, acc[i], k->lanes);
    }
    reduced_dims(r, 0, k->lanes, index, acc);
  }
  if (!indim_lower_failed(r->l)) {
    store_results(r, k, output, acc);
  }
}

// All columns at an index of the outer dimensions.
static void bands_body(indim_nest *nest, indim_element_ctx *k, const indim_coord *output) {
  indim_reduction *r = nest->user;
  indim_coord index[INDIM_MAX_RANK];
  indim_value_id position[INDIM_MAX_RANK];
  indim_value_id *at = indim_lower_alloc(r->l, r->n, sizeof *at);
  input_index(r, output, -1, index);
  for (int32_t d = 0; d < indim_reduce_result(r, 0)->shape->rank; d++) {
    position[d] = output[d].base;
  }
  for (int32_t i = 0; i < r->n && !indim_lower_failed(r->l); i++) {
    indim_flow_item *result = indim_reduce_result(r, i);
    at[i] = indim_location_address(k->l, result->shape, &result->place, position);
  }
  if (!indim_lower_failed(r->l)) {
    indim_reduce_bands(r, index, at);
  }
}

// Access analysis over the input's dimensions.
static void analyze_body(indim_nest *nest, indim_element_ctx *k, const indim_coord *index) {
  const indim_reduction *r = nest->user;
  for (int32_t i = 0; i < r->n; i++) {
    (void)indim_value_at(k, r->inputs[i], index, 0);
  }
}

// The dimension of |from| of which dimension |dim| of |to|, which has one dimension more, is the inner part; -1 for another
// reshape: f32[6,1000] to f32[6,8,125] gives 1 for 2.
static int32_t split_dim_of(const indim_shape *from, const indim_shape *to, int32_t dim) {
  bool is = to->rank == from->rank + 1 && dim > 0;
  for (int32_t d = 0; is && d < from->rank; d++) {
    is = d == dim - 1 ? to->sizes[d] * to->sizes[dim] == from->sizes[d]
                      : to->sizes[d < dim - 1 ? d : d + 1] == from->sizes[d];
  }
  return is ? dim - 1 : -1;
}

// Whether all numbers of an iota's dimension are numbers of its type: it rises, and does not begin again.
static bool counts_on(const indim_shape *shape, int64_t dim) {
  int32_t bits = indim_type_bits(shape->type);
  return bits > 62 || shape->sizes[dim] <= INT64_C(1) << (bits - 1);
}

// Whether the item rises as an iota along dimension |dim|, possibly broadcast along others.
static bool is_iota_along(const indim_flow_item *item, int32_t dim) {
  for (int steps = 0; steps < 8 && item->kind == INDIM_FLOW_OP; steps++) {
    if (item->instr->op == INDIM_OP_IOTA) {
      return indim_instr_int(item->instr, INDIM_ATTR_IOTA_DIMENSION, 0) == dim && counts_on(item->shape, dim);
    }
    if (item->instr->op == INDIM_OP_RESHAPE) {
      dim = split_dim_of(item->operands[0]->shape, item->shape, dim);
      if (dim < 0) {
        return false;
      }
      item = item->operands[0];
      continue;
    }
    if (item->instr->op != INDIM_OP_BROADCAST) {
      return false;
    }
    int64_t count = 0;
    const int64_t *dims = indim_instr_ints(item->instr, INDIM_ATTR_DIMENSIONS, &count);
    int32_t inner = -1;
    for (int32_t i = 0; i < count; i++) {
      inner = dims[i] == dim ? i : inner;
    }
    if (inner < 0) {
      return false;
    }
    dim = inner;
    item = item->operands[0];
  }
  return false;
}

// Whether the inputs have no other user: then there is no loop to fuse with, and rows may be reduced together.
static bool is_only_reader(const indim_access_list *list) {
  for (int32_t i = 0; i < list->count; i++) {
    if (list->accesses[i].item != NULL && list->accesses[i].item->use_count > 1) {
      return false;
    }
  }
  return !list->is_full;
}

// How many rows are reduced together. Short contiguous rows of a plain load form one memory stream anyway.
static int32_t choose_rows(const indim_reduction *r, const indim_nest *nest) {
  int64_t row = nest->sizes[r->vector_dim] * indim_type_bytes(r->inputs[0]->shape->type);
  if (indim_shape_element_count(indim_reduce_result(r, 0)->shape) == 1) {
    return r->is_single && row >= INDIM_COST_STREAM_ROW * INDIM_REDUCE_ROWS ? INDIM_REDUCE_ROWS : 1;
  }
  if (nest->cost > INDIM_COST_LATENCY_BOUND || (r->is_single && nest->cost <= 1 && row < INDIM_COST_STREAM_ROW) ||
      !is_only_reader(nest->list)) {
    return 1;
  }
  for (int32_t d = 0; d < r->rank; d++) {
    if (!r->is_reduced[d] && nest->sizes[d] >= INDIM_REDUCE_ROWS) {
      return INDIM_REDUCE_ROWS;
    }
  }
  return 1;
}

// Several registers of partial results hide the latency of an addition; they come from several rows if possible.
static void choose_registers(indim_reduction *r, const indim_nest *nest) {
  r->rows = choose_rows(r, nest);
  int32_t registers = nest->cost <= 4 && !r->by_index ? 8 : nest->cost <= 16 ? 4 : 2;  // each has its index beside it
  registers = (r->is_single || r->by_index) && registers > r->rows ? registers / r->rows : 1;
  while (registers > 1 && (int64_t)registers * r->lanes > nest->sizes[r->vector_dim]) {
    registers /= 2;
  }
  r->lanes *= registers;
}

// Whether the result is dense and row-major.
static bool is_row_major(const indim_flow_item *result) {
  int64_t stride = 1;
  for (int32_t d = result->shape->rank - 1; d >= 0; d--) {
    if (result->place.tiled != NULL || (result->shape->sizes[d] != 1 && result->place.strides[d] != stride)) {
      return false;
    }
    stride *= result->shape->sizes[d];
  }
  return true;
}

// Whether output dimensions that are collapsed for the inputs can be collapsed for all results, too.
static bool collapses_output(const indim_reduction *r) {
  for (int32_t i = 0; i < r->n; i++) {
    if (!is_row_major(indim_reduce_result(r, i))) {
      return false;
    }
  }
  return indim_shape_element_count(r->inputs[0]->shape) > 0;
}

// For rows too short to fill a register: vectorizes across rows if a dimension has more rows than a row has elements.
// |kept| has the sizes of the output's loops. The innermost such dimension is preferred, whose rows are adjacent,
// unless an outer one fills more than twice as many lanes. If there is none, a partial register per row.
static void choose_lanes_across_rows(indim_reduction *r, const int64_t *kept, int64_t row) {
  enum {
    PARTIAL = 16
  };  // lanes from which on a row of bytes or halves is cheaper at once than its elements one by one
  int32_t most = 0;
  if (r->is_single && row >= PARTIAL && indim_type_bytes(r->inputs[0]->shape->type) < 4) {
    r->lanes = indim_piece_lanes(row, r->lanes);
    return;
  }
  for (int32_t d = 0; d < r->rank; d++) {
    int32_t filled = r->is_reduced[d] ? 0 : indim_piece_lanes(kept[d], r->lanes);
    if (filled > row && 2 * filled >= most) {
      r->vector_dim = d;
      most = filled;
    }
  }
  if (most > 0) {
    r->lanes = most;
  } else if (r->is_single) {
    r->lanes = indim_piece_lanes(row, r->lanes);
  }
}

// Whether this is a reduction as argmax: partial results can be put in order again by their index.
static bool is_by_index(const indim_reduction *r) {
  const indim_shape *index = r->n == 2 ? r->inputs[1]->shape : NULL;
  return index != NULL && indim_type_is_integral(index->type) && indim_split_only_selects(r->apply) &&
         is_iota_along(r->inputs[1], r->vector_dim);
}

// Whether each lane along |dim| loads from an address of its own, found by an index that it loads.
static bool is_gathered(const indim_access_list *list, int32_t dim) {
  bool is_indirect = false, has_indices = false;
  for (int32_t i = 0; i < list->count; i++) {
    const indim_access *access = &list->accesses[i];
    is_indirect = is_indirect || access->strides == NULL;
    has_indices = has_indices || (dim >= 0 && access->strides != NULL && access->strides[dim] != 0 &&
                                  indim_type_is_integral(access->storage->type));
  }
  return is_indirect && has_indices;
}

// How far apart lanes along |dim| load elements, at most.
static int64_t farthest(const indim_access_list *list, int32_t dim) {
  int64_t most = 0;
  for (int32_t i = 0; i < list->count && dim >= 0; i++) {
    const int64_t *strides = list->accesses[i].strides;
    int64_t stride = strides == NULL ? 0 : indim_index_abs(strides[dim]);
    most = stride > most ? stride : most;
  }
  return most;
}

static void choose(indim_reduction *r) {
  indim_access_list *list = indim_lower_alloc(r->l, 1, sizeof *list);
  if (list == NULL) {
    return;
  }
  const indim_shape *shape = r->inputs[0]->shape;
  indim_nest nest = {.l = r->l, .rank = r->rank, .body = analyze_body, .user = r, .cost = r->inputs[0]->cost + 1};
  memcpy(nest.sizes, shape->sizes, (size_t)r->rank * sizeof *nest.sizes);
  for (int32_t d = 0; d < r->rank; d++) {
    nest.group[d] = r->is_reduced[d] ? 1 : 2;
  }
  indim_nest_analyze(&nest, list);
  indim_nest_choose(&nest, NULL);
  r->vector_dim = nest.vector_dim;
  r->lanes = nest.lanes;
  r->rows = 1;
  if (r->vector_dim >= 0 && r->is_reduced[r->vector_dim] && nest.sizes[r->vector_dim] < r->lanes) {
    choose_lanes_across_rows(r, collapses_output(r) ? nest.sizes : shape->sizes, nest.sizes[r->vector_dim]);
  }
  r->is_gathered = is_gathered(list, r->vector_dim);
  r->stride = farthest(list, r->vector_dim);
  if (indim_reduce_is_by_rows(r)) {
    r->by_index = is_by_index(r);
    choose_registers(r, &nest);
  }
  for (int32_t d = 0; d < r->rank; d++) {
    r->sizes[d] = r->is_reduced[d] ? nest.sizes[d] : shape->sizes[d];
    r->collapsed[d] = nest.sizes[d];
  }
  int32_t reduced_count = 0;
  for (int32_t d = 0; d < r->rank; d++) {
    if (r->is_reduced[d] && r->sizes[d] != 1) {
      reduced_count++;
      if (d != r->vector_dim) {
        r->order[r->order_count++] = d;
      }
    }
  }
  bool by_rows = indim_reduce_is_by_rows(r);
  bool too_short = by_rows && r->sizes[r->vector_dim] < 2;
  bool in_order = !r->is_single && !r->by_index && !indim_loop_can_reorder(r->apply);
  if (by_rows &&
      (in_order || too_short || (!r->is_single && (reduced_count > 1 || r->sizes[r->vector_dim] < r->lanes)))) {
    r->order[r->order_count++] = r->vector_dim;
    r->vector_dim = -1;
  }
}

static void run_output(indim_reduction *r) {
  indim_lowering *l = r->l;
  indim_access_list *list = indim_lower_alloc(l, 1, sizeof *list);
  indim_flow_item *result = indim_reduce_result(r, 0);
  if (list == NULL) {
    return;
  }
  list->is_full = true;  // collapse nothing
  int64_t steps = indim_shape_element_count(r->inputs[0]->shape) / indim_shape_element_count(result->shape);
  indim_nest nest = {.l = l, .rank = result->shape->rank, .body = output_body, .user = r, .list = list};
  bool collapses = collapses_output(r);
  bool has_bands = collapses && indim_reduce_suits_bands(r);
  nest.cost = indim_index_mul_saturated(steps, r->inputs[0]->cost + 1);
  nest.may_thread = true;
  nest.vector_dim = -1;
  nest.lanes = 1;
  nest.unroll = 1;
  int32_t at = 0;
  for (int32_t d = 0; d < r->rank; d++) {
    if (r->is_reduced[d]) {
      continue;
    }
    nest.order[at] = at;
    nest.sizes[at] = collapses ? r->collapsed[d] : result->shape->sizes[at];
    if (has_bands && d == r->vector_dim) {
      nest.body = bands_body;
      nest.cost = indim_index_mul_saturated(nest.cost, nest.sizes[at]);
      nest.sizes[at] = 1;
      indim_lower_explain(l, r->item, "columns, some rows at a time");
    } else if (d == r->vector_dim) {
      nest.vector_dim = at;
      bool is_one_by_one = r->is_gathered || (r->stride > INDIM_LOOP_MOST_STRIDE && !has_unrolled_bytes(r));
      int32_t most = r->is_single && !is_one_by_one ? 4 * r->lanes : r->lanes;
      if (has_unrolled_bytes(r) && !r->is_gathered) {  // a vector of bytes, or one of the result
        bool is_narrow = indim_type_bytes(result->shape->type) <= 2;
        most = is_narrow ? r->lanes : most < l->target->vector_bytes ? most : l->target->vector_bytes;
      }
      nest.lanes = indim_piece_lanes(nest.sizes[at] > r->lanes ? nest.sizes[at] : r->lanes, most);
      // Columns fewer than lanes are computed once, not in pieces, where that takes more than the loads of pieces.
      bool is_narrow = nest.sizes[at] > 1 && nest.sizes[at] < r->lanes && !is_one_by_one;
      nest.lanes = is_narrow && r->inputs[0]->cost >= INDIM_COST_FULL_LANES ? (int32_t)nest.sizes[at] : nest.lanes;
    } else if (r->rows > 1 && nest.sizes[at] >= r->rows) {
      nest.vector_dim = at;
      nest.lanes = r->rows;
    }
    at++;
  }
  nest.is_long = indim_reduce_is_by_rows(r) && r->sizes[r->vector_dim] / r->lanes >= INDIM_COST_LONG_LOOP &&
                 indim_nest_keeps_threads(&nest);
  indim_nest_run(&nest);
}

void indim_lower_reduce(indim_lowering *l, indim_flow_item *item) {
  indim_reduction r = {.l = l, .item = item, .n = item->operand_count / 2, .inputs = item->operands};
  r.inits = item->operands + r.n;
  r.apply = indim_instr_computation(item->instr, INDIM_ATTR_TO_APPLY);
  r.rank = r.inputs[0]->shape->rank;
  int64_t count = 0;
  const int64_t *dims = indim_instr_ints(item->instr, INDIM_ATTR_DIMENSIONS, &count);
  for (int64_t i = 0; i < count; i++) {
    r.is_reduced[dims[i]] = true;
  }
  indim_storage **written = indim_lower_alloc(l, r.n, sizeof(indim_storage *));
  for (int32_t i = 0; i < r.n && written != NULL; i++) {
    written[i] = indim_reduce_result(&r, i)->place.storage;
  }
  if (indim_lower_failed(l)) {
    return;
  }
  r.is_single = indim_lower_single(l, r.apply, r.inputs[0]->shape->type, &r.op, &r.identity);
  indim_loop_region_begin(&l->b, written, r.n);
  if (indim_shape_element_count(r.inputs[0]->shape) == 0) {
    // Nothing to reduce: the results are the initial values.
    for (int32_t d = 0; d < r.rank; d++) {
      r.sizes[d] = r.inputs[0]->shape->sizes[d];
    }
    r.vector_dim = -1;
    for (int32_t d = 0; d < r.rank; d++) {
      if (r.is_reduced[d] && r.sizes[d] == 0) {
        r.order[r.order_count++] = d;
      }
    }
  } else {
    choose(&r);
  }
  indim_element_forget(l);
  if (indim_lower_failed(l)) {
    return;
  }
  if (indim_reduce_suits_pieces(&r)) {
    indim_lower_explain(l, item, "one row in pieces");
    indim_reduce_pieces(&r);
  } else {
    run_output(&r);
  }
}
