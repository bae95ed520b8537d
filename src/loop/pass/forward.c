// Store-to-load forwarding. Where fused loops write an array and then read it, the value is taken instead of the element in memory,
// and if that were all readers, the array is gone:
//
//   for i in 0..4096 step 16                    for i in 0..4096 step 16
//     ... v3: f32x16 = sine v2                    ... v3: f32x16 = sine v2
//     store t[i], v3
//     v8: f32x16 = load t[i]
//     v9: f32x16 = multiply v8, v8                v9: f32x16 = multiply v3, v3
//
// Of a wider value some lanes are taken.
#include "loop/ir/affine.h"
#include "loop/ir/rewrite.h"
#include "loop/pass/pass.h"

enum { MOST_STORES = 64 };  // that are remembered

typedef struct forwarding {
  indim_loop_program *program;
  indim_loop_builder b;  // keeps the first error
  indim_arena arena;
  const bool *is_shared;    // whether a storage has bytes in common with another
  indim_value_id *renamed;  // what a load's result is; 0: itself
  const indim_loop_node *stores[MOST_STORES];
  int32_t count;
} forwarding;

// Elements from the first lane to the last one, or more; at least 1.
static int64_t span_of(const forwarding *f, const indim_loop_node *store) {
  int64_t stride = store->u.memory.lane_stride < 0 ? -store->u.memory.lane_stride : store->u.memory.lane_stride;
  return (f->program->values[store->args[1]].lanes - 1) * stride + 1;
}

// Whether two stores to one storage certainly write different elements.
static bool are_apart(const forwarding *f, const indim_loop_node *x, const indim_loop_node *y) {
  int64_t distance = 0;
  bool is_plain = f->program->values[x->args[0]].lanes == 1 && f->program->values[y->args[0]].lanes == 1 &&
                  x->u.memory.lane_stride >= 0 && y->u.memory.lane_stride >= 0;
  return is_plain && indim_affine_distance(f->program, x->args[0], y->args[0], &distance) &&
         (distance >= span_of(f, x) || indim_index_mul_saturated(distance, -1) >= span_of(f, y));
}

static void note_store(forwarding *f, const indim_loop_node *store) {
  int32_t kept = 0;
  for (int32_t i = 0; i < f->count; i++) {
    bool is_other = f->stores[i]->u.memory.storage != store->u.memory.storage || are_apart(f, f->stores[i], store);
    f->stores[kept] = f->stores[i];
    kept += is_other ? 1 : 0;
  }
  f->count = kept;
  bool is_plain = !store->u.memory.has_mask && !f->is_shared[store->u.memory.storage] &&
                  f->program->values[store->args[0]].lanes == 1;
  if (is_plain) {
    f->count = f->count == MOST_STORES ? 0 : f->count;
    f->stores[f->count++] = store;
  }
}

// The stored value that a load has from lane |*out_first| on; 0: unknown.
static indim_value_id value_of(const forwarding *f, const indim_loop_node *load, int64_t *out_first) {
  const indim_loop_value *result = &f->program->values[load->first_result];
  if (load->u.memory.has_mask || load->u.memory.fresh || f->program->values[load->args[0]].lanes != 1) {
    return 0;
  }
  for (int32_t i = f->count - 1; i >= 0; i--) {
    const indim_loop_node *store = f->stores[i];
    const indim_loop_value *stored = &f->program->values[store->args[1]];
    bool is_alike = store->u.memory.storage == load->u.memory.storage && stored->type == result->type &&
                    store->u.memory.lane_stride == load->u.memory.lane_stride &&
                    indim_affine_distance(f->program, store->args[0], load->args[0], out_first);
    bool is_whole = is_alike && *out_first == 0 && stored->lanes == result->lanes;
    bool is_part =
        is_alike && store->u.memory.lane_stride == 1 && *out_first >= 0 && *out_first <= stored->lanes - result->lanes;
    if (is_whole || is_part) {
      indim_value_id value = store->args[1];
      return f->renamed[value] != 0 ? f->renamed[value] : value;
    }
  }
  return 0;
}

// Makes a load the lanes from |first| on of a value: a narrower loop reads what a wider one has stored.
static void take_lanes(forwarding *f, indim_loop_node *load, indim_value_id value, int64_t first) {
  int32_t lanes = f->program->values[load->first_result].lanes;
  if (lanes == 1) {
    load->kind = INDIM_NODE_EXTRACT;
    load->u.lane = (int32_t)first;
  } else {
    int32_t *map = indim_loop_alloc(&f->b, (size_t)lanes, sizeof *map);
    for (int32_t k = 0; k < lanes && map != NULL; k++) {
      map[k] = (int32_t)first + k;
    }
    if (map == NULL) {
      return;
    }
    load->kind = INDIM_NODE_SHUFFLE;
    load->u.map = map;
  }
  load->args[0] = value;
}

static void forward_load(forwarding *f, indim_loop_node *load) {
  int64_t first = 0;
  indim_value_id value = value_of(f, load, &first);
  if (value == 0) {
    return;
  }
  if (f->program->values[value].lanes == f->program->values[load->first_result].lanes) {
    f->renamed[load->first_result] = value;
  } else {
    take_lanes(f, load, value, first);
  }
}

static void forward_in(forwarding *f, indim_loop_body *body) {
  f->count = 0;
  for (indim_loop_node *node = body->first; node != NULL; node = node->next) {
    indim_node_group group = indim_node_group_of(node->kind);
    if (node->kind == INDIM_NODE_STORE) {
      note_store(f, node);
    } else if (node->kind == INDIM_NODE_LOAD) {
      forward_load(f, node);
    } else if (group != INDIM_GROUP_VALUE && group != INDIM_GROUP_LOAD) {
      f->count = 0;
    }
    for (int32_t k = 0; k < 2 && node->bodies[k] != NULL; k++) {
      forward_in(f, node->bodies[k]);
      f->count = 0;
    }
  }
}

indim_status indim_pass_forward(indim_loop_program *program) {
  forwarding f = {.program = program};
  indim_loop_builder_init(&f.b, program);
  indim_arena_init(&f.arena, program->cx);
  f.renamed = indim_loop_scratch(&f.b, &f.arena, program->value_count, sizeof *f.renamed);
  f.is_shared = indim_loop_shared_storages(&f.b, &f.arena);
  if (f.b.status == INDIM_OK) {
    forward_in(&f, program->body);
    indim_loop_rename(program->body, 0, program->value_count, f.renamed);
  }
  indim_arena_deinit(&f.arena);
  indim_loop_builder_deinit(&f.b);
  INDIM_TRY(f.b.status);
  return indim_pass_dce(program);
}
