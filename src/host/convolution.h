// Which element types the service convolution has (struct indim_host_convolution), for who asks for it, who checks it and who
// computes it.
#ifndef INDIM_HOST_CONVOLUTION_H
#define INDIM_HOST_CONVOLUTION_H

#include "host/matmul.h"

static inline int64_t indim_convolution_image_type(const indim_host_convolution *p) {
  return p->image_type == 0 ? p->type : p->image_type;
}
static inline int64_t indim_convolution_filter_type(const indim_host_convolution *p) {
  return p->filter_type == 0 ? p->type : p->filter_type;
}

// Those of a product.
static inline bool indim_convolution_takes(int64_t type, int64_t image, int64_t filter) {
  return indim_matmul_takes(type, image, filter);
}

#endif  // INDIM_HOST_CONVOLUTION_H
