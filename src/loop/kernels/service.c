// Ops that are calls of a service of the host with whole arrays.
#include "loop/kernels/service.h"

#include "loop/ir/build.h"

typedef struct call {
  indim_lowering *l;
  uint64_t by_columns;  // a bit for each array
  int32_t count;
  indim_storage *storages[INDIM_MAX_HOST_STORAGES];
  indim_value_id addresses[INDIM_MAX_HOST_STORAGES];
  int64_t elements[INDIM_MAX_HOST_STORAGES];
} call;

bool indim_service_is_by_columns(const indim_shape *shape) {
  bool is = shape->has_layout && shape->layout.tile_count == 0 && shape->rank >= 2;
  for (int32_t k = 0; is && k < shape->rank; k++) {
    int32_t d = k < 2 ? shape->rank - 2 + k : shape->rank - 1 - k;
    is = shape->layout.minor_to_major[k] == d;
  }
  return is;
}

// The next array's shape in the order that the service wants.
static indim_shape next_shape(const call *c, const indim_shape *shape) {
  indim_shape wanted = *shape;
  wanted.has_layout = (c->by_columns >> c->count & 1) != 0;
  return wanted;
}

static void add_array(call *c, const indim_flow_item *item, const indim_location *at) {
  c->storages[c->count] = at->storage;
  c->addresses[c->count] = indim_location_start(c->l, at);
  c->elements[c->count++] = indim_shape_element_count(item->shape);
}

static void add_operand(call *c, indim_flow_item *operand) {
  indim_location at = indim_location_need(c->l, operand);
  indim_shape wanted = next_shape(c, operand->shape);
  if (!indim_lower_failed(c->l) && !indim_location_is_dense(&wanted, &at)) {
    at = indim_location_new(c->l, &wanted, operand->instr->name.data);
    indim_nest_copy(c->l, operand, &at);
  }
  if (!indim_lower_failed(c->l)) {
    add_array(c, operand, &at);
  }
}

void indim_lower_service(indim_lowering *l, indim_flow_item *item, indim_host_service service, const void *numbers,
                         uint64_t by_columns) {
  call c = {.l = l, .by_columns = by_columns};
  int32_t results = item->member_count > 0 ? item->member_count : 1;
  indim_location *wanted = indim_lower_alloc(l, results, sizeof *wanted);
  if (wanted == NULL || results + item->operand_count > INDIM_MAX_HOST_STORAGES) {
    indim_lower_refuse(l, item, "it has more than 64 arrays");
    return;
  }
  for (int32_t i = 0; i < results && !indim_lower_failed(l); i++) {
    indim_flow_item *result = indim_flow_result(item, i);
    wanted[i] = result->place;
    indim_shape shape = next_shape(&c, result->shape);
    if (!indim_location_is_dense(&shape, &result->place)) {
      result->place = indim_location_new(l, &shape, result->instr->name.data);
    }
    if (!indim_lower_failed(l)) {
      add_array(&c, result, &result->place);
    }
  }
  for (int32_t k = 0; k < item->operand_count && !indim_lower_failed(l); k++) {
    add_operand(&c, item->operands[k]);
  }
  if (indim_lower_failed(l)) {
    return;
  }
  indim_loop_region_begin(&l->b, c.storages, results);
  indim_loop_host(&l->b, &(indim_host_call){.service = service,
                                            .storage_count = c.count,
                                            .written_count = results,
                                            .storages = c.storages,
                                            .addresses = c.addresses,
                                            .elements = c.elements,
                                            .numbers = numbers});
  indim_element_forget(l);
  for (int32_t i = 0; i < results && !indim_lower_failed(l); i++) {
    indim_flow_item *result = indim_flow_result(item, i);
    if (!indim_location_same(&result->place, &wanted[i])) {
      indim_nest_copy(l, result, &wanted[i]);
      result->place = wanted[i];
    }
  }
}
