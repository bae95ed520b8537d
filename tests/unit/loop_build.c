// The builder of loop programs: where nodes are put, what is shared, what is simplified, and that it survives every
// failing allocation.
#include "allocator_test.h"
#include "loop_test.h"

// Placing ---------------------------------------------------------------------------------------------------------------

TEST(invariant_nodes_leave_the_loop) {
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_storage *a = indim_loop_storage(b, INDIM_STORAGE_ARGUMENT, INDIM_F32, 64, "a");
  indim_storage *s = indim_loop_storage(b, INDIM_STORAGE_ARGUMENT, INDIM_F32, 1, "s");
  indim_storage *r = indim_loop_storage(b, INDIM_STORAGE_RESULT, INDIM_F32, 64, "r");
  indim_loop_region_begin(b, &r, 1);
  indim_value_id i = indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, 64), 8, 0, NULL, NULL);
  CHECK_EQ_INT(indim_loop_value_of(b, i)->high, 56);
  indim_value_id x = indim_loop_load(b, a, i, 8, 1);
  indim_value_id y = indim_loop_load(b, s, indim_loop_index(b, 0), 1, 1);
  indim_value_id wide = indim_loop_splat(b, y, 8);
  indim_value_id sum = indim_loop_binary(b, INDIM_OP_ADD, x, wide);
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

// Of two loops, what only the outer index says stands between them.
TEST(nodes_stand_at_the_innermost_of_their_arguments) {
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_value_id i = simple_for(b, 10);
  indim_loop_body *outer = b->body;
  indim_value_id j = simple_for(b, 20);
  indim_value_id row = indim_loop_mul_const(b, i, 20);
  indim_value_id at = indim_loop_add(b, row, j);
  indim_value_id real = indim_loop_convert(b, i, INDIM_F64);
  CHECK(body_of(&f, row) == outer);
  CHECK(body_of(&f, real) == outer);
  CHECK(body_of(&f, at) == b->body);
  CHECK_EQ_INT(indim_loop_value_of(b, at)->low, 0);
  CHECK_EQ_INT(indim_loop_value_of(b, at)->high, 199);
  indim_loop_for_end(b, NULL, NULL);
  CHECK_EQ_INT(indim_loop_mul_const(b, i, 20), row);
  indim_loop_for_end(b, NULL, NULL);
  CHECK_EQ_INT(indim_loop_verify(f.program), INDIM_OK);
  close_fixture(&f);
}

TEST(work_stays_inside_an_if) {
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_storage *a = indim_loop_storage(b, INDIM_STORAGE_ARGUMENT, INDIM_F64, 64, "a");
  indim_storage *p = indim_loop_storage(b, INDIM_STORAGE_ARGUMENT, INDIM_PRED, 1, "p");
  indim_loop_region_begin(b, NULL, 0);
  indim_value_id x = indim_loop_load(b, a, indim_loop_index(b, 0), 1, 1);
  indim_value_id pred = indim_loop_load(b, p, indim_loop_index(b, 0), 1, 1);
  indim_value_id i = simple_for(b, 8);
  indim_loop_body *loop = b->body;
  indim_loop_if_begin(b, pred);
  indim_loop_body *on_true = b->body;
  (void)simple_for(b, 4);
  indim_value_id e = indim_loop_elementwise(b, (indim_loop_op){.op = INDIM_OP_EXPONENTIAL}, INDIM_F64, 1, &x);
  indim_value_id sum = indim_loop_fma(b, e, x, x);
  indim_value_id loaded = indim_loop_load(b, a, i, 1, 1);
  indim_value_id at = indim_loop_affine(b, 3, 1, &i, &(int64_t){2});
  indim_value_id one = indim_loop_const(b, INDIM_F64, 0x3ff0000000000000U, 0);
  CHECK(body_of(&f, e) == on_true);
  CHECK(body_of(&f, sum) == on_true);
  CHECK(body_of(&f, loaded) == on_true);
  CHECK(body_of(&f, at) == loop);
  CHECK(body_of(&f, one) == f.program->body);
  indim_loop_for_end(b, NULL, NULL);
  indim_loop_if_else(b, 1, &e);
  indim_value_id again = indim_loop_elementwise(b, (indim_loop_op){.op = INDIM_OP_EXPONENTIAL}, INDIM_F64, 1, &x);
  CHECK(again != e);  // the first one is known in the other body only
  CHECK(body_of(&f, again) == b->body);
  indim_value_id result = 0;
  indim_loop_if_end(b, &again, &result);
  CHECK(body_of(&f, result) == loop);
  indim_value_id behind = indim_loop_elementwise(b, (indim_loop_op){.op = INDIM_OP_EXPONENTIAL}, INDIM_F64, 1, &x);
  CHECK(body_of(&f, behind) == f.program->body);
  indim_loop_if_begin(b, pred);
  CHECK_EQ_INT(indim_loop_elementwise(b, (indim_loop_op){.op = INDIM_OP_EXPONENTIAL}, INDIM_F64, 1, &x), behind);
  indim_loop_if_else(b, 0, NULL);
  indim_loop_if_end(b, NULL, NULL);
  indim_loop_for_end(b, NULL, NULL);
  CHECK_EQ_INT(b->status, INDIM_OK);
  CHECK_EQ_INT(indim_loop_verify(f.program), INDIM_OK);
  close_fixture(&f);
}

// Loads -----------------------------------------------------------------------------------------------------------------

TEST(loads_of_what_is_written_stay) {
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_storage *t = indim_loop_storage(b, INDIM_STORAGE_SCRATCH, INDIM_F32, 8, "t");
  indim_value_id zero = indim_loop_index(b, 0);
  indim_loop_region_begin(b, &t, 1);
  (void)simple_for(b, 4);
  indim_value_id x = indim_loop_load(b, t, zero, 1, 1);
  indim_loop_store(b, t, zero, indim_loop_binary(b, INDIM_OP_ADD, x, x), 1, false);
  indim_value_id y = indim_loop_load(b, t, zero, 1, 1);
  CHECK(x != y);
  CHECK(body_of(&f, x) == b->body);
  CHECK(node_of(&f, x)->u.memory.fresh);
  indim_loop_for_end(b, NULL, NULL);
  indim_loop_region_begin(b, NULL, 0);
  (void)simple_for(b, 4);
  indim_value_id z = indim_loop_load(b, t, zero, 1, 1);
  CHECK(body_of(&f, z) == f.program->body);
  CHECK(!node_of(&f, z)->u.memory.fresh);
  indim_loop_for_end(b, NULL, NULL);
  CHECK_EQ_INT(indim_loop_verify(f.program), INDIM_OK);
  close_fixture(&f);
}

// t takes over the bytes of u, and those of d: who writes one writes all.
TEST(storages_that_share_bytes_count_as_one) {
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_storage *d = indim_loop_storage(b, INDIM_STORAGE_ARGUMENT, INDIM_F32, 8, "d");
  indim_storage *u = indim_loop_storage(b, INDIM_STORAGE_SCRATCH, INDIM_F32, 8, "u");
  indim_storage *t = indim_loop_storage(b, INDIM_STORAGE_SCRATCH, INDIM_F32, 8, "t");
  d->is_donated = true;
  t->shares = u->index + 1;
  CHECK(indim_loop_storage_root(f.program, t) == u);
  u->shares = d->index + 1;
  CHECK(indim_loop_storage_root(f.program, t) == d);
  CHECK(indim_loop_storage_root(f.program, t) == d);
  indim_value_id zero = indim_loop_index(b, 0);
  indim_loop_region_begin(b, &t, 1);
  indim_value_id x = indim_loop_load(b, d, zero, 1, 1);
  CHECK(node_of(&f, x)->u.memory.fresh);
  indim_loop_store(b, u, zero, x, 1, false);
  CHECK_EQ_INT(b->status, INDIM_OK);
  CHECK_EQ_INT(indim_loop_verify(f.program), INDIM_OK);
  close_fixture(&f);
}

TEST(kernels_share_loads_of_what_never_changes) {
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_storage *a = indim_loop_storage(b, INDIM_STORAGE_ARGUMENT, INDIM_F32, 8, "a");
  indim_storage *d = indim_loop_storage(b, INDIM_STORAGE_ARGUMENT, INDIM_F32, 8, "d");
  d->is_donated = true;
  indim_value_id zero = indim_loop_index(b, 0);
  indim_loop_region_begin(b, NULL, 0);
  indim_value_id x = indim_loop_load(b, a, zero, 1, 1);
  indim_value_id y = indim_loop_load(b, d, zero, 1, 1);
  CHECK_EQ_INT(indim_loop_load(b, d, zero, 1, 1), y);
  indim_loop_region_begin(b, NULL, 0);
  CHECK_EQ_INT(indim_loop_load(b, a, zero, 1, 1), x);
  CHECK(indim_loop_load(b, d, zero, 1, 1) != y);
  close_fixture(&f);
}

// A while inside a while: a kernel of the inner one reads no further out than where it was begun.
TEST(loads_move_no_further_than_their_kernel) {
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_storage *t = indim_loop_storage(b, INDIM_STORAGE_SCRATCH, INDIM_F32, 8, "t");
  (void)simple_for(b, 3);
  indim_loop_body *outer = b->body;
  indim_loop_region_begin(b, NULL, 0);
  (void)simple_for(b, 3);
  indim_value_id x = indim_loop_load(b, t, indim_loop_index(b, 7), 1, 1);
  CHECK(body_of(&f, x) == outer);
  indim_loop_for_end(b, NULL, NULL);
  indim_loop_for_end(b, NULL, NULL);
  close_fixture(&f);
}

TEST(wild_loads_stay_where_they_are) {
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_storage *n = indim_loop_storage(b, INDIM_STORAGE_ARGUMENT, INDIM_S64, 1, "n");
  indim_storage *a = indim_loop_storage(b, INDIM_STORAGE_ARGUMENT, INDIM_F32, 8, "a");
  indim_loop_region_begin(b, NULL, 0);
  indim_value_id at = indim_loop_load(b, n, indim_loop_index(b, 0), 1, 1);
  indim_value_id held = indim_loop_clamp_index(b, at, 0, 7);
  (void)simple_for(b, 3);
  CHECK(body_of(&f, indim_loop_load(b, a, at, 1, 1)) == b->body);
  CHECK(body_of(&f, indim_loop_load(b, a, indim_loop_index(b, 1), 8, 1)) == b->body);
  CHECK(body_of(&f, indim_loop_load(b, a, indim_loop_index(b, 1), 7, 1)) == f.program->body);
  CHECK(body_of(&f, indim_loop_load(b, a, held, 1, 1)) == f.program->body);
  indim_value_id mask = indim_loop_const(b, INDIM_PRED, 0, 0);
  indim_value_id fill = indim_loop_const(b, INDIM_F32, 0, 0);
  CHECK(body_of(&f, indim_loop_load_masked(b, a, at, 1, mask, fill)) == f.program->body);
  indim_loop_for_end(b, NULL, NULL);
  close_fixture(&f);
}

static indim_status store_status(indim_storage_kind kind, bool is_donated, bool is_declared) {
  fixture f;
  if (!open_fixture(&f)) {
    return INDIM_NO_MEMORY;
  }
  indim_storage *s = indim_loop_storage(&f.b, kind, INDIM_F32, 8, "s");
  s->is_donated = is_donated;
  indim_loop_region_begin(&f.b, &s, is_declared ? 1 : 0);
  indim_loop_store(&f.b, s, indim_loop_index(&f.b, 0), indim_loop_const(&f.b, INDIM_F32, 0, 0), 1, false);
  indim_status status = f.b.status;
  close_fixture(&f);
  return status;
}

TEST(stores_where_they_may_not) {
  CHECK_EQ_INT(store_status(INDIM_STORAGE_RESULT, false, true), INDIM_OK);
  CHECK_EQ_INT(store_status(INDIM_STORAGE_ARGUMENT, true, true), INDIM_OK);
  CHECK_EQ_INT(store_status(INDIM_STORAGE_RESULT, false, false), INDIM_INTERNAL);
  CHECK_EQ_INT(store_status(INDIM_STORAGE_ARGUMENT, false, true), INDIM_INTERNAL);
  CHECK_EQ_INT(store_status(INDIM_STORAGE_CONSTANT, false, true), INDIM_INTERNAL);
}

// Index arithmetic ------------------------------------------------------------------------------------------------------

TEST(sums_are_flat) {
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_value_id i = simple_for(b, 4);
  indim_value_id j = simple_for(b, 5);
  indim_value_id x = indim_loop_add_const(b, indim_loop_mul_const(b, i, 10), 3);
  indim_value_id y = indim_loop_add(b, indim_loop_mul_const(b, x, 2), indim_loop_add(b, j, i));
  const indim_loop_node *node = node_of(&f, y);
  CHECK_EQ_INT(node->kind, INDIM_NODE_AFFINE);
  CHECK_EQ_INT(node->arg_count, 2);
  CHECK_EQ_INT(node->u.affine.constant, 6);
  CHECK_EQ_INT(node->args[0], i);
  CHECK_EQ_INT(node->u.affine.coefficients[0], 21);
  CHECK_EQ_INT(node->u.affine.coefficients[1], 1);
  const indim_value_id args[4] = {y, i, j, j};
  const int64_t back[4] = {1, -21, -2, 1};
  CHECK_EQ_INT(indim_loop_affine(b, 0, 4, args, back), indim_loop_index(b, 6));
  CHECK_EQ_INT(indim_loop_add_const(b, indim_loop_add_const(b, i, 7), -7), i);
  CHECK_EQ_INT(indim_loop_mul_const(b, i, 0), indim_loop_index(b, 0));
  // s64 sums of the program that cannot wrap are the same thing.
  CHECK_EQ_INT(indim_loop_binary(b, INDIM_OP_ADD, i, j), indim_loop_add(b, i, j));
  CHECK_EQ_INT(indim_loop_binary(b, INDIM_OP_MULTIPLY, indim_loop_index(b, 10), i), indim_loop_mul_const(b, i, 10));
  CHECK_EQ_INT(indim_loop_binary(b, INDIM_OP_SUBTRACT, i, i), indim_loop_index(b, 0));
  CHECK_EQ_INT(indim_loop_binary(b, INDIM_OP_REMAINDER, i, indim_loop_index(b, 4)), i);
  close_fixture(&f);
}

TEST(program_sums_that_may_wrap_are_left_alone) {
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_storage *n = indim_loop_storage(b, INDIM_STORAGE_ARGUMENT, INDIM_S64, 1, "n");
  indim_loop_region_begin(b, NULL, 0);
  indim_value_id x = indim_loop_load(b, n, indim_loop_index(b, 0), 1, 1);
  indim_value_id one = indim_loop_index(b, 1);
  CHECK_EQ_INT(kind_of(&f, indim_loop_binary(b, INDIM_OP_ADD, x, one)), INDIM_NODE_ELEMENTWISE);
  CHECK_EQ_INT(kind_of(&f, indim_loop_binary(b, INDIM_OP_SUBTRACT, one, x)), INDIM_NODE_ELEMENTWISE);
  CHECK_EQ_INT(kind_of(&f, indim_loop_binary(b, INDIM_OP_MULTIPLY, x, indim_loop_index(b, -1))),
               INDIM_NODE_ELEMENTWISE);
  CHECK_EQ_INT(kind_of(&f, indim_loop_binary(b, INDIM_OP_DIVIDE, x, indim_loop_index(b, 2))), INDIM_NODE_ELEMENTWISE);
  indim_value_id least = indim_loop_index(b, INT64_MIN);
  CHECK_EQ_INT(kind_of(&f, indim_loop_binary(b, INDIM_OP_ADD, least, indim_loop_index(b, -1))), INDIM_NODE_ELEMENTWISE);
  CHECK_EQ_INT(kind_of(&f, indim_loop_binary(b, INDIM_OP_SUBTRACT, one, least)), INDIM_NODE_ELEMENTWISE);
  CHECK_EQ_INT(indim_loop_binary(b, INDIM_OP_ADD, least, one), indim_loop_index(b, INT64_MIN + 1));
  CHECK_EQ_INT(b->status, INDIM_OK);
  close_fixture(&f);
}

TEST(sums_of_many_terms) {
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  enum { COUNT = 150 };
  indim_value_id args[COUNT];
  int64_t ones[COUNT];
  for (int k = 0; k < COUNT; k++) {
    args[k] = simple_for(b, 2);
    ones[k] = 1;
  }
  indim_value_id sum = indim_loop_affine(b, 5, COUNT, args, ones);
  CHECK_EQ_INT(indim_loop_value_of(b, sum)->low, 5);
  CHECK_EQ_INT(indim_loop_value_of(b, sum)->high, 5 + COUNT);
  for (int k = 0; k < COUNT; k++) {
    indim_loop_for_end(b, NULL, NULL);
  }
  CHECK_EQ_INT(indim_loop_verify(f.program), INDIM_OK);
  close_fixture(&f);
}

TEST(divisions_that_leave_no_division) {
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_value_id i = simple_for(b, 100);
  indim_value_id j = simple_for(b, 8);
  indim_value_id x = indim_loop_add(b, indim_loop_mul_const(b, i, 8), j);
  CHECK_EQ_INT(indim_loop_floordiv(b, x, 8), i);
  CHECK_EQ_INT(indim_loop_modulo(b, x, 8), j);
  CHECK_EQ_INT(indim_loop_floordiv(b, x, 1), x);
  CHECK_EQ_INT(indim_loop_modulo(b, x, 1), indim_loop_index(b, 0));
  CHECK_EQ_INT(indim_loop_floordiv(b, x, 800), indim_loop_index(b, 0));
  CHECK_EQ_INT(indim_loop_modulo(b, x, 800), x);
  CHECK_EQ_INT(indim_loop_floordiv(b, x, 80), indim_loop_floordiv(b, i, 10));
  indim_value_id tens = indim_loop_mul_const(b, indim_loop_modulo(b, i, 10), 8);
  CHECK_EQ_INT(indim_loop_modulo(b, x, 80), indim_loop_add(b, tens, j));
  CHECK_EQ_INT(indim_loop_floordiv(b, indim_loop_floordiv(b, x, 40), 20), indim_loop_index(b, 0));
  CHECK_EQ_INT(indim_loop_floordiv(b, indim_loop_floordiv(b, x, 40), 2), indim_loop_floordiv(b, i, 10));
  CHECK_EQ_INT(indim_loop_modulo(b, indim_loop_modulo(b, i, 30), 10), indim_loop_modulo(b, i, 10));
  CHECK_EQ_INT(indim_loop_floordiv(b, indim_loop_add_const(b, x, -8), 8), indim_loop_add_const(b, i, -1));
  close_fixture(&f);
}

TEST(what_a_division_took_apart_is_put_together) {
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_value_id i = simple_for(b, 100);
  const indim_value_id parts[2] = {indim_loop_floordiv(b, i, 7), indim_loop_modulo(b, i, 7)};
  CHECK_EQ_INT(indim_loop_affine(b, 0, 2, parts, (const int64_t[]){7, 1}), i);
  CHECK_EQ_INT(indim_loop_affine(b, 5, 2, parts, (const int64_t[]){21, 3}),
               indim_loop_affine(b, 5, 1, &i, &(int64_t){3}));
  CHECK_EQ_INT(kind_of(&f, indim_loop_affine(b, 0, 2, parts, (const int64_t[]){8, 1})), INDIM_NODE_AFFINE);
  close_fixture(&f);
}

// Expressions over loop indices, with what they are to be.
typedef enum expression_kind {
  LEAF,
  NUMBER,
  SUM,
  QUOTIENT,
  REST,
  CLAMPED,
  BINARY,   // an op of the graph, number |c| of binary_ops
  LIMITED,  // clamp of the graph
  CHOSEN,   // select(compare(x, y), x, y) with direction |c|
  WITHIN    // a pred: last
} expression_kind;

static const indim_op binary_ops[] = {INDIM_OP_ADD,     INDIM_OP_SUBTRACT, INDIM_OP_MULTIPLY, INDIM_OP_MAXIMUM,
                                      INDIM_OP_MINIMUM, INDIM_OP_DIVIDE,   INDIM_OP_REMAINDER};

typedef struct expression {
  expression_kind kind;
  int x, y;
  int64_t c, d, e;
  indim_value_id value;
} expression;

static int64_t divide_down(int64_t x, int64_t d) { return x / d - (x % d != 0 && x < 0); }

// XLA's meaning of the ops: division rounds toward zero, by zero it is -1 and leaves all.
static int64_t apply(indim_op op, int64_t x, int64_t y) {
  switch ((int)op) {
  case INDIM_OP_ADD:
    return x + y;
  case INDIM_OP_SUBTRACT:
    return x - y;
  case INDIM_OP_MULTIPLY:
    return x * y;
  case INDIM_OP_MAXIMUM:
    return x > y ? x : y;
  case INDIM_OP_MINIMUM:
    return x < y ? x : y;
  case INDIM_OP_DIVIDE:
    return y == 0 ? -1 : x / y;
  case INDIM_OP_REMAINDER:
    return y == 0 ? x : x % y;
  case INDIM_OP_AND:
    return x & y;
  default:
    return INT64_MIN;
  }
}

static bool holds(int64_t direction, int64_t x, int64_t y) {
  const bool results[] = {x == y, x != y, x >= y, x > y, x <= y, x < y};
  return results[direction];
}

static int64_t expected(const expression *all, const int64_t *indices, int at) {
  const expression *e = &all[at];
  switch (e->kind) {
  case LEAF:
    return indices[e->x];
  case NUMBER:
    return e->c;
  case SUM:
    return e->c + e->d * expected(all, indices, e->x) + e->e * expected(all, indices, e->y);
  case QUOTIENT:
    return divide_down(expected(all, indices, e->x), e->c);
  case REST: {
    int64_t x = expected(all, indices, e->x);
    return x - e->c * divide_down(x, e->c);
  }
  case CLAMPED: {
    int64_t x = expected(all, indices, e->x);
    return x < e->c ? e->c : x > e->d ? e->d : x;
  }
  case BINARY:
    return apply(binary_ops[e->c], expected(all, indices, e->x), expected(all, indices, e->y));
  case LIMITED:
    return apply(INDIM_OP_MINIMUM, apply(INDIM_OP_MAXIMUM, expected(all, indices, e->x), expected(all, indices, e->y)),
                 expected(all, indices, (int)e->c));
  case CHOSEN: {
    int64_t x = expected(all, indices, e->x);
    int64_t y = expected(all, indices, e->y);
    return holds(e->c, x, y) ? x : y;
  }
  case WITHIN: {
    int64_t x = expected(all, indices, e->x);
    return x >= e->c && x <= e->d;
  }
  }
  return 0;
}

// What the built nodes give, the indices being the parameters of |program|'s nested loops.
static int64_t computed(const indim_loop_program *program, const int64_t *indices, indim_value_id v) {
  const indim_loop_node *node = program->values[v].node;
  if (node == NULL) {
    return indices[program->values[v].body->depth - 1];
  }
  int64_t x = node->arg_count > 0 ? computed(program, indices, node->args[0]) : 0;
  if (node->kind == INDIM_NODE_CONST) {
    return (int64_t)node->u.constant.bits[0];
  }
  if (node->kind == INDIM_NODE_FLOORDIV) {
    return divide_down(x, node->u.affine.constant);
  }
  if (node->kind == INDIM_NODE_MODULO) {
    return x - node->u.affine.constant * divide_down(x, node->u.affine.constant);
  }
  if (node->kind == INDIM_NODE_CLAMP_INDEX) {
    return x < node->u.clamp.low ? node->u.clamp.low : x > node->u.clamp.high ? node->u.clamp.high : x;
  }
  if (node->kind == INDIM_NODE_AFFINE) {
    int64_t sum = node->u.affine.constant;
    for (int32_t i = 0; i < node->arg_count; i++) {
      sum += node->u.affine.coefficients[i] * computed(program, indices, node->args[i]);
    }
    return sum;
  }
  int64_t y = node->arg_count > 1 ? computed(program, indices, node->args[1]) : 0;
  int64_t z = node->arg_count > 2 ? computed(program, indices, node->args[2]) : 0;
  if (node->u.op.op == INDIM_OP_COMPARE) {
    return holds(node->u.op.direction, x, y);
  }
  if (node->u.op.op == INDIM_OP_SELECT) {
    return x != 0 ? y : z;
  }
  if (node->u.op.op == INDIM_OP_CLAMP) {
    return apply(INDIM_OP_MINIMUM, apply(INDIM_OP_MAXIMUM, x, y), z);
  }
  return apply(node->u.op.op, x, y);
}

enum { LOOPS = 3, EXPRESSIONS = 10 };

static void make_expression(indim_loop_builder *b, random_stream *r, expression *all, int at) {
  expression *e = &all[at];
  static const int64_t factors[] = {1, -1, 2, 3, 4, 6, 8, 12, -4};
  e->kind = (expression_kind)draw(r, SUM, at == EXPRESSIONS - 1 ? WITHIN : CHOSEN);
  e->x = (int)draw(r, 0, at - 1);
  e->y = (int)draw(r, 0, at - 1);
  indim_value_id args[2] = {all[e->x].value, all[e->y].value};
  if (e->kind == SUM) {
    e->c = draw(r, -9, 9);
    e->d = factors[draw(r, 0, 8)];
    e->e = factors[draw(r, 0, 8)];
    const int64_t coefficients[2] = {e->d, e->e};
    e->value = indim_loop_affine(b, e->c, 2, args, coefficients);
  } else if (e->kind == QUOTIENT) {
    e->c = draw(r, 1, 12);
    e->value = indim_loop_floordiv(b, args[0], e->c);
  } else if (e->kind == REST) {
    e->c = draw(r, 1, 12);
    e->value = indim_loop_modulo(b, args[0], e->c);
  } else if (e->kind == BINARY) {
    e->c = draw(r, 0, 6);
    if (e->c >= 2 && e->c != 3 && e->c != 4) {
      e->y = 3;  // the constant
      args[1] = all[3].value;
    }
    e->value = indim_loop_binary(b, binary_ops[e->c], args[0], args[1]);
  } else if (e->kind == LIMITED) {
    e->c = draw(r, 0, at - 1);
    const indim_value_id clamp[3] = {args[0], args[1], all[e->c].value};
    e->value = indim_loop_elementwise(b, (indim_loop_op){.op = INDIM_OP_CLAMP}, INDIM_S64, 3, clamp);
  } else if (e->kind == CHOSEN) {
    e->c = draw(r, 0, 5);
    const indim_loop_op compare = {.op = INDIM_OP_COMPARE, .direction = (int32_t)e->c};
    e->value = indim_loop_select(b, indim_loop_elementwise(b, compare, INDIM_PRED, 2, args), args[0], args[1]);
  } else {
    e->c = draw(r, -10, 10);
    e->d = e->c + draw(r, 0, 30);
    e->value = e->kind == CLAMPED ? indim_loop_clamp_index(b, args[0], e->c, e->d)
                                  : indim_loop_in_range(b, args[0], e->c, e->d);
  }
}

// Compares everywhere: values, and that the range holds them.
static void compare_everywhere(const fixture *f, const expression *all, const int64_t (*bounds)[3], int64_t seed) {
  int64_t at[LOOPS];
  for (at[0] = bounds[0][0]; at[0] < bounds[0][1]; at[0] += bounds[0][2]) {
    for (at[1] = bounds[1][0]; at[1] < bounds[1][1]; at[1] += bounds[1][2]) {
      for (at[2] = bounds[2][0]; at[2] < bounds[2][1]; at[2] += bounds[2][2]) {
        for (int k = 0; k < EXPRESSIONS; k++) {
          int64_t should = expected(all, at, k);
          int64_t is = computed(f->program, at, all[k].value);
          const indim_loop_value *value = &f->program->values[all[k].value];
          CHECK_MSG(is == should, "seed %lld, expression %d: %lld, expected %lld", (long long)seed, k, (long long)is,
                    (long long)should);
          CHECK_MSG(value->type != INDIM_S64 || (value->low <= is && is <= value->high),
                    "seed %lld, expression %d: %lld is outside of %lld..%lld", (long long)seed, k, (long long)is,
                    (long long)value->low, (long long)value->high);
        }
      }
    }
  }
}

TEST(random_index_arithmetic_is_what_it_says) {
  for (int64_t seed = 1; seed <= 3000 && test_failures == 0; seed++) {
    fixture f;
    REQUIRE(open_fixture(&f));
    random_stream r = {(uint64_t)seed};
    expression all[EXPRESSIONS];
    int64_t bounds[LOOPS][3];
    for (int k = 0; k < LOOPS; k++) {
      bounds[k][0] = draw(&r, -4, 3);
      bounds[k][1] = bounds[k][0] + draw(&r, 1, 12);
      bounds[k][2] = draw(&r, 1, 4);
      all[k] = (expression){.kind = LEAF, .x = k};
      all[k].value = indim_loop_for_begin(&f.b, indim_loop_index(&f.b, bounds[k][0]),
                                          indim_loop_index(&f.b, bounds[k][1]), bounds[k][2], 0, NULL, NULL);
    }
    all[3] = (expression){.kind = NUMBER, .c = draw(&r, -20, 20)};
    all[3].value = indim_loop_index(&f.b, all[3].c);
    for (int k = 4; k < EXPRESSIONS; k++) {
      make_expression(&f.b, &r, all, k);
    }
    CHECK_EQ_INT(f.b.status, INDIM_OK);
    if (f.b.status == INDIM_OK) {
      compare_everywhere(&f, all, (const int64_t(*)[3])bounds, seed);
    }
    for (int k = 0; k < LOOPS; k++) {
      indim_loop_for_end(&f.b, NULL, NULL);
    }
    CHECK_EQ_INT(indim_loop_verify(f.program), INDIM_OK);
    close_fixture(&f);
  }
}

TEST(indices_of_loops_know_their_range) {
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_value_id i = indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, 60), 16, 0, NULL, NULL);
  CHECK_EQ_INT(indim_loop_value_of(b, i)->high, 48);
  indim_value_id j = indim_loop_for_begin(b, i, indim_loop_add_const(b, i, 16), 5, 0, NULL, NULL);
  CHECK_EQ_INT(indim_loop_value_of(b, j)->low, 0);
  CHECK_EQ_INT(indim_loop_value_of(b, j)->high, 63);
  indim_value_id least =
      indim_loop_binary(b, INDIM_OP_MINIMUM, indim_loop_add_const(b, i, 16), indim_loop_index(b, 60));
  indim_value_id k = indim_loop_for_begin(b, i, least, 1, 0, NULL, NULL);
  CHECK_EQ_INT(indim_loop_value_of(b, k)->high, 59);
  indim_value_id blocks = indim_loop_for_begin(b, i, least, 8, 0, NULL, NULL);  // i is a multiple of 16
  CHECK_EQ_INT(indim_loop_value_of(b, blocks)->high, 56);
  CHECK_EQ_INT(indim_loop_value_of(b, blocks)->step, 8);
  indim_value_id odd = indim_loop_for_begin(b, i, least, 12, 0, NULL, NULL);
  CHECK_EQ_INT(indim_loop_value_of(b, odd)->high, 59);
  CHECK_EQ_INT(indim_loop_value_of(b, odd)->step, 0);
  indim_value_id never = indim_loop_for_begin(b, indim_loop_index(b, 5), indim_loop_index(b, 5), 1, 0, NULL, NULL);
  CHECK_EQ_INT(indim_loop_value_of(b, never)->low, 5);
  CHECK_EQ_INT(indim_loop_value_of(b, never)->high, 5);
  close_fixture(&f);
}

// 0 and 1: the constant; 2: none.
static int decided(const fixture *f, indim_value_id v) {
  return kind_of(f, v) == INDIM_NODE_CONST ? node_of(f, v)->u.constant.bits[0] != 0 : 2;
}

TEST(guards_of_every_integer_type) {
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_storage *n = indim_loop_storage(b, INDIM_STORAGE_ARGUMENT, INDIM_S8, 1, "n");
  indim_storage *u = indim_loop_storage(b, INDIM_STORAGE_ARGUMENT, INDIM_U64, 4, "u");
  indim_loop_region_begin(b, NULL, 0);
  indim_value_id x = indim_loop_load(b, n, indim_loop_index(b, 0), 1, 1);
  indim_value_id y = indim_loop_load(b, u, indim_loop_index(b, 0), 4, 1);
  CHECK_EQ_INT(decided(&f, indim_loop_in_range(b, x, -128, 127)), 1);
  CHECK_EQ_INT(decided(&f, indim_loop_in_range(b, x, 128, 200)), 0);
  CHECK_EQ_INT(decided(&f, indim_loop_in_range(b, x, 5, 4)), 0);
  indim_value_id half = indim_loop_in_range(b, x, -3, 200);
  CHECK_EQ_INT(kind_of(&f, half), INDIM_NODE_ELEMENTWISE);
  CHECK_EQ_UINT(node_of(&f, node_of(&f, half)->args[1])->u.constant.bits[0], 0xfd);
  CHECK_EQ_INT(decided(&f, indim_loop_in_range(b, y, 0, INT64_MAX)), 2);
  CHECK_EQ_INT(indim_loop_value_of(b, indim_loop_in_range(b, y, 0, 7))->lanes, 4);
  indim_value_id held = indim_loop_clamp_index(b, y, 2, 9);
  CHECK_EQ_INT(indim_loop_value_of(b, held)->low, 2);
  CHECK_EQ_INT(indim_loop_value_of(b, held)->high, 9);
  CHECK_EQ_INT(kind_of(&f, indim_loop_clamp_index(b, y, 0, INT64_MAX)), INDIM_NODE_CLAMP_INDEX);
  indim_value_id wide = indim_loop_clamp_index(b, x, -1000, 1000);
  CHECK_EQ_INT(kind_of(&f, wide), INDIM_NODE_ELEMENTWISE);  // a plain conversion
  CHECK_EQ_INT(indim_loop_value_of(b, wide)->high, 127);
  CHECK_EQ_INT(indim_loop_clamp_index(b, x, 300, 400), indim_loop_index(b, 300));
  CHECK_EQ_INT(indim_loop_verify(f.program), INDIM_OK);
  close_fixture(&f);
}

static indim_value_id s32(indim_loop_builder *b, int32_t value) {
  return indim_loop_const(b, INDIM_S32, (uint32_t)value, 0);
}

static int compared(const fixture *f, indim_loop_builder *b, indim_value_id x, indim_compare_direction direction,
                    int32_t y) {
  const indim_loop_op op = {.op = INDIM_OP_COMPARE, .direction = (int32_t)direction};
  indim_value_id args[2] = {x, s32(b, y)};
  return decided(f, indim_loop_elementwise(b, op, INDIM_PRED, 2, args));
}

// Where a narrow integer comes from decides comparisons: what wraps decides nothing.
TEST(comparisons_of_narrow_integers) {
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_storage *n = indim_loop_storage(b, INDIM_STORAGE_ARGUMENT, INDIM_S32, 1, "n");
  indim_loop_region_begin(b, NULL, 0);
  indim_value_id x = indim_loop_load(b, n, indim_loop_index(b, 0), 1, 1);
  indim_value_id positive = indim_loop_binary(b, INDIM_OP_MAXIMUM, x, s32(b, 0));
  CHECK_EQ_INT(compared(&f, b, x, INDIM_COMPARE_LT, 0), 2);
  CHECK_EQ_INT(compared(&f, b, positive, INDIM_COMPARE_LT, 0), 0);
  CHECK_EQ_INT(compared(&f, b, positive, INDIM_COMPARE_GE, 0), 1);
  CHECK_EQ_INT(compared(&f, b, positive, INDIM_COMPARE_GT, 0), 2);
  CHECK_EQ_INT(compared(&f, b, indim_loop_binary(b, INDIM_OP_ADD, positive, s32(b, 1)), INDIM_COMPARE_GE, 1), 2);
  indim_value_id small = indim_loop_binary(b, INDIM_OP_AND, x, s32(b, 255));
  CHECK_EQ_INT(compared(&f, b, indim_loop_binary(b, INDIM_OP_ADD, small, s32(b, 1)), INDIM_COMPARE_LE, 256), 1);
  CHECK_EQ_INT(compared(&f, b, indim_loop_binary(b, INDIM_OP_MULTIPLY, small, s32(b, -2)), INDIM_COMPARE_LT, -510), 0);
  CHECK_EQ_INT(compared(&f, b, indim_loop_binary(b, INDIM_OP_MULTIPLY, small, s32(b, -2)), INDIM_COMPARE_LT, -509), 2);
  indim_value_id rest = indim_loop_binary(b, INDIM_OP_REMAINDER, x, s32(b, 7));
  CHECK_EQ_INT(compared(&f, b, rest, INDIM_COMPARE_GE, -6), 1);
  CHECK_EQ_INT(compared(&f, b, rest, INDIM_COMPARE_GE, 0), 2);
  CHECK_EQ_INT(compared(&f, b, indim_loop_binary(b, INDIM_OP_REMAINDER, small, s32(b, 7)), INDIM_COMPARE_LE, 6), 1);
  CHECK_EQ_INT(decided(&f, indim_loop_in_range(b, small, 0, 255)), 1);
  CHECK_EQ_INT(decided(&f, indim_loop_in_range(b, x, 0, 255)), 2);
  CHECK_EQ_INT(indim_loop_verify(f.program), INDIM_OK);
  close_fixture(&f);
}

// An index that a branch has checked stays in it; one that is clamped does not.
TEST(checked_indices_stay_in_their_branch) {
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_storage *n = indim_loop_storage(b, INDIM_STORAGE_ARGUMENT, INDIM_S32, 1, "n");
  indim_loop_region_begin(b, NULL, 0);
  indim_value_id x = indim_loop_load(b, n, indim_loop_index(b, 0), 1, 1);
  indim_loop_if_begin(b, indim_loop_in_range(b, x, 0, 9));
  indim_value_id checked = indim_loop_checked_index(b, x, 0, 9);
  CHECK(indim_loop_value_of(b, checked)->body == b->body);
  CHECK(indim_loop_value_of(b, indim_loop_clamp_index(b, x, 0, 8))->body != b->body);
  CHECK_EQ_INT(indim_loop_value_of(b, checked)->high, 9);
  indim_loop_if_else(b, 0, NULL);
  indim_loop_if_end(b, NULL, NULL);
  CHECK_EQ_INT(indim_loop_verify(f.program), INDIM_OK);
  close_fixture(&f);
}

// Elementwise and lanes -------------------------------------------------------------------------------------------------

TEST(selects_conversions_and_preds) {
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_storage *a = indim_loop_storage(b, INDIM_STORAGE_ARGUMENT, INDIM_F32, 8, "a");
  indim_storage *q = indim_loop_storage(b, INDIM_STORAGE_ARGUMENT, INDIM_PRED, 8, "q");
  indim_loop_region_begin(b, NULL, 0);
  indim_value_id x = indim_loop_load(b, a, indim_loop_index(b, 0), 4, 1);
  indim_value_id y = indim_loop_load(b, a, indim_loop_index(b, 4), 4, 1);
  indim_value_id p = indim_loop_load(b, q, indim_loop_index(b, 0), 4, 1);
  indim_value_id yes = indim_loop_splat(b, indim_loop_const(b, INDIM_PRED, 1, 0), 4);
  indim_value_id no = indim_loop_splat(b, indim_loop_const(b, INDIM_PRED, 0, 0), 4);
  CHECK_EQ_INT(indim_loop_select(b, yes, x, y), x);
  CHECK_EQ_INT(indim_loop_select(b, no, x, y), y);
  CHECK_EQ_INT(indim_loop_select(b, p, x, x), x);
  CHECK_EQ_INT(indim_loop_convert(b, x, INDIM_F32), x);
  CHECK_EQ_INT(indim_loop_binary(b, INDIM_OP_AND, p, yes), p);
  CHECK_EQ_INT(indim_loop_binary(b, INDIM_OP_AND, no, p), no);
  CHECK_EQ_INT(indim_loop_binary(b, INDIM_OP_OR, p, yes), yes);
  CHECK_EQ_INT(indim_loop_binary(b, INDIM_OP_OR, no, p), p);
  CHECK(indim_loop_binary(b, INDIM_OP_ADD, x, y) != indim_loop_binary(b, INDIM_OP_ADD, y, x));
  CHECK_EQ_INT(indim_loop_binary(b, INDIM_OP_ADD, x, y), indim_loop_binary(b, INDIM_OP_ADD, x, y));
  indim_value_id three = indim_loop_const(b, INDIM_S32, 0xfffffffdU, 0);
  CHECK_EQ_INT(indim_loop_convert(b, three, INDIM_S64), indim_loop_index(b, -3));
  CHECK_EQ_INT(indim_loop_verify(f.program), INDIM_OK);
  close_fixture(&f);
}

// Where lane |lane| of |v| comes from in the end: element number of the load it is from; -1 when it may be anything.
static int64_t origin(const fixture *f, indim_value_id v, int32_t lane) {
  for (;;) {
    const indim_loop_node *node = node_of(f, v);
    if (node->kind == INDIM_NODE_CONST) {
      return (int64_t)node->u.constant.bits[0];
    }
    if (node->kind == INDIM_NODE_LANES) {
      return (int64_t)node->u.lanes.bits[2 * lane];
    }
    if (node->kind == INDIM_NODE_LOAD) {
      return 1000 * v + lane;
    }
    lane = node->kind == INDIM_NODE_SPLAT ? 0 : node->kind == INDIM_NODE_EXTRACT ? node->u.lane : node->u.map[lane];
    int32_t at = 0;
    while (node->kind == INDIM_NODE_SHUFFLE && lane >= f->program->values[node->args[at]].lanes) {
      lane -= f->program->values[node->args[at++]].lanes;
    }
    if (lane < 0) {
      return -1;
    }
    v = node->args[at];
  }
}

enum { MOVES = 14, MAX_LANES = 8 };

typedef struct moved {
  indim_value_id value;
  int32_t lanes;
  int64_t from[MAX_LANES];  // -1: anything
} moved;

static moved random_move(indim_loop_builder *b, random_stream *r, const moved *all, int count) {
  moved result = {.lanes = (int32_t)draw(r, 1, MAX_LANES)};
  const moved *x = &all[draw(r, 0, count - 1)];
  int what = (int)draw(r, 0, 4);
  if (what == 0 && x->lanes == 1) {
    result.value = indim_loop_splat(b, x->value, result.lanes);
    for (int k = 0; k < result.lanes; k++) {
      result.from[k] = x->from[0];
    }
  } else if (what == 1) {
    int32_t lane = (int32_t)draw(r, 0, x->lanes - 1);
    result = (moved){indim_loop_extract(b, x->value, lane), 1, {x->from[lane]}};
  } else {
    int32_t map[MAX_LANES];
    indim_value_id args[4];
    int64_t flat[4 * MAX_LANES];
    int32_t total = 0;
    int arg_count = (int)draw(r, 1, 4);
    for (int k = 0; k < arg_count; k++) {
      const moved *y = &all[draw(r, 0, count - 1)];
      args[k] = y->value;
      for (int lane = 0; lane < y->lanes; lane++) {
        flat[total++] = y->from[lane];
      }
    }
    for (int k = 0; k < result.lanes; k++) {
      map[k] = what == 2 ? (k < total ? k : -1) : (int32_t)draw(r, -1, total - 1);
      result.from[k] = map[k] < 0 ? -1 : flat[map[k]];
    }
    result.value = indim_loop_shuffle(b, arg_count, args, result.lanes, map);
  }
  return result;
}

TEST(random_moves_of_lanes_are_what_they_say) {
  for (int64_t seed = 1; seed <= 2000 && test_failures == 0; seed++) {
    fixture f;
    REQUIRE(open_fixture(&f));
    random_stream r = {(uint64_t)seed};
    moved all[MOVES] = {{0}};
    indim_storage *a = indim_loop_storage(&f.b, INDIM_STORAGE_ARGUMENT, INDIM_U32, 64, "a");
    indim_loop_region_begin(&f.b, NULL, 0);
    for (int k = 0; k < 4; k++) {
      all[k].lanes = (int32_t)(1 << draw(&r, 0, 3));
      all[k].value = indim_loop_load(&f.b, a, indim_loop_index(&f.b, 10 * k), all[k].lanes, 1);
      for (int lane = 0; lane < all[k].lanes; lane++) {
        all[k].from[lane] = 1000 * all[k].value + lane;
      }
    }
    const uint64_t bits[8] = {7, 0, 8, 0, 9, 0, 7, 0};
    all[4] = (moved){indim_loop_lanes(&f.b, INDIM_U32, 4, bits), 4, {7, 8, 9, 7}};
    all[5] = (moved){indim_loop_const(&f.b, INDIM_U32, 5, 0), 1, {5}};
    for (int k = 6; k < MOVES; k++) {
      all[k] = random_move(&f.b, &r, all, k);
      REQUIRE(f.b.status == INDIM_OK);
      CHECK_EQ_INT(indim_loop_value_of(&f.b, all[k].value)->lanes, all[k].lanes);
      for (int lane = 0; lane < all[k].lanes; lane++) {
        int64_t is = origin(&f, all[k].value, lane);
        CHECK_MSG(all[k].from[lane] < 0 || is == all[k].from[lane], "seed %lld, move %d, lane %d: %lld, expected %lld",
                  (long long)seed, k, lane, (long long)is, (long long)all[k].from[lane]);
      }
    }
    CHECK_EQ_INT(indim_loop_verify(f.program), INDIM_OK);
    close_fixture(&f);
  }
}

TEST(shuffles_that_leave_no_shuffle) {
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_storage *a = indim_loop_storage(b, INDIM_STORAGE_ARGUMENT, INDIM_F32, 64, "a");
  indim_loop_region_begin(b, NULL, 0);
  indim_value_id x = indim_loop_load(b, a, indim_loop_index(b, 0), 4, 1);
  indim_value_id y = indim_loop_load(b, a, indim_loop_index(b, 4), 4, 1);
  indim_value_id s = indim_loop_load(b, a, indim_loop_index(b, 9), 1, 1);
  const indim_value_id xy[2] = {x, y};
  const indim_value_id xx[2] = {x, x};
  CHECK_EQ_INT(indim_loop_shuffle(b, 2, xy, 4, (const int32_t[]){0, 1, 2, 3}), x);
  CHECK_EQ_INT(indim_loop_shuffle(b, 2, xy, 4, (const int32_t[]){4, -1, 6, 7}), y);
  CHECK_EQ_INT(indim_loop_shuffle(b, 2, xx, 4, (const int32_t[]){4, 1, 6, 3}), x);
  CHECK_EQ_INT(indim_loop_shuffle(b, 2, xy, 1, (const int32_t[]){5}), indim_loop_extract(b, y, 1));
  indim_value_id reversed = indim_loop_shuffle(b, 1, xy, 4, (const int32_t[]){3, 2, 1, 0});
  CHECK_EQ_INT(indim_loop_shuffle(b, 1, &reversed, 4, (const int32_t[]){3, 2, 1, 0}), x);
  CHECK_EQ_INT(indim_loop_extract(b, reversed, 0), indim_loop_extract(b, x, 3));
  indim_value_id wide = indim_loop_splat(b, s, 4);
  CHECK_EQ_INT(indim_loop_extract(b, wide, 2), s);
  CHECK_EQ_INT(indim_loop_shuffle(b, 1, &wide, 8, (const int32_t[]){3, 2, 1, 0, 0, 0, 0, 0}),
               indim_loop_splat(b, s, 8));
  const indim_value_id lanes[4] = {indim_loop_extract(b, x, 2), indim_loop_extract(b, x, 0),
                                   indim_loop_extract(b, x, 3), indim_loop_extract(b, x, 1)};
  CHECK_EQ_INT(indim_loop_shuffle(b, 4, lanes, 4, (const int32_t[]){0, 1, 2, 3}),
               indim_loop_shuffle(b, 1, &x, 4, (const int32_t[]){2, 0, 3, 1}));
  const indim_value_id constants[2] = {indim_loop_const(b, INDIM_F32, 7, 0), indim_loop_const(b, INDIM_F32, 8, 0)};
  const uint64_t bits[8] = {7, 0, 8, 0, 8, 0, 7, 0};
  CHECK_EQ_INT(indim_loop_shuffle(b, 2, constants, 4, (const int32_t[]){0, 1, 1, 0}),
               indim_loop_lanes(b, INDIM_F32, 4, bits));
  CHECK_EQ_INT(indim_loop_shuffle(b, 2, constants, 4, (const int32_t[]){1, 1, 1, 1}),
               indim_loop_splat(b, constants[1], 4));
  CHECK_EQ_INT(b->status, INDIM_OK);
  close_fixture(&f);
}

TEST(vectors_of_indices) {
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  const uint64_t bits[8] = {0, 0, 1, 0, 2, 0, 3, 0};
  indim_value_id iota = indim_loop_lanes(b, INDIM_S64, 4, bits);
  indim_value_id i = simple_for(b, 5);
  const indim_value_id args[2] = {i, iota};
  const int64_t coefficients[2] = {4, 1};
  indim_value_id x = indim_loop_affine(b, 100, 2, args, coefficients);
  CHECK_EQ_INT(indim_loop_value_of(b, x)->lanes, 4);
  CHECK_EQ_INT(indim_loop_value_of(b, x)->low, 100);
  CHECK_EQ_INT(indim_loop_value_of(b, x)->high, 119);
  const uint64_t doubled[8] = {10, 0, 12, 0, 14, 0, 16, 0};
  CHECK_EQ_INT(indim_loop_affine(b, 10, 1, &iota, &(int64_t){2}), indim_loop_lanes(b, INDIM_S64, 4, doubled));
  CHECK_EQ_INT(indim_loop_extract(b, iota, 3), indim_loop_index(b, 3));
  const uint64_t halves[8] = {0, 0, 0, 0, 1, 0, 1, 0};
  const uint64_t rests[8] = {0, 0, 1, 0, 0, 0, 1, 0};
  const uint64_t held[8] = {1, 0, 1, 0, 2, 0, 2, 0};
  CHECK_EQ_INT(indim_loop_floordiv(b, iota, 2), indim_loop_lanes(b, INDIM_S64, 4, halves));
  CHECK_EQ_INT(indim_loop_modulo(b, iota, 2), indim_loop_lanes(b, INDIM_S64, 4, rests));
  CHECK_EQ_INT(indim_loop_clamp_index(b, iota, 1, 2), indim_loop_lanes(b, INDIM_S64, 4, held));
  const uint64_t below[8] = {1, 0, 1, 0, 0, 0, 0, 0};
  CHECK_EQ_INT(indim_loop_in_range(b, iota, 0, 1), indim_loop_lanes(b, INDIM_PRED, 4, below));
  const indim_value_id pair[2] = {x, iota};
  indim_value_id mixed = indim_loop_shuffle(b, 2, pair, 4, (const int32_t[]){0, 4, 5, 3});
  CHECK_EQ_INT(indim_loop_value_of(b, mixed)->low, 0);
  CHECK_EQ_INT(indim_loop_value_of(b, mixed)->high, 119);
  indim_value_id most = indim_loop_reduce(b, (indim_loop_op){.op = INDIM_OP_MAXIMUM}, x);
  CHECK_EQ_INT(indim_loop_value_of(b, most)->low, 100);
  indim_value_id sum = indim_loop_reduce(b, (indim_loop_op){.op = INDIM_OP_ADD}, x);
  CHECK_EQ_INT(indim_loop_value_of(b, sum)->high, INT64_MAX);
  close_fixture(&f);
}

// Control ---------------------------------------------------------------------------------------------------------------

TEST(a_while_with_carried_values) {
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_storage *r = indim_loop_storage(b, INDIM_STORAGE_RESULT, INDIM_F64, 1, "r");
  indim_loop_region_begin(b, &r, 1);
  const indim_value_id start[2] = {indim_loop_index(b, 0), indim_loop_const(b, INDIM_F64, 0, 0)};
  indim_value_id in[2];
  indim_value_id results[2];
  indim_loop_while_begin(b, 2, start, in);
  const indim_value_id args[2] = {in[0], indim_loop_index(b, 10)};
  indim_loop_op less = {.op = INDIM_OP_COMPARE, .direction = INDIM_COMPARE_LT};
  indim_value_id pred = indim_loop_elementwise(b, less, INDIM_PRED, 2, args);
  CHECK(body_of(&f, pred) == b->body);
  indim_loop_while_body(b, pred, in);
  const indim_value_id next[2] = {indim_loop_binary(b, INDIM_OP_ADD, in[0], indim_loop_index(b, 1)),
                                  indim_loop_binary(b, INDIM_OP_ADD, in[1], indim_loop_convert(b, in[0], INDIM_F64))};
  indim_loop_while_end(b, next, results);
  CHECK_EQ_INT(results[1], results[0] + 1);
  CHECK_EQ_INT(indim_loop_value_of(b, results[1])->type, INDIM_F64);
  CHECK(body_of(&f, results[0]) == f.program->body);
  indim_loop_store(b, r, indim_loop_index(b, 0), results[1], 1, false);
  CHECK_EQ_INT(b->status, INDIM_OK);
  CHECK_EQ_INT(indim_loop_verify(f.program), INDIM_OK);
  close_fixture(&f);
}

TEST(an_error_stays_and_nobody_holds_null) {
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_value_id carried[2] = {77, 78};
  CHECK_EQ_INT(indim_loop_floordiv(b, indim_loop_index(b, 4), 0), 0);
  CHECK_EQ_INT(b->status, INDIM_INTERNAL);
  CHECK_EQ_INT(indim_loop_index(b, 4), 0);
  CHECK_EQ_INT(indim_loop_value_of(b, 123456)->lanes, 1);
  indim_storage *s = indim_loop_storage(b, INDIM_STORAGE_RESULT, INDIM_F32, 4, "s");
  REQUIRE(s != NULL);
  CHECK_EQ_INT(s->type, INDIM_F32);
  indim_loop_region_begin(b, &s, 1);
  indim_loop_store(b, s, 0, 0, 1, false);
  CHECK_EQ_INT(indim_loop_for_begin(b, 0, 0, 1, 2, carried, carried), 0);
  CHECK_EQ_INT(carried[0] + carried[1], 0);
  indim_loop_for_end(b, carried, carried);
  indim_loop_fail(b, INDIM_NO_MEMORY);
  CHECK_EQ_INT(b->status, INDIM_INTERNAL);
  CHECK(f.program->body->first->next == NULL);
  close_fixture(&f);
}

// Values that are none, or none here, and memory that may not be written.
static void refuse_strangers(indim_loop_builder *b, int what, indim_value_id zero) {
  const indim_value_id none = 4711;
  indim_value_id pred = indim_loop_const(b, INDIM_PRED, 0, 0);
  indim_storage *x = indim_loop_storage(b, INDIM_STORAGE_ARGUMENT, INDIM_F32, 64, "x");
  if (what == 21) {
    indim_loop_extract(b, none, 0);
  } else if (what == 22) {
    indim_loop_clamp_index(b, none, 0, 1);
  } else if (what == 23) {
    indim_loop_load_masked(b, x, zero, 1, none, indim_loop_const(b, INDIM_F32, 0, 0));
  } else if (what == 24) {
    indim_loop_if_begin(b, pred);
    indim_loop_if_else(b, 1, &none);
  } else if (what == 25) {  // what another branch made
    indim_loop_if_begin(b, pred);
    indim_value_id inside = indim_loop_for_begin(b, zero, indim_loop_index(b, 3), 1, 0, NULL, NULL);
    indim_loop_for_end(b, NULL, NULL);
    indim_loop_if_else(b, 1, &inside);
  } else if (what == 26) {
    const indim_host_matmul numbers = {INDIM_F32, 1, 4, 4, 4, 0, 4, 1, 0, 4, 1, 0, 4, 0, 0, 0, 0, 0};
    call_matmul(b, (indim_storage *const[]){x, x, x}, (const indim_value_id[]){zero, zero, zero}, numbers);
  } else if (what == 27) {
    indim_loop_reduce(b, (indim_loop_op){.op = INDIM_OP_ADD}, none);
  } else {
    indim_loop_host(b, &(indim_host_call){.service = INDIM_HOST_MATMUL, .storage_count = 2});
  }
}

static void refuse_more(indim_loop_builder *b, int what, indim_value_id zero, indim_value_id four) {
  const indim_value_id pair[2] = {four, indim_loop_splat(b, zero, 2)};
  const int64_t ones[2] = {1, 1};
  indim_value_id pred = indim_loop_const(b, INDIM_PRED, 0, 0);
  if (what == 9) {
    indim_loop_for_begin(b, zero, zero, 0, 0, NULL, NULL);
  } else if (what == 10) {
    indim_loop_if_begin(b, pred);
    indim_loop_if_end(b, NULL, NULL);
  } else if (what == 11) {
    indim_loop_if_begin(b, pred);
    indim_loop_if_else(b, 0, NULL);
    indim_loop_if_else(b, 0, NULL);
  } else if (what == 12) {
    indim_loop_while_begin(b, 0, NULL, NULL);
    indim_loop_while_end(b, NULL, NULL);
  } else if (what == 13) {
    indim_loop_while_begin(b, 0, NULL, NULL);
    indim_loop_while_body(b, pred, NULL);
    indim_loop_while_body(b, pred, NULL);
  } else if (what == 14) {
    indim_loop_affine(b, 0, 2, (const indim_value_id[]){four, pair[1]}, ones);
  } else if (what == 15) {
    indim_loop_clamp_index(b, zero, 3, 2);
  } else if (what == 16) {
    indim_loop_clamp_index(b, indim_loop_const(b, INDIM_F32, 0, 0), 0, 2);
  } else if (what == 17) {
    indim_loop_in_range(b, pred, 0, 2);
  } else if (what == 18) {
    indim_loop_elementwise(b, (indim_loop_op){.op = INDIM_OP_ADD}, INDIM_S64, 0, NULL);
  } else if (what == 19) {
    indim_loop_shuffle(b, 0, NULL, 4, NULL);
  } else if (what == 20) {
    indim_loop_add(b, zero, 4711);
  } else {
    refuse_strangers(b, what, zero);
  }
}

TEST(wrong_calls_are_refused) {
  for (int what = 0; what < 29; what++) {
    fixture f;
    REQUIRE(open_fixture(&f));
    indim_loop_builder *b = &f.b;
    indim_value_id zero = indim_loop_index(b, 0);
    indim_value_id four = indim_loop_splat(b, zero, 4);
    indim_value_id pair = indim_loop_splat(b, zero, 2);
    indim_value_id i = simple_for(b, 4);
    indim_value_id inner = indim_loop_add_const(b, i, 1);
    if (what == 0) {
      indim_loop_for_end(b, NULL, NULL);
      indim_loop_add_const(b, inner, 1);
    } else if (what == 1) {
      indim_loop_binary(b, INDIM_OP_ADD, four, pair);
    } else if (what == 2) {
      indim_loop_splat(b, four, 8);
    } else if (what == 3) {
      indim_loop_extract(b, four, 4);
    } else if (what == 4) {
      indim_loop_shuffle(b, 1, &four, 2, (const int32_t[]){0, 4});
    } else if (what == 5) {
      indim_loop_if_end(b, NULL, NULL);
    } else if (what == 6) {
      indim_loop_add(b, zero, indim_loop_const(b, INDIM_S32, 0, 0));
    } else if (what == 7) {
      indim_loop_mul_const(b, indim_loop_index(b, INT64_MAX), 2);
    } else if (what == 8) {
      indim_value_id carried = 0;
      indim_loop_for_begin(b, zero, i, 1, 1, &zero, &carried);
      indim_loop_for_parallel(b, 1);
    } else {
      refuse_more(b, what, zero, four);
    }
    CHECK_MSG(b->status == INDIM_INTERNAL, "call %d was taken", what);
    close_fixture(&f);
  }
}

// Size ------------------------------------------------------------------------------------------------------------------

// A body of 60,000 chained operations with as many index sums: nothing may grow faster than the program.
TEST(long_bodies) {
  fixture f;
  REQUIRE(open_fixture(&f));
  indim_loop_builder *b = &f.b;
  indim_storage *a = indim_loop_storage(b, INDIM_STORAGE_ARGUMENT, INDIM_F32, 100000, "a");
  indim_storage *n = indim_loop_storage(b, INDIM_STORAGE_ARGUMENT, INDIM_S32, 100000, "n");
  indim_loop_region_begin(b, NULL, 0);
  (void)simple_for(b, 4);
  indim_value_id x = indim_loop_load(b, a, indim_loop_index(b, 0), 1, 1);
  indim_value_id sum = indim_loop_index(b, 0);
  enum { LENGTH = 30000 };
  for (int k = 0; k < LENGTH; k++) {
    x = indim_loop_binary(b, INDIM_OP_ADD, x, indim_loop_load(b, a, indim_loop_index(b, k), 1, 1));
    indim_value_id next = indim_loop_load(b, n, indim_loop_index(b, k), 1, 1);
    sum = indim_loop_binary(b, INDIM_OP_ADD, sum, indim_loop_convert(b, next, INDIM_S64));
  }
  indim_loop_for_end(b, NULL, NULL);
  CHECK_EQ_INT(b->status, INDIM_OK);
  CHECK_EQ_INT(indim_loop_value_of(b, sum)->high, (int64_t)INT32_MAX * LENGTH);
  CHECK_MSG(indim_ctx_memory_in_use(f.cx) < 200000000, "%llu bytes", (unsigned long long)indim_ctx_memory_in_use(f.cx));
  CHECK_EQ_INT(indim_loop_verify(f.program), INDIM_OK);
  close_fixture(&f);
}

// Memory ----------------------------------------------------------------------------------------------------------------

// A program with every kind of node, large enough that every array grows.
static void build_everything(indim_loop_builder *b) {
  indim_storage *s[40];
  for (int k = 0; k < 40; k++) {
    s[k] = indim_loop_storage(b, INDIM_STORAGE_SCRATCH, INDIM_F32, 64, "s");
  }
  indim_loop_region_begin(b, s, 20);
  indim_value_id zero = indim_loop_const(b, INDIM_F32, 0, 0);
  indim_value_id carried = 0;
  indim_value_id result = 0;
  for (int k = 0; k < 12; k++) {
    indim_value_id i = indim_loop_for_begin(b, indim_loop_index(b, k), indim_loop_index(b, 56), 8, 1, &zero, &carried);
    indim_value_id x = indim_loop_load(b, s[20 + k], i, 8, 1);
    indim_value_id y = indim_loop_load(b, s[k], indim_loop_floordiv(b, indim_loop_add_const(b, i, k), 3), 1, 1);
    indim_value_id z = indim_loop_binary(b, INDIM_OP_ADD, x, indim_loop_splat(b, y, 8));
    z = indim_loop_shuffle(b, 1, &z, 8, (const int32_t[]){7, 6, 5, 4, 3, 2, 1, 0});
    indim_value_id pred = indim_loop_in_range(b, indim_loop_modulo(b, i, 5), 1, 3);
    indim_loop_if_begin(b, pred);
    indim_loop_store(b, s[k], i, indim_loop_fma(b, z, z, z), 1, false);
    indim_loop_if_else(b, 0, NULL);
    indim_loop_fill(b, s[k], indim_loop_index(b, 0), zero, 64);
    indim_loop_if_end(b, NULL, NULL);
    indim_value_id sum = indim_loop_reduce(b, (indim_loop_op){.op = INDIM_OP_ADD}, z);
    indim_value_id yield = indim_loop_binary(b, INDIM_OP_ADD, carried, sum);
    indim_loop_for_end(b, &yield, &result);
    indim_loop_copy(b, s[k], indim_loop_index(b, 0), s[20], indim_loop_index(b, 0), 64);
  }
  indim_loop_while_begin(b, 1, &result, &carried);
  indim_loop_while_body(b, indim_loop_const(b, INDIM_PRED, 0, 0), &carried);
  indim_loop_while_end(b, &carried, &result);
}

static indim_status build_verify_print(indim_ctx *cx) {
  const indim_target target = {.vector_bytes = 32};
  indim_loop_program *program = NULL;
  indim_loop_builder b;
  indim_buffer text;
  indim_status status = indim_loop_program_create(cx, NULL, &target, &program);
  if (status != INDIM_OK) {
    return status;
  }
  indim_buffer_init(&text, cx);
  indim_loop_builder_init(&b, program);
  build_everything(&b);
  status = b.status;
  indim_loop_builder_deinit(&b);
  if (status == INDIM_OK) {
    status = indim_loop_verify(program);
  }
  if (status == INDIM_OK) {
    indim_loop_print(program, &text);
    status = text.status;
  }
  indim_buffer_deinit(&text);
  indim_loop_program_destroy(program);
  return status;
}

TEST(every_allocation_may_fail) {
  for (int for_ever = 0; for_ever < 2; for_ever++) {
    indim_status status = INDIM_NO_MEMORY;
    int64_t n = 0;
    for (; status != INDIM_OK && n < 10000 && test_failures == 0; n++) {
      test_allocator f = {.fail_at = n + 1, .fail_on = for_ever != 0};
      indim_allocator allocator = {test_resize, &f};
      indim_ctx *cx = NULL;
      status = indim_ctx_create(&allocator, &cx);
      if (status == INDIM_OK) {
        status = build_verify_print(cx);
        CHECK_MSG(status == INDIM_OK || status == INDIM_NO_MEMORY, "allocation %lld: %s: %s", (long long)n,
                  indim_status_name(status), indim_ctx_diagnostic_get(cx, 0)->message);
        CHECK_MSG(status == INDIM_OK || indim_ctx_diagnostic_count(cx) > 0, "allocation %lld: no diagnostic",
                  (long long)n);
        CHECK_EQ_UINT(indim_ctx_memory_in_use(cx), 0);
        indim_ctx_destroy(cx);
      }
      CHECK_EQ_INT(f.blocks, 0);
    }
    CHECK_EQ_INT(status, INDIM_OK);
    CHECK(n > 20);
  }
}

#define CASES(X)                                     \
  X(invariant_nodes_leave_the_loop)                  \
  X(nodes_stand_at_the_innermost_of_their_arguments) \
  X(work_stays_inside_an_if)                         \
  X(loads_of_what_is_written_stay)                   \
  X(storages_that_share_bytes_count_as_one)          \
  X(kernels_share_loads_of_what_never_changes)       \
  X(loads_move_no_further_than_their_kernel)         \
  X(wild_loads_stay_where_they_are)                  \
  X(stores_where_they_may_not)                       \
  X(sums_are_flat)                                   \
  X(program_sums_that_may_wrap_are_left_alone)       \
  X(sums_of_many_terms)                              \
  X(divisions_that_leave_no_division)                \
  X(what_a_division_took_apart_is_put_together)      \
  X(random_index_arithmetic_is_what_it_says)         \
  X(indices_of_loops_know_their_range)               \
  X(guards_of_every_integer_type)                    \
  X(comparisons_of_narrow_integers)                  \
  X(checked_indices_stay_in_their_branch)            \
  X(selects_conversions_and_preds)                   \
  X(random_moves_of_lanes_are_what_they_say)         \
  X(shuffles_that_leave_no_shuffle)                  \
  X(vectors_of_indices)                              \
  X(a_while_with_carried_values)                     \
  X(an_error_stays_and_nobody_holds_null)            \
  X(wrong_calls_are_refused)                         \
  X(long_bodies)                                     \
  X(every_allocation_may_fail)
TEST_MAIN(CASES)
