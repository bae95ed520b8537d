// What of a computation is asked for: which instructions, and of integers how many low bytes.
#ifndef INDIM_EXPAND_NEEDED_H
#define INDIM_EXPAND_NEEDED_H

#include "graph/module.h"

enum { INDIM_NEEDED_ALL = INT8_MAX };

// Fills |needed|, zeroed, a number for each instruction: 0 for what nobody asks for, else of how many low bytes of each
// element the results and effects are made, INDIM_NEEDED_ALL where that is not known.
void indim_needed_fill(const indim_computation *computation, int8_t *needed);

// Elementwise ops of integers whose low bytes follow from the operands' low bytes.
bool indim_op_is_modular(indim_op op);

#endif  // INDIM_EXPAND_NEEDED_H
