// Whose memory an item has.
#include "loop/lowering/flow.h"

bool indim_flow_is_passed_on(const indim_flow_item *item) {
  const indim_flow_item *loop = item->kind == INDIM_FLOW_MEMBER ? item->source : item;
  int32_t k = item->kind == INDIM_FLOW_MEMBER ? item->number : 0;
  bool is_loop = loop->kind == INDIM_FLOW_OP && loop->instr->op == INDIM_OP_WHILE;
  return is_loop && loop->flows[1]->results[k] == loop->flows[1]->parameters[k];
}

indim_flow_item *indim_flow_origin(const indim_flow_item *item) {
  if (indim_flow_is_passed_on(item)) {
    return item->kind == INDIM_FLOW_MEMBER ? item->source->operands[item->number] : item->operands[0];
  }
  return item->overwrites ? item->base : NULL;
}

indim_flow_item *indim_flow_memory(indim_flow_item *item) {
  while (indim_flow_is_passed_on(item)) {
    item = indim_flow_origin(item);
  }
  return item;
}

indim_flow_item *indim_flow_root(indim_flow_item *item) {
  while (item != NULL && item->kind != INDIM_FLOW_PARAMETER) {
    item = indim_flow_origin(item);
  }
  return item;
}

indim_flow_item *indim_flow_select_pred(const indim_flow_item *select) {
  indim_flow_item *pred = select->operands[0];
  bool is_inline = true;  // else what is in memory may have changed since it was read
  while (indim_shape_element_count(pred->shape) != 1 && pred->kind == INDIM_FLOW_OP &&
         (pred->instr->op == INDIM_OP_BROADCAST || pred->instr->op == INDIM_OP_RESHAPE)) {
    is_inline = is_inline && pred->placement == INDIM_PLACEMENT_INLINE;
    pred = pred->operands[0];
  }
  bool is_known =
      pred->placement == INDIM_PLACEMENT_REGISTERS || (pred->placement == INDIM_PLACEMENT_MEMORY && is_inline);
  return is_known && indim_shape_element_count(pred->shape) == 1 ? pred : NULL;
}

bool indim_flow_owns(indim_flow_item *item) {
  item = indim_flow_memory(item);
  return item->kind == INDIM_FLOW_PARAMETER ? item->may_be_overwritten : item->placement == INDIM_PLACEMENT_MEMORY;
}
