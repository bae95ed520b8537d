// Whose memory an item would overwrite: that of the array which it updates, or may leave as it is.
#include "loop/plan/plan.h"

// What a loop carries as |k| is updated in place by its body.
static indim_flow_item *base_of_loop(const indim_flow_item *loop, int32_t k) {
  const indim_flow *body = loop->flows[1];
  bool is_updated = body->results[k] != body->parameters[k] && indim_flow_root(body->results[k]) == body->parameters[k];
  return is_updated ? loop->operands[k] : NULL;
}

// The operand of a conditional that parameter |number| of a branch is.
static indim_flow_item *operand_of_branch(const indim_flow_item *item, int32_t branch, int32_t number) {
  int32_t first = 1;
  for (int32_t b = 0; b < branch; b++) {
    first += item->flows[b]->parameter_count;
  }
  return indim_flow_memory(item->operands[first + number]);
}

// Whether a branch may leave result |k| in the memory of |base|: it is given it once at most and does not give it away as
// another result. What it gives as this result is computed or updated there, or, another parameter as it is, copied.
static bool branch_agrees(const indim_flow_item *item, int32_t branch, int32_t k, const indim_flow_item *base) {
  const indim_flow *flow = item->flows[branch];
  const indim_flow_item *root = indim_flow_root(flow->results[k]);
  int32_t times = 0;
  for (int32_t p = 0; p < flow->parameter_count; p++) {
    if (operand_of_branch(item, branch, p) != base) {
      continue;
    }
    times++;
    for (int32_t m = 0; m < flow->result_count; m++) {
      if (m != k && indim_flow_root(flow->results[m]) == flow->parameters[p]) {
        return false;
      }
    }
  }
  bool is_copied = root != NULL && root == flow->results[k];
  return times <= 1 && (root == NULL || is_copied || operand_of_branch(item, branch, root->number) == base);
}

// Result |k| of a conditional lives in the memory of an operand that branch |branch| updates or gives back.
static indim_flow_item *base_of_conditional(const indim_flow_item *item, int32_t k, int32_t branch) {
  const indim_flow_item *root = indim_flow_root(item->flows[branch]->results[k]);
  indim_flow_item *base = root == NULL ? NULL : operand_of_branch(item, branch, root->number);
  for (int32_t b = 0; b < item->flow_count && base != NULL; b++) {
    base = branch_agrees(item, b, k, base) ? base : NULL;
  }
  return base;
}

// Whether |item| lives in a parameter's memory, where a select may leave it as it is, and |other| does not.
static bool is_kept(indim_flow_item *item, indim_flow_item *other) {
  return item->placement == INDIM_PLACEMENT_MEMORY && indim_flow_root(item) != NULL &&
         indim_flow_memory(item) != indim_flow_memory(other);
}

// A select by one pred between operand |k|, an array that is carried, and another stores the other, or nothing.
static indim_flow_item *base_of_select(const indim_flow_item *item, int32_t k) {
  indim_flow_item **of = item->operands;
  return indim_flow_select_pred(item) != NULL && is_kept(of[k], of[3 - k]) ? of[k] : NULL;
}

int32_t indim_plan_base_count(indim_flow_item *item) {
  const indim_flow_item *op = indim_flow_op(item);
  return op->instr->op == INDIM_OP_CONDITIONAL ? op->flow_count : op->instr->op == INDIM_OP_SELECT ? 2 : 1;
}

indim_flow_item *indim_plan_base(indim_flow_item *item, int32_t number) {
  const indim_flow_item *op = indim_flow_op(item);
  int32_t k = item->kind == INDIM_FLOW_MEMBER ? item->number : 0;
  indim_flow_item *base = NULL;
  if (item->placement != INDIM_PLACEMENT_MEMORY || !indim_shape_is_array(item->shape) ||
      op->placement == INDIM_PLACEMENT_NONE) {
    return NULL;
  }
  if (indim_op_class_of(op->instr->op) == INDIM_OP_CLASS_UPDATE) {
    base = op->operands[k];
  } else if (op->instr->op == INDIM_OP_WHILE) {
    base = base_of_loop(op, k);
  } else if (op->instr->op == INDIM_OP_CONDITIONAL) {
    base = base_of_conditional(op, k, number);
  } else if (op->instr->op == INDIM_OP_SELECT) {
    base = base_of_select(op, 2 - number);
  }
  base = base == NULL ? NULL : indim_flow_memory(base);
  return base != NULL && base->placement == INDIM_PLACEMENT_MEMORY ? base : NULL;
}
