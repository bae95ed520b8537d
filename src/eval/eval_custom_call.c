// custom-call: who runs a target. Functions of the caller's go before those that Indim knows.
#include "eval/evaluator.h"
#include "linalg/csr.h"

indim_status indim_eval_check_custom_call(indim_evaluator *e, const indim_instr *instr) {
  if (indim_call_kind_of(e->cx, instr) != INDIM_CALL_UNKNOWN) {
    return indim_eval_prepare_call(e, instr);
  }
  return indim_is_csr_product(instr) ? indim_csr_verify(e->cx, instr) : indim_eval_check_linalg(e, instr);
}

indim_status indim_eval_custom_call(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                    indim_value **out) {
  if (indim_call_kind_of(e->cx, instr) != INDIM_CALL_UNKNOWN) {
    return indim_eval_run_call(e, instr, operands, out);
  }
  return indim_is_csr_product(instr) ? indim_eval_csr(e, instr, operands, out)
                                     : indim_eval_linalg(e, instr, operands, out);
}
