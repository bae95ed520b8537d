// scatter: combines updates into the operands' memory if that may be overwritten, else into copies. The loops run over
// the start indices; if a start's whole window is inside the operand, a vectorized nest over the window combines it.
// The loop over starts is sequential, because any two may address the same element. Windows that are columns go row by row.
#include <string.h>

#include "loop/ir/index_math.h"
#include "loop/kernels/kernels.h"

typedef struct scattering {
  indim_lowering *l;
  indim_flow_item *item;
  int32_t n;  // operands, updates and results
  indim_flow_item **operands, **updates;
  indim_flow_item *indices;
  const indim_computation *apply;
  const int64_t *map;  // operand dimension of each component of a start index
  int64_t map_count;
  const int64_t *operand_batching, *indices_batching;
  int64_t batching_count;
  int64_t vector_dim;                      // of the indices: index_vector_dim
  int32_t window_dims;                     // number of window dimensions of the updates
  int32_t window[INDIM_MAX_RANK];          // the updates' dimension of each window dimension
  int32_t operand_window[INDIM_MAX_RANK];  // the operand's dimension of each
  int32_t order[INDIM_MAX_RANK];           // the updates' dimensions that loops run over, outermost first
  int32_t order_count;
  bool element_wise;                     // these are all dimensions
  indim_coord position[INDIM_MAX_RANK];  // in the updates: the open loops' indices
  indim_value_id start[INDIM_MAX_RANK];  // of the window in the operand
} scattering;

static indim_flow_item *result_of(const scattering *s, int32_t i) { return indim_flow_result(s->item, i); }

static bool is_window_dim(const scattering *s, int32_t dim) {
  for (int32_t w = 0; w < s->window_dims; w++) {
    if (s->window[w] == dim) {
      return true;
    }
  }
  return false;
}

static int64_t window_size(const scattering *s, int32_t dim) {
  for (int32_t w = 0; w < s->window_dims; w++) {
    if (s->operand_window[w] == dim) {
      return s->updates[0]->shape->sizes[s->window[w]];
    }
  }
  return 1;
}

static void read_attributes(scattering *s) {
  const indim_instr *instr = s->item->instr;
  int64_t inserted_count = 0, window_count = 0;
  const int64_t *inserted = indim_instr_ints(instr, INDIM_ATTR_INSERTED_WINDOW_DIMS, &inserted_count);
  const int64_t *window = indim_instr_ints(instr, INDIM_ATTR_UPDATE_WINDOW_DIMS, &window_count);
  s->map = indim_instr_ints(instr, INDIM_ATTR_SCATTER_DIMS_TO_OPERAND_DIMS, &s->map_count);
  s->operand_batching = indim_instr_ints(instr, INDIM_ATTR_INPUT_BATCHING_DIMS, &s->batching_count);
  s->indices_batching = indim_instr_ints(instr, INDIM_ATTR_SCATTER_INDICES_BATCHING_DIMS, &s->batching_count);
  s->vector_dim = indim_instr_int(instr, INDIM_ATTR_INDEX_VECTOR_DIM, 0);
  for (int32_t d = 0; d < s->operands[0]->shape->rank; d++) {
    if (!indim_list_has(inserted, inserted_count, d) && !indim_list_has(s->operand_batching, s->batching_count, d)) {
      s->operand_window[s->window_dims] = d;
      s->window[s->window_dims] = (int32_t)window[s->window_dims];
      s->window_dims++;
    }
  }
}

bool indim_scatters_columns(const indim_flow_item *item) {
  const indim_shape *operand = item->operands[0]->shape;
  int64_t inserted = 0, batching = 0, windows = 0, mapped = 0;
  const int64_t *inserted_dims = indim_instr_ints(item->instr, INDIM_ATTR_INSERTED_WINDOW_DIMS, &inserted);
  const int64_t *map = indim_instr_ints(item->instr, INDIM_ATTR_SCATTER_DIMS_TO_OPERAND_DIMS, &mapped);
  (void)indim_instr_ints(item->instr, INDIM_ATTR_INPUT_BATCHING_DIMS, &batching);
  (void)indim_instr_ints(item->instr, INDIM_ATTR_UPDATE_WINDOW_DIMS, &windows);
  bool is_last = operand->rank > 0 && indim_list_has(inserted_dims, inserted, operand->rank - 1);
  return is_last && windows > 0 && batching == 0 && mapped == inserted &&
         indim_list_has(map, mapped, operand->rank - 1);
}

// Updates are combined in row-major order. Start dimensions may be outermost, in any layout of the updates, if no
// element is reached at different positions of two windows: then every element gets its updates in the order of the
// starts. So it does where they are innermost.
static void choose_order(scattering *s) {
  int32_t rank = s->updates[0]->shape->rank;
  bool is_trailing = true;
  bool disjoint = true;
  for (int32_t w = 0; w < s->window_dims; w++) {
    is_trailing = is_trailing && s->window[w] >= rank - s->window_dims;
    disjoint = disjoint && (!indim_list_has(s->map, s->map_count, s->operand_window[w]) ||
                            s->updates[0]->shape->sizes[s->window[w]] == 1);
  }
  bool by_rows = disjoint && indim_scatters_columns(s->item);
  s->element_wise = by_rows || (!is_trailing && !disjoint);
  for (int32_t w = 0; w < s->window_dims && by_rows; w++) {
    s->order[s->order_count++] = s->window[w];
  }
  for (int32_t d = 0; d < rank; d++) {
    if ((s->element_wise && !by_rows) || !is_window_dim(s, d)) {
      s->order[s->order_count++] = d;
    }
  }
}

// The components of the start index at the current position; returns the pred that its window is inside, 0 if it always is.
static indim_value_id find_start(scattering *s, indim_value_id *components) {
  indim_loop_builder *b = &s->l->b;
  indim_element_ctx k = {.l = s->l, .lanes = 1};
  const indim_shape *operand = s->operands[0]->shape;
  const indim_shape *indices = s->indices->shape;
  indim_coord at[INDIM_MAX_RANK];
  int32_t batch = 0;
  for (int32_t d = 0; d < s->updates[0]->shape->rank; d++) {
    if (!is_window_dim(s, d)) {
      batch += batch == s->vector_dim ? 1 : 0;
      at[batch++] = s->position[d];
    }
  }
  for (int32_t d = 0; d < operand->rank; d++) {
    s->start[d] = indim_loop_index(b, 0);
  }
  for (int64_t i = 0; i < s->batching_count; i++) {
    s->start[s->operand_batching[i]] = at[s->indices_batching[i]].base;
  }
  indim_value_id inside = 0;
  for (int64_t i = 0; i < s->map_count; i++) {
    int32_t dim = (int32_t)s->map[i];
    int64_t most = operand->sizes[dim] - window_size(s, dim);
    if (s->vector_dim < indices->rank) {
      at[s->vector_dim] = indim_coord_const(&k, i);
    }
    indim_value_id start = indim_value_at(&k, s->indices, at, 0);
    if (indim_lower_failed(s->l)) {
      return 0;
    }
    inside = indim_mask_and(&k, inside, indim_loop_in_range(b, start, 0, most));
    components[i] = start;
  }
  return inside;
}

// The same as indices, where they are inside.
static void use_start(scattering *s, const indim_value_id *components) {
  for (int64_t i = 0; i < s->map_count && !indim_lower_failed(s->l); i++) {
    int32_t dim = (int32_t)s->map[i];
    int64_t most = s->operands[0]->shape->sizes[dim] - window_size(s, dim);
    s->start[dim] = indim_loop_checked_index(&s->l->b, components[i], 0, most);
  }
}

// Combines the elements at |index| of the window.
static void combine(indim_nest *nest, indim_element_ctx *k, const indim_coord *index) {
  scattering *s = nest->user;
  indim_loop_builder *b = &s->l->b;
  indim_coord from[INDIM_MAX_RANK];
  indim_coord to[INDIM_MAX_RANK];
  indim_value_id *args = indim_lower_alloc(s->l, 3 * (int64_t)s->n, sizeof *args);
  if (args == NULL) {
    return;
  }
  memcpy(from, s->position, sizeof from);
  for (int32_t d = 0; d < s->operands[0]->shape->rank; d++) {
    to[d] = (indim_coord){s->start[d], 0};
  }
  for (int32_t w = 0; w < s->window_dims; w++) {
    indim_coord x = s->element_wise ? s->position[s->window[w]] : index[w];
    from[s->window[w]] = x;
    to[s->operand_window[w]] = indim_coord_add(k, to[s->operand_window[w]], x);
  }
  for (int32_t i = 0; i < s->n; i++) {
    const indim_flow_item *result = result_of(s, i);
    args[i] = indim_load_at(k, result->shape, &result->place, to);
    args[s->n + i] = indim_value_at_lanes(k, s->updates[i], from, 0);
  }
  if (indim_lower_failed(s->l)) {
    return;
  }
  indim_loop_apply(b, s->apply, k->lanes, args, args + 2 * s->n);
  for (int32_t i = 0; i < s->n && !indim_lower_failed(s->l); i++) {
    const indim_flow_item *result = result_of(s, i);
    indim_store_at(k, result->shape, &result->place, to, args[2 * s->n + i]);
  }
}

// A window of one element: no nest.
static void run_element(scattering *s) {
  indim_nest nest = {.l = s->l, .user = s};
  indim_element_ctx k = {.l = s->l, .lanes = 1};
  indim_coord index[INDIM_MAX_RANK];
  for (int32_t w = 0; w < s->window_dims; w++) {
    index[w] = indim_coord_const(&k, 0);
  }
  combine(&nest, &k, index);
}

static bool is_one_element(const scattering *s) {
  int64_t elements = 1;
  for (int32_t w = 0; w < s->window_dims; w++) {
    elements *= s->element_wise ? 1 : s->updates[0]->shape->sizes[s->window[w]];
  }
  return elements == 1;
}

static void run_window(scattering *s) {
  if (is_one_element(s)) {
    run_element(s);
    return;
  }
  indim_access_list *list = indim_lower_alloc(s->l, 1, sizeof *list);
  indim_nest nest = {.l = s->l, .cost = s->updates[0]->cost + 2, .body = combine, .user = s};
  if (list == NULL || indim_lower_failed(s->l)) {
    return;
  }
  nest.rank = s->window_dims;
  int64_t strides[INDIM_MAX_RANK];
  const indim_location *at = &result_of(s, 0)->place;
  for (int32_t w = 0; w < nest.rank; w++) {
    nest.sizes[w] = s->updates[0]->shape->sizes[s->window[w]];
    strides[w] = at->tiled == NULL ? at->strides[s->operand_window[w]] : 1;
  }
  indim_nest_analyze(&nest, list);
  indim_nest_choose(&nest, strides);
  indim_nest_run(&nest);
}

// Whether what is done for a start is so little that counting them costs as much: the loop has several copies of it then.
static bool is_short(const scattering *s) {
  enum { SHORT = 24 };
  return s->n == 1 && is_one_element(s) && s->item->cost <= SHORT;
}

static void run_starts(scattering *s, int32_t position) {
  enum { COPIES = 4 };
  indim_loop_builder *b = &s->l->b;
  if (indim_lower_failed(s->l)) {
    return;
  }
  if (position == s->order_count) {
    indim_value_id components[INDIM_MAX_RANK];
    indim_value_id inside = find_start(s, components);
    if (inside == 0) {
      use_start(s, components);
      run_window(s);
      return;
    }
    indim_loop_if_begin(b, inside);
    use_start(s, components);
    run_window(s);
    indim_loop_if_else(b, 0, NULL);
    indim_loop_if_end(b, NULL, NULL);
    return;
  }
  int32_t dim = s->order[position];
  int64_t size = s->updates[0]->shape->sizes[dim];
  if (size == 1) {
    s->position[dim] = (indim_coord){indim_loop_index(b, 0), 0};
    run_starts(s, position + 1);
    return;
  }
  int64_t copies = position + 1 == s->order_count && is_short(s) && size >= COPIES ? COPIES : 1;
  int64_t end = size - size % copies;
  indim_element_ctx k = {.l = s->l, .lanes = 1};
  indim_coord first = {indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, end), copies, 0, NULL, NULL),
                       0};
  s->l->loop_depth++;
  for (int64_t i = 0; i < copies && !indim_lower_failed(s->l); i++) {
    s->position[dim] = indim_coord_scale(&k, first, 1, i);
    run_starts(s, position + 1);
  }
  s->l->loop_depth--;
  indim_loop_for_end(b, NULL, NULL);
  for (int64_t i = end; i < size && !indim_lower_failed(s->l); i++) {
    s->position[dim] = indim_coord_const(&k, i);
    run_starts(s, position + 1);
  }
}

// The updates' dimension along which the windows of the result are contiguous, or nearly so; -1: they are elements.
static int32_t inner_window_dim(const scattering *s) {
  const indim_location *at = &result_of(s, 0)->place;
  int32_t inner = -1;
  int64_t least = INT64_MAX;
  for (int32_t w = 0; w < s->window_dims && at->tiled == NULL; w++) {
    int64_t stride = indim_index_abs(at->strides[s->operand_window[w]]);
    if (s->updates[0]->shape->sizes[s->window[w]] > 1 && stride < least) {
      inner = s->window[w];
      least = stride;
    }
  }
  return inner;
}

// Whether windows of updates lie across, as in the transpose that JAX makes of x.at[:, i].set(u): each element would be read from a
// line of its own, and that again for the next start.
static bool lies_across(scattering *s, indim_flow_item *item) {
  enum { LEAST_BYTES = 1 << 16 };
  const indim_shape *shape = item->shape;
  int32_t inner = inner_window_dim(s);
  if (inner < 0 || s->element_wise || indim_shape_element_count(shape) * indim_type_bytes(shape->type) < LEAST_BYTES) {
    return false;
  }
  const indim_access_list *list = indim_lower_accesses_of(s->l, item);
  for (int32_t i = 0; list != NULL && i < list->count && !list->is_full; i++) {
    const int64_t *strides = list->accesses[i].strides;
    int64_t line = INDIM_TARGET_LINE / indim_type_bytes(list->accesses[i].storage->type);
    for (int32_t d = 0; strides != NULL && d < shape->rank && indim_index_abs(strides[inner]) >= line; d++) {
      if (!is_window_dim(s, d) && shape->sizes[d] > 1 && indim_index_abs(strides[d]) == 1) {
        return true;
      }
    }
  }
  return false;
}

// Such updates are copied before, in blocks. Returns where they were, to be put back.
static indim_location *lay_out_updates(scattering *s) {
  indim_location *places = indim_lower_alloc(s->l, s->n, sizeof *places);
  for (int32_t i = 0; i < s->n && places != NULL && !indim_lower_failed(s->l); i++) {
    indim_flow_item *item = s->updates[i];
    places[i] = item->place;
    if (lies_across(s, item)) {
      indim_shape shape = *item->shape;
      indim_layout_init(shape.rank, &shape.layout);
      shape.has_layout = true;
      const indim_location *at = indim_lower_copy(s->l, item, &shape);
      indim_lower_explain(s->l, s->item, "its updates, which lie across, are copied before");
      item->place = at == NULL ? item->place : *at;
    }
  }
  return places;
}

// Places the results in memory that holds the operands, and computes what reads the old values before they are
// overwritten.
static void prepare_results(scattering *s, indim_storage **written) {
  for (int32_t i = 0; i < s->n && !indim_lower_failed(s->l); i++) {
    indim_lower_overwrite(s->l, result_of(s, i), s->operands[i]);
    written[i] = result_of(s, i)->place.storage;
  }
  for (int32_t i = 0; i < s->n && !indim_lower_failed(s->l); i++) {
    indim_lower_keep_before(s->l, s->indices, written[i]);
    for (int32_t k = 0; k < s->n; k++) {
      indim_lower_keep_before(s->l, s->updates[k], written[i]);
    }
  }
}

void indim_lower_scatter(indim_lowering *l, indim_flow_item *item) {
  scattering s = {.l = l, .item = item, .n = (item->operand_count - 1) / 2, .operands = item->operands};
  s.indices = item->operands[s.n];
  s.updates = item->operands + s.n + 1;
  s.apply = indim_instr_computation(item->instr, INDIM_ATTR_TO_APPLY);
  indim_storage **written = indim_lower_alloc(l, s.n, sizeof *written);
  if (written == NULL) {
    return;
  }
  prepare_results(&s, written);
  if (indim_lower_failed(l) || indim_shape_element_count(s.updates[0]->shape) == 0 ||
      indim_shape_element_count(s.operands[0]->shape) == 0) {
    return;
  }
  read_attributes(&s);
  choose_order(&s);
  for (int32_t d = 0; d < s.updates[0]->shape->rank; d++) {
    s.position[d] = (indim_coord){indim_loop_index(&l->b, 0), 0};
  }
  const indim_location *places = lay_out_updates(&s);
  indim_loop_region_begin(&l->b, written, s.n);
  indim_element_forget(l);
  run_starts(&s, 0);
  for (int32_t i = 0; i < s.n && places != NULL; i++) {
    s.updates[i]->place = places[i];
  }
}
