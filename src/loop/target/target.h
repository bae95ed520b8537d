// What code is made for. One struct says all that the planners and the code generator may know of a machine: neither asks
// what the host is. It is filled for the host by emit/machine.c, which reads the processor's features, and by name, for any
// machine, from targets.def.
#ifndef INDIM_LOOP_TARGET_H
#define INDIM_LOOP_TARGET_H

#include "base/ctx.h"

// Processor families, as far as code differs by them.
typedef enum indim_arch { INDIM_ARCH_OTHER, INDIM_ARCH_X86_64, INDIM_ARCH_AARCH64, INDIM_ARCH_RISCV64 } indim_arch;

enum { INDIM_TARGET_LINE = 64 };  // bytes of a cache line

typedef struct indim_target {
  const char *name;  // "native", or one of targets.def; texts are constants
  const char *triple;
  const char *cpu;
  const char *features;  // LLVM's names, "+avx,+avx2"
  indim_arch arch;
  int32_t vector_bytes;      // 64, 32, 16; 8: next to no vectors (indim_target_step_down)
  int32_t vector_registers;  // 32, 16
  bool has_fma;
  bool has_f16;            // conversion between f16 and f32 in hardware
  int32_t mask_bytes;      // elements of so many bytes and more are moved under a mask by one instruction; 0: none are
  bool has_gather;         // gathers and scatters faster than loads and stores one by one
  bool is_plain;           // the code generator takes its simplest way, where it has least to go wrong
  int64_t cache_bytes[3];  // of one core's share
} indim_target;

// The family that a triple begins with.
indim_arch indim_arch_of(const char *triple);
// The target of this name. INVALID, with the names that there are, for one that is none; "native" is none here.
INDIM_CHECKED indim_status indim_target_find(indim_ctx *cx, const char *name, indim_target *out_target);
// What |target| needs and |host| has not: a feature ("avx512f"), or the family ("an aarch64 processor"). |out_text| is empty
// when nothing is missing.
enum { INDIM_TARGET_TEXT = 64 };
void indim_target_missing(const indim_target *target, const indim_target *host, char out_text[INDIM_TARGET_TEXT]);
// Whether |features| holds the feature |name|, which is given without a sign.
bool indim_features_have(const char *features, const char *name);
// What to make code for when the code generator has failed at |target|: vectors half as wide, with the features of the named
// target of that width; at the end next to no vectors, in the generator's simplest way. False behind that.
bool indim_target_step_down(indim_target *target);

#endif  // INDIM_LOOP_TARGET_H
