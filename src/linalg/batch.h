// Linear algebra on a batch of matrices.
#ifndef INDIM_LINALG_BATCH_H
#define INDIM_LINALG_BATCH_H

#include "host/host.h"
#include "linalg/linalg.h"

// Computes in double precision and rounds once. |arrays|: the results, then the operands, dense, the batch first. Results
// may not share memory with operands.
INDIM_CHECKED indim_status indim_linalg_run_call(indim_ctx *cx, const indim_linalg_call *call, void *const *arrays);

// The same as the host's service: what compiled code says of a call, and the service, which returns INDIM_HOST_STOPPED
// when |stop| was set meanwhile, and INDIM_HOST_FAILED without memory. |stop| may be NULL.
void indim_linalg_to_host(const indim_linalg_call *call, indim_host_lapack *out);
int32_t indim_linalg_run_batch(const volatile int32_t *stop, const indim_host_lapack *numbers, void *const *arrays);

#endif  // INDIM_LINALG_BATCH_H
