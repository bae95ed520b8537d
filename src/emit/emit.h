// Loop programs to machine code, through LLVM. Everything of LLVM stays in this folder, which is built into a library of
// its own (indim-llvm) that the pipeline loads when something is compiled for the first time.
#ifndef INDIM_EMIT_EMIT_H
#define INDIM_EMIT_EMIT_H

#include "loop/loop.h"
#include "run/host.h"

// Changes whenever a struct that crosses the border of the library changes.
#define INDIM_EMIT_VERSION 1

typedef struct indim_code indim_code;

// Relaxations of strict IEEE, each by name.
enum {
  INDIM_FAST_CONTRACT = 1 << 0,     // a * b + c rounded once
  INDIM_FAST_REASSOCIATE = 1 << 1,  // sums and products in another order
  INDIM_FAST_RECIPROCAL = 1 << 2    // a / b as a * (1 / b)
};

typedef struct indim_emit_options {
  unsigned fast;
  indim_buffer *out_llvm;  // the IR as text; NULL: not wanted
  indim_buffer *out_asm;   // the machine code as assembly
} indim_emit_options;

typedef struct indim_emit_times {
  int64_t emit_ns;  // making IR
  int64_t code_ns;  // LLVM's code generator and linker
} indim_emit_times;

// What the library exports, found by the name "indim_emit_library".
typedef struct indim_emit_library {
  int32_t version;
  // The machine that code is made for: this one.
  void (*target)(indim_loop_target *out_target);
  // Compiles a verified program. The code does not refer to the program afterwards.
  indim_status (*compile)(indim_ctx *cx, const indim_loop_program *program, const indim_emit_options *options,
                          indim_emit_times *out_times, indim_code **out_code);
  indim_compiled_fn *(*function)(const indim_code *code);
  int64_t (*code_bytes)(const indim_code *code);
  void (*destroy)(indim_code *code);
} indim_emit_library;

#endif  // INDIM_EMIT_EMIT_H
