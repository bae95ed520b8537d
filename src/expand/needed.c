// What of a computation is asked for: from the root back. Sums, products and bits of integers have low bytes that follow from
// low bytes, so that what is converted to fewer bytes at last may be computed in these (LLVM: demanded bits).
#include "expand/needed.h"

#include "expand/narrow_reduce.h"
#include "graph/one_device.h"

// Ops whose result has elements of its operand alone.
static bool is_move(indim_op op) {
  switch ((int)op) {
  case INDIM_OP_BROADCAST:
  case INDIM_OP_COPY:
  case INDIM_OP_RESHAPE:
  case INDIM_OP_REVERSE:
  case INDIM_OP_SLICE:
  case INDIM_OP_TRANSPOSE:
    return true;
  default:
    return false;
  }
}

bool indim_op_is_modular(indim_op op) {
  switch ((int)op) {
  case INDIM_OP_ADD:
  case INDIM_OP_AND:
  case INDIM_OP_MULTIPLY:
  case INDIM_OP_NEGATE:
  case INDIM_OP_NOT:
  case INDIM_OP_OR:
  case INDIM_OP_SUBTRACT:
  case INDIM_OP_XOR:
    return true;
  default:
    return false;
  }
}

// Of how many low bytes of its operands |bytes| low bytes of |instr| are made.
static int8_t bytes_of_operands(const indim_instr *instr, int8_t bytes) {
  indim_type type = instr->shape->type;
  if (instr->op == INDIM_OP_CONVERT && indim_type_is_integral(type) &&
      indim_type_is_integral(instr->operands[0]->shape->type)) {
    int32_t most = indim_type_bytes(type);
    return bytes < most ? bytes : (int8_t)most;
  }
  bool passes_on = is_move(instr->op) || (indim_type_is_integral(type) && indim_op_is_modular(instr->op)) ||
                   (instr->op == INDIM_OP_REDUCE && indim_narrow_reduce_is_modular(instr));
  return passes_on ? bytes : (int8_t)INDIM_NEEDED_ALL;
}

void indim_needed_fill(const indim_computation *computation, int8_t *needed) {
  needed[computation->root->index] = INDIM_NEEDED_ALL;
  for (int32_t i = computation->instr_count - 1; i >= 0; i--) {
    const indim_instr *instr = computation->instrs[i];
    if (indim_op_is_host_transfer(instr->op) || indim_instr_has_effect(instr)) {
      needed[i] = INDIM_NEEDED_ALL;
    }
    int8_t bytes = needed[i] == 0 ? 0 : bytes_of_operands(instr, needed[i]);
    for (int32_t k = 0; k < instr->operand_count; k++) {
      int8_t *of = &needed[instr->operands[k]->index];
      *of = *of > bytes ? *of : bytes;
    }
  }
}
