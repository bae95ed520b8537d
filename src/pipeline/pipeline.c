// The sentence that the project reads as: verified graph -> plan -> loops -> machine code -> executable. Parsing and checking
// come before (text/, graph/), running after (run/).
#include <string.h>

#include "expand/dynamic/dynamic.h"
#include "linalg/service.h"
#include "loop/lower.h"
#include "loop/pass/pass.h"
#include "pipeline/bind.h"
#include "pipeline/calls.h"
#include "pipeline/compilation.h"
#include "pipeline/report.h"
#include "run/clock.h"
#include "run/library.h"

static void release_code(void *code, void *library) {
  const indim_emit_library *functions = indim_library_object(library, "indim_emit_library");
  functions->destroy(code);
  indim_library_close(library);
}

static indim_status begin_stage(const indim_compilation *c, indim_compile_stage stage) {
  if (c->options->progress != NULL) {
    c->options->progress(c->options->progress_user, stage);
  }
  return indim_poll(c->cx);
}

// Processors of 64 bits, little-endian, with pointers as wide: "aarch64_be", "arm64_32" and "x32" are others.
static bool is_supported(const char *triple) {
  static const char *const families[] = {"x86_64", "amd64", "aarch64", "arm64", "riscv64"};
  size_t size = strcspn(triple, "-");
  bool is_known = false;
  for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
    is_known = is_known || (strlen(families[i]) == size && memcmp(triple, families[i], size) == 0);
  }
  return is_known && triple[size] == '-' && strstr(triple, "x32") == NULL && strstr(triple, "ilp32") == NULL;
}

// The same processor, in another system.
static indim_status take_triple(indim_compilation *c) {
  if (!is_supported(c->triple) || indim_arch_of(c->triple) != c->target.arch) {
    indim_fail(c->cx, INDIM_INVALID, "the triple '%s' is for another processor than the target's, %s (%s)", c->triple,
               c->target.triple, c->target.name);
    indim_hint(c->cx, "name the target of that processor, and a triple like ARCHITECTURE-VENDOR-SYSTEM");
    return INDIM_INVALID;
  }
  c->target.triple = c->triple;
  return INDIM_OK;
}

// What the code is to be made for, and whether this machine can run it.
static indim_status choose_target(indim_compilation *c) {
  indim_target host;
  const char *name = c->options->target == NULL ? "native" : c->options->target;
  c->generator.functions->host(&host);
  c->target = host;
  if (strcmp(name, "native") != 0) {
    INDIM_TRY(indim_target_find(c->cx, name, &c->target));
    indim_target_missing(&c->target, &host, c->missing);
  }
  if (c->triple != NULL) {
    INDIM_TRY(take_triple(c));
  }
  // Other families are in a library of their own, so that this one loads in half the time.
  if (!c->generator.functions->makes(&c->target)) {
    indim_code_generator cross;
    INDIM_TRY(indim_code_generator_open(c->cx, true, &cross));
    indim_library_close(c->generator.library);
    c->generator = cross;
  }
  return INDIM_OK;
}

indim_status indim_compilation_lower(indim_compilation *c) {
  const indim_compile_options *o = c->options;
  indim_lower_options options = {.without = o->without,
                                 .choices = o->choices,
                                 .out_choices = o->out_choices,
                                 .is_self_contained = c->is_self_contained,
                                 .has_foreign_calls = c->symbol != NULL,
                                 .out_explain = o->out_explain,
                                 .out_plan = o->out_plan,
                                 .out_items = o->out_report == NULL ? NULL : &c->items,
                                 .shown_pass = o->out_loops == NULL ? NULL : o->loops_after,
                                 .out_shown = o->out_loops};
  int64_t begin = indim_clock_ns();
  indim_buffer_clear(&c->items);
  INDIM_TRY(begin_stage(c, INDIM_COMPILE_LOWER));
  INDIM_TRY(indim_loop_lower(c->cx, indim_compilation_module(c), &c->target, &options, &c->program));
  if (o->profile) {
    INDIM_TRY(indim_program_steps(c->program, &c->program->arena, &c->steps, &c->step_count));
    INDIM_TRY(indim_pass_profile(c->program, c->steps, c->step_count));
  }
  if (o->out_loops != NULL && o->loops_after == NULL) {
    indim_loop_print(c->program, o->out_loops);
  }
  INDIM_TRY(indim_loop_verify(c->program));
  c->times.lower += indim_clock_ns() - begin;
  return INDIM_OK;
}

static indim_status write_report(const indim_compilation *c) {
  const indim_report_source source = {c->program, &c->items, &c->lines};
  return c->options->out_report == NULL ? INDIM_OK : indim_report_write(&source, c->options->out_report);
}

indim_status indim_compilation_emit(indim_compilation *c, indim_code **out_code) {
  indim_emit_options options = indim_compilation_emit_options(c);
  indim_buffer_clear(&c->lines);
  indim_emit_report report = {0};
  INDIM_TRY(begin_stage(c, INDIM_COMPILE_EMIT));
  INDIM_TRY(indim_compilation_check_memory(c));
  indim_status status = c->generator.functions->compile(c->cx, c->program, &options, &report, out_code);
  c->is_llvm_failure = report.is_llvm_failure;
  INDIM_TRY(status);
  c->times.emit += report.emit_ns;
  c->times.code += report.code_ns;
  status = write_report(c);
  status = status == INDIM_OK ? indim_poll(c->cx) : status;  // LLVM, which takes the longest, does not look
  if (status != INDIM_OK) {
    c->generator.functions->destroy(*out_code);
    *out_code = NULL;
  }
  return status;
}

static indim_status emit(indim_compilation *c) {
  const indim_emit_library *functions = c->generator.functions;
  indim_code *code = NULL;
  INDIM_TRY(indim_compilation_emit(c, &code));
  indim_executable *e = c->executable;
  e->code = code;
  e->library = c->generator.library;
  e->release = release_code;
  c->generator.library = NULL;  // the executable's now
  e->function = functions->function(code);
  e->code_bytes = functions->code_bytes(code);
  e->flushes = (c->options->fast & INDIM_COMPILE_FLUSH) != 0;
  return INDIM_OK;
}

static indim_status run_stages(indim_compilation *c) {
  INDIM_TRY(indim_compilation_lower(c));
  INDIM_TRY(indim_bind_executable(c->cx, c->module, &c->executable));
  INDIM_TRY(indim_bind_storages(c->executable, c->program));
  INDIM_TRY(indim_bind_aliases(c->executable, indim_compilation_module(c), c->program));
  INDIM_TRY(indim_executable_set_target(c->executable, c->target.name, c->target.vector_bytes, c->missing));
  INDIM_TRY(indim_executable_set_scratch(c->executable, c->program->scratch_bytes));
  if (c->options->profile) {
    INDIM_TRY(indim_bind_steps(c->executable, c->program, c->steps, c->step_count));
  }
  INDIM_TRY(emit(c));
  c->executable->blas.vector_bytes = c->target.vector_bytes;
  c->executable->lapack = indim_linalg_serve;
  INDIM_TRY(indim_executable_take_calls(c->executable, c->program));
  uint32_t without = 0;
  INDIM_TRY(indim_decisions_parse(c->cx, c->options->without, &without));
  bool may_load = !indim_decision_is_out(without, INDIM_DECISION_LIBRARY) && c->missing[0] == '\0';
  if (may_load && indim_bind_library(c->program)) {
    int64_t begin = indim_clock_ns();
    indim_status status = indim_bind_open_library(c->executable);
    c->times.load += indim_clock_ns() - begin;
    INDIM_TRY(status);
  }
  c->executable->times = c->times;
  return INDIM_OK;
}

indim_status indim_compilation_begin(indim_compilation *c) {
  int64_t begin = indim_clock_ns();
  indim_buffer_init(&c->items, c->cx);
  indim_buffer_init(&c->lines, c->cx);
  INDIM_TRY(indim_code_generator_open(c->cx, false, &c->generator));
  c->times.load = indim_clock_ns() - begin;
  INDIM_TRY(indim_module_check_constants(c->cx, c->module));
  INDIM_TRY(choose_target(c));
  if (!indim_module_is_dynamic(c->module)) {
    return INDIM_OK;
  }
  begin = indim_clock_ns();
  INDIM_TRY(indim_module_make_static(c->cx, c->module, &c->fixed));
  c->times.lower += indim_clock_ns() - begin;
  return INDIM_OK;
}

void indim_compilation_end(indim_compilation *c) {
  indim_buffer_deinit(&c->items);
  indim_buffer_deinit(&c->lines);
  indim_loop_program_destroy(c->program);
  indim_library_close(c->generator.library);
  indim_module_destroy(c->fixed);
}

indim_status indim_compile(indim_ctx *cx, const indim_module *module, const indim_compile_options *options,
                           indim_executable **out_executable) {
  if (cx == NULL || module == NULL || out_executable == NULL) {
    return cx == NULL ? INDIM_INVALID
                      : indim_fail(cx, INDIM_INVALID, "indim_compile: a pointer that is needed is NULL");
  }
  static const indim_compile_options none = {0};
  indim_compilation c = {.cx = cx, .module = module, .options = options == NULL ? &none : options};
  *out_executable = NULL;
  indim_status status = indim_compilation_begin(&c);
  status = status == INDIM_OK ? indim_compilation_climb_down(&c, run_stages) : status;
  indim_compilation_end(&c);
  if (status != INDIM_OK) {
    indim_executable_destroy(c.executable);
    return status;
  }
  *out_executable = c.executable;
  return INDIM_OK;
}
