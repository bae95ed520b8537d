// An operation that meets a subnormal number takes many x86 processors some hundred cycles. A matrix whose elements fall off, as a
// kernel of distances, has products of small elements everywhere: its factors take six times as long. Taken as zeros, such numbers
// change a product by less than 2^-126 times the other factor (2^-1022 of f64), while a factorization rounds a row by 2^-24 of its
// largest element: where all rows and columns have one that is large enough, and none is too large, nothing is lost that the
// factors could tell.
#include "linalg/subnormal.h"

#include <math.h>

#include "linalg/lapack_call.h"

enum {
  SAMPLE = 16,  // every so manieth line is looked at first: a hundredth of the time of the factors
  BLOCK = 16,   // numbers of a line that are looked at together, in vectors
  WIDTH = 64    // columns whose largest elements are looked for together
};

// Numbers smaller than |tiny| have subnormal products; a line is large enough whose largest element is at least |least|, and no number
// may be larger than |most|.
typedef struct limits {
  double tiny, least, most;
} limits;

static const limits limits_f32 = {0x1p-63, 0x1p-60, 0x1p40}, limits_f64 = {0x1p-511, 0x1p-500, 0x1p400};

// A matrix in memory: so many lines of real numbers, one behind the other.
typedef struct lines {
  const void *at;
  int64_t count, length;
  int64_t parts;  // real numbers of an element
  bool is_f32;
  const limits *limits;
} lines;

static lines lines_of(const indim_linalg_array *a, const void *matrix) {
  int64_t parts = indim_type_is_complex(a->type) ? 2 : 1;
  bool is_f32 = indim_lapack_part(a->type) == INDIM_F32;
  return (lines){.at = matrix,
                 .count = a->sizes[a->by_columns ? 1 : 0],
                 .length = a->sizes[a->by_columns ? 0 : 1] * parts,
                 .parts = parts,
                 .is_f32 = is_f32,
                 .limits = is_f32 ? &limits_f32 : &limits_f64};
}

// has: whether one of the numbers is between two, of both signs. raise: makes each of |most| at least as large as the magnitude of the
// number in its place.
#define DEFINE_SCANS(NAME, REAL, ABS)                                               \
  static bool has_##NAME(const REAL *numbers, int64_t count, REAL low, REAL high) { \
    int32_t found[BLOCK] = {0};                                                     \
    bool has = false;                                                               \
    int64_t i = 0;                                                                  \
    for (; i + BLOCK <= count; i += BLOCK) {                                        \
      for (int k = 0; k < BLOCK; k++) {                                             \
        REAL x = ABS(numbers[i + k]);                                               \
        found[k] |= (x < high) & (x > low);                                         \
      }                                                                             \
    }                                                                               \
    for (; i < count; i++) {                                                        \
      found[0] |= (ABS(numbers[i]) < high) & (ABS(numbers[i]) > low);               \
    }                                                                               \
    for (int k = 0; k < BLOCK; k++) {                                               \
      has = has || found[k] != 0;                                                   \
    }                                                                               \
    return has;                                                                     \
  }                                                                                 \
  static void raise_##NAME(const REAL *numbers, int64_t count, double *most) {      \
    for (int64_t i = 0; i < count; i++) {                                           \
      double x = (double)ABS(numbers[i]);                                           \
      most[i] = x > most[i] ? x : most[i];                                          \
    }                                                                               \
  }

DEFINE_SCANS(f32, float, fabsf)
DEFINE_SCANS(f64, double, fabs)

// The same of |count| numbers from number |from| on of the matrix.
static bool has_between(const lines *m, int64_t from, int64_t count, double low, double high) {
  return m->is_f32 ? has_f32((const float *)m->at + from, count, (float)low, (float)high)
                   : has_f64((const double *)m->at + from, count, low, high);
}

static void raise_most(const lines *m, int64_t from, int64_t count, double *most) {
  if (m->is_f32) {
    raise_f32((const float *)m->at + from, count, most);
  } else {
    raise_f64((const double *)m->at + from, count, most);
  }
}

static bool has_tiny(const lines *m) {
  bool has = false;
  for (int64_t i = m->count > SAMPLE / 2 ? SAMPLE / 2 : m->count / 2; i < m->count && !has; i += SAMPLE) {
    has = has_between(m, i * m->length, m->length, 0, m->limits->tiny);
  }
  return has;
}

static bool has_huge(const lines *m) {
  return has_between(m, 0, m->count * m->length, m->limits->most, (double)INFINITY);
}

static double largest(int64_t count, const double *numbers) {
  double most = 0;
  for (int64_t i = 0; i < count; i++) {
    most = numbers[i] > most ? numbers[i] : most;
  }
  return most;
}

static bool is_large(const lines *m, double largest_number, bool zero_is) {
  return largest_number >= m->limits->least || (zero_is && largest_number == 0);
}

// Whether the diagonal has large elements: all of them, or one.
static bool has_large_diagonal(const lines *m, bool all) {
  bool each = true, any = false;
  for (int64_t i = 0; i < m->count; i++) {
    double parts[2] = {0};
    raise_most(m, i * (m->length + m->parts), m->parts, parts);
    bool is = is_large(m, largest(m->parts, parts), false);
    each = each && is;
    any = any || is;
  }
  return all ? each : any;
}

// Whether a square's diagonal has, so that all rows and columns do.
static bool is_square_with_large_diagonal(const lines *m) {
  return m->count * m->parts == m->length && has_large_diagonal(m, true);
}

// Whether each line has a large element, or |zero_is|, none but zeros.
static bool has_large_lines(const lines *m, bool zero_is) {
  bool all = true;
  for (int64_t i = 0; i < m->count && all; i++) {
    double most[WIDTH] = {0};
    for (int64_t from = 0; from < m->length; from += WIDTH) {
      raise_most(m, i * m->length + from, m->length - from < WIDTH ? m->length - from : WIDTH, most);
    }
    all = is_large(m, largest(WIDTH, most), zero_is);
  }
  return all;
}

// The same of the places in the lines.
static bool has_large_places(const lines *m, bool zero_is) {
  bool all = true;
  for (int64_t from = 0; from < m->length && all; from += WIDTH) {
    int64_t count = m->length - from < WIDTH ? m->length - from : WIDTH;
    double most[WIDTH] = {0};
    for (int64_t i = 0; i < m->count; i++) {
      raise_most(m, i * m->length + from, count, most);
    }
    for (int64_t k = 0; k < count; k += m->parts) {
      all = all && is_large(m, largest(m->parts, most + k), zero_is);
    }
  }
  return all;
}

bool indim_linalg_may_flush(const indim_linalg_call *call, const void *const *operands) {
  lines x = lines_of(&call->operands[0], operands[0]);
  bool has = has_tiny(&x);
  if (!has && call->target->id == INDIM_LINALG_TRSM) {
    lines y = lines_of(&call->operands[1], operands[1]);
    has = has_tiny(&y);
  }
  return has && indim_linalg_stands_flushing(call, operands);
}

bool indim_linalg_stands_flushing(const indim_linalg_call *call, const void *const *operands) {
  lines x = lines_of(&call->operands[0], operands[0]);
  if (has_huge(&x) || (call->target->id == INDIM_LINALG_TRSM && call->operand_count > 2)) {  // times a number
    return false;
  }
  switch ((int)call->target->id) {
  case INDIM_LINALG_TRSM: {
    // Right sides are y's columns where x is on the left, rows otherwise; some may be zero.
    lines y = lines_of(&call->operands[1], operands[1]);
    bool are_lines = call->operands[1].by_columns == (indim_linalg_attr(call, "side") == 'L');
    return (indim_linalg_attr(call, "diag") == 'U' || has_large_diagonal(&x, true)) &&
           (is_square_with_large_diagonal(&y) || (are_lines ? has_large_lines(&y, true) : has_large_places(&y, true)));
  }
  case INDIM_LINALG_POTRF:
  case INDIM_LINALG_CHOLESKY:
    return has_large_diagonal(&x, true);
  case INDIM_LINALG_SYEVD:
  case INDIM_LINALG_HEEVD:
  case INDIM_LINALG_SYTRD:
  case INDIM_LINALG_HETRD:
    return has_large_diagonal(&x, false);
  case INDIM_LINALG_GETRF:
  case INDIM_LINALG_GEQRF:
  case INDIM_LINALG_GEQP3:
  case INDIM_LINALG_GESDD:
  case INDIM_LINALG_GESVD:
  case INDIM_LINALG_GEEV:
  case INDIM_LINALG_GEEV_COMPLEX:
  case INDIM_LINALG_GEES:
  case INDIM_LINALG_GEES_COMPLEX:
  case INDIM_LINALG_GEHRD:
    return is_square_with_large_diagonal(&x) || (has_large_lines(&x, false) && has_large_places(&x, false));
  case INDIM_LINALG_ORGQR:
  case INDIM_LINALG_UNGQR:
    return true;  // directions, of length 1
  default:
    return false;
  }
}
