// Footprints of a loop's iterations: the addresses of its accesses decomposed into the loop's index, loop-invariant
// values, and a window for what varies inside.
#include "loop/pass/footprint.h"

#include <string.h>

#include "loop/ir/build.h"

// Terms of an address are the loop's index and loop-invariant values.
static bool is_fixed(const void *user, indim_value_id v) {
  const indim_footprints *t = user;
  const indim_loop_value *value = &t->program->values[v];
  const indim_loop_body *body = value->body;
  while (body != NULL && body != t->loop->bodies[0]) {
    body = body->outer;
  }
  return v == t->index || (body == NULL && value->low != value->high);
}

static bool decompose(const indim_footprints *t, const indim_effect *e, indim_footprint *out) {
  int64_t high = e->high > e->low ? e->high : e->low;
  bool is_known = indim_affine_decompose(t->program, e->address, e->low, high, is_fixed, t, &out->outer);
  out->stride = is_known ? indim_affine_remove(&out->outer, t->index) : 0;
  return is_known;
}

indim_footprint *indim_footprints_find(indim_footprints *t, int32_t storage) {
  storage = indim_loop_root_of(t->program, storage);
  for (int32_t i = 0; i < t->count; i++) {
    if (t->list[i].storage == storage) {
      return &t->list[i];
    }
  }
  return NULL;
}

bool indim_footprint_unite(indim_footprint *to, const indim_footprint *other) {
  if (!to->is_known || !other->is_known || to->stride != other->stride ||
      !indim_affine_same_terms(&to->outer, &other->outer)) {
    return false;
  }
  indim_affine_cover(&to->outer, &other->outer);
  return true;
}

bool indim_footprints_miss(indim_footprints *t, const indim_effect *e) {
  const indim_footprint *x = indim_footprints_find(t, e->storage);
  if (x == NULL || !(x->writes || e->writes)) {
    return true;
  }
  const indim_storage *own = t->program->storages[e->storage];
  indim_footprint one = {0};
  indim_affine all = x->outer;
  const indim_loop_value *index = &t->program->values[t->index];
  bool is_known = x->is_known && own->type == t->program->storages[x->storage]->type && decompose(t, e, &one) &&
                  one.stride == 0 && indim_affine_same_terms(&all, &one.outer) &&
                  indim_affine_widen(&all, x->stride, index->low, index->high);
  return is_known && (one.outer.low > all.high || one.outer.high < all.low);
}

int64_t indim_footprint_width(const indim_footprint *t) {
  int64_t distance = indim_index_add_saturated(t->outer.high, indim_index_mul_saturated(t->outer.low, -1));
  return indim_index_add_saturated(distance, 1);
}

static void add_effect(indim_footprints *t, const indim_effect *e) {
  indim_footprint one = {
      .storage = indim_loop_root_of(t->program, e->storage), .count = 1, .reads = e->reads, .writes = e->writes};
  one.is_known =
      decompose(t, e, &one) && t->program->storages[e->storage]->type == t->program->storages[one.storage]->type;
  indim_footprint *existing = indim_footprints_find(t, one.storage);
  if (existing == NULL) {
    if (t->count == INDIM_FOOTPRINT_STORAGES) {
      t->is_opaque = true;
      return;
    }
    t->list[t->count++] = one;
    return;
  }
  existing->count++;
  existing->reads = existing->reads || one.reads;
  existing->writes = existing->writes || one.writes;
  existing->is_known = indim_footprint_unite(existing, &one);
}

static void collect(indim_footprints *t, const indim_loop_body *body) {
  indim_effect effects[INDIM_MAX_EFFECTS];
  for (const indim_loop_node *node = body->first; node != NULL && !t->is_opaque;
       node = indim_loop_next_in(body, node)) {
    // Functions of the caller's may do more than write to their arrays, and keep their order.
    t->is_opaque = node->kind == INDIM_NODE_COPY || node->kind == INDIM_NODE_WHILE ||
                   (node->kind == INDIM_NODE_HOST && node->u.host.service == INDIM_HOST_CUSTOM_CALL);
    int32_t count = indim_loop_effects(t->program, node, effects);
    for (int32_t i = 0; i < count && !t->is_opaque; i++) {
      add_effect(t, &effects[i]);
    }
  }
}

void indim_footprints_of(indim_loop_program *program, const indim_loop_node *loop, indim_footprints *out) {
  memset(out, 0, sizeof *out);
  out->program = program;
  out->loop = loop;
  out->index = loop->bodies[0]->first_parameter;
  collect(out, loop->bodies[0]);
}
