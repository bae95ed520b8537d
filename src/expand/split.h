// Reductions and products of long sums with few results, which are split into parts so that threads share them: the parts
// follow from the sizes alone.
#ifndef INDIM_EXPAND_SPLIT_H
#define INDIM_EXPAND_SPLIT_H

#include "graph/module.h"

// Whether |instr| is a reduce or a dot that indim_expand splits. False for what comes out of that.
bool indim_split_suits(const indim_instr *instr);
// The expansion of such a reduce.
struct indim_expander;
const indim_instr *indim_split_reduce(struct indim_expander *x);
// Whether a reducer chooses, as argmax does: each result is an argument of the same array, and which one follows from compares
// of arguments alone. Any number of initial values gives what one gives then.
bool indim_split_only_selects(const indim_computation *computation);

#endif  // INDIM_EXPAND_SPLIT_H
