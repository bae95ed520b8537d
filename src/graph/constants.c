// Whether all values that a program needs are in its text.
#include <string.h>

#include "graph/module.h"

// Refuses values that the text left out, where the result needs them. Marks what is called in |is_called|. |is_needed| has
// room for every instruction of a computation.
static indim_status check_computation(indim_ctx *cx, const indim_computation *computation, bool *is_called,
                                      bool *is_needed) {
  memset(is_needed, 0, (size_t)computation->instr_count);
  is_needed[computation->root->index] = true;
  for (int32_t i = computation->instr_count - 1; i >= 0; i--) {
    const indim_instr *instr = computation->instrs[i];
    if (!is_needed[i]) {
      continue;
    }
    if (instr->op == INDIM_OP_CONSTANT && indim_literal_is_elided(instr->literal)) {
      indim_fail_instr(cx, INDIM_INVALID, instr, "its values were left out of the text ({...}), so it cannot be run");
      indim_hint(cx, "print the program with its constants in full (in JAX: lowered.as_text(\"hlo\"), in TensorFlow: "
                     "stage=\"hlo_serialized\")");
      return INDIM_INVALID;
    }
    for (int32_t k = 0; k < instr->operand_count; k++) {
      is_needed[instr->operands[k]->index] = true;
    }
    for (int32_t a = 0; a < instr->attr_count; a++) {
      indim_attr_kind kind = indim_attr_kind_of(instr->attrs[a].id);
      bool has_callees = kind == INDIM_KIND_COMPUTATION || kind == INDIM_KIND_COMPUTATIONS;
      for (int64_t k = 0; has_callees && k < instr->attrs[a].count; k++) {
        is_called[instr->attrs[a].value.computations[k]->index] = true;
      }
    }
  }
  return INDIM_OK;
}

indim_status indim_module_check_constants(indim_ctx *cx, const indim_module *module) {
  size_t computations = (size_t)module->computation_count;
  size_t most = 0;
  for (size_t i = 0; i < computations; i++) {
    size_t count = (size_t)module->computations[i]->instr_count;
    most = count > most ? count : most;
  }
  void *memory = NULL;
  INDIM_TRY(indim_alloc_zeroed(cx, computations + most, &memory));
  bool *is_called = memory;
  indim_status status = INDIM_OK;
  is_called[module->entry->index] = true;
  // Callees stand before their callers.
  for (size_t i = computations; i > 0 && status == INDIM_OK; i--) {
    if (is_called[i - 1]) {
      status = check_computation(cx, module->computations[i - 1], is_called, is_called + computations);
    }
  }
  indim_free(cx, memory, computations + most);
  return status;
}
