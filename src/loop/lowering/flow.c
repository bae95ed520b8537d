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

bool indim_flow_owns(indim_flow_item *item) {
  item = indim_flow_memory(item);
  return item->kind == INDIM_FLOW_PARAMETER ? item->may_be_overwritten : item->placement == INDIM_PLACEMENT_MEMORY;
}
