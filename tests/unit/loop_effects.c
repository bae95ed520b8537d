// What nodes do with memory: storages, windows around addresses, and what is read, written or masked.
#include "loop/ir/effects.h"

#include "loop_test.h"

typedef struct memory {
  fixture f;
  indim_storage *a, *r;
  indim_value_id zero, vector;
} memory;

static bool open_memory(memory *m) {
  *m = (memory){.zero = 0};
  if (!open_fixture(&m->f)) {
    return false;
  }
  indim_loop_builder *b = &m->f.b;
  m->a = indim_loop_storage(b, INDIM_STORAGE_ARGUMENT, INDIM_F32, 64, "a");
  m->r = indim_loop_storage(b, INDIM_STORAGE_RESULT, INDIM_F32, 64, "r");
  indim_loop_region_begin(b, &m->r, 1);
  m->zero = indim_loop_index(b, 0);
  m->vector = indim_loop_splat(b, indim_loop_const(b, INDIM_F32, 0, 0), 8);
  return b->status == INDIM_OK;
}

static const indim_loop_node *last(const memory *m) { return m->f.program->body->last; }

static void check_effect(const indim_effect *e, const indim_storage *storage, indim_value_id address, int64_t low,
                         int64_t high) {
  CHECK_EQ_INT(e->storage, storage->index);
  CHECK_EQ_INT(e->address, address);
  CHECK_EQ_INT(e->low, low);
  CHECK_EQ_INT(e->high, high);
}

TEST(loads_and_stores) {
  memory m;
  indim_effect e[INDIM_MAX_EFFECTS];
  REQUIRE(open_memory(&m));
  indim_loop_builder *b = &m.f.b;
  indim_value_id x = indim_loop_load(b, m.a, m.zero, 8, 3);
  REQUIRE(indim_loop_effects(m.f.program, node_of(&m.f, x), e) == 1);
  check_effect(&e[0], m.a, m.zero, 0, 21);
  CHECK(e[0].reads && !e[0].writes && !e[0].is_masked);
  indim_value_id end = indim_loop_index(b, 63);
  indim_loop_store(b, m.r, end, m.vector, -1, false);
  REQUIRE(indim_loop_effects(m.f.program, last(&m), e) == 1);
  check_effect(&e[0], m.r, end, -7, 0);
  CHECK(!e[0].reads && e[0].writes && !e[0].is_masked);
  uint64_t bits[16] = {1};
  indim_value_id mask = indim_loop_lanes(b, INDIM_PRED, 8, bits);
  indim_loop_store_masked(b, m.r, m.zero, m.vector, 1, mask);
  REQUIRE(indim_loop_effects(m.f.program, last(&m), e) == 1);
  CHECK(e[0].writes && e[0].is_masked && e[0].high == 7);
  close_fixture(&m.f);
}

TEST(each_lane_at_its_own_address) {
  memory m;
  indim_effect e[INDIM_MAX_EFFECTS];
  REQUIRE(open_memory(&m));
  uint64_t bits[16] = {4, 0, 9};
  indim_value_id addresses = indim_loop_lanes(&m.f.b, INDIM_S64, 8, bits);
  indim_value_id x = indim_loop_load(&m.f.b, m.a, addresses, 8, 1);
  REQUIRE(indim_loop_effects(m.f.program, node_of(&m.f, x), e) == 1);
  check_effect(&e[0], m.a, addresses, 0, 0);
  close_fixture(&m.f);
}

TEST(blocks) {
  memory m;
  indim_effect e[INDIM_MAX_EFFECTS];
  REQUIRE(open_memory(&m));
  indim_loop_builder *b = &m.f.b;
  indim_value_id from = indim_loop_index(b, 32);
  indim_loop_copy(b, m.r, m.zero, m.a, from, 16);
  REQUIRE(indim_loop_effects(m.f.program, last(&m), e) == 2);
  check_effect(&e[0], m.a, from, 0, 15);
  check_effect(&e[1], m.r, m.zero, 0, 15);
  CHECK(e[0].reads && !e[0].writes && !e[1].reads && e[1].writes);
  indim_loop_fill(b, m.r, from, indim_loop_const(b, INDIM_F32, 0, 0), 0);
  REQUIRE(indim_loop_effects(m.f.program, last(&m), e) == 1);
  CHECK(e[0].writes && e[0].low > e[0].high);
  close_fixture(&m.f);
}

// out[4,5] += lhs[4,6] * rhs[6,5], of which the left side's rows go backwards.
TEST(products) {
  memory m;
  indim_effect e[INDIM_MAX_EFFECTS];
  REQUIRE(open_memory(&m));
  indim_host_matmul numbers = {INDIM_F32, 1, 4, 5, 6, 0, -6, 1, 0, 5, 1, 0, 5, 0, 0, 0, 0, 0};
  const indim_value_id at[3] = {m.zero, indim_loop_index(&m.f.b, 18), m.zero};
  indim_storage *const storages[3] = {m.r, m.a, m.a};
  for (int i = 0; i < 2; i++) {
    numbers.accumulate = i;
    call_matmul(&m.f.b, storages, at, numbers);
    REQUIRE(indim_loop_effects(m.f.program, last(&m), e) == 3);
    check_effect(&e[0], m.r, at[0], 0, 3 * 5 + 4);
    check_effect(&e[1], m.a, at[1], -3 * 6, 5);
    check_effect(&e[2], m.a, at[2], 0, 5 * 5 + 4);
    CHECK(e[0].writes && e[0].reads == (i == 1) && e[1].reads && !e[1].writes && e[2].reads && !e[2].writes);
  }
  numbers.k = 0;
  call_matmul(&m.f.b, storages, at, numbers);
  REQUIRE(indim_loop_effects(m.f.program, last(&m), e) == 3);
  CHECK(e[0].low <= e[0].high && e[1].low > e[1].high && e[2].low > e[2].high);
  close_fixture(&m.f);
}

TEST(convolutions) {
  memory m;
  indim_effect e[INDIM_MAX_EFFECTS];
  REQUIRE(open_memory(&m));
  indim_host_convolution numbers = small_convolution();
  const indim_value_id at[3] = {m.zero, m.zero, indim_loop_index(&m.f.b, 6)};
  indim_storage *const storages[3] = {m.r, m.a, m.a};
  call_convolution(&m.f.b, storages, at, numbers);
  REQUIRE(indim_loop_effects(m.f.program, last(&m), e) == 3);
  check_effect(&e[0], m.r, at[0], 0, 4 * 3 - 1);
  check_effect(&e[1], m.a, at[1], 0, 5 * 2 - 1);
  check_effect(&e[2], m.a, at[2], -6, 2 * 3 - 1);
  CHECK(e[0].writes && !e[0].reads && e[1].reads && !e[1].writes && e[2].reads && !e[2].writes);
  numbers.dims[0].in = 0;
  call_convolution(&m.f.b, storages, at, numbers);
  REQUIRE(indim_loop_effects(m.f.program, last(&m), e) == 3);
  CHECK(e[0].low <= e[0].high && e[1].low > e[1].high && e[2].low <= e[2].high);
  close_fixture(&m.f);
}

TEST(others_have_none) {
  memory m;
  indim_effect e[INDIM_MAX_EFFECTS];
  REQUIRE(open_memory(&m));
  CHECK_EQ_INT(indim_loop_effects(m.f.program, node_of(&m.f, m.vector), e), 0);
  indim_loop_prefetch(&m.f.b, m.a, m.zero, 100, 8);
  CHECK_EQ_INT(indim_loop_effects(m.f.program, last(&m), e), 0);
  simple_for(&m.f.b, 4);
  indim_loop_store(&m.f.b, m.r, m.zero, m.vector, 1, false);
  indim_loop_for_end(&m.f.b, NULL, NULL);
  CHECK_EQ_INT(last(&m)->kind, INDIM_NODE_FOR);
  CHECK_EQ_INT(indim_loop_effects(m.f.program, last(&m), e), 0);
  close_fixture(&m.f);
}

#define CASES(X)                  \
  X(loads_and_stores)             \
  X(each_lane_at_its_own_address) \
  X(blocks)                       \
  X(products)                     \
  X(convolutions)                 \
  X(others_have_none)
TEST_MAIN(CASES)
