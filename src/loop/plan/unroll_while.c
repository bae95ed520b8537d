// Unrolling of while loops of few steps: what comes in is a loop that counts from one constant to another, whose body
// computes whole arrays element by element; what goes out are the items of its body, once for each step. What one step
// computes of an element the next one needs at the same index, so that the planner makes one loop nest of all steps, and no
// array passes through memory between them. Constants that change places from step to step are what they are:
//
//   while (i < 5) x, r, s = rotate(x, r[0]) ^ ..., s, r      one nest over x, of rotations by constants
//
// A loop of no step becomes what it is given, whatever its body is.
#include <string.h>

#include "array/element.h"
#include "loop/nest/element.h"
#include "loop/plan/flow_make.h"
#include "loop/plan/plan.h"
#include "loop/target/cost.h"

typedef indim_flow_maker maker;

// The steps ----------------------------------------------------------------------------------------------------------

static bool is_counted(const indim_shape *shape) {
  return indim_shape_is_scalar(shape) && indim_type_is_integral(shape->type);
}

bool indim_flow_read_constant(const indim_flow_item *item, int64_t *out) {
  if (item->kind != INDIM_FLOW_OP || item->instr->op != INDIM_OP_CONSTANT || !is_counted(item->shape) ||
      indim_literal_is_elided(item->instr->literal)) {
    return false;
  }
  const indim_shape *shape = indim_literal_shape(item->instr->literal);
  indim_element element =
      indim_element_load(shape->type, indim_shape_element_bits(shape), indim_literal_data(item->instr->literal), 0);
  *out = indim_element_to_int(shape->type, element);
  return true;
}

// The same for an item inside the loop: a parameter that no step changes may be constant as well.
static bool read_fixed(const indim_flow_item *loop, const indim_flow_item *item, int64_t *out) {
  const indim_flow *body = loop->flows[1];
  if (item->kind == INDIM_FLOW_PARAMETER) {
    bool is_same = body->results[item->number] == body->parameters[item->number];
    return is_same && indim_flow_read_constant(loop->operands[item->number], out);
  }
  return indim_flow_read_constant(item, out);
}

// A counter: it starts at |value|, and each step adds |by|.
typedef struct counter {
  indim_type type;
  int64_t value, by;
} counter;

static bool read_counter(const indim_flow_item *loop, const indim_flow_item *parameter, counter *out) {
  if (parameter->kind != INDIM_FLOW_PARAMETER || !is_counted(parameter->shape)) {
    return false;
  }
  int32_t k = parameter->number;
  const indim_flow_item *own = loop->flows[1]->parameters[k];
  const indim_flow_item *next = loop->flows[1]->results[k];
  bool is_sum = next->kind == INDIM_FLOW_OP && next->instr->op == INDIM_OP_ADD;
  bool is_difference = next->kind == INDIM_FLOW_OP && next->instr->op == INDIM_OP_SUBTRACT;
  if (!(is_sum || is_difference) || !indim_flow_read_constant(loop->operands[k], &out->value)) {
    return false;
  }
  bool is_first = next->operands[0] == own;
  if ((!is_first && (is_difference || next->operands[1] != own)) ||
      !read_fixed(loop, next->operands[is_first ? 1 : 0], &out->by)) {
    return false;
  }
  out->type = parameter->shape->type;
  out->by = is_difference ? (int64_t)(0 - (uint64_t)out->by) : out->by;
  return true;
}

static bool compares(indim_compare_direction direction, indim_type type, int64_t x, int64_t y) {
  bool is_less = type == INDIM_U64 ? (uint64_t)x < (uint64_t)y : x < y;
  switch (direction) {
  case INDIM_COMPARE_EQ:
    return x == y;
  case INDIM_COMPARE_NE:
    return x != y;
  case INDIM_COMPARE_GE:
    return !is_less;
  case INDIM_COMPARE_GT:
    return !is_less && x != y;
  case INDIM_COMPARE_LE:
    return is_less || x == y;
  case INDIM_COMPARE_LT:
    return is_less;
  }
  return false;
}

static bool has_effect(const indim_flow *flow) {
  for (int32_t i = 0; i < flow->item_count; i++) {
    if (flow->items[i]->has_effect) {
      return true;
    }
  }
  return false;
}

// How many steps the loop takes; -1 when that is not known, or too many, or asking has effects.
static int32_t count_steps(const indim_flow_item *loop) {
  const indim_flow_item *condition = loop->flows[0]->results[0];
  if (has_effect(loop->flows[0])) {
    return -1;
  }
  int64_t limit = 0;
  counter c = {0};
  if (condition->kind != INDIM_FLOW_OP || condition->instr->op != INDIM_OP_COMPARE) {
    return -1;
  }
  bool is_first = read_counter(loop, condition->operands[0], &c);
  if ((!is_first && !read_counter(loop, condition->operands[1], &c)) ||
      !read_fixed(loop, condition->operands[is_first ? 1 : 0], &limit)) {
    return -1;
  }
  indim_compare_direction direction = indim_instr_direction(condition->instr);
  for (int32_t steps = 0; steps <= INDIM_COST_UNROLLED_STEPS; steps++) {
    if (!compares(direction, c.type, is_first ? c.value : limit, is_first ? limit : c.value)) {
      return steps;
    }
    int64_t sum = (int64_t)((uint64_t)c.value + (uint64_t)c.by);
    c.value = indim_element_to_int(c.type, indim_element_of_int(c.type, sum));
  }
  return -1;
}

bool indim_plan_counts_steps(const indim_flow_item *loop, int32_t *out_counter, int64_t *out_steps) {
  const indim_flow_item *condition = loop->flows[0]->results[0];
  counter c = {0};
  bool counts =
      !has_effect(loop->flows[0]) && condition->kind == INDIM_FLOW_OP && condition->instr->op == INDIM_OP_COMPARE &&
      indim_instr_direction(condition->instr) == INDIM_COMPARE_LT && condition->operands[0]->shape->type == INDIM_S64 &&
      read_counter(loop, condition->operands[0], &c) && read_fixed(loop, condition->operands[1], out_steps);
  if (!counts || c.value != 0 || c.by != 1 || *out_steps < 1) {
    return false;
  }
  *out_counter = condition->operands[0]->number;
  return true;
}

// The body -----------------------------------------------------------------------------------------------------------

// The rows of a small array in registers, more or less; a large one is the body of a loop, which counts once.
static int64_t rows_of(const indim_flow_item *item) {
  enum { ROW = 8 };
  return indim_plan_is_small(item) ? (indim_shape_element_count(item->shape) + ROW - 1) / ROW : 1;
}

// Whether an op computes each element from those at the same index, of what the loop changes and is not small. |changes|
// says which items before it depend on that.
static bool is_elementwise(const indim_flow_item *item, const bool *changes) {
  if (item->member_count > 0 || item->flow_count > 0 || !indim_shape_is_array(item->shape) ||
      !indim_element_can(item->instr)) {
    return false;
  }
  for (int32_t k = 0; k < item->operand_count; k++) {
    const indim_flow_item *operand = item->operands[k];
    if (indim_op_moves(item->instr->op) && changes[operand->index] && !indim_plan_is_small(operand)) {
      return false;
    }
  }
  return true;
}

// Whether parameter |k| has values that steps compute, and not only, in turn, those of others that are never computed.
static bool is_computed(const indim_flow *body, int32_t k) {
  enum { LONG_TURN = 16 };
  for (int32_t turn = 0; turn < LONG_TURN; turn++) {
    const indim_flow_item *next = body->results[k];
    if (next->kind != INDIM_FLOW_PARAMETER) {
      return true;
    }
    if (next->number == k) {
      return false;
    }
    k = next->number;
  }
  return false;
}

// Whether all ops are, and |steps| of them cost little enough to be one body. |changes| has room for the items.
static bool can_unroll(const indim_flow *body, int32_t steps, bool *changes) {
  int64_t element = 0;
  int64_t rows = 0;
  for (int32_t i = 0; i < body->item_count; i++) {
    const indim_flow_item *item = body->items[i];
    if (item->kind == INDIM_FLOW_PARAMETER) {
      changes[i] = is_computed(body, item->number);
      continue;
    }
    if (item->kind != INDIM_FLOW_OP || !is_elementwise(item, changes)) {
      return false;
    }
    for (int32_t k = 0; k < item->operand_count; k++) {
      changes[i] = changes[i] || changes[item->operands[k]->index];
    }
    int64_t cost = indim_flow_op_cost(item) + 1;
    element += cost;
    rows += cost * rows_of(item);
  }
  return element * steps <= INDIM_COST_UNROLLED_ELEMENT && rows * steps <= INDIM_COST_UNROLLED_ROWS;
}

// The steps as items ---------------------------------------------------------------------------------------------------

// Copies of the body's ops, which take what |now| has in the place of its parameters. |copies| has room for the items.
static indim_status copy_step(maker *m, const indim_flow *body, indim_flow_item **now, indim_flow_item **copies) {
  for (int32_t i = 0; i < body->item_count; i++) {
    const indim_flow_item *item = body->items[i];
    if (item->kind == INDIM_FLOW_PARAMETER) {
      copies[i] = now[item->number];
      continue;
    }
    INDIM_TRY(indim_flow_new_item(m, INDIM_FLOW_OP, item->instr, item->shape, &copies[i]));
    copies[i]->operand_count = item->operand_count;
    INDIM_TRY(indim_flow_array(m->arena, item->operand_count, sizeof *copies[i]->operands, &copies[i]->operands));
    for (int32_t k = 0; k < item->operand_count; k++) {
      copies[i]->operands[k] = copies[item->operands[k]->index];
    }
  }
  for (int32_t k = 0; k < body->result_count; k++) {
    now[k] = copies[body->results[k]->index];
  }
  return INDIM_OK;
}

indim_status indim_flow_unroll(maker *m, const indim_flow_item *loop, indim_flow_item ***out_results) {
  const indim_flow *body = loop->flows[1];
  int32_t steps = count_steps(loop);
  bool *changes = NULL;
  indim_flow_item **now = NULL;
  indim_flow_item **copies = NULL;
  *out_results = NULL;
  if (steps < 0) {
    return INDIM_OK;
  }
  INDIM_TRY(indim_flow_array(m->arena, (int64_t)body->item_count + 1, sizeof *changes, &changes));
  if (steps > 0 && !can_unroll(body, steps, changes)) {
    return INDIM_OK;
  }
  INDIM_TRY(indim_flow_array(m->arena, (int64_t)body->item_count + 1, sizeof *copies, &copies));
  INDIM_TRY(indim_flow_array(m->arena, (int64_t)loop->operand_count + 1, sizeof *now, &now));
  for (int32_t k = 0; k < loop->operand_count; k++) {
    now[k] = loop->operands[k];
  }
  m->flow->item_count--;  // the loop itself
  for (int32_t step = 0; step < steps; step++) {
    INDIM_TRY(copy_step(m, body, now, copies));
  }
  *out_results = now;
  return INDIM_OK;
}
