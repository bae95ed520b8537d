// Ops that are calls of a service of the host with whole arrays.
#ifndef INDIM_LOOP_KERNEL_SERVICE_H
#define INDIM_LOOP_KERNEL_SERVICE_H

#include "loop/kernels/kernels.h"

// Calls |service| with the results and then the operands of |item|, each dense in row-major order; those whose bits are set in
// |by_columns|, whose shapes must say so, with the last two dimensions the other way round. An operand that lies otherwise is
// copied before, a result afterwards. |numbers| is the service's struct.
void indim_lower_service(indim_lowering *l, indim_flow_item *item, indim_host_service service, const void *numbers,
                         uint64_t by_columns);
// Whether the layout of |shape| is row-major but for its last two dimensions: matrices column by column.
bool indim_service_is_by_columns(const indim_shape *shape);

#endif  // INDIM_LOOP_KERNEL_SERVICE_H
