// Loads and stores of lanes at coordinates: from one address on and every so many elements, or an address for each lane.
#include "loop/element.h"

static void fill_index(indim_kernel *k, int32_t rank, const indim_coord *index, bool spread, indim_lval *out,
                       bool *out_any) {
  *out_any = false;
  for (int32_t d = 0; d < rank; d++) {
    *out_any = *out_any || indim_coord_has_lanes(k, index[d]);
    out[d] = spread ? indim_coord_lanes(k, index[d]) : index[d].base;
  }
}

// The address of the first lane and the elements between lanes, or an address for each lane.
static indim_lval address_of(indim_kernel *k, const indim_shape *shape, const indim_location *at,
                             const indim_coord *index, int64_t *out_step, bool *out_any) {
  indim_lval bases[INDIM_MAX_RANK];
  bool spread = false;
  int64_t step = 0;
  for (int32_t d = 0; d < shape->rank; d++) {
    spread = spread || indim_coord_value_lanes(k, index[d].base) > 1 || (at->tiled != NULL && index[d].step != 0);
    step += at->tiled == NULL ? index[d].step * at->strides[d] : 0;
  }
  fill_index(k, shape->rank, index, spread, bases, out_any);
  // A line of lanes may still fold onto one element, as a broadcast dimension of stride 0 does.
  *out_any = *out_any && (spread || step != 0);
  *out_step = spread ? 0 : step;
  indim_location scalar = *at;
  if (spread) {
    scalar.base = at->base == 0 ? 0 : indim_loop_splat(&k->l->b, at->base, k->lanes);
    scalar.offset = 0;
    indim_lval address = indim_location_address(k->l, shape, &scalar, bases);
    indim_lval offset = indim_loop_splat(&k->l->b, indim_loop_index(&k->l->b, at->offset), k->lanes);
    return at->offset == 0 ? address : indim_loop_add(&k->l->b, address, offset);
  }
  return indim_location_address(k->l, shape, &scalar, bases);
}

indim_lval indim_load_item(indim_kernel *k, const indim_flow_item *item, const indim_location *at,
                           const indim_coord *index, indim_lval mask) {
  int64_t step = 0;
  bool any = false;
  indim_loop_builder *b = &k->l->b;
  indim_lval turned = mask == 0 ? indim_turn_find(k->l) : 0;
  if (turned != 0) {
    return turned;
  }
  indim_lval address = address_of(k, item->shape, at, index, &step, &any);
  indim_survey_access(k->l, item, at, address);
  if (mask != 0) {
    indim_turn_note(k->l, item, false, 0);
    int32_t lanes = any || indim_coord_value_lanes(k, mask) > 1 ? k->lanes : 1;
    indim_lval fill = indim_loop_splat(b, indim_loop_const(b, item->shape->type, 0, 0), lanes);
    return indim_loop_load_masked(b, at->storage, address, (int32_t)step, indim_loop_splat(b, mask, lanes), fill);
  }
  indim_lval value = indim_loop_load(b, at->storage, address, any ? k->lanes : 1, (int32_t)step);
  indim_turn_note(k->l, item, any && step == 1, value);
  return value;
}

indim_lval indim_load_at(indim_kernel *k, const indim_shape *shape, const indim_location *at,
                         const indim_coord *index) {
  int64_t step = 0;
  bool any = false;
  indim_lval address = address_of(k, shape, at, index, &step, &any);
  indim_survey_store(k->l, at, address);
  indim_lval value = indim_loop_load(&k->l->b, at->storage, address, any ? k->lanes : 1, (int32_t)step);
  return indim_loop_splat(&k->l->b, value, k->lanes);
}

void indim_store_at(indim_kernel *k, const indim_shape *shape, const indim_location *at, const indim_coord *index,
                    indim_lval value) {
  int64_t step = 0;
  bool any = false;
  indim_lval address = address_of(k, shape, at, index, &step, &any);
  indim_survey_store(k->l, at, address);
  if (k->is_trial) {
    return;
  }
  indim_loop_store(&k->l->b, at->storage, address, indim_loop_splat(&k->l->b, value, k->lanes), (int32_t)step,
                   k->streams);
}
