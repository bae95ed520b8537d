// Compiling a program to one native function. What comes out is run by execute.h.
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

#include "indim/execute.h"
#include "indim/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

// Relaxations of strict IEEE arithmetic; without any, results are those of the evaluator up to the stated ulps.
enum {
  INDIM_COMPILE_CONTRACT = 1 << 0,     // a * b + c may be rounded once
  INDIM_COMPILE_REASSOCIATE = 1 << 1,  // sums and products may be taken in another order
  INDIM_COMPILE_RECIPROCAL = 1 << 2,   // a / b may be a * (1 / b)
  // Subnormal numbers, nearer to 0 than 2^-126 (f64: 2^-1022), may be taken as zeros, given or computed, as XLA:CPU does: an
  // operation on one takes many processors a hundred times as long. What the program calls is in the same mode.
  INDIM_COMPILE_FLUSH = 1 << 3
};

// What is done now, for a progress line.
typedef enum indim_compile_stage { INDIM_COMPILE_LOWER, INDIM_COMPILE_EMIT } indim_compile_stage;

typedef struct indim_compile_options {
  unsigned fast;
  // Decisions of the compiler left out, by name (indim_compile_decisions), separated by commas; NULL for none. For
  // tests and for looking.
  const char *without;
  // Which way is taken at single instructions, and what is left out of the whole program, as `indim tune` writes it: lines
  // of "NAME DECISION yes" or "no", and of "* DECISION no"; NULL for none. INVALID, with the line, for what is no such line.
  // Lines about nothing in the program are told as one diagnostic, and the program is compiled.
  const char *choices;
  // What the code is made for: a name of indim_compile_targets, or NULL for "native". An executable for another machine
  // than this one can be looked at and not run.
  const char *target;
  // Text of a stage, written when not NULL. What is not wanted costs nothing.
  indim_buffer *out_plan;  // where each array lives, and what overwrites what
  indim_buffer *out_loops;
  // Which loops: NULL for those that code is made of; the name of a pass (indim_compile_passes) for those after it,
  // "lowering" for those before all passes, "all" for those after each pass that changed something.
  const char *loops_after;
  indim_buffer *out_llvm;
  indim_buffer *out_asm;
  indim_buffer *out_object;   // the relocatable object file with the function "indim_program" and all its constants
  indim_buffer *out_explain;  // what was fused and what was not, and why
  indim_buffer *out_choices;  // which way was taken wherever there were two, in the form of |choices|
  // The code reads the clock around each step, which indim_executable_step lists and a run's |step_times| take. A reading is
  // a call of some 20 to 50 ns. Otherwise the program is the same. Not for objects.
  bool profile;
  // What became of the program, for tools: one JSON object, described below (Reports).
  indim_buffer *out_report;
  // Called at the beginning of each stage; may be NULL.
  void (*progress)(void *user, indim_compile_stage stage);
  void *progress_user;
  // A crash inside LLVM does not end the process: while code is generated, the process has handlers of the library's for
  // SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP and SIGABRT, which pass on what is not theirs, and the thread a stack for them.
  // About 10 us; what LLVM held when it crashed, some MB, is not freed. True: the process's handlers are not touched, and a
  // crash ends it.
  bool leaves_signals;
  // Threads that code of larger programs is made with, as in indim_run_options: a pool, or what goes before it. The code is the
  // same for any number of threads. LLVM needs much stack: pieces of |parallel| are to have 1 MB. NULL: only the caller's thread.
  indim_pool *pool;
  indim_parallel_fn *parallel;
  void *parallel_user;
  // For tests: the code generator crashes on purpose where vectors have so many bytes or more; 0: never.
  int32_t crash_from;
  // For tests: code is cut into functions of about so many instructions, and these are shared out among modules of as many; 0: as
  // for everybody.
  int32_t chunk;
} indim_compile_options;

// Compiles the entry computation of a verified module. Errors: UNSUPPORTED with the instruction and the reason for what
// the compiler does not do (the evaluator may), and when the code generator's library is not there, which
// indim_compile_available tells; INVALID for a name in |without| that is none, and for constants left out of the text;
// NO_MEMORY, LIMIT, INTERRUPTED. |options| may be NULL. The executable holds memory of |cx| but does not refer to the
// module. A failure inside LLVM, or of a check of our own, leads to another try with vectors half as wide, then with narrower
// ones, at last with next to none and LLVM's simplest code generator; each failure stays among the diagnostics of |cx|,
// also when INDIM_OK is answered in the end. INTERNAL when all of them fail: the evaluator is left. LLVM's own memory while compiling is not counted by |cx|, but a program is refused with LIMIT when an
// estimate of it does not fit.
INDIM_API INDIM_CHECKED indim_status indim_compile(indim_ctx *cx, const indim_module *module,
                                                   const indim_compile_options *options,
                                                   indim_executable **out_executable);
// Whether the code generator's library (libindim-llvm, beside libindim; targets of other processor families need
// libindim-llvm-cross, too) can be loaded: INDIM_OK, or UNSUPPORTED with
// the reason and the way out.
INDIM_API INDIM_CHECKED indim_status indim_compile_available(indim_ctx *cx);

// Ahead of time --------------------------------------------------------------------------------------------------------

// A program as a relocatable object file, with a header for its callers in C and C++:
//
//   int NAME_run(const struct NAME_arguments *, struct NAME_results *, void *scratch, const struct indim_host *);
//
// is its only global symbol. Nothing of Indim needs to be linked. What a caller has to keep to stands in the header.
typedef struct indim_object indim_object;

// What is made of a parameter of the program: a constant of the object's.
typedef struct indim_static_argument {
  int64_t parameter;           // its number
  const indim_literal *value;  // of the parameter's type and sizes, in any layout
} indim_static_argument;

typedef struct indim_object_options {
  // Target, relaxations, decisions, texts (|out_object| included: the same bytes); NULL for none.
  const indim_compile_options *compile;
  // What the function, the structs and the constants of the header are named after: an identifier of C. NULL: one is made of
  // the module's name.
  const char *name;
  // LLVM's triple, in place of the target's: another system of the same processor, and its format of object files
  // ("x86_64-pc-windows-msvc", "arm64-apple-macosx"). NULL: the target's.
  const char *triple;
  const indim_static_argument *static_arguments;
  int64_t static_argument_count;
  // Products and Fourier transforms are loops of the object's own, whatever their size; a program that needs another service of the host is refused
  // (UNSUPPORTED) with the instruction that asks for it.
  bool is_self_contained;
} indim_object_options;

// Compiles a verified module. Custom calls of functions that are not registered are left to the host. Errors as from
// indim_compile; INVALID too for a name that is no identifier, a triple of
// another processor than the target's, and static arguments that do not fit. |options| may be NULL. The object does not refer to
// the module or the options. The same input gives the same bytes, unless the target is "native", of which each machine has its own.
INDIM_API INDIM_CHECKED indim_status indim_compile_object(indim_ctx *cx, const indim_module *module,
                                                          const indim_object_options *options,
                                                          indim_object **out_object);
INDIM_API void indim_object_destroy(indim_object *object);  // NULL allowed

// What follows only looks: given NULL or a number outside, it answers 0, NULL or "".
//
// The bytes of the object file; the header's text; the function's name in C.
INDIM_API indim_str indim_object_bytes(const indim_object *object);
INDIM_API indim_str indim_object_header(const indim_object *object);
INDIM_API const char *indim_object_symbol(const indim_object *object);
INDIM_API const char *indim_object_triple(const indim_object *object);
INDIM_API int64_t indim_object_code_bytes(const indim_object *object);
INDIM_API int64_t indim_object_scratch_bytes(const indim_object *object);
// The services that the program asks of its host (indim_host.h): each with the instructions that ask, in their order.
// {"matmul", "dot.3 (dot)"}, {"custom_call", "y (custom-call), call 0 of scale"}
typedef struct indim_object_need {
  const char *service;
  const char *instruction;
} indim_object_need;
INDIM_API int64_t indim_object_need_count(const indim_object *object);
INDIM_API const indim_object_need *indim_object_need_get(const indim_object *object, int64_t index);
// Writes a static library of the object alone, as the linkers of ELF and COFF read it (ar, with an index of symbols and without
// times). UNSUPPORTED for Mach-O.
INDIM_API INDIM_CHECKED indim_status indim_object_archive(const indim_object *object, indim_buffer *out);

// A host for objects that need services, by this library: products, Fourier transforms and linear algebra as in indim_execute,
// with OpenBLAS where that is installed. Its threads and its word to stop are those of |options| (pool, parallel, stop; the rest is
// not looked at, NULL: none of them). There is no custom_call: a program with functions of its own copies the table and has a
// |user| of its own. Any number of threads may use it at once.
//
//   indim_services *services = NULL;
//   if (indim_services_create(cx, NULL, &services) == INDIM_OK)
//     outcome = model_run(&arguments, &results, scratch, indim_services_host(services));
typedef struct indim_services indim_services;
struct indim_host;  // indim_host.h
INDIM_API INDIM_CHECKED indim_status indim_services_create(indim_ctx *cx, const indim_run_options *options,
                                                           indim_services **out_services);
INDIM_API void indim_services_destroy(indim_services *services);                         // NULL allowed
INDIM_API const struct indim_host *indim_services_host(const indim_services *services);  // NULL for NULL

// Reports --------------------------------------------------------------------------------------------------------------
//
// |out_report| of indim_compile_options gets one JSON object. Members may be added; those here stay. Bytes, counts and numbers are
// integers unless they are said to be estimates; lines count from 0.
//
//   "version"         1
//   "target", "triple", "vector_bytes"   what the code is for
//   "time"            moments of the program, from 1: nodes of the loop program in their order, with all that is nested in them
//   "scratch_bytes"   the block of working memory; "peak_bytes": the most of it that is live at once, first at "peak_time"; the
//                     rest of the block is lost to how arrays fit beside each other
//   "flows"           the program, first, and each body of a loop or branch inside: {"role": "program", "condition", "body" or
//                     "branch" with its number "branch", "owner": [flow, item] of the loop or conditional, "items",
//                     "parameters" and "results": numbers of items}
//     items           each one array, or an op with several results and its members, operands first:
//       "instruction", "computation"   where it stands in the program; "part": the name of one of the instructions that the
//                     compiler made of that one
//       "kind"        "op"; "parameter" or "member" of item "of", with its "number"; "op": the opcode, of a parameter that of what it is named after
//       "shape", "operands" (items), "uses", "cost" (of one element, in cheap operations, an estimate)
//       "place"       "registers"; "memory" with the "reason" why not fused; "fused": computed in the loops of the items "into"
//                     (the first 8); "constant"; "none": nobody needs it
//       "storage"     its number in "storages", unless it has none
//       "overwrites"  the item whose memory it works in; or "copies": {"from": item or -1, "why", "because": the item that reads the old value
//                     afterwards}: why it could not
//       "notes"       what else --explain says of it, as a list; "flows": the numbers of its bodies
//   "storages"        buffers: {"kind": "argument" or "result" with its "number", "scratch", "constant"; "name", "type", "elements",
//                     "bytes", "offset" in the scratch block, "shares": whose bytes it reuses (a storage), "live": [first,
//                     last] moment, null if never used}
//   "steps"           what is executed, in program order; a profile has the same numbers (`indim run --profile`):
//       "kind"        "loop" (with all inside it), "host" (with "service"), "copy", "fill", "while" (one without other steps in it)
//       "instructions"  [[name, computation], ...]: those that its loops were made for, fused ones among them
//       "time"        [first, last] moment
//       "inside"      [name, computation] of the loop or conditional that repeats it
//       "parallel", "lanes" (of the widest vector)
//       "reads", "writes"   [[storage, bytes], ...]: each element once
//       "bytes_read", "bytes_written", "operations", "transcendentals"   of one execution, estimates
//       "loop_lines"  [first, count] in "loops"; "asm_lines": [[first, count], ...] in "asm"
//   "loops"           the loop program as text (out_loops)
//   "asm"             the machine code as assembly; code of no step is what surrounds them

// ----------------------------------------------------------------------------------------------------------------------

// A machine that code can be made for: {"x86-64-v3", "x86-64 with AVX2 and FMA: vectors of 256 bits"}.
typedef struct indim_compile_target {
  const char *name;
  const char *meaning;
} indim_compile_target;
// All of them, "native" first; a row of NULLs ends the list.
INDIM_API const indim_compile_target *indim_compile_targets(void);

// A pass over the loops: {"unroll", "writes short loops out ..."}.
typedef struct indim_compile_pass {
  const char *name;
  const char *meaning;
} indim_compile_pass;
// All of them, in the order in which they run; a row of NULLs ends the list.
INDIM_API const indim_compile_pass *indim_compile_passes(void);

// A decision of the compiler that can be left out: {"fusion", "an array that others need element by element ..."}.
typedef struct indim_compile_decision {
  const char *name;
  const char *meaning;
} indim_compile_decision;
// All of them, in the order in which they are taken; a row of NULLs ends the list.
INDIM_API const indim_compile_decision *indim_compile_decisions(void);

#ifdef __cplusplus
}
#endif
#endif  // INDIM_COMPILE_H
