// Addresses taken apart: which terms stay, what the rest reaches, and what is not known.
#include "loop/ir/place.h"

#include "loop_test.h"

// A loop i in 0..8 around a loop j in 16 i .. 16 i + 10 step 3 that carries c, and data from memory.
typedef struct nest {
  fixture f;
  indim_lval i, j, c, data, held;
} nest;

static bool open_nest(nest *n) {
  *n = (nest){.i = 0};
  if (!open_fixture(&n->f)) {
    return false;
  }
  indim_loop_builder *b = &n->f.b;
  indim_storage *a = indim_loop_storage(b, INDIM_STORAGE_ARGUMENT, INDIM_S64, 64, "a");
  indim_loop_kernel_begin(b, NULL, 0);
  indim_lval zero = indim_loop_index(b, 0);
  n->i = simple_for(b, 8);
  indim_lval begin = indim_loop_mul_const(b, n->i, 16);
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
static bool keeps_one(const void *user, indim_lval term) { return user != NULL && *(const indim_lval *)user == term; }

static bool keeps_all(const void *user, indim_lval term) { return user == NULL && term > 0; }

static bool apart(nest *n, indim_lval address, const indim_lval *kept, indim_loop_place *out) {
  return indim_loop_take_apart(n->f.program, address, 0, 3, keeps_one, kept, out);
}

static void check_place(const indim_loop_place *p, indim_lval term, int64_t coefficient, int64_t low, int64_t high) {
  CHECK_EQ_INT(p->count, coefficient != 0);
  CHECK_EQ_INT(indim_loop_place_coefficient(p, term), coefficient);
  CHECK_EQ_INT(p->low, low);
  CHECK_EQ_INT(p->high, high);
}

TEST(sums_and_ranges) {
  nest n;
  indim_loop_place p;
  REQUIRE(open_nest(&n));
  indim_loop_builder *b = &n.f.b;
  const indim_lval args[2] = {n.i, n.held};
  indim_lval sum = indim_loop_affine(b, 7, 2, args, (const int64_t[]){10, -2});
  REQUIRE(apart(&n, sum, &n.i, &p));
  check_place(&p, n.i, 10, 7 - 10, 7 - 4 + 3);
  REQUIRE(apart(&n, sum, NULL, &p));
  check_place(&p, n.i, 0, 7 - 10, 7 - 4 + 70 + 3);
  REQUIRE(apart(&n, indim_loop_index(b, 40), NULL, &p));
  check_place(&p, n.i, 0, 40, 43);
  close_nest(&n);
}

TEST(an_index_is_its_begin_and_its_reach) {
  nest n;
  indim_loop_place p;
  REQUIRE(open_nest(&n));
  REQUIRE(apart(&n, n.j, &n.i, &p));
  check_place(&p, n.i, 16, 0, 9 + 3);
  REQUIRE(apart(&n, n.j, &n.j, &p));
  check_place(&p, n.j, 1, 0, 3);
  // 2 j - 32 i: the begins cancel.
  indim_lval both = indim_loop_affine(&n.f.b, 0, 2, (const indim_lval[]){n.j, n.i}, (const int64_t[]){2, -32});
  REQUIRE(apart(&n, both, &n.i, &p));
  check_place(&p, n.i, 0, 0, 18 + 3);
  close_nest(&n);
}

// A loop that runs once: its index stays if it is asked to, and is a number else.
TEST(an_index_of_one_step) {
  nest n;
  indim_loop_place p;
  REQUIRE(open_nest(&n));
  indim_loop_builder *b = &n.f.b;
  indim_lval once = indim_loop_for_begin(b, indim_loop_index(b, 4), indim_loop_index(b, 5), 1, 0, NULL, NULL);
  REQUIRE(apart(&n, once, &once, &p));
  check_place(&p, once, 1, 0, 3);
  REQUIRE(apart(&n, once, NULL, &p));
  check_place(&p, once, 0, 4, 7);
  indim_loop_for_end(b, NULL, NULL);
  close_nest(&n);
}

TEST(lanes_are_a_window) {
  nest n;
  indim_loop_place p;
  REQUIRE(open_nest(&n));
  const uint64_t bits[8] = {3, 0, 1, 0, 9, 0, 4, 0};
  const indim_lval args[2] = {n.i, indim_loop_lanes(&n.f.b, INDIM_S64, 4, bits)};
  indim_lval at = indim_loop_affine(&n.f.b, 0, 2, args, (const int64_t[]){8, 2});
  REQUIRE(indim_loop_take_apart(n.f.program, at, 0, 0, keeps_all, NULL, &p));
  check_place(&p, n.i, 8, 2, 18);
  close_nest(&n);
}

TEST(the_unknown) {
  nest n;
  indim_loop_place p;
  REQUIRE(open_nest(&n));
  CHECK(!apart(&n, n.data, NULL, &p));
  CHECK(!apart(&n, n.c, &n.i, &p));  // carried: not the index, whatever that reaches
  CHECK(apart(&n, n.data, &n.data, &p));
  indim_lval beyond = indim_loop_affine(&n.f.b, INT64_MAX - 2, 1, &n.data, &(int64_t){1});
  CHECK(!apart(&n, beyond, &n.data, &p));  // the window passes the end
  close_nest(&n);
}

TEST(adding) {
  indim_loop_place p = {.low = 0, .high = 0};
  CHECK(indim_loop_place_add(&p, 7, 2) && indim_loop_place_add(&p, 3, 5) && indim_loop_place_add(&p, 7, 4));
  CHECK_EQ_INT(p.count, 2);
  CHECK(p.terms[0] == 3 && p.terms[1] == 7 && p.coefficients[1] == 6);
  indim_loop_place q = p;
  CHECK(indim_loop_place_add(&p, 7, -6) && indim_loop_place_add(&p, 9, 0));
  CHECK_EQ_INT(p.count, 1);
  CHECK(indim_loop_place_same_terms(&q, &q) && !indim_loop_place_same_terms(&p, &q));
  CHECK_EQ_INT(indim_loop_place_coefficient(&p, 7), 0);
  CHECK(!indim_loop_place_add(&q, 7, INT64_MAX));
  CHECK(indim_loop_place_widen(&p, -2, 1, 5));
  CHECK(p.low == -10 && p.high == -2);
  CHECK(!indim_loop_place_widen(&p, INT64_MAX, 2, 3));
  indim_loop_place_cover(&p, &(indim_loop_place){.low = -3, .high = 8});
  CHECK(p.low == -10 && p.high == 8);
  p = (indim_loop_place){.count = 0};
  for (indim_lval term = 1; term <= INDIM_MAX_PLACE_TERMS; term++) {
    CHECK(indim_loop_place_add(&p, term, 1));
  }
  CHECK(!indim_loop_place_add(&p, INDIM_MAX_PLACE_TERMS + 1, 1));
}

#define CASES(X)                         \
  X(sums_and_ranges)                     \
  X(an_index_is_its_begin_and_its_reach) \
  X(an_index_of_one_step)                \
  X(lanes_are_a_window)                  \
  X(the_unknown)                         \
  X(adding)
TEST_MAIN(CASES)
