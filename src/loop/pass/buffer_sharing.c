// In-place buffer reuse: whether two arrays may share one buffer. For an argument and a result, every read of the
// argument is compared with every write of the result; for a scratch array that is replaced by its user's storage, its
// writes count as reads. Both are intervals of elements relative to an address. In different iterations of the loops
// around both they are disjoint if the address advances by at least the width of both; in the same iteration, or
// outside of loops, the read must come first or the intervals must be disjoint.
#include "loop/pass/buffer_sharing.h"

#include "base/size.h"
#include "loop/ir/affine.h"
#include "loop/ir/build.h"
#include "loop/ir/effects.h"
#include "loop/pass/pass.h"

enum { MOST_LOOPS = 64 };

// Reads or writes of elements low to high relative to |address|.
typedef struct access {
  const indim_loop_node *node;
  int64_t order;  // of the node in program order
  bool is_write;
  indim_value_id address;  // a scalar, or one with lanes
  int64_t low, high;
} access;

typedef struct sharing {
  indim_loop_program *program;
  int32_t argument, result;  // roots
  bool counts_writes;        // the argument's writes count as reads: its buffer is replaced altogether
  access *accesses;
  size_t count, capacity;
  int64_t order;
} sharing;

// Collecting -------------------------------------------------------------------------------------------------------------

static indim_status add(sharing *s, const indim_loop_node *node, const indim_effect *e, bool is_write) {
  int32_t root = indim_loop_root_of(s->program, e->storage);
  is_write = is_write && !(s->counts_writes && root == s->argument);
  if (root != (is_write ? s->result : s->argument)) {
    return INDIM_OK;
  }
  if (s->count == s->capacity) {
    size_t capacity = s->capacity == 0 ? 32 : s->capacity * 2;
    void *memory = s->accesses;
    INDIM_TRY(indim_resize(s->program->cx, &memory, s->capacity * sizeof *s->accesses, capacity * sizeof *s->accesses));
    s->accesses = memory;
    s->capacity = capacity;
  }
  s->accesses[s->count++] = (access){node, s->order, is_write, e->address, e->low, e->high};
  return INDIM_OK;
}

static indim_status add_node(sharing *s, const indim_loop_node *node) {
  indim_effect effects[INDIM_MAX_EFFECTS];
  int32_t count = indim_loop_effects(s->program, node, effects);
  s->order++;
  for (int32_t i = 0; i < count; i++) {
    INDIM_TRY(effects[i].reads ? add(s, node, &effects[i], false) : INDIM_OK);
    INDIM_TRY(effects[i].writes ? add(s, node, &effects[i], true) : INDIM_OK);
  }
  return INDIM_OK;
}

// Comparing --------------------------------------------------------------------------------------------------------------

// The innermost body that contains both nodes.
static const indim_loop_body *common_body(const indim_loop_node *a, const indim_loop_node *b) {
  const indim_loop_body *x = a->body;
  const indim_loop_body *y = b->body;
  while (x != y) {
    if (x->depth >= y->depth) {
      x = x->outer;
    } else {
      y = y->outer;
    }
  }
  return x;
}

// The loops around two accesses, innermost first.
typedef struct loops {
  int32_t count;  // -1: one is a while, which has no index, or there are too many
  indim_value_id indices[MOST_LOOPS];
  int64_t steps[MOST_LOOPS];
} loops;

static void find_loops(const indim_loop_body *body, loops *out) {
  out->count = 0;
  for (; body->owner != NULL; body = body->outer) {
    if (body->owner->kind == INDIM_NODE_IF) {
      continue;
    }
    if (body->owner->kind != INDIM_NODE_FOR || out->count == MOST_LOOPS) {
      out->count = -1;
      return;
    }
    out->indices[out->count] = body->first_parameter;
    out->steps[out->count++] = body->owner->u.loop.step;
  }
}

// Terms of an address are the indices of the loops.
static bool is_index(const void *user, indim_value_id term) {
  const loops *around = user;
  for (int32_t i = 0; i < around->count; i++) {
    if (around->indices[i] == term) {
      return true;
    }
  }
  return false;
}

static bool decompose(const indim_loop_program *program, const access *a, const loops *around, indim_affine *out) {
  return indim_affine_decompose(program, a->address, a->low, a->high, is_index, around, out);
}

// Whether intervals of |width| elements at an address are disjoint in different iterations: with the loops sorted by
// stride, each stride is at least the extent of all before it together.
static bool iterations_are_disjoint(const indim_loop_program *program, const indim_affine *at, const loops *around,
                                    int64_t width) {
  bool done[MOST_LOOPS] = {false};
  for (int32_t round = 0; round < around->count; round++) {
    int32_t least = -1;
    int64_t least_stride = INT64_MAX;
    for (int32_t i = 0; i < around->count; i++) {
      int64_t coefficient = indim_index_abs(indim_affine_coefficient(at, around->indices[i]));
      int64_t stride = 0;
      if (!indim_count_mul(coefficient, around->steps[i], &stride)) {
        return false;
      }
      if (!done[i] && stride < least_stride) {
        least = i;
        least_stride = stride;
      }
    }
    const indim_loop_value *index = &program->values[least < 0 ? 0 : around->indices[least]];
    int64_t moved = 0;
    if (least < 0 || least_stride < width || index->low == INT64_MIN || index->high == INT64_MAX ||
        !indim_count_mul((index->high - index->low) / around->steps[least], least_stride, &moved) ||
        !indim_int_add(width, moved, &width)) {
      return false;
    }
    done[least] = true;
  }
  return true;
}

// Whether no element is read after it has been written.
static bool is_ordered(const indim_loop_program *program, const access *read, const access *write) {
  loops around;
  indim_affine from;
  indim_affine to;
  find_loops(common_body(read->node, write->node), &around);
  bool is_first = read->order < write->order;
  if (around.count == 0 && is_first) {
    return true;
  }
  if (!decompose(program, read, &around, &from) || !decompose(program, write, &around, &to)) {
    return false;
  }
  bool is_disjoint = from.high < to.low || to.high < from.low;
  if (around.count <= 0) {
    // A copy onto itself has no effect.
    bool is_same = read->node == write->node && read->node->kind == INDIM_NODE_COPY &&
                   read->address == write->address && around.count == 0;
    return is_disjoint || is_same;
  }
  indim_affine both = from;
  int64_t width = 0;
  indim_affine_cover(&both, &to);
  return indim_affine_same_terms(&from, &to) && indim_int_add(both.high, 1 - both.low, &width) &&
         iterations_are_disjoint(program, &from, &around, width) && (is_first || is_disjoint);
}

static bool all_ordered(const sharing *s) {
  enum { MOST_PAIRS = 1 << 20 };
  if (s->count > 0 && s->count > MOST_PAIRS / s->count) {
    return false;
  }
  for (size_t w = 0; w < s->count; w++) {
    for (size_t r = 0; s->accesses[w].is_write && r < s->count; r++) {
      if (!s->accesses[r].is_write && !is_ordered(s->program, &s->accesses[r], &s->accesses[w])) {
        return false;
      }
    }
  }
  return true;
}

static indim_status compare(sharing *s, bool *out_may) {
  indim_status status = INDIM_OK;
  *out_may = false;
  const indim_loop_node *node = s->program->body->first;
  for (; node != NULL && status == INDIM_OK; node = indim_loop_next(node)) {
    status = add_node(s, node);
  }
  *out_may = status == INDIM_OK && all_ordered(s);
  indim_free(s->program->cx, s->accesses, s->capacity * sizeof *s->accesses);
  return status;
}

indim_status indim_loop_may_share(indim_loop_program *program, const indim_storage *argument,
                                  const indim_storage *result, bool *out_may) {
  sharing s = {.program = program,
               .argument = indim_loop_root_of(program, argument->index),
               .result = indim_loop_root_of(program, result->index)};
  *out_may = false;
  return argument->type != result->type || argument->elements != result->elements ? INDIM_OK : compare(&s, out_may);
}

// Scratch memory ---------------------------------------------------------------------------------------------------------

// The storage is read again from now on: none of its stores is non-temporal.
static void keep_in_caches(indim_loop_program *program, int32_t storage) {
  indim_loop_node *node = program->body->first;
  for (; node != NULL; node = indim_loop_next(node)) {
    if (node->kind == INDIM_NODE_STORE &&
        indim_loop_root_of(program, node->u.memory.storage) == indim_loop_root_of(program, storage)) {
      node->u.memory.non_temporal = false;
    }
  }
}

// Lets |from| reuse the buffer of |to|, if no element of |from| is accessed after |to| has written it.
static indim_status try_pair(indim_loop_program *program, indim_storage *from, const indim_storage *to, bool *out_did) {
  sharing s = {.program = program,
               .argument = from->index,
               .result = indim_loop_root_of(program, to->index),
               .counts_writes = true};
  bool may = false;
  if (from->kind != INDIM_STORAGE_SCRATCH || from->shares != 0 || s.result == from->index || from->type != to->type ||
      from->elements != to->elements || program->storages[s.result]->kind == INDIM_STORAGE_ARGUMENT) {
    return INDIM_OK;
  }
  INDIM_TRY(compare(&s, &may));
  if (may) {
    from->shares = to->index + 1;
    keep_in_caches(program, to->index);
    *out_did = true;
  }
  return INDIM_OK;
}

// Tries storages written in |body| at the same address value as an earlier load of another storage.
static indim_status try_accesses(indim_loop_program *program, const indim_loop_body *body, int32_t *tries,
                                 bool *out_did) {
  for (const indim_loop_node *load = body->first; load != NULL; load = load->next) {
    if (load->kind != INDIM_NODE_LOAD || program->storages[load->u.memory.storage]->kind != INDIM_STORAGE_SCRATCH) {
      continue;
    }
    for (const indim_loop_node *store = load->next; store != NULL && *tries > 0; store = store->next) {
      if (store->kind == INDIM_NODE_STORE && store->args[0] == load->args[0] &&
          store->u.memory.storage != load->u.memory.storage) {
        --*tries;
        INDIM_TRY(try_pair(program, program->storages[load->u.memory.storage],
                           program->storages[store->u.memory.storage], out_did));
        break;
      }
    }
  }
  return INDIM_OK;
}

static indim_status share_all(indim_loop_program *program, bool *out_did) {
  enum { MOST_TRIES = 200 };
  int32_t tries = MOST_TRIES;
  const indim_loop_body *last = NULL;
  for (const indim_loop_node *node = program->body->first; node != NULL; node = indim_loop_next(node)) {
    if (node->body != last && node->kind == INDIM_NODE_LOAD) {
      last = node->body;
      INDIM_TRY(try_accesses(program, node->body, &tries, out_did));
    }
  }
  return INDIM_OK;
}

// What sharing made idle ---------------------------------------------------------------------------------------------------

static bool writes(indim_loop_program *program, const indim_loop_node *node, int32_t root) {
  indim_effect effects[INDIM_MAX_EFFECTS];
  int32_t count = indim_loop_effects(program, node, effects);
  bool any = node->bodies[0] != NULL;
  for (int32_t i = 0; i < count; i++) {
    any = any || (effects[i].writes && indim_loop_root_of(program, effects[i].storage) == root);
  }
  return any;
}

// Whether |from| lies where |to| does in every call: a result and the argument that it may share a buffer with need not.
static bool lies_in(const indim_loop_program *program, int32_t from, int32_t to) {
  while (from != to && program->storages[from]->kind == INDIM_STORAGE_SCRATCH && program->storages[from]->shares != 0) {
    from = program->storages[from]->shares - 1;
  }
  return from == to;
}

// Whether the node stores what was loaded from the same place, which nothing has written in between.
static bool is_idle_store(indim_loop_program *program, const indim_loop_node *store) {
  enum { MOST_BETWEEN = 200 };
  const indim_loop_node *load = program->values[store->args[1]].node;
  int32_t root = indim_loop_root_of(program, store->u.memory.storage);
  bool is_same = load != NULL && load->kind == INDIM_NODE_LOAD && load->body == store->body &&
                 lies_in(program, load->u.memory.storage, store->u.memory.storage) && load->args[0] == store->args[0] &&
                 load->u.memory.lane_stride == store->u.memory.lane_stride && !load->u.memory.has_mask;
  int32_t between = 0;
  for (const indim_loop_node *node = load; is_same && node != store; node = node->next) {
    is_same = ++between <= MOST_BETWEEN && !writes(program, node, root);
  }
  return is_same;
}

static bool is_idle(indim_loop_program *program, const indim_loop_node *node) {
  if (node->kind == INDIM_NODE_COPY) {
    return node->args[0] == node->args[1] && lies_in(program, node->u.move.from, node->u.move.to);
  }
  return node->kind == INDIM_NODE_STORE && is_idle_store(program, node);
}

// A copy from a scratch array to one that now has its buffer (a product's last reshape, say) does nothing.
static void remove_idle_in(indim_loop_program *program, indim_loop_body *body) {
  indim_loop_node *last = NULL;
  for (indim_loop_node *node = body->first; node != NULL; node = node->next) {
    for (int32_t k = 0; k < 2 && node->bodies[k] != NULL; k++) {
      remove_idle_in(program, node->bodies[k]);
    }
    if (!is_idle(program, node)) {
      last = node;
    } else if (last == NULL) {
      body->first = node->next;
    } else {
      last->next = node->next;
    }
  }
  body->last = last;
}

indim_status indim_pass_buffer_sharing(indim_loop_program *program) {
  size_t bytes = (size_t)program->storage_count * sizeof(int32_t);
  void *memory = NULL;
  bool did = false;
  INDIM_TRY(indim_alloc(program->cx, bytes, &memory));
  int32_t *before = memory;
  for (int32_t i = 0; i < program->storage_count; i++) {
    before[i] = program->storages[i]->shares;
  }
  indim_status status = share_all(program, &did);
  size_t reported = indim_diagnostics_mark(program->cx);
  if (status == INDIM_OK && did && indim_loop_verify(program) != INDIM_OK) {
    // Undoes what the verifier cannot prove.
    indim_diagnostics_rollback(program->cx, reported);
    for (int32_t i = 0; i < program->storage_count; i++) {
      program->storages[i]->shares = before[i];
      program->storages[i]->root = 0;
    }
    did = false;
  }
  indim_free(program->cx, memory, bytes);
  if (status == INDIM_OK && did) {
    remove_idle_in(program, program->body);
    status = indim_pass_dce(program);
  }
  return status;
}
