// Kernels that fill one array: computed element by element, or copied.
#include <string.h>

#include "loop/element.h"

typedef struct filling {
  indim_flow_item *item;
  const indim_location *at;
} filling;

static void fill_body(indim_nest *nest, indim_kernel *k, const indim_coord *index) {
  const filling *f = nest->user;
  indim_lval value = indim_element_compute(k, f->item, index);
  if (!indim_lower_failed(k->l)) {
    indim_store_at(k, f->item->shape, f->at, index, value);
  }
}

// Whether what is stored passes the caches: a result that nobody reads again, too large for them together with what it is
// made of.
static bool worth_streaming(const indim_nest *nest, const indim_flow_item *item, const indim_location *at) {
  int64_t cache = nest->l->target->cache_bytes[2] > 0 ? nest->l->target->cache_bytes[2] : INT64_C(16) << 20;
  int64_t bytes = indim_shape_element_count(item->shape) * indim_type_bytes(item->shape->type);
  int64_t total = bytes;
  for (int32_t i = 0; i < nest->list->count; i++) {
    const indim_access *access = &nest->list->accesses[i];
    if (access->item != NULL) {
      total += access->storage->elements * indim_type_bytes(access->storage->type);
    }
  }
  return at->storage->kind == INDIM_STORAGE_RESULT && item->use_count == 1 && bytes >= cache * 3 / 4 &&
         total >= 2 * cache && !indim_lower_without(nest->l, INDIM_DECISION_STREAM);
}

static void run_filling(indim_lowering *l, indim_flow_item *item, const indim_location *at, int64_t cost,
                        indim_nest_body *body) {
  indim_access_list *list = indim_lower_alloc(l, 1, sizeof *list);
  filling f = {item, at};
  indim_nest nest = {.l = l, .rank = item->shape->rank, .cost = cost, .body = body, .user = &f};
  if (list == NULL || indim_lower_failed(l) || indim_shape_element_count(item->shape) == 0) {
    return;
  }
  memcpy(nest.sizes, item->shape->sizes, (size_t)nest.rank * sizeof *nest.sizes);
  for (int32_t d = 0; d < nest.rank && item->row_dims > 0; d++) {
    nest.group[d] = d < nest.rank - item->row_dims ? 1 : 2;
  }
  nest.may_thread = true;
  indim_storage *written[] = {at->storage};
  indim_loop_kernel_begin(&l->b, written, 1);
  indim_nest_survey(&nest, list);
  indim_nest_choose(&nest, at->strides);
  indim_nest_choose_turning(&nest);
  nest.streams = worth_streaming(&nest, item, at);
  indim_nest_run(&nest);
}

void indim_kernel_fill(indim_lowering *l, indim_flow_item *item, const indim_location *at) {
  run_filling(l, item, at, item->cost, fill_body);
}

static void copy_body(indim_nest *nest, indim_kernel *k, const indim_coord *index) {
  const filling *f = nest->user;
  indim_lval value = indim_value_at_lanes(k, f->item, index, 0);
  if (!indim_lower_failed(k->l)) {
    indim_store_at(k, f->item->shape, f->at, index, value);
  }
}

// Both arrays lie one element behind the other in the same order: bytes are moved.
static bool copy_bytes(indim_lowering *l, const indim_flow_item *item, const indim_location *at) {
  const indim_location *from = &item->place;
  const indim_shape *shape = item->shape;
  if (from->storage == NULL || at->tiled != NULL || !indim_location_is_dense(shape, from)) {
    return false;
  }
  for (int32_t d = 0; d < shape->rank; d++) {
    if (shape->sizes[d] != 1 && at->strides[d] != from->strides[d]) {
      return false;
    }
  }
  indim_loop_builder *b = &l->b;
  indim_lval to_address = indim_location_start(l, at);
  indim_lval from_address = indim_location_start(l, from);
  indim_storage *written[] = {at->storage};
  indim_loop_kernel_begin(b, written, 1);
  indim_loop_copy(b, at->storage, to_address, from->storage, from_address, indim_shape_element_count(shape));
  return true;
}

// A tile element by element: the layout has tiles.
static void copy_elements(indim_lowering *l, indim_flow_item *item, const indim_location *at) {
  int64_t index[INDIM_MAX_RANK] = {0};
  indim_storage *written[] = {at->storage};
  indim_loop_kernel_begin(&l->b, written, 1);
  indim_element_forget(l);
  indim_kernel k = {.l = l, .lanes = 1};
  do {
    indim_coord coords[INDIM_MAX_RANK];
    for (int32_t d = 0; d < item->shape->rank; d++) {
      coords[d] = (indim_coord){indim_loop_index(&l->b, index[d]), 0};
    }
    indim_store_at(&k, item->shape, at, coords, indim_value_at(&k, item, coords, 0));
  } while (indim_index_next(item->shape, index) && !indim_lower_failed(l));
}

void indim_kernel_copy(indim_lowering *l, indim_flow_item *item, const indim_location *at) {
  bool is_constant = item->kind == INDIM_FLOW_OP && item->instr->op == INDIM_OP_CONSTANT;
  if (indim_lower_failed(l) || indim_shape_element_count(item->shape) == 0 || at->storage == NULL) {
    return;
  }
  if (item->has_tile && item->place.storage == NULL) {
    if (at->tiled != NULL) {
      copy_elements(l, item, at);
      return;
    }
    indim_lval address = indim_location_start(l, at);
    indim_storage *written[] = {at->storage};
    indim_loop_kernel_begin(&l->b, written, 1);
    indim_tile_store(&l->b, &item->tile, at->storage, address, at->strides);
  } else if (is_constant || !copy_bytes(l, item, at)) {
    run_filling(l, item, at, 0, copy_body);
  }
}
