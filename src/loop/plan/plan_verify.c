// What must hold of a planned flow. It is asked after planning in builds with assertions (NDEBUG not defined), and by tests.
#include "loop/kernels/kernels.h"
#include "loop/plan/plan.h"

static indim_status fail_item(indim_ctx *cx, const indim_flow_item *item, const char *what) {
  return indim_fail_instr(cx, INDIM_INTERNAL, item->instr, "plan: item %%%d: %s", (int)item->index, what);
}

static bool is_in(const indim_flow *flow, const indim_flow_item *item) {
  return item != NULL && item->index >= 0 && item->index < flow->item_count && flow->items[item->index] == item;
}

// Items are in an order in which operands come first, members directly belong to their op, and each is in its flow once.
static indim_status check_order(indim_ctx *cx, const indim_flow *flow, const indim_flow_item *item, int32_t i) {
  if (item->index != i) {
    return fail_item(cx, item, "its index is not its position");
  }
  for (int32_t k = 0; k < item->operand_count; k++) {
    if (!is_in(flow, item->operands[k]) || item->operands[k]->index >= i) {
      return fail_item(cx, item, "an operand is not computed before it");
    }
  }
  for (int32_t k = 0; k < item->member_count; k++) {
    const indim_flow_item *member = item->members[k];
    if (!is_in(flow, member) || member->source != item || member->number != k || member->index <= i) {
      return fail_item(cx, item, "a member is not one of its results");
    }
  }
  if (item->kind == INDIM_FLOW_PARAMETER &&
      (item->number >= flow->parameter_count || flow->parameters[item->number] != item)) {
    return fail_item(cx, item, "it is not the flow's parameter of its number");
  }
  return INDIM_OK;
}

// Whether the user's loops can compute an operand that lives nowhere.
static bool computes_operand(const indim_flow_item *user, int32_t k) {
  return user->placement == INDIM_PLACEMENT_INLINE || (user->flow_count == 0 && indim_element_can(user->instr)) ||
         indim_lower_takes_elements(user, k) || user->operands[k]->instr->op == INDIM_OP_CONSTANT;
}

static indim_status check_placement(indim_ctx *cx, const indim_flow_item *item) {
  if (item->placement == INDIM_PLACEMENT_NONE) {
    return INDIM_OK;
  }
  bool is_op = item->kind == INDIM_FLOW_OP;
  if (item->placement == INDIM_PLACEMENT_REGISTERS && is_op && !indim_plan_can_be_in_registers(item)) {
    return fail_item(cx, item, "it cannot be in registers");
  }
  if (item->placement == INDIM_PLACEMENT_INLINE && (!is_op || !indim_element_can(item->instr))) {
    return fail_item(cx, item, "it cannot be computed element by element");
  }
  for (int32_t k = 0; k < item->operand_count; k++) {
    const indim_flow_item *operand = item->operands[k];
    if (operand->placement == INDIM_PLACEMENT_NONE) {
      return fail_item(cx, item, "an operand is not computed");
    }
    bool is_inline = operand->placement == INDIM_PLACEMENT_INLINE;
    if (is_inline && item->placement != INDIM_PLACEMENT_REGISTERS && !computes_operand(item, k)) {
      return fail_item(cx, item, "an operand lives nowhere, and it does not compute it");
    }
  }
  return INDIM_OK;
}

// Whether computing |item| reads the memory of |base|, through whatever is inline. Looks at each item once in |walk|.
static bool reads(const indim_flow_item *item, const indim_flow_item *base, int32_t walk, int depth) {
  for (int32_t k = 0; k < item->operand_count; k++) {
    indim_flow_item *operand = item->operands[k];
    if (indim_flow_memory(operand) == base) {
      return true;
    }
    if (operand->placement != INDIM_PLACEMENT_INLINE || operand->walk == walk) {
      continue;
    }
    operand->walk = walk;
    if (depth <= INDIM_INLINE_DEPTH && reads(operand, base, walk, depth + 1)) {
      return true;
    }
  }
  return false;
}

// What overwrites memory comes after all that reads its old value.
static indim_status check_overwriting(indim_ctx *cx, const indim_flow *flow, const indim_flow_item *item,
                                      int32_t *walk) {
  if (!item->overwrites) {
    return INDIM_OK;
  }
  const indim_flow_item *base = item->base == NULL ? NULL : indim_flow_memory(item->base);
  if (base == NULL || base->placement != INDIM_PLACEMENT_MEMORY || item->placement != INDIM_PLACEMENT_MEMORY) {
    return fail_item(cx, item, "it overwrites what is not in memory");
  }
  const indim_flow_item *writer = item->kind == INDIM_FLOW_MEMBER ? item->source : item;
  for (int32_t i = writer->index + 1; i < flow->item_count; i++) {
    const indim_flow_item *later = flow->items[i];
    bool is_computed = later->placement == INDIM_PLACEMENT_MEMORY || later->placement == INDIM_PLACEMENT_REGISTERS;
    if (is_computed && later->kind == INDIM_FLOW_OP && reads(later, base, --*walk, 0)) {
      return fail_item(cx, later, "it reads a value that was overwritten before");
    }
  }
  for (int32_t k = 0; k < flow->result_count; k++) {
    if (flow->results[k] != item && indim_flow_memory(flow->results[k]) == base) {
      return fail_item(cx, item, "it overwrites a result");
    }
  }
  return INDIM_OK;
}

// Flows are nested at most as deep as indim_flow_make allows.
indim_status indim_plan_verify(indim_ctx *cx, const indim_flow *flow) {
  int32_t walk = 0;
  for (int32_t i = 0; i < flow->item_count; i++) {
    flow->items[i]->walk = 0;
  }
  for (int32_t i = 0; i < flow->item_count; i++) {
    const indim_flow_item *item = flow->items[i];
    INDIM_TRY(check_order(cx, flow, item, i));
    INDIM_TRY(check_placement(cx, item));
    INDIM_TRY(check_overwriting(cx, flow, item, &walk));
    for (int32_t k = 0; k < item->flow_count; k++) {
      INDIM_TRY(indim_plan_verify(cx, item->flows[k]));
    }
  }
  for (int32_t k = 0; k < flow->result_count; k++) {
    if (!is_in(flow, flow->results[k]) || flow->results[k]->placement == INDIM_PLACEMENT_NONE) {
      return fail_item(cx, flow->results[k], "a result is not computed");
    }
  }
  return INDIM_OK;
}
