// One compilation: what its stages share.
#ifndef INDIM_PIPELINE_COMPILATION_H
#define INDIM_PIPELINE_COMPILATION_H

#include "indim/compile.h"
#include "loop/ir/steps.h"
#include "pipeline/generator.h"
#include "run/executable.h"

typedef struct indim_compilation {
  indim_ctx *cx;
  const indim_module *module;
  indim_module *fixed;  // what |module| is compiled as if it has dynamic dimensions; NULL: it has none
  const indim_compile_options *options;
  indim_code_generator generator;
  indim_target target;
  const char *symbol;  // of an object: its function's; NULL: the code is to be run
  const char *triple;  // of an object, in place of the target's; may be NULL
  bool is_self_contained;
  char missing[INDIM_TARGET_TEXT];  // what this machine lacks of the target; empty if it can run the code
  bool is_llvm_failure;             // for the last failure
  indim_loop_program *program;
  indim_step *steps;  // of a program that is profiled; in its arena
  int32_t step_count;
  indim_executable *executable;
  indim_compile_times times;
  indim_buffer items, lines;  // for a report
} indim_compilation;

// What is compiled.
static inline const indim_module *indim_compilation_module(const indim_compilation *c) {
  return c->fixed != NULL ? c->fixed : c->module;
}
// The options of the code generator.
indim_emit_options indim_compilation_emit_options(indim_compilation *c);
// pipeline.c: opens the code generator for the target of the options, and takes dynamic dimensions out of the module.
INDIM_CHECKED indim_status indim_compilation_begin(indim_compilation *c);
// Frees what a compilation holds, but for the executable.
void indim_compilation_end(indim_compilation *c);
// The loops of the program.
INDIM_CHECKED indim_status indim_compilation_lower(indim_compilation *c);
// The code of those; |*out_code| is to be destroyed by the generator's function.
INDIM_CHECKED indim_status indim_compilation_emit(indim_compilation *c, indim_code **out_code);
// memory.c: refuses (LIMIT) a program whose compilation would take more memory than the context allows.
INDIM_CHECKED indim_status indim_compilation_check_memory(const indim_compilation *c);
// ladder.c: runs |stages| for the target, and after a failure that is a defect of LLVM's or ours (INTERNAL) for the next
// simpler one, down to code without vectors. Each failure stays in the diagnostics, also when the compilation succeeds then.
INDIM_CHECKED indim_status indim_compilation_climb_down(indim_compilation *c,
                                                        indim_status (*stages)(indim_compilation *c));

#endif  // INDIM_PIPELINE_COMPILATION_H
