// What only names other values when a program runs by itself on one device: collectives over groups of one device, their
// start and done pairs, copies and calls that are begun and ended.
#include "graph/one_device.h"
#include "expand/kit.h"

// One operand as it is, several, or one that is stated as a tuple, as a tuple.
static value operands_as(indim_expander *x, const indim_shape *shape) {
  const indim_instr *instr = x->instr;
  if (instr->operand_count == 1 && indim_shape_compatible(instr->operands[0]->shape, shape)) {
    return x->operands[0];
  }
  return indim_build_tuple(x->b, x->operands, instr->operand_count);
}

// (the operands, the result, zeros for the rest of what a start is stated to return).
static value start_with(indim_expander *x, value operands, value result) {
  const indim_shape *shape = x->instr->shape;
  value *members = indim_expand_values(x, shape->member_count);
  for (int64_t i = 2; members != NULL && i < shape->member_count; i++) {
    members[i] = indim_expand_zeros(x, shape->members[i]);
  }
  if (members == NULL) {
    return NULL;
  }
  members[0] = operands;
  members[1] = result;
  return indim_build_tuple(x->b, members, (int32_t)shape->member_count);
}

// Member |index| of operand 0, unless operand 0 itself is what the instruction returns.
static value member_of(indim_expander *x, int64_t index) {
  indim_expand_begin(x);
  bool is_whole = indim_shape_compatible(x->instr->operands[0]->shape, x->instr->shape);
  return is_whole ? x->operands[0] : indim_build_get_tuple_element(x->b, x->operands[0], index);
}

// Copies and calls -----------------------------------------------------------------------------------------------------

value indim_expand_copy_start(indim_expander *x) {
  indim_expand_begin(x);
  return start_with(x, x->operands[0], x->operands[0]);
}

value indim_expand_copy_done(indim_expander *x) { return member_of(x, 0); }

// ((the operands), what the computation gives, the context).
value indim_expand_async_start(indim_expander *x) {
  indim_expand_begin(x);
  value operands = indim_build_tuple(x->b, x->operands, x->instr->operand_count);
  const indim_computation *called = indim_instr_computation(x->instr, INDIM_ATTR_CALLS);
  return start_with(x, operands, indim_expand_call(x, called, x->operands, x->instr->operand_count));
}

value indim_expand_async_update(indim_expander *x) {
  indim_expand_begin(x);
  return x->operands[0];
}

value indim_expand_async_done(indim_expander *x) {
  indim_expand_begin(x);
  return indim_build_get_tuple_element(x->b, x->operands[0], 1);
}

// Collectives ----------------------------------------------------------------------------------------------------------

static bool is_alone(indim_expander *x) {
  indim_status status = indim_collective_verify_alone(x->cx, x->instr);
  if (status != INDIM_OK) {
    (void)indim_expand_fail(x, status);
  }
  indim_expand_begin(x);
  return status == INDIM_OK;
}

// The result of a collective, in the shape that it has by itself.
static value exchange(indim_expander *x, const indim_shape *shape) {
  bool is_permute = x->instr->op == INDIM_OP_COLLECTIVE_PERMUTE || x->instr->op == INDIM_OP_COLLECTIVE_PERMUTE_START;
  return is_permute && !indim_permute_keeps(x->instr) ? indim_expand_zeros(x, shape) : operands_as(x, shape);
}

value indim_expand_collective(indim_expander *x) { return is_alone(x) ? exchange(x, x->instr->shape) : NULL; }

// (operands, result, context); an all-reduce-start may be stated to return the result alone.
value indim_expand_collective_start(indim_expander *x) {
  if (!is_alone(x)) {
    return NULL;
  }
  const indim_shape *shape = x->instr->shape;
  value operands = operands_as(x, shape);
  if (operands == NULL || indim_shape_compatible(operands->shape, shape)) {
    return operands;
  }
  operands = operands_as(x, shape->members[0]);
  return start_with(x, operands, exchange(x, shape->members[1]));
}

value indim_expand_collective_done(indim_expander *x) { return member_of(x, 1); }
