// Our library for the benchmark's Python side, as functions of pointers and numbers: a session with a context and a pool,
// programs in it, and runs timed in a loop. Failures answer NULL or a number other than 0, and leave the first
// diagnostic's text in the session.
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "indim/compile.h"
#include "indim/execute.h"
#include "indim/text.h"

typedef struct session {
  indim_ctx *cx;
  indim_pool *pool;
  char why[1200];
} session;

session *ours_open(int32_t threads);
const char *ours_why(const session *s);
indim_executable *ours_compile(session *s, const char *name, const char *text, uint32_t fast, const char *target);
void ours_times(const indim_executable *executable, int64_t out[4]);
indim_binding *ours_bind(session *s, indim_executable *executable, const void *const *arguments, int64_t argument_count,
                         void *const *results, int64_t result_count, void *scratch);
double ours_run(session *s, indim_binding *binding, int64_t runs);
double ours_execute(session *s, indim_executable *executable, const void *const *arguments, int64_t argument_count,
                    void *const *results, int64_t result_count, void *scratch, int64_t runs);

static void *failed(session *s, indim_status status) {
  const indim_diagnostic *first = indim_ctx_diagnostic_get(s->cx, 0);
  snprintf(s->why, sizeof s->why, "%s: %s", indim_status_name(status),
           first ? first->message : indim_status_text(status));
  indim_ctx_diagnostics_clear(s->cx);
  return NULL;
}

// A session that was opened without its pool says why when it compiles.
session *ours_open(int32_t threads) {
  session *s = calloc(1, sizeof *s);
  if (s == NULL || indim_ctx_create(NULL, &s->cx) != INDIM_OK) {
    free(s);
    return NULL;
  }
  indim_status status = threads > 1 ? indim_pool_create(s->cx, threads, &s->pool) : INDIM_OK;
  if (status != INDIM_OK) {
    failed(s, status);
  }
  return s;
}

const char *ours_why(const session *s) { return s->why; }

indim_executable *ours_compile(session *s, const char *name, const char *text, uint32_t fast, const char *target) {
  indim_module *module = NULL;
  indim_executable *executable = NULL;
  const indim_compile_options options = {.fast = fast, .target = target};
  indim_status status = indim_module_parse(s->cx, indim_str_of(name), indim_str_of(text), &module);
  status = status == INDIM_OK ? indim_module_verify(s->cx, module) : status;
  status = status == INDIM_OK ? indim_compile(s->cx, module, &options, &executable) : status;
  indim_module_destroy(module);
  if (status == INDIM_OK && indim_ctx_diagnostic_count(s->cx) > 0) {  // only for narrower vectors than asked for
    indim_executable_destroy(executable);
    status = INDIM_INTERNAL;
  }
  return status == INDIM_OK ? executable : failed(s, status);
}

// Nanoseconds: load, lower, emit, code.
void ours_times(const indim_executable *executable, int64_t out[4]) {
  indim_compile_times times;
  indim_executable_times(executable, &times);
  out[0] = times.load;
  out[1] = times.lower;
  out[2] = times.emit;
  out[3] = times.code;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

indim_binding *ours_bind(session *s, indim_executable *executable, const void *const *arguments, int64_t argument_count,
                         void *const *results, int64_t result_count, void *scratch) {
  const indim_run_options options = {.arguments = arguments,
                                     .argument_count = argument_count,
                                     .results = results,
                                     .result_count = result_count,
                                     .scratch = scratch,
                                     .pool = s->pool};
  indim_binding *binding = NULL;
  indim_status status = indim_binding_create(s->cx, executable, &options, &binding);
  return status == INDIM_OK ? binding : failed(s, status);
}

static double taken(session *s, indim_status status, double start) {
  double time = now() - start;
  if (status != INDIM_OK) {
    failed(s, status);
    return -1;
  }
  return time;
}

// Nanoseconds of so many runs, or -1.
double ours_run(session *s, indim_binding *binding, int64_t runs) {
  indim_status status = INDIM_OK;
  double start = now();
  for (int64_t i = 0; i < runs && status == INDIM_OK; i++) {
    status = indim_binding_run(binding);
  }
  return taken(s, status, start);
}

// The same with the buffers looked at in each run.
double ours_execute(session *s, indim_executable *executable, const void *const *arguments, int64_t argument_count,
                    void *const *results, int64_t result_count, void *scratch, int64_t runs) {
  const indim_run_options options = {.arguments = arguments,
                                     .argument_count = argument_count,
                                     .results = results,
                                     .result_count = result_count,
                                     .scratch = scratch,
                                     .pool = s->pool,
                                     .cx = s->cx};
  indim_status status = INDIM_OK;
  double start = now();
  for (int64_t i = 0; i < runs && status == INDIM_OK; i++) {
    status = indim_execute(executable, &options);
  }
  return taken(s, status, start);
}
