// Loads and stores of lanes at coordinates: strided from one address, or with one address per lane (gather, scatter).
#include "loop/nest/element.h"

// The address of the first lane and the stride between lanes, or one address per lane. |*out_any|: lanes differ in a
// coordinate; their stride may still be 0, as in a broadcast dimension.
static indim_value_id address_of(indim_element_ctx *k, const indim_shape *shape, const indim_location *at,
                                 const indim_coord *index, int64_t *out_step, bool *out_has_lanes) {
  indim_coord address = indim_location_address_coord(k, shape, at, index);
  *out_has_lanes = indim_coord_has_lanes(k, address);
  *out_step = address.step;
  return address.base;
}

indim_value_id indim_load_item(indim_element_ctx *k, const indim_flow_item *item, const indim_location *at,
                               const indim_coord *index, indim_value_id mask) {
  int64_t step = 0;
  bool has_lanes = false;
  indim_loop_builder *b = &k->l->b;
  indim_value_id transposed = mask == 0 ? indim_transpose_find(k, item, index) : 0;
  if (transposed != 0) {
    return transposed;
  }
  indim_value_id address = address_of(k, item->shape, at, index, &step, &has_lanes);
  indim_access_note_read(k->l, item, at, address);
  if (at->packed_bits != 0) {
    int32_t lanes = has_lanes || (mask != 0 && indim_coord_value_lanes(k, mask) > 1) ? k->lanes : 1;
    indim_value_id value = indim_packed_load(k, item->shape->type, at, (indim_coord){address, step}, lanes, mask);
    indim_transpose_note(k->l, item, index, mask == 0 && has_lanes && step == 1, mask == 0 ? value : 0);
    return value;
  }
  if (mask != 0) {
    indim_transpose_note(k->l, item, index, false, 0);
    int32_t lanes = has_lanes || indim_coord_value_lanes(k, mask) > 1 ? k->lanes : 1;
    indim_value_id fill = indim_loop_splat(b, indim_loop_const(b, item->shape->type, 0, 0), lanes);
    return indim_loop_load_masked(b, at->storage, address, step, indim_loop_splat(b, mask, lanes), fill);
  }
  indim_value_id value = indim_loop_load(b, at->storage, address, has_lanes ? k->lanes : 1, step);
  indim_transpose_note(k->l, item, index, has_lanes && step == 1, value);
  return value;
}

indim_value_id indim_load_at(indim_element_ctx *k, const indim_shape *shape, const indim_location *at,
                             const indim_coord *index) {
  int64_t step = 0;
  bool has_lanes = false;
  indim_value_id address = address_of(k, shape, at, index, &step, &has_lanes);
  indim_access_note_store(k->l, at, address);
  indim_value_id value = indim_loop_load(&k->l->b, at->storage, address, has_lanes ? k->lanes : 1, step);
  return indim_loop_splat(&k->l->b, value, k->lanes);
}

void indim_store_at(indim_element_ctx *k, const indim_shape *shape, const indim_location *at, const indim_coord *index,
                    indim_value_id value) {
  int64_t step = 0;
  bool has_lanes = false;
  indim_value_id address = address_of(k, shape, at, index, &step, &has_lanes);
  indim_access_note_store(k->l, at, address);
  if (k->is_trial) {
    return;
  }
  value = indim_loop_splat(&k->l->b, value, k->lanes);
  if (k->stack != NULL) {
    indim_stack_keep(k, at->storage, address, value, step);
    return;
  }
  indim_loop_store(&k->l->b, at->storage, address, value, step, k->streams);
}
