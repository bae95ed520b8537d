// Floats with subnormal numbers. See subnormal.h.
#include "run/subnormal.h"

#include <math.h>
#include <string.h>

#include "run/aligned_memory.h"

enum { POWER_F32 = 64, POWER_BOTH_F32 = 48, POWER_F64 = 256, POWER_BOTH_F64 = 192 };

// Elements at a time that are treated alike, and bytes of a copy.
enum { CHUNK = 64, MOST_BYTES = 256 << 20 };

// Whether elements with such bits are subnormal, in as few operations as any processor has: without the sign and less 1, they are the
// smallest numbers.
typedef uint32_t bits_f32 __attribute__((vector_size(16)));
typedef uint64_t bits_f64 __attribute__((vector_size(16)));
#define IS_SMALL_f32(bits) (((bits_f32)bits << 1) - 1 < (1U << 24) - 1)
#define IS_SMALL_f64(bits) (((bits & INT64_C(0x7ff0000000000000)) == 0) & (bits << 1 != 0))

// The same for a first look, which takes the smallest normal number for a subnormal one, too: SSE2 compares no words of 64 bits.
#define MAY_BE_SMALL_f32(bits) IS_SMALL_f32(bits)
#define MAY_BE_SMALL_f64(bits) ((words_f64)((bits_f32)((((bits_f64)bits << 1) - 2) >> 53) == 0) & UINT32_MAX)

// All bits but the sign.
#define MAGNITUDE_f32 INT32_MAX
#define MAGNITUDE_f64 INT64_MAX

// Functions of |LANES| elements at a time and then of single ones. EXPONENT: the bits of an exponent; DIGITS: of the significand;
// LEAST: 2^-LEAST is the smallest subnormal number. An element is made of the bits of another without meeting it.
#define DEFINE_FUNCTIONS(type, REAL, WORD, EXPONENT, DIGITS, LEAST)                                                             \
  typedef REAL reals_##type __attribute__((vector_size(16)));                                                                   \
  typedef WORD words_##type __attribute__((vector_size(16)));                                                                   \
  enum { LANES_##type = sizeof(words_##type) / sizeof(WORD) };                                                                  \
                                                                                                                                \
  /* The bits of the last elements of a row, with zeros behind them. */                                                         \
  static inline words_##type load_##type(const REAL *from, int64_t count) {                                                     \
    words_##type bits = {0};                                                                                                    \
    if (count >= LANES_##type) {                                                                                                \
      memcpy(&bits, from, sizeof bits);                                                                                         \
    } else {                                                                                                                    \
      memcpy(&bits, from, (size_t)count * sizeof(REAL));                                                                        \
    }                                                                                                                           \
    return bits;                                                                                                                \
  }                                                                                                                             \
                                                                                                                                \
  static inline void store_##type(REAL *to, int64_t count, words_##type bits) {                                                 \
    if (count >= LANES_##type) {                                                                                                \
      memcpy(to, &bits, sizeof bits);                                                                                           \
    } else {                                                                                                                    \
      memcpy(to, &bits, (size_t)count * sizeof(REAL));                                                                          \
    }                                                                                                                           \
  }                                                                                                                             \
                                                                                                                                \
  static bool any_##type(words_##type masks) {                                                                                  \
    WORD any = 0;                                                                                                               \
    for (int i = 0; i < LANES_##type; i++) {                                                                                    \
      any |= masks[i];                                                                                                          \
    }                                                                                                                           \
    return any != 0;                                                                                                            \
  }                                                                                                                             \
                                                                                                                                \
  static bool has_subnormals_##type(const indim_rows *s, const REAL *from, int64_t sample) {                                    \
    words_##type found = {0};                                                                                                   \
    for (int64_t b = 0; b < s->batches; b++) {                                                                                  \
      for (int64_t i = b % sample; i < s->rows; i += sample) {                                                                  \
        const REAL *row = from + b * s->batch_stride + i * s->row_stride;                                                       \
        _Pragma("GCC unroll 4") for (int64_t j = 0; j + LANES_##type <= s->length; j += LANES_##type) {                         \
          words_##type bits = load_##type(row + j, LANES_##type);                                                               \
          found |= MAY_BE_SMALL_##type(bits);                                                                                   \
        }                                                                                                                       \
      }                                                                                                                         \
    }                                                                                                                           \
    return any_##type(found);                                                                                                   \
  }                                                                                                                             \
                                                                                                                                \
  /* 0 if some are subnormal or not finite. */                                                                                  \
  static double largest_##type(const indim_rows *s, const REAL *from) {                                                         \
    words_##type wrong = {0};                                                                                                   \
    words_##type most = {0}; /* magnitudes, in the order of their bits */                                                       \
    for (int64_t b = 0; b < s->batches; b++) {                                                                                  \
      for (int64_t i = 0; i < s->rows; i++) {                                                                                   \
        const REAL *row = from + b * s->batch_stride + i * s->row_stride;                                                       \
        for (int64_t j = 0; j < s->length; j += LANES_##type) {                                                                 \
          words_##type bits = load_##type(row + j, s->length - j);                                                              \
          wrong |= IS_SMALL_##type(bits) | ((bits & (EXPONENT)) == (EXPONENT));                                                 \
          bits &= MAGNITUDE_##type;                                                                                             \
          most = (bits & (bits > most)) | (most & (bits <= most));                                                              \
        }                                                                                                                       \
      }                                                                                                                         \
    }                                                                                                                           \
    REAL magnitudes[LANES_##type];                                                                                              \
    memcpy(magnitudes, &most, sizeof most);                                                                                     \
    REAL largest = 0;                                                                                                           \
    for (int i = 0; i < LANES_##type; i++) {                                                                                    \
      largest = magnitudes[i] > largest ? magnitudes[i] : largest;                                                              \
    }                                                                                                                           \
    return any_##type(wrong) ? 0 : (double)largest;                                                                             \
  }                                                                                                                             \
                                                                                                                                \
  static bool are_large_##type(const indim_rows *s, const REAL *from, double least) {                                           \
    const REAL limit = (REAL)least;                                                                                             \
    const WORD magnitude = MAGNITUDE_##type;                                                                                    \
    WORD limit_bits = 0;                                                                                                        \
    words_##type wrong = {0};                                                                                                   \
    memcpy(&limit_bits, &limit, sizeof limit);                                                                                  \
    for (int64_t i = 0; i < s->batches * s->rows; i++) {                                                                        \
      const REAL *row = from + i / s->rows * s->batch_stride + i % s->rows * s->row_stride;                                     \
      int64_t j = 0;                                                                                                            \
      for (; j + LANES_##type <= s->length; j += LANES_##type) {                                                                \
        words_##type bits = load_##type(row + j, LANES_##type) & magnitude;                                                     \
        wrong |= (bits < limit_bits) | (bits >= (EXPONENT));                                                                    \
      }                                                                                                                         \
      for (; j < s->length; j++) {                                                                                              \
        wrong[0] |= !(fabs((double)row[j]) >= least && fabs((double)row[j]) < (double)INFINITY);                                \
      }                                                                                                                         \
    }                                                                                                                           \
    return !any_##type(wrong);                                                                                                  \
  }                                                                                                                             \
                                                                                                                                \
  /* The significand of a subnormal number, as an integer, is that of a number of another exponent, less that. */               \
  static void scale_##type(const indim_rows *s, const REAL *from, int power, REAL *to) {                                        \
    const WORD digits = ((WORD)1 << (DIGITS)) - 1;                                                                              \
    const REAL whole = (REAL)ldexp(1, DIGITS);                                                                                  \
    const REAL factor = (REAL)ldexp(1, power);                                                                                  \
    const REAL unit = (REAL)ldexp(1, power - (LEAST));                                                                          \
    WORD whole_bits = 0;                                                                                                        \
    memcpy(&whole_bits, &whole, sizeof whole);                                                                                  \
    for (int64_t b = 0; b < s->batches; b++) {                                                                                  \
      for (int64_t i = 0; i < s->rows; i++, to += s->length) {                                                                  \
        const REAL *row = from + b * s->batch_stride + i * s->row_stride;                                                       \
        for (int64_t j = 0; j < s->length; j += CHUNK) {                                                                        \
          int64_t end = j + CHUNK < s->length ? j + CHUNK : s->length;                                                          \
          words_##type found = {0};                                                                                             \
          for (int64_t k = j; k < end; k += LANES_##type) {                                                                     \
            found |= IS_SMALL_##type(load_##type(row + k, end - k));                                                            \
          }                                                                                                                     \
          bool has_small = any_##type(found);                                                                                   \
          for (int64_t k = j; k < end; k += LANES_##type) {                                                                     \
            words_##type bits = load_##type(row + k, end - k);                                                                  \
            words_##type is_small = (bits & (EXPONENT)) == 0;                                                                   \
            words_##type scaled = (words_##type)((reals_##type)(bits & ~is_small) * factor);                                    \
            words_##type sign = bits & is_small & ~(digits | (EXPONENT));                                                       \
            if (has_small) {                                                                                                    \
              reals_##type small = ((reals_##type)((bits & digits) | whole_bits) - whole) * unit;                               \
              scaled |= (words_##type)small & is_small;                                                                         \
            }                                                                                                                   \
            store_##type(to + k, end - k, scaled | sign);                                                                       \
          }                                                                                                                     \
        }                                                                                                                       \
      }                                                                                                                         \
    }                                                                                                                           \
  }                                                                                                                             \
                                                                                                                                \
  /* Of the exponents, as long as the results are normal or 0; else by doubles, which takes no longer for a subnormal float. */ \
  static bool unscale_##type(const indim_rows *s, REAL *at, int power) {                                                        \
    const double factor = ldexp(1, -power);                                                                                     \
    const WORD less = (WORD)power << (DIGITS);                                                                                  \
    const WORD least = less + ((WORD)1 << (DIGITS));                                                                            \
    words_##type endless = {0};                                                                                                 \
    for (int64_t i = 0; i < s->batches * s->rows; i++) {                                                                        \
      REAL *row = at + i / s->rows * s->batch_stride + i % s->rows * s->row_stride;                                             \
      for (int64_t j = 0; j < s->length; j += CHUNK) {                                                                          \
        int64_t end = j + CHUNK < s->length ? j + CHUNK : s->length;                                                            \
        words_##type found = {0};                                                                                               \
        for (int64_t k = j; k < end; k += LANES_##type) {                                                                       \
          words_##type magnitude = load_##type(row + k, end - k) & MAGNITUDE_##type;                                            \
          found |= (magnitude < least) & (magnitude != 0);                                                                      \
          endless |= magnitude >= (EXPONENT);                                                                                   \
        }                                                                                                                       \
        bool has_small = any_##type(found);                                                                                     \
        for (int64_t k = j; k < end && has_small; k++) {                                                                        \
          row[k] = (REAL)((double)row[k] * factor);                                                                             \
        }                                                                                                                       \
        for (int64_t k = j; k < end && !has_small; k += LANES_##type) {                                                         \
          words_##type bits = load_##type(row + k, end - k);                                                                    \
          store_##type(row + k, end - k, bits - (less & ((bits & MAGNITUDE_##type) != 0)));                                     \
        }                                                                                                                       \
      }                                                                                                                         \
    }                                                                                                                           \
    return !any_##type(endless);                                                                                                \
  }
DEFINE_FUNCTIONS(f32, float, int32_t, INT32_C(0x7f800000), 23, 149)
DEFINE_FUNCTIONS(f64, double, int64_t, INT64_C(0x7ff0000000000000), 52, 1074)
#undef DEFINE_FUNCTIONS

int indim_subnormal_power(indim_type type, bool are_both) {
  return type == INDIM_F32 ? (are_both ? POWER_BOTH_F32 : POWER_F32) : (are_both ? POWER_BOTH_F64 : POWER_F64);
}

bool indim_has_subnormals(const indim_rows *of, const void *from, int64_t sample) {
  return of->type == INDIM_F32 ? has_subnormals_f32(of, from, sample) : has_subnormals_f64(of, from, sample);
}

double indim_largest_normal(const indim_rows *of, const void *from) {
  return of->type == INDIM_F32 ? largest_f32(of, from) : largest_f64(of, from);
}

bool indim_are_large(const indim_rows *of, const void *from, double least) {
  return of->type == INDIM_F32 ? are_large_f32(of, from, least) : are_large_f64(of, from, least);
}

void *indim_copy_scaled(const indim_rows *of, const void *from, int power) {
  double bytes = (double)of->batches * (double)of->rows * (double)of->length * indim_type_bytes(of->type);
  void *copy = bytes <= MOST_BYTES ? indim_aligned_alloc((int64_t)bytes) : NULL;
  if (copy != NULL && of->type == INDIM_F32) {
    scale_f32(of, from, power, copy);
  } else if (copy != NULL) {
    scale_f64(of, from, power, copy);
  }
  return copy;
}

bool indim_unscale(const indim_rows *of, void *at, int power) {
  return of->type == INDIM_F32 ? unscale_f32(of, at, power) : unscale_f64(of, at, power);
}
