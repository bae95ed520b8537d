// custom-call: who runs a target. Functions of the caller's go before those that Indim knows.
#include "eval/evaluator.h"
#include "graph/topk_call.h"
#include "linalg/csr.h"

indim_status indim_eval_check_custom_call(indim_evaluator *e, const indim_instr *instr) {
  if (indim_call_kind_of(e->cx, instr) != INDIM_CALL_UNKNOWN) {
    return indim_eval_prepare_call(e, instr);
  }
  if (indim_is_topk_call(instr)) {
    indim_topk_call call;
    return indim_topk_call_read(e->cx, instr, &call);
  }
  return indim_is_csr_product(instr) ? indim_csr_verify(e->cx, instr) : indim_eval_check_linalg(e, instr);
}

indim_status indim_eval_custom_call(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                    indim_value **out) {
  if (indim_call_kind_of(e->cx, instr) != INDIM_CALL_UNKNOWN) {
    return indim_eval_run_call(e, instr, operands, out);
  }
  if (indim_is_topk_call(instr)) {
    indim_topk_call call;
    INDIM_TRY(indim_topk_call_read(e->cx, instr, &call));
    return indim_eval_topk(e, &call.topk, operands, out);
  }
  return indim_is_csr_product(instr) ? indim_eval_csr(e, instr, operands, out)
                                     : indim_eval_linalg(e, instr, operands, out);
}
