// Rules about what the compiler makes of a program, as `indim compile --explain` tells it: arrays that are copied and
// products that no library takes. Without a code generator they find nothing.
#include <stdlib.h>
#include <string.h>

#include "lint.h"

// One line: "t    transpose   f32[8,4]   in memory: a result".
typedef struct plan_line {
  indim_str name, op;
  const char *verdict;  // to the end of the line
  size_t verdict_size;
} plan_line;

static indim_str next_word(const char **at, const char *end) {
  while (*at < end && **at == ' ') {
    ++*at;
  }
  indim_str word = {*at, 0};
  while (*at < end && **at != ' ') {
    ++*at;
  }
  word.size = (size_t)(*at - word.data);
  return word;
}

static bool read_line(const char **text, plan_line *out) {
  const char *at = *text;
  size_t size = strcspn(at, "\n");
  const char *end = at + size;
  if (*at == '\0') {
    return false;
  }
  *text = *end == '\0' ? end : end + 1;
  out->name = next_word(&at, end);
  out->op = next_word(&at, end);
  next_word(&at, end);  // the shape
  while (at < end && *at == ' ') {
    at++;
  }
  out->verdict = at;
  out->verdict_size = (size_t)(end - at);
  return true;
}

static bool says(const plan_line *line, const char *words) {
  size_t size = strlen(words);
  for (size_t at = 0; at + size <= line->verdict_size; at++) {
    if (memcmp(line->verdict + at, words, size) == 0) {
      return true;
    }
  }
  return false;
}

// The instruction of a line, the entry's if there are several of the name; -1 for what an expansion made.
static int64_t find(const lint *l, const plan_line *line) {
  int64_t found = -1;
  for (int64_t i = 0; i < l->t.count; i++) {
    bool is_it = indim_str_equal(indim_instr_name(l->t.instrs[i]), line->name) &&
                 indim_str_equal(indim_str_of(indim_op_get(lint_op(l, i))->text), line->op);
    found = is_it && (found < 0 || lint_is_entry(l, i)) ? i : found;
  }
  return found;
}

// The verdict without the place in the Python program behind it, which findings begin with.
static indim_str reason_of(const lint *l, const plan_line *line, int64_t number) {
  indim_str reason = {line->verdict, line->verdict_size};
  indim_buffer origin;
  indim_buffer_init(&origin, l->cx);
  indim_buffer_text(&origin, " (");
  indim_instr_origin_print(l->t.instrs[number], &origin);
  indim_buffer_char(&origin, ')');
  size_t size = origin.size;
  if (origin.status == INDIM_OK && reason.size > size &&
      memcmp(reason.data + reason.size - size, origin.data, size) == 0) {
    reason.size -= size;
  }
  indim_buffer_deinit(&origin);
  return reason;
}

typedef void visit_line(lint *l, const plan_line *line);

static void visit_plan(lint *l, visit_line *visit) {
  const char *text = l->plan.data == NULL ? "" : l->plan.data;
  for (plan_line line; read_line(&text, &line);) {
    visit(l, &line);
  }
}

// Copies ------------------------------------------------------------------------------------------------------------------

// The parameter of the entry that is named behind |words|, up to the comma; -1 if none is.
static int64_t parameter_behind(const lint *l, const plan_line *line, const char *words) {
  const indim_computation *entry = indim_module_entry(l->t.module);
  size_t size = strlen(words);
  for (size_t at = 0; at + size <= line->verdict_size; at++) {
    if (memcmp(line->verdict + at, words, size) != 0) {
      continue;
    }
    const char *begin = line->verdict + at + size;
    const char *comma = memchr(begin, ',', line->verdict_size - at - size);
    indim_str name = {begin, comma == NULL ? 0 : (size_t)(comma - begin)};
    for (int64_t p = 0; p < indim_computation_parameter_count(entry); p++) {
      if (indim_str_equal(indim_instr_name(indim_computation_parameter(entry, p)), name)) {
        return value_number(&l->t, entry, indim_computation_parameter(entry, p));
      }
    }
  }
  return -1;
}

static bool is_result(const lint *l, int64_t number) {
  int64_t root = lint_entry_root(l);
  bool found = number == root;
  for (int64_t k = 0; lint_op(l, root) == INDIM_OP_TUPLE && k < operand_count(&l->t, root); k++) {
    found = found || operand_number(&l->t, root, k) == number;
  }
  return found;
}

// A parameter that is returned as it came is needed as it was.
static void visit_update(lint *l, const plan_line *line) {
  if (!says(line, "whose memory is the caller's")) {
    return;
  }
  int64_t number = find(l, line);
  int64_t parameter = parameter_behind(l, line, "works on a copy of ");
  if (number >= 0 && parameter >= 0 && !is_result(l, parameter) &&
      lint_bytes(lint_shape_of(l, parameter)) >= l->least_bytes) {
    indim_str reason = reason_of(l, line, number);
    lint_add(l, RULE_undonated_update, number, lint_bytes(lint_shape_of(l, parameter)), "%s %.*s", lint_name(l, number),
             (int)reason.size, reason.data);
  }
}

void lint_undonated_update(lint *l) { visit_plan(l, visit_update); }

// Whether it is the program's own task: a parameter turned into a result.
static bool is_whole_program(const lint *l, int64_t number) {
  int64_t operand = operand_number(&l->t, number, 0);
  return is_result(l, number) && lint_op(l, operand) == INDIM_OP_PARAMETER;
}

static bool moves_nothing(const lint *l, int64_t number) {
  int64_t operand = operand_number(&l->t, number, 0);
  return lint_op(l, number) == INDIM_OP_COPY &&
         indim_shape_equal(lint_shape_of(l, number), lint_shape_of(l, operand), 0);
}

static void visit_move(lint *l, const plan_line *line) {
  bool is_move =
      indim_str_equal(line->op, indim_str_of("transpose")) || indim_str_equal(line->op, indim_str_of("copy"));
  if (!is_move || !says(line, "in memory")) {
    return;
  }
  int64_t number = find(l, line);
  double bytes = number < 0 ? 0 : 2 * lint_bytes(lint_shape_of(l, number));
  if (number < 0 || bytes < 2 * l->least_bytes || is_whole_program(l, number) || moves_nothing(l, number)) {
    return;
  }
  indim_str reason = reason_of(l, line, number);
  const size_t known = sizeof "in memory: " - 1;
  if (reason.size > known && memcmp(reason.data, "in memory: ", known) == 0) {
    reason = (indim_str){reason.data + known, reason.size - known};
  }
  lint_add(l, RULE_transpose_copy, number, bytes, "%s %s is written to memory: %.*s", lint_name(l, number),
           lint_shape(l, number).text, (int)reason.size, reason.data);
}

void lint_transpose_copy(lint *l) { visit_plan(l, visit_move); }

// Large products are the host's all the same, of copies.
static void visit_dot(lint *l, const plan_line *line) {
  static const char why[] = "one of its arrays has no contiguous rows";
  int64_t number = says(line, why) ? find(l, line) : -1;
  if (number >= 0) {
    double bytes = 0;
    for (int64_t k = 0; k < operand_count(&l->t, number); k++) {
      bytes += lint_bytes(lint_shape_of(l, operand_number(&l->t, number, k)));
    }
    bool is_copied = says(line, "copied into matrices");
    lint_add(l, RULE_dot_layout, number, bytes, "%s %s %s: %s", lint_name(l, number), lint_shape(l, number).text,
             is_copied ? "needs copies for the library" : "is computed by loops", why);
  }
}

void lint_dot_layout(lint *l) { visit_plan(l, visit_dot); }
