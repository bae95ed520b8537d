// The function under construction: blocks, stack slots, attributes, and exits.
#include <stddef.h>
#include <string.h>

#include "emit/program/program.h"

LLVMTypeRef indim_emit_pointer_type(indim_generator *g) { return LLVMPointerTypeInContext(g->e.context, 0); }

LLVMTypeRef indim_emit_s64_type(indim_generator *g) { return LLVMInt64TypeInContext(g->e.context); }

LLVMValueRef indim_emit_s64(indim_generator *g, int64_t value) {
  return LLVMConstInt(indim_emit_s64_type(g), (uint64_t)value, 1);
}

LLVMBasicBlockRef indim_emit_block(indim_generator *g, const char *name) {
  return LLVMAppendBasicBlockInContext(g->e.context, g->current->function, name);
}

void indim_emit_enter(indim_generator *g, LLVMBasicBlockRef block) {
  LLVMPositionBuilderAtEnd(g->e.builder, block);
  g->mark = LLVMGetLastInstruction(block);
  g->block_count = 0;
}

LLVMValueRef indim_emit_stack(indim_generator *g, LLVMTypeRef type, const char *name) {
  LLVMBasicBlockRef here = LLVMGetInsertBlock(g->e.builder);
  LLVMPositionBuilderAtEnd(g->e.builder, g->current->entry);
  LLVMValueRef slot = LLVMBuildAlloca(g->e.builder, type, name);
  LLVMPositionBuilderAtEnd(g->e.builder, here);
  return slot;
}

LLVMValueRef indim_emit_host_field(indim_generator *g, LLVMValueRef host, size_t offset) {
  LLVMTypeRef byte = LLVMInt8TypeInContext(g->e.context);
  LLVMValueRef index = indim_emit_s64(g, (int64_t)offset);
  LLVMValueRef field = LLVMBuildGEP2(g->e.builder, byte, host, &index, 1, "");
  return LLVMBuildLoad2(g->e.builder, indim_emit_pointer_type(g), field, "");
}

// Non-temporal stores of x86 are unordered with others: a fence before completion becomes visible.
static void fence(indim_generator *g) {
  if (g->current->has_streamed && g->e.program->target.arch == INDIM_ARCH_X86_64) {
    indim_emit_intrinsic_of(&g->e, "llvm.x86.sse.sfence", NULL, 0, NULL, 0);
  }
}

void indim_emit_return(indim_generator *g, LLVMValueRef outcome) {
  indim_emit_function *f = g->current;
  indim_emit_float_mode_restore(g);
  f->leaves = true;
  if (f->is_piece) {
    LLVMValueRef store = LLVMBuildStore(g->e.builder, outcome, f->status);
    LLVMSetOrdering(store, LLVMAtomicOrderingMonotonic);
    LLVMSetAlignment(store, 4);
    LLVMBuildRetVoid(g->e.builder);
  } else {
    LLVMBuildRet(g->e.builder, outcome);
  }
}

LLVMBasicBlockRef indim_emit_leave(indim_generator *g, int32_t outcome) {
  indim_emit_function *f = g->current;
  LLVMBasicBlockRef *block = outcome == INDIM_HOST_STOPPED ? &f->stopped : &f->failed;
  if (*block != NULL) {
    return *block;
  }
  LLVMTypeRef word = LLVMInt32TypeInContext(g->e.context);
  LLVMBasicBlockRef here = LLVMGetInsertBlock(g->e.builder);
  *block = indim_emit_block(g, outcome == INDIM_HOST_STOPPED ? "stopped" : "failed");
  LLVMPositionBuilderAtEnd(g->e.builder, *block);
  indim_emit_return(g, LLVMConstInt(word, (unsigned)outcome, 1));
  LLVMPositionBuilderAtEnd(g->e.builder, here);
  return *block;
}

void indim_emit_function_end(indim_generator *g, LLVMBasicBlockRef start) {
  fence(g);
  indim_emit_float_mode_restore(g);
  if (g->current->is_piece) {
    LLVMBuildRetVoid(g->e.builder);
  } else {
    LLVMBuildRet(g->e.builder, LLVMConstNull(LLVMInt32TypeInContext(g->e.context)));
  }
  LLVMPositionBuilderAtEnd(g->e.builder, g->current->entry);
  indim_emit_float_mode_set(g);
  LLVMBuildBr(g->e.builder, start);
}

void indim_emit_add_attribute(indim_generator *g, LLVMValueRef function, const char *attribute) {
  unsigned kind = LLVMGetEnumAttributeKindForName(attribute, strlen(attribute));
  LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                          LLVMCreateEnumAttribute(g->e.context, kind, 0));
}

void indim_emit_mark_function(indim_generator *g, LLVMValueRef function) {
  indim_emit_add_attribute(g, function, "nounwind");
}

void indim_emit_mark_own(indim_generator *g, LLVMValueRef function) {
  indim_emit_mark_function(g, function);
  if (g->is_unoptimized) {
    indim_emit_add_attribute(g, function, "optnone");
    indim_emit_add_attribute(g, function, "noinline");  // required by optnone
  }
}

bool indim_emit_is_inside(const indim_loop_body *body, const indim_loop_body *outer) {
  while (body != NULL && body->depth > outer->depth) {
    body = body->outer;
  }
  return body == outer;
}

bool indim_emit_is_in_loop(const indim_loop_body *body, const indim_loop_node *loop) {
  return indim_emit_is_inside(body, loop->bodies[0]) ||
         (loop->bodies[1] != NULL && indim_emit_is_inside(body, loop->bodies[1]));
}

indim_status indim_emit_temp(indim_generator *g, size_t bytes, void **out) {
  if (bytes > g->temp_bytes) {
    INDIM_TRY(indim_arena_alloc(g->arena, 2 * bytes, &g->temp));
    g->temp_bytes = 2 * bytes;
  }
  *out = g->temp;
  return INDIM_OK;
}
