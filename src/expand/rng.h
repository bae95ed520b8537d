// The numbers of an rng.
#ifndef INDIM_EXPAND_RNG_H
#define INDIM_EXPAND_RNG_H

#include "expand/kit.h"

// Those of |x->instr|, by its place in its own module, in the open computation; of |x->operands|, all that the bounds have.
value indim_rng_build(indim_expander *x);

#endif  // INDIM_EXPAND_RNG_H
