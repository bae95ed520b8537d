// dynamic-update-slice: writes the update into the operand's memory if that may be overwritten, else into a copy of it.
#include <string.h>

#include "loop/kernels/kernels.h"

typedef struct updating {
  indim_flow_item *item;
  indim_flow_item *update;
} updating;

static void update_body(indim_nest *nest, indim_element_ctx *k, const indim_coord *index) {
  const updating *u = nest->user;
  const indim_flow_item *item = u->item;
  indim_coord to[INDIM_MAX_RANK];
  for (int32_t d = 0; d < nest->rank; d++) {
    indim_value_id start = indim_clamp_start(k, item->operands, item->operand_count, 2, d,
                                             item->shape->sizes[d] - u->update->shape->sizes[d]);
    to[d] = (indim_coord){indim_loop_add(&k->l->b, start, index[d].base), index[d].step};
  }
  indim_value_id value = indim_value_at_lanes(k, u->update, index, 0);
  if (!indim_lower_failed(k->l)) {
    indim_store_at(k, item->shape, &item->place, to, value);
  }
}

// Stores an update that is in registers.
static void store_regs(indim_lowering *l, indim_flow_item *item, const indim_flow_item *update) {
  indim_loop_builder *b = &l->b;
  indim_element_ctx k = {.l = l, .lanes = 1};
  indim_value_id starts[INDIM_MAX_RANK];
  indim_loop_region_begin(b, &item->place.storage, 1);
  indim_element_forget(l);
  for (int32_t d = 0; d < item->shape->rank; d++) {
    starts[d] = indim_clamp_start(&k, item->operands, item->operand_count, 2, d,
                                  item->shape->sizes[d] - update->shape->sizes[d]);
  }
  indim_value_id address = indim_location_address(l, item->shape, &item->place, starts);
  indim_regs_store(b, &update->regs, item->place.storage, address, item->place.strides);
}

void indim_lower_update(indim_lowering *l, indim_flow_item *item) {
  indim_flow_item *operand = item->operands[0];
  indim_flow_item *update = item->operands[1];
  indim_lower_overwrite(l, item, operand);
  for (int32_t k = 1; k < item->operand_count && !indim_lower_failed(l); k++) {
    indim_lower_keep_before(l, item->operands[k], item->place.storage);
  }
  if (indim_lower_failed(l)) {
    return;
  }
  if (update->has_regs && item->place.tiled == NULL) {
    store_regs(l, item, update);
    return;
  }
  indim_access_list *list = indim_lower_alloc(l, 1, sizeof *list);
  updating u = {item, update};
  indim_nest nest = {.l = l, .rank = update->shape->rank, .cost = update->cost, .body = update_body, .user = &u};
  if (list == NULL || indim_lower_failed(l) || indim_shape_element_count(update->shape) == 0) {
    return;
  }
  memcpy(nest.sizes, update->shape->sizes, (size_t)nest.rank * sizeof *nest.sizes);
  nest.may_thread = true;
  indim_storage *written[] = {item->place.storage};
  indim_loop_region_begin(&l->b, written, 1);
  indim_nest_analyze(&nest, list);
  indim_nest_choose(&nest, item->place.strides);
  indim_nest_run(&nest);
}
