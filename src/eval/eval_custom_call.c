// custom-call: who runs a target is decided in one place, find_target. So far these are LAPACK's routines: each matrix of
// the batch is copied column by column, in double precision, runs through linalg/math, and is rounded once to the type
// of the result. f32 and c64 thus see less rounding than LAPACK's own routines give them.
#include "eval/evaluator.h"
#include "eval/matrix.h"
#include "linalg/run.h"

// Matrices -----------------------------------------------------------------------------------------------------------

static int64_t element_count(const indim_linalg_array *array) { return array->sizes[0] * array->sizes[1]; }

static indim_status new_array(indim_arena *arena, const indim_linalg_array *array, void **out) {
  // One element more: some routines get a pointer behind the first.
  return indim_arena_array(arena, (size_t)element_count(array) + 1, indim_linalg_element_bytes(array->type), out);
}

// Where matrix |number| of an array begins in its value.
static int64_t base_of(const indim_linalg_array *array, int64_t number) {
  return array->is_batched ? number * element_count(array) : 0;
}

// Matrix |number| of the batch.
static indim_status run_matrix(indim_evaluator *e, indim_linalg_job *job, int64_t number, indim_value **operands,
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
  INDIM_TRY(indim_linalg_run(job));
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
    indim_linalg_job job = {.work = {.cx = e->cx}, .call = call};
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
