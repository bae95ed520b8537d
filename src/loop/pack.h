// Packing: straight-line programs in vectors. Equal costly operations on independent values of one body become one
// operation on a vector:
//
//   s1 = sine b1                      v = shuffle b1, b2, b3, b4
//   s2 = sine b2            ->        s = sine v                       (four lanes)
//   ...                               s1 = extract s, 0 ...
//
// and so do the cheap operations before and behind them, as long as their other arguments are vectors in the same order,
// constants, or one scalar for all. Values that a loop carries and that are made and read as a vector are carried as one.
#ifndef INDIM_LOOP_PACK_H
#define INDIM_LOOP_PACK_H

#include "loop/loop.h"

// Rewrites a finished program; what is not packed stays as it is, and so does every result, bit for bit. Takes time that
// grows as n log n with the nodes of a body. Errors: NO_MEMORY.
INDIM_CHECKED indim_status indim_loop_pack(indim_loop_program *program);

#endif  // INDIM_LOOP_PACK_H
