// Items of flows.
#include <string.h>
#include "loop/plan/flow_make.h"

enum { MAX_ITEMS = 4 * 1000 * 1000 };

indim_status indim_flow_array(indim_arena *arena, int64_t count, size_t size, void *out) {
  void *memory = NULL;
  INDIM_TRY(indim_arena_array(arena, (size_t)(count < 0 ? 0 : count), size, &memory));
  memcpy(out, &memory, sizeof memory);
  return INDIM_OK;
}

indim_status indim_flow_new_item(indim_flow_maker *m, indim_flow_kind kind, const indim_instr *instr,
                                 const indim_shape *shape, indim_flow_item **out_item) {
  void *memory = NULL;
  if (++*m->item_total > MAX_ITEMS) {
    return indim_fail_instr(m->cx, INDIM_LIMIT, instr,
                            "the program has more than %d operations once calls are dissolved", MAX_ITEMS);
  }
  INDIM_TRY(indim_arena_alloc(m->arena, sizeof(indim_flow_item), &memory));
  indim_flow_item *item = memory;
  item->kind = kind;
  item->instr = instr;
  item->shape = shape;
  *out_item = item;
  return indim_flow_add_item(m, item);
}

// The last of its flow from now on.
indim_status indim_flow_add_item(indim_flow_maker *m, indim_flow_item *item) {
  indim_flow *flow = m->flow;
  if (flow->item_count == flow->item_capacity) {
    int32_t capacity = flow->item_capacity == 0 ? 64 : flow->item_capacity * 2;
    indim_flow_item **items = NULL;
    INDIM_TRY(indim_flow_array(m->arena, capacity, sizeof *items, &items));
    if (flow->item_count > 0) {
      memcpy(items, flow->items, (size_t)flow->item_count * sizeof *items);
    }
    flow->items = items;
    flow->item_capacity = capacity;
  }
  item->index = flow->item_count;
  flow->items[flow->item_count++] = item;
  return INDIM_OK;
}

indim_status indim_flow_make_instr(indim_flow_maker *m, const indim_instr *origin, indim_op op,
                                   const indim_shape *shape, int32_t count, indim_flow_item *const *operands,
                                   indim_instr **out) {
  indim_instr *instr = NULL;
  indim_instr *stubs = NULL;
  INDIM_TRY(indim_flow_array(m->instr_arena, 1, sizeof *instr, &instr));
  INDIM_TRY(indim_flow_array(m->instr_arena, count, sizeof *stubs, &stubs));
  *instr = *origin;
  instr->op = op;
  instr->shape = shape;
  instr->attrs = NULL;
  instr->attr_count = 0;
  instr->operand_count = count;
  INDIM_TRY(indim_flow_array(m->instr_arena, count, sizeof *instr->operands, &instr->operands));
  for (int32_t k = 0; k < count; k++) {  // of which lowering asks the shapes
    stubs[k] = *operands[k]->instr;
    stubs[k].shape = operands[k]->shape;
    instr->operands[k] = &stubs[k];
  }
  *out = instr;
  return INDIM_OK;
}

static indim_status set_operands(indim_flow_maker *m, indim_flow_item *item, int32_t count,
                                 indim_flow_item *const *operands) {
  INDIM_TRY(indim_flow_array(m->arena, count, sizeof *item->operands, &item->operands));
  item->operand_count = count;
  for (int32_t k = 0; k < count; k++) {
    item->operands[k] = operands[k];
  }
  return INDIM_OK;
}

indim_status indim_flow_make_item(indim_flow_maker *m, const indim_instr *instr, int32_t count,
                                  indim_flow_item *const *operands, indim_flow_item **out) {
  INDIM_TRY(indim_flow_new_item(m, INDIM_FLOW_OP, instr, instr->shape, out));
  return set_operands(m, *out, count, operands);
}

indim_status indim_flow_become(indim_flow_maker *m, indim_flow_item *item, const indim_instr *origin, indim_op op,
                               const indim_attr *attrs, int32_t attr_count, indim_flow_item *const *operands,
                               int32_t count) {
  indim_instr *instr = NULL;
  INDIM_TRY(indim_flow_make_instr(m, origin, op, item->shape, count, operands, &instr));
  INDIM_TRY(indim_flow_array(m->instr_arena, attr_count, sizeof *instr->attrs, &instr->attrs));
  for (int32_t k = 0; k < attr_count; k++) {
    instr->attrs[k] = attrs[k];
  }
  instr->attr_count = attr_count;
  item->instr = instr;
  return set_operands(m, item, count, operands);
}

indim_status indim_flow_become_slice(indim_flow_maker *m, indim_flow_item *item, indim_flow_item *of,
                                     const indim_slice_dim *dims) {
  indim_slice_dim *copy = NULL;
  INDIM_TRY(indim_flow_array(m->instr_arena, of->shape->rank, sizeof *copy, &copy));
  memcpy(copy, dims, (size_t)of->shape->rank * sizeof *copy);
  indim_attr attr = {.id = INDIM_ATTR_SLICE, .offset = INDIM_NO_OFFSET, .count = of->shape->rank, .value.slice = copy};
  return indim_flow_become(m, item, item->instr, INDIM_OP_SLICE, &attr, 1, &of, 1);
}

indim_status indim_flow_fix_starts(indim_flow_maker *m, indim_flow_item *item) {
  indim_slice_dim dims[INDIM_MAX_RANK];
  indim_flow_item *of = item->operands[0];
  bool is_fixed = item->operand_count == 1 + item->shape->rank;
  for (int32_t d = 0; d < item->shape->rank && is_fixed; d++) {
    int64_t start = 0;
    is_fixed = indim_flow_read_constant(item->operands[1 + d], &start) &&
               (start >= 0 || indim_type_is_signed_int(item->operands[1 + d]->shape->type));
    int64_t last = of->shape->sizes[d] - item->shape->sizes[d];
    start = start < 0 ? 0 : start < last ? start : last;
    dims[d] = (indim_slice_dim){.start = start, .limit = start + item->shape->sizes[d], .stride = 1};
  }
  return is_fixed ? indim_flow_become_slice(m, item, of, dims) : INDIM_OK;
}
