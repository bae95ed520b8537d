// The host's linear algebra: LAPACK's routines on a batch of matrices.
#ifndef INDIM_LINALG_BATCH_H
#define INDIM_LINALG_BATCH_H

#include "host/host.h"

// Computes in double precision and rounds once. Returns INDIM_HOST_STOPPED when |stop| was set meanwhile, and
// INDIM_HOST_FAILED without memory. |stop| may be NULL.
int32_t indim_linalg_run_batch(const volatile int32_t *stop, const indim_host_lapack *numbers, void *const *arrays);

#endif  // INDIM_LINALG_BATCH_H
