// A module is immutable once verified: many threads run it at once, each with its own context. Run under the
// ThreadSanitizer preset, as all tests with "threads" in their name.
#include <pthread.h>

#include "indim/eval.h"
#include "indim/text.h"
#include "test.h"

enum { THREADS = 4, ROUNDS = 20 };

// Loops, calls and a reduction, so that the evaluator's whole machinery is in use: 10 times x <- x + sum(x) / 4.
static const char program[] =
    "HloModule shared\n"
    "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }\n"
    "body { s = (s32[], f32[4]{0}) parameter(0)\n"
    "  i = s32[] get-tuple-element(s), index=0  x = f32[4]{0} get-tuple-element(s), index=1\n"
    "  one = s32[] constant(1)  next = s32[] add(i, one)\n"
    "  zero = f32[] constant(0)  sum = f32[] reduce(x, zero), dimensions={0}, to_apply=add\n"
    "  four = f32[] constant(4)  mean = f32[] divide(sum, four)\n"
    "  row = f32[4]{0} broadcast(mean), dimensions={}  y = f32[4]{0} add(x, row)\n"
    "  ROOT t = (s32[], f32[4]{0}) tuple(next, y) }\n"
    "condition { s = (s32[], f32[4]{0}) parameter(0)  i = s32[] get-tuple-element(s), index=0\n"
    "  ten = s32[] constant(10)  ROOT go = pred[] compare(i, ten), direction=LT }\n"
    "ENTRY main { x = f32[4]{0} parameter(0)  zero = s32[] constant(0)\n"
    "  start = (s32[], f32[4]{0}) tuple(zero, x)\n"
    "  end = (s32[], f32[4]{0}) while(start), condition=condition, body=body\n"
    "  ROOT y = f32[4]{0} get-tuple-element(end), index=1 }\n";

typedef struct worker {
  pthread_t thread;
  const indim_module *module;
  float start;
  bool ok;
} worker;

// All elements equal |start|, so each step doubles them: start * 2^10, exactly.
static bool one_round(indim_ctx *cx, const indim_module *module, float start) {
  indim_literal *argument = NULL;
  indim_literal *result = NULL;
  indim_shape shape;
  bool ok = indim_shape_init(cx, INDIM_F32, 1, (const int64_t[]){4}, &shape) == INDIM_OK &&
            indim_literal_create(cx, &shape, &argument) == INDIM_OK;
  for (int i = 0; ok && i < 4; i++) {
    ((float *)indim_literal_mutable_data(argument))[i] = start;
  }
  const indim_literal *arguments[] = {argument};
  ok = ok && indim_eval(cx, module, arguments, 1, NULL, &result) == INDIM_OK;
  for (int i = 0; ok && i < 4; i++) {
    ok = ((const float *)indim_literal_data(result))[i] == start * 1024;
  }
  indim_literal_destroy(result);
  indim_literal_destroy(argument);
  return ok;
}

static void *work(void *argument) {
  worker *self = argument;
  indim_ctx *cx = NULL;
  self->ok = indim_ctx_create(NULL, &cx) == INDIM_OK;
  for (int round = 0; self->ok && round < ROUNDS; round++) {
    self->ok = one_round(cx, self->module, self->start + (float)round);
  }
  indim_ctx_destroy(cx);
  return NULL;
}

TEST(one_module_in_many_threads) {
  indim_ctx *cx = NULL;
  indim_module *module = NULL;
  REQUIRE(indim_ctx_create(NULL, &cx) == INDIM_OK);
  bool ready = indim_module_parse(cx, indim_str_of("shared"), indim_str_of(program), &module) == INDIM_OK &&
               indim_module_verify(cx, module) == INDIM_OK;
  const indim_diagnostic *diagnostic = indim_ctx_diagnostic_get(cx, 0);
  CHECK_MSG(ready, "%s", diagnostic == NULL ? "no diagnostic" : diagnostic->message);
  worker workers[THREADS];
  int started = 0;
  for (int i = 0; ready && i < THREADS; i++) {
    workers[i] = (worker){.module = module, .start = (float)(100 * i + 1), .ok = false};
    started += pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0;
  }
  CHECK_EQ_INT(started, THREADS);
  for (int i = 0; i < started; i++) {
    pthread_join(workers[i].thread, NULL);
    CHECK_MSG(workers[i].ok, "thread %d got another result", i);
  }
  indim_module_destroy(module);
  indim_ctx_destroy(cx);
}

#define CASES(X) X(one_module_in_many_threads)
TEST_MAIN(CASES)
