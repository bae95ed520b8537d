// The inside of the oracle: one function per evaluated op, a frame per running computation.
#ifndef INDIM_EVAL_EVALUATOR_H
#define INDIM_EVAL_EVALUATOR_H

#include "eval/scalar.h"
#include "eval/value.h"
#include "ffi/call.h"
#include "graph/module.h"
#include "indim/eval.h"

// Calls inside calls; an ordinary stack holds many times as many frames.
enum { INDIM_MAX_CALL_DEPTH = 500 };

// What is known of a computation before it runs, found at its first run.
typedef struct indim_eval_plan {
  // For each instruction:
  int32_t *last_use;        // the index of its last needed user; INT32_MAX for the root; -1: unneeded
  bool *is_dynamic;         // run by the rules of dynamic.h
  bool *takes_member;       // get-tuple-element: nobody looks at that member later, so it may be moved out
  indim_value **constants;  // the value, once made; NULL as a whole in the entry, which runs only once
  indim_call **calls;       // the custom calls of functions of the caller's; NULL as a whole if there are none
  uint64_t *drawn;          // rng and its like: two numbers {low, high}; NULL before the first of them has run
  bool is_ready;
} indim_eval_plan;

typedef struct indim_evaluator {
  indim_ctx *cx;
  const indim_module *module;
  indim_eval_plan *plans;  // by computation index
  indim_arena arena;       // of the plans
  uint64_t steps;
  uint64_t max_steps;    // 0: no limit
  uint64_t steps_asked;  // at the last poll
  int64_t work;          // since the last one
  int depth;
  int64_t run_id;  // for custom calls
} indim_evaluator;

// An op: reads |operands|, whose references stay the caller's unless it sets one to NULL to keep it. |*out| gets one
// reference.
typedef indim_status indim_eval_fn(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                   indim_value **out);

// indim_eval_unary, indim_eval_dot, ...: the eval column of ops.def.
#define INDIM_OP(name, text, least, most, types, shape, infer, eval, meaning) indim_eval_fn indim_eval_##eval;
#include "indim/ops.def"

// What can be said of a custom call before anything runs: that its target is known, and what the target checks.
INDIM_CHECKED indim_status indim_eval_check_custom_call(indim_evaluator *e, const indim_instr *instr);
INDIM_CHECKED indim_status indim_eval_check_linalg(indim_evaluator *e, const indim_instr *instr);
// One that is a product with a sparse matrix (linalg/csr.h), checked.
indim_eval_fn indim_eval_csr;

// Custom calls of functions of the caller's: read before anything runs, and run with their arrays.
INDIM_CHECKED indim_status indim_eval_prepare_call(indim_evaluator *e, const indim_instr *instr);
INDIM_CHECKED indim_status indim_eval_run_call(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                               indim_value **out);

// Counts steps; every so often asks whether to go on.
INDIM_CHECKED indim_status indim_eval_steps(indim_evaluator *e, uint64_t count);

// Counts elements looked at, which are no steps; every so often asks whether to go on.
INDIM_CHECKED indim_status indim_eval_work(indim_evaluator *e, int64_t count);

// Runs a computation on |arguments|, taking their references over whatever the outcome.
INDIM_CHECKED indim_status indim_eval_computation(indim_evaluator *e, const indim_computation *computation,
                                                  indim_value **arguments, int64_t count, indim_value **out);

// Copies a box of |sizes| elements of |bytes| each between two arrays with strides in elements, either sign.
INDIM_CHECKED indim_status indim_eval_copy_box(indim_evaluator *e, int32_t rank, const int64_t *sizes, int64_t bytes,
                                               unsigned char *to, const int64_t *to_strides, const unsigned char *from,
                                               const int64_t *from_strides);
// Row-major strides in elements of a dense array.
void indim_eval_dense_strides(const indim_shape *shape, int64_t *out_strides);

#endif  // INDIM_EVAL_EVALUATOR_H
