// Reductions of nothing but dimensions of one element.
#ifndef INDIM_EXPAND_UNIT_REDUCE_H
#define INDIM_EXPAND_UNIT_REDUCE_H

#include "expand/kit.h"

// Whether |instr| is such a reduce, by one op, which indim_expand makes elementwise: its users then compute it inside their loops.
bool indim_unit_reduce_suits(const indim_instr *instr);
value indim_unit_reduce_expand(indim_expander *x);

#endif  // INDIM_EXPAND_UNIT_REDUCE_H
