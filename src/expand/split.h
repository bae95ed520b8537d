// Reductions and products of long sums with few results, which are split into parts so that threads share them: the parts
// follow from the sizes alone.
#ifndef INDIM_EXPAND_SPLIT_H
#define INDIM_EXPAND_SPLIT_H

#include "graph/module.h"

// Whether |instr| is a reduce or a dot that indim_expand splits. False for what comes out of that.
bool indim_split_suits(const indim_instr *instr);
// Whether every result of a reducer is one of the arguments or a constant: only compares, selections and logic of preds.
bool indim_split_only_selects(const indim_computation *computation);

#endif  // INDIM_EXPAND_SPLIT_H
