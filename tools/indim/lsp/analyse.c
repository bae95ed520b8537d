// What the library says of a text: its module, and what is wrong with it, where.
#include <stdlib.h>
#include <string.h>

#include "indim/read.h"

#include "../lint.h"
#include "lsp.h"

typedef struct named_instr {
  const char *computation;
  const char *name;
  const indim_instr *instr;
} named_instr;

static int compare_instrs(const void *a, const void *b) {
  const named_instr *x = a;
  const named_instr *y = b;
  int order = strcmp(x->computation, y->computation);
  return order != 0 ? order : strcmp(x->name, y->name);
}

// The module's names are null-terminated.
static void list_instrs(document *d) {
  int64_t count = indim_module_instr_count(d->module);
  d->instrs = must_alloc((size_t)count * sizeof *d->instrs);
  for (int64_t c = 0; c < indim_module_computation_count(d->module); c++) {
    const indim_computation *computation = indim_module_computation(d->module, c);
    for (int64_t i = 0; i < indim_computation_instr_count(computation); i++) {
      const indim_instr *instr = indim_computation_instr(computation, i);
      d->instrs[d->instr_count++] =
          (named_instr){indim_computation_name(computation).data, indim_instr_name(instr).data, instr};
    }
  }
  qsort(d->instrs, d->instr_count, sizeof *d->instrs, compare_instrs);
}

void analysis_drop(document *d) {
  free(d->instrs);
  indim_module_destroy(d->module);
  d->instrs = NULL;
  d->instr_count = 0;
  d->module = NULL;
  d->is_analysed = false;
}

// The token at the place; the beginning of the text for what has no place.
static cJSON *range_of(const server *s, document *d, const indim_diagnostic *problem) {
  uint32_t offset = 0;
  if (problem->line > 0 && (size_t)problem->line <= document_line_count(d)) {
    size_t place =
        document_line(d, (size_t)problem->line - 1) + (problem->column > 0 ? (size_t)problem->column - 1 : 0);
    offset = (uint32_t)(place < d->size ? place : d->size);
  }
  const outline *o = document_outline(d);
  uint32_t at = problem->line > 0 ? outline_token_at(o, offset) : NO_TOKEN;
  return document_range(s, d, offset, at != NO_TOKEN && o->tokens[at].end > offset ? o->tokens[at].end : offset);
}

// Severities of the protocol.
enum { SEVERITY_ERROR = 1, SEVERITY_WARNING = 2, SEVERITY_INFORMATION = 3 };

// |label| stands before the |hint|, which may be "".
static cJSON *problem_object(cJSON *range, int severity, const char *code, const char *message, const char *label,
                             const char *hint) {
  cJSON *object = cJSON_CreateObject();
  cJSON_AddItemToObject(object, "range", range);
  cJSON_AddNumberToObject(object, "severity", severity);
  cJSON_AddStringToObject(object, "code", code);
  cJSON_AddStringToObject(object, "source", "indim");
  size_t size = strlen(message) + strlen(label) + strlen(hint) + sizeof "\n: ";
  char *text = must_alloc(size);
  snprintf(text, size, hint[0] != '\0' ? "%s\n%s: %s" : "%s", message, label, hint);
  cJSON_AddStringToObject(object, "message", text);
  free(text);
  return object;
}

static cJSON *list_problems(const server *s, document *d) {
  cJSON *list = cJSON_CreateArray();
  const indim_diagnostic *problem = NULL;
  size_t told = 0;
  for (; (problem = indim_ctx_diagnostic_get(s->cx, told)) != NULL; told++) {
    cJSON_AddItemToArray(list,
                         problem_object(range_of(s, d, problem), SEVERITY_ERROR, indim_status_name(problem->status),
                                        problem->message, "hint", problem->hint));
  }
  size_t count = indim_ctx_diagnostic_count(s->cx);
  if (count > told) {
    char text[64];
    snprintf(text, sizeof text, "%zu more problems are not told", count - told);
    cJSON_AddItemToArray(list, problem_object(document_range(s, d, 0, 0), SEVERITY_ERROR, "LIMIT", text, "", ""));
  }
  return list;
}

static indim_status read_and_verify(server *s, document *d) {
  indim_ctx_diagnostics_clear(s->cx);
  analysis_drop(d);
  indim_status status = indim_module_read(s->cx, indim_str_of(d->uri), d->text, d->size, &d->module);
  if (status == INDIM_OK) {
    status = indim_module_verify(s->cx, d->module);
  }
  if (status == INDIM_INTERRUPTED) {
    analysis_drop(d);
    return status;
  }
  d->is_analysed = true;
  if (d->module != NULL) {
    list_instrs(d);
  }
  return status;
}

bool analyse(server *s, document *d) {
  bool is_whole = d->is_analysed || read_and_verify(s, d) != INDIM_INTERRUPTED;
  indim_ctx_diagnostics_clear(s->cx);
  return is_whole;
}

typedef struct finding_list {
  server *s;
  document *d;
  cJSON *list;
} finding_list;

// At the name of the instruction, which stands in the text unless the text is in another format.
static void add_finding(void *user, const indim_instr *instr, bool is_warning, const char *rule, const char *message,
                        const char *way_out) {
  finding_list *f = user;
  const outline *o = document_outline(f->d);
  const char *name = indim_instr_name(instr).data;
  uint32_t at = NO_TOKEN;
  for (int32_t i = 0; i < o->symbol_count && at == NO_TOKEN; i++) {
    bool is_it =
        !o->symbols[i].is_computation && strcmp(o->symbols[i].text, name) == 0 && symbol_instr(f->s, f->d, i) == instr;
    at = is_it ? o->symbols[i].name : NO_TOKEN;
  }
  uint32_t start = at == NO_TOKEN ? 0 : o->tokens[at].start;
  uint32_t end = at == NO_TOKEN ? 0 : o->tokens[at].end;
  cJSON_AddItemToArray(f->list, problem_object(document_range(f->s, f->d, start, end),
                                               is_warning ? SEVERITY_WARNING : SEVERITY_INFORMATION, rule, message,
                                               "way out", way_out));
}

cJSON *diagnose(server *s, document *d) {
  indim_status status = read_and_verify(s, d);
  cJSON *list = status == INDIM_INTERRUPTED ? NULL : list_problems(s, d);
  if (status == INDIM_OK && s->has_lint) {
    status = lint_without_compiling(s->cx, d->module, add_finding, &(finding_list){s, d, list});
  }
  indim_ctx_diagnostics_clear(s->cx);  // a program that lint cannot look at has no findings
  return list;
}

const indim_instr *symbol_instr(server *s, document *d, int32_t symbol) {
  if (!analyse(s, d) || d->module == NULL || symbol < 0) {
    return NULL;
  }
  const outline *o = document_outline(d);
  const definition *named = &o->symbols[symbol];
  if (named->owner < 0) {
    return NULL;
  }
  named_instr wanted = {o->symbols[named->owner].text, named->text, NULL};
  const named_instr *found = bsearch(&wanted, d->instrs, d->instr_count, sizeof wanted, compare_instrs);
  return found == NULL ? NULL : found->instr;
}

const indim_computation *symbol_computation(server *s, document *d, int32_t symbol) {
  int64_t count = analyse(s, d) ? indim_module_computation_count(d->module) : 0;
  for (int64_t i = 0; i < count; i++) {
    const indim_computation *computation = indim_module_computation(d->module, i);
    if (strcmp(indim_computation_name(computation).data, document_outline(d)->symbols[symbol].text) == 0) {
      return computation;
    }
  }
  return NULL;
}
