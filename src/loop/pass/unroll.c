// Full unrolling of short inner loops, with store-to-load forwarding. A loop of a few iterations that is nested in
// another loop, carries nothing and stores only to small scratch arrays, at addresses affine in its index, is unrolled;
// the values that it stores are forwarded to later loads:
//
//   while ...                                       while ...
//     for i in 0..8                                   ... v9: f32x8 = ...
//       v4: f32x8 = load a[8 i]                       ... v19: f32x8 = ...       (and so on)
//       ... v9: f32x8 = ..., v10 = reduce add v9      v30: f32x8 = v9, v19 ... reduced side by side
//       store t[i], v10
//     v12: f32x8 = load t[0]
//
// Independent iterations overlap in the out-of-order window; a vector load of scalars that were just stored would
// stall until all of them are in the cache.
#include <string.h>

#include "loop/ir/rewrite.h"
#include "loop/pass/pass.h"
#include "loop/target/cost.h"

enum { MOST_ELEMENTS = 1024, MOST_LANES = 64, MOST_SOURCES = 4 };

// The value last stored to an element of memory: a lane of |value|; 0: unknown.
typedef struct stored_lane {
  indim_value_id value;
  int32_t lane;
} stored_lane;

typedef struct unrolling {
  indim_loop_program *program;
  indim_loop_builder b;  // makes values and nodes
  indim_arena arena;
  indim_loop_body *body;    // that is being re-emitted
  int32_t limit;            // capacity of |renamed|: all values at some time, and more
  indim_value_id *renamed;  // the value that replaces this one; 0: none
  stored_lane **memory;     // the elements of each storage; NULL: not tracked
  int32_t *version;         // of each storage's contents, new after each store
  int32_t last_version;
} unrolling;

static const indim_loop_value *value_of(const unrolling *u, indim_value_id v) { return &u->program->values[v]; }

static indim_value_id renamed_of(const unrolling *u, indim_value_id v) {
  return v < u->limit && u->renamed[v] != 0 ? u->renamed[v] : v;
}

static indim_value_id emit(unrolling *u, const indim_loop_draft *draft) {
  return indim_loop_intern(&u->b, draft, u->body);
}

// Selection ------------------------------------------------------------------------------------------------------------

static bool is_constant_index(const unrolling *u, indim_value_id v) {
  return value_of(u, v)->type == INDIM_S64 && value_of(u, v)->lanes == 1 && value_of(u, v)->low == value_of(u, v)->high;
}

// The trip count of a loop that may be unrolled if its body allows it; 0 otherwise.
static int64_t steps_of(const unrolling *u, const indim_loop_node *loop) {
  bool is_plain = loop->kind == INDIM_NODE_FOR && !loop->u.loop.is_parallel && loop->arg_count == 2;
  int64_t steps = is_plain ? indim_loop_steps(u->program, loop) : 0;
  return steps <= INDIM_COST_UNROLLED_STEPS ? steps : 0;
}

// Whether the store's address is constant once the loop's index is, in a storage that is tracked.
static bool is_tracked(const unrolling *u, const indim_loop_node *store, indim_value_id index) {
  indim_affine address;
  indim_affine_of(u->program, store->args[0], &address);
  bool is_known = address.count == 0 || (address.count == 1 && address.terms[0] == index);
  return u->memory[store->u.memory.storage] != NULL && !store->u.memory.has_mask && is_known &&
         value_of(u, store->args[0])->lanes == 1;
}

// Whether a node becomes many instructions: functions, and complex products, whose lanes are taken apart and put together.
static bool is_long(const unrolling *u, const indim_loop_node *node) {
  return node->kind == INDIM_NODE_ELEMENTWISE &&
         (indim_op_is_function(node->u.op.op) ||
          (node->u.op.op == INDIM_OP_MULTIPLY && indim_type_is_complex(value_of(u, node->first_result)->type)));
}

static bool is_short(const unrolling *u, const indim_loop_node *loop) {
  int64_t steps = steps_of(u, loop);
  int64_t nodes = 0;
  if (steps < 2) {
    return false;
  }
  for (const indim_loop_node *node = loop->bodies[0]->first; node != NULL; node = node->next) {
    indim_node_group group = indim_node_group_of(node->kind);
    bool is_store = node->kind == INDIM_NODE_STORE && is_tracked(u, node, loop->bodies[0]->first_parameter);
    if (group != INDIM_GROUP_VALUE && group != INDIM_GROUP_LOAD && !is_store) {
      return false;
    }
    nodes += is_long(u, node)                  ? INDIM_COST_FUNCTION_NODES
             : node->kind != INDIM_NODE_AFFINE ? 1
                                               : 0;  // index arithmetic is constant-folded
  }
  return steps * nodes <= INDIM_COST_UNROLLED_NODES;
}

static bool has_short(const unrolling *u, const indim_loop_body *body) {
  bool is_in_loop = false;
  for (const indim_loop_body *outer = body; outer->owner != NULL; outer = outer->outer) {
    is_in_loop = is_in_loop || outer->owner->kind != INDIM_NODE_IF;
  }
  for (const indim_loop_node *node = body->first; node != NULL && is_in_loop; node = node->next) {
    if (is_short(u, node)) {
      return true;
    }
  }
  return false;
}

// Vectors of scalars ---------------------------------------------------------------------------------------------------

// Whether all are defined by the same op, of this kind, on values of the same types and lanes.
static bool have_same_op(const unrolling *u, indim_node_kind kind, int32_t count, const indim_value_id *values) {
  const indim_loop_node *first = value_of(u, values[0])->node;
  if (first == NULL || first->kind != kind) {
    return false;
  }
  for (int32_t i = 1; i < count; i++) {
    const indim_loop_node *node = value_of(u, values[i])->node;
    if (node == NULL || node->kind != kind || node->arg_count != first->arg_count ||
        !indim_loop_same_op(&node->u.op, &first->u.op)) {
      return false;
    }
    for (int32_t k = 0; k < node->arg_count; k++) {
      const indim_loop_value *x = value_of(u, node->args[k]);
      const indim_loop_value *y = value_of(u, first->args[k]);
      if (x->type != y->type || x->lanes != y->lanes) {
        return false;
      }
    }
  }
  return true;
}

static indim_value_id shuffle(unrolling *u, int32_t count, const indim_value_id *args, int32_t lanes,
                              const int32_t *map) {
  indim_loop_draft draft = indim_loop_draft_of(INDIM_NODE_SHUFFLE, value_of(u, args[0])->type, lanes, count, args);
  draft.node.u.map = map;
  return emit(u, &draft);
}

// The first (|half| 0) or the second halves of all groups of |width| lanes in |count| vectors of |lanes| lanes. Two
// vectors are merged within 16-byte blocks while a group fits in one, which is a single instruction.
static indim_value_id halves(unrolling *u, int32_t count, const indim_value_id *vectors, int32_t lanes, int32_t width,
                             int32_t half) {
  int32_t map[MOST_LANES];
  int32_t block = (int32_t)(16 / indim_type_bytes(value_of(u, vectors[0])->type));
  block = count == 1 || block > lanes || width > block ? lanes : block;
  int32_t own = count == 1 ? block / 2 : block;  // lanes of the result that come from one block
  for (int32_t i = 0; i < lanes * count / 2; i++) {
    int32_t in = i % own;
    int32_t from = count == 1 ? 0 : in / (block / 2);
    int32_t at = in % (block / 2);
    map[i] = from * lanes + i / own * block + at / (width / 2) * width + half * (width / 2) + at % (width / 2);
  }
  return shuffle(u, count, vectors, lanes * count / 2, map);
}

// One level of the tree: halves of groups of |width| lanes combined by |op|; pairs of vectors become one.
static indim_value_id combine(unrolling *u, const indim_loop_op *op, int32_t count, const indim_value_id *vectors,
                              int32_t lanes, int32_t width) {
  indim_value_id args[2] = {halves(u, count, vectors, lanes, width, 0), halves(u, count, vectors, lanes, width, 1)};
  if (u->b.status != INDIM_OK) {
    return 0;
  }
  indim_loop_draft draft =
      indim_loop_draft_of(INDIM_NODE_ELEMENTWISE, value_of(u, args[0])->type, value_of(u, args[0])->lanes, 2, args);
  draft.node.u.op = *op;
  return emit(u, &draft);
}

// Reduces |count| vectors of |lanes| lanes, both powers of two, side by side: each in the order of its own REDUCE, so
// the result is bitwise the same. |groups| tracks which result is in which lane.
static indim_value_id reduce_together(unrolling *u, const indim_loop_op *op, int32_t count,
                                      const indim_value_id *vectors, int32_t lanes) {
  indim_value_id at[MOST_LANES];
  int32_t groups[MOST_LANES][MOST_LANES];  // the vectors whose partial results are in each vector
  int32_t group_count = 1;
  int32_t left = count;
  int32_t map[MOST_LANES];
  memcpy(at, vectors, (size_t)count * sizeof *at);
  for (int32_t i = 0; i < count; i++) {
    groups[i][0] = i;
  }
  for (int32_t width = lanes; width > 1 && u->b.status == INDIM_OK; width /= 2) {
    int32_t wide = value_of(u, at[0])->lanes;
    int32_t sources = left > 1 ? 2 : 1;
    int32_t block = (int32_t)(16 / indim_type_bytes(value_of(u, at[0])->type));
    int32_t in_block = block > wide || width > block ? group_count : block / width;
    left /= sources;
    for (int32_t i = 0; i < left; i++) {
      int32_t merged[MOST_LANES];
      at[i] = combine(u, op, sources, at + i * sources, wide, width);
      for (int32_t g = 0; sources == 2 && g < 2 * group_count; g++) {
        int32_t in = g % (2 * in_block);
        merged[g] = groups[2 * i + in / in_block][g / (2 * in_block) * in_block + in % in_block];
      }
      if (sources == 2) {
        memcpy(groups[i], merged, 2 * (size_t)group_count * sizeof *merged);
      }
    }
    group_count *= sources;
  }
  for (int32_t i = 0; i < left; i++) {
    for (int32_t g = 0; g < group_count; g++) {
      map[groups[i][g]] = i * group_count + g;
    }
  }
  return u->b.status == INDIM_OK ? shuffle(u, left, at, count, map) : 0;
}

static bool is_power(int32_t x) { return (x & (x - 1)) == 0; }

static indim_value_id make_vector(unrolling *u, int32_t count, const indim_value_id *values, int32_t depth);

static void args_of(const unrolling *u, int32_t count, const indim_value_id *values, int32_t k, indim_value_id *out) {
  for (int32_t i = 0; i < count; i++) {
    out[i] = value_of(u, values[i])->node->args[k];
  }
}

// The scalars as one vector op, if all but one of its args are the same for all; 0 otherwise.
static indim_value_id make_vector_op(unrolling *u, int32_t count, const indim_value_id *values, int32_t depth) {
  const indim_loop_node *model = value_of(u, values[0])->node;
  indim_value_id args[3];
  indim_value_id lanes[MOST_LANES];
  int32_t different = 0;
  for (int32_t k = 0; k < model->arg_count; k++) {
    args_of(u, count, values, k, lanes);
    different += indim_loop_all_same(count, lanes) ? 0 : 1;
  }
  if (different != 1 || model->arg_count > 3) {
    return 0;
  }
  indim_loop_draft draft =
      indim_loop_draft_of(INDIM_NODE_ELEMENTWISE, value_of(u, values[0])->type, count, model->arg_count, args);
  draft.node.u.op = model->u.op;
  for (int32_t k = 0; k < draft.node.arg_count; k++) {
    args_of(u, count, values, k, lanes);
    args[k] = make_vector(u, count, lanes, depth + 1);
  }
  return u->b.status == INDIM_OK ? emit(u, &draft) : 0;
}

// The scalars as the lanes of a vector.
static indim_value_id make_vector(unrolling *u, int32_t count, const indim_value_id *values, int32_t depth) {
  enum { DEEP = 8 };
  indim_value_id vectors[MOST_LANES];
  int32_t map[MOST_LANES];
  if (u->b.status != INDIM_OK) {
    return 0;
  }
  indim_type type = value_of(u, values[0])->type;
  if (indim_loop_all_same(count, values)) {
    indim_loop_draft draft = indim_loop_draft_of(INDIM_NODE_SPLAT, type, count, 1, values);
    return emit(u, &draft);
  }
  if (have_same_op(u, INDIM_NODE_REDUCE, count, values) && is_power(count)) {
    args_of(u, count, values, 0, vectors);
    int32_t lanes = value_of(u, vectors[0])->lanes;
    if (is_power(lanes) && lanes * 2 <= MOST_LANES) {
      return reduce_together(u, &value_of(u, values[0])->node->u.op, count, vectors, lanes);
    }
  }
  if (depth < DEEP && have_same_op(u, INDIM_NODE_ELEMENTWISE, count, values)) {
    indim_value_id made = make_vector_op(u, count, values, depth);
    if (made != 0) {
      return made;
    }
  }
  for (int32_t i = 0; i < count; i++) {
    map[i] = i;
  }
  return shuffle(u, count, values, count, map);
}

// Memory ---------------------------------------------------------------------------------------------------------------

static void invalidate(unrolling *u, int32_t storage) {
  u->version[storage] = ++u->last_version;
  if (u->memory[storage] != NULL) {
    memset(u->memory[storage], 0, (size_t)u->program->storages[storage]->elements * sizeof(stored_lane));
  }
}

static void invalidate_all(unrolling *u) {
  for (int32_t s = 0; s < u->program->storage_count; s++) {
    invalidate(u, s);
  }
}

static void record_store(unrolling *u, const indim_loop_node *store) {
  int32_t storage = store->u.memory.storage;
  stored_lane *memory = u->memory[storage];
  if (memory == NULL || store->u.memory.has_mask || !is_constant_index(u, store->args[0])) {
    invalidate(u, storage);
    return;
  }
  u->version[storage] = ++u->last_version;
  int64_t at = value_of(u, store->args[0])->low;
  for (int32_t k = 0; k < value_of(u, store->args[1])->lanes; k++) {
    memory[at + (int64_t)k * store->u.memory.lane_stride] = (stored_lane){store->args[1], k};
  }
}

// The value that the load at |address| would return; 0: it has to be loaded. A single lane of a vector is loaded: a
// load can broadcast it for free.
static indim_value_id forward_stores(unrolling *u, const indim_loop_node *load, indim_value_id address, int32_t lanes) {
  const stored_lane *memory = u->memory[load->u.memory.storage];
  indim_value_id values[MOST_LANES];
  indim_value_id sources[MOST_SOURCES];
  int32_t map[MOST_LANES];
  int32_t source_count = 0;
  bool is_scalars = true;
  bool is_whole = true;
  if (memory == NULL || load->u.memory.has_mask || !is_constant_index(u, address) || lanes > MOST_LANES) {
    return 0;
  }
  for (int32_t k = 0; k < lanes; k++) {
    stored_lane from = memory[value_of(u, address)->low + (int64_t)k * load->u.memory.lane_stride];
    if (from.value == 0) {
      return 0;
    }
    values[k] = from.value;
    is_scalars = is_scalars && value_of(u, from.value)->lanes == 1;
    is_whole = is_whole && from.value == values[0] && from.lane == k && value_of(u, from.value)->lanes == lanes;
    map[k] = from.lane;
  }
  if (is_whole || is_scalars || lanes == 1) {
    return is_whole ? values[0] : is_scalars ? make_vector(u, lanes, values, 0) : 0;
  }
  for (int32_t k = 0; k < lanes; k++) {
    int32_t s = 0;
    for (; s < source_count && sources[s] != values[k]; s++) {
      map[k] += value_of(u, sources[s])->lanes;
    }
    if (s == MOST_SOURCES) {
      return 0;
    }
    sources[s] = values[k];
    source_count = s == source_count ? s + 1 : source_count;
  }
  return shuffle(u, source_count, sources, lanes, map);
}

// Emission -------------------------------------------------------------------------------------------------------------

static indim_value_id emit_index(unrolling *u, int64_t index) {
  indim_loop_draft draft = indim_loop_draft_of(INDIM_NODE_CONST, INDIM_S64, 1, 0, NULL);
  draft.node.u.constant.bits[0] = (uint64_t)index;
  return emit(u, &draft);
}

// Emits the node on its renamed args. Index arithmetic on constants is constant-folded.
static indim_value_id emit_value(unrolling *u, const indim_loop_node *node, const indim_value_id *args) {
  indim_loop_value value = *value_of(u, node->first_result);
  indim_loop_draft draft = indim_loop_draft_of(node->kind, value.type, value.lanes, node->arg_count, args);
  draft.node.u = node->u;
  bool is_sum = node->kind == INDIM_NODE_AFFINE || node->kind == INDIM_NODE_FLOORDIV;
  int64_t low = 0;
  int64_t high = 1;
  if (is_sum && value.lanes == 1) {
    indim_loop_node_range(u->program, &draft.node, 1, &low, &high);
  } else if (node->kind == INDIM_NODE_MODULO && is_constant_index(u, args[0])) {
    low = high = indim_index_modulo(value_of(u, args[0])->low, node->u.affine.constant);
  }
  return low == high ? emit_index(u, low) : emit(u, &draft);
}

// Emits a load that was not forwarded: shared with equal loads as long as nothing is stored to its storage.
static indim_value_id emit_load(unrolling *u, const indim_loop_node *node, const indim_value_id *args) {
  indim_loop_value value = *value_of(u, node->first_result);
  indim_loop_draft draft = indim_loop_draft_of(INDIM_NODE_LOAD, value.type, value.lanes, node->arg_count, args);
  draft.node.u = node->u;
  draft.region = u->version[node->u.memory.storage];
  if (u->memory[node->u.memory.storage] == NULL) {  // it may share bytes with another storage
    draft.region = ++u->last_version;
  }
  return emit(u, &draft);
}

static void emit_node(unrolling *u, const indim_loop_node *node) {
  indim_node_group group = indim_node_group_of(node->kind);
  indim_value_id *args = indim_loop_alloc(&u->b, (size_t)node->arg_count, sizeof *args);
  for (int32_t i = 0; i < node->arg_count && args != NULL; i++) {
    args[i] = renamed_of(u, node->args[i]);
  }
  if (u->b.status != INDIM_OK) {
    return;
  }
  if (group == INDIM_GROUP_VALUE) {
    u->renamed[node->first_result] = emit_value(u, node, args);
  } else if (group == INDIM_GROUP_LOAD) {
    indim_value_id stored = forward_stores(u, node, args[0], value_of(u, node->first_result)->lanes);
    u->renamed[node->first_result] = stored != 0 ? stored : emit_load(u, node, args);
  } else {
    indim_loop_node *copy = indim_loop_new_node(&u->b, node->kind, node->arg_count, args);
    if (copy != NULL) {
      copy->u = node->u;
      copy->origin = node->origin;
      indim_loop_append(u->body, copy);
      if (node->kind == INDIM_NODE_STORE) {
        record_store(u, copy);
      } else {
        invalidate_all(u);
      }
    }
  }
}

static void emit_iterations(unrolling *u, const indim_loop_node *loop) {
  int64_t from = value_of(u, loop->args[0])->low;
  for (int64_t step = 0; step < steps_of(u, loop) && u->b.status == INDIM_OK; step++) {
    u->renamed[loop->bodies[0]->first_parameter] = emit_index(u, from + step * loop->u.loop.step);
    for (const indim_loop_node *node = loop->bodies[0]->first; node != NULL; node = node->next) {
      emit_node(u, node);
    }
  }
}

static void emit_body(unrolling *u, indim_loop_body *body) {
  indim_loop_node *next = NULL;
  bool was_closed = body->is_closed;
  indim_loop_node *node = body->first;
  body->first = body->last = NULL;
  body->is_closed = false;
  u->body = body;
  invalidate_all(u);
  for (; node != NULL && u->b.status == INDIM_OK; node = next) {
    next = node->next;
    if (is_short(u, node)) {
      emit_iterations(u, node);
    } else if (node->bodies[0] == NULL) {
      emit_node(u, node);
    } else {
      node->next = NULL;
      indim_loop_append(body, node);
      invalidate_all(u);
    }
  }
  body->is_closed = was_closed;
}

// The nodes of a loop around unrolled loops are new: makes room to rename their values in the next round.
static void grow_renamed(unrolling *u) {
  int32_t count = u->program->value_count;
  if (count > u->limit) {
    indim_value_id *wider = indim_loop_scratch(&u->b, &u->arena, (int64_t)count + count / 2, sizeof *wider);
    if (wider != NULL) {
      memcpy(wider, u->renamed, (size_t)u->limit * sizeof *wider);
      u->renamed = wider;
      u->limit = count + count / 2;
    }
  }
}

static void unroll_body(unrolling *u, indim_loop_body *body) {
  for (const indim_loop_node *node = body->first; node != NULL; node = node->next) {
    for (int32_t k = 0; k < 2 && node->bodies[k] != NULL; k++) {
      unroll_body(u, node->bodies[k]);
    }
  }
  if (u->b.status == INDIM_OK && has_short(u, body)) {
    grow_renamed(u);
    emit_body(u, body);
  }
}

// The pass -------------------------------------------------------------------------------------------------------------

// Tracks small scratch arrays that share no bytes with others.
static void make_arrays(unrolling *u) {
  const indim_loop_program *program = u->program;
  u->renamed = indim_loop_scratch(&u->b, &u->arena, u->limit, sizeof *u->renamed);
  u->memory = indim_loop_scratch(&u->b, &u->arena, program->storage_count, sizeof *u->memory);
  u->version = indim_loop_scratch(&u->b, &u->arena, program->storage_count, sizeof *u->version);
  const bool *is_shared = indim_loop_shared_storages(&u->b, &u->arena);
  for (int32_t s = 0; s < program->storage_count && u->b.status == INDIM_OK; s++) {
    const indim_storage *storage = program->storages[s];
    if (storage->kind == INDIM_STORAGE_SCRATCH && !is_shared[s] && storage->elements <= MOST_ELEMENTS) {
      u->memory[s] = indim_loop_scratch(&u->b, &u->arena, storage->elements, sizeof(stored_lane));
    }
  }
}

indim_status indim_pass_unroll(indim_loop_program *program) {
  unrolling u = {.program = program, .limit = program->value_count};
  indim_loop_builder_init(&u.b, program);
  indim_arena_init(&u.arena, program->cx);
  make_arrays(&u);
  if (u.b.status == INDIM_OK) {
    unroll_body(&u, program->body);
  }
  if (u.b.status == INDIM_OK) {
    indim_loop_rename(program->body, 0, u.limit, u.renamed);
  }
  indim_arena_deinit(&u.arena);
  indim_loop_builder_deinit(&u.b);
  INDIM_TRY(u.b.status);
  return indim_pass_dce(program);
}
