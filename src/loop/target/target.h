// The machine that code is generated for. This struct is all that the planners and the code generator know of it:
// neither queries the host. emit/machine.c fills it for the host from the processor's feature bits; targets.def has
// named targets for any machine.
#ifndef INDIM_LOOP_TARGET_H
#define INDIM_LOOP_TARGET_H

#include "base/ctx.h"

// Processor families, where generated code depends on them.
typedef enum indim_arch { INDIM_ARCH_OTHER, INDIM_ARCH_X86_64, INDIM_ARCH_AARCH64, INDIM_ARCH_RISCV64 } indim_arch;

enum { INDIM_TARGET_LINE = 64 };  // bytes of a cache line

typedef struct indim_target {
  const char *name;  // "native", or one of targets.def; all strings are constants
  const char *triple;
  const char *cpu;
  const char *features;  // LLVM's names, "+avx,+avx2"
  indim_arch arch;
  int32_t vector_bytes;      // 64, 32, 16; 8: almost no vectors (indim_target_step_down)
  int32_t vector_registers;  // 32, 16
  bool has_fma;
  bool has_f16;        // hardware conversion between f16 and f32
  int32_t mask_bytes;  // smallest element, in bytes, with masked load and store instructions; 0: none
  bool has_gather;     // hardware gathers are faster than scalar loads
  bool has_scatter;    // the same of scatters and stores
  bool
      prefetches_stores;  // lines that no cache near has are stored faster when asked for before, also than without the caches
  bool is_plain;          // LLVM's simplest code generator, the least likely to fail
  int64_t cache_bytes[3];  // L1, L2, L3: one core's share
} indim_target;

// The family that a triple starts with.
indim_arch indim_arch_of(const char *triple);
// The target of this name. INVALID, listing the known names, for an unknown one; "native" is not known here.
INDIM_CHECKED indim_status indim_target_find(indim_ctx *cx, const char *name, indim_target *out_target);
// What |target| needs and |host| lacks: a feature ("avx512f"), or the family ("an aarch64 processor"). |out_text| is
// empty when nothing is missing.
enum { INDIM_TARGET_TEXT = 64 };
void indim_target_missing(const indim_target *target, const indim_target *host, char out_text[INDIM_TARGET_TEXT]);
// Whether |features| contains the feature |name|, without a sign.
bool indim_features_have(const char *features, const char *name);
// The next step of the fallback ladder, after the code generator has failed for |target|: vectors of half the width,
// with the features of the named target of that width; in the end almost no vectors and LLVM's simplest code generator.
// False after the last.
bool indim_target_step_down(indim_target *target);

#endif  // INDIM_LOOP_TARGET_H
