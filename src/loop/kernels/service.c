// Ops that are calls of a service of the host with whole arrays.
#include "loop/kernels/service.h"

#include "loop/ir/build.h"

typedef struct call {
  indim_lowering *l;
  bool is_row_major;
  int32_t count;
  indim_storage *storages[INDIM_MAX_HOST_STORAGES];
  indim_value_id addresses[INDIM_MAX_HOST_STORAGES];
  int64_t elements[INDIM_MAX_HOST_STORAGES];
} call;

// Dimension number |k| of the order, the most minor one first.
static int32_t minor_dim(const call *c, const indim_shape *shape, int32_t k) {
  return shape->has_layout && !c->is_row_major ? (int32_t)shape->layout.minor_to_major[k] : shape->rank - 1 - k;
}

static bool is_dense(const call *c, const indim_shape *shape, const indim_location *at) {
  int64_t stride = 1;
  for (int32_t k = 0; k < shape->rank && at->tiled == NULL; k++) {
    int32_t d = minor_dim(c, shape, k);
    if (shape->sizes[d] != 1 && at->strides[d] != stride) {
      return false;
    }
    stride *= shape->sizes[d];
  }
  return at->tiled == NULL;
}

static indim_location dense_scratch(const call *c, const indim_flow_item *item) {
  const indim_shape *shape = item->shape;
  int64_t *strides = indim_lower_alloc(c->l, shape->rank, sizeof *strides);
  indim_location at = {.strides = strides};
  int64_t stride = 1;
  for (int32_t k = 0; k < shape->rank && strides != NULL; k++) {
    strides[minor_dim(c, shape, k)] = stride;
    stride *= shape->sizes[minor_dim(c, shape, k)];
  }
  at.storage = indim_loop_storage(&c->l->b, INDIM_STORAGE_SCRATCH, shape->type, stride, item->instr->name.data);
  return at;
}

static void add_array(call *c, const indim_flow_item *item, const indim_location *at) {
  c->storages[c->count] = at->storage;
  c->addresses[c->count] = indim_location_start(c->l, at);
  c->elements[c->count++] = indim_shape_element_count(item->shape);
}

static void add_operand(call *c, indim_flow_item *operand) {
  indim_location at = indim_location_need(c->l, operand);
  if (!indim_lower_failed(c->l) && !is_dense(c, operand->shape, &at)) {
    at = dense_scratch(c, operand);
    indim_nest_copy(c->l, operand, &at);
  }
  if (!indim_lower_failed(c->l)) {
    add_array(c, operand, &at);
  }
}

void indim_lower_service(indim_lowering *l, indim_flow_item *item, indim_host_service service, const void *numbers,
                         bool is_row_major) {
  call c = {.l = l, .is_row_major = is_row_major};
  int32_t results = item->member_count > 0 ? item->member_count : 1;
  indim_location *wanted = indim_lower_alloc(l, results, sizeof *wanted);
  if (wanted == NULL || results + item->operand_count > INDIM_MAX_HOST_STORAGES) {
    indim_lower_refuse(l, item, "it has more than 64 arrays");
    return;
  }
  for (int32_t i = 0; i < results && !indim_lower_failed(l); i++) {
    indim_flow_item *result = indim_flow_result(item, i);
    wanted[i] = result->place;
    if (!is_dense(&c, result->shape, &result->place)) {
      result->place = dense_scratch(&c, result);
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
