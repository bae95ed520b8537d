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

// Whether something that may tangle indices is computed where |item| is: a reshape, or what puts arrays together. Looks at each item once
// in |walk|.
static bool may_tangle(indim_flow_item *item, int32_t walk, int depth) {
  bool is_inline = indim_flow_is_inline(item) && item->walk != walk;
  item->walk = walk;
  bool does = is_inline && (indim_flow_is_op(item, INDIM_OP_RESHAPE) || indim_flow_is_op(item, INDIM_OP_CONCATENATE) ||
                            indim_flow_is_op(item, INDIM_OP_PAD));
  for (int32_t k = 0; k < item->operand_count && is_inline && !does; k++) {
    does = depth > INDIM_INLINE_DEPTH || may_tangle(item->operands[k], walk, depth + 1);
  }
  return does;
}

void indim_lower_keep(indim_lowering *l, indim_flow_item *item) {
  indim_location at = indim_location_scratch(l, item);
  indim_nest_fill(l, item, &at);
  item->place = at;
}

void indim_lower_keep_tangled(indim_lowering *l, indim_flow_item *item) {
  enum { LEAST = 256 };  // elements
  bool may_be = indim_shape_is_array(item->shape) && indim_shape_element_count(item->shape) >= LEAST;
  if (!may_be || !may_tangle(item, ++l->walks, 0)) {
    return;
  }
  const indim_access_list *list = indim_lower_accesses_of(l, item);
  bool is_narrow = indim_type_bytes(item->shape->type) <= 2;  // of which a mask for each vector is long code
  bool is_divided = false, is_guarded = false, is_tangled = false;
  for (int32_t d = 0; list != NULL && d < item->shape->rank; d++) {
    is_divided = is_divided || list->split_factor[d] != 0;
    is_guarded = is_guarded || (is_narrow && list->count > 1 && list->split_point_count[d] > 0);
  }
  for (int32_t i = 0; list != NULL && i < list->count; i++) {
    bool has_rows = list->accesses[i].strides != NULL;
    for (int32_t d = 0; d < item->shape->rank; d++) {
      has_rows = has_rows || indim_access_is_adjacent(&list->accesses[i], d);
    }
    is_tangled = is_tangled || !has_rows;
  }
  if ((is_divided && is_tangled) || is_guarded) {
    indim_lower_keep(l, item);
  }
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
