// How the verifier tells what it found.
#include <stdarg.h>
#include <stdio.h>
#include "loop/verify/verify.h"

indim_status indim_verify_fail_node(const indim_loop_verifier *v, const indim_loop_node *node, const char *format,
                                    ...) {
  char text[256];
  indim_buffer line;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  indim_buffer_init(&line, v->program->cx);
  if (node != NULL) {
    indim_loop_print_node(v->program, node, &line);
  }
  indim_status status = indim_fail(v->program->cx, INDIM_INTERNAL, "loop program: %s%s%.500s", text,
                                   node == NULL ? "" : " in: ", line.data == NULL ? "" : line.data);
  indim_buffer_deinit(&line);
  return status;
}
