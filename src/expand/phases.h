// Convolutions of dilated images as one small convolution for each phase.
#ifndef INDIM_EXPAND_PHASES_H
#define INDIM_EXPAND_PHASES_H

#include "graph/module.h"

// Whether |instr| is such a convolution, with strides of 1 and few phases, that indim_expand divides.
bool indim_phases_suit(const indim_instr *instr);
// The expansion of such a convolution.
struct indim_expander;
const indim_instr *indim_phases_expand(struct indim_expander *x);
// Whether |instr| is one of few features, with strides or not, whose phases are features of one convolution (phases_together.c);
// and its expansion.
bool indim_phases_suit_together(const indim_instr *instr);
const indim_instr *indim_phases_expand_together(struct indim_expander *x);

#endif  // INDIM_EXPAND_PHASES_H
