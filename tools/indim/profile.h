// indim run --profile: how long each step of a program takes (profile.c), and what the machine could do (limits.c).
#ifndef INDIM_TOOL_PROFILE_H
#define INDIM_TOOL_PROFILE_H

#include "tool.h"

typedef struct profile_options {
  indim_compile_options compile;
  int32_t threads;  // 1 or more
  int64_t repeat;   // rounds; 0: as many as some tenths of a second have
  bool json;
  bool limits;  // measure the machine's
} profile_options;

// What the machine did at its best, on the threads of the run: bytes and operations per second.
typedef struct machine_limits {
  double bandwidth;
  double flops;
  const char *type;  // of the elements: "f32", "f64"
} machine_limits;
indim_status measure_limits(indim_ctx *cx, indim_pool *pool, bool is_f64, machine_limits *out);

// A literal of the parameter's shape for programs that are measured without arguments: floats between 0.5 and 1.5, integers
// and preds 1.
indim_status make_argument(indim_ctx *cx, const indim_shape *shape, indim_literal **out_literal);

// Compiles the program twice, with and without clocks, runs both in turn, and prints a table or JSON. |*out_result| is what
// the program gives, to be destroyed; NULL if it failed. |out_result| may be NULL.
int profile_program(indim_ctx *cx, const command *self, const indim_module *module,
                    const indim_literal *const *arguments, int64_t count, const profile_options *options,
                    indim_literal **out_result);

#endif  // INDIM_TOOL_PROFILE_H
