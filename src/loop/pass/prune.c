// Removes nodes whose results nobody uses: a survey leaves some behind, and an index that was simplified away leaves its
// parts; and what is written to working memory that nobody reads, because its reader had it in registers. What else is
// written, calls of the host and control always stay.
#include "loop/pass/pass.h"

typedef struct pruning {
  const indim_loop_program *program;
  int32_t *uses;   // of each value
  int32_t *reads;  // of each storage
} pruning;

static void count_node(pruning *p, const indim_loop_node *node, int32_t change) {
  for (int32_t i = 0; i < node->arg_count; i++) {
    p->uses[node->args[i]] += change;
  }
  if (node->kind == INDIM_NODE_LOAD) {
    p->reads[node->u.memory.storage] += change;
  } else if (node->kind == INDIM_NODE_COPY) {
    p->reads[node->u.move.from] += change;
  }
  for (int32_t i = 0; node->kind == INDIM_NODE_HOST && i < node->u.host.storage_count; i++) {
    p->reads[node->u.host.storages[i]] += change;
  }
}

static void count_all(pruning *p) {
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
static void count_shared(pruning *p) {
  for (int32_t i = 0; i < p->program->storage_count; i++) {
    int32_t shares = p->program->storages[i]->shares;
    if (shares != 0) {
      p->reads[i]++;
      p->reads[shares - 1]++;
    }
  }
}

static bool is_idle(const pruning *p, const indim_loop_node *node) {
  indim_node_group group = indim_node_group_of(node->kind);
  if (group == INDIM_GROUP_WRITE) {
    int32_t to = node->kind == INDIM_NODE_STORE ? node->u.memory.storage : node->u.move.to;
    return p->reads[to] == 0 && p->program->storages[to]->kind == INDIM_STORAGE_SCRATCH;
  }
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
  size_t bytes = ((size_t)program->value_count + (size_t)program->storage_count) * sizeof *p.uses;
  INDIM_TRY(indim_alloc_zeroed(program->cx, bytes, &memory));
  p.uses = memory;
  p.reads = p.uses + program->value_count;
  count_shared(&p);
  count_all(&p);
  prune_body(&p, program->body);
  indim_free(program->cx, memory, bytes);
  return INDIM_OK;
}
