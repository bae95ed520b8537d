// Calls of the host's services.
#include "emit/program/program.h"

#include <stddef.h>

// The struct that a service takes, as constant data: its fields are the node's numbers, in order.
static LLVMValueRef service_constants(indim_generator *g, const indim_loop_node *node) {
  LLVMValueRef numbers[INDIM_MAX_HOST_NUMBERS];
  for (int32_t i = 0; i < node->u.host.number_count; i++) {
    numbers[i] = indim_emit_s64(g, node->u.host.numbers[i]);
  }
  LLVMTypeRef s64 = indim_emit_s64_type(g);
  LLVMValueRef data = LLVMConstArray2(s64, numbers, (uint64_t)node->u.host.number_count);
  LLVMValueRef global = LLVMAddGlobal(g->e.module, LLVMTypeOf(data), "numbers");
  LLVMSetInitializer(global, data);
  LLVMSetGlobalConstant(global, 1);
  LLVMSetLinkage(global, LLVMPrivateLinkage);
  LLVMSetAlignment(global, 8);
  return global;
}

// Continues when |is_fine|, else returns INDIM_HOST_FAILED.
static void continue_if(indim_generator *g, LLVMValueRef is_fine) {
  LLVMBasicBlockRef failed = indim_emit_leave(g, INDIM_HOST_FAILED);
  LLVMBasicBlockRef on = indim_emit_block(g, "");
  LLVMBuildCondBr(g->e.builder, is_fine, on, failed);
  indim_emit_enter(g, on);
}

// Where the entry of a service is in struct indim_host.
static size_t entry_of(indim_host_service service) {
  static const size_t offsets[] = {
#define INDIM_SERVICE(enumerator, name, storages, written, arrays) offsetof(indim_host, name),
#include "host/service.def"
  };
  return offsets[service];
}

indim_status indim_emit_host_node(indim_generator *g, const indim_loop_node *node) {
  LLVMBuilderRef b = g->e.builder;
  LLVMTypeRef pointer = indim_emit_pointer_type(g);
  LLVMTypeRef parameters[] = {pointer, pointer, pointer};
  LLVMTypeRef type = LLVMFunctionType(LLVMInt32TypeInContext(g->e.context), parameters, 3, 0);
  LLVMValueRef host = g->current->host;
  if (indim_loop_node_fails(node)) {
    continue_if(g, LLVMConstInt(LLVMInt1TypeInContext(g->e.context), 0, 0));
    return INDIM_OK;
  }
  continue_if(g, LLVMBuildIsNotNull(b, host, ""));
  LLVMValueRef service = indim_emit_host_field(g, host, entry_of(node->u.host.service));
  continue_if(g, LLVMBuildIsNotNull(b, service, ""));
  int32_t count = node->u.host.storage_count;
  LLVMValueRef arrays = indim_emit_stack(g, LLVMArrayType2(pointer, (uint64_t)count), "arrays");
  for (int32_t i = 0; i < count; i++) {
    LLVMValueRef slot = LLVMConstInt(LLVMInt32TypeInContext(g->e.context), (unsigned)i, 0);
    LLVMBuildStore(b, indim_emit_element(g, node->u.host.storages[i], node->args[i]),
                   LLVMBuildGEP2(b, pointer, arrays, &slot, 1, ""));
  }
  LLVMValueRef args[] = {indim_emit_host_field(g, host, offsetof(indim_host, user)), service_constants(g, node),
                         arrays};
  LLVMValueRef outcome = LLVMBuildCall2(b, type, service, args, 3, "");
  LLVMTypeRef word = LLVMTypeOf(outcome);
  LLVMValueRef stopped = LLVMBuildICmp(b, LLVMIntEQ, outcome, LLVMConstInt(word, INDIM_HOST_STOPPED, 0), "");
  LLVMValueRef failed = LLVMBuildSelect(b, LLVMBuildIsNull(b, outcome, ""), LLVMConstNull(word),
                                        LLVMConstInt(word, INDIM_HOST_FAILED, 0), "");
  indim_emit_leave_unless_done(g, LLVMBuildSelect(b, stopped, outcome, failed, ""));
  return INDIM_OK;
}
