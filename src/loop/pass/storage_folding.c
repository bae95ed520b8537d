// Storage folding (array contraction). A scratch array that only one loop accesses, and of which each iteration
// accesses only a window of its own, needs just one window: no iteration reads what an earlier one wrote. A parallel
// loop becomes one over pieces, with a window for each.
//
//   for i in 0..4096 parallel grain 256         for p in 0..16 parallel grain 1
//     store t[1024 i + ...]                       for i in 256 p..256 p + 256
//     ... load t[1024 i + ...]                      store t[1024 p + ...]
//                                                   ... load t[1024 p + ...]
//
// The window stays in the nearest caches, where the whole array would go to memory and back.
#include "loop/ir/effects.h"
#include "loop/pass/strip_mine.h"
#include "loop/pass/pass.h"
#include "loop/pass/footprint.h"
#include "loop/target/cost.h"

typedef struct folding {
  indim_loop_builder b;  // makes values and nodes; has no open body
  indim_loop_program *program;
  int32_t *counts;  // nodes of the whole program that access each storage
  indim_footprints *footprints;
  indim_value_id piece;  // index of the loop over pieces, 0 until it exists
} folding;

// Selection ------------------------------------------------------------------------------------------------------------

static void count_accesses(folding *c) {
  indim_effect effects[INDIM_MAX_EFFECTS];
  for (const indim_loop_node *node = c->program->body->first; node != NULL; node = indim_loop_next(node)) {
    int32_t count = indim_loop_effects(c->program, node, effects);
    for (int32_t i = 0; i < count; i++) {
      c->counts[effects[i].storage]++;
    }
  }
  for (int32_t s = 0; s < c->program->storage_count; s++) {
    c->counts[s] += c->program->storages[s]->shares != 0;  // storages that share bytes are not folded
    if (c->program->storages[s]->shares != 0) {
      c->counts[c->program->storages[s]->shares - 1]++;
    }
  }
}

static int64_t width_of(const indim_footprint *t, const indim_storage *storage) {
  int64_t line = INDIM_TARGET_LINE / indim_type_bytes(storage->type);
  return (indim_footprint_width(t) + line - 1) / line * line;
}

// Whether the array becomes smaller when folded to one window for each of |pieces|.
static bool is_profitable(const folding *c, const indim_footprint *t, int64_t step, int64_t pieces) {
  const indim_storage *storage = c->program->storages[t->storage];
  int64_t bytes = indim_type_bytes(storage->type);
  int64_t moved = 0;
  if (storage->kind != INDIM_STORAGE_SCRATCH || storage->shares != 0 || c->counts[t->storage] != t->count ||
      !t->is_known || !t->reads || !t->writes || t->outer.count > 0 || t->stride <= 0 ||
      !indim_index_mul(t->stride, step, &moved) || indim_footprint_width(t) > moved ||
      storage->elements < INDIM_COST_FOLDED_ARRAY / bytes) {
    return false;
  }
  int64_t width = width_of(t, storage);
  return width <= INDIM_COST_FOLDED_WINDOW / bytes && pieces <= storage->elements / width / 2;
}

// The address in the folded array: without the terms of the loop's index and of the window's begin, plus |width| times
// the piece. False when it has too many terms.
static bool fold_address(const folding *c, indim_value_id address, const indim_footprint *t, int64_t width,
                         indim_affine *out) {
  enum { MOST_TERMS = 16 };
  indim_affine_of(c->program, address, out);
  int64_t stride = indim_affine_remove(out, c->footprints->index);
  return out->count <= MOST_TERMS && indim_affine_widen(out, -1, t->outer.low, t->outer.low) &&
         indim_affine_add(out, c->footprints->index, stride - t->stride) &&
         (c->piece == 0 || indim_affine_add(out, c->piece, width));
}

// Whether an access is at a scalar address that is inside one window by its range.
static bool is_in_window(const folding *c, const indim_effect *e, const indim_footprint *t) {
  indim_affine address;
  int64_t low = 0;
  int64_t high = 0;
  if (c->program->values[e->address].lanes > 1 || e->low < 0 || !fold_address(c, e->address, t, 0, &address)) {
    return false;
  }
  indim_affine_range(c->program, &address, &low, &high);
  return low >= 0 && indim_index_add_saturated(high, e->high) < indim_footprint_width(t);
}

// Whether all accesses are loads and stores at scalar addresses that are inside one window by their ranges.
static bool all_in_window(const folding *c, const indim_loop_body *body, const indim_footprint *t) {
  indim_effect effects[INDIM_MAX_EFFECTS];
  for (const indim_loop_node *node = body->first; node != NULL; node = indim_loop_next_in(body, node)) {
    bool is_access = node->kind == INDIM_NODE_LOAD || node->kind == INDIM_NODE_STORE;
    int32_t count = indim_loop_effects(c->program, node, effects);
    for (int32_t i = 0; i < count; i++) {
      if (effects[i].storage == t->storage && !(is_access && is_in_window(c, &effects[i], t))) {
        return false;
      }
    }
  }
  return true;
}

// Building -------------------------------------------------------------------------------------------------------------

// Replaces the address of the node at |*link| by the folded one, inserted before it. Returns the link to the node.
static indim_loop_node **rewrite_access(folding *c, indim_loop_node **link, const indim_footprint *t, int64_t width) {
  indim_loop_node *node = *link;
  indim_node_list list = {.body = node->body};
  indim_affine sum;
  if (!fold_address(c, node->args[0], t, width, &sum)) {
    indim_loop_refuse(&c->b, "an address with too many terms to fold");
  }
  indim_value_id address = indim_nodes_put_sum(&c->b, &list, &sum);
  node->args[0] = c->b.status == INDIM_OK ? address : node->args[0];
  return indim_nodes_insert(&list, link);
}

static void rewrite_body(folding *c, indim_loop_body *body, const indim_footprint *t, int64_t width) {
  for (indim_loop_node **link = &body->first; *link != NULL && c->b.status == INDIM_OK; link = &(*link)->next) {
    bool is_access = (*link)->kind == INDIM_NODE_LOAD || (*link)->kind == INDIM_NODE_STORE;
    if (is_access && (*link)->u.memory.storage == t->storage) {
      link = rewrite_access(c, link, t, width);
    }
    for (int32_t k = 0; k < 2 && (*link)->bodies[k] != NULL; k++) {
      rewrite_body(c, (*link)->bodies[k], t, width);
    }
  }
}

static void fold_storages_of(folding *c, indim_loop_node **link) {
  indim_loop_node *loop = *link;
  int64_t steps = indim_loop_steps(c->program, loop);
  indim_footprints_of(c->program, loop, c->footprints);
  if (c->footprints->is_opaque || steps == 0) {
    return;
  }
  int64_t from = c->program->values[loop->args[0]].low;
  int64_t to = c->program->values[loop->args[1]].low;
  int64_t grain = loop->u.loop.grain;
  int64_t pieces = loop->u.loop.is_parallel ? (steps - 1) / grain + 1 : 1;
  if (pieces > 1 && steps % grain != 0 && loop->u.loop.step != 1) {
    return;  // the range of the last index would be lost
  }
  c->piece = 0;
  for (int32_t i = 0; i < c->footprints->count && c->b.status == INDIM_OK; i++) {
    const indim_footprint *t = &c->footprints->list[i];
    if (!is_profitable(c, t, loop->u.loop.step, pieces) || !all_in_window(c, loop->bodies[0], t)) {
      continue;
    }
    if (loop->u.loop.is_parallel) {
      c->piece = indim_strip_mine_pieces(&c->b, link, from, to);
    }
    indim_storage *storage = c->program->storages[t->storage];
    int64_t width = width_of(t, storage);
    rewrite_body(c, loop->bodies[0], t, width);
    storage->elements = width * (c->piece != 0 ? pieces : 1);
  }
}

indim_status indim_pass_storage_folding(indim_loop_program *program) {
  folding c = {.program = program};
  size_t bytes = sizeof(indim_footprints) + ((size_t)program->storage_count + 1) * sizeof(int32_t);
  void *memory = NULL;
  INDIM_TRY(indim_alloc_zeroed(program->cx, bytes, &memory));
  c.footprints = memory;
  c.counts = (int32_t *)(void *)(c.footprints + 1);
  indim_loop_builder_init(&c.b, program);
  count_accesses(&c);
  for (indim_loop_node **link = &program->body->first; *link != NULL && c.b.status == INDIM_OK; link = &(*link)->next) {
    if ((*link)->kind == INDIM_NODE_FOR && (*link)->arg_count == 2) {
      fold_storages_of(&c, link);
    }
  }
  indim_status status = c.b.status;
  indim_loop_builder_deinit(&c.b);
  indim_free(program->cx, memory, bytes);
  return status;
}
