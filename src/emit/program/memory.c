// Memory nodes: copies, fills and prefetches; loads and stores are in load.c and store.c.
#include "emit/program/access.h"

#include "base/size.h"

static indim_status emit_copy(indim_generator *g, const indim_loop_node *node) {
  indim_type type = indim_emit_storage_type(g, node->u.move.to);
  int64_t bytes = 0;
  if (!indim_count_mul(node->u.move.count, indim_type_bytes(type), &bytes)) {
    return indim_fail(g->e.cx, INDIM_LIMIT, "a copy of %lld elements of %s", (long long)node->u.move.count,
                      indim_type_text(type));
  }
  unsigned alignment = indim_emit_alignment(type);
  LLVMValueRef to = indim_emit_element(g, node->u.move.to, node->args[0]);
  LLVMValueRef from = indim_emit_element(g, node->u.move.from, node->args[1]);
  if (bytes > 0) {
    // Not memcpy: a result may be a donated argument's buffer.
    LLVMValueRef size = indim_emit_s64(g, bytes);
    if (g->e.program->storages[node->u.move.to]->shares != 0) {
      // A result in the buffer of its donated argument holds the data already.
      LLVMValueRef is_there = LLVMBuildICmp(g->e.builder, LLVMIntEQ, to, from, "");
      size = LLVMBuildSelect(g->e.builder, is_there, indim_emit_s64(g, 0), size, "");
    }
    LLVMBuildMemMove(g->e.builder, to, alignment, from, alignment, size);
  }
  return INDIM_OK;
}

// |count| vectors of |lanes| elements each, starting at |pointer|.
static void fill_loop(indim_generator *g, indim_type stored, LLVMValueRef packed, int64_t step, int64_t count,
                      LLVMValueRef pointer) {
  LLVMBuilderRef b = g->e.builder;
  LLVMBasicBlockRef before = LLVMGetInsertBlock(b);
  LLVMBasicBlockRef loop = indim_emit_block(g, "fill");
  LLVMBasicBlockRef after = indim_emit_block(g, "");
  LLVMBuildBr(b, loop);
  indim_emit_enter(g, loop);
  LLVMValueRef index = LLVMBuildPhi(b, indim_emit_s64_type(g), "");
  indim_emit_plain_store(g, packed, indim_emit_offset(g, indim_emit_element_type(g, stored), pointer, index, true),
                         stored);
  LLVMValueRef next = LLVMBuildNSWAdd(b, index, indim_emit_s64(g, step), "");
  LLVMValueRef values[] = {indim_emit_s64(g, 0), next};
  LLVMBasicBlockRef blocks[] = {before, loop};
  LLVMAddIncoming(index, values, blocks, 2);
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntSLT, next, indim_emit_s64(g, count * step), ""), loop, after);
  indim_emit_enter(g, after);
}

// Whole vectors, the remainder element by element. Bytes, and zeros, are for memset.
static indim_status emit_fill(indim_generator *g, const indim_loop_node *node) {
  indim_type type = indim_emit_value(g, node->args[1])->type;  // or the integers of its bits
  indim_type stored = indim_emit_storage_type(g, node->u.move.to);
  LLVMBuilderRef b = g->e.builder;
  LLVMValueRef pointer = indim_emit_element(g, node->u.move.to, node->args[0]);
  indim_reg x = g->regs[node->args[1]];
  LLVMValueRef one = indim_emit_pack(&g->e, type, 1, x);
  int64_t count = node->u.move.count;
  int64_t bytes = 0;
  if (!indim_count_mul(count, indim_type_bytes(type), &bytes)) {
    return indim_fail(g->e.cx, INDIM_LIMIT, "a fill of %lld elements of %s", (long long)count, indim_type_text(type));
  }
  bool is_zero = LLVMIsConstant(one) && LLVMIsNull(one);
  if (is_zero || indim_type_bytes(type) == 1) {
    LLVMTypeRef byte = LLVMInt8TypeInContext(g->e.context);
    one = is_zero ? LLVMConstNull(byte) : LLVMBuildBitCast(b, one, byte, "");
    LLVMBuildMemSet(b, pointer, one, indim_emit_s64(g, bytes), indim_emit_alignment(stored));
    return INDIM_OK;
  }
  int32_t lanes = g->e.program->target.vector_bytes / indim_type_bytes(type);
  lanes = lanes < 1 ? 1 : lanes;
  indim_reg all = {{indim_emit_splat(g, x.part[0], lanes), NULL}};
  all.part[1] = x.part[1] == NULL ? NULL : indim_emit_splat(g, x.part[1], lanes);
  int64_t vectors = count / lanes;
  if (vectors > 0) {
    fill_loop(g, stored, indim_emit_pack(&g->e, type, lanes, all), lanes, vectors, pointer);
  }
  for (int64_t k = vectors * lanes; k < count; k++) {
    indim_emit_plain_store(
        g, one, indim_emit_offset(g, indim_emit_element_type(g, type), pointer, indim_emit_s64(g, k), true), stored);
  }
  return INDIM_OK;
}

indim_status indim_emit_memory_node(indim_generator *g, const indim_loop_node *node) {
  indim_emit_tsan(g, node);
  if (node->kind == INDIM_NODE_LOAD) {
    return indim_emit_load(g, node);
  }
  if (node->kind == INDIM_NODE_STORE) {
    return indim_emit_store(g, node);
  }
  if (node->kind == INDIM_NODE_PREFETCH) {
    int64_t bytes = indim_type_bytes(indim_emit_storage_type(g, node->u.prefetch.storage));
    LLVMValueRef here = indim_emit_element(g, node->u.prefetch.storage, node->args[0]);
    indim_emit_prefetch(g, here, node->u.prefetch.distance * bytes, node->u.prefetch.count * bytes, 2, false);
    return INDIM_OK;
  }
  return node->kind == INDIM_NODE_COPY ? emit_copy(g, node) : emit_fill(g, node);
}
