// One program's way through LLVM to an object file.
#ifndef INDIM_EMIT_OBJECT_H
#define INDIM_EMIT_OBJECT_H

#include <llvm-c/TargetMachine.h>

#include "base/arena.h"
#include "emit/interface/emit.h"
#include "emit/guard.h"

typedef struct indim_object indim_object;
struct indim_object {
  // Given.
  indim_ctx *cx;
  const indim_loop_program *program;
  const indim_emit_options *options;
  bool has_constants;  // large constants stand in the object; else it names them (indim_emit_is_external)
  int32_t most_nodes;  // so many nodes of the program's own body only; 0: all
  indim_status (*then)(indim_object *o);  // what else is to be guarded; NULL: nothing
  void *then_user;
  // Made.
  indim_status status;
  LLVMContextRef context;
  LLVMModuleRef module;
  LLVMTargetMachineRef machine;
  LLVMMemoryBufferRef object;
  int64_t emit_ns, code_ns;
  int64_t text_bytes;
  bool is_llvm_to_blame;  // for the failure: another target may do
  // Its own.
  indim_arena arena;
  indim_guard guard;
  bool is_lost;  // LLVM gave up: nothing of its objects may be touched again
};

// Makes the object. INTERNAL when LLVM fails.
INDIM_CHECKED indim_status indim_object_make(indim_object *o);
// Whatever came of it.
void indim_object_dispose(indim_object *o);
// The instruction that a program for which LLVM fails stumbles over, found by compiling ever shorter parts of it: the first
// one with which it fails; NULL when the program is too large for that, or nothing is known of the place.
const indim_instr *indim_object_find_culprit(indim_ctx *cx, const indim_loop_program *program,
                                             const indim_emit_options *options);

#endif  // INDIM_EMIT_OBJECT_H
