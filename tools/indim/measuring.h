// A program's buffers, and executables that run on them in turn: what `indim run --profile` and `indim tune` measure with.
#ifndef INDIM_TOOL_MEASURING_H
#define INDIM_TOOL_MEASURING_H

#include "tool.h"

typedef struct measuring {
  indim_ctx *cx;
  indim_pool *pool;           // NULL: one thread
  indim_literal **arguments;  // leaves in the program's layouts
  const void **pointers;
  int64_t argument_count;
  indim_literal **results;  // leaves, which all write
  int64_t result_count;
} measuring;

// malloc of zeros that exits with EXIT_MEMORY and a message instead of returning NULL.
void *zeroed(size_t count, size_t size);
// Makes a pool for so many threads (1: none), copies of |arguments| as |executable| takes them, and room for its results.
// |out| is to be ended, also after a failure.
indim_status measuring_begin(indim_ctx *cx, const indim_module *module, const indim_executable *executable,
                             const indim_literal *const *arguments, int64_t count, int32_t threads, measuring *out);
void measuring_end(measuring *m);
// Any executable of the module runs on the buffers. |times|: of its steps, or NULL.
indim_status measuring_bind(const measuring *m, const indim_executable *executable, indim_step_time *times,
                            indim_binding **out_binding);
// Runs |count| times.
indim_status measuring_run(indim_binding *binding, int64_t count, int64_t *out_ns);
// How many runs take a time that a clock tells from noise.
indim_status measuring_choose_together(indim_binding *binding, int64_t *out_together, int64_t *out_ns);
// The value below which |share| of them are; 0.5: the median.
double quantile_of(const double *values, int64_t count, double share);

#endif  // INDIM_TOOL_MEASURING_H
