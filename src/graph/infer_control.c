// Shape rules of what runs called computations on whole values: call, fusion, while, conditional, and the async chain.
// A called computation's parameters must be compatible with what they are given (type and sizes; layouts and dynamic
// flags aside), and the result is what it returns.
#include <inttypes.h>
#include <stdio.h>

#include "graph/infer_kit.h"

// Parameter k takes operand |first| + k.
static indim_status verify_arguments(indim_ctx *cx, const indim_instr *instr, indim_attr_id id,
                                     const indim_computation *called) {
  INDIM_TRY(indim_called_verify_count(cx, instr, id, called, instr->operand_count));
  for (int32_t i = 0; i < instr->operand_count; i++) {
    char what[128];
    snprintf(what, sizeof what, "operand %d (%.64s)", (int)i, indim_operand_name(instr, i));
    INDIM_TRY(indim_called_verify_parameter(cx, instr, id, called, i, indim_operand_shape(instr, i), what));
  }
  return INDIM_OK;
}

indim_status indim_infer_call(indim_ctx *cx, const indim_instr *instr, indim_arena *arena, indim_shape *out_shape) {
  (void)arena;
  const indim_computation *called = indim_instr_computation(instr, INDIM_ATTR_TO_APPLY);
  INDIM_TRY(verify_arguments(cx, instr, INDIM_ATTR_TO_APPLY, called));
  *out_shape = *called->root->shape;
  return INDIM_OK;
}

indim_status indim_infer_fusion(indim_ctx *cx, const indim_instr *instr, indim_arena *arena, indim_shape *out_shape) {
  (void)arena;
  const indim_computation *called = indim_instr_computation(instr, INDIM_ATTR_CALLS);
  INDIM_TRY(verify_arguments(cx, instr, INDIM_ATTR_CALLS, called));
  *out_shape = *called->root->shape;
  return INDIM_OK;
}

indim_status indim_infer_while(indim_ctx *cx, const indim_instr *instr, indim_arena *arena, indim_shape *out_shape) {
  (void)arena;
  const indim_computation *condition = indim_instr_computation(instr, INDIM_ATTR_CONDITION);
  const indim_computation *body = indim_instr_computation(instr, INDIM_ATTR_BODY);
  const indim_shape *init = indim_operand_shape(instr, 0);
  char what[128];
  snprintf(what, sizeof what, "the initial value, operand 0 (%.64s),", indim_operand_name(instr, 0));
  INDIM_TRY(verify_arguments(cx, instr, INDIM_ATTR_CONDITION, condition));
  INDIM_TRY(verify_arguments(cx, instr, INDIM_ATTR_BODY, body));
  if (!indim_shape_is_scalar_of(condition->root->shape, INDIM_PRED)) {
    indim_shape_text text;
    indim_fail_attr(cx, instr, INDIM_ATTR_CONDITION, "condition=%s returns %s, expected pred[]", condition->name.data,
                    indim_shape_brief(condition->root->shape, &text));
    indim_hint(cx, "the loop runs as long as the condition is true");
    return INDIM_INVALID;
  }
  INDIM_TRY(indim_called_verify_result(cx, instr, INDIM_ATTR_BODY, body, init, what));
  *out_shape = *init;
  return INDIM_OK;
}

// Branch |branch| and the attribute that names it.
static const indim_computation *get_branch(const indim_instr *instr, int32_t branch, indim_attr_id *out_id) {
  const indim_attr *list = indim_instr_attr(instr, INDIM_ATTR_BRANCH_COMPUTATIONS);
  if (list != NULL) {
    *out_id = INDIM_ATTR_BRANCH_COMPUTATIONS;
    return list->value.computations[branch];
  }
  *out_id = branch == 0 ? INDIM_ATTR_TRUE_COMPUTATION : INDIM_ATTR_FALSE_COMPUTATION;
  return indim_instr_computation(instr, *out_id);
}

// The index is pred[] with a true and a false computation, or s32[] with a list of branches.
static indim_status verify_branch_index(indim_ctx *cx, const indim_instr *instr, int64_t *out_count) {
  const indim_shape *index = indim_operand_shape(instr, 0);
  const indim_attr *list = indim_instr_attr(instr, INDIM_ATTR_BRANCH_COMPUTATIONS);
  const indim_attr *on_true = indim_instr_attr(instr, INDIM_ATTR_TRUE_COMPUTATION);
  const indim_attr *on_false = indim_instr_attr(instr, INDIM_ATTR_FALSE_COMPUTATION);
  bool is_pred = indim_shape_is_scalar_of(index, INDIM_PRED);
  if (!is_pred && !indim_shape_is_scalar_of(index, INDIM_S32)) {
    indim_shape_text text;
    indim_fail_instr(cx, INDIM_INVALID, instr, "operand 0 (%s) is %s, expected pred[] or s32[]: it chooses the branch",
                     indim_operand_name(instr, 0), indim_shape_brief(index, &text));
    return INDIM_INVALID;
  }
  if (is_pred && (list != NULL || on_true == NULL || on_false == NULL)) {
    return indim_fail_instr(cx, INDIM_INVALID, instr,
                            "operand 0 (%s) is pred[], so that true_computation= and false_computation= are needed%s",
                            indim_operand_name(instr, 0), list != NULL ? ", not branch_computations=" : "");
  }
  if (!is_pred && (list == NULL || list->count == 0 || on_true != NULL || on_false != NULL)) {
    return indim_fail_instr(cx, INDIM_INVALID, instr,
                            "operand 0 (%s) is s32[], so that branch_computations={...} is needed%s",
                            indim_operand_name(instr, 0),
                            list != NULL && list->count == 0      ? ", with one branch at least"
                            : on_true != NULL || on_false != NULL ? ", not true_computation= and false_computation="
                                                                  : "");
  }
  *out_count = is_pred ? 2 : list->count;
  return INDIM_OK;
}

indim_status indim_infer_conditional(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                     indim_shape *out_shape) {
  (void)arena;
  int64_t count = 0;
  INDIM_TRY(verify_branch_index(cx, instr, &count));
  if (instr->operand_count - 1 != count) {
    return indim_fail_instr(cx, INDIM_INVALID, instr,
                            "has %" PRId64 " branches and %d operands after the first, expected one for each branch",
                            count, (int)instr->operand_count - 1);
  }
  indim_attr_id id = INDIM_ATTR_BRANCH_COMPUTATIONS;
  const indim_computation *first = get_branch(instr, 0, &id);
  *out_shape = *first->root->shape;
  for (int32_t i = 0; i < (int32_t)count; i++) {
    const indim_computation *branch = get_branch(instr, i, &id);
    char what[128];
    snprintf(what, sizeof what, "operand %d (%.64s)", (int)i + 1, indim_operand_name(instr, i + 1));
    INDIM_TRY(indim_called_verify_count(cx, instr, id, branch, 1));
    INDIM_TRY(indim_called_verify_parameter(cx, instr, id, branch, 0, indim_operand_shape(instr, i + 1), what));
    snprintf(what, sizeof what, "that of %.64s, the first branch,", first->name.data);
    INDIM_TRY(indim_called_verify_result(cx, instr, id, branch, first->root->shape, what));
    if (indim_shape_is_array(out_shape)) {
      indim_dims_join(out_shape, branch->root->shape);
    }
  }
  return INDIM_OK;
}

// Async --------------------------------------------------------------------------------------------------------------

// The declared shape must be ((operands), result of calls=, context, ...): checked here, since the context is free.
indim_status indim_infer_async_start(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                     indim_shape *out_shape) {
  (void)arena;
  const indim_computation *called = indim_instr_computation(instr, INDIM_ATTR_CALLS);
  const indim_shape *declared = NULL;
  INDIM_TRY(indim_instr_declared(cx, instr, &declared));
  INDIM_TRY(verify_arguments(cx, instr, INDIM_ATTR_CALLS, called));
  const indim_attr *thread = indim_instr_attr(instr, INDIM_ATTR_ASYNC_EXECUTION_THREAD);
  if (thread != NULL && called->execution_thread.size > 0 &&
      !indim_str_equal(thread->value.text, called->execution_thread)) {
    return indim_fail_attr(
        cx, instr, thread->id, "async_execution_thread=\"%.*s\", but calls=%s is on \"%.*s\"",
        (int)(thread->value.text.size < 64 ? thread->value.text.size : 64), thread->value.text.data, called->name.data,
        (int)(called->execution_thread.size < 64 ? called->execution_thread.size : 64), called->execution_thread.data);
  }
  indim_shape_text text;
  indim_shape_text other;
  bool ok = declared->type == INDIM_TUPLE && declared->member_count >= 2 && declared->members[0]->type == INDIM_TUPLE &&
            declared->members[0]->member_count == instr->operand_count;
  if (!ok) {
    return indim_fail_instr(cx, INDIM_INVALID, instr, "declared %s, expected ((the operands), %s, the context)",
                            indim_shape_brief(declared, &text), indim_shape_brief(called->root->shape, &other));
  }
  for (int32_t i = 0; i < instr->operand_count; i++) {
    const indim_shape *member = declared->members[0]->members[i];
    if (!indim_shape_compatible(member, indim_operand_shape(instr, i))) {
      return indim_fail_instr(cx, INDIM_INVALID, instr, "declared with %s in place %d, but operand %d (%s) is %s",
                              indim_shape_brief(member, &text), (int)i, (int)i, indim_operand_name(instr, i),
                              indim_shape_brief(indim_operand_shape(instr, i), &other));
    }
  }
  if (!indim_shape_compatible(declared->members[1], called->root->shape)) {
    return indim_fail_instr(cx, INDIM_INVALID, instr, "declared with the result %s, but calls=%s returns %s",
                            indim_shape_brief(declared->members[1], &text), called->name.data,
                            indim_shape_brief(called->root->shape, &other));
  }
  *out_shape = *declared;
  return INDIM_OK;
}

// The operand is an async-start or async-update; a calls= of its own must be the one that the chain began with.
static indim_status verify_chain(indim_ctx *cx, const indim_instr *instr) {
  const indim_instr *start = instr->operands[0];
  while (start->op == INDIM_OP_ASYNC_UPDATE && start->operand_count == 1 && start->operands[0]->index < start->index) {
    start = start->operands[0];
  }
  const indim_shape *shape = indim_operand_shape(instr, 0);
  if (start->op != INDIM_OP_ASYNC_START || shape->type != INDIM_TUPLE || shape->member_count < 2) {
    indim_shape_text text;
    return indim_fail_instr(
        cx, INDIM_INVALID, instr, "operand 0 (%s) is %s of %s, expected an async-start or async-update",
        indim_operand_name(instr, 0), indim_shape_brief(shape, &text), indim_op_get(instr->operands[0]->op)->text);
  }
  const indim_computation *called = indim_instr_computation(instr, INDIM_ATTR_CALLS);
  const indim_computation *begun = indim_instr_computation(start, INDIM_ATTR_CALLS);
  if (called != NULL && called != begun) {
    return indim_fail_attr(cx, instr, INDIM_ATTR_CALLS, "calls=%s, but %s began %s", called->name.data,
                           start->name.data, begun == NULL ? "nothing" : begun->name.data);
  }
  return INDIM_OK;
}

indim_status indim_infer_async_update(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                      indim_shape *out_shape) {
  (void)arena;
  INDIM_TRY(verify_chain(cx, instr));
  *out_shape = *indim_operand_shape(instr, 0);
  return INDIM_OK;
}

indim_status indim_infer_async_done(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                    indim_shape *out_shape) {
  (void)arena;
  INDIM_TRY(verify_chain(cx, instr));
  *out_shape = *indim_operand_shape(instr, 0)->members[1];
  return INDIM_OK;
}
