// The host's convolution (indim_host.h).
#ifndef INDIM_RUN_CONVOLUTION_H
#define INDIM_RUN_CONVOLUTION_H

#include "indim/execute.h"
#include "indim/indim_host.h"

// Computes the convolution, split into blocks by its sizes alone and distributed by |parallel| (NULL: sequentially), so that
// the result is the same for any number of threads. |stop|: where it is not 0 blocks that have not begun are left out; NULL:
// never. |vector_bytes|: of the vectors at most, 0: the widest that the processor
// has. Allocates nothing. False for invalid sizes: a type other than F32 and F64, a negative size, or a number of 2^31 or
// more other than a stride in memory.
bool indim_convolution_run(int32_t vector_bytes, const volatile int32_t *stop, indim_parallel_fn *parallel,
                           void *parallel_user, const indim_host_convolution *sizes, void *out, const void *image,
                           const void *filter);

#endif  // INDIM_RUN_CONVOLUTION_H
