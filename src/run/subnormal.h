// Floats with subnormal numbers among them, for routines that multiply them: a multiplication that meets one takes many x86
// processors some hundred cycles.
#ifndef INDIM_RUN_SUBNORMAL_H
#define INDIM_RUN_SUBNORMAL_H

#include "indim/type.h"

// |batches| matrices of |rows| contiguous rows of |length| elements, F32 or F64; strides in elements.
typedef struct indim_rows {
  indim_type type;
  int64_t batches, rows, length;
  int64_t batch_stride, row_stride;
} indim_rows;

// Powers of two that subnormal numbers are multiplied by: products with the other side's are normal then, as long as these are not
// as small, too, and sums are not as large as the inverse.
int indim_subnormal_power(indim_type type, bool are_both);
// Whether some are subnormal, or as small as the smallest normal number, in every |sample|th row.
bool indim_has_subnormals(const indim_rows *of, const void *from, int64_t sample);
// The largest magnitude; 0 if some are subnormal or not finite.
double indim_largest_normal(const indim_rows *of, const void *from);
// Whether all are finite, with magnitudes of at least |least|.
bool indim_are_large(const indim_rows *of, const void *from, double least);
// A dense copy times 2^power; no subnormal number is met. NULL: there is no memory for it, or it is large.
void *indim_copy_scaled(const indim_rows *of, const void *from, int power);
// Times 2^-power. False: some are not finite.
bool indim_unscale(const indim_rows *of, void *at, int power);

#endif  // INDIM_RUN_SUBNORMAL_H
