// sort, where the host does not do it (sort_host.c): a merge sort of each line along the dimension between two buffers, one of
// which is the result's memory if its lines are contiguous. If the comparator is a strict weak order, runs of eight are made by ranking (counting
// for each element those before it, in vectors of eight), and two runs are merged from both ends at once (sort_merge.c): two
// independent chains without end-of-run tests and without branches. For any other comparator the merges give a
// permutation whichever results it returns, in the evaluator's order of calls. The sort is stable.
#include <string.h>

#include "loop/kernels/sort.h"
#include "loop/target/cost.h"

typedef indim_sorting sorting;
typedef indim_sort_line line;

enum { BLOCK = INDIM_SORT_BLOCK };

// The comparator ------------------------------------------------------------------------------------------------------

indim_value_id indim_sort_before(sorting *s, int32_t lanes, const indim_value_id *x, const indim_value_id *y) {
  indim_loop_builder *b = &s->l->b;
  indim_value_id *args = indim_lower_alloc(s->l, 2 * (int64_t)s->n, sizeof *args);
  indim_value_id result = 0;
  if (args == NULL || indim_lower_failed(s->l)) {
    return 0;
  }
  for (int32_t c = 0; c < s->n; c++) {
    args[2 * c] = x[c];
    args[2 * c + 1] = y[c];
  }
  if (s->comparator == NULL) {
    indim_loop_op op = {.op = INDIM_OP_COMPARE,
                        .direction = s->is_largest ? INDIM_COMPARE_GT : INDIM_COMPARE_LT,
                        .total_order = indim_type_is_float(s->inputs[0]->shape->type)};
    return indim_loop_elementwise(b, op, INDIM_PRED, 2, args);
  }
  indim_loop_apply(b, s->comparator, lanes, args, &result);
  return result;
}

indim_value_id indim_sort_not(sorting *s, indim_value_id x) {
  indim_loop_op op = {.op = INDIM_OP_NOT};
  return indim_loop_elementwise(&s->l->b, op, INDIM_PRED, 1, &x);
}

indim_value_id indim_sort_count_if(sorting *s, indim_value_id sum, indim_value_id x) {
  indim_loop_builder *b = &s->l->b;
  return indim_loop_add(b, sum, indim_loop_select(b, x, indim_loop_index(b, 1), indim_loop_index(b, 0)));
}

// Elements of a line --------------------------------------------------------------------------------------------------

indim_value_id indim_sort_element(sorting *s, const line *from, int32_t c, indim_value_id i) {
  indim_loop_builder *b = &s->l->b;
  return indim_loop_load(b, from->storage[c], indim_loop_add(b, from->base[c], i), 1, 1);
}

void indim_sort_load(sorting *s, indim_value_id i, int32_t lanes, indim_value_id *out) {
  indim_element_ctx k = {.l = s->l, .lanes = lanes};
  if (s->source == NULL) {
    s->position[s->dim] = (indim_coord){i, lanes > 1 ? 1 : 0};
  }
  for (int32_t c = 0; c < s->n && !indim_lower_failed(s->l); c++) {
    if (s->source != NULL) {
      indim_value_id at = indim_loop_add(&s->l->b, s->source->base[c], i);
      out[c] = indim_loop_load(&s->l->b, s->source->storage[c], at, lanes, 1);
    } else if (s->comparator == NULL && c == 1) {
      indim_value_id indices = lanes > 1 ? indim_coord_lanes(&k, s->position[s->dim]) : i;
      out[c] = indim_loop_convert(&s->l->b, indices, INDIM_S32);
    } else {
      out[c] = indim_value_at_lanes(&k, s->inputs[c], s->position, 0);
    }
  }
}

// Runs ----------------------------------------------------------------------------------------------------------------

// Sorts a constant number of elements from |i| on into |to|, by rank.
static void sort_few(sorting *s, const line *to, int64_t i, int32_t count) {
  indim_loop_builder *b = &s->l->b;
  indim_value_id *values = indim_lower_alloc(s->l, (int64_t)count * s->n, sizeof *values);
  indim_value_id ranks[BLOCK];
  if (values == NULL) {
    return;
  }
  for (int32_t j = 0; j < count; j++) {
    indim_sort_load(s, indim_loop_index(b, i + j), 1, values + j * s->n);
    ranks[j] = indim_loop_index(b, 0);
  }
  for (int32_t j = 1; j < count && !indim_lower_failed(s->l); j++) {
    for (int32_t h = 0; h < j; h++) {
      indim_value_id precedes = indim_sort_before(s, 1, values + j * s->n, values + h * s->n);
      ranks[h] = indim_sort_count_if(s, ranks[h], precedes);
      ranks[j] = indim_sort_count_if(s, ranks[j], indim_sort_not(s, precedes));
    }
  }
  for (int32_t j = 0; j < count && !indim_lower_failed(s->l); j++) {
    indim_value_id at = indim_loop_add_const(b, indim_loop_clamp_index(b, ranks[j], 0, count - 1), i);
    for (int32_t c = 0; c < s->n; c++) {
      indim_loop_store(b, to->storage[c], indim_loop_add(b, to->base[c], at), values[j * s->n + c], 1, false);
    }
  }
}

// A pred for each lane: whether the lane |distance| further on, around, is a later one.
static indim_value_id is_later_lane(sorting *s, int32_t distance) {
  uint64_t is_later[2 * BLOCK] = {0};
  for (int32_t j = 0; j < BLOCK; j++) {
    is_later[2 * j] = j + distance < BLOCK;
  }
  return indim_loop_lanes(&s->l->b, INDIM_PRED, BLOCK, is_later);
}

// For each lane, whether the element |distance| lanes further on, around, precedes its own. The first |fixed| lanes precede all
// others, in their order. |y| is room for an element.
static indim_value_id lanes_precede(sorting *s, int32_t distance, int32_t fixed, const indim_value_id *x,
                                    indim_value_id *y) {
  indim_loop_builder *b = &s->l->b;
  int32_t map[BLOCK];
  uint64_t is_fixed[2 * BLOCK] = {0};
  for (int32_t j = 0; j < BLOCK; j++) {
    map[j] = (j + distance) % BLOCK;
    is_fixed[2 * j] = j < fixed || map[j] < fixed;
  }
  for (int32_t c = 0; c < s->n; c++) {
    y[c] = indim_loop_shuffle(b, 1, &x[c], BLOCK, map);
  }
  // Stability: equal elements keep their order.
  indim_value_id later = is_later_lane(s, distance);
  indim_value_id earlier = indim_sort_not(s, later);
  indim_value_id precedes = indim_loop_select(b, later, indim_sort_before(s, BLOCK, y, x),
                                              indim_sort_not(s, indim_sort_before(s, BLOCK, x, y)));
  return fixed == 0 ? precedes
                    : indim_loop_select(b, indim_loop_lanes(b, INDIM_PRED, BLOCK, is_fixed), earlier, precedes);
}

// For each lane, the number of other lanes whose elements precede its own. Of two lanes one precedes, so half of the distances say
// it for the other half.
static indim_value_id rank_lanes(sorting *s, int32_t fixed, const indim_value_id *x, indim_value_id *y) {
  indim_loop_builder *b = &s->l->b;
  indim_value_id one = indim_loop_splat(b, indim_loop_const(b, INDIM_S32, 1, 0), BLOCK);
  indim_value_id none = indim_loop_splat(b, indim_loop_const(b, INDIM_S32, 0, 0), BLOCK);
  indim_value_id ranks = indim_loop_splat(b, indim_loop_const(b, INDIM_S32, BLOCK / 2 - 1, 0), BLOCK);
  for (int32_t distance = 1; distance <= BLOCK / 2 && !indim_lower_failed(s->l); distance++) {
    indim_value_id count = indim_loop_select(b, lanes_precede(s, distance, fixed, x, y), one, none);
    ranks = indim_loop_binary(b, INDIM_OP_ADD, ranks, count);
    if (distance < BLOCK / 2) {
      int32_t back[BLOCK];
      for (int32_t j = 0; j < BLOCK; j++) {
        back[j] = (j + BLOCK - distance) % BLOCK;
      }
      ranks = indim_loop_binary(b, INDIM_OP_SUBTRACT, ranks, indim_loop_shuffle(b, 1, &count, BLOCK, back));
    }
  }
  return ranks;
}

// Sorts a block from |i| on but for its first |fixed| elements, which stay.
static void sort_block(sorting *s, const line *to, indim_value_id i, int32_t fixed) {
  indim_loop_builder *b = &s->l->b;
  indim_value_id *values = indim_lower_alloc(s->l, 2 * (int64_t)s->n, sizeof *values);
  if (values == NULL) {
    return;
  }
  indim_sort_load(s, i, BLOCK, values);
  indim_value_id ranks = rank_lanes(s, fixed, values, values + s->n);
  for (int32_t c = 0; c < s->n && !indim_lower_failed(s->l); c++) {
    indim_value_id first = indim_loop_splat(b, indim_loop_add(b, to->base[c], i), BLOCK);
    indim_value_id at = indim_loop_add(b, first, indim_loop_clamp_index(b, ranks, 0, BLOCK - 1));
    indim_loop_store(b, to->storage[c], at, values[c], 1, false);
  }
}

bool indim_sort_may_thread(const sorting *s) {
  return !s->has_loops && !s->in_halves && s->l->loop_depth == 0 &&
         indim_lower_may_thread(s->l, s->size, INDIM_COST_PARALLEL_SORT);
}

// A last run that is short, but for very few, is a block that overlaps the one before: sorted first, and what it has of that
// one is written again.
static void make_runs(sorting *s, const line *to) {
  indim_loop_builder *b = &s->l->b;
  int64_t main = s->size / BLOCK * BLOCK;
  if (main == 0 || s->size - main <= BLOCK / 2) {
    sort_few(s, to, main, (int32_t)(s->size - main));
  } else {
    sort_block(s, to, indim_loop_index(b, s->size - BLOCK), (int32_t)(main + BLOCK - s->size));
  }
  if (main == 0) {
    return;
  }
  indim_value_id i = indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, main), BLOCK, 0, NULL, NULL);
  if (indim_sort_may_thread(s)) {
    indim_loop_for_parallel(b, (main / BLOCK + INDIM_NEST_PIECES - 1) / INDIM_NEST_PIECES);
  }
  sort_block(s, to, i, 0);
  indim_loop_for_end(b, NULL, NULL);
}

static void copy_input(sorting *s, const line *to) {
  indim_loop_builder *b = &s->l->b;
  indim_value_id *values = indim_lower_alloc(s->l, s->n, sizeof *values);
  if (values == NULL) {
    return;
  }
  indim_value_id i = indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, s->size), 1, 0, NULL, NULL);
  indim_sort_load(s, i, 1, values);
  for (int32_t c = 0; c < s->n && !indim_lower_failed(s->l); c++) {
    indim_loop_store(b, to->storage[c], indim_loop_add(b, to->base[c], i), values[c], 1, false);
  }
  indim_loop_for_end(b, NULL, NULL);
}

// NaNs ----------------------------------------------------------------------------------------------------------------

// Whether one of |lanes| elements from |i| on has a NaN in a column that a partial order is of.
static indim_value_id have_nan(sorting *s, indim_value_id i, int32_t lanes, indim_value_id *values) {
  indim_loop_builder *b = &s->l->b;
  indim_loop_op differ = {.op = INDIM_OP_COMPARE, .direction = INDIM_COMPARE_NE};
  indim_value_id any = 0;
  indim_sort_load(s, i, lanes, values);
  for (int32_t c = 0; c < s->n && !indim_lower_failed(s->l); c++) {
    if (s->is_ordered[c]) {
      indim_value_id both[] = {values[c], values[c]};
      indim_value_id is_nan = indim_loop_elementwise(b, differ, INDIM_PRED, 2, both);
      any = any == 0 ? is_nan : indim_loop_binary(b, INDIM_OP_OR, any, is_nan);
    }
  }
  return any;
}

static indim_value_id line_has_nan(sorting *s) {
  indim_loop_builder *b = &s->l->b;
  indim_value_id *values = indim_lower_alloc(s->l, s->n, sizeof *values);
  indim_value_id in = 0, out = 0;
  int32_t widest = 1;
  if (values == NULL) {
    return 0;
  }
  for (int32_t c = 0; c < s->n; c++) {
    int32_t bytes = indim_type_bytes(s->inputs[c]->shape->type);
    widest = s->is_ordered[c] && bytes > widest ? bytes : widest;
  }
  int32_t lanes = indim_piece_lanes(s->size, s->l->target->vector_bytes / widest);
  int64_t end = (s->size + lanes - 1) / lanes * lanes;
  indim_value_id none = indim_loop_splat(b, indim_loop_const(b, INDIM_PRED, 0, 0), lanes);
  indim_value_id i = indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, end), lanes, 1, &none, &in);
  i = end == s->size ? i : indim_loop_clamp_index(b, i, 0, s->size - lanes);  // the last vector overlaps
  indim_value_id found = have_nan(s, i, lanes, values);
  indim_value_id next = indim_lower_failed(s->l) ? 0 : indim_loop_binary(b, INDIM_OP_OR, in, found);
  indim_loop_for_end(b, &next, &out);
  return lanes == 1 ? out : indim_loop_reduce(b, (indim_loop_op){.op = INDIM_OP_OR}, out);
}

// Runs |run_line| for a line without NaNs, and merges any other one by one, which is the evaluator's order.
static void run_by_nans(sorting *s, indim_value_id number) {
  sorting slow = *s;
  slow.is_strict = false;
  indim_value_id has_nan = line_has_nan(s);
  if (indim_lower_failed(s->l)) {
    return;
  }
  indim_loop_if_begin(&s->l->b, has_nan);
  indim_sort_line_whole(&slow, number);
  indim_element_forget(s->l);
  indim_loop_if_else(&s->l->b, 0, NULL);
  s->run_line(s, number);
  indim_element_forget(s->l);
  indim_loop_if_end(&s->l->b, NULL, NULL);
}

// Lines ---------------------------------------------------------------------------------------------------------------

void indim_sort_store(sorting *s, const line *from) {
  indim_loop_builder *b = &s->l->b;
  indim_element_ctx k = {.l = s->l, .lanes = 1};
  if (s->kept == 0) {
    return;
  }
  indim_value_id i = indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, s->kept), 1, 0, NULL, NULL);
  s->position[s->dim] = (indim_coord){i, 0};
  for (int32_t c = 0; c < s->n && !indim_lower_failed(s->l); c++) {
    indim_store_at(&k, s->results[c]->shape, &s->results[c]->place, s->position, indim_sort_element(s, from, c, i));
  }
  indim_loop_for_end(b, NULL, NULL);
}

void indim_sort_elements(sorting *s) {
  int64_t run = s->is_strict ? BLOCK : 1;
  const line *to = &s->buffers[indim_sort_first_side(s, run)];
  if (s->is_strict) {
    make_runs(s, to);
  } else {
    copy_input(s, to);
  }
  indim_sort_merge(s, run);
}

static bool has_one_scratch(const sorting *s) { return s->in_result || s->in_halves; }

void indim_sort_scratch(sorting *s, int32_t side, indim_value_id number) {
  for (int32_t c = 0; c < s->n; c++) {
    s->buffers[side].storage[c] = s->scratch[has_one_scratch(s) ? 0 : side][c];
    int64_t room = s->in_halves ? 2 * s->room : s->room;
    indim_value_id first = indim_loop_mul_const(&s->l->b, number, s->own_memory ? room : 0);
    s->buffers[side].base[c] = indim_loop_add_const(&s->l->b, first, s->in_halves && side == 1 ? s->room : 0);
  }
}

// The results' own line.
static void result_line(sorting *s, line *out) {
  indim_value_id index[INDIM_MAX_RANK];
  s->position[s->dim] = (indim_coord){indim_loop_index(&s->l->b, 0), 0};
  for (int32_t d = 0; d < s->rank; d++) {
    index[d] = s->position[d].base;
  }
  for (int32_t c = 0; c < s->n && !indim_lower_failed(s->l); c++) {
    out->storage[c] = s->results[c]->place.storage;
    out->base[c] = indim_location_address(s->l, s->results[c]->shape, &s->results[c]->place, index);
  }
}

void indim_sort_line_whole(sorting *s, indim_value_id number) {
  for (int32_t side = 0; side < 2; side++) {
    if (s->in_result && side == 0) {  // the last pass writes there
      result_line(s, &s->buffers[side]);
    } else {
      indim_sort_scratch(s, side, number);
    }
  }
  indim_sort_elements(s);
  if (!s->in_result && !indim_lower_failed(s->l)) {
    indim_sort_store(s, &s->buffers[0]);
  }
}

static int64_t line_count(const sorting *s) {
  int64_t lines = 1;
  for (int32_t d = 0; d < s->rank; d++) {
    lines *= d == s->dim ? 1 : s->inputs[0]->shape->sizes[d];
  }
  return lines;
}

// The loops over lines from dimension |d| on; |number| is the line number so far. Lines with their own memory may be
// parallel. Those that are sorted in halves of a buffer only write the result: pieces of them share one, and |number| is the
// piece's.
static void run_lines(sorting *s, int32_t d, indim_value_id number, bool may_thread) {
  indim_loop_builder *b = &s->l->b;
  if (indim_lower_failed(s->l)) {
    return;
  }
  if (d == s->rank) {
    if (s->is_partial) {
      run_by_nans(s, number);
    } else {
      s->run_line(s, number);
    }
    return;
  }
  int64_t size = s->inputs[0]->shape->sizes[d];
  if (d == s->dim || size == 1) {
    s->position[d] = (indim_coord){indim_loop_index(b, 0), 0};
    run_lines(s, d + 1, number, may_thread);
    return;
  }
  int64_t chunk = (size + INDIM_NEST_PIECES - 1) / INDIM_NEST_PIECES;
  bool in_pieces = may_thread && s->in_halves;
  indim_value_id begin = indim_loop_index(b, 0);
  indim_value_id end = indim_loop_index(b, size);
  if (in_pieces) {
    number = indim_loop_for_begin(b, begin, indim_loop_index(b, (size + chunk - 1) / chunk), 1, 0, NULL, NULL);
    indim_loop_for_parallel(b, 1);
    begin = indim_loop_mul_const(b, number, chunk);
    end = indim_loop_clamp_index(b, indim_loop_add_const(b, begin, chunk), 0, size);
  }
  indim_value_id i = indim_loop_for_begin(b, begin, end, 1, 0, NULL, NULL);
  if (may_thread && !in_pieces) {
    indim_loop_for_parallel(b, chunk);
  }
  s->position[d] = (indim_coord){i, 0};
  s->has_loops = true;
  s->l->loop_depth++;
  indim_value_id line_number = indim_loop_add(b, indim_loop_mul_const(b, number, size), i);
  run_lines(s, d + 1, s->in_halves ? number : line_number, false);
  s->l->loop_depth--;
  indim_loop_for_end(b, NULL, NULL);
  if (in_pieces) {
    indim_loop_for_end(b, NULL, NULL);
  }
}

static bool allocate(sorting *s, bool is_parallel, indim_storage **written) {
  int64_t lines = is_parallel ? line_count(s) : 1;
  if (s->in_halves && lines > INDIM_NEST_PIECES) {
    lines = INDIM_NEST_PIECES;
  }
  int32_t count = 0;
  for (int32_t side = 0; side < 2; side++) {
    s->buffers[side].storage = indim_lower_alloc(s->l, s->n, sizeof(indim_storage *));
    s->buffers[side].base = indim_lower_alloc(s->l, s->n, sizeof(indim_value_id));
    s->scratch[side] = indim_lower_alloc(s->l, s->n, sizeof(indim_storage *));
    if (indim_lower_failed(s->l)) {
      return false;
    }
    for (int32_t c = 0; c < s->n && (side == 0 || !has_one_scratch(s)); c++) {
      s->scratch[side][c] = indim_loop_storage(&s->l->b, INDIM_STORAGE_SCRATCH, s->results[c]->shape->type,
                                               lines * (s->in_halves ? 2 : 1) * s->room, s->item->instr->name.data);
      written[count++] = s->scratch[side][c];
    }
  }
  for (int32_t c = 0; c < s->n; c++) {
    written[count++] = s->results[c]->place.storage;
  }
  indim_loop_region_begin(&s->l->b, written, count);
  return !indim_lower_failed(s->l);
}

// Whether the outermost loop over lines takes the longest steps, so that its iterations are known to be apart.
static bool outermost_is_major(const sorting *s, const indim_location *at) {
  int32_t first = -1;
  for (int32_t d = 0; d < s->rank; d++) {
    if (d == s->dim || s->inputs[0]->shape->sizes[d] == 1) {
      continue;
    }
    if (first >= 0 && at->strides[d] > at->strides[first]) {
      return false;
    }
    first = first < 0 ? d : first;
  }
  return true;
}

void indim_sort_lines(sorting *s) {
  indim_lowering *l = s->l;
  indim_storage **written = indim_lower_alloc(l, 3 * (int64_t)s->n, sizeof *written);
  if (written == NULL || indim_shape_element_count(s->inputs[0]->shape) == 0) {
    return;
  }
  int64_t elements = indim_shape_element_count(s->inputs[0]->shape);
  bool is_parallel =
      line_count(s) >= 2 && l->loop_depth == 0 && indim_lower_may_thread(l, elements, INDIM_COST_PARALLEL_SORT);
  bool in_loops = line_count(s) >= 2 || l->loop_depth > 0 || s->is_partial || s->run_line != indim_sort_line_whole;
  s->in_halves = in_loops && indim_sort_loops_over_passes(s, s->room);
  s->in_result = s->kept == s->size && s->comparator != NULL && !s->in_halves;
  for (int32_t c = 0; c < s->n; c++) {
    const indim_location *at = &s->results[c]->place;
    s->in_result =
        s->in_result && at->tiled == NULL && at->strides[s->dim] == 1 && (!is_parallel || outermost_is_major(s, at));
  }
  if (!allocate(s, is_parallel, written)) {
    return;
  }
  indim_element_forget(l);
  s->own_memory = is_parallel;
  run_lines(s, 0, indim_loop_index(&l->b, 0), is_parallel);
}

// Whether the first elements may be kept as those of a topk are: by the first of at most two columns.
static bool may_select(const sorting *s) {
  return s->is_strict && s->kept < s->size && s->n <= 2 && s->is_key[0] && !(s->n == 2 && s->is_key[1]);
}

void indim_lower_sort(indim_lowering *l, indim_flow_item *item) {
  int64_t count = 0;
  bool is_inserted = false;
  sorting s = {.l = l, .item = item, .n = item->operand_count, .inputs = item->operands};
  s.comparator = indim_instr_computation(item->instr, INDIM_ATTR_TO_APPLY);
  s.rank = item->operands[0]->shape->rank;
  s.dim = (int32_t)*indim_instr_ints(item->instr, INDIM_ATTR_DIMENSIONS, &count);
  s.size = s.room = item->operands[0]->shape->sizes[s.dim];
  s.kept = item->kept;
  s.results = item->member_count > 0 ? item->members : &item;
  s.is_key = indim_lower_alloc(l, s.n, sizeof *s.is_key);
  s.is_ordered = indim_lower_alloc(l, s.n, sizeof *s.is_ordered);
  if (s.is_key == NULL || s.is_ordered == NULL || s.kept == 0) {
    return;
  }
  if (s.size == 1) {
    for (int32_t i = 0; i < s.n && !indim_lower_failed(l); i++) {
      indim_nest_copy(l, s.inputs[i], &s.results[i]->place);
    }
    return;
  }
  indim_sort_know_order(&s);
  s.run_line = may_select(&s) ? indim_sort_selection(&s, &is_inserted) : NULL;
  if (!is_inserted && indim_sort_lower_host(l, item)) {
    return;
  }
  s.room = s.is_partial && s.room < s.size ? s.size : s.room;
  if (s.run_line != NULL) {
    indim_lower_explain(l, item, "the first %lld of lines of %lld %s%s", (long long)s.kept, (long long)s.size,
                        is_inserted ? "inserted one by one" : "selected",
                        s.is_partial ? ", but in lines with a NaN" : "");
  } else {
    indim_lower_explain(l, item, "lines of %lld merged %s%s", (long long)s.size,
                        s.is_strict ? "from both ends" : "one by one: the comparator is not known to be a strict order",
                        s.is_partial ? ", but lines with a NaN one by one" : "");
    s.run_line = indim_sort_line_whole;
  }
  indim_sort_lines(&s);
}
