// Makes serial loops parallel whose iterations are independent of each other, if they have enough work for threads: those of
// kernels that do not decide it themselves. The partition depends on the program only, and no iteration reads or writes what
// another one writes, so results are the same bits for any number of threads. For --explain: why a loop stays serial.
#include "loop/ir/op.h"
#include "loop/pass/pass.h"
#include "loop/target/cost.h"
#include "loop/verify/verify.h"

enum { PIECES = 16, UNKNOWN_TRIPS = 8 };

static int64_t trips_of(const indim_loop_program *program, const indim_loop_node *loop) {
  int64_t distance = 0;
  int64_t low = program->values[loop->args[0]].low;
  int64_t high = program->values[loop->args[1]].high;
  if (!indim_affine_distance(program, loop->args[0], loop->args[1], &distance)) {
    bool is_known = low != INT64_MIN && high != INT64_MAX;
    distance = is_known ? indim_index_add_saturated(high, -low) : UNKNOWN_TRIPS * loop->u.loop.step;
  }
  return distance <= 0 ? 0 : (distance - 1) / loop->u.loop.step + 1;
}

static int64_t work_of_node(const indim_loop_program *program, const indim_loop_node *node);

// Instructions on vectors that one run of a body takes, about; at least 1. Recurses as deep as lowering nests loops.
static int64_t work_of(const indim_loop_program *program, const indim_loop_body *body) {
  int64_t work = 1;
  for (const indim_loop_node *node = body->first; node != NULL; node = node->next) {
    work = indim_index_add_saturated(work, work_of_node(program, node));
  }
  return work;
}

static int64_t work_of_node(const indim_loop_program *program, const indim_loop_node *node) {
  int64_t bytes = 0;
  switch ((int)node->kind) {
  case INDIM_NODE_CONST:
  case INDIM_NODE_LANES:
  case INDIM_NODE_AFFINE:
  case INDIM_NODE_PREFETCH:
    return 0;
  case INDIM_NODE_ELEMENTWISE:
    return indim_op_is_function(node->u.op.op) ? INDIM_COST_FUNCTION_NODES : 1;
  case INDIM_NODE_COPY:
  case INDIM_NODE_FILL:
    bytes = indim_index_mul_saturated(node->u.move.count, indim_type_bytes(program->storages[node->u.move.to]->type));
    return bytes / program->target.vector_bytes + 1;
  case INDIM_NODE_FOR:
    return indim_index_mul_saturated(trips_of(program, node), work_of(program, node->bodies[0]));
  case INDIM_NODE_WHILE:
    return indim_index_mul_saturated(
        UNKNOWN_TRIPS, indim_index_add_saturated(work_of(program, node->bodies[0]), work_of(program, node->bodies[1])));
  case INDIM_NODE_IF:
    return indim_index_add_saturated(work_of(program, node->bodies[0]), work_of(program, node->bodies[1]));
  default:
    return 1;
  }
}

// A call of the host in |loop|, which may use threads of its own.
static const indim_loop_node *host_call_in(const indim_loop_node *loop) {
  const indim_loop_body *body = loop->bodies[0];
  const indim_loop_node *node = body->first;
  while (node != NULL && node->kind != INDIM_NODE_HOST) {
    node = indim_loop_next_in(body, node);
  }
  return node;
}

// Why the iterations of |loop| cannot run at the same time; NULL: they can. NO_MEMORY.
static indim_status obstacle_of(indim_loop_verifier *v, const indim_loop_node *loop, const char **out) {
  const indim_loop_node *conflict = NULL;
  *out = NULL;
  if (loop->arg_count != 2) {
    *out = "each iteration needs a value of the one before";
  } else if (trips_of(v->program, loop) < 2) {
    *out = "it has one iteration";
  } else if (host_call_in(loop) != NULL) {
    *out = "it calls the host, which uses the threads";
  } else {
    INDIM_TRY(indim_loop_find_conflict(v, loop, &conflict));
    *out = conflict == NULL ? NULL : "iterations may write the same elements, or what others read";
  }
  return INDIM_OK;
}

static bool is_worth_threads(const indim_loop_program *program, const indim_loop_node *loop) {
  return work_of_node(program, loop) >= INDIM_COST_PARALLEL_WORK;
}

// Calls |visit| for each loop that is in no loop; |before|: the one before it in its body, or NULL. Recurses no deeper than lowering
// nests whiles and ifs.
typedef indim_status step_visitor(void *user, indim_loop_node *loop, const indim_loop_node *before);

static indim_status for_each_step(const indim_loop_body *body, step_visitor *visit, void *user) {
  const indim_loop_node *before = NULL;
  for (indim_loop_node *node = body->first; node != NULL; node = node->next) {
    if (node->kind == INDIM_NODE_FOR) {
      INDIM_TRY(visit(user, node, before));
      before = node;
    }
    for (int k = 0; node->kind != INDIM_NODE_FOR && k < 2 && node->bodies[k] != NULL; k++) {
      INDIM_TRY(for_each_step(node->bodies[k], visit, user));
    }
  }
  return INDIM_OK;
}

// Whether |loop|, of less work, goes along with its neighbour |other|, which runs on threads: then the two can be fused.
static bool goes_along(const indim_loop_program *program, const indim_loop_node *loop, const indim_loop_node *other) {
  return other != NULL && other->arg_count == 2 && other->u.loop.step == loop->u.loop.step &&
         trips_of(program, other) == trips_of(program, loop) && is_worth_threads(program, other) &&
         work_of_node(program, loop) >= INDIM_COST_PARALLEL_WORK / 16;
}

static indim_status make_parallel(void *user, indim_loop_node *loop, const indim_loop_node *before) {
  indim_loop_verifier *v = user;
  const char *obstacle = NULL;
  if (loop->u.loop.is_parallel || loop->arg_count != 2) {
    return INDIM_OK;
  }
  const indim_loop_node *after = loop->next;
  while (after != NULL && after->kind != INDIM_NODE_FOR) {
    after = after->next;
  }
  if (!is_worth_threads(v->program, loop) && !goes_along(v->program, loop, before) &&
      !goes_along(v->program, loop, after)) {
    return INDIM_OK;
  }
  INDIM_TRY(obstacle_of(v, loop, &obstacle));
  if (obstacle == NULL) {
    loop->u.loop.is_parallel = true;
    loop->u.loop.grain = (trips_of(v->program, loop) - 1) / PIECES + 1;
  }
  return INDIM_OK;
}

indim_status indim_pass_parallel(indim_loop_program *program) {
  indim_loop_verifier v;
  indim_status status = indim_loop_verifier_init(&v, program);
  status = status == INDIM_OK ? for_each_step(program->body, make_parallel, &v) : status;
  indim_loop_verifier_deinit(&v);
  return status;
}

typedef struct explainer {
  indim_loop_verifier verifier;
  indim_buffer *out;
  bool without_threads;
} explainer;

static indim_status explain_serial(void *user, indim_loop_node *loop, const indim_loop_node *before) {
  (void)before;
  explainer *e = user;
  const indim_instr *instr = loop->origin;
  const char *obstacle = "the decision threads is left out";
  indim_shape_text shape;
  if (loop->u.loop.is_parallel || instr == NULL || !is_worth_threads(e->verifier.program, loop)) {
    return INDIM_OK;
  }
  INDIM_TRY(e->without_threads ? INDIM_OK : obstacle_of(&e->verifier, loop, &obstacle));
  indim_buffer_printf(e->out, "%-24.*s %-22s %-16s one thread: %s\n", (int)instr->name.size, instr->name.data,
                      indim_op_get(instr->op)->text, indim_shape_brief(instr->shape, &shape),
                      obstacle == NULL ? "its parts had too little work before they were fused" : obstacle);
  return INDIM_OK;
}

indim_status indim_explain_serial(indim_loop_program *program, bool without_threads, indim_buffer *out) {
  explainer e = {.out = out, .without_threads = without_threads};
  indim_status status = indim_loop_verifier_init(&e.verifier, program);
  status = status == INDIM_OK ? for_each_step(program->body, explain_serial, &e) : status;
  indim_loop_verifier_deinit(&e.verifier);
  return status;
}
