// Custom calls that are computations of other ops.
#ifndef INDIM_EXPAND_CUSTOM_CALL_H
#define INDIM_EXPAND_CUSTOM_CALL_H

#include "expand/kit.h"

// Whether |instr| is such a call by its target, which a function of the caller's may have taken.
bool indim_custom_call_suits(const indim_instr *instr);

#endif  // INDIM_EXPAND_CUSTOM_CALL_H
