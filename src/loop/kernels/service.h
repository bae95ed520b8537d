// Ops that are calls of a service of the host with whole arrays.
#ifndef INDIM_LOOP_KERNEL_SERVICE_H
#define INDIM_LOOP_KERNEL_SERVICE_H

#include "loop/kernels/kernels.h"

// Calls |service| with the results and then the operands of |item|, each dense in the layout of its shape, or in row-major
// order if |is_row_major|. An operand that lies otherwise is copied before, a result afterwards. |numbers| is the service's
// struct.
void indim_lower_service(indim_lowering *l, indim_flow_item *item, indim_host_service service, const void *numbers,
                         bool is_row_major);

// linalg.c: why it does not take the item; NULL if it does.
const char *indim_linalg_refuses(const indim_flow_item *item);

#endif  // INDIM_LOOP_KERNEL_SERVICE_H
