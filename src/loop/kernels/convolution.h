// What the parts of convolution share.
#ifndef INDIM_LOOP_CONVOLUTION_H
#define INDIM_LOOP_CONVOLUTION_H

#include "loop/kernels/kernels.h"

// convolution_host.c: leaves the convolution to the host. Returns NULL if it did, or the reason why it does not.
const char *indim_convolution_call_host(indim_lowering *l, indim_flow_item *item);

#endif  // INDIM_LOOP_CONVOLUTION_H
