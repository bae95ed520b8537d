// Rows: the lanes of a register hold partial results of one row and are combined at the end. Several rows are reduced
// together if they have no other user: several memory streams are faster than one, and their lanes are combined
// together. The remainder of a row is reduced in halves, quarters, ... of a register into a second partial result.
#include <string.h>

#include "loop/kernels/reduce.h"
#include "loop/target/cost.h"

// Combining lanes -----------------------------------------------------------------------------------------------------

// Applies the computation to values of which those in |acc| have the lower index.
static void apply_in_order(indim_reduction *r, int32_t lanes, const indim_value_id *acc, const indim_value_id *values,
                           indim_value_id *out) {
  indim_loop_builder *b = &r->l->b;
  b->less[0] = r->by_index ? acc[1] : 0;
  b->less[1] = r->by_index ? values[1] : 0;
  indim_reduce_apply(r, lanes, acc, values, out);
  b->less[0] = 0;
}

// Orders two partial results (value, index, value, index) by index, lane by lane.
static void order_by_index(indim_loop_builder *b, indim_value_id *pairs) {
  indim_value_id args[] = {pairs[1], pairs[3]};
  indim_loop_op greater = {.op = INDIM_OP_COMPARE, .direction = INDIM_COMPARE_GT};
  indim_value_id swap = indim_loop_elementwise(b, greater, INDIM_PRED, 2, args);
  for (int32_t i = 0; i < 2; i++) {
    indim_value_id first = pairs[i];
    pairs[i] = indim_loop_select(b, swap, pairs[2 + i], first);
    pairs[2 + i] = indim_loop_select(b, swap, first, pairs[2 + i]);
  }
}

// |sources| vectors hold |groups| rows each, |width| lanes of a row: combines the first halves of all rows with the
// second halves into |out|.
static void combine_halves(indim_reduction *r, int32_t sources, int32_t groups, int32_t width,
                           const indim_value_id *vectors, indim_value_id *out) {
  indim_loop_builder *b = &r->l->b;
  indim_value_id *halves = indim_lower_alloc(r->l, 2 * (int64_t)r->n, sizeof *halves);
  int32_t map[256];
  int32_t lanes = sources * groups * width / 2;
  for (int32_t i = 0; i < r->n && halves != NULL; i++) {
    indim_value_id from[2] = {vectors[i], sources > 1 ? vectors[r->n + i] : 0};
    for (int32_t h = 0; h < 2; h++) {
      for (int32_t lane = 0; lane < lanes; lane++) {
        map[lane] = lane / (width / 2) * width + h * width / 2 + lane % (width / 2);
      }
      halves[h * r->n + i] = indim_loop_shuffle(b, sources, from, lanes, map);
    }
  }
  if (halves != NULL && !indim_lower_failed(r->l)) {
    if (r->by_index) {
      order_by_index(b, halves);
    }
    apply_in_order(r, lanes, halves, halves + r->n, out);
  }
}

void indim_reduce_combine(indim_reduction *r, int32_t count, int32_t lanes, indim_value_id *values,
                          indim_value_id *out) {
  indim_loop_builder *b = &r->l->b;
  if (r->is_single && count == 1) {
    out[0] = lanes == 1 ? values[0] : indim_loop_reduce(b, r->op, values[0]);
    return;
  }
  // Each vector has |groups| rows; two vectors are merged while the result fits a register. Bits are told from all of a vector at once.
  int32_t vectors = count;
  int32_t groups = 1;
  int32_t most = 4;
  for (int32_t v = 0; r->is_single && lanes > 1 && r->inputs[0]->shape->type == INDIM_PRED && v < count; v++) {
    values[v] = indim_loop_reduce(b, r->op, values[v]);
  }
  lanes = r->is_single && r->inputs[0]->shape->type == INDIM_PRED ? 1 : lanes;
  for (int32_t i = 0; i < r->n; i++) {
    int32_t bytes = (int32_t)indim_type_bytes(r->inputs[i]->shape->type);
    most = r->l->target->vector_bytes / bytes > most ? r->l->target->vector_bytes / bytes : most;
  }
  for (; lanes > 1 && !indim_lower_failed(r->l); lanes /= 2) {
    int32_t sources = vectors > 1 && groups * lanes <= most ? 2 : 1;
    vectors /= sources;
    for (int32_t v = 0; v < vectors; v++) {
      combine_halves(r, sources, groups, lanes, values + v * sources * r->n, values + v * r->n);
    }
    groups *= sources;
  }
  int32_t map[INDIM_REDUCE_ROWS];
  for (int32_t k = 0; k < count; k++) {
    map[k] = k;
  }
  for (int32_t i = 0; i < r->n && !indim_lower_failed(r->l); i++) {
    indim_value_id from[INDIM_REDUCE_ROWS];
    for (int32_t v = 0; v < vectors; v++) {
      from[v] = values[v * r->n + i];
    }
    out[i] = indim_loop_shuffle(b, vectors, from, count, map);
  }
}

// Reducing ------------------------------------------------------------------------------------------------------------

// Partial results of |count| rows: |wide| has n values of r->lanes lanes for each row, |narrow| n values with a lane
// per row.
typedef struct partial {
  int32_t count;
  indim_reduce_row *rows;
  int64_t size;
  indim_value_id *wide, *narrow;
} partial;

enum { MOST_LANES = 64 };  // of a vector that has some elements again

// Loads the values of all rows at |at|, relative to their starts.
static void load_rows(indim_reduction *r, const partial *p, int32_t lanes, indim_value_id at, indim_value_id *out) {
  indim_loop_builder *b = &r->l->b;
  for (int32_t k = 0; k < p->count && !indim_lower_failed(r->l); k++) {
    indim_reduce_row *row = &p->rows[k];
    row->index[r->vector_dim] = (indim_coord){indim_loop_add(b, row->start, at), lanes > 1 ? 1 : 0};
    indim_reduce_inputs(r, lanes, row->index, out + k * r->n);
  }
}

static void apply_each(indim_reduction *r, const partial *p, const indim_value_id *acc, const indim_value_id *values,
                       indim_value_id *out) {
  for (int32_t k = 0; k < p->count && !indim_lower_failed(r->l); k++) {
    apply_in_order(r, r->lanes, acc + k * r->n, values + k * r->n, out + k * r->n);
  }
}

// Combines the wide partial results into the narrow ones.
static void finish(indim_reduction *r, partial *p) {
  indim_reduce_combine(r, p->count, r->lanes, p->wide, p->wide);
  if (!indim_lower_failed(r->l)) {
    indim_reduce_apply(r, p->count, p->narrow, p->wide, p->narrow);
  }
}

// Whether an element may be taken twice.
static bool is_idempotent(const indim_reduction *r) {
  return r->is_single && (r->op.op == INDIM_OP_MAXIMUM || r->op.op == INDIM_OP_MINIMUM || r->op.op == INDIM_OP_AND ||
                          r->op.op == INDIM_OP_OR);
}

// Whether the |rest| elements behind the last whole vector are taken in a vector that ends with the row, rather than in halves of it:
// one of few lanes is cheaper than a whole one.
static bool may_overlap(const indim_reduction *r, int64_t rest) {
  if (is_idempotent(r)) {
    return r->inputs[0]->cost <= INDIM_COST_LATENCY_BOUND;
  }
  bool is_few = rest < r->lanes / 2 && rest == indim_piece_lanes(rest, r->lanes);
  return r->is_single && r->lanes <= MOST_LANES && !is_few;
}

// Gives the first |count| lanes of each row the identity: they were taken before.
static void leave_out(indim_reduction *r, const partial *p, int32_t count, indim_value_id *values) {
  indim_loop_builder *b = &r->l->b;
  if (is_idempotent(r) || indim_lower_failed(r->l)) {
    return;
  }
  uint64_t bits[2 * MOST_LANES] = {0};  // with imaginary parts
  for (int32_t lane = count; lane < r->lanes; lane++) {
    bits[2 * lane] = 1;
  }
  indim_value_id is_new = indim_loop_lanes(b, INDIM_PRED, r->lanes, bits);
  indim_value_id identity = indim_loop_splat(b, r->identity, r->lanes);
  for (int32_t k = 0; k < p->count && !indim_lower_failed(r->l); k++) {
    values[k] = indim_loop_select(b, is_new, values[k], identity);
  }
}

// Reduces along the vector dimension. With an op that has an identity, |wide| is carried through the outer reduced
// dimensions; otherwise it starts with the first elements and is finished before the remainder of the row, which follows
// it in order.
static void reduce_row(indim_reduction *r, partial *p) {
  indim_loop_builder *b = &r->l->b;
  int32_t count = p->count * r->n;
  int64_t from = 0;
  int64_t done = p->size / r->lanes * r->lanes;
  indim_value_id *values = indim_lower_alloc(r->l, 2 * (int64_t)count, sizeof *values);
  if (values == NULL || indim_lower_failed(r->l)) {
    return;
  }
  indim_value_id *in = values + count;
  if (!r->is_single) {
    load_rows(r, p, r->lanes, indim_loop_index(b, 0), p->wide);
    from = r->lanes;
  }
  if (done - from > r->lanes) {
    indim_value_id at =
        indim_loop_for_begin(b, indim_loop_index(b, from), indim_loop_index(b, done), r->lanes, count, p->wide, in);
    load_rows(r, p, r->lanes, at, values);
    apply_each(r, p, in, values, in);
    indim_loop_for_end(b, in, p->wide);
  } else if (done > from) {
    load_rows(r, p, r->lanes, indim_loop_index(b, from), values);
    apply_each(r, p, p->wide, values, p->wide);
  }
  if (!r->is_single) {
    finish(r, p);
  }
  if (done > 0 && done < p->size && may_overlap(r, p->size - done)) {
    // The last elements once more, in vectors that end with the row: their lanes are not combined on their own.
    load_rows(r, p, r->lanes, indim_loop_index(b, p->size - r->lanes), values);
    leave_out(r, p, r->lanes - (int32_t)(p->size - done), values);
    apply_each(r, p, p->wide, values, p->wide);
    done = p->size;
  }
  for (int32_t lanes = 0; (lanes = indim_piece_lanes(p->size - done, r->lanes)) > 0; done += lanes) {
    load_rows(r, p, lanes, indim_loop_index(b, done), values);
    indim_reduce_combine(r, p->count, lanes, values, values);
    if (indim_lower_failed(r->l)) {
      return;
    }
    indim_reduce_apply(r, p->count, p->narrow, values, p->narrow);
  }
}

// The loops over the other reduced dimensions from |position| on.
static void reduced_dims(indim_reduction *r, int32_t position, partial *p) {
  indim_loop_builder *b = &r->l->b;
  if (position == r->order_count) {
    reduce_row(r, p);
    return;
  }
  int32_t dim = r->order[position];
  int32_t wide = p->count * r->n;
  int32_t count = wide + r->n;
  indim_value_id *carried = indim_lower_alloc(r->l, 2 * (int64_t)count, sizeof *carried);
  if (carried == NULL || indim_lower_failed(r->l)) {
    return;
  }
  indim_value_id *in = carried + count;
  memcpy(carried, p->wide, (size_t)wide * sizeof *carried);
  memcpy(carried + wide, p->narrow, (size_t)r->n * sizeof *carried);
  indim_value_id at =
      indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, r->sizes[dim]), 1, count, carried, in);
  for (int32_t k = 0; k < p->count; k++) {
    p->rows[k].index[dim] = (indim_coord){at, 0};
  }
  partial inner = {p->count, p->rows, p->size, in, in + wide};
  reduced_dims(r, position + 1, &inner);
  indim_loop_for_end(b, in, carried);
  memcpy(p->wide, carried, (size_t)wide * sizeof *carried);
  memcpy(p->narrow, carried + wide, (size_t)r->n * sizeof *carried);
}

void indim_reduce_rows(indim_reduction *r, int32_t count, indim_reduce_row *rows, int64_t size, indim_value_id *acc) {
  indim_loop_builder *b = &r->l->b;
  partial p = {.count = count, .rows = rows, .size = size, .narrow = acc};
  p.wide = indim_lower_alloc(r->l, (int64_t)count * r->n, sizeof *p.wide);
  if (p.wide == NULL || indim_lower_failed(r->l)) {
    return;
  }
  for (int32_t k = 0; k < count && r->is_single; k++) {
    p.wide[k] = indim_loop_splat(b, r->identity, r->lanes);
  }
  for (int32_t i = 0; i < r->n; i++) {
    acc[i] = indim_loop_splat(b, acc[i], count);
  }
  reduced_dims(r, 0, &p);
  if (r->is_single) {
    finish(r, &p);
  }
}
