// The compiler's optional decisions, which can be disabled by name, and the options of the lowering.
#ifndef INDIM_LOOP_DECISION_H
#define INDIM_LOOP_DECISION_H

#include "base/ctx.h"

// Decisions that can be disabled.
typedef enum indim_decision {
#define INDIM_DECISION(enumerator, name, scope, meaning) INDIM_DECISION_##enumerator,
#include "loop/decision/decisions.def"
  INDIM_DECISION_COUNT  // at most 32
} indim_decision;

typedef struct indim_lower_options {
  const char *without;        // disabled decisions (decisions.def), separated by commas; NULL: none
  const char *choices;        // at single instructions (choices.h); NULL: none
  indim_buffer *out_choices;  // those that were taken, in the same form; NULL: not requested
  bool is_self_contained;     // as little as can be is asked of the host: products and Fourier transforms are loops
  bool has_foreign_calls;     // custom calls of functions that are not registered are the host's
  indim_buffer *out_explain;  // NULL: not requested
  indim_buffer *out_plan;     // likewise
  indim_buffer *out_items;    // likewise: JSON of the items, as in indim_compile_options.out_report
  // The program as text after this pass (passes.def), or "lowering" for before all, or "all" for after each that
  // changed something; NULL: not requested.
  const char *shown_pass;
  indim_buffer *out_shown;
} indim_lower_options;

static inline bool indim_decision_is_out(uint32_t set, indim_decision decision) { return (set >> decision & 1) != 0; }

const char *indim_decision_name(int decision);
// The decision of a name; INDIM_DECISION_COUNT for none.
int indim_decision_find(indim_str name);
// The set of the names in |text| (separated by commas, NULL for none), bit k for decision k. INVALID for an unknown
// name.
INDIM_CHECKED indim_status indim_decisions_parse(indim_ctx *cx, const char *text, uint32_t *out_set);

#endif  // INDIM_LOOP_DECISION_H
