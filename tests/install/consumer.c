// The smallest user of an installed library: reads a program from text, runs it on a value, prints the result.
#include <stdio.h>

#include "indim/eval.h"
#include "indim/text.h"

static const char program[] = "ENTRY main { x = f32[3]{0} parameter(0)  ROOT y = f32[3]{0} add(x, x) }";

// Prints all that the context was told, and gives the exit code for it.
static int complain(const indim_ctx *cx) {
  for (size_t i = 0; i < indim_ctx_diagnostic_count(cx); i++) {
    fprintf(stderr, "%s\n", indim_ctx_diagnostic_get(cx, i)->message);
  }
  return 1;
}

int main(void) {
  indim_ctx *cx = NULL;
  indim_module *module = NULL;
  indim_literal *argument = NULL;
  indim_literal *result = NULL;
  if (indim_ctx_create(NULL, &cx) != INDIM_OK) {
    return 1;
  }
  int outcome = 0;
  if (indim_module_parse(cx, indim_str_of("program"), indim_str_of(program), &module) != INDIM_OK ||
      indim_module_verify(cx, module) != INDIM_OK ||
      indim_literal_parse(cx, indim_str_of("f32[3] {1, 2, 3.5}"), &argument) != INDIM_OK ||
      indim_eval(cx, module, (const indim_literal *const[]){argument}, 1, NULL, &result) != INDIM_OK) {
    outcome = complain(cx);
  } else {
    indim_buffer text;
    indim_buffer_init(&text, cx);
    indim_literal_print(result, INDIM_LITERAL_SHAPE, &text);
    printf("%s\n", text.data == NULL ? "nothing" : text.data);
    indim_buffer_deinit(&text);
  }
  indim_literal_destroy(result);
  indim_literal_destroy(argument);
  indim_module_destroy(module);
  indim_ctx_destroy(cx);
  return outcome;
}
