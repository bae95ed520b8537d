// while and conditional. Small carried arrays travel in registers. A large one that the body only updates in place keeps
// its memory; one that is passed on untouched is the operand itself. Any other moves in each step: into the place of another
// carried value, or out, and a new one comes in. Those that follow each other share one scratch array of several slots, and
// what changes in a step is a number, which slot the first of them has:
//
//   (a, b) -> (b, f(a, b))      three slots: b, a and a free one, into which f goes; then that is b, b is a, and a is free
//   (a, b) -> (b, a)            two slots, whose contents stay where they are
//   a -> f(a)                   two slots, read from one and written to the other
#include <string.h>

#include "loop/control.h"
#include "loop/kernels/kernels.h"
#include "loop/plan/plan.h"

// Carried values -----------------------------------------------------------------------------------------------------------

typedef enum carrying {
  CARRIED_ROWS,      // in registers
  CARRIED_FIXED,     // in registers, and the same in every step: nothing is carried
  CARRIED_SAME,      // the operand's memory, which nobody writes
  CARRIED_IN_PLACE,  // its own memory, updated
  CARRIED_IN_SLOT    // one slot of several in one scratch array
} carrying;

// Slots that carried arrays rotate through: the one at |position| p is in slot (first + p) modulo |slots|, |first| being
// carried and one less after each step.
typedef struct rotation {
  indim_location at;  // of slot 0
  int64_t elements;   // of a slot
  int32_t slots;
  int32_t row;   // |first|, among the loop's carried values
  bool has_new;  // the last slot is free, and what comes in goes there; it is the first position's then
} rotation;

typedef struct carried {
  carrying how;
  indim_location at;  // IN_PLACE
  rotation *rotation;
  int32_t position;
  int32_t first_row;  // among the loop's carried values
  int32_t row_count;
  int32_t lanes;
} carried;

static bool has_memory(const indim_flow_item *item, int32_t k) {
  return item->flows[1]->parameters[k]->placement != INDIM_PLACEMENT_REGISTERS;
}

// The carried value whose memory result |k| has at the end of a step; -1 for memory of its own.
static int32_t source_of(const indim_flow_item *item, int32_t k) {
  const indim_flow *body = item->flows[1];
  const indim_flow_item *root = has_memory(item, k) ? indim_flow_root(body->results[k]) : NULL;
  bool is_alike = root != NULL && has_memory(item, root->number) &&
                  root->shape->type == body->results[k]->shape->type &&
                  indim_shape_element_count(root->shape) == indim_shape_element_count(body->results[k]->shape);
  return is_alike ? root->number : -1;
}

static carrying choose_carrying(const indim_flow_item *item, int32_t k) {
  const indim_flow *body = item->flows[1];
  bool is_same = body->results[k] == body->parameters[k];
  if (!has_memory(item, k)) {
    return is_same ? CARRIED_FIXED : CARRIED_ROWS;
  }
  return is_same ? CARRIED_SAME : source_of(item, k) == k ? CARRIED_IN_PLACE : CARRIED_IN_SLOT;
}

// Memory for a carried array that starts as |operand| and is updated in place: where the operand lives, if nobody needs that
// afterwards, or where the loop's result |member| is to be.
static void own_memory(indim_lowering *l, indim_flow_item *operand, const indim_flow_item *parameter,
                       const indim_flow_item *member, carried *c) {
  if (member->overwrites && indim_flow_owns(operand) && operand->place.tiled == NULL) {
    c->at = operand->place;
  } else if (member->place.storage != NULL && member->place.tiled == NULL) {
    c->at = member->place;
  } else {
    c->at = indim_location_scratch(l, parameter);
  }
  if (!indim_lower_failed(l) && !indim_location_same(&operand->place, &c->at)) {
    indim_lower_explain_copy(l, member, operand);
    indim_nest_copy(l, operand, &c->at);
  }
}

static void bind_rows(const carried *c, const indim_value_id *values, indim_flow_item *parameter) {
  parameter->has_regs = true;
  parameter->regs = (indim_regs){parameter->shape, c->lanes, c->row_count, values + c->first_row};
}

// The number of a position's slot, |first| being the carried value.
static indim_value_id slot_at(indim_lowering *l, const rotation *r, indim_value_id first, int32_t position) {
  indim_value_id which = indim_loop_clamp_index(&l->b, first, 0, r->slots - 1);
  if (r->slots == 2) {
    return position == 0 ? which : indim_loop_affine(&l->b, 1, 1, &which, &(int64_t){-1});
  }
  return indim_loop_modulo(&l->b, indim_loop_add_const(&l->b, which, position), r->slots);
}

static indim_location slot_location(indim_lowering *l, const rotation *r, const indim_value_id *values,
                                    int32_t position) {
  indim_location at = r->at;
  at.base = indim_loop_mul_const(&l->b, slot_at(l, r, values[r->row], position), r->elements);
  return at;
}

void indim_lower_deliver(indim_lowering *l, indim_flow_item *member) {
  indim_location at = member->place;
  if (at.storage != NULL) {
    member->place = (indim_location){0};
    indim_nest_copy(l, member, &at);
    member->place = at;
  } else if (member->needs_memory_copy) {
    (void)indim_location_need(l, member);
  }
}

static void bind(indim_lowering *l, const carried *c, indim_flow_item *operand, const indim_value_id *values,
                 indim_flow_item *parameter) {
  if (c->how == CARRIED_ROWS) {
    bind_rows(c, values, parameter);
    indim_lower_deliver(l, parameter);
  } else if (c->how == CARRIED_FIXED) {
    parameter->regs = *indim_regs_need(l, operand);
    parameter->regs.shape = parameter->shape;
    parameter->has_regs = true;
    if (parameter->place.storage != NULL) {
      indim_lower_deliver(l, parameter);
    } else if (parameter->needs_memory_copy) {
      parameter->place = indim_location_need(l, operand);
    }
  } else if (c->how == CARRIED_SAME) {
    parameter->place = indim_location_need(l, operand);
  } else if (c->how == CARRIED_IN_PLACE) {
    parameter->place = c->at;
  } else {
    parameter->place = slot_location(l, c->rotation, values, c->position);
  }
}

typedef struct looping {
  indim_flow_item *item;
  int32_t count;
  carried *list;
  rotation *rotations;
  int32_t rotation_count;
  int32_t row_count;
  indim_value_id *begin, *in, *yields;
} looping;

// The carried value that has the memory of |k| after a step; -1 for none. Of several the first: others are copies.
static int32_t target_of(const looping *w, int32_t k) {
  int32_t target = -1;
  for (int32_t j = 0; j < w->count && target < 0; j++) {
    target = has_memory(w->item, j) && source_of(w->item, j) == k ? j : -1;
  }
  return w->list[k].how == CARRIED_IN_SLOT ? target : k;
}

enum { MOST_SLOTS = 8 };  // as many numbers of a slot as the verifier tries

// The next position of a rotation; -1 at the end.
static int32_t next_of(const looping *w, int32_t k) {
  int32_t next = target_of(w, k);
  return next >= 0 && w->list[next].how == CARRIED_IN_SLOT && w->list[next].rotation == NULL ? next : -1;
}

// Whether the positions from |k| on come back to it, in so few steps that they fit a rotation.
static bool is_closed(const looping *w, int32_t k) {
  int32_t at = next_of(w, k);
  for (int32_t steps = 1; at >= 0 && at != k && steps < MOST_SLOTS; steps++) {
    at = next_of(w, at);
  }
  return at == k;
}

// Positions of one rotation, from |first| on to where each goes in a step. Too long ones are cut, and what goes from one
// part to the next is copied.
static void make_rotation(indim_lowering *l, looping *w, int32_t first, bool has_new) {
  rotation *r = &w->rotations[w->rotation_count++];
  *r = (rotation){.row = w->row_count++, .has_new = has_new, .slots = has_new ? 1 : 0};
  for (int32_t k = first; k >= 0 && r->slots < MOST_SLOTS; k = next_of(w, k)) {
    w->list[k].rotation = r;
    w->list[k].position = r->slots++ - (has_new ? 1 : 0);
  }
  const indim_flow_item *parameter = w->item->flows[1]->parameters[first];
  r->at = indim_location_scratch(l, parameter);
  r->elements = indim_shape_element_count(parameter->shape);
  if (r->at.storage != NULL) {
    r->at.storage->elements *= r->slots;
  }
}

// Whether a new array comes in at |k|: computed, or copied because another result has the memory that it would have.
static bool is_new(const looping *w, int32_t k) {
  int32_t source = source_of(w->item, k);
  return source < 0 || target_of(w, source) != k;
}

// Rotations for all that moves: first those that something new comes into, then those that are closed.
static void make_rotations(indim_lowering *l, looping *w) {
  w->rotations = indim_lower_alloc(l, w->count, sizeof *w->rotations);
  for (int closed = 0; closed < 2; closed++) {
    for (int32_t k = 0; k < w->count && !indim_lower_failed(l); k++) {
      const carried *c = &w->list[k];
      if (c->how == CARRIED_IN_SLOT && c->rotation == NULL && (closed == 1 || is_new(w, k))) {
        make_rotation(l, w, k, closed == 0 || !is_closed(w, k));
      }
    }
  }
  for (int32_t k = 0; k < w->count && !indim_lower_failed(l); k++) {
    const carried *c = &w->list[k];
    if (c->how == CARRIED_IN_SLOT) {
      indim_location at = c->rotation->at;
      at.offset = c->position * c->rotation->elements;
      indim_nest_copy(l, w->item->operands[k], &at);
    }
  }
}

// What is carried in registers, and memory for what is updated in place.
static void prepare_one(indim_lowering *l, looping *w, int32_t k) {
  const indim_flow_item *item = w->item;
  carried *c = &w->list[k];
  c->how = choose_carrying(item, k);
  c->first_row = w->row_count;
  if (c->how == CARRIED_ROWS) {
    const indim_regs *regs = indim_regs_need(l, item->operands[k]);
    c->row_count = regs->row_count;
    c->lanes = regs->lanes;
  } else if (c->how == CARRIED_FIXED) {  // whatever the bodies need of it is made before the loop
    (void)indim_regs_need(l, item->operands[k]);
    if (item->flows[0]->parameters[k]->needs_memory_copy || item->flows[1]->parameters[k]->needs_memory_copy) {
      (void)indim_location_need(l, item->operands[k]);
    }
  } else if (c->how == CARRIED_IN_PLACE) {
    own_memory(l, item->operands[k], item->flows[1]->parameters[k], indim_flow_result(w->item, k), c);
  } else if (c->how == CARRIED_SAME) {
    (void)indim_location_need(l, item->operands[k]);
  }
  item->flows[1]->parameters[k]->may_be_overwritten = c->how == CARRIED_IN_PLACE || c->how == CARRIED_IN_SLOT;
  w->row_count += c->row_count;
}

static bool prepare(indim_lowering *l, indim_flow_item *item, looping *w) {
  w->item = item;
  w->count = item->operand_count;
  w->list = indim_lower_alloc(l, w->count, sizeof *w->list);
  for (int32_t k = 0; k < w->count && w->list != NULL && !indim_lower_failed(l); k++) {
    prepare_one(l, w, k);
  }
  if (indim_lower_failed(l)) {
    return false;
  }
  make_rotations(l, w);
  w->begin = indim_lower_alloc(l, 4 * (int64_t)w->row_count + 1, sizeof *w->begin);
  if (w->begin == NULL || indim_lower_failed(l)) {
    return false;
  }
  w->in = w->begin + w->row_count;
  w->yields = w->in + w->row_count;
  for (int32_t k = 0; k < w->count; k++) {
    const carried *c = &w->list[k];
    if (c->how == CARRIED_ROWS) {
      memcpy(w->begin + c->first_row, indim_regs_need(l, item->operands[k])->rows,
             (size_t)c->row_count * sizeof *w->begin);
    }
  }
  for (int32_t i = 0; i < w->rotation_count; i++) {
    w->begin[w->rotations[i].row] = indim_loop_index(&l->b, 0);
  }
  return true;
}

// What comes into a rotation at |k| goes to its last slot. NULL for what moves inside one, or does not.
static const rotation *comes_into(const looping *w, int32_t k) {
  const carried *c = &w->list[k];
  return c->how == CARRIED_IN_SLOT && c->rotation->has_new && c->position == 0 ? c->rotation : NULL;
}

// Where the body writes its results, before it is lowered: an item that is computed writes straight to its place.
static void aim_results(indim_lowering *l, indim_flow *body, const looping *w) {
  for (int32_t k = 0; k < w->count; k++) {
    const rotation *r = comes_into(w, k);
    indim_flow_item *result = body->results[k];
    bool is_elsewhere = indim_flow_root(result) != NULL;  // in the memory of what is carried as another value
    if (r != NULL && result->kind == INDIM_FLOW_OP && result->place.storage == NULL &&
        result->placement == INDIM_PLACEMENT_MEMORY && !is_elsewhere) {
      indim_location at = slot_location(l, r, w->in, r->slots - 1);
      indim_lower_aim(result, &at);
    }
  }
}

static void yield_results(indim_lowering *l, indim_flow *body, const looping *w) {
  for (int32_t k = 0; k < w->count && !indim_lower_failed(l); k++) {
    const carried *c = &w->list[k];
    const rotation *r = comes_into(w, k);
    if (c->how == CARRIED_ROWS) {
      const indim_regs *regs = indim_regs_need(l, body->results[k]);
      memcpy(w->yields + c->first_row, regs->rows, (size_t)c->row_count * sizeof *w->yields);
    } else if (r != NULL) {
      indim_location at = slot_location(l, r, w->in, r->slots - 1);
      if (!indim_location_same(&body->results[k]->place, &at)) {
        indim_nest_copy(l, body->results[k], &at);
      }
    }
  }
  for (int32_t i = 0; i < w->rotation_count && !indim_lower_failed(l); i++) {
    const rotation *r = &w->rotations[i];
    w->yields[r->row] = slot_at(l, r, w->in[r->row], r->slots - 1);
  }
}

// Whether an item reads more than it gives: a long sum that threads could share.
static bool is_of_large_operand(const indim_flow_item *item) {
  bool sums = item->kind == INDIM_FLOW_OP &&
              (item->instr->op == INDIM_OP_REDUCE || item->instr->op == INDIM_OP_REDUCE_WINDOW ||
               item->instr->op == INDIM_OP_DOT || item->instr->op == INDIM_OP_SELECT_AND_SCATTER);
  return sums && !(indim_plan_is_small(item->operands[0]) && indim_plan_is_small(item->operands[1]));
}

// Whether a body has no loop nests that threads could share: all that it computes is small, but for what it updates in place, and
// what that is made of.
static bool is_of_small_arrays(const indim_flow *body) {
  for (int32_t i = 0; i < body->item_count; i++) {
    const indim_flow_item *item = body->items[i];
    bool is_update = item->kind == INDIM_FLOW_OP && item->instr->op == INDIM_OP_DYNAMIC_UPDATE_SLICE &&
                     item->overwrites && indim_plan_is_small(item->operands[1]);
    bool is_computed = item->kind != INDIM_FLOW_PARAMETER && item->placement == INDIM_PLACEMENT_MEMORY;
    bool is_array = indim_shape_is_array(item->shape);
    if (is_of_large_operand(item) || (is_computed && is_array && !is_update && !indim_plan_is_small(item))) {
      return false;
    }
  }
  return true;
}

// A loop that counts its steps and carries nothing else, but updates arrays in place, is a for: its index has a range, and steps that
// keep to elements of their own may run on threads. False for any other loop.
static bool lower_counted(indim_lowering *l, indim_flow_item *item, const looping *w) {
  indim_loop_builder *b = &l->b;
  indim_flow *body = item->flows[1];
  int32_t counter = 0;
  int64_t steps = 0;
  if (w->row_count != 1 || !indim_plan_counts_steps(item, &counter, &steps) || w->list[counter].how != CARRIED_ROWS ||
      !is_of_small_arrays(body)) {
    return false;
  }
  l->loop_depth++;
  indim_value_id index = indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, steps), 1, 0, NULL, NULL);
  indim_value_id *in = indim_lower_alloc(l, 1, sizeof *in);
  for (int32_t k = 0; k < w->count && in != NULL; k++) {
    *in = index;
    bind(l, &w->list[k], item->operands[k], in, body->parameters[k]);
  }
  indim_lower_flow(l, body);
  indim_loop_for_end(b, NULL, NULL);
  l->loop_depth--;
  indim_value_id *results = indim_lower_alloc(l, 1, sizeof *results);
  for (int32_t k = 0; k < w->count && results != NULL; k++) {
    *results = indim_loop_index(b, steps);
    bind(l, &w->list[k], item->operands[k], results, indim_flow_result(item, k));
  }
  return true;
}

static void lower_while(indim_lowering *l, indim_flow_item *item) {
  indim_loop_builder *b = &l->b;
  looping w = {0};
  if (!prepare(l, item, &w) || lower_counted(l, item, &w)) {
    return;
  }
  indim_flow *condition = item->flows[0];
  indim_flow *body = item->flows[1];
  indim_loop_while_begin(b, w.row_count, w.begin, w.in);
  for (int32_t k = 0; k < w.count; k++) {
    bind(l, &w.list[k], item->operands[k], w.in, condition->parameters[k]);
  }
  indim_lower_flow(l, condition);
  indim_value_id pred = indim_lower_failed(l) ? 0 : indim_regs_need(l, condition->results[0])->rows[0];
  // The condition's values are gone in the body, which has its own.
  indim_value_id *in = indim_lower_alloc(l, w.row_count + 1, sizeof *in);
  if (in == NULL || indim_lower_failed(l)) {
    return;
  }
  w.in = in;
  indim_loop_while_body(b, pred, w.in);
  for (int32_t k = 0; k < w.count; k++) {
    bind(l, &w.list[k], item->operands[k], w.in, body->parameters[k]);
  }
  aim_results(l, body, &w);
  indim_lower_flow(l, body);
  yield_results(l, body, &w);
  indim_value_id *results = indim_lower_alloc(l, w.row_count + 1, sizeof *results);
  if (results == NULL || indim_lower_failed(l)) {
    return;
  }
  indim_loop_while_end(b, w.yields, results);
  for (int32_t k = 0; k < w.count; k++) {
    indim_flow_item *member = indim_flow_result(item, k);
    bind(l, &w.list[k], item->operands[k], results, member);
  }
}

// Conditional ------------------------------------------------------------------------------------------------------------

typedef struct branching {
  indim_flow_item *item;
  int32_t count;  // results
  carried *list;  // ROWS or IN_PLACE (memory that both branches write)
  int32_t row_count;
} branching;

// Whether a result of a conditional lives in the memory of an operand.
static bool takes_over(const indim_flow_item *member) {
  return member->overwrites && indim_location_same(&member->place, &member->base->place);
}

// Whether branches may overwrite what is in the operand's memory.
static bool may_be_overwritten(const branching *c, const indim_flow_item *operand) {
  bool is_taken = false;
  for (int32_t k = 0; k < c->count; k++) {
    const indim_flow_item *member = indim_flow_result(c->item, k);
    is_taken = is_taken || (c->list[k].how != CARRIED_ROWS && takes_over(member) &&
                            indim_location_same(&operand->place, &member->base->place));
  }
  return is_taken;
}

static void run_branch(indim_lowering *l, const branching *c, int32_t branch, int32_t first_operand,
                       indim_value_id *yields) {
  indim_flow *flow = c->item->flows[branch];
  for (int32_t p = 0; p < flow->parameter_count && !indim_lower_failed(l); p++) {
    indim_flow_item *operand = c->item->operands[first_operand + p];
    indim_flow_item *parameter = flow->parameters[p];
    parameter->may_be_overwritten = may_be_overwritten(c, operand);
    if (parameter->placement == INDIM_PLACEMENT_REGISTERS) {
      parameter->regs = *indim_regs_need(l, operand);
      parameter->has_regs = true;
      parameter->place = operand->place;
    } else {
      parameter->place = indim_location_need(l, operand);
    }
  }
  for (int32_t k = 0; k < c->count; k++) {
    indim_flow_item *result = flow->results[k];
    const indim_flow_item *member = indim_flow_result(c->item, k);
    // What lives in an operand's memory is not written before the branch is done with the operand.
    if (c->list[k].how != CARRIED_ROWS && result->kind == INDIM_FLOW_OP && result->place.storage == NULL &&
        result->placement == INDIM_PLACEMENT_MEMORY && !takes_over(member)) {
      indim_lower_aim(result, &member->place);
    }
  }
  indim_lower_flow(l, flow);
  // A parameter that is copied over another operand comes last: what is computed only now may read that one.
  for (int32_t n = 0; n < 2 * c->count && !indim_lower_failed(l); n++) {
    int32_t k = n % c->count;
    const carried *r = &c->list[k];
    indim_flow_item *result = flow->results[k];
    const indim_flow_item *member = indim_flow_result(c->item, k);
    bool is_last = r->how != CARRIED_ROWS && result->kind == INDIM_FLOW_PARAMETER && takes_over(member);
    if (is_last != (n >= c->count)) {
      continue;
    }
    if (r->how == CARRIED_ROWS) {
      const indim_regs *regs = indim_regs_need(l, result);
      memcpy(yields + r->first_row, regs->rows, (size_t)r->row_count * sizeof *yields);
    } else if (!indim_location_same(&result->place, &member->place)) {
      indim_location at = member->place;
      indim_nest_copy(l, result, &at);
    }
  }
}

// Branch |branch| if the index says so, else one of those behind it.
static void run_branches(indim_lowering *l, const branching *c, indim_value_id which, int32_t branch,
                         int32_t first_operand, indim_value_id *results) {
  indim_loop_builder *b = &l->b;
  if (indim_lower_failed(l)) {
    return;
  }
  if (branch + 1 == c->item->flow_count) {
    run_branch(l, c, branch, first_operand, results);
    return;
  }
  indim_value_id *yields = indim_lower_alloc(l, c->row_count + 1, sizeof *yields);
  if (yields == NULL) {
    return;
  }
  indim_loop_if_begin(b, indim_loop_in_range(b, which, branch, branch));
  run_branch(l, c, branch, first_operand, yields);
  indim_loop_if_else(b, c->row_count, yields);
  run_branches(l, c, which, branch + 1, first_operand + c->item->flows[branch]->parameter_count, yields);
  indim_loop_if_end(b, yields, results);
}

// The branch's number: a pred takes branch 0 when it is true; an s32 out of range the last one.
static indim_value_id branch_number(indim_lowering *l, indim_flow_item *item) {
  indim_loop_builder *b = &l->b;
  indim_value_id x = indim_regs_need(l, item->operands[0])->rows[0];
  if (indim_lower_failed(l)) {
    return 0;
  }
  if (item->operands[0]->shape->type == INDIM_PRED) {
    return indim_loop_select(b, x, indim_loop_index(b, 0), indim_loop_index(b, 1));
  }
  int64_t last = item->flow_count - 1;
  indim_value_id wide = indim_loop_convert(b, x, INDIM_S64);
  return indim_loop_select(b, indim_loop_in_range(b, wide, 0, last), wide, indim_loop_index(b, last));
}

// A result that a branch makes of an operand by updating it lives there, if nobody needs the operand afterwards.
static void place_result(indim_lowering *l, indim_flow_item *member) {
  if (member->overwrites && indim_flow_owns(member->base)) {
    indim_location at = indim_location_need(l, member->base);
    if (at.tiled == NULL) {
      member->place = member->place.storage == NULL ? at : member->place;
    }
  }
  if (member->place.storage == NULL) {
    if (member->base != NULL) {
      indim_lower_explain_copy(l, member, member->base);
    }
    member->place = indim_location_scratch(l, member);
  }
}

static void lower_conditional(indim_lowering *l, indim_flow_item *item) {
  enum { MAX_BRANCHES = 200 };
  if (item->flow_count > MAX_BRANCHES) {
    indim_lower_refuse(l, item, "a conditional of more than 200 branches is not compiled");
    return;
  }
  branching c = {.item = item, .count = item->flows[0]->result_count};
  c.list = indim_lower_alloc(l, c.count, sizeof *c.list);
  indim_value_id which = branch_number(l, item);
  // Operands that branches look at are made before, where both see them.
  for (int32_t p = 1; p < item->operand_count && !indim_lower_failed(l); p++) {
    int64_t count = indim_shape_element_count(item->operands[p]->shape);
    if (item->operands[p]->placement == INDIM_PLACEMENT_REGISTERS || (count >= 1 && count <= 128)) {
      (void)indim_regs_need(l, item->operands[p]);
    }
    (void)indim_location_need(l, item->operands[p]);
  }
  for (int32_t k = 0; k < c.count && c.list != NULL && !indim_lower_failed(l); k++) {
    indim_flow_item *member = indim_flow_result(item, k);
    carried *r = &c.list[k];
    r->first_row = c.row_count;
    if (member->placement == INDIM_PLACEMENT_REGISTERS) {
      r->how = CARRIED_ROWS;
      r->lanes = indim_regs_lanes(l->target, member->shape);
      r->row_count = (int32_t)((indim_shape_element_count(member->shape) + r->lanes - 1) / r->lanes);
      c.row_count += r->row_count;
    } else {
      r->how = CARRIED_IN_PLACE;
      place_result(l, member);
    }
  }
  indim_value_id *results = indim_lower_alloc(l, c.row_count + 1, sizeof *results);
  if (results == NULL || indim_lower_failed(l)) {
    return;
  }
  run_branches(l, &c, which, 0, 1, results);
  for (int32_t k = 0; k < c.count && !indim_lower_failed(l); k++) {
    if (c.list[k].how == CARRIED_ROWS) {
      indim_flow_item *member = indim_flow_result(item, k);
      bind_rows(&c.list[k], results, member);
      indim_lower_deliver(l, member);
    }
  }
}

void indim_lower_control(indim_lowering *l, indim_flow_item *item) {
  if (item->instr->op == INDIM_OP_WHILE) {
    lower_while(l, item);
  } else {
    lower_conditional(l, item);
  }
}
