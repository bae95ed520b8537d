// Running LAPACK's routines on one matrix of a call after another, through linalg/math.
#ifndef INDIM_LINALG_RUN_H
#define INDIM_LINALG_RUN_H

#include "linalg/linalg.h"
#include "linalg/math/math.h"

// One matrix of a call, or several vectors: operands and results as double, double complex or int32_t, matrices column by
// column. Results are zero before, and have room for one element more.
typedef struct indim_linalg_job {
  indim_linalg_work work;
  const indim_linalg_call *call;
  void *in[INDIM_LINALG_MOST_ARRAYS];
  void *out[INDIM_LINALG_MOST_ARRAYS];
} indim_linalg_job;

// Bytes of an element of |type| in a job.
size_t indim_linalg_element_bytes(indim_type type);
INDIM_CHECKED indim_status indim_linalg_run(indim_linalg_job *job);

#endif  // INDIM_LINALG_RUN_H
