// Loop programs to machine code, through LLVM. Everything of LLVM stays in this folder, which is built into a library
// of its own (indim-llvm) that the pipeline loads at the first compilation.
#ifndef INDIM_EMIT_EMIT_H
#define INDIM_EMIT_EMIT_H

#include "loop/ir/loop.h"
#include "indim/execute.h"
#include "indim/indim_host.h"

// Changes whenever a struct that crosses the library's interface changes.
#define INDIM_EMIT_VERSION 8

enum { INDIM_EMIT_FIRST_LINE = 2 };

typedef struct indim_code indim_code;

// Relaxations of strict IEEE, each by name.
enum {
  INDIM_FAST_CONTRACT = 1 << 0,     // a * b + c rounded once
  INDIM_FAST_REASSOCIATE = 1 << 1,  // sums and products in another order
  INDIM_FAST_RECIPROCAL = 1 << 2,   // a / b as a * (1 / b)
  INDIM_FAST_FLUSH = 1 << 3         // subnormal numbers as zeros
};

typedef struct indim_emit_options {
  unsigned fast;
  const char *symbol;           // of the function; NULL: "indim_program"
  bool is_cross;                // not linked: the code is for another machine, or for a file
  bool leaves_signals;          // the process's signal handlers are not touched; crashes inside LLVM are not caught
  indim_parallel_fn *parallel;  // threads to make code with; NULL: only the caller's
  void *parallel_user;
  int32_t crash_from;        // for tests: crash on purpose at vectors of at least so many bytes; 0: never
  int32_t chunk;             // for tests: functions and parts of about so many instructions; 0: the usual
  indim_buffer *out_llvm;    // the IR as text; NULL: not wanted
  indim_buffer *out_asm;     // the machine code as assembly
  indim_buffer *out_object;  // the object file
  // Assembly with `.loc FILE LINE` before what line LINE stands for: step LINE - INDIM_EMIT_FIRST_LINE (steps.h); lower
  // numbers are code of no step.
  indim_buffer *out_lines;
} indim_emit_options;

typedef struct indim_emit_report {
  int64_t emit_ns;       // building IR
  int64_t code_ns;       // LLVM's code generator and linker
  bool is_llvm_failure;  // for a failure: a simpler target may succeed
} indim_emit_report;

// The library's exports, found by the name "indim_emit_library".
typedef struct indim_emit_library {
  int32_t version;
  // This machine.
  void (*host)(indim_target *out_target);
  // Whether this library generates code for the target; libindim-llvm-cross does for all of targets.def.
  bool (*makes)(const indim_target *target);
  // Compiles a verified program for its target. The code does not refer to the program afterwards. INTERNAL when LLVM
  // fails in any way (guard.h).
  indim_status (*compile)(indim_ctx *cx, const indim_loop_program *program, const indim_emit_options *options,
                          indim_emit_report *out_report, indim_code **out_code);
  // For a program at which LLVM fails: the instruction at which it fails, NULL when unknown.
  const indim_instr *(*find_culprit)(indim_ctx *cx, const indim_loop_program *program,
                                     const indim_emit_options *options);
  indim_compiled_fn *(*function)(const indim_code *code);  // NULL for code that is for another machine
  int64_t (*code_bytes)(const indim_code *code);
  void (*destroy)(indim_code *code);
} indim_emit_library;

#endif  // INDIM_EMIT_EMIT_H
