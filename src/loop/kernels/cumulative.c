// Prefix scans: a reduce-window whose window is as long as the array and padded on one side only, so that every result
// is the previous one combined with one element more (a cumulative sum, product or maximum). One pass along the
// dimension. If another dimension is vectorized, every lane has its own running value; if the dimension itself is
// contiguous, a vector is scanned by combining it with itself shifted by 1, 2, 4, ... lanes. A line of few elements is written
// out, a short one where they are computed: where arrays are put side by side, as conditions of jnp.piecewise, each step knows
// its own.
#include <string.h>

#include "loop/ir/build.h"
#include "loop/kernels/window.h"

typedef struct scan_state {
  indim_lowering *l;
  const indim_flow_item *item;
  int32_t n;
  indim_flow_item **inputs, **inits;
  const indim_computation *apply;
  int32_t rank, dim;
  int64_t size;
  bool from_end;  // a suffix scan: the first result has all elements
  bool is_single;
  indim_loop_op op;
  indim_value_id identity;
  int32_t lanes;  // along the dimension; 1: scalar
  bool is_short;  // written out
} scan_state;

// A line that is written out has so many elements, and its elements are worth so much in all; one of few is loaded and stored by
// vectors that are taken apart, whatever they are worth.
enum { SHORT = 16, FEW = 8, LEAST_COST = 5, MOST_COST = 1024 };

// Elements that are computed one by one, and are worth so much, are better computed before, by vectors.
enum { LEAST_STORED = 8 };

static const indim_flow_item *result_of(const scan_state *s, int32_t i) {
  return s->item->member_count > 0 ? s->item->members[i] : s->item;
}

static bool find_dimension(scan_state *s) {
  const indim_shape *shape = s->inputs[0]->shape;
  s->dim = -1;
  for (int32_t d = 0; d < s->rank; d++) {
    const indim_window_dim *w = indim_window_dim_of(s->item->instr, d);
    if (indim_window_is_plain(w) && w->pad_high == 0) {
      continue;
    }
    bool from_end = w->pad_low == 0;
    bool is_full = w->size == shape->sizes[d] && w->stride == 1 && w->base_dilation == 1 && w->window_dilation == 1 &&
                   w->pad_low == (from_end ? 0 : w->size - 1) && w->pad_high == (from_end ? w->size - 1 : 0);
    if (!is_full || w->size < 2 || s->dim >= 0) {
      return false;
    }
    s->dim = d;
    s->size = w->size;
    s->from_end = from_end;
  }
  return s->dim >= 0;
}

// Combines |acc| and |values|, in the order of the elements.
static void combine(scan_state *s, int32_t lanes, const indim_value_id *acc, const indim_value_id *values,
                    indim_value_id *out) {
  indim_value_id *args = indim_lower_alloc(s->l, 2 * (int64_t)s->n, sizeof *args);
  if (args == NULL || indim_lower_failed(s->l)) {
    return;
  }
  for (int32_t i = 0; i < s->n; i++) {
    args[i] = indim_loop_splat(&s->l->b, s->from_end ? values[i] : acc[i], lanes);
    args[s->n + i] = indim_loop_splat(&s->l->b, s->from_end ? acc[i] : values[i], lanes);
  }
  indim_loop_apply(&s->l->b, s->apply, lanes, args, out);
}

// Combines |acc| with the elements at |index|, stores the results and returns them in |acc|.
static void step(scan_state *s, indim_element_ctx *k, const indim_coord *index, indim_value_id *acc) {
  indim_value_id *values = indim_lower_alloc(s->l, 2 * (int64_t)s->n, sizeof *values);
  for (int32_t i = 0; i < s->n && values != NULL; i++) {
    values[i] = indim_value_at_lanes(k, s->inputs[i], index, 0);
  }
  if (values == NULL || indim_lower_failed(s->l)) {
    return;
  }
  combine(s, k->lanes, acc, values, values + s->n);
  for (int32_t i = 0; i < s->n && !indim_lower_failed(s->l); i++) {
    acc[i] = values[s->n + i];
    indim_store_at(k, result_of(s, i)->shape, &result_of(s, i)->place, index, acc[i]);
  }
}

// |count| elements sequentially, from number |first| in scan order.
static void scan_elements(scan_state *s, indim_element_ctx *k, indim_coord *index, int64_t first, int64_t count,
                          indim_value_id *acc) {
  indim_loop_builder *b = &s->l->b;
  indim_value_id *in = indim_lower_alloc(s->l, s->n, sizeof *in);
  if (in == NULL || count == 0 || indim_lower_failed(s->l)) {
    return;
  }
  indim_value_id end = indim_loop_index(b, first + count);
  indim_value_id at = indim_loop_for_begin(b, indim_loop_index(b, first), end, 1, s->n, acc, in);
  index[s->dim] = (indim_coord){at, 0};
  if (s->from_end) {
    index[s->dim].base = indim_loop_affine(b, s->size - 1, 1, &at, &(int64_t){-1});
  }
  s->l->loop_depth++;
  step(s, k, index, in);
  s->l->loop_depth--;
  indim_loop_for_end(b, in, acc);
}

// Combines each lane with all lanes before it (from the end: after it).
static indim_value_id prefix(scan_state *s, indim_value_id x) {
  indim_loop_builder *b = &s->l->b;
  int32_t map[256];
  indim_value_id identity = indim_loop_splat(b, s->identity, s->lanes);
  for (int32_t distance = 1; distance < s->lanes; distance *= 2) {
    for (int32_t j = 0; j < s->lanes; j++) {
      int32_t from = s->from_end ? j + distance : j - distance;
      map[j] = from >= 0 && from < s->lanes ? from : s->lanes + j;
    }
    indim_value_id args[2] = {x, identity};
    indim_value_id shifted = indim_loop_shuffle(b, 2, args, s->lanes, map);
    combine(s, s->lanes, &shifted, &x, &x);
  }
  return x;
}

// A scan along a contiguous dimension.
static void scan_contiguous(scan_state *s, indim_coord *index, indim_value_id acc) {
  indim_loop_builder *b = &s->l->b;
  indim_element_ctx k = {.l = s->l, .lanes = s->lanes};
  indim_element_ctx one = {.l = s->l, .lanes = 1};
  int64_t main = s->size / s->lanes * s->lanes;
  indim_value_id in = 0;
  indim_value_id at =
      indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, main), s->lanes, 1, &acc, &in);
  if (s->from_end) {
    at = indim_loop_affine(b, s->size - s->lanes, 1, &at, &(int64_t){-1});
  }
  index[s->dim] = (indim_coord){at, 1};
  indim_value_id sums = indim_value_at_lanes(&k, s->inputs[0], index, 0);
  if (indim_lower_failed(s->l)) {
    return;
  }
  sums = prefix(s, sums);
  indim_value_id result = 0;
  combine(s, s->lanes, &in, &sums, &result);
  indim_value_id total = indim_lower_failed(s->l) ? 0 : indim_loop_extract(b, sums, s->from_end ? 0 : s->lanes - 1);
  combine(s, 1, &in, &total, &in);
  if (indim_lower_failed(s->l)) {
    return;
  }
  indim_store_at(&k, s->item->shape, &result_of(s, 0)->place, index, result);
  indim_loop_for_end(b, &in, &acc);
  scan_elements(s, &one, index, main, s->size - main, &acc);
}

static void cumulative_body(indim_nest *nest, indim_element_ctx *k, const indim_coord *position) {
  scan_state *s = nest->user;
  indim_coord index[INDIM_MAX_RANK];
  memcpy(index, position, (size_t)s->rank * sizeof *index);
  indim_value_id *acc = indim_lower_alloc(s->l, s->n, sizeof *acc);
  for (int32_t i = 0; i < s->n && acc != NULL; i++) {
    acc[i] = indim_value_at_lanes(k, s->inits[i], NULL, 0);
  }
  if (acc == NULL || indim_lower_failed(s->l)) {
    return;
  }
  if (s->lanes > 1) {
    scan_contiguous(s, index, acc[0]);
  } else if (s->is_short) {
    for (int64_t i = 0; i < s->size && !indim_lower_failed(s->l); i++) {
      index[s->dim] = (indim_coord){indim_loop_index(&s->l->b, s->from_end ? s->size - 1 - i : i), 0};
      step(s, k, index, acc);
    }
  } else {
    scan_elements(s, k, index, 0, s->size, acc);
  }
}

static void analyze_body(indim_nest *nest, indim_element_ctx *k, const indim_coord *index) {
  scan_state *s = nest->user;
  for (int32_t i = 0; i < s->n; i++) {
    indim_value_id value = indim_value_at(k, s->inputs[i], index, 0);
    if (!indim_lower_failed(s->l)) {
      indim_store_at(k, result_of(s, i)->shape, &result_of(s, i)->place, index, value);
    }
  }
}

// The innermost dimension of several lines that fill a vector; -1 if there is none.
static int32_t other_dimension(const scan_state *s, const indim_nest *nest) {
  for (int32_t p = s->rank - 1; p >= 0; p--) {
    int32_t d = nest->order[p];
    if (d != s->dim && nest->sizes[d] >= nest->lanes) {
      return d;
    }
  }
  return -1;
}

// Whether lanes along |dim| would be fetched one by one of what is contiguous along another dimension of some elements: a nest turns it
// in squares.
static bool is_across(const indim_nest *nest, int32_t dim) {
  enum { LEAST = 4 };
  bool is = false;
  for (int32_t i = 0; i < nest->list->count && dim >= 0; i++) {
    const indim_access *access = &nest->list->accesses[i];
    bool is_far = access->item != NULL && access->strides != NULL &&
                  indim_index_abs(access->strides[dim]) > INDIM_LOOP_MOST_STRIDE;
    for (int32_t d = 0; d < nest->rank && is_far; d++) {
      is = is || (nest->sizes[d] >= LEAST && indim_index_abs(access->strides[d]) == 1);
    }
  }
  return is;
}

// Whether lanes are along the lines, and a part of their elements is computed one by one that matters.
static bool is_one_by_one(const scan_state *s, const indim_nest *nest) {
  enum { PART = 16 };
  bool has_vectors = s->is_single && s->size >= 2 * (int64_t)nest->lanes;
  int64_t single = has_vectors ? s->size % nest->lanes : s->size;
  return nest->vector_dim == s->dim && s->size > SHORT && PART * single > s->size && nest->cost >= LEAST_STORED;
}

// Stores the inputs that are computed here; whether there are some.
static bool keep_inputs(const scan_state *s) {
  bool is_any = false;
  for (int32_t i = 0; i < s->n; i++) {
    bool is_here = indim_flow_is_inline(s->inputs[i]);
    if (is_here && !indim_lower_failed(s->l)) {
      indim_lower_keep(s->l, s->inputs[i]);
    }
    is_any = is_any || is_here;
  }
  return is_any && !indim_lower_failed(s->l);
}

// Chooses loops over lines, whose results are |written|.
static void open_nest(scan_state *s, indim_nest *nest, indim_storage *const *written, indim_access_list *list) {
  indim_loop_region_begin(&s->l->b, written, s->n);
  *nest = (indim_nest){.l = s->l, .rank = s->rank, .body = analyze_body, .user = s, .may_thread = true};
  memcpy(nest->sizes, s->inputs[0]->shape->sizes, (size_t)s->rank * sizeof *nest->sizes);
  nest->cost = s->inputs[0]->cost + 2;
  nest->group[s->dim] = 1;
  indim_nest_analyze(nest, list);
  indim_nest_choose(nest, result_of(s, 0)->place.strides);
}

bool indim_lower_is_cumulative(const indim_flow_item *item) {
  scan_state s = {.item = item, .inputs = item->operands, .rank = item->operands[0]->shape->rank};
  return find_dimension(&s);
}

void indim_lower_cumulative(indim_lowering *l, indim_flow_item *item) {
  scan_state s = {.l = l, .item = item, .n = item->operand_count / 2, .inputs = item->operands, .lanes = 1};
  s.inits = item->operands + s.n;
  s.apply = indim_instr_computation(item->instr, INDIM_ATTR_TO_APPLY);
  s.rank = s.inputs[0]->shape->rank;
  (void)find_dimension(&s);
  indim_access_list *list = indim_lower_alloc(l, 1, sizeof *list);
  indim_storage **written = indim_lower_alloc(l, s.n, sizeof *written);
  if (list == NULL || written == NULL) {
    return;
  }
  for (int32_t i = 0; i < s.n; i++) {
    written[i] = result_of(&s, i)->place.storage;
  }
  s.is_single = s.n == 1 && indim_lower_single(l, s.apply, s.inputs[0]->shape->type, &s.op, &s.identity);
  indim_nest nest;
  open_nest(&s, &nest, written, list);
  if ((is_across(&nest, nest.vector_dim) || is_one_by_one(&s, &nest)) && keep_inputs(&s)) {
    open_nest(&s, &nest, written, list);
  }
  if (nest.vector_dim == s.dim) {
    bool is_wide = s.is_single && result_of(&s, 0)->place.tiled == NULL && s.size >= 2 * nest.lanes;
    s.lanes = is_wide ? nest.lanes : 1;
    nest.vector_dim = -1;
  }
  s.is_short = s.lanes == 1 && s.size <= SHORT && (nest.cost >= LEAST_COST || s.size <= FEW) &&
               indim_index_mul_saturated(nest.cost, s.size) <= MOST_COST;
  if (s.is_short && nest.vector_dim < 0) {
    nest.vector_dim = other_dimension(&s, &nest);
  }
  // Vectors of several registers, so that each row covers whole cache lines.
  int32_t registers = s.n <= 2 && !s.is_short ? 8 / s.n : 1;
  while (nest.vector_dim >= 0 && registers > 1 && (int64_t)registers * nest.lanes > nest.sizes[nest.vector_dim]) {
    registers /= 2;
  }
  nest.lanes *= nest.vector_dim >= 0 ? registers : 1;
  nest.sizes[s.dim] = 1;
  nest.cost = indim_index_mul_saturated(nest.cost, s.size);
  nest.unroll = 1;
  nest.body = cumulative_body;
  indim_element_forget(l);
  indim_nest_run(&nest);
  indim_lower_explain(l, item, s.is_short ? "one pass along dimension %d, written out" : "one pass along dimension %d",
                      (int)s.dim);
}
