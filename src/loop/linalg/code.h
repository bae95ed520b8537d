// Linear algebra on small matrices as straight code. A matrix is a list of values, one for each element, column by column; a
// value has a lane for each matrix of the batch that is computed at once (one lane: a single matrix). So a factorization is the
// textbook's loops run by the compiler, and what is left of them is arithmetic without loops, indices or branches. Where
// matrices would go different ways (pivots, failures), all ways are computed and each lane selects its own.
#ifndef INDIM_LOOP_LINALG_CODE_H
#define INDIM_LOOP_LINALG_CODE_H

#include "linalg/linalg.h"
#include "loop/lowering/lowering.h"

// What the code of one call works on: as indim_linalg_job, but of values.
typedef struct indim_matrix_code {
  indim_lowering *l;
  indim_loop_builder *b;
  const indim_linalg_call *call;
  indim_type type;  // F32 or F64
  int32_t lanes;
  indim_value_id *in[INDIM_LINALG_MOST_ARRAYS];
  indim_value_id *out[INDIM_LINALG_MOST_ARRAYS];
} indim_matrix_code;

typedef indim_value_id value;

// Arithmetic (arith.c) -------------------------------------------------------------------------------------------------

value indim_code_real(const indim_matrix_code *c, double x);
value indim_code_s32(const indim_matrix_code *c, int32_t x);
value indim_code_false(const indim_matrix_code *c);
value indim_code_add(const indim_matrix_code *c, value x, value y);
value indim_code_sub(const indim_matrix_code *c, value x, value y);
value indim_code_mul(const indim_matrix_code *c, value x, value y);
value indim_code_div(const indim_matrix_code *c, value x, value y);
value indim_code_max(const indim_matrix_code *c, value x, value y);  // NaN from either side
value indim_code_neg(const indim_matrix_code *c, value x);
value indim_code_abs(const indim_matrix_code *c, value x);
value indim_code_sqrt(const indim_matrix_code *c, value x);
// z + x y and z - x y, fused where the target can.
value indim_code_mul_add(const indim_matrix_code *c, value x, value y, value z);
value indim_code_mul_sub(const indim_matrix_code *c, value x, value y, value z);
value indim_code_compare(const indim_matrix_code *c, indim_compare_direction direction, value x, value y);
value indim_code_and(const indim_matrix_code *c, value x, value y);
value indim_code_or(const indim_matrix_code *c, value x, value y);
value indim_code_select(const indim_matrix_code *c, value pred, value on_true, value on_false);
// Exchanges |*x| and |*y| where |pred|.
void indim_code_exchange(const indim_matrix_code *c, value pred, value *x, value *y);
// A power of two that brings |x| >= 0 into [1, 2) when it is multiplied by it, and its inverse. Both are normal numbers
// whatever |x| is.
void indim_code_scale(const indim_matrix_code *c, value x, value *out_scale, value *out_inverse);
// The largest |x[i]|; NaN if one is.
value indim_code_largest(const indim_matrix_code *c, int64_t count, const value *x);
// Whether any lane is not 0, as a scalar pred; |x| >= 0.
value indim_code_any(const indim_matrix_code *c, value x);

// Zeros, or a copy of |from|. NULL after a failure.
value *indim_code_new(const indim_matrix_code *c, int64_t count, const value *from);

static inline int64_t indim_code_size(const indim_matrix_code *c, char letter) {
  return indim_linalg_size(c->call, letter);
}
static inline int64_t indim_code_attr(const indim_matrix_code *c, const char *name) {
  return indim_linalg_attr(c->call, name);
}

// The routines ---------------------------------------------------------------------------------------------------------

// Writes the code that fills |c->out| from |c->in|. One for each row of small.def.
#define INDIM_SMALL(routine, cost, lanes, writes) void indim_code_##writes(indim_matrix_code *c);
#include "loop/linalg/small.def"

// Householder QR of the m x n matrix |a|, in place, and the first |columns| columns of q from |count| of its reflectors
// (householder.c).
void indim_code_qr(const indim_matrix_code *c, int64_t m, int64_t n, value *a, value *taus);
void indim_code_q(const indim_matrix_code *c, int64_t m, int64_t columns, int64_t count, value *a, const value *taus);

#endif  // INDIM_LOOP_LINALG_CODE_H
