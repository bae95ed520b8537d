// The built-in product of narrow elements: bytes and 16-bit integers whose products are summed in s32, by instructions that
// add two or four neighbouring products to a lane of 32 bits. The sums are modulo 2^32 and so exactly those of s32, whatever
// the order; none of the instructions saturates. bf16 is summed in f32 by the same body.
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/size.h"
#include "host/transpose_square.h"
#include "run/amx.h"
#include "run/matmul.h"

// How the elements of a side lie in memory.
enum { KIND_S8, KIND_U8, KIND_16 };

static inline int64_t kind_bytes(int kind) { return kind == KIND_16 ? 2 : 1; }

#if defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

enum {
  BLOCK_GROUPS = 128,  // depth of a block: at most 16 KiB of packed columns of the right side
  MOST_PANELS =
      32  // of columns that a shorter one has side by side, so that longer pieces of the result's rows are written
};

// Packing ---------------------------------------------------------------------------------------------------------------

// The |count| elements from |at| on, |stride| bytes apart, in a group of |steps|.
static inline __attribute__((always_inline)) uint32_t group_of(int kind, int steps, int64_t count, const char *at,
                                                               int64_t stride) {
  uint32_t group = 0;
#pragma GCC unroll 4
  for (int64_t s = 0; s < count; s++) {
    uint32_t element = 0;
    if (kind == KIND_16) {
      uint16_t bits;
      memcpy(&bits, at + s * stride, sizeof bits);
      element = bits;
    } else {
      uint8_t bits = (uint8_t)at[s * stride];
      element = steps == 4 || kind == KIND_U8 ? bits : (uint16_t)(int8_t)bits;
    }
    group |= element << (32 / steps * s);
  }
  return group;
}

// A side of a block: |width| rows or columns |next| apart, their elements |step| apart; one of the two is 1.
typedef struct panel {
  int64_t steps, width;
  const char *from;
  int64_t step, next;
  int64_t distance;  // group k of neighbour i is packed at [k * distance + i]
  uint32_t flip;     // bits of each group
} panel;

// Packs the rows of groups that lie in memory as they are packed, square by square; the last square of a column of squares ends
// with the neighbours. Returns how many groups of each are packed.
static inline __attribute__((always_inline)) int64_t pack_squares(int64_t size, int64_t count, const panel *p,
                                                                  uint32_t *packed) {
  enum { SIDE = 4 };
  int64_t whole = p->width < SIDE ? 0 : count / SIDE * SIDE;
  for (int64_t i = 0; i < p->width && whole > 0; i += SIDE) {
    int64_t at = i + SIDE <= p->width ? i : p->width - SIDE;
    for (int64_t k = 0; k < whole; k += SIDE) {
      transpose_words(p->from + at * p->next * size + k * 4, p->next * size, p->flip,
                      (char *)(packed + k * p->distance + at), p->distance * 4);
    }
  }
  return whole;
}

static inline __attribute__((always_inline)) void pack_kind(int kind, int steps, const panel *p,
                                                            uint32_t *restrict packed) {
  const int64_t size = kind_bytes(kind);
  const int64_t count = p->steps / steps;
  const int64_t rest = p->steps % steps;
  const uint32_t flip = p->flip;
  for (int64_t k = 0; k < count && p->next == 1; k++) {
    const char *row = p->from + k * steps * p->step * size;
    for (int64_t i = 0; i < p->width; i++) {
      packed[k * p->distance + i] = group_of(kind, steps, steps, row + i * size, p->step * size) ^ flip;
    }
  }
  int64_t squares = p->next != 1 && steps * size == 4 ? pack_squares(size, count, p, packed) : 0;
  for (int64_t i = 0; i < p->width && p->next != 1; i++) {
    const char *row = p->from + i * p->next * size;
    for (int64_t k = squares; k < count; k++) {
      uint32_t group = group_of(kind, steps, steps, row + k * steps * size, size) ^ flip;
      __asm__("" : "+r"(group));  // distant elements are not worth vectors
      packed[k * p->distance + i] = group;
    }
  }
  for (int64_t i = 0; i < p->width && rest > 0; i++) {
    const char *at = p->from + (i * p->next + count * steps * p->step) * size;
    uint32_t group = group_of(kind, steps, rest, at, p->step * size) ^ (flip >> (32 - 32 / steps * rest));
    __asm__("" : "+r"(group));
    packed[count * p->distance + i] = group;
  }
}

static inline __attribute__((always_inline)) void pack_any(int kind, int steps, const panel *p, uint32_t *packed) {
  if (steps == 4) {
    pack_kind(KIND_U8, 4, p, packed);
  } else if (kind == KIND_S8) {
    pack_kind(KIND_S8, 2, p, packed);
  } else if (kind == KIND_U8) {
    pack_kind(KIND_U8, 2, p, packed);
  } else {
    pack_kind(KIND_16, 2, p, packed);
  }
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void pack_avx2(int kind, int steps, const panel *p, uint32_t *packed) {
  pack_any(kind, steps, p, packed);
}
#endif

static void pack(int kind, int steps, const panel *p, int32_t *packed) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) {
    pack_avx2(kind, steps, p, (uint32_t *)packed);
    return;
  }
#endif
  pack_any(kind, steps, p, (uint32_t *)packed);
}

#include "run/gemm_narrow_tiles.h"

// Sums of integers --------------------------------------------------------------------------------------------------------

typedef void product_fn(int64_t m, int64_t n, int64_t k, int lhs_kind, const char *lhs, int64_t lhs_m, int64_t lhs_k,
                        int rhs_kind, const char *rhs, int64_t rhs_k, int64_t rhs_n, uint32_t *out, int64_t out_m,
                        bool accumulate);

#define SUM uint32_t
#if defined(__x86_64__)

#define NAME(x) x##_pairs_16
#define TARGET
#define VECTOR_BYTES 16
#define STEPS 2
#define RHS_IS_UNSIGNED 0
#define MULTIPLY_ADD(sum, x, y)                      \
  do {                                               \
    GROUPS both = x;                                 \
    __asm__("pmaddwd %1, %0" : "+x"(both) : "x"(y)); \
    (sum) += (VECTOR)both;                           \
  } while (0)
#include "run/gemm_narrow_body.h"

#define NAME(x) x##_pairs_32
#define TARGET __attribute__((target("avx2")))
#define VECTOR_BYTES 32
#define STEPS 2
#define RHS_IS_UNSIGNED 0
#define MULTIPLY_ADD(sum, x, y)                                   \
  do {                                                            \
    GROUPS both;                                                  \
    __asm__("vpmaddwd %1, %2, %0" : "=x"(both) : "x"(x), "x"(y)); \
    (sum) += (VECTOR)both;                                        \
  } while (0)
#include "run/gemm_narrow_body.h"

#define NAME(x) x##_pairs_64
#define TARGET __attribute__((target("avx512f,avx512bw")))
#define VECTOR_BYTES 64
#define STEPS 2
#define RHS_IS_UNSIGNED 0
#define MULTIPLY_ADD(sum, x, y)                                   \
  do {                                                            \
    GROUPS both;                                                  \
    __asm__("vpmaddwd %1, %2, %0" : "=v"(both) : "v"(x), "v"(y)); \
    (sum) += (VECTOR)both;                                        \
  } while (0)
#include "run/gemm_narrow_body.h"

#define NAME(x) x##_pairs_vnni_64
#define TARGET __attribute__((target("avx512f,avx512bw,avx512vnni")))
#define VECTOR_BYTES 64
#define STEPS 2
#define RHS_IS_UNSIGNED 0
#define MULTIPLY_ADD(sum, x, y) __asm__("vpdpwssd %1, %2, %0" : "+v"(sum) : "v"(x), "v"(y))
#include "run/gemm_narrow_body.h"

#define NAME(x) x##_bytes_vnni_64
#define TARGET __attribute__((target("avx512f,avx512bw,avx512vnni")))
#define VECTOR_BYTES 64
#define STEPS 4
#define RHS_IS_UNSIGNED 1
#define MULTIPLY_ADD(sum, x, y) __asm__("vpdpbusd %1, %2, %0" : "+v"(sum) : "v"(x), "v"(y))
#include "run/gemm_narrow_body.h"

#define NAME(x) x##_bytes_vnni_32
#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))
#define VECTOR_BYTES 32
#define STEPS 4
#define RHS_IS_UNSIGNED 1
#define MULTIPLY_ADD(sum, x, y) __asm__("vpdpbusd %1, %2, %0" : "+v"(sum) : "v"(x), "v"(y))
#include "run/gemm_narrow_body.h"

#if __GNUC__ >= 11 && !defined(__clang__)
#define HAS_AVX_VNNI 1
#define NAME(x) x##_bytes_avx_vnni_32
#define TARGET __attribute__((target("avx2,avxvnni")))
#define VECTOR_BYTES 32
#define STEPS 4
#define RHS_IS_UNSIGNED 1
#define MULTIPLY_ADD(sum, x, y) __asm__("%{vex%} vpdpbusd %1, %2, %0" : "+x"(sum) : "x"(x), "x"(y))
#include "run/gemm_narrow_body.h"
#endif

static product_fn *choose(int32_t vector_bytes, bool is_bytes) {
  bool has_512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
  bool has_vnni = has_512 && __builtin_cpu_supports("avx512vnni");
  if (vector_bytes >= 64 && has_vnni) {
    return is_bytes ? product_bytes_vnni_64 : product_pairs_vnni_64;
  }
  if (vector_bytes >= 64 && has_512) {
    return product_pairs_64;
  }
  if (vector_bytes >= 32 && is_bytes && has_vnni && __builtin_cpu_supports("avx512vl")) {
    return product_bytes_vnni_32;
  }
#ifdef HAS_AVX_VNNI
  if (vector_bytes >= 32 && is_bytes && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("avxvnni")) {
    return product_bytes_avx_vnni_32;
  }
#endif
  return vector_bytes >= 32 && __builtin_cpu_supports("avx2") ? product_pairs_32 : product_pairs_16;
}

#else  // other processors

#define NAME(x) x##_pairs_16
#define TARGET
#define VECTOR_BYTES 16
#define STEPS 2
#define RHS_IS_UNSIGNED 0
#define MULTIPLY_ADD(sum, x, y) ((sum) += (VECTOR)((x << 16 >> 16) * (y << 16 >> 16)) + (VECTOR)((x >> 16) * (y >> 16)))
#include "run/gemm_narrow_body.h"

#if defined(__ARM_FEATURE_DOTPROD)
#define NAME(x) x##_bytes_16
#define TARGET
#define VECTOR_BYTES 16
#define STEPS 4
#define RHS_IS_UNSIGNED 0
#define MULTIPLY_ADD(sum, x, y) __asm__("sdot %0.4s, %1.16b, %2.16b" : "+w"(sum) : "w"(x), "w"(y))
#include "run/gemm_narrow_body.h"
#endif

static product_fn *choose(int32_t vector_bytes, bool is_bytes) {
  (void)vector_bytes;
#if defined(__ARM_FEATURE_DOTPROD)
  return is_bytes ? product_bytes_16 : product_pairs_16;
#else
  (void)is_bytes;
  return product_pairs_16;
#endif
}

#endif
#undef SUM

// Sums of bf16 ----------------------------------------------------------------------------------------------------------
//
// Products of bf16 are exact in f32. vdpbf16ps takes numbers below the normal ones for zero and makes none, so that it is for
// numbers none of whose sums can become so small; the others are multiplied as f32.

#define SUM float
#define EACH_HALF(sum, x, y)                                      \
  do {                                                            \
    (sum) += (VECTOR)(x << 16) * (VECTOR)(y << 16);               \
    (sum) += (VECTOR)(x & -(1 << 16)) * (VECTOR)(y & -(1 << 16)); \
  } while (0)

#define NAME(x) x##_bf16_16
#define TARGET
#define VECTOR_BYTES 16
#define STEPS 2
#define RHS_IS_UNSIGNED 0
#define MULTIPLY_ADD EACH_HALF
#include "run/gemm_narrow_body.h"

#if defined(__x86_64__)
#define NAME(x) x##_bf16_32
#define TARGET __attribute__((target("avx2,fma")))
#define VECTOR_BYTES 32
#define STEPS 2
#define RHS_IS_UNSIGNED 0
#define MULTIPLY_ADD EACH_HALF
#include "run/gemm_narrow_body.h"

#define NAME(x) x##_bf16_64
#define TARGET __attribute__((target("avx512f,avx512bw,fma")))
#define VECTOR_BYTES 64
#define STEPS 2
#define RHS_IS_UNSIGNED 0
#define MULTIPLY_ADD EACH_HALF
#include "run/gemm_narrow_body.h"

#define NAME(x) x##_bf16_dot_64
#define TARGET __attribute__((target("avx512f,avx512bw,avx512bf16")))
#define VECTOR_BYTES 64
#define STEPS 2
#define RHS_IS_UNSIGNED 0
#define MULTIPLY_ADD(sum, x, y) __asm__("vdpbf16ps %1, %2, %0" : "+v"(sum) : "v"(x), "v"(y))
#include "run/gemm_narrow_body.h"

// The least and the largest exponent, biased by 127, of the numbers other than zero in |count| rows; 1 and 0 when all are zero.
typedef struct exponents {
  int32_t least, most;
} exponents;

__attribute__((target("avx512f,avx512bw"))) static exponents find_exponents(int64_t count, int64_t width,
                                                                            const char *from, int64_t stride) {
  typedef uint16_t halves __attribute__((vector_size(64)));
  enum { LANES = sizeof(halves) / sizeof(uint16_t) };
  halves least = (halves){0} + UINT16_MAX;  // without the sign, less 1: zero is the largest
  halves most = {0};
  for (int64_t i = 0; i < count; i++) {
    const char *row = from + i * stride * 2;
    for (int64_t j = 0; j < width; j += LANES) {
      halves bits = {0};
      if (width >= LANES) {  // the last vector ends with the row
        memcpy(&bits, row + 2 * (j + LANES <= width ? j : width - LANES), sizeof bits);
      } else {
        memcpy(&bits, row, (size_t)width * 2);
      }
      bits &= INT16_MAX;
      halves below = bits - 1;
      __asm__("vpminuw %1, %0, %0" : "+v"(least) : "v"(below));
      __asm__("vpmaxuw %1, %0, %0" : "+v"(most) : "v"(bits));
    }
  }
  int32_t first = UINT16_MAX;
  int32_t last = 0;
  for (int i = 0; i < LANES; i++) {
    first = least[i] < first ? least[i] : first;
    last = most[i] > last ? most[i] : last;
  }
  return (exponents){last == 0 ? 1 : (first + 1) >> 7, last >> 7};
}

// Whether no sum of products can be below the normal numbers, but for zero, or above the finite ones. A product is a multiple of
// 2^-14 of the power of two below it, and with it is every sum.
static bool is_in_range(exponents x, exponents y) {
  enum { BIAS = 127, BITS = 14, LEAST = -126, SUMS = 40 };
  return x.least > 0 && y.least > 0 && x.least + y.least - 2 * BIAS - BITS >= LEAST &&
         x.most + y.most + 2 - 2 * BIAS <= BIAS - SUMS;
}
#endif

static void product_bf16(int32_t vector_bytes, int64_t m, int64_t n, int64_t k, const char *lhs, int64_t lhs_m,
                         int64_t lhs_k, const char *rhs, int64_t rhs_k, int64_t rhs_n, float *out, int64_t out_m,
                         bool accumulate) {
#if defined(__x86_64__)
  if (vector_bytes >= 64 && __builtin_cpu_supports("avx512bw")) {
    bool is_dot = __builtin_cpu_supports("avx512bf16") &&
                  is_in_range(lhs_k == 1 ? find_exponents(m, k, lhs, lhs_m) : find_exponents(k, m, lhs, lhs_k),
                              rhs_n == 1 ? find_exponents(k, n, rhs, rhs_k) : find_exponents(n, k, rhs, rhs_n));
    if (is_dot && run_tiles(vector_bytes, m, n, k, KIND_16, lhs, lhs_m, lhs_k, KIND_16, rhs, rhs_k, rhs_n,
                            (uint32_t *)(void *)out, out_m, accumulate)) {
      return;
    }
    (is_dot ? product_bf16_dot_64 : product_bf16_64)(m, n, k, KIND_16, lhs, lhs_m, lhs_k, KIND_16, rhs, rhs_k, rhs_n,
                                                     out, out_m, accumulate);
    return;
  }
  if (vector_bytes >= 32 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    product_bf16_32(m, n, k, KIND_16, lhs, lhs_m, lhs_k, KIND_16, rhs, rhs_k, rhs_n, out, out_m, accumulate);
    return;
  }
#else
  (void)vector_bytes;
#endif
  product_bf16_16(m, n, k, KIND_16, lhs, lhs_m, lhs_k, KIND_16, rhs, rhs_k, rhs_n, out, out_m, accumulate);
}

static void product(int32_t vector_bytes, int64_t m, int64_t n, int64_t k, int lhs_kind, const char *lhs, int64_t lhs_m,
                    int64_t lhs_k, int rhs_kind, const char *rhs, int64_t rhs_k, int64_t rhs_n, uint32_t *out,
                    int64_t out_m, bool accumulate) {
  bool is_bytes = lhs_kind != KIND_16 && rhs_kind != KIND_16;
  if (is_bytes && run_tiles(vector_bytes, m, n, k, lhs_kind, lhs, lhs_m, lhs_k, rhs_kind, rhs, rhs_k, rhs_n, out, out_m,
                            accumulate)) {
    return;
  }
  product_fn *function = choose(vector_bytes, is_bytes);
  function(m, n, k, lhs_kind, lhs, lhs_m, lhs_k, rhs_kind, rhs, rhs_k, rhs_n, out, out_m, accumulate);
}

#else  // another compiler, or the other order of bytes: the plainest loops

static int32_t element(int kind, const char *from, int64_t i) {
  int16_t wide;
  memcpy(&wide, from + (kind == KIND_16 ? 2 * i : 0), kind == KIND_16 ? sizeof wide : 0);
  return kind == KIND_16 ? wide : kind == KIND_U8 ? (uint8_t)from[i] : (int8_t)from[i];
}

static void product(int32_t vector_bytes, int64_t m, int64_t n, int64_t k, int lhs_kind, const char *lhs, int64_t lhs_m,
                    int64_t lhs_k, int rhs_kind, const char *rhs, int64_t rhs_k, int64_t rhs_n, uint32_t *out,
                    int64_t out_m, bool accumulate) {
  (void)vector_bytes;
  for (int64_t i = 0; i < m; i++) {
    for (int64_t j = 0; j < n; j++) {
      uint32_t sum = accumulate ? out[i * out_m + j] : 0;
      for (int64_t l = 0; l < k; l++) {
        int32_t x = element(lhs_kind, lhs, i * lhs_m + l * lhs_k);
        sum += (uint32_t)x * (uint32_t)element(rhs_kind, rhs, l * rhs_k + j * rhs_n);
      }
      out[i * out_m + j] = sum;
    }
  }
}

static float float_of(const char *from, int64_t i) {
  uint16_t bits;
  float value;
  memcpy(&bits, from + 2 * i, sizeof bits);
  uint32_t wide = (uint32_t)bits << 16;
  memcpy(&value, &wide, sizeof value);
  return value;
}

static void product_bf16(int32_t vector_bytes, int64_t m, int64_t n, int64_t k, const char *lhs, int64_t lhs_m,
                         int64_t lhs_k, const char *rhs, int64_t rhs_k, int64_t rhs_n, float *out, int64_t out_m,
                         bool accumulate) {
  (void)vector_bytes;
  for (int64_t i = 0; i < m; i++) {
    for (int64_t j = 0; j < n; j++) {
      float sum = accumulate ? out[i * out_m + j] : 0;
      for (int64_t l = 0; l < k; l++) {
        sum += float_of(lhs, i * lhs_m + l * lhs_k) * float_of(rhs, l * rhs_k + j * rhs_n);
      }
      out[i * out_m + j] = sum;
    }
  }
}

#endif

static int kind_of(indim_type type) { return type == INDIM_S8 ? KIND_S8 : type == INDIM_U8 ? KIND_U8 : KIND_16; }

// An empty sum is zero, of either type.
static bool is_empty(int64_t m, int64_t n, int64_t k, void *out, int64_t out_m, bool accumulate) {
  for (int64_t i = 0; i < m && k == 0 && !accumulate; i++) {
    memset((char *)out + i * out_m * 4, 0, (size_t)n * 4);
  }
  return m == 0 || n == 0 || k == 0;
}

void indim_gemm_s32(int32_t vector_bytes, int64_t m, int64_t n, int64_t k, indim_type lhs_type, const void *lhs,
                    int64_t lhs_m, int64_t lhs_k, indim_type rhs_type, const void *rhs, int64_t rhs_k, int64_t rhs_n,
                    int32_t *out, int64_t out_m, bool accumulate) {
  if (!is_empty(m, n, k, out, out_m, accumulate)) {
    product(vector_bytes, m, n, k, kind_of(lhs_type), lhs, lhs_m, lhs_k, kind_of(rhs_type), rhs, rhs_k, rhs_n,
            (uint32_t *)out, out_m, accumulate);
  }
}

void indim_gemm_bf16(int32_t vector_bytes, int64_t m, int64_t n, int64_t k, const void *lhs, int64_t lhs_m,
                     int64_t lhs_k, const void *rhs, int64_t rhs_k, int64_t rhs_n, float *out, int64_t out_m,
                     bool accumulate) {
  if (!is_empty(m, n, k, out, out_m, accumulate)) {
    product_bf16(vector_bytes, m, n, k, lhs, lhs_m, lhs_k, rhs, rhs_k, rhs_n, out, out_m, accumulate);
  }
}
