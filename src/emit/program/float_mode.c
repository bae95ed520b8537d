// Functions that take subnormal numbers as zeros (INDIM_FAST_FLUSH): the mode of the processor is set where one begins and
// restored wherever it returns. On RISC-V, which has no such mode, there is nothing to do.
#include "base/float_mode.h"
#include "emit/program/program.h"

// Pieces and chunks that only their own program's function calls are in its mode.
static bool has_mode(const indim_generator *g) {
  const indim_emit_function *f = g->current;
  bool begins = !f->is_piece || (f->loop != NULL && f->loop->kind == INDIM_NODE_FOR && f->loop->u.loop.is_parallel);
  return begins && (g->e.fast & INDIM_FAST_FLUSH) != 0;
}

static LLVMValueRef call(indim_generator *g, const char *name, LLVMValueRef *args, int32_t count) {
  return indim_emit_intrinsic_of(&g->e, name, NULL, 0, args, count);
}

static LLVMTypeRef word_of(indim_generator *g) {
  bool is_x86 = g->e.program->target.arch == INDIM_ARCH_X86_64;
  return is_x86 ? LLVMInt32TypeInContext(g->e.context) : indim_emit_s64_type(g);
}

static LLVMValueRef before(indim_generator *g) {
  indim_emit_function *f = g->current;
  if (f->float_mode == NULL) {
    f->float_mode = indim_emit_stack(g, word_of(g), "float_mode");
  }
  return f->float_mode;
}

void indim_emit_float_mode_set(indim_generator *g) {
  indim_arch arch = g->e.program->target.arch;
  LLVMBuilderRef b = g->e.builder;
  LLVMTypeRef word = word_of(g);
  if (!has_mode(g)) {
    return;
  }
  LLVMValueRef saved = before(g);
  if (arch == INDIM_ARCH_X86_64) {
    LLVMValueRef flushing = indim_emit_stack(g, word, "flushing");
    call(g, "llvm.x86.sse.stmxcsr", &saved, 1);
    LLVMValueRef bits = LLVMConstInt(word, INDIM_MXCSR_FLUSH, 0);
    LLVMBuildStore(b, LLVMBuildOr(b, LLVMBuildLoad2(b, word, saved, ""), bits, ""), flushing);
    call(g, "llvm.x86.sse.ldmxcsr", &flushing, 1);
  } else if (arch == INDIM_ARCH_AARCH64) {
    LLVMValueRef mode = call(g, "llvm.aarch64.get.fpcr", NULL, 0);
    LLVMBuildStore(b, mode, saved);
    LLVMValueRef flushing = LLVMBuildOr(b, mode, LLVMConstInt(word, INDIM_FPCR_FLUSH, 0), "");
    call(g, "llvm.aarch64.set.fpcr", &flushing, 1);
  }
}

void indim_emit_float_mode_restore(indim_generator *g) {
  indim_arch arch = g->e.program->target.arch;
  if (!has_mode(g)) {
    return;
  }
  LLVMValueRef saved = before(g);
  if (arch == INDIM_ARCH_X86_64) {
    call(g, "llvm.x86.sse.ldmxcsr", &saved, 1);
  } else if (arch == INDIM_ARCH_AARCH64) {
    LLVMValueRef mode = LLVMBuildLoad2(g->e.builder, word_of(g), saved, "");
    call(g, "llvm.aarch64.set.fpcr", &mode, 1);
  }
}
