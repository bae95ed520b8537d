// topk: the first elements of each line in order. A line that is short for them is sorted whole. Of a longer one a buffer holds the
// best so far, in order. Vectors of the line are compared with the last of them, and only where some lane precedes it are elements
// looked at one by one. Where few are kept, one that precedes the last is inserted behind those that it does not precede: vectors of
// the others move by a place.
// Where many are, it becomes a candidate behind the best; when the buffer may not have room for the next chunk it is sorted,
// which is stable and keeps the first of equals, as they came in their order.
#include "loop/kernels/sort.h"

enum {
  CHUNK = 16,         // elements between looks at the room that is left
  VECTOR_BYTES = 64,  // of the keys compared at once
  MOST_LANES = 16,
  MOST_REGISTERS = 16,  // of kept keys into which others are inserted
  WORTH = 4             // kept elements, or buffers, that a line has to be long for this to pay
};

// The elements that the buffer has room for, and those that it begins with: so many that the rest is whole vectors.
static int64_t room_for(int64_t kept) {
  int64_t slack = kept > CHUNK ? kept : CHUNK;  // found between two sorts
  return (kept + slack + CHUNK + INDIM_SORT_BLOCK - 1) / INDIM_SORT_BLOCK * INDIM_SORT_BLOCK;
}

static int32_t lanes_of(indim_type type) {
  int32_t lanes = VECTOR_BYTES / indim_type_bytes(type);
  return lanes > MOST_LANES ? MOST_LANES : lanes;
}

// Fewer where the line is short, and half as many as elements are looked at one by one for each that is inserted.
static int32_t lanes_to_insert(const indim_sorting *s) {
  int32_t lanes = lanes_of(s->inputs[0]->shape->type) / 2;
  while (lanes > s->size - s->kept) {
    lanes /= 2;
  }
  return lanes;
}

typedef struct selection {
  indim_sorting *s;
  int64_t first;  // elements that the buffer begins with
  int32_t lanes;
  indim_value_id *values;  // room for the columns of an element, or of a vector
  indim_value_id *last;    // likewise: the last element that is kept
} selection;

enum { COUNT, KEY, STATE };  // carried: candidates, and the key that an element has to precede to become one

// Stores the element in |values| as candidate number |at|.
static void put(selection *p, indim_value_id at) {
  indim_loop_builder *b = &p->s->l->b;
  const indim_sort_line *to = &p->s->buffers[0];
  at = indim_loop_clamp_index(b, at, 0, room_for(p->s->kept) - 1);
  for (int32_t c = 0; c < p->s->n && !indim_lower_failed(p->s->l); c++) {
    indim_loop_store(b, to->storage[c], indim_loop_add(b, to->base[c], at), p->values[c], 1, false);
  }
}

// Puts the first elements of the line into the buffer; answers the key of the last among them in order.
static indim_value_id begin_with(selection *p) {
  indim_loop_builder *b = &p->s->l->b;
  indim_value_id key = 0, in = 0, out = 0;
  indim_sort_load(p->s, indim_loop_index(b, 0), 1, p->values);
  key = p->values[0];
  indim_value_id i = indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, p->first), 1, 1, &key, &in);
  indim_sort_load(p->s, i, 1, p->values);
  put(p, i);
  p->last[0] = in;
  indim_value_id precedes = indim_sort_before(p->s, 1, p->last, p->values);
  indim_value_id next = indim_loop_select(b, precedes, p->values[0], in);
  indim_loop_for_end(b, &next, &out);
  return out;
}

// Adds those of |lanes| elements from |i| on that precede |key|.
static indim_value_id add_preceding(selection *p, indim_value_id i, indim_value_id count, indim_value_id key) {
  indim_loop_builder *b = &p->s->l->b;
  indim_value_id in = 0, out = 0;
  indim_value_id j = indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, p->lanes), 1, 1, &count, &in);
  indim_sort_load(p->s, indim_loop_add(b, i, j), 1, p->values);
  put(p, in);  // counted if it precedes
  p->last[0] = key;
  indim_value_id precedes = indim_sort_before(p->s, 1, p->values, p->last);
  indim_value_id next =
      indim_loop_add(b, in, indim_loop_select(b, precedes, indim_loop_index(b, 1), indim_loop_index(b, 0)));
  indim_loop_for_end(b, &next, &out);
  return out;
}

// One vector of the line.
static indim_value_id look_at(selection *p, indim_value_id i, indim_value_id count, indim_value_id key) {
  indim_loop_builder *b = &p->s->l->b;
  indim_value_id out = 0;
  indim_sort_load(p->s, i, p->lanes, p->values);
  p->last[0] = indim_loop_splat(b, key, p->lanes);
  indim_value_id precedes = indim_sort_before(p->s, p->lanes, p->values, p->last);
  if (indim_lower_failed(p->s->l)) {
    return 0;
  }
  indim_loop_if_begin(b, indim_loop_reduce(b, (indim_loop_op){.op = INDIM_OP_OR}, precedes));
  indim_value_id more = add_preceding(p, i, count, key);
  indim_loop_if_else(b, 1, &more);
  indim_loop_if_end(b, &count, &out);
  return out;
}

// Sorts the candidates and keeps the first. What is behind them in the buffer gets |key|, which so many of them do not come after, and
// stays behind those. Answers the key of the last that is kept now.
static indim_value_id sort_candidates(selection *p, indim_value_id count, indim_value_id key) {
  indim_sorting inner = *p->s;
  indim_loop_builder *b = &inner.l->b;
  indim_value_id j = indim_loop_for_begin(b, count, indim_loop_index(b, room_for(inner.kept)), 1, 0, NULL, NULL);
  p->values[0] = key;
  if (inner.n > 1) {
    p->values[1] = indim_loop_const(b, inner.results[1]->shape->type, 0, 0);
  }
  put(p, j);
  indim_loop_for_end(b, NULL, NULL);
  inner.source = &inner.buffers[0];
  inner.size = room_for(inner.kept);
  inner.has_loops = true;
  indim_sort_elements(&inner);
  indim_value_id at = indim_loop_add_const(b, inner.buffers[0].base[0], inner.kept - 1);
  return indim_loop_load(b, inner.buffers[0].storage[0], at, 1, 1);
}

// The elements of chunk number |step|, which is none for step 0.
static indim_value_id look_at_chunk(selection *p, indim_value_id step, indim_value_id count, indim_value_id key) {
  indim_loop_builder *b = &p->s->l->b;
  int64_t size = p->s->size;
  indim_value_id in = 0, out = 0;
  indim_value_id end = indim_loop_add_const(b, indim_loop_mul_const(b, step, CHUNK), p->first);
  indim_value_id begin = indim_loop_clamp_index(b, indim_loop_add_const(b, end, -CHUNK), p->first, size);
  end = indim_loop_clamp_index(b, end, p->first, size);
  indim_value_id i = indim_loop_for_begin(b, begin, end, p->lanes, 1, &count, &in);
  indim_value_id next = look_at(p, indim_loop_clamp_index(b, i, 0, size - p->lanes), in, key);
  indim_loop_for_end(b, &next, &out);
  return out;
}

// Whether |x| precedes element |at| of the buffer.
static indim_value_id precedes_kept(selection *p, const indim_value_id *x, indim_value_id at) {
  p->last[0] = indim_sort_element(p->s, &p->s->buffers[0], 0, at);
  return indim_sort_before(p->s, 1, x, p->last);
}

// The lanes of which a block of the kept ones has so many.
static int32_t lanes_kept(const indim_sorting *s) {
  int32_t lanes = lanes_of(s->inputs[0]->shape->type);
  while (lanes / 2 >= s->kept && lanes > 4) {
    lanes /= 2;
  }
  return lanes;
}

// For each of the places from |at| on, whether it is at least |count| or has an element that |x| precedes.
static indim_value_id is_behind(selection *p, const indim_value_id *x, const indim_value_id *kept, indim_value_id at,
                                indim_value_id count, int32_t lanes) {
  indim_loop_builder *b = &p->s->l->b;
  uint64_t numbers[2 * MOST_LANES] = {0};
  for (int32_t k = 0; k < lanes; k++) {
    numbers[2 * k] = (uint64_t)k;
  }
  indim_value_id left = indim_loop_convert(b, indim_loop_add(b, count, indim_loop_mul_const(b, at, -1)), INDIM_S32);
  indim_value_id args[] = {indim_loop_lanes(b, INDIM_S32, lanes, numbers), indim_loop_splat(b, left, lanes)};
  indim_loop_op at_least = {.op = INDIM_OP_COMPARE, .direction = INDIM_COMPARE_GE};
  indim_value_id is_free = indim_loop_elementwise(b, at_least, INDIM_PRED, 2, args);
  return indim_loop_binary(b, INDIM_OP_OR, is_free, indim_sort_before(p->s, lanes, x, kept));
}

// Moves what |x|, of |lanes| equal lanes, precedes of the places from |at| on, of which the first |count| of all are taken, and puts
// it before that. The place before the first has anything, which stays.
static void insert_into_block(selection *p, const indim_value_id *x, indim_value_id at, indim_value_id count,
                              int32_t lanes) {
  indim_sorting *s = p->s;
  indim_loop_builder *b = &s->l->b;
  const indim_sort_line *kept = &s->buffers[0];
  indim_value_id here[2] = {0, 0}, before[2] = {0, 0};
  for (int32_t c = 0; c < s->n; c++) {
    indim_value_id address = indim_loop_add(b, kept->base[c], at);
    here[c] = indim_loop_load(b, kept->storage[c], address, lanes, 1);
    before[c] = indim_loop_load(b, kept->storage[c], indim_loop_add_const(b, address, -1), lanes, 1);
  }
  indim_value_id is_first = indim_loop_in_range(b, at, 0, 0);
  uint64_t others[2 * MOST_LANES] = {0};
  for (int32_t k = 1; k < lanes; k++) {
    others[2 * k] = 1;
  }
  indim_value_id has_before = indim_loop_binary(b, INDIM_OP_OR, indim_loop_lanes(b, INDIM_PRED, lanes, others),
                                                indim_loop_splat(b, indim_sort_not(s, is_first), lanes));
  indim_value_id moves_here = is_behind(p, x, here, at, count, lanes);
  indim_value_id moves_before = indim_loop_binary(
      b, INDIM_OP_AND, has_before, is_behind(p, x, before, indim_loop_add_const(b, at, -1), count, lanes));
  for (int32_t c = 0; c < s->n && !indim_lower_failed(s->l); c++) {
    indim_value_id moved = indim_loop_select(b, moves_before, before[c], x[c]);
    indim_value_id value = indim_loop_select(b, moves_here, moved, here[c]);
    indim_loop_store(b, kept->storage[c], indim_loop_add(b, kept->base[c], at), value, 1, false);
  }
}

// Inserts element |i| behind those of the first |count| that it does not precede, if there is room or it precedes the last.
// Answers how many are kept now.
static indim_value_id insert(selection *p, indim_value_id i, indim_value_id count) {
  indim_sorting *s = p->s;
  indim_loop_builder *b = &s->l->b;
  int32_t lanes = lanes_kept(s);
  int64_t blocks = (s->kept + lanes - 1) / lanes;
  indim_value_id x[2] = {0, 0};
  indim_value_id is_full = indim_loop_in_range(b, count, s->kept, s->kept);
  indim_value_id out = 0;
  indim_sort_load(s, i, 1, p->values);
  indim_value_id follows = indim_sort_not(s, precedes_kept(p, p->values, indim_loop_index(b, s->kept - 1)));
  indim_loop_if_begin(b, indim_loop_binary(b, INDIM_OP_AND, is_full, follows));
  indim_loop_if_else(b, 1, &count);
  for (int32_t c = 0; c < s->n; c++) {
    x[c] = indim_loop_splat(b, p->values[c], lanes);
  }
  // The last block first, as each takes one element of that before.
  indim_value_id done =
      indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, blocks * lanes), lanes, 0, NULL, NULL);
  indim_value_id at = indim_loop_add_const(b, indim_loop_mul_const(b, done, -1), (blocks - 1) * lanes);
  insert_into_block(p, x, at, count, lanes);
  indim_loop_for_end(b, NULL, NULL);
  indim_value_id more = indim_loop_clamp_index(b, indim_loop_add_const(b, count, 1), 1, s->kept);
  indim_loop_if_end(b, &more, &out);
  return out;
}

// Step 0 inserts the elements before the whole vectors, each other one looks at a vector.
static void insert_line(indim_sorting *s, indim_value_id number) {
  indim_loop_builder *b = &s->l->b;
  selection p = {.s = s, .lanes = lanes_to_insert(s)};
  p.values = indim_lower_alloc(s->l, 2 * (int64_t)s->n, sizeof *p.values);
  if (p.values == NULL) {
    return;
  }
  p.last = p.values + s->n;
  p.first = s->kept + (s->size - s->kept) % p.lanes;
  indim_sort_scratch(s, 0, number);
  for (int32_t c = 0; c < s->n; c++) {  // behind a place that blocks are moved from
    s->buffers[0].base[c] = indim_loop_add_const(b, s->buffers[0].base[c], 1);
  }
  indim_value_id none = indim_loop_index(b, 0), count = 0, in = 0, some = 0, out = 0;
  int64_t steps = 1 + (s->size - p.first) / p.lanes;
  indim_value_id step = indim_loop_for_begin(b, none, indim_loop_index(b, steps), 1, 1, &none, &count);
  indim_value_id is_start = indim_loop_in_range(b, step, 0, 0);
  indim_value_id end = indim_loop_add_const(b, indim_loop_mul_const(b, step, p.lanes), p.first);
  indim_value_id vector = indim_loop_clamp_index(b, indim_loop_add_const(b, end, -p.lanes), 0, s->size - p.lanes);
  indim_value_id begin = indim_loop_select(b, is_start, none, vector);
  indim_sort_load(s, vector, p.lanes, p.values);
  indim_value_id last = indim_sort_element(s, &s->buffers[0], 0, indim_loop_index(b, s->kept - 1));
  p.last[0] = indim_loop_splat(b, last, p.lanes);
  indim_value_id precedes = indim_sort_before(s, p.lanes, p.values, p.last);
  if (indim_lower_failed(s->l)) {
    return;
  }
  indim_value_id any = indim_loop_reduce(b, (indim_loop_op){.op = INDIM_OP_OR}, precedes);
  indim_loop_if_begin(b, indim_loop_binary(b, INDIM_OP_OR, is_start, any));
  indim_value_id i = indim_loop_for_begin(b, begin, end, 1, 1, &count, &in);
  indim_value_id next = insert(&p, indim_loop_clamp_index(b, i, 0, s->size - 1), in);
  indim_loop_for_end(b, &next, &some);
  indim_loop_if_else(b, 1, &some);
  indim_loop_if_end(b, &count, &out);
  indim_loop_for_end(b, &out, &count);
  if (!indim_lower_failed(s->l)) {
    indim_sort_store(s, &s->buffers[0]);
  }
}

// Step 0 sorts what the buffer begins with, each other one looks at a chunk, and the last one sorts in any case.
static void select_line(indim_sorting *s, indim_value_id number) {
  indim_loop_builder *b = &s->l->b;
  selection p = {.s = s, .lanes = lanes_of(s->inputs[0]->shape->type)};
  p.values = indim_lower_alloc(s->l, 2 * (int64_t)s->n, sizeof *p.values);
  if (p.values == NULL) {
    return;
  }
  p.last = p.values + s->n;
  p.first = s->kept + (s->size - s->kept) % p.lanes;
  int64_t steps = 1 + (s->size - p.first + CHUNK - 1) / CHUNK;
  indim_sort_scratch(s, 0, number);
  indim_sort_scratch(s, 1, number);
  indim_value_id state[STATE] = {indim_loop_index(b, p.first), begin_with(&p)}, in[STATE] = {0, 0};
  indim_value_id step =
      indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, steps), 1, STATE, state, in);
  indim_value_id seen[STATE] = {look_at_chunk(&p, step, in[COUNT], in[KEY]), in[KEY]};
  indim_value_id is_inner = indim_loop_in_range(b, step, 1, steps - 2);
  indim_value_id is_roomy = indim_loop_in_range(b, seen[COUNT], 0, room_for(s->kept) - CHUNK);
  indim_loop_if_begin(b, indim_loop_binary(b, INDIM_OP_AND, is_inner, is_roomy));
  indim_loop_if_else(b, STATE, seen);
  indim_value_id sorted[STATE] = {indim_loop_index(b, s->kept), sort_candidates(&p, seen[COUNT], in[KEY])};
  indim_loop_if_end(b, sorted, seen);
  indim_loop_for_end(b, seen, state);
  if (!indim_lower_failed(s->l)) {
    indim_sort_store(s, &s->buffers[0]);
  }
}

// Whole blocks of kept ones, and the place before them.
static int64_t room_to_insert(const indim_sorting *s) {
  int64_t lanes = lanes_kept(s);
  return (s->kept + lanes - 1) / lanes * lanes + 1;
}

indim_sort_run_line *indim_sort_selection(indim_sorting *s, bool *out_inserts) {
  int64_t bytes = indim_type_bytes(s->inputs[0]->shape->type);
  int64_t vectors = MOST_REGISTERS * (int64_t)s->l->target->vector_bytes;
  bool is_long = s->size / WORTH >= s->kept;
  *out_inserts = is_long && s->kept * (bytes < 4 ? 4 : bytes) <= vectors;
  if (!*out_inserts && s->size / WORTH < room_for(s->kept)) {
    return NULL;
  }
  s->room = *out_inserts ? room_to_insert(s) : room_for(s->kept);
  return *out_inserts ? insert_line : select_line;
}

void indim_lower_topk(indim_lowering *l, indim_flow_item *item) {
  bool is_key[2] = {true, false};
  indim_sorting s = {.l = l, .item = item, .n = 2, .inputs = item->operands, .is_strict = true, .is_key = is_key};
  s.rank = item->operands[0]->shape->rank;
  s.dim = s.rank - 1;
  s.size = s.room = item->operands[0]->shape->sizes[s.dim];
  s.kept = indim_instr_int(item->instr, INDIM_ATTR_K, 0);
  s.is_largest = indim_instr_bool(item->instr, INDIM_ATTR_LARGEST, true);
  s.results = item->members;
  if (s.kept == 0) {
    return;
  }
  bool is_inserted = false;
  s.run_line = indim_sort_selection(&s, &is_inserted);
  if (!is_inserted && indim_sort_lower_host(l, item)) {
    return;
  }
  indim_lower_explain(l, item,
                      is_inserted          ? "%lld of %lld inserted one by one into a line of %lld"
                      : s.run_line != NULL ? "%lld of %lld selected, by a buffer of %lld"
                                           : "%lld of %lld: sorted whole",
                      (long long)s.kept, (long long)s.size, (long long)s.room);
  s.run_line = s.run_line != NULL ? s.run_line : indim_sort_line_whole;
  indim_sort_lines(&s);
}
