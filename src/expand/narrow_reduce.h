// Reductions whose lanes are narrower in other types.
#ifndef INDIM_EXPAND_NARROW_REDUCE_H
#define INDIM_EXPAND_NARROW_REDUCE_H

#include "graph/module.h"

// Whether |instr| is a reduce that indim_expand computes in other types: a maximum or minimum of f16 or bf16, an argmax with an
// index of 64 bits, or one of integers that were narrower before, of which the |bytes| low bytes are asked for.
bool indim_narrow_reduce_suits(const indim_instr *instr, int32_t bytes);
// Whether |instr|, a reduce, is one of integers whose low bytes follow from the elements' low bytes.
bool indim_narrow_reduce_is_modular(const indim_instr *instr);

#endif  // INDIM_EXPAND_NARROW_REDUCE_H
