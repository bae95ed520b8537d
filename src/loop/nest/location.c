// Arrays in memory: addresses of coordinates in any layout, and moves between registers and memory.
#include <string.h>

#include "array/index_plan.h"
#include "base/size.h"
#include "indim/index.h"
#include "indim/shape_util.h"
#include "loop/ir/affine.h"
#include "loop/ir/build.h"
#include "loop/ir/index_math.h"
#include "loop/nest/element.h"
#include "loop/regs/regs_internal.h"

static bool has_no_elements(const indim_shape *shape) { return indim_shape_element_count(shape) == 0; }

// Strides of the shape's own layout, padding included. An empty array has no place that they would lead to, and its other
// sizes may be such that their product has no 64 bits.
static const int64_t *layout_strides(indim_lowering *l, const indim_shape *shape) {
  int64_t *strides = indim_lower_alloc(l, shape->rank, sizeof *strides);
  if (strides != NULL && shape->rank > 0 && !has_no_elements(shape) &&
      indim_index_strides(l->cx, shape, strides) != INDIM_OK) {
    indim_loop_fail(&l->b, INDIM_INTERNAL);
  }
  return strides;
}

indim_location indim_location_of(indim_lowering *l, const indim_shape *shape, indim_storage *storage) {
  indim_location at = {.storage = storage};
  if (shape->has_layout && shape->layout.tile_count > 0) {
    at.tiled = shape;
  } else {
    at.strides = layout_strides(l, shape);
  }
  return at;
}

indim_location indim_location_new(indim_lowering *l, const indim_shape *shape, const char *name) {
  indim_location at = {0};
  int64_t *strides = indim_lower_alloc(l, shape->rank, sizeof *strides);
  if (strides == NULL) {
    return at;
  }
  int64_t stride = 1;
  for (int32_t k = 0; k < shape->rank; k++) {
    int32_t d = shape->has_layout ? (int32_t)shape->layout.minor_to_major[k] : shape->rank - 1 - k;
    strides[d] = stride;
    stride = has_no_elements(shape) ? 0 : stride * shape->sizes[d];
  }
  at.strides = strides;
  at.storage = indim_loop_storage(&l->b, INDIM_STORAGE_SCRATCH, shape->type, stride, name);
  return at;
}

indim_location indim_location_scratch(indim_lowering *l, const indim_flow_item *item) {
  return indim_location_new(l, item->shape, item->instr->name.data);
}

// The address of an index in a tiled layout: each tile splits its dimensions into a tile number and a position within.
static indim_coord tiled_address(indim_element_ctx *k, const indim_shape *shape, const indim_coord *index) {
  indim_lowering *l = k->l;
  indim_index_plan *plan = indim_lower_alloc(l, 1, sizeof *plan);
  indim_coord *list = indim_lower_alloc(l, 2 * INDIM_MAX_PHYSICAL_RANK, sizeof *list);
  if (plan == NULL || list == NULL) {
    return (indim_coord){0, 0};
  }
  if (indim_index_plan_init(l->cx, shape, plan) != INDIM_OK) {
    indim_loop_fail(&l->b, INDIM_INTERNAL);
    return (indim_coord){0, 0};
  }
  indim_coord *next = list + INDIM_MAX_PHYSICAL_RANK;
  for (int32_t d = 0; d < plan->rank; d++) {
    list[d] = index[plan->order[d]];
  }
  int32_t count = plan->rank;
  for (int32_t s = 0; s < plan->last_stage; s++) {
    const indim_index_stage *stage = &plan->stages[s];
    memmove(list + stage->lead, list, (size_t)count * sizeof *list);
    for (int32_t d = 0; d < stage->lead; d++) {
      list[d] = indim_coord_const(k, 0);
    }
    count += stage->lead;
    int32_t first = count - stage->tile_rank;
    memcpy(next, list, (size_t)first * sizeof *list);
    int32_t to = first;
    indim_coord within[INDIM_MAX_TILE_SIZES];
    int32_t within_count = 0;
    indim_coord carried = {0, 0};  // combined dimensions so far
    for (int32_t d = 0; d < stage->tile_rank; d++) {
      indim_coord x = list[first + d];
      if (carried.base != 0) {
        x = indim_coord_add(k, indim_coord_scale(k, carried, stage->sizes[first + d], 0), x);
        carried.base = 0;
      }
      if (stage->tile[d] == INDIM_TILE_COMBINE) {
        carried = x;
        continue;
      }
      indim_coord_divide(k, x, stage->tile[d], &next[to++], &within[within_count++]);
    }
    memcpy(next + to, within, (size_t)within_count * sizeof *list);
    count = to + within_count;
    memcpy(list, next, (size_t)count * sizeof *list);
  }
  indim_coord address = indim_coord_const(k, 0);
  for (int32_t d = 0; d < count; d++) {
    address = indim_coord_add(k, indim_coord_scale(k, address, plan->stages[plan->last_stage].sizes[d], 0), list[d]);
  }
  return address;
}

// The steps from lane to lane of a constant vector of indices; 0: they differ.
static int64_t step_of(const indim_loop_node *lanes, int32_t count) {
  int64_t step = (int64_t)(lanes->u.lanes.bits[2] - lanes->u.lanes.bits[0]);
  for (int32_t i = 2; i < count; i++) {
    step = (int64_t)(lanes->u.lanes.bits[2 * i] - lanes->u.lanes.bits[2 * i - 2]) == step ? step : 0;
  }
  return step;
}

// Lanes whose addresses are equally far apart after all, as where those that a reshape divided come together again, as the first
// one's address and a step.
static indim_coord without_lanes(indim_element_ctx *k, indim_coord address) {
  indim_loop_builder *b = &k->l->b;
  const indim_loop_value *old = indim_loop_value_of(b, address.base);
  indim_affine lanes;
  indim_affine first = {.count = 0};
  int64_t step = 0;
  if (address.step != 0 || old->lanes == 1 || old->lanes != k->lanes) {
    return address;
  }
  indim_affine_of(b->program, address.base, &lanes);
  bool is_even = indim_affine_widen(&first, 1, lanes.low, lanes.high);
  for (int32_t i = 0; i < lanes.count && is_even; i++) {
    const indim_loop_node *node = indim_loop_node_of(b, lanes.terms[i]);
    if (node != NULL && node->kind == INDIM_NODE_SPLAT) {
      is_even = indim_affine_add(&first, node->args[0], lanes.coefficients[i]);
      continue;
    }
    int64_t own = node != NULL && node->kind == INDIM_NODE_LANES ? step_of(node, k->lanes) : 0;
    is_even = own != 0 && indim_index_mul(own, lanes.coefficients[i], &own) && indim_int_add(step, own, &step) &&
              indim_affine_widen(&first, lanes.coefficients[i], (int64_t)node->u.lanes.bits[0],
                                 (int64_t)node->u.lanes.bits[0]);
  }
  int64_t reach = 0;
  if (!is_even || step == 0 || !indim_index_mul(step, k->lanes - 1, &reach)) {
    return address;
  }
  indim_value_id base = indim_loop_affine(b, first.low, first.count, first.terms, first.coefficients);
  const indim_loop_value *range = indim_loop_value_of(b, base);
  bool is_known = indim_int_add(range->low, reach < 0 ? reach : 0, &first.low) &&
                  indim_int_add(range->high, reach > 0 ? reach : 0, &first.high);
  old = indim_loop_value_of(b, address.base);
  return is_known && first.low >= old->low && first.high <= old->high ? (indim_coord){base, step} : address;
}

indim_coord indim_location_address_coord(indim_element_ctx *k, const indim_shape *shape, const indim_location *at,
                                         const indim_coord *index) {
  indim_loop_builder *b = &k->l->b;
  indim_coord address = {0, 0};
  if (at->tiled != NULL) {
    address = tiled_address(k, at->tiled, index);
  } else {
    indim_value_id bases[INDIM_MAX_RANK];
    bool has_lanes = false;
    for (int32_t d = 0; d < shape->rank; d++) {
      has_lanes = has_lanes || indim_loop_value_of(b, index[d].base)->lanes > 1;
      address.step += index[d].step * at->strides[d];
    }
    for (int32_t d = 0; d < shape->rank; d++) {
      bases[d] = has_lanes ? indim_coord_lanes(k, index[d]) : index[d].base;
    }
    address.step = has_lanes ? 0 : address.step;
    address.base = indim_loop_affine(b, 0, shape->rank, bases, at->strides);
    address = has_lanes ? without_lanes(k, address) : address;
  }
  if (at->base != 0) {
    address = indim_coord_add(k, address, (indim_coord){at->base, 0});
  }
  return at->offset == 0 ? address : indim_coord_scale(k, address, 1, at->offset);
}

indim_value_id indim_location_address(indim_lowering *l, const indim_shape *shape, const indim_location *at,
                                      const indim_value_id *index) {
  indim_coord coords[INDIM_MAX_RANK];
  indim_element_ctx k = {.l = l, .lanes = 1};
  for (int32_t d = 0; d < shape->rank; d++) {
    int32_t lanes = indim_loop_value_of(&l->b, index[d])->lanes;
    k.lanes = lanes > k.lanes ? lanes : k.lanes;
    coords[d] = (indim_coord){index[d], 0};
  }
  return indim_location_address_coord(&k, shape, at, coords).base;
}

indim_value_id indim_location_start(indim_lowering *l, const indim_location *at) {
  indim_value_id offset = indim_loop_index(&l->b, at->offset);
  return at->base == 0 ? offset : indim_loop_add(&l->b, offset, at->base);
}

bool indim_location_is_dense(const indim_shape *shape, const indim_location *at) {
  if (at->tiled != NULL) {
    return false;
  }
  int64_t stride = 1;
  for (int32_t k = 0; k < shape->rank; k++) {
    int32_t d = shape->has_layout ? (int32_t)shape->layout.minor_to_major[k] : shape->rank - 1 - k;
    if (shape->sizes[d] != 1 && at->strides[d] != stride) {
      return false;
    }
    stride = has_no_elements(shape) ? 0 : stride * shape->sizes[d];
  }
  return true;
}

// Makes a dense row-major constant storage of the item's literal.
static void emit_constant(indim_lowering *l, indim_flow_item *item) {
  const indim_literal *literal = item->instr->literal;
  if (indim_literal_is_elided(literal)) {
    indim_fail_instr(l->cx, INDIM_INVALID, item->instr, "the constant's values are missing ({...})");
    indim_hint(l->cx, "print the program with its large constants (print_large_constants)");
    indim_loop_fail(&l->b, INDIM_INVALID);
    return;
  }
  const indim_shape *shape = item->shape;
  int64_t count = indim_shape_element_count(shape);
  int64_t bytes = count * indim_type_bytes(shape->type);
  // Owned by the program; the arena does not align to 64.
  void *memory = NULL;
  indim_status status = indim_arena_alloc(&l->program->arena, (size_t)bytes + 64, &memory);
  if (status == INDIM_OK) {
    memory = (void *)(((uintptr_t)memory + 63) / 64 * 64);
    status = indim_literal_read_dense(l->cx, literal, memory, bytes);
  }
  if (status != INDIM_OK) {
    indim_loop_fail(&l->b, status);
    return;
  }
  int64_t *strides = indim_lower_alloc(l, shape->rank, sizeof *strides);
  int64_t stride = 1;
  for (int32_t d = shape->rank - 1; d >= 0 && strides != NULL; d--) {
    strides[d] = stride;
    stride = has_no_elements(shape) ? 0 : stride * shape->sizes[d];
  }
  item->place = (indim_location){.strides = strides};
  item->place.storage = indim_loop_storage(&l->b, INDIM_STORAGE_CONSTANT, shape->type, count, item->instr->name.data);
  if (item->place.storage != NULL) {
    item->place.storage->data = memory;
  }
}

bool indim_location_same(const indim_location *a, const indim_location *b) {
  return a->storage == b->storage && a->base == b->base && a->offset == b->offset && a->storage != NULL;
}

indim_location indim_location_need(indim_lowering *l, indim_flow_item *item) {
  if (item->place.storage != NULL || indim_lower_failed(l)) {
    return item->place;
  }
  if (item->kind == INDIM_FLOW_OP && item->instr->op == INDIM_OP_CONSTANT) {
    emit_constant(l, item);
    return item->place;
  }
  if (!item->has_regs) {
    indim_lower_refuse(l, item, "its value is needed before it is computed (a defect of the lowering)");
    return item->place;
  }
  item->place = indim_location_scratch(l, item);
  if (item->place.storage != NULL) {
    indim_loop_region_begin(&l->b, &item->place.storage, 1);
    indim_regs_store(&l->b, &item->regs, item->place.storage, indim_loop_index(&l->b, 0), item->place.strides);
  }
  return item->place;
}

// Loads an item into registers, element by element, from an array of |whole|'s shape with a tiled layout, from index |start| on.
static void load_elements(indim_lowering *l, indim_flow_item *item, const indim_shape *whole, const indim_location *at,
                          const indim_value_id *start) {
  indim_loop_builder *b = &l->b;
  const indim_shape *shape = item->shape;
  indim_regs_pool read = {.type = shape->type};
  int64_t index[INDIM_MAX_RANK] = {0};
  indim_value_id position[INDIM_MAX_RANK];
  indim_loop_region_begin(b, NULL, 0);
  do {
    for (int32_t d = 0; d < shape->rank; d++) {
      position[d] = start == NULL ? indim_loop_index(b, index[d]) : indim_loop_add_const(b, start[d], index[d]);
    }
    indim_pool_add_value(indim_loop_load(b, at->storage, indim_location_address(l, whole, at, position), 1, 1), 1,
                         &read);
  } while (indim_index_next(shape, index) && !indim_lower_failed(l));
  if (!indim_lower_failed(l)) {
    indim_pool_deal(b, &read, NULL, shape, &item->regs);
    item->has_regs = true;
  }
}

const indim_regs *indim_regs_need(indim_lowering *l, indim_flow_item *item) {
  if (item->has_regs || indim_lower_failed(l)) {
    return &item->regs;
  }
  if (item->kind == INDIM_FLOW_OP && item->instr->op == INDIM_OP_CONSTANT) {
    indim_regs_lower(&l->b, item->instr, NULL, &item->regs);
  } else {
    indim_location at = indim_location_need(l, item);
    if (at.storage == NULL) {
      return &item->regs;
    }
    if (at.tiled != NULL) {
      load_elements(l, item, item->shape, &at, NULL);
      return &item->regs;
    }
    indim_value_id address = indim_location_start(l, &at);
    indim_loop_region_begin(&l->b, NULL, 0);
    indim_regs_load(&l->b, item->shape, at.storage, address, at.strides, &item->regs);
  }
  item->has_regs = true;
  return &item->regs;
}

void indim_regs_load_slice(indim_lowering *l, indim_flow_item *slice) {
  indim_element_ctx k = {.l = l, .lanes = 1};
  indim_flow_item *whole = slice->operands[0];
  indim_location at = indim_location_need(l, whole);
  indim_value_id start[INDIM_MAX_RANK];
  indim_loop_region_begin(&l->b, NULL, 0);
  indim_element_forget(l);
  for (int32_t d = 0; d < whole->shape->rank && !indim_lower_failed(l); d++) {
    int64_t most = whole->shape->sizes[d] - slice->shape->sizes[d];
    start[d] = indim_clamp_start(&k, slice->operands, slice->operand_count, 1, d, most);
  }
  if (indim_lower_failed(l)) {
    return;
  }
  if (at.tiled != NULL) {
    load_elements(l, slice, whole->shape, &at, start);
    return;
  }
  indim_value_id address = indim_location_address(l, whole->shape, &at, start);
  indim_regs_load(&l->b, slice->shape, at.storage, address, at.strides, &slice->regs);
  slice->has_regs = true;
}
