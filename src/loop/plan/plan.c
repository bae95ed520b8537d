// Where each item of a flow lives. Small arrays whose users are small stay in registers. What is computed element
// by element lives nowhere, if the loop that needs it is one loop and does not need it too often (fusion). The rest is
// memory. Users are decided before what they use, so that each decision knows who asks.
#include <string.h>

#include "loop/plan/plan.h"
#include "loop/ir/index_math.h"
#include "loop/kernels/kernels.h"
#include "loop/target/cost.h"

enum {
  PARTS = 64,  // how often is counted in parts: a slice asks for some of the elements
  MANY_TIMES = PARTS << 20,
  MOVE_DEPTH = 4,  // what a move adds to the depth: it keeps an index on the stack
  MAX_COST = 1 << 20,
  MOST_COST = 2000,            // of what is inline: the code of a loop is bounded
  MOST_SHARED_COST = 1 << 14,  // before it is known what is computed where, and each use counts
  SMALL_COST = 32              // up to here what several operands share may count for each
};

static bool is_inlinable(const indim_flow_item *item) {
  return item->kind == INDIM_FLOW_OP && indim_shape_is_array(item->shape) && indim_element_can(item->instr);
}

// How many dimensions a broadcast's operand has, which are the first of the result. -1: they are others, or |user| is another op.
static int64_t broadcast_from(const indim_flow_item *user) {
  int64_t count = 0;
  const int64_t *dims =
      indim_flow_is_op(user, INDIM_OP_BROADCAST) ? indim_instr_ints(user->instr, INDIM_ATTR_DIMENSIONS, &count) : NULL;
  for (int64_t i = 0; i < count; i++) {
    if (dims[i] != i) {
      return -1;
    }
  }
  return dims == NULL ? -1 : count;
}

// How often |user| repeats each element of its operand along a row of the result: loops run along rows, and compute it once
// before each. 1 when it does not, or not often enough to make what is done once count for nothing.
static int64_t repeats_along_row(const indim_flow_item *user) {
  int64_t from = broadcast_from(user);
  int64_t row = 1;
  for (int64_t d = from; from >= 0 && d < user->shape->rank; d++) {
    row *= user->shape->sizes[d];
  }
  return row >= INDIM_COST_LONG_ROW ? row : 1;
}

// What the backward walk knows of an item: who asks for it.
typedef struct asked {
  bool by_registers;  // an array in registers, or control that carries it
  bool by_memory;     // an op that reads memory
  bool as_result;
  bool is_kept;         // known before anything is placed: users do not compute it
  int32_t root;         // the one kernel that computes it; -1: none yet, -2: several
  int32_t elementwise;  // times an element is computed for users at the same index, in PARTS
  int32_t moved;        // and for all others together
  bool by_element;      // somebody needs it more often than once before a long row
  bool as_indices;      // of gathers, and by nobody else
  bool at_run_time;     // from a place that only the run knows
  bool is_flattened;    // by a kernel, through a reshape whose indices are to be divided
  bool by_product;      // that the host computes, from memory
  bool is_view;         // a transpose or reshape through which such a product reads what is in memory
} asked;

static bool is_used(const asked *a) { return a->by_registers || a->by_memory || a->as_result || a->root != -1; }

static void ask_root(asked *a, int32_t root) { a->root = a->root == -1 || a->root == root ? root : -2; }

static int32_t times(int64_t count, int64_t factor) {
  return (int32_t)(count > 0 && factor > MANY_TIMES / count ? MANY_TIMES : count * factor);
}

// Whether the user's loops compute all of a row in one body: a few arrays put side by side.
static bool computes_rows(const indim_flow_item *user) {
  return user->placement == INDIM_PLACEMENT_MEMORY && user->flow_count == 0 && indim_nest_stacks(user->instr);
}

static bool same_sizes(const indim_shape *x, const indim_shape *y) {
  return x->rank == y->rank && memcmp(x->sizes, y->sizes, (size_t)x->rank * sizeof *x->sizes) == 0;
}

// Whether |user| takes each element of operand |k| for all of a short row, its last dimension: a broadcast, or a gather of rows by
// indices. The loops of |root|, which |user| is computed in, write such a row out where there are rows enough for vectors, and compute
// once what it shares (indim_nest.stacked); not so a generator of random numbers, which has the registers to itself.
static bool shares_row(const indim_flow_item *user, int32_t k, const indim_flow_item *root) {
  const indim_shape *shape = user->shape;
  int32_t last = shape->rank - 1;
  bool is_filled = root != NULL && is_inlinable(root) && same_sizes(root->shape, shape) &&
                   user->operands[k]->cost <= MOST_SHARED_COST;
  if (!is_filled || last <= 0 || shape->sizes[last] > INDIM_COST_UNROLLED_LOOP ||
      shape->sizes[last - 1] < INDIM_COST_LONG_ROW) {
    return false;
  }
  if (indim_flow_is_op(user, INDIM_OP_GATHER) && k == 1) {
    int64_t count = 0;
    const int64_t *offsets = indim_instr_ints(user->instr, INDIM_ATTR_OFFSET_DIMS, &count);
    return count == 1 && offsets[0] == last;
  }
  return broadcast_from(user) == last;
}

// The elements that |user| takes of an operand of |all|: a slice, of whose rows it takes lanes that can be loaded, takes some. Farther
// ones are loaded one by one, better of what is kept than of all that it is made of.
static int64_t taken_elements(const indim_flow_item *user, int64_t all) {
  if (!indim_flow_is_op(user, INDIM_OP_SLICE)) {
    return all;
  }
  const indim_attr *slice = indim_instr_attr(user->instr, INDIM_ATTR_SLICE);
  bool is_near = slice->count > 0 && slice->value.slice[slice->count - 1].stride <= INDIM_LOOP_MOST_STRIDE;
  return is_near ? indim_shape_element_count(user->shape) : all;
}

// Whether |user| has each element of operand |k| once: it puts arrays side by side whose rows fill some vectors, so that loops are split
// where one ends.
static bool has_once(const indim_flow_item *user, int32_t k) {
  enum { LONG_RUN = 64 };
  if (!indim_flow_is_op(user, INDIM_OP_CONCATENATE)) {
    return false;
  }
  int64_t count = 0;
  const indim_shape *shape = user->operands[k]->shape;
  int64_t run = 1;
  for (int32_t d = (int32_t)*indim_instr_ints(user->instr, INDIM_ATTR_DIMENSIONS, &count); d < shape->rank; d++) {
    run = indim_index_mul_saturated(run, shape->sizes[d]);
  }
  return run >= LONG_RUN;
}

// How often an element of operand |k| is computed when the user's elements are |visits| times, in the loops of |root|; both in PARTS.
static int32_t visits_of(const indim_flow_item *user, int32_t k, const indim_flow_item *root, const asked *of_user,
                         int32_t visits) {
  const indim_flow_item *operand = user->operands[k];
  int64_t mine = indim_shape_element_count(operand->shape);
  bool has_ends = !of_user->at_run_time && has_once(user, k);
  bool takes_once = computes_rows(user) || shares_row(user, k, root) || has_ends;
  if (!indim_shape_is_array(user->shape) || mine == 0 || takes_once) {
    return visits;
  }
  int64_t taken = taken_elements(user, mine);
  if (taken < mine) {
    return (int32_t)((double)visits * (double)taken / (double)mine) + 1;
  }
  int64_t theirs = indim_shape_element_count(user->shape);
  return theirs > mine ? times(visits, theirs / mine) : visits;
}

// The next dimension of a shape from |d| on that is not 1; the rank if there is none.
static int32_t next_dim(const indim_shape *shape, int32_t d) {
  while (d < shape->rank && shape->sizes[d] == 1) {
    d++;
  }
  return d;
}

// Whether |user| reads its operands at other indices than its own: a reshape that only adds or drops dimensions of 1 does
// not.
static bool moves(const indim_flow_item *user) {
  if (!indim_flow_is_op(user, INDIM_OP_RESHAPE)) {
    return indim_op_moves(user->instr->op);
  }
  const indim_shape *from = user->operands[0]->shape;
  const indim_shape *to = user->shape;
  int32_t i = next_dim(from, 0);
  int32_t j = next_dim(to, 0);
  while (i < from->rank && j < to->rank && from->sizes[i] == to->sizes[j]) {
    i = next_dim(from, i + 1);
    j = next_dim(to, j + 1);
  }
  return i < from->rank || j < to->rank;
}

static void ask(const indim_flow *flow, const indim_flow_item *user, const asked *of_user, asked *list) {
  for (int32_t k = 0; k < user->operand_count; k++) {
    asked *a = &list[user->operands[k]->index];
    bool is_indices = indim_flow_is_op(user, INDIM_OP_GATHER) && k == 1;
    a->as_indices = is_indices && (a->as_indices || !is_used(a));
    if (user->placement == INDIM_PLACEMENT_REGISTERS) {
      a->by_registers = true;
    } else if (user->flow_count > 0) {
      a->by_registers = true;
      a->by_memory = true;
    } else if (user->placement == INDIM_PLACEMENT_INLINE || is_inlinable(user)) {
      int32_t root = user->placement == INDIM_PLACEMENT_INLINE ? of_user->root : user->index;
      ask_root(a, root);
      a->is_flattened =
          a->is_flattened || (of_user->is_flattened && user->placement == INDIM_PLACEMENT_INLINE) ||
          (indim_flow_is_op(user, INDIM_OP_RESHAPE) && moves(user) && root >= 0 && !is_inlinable(flow->items[root]));
      bool is_placed = indim_flow_is_op(user, INDIM_OP_DYNAMIC_SLICE) && k == 0;
      a->at_run_time =
          a->at_run_time || is_placed || (of_user->at_run_time && user->placement == INDIM_PLACEMENT_INLINE);
      int32_t visits = user->placement == INDIM_PLACEMENT_INLINE ? of_user->elementwise + of_user->moved : PARTS;
      bool is_part = of_user->as_indices && indim_nest_stacks(user->instr);  // which a gather takes one by one
      visits = is_part ? visits : visits_of(user, k, root < 0 ? NULL : flow->items[root], of_user, visits);
      bool is_thin = repeats_along_row(user) > 1 || (user->placement == INDIM_PLACEMENT_INLINE && !of_user->by_element);
      a->by_element = a->by_element || !is_thin;
      if (moves(user)) {
        a->moved = times(1, (int64_t)a->moved + visits);
      } else {
        a->elementwise = visits > a->elementwise ? visits : a->elementwise;
      }
    } else if (indim_lower_takes_elements(user, k)) {
      ask_root(a, user->index);
      a->moved = times(1, a->moved + times(PARTS, indim_lower_repeats(user, k)));
      a->by_element = true;
    } else {
      a->by_memory = true;
    }
  }
}

// What storing and loading an element costs, in operations: more if the array does not stay in the caches meanwhile.
static int64_t cost_of_keeping(const indim_target *target, const indim_shape *shape) {
  int64_t bytes = indim_index_mul_saturated(indim_shape_element_count(shape), indim_type_bytes(shape->type));
  int64_t from_memory = (int64_t)INDIM_COST_AGAIN_IN_MEMORY * target->vector_bytes / 64;
  bool is_cached = bytes <= target->cache_bytes[1] || bytes <= target->cache_bytes[2] / 2;  // beside what it is made of
  return is_cached || from_memory < INDIM_COST_AGAIN ? INDIM_COST_AGAIN : from_memory;
}

// Why an item is not computed again wherever an element is needed; NULL: that is no dearer than keeping it.
static const char *costs_again(const indim_target *target, indim_flow_item *item, const asked *a) {
  int64_t again = (int64_t)a->elementwise + a->moved - PARTS;
  if (!a->by_element && item->cost <= INDIM_COST_BEFORE_ROW) {
    return NULL;
  }
  if (a->root == -2 && item->cost > 4) {
    return "several kernels need it, and computing it again costs more than keeping it";
  }
  if (again <= 0 || item->cost <= 1) {
    return NULL;
  }
  item->cost_again = item->cost * again / PARTS;
  item->cost_kept = cost_of_keeping(target, item->shape);
  return item->cost_again > item->cost_kept ? "an element is needed several times or outside of vectors, and computing "
                                              "it there costs more than keeping it"
                                            : NULL;
}

// Whether rows are put together of parts, so that which one an element is in must be found for each lane where rows are read one after
// the other. Parts that fill vectors are told apart once for each.
static bool joins_rows(const indim_flow_item *item) {
  enum { LANES = 16 };
  if (!indim_flow_is_op(item, INDIM_OP_CONCATENATE)) {
    return false;
  }
  int64_t count = 0;
  int64_t dim = *indim_instr_ints(item->instr, INDIM_ATTR_DIMENSIONS, &count);
  int64_t rows = 1;
  int64_t row = 1;
  for (int32_t d = 0; d < item->shape->rank; d++) {
    rows = d < dim ? indim_index_mul_saturated(rows, item->shape->sizes[d]) : rows;
    row = d > dim ? indim_index_mul_saturated(row, item->shape->sizes[d]) : row;
  }
  return rows > 1 && row < LANES;
}

static const char indexed[] = "accessed at an index known at run time only";

static indim_placement place_op(indim_lowering *l, indim_flow_item *item, const asked *a, bool registers) {
  if (indim_plan_can_be_in_registers(item) && registers &&
      (a->by_registers || a->as_result || indim_shape_element_count(item->shape) == 1)) {
    return INDIM_PLACEMENT_REGISTERS;
  }
  if (item->is_indexed && !indim_flow_is_op(item, INDIM_OP_CONSTANT)) {
    item->reason = indexed;
    return INDIM_PLACEMENT_MEMORY;
  }
  if (!is_inlinable(item)) {
    item->reason = "a kernel of its own";
    return INDIM_PLACEMENT_MEMORY;
  }
  if (indim_flow_is_op(item, INDIM_OP_CONSTANT)) {
    return INDIM_PLACEMENT_INLINE;
  }
  if (a->as_result) {
    item->reason = "a result";
    return INDIM_PLACEMENT_MEMORY;
  }
  if (a->by_registers || a->by_memory) {
    item->reason = "read from memory by a user";
    return INDIM_PLACEMENT_MEMORY;
  }
  bool by_host = a->by_product && indim_lower_is_enabled(l, INDIM_DECISION_LIBRARY);
  item->reason = by_host                               ? "a product that the host computes reads it"
                 : a->is_view                          ? NULL
                 : a->is_flattened && joins_rows(item) ? "its rows, put together of parts, are read one after the other"
                                                       : costs_again(l->target, item, a);
  bool pays = item->reason == NULL;
  if (indim_lower_choose(l, item->instr, INDIM_DECISION_INLINE, pays)) {
    return INDIM_PLACEMENT_INLINE;
  }
  if (pays) {
    item->reason = indim_lower_is_enabled(l, INDIM_DECISION_INLINE) ? "a choice says so" : "fusion is left out";
  }
  return INDIM_PLACEMENT_MEMORY;
}

// Whether it is known before anything is placed that an operand is not computed where it is used: the flow's results, what a kernel
// or another flow reads, and single elements. And what a product that the host computes reads.
static void note_kept(const indim_flow *flow, asked *list) {
  for (int32_t i = 0; i < flow->item_count; i++) {
    const indim_flow_item *item = flow->items[i];
    bool is_single = indim_shape_is_array(item->shape) && indim_shape_element_count(item->shape) == 1;
    list[i].is_kept = list[i].is_kept || list[i].as_result || !is_inlinable(item) || is_single;
    for (int32_t k = 0; k < item->operand_count && !is_inlinable(item); k++) {
      asked *a = &list[item->operands[k]->index];
      a->is_kept = a->is_kept || item->flow_count > 0 || !indim_lower_takes_elements(item, k);
      const indim_flow_item *stored = indim_lower_stored_operand(item, k);
      if (stored == NULL) {
        continue;
      }
      list[stored->index].by_product = true;
      for (const indim_flow_item *view = item->operands[k]; view != stored; view = view->operands[0]) {
        list[view->index].is_view = true;
      }
    }
  }
}

static int64_t own_cost(const indim_flow_item *item) {
  return item->kind == INDIM_FLOW_OP ? indim_flow_op_cost(item) : 0;
}

// The costs, as if all were inline that may be.
static void fill_costs(indim_flow *flow, const asked *list) {
  for (int32_t i = 0; i < flow->item_count; i++) {
    indim_flow_item *item = flow->items[i];
    int64_t cost = own_cost(item);
    for (int32_t k = 0; k < item->operand_count; k++) {
      const indim_flow_item *operand = item->operands[k];
      cost += list[operand->index].is_kept ? 0 : operand->cost / repeats_along_row(item);
    }
    item->cost = (int32_t)(cost > MAX_COST ? MAX_COST : cost);
  }
}

// Room for walks over what is inline: which walk has seen an item last, and what it is still to look at.
typedef struct walk {
  int32_t *seen;
  indim_flow_item **stack;
} walk;

// The cost of an element with all that is inline in it, each item counted once: its value is kept while the element is
// computed. No more than somewhat above MOST_COST.
static int64_t shared_cost(const walk *w, indim_flow_item *item) {
  int64_t cost = 0;
  int32_t count = 0;
  w->stack[count++] = item;
  while (count > 0 && cost <= MOST_COST) {
    const indim_flow_item *user = w->stack[--count];
    int64_t times = repeats_along_row(user);
    cost += own_cost(user);
    for (int32_t k = 0; k < user->operand_count; k++) {
      indim_flow_item *operand = user->operands[k];
      if (operand->placement != INDIM_PLACEMENT_INLINE || w->seen[operand->index] == item->index) {
        continue;
      }
      w->seen[operand->index] = item->index;
      if (times > 1) {
        cost += operand->cost / times;
      } else {
        w->stack[count++] = operand;
      }
    }
  }
  return cost;
}

// What is inline inside what is inline ... must not nest too deep; and costs are counted anew now that it is known what
// is computed where.
static void bound_depths(indim_lowering *l, indim_flow *flow) {
  int32_t *depth = indim_lower_alloc(l, flow->item_count, sizeof *depth);
  walk w = {.seen = indim_lower_alloc(l, flow->item_count, sizeof *w.seen),
            .stack = indim_lower_alloc(l, flow->item_count, sizeof *w.stack)};
  bool has_room = depth != NULL && w.seen != NULL && w.stack != NULL;
  for (int32_t i = 0; i < flow->item_count && has_room; i++) {
    indim_flow_item *item = flow->items[i];
    int64_t cost = own_cost(item);
    int32_t before = 0;
    for (int32_t k = 0; k < item->operand_count; k++) {
      const indim_flow_item *operand = item->operands[k];
      if (operand->placement == INDIM_PLACEMENT_INLINE) {
        before = operand->chain > before ? operand->chain : before;
        int32_t inside = depth[operand->index] + (indim_op_moves(item->instr->op) ? MOVE_DEPTH : 1);
        depth[i] = inside > depth[i] ? inside : depth[i];
        cost += operand->cost / repeats_along_row(item);
      }
    }
    cost = cost > SMALL_COST ? shared_cost(&w, item) : cost;
    item->cost = (int32_t)(cost > MAX_COST ? MAX_COST : cost);
    item->chain = (int32_t)(before + own_cost(item) > MAX_COST ? MAX_COST : before + own_cost(item));
    if (item->placement == INDIM_PLACEMENT_INLINE && (depth[i] > INDIM_INLINE_DEPTH || item->cost > MOST_COST)) {
      item->placement = INDIM_PLACEMENT_MEMORY;
      item->reason = "what it is computed from nests too deep";
      depth[i] = 0;
    }
    if (item->placement != INDIM_PLACEMENT_INLINE) {
      depth[i] = 0;
    }
  }
}

// Tiles that loops read at a variable index need a place as well. Whatever is inline reads on behalf of a loop.
static void mark_feeding(indim_flow *flow) {
  for (int32_t i = 0; i < flow->item_count; i++) {
    const indim_flow_item *user = flow->items[i];
    if (user->placement == INDIM_PLACEMENT_NONE || user->placement == INDIM_PLACEMENT_REGISTERS) {
      continue;
    }
    for (int32_t k = 0; k < user->operand_count; k++) {
      user->operands[k]->needs_memory_copy =
          user->operands[k]->needs_memory_copy || indim_shape_element_count(user->operands[k]->shape) != 1;
    }
  }
}

// How many trailing dimensions a reduction folds; 0 when it folds others.
static int32_t trailing_dims(const indim_flow_item *item) {
  int64_t count = 0;
  const int64_t *dims = indim_instr_ints(item->instr, INDIM_ATTR_DIMENSIONS, &count);
  int32_t rank = item->operands[0]->shape->rank;
  for (int64_t i = 0; i < count; i++) {
    if (dims[i] < rank - count) {
      return 0;
    }
  }
  return count < rank ? (int32_t)count : 0;
}

// Marks the arrays in memory that are folded by rows, through what is computed from them element by element.
static void mark_rows(indim_flow_item *item, const indim_shape *shape, int32_t separate_row_dims, int depth) {
  enum { FAR_ENOUGH = 12 };
  if (depth > FAR_ENOUGH || !indim_shape_is_array(item->shape) || !same_sizes(item->shape, shape)) {
    return;
  }
  if (item->placement == INDIM_PLACEMENT_MEMORY) {
    item->separate_row_dims = separate_row_dims;
  } else if (item->placement == INDIM_PLACEMENT_INLINE && !indim_op_moves(item->instr->op)) {
    for (int32_t k = 0; k < item->operand_count; k++) {
      mark_rows(item->operands[k], shape, separate_row_dims, depth + 1);
    }
  }
}

static void mark_all_rows(indim_flow *flow) {
  for (int32_t i = 0; i < flow->item_count; i++) {
    indim_flow_item *item = flow->items[i];
    if (!indim_flow_is_op(item, INDIM_OP_REDUCE) || item->placement != INDIM_PLACEMENT_MEMORY) {
      continue;
    }
    int32_t separate_row_dims = trailing_dims(item);
    for (int32_t k = 0; separate_row_dims > 0 && k < item->operand_count / 2; k++) {
      mark_rows(item->operands[k], item->operands[0]->shape, separate_row_dims, 0);
    }
  }
}

// |user| reads |item|, or it is a result.
static void count_use(const indim_flow_item *user, indim_flow_item *item) {
  indim_flow_item *op = indim_flow_op(item);
  item->use_count++;
  if (indim_flow_is_op(op, INDIM_OP_SORT)) {
    int64_t count = 0;
    int64_t dim = *indim_instr_ints(op->instr, INDIM_ATTR_DIMENSIONS, &count);
    bool is_part = user != NULL && indim_flow_is_op(user, INDIM_OP_SLICE);
    int64_t end =
        is_part ? indim_instr_attr(user->instr, INDIM_ATTR_SLICE)->value.slice[dim].limit : item->shape->sizes[dim];
    op->kept = end > op->kept ? end : op->kept;
  }
}

void indim_plan_flow(indim_lowering *l, indim_flow *flow) {
  asked *list = indim_lower_alloc(l, flow->item_count, sizeof *list);
  if (list == NULL) {
    return;
  }
  bool registers = indim_lower_is_enabled(l, INDIM_DECISION_REGISTERS);
  for (int32_t i = 0; i < flow->item_count; i++) {
    list[i].root = -1;
  }
  for (int32_t i = 0; i < flow->result_count; i++) {
    list[flow->results[i]->index].as_result = true;
    count_use(NULL, flow->results[i]);
  }
  note_kept(flow, list);
  fill_costs(flow, list);
  for (int32_t i = flow->item_count - 1; i >= 0; i--) {
    indim_flow_item *item = flow->items[i];
    bool needed = is_used(&list[i]) || item->has_effect;
    for (int32_t k = 0; k < item->member_count; k++) {
      needed = needed || item->members[k]->placement != INDIM_PLACEMENT_NONE;
    }
    if (!needed && item->kind != INDIM_FLOW_PARAMETER) {
      continue;
    }
    if (item->kind == INDIM_FLOW_OP) {
      item->placement = place_op(l, item, &list[i], registers);
      for (int32_t k = 0; k < item->operand_count; k++) {
        count_use(item, item->operands[k]);
      }
      ask(flow, item, &list[i], list);
    } else {
      bool is_in_registers = indim_plan_is_small(item) && registers && !item->is_indexed;
      item->reason = item->is_indexed ? indexed : NULL;
      item->placement = is_in_registers ? INDIM_PLACEMENT_REGISTERS : INDIM_PLACEMENT_MEMORY;
    }
  }
  bound_depths(l, flow);
  mark_feeding(flow);
  mark_all_rows(flow);
  for (int32_t i = 0; i < flow->item_count; i++) {
    for (int32_t k = 0; k < flow->items[i]->flow_count; k++) {
      indim_plan_flow(l, flow->items[i]->flows[k]);
    }
  }
  indim_plan_in_place(l, flow);
}
