// A host that gives a program a function of its own, and runs it in both engines.
//
//   cc -Iinclude examples/custom_call/custom_call.c examples/custom_call/functions.c -lindim -lm -o custom_call
//   ./custom_call examples/custom_call/unit_rows.hlo
#include <stdio.h>

#include "indim/compile.h"
#include "indim/custom_call.h"
#include "indim/eval.h"
#include "indim/text.h"

indim_custom_call_fn unit_rows;

static int tell(indim_ctx *cx) {
  const indim_diagnostic *d = indim_ctx_diagnostic_get(cx, 0);
  fprintf(stderr, "%s\n", d == NULL ? "it failed" : d->message);
  indim_ctx_diagnostics_clear(cx);
  return 1;
}

static int run(indim_ctx *cx, indim_executable *executable) {
  const float x[4] = {3, 4, 5, 12};
  float y[4] = {0};
  const void *arguments[] = {x};
  void *results[] = {y};
  indim_run_options options = {
      .arguments = arguments, .argument_count = 1, .results = results, .result_count = 1, .cx = cx};
  if (indim_execute(executable, &options) != INDIM_OK) {
    return tell(cx);
  }
  printf("%g %g, %g %g\n", (double)y[0], (double)y[1], (double)y[2], (double)y[3]);
  return 0;
}

// On a row of zeros, which the function refuses.
static int evaluate(indim_ctx *cx, const indim_module *module) {
  indim_literal *zeros = NULL;
  indim_literal *result = NULL;
  int code = 1;
  if (indim_literal_parse(cx, indim_str_of("f32[2,2] {{1, 1}, {0, 0}}"), &zeros) == INDIM_OK) {
    const indim_literal *arguments[] = {zeros};
    code = indim_eval(cx, module, arguments, 1, NULL, &result) == INDIM_OK ? 0 : tell(cx);
  }
  indim_literal_destroy(result);
  indim_literal_destroy(zeros);
  return code;
}

int main(int argc, char **argv) {
  char text[4000];
  indim_ctx *cx = NULL;
  indim_module *module = NULL;
  indim_executable *executable = NULL;
  FILE *file = argc < 2 ? NULL : fopen(argv[1], "rb");
  if (file == NULL || indim_ctx_create(NULL, &cx) != INDIM_OK) {
    fprintf(stderr, "give a program\n");
    return 2;
  }
  indim_str program = {text, fread(text, 1, sizeof text, file)};
  fclose(file);
  int code = 1;
  if (indim_register_custom_call(cx, "unit_rows", unit_rows, NULL) != INDIM_OK ||
      indim_module_parse(cx, indim_str_of(argv[1]), program, &module) != INDIM_OK ||
      indim_module_verify(cx, module) != INDIM_OK || indim_compile(cx, module, NULL, &executable) != INDIM_OK) {
    tell(cx);
  } else {
    code = run(cx, executable) == 0 && evaluate(cx, module) != 0 ? 0 : 1;
  }
  indim_executable_destroy(executable);
  indim_module_destroy(module);
  indim_ctx_destroy(cx);
  return code;
}
