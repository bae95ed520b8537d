// Cancellation polling: where loops read the host's stop word, so that long runs can be cancelled. A loop with much
// work polls before each iteration if these are long, else once every poll interval; one with less work never polls,
// nor need the loops nested in it. While loops poll before every iteration.
#include "loop/ir/build.h"
#include "loop/pass/pass.h"
#include "loop/target/cost.h"

static int64_t visit_body(const indim_loop_program *program, const indim_loop_body *body);

// The work of all iterations, with the largest trip count that the ranges of the bounds allow.
static int64_t visit_for(const indim_loop_program *program, indim_loop_node *node) {
  int64_t step = node->u.loop.step;
  int64_t begin = program->values[node->args[0]].low;
  int64_t end = program->values[node->args[1]].high;
  int64_t length = indim_index_add_saturated(end, indim_index_mul_saturated(begin, -1));
  int64_t count = length <= 0 ? 0 : (length - 1) / step + 1;
  int64_t iteration = visit_body(program, node->bodies[0]);
  int64_t work = indim_index_mul_saturated(count, iteration);
  node->u.loop.poll_interval = work <= INDIM_COST_POLL_NODES            ? 0
                               : iteration >= INDIM_COST_POLL_ITERATION ? 1
                                                                        : INDIM_COST_POLL_NODES / iteration;
  return work;
}

// At least 1.
static int64_t visit_body(const indim_loop_program *program, const indim_loop_body *body) {
  int64_t work = 1;
  for (indim_loop_node *node = body->first; node != NULL; node = node->next) {
    int64_t own = 1;
    if (node->kind == INDIM_NODE_FOR) {
      own = visit_for(program, node);
    } else if (node->kind == INDIM_NODE_COPY || node->kind == INDIM_NODE_FILL) {
      own = node->u.move.count;
    } else if (node->kind == INDIM_NODE_HOST) {
      // How long a function of the caller's takes nobody knows.
      own = node->u.host.service == INDIM_HOST_CUSTOM_CALL ? INDIM_COST_POLL_NODES : INDIM_COST_POLL_ITERATION;
    }
    for (int32_t k = 0; node->kind != INDIM_NODE_FOR && k < 2 && node->bodies[k] != NULL; k++) {
      own = indim_index_add_saturated(own, visit_body(program, node->bodies[k]));
    }
    work = indim_index_add_saturated(work, own);
  }
  return work;
}

indim_status indim_pass_poll(indim_loop_program *program) {
  (void)visit_body(program, program->body);
  return INDIM_OK;
}
