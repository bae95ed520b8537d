// indim lint: the state of a program that is looked at, and what rules use. Rules are listed in lint.def.
#ifndef INDIM_TOOL_LINT_H
#define INDIM_TOOL_LINT_H

#include "instrs.h"

typedef enum lint_rule {
#define LINT_RULE(enumerator, name, severity, what, way_out) RULE_##enumerator,
#include "lint.def"
  RULE_COUNT
} lint_rule;

typedef struct finding {
  lint_rule rule;
  const indim_instr *instr;
  double bytes;  // what it costs: memory or traffic; 0 if that is not the point
  char *text;
} finding;

typedef struct lint {
  indim_ctx *cx;
  const char *path;
  char *shown;  // the path for a terminal
  instr_table t;
  bool *depends;       // by instruction: its value depends on a parameter, or on more than its operands
  indim_buffer plan;   // the compiler's decisions, a line each; empty if the program does not compile
  double least_bytes;  // what costs less is not told
  double padding;      // share of padding that is too much
  bool is_allowed[RULE_COUNT];
  int64_t counts[RULE_COUNT];  // found, also those that are not kept
  finding *findings;
  int64_t finding_count, finding_capacity;
} lint;

// Of a rule more findings are only counted.
enum { LINT_MOST_FINDINGS = 50 };
void lint_add(lint *l, lint_rule rule, int64_t number, double bytes, const char *format, ...) INDIM_PRINTF(5, 6);

#define LINT_RULE(enumerator, name, severity, what, way_out) void lint_##enumerator(lint *l);
#include "lint.def"

// Text of a shape for a message; without its layout.
typedef struct lint_shape_text {
  char text[120];
} lint_shape_text;
lint_shape_text lint_shape(const lint *l, int64_t number);
const char *lint_name(const lint *l, int64_t number);
// Bytes of the elements of an array, without padding; 0 for what is none.
double lint_bytes(const indim_shape *shape);
indim_op lint_op(const lint *l, int64_t number);
const indim_shape *lint_shape_of(const lint *l, int64_t number);
bool lint_is_entry(const lint *l, int64_t number);
int64_t lint_entry_root(const lint *l);

// Tells what the rules find in a verified module that need not know what is compiled of it, as `indim lint` would without options.
typedef void lint_tell(void *user, const indim_instr *instr, bool is_warning, const char *rule, const char *message,
                       const char *way_out);
INDIM_CHECKED indim_status lint_without_compiling(indim_ctx *cx, const indim_module *module, lint_tell *tell,
                                                  void *user);

#endif  // INDIM_TOOL_LINT_H
