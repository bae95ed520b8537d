// ThreadSanitizer instrumentation: in a build with it, generated code reports what each node reads and writes right
// before it does, like instrumented C code. Races between the iterations of a parallel loop, and between two runs of
// one program, are then found like any others. Other builds report nothing.
#include "emit/program/access.h"
#include "loop/ir/effects.h"

#if INDIM_EMIT_TSAN

static const char *const names[] = {"__tsan_read_range", "__tsan_write_range"};

// |bytes| is a value because of masks: a range of no bytes is no access.
static void report(indim_generator *g, bool is_write, LLVMValueRef pointer, LLVMValueRef bytes) {
  LLVMTypeRef parameters[] = {indim_emit_pointer_type(g), indim_emit_s64_type(g)};
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(g->e.context), parameters, 2, 0);
  LLVMValueRef function = LLVMGetNamedFunction(g->e.module, names[is_write]);
  if (function == NULL) {
    function = LLVMAddFunction(g->e.module, names[is_write], type);
  }
  LLVMValueRef args[] = {pointer, bytes};
  LLVMBuildCall2(g->e.builder, type, function, args, 2, "");
}

static void report_lanes(indim_generator *g, const indim_loop_node *node, int32_t lanes, LLVMValueRef mask) {
  bool is_write = node->kind == INDIM_NODE_STORE;
  int64_t width = indim_type_bytes(indim_emit_storage_type(g, node->u.memory.storage));
  indim_emit_access_lanes a = indim_emit_access(g, node, lanes, mask);
  if (mask == NULL && !a.has_lanes && a.stride == 1) {
    report(g, is_write, indim_emit_lane_pointer(g, &a, 0), indim_emit_s64(g, lanes * width));
    return;
  }
  for (int32_t k = 0; k < lanes; k++) {
    LLVMValueRef bytes = indim_emit_s64(g, width);
    if (mask != NULL) {
      LLVMValueRef is_on = indim_emit_mask_lane(g, mask, lanes, k);
      bytes = LLVMBuildSelect(g->e.builder, is_on, bytes, indim_emit_s64(g, 0), "");
    }
    report(g, is_write, indim_emit_lane_pointer(g, &a, k), bytes);
  }
}

// What copies and fills access.
static void report_blocks(indim_generator *g, const indim_loop_node *node) {
  indim_effect effects[INDIM_MAX_EFFECTS];
  int32_t count = indim_loop_effects(g->e.program, node, effects);
  for (int32_t i = 0; i < count; i++) {
    int64_t width = indim_type_bytes(indim_emit_storage_type(g, effects[i].storage));
    LLVMValueRef bytes = indim_emit_s64(g, (effects[i].high + 1) * width);
    report(g, effects[i].writes, indim_emit_element(g, effects[i].storage, effects[i].address), bytes);
  }
}

void indim_emit_tsan(indim_generator *g, const indim_loop_node *node) {
  bool is_load = node->kind == INDIM_NODE_LOAD;
  if (is_load || node->kind == INDIM_NODE_STORE) {
    indim_value_id value = is_load ? node->first_result : node->args[1];
    LLVMValueRef mask = node->u.memory.has_mask ? g->regs[node->args[is_load ? 1 : 2]].part[0] : NULL;
    if (g->e.program->storages[node->u.memory.storage]->elements > 0) {
      report_lanes(g, node, indim_emit_value(g, value)->lanes, mask);
    }
  } else if (node->kind == INDIM_NODE_COPY || node->kind == INDIM_NODE_FILL) {
    report_blocks(g, node);
  }
}

#else

void indim_emit_tsan(indim_generator *g, const indim_loop_node *node) {
  (void)g;
  (void)node;
}

#endif
