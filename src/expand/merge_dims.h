// Convolutions whose window does nothing along some of many spatial dimensions.
#ifndef INDIM_EXPAND_MERGE_DIMS_H
#define INDIM_EXPAND_MERGE_DIMS_H

#include "graph/module.h"

// Whether |instr| is a convolution of which indim_expand merges two dimensions.
bool indim_merge_dims_suits(const indim_instr *instr);

#endif  // INDIM_EXPAND_MERGE_DIMS_H
