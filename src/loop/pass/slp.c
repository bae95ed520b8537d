// The driver of SLP vectorization: bodies innermost first, each split into segments at its control nodes. A segment's
// groups are planned (slp_group.c); then its nodes are re-emitted in program order, except that at the first member of
// a group all dependences of the group are emitted, then the group as one node. Levels guarantee that this terminates.
#include "loop/pass/slp.h"

#include <stdlib.h>
#include <string.h>

#include "loop/pass/pass.h"

// Values ----------------------------------------------------------------------------------------------------------------

static int compare_bodies(const void *x, const void *y) {
  const indim_loop_body *a = ((const indim_slp_body *)x)->body;
  const indim_loop_body *b = ((const indim_slp_body *)y)->body;
  return a->depth != b->depth ? (a->depth < b->depth ? -1 : 1) : (uintptr_t)a < (uintptr_t)b ? -1 : a != b;
}

indim_slp_body *indim_slp_body_of(indim_slp *p, const indim_loop_body *body) {
  indim_slp_body key = {.body = (indim_loop_body *)body};
  return bsearch(&key, p->bodies, (size_t)p->body_count, sizeof key, compare_bodies);
}

// Vectors of values -----------------------------------------------------------------------------------------------------

// Segments --------------------------------------------------------------------------------------------------------------

static void emit_group(indim_slp *p, const indim_slp_segment *s, const indim_slp_group *g, indim_node_list *list) {
  const indim_loop_node *model = s->nodes[s->members[g->first]];
  indim_value_id values[64];
  indim_value_id args[3];
  for (int32_t k = 0; k < model->arg_count; k++) {
    for (int32_t i = 0; i < g->count; i++) {
      values[i] = s->nodes[s->members[g->first + i]]->args[k];
    }
    args[k] = indim_slp_make_vector(p, list, g->count, values);
  }
  indim_loop_value one = p->program->values[model->first_result];
  indim_loop_node *node = indim_loop_new_node(&p->b, model->kind, model->arg_count, args);
  if (node == NULL) {
    return;
  }
  node->u.op = model->u.op;
  node->origin = model->origin;
  indim_value_id vector = indim_nodes_put(&p->b, list, node, one.type, g->count * one.lanes);
  for (int32_t i = 0; i < g->count && p->b.status == INDIM_OK; i++) {
    indim_value_id value = s->nodes[s->members[g->first + i]]->first_result;
    indim_slp_take(p, list, value, vector, i * one.lanes);
  }
}

// A node or a group being emitted: number i of the segment, or |count| + g.
typedef struct unit {
  int32_t which;
  int32_t member;  // whose dependence is next
  int32_t dep;
} unit;

static int32_t unit_of(const indim_slp_segment *s, int32_t i) { return s->group[i] < 0 ? i : s->count + s->group[i]; }

// The next dependence that is not yet emitted, or -1.
static int32_t next_dep(const indim_slp_segment *s, unit *u, const bool *is_done) {
  bool is_group = u->which >= s->count;
  const indim_slp_group *g = is_group ? &s->groups[u->which - s->count] : NULL;
  int32_t members = is_group ? g->count : 1;
  for (; u->member < members; u->member++, u->dep = 0) {
    int32_t i = is_group ? s->members[g->first + u->member] : u->which;
    for (; s->dep_start[i] + u->dep < s->dep_start[i + 1]; u->dep++) {
      int32_t which = unit_of(s, s->deps[s->dep_start[i] + u->dep]);
      if (!is_done[which] && which != u->which) {
        return which;
      }
    }
  }
  return -1;
}

static void emit_units(indim_slp *p, indim_slp_segment *s, bool *is_done, unit *stack, indim_node_list *list) {
  for (int32_t i = 0; i < s->count && p->b.status == INDIM_OK; i++) {
    int32_t depth = 0;
    if (!is_done[unit_of(s, i)]) {
      stack[depth++] = (unit){.which = unit_of(s, i)};
    }
    while (depth > 0 && p->b.status == INDIM_OK) {
      unit *top = &stack[depth - 1];
      int32_t next = next_dep(s, top, is_done);
      if (next >= 0) {
        if (depth > s->count) {
          indim_loop_refuse(&p->b, "groups that depend on each other");
          return;
        }
        stack[depth++] = (unit){.which = next};
        continue;
      }
      depth--;
      is_done[top->which] = true;
      if (top->which >= s->count) {
        emit_group(p, s, &s->groups[top->which - s->count], list);
      } else {
        indim_nodes_append(list, s->nodes[top->which]);
      }
    }
  }
}

// Records the positions in the segment where its values are defined, or (|in_segment| false) resets them.
static void set_positions(indim_slp *p, const indim_slp_segment *s, bool in_segment) {
  for (int32_t i = 0; i < s->count; i++) {
    if (s->nodes[i]->result_count > 0 && s->nodes[i]->first_result < p->limit) {
      p->position[s->nodes[i]->first_result] = in_segment ? i : -1;
    }
  }
}

static void emit_nodes(indim_slp *p, indim_slp_segment *s, indim_node_list *list) {
  indim_slp_plan(p, s);
  int64_t units = (int64_t)s->count + s->group_count;
  bool *is_done = indim_loop_scratch(&p->b, &s->arena, units, sizeof *is_done);
  unit *stack = indim_loop_scratch(&p->b, &s->arena, units + 1, sizeof *stack);
  if (p->b.status == INDIM_OK && s->group_count > 0) {
    emit_units(p, s, is_done, stack, list);
    return;
  }
  for (int32_t i = 0; i < s->count; i++) {
    indim_nodes_append(list, s->nodes[i]);
  }
}

// Appends the |count| nodes from |first| on, up to the next control node, to |list|.
static void slp_segment(indim_slp *p, indim_loop_node *first, int32_t count, indim_node_list *list) {
  indim_slp_segment s = {.body = list->body, .count = count};
  indim_arena_init(&s.arena, p->program->cx);
  s.nodes = indim_loop_scratch(&p->b, &s.arena, count, sizeof *s.nodes);
  for (int32_t i = 0; i < count && s.nodes != NULL; i++, first = first->next) {
    s.nodes[i] = first;
  }
  if (s.nodes != NULL) {
    set_positions(p, &s, true);
    emit_nodes(p, &s, list);
    set_positions(p, &s, false);
  }
  indim_arena_deinit(&s.arena);
}

static bool is_control(const indim_loop_node *node) { return node->bodies[0] != NULL; }

static void slp_body(indim_slp *p, indim_loop_body *body) {
  indim_node_list list = {.body = body};
  for (indim_loop_node *node = body->first; node != NULL && p->b.status == INDIM_OK;) {
    indim_loop_node *first = node;
    int32_t count = 0;
    for (; node != NULL && !is_control(node); node = node->next) {
      count++;
    }
    if (count > 0) {
      slp_segment(p, first, count, &list);
    }
    if (node != NULL && p->b.status == INDIM_OK) {
      indim_node_list after = {.body = body};
      indim_loop_node *next = node->next;
      indim_slp_carry(p, node, &list, &after);
      for (int32_t k = 0; k < 2 && node->bodies[k] != NULL; k++) {
        indim_nodes_append_all(&list, &indim_slp_body_of(p, node->bodies[k])->before);
      }
      indim_nodes_append(&list, node);
      indim_nodes_append_all(&list, &after);
      node = next;
    }
  }
  indim_nodes_become_body(&list);
}

// The pass --------------------------------------------------------------------------------------------------------------

// Fills |p->bodies|, if allocated, with all bodies but the program's own; returns their number.
static int32_t list_bodies(indim_slp *p) {
  int32_t count = 0;
  for (const indim_loop_node *node = p->program->body->first; node != NULL; node = indim_loop_next(node)) {
    for (int32_t k = 0; k < 2 && node->bodies[k] != NULL; k++, count++) {
      if (p->bodies != NULL) {
        p->bodies[count] = (indim_slp_body){.body = node->bodies[k], .before.body = node->body};
      }
    }
  }
  return count;
}

static void find_bodies(indim_slp *p) {
  p->body_count = list_bodies(p) + 1;
  p->bodies = indim_loop_scratch(&p->b, &p->arena, p->body_count, sizeof *p->bodies);
  if (p->bodies != NULL) {
    p->bodies[list_bodies(p)].body = p->program->body;
    qsort(p->bodies, (size_t)p->body_count, sizeof *p->bodies, compare_bodies);
  }
}

static void count_uses(indim_slp *p) {
  for (int32_t i = 0; i < p->body_count; i++) {
    const indim_loop_body *body = p->bodies[i].body;
    for (const indim_loop_node *node = body->first; node != NULL; node = node->next) {
      for (int32_t k = 0; k < node->arg_count; k++) {
        p->use_count[node->args[k]]++;
      }
    }
    for (int32_t k = 0; k < body->yield_count; k++) {
      p->use_count[body->yields[k]]++;
    }
  }
}

// Values that became a lane of a vector after they were gathered are now taken from there.
static void fill_gathers(indim_slp *p) {
  for (int32_t i = 0; i < p->body_count; i++) {
    for (const indim_slp_gather *g = p->bodies[i].gathers; g != NULL && p->b.status == INDIM_OK; g = g->next) {
      indim_slp_fill_shuffle(p, g->node, g->count, g->values);
    }
  }
}

static void alloc_arrays(indim_slp *p) {
  p->position = indim_loop_scratch(&p->b, &p->arena, p->limit, sizeof *p->position);
  p->use_count = indim_loop_scratch(&p->b, &p->arena, p->limit, sizeof *p->use_count);
  p->vector = indim_loop_scratch(&p->b, &p->arena, p->limit, sizeof *p->vector);
  p->lane = indim_loop_scratch(&p->b, &p->arena, p->limit, sizeof *p->lane);
  p->gathered = indim_loop_scratch(&p->b, &p->arena, p->limit, sizeof *p->gathered);
  p->renamed = indim_loop_scratch(&p->b, &p->arena, p->limit, sizeof *p->renamed);
  p->last_write = indim_loop_scratch(&p->b, &p->arena, p->program->storage_count, sizeof *p->last_write);
  p->last_load = indim_loop_scratch(&p->b, &p->arena, p->program->storage_count, sizeof *p->last_load);
  for (int32_t i = 0; i < p->limit && p->b.status == INDIM_OK; i++) {
    p->position[i] = -1;
  }
  for (int32_t i = 0; i < p->program->storage_count && p->b.status == INDIM_OK; i++) {
    p->last_write[i] = p->last_load[i] = -1;
  }
}

indim_status indim_pass_slp(indim_loop_program *program) {
  indim_slp p = {.program = program, .limit = program->value_count};
  indim_loop_builder_init(&p.b, program);
  indim_arena_init(&p.arena, program->cx);
  alloc_arrays(&p);
  find_bodies(&p);
  if (p.b.status == INDIM_OK) {
    count_uses(&p);
  }
  for (int32_t i = p.body_count - 1; i >= 0 && p.b.status == INDIM_OK; i--) {  // innermost first
    slp_body(&p, p.bodies[i].body);
  }
  if (p.b.status == INDIM_OK) {
    fill_gathers(&p);
    indim_loop_rename(program->body, 0, p.limit, p.renamed);
  }
  indim_arena_deinit(&p.arena);
  indim_loop_builder_deinit(&p.b);
  INDIM_TRY(p.b.status);
  return indim_pass_dce(program);
}
