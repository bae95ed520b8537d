// Functions of the caller's in an executable.
#ifndef INDIM_PIPELINE_CALLS_H
#define INDIM_PIPELINE_CALLS_H

#include "loop/ir/loop.h"
#include "run/executable.h"

// Moves the calls of a program to the executable that is made of it.
INDIM_CHECKED indim_status indim_executable_take_calls(indim_executable *executable, indim_loop_program *program);

#endif  // INDIM_PIPELINE_CALLS_H
