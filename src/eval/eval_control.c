// Tuples, tokens, calls and control flow.
#include <string.h>

#include "eval/evaluator.h"

indim_status indim_eval_tuple(indim_evaluator *e, const indim_instr *instr, indim_value **operands, indim_value **out) {
  INDIM_TRY(indim_value_new_tuple(e->cx, instr->shape, operands, out));
  for (int32_t i = 0; i < instr->operand_count; i++) {
    operands[i] = NULL;  // the tuple has the reference now
  }
  return INDIM_OK;
}

indim_status indim_eval_get_tuple_element(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                          indim_value **out) {
  (void)e;
  *out = indim_value_retain(operands[0]->members[indim_instr_int(instr, INDIM_ATTR_INDEX, 0)]);
  return INDIM_OK;
}

indim_status indim_eval_after_all(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                  indim_value **out) {
  (void)operands;
  return indim_value_new(e->cx, instr->shape, out);
}

// The data; the token only orders.
indim_status indim_eval_add_dependency(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                       indim_value **out) {
  (void)e;
  (void)instr;
  *out = indim_value_retain(operands[0]);
  return INDIM_OK;
}

// Hands the operands over to a computation.
static indim_status run_called(indim_evaluator *e, const indim_instr *instr, indim_attr_id id, indim_value **operands,
                               indim_value **out) {
  return indim_eval_computation(e, indim_instr_computation(instr, id), operands, instr->operand_count, out);
}

indim_status indim_eval_call(indim_evaluator *e, const indim_instr *instr, indim_value **operands, indim_value **out) {
  return run_called(e, instr, INDIM_ATTR_TO_APPLY, operands, out);
}

indim_status indim_eval_fusion(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                               indim_value **out) {
  return run_called(e, instr, INDIM_ATTR_CALLS, operands, out);
}

// The condition sees the state, the body takes it and gives the next one.
indim_status indim_eval_while(indim_evaluator *e, const indim_instr *instr, indim_value **operands, indim_value **out) {
  const indim_computation *condition = indim_instr_computation(instr, INDIM_ATTR_CONDITION);
  const indim_computation *body = indim_instr_computation(instr, INDIM_ATTR_BODY);
  indim_value *state = operands[0];
  operands[0] = NULL;
  for (;;) {
    indim_value *argument = indim_value_retain(state);
    indim_value *goes_on = NULL;
    indim_status status = indim_eval_computation(e, condition, &argument, 1, &goes_on);
    if (status == INDIM_OK && goes_on->data[0] == 0) {
      indim_value_release(e->cx, goes_on);
      *out = state;
      return INDIM_OK;
    }
    indim_value_release(e->cx, goes_on);
    indim_value *next = NULL;
    if (status == INDIM_OK) {
      status = indim_eval_computation(e, body, &state, 1, &next);
    }
    if (status != INDIM_OK) {
      indim_value_release(e->cx, state);
      return status;
    }
    state = next;
  }
}

// A pred chooses true_computation or false_computation; an s32 a branch, the last one when it is out of range.
indim_status indim_eval_conditional(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                    indim_value **out) {
  const indim_attr *branches = indim_instr_attr(instr, INDIM_ATTR_BRANCH_COMPUTATIONS);
  const indim_computation *branch = NULL;
  int64_t chosen = 0;
  if (operands[0]->shape->type == INDIM_PRED) {
    chosen = operands[0]->data[0] != 0 ? 0 : 1;
  } else {
    chosen = indim_scalar_load(INDIM_S32, operands[0]->data, 0).i;
    chosen = chosen < 0 || chosen >= branches->count ? branches->count - 1 : chosen;
  }
  if (branches != NULL) {
    branch = branches->value.computations[chosen];
  } else {
    branch = indim_instr_computation(instr, chosen == 0 ? INDIM_ATTR_TRUE_COMPUTATION : INDIM_ATTR_FALSE_COMPUTATION);
  }
  return indim_eval_computation(e, branch, &operands[chosen + 1], 1, out);
}
