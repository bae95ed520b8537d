// The machine that code is made for: this one, known by its feature bits and never by its name. The code generator runs at
// its second lowest level.
#include "emit/program.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>

enum { MOST_FEATURES = 4096, MOST_SHARED_CACHE = 16 << 20 };

// What this processor has, "+avx,+avx2,...". Written once, when the library is loaded: to find it out and to read it would
// be a fifth of a small compilation, most of that for what the processor lacks, which the base processor lacks, too.
static char features[MOST_FEATURES];
static bool is_known;

// The loader's lock orders this after the writing; the flag says so to who does not see that lock.
static const char *known_features(void) { return __atomic_load_n(&is_known, __ATOMIC_ACQUIRE) ? features : ""; }

static void keep_feature(const char *name, size_t size) {
  size_t length = strlen(features);
  if (length + size + 2 <= sizeof features) {
    snprintf(features + length, sizeof features - length, "%s%.*s", length == 0 ? "" : ",", (int)size, name);
  }
}

// Once, when the library is loaded: of all targets only the host's.
__attribute__((constructor)) static void initialize(void) {
  LLVMInitializeNativeTarget();
  LLVMInitializeNativeAsmPrinter();
  char *all = LLVMGetHostCPUFeatures();
  for (const char *at = all; *at != '\0';) {
    size_t size = strcspn(at, ",");
    if (*at == '+') {
      keep_feature(at, size);
    }
    at += size + (at[size] == ',');
  }
#if defined(__x86_64__)
  static const char as_written[] = "-prefer-256-bit";  // vectors of any width, whatever the model prefers
  keep_feature(as_written, sizeof as_written - 1);
#endif
  LLVMDisposeMessage(all);
  __atomic_store_n(&is_known, true, __ATOMIC_RELEASE);
}

static bool has_feature(const char *name) {
  size_t length = strlen(name);
  for (const char *at = strstr(known_features(), name); at != NULL; at = strstr(at + 1, name)) {
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
  memset(out_target, 0, sizeof *out_target);
  bool is_wide =
      has_feature("+avx512f") && has_feature("+avx512vl") && has_feature("+avx512bw") && has_feature("+avx512dq");
  out_target->vector_bytes = is_wide ? 64 : has_feature("+avx2") ? 32 : 16;
#if defined(__x86_64__)
  out_target->has_fma = has_feature("+fma");
  out_target->has_f16 = has_feature("+f16c");
#elif defined(__aarch64__)
  out_target->has_fma = true;
  out_target->has_f16 = true;
#endif
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

indim_status indim_machine_create(indim_ctx *cx, bool is_for_code, LLVMTargetMachineRef *out_machine) {
  char *triple = LLVMGetDefaultTargetTriple();
#if defined(__x86_64__)
  static const char cpu[] = "x86-64";
#else
  static const char cpu[] = "generic";
#endif
  LLVMTargetRef target = NULL;
  char *message = NULL;
  indim_status status = INDIM_OK;
  if (LLVMGetTargetFromTriple(triple, &target, &message)) {
    status = indim_fail(cx, INDIM_UNSUPPORTED, "LLVM has no target for this machine (%s): %s", triple, message);
    LLVMDisposeMessage(message);
  } else {
    *out_machine = LLVMCreateTargetMachine(target, triple, cpu, is_for_code ? known_features() : "",
                                           LLVMCodeGenLevelLess, LLVMRelocPIC, LLVMCodeModelSmall);
  }
  LLVMDisposeMessage(triple);
  return status;
}
