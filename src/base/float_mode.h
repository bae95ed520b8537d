// Whether the processor takes subnormal numbers as zeros, for the calling thread, and whether it has met some.
#ifndef INDIM_BASE_FLOAT_MODE_H
#define INDIM_BASE_FLOAT_MODE_H

#include <stdbool.h>
#include <stdint.h>

// What makes it do so: of x86-64's MXCSR, denormals are zeros and flush to zero, of which the latter is for results; of AArch64's
// FPCR, flush to zero.
enum {
  INDIM_MXCSR_FLUSH_RESULTS = 0x8000,
  INDIM_MXCSR_FLUSH = 0x40 | INDIM_MXCSR_FLUSH_RESULTS,
  INDIM_FPCR_FLUSH = 1 << 24
};
// Of MXCSR: an operand was subnormal, or a result.
enum { INDIM_MXCSR_SUBNORMAL = 0x02 | 0x10 };

// What indim_float_mode_restore takes. 0 where the processor has no such mode (RISC-V) or it is not known how to set it.
typedef uint64_t indim_float_mode;

// Whether an operation that meets a subnormal number takes some hundred cycles. Elsewhere none is told of
// (indim_float_mode_met_subnormals).
#if defined(__x86_64__)
enum { INDIM_SUBNORMALS_ARE_SLOW = 1 };
#else
enum { INDIM_SUBNORMALS_ARE_SLOW = 0 };
#endif

#if defined(__GNUC__) && defined(__x86_64__)
static inline indim_float_mode indim_float_mode_get(void) { return __builtin_ia32_stmxcsr(); }
static inline void indim_float_mode_restore(indim_float_mode before) { __builtin_ia32_ldmxcsr((uint32_t)before); }
static inline indim_float_mode indim_float_mode_with_flush(indim_float_mode mode) { return mode | INDIM_MXCSR_FLUSH; }
static inline indim_float_mode indim_float_mode_with_flushed_results(indim_float_mode mode) {
  return mode | INDIM_MXCSR_FLUSH_RESULTS;
}
static inline indim_float_mode indim_float_mode_without_met(indim_float_mode mode) {
  return mode & ~(indim_float_mode)INDIM_MXCSR_SUBNORMAL;
}
static inline bool indim_float_mode_met_subnormals(void) {
  return (indim_float_mode_get() & INDIM_MXCSR_SUBNORMAL) != 0;
}
#elif defined(__GNUC__) && defined(__aarch64__)
static inline indim_float_mode indim_float_mode_get(void) {
  indim_float_mode mode = 0;
  __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
  return mode;
}
static inline void indim_float_mode_restore(indim_float_mode before) {
  __asm__ volatile("msr fpcr, %0" : : "r"(before));
}
static inline indim_float_mode indim_float_mode_with_flush(indim_float_mode mode) { return mode | INDIM_FPCR_FLUSH; }
static inline indim_float_mode indim_float_mode_with_flushed_results(indim_float_mode mode) { return mode; }
static inline indim_float_mode indim_float_mode_without_met(indim_float_mode mode) { return mode; }
static inline bool indim_float_mode_met_subnormals(void) { return false; }
#else
static inline indim_float_mode indim_float_mode_get(void) { return 0; }
static inline void indim_float_mode_restore(indim_float_mode before) { (void)before; }
static inline indim_float_mode indim_float_mode_with_flush(indim_float_mode mode) { return mode; }
static inline indim_float_mode indim_float_mode_with_flushed_results(indim_float_mode mode) { return mode; }
static inline indim_float_mode indim_float_mode_without_met(indim_float_mode mode) { return mode; }
static inline bool indim_float_mode_met_subnormals(void) { return false; }
#endif

// Takes them as zeros. Returns the mode before.
static inline indim_float_mode indim_float_mode_flush(void) {
  indim_float_mode before = indim_float_mode_get();
  indim_float_mode_restore(indim_float_mode_with_flush(before));
  return before;
}

// Takes those as zeros that would be results, where the processor can take these alone (x86). Returns the mode before.
static inline indim_float_mode indim_float_mode_flush_results(void) {
  indim_float_mode before = indim_float_mode_get();
  indim_float_mode_restore(indim_float_mode_with_flushed_results(before));
  return before;
}

// Forgets that some were met. Returns the mode before.
static inline indim_float_mode indim_float_mode_forget_subnormals(void) {
  indim_float_mode before = indim_float_mode_get();
  indim_float_mode_restore(indim_float_mode_without_met(before));
  return before;
}

#endif  // INDIM_BASE_FLOAT_MODE_H
