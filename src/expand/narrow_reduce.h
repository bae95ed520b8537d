// Reductions whose lanes are narrower in other types.
#ifndef INDIM_EXPAND_NARROW_REDUCE_H
#define INDIM_EXPAND_NARROW_REDUCE_H

#include "graph/module.h"

// Whether |instr| is a reduce that indim_expand computes in other types: a maximum or minimum of f16 or bf16, or an argmax
// with an index of 64 bits.
bool indim_narrow_reduce_suits(const indim_instr *instr);

#endif  // INDIM_EXPAND_NARROW_REDUCE_H
