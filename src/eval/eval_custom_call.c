// custom-call: who runs a target. So far these are LAPACK's routines; functions of the caller's would be looked up here.
#include "eval/evaluator.h"
#include "linalg/linalg.h"

indim_status indim_eval_check_custom_call(indim_evaluator *e, const indim_instr *instr) {
  indim_linalg_call call;
  return indim_linalg_read(e->cx, instr, &call);
}

indim_status indim_eval_custom_call(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                    indim_value **out) {
  return indim_eval_linalg(e, instr, operands, out);
}
