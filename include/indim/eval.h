// The oracle: runs a module by the plainest loops, one instruction after another. Slow and right; the compiled engine
// is held against it.
#ifndef INDIM_EVAL_H
#define INDIM_EVAL_H

#include "indim/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct indim_eval_options {
  uint64_t max_steps;  // instructions run, those of called computations each time; 0: no limit
} indim_eval_options;

// Checks |arguments| against the entry computation's parameters (count, types, sizes; layouts may differ and are
// converted), evaluates it, and returns the result in the layout the program states. |options| may be NULL. Memory is
// limited by the context, long runs poll it. The module must have been verified. Errors: INVALID (arguments; an
// elided constant whose values are needed), UNSUPPORTED (an op that the evaluator lacks), LIMIT, INTERRUPTED,
// NO_MEMORY; and what a function of a custom call returns (custom_call.h).
INDIM_API INDIM_CHECKED indim_status indim_eval(indim_ctx *cx, const indim_module *module,
                                                const indim_literal *const *arguments, int64_t argument_count,
                                                const indim_eval_options *options, indim_literal **out_result);

#ifdef __cplusplus
}
#endif
#endif  // INDIM_EVAL_H
