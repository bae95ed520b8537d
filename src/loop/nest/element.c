// The value of an item at an index. Inlined items are computed from their operands at the indices that the op implies
// (element_move.c); an elementwise op is one node. Values are memoized by item and index.
#include "loop/nest/element.h"

// Elementwise ---------------------------------------------------------------------------------------------------------

static indim_value_id elementwise(indim_element_ctx *k, indim_flow_item *item, const indim_coord *index,
                                  indim_value_id mask) {
  indim_value_id few[8];
  indim_value_id *args = few;
  if (item->operand_count > 8) {
    args = indim_lower_alloc(k->l, item->operand_count, sizeof *args);
    if (args == NULL) {
      return 0;
    }
  }
  int32_t lanes = 1;
  bool was_of_bits = indim_access_note_bits(k->l, item->instr->op == INDIM_OP_BITCAST_CONVERT);
  for (int32_t i = 0; i < item->operand_count; i++) {
    args[i] = indim_value_at(k, item->operands[i], index, item->operands[i]->shape->rank == 0 ? 0 : mask);
    lanes = indim_coord_value_lanes(k, args[i]) > lanes ? indim_coord_value_lanes(k, args[i]) : lanes;
  }
  (void)indim_access_note_bits(k->l, was_of_bits);
  for (int32_t i = 0; i < item->operand_count; i++) {
    args[i] = indim_loop_splat(&k->l->b, args[i], lanes);
  }
  if (item->instr->op == INDIM_OP_MAP) {
    indim_value_id result = 0;
    indim_loop_apply(&k->l->b, indim_instr_computation(item->instr, INDIM_ATTR_TO_APPLY), lanes, args, &result);
    return result;
  }
  return indim_loop_instr(&k->l->b, item->instr, item->operand_count, args);
}

bool indim_element_can(const indim_instr *instr) {
  switch ((int)instr->op) {
  case INDIM_OP_CONSTANT:
    return true;
  case INDIM_OP_BITCAST:
    return indim_element_move_of(instr) != NULL || indim_recast_can(instr);
  case INDIM_OP_BITCAST_CONVERT:
    return indim_loop_can_instr(instr) || indim_recast_can(instr);
  case INDIM_OP_MAP:
    return indim_loop_can_apply(indim_instr_computation(instr, INDIM_ATTR_TO_APPLY));
  default:
    return indim_element_move_of(instr) != NULL || indim_loop_can_instr(instr);
  }
}

static indim_value_id compute_op(indim_element_ctx *k, indim_flow_item *item, const indim_coord *index,
                                 indim_value_id mask) {
  indim_op op = item->instr->op;
  indim_element_move *move = indim_element_move_of(item->instr);
  if (move != NULL) {
    return move(k, item, index, mask);
  }
  bool is_recast = op == INDIM_OP_BITCAST || (op == INDIM_OP_BITCAST_CONVERT && !indim_loop_can_instr(item->instr));
  return is_recast ? indim_recast(k, item, index, mask) : elementwise(k, item, index, mask);
}

// Nodes of what is inlined come from the instruction itself, not from the one whose loops it is in.
static indim_value_id compute(indim_element_ctx *k, indim_flow_item *item, const indim_coord *index,
                              indim_value_id mask) {
  indim_loop_builder *b = &k->l->b;
  const indim_instr *outer = b->origin;
  b->origin = item->instr;
  indim_value_id value = compute_op(k, item, index, mask);
  b->origin = outer;
  return value;
}

// Register arrays and constants ---------------------------------------------------------------------------------------

// The value of a constant item whose elements are all the same; 0 otherwise.
static indim_value_id uniform_constant(indim_element_ctx *k, const indim_flow_item *item) {
  if (item->kind != INDIM_FLOW_OP || item->instr->op != INDIM_OP_CONSTANT) {
    return 0;
  }
  indim_element_bits bits;
  if (!indim_uniform_literal(item->instr->literal, &bits)) {
    return 0;
  }
  return indim_loop_const(&k->l->b, item->shape->type, bits.bits, bits.imag);
}

// The element of a register array at a constant index; 0 when the index is not constant or is that of collapsed ones.
static indim_value_id regs_element(indim_element_ctx *k, const indim_flow_item *item, const indim_coord *index) {
  const indim_regs *regs = &item->regs;
  int64_t linear = 0;
  for (int32_t d = 0; d < item->shape->rank; d++) {
    const indim_loop_value *value = indim_loop_value_of(&k->l->b, index[d].base);
    if (item->shape->sizes[d] == 1) {
      continue;
    }
    bool is_constant = index[d].step == 0 && value->lanes == 1 && value->low == value->high;
    if (!is_constant || value->low < 0 || value->low >= item->shape->sizes[d]) {
      return 0;
    }
    linear = linear * item->shape->sizes[d] + value->low;
  }
  return indim_loop_extract(&k->l->b, regs->rows[linear / regs->lanes], (int32_t)(linear % regs->lanes));
}

static indim_value_id read_stored(indim_element_ctx *k, indim_flow_item *item, const indim_coord *index,
                                  indim_value_id mask) {
  if (item->has_regs) {
    indim_value_id value = regs_element(k, item, index);
    if (value != 0) {
      indim_transpose_note(k->l, item, NULL, false, 0);
      return value;
    }
  }
  indim_location at = indim_location_need(k->l, item);
  return at.storage == NULL ? 0 : indim_load_item(k, item, &at, index, mask);
}

// Whether a function of c64 is computed by so many doubles at a time that vectors of as many lanes as of doubles are as fast, or faster,
// and half the code.
static bool is_in_doubles(const indim_flow_item *item) {
  if (item->kind != INDIM_FLOW_OP || item->shape->type != INDIM_C64) {
    return false;
  }
  switch ((int)item->instr->op) {
  case INDIM_OP_ATAN2:
  case INDIM_OP_EXPONENTIAL_MINUS_ONE:
  case INDIM_OP_LOGISTIC:
  case INDIM_OP_POWER:
    return true;
  default:
    return false;
  }
}

static void note_type(indim_lowering *l, const indim_flow_item *item) {
  indim_access_note_type(l, is_in_doubles(item) ? INDIM_C128 : item->shape->type);
}

indim_value_id indim_value_at(indim_element_ctx *k, indim_flow_item *item, const indim_coord *index,
                              indim_value_id mask) {
  indim_lowering *l = k->l;
  if (indim_lower_failed(l)) {
    return 0;
  }
  note_type(l, item);
  indim_value_id constant = uniform_constant(k, item);
  if (constant != 0) {
    return constant;
  }
  indim_value_id found = indim_memo_find(k, item, index, mask);
  if (found != 0) {
    return found;
  }
  bool is_constant = item->kind == INDIM_FLOW_OP && item->instr->op == INDIM_OP_CONSTANT;
  bool is_inlined = indim_flow_is_inline(item) && !item->has_regs;
  indim_value_id value = is_inlined && !is_constant ? compute(k, item, index, mask) : read_stored(k, item, index, mask);
  if (value != 0 && !indim_lower_failed(l)) {
    indim_memo_keep(k, item, index, mask, value);
  }
  return value;
}

indim_value_id indim_element_compute(indim_element_ctx *k, indim_flow_item *item, const indim_coord *index) {
  note_type(k->l, item);
  indim_value_id constant = uniform_constant(k, item);
  if (constant == 0 && item->kind == INDIM_FLOW_OP && item->instr->op == INDIM_OP_CONSTANT) {
    return indim_value_at(k, item, index, 0);
  }
  return constant != 0 ? constant : compute(k, item, index, 0);
}

indim_value_id indim_value_at_lanes(indim_element_ctx *k, indim_flow_item *item, const indim_coord *index,
                                    indim_value_id mask) {
  return indim_loop_splat(&k->l->b, indim_value_at(k, item, index, mask), k->lanes);
}
