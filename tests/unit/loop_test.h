// What the tests of loop programs share: a program with its builder, and an interpreter of pure nodes.
#ifndef INDIM_LOOP_TEST_H
#define INDIM_LOOP_TEST_H

#include <stdlib.h>

#include "array/element.h"
#include "loop/ir/build.h"
#include "test.h"

typedef struct fixture {
  indim_ctx *cx;
  indim_loop_program *program;
  indim_loop_builder b;
} fixture;

static inline bool open_fixture(fixture *f) {
  const indim_target target = {.vector_bytes = 32, .has_fma = true, .cache_bytes = {32768, 1 << 20, 1 << 24}};
  *f = (fixture){.cx = NULL};
  if (indim_ctx_create(NULL, &f->cx) != INDIM_OK ||
      indim_loop_program_create(f->cx, NULL, &target, &f->program) != INDIM_OK) {
    indim_ctx_destroy(f->cx);
    return false;
  }
  indim_loop_builder_init(&f->b, f->program);
  return true;
}

static inline void close_fixture(fixture *f) {
  indim_loop_builder_deinit(&f->b);
  indim_loop_program_destroy(f->program);
  CHECK_EQ_UINT(indim_ctx_memory_in_use(f->cx), 0);
  indim_ctx_destroy(f->cx);
}

static inline indim_loop_body *body_of(const fixture *f, indim_value_id v) { return f->program->values[v].body; }

static inline const indim_loop_node *node_of(const fixture *f, indim_value_id v) { return f->program->values[v].node; }

static inline indim_node_kind kind_of(const fixture *f, indim_value_id v) {
  return v > 0 && node_of(f, v) != NULL ? node_of(f, v)->kind : INDIM_NODE_COUNT;
}

// for 0..end step 1 that carries nothing; answers the index.
static inline indim_value_id simple_for(indim_loop_builder *b, int64_t end) {
  return indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, end), 1, 0, NULL, NULL);
}

// A repeatable stream of numbers.
typedef struct random_stream {
  uint64_t state;
} random_stream;

static inline int64_t draw(random_stream *r, int64_t low, int64_t high) {
  r->state = r->state * 6364136223846793005U + 1442695040888963407U;
  return low + (int64_t)((r->state >> 33) % (uint64_t)(high - low + 1));
}

// A call of matmul: storages and addresses of out, lhs, rhs.
static inline void call_matmul(indim_loop_builder *b, indim_storage *const storages[3],
                               const indim_value_id addresses[3], indim_host_matmul sizes) {
  indim_loop_host(b, &(indim_host_call){.service = INDIM_HOST_MATMUL,
                                        .storage_count = 3,
                                        .written_count = 1,
                                        .storages = storages,
                                        .addresses = addresses,
                                        .numbers = &sizes});
}

// A convolution along one dimension: out[4,3] of image[5,2] and filter[2,2,3], the taps in reversed order. The
// address in the filter is that of its last tap.
static inline indim_host_convolution small_convolution(void) {
  const indim_host_convolution_dim none = {1, 1, 1, 1, 1, 1, 0, 0, 0, 0};
  return (indim_host_convolution){.type = INDIM_F32,
                                  .groups = 1,
                                  .batch = 1,
                                  .features = 2,
                                  .outputs = 3,
                                  .image_feature = 1,
                                  .filter_feature = 3,
                                  .dims = {{4, 5, 2, 1, 1, 1, 0, 3, 2, -6}, none, none}};
}

static inline void call_convolution(indim_loop_builder *b, indim_storage *const storages[3],
                                    const indim_value_id addresses[3], indim_host_convolution sizes) {
  indim_loop_host(b, &(indim_host_call){.service = INDIM_HOST_CONVOLUTION,
                                        .storage_count = 3,
                                        .written_count = 1,
                                        .storages = storages,
                                        .addresses = addresses,
                                        .numbers = &sizes});
}

#endif  // INDIM_LOOP_TEST_H
