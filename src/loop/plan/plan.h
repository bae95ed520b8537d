// Where each item of a flow lives.
#ifndef INDIM_LOOP_PLAN_H
#define INDIM_LOOP_PLAN_H

#include "loop/lowering/lowering.h"

void indim_plan_flow(indim_lowering *l, indim_flow *flow);
// unpack.c: puts a copy, which users then read, behind each parameter of the entry's |flow| that is packed and whose bytes
// loops load: planned like any other item, it is inside its users where they compute element by element, and an array in memory
// where they want one. |shapes|: of the parameters.
void indim_plan_unpack(indim_lowering *l, indim_flow *flow, const indim_shape *const *shapes);
// registers.c: whether an array is small enough for registers, and has elements.
bool indim_plan_is_small(const indim_flow_item *item);
// Marks the small arrays that loops carry, and conditionals pass on, of which elements are read or written at an index that is
// known at run time only, in |flow| and the flows inside.
void indim_plan_mark_indexed(indim_flow *flow);
// Whether a small array can be computed in registers, its operands being small, too.
bool indim_plan_can_be_in_registers(const indim_flow_item *item);
// unroll_while.c: whether a while loop goes from step 0 to a constant number of them, which the carried s64 |*out_counter| counts.
bool indim_plan_counts_steps(const indim_flow_item *loop, int32_t *out_counter, int64_t *out_steps);
// plan_print.c: the flow and those inside it as text.
void indim_plan_print(const indim_flow *flow, indim_buffer *out);
// plan_report.c: the flow and those inside it as JSON, when it is lowered, to the options' |out_items|. NO_MEMORY.
INDIM_CHECKED indim_status indim_plan_report(indim_lowering *l, const indim_flow *flow);
// plan_verify.c: INTERNAL, with the item, for a planned flow that does not hold together. Takes time that grows with the items
// times those that overwrite memory.
INDIM_CHECKED indim_status indim_plan_verify(indim_ctx *cx, const indim_flow *flow);
// base.c: the item in memory that |item|, an update, a loop's or a conditional's result or a select, would overwrite; NULL: none.
// |number|: which of those that it could, the likeliest first: the second array of a select, what the first branch gives.
indim_flow_item *indim_plan_base(indim_flow_item *item, int32_t number);
int32_t indim_plan_base_count(indim_flow_item *item);
// in_place.c: decides which items may overwrite the memory of what they update or carry, and puts what reads the old value
// before them. The flows inside |flow| are planned.
void indim_plan_in_place(indim_lowering *l, indim_flow *flow);

#endif  // INDIM_LOOP_PLAN_H
