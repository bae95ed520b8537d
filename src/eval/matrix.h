// Matrices between a value, row by row in its own type, and linalg/math, column by column in double precision: double for
// floats, double complex for complex numbers, int32_t for s32.
#ifndef INDIM_EVAL_MATRIX_H
#define INDIM_EVAL_MATRIX_H

#include "eval/value.h"

// Copies the |rows| x |columns| elements of |value| from |base| on into |matrix|, or back, rounding once.
void indim_matrix_load(const indim_value *value, int64_t base, int64_t rows, int64_t columns, void *matrix);
void indim_matrix_store(const void *matrix, int64_t base, int64_t rows, int64_t columns, indim_value *value);

#endif  // INDIM_EVAL_MATRIX_H
