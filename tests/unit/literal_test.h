// What the tests of indices and literals share: a context that is checked for leaks, shapes and literals from text,
// and an allocator that fails on demand.
#ifndef INDIM_LITERAL_TEST_H
#define INDIM_LITERAL_TEST_H

#include <stdlib.h>

#include "base/ctx.h"
#include "indim/literal.h"
#include "test.h"

// Counts allocations; the one with number |fail_at| (from 1) fails, and every later one too if |fail_on| is set.
typedef struct test_allocator {
  int64_t count;
  int64_t fail_at;  // 0: never
  bool fail_on;
  bool failed;
} test_allocator;

static inline void *test_resize(void *self, void *pointer, size_t old_size, size_t new_size) {
  test_allocator *allocator = self;
  (void)old_size;
  if (new_size == 0) {
    free(pointer);
    return NULL;
  }
  allocator->count++;
  if (allocator->fail_at > 0 &&
      (allocator->count == allocator->fail_at || (allocator->fail_on && allocator->count > allocator->fail_at))) {
    allocator->failed = true;
    return NULL;
  }
  return realloc(pointer, new_size);
}

static inline indim_ctx *test_cx_new(void) {
  indim_ctx *cx = NULL;
  if (indim_ctx_create(NULL, &cx) != INDIM_OK) {
    abort();
  }
  return cx;
}

// Everything made with the context must be gone.
static inline void test_cx_free(indim_ctx *cx) {
  CHECK_EQ_UINT(indim_ctx_memory_in_use(cx), 0);
  indim_ctx_destroy(cx);
}

static inline const char *test_message(const indim_ctx *cx) {
  size_t count = indim_ctx_diagnostic_count(cx);
  const indim_diagnostic *last = count > 0 ? indim_ctx_diagnostic_get(cx, count - 1) : NULL;
  return last == NULL ? "(no diagnostic)" : last->message;
}

// A call that must succeed.
#define CHECK_OK(cx, call) CHECK_MSG((call) == INDIM_OK, "%s: %s", #call, test_message(cx))

// A call that must fail with |status| and a message that holds |part|; the diagnostics are cleared again.
#define CHECK_FAILS(cx, call, status, part) test_fails(cx, (call), (status), (part), __FILE__, __LINE__, #call)

static inline void test_fails(indim_ctx *cx, indim_status actual, indim_status expected, const char *part,
                              const char *file, int line, const char *text) {
  if (actual != expected || strstr(test_message(cx), part) == NULL) {
    test_fail(file, line);
    printf("%s gives %s \"%s\", expected %s \"%s\"\n", text, indim_status_name(actual), test_message(cx),
           indim_status_name(expected), part);
  }
  indim_ctx_diagnostics_clear(cx);
}

// An array shape.
static inline indim_shape test_shape(const char *text) {
  indim_shape shape;
  indim_ctx *cx = test_cx_new();
  memset(&shape, 0, sizeof shape);
  CHECK_MSG(indim_shape_parse(cx, indim_str_of(text), NULL, &shape) == INDIM_OK, "%s: %s", text, test_message(cx));
  indim_ctx_destroy(cx);
  return shape;
}

#endif  // INDIM_LITERAL_TEST_H
