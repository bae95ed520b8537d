// HLO text to a module and back.
#ifndef INDIM_TEXT_H
#define INDIM_TEXT_H

#include "indim/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

// Reads a module: HLO text as XLA prints it (before or after optimisation), or a lone computation or instruction.
// |name| is the file name for diagnostics. Several independent errors are reported in one run. Text and names are
// copied. The module is not verified yet (indim_module_verify). *|out_module| is NULL on failure.
INDIM_API INDIM_CHECKED indim_status indim_module_parse(indim_ctx *cx, indim_str name, indim_str text,
                                                        indim_module **out_module);

enum {
  INDIM_PRINT_ELIDE_CONSTANTS = 1 << 0,  // constants of more than 10 elements, and tuples, as {...}
  INDIM_PRINT_METADATA = 1 << 1,         // metadata= and the frame sections
  INDIM_PRINT_PERCENT = 1 << 2,          // % before names
  INDIM_PRINT_PROGRAM_SHAPES = 1 << 3,   // (p: f32[2]) -> f32[2] behind computation names
  INDIM_PRINT_NO_REFERENCES = 1 << 4,    // attributes that name computations or instructions are left out
};
// Writes the module's text, with no flags in XLA's short parsable form: no %, no metadata, constants in full. Reading
// it gives the same module, and printing that the same text.
INDIM_API void indim_module_print(const indim_module *module, unsigned flags, indim_buffer *out);
// One instruction on one line, as it stands in its module's text.
INDIM_API void indim_instr_print(const indim_instr *instr, unsigned flags, indim_buffer *out);

// Its attributes alone, as they stand behind the operands: ", dimensions={0,1}".
INDIM_API void indim_instr_attributes_print(const indim_instr *instr, unsigned flags, indim_buffer *out);

#ifdef __cplusplus
}
#endif
#endif  // INDIM_TEXT_H
