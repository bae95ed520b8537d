// Rewriting finished programs: where nodes of a list come to stand, what new ones define, and what names reach.
#include "loop/ir/rewrite.h"

#include "loop_test.h"

// for i in 0..8 carrying c = 0: if i <= 3 then c else x[i]; r[0] is what comes out.
typedef struct sample {
  fixture f;
  indim_value_id i, c, chosen, loaded, out;
} sample;

static bool open_sample(sample *s) {
  *s = (sample){.i = 0};
  if (!open_fixture(&s->f)) {
    return false;
  }
  indim_loop_builder *b = &s->f.b;
  indim_storage *x = indim_loop_storage(b, INDIM_STORAGE_ARGUMENT, INDIM_F32, 8, "x");
  indim_storage *r = indim_loop_storage(b, INDIM_STORAGE_RESULT, INDIM_F32, 8, "r");
  indim_loop_region_begin(b, &r, 1);
  indim_value_id zero = indim_loop_const(b, INDIM_F32, 0, 0);
  s->i = indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, 8), 1, 1, &zero, &s->c);
  indim_loop_if_begin(b, indim_loop_in_range(b, s->i, 0, 3));
  indim_loop_if_else(b, 1, &s->c);
  s->loaded = indim_loop_load(b, x, s->i, 1, 1);
  indim_loop_if_end(b, &s->loaded, &s->chosen);
  indim_loop_for_end(b, &s->chosen, &s->out);
  indim_loop_store(b, r, indim_loop_index(b, 0), s->out, 1, false);
  return b->status == INDIM_OK;
}

static indim_loop_node *node_in(const sample *s, indim_value_id v) { return s->f.program->values[v].node; }

static int32_t count_nodes(indim_loop_body *body) {
  int32_t count = 0;
  for (const indim_loop_node *node = body->first; node != NULL; node = indim_loop_next_in(body, node)) {
    count++;
  }
  return count;
}

TEST(walks_end_with_their_body) {
  sample s;
  REQUIRE(open_sample(&s));
  indim_loop_node *loop = node_in(&s, s.out);
  indim_loop_node *choice = node_in(&s, s.chosen);
  CHECK_EQ_INT(count_nodes(choice->bodies[0]), 0);
  CHECK_EQ_INT(count_nodes(choice->bodies[1]), 1);
  CHECK_EQ_INT(count_nodes(loop->bodies[0]), 3);  // the comparison, the if, the load
  int32_t all = 0;
  for (const indim_loop_node *node = s.f.program->body->first; node != NULL; node = indim_loop_next(node)) {
    all++;
  }
  CHECK_EQ_INT(count_nodes(s.f.program->body), all);
  close_fixture(&s.f);
}

TEST(lists_go_in_front_or_to_the_end) {
  sample s;
  REQUIRE(open_sample(&s));
  indim_loop_body *body = node_in(&s, s.out)->bodies[0];
  indim_node_list list = {.body = body};
  CHECK(indim_nodes_insert(&list, &body->first) == &body->first);
  indim_value_id low = indim_nodes_put_const(&s.f.b, &list, INDIM_S64, 1, 5);
  indim_value_id high = indim_nodes_put_const(&s.f.b, &list, INDIM_S64, 1, (uint64_t)-6);
  const indim_loop_node *first = body->first;
  indim_loop_node **link = indim_nodes_insert(&list, &body->first);
  CHECK(body->first == node_in(&s, low) && body->first->next == node_in(&s, high) && *link == first);
  CHECK(s.f.program->values[high].low == -6 && s.f.program->values[high].high == -6);
  list = (indim_node_list){.body = body};
  indim_value_id ones = indim_nodes_put_const(&s.f.b, &list, INDIM_F32, 4, 0x3f800000);
  indim_nodes_insert(&list, &body->last->next);
  CHECK(body->last == node_in(&s, ones) && body->last->next == NULL && body->last->body == body);
  CHECK_EQ_INT(count_nodes(body), 6);
  CHECK_EQ_INT(indim_loop_verify(s.f.program), INDIM_OK);
  close_fixture(&s.f);
}

TEST(sums_know_their_range) {
  sample s;
  REQUIRE(open_sample(&s));
  indim_loop_body *body = node_in(&s, s.out)->bodies[0];
  indim_node_list list = {.body = body};
  indim_affine sum = {.low = 3, .high = 3};
  indim_value_id number = indim_nodes_put_sum(&s.f.b, &list, &sum);
  CHECK_EQ_INT(kind_of(&s.f, number), INDIM_NODE_CONST);
  CHECK(indim_affine_add(&sum, s.i, 2));
  indim_value_id v = indim_nodes_put_sum(&s.f.b, &list, &sum);
  CHECK_EQ_INT(kind_of(&s.f, v), INDIM_NODE_AFFINE);
  CHECK(s.f.program->values[v].low == 3 && s.f.program->values[v].high == 17);
  indim_nodes_insert(&list, &body->first);
  CHECK_EQ_INT(indim_loop_verify(s.f.program), INDIM_OK);
  close_fixture(&s.f);
}

// The loop goes into one around it, so that all bodies inside are one deeper.
TEST(moved_nodes_take_their_bodies_along) {
  sample s;
  REQUIRE(open_sample(&s));
  indim_loop_program *program = s.f.program;
  indim_loop_node *loop = node_in(&s, s.out);
  indim_loop_node **link = &program->body->first;
  while (*link != loop) {
    link = &(*link)->next;
  }
  indim_loop_node *store = loop->next;
  indim_loop_node *outer = indim_loop_new_for(&s.f.b, program->body, loop->args, 1);
  REQUIRE(outer != NULL);
  CHECK_EQ_INT(program->values[outer->bodies[0]->first_parameter].high, 7);
  indim_node_list inside = {.body = outer->bodies[0]};
  indim_nodes_move(program, &inside, loop);
  indim_nodes_move(program, &inside, store);
  indim_nodes_become_body(&inside);
  indim_node_list list = {.body = program->body};
  *link = NULL;
  indim_nodes_append(&list, outer);
  indim_nodes_insert(&list, link);
  CHECK(program->body->last == outer && body_of(&s.f, s.out) == outer->bodies[0]);
  CHECK(loop->bodies[0]->depth == 2 && node_in(&s, s.chosen)->bodies[1]->depth == 3);
  CHECK_EQ_INT(indim_loop_verify(program), INDIM_OK);
  close_fixture(&s.f);
}

TEST(lists_join) {
  sample s;
  REQUIRE(open_sample(&s));
  indim_loop_body *body = node_in(&s, s.out)->bodies[0];
  indim_node_list list = {.body = body};
  indim_node_list more = {.body = s.f.program->body};
  indim_value_id a = indim_nodes_put_const(&s.f.b, &list, INDIM_F32, 1, 1);
  indim_loop_node *node = indim_loop_new_node(&s.f.b, INDIM_NODE_SPLAT, 1, &a);
  indim_value_id splat = indim_nodes_put(&s.f.b, &more, node, INDIM_F32, 4);
  indim_nodes_append_all(&list, &more);
  CHECK(list.last == node_in(&s, splat) && list.last->body == body && more.first == NULL && more.last == NULL);
  CHECK(list.first == node_in(&s, a) && list.first->next == list.last);
  CHECK_EQ_INT(indim_nodes_put(&s.f.b, &list, NULL, INDIM_F32, 4), 0);
  close_fixture(&s.f);
}

TEST(names_reach_inner_bodies_and_yields) {
  sample s;
  REQUIRE(open_sample(&s));
  indim_loop_body *body = node_in(&s, s.out)->bodies[0];
  indim_loop_node *choice = node_in(&s, s.chosen);
  const indim_value_id to[2] = {77, 0};
  indim_loop_rename(body, s.c, 2, to);
  CHECK_EQ_INT(choice->bodies[0]->yields[0], 77);
  CHECK_EQ_INT(node_in(&s, s.loaded)->args[0], s.i);
  indim_loop_rename(body, s.chosen, 1, &s.c);
  CHECK_EQ_INT(body->yields[0], s.c);
  indim_loop_rename(body, s.i, 1, to);
  CHECK_EQ_INT(node_in(&s, s.loaded)->args[0], 77);
  const indim_value_id values[3] = {4, 4, 5};
  CHECK(indim_loop_all_same(2, values) && !indim_loop_all_same(3, values) && indim_loop_all_same(0, values));
  close_fixture(&s.f);
}

#define CASES(X)                         \
  X(walks_end_with_their_body)           \
  X(lists_go_in_front_or_to_the_end)     \
  X(sums_know_their_range)               \
  X(moved_nodes_take_their_bodies_along) \
  X(lists_join)                          \
  X(names_reach_inner_bodies_and_yields)
TEST_MAIN(CASES)
