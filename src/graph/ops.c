// The op table of ops.def: rows by number, and numbers by text.
#include <string.h>

#include "graph/module.h"

#define SHAPE_DECLARED false
#define SHAPE_INFERRED true

static const indim_op_info rows[] = {
#define INDIM_OP(name, text, least, most, types, shape, infer, eval, meaning) \
  [INDIM_OP_##name] = {text, least, most, SHAPE_##shape, sizeof(#eval) != sizeof("none") || #eval[0] != 'n', meaning},
#include "indim/ops.def"
};

const indim_op_info *indim_op_get(indim_op op) {
  return (unsigned)op < INDIM_OP_COUNT ? &rows[op] : &rows[INDIM_OP_ADD];
}

// A switch on length and first letter would have to be kept by hand; 133 short comparisons, of which nearly all fail at
// the length or the first byte, cost about 100 ns.
bool indim_op_parse(indim_str text, indim_op *out_op) {
  for (int op = 0; op < INDIM_OP_COUNT; op++) {
    const char *row = rows[op].text;
    if (text.size > 0 && row[0] == text.data[0] && strlen(row) == text.size && memcmp(row, text.data, text.size) == 0) {
      *out_op = (indim_op)op;
      return true;
    }
  }
  return false;
}
