// The host's sorts of lines by plain keys: numbers in their total order, up or down, the first key deciding first. Stable.
#ifndef INDIM_RUN_SORT_H
#define INDIM_RUN_SORT_H

#include "indim/execute.h"
#include "indim/indim_host.h"

// Where and how it runs.
typedef struct indim_sort_context {
  indim_parallel_fn *parallel;  // NULL: sequentially
  void *parallel_user;
  const volatile int32_t *stop;  // NULL: never
} indim_sort_context;

// Sorts as struct indim_host_sort says. Allocates nothing. Returns INDIM_HOST_STOPPED when |stop| was set meanwhile, and
// INDIM_HOST_FAILED for senseless numbers.
int32_t indim_sort_run(const indim_sort_context *context, const indim_host_sort *numbers, void *const *arrays);

#endif  // INDIM_RUN_SORT_H
