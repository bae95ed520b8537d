// Items that lower flows inside: while and conditional; and updates, which loops carry in place.
#ifndef INDIM_LOOP_CONTROL_H
#define INDIM_LOOP_CONTROL_H

#include "loop/lowering/lowering.h"

void indim_lower_update(indim_lowering *l, indim_flow_item *item);  // dynamic-update-slice
// Puts an item that is in registers where it is to lie, or where loops can read it, if they do.
void indim_lower_deliver(indim_lowering *l, indim_flow_item *item);
void indim_lower_while(indim_lowering *l, indim_flow_item *item);
// Whether |item| is |from| itself, or |from| updated, once or in loops that carry it in one memory.
bool indim_lower_updates(const indim_flow_item *item, const indim_flow_item *from);
void indim_lower_conditional(indim_lowering *l, indim_flow_item *item);
// Lowers all items of a flow whose parameters have their values.
void indim_lower_flow(indim_lowering *l, indim_flow *flow);

#endif  // INDIM_LOOP_CONTROL_H
