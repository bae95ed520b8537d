// indim lint: mistakes that programs compile with. Rules are rows of lint.def.
#include "lint.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

const char *const help_lint =
    "Usage: indim lint [OPTION...] PROGRAM...\n"
    "\n"
    "Tells what in a program is likely not meant, or costs more than it needs to: where (the line of the Python "
    "program if the\n"
    "metadata has it), what that costs, and the way out. Programs may be in any format that indim reads.\n"
    "\n"
    "Options:\n"
    "  --rules             list the rules\n"
    "  --allow=RULE,...    do not look for these\n"
    "  --only=RULE,...     look for these alone\n"
    "  --strict            notes count in the exit code, too\n"
    "  --min-bytes=N[K|M]  what costs less is not told; 64K unless said\n"
    "  --padding=PERCENT   padding by so much of the elements' bytes is too much; 50 unless said\n"
    "  --json              print "
    "[{\"file\":..,\"findings\":[{\"rule\":..,\"severity\":..,\"line\":..,\"origin\":\"model.py:12\",\n"
    "                      \"instruction\":..,\"message\":..,\"bytes\":..,\"way_out\":..}]}]\n"
    "\n"
    "Exit codes: 0 nothing found (notes aside), 1 something found or a program refused, 2 usage, 3 file; others as "
    "`indim run`.\n"
    "\n"
    "Example:\n"
    "  $ indim lint --allow=large-constant model.hlo\n";

enum { OPTION_RULES = 1, OPTION_ALLOW, OPTION_ONLY, OPTION_STRICT, OPTION_BYTES, OPTION_PADDING, OPTION_JSON };
static const option_spec specs[] = {{"rules", 0, OPTION_RULES, false},    {"allow", 0, OPTION_ALLOW, true},
                                    {"only", 0, OPTION_ONLY, true},       {"strict", 0, OPTION_STRICT, false},
                                    {"min-bytes", 0, OPTION_BYTES, true}, {"padding", 0, OPTION_PADDING, true},
                                    {"json", 0, OPTION_JSON, false},      {0}};

// Unless said otherwise.
enum { LEAST_BYTES = 64 << 10 };
#define PADDING_TOLD 0.5

typedef enum severity { NOTE, WARNING } severity;

static const struct {
  const char *name;
  severity severity;
  const char *what, *way_out;
  void (*look)(lint *l);
} rules[] = {
#define LINT_RULE(enumerator, name, severity, what, way_out) {name, severity, what, way_out, lint_##enumerator},
#include "lint.def"
};

static const char *severity_name(severity s) { return s == WARNING ? "warning" : "note"; }

// What rules use --------------------------------------------------------------------------------------------------------

void lint_add(lint *l, lint_rule rule, int64_t number, double bytes, const char *format, ...) {
  char text[600];
  va_list arguments;
  for (int64_t i = 0; i < l->finding_count; i++) {  // of a body that is inlined twice, once
    if (l->findings[i].rule == rule && l->findings[i].instr == l->t.instrs[number] && rule != RULE_dead_carry &&
        rule != RULE_undonated_update) {
      return;
    }
  }
  if (++l->counts[rule] > LINT_MOST_FINDINGS) {
    return;
  }
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (l->finding_count == l->finding_capacity) {
    int64_t capacity = l->finding_capacity == 0 ? 16 : 2 * l->finding_capacity;
    finding *larger = must_alloc((size_t)capacity * sizeof *larger);
    if (l->finding_count > 0) {
      memcpy(larger, l->findings, (size_t)l->finding_count * sizeof *larger);
    }
    free(l->findings);
    l->findings = larger;
    l->finding_capacity = capacity;
  }
  char *copy = must_alloc(strlen(text) + 1);
  strcpy(copy, text);
  l->findings[l->finding_count++] = (finding){rule, l->t.instrs[number], bytes, copy};
}

const indim_shape *lint_shape_of(const lint *l, int64_t number) { return indim_instr_shape(l->t.instrs[number]); }
indim_op lint_op(const lint *l, int64_t number) { return indim_instr_op(l->t.instrs[number]); }
const char *lint_name(const lint *l, int64_t number) { return indim_instr_name(l->t.instrs[number]).data; }

lint_shape_text lint_shape(const lint *l, int64_t number) {
  lint_shape_text out;
  char *text = shape_text(l->cx, lint_shape_of(l, number), false);
  snprintf(out.text, sizeof out.text, "%s", text);
  free(text);
  return out;
}

double lint_bytes(const indim_shape *shape) {
  if (!indim_shape_is_array(shape) || !indim_shape_is_static(shape)) {
    return 0;
  }
  return (double)indim_shape_element_count(shape) * (double)indim_type_bytes(shape->type);
}

bool lint_is_entry(const lint *l, int64_t number) {
  return l->t.owner[number] == indim_computation_index(indim_module_entry(l->t.module));
}

int64_t lint_entry_root(const lint *l) {
  const indim_computation *entry = indim_module_entry(l->t.module);
  return value_number(&l->t, entry, indim_computation_root(entry));
}

// Looking ---------------------------------------------------------------------------------------------------------------

// What stands for itself: a parameter, and what gives another value each time.
static bool stands_alone(indim_op op) {
  switch ((int)op) {
  case INDIM_OP_PARAMETER:
  case INDIM_OP_CUSTOM_CALL:
  case INDIM_OP_INFEED:
  case INDIM_OP_RECV:
  case INDIM_OP_RNG:
  case INDIM_OP_RNG_GET_AND_UPDATE_STATE:
  case INDIM_OP_PARTITION_ID:
  case INDIM_OP_REPLICA_ID:
    return true;
  default:
    return false;
  }
}

static void find_dependences(lint *l) {
  l->depends = must_alloc((size_t)l->t.count + 1);
  for (int64_t i = 0; i < l->t.count; i++) {
    l->depends[i] = stands_alone(lint_op(l, i));
    for (int64_t k = 0; k < operand_count(&l->t, i) && !l->depends[i]; k++) {
      l->depends[i] = l->depends[operand_number(&l->t, i, k)];
    }
  }
}

// The compiler's decisions; a program that does not compile has none.
static indim_status explain(lint *l) {
  if (indim_compile_available(NULL) != INDIM_OK) {
    return INDIM_OK;
  }
  indim_executable *executable = NULL;
  indim_compile_options options = {.out_explain = &l->plan};
  indim_status status = compile_module(l->cx, l->t.module, &options, &executable);
  indim_executable_destroy(executable);
  bool is_ours = status == INDIM_UNSUPPORTED || status == INDIM_INTERNAL || status == INDIM_INVALID;
  if (is_ours || status == INDIM_OK) {
    indim_ctx_diagnostics_clear(l->cx);
    return INDIM_OK;
  }
  return status;
}

static bool needs_plan(lint_rule rule) {
  return rule == RULE_undonated_update || rule == RULE_transpose_copy || rule == RULE_dot_layout;
}

static indim_status look(lint *l, const indim_module *module) {
  instr_table_fill_inlined(&l->t, module);
  find_dependences(l);
  bool wants_plan = false;
  for (int r = 0; r < RULE_COUNT; r++) {
    wants_plan = wants_plan || (needs_plan((lint_rule)r) && !l->is_allowed[r]);
  }
  indim_status status = wants_plan ? explain(l) : INDIM_OK;
  for (int r = 0; r < RULE_COUNT && status == INDIM_OK; r++) {
    if (!l->is_allowed[r]) {
      rules[r].look(l);
    }
  }
  return status;
}

// Telling ---------------------------------------------------------------------------------------------------------------

static void print_bytes(double bytes) {
  static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  while (bytes >= 1024 && unit < 4) {
    bytes /= 1024;
    unit++;
  }
  printf("%.3g %s", bytes, units[unit]);
}

static void print_finding(const lint *l, const finding *f) {
  bool color = terminal_has_color();
  indim_buffer origin;
  indim_buffer_init(&origin, l->cx);
  indim_instr_origin_print(f->instr, &origin);
  int64_t line = indim_instr_line(f->instr);
  if (origin.size > 0) {
    printf("%s: ", origin.data);
  } else if (line > 0) {
    printf("%s:%" PRId64 ": ", l->shown, line);
  } else {
    printf("%s: ", l->shown);
  }
  bool is_warning = rules[f->rule].severity == WARNING;
  printf("%s%s:%s ",
         !color       ? ""
         : is_warning ? "\033[33m"
                      : "\033[36m",
         severity_name(rules[f->rule].severity), color ? "\033[0m" : "");
  printf("%s [%s]\n    at %s (%s)", f->text, rules[f->rule].name, indim_instr_name(f->instr).data,
         indim_op_get(indim_instr_op(f->instr))->text);
  if (origin.size > 0 && line > 0) {
    printf(", %s:%" PRId64, l->shown, line);
  }
  if (f->bytes > 0) {
    fputs("; ", stdout);
    print_bytes(f->bytes);
  }
  printf("\n    way out: %s\n", rules[f->rule].way_out);
  indim_buffer_deinit(&origin);
}

static void add_finding(const lint *l, cJSON *list, const finding *f) {
  cJSON *object = cJSON_CreateObject();
  indim_buffer origin;
  indim_buffer_init(&origin, l->cx);
  indim_instr_origin_print(f->instr, &origin);
  cJSON_AddItemToArray(list, object);
  cJSON_AddStringToObject(object, "rule", rules[f->rule].name);
  cJSON_AddStringToObject(object, "severity", severity_name(rules[f->rule].severity));
  cJSON_AddNumberToObject(object, "line", (double)indim_instr_line(f->instr));
  cJSON_AddStringToObject(object, "origin", origin.data == NULL ? "" : origin.data);
  cJSON_AddStringToObject(object, "instruction", indim_instr_name(f->instr).data);
  cJSON_AddStringToObject(object, "op", indim_op_get(indim_instr_op(f->instr))->text);
  cJSON_AddStringToObject(object, "message", f->text);
  cJSON_AddNumberToObject(object, "bytes", f->bytes);
  cJSON_AddStringToObject(object, "way_out", rules[f->rule].way_out);
  indim_buffer_deinit(&origin);
}

static void print_findings(const lint *l) {
  int64_t sums[] = {[NOTE] = 0, [WARNING] = 0};
  for (int64_t i = 0; i < l->finding_count; i++) {
    print_finding(l, &l->findings[i]);
  }
  for (int r = 0; r < RULE_COUNT; r++) {
    sums[rules[r].severity] += l->counts[r];
    if (l->counts[r] > LINT_MOST_FINDINGS) {
      printf("%s: %" PRId64 " more of [%s] are not shown\n", l->shown, l->counts[r] - LINT_MOST_FINDINGS,
             rules[r].name);
    }
  }
  printf("%s: %" PRId64 " warning%s, %" PRId64 " note%s\n", l->shown, sums[WARNING], sums[WARNING] == 1 ? "" : "s",
         sums[NOTE], sums[NOTE] == 1 ? "" : "s");
}

static void add_findings(const lint *l, cJSON *files) {
  cJSON *object = cJSON_CreateObject();
  cJSON_AddItemToArray(files, object);
  cJSON_AddStringToObject(object, "file", l->path);
  cJSON *list = cJSON_AddArrayToObject(object, "findings");
  for (int64_t i = 0; i < l->finding_count; i++) {
    add_finding(l, list, &l->findings[i]);
  }
}

// --------------------------------------------------------------------------------------------------------------------

typedef struct lint_options {
  bool json, strict;
  uint64_t least_bytes;
  double padding;
  bool is_allowed[RULE_COUNT];
} lint_options;

static void free_lint(lint *l) {
  for (int64_t i = 0; i < l->finding_count; i++) {
    free(l->findings[i].text);
  }
  free(l->findings);
  free(l->depends);
  free(l->shown);
  instr_table_free(&l->t);
  indim_buffer_deinit(&l->plan);
}

static int lint_file(indim_ctx *cx, const command *self, const char *path, const lint_options *options, cJSON *files) {
  lint l = {.cx = cx, .path = path, .least_bytes = (double)options->least_bytes, .padding = options->padding};
  memcpy(l.is_allowed, options->is_allowed, sizeof l.is_allowed);
  indim_module *module = NULL;
  indim_status status = INDIM_OK;
  int code = load_module(cx, self, path, true, &module, &status);
  if (code != EXIT_OK) {
    return code;
  }
  if (status != INDIM_OK) {
    return report(cx, status);
  }
  l.shown = shown_path(path);
  indim_buffer_init(&l.plan, cx);
  status = look(&l, module);
  if (status != INDIM_OK) {
    code = report(cx, status);
  } else if (options->json) {
    add_findings(&l, files);
  } else {
    print_findings(&l);
  }
  for (int r = 0; r < RULE_COUNT && code == EXIT_OK; r++) {
    code = l.counts[r] > 0 && (options->strict || rules[r].severity == WARNING) ? EXIT_REFUSED : code;
  }
  free_lint(&l);
  indim_module_destroy(module);
  return code;
}

indim_status lint_without_compiling(indim_ctx *cx, const indim_module *module, lint_tell *tell, void *user) {
  lint l = {.cx = cx, .path = "", .least_bytes = LEAST_BYTES, .padding = PADDING_TOLD};
  for (int r = 0; r < RULE_COUNT; r++) {
    l.is_allowed[r] = needs_plan((lint_rule)r);
  }
  indim_buffer_init(&l.plan, cx);
  indim_status status = look(&l, module);
  for (int64_t i = 0; i < l.finding_count && status == INDIM_OK; i++) {
    const finding *f = &l.findings[i];
    tell(user, f->instr, rules[f->rule].severity == WARNING, rules[f->rule].name, f->text, rules[f->rule].way_out);
  }
  free_lint(&l);
  return status;
}

static int list_rules(bool json) {
  cJSON *list = json ? cJSON_CreateArray() : NULL;
  for (int r = 0; r < RULE_COUNT; r++) {
    if (!json) {
      printf("%-20s %-8s %s\n", rules[r].name, severity_name(rules[r].severity), rules[r].what);
      continue;
    }
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToArray(list, object);
    cJSON_AddStringToObject(object, "rule", rules[r].name);
    cJSON_AddStringToObject(object, "severity", severity_name(rules[r].severity));
    cJSON_AddStringToObject(object, "what", rules[r].what);
    cJSON_AddStringToObject(object, "way_out", rules[r].way_out);
  }
  if (json) {
    json_print(list, true);
  }
  return EXIT_OK;
}

static int set_rules(const command *self, const char *option, const char *list, bool value, bool *is_allowed) {
  for (indim_str name; next_name(&list, &name);) {
    int found = RULE_COUNT;
    spelling meant = spelling_of(name.data, name.size);
    for (int r = 0; r < RULE_COUNT; r++) {
      found = indim_str_equal(indim_str_of(rules[r].name), name) ? r : found;
      spelling_offer(&meant, rules[r].name);
    }
    if (found == RULE_COUNT) {
      return usage_error(self, "--%s: there is no rule '%.*s'%s (--rules lists them)", option, (int)name.size,
                         name.data, did_you_mean(&meant, ""));
    }
    is_allowed[found] = value;
  }
  return EXIT_OK;
}

static int set_option(const command *self, int option, const char *value, lint_options *options) {
  uint64_t percent = 0;
  int code = EXIT_OK;
  switch (option) {
  case OPTION_ALLOW:
    return set_rules(self, "allow", value, true, options->is_allowed);
  case OPTION_ONLY:
    for (int r = 0; r < RULE_COUNT; r++) {
      options->is_allowed[r] = true;
    }
    return set_rules(self, "only", value, false, options->is_allowed);
  case OPTION_BYTES:
    return parse_count(self, "min-bytes", value, &options->least_bytes);
  case OPTION_PADDING:
    code = parse_count(self, "padding", value, &percent);
    options->padding = (double)percent / 100;
    return code;
  default:
    options->strict = options->strict || option == OPTION_STRICT;
    options->json = options->json || option == OPTION_JSON;
    return EXIT_OK;
  }
}

int command_lint(indim_ctx *cx, const command *self, int argc, char **argv) {
  lint_options options = {.least_bytes = LEAST_BYTES, .padding = PADDING_TOLD};
  option_walk walk;
  bool wants_rules = false;
  options_start(&walk, self, specs, argc, argv);
  for (int option; (option = options_next(&walk)) != 0;) {
    if (option < 0) {
      return walk.exit_code;
    }
    wants_rules = wants_rules || option == OPTION_RULES;
    int wrong = set_option(self, option, walk.value, &options);
    if (wrong != EXIT_OK) {
      return wrong;
    }
  }
  if (wants_rules) {
    return list_rules(options.json);
  }
  if (walk.operand_count == 0) {
    return usage_error(self, "give a program");
  }
  cJSON *files = cJSON_CreateArray();
  int worst = EXIT_OK;
  for (int i = 0; i < walk.operand_count; i++) {
    int code = lint_file(cx, self, walk.operands[i], &options, files);
    worst = code > worst ? code : worst;
  }
  if (options.json && (worst == EXIT_OK || cJSON_GetArraySize(files) > 0)) {
    json_print(files, true);
  } else {
    cJSON_Delete(files);
  }
  return worst;
}
