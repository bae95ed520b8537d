// Running a module: each computation's needed instructions in text order, values freed at their last use.
#include <string.h>

#include "eval/dynamic.h"
#include "graph/dynamic.h"
#include "graph/one_device.h"

static indim_eval_fn *const table[] = {
#define INDIM_OP(name, text, least, most, types, shape, infer, eval, meaning) [INDIM_OP_##name] = indim_eval_##eval,
#include "indim/ops.def"
};

indim_status indim_eval_none(indim_evaluator *e, const indim_instr *instr, indim_value **operands, indim_value **out) {
  (void)operands;
  (void)out;
  if (indim_op_is_host_transfer(instr->op)) {
    return indim_host_transfer_refuse(e->cx, instr);
  }
  indim_fail_instr(e->cx, INDIM_UNSUPPORTED, instr, "the evaluator does not run %s", indim_op_get(instr->op)->text);
  indim_hint(e->cx, "`indim ops` lists what runs");
  return INDIM_UNSUPPORTED;
}

indim_status indim_eval_steps(indim_evaluator *e, uint64_t count) {
  enum { BETWEEN_POLLS = 1024 };
  e->steps += count;
  if (e->max_steps != 0 && e->steps > e->max_steps) {
    indim_fail(e->cx, INDIM_LIMIT, "step limit: the program runs more than %llu instructions",
               (unsigned long long)e->max_steps);
    indim_hint(e->cx, "raise the step limit (--max-steps), or look for a loop that does not end");
    return INDIM_LIMIT;
  }
  if (e->steps - e->steps_asked < BETWEEN_POLLS) {
    return INDIM_OK;
  }
  e->steps_asked = e->steps;
  return indim_poll(e->cx);
}

indim_status indim_eval_work(indim_evaluator *e, int64_t count) {
  enum { BETWEEN_POLLS = 1 << 16 };
  e->work = count < BETWEEN_POLLS ? e->work + count : BETWEEN_POLLS;
  if (e->work < BETWEEN_POLLS) {
    return INDIM_OK;
  }
  e->work = 0;
  return indim_poll(e->cx);
}

// Plans -------------------------------------------------------------------------------------------------------------

// What the evaluator lacks is said before anything of the computation runs.
static indim_status check_instr(indim_evaluator *e, const indim_instr *instr) {
  indim_shape_text text;
  if (table[instr->op] == indim_eval_none) {
    return indim_eval_none(e, instr, NULL, NULL);
  }
  if (indim_shape_is_unbounded(instr->shape)) {
    return indim_fail_instr(e->cx, INDIM_UNSUPPORTED, instr,
                            "%s has an unbounded dimension (?), which has no size to run with",
                            indim_shape_brief(instr->shape, &text));
  }
  if (indim_instr_is_dynamic(instr)) {
    INDIM_TRY(indim_dynamic_verify(e->cx, instr));
  }
  if (instr->shape->type == INDIM_OPAQUE || instr->shape->type == INDIM_BUFFER) {
    return indim_fail_instr(e->cx, INDIM_UNSUPPORTED, instr, "the evaluator has no values of shape %s",
                            indim_shape_brief(instr->shape, &text));
  }
  return instr->op == INDIM_OP_CUSTOM_CALL ? indim_eval_check_custom_call(e, instr) : INDIM_OK;
}

static void find_last_uses(const indim_computation *computation, int32_t *last_use) {
  for (int32_t i = 0; i < computation->instr_count; i++) {
    last_use[i] = indim_instr_has_effect(computation->instrs[i]) ? i : -1;
  }
  last_use[computation->root->index] = INT32_MAX;  // outlives its users
  for (int32_t i = computation->instr_count - 1; i >= 0; i--) {
    const indim_instr *instr = computation->instrs[i];
    for (int32_t k = 0; last_use[i] >= 0 && k < instr->operand_count; k++) {
      int32_t *last = &last_use[instr->operands[k]->index];
      *last = *last < 0 ? i : *last;
    }
  }
}

// Numbers the members of the tuples that are only taken apart: |first[t]| is the number of tuple t's first member, -1
// for every other instruction. Returns how many there are.
static int32_t number_members(const indim_computation *computation, const int32_t *last_use, int32_t *first) {
  enum { TAKEN_APART = 1, USED_WHOLE = 2 };
  int32_t count = 0;
  for (int32_t i = 0; i < computation->instr_count; i++) {
    const indim_instr *instr = computation->instrs[i];
    for (int32_t k = 0; last_use[i] >= 0 && k < instr->operand_count; k++) {
      first[instr->operands[k]->index] |= instr->op == INDIM_OP_GET_TUPLE_ELEMENT ? TAKEN_APART : USED_WHOLE;
    }
  }
  first[computation->root->index] |= USED_WHOLE;
  for (int32_t i = 0; i < computation->instr_count; i++) {
    int64_t members = computation->instrs[i]->shape->member_count;
    bool numbered = first[i] == TAKEN_APART && members <= INT32_MAX - count;
    first[i] = numbered ? count : -1;
    count += numbered ? (int32_t)members : 0;
  }
  return count;
}

// The last look at a member of such a tuple may move it out.
static indim_status find_taken_members(indim_evaluator *e, const indim_computation *computation,
                                       const indim_eval_plan *plan) {
  void *memory = NULL;
  INDIM_TRY(indim_arena_array(&e->arena, (size_t)computation->instr_count, sizeof(int32_t), &memory));
  int32_t *first = memory;
  int32_t members = number_members(computation, plan->last_use, first);
  INDIM_TRY(indim_arena_array(&e->arena, (size_t)members, sizeof(bool), &memory));
  bool *looked_at_later = memory;
  for (int32_t i = computation->instr_count - 1; i >= 0; i--) {
    const indim_instr *instr = computation->instrs[i];
    if (plan->last_use[i] < 0 || instr->op != INDIM_OP_GET_TUPLE_ELEMENT || first[instr->operands[0]->index] < 0) {
      continue;
    }
    bool *later = &looked_at_later[first[instr->operands[0]->index] + indim_instr_int(instr, INDIM_ATTR_INDEX, 0)];
    plan->takes_member[i] = !*later;
    *later = true;
  }
  return INDIM_OK;
}

static indim_status make_plan(indim_evaluator *e, const indim_computation *computation, indim_eval_plan *plan) {
  void *memory = NULL;
  size_t count = (size_t)computation->instr_count;
  INDIM_TRY(indim_arena_array(&e->arena, count, sizeof *plan->last_use, &memory));
  plan->last_use = memory;
  INDIM_TRY(indim_arena_array(&e->arena, count, sizeof *plan->takes_member, &memory));
  plan->takes_member = memory;
  INDIM_TRY(indim_arena_array(&e->arena, count, sizeof *plan->is_dynamic, &memory));
  plan->is_dynamic = memory;
  find_last_uses(computation, plan->last_use);
  for (size_t i = 0; i < count; i++) {
    plan->is_dynamic[i] = indim_instr_is_dynamic(computation->instrs[i]);
    if (plan->last_use[i] >= 0 || indim_op_is_host_transfer(computation->instrs[i]->op)) {
      INDIM_TRY(check_instr(e, computation->instrs[i]));
    }
  }
  INDIM_TRY(find_taken_members(e, computation, plan));
  if (computation != e->module->entry) {
    INDIM_TRY(indim_arena_array(&e->arena, count, sizeof(indim_value *), &memory));
    plan->constants = memory;
  }
  plan->is_ready = true;
  return INDIM_OK;
}

static void release_plans(indim_evaluator *e) {
  for (int32_t c = 0; c < e->module->computation_count; c++) {
    const indim_eval_plan *plan = &e->plans[c];
    for (int32_t i = 0; plan->constants != NULL && i < e->module->computations[c]->instr_count; i++) {
      indim_value_release(e->cx, plan->constants[i]);
    }
    for (int32_t i = 0; plan->calls != NULL && i < e->module->computations[c]->instr_count; i++) {
      indim_call_destroy(plan->calls[i]);
    }
  }
}

// Frames ------------------------------------------------------------------------------------------------------------

// Runs one instruction on the values of its frame and drops what it used last.
static indim_status run_instr(indim_evaluator *e, const indim_eval_plan *plan, const indim_instr *instr,
                              indim_value **values) {
  indim_value *few[8];
  indim_value **operands = few;
  size_t count = (size_t)instr->operand_count;
  void *memory = NULL;
  INDIM_TRY(indim_eval_steps(e, 1));
  if (count > sizeof few / sizeof few[0]) {
    INDIM_TRY(indim_alloc(e->cx, count * sizeof *operands, &memory));
    operands = memory;
  }
  for (size_t i = 0; i < count; i++) {
    operands[i] = indim_value_retain(values[instr->operands[i]->index]);
  }
  for (size_t i = 0; i < count; i++) {
    int32_t index = instr->operands[i]->index;
    if (plan->last_use[index] == instr->index) {
      indim_value_release(e->cx, values[index]);
      values[index] = NULL;
    }
  }
  indim_value *result = NULL;
  indim_status status = INDIM_OK;
  // A tuple held by this frame alone gives each member away at the last look.
  int64_t mine = count == 1 && values[instr->operands[0]->index] != NULL ? 2 : 1;
  if (plan->takes_member[instr->index] && operands[0]->references == mine) {
    int64_t member = indim_instr_int(instr, INDIM_ATTR_INDEX, 0);
    result = operands[0]->members[member];
    operands[0]->members[member] = NULL;
  } else {
    status = plan->is_dynamic[instr->index] ? indim_dynamic_run(e, instr, table[instr->op], operands, &result)
                                            : table[instr->op](e, instr, operands, &result);
  }
  for (size_t i = 0; i < count; i++) {
    indim_value_release(e->cx, operands[i]);
  }
  indim_free(e->cx, memory, count * sizeof *operands);
  values[instr->index] = result;
  return status != INDIM_OK ? status : indim_dynamic_settle(e, instr, &values[instr->index]);
}

static indim_status run_frame(indim_evaluator *e, const indim_computation *computation, indim_value **arguments,
                              indim_value **values, indim_value **out) {
  indim_eval_plan *plan = &e->plans[computation->index];
  if (!plan->is_ready) {
    INDIM_TRY(make_plan(e, computation, plan));
  }
  for (int32_t i = 0; i < computation->instr_count; i++) {
    const indim_instr *instr = computation->instrs[i];
    if (plan->last_use[i] < 0) {
      continue;
    }
    if (instr->op == INDIM_OP_PARAMETER) {
      values[i] = arguments[instr->parameter_number];
      arguments[instr->parameter_number] = NULL;
      INDIM_TRY(indim_dynamic_settle(e, instr, &values[i]));
    } else {
      INDIM_TRY(run_instr(e, plan, instr, values));
    }
  }
  *out = values[computation->root->index];
  values[computation->root->index] = NULL;
  return INDIM_OK;
}

indim_status indim_eval_computation(indim_evaluator *e, const indim_computation *computation, indim_value **arguments,
                                    int64_t count, indim_value **out) {
  void *memory = NULL;
  size_t size = (size_t)computation->instr_count * sizeof(indim_value *);
  indim_status status = INDIM_OK;
  if (e->depth >= INDIM_MAX_CALL_DEPTH) {
    status = indim_fail(e->cx, INDIM_LIMIT, "computation %s is called inside %d others; that is the limit",
                        computation->name.data, e->depth);
  }
  if (status == INDIM_OK) {
    status = indim_alloc_zeroed(e->cx, size, &memory);
  }
  if (status == INDIM_OK) {
    indim_value **values = memory;
    e->depth++;
    status = run_frame(e, computation, arguments, values, out);
    e->depth--;
    for (int32_t i = 0; i < computation->instr_count; i++) {
      indim_value_release(e->cx, values[i]);
    }
    indim_free(e->cx, memory, size);
  }
  for (int64_t i = 0; i < count; i++) {
    indim_value_release(e->cx, arguments[i]);
    arguments[i] = NULL;
  }
  return status;
}

// The entry ---------------------------------------------------------------------------------------------------------

static indim_status check_argument(indim_ctx *cx, const indim_instr *parameter, const indim_literal *argument) {
  indim_shape_text wanted;
  indim_shape_text given;
  if (argument == NULL) {
    return indim_fail(cx, INDIM_INVALID, "argument %lld is NULL", (long long)parameter->parameter_number);
  }
  const indim_shape *shape = indim_literal_shape(argument);
  if (indim_shape_compatible(shape, parameter->shape)) {
    return INDIM_OK;
  }
  indim_fail(cx, INDIM_INVALID, "argument %lld is %s, parameter %s is %s", (long long)parameter->parameter_number,
             indim_shape_brief(shape, &given), parameter->name.data, indim_shape_brief(parameter->shape, &wanted));
  if (indim_shape_equal(shape, parameter->shape, INDIM_COMPATIBLE | INDIM_IGNORE_ELEMENT_TYPE)) {
    indim_hint(cx, "the sizes agree; convert the argument to %s", indim_type_text(parameter->shape->type));
  }
  return INDIM_INVALID;
}

static indim_status run_entry(indim_evaluator *e, const indim_literal *const *arguments, indim_literal **out_result) {
  const indim_computation *entry = e->module->entry;
  size_t count = (size_t)entry->parameter_count;
  void *memory = NULL;
  indim_value *result = NULL;
  INDIM_TRY(indim_alloc_zeroed(e->cx, count * sizeof(indim_value *), &memory));
  indim_value **values = memory;
  indim_status status = INDIM_OK;
  for (size_t i = 0; status == INDIM_OK && i < count; i++) {
    status = check_argument(e->cx, entry->parameters[i], arguments[i]);
    if (status == INDIM_OK) {
      status = indim_value_from_literal(e->cx, arguments[i], entry->parameters[i]->shape, &values[i]);
    }
  }
  if (status == INDIM_OK) {
    status = indim_eval_computation(e, entry, values, (int64_t)count, &result);
  }
  for (size_t i = 0; i < count; i++) {
    indim_value_release(e->cx, values[i]);
  }
  indim_free(e->cx, memory, count * sizeof(indim_value *));
  if (status == INDIM_OK) {
    const indim_shape *stated = e->module->entry_result_shape;
    status = indim_value_to_literal(e->cx, result, stated != NULL ? stated : entry->root->shape, out_result);
  }
  indim_value_release(e->cx, result);
  return status;
}

indim_status indim_eval(indim_ctx *cx, const indim_module *module, const indim_literal *const *arguments,
                        int64_t argument_count, const indim_eval_options *options, indim_literal **out_result) {
  if (cx == NULL || module == NULL || out_result == NULL || (arguments == NULL && argument_count > 0)) {
    return cx == NULL ? INDIM_INVALID : indim_fail(cx, INDIM_INVALID, "indim_eval: a pointer that is needed is NULL");
  }
  *out_result = NULL;
  if (argument_count != module->entry->parameter_count) {
    return indim_fail(cx, INDIM_INVALID, "the program takes %d arguments, %lld are given",
                      (int)module->entry->parameter_count, (long long)argument_count);
  }
  indim_evaluator e = {.cx = cx, .module = module, .max_steps = options == NULL ? 0 : options->max_steps};
  size_t size = (size_t)module->computation_count * sizeof *e.plans;
  void *memory = NULL;
  INDIM_TRY(indim_poll(cx));
  INDIM_TRY(indim_alloc_zeroed(cx, size, &memory));
  e.plans = memory;
  e.run_id = indim_registry_next_run(cx);
  indim_arena_init(&e.arena, cx);
  indim_status status = run_entry(&e, arguments, out_result);
  release_plans(&e);
  indim_arena_deinit(&e.arena);
  indim_free(cx, memory, size);
  return status;
}
