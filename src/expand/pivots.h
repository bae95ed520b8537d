// The loop that JAX makes of the pivots of LU factorizations (pivots.c).
#ifndef INDIM_EXPAND_PIVOTS_H
#define INDIM_EXPAND_PIVOTS_H

#include "expand/kit.h"

// Whether a while loop turns the pivots of small matrices into permutations.
bool indim_pivots_suit(const indim_instr *loop);
value indim_pivots_expand(indim_expander *x);

#endif  // INDIM_EXPAND_PIVOTS_H
