// Running what was compiled (compile.h): arguments and results are the caller's own memory, nothing is allocated per
// run, and one executable may run on many threads at once. Threads are the caller's, or a pool's; results are the same
// bits for any number of them.
#ifndef INDIM_EXECUTE_H
#define INDIM_EXECUTE_H

#include "indim/literal.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct indim_executable indim_executable;

// NULL allowed. No run may be in progress.
INDIM_API void indim_executable_destroy(indim_executable *executable);

// Looking. Leaves are the arrays that an argument or the result consists of, in order: those of (f32[2], (s32[],
// f32[])) are three. A token is none. An array with dynamic dimensions is one of its bounds, and an s32[] behind it for each
// of them, how much of it counts: f32[<=10,4] is f32[10,4] and s32[]. Given NULL or a number outside, all answer 0 or NULL.
INDIM_API int64_t indim_executable_argument_count(const indim_executable *executable);
INDIM_API int64_t indim_executable_result_count(const indim_executable *executable);
// Shape of a leaf with the layout that its buffer has to have; the bytes of the buffer; and what its address has to be
// a multiple of (that of the element type, of a complex number's part: f32 4, c64 4, f64 8, c128 8).
INDIM_API const indim_shape *indim_executable_argument_shape(const indim_executable *executable, int64_t leaf);
INDIM_API const indim_shape *indim_executable_result_shape(const indim_executable *executable, int64_t leaf);
INDIM_API int64_t indim_executable_argument_bytes(const indim_executable *executable, int64_t leaf);
INDIM_API int64_t indim_executable_result_bytes(const indim_executable *executable, int64_t leaf);
INDIM_API int64_t indim_executable_argument_alignment(const indim_executable *executable, int64_t leaf);
INDIM_API int64_t indim_executable_result_alignment(const indim_executable *executable, int64_t leaf);
// The argument leaf whose buffer may be given for the result's too (input_output_alias), -1 if there is none. Its
// contents are then the result's afterwards.
INDIM_API int64_t indim_executable_result_alias(const indim_executable *executable, int64_t leaf);
// Working memory of one run, aligned to INDIM_SCRATCH_ALIGNMENT.
INDIM_API int64_t indim_executable_scratch_bytes(const indim_executable *executable);
INDIM_API int64_t indim_executable_code_bytes(const indim_executable *executable);
// The name of what the code was made for ("native", "x86-64-v3"), and the bytes of the vectors it uses: 64, 32, 16, or 8 for
// next to none.
INDIM_API const char *indim_executable_target(const indim_executable *executable);
INDIM_API int32_t indim_executable_vector_bytes(const indim_executable *executable);
// What this machine lacks to run the code ("avx512f"); NULL if nothing.
INDIM_API const char *indim_executable_missing(const indim_executable *executable);

// Nanoseconds of the stages.
typedef struct indim_compile_times {
  int64_t load;   // loading the code generator, and OpenBLAS if it is wanted; next to nothing after the first time
  int64_t lower;  // fusion, lowering, the buffer plan, and their verifier
  int64_t emit;
  int64_t code;
} indim_compile_times;
// Zeros for NULL.
INDIM_API void indim_executable_times(const indim_executable *executable, indim_compile_times *out_times);

// What a program does when it runs, step by step: a loop nest, a call of the host's, a copy. Branches, and while loops with steps
// inside, are gone into; what is computed between steps is none. They are numbered in the order of the loop program
// (indim_compile_options.out_loops).
typedef struct indim_profile_step {
  const char *kind;     // "loop", "while", "copy", "fill", "host"
  const char *service;  // of "host": "matmul", "fft", "lapack", "custom_call"; else ""
  // The instruction that it was made for and its op; "" if none is known.
  const char *name;
  const char *op;
  // The names of all instructions whose elements it computes, itself included, at most INDIM_PROFILE_INSTRUCTIONS.
  const char *const *instructions;
  int64_t instruction_count;
  bool is_parallel;
  bool is_repeated;  // in a while loop: it may run several times, or never
  // Of one run, by the bounds of its loops; of a while, one iteration. Each byte of memory counts once, however often it is
  // accessed. Operations on elements are counted as indim_module_cost does; those of lapack and custom_call are not known: 0.
  double bytes_read, bytes_written;
  double operations;
  double transcendentals;  // exponentials, roots, sines, which are not among the operations
} indim_profile_step;
enum { INDIM_PROFILE_INSTRUCTIONS = 64 };
// Of a program compiled with indim_compile_options.profile; of others there are none.
INDIM_API int64_t indim_executable_step_count(const indim_executable *executable);
INDIM_API const indim_profile_step *indim_executable_step(const indim_executable *executable, int64_t index);

// How often a step ran and for how long, by the clock of the thread that called.
typedef struct indim_step_time {
  int64_t runs;
  int64_t ns;
} indim_step_time;

enum { INDIM_SCRATCH_ALIGNMENT = 64 };

// A caller's own threads: calls piece(frame, b, e) for [0, count) cut into [0, grain), [grain, 2 * grain), ... (the
// last may be shorter), in any order and on any threads, and returns when all are done.
typedef void indim_parallel_fn(void *user, void (*piece)(void *frame, int64_t begin, int64_t end), void *frame,
                               int64_t count, int64_t grain);

// A pool of threads of ours, for callers that have none. |threads| counts the caller's own, which works along; 1 makes
// no thread at all. Idle workers look for work for a tenth of a millisecond and then sleep; on Linux they are not woken
// on the processor that the caller runs on then. A pool serves one parallel loop at a time: a loop that comes while
// another runs, or from inside a piece, runs on its caller's thread alone; so does every loop in a child of fork(), which
// has none of the threads and may destroy its copy of the pool. INVALID for less than 1 or more than
// INDIM_MAX_THREADS, LIMIT when the system gives no more threads, UNSUPPORTED for more than 1 where there are no POSIX
// threads.
typedef struct indim_pool indim_pool;
enum { INDIM_MAX_THREADS = 1024 };
INDIM_API INDIM_CHECKED indim_status indim_pool_create(indim_ctx *cx, int32_t threads, indim_pool **out_pool);
INDIM_API void indim_pool_destroy(indim_pool *pool);           // NULL allowed; must be idle
INDIM_API int32_t indim_pool_threads(const indim_pool *pool);  // 0 for NULL
// How many threads a pool should have here, 1 to INDIM_MAX_THREADS: what the environment variable INDIM_NUM_THREADS says if
// it is such a number (anything else is as if it were not set), else the processors that the calling thread may run on
// (sched_getaffinity), but no more than the quotas of processor time of the process' cgroups, v1 and v2, rounded up.
INDIM_API int32_t indim_pool_default_threads(void);
// What indim_execute calls for each parallel loop; |user| is the pool. An indim_parallel_fn.
INDIM_API void indim_pool_run(void *user, void (*piece)(void *frame, int64_t begin, int64_t end), void *frame,
                              int64_t count, int64_t grain);

typedef struct indim_run_options {
  const void *const *arguments;  // not written, unless given as a result too
  int64_t argument_count;
  // A result may be an argument's buffer where indim_executable_result_alias allows it; otherwise no result overlaps
  // another buffer. Arguments may overlap each other.
  void *const *results;
  int64_t result_count;
  // indim_executable_scratch_bytes of working memory; NULL: the executable's own. A run that finds that in use by
  // another allocates, with |cx| or else with the compiling context's allocator, which must then allow that from any
  // thread.
  void *scratch;
  // Not 0: loops end before their next step, long ones within some tenths of a second, matrix products after their
  // block, and the run answers INTERRUPTED; NULL: never.
  const volatile int32_t *stop;
  indim_pool *pool;             // NULL: no threads unless |parallel| is given
  indim_parallel_fn *parallel;  // goes before |pool|
  void *parallel_user;
  // One for each step of the executable, which the run adds its own to; NULL: nothing is counted.
  indim_step_time *step_times;
  indim_ctx *cx;  // where a refusal is explained; NULL: nowhere. This thread's.
} indim_run_options;

// Runs. INVALID when counts are wrong, a pointer is NULL (of a buffer of 0 bytes it may be) or misaligned, or a result
// overlaps, before anything ran, and when a size of a dynamic dimension is none, as the run finds; INTERRUPTED when stopped and NO_MEMORY when a service of the host had none: results
// are then undefined. So they are when a function of a custom call (custom_call.h) fails, whose status is the answer.
INDIM_API INDIM_CHECKED indim_status indim_execute(indim_executable *executable, const indim_run_options *options);

// A program bound to its buffers. indim_execute looks at every buffer each time, some nanoseconds for each; where the
// same buffers serve again and again, in a control loop say, this looks once, and a run is a call of the compiled
// function. A run computes with what the arguments hold then. Of |options| the lists are copied; buffers, |scratch|,
// |stop| and threads are used by every run, |cx| is not looked at. Without |scratch| a binding has a block of its own.
// It serves one thread at a time; bindings of one executable may run at once. INVALID as from indim_execute.
typedef struct indim_binding indim_binding;
INDIM_API INDIM_CHECKED indim_status indim_binding_create(indim_ctx *cx, const indim_executable *executable,
                                                          const indim_run_options *options,
                                                          indim_binding **out_binding);
INDIM_API void indim_binding_destroy(indim_binding *binding);  // NULL allowed; before its executable goes
// INTERRUPTED and NO_MEMORY as from indim_execute, explained in the context of the binding; INVALID for NULL.
INDIM_API INDIM_CHECKED indim_status indim_binding_run(indim_binding *binding);

// A run over literals, one for each parameter of the program, as indim_eval takes and gives them: types and sizes must
// agree, layouts may differ and are converted, a tuple is one argument. The result is in the layout that the program
// states. Of |options|, which may be NULL, only scratch, stop, the threads and |step_times| are looked at.
INDIM_API INDIM_CHECKED indim_status indim_execute_literals(indim_ctx *cx, indim_executable *executable,
                                                            const indim_literal *const *arguments,
                                                            int64_t argument_count, const indim_run_options *options,
                                                            indim_literal **out_result);
// The same, with the execution repeated: to warm up and then |times| more, whose nanoseconds go to |out_ns|. Converting
// layouts is not counted. Runs of less than some microseconds are measured many together, and count as one with their
// mean.
INDIM_API INDIM_CHECKED indim_status indim_execute_timed(indim_ctx *cx, indim_executable *executable,
                                                         const indim_literal *const *arguments, int64_t argument_count,
                                                         const indim_run_options *options, int64_t times,
                                                         int64_t *out_ns, indim_literal **out_result);

#ifdef __cplusplus
}
#endif
#endif  // INDIM_EXECUTE_H
