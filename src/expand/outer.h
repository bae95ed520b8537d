// Products without a sum: dots that contract nothing.
#ifndef INDIM_EXPAND_OUTER_H
#define INDIM_EXPAND_OUTER_H

#include "expand/kit.h"

// Whether |instr| is such a dot, which indim_expand makes elementwise: its users then compute it inside their loops.
bool indim_outer_suits(const indim_instr *instr);
value indim_outer_expand(indim_expander *x);

#endif  // INDIM_EXPAND_OUTER_H
