// Triangular systems with few right sides, multiplied out again: both sides of the matrix, both triangles, transposed or not, every
// order in which matrices may lie, sizes around whole vectors of each width. What the call does not name is NaN.
#include <math.h>
#include <stdlib.h>

#include "base/ctx.h"
#include "linalg/substitute.h"
#include "test.h"

enum { BATCH = 2 };

typedef struct problem {
  indim_linalg_call call;
  bool left, lower, transposed, unit;
  void *x, *y, *alpha, *solution;
} problem;

static void set(const problem *s, void *array, int64_t i, double value) {
  if (s->call.type == INDIM_F32) {
    ((float *)array)[i] = (float)value;
  } else {
    ((double *)array)[i] = value;
  }
}

static double get(const problem *s, const void *array, int64_t i) {
  return s->call.type == INDIM_F32 ? (double)((const float *)array)[i] : ((const double *)array)[i];
}

static int64_t place(const indim_linalg_array *a, int64_t number, int64_t i, int64_t j) {
  return number * a->sizes[0] * a->sizes[1] + (a->by_columns ? i + j * a->sizes[0] : i * a->sizes[1] + j);
}

static double number_of(int64_t i) { return (double)((i * 2654435761 >> 7) % 1000) / 1000 - 0.5; }

static void *array_of(const problem *s, const indim_linalg_array *a) {
  return malloc((size_t)(BATCH * a->sizes[0] * a->sizes[1] * indim_type_bytes(s->call.type)) + 1);
}

// |bits|: of what is either way.
static problem make(indim_type type, int64_t order, int64_t right_sides, int bits) {
  problem s = {
      .left = (bits & 1) != 0, .lower = (bits & 2) != 0, .transposed = (bits & 4) != 0, .unit = (bits & 8) != 0};
  bool has_alpha = (bits & 16) != 0;
  int64_t m = s.left ? order : right_sides;
  int64_t n = s.left ? right_sides : order;
  indim_linalg_array matrix = {.type = type, .is_batched = true, .rank = 2};
  s.call = (indim_linalg_call){.target = indim_linalg_target_of(INDIM_LINALG_TRSM),
                               .type = type,
                               .batch = BATCH,
                               .operand_count = has_alpha ? 3 : 2,
                               .result_count = 1,
                               .attrs = {s.left ? 'L' : 'R', s.lower ? 'L' : 'U',
                                         s.transposed ? (s.unit ? 'C' : 'T') : 'N', s.unit ? 'U' : 'N'}};
  s.call.sizes['s' - 'a'] = order;
  s.call.sizes['m' - 'a'] = m;
  s.call.sizes['n' - 'a'] = n;
  for (int i = 0; i < 3; i++) {
    matrix.by_columns = (bits >> (5 + i) & 1) != 0;
    matrix.sizes[0] = i == 0 ? order : m;
    matrix.sizes[1] = i == 0 ? order : n;
    *(i < 2 ? &s.call.operands[i] : &s.call.results[0]) = matrix;
  }
  s.call.operands[2] = (indim_linalg_array){.type = type, .sizes = {1, 1}};
  s.x = array_of(&s, &s.call.operands[0]);
  s.y = array_of(&s, &s.call.operands[1]);
  s.alpha = array_of(&s, &s.call.operands[2]);
  s.solution = array_of(&s, &s.call.results[0]);
  return s;
}

static void fill(const problem *s) {
  const indim_linalg_array *x = &s->call.operands[0];
  const indim_linalg_array *y = &s->call.operands[1];
  for (int64_t b = 0; b < BATCH; b++) {
    for (int64_t i = 0; i < x->sizes[0]; i++) {
      for (int64_t j = 0; j < x->sizes[0]; j++) {
        bool is_named = i == j ? !s->unit : (i > j) == s->lower;
        double value = i == j ? 1.5 + number_of(i + b) : number_of(1000 * i + j + b) / (double)x->sizes[0];
        set(s, s->x, place(x, b, i, j), is_named ? value : (double)NAN);
      }
    }
    for (int64_t i = 0; i < y->sizes[0]; i++) {
      for (int64_t j = 0; j < y->sizes[1]; j++) {
        set(s, s->y, place(y, b, i, j), number_of(77 * i + 5 * j + 3 * b));
      }
    }
  }
  set(s, s->alpha, 0, 0.75);
}

// Element i, j of op(x).
static double coefficient(const problem *s, int64_t b, int64_t i, int64_t j) {
  int64_t row = s->transposed ? j : i;
  int64_t column = s->transposed ? i : j;
  bool is_zero = s->lower ? row < column : row > column;
  return is_zero ? 0 : row == column && s->unit ? 1 : get(s, s->x, place(&s->call.operands[0], b, row, column));
}

// The largest element of op(x) z - alpha y, or of z op(x) - alpha y.
static double residual(const problem *s) {
  const indim_linalg_array *y = &s->call.operands[1];
  const indim_linalg_array *z = &s->call.results[0];
  double alpha = s->call.operand_count == 3 ? get(s, s->alpha, 0) : 1;
  double most = 0;
  for (int64_t b = 0; b < BATCH; b++) {
    for (int64_t i = 0; i < y->sizes[0]; i++) {
      for (int64_t j = 0; j < y->sizes[1]; j++) {
        double sum = -alpha * get(s, s->y, place(y, b, i, j));
        for (int64_t k = 0; k < s->call.operands[0].sizes[0]; k++) {
          sum += s->left ? coefficient(s, b, i, k) * get(s, s->solution, place(z, b, k, j))
                         : get(s, s->solution, place(z, b, i, k)) * coefficient(s, b, k, j);
        }
        most = fabs(sum) > most || isnan(sum) ? fabs(sum) : most;
        if (isnan(sum)) {
          return sum;
        }
      }
    }
  }
  return most;
}

static void check(indim_ctx *cx, int32_t vector_bytes, indim_type type, int64_t order, int64_t right_sides, int bits) {
  problem s = make(type, order, right_sides, bits);
  REQUIRE(s.x != NULL && s.y != NULL && s.alpha != NULL && s.solution != NULL);
  fill(&s);
  CHECK(indim_substitute_takes(&s.call));
  void *arrays[] = {s.solution, s.x, s.y, s.alpha};
  CHECK(indim_substitute_run(cx, vector_bytes, &s.call, 0, BATCH, arrays) == INDIM_OK);
  double wrong = residual(&s);
  CHECK_MSG(wrong < (type == INDIM_F32 ? 1e-5 : 1e-14),
            "%s, vectors of %d bytes, order %" PRId64 ", %" PRId64 " right sides, bits %d: residual %g",
            type == INDIM_F32 ? "f32" : "f64", (int)vector_bytes, order, right_sides, bits, wrong);
  free(s.x);
  free(s.y);
  free(s.alpha);
  free(s.solution);
}

TEST(all_ways) {
  static const int64_t orders[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 23, 31, 32, 33, 47, 64, 65, 70};
  indim_ctx *cx = NULL;
  REQUIRE(indim_ctx_create(NULL, &cx) == INDIM_OK);
  for (int32_t vector_bytes = 16; vector_bytes <= 64; vector_bytes *= 2) {
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
      for (int bits = 0; bits < 256; bits++) {
        check(cx, vector_bytes, bits % 3 == 0 ? INDIM_F64 : INDIM_F32, orders[i], 1 + bits % 7 % 4, bits);
        check(cx, vector_bytes, bits % 3 == 0 ? INDIM_F32 : INDIM_F64, orders[i], 1, bits);
      }
    }
  }
  indim_ctx_destroy(cx);
}

// Matrices that fall off to subnormal numbers, and right sides that are such: these count.
TEST(subnormal_numbers) {
  indim_ctx *cx = NULL;
  REQUIRE(indim_ctx_create(NULL, &cx) == INDIM_OK);
  for (int bits = 0; bits < 256; bits++) {
    for (int is_small = 0; is_small < 2; is_small++) {
      problem s = make(INDIM_F32, 60, 1 + bits % 4, bits & ~16);
      fill(&s);
      for (int64_t i = 0; i < BATCH * 60 * 60; i++) {
        double apart = 0.9 * (double)(i / 60 % 60 - i % 60);
        bool is_named = !isnan(get(&s, s.x, i));
        set(&s, s.x, i, is_named ? exp(-apart * apart / 2) / 2 + (apart == 0 ? 1 : 0) : (double)NAN);
      }
      int64_t count = s.call.operands[1].sizes[0] * s.call.operands[1].sizes[1];
      for (int64_t i = 0; i < BATCH * count && is_small; i++) {
        set(&s, s.y, i, 0x1p-128 * (1 + number_of(i)));
      }
      void *arrays[] = {s.solution, s.x, s.y, s.alpha};
      CHECK(indim_substitute_run(cx, 64, &s.call, 0, BATCH, arrays) == INDIM_OK);
      double wrong = residual(&s);
      CHECK_MSG(wrong < (is_small ? 0x1p-140 : 1e-5), "bits %d, small %d: residual %g", bits, is_small, wrong);
      free(s.x);
      free(s.y);
      free(s.alpha);
      free(s.solution);
    }
  }
  volatile float small = 0x1p-130F;
  CHECK(small * 0.5F > 0);
  indim_ctx_destroy(cx);
}

// Complex matrices and many right sides are left to others.
TEST(takes) {
  problem s = make(INDIM_F32, 3, 5, 1);
  CHECK(!indim_substitute_takes(&s.call));
  s.call.sizes['n' - 'a'] = 4;
  CHECK(indim_substitute_takes(&s.call));
  s.call.type = INDIM_C64;
  CHECK(!indim_substitute_takes(&s.call));
  s.call.type = INDIM_F64;
  s.call.target = indim_linalg_target_of(INDIM_LINALG_GETRF);
  CHECK(!indim_substitute_takes(&s.call));
  free(s.x);
  free(s.y);
  free(s.alpha);
  free(s.solution);
}

#define CASES(X)       \
  X(all_ways)          \
  X(subnormal_numbers) \
  X(takes)

TEST_MAIN(CASES)
