// Loop rerolling. A straight-line segment of nodes is searched for a period: the most frequent distance at which runs
// of nodes recur. The longest run in which each node is isomorphic to the one a period later is taken. Every argument
// in it must be of one of three kinds, the same in each period: defined in the period, defined at the same position of
// the previous period, or defined before the run. Values of the second kind are carried by the loop.
#include "loop/pass/pass.h"

#include <string.h>

#include "loop/ir/rewrite.h"
#include "loop/target/cost.h"

enum { LEAST_PERIOD = 8, WINDOW = 16, NEAR = 32, MOST_TRIES = 3 };

typedef struct rerolling {
  indim_loop_program *program;
  indim_loop_builder b;     // makes values and nodes; has no open body
  int32_t limit;            // number of values at the start
  int32_t *position;        // in the current segment; -1: elsewhere
  indim_value_id *renamed;  // the value that replaces this one, 0 if none
} rerolling;

// A segment and the run found in it: |trips| periods from |start| on.
typedef struct segment {
  indim_arena arena;
  indim_loop_body *body;
  int32_t count;
  indim_loop_node **nodes;
  int32_t start, period, trips;
  indim_value_id *init;  // by position in the period: the value before the first one, 0 if not carried
  bool *is_output;       // the last period's value is used after the loop
  int32_t carried;       // number of positions that are carried or used after the loop
  indim_value_id *carried_in;
} segment;

static int32_t position_of(const rerolling *r, indim_value_id v) { return v < r->limit ? r->position[v] : -1; }

// Isomorphism ---------------------------------------------------------------------------------------------------------

// Whether the two compute the same of their args. Index arithmetic and calls of the host never match.
static bool same_operation(const rerolling *r, const indim_loop_node *x, const indim_loop_node *y) {
  if (x->kind != y->kind || x->arg_count != y->arg_count || x->result_count != y->result_count || x->result_count > 1) {
    return false;
  }
  const indim_loop_value *a = &r->program->values[x->result_count > 0 ? x->first_result : 0];
  const indim_loop_value *b = &r->program->values[x->result_count > 0 ? y->first_result : 0];
  if (a->type != b->type || a->lanes != b->lanes || (x->result_count > 0 && y->first_result >= r->limit)) {
    return false;
  }
  if (x->kind == INDIM_NODE_ELEMENTWISE || x->kind == INDIM_NODE_REDUCE) {
    return indim_loop_same_op(&x->u.op, &y->u.op);
  }
  if (x->kind == INDIM_NODE_SHUFFLE) {
    return memcmp(x->u.map, y->u.map, (size_t)a->lanes * sizeof *x->u.map) == 0;
  }
  if (x->kind == INDIM_NODE_EXTRACT) {
    return x->u.lane == y->u.lane;
  }
  if (x->kind == INDIM_NODE_LOAD || x->kind == INDIM_NODE_STORE) {
    return x->u.memory.storage == y->u.memory.storage && x->u.memory.lane_stride == y->u.memory.lane_stride &&
           x->u.memory.has_mask == y->u.memory.has_mask && x->u.memory.non_temporal == y->u.memory.non_temporal;
  }
  return x->kind == INDIM_NODE_FMA || x->kind == INDIM_NODE_SPLAT;
}

// Equal for isomorphic nodes, and for few others.
static uint64_t hash_node(const rerolling *r, const indim_loop_node *node, int32_t at) {
  uint64_t hash = indim_loop_mix((uint64_t)node->kind, (uint64_t)node->arg_count);
  if (node->kind == INDIM_NODE_ELEMENTWISE) {
    hash = indim_loop_mix(hash, (uint64_t)node->u.op.op);
  } else if (node->kind == INDIM_NODE_EXTRACT) {
    hash = indim_loop_mix(hash, (uint64_t)node->u.lane);
  } else if (node->kind == INDIM_NODE_SHUFFLE) {
    hash = indim_loop_mix(hash, (uint64_t)node->u.map[0]);
  }
  for (int32_t i = 0; i < node->arg_count; i++) {
    int32_t from = position_of(r, node->args[i]);
    if (from < 0) {
      hash = indim_loop_mix(hash, (uint64_t)node->args[i]);
    } else if (at - from < NEAR) {
      hash = indim_loop_mix(hash, (uint64_t)(at - from));
    }
  }
  return hash;
}

// Whether node |i| is isomorphic to the one a period later, args included.
static bool is_isomorphic(const rerolling *r, const segment *s, int32_t i, int32_t period) {
  const indim_loop_node *x = s->nodes[i];
  const indim_loop_node *y = s->nodes[i + period];
  if (!same_operation(r, x, y)) {
    return false;
  }
  for (int32_t k = 0; k < x->arg_count; k++) {
    int32_t from = position_of(r, x->args[k]);
    int32_t to = position_of(r, y->args[k]);
    bool moves = to >= 0 && (from >= 0 ? to - from == period : to < i + period && to >= i - period);
    if (x->args[k] != y->args[k] && !moves) {
      return false;
    }
  }
  return true;
}

// The period ------------------------------------------------------------------------------------------------------------

typedef struct last_seen {
  uint64_t hash;
  int32_t at;  // plus one; 0: free
} last_seen;

// Counts the distances at which the same |WINDOW| nodes recur.
static int32_t *count_distances(rerolling *r, segment *s) {
  size_t slots = 1;
  while (slots < 2 * (size_t)s->count) {
    slots *= 2;
  }
  int32_t *counts = indim_loop_scratch(&r->b, &s->arena, s->count + 1, sizeof *counts);
  uint64_t *hashes = indim_loop_scratch(&r->b, &s->arena, s->count, sizeof *hashes);
  last_seen *seen = indim_loop_scratch(&r->b, &s->arena, (int64_t)slots, sizeof *seen);
  if (r->b.status != INDIM_OK) {
    return NULL;
  }
  for (int32_t i = 0; i < s->count; i++) {
    hashes[i] = hash_node(r, s->nodes[i], i);
  }
  for (int32_t i = 0; i + WINDOW <= s->count; i++) {
    uint64_t hash = 0;
    for (int32_t k = 0; k < WINDOW; k++) {
      hash = indim_loop_mix(hash, hashes[i + k]);
    }
    size_t at = (size_t)hash & (slots - 1);
    while (seen[at].at != 0 && seen[at].hash != hash) {
      at = (at + 1) & (slots - 1);
    }
    if (seen[at].at != 0) {
      counts[i - (seen[at].at - 1)]++;
    }
    seen[at] = (last_seen){hash, i + 1};
  }
  return counts;
}

// The longest run with this period.
static bool find_run(const rerolling *r, segment *s, int32_t period) {
  int32_t best = 0;
  int32_t run = 0;
  for (int32_t i = 0; i + period < s->count; i++) {
    run = is_isomorphic(r, s, i, period) ? run + 1 : 0;
    if (run > best) {
      best = run;
      s->start = i + 1 - run;
    }
  }
  s->period = period;
  s->trips = best / period + 1;
  return s->trips >= INDIM_COST_REROLLED_TRIPS && (int64_t)s->trips * period >= INDIM_COST_REROLLED_NODES;
}

// Args ------------------------------------------------------------------------------------------------------------------

static bool same_type(const rerolling *r, indim_value_id x, indim_value_id y) {
  return r->program->values[x].type == r->program->values[y].type &&
         r->program->values[x].lanes == r->program->values[y].lanes;
}

// Checks the args of one node against those of the second period; records what is carried.
static bool check_args(const rerolling *r, segment *s, int32_t offset, int32_t time) {
  int32_t second = s->start + s->period;
  int32_t base = s->start + time * s->period;
  const indim_loop_node *model = s->nodes[second + offset];
  const indim_loop_node *node = s->nodes[base + offset];
  for (int32_t k = 0; k < node->arg_count; k++) {
    int32_t from = position_of(r, model->args[k]);
    int32_t own = position_of(r, node->args[k]);
    if (from >= second) {  // defined in the period
      if (own - base != from - second) {
        return false;
      }
    } else if (from >= s->start) {  // carried
      indim_value_id *init = &s->init[from - s->start];
      if (time > 0) {
        if (own - (base - s->period) != from - s->start) {
          return false;
        }
      } else if (own >= s->start || (*init != 0 && *init != node->args[k]) ||
                 !same_type(r, node->args[k], model->args[k])) {
        return false;
      } else {
        *init = node->args[k];
      }
    } else if (node->args[k] != model->args[k]) {
      return false;
    }
  }
  return true;
}

// Records a use of |v| outside of the run: only the last period's values may be used there.
static bool record_use(const rerolling *r, segment *s, indim_value_id v) {
  int32_t at = position_of(r, v) - s->start;
  if (position_of(r, v) < s->start || at >= s->trips * s->period) {
    return true;
  }
  s->is_output[at % s->period] = true;
  return at / s->period == s->trips - 1;
}

static bool record_uses(const rerolling *r, segment *s, const indim_loop_body *body) {
  bool fits = true;
  int32_t skipped = 0;
  for (const indim_loop_node *node = body->first; node != NULL && fits; node = node->next) {
    skipped = node == s->nodes[s->start] ? s->trips * s->period : skipped;
    if (skipped > 0) {
      skipped--;
      continue;
    }
    for (int32_t k = 0; k < node->arg_count && fits; k++) {
      fits = record_use(r, s, node->args[k]);
    }
    for (int32_t k = 0; k < 2 && node->bodies[k] != NULL && fits; k++) {
      fits = record_uses(r, s, node->bodies[k]);
    }
  }
  for (int32_t k = 0; k < body->yield_count && fits; k++) {
    fits = record_use(r, s, body->yields[k]);
  }
  return fits;
}

static bool check_run(rerolling *r, segment *s) {
  s->init = indim_loop_scratch(&r->b, &s->arena, s->period, sizeof *s->init);
  s->is_output = indim_loop_scratch(&r->b, &s->arena, s->period, sizeof *s->is_output);
  s->carried_in = indim_loop_scratch(&r->b, &s->arena, s->period, sizeof *s->carried_in);
  bool fits = r->b.status == INDIM_OK;
  for (int32_t time = 0; time < s->trips && fits; time++) {
    for (int32_t i = 0; i < s->period && fits; i++) {
      fits = check_args(r, s, i, time);
    }
  }
  return fits && record_uses(r, s, s->body);
}

// The loop --------------------------------------------------------------------------------------------------------------

static indim_value_id value_at(const segment *s, int32_t position) { return s->nodes[position]->first_result; }

static bool is_carried(const segment *s, int32_t i) { return s->init[i] != 0 || s->is_output[i]; }

// New consecutive values, one for each carried position.
static indim_value_id new_values(rerolling *r, segment *s, indim_loop_body *body, indim_loop_node *node,
                                 indim_value_id *out) {
  indim_value_id first = 0;
  for (int32_t i = 0; i < s->period && r->b.status == INDIM_OK; i++) {
    if (is_carried(s, i)) {
      indim_loop_value like = r->program->values[value_at(s, s->start + i)];
      out[i] = indim_loop_new_value(&r->b, like.type, like.lanes, body);
      r->program->values[out[i]].node = node;
      first = first == 0 ? out[i] : first;
    }
  }
  return first;
}

// The second period becomes the body.
static void fill_body(rerolling *r, segment *s, indim_loop_body *body) {
  indim_node_list list = {.body = body};
  int32_t second = s->start + s->period;
  for (int32_t i = 0; i < s->period; i++) {
    indim_loop_node *node = s->nodes[second + i];
    for (int32_t k = 0; k < node->arg_count; k++) {
      int32_t from = position_of(r, node->args[k]);
      if (from >= s->start && from < second) {
        node->args[k] = s->carried_in[from - s->start];
      }
    }
    indim_nodes_move(r->program, &list, node);
  }
  indim_nodes_become_body(&list);
}

// Sets the loop's carried values: their initial values, and what each period yields.
static void set_carried(rerolling *r, segment *s, indim_node_list *list, indim_loop_node *loop, indim_value_id *args) {
  indim_value_id *yields = indim_loop_alloc(&r->b, (size_t)s->carried, sizeof *yields);
  indim_value_id *results = indim_loop_scratch(&r->b, &s->arena, s->period, sizeof *results);
  int32_t at = 0;
  loop->bodies[0]->parameter_count += s->carried;
  (void)new_values(r, s, loop->bodies[0], NULL, s->carried_in);
  loop->first_result = results != NULL ? new_values(r, s, list->body, loop, results) : 0;
  for (int32_t i = 0; i < s->period && r->b.status == INDIM_OK; i++) {
    if (is_carried(s, i)) {
      indim_loop_value like = r->program->values[value_at(s, s->start + i)];
      args[at + 2] = s->init[i] != 0 ? s->init[i] : indim_nodes_put_const(&r->b, list, like.type, like.lanes, 0);
      yields[at++] = value_at(s, s->start + s->period + i);
      r->renamed[value_at(s, s->start + (s->trips - 1) * s->period + i)] = results[i];
    }
  }
  loop->args = args;
  loop->arg_count = s->carried + 2;
  loop->result_count = s->carried;
  loop->bodies[0]->yields = yields;
  loop->bodies[0]->yield_count = s->carried;
}

static void emit_loop(rerolling *r, segment *s, indim_node_list *list) {
  for (int32_t i = 0; i < s->period; i++) {
    s->carried += is_carried(s, i) ? 1 : 0;
  }
  indim_value_id *args = indim_loop_alloc(&r->b, (size_t)s->carried + 2, sizeof *args);
  if (args == NULL) {
    return;
  }
  args[0] = indim_nodes_put_const(&r->b, list, INDIM_S64, 1, 0);
  args[1] = indim_nodes_put_const(&r->b, list, INDIM_S64, 1, (uint64_t)s->trips);
  indim_loop_node *loop = r->b.status == INDIM_OK ? indim_loop_new_for(&r->b, list->body, args, 1) : NULL;
  if (loop == NULL) {
    return;
  }
  set_carried(r, s, list, loop, args);
  if (r->b.status == INDIM_OK) {
    fill_body(r, s, loop->bodies[0]);
    indim_nodes_append(list, loop);
  }
}

// Segments --------------------------------------------------------------------------------------------------------------

static bool find_loop(rerolling *r, segment *s) {
  int32_t *counts = count_distances(r, s);
  for (int32_t tries = 0; counts != NULL && tries < MOST_TRIES; tries++) {
    int32_t period = LEAST_PERIOD;
    for (int32_t d = LEAST_PERIOD; d <= s->count / INDIM_COST_REROLLED_TRIPS; d++) {
      period = counts[d] > counts[period] ? d : period;
    }
    if (period > s->count / INDIM_COST_REROLLED_TRIPS || counts[period] < s->count / 8) {
      return false;
    }
    counts[period] = 0;
    if (find_run(r, s, period) && check_run(r, s)) {
      return true;
    }
  }
  return false;
}

static void reroll_segment(rerolling *r, indim_loop_body *body, indim_loop_node *first, int32_t count,
                           indim_node_list *list) {
  segment s = {.body = body, .count = count};
  indim_arena_init(&s.arena, r->program->cx);
  s.nodes = indim_loop_scratch(&r->b, &s.arena, count, sizeof(indim_loop_node *));
  for (int32_t i = 0; i < count && s.nodes != NULL; i++, first = first->next) {
    s.nodes[i] = first;
    if (first->result_count > 0 && first->first_result < r->limit) {
      r->position[first->first_result] = i;
    }
  }
  bool found = r->b.status == INDIM_OK && find_loop(r, &s);
  for (int32_t i = 0; i < count && r->b.status == INDIM_OK; i++) {
    if (found && i == s.start) {
      emit_loop(r, &s, list);
      i += s.trips * s.period - 1;
    } else {
      indim_nodes_append(list, s.nodes[i]);
    }
  }
  for (int32_t i = 0; i < count && s.nodes != NULL; i++) {
    if (s.nodes[i]->result_count > 0 && s.nodes[i]->first_result < r->limit) {
      r->position[s.nodes[i]->first_result] = -1;
    }
  }
  indim_arena_deinit(&s.arena);
}

static bool is_control(const indim_loop_node *node) { return node->bodies[0] != NULL; }

static void reroll_body(rerolling *r, indim_loop_body *body) {
  for (indim_loop_node *node = body->first; node != NULL && r->b.status == INDIM_OK; node = node->next) {
    for (int32_t k = 0; k < 2 && node->bodies[k] != NULL; k++) {
      reroll_body(r, node->bodies[k]);
    }
  }
  for (indim_loop_node **link = &body->first; *link != NULL && r->b.status == INDIM_OK;) {
    indim_loop_node **stop = link;
    int32_t count = 0;
    for (; *stop != NULL && !is_control(*stop); stop = &(*stop)->next) {
      count++;
    }
    if (count >= INDIM_COST_REROLLED_NODES) {
      indim_node_list list = {.body = body};
      indim_loop_node *rest = *stop;
      reroll_segment(r, body, *link, count, &list);
      *link = rest;
      stop = indim_nodes_insert(&list, link);
    }
    link = *stop == NULL ? stop : &(*stop)->next;
  }
}

indim_status indim_pass_reroll(indim_loop_program *program) {
  rerolling r = {.program = program, .limit = program->value_count};
  void *memory = NULL;
  size_t count = (size_t)r.limit;
  INDIM_TRY(indim_alloc_zeroed(program->cx, count * (sizeof *r.renamed + sizeof *r.position), &memory));
  r.renamed = memory;
  r.position = (int32_t *)memory + count;
  for (int32_t v = 0; v < r.limit; v++) {
    r.position[v] = -1;
  }
  indim_loop_builder_init(&r.b, program);
  reroll_body(&r, program->body);
  if (r.b.status == INDIM_OK) {
    indim_loop_rename(program->body, 0, r.limit, r.renamed);
  }
  indim_loop_builder_deinit(&r.b);
  indim_free(program->cx, memory, count * (sizeof *r.renamed + sizeof *r.position));
  return r.b.status;
}
