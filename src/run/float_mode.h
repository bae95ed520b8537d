// Whether the processor takes subnormal numbers as zeros, for the calling thread.
#ifndef INDIM_RUN_FLOAT_MODE_H
#define INDIM_RUN_FLOAT_MODE_H

#include <stdint.h>

// What indim_float_mode_restore takes. 0 where the processor has no such mode (RISC-V) or it is not known how to set it.
typedef uint64_t indim_float_mode;

#if defined(__GNUC__) && defined(__x86_64__)
static inline indim_float_mode indim_float_mode_flush(void) {
  enum { DENORMALS_ARE_ZEROS = 0x40, FLUSH_TO_ZERO = 0x8000 };
  uint32_t before = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before | DENORMALS_ARE_ZEROS | FLUSH_TO_ZERO);
  return before;
}
static inline void indim_float_mode_restore(indim_float_mode before) { __builtin_ia32_ldmxcsr((uint32_t)before); }
#elif defined(__GNUC__) && defined(__aarch64__)
static inline void indim_float_mode_restore(indim_float_mode before) {
  __asm__ volatile("msr fpcr, %0" : : "r"(before));
}
static inline indim_float_mode indim_float_mode_flush(void) {
  const indim_float_mode flush_to_zero = UINT64_C(1) << 24;
  indim_float_mode before = 0;
  __asm__ volatile("mrs %0, fpcr" : "=r"(before));
  indim_float_mode_restore(before | flush_to_zero);
  return before;
}
#else
static inline indim_float_mode indim_float_mode_flush(void) { return 0; }
static inline void indim_float_mode_restore(indim_float_mode before) { (void)before; }
#endif

#endif  // INDIM_RUN_FLOAT_MODE_H
