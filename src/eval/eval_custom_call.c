// custom-call: who runs a target is decided in one place, find_target. So far these are LAPACK's routines: each matrix of
// the batch is copied column by column, in double precision, runs through linalg/math, and is rounded once to the type
// of the result. f32 and c64 thus see less rounding than LAPACK's own routines give them.
#include "eval/evaluator.h"
#include "eval/matrix.h"
#include "linalg/linalg.h"
#include "linalg/math/math.h"

// One matrix of a call, or several vectors: operands and results as double, double complex or int32_t, matrices column by
// column. Results are zero before.
typedef struct matrix_job {
  indim_linalg_work work;
  const indim_linalg_call *call;
  void *in[INDIM_LINALG_MOST_ARRAYS];
  void *out[INDIM_LINALG_MOST_ARRAYS];
} matrix_job;

typedef indim_status run_fn(matrix_job *job);

// The routines -------------------------------------------------------------------------------------------------------

static bool is_complex(const matrix_job *job) { return indim_type_is_complex(job->call->type); }
static int64_t size_of(const matrix_job *job, char letter) { return indim_linalg_size(job->call, letter); }
static int64_t attr(const matrix_job *job, const char *name) { return indim_linalg_attr(job->call, name); }

static int64_t element_count(const indim_linalg_array *array) { return array->sizes[0] * array->sizes[1]; }

// Results that are worked on in place begin as their operand.
static void start_with(matrix_job *job, int32_t result, int32_t operand) {
  const indim_linalg_array *array = &job->call->operands[operand];
  memcpy(job->out[result], job->in[operand], (size_t)element_count(array) * indim_matrix_element_bytes(array->type));
}

#define CALL(routine, ...) (is_complex(job) ? indim_complex_##routine(__VA_ARGS__) : indim_real_##routine(__VA_ARGS__))

static indim_status run_potrf(matrix_job *job) {
  start_with(job, 0, 0);
  return CALL(potrf, &job->work, attr(job, "uplo") == 'L', size_of(job, 'n'), job->out[0], job->out[1]);
}

// The right side times alpha, where there is one.
static void multiply(matrix_job *job, int64_t count) {
  for (int64_t i = 0; i < count && job->call->operand_count == 3; i++) {
    if (is_complex(job)) {
      ((double complex *)job->out[0])[i] *= *(double complex *)job->in[2];
    } else {
      ((double *)job->out[0])[i] *= *(double *)job->in[2];
    }
  }
}

static indim_status run_trsm(matrix_job *job) {
  int64_t m = size_of(job, 'm');
  int64_t n = size_of(job, 'n');
  start_with(job, 0, 1);
  multiply(job, m * n);
  return CALL(trsm, &job->work, attr(job, "side") == 'L', attr(job, "uplo") == 'L', (char)attr(job, "trans_x"),
              attr(job, "diag") == 'U', m, n, job->in[0], job->out[0]);
}

static indim_status run_getrf(matrix_job *job) {
  start_with(job, 0, 0);
  return CALL(getrf, &job->work, size_of(job, 'm'), size_of(job, 'n'), job->out[0], job->out[1], job->out[2]);
}

static indim_status run_geqrf(matrix_job *job) {
  start_with(job, 0, 0);
  return CALL(geqrf, &job->work, size_of(job, 'm'), size_of(job, 'n'), job->out[0], job->out[1]);
}

static indim_status run_geqp3(matrix_job *job) {
  start_with(job, 0, 0);
  start_with(job, 1, 1);
  return CALL(geqp3, &job->work, size_of(job, 'm'), size_of(job, 'n'), job->out[0], job->out[1], job->out[2]);
}

static indim_status run_orgqr(matrix_job *job) {
  start_with(job, 0, 0);
  return CALL(orgqr, &job->work, size_of(job, 'm'), size_of(job, 'n'), size_of(job, 't'), job->out[0], job->in[1]);
}

static indim_status run_ormqr(matrix_job *job) {
  start_with(job, 0, 2);
  return CALL(ormqr, &job->work, attr(job, "left") != 0, attr(job, "transpose") != 0, size_of(job, 'm'),
              size_of(job, 'n'), size_of(job, 't'), job->in[0], job->in[1], job->out[0]);
}

static indim_status run_syevd(matrix_job *job) {
  start_with(job, 0, 0);
  return CALL(syevd, &job->work, attr(job, "mode") == 'V', attr(job, "uplo") == 'L', size_of(job, 'n'), job->out[0],
              job->out[1], job->out[2]);
}

static indim_status run_svd(matrix_job *job, int32_t info_if_not_finite) {
  bool vectors = attr(job, "mode") != 'N';
  int32_t *info = job->out[4];
  start_with(job, 0, 0);
  INDIM_TRY(CALL(svd, &job->work, size_of(job, 'm'), size_of(job, 'n'), job->in[0], job->out[1],
                 vectors ? job->out[2] : NULL, size_of(job, 'p'), vectors ? job->out[3] : NULL, size_of(job, 'q'),
                 info));
  *info = *info < 0 ? info_if_not_finite : *info;
  return INDIM_OK;
}

static indim_status run_gesdd(matrix_job *job) { return run_svd(job, -4); }
static indim_status run_gesvd(matrix_job *job) { return run_svd(job, 0); }

static indim_status run_real_geev(matrix_job *job) {
  return indim_real_geev(&job->work, size_of(job, 'n'), job->in[0], job->out[0], job->out[1],
                         attr(job, "compute_left") == 'V' ? job->out[2] : NULL,
                         attr(job, "compute_right") == 'V' ? job->out[3] : NULL, job->out[4]);
}

static indim_status run_complex_geev(matrix_job *job) {
  return indim_complex_geev(&job->work, size_of(job, 'n'), job->in[0], job->out[0],
                            attr(job, "compute_left") == 'V' ? job->out[1] : NULL,
                            attr(job, "compute_right") == 'V' ? job->out[2] : NULL, job->out[3]);
}

static indim_status run_real_gees(matrix_job *job) {
  start_with(job, 0, 0);
  return indim_real_gees(&job->work, size_of(job, 'n'), job->out[0], job->out[1], job->out[2], job->out[3],
                         job->out[5]);
}

static indim_status run_complex_gees(matrix_job *job) {
  start_with(job, 0, 0);
  return indim_complex_gees(&job->work, size_of(job, 'n'), job->out[0], job->out[1], job->out[2], job->out[4]);
}

static indim_status run_gehrd(matrix_job *job) {
  start_with(job, 0, 0);
  return CALL(gehrd, &job->work, size_of(job, 'n'), attr(job, "low"), attr(job, "high"), job->out[0], job->out[1]);
}

static indim_status run_sytrd(matrix_job *job) {
  start_with(job, 0, 0);
  return CALL(sytrd, &job->work, attr(job, "uplo") == 'L', size_of(job, 'n'), job->out[0], job->out[1], job->out[2],
              job->out[3]);
}

// The first element of dl plays no part.
static indim_status run_gtsv(matrix_job *job) {
  for (int32_t i = 0; i < 4; i++) {
    start_with(job, i, i);
  }
  if (size_of(job, 'n') == 0) {
    return INDIM_OK;
  }
  size_t element = indim_matrix_element_bytes(job->call->type);
  return CALL(gtsv, &job->work, size_of(job, 'n'), size_of(job, 'r'), (void *)((char *)job->out[0] + element),
              job->out[1], job->out[2], job->out[3], job->out[4]);
}

static run_fn *const routines[] = {
#define INDIM_LINALG(enumerator, routine, types, runs, operands, results, attributes) \
  [INDIM_LINALG_##enumerator] = run_##runs,
#include "linalg/linalg.def"
};

// Matrices -----------------------------------------------------------------------------------------------------------

static indim_status new_array(indim_arena *arena, const indim_linalg_array *array, void **out) {
  // One element more: some routines get a pointer behind the first.
  return indim_arena_array(arena, (size_t)element_count(array) + 1, indim_matrix_element_bytes(array->type), out);
}

// Where matrix |number| of an array begins in its value.
static int64_t base_of(const indim_linalg_array *array, int64_t number) {
  return array->is_batched ? number * element_count(array) : 0;
}

// Matrix |number| of the batch.
static indim_status run_matrix(indim_evaluator *e, matrix_job *job, int64_t number, indim_value **operands,
                               indim_value **results) {
  const indim_linalg_call *call = job->call;
  int64_t elements = 1;
  for (int32_t i = 0; i < call->operand_count; i++) {
    const indim_linalg_array *array = &call->operands[i];
    INDIM_TRY(new_array(&job->work.arena, array, &job->in[i]));
    indim_matrix_load(operands[i], base_of(array, number), array->sizes[0], array->sizes[1], job->in[i]);
    elements += element_count(array);
  }
  for (int32_t i = 0; i < call->result_count; i++) {
    INDIM_TRY(new_array(&job->work.arena, &call->results[i], &job->out[i]));
  }
  INDIM_TRY(indim_eval_work(e, elements));
  INDIM_TRY(routines[call->target->id](job));
  for (int32_t i = 0; i < call->result_count; i++) {
    const indim_linalg_array *array = &call->results[i];
    indim_matrix_store(job->out[i], base_of(array, number), array->sizes[0], array->sizes[1], results[i]);
  }
  return INDIM_OK;
}

static indim_status run_batch(indim_evaluator *e, const indim_linalg_call *call, indim_value **operands,
                              indim_value **results) {
  bool any = false;
  for (int32_t i = 0; i < call->result_count; i++) {
    any = any || results[i]->count > 0;
  }
  for (int64_t number = 0; any && number < call->batch; number++) {
    matrix_job job = {.work = {.cx = e->cx}, .call = call};
    indim_arena_init(&job.work.arena, e->cx);
    indim_status status = run_matrix(e, &job, number, operands, results);
    indim_arena_deinit(&job.work.arena);
    INDIM_TRY(status);
  }
  return INDIM_OK;
}

static indim_status run_linalg(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                               indim_value **out) {
  indim_linalg_call call;
  indim_value *results[INDIM_LINALG_MOST_ARRAYS] = {NULL};
  bool is_tuple = indim_shape_is_tuple(instr->shape);
  INDIM_TRY(indim_linalg_parse(e->cx, instr, &call));
  indim_status status = INDIM_OK;
  for (int32_t i = 0; status == INDIM_OK && i < call.result_count; i++) {
    status = indim_value_new(e->cx, is_tuple ? instr->shape->members[i] : instr->shape, &results[i]);
  }
  if (status == INDIM_OK) {
    status = run_batch(e, &call, operands, results);
  }
  if (status == INDIM_OK && is_tuple) {
    status = indim_value_new_tuple(e->cx, instr->shape, results, out);
  }
  for (int32_t i = 0; status != INDIM_OK && i < call.result_count; i++) {
    indim_value_release(e->cx, results[i]);
  }
  *out = status == INDIM_OK && !is_tuple ? results[0] : *out;
  return status;
}

// The target ---------------------------------------------------------------------------------------------------------

static indim_status check_linalg(indim_evaluator *e, const indim_instr *instr) {
  indim_linalg_call call;
  return indim_linalg_parse(e->cx, instr, &call);
}

// Who checks and runs a target; this is where functions of the caller's would be looked up too.
typedef struct target_functions {
  indim_status (*check)(indim_evaluator *e, const indim_instr *instr);
  indim_eval_fn *run;
} target_functions;

static indim_status find_target(indim_ctx *cx, const indim_instr *instr, target_functions *out) {
  indim_str name = indim_instr_attr(instr, INDIM_ATTR_CUSTOM_CALL_TARGET)->value.text;
  indim_type type = INDIM_TYPE_INVALID;
  if (indim_linalg_find(name, &type) != NULL) {
    *out = (target_functions){check_linalg, run_linalg};
    return INDIM_OK;
  }
  return indim_linalg_fail_unknown(cx, instr, name);
}

indim_status indim_eval_check_custom_call(indim_evaluator *e, const indim_instr *instr) {
  target_functions target;
  INDIM_TRY(find_target(e->cx, instr, &target));
  return target.check(e, instr);
}

indim_status indim_eval_custom_call(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                    indim_value **out) {
  target_functions target;
  INDIM_TRY(find_target(e->cx, instr, &target));
  return target.run(e, instr, operands, out);
}
