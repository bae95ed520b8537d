// Graphs to loop programs: fusion, tiles, loop nests, control, and the plan of the scratch block.
#ifndef INDIM_LOOP_LOWER_H
#define INDIM_LOOP_LOWER_H

#include "loop/ir/loop.h"
#include "loop/decision/decision.h"

// Lowers the entry computation of a verified module with all that it calls. The leaves of the arguments and of the result
// are storages ARGUMENT 0.. and RESULT 0.. in the layouts that the module states. UNSUPPORTED, with the instruction's
// place and the reason, for what has no lowering; INVALID for a decision that there is not.
INDIM_CHECKED indim_status indim_loop_lower(indim_ctx *cx, const indim_module *module, const indim_target *target,
                                            const indim_lower_options *options, indim_loop_program **out_program);

#endif  // INDIM_LOOP_LOWER_H
