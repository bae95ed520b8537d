// Both engines on what a fuzzer thinks up: a text that parses, verifies and is small is evaluated, compiled and run; input
// that begins with 0xFF is a stream of choices for the generator of programs instead (tests/prop/program.h), whose results
// must agree. Nothing may crash, touch memory outside of its buffers, or be left behind.
#define _DEFAULT_SOURCE  // MAP_ANONYMOUS
#include "twin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run_choices(twin *t, const uint8_t *bytes, size_t size) {
  choices c = {.bytes = bytes, .left = size};
  program p;
  program_make(&p, &c);
  if (twin_run(t, &p, &c, NULL) == TWIN_DIFFERENT) {
    printf("%s\n%s", t->complaint, p.text);
    abort();
  }
  program_free(&p);
}

// Everything is limited: values, memory, and the steps of the evaluator, without which a compiled loop might not end.
static void run_text(const uint8_t *data, size_t size) {
  enum { MOST_ELEMENTS = 4096 };
  char *from = calloc(1, size + 1);
  program p;
  indim_ctx *cx = NULL;
  indim_module *module = NULL;
  indim_literal *arguments[PROGRAM_PARAMETERS] = {NULL};
  indim_literal *results[2] = {NULL, NULL};
  indim_executable *exe = NULL;
  choices c = {.state = size};
  if (from == NULL || indim_ctx_create(NULL, &cx) != INDIM_OK) {
    abort();
  }
  memcpy(from, data, size);
  indim_ctx_set_memory_limit(cx, 64 << 20);
  bool ok = program_of_text(&p, from, (within){0}, MOST_ELEMENTS) &&
            indim_module_parse(cx, indim_str_of("fuzz"), indim_str_of(from), &module) == INDIM_OK &&
            indim_module_verify(cx, module) == INDIM_OK;
  for (int i = 0; ok && i < p.parameter_count; i++) {
    ok = make_argument(cx, &c, &p.parameters[i], p.any_values[i], &arguments[i]);
  }
  const indim_literal *const *given = (const indim_literal *const *)arguments;
  indim_eval_options limits = {.max_steps = 2000};
  ok = ok && indim_eval(cx, module, given, p.parameter_count, &limits, &results[0]) == INDIM_OK;
  if (ok && indim_compile(cx, module, NULL, &exe) == INDIM_OK) {
    indim_status status = indim_execute_literals(cx, exe, given, p.parameter_count, NULL, &results[1]);
    if (status != INDIM_OK && status != INDIM_LIMIT && status != INDIM_NO_MEMORY) {
      printf("%s\n", last_message(cx));
      abort();
    }
  }
  indim_executable_destroy(exe);
  indim_literal_destroy(results[0]);
  indim_literal_destroy(results[1]);
  for (int i = 0; i < PROGRAM_PARAMETERS; i++) {
    indim_literal_destroy(arguments[i]);
  }
  indim_module_destroy(module);
  if (indim_ctx_memory_in_use(cx) != 0) {
    abort();
  }
  indim_ctx_destroy(cx);
  free(from);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static twin t;
  if (t.memory == NULL) {
    twin_init(&t);
  }
  if (size > 0 && data[0] == 0xFF) {
    run_choices(&t, data + 1, size - 1);
  } else {
    run_text(data, size);
  }
  return 0;
}
