// Products of tiles. There are eight: four of sums, two of each side, so that each tile that is loaded is used twice.
#if defined(__linux__)
#define _GNU_SOURCE  // syscall
#endif

#include "run/amx.h"

#if defined(__x86_64__) && defined(__linux__) && \
    ((defined(__clang__) && __clang_major__ >= 12) || (!defined(__clang__) && __GNUC__ >= 11))

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

// The system gives the registers to a process that asks for them (Linux 5.16).
static bool ask(void) {
  enum {
    ARCH_REQ_XCOMP_PERM = 0x1023,
    XTILEDATA = 18,
    BF16 = 1 << 22,
    TILE = 1 << 24,
    INT8 = 1 << 25,
    ALL = BF16 | TILE | INT8
  };
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & ALL) == ALL &&
         syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XTILEDATA) == 0;
}

bool indim_amx_has(void) {
  static int known;  // 1: no, 2: yes; threads that ask at the same time get the same answer
  int answer = __atomic_load_n(&known, __ATOMIC_ACQUIRE);
  if (answer == 0) {
    answer = ask() ? 2 : 1;
    __atomic_store_n(&known, answer, __ATOMIC_RELEASE);
  }
  return answer == 2;
}

void indim_amx_begin(void) {
  static const struct {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
  } all = {.palette = 1, .row_bytes = {64, 64, 64, 64, 64, 64, 64, 64}, .rows = {16, 16, 16, 16, 16, 16, 16, 16}};
  __asm__ volatile("ldtilecfg %0" : : "m"(all));
}

void indim_amx_end(void) { __asm__ volatile("tilerelease" : : : "memory"); }

#define LOAD(tile, from, stride) \
  __asm__ volatile("tileloadd (%0,%1,1), %%tmm" #tile : : "r"(from), "r"(stride) : "memory")
#define STORE(tile, to, stride) \
  __asm__ volatile("tilestored %%tmm" #tile ", (%0,%1,1)" : : "r"(to), "r"(stride) : "memory")
#define ZERO(tile) __asm__ volatile("tilezero %%tmm" #tile : :)
#define DOT(name, sum, left, right) __asm__ volatile(name " %%tmm" #right ", %%tmm" #left ", %%tmm" #sum : :)
// The sums in tile |sum| of the tiles |left| and |right|.
#define MULTIPLY(sum, left, right)        \
  do {                                    \
    if (kind == INDIM_AMX_BF16) {         \
      DOT("tdpbf16ps", sum, left, right); \
    } else if (kind == INDIM_AMX_S8_S8) { \
      DOT("tdpbssd", sum, left, right);   \
    } else if (kind == INDIM_AMX_S8_U8) { \
      DOT("tdpbsud", sum, left, right);   \
    } else if (kind == INDIM_AMX_U8_S8) { \
      DOT("tdpbusd", sum, left, right);   \
    } else {                              \
      DOT("tdpbuud", sum, left, right);   \
    }                                     \
  } while (0)
#define BEGIN(tile, at)          \
  do {                           \
    if (accumulate) {            \
      LOAD(tile, at, out_bytes); \
    } else {                     \
      ZERO(tile);                \
    }                            \
  } while (0)

// The kind and the counts are constants where this is inlined.
static inline __attribute__((always_inline)) void multiply(const indim_amx_kind kind, const bool is_tall,
                                                           const bool is_wide, int64_t count,
                                                           const indim_amx_left *left, const void *const *right,
                                                           char *out, int64_t out_bytes, bool accumulate) {
  const char *a0 = left[0].at;
  const char *a1 = is_tall ? left[1].at : NULL;
  const char *b0 = right[0];
  const char *b1 = is_wide ? right[1] : NULL;
  char *lower = out + INDIM_AMX_ROWS * out_bytes;
  BEGIN(0, out);
  if (is_wide) {
    BEGIN(1, out + INDIM_AMX_ROW_BYTES);
  }
  if (is_tall) {
    BEGIN(2, lower);
  }
  if (is_tall && is_wide) {
    BEGIN(3, lower + INDIM_AMX_ROW_BYTES);
  }
  for (int64_t i = 0; i < count; i++) {
    LOAD(4, a0, left[0].row_bytes);
    LOAD(6, b0, (int64_t)INDIM_AMX_ROW_BYTES);
    MULTIPLY(0, 4, 6);
    if (is_wide) {
      LOAD(7, b1, (int64_t)INDIM_AMX_ROW_BYTES);
      MULTIPLY(1, 4, 7);
      b1 += INDIM_AMX_TILE_BYTES;
    }
    if (is_tall) {
      LOAD(5, a1, left[1].row_bytes);
      MULTIPLY(2, 5, 6);
      a1 += left[1].tile_bytes;
    }
    if (is_tall && is_wide) {
      MULTIPLY(3, 5, 7);
    }
    a0 += left[0].tile_bytes;
    b0 += INDIM_AMX_TILE_BYTES;
  }
  STORE(0, out, out_bytes);
  if (is_wide) {
    STORE(1, out + INDIM_AMX_ROW_BYTES, out_bytes);
  }
  if (is_tall) {
    STORE(2, lower, out_bytes);
  }
  if (is_tall && is_wide) {
    STORE(3, lower + INDIM_AMX_ROW_BYTES, out_bytes);
  }
}

static inline __attribute__((always_inline)) void multiply_kind(const indim_amx_kind kind, int64_t count,
                                                                const indim_amx_left *left, int32_t left_count,
                                                                const void *const *right, int32_t right_count,
                                                                void *out, int64_t out_bytes, bool accumulate) {
  if (left_count > 1 && right_count > 1) {
    multiply(kind, true, true, count, left, right, out, out_bytes, accumulate);
  } else if (left_count > 1) {
    multiply(kind, true, false, count, left, right, out, out_bytes, accumulate);
  } else if (right_count > 1) {
    multiply(kind, false, true, count, left, right, out, out_bytes, accumulate);
  } else {
    multiply(kind, false, false, count, left, right, out, out_bytes, accumulate);
  }
}

void indim_amx_multiply(indim_amx_kind kind, int64_t count, const indim_amx_left *left, int32_t left_count,
                        const void *const *right, int32_t right_count, void *out, int64_t out_bytes, bool accumulate) {
#define CASE(value)                                                                                \
  case value:                                                                                      \
    multiply_kind(value, count, left, left_count, right, right_count, out, out_bytes, accumulate); \
    break;
  switch (kind) {
    CASE(INDIM_AMX_BF16)
    CASE(INDIM_AMX_S8_S8)
    CASE(INDIM_AMX_S8_U8)
    CASE(INDIM_AMX_U8_S8)
    CASE(INDIM_AMX_U8_U8)
  }
#undef CASE
}

#else

bool indim_amx_has(void) { return false; }

void indim_amx_begin(void) {}

void indim_amx_end(void) {}

void indim_amx_multiply(indim_amx_kind kind, int64_t count, const indim_amx_left *left, int32_t left_count,
                        const void *const *right, int32_t right_count, void *out, int64_t out_bytes, bool accumulate) {
  (void)kind;
  (void)count;
  (void)left;
  (void)left_count;
  (void)right;
  (void)right_count;
  (void)out;
  (void)out_bytes;
  (void)accumulate;
}

#endif
