// The pass that prefetches what stores will overwrite: which stores, how far ahead, and for which targets.
#include "loop/pass/pass.h"
#include "loop/target/cost.h"
#include "loop_test.h"

// What a store in a loop over |elements| of f32 prefetches, in elements: a vector of 8 every |step| elements from |first| on.
static int64_t prefetched(bool prefetches_stores, int64_t elements, int64_t first, int64_t step, bool non_temporal) {
  fixture f;
  if (!open_fixture(&f)) {
    return -1;
  }
  f.program->target.prefetches_stores = prefetches_stores;
  indim_loop_builder *b = &f.b;
  indim_storage *out = indim_loop_storage(b, INDIM_STORAGE_RESULT, INDIM_F32, elements, "out");
  indim_loop_region_begin(b, &out, 1);
  indim_value_id x = indim_loop_splat(b, indim_loop_const(b, INDIM_F32, 0, 0), 8);
  indim_value_id i =
      indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, elements / step), 1, 0, NULL, NULL);
  indim_loop_store(b, out, indim_loop_add_const(b, indim_loop_mul_const(b, i, step), first), x, 1, non_temporal);
  const indim_loop_node *store = b->body->last;
  indim_loop_for_end(b, NULL, NULL);
  bool ok = b->status == INDIM_OK && store->kind == INDIM_NODE_STORE && indim_pass_prefetch(f.program) == INDIM_OK;
  int64_t distance = ok ? store->u.memory.prefetch : -1;
  close_fixture(&f);
  return distance;
}

TEST(streams_of_stores) {
  enum { LARGE = 1 << 20, SMALL = 1 << 16, AHEAD = INDIM_COST_PREFETCHED_STORES / 4 };
  CHECK_EQ_INT(prefetched(true, LARGE, 0, 16, false), AHEAD);
  CHECK_EQ_INT(prefetched(true, LARGE, 0, 24, false), AHEAD / 24 * 24);  // of a step that has one
  CHECK_EQ_INT(prefetched(false, LARGE, 0, 16, false), 0);
  CHECK_EQ_INT(prefetched(true, SMALL, 0, 16, false), 0);         // it stays in the nearer caches
  CHECK_EQ_INT(prefetched(true, LARGE, 8, 16, false), 0);         // the line's first vector asks
  CHECK_EQ_INT(prefetched(true, LARGE, 0, 2 * AHEAD, false), 0);  // no stream
  CHECK_EQ_INT(prefetched(true, LARGE, 0, 16, true), 0);
}

#define CASES(X) X(streams_of_stores)

TEST_MAIN(CASES)
