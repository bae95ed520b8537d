// Where results live, and, for updates, what has to be computed before the old value is overwritten.
#include "loop/kernels/kernels.h"

// Whether computing |item| inline in its user reads |storage|. Looks at each item once in |walk|.
static bool reads(indim_flow_item *item, const indim_storage *storage, int32_t walk, int depth) {
  if (item->placement != INDIM_PLACEMENT_INLINE || item->place.storage != NULL) {
    return item->place.storage == storage && storage != NULL;
  }
  if (item->walk == walk) {
    return false;
  }
  item->walk = walk;
  for (int32_t k = 0; k < item->operand_count; k++) {
    if (depth > INDIM_INLINE_DEPTH || reads(item->operands[k], storage, walk, depth + 1)) {
      return true;
    }
  }
  return false;
}

void indim_lower_keep_before(indim_lowering *l, indim_flow_item *item, const indim_storage *storage) {
  if (reads(item, storage, ++l->walks, 0)) {
    indim_location at = indim_location_scratch(l, item);
    indim_nest_copy(l, item, &at);
    item->place = at;
  }
}

void indim_lower_explain_copy(indim_lowering *l, const indim_flow_item *item, const indim_flow_item *base) {
  const indim_flow_item *by = item->blocker;
  if (item->overwrites) {
    indim_lower_explain(l, item, "works on a copy of %.*s, whose memory is the caller's", (int)base->instr->name.size,
                        base->instr->name.data);
  } else if (by != NULL) {
    indim_lower_explain(l, item, "works on a copy of %.*s, because %.*s %s", (int)base->instr->name.size,
                        base->instr->name.data, (int)by->instr->name.size, by->instr->name.data, item->blocked);
  } else if (item->blocked != NULL) {
    indim_lower_explain(l, item, "works on a copy of %.*s, because that %s", (int)base->instr->name.size,
                        base->instr->name.data, item->blocked);
  }
}

void indim_lower_place(indim_lowering *l, indim_flow_item *item) {
  for (int32_t k = 0; k == 0 || k < item->member_count; k++) {
    indim_flow_item *result = indim_flow_result(item, k);
    if (result->place.storage == NULL && !indim_lower_failed(l)) {
      result->place = indim_location_scratch(l, result);
    }
  }
}

void indim_lower_overwrite(indim_lowering *l, indim_flow_item *result, indim_flow_item *operand) {
  bool is_inline = operand->placement == INDIM_PLACEMENT_INLINE;
  indim_location from = is_inline ? operand->place : indim_location_need(l, operand);
  if (result->place.storage == NULL && result->overwrites && indim_flow_owns(operand)) {
    result->place = from;
  }
  if (result->place.storage == NULL) {
    result->place = indim_location_scratch(l, result);
  }
  if (!indim_lower_failed(l) && !indim_location_same(&from, &result->place)) {
    indim_lower_explain_copy(l, result, operand);
    indim_nest_copy(l, operand, &result->place);
  }
}

// Makes what computing |item| inline reads, before the branch in which that is done: what is made inside is not there behind it.
static void prepare_inline(indim_lowering *l, indim_flow_item *item, int32_t walk, int depth) {
  enum { FEW = 128 };
  if (item->walk == walk || indim_lower_failed(l)) {
    return;
  }
  item->walk = walk;
  bool is_constant = item->kind == INDIM_FLOW_OP && item->instr->op == INDIM_OP_CONSTANT;
  if (item->placement != INDIM_PLACEMENT_INLINE || item->place.storage != NULL || is_constant) {
    int64_t count = indim_shape_element_count(item->shape);
    if (item->placement == INDIM_PLACEMENT_REGISTERS || (count >= 1 && count <= FEW)) {
      (void)indim_regs_need(l, item);
    }
    (void)indim_location_need(l, item);
    return;
  }
  for (int32_t k = 0; k < item->operand_count && depth <= INDIM_INLINE_DEPTH; k++) {
    prepare_inline(l, item->operands[k], walk, depth + 1);
  }
}

static void store_chosen(indim_lowering *l, indim_flow_item *item, const indim_location *at) {
  if (indim_flow_is_inline(item) && item->instr->op != INDIM_OP_CONSTANT) {
    indim_nest_fill(l, item, at);
  } else {
    indim_nest_copy(l, item, at);
  }
}

bool indim_lower_select_over(indim_lowering *l, indim_flow_item *item) {
  if (!item->overwrites) {
    return false;
  }
  indim_flow_item *chooser = indim_flow_select_pred(item);
  if (chooser == NULL) {
    indim_lower_refuse(l, item, "its pred is not there (a defect of the lowering)");
    return true;
  }
  bool keeps_second = indim_flow_memory(item->operands[2]) == item->base;
  indim_flow_item *other = item->operands[keeps_second ? 1 : 2];
  indim_location at = indim_location_need(l, item->base);
  if (item->place.storage == NULL && indim_flow_owns(item->base) && at.tiled == NULL) {
    item->place = at;
  }
  if (!indim_location_same(&item->place, &at)) {
    return false;
  }
  indim_loop_builder *b = &l->b;
  prepare_inline(l, other, ++l->walks, 0);
  const indim_regs *pred = indim_regs_need(l, chooser);
  if (indim_lower_failed(l)) {
    return true;
  }
  indim_loop_if_begin(b, pred->rows[0]);
  if (keeps_second) {
    store_chosen(l, other, &item->place);
  }
  indim_loop_if_else(b, 0, NULL);
  if (!keeps_second) {
    store_chosen(l, other, &item->place);
  }
  indim_loop_if_end(b, NULL, NULL);
  indim_element_forget(l);
  return true;
}

void indim_lower_aim(indim_flow_item *item, const indim_location *at) {
  item->place = *at;
  while (item->overwrites && item->flow_count == 0 && item->kind == INDIM_FLOW_OP &&
         item->base->kind == INDIM_FLOW_OP && item->base->place.storage == NULL) {
    item = item->base;
    item->place = *at;
  }
}
