// From a loop program to the executable that it is run by.
#ifndef INDIM_PIPELINE_BIND_H
#define INDIM_PIPELINE_BIND_H

#include "loop/ir/steps.h"
#include "run/executable.h"

// An executable with the module's parameters and result, and without code.
INDIM_CHECKED indim_status indim_bind_executable(indim_ctx *cx, const indim_module *module, indim_executable **out);
// Compares what the program says of its buffers with what the shapes say; INTERNAL when they differ.
INDIM_CHECKED indim_status indim_bind_storages(indim_executable *e, const indim_loop_program *program);
// Which results may have an argument's buffer.
INDIM_CHECKED indim_status indim_bind_aliases(indim_executable *e, const indim_module *module,
                                              indim_loop_program *program);
// Lists the steps of a profiled program, with their costs.
INDIM_CHECKED indim_status indim_bind_steps(indim_executable *e, const indim_loop_program *program,
                                            const indim_step *steps, int32_t count);
// Whether any of the program's products or LAPACK calls is one that a library computes better than we do.
bool indim_bind_library(const indim_loop_program *program);
// Opens that library for the executable, if there is one.
INDIM_CHECKED indim_status indim_bind_open_library(indim_executable *e);

#endif  // INDIM_PIPELINE_BIND_H
