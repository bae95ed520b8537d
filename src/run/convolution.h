// The host's convolution (indim_host.h).
#ifndef INDIM_RUN_CONVOLUTION_H
#define INDIM_RUN_CONVOLUTION_H

#include "indim/execute.h"
#include "indim/indim_host.h"

// Computes the convolution, split into blocks by its sizes alone and distributed by |parallel| (NULL: sequentially), so that
// the result is the same for any number of threads. |stop|: where it is not 0 blocks that have not begun are left out; NULL:
// never. |vector_bytes|: of the vectors at most, 0: the widest that the processor
// has. Allocates copies of sides with subnormal numbers, if there is memory
// for them, and nothing else. False for invalid sizes: a type other than F32 and F64, a negative size, or a number of 2^31 or
// more other than a stride in memory.
bool indim_convolution_run(int32_t vector_bytes, const volatile int32_t *stop, indim_parallel_fn *parallel,
                           void *parallel_user, const indim_host_convolution *sizes, void *out, const void *image,
                           const void *filter);

// convolution_subnormal.c: a convolution of copies without subnormal numbers, times 2^power.
typedef struct indim_convolution_scaled {
  const void *image, *filter;
  void *copies[2];
  int power;
} indim_convolution_scaled;

// False, and nothing to be freed, if there are no subnormal numbers, or none that are slow, or no memory for copies. None of the
// output's sizes is 0.
bool indim_convolution_scale(indim_convolution_scaled *scaled, const indim_host_convolution *sizes, const void *image,
                             const void *filter);
// False if a sum is not finite: the convolution has to be computed from the arrays themselves.
bool indim_convolution_unscale(const indim_convolution_scaled *scaled, const indim_host_convolution *sizes, void *out);
void indim_convolution_scaled_free(indim_convolution_scaled *scaled);

#endif  // INDIM_RUN_CONVOLUTION_H
