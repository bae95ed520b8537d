// A program's buffers, and executables that run on them in turn.
#include "measuring.h"

#include <stdlib.h>
#include <string.h>

void *zeroed(size_t count, size_t size) {
  size_t bytes = count * size;
  void *memory = must_alloc(bytes > 0 ? bytes : 1);
  memset(memory, 0, bytes);
  return memory;
}

// Of a dynamic dimension, how much of it counts: a leaf of its own, behind the array.
static indim_status take_size(measuring *m, const indim_executable *e, int64_t size, int64_t at) {
  indim_status status = indim_literal_create(m->cx, indim_executable_argument_shape(e, at), &m->arguments[at]);
  return status == INDIM_OK ? indim_literal_set_int(m->cx, m->arguments[at], NULL, size) : status;
}

// The leaves of an argument, from |*at| on. Each is a copy in the program's layout: a program with an alias may write into it.
static indim_status take_leaves(measuring *m, const indim_executable *e, const indim_shape *shape,
                                const indim_literal *literal, int64_t *at) {
  indim_status status = INDIM_OK;
  if (indim_shape_is_array(shape)) {
    indim_shape wanted = *indim_executable_argument_shape(e, *at);
    wanted.dynamic = indim_literal_shape(literal)->dynamic;
    status = indim_literal_relayout(m->cx, literal, &wanted, &m->arguments[(*at)++]);
    for (int32_t d = 0; d < shape->rank && status == INDIM_OK; d++) {
      if (indim_shape_is_dynamic_dim(shape, d)) {
        status = take_size(m, e, indim_literal_dynamic_size(literal, d), (*at)++);
      }
    }
  }
  for (int64_t i = 0; indim_shape_is_tuple(shape) && i < shape->member_count && status == INDIM_OK; i++) {
    status = take_leaves(m, e, shape->members[i], indim_literal_member(literal, i), at);
  }
  return status;
}

static indim_status copy_arguments(measuring *m, const indim_module *module, const indim_executable *e,
                                   const indim_literal *const *arguments, int64_t count) {
  indim_status status = INDIM_OK;
  int64_t at = 0;
  m->argument_count = indim_executable_argument_count(e);
  m->arguments = zeroed((size_t)m->argument_count, sizeof *m->arguments);
  m->pointers = zeroed((size_t)m->argument_count, sizeof *m->pointers);
  for (int64_t k = 0; k < count && status == INDIM_OK; k++) {
    const indim_instr *parameter = indim_computation_parameter(indim_module_entry(module), k);
    status = take_leaves(m, e, indim_instr_shape(parameter), arguments[k], &at);
  }
  for (int64_t i = 0; i < m->argument_count && status == INDIM_OK; i++) {
    m->pointers[i] = indim_literal_data(m->arguments[i]);
  }
  return status;
}

static indim_status make_results(measuring *m, const indim_executable *e) {
  indim_status status = INDIM_OK;
  m->result_count = indim_executable_result_count(e);
  m->results = zeroed((size_t)m->result_count, sizeof *m->results);
  for (int64_t i = 0; i < m->result_count && status == INDIM_OK; i++) {
    status = indim_literal_create(m->cx, indim_executable_result_shape(e, i), &m->results[i]);
  }
  return status;
}

indim_status measuring_begin(indim_ctx *cx, const indim_module *module, const indim_executable *executable,
                             const indim_literal *const *arguments, int64_t count, int32_t threads, measuring *out) {
  *out = (measuring){.cx = cx};
  indim_status status = threads > 1 ? indim_pool_create(cx, threads, &out->pool) : INDIM_OK;
  status = status == INDIM_OK ? copy_arguments(out, module, executable, arguments, count) : status;
  return status == INDIM_OK ? make_results(out, executable) : status;
}

void measuring_end(measuring *m) {
  for (int64_t i = 0; m->arguments != NULL && i < m->argument_count; i++) {
    indim_literal_destroy(m->arguments[i]);
  }
  for (int64_t i = 0; m->results != NULL && i < m->result_count; i++) {
    indim_literal_destroy(m->results[i]);
  }
  indim_pool_destroy(m->pool);
  free(m->arguments);
  free(m->pointers);
  free(m->results);
}

indim_status measuring_bind(const measuring *m, const indim_executable *executable, indim_step_time *times,
                            indim_binding **out_binding) {
  void **results = zeroed((size_t)m->result_count, sizeof *results);
  for (int64_t i = 0; i < m->result_count; i++) {
    results[i] = indim_literal_mutable_data(m->results[i]);
  }
  indim_run_options run = {.arguments = m->pointers,
                           .argument_count = m->argument_count,
                           .results = results,
                           .result_count = m->result_count,
                           .stop = work_stop_flag(),
                           .pool = m->pool,
                           .step_times = times,
                           .cx = m->cx};
  indim_status status = indim_binding_create(m->cx, executable, &run, out_binding);
  free(results);
  return status;
}

indim_status measuring_run(indim_binding *binding, int64_t count, int64_t *out_ns) {
  indim_status status = INDIM_OK;
  int64_t begin = now_ns();
  for (int64_t i = 0; i < count && status == INDIM_OK; i++) {
    status = indim_binding_run(binding);
  }
  *out_ns = now_ns() - begin;
  return status;
}

indim_status measuring_choose_together(indim_binding *binding, int64_t *out_together, int64_t *out_ns) {
  enum { ROUND = 2000000, MOST_TOGETHER = 1 << 20 };
  int64_t ns = 0;
  indim_status status = measuring_run(binding, 1, &ns);
  int64_t together = 1;
  while (status == INDIM_OK && ns < ROUND && together < MOST_TOGETHER) {
    together *= 2;
    status = measuring_run(binding, together, &ns);
  }
  *out_together = together;
  *out_ns = ns;
  return status;
}

static int compare_numbers(const void *a, const void *b) {
  double x = *(const double *)a;
  double y = *(const double *)b;
  return (x > y) - (x < y);
}

double quantile_of(const double *values, int64_t count, double share) {
  double *sorted = must_alloc((size_t)count * sizeof *sorted);
  memcpy(sorted, values, (size_t)count * sizeof *sorted);
  qsort(sorted, (size_t)count, sizeof *sorted, compare_numbers);
  double quantile = sorted[(int64_t)((double)(count - 1) * share)];
  free(sorted);
  return quantile;
}
