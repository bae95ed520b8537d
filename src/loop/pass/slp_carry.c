// Loop-carried values as vectors. When all lanes of a vector are yielded for as many carried values of a loop, and
// these are gathered into vectors again in the next iteration, the loop carries the vector instead: gathered once
// before the loop, and extracted once after it.
#include <stdlib.h>

#include "loop/pass/slp.h"

// Carried value |position| is yielded as lane |lane| of |vector|.
typedef struct carried_lane {
  indim_value_id vector;
  int32_t lane;
  int32_t position;
} carried_lane;

typedef struct carry {
  indim_loop_node *node;
  int32_t first_arg;        // of the carried values
  int32_t first_parameter;  // the same, after the index of a for
  int32_t count;
  indim_loop_body *body;  // that yields them
  carried_lane *lanes;    // those that become vectors, the lanes of each vector consecutive
  int32_t lane_count;
  bool *is_taken;  // position is among them
} carry;

static int compare_lanes(const void *x, const void *y) {
  const carried_lane *a = x;
  const carried_lane *b = y;
  if (a->vector != b->vector) {
    return a->vector < b->vector ? -1 : 1;
  }
  if (a->lane != b->lane) {
    return a->lane < b->lane ? -1 : 1;
  }
  return a->position < b->position ? -1 : a->position > b->position;
}

static int32_t lanes_of(const indim_slp *p, indim_value_id v) { return p->program->values[v].lanes; }

static indim_value_id parameter(const carry *c, const indim_loop_body *body, int32_t position) {
  return body->first_parameter + c->first_parameter + position;
}

// How often the carried value is gathered into a vector.
static int32_t gathered(const indim_slp *p, const carry *c, int32_t position) {
  int32_t count = 0;
  for (int32_t k = 0; k < 2 && c->node->bodies[k] != NULL; k++) {
    count += p->gathered[parameter(c, c->node->bodies[k], position)];
  }
  return count;
}

// Keeps those of the sorted lanes |found| whose vectors are complete and profitable.
static void choose_vectors(indim_slp *p, carry *c, int32_t found) {
  for (int32_t first = 0; first < found;) {
    indim_value_id vector = c->lanes[first].vector;
    int32_t width = lanes_of(p, c->body->yields[c->lanes[first].position]);
    int32_t kept = c->lane_count;
    int32_t uses = 0;
    int32_t last = first;
    for (; last < found && c->lanes[last].vector == vector; last++) {
      carried_lane lane = c->lanes[last];
      if (lane.lane == (kept - c->lane_count) * width) {
        c->lanes[kept++] = lane;
        uses += gathered(p, c, lane.position);
      }
    }
    int32_t lanes = kept - c->lane_count;
    if (lanes * width == lanes_of(p, vector) && 2 * uses >= lanes) {
      for (int32_t i = c->lane_count; i < kept; i++) {
        c->is_taken[c->lanes[i].position] = true;
      }
      c->lane_count = kept;
    }
    first = last;
  }
}

static void find_vectors(indim_slp *p, carry *c) {
  int32_t found = 0;
  c->lanes = indim_loop_scratch(&p->b, &p->arena, c->count, sizeof *c->lanes);
  c->is_taken = indim_loop_scratch(&p->b, &p->arena, c->count, sizeof *c->is_taken);
  if (p->b.status != INDIM_OK) {
    return;
  }
  for (int32_t i = 0; i < c->count; i++) {
    indim_value_id yield = c->body->yields[i];
    if (yield < p->limit && p->vector[yield] != 0 && p->program->values[p->vector[yield]].body == c->body) {
      c->lanes[found++] = (carried_lane){p->vector[yield], p->lane[yield], i};
    }
  }
  qsort(c->lanes, (size_t)found, sizeof *c->lanes, compare_lanes);
  choose_vectors(p, c, found);
}

// The value |old| under a new number, consecutive with others.
static indim_value_id renumber(indim_slp *p, indim_value_id old) {
  indim_value_id now = indim_loop_renumber(&p->b, old);
  if (now != 0) {
    p->renamed[old] = now;
  }
  return now;
}

// How many lanes from |first| on are of one vector.
static int32_t set_size(const carry *c, int32_t first) {
  int32_t last = first;
  while (last < c->lane_count && c->lanes[last].vector == c->lanes[first].vector) {
    last++;
  }
  return last - first;
}

static int32_t set_count(const carry *c) {
  int32_t sets = 0;
  for (int32_t first = 0; first < c->lane_count; first += set_size(c, first)) {
    sets++;
  }
  return sets;
}

static void change_parameters(indim_slp *p, const carry *c, indim_loop_body *body) {
  indim_node_list list = {.body = body};
  indim_value_id old = body->first_parameter;
  indim_value_id first = 0;
  for (int32_t i = 0; i < body->parameter_count; i++) {
    if (i < c->first_parameter || !c->is_taken[i - c->first_parameter]) {
      indim_value_id now = renumber(p, old + i);
      first = first == 0 ? now : first;
    }
  }
  for (int32_t at = 0; at < c->lane_count && p->b.status == INDIM_OK; at += set_size(c, at)) {
    indim_loop_value like = p->program->values[c->lanes[at].vector];
    indim_value_id vector = indim_loop_new_value(&p->b, like.type, like.lanes, body);
    first = first == 0 ? vector : first;
    for (int32_t i = at; i < at + set_size(c, at) && vector != 0; i++) {
      indim_slp_take(p, &list, old + c->first_parameter + c->lanes[i].position, vector, c->lanes[i].lane);
    }
  }
  if (p->b.status != INDIM_OK) {
    return;
  }
  body->first_parameter = first;
  body->parameter_count += set_count(c) - c->lane_count;
  indim_nodes_insert(&list, &body->first);
}

// The args or the yields: scalars that are still carried, then the vectors.
static indim_value_id *change_values(indim_slp *p, const carry *c, int32_t skipped, const indim_value_id *values,
                                     indim_node_list *list, int32_t *out_count) {
  indim_value_id *now = indim_loop_alloc(&p->b, (size_t)(skipped + c->count), sizeof *now);
  indim_value_id *set = indim_loop_alloc(&p->b, (size_t)c->lane_count, sizeof *set);
  int32_t count = 0;
  for (int32_t i = 0; i < skipped + c->count && p->b.status == INDIM_OK; i++) {
    if (i < skipped || !c->is_taken[i - skipped]) {
      now[count++] = values[i];
    }
  }
  for (int32_t at = 0; at < c->lane_count && p->b.status == INDIM_OK; at += set_size(c, at)) {
    int32_t size = set_size(c, at);
    for (int32_t i = 0; i < size; i++) {
      set[i] = values[skipped + c->lanes[at + i].position];
    }
    now[count++] = indim_slp_make_vector(p, list, size, set);
  }
  *out_count = count;
  return now;
}

static void change_results(indim_slp *p, const carry *c, indim_node_list *after) {
  indim_loop_node *node = c->node;
  indim_value_id old = node->first_result;
  indim_value_id first = 0;
  for (int32_t i = 0; i < c->count; i++) {
    if (!c->is_taken[i]) {
      indim_value_id now = renumber(p, old + i);
      first = first == 0 ? now : first;
    }
  }
  for (int32_t at = 0; at < c->lane_count && p->b.status == INDIM_OK; at += set_size(c, at)) {
    indim_loop_value like = p->program->values[c->lanes[at].vector];
    indim_value_id vector = indim_loop_new_value(&p->b, like.type, like.lanes, after->body);
    first = first == 0 ? vector : first;
    if (vector != 0) {
      p->program->values[vector].node = node;
    }
    for (int32_t i = at; i < at + set_size(c, at) && vector != 0; i++) {
      indim_slp_take(p, after, old + c->lanes[i].position, vector, c->lanes[i].lane);
    }
  }
  node->first_result = first;
  node->result_count += set_count(c) - c->lane_count;
}

void indim_slp_carry(indim_slp *p, indim_loop_node *node, indim_node_list *list, indim_node_list *after) {
  bool is_for = node->kind == INDIM_NODE_FOR;
  carry c = {.node = node, .first_arg = is_for ? 2 : 0, .first_parameter = is_for ? 1 : 0};
  c.count = node->arg_count - c.first_arg;
  c.body = node->bodies[is_for ? 0 : 1];
  if ((!is_for && node->kind != INDIM_NODE_WHILE) || c.count < 2) {
    return;
  }
  find_vectors(p, &c);
  if (c.lane_count == 0 || p->b.status != INDIM_OK) {
    return;
  }
  int32_t arg_count = 0;
  int32_t yield_count = 0;
  indim_value_id *args = change_values(p, &c, c.first_arg, node->args, list, &arg_count);
  indim_node_list none = {.body = c.body};  // yielded vectors exist already
  indim_value_id *yields = change_values(p, &c, 0, c.body->yields, &none, &yield_count);
  for (int32_t k = 0; k < 2 && node->bodies[k] != NULL; k++) {
    change_parameters(p, &c, node->bodies[k]);
  }
  change_results(p, &c, after);
  if (p->b.status == INDIM_OK) {
    node->args = args;
    node->arg_count = arg_count;
    c.body->yields = yields;
    c.body->yield_count = yield_count;
  }
}
