// Operands of what reads whole arrays: where they are in memory already, or copies of them.
#include <string.h>

#include "loop/kernels/kernels.h"

bool indim_lower_only_moves(const indim_flow_item *operand) {
  return operand->placement != INDIM_PLACEMENT_INLINE || operand->cost == 0;
}

static void read_body(indim_nest *nest, indim_element_ctx *k, const indim_coord *index) {
  (void)indim_value_at(k, nest->user, index, 0);
}

const indim_access_list *indim_lower_accesses_of(indim_lowering *l, indim_flow_item *item) {
  indim_access_list *list = indim_lower_alloc(l, 1, sizeof *list);
  indim_nest nest = {.l = l, .rank = item->shape->rank, .body = read_body, .user = item, .cost = 1};
  if (list == NULL) {
    return NULL;
  }
  memcpy(nest.sizes, item->shape->sizes, (size_t)item->shape->rank * sizeof *nest.sizes);
  indim_nest_analyze(&nest, list);
  return indim_lower_failed(l) ? NULL : list;
}

bool indim_lower_find_stored(indim_lowering *l, indim_flow_item *item, indim_type type, indim_stored *out) {
  if (!indim_lower_only_moves(item) || item->shape->type != type) {
    return false;
  }
  const indim_access_list *list = indim_lower_accesses_of(l, item);
  const indim_access *access = list == NULL ? NULL : &list->accesses[0];
  if (access == NULL || list->count != 1 || list->is_full || access->strides == NULL || access->is_packed ||
      access->storage->type != type) {
    return false;
  }
  *out = (indim_stored){l->program->storages[access->storage->index], access->base, access->strides};
  return true;
}

const indim_location *indim_lower_copy(indim_lowering *l, indim_flow_item *item, const indim_shape *shape) {
  indim_flow_copy *copy = item->copies;
  while (copy != NULL && !(copy->type == shape->type && indim_layout_equal(&copy->layout, &shape->layout, 0))) {
    copy = copy->next;
  }
  if (copy == NULL) {
    copy = indim_lower_alloc(l, 1, sizeof *copy);
    if (copy == NULL) {
      return NULL;
    }
    *copy = (indim_flow_copy){shape->type, shape->layout, indim_location_new(l, shape, item->instr->name.data),
                              item->copies};
    if (indim_lower_failed(l)) {
      return NULL;
    }
    indim_nest_copy(l, item, &copy->place);
    item->copies = copy;
  }
  return indim_lower_failed(l) ? NULL : &copy->place;
}

bool indim_lower_store_copy(indim_lowering *l, indim_flow_item *item, const indim_shape *shape, indim_stored *out) {
  const indim_location *at = indim_lower_copy(l, item, shape);
  if (at == NULL) {
    return false;
  }
  *out = (indim_stored){at->storage, indim_location_start(l, at), at->strides};
  return !indim_lower_failed(l);
}
