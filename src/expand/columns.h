// Gathers of a few columns whose numbers follow from constants.
#ifndef INDIM_EXPAND_COLUMNS_H
#define INDIM_EXPAND_COLUMNS_H

#include "expand/kit.h"

// Whether |instr| is such a gather, which indim_expand makes slices side by side: their elements move without an index.
bool indim_columns_suit(indim_ctx *cx, const indim_instr *instr);

#endif  // INDIM_EXPAND_COLUMNS_H
