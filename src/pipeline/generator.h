// The code generator, a library of its own: it is loaded when something is compiled, so that nothing that parses, checks or
// evaluates pays for LLVM.
#ifndef INDIM_PIPELINE_GENERATOR_H
#define INDIM_PIPELINE_GENERATOR_H

#include "emit/interface/emit.h"

typedef struct indim_code_generator {
  void *library;
  const indim_emit_library *functions;
} indim_code_generator;

// That for this machine's family, or that for all. UNSUPPORTED when it does not load or is of another version.
INDIM_CHECKED indim_status indim_code_generator_open(indim_ctx *cx, bool is_cross, indim_code_generator *out);

#endif  // INDIM_PIPELINE_GENERATOR_H
