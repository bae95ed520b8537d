// Diagnostics for people, and the exit code that goes with a status.
#include <stdarg.h>
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

static void say(const command *self, indim_status status, const char *format, va_list arguments) {
  char text[1024];
  vsnprintf(text, sizeof text, format, arguments);
  indim_hide_controls(text, '?');
  fflush(stdout);  // what was told before comes before
  fprintf(stderr, "indim%s%s: %s\n", self == NULL ? "" : " ", self == NULL ? "" : self->name, text);
  json_keep_reason(status, text);
}

int refuse(const command *self, indim_status status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(self, status, format, arguments);
  va_end(arguments);
  return exit_code_of(status);
}

int usage_error(const command *self, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(self, INDIM_INVALID, format, arguments);
  va_end(arguments);
  fprintf(stderr, "Try `indim %s --help`.\n", self->name);
  return EXIT_USAGE;
}

int report(indim_ctx *cx, indim_status status) {
  size_t count = indim_ctx_diagnostic_count(cx);
  indim_buffer text;
  indim_ctx_set_memory_limit(cx, 0);  // what is told of a limit needs memory, too
  fflush(stdout);
  indim_buffer_init(&text, cx);
  size_t shown = 0;
  for (; shown < count && indim_ctx_diagnostic_get(cx, shown) != NULL; shown++) {
    indim_diagnostic_print(indim_ctx_diagnostic_get(cx, shown), &text);
  }
  if (text.size > 0) {
    fwrite(text.data, 1, text.size, stderr);
  } else if (status != INDIM_OK) {
    fprintf(stderr, "error: %s\n", indim_status_text(status));
    json_keep_reason(status, indim_status_text(status));
  }
  if (shown < count && text.status == INDIM_OK) {
    fprintf(stderr, "%zu more errors are not shown\n", count - shown);
  }
  indim_buffer_deinit(&text);
  json_keep_diagnostics(cx);
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
