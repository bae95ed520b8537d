// Products of complex numbers as products of real ones.
#ifndef INDIM_EXPAND_COMPLEX_DOT_H
#define INDIM_EXPAND_COMPLEX_DOT_H

#include "expand/kit.h"

// Whether |instr| is a dot of complex matrices of so many rows, columns and steps that real ones are faster, copies included.
bool indim_complex_dot_suits(const indim_instr *instr);
value indim_complex_dot_expand(indim_expander *x);

#endif  // INDIM_EXPAND_COMPLEX_DOT_H
