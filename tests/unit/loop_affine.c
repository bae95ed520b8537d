// Affine expressions: what values are as sums, what sums are together, and decompositions: which terms stay, what the rest
// reaches, and what is not known.
#include "loop/ir/affine.h"

#include "loop_test.h"

// A loop i in 0..8 around a loop j in 16 i .. 16 i + 10 step 3 that carries c, and data from memory.
typedef struct nest {
  fixture f;
  indim_value_id i, j, c, data, held;
} nest;

static bool open_nest(nest *n) {
  *n = (nest){.i = 0};
  if (!open_fixture(&n->f)) {
    return false;
  }
  indim_loop_builder *b = &n->f.b;
  indim_storage *a = indim_loop_storage(b, INDIM_STORAGE_ARGUMENT, INDIM_S64, 64, "a");
  indim_loop_region_begin(b, NULL, 0);
  indim_value_id zero = indim_loop_index(b, 0);
  n->i = simple_for(b, 8);
  indim_value_id begin = indim_loop_mul_const(b, n->i, 16);
  n->j = indim_loop_for_begin(b, begin, indim_loop_add_const(b, begin, 10), 3, 1, &zero, &n->c);
  n->data = indim_loop_load(b, a, n->i, 1, 1);
  n->held = indim_loop_clamp_index(b, n->data, 2, 5);
  return b->status == INDIM_OK;
}

static void close_nest(nest *n) {
  indim_loop_for_end(&n->f.b, &n->c, &n->held);
  indim_loop_for_end(&n->f.b, NULL, NULL);
  close_fixture(&n->f);
}

// |user| is the one term that stays, or NULL.
static bool keeps_one(const void *user, indim_value_id term) {
  return user != NULL && *(const indim_value_id *)user == term;
}

static bool keeps_all(const void *user, indim_value_id term) { return user == NULL && term > 0; }

static bool decompose(nest *n, indim_value_id address, const indim_value_id *kept, indim_affine *out) {
  return indim_affine_decompose(n->f.program, address, 0, 3, keeps_one, kept, out);
}

static void check_sum(const indim_affine *p, indim_value_id term, int64_t coefficient, int64_t low, int64_t high) {
  CHECK_EQ_INT(p->count, coefficient != 0);
  CHECK_EQ_INT(indim_affine_coefficient(p, term), coefficient);
  CHECK_EQ_INT(p->low, low);
  CHECK_EQ_INT(p->high, high);
}

TEST(sums_and_ranges) {
  nest n;
  indim_affine p;
  REQUIRE(open_nest(&n));
  indim_loop_builder *b = &n.f.b;
  const indim_value_id args[2] = {n.i, n.held};
  indim_value_id sum = indim_loop_affine(b, 7, 2, args, (const int64_t[]){10, -2});
  REQUIRE(decompose(&n, sum, &n.i, &p));
  check_sum(&p, n.i, 10, 7 - 10, 7 - 4 + 3);
  REQUIRE(decompose(&n, sum, NULL, &p));
  check_sum(&p, n.i, 0, 7 - 10, 7 - 4 + 70 + 3);
  REQUIRE(decompose(&n, indim_loop_index(b, 40), NULL, &p));
  check_sum(&p, n.i, 0, 40, 43);
  close_nest(&n);
}

TEST(an_index_is_its_begin_and_its_reach) {
  nest n;
  indim_affine p;
  REQUIRE(open_nest(&n));
  REQUIRE(decompose(&n, n.j, &n.i, &p));
  check_sum(&p, n.i, 16, 0, 9 + 3);
  REQUIRE(decompose(&n, n.j, &n.j, &p));
  check_sum(&p, n.j, 1, 0, 3);
  // 2 j - 32 i: the begins cancel.
  indim_value_id both = indim_loop_affine(&n.f.b, 0, 2, (const indim_value_id[]){n.j, n.i}, (const int64_t[]){2, -32});
  REQUIRE(decompose(&n, both, &n.i, &p));
  check_sum(&p, n.i, 0, 0, 18 + 3);
  close_nest(&n);
}

// A loop that runs once: its index stays if it is asked to, and is a number else.
TEST(an_index_of_one_step) {
  nest n;
  indim_affine p;
  REQUIRE(open_nest(&n));
  indim_loop_builder *b = &n.f.b;
  indim_value_id once = indim_loop_for_begin(b, indim_loop_index(b, 4), indim_loop_index(b, 5), 1, 0, NULL, NULL);
  REQUIRE(decompose(&n, once, &once, &p));
  check_sum(&p, once, 1, 0, 3);
  REQUIRE(decompose(&n, once, NULL, &p));
  check_sum(&p, once, 0, 4, 7);
  indim_loop_for_end(b, NULL, NULL);
  close_nest(&n);
}

TEST(lanes_are_a_window) {
  nest n;
  indim_affine p;
  REQUIRE(open_nest(&n));
  const uint64_t bits[8] = {3, 0, 1, 0, 9, 0, 4, 0};
  const indim_value_id args[2] = {n.i, indim_loop_lanes(&n.f.b, INDIM_S64, 4, bits)};
  indim_value_id at = indim_loop_affine(&n.f.b, 0, 2, args, (const int64_t[]){8, 2});
  REQUIRE(indim_affine_decompose(n.f.program, at, 0, 0, keeps_all, NULL, &p));
  check_sum(&p, n.i, 8, 2, 18);
  close_nest(&n);
}

TEST(the_unknown) {
  nest n;
  indim_affine p;
  REQUIRE(open_nest(&n));
  CHECK(!decompose(&n, n.data, NULL, &p));
  CHECK(!decompose(&n, n.c, &n.i, &p));  // carried: not the index, whatever that reaches
  CHECK(decompose(&n, n.data, &n.data, &p));
  indim_value_id beyond = indim_loop_affine(&n.f.b, INT64_MAX - 2, 1, &n.data, &(int64_t){1});
  CHECK(!decompose(&n, beyond, &n.data, &p));  // the window passes the end
  close_nest(&n);
}

TEST(adding) {
  indim_affine p = {.low = 0, .high = 0};
  CHECK(indim_affine_add(&p, 7, 2) && indim_affine_add(&p, 3, 5) && indim_affine_add(&p, 7, 4));
  CHECK_EQ_INT(p.count, 2);
  CHECK(p.terms[0] == 3 && p.terms[1] == 7 && p.coefficients[1] == 6);
  indim_affine q = p;
  CHECK(indim_affine_add(&p, 7, -6) && indim_affine_add(&p, 9, 0));
  CHECK_EQ_INT(p.count, 1);
  CHECK(indim_affine_same_terms(&q, &q) && !indim_affine_same_terms(&p, &q));
  CHECK_EQ_INT(indim_affine_coefficient(&p, 7), 0);
  CHECK(!indim_affine_add(&q, 7, INT64_MAX));
  CHECK(indim_affine_widen(&p, -2, 1, 5));
  CHECK(p.low == -10 && p.high == -2);
  CHECK(!indim_affine_widen(&p, INT64_MAX, 2, 3));
  indim_affine_cover(&p, &(indim_affine){.low = -3, .high = 8});
  CHECK(p.low == -10 && p.high == 8);
  p = (indim_affine){.count = 0};
  for (indim_value_id term = 1; term <= INDIM_MAX_AFFINE_TERMS; term++) {
    CHECK(indim_affine_add(&p, term, 1));
  }
  CHECK(!indim_affine_add(&p, INDIM_MAX_AFFINE_TERMS + 1, 1));
}

TEST(values_as_sums) {
  nest n;
  indim_affine x;
  int64_t low = 0;
  int64_t high = 0;
  REQUIRE(open_nest(&n));
  indim_affine_of(n.f.program, n.i, &x);
  check_sum(&x, n.i, 1, 0, 0);
  indim_affine_of(n.f.program, indim_loop_index(&n.f.b, -5), &x);
  check_sum(&x, n.i, 0, -5, -5);
  const indim_value_id args[2] = {n.i, n.held};
  indim_affine_of(n.f.program, indim_loop_affine(&n.f.b, 7, 2, args, (const int64_t[]){10, -2}), &x);
  CHECK_EQ_INT(x.count, 2);
  CHECK(indim_affine_coefficient(&x, n.i) == 10 && indim_affine_coefficient(&x, n.held) == -2);
  indim_affine_range(n.f.program, &x, &low, &high);
  CHECK(low == 7 - 10 && high == 7 + 70 - 4);
  CHECK(indim_affine_widen(&x, 1, -1, 2));
  indim_affine_range(n.f.program, &x, &low, &high);
  CHECK(low == 7 - 10 - 1 && high == 7 + 70 - 4 + 2);
  CHECK(indim_affine_add(&x, n.data, 1));
  indim_affine_range(n.f.program, &x, &low, &high);
  CHECK(low == INT64_MIN && high == INT64_MAX);
  close_nest(&n);
}

TEST(sums_of_sums) {
  nest n;
  indim_affine x = {.low = 3, .high = 3};
  indim_affine y = {.low = 1, .high = 2};
  int64_t distance = 0;
  REQUIRE(open_nest(&n));
  CHECK(indim_affine_add(&x, n.i, 4) && indim_affine_add(&y, n.i, 2) && indim_affine_add(&y, n.j, 1));
  CHECK(indim_affine_add_scaled(&x, &y, -2));
  check_sum(&x, n.j, -2, -1, 1);
  CHECK(!indim_affine_add_scaled(&x, &y, INT64_MAX));
  CHECK_EQ_INT(indim_affine_remove(&y, n.i), 2);
  CHECK_EQ_INT(indim_affine_remove(&y, n.i), 0);
  check_sum(&y, n.j, 1, 1, 2);
  indim_value_id begin = indim_loop_affine(&n.f.b, 7, 2, (const indim_value_id[]){n.i, n.j}, (const int64_t[]){10, -2});
  CHECK(indim_affine_distance(n.f.program, begin, indim_loop_add_const(&n.f.b, begin, -4), &distance));
  CHECK_EQ_INT(distance, -4);
  CHECK(!indim_affine_distance(n.f.program, begin, n.i, &distance));
  close_nest(&n);
}

#define CASES(X)                         \
  X(sums_and_ranges)                     \
  X(an_index_is_its_begin_and_its_reach) \
  X(an_index_of_one_step)                \
  X(lanes_are_a_window)                  \
  X(the_unknown)                         \
  X(adding)                              \
  X(values_as_sums)                      \
  X(sums_of_sums)
TEST_MAIN(CASES)
