// Batches of matrices too large for straight code (loop/linalg/) and too small for calls of LAPACK's: a vector has an element
// of as many matrices as it has lanes, and the textbook's loops run over such vectors.
#ifndef INDIM_LINALG_LANES_H
#define INDIM_LINALG_LANES_H

#include "linalg/linalg.h"

// Whether |matrices| of the call's, one after another, are computed faster so than by LAPACK one by one.
bool indim_lanes_takes(const indim_linalg_call *call, int64_t matrices);
// Computes matrices |begin| to |end| of the batch, in the type of the call. |arrays|: the results, then the operands, dense,
// the batch first.
INDIM_CHECKED indim_status indim_lanes_run(indim_ctx *cx, const indim_linalg_call *call, int64_t begin, int64_t end,
                                           void *const *arrays);

#endif  // INDIM_LINALG_LANES_H
