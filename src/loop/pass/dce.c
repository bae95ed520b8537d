// Removes nodes whose results nobody uses: a survey leaves some behind, and an index that was simplified away leaves its
// parts; and what is written to working memory that nobody reads, because its reader had it in registers. What else is
// written, calls of the host and control always stay.
#include "loop/ir/effects.h"
#include "loop/pass/pass.h"

typedef struct pruning {
  const indim_loop_program *program;
  int32_t *uses;   // of each value
  int32_t *reads;  // of each storage
} pruning;

static void count_node(pruning *p, const indim_loop_node *node, int32_t change) {
  indim_effect effects[INDIM_MAX_EFFECTS];
  for (int32_t i = 0; i < node->arg_count; i++) {
    p->uses[node->args[i]] += change;
  }
  int32_t count = indim_loop_effects(p->program, node, effects);
  for (int32_t i = 0; i < count; i++) {
    p->reads[effects[i].storage] += effects[i].reads ? change : 0;
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

// Whether all that the node writes is working memory that nobody reads.
static bool is_lost(const pruning *p, const indim_loop_node *node) {
  indim_effect effects[INDIM_MAX_EFFECTS];
  int32_t count = indim_loop_effects(p->program, node, effects);
  bool all_lost = true;
  for (int32_t i = 0; i < count; i++) {
    bool is_scratch = p->program->storages[effects[i].storage]->kind == INDIM_STORAGE_SCRATCH;
    all_lost = all_lost && (!effects[i].writes || (is_scratch && p->reads[effects[i].storage] == 0));
  }
  return all_lost;
}

static bool is_idle(const pruning *p, const indim_loop_node *node) {
  indim_node_group group = indim_node_group_of(node->kind);
  bool is_value = group == INDIM_GROUP_VALUE || group == INDIM_GROUP_LOAD;
  return is_value ? p->uses[node->first_result] == 0 : group == INDIM_GROUP_WRITE && is_lost(p, node);
}

// Users stand behind what they use, so one walk from the end finds chains of idle nodes.
static void clean_body(pruning *p, indim_loop_body *body) {
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
      clean_body(p, node->bodies[k]);
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

indim_status indim_pass_dce(indim_loop_program *program) {
  pruning p = {.program = program};
  void *memory = NULL;
  size_t bytes = ((size_t)program->value_count + (size_t)program->storage_count) * sizeof *p.uses;
  INDIM_TRY(indim_alloc_zeroed(program->cx, bytes, &memory));
  p.uses = memory;
  p.reads = p.uses + program->value_count;
  count_shared(&p);
  count_all(&p);
  clean_body(&p, program->body);
  indim_free(program->cx, memory, bytes);
  return INDIM_OK;
}
