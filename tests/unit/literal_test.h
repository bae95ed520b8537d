// What the tests of indices and literals share: a context that is checked for leaks, shapes and literals from text.
#ifndef INDIM_LITERAL_TEST_H
#define INDIM_LITERAL_TEST_H

#include <stdlib.h>

#include "allocator_test.h"
#include "base/ctx.h"
#include "indim/literal.h"
#include "test.h"

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
