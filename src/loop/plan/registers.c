// What can be in registers.
#include "loop/plan/plan.h"
#include "loop/target/cost.h"

// Small enough for registers; an array without elements has no register.
bool indim_plan_is_small(const indim_flow_item *item) {
  if (!indim_shape_is_array(item->shape) || !indim_shape_is_static(item->shape)) {
    return false;
  }
  int64_t count = indim_shape_element_count(item->shape);
  return count >= 1 && count <= INDIM_COST_REGISTER_ARRAY;
}

bool indim_plan_can_be_in_registers(const indim_flow_item *item) {
  if (item->kind != INDIM_FLOW_OP || !indim_plan_is_small(item) || item->member_count > 0 ||
      !indim_regs_can(item->instr)) {
    return false;
  }
  for (int32_t k = 0; k < item->operand_count; k++) {
    if (!indim_plan_is_small(item->operands[k])) {
      return false;
    }
  }
  return true;
}
