// Batch normalisations, of all elements or of those that count (expand/dynamic/).
#ifndef INDIM_EXPAND_BATCH_NORM_H
#define INDIM_EXPAND_BATCH_NORM_H

#include "expand/kit.h"

// What of operand 0 is summed.
typedef struct indim_batch_norm_part {
  value counts;  // a pred for each element; NULL: all of them
  value count;   // elements of a feature, a scalar of the type to compute in
} indim_batch_norm_part;

// The type that is computed in.
indim_type indim_batch_norm_work_type(const indim_instr *instr);
// What |x->instr| gives of |x->operands|, in the open computation. |sum| adds two scalars of that type; |part| NULL: all of it.
value indim_batch_norm_build(indim_expander *x, const indim_computation *sum, const indim_batch_norm_part *part);

#endif  // INDIM_EXPAND_BATCH_NORM_H
