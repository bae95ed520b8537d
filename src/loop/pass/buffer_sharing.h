// Whether an argument and a result may share one buffer.
#ifndef INDIM_LOOP_BUFFER_SHARING_H
#define INDIM_LOOP_BUFFER_SHARING_H

#include "loop/ir/loop.h"

// Returns in |*out_may| whether the program computes the same results when the argument's and the result's storage are
// the same memory: no element of the argument is read after it has been written as the result. A loop that reads and
// writes element i in iteration i may; one that reverses may not. The answer is conservative: false may mean unknown.
// The program must be verified.
INDIM_CHECKED indim_status indim_loop_may_share(indim_loop_program *program, const indim_storage *argument,
                                                const indim_storage *result, bool *out_may);

#endif  // INDIM_LOOP_BUFFER_SHARING_H
