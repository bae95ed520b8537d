// Powers whose exponent is a constant of a few.
#ifndef INDIM_EXPAND_POWER_H
#define INDIM_EXPAND_POWER_H

#include "expand/kit.h"

// Whether |instr| is such a power, which indim_expand makes of products, quotients and roots.
bool indim_power_suits(indim_ctx *cx, const indim_instr *instr);

#endif  // INDIM_EXPAND_POWER_H
