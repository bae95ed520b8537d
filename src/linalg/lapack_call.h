// Calls of LAPACK's routines, each on one matrix that lies as LAPACK wants it.
#ifndef INDIM_LINALG_LAPACK_CALL_H
#define INDIM_LINALG_LAPACK_CALL_H

#include "linalg/lapack.h"

// Scratch that a routine asks for: elements, reals and ints. The first count is -1 while it is asked for.
typedef struct indim_lapack_work {
  void *elements;
  void *reals;
  void *ints;
  int32_t element_count;
  int32_t real_count;
  int32_t int_count;
} indim_lapack_work;

typedef struct indim_lapack_args {
  const indim_linalg_call *call;
  indim_lapack_symbol *function;
  bool is_flipped;  // the matrices are the transposes of the call's
  const void *in[INDIM_LINALG_MOST_ARRAYS];
  void *out[INDIM_LINALG_MOST_ARRAYS];
  indim_lapack_work work;
  void *copy;        // of operand 0, for geev, which destroys it
  void *vectors[2];  // room for n x n reals each, for real geev
} indim_lapack_args;

// Each answers LAPACK's info.
typedef int32_t indim_lapack_call_fn(indim_lapack_args *a);
#define INDIM_LAPACK(enumerator, symbol, calls, work, least, most, begins, asks, is_flippable, wants_finite) \
  indim_lapack_call_fn indim_lapack_call_##calls;
#include "linalg/lapack.def"

// Counts of reals and ints that a routine does not tell itself.
void indim_lapack_fixed_work(const indim_linalg_call *call, int64_t *out_reals, int64_t *out_ints);
// Element or part |i| of an array of f32 or f64 parts.
double indim_lapack_get(indim_type part, const void *array, int64_t i);
void indim_lapack_set(indim_type part, void *array, int64_t i, double value);
indim_type indim_lapack_part(indim_type type);  // F32 or F64

#endif  // INDIM_LINALG_LAPACK_CALL_H
