// One executable with a function of the caller's, run by several threads at once: each run has its own arrays, its own number
// and its own message. Run under the ThreadSanitizer preset.
#include <pthread.h>
#include <stdio.h>

#include "indim/compile.h"
#include "indim/custom_call.h"
#include "indim/text.h"
#include "test.h"

enum { THREADS = 4, RUNS = 200 };

static const char text[] = "ENTRY e { x = f32[8] parameter(0) y = f32[8] custom-call(x), custom_call_target=\"f\", "
                           "custom_call_has_side_effect=true\n"
                           "  z = f32[8] add(y, x) ROOT w = f32[8] custom-call(z), custom_call_target=\"f\" }";

static int32_t calls;

// Adds 1 to each element, and fails for what begins with a number above 1000, with that number.
static indim_status function(void *user, const indim_custom_call *call) {
  const float *x = call->operands[0].data;
  float *y = call->results[0].data;
  __atomic_add_fetch((int32_t *)user, 1, __ATOMIC_RELAXED);
  if (x[0] > 1000) {
    return indim_custom_call_fail(call, INDIM_INVALID, "it begins with %g", (double)x[0]);
  }
  for (int i = 0; i < 8; i++) {
    y[i] = x[i] + 1;
  }
  return INDIM_OK;
}

typedef struct job {
  indim_executable *executable;
  int number;
  int wrong;
} job;

static bool run_once(const job *j, indim_ctx *cx, bool fails) {
  float x[8];
  float y[8] = {0};
  const void *arguments[] = {x};
  void *results[] = {y};
  char expected[40];
  indim_run_options options = {
      .arguments = arguments, .argument_count = 1, .results = results, .result_count = 1, .cx = cx};
  for (int i = 0; i < 8; i++) {
    x[i] = (float)(10 * j->number + i + (fails ? 2000 : 0));
  }
  indim_status status = indim_execute(j->executable, &options);
  if (!fails) {
    return status == INDIM_OK && y[3] == 2 * x[3] + 2;
  }
  const indim_diagnostic *d = indim_ctx_diagnostic_get(cx, 0);
  snprintf(expected, sizeof expected, "failed: it begins with %d", 2000 + 10 * j->number);
  bool ok = status == INDIM_INVALID && d != NULL && strstr(d->message, expected) != NULL;
  indim_ctx_diagnostics_clear(cx);
  return ok;
}

static void *run_many(void *user) {
  job *j = user;
  indim_ctx *cx = NULL;
  if (indim_ctx_create(NULL, &cx) != INDIM_OK) {
    j->wrong = RUNS;
    return NULL;
  }
  for (int i = 0; i < RUNS; i++) {
    j->wrong += run_once(j, cx, i % 3 == 0) ? 0 : 1;
  }
  indim_ctx_destroy(cx);
  return NULL;
}

TEST(runs_at_once) {
  indim_ctx *cx = NULL;
  indim_module *module = NULL;
  indim_executable *executable = NULL;
  pthread_t threads[THREADS];
  job jobs[THREADS];
  REQUIRE(indim_ctx_create(NULL, &cx) == INDIM_OK);
  REQUIRE(indim_register_custom_call(cx, "f", function, &calls) == INDIM_OK);
  REQUIRE(indim_module_parse(cx, indim_str_of("p"), indim_str_of(text), &module) == INDIM_OK);
  REQUIRE(indim_module_verify(cx, module) == INDIM_OK);
  REQUIRE(indim_compile(cx, module, NULL, &executable) == INDIM_OK);
  for (int i = 0; i < THREADS; i++) {
    jobs[i] = (job){executable, i, 0};
    REQUIRE(pthread_create(&threads[i], NULL, run_many, &jobs[i]) == 0);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    CHECK_EQ_INT(jobs[i].wrong, 0);
  }
  int failing = (RUNS + 2) / 3;
  CHECK_EQ_INT(calls, THREADS * (2 * (RUNS - failing) + failing));
  indim_executable_destroy(executable);
  indim_module_destroy(module);
  indim_ctx_destroy(cx);
}

#define CASES(X) X(runs_at_once)
TEST_MAIN(CASES)
