// The host's matrix product against the plainest loop: our own code and the library's, all orders of both sides, sizes
// around the edges of tiles and blocks, batches, sums onto what is there; and the same bits for any number of threads.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exact_sum.h"
#include "run/aligned_memory.h"
#include "run/matmul.h"
#include "test.h"

typedef struct product {
  indim_host_matmul sizes;
  int64_t lhs_count, rhs_count, out_count;
  int64_t every;  // of so many elements of the result one is compared
} product;

// |lhs_t|, |rhs_t|: the operand lies transposed. |gap| elements behind every row.
static product make(indim_type type, int64_t batch, int64_t m, int64_t n, int64_t k, bool lhs_t, bool rhs_t,
                    int64_t gap, bool accumulate) {
  product p = {.sizes = {.type = type, .batch = batch, .m = m, .n = n, .k = k, .accumulate = accumulate},
               .every = TEST_SAMPLE};
  indim_host_matmul *s = &p.sizes;
  s->lhs_m = lhs_t ? 1 : k + gap;
  s->lhs_k = lhs_t ? m + gap : 1;
  s->rhs_k = rhs_t ? 1 : n + gap;
  s->rhs_n = rhs_t ? k + gap : 1;
  s->out_m = n + gap;
  s->lhs_batch = (lhs_t ? k * s->lhs_k : m * s->lhs_m) + gap;
  s->rhs_batch = (rhs_t ? n * s->rhs_n : k * s->rhs_k) + gap;
  s->out_batch = m * s->out_m + gap;  // 0 without elements
  p.lhs_count = batch * s->lhs_batch + 1;
  p.rhs_count = batch * s->rhs_batch + 1;
  p.out_count = batch * s->out_batch + 1;
  return p;
}

// Small whole numbers: all sums are exact in any order, so that everything is compared for equality. Odd ones out are
// caught by weights that differ from place to place.
static double number(int64_t i) { return (double)((i * 2654435761 >> 7) % 9 - 4); }

static void set(const product *p, void *array, int64_t i, double x) {
  if (p->sizes.type == INDIM_F32) {
    ((float *)array)[i] = (float)x;
  } else {
    ((double *)array)[i] = x;
  }
}

static double get(const product *p, const void *array, int64_t i) {
  return p->sizes.type == INDIM_F32 ? (double)((const float *)array)[i] : ((const double *)array)[i];
}

static void *filled(const product *p, int64_t count, int64_t salt) {
  void *array = malloc((size_t)count * (p->sizes.type == INDIM_F32 ? 4 : 8));
  for (int64_t i = 0; array != NULL && i < count; i++) {
    set(p, array, i, number(i + salt));
  }
  return array;
}

static double *to_doubles(const product *p, const void *array, int64_t count) {
  double *numbers = malloc((size_t)count * sizeof *numbers);
  for (int64_t i = 0; numbers != NULL && i < count; i++) {
    numbers[i] = get(p, array, i);
  }
  return numbers;
}

// Every element, or every so manieth, and every gap, of |out|, which was |before|. -1 without memory.
static int64_t count_wrong(const product *p, const void *lhs, const void *rhs, const void *before, const void *out) {
  const indim_host_matmul *s = &p->sizes;
  double *left = to_doubles(p, lhs, p->lhs_count);
  double *right = to_doubles(p, rhs, p->rhs_count);
  if (left == NULL || right == NULL) {
    free(left);
    free(right);
    return -1;
  }
  int64_t wrong = 0;
  for (int64_t i = 0; i < p->out_count && s->out_batch > 0 && s->out_m > 0; i += p->every) {
    int64_t b = i / s->out_batch;
    int64_t row = i % s->out_batch / s->out_m;
    int64_t column = i % s->out_batch % s->out_m;
    double expected = get(p, before, i);
    if (b < s->batch && row < s->m && column < s->n) {
      expected = s->accumulate ? expected : 0;
      expected += exact_sum(left + b * s->lhs_batch + row * s->lhs_m, s->lhs_k,
                            right + b * s->rhs_batch + column * s->rhs_n, s->rhs_k, s->k);
    }
    wrong += get(p, out, i) != (p->sizes.type == INDIM_F32 ? (double)(float)expected : expected);
  }
  free(left);
  free(right);
  return wrong;
}

static void check_product(const indim_blas *blas, indim_pool *pool, const product *p) {
  const indim_host_matmul *s = &p->sizes;
  void *lhs = filled(p, p->lhs_count, 1);
  void *rhs = filled(p, p->rhs_count, 1000);
  void *before = filled(p, p->out_count, 5);
  void *out = filled(p, p->out_count, 5);
  REQUIRE(lhs != NULL && rhs != NULL && before != NULL && out != NULL);
  CHECK(indim_matmul_run(blas, pool == NULL ? NULL : indim_pool_run, pool, s, out, lhs, rhs));
  int64_t wrong = count_wrong(p, lhs, rhs, before, out);
  CHECK_MSG(wrong == 0,
            "%s %s: batch %" PRId64 ", m %" PRId64 ", n %" PRId64 ", k %" PRId64 ", lhs_k %" PRId64 ", rhs_n %" PRId64
            ", accumulate %d: %" PRId64 " of %" PRId64 " elements differ",
            blas->library == NULL ? "ours" : "library", s->type == INDIM_F32 ? "f32" : "f64", s->batch, s->m, s->n,
            s->k, s->lhs_k, s->rhs_n, (int)s->accumulate, wrong, p->out_count);
  free(lhs);
  free(rhs);
  free(before);
  free(out);
}

static void check_all_orders(const indim_blas *blas, indim_pool *pool, int64_t batch, int64_t m, int64_t n, int64_t k) {
  for (int bits = 0; bits < 32; bits++) {
    product p = make((bits & 1) != 0 ? INDIM_F32 : INDIM_F64, batch, m, n, k, (bits & 2) != 0, (bits & 4) != 0,
                     (bits & 8) != 0 ? 3 : 0, (bits & 16) != 0);
    check_product(blas, pool, &p);
  }
}

static void check_sizes(const indim_blas *blas) {
  static const int64_t sides[] = {0, 1, 2, 5, 6, 7, 16, 17, 33, 64, 65};
  enum { SIDES = sizeof sides / sizeof sides[0] };
  for (int m = 0; m < SIDES; m++) {
    for (int n = 0; n < SIDES; n++) {
      for (int k = 0; k < SIDES; k += 3) {
        check_all_orders(blas, NULL, 1, sides[m], sides[n], sides[k]);
      }
    }
  }
  check_all_orders(blas, NULL, 1, 13, 70, 400);
  check_all_orders(blas, NULL, 3, 9, 20, 30);
  check_all_orders(blas, NULL, 0, 9, 20, 30);
}

TEST(ours) { check_sizes(&(indim_blas){0}); }

// Sizes at the borders of tiles, panels and parts of a sum, of each width of vectors that the processor has.
TEST(ours_at_borders) {
  static const int64_t sizes[][3] = {
      {4, 96, 40},     {3, 97, 40},    {5, 200, 40},   {2, 193, 17},    {12, 32, 300},  {13, 33, 300},  {24, 48, 70},
      {25, 31, 70},    {11, 16, 300},  {23, 10, 300},  {50, 7, 300},    {50, 15, 1200}, {50, 16, 300},  {9, 8, 20},
      {40, 4, 20},     {3, 33, 2100},  {33, 3, 2100},  {33, 34, 200},   {1, 5, 130},    {1, 70, 16},    {7, 1, 3000},
      {400, 9, 260},   {15, 14, 545},  {30, 15, 2721}, {2, 3, 5000},    {8, 9, 2048},   {5, 1000, 18},  {17, 17, 128},
      {14, 14, 129},   {6, 6, 1},      {48, 25, 128},  {12, 5, 10000},  {8, 100, 50},   {7, 2070, 9},   {3, 1100, 400},
      {4, 5000, 3},    {1, 4099, 11},  {5, 33, 4},     {8, 1000, 270},  {11, 70, 200},  {12, 2000, 5},  {150, 20, 1000},
      {140, 27, 1500}, {300, 6, 1300}, {60, 24, 500},  {70, 1003, 20},  {100, 700, 1},  {51, 1301, 64}, {40, 2100, 9},
      {64, 3, 150},    {67, 7, 1001},  {1, 4099, 70},  {12, 2003, 140}, {5, 33, 8200},  {8, 257, 1100}, {4, 300, 900},
      {300, 250, 5},   {97, 1500, 24}, {61, 2100, 7},  {130, 1000, 1},
  };
  for (int32_t vector_bytes = 16; vector_bytes <= 64; vector_bytes *= 2) {
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      check_all_orders(&(indim_blas){.vector_bytes = vector_bytes}, NULL, 1, sizes[i][0], sizes[i][1], sizes[i][2]);
    }
  }
}

// Large products, both sides of which are packed: more rows and columns than panels are there for at a time, sums of several
// depths, a batch; and what is left beside whole panels.
TEST(packed) {
  static const int64_t sizes[][4] = {{1, 97, 257, 1300}, {1, 100, 2100, 150}, {1, 2100, 263, 64},
                                     {2, 320, 320, 300}, {1, 341, 345, 257},  {1, 112, 256, 1100}};
  enum { EVERY = 97 };
  for (int32_t vector_bytes = 16; vector_bytes <= 64; vector_bytes *= 2) {
    const indim_blas blas = {.vector_bytes = vector_bytes};
    for (int bits = 0; bits < 16; bits++) {
      const int64_t *size = sizes[(size_t)(bits + vector_bytes) % (sizeof sizes / sizeof *sizes)];
      product p = make((bits & 4) != 0 ? INDIM_F32 : INDIM_F64, size[0], size[1], size[2], size[3], (bits & 1) != 0,
                       (bits & 2) != 0, (bits & 8) != 0 ? 3 : 0, (bits & 8) != 0);
      p.every = EVERY;
      CHECK(indim_matmul_packs(&p.sizes));
      check_product(&blas, NULL, &p);
    }
  }
}

static void *no_memory(size_t bytes) {
  (void)bytes;
  return NULL;
}

// Without memory for panels the product is computed all the same, and gives the same bits.
TEST(packed_without_memory) {
  for (int32_t vector_bytes = 16; vector_bytes <= 64; vector_bytes *= 2) {
    for (int bits = 0; bits < 4; bits++) {
      const indim_blas blas = {.vector_bytes = vector_bytes};
      product p = make(INDIM_F32, 1, 201, 300, 700, (bits & 1) != 0, (bits & 2) != 0, 0, false);
      float *lhs = filled(&p, p.lhs_count, 1);
      float *rhs = filled(&p, p.rhs_count, 2);
      float *packed = filled(&p, p.out_count, 0);
      float *out = filled(&p, p.out_count, 0);
      REQUIRE(lhs != NULL && rhs != NULL && packed != NULL && out != NULL);
      for (int64_t i = 0; i < p.lhs_count; i++) {
        lhs[i] = lhs[i] / 3 + (float)i * 1e-6F;
      }
      CHECK(indim_matmul_packs(&p.sizes));
      CHECK(indim_matmul_run(&blas, NULL, NULL, &p.sizes, packed, lhs, rhs));
      indim_aligned_malloc = no_memory;
      CHECK(indim_matmul_run(&blas, NULL, NULL, &p.sizes, out, lhs, rhs));
      indim_aligned_malloc = malloc;
      CHECK(memcmp(packed, out, (size_t)p.out_count * sizeof(float)) == 0);
      free(lhs);
      free(rhs);
      free(packed);
      free(out);
    }
  }
}

// A matrix times its own transpose, of which both orders and a batch are read from one array.
static product own_transpose(indim_type type, int64_t batch, int64_t n, int64_t k, int bits) {
  bool is_t = (bits & 1) != 0;
  product p = make(type, batch, n, n, k, is_t, !is_t, (bits & 2) != 0 ? 3 : 0, false);
  indim_host_matmul *s = &p.sizes;
  s->rhs_k = s->lhs_k;
  s->rhs_n = s->lhs_m;
  s->rhs_batch = s->lhs_batch;
  s->is_symmetric = 1;
  return p;
}

static int64_t asked;

static void *counted(size_t bytes) {
  asked++;
  return malloc(bytes);
}

static void *only_first(size_t bytes) { return asked++ == 0 ? malloc(bytes) : NULL; }

// A product of which so many sides are copied, which is all that tells.
static void check_scaled(const product *p, int copies, const void *lhs, const void *rhs, void *out) {
  void *before = filled(p, p->out_count, 5);
  REQUIRE(before != NULL);
  memcpy(out, before, (size_t)p->out_count * (p->sizes.type == INDIM_F32 ? 4 : 8));
  asked = 0;
  indim_aligned_malloc = counted;
  CHECK(indim_matmul_run(&(indim_blas){0}, NULL, NULL, &p->sizes, out, lhs, rhs));
  indim_aligned_malloc = malloc;
#if defined(__x86_64__)
  CHECK_MSG(asked == copies, "%" PRId64 " copies in place of %d", asked, copies);
#endif
  int64_t wrong = count_wrong(p, lhs, rhs, before, out);
  CHECK_MSG(wrong == 0, "%d copies of type %d, lhs_k %" PRId64 ", rhs_n %" PRId64 ": %" PRId64 " elements differ",
            copies, (int)p->sizes.type, p->sizes.lhs_k, p->sizes.rhs_n, wrong);
  free(before);
}

// Every second row of the left side, and then of the right side's columns, times such a number.
static void multiply_rows(const product *p, void *lhs, void *rhs, double lhs_factor, double rhs_factor) {
  const indim_host_matmul *s = &p->sizes;
  for (int64_t i = 0; i < s->batch * s->m * s->k; i++) {
    int64_t at = i / s->k / s->m * s->lhs_batch + i / s->k % s->m * s->lhs_m + i % s->k * s->lhs_k;
    set(p, lhs, at, get(p, lhs, at) * (i / s->k % 2 == 0 ? lhs_factor : 1));
  }
  for (int64_t i = 0; i < s->batch * s->n * s->k; i++) {
    int64_t at = i / s->k / s->n * s->rhs_batch + i / s->k % s->n * s->rhs_n + i % s->k * s->rhs_k;
    set(p, rhs, at, get(p, rhs, at) * (i / s->k % 2 == 0 ? rhs_factor : 1));
  }
}

// Rows of subnormal numbers, whose sums are exact, too: on either side, of which the other is normal, large, or so large that scaled sums
// overflow; without memory; and infinities.
TEST(subnormal_numbers) {
  enum { SUBNORMAL = -1, LARGE = 1, LARGEST = 2 };
  static const struct {
    int lhs, rhs, copies;
  } cases[] = {{SUBNORMAL, 0, 1},     {0, SUBNORMAL, 1},       {SUBNORMAL, SUBNORMAL, 2},
               {SUBNORMAL, LARGE, 1}, {SUBNORMAL, LARGEST, 1}, {0, 0, 0}};
  for (int i = 0; i < 2 * 6 * 8; i++) {
    bool is_f32 = i % 2 == 0;
    int bits = i / 12;
    product p =
        make(is_f32 ? INDIM_F32 : INDIM_F64, 1 + bits / 4, 33, 46, 50, (bits & 1) != 0, (bits & 2) != 0, bits, false);
    void *lhs = filled(&p, p.lhs_count, 1);
    void *rhs = filled(&p, p.rhs_count, 1000);
    void *out = filled(&p, p.out_count, 5);
    REQUIRE(lhs != NULL && rhs != NULL && out != NULL);
    const double factors[] = {is_f32 ? 0x1p-145 : 0x1p-1070, 1, is_f32 ? 0x1p50 : 0x1p480, is_f32 ? 0x1p110 : 0x1p960};
    int c = i / 2 % 6;
    multiply_rows(&p, lhs, rhs, factors[cases[c].lhs + 1], factors[cases[c].rhs + 1]);
    check_scaled(&p, cases[c].copies, lhs, rhs, out);
    for (int with = 0; with < 2; with++) {
      void *again = filled(&p, p.out_count, 5);
      REQUIRE(again != NULL);
      asked = 0;
      indim_aligned_malloc = with == 0 ? no_memory : only_first;
      CHECK(indim_matmul_run(&(indim_blas){0}, NULL, NULL, &p.sizes, again, lhs, rhs));
      indim_aligned_malloc = malloc;
      CHECK(memcmp(again, out, (size_t)p.out_count * (is_f32 ? 4 : 8)) == 0);
      free(again);
    }
    set(&p, rhs, 0, (double)INFINITY);
    set(&p, lhs, 0, 1);
    CHECK(indim_matmul_run(&(indim_blas){0}, NULL, NULL, &p.sizes, out, lhs, rhs));
    CHECK(isinf(get(&p, out, 0)));
    free(lhs);
    free(rhs);
    free(out);
  }
  for (int bits = 0; bits < 4; bits++) {
    product p = own_transpose(INDIM_F32, 2, 40, 70, bits);
    float *side = filled(&p, p.lhs_count, 1);
    void *out = filled(&p, p.out_count, 5);
    REQUIRE(side != NULL && out != NULL);
    for (int64_t k = 0; k < p.sizes.k; k++) {
      side[k * p.sizes.lhs_k] = k == 0 ? 0x1p-140F : 0;
    }
    check_scaled(&p, 1, side, side, out);
    free(side);
    free(out);
  }
}

// Subnormal numbers that no result could tell are zeros, and nothing is copied: beside others in each sum, on either side, of the
// longer one of which there are fewer results; on threads, too. As soon as one result is small, they count.
TEST(subnormal_numbers_beside_others) {
  indim_pool *pool = NULL;
  indim_ctx *cx = NULL;
  REQUIRE(indim_ctx_create(NULL, &cx) == INDIM_OK && indim_pool_create(cx, 2, &pool) == INDIM_OK);
  for (int i = 0; i < 2 * 2 * 2 * 8; i++) {
    bool is_f32 = i % 2 == 0, in_lhs = i / 2 % 2 == 0, is_small = i / 4 % 2 == 0;
    int64_t few = i / 8 % 4 + 2;
    product p = make(is_f32 ? INDIM_F32 : INDIM_F64, 1, in_lhs ? 200 : few, in_lhs ? few : 200, 50, i / 8 % 2 == 0,
                     i / 16 % 2 == 0, 0, false);
    void *lhs = filled(&p, p.lhs_count, 1), *rhs = filled(&p, p.rhs_count, 1000), *out = filled(&p, p.out_count, 5);
    REQUIRE(lhs != NULL && rhs != NULL && out != NULL);
    const indim_host_matmul *sizes = &p.sizes;
    for (int side = 0; side < 2; side++) {
      bool has = (side == 0) == in_lhs;
      for (int64_t k = 0; k < sizes->k; k++) {
        for (int64_t j = 0; j < (side == 0 ? sizes->m : sizes->n); j++) {
          bool is_row = is_small && has && j == 17;
          double value =
              (double)((j * 7 + k * 3) % 5 + 1) * (is_row || (has && k % 2 == 1) ? (is_f32 ? 0x1p-145 : 0x1p-1070) : 1);
          set(&p, side == 0 ? lhs : rhs,
              side == 0 ? j * sizes->lhs_m + k * sizes->lhs_k : j * sizes->rhs_n + k * sizes->rhs_k, value);
        }
      }
    }
    check_scaled(&p, is_small ? 1 : 0, lhs, rhs, out);
    void *again = filled(&p, p.out_count, 5);
    REQUIRE(again != NULL);
    CHECK(indim_matmul_run(&(indim_blas){0}, indim_pool_run, pool, &p.sizes, again, lhs, rhs));
    CHECK(memcmp(again, out, (size_t)p.out_count * (is_f32 ? 4 : 8)) == 0);
    volatile float small = 0x1p-130F;
    CHECK(small * 0.5F > 0);
    free(lhs);
    free(rhs);
    free(out);
    free(again);
  }
  indim_pool_destroy(pool);
  indim_ctx_destroy(cx);
}

static void check_symmetric(const indim_blas *blas, indim_pool *pool, const product *p) {
  const indim_host_matmul *s = &p->sizes;
  void *side = filled(p, p->lhs_count, 1);
  void *before = filled(p, p->out_count, 5);
  void *out = filled(p, p->out_count, 5);
  REQUIRE(side != NULL && before != NULL && out != NULL);
  CHECK(indim_matmul_run(blas, pool == NULL ? NULL : indim_pool_run, pool, s, out, side, side));
  int64_t wrong = count_wrong(p, side, side, before, out);
  CHECK_MSG(wrong == 0, "batch %" PRId64 ", n %" PRId64 ", k %" PRId64 ": %" PRId64 " elements differ", s->batch, s->n,
            s->k, wrong);
  free(side);
  free(before);
  free(out);
}

// Sums that round: the same bits from all threads as from one, and on both sides of the diagonal.
static void check_symmetric_bits(const indim_blas *blas, indim_pool *pool, const product *p) {
  const indim_host_matmul *s = &p->sizes;
  char *side = filled(p, p->lhs_count, 1);
  char *alone = filled(p, p->out_count, 5);
  char *out = filled(p, p->out_count, 5);
  REQUIRE(side != NULL && alone != NULL && out != NULL);
  bool is_f32 = s->type == INDIM_F32;
  size_t size = is_f32 ? sizeof(float) : sizeof(double);
  uint32_t bits = 1;
  for (int64_t i = 0; i < p->lhs_count; i++) {
    bits = bits * 1664525U + 1013904223U;
    double x = 1 / (1.0 + (double)(bits >> 8));
    if (is_f32) {
      ((float *)(void *)side)[i] = (float)x;
    } else {
      ((double *)(void *)side)[i] = x;
    }
  }
  CHECK(indim_matmul_run(blas, NULL, NULL, s, alone, side, side));
  CHECK(indim_matmul_run(blas, indim_pool_run, pool, s, out, side, side));
  CHECK_MSG(memcmp(alone, out, (size_t)p->out_count * size) == 0, "n %" PRId64 ", k %" PRId64, s->n, s->k);
  int64_t wrong = 0;
  for (int64_t i = 0; i < s->n; i++) {
    for (int64_t j = 0; j < i; j++) {
      wrong += memcmp(out + (size_t)(i * s->out_m + j) * size, out + (size_t)(j * s->out_m + i) * size, size) != 0;
    }
  }
  CHECK_MSG(wrong == 0, "n %" PRId64 ", k %" PRId64 ": %" PRId64 " elements differ from their mirror images", s->n,
            s->k, wrong);
  free(side);
  free(alone);
  free(out);
}

TEST(ours_symmetric) {
  static const int64_t sizes[][3] = {{1, 17, 64}, {1, 33, 70},   {1, 100, 300}, {3, 50, 65},
                                     {0, 50, 65}, {1, 97, 64},   {1, 290, 129}, {1, 35, 5000},
                                     {1, 64, 63}, {1, 257, 300}, {1, 450, 700}, {1, 530, 260}};
  indim_ctx *cx = NULL;
  indim_pool *pool = NULL;
  REQUIRE(indim_ctx_create(NULL, &cx) == INDIM_OK);
  REQUIRE(indim_pool_create(cx, 3, &pool) == INDIM_OK);
  for (int32_t vector_bytes = 16; vector_bytes <= 64; vector_bytes *= 2) {
    const indim_blas blas = {.vector_bytes = vector_bytes};
    for (int bits = 0; bits < 8; bits++) {
      for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        product p = own_transpose((bits & 4) != 0 ? INDIM_F32 : INDIM_F64, sizes[i][0], sizes[i][1], sizes[i][2], bits);
        if (sizes[i][1] < 400) {
          check_symmetric(&blas, (bits & 2) != 0 ? pool : NULL, &p);
        }
        if (sizes[i][0] == 1 && sizes[i][2] < 5000) {
          check_symmetric_bits(&blas, pool, &p);
        }
      }
    }
  }
  product odd = own_transpose(INDIM_F32, 1, 17, 64, 0);
  odd.sizes.n--;
  CHECK(!indim_matmul_run(&(indim_blas){0}, NULL, NULL, &odd.sizes, NULL, NULL, NULL));
  indim_pool_destroy(pool);
  indim_ctx_destroy(cx);
}

TEST(library) {
  indim_blas blas = {0};
  indim_blas_open(&blas);
  if (blas.library == NULL) {
    printf("  no library of matrix products is installed: ours alone is tested\n");
    return;
  }
  check_sizes(&blas);
  // Sizes that are the library's, and what stays ours just below.
  static const struct {
    indim_type type;
    int64_t side;
    bool lhs_t, rhs_t, wants, wants_beside_wide;
  } large[] = {{INDIM_F32, 465, false, false, true, false}, {INDIM_F64, 465, false, true, true, false},
               {INDIM_F32, 465, true, false, true, false},  {INDIM_F64, 465, true, true, true, false},
               {INDIM_F32, 40, true, true, false, false},   {INDIM_F32, 272, false, false, false, false}};
  for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
    int64_t side = large[i].side;
    product p = make(large[i].type, 1, side, side, side, large[i].lhs_t, large[i].rhs_t, 3, true);
    CHECK(indim_matmul_wants_library(&p.sizes, 32) == large[i].wants);
    CHECK(indim_matmul_wants_library(&p.sizes, 64) == large[i].wants_beside_wide);
    check_product(&blas, NULL, &p);
  }
  indim_blas_close(&blas);
  CHECK(blas.sgemm == NULL);
}

// Numbers that do round: every split has to be the same for the bits to be.
static void check_threads(const indim_blas *blas, int64_t batch, int64_t m, int64_t n, int64_t k, bool rhs_t) {
  product p = make(INDIM_F32, batch, m, n, k, false, rhs_t, 0, false);
  indim_ctx *cx = NULL;
  float *lhs = filled(&p, p.lhs_count, 1);
  float *rhs = filled(&p, p.rhs_count, 2);
  float *outs[3] = {filled(&p, p.out_count, 0), filled(&p, p.out_count, 0), filled(&p, p.out_count, 0)};
  for (int64_t i = 0; i < p.lhs_count; i++) {
    lhs[i] = lhs[i] / 3 + (float)i * 1e-6F;
  }
  REQUIRE(indim_ctx_create(NULL, &cx) == INDIM_OK);
  static const int32_t threads[3] = {1, 2, 5};
  for (int i = 0; i < 3; i++) {
    indim_pool *pool = NULL;
    REQUIRE(indim_pool_create(cx, threads[i], &pool) == INDIM_OK);
    for (int round = 0; round < 3; round++) {
      CHECK(indim_matmul_run(blas, indim_pool_run, pool, &p.sizes, outs[i], lhs, rhs));
      CHECK(memcmp(outs[0], outs[i], (size_t)p.out_count * sizeof(float)) == 0);
    }
    indim_pool_destroy(pool);
    free(i > 0 ? outs[i] : NULL);
  }
  free(outs[0]);
  free(lhs);
  free(rhs);
  indim_ctx_destroy(cx);
}

static void check_many_threads(const indim_blas *blas) {
  check_threads(blas, 1, 517, 391, 130, false);
  check_threads(blas, 1, 300, 517, 130, true);
  check_threads(blas, 1, 1, 700, 900, false);
  check_threads(blas, 1, 3, 700, 900, false);
  check_threads(blas, 1, 8, 3000, 300, false);
  check_threads(blas, 1, 8, 600, 300, false);
  check_threads(blas, 1, 600, 1500, 5, true);
  check_threads(blas, 1, 1000, 8, 1000, false);
  check_threads(blas, 40, 33, 35, 37, false);
  check_threads(blas, 1, 16, 16, 20000, false);
  check_threads(blas, 1, 50, 3, 9000, true);
  check_threads(blas, 1, 333, 400, 300, true);
  check_threads(blas, 2, 2100, 300, 70, false);
}

TEST(ours_same_bits_for_any_number_of_threads) { check_many_threads(&(indim_blas){0}); }

TEST(library_same_bits_for_any_number_of_threads) {
  indim_blas blas = {0};
  indim_blas_open(&blas);
  check_many_threads(&blas);
  indim_blas_close(&blas);
}

TEST(senseless_sizes_are_refused) {
  float x[16] = {0};
  indim_blas none = {0};
  product p = make(INDIM_F32, 1, 2, 2, 2, false, false, 0, false);
  CHECK(indim_matmul_run(&none, NULL, NULL, &p.sizes, x, x, x));
  indim_host_matmul s = p.sizes;
  s.type = INDIM_S32;
  CHECK(!indim_matmul_run(&none, NULL, NULL, &s, x, x, x));
  s = p.sizes;
  s.m = -1;
  CHECK(!indim_matmul_run(&none, NULL, NULL, &s, x, x, x));
  s = p.sizes;
  s.lhs_m = s.lhs_k = 2;
  CHECK(!indim_matmul_run(&none, NULL, NULL, &s, x, x, x));
  s = p.sizes;
  s.rhs_k = s.rhs_n = 2;
  CHECK(!indim_matmul_run(&none, NULL, NULL, &s, x, x, x));
}

#define CASES(X)                                 \
  X(ours)                                        \
  X(ours_at_borders)                             \
  X(packed)                                      \
  X(packed_without_memory)                       \
  X(subnormal_numbers)                           \
  X(subnormal_numbers_beside_others)             \
  X(library)                                     \
  X(ours_symmetric)                              \
  X(ours_same_bits_for_any_number_of_threads)    \
  X(library_same_bits_for_any_number_of_threads) \
  X(senseless_sizes_are_refused)

TEST_MAIN(CASES)
