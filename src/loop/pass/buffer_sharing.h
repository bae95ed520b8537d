// Whether an argument and a result may be one buffer.
#ifndef INDIM_LOOP_BUFFER_SHARING_H
#define INDIM_LOOP_BUFFER_SHARING_H

#include "loop/ir/loop.h"

// Answers in |*out_may| whether the program gives the same results when the argument's and the result's storage are the same
// memory: no element is read from the argument after it has been written in the result. A loop that reads and writes
// element i in step i may; one that reverses may not. "No" may only mean that it was too hard to see. The program must
// be verified.
INDIM_CHECKED indim_status indim_loop_may_share(indim_loop_program *program, const indim_storage *argument,
                                                const indim_storage *result, bool *out_may);

#endif  // INDIM_LOOP_BUFFER_SHARING_H
