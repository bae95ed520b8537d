// The sentence that the project reads as: verified graph -> loops -> machine code -> executable. Parsing comes before
// (text/), running after (run/). The code generator is a library of its own, loaded when something is compiled, so that
// nothing that parses, checks or evaluates pays for LLVM.
#include <stdio.h>
#include <string.h>

#include "emit/interface/emit.h"
#include "graph/alias.h"
#include "indim/compile.h"
#include "indim/shape_util.h"
#include "loop/lower.h"
#include "loop/pass/buffer_sharing.h"
#include "run/clock.h"
#include "run/executable.h"
#include "run/library.h"

#if defined(__APPLE__)
#define GENERATOR_NAME "libindim-llvm.dylib"
#define CROSS_GENERATOR_NAME "libindim-llvm-cross.dylib"
#else
#define GENERATOR_NAME "libindim-llvm.so"
#define CROSS_GENERATOR_NAME "libindim-llvm-cross.so"
#endif

// The code generator ---------------------------------------------------------------------------------------------------

typedef struct generator {
  void *library;
  const indim_emit_library *functions;
} generator;

static indim_status open_generator(indim_ctx *cx, const char *name, generator *out) {
  const char *why = NULL;
  *out = (generator){indim_library_open_ours(name, &why), NULL};
  if (out->library == NULL) {
    indim_fail(cx, INDIM_UNSUPPORTED, "compiling needs the library %s, which does not load: %s", name,
               why == NULL ? "no reason is given" : why);
    indim_hint(cx, "install the library beside libindim (and LLVM 19, if it was built without), or use --engine=eval");
    return INDIM_UNSUPPORTED;
  }
  out->functions = indim_library_object(out->library, "indim_emit_library");
  if (out->functions == NULL || out->functions->version != INDIM_EMIT_VERSION) {
    int version = out->functions == NULL ? 0 : (int)out->functions->version;
    indim_library_close(out->library);
    *out = (generator){NULL, NULL};
    indim_fail(cx, INDIM_UNSUPPORTED, "%s is of version %d, this libindim needs version %d", name, version,
               INDIM_EMIT_VERSION);
    indim_hint(cx, "install the two from the same build");
    return INDIM_UNSUPPORTED;
  }
  return INDIM_OK;
}

indim_status indim_compile_available(indim_ctx *cx) {
  generator g;
  INDIM_TRY(open_generator(cx, GENERATOR_NAME, &g));
  indim_library_close(g.library);
  return INDIM_OK;
}

const indim_compile_target *indim_compile_targets(void) {
  static const indim_compile_target list[] = {{"native", "this machine, with all that it has"},
#define INDIM_TARGET(enumerator, name, triple, cpu, features, bytes, registers, fma, half, mask, gathers, meaning) \
  {name, meaning},
#include "loop/target/targets.def"
                                              {NULL, NULL}};
  return list;
}

const indim_compile_pass *indim_compile_passes(void) {
  static const indim_compile_pass list[] = {
#define INDIM_PASS(enumerator, name, function, decision, meaning) {name, meaning},
#include "loop/pass/passes.def"
      {NULL, NULL}};
  return list;
}

const indim_compile_decision *indim_compile_decisions(void) {
  static const indim_compile_decision list[] = {
#define INDIM_DECISION(enumerator, name, meaning) {name, meaning},
#include "loop/decision/decisions.def"
      {NULL, NULL}};
  return list;
}

static void release_code(void *code, void *library) {
  const indim_emit_library *functions = indim_library_object(library, "indim_emit_library");
  functions->destroy(code);
  indim_library_close(library);
}

// The executable -------------------------------------------------------------------------------------------------------

static indim_status create_executable(indim_ctx *cx, const indim_module *module, indim_executable **out) {
  const indim_computation *entry = module->entry;
  size_t count = (size_t)entry->parameter_count;
  void *shapes_memory = NULL;
  void *names_memory = NULL;
  INDIM_TRY(indim_alloc(cx, count * sizeof(indim_shape *), &shapes_memory));
  indim_status status = indim_alloc(cx, count * sizeof(indim_str), &names_memory);
  if (status == INDIM_OK) {
    const indim_shape **shapes = shapes_memory;
    indim_str *names = names_memory;
    for (int32_t i = 0; i < entry->parameter_count; i++) {
      bool is_stated = module->entry_parameter_shapes != NULL && i < module->entry_shape_count;
      shapes[i] = is_stated ? module->entry_parameter_shapes[i] : entry->parameters[i]->shape;
      names[i] = entry->parameters[i]->name;
    }
    const indim_shape *result = module->entry_result_shape != NULL ? module->entry_result_shape : entry->root->shape;
    status = indim_executable_create(cx, shapes, names, entry->parameter_count, result, out);
  }
  indim_free(cx, names_memory, count * sizeof(indim_str));
  indim_free(cx, shapes_memory, count * sizeof(indim_shape *));
  return status;
}

// Holds what the program says of its buffers against what the shapes say.
static indim_status take_storages(indim_executable *e, const indim_loop_program *program) {
  if (program->argument_count != e->argument_count || program->result_count != e->result_count) {
    return indim_fail(e->cx, INDIM_INTERNAL, "the loop program has %d argument and %d result leaves, not %lld and %lld",
                      (int)program->argument_count, (int)program->result_count, (long long)e->argument_count,
                      (long long)e->result_count);
  }
  for (int32_t i = 0; i < program->storage_count; i++) {
    const indim_storage *s = program->storages[i];
    bool is_argument = s->kind == INDIM_STORAGE_ARGUMENT;
    if (!is_argument && s->kind != INDIM_STORAGE_RESULT) {
      continue;
    }
    indim_leaf *leaf = is_argument ? &e->arguments[s->number] : &e->results[s->number];
    if (s->elements * indim_type_bytes(s->type) != leaf->bytes) {
      return indim_fail(e->cx, INDIM_INTERNAL, "%s leaf %d has %lld bytes in the loop program, not %lld",
                        is_argument ? "argument" : "result", (int)s->number,
                        (long long)(s->elements * indim_type_bytes(s->type)), (long long)leaf->bytes);
    }
  }
  return INDIM_OK;
}

static const indim_storage *find_storage(const indim_loop_program *program, indim_storage_kind kind, int64_t number) {
  for (int32_t i = 0; i < program->storage_count; i++) {
    if (program->storages[i]->kind == kind && program->storages[i]->number == number) {
      return program->storages[i];
    }
  }
  return NULL;
}

// One result that may have an argument's buffer as the module says, if the two are as large.
static indim_status take_alias(indim_executable *e, indim_loop_program *program, int64_t result, int64_t argument) {
  const indim_storage *from = find_storage(program, INDIM_STORAGE_ARGUMENT, argument);
  const indim_storage *to = find_storage(program, INDIM_STORAGE_RESULT, result);
  if (from == NULL || to == NULL || e->arguments[argument].bytes != e->results[result].bytes) {
    return INDIM_OK;
  }
  // Code that lets a result share an argument's bytes moves the argument there itself.
  bool may_share = to->shares == from->index + 1;
  if (!may_share) {
    INDIM_TRY(indim_loop_may_share(program, from, to, &may_share));
  }
  indim_executable_set_alias(e, result, argument, !may_share);
  return INDIM_OK;
}

static indim_status take_aliases(indim_executable *e, const indim_module *module, indim_loop_program *program) {
  size_t size = (size_t)e->result_count * sizeof(int64_t);
  void *memory = NULL;
  INDIM_TRY(indim_alloc(e->cx, size, &memory));
  int64_t *aliases = memory;
  indim_status status = INDIM_OK;
  indim_module_aliases(module, aliases);
  for (int64_t r = 0; r < e->result_count && status == INDIM_OK; r++) {
    if (aliases[r] >= 0) {
      status = take_alias(e, program, r, aliases[r]);
    }
  }
  indim_free(e->cx, memory, size);
  return status;
}

// Whether any of the program's products is one that a library computes better than we do.
static bool wants_library(const indim_loop_program *program) {
  for (const indim_loop_node *node = program->body->first; node != NULL; node = indim_loop_next(node)) {
    if (node->kind == INDIM_NODE_HOST && node->u.host.service == INDIM_HOST_MATMUL) {
      const indim_host_matmul *sizes = (const indim_host_matmul *)(const void *)node->u.host.numbers;
      if (indim_matmul_wants_library(sizes, program->target.vector_bytes)) {
        return true;
      }
    }
  }
  return false;
}

// Constants ------------------------------------------------------------------------------------------------------------

// Refuses values that the text left out, where the result needs them. Marks what is called in |is_called|. |is_needed| has
// room for every instruction of a computation.
static indim_status check_computation(indim_ctx *cx, const indim_computation *computation, bool *is_called,
                                      bool *is_needed) {
  memset(is_needed, 0, (size_t)computation->instr_count);
  is_needed[computation->root->index] = true;
  for (int32_t i = computation->instr_count - 1; i >= 0; i--) {
    const indim_instr *instr = computation->instrs[i];
    if (!is_needed[i]) {
      continue;
    }
    if (instr->op == INDIM_OP_CONSTANT && indim_literal_is_elided(instr->literal)) {
      indim_fail_instr(cx, INDIM_INVALID, instr, "its values were left out of the text ({...}), so it cannot be run");
      indim_hint(cx, "print the program with its constants in full (in JAX: lowered.as_text(\"hlo\"))");
      return INDIM_INVALID;
    }
    for (int32_t k = 0; k < instr->operand_count; k++) {
      is_needed[instr->operands[k]->index] = true;
    }
    for (int32_t a = 0; a < instr->attr_count; a++) {
      indim_attr_kind kind = indim_attr_kind_of(instr->attrs[a].id);
      bool has_callees = kind == INDIM_KIND_COMPUTATION || kind == INDIM_KIND_COMPUTATIONS;
      for (int64_t k = 0; has_callees && k < instr->attrs[a].count; k++) {
        is_called[instr->attrs[a].value.computations[k]->index] = true;
      }
    }
  }
  return INDIM_OK;
}

static indim_status check_constants(indim_ctx *cx, const indim_module *module) {
  size_t computations = (size_t)module->computation_count;
  size_t most = 0;
  for (size_t i = 0; i < computations; i++) {
    size_t count = (size_t)module->computations[i]->instr_count;
    most = count > most ? count : most;
  }
  void *memory = NULL;
  INDIM_TRY(indim_alloc_zeroed(cx, computations + most, &memory));
  bool *is_called = memory;
  indim_status status = INDIM_OK;
  is_called[module->entry->index] = true;
  // Callees stand before their callers.
  for (size_t i = computations; i > 0 && status == INDIM_OK; i--) {
    if (is_called[i - 1]) {
      status = check_computation(cx, module->computations[i - 1], is_called, is_called + computations);
    }
  }
  indim_free(cx, memory, computations + most);
  return status;
}

// Stages ---------------------------------------------------------------------------------------------------------------

typedef struct compilation {
  indim_ctx *cx;
  const indim_module *module;
  const indim_compile_options *options;
  generator generator;
  indim_target target;
  char missing[INDIM_TARGET_TEXT];  // what this machine lacks of the target; empty if it can run the code
  bool is_llvm_to_blame;            // for the last failure
  indim_loop_program *program;
  indim_executable *executable;
  indim_compile_times times;
} compilation;

static indim_status begin_stage(const compilation *c, indim_compile_stage stage) {
  if (c->options->progress != NULL) {
    c->options->progress(c->options->progress_user, stage);
  }
  return indim_poll(c->cx);
}

// What the code is to be made for, and whether this machine can run it.
static indim_status choose_target(compilation *c) {
  indim_target host;
  const char *name = c->options->target == NULL ? "native" : c->options->target;
  c->generator.functions->host(&host);
  c->target = host;
  if (strcmp(name, "native") != 0) {
    INDIM_TRY(indim_target_find(c->cx, name, &c->target));
    indim_target_missing(&c->target, &host, c->missing);
  }
  // Other families are in a library of their own, so that this one loads in half the time.
  if (!c->generator.functions->makes(&c->target)) {
    generator cross;
    INDIM_TRY(open_generator(c->cx, CROSS_GENERATOR_NAME, &cross));
    indim_library_close(c->generator.library);
    c->generator = cross;
  }
  return INDIM_OK;
}

static indim_status lower(compilation *c) {
  const indim_compile_options *o = c->options;
  indim_lower_options options = {.without = o->without,
                                 .out_explain = o->out_explain,
                                 .out_plan = o->out_plan,
                                 .shown_pass = o->out_loops == NULL ? NULL : o->loops_after,
                                 .out_shown = o->out_loops};
  int64_t begin = indim_clock_ns();
  INDIM_TRY(begin_stage(c, INDIM_COMPILE_LOWER));
  INDIM_TRY(indim_loop_lower(c->cx, c->module, &c->target, &options, &c->program));
  if (o->out_loops != NULL && o->loops_after == NULL) {
    indim_loop_print(c->program, o->out_loops);
  }
  INDIM_TRY(indim_loop_verify(c->program));
  c->times.lower += indim_clock_ns() - begin;
  return INDIM_OK;
}

// LLVM asks nobody for memory, so what it will take is estimated, by what the programs of the benchmark took: so much to
// begin with, for a value, and for a function like exp, of which a body has its own code for few (emit/program/outline.c). Its own
// code, 25 MB that all processes share, is not counted.
static uint64_t estimate_memory(const indim_loop_program *program, uint64_t *out_values) {
  enum { BEGIN = 1536 << 10, VALUE = 3 << 10, FUNCTION = 300 << 10, MOST_FUNCTIONS = 12 };
  uint64_t bytes = BEGIN;
  const indim_loop_body *body = NULL;
  int32_t functions = 0;
  *out_values = 0;
  for (const indim_loop_node *node = program->body->first; node != NULL; node = indim_loop_next(node)) {
    functions = node->body == body ? functions : 0;
    body = node->body;
    *out_values += (uint64_t)node->result_count;
    bytes += (uint64_t)node->result_count * VALUE;
    if (node->kind == INDIM_NODE_ELEMENTWISE && indim_op_is_function(node->u.op.op) && functions < MOST_FUNCTIONS) {
      functions++;
      bytes += FUNCTION;
    }
  }
  return bytes;
}

static indim_status check_memory(const compilation *c) {
  const indim_ctx *cx = c->cx;
  uint64_t values = 0;
  uint64_t bytes = cx->bytes_limit == 0 ? 0 : estimate_memory(c->program, &values);
  if (cx->bytes_limit != 0 && (bytes > cx->bytes_limit || cx->bytes_in_use > cx->bytes_limit - bytes)) {
    indim_fail(c->cx, INDIM_LIMIT,
               "memory limit: %llu bytes are in use and compiling %llu values takes about %llu more, the limit is %llu",
               (unsigned long long)cx->bytes_in_use, (unsigned long long)values, (unsigned long long)bytes,
               (unsigned long long)cx->bytes_limit);
    indim_hint(c->cx, "raise the memory limit (--max-memory), or evaluate (--engine=eval)");
    return INDIM_LIMIT;
  }
  return INDIM_OK;
}

static indim_emit_options emit_options(const compilation *c) {
  unsigned fast = c->options->fast;
  unsigned flags = 0;
  flags |= (fast & INDIM_COMPILE_CONTRACT) != 0 ? (unsigned)INDIM_FAST_CONTRACT : 0;
  flags |= (fast & INDIM_COMPILE_REASSOCIATE) != 0 ? (unsigned)INDIM_FAST_REASSOCIATE : 0;
  flags |= (fast & INDIM_COMPILE_RECIPROCAL) != 0 ? (unsigned)INDIM_FAST_RECIPROCAL : 0;
  return (indim_emit_options){.fast = flags,
                              .is_for_elsewhere = c->missing[0] != '\0',
                              .leaves_signals = c->options->leaves_signals,
                              .crash_from = c->options->crash_from,
                              .out_llvm = c->options->out_llvm,
                              .out_asm = c->options->out_asm,
                              .out_object = c->options->out_object};
}

static indim_status emit(compilation *c) {
  const indim_emit_library *functions = c->generator.functions;
  indim_emit_options options = emit_options(c);
  indim_emit_report report = {0};
  indim_code *code = NULL;
  INDIM_TRY(begin_stage(c, INDIM_COMPILE_EMIT));
  INDIM_TRY(check_memory(c));
  indim_status status = functions->compile(c->cx, c->program, &options, &report, &code);
  c->is_llvm_to_blame = report.is_llvm_to_blame;
  INDIM_TRY(status);
  c->times.emit += report.emit_ns;
  c->times.code += report.code_ns;
  indim_executable *e = c->executable;
  e->code = code;
  e->library = c->generator.library;
  e->release = release_code;
  c->generator.library = NULL;  // the executable's now
  e->function = functions->function(code);
  e->code_bytes = functions->code_bytes(code);
  return INDIM_OK;
}

static indim_status run_stages(compilation *c) {
  INDIM_TRY(lower(c));
  INDIM_TRY(create_executable(c->cx, c->module, &c->executable));
  INDIM_TRY(take_storages(c->executable, c->program));
  INDIM_TRY(take_aliases(c->executable, c->module, c->program));
  INDIM_TRY(indim_executable_set_target(c->executable, c->target.name, c->target.vector_bytes, c->missing));
  INDIM_TRY(indim_executable_set_scratch(c->executable, c->program->scratch_bytes));
  INDIM_TRY(emit(c));
  c->executable->blas.vector_bytes = c->target.vector_bytes;
  if (wants_library(c->program) && c->missing[0] == '\0') {
    int64_t begin = indim_clock_ns();
    indim_blas_open(&c->executable->blas);
    c->times.load += indim_clock_ns() - begin;
  }
  c->executable->times = c->times;
  return INDIM_OK;
}

// Another try ----------------------------------------------------------------------------------------------------------

// The texts that are wanted, and how long they were before a try.
enum { TEXTS = 6 };
typedef struct texts {
  indim_buffer *buffers[TEXTS];
  size_t sizes[TEXTS];
} texts;

static texts mark_texts(const compilation *c) {
  const indim_compile_options *o = c->options;
  texts t = {.buffers = {o->out_plan, o->out_loops, o->out_llvm, o->out_asm, o->out_object, o->out_explain}};
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
static void tell_failure(compilation *c, size_t mark, const indim_instr *culprit, const indim_target *next) {
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
static const indim_instr *find_culprit(const compilation *c) {
  if (!c->is_llvm_to_blame || c->program == NULL) {
    return NULL;
  }
  indim_emit_options options = emit_options(c);
  return c->generator.functions->find_culprit(c->cx, c->program, &options);
}

// What fails for one target, by a defect of LLVM's or ours, is tried for the next simpler one, down to code without vectors.
// Each failure stays in the diagnostics, also when the compilation succeeds then.
static indim_status compile_for_some_target(compilation *c) {
  for (;;) {
    size_t mark = indim_diagnostics_mark(c->cx);
    texts before = mark_texts(c);
    c->is_llvm_to_blame = false;
    indim_status status = run_stages(c);
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

indim_status indim_compile(indim_ctx *cx, const indim_module *module, const indim_compile_options *options,
                           indim_executable **out_executable) {
  if (cx == NULL || module == NULL || out_executable == NULL) {
    return cx == NULL ? INDIM_INVALID
                      : indim_fail(cx, INDIM_INVALID, "indim_compile: a pointer that is needed is NULL");
  }
  static const indim_compile_options none = {0};
  compilation c = {.cx = cx, .module = module, .options = options == NULL ? &none : options};
  *out_executable = NULL;
  int64_t begin = indim_clock_ns();
  INDIM_TRY(open_generator(cx, GENERATOR_NAME, &c.generator));
  c.times.load = indim_clock_ns() - begin;
  indim_status status = check_constants(cx, module);
  status = status == INDIM_OK ? choose_target(&c) : status;
  status = status == INDIM_OK ? compile_for_some_target(&c) : status;
  indim_loop_program_destroy(c.program);
  indim_library_close(c.generator.library);
  if (status != INDIM_OK) {
    indim_executable_destroy(c.executable);
    return status;
  }
  *out_executable = c.executable;
  return INDIM_OK;
}
