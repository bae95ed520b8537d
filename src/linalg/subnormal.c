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

// Numbers smaller than the first have subnormal products; lines are large enough from the second on, and no number is larger than
// the third.
#define TINY_F32 0x1p-63F
#define TINY_F64 0x1p-511
static const double least_f32 = 0x1p-60, least_f64 = 0x1p-500;
#define MOST_F32 0x1p40F
#define MOST_F64 0x1p400

// A matrix in memory: so many lines of real numbers, one behind the other.
typedef struct lines {
  const void *at;
  int64_t count, length;
  int64_t parts;  // real numbers of an element
  bool is_f32;
} lines;

static lines lines_of(const indim_linalg_array *a, const void *matrix) {
  int64_t parts = indim_type_is_complex(a->type) ? 2 : 1;
  return (lines){.at = matrix,
                 .count = a->sizes[a->by_columns ? 1 : 0],
                 .length = a->sizes[a->by_columns ? 0 : 1] * parts,
                 .parts = parts,
                 .is_f32 = indim_lapack_part(a->type) == INDIM_F32};
}

// has: whether a line has a number between two, of both signs. raise: makes each of |most| at least as large as the magnitude of the
// number in its place.
#define DEFINE_SCANS(NAME, REAL, ABS)                                             \
  static bool has_##NAME(const REAL *line, int64_t length, REAL low, REAL high) { \
    int32_t found[BLOCK] = {0};                                                   \
    bool has = false;                                                             \
    int64_t i = 0;                                                                \
    for (; i + BLOCK <= length; i += BLOCK) {                                     \
      for (int k = 0; k < BLOCK; k++) {                                           \
        REAL x = ABS(line[i + k]);                                                \
        found[k] |= (x < high) & (x > low);                                       \
      }                                                                           \
    }                                                                             \
    for (; i < length; i++) {                                                     \
      found[0] |= (ABS(line[i]) < high) & (ABS(line[i]) > low);                   \
    }                                                                             \
    for (int k = 0; k < BLOCK; k++) {                                             \
      has = has || found[k] != 0;                                                 \
    }                                                                             \
    return has;                                                                   \
  }                                                                               \
  static void raise_##NAME(const REAL *line, int64_t count, double *most) {       \
    for (int64_t i = 0; i < count; i++) {                                         \
      double x = (double)ABS(line[i]);                                            \
      most[i] = x > most[i] ? x : most[i];                                        \
    }                                                                             \
  }

DEFINE_SCANS(f32, float, fabsf)
DEFINE_SCANS(f64, double, fabs)

static bool has_tiny(const lines *m) {
  bool has = false;
  for (int64_t i = m->count > SAMPLE / 2 ? SAMPLE / 2 : m->count / 2; i < m->count && !has; i += SAMPLE) {
    has = m->is_f32 ? has_f32((const float *)m->at + i * m->length, m->length, 0, TINY_F32)
                    : has_f64((const double *)m->at + i * m->length, m->length, 0, TINY_F64);
  }
  return has;
}

static bool has_huge(const lines *m) {
  return m->is_f32 ? has_f32(m->at, m->count * m->length, MOST_F32, INFINITY)
                   : has_f64(m->at, m->count * m->length, MOST_F64, (double)INFINITY);
}

static double least_of(const lines *m) { return m->is_f32 ? least_f32 : least_f64; }

// The largest magnitudes of numbers |from| to |from| + |count| of the lines |first| to |last|.
static void find_most(const lines *m, int64_t first, int64_t last, int64_t from, int64_t count, double *most) {
  for (int64_t i = 0; i < count; i++) {
    most[i] = 0;
  }
  for (int64_t i = first; i < last; i++) {
    if (m->is_f32) {
      raise_f32((const float *)m->at + i * m->length + from, count, most);
    } else {
      raise_f64((const double *)m->at + i * m->length + from, count, most);
    }
  }
}

// Of |count| largest magnitudes, one for each real number of an element: whether those of all elements, or with |each| false of one, are
// large enough; with |zero_is| zeros are, too.
static bool are_large(const lines *m, const double *most, int64_t count, bool each, bool zero_is) {
  bool all = true, any = false;
  for (int64_t i = 0; i < count; i += m->parts) {
    double x = m->parts == 2 && most[i + 1] > most[i] ? most[i + 1] : most[i];
    bool is = x >= least_of(m) || (zero_is && x == 0);
    all = all && is;
    any = any || is;
  }
  return each ? all : any;
}

// Whether the diagonal has large elements: all of them, or one.
static bool has_large_diagonal(const lines *m, bool all) {
  bool each = true, any = false;
  for (int64_t i = 0; i < m->count; i++) {
    double most[2] = {0};
    find_most(m, i, i + 1, i * m->parts, m->parts, most);
    bool is = are_large(m, most, m->parts, true, false);
    each = each && is;
    any = any || is;
  }
  return all ? each : any;
}

// Whether each of the lines has a large element; with |across|, each place of theirs. Mostly the diagonal has them.
static bool has_large_lines(const lines *m, bool across, bool zero_is) {
  double most[WIDTH];
  if (m->count * m->parts == m->length && has_large_diagonal(m, true)) {
    return true;
  }
  for (int64_t i = 0; i < (across ? 1 : m->count); i++) {
    bool any = false, is_zero = true;
    for (int64_t from = 0; from < m->length; from += WIDTH) {
      int64_t count = m->length - from < WIDTH ? m->length - from : WIDTH;
      find_most(m, across ? 0 : i, across ? m->count : i + 1, from, count, most);
      if (across && !are_large(m, most, count, true, zero_is)) {
        return false;
      }
      any = any || are_large(m, most, count, false, false);
      for (int64_t k = 0; k < count && is_zero; k++) {
        is_zero = most[k] == 0;
      }
    }
    if (!across && !any && !(zero_is && is_zero)) {
      return false;
    }
  }
  return true;
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
           has_large_lines(&y, !are_lines, true);
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
    return has_large_lines(&x, false, false) && has_large_lines(&x, true, false);
  case INDIM_LINALG_ORGQR:
  case INDIM_LINALG_UNGQR:
    return true;  // directions, of length 1
  default:
    return false;
  }
}
