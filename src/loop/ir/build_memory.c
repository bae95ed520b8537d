// Loads, stores, copies and calls of the host. A load of a storage that the current region does not write may be
// hoisted out of loops and shared; one that the region writes stays where it is built. Hoisting is safe only when the
// address is inside the storage by its range: a loop that runs zero times must not read out of bounds.
#include "loop/ir/build.h"

static bool can_write(indim_loop_builder *b, indim_storage *storage) {
  if (b->status != INDIM_OK) {
    return false;
  }
  if (storage->kind == INDIM_STORAGE_CONSTANT || (storage->kind == INDIM_STORAGE_ARGUMENT && !storage->is_donated)) {
    indim_loop_refuse(b, "storage %s may not be written", storage->name);
  } else if (!indim_loop_is_written(b, storage)) {
    indim_loop_refuse(b, "storage %s is written in a region that did not declare it", storage->name);
  }
  return b->status == INDIM_OK;
}

// Constants and read-only arguments do not change while the program runs.
static bool is_constant(const indim_storage *storage) {
  return storage->kind == INDIM_STORAGE_CONSTANT || (storage->kind == INDIM_STORAGE_ARGUMENT && !storage->is_donated);
}

// The outermost body that a load of a storage that is not written may be hoisted to.
static indim_loop_body *hoisting_target(const indim_loop_builder *b, const indim_loop_node *node) {
  int32_t depth = b->load_floor;
  for (int32_t i = 0; i < node->arg_count; i++) {
    int32_t own = b->program->values[node->args[i]].body->depth;
    depth = own > depth ? own : depth;
  }
  indim_loop_body *body = b->body;
  while (body->depth > depth && body->owner->kind != INDIM_NODE_IF) {
    body = body->outer;
  }
  return body;
}

static indim_value_id load(indim_loop_builder *b, indim_storage *storage, int32_t lanes, int64_t lane_stride,
                           int32_t count, const indim_value_id *args) {
  if (!indim_loop_check_in_scope(b, count, args)) {
    return 0;
  }
  indim_loop_draft draft = indim_loop_draft_of(INDIM_NODE_LOAD, storage->type, lanes, count, args);
  const indim_loop_value *address = indim_loop_value_of(b, args[0]);
  draft.node.u.memory.storage = storage->index;
  draft.node.u.memory.lane_stride = lanes == 1 || address->lanes > 1 ? 1 : lane_stride;
  draft.node.u.memory.has_mask = count == 3;
  if (!indim_loop_is_written(b, storage)) {
    bool is_safe = count == 3 || indim_loop_is_inside(address, storage, address->lanes > 1 ? 1 : lanes, lane_stride);
    draft.region = is_constant(storage) ? 0 : b->region;
    return indim_loop_intern(b, &draft, is_safe ? hoisting_target(b, &draft.node) : b->body);
  }
  indim_loop_node *node = indim_loop_new_node(b, INDIM_NODE_LOAD, count, args);
  indim_value_id value = indim_loop_new_value(b, storage->type, lanes, b->body);
  if (node == NULL || value == 0) {
    return 0;
  }
  node->u = draft.node.u;
  node->u.memory.fresh = true;
  node->first_result = value;
  node->result_count = 1;
  b->program->values[value].node = node;
  indim_loop_append(b->body, node);
  return value;
}

indim_value_id indim_loop_load(indim_loop_builder *b, indim_storage *storage, indim_value_id address, int32_t lanes,
                               int64_t lane_stride) {
  return load(b, storage, lanes, lane_stride, 1, &address);
}

indim_value_id indim_loop_load_masked(indim_loop_builder *b, indim_storage *storage, indim_value_id address,
                                      int64_t lane_stride, indim_value_id mask, indim_value_id fill) {
  indim_value_id args[3] = {address, mask, fill};
  if (!indim_loop_check_in_scope(b, 3, args)) {
    return 0;
  }
  return load(b, storage, indim_loop_value_of(b, mask)->lanes, lane_stride, 3, args);
}

// Appends a node without results at the insertion point.
static indim_loop_node *append_effect(indim_loop_builder *b, indim_node_kind kind, int32_t count,
                                      const indim_value_id *args) {
  if (!indim_loop_check_in_scope(b, count, args)) {
    return NULL;
  }
  indim_loop_node *node = indim_loop_new_node(b, kind, count, args);
  if (node != NULL) {
    indim_loop_append(b->body, node);
  }
  return node;
}

static void store(indim_loop_builder *b, indim_storage *storage, int32_t count, const indim_value_id *args,
                  int64_t lane_stride, bool non_temporal) {
  if (!can_write(b, storage)) {
    return;
  }
  indim_loop_node *node = append_effect(b, INDIM_NODE_STORE, count, args);
  if (node != NULL) {
    bool is_plain = indim_loop_value_of(b, args[1])->lanes == 1 || indim_loop_value_of(b, args[0])->lanes > 1;
    node->u.memory.storage = storage->index;
    node->u.memory.lane_stride = is_plain ? 1 : lane_stride;
    node->u.memory.has_mask = count == 3;
    node->u.memory.non_temporal = non_temporal;
  }
}

void indim_loop_store(indim_loop_builder *b, indim_storage *storage, indim_value_id address, indim_value_id value,
                      int64_t lane_stride, bool non_temporal) {
  indim_value_id args[2] = {address, value};
  store(b, storage, 2, args, lane_stride, non_temporal);
}

void indim_loop_store_masked(indim_loop_builder *b, indim_storage *storage, indim_value_id address,
                             indim_value_id value, int64_t lane_stride, indim_value_id mask) {
  indim_value_id args[3] = {address, value, mask};
  store(b, storage, 3, args, lane_stride, false);
}

void indim_loop_copy(indim_loop_builder *b, indim_storage *to, indim_value_id to_address, indim_storage *from,
                     indim_value_id from_address, int64_t count) {
  indim_value_id args[2] = {to_address, from_address};
  indim_loop_node *node = can_write(b, to) ? append_effect(b, INDIM_NODE_COPY, 2, args) : NULL;
  if (node != NULL) {
    node->u.move.to = to->index;
    node->u.move.from = from->index;
    node->u.move.count = count;
  }
}

void indim_loop_prefetch(indim_loop_builder *b, const indim_storage *storage, indim_value_id address, int64_t distance,
                         int64_t count) {
  indim_loop_node *node = append_effect(b, INDIM_NODE_PREFETCH, 1, &address);
  if (node != NULL) {
    node->u.prefetch.storage = storage->index;
    node->u.prefetch.distance = distance;
    node->u.prefetch.count = count;
  }
}

void indim_loop_fill(indim_loop_builder *b, indim_storage *to, indim_value_id to_address, indim_value_id value,
                     int64_t count) {
  indim_value_id args[2] = {to_address, value};
  indim_loop_node *node = can_write(b, to) ? append_effect(b, INDIM_NODE_FILL, 2, args) : NULL;
  if (node != NULL) {
    node->u.move.to = to->index;
    node->u.move.from = -1;
    node->u.move.count = count;
  }
}

// Copies |count| words of |size| bytes into the program's memory.
static void *copy_words(indim_loop_builder *b, const void *words, int32_t count, size_t size) {
  return words == NULL ? NULL : indim_loop_copy_of(b, words, (size_t)count * size);
}

void indim_loop_host(indim_loop_builder *b, const indim_host_call *call) {
  const indim_service_info *info = indim_service_get(call->service);
  bool fits = info != NULL && call->storage_count <= INDIM_MAX_HOST_STORAGES &&
              (info->storages < 0 || (call->storage_count == info->storages && call->written_count == info->written));
  if (!fits) {
    indim_loop_refuse(b, "a call of host service %d with %d storages, %d of them written", (int)call->service,
                      (int)call->storage_count, (int)call->written_count);
    return;
  }
  int32_t indices[INDIM_MAX_HOST_STORAGES];
  for (int32_t i = 0; i < call->storage_count && b->status == INDIM_OK; i++) {
    indices[i] = call->storages[i]->index;
    if (i < call->written_count && !can_write(b, call->storages[i])) {
      return;
    }
  }
  int32_t *storages = copy_words(b, indices, call->storage_count, sizeof *storages);
  int64_t *elements = copy_words(b, call->elements, call->storage_count, sizeof *elements);
  int64_t *numbers = copy_words(b, call->numbers, info->numbers, sizeof *numbers);
  indim_loop_node *node = append_effect(b, INDIM_NODE_HOST, call->storage_count, call->addresses);
  if (node == NULL) {
    return;
  }
  node->u.host.service = call->service;
  node->u.host.storage_count = call->storage_count;
  node->u.host.written_count = call->written_count;
  node->u.host.storages = storages;
  node->u.host.elements = elements;
  node->u.host.number_count = info->numbers;
  node->u.host.numbers = numbers;
}
