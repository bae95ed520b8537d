// The host's product of narrow elements against the plainest loop, for each width of vectors that this machine has: integers of the
// whole range of their types, sums modulo 2^32; bf16 exactly, with numbers so small that instructions on bf16 take them for zero.
#include <math.h>
#include <stdlib.h>

#include "exact_sum.h"
#include "run/matmul.h"
#include "test.h"

typedef struct side {
  indim_type type;
  int64_t rows, columns, row_stride, column_stride;  // in elements
  unsigned char *data;
} side;

// Numbers of the whole range, and the extremes of it, which the sums of saturating instructions would miss.
static uint32_t random_bits(int64_t i, bool is_extreme) {
  uint64_t x = ((uint64_t)i + 1) * 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 29)) * 0xBF58476D1CE4E5B9U;
  uint32_t bits = (uint32_t)(x >> 32);
  return is_extreme ? ((bits & 1) != 0 ? 0x8080 : (bits & 2) != 0 ? 0xFFFF : 0x7F7F) : bits;
}

static int64_t bytes_of(indim_type type) { return type == INDIM_S8 || type == INDIM_U8 ? 1 : 2; }

static side make(indim_type type, int64_t rows, int64_t columns, bool is_transposed, int64_t gap) {
  side s = {type, rows, columns, is_transposed ? 1 : columns + gap, is_transposed ? rows + gap : 1, NULL};
  s.data = calloc((size_t)((rows + gap) * (columns + gap) + 1), (size_t)bytes_of(type));
  return s;
}

static unsigned char *at(const side *s, int64_t row, int64_t column) {
  return s->data + (row * s->row_stride + column * s->column_stride) * bytes_of(s->type);
}

static void put(const side *s, int64_t row, int64_t column, uint32_t bits) {
  uint16_t two = (uint16_t)bits;
  if (bytes_of(s->type) == 1) {
    *at(s, row, column) = (unsigned char)bits;
  } else {
    memcpy(at(s, row, column), &two, sizeof two);
  }
}

static double get(const side *s, int64_t row, int64_t column) {
  uint16_t two = 0;
  if (bytes_of(s->type) == 2) {
    memcpy(&two, at(s, row, column), sizeof two);
  }
  uint32_t bits = (uint32_t)two << 16;
  float x;
  memcpy(&x, &bits, sizeof x);
  if (s->type == INDIM_BF16) {
    return (double)x;
  }
  return s->type == INDIM_S16 ? (int16_t)two : s->type == INDIM_U8 ? *at(s, row, column) : (int8_t)*at(s, row, column);
}

// Its elements row by row.
static double *to_doubles(const side *s) {
  double *numbers = malloc((size_t)(s->rows * s->columns + 1) * sizeof *numbers);
  for (int64_t i = 0; numbers != NULL && i < s->rows; i++) {
    for (int64_t j = 0; j < s->columns; j++) {
      numbers[i * s->columns + j] = get(s, i, j);
    }
  }
  return numbers;
}

static indim_host_matmul sizes_of(indim_type type, const side *lhs, const side *rhs, int64_t out_m, bool accumulate) {
  return (indim_host_matmul){.type = type,
                             .batch = 1,
                             .m = lhs->rows,
                             .n = rhs->columns,
                             .k = lhs->columns,
                             .lhs_m = lhs->row_stride,
                             .lhs_k = lhs->column_stride,
                             .rhs_k = rhs->row_stride,
                             .rhs_n = rhs->column_stride,
                             .out_m = out_m,
                             .accumulate = accumulate,
                             .lhs_type = lhs->type,
                             .rhs_type = rhs->type};
}

static void fill_integers(const side *s, int64_t salt, bool is_extreme) {
  for (int64_t i = 0; i < s->rows; i++) {
    for (int64_t j = 0; j < s->columns; j++) {
      put(s, i, j, random_bits(i * s->columns + j + salt, is_extreme));
    }
  }
}

// |bits|: 1, 2 an operand is transposed, 4 gaps behind the rows, 8 sums onto what is there, 16 extreme numbers.
static void check_integers(int32_t vector_bytes, indim_type lhs_type, indim_type rhs_type, int64_t m, int64_t n,
                           int64_t k, int bits) {
  int64_t gap = (bits & 4) != 0 ? 3 : 0;
  side lhs = make(lhs_type, m, k, (bits & 1) != 0, gap);
  side rhs = make(rhs_type, k, n, (bits & 2) != 0, gap);
  int64_t out_m = n + gap;
  int32_t *out = calloc((size_t)(m * out_m + 1), sizeof *out);
  REQUIRE(lhs.data != NULL && rhs.data != NULL && out != NULL);
  fill_integers(&lhs, 0, (bits & 16) != 0);
  fill_integers(&rhs, 12345, (bits & 16) != 0);
  for (int64_t i = 0; i < m * out_m; i++) {
    out[i] = (int32_t)(random_bits(i, false) >> 1);
  }
  indim_blas blas = {.vector_bytes = vector_bytes};
  indim_host_matmul s = sizes_of(INDIM_S32, &lhs, &rhs, out_m, (bits & 8) != 0);
  CHECK(indim_matmul_run(&blas, NULL, NULL, &s, out, lhs.data, rhs.data));
  double *left = to_doubles(&lhs);
  double *right = to_doubles(&rhs);
  REQUIRE(left != NULL && right != NULL);
  int64_t wrong = 0;
  for (int64_t i = 0; i < m * out_m; i++) {
    uint32_t expected = random_bits(i, false) >> 1;
    if (i % out_m < n) {
      expected = (bits & 8) != 0 ? expected : 0;
      expected += (uint32_t)(int64_t)exact_sum(left + i / out_m * k, 1, right + i % out_m, n, k);
    }
    wrong += (uint32_t)out[i] != expected;
  }
  CHECK_MSG(wrong == 0, "vectors of %d bytes, types %d %d, m %d, n %d, k %d, bits %d: %d wrong", (int)vector_bytes,
            (int)lhs_type, (int)rhs_type, (int)m, (int)n, (int)k, bits, (int)wrong);
  free(left);
  free(right);
  free(lhs.data);
  free(rhs.data);
  free(out);
}

static const int64_t shapes[][3] = {{1, 1, 1},     {2, 3, 5},       {6, 32, 4},      {7, 33, 129},  {13, 17, 0},
                                    {5, 70, 300},  {131, 5, 523},   {12, 64, 514},   {300, 3, 9},   {1, 100, 1031},
                                    {11, 40, 65},  {271, 31, 8},    {8, 35, 262},    {280, 5, 512}, {32, 32, 64},
                                    {33, 47, 128}, {20, 130, 1100}, {160, 100, 192}, {13, 300, 20}, {32, 530, 64}};
enum { SHAPES = sizeof shapes / sizeof *shapes, WIDTHS = 3, ALL_BITS = 32 };
static const int32_t widths[WIDTHS] = {16, 32, 64};

TEST(integers) {
  static const indim_type types[] = {INDIM_S8, INDIM_U8, INDIM_S16};
  for (int i = 0; i < WIDTHS * 3 * 3 * SHAPES; i++) {
    const int64_t *shape = shapes[i / 27];
    for (int bits = i % TEST_SAMPLE; bits < ALL_BITS; bits += TEST_SAMPLE) {
      check_integers(widths[i % 3], types[i / 3 % 3], types[i / 9 % 3], shape[0], shape[1], shape[2], bits);
    }
  }
}

// bf16 ------------------------------------------------------------------------------------------------------------------

static uint16_t bf16_of(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return (uint16_t)(bits >> 16);
}

// Whole numbers up to 4 times a power of two.
static void fill_bf16(const side *s, int64_t salt, int exponent) {
  uint16_t numbers[9];
  for (int i = 0; i < 9; i++) {
    numbers[i] = bf16_of(ldexpf((float)(i - 4), exponent));
  }
  for (int64_t i = 0; i < s->rows; i++) {
    for (int64_t j = 0; j < s->columns; j++) {
      put(s, i, j, numbers[random_bits(i * s->columns + j + salt, false) % 9]);
    }
  }
}

// Every sum is exact, in any order.
static void check_bf16(int32_t vector_bytes, int64_t m, int64_t n, int64_t k, int bits, int lhs_exponent,
                       int rhs_exponent) {
  side lhs = make(INDIM_BF16, m, k, (bits & 1) != 0, (bits & 4) != 0 ? 3 : 0);
  side rhs = make(INDIM_BF16, k, n, (bits & 2) != 0, (bits & 4) != 0 ? 3 : 0);
  int64_t out_m = n + 1;
  float *out = calloc((size_t)(m * out_m + 1), sizeof *out);
  REQUIRE(lhs.data != NULL && rhs.data != NULL && out != NULL);
  fill_bf16(&lhs, 0, lhs_exponent);
  fill_bf16(&rhs, 99, rhs_exponent);
  indim_blas blas = {.vector_bytes = vector_bytes};
  indim_host_matmul s = sizes_of(INDIM_F32, &lhs, &rhs, out_m, (bits & 8) != 0);
  for (int64_t i = 0; i < m * out_m; i++) {
    out[i] = ldexpf((float)(i % 5), lhs_exponent + rhs_exponent);
  }
  CHECK(indim_matmul_run(&blas, NULL, NULL, &s, out, lhs.data, rhs.data));
  double *left = to_doubles(&lhs);
  double *right = to_doubles(&rhs);
  REQUIRE(left != NULL && right != NULL);
  int64_t wrong = 0;
  for (int64_t i = 0; i < m * out_m; i++) {
    double expected = ldexp((double)(i % 5), lhs_exponent + rhs_exponent);
    if (i % out_m < n) {
      expected = (bits & 8) != 0 ? expected : 0;
      expected += exact_sum(left + i / out_m * k, 1, right + i % out_m, n, k);
    }
    wrong += out[i] != (float)expected;
  }
  CHECK_MSG(wrong == 0, "vectors of %d bytes, m %d, n %d, k %d, bits %d, exponents %d %d: %d wrong", (int)vector_bytes,
            (int)m, (int)n, (int)k, bits, lhs_exponent, rhs_exponent, (int)wrong);
  free(left);
  free(right);
  free(lhs.data);
  free(rhs.data);
  free(out);
}

TEST(bf16) {
  static const int exponents[][2] = {{0, 0}, {-60, -60}, {-70, -70}, {-130, 20}, {100, -128}, {40, 60}};
  for (int i = 0; i < WIDTHS * SHAPES; i++) {
    const int64_t *shape = shapes[i / 3];
    for (int bits = 0; bits < 16; bits++) {
      for (size_t e = (size_t)((i + bits) % TEST_SAMPLE); e < sizeof exponents / sizeof *exponents; e += TEST_SAMPLE) {
        check_bf16(widths[i % 3], shape[0], shape[1], shape[2], bits, exponents[e][0], exponents[e][1]);
      }
    }
  }
}

// One infinity, and one NaN, reach the sums of their row and column alone.
TEST(bf16_special) {
  enum { SIDE = 32 };
  for (int w = 0; w < WIDTHS; w++) {
    side lhs = make(INDIM_BF16, SIDE, SIDE, false, 0);
    side rhs = make(INDIM_BF16, SIDE, SIDE, false, 0);
    float out[SIDE * SIDE];
    REQUIRE(lhs.data != NULL && rhs.data != NULL);
    for (int i = 0; i < SIDE * SIDE; i++) {
      put(&lhs, i / SIDE, i % SIDE, bf16_of(1));
      put(&rhs, i / SIDE, i % SIDE, bf16_of(2));
    }
    put(&lhs, 3, 5, bf16_of(INFINITY));
    put(&lhs, 7, 0, bf16_of(NAN));
    put(&rhs, 5, 9, 0);
    indim_blas blas = {.vector_bytes = widths[w]};
    indim_host_matmul s = sizes_of(INDIM_F32, &lhs, &rhs, SIDE, false);
    CHECK(indim_matmul_run(&blas, NULL, NULL, &s, out, lhs.data, rhs.data));
    for (int i = 0; i < SIDE * SIDE; i++) {
      int row = i / SIDE;
      int column = i % SIDE;
      bool is_nan = row == 7 || (row == 3 && column == 9);
      float expected = row == 3 ? INFINITY : column == 9 ? 62 : 64;
      CHECK_MSG(is_nan ? isnan(out[i]) : out[i] == expected, "row %d, column %d: %g", row, column, (double)out[i]);
    }
    free(lhs.data);
    free(rhs.data);
  }
}

// Sums onto numbers below the normal ones, which instructions on bf16 take for zero: what nothing is added to stays.
TEST(bf16_onto_small) {
  enum { SIDE = 64, DEPTH = 600 };
  for (int w = 0; w < WIDTHS; w++) {
    side lhs = make(INDIM_BF16, SIDE, DEPTH, false, 0);
    side rhs = make(INDIM_BF16, DEPTH, SIDE, false, 0);
    float *out = malloc(SIDE * SIDE * sizeof *out);
    REQUIRE(lhs.data != NULL && rhs.data != NULL && out != NULL);
    fill_bf16(&lhs, 0, 0);
    fill_bf16(&rhs, 7, 0);
    for (int i = 0; i < SIDE * SIDE; i++) {
      out[i] = 1e-40F;
    }
    for (int k = 0; k < DEPTH; k++) {
      put(&lhs, 3, k, 0);
    }
    indim_blas blas = {.vector_bytes = widths[w]};
    indim_host_matmul s = sizes_of(INDIM_F32, &lhs, &rhs, SIDE, true);
    CHECK(indim_matmul_run(&blas, NULL, NULL, &s, out, lhs.data, rhs.data));
    for (int j = 0; j < SIDE; j++) {
      CHECK(out[3 * SIDE + j] == 1e-40F);
    }
    free(lhs.data);
    free(rhs.data);
    free(out);
  }
}

TEST(refuses) {
  float out = 0;
  indim_host_matmul s = {.type = INDIM_F32, .batch = 1, .m = 1, .n = 1, .k = 1, .lhs_k = 1, .rhs_n = 1};
  CHECK(indim_matmul_run(NULL, NULL, NULL, &s, &out, &out, &out));
  s.lhs_type = INDIM_BF16;  // and the other of f32
  CHECK(!indim_matmul_run(NULL, NULL, NULL, &s, &out, &out, &out));
  s.type = s.rhs_type = INDIM_S32;
  CHECK(!indim_matmul_run(NULL, NULL, NULL, &s, &out, &out, &out));
}

#define CASES(X)     \
  X(integers)        \
  X(bf16)            \
  X(bf16_special)    \
  X(bf16_onto_small) \
  X(refuses)

TEST_MAIN(CASES)
