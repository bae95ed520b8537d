// A custom call as an engine holds it: read and checked once, with the function that it is to run; then run any number of
// times, on any threads.
//
//   (f32[2], s32[]) custom-call(x), custom_call_target="scale", ...  ->  operands {f32[2]}, results {f32[2], s32[]}, the function
#ifndef INDIM_FFI_CALL_H
#define INDIM_FFI_CALL_H

#include "ffi/registry.h"
#include "graph/module.h"

typedef struct indim_call indim_call;

// Who runs a target.
typedef enum indim_call_kind {
  INDIM_CALL_UNKNOWN,
  INDIM_CALL_REGISTERED,
  INDIM_CALL_CALLBACK,  // of Python's: refused when a run reaches it, not before
  INDIM_CALL_CHECK      // fails when a run reaches it
} indim_call_kind;
// The target of calls that fail: of branches that no sound run takes (expand/dynamic/). backend_config= is the status, where, and
// why, each on a line of its own; each "\1" in the last stands for an operand, which are s64 scalars.
#define INDIM_CALL_FAILED_CHECK "indim.failed_check"
indim_call_kind indim_call_kind_of(const indim_ctx *cx, const indim_instr *instr);

// Reads a call; one that is UNKNOWN cannot be run, its arrays are those of a function. INVALID or UNSUPPORTED, with what is wrong, for attributes that cannot be read, arrays that
// are not dense and more arrays than there may be, and what the handler's stage INSTANTIATE answers. The call refers to nothing of
// the module.
INDIM_CHECKED indim_status indim_call_create(indim_ctx *cx, const indim_instr *instr, indim_call **out_call);
void indim_call_destroy(indim_call *call);  // NULL allowed

// The calls of a program, which owns them.
typedef struct indim_calls {
  indim_call **list;
  int32_t count, capacity;
} indim_calls;
// Takes |call| over, on failure too.
INDIM_CHECKED indim_status indim_calls_add(indim_ctx *cx, indim_calls *calls, indim_call *call);
void indim_calls_destroy(indim_ctx *cx, indim_calls *calls);

// The leaves of the results and operands with the layouts that the call wants, the results' first; those that are no tokens have
// data. The shapes live as long as the call.
int64_t indim_call_result_count(const indim_call *call);
int64_t indim_call_leaf_count(const indim_call *call);
const indim_shape *indim_call_leaf(const indim_call *call, int64_t leaf);

// One run of a call. |run_id| is the same for all calls of a run of a program, and another in its next run.
typedef struct indim_call_run {
  const volatile int32_t *stop;
  int64_t run_id;
  char message[640];  // out: what the diagnostic says: "custom-call 'scale' failed: ..."
} indim_call_run;

// Runs the function with the leaves' arrays, in their order, without the tokens.
INDIM_CHECKED indim_status indim_call_execute(const indim_call *call, indim_call_run *run, void *const *arrays);
// Whether it has no function and fails.
bool indim_call_is_check(const indim_call *call);
// "y (custom-call)", where messages begin that have no instruction at hand.
const char *indim_call_place(const indim_call *call);

#endif  // INDIM_FFI_CALL_H
