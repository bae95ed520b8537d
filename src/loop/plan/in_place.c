// Who may overwrite whom. An update (dynamic-update-slice, scatter), a loop that updates what it carries, a conditional whose
// branches update or keep what they are given and a select that keeps an array (base.c) can do so in the memory of the old
// value, which then costs what is updated and not a copy of the whole, if nobody needs the old value afterwards. What reads it is
// computed before the update wherever that is possible: items change their order, and what is computed inside a later user,
// element by element, is stored before if it is much smaller than the array.
//
//   y = dynamic-update-slice(x, u, i)        s comes before y; z, which needs y, reads x inside an expression: the slice of x
//   s = reduce(x)                            is stored before y. If z itself needs all of x, or x is a result, y is a copy.
//   z = add(dynamic-slice(x), dynamic-slice(y))
//
// Flows inside are analysed first: what a loop or a branch does with a parameter decides whether the loop or the conditional
// may overwrite the operand.
#include <string.h>

#include "loop/plan/plan.h"
#include "loop/target/cost.h"

typedef struct use {
  indim_flow_item *user;
  int32_t operand;
} use;

// |reader| is computed before |writer|.
typedef struct edge {
  indim_flow_item *reader, *writer;
  int32_t next;  // edge + 1 of the same reader
} edge;

typedef struct analysis {
  indim_lowering *l;
  indim_flow *flow;
  int32_t count;       // items
  int32_t *first_use;  // of each item, and the end, in |uses|
  use *uses;
  bool *is_result;
  int32_t *edge_of;  // first edge + 1 of each item as reader
  edge *edges;
  int32_t edge_count, edge_capacity;
  bool is_reordered;  // some reader stands behind its writer
  int64_t budget;     // steps that all searches together may take
  // Of the update at hand.
  indim_flow_item *result;  // what would overwrite its base
  indim_flow_item *writer;  // the op that gives it
  bool knows_after;
  bool *is_after;             // needs what the writer gives
  indim_flow_item **stack;    // of those whose users are still to be marked
  signed char *state;         // of items seen inside others, NOT_LATE or LATE
  indim_flow_item **visited;  // those that have one
  int32_t visited_count;
  indim_flow_item **readers;  // of the old value
  int32_t reader_count;
  indim_flow_item **kept;  // to be stored before
  int32_t kept_count;
} analysis;

enum { UNSEEN, NOT_LATE, LATE };

static bool block(analysis *a, const indim_flow_item *blocker, const char *why) {
  a->result->blocker = blocker;
  a->result->blocked = why;
  return false;
}

// Whether operand |k| of the writer is the old value that it overwrites, and is not read for anything else.
static bool is_overwritten(const analysis *a, int32_t k) {
  const indim_flow_item *op = a->writer;
  bool is_any = op->instr->op == INDIM_OP_CONDITIONAL || op->instr->op == INDIM_OP_SELECT;
  int32_t number = a->result->kind == INDIM_FLOW_MEMBER ? a->result->number : 0;
  return is_any || k == number;
}

// Uses -------------------------------------------------------------------------------------------------------------------

static void *array(analysis *a, int64_t count, size_t size) { return indim_lower_alloc(a->l, count, size); }

static bool list_uses(analysis *a) {
  const indim_flow *flow = a->flow;
  int64_t total = 0;
  a->first_use = array(a, a->count + 2, sizeof *a->first_use);
  if (a->first_use == NULL) {
    return false;
  }
  for (int32_t i = 0; i < a->count; i++) {
    for (int32_t k = 0; k < flow->items[i]->operand_count; k++) {
      a->first_use[flow->items[i]->operands[k]->index + 2]++;
      total++;
    }
  }
  for (int32_t i = 2; i < a->count + 2; i++) {
    a->first_use[i] += a->first_use[i - 1];
  }
  a->uses = array(a, total, sizeof *a->uses);
  for (int32_t i = 0; i < a->count && a->uses != NULL; i++) {
    for (int32_t k = 0; k < flow->items[i]->operand_count; k++) {
      a->uses[a->first_use[flow->items[i]->operands[k]->index + 1]++] = (use){flow->items[i], k};
    }
  }
  return a->uses != NULL;
}

static void add_edge(analysis *a, indim_flow_item *reader, indim_flow_item *writer) {
  if (a->edge_count == a->edge_capacity) {
    int32_t capacity = a->edge_capacity == 0 ? 64 : 2 * a->edge_capacity;
    edge *edges = array(a, capacity, sizeof *edges);
    if (edges == NULL) {
      return;
    }
    if (a->edge_count > 0) {
      memcpy(edges, a->edges, (size_t)a->edge_count * sizeof *edges);
    }
    a->edges = edges;
    a->edge_capacity = capacity;
  }
  a->edges[a->edge_count++] = (edge){reader, writer, a->edge_of[reader->index]};
  a->edge_of[reader->index] = a->edge_count;
  a->is_reordered = a->is_reordered || reader->index > writer->index;
}

// What has an effect keeps its order.
static void order_effects(analysis *a) {
  indim_flow_item *last = NULL;
  for (int32_t i = 0; i < a->count; i++) {
    indim_flow_item *item = a->flow->items[i];
    if (item->has_effect && last != NULL) {
      add_edge(a, last, item);
    }
    last = item->has_effect ? item : last;
  }
}

static bool begin(analysis *a) {
  enum { STEPS = 20000000 };
  a->budget = STEPS;
  a->is_result = array(a, a->count, sizeof *a->is_result);
  a->edge_of = array(a, a->count, sizeof *a->edge_of);
  a->is_after = array(a, a->count, sizeof *a->is_after);
  a->stack = array(a, a->count + 1, sizeof *a->stack);
  a->state = array(a, a->count, sizeof *a->state);
  a->visited = array(a, a->count, sizeof *a->visited);
  a->readers = array(a, a->count, sizeof *a->readers);
  a->kept = array(a, a->count, sizeof *a->kept);
  if (!list_uses(a) || a->kept == NULL) {
    return false;
  }
  for (int32_t k = 0; k < a->flow->result_count; k++) {
    a->is_result[a->flow->results[k]->index] = true;
  }
  order_effects(a);
  return true;
}

// What comes after -------------------------------------------------------------------------------------------------------

static void mark_one(analysis *a, indim_flow_item *item, int32_t *count) {
  if (!a->is_after[item->index]) {
    a->is_after[item->index] = true;
    a->stack[(*count)++] = item;
  }
}

// Marks all that needs what |item| gives, or waits for it.
static void mark_after(analysis *a, indim_flow_item *item) {
  int32_t count = 0;
  memset(a->is_after, 0, (size_t)a->count * sizeof *a->is_after);
  a->stack[count++] = item;
  while (count > 0) {
    const indim_flow_item *top = a->stack[--count];
    for (int32_t m = 0; m < top->member_count; m++) {
      mark_one(a, top->members[m], &count);
    }
    for (int32_t u = a->first_use[top->index]; u < a->first_use[top->index + 1]; u++) {
      mark_one(a, a->uses[u].user, &count);
    }
    for (int32_t e = a->edge_of[top->index]; e != 0; e = a->edges[e - 1].next) {
      mark_one(a, a->edges[e - 1].writer, &count);
    }
    a->budget -= 1 + a->first_use[top->index + 1] - a->first_use[top->index];
  }
  a->knows_after = true;
}

// Whether |item| can only be computed after the writer. In a flow in order that is asked only of what stands behind it.
static bool is_after(analysis *a, const indim_flow_item *item) {
  if (!a->is_reordered && item->index < a->writer->index) {
    return false;
  }
  if (!a->knows_after) {
    mark_after(a, a->writer);
  }
  return a->is_after[item->index];
}

// Who reads --------------------------------------------------------------------------------------------------------------

static int64_t bytes_of(const indim_flow_item *item) {
  return indim_shape_element_count(item->shape) * indim_type_bytes(item->shape->type);
}

static void note_state(analysis *a, indim_flow_item *item, int state) {
  a->state[item->index] = (signed char)state;
  a->visited[a->visited_count++] = item;
}

static void note_reader(analysis *a, indim_flow_item *item) {
  if (a->state[item->index] == UNSEEN) {
    note_state(a, item, NOT_LATE);
    a->readers[a->reader_count++] = item;
  }
}

static bool visit_users(analysis *a, const indim_flow_item *item, bool *out_is_late);

// A use of the old value, directly or inside an expression. |*out_is_late| becomes true when it comes after the update. False
// when nothing can help.
static bool visit_use(analysis *a, const use *u, bool is_direct, bool *out_is_late) {
  indim_flow_item *user = u->user;
  if (user->placement == INDIM_PLACEMENT_NONE) {
    return true;
  }
  if (user == a->writer) {
    bool is_select = user->instr->op == INDIM_OP_SELECT;   // which may read other elements than it stores
    bool is_update = user->flow_count == 0 && !is_select;  // which has its own operands computed before
    return (is_direct && is_overwritten(a, u->operand)) || is_update ||
           block(a, user, is_select ? "reads it for what it stores" : "is given it twice");
  }
  if (user->placement == INDIM_PLACEMENT_INLINE) {
    if (a->state[user->index] == UNSEEN) {
      bool is_late = is_after(a, user);
      note_state(a, user, NOT_LATE);
      if (!is_late && !visit_users(a, user, &is_late)) {
        return false;
      }
      if (is_late && !is_after(a, user) && bytes_of(user) * INDIM_COST_STORED_PART <= bytes_of(a->result->base)) {
        a->kept[a->kept_count++] = user;
        is_late = false;
      }
      a->state[user->index] = is_late ? LATE : NOT_LATE;
    }
    if (a->state[user->index] == LATE && a->result->blocker == NULL) {
      a->result->blocker = user;
    }
    *out_is_late = *out_is_late || a->state[user->index] == LATE;
    return true;
  }
  if (is_after(a, user)) {
    a->result->blocker = user;
    *out_is_late = true;
    return true;
  }
  note_reader(a, user);
  // What a loop passes on untouched is the same memory.
  if (user->instr->op == INDIM_OP_WHILE && user->kind == INDIM_FLOW_OP) {
    const indim_flow_item *member = indim_flow_result(user, u->operand);
    if (indim_flow_is_passed_on(member) && (member != user || u->operand == 0)) {
      return visit_users(a, member, out_is_late);
    }
  }
  return true;
}

static bool visit_users(analysis *a, const indim_flow_item *item, bool *out_is_late) {
  bool is_memory = item->placement != INDIM_PLACEMENT_INLINE;
  if (is_memory && a->is_result[item->index]) {
    return block(a, NULL, "is a result itself");
  }
  for (int32_t u = a->first_use[item->index]; u < a->first_use[item->index + 1]; u++) {
    a->budget--;
    if (!visit_use(a, &a->uses[u], is_memory, out_is_late)) {
      return false;
    }
  }
  return true;
}

// Deciding ---------------------------------------------------------------------------------------------------------------

// What is computed inside its users is stored instead, before its operand is overwritten.
static void keep(analysis *a, indim_flow_item *item) {
  bool fits_registers = indim_plan_can_be_in_registers(item) && indim_lower_is_enabled(a->l, INDIM_DECISION_REGISTERS);
  for (int32_t k = 0; k < item->operand_count; k++) {
    fits_registers = fits_registers && item->operands[k]->placement != INDIM_PLACEMENT_INLINE;
  }
  item->placement = fits_registers ? INDIM_PLACEMENT_REGISTERS : INDIM_PLACEMENT_MEMORY;
  item->reason = "what it reads is overwritten before its user is computed";
  item->needs_memory_copy = fits_registers && indim_shape_element_count(item->shape) != 1;
}

static bool has_other(const analysis *a) {
  for (int32_t m = 0; m < a->writer->member_count; m++) {
    const indim_flow_item *member = a->writer->members[m];
    if (member != a->result && member->overwrites && member->base == a->result->base) {
      return true;
    }
  }
  return false;
}

static bool can_overwrite(analysis *a) {
  bool is_late = false;
  if (a->budget < 0) {
    return block(a, NULL, "the flow is too large to tell");
  }
  if (has_other(a)) {
    return block(a, a->writer, "is given it twice");
  }
  if (!visit_users(a, a->result->base, &is_late)) {
    return false;
  }
  return !is_late || block(a, a->result->blocker, "reads it afterwards");
}

static void decide(analysis *a, indim_flow_item *result) {
  a->result = result;
  a->writer = indim_flow_op(result);
  a->knows_after = false;
  a->visited_count = a->reader_count = a->kept_count = 0;
  result->overwrites = can_overwrite(a);
  for (int32_t i = 0; i < a->visited_count; i++) {
    a->state[a->visited[i]->index] = UNSEEN;
  }
  if (!result->overwrites) {
    return;
  }
  result->blocker = NULL;
  for (int32_t i = 0; i < a->kept_count; i++) {
    keep(a, a->kept[i]);
    add_edge(a, a->kept[i], a->writer);
  }
  for (int32_t i = 0; i < a->reader_count; i++) {
    add_edge(a, a->readers[i], a->writer);
  }
}

// Order ------------------------------------------------------------------------------------------------------------------

// Items that are ready, the earliest first: a heap of their numbers.
typedef struct ready {
  int32_t *items;
  int32_t count;
} ready;

static void push(ready *r, int32_t item) {
  int32_t at = r->count++;
  for (; at > 0 && r->items[(at - 1) / 2] > item; at = (at - 1) / 2) {
    r->items[at] = r->items[(at - 1) / 2];
  }
  r->items[at] = item;
}

static int32_t pop(ready *r) {
  int32_t first = r->items[0];
  int32_t last = r->items[--r->count];
  int32_t at = 0;
  for (;;) {
    int32_t child = 2 * at + 1;
    child += child + 1 < r->count && r->items[child + 1] < r->items[child] ? 1 : 0;
    if (child >= r->count || r->items[child] >= last) {
      break;
    }
    r->items[at] = r->items[child];
    at = child;
  }
  r->items[at] = last;
  return first;
}

static void satisfy(ready *r, int32_t *waits, const indim_flow_item *item) {
  if (--waits[item->index] == 0) {
    push(r, item->index);
  }
}

// Puts the items into an order in which readers come before writers, and changes no more than that takes.
static void reorder(analysis *a) {
  indim_flow *flow = a->flow;
  int32_t *waits = array(a, a->count, sizeof *waits);
  indim_flow_item **order = array(a, a->count, sizeof *order);
  ready r = {.items = array(a, a->count, sizeof *r.items)};
  int32_t done = 0;
  if (waits == NULL || order == NULL || r.items == NULL) {
    return;
  }
  for (int32_t i = 0; i < a->count; i++) {
    waits[i] += flow->items[i]->operand_count + (flow->items[i]->kind == INDIM_FLOW_MEMBER ? 1 : 0);
  }
  for (int32_t e = 0; e < a->edge_count; e++) {
    waits[a->edges[e].writer->index]++;
  }
  for (int32_t i = 0; i < a->count; i++) {
    if (waits[i] == 0) {
      push(&r, i);
    }
  }
  while (r.count > 0) {
    indim_flow_item *item = flow->items[pop(&r)];
    order[done++] = item;
    for (int32_t m = 0; m < item->member_count; m++) {
      satisfy(&r, waits, item->members[m]);
    }
    for (int32_t u = a->first_use[item->index]; u < a->first_use[item->index + 1]; u++) {
      satisfy(&r, waits, a->uses[u].user);
    }
    for (int32_t e = a->edge_of[item->index]; e != 0; e = a->edges[e - 1].next) {
      satisfy(&r, waits, a->edges[e - 1].writer);
    }
  }
  if (done != a->count) {
    a->l->status = indim_fail(a->l->cx, INDIM_INTERNAL, "items that overwrite each other wait for each other");
    return;
  }
  memcpy(flow->items, order, (size_t)done * sizeof *order);
  for (int32_t i = 0; i < done; i++) {
    flow->items[i]->index = i;
  }
}

// The first array that |item| may overwrite, or why not the last that it could.
static void choose_base(analysis *a, indim_flow_item *item) {
  int32_t count = item->kind == INDIM_FLOW_PARAMETER ? 0 : indim_plan_base_count(item);
  item->base = NULL;
  for (int32_t k = 0; k < count && !item->overwrites && !indim_lower_failed(a->l); k++) {
    indim_flow_item *base = indim_plan_base(item, k);
    if (base == NULL || (a->uses == NULL && !begin(a))) {
      continue;
    }
    item->base = base;
    item->blocker = NULL;
    decide(a, item);
  }
}

void indim_plan_in_place(indim_lowering *l, indim_flow *flow) {
  analysis a = {.l = l, .flow = flow, .count = flow->item_count};
  bool is_out = !indim_lower_is_enabled(l, INDIM_DECISION_IN_PLACE);
  for (int32_t i = 0; i < a.count && !is_out && !indim_lower_failed(l); i++) {
    choose_base(&a, flow->items[i]);
  }
  if (a.is_reordered && !indim_lower_failed(l)) {
    reorder(&a);
  }
}
