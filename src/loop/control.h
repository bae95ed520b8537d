// Items that lower flows inside: while and conditional. lower.c and control.c call each other: a body is lowered as a flow is.
#ifndef INDIM_LOOP_CONTROL_H
#define INDIM_LOOP_CONTROL_H

#include "loop/lowering/lowering.h"

// Puts an item that is in registers where it is to lie, or where loops can read it, if they do.
void indim_lower_deliver(indim_lowering *l, indim_flow_item *item);
// Lowers a while or a conditional.
void indim_lower_control(indim_lowering *l, indim_flow_item *item);
// Lowers all items of a flow whose parameters have their values.
void indim_lower_flow(indim_lowering *l, indim_flow *flow);

#endif  // INDIM_LOOP_CONTROL_H
