// What LLVM cannot do is an error of ours, never the end of the process. LLVM's entry into its code generator is found in
// this program before LLVM's own, so that a case can spoil the module on its way there; LLVM then fails as it does.
#define _GNU_SOURCE  // RTLD_NEXT
#include <dlfcn.h>
#include <pthread.h>

#include "base/ctx.h"
#include "emit/program/program.h"
#include "test.h"

enum { MESSAGE = 1024 };

#if defined(__SANITIZE_ADDRESS__)
// What LLVM held when it gave up is lost, as it has to be.
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_leaks=0"; }
#endif

typedef void spoiler(LLVMModuleRef module);

static _Thread_local spoiler *spoil;

LLVMBool LLVMTargetMachineEmitToMemoryBuffer(LLVMTargetMachineRef machine, LLVMModuleRef module,
                                             LLVMCodeGenFileType type, char **message, LLVMMemoryBufferRef *out) {
  typedef LLVMBool emitter(LLVMTargetMachineRef, LLVMModuleRef, LLVMCodeGenFileType, char **, LLVMMemoryBufferRef *);
  emitter *next = NULL;
  void *address = dlsym(RTLD_NEXT, "LLVMTargetMachineEmitToMemoryBuffer");
  memcpy(&next, &address, sizeof next);
  if (spoil != NULL) {
    spoil(module);
  }
  return next(machine, module, type, message, out);
}

// Calls |callee|, which gives |type| and takes nothing, at the beginning of the program's function.
static void call_at_start(LLVMModuleRef module, LLVMTypeRef type, LLVMValueRef callee) {
  LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
  LLVMValueRef program = LLVMGetNamedFunction(module, "indim_program");
  LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(LLVMGetFirstBasicBlock(program)));
  LLVMBuildCall2(b, type, callee, NULL, 0, "");
  LLVMDisposeBuilder(b);
}

static void call_function(LLVMModuleRef module, const char *name) {
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(LLVMGetModuleContext(module)), NULL, 0, 0);
  call_at_start(module, type, LLVMAddFunction(module, name, type));
}

static void call_assembly(LLVMModuleRef module, const char *text, const char *constraint) {
  LLVMTypeRef type = LLVMFunctionType(LLVMInt32TypeInContext(LLVMGetModuleContext(module)), NULL, 0, 0);
  call_at_start(
      module, type,
      LLVMGetInlineAsm(type, text, strlen(text), constraint, strlen(constraint), 1, 0, LLVMInlineAsmDialectATT, 0));
}

// An instruction of another machine, which instruction selection finds no pattern for.
static void spoil_selection(LLVMModuleRef module) {
#if defined(__x86_64__)
  call_function(module, "llvm.aarch64.clrex");
#else
  call_function(module, "llvm.x86.sse.sfence");
#endif
}

// We carry no parser for assembly.
static void spoil_assembly(LLVMModuleRef module) { call_assembly(module, "nop", "=r"); }

static void spoil_register(LLVMModuleRef module) { call_assembly(module, "", "={no such register}"); }

// A function that nobody has defined.
static void spoil_link(LLVMModuleRef module) { call_function(module, "indim_nowhere"); }

static void spoil_name(LLVMModuleRef module) {
  LLVMSetValueName2(LLVMGetNamedFunction(module, "indim_program"), "other", 5);
}

// The status of compiling result[0] = 7, which is run when it compiles. The first message is put into |out_message|.
static indim_status compile(spoiler *how, char out_message[MESSAGE]) {
  indim_target target;
  indim_host_target(&target);
  indim_ctx *cx = NULL;
  indim_loop_program *program = NULL;
  out_message[0] = '\0';
  if (indim_ctx_create(NULL, &cx) != INDIM_OK || indim_loop_program_create(cx, NULL, &target, &program) != INDIM_OK) {
    indim_ctx_destroy(cx);
    return INDIM_NO_MEMORY;
  }
  indim_loop_builder b;
  indim_loop_builder_init(&b, program);
  indim_storage *r = indim_loop_storage(&b, INDIM_STORAGE_RESULT, INDIM_S64, 1, "r");
  indim_loop_region_begin(&b, &r, 1);
  indim_loop_store(&b, r, indim_loop_index(&b, 0), indim_loop_const(&b, INDIM_S64, 7, 0), 1, 0);
  program->result_count = 1;
  indim_code *code = NULL;
  spoil = how;
  indim_status status = b.status != INDIM_OK ? b.status : indim_jit_compile(cx, program, NULL, NULL, &code);
  spoil = NULL;
  if (status == INDIM_OK) {
    int64_t value = 0;
    void *results[] = {&value};
    CHECK_EQ_INT(indim_jit_function(code)(NULL, results, NULL, NULL), 0);
    CHECK_EQ_INT(value, 7);
  } else if (indim_ctx_diagnostic_count(cx) > 0) {
    snprintf(out_message, MESSAGE, "%s", indim_ctx_diagnostic_get(cx, 0)->message);
  }
  indim_jit_destroy(code);
  indim_loop_builder_deinit(&b);
  indim_loop_program_destroy(program);
  CHECK_EQ_UINT(indim_ctx_memory_in_use(cx), 0);
  indim_ctx_destroy(cx);
  return status;
}

static void expect_failure(spoiler *how, const char *said) {
  char message[MESSAGE];
  CHECK_EQ_INT(compile(how, message), INDIM_INTERNAL);
  if (strstr(message, said) == NULL) {
    test_fail(__FILE__, __LINE__);
    printf("the message is \"%s\", expected \"%s\" in it\n", message, said);
  }
  CHECK_EQ_INT(compile(NULL, message), INDIM_OK);  // LLVM goes on as if nothing had been
}

TEST(what_has_no_pattern) {
  expect_failure(spoil_selection, "LLVM gave up: Cannot select");
  expect_failure(spoil_selection, "LLVM gave up: Cannot select");
}

TEST(what_has_no_parser) { expect_failure(spoil_assembly, "LLVM gave up: "); }

// LLVM reports this and goes on.
TEST(no_such_register) { expect_failure(spoil_register, "LLVM, generating code: "); }

TEST(a_function_from_nowhere) { expect_failure(spoil_link, "indim_nowhere"); }

TEST(no_function_of_that_name) { expect_failure(spoil_name, "LLVM, linking: "); }

// Some give up while others compile: each hears of its own failure only.
static void *compile_often(void *how) {
  char message[MESSAGE];
  spoiler *spoilers[] = {NULL, spoil_selection};
  intptr_t wrong = 0;
  bool is_spoiled = *(bool *)how;
  for (int32_t i = 0; i < 8; i++) {
    wrong += compile(spoilers[is_spoiled], message) != (is_spoiled ? INDIM_INTERNAL : INDIM_OK);
  }
  return (void *)wrong;
}

TEST(others_compile_meanwhile) {
  enum { THREADS = 4 };
  pthread_t threads[THREADS];
  bool is_spoiled[] = {false, true};
  for (int32_t i = 0; i < THREADS; i++) {
    REQUIRE(pthread_create(&threads[i], NULL, compile_often, &is_spoiled[i % 2]) == 0);
  }
  for (int32_t i = 0; i < THREADS; i++) {
    void *wrong = NULL;
    CHECK_EQ_INT(pthread_join(threads[i], &wrong), 0);
    CHECK(wrong == NULL);
  }
}

#define CASES(X)              \
  X(what_has_no_pattern)      \
  X(what_has_no_parser)       \
  X(no_such_register)         \
  X(a_function_from_nowhere)  \
  X(no_function_of_that_name) \
  X(others_compile_meanwhile)
TEST_MAIN(CASES)
