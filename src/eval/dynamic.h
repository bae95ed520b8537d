// Arrays with run-time sizes (f32[<=10]) in the evaluator: what ops do with elements that are not there.
//
// A value of such a shape has room for its bound, and says how much of each dimension counts (indim_value.sizes). What lies
// beyond is stored and means nothing. Most ops compute with all of it as if it counted, and only the sizes of the result need a
// rule; for those that would mix it with what counts, as sums do, the operands are cut to their sizes, and
// the result is given its bound again. This is what XLA's DynamicPadder makes of a program by masks.
#ifndef INDIM_EVAL_DYNAMIC_H
#define INDIM_EVAL_DYNAMIC_H

#include "eval/evaluator.h"

// Runs |run|, the instruction's own function, by its rule.
INDIM_CHECKED indim_status indim_dynamic_run(indim_evaluator *e, const indim_instr *instr, indim_eval_fn *run,
                                             indim_value **operands, indim_value **out);
// Gives an array that came from elsewhere, a loop's body or a caller, what is dynamic in |instr|'s shape: INVALID where it is short
// and that has a fixed size.
INDIM_CHECKED indim_status indim_dynamic_settle(indim_evaluator *e, const indim_instr *instr, indim_value **value);
// Of these sizes of an array of |shape|. A result that is short where its shape has a fixed size cannot be told from a whole one
// by those who read it.
INDIM_CHECKED indim_status indim_dynamic_check_sizes(indim_evaluator *e, const indim_instr *instr,
                                                     const indim_shape *shape, const int64_t *sizes);
// How much of a dimension counts.
int64_t indim_dynamic_size(const indim_value *value, int32_t dim);

#endif  // INDIM_EVAL_DYNAMIC_H
