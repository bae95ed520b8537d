// The builder of loop programs: where nodes are put, what is shared, what is simplified, and that it survives every
// failing allocation.
#include "loop/build.h"
#include "test.h"

typedef struct fixture {
  indim_ctx *cx;
  indim_loop_program *program;
  indim_loop_builder b;
} fixture;

static bool open_fixture(fixture *f) {
  const indim_loop_target target = {.vector_bytes = 32, .has_fma = true, .cache_bytes = {32768, 1 << 20, 1 << 24}};
  *f = (fixture){.cx = NULL};
  if (indim_ctx_create(NULL, &f->cx) != INDIM_OK ||
      indim_loop_program_create(f->cx, NULL, &target, &f->program) != INDIM_OK) {
    indim_ctx_destroy(f->cx);
    return false;
  }
  indim_loop_builder_init(&f->b, f->program);
  return true;
}

static void close_fixture(fixture *f) {
  indim_loop_builder_deinit(&f->b);
  indim_loop_program_destroy(f->program);
  CHECK_EQ_UINT(indim_ctx_memory_in_use(f->cx), 0);
  indim_ctx_destroy(f->cx);
}

static indim_loop_body *body_of(const fixture *f, indim_lval v) { return indim_loop_value_of(&f->b, v)->body; }

TEST(invariant_nodes_leave_the_loop) {
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_storage *a = indim_loop_storage(b, INDIM_STORAGE_ARGUMENT, INDIM_F32, 64, "a");
  indim_storage *s = indim_loop_storage(b, INDIM_STORAGE_ARGUMENT, INDIM_F32, 1, "s");
  indim_storage *r = indim_loop_storage(b, INDIM_STORAGE_RESULT, INDIM_F32, 64, "r");
  indim_loop_kernel_begin(b, &r, 1);
  indim_lval i = indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, 64), 8, 0, NULL, NULL);
  CHECK_EQ_INT(indim_loop_value_of(b, i)->high, 56);
  indim_lval x = indim_loop_load(b, a, i, 8, 1);
  indim_lval y = indim_loop_load(b, s, indim_loop_index(b, 0), 1, 1);
  indim_lval wide = indim_loop_splat(b, y, 8);
  indim_lval sum = indim_loop_binary(b, INDIM_OP_ADD, x, wide);
  CHECK(body_of(&f, y) == f.program->body);
  CHECK(body_of(&f, wide) == f.program->body);
  CHECK(body_of(&f, x) == b->body);
  CHECK(body_of(&f, sum) == b->body);
  CHECK_EQ_INT(indim_loop_load(b, a, i, 8, 1), x);
  indim_loop_store(b, r, i, sum, 1, false);
  indim_loop_for_end(b, NULL, NULL);
  CHECK_EQ_INT(b->status, INDIM_OK);
  CHECK_EQ_INT(f.program->body->last->kind, INDIM_NODE_FOR);
  CHECK_EQ_INT(indim_loop_verify(f.program), INDIM_OK);
  close_fixture(&f);
}

#define CASES(X) X(invariant_nodes_leave_the_loop)
TEST_MAIN(CASES)
