// Clocks around the steps of a program that is to be profiled. No row of passes.def: it is asked for, and changes what the
// program does.
#include "loop/ir/rewrite.h"
#include "loop/pass/pass.h"

// Inserts a clock before what |*link| points to, and returns the link behind it.
static indim_loop_node **put_clock(indim_loop_builder *b, const indim_loop_node *step, indim_loop_node **link,
                                   int32_t number, bool is_end) {
  indim_host_clock numbers = {.step = number, .is_end = is_end};
  indim_node_list list = {.body = step->body};
  int64_t *copy = indim_loop_copy_of(b, &numbers, sizeof numbers);
  b->origin = step->origin;
  indim_loop_node *node = indim_loop_new_node(b, INDIM_NODE_HOST, 0, NULL);
  if (node != NULL) {
    node->u.host.service = INDIM_HOST_CLOCK;
    node->u.host.number_count = (int32_t)(sizeof numbers / sizeof(int64_t));
    node->u.host.numbers = copy;
    indim_nodes_append(&list, node);
  }
  return indim_nodes_insert(&list, link);
}

indim_status indim_pass_profile(indim_loop_program *program, const indim_step *steps, int32_t count) {
  indim_loop_builder b;
  indim_loop_node **link = NULL;  // in the body of the last step, behind it
  const indim_loop_body *body = NULL;
  indim_loop_builder_init(&b, program);
  for (int32_t i = 0; i < count && b.status == INDIM_OK; i++) {
    const indim_loop_node *step = steps[i].node;
    if (step->body != body) {
      body = step->body;
      link = &step->body->first;
    }
    while (*link != step) {
      link = &(*link)->next;
    }
    link = put_clock(&b, step, link, i, false);
    link = put_clock(&b, step, &(*link)->next, i, true);
  }
  indim_status status = b.status;
  indim_loop_builder_deinit(&b);
  return status;
}
