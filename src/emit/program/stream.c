// Non-temporal stores. They need aligned addresses, known only at run time: one test decides for all consecutive stores
// whose addresses differ by whole vectors. They are emitted together at the last of them, with no load in between: a
// partly written cache line stays in a write-combining buffer only for a few accesses.
#include "emit/program/access.h"
#include "emit/program/chunk.h"
#include "loop/ir/affine.h"

// The required alignment of the address in bytes.
static int64_t alignment_of(const indim_generator *g, const indim_loop_node *node) {
  const indim_loop_value *value = indim_emit_value(g, node->args[1]);
  int64_t bytes = (int64_t)value->lanes * indim_type_bytes(value->type);
  int64_t vector = g->e.program->target.vector_bytes;
  return bytes < vector ? bytes : vector;
}

bool indim_emit_is_streamed(const indim_generator *g, const indim_loop_node *node) {
  const indim_loop_value *value = indim_emit_value(g, node->args[1]);
  int64_t bytes = (int64_t)value->lanes * indim_type_bytes(value->type);
  return node->kind == INDIM_NODE_STORE && node->u.memory.non_temporal && !node->u.memory.has_mask &&
         indim_emit_value(g, node->args[0])->lanes == 1 && value->lanes > 1 && node->u.memory.lane_stride == 1 &&
         bytes >= 16 && (bytes & (bytes - 1)) == 0;
}

// Whether a later store is emitted together with this one.
static bool has_successor(const indim_generator *g, const indim_loop_node *node) {
  for (const indim_loop_node *next = node->next; next != indim_emit_chunk_end(g) && next != NULL; next = next->next) {
    int64_t offset = 0;
    if (next->kind == INDIM_NODE_STORE && indim_emit_is_streamed(g, next)) {
      return next->u.memory.storage == node->u.memory.storage && alignment_of(g, next) == alignment_of(g, node) &&
             indim_affine_distance(g->e.program, node->args[0], next->args[0], &offset) &&
             offset * indim_type_bytes(indim_emit_storage_type(g, node->u.memory.storage)) % alignment_of(g, node) == 0;
    }
    if (!indim_emit_may_wait(g, node, next)) {
      return false;
    }
  }
  return false;
}

void indim_emit_store_streamed(indim_generator *g, const indim_loop_node *node, LLVMValueRef packed,
                               LLVMValueRef pointer) {
  LLVMBuilderRef b = g->e.builder;
  indim_emit_streams *all = &g->streams;
  int32_t most = (int32_t)(sizeof all->packed / sizeof *all->packed);
  all->packed[all->count] = packed;
  all->pointers[all->count++] = pointer;
  if (all->count < most && has_successor(g, node)) {
    return;
  }
  int64_t alignment = alignment_of(g, node);
  LLVMBasicBlockRef streamed = indim_emit_block(g, "stream");
  LLVMBasicBlockRef plain = indim_emit_block(g, "plain");
  LLVMBasicBlockRef after = indim_emit_block(g, "");
  LLVMValueRef number = LLVMBuildPtrToInt(b, all->pointers[0], indim_emit_s64_type(g), "");
  LLVMValueRef low = LLVMBuildAnd(b, number, indim_emit_s64(g, alignment - 1), "");
  LLVMBuildCondBr(b, LLVMBuildIsNull(b, low, ""), streamed, plain);
  indim_emit_enter(g, streamed);
  LLVMMetadataRef one = LLVMValueAsMetadata(LLVMConstInt(LLVMInt32TypeInContext(g->e.context), 1, 0));
  LLVMValueRef mark = LLVMMetadataAsValue(g->e.context, LLVMMDNodeInContext2(g->e.context, &one, 1));
  for (int32_t i = 0; i < all->count; i++) {
    LLVMValueRef store = LLVMBuildStore(b, all->packed[i], all->pointers[i]);
    LLVMSetAlignment(store, (unsigned)alignment);
    LLVMSetMetadata(store, LLVMGetMDKindIDInContext(g->e.context, "nontemporal", 11), mark);
  }
  LLVMBuildBr(b, after);
  indim_emit_enter(g, plain);
  for (int32_t i = 0; i < all->count; i++) {
    indim_emit_plain_store(g, all->packed[i], all->pointers[i], indim_emit_storage_type(g, node->u.memory.storage));
  }
  LLVMBuildBr(b, after);
  indim_emit_enter(g, after);
  g->current->has_streamed = true;
  all->count = 0;
}
