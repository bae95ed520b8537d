// Many threads compile one module at once, each with its own context, and the first of these compilations loads the code
// generator: it is loaded by all of them at the same time. Executables go where others are still being made.
#include <pthread.h>
#include <stdatomic.h>

#include "indim/compile.h"
#include "indim/text.h"
#include "test.h"

enum { THREADS = 4, ROUNDS = 5 };

static const char program[] =
    "HloModule shared\n"
    "ENTRY main { x = f32[100]{0} parameter(0)\n"
    "  e = f32[100]{0} exponential(x)  one = f32[] constant(1)\n"
    "  ones = f32[100]{0} broadcast(one), dimensions={}  ROOT y = f32[100]{0} add(e, ones) }\n";

typedef struct worker {
  pthread_t thread;
  const indim_module *module;
  atomic_int *waiting;  // how many are not at the start yet
  bool is_missing;      // there is no code generator
  bool ok;
} worker;

static bool run_once(indim_ctx *cx, indim_executable *exe) {
  float x[100] = {0};
  float y[100] = {0};
  const void *arguments[] = {x};
  void *results[] = {y};
  indim_run_options options = {
      .arguments = arguments, .argument_count = 1, .results = results, .result_count = 1, .cx = cx};
  bool ok = indim_execute(exe, &options) == INDIM_OK;
  for (int i = 0; i < 100; i++) {
    ok = ok && y[i] == 2;
  }
  return ok;
}

static void *work(void *argument) {
  worker *w = argument;
  indim_ctx *cx = NULL;
  if (indim_ctx_create(NULL, &cx) != INDIM_OK) {
    return NULL;
  }
  atomic_fetch_sub(w->waiting, 1);
  while (atomic_load(w->waiting) > 0) {
  }
  w->ok = true;
  for (int i = 0; i < ROUNDS && w->ok && !w->is_missing; i++) {
    indim_executable *exe = NULL;
    indim_status status = indim_compile(cx, w->module, NULL, &exe);
    w->is_missing = status == INDIM_UNSUPPORTED;
    w->ok = w->is_missing || (status == INDIM_OK && run_once(cx, exe));
    indim_executable_destroy(exe);
  }
  w->ok = w->ok && indim_ctx_memory_in_use(cx) == 0;
  indim_ctx_destroy(cx);
  return NULL;
}

TEST(threads_load_and_compile) {
  indim_ctx *cx = NULL;
  indim_module *module = NULL;
  worker workers[THREADS];
  atomic_int waiting = THREADS;
  REQUIRE(indim_ctx_create(NULL, &cx) == INDIM_OK);
  REQUIRE(indim_module_parse(cx, indim_str_of("shared.hlo"), indim_str_of(program), &module) == INDIM_OK);
  REQUIRE(indim_module_verify(cx, module) == INDIM_OK);
  for (int i = 0; i < THREADS; i++) {
    workers[i] = (worker){.module = module, .waiting = &waiting};
    REQUIRE(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
  }
  for (int i = 0; i < THREADS; i++) {
    CHECK_EQ_INT(pthread_join(workers[i].thread, NULL), 0);
    CHECK(workers[i].ok);
    CHECK(workers[i].is_missing == workers[0].is_missing);
  }
  if (workers[0].is_missing) {
    printf("  this build has no code generator: not tested\n");
  }
  indim_module_destroy(module);
  indim_ctx_destroy(cx);
}

#define CASES(X) X(threads_load_and_compile)
TEST_MAIN(CASES)
