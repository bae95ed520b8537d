// reduce-window and select-and-scatter. The loops run over the positions of the window, split where taps begin to read
// padding, so that the inner segment has no guards; a small window is unrolled, a large one is a loop over the taps
// that read elements.
#include "loop/kernels/window.h"

#include <string.h>

#include "loop/ir/build.h"
#include "loop/target/cost.h"

static const indim_window_dim whole = {.size = 1, .stride = 1, .base_dilation = 1, .window_dilation = 1};

// Taps ----------------------------------------------------------------------------------------------------------------

const indim_window_dim *indim_window_dim_of(const indim_instr *instr, int32_t d) {
  const indim_attr *attr = indim_instr_attr(instr, INDIM_ATTR_WINDOW);
  return attr == NULL ? &whole : &attr->value.window[d];
}

bool indim_window_is_plain(const indim_window_dim *window) {
  return window->size == 1 && window->stride == 1 && window->pad_low == 0 && window->pad_high <= 0 &&
         window->base_dilation == 1;
}

static indim_coord base_coordinate(indim_element_ctx *k, const indim_window_dim *window, indim_coord position,
                                   indim_coord tap) {
  indim_coord first = indim_coord_scale(k, position, window->stride, -window->pad_low);
  return indim_coord_add(k, first, indim_coord_scale(k, tap, window->window_dilation, 0));
}

indim_value_id indim_window_element(indim_element_ctx *k, const indim_window_dim *window, int64_t size,
                                    indim_coord position, indim_coord tap, indim_coord *out_element, bool *out_never) {
  indim_coord x = base_coordinate(k, window, position, tap);
  *out_never = size == 0;
  *out_element = position;
  // Every position of a trivial dimension is an element; it may also be a position of collapsed dimensions.
  if (size == 0 || indim_window_is_plain(window)) {
    return 0;
  }
  indim_value_id guard = indim_coord_guard(k, x, 0, (size - 1) * window->base_dilation, out_never);
  *out_element = x;
  if (window->base_dilation > 1 && !*out_never) {
    indim_coord rest;
    indim_coord_divide(k, x, window->base_dilation, out_element, &rest);
    guard = indim_mask_and(k, guard, indim_coord_guard(k, rest, 0, 0, out_never));
  }
  return guard;
}

bool indim_window_range(indim_element_ctx *k, const indim_window_dim *window, int64_t size, indim_coord position,
                        indim_value_id *out_low, indim_value_id *out_high) {
  indim_loop_builder *b = &k->l->b;
  if (size == 0 || window->base_dilation > 1 || position.step != 0 ||
      indim_loop_value_of(b, position.base)->lanes > 1) {
    return false;
  }
  int64_t dilation = window->window_dilation;
  // The least tap with first + tap * dilation >= 0, and the least with first + tap * dilation >= size.
  indim_value_id first = indim_loop_affine(b, -window->pad_low, 1, &position.base, &window->stride);
  indim_value_id to_begin = indim_loop_affine(b, dilation - 1, 1, &first, &(int64_t){-1});
  indim_value_id to_end = indim_loop_add_const(b, to_begin, size);
  *out_low = indim_loop_clamp_index(b, indim_loop_floordiv(b, to_begin, dilation), 0, window->size);
  *out_high = indim_loop_clamp_index(b, indim_loop_floordiv(b, to_end, dilation), 0, window->size);
  return true;
}

indim_coord indim_window_element_in_range(indim_element_ctx *k, const indim_window_dim *window, int64_t size,
                                          indim_coord position, indim_value_id tap) {
  indim_coord x = base_coordinate(k, window, position, (indim_coord){tap, 0});
  return (indim_coord){indim_loop_clamp_index(&k->l->b, x.base, 0, size - 1), 0};
}

void indim_window_inside(const indim_window_dim *window, int64_t size, int64_t positions, int64_t *out_low,
                         int64_t *out_high) {
  int64_t reach = (window->size - 1) * window->window_dilation;
  int64_t low = -indim_index_floordiv(-window->pad_low, window->stride);
  int64_t high = indim_index_floordiv(size - 1 + window->pad_low - reach, window->stride) + 1;
  low = low < 0 ? 0 : low > positions ? positions : low;
  *out_low = low;
  *out_high = high < low ? low : high > positions ? positions : high;
}

void indim_window_split(indim_access_list *list, int32_t d, const indim_window_dim *window, int64_t size,
                        int64_t positions, int32_t lanes) {
  if (indim_window_is_plain(window)) {
    return;
  }
  list->split_point_count[d] = 0;
  if (window->base_dilation > 1) {
    return;
  }
  int64_t reach = (window->size - 1) * window->window_dilation;
  int64_t split_points[2] = {-indim_index_floordiv(-window->pad_low, window->stride),
                             indim_index_floordiv(size - 1 + window->pad_low - reach, window->stride) + 1};
  split_points[0] = -indim_index_floordiv(-split_points[0], lanes) * lanes;
  split_points[1] = indim_index_floordiv(split_points[1], lanes) * lanes;
  for (int i = 0; i < 2 && split_points[0] < split_points[1]; i++) {
    if (split_points[i] > 0 && split_points[i] < positions) {
      list->split_points[d][list->split_point_count[d]++] = split_points[i];
    }
  }
}

// reduce-window -------------------------------------------------------------------------------------------------------

enum {
  MAX_UNROLLED = 16,  // taps
  MAX_TAPS = 320      // in all copies of the body
};

typedef struct window_reduction {
  indim_lowering *l;
  indim_flow_item *item;
  int32_t n;  // inputs and results
  indim_flow_item **inputs, **inits;
  const indim_computation *apply;
  int32_t rank;
  bool is_loop[INDIM_MAX_RANK];  // over the taps of this dimension
} window_reduction;

static indim_flow_item *result_of(const window_reduction *f, int32_t i) { return indim_flow_result(f->item, i); }

// Taps are unrolled from the innermost dimension outwards, while they are few.
static void choose_loops(const indim_instr *instr, int32_t rank, bool *out_is_loop) {
  int64_t taps = 1;
  for (int32_t d = rank - 1; d >= 0; d--) {
    int64_t size = indim_window_dim_of(instr, d)->size;
    out_is_loop[d] = size > MAX_UNROLLED / taps;
    taps *= out_is_loop[d] ? 1 : size;
  }
}

static void reduce_tap(window_reduction *f, indim_element_ctx *k, const indim_coord *element, indim_value_id mask,
                       indim_value_id *acc) {
  indim_value_id *args = indim_lower_alloc(f->l, 3 * (int64_t)f->n, sizeof *args);
  if (args == NULL) {
    return;
  }
  memcpy(args, acc, (size_t)f->n * sizeof *args);
  for (int32_t i = 0; i < f->n; i++) {
    args[f->n + i] = indim_value_at_lanes(k, f->inputs[i], element, mask);
  }
  if (indim_lower_failed(f->l)) {
    return;
  }
  indim_loop_apply(&f->l->b, f->apply, k->lanes, args, args + 2 * f->n);
  for (int32_t i = 0; i < f->n && !indim_lower_failed(f->l); i++) {
    indim_value_id combined = args[2 * f->n + i];
    acc[i] = mask == 0 ? combined : indim_select_lanes(k, mask, combined, acc[i]);
  }
}

static void reduce_taps(window_reduction *f, indim_element_ctx *k, int32_t d, const indim_coord *position,
                        indim_coord *element, indim_value_id mask, indim_value_id *acc);

static void loop_over_taps(window_reduction *f, indim_element_ctx *k, int32_t d, const indim_coord *position,
                           indim_coord *element, indim_value_id mask, indim_value_id *acc) {
  indim_loop_builder *b = &f->l->b;
  const indim_window_dim *window = indim_window_dim_of(f->item->instr, d);
  int64_t size = f->inputs[0]->shape->sizes[d];
  indim_value_id low = indim_loop_index(b, 0);
  indim_value_id high = indim_loop_index(b, window->size);
  bool is_range = indim_window_range(k, window, size, position[d], &low, &high);
  indim_value_id *in = indim_lower_alloc(f->l, f->n, sizeof *in);
  if (in == NULL || indim_lower_failed(f->l)) {
    return;
  }
  indim_value_id tap = indim_loop_for_begin(b, low, high, 1, f->n, acc, in);
  bool never = false;
  indim_value_id guard = 0;
  if (is_range) {
    element[d] = indim_window_element_in_range(k, window, size, position[d], tap);
  } else {
    guard = indim_window_element(k, window, size, position[d], (indim_coord){tap, 0}, &element[d], &never);
  }
  f->l->loop_depth++;
  if (!never) {
    reduce_taps(f, k, d + 1, position, element, indim_mask_and(k, mask, guard), in);
  }
  f->l->loop_depth--;
  indim_loop_for_end(b, in, acc);
}

// Accumulates into |acc| over the taps of dimensions |d| and above.
static void reduce_taps(window_reduction *f, indim_element_ctx *k, int32_t d, const indim_coord *position,
                        indim_coord *element, indim_value_id mask, indim_value_id *acc) {
  if (indim_lower_failed(f->l)) {
    return;
  }
  if (d == f->rank) {
    reduce_tap(f, k, element, mask, acc);
    return;
  }
  if (f->is_loop[d]) {
    loop_over_taps(f, k, d, position, element, mask, acc);
    return;
  }
  const indim_window_dim *window = indim_window_dim_of(f->item->instr, d);
  for (int64_t tap = 0; tap < window->size; tap++) {
    bool never = false;
    indim_value_id guard = indim_window_element(k, window, f->inputs[0]->shape->sizes[d], position[d],
                                                indim_coord_const(k, tap), &element[d], &never);
    if (!never) {
      reduce_taps(f, k, d + 1, position, element, indim_mask_and(k, mask, guard), acc);
    }
  }
}

static void reduce_body(indim_nest *nest, indim_element_ctx *k, const indim_coord *position) {
  window_reduction *f = nest->user;
  indim_coord element[INDIM_MAX_RANK];
  indim_value_id *acc = indim_lower_alloc(f->l, f->n, sizeof *acc);
  for (int32_t i = 0; i < f->n && acc != NULL; i++) {
    acc[i] = indim_value_at_lanes(k, f->inits[i], NULL, 0);
  }
  if (acc == NULL || indim_lower_failed(f->l)) {
    return;
  }
  reduce_taps(f, k, 0, position, element, 0, acc);
  for (int32_t i = 0; i < f->n && !indim_lower_failed(f->l); i++) {
    indim_store_at(k, result_of(f, i)->shape, &result_of(f, i)->place, position, acc[i]);
  }
}

// One tap without padding: for the strides only.
static void analyze_body(indim_nest *nest, indim_element_ctx *k, const indim_coord *position) {
  window_reduction *f = nest->user;
  indim_coord element[INDIM_MAX_RANK];
  for (int32_t d = 0; d < f->rank; d++) {
    const indim_window_dim *window = indim_window_dim_of(f->item->instr, d);
    indim_coord rest;
    indim_coord_divide(k, indim_coord_scale(k, position[d], window->stride, 0), window->base_dilation, &element[d],
                       &rest);
  }
  for (int32_t i = 0; i < f->n; i++) {
    indim_value_id value = indim_value_at(k, f->inputs[i], element, 0);
    if (!indim_lower_failed(f->l)) {
      indim_store_at(k, result_of(f, i)->shape, &result_of(f, i)->place, position, value);
    }
  }
}

// Taps in the code: those of one body in each segment, vector and index of its own of short dimensions.
static int64_t taps_in_code(const window_reduction *f, const indim_nest *nest) {
  int64_t taps = 1;
  for (int32_t d = 0; d < f->rank; d++) {
    int64_t borders[INDIM_MAX_SPLIT_POINTS + 2];
    int32_t segments = indim_nest_borders(nest, d, 1, borders);
    int64_t copies = 0;
    for (int32_t i = 0; i < segments; i++) {
      int64_t length = borders[i + 1] - borders[i];
      bool is_short = !nest->is_long && length <= INDIM_COST_UNROLLED_LOOP;
      copies += d != nest->vector_dim ? (is_short ? length : 1) : length < nest->lanes ? 1 : nest->unroll + 1;
    }
    const indim_window_dim *window = indim_window_dim_of(f->item->instr, d);
    copies *= d == nest->vector_dim && window->stride > 1 ? 2 : 1;  // such vectors are taken apart
    taps = indim_index_mul_saturated(taps, copies * (f->is_loop[d] ? 1 : window->size));
  }
  return taps;
}

static void split(const window_reduction *f, const indim_nest *nest, indim_access_list *list) {
  const indim_shape *shape = result_of(f, 0)->shape;
  for (int32_t d = 0; d < f->rank; d++) {
    if (f->is_loop[d] && d != nest->vector_dim) {
      continue;  // the loop over its taps is limited to those that read elements
    }
    indim_window_split(list, d, indim_window_dim_of(f->item->instr, d), f->inputs[0]->shape->sizes[d], shape->sizes[d],
                       d == nest->vector_dim ? nest->lanes : 1);
  }
}

// Where there would be many copies of the body there is one for all iterations of a short loop, and then, from the outermost
// dimension on, for all places in the padding: the taps there are a loop.
static void bound_code(window_reduction *f, indim_nest *nest, indim_access_list *list) {
  nest->is_long = taps_in_code(f, nest) > MAX_TAPS;
  for (int32_t d = 0; d < f->rank && taps_in_code(f, nest) > MAX_TAPS; d++) {
    const indim_window_dim *window = indim_window_dim_of(f->item->instr, d);
    if (d != nest->vector_dim && window->base_dilation == 1 && !indim_window_is_plain(window)) {
      f->is_loop[d] = true;
      list->split_point_count[d] = 0;
    }
  }
}

static void run_positions(window_reduction *f) {
  const indim_shape *shape = result_of(f, 0)->shape;
  indim_access_list *list = indim_lower_alloc(f->l, 1, sizeof *list);
  indim_nest nest = {.l = f->l, .rank = f->rank, .body = analyze_body, .user = f, .may_thread = true};
  if (list == NULL) {
    return;
  }
  memcpy(nest.sizes, shape->sizes, (size_t)f->rank * sizeof *nest.sizes);
  nest.cost = f->inputs[0]->cost + 1;
  for (int32_t d = 0; d < f->rank; d++) {
    const indim_window_dim *window = indim_window_dim_of(f->item->instr, d);
    nest.cost = indim_index_mul_saturated(nest.cost, window->size);
    nest.group[d] = indim_window_is_plain(window) ? 0 : (uint8_t)(d + 1);
  }
  nest.cost = nest.cost > 1000000 ? 1000000 : nest.cost;
  if (indim_shape_element_count(shape) > 1) {
    indim_nest_analyze(&nest, list);
    indim_nest_choose(&nest, result_of(f, 0)->place.strides);
  } else {
    list->widest = 1;
    nest.list = list;
    nest.vector_dim = -1;
    nest.lanes = 1;
    nest.unroll = 1;
    for (int32_t d = 0; d < f->rank; d++) {
      nest.order[d] = d;
    }
  }
  split(f, &nest, list);
  bound_code(f, &nest, list);
  nest.body = reduce_body;
  nest.may_repeat = true;
  indim_element_forget(f->l);
  indim_nest_run(&nest);
}

void indim_lower_reduce_window(indim_lowering *l, indim_flow_item *item) {
  window_reduction f = {.l = l, .item = item, .n = item->operand_count / 2, .inputs = item->operands};
  f.inits = item->operands + f.n;
  f.apply = indim_instr_computation(item->instr, INDIM_ATTR_TO_APPLY);
  f.rank = f.inputs[0]->shape->rank;
  indim_storage **written = indim_lower_alloc(l, f.n, sizeof *written);
  for (int32_t i = 0; i < f.n && written != NULL; i++) {
    written[i] = result_of(&f, i)->place.storage;
  }
  if (indim_lower_failed(l)) {
    return;
  }
  choose_loops(item->instr, f.rank, f.is_loop);
  indim_loop_region_begin(&l->b, written, f.n);
  run_positions(&f);
}

// select-and-scatter --------------------------------------------------------------------------------------------------

typedef struct selecting {
  indim_lowering *l;
  indim_flow_item *item;
  indim_flow_item *operand, *source, *init;
  const indim_computation *select, *scatter;
  int32_t rank;
  bool is_loop[INDIM_MAX_RANK];
  indim_coord position[INDIM_MAX_RANK];  // in the source: the open loops' indices
} selecting;

// State of a selection: whether anything is selected, the value, and the element's coordinates.
enum { FOUND, VALUE, COORDINATES };

static void init_body(indim_nest *nest, indim_element_ctx *k, const indim_coord *index) {
  selecting *s = nest->user;
  indim_value_id value = indim_value_at(k, s->init, NULL, 0);
  if (!indim_lower_failed(s->l)) {
    indim_store_at(k, s->item->shape, &s->item->place, index, value);
  }
}

static void fill_result(selecting *s) {
  indim_access_list *list = indim_lower_alloc(s->l, 1, sizeof *list);
  indim_nest nest = {.l = s->l, .rank = s->rank, .body = init_body, .user = s, .may_thread = true};
  if (list == NULL) {
    return;
  }
  memcpy(nest.sizes, s->item->shape->sizes, (size_t)s->rank * sizeof *nest.sizes);
  indim_nest_analyze(&nest, list);
  indim_nest_choose(&nest, s->item->place.strides);
  indim_nest_run(&nest);
}

// An element replaces the selected one unless select(selected, element) is true.
static void select_tap(selecting *s, const indim_coord *element, indim_value_id mask, indim_value_id *state) {
  indim_loop_builder *b = &s->l->b;
  indim_element_ctx k = {.l = s->l, .lanes = 1};
  indim_value_id both[2] = {state[VALUE], indim_value_at(&k, s->operand, element, mask)};
  indim_value_id keeps = 0;
  if (indim_lower_failed(s->l)) {
    return;
  }
  indim_loop_apply(b, s->select, 1, both, &keeps);
  if (indim_lower_failed(s->l)) {
    return;
  }
  keeps = indim_loop_binary(b, INDIM_OP_AND, keeps, state[FOUND]);
  indim_loop_op not_op = {.op = INDIM_OP_NOT};
  indim_value_id taken = indim_mask_and(&k, mask, indim_loop_elementwise(b, not_op, INDIM_PRED, 1, &keeps));
  indim_value_id always = indim_loop_const(b, INDIM_PRED, 1, 0);
  state[FOUND] = mask == 0 ? always : indim_loop_binary(b, INDIM_OP_OR, state[FOUND], mask);
  state[VALUE] = indim_loop_select(b, taken, both[1], state[VALUE]);
  for (int32_t d = 0; d < s->rank; d++) {
    state[COORDINATES + d] = indim_loop_select(b, taken, element[d].base, state[COORDINATES + d]);
  }
}

static void select_taps(selecting *s, int32_t d, indim_coord *element, indim_value_id mask, indim_value_id *state) {
  indim_loop_builder *b = &s->l->b;
  indim_element_ctx k = {.l = s->l, .lanes = 1};
  const indim_window_dim *window = d < s->rank ? indim_window_dim_of(s->item->instr, d) : &whole;
  int64_t size = d < s->rank ? s->operand->shape->sizes[d] : 0;
  indim_value_id low = 0, high = 0;
  if (indim_lower_failed(s->l)) {
    return;
  }
  if (d == s->rank) {
    select_tap(s, element, mask, state);
    return;
  }
  if (s->is_loop[d] && indim_window_range(&k, window, size, s->position[d], &low, &high)) {
    indim_value_id in[COORDINATES + INDIM_MAX_RANK];
    indim_value_id tap = indim_loop_for_begin(b, low, high, 1, COORDINATES + s->rank, state, in);
    element[d] = indim_window_element_in_range(&k, window, size, s->position[d], tap);
    select_taps(s, d + 1, element, mask, in);
    indim_loop_for_end(b, in, state);
    return;
  }
  for (int64_t tap = 0; tap < window->size; tap++) {
    bool never = false;
    indim_value_id guard =
        indim_window_element(&k, window, size, s->position[d], indim_coord_const(&k, tap), &element[d], &never);
    if (!never) {
      select_taps(s, d + 1, element, indim_mask_and(&k, mask, guard), state);
    }
  }
}

// Scatters one source element to the element that its window selects.
static void scatter_source(selecting *s) {
  indim_loop_builder *b = &s->l->b;
  indim_element_ctx k = {.l = s->l, .lanes = 1};
  indim_value_id state[COORDINATES + INDIM_MAX_RANK];
  indim_coord element[INDIM_MAX_RANK];
  state[FOUND] = indim_loop_const(b, INDIM_PRED, 0, 0);
  state[VALUE] = indim_loop_const(b, s->operand->shape->type, 0, 0);
  for (int32_t d = 0; d < s->rank; d++) {
    state[COORDINATES + d] = indim_loop_index(b, 0);
  }
  select_taps(s, 0, element, 0, state);
  if (indim_lower_failed(s->l)) {
    return;
  }
  indim_loop_if_begin(b, state[FOUND]);
  for (int32_t d = 0; d < s->rank; d++) {
    int64_t most = s->operand->shape->sizes[d] - 1;
    element[d] = (indim_coord){indim_loop_clamp_index(b, state[COORDINATES + d], 0, most), 0};
  }
  indim_value_id both[2] = {indim_value_at(&k, s->source, s->position, 0),
                            indim_load_at(&k, s->item->shape, &s->item->place, element)};
  indim_value_id sum = 0;
  if (!indim_lower_failed(s->l)) {
    indim_loop_apply(b, s->scatter, 1, both, &sum);
  }
  if (!indim_lower_failed(s->l)) {
    indim_store_at(&k, s->item->shape, &s->item->place, element, sum);
  }
  indim_loop_if_else(b, 0, NULL);
  indim_loop_if_end(b, NULL, NULL);
}

static void run_sources(selecting *s, int32_t d) {
  indim_loop_builder *b = &s->l->b;
  if (indim_lower_failed(s->l)) {
    return;
  }
  if (d == s->rank) {
    scatter_source(s);
    return;
  }
  indim_value_id end = indim_loop_index(b, s->source->shape->sizes[d]);
  s->position[d] = (indim_coord){indim_loop_for_begin(b, indim_loop_index(b, 0), end, 1, 0, NULL, NULL), 0};
  s->l->loop_depth++;
  run_sources(s, d + 1);
  s->l->loop_depth--;
  indim_loop_for_end(b, NULL, NULL);
}

void indim_lower_select_and_scatter(indim_lowering *l, indim_flow_item *item) {
  selecting s = {.l = l,
                 .item = item,
                 .operand = item->operands[0],
                 .source = item->operands[1],
                 .init = item->operands[2],
                 .select = indim_instr_computation(item->instr, INDIM_ATTR_SELECT),
                 .scatter = indim_instr_computation(item->instr, INDIM_ATTR_SCATTER),
                 .rank = item->shape->rank};
  choose_loops(item->instr, s.rank, s.is_loop);
  indim_loop_region_begin(&l->b, &item->place.storage, 1);
  fill_result(&s);
  indim_element_forget(l);
  if (indim_shape_element_count(s.source->shape) > 0) {
    run_sources(&s, 0);
  }
}
