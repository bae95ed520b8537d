// Linear algebra (cholesky, triangular-solve and LAPACK's custom calls), computed by linalg/.
#include "eval/evaluator.h"

#include <string.h>

#include "linalg/batch.h"
#include "linalg/alias.h"

static indim_status run_call(indim_evaluator *e, const indim_linalg_call *call, indim_value **operands,
                             indim_value **results) {
  void *arrays[2 * INDIM_LINALG_MOST_ARRAYS];
  bool any = false;
  for (int32_t i = 0; i < call->result_count; i++) {
    arrays[i] = results[i]->data;
    any = any || results[i]->count > 0;
  }
  for (int32_t i = 0; i < call->operand_count; i++) {
    arrays[call->result_count + i] = operands[i]->data;
  }
  return any ? indim_linalg_run_call(e->cx, call, arrays) : INDIM_OK;
}

static indim_status eval_call(indim_evaluator *e, const indim_instr *instr, const indim_linalg_call *call,
                              indim_value **operands, indim_value **out) {
  indim_value *results[INDIM_LINALG_MOST_ARRAYS] = {NULL};
  bool is_tuple = indim_shape_is_tuple(instr->shape);
  indim_status status = INDIM_OK;
  for (int32_t i = 0; status == INDIM_OK && i < call->result_count; i++) {
    status = indim_value_new(e->cx, is_tuple ? instr->shape->members[i] : instr->shape, &results[i]);
  }
  if (status == INDIM_OK) {
    status = run_call(e, call, operands, results);
  }
  if (status == INDIM_OK && is_tuple) {
    status = indim_value_new_tuple(e->cx, instr->shape, results, out);
  }
  for (int32_t i = 0; status != INDIM_OK && i < call->result_count; i++) {
    indim_value_release(e->cx, results[i]);
  }
  *out = status == INDIM_OK && !is_tuple ? results[0] : *out;
  return status;
}

// The result of a call by another name from |today|, a tuple of the results of today's or the only one.
static indim_status collect(indim_evaluator *e, const indim_instr *instr, const indim_linalg_alias *alias,
                            indim_value *today, indim_value **out) {
  indim_value *results[INDIM_LINALG_MOST_ALIAS_RESULTS] = {NULL};
  indim_status status = INDIM_OK;
  for (int32_t i = 0; status == INDIM_OK && i < alias->result_count; i++) {
    int32_t k = alias->results[i];
    if (k >= 0) {
      results[i] = indim_value_retain(indim_shape_is_tuple(alias->today.shape) ? today->members[k] : today);
      results[i]->shape = instr->shape->members[i];  // today's may be gone with |alias|
      continue;
    }
    status = indim_value_new(e->cx, instr->shape->members[i], &results[i]);
    if (status == INDIM_OK && results[i]->bytes > 0) {
      memset(results[i]->data, 0, (size_t)results[i]->bytes);
    }
  }
  if (status == INDIM_OK) {
    status = indim_value_new_tuple(e->cx, instr->shape, results, out);
  }
  for (int32_t i = 0; status != INDIM_OK && i < alias->result_count; i++) {
    indim_value_release(e->cx, results[i]);
  }
  return status;
}

static indim_status eval_alias(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                               indim_value **out) {
  indim_linalg_alias alias;
  indim_linalg_call call;
  indim_value *arrays[INDIM_LINALG_MOST_ARRAYS] = {NULL};
  indim_value *today = NULL;
  INDIM_TRY(indim_linalg_read_alias(e->cx, instr, &alias, &call));
  for (int32_t i = 0; i < call.operand_count; i++) {
    arrays[i] = operands[alias.operands[i]];
  }
  INDIM_TRY(eval_call(e, &alias.today, &call, arrays, &today));
  if (!indim_shape_is_tuple(instr->shape)) {
    *out = today;
    today->shape = instr->shape;
    return INDIM_OK;
  }
  indim_status status = collect(e, instr, &alias, today, out);
  indim_value_release(e->cx, today);
  return status;
}

indim_status indim_eval_check_linalg(indim_evaluator *e, const indim_instr *instr) {
  indim_linalg_call call;
  indim_linalg_alias alias;
  return indim_linalg_is_alias(instr) ? indim_linalg_read_alias(e->cx, instr, &alias, &call)
                                      : indim_linalg_read(e->cx, instr, &call);
}

indim_status indim_eval_linalg(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                               indim_value **out) {
  indim_linalg_call call;
  if (indim_linalg_is_alias(instr)) {
    return eval_alias(e, instr, operands, out);
  }
  INDIM_TRY(indim_linalg_read(e->cx, instr, &call));
  return eval_call(e, instr, &call, operands, out);
}
