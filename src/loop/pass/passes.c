// Runs the passes of passes.def in order, and shows what each did on request.
#include <string.h>

#include "loop/pass/pass.h"
#include "loop/verify/verify.h"

enum { ALWAYS = -1 };

typedef struct pass {
  const char *name;
  indim_status (*run)(indim_loop_program *program);
  int decision;  // an indim_decision, or ALWAYS
} pass;

// The decision of a row that has none.
#define INDIM_DECISION_ALWAYS ALWAYS

static const pass passes[] = {
#define INDIM_PASS(enumerator, name, function, decision, meaning) {name, function, (int)INDIM_DECISION_##decision},
#include "loop/pass/passes.def"
};

enum { PASSES = sizeof passes / sizeof passes[0] };

static indim_status check(const indim_loop_program *program) {
#if defined(NDEBUG)
  (void)program;
  return INDIM_OK;
#else
  return indim_loop_verify(program);
#endif
}

// Changes by a pass show in these counts.
typedef struct counts {
  int32_t nodes, loops;
} counts;

// Counted only for explanations.
static counts count_nodes(const indim_loop_program *program, const indim_lower_options *options) {
  counts s = {0};
  const indim_loop_node *first = options->out_explain == NULL ? NULL : program->body->first;
  for (const indim_loop_node *node = first; node != NULL; node = indim_loop_next(node)) {
    s.nodes++;
    s.loops += node->kind == INDIM_NODE_FOR || node->kind == INDIM_NODE_WHILE;
  }
  return s;
}

static bool shows_all(const indim_lower_options *options) {
  return options->shown_pass != NULL && strcmp(options->shown_pass, "all") == 0;
}

static void show(const indim_loop_program *program, const indim_lower_options *options, const char *name,
                 bool has_changed) {
  if (options->shown_pass == NULL || options->out_shown == NULL) {
    return;
  }
  if (shows_all(options) && has_changed) {
    indim_buffer_printf(options->out_shown, "---- %s\n", name);
    indim_loop_print(program, options->out_shown);
  } else if (strcmp(options->shown_pass, name) == 0) {
    indim_loop_print(program, options->out_shown);
  }
}

static void explain(const indim_lower_options *options, const char *name, counts before, counts after) {
  bool has_changed = before.nodes != after.nodes || before.loops != after.loops;
  if (options->out_explain != NULL && has_changed) {
    indim_buffer_printf(options->out_explain, "%-24s %-22s %-16s %d nodes and %d loops became %d and %d\n", name,
                        "pass", "", (int)before.nodes, (int)before.loops, (int)after.nodes, (int)after.loops);
  }
}

static indim_status check_name(indim_ctx *cx, const char *name) {
  static const char all[] = "lowering, all"
#define INDIM_PASS(enumerator, name, function, decision, meaning) ", " name
#include "loop/pass/passes.def"
      ;
  bool is_known = name == NULL || strcmp(name, "lowering") == 0 || strcmp(name, "all") == 0;
  for (size_t i = 0; i < PASSES && !is_known; i++) {
    is_known = strcmp(name, passes[i].name) == 0;
  }
  if (is_known) {
    return INDIM_OK;
  }
  indim_fail(cx, INDIM_INVALID, "there is no pass '%.40s' to show the loops after", name);
  indim_hint(cx, "there are %s", all);
  return INDIM_INVALID;
}

// The program as text, to find out whether a pass changed anything; empty unless requested.
static void print_for(const indim_loop_program *program, const indim_lower_options *options, indim_buffer *out) {
  indim_buffer_clear(out);
  if (shows_all(options)) {
    indim_loop_print(program, out);
  }
}

static bool is_equal(const indim_buffer *x, const indim_buffer *y) {
  return x->size == y->size && (x->size == 0 || memcmp(x->data, y->data, x->size) == 0);
}

static indim_status run(indim_loop_program *program, const indim_lower_options *options, uint32_t without,
                        indim_buffer texts[2]) {
  counts before = count_nodes(program, options);
  print_for(program, options, &texts[0]);
  for (size_t i = 0; i < PASSES; i++) {
    const pass *p = &passes[i];
    if (p->decision == ALWAYS || !indim_decision_is_out(without, (indim_decision)p->decision)) {
      INDIM_TRY(p->run(program));
      INDIM_TRY(check(program));
    }
    print_for(program, options, &texts[(i + 1) % 2]);
    show(program, options, p->name, !is_equal(&texts[0], &texts[1]));
    counts after = count_nodes(program, options);
    explain(options, p->name, before, after);
    before = after;
  }
  if (options->out_explain != NULL) {
    INDIM_TRY(
        indim_explain_serial(program, indim_decision_is_out(without, INDIM_DECISION_THREADS), options->out_explain));
  }
  return texts[0].status != INDIM_OK ? texts[0].status : texts[1].status;
}

indim_status indim_passes_run(indim_loop_program *program, const indim_lower_options *options, uint32_t without) {
  indim_buffer texts[2];
  INDIM_TRY(check_name(program->cx, options->shown_pass));
  indim_buffer_init(&texts[0], program->cx);
  indim_buffer_init(&texts[1], program->cx);
  show(program, options, "lowering", true);
  indim_status status = check(program);
  status = status == INDIM_OK ? run(program, options, without, texts) : status;
  indim_buffer_deinit(&texts[0]);
  indim_buffer_deinit(&texts[1]);
  return status;
}
