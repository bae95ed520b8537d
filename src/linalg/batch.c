// Linear algebra on a batch, one matrix after another: each is brought into double precision, column by column, and what
// comes out is rounded once to the type of the result. f32 and c64 thus see less rounding than LAPACK's own routines give
// them.
#include "linalg/batch.h"

#include "array/element.h"
#include "array/float_format.h"
#include "linalg/run.h"

// One element -----------------------------------------------------------------------------------------------------------

static double load_real(indim_type type, const void *from, int64_t i) {
  if (type == INDIM_F32) {
    return (double)((const float *)from)[i];
  }
  if (type == INDIM_F64) {
    return ((const double *)from)[i];
  }
  return indim_float_decode(type, indim_element_load(type, 8 * (int64_t)indim_type_bytes(type), from, i).bits);
}

static void store_real(indim_type type, double x, void *to, int64_t i) {
  if (type == INDIM_F32) {
    ((float *)to)[i] = (float)x;
  } else if (type == INDIM_F64) {
    ((double *)to)[i] = x;
  } else {
    indim_element element = {.bits = indim_float_encode(type, x)};
    indim_element_store(type, 8 * (int64_t)indim_type_bytes(type), to, i, element);
  }
}

// Element |i| of an array becomes element |at| of a matrix, or back.
static void load(indim_type type, const void *from, int64_t i, void *to, int64_t at) {
  if (type == INDIM_S32) {
    ((int32_t *)to)[at] = ((const int32_t *)from)[i];
  } else if (indim_type_is_complex(type)) {
    indim_type part = indim_type_component_of(type);
    ((double complex *)to)[at] = indim_complex_make(load_real(part, from, 2 * i), load_real(part, from, 2 * i + 1));
  } else {
    ((double *)to)[at] = load_real(type, from, i);
  }
}

static void store(indim_type type, const void *from, int64_t at, void *to, int64_t i) {
  if (type == INDIM_S32) {
    ((int32_t *)to)[i] = ((const int32_t *)from)[at];
  } else if (indim_type_is_complex(type)) {
    indim_type part = indim_type_component_of(type);
    double complex z = ((const double complex *)from)[at];
    store_real(part, creal(z), to, 2 * i);
    store_real(part, cimag(z), to, 2 * i + 1);
  } else {
    store_real(type, ((const double *)from)[at], to, i);
  }
}

// One matrix ------------------------------------------------------------------------------------------------------------

static int64_t count_of(const indim_linalg_array *a) { return a->sizes[0] * a->sizes[1]; }

static size_t bytes_of(const indim_linalg_array *a) {
  return (size_t)(count_of(a) + 1) * indim_linalg_element_bytes(a->type);
}

// Where element |i| of a matrix, column by column, is in an array whose matrices begin at |base|.
static int64_t place_of(const indim_linalg_array *a, int64_t base, int64_t i) {
  return base + (a->by_columns ? i : i / a->sizes[0] + i % a->sizes[0] * a->sizes[1]);
}

static void load_operand(const indim_linalg_array *a, int64_t number, const void *from, void *to) {
  int64_t base = a->is_batched ? number * count_of(a) : 0;
  for (int64_t i = 0; i < count_of(a); i++) {
    load(a->type, from, place_of(a, base, i), to, i);
  }
}

static void store_result(const indim_linalg_array *a, int64_t number, const void *from, void *to) {
  for (int64_t i = 0; i < count_of(a); i++) {
    store(a->type, from, i, to, place_of(a, number * count_of(a), i));
  }
}

static indim_status run_matrix(indim_linalg_job *job, int64_t number, void *const *arrays) {
  const indim_linalg_call *call = job->call;
  for (int32_t i = 0; i < call->operand_count; i++) {
    load_operand(&call->operands[i], number, arrays[call->result_count + i], job->in[i]);
  }
  for (int32_t i = 0; i < call->result_count; i++) {
    memset(job->out[i], 0, bytes_of(&call->results[i]));
  }
  INDIM_TRY(indim_linalg_run(job));
  for (int32_t i = 0; i < call->result_count; i++) {
    store_result(&call->results[i], number, job->out[i], arrays[i]);
  }
  return indim_linalg_step(&job->work, 64);
}

// The batch -------------------------------------------------------------------------------------------------------------

// Room for one matrix of each array, which all matrices of the batch share.
static indim_status new_arrays(indim_arena *arena, indim_linalg_job *job) {
  const indim_linalg_call *call = job->call;
  for (int32_t i = 0; i < call->operand_count; i++) {
    INDIM_TRY(indim_arena_alloc(arena, bytes_of(&call->operands[i]), &job->in[i]));
  }
  for (int32_t i = 0; i < call->result_count; i++) {
    INDIM_TRY(indim_arena_alloc(arena, bytes_of(&call->results[i]), &job->out[i]));
  }
  return INDIM_OK;
}

indim_status indim_linalg_run_some(indim_ctx *cx, const indim_linalg_call *call, int64_t begin, int64_t end,
                                   void *const *arrays) {
  indim_linalg_job job = {.work = {.cx = cx}, .call = call};
  indim_arena arena;
  indim_arena_init(&arena, cx);
  indim_status status = new_arrays(&arena, &job);
  for (int64_t number = begin; number < end && status == INDIM_OK; number++) {
    indim_arena_init(&job.work.arena, cx);  // scratch of the routine
    status = run_matrix(&job, number, arrays);
    indim_arena_deinit(&job.work.arena);
  }
  indim_arena_deinit(&arena);
  return status;
}

indim_status indim_linalg_run_call(indim_ctx *cx, const indim_linalg_call *call, void *const *arrays) {
  return indim_linalg_run_some(cx, call, 0, call->batch, arrays);
}

// The host's service ----------------------------------------------------------------------------------------------------

static indim_host_lapack_array to_host(const indim_linalg_array *a) {
  return (indim_host_lapack_array){.type = a->type,
                                   .is_batched = a->is_batched,
                                   .by_columns = a->by_columns,
                                   .rows = a->sizes[0],
                                   .columns = a->sizes[1]};
}

void indim_linalg_to_host(const indim_linalg_call *call, indim_host_lapack *out) {
  *out = (indim_host_lapack){.routine = call->target->id,
                             .type = call->type,
                             .batch = call->batch,
                             .result_count = call->result_count,
                             .operand_count = call->operand_count};
  for (int32_t i = 0; i < call->result_count; i++) {
    out->arrays[i] = to_host(&call->results[i]);
  }
  for (int32_t i = 0; i < call->operand_count; i++) {
    out->arrays[call->result_count + i] = to_host(&call->operands[i]);
  }
  memcpy(out->sizes, call->sizes, sizeof out->sizes);
  memcpy(out->attrs, call->attrs, sizeof out->attrs);
}

static indim_linalg_array from_host(const indim_host_lapack_array *a) {
  return (indim_linalg_array){.type = (indim_type)a->type,
                              .is_batched = a->is_batched != 0,
                              .by_columns = a->by_columns != 0,
                              .rank = 2,
                              .sizes = {a->rows, a->columns}};
}

indim_linalg_call indim_linalg_from_host(const indim_host_lapack *p) {
  indim_linalg_call call = {.target = indim_linalg_target_of((indim_linalg_id)p->routine),
                            .type = (indim_type)p->type,
                            .batch = p->batch,
                            .operand_count = (int32_t)p->operand_count,
                            .result_count = (int32_t)p->result_count};
  for (int32_t i = 0; i < call.result_count; i++) {
    call.results[i] = from_host(&p->arrays[i]);
  }
  for (int32_t i = 0; i < call.operand_count; i++) {
    call.operands[i] = from_host(&p->arrays[call.result_count + i]);
  }
  memcpy(call.sizes, p->sizes, sizeof call.sizes);
  memcpy(call.attrs, p->attrs, sizeof call.attrs);
  return call;
}
