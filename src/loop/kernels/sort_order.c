// The order that a comparator makes, read from its instructions: a less or greater of the same function of both sides, or of one after
// another, is a strict weak order.
#include "graph/equal.h"
#include "loop/kernels/sort.h"

// Whether |x| is the same function of the left elements as |y| of the right ones.
static bool is_mirrored(const indim_instr *x, const indim_instr *y, int depth) {
  enum { TOO_DEEP = 12 };
  if (x->op != y->op || x->shape->type != y->shape->type || depth > TOO_DEEP) {
    return false;
  }
  if (x->op == INDIM_OP_PARAMETER) {
    return x->parameter_number % 2 == 0 && y->parameter_number == x->parameter_number + 1;
  }
  if (x->op == INDIM_OP_CONSTANT) {
    return x == y || indim_instr_computes_same(x, y);
  }
  indim_loop_op op_x = indim_loop_op_of(x);
  indim_loop_op op_y = indim_loop_op_of(y);
  bool is_same_op = indim_loop_can_instr(x) || indim_op_class_of(x->op) == INDIM_OP_CLASS_MOVE;
  if (!is_same_op || !indim_loop_same_op(&op_x, &op_y)) {
    return false;
  }
  for (int32_t k = 0; k < x->operand_count; k++) {
    if (!is_mirrored(x->operands[k], y->operands[k], depth + 1)) {
      return false;
    }
  }
  return true;
}

static bool is_partial(const indim_instr *compare) {
  return indim_type_is_float(compare->operands[0]->shape->type) && !indim_instr_is_total_order(compare);
}

// Whether |x| compares the same function of both sides, in a total order; or columns of floats, of which NaNs are in no order.
static bool compares_same(const indim_instr *x) {
  if (x->op != INDIM_OP_COMPARE || indim_type_is_complex(x->operands[0]->shape->type)) {
    return false;
  }
  return (!is_partial(x) || x->operands[0]->op == INDIM_OP_PARAMETER) &&
         (is_mirrored(x->operands[0], x->operands[1], 0) || is_mirrored(x->operands[1], x->operands[0], 0));
}

static bool is_same_value(const indim_instr *x, const indim_instr *y) {
  return x == y || indim_instr_computes_same(x, y);
}

// Whether |x| is a less or greater.
static bool is_before(const indim_instr *x) {
  indim_compare_direction direction = compares_same(x) ? indim_instr_direction(x) : INDIM_COMPARE_EQ;
  return direction == INDIM_COMPARE_LT || direction == INDIM_COMPARE_GT;
}

// Whether |x| says, in the given direction, that the two sides of |before| are equal or that they are not.
static bool says_equal(const indim_instr *x, const indim_instr *before, indim_compare_direction direction) {
  if (!is_before(before) || !compares_same(x) || indim_instr_direction(x) != direction ||
      is_partial(x) != is_partial(before)) {
    return false;
  }
  bool is_straight =
      is_same_value(x->operands[0], before->operands[0]) && is_same_value(x->operands[1], before->operands[1]);
  bool is_crossed =
      is_same_value(x->operands[0], before->operands[1]) && is_same_value(x->operands[1], before->operands[0]);
  return is_straight || is_crossed;
}

// The order of those that |x|, the first key's, leaves equal, if |x| is that of several keys: before or (equal and rest), or a
// select. NULL if it is none.
static const indim_instr *order_of_rest(const indim_instr *x, const indim_instr **out_before) {
  const indim_instr *rest = NULL;
  if (x->op == INDIM_OP_SELECT) {
    bool is_first = says_equal(x->operands[0], x->operands[2], INDIM_COMPARE_EQ);
    bool is_second = !is_first && says_equal(x->operands[0], x->operands[1], INDIM_COMPARE_NE);
    *out_before = x->operands[is_first ? 2 : 1];
    rest = is_first ? x->operands[1] : is_second ? x->operands[2] : NULL;
  }
  for (int32_t i = 0; i < 2 && x->op == INDIM_OP_OR && rest == NULL; i++) {
    const indim_instr *both = x->operands[1 - i];
    *out_before = x->operands[i];
    for (int32_t k = 0; k < 2 && both->op == INDIM_OP_AND && rest == NULL; k++) {
      rest = says_equal(both->operands[k], x->operands[i], INDIM_COMPARE_EQ) ? both->operands[1 - k] : NULL;
    }
  }
  return rest;
}

// The key of a less or greater: either side may be the function of the left elements.
static indim_sort_key key_of(const indim_instr *before) {
  bool is_crossed = !is_mirrored(before->operands[0], before->operands[1], 0);
  bool is_greater = indim_instr_direction(before) == INDIM_COMPARE_GT;
  return (indim_sort_key){before->operands[is_crossed ? 1 : 0], is_greater != is_crossed, is_partial(before)};
}

// Takes the first key of |*order|, which becomes the order of those that it leaves equal; NULL where nothing is left. False for an order
// that is none of keys.
static bool take_key(const indim_instr **order, indim_sort_key *out) {
  const indim_instr *before = *order;
  const indim_instr *rest = is_before(*order) ? NULL : order_of_rest(*order, &before);
  if (rest == NULL && !is_before(*order)) {
    return false;
  }
  *out = key_of(before);
  *order = rest;
  return true;
}

int32_t indim_sort_find_keys(const indim_computation *comparator, int32_t most, indim_sort_key *out) {
  const indim_instr *order = comparator->root;
  int32_t count = 0;
  while (order != NULL && count < most && take_key(&order, &out[count])) {
    count++;
  }
  return order == NULL ? count : 0;
}

// Notes what is known of the comparator: that it is a less or greater of the same function of both sides, or of one after another;
// and which columns it so orders by themselves, but for NaNs.
static void find_order(indim_sorting *s) {
  const indim_instr *order = s->comparator->root;
  indim_sort_key key;
  while (order != NULL && take_key(&order, &key)) {
    if (key.is_partial) {
      s->is_partial = true;
      s->is_ordered[key.value->parameter_number / 2] = true;
    }
  }
  s->is_strict = order == NULL;
  s->is_partial = s->is_partial && s->is_strict;
}

static void find_columns(indim_sorting *s) {
  for (int32_t i = 0; i < s->comparator->instr_count; i++) {
    const indim_instr *instr = s->comparator->instrs[i];
    for (int32_t k = 0; k < instr->operand_count; k++) {
      if (instr->operands[k]->op == INDIM_OP_PARAMETER) {
        s->is_key[instr->operands[k]->parameter_number / 2] = true;
      }
    }
  }
  if (s->comparator->root->op == INDIM_OP_PARAMETER) {
    s->is_key[s->comparator->root->parameter_number / 2] = true;
  }
}

void indim_sort_know_order(indim_sorting *s) {
  find_columns(s);
  find_order(s);
}
