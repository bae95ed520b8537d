// Linear algebra (cholesky, triangular-solve and LAPACK's custom calls), computed by linalg/.
#include "eval/evaluator.h"
#include "linalg/batch.h"

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

indim_status indim_eval_linalg(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                               indim_value **out) {
  indim_linalg_call call;
  indim_value *results[INDIM_LINALG_MOST_ARRAYS] = {NULL};
  bool is_tuple = indim_shape_is_tuple(instr->shape);
  INDIM_TRY(indim_linalg_read(e->cx, instr, &call));
  indim_status status = INDIM_OK;
  for (int32_t i = 0; status == INDIM_OK && i < call.result_count; i++) {
    status = indim_value_new(e->cx, is_tuple ? instr->shape->members[i] : instr->shape, &results[i]);
  }
  if (status == INDIM_OK) {
    status = run_call(e, &call, operands, results);
  }
  if (status == INDIM_OK && is_tuple) {
    status = indim_value_new_tuple(e->cx, instr->shape, results, out);
  }
  for (int32_t i = 0; status != INDIM_OK && i < call.result_count; i++) {
    indim_value_release(e->cx, results[i]);
  }
  *out = status == INDIM_OK && !is_tuple ? results[0] : *out;
  return status;
}
