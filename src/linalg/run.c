// The routines of linalg.def, each on one matrix.
#include "linalg/run.h"

#include <float.h>
#include <math.h>

size_t indim_linalg_element_bytes(indim_type type) {
  return type == INDIM_S32 ? sizeof(int32_t) : indim_type_is_complex(type) ? sizeof(double complex) : sizeof(double);
}

// The routines -------------------------------------------------------------------------------------------------------

static bool is_complex(const indim_linalg_job *job) { return indim_type_is_complex(job->call->type); }
static int64_t size_of(const indim_linalg_job *job, char letter) { return indim_linalg_size(job->call, letter); }
static int64_t attr(const indim_linalg_job *job, const char *name) { return indim_linalg_attr(job->call, name); }

static int64_t element_count(const indim_linalg_array *array) { return array->sizes[0] * array->sizes[1]; }

// Results that are worked on in place begin as their operand.
static void start_with(indim_linalg_job *job, int32_t result, int32_t operand) {
  const indim_linalg_array *array = &job->call->operands[operand];
  memcpy(job->out[result], job->in[operand], (size_t)element_count(array) * indim_linalg_element_bytes(array->type));
}

#define CALL(routine, ...) (is_complex(job) ? indim_complex_##routine(__VA_ARGS__) : indim_real_##routine(__VA_ARGS__))

static indim_status run_potrf(indim_linalg_job *job) {
  start_with(job, 0, 0);
  return CALL(potrf, &job->work, attr(job, "uplo") == 'L', size_of(job, 'n'), job->out[0], job->out[1]);
}

// The right side times alpha, where there is one.
static void multiply(indim_linalg_job *job, int64_t count) {
  for (int64_t i = 0; i < count && job->call->operand_count == 3; i++) {
    if (is_complex(job)) {
      ((double complex *)job->out[0])[i] *= *(double complex *)job->in[2];
    } else {
      ((double *)job->out[0])[i] *= *(double *)job->in[2];
    }
  }
}

static indim_status run_trsm(indim_linalg_job *job) {
  int64_t m = size_of(job, 'm');
  int64_t n = size_of(job, 'n');
  start_with(job, 0, 1);
  multiply(job, m * n);
  return CALL(trsm, &job->work, attr(job, "side") == 'L', attr(job, "uplo") == 'L', (char)attr(job, "trans_x"),
              attr(job, "diag") == 'U', m, n, job->in[0], job->out[0]);
}

static indim_status run_getrf(indim_linalg_job *job) {
  start_with(job, 0, 0);
  return CALL(getrf, &job->work, size_of(job, 'm'), size_of(job, 'n'), job->out[0], job->out[1], job->out[2]);
}

static indim_status run_geqrf(indim_linalg_job *job) {
  start_with(job, 0, 0);
  return CALL(geqrf, &job->work, size_of(job, 'm'), size_of(job, 'n'), job->out[0], job->out[1]);
}

static indim_status run_geqp3(indim_linalg_job *job) {
  start_with(job, 0, 0);
  start_with(job, 1, 1);
  return CALL(geqp3, &job->work, size_of(job, 'm'), size_of(job, 'n'), job->out[0], job->out[1], job->out[2]);
}

static indim_status run_orgqr(indim_linalg_job *job) {
  start_with(job, 0, 0);
  return CALL(orgqr, &job->work, size_of(job, 'm'), size_of(job, 'n'), size_of(job, 't'), job->out[0], job->in[1]);
}

static indim_status run_ormqr(indim_linalg_job *job) {
  start_with(job, 0, 2);
  return CALL(ormqr, &job->work, attr(job, "left") != 0, attr(job, "transpose") != 0, size_of(job, 'm'),
              size_of(job, 'n'), size_of(job, 't'), job->in[0], job->in[1], job->out[0]);
}

static indim_status run_syevd(indim_linalg_job *job) {
  start_with(job, 0, 0);
  return CALL(syevd, &job->work, attr(job, "mode") == 'V', attr(job, "uplo") == 'L', size_of(job, 'n'), job->out[0],
              job->out[1], job->out[2]);
}

static indim_status run_svd(indim_linalg_job *job, int32_t info_if_not_finite) {
  bool vectors = attr(job, "mode") != 'N';
  int32_t *info = job->out[4];
  start_with(job, 0, 0);
  INDIM_TRY(CALL(svd, &job->work, size_of(job, 'm'), size_of(job, 'n'), job->in[0], job->out[1],
                 vectors ? job->out[2] : NULL, size_of(job, 'p'), vectors ? job->out[3] : NULL, size_of(job, 'q'),
                 info));
  *info = *info < 0 ? info_if_not_finite : *info;
  return INDIM_OK;
}

static indim_status run_gesdd(indim_linalg_job *job) { return run_svd(job, -4); }
static indim_status run_gesvd(indim_linalg_job *job) { return run_svd(job, 0); }

static indim_status run_real_geev(indim_linalg_job *job) {
  return indim_real_geev(&job->work, size_of(job, 'n'), job->in[0], job->out[0], job->out[1],
                         attr(job, "compute_left") == 'V' ? job->out[2] : NULL,
                         attr(job, "compute_right") == 'V' ? job->out[3] : NULL, job->out[4]);
}

static indim_status run_complex_geev(indim_linalg_job *job) {
  return indim_complex_geev(&job->work, size_of(job, 'n'), job->in[0], job->out[0],
                            attr(job, "compute_left") == 'V' ? job->out[1] : NULL,
                            attr(job, "compute_right") == 'V' ? job->out[2] : NULL, job->out[3]);
}

static indim_status run_real_gees(indim_linalg_job *job) {
  start_with(job, 0, 0);
  return indim_real_gees(&job->work, size_of(job, 'n'), job->out[0], job->out[1], job->out[2], job->out[3],
                         job->out[5]);
}

static indim_status run_complex_gees(indim_linalg_job *job) {
  start_with(job, 0, 0);
  return indim_complex_gees(&job->work, size_of(job, 'n'), job->out[0], job->out[1], job->out[2], job->out[4]);
}

static indim_status run_gehrd(indim_linalg_job *job) {
  start_with(job, 0, 0);
  return CALL(gehrd, &job->work, size_of(job, 'n'), attr(job, "low"), attr(job, "high"), job->out[0], job->out[1]);
}

static indim_status run_sytrd(indim_linalg_job *job) {
  start_with(job, 0, 0);
  return CALL(sytrd, &job->work, attr(job, "uplo") == 'L', size_of(job, 'n'), job->out[0], job->out[1], job->out[2],
              job->out[3]);
}

// The first element of dl plays no part.
static indim_status run_gtsv(indim_linalg_job *job) {
  for (int32_t i = 0; i < 4; i++) {
    start_with(job, i, i);
  }
  if (size_of(job, 'n') == 0) {
    return INDIM_OK;
  }
  size_t element = indim_linalg_element_bytes(job->call->type);
  return CALL(gtsv, &job->work, size_of(job, 'n'), size_of(job, 'r'), (void *)((char *)job->out[0] + element),
              job->out[1], job->out[2], job->out[3], job->out[4]);
}

static indim_status run_gtsv_perturbed(indim_linalg_job *job) {
  bool is_single = indim_type_bytes(job->call->type) == (is_complex(job) ? 8 : 4);
  start_with(job, 0, 3);
  return CALL(gtsv_perturbed, &job->work, size_of(job, 'n'), size_of(job, 'r'), job->in[0], job->in[1], job->in[2],
              is_single ? FLT_EPSILON : DBL_EPSILON, is_single ? FLT_MIN : DBL_MIN, job->out[0]);
}

// Row i was exchanged with row swaps[i], one of those behind it.
static indim_status run_lu_permutation(indim_linalg_job *job) {
  const int32_t *swaps = job->in[0];
  int32_t *rows = job->out[0];
  int64_t count = size_of(job, 'm');
  for (int64_t i = 0; i < count; i++) {
    rows[i] = (int32_t)i;
  }
  for (int64_t i = 0; i < size_of(job, 't') && i < count; i++) {
    int64_t other = swaps[i] > i && swaps[i] < count ? swaps[i] : i;
    int32_t row = rows[i];
    rows[i] = rows[other];
    rows[other] = row;
  }
  return INDIM_OK;
}

// cholesky --------------------------------------------------------------------------------------------------------------

// The triangle that is no part of the factor becomes 0, and everything NaN where there is no factor: not positive
// definite, or a NaN, which always reaches the diagonal.
static void finish_real(bool lower, int32_t info, int64_t n, double *a) {
  bool failed = info != 0;
  for (int64_t i = 0; i < n; i++) {
    failed = failed || isnan(a[i + i * n]);
  }
  for (int64_t i = 0; i < n * n; i++) {
    bool keep = lower ? i % n >= i / n : i % n <= i / n;
    a[i] = failed ? (double)NAN : keep ? a[i] : 0;
  }
}

static void finish_complex(bool lower, int32_t info, int64_t n, double complex *a) {
  bool failed = info != 0;
  for (int64_t i = 0; i < n; i++) {
    failed = failed || isnan(creal(a[i + i * n]));
  }
  for (int64_t i = 0; i < n * n; i++) {
    bool keep = lower ? i % n >= i / n : i % n <= i / n;
    a[i] = failed ? indim_complex_make((double)NAN, (double)NAN) : keep ? a[i] : 0;
  }
}

static indim_status run_cholesky(indim_linalg_job *job) {
  bool lower = attr(job, "lower") != 0;
  int64_t n = size_of(job, 'n');
  int32_t info = 0;
  start_with(job, 0, 0);
  INDIM_TRY(CALL(potrf, &job->work, lower, n, job->out[0], &info));
  if (is_complex(job)) {
    finish_complex(lower, info, n, job->out[0]);
  } else {
    finish_real(lower, info, n, job->out[0]);
  }
  return INDIM_OK;
}

// The table ----------------------------------------------------------------------------------------------------------

typedef indim_status run_fn(indim_linalg_job *job);

static run_fn *const routines[] = {
#define INDIM_LINALG(enumerator, routine, types, runs, operands, results, attributes) \
  [INDIM_LINALG_##enumerator] = run_##runs,
#include "linalg/linalg.def"
    [INDIM_LINALG_CHOLESKY] = run_cholesky,
};

indim_status indim_linalg_run(indim_linalg_job *job) { return routines[job->call->target->id](job); }
