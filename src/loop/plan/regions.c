// Arrays of which only a part is read are computed there alone, where that saves a product or a reduction some of its work: the logits of
// the last token, the first rows of a softmax with all that leads there.
//
//   slice(gelu(dot(x, w) + b), [0:1])    -> gelu(dot(slice(x, [0:1]), w) + slice(b))
//
// A walk from the last item to the first finds the region of each item that somebody reads: for each dimension from which element to which,
// and how far apart. Then items shrink to their regions, and who reads less of one than all of its region reads a slice of it.
#include <string.h>

#include "base/size.h"
#include "loop/ir/index_math.h"
#include "loop/plan/flow_make.h"

typedef indim_flow_maker maker;

// The elements low, low + step, ..., last of a dimension; step 0: one.
typedef struct span {
  int64_t low, last, step;
} span;

typedef struct region {
  span *dims;     // of each dimension; NULL: nobody reads it, or all of it
  bool is_whole;  // all of it is computed
  bool is_dead;   // nobody reads it
  bool is_changed;
} region;

typedef struct shrinking {
  maker *m;
  region *of;                 // each item, by its index
  bool *leads;                // a product or reduction is on the way to it, through what passes regions on
  indim_flow_item **instead;  // what is read in place of a slice that is all of what it reads; NULL: the item
  int32_t item_count;         // without new ones
  indim_flow_item **order;  // the items with new ones, from |at| on, while they are visited from the last to the first
  int32_t at;
} shrinking;

// Spans ---------------------------------------------------------------------------------------------------------------

static span whole_span(int64_t size) { return (span){0, size - 1, size > 1 ? 1 : 0}; }

static int64_t span_count(const span *s) { return s->step == 0 ? 1 : (s->last - s->low) / s->step + 1; }

static bool same_span(const span *a, const span *b) {
  return a->low == b->low && a->last == b->last && a->step == b->step;
}

// The least span with the elements of both.
static void join(span *into, const span *with) {
  int64_t apart = indim_index_abs(into->low - with->low);
  into->step = indim_gcd(indim_gcd(into->step, with->step), apart);
  into->low = with->low < into->low ? with->low : into->low;
  into->last = with->last > into->last ? with->last : into->last;
}

static double elements_of(const span *dims, int32_t rank) {
  double count = 1;
  for (int32_t d = 0; d < rank; d++) {
    count *= (double)span_count(&dims[d]);
  }
  return count;
}

// What passes regions on ------------------------------------------------------------------------------------------------

static bool is_reduction(const indim_flow_item *item) {
  return indim_flow_is_op(item, INDIM_OP_REDUCE) && item->operand_count == 2 && item->member_count == 0;
}

static bool is_dot(const indim_flow_item *item) {
  return indim_flow_is_op(item, INDIM_OP_DOT) && item->operand_count == 2;
}

// Those that have room in registers are hardly worth it.
static bool is_kernel(const indim_flow_item *item) {
  enum { LEAST = 256 };
  return (is_dot(item) || is_reduction(item)) && indim_shape_element_count(item->shape) >= LEAST;
}

// Which dimension of a reshape each dimension of what it reads is, as long and with as many elements before and behind; -1: none, for it
// is split, or joined with others, or of length 1. Others of the result are not in |out_is_same|.
static void match_dims(const indim_shape *from, const indim_shape *to, int32_t *out, bool *out_is_same) {
  int64_t before = 1, behind = 1;  // elements of what was passed of both
  int32_t k = 0;
  memset(out_is_same, 0, (size_t)to->rank * sizeof *out_is_same);
  for (int32_t d = 0; d < from->rank; d++) {
    out[d] = -1;
    while (k < to->rank && (to->sizes[k] == 1 || behind < before)) {
      behind *= to->sizes[k++];
    }
    bool is_same = from->sizes[d] != 1 && behind == before && k < to->rank && to->sizes[k] == from->sizes[d];
    before *= from->sizes[d];
    if (is_same) {
      out[d] = k;
      out_is_same[k] = true;
      behind *= to->sizes[k++];
    }
  }
}

static bool passes_on(const indim_flow_item *item) {
  if (item->kind != INDIM_FLOW_OP || item->has_effect || item->operand_count == 0 ||
      !indim_shape_is_array(item->shape) || !indim_shape_is_static(item->shape) ||
      indim_shape_element_count(item->shape) == 0) {
    return false;
  }
  switch ((int)item->instr->op) {
  case INDIM_OP_SLICE:
  case INDIM_OP_TRANSPOSE:
  case INDIM_OP_BROADCAST:
  case INDIM_OP_CONCATENATE:
  case INDIM_OP_RESHAPE:
    return true;
  default:
    return indim_op_is_elementwise(item->instr->op) || is_dot(item) || is_reduction(item);
  }
}

// Which dimension of the result each dimension of a product's side is; -1: it is contracted.
static void dims_of_side(const indim_flow_item *dot, int32_t number, int32_t *out) {
  indim_dot_dim kind[INDIM_MAX_RANK];
  int32_t rank = dot->operands[number]->shape->rank;
  int64_t batch_count = 0;
  const int64_t *batch =
      indim_instr_ints(dot->instr, number == 0 ? INDIM_ATTR_LHS_BATCH_DIMS : INDIM_ATTR_RHS_BATCH_DIMS, &batch_count);
  indim_instr_dot_dims(dot->instr, number, rank, kind);
  int32_t free_count = 0;
  for (int32_t d = 0; d < rank; d++) {
    free_count += kind[d] == INDIM_DOT_FREE;
  }
  int32_t next = number == 0 ? (int32_t)batch_count : dot->shape->rank - free_count;
  for (int32_t d = 0; d < rank; d++) {
    out[d] = kind[d] == INDIM_DOT_FREE ? next++ : -1;
  }
  for (int64_t k = 0; k < batch_count; k++) {
    out[batch[k]] = (int32_t)k;
  }
}

// Which dimension of |item|, which passes regions on, each dimension of operand |number| is; -1: all of it is read. False: all of the
// operand is.
static bool find_dims(const indim_flow_item *item, int32_t number, int32_t *out) {
  const indim_shape *from = item->operands[number]->shape;
  int64_t count = 0;
  const int64_t *dims = NULL;
  indim_op op = item->instr->op;
  if (is_dot(item)) {
    dims_of_side(item, number, out);
    return true;
  }
  switch ((int)op) {
  case INDIM_OP_TRANSPOSE:
    dims = indim_instr_ints(item->instr, INDIM_ATTR_DIMENSIONS, &count);
    for (int32_t d = 0; d < from->rank; d++) {
      out[dims[d]] = d;
    }
    return true;
  case INDIM_OP_BROADCAST:
    dims = indim_instr_ints(item->instr, INDIM_ATTR_DIMENSIONS, &count);
    for (int32_t d = 0; d < from->rank; d++) {
      out[d] = from->sizes[d] == item->shape->sizes[dims[d]] ? (int32_t)dims[d] : -1;
    }
    return true;
  case INDIM_OP_RESHAPE: {
    bool is_same[INDIM_MAX_RANK];
    match_dims(from, item->shape, out, is_same);
    return true;
  }
  case INDIM_OP_REDUCE:
    dims = indim_instr_ints(item->instr, INDIM_ATTR_DIMENSIONS, &count);
    for (int32_t d = 0, next = 0; d < from->rank && number == 0; d++) {
      bool is_reduced = false;
      for (int64_t k = 0; k < count; k++) {
        is_reduced = is_reduced || dims[k] == d;
      }
      out[d] = is_reduced ? -1 : next++;
    }
    return number == 0;
  case INDIM_OP_CONCATENATE:
    dims = indim_instr_ints(item->instr, INDIM_ATTR_DIMENSIONS, &count);
    for (int32_t d = 0; d < from->rank; d++) {
      out[d] = d == dims[0] ? -1 : d;
    }
    return true;
  default:
    for (int32_t d = 0; d < from->rank; d++) {
      out[d] = d;
    }
    return from->rank == item->shape->rank &&
           (op == INDIM_OP_SLICE ||
            memcmp(from->sizes, item->shape->sizes, (size_t)from->rank * sizeof *from->sizes) == 0);
  }
}

static const indim_slice_dim *bounds_of(const indim_flow_item *slice) {
  return indim_instr_attr(slice->instr, INDIM_ATTR_SLICE)->value.slice;
}

// The region of operand |number| that |item| reads for its own, which is |dims|, or all where that is NULL.
static bool find_spans(const indim_flow_item *item, const span *dims, int32_t number, span *out) {
  int32_t map[INDIM_MAX_RANK];
  const indim_shape *from = item->operands[number]->shape;
  if (!find_dims(item, number, map)) {
    return false;
  }
  for (int32_t d = 0; d < from->rank; d++) {
    if (map[d] < 0) {
      out[d] = whole_span(from->sizes[d]);
      continue;
    }
    span own = dims == NULL ? whole_span(item->shape->sizes[map[d]]) : dims[map[d]];
    if (item->instr->op == INDIM_OP_SLICE) {
      indim_slice_dim bounds = bounds_of(item)[d];
      own = (span){bounds.start + own.low * bounds.stride, bounds.start + own.last * bounds.stride,
                   own.step * bounds.stride};
    }
    out[d] = own;
  }
  return true;
}

// Regions ---------------------------------------------------------------------------------------------------------------

static indim_status need(const shrinking *c, const indim_flow_item *operand, const span *dims) {
  region *r = &c->of[operand->index];
  size_t rank = (size_t)operand->shape->rank;
  if (r->dims != NULL) {
    for (size_t d = 0; d < rank; d++) {
      join(&r->dims[d], &dims[d]);
    }
    return INDIM_OK;
  }
  INDIM_TRY(indim_flow_array(c->m->arena, (int64_t)rank + 1, sizeof *r->dims, &r->dims));
  memcpy(r->dims, dims, rank * sizeof *dims);
  return INDIM_OK;
}

// Of rows that are read in memory every second element is no less than all.
static void fill_rows(const indim_flow_item *item, span *dims) {
  for (int32_t number = 0; number < (is_dot(item) ? 2 : 1); number++) {
    int32_t map[INDIM_MAX_RANK];
    int32_t rank = item->operands[number]->shape->rank;
    int32_t row = find_dims(item, number, map) && rank > 0 ? map[rank - 1] : -1;
    if (row >= 0 && dims[row].step > 1) {
      dims[row].step = 1;
    }
  }
}

// The dimensions along which an item does not shrink are whole: those that a concatenate puts together, or a reshape splits or joins.
static void fill_dims(const indim_flow_item *item, span *dims) {
  int64_t count = 0;
  if (indim_flow_is_op(item, INDIM_OP_CONCATENATE)) {
    int64_t dim = indim_instr_ints(item->instr, INDIM_ATTR_DIMENSIONS, &count)[0];
    dims[dim] = whole_span(item->shape->sizes[dim]);
  } else if (indim_flow_is_op(item, INDIM_OP_RESHAPE)) {
    bool is_same[INDIM_MAX_RANK];
    int32_t map[INDIM_MAX_RANK];
    match_dims(item->operands[0]->shape, item->shape, map, is_same);
    for (int32_t d = 0; d < item->shape->rank; d++) {
      dims[d] = is_same[d] ? dims[d] : whole_span(item->shape->sizes[d]);
    }
  }
}

// Decides whether an item shrinks, all of whose readers are known.
static void decide(const shrinking *c, const indim_flow_item *item) {
  enum { PART = 3, OF = 4 };  // of its elements that are read at most
  region *r = &c->of[item->index];
  r->is_dead =
      !r->is_whole && r->dims == NULL && item->kind == INDIM_FLOW_OP && !item->has_effect && item->member_count == 0;
  // What repeats elements is a part of itself for nothing.
  bool may_shrink = c->leads[item->index] || (indim_flow_is_op(item, INDIM_OP_BROADCAST) && passes_on(item));
  r->is_whole = r->is_whole || r->dims == NULL || !may_shrink;
  if (r->is_whole) {
    return;
  }
  if (is_dot(item) || is_reduction(item)) {
    fill_rows(item, r->dims);
  }
  fill_dims(item, r->dims);
  r->is_whole = elements_of(r->dims, item->shape->rank) * OF > (double)indim_shape_element_count(item->shape) * PART;
}

static indim_status find_regions(const shrinking *c) {
  const indim_flow *flow = c->m->flow;
  span dims[INDIM_MAX_RANK];
  for (int32_t k = 0; k < flow->result_count; k++) {
    c->of[flow->results[k]->index].is_whole = true;
  }
  for (int32_t i = flow->item_count - 1; i >= 0; i--) {
    const indim_flow_item *item = flow->items[i];
    region *r = &c->of[i];
    if (item->kind == INDIM_FLOW_MEMBER) {
      c->of[item->source->index].is_whole = true;
      continue;
    }
    decide(c, item);
    for (int32_t k = 0; k < item->operand_count && !r->is_dead; k++) {
      const indim_flow_item *operand = item->operands[k];
      bool is_part = passes_on(item) && indim_shape_is_array(operand->shape) &&
                     find_spans(item, r->is_whole ? NULL : r->dims, k, dims);
      if (is_part) {
        INDIM_TRY(need(c, operand, dims));
      } else {
        c->of[operand->index].is_whole = true;
      }
    }
  }
  return INDIM_OK;
}

// Shrinking -------------------------------------------------------------------------------------------------------------

static bool shrinks(const shrinking *c, const indim_flow_item *item) { return !c->of[item->index].is_whole; }

// |dims|, of an array, within what is there of it. Returns whether that is all of it.
static bool bounds_within(const shrinking *c, const indim_flow_item *of, const span *dims, indim_slice_dim *bounds) {
  const region *r = &c->of[of->index];
  bool is_all = true;
  for (int32_t d = 0; d < of->shape->rank; d++) {
    span all = r->is_whole ? whole_span(of->shape->sizes[d]) : r->dims[d];
    int64_t unit = all.step == 0 ? 1 : all.step;
    int64_t stride = dims[d].step == 0 ? 1 : dims[d].step / unit;
    is_all = is_all && same_span(&all, &dims[d]);
    bounds[d] = (indim_slice_dim){
        .start = (dims[d].low - all.low) / unit, .limit = (dims[d].last - all.low) / unit + 1, .stride = stride};
  }
  return is_all;
}

// |like| with the sizes of a region, without tiles and padding.
static indim_status make_shape(const shrinking *c, const indim_shape *like, const span *dims, const indim_shape **out) {
  indim_shape *shape = NULL;
  int64_t sizes[INDIM_MAX_RANK];
  for (int32_t d = 0; d < like->rank; d++) {
    sizes[d] = span_count(&dims[d]);
  }
  INDIM_TRY(indim_flow_array(c->m->instr_arena, 1, sizeof *shape, &shape));
  INDIM_TRY(indim_shape_init(c->m->cx, like->type, like->rank, sizes, shape));
  if (like->has_layout) {
    memcpy(shape->layout.minor_to_major, like->layout.minor_to_major, sizeof shape->layout.minor_to_major);
  }
  *out = shape;
  return INDIM_OK;
}

// What |user| reads of an array: that itself, or a slice of it, which stands before |user|.
static indim_status take(shrinking *c, const indim_flow_item *user, indim_flow_item *of, const span *dims,
                         indim_flow_item **out) {
  indim_slice_dim bounds[INDIM_MAX_RANK];
  const indim_shape *shape = NULL;
  *out = of;
  if (bounds_within(c, of, dims, bounds)) {
    return INDIM_OK;
  }
  INDIM_TRY(make_shape(c, of->shape, dims, &shape));
  INDIM_TRY(indim_flow_new_item(c->m, INDIM_FLOW_OP, user->instr, shape, out));
  INDIM_TRY(indim_flow_become_slice(c->m, *out, of, bounds));
  c->order[--c->at] = *out;
  return INDIM_OK;
}

static indim_status shrink_slice(shrinking *c, indim_flow_item *item, const span *own) {
  indim_slice_dim bounds[INDIM_MAX_RANK];
  span dims[INDIM_MAX_RANK];
  (void)find_spans(item, own, 0, dims);
  bool is_all = bounds_within(c, item->operands[0], dims, bounds);
  if (own != NULL) {
    INDIM_TRY(make_shape(c, item->shape, own, &item->shape));
  }
  c->instead[item->index] = is_all ? item->operands[0] : NULL;
  return is_all ? INDIM_OK : indim_flow_become_slice(c->m, item, item->operands[0], bounds);
}

static indim_status shrink(shrinking *c, indim_flow_item *item) {
  const span *own = shrinks(c, item) ? c->of[item->index].dims : NULL;
  span dims[INDIM_MAX_RANK];
  indim_flow_item **operands = NULL;
  INDIM_TRY(indim_flow_array(c->m->arena, item->operand_count, sizeof *operands, &operands));
  for (int32_t k = 0; k < item->operand_count; k++) {
    operands[k] = item->operands[k];
    if (find_spans(item, own, k, dims)) {
      INDIM_TRY(take(c, item, item->operands[k], dims, &operands[k]));
    }
  }
  if (own != NULL) {
    INDIM_TRY(make_shape(c, item->shape, own, &item->shape));
  }
  return indim_flow_become(c->m, item, item->instr, item->instr->op, item->instr->attrs, item->instr->attr_count,
                           operands, item->operand_count);
}

static bool changes(const shrinking *c, const indim_flow_item *item) {
  bool changes = shrinks(c, item);
  for (int32_t k = 0; k < item->operand_count; k++) {
    changes = changes || shrinks(c, item->operands[k]);
  }
  return changes && item->kind == INDIM_FLOW_OP && !c->of[item->index].is_dead;
}

// From the last on, so that operands are what they were.
static indim_status shrink_all(shrinking *c) {
  const indim_flow *flow = c->m->flow;
  for (int32_t i = c->item_count - 1; i >= 0; i--) {
    indim_flow_item *item = flow->items[i];
    c->order[--c->at] = item;
    c->of[i].is_changed = changes(c, item);
    if (c->of[i].is_changed) {
      INDIM_TRY(indim_flow_is_op(item, INDIM_OP_SLICE) ? shrink_slice(c, item, shrinks(c, item) ? c->of[i].dims : NULL)
                                                       : shrink(c, item));
    }
  }
  return INDIM_OK;
}

static indim_flow_item *now(const shrinking *c, indim_flow_item *item) {
  while (item->index < c->item_count && c->instead[item->index] != NULL) {
    item = c->instead[item->index];
  }
  return item;
}

static bool is_kept(const shrinking *c, const indim_flow_item *item) {
  return item->index >= c->item_count || (c->instead[item->index] == NULL && !c->of[item->index].is_dead);
}

// The flow in the new order, without slices that are gone and what nobody reads. Instructions know the shapes of their operands.
static indim_status put_in_order(const shrinking *c, int32_t end) {
  indim_flow *flow = c->m->flow;
  int32_t count = 0;
  for (int32_t i = c->at; i < end; i++) {
    indim_flow_item *item = c->order[i];
    bool is_changed = item->index >= c->item_count || c->of[item->index].is_changed;
    for (int32_t k = 0; k < item->operand_count; k++) {
      item->operands[k] = now(c, item->operands[k]);
    }
    if (is_changed) {
      const indim_instr *instr = item->instr;
      INDIM_TRY(indim_flow_become(c->m, item, instr, instr->op, instr->attrs, instr->attr_count, item->operands,
                                  item->operand_count));
    }
    indim_flow_item *equal = item->equal;
    bool is_other = equal != NULL && (!is_kept(c, equal) || (equal->index < c->item_count && shrinks(c, equal)));
    item->equal = is_changed || is_other ? NULL : equal;
  }
  for (int32_t k = 0; k < flow->result_count; k++) {
    flow->results[k] = now(c, flow->results[k]);
  }
  for (int32_t i = c->at; i < end; i++) {
    if (is_kept(c, c->order[i])) {
      c->order[count++] = c->order[i];
    }
  }
  for (int32_t i = 0; i < count; i++) {
    c->order[i]->index = i;
  }
  flow->items = c->order;
  flow->item_count = count;
  flow->item_capacity = end;
  return INDIM_OK;
}

// Whether a slice reads what a product or a reduction leads to.
static indim_status find_leads(const shrinking *c, bool *out_is_any) {
  for (int32_t i = 0; i < c->item_count; i++) {
    indim_flow_item *item = c->m->flow->items[i];
    bool leads = is_kernel(item);
    for (int32_t k = 0; k < item->operand_count && !leads; k++) {
      leads = c->leads[item->operands[k]->index];
    }
    if (leads && indim_flow_is_op(item, INDIM_OP_DYNAMIC_SLICE)) {
      INDIM_TRY(indim_flow_fix_starts(c->m, item));
    }
    c->leads[i] = leads && passes_on(item);
    *out_is_any = *out_is_any || (c->leads[i] && indim_flow_is_op(item, INDIM_OP_SLICE));
  }
  return INDIM_OK;
}

indim_status indim_flow_shrink(maker *m) {
  shrinking c = {.m = m, .item_count = m->flow->item_count};
  bool is_any = false;
  int64_t most = c.item_count;  // of items in the end
  INDIM_TRY(indim_flow_array(m->arena, c.item_count, sizeof *c.leads, &c.leads));
  INDIM_TRY(find_leads(&c, &is_any));
  if (!is_any) {
    return INDIM_OK;
  }
  INDIM_TRY(indim_flow_array(m->arena, c.item_count, sizeof *c.of, &c.of));
  INDIM_TRY(indim_flow_array(m->arena, c.item_count, sizeof(indim_flow_item *), &c.instead));
  INDIM_TRY(find_regions(&c));
  is_any = false;
  for (int32_t i = 0; i < c.item_count; i++) {
    const indim_flow_item *item = m->flow->items[i];
    is_any = is_any || (shrinks(&c, item) && is_kernel(item));
    most += item->operand_count;
  }
  if (!is_any || most > INT32_MAX) {
    return INDIM_OK;
  }
  INDIM_TRY(indim_flow_array(m->arena, most, sizeof(indim_flow_item *), &c.order));
  c.at = (int32_t)most;
  INDIM_TRY(shrink_all(&c));
  return put_in_order(&c, (int32_t)most);
}
