// reduce. The loops run over the output's dimensions, and inside over the reduced ones. If the vector dimension is one of
// the output's, every lane folds its own column; if it is reduced, lanes fold parts of a row and are combined at the end.
// The order of a reduction is ours; the initial value enters once.
#include <string.h>

#include "array/element.h"
#include "loop/element.h"

typedef struct reduction {
  indim_lowering *l;
  indim_flow_item *item;
  int32_t n;  // inputs and results
  indim_flow_item **inputs, **inits;
  const indim_computation *apply;
  bool is_single;  // one input and one known op, whose identity is |identity|
  bool by_place;   // two inputs, the second being the place along the vector dimension: lanes are combined in its order
  indim_loop_op op;
  indim_lval identity;
  int32_t rank;
  bool is_reduced[INDIM_MAX_RANK];
  int32_t order[INDIM_MAX_RANK];  // reduced dimensions, outermost first, without the vector dimension
  int32_t order_count;
  int64_t sizes[INDIM_MAX_RANK];   // after merging
  int64_t merged[INDIM_MAX_RANK];  // likewise, output dimensions merged, too
  int32_t vector_dim;
  int32_t lanes;
} reduction;

static indim_flow_item *result_of(const reduction *r, int32_t i) {
  return r->item->member_count > 0 ? r->item->members[i] : r->item;
}

// Reducers with an identity ------------------------------------------------------------------------------------------

static bool identity_bits(indim_op op, indim_type type, uint64_t *out_bits, uint64_t *out_imag) {
  indim_element e = {0};
  *out_imag = 0;
  bool is_complex = type == INDIM_C64 || type == INDIM_C128;
  switch ((int)op) {
  case INDIM_OP_ADD:
    if (type == INDIM_PRED) {
      return false;
    }
    e = indim_type_is_float(type) || is_complex ? indim_element_of_float(type, -0.0, -0.0) : e;
    break;
  case INDIM_OP_MULTIPLY:
    if (is_complex) {
      return false;  // 1 times an infinity is not that infinity
    }
    e = indim_type_is_float(type) ? indim_element_of_float(type, 1, 0) : indim_element_of_int(type, 1);
    break;
  case INDIM_OP_MAXIMUM:
    return indim_element_padding(type, INDIM_PADDING_LOWEST, &e) && (*out_bits = e.bits, true);
  case INDIM_OP_MINIMUM:
    return indim_element_padding(type, INDIM_PADDING_HIGHEST, &e) && (*out_bits = e.bits, true);
  case INDIM_OP_AND:
    e = type == INDIM_PRED ? (indim_element){1, 0} : indim_element_of_int(type, -1);
    break;
  case INDIM_OP_OR:
  case INDIM_OP_XOR:
    break;
  default:
    return false;
  }
  *out_bits = e.bits;
  *out_imag = e.imag;
  return true;
}

// Types without a negative zero or without infinity have no identity for some ops; then the general way is taken.
static bool has_plain_zero(indim_type type) {
  return type == INDIM_F32 || type == INDIM_F64 || type == INDIM_F16 || type == INDIM_BF16 ||
         !indim_type_is_float(type);
}

bool indim_lower_single(indim_lowering *l, const indim_computation *apply, indim_type type, indim_loop_op *out_op,
                        indim_lval *out_identity) {
  const indim_instr *root = apply->root;
  if (apply->parameter_count != 2 || root->operand_count != 2 || root->shape->type != type || !has_plain_zero(type)) {
    return false;
  }
  const indim_instr *x = root->operands[0];
  const indim_instr *y = root->operands[1];
  bool both = x->op == INDIM_OP_PARAMETER && y->op == INDIM_OP_PARAMETER && x->parameter_number != y->parameter_number;
  uint64_t bits = 0, imag = 0;
  if (!both || !identity_bits(root->op, type, &bits, &imag)) {
    return false;
  }
  *out_op = (indim_loop_op){.op = root->op};
  *out_identity = indim_loop_const(&l->b, type, bits, imag);
  return true;
}

// Folding ----------------------------------------------------------------------------------------------------------------

static void apply(reduction *r, int32_t lanes, const indim_lval *acc, const indim_lval *values, indim_lval *out) {
  indim_loop_builder *b = &r->l->b;
  indim_lval few[16];
  indim_lval *args = r->n <= 8 ? few : indim_lower_alloc(r->l, 2 * (int64_t)r->n, sizeof *args);
  if (args == NULL) {
    return;
  }
  for (int32_t i = 0; i < r->n; i++) {
    args[i] = indim_loop_splat(b, acc[i], lanes);
    args[r->n + i] = indim_loop_splat(b, values[i], lanes);
  }
  indim_loop_apply(b, r->apply, lanes, args, out);
}

static void input_values(reduction *r, int32_t lanes, const indim_coord *index, indim_lval *out) {
  indim_kernel k = {.l = r->l, .lanes = lanes};
  for (int32_t i = 0; i < r->n; i++) {
    out[i] = indim_value_at_lanes(&k, r->inputs[i], index, 0);
  }
}

static void copy_values(indim_lval *to, const indim_lval *from, int32_t count) {
  memcpy(to, from, (size_t)count * sizeof *to);
}

// Folds |acc| (of |lanes| lanes each) over the reduced dimensions from |position| on; |index| has the others.
static void fold_dims(reduction *r, int32_t position, int32_t lanes, indim_coord *index, indim_lval *acc) {
  indim_loop_builder *b = &r->l->b;
  indim_lval *values = indim_lower_alloc(r->l, 3 * (int64_t)r->n, sizeof *values);
  if (values == NULL || indim_lower_failed(r->l)) {
    return;
  }
  if (position == r->order_count) {
    input_values(r, lanes, index, values);
    apply(r, lanes, acc, values, values + r->n);
    copy_values(acc, values + r->n, r->n);
    return;
  }
  int32_t dim = r->order[position];
  if (r->sizes[dim] <= 4) {
    for (int64_t i = 0; i < r->sizes[dim]; i++) {
      index[dim] = (indim_coord){indim_loop_index(b, i), 0};
      fold_dims(r, position + 1, lanes, index, acc);
    }
    return;
  }
  indim_lval at =
      indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, r->sizes[dim]), 1, r->n, acc, values);
  index[dim] = (indim_coord){at, 0};
  r->l->loop_depth++;
  fold_dims(r, position + 1, lanes, index, values);
  r->l->loop_depth--;
  indim_loop_for_end(b, values, acc);
}

// Of two partial results (value, place, value, place), the one with the lower place first, lane by lane.
static void put_in_order(indim_loop_builder *b, indim_lval *pairs) {
  indim_lval args[] = {pairs[1], pairs[3]};
  indim_loop_op greater = {.op = INDIM_OP_COMPARE, .direction = INDIM_COMPARE_GT};
  indim_lval swap = indim_loop_scalar(b, greater, INDIM_PRED, 2, args);
  for (int32_t i = 0; i < 2; i++) {
    indim_lval first = pairs[i];
    pairs[i] = indim_loop_select(b, swap, pairs[2 + i], first);
    pairs[2 + i] = indim_loop_select(b, swap, first, pairs[2 + i]);
  }
}

// All lanes of |acc| combined into one, by halves.
static void combine_lanes(reduction *r, int32_t lanes, indim_lval *acc) {
  indim_loop_builder *b = &r->l->b;
  if (r->is_single) {
    acc[0] = lanes == 1 ? acc[0] : indim_loop_fold(b, r->op, acc[0]);
    return;
  }
  indim_lval *halves = indim_lower_alloc(r->l, 2 * (int64_t)r->n, sizeof *halves);
  int32_t map[256];
  for (int32_t count = lanes / 2; count >= 1 && halves != NULL && !indim_lower_failed(r->l); count /= 2) {
    for (int32_t i = 0; i < r->n; i++) {
      for (int32_t h = 0; h < 2; h++) {
        for (int32_t j = 0; j < count; j++) {
          map[j] = h * count + j;
        }
        halves[h * r->n + i] = indim_loop_shuffle(b, 1, &acc[i], count, map);
      }
    }
    if (r->by_place) {
      put_in_order(b, halves);
    }
    apply(r, count, halves, halves + r->n, acc);
  }
}

// Folds the row along the vector dimension, |low| to |high|, for one index of all other dimensions into |wide|, which
// has r->lanes lanes; what does not fill them goes into |narrow|.
static void fold_row(reduction *r, indim_coord *index, int64_t size, indim_lval *wide, indim_lval *narrow) {
  indim_loop_builder *b = &r->l->b;
  indim_lval carried = 0;
  indim_lval value = 0;
  int64_t main = size / r->lanes * r->lanes;
  if (main > r->lanes) {
    indim_lval at =
        indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, main), r->lanes, 1, wide, &carried);
    index[r->vector_dim] = (indim_coord){at, 1};
    input_values(r, r->lanes, index, &value);
    apply(r, r->lanes, &carried, &value, &carried);
    indim_loop_for_end(b, &carried, wide);
  } else if (main == r->lanes) {
    index[r->vector_dim] = (indim_coord){indim_loop_index(b, 0), 1};
    input_values(r, r->lanes, index, &value);
    apply(r, r->lanes, wide, &value, wide);
  }
  for (int32_t lanes = r->lanes / 2; lanes >= 1; lanes /= 2) {
    if (size - main >= lanes) {
      index[r->vector_dim] = (indim_coord){indim_loop_index(b, main), lanes > 1 ? 1 : 0};
      input_values(r, lanes, index, &value);
      combine_lanes(r, lanes, &value);
      apply(r, 1, narrow, &value, narrow);
      main += lanes;
    }
  }
}

static void fold_rows(reduction *r, int32_t position, indim_coord *index, indim_lval *wide, indim_lval *narrow) {
  indim_loop_builder *b = &r->l->b;
  if (indim_lower_failed(r->l)) {
    return;
  }
  if (position == r->order_count) {
    fold_row(r, index, r->sizes[r->vector_dim], wide, narrow);
    return;
  }
  int32_t dim = r->order[position];
  indim_lval carried[2] = {*wide, *narrow};
  indim_lval in[2];
  index[dim] = (indim_coord){
      indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, r->sizes[dim]), 1, 2, carried, in), 0};
  fold_rows(r, position + 1, index, &in[0], &in[1]);
  indim_loop_for_end(b, in, carried);
  *wide = carried[0];
  *narrow = carried[1];
}

// A general reducer along one dimension: lanes start from the first elements, because only those may be taken twice never.
static void fold_general_row(reduction *r, indim_coord *index, indim_lval *acc) {
  indim_loop_builder *b = &r->l->b;
  int64_t size = r->sizes[r->vector_dim];
  int64_t main = size / r->lanes * r->lanes;
  indim_lval *in = indim_lower_alloc(r->l, 3 * (int64_t)r->n, sizeof *in);
  if (in == NULL) {
    return;
  }
  indim_lval *values = in + r->n;
  indim_lval *wide = in + 2 * r->n;
  index[r->vector_dim] = (indim_coord){indim_loop_index(b, 0), 1};
  input_values(r, r->lanes, index, wide);
  if (main > r->lanes) {
    indim_lval at =
        indim_loop_for_begin(b, indim_loop_index(b, r->lanes), indim_loop_index(b, main), r->lanes, r->n, wide, in);
    index[r->vector_dim] = (indim_coord){at, 1};
    input_values(r, r->lanes, index, values);
    apply(r, r->lanes, in, values, in);
    indim_loop_for_end(b, in, wide);
  }
  combine_lanes(r, r->lanes, wide);
  apply(r, 1, acc, wide, acc);
  for (int32_t lanes = r->lanes / 2; lanes >= 1; lanes /= 2) {
    if (size - main >= lanes) {
      index[r->vector_dim] = (indim_coord){indim_loop_index(b, main), lanes > 1 ? 1 : 0};
      input_values(r, lanes, index, values);
      combine_lanes(r, lanes, values);
      apply(r, 1, acc, values, acc);
      main += lanes;
    }
  }
}

// The nest over the output ---------------------------------------------------------------------------------------------

static void initial(reduction *r, indim_lval *acc) {
  indim_kernel k = {.l = r->l, .lanes = 1};
  for (int32_t i = 0; i < r->n; i++) {
    acc[i] = indim_value_at(&k, r->inits[i], NULL, 0);
  }
}

static void store_results(reduction *r, indim_kernel *k, const indim_coord *output, const indim_lval *acc) {
  for (int32_t i = 0; i < r->n && !indim_lower_failed(r->l); i++) {
    indim_flow_item *result = result_of(r, i);
    indim_store_at(k, result->shape, &result->place, output, acc[i]);
  }
}

// From coordinates of the output to those of the input.
static void spread_index(const reduction *r, const indim_coord *output, indim_coord *index) {
  int32_t at = 0;
  for (int32_t d = 0; d < r->rank; d++) {
    index[d] = (indim_coord){indim_loop_index(&r->l->b, 0), 0};
    if (!r->is_reduced[d]) {
      index[d] = output[at++];
    }
  }
}

static void output_body(indim_nest *nest, indim_kernel *k, const indim_coord *output) {
  reduction *r = nest->user;
  indim_coord index[INDIM_MAX_RANK];
  indim_lval *acc = indim_lower_alloc(r->l, r->n, sizeof *acc);
  if (acc == NULL) {
    return;
  }
  spread_index(r, output, index);
  initial(r, acc);
  bool by_rows = r->vector_dim >= 0 && r->is_reduced[r->vector_dim];
  if (!by_rows) {
    for (int32_t i = 0; i < r->n; i++) {
      acc[i] = indim_loop_splat(&r->l->b, acc[i], k->lanes);
    }
    fold_dims(r, 0, k->lanes, index, acc);
  } else if (r->is_single) {
    indim_lval wide = indim_loop_splat(&r->l->b, r->identity, r->lanes);
    indim_lval narrow = acc[0];
    fold_rows(r, 0, index, &wide, &narrow);
    combine_lanes(r, r->lanes, &wide);
    apply(r, 1, &wide, &narrow, acc);
  } else {
    fold_general_row(r, index, acc);
  }
  if (!indim_lower_failed(r->l)) {
    store_results(r, k, output, acc);
  }
}

// Survey over the input's dimensions.
static void survey_body(indim_nest *nest, indim_kernel *k, const indim_coord *index) {
  const reduction *r = nest->user;
  for (int32_t i = 0; i < r->n; i++) {
    (void)indim_value_at(k, r->inputs[i], index, 0);
  }
}

// Whether the item counts along dimension |dim|: an iota, perhaps repeated along others.
static bool counts_along(const indim_flow_item *item, int32_t dim) {
  for (int steps = 0; steps < 8 && item->kind == INDIM_FLOW_OP; steps++) {
    if (item->instr->op == INDIM_OP_IOTA) {
      return indim_instr_int(item->instr, INDIM_ATTR_IOTA_DIMENSION, 0) == dim;
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

// Only compares, selections and logic: every result is one of the arguments.
static bool only_selects(const indim_computation *computation) {
  for (int32_t i = 0; i < computation->instr_count; i++) {
    switch ((int)computation->instrs[i]->op) {
    case INDIM_OP_PARAMETER:
    case INDIM_OP_CONSTANT:
    case INDIM_OP_COMPARE:
    case INDIM_OP_SELECT:
    case INDIM_OP_AND:
    case INDIM_OP_OR:
    case INDIM_OP_NOT:
    case INDIM_OP_MAXIMUM:
    case INDIM_OP_MINIMUM:
    case INDIM_OP_TUPLE:
      break;
    default:
      return false;
    }
  }
  return true;
}

static void choose(reduction *r) {
  indim_access_list *list = indim_lower_alloc(r->l, 1, sizeof *list);
  if (list == NULL) {
    return;
  }
  const indim_shape *shape = r->inputs[0]->shape;
  indim_nest nest = {.l = r->l, .rank = r->rank, .body = survey_body, .user = r, .cost = r->inputs[0]->cost + 1};
  memcpy(nest.sizes, shape->sizes, (size_t)r->rank * sizeof *nest.sizes);
  for (int32_t d = 0; d < r->rank; d++) {
    nest.group[d] = r->is_reduced[d] ? 1 : 2;
  }
  indim_nest_survey(&nest, list);
  indim_nest_choose(&nest, NULL);
  r->vector_dim = nest.vector_dim;
  r->lanes = nest.lanes;
  if (r->vector_dim >= 0 && r->is_reduced[r->vector_dim] && nest.sizes[r->vector_dim] < r->lanes) {
    // Rows too short to fill a register: a lane for each of many rows, if there are many.
    for (int32_t d = 0; d < r->rank; d++) {
      r->vector_dim = !r->is_reduced[d] && shape->sizes[d] >= r->lanes ? d : r->vector_dim;
    }
  }
  if (r->vector_dim >= 0 && r->is_reduced[r->vector_dim] && r->is_single) {
    // Several registers of partial results hide the latency of an addition.
    int32_t registers = nest.cost <= 4 ? 8 : nest.cost <= 16 ? 4 : 2;
    while (registers > 1 && (int64_t)registers * r->lanes > nest.sizes[r->vector_dim]) {
      registers /= 2;
    }
    r->lanes *= registers;
  }
  for (int32_t d = 0; d < r->rank; d++) {
    r->sizes[d] = r->is_reduced[d] ? nest.sizes[d] : shape->sizes[d];
    r->merged[d] = nest.sizes[d];
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
  bool by_rows = r->vector_dim >= 0 && r->is_reduced[r->vector_dim];
  bool too_short = by_rows && r->sizes[r->vector_dim] < 2;
  r->by_place = by_rows && r->n == 2 && indim_type_is_integral(r->inputs[1]->shape->type) && only_selects(r->apply) &&
                counts_along(r->inputs[1], r->vector_dim);
  bool in_order = !r->is_single && !r->by_place && !indim_loop_can_reorder(r->apply);
  if (by_rows &&
      (in_order || too_short || (!r->is_single && (reduced_count > 1 || r->sizes[r->vector_dim] < r->lanes)))) {
    r->order[r->order_count++] = r->vector_dim;
    r->vector_dim = -1;
  }
}

// Whether the result lies in row-major order without gaps.
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

// Whether output dimensions that are one for the inputs are one for all results, too.
static bool merges_output(const reduction *r) {
  for (int32_t i = 0; i < r->n; i++) {
    if (!is_row_major(result_of(r, i))) {
      return false;
    }
  }
  return indim_shape_element_count(r->inputs[0]->shape) > 0;
}

static void run_output(reduction *r) {
  indim_lowering *l = r->l;
  indim_access_list *list = indim_lower_alloc(l, 1, sizeof *list);
  indim_flow_item *result = result_of(r, 0);
  if (list == NULL) {
    return;
  }
  list->rank = result->shape->rank;
  list->is_full = true;  // nothing is merged
  int64_t folded = indim_shape_element_count(r->inputs[0]->shape) / indim_shape_element_count(result->shape);
  indim_nest nest = {.l = l, .rank = result->shape->rank, .body = output_body, .user = r, .list = list};
  bool merges = merges_output(r);
  nest.cost = folded * (r->inputs[0]->cost + 1);
  nest.may_thread = true;
  nest.vector_dim = -1;
  nest.lanes = 1;
  nest.unroll = 1;
  int32_t at = 0;
  for (int32_t d = 0; d < r->rank; d++) {
    if (!r->is_reduced[d]) {
      nest.order[at] = at;
      nest.sizes[at] = merges ? r->merged[d] : result->shape->sizes[at];
      if (d == r->vector_dim) {
        nest.vector_dim = at;
        int32_t registers = r->is_single ? 4 : 1;
        while (registers > 1 && (int64_t)registers * r->lanes > nest.sizes[at]) {
          registers /= 2;
        }
        nest.lanes = r->lanes * registers;
      }
      at++;
    }
  }
  indim_nest_run(&nest);
}

// Columns in bands -------------------------------------------------------------------------------------------------------

// A column sum reads whole rows: a band of columns that stays in the nearest cache takes ROWS rows at a time, its partial
// results lying where the result will be.
enum { BAND = 2048, ROWS = 8, LEAST_COLUMNS = 256, LEAST_ROWS = 2 * ROWS };

static bool suits_bands(const reduction *r) {
  if (!r->is_single || r->vector_dim < 0 || r->is_reduced[r->vector_dim] || r->order_count != 1 ||
      r->sizes[r->order[0]] < LEAST_ROWS || r->merged[r->vector_dim] < LEAST_COLUMNS ||
      !is_row_major(result_of(r, 0))) {
    return false;
  }
  for (int32_t d = 0; d < r->rank; d++) {
    if (!r->is_reduced[d] && d != r->vector_dim && r->merged[d] != 1) {
      return false;
    }
  }
  return true;
}

// Takes |rows| rows from |row| on into the partial results of |lanes| columns at |column|.
static void take_rows(reduction *r, int32_t lanes, indim_lval column, indim_lval row, int32_t rows, bool is_first) {
  indim_loop_builder *b = &r->l->b;
  indim_flow_item *result = result_of(r, 0);
  indim_lval address = indim_loop_add(b, column, indim_location_start(r->l, &result->place));
  indim_coord index[INDIM_MAX_RANK];
  for (int32_t d = 0; d < r->rank; d++) {
    index[d] = (indim_coord){indim_loop_index(b, 0), 0};
  }
  index[r->vector_dim] = (indim_coord){column, lanes > 1 ? 1 : 0};
  indim_lval acc = 0;
  if (is_first) {
    initial(r, &acc);
    acc = indim_loop_splat(b, acc, lanes);
  } else {
    acc = indim_loop_load(b, result->place.storage, address, lanes, 1);
  }
  for (int32_t i = 0; i < rows && !indim_lower_failed(r->l); i++) {
    indim_lval value = 0;
    index[r->order[0]] = (indim_coord){indim_loop_add_const(b, row, i), 0};
    input_values(r, lanes, index, &value);
    apply(r, lanes, &acc, &value, &acc);
  }
  if (!indim_lower_failed(r->l)) {
    indim_loop_store(b, result->place.storage, address, acc, 1, false);
  }
}

// The same for |count| columns from |from| on.
static void sweep_rows(reduction *r, indim_lval from, int64_t count, indim_lval row, int32_t rows, bool is_first) {
  indim_loop_builder *b = &r->l->b;
  int64_t main = count / r->lanes * r->lanes;
  if (main > 0) {
    indim_lval at = indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, main), r->lanes, 0, NULL, NULL);
    take_rows(r, r->lanes, indim_loop_add(b, from, at), row, rows, is_first);
    indim_loop_for_end(b, NULL, NULL);
  }
  for (int32_t lanes = r->lanes / 2; lanes >= 1; lanes /= 2) {
    if (count - main >= lanes) {
      take_rows(r, lanes, indim_loop_add_const(b, from, main), row, rows, is_first);
      main += lanes;
    }
  }
}

static void run_band(reduction *r, indim_lval from, int64_t count) {
  indim_loop_builder *b = &r->l->b;
  int64_t rows = r->sizes[r->order[0]];
  int64_t main = rows / ROWS * ROWS;
  sweep_rows(r, from, count, indim_loop_index(b, 0), ROWS, true);
  if (main > ROWS) {
    indim_lval row = indim_loop_for_begin(b, indim_loop_index(b, ROWS), indim_loop_index(b, main), ROWS, 0, NULL, NULL);
    sweep_rows(r, from, count, row, ROWS, false);
    indim_loop_for_end(b, NULL, NULL);
  }
  if (rows > main) {
    sweep_rows(r, from, count, indim_loop_index(b, main), (int32_t)(rows - main), false);
  }
}

static bool may_thread(const reduction *r) {
  enum { WORTH_THREADS = 65536 };
  return r->l->loop_depth == 0 && !indim_lower_without(r->l, INDIM_DECISION_THREADS) &&
         indim_shape_element_count(r->inputs[0]->shape) >= WORTH_THREADS;
}

static void run_bands(reduction *r) {
  indim_loop_builder *b = &r->l->b;
  int64_t columns = r->merged[r->vector_dim];
  int64_t band = columns >= 16 * BAND           ? BAND
                 : columns >= 4 * LEAST_COLUMNS ? columns / 4 / r->lanes * r->lanes
                                                : columns;
  band = band > BAND ? BAND : band;
  int64_t main = columns / band * band;
  indim_lval from = indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, main), band, 0, NULL, NULL);
  if (may_thread(r) && main > band) {
    indim_loop_for_parallel(b, 1);
  }
  run_band(r, from, band);
  indim_loop_for_end(b, NULL, NULL);
  if (columns > main) {
    run_band(r, indim_loop_index(b, main), columns - main);
  }
}

// One long row in pieces ------------------------------------------------------------------------------------------------

enum { PIECES = 16 };

static bool suits_pieces(const reduction *r) {
  return r->is_single && r->vector_dim >= 0 && r->is_reduced[r->vector_dim] && r->order_count == 0 && may_thread(r) &&
         indim_shape_element_count(result_of(r, 0)->shape) == 1 &&
         r->sizes[r->vector_dim] >= 2 * PIECES * (int64_t)r->lanes;
}

// Every piece leaves a partial result; they are the same for any number of threads.
static void run_pieces(reduction *r) {
  indim_lowering *l = r->l;
  indim_loop_builder *b = &l->b;
  indim_flow_item *result = result_of(r, 0);
  int64_t size = r->sizes[r->vector_dim];
  int64_t piece = size / PIECES / r->lanes * r->lanes;
  indim_storage *parts = indim_loop_storage(b, INDIM_STORAGE_SCRATCH, result->shape->type, PIECES, "parts");
  indim_coord index[INDIM_MAX_RANK];
  for (int32_t d = 0; d < r->rank; d++) {
    index[d] = (indim_coord){indim_loop_index(b, 0), 0};
  }
  indim_loop_kernel_begin(b, &parts, 1);
  indim_lval p = indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, PIECES), 1, 0, NULL, NULL);
  indim_loop_for_parallel(b, 1);
  indim_lval wide = indim_loop_splat(b, r->identity, r->lanes);
  indim_lval carried = 0;
  indim_lval value = 0;
  indim_lval at =
      indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, piece), r->lanes, 1, &wide, &carried);
  index[r->vector_dim] = (indim_coord){indim_loop_add(b, indim_loop_mul_const(b, p, piece), at), 1};
  input_values(r, r->lanes, index, &value);
  apply(r, r->lanes, &carried, &value, &carried);
  indim_loop_for_end(b, &carried, &wide);
  combine_lanes(r, r->lanes, &wide);
  indim_loop_store(b, parts, p, wide, 1, false);
  indim_loop_for_end(b, NULL, NULL);
  // The pieces together, what is left of the row, and the initial value.
  indim_element_forget(l);
  indim_loop_kernel_begin(b, &result->place.storage, 1);
  indim_lval all = indim_loop_load(b, parts, indim_loop_index(b, 0), PIECES, 1);
  combine_lanes(r, PIECES, &all);
  indim_lval total = 0;
  initial(r, &total);
  apply(r, 1, &total, &all, &total);
  int64_t done = piece * PIECES;
  wide = indim_loop_splat(b, r->identity, r->lanes);
  for (; size - done >= r->lanes; done += r->lanes) {
    index[r->vector_dim] = (indim_coord){indim_loop_index(b, done), 1};
    input_values(r, r->lanes, index, &value);
    apply(r, r->lanes, &wide, &value, &wide);
  }
  combine_lanes(r, r->lanes, &wide);
  apply(r, 1, &total, &wide, &total);
  for (int32_t lanes = r->lanes / 2; lanes >= 1; lanes /= 2) {
    if (size - done >= lanes) {
      index[r->vector_dim] = (indim_coord){indim_loop_index(b, done), lanes > 1 ? 1 : 0};
      input_values(r, lanes, index, &value);
      combine_lanes(r, lanes, &value);
      apply(r, 1, &total, &value, &total);
      done += lanes;
    }
  }
  indim_coord output[INDIM_MAX_RANK];
  for (int32_t d = 0; d < result->shape->rank; d++) {
    output[d] = (indim_coord){indim_loop_index(b, 0), 0};
  }
  indim_kernel k = {.l = l, .lanes = 1};
  store_results(r, &k, output, &total);
}

void indim_lower_reduce(indim_lowering *l, indim_flow_item *item) {
  reduction r = {.l = l, .item = item, .n = item->operand_count / 2, .inputs = item->operands};
  r.inits = item->operands + r.n;
  r.apply = indim_instr_computation(item->instr, INDIM_ATTR_TO_APPLY);
  r.rank = r.inputs[0]->shape->rank;
  if (!indim_loop_can_apply(r.apply)) {
    indim_lower_refuse(l, item, "its computation is more than elementwise work on scalars");
    return;
  }
  int64_t count = 0;
  const int64_t *dims = indim_instr_ints(item->instr, INDIM_ATTR_DIMENSIONS, &count);
  for (int64_t i = 0; i < count; i++) {
    r.is_reduced[dims[i]] = true;
  }
  if (indim_shape_element_count(result_of(&r, 0)->shape) == 0) {
    return;
  }
  indim_storage **written = indim_lower_alloc(l, r.n, sizeof(indim_storage *));
  for (int32_t i = 0; i < r.n && written != NULL; i++) {
    written[i] = result_of(&r, i)->place.storage;
  }
  if (indim_lower_failed(l)) {
    return;
  }
  r.is_single = indim_lower_single(l, r.apply, r.inputs[0]->shape->type, &r.op, &r.identity);
  indim_loop_kernel_begin(&l->b, written, r.n);
  if (indim_shape_element_count(r.inputs[0]->shape) == 0) {
    // Nothing to fold: the initial values.
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
  if (suits_bands(&r)) {
    indim_lower_explain(l, item, "bands of columns, %d rows at a time", ROWS);
    run_bands(&r);
  } else if (suits_pieces(&r)) {
    indim_lower_explain(l, item, "one row in %d pieces", PIECES);
    run_pieces(&r);
  } else {
    run_output(&r);
  }
}
