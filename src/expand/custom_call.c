// Custom calls that are computations of other ops: of a sparse matrix, XLA's top-k, and LAPACK's by other names.
#include "expand/custom_call.h"

#include "expand/csr.h"
#include "expand/lapack_alias.h"
#include "graph/topk_call.h"
#include "linalg/alias.h"
#include "linalg/csr.h"

bool indim_custom_call_suits(const indim_instr *instr) {
  return indim_linalg_is_alias(instr) || indim_is_csr_product(instr) || indim_is_topk_call(instr);
}

static value expand_topk(indim_expander *x) {
  indim_topk_call call;
  indim_status status = indim_topk_call_read(x->cx, x->instr, &call);
  if (status != INDIM_OK) {
    return indim_expand_fail(x, status);
  }
  indim_expand_begin(x);
  return indim_build_emit(x->b, INDIM_OP_TOPK, NULL, x->operands, 1, call.attrs, 2);
}

value indim_expand_custom_call(indim_expander *x) {
  return indim_is_csr_product(x->instr) ? indim_expand_csr(x)
         : indim_is_topk_call(x->instr) ? expand_topk(x)
                                        : indim_expand_lapack_alias(x);
}
