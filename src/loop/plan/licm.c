// Loop-invariant code motion: kernels, and elementwise arrays that cost more than reading them again. What a loop would compute
// anew in each step, and the same, is computed before it and carried, unchanged.
#include <string.h>

#include "loop/ir/index_math.h"
#include "loop/kernels/kernels.h"
#include "loop/plan/flow_make.h"
#include "loop/plan/plan.h"
#include "loop/target/cost.h"

typedef indim_flow_maker maker;

typedef struct hoisting {
  indim_flow_item *loop;
  indim_flow *body;
  unsigned char *state;      // of each item of the body, of these
  int64_t *cost;             // of an element of what is the same in each step, with all that it is computed from
  indim_flow_item **before;  // its copy before the loop, NULL: none
} hoisting;

enum { FIXED = 1, ROOT = 2, COPIED = 4, KEPT = 8 };

// What has loops of its own, so that its result is better read than computed again. A function of the caller's is called as
// often as the program says.
static bool is_kernel(const indim_flow_item *item) {
  return indim_op_class_of(item->instr->op) == INDIM_OP_CLASS_KERNEL && item->call == 0;
}

// The cost of an element, with that of the operands it is computed from. What only repeats elements counts nothing: its operand is
// looked at by itself.
static int64_t cost_of(const hoisting *h, const indim_flow_item *item) {
  if (item->kind != INDIM_FLOW_OP || is_kernel(item) || item->instr->op == INDIM_OP_BROADCAST) {
    return 0;
  }
  int64_t cost = indim_flow_op_cost(item);
  for (int32_t k = 0; k < item->operand_count; k++) {
    cost = indim_index_add_saturated(cost, h->cost[item->operands[k]->index]);
  }
  return cost;
}

// Finds what is the same in each step.
static bool find_fixed(const hoisting *h) {
  const indim_flow *body = h->body;
  bool any = false;
  for (int32_t i = 0; i < body->item_count; i++) {
    const indim_flow_item *item = body->items[i];
    bool is_op = item->kind == INDIM_FLOW_OP && item->member_count == 0 && item->flow_count == 0;
    bool is_fixed = is_op ? is_kernel(item) || indim_element_can(item->instr)
                          : item->kind == INDIM_FLOW_PARAMETER && body->results[item->number] == item;
    for (int32_t k = 0; k < item->operand_count && is_fixed; k++) {
      is_fixed = (h->state[item->operands[k]->index] & FIXED) != 0;
    }
    h->state[i] = is_fixed ? FIXED : 0;
    h->cost[i] = is_fixed ? cost_of(h, item) : 0;
    any = any || (is_fixed && is_op);
  }
  return any;
}

// Whether what is the same in each step is rather computed before the loop, as a user that stays there asks for it.
static bool is_root(const hoisting *h, const indim_flow_item *item) {
  bool is_fixed_op = (h->state[item->index] & FIXED) != 0 && item->kind == INDIM_FLOW_OP;
  if (!is_fixed_op || is_kernel(item)) {
    return is_fixed_op;
  }
  int64_t bytes =
      indim_index_mul_saturated(indim_shape_element_count(item->shape), indim_type_bytes(item->shape->type));
  int64_t least = bytes <= INDIM_COST_HOISTED_ARRAY ? INDIM_COST_HOISTED : INDIM_COST_AGAIN_IN_MEMORY;
  return !indim_plan_is_small(item) && bytes <= INDIM_COST_HOISTED_MOST && h->cost[item->index] >= least;
}

// Finds what is still computed in the body, with what it reads, and what that is computed from before the loop.
static int32_t find_roots(const hoisting *h) {
  const indim_flow *body = h->body;
  int32_t roots = 0;
  for (int32_t k = 0; k < body->result_count; k++) {
    h->state[body->results[k]->index] |= KEPT;
  }
  for (int32_t i = body->item_count - 1; i >= 0; i--) {
    const indim_flow_item *item = body->items[i];
    h->state[i] |= item->has_effect ? KEPT : 0;
    bool is_kept = (h->state[i] & KEPT) != 0;
    if (is_kept && is_root(h, item)) {
      h->state[i] |= ROOT | COPIED;
      roots++;
    }
    unsigned char of_operands = (h->state[i] & COPIED) | (is_kept && (h->state[i] & ROOT) == 0 ? KEPT : 0);
    for (int32_t k = 0; k < item->operand_count; k++) {
      h->state[item->operands[k]->index] |= of_operands;
    }
    if (is_kept && item->kind == INDIM_FLOW_MEMBER) {
      h->state[item->source->index] |= KEPT;
    }
  }
  return roots;
}

static indim_status copy_before(maker *m, const hoisting *h, const indim_flow_item *item) {
  if (item->kind == INDIM_FLOW_PARAMETER) {
    h->before[item->index] = h->loop->operands[item->number];
    return INDIM_OK;
  }
  indim_flow_item *copy = NULL;
  INDIM_TRY(indim_flow_new_item(m, INDIM_FLOW_OP, item->instr, item->shape, &copy));
  copy->operand_count = item->operand_count;
  INDIM_TRY(indim_flow_array(m->arena, item->operand_count, sizeof *copy->operands, &copy->operands));
  for (int32_t k = 0; k < item->operand_count; k++) {
    copy->operands[k] = h->before[item->operands[k]->index];
  }
  h->before[item->index] = copy;
  return INDIM_OK;
}

indim_status indim_flow_lengthen(maker *m, int32_t count, int32_t more, indim_flow_item ***list) {
  indim_flow_item **longer = NULL;
  INDIM_TRY(indim_flow_array(m->arena, (int64_t)count + more, sizeof *longer, &longer));
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
  INDIM_TRY(
      indim_flow_new_item(&of_condition, INDIM_FLOW_PARAMETER, root->instr, root->shape, &condition->parameters[k]));
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

indim_status indim_flow_hoist(maker *m, indim_flow_item *loop) {
  hoisting h = {.loop = loop, .body = loop->flows[1]};
  int32_t items = h.body->item_count;
  INDIM_TRY(indim_flow_array(m->arena, items, sizeof *h.state, &h.state));
  INDIM_TRY(indim_flow_array(m->arena, items, sizeof *h.cost, &h.cost));
  int32_t roots = find_fixed(&h) ? find_roots(&h) : 0;
  if (roots == 0) {
    return INDIM_OK;
  }
  INDIM_TRY(indim_flow_array(m->arena, items, sizeof *h.before, &h.before));
  m->flow->item_count--;
  for (int32_t i = 0; i < items; i++) {
    if ((h.state[i] & COPIED) != 0) {
      INDIM_TRY(copy_before(m, &h, h.body->items[i]));
    }
  }
  INDIM_TRY(indim_flow_lengthen(m, loop->operand_count, roots, &loop->operands));
  INDIM_TRY(indim_flow_lengthen(m, loop->operand_count, roots, &loop->flows[0]->parameters));
  INDIM_TRY(indim_flow_lengthen(m, loop->operand_count, roots, &h.body->parameters));
  INDIM_TRY(indim_flow_lengthen(m, loop->operand_count, roots, &h.body->results));
  for (int32_t i = 0; i < items; i++) {
    if ((h.state[i] & ROOT) != 0) {
      INDIM_TRY(carry_root(m, &h, h.body->items[i]));
    }
  }
  return indim_flow_add_item(m, loop);
}
