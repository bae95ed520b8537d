// The decisions of the compiler that can be left out, and the options of the lowering that name them.
#ifndef INDIM_LOOP_DECISION_H
#define INDIM_LOOP_DECISION_H

#include "base/ctx.h"

// What can be left out.
typedef enum indim_decision {
#define INDIM_DECISION(enumerator, name, meaning) INDIM_DECISION_##enumerator,
#include "loop/lowering/decisions.def"
  INDIM_DECISION_COUNT  // at most 32
} indim_decision;

typedef struct indim_lower_options {
  const char *without;        // decisions left out (decisions.def), separated by commas; NULL: none
  indim_buffer *out_explain;  // NULL: not wanted
} indim_lower_options;

// The set of the names in |text| (separated by commas, NULL for none), bit k for decision k. INVALID for another name.
INDIM_CHECKED indim_status indim_decisions_parse(indim_ctx *cx, const char *text, uint32_t *out_set);

#endif  // INDIM_LOOP_DECISION_H
