// One context a thread, no global state: threads that fail, allocate and print at once do not meet. The ThreadSanitizer
// preset runs the tests with "threads" in their name.
#include <pthread.h>
#include <stdlib.h>

#include "base/ctx.h"
#include "test.h"

enum { THREADS = 4, ROUNDS = 200 };

typedef struct worker {
  pthread_t thread;
  int number;
  bool ok;
} worker;

// Fills a buffer, hits the memory limit, and reads the diagnostic back: it must be this thread's own.
static bool one_round(indim_ctx *cx, int number) {
  indim_buffer text;
  indim_buffer_init(&text, cx);
  indim_buffer_printf(&text, "thread %d", number);
  bool ok = text.status == INDIM_OK;
  indim_status status = indim_fail(cx, INDIM_INVALID, "%s says no", text.data);
  const indim_diagnostic *diagnostic = indim_ctx_diagnostic_get(cx, 0);
  char expected[64];
  snprintf(expected, sizeof expected, "thread %d says no", number);
  ok = ok && status == INDIM_INVALID && diagnostic != NULL && strcmp(diagnostic->message, expected) == 0;
  void *block = NULL;
  indim_ctx_set_memory_limit(cx, indim_ctx_memory_in_use(cx) + 100);
  ok = ok && indim_alloc(cx, 101, &block) == INDIM_LIMIT && block == NULL;
  indim_ctx_set_memory_limit(cx, 0);
  indim_ctx_diagnostics_clear(cx);
  indim_buffer_deinit(&text);
  return ok;
}

static void *work(void *argument) {
  worker *self = argument;
  indim_ctx *cx = NULL;
  self->ok = indim_ctx_create(NULL, &cx) == INDIM_OK;
  uint64_t at_start = self->ok ? indim_ctx_memory_in_use(cx) : 0;
  for (int round = 0; self->ok && round < ROUNDS; round++) {
    self->ok = one_round(cx, self->number);
  }
  self->ok = self->ok && indim_ctx_memory_in_use(cx) == at_start;
  indim_ctx_destroy(cx);
  return NULL;
}

TEST(contexts_do_not_meet) {
  worker workers[THREADS];
  int started = 0;
  for (int i = 0; i < THREADS; i++) {
    workers[i] = (worker){.number = i, .ok = false};
    started += pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0;
  }
  REQUIRE(started == THREADS);
  for (int i = 0; i < THREADS; i++) {
    pthread_join(workers[i].thread, NULL);
    CHECK_MSG(workers[i].ok, "thread %d saw something of another's", i);
  }
}

#define CASES(X) X(contexts_do_not_meet)
TEST_MAIN(CASES)
