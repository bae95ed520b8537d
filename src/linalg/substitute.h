// Triangular systems of real numbers with one right side, or a few: LAPACK's routine copies the matrix for each call, which takes
// longer than the solution. Here it is read once for each right side, in the order in which it lies.
#ifndef INDIM_LINALG_SUBSTITUTE_H
#define INDIM_LINALG_SUBSTITUTE_H

#include "linalg/linalg.h"

// Whether the call's matrices are solved so.
bool indim_substitute_takes(const indim_linalg_call *call);
// Solves systems |begin| to |end| of the batch by vectors of at most so many bytes. |arrays|: the result, then the operands, dense,
// the batch first.
INDIM_CHECKED indim_status indim_substitute_run(indim_ctx *cx, int32_t vector_bytes, const indim_linalg_call *call,
                                                int64_t begin, int64_t end, void *const *arrays);

#endif  // INDIM_LINALG_SUBSTITUTE_H
