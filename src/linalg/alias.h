// LAPACK's custom calls as JAX before 0.4.36 wrote them, and XLA's own for the same (alias.def). One of those becomes the call
// of today that computes the same, and whoever runs calls runs that one:
//
//   (f32[2,3,3]{1,2,0}, s32[2]) custom-call(one, two, three, x), custom_call_target="lapack_spotrf"
//     -> (f32[2,3,3]{1,2,0}, s32[2]) custom-call(x), custom_call_target="lapack_spotrf_ffi", backend_config={uplo = 76 : ui8}
#ifndef INDIM_LINALG_ALIAS_H
#define INDIM_LINALG_ALIAS_H

#include "linalg/linalg.h"

enum { INDIM_LINALG_MOST_ALIAS_RESULTS = 8, INDIM_LINALG_MOST_XLA_ARRAYS = 4 };

// Points into itself: it stays where it is.
typedef struct indim_linalg_alias {
  indim_instr today;                                 // stands in for the instruction, in whose computation it is not
  int32_t operands[INDIM_LINALG_MOST_ARRAYS];        // of each of today's operands: its number among the instruction's
  int32_t result_count;                              // of the instruction
  int32_t results[INDIM_LINALG_MOST_ALIAS_RESULTS];  // of each: the number among today's, -1 for one that is 0
  // What |today| points to.
  indim_attr attrs[4];
  char target[32];
  char config[160];
  indim_instr *values[INDIM_LINALG_MOST_ARRAYS];
  const indim_shape *constraints[INDIM_LINALG_MOST_ARRAYS];
  indim_shape shape;
  const indim_shape *members[INDIM_LINALG_MOST_ARRAYS];
  indim_shape arrays[INDIM_LINALG_MOST_XLA_ARRAYS];  // of XLA's: operands and results in LAPACK's layout
  int32_t array_count;
} indim_linalg_alias;

// Whether it is a custom call whose target is one of alias.def's.
bool indim_linalg_is_alias(const indim_instr *instr);
// Reads such a call. INDIM_INVALID with what is wrong and what is expected; UNSUPPORTED for a scalar operand that is no
// constant.
INDIM_CHECKED indim_status indim_linalg_read_alias(indim_ctx *cx, const indim_instr *instr, indim_linalg_alias *out,
                                                   indim_linalg_call *out_call);

#endif  // INDIM_LINALG_ALIAS_H
