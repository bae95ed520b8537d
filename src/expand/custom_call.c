// Custom calls that are computations of other ops: of a sparse matrix, and LAPACK's by other names.
#include "expand/csr.h"
#include "expand/kit.h"
#include "expand/lapack_alias.h"
#include "linalg/csr.h"

value indim_expand_custom_call(indim_expander *x) {
  return indim_is_csr_product(x->instr) ? indim_expand_csr(x) : indim_expand_lapack_alias(x);
}
