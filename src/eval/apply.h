// A computation of scalars to a scalar, or to a tuple of scalars, called once for each element: what reduce, map, sort,
// scatter and the windows do with to_apply=.
#ifndef INDIM_EVAL_APPLY_H
#define INDIM_EVAL_APPLY_H

#include "eval/evaluator.h"

typedef struct indim_scalar_program indim_scalar_program;

typedef struct indim_applied {
  indim_evaluator *e;
  const indim_computation *computation;
  indim_scalar_program *program;  // NULL if the computation is more than elementwise ops on scalars: it runs by values
  indim_value **values;           // room for the arguments then
} indim_applied;

INDIM_CHECKED indim_status indim_applied_init(indim_evaluator *e, const indim_computation *computation,
                                              indim_applied *out);
// After a failed init as well.
void indim_applied_deinit(indim_applied *a);
// One call: as many |arguments| as parameters, as many |results| as the root has (1, or its members). The two must not
// overlap.
INDIM_CHECKED indim_status indim_applied_run(indim_applied *a, const indim_scalar *arguments, indim_scalar *results);

#endif  // INDIM_EVAL_APPLY_H
