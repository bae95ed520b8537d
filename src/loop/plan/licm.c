// Loop-invariant code motion of kernels: what a loop would compute anew in each step, and the same, and reads from memory
// rather than computing it again, is computed before it and carried, unchanged.
#include <string.h>

#include "loop/kernels/kernels.h"
#include "loop/plan/flow_make.h"

typedef indim_flow_maker maker;

typedef struct hoisting {
  indim_flow_item *loop;
  indim_flow *body;
  unsigned char *state;      // of each item of the body, of these
  indim_flow_item **before;  // its copy before the loop, NULL: none
} hoisting;

enum { FIXED = 1, ROOT = 2, COPIED = 4, KEPT = 8 };

// What has loops of its own, so that its result is better read than computed again. A function of the caller's is called as
// often as the program says.
static bool is_kernel(const indim_flow_item *item) {
  return indim_op_class_of(item->instr->op) == INDIM_OP_CLASS_KERNEL && item->call == 0;
}

// Finds what is the same in each step, the kernels among that, and what these are computed from.
static bool find_roots(const hoisting *h) {
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
    if (is_fixed && is_op && is_kernel(item)) {
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
    h->state[i] |= item->has_effect ? KEPT : 0;
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
  if (!find_roots(&h)) {
    return INDIM_OK;
  }
  find_kept(&h);
  INDIM_TRY(indim_flow_array(m->arena, items, sizeof *h.before, &h.before));
  m->flow->item_count--;
  int32_t roots = 0;
  for (int32_t i = 0; i < items; i++) {
    if ((h.state[i] & COPIED) != 0) {
      INDIM_TRY(copy_before(m, &h, h.body->items[i]));
    }
    roots += (h.state[i] & ROOT) != 0 ? 1 : 0;
  }
  INDIM_TRY(indim_flow_lengthen(m, loop->operand_count, roots, &loop->operands));
  INDIM_TRY(indim_flow_lengthen(m, loop->operand_count, roots, &loop->flows[0]->parameters));
  INDIM_TRY(indim_flow_lengthen(m, loop->operand_count, roots, &h.body->parameters));
  INDIM_TRY(indim_flow_lengthen(m, loop->operand_count, roots, &h.body->results));
  for (int32_t i = 0; i < items; i++) {
    if ((h.state[i] & (ROOT | KEPT)) == (ROOT | KEPT)) {
      INDIM_TRY(carry_root(m, &h, h.body->items[i]));
    }
  }
  return indim_flow_add_item(m, loop);
}
