// Diagnostics for people, and the exit code that goes with a status.
#include <stdlib.h>
#include <string.h>

#include "tool.h"

int exit_code_of(indim_status status) {
  switch (status) {
  case INDIM_OK:
    return EXIT_OK;
  case INDIM_SYNTAX:
  case INDIM_INVALID:
    return EXIT_REFUSED;
  case INDIM_UNSUPPORTED:
    return EXIT_UNSUPPORTED;
  case INDIM_LIMIT:
    return EXIT_LIMIT;
  case INDIM_INTERRUPTED:
    return EXIT_INTERRUPTED;
  case INDIM_IO:
    return EXIT_FILE;
  case INDIM_NO_MEMORY:
    return EXIT_MEMORY;
  case INDIM_INTERNAL:
    return EXIT_INTERNAL;
  }
  return EXIT_INTERNAL;
}

int report(indim_ctx *cx, indim_status status) {
  size_t count = indim_ctx_diagnostic_count(cx);
  indim_buffer text;
  indim_buffer_init(&text, cx);
  size_t shown = 0;
  for (; shown < count && indim_ctx_diagnostic_get(cx, shown) != NULL; shown++) {
    indim_diagnostic_print(indim_ctx_diagnostic_get(cx, shown), &text);
  }
  if (text.size > 0) {
    fwrite(text.data, 1, text.size, stderr);
  } else if (status != INDIM_OK) {
    fprintf(stderr, "error: %s\n", indim_status_text(status));
  }
  if (shown < count && text.status == INDIM_OK) {
    fprintf(stderr, "%zu more errors are not shown\n", count - shown);
  }
  indim_buffer_deinit(&text);
  indim_ctx_diagnostics_clear(cx);
  return exit_code_of(status);
}

char *shape_text(indim_ctx *cx, const indim_shape *shape, bool with_layout) {
  indim_buffer text;
  indim_buffer_init(&text, cx);
  indim_shape_print(shape, with_layout, &text);
  char *copy = must_alloc(text.size + 1);
  memcpy(copy, text.size == 0 ? "" : text.data, text.size + 1);
  indim_buffer_deinit(&text);
  return copy;
}
