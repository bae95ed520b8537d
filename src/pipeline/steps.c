// The steps of a program for the caller: loop/ir/steps.h in the words of indim/execute.h.
#include "pipeline/bind.h"

// Instructions of a step: at most so many, in the order of its text.
typedef struct origins {
  const indim_instr *list[INDIM_PROFILE_INSTRUCTIONS];
  int32_t count;
} origins;

static void add_origin(origins *o, const indim_loop_node *node) {
  bool is_known = node->origin == NULL || node->kind == INDIM_NODE_CONST || node->kind == INDIM_NODE_AFFINE;
  for (int32_t i = 0; i < o->count && !is_known; i++) {
    is_known = o->list[i] == node->origin;
  }
  if (!is_known && o->count < INDIM_PROFILE_INSTRUCTIONS) {
    o->list[o->count++] = node->origin;
  }
}

static origins origins_of(const indim_loop_node *step) {
  origins o = {.count = 0};
  add_origin(&o, step);
  for (int k = 0; k < 2 && step->bodies[k] != NULL; k++) {
    const indim_loop_node *node = step->bodies[k]->first;
    for (; node != NULL; node = indim_loop_next_in(step->bodies[k], node)) {
      add_origin(&o, node);
    }
  }
  return o;
}

static bool is_repeated(const indim_loop_node *step) {
  const indim_loop_node *outer = step->body->owner;
  while (outer != NULL && outer->kind != INDIM_NODE_WHILE) {
    outer = outer->body->owner;
  }
  return outer != NULL;
}

static indim_status describe(indim_arena *arena, const indim_step *step, const indim_step_cost *cost,
                             indim_profile_step *out) {
  origins o = origins_of(step->node);
  // A loop that a pass made, of several, has none: it goes by what it computes last.
  const indim_instr *origin = step->node->origin != NULL || o.count == 0 ? step->node->origin : o.list[o.count - 1];
  const char **names = NULL;
  indim_str copy = indim_str_of("");
  INDIM_TRY(indim_arena_array(arena, (size_t)o.count, sizeof *names, (void **)&names));
  for (int32_t i = 0; i < o.count; i++) {
    INDIM_TRY(indim_arena_str(arena, o.list[i]->name, &copy));
    names[i] = copy.data;
  }
  INDIM_TRY(indim_arena_str(arena, origin == NULL ? indim_str_of("") : origin->name, &copy));
  *out = (indim_profile_step){
      .kind = indim_step_kind_text(step->kind),
      .service = step->kind != INDIM_STEP_HOST ? "" : indim_service_get(step->node->u.host.service)->name,
      .name = copy.data,
      .op = origin == NULL ? "" : indim_op_get(origin->op)->text,
      .instructions = names,
      .instruction_count = o.count,
      .is_parallel = cost->is_parallel,
      .is_repeated = is_repeated(step->node),
      .bytes_read = cost->bytes_read,
      .bytes_written = cost->bytes_written,
      .operations = cost->operations,
      .transcendentals = cost->transcendentals};
  return INDIM_OK;
}

static indim_status list_steps(indim_executable *e, const indim_loop_program *program, indim_arena *scratch,
                               const indim_step *steps, int32_t count) {
  indim_step_cost *costs = NULL;
  INDIM_TRY(indim_loop_step_costs(program, scratch, steps, count, &costs));
  INDIM_TRY(indim_arena_array(&e->arena, (size_t)count, sizeof *e->steps, (void **)&e->steps));
  for (int32_t i = 0; i < count; i++) {
    INDIM_TRY(describe(&e->arena, &steps[i], &costs[i], &e->steps[i]));
  }
  e->step_count = count;
  return INDIM_OK;
}

indim_status indim_bind_steps(indim_executable *e, const indim_loop_program *program, const indim_step *steps,
                              int32_t count) {
  indim_arena scratch;
  indim_arena_init(&scratch, e->cx);
  indim_status status = list_steps(e, program, &scratch, steps, count);
  indim_arena_deinit(&scratch);
  return status;
}
