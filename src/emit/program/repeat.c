// Equal loops become one function: the layers of a network, the steps of a solver. Equal are two loops that differ in the
// storages and in the values from outside alone; the code is then made once, and each of them calls it with its own
// (piece.c). What else the code depends on, ranges of indices and sizes of storages among it, is in the signature.
#include "emit/program/access.h"
#include "emit/program/piece.h"
#include "loop/ir/build.h"
#include "loop/ir/index_math.h"
#include "loop/target/cost.h"

#include <string.h>

const indim_loop_node *indim_emit_splat_of(const indim_generator *g, indim_value_id v) {
  const indim_loop_node *node = indim_emit_value(g, v)->node;
  return node != NULL && node->kind == INDIM_NODE_SPLAT ? node : NULL;
}

void indim_emit_each_storage(const indim_loop_node *node, void (*see)(void *user, int32_t storage), void *user) {
  if (node->kind == INDIM_NODE_LOAD || node->kind == INDIM_NODE_STORE) {
    see(user, node->u.memory.storage);
  } else if (node->kind == INDIM_NODE_PREFETCH) {
    see(user, node->u.prefetch.storage);
  } else if (node->kind == INDIM_NODE_COPY) {
    see(user, node->u.move.from);
    see(user, node->u.move.to);
  } else if (node->kind == INDIM_NODE_FILL) {
    see(user, node->u.move.to);
  }
}

// Signatures ------------------------------------------------------------------------------------------------------------

typedef struct signing {
  indim_generator *g;
  int64_t *words;
  int32_t count, capacity;
  int64_t runs;   // of the present body
  int64_t nodes;  // that run, index arithmetic aside
  bool is_refused;
  indim_status status;
} signing;

static void add(signing *s, int64_t word) {
  if (s->status != INDIM_OK) {
    return;
  }
  if (s->count == s->capacity) {
    int32_t capacity = s->capacity == 0 ? 1024 : 2 * s->capacity;
    void *grown = NULL;
    s->status = indim_arena_array(s->g->arena, (size_t)capacity, sizeof *s->words, &grown);
    if (s->status != INDIM_OK) {
      return;
    }
    if (s->count > 0) {
      memcpy(grown, s->words, (size_t)s->count * sizeof *s->words);
    }
    s->words = grown;
    s->capacity = capacity;
  }
  s->words[s->count++] = word;
}

static void add_value(signing *s, indim_value_id v) {
  const indim_loop_value *value = indim_emit_value(s->g, v);
  add(s, (int64_t)value->type << 32 | value->lanes);
  add(s, (int64_t)indim_emit_computed_type(s->g, v) << 1 | s->g->is_split[v]);
  if (value->type == INDIM_S64) {
    add(s, value->low);
    add(s, value->high);
    add(s, value->step);
  }
}

static void add_storage(void *user, int32_t storage) {
  signing *s = user;
  const indim_storage *at = s->g->e.program->storages[storage];
  add(s, (int64_t)at->type << 1 | (at->shares != 0));
  add(s, at->elements);
}

static void add_op(signing *s, const indim_loop_op *op) {
  add(s, (int64_t)op->op << 32 | op->direction);
  add(s, op->total_order);
  add(s, (int64_t)op->exponent_bits << 32 | op->mantissa_bits);
}

// What a node says beside its arguments, results and bodies.
static void add_detail(signing *s, const indim_loop_node *node) {
  switch (node->kind) {
  case INDIM_NODE_CONST:
    add(s, (int64_t)node->u.constant.bits[0]);
    add(s, (int64_t)node->u.constant.bits[1]);
    break;
  case INDIM_NODE_LANES:
    for (int32_t i = 0; i < 2 * indim_emit_value(s->g, node->first_result)->lanes; i++) {
      add(s, (int64_t)node->u.lanes.bits[i]);
    }
    break;
  case INDIM_NODE_ELEMENTWISE:
  case INDIM_NODE_REDUCE:
    add_op(s, &node->u.op);
    break;
  case INDIM_NODE_AFFINE:
  case INDIM_NODE_FLOORDIV:
  case INDIM_NODE_MODULO:
    add(s, node->u.affine.constant);
    for (int32_t i = 0; i < node->arg_count && node->kind == INDIM_NODE_AFFINE; i++) {
      add(s, node->u.affine.coefficients[i]);
    }
    break;
  case INDIM_NODE_CLAMP_INDEX:
    add(s, node->u.clamp.low);
    add(s, node->u.clamp.high);
    break;
  case INDIM_NODE_EXTRACT:
    add(s, node->u.lane);
    break;
  case INDIM_NODE_SHUFFLE:
    for (int32_t i = 0; i < indim_emit_value(s->g, node->first_result)->lanes; i++) {
      add(s, node->u.map[i]);
    }
    break;
  case INDIM_NODE_LOAD:
  case INDIM_NODE_STORE:
    add(s, node->u.memory.lane_stride);
    add(s, node->u.memory.has_mask | node->u.memory.non_temporal << 1 | node->u.memory.fresh << 2);
    add(s, node->u.memory.prefetch);
    break;
  case INDIM_NODE_COPY:
  case INDIM_NODE_FILL:
    add(s, node->u.move.count);
    break;
  case INDIM_NODE_PREFETCH:
    add(s, node->u.prefetch.distance);
    add(s, node->u.prefetch.count);
    break;
  case INDIM_NODE_FOR:
    add(s, node->u.loop.step);
    add(s, node->u.loop.is_parallel);
    add(s, node->u.loop.poll_interval);
    break;
  case INDIM_NODE_FMA:
  case INDIM_NODE_SPLAT:
  case INDIM_NODE_IF:
  case INDIM_NODE_WHILE:
    break;
  case INDIM_NODE_HOST:
  case INDIM_NODE_COUNT:
    s->is_refused = true;
    break;
  }
}

static bool is_for(const indim_loop_node *node) { return node->kind == INDIM_NODE_FOR; }

// What a node counts: functions and complex products are many instructions.
static int64_t nodes_of(const signing *s, const indim_loop_node *node) {
  bool is_complex = node->result_count == 1 &&
                    indim_type_is_complex(indim_emit_computed_type(s->g, node->first_result)) &&
                    node->kind == INDIM_NODE_ELEMENTWISE;
  bool is_long = is_complex || (node->kind == INDIM_NODE_ELEMENTWISE && indim_op_is_function(node->u.op.op));
  return is_long ? INDIM_COST_FUNCTION_NODES : node->kind != INDIM_NODE_AFFINE;
}

static void add_body(signing *s, const indim_loop_body *body) {
  enum { END = -1 };
  if (body->depth > INDIM_EMIT_MAX_DEPTH) {
    s->is_refused = true;
    return;
  }
  add(s, body->parameter_count);
  for (int32_t i = 0; i < body->parameter_count; i++) {
    add_value(s, body->first_parameter + i);
  }
  for (const indim_loop_node *node = body->first; node != NULL && !s->is_refused; node = node->next) {
    s->nodes = indim_index_add_saturated(s->nodes, indim_index_mul_saturated(s->runs, nodes_of(s, node)));
    add(s, (int64_t)node->kind << 48 | (int64_t)node->arg_count << 24 | node->result_count);
    for (int32_t i = 0; i < node->result_count; i++) {
      add_value(s, node->first_result + i);
    }
    // A parallel loop is a function of its own, which the host calls: not inside of another.
    s->is_refused = s->is_refused || (is_for(node) && node->u.loop.is_parallel);
    add_detail(s, node);
    indim_emit_each_storage(node, add_storage, s);
    for (int32_t k = 0; k < 2 && node->bodies[k] != NULL; k++) {
      int64_t runs = s->runs;
      int64_t steps = node->kind == INDIM_NODE_FOR ? indim_loop_steps(s->g->e.program, node) : 1;
      s->runs = indim_index_mul_saturated(runs, steps > 0 ? steps : 1);
      add_body(s, node->bodies[k]);
      s->runs = runs;
    }
  }
  add(s, END);
  add(s, body->yield_count);
}

// 0: not known.
static int64_t steps_of(const indim_generator *g, const indim_loop_node *node) {
  return is_for(node) ? indim_loop_steps(g->e.program, node) : 0;
}

// Whether the loop runs long enough that a call does not matter, were it for one step.
static bool may_be_function(const indim_generator *g, const indim_loop_node *node, int64_t nodes) {
  int64_t steps = steps_of(g, node);
  bool is_long = steps == 0 || nodes >= INDIM_COST_SHARED_LOOP;
  return is_long || (is_for(node) && node->u.loop.is_parallel);
}

static indim_status sign(indim_generator *g, const indim_loop_node *node, bool has_lines, indim_emit_entry *entry) {
  int64_t steps = steps_of(g, node);
  signing s = {.g = g, .runs = steps > 0 ? steps : 1};
  *entry = (indim_emit_entry){.node = node};
  add(&s, node->kind);
  add_detail(&s, node);
  for (int32_t k = 0; k < 2 && node->bodies[k] != NULL; k++) {
    add_body(&s, node->bodies[k]);
  }
  s.is_refused = s.is_refused || has_lines;
  if (s.status == INDIM_OK && !s.is_refused && may_be_function(g, node, s.nodes)) {
    entry->signature = s.words;
    entry->length = s.count;
  }
  return s.status;
}

// Groups ----------------------------------------------------------------------------------------------------------------

// No other for contains it, and few other loops: all of them are compared, each with all that is in it.
static bool is_outer(const indim_loop_node *node) {
  enum { MOST_WHILES = 4 };
  int32_t whiles = 0;
  for (const indim_loop_body *body = node->body; body->owner != NULL; body = body->outer) {
    whiles += body->owner->kind == INDIM_NODE_WHILE;
    if (body->owner->kind == INDIM_NODE_FOR || whiles > MOST_WHILES) {
      return false;
    }
  }
  return is_for(node) || node->kind == INDIM_NODE_WHILE;
}

static bool same_signature(const indim_emit_entry *a, const indim_emit_entry *b) {
  return a->length == b->length && memcmp(a->signature, b->signature, (size_t)a->length * sizeof *a->signature) == 0;
}

// Entries of one signature are numbered by the first of them, by a hash table.
static indim_status group_entries(indim_generator *g, indim_emit_repeats *r) {
  size_t slots = 16;
  int32_t *table = NULL;
  while (slots < 2 * (size_t)r->count) {
    slots *= 2;
  }
  INDIM_TRY(indim_arena_array(g->arena, slots, sizeof *table, (void **)&table));
  for (int32_t i = 0; i < r->count; i++) {
    indim_emit_entry *entry = &r->entries[i];
    if (entry->signature == NULL) {
      continue;
    }
    uint64_t hash = 0;
    for (int32_t k = 0; k < entry->length; k++) {
      hash = indim_loop_mix(hash, (uint64_t)entry->signature[k]);
    }
    size_t at = (size_t)hash & (slots - 1);
    while (table[at] != 0 && !same_signature(&r->entries[table[at] - 1], entry)) {
      at = (at + 1) & (slots - 1);
    }
    table[at] = table[at] == 0 ? i + 1 : table[at];
    entry->group = table[at] - 1;
    r->entries[entry->group].count++;
  }
  return INDIM_OK;
}

static indim_status make_room(indim_generator *g, indim_emit_repeats *r) {
  size_t values = (size_t)g->e.program->value_count + 1;
  size_t storages = (size_t)g->e.program->storage_count + 1;
  INDIM_TRY(indim_arena_array(g->arena, values, sizeof *r->values, (void **)&r->values));
  INDIM_TRY(indim_arena_array(g->arena, values, sizeof *r->seen, (void **)&r->seen));
  INDIM_TRY(indim_arena_array(g->arena, values, sizeof *r->captured, (void **)&r->captured));
  for (int32_t way = 0; way < 2; way++) {
    INDIM_TRY(indim_arena_array(g->arena, storages, sizeof *r->storages[way], (void **)&r->storages[way]));
    INDIM_TRY(indim_arena_array(g->arena, storages, sizeof *r->owners[way], (void **)&r->owners[way]));
  }
  INDIM_TRY(indim_arena_array(g->arena, storages, sizeof *r->used_seen, (void **)&r->used_seen));
  INDIM_TRY(indim_arena_array(g->arena, storages, sizeof *r->used, (void **)&r->used));
  return indim_arena_array(g->arena, storages, sizeof *r->bases, (void **)&r->bases);
}

indim_status indim_emit_find_repeats(indim_generator *g, bool has_lines) {
  indim_emit_repeats *r = NULL;
  INDIM_TRY(indim_arena_array(g->arena, 1, sizeof *r, (void **)&r));
  g->repeats = r;
  for (const indim_loop_node *node = g->e.program->body->first; node != NULL; node = indim_loop_next(node)) {
    r->count += is_outer(node);
  }
  if (r->count == 0) {
    return INDIM_OK;
  }
  INDIM_TRY(make_room(g, r));
  INDIM_TRY(indim_arena_array(g->arena, (size_t)r->count, sizeof *r->entries, (void **)&r->entries));
  int32_t at = 0;
  for (const indim_loop_node *node = g->e.program->body->first; node != NULL; node = indim_loop_next(node)) {
    if (is_outer(node)) {
      INDIM_TRY(sign(g, node, has_lines, &r->entries[at++]));
    }
  }
  return group_entries(g, r);
}

indim_emit_entry *indim_emit_repeat_of(indim_generator *g, const indim_loop_node *node) {
  indim_emit_repeats *r = g->repeats;
  int32_t steps = 0;
  for (; steps < r->count && r->entries[r->at].node != node; steps++) {
    r->at = r->at + 1 < r->count ? r->at + 1 : 0;
  }
  if (steps == r->count || r->entries[r->at].signature == NULL) {
    return NULL;
  }
  indim_emit_entry *first = &r->entries[r->entries[r->at].group];
  return first->count > 1 ? first : NULL;
}

bool indim_emit_is_repeated(indim_generator *g, const indim_loop_node *node) {
  return is_outer(node) && indim_emit_repeat_of(g, node) != NULL;
}

// Comparison ------------------------------------------------------------------------------------------------------------

typedef struct matching {
  indim_generator *g;
  const indim_loop_node *first, *second;
} matching;

// Pairs a with b, unless one of them has another partner already.
static bool pair(const indim_emit_repeats *r, indim_emit_image *const *images, int32_t a, int32_t b) {
  indim_emit_image *there = &images[0][a];
  indim_emit_image *back = &images[1][b];
  if (there->stamp == r->stamp || back->stamp == r->stamp) {
    return there->stamp == r->stamp && back->stamp == r->stamp && there->at == b && back->at == a;
  }
  *there = (indim_emit_image){r->stamp, b};
  *back = (indim_emit_image){r->stamp, a};
  return true;
}

static int32_t last_owner(const indim_generator *g, int32_t storage) {
  const indim_storage *at = g->e.program->storages[storage];
  while (at->shares != 0) {
    at = g->e.program->storages[at->shares - 1];
  }
  return at->index;
}

static bool same_storage(const matching *m, int32_t a, int32_t b) {
  const indim_emit_repeats *r = m->g->repeats;
  return pair(r, r->storages, a, b) && pair(r, r->owners, last_owner(m->g, a), last_owner(m->g, b));
}

static LLVMTypeRef type_of(LLVMValueRef reg) { return reg == NULL ? NULL : LLVMTypeOf(reg); }

// Whether |b| may take the place of |a| in the frame, both from outside of their loops.
static bool same_outside(const matching *m, indim_value_id a, indim_value_id b) {
  const indim_generator *g = m->g;
  const indim_loop_value *x = indim_emit_value(g, a);
  const indim_loop_value *y = indim_emit_value(g, b);
  const indim_reg *p = &g->regs[a];
  const indim_reg *q = &g->regs[b];
  if (p->part[0] == NULL || q->part[0] == NULL || LLVMIsConstant(p->part[0]) || LLVMIsConstant(q->part[0])) {
    return p->part[0] == q->part[0] && p->part[1] == q->part[1];
  }
  const indim_loop_program *program = g->e.program;
  return type_of(p->part[0]) == type_of(q->part[0]) && type_of(p->part[1]) == type_of(q->part[1]) &&
         x->type == y->type && x->lanes == y->lanes && x->low == y->low && x->high == y->high && x->step == y->step &&
         indim_emit_computed_type(g, a) == indim_emit_computed_type(g, b) && g->is_split[a] == g->is_split[b] &&
         indim_emit_is_uniform(program, a) == indim_emit_is_uniform(program, b) &&
         (indim_emit_splat_of(g, a) == NULL) == (indim_emit_splat_of(g, b) == NULL);
}

static bool same_value(const matching *m, indim_value_id a, indim_value_id b) {
  indim_emit_repeats *r = m->g->repeats;
  for (;;) {
    if (r->values[a].stamp == r->stamp) {
      return r->values[a].at == b;
    }
    bool is_inside = indim_emit_is_in_loop(indim_emit_value(m->g, a)->body, m->first) ||
                     indim_emit_is_in_loop(indim_emit_value(m->g, b)->body, m->second);
    if (is_inside || (a != b && !same_outside(m, a, b))) {
      return false;
    }
    r->values[a] = (indim_emit_image){r->stamp, b};
    // A constant is no field of the frame, and the same one need not be a splat in both.
    LLVMValueRef reg = m->g->regs[a].part[0];
    const indim_loop_node *splat = reg == NULL || LLVMIsConstant(reg) ? NULL : indim_emit_splat_of(m->g, a);
    if (splat == NULL) {
      return true;
    }
    a = splat->args[0];
    b = indim_emit_splat_of(m->g, b)->args[0];
  }
}

typedef struct storage_list {
  int32_t count;
  int32_t storages[2];
} storage_list;

static void list_storage(void *user, int32_t storage) {
  storage_list *list = user;
  list->storages[list->count++] = storage;
}

static bool same_storages(const matching *m, const indim_loop_node *a, const indim_loop_node *b) {
  storage_list x = {0};
  storage_list y = {0};
  indim_emit_each_storage(a, list_storage, &x);
  indim_emit_each_storage(b, list_storage, &y);
  for (int32_t i = 0; i < x.count; i++) {
    if (!same_storage(m, x.storages[i], y.storages[i])) {
      return false;
    }
  }
  return true;
}

static void pair_values(indim_emit_repeats *r, indim_value_id a, indim_value_id b, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    r->values[a + i] = (indim_emit_image){r->stamp, b + i};
  }
}

static bool same_bodies(const matching *m, const indim_loop_node *a, const indim_loop_node *b);

// Of bodies with one signature: counts and kinds are equal.
static bool same_body(const matching *m, const indim_loop_body *a, const indim_loop_body *b) {
  indim_emit_repeats *r = m->g->repeats;
  pair_values(r, a->first_parameter, b->first_parameter, a->parameter_count);
  const indim_loop_node *y = b->first;
  for (const indim_loop_node *x = a->first; x != NULL; x = x->next, y = y->next) {
    for (int32_t i = 0; i < x->arg_count; i++) {
      if (!same_value(m, x->args[i], y->args[i])) {
        return false;
      }
    }
    if (!same_storages(m, x, y) || !same_bodies(m, x, y)) {
      return false;
    }
    pair_values(r, x->first_result, y->first_result, x->result_count);
  }
  for (int32_t i = 0; i < a->yield_count; i++) {
    if (!same_value(m, a->yields[i], b->yields[i])) {
      return false;
    }
  }
  return true;
}

static bool same_bodies(const matching *m, const indim_loop_node *a, const indim_loop_node *b) {
  for (int32_t k = 0; k < 2 && a->bodies[k] != NULL; k++) {
    if (!same_body(m, a->bodies[k], b->bodies[k])) {
      return false;
    }
  }
  return true;
}

bool indim_emit_is_repeat(indim_generator *g, const indim_emit_piece *piece, const indim_loop_node *node) {
  g->repeats->stamp++;
  matching m = {g, piece->node, node};
  return same_bodies(&m, piece->node, node);
}

indim_value_id indim_emit_counterpart(const indim_generator *g, indim_value_id v) { return g->repeats->values[v].at; }

int32_t indim_emit_storage_counterpart(const indim_generator *g, int32_t storage) {
  return g->repeats->storages[0][storage].at;
}
