// Computations to flows: a walk over the instructions that keeps, for each, the items of its leaves. A called computation
// is walked at the place of its call, its parameters standing for the caller's items. What a loop would compute anew in
// each step, and the same, is computed before it.
#include "loop/lowering/flow.h"

#include <string.h>

#include "graph/alias.h"
#include "loop/plan/plan.h"
#include "loop/kernels/kernels.h"

enum { MAX_ITEMS = 4 * 1000 * 1000, MAX_DEPTH = 500 };

// The items of one instruction's leaves.
typedef struct leaves {
  int32_t count;
  indim_flow_item **items;
} leaves;

typedef struct maker {
  indim_ctx *cx;
  indim_arena *arena;
  indim_flow *flow;
  int64_t *item_total;
  int depth;
} maker;

static indim_status make_flow(indim_ctx *cx, indim_arena *arena, const indim_computation *computation,
                              int64_t *item_total, int depth, indim_flow **out_flow);

static indim_status array(indim_arena *arena, int64_t count, size_t size, void *out) {
  void *memory = NULL;
  INDIM_TRY(indim_arena_array(arena, (size_t)(count < 0 ? 0 : count), size, &memory));
  memcpy(out, &memory, sizeof memory);
  return INDIM_OK;
}

// The last of its flow from now on.
static indim_status add_item(maker *m, indim_flow_item *item) {
  indim_flow *flow = m->flow;
  if (flow->item_count == flow->item_capacity) {
    int32_t capacity = flow->item_capacity == 0 ? 64 : flow->item_capacity * 2;
    indim_flow_item **items = NULL;
    INDIM_TRY(array(m->arena, capacity, sizeof *items, &items));
    if (flow->item_count > 0) {
      memcpy(items, flow->items, (size_t)flow->item_count * sizeof *items);
    }
    flow->items = items;
    flow->item_capacity = capacity;
  }
  item->index = flow->item_count;
  flow->items[flow->item_count++] = item;
  return INDIM_OK;
}

static indim_status new_item(maker *m, indim_flow_kind kind, const indim_instr *instr, const indim_shape *shape,
                             indim_flow_item **out_item) {
  void *memory = NULL;
  if (++*m->item_total > MAX_ITEMS) {
    return indim_fail_instr(m->cx, INDIM_LIMIT, instr,
                            "the program has more than %d operations once calls are dissolved", MAX_ITEMS);
  }
  INDIM_TRY(indim_arena_alloc(m->arena, sizeof(indim_flow_item), &memory));
  indim_flow_item *item = memory;
  item->kind = kind;
  item->instr = instr;
  item->shape = shape;
  *out_item = item;
  return add_item(m, item);
}

// One item for each leaf of |shape|: parameters of the flow, or members of |source|.
static indim_status new_leaves(maker *m, indim_flow_kind kind, const indim_instr *instr, const indim_shape *shape,
                               indim_flow_item *source, int32_t first_number, leaves *out) {
  int64_t count = indim_array_leaf_count(shape);
  const indim_shape **shapes = NULL;
  INDIM_TRY(array(m->arena, count, sizeof *shapes, &shapes));
  (void)indim_array_leaves(shape, shapes);
  out->count = (int32_t)count;
  INDIM_TRY(array(m->arena, count, sizeof *out->items, &out->items));
  for (int32_t i = 0; i < out->count; i++) {
    INDIM_TRY(new_item(m, kind, instr, shapes[i], &out->items[i]));
    out->items[i]->number = first_number + i;
    out->items[i]->source = source;
  }
  return INDIM_OK;
}

static indim_status join(maker *m, const indim_instr *instr, const leaves *of, leaves *out) {
  int64_t count = 0;
  for (int32_t i = 0; i < instr->operand_count; i++) {
    count += of[instr->operands[i]->index].count;
  }
  out->count = (int32_t)count;
  INDIM_TRY(array(m->arena, count, sizeof *out->items, &out->items));
  int32_t at = 0;
  for (int32_t i = 0; i < instr->operand_count; i++) {
    const leaves *operand = &of[instr->operands[i]->index];
    if (operand->count > 0) {
      memcpy(out->items + at, operand->items, (size_t)operand->count * sizeof *out->items);
    }
    at += operand->count;
  }
  return INDIM_OK;
}

static void take_member(const indim_instr *instr, const leaves *tuple, leaves *out) {
  const indim_shape *shape = instr->operands[0]->shape;
  int64_t index = indim_instr_int(instr, INDIM_ATTR_INDEX, 0);
  int64_t first = 0;
  for (int64_t i = 0; i < index; i++) {
    first += indim_array_leaf_count(shape->members[i]);
  }
  out->count = (int32_t)indim_array_leaf_count(shape->members[index]);
  out->items = tuple->items + first;
}

static indim_status walk(maker *m, const indim_computation *computation, const leaves *arguments, leaves *out);

static indim_status walk_call(maker *m, const indim_instr *instr, indim_attr_id id, const leaves *of, leaves *out) {
  if (m->depth >= MAX_DEPTH) {
    return indim_fail_instr(m->cx, INDIM_LIMIT, instr, "calls are nested deeper than %d", MAX_DEPTH);
  }
  leaves *arguments = NULL;
  INDIM_TRY(array(m->arena, instr->operand_count, sizeof *arguments, &arguments));
  for (int32_t i = 0; i < instr->operand_count; i++) {
    arguments[i] = of[instr->operands[i]->index];
  }
  m->depth++;
  indim_status status = walk(m, indim_instr_computation(instr, id), arguments, out);
  m->depth--;
  return status;
}

static indim_status add_flow(maker *m, const indim_computation *computation, indim_flow **out) {
  return make_flow(m->cx, m->arena, computation, m->item_total, m->depth + 1, out);
}

static indim_status make_flows(maker *m, const indim_instr *instr, indim_flow_item *item) {
  if (instr->op == INDIM_OP_WHILE) {
    item->flow_count = 2;
    INDIM_TRY(array(m->arena, 2, sizeof *item->flows, &item->flows));
    INDIM_TRY(add_flow(m, indim_instr_computation(instr, INDIM_ATTR_CONDITION), &item->flows[0]));
    return add_flow(m, indim_instr_computation(instr, INDIM_ATTR_BODY), &item->flows[1]);
  }
  if (instr->op == INDIM_OP_CONDITIONAL) {
    const indim_attr *branches = indim_instr_attr(instr, INDIM_ATTR_BRANCH_COMPUTATIONS);
    item->flow_count = branches == NULL ? 2 : (int32_t)branches->count;
    INDIM_TRY(array(m->arena, item->flow_count, sizeof *item->flows, &item->flows));
    for (int32_t i = 0; i < item->flow_count; i++) {
      indim_attr_id id = i == 0 ? INDIM_ATTR_TRUE_COMPUTATION : INDIM_ATTR_FALSE_COMPUTATION;
      INDIM_TRY(add_flow(m, branches == NULL ? indim_instr_computation(instr, id) : branches->value.computations[i],
                         &item->flows[i]));
    }
  }
  return INDIM_OK;
}

// Before a loop ----------------------------------------------------------------------------------------------------------

typedef struct hoisting {
  indim_flow_item *loop;
  indim_flow *body;
  unsigned char *state;      // of each item of the body, of these
  indim_flow_item **before;  // its copy before the loop, NULL: none
} hoisting;

enum { FIXED = 1, ROOT = 2, COPIED = 4, KEPT = 8 };

// What takes loops of its own, so that its result is better read than computed again.
static bool is_kernel(indim_op op) {
  switch ((int)op) {
  case INDIM_OP_DOT:
  case INDIM_OP_CONVOLUTION:
  case INDIM_OP_REDUCE:
  case INDIM_OP_REDUCE_WINDOW:
  case INDIM_OP_SORT:
    return true;
  default:
    return false;
  }
}

// Finds what is the same in each step, the kernels among that, and what these are computed from.
static bool find_roots(const hoisting *h) {
  const indim_flow *body = h->body;
  bool any = false;
  for (int32_t i = 0; i < body->item_count; i++) {
    const indim_flow_item *item = body->items[i];
    bool is_op = item->kind == INDIM_FLOW_OP && item->member_count == 0 && item->flow_count == 0;
    bool is_fixed = is_op ? is_kernel(item->instr->op) || indim_element_can(item->instr)
                          : item->kind == INDIM_FLOW_PARAMETER && body->results[item->number] == item;
    for (int32_t k = 0; k < item->operand_count && is_fixed; k++) {
      is_fixed = (h->state[item->operands[k]->index] & FIXED) != 0;
    }
    h->state[i] = is_fixed ? FIXED : 0;
    if (is_fixed && is_op && is_kernel(item->instr->op)) {
      h->state[i] |= ROOT | COPIED;
      any = true;
    }
  }
  for (int32_t i = body->item_count - 1; i >= 0 && any; i--) {
    const indim_flow_item *item = body->items[i];
    for (int32_t k = 0; k < item->operand_count && (h->state[i] & COPIED) != 0; k++) {
      h->state[item->operands[k]->index] |= COPIED;
    }
  }
  return any;
}

// Finds what is still computed in the body, with what it reads.
static void find_kept(const hoisting *h) {
  const indim_flow *body = h->body;
  for (int32_t k = 0; k < body->result_count; k++) {
    h->state[body->results[k]->index] |= KEPT;
  }
  for (int32_t i = body->item_count - 1; i >= 0; i--) {
    const indim_flow_item *item = body->items[i];
    if ((h->state[i] & KEPT) == 0) {
      continue;
    }
    if (item->kind == INDIM_FLOW_MEMBER) {
      h->state[item->source->index] |= KEPT;
    }
    for (int32_t k = 0; k < item->operand_count && (h->state[i] & ROOT) == 0; k++) {
      h->state[item->operands[k]->index] |= KEPT;
    }
  }
}

static indim_status copy_before(maker *m, const hoisting *h, const indim_flow_item *item) {
  if (item->kind == INDIM_FLOW_PARAMETER) {
    h->before[item->index] = h->loop->operands[item->number];
    return INDIM_OK;
  }
  indim_flow_item *copy = NULL;
  INDIM_TRY(new_item(m, INDIM_FLOW_OP, item->instr, item->shape, &copy));
  copy->operand_count = item->operand_count;
  INDIM_TRY(array(m->arena, item->operand_count, sizeof *copy->operands, &copy->operands));
  for (int32_t k = 0; k < item->operand_count; k++) {
    copy->operands[k] = h->before[item->operands[k]->index];
  }
  h->before[item->index] = copy;
  return INDIM_OK;
}

static indim_status lengthen(maker *m, int32_t count, int32_t more, indim_flow_item ***list) {
  indim_flow_item **longer = NULL;
  INDIM_TRY(array(m->arena, (int64_t)count + more, sizeof *longer, &longer));
  memcpy(longer, *list, (size_t)count * sizeof *longer);
  *list = longer;
  return INDIM_OK;
}

// A kernel of the body becomes a carried value that no step changes.
static indim_status carry_root(maker *m, const hoisting *h, indim_flow_item *root) {
  indim_flow_item *loop = h->loop;
  indim_flow *condition = loop->flows[0];
  int32_t k = loop->operand_count++;
  maker of_condition = *m;
  of_condition.flow = condition;
  loop->operands[k] = h->before[root->index];
  INDIM_TRY(new_item(&of_condition, INDIM_FLOW_PARAMETER, root->instr, root->shape, &condition->parameters[k]));
  condition->parameters[k]->number = k;
  condition->parameter_count = k + 1;
  root->kind = INDIM_FLOW_PARAMETER;
  root->operand_count = 0;
  root->number = k;
  h->body->parameters[k] = root;
  h->body->results[k] = root;
  h->body->parameter_count = k + 1;
  h->body->result_count = k + 1;
  return INDIM_OK;
}

// Members for what is carried besides: nobody asks for them.
static indim_status add_members(maker *m, indim_flow_item *loop) {
  int32_t count = loop->member_count;
  INDIM_TRY(lengthen(m, count, loop->operand_count - count, &loop->members));
  for (int32_t k = count; k < loop->operand_count; k++) {
    const indim_flow_item *parameter = loop->flows[1]->parameters[k];
    INDIM_TRY(new_item(m, INDIM_FLOW_MEMBER, parameter->instr, parameter->shape, &loop->members[k]));
    loop->members[k]->number = k;
    loop->members[k]->source = loop;
  }
  loop->member_count = loop->operand_count;
  return INDIM_OK;
}

// Kernels of the loop's body that are the same in each step are copied before it, with what they are computed from. |loop|
// is the last item so far, and has no members yet.
static indim_status hoist(maker *m, indim_flow_item *loop) {
  hoisting h = {.loop = loop, .body = loop->flows[1]};
  int32_t items = h.body->item_count;
  INDIM_TRY(array(m->arena, items, sizeof *h.state, &h.state));
  if (!find_roots(&h)) {
    return INDIM_OK;
  }
  find_kept(&h);
  INDIM_TRY(array(m->arena, items, sizeof *h.before, &h.before));
  m->flow->item_count--;
  int32_t roots = 0;
  for (int32_t i = 0; i < items; i++) {
    if ((h.state[i] & COPIED) != 0) {
      INDIM_TRY(copy_before(m, &h, h.body->items[i]));
    }
    roots += (h.state[i] & ROOT) != 0 ? 1 : 0;
  }
  INDIM_TRY(lengthen(m, loop->operand_count, roots, &loop->operands));
  INDIM_TRY(lengthen(m, loop->operand_count, roots, &loop->flows[0]->parameters));
  INDIM_TRY(lengthen(m, loop->operand_count, roots, &h.body->parameters));
  INDIM_TRY(lengthen(m, loop->operand_count, roots, &h.body->results));
  for (int32_t i = 0; i < items; i++) {
    if ((h.state[i] & (ROOT | KEPT)) == (ROOT | KEPT)) {
      INDIM_TRY(carry_root(m, &h, h.body->items[i]));
    }
  }
  return add_item(m, loop);
}

// An instruction that computes something.
static indim_status walk_op(maker *m, const indim_instr *instr, const leaves *of, leaves *out) {
  leaves operands;
  INDIM_TRY(join(m, instr, of, &operands));
  indim_flow_item *item = NULL;
  INDIM_TRY(new_item(m, INDIM_FLOW_OP, instr, instr->shape, &item));
  item->operand_count = operands.count;
  item->operands = operands.items;
  INDIM_TRY(make_flows(m, instr, item));
  if (instr->op == INDIM_OP_WHILE && indim_shape_is_tuple(instr->shape)) {
    INDIM_TRY(hoist(m, item));
  }
  if (indim_shape_is_array(instr->shape)) {
    out->count = 1;
    INDIM_TRY(array(m->arena, 1, sizeof *out->items, &out->items));
    out->items[0] = item;
    return INDIM_OK;
  }
  INDIM_TRY(new_leaves(m, INDIM_FLOW_MEMBER, instr, instr->shape, item, 0, out));
  item->member_count = out->count;
  item->members = out->items;
  return item->operand_count > out->count && instr->op == INDIM_OP_WHILE ? add_members(m, item) : INDIM_OK;
}

// The leaves of a constant tuple, each as a constant of its own.
static indim_status add_constants(maker *m, const indim_instr *instr, const indim_shape *shape,
                                  const indim_literal *literal, leaves *out) {
  for (int64_t i = 0; indim_shape_is_tuple(shape) && i < shape->member_count; i++) {
    INDIM_TRY(add_constants(m, instr, shape->members[i], indim_literal_member(literal, i), out));
  }
  if (!indim_shape_is_array(shape)) {
    return INDIM_OK;
  }
  void *memory = NULL;
  INDIM_TRY(indim_arena_alloc(m->arena, sizeof *instr, &memory));
  indim_instr *leaf = memory;
  *leaf = *instr;
  leaf->shape = shape;
  leaf->literal = literal;
  return new_item(m, INDIM_FLOW_OP, leaf, shape, &out->items[out->count++]);
}

static indim_status walk_constant(maker *m, const indim_instr *instr, leaves *out) {
  *out = (leaves){0};
  INDIM_TRY(array(m->arena, indim_array_leaf_count(instr->shape) + 1, sizeof *out->items, &out->items));
  return add_constants(m, instr, instr->shape, instr->literal, out);
}

static indim_status walk_instr(maker *m, const indim_instr *instr, const leaves *arguments, const leaves *of,
                               leaves *out) {
  switch ((int)instr->op) {
  case INDIM_OP_CONSTANT:
    return indim_shape_is_tuple(instr->shape) ? walk_constant(m, instr, out) : walk_op(m, instr, of, out);
  case INDIM_OP_PARAMETER:
    *out = arguments[instr->parameter_number];
    return INDIM_OK;
  case INDIM_OP_TUPLE:
    return join(m, instr, of, out);
  case INDIM_OP_GET_TUPLE_ELEMENT:
    take_member(instr, &of[instr->operands[0]->index], out);
    return INDIM_OK;
  case INDIM_OP_OPT_BARRIER:
  case INDIM_OP_DOMAIN:
  case INDIM_OP_ADD_DEPENDENCY:
    *out = of[instr->operands[0]->index];
    return INDIM_OK;
  case INDIM_OP_AFTER_ALL:
    *out = (leaves){0};
    return INDIM_OK;
  case INDIM_OP_CALL:
    return walk_call(m, instr, INDIM_ATTR_TO_APPLY, of, out);
  case INDIM_OP_FUSION:
    return walk_call(m, instr, INDIM_ATTR_CALLS, of, out);
  default:
    return walk_op(m, instr, of, out);
  }
}

static indim_status mark_needed(maker *m, const indim_computation *computation, bool **out) {
  bool *needed = NULL;
  INDIM_TRY(array(m->arena, computation->instr_count, sizeof *needed, &needed));
  needed[computation->root->index] = true;
  for (int32_t i = computation->instr_count - 1; i >= 0; i--) {
    const indim_instr *instr = computation->instrs[i];
    for (int32_t k = 0; needed[i] && k < instr->operand_count; k++) {
      needed[instr->operands[k]->index] = true;
    }
  }
  *out = needed;
  return INDIM_OK;
}

static indim_status walk(maker *m, const indim_computation *computation, const leaves *arguments, leaves *out) {
  leaves *of = NULL;
  bool *needed = NULL;
  INDIM_TRY(array(m->arena, computation->instr_count, sizeof *of, &of));
  INDIM_TRY(mark_needed(m, computation, &needed));
  for (int32_t i = 0; i < computation->instr_count; i++) {
    if (needed[i]) {
      INDIM_TRY(walk_instr(m, computation->instrs[i], arguments, of, &of[i]));
    }
  }
  *out = of[computation->root->index];
  return INDIM_OK;
}

static indim_status make_flow(indim_ctx *cx, indim_arena *arena, const indim_computation *computation,
                              int64_t *item_total, int depth, indim_flow **out_flow) {
  if (depth >= MAX_DEPTH) {
    return indim_fail_instr(cx, INDIM_LIMIT, computation->root, "loops and branches are nested deeper than %d",
                            MAX_DEPTH);
  }
  void *memory = NULL;
  INDIM_TRY(indim_arena_alloc(arena, sizeof(indim_flow), &memory));
  indim_flow *flow = memory;
  maker m = {.cx = cx, .arena = arena, .flow = flow, .item_total = item_total, .depth = depth};
  leaves *arguments = NULL;
  INDIM_TRY(array(arena, computation->parameter_count, sizeof *arguments, &arguments));
  for (int32_t i = 0; i < computation->parameter_count; i++) {
    const indim_instr *parameter = computation->parameters[i];
    INDIM_TRY(
        new_leaves(&m, INDIM_FLOW_PARAMETER, parameter, parameter->shape, NULL, flow->parameter_count, &arguments[i]));
    flow->parameter_count += arguments[i].count;
  }
  flow->parameters = NULL;
  if (flow->parameter_count > 0) {
    INDIM_TRY(array(arena, flow->parameter_count, sizeof *flow->parameters, &flow->parameters));
    memcpy(flow->parameters, flow->items, (size_t)flow->parameter_count * sizeof *flow->parameters);
  }
  leaves results;
  INDIM_TRY(walk(&m, computation, arguments, &results));
  flow->results = results.items;
  flow->result_count = results.count;
  *out_flow = flow;
  return INDIM_OK;
}

indim_status indim_flow_make(indim_ctx *cx, indim_arena *arena, const indim_computation *computation,
                             indim_flow **out_flow) {
  int64_t item_total = 0;
  return make_flow(cx, arena, computation, &item_total, 0, out_flow);
}
