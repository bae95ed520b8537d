// What is done when the code generator fails: the same for a simpler target.
#include <stdio.h>

#include "pipeline/compilation.h"

// The texts that are wanted, and how long they were before a try.
enum { TEXTS = 8 };
typedef struct texts {
  indim_buffer *buffers[TEXTS];
  size_t sizes[TEXTS];
} texts;

static texts mark_texts(const indim_compilation *c) {
  const indim_compile_options *o = c->options;
  texts t = {.buffers = {o->out_plan, o->out_loops, o->out_llvm, o->out_asm, o->out_object, o->out_explain,
                         o->out_report, o->out_choices}};
  for (int i = 0; i < TEXTS; i++) {
    t.sizes[i] = t.buffers[i] == NULL ? 0 : t.buffers[i]->size;
  }
  return t;
}

static void forget_texts(const texts *t) {
  for (int i = 0; i < TEXTS; i++) {
    if (t->buffers[i] != NULL && t->buffers[i]->size > t->sizes[i]) {
      t->buffers[i]->size = t->sizes[i];
      t->buffers[i]->data[t->sizes[i]] = '\0';
    }
  }
}

// Tells of a failure at a target what it was, with the instruction where that is known, and what is done about it.
static void tell_failure(indim_compilation *c, size_t mark, const indim_instr *culprit, const indim_target *next) {
  const indim_diagnostic *last = indim_ctx_diagnostic_get(c->cx, indim_ctx_diagnostic_count(c->cx) - 1);
  char reason[sizeof last->message];
  snprintf(reason, sizeof reason, "%s", last == NULL ? "no reason is known" : last->message);
  indim_diagnostics_rollback(c->cx, mark);
  static const char format[] = "no code for vectors of %d bytes (%s): %s";
  if (culprit != NULL) {
    indim_fail_instr(c->cx, INDIM_INTERNAL, culprit, format, (int)c->target.vector_bytes, c->target.name, reason);
  } else {
    indim_fail(c->cx, INDIM_INTERNAL, format, (int)c->target.vector_bytes, c->target.name, reason);
  }
  if (next == NULL) {
    indim_hint(c->cx,
               "the evaluator can run the program (--engine=eval); the failure is a defect of Indim's or LLVM's");
  } else {
    indim_hint(c->cx, "%s instead: correct, but slower; the failure is a defect of Indim's or LLVM's",
               next->is_plain ? "next to no vectors are used" : "narrower vectors are used");
  }
  if (c->options->out_explain != NULL) {
    const indim_diagnostic *d = indim_ctx_diagnostic_get(c->cx, indim_ctx_diagnostic_count(c->cx) - 1);
    indim_buffer_printf(c->options->out_explain, "%s: %s\n", d->message, d->hint);
  }
}

// Of the program that failed.
static const indim_instr *find_culprit(indim_compilation *c) {
  if (!c->is_llvm_failure || c->program == NULL) {
    return NULL;
  }
  indim_emit_options options = indim_compilation_emit_options(c);
  return c->generator.functions->find_culprit(c->cx, c->program, &options);
}

indim_status indim_compilation_climb_down(indim_compilation *c, indim_status (*stages)(indim_compilation *c)) {
  for (;;) {
    size_t mark = indim_diagnostics_mark(c->cx);
    texts before = mark_texts(c);
    c->is_llvm_failure = false;
    indim_status status = stages(c);
    if (status != INDIM_INTERNAL) {
      return status;
    }
    const indim_instr *culprit = find_culprit(c);
    indim_target next = c->target;
    bool has_next = indim_target_step_down(&next);
    forget_texts(&before);
    tell_failure(c, mark, culprit, has_next ? &next : NULL);
    if (!has_next) {
      return status;
    }
    indim_loop_program_destroy(c->program);
    indim_executable_destroy(c->executable);
    c->program = NULL;
    c->executable = NULL;
    c->target = next;
  }
}
