// Where each item of a flow lives.
#ifndef INDIM_LOOP_PLAN_H
#define INDIM_LOOP_PLAN_H

#include "loop/lowering/lowering.h"

void indim_plan_flow(indim_lowering *l, indim_flow *flow);
// Whether the item writes a part of its first operand, whose memory it may take over: dynamic-update-slice, scatter.
bool indim_plan_updates(const indim_flow_item *item);
// Whether |update| is the only update of |item|, and all that reads it otherwise comes before.
bool indim_plan_others_are_done(const indim_flow_item *item, const indim_flow_item *update);

#endif  // INDIM_LOOP_PLAN_H
