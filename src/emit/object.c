// From IR to an object file in memory. There are no optimization passes, which measurably gain nothing on code that is
// vectorized already. All of LLVM's work on one program is done here, under a guard (guard.h).
#include "emit/object.h"

#include <signal.h>
#include <string.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/Object.h>

#include "emit/program/program.h"
#include "emit/split.h"
#include "run/clock.h"

// Errors ----------------------------------------------------------------------------------------------------------------

// Without a handler LLVM would print, and exit on errors.
void indim_object_on_diagnostic(LLVMDiagnosticInfoRef info, void *user) {
  (void)user;
  if (LLVMGetDiagInfoSeverity(info) == LLVMDSError) {
    char *text = LLVMGetDiagInfoDescription(info);
    indim_guard_note(text);
    LLVMDisposeMessage(text);
  }
}

// Takes ownership of |message|.
static indim_status llvm_failed(indim_object *o, const char *doing, char *message) {
  indim_status status =
      indim_fail(o->cx, INDIM_INTERNAL, "LLVM, %s: %s", doing, message == NULL ? "no reason given" : message);
  LLVMDisposeMessage(message);
  o->is_llvm_failure = true;
  return status;
}

// Steps -----------------------------------------------------------------------------------------------------------------

static void set_target(const indim_object *o) {
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(o->machine);
  LLVMSetModuleDataLayout(o->module, layout);
  LLVMSetTarget(o->module, o->program->target.triple);
  LLVMDisposeTargetData(layout);
}

// The code generator changes the module, so the assembly is generated from a copy.
static indim_status write_asm(indim_object *o, indim_buffer *out) {
  if (out == NULL) {
    return INDIM_OK;
  }
  LLVMModuleRef copy = LLVMCloneModule(o->module);
  LLVMMemoryBufferRef text = NULL;
  char *message = NULL;
  bool has_failed = LLVMTargetMachineEmitToMemoryBuffer(o->machine, copy, LLVMAssemblyFile, &message, &text);
  LLVMDisposeModule(copy);
  if (has_failed) {
    return llvm_failed(o, "writing assembly", message);
  }
  indim_buffer_append(out, LLVMGetBufferStart(text), LLVMGetBufferSize(text));
  LLVMDisposeMemoryBuffer(text);
  return INDIM_OK;
}

// Debug lines change no instruction, but they are for |out_lines| alone.
static indim_status write_lines(indim_object *o) {
  if (o->options->out_lines == NULL) {
    return INDIM_OK;
  }
  INDIM_TRY(write_asm(o, o->options->out_lines));
  LLVMStripModuleDebugInfo(o->module);
  return INDIM_OK;
}

static void write_llvm(const indim_object *o) {
  if (o->options->out_llvm != NULL) {
    char *text = LLVMPrintModuleToString(o->module);
    indim_buffer_text(o->options->out_llvm, text);
    LLVMDisposeMessage(text);
  }
}

static indim_status verify_module(indim_object *o) {
#if defined(NDEBUG)
  (void)o;
#else
  char *message = NULL;
  if (LLVMVerifyModule(o->module, LLVMReturnStatusAction, &message)) {
    return llvm_failed(o, "checking the IR", message);
  }
  LLVMDisposeMessage(message);
#endif
  return INDIM_OK;
}

void indim_object_crash_on_purpose(const indim_object *o) {
  if (o->options->crash_from > 0 && o->program->target.vector_bytes >= o->options->crash_from) {
    (void)raise(SIGSEGV);
  }
}

static indim_status generate(indim_object *o) {
  char *message = NULL;
  if (indim_split_pays(o)) {
    return indim_split_generate(o);
  }
  indim_object_crash_on_purpose(o);
  INDIM_TRY(indim_arena_array(&o->arena, 1, sizeof(LLVMMemoryBufferRef), (void **)&o->objects));
  if (LLVMTargetMachineEmitToMemoryBuffer(o->machine, o->module, LLVMObjectFile, &message, &o->objects[0])) {
    return llvm_failed(o, "generating code", message);
  }
  o->object_count = 1;
  if (o->guard.message[0] != '\0') {
    o->is_llvm_failure = true;
    return indim_fail(o->cx, INDIM_INTERNAL, "LLVM, generating code: %s", o->guard.message);
  }
  return INDIM_OK;
}

// Which constants the linker has to define.
static indim_status note_constants(indim_object *o) {
  const indim_loop_program *program = o->program;
  char name[INDIM_EMIT_NAME];
  INDIM_TRY(indim_arena_array(&o->arena, (size_t)program->storage_count, sizeof *o->declares, (void **)&o->declares));
  for (int32_t i = 0; i < program->storage_count && !o->has_constants; i++) {
    if (indim_emit_is_external(program->storages[i])) {
      indim_emit_constant_name(program->storages[i], name);
      o->declares[i] = LLVMGetNamedGlobal(o->module, name) != NULL;
    }
  }
  return INDIM_OK;
}

// The size of the code without data.
static int64_t text_bytes(LLVMMemoryBufferRef object) {
  int64_t bytes = 0;
  char *message = NULL;
  LLVMBinaryRef binary = LLVMCreateBinary(object, NULL, &message);
  if (binary == NULL) {
    LLVMDisposeMessage(message);
    return 0;
  }
  LLVMSectionIteratorRef section = LLVMObjectFileCopySectionIterator(binary);
  for (; !LLVMObjectFileIsSectionIteratorAtEnd(binary, section); LLVMMoveToNextSection(section)) {
    const char *name = LLVMGetSectionName(section);
    bool is_text =
        name != NULL && (strncmp(name, ".text", 5) == 0 || strcmp(name, "__text") == 0);  // ELF, COFF; Mach-O
    bytes += is_text ? (int64_t)LLVMGetSectionSize(section) : 0;
  }
  LLVMDisposeSectionIterator(section);
  LLVMDisposeBinary(binary);
  return bytes;
}

static indim_status make(indim_object *o) {
  int64_t start = indim_clock_ns();
  const indim_emit_job job = {.program = o->program,
                              .symbol = o->options->symbol,
                              .fast = o->options->fast,
                              .has_constants = o->has_constants,
                              .most_nodes = o->most_nodes,
                              .has_lines = o->options->out_lines != NULL,
                              .chunk = o->options->chunk};
  o->context = LLVMContextCreate();
  o->module = LLVMModuleCreateWithNameInContext("indim", o->context);
  LLVMContextSetDiagnosticHandler(o->context, indim_object_on_diagnostic, NULL);
  INDIM_TRY(indim_machine_create(o->cx, &o->program->target, true, &o->machine));
  set_target(o);
  INDIM_TRY(indim_emit_program(&job, &o->arena, o->context, o->module));
  o->emit_ns = indim_clock_ns() - start;
  INDIM_TRY(verify_module(o));
  INDIM_TRY(note_constants(o));
  INDIM_TRY(write_lines(o));
  write_llvm(o);
  INDIM_TRY(write_asm(o, o->options->out_asm));
  start = indim_clock_ns();
  INDIM_TRY(generate(o));
  o->code_ns = indim_clock_ns() - start;
  for (int32_t i = 0; i < o->object_count; i++) {
    o->text_bytes += text_bytes(o->objects[i]);
  }
  if (o->options->out_object != NULL) {
    indim_buffer_append(o->options->out_object, LLVMGetBufferStart(o->objects[0]), LLVMGetBufferSize(o->objects[0]));
  }
  return INDIM_OK;
}

// The object and the step after it, under one guard.
static void work(void *user) {
  indim_object *o = user;
  o->status = make(o);
  if (o->status == INDIM_OK && o->then != NULL) {
    o->status = o->then(o);
  }
}

indim_status indim_object_make(indim_object *o) {
  indim_arena_init(&o->arena, o->cx);
  o->status = INDIM_INTERNAL;
  if (!indim_guard_run(&o->guard, o->options->leaves_signals, work, o)) {
    o->is_lost = true;
    o->is_llvm_failure = true;
    o->status = indim_fail(o->cx, INDIM_INTERNAL, "LLVM gave up: %s", o->guard.message);
  }
  return o->status;
}

void indim_object_dispose(indim_object *o) {
  for (int32_t i = 0; i < o->object_count && !o->is_lost; i++) {
    if (o->objects[i] != NULL) {
      LLVMDisposeMemoryBuffer(o->objects[i]);
    }
  }
  indim_arena_deinit(&o->arena);
  if (o->is_lost) {
    return;
  }
  if (o->machine != NULL && o->status == INDIM_OK) {
    indim_machine_release(&o->program->target, o->machine);
  } else if (o->machine != NULL) {
    LLVMDisposeTargetMachine(o->machine);
  }
  if (o->module != NULL) {
    LLVMDisposeModule(o->module);
  }
  if (o->context != NULL) {
    LLVMContextDispose(o->context);
  }
}

// Bisection -------------------------------------------------------------------------------------------------------------

// Without chunks and parts, so that a failure of those alone is none.
static bool fails_at(indim_ctx *cx, const indim_loop_program *program, const indim_emit_options *options,
                     int32_t nodes) {
  size_t kept = indim_diagnostics_mark(cx);
  const indim_emit_options silent = {
      .fast = options->fast, .leaves_signals = options->leaves_signals, .crash_from = options->crash_from};
  indim_object o = {.cx = cx, .program = program, .options = &silent, .has_constants = true, .most_nodes = nodes};
  indim_status status = indim_object_make(&o);
  indim_object_dispose(&o);
  indim_diagnostics_rollback(cx, kept);
  return status != INDIM_OK && o.is_llvm_failure;
}

const indim_instr *indim_object_find_culprit(indim_ctx *cx, const indim_loop_program *program,
                                             const indim_emit_options *options) {
  enum { MOST_VALUES = 20000 };
  int32_t count = 0;
  for (const indim_loop_node *node = program->body->first; node != NULL; node = node->next) {
    count++;
  }
  if (count == 0 || program->value_count > MOST_VALUES || !fails_at(cx, program, options, count)) {
    return NULL;
  }
  int32_t passing = 0;  // so many nodes succeed, |failing| do not
  int32_t failing = count;
  while (failing - passing > 1) {
    int32_t middle = passing + (failing - passing) / 2;
    if (fails_at(cx, program, options, middle)) {
      failing = middle;
    } else {
      passing = middle;
    }
  }
  const indim_instr *origin = NULL;
  const indim_loop_node *node = program->body->first;
  for (int32_t i = 0; i < failing; i++, node = node->next) {
    origin = node->origin != NULL ? node->origin : origin;
  }
  return origin;
}
