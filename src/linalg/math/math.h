// LAPACK's routines as textbook algorithms, in double precision, for real and complex matrices: indim_real_potrf,
// indim_complex_potrf and so on. They are plain loops, made to be right and read, not to be fast. Matrices lie column
// by column without gaps: a[i + j * m] is row i and column j of m rows. What each routine takes, gives back and means by
// |info| is LAPACK's documentation of the routine without the type letter; where an algorithm is free to choose (signs
// and phases of vectors, the order of eigenvalues of a general matrix) the results differ from LAPACK's.
//
// Each function's outputs must not overlap its inputs unless it says that it works in place. Errors are NO_MEMORY and
// INTERRUPTED only: numerical failure is told by |info|, and every iteration is bounded.
#ifndef INDIM_LINALG_MATH_H
#define INDIM_LINALG_MATH_H

#include <complex.h>
#include <string.h>

#include "base/arena.h"

// What a routine needs of its caller: memory for scratch, which stays until the arena goes, and being stopped.
typedef struct indim_linalg_work {
  indim_ctx *cx;
  indim_arena arena;
  int64_t count;  // elements looked at since the last poll
} indim_linalg_work;

// Counts elements looked at; every so often asks whether to go on.
static inline indim_status indim_linalg_step(indim_linalg_work *w, int64_t elements) {
  enum { BETWEEN_POLLS = 1 << 16 };
  w->count += elements;
  if (w->count < BETWEEN_POLLS) {
    return INDIM_OK;
  }
  w->count = 0;
  return indim_poll(w->cx);
}

static inline double complex indim_complex_make(double re, double im) {
  double parts[2] = {re, im};
  double complex z;
  memcpy(&z, parts, sizeof z);
  return z;
}

#include "linalg/math/real.h"

#include "linalg/math/functions.h"

#include "linalg/math/complex.h"

#include "linalg/math/functions.h"

#include "linalg/math/undef.h"

// The real Schur form: a = z t z^T. |t| replaces |a|: zero below its diagonal but for 2 x 2 blocks with equal diagonals,
// one for each pair of complex eigenvalues. |wr| and |wi| are the eigenvalues in the order of the diagonal, of a pair the
// one with wi > 0 first. |info| > 0: not converged, eigenvalues info to n-1 (from 0) are there.
INDIM_CHECKED indim_status indim_real_gees(indim_linalg_work *w, int64_t n, double *a, double *z, double *wr,
                                           double *wi, int32_t *info);
// The complex one: a = z t z^H, t upper triangular with the eigenvalues on its diagonal.
INDIM_CHECKED indim_status indim_complex_gees(indim_linalg_work *w, int64_t n, double complex *a, double complex *z,
                                              double complex *values, int32_t *info);
// Eigenvalues, and where the pointers are not NULL the left (u^H a = value u^H) and right (a v = value v) eigenvectors,
// as columns of length 1 whose largest element is real. |a| is overwritten. A matrix with an element that is not finite:
// |info| is -4 and everything else NaN.
INDIM_CHECKED indim_status indim_real_geev(indim_linalg_work *w, int64_t n, double *a, double *wr, double *wi,
                                           double complex *left, double complex *right, int32_t *info);
INDIM_CHECKED indim_status indim_complex_geev(indim_linalg_work *w, int64_t n, double complex *a,
                                              double complex *values, double complex *left, double complex *right,
                                              int32_t *info);

#endif  // INDIM_LINALG_MATH_H
