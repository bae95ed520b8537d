// A select by one pred between an array and the same array updated is an update: with what the array has there already, or,
// of a scatter, with start vectors outside of it, where the select chooses the array as it was.
//
//   select(broadcast(p), dynamic-update-slice(x, u, i), x)
//     -> dynamic-update-slice(x, select(broadcast(p), u, dynamic-slice(x, i)), i)
//
// The update may then be done in place, where the select would move the whole array.
#include "loop/plan/flow_make.h"

typedef struct selecting {
  indim_flow_maker *m;
  const indim_instr *instr;  // the select
  indim_flow_item *pred;     // a scalar
  indim_flow_item *update, *array;
  bool is_updated;  // where the pred is true
} selecting;

static indim_status make(const selecting *s, indim_op op, const indim_shape *shape, int32_t count,
                         indim_flow_item *const *operands, indim_flow_item **out) {
  indim_instr *instr = NULL;
  INDIM_TRY(indim_flow_make_instr(s->m, s->instr, op, shape, count, operands, &instr));
  return indim_flow_make_item(s->m, instr, count, operands, out);
}

// |updated| where the select chooses the update, else |kept|; of |updated|'s shape.
static indim_status choose(const selecting *s, indim_flow_item *updated, indim_flow_item *kept, indim_flow_item **out) {
  indim_shape *preds = NULL;
  indim_flow_item *pred = s->pred;
  INDIM_TRY(indim_flow_array(s->m->instr_arena, 1, sizeof *preds, &preds));
  *preds = *updated->shape;
  preds->type = INDIM_PRED;
  if (preds->rank > 0) {
    INDIM_TRY(make(s, INDIM_OP_BROADCAST, preds, 1, &s->pred, &pred));
  }
  indim_flow_item *operands[] = {pred, s->is_updated ? updated : kept, s->is_updated ? kept : updated};
  return make(s, INDIM_OP_SELECT, updated->shape, 3, operands, out);
}

static indim_status make_slice_update(const selecting *s, indim_flow_item **out) {
  const indim_flow_item *update = s->update;
  indim_flow_item **operands = NULL;
  indim_flow_item *kept = NULL;
  int32_t count = update->operand_count;
  INDIM_TRY(indim_flow_array(s->m->arena, count, sizeof *operands, &operands));
  operands[0] = s->array;
  for (int32_t k = 2; k < count; k++) {
    operands[k - 1] = update->operands[k];
  }
  INDIM_TRY(make(s, INDIM_OP_DYNAMIC_SLICE, update->operands[1]->shape, count - 1, operands, &kept));
  INDIM_TRY(choose(s, update->operands[1], kept, &operands[1]));
  for (int32_t k = 2; k < count; k++) {
    operands[k] = update->operands[k];
  }
  return indim_flow_make_item(s->m, update->instr, count, operands, out);
}

// All bits set is -1, of start vectors of signed integers.
static indim_status make_scatter(const selecting *s, indim_flow_item **out) {
  indim_flow_item *indices = s->update->operands[1];
  indim_flow_item *both[2] = {indices, NULL};
  indim_flow_item *outside = NULL;
  INDIM_TRY(make(s, INDIM_OP_NOT, indices->shape, 1, &indices, &both[1]));
  INDIM_TRY(make(s, INDIM_OP_OR, indices->shape, 2, both, &outside));
  indim_flow_item *operands[3] = {s->array, NULL, s->update->operands[2]};
  INDIM_TRY(choose(s, indices, outside, &operands[1]));
  return indim_flow_make_item(s->m, s->update->instr, 3, operands, out);
}

// A scalar that is the pred of all elements; NULL where each has its own.
static indim_flow_item *scalar_pred(indim_flow_item *pred) {
  bool is_repeated = indim_flow_is_op(pred, INDIM_OP_BROADCAST) && pred->operands[0]->shape->rank == 0;
  return is_repeated ? pred->operands[0] : pred->shape->rank == 0 ? pred : NULL;
}

static bool can_scatter(const indim_flow_item *item) {
  int64_t mapped = 0;
  (void)indim_instr_ints(item->instr, INDIM_ATTR_SCATTER_DIMS_TO_OPERAND_DIMS, &mapped);
  return indim_flow_is_op(item, INDIM_OP_SCATTER) && item->operand_count == 3 && mapped > 0 &&
         indim_type_is_signed_int(item->operands[1]->shape->type) && indim_shape_is_static(item->operands[1]->shape);
}

static bool updates(const indim_flow_item *item, const indim_flow_item *array) {
  bool is_update = indim_flow_is_op(item, INDIM_OP_DYNAMIC_UPDATE_SLICE) || can_scatter(item);
  return is_update && item->operands[0] == array && indim_shape_is_static(item->shape);
}

indim_status indim_flow_select_update(indim_flow_maker *m, const indim_instr *instr, indim_flow_item *const *operands,
                                      indim_flow_item **out_item) {
  selecting s = {.m = m, .instr = instr, .pred = scalar_pred(operands[0])};
  *out_item = NULL;
  s.is_updated = updates(operands[1], operands[2]);
  if (s.pred == NULL || (!s.is_updated && !updates(operands[2], operands[1]))) {
    return INDIM_OK;
  }
  s.update = operands[s.is_updated ? 1 : 2];
  s.array = operands[s.is_updated ? 2 : 1];
  return s.update->instr->op == INDIM_OP_SCATTER ? make_scatter(&s, out_item) : make_slice_update(&s, out_item);
}

// Conditionals ----------------------------------------------------------------------------------------------------------
//
// A result of which both branches only choose between arrays from outside is a select of these: an old value that a rejected
// step keeps is not copied into the branch's result and from there to where the loop carries it.

// The scalar that says whether the second branch runs; NULL where an item would have to be made for it.
static indim_flow_item *second_pred(const indim_flow_item *conditional, bool *out_is_first) {
  indim_flow_item *which = conditional->operands[0];
  *out_is_first = which->shape->type == INDIM_PRED;
  if (*out_is_first) {
    return which;
  }
  bool is_pred = indim_flow_is_op(which, INDIM_OP_CONVERT) && which->operands[0]->shape->type == INDIM_PRED;
  return is_pred ? which->operands[0] : NULL;
}

// The item from outside that branch |b| has for result |k|; NULL if the branch computes it.
static indim_flow_item *chosen_by(const indim_flow_item *conditional, int32_t b, int32_t k) {
  const indim_flow_item *result = conditional->flows[b]->results[k];
  int32_t first = b == 0 ? 1 : 1 + conditional->flows[0]->parameter_count;
  bool is_outer = result->kind == INDIM_FLOW_PARAMETER && conditional->flows[b]->parameters[result->number] == result;
  return is_outer ? conditional->operands[first + result->number] : NULL;
}

indim_status indim_flow_select_places(indim_flow_maker *m, const indim_instr *instr, const indim_flow_item *conditional,
                                      int32_t count, indim_flow_item **results) {
  bool is_first = false;
  selecting s = {.m = m, .instr = instr};
  s.pred = conditional->flow_count == 2 ? second_pred(conditional, &is_first) : NULL;
  if (s.pred == NULL || s.pred->shape->rank > 0) {
    return INDIM_OK;
  }
  for (int32_t k = 0; k < count; k++) {
    indim_flow_item *a = chosen_by(conditional, is_first ? 0 : 1, k);
    indim_flow_item *b = chosen_by(conditional, is_first ? 1 : 0, k);
    const indim_shape *shape = results[k]->shape;
    if (a == NULL || b == NULL || !indim_shape_is_static(shape) || !indim_shape_equal(a->shape, shape, 0) ||
        !indim_shape_equal(b->shape, shape, 0)) {
      continue;
    }
    s.is_updated = true;
    if (a == b) {
      results[k] = a;
    } else {
      INDIM_TRY(choose(&s, a, b, &results[k]));
    }
  }
  return INDIM_OK;
}
