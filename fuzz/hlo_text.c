// HLO text: whatever parses must print, the printed text must parse to something that prints the same, verifying must end
// with a status, and what verifies must evaluate without a crash within small limits. Memory is limited, and nothing may
// be left behind.
#include <stdlib.h>
#include <string.h>

#include "indim/eval.h"
#include "indim/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok) {
  if (!ok) {
    abort();
  }
}

// Evaluates on zeros.
static void evaluate(indim_ctx *cx, const indim_module *module) {
  enum { MOST = 8 };
  const indim_computation *entry = indim_module_entry(module);
  indim_literal *arguments[MOST] = {NULL};
  int64_t count = indim_computation_parameter_count(entry);
  indim_literal *result = NULL;
  bool made = count <= MOST;
  for (int64_t i = 0; i < count && made; i++) {
    made =
        indim_literal_create(cx, indim_instr_shape(indim_computation_parameter(entry, i)), &arguments[i]) == INDIM_OK;
  }
  indim_eval_options options = {.max_steps = 2000};
  if (made && indim_eval(cx, module, (const indim_literal *const *)arguments, count, &options, &result) == INDIM_OK) {
    indim_buffer text;
    indim_buffer_init(&text, cx);
    indim_literal_print(result, (unsigned)INDIM_LITERAL_SHAPE, &text);
    indim_buffer_deinit(&text);
  }
  indim_literal_destroy(result);
  for (int i = 0; i < MOST; i++) {
    indim_literal_destroy(arguments[i]);
  }
}

static void print_twice(indim_ctx *cx, const indim_module *module) {
  indim_buffer once;
  indim_buffer twice;
  indim_module *again = NULL;
  indim_buffer_init(&once, cx);
  indim_buffer_init(&twice, cx);
  indim_module_print(module, INDIM_PRINT_METADATA, &once);
  if (once.status == INDIM_OK) {
    indim_status status = indim_module_parse(cx, indim_str_of("printed"), (indim_str){once.data, once.size}, &again);
    require(status == INDIM_OK || status == INDIM_LIMIT || status == INDIM_NO_MEMORY);
    if (status == INDIM_OK) {
      indim_module_print(again, INDIM_PRINT_METADATA, &twice);
      require(twice.status != INDIM_OK || (once.size == twice.size && memcmp(once.data, twice.data, once.size) == 0));
    }
  }
  indim_module_destroy(again);
  indim_buffer_deinit(&once);
  indim_buffer_deinit(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  indim_ctx *cx = NULL;
  indim_module *module = NULL;
  require(indim_ctx_create(NULL, &cx) == INDIM_OK);
  indim_ctx_set_memory_limit(cx, 32 << 20);
  indim_str text = {(const char *)data, size};
  if (indim_module_parse(cx, indim_str_of("fuzz"), text, &module) == INDIM_OK) {
    print_twice(cx, module);
    if (indim_module_verify(cx, module) == INDIM_OK) {
      evaluate(cx, module);
    }
  } else {
    require(indim_ctx_diagnostic_count(cx) > 0);
  }
  indim_module_destroy(module);
  require(indim_ctx_memory_in_use(cx) == 0);
  indim_ctx_destroy(cx);
  return 0;
}
