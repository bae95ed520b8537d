// Linear algebra as a service of the host's.
#ifndef INDIM_LINALG_SERVICE_H
#define INDIM_LINALG_SERVICE_H

#include "linalg/batch.h"
#include "linalg/lapack.h"

// Large matrices by the library, if there is one, the others by math/. A batch is distributed by its sizes alone, so that
// the result is the same for any number of threads. Returns INDIM_HOST_STOPPED when the run is to stop, and
// INDIM_HOST_FAILED without memory.
int32_t indim_linalg_serve(const indim_host_lapack_run *run, const indim_host_lapack *numbers, void *const *arrays);

// Whether a library would do this better.
bool indim_linalg_wants_library(const indim_host_lapack *numbers);

#endif  // INDIM_LINALG_SERVICE_H
