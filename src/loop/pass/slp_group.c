// Which nodes of a segment form a group (one vector node). Costly operations first: those of the same kind with equally
// many costly operations on their longest dependence path are independent. With them grouped, every node gets a level,
// its longest path; cheap nodes of one level are grouped when they define the operands of a group, or use its results,
// lane by lane.
#include <stdlib.h>

#include "loop/ir/effects.h"
#include "loop/pass/slp.h"
#include "loop/target/cost.h"

enum { MOST_LANES = 64, MOST_USERS = 16 };

// Operations that cost more than gathering and extracting lanes.
static bool is_costly_op(indim_op op) {
  return indim_op_is_function(op) || indim_op_class_of(op) == INDIM_OP_CLASS_LONG;
}

// One instruction each, which the processor overlaps with others: gathering and extracting pays only for many.
static bool is_instruction(indim_op op) { return op == INDIM_OP_DIVIDE || op == INDIM_OP_SQRT; }

static const bool is_cheap_op[INDIM_OP_COUNT] = {
    [INDIM_OP_ADD] = true, [INDIM_OP_SUBTRACT] = true, [INDIM_OP_MULTIPLY] = true, [INDIM_OP_NEGATE] = true,
    [INDIM_OP_ABS] = true, [INDIM_OP_MAXIMUM] = true,  [INDIM_OP_MINIMUM] = true,
};

static const indim_loop_value *value_of(const indim_slp *p, indim_value_id v) { return &p->program->values[v]; }

static int32_t position_of(const indim_slp *p, indim_value_id v) { return v < p->limit ? p->position[v] : -1; }

// A float operation on args of its own type.
static bool is_float_op(const indim_slp *p, const indim_loop_node *node) {
  if ((node->kind != INDIM_NODE_ELEMENTWISE && node->kind != INDIM_NODE_FMA) || node->first_result >= p->limit) {
    return false;
  }
  const indim_loop_value *result = value_of(p, node->first_result);
  if (!indim_type_is_float(result->type) || node->arg_count > 3) {
    return false;
  }
  for (int32_t k = 0; k < node->arg_count; k++) {
    if (value_of(p, node->args[k])->type != result->type) {
      return false;
    }
  }
  return true;
}

static bool is_costly(const indim_slp *p, const indim_loop_node *node) {
  return node->kind == INDIM_NODE_ELEMENTWISE && is_costly_op(node->u.op.op) && is_float_op(p, node);
}

static bool is_cheap(const indim_slp *p, const indim_loop_node *node) {
  return is_float_op(p, node) && (node->kind == INDIM_NODE_FMA || is_cheap_op[node->u.op.op]);
}

// How many such nodes fill a register.
static int32_t capacity_of(const indim_slp *p, const indim_loop_node *node) {
  const indim_loop_value *result = value_of(p, node->first_result);
  int32_t bytes = indim_type_bytes(result->type) == 8 ? 8 : 4;  // narrow floats are f32 in registers
  int32_t count = p->program->target.vector_bytes / bytes / result->lanes;
  return count * result->lanes > MOST_LANES ? MOST_LANES / result->lanes : count;
}

static bool same_kind(const indim_slp *p, const indim_loop_node *x, const indim_loop_node *y) {
  return x->kind == y->kind && x->arg_count == y->arg_count &&
         (x->kind == INDIM_NODE_FMA || x->u.op.op == y->u.op.op) &&
         value_of(p, x->first_result)->type == value_of(p, y->first_result)->type &&
         value_of(p, x->first_result)->lanes == value_of(p, y->first_result)->lanes;
}

// Dependences -----------------------------------------------------------------------------------------------------------

// Memory dependences in a segment so far. Storages that share bytes count as one; calls of the host access all.
typedef struct memory_order {
  indim_slp *p;
  indim_slp_segment *s;
  int32_t at;       // end of |deps|
  int32_t *next;    // linked lists: for each node the previous one that read the same storage, -1: none
  int32_t *since;   // the same, of nodes that accessed memory
  int32_t touched;  // head of |since|: nodes that accessed memory after the last call
  int32_t last_call;
} memory_order;

static void add_dep(memory_order *m, int32_t node) {
  if (node >= 0) {
    m->s->deps[m->at++] = node;
  }
}

static void order_read(memory_order *m, int32_t i, int32_t storage) {
  int32_t root = indim_loop_root_of(m->p->program, storage);
  add_dep(m, m->p->last_write[root]);
  m->next[i] = m->p->last_load[root];
  m->p->last_load[root] = i;
}

static void order_write(memory_order *m, int32_t i, int32_t storage) {
  int32_t root = indim_loop_root_of(m->p->program, storage);
  add_dep(m, m->p->last_write[root]);
  for (int32_t load = m->p->last_load[root]; load >= 0; load = m->next[load]) {
    if (load != i) {
      add_dep(m, load);
    }
  }
  m->p->last_load[root] = -1;
  m->p->last_write[root] = i;
}

static bool is_read_only(const indim_slp *p, int32_t storage) {
  const indim_storage *s = p->program->storages[storage];
  return s->kind == INDIM_STORAGE_CONSTANT || (s->kind == INDIM_STORAGE_ARGUMENT && !s->is_donated && s->shares == 0);
}

// A call depends on all memory accesses since the last one.
static void order_call(memory_order *m, int32_t i) {
  for (int32_t k = m->touched; k >= 0; k = m->since[k]) {
    add_dep(m, k);
  }
  add_dep(m, m->last_call);
  m->touched = -1;
  m->last_call = i;
}

static void order_memory(memory_order *m, int32_t i) {
  indim_effect effects[INDIM_MAX_EFFECTS];
  const indim_loop_node *node = m->s->nodes[i];
  bool touches = false;
  if (node->kind == INDIM_NODE_HOST) {
    order_call(m, i);
    return;
  }
  int32_t count = indim_loop_effects(m->p->program, node, effects);
  for (int32_t k = 0; k < count; k++) {
    if (effects[k].writes) {
      order_write(m, i, effects[k].storage);
    } else if (!is_read_only(m->p, effects[k].storage)) {
      order_read(m, i, effects[k].storage);
    }
    touches = touches || effects[k].writes || !is_read_only(m->p, effects[k].storage);
  }
  if (touches) {
    add_dep(m, m->last_call);
    m->since[i] = m->touched;
    m->touched = i;
  }
}

static void reset_memory(const memory_order *m) {
  indim_effect effects[INDIM_MAX_EFFECTS];
  for (int32_t i = 0; i < m->s->count; i++) {
    int32_t count = indim_loop_effects(m->p->program, m->s->nodes[i], effects);
    for (int32_t k = 0; k < count; k++) {
      int32_t root = indim_loop_root_of(m->p->program, effects[k].storage);
      m->p->last_write[root] = m->p->last_load[root] = -1;
    }
  }
}

// Definitions precede uses; writes of a storage stay ordered with its other accesses.
static void find_deps(indim_slp *p, indim_slp_segment *s) {
  int64_t most = 0;
  for (int32_t i = 0; i < s->count; i++) {
    most += s->nodes[i]->arg_count + 6;  // at most 3 memory dependences, and 3 more through the lists
  }
  memory_order m = {.p = p, .s = s, .touched = -1, .last_call = -1};
  s->dep_start = indim_loop_scratch(&p->b, &s->arena, (int64_t)s->count + 1, sizeof *s->dep_start);
  s->deps = indim_loop_scratch(&p->b, &s->arena, most, sizeof *s->deps);
  m.next = indim_loop_scratch(&p->b, &s->arena, s->count, sizeof *m.next);
  m.since = indim_loop_scratch(&p->b, &s->arena, s->count, sizeof *m.since);
  if (p->b.status != INDIM_OK) {
    return;
  }
  for (int32_t i = 0; i < s->count; i++) {
    const indim_loop_node *node = s->nodes[i];
    s->dep_start[i] = m.at;
    for (int32_t k = 0; k < node->arg_count; k++) {
      add_dep(&m, position_of(p, node->args[k]));
    }
    order_memory(&m, i);
  }
  s->dep_start[s->count] = m.at;
  reset_memory(&m);
}

static void find_uses(indim_slp *p, indim_slp_segment *s) {
  int32_t total = s->dep_start[s->count];
  s->use_start = indim_loop_scratch(&p->b, &s->arena, (int64_t)s->count + 2, sizeof *s->use_start);
  s->uses = indim_loop_scratch(&p->b, &s->arena, total, sizeof *s->uses);
  if (p->b.status != INDIM_OK) {
    return;
  }
  for (int32_t e = 0; e < total; e++) {
    s->use_start[s->deps[e] + 2]++;
  }
  for (int32_t i = 0; i < s->count; i++) {
    s->use_start[i + 2] += s->use_start[i + 1];
  }
  for (int32_t i = 0; i < s->count; i++) {
    for (int32_t e = s->dep_start[i]; e < s->dep_start[i + 1]; e++) {
      s->uses[s->use_start[s->deps[e] + 1]++] = i;
    }
  }
}

// Groups ----------------------------------------------------------------------------------------------------------------

static void add_group(indim_slp_segment *s, int32_t count, const int32_t *members) {
  s->groups[s->group_count] = (indim_slp_group){.first = s->member_count, .count = count};
  for (int32_t i = 0; i < count; i++) {
    s->members[s->member_count++] = members[i];
    s->group[members[i]] = s->group_count;
    s->number[members[i]] = i;
  }
  s->group_count++;
}

typedef struct candidate {
  int32_t level;  // costly operations on the longest path to it
  int32_t op;
  int32_t type;
  int32_t lanes;
  int32_t position;
} candidate;

static int order(int32_t x, int32_t y) { return x < y ? -1 : x > y; }

static int compare_candidates(const void *x, const void *y) {
  const candidate *a = x;
  const candidate *b = y;
  int by_level = order(a->level, b->level);
  int by_op = by_level != 0 ? by_level : order(a->op, b->op);
  int by_type = by_op != 0 ? by_op : order(a->type, b->type);
  int by_lanes = by_type != 0 ? by_type : order(a->lanes, b->lanes);
  return by_lanes != 0 ? by_lanes : order(a->position, b->position);
}

static void group_costly(indim_slp *p, indim_slp_segment *s, int32_t costly_count) {
  candidate *candidates = indim_loop_scratch(&p->b, &s->arena, costly_count, sizeof *candidates);
  int32_t count = 0;
  for (int32_t i = 0; i < s->count && p->b.status == INDIM_OK; i++) {
    const indim_loop_node *node = s->nodes[i];
    for (int32_t e = s->dep_start[i]; e < s->dep_start[i + 1]; e++) {
      int32_t before = s->level[s->deps[e]] + (is_costly(p, s->nodes[s->deps[e]]) ? 1 : 0);
      s->level[i] = before > s->level[i] ? before : s->level[i];
    }
    if (is_costly(p, node) && capacity_of(p, node) > 1) {
      const indim_loop_value *result = value_of(p, node->first_result);
      candidates[count++] = (candidate){s->level[i], (int32_t)node->u.op.op, (int32_t)result->type, result->lanes, i};
    }
  }
  if (p->b.status != INDIM_OK) {
    return;
  }
  qsort(candidates, (size_t)count, sizeof *candidates, compare_candidates);
  for (int32_t first = 0; first < count;) {
    int32_t members[MOST_LANES];
    int32_t most = capacity_of(p, s->nodes[candidates[first].position]);
    int32_t taken = 0;
    for (; taken < most && first + taken < count; taken++) {
      candidate one = candidates[first + taken];
      one.position = candidates[first].position;
      if (compare_candidates(&one, &candidates[first]) != 0) {
        break;
      }
      members[taken] = candidates[first + taken].position;
    }
    const indim_loop_node *one = s->nodes[candidates[first].position];
    bool is_scalar = value_of(p, one->first_result)->lanes == 1;
    if (is_instruction(one->u.op.op) ? is_scalar && taken >= INDIM_COST_SLP_INSTRUCTIONS : taken > 1) {
      add_group(s, taken, members);
    }
    first += taken;
  }
}

// Levels ----------------------------------------------------------------------------------------------------------------

static int32_t unit_of(const indim_slp_segment *s, int32_t i) { return s->group[i] < 0 ? i : s->count + s->group[i]; }

static int32_t members_of(const indim_slp_segment *s, int32_t unit, const int32_t **out) {
  *out = unit < s->count ? NULL : &s->members[s->groups[unit - s->count].first];
  return unit < s->count ? 1 : s->groups[unit - s->count].count;
}

// The longest dependence path to each node, a group counting as one.
static void find_levels(indim_slp *p, indim_slp_segment *s) {
  int32_t units = s->count + s->group_count;
  int32_t *waits = indim_loop_scratch(&p->b, &s->arena, units, sizeof *waits);
  int32_t *queue = indim_loop_scratch(&p->b, &s->arena, units, sizeof *queue);
  int32_t *level = indim_loop_scratch(&p->b, &s->arena, units, sizeof *level);
  int32_t end = 0;
  if (p->b.status != INDIM_OK) {
    return;
  }
  for (int32_t i = 0; i < s->count; i++) {
    waits[unit_of(s, i)] += s->dep_start[i + 1] - s->dep_start[i];
  }
  for (int32_t u = 0; u < units; u++) {
    bool is_there = u >= s->count || s->group[u] < 0;
    if (is_there && waits[u] == 0) {
      queue[end++] = u;
    }
  }
  for (int32_t at = 0; at < end; at++) {
    const int32_t *members = NULL;
    int32_t count = members_of(s, queue[at], &members);
    for (int32_t m = 0; m < count; m++) {
      int32_t i = members == NULL ? queue[at] : members[m];
      s->level[i] = level[queue[at]];
      for (int32_t e = s->use_start[i]; e < s->use_start[i + 1]; e++) {
        int32_t user = unit_of(s, s->uses[e]);
        level[user] = level[user] > level[queue[at]] ? level[user] : level[queue[at]] + 1;
        if (--waits[user] == 0) {
          queue[end++] = user;
        }
      }
    }
  }
}

// Growing ---------------------------------------------------------------------------------------------------------------

// Args number |k| of the nodes at |positions|.
static void args_of(const indim_slp_segment *s, int32_t count, const int32_t *positions, int32_t k,
                    indim_value_id *out) {
  for (int32_t i = 0; i < count; i++) {
    out[i] = s->nodes[positions[i]]->args[k];
  }
}

// Whether the values are defined by cheap nodes that may form a group, and their positions.
static bool can_group(const indim_slp *p, const indim_slp_segment *s, int32_t count, const indim_value_id *values,
                      int32_t *out_positions) {
  for (int32_t i = 0; i < count; i++) {
    int32_t at = position_of(p, values[i]);
    if (at < 0 || s->group[at] >= 0 || !is_cheap(p, s->nodes[at])) {
      return false;
    }
    out_positions[i] = at;
    if (i > 0 &&
        (s->level[at] != s->level[out_positions[0]] || !same_kind(p, s->nodes[at], s->nodes[out_positions[0]]))) {
      return false;
    }
    for (int32_t k = 0; k < i; k++) {
      if (out_positions[k] == at) {
        return false;
      }
    }
  }
  return true;
}

// About how many instructions it takes to have the values as a vector, |count| at most. |deep|: they may be defined by
// a group that is not formed yet.
static int32_t vector_cost(const indim_slp *p, const indim_slp_segment *s, int32_t count, const indim_value_id *values,
                           bool deep) {
  int32_t same = 1;
  int32_t constants = 0;
  int32_t carried = 0;
  int32_t in_group = 0;
  int32_t group = -1;
  for (int32_t i = 0; i < count; i++) {
    const indim_loop_node *node = value_of(p, values[i])->node;
    int32_t at = position_of(p, values[i]);
    int32_t own = at < 0 ? -1 : s->group[at];
    group = i == 0 ? own : group;
    same += i > 0 && values[i] == values[0] ? 1 : 0;
    constants += node != NULL && node->kind == INDIM_NODE_CONST ? 1 : 0;
    carried += node == NULL && value_of(p, values[i])->body == s->body ? 1 : 0;
    in_group += own >= 0 && own == group && s->number[at] == i ? 1 : 0;
  }
  if (constants == count || (in_group == count && s->groups[group].count == count)) {
    return 0;
  }
  if (same == count) {
    return 1;
  }
  if (carried == count) {
    return 2;  // if they are carried as a vector
  }
  int32_t positions[MOST_LANES];
  if (deep && can_group(p, s, count, values, positions)) {
    indim_value_id args[MOST_LANES];
    int32_t cost = 1 - count;
    for (int32_t k = 0; k < s->nodes[positions[0]]->arg_count; k++) {
      args_of(s, count, positions, k, args);
      cost += vector_cost(p, s, count, args, false);
    }
    return cost < 0 ? 0 : cost < count ? cost : count;
  }
  return count;
}

// Groups the nodes that define args number |k| of a group.
static void group_operands(indim_slp *p, indim_slp_segment *s, const indim_slp_group *g, int32_t k) {
  indim_value_id values[MOST_LANES];
  int32_t positions[MOST_LANES];
  args_of(s, g->count, &s->members[g->first], k, values);
  if (!can_group(p, s, g->count, values, positions)) {
    return;
  }
  int32_t cost = 0;
  for (int32_t a = 0; a < s->nodes[positions[0]]->arg_count; a++) {
    indim_value_id args[MOST_LANES];
    args_of(s, g->count, positions, a, args);
    cost += vector_cost(p, s, g->count, args, true);
  }
  for (int32_t i = 0; i < g->count; i++) {
    cost += p->use_count[values[i]] > 1 ? 1 : 0;  // other users may need an extract
  }
  if (cost < 2 * g->count - 1) {
    add_group(s, g->count, positions);
  }
}

// The user of member |i| that matches |model|, with the member as arg |k|; -1 if there is none.
static int32_t find_user(const indim_slp *p, const indim_slp_segment *s, int32_t member, int32_t model, int32_t k,
                         int32_t count, const int32_t *taken) {
  int32_t end = s->use_start[member + 1];
  end = end - s->use_start[member] > MOST_USERS ? s->use_start[member] + MOST_USERS : end;
  for (int32_t e = s->use_start[member]; e < end; e++) {
    int32_t user = s->uses[e];
    bool fits = s->group[user] < 0 && s->level[user] == s->level[model] && is_cheap(p, s->nodes[user]) &&
                same_kind(p, s->nodes[user], s->nodes[model]) &&
                s->nodes[user]->args[k] == s->nodes[member]->first_result;
    for (int32_t i = 0; fits && i < count; i++) {
      fits = taken[i] != user;
    }
    if (fits) {
      return user;
    }
  }
  return -1;
}

// Groups the users of a group's results that match |model|, a user of the first member, in arg |k|.
static void group_users(indim_slp *p, indim_slp_segment *s, const indim_slp_group *g, int32_t model, int32_t k) {
  int32_t positions[MOST_LANES] = {model};
  for (int32_t i = 1; i < g->count; i++) {
    positions[i] = find_user(p, s, s->members[g->first + i], model, k, i, positions);
    if (positions[i] < 0) {
      return;
    }
  }
  int32_t cost = 0;
  for (int32_t a = 0; a < s->nodes[model]->arg_count; a++) {
    indim_value_id args[MOST_LANES];
    args_of(s, g->count, positions, a, args);
    cost += a == k ? 0 : vector_cost(p, s, g->count, args, true);
  }
  if (cost < g->count - 1) {
    add_group(s, g->count, positions);
  }
}

static void extend_groups(indim_slp *p, indim_slp_segment *s) {
  for (int32_t number = 0; number < s->group_count; number++) {
    indim_slp_group g = s->groups[number];
    int32_t first = s->members[g.first];
    for (int32_t k = 0; k < s->nodes[first]->arg_count; k++) {
      group_operands(p, s, &g, k);
    }
    int32_t end = s->use_start[first + 1];
    end = end - s->use_start[first] > MOST_USERS ? s->use_start[first] + MOST_USERS : end;
    for (int32_t e = s->use_start[first]; e < end; e++) {
      int32_t user = s->uses[e];
      if (s->group[user] >= 0 || !is_cheap(p, s->nodes[user])) {
        continue;
      }
      for (int32_t k = 0; k < s->nodes[user]->arg_count && s->group[user] < 0; k++) {
        if (s->nodes[user]->args[k] == s->nodes[first]->first_result) {
          group_users(p, s, &g, user, k);
        }
      }
    }
  }
}

void indim_slp_plan(indim_slp *p, indim_slp_segment *s) {
  int32_t costly_count = 0;
  for (int32_t i = 0; i < s->count; i++) {
    costly_count += is_costly(p, s->nodes[i]) ? 1 : 0;
  }
  if (costly_count < 2) {
    return;
  }
  s->level = indim_loop_scratch(&p->b, &s->arena, s->count, sizeof *s->level);
  s->group = indim_loop_scratch(&p->b, &s->arena, s->count, sizeof *s->group);
  s->number = indim_loop_scratch(&p->b, &s->arena, s->count, sizeof *s->number);
  s->groups = indim_loop_scratch(&p->b, &s->arena, s->count, sizeof *s->groups);
  s->members = indim_loop_scratch(&p->b, &s->arena, s->count, sizeof *s->members);
  find_deps(p, s);
  if (p->b.status != INDIM_OK) {
    return;
  }
  for (int32_t i = 0; i < s->count; i++) {
    s->group[i] = -1;
  }
  group_costly(p, s, costly_count);
  if (s->group_count > 0) {
    find_uses(p, s);
  }
  if (s->group_count > 0 && p->b.status == INDIM_OK) {
    find_levels(p, s);
    extend_groups(p, s);
  }
}
