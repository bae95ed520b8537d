// Windows that slide past a short innermost dimension.
#ifndef INDIM_EXPAND_MERGE_WINDOWS_H
#define INDIM_EXPAND_MERGE_WINDOWS_H

#include "graph/module.h"

// Whether |instr| is a reduce-window of which indim_expand merges the two innermost dimensions.
bool indim_merge_windows_suits(const indim_instr *instr);

#endif  // INDIM_EXPAND_MERGE_WINDOWS_H
