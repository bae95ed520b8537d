// Integers that are converted twice, at last to no more bytes than between, are converted once: the low bytes are those of
// what they were first, and the lanes of a loop as many as its narrow types allow.
//
//   u8 -> u32 -> u8     as it was
//   s8 -> u32 -> u16    s8 -> u16
#include "loop/plan/flow_make.h"

static bool is_int(indim_type type) { return indim_type_is_integral(type) && !indim_type_is_sub_byte(type); }

static bool is_once(const indim_instr *instr, const indim_flow_item *between) {
  indim_type type = instr->shape->type;
  if (between->kind != INDIM_FLOW_OP || between->instr->op != INDIM_OP_CONVERT) {
    return false;
  }
  indim_type first = between->operands[0]->shape->type;
  indim_type middle = between->shape->type;
  return is_int(type) && is_int(middle) && (is_int(first) || first == INDIM_PRED) &&
         indim_type_bytes(type) <= indim_type_bytes(middle);
}

indim_status indim_flow_convert_once(indim_flow_maker *m, const indim_instr *instr, indim_flow_item *operand,
                                     indim_flow_item **out_item) {
  *out_item = NULL;
  if (!is_once(instr, operand)) {
    return INDIM_OK;
  }
  indim_flow_item *first = operand->operands[0];
  if (indim_shape_equal(first->shape, instr->shape, 0)) {
    *out_item = first;
    return INDIM_OK;
  }
  indim_instr *once = NULL;
  indim_instr *stub = NULL;  // of which lowering asks the shape
  INDIM_TRY(indim_flow_array(m->arena, 1, sizeof *once, &once));
  INDIM_TRY(indim_flow_array(m->arena, 1, sizeof *stub, &stub));
  *once = *instr;
  *stub = *first->instr;
  stub->shape = first->shape;
  INDIM_TRY(indim_flow_array(m->arena, 1, sizeof *once->operands, &once->operands));
  once->operands[0] = stub;
  INDIM_TRY(indim_flow_new_item(m, INDIM_FLOW_OP, once, instr->shape, out_item));
  INDIM_TRY(indim_flow_array(m->arena, 1, sizeof *(*out_item)->operands, &(*out_item)->operands));
  (*out_item)->operand_count = 1;
  (*out_item)->operands[0] = first;
  return INDIM_OK;
}
