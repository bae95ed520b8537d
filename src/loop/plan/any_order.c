// A reduction of all elements combines them in any order, so it reads them as they lie, not as they were moved (XLA: algebraic
// simplifier):
//
//   reduce(reshape(transpose(x)))    -> reduce(x), where all dimensions are reduced
#include <string.h>

#include "loop/plan/flow_make.h"

static bool reduces_all(const indim_instr *instr) {
  return instr->op == INDIM_OP_REDUCE && instr->operand_count == 2 && indim_shape_is_array(instr->shape) &&
         instr->shape->rank == 0;
}

static bool only_orders(const indim_instr *instr) {
  return instr->op == INDIM_OP_TRANSPOSE || instr->op == INDIM_OP_RESHAPE || instr->op == INDIM_OP_REVERSE;
}

indim_status indim_flow_reduce_in_any_order(indim_flow_maker *m, const indim_instr **instr) {
  const indim_instr *reduce = *instr;
  indim_instr *x = reduces_all(reduce) ? reduce->operands[0] : NULL;
  while (x != NULL && only_orders(x) && indim_shape_is_static(x->operands[0]->shape)) {
    x = x->operands[0];
  }
  if (x == NULL || x == reduce->operands[0]) {
    return INDIM_OK;
  }
  indim_instr *made = NULL;
  int64_t *dims = NULL;
  INDIM_TRY(indim_flow_array(m->instr_arena, 1, sizeof *made, &made));
  INDIM_TRY(indim_flow_array(m->instr_arena, 2, sizeof *made->operands, &made->operands));
  indim_instr **operands = made->operands;
  *made = *reduce;
  made->operands = operands;
  operands[0] = x;
  operands[1] = reduce->operands[1];
  INDIM_TRY(indim_flow_array(m->instr_arena, reduce->attr_count, sizeof *made->attrs, &made->attrs));
  INDIM_TRY(indim_flow_array(m->instr_arena, (int64_t)x->shape->rank + 1, sizeof *dims, &dims));
  memcpy(made->attrs, reduce->attrs, (size_t)reduce->attr_count * sizeof *made->attrs);
  for (int32_t d = 0; d < x->shape->rank; d++) {
    dims[d] = d;
  }
  for (int32_t k = 0; k < made->attr_count; k++) {
    if (made->attrs[k].id == INDIM_ATTR_DIMENSIONS) {
      made->attrs[k].count = x->shape->rank;
      made->attrs[k].value.ints = dims;
    }
  }
  *instr = made;
  return INDIM_OK;
}
