// The compiler's optional decisions: parses a list of names to a set of bits, which the lowering queries.
#include <string.h>

#include "loop/decision/decision.h"

static const char *const names[] = {
#define INDIM_DECISION(enumerator, name, scope, meaning) name,
#include "loop/decision/decisions.def"
};

static const char *const all_names =
#define INDIM_DECISION(enumerator, name, scope, meaning) name ", "
#include "loop/decision/decisions.def"
    ;

const char *indim_decision_name(int decision) { return names[decision]; }

int indim_decision_find(indim_str name) {
  int found = 0;
  while (found < INDIM_DECISION_COUNT && !indim_str_equal(indim_str_of(names[found]), name)) {
    found++;
  }
  return found;
}

indim_status indim_decisions_parse(indim_ctx *cx, const char *text, uint32_t *out_set) {
  const char *at = text == NULL ? "" : text;
  *out_set = 0;
  while (*at != '\0') {
    size_t size = strcspn(at, ",");
    int found = indim_decision_find((indim_str){at, size});
    if (found == INDIM_DECISION_COUNT) {
      int shown = size < 40 ? (int)size : 40;
      indim_fail(cx, INDIM_INVALID, "the compiler has no decision '%.*s' to leave out", shown, at);
      indim_hint(cx, "it has %swhich `indim compile --without=help` explains", all_names);
      return INDIM_INVALID;
    }
    *out_set |= UINT32_C(1) << found;
    at += size + (at[size] == ',' ? 1 : 0);
  }
  return INDIM_OK;
}
