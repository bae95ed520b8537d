// From IR to code that runs. There are no optimisation passes, which measurably gain nothing on code that is vectorised
// already. The object file goes through LLVM's JIT linker into a library of its own that knows four functions of
// the C library and nothing else of the process.
#include "emit/program.h"

#include <math.h>
#include <setjmp.h>
#include <string.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Object.h>
#include <llvm-c/Orc.h>
#include <llvm-c/TargetMachine.h>

#include "base/size.h"
#include "run/clock.h"

struct indim_code {
  indim_ctx *cx;
  LLVMOrcLLJITRef jit;
  indim_compiled_fn *function;
  int64_t bytes;
  void *constants;  // the large ones, which the code refers to
  size_t constants_bytes;
};

// One compilation as it goes through LLVM.
typedef struct work {
  indim_ctx *cx;
  const indim_loop_program *program;
  const indim_emit_options *options;
  LLVMContextRef context;
  LLVMModuleRef module;
  LLVMTargetMachineRef machine;
  LLVMMemoryBufferRef object;
  char message[512];  // the first error that LLVM reported about the module
  int64_t code_ns;
  jmp_buf guard;
  bool is_lost;  // a fatal error: nothing of LLVM's may be touched again
} work;

// The compilation under the guard on this thread. LLVM's handler for fatal errors is one for the process and is told
// nothing but a text.
static _Thread_local work *running;

static void keep_message(work *w, const char *text) {
  size_t length = strlen(text);
  length = length < sizeof w->message - 1 ? length : sizeof w->message - 1;
  memcpy(w->message, text, length);
  w->message[length] = '\0';
}

// Errors ----------------------------------------------------------------------------------------------------------------

// LLVM exits when this returns.
static void on_fatal_error(const char *reason) {
  if (running != NULL) {
    keep_message(running, reason);
    longjmp(running->guard, 1);
  }
}

// Once, when the library is loaded.
__attribute__((constructor)) static void install(void) { LLVMInstallFatalErrorHandler(on_fatal_error); }

// LLVM reports what is wrong with a module here; without a handler it would print, and exit on errors.
static void on_diagnostic(LLVMDiagnosticInfoRef info, void *user) {
  work *w = user;
  if (LLVMGetDiagInfoSeverity(info) == LLVMDSError && w->message[0] == '\0') {
    char *text = LLVMGetDiagInfoDescription(info);
    keep_message(w, text);
    LLVMDisposeMessage(text);
  }
}

// The linker tells here which names it did not find; without a handler it would print them.
static void on_link_error(void *user, LLVMErrorRef error) {
  (void)user;
  char *text = LLVMGetErrorMessage(error);
  if (running != NULL && running->message[0] == '\0') {
    keep_message(running, text);
  }
  LLVMDisposeErrorMessage(text);
}

// Takes over the message.
static indim_status llvm_failed(indim_ctx *cx, const char *doing, char *message) {
  indim_status status =
      indim_fail(cx, INDIM_INTERNAL, "LLVM, %s: %s", doing, message == NULL ? "no reason given" : message);
  LLVMDisposeMessage(message);
  return status;
}

static indim_status orc_failed(const work *w, const char *doing, LLVMErrorRef error) {
  char *message = LLVMGetErrorMessage(error);
  const char *why = w->message[0] == '\0' ? message : w->message;
  indim_status status = indim_fail(w->cx, INDIM_INTERNAL, "LLVM, %s: %s", doing, why);
  LLVMDisposeErrorMessage(message);
  return status;
}

// Linking ---------------------------------------------------------------------------------------------------------------

// What the code generator calls: everything else is inline.
typedef void code_pointer(void);

#if INDIM_EMIT_WATCHES
extern void __tsan_read_range(void *, size_t);
extern void __tsan_write_range(void *, size_t);
#endif

static LLVMErrorRef define_functions(LLVMOrcLLJITRef jit, LLVMOrcJITDylibRef library) {
  union {
    void *(*copy)(void *, const void *, size_t);
    void *(*set)(void *, int, size_t);
    double (*real)(double, double);
    float (*real32)(float, float);
    code_pointer *code;
  } memcpy_ = {.copy = memcpy}, memmove_ = {.copy = memmove}, memset_ = {.set = memset}, fmod_ = {.real = fmod},
    fmodf_ = {.real32 = fmodf};
  const struct {
    const char *name;
    code_pointer *code;
  } list[] = {
    {"memcpy", memcpy_.code},
    {"memmove", memmove_.code},
    {"memset", memset_.code},
    {"fmod", fmod_.code},
    {"fmodf", fmodf_.code},
#if INDIM_EMIT_WATCHES
    {"__tsan_read_range", (code_pointer *)__tsan_read_range},
    {"__tsan_write_range", (code_pointer *)__tsan_write_range},
#endif
  };
  enum { COUNT = sizeof list / sizeof list[0] };
  LLVMOrcCSymbolMapPair pairs[COUNT];
  for (size_t i = 0; i < COUNT; i++) {
    pairs[i].Name = LLVMOrcLLJITMangleAndIntern(jit, list[i].name);
    pairs[i].Sym.Address = (LLVMOrcExecutorAddress)(uintptr_t)list[i].code;
    pairs[i].Sym.Flags.GenericFlags = LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable;
    pairs[i].Sym.Flags.TargetFlags = 0;
  }
  return LLVMOrcJITDylibDefine(library, LLVMOrcAbsoluteSymbols(pairs, COUNT));
}

// The space that a large constant takes, with its alignment.
static size_t constant_space(const indim_storage *storage) {
  return ((size_t)storage->elements * (size_t)indim_type_bytes(storage->type) + 63) / 64 * 64;
}

static bool is_declared(const work *w, const indim_storage *storage, char *name) {
  indim_emit_constant_name(storage, name);
  return indim_emit_is_apart(storage) && LLVMGetNamedGlobal(w->module, name) != NULL;
}

// Makes room for the large constants that the module declares.
static indim_status make_room(work *w, indim_code *code) {
  char name[INDIM_EMIT_NAME];
  size_t bytes = 0;
  for (int32_t i = 0; i < w->program->storage_count; i++) {
    const indim_storage *storage = w->program->storages[i];
    if (is_declared(w, storage, name) && !indim_size_add(bytes, constant_space(storage), &bytes)) {
      return indim_fail(w->cx, INDIM_LIMIT, "the constants are larger than the address space");
    }
  }
  if (bytes == 0) {
    return INDIM_OK;
  }
  code->constants_bytes = bytes + 64;
  return indim_alloc(w->cx, code->constants_bytes, &code->constants);
}

// Puts them there and tells the linker.
static LLVMErrorRef define_constants(work *w, indim_code *code, LLVMOrcJITDylibRef library) {
  char name[INDIM_EMIT_NAME];
  char *at = code->constants;
  LLVMErrorRef error = NULL;
  if (at == NULL) {
    return NULL;
  }
  at += (64 - (uintptr_t)at % 64) % 64;
  for (int32_t i = 0; i < w->program->storage_count && error == NULL; i++) {
    const indim_storage *storage = w->program->storages[i];
    if (!is_declared(w, storage, name)) {
      continue;
    }
    memcpy(at, storage->data, (size_t)storage->elements * (size_t)indim_type_bytes(storage->type));
    LLVMOrcCSymbolMapPair pair = {.Name = LLVMOrcLLJITMangleAndIntern(code->jit, name)};
    pair.Sym.Address = (LLVMOrcExecutorAddress)(uintptr_t)at;
    pair.Sym.Flags.GenericFlags = LLVMJITSymbolGenericFlagsExported;
    error = LLVMOrcJITDylibDefine(library, LLVMOrcAbsoluteSymbols(&pair, 1));
    at += constant_space(storage);
  }
  return error;
}

typedef struct found_function {
  LLVMOrcExecutorAddress address;
  LLVMErrorRef error;
} found_function;

static void on_found(LLVMErrorRef error, LLVMOrcCSymbolMapPairs result, size_t count, void *user) {
  found_function *found = user;
  found->error = error;
  found->address = error == NULL && count == 1 ? result[0].Sym.Address : 0;
}

// Left alone the linker would find out about the processor anew, for a code generator that nobody needs.
static indim_status make_linker(work *w, indim_code *code) {
  LLVMTargetMachineRef machine = NULL;
  INDIM_TRY(indim_machine_create(w->cx, false, &machine));
  LLVMOrcLLJITBuilderRef builder = LLVMOrcCreateLLJITBuilder();
  LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(builder,
                                                LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(machine));
  LLVMErrorRef error = LLVMOrcCreateLLJIT(&code->jit, builder);
  if (error != NULL) {
    code->jit = NULL;
    return orc_failed(w, "making the linker", error);
  }
  return INDIM_OK;
}

// Links the object into a new library of the JIT and finds the function.
static indim_status link_object(work *w, indim_code *code) {
  INDIM_TRY(make_linker(w, code));
  LLVMOrcExecutionSessionRef session = LLVMOrcLLJITGetExecutionSession(code->jit);
  LLVMOrcExecutionSessionSetErrorReporter(session, on_link_error, NULL);
  LLVMOrcJITDylibRef library = LLVMOrcExecutionSessionCreateBareJITDylib(session, "indim");
  LLVMErrorRef error = define_functions(code->jit, library);
  if (error == NULL) {
    error = define_constants(w, code, library);
  }
  if (error == NULL) {
    error = LLVMOrcLLJITAddObjectFile(code->jit, library, w->object);
    w->object = NULL;
  }
  if (error != NULL) {
    return orc_failed(w, "linking", error);
  }
  LLVMOrcCJITDylibSearchOrderElement order = {library, LLVMOrcJITDylibLookupFlagsMatchExportedSymbolsOnly};
  LLVMOrcCLookupSetElement wanted = {LLVMOrcLLJITMangleAndIntern(code->jit, "indim_program"),
                                     LLVMOrcSymbolLookupFlagsRequiredSymbol};
  found_function found = {0, NULL};
  LLVMOrcExecutionSessionLookup(session, LLVMOrcLookupKindStatic, &order, 1, &wanted, 1, on_found, &found);
  if (found.error != NULL || found.address == 0) {
    return found.error != NULL ? orc_failed(w, "linking", found.error)
                               : indim_fail(w->cx, INDIM_INTERNAL, "LLVM, linking: the function was not found");
  }
  code->function = (indim_compiled_fn *)(uintptr_t)found.address;
  return INDIM_OK;
}

// The bytes of the code itself, without data.
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
    bytes += name != NULL && strncmp(name, ".text", 5) == 0 ? (int64_t)LLVMGetSectionSize(section) : 0;
  }
  LLVMDisposeSectionIterator(section);
  LLVMDisposeBinary(binary);
  return bytes;
}

// Compiling -------------------------------------------------------------------------------------------------------------

static indim_status verify_module(work *w) {
#if defined(NDEBUG)
  (void)w;
#else
  char *message = NULL;
  if (LLVMVerifyModule(w->module, LLVMReturnStatusAction, &message)) {
    return llvm_failed(w->cx, "checking the IR", message);
  }
  LLVMDisposeMessage(message);
#endif
  return INDIM_OK;
}

static void write_llvm(work *w) {
  if (w->options->out_llvm != NULL) {
    char *text = LLVMPrintModuleToString(w->module);
    indim_buffer_text(w->options->out_llvm, text);
    LLVMDisposeMessage(text);
  }
}

// The code generator changes the module, so the assembly is made from a copy.
static indim_status write_asm(work *w) {
  if (w->options->out_asm == NULL) {
    return INDIM_OK;
  }
  LLVMModuleRef copy = LLVMCloneModule(w->module);
  LLVMMemoryBufferRef text = NULL;
  char *message = NULL;
  bool has_failed = LLVMTargetMachineEmitToMemoryBuffer(w->machine, copy, LLVMAssemblyFile, &message, &text);
  LLVMDisposeModule(copy);
  if (has_failed) {
    return llvm_failed(w->cx, "writing assembly", message);
  }
  indim_buffer_append(w->options->out_asm, LLVMGetBufferStart(text), LLVMGetBufferSize(text));
  LLVMDisposeMemoryBuffer(text);
  return INDIM_OK;
}

static indim_status generate(work *w) {
  char *message = NULL;
  if (LLVMTargetMachineEmitToMemoryBuffer(w->machine, w->module, LLVMObjectFile, &message, &w->object)) {
    return llvm_failed(w->cx, "generating code", message);
  }
  return w->message[0] == '\0' ? INDIM_OK : indim_fail(w->cx, INDIM_INTERNAL, "LLVM, generating code: %s", w->message);
}

// What runs under the guard: all that may meet a fatal error of LLVM's.
static indim_status generate_and_link(work *w, indim_code *code) {
  INDIM_TRY(write_asm(w));
  int64_t start = indim_clock_ns();
  INDIM_TRY(generate(w));
  code->bytes = text_bytes(w->object);
  INDIM_TRY(link_object(w, code));
  w->code_ns = indim_clock_ns() - start;
  return INDIM_OK;
}

// A fatal error of LLVM's comes back here. What LLVM held at that moment is lost: it may be in any state.
static indim_status guarded(work *w, indim_code *code) {
  indim_status status = INDIM_INTERNAL;
  running = w;
  if (setjmp(w->guard) == 0) {
    status = generate_and_link(w, code);
    running = NULL;
    return status;
  }
  running = NULL;
  w->is_lost = true;
  return indim_fail(w->cx, INDIM_INTERNAL, "LLVM gave up: %s", w->message);
}

static void tell_module(work *w) {
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(w->machine);
  char *triple = LLVMGetTargetMachineTriple(w->machine);
  LLVMSetModuleDataLayout(w->module, layout);
  LLVMSetTarget(w->module, triple);
  LLVMDisposeMessage(triple);
  LLVMDisposeTargetData(layout);
}

static indim_status compile_stages(work *w, indim_emit_times *times, indim_code *code) {
  int64_t start = indim_clock_ns();
  INDIM_TRY(indim_machine_create(w->cx, true, &w->machine));
  tell_module(w);
  INDIM_TRY(indim_emit_program(w->cx, w->program, w->options->fast, w->context, w->module));
  times->emit_ns = indim_clock_ns() - start;
  write_llvm(w);
  INDIM_TRY(verify_module(w));
  INDIM_TRY(make_room(w, code));
  INDIM_TRY(guarded(w, code));
  times->code_ns = w->code_ns;
  return INDIM_OK;
}

static void dispose_work(work *w) {
  if (w->is_lost) {
    return;
  }
  if (w->object != NULL) {
    LLVMDisposeMemoryBuffer(w->object);
  }
  if (w->machine != NULL) {
    LLVMDisposeTargetMachine(w->machine);
  }
  LLVMDisposeModule(w->module);
  LLVMContextDispose(w->context);
}

indim_status indim_jit_compile(indim_ctx *cx, const indim_loop_program *program, const indim_emit_options *options,
                               indim_emit_times *out_times, indim_code **out_code) {
  static const indim_emit_options none = {0};
  *out_code = NULL;
  indim_code *code = NULL;
  INDIM_TRY(indim_alloc_zeroed(cx, sizeof *code, (void **)&code));
  code->cx = cx;
  indim_emit_times times = {0, 0};
  work w = {.cx = cx, .program = program, .options = options == NULL ? &none : options};
  w.context = LLVMContextCreate();
  w.module = LLVMModuleCreateWithNameInContext("indim", w.context);
  LLVMContextSetDiagnosticHandler(w.context, on_diagnostic, &w);
  indim_status status = compile_stages(&w, &times, code);
  dispose_work(&w);
  if (status != INDIM_OK) {
    code->jit = w.is_lost ? NULL : code->jit;
    indim_jit_destroy(code);
    return status;
  }
  if (out_times != NULL) {
    *out_times = times;
  }
  *out_code = code;
  return INDIM_OK;
}

indim_compiled_fn *indim_jit_function(const indim_code *code) { return code->function; }

int64_t indim_jit_code_bytes(const indim_code *code) { return code->bytes; }

void indim_jit_destroy(indim_code *code) {
  if (code == NULL) {
    return;
  }
  if (code->jit != NULL) {
    LLVMErrorRef error = LLVMOrcDisposeLLJIT(code->jit);
    if (error != NULL) {
      LLVMConsumeError(error);
    }
  }
  if (code->constants != NULL) {
    indim_free(code->cx, code->constants, code->constants_bytes);
  }
  indim_free(code->cx, code, sizeof *code);
}
