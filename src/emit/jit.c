// Objects to executable code: LLVM's JIT linker links them into a library of its own that resolves a few
// functions of the C library and nothing else of the process.
#include <math.h>
#include <string.h>

#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>

#include "base/size.h"
#include "emit/object.h"
#include "emit/program/program.h"
#include "run/clock.h"

struct indim_code {
  indim_ctx *cx;
  LLVMOrcLLJITRef jit;          // NULL: not linked
  indim_compiled_fn *function;  // likewise
  int64_t bytes;
  void *constants;  // the external ones, which the code refers to
  size_t constants_bytes;
};

// Errors ----------------------------------------------------------------------------------------------------------------

// The linker reports unresolved names here; without a handler it would print them.
static void on_link_error(void *user, LLVMErrorRef error) {
  (void)user;
  char *text = LLVMGetErrorMessage(error);
  indim_guard_note(text);
  LLVMDisposeErrorMessage(text);
}

static indim_status link_failed(indim_object *o, const char *doing, LLVMErrorRef error) {
  char *message = LLVMGetErrorMessage(error);
  const char *why = o->guard.message[0] == '\0' ? message : o->guard.message;
  indim_status status = indim_fail(o->cx, INDIM_INTERNAL, "LLVM, %s: %s", doing, why);
  LLVMDisposeErrorMessage(message);
  o->is_llvm_failure = true;
  return status;
}

// Linking ---------------------------------------------------------------------------------------------------------------

// What generated code calls: everything else is inline.
typedef void code_pointer(void);

#if INDIM_EMIT_TSAN
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
#if INDIM_EMIT_TSAN
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

// The size of an external constant, padded to its alignment.
static size_t constant_space(const indim_storage *storage) {
  return ((size_t)storage->elements * (size_t)indim_type_bytes(storage->type) + 63) / 64 * 64;
}

// Allocates memory for the external constants that the objects refer to.
static indim_status alloc_constants(indim_object *o, indim_code *code) {
  size_t bytes = 0;
  for (int32_t i = 0; i < o->program->storage_count; i++) {
    const indim_storage *storage = o->program->storages[i];
    if (o->declares[i] && !indim_size_add(bytes, constant_space(storage), &bytes)) {
      return indim_fail(o->cx, INDIM_LIMIT, "the constants are larger than the address space");
    }
  }
  if (bytes == 0) {
    return INDIM_OK;
  }
  code->constants_bytes = bytes + 64;
  return indim_alloc(o->cx, code->constants_bytes, &code->constants);
}

// Copies the external constants and defines their symbols.
static LLVMErrorRef define_constants(indim_object *o, indim_code *code, LLVMOrcJITDylibRef library) {
  char name[INDIM_EMIT_NAME];
  char *at = code->constants;
  LLVMErrorRef error = NULL;
  if (at == NULL) {
    return NULL;
  }
  at += (64 - (uintptr_t)at % 64) % 64;
  for (int32_t i = 0; i < o->program->storage_count && error == NULL; i++) {
    const indim_storage *storage = o->program->storages[i];
    if (!o->declares[i]) {
      continue;
    }
    indim_emit_constant_name(storage, name);
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

// By default the linker would detect the processor again, for a code generator that is not needed.
static indim_status make_linker(indim_object *o, indim_code *code) {
  LLVMTargetMachineRef machine = NULL;
  INDIM_TRY(indim_machine_create(o->cx, &o->program->target, false, &machine));
  LLVMOrcLLJITBuilderRef builder = LLVMOrcCreateLLJITBuilder();
  LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(builder,
                                                LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(machine));
  LLVMErrorRef error = LLVMOrcCreateLLJIT(&code->jit, builder);
  if (error != NULL) {
    code->jit = NULL;
    return link_failed(o, "making the linker", error);
  }
  return INDIM_OK;
}

// Links the objects into a new library of the JIT and looks up the function.
static indim_status link_objects(indim_object *o, indim_code *code) {
  INDIM_TRY(make_linker(o, code));
  LLVMOrcExecutionSessionRef session = LLVMOrcLLJITGetExecutionSession(code->jit);
  LLVMOrcExecutionSessionSetErrorReporter(session, on_link_error, NULL);
  LLVMOrcJITDylibRef library = LLVMOrcExecutionSessionCreateBareJITDylib(session, "indim");
  LLVMErrorRef error = define_functions(code->jit, library);
  if (error == NULL) {
    error = define_constants(o, code, library);
  }
  for (int32_t i = 0; i < o->object_count && error == NULL; i++) {
    error = LLVMOrcLLJITAddObjectFile(code->jit, library, o->objects[i]);
    o->objects[i] = NULL;
  }
  if (error != NULL) {
    return link_failed(o, "linking", error);
  }
  LLVMOrcCJITDylibSearchOrderElement order = {library, LLVMOrcJITDylibLookupFlagsMatchExportedSymbolsOnly};
  LLVMOrcCLookupSetElement wanted = {LLVMOrcLLJITMangleAndIntern(code->jit, "indim_program"),
                                     LLVMOrcSymbolLookupFlagsRequiredSymbol};
  found_function found = {0, NULL};
  LLVMOrcExecutionSessionLookup(session, LLVMOrcLookupKindStatic, &order, 1, &wanted, 1, on_found, &found);
  if (found.error != NULL || found.address == 0) {
    return found.error != NULL ? link_failed(o, "linking", found.error)
                               : indim_fail(o->cx, INDIM_INTERNAL, "LLVM, linking: the function was not found");
  }
  code->function = (indim_compiled_fn *)(uintptr_t)found.address;
  return INDIM_OK;
}

// Compiling -------------------------------------------------------------------------------------------------------------

static indim_status link(indim_object *o) {
  indim_code *code = o->then_user;
  int64_t start = indim_clock_ns();
  INDIM_TRY(alloc_constants(o, code));
  INDIM_TRY(link_objects(o, code));
  o->code_ns += indim_clock_ns() - start;
  return INDIM_OK;
}

indim_status indim_jit_compile(indim_ctx *cx, const indim_loop_program *program, const indim_emit_options *options,
                               indim_emit_report *out_report, indim_code **out_code) {
  static const indim_emit_options none = {0};
  options = options == NULL ? &none : options;
  *out_code = NULL;
  indim_code *code = NULL;
  INDIM_TRY(indim_alloc_zeroed(cx, sizeof *code, (void **)&code));
  code->cx = cx;
  bool is_linked = !options->is_cross;
  indim_object o = {.cx = cx,
                    .program = program,
                    .options = options,
                    .has_constants = !is_linked || options->out_object != NULL,
                    .then = is_linked ? link : NULL,
                    .then_user = code};
  indim_status status = indim_object_make(&o);
  code->bytes = o.text_bytes;
  code->jit = o.is_lost ? NULL : code->jit;
  if (out_report != NULL) {
    *out_report = (indim_emit_report){o.emit_ns, o.code_ns, status != INDIM_OK && o.is_llvm_failure};
  }
  indim_object_dispose(&o);
  if (status != INDIM_OK) {
    indim_jit_destroy(code);
    return status;
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
