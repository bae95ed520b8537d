// LAPACK's routines on a batch, one matrix after another: each is brought into double precision, column by column, and
// what comes out is rounded once to the type of the result.
#include "linalg/batch.h"

#include "linalg/run.h"

// One element -----------------------------------------------------------------------------------------------------------

static void load(indim_type type, const void *from, int64_t i, void *to, int64_t at) {
  if (type == INDIM_S32) {
    ((int32_t *)to)[at] = ((const int32_t *)from)[i];
  } else if (type == INDIM_F32) {
    ((double *)to)[at] = (double)((const float *)from)[i];
  } else if (type == INDIM_F64) {
    ((double *)to)[at] = ((const double *)from)[i];
  } else if (type == INDIM_C64) {
    const float *parts = (const float *)from + 2 * i;
    ((double complex *)to)[at] = indim_complex_make((double)parts[0], (double)parts[1]);
  } else {
    const double *parts = (const double *)from + 2 * i;
    ((double complex *)to)[at] = indim_complex_make(parts[0], parts[1]);
  }
}

static void store(indim_type type, const void *from, int64_t at, void *to, int64_t i) {
  if (type == INDIM_S32) {
    ((int32_t *)to)[i] = ((const int32_t *)from)[at];
  } else if (type == INDIM_F32) {
    ((float *)to)[i] = (float)((const double *)from)[at];
  } else if (type == INDIM_F64) {
    ((double *)to)[i] = ((const double *)from)[at];
  } else if (type == INDIM_C64) {
    double complex z = ((const double complex *)from)[at];
    ((float *)to)[2 * i] = (float)creal(z);
    ((float *)to)[2 * i + 1] = (float)cimag(z);
  } else {
    double complex z = ((const double complex *)from)[at];
    ((double *)to)[2 * i] = creal(z);
    ((double *)to)[2 * i + 1] = cimag(z);
  }
}

// One matrix ------------------------------------------------------------------------------------------------------------

static int64_t base_of(const indim_host_lapack_array *a, int64_t number) {
  return a->is_batched != 0 ? number * a->rows * a->columns : 0;
}

static size_t array_bytes(const indim_host_lapack_array *a) {
  return (size_t)(a->rows * a->columns + 1) * indim_linalg_element_bytes((indim_type)a->type);
}

// Room for one matrix of each array, which all matrices of the batch share.
static indim_status new_arrays(indim_arena *arena, const indim_host_lapack *p, indim_linalg_job *job) {
  for (int64_t i = 0; i < p->result_count + p->operand_count; i++) {
    void **out = i < p->result_count ? &job->out[i] : &job->in[i - p->result_count];
    INDIM_TRY(indim_arena_alloc(arena, array_bytes(&p->arrays[i]), out));
  }
  return INDIM_OK;
}

static void load_operand(const indim_host_lapack_array *a, int64_t number, const void *from, void *to) {
  for (int64_t i = 0; i < a->rows * a->columns; i++) {
    load((indim_type)a->type, from, base_of(a, number) + i, to, i / a->columns + i % a->columns * a->rows);
  }
}

static indim_status compute(indim_linalg_job *job, const indim_host_lapack *p) {
  if (p->routine < INDIM_LINALG_COUNT) {
    return indim_linalg_run(job);
  }
  int64_t n = p->arrays[0].rows;
  bool is_complex = indim_type_is_complex((indim_type)p->type);
  memcpy(job->out[0], job->in[0], (size_t)(n * n) * indim_linalg_element_bytes((indim_type)p->type));
  return indim_linalg_cholesky(&job->work, is_complex, p->attrs[0] != 0, n, job->out[0]);
}

static indim_status run_matrix(indim_linalg_job *job, const indim_host_lapack *p, int64_t number, void *const *arrays) {
  for (int64_t i = 0; i < p->operand_count; i++) {
    load_operand(&p->arrays[p->result_count + i], number, arrays[p->result_count + i], job->in[i]);
  }
  for (int64_t i = 0; i < p->result_count; i++) {
    memset(job->out[i], 0, array_bytes(&p->arrays[i]));
  }
  INDIM_TRY(compute(job, p));
  for (int64_t i = 0; i < p->result_count; i++) {
    const indim_host_lapack_array *a = &p->arrays[i];
    for (int64_t k = 0; k < a->rows * a->columns; k++) {
      store((indim_type)a->type, job->out[i], k / a->columns + k % a->columns * a->rows, arrays[i],
            base_of(a, number) + k);
    }
  }
  return indim_linalg_step(&job->work, 64);
}

// The batch -------------------------------------------------------------------------------------------------------------

static void describe(const indim_host_lapack_array *from, int64_t count, indim_linalg_array *to) {
  for (int64_t i = 0; i < count; i++) {
    to[i] = (indim_linalg_array){.type = (indim_type)from[i].type,
                                 .is_batched = from[i].is_batched != 0,
                                 .rank = 2,
                                 .sizes = {from[i].rows, from[i].columns}};
  }
}

static indim_status run_batch(indim_ctx *cx, const indim_host_lapack *p, void *const *arrays) {
  indim_linalg_call call = {.type = (indim_type)p->type,
                            .batch = p->batch,
                            .operand_count = (int32_t)p->operand_count,
                            .result_count = (int32_t)p->result_count};
  call.target = p->routine < INDIM_LINALG_COUNT ? indim_linalg_target_of((indim_linalg_id)p->routine) : NULL;
  describe(p->arrays, p->result_count, call.results);
  describe(p->arrays + p->result_count, p->operand_count, call.operands);
  memcpy(call.sizes, p->sizes, sizeof call.sizes);
  memcpy(call.attrs, p->attrs, sizeof call.attrs);
  indim_linalg_job job = {.work = {.cx = cx}, .call = &call};
  indim_arena arena;
  indim_arena_init(&arena, cx);
  indim_status status = new_arrays(&arena, p, &job);
  for (int64_t number = 0; number < p->batch && status == INDIM_OK; number++) {
    indim_arena_init(&job.work.arena, cx);  // scratch of the routine
    status = run_matrix(&job, p, number, arrays);
    indim_arena_deinit(&job.work.arena);
  }
  indim_arena_deinit(&arena);
  return status;
}

static bool is_stopped(void *user) {
  const volatile int32_t *stop = *(const volatile int32_t *const *)user;
  return stop != NULL && *stop != 0;
}

int32_t indim_linalg_run_batch(const volatile int32_t *stop, const indim_host_lapack *numbers, void *const *arrays) {
  indim_ctx *cx = NULL;  // of this call alone: the caller's serves one thread
  if (indim_ctx_create(NULL, &cx) != INDIM_OK) {
    return INDIM_HOST_FAILED;
  }
  indim_ctx_set_interrupt(cx, is_stopped, &stop);
  indim_status status = run_batch(cx, numbers, arrays);
  indim_ctx_destroy(cx);
  return status == INDIM_OK ? INDIM_HOST_OK : status == INDIM_INTERRUPTED ? INDIM_HOST_STOPPED : INDIM_HOST_FAILED;
}
