// Convolutions of dilated images as one small convolution for each phase.
#ifndef INDIM_EXPAND_PHASES_H
#define INDIM_EXPAND_PHASES_H

#include "graph/module.h"

// Whether |instr| is such a convolution, with strides of 1 and few phases, that indim_expand divides.
bool indim_phases_suit(const indim_instr *instr);
// The expansion of such a convolution.
struct indim_expander;
const indim_instr *indim_phases_expand(struct indim_expander *x);

#endif  // INDIM_EXPAND_PHASES_H
