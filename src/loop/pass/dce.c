// Dead code and dead store elimination. Dead nodes come from access analysis and from simplified indices, which leave
// their operands; dead stores to scratch memory from readers that took the value from a register; loops that are left
// empty. All other stores, calls of the host and control are kept.
#include "loop/ir/effects.h"
#include "loop/pass/pass.h"

typedef struct elimination {
  const indim_loop_program *program;
  int32_t *uses;   // of each value
  int32_t *reads;  // of each storage
} elimination;

static void count_node(elimination *p, const indim_loop_node *node, int32_t change) {
  indim_effect effects[INDIM_MAX_EFFECTS];
  for (int32_t i = 0; i < node->arg_count; i++) {
    p->uses[node->args[i]] += change;
  }
  int32_t count = indim_loop_effects(p->program, node, effects);
  for (int32_t i = 0; i < count; i++) {
    p->reads[effects[i].storage] += effects[i].reads ? change : 0;
  }
}

static void count_all(elimination *p) {
  for (const indim_loop_node *node = p->program->body->first; node != NULL; node = indim_loop_next(node)) {
    count_node(p, node, 1);
    for (int32_t k = 0; k < 2 && node->bodies[k] != NULL; k++) {
      for (int32_t i = 0; i < node->bodies[k]->yield_count; i++) {
        p->uses[node->bodies[k]->yields[i]]++;
      }
    }
  }
}

// Storages with the same bytes are read by each other's users.
static void count_shared(elimination *p) {
  for (int32_t i = 0; i < p->program->storage_count; i++) {
    int32_t shares = p->program->storages[i]->shares;
    if (shares != 0) {
      p->reads[i]++;
      p->reads[shares - 1]++;
    }
  }
}

// Whether the node writes only scratch memory that is never read.
static bool is_dead_store(const elimination *p, const indim_loop_node *node) {
  indim_effect effects[INDIM_MAX_EFFECTS];
  int32_t count = indim_loop_effects(p->program, node, effects);
  bool all_dead = true;
  for (int32_t i = 0; i < count; i++) {
    bool is_scratch = p->program->storages[effects[i].storage]->kind == INDIM_STORAGE_SCRATCH;
    all_dead = all_dead && (!effects[i].writes || (is_scratch && p->reads[effects[i].storage] == 0));
  }
  return all_dead;
}

static bool is_dead(const elimination *p, const indim_loop_node *node) {
  indim_node_group group = indim_node_group_of(node->kind);
  if (node->kind == INDIM_NODE_FOR) {
    return node->result_count == 0 && node->bodies[0]->first == NULL;
  }
  bool is_value = group == INDIM_GROUP_VALUE || group == INDIM_GROUP_LOAD;
  return is_value ? p->uses[node->first_result] == 0 : group == INDIM_GROUP_WRITE && is_dead_store(p, node);
}

// Users come after what they use, so one backward walk finds chains of dead nodes.
static void eliminate_in(elimination *p, indim_loop_body *body) {
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
      eliminate_in(p, node->bodies[k]);
    }
    if (is_dead(p, node)) {
      count_node(p, node, -1);
    } else {
      node->next = body->first;
      body->first = node;
      body->last = body->last == NULL ? node : body->last;
    }
    node = next;
  }
}

indim_status indim_pass_dce(indim_loop_program *program) {
  elimination p = {.program = program};
  void *memory = NULL;
  size_t bytes = ((size_t)program->value_count + (size_t)program->storage_count) * sizeof *p.uses;
  INDIM_TRY(indim_alloc_zeroed(program->cx, bytes, &memory));
  p.uses = memory;
  p.reads = p.uses + program->value_count;
  count_shared(&p);
  count_all(&p);
  eliminate_in(&p, program->body);
  indim_free(program->cx, memory, bytes);
  return INDIM_OK;
}
