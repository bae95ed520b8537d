// What can be in registers, and what had better not: registers have no numbers at run time. An element at an index that is
// known then only is a select among all of them, in memory one load; so arrays that loops carry, and of which such elements are read or
// updated, live in memory as a whole:
//
//   while (i, row: f32[100])                     row is read at i and updated at i, so the loop's operand, its parameter, the
//     x = dynamic-slice(row, i)                  updated array and the loop's result are in memory, one array, updated in place
//     row' = dynamic-update-slice(row, u, i)
#include "loop/plan/plan.h"
#include "loop/target/cost.h"

// Small enough for registers; an array without elements has no register.
bool indim_plan_is_small(const indim_flow_item *item) {
  if (!indim_shape_is_array(item->shape) || !indim_shape_is_static(item->shape)) {
    return false;
  }
  int64_t count = indim_shape_element_count(item->shape);
  return count >= 1 && count <= INDIM_COST_REGISTER_ARRAY;
}

static bool is_access(const indim_flow_item *item) {
  bool is_op = item->kind == INDIM_FLOW_OP;
  return is_op && (item->instr->op == INDIM_OP_DYNAMIC_SLICE || item->instr->op == INDIM_OP_DYNAMIC_UPDATE_SLICE);
}

// Runtime indices ------------------------------------------------------------------------------------------------------

// Whether an element's place depends on what is known at run time only: a start in a dimension of which not all is accessed.
static bool has_unknown_index(const indim_flow_item *item) {
  bool is_slice = item->instr->op == INDIM_OP_DYNAMIC_SLICE;
  int32_t first = is_slice ? 1 : 2;
  const indim_shape *whole = item->operands[0]->shape;
  const indim_shape *block = is_slice ? item->shape : item->operands[1]->shape;
  bool is_vector = item->operand_count == first + 1 && item->operands[first]->shape->rank == 1;
  for (int32_t d = 0; d < whole->rank; d++) {
    if (whole->sizes[d] > block->sizes[d] && !item->operands[is_vector ? first : first + d]->is_known) {
      return true;
    }
  }
  return false;
}

static bool is_scatter_of_one(const indim_flow_item *item) {
  return item->instr->op == INDIM_OP_SCATTER && item->member_count == 0;
}

static bool may_move(const indim_flow_item *item) {
  return indim_plan_is_small(item) && indim_shape_element_count(item->shape) > 1;
}

// What is in memory without being stored in each step, or is large enough to be stored.
static bool is_better_in_memory(const indim_flow_item *item) {
  bool is_source = item->kind == INDIM_FLOW_OP && indim_op_class_of(item->instr->op) == INDIM_OP_CLASS_SOURCE;
  return item->kind != INDIM_FLOW_OP || is_source ||
         indim_shape_element_count(item->shape) > INDIM_COST_INDEXED_IN_REGISTERS;
}

// Both are one array: what is said of one holds for the other. Returns whether that is news.
static bool join(indim_flow_item *x, indim_flow_item *y) {
  if (x->is_indexed == y->is_indexed || !may_move(x) || !may_move(y)) {
    return false;
  }
  x->is_indexed = y->is_indexed = true;
  return true;
}

// What a loop or a conditional is given, and what it gives.
static bool join_control(indim_flow_item *item) {
  bool is_while = item->instr->op == INDIM_OP_WHILE;
  bool is_news = false;
  int32_t first = is_while ? 0 : 1;
  for (int32_t f = 0; f < item->flow_count; f++) {
    const indim_flow *flow = item->flows[f];
    for (int32_t k = 0; k < flow->parameter_count; k++) {
      is_news |= join(item->operands[first + k], flow->parameters[k]);
    }
    for (int32_t k = 0; k < flow->result_count && (!is_while || f == 1); k++) {
      is_news |= join(flow->results[k], indim_flow_result(item, k));
      is_news |= is_while && join(flow->results[k], flow->parameters[k]);
    }
    first += is_while ? 0 : flow->parameter_count;
  }
  return is_news;
}

static bool mark_item(indim_flow_item *item, bool is_inside) {
  bool is_news = false;
  for (int32_t f = 0; f < item->flow_count; f++) {
    for (int32_t i = 0; i < item->flows[f]->item_count; i++) {
      is_news |= mark_item(item->flows[f]->items[i], true);
    }
    for (int32_t i = item->flows[f]->item_count - 1; i >= 0 && is_news; i--) {
      is_news |= mark_item(item->flows[f]->items[i], true);
    }
  }
  if (item->flow_count > 0) {
    return join_control(item) || is_news;
  }
  bool reads_memory = item->kind == INDIM_FLOW_OP && (item->instr->op == INDIM_OP_GATHER || is_scatter_of_one(item));
  if (!is_access(item) && !reads_memory) {
    return is_news;
  }
  indim_flow_item *whole = item->operands[0];
  if ((is_inside || whole->kind == INDIM_FLOW_PARAMETER) && !whole->is_indexed && may_move(whole) &&
      is_better_in_memory(whole) && (reads_memory || has_unknown_index(item))) {
    whole->is_indexed = is_news = true;
  }
  bool is_update = item->instr->op != INDIM_OP_DYNAMIC_SLICE && item->instr->op != INDIM_OP_GATHER;
  return (is_update && join(whole, item)) || is_news;
}

static void mark_known(indim_flow *flow) {
  for (int32_t i = 0; i < flow->item_count; i++) {
    indim_flow_item *item = flow->items[i];
    indim_op_class class = item->kind == INDIM_FLOW_OP ? indim_op_class_of(item->instr->op) : INDIM_OP_CLASS_NONE;
    item->is_known = class == INDIM_OP_CLASS_SOURCE || class == INDIM_OP_CLASS_ELEMENTWISE ||
                     class == INDIM_OP_CLASS_LONG || class == INDIM_OP_CLASS_SAME || class == INDIM_OP_CLASS_MOVE;
    for (int32_t k = 0; k < item->operand_count; k++) {
      item->is_known = item->is_known && item->operands[k]->is_known;
    }
    for (int32_t f = 0; f < item->flow_count; f++) {
      mark_known(item->flows[f]);
    }
  }
}

void indim_plan_mark_indexed(indim_flow *flow) {
  enum { MOST_PASSES = 16 };  // each goes both ways: one is enough but for arrays that loops pass on to one another
  mark_known(flow);
  bool is_news = true;
  for (int pass = 0; pass < MOST_PASSES && is_news; pass++) {
    is_news = false;
    for (int32_t i = 0; i < flow->item_count; i++) {
      is_news |= mark_item(flow->items[i], false);
    }
    for (int32_t i = flow->item_count - 1; i >= 0 && is_news; i--) {
      is_news |= mark_item(flow->items[i], false);
    }
  }
}

// Registers ------------------------------------------------------------------------------------------------------------

// An element of an array that is in memory in any case, one load, wherever it is; or some that follow each other there and fill
// registers, as a block that a loop is given.
static bool is_loaded_slice(const indim_flow_item *item) {
  enum { FULL = 16 };
  if (!is_access(item) || item->instr->op != INDIM_OP_DYNAMIC_SLICE || item->operands[0]->kind == INDIM_FLOW_OP) {
    return false;
  }
  int64_t count = indim_shape_element_count(item->shape);
  if (count != 1 && (item->shape->rank != 1 || count % FULL != 0)) {
    return false;
  }
  const indim_flow_item *whole = item->operands[0];
  bool is_plain = indim_shape_is_static(whole->shape) && indim_type_bits(whole->shape->type) >= 8 &&
                  !(whole->shape->has_layout && whole->shape->layout.tile_count > 0);
  bool is_small = is_plain && (!indim_plan_is_small(whole) || whole->is_indexed);
  for (int32_t k = 1; k < item->operand_count; k++) {
    is_small = is_small && indim_plan_is_small(item->operands[k]);
  }
  return is_small;
}

bool indim_plan_can_be_in_registers(const indim_flow_item *item) {
  if (item->kind != INDIM_FLOW_OP || !indim_plan_is_small(item) || item->member_count > 0 || item->is_indexed) {
    return false;
  }
  if (is_loaded_slice(item)) {
    return true;
  }
  if (!indim_regs_can(item->instr) || (is_access(item) && item->operands[0]->is_indexed)) {
    return false;
  }
  for (int32_t k = 0; k < item->operand_count; k++) {
    if (!indim_plan_is_small(item->operands[k])) {
      return false;
    }
  }
  return true;
}
