// The instances of the Fourier kernels: plain C over vectors of the compiler's, one for each element type and vector
// width. Like gemm.c this file is compiled with FMA contraction: the rounding of a transform is unspecified.
#include "run/fft_kernels.h"

#include <string.h>

#define PASTE2(a, b) a##_##b
#define PASTE(a, b) PASTE2(a, b)

#if defined(__GNUC__)
#define INLINE static inline __attribute__((always_inline))
#define NEVER_INLINE __attribute__((noinline))
#if defined(__clang__) || __GNUC__ >= 12
#define HAS_SHUFFLEVECTOR 1
#else
#define HAS_SHUFFLEVECTOR 0
#endif

// Places of the elements of two vectors a and b, by the number of lanes: the even ones and the odd ones of both, the
// lower and the upper halves interleaved, and those of one in the opposite order.
// clang-format off
#define EVEN_2 0, 2
#define ODD_2 1, 3
#define LOW_2 0, 2
#define HIGH_2 1, 3
#define BACK_2 1, 0
#define EVEN_4 0, 2, 4, 6
#define ODD_4 1, 3, 5, 7
#define LOW_4 0, 4, 1, 5
#define HIGH_4 2, 6, 3, 7
#define BACK_4 3, 2, 1, 0
#define EVEN_8 0, 2, 4, 6, 8, 10, 12, 14
#define ODD_8 1, 3, 5, 7, 9, 11, 13, 15
#define LOW_8 0, 8, 1, 9, 2, 10, 3, 11
#define HIGH_8 4, 12, 5, 13, 6, 14, 7, 15
#define BACK_8 7, 6, 5, 4, 3, 2, 1, 0
#define EVEN_16 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#define ODD_16 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31
#define LOW_16 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define HIGH_16 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#define BACK_16 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0

// A step of a transposition of complex numbers: exchanges those of a at places with this bit for those of b without it.
#define FIRST_1_4 0, 1, 4, 5
#define SECOND_1_4 2, 3, 6, 7
#define FIRST_1_8 0, 1, 8, 9, 4, 5, 12, 13
#define SECOND_1_8 2, 3, 10, 11, 6, 7, 14, 15
#define FIRST_2_8 0, 1, 2, 3, 8, 9, 10, 11
#define SECOND_2_8 4, 5, 6, 7, 12, 13, 14, 15
#define FIRST_1_16 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29
#define SECOND_1_16 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31
#define FIRST_2_16 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27
#define SECOND_2_16 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31
#define FIRST_4_16 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23
#define SECOND_4_16 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31
// clang-format on

#define TARGET
#define REAL float
#define LANES 1
#define NAME(x) PASTE(x, f32_0)
#include "run/fft_body.h"
#undef REAL
#undef LANES
#undef NAME
#define REAL double
#define LANES 1
#define NAME(x) PASTE(x, f64_0)
#include "run/fft_body.h"
#undef REAL
#undef LANES
#undef NAME
#define REAL float
#define LANES 4
#define NAME(x) PASTE(x, f32_16)
#include "run/fft_body.h"
#undef REAL
#undef LANES
#undef NAME
#define REAL double
#define LANES 2
#define NAME(x) PASTE(x, f64_16)
#include "run/fft_body.h"
#undef REAL
#undef LANES
#undef NAME
#undef TARGET

#if defined(__x86_64__)
#define TARGET __attribute__((target("avx2,fma")))
#define REAL float
#define LANES 8
#define NAME(x) PASTE(x, f32_32)
#include "run/fft_body.h"
#undef REAL
#undef LANES
#undef NAME
#define REAL double
#define LANES 4
#define NAME(x) PASTE(x, f64_32)
#include "run/fft_body.h"
#undef REAL
#undef LANES
#undef NAME
#undef TARGET

#define TARGET __attribute__((target("avx512f,avx512dq,avx2,fma")))
#define REAL float
#define LANES 16
#define NAME(x) PASTE(x, f32_64)
#include "run/fft_body.h"
#undef REAL
#undef LANES
#undef NAME
#define REAL double
#define LANES 8
#define NAME(x) PASTE(x, f64_64)
#include "run/fft_body.h"
#undef REAL
#undef LANES
#undef NAME
#undef TARGET
#endif

const indim_fft_kernels *indim_fft_kernels_for(bool is_f64, int32_t vector_bytes) {
#if defined(__x86_64__)
  if (vector_bytes == 64 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) {
    return is_f64 ? &kernels_f64_64 : &kernels_f32_64;
  }
  if (vector_bytes == 32 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return is_f64 ? &kernels_f64_32 : &kernels_f32_32;
  }
#endif
  if (vector_bytes == 16) {
    return is_f64 ? &kernels_f64_16 : &kernels_f32_16;
  }
  return vector_bytes != 0 ? NULL : is_f64 ? &kernels_f64_0 : &kernels_f32_0;
}

#else  // another compiler: scalars

#define INLINE static inline
#define NEVER_INLINE
#define TARGET
#define REAL float
#define LANES 1
#define NAME(x) PASTE(x, f32_0)
#include "run/fft_body.h"
#undef REAL
#undef LANES
#undef NAME
#define REAL double
#define LANES 1
#define NAME(x) PASTE(x, f64_0)
#include "run/fft_body.h"
#undef REAL
#undef LANES
#undef NAME

const indim_fft_kernels *indim_fft_kernels_for(bool is_f64, int32_t vector_bytes) {
  return vector_bytes != 0 ? NULL : is_f64 ? &kernels_f64_0 : &kernels_f32_0;
}

#endif
