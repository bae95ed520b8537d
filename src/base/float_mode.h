// Whether the processor takes subnormal numbers as zeros, for the calling thread.
#ifndef INDIM_BASE_FLOAT_MODE_H
#define INDIM_BASE_FLOAT_MODE_H

#include <stdbool.h>
#include <stdint.h>

// What makes it do so: of x86-64's MXCSR, denormals are zeros and flush to zero; of AArch64's FPCR, flush to zero.
enum { INDIM_MXCSR_FLUSH = 0x40 | 0x8000, INDIM_FPCR_FLUSH = 1 << 24 };

// What indim_float_mode_restore takes. 0 where the processor has no such mode (RISC-V) or it is not known how to set it.
typedef uint64_t indim_float_mode;

#if defined(__GNUC__) && defined(__x86_64__)
static inline indim_float_mode indim_float_mode_flush(void) {
  uint32_t before = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before | INDIM_MXCSR_FLUSH);
  return before;
}
static inline void indim_float_mode_restore(indim_float_mode before) { __builtin_ia32_ldmxcsr((uint32_t)before); }
// Whether an operation has met a subnormal number, or made one, since that was forgotten: each such operation takes some hundred cycles.
// Never where they cost nothing.
enum { INDIM_MXCSR_SUBNORMAL = 0x02 | 0x10 };
static inline indim_float_mode indim_float_mode_forget_subnormals(void) {
  indim_float_mode before = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr((uint32_t)before & ~(uint32_t)INDIM_MXCSR_SUBNORMAL);
  return before;
}
static inline bool indim_float_mode_met_subnormals(void) {
  return (__builtin_ia32_stmxcsr() & INDIM_MXCSR_SUBNORMAL) != 0;
}
#elif defined(__GNUC__) && defined(__aarch64__)
static inline void indim_float_mode_restore(indim_float_mode before) {
  __asm__ volatile("msr fpcr, %0" : : "r"(before));
}
static inline indim_float_mode indim_float_mode_flush(void) {
  indim_float_mode before = 0;
  __asm__ volatile("mrs %0, fpcr" : "=r"(before));
  indim_float_mode_restore(before | INDIM_FPCR_FLUSH);
  return before;
}
#else
static inline indim_float_mode indim_float_mode_flush(void) { return 0; }
static inline void indim_float_mode_restore(indim_float_mode before) { (void)before; }
#endif
#if !(defined(__GNUC__) && defined(__x86_64__))
static inline indim_float_mode indim_float_mode_forget_subnormals(void) { return 0; }
static inline bool indim_float_mode_met_subnormals(void) { return false; }
#endif

#endif  // INDIM_BASE_FLOAT_MODE_H
