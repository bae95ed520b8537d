// Which function lowers an op that is a kernel of its own.
#include "loop/lowering.h"

bool indim_lower_kernel(indim_lowering *l, indim_flow_item *item) {
  switch ((int)item->instr->op) {
  case INDIM_OP_REDUCE:
    indim_lower_reduce(l, item);
    return true;
  case INDIM_OP_DOT:
    indim_lower_dot(l, item);
    return true;
  default:
    return false;
  }
}

bool indim_lower_takes_elements(const indim_flow_item *item, int32_t k) {
  switch ((int)item->instr->op) {
  case INDIM_OP_REDUCE:
  case INDIM_OP_DOT:
    return true;
  case INDIM_OP_DYNAMIC_UPDATE_SLICE:
    return k > 0;
  default:
    return false;
  }
}
