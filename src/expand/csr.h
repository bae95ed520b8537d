// A product with a sparse matrix (linalg/csr.h) as loops over its rows and over the elements of each.
#ifndef INDIM_EXPAND_CSR_H
#define INDIM_EXPAND_CSR_H

#include "expand/kit.h"

value indim_expand_csr(indim_expander *x);

#endif  // INDIM_EXPAND_CSR_H
