// convolution: left to the host where it is large (convolution_host.c), else a loop nest over the output around loops over the window's taps that read the input and over the input
// features. Lanes are elements of the output, several rows share loads (unroll-and-jam), and the nest is split where
// taps begin to read padding, so that the inner part has no guards. As in dot, the order of the sums, and FMA, are the
// compiler's choice.
#include <string.h>

#include "loop/ir/build.h"
#include "loop/kernels/convolution.h"
#include "loop/kernels/window.h"
#include "loop/target/cost.h"

enum {
  MAX_ROWS = 6,
  FEW_ROWS = 4,
  FEW = 4,
  MAX_UNROLLED = 32,  // taps, of few features
  // The same of a dimension of a dilated image, each with a division and a mask; and along vectors, of images and of signals
  // whose sums are one or several: a copy for each way in which vectors meet the padding. blur, fir.
  MAX_UNROLLED_DILATED = 4,
  MAX_UNROLLED_PLANE = 16,
  MAX_UNROLLED_LINE = 8,
  MAX_UNROLLED_LINES = 4,
  JAMMED = 4,  // vectors of a signal side by side, which would wait for each product one by one
  LEAST_LONG = 256,
  RARE_ROWS = 16,  // rows that are less than one in so many need no code of their own
  RARE_EDGES = 32  // the same of vectors, for those at the edges
};

typedef struct convolution {
  indim_lowering *l;
  indim_flow_item *item;
  indim_flow_item *input, *filter;
  const indim_dim_labels *labels;
  indim_type sum;
  int64_t features;   // input features of the filter
  int64_t groups;     // of output features: each reads its own input features or its own part of the batch
  bool splits_batch;  // its own part of the batch
  int64_t outputs;    // output features of a group
  int32_t rank;       // of the nest: the output's dimensions, with the features of one group, and the groups
  int64_t sizes[INDIM_MAX_RANK];
  int32_t order[INDIM_MAX_RANK];
  int32_t vector_dim, lanes;
  int32_t along;    // spatial dimension of the vectors; -1: none
  int32_t row_dim;  // dimension of the nest that is unroll-and-jammed; -1: none
  int32_t rows, max_rows;
  bool is_loop[INDIM_MAX_RANK];  // over the taps of a spatial dimension
  bool is_long;                  // there is one copy of the body for all iterations of a loop
  bool is_empty;
  const indim_access_list *list;
} convolution;

// State of |rows| rows that are computed together.
typedef struct tap_state {
  indim_element_ctx *k;
  int32_t rows;
  bool is_edge;                                   // some lanes read padding
  indim_coord output[MAX_ROWS][INDIM_MAX_RANK];   // of the nest
  indim_coord element[MAX_ROWS][INDIM_MAX_RANK];  // of the input
  indim_coord tap[INDIM_MAX_RANK];                // of the filter
  indim_value_id mask[MAX_ROWS];
} tap_state;

static void set_up(convolution *c) {
  const indim_instr *instr = c->item->instr;
  const indim_dim_labels *labels = indim_instr_attr(instr, INDIM_ATTR_DIM_LABELS)->value.dim_labels;
  int64_t feature_groups = indim_instr_int(instr, INDIM_ATTR_FEATURE_GROUP_COUNT, 1);
  int64_t batch_groups = indim_instr_int(instr, INDIM_ATTR_BATCH_GROUP_COUNT, 1);
  const indim_shape *shape = c->item->shape;
  indim_type type = shape->type;
  c->labels = labels;
  c->sum = indim_type_is_float(type) && type != INDIM_F64 ? INDIM_F32 : type;
  c->features = c->filter->shape->sizes[labels->kernel_input];
  c->splits_batch = batch_groups > 1;
  c->groups = c->splits_batch ? batch_groups : feature_groups;
  c->outputs = shape->sizes[labels->output_feature] / c->groups;
  c->rank = shape->rank + 1;
  memcpy(c->sizes, shape->sizes, (size_t)shape->rank * sizeof *c->sizes);
  c->sizes[labels->output_feature] = c->outputs;
  c->sizes[shape->rank] = c->groups;
  c->is_empty = indim_shape_element_count(c->input->shape) == 0 || indim_shape_element_count(c->filter->shape) == 0;
  // Complex ones need two registers each; sums of few features hide their latency with fewer, which is less code.
  c->max_rows = indim_type_is_complex(type) ? MAX_ROWS / 2 : c->features <= FEW ? FEW_ROWS : MAX_ROWS;
  int64_t taps = c->features <= FEW ? c->features : MAX_UNROLLED / 2;
  for (int32_t s = labels->spatial_count - 1; s >= 0; s--) {
    const indim_window_dim *window = indim_window_dim_of(instr, s);
    int64_t size = window->size;
    int64_t most = window->base_dilation > 1 ? MAX_UNROLLED_DILATED : MAX_UNROLLED;
    c->is_loop[s] = size > 1 && taps > 0 && (size > most || size > MAX_UNROLLED / taps);
    taps *= c->is_loop[s] ? 1 : size;
  }
}

// One factor ----------------------------------------------------------------------------------------------------------

// Converts to the type of the output, as the op requires, then to that of the sums.
static indim_value_id as_factor(convolution *c, indim_value_id x) {
  return indim_loop_convert(&c->l->b, indim_loop_convert(&c->l->b, x, c->item->shape->type), c->sum);
}

static indim_value_id input_factor(convolution *c, indim_element_ctx *k, const indim_coord *output,
                                   const indim_coord *element, indim_coord feature, indim_value_id mask) {
  const indim_dim_labels *l = c->labels;
  indim_coord at[INDIM_MAX_RANK];
  indim_coord group = output[c->item->shape->rank];
  for (int32_t s = 0; s < l->spatial_count; s++) {
    at[l->input_spatial[s]] = element[s];
  }
  at[l->input_batch] = output[l->output_batch];
  at[l->input_feature] = feature;
  if (c->splits_batch) {
    int64_t batch = c->item->shape->sizes[l->output_batch];
    at[l->input_batch] = indim_coord_add(k, at[l->input_batch], indim_coord_scale(k, group, batch, 0));
  } else {
    at[l->input_feature] = indim_coord_add(k, feature, indim_coord_scale(k, group, c->features, 0));
  }
  return as_factor(c, indim_value_at(k, c->input, at, mask));
}

static indim_coord output_feature(convolution *c, indim_element_ctx *k, const indim_coord *output) {
  indim_coord group = indim_coord_scale(k, output[c->item->shape->rank], c->outputs, 0);
  return indim_coord_add(k, group, output[c->labels->output_feature]);
}

static indim_value_id filter_factor(convolution *c, indim_element_ctx *k, const indim_coord *output,
                                    const indim_coord *tap, indim_coord feature) {
  const indim_dim_labels *l = c->labels;
  indim_coord at[INDIM_MAX_RANK];
  for (int32_t s = 0; s < l->spatial_count; s++) {
    const indim_window_dim *window = indim_window_dim_of(c->item->instr, s);
    at[l->kernel_spatial[s]] = window->reversal ? indim_coord_scale(k, tap[s], -1, window->size - 1) : tap[s];
  }
  at[l->kernel_input] = feature;
  at[l->kernel_output] = output_feature(c, k, output);
  return as_factor(c, indim_value_at(k, c->filter, at, 0));
}

static indim_value_id multiply_add(convolution *c, int32_t lanes, indim_value_id x, indim_value_id y,
                                   indim_value_id sum) {
  indim_loop_builder *b = &c->l->b;
  x = indim_loop_splat(b, x, lanes);
  y = indim_loop_splat(b, y, lanes);
  if (indim_loop_has_fma(c->sum)) {
    return indim_loop_fma(b, x, y, sum);
  }
  bool is_pred = c->sum == INDIM_PRED;
  indim_value_id product = indim_loop_binary(b, is_pred ? INDIM_OP_AND : INDIM_OP_MULTIPLY, x, y);
  return indim_loop_binary(b, is_pred ? INDIM_OP_OR : INDIM_OP_ADD, product, sum);
}

// Sums ----------------------------------------------------------------------------------------------------------------

static void add_products(convolution *c, tap_state *t, indim_coord feature, indim_value_id *sums) {
  for (int32_t r = 0; r < t->rows; r++) {
    indim_value_id x = input_factor(c, t->k, t->output[r], t->element[r], feature, t->mask[r]);
    indim_value_id y = filter_factor(c, t->k, t->output[r], t->tap, feature);
    indim_value_id sum = multiply_add(c, t->k->lanes, x, y, sums[r]);
    if (indim_lower_failed(c->l)) {
      return;
    }
    sums[r] = t->mask[r] == 0 ? sum : indim_select_lanes(t->k, t->mask[r], sum, sums[r]);
  }
}

static void add_features(convolution *c, tap_state *t, indim_value_id *sums) {
  indim_loop_builder *b = &c->l->b;
  if (c->features <= FEW) {
    for (int64_t i = 0; i < c->features; i++) {
      add_products(c, t, indim_coord_const(t->k, i), sums);
    }
    return;
  }
  indim_value_id in[MAX_ROWS];
  indim_value_id end = indim_loop_index(b, c->features);
  indim_value_id i = indim_loop_for_begin(b, indim_loop_index(b, 0), end, 1, t->rows, sums, in);
  add_products(c, t, (indim_coord){i, 0}, in);
  indim_loop_for_end(b, in, sums);
}

static void add_taps(convolution *c, tap_state *t, int32_t s, indim_value_id *sums);

// Adds tap |tap| of spatial dimension |s|; rows for which it reads padding are masked.
static void add_tap(convolution *c, tap_state *t, int32_t s, indim_coord tap, indim_value_id *sums) {
  const indim_window_dim *window = indim_window_dim_of(c->item->instr, s);
  int64_t size = c->input->shape->sizes[c->labels->input_spatial[s]];
  indim_value_id outer[MAX_ROWS];
  int32_t padded = 0;
  memcpy(outer, t->mask, sizeof outer);
  for (int32_t r = 0; r < t->rows; r++) {
    bool never = false;
    indim_coord position = t->output[r][c->labels->output_spatial[s]];
    indim_value_id guard = indim_window_element(t->k, window, size, position, tap, &t->element[r][s], &never);
    if (never) {
      padded++;
      t->element[r][s] = indim_coord_const(t->k, 0);
      guard = indim_loop_const(&c->l->b, INDIM_PRED, 0, 0);
    }
    t->mask[r] = indim_mask_and(t->k, outer[r], guard);
  }
  t->tap[s] = tap;
  if (padded < t->rows) {
    add_taps(c, t, s + 1, sums);
  }
  memcpy(t->mask, outer, sizeof outer);
}

// A loop over those taps that read an element: false if they are no range.
static bool loop_over_range(convolution *c, tap_state *t, int32_t s, indim_value_id *sums) {
  indim_loop_builder *b = &c->l->b;
  const indim_window_dim *window = indim_window_dim_of(c->item->instr, s);
  int64_t size = c->input->shape->sizes[c->labels->input_spatial[s]];
  int32_t dim = c->labels->output_spatial[s];
  indim_value_id low = 0, high = 0, in[MAX_ROWS];
  if ((t->rows > 1 && dim == c->row_dim) || !indim_window_range(t->k, window, size, t->output[0][dim], &low, &high)) {
    return false;
  }
  indim_value_id tap = indim_loop_for_begin(b, low, high, 1, t->rows, sums, in);
  c->l->loop_depth++;
  for (int32_t r = 0; r < t->rows; r++) {
    t->element[r][s] = indim_window_element_in_range(t->k, window, size, t->output[r][dim], tap);
  }
  t->tap[s] = (indim_coord){tap, 0};
  add_taps(c, t, s + 1, in);
  c->l->loop_depth--;
  indim_loop_for_end(b, in, sums);
  return true;
}

static void loop_over_taps(convolution *c, tap_state *t, int32_t s, indim_value_id *sums) {
  indim_loop_builder *b = &c->l->b;
  indim_value_id end = indim_loop_index(b, indim_window_dim_of(c->item->instr, s)->size);
  indim_value_id in[MAX_ROWS];
  indim_value_id tap = indim_loop_for_begin(b, indim_loop_index(b, 0), end, 1, t->rows, sums, in);
  c->l->loop_depth++;
  add_tap(c, t, s, (indim_coord){tap, 0}, in);
  c->l->loop_depth--;
  indim_loop_for_end(b, in, sums);
}

static void add_taps(convolution *c, tap_state *t, int32_t s, indim_value_id *sums) {
  if (indim_lower_failed(c->l)) {
    return;
  }
  if (s == c->labels->spatial_count) {
    add_features(c, t, sums);
  } else if (c->is_loop[s] || (t->is_edge && s != c->along && indim_window_dim_of(c->item->instr, s)->size > 1)) {
    if (!loop_over_range(c, t, s, sums)) {
      loop_over_taps(c, t, s, sums);
    }
  } else {
    for (int64_t tap = 0; tap < indim_window_dim_of(c->item->instr, s)->size; tap++) {
      add_tap(c, t, s, indim_coord_const(t->k, tap), sums);
    }
  }
}

// Whether vectors along a spatial dimension may reach into the padding. There are few of these; their other taps are loops, which
// is less code.
static bool is_edge(const convolution *c, const tap_state *t) {
  if (c->along < 0 || c->item->shape->sizes[c->vector_dim] < RARE_EDGES * (int64_t)c->lanes) {
    return false;
  }
  int64_t low = 0, high = 0;
  const indim_loop_value *base = indim_loop_value_of(&c->l->b, t->output[0][c->vector_dim].base);
  indim_window_inside(indim_window_dim_of(c->item->instr, c->along),
                      c->input->shape->sizes[c->labels->input_spatial[c->along]], c->item->shape->sizes[c->vector_dim],
                      &low, &high);
  return base->low < low || base->high + t->k->lanes > high;
}

static void output_body(indim_nest *nest, indim_element_ctx *k, const indim_coord *output) {
  convolution *c = nest->user;
  indim_loop_builder *b = &c->l->b;
  tap_state *t = indim_lower_alloc(c->l, 1, sizeof *t);
  indim_value_id sums[MAX_ROWS];
  if (t == NULL) {
    return;
  }
  t->k = k;
  t->rows = c->rows;
  for (int32_t r = 0; r < t->rows; r++) {
    memcpy(t->output[r], output, (size_t)c->rank * sizeof *output);
    if (c->row_dim >= 0) {
      t->output[r][c->row_dim] = indim_coord_scale(k, output[c->row_dim], c->rows, nest->user_offset + r);
    }
    sums[r] = indim_loop_splat(b, indim_loop_const(b, c->sum, 0, 0), k->lanes);
  }
  t->is_edge = is_edge(c, t);
  if (!c->is_empty) {
    add_taps(c, t, 0, sums);
  }
  for (int32_t r = 0; r < t->rows && !indim_lower_failed(c->l); r++) {
    indim_coord at[INDIM_MAX_RANK];
    memcpy(at, t->output[r], sizeof at);
    at[c->labels->output_feature] = output_feature(c, k, t->output[r]);
    indim_value_id sum = indim_loop_convert(b, sums[r], c->item->shape->type);
    indim_store_at(k, c->item->shape, &c->item->place, at, sum);
  }
}

// The nest ------------------------------------------------------------------------------------------------------------

// One tap and feature, without padding.
static void analyze_body(indim_nest *nest, indim_element_ctx *k, const indim_coord *output) {
  convolution *c = nest->user;
  indim_coord element[INDIM_MAX_RANK];
  indim_coord tap[INDIM_MAX_RANK];
  indim_coord zero = indim_coord_const(k, 0);
  indim_coord at[INDIM_MAX_RANK];
  memcpy(at, output, (size_t)c->rank * sizeof *at);
  at[c->labels->output_feature] = output_feature(c, k, output);
  for (int32_t s = 0; s < c->labels->spatial_count; s++) {
    const indim_window_dim *window = indim_window_dim_of(c->item->instr, s);
    indim_coord first = indim_coord_scale(k, output[c->labels->output_spatial[s]], window->stride, 0);
    indim_coord remainder;
    indim_coord_divide(k, first, window->base_dilation, &element[s], &remainder);
    tap[s] = zero;
  }
  (void)input_factor(c, k, output, element, zero, 0);
  (void)filter_factor(c, k, output, tap, zero);
  if (!indim_lower_failed(c->l)) {
    indim_value_id zero_value = indim_loop_const(&c->l->b, c->item->shape->type, 0, 0);
    indim_store_at(k, c->item->shape, &c->item->place, at, zero_value);
  }
}

static int32_t spatial_of(const convolution *c, int32_t dim) {
  for (int32_t s = 0; s < c->labels->spatial_count; s++) {
    if (c->labels->output_spatial[s] == dim) {
      return s;
    }
  }
  return -1;
}

// Chooses the dimension of rows: they share the filter's elements when lanes are features, the input's otherwise.
static void choose_rows(convolution *c) {
  int32_t feature = c->labels->output_feature;
  c->row_dim = -1;
  if (c->vector_dim != feature && c->outputs > 1) {
    c->row_dim = feature;
    return;
  }
  int64_t best = 1;
  for (int32_t d = 0; d + 1 < c->rank; d++) {
    if (d != feature && d != c->vector_dim && c->sizes[d] >= best && c->sizes[d] > 1) {
      best = c->sizes[d];
      c->row_dim = d;
    }
  }
}

// Of a large output there is one copy of the body, for all iterations of short loops too. The first longer loop goes outside of
// these, so that it can be parallel.
static void choose_outermost(convolution *c) {
  if (indim_shape_element_count(c->item->shape) / c->lanes < LEAST_LONG) {
    return;
  }
  for (int32_t i = 0; i < c->rank && c->order[i] != c->vector_dim; i++) {
    int32_t dim = c->order[i];
    if (c->sizes[dim] / (dim == c->row_dim ? c->max_rows : 1) > INDIM_COST_UNROLLED_LOOP) {
      memmove(c->order + 1, c->order, (size_t)i * sizeof *c->order);
      c->order[0] = dim;
      c->is_long = true;
      return;
    }
  }
}

static bool choose(convolution *c) {
  const indim_location *at = &c->item->place;
  indim_access_list *list = indim_lower_alloc(c->l, 1, sizeof *list);
  indim_nest nest = {.l = c->l, .rank = c->rank, .body = analyze_body, .user = c, .cost = 2};
  int64_t strides[INDIM_MAX_RANK];
  if (list == NULL) {
    return false;
  }
  c->vector_dim = -1;
  c->lanes = 1;
  memcpy(nest.sizes, c->sizes, sizeof nest.sizes);
  for (int32_t d = 0; d < c->rank; d++) {
    nest.group[d] = (uint8_t)(d + 1);
    c->order[d] = d;
  }
  if (!c->is_empty && indim_shape_element_count(c->item->shape) > 1) {
    if (at->tiled == NULL) {
      memcpy(strides, at->strides, (size_t)(c->rank - 1) * sizeof *strides);
      strides[c->rank - 1] = at->strides[c->labels->output_feature] * c->outputs;
    }
    indim_nest_analyze(&nest, list);
    indim_nest_choose(&nest, at->tiled == NULL ? strides : NULL);
    c->vector_dim = nest.vector_dim;
    c->lanes = nest.vector_dim < 0 ? 1 : nest.lanes;
    memcpy(c->order, nest.order, sizeof c->order);
    int64_t extent = c->vector_dim < 0 ? 1 : c->sizes[c->vector_dim];
    while (c->lanes > 1 && c->lanes > extent) {
      c->lanes /= 2;
    }
    c->lanes *= c->vector_dim >= 0 && extent >= 2 * (int64_t)c->lanes ? 2 : 1;
  }
  choose_rows(c);
  choose_outermost(c);
  int32_t along = spatial_of(c, c->vector_dim);
  c->along = along;
  if (along >= 0 && indim_window_dim_of(c->item->instr, along)->base_dilation == 1) {
    // Short ones are unrolled, so that masks of lanes in the padding are constants.
    bool is_line = c->labels->spatial_count == 1;
    int64_t most = !is_line ? MAX_UNROLLED_PLANE : c->row_dim < 0 ? MAX_UNROLLED_LINE : MAX_UNROLLED_LINES;
    c->is_loop[along] = indim_window_dim_of(c->item->instr, along)->size > most;
  }
  for (int32_t s = 0; s < c->labels->spatial_count; s++) {
    int32_t dim = c->labels->output_spatial[s];
    bool is_outer = dim != c->vector_dim && dim != c->row_dim;
    const indim_window_dim *window = indim_window_dim_of(c->item->instr, s);
    c->is_loop[s] |= is_outer && window->size > 1 && window->base_dilation == 1;
    if (c->is_loop[s] && dim != c->vector_dim && dim != c->row_dim) {
      continue;  // the loop over its taps is limited to those that read elements
    }
    if (dim == c->row_dim && window->base_dilation == 1) {
      continue;  // run_spatial_rows splits it
    }
    indim_window_split(list, dim, indim_window_dim_of(c->item->instr, s),
                       c->input->shape->sizes[c->labels->input_spatial[s]], c->sizes[dim],
                       dim == c->vector_dim ? c->lanes : 1);
  }
  c->list = list;
  return !indim_lower_failed(c->l);
}

// Lanes of output features that lie apart in the filter would be loaded one by one by all rows: where there are many, the filter is
// laid out for them, and read from there.
static void lay_out_filter(convolution *c) {
  const indim_shape *shape = c->filter->shape;
  int64_t row_tiles = indim_shape_element_count(c->item->shape) / (c->outputs * c->groups * c->max_rows);
  indim_stored found;
  if (c->vector_dim != c->labels->output_feature || c->l->loop_depth > 0 || row_tiles < INDIM_COST_FILTER_READS ||
      !indim_lower_find_stored(c->l, c->filter, shape->type, &found) || found.strides[c->labels->kernel_output] == 1) {
    return;
  }
  const indim_shape wanted =
      indim_convolution_laid_out(shape, shape->type, c->labels->kernel_output, c->labels->kernel_input);
  const indim_location *at = indim_lower_copy(c->l, c->filter, &wanted);
  indim_lower_explain(c->l, c->item, "its filter is copied for whole vectors");
  if (at != NULL) {
    c->filter->place = *at;
  }
}

// Indices |low| to |low| + |count| of the row dimension, |rows| at a time.
static void run_rows(convolution *c, int64_t low, int64_t count, int32_t rows) {
  if (count == 0) {
    return;
  }
  indim_access_list *list = indim_lower_alloc(c->l, 1, sizeof *list);
  if (list == NULL || indim_lower_failed(c->l)) {
    return;
  }
  *list = *c->list;
  list->is_full = true;
  indim_nest nest = {.l = c->l, .rank = c->rank, .body = output_body, .user = c, .list = list, .may_thread = true};
  nest.jam = c->row_dim < 0 && c->along >= 0 && c->is_loop[c->along] &&
                     indim_window_dim_of(c->item->instr, c->along)->base_dilation == 1
                 ? JAMMED
                 : 1;
  nest.may_repeat = true;
  nest.cost = indim_index_mul_saturated(2 * rows, c->features);
  for (int32_t s = 0; s < c->labels->spatial_count; s++) {
    nest.cost = indim_index_mul_saturated(nest.cost, indim_window_dim_of(c->item->instr, s)->size);
  }
  nest.cost = nest.cost > 1000000 ? 1000000 : nest.cost;
  memcpy(nest.sizes, c->sizes, sizeof nest.sizes);
  memcpy(nest.order, c->order, sizeof nest.order);
  nest.vector_dim = c->vector_dim;
  nest.lanes = c->lanes;
  nest.unroll = 1;
  nest.is_long = c->is_long;
  nest.user_offset = low;
  c->rows = rows;
  if (c->row_dim >= 0) {
    nest.sizes[c->row_dim] = count / rows;
    list->split_point_count[c->row_dim] = 0;
  }
  indim_nest_run(&nest);
}

// Rows of a spatial dimension one by one: the loop over the taps is limited to those that read elements.
static void run_single_rows(convolution *c, int32_t s, int64_t low, int64_t high) {
  bool is_loop = c->is_loop[s], is_long = c->is_long;
  c->is_loop[s] = indim_window_dim_of(c->item->instr, s)->size > 1;
  c->is_long = true;
  run_rows(c, low, high - low, 1);
  c->is_loop[s] = is_loop;
  c->is_long = is_long;
}

static void run_segment(convolution *c, int64_t low, int64_t high) {
  for (int32_t rows = c->max_rows; rows >= 1; rows = rows > 2 ? rows - 2 : rows - 1) {
    int64_t count = (high - low) / rows * rows;
    run_rows(c, low, count, rows);
    low += count;
  }
}

// Rows |low| to |high| in the padding, and those from |before| on that are left of the ones inside: one by one where they are rare, which is less code.
static void run_edge(convolution *c, int32_t s, int64_t before, int64_t low, int64_t high) {
  if ((high - before) * RARE_ROWS < c->sizes[c->row_dim]) {
    run_single_rows(c, s, before, high);
    return;
  }
  run_segment(c, before, low);
  run_segment(c, low, high);
}

// All rows of spatial dimension |s|: those of which no tap reads padding, and those before and behind.
static void run_spatial_rows(convolution *c, int32_t s) {
  int64_t low = 0, high = 0, size = c->sizes[c->row_dim];
  indim_window_inside(indim_window_dim_of(c->item->instr, s), c->input->shape->sizes[c->labels->input_spatial[s]], size,
                      &low, &high);
  int64_t count = (high - low) / c->max_rows * c->max_rows;
  run_edge(c, s, 0, 0, low);
  run_rows(c, low, count, c->max_rows);
  run_edge(c, s, low + count, high, size);
}

void indim_lower_convolution(indim_lowering *l, indim_flow_item *item) {
  const char *reason = indim_convolution_call_host(l, item);
  if (reason == NULL) {
    indim_lower_explain(l, item, "computed by the host");
    return;
  }
  indim_lower_explain(l, item, "not by the host: %s", reason);
  convolution c = {.l = l, .item = item, .input = item->operands[0], .filter = item->operands[1]};
  set_up(&c);
  indim_loop_region_begin(&l->b, &item->place.storage, 1);
  if (!choose(&c)) {
    return;
  }
  const indim_location filter_place = c.filter->place;
  lay_out_filter(&c);
  indim_loop_region_begin(&l->b, &item->place.storage, 1);
  indim_element_forget(l);
  indim_lower_explain(l, item, "%d lanes along dimension %d, rows along %d together", (int)c.lanes, (int)c.vector_dim,
                      (int)c.row_dim);
  int32_t spatial = spatial_of(&c, c.row_dim);
  if (c.row_dim < 0) {
    run_rows(&c, 0, 1, 1);
  } else if (spatial >= 0 && indim_window_dim_of(item->instr, spatial)->base_dilation == 1) {
    run_spatial_rows(&c, spatial);
  } else {
    run_segment(&c, 0, c.sizes[c.row_dim]);
  }
  c.filter->place = filter_place;
}
