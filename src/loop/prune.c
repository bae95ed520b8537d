// Removes nodes whose results nobody uses: a survey leaves some behind, and an index that was simplified away leaves its
// parts. Stores, copies, fills, calls of the host and control always stay.
#include "loop/lowering.h"

typedef struct pruning {
  const indim_loop_program *program;
  int32_t *uses;
} pruning;

static void count_body(pruning *p, const indim_loop_body *body, int32_t change);

static void count_node(pruning *p, const indim_loop_node *node, int32_t change) {
  for (int32_t i = 0; i < node->arg_count; i++) {
    p->uses[node->args[i]] += change;
  }
  for (int32_t k = 0; k < 2 && node->bodies[k] != NULL; k++) {
    count_body(p, node->bodies[k], change);
  }
}

static void count_body(pruning *p, const indim_loop_body *body, int32_t change) {
  for (const indim_loop_node *node = body->first; node != NULL; node = node->next) {
    count_node(p, node, change);
  }
  for (int32_t i = 0; i < body->yield_count; i++) {
    p->uses[body->yields[i]] += change;
  }
}

static bool is_idle(const pruning *p, const indim_loop_node *node) {
  indim_node_group group = indim_node_group_of(node->kind);
  return (group == INDIM_GROUP_VALUE || group == INDIM_GROUP_LOAD) && p->uses[node->first_result] == 0;
}

// Users stand behind what they use, so one walk from the end finds chains of idle nodes.
static void prune_body(pruning *p, indim_loop_body *body) {
  indim_loop_node *reversed = NULL;
  for (indim_loop_node *node = body->first; node != NULL;) {
    indim_loop_node *next = node->next;
    node->next = reversed;
    reversed = node;
    node = next;
  }
  body->first = NULL;
  body->last = NULL;
  for (indim_loop_node *node = reversed; node != NULL;) {
    indim_loop_node *next = node->next;
    for (int32_t k = 0; k < 2 && node->bodies[k] != NULL; k++) {
      prune_body(p, node->bodies[k]);
    }
    if (is_idle(p, node)) {
      count_node(p, node, -1);
    } else {
      node->next = body->first;
      body->first = node;
      body->last = body->last == NULL ? node : body->last;
    }
    node = next;
  }
}

indim_status indim_loop_prune(indim_loop_program *program) {
  pruning p = {.program = program};
  void *memory = NULL;
  size_t bytes = (size_t)program->value_count * sizeof *p.uses;
  INDIM_TRY(indim_alloc_zeroed(program->cx, bytes, &memory));
  p.uses = memory;
  count_body(&p, program->body, 1);
  prune_body(&p, program->body);
  indim_free(program->cx, memory, bytes);
  return INDIM_OK;
}
