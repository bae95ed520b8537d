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
