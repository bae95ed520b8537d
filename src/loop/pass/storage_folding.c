// Contracts arrays. Of an array in scratch memory that one loop alone touches, and each of its steps only a part of its own,
// one part is enough: what a step wrote, no later step reads. A parallel loop becomes one over pieces, with a part for each.
//
//   for i in 0..4096 parallel grain 256         for p in 0..16 parallel grain 1
//     store t[1024 i + ...]                       for i in 256 p..256 p + 256
//     ... load t[1024 i + ...]                      store t[1024 p + ...]
//                                                   ... load t[1024 p + ...]
//
// The part stays in the nearest caches, where the whole array went to memory and back.
#include "loop/ir/effects.h"
#include "loop/pass/strip_mine.h"
#include "loop/pass/pass.h"
#include "loop/pass/footprint.h"

enum { MANY_BYTES = 1 << 16, PART_BYTES = 1 << 16, LINE = 64 };

typedef struct contraction {
  indim_loop_builder b;  // makes values and nodes; knows no open body
  indim_loop_program *program;
  int32_t *counts;  // nodes of the whole program that touch each storage
  indim_footprints *touches;
  indim_value_id piece;  // index of the loop over pieces, 0 before it is there
} contraction;

// Choosing -------------------------------------------------------------------------------------------------------------

static void count_footprints(contraction *c) {
  indim_effect effects[INDIM_MAX_EFFECTS];
  for (const indim_loop_node *node = c->program->body->first; node != NULL; node = indim_loop_next(node)) {
    int32_t count = indim_loop_effects(c->program, node, effects);
    for (int32_t i = 0; i < count; i++) {
      c->counts[effects[i].storage]++;
    }
  }
  for (int32_t s = 0; s < c->program->storage_count; s++) {
    c->counts[s] += c->program->storages[s]->shares != 0;  // whose bytes others have is left alone
    if (c->program->storages[s]->shares != 0) {
      c->counts[c->program->storages[s]->shares - 1]++;
    }
  }
}

static int64_t width_of(const indim_footprint *t, const indim_storage *storage) {
  int64_t line = LINE / indim_type_bytes(storage->type);
  return (indim_footprint_width(t) + line - 1) / line * line;
}

// Whether the array becomes smaller by being contracted to a part for each of |pieces|.
static bool is_worth_it(const contraction *c, const indim_footprint *t, int64_t step, int64_t pieces) {
  const indim_storage *storage = c->program->storages[t->storage];
  int64_t bytes = indim_type_bytes(storage->type);
  int64_t moved = 0;
  if (storage->kind != INDIM_STORAGE_SCRATCH || storage->shares != 0 || c->counts[t->storage] != t->count ||
      !t->is_known || !t->reads || !t->writes || t->outer.count > 0 || t->stride <= 0 ||
      !indim_index_mul(t->stride, step, &moved) || indim_footprint_width(t) > moved ||
      storage->elements < MANY_BYTES / bytes) {
    return false;
  }
  int64_t width = width_of(t, storage);
  return width <= PART_BYTES / bytes && pieces <= storage->elements / width / 2;
}

// An address without what the loop's index and the window's beginning add to it, and with |width| times the piece. False when
// it has too many terms.
static bool take_index_out(const contraction *c, indim_value_id address, const indim_footprint *t, int64_t width,
                           indim_affine *out) {
  enum { MOST_TERMS = 16 };
  indim_affine_of(c->program, address, out);
  int64_t stride = indim_affine_remove(out, c->touches->index);
  return out->count <= MOST_TERMS && indim_affine_widen(out, -1, t->outer.low, t->outer.low) &&
         indim_affine_add(out, c->touches->index, stride - t->stride) &&
         (c->piece == 0 || indim_affine_add(out, c->piece, width));
}

// Whether a load or store is at an address of a single lane, and by its range inside one part.
static bool has_plain_address(const contraction *c, const indim_effect *e, const indim_footprint *t) {
  indim_affine address;
  int64_t low = 0;
  int64_t high = 0;
  if (c->program->values[e->address].lanes > 1 || e->low < 0 || !take_index_out(c, e->address, t, 0, &address)) {
    return false;
  }
  indim_affine_range(c->program, &address, &low, &high);
  return low >= 0 && indim_index_add_saturated(high, e->high) < indim_footprint_width(t);
}

// Whether all accesses are loads and stores at addresses of single lanes, and by their ranges inside one part.
static bool has_plain_addresses(const contraction *c, const indim_loop_body *body, const indim_footprint *t) {
  indim_effect effects[INDIM_MAX_EFFECTS];
  for (const indim_loop_node *node = body->first; node != NULL; node = indim_loop_next_in(body, node)) {
    bool is_access = node->kind == INDIM_NODE_LOAD || node->kind == INDIM_NODE_STORE;
    int32_t count = indim_loop_effects(c->program, node, effects);
    for (int32_t i = 0; i < count; i++) {
      if (effects[i].storage == t->storage && !(is_access && has_plain_address(c, &effects[i], t))) {
        return false;
      }
    }
  }
  return true;
}

// Building -------------------------------------------------------------------------------------------------------------

// Gives the node at |*link| its address in the part, which is put in front of it. Answers the link to the node.
static indim_loop_node **rewrite(contraction *c, indim_loop_node **link, const indim_footprint *t, int64_t width) {
  indim_loop_node *node = *link;
  indim_node_list list = {.body = node->body};
  indim_affine sum;
  if (!take_index_out(c, node->args[0], t, width, &sum)) {
    indim_loop_refuse(&c->b, "an address that is no part of an array");
  }
  indim_value_id address = indim_nodes_put_sum(&c->b, &list, &sum);
  node->args[0] = c->b.status == INDIM_OK ? address : node->args[0];
  return indim_nodes_insert(&list, link);
}

static void rewrite_body(contraction *c, indim_loop_body *body, const indim_footprint *t, int64_t width) {
  for (indim_loop_node **link = &body->first; *link != NULL && c->b.status == INDIM_OK; link = &(*link)->next) {
    bool is_access = (*link)->kind == INDIM_NODE_LOAD || (*link)->kind == INDIM_NODE_STORE;
    if (is_access && (*link)->u.memory.storage == t->storage) {
      link = rewrite(c, link, t, width);
    }
    for (int32_t k = 0; k < 2 && (*link)->bodies[k] != NULL; k++) {
      rewrite_body(c, (*link)->bodies[k], t, width);
    }
  }
}

static void fold_storage_of_loop(contraction *c, indim_loop_node **link) {
  indim_loop_node *loop = *link;
  int64_t steps = indim_loop_steps(c->program, loop);
  indim_footprints_of(c->program, loop, c->touches);
  if (c->touches->is_opaque || steps == 0) {
    return;
  }
  int64_t from = c->program->values[loop->args[0]].low;
  int64_t to = c->program->values[loop->args[1]].low;
  int64_t grain = loop->u.loop.grain;
  int64_t pieces = loop->u.loop.is_parallel ? (steps - 1) / grain + 1 : 1;
  if (pieces > 1 && steps % grain != 0 && loop->u.loop.step != 1) {
    return;  // the last index would no longer be known
  }
  c->piece = 0;
  for (int32_t i = 0; i < c->touches->count && c->b.status == INDIM_OK; i++) {
    const indim_footprint *t = &c->touches->list[i];
    if (!is_worth_it(c, t, loop->u.loop.step, pieces) || !has_plain_addresses(c, loop->bodies[0], t)) {
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
  contraction c = {.program = program};
  size_t bytes = sizeof(indim_footprints) + ((size_t)program->storage_count + 1) * sizeof(int32_t);
  void *memory = NULL;
  INDIM_TRY(indim_alloc_zeroed(program->cx, bytes, &memory));
  c.touches = memory;
  c.counts = (int32_t *)(void *)(c.touches + 1);
  indim_loop_builder_init(&c.b, program);
  count_footprints(&c);
  for (indim_loop_node **link = &program->body->first; *link != NULL && c.b.status == INDIM_OK; link = &(*link)->next) {
    if ((*link)->kind == INDIM_NODE_FOR && (*link)->arg_count == 2) {
      fold_storage_of_loop(&c, link);
    }
  }
  indim_status status = c.b.status;
  indim_loop_builder_deinit(&c.b);
  indim_free(program->cx, memory, bytes);
  return status;
}
