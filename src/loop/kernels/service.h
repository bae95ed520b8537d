// Ops that are calls of a service of the host with whole arrays.
#ifndef INDIM_LOOP_KERNEL_SERVICE_H
#define INDIM_LOOP_KERNEL_SERVICE_H

#include "loop/kernels/kernels.h"

// How a service wants its arrays, the results and then the operands.
typedef struct indim_service_arrays {
  const indim_shape *const *layouts;  // a shape with the layout of each; NULL there, or for the list: row-major order
  bool ignores_operands;
  bool leaves_out_empty;  // those without elements
} indim_service_arrays;

// Calls |service| with the results and then the operands of |item|, each dense, as |arrays| says; NULL for all of them in
// row-major order. An operand that lies otherwise is copied before, a result afterwards. |numbers| is the service's struct.
void indim_lower_service(indim_lowering *l, indim_flow_item *item, indim_host_service service, const void *numbers,
                         const indim_service_arrays *arrays);
// Whether the layout of |shape| is row-major but for its last two dimensions: matrices column by column.
bool indim_service_is_by_columns(const indim_shape *shape);

#endif  // INDIM_LOOP_KERNEL_SERVICE_H
