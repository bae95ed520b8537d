// Which element types the service matmul has (struct indim_host_matmul), for who asks for it, who checks it and who computes it.
#ifndef INDIM_HOST_MATMUL_H
#define INDIM_HOST_MATMUL_H

#include <stdbool.h>

#include "indim/indim_host.h"

static inline int64_t indim_matmul_lhs_type(const indim_host_matmul *p) {
  return p->lhs_type == 0 ? p->type : p->lhs_type;
}
static inline int64_t indim_matmul_rhs_type(const indim_host_matmul *p) {
  return p->rhs_type == 0 ? p->type : p->rhs_type;
}

static inline bool indim_matmul_is_small_int(int64_t type) {
  return type == INDIM_HOST_S8 || type == INDIM_HOST_U8 || type == INDIM_HOST_S16;
}

// Whether there is a product of |lhs| and |rhs| with sums of |type|.
static inline bool indim_matmul_takes(int64_t type, int64_t lhs, int64_t rhs) {
  return ((type == INDIM_HOST_F32 || type == INDIM_HOST_F64) && lhs == type && rhs == type) ||
         (type == INDIM_HOST_F32 && lhs == INDIM_HOST_BF16 && rhs == INDIM_HOST_BF16) ||
         (type == INDIM_HOST_S32 && indim_matmul_is_small_int(lhs) && indim_matmul_is_small_int(rhs));
}

// Whether the right operand is the transpose of the left one if both start at the same address.
static inline bool indim_matmul_is_own_transpose(const indim_host_matmul *p) {
  return p->m == p->n && p->lhs_m == p->rhs_n && p->lhs_k == p->rhs_k &&
         (p->batch <= 1 || p->lhs_batch == p->rhs_batch) && indim_matmul_lhs_type(p) == indim_matmul_rhs_type(p);
}

#endif  // INDIM_HOST_MATMUL_H
