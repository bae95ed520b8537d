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
  case INDIM_OP_SCATTER:
    return true;
  case INDIM_OP_DYNAMIC_UPDATE_SLICE:
    return k > 0;
  default:
    return false;
  }
}

// An element of a factor meets every index of the other factor's free dimensions.
static int64_t dot_repeats(const indim_flow_item *item, int32_t k) {
  int64_t count = 0;
  const int64_t *contracting = indim_instr_ints(item->instr, INDIM_ATTR_RHS_CONTRACTING_DIMS, &count);
  int64_t times = indim_shape_element_count(item->shape);
  for (int64_t i = 0; i < count; i++) {
    times = times > INT32_MAX ? times : times * item->operands[1]->shape->sizes[contracting[i]];
  }
  int64_t elements = indim_shape_element_count(item->operands[k]->shape);
  return elements == 0 ? 1 : times / elements;
}

int64_t indim_lower_repeats(const indim_flow_item *item, int32_t k) {
  return item->instr->op == INDIM_OP_DOT ? dot_repeats(item, k) : 1;
}
