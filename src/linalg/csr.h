// JAX's product of a sparse matrix, its rows compressed (jax.experimental.sparse.BCSR), with a vector or a matrix: the custom call
// cpu_csr_sparse_dense_ffi.
//
//   operands: data T[e], starts I[r+1], columns I[e], y T[c] or T[c,n]. I is s32 or s64; T s32, s64, f32, f64, c64 or c128.
//   result:   T[r] or T[r,n]: out[i] = sum over k from starts[i] to before starts[i+1] of data[k] * y[columns[k]]
//
// Starts beyond the elements, and columns beyond y's rows, are taken as the nearest there is.
#ifndef INDIM_LINALG_CSR_H
#define INDIM_LINALG_CSR_H

#include "graph/module.h"

bool indim_is_csr_product(const indim_instr *instr);
// INDIM_INVALID with what is wrong and what is expected; UNSUPPORTED for dynamic dimensions.
INDIM_CHECKED indim_status indim_csr_verify(indim_ctx *cx, const indim_instr *instr);

#endif  // INDIM_LINALG_CSR_H
