// One program's compilation by LLVM to an object file.
#ifndef INDIM_EMIT_OBJECT_H
#define INDIM_EMIT_OBJECT_H

#include <llvm-c/TargetMachine.h>

#include "base/arena.h"
#include "emit/interface/emit.h"
#include "emit/guard.h"

typedef struct indim_object indim_object;
struct indim_object {
  // Inputs.
  indim_ctx *cx;
  const indim_loop_program *program;
  const indim_emit_options *options;
  bool has_constants;  // external constants are in the object; else it declares them (indim_emit_is_external)
  int32_t most_nodes;  // only the first nodes of the program's own body; 0: all
  indim_status (*then)(indim_object *o);  // another step under the same guard; NULL: none
  void *then_user;
  // Outputs.
  indim_status status;
  LLVMContextRef context;
  LLVMModuleRef module;  // NULL: code is made of it, in parts
  LLVMTargetMachineRef machine;
  LLVMMemoryBufferRef *objects;  // one, or one for each part (split.h), in the arena
  int32_t object_count;
  bool *declares;  // of each storage of the program: the objects refer to it as an external constant
  int64_t emit_ns, code_ns;
  int64_t text_bytes;
  bool is_llvm_failure;  // for a failure: another target may succeed
  // Internal.
  indim_arena arena;
  indim_guard guard;
  bool is_lost;  // LLVM failed: its objects must not be touched again
};

// Makes the object. INTERNAL when LLVM fails.
INDIM_CHECKED indim_status indim_object_make(indim_object *o);
// LLVM's handler of errors in a module, for its context: keeps them for the guard.
void indim_object_on_diagnostic(LLVMDiagnosticInfoRef info, void *user);
// The crash that a test requested, to check that the guard contains it.
void indim_object_crash_on_purpose(const indim_object *o);
// After success or failure.
void indim_object_dispose(indim_object *o);
// The instruction at which LLVM fails, found by compiling prefixes of the program: the last one of the shortest prefix
// that fails. NULL when the program is too large for that, or its source location is unknown.
const indim_instr *indim_object_find_culprit(indim_ctx *cx, const indim_loop_program *program,
                                             const indim_emit_options *options);

#endif  // INDIM_EMIT_OBJECT_H
