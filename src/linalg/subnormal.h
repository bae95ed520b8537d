// Matrices in whose factorization subnormal numbers come up, and which factors may take them as zeros.
#ifndef INDIM_LINALG_SUBNORMAL_H
#define INDIM_LINALG_SUBNORMAL_H

#include "linalg/linalg.h"

// Whether a library's routine may take subnormal numbers as zeros for this matrix of the batch, and is faster so. |operands|: its
// matrices. What it says of a singular matrix is not to be believed then.
bool indim_linalg_may_flush(const indim_linalg_call *call, const void *const *operands);

// The same where it is known that they come up.
bool indim_linalg_stands_flushing(const indim_linalg_call *call, const void *const *operands);

#endif  // INDIM_LINALG_SUBNORMAL_H
