// What the machine can do, measured by programs of two instructions: a sum of a large array and a number for the memory,
// a product of matrices for the arithmetic. And arguments for programs that are measured without any.
#include <stdlib.h>
#include <string.h>

#include "indim/text.h"
#include "profile.h"

// Arguments -----------------------------------------------------------------------------------------------------------

// A stretch of elements that is repeated through the memory of the array; its length is prime.
enum { PATTERN = 61 };

static indim_status set_element(indim_ctx *cx, indim_literal *literal, int64_t i, indim_type type) {
  if (indim_type_is_float(type) || indim_type_is_complex(type)) {
    double value = 0.5 + (double)(i * 37 % PATTERN) / PATTERN;
    return indim_literal_set_float(cx, literal, &i, value, indim_type_is_complex(type) ? value - 1 : 0);
  }
  return indim_literal_set_int(cx, literal, &i, 1);
}

static indim_status make_pattern(indim_ctx *cx, indim_type type, indim_literal **out) {
  const int64_t sizes[] = {PATTERN};
  indim_shape shape;
  indim_status status = indim_shape_init(cx, type, 1, sizes, &shape);
  status = status == INDIM_OK ? indim_literal_create(cx, &shape, out) : status;
  for (int64_t i = 0; i < PATTERN && status == INDIM_OK; i++) {
    status = set_element(cx, *out, i, type);
  }
  return status;
}

// Padding gets the pattern, too, and means nothing.
static indim_status fill_array(indim_ctx *cx, indim_literal *literal) {
  indim_literal *pattern = NULL;
  indim_status status = make_pattern(cx, indim_literal_shape(literal)->type, &pattern);
  char *to = status == INDIM_OK ? indim_literal_mutable_data(literal) : NULL;
  size_t left = to == NULL ? 0 : (size_t)indim_literal_bytes(literal);
  while (left > 0) {
    size_t bytes = (size_t)indim_literal_bytes(pattern);
    size_t part = left < bytes ? left : bytes;
    memcpy(to, indim_literal_data(pattern), part);
    to += part;
    left -= part;
  }
  indim_literal_destroy(pattern);
  return status;
}

static indim_status fill_tree(indim_ctx *cx, indim_literal *literal) {
  const indim_shape *shape = indim_literal_shape(literal);
  if (indim_shape_is_array(shape)) {
    return fill_array(cx, literal);
  }
  indim_status status = INDIM_OK;
  for (int64_t i = 0; indim_literal_mutable_member(literal, i) != NULL && status == INDIM_OK; i++) {
    status = fill_tree(cx, indim_literal_mutable_member(literal, i));
  }
  return status;
}

indim_status make_argument(indim_ctx *cx, const indim_shape *shape, indim_literal **out_literal) {
  indim_status status = indim_literal_create(cx, shape, out_literal);
  return status == INDIM_OK ? fill_tree(cx, *out_literal) : status;
}

// Limits ---------------------------------------------------------------------------------------------------------------

// The least time of some runs, in seconds.
static indim_status time_text_program(indim_ctx *cx, indim_pool *pool, const char *text, double *out_seconds) {
  enum { RUNS = 25 };
  int64_t times[RUNS] = {0};
  indim_module *module = NULL;
  indim_executable *executable = NULL;
  indim_literal *arguments[2] = {NULL, NULL};
  indim_literal *result = NULL;
  indim_status status = indim_module_parse(cx, indim_str_of("limits"), indim_str_of(text), &module);
  status = status == INDIM_OK ? indim_module_verify(cx, module) : status;
  status = status == INDIM_OK ? indim_compile(cx, module, NULL, &executable) : status;
  int64_t count = indim_computation_parameter_count(indim_module_entry(module));
  for (int64_t i = 0; i < count && status == INDIM_OK; i++) {
    const indim_instr *parameter = indim_computation_parameter(indim_module_entry(module), i);
    status = make_argument(cx, indim_instr_shape(parameter), &arguments[i]);
  }
  indim_run_options run = {.pool = pool, .stop = work_stop_flag()};
  if (status == INDIM_OK) {
    status =
        indim_execute_timed(cx, executable, (const indim_literal *const *)arguments, count, &run, RUNS, times, &result);
  }
  int64_t least = times[0];
  for (int i = 1; i < RUNS; i++) {
    least = times[i] < least ? times[i] : least;
  }
  *out_seconds = least > 0 ? (double)least * 1e-9 : 1e-9;
  indim_literal_destroy(result);
  indim_literal_destroy(arguments[0]);
  indim_literal_destroy(arguments[1]);
  indim_executable_destroy(executable);
  indim_module_destroy(module);
  return status;
}

indim_status measure_limits(indim_ctx *cx, indim_pool *pool, bool is_f64, machine_limits *out) {
  enum { BYTES = 1 << 26, SIDE = 512 };
  char text[400];
  double seconds = 0;
  out->type = is_f64 ? "f64" : "f32";
  int elements = BYTES / (is_f64 ? 8 : 4);
  snprintf(text, sizeof text,
           "ENTRY e { x = %s[%d] parameter(0) y = %s[] parameter(1) b = %s[%d] broadcast(y), dimensions={} "
           "ROOT s = %s[%d] add(x, b) }",
           out->type, elements, out->type, out->type, elements, out->type, elements);
  indim_status status = time_text_program(cx, pool, text, &seconds);
  out->bandwidth = 2.0 * BYTES / seconds;
  if (status == INDIM_OK) {
    snprintf(text, sizeof text,
             "ENTRY e { x = %s[%d,%d] parameter(0) y = %s[%d,%d] parameter(1) "
             "ROOT d = %s[%d,%d] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0} }",
             out->type, SIDE, SIDE, out->type, SIDE, SIDE, out->type, SIDE, SIDE);
    status = time_text_program(cx, pool, text, &seconds);
    out->flops = 2.0 * SIDE * SIDE * SIDE / seconds;
  }
  return status;
}
