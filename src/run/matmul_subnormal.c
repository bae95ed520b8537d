// Products with subnormal numbers. A multiplication that meets one takes many x86 processors some hundred cycles, and a matrix of
// weights that fall off (a blur, a kernel of distances) has one in every row: the product takes fifty times as long.
//
// Where one side has some, they are taken as zeros at first, which changes a sum by less than 2^-126 (2^-1022 of f64) for each of the
// other side's elements, times that. If all results turn out to be so large that they would be rounded by more, that was it.
//
// Else a side in which there are some is copied, times a power of two that makes them normal; the sums are the same, times that
// power, and are divided by it at the end. Nothing is rounded otherwise but what would be subnormal itself. A sum that becomes too
// large is infinite or NaN at the end, and the product is computed without powers then.
#include <math.h>
#include <string.h>

#include "host/matmul.h"
#include "run/aligned_memory.h"
#include "run/matmul.h"

#if defined(__x86_64__)

enum {
  SAMPLE = 16,      // every so manieth row of a matrix is looked at, of one that few others are multiplied with every
                    // second or fourth of these: two or three hundredths of a product's time
  LEAST_SIDE = 16,  // of a sum that is worth a look, and of the longer side of its results
  LEAST_OTHER = 2,  // of the shorter one
  MOST_BYTES = 256 << 20,  // of a copy
  // Powers of two that subnormal numbers are multiplied by: products with the other side's are normal then, as long as these are not
  // as small, too, and sums are not as large as the inverse.
  POWER_F32 = 64,
  POWER_BOTH_F32 = 48,
  POWER_F64 = 256,
  POWER_BOTH_F64 = 192
};

// One side: a batch of matrices of |rows| contiguous rows of |length| elements.
typedef struct side {
  const char *from;
  int64_t rows, length, row, batch;  // strides in elements
  int64_t sample;                    // every so manieth row is looked at
  bool is_scaled;
} side;

static side side_of(const indim_host_matmul *s, bool is_left, const void *from) {
  int64_t free_stride = is_left ? s->lhs_m : s->rhs_n;
  int64_t sum_stride = is_left ? s->lhs_k : s->rhs_k;
  int64_t free_size = is_left ? s->m : s->n;
  int64_t uses = is_left ? s->n : s->m;  // of each element
  bool along_sum = sum_stride == 1;
  return (side){.from = from,
                .rows = along_sum ? free_size : s->k,
                .length = along_sum ? s->k : free_size,
                .row = along_sum ? free_stride : sum_stride,
                .sample = uses >= LEAST_SIDE ? SAMPLE : SAMPLE * (LEAST_SIDE / uses),
                .batch = is_left ? s->lhs_batch : s->rhs_batch};
}

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
#define DEFINE_FUNCTIONS(type, REAL, WORD, EXPONENT, DIGITS, LEAST)                                               \
  typedef REAL reals_##type __attribute__((vector_size(16)));                                                     \
  typedef WORD words_##type __attribute__((vector_size(16)));                                                     \
  enum { LANES_##type = sizeof(words_##type) / sizeof(WORD) };                                                    \
                                                                                                                  \
  /* The bits of the last elements of a row, with zeros behind them. */                                           \
  static inline words_##type load_##type(const REAL *from, int64_t count) {                                       \
    words_##type bits = {0};                                                                                      \
    if (count >= LANES_##type) {                                                                                  \
      memcpy(&bits, from, sizeof bits);                                                                           \
    } else {                                                                                                      \
      memcpy(&bits, from, (size_t)count * sizeof(REAL));                                                          \
    }                                                                                                             \
    return bits;                                                                                                  \
  }                                                                                                               \
                                                                                                                  \
  static inline void store_##type(REAL *to, int64_t count, words_##type bits) {                                   \
    if (count >= LANES_##type) {                                                                                  \
      memcpy(to, &bits, sizeof bits);                                                                             \
    } else {                                                                                                      \
      memcpy(to, &bits, (size_t)count * sizeof(REAL));                                                            \
    }                                                                                                             \
  }                                                                                                               \
                                                                                                                  \
  static bool any_##type(words_##type masks) {                                                                    \
    WORD any = 0;                                                                                                 \
    for (int i = 0; i < LANES_##type; i++) {                                                                      \
      any |= masks[i];                                                                                            \
    }                                                                                                             \
    return any != 0;                                                                                              \
  }                                                                                                               \
                                                                                                                  \
  static bool has_subnormals_##type(const side *s, int64_t batch) {                                               \
    words_##type found = {0};                                                                                     \
    for (int64_t b = 0; b < batch; b++) {                                                                         \
      for (int64_t i = b % s->sample; i < s->rows; i += s->sample) {                                              \
        const REAL *row = (const REAL *)s->from + b * s->batch + i * s->row;                                      \
        _Pragma("GCC unroll 4") for (int64_t j = 0; j + LANES_##type <= s->length; j += LANES_##type) {           \
          words_##type bits = load_##type(row + j, LANES_##type);                                                 \
          found |= MAY_BE_SMALL_##type(bits);                                                                     \
        }                                                                                                         \
      }                                                                                                           \
    }                                                                                                             \
    return any_##type(found);                                                                                     \
  }                                                                                                               \
                                                                                                                  \
  /* 0 if some are subnormal or not finite. */                                                                    \
  static double largest_of_##type(const side *s, int64_t batch) {                                                 \
    words_##type wrong = {0};                                                                                     \
    words_##type most = {0}; /* magnitudes, in the order of their bits */                                         \
    for (int64_t b = 0; b < batch; b++) {                                                                         \
      for (int64_t i = 0; i < s->rows; i++) {                                                                     \
        const REAL *row = (const REAL *)s->from + b * s->batch + i * s->row;                                      \
        for (int64_t j = 0; j < s->length; j += LANES_##type) {                                                   \
          words_##type bits = load_##type(row + j, s->length - j);                                                \
          wrong |= IS_SMALL_##type(bits) | ((bits & (EXPONENT)) == (EXPONENT));                                   \
          bits &= MAGNITUDE_##type;                                                                               \
          most = (bits & (bits > most)) | (most & (bits <= most));                                                \
        }                                                                                                         \
      }                                                                                                           \
    }                                                                                                             \
    REAL magnitudes[LANES_##type];                                                                                \
    memcpy(magnitudes, &most, sizeof most);                                                                       \
    REAL largest = 0;                                                                                             \
    for (int i = 0; i < LANES_##type; i++) {                                                                      \
      largest = magnitudes[i] > largest ? magnitudes[i] : largest;                                                \
    }                                                                                                             \
    return any_##type(wrong) ? 0 : (double)largest;                                                               \
  }                                                                                                               \
                                                                                                                  \
  static bool are_large_##type(const indim_host_matmul *s, const void *out, double least) {                       \
    const REAL limit = (REAL)least;                                                                               \
    const WORD magnitude = MAGNITUDE_##type;                                                                      \
    WORD limit_bits = 0;                                                                                          \
    words_##type wrong = {0};                                                                                     \
    memcpy(&limit_bits, &limit, sizeof limit);                                                                    \
    for (int64_t i = 0; i < s->batch * s->m; i++) {                                                               \
      const REAL *row = (const REAL *)out + i / s->m * s->out_batch + i % s->m * s->out_m;                        \
      int64_t j = 0;                                                                                              \
      for (; j + LANES_##type <= s->n; j += LANES_##type) {                                                       \
        words_##type bits = load_##type(row + j, LANES_##type) & magnitude;                                       \
        wrong |= (bits < limit_bits) | (bits >= (EXPONENT));                                                      \
      }                                                                                                           \
      for (; j < s->n; j++) {                                                                                     \
        wrong[0] |= !(fabs((double)row[j]) >= least && fabs((double)row[j]) < (double)INFINITY);                  \
      }                                                                                                           \
    }                                                                                                             \
    return !any_##type(wrong);                                                                                    \
  }                                                                                                               \
                                                                                                                  \
  /* The significand of a subnormal number, as an integer, is that of a number of another exponent, less that. */ \
  static void scale_##type(const side *s, int64_t batch, int power, void *copy) {                                 \
    const WORD digits = ((WORD)1 << (DIGITS)) - 1;                                                                \
    const REAL whole = (REAL)ldexp(1, DIGITS);                                                                    \
    const REAL factor = (REAL)ldexp(1, power);                                                                    \
    const REAL unit = (REAL)ldexp(1, power - (LEAST));                                                            \
    WORD whole_bits = 0;                                                                                          \
    memcpy(&whole_bits, &whole, sizeof whole);                                                                    \
    REAL *to = copy;                                                                                              \
    for (int64_t b = 0; b < batch; b++) {                                                                         \
      for (int64_t i = 0; i < s->rows; i++, to += s->length) {                                                    \
        const REAL *row = (const REAL *)s->from + b * s->batch + i * s->row;                                      \
        for (int64_t j = 0; j < s->length; j += LANES_##type) {                                                   \
          words_##type bits = load_##type(row + j, s->length - j);                                                \
          words_##type is_small = (bits & (EXPONENT)) == 0;                                                       \
          words_##type sign = bits & ~(digits | (EXPONENT));                                                      \
          reals_##type small = (reals_##type)((bits & digits) | whole_bits) - whole;                              \
          small *= unit;                                                                                          \
          reals_##type large = (reals_##type)(bits & ~is_small) * factor;                                         \
          words_##type scaled = ((words_##type)small & is_small) | ((words_##type)large & ~is_small) | sign;      \
          store_##type(to + j, s->length - j, scaled);                                                            \
        }                                                                                                         \
      }                                                                                                           \
    }                                                                                                             \
  }                                                                                                               \
                                                                                                                  \
  static bool unscale_##type(const indim_host_matmul *s, int power, void *out) {                                  \
    const REAL factor = (REAL)ldexp(1, -power);                                                                   \
    words_##type endless = {0};                                                                                   \
    for (int64_t i = 0; i < s->batch * s->m; i++) {                                                               \
      REAL *row = (REAL *)out + i / s->m * s->out_batch + i % s->m * s->out_m;                                    \
      for (int64_t j = 0; j < s->n; j += LANES_##type) {                                                          \
        words_##type bits = load_##type(row + j, s->n - j);                                                       \
        endless |= (bits & (EXPONENT)) == (EXPONENT);                                                             \
        store_##type(row + j, s->n - j, (words_##type)((reals_##type)bits * factor));                             \
      }                                                                                                           \
    }                                                                                                             \
    return !any_##type(endless);                                                                                  \
  }
DEFINE_FUNCTIONS(f32, float, int32_t, INT32_C(0x7f800000), 23, 149)
DEFINE_FUNCTIONS(f64, double, int64_t, INT64_C(0x7ff0000000000000), 52, 1074)
#undef DEFINE_FUNCTIONS

static bool has_subnormals(const indim_host_matmul *s, const side *of) {
  return s->type == INDIM_F32 ? has_subnormals_f32(of, s->batch) : has_subnormals_f64(of, s->batch);
}

// A copy of the side times the power; |*s| says how it lies. NULL: there is no memory for it.
static void *copy_scaled(indim_host_matmul *s, bool is_left, const side *from, int power) {
  int64_t elements = s->batch * from->rows * from->length;
  int64_t bytes = elements * indim_type_bytes((indim_type)s->type);
  void *copy = indim_aligned_alloc(bytes);
  if (copy == NULL) {
    return NULL;
  }
  if (s->type == INDIM_F32) {
    scale_f32(from, s->batch, power, copy);
  } else {
    scale_f64(from, s->batch, power, copy);
  }
  bool along_sum = (is_left ? s->lhs_k : s->rhs_k) == 1;
  *(is_left ? &s->lhs_batch : &s->rhs_batch) = from->rows * from->length;
  *(is_left ? &s->lhs_m : &s->rhs_n) = along_sum ? from->length : 1;
  *(is_left ? &s->lhs_k : &s->rhs_k) = along_sum ? 1 : from->length;
  return copy;
}

static double elements_of(const indim_host_matmul *s, const side *of) {
  return (double)s->batch * (double)of->rows * (double)of->length;
}

static bool is_small_enough(const indim_host_matmul *s, const side *of) {
  return elements_of(s, of) * indim_type_bytes((indim_type)s->type) <= MOST_BYTES;
}

// The largest magnitude of a side's numbers; 0 if some are subnormal or not finite.
static double largest_of(const indim_host_matmul *s, const side *of) {
  return s->type == INDIM_F32 ? largest_of_f32(of, s->batch) : largest_of_f64(of, s->batch);
}

bool indim_matmul_meets_subnormals(const indim_host_matmul *s, const void *lhs, const void *rhs,
                                   indim_matmul_subnormals *out) {
  *out = (indim_matmul_subnormals){.in_lhs = false};
  bool is_float = (s->type == INDIM_F32 || s->type == INDIM_F64) && indim_matmul_lhs_type(s) == s->type;
  if (!is_float || s->accumulate != 0 || s->k < LEAST_SIDE || (s->m < LEAST_SIDE && s->n < LEAST_SIDE) ||
      s->m < LEAST_OTHER || s->n < LEAST_OTHER) {
    return false;
  }
  side left = side_of(s, true, lhs);
  side right = side_of(s, false, rhs);
  out->in_lhs = has_subnormals(s, &left);
  out->in_rhs = s->is_symmetric != 0 ? out->in_lhs : has_subnormals(s, &right);
  const side *other = out->in_lhs ? &right : &left;
  if (out->in_lhs != out->in_rhs && elements_of(s, other) <= elements_of(s, out->in_lhs ? &left : &right)) {
    double step =
        s->type == INDIM_F32 ? 0x1p-126 * 0x1p26 : 0x1p-1022 * 0x1p55;  // so that it is a quarter of a rounding
    double largest = largest_of(s, other);
    out->least = largest > 0 ? step * (double)s->k * (largest + 1) : 0;
  }
  return out->in_lhs || out->in_rhs;
}

bool indim_matmul_stands_flushing(const indim_host_matmul *s, const indim_matmul_subnormals *found, const void *out) {
  return s->type == INDIM_F32 ? are_large_f32(s, out, found->least) : are_large_f64(s, out, found->least);
}

bool indim_matmul_scale(indim_matmul_scaled *scaled, const indim_host_matmul *sizes,
                        const indim_matmul_subnormals *found, const void *lhs, const void *rhs) {
  const indim_host_matmul *s = sizes;
  *scaled = (indim_matmul_scaled){.sizes = *s, .lhs = lhs, .rhs = rhs};
  side left = side_of(s, true, lhs);
  side right = side_of(s, false, rhs);
  bool is_same = s->is_symmetric != 0;
  left.is_scaled = found->in_lhs;
  right.is_scaled = found->in_rhs;
  if ((!left.is_scaled && !right.is_scaled) || !is_small_enough(s, &left) || !is_small_enough(s, &right)) {
    return false;
  }
  bool are_both = left.is_scaled && right.is_scaled;
  int power = s->type == INDIM_F32 ? (are_both ? POWER_BOTH_F32 : POWER_F32) : (are_both ? POWER_BOTH_F64 : POWER_F64);
  void *copies[2] = {NULL, NULL};
  bool has_memory = true;
  if (left.is_scaled) {
    copies[0] = copy_scaled(&scaled->sizes, true, &left, power);
    has_memory = copies[0] != NULL;
  }
  if (right.is_scaled && is_same) {
    scaled->sizes.rhs_batch = scaled->sizes.lhs_batch;
    scaled->sizes.rhs_k = scaled->sizes.lhs_k;
    scaled->sizes.rhs_n = scaled->sizes.lhs_m;
  } else if (right.is_scaled && has_memory) {
    copies[1] = copy_scaled(&scaled->sizes, false, &right, power);
    has_memory = copies[1] != NULL;
  }
  memcpy(scaled->copies, copies, sizeof copies);
  if (!has_memory) {
    indim_matmul_scaled_free(scaled);
    *scaled = (indim_matmul_scaled){.sizes = *s, .lhs = lhs, .rhs = rhs};
    return false;
  }
  scaled->power = are_both ? 2 * power : power;
  scaled->lhs = left.is_scaled ? copies[0] : lhs;
  scaled->rhs = !right.is_scaled ? rhs : is_same ? copies[0] : copies[1];
  return true;
}

bool indim_matmul_unscale(const indim_matmul_scaled *scaled, void *out) {
  return scaled->sizes.type == INDIM_F32 ? unscale_f32(&scaled->sizes, scaled->power, out)
                                         : unscale_f64(&scaled->sizes, scaled->power, out);
}

#else

bool indim_matmul_meets_subnormals(const indim_host_matmul *sizes, const void *lhs, const void *rhs,
                                   indim_matmul_subnormals *out) {
  (void)sizes, (void)lhs, (void)rhs;
  *out = (indim_matmul_subnormals){.in_lhs = false};
  return false;
}

bool indim_matmul_stands_flushing(const indim_host_matmul *sizes, const indim_matmul_subnormals *found,
                                  const void *out) {
  (void)sizes, (void)found, (void)out;
  return false;
}

bool indim_matmul_scale(indim_matmul_scaled *scaled, const indim_host_matmul *sizes,
                        const indim_matmul_subnormals *found, const void *lhs, const void *rhs) {
  (void)found;
  *scaled = (indim_matmul_scaled){.sizes = *sizes, .lhs = lhs, .rhs = rhs};
  return false;
}

bool indim_matmul_unscale(const indim_matmul_scaled *scaled, void *out) {
  (void)scaled;
  (void)out;
  return true;
}

#endif

void indim_matmul_scaled_free(indim_matmul_scaled *scaled) {
  indim_aligned_free(scaled->copies[0]);
  indim_aligned_free(scaled->copies[1]);
}
