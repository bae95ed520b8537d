// The machine that code is made for: this one, known by its feature bits and never by its name. The code generator runs at
// its second lowest level.
#include "emit/program.h"

#include <string.h>
#include <unistd.h>

#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>

// Once, when the library is loaded: of all targets only the host's.
__attribute__((constructor)) static void initialize(void) {
  LLVMInitializeNativeTarget();
  LLVMInitializeNativeAsmPrinter();
}

enum { MOST_SHARED_CACHE = 16 << 20 };

static bool has_feature(const char *features, const char *name) {
  size_t length = strlen(name);
  for (const char *at = strstr(features, name); at != NULL; at = strstr(at + 1, name)) {
    if (at[length] == ',' || at[length] == '\0') {
      return true;
    }
  }
  return false;
}

static int64_t system_size(int name, int64_t otherwise) {
  long size = sysconf(name);
  return size > 0 ? size : otherwise;
}

void indim_jit_target(indim_loop_target *out_target) {
  char *features = LLVMGetHostCPUFeatures();
  memset(out_target, 0, sizeof *out_target);
  bool is_wide = has_feature(features, "+avx512f") && has_feature(features, "+avx512vl") &&
                 has_feature(features, "+avx512bw") && has_feature(features, "+avx512dq");
  out_target->vector_bytes = is_wide ? 64 : has_feature(features, "+avx2") ? 32 : 16;
#if defined(__x86_64__)
  out_target->has_fma = has_feature(features, "+fma");
  out_target->has_f16 = has_feature(features, "+f16c");
#elif defined(__aarch64__)
  out_target->has_fma = true;
  out_target->has_f16 = true;
#endif
  LLVMDisposeMessage(features);
  int64_t cores = system_size(_SC_NPROCESSORS_ONLN, 1);
  out_target->cache_bytes[0] = 32 << 10;
  out_target->cache_bytes[1] = 1 << 20;
  out_target->cache_bytes[2] = 4 << 20;
#if defined(_SC_LEVEL1_DCACHE_SIZE)
  out_target->cache_bytes[0] = system_size(_SC_LEVEL1_DCACHE_SIZE, out_target->cache_bytes[0]);
  out_target->cache_bytes[1] = system_size(_SC_LEVEL2_CACHE_SIZE, out_target->cache_bytes[1]);
  out_target->cache_bytes[2] = system_size(_SC_LEVEL3_CACHE_SIZE, cores * out_target->cache_bytes[2]) / cores;
#endif
  // A virtual machine may be told of a whole server's cache, which it has neighbours in.
  if (out_target->cache_bytes[2] > MOST_SHARED_CACHE) {
    out_target->cache_bytes[2] = MOST_SHARED_CACHE;
  }
  if (out_target->cache_bytes[2] < out_target->cache_bytes[1]) {
    out_target->cache_bytes[2] = out_target->cache_bytes[1];
  }
}

// "x86-64" with the host's features: vectors as wide as they are written, whatever the model prefers.
indim_status indim_machine_create(indim_ctx *cx, LLVMModuleRef module, LLVMTargetMachineRef *out_machine) {
  char *triple = LLVMGetDefaultTargetTriple();
  char *host = LLVMGetHostCPUFeatures();
  indim_buffer features;
  indim_buffer_init(&features, cx);
  indim_buffer_text(&features, host);
#if defined(__x86_64__)
  indim_buffer_text(&features, ",-prefer-256-bit");
  static const char cpu[] = "x86-64";
#else
  static const char cpu[] = "generic";
#endif
  LLVMTargetRef target = NULL;
  char *message = NULL;
  indim_status status = features.status;
  if (status == INDIM_OK && LLVMGetTargetFromTriple(triple, &target, &message)) {
    status = indim_fail(cx, INDIM_UNSUPPORTED, "LLVM has no target for this machine (%s): %s", triple, message);
    LLVMDisposeMessage(message);
  }
  if (status == INDIM_OK) {
    *out_machine = LLVMCreateTargetMachine(target, triple, cpu, features.data, LLVMCodeGenLevelLess, LLVMRelocPIC,
                                           LLVMCodeModelSmall);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(*out_machine);
    LLVMSetModuleDataLayout(module, layout);
    LLVMSetTarget(module, triple);
    LLVMDisposeTargetData(layout);
  }
  indim_buffer_deinit(&features);
  LLVMDisposeMessage(host);
  LLVMDisposeMessage(triple);
  return status;
}
