// What the parts of convolution share.
#ifndef INDIM_LOOP_CONVOLUTION_H
#define INDIM_LOOP_CONVOLUTION_H

#include "loop/kernels/kernels.h"

// convolution_host.c: leaves the convolution to the host. Returns NULL if it did, or the reason why it does not.
const char *indim_convolution_call_host(indim_lowering *l, indim_flow_item *item);

// The shape of an array of |type| that lies with dimension |last| contiguous, |before| (-1: none) next, and the others in their
// order.
indim_shape indim_convolution_laid_out(const indim_shape *shape, indim_type type, int64_t last, int64_t before);

#endif  // INDIM_LOOP_CONVOLUTION_H
