// Rolling: long straight-line code that says the same again and again, each time with what the time before gave, becomes a
// loop. Programs whose loops were unrolled by whoever wrote them (a chain of 200 products) are then as short as they were
// meant to be, for the code generator and for the instruction cache.
//
//   v4 = multiply v1, a               v4 = for 0..3 carrying v1 = v1
//   v5 = multiply v4, a                 v2 = multiply v1, a
//   v6 = multiply v5, a                 yield v2
#ifndef INDIM_LOOP_ROLL_H
#define INDIM_LOOP_ROLL_H

#include "loop/loop.h"

// Rewrites a finished program; no result changes. Takes time that grows with the nodes. Errors: NO_MEMORY.
INDIM_CHECKED indim_status indim_loop_roll(indim_loop_program *program);

#endif  // INDIM_LOOP_ROLL_H
