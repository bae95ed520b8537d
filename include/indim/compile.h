// Compiling a program to one native function, and running it: arguments and results are the caller's own memory, nothing
// is allocated per run, and one executable may run on many threads at once.
//
//   indim_executable *exe = NULL;
//   if (indim_compile(cx, module, NULL, &exe) == INDIM_OK) {
//     const void *arguments[] = {x, y};      // leaves in order, in the layouts the program states, aligned for the type
//     void *results[] = {z};
//     indim_run_options run = {.arguments = arguments, .argument_count = 2, .results = results, .result_count = 1};
//     status = indim_execute(exe, &run);
//   }
#ifndef INDIM_COMPILE_H
#define INDIM_COMPILE_H

#include "indim/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct indim_executable indim_executable;

// Relaxations of strict IEEE arithmetic; without any, results are those of the evaluator up to the stated ulps.
enum {
  INDIM_COMPILE_CONTRACT = 1 << 0,     // a * b + c may be rounded once
  INDIM_COMPILE_REASSOCIATE = 1 << 1,  // sums and products may be taken in another order
  INDIM_COMPILE_RECIPROCAL = 1 << 2    // a / b may be a * (1 / b)
};

typedef struct indim_compile_options {
  unsigned fast;
  // Passes left out, by the names of passes.def separated by commas; NULL for none. For tests and for looking.
  const char *without;
  // Text of a stage, written when not NULL.
  indim_buffer *out_loops;
  indim_buffer *out_llvm;
  indim_buffer *out_asm;
  indim_buffer *out_explain;  // what was fused and what was not, and why
} indim_compile_options;

// Nanoseconds of the stages.
typedef struct indim_compile_times {
  int64_t lower;  // fusion, lowering and the buffer plan
  int64_t emit;
  int64_t code;
} indim_compile_times;

// Compiles the entry computation of a verified module. Errors: UNSUPPORTED with the instruction and the reason for what
// the compiler does not do (the evaluator may); NO_MEMORY, LIMIT, INTERRUPTED; UNSUPPORTED as well when LLVM is not there.
// The executable does not refer to the module afterwards.
INDIM_API INDIM_CHECKED indim_status indim_compile(indim_ctx *cx, const indim_module *module,
                                                   const indim_compile_options *options,
                                                   indim_executable **out_executable);
INDIM_API void indim_executable_destroy(indim_executable *executable);

INDIM_API indim_compile_times indim_executable_times(const indim_executable *executable);
INDIM_API int64_t indim_executable_code_bytes(const indim_executable *executable);
// Leaves of the arguments and of the result, and the bytes of each buffer; 0 outside.
INDIM_API int64_t indim_executable_argument_count(const indim_executable *executable);
INDIM_API int64_t indim_executable_argument_bytes(const indim_executable *executable, int64_t leaf);
INDIM_API int64_t indim_executable_result_count(const indim_executable *executable);
INDIM_API int64_t indim_executable_result_bytes(const indim_executable *executable, int64_t leaf);
INDIM_API int64_t indim_executable_scratch_bytes(const indim_executable *executable);

// A caller's own threads: calls piece(frame, b, e) for [0, count) cut into pieces of |grain| iterations, in any order and
// on any threads, and returns when all are done.
typedef void indim_parallel_fn(void *user, void (*piece)(void *frame, int64_t begin, int64_t end), void *frame,
                               int64_t count, int64_t grain);

// A pool of threads of ours, for callers that have none. |threads| counts the caller's own.
typedef struct indim_pool indim_pool;
INDIM_API INDIM_CHECKED indim_status indim_pool_create(indim_ctx *cx, int32_t threads, indim_pool **out_pool);
INDIM_API void indim_pool_destroy(indim_pool *pool);

typedef struct indim_run_options {
  const void *const *arguments;
  int64_t argument_count;
  // A result may be an argument's buffer where the program's input_output_alias says so; otherwise they do not overlap.
  void *const *results;
  int64_t result_count;
  void *scratch;                 // NULL: the executable's own (then only one run at a time may use it)
  const volatile int32_t *stop;  // not 0: loops end and the run answers INTERRUPTED; NULL: never
  indim_pool *pool;              // NULL: no threads unless |parallel| is given
  indim_parallel_fn *parallel;
  void *parallel_user;
} indim_run_options;

// Runs. INVALID when counts are wrong or a pointer is NULL or misaligned, before anything ran; INTERRUPTED when stopped.
INDIM_API INDIM_CHECKED indim_status indim_execute(indim_executable *executable, const indim_run_options *options);

#ifdef __cplusplus
}
#endif
#endif  // INDIM_COMPILE_H
