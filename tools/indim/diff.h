// indim diff: which instruction of one program is which of another (diff_match.c), and what that shows (diff.c).
#ifndef INDIM_TOOL_DIFF_H
#define INDIM_TOOL_DIFF_H

#include "instrs.h"

// One of the two programs.
typedef struct diff_side {
  instr_table t;
  uint64_t *
      exact;  // by instruction: hashes of what is computed: op, shape, layout, attributes, operands, called computations
  uint64_t *loose;               // the same without layouts and attributes but those of called computations
  uint64_t *computations;        // by computation: exact hash of all of it
  int64_t *partner;              // by instruction: that of the other side, -1 if none
  int64_t *computation_partner;  // by computation
} diff_side;

// Fills both sides. The modules are verified.
indim_status diff_match(indim_ctx *cx, const indim_module *a, const indim_module *b, diff_side sides[2]);
void diff_side_free(diff_side *side);

// What differs between partners.
enum {
  DIFF_OP = 1 << 0,
  DIFF_SHAPE = 1 << 1,
  DIFF_LAYOUT = 1 << 2,
  DIFF_OPERANDS = 1 << 3,
  DIFF_ATTRIBUTES = 1 << 4,
  DIFF_VALUE = 1 << 5,  // of a constant, or a parameter's number
  DIFF_CALLS = 1 << 6   // another computation than the partner of the one called
};
indim_status diff_compare(indim_ctx *cx, const diff_side sides[2], int64_t a, unsigned *out_what);

#endif  // INDIM_TOOL_DIFF_H
