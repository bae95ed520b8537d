// Large matrices by the routines of a LAPACK library (OpenBLAS has them), in the element type of the call. Routines are
// looked up by name and called by the Fortran ABI: everything by reference, matrices column by column, and behind the
// arguments the length of each text. What is small, what the library lacks and what it cannot be trusted with is left to
// the caller, who has math/.
#ifndef INDIM_LINALG_LAPACK_H
#define INDIM_LINALG_LAPACK_H

#include "linalg/linalg.h"

typedef void indim_lapack_symbol(void);
typedef indim_lapack_symbol *indim_lapack_lookup(void *library, const char *name);

// A library's routines by their type letters s, d, c, z; NULL for those that it lacks.
typedef struct indim_lapack {
  indim_lapack_symbol *routines[INDIM_LINALG_COUNT][4];
} indim_lapack;

void indim_lapack_find(indim_lapack_lookup *lookup, void *library, indim_lapack *out);

// Whether a library would compute the call's matrices faster than math/; lapack.def has the thresholds.
bool indim_lapack_wants(const indim_linalg_call *call);

// What the matrices of a batch share: the routine and its scratch.
typedef struct indim_lapack_job indim_lapack_job;

// |*out_job| is NULL if the library, which may be NULL, lacks the routine or is not wanted.
INDIM_CHECKED indim_status indim_lapack_begin(indim_ctx *cx, const indim_lapack *lapack, const indim_linalg_call *call,
                                              indim_lapack_job **out_job);
// Computes a matrix of the batch; |arrays| are the results, then the operands. |*out_done| is false if nothing was
// computed, because the matrix has elements that are not finite and the routine does not stand that.
INDIM_CHECKED indim_status indim_lapack_run(indim_lapack_job *job, int64_t number, void *const *arrays, bool *out_done);
void indim_lapack_end(indim_lapack_job *job);  // NULL allowed

#endif  // INDIM_LINALG_LAPACK_H
