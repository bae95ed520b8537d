// The arguments and threads of a program that a command runs.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profile.h"

static int read_arguments(indim_ctx *cx, const command *self, const indim_module *module, char **texts, int count,
                          indim_literal **list) {
  const indim_computation *entry = indim_module_entry(module);
  int64_t parameters = indim_computation_parameter_count(entry);
  if (count != parameters) {
    int code = refuse(self, INDIM_INVALID, "the program takes %" PRId64 " argument%s, %d %s given", parameters,
                      parameters == 1 ? "" : "s", count, count == 1 ? "is" : "are");
    for (int64_t i = 0; i < parameters; i++) {
      const indim_instr *parameter = indim_computation_parameter(entry, i);
      char *shape = shape_text(cx, indim_instr_shape(parameter), false);
      indim_str name = indim_instr_name(parameter);
      fprintf(stderr, "  %" PRId64 "  %s  %.*s\n", i, shape, (int)name.size, name.data);
      free(shape);
    }
    return code;
  }
  for (int i = 0; i < count; i++) {
    const indim_shape *shape = indim_instr_shape(indim_computation_parameter(entry, i));
    int code = read_argument(cx, self, texts[i], shape, &list[i]);
    if (code != EXIT_OK) {
      fprintf(stderr, "  in argument %d\n", i);
      return code;
    }
  }
  return EXIT_OK;
}

// For a program that is only measured.
static int make_arguments(indim_ctx *cx, const indim_module *module, int64_t count, indim_literal **list) {
  indim_status status = INDIM_OK;
  for (int64_t i = 0; i < count && status == INDIM_OK; i++) {
    const indim_instr *parameter = indim_computation_parameter(indim_module_entry(module), i);
    status = make_argument(cx, indim_instr_shape(parameter), &list[i]);
  }
  return status == INDIM_OK ? EXIT_OK : report(cx, status);
}

int take_arguments(indim_ctx *cx, const command *self, const indim_module *module, char **texts, int count,
                   bool may_make, program_arguments *out) {
  bool is_made_up = may_make && count == 0;
  out->count = is_made_up ? indim_computation_parameter_count(indim_module_entry(module)) : count;
  out->list = must_alloc(((size_t)out->count + 1) * sizeof *out->list);
  for (int64_t i = 0; i < out->count; i++) {
    out->list[i] = NULL;
  }
  return is_made_up ? make_arguments(cx, module, out->count, out->list)
                    : read_arguments(cx, self, module, texts, count, out->list);
}

void drop_arguments(program_arguments *arguments) {
  for (int64_t i = 0; i < arguments->count; i++) {
    indim_literal_destroy(arguments->list[i]);
  }
  free(arguments->list);
}

int parse_threads(const command *self, const char *value, int32_t *out_threads) {
  uint64_t count = 0;
  if (strcmp(value, "auto") == 0) {
    *out_threads = indim_pool_default_threads();
    return EXIT_OK;
  }
  int code = parse_count(self, "threads", value, &count);
  if (code == EXIT_OK && count > INDIM_MAX_THREADS) {
    return usage_error(self, "--threads is at most %d", (int)INDIM_MAX_THREADS);
  }
  *out_threads = (int32_t)count;
  return code;
}
