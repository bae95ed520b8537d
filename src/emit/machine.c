// The machines that LLVM generates code for: this one, detected by feature bits and never by name, and those of other
// families if they are linked in. The code generator runs at its second lowest level.
#include "emit/program/program.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <pthread.h>

#include <llvm-c/Support.h>
#include <llvm-c/Target.h>

enum { MOST_FEATURES = 4096, MOST_TRIPLE = 128, MOST_SHARED_CACHE = 16 << 20 };

// The features of this processor, "+avx,+avx2,...". Written once, when the library is loaded: detecting and parsing
// them would take a fifth of a small compilation, most of that for absent features that the base processor lacks, too.
static char features[MOST_FEATURES];
static char host_triple[MOST_TRIPLE] = "unknown";
static bool is_known;

// The loader's lock orders this after the write; the flag is for readers that do not synchronize with that lock.
static const char *known_features(void) { return __atomic_load_n(&is_known, __ATOMIC_ACQUIRE) ? features : ""; }

static void keep_feature(const char *name, size_t size) {
  size_t length = strlen(features);
  if (length + size + 2 <= sizeof features) {
    snprintf(features + length, sizeof features - length, "%s%.*s", length == 0 ? "" : ",", (int)size, name);
  }
}

// Once, when the library is loaded: of all families only the host's.
__attribute__((constructor)) static void initialize(void) {
  LLVMInitializeNativeTarget();
  LLVMInitializeNativeAsmPrinter();
  char *triple = LLVMGetDefaultTargetTriple();
  snprintf(host_triple, sizeof host_triple, "%s", triple);
  LLVMDisposeMessage(triple);
  char *all = LLVMGetHostCPUFeatures();
  for (const char *at = all; *at != '\0';) {
    size_t size = strcspn(at, ",");
    if (*at == '+') {
      keep_feature(at, size);
    }
    at += size + (at[size] == ',');
  }
#if defined(__x86_64__)
  static const char as_written[] = "-prefer-256-bit";  // vectors of any width, even if the model prefers 256 bits
  keep_feature(as_written, sizeof as_written - 1);
#endif
  LLVMDisposeMessage(all);
  __atomic_store_n(&is_known, true, __ATOMIC_RELEASE);
}

static bool has_feature(const char *name) { return indim_features_have(known_features(), name); }

static int64_t system_size(int name, int64_t otherwise) {
  long size = sysconf(name);
  return size > 0 ? size : otherwise;
}

static void find_caches(indim_target *target) {
  int64_t cores = system_size(_SC_NPROCESSORS_ONLN, 1);
  target->cache_bytes[0] = 32 << 10;
  target->cache_bytes[1] = 1 << 20;
  target->cache_bytes[2] = 4 << 20;
#if defined(_SC_LEVEL1_DCACHE_SIZE)
  target->cache_bytes[0] = system_size(_SC_LEVEL1_DCACHE_SIZE, target->cache_bytes[0]);
  target->cache_bytes[1] = system_size(_SC_LEVEL2_CACHE_SIZE, target->cache_bytes[1]);
  target->cache_bytes[2] = system_size(_SC_LEVEL3_CACHE_SIZE, cores * target->cache_bytes[2]) / cores;
#endif
  // A virtual machine may report the cache of a whole server, which it shares with others.
  if (target->cache_bytes[2] > MOST_SHARED_CACHE) {
    target->cache_bytes[2] = MOST_SHARED_CACHE;
  }
  if (target->cache_bytes[2] < target->cache_bytes[1]) {
    target->cache_bytes[2] = target->cache_bytes[1];
  }
}

void indim_host_target(indim_target *out_target) {
  *out_target = (indim_target){.name = "native",
                               .triple = host_triple,
                               .features = known_features(),
                               .arch = indim_arch_of(host_triple),
                               .vector_bytes = 16,
                               .vector_registers = 32};
  if (out_target->arch == INDIM_ARCH_X86_64) {
    bool is_wide =
        has_feature("avx512f") && has_feature("avx512vl") && has_feature("avx512bw") && has_feature("avx512dq");
    out_target->cpu = "x86-64";
    out_target->vector_bytes = is_wide ? 64 : has_feature("avx2") ? 32 : 16;
    out_target->vector_registers = is_wide ? 32 : 16;
    out_target->has_fma = has_feature("fma");
    out_target->has_f16 = has_feature("f16c");
    out_target->mask_bytes = is_wide ? 1 : has_feature("avx2") ? 4 : 0;
    // Gathers of AMD (the only ones with SSE4A) are a load per lane and more: 2 to 3 times as slow on Zen 4. Those of Intel before
    // the half floats of AVX-512 leak what others gathered, and take 1.5 to 3 times as long as loads since that is mended.
    bool is_intel = is_wide && !has_feature("sse4a");
    out_target->has_scatter = is_intel;
    out_target->has_gather = is_intel && has_feature("avx512fp16");
    // Sums of two arrays of 1 MB take 0.85 of the time then, of 4 MB 0.63, of 64 MB 0.73, and with non-temporal stores 1.06 (Cascade
    // Lake, one core or both).
    out_target->prefetches_stores = is_intel && !has_feature("avx512fp16");
  } else {
    bool is_riscv = out_target->arch == INDIM_ARCH_RISCV64;
    out_target->cpu = is_riscv ? "generic-rv64" : "generic";
    out_target->has_fma = is_riscv || out_target->arch == INDIM_ARCH_AARCH64;
    out_target->has_f16 = out_target->arch == INDIM_ARCH_AARCH64;
  }
  find_caches(out_target);
}

// Other families -------------------------------------------------------------------------------------------------------

// Decided when the library is linked: libindim-llvm has this machine's family alone, libindim-llvm-cross all.
#if defined(__GNUC__)
#define FAMILY(name)                                                        \
  extern void LLVMInitialize##name##TargetInfo(void) __attribute__((weak)); \
  extern void LLVMInitialize##name##Target(void) __attribute__((weak));     \
  extern void LLVMInitialize##name##TargetMC(void) __attribute__((weak));   \
  extern void LLVMInitialize##name##AsmPrinter(void) __attribute__((weak));
#define INITIALIZE(name)                          \
  if (LLVMInitialize##name##TargetInfo != NULL) { \
    LLVMInitialize##name##TargetInfo();           \
    LLVMInitialize##name##Target();               \
    LLVMInitialize##name##TargetMC();             \
    LLVMInitialize##name##AsmPrinter();           \
  }
#else
#define FAMILY(name)
#define INITIALIZE(name)
#endif

#if !defined(__x86_64__)
FAMILY(X86)
#define INITIALIZE_X86 INITIALIZE(X86)
#else
#define INITIALIZE_X86
#endif
#if !defined(__aarch64__)
FAMILY(AArch64)
#define INITIALIZE_AARCH64 INITIALIZE(AArch64)
#else
#define INITIALIZE_AARCH64
#endif
#if !defined(__riscv)
FAMILY(RISCV)
#define INITIALIZE_RISCV INITIALIZE(RISCV)
#else
#define INITIALIZE_RISCV
#endif

// On first use, which saves a tenth of a millisecond otherwise. The host's own family is initialized already.
static void initialize_families(void) { INITIALIZE_X86 INITIALIZE_AARCH64 INITIALIZE_RISCV }

static LLVMTargetRef find_family(const indim_target *target) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  LLVMTargetRef family = NULL;
  char *message = NULL;
  if (target->arch != indim_arch_of(host_triple)) {
    pthread_once(&once, initialize_families);
  }
  if (LLVMGetTargetFromTriple(target->triple, &family, &message)) {
    LLVMDisposeMessage(message);
    return NULL;
  }
  return family;
}

bool indim_machine_is_there(const indim_target *target) { return find_family(target) != NULL; }

static LLVMTargetMachineRef make_machine(LLVMTargetRef family, const indim_target *target, bool is_for_code) {
  LLVMTargetMachineOptionsRef options = LLVMCreateTargetMachineOptions();
  LLVMTargetMachineOptionsSetCPU(options, target->cpu);
  LLVMTargetMachineOptionsSetFeatures(options, is_for_code ? target->features : "");
  LLVMTargetMachineOptionsSetCodeGenOptLevel(options, target->is_plain ? LLVMCodeGenLevelNone : LLVMCodeGenLevelLess);
  LLVMTargetMachineOptionsSetRelocMode(options, LLVMRelocPIC);
  LLVMTargetMachineOptionsSetCodeModel(options,
                                       target->arch == INDIM_ARCH_RISCV64 ? LLVMCodeModelMedium : LLVMCodeModelSmall);
  if (target->arch == INDIM_ARCH_RISCV64) {
    LLVMTargetMachineOptionsSetABI(options, "lp64d");
  }
  LLVMTargetMachineRef machine = LLVMCreateTargetMachineWithOptions(family, target->triple, options);
  LLVMDisposeTargetMachineOptions(options);
  return machine;
}

// What this process generated code with before, for the next compilations: parsing the features and setting up the tables of
// instruction selection would take a quarter of a millisecond each time. LLVM's machine serves one thread at a time: one that
// is in use is not here.
enum { MOST_KEPT = 8 };
static LLVMTargetMachineRef kept[MOST_KEPT];

static bool is_kept_for(const indim_target *target) { return target->features == features && !target->is_plain; }

// LLVM's options are the process's: ours are set in a copy of it that is linked in and nobody else's. Moving masks between kinds
// of registers takes a tenth of the compilation of long functions, and few of ours have one that moves. On first use, as LLVM's own
// constructors may run after ours; the loader's lock orders this after them, which ThreadSanitizer does not see.
static void set_options(void) {
#if defined(INDIM_LLVM_IS_OWN) && defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
  static const char *const options[] = {"indim", "-disable-x86-domain-reassignment", "-x86-cmov-converter=false"};
  LLVMParseCommandLineOptions((int)(sizeof options / sizeof options[0]), options, "");
#endif
}

LLVMTargetMachineRef indim_machine_take(const indim_target *target, bool is_for_code) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  LLVMTargetMachineRef machine = NULL;
  pthread_once(&once, set_options);
  for (int i = 0; i < MOST_KEPT && machine == NULL && is_for_code && is_kept_for(target); i++) {
    machine = __atomic_exchange_n(&kept[i], NULL, __ATOMIC_ACQ_REL);
  }
  if (machine == NULL) {
    LLVMTargetRef family = find_family(target);
    machine = family == NULL ? NULL : make_machine(family, target, is_for_code);
  }
  return machine;
}

indim_status indim_machine_create(indim_ctx *cx, const indim_target *target, bool is_for_code,
                                  LLVMTargetMachineRef *out_machine) {
  *out_machine = indim_machine_take(target, is_for_code);
  return *out_machine != NULL
             ? INDIM_OK
             : indim_fail(cx, INDIM_UNSUPPORTED, "this build of LLVM makes no code for %s", target->triple);
}

void indim_machine_release(const indim_target *target, LLVMTargetMachineRef machine) {
  for (int i = 0; i < MOST_KEPT && machine != NULL && is_kept_for(target); i++) {
    LLVMTargetMachineRef none = NULL;
    bool is_free = __atomic_compare_exchange_n(&kept[i], &none, machine, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
    machine = is_free ? NULL : machine;
  }
  if (machine != NULL) {
    LLVMDisposeTargetMachine(machine);
  }
}
