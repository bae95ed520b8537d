// What only names other values on one device (expand/one_device.c), with their sizes.
#include "graph/one_device.h"
#include "expand/dynamic/padder.h"

// Zeros of any shape, as many as the bounds. As deep as the shape, whose depth is limited.
static value make_zeros(indim_padder *p, const indim_shape *shape) {
  if (indim_shape_is_static(shape)) {
    return indim_expand_zeros(&p->x, shape);
  }
  if (indim_shape_is_array(shape)) {
    indim_sized zeros = {.data = indim_expand_zeros(&p->x, shape)};
    return indim_padder_pack(p, shape, &zeros);
  }
  value *members = indim_expand_values(&p->x, shape->member_count);
  for (int64_t i = 0; members != NULL && i < shape->member_count; i++) {
    members[i] = make_zeros(p, shape->members[i]);
  }
  return members == NULL ? NULL : indim_build_tuple(p->x.b, members, (int32_t)shape->member_count);
}

// One operand as it is, several, or one that is stated as a tuple, as a tuple.
static value operands_as(indim_padder *p, const indim_instr *instr, const indim_sized *operands,
                         const indim_shape *shape) {
  if (instr->operand_count == 1 && indim_shape_is_tuple(instr->operands[0]->shape) == indim_shape_is_tuple(shape)) {
    return indim_padder_operand(p, instr, operands, 0, shape);
  }
  value *members = indim_expand_values(&p->x, (int64_t)instr->operand_count + 1);
  for (int32_t i = 0; members != NULL && i < instr->operand_count; i++) {
    members[i] = indim_padder_operand(p, instr, operands, i, shape->members[i]);
  }
  return members == NULL ? NULL : indim_build_tuple(p->x.b, members, instr->operand_count);
}

// (the operands, the result, zeros for the rest of what a start is stated to return).
static value start_with(indim_padder *p, const indim_shape *shape, value operands, value result) {
  value *members = indim_expand_values(&p->x, shape->member_count);
  for (int64_t i = 2; members != NULL && i < shape->member_count; i++) {
    members[i] = make_zeros(p, shape->members[i]);
  }
  if (members == NULL) {
    return NULL;
  }
  members[0] = operands;
  members[1] = result;
  return indim_build_tuple(p->x.b, members, (int32_t)shape->member_count);
}

// Member |index| of operand 0, unless operand 0 itself is what the instruction returns.
static value member_of(indim_padder *p, const indim_instr *instr, const indim_sized *operands, int64_t index) {
  const indim_shape *from = instr->operands[0]->shape;
  if (indim_shape_compatible(from, instr->shape)) {
    return indim_padder_operand(p, instr, operands, 0, instr->shape);
  }
  value member = indim_build_get_tuple_element(p->x.b, operands[0].data, index);
  return indim_padder_coerce(p, member, from->members[index], instr->shape);
}

// The result of a collective, in the shape that it has by itself.
static value exchange(indim_padder *p, const indim_instr *instr, const indim_sized *operands,
                      const indim_shape *shape) {
  bool is_permute = instr->op == INDIM_OP_COLLECTIVE_PERMUTE || instr->op == INDIM_OP_COLLECTIVE_PERMUTE_START;
  return is_permute && !indim_permute_keeps(instr) ? make_zeros(p, shape) : operands_as(p, instr, operands, shape);
}

static value start_collective(indim_padder *p, const indim_instr *instr, const indim_sized *operands) {
  const indim_shape *shape = instr->shape;
  if (indim_collective_start_is_result(instr)) {
    return exchange(p, instr, operands, shape);
  }
  return start_with(p, shape, operands_as(p, instr, operands, shape->members[0]),
                    exchange(p, instr, operands, shape->members[1]));
}

static value start_call(indim_padder *p, const indim_instr *instr, const indim_sized *operands) {
  const indim_shape *shape = instr->shape;
  const indim_computation *called = indim_instr_computation(instr, INDIM_ATTR_CALLS);
  value *given = indim_expand_values(&p->x, (int64_t)instr->operand_count + 1);
  for (int32_t i = 0; given != NULL && i < instr->operand_count; i++) {
    given[i] = indim_padder_operand(p, instr, operands, i, shape->members[0]->members[i]);
  }
  value tuple = given == NULL ? NULL : indim_build_tuple(p->x.b, given, instr->operand_count);
  return start_with(p, shape, tuple, indim_padder_call(p, instr, operands, called, shape->members[1]));
}

static value start_copy(indim_padder *p, const indim_instr *instr, const indim_sized *operands) {
  const indim_shape *shape = instr->shape;
  value copy = indim_padder_operand(p, instr, operands, 0, shape->members[0]);
  return start_with(p, shape, copy, indim_padder_operand(p, instr, operands, 0, shape->members[1]));
}

static value start_or_end(indim_padder *p, const indim_instr *instr, const indim_sized *operands) {
  switch ((int)instr->op) {
  case INDIM_OP_COPY_START:
    return start_copy(p, instr, operands);
  case INDIM_OP_COPY_DONE:
    return member_of(p, instr, operands, 0);
  case INDIM_OP_ASYNC_START:
    return start_call(p, instr, operands);
  case INDIM_OP_ASYNC_DONE:
  case INDIM_OP_ALL_REDUCE_DONE:
  case INDIM_OP_ALL_GATHER_DONE:
  case INDIM_OP_COLLECTIVE_PERMUTE_DONE:
    return member_of(p, instr, operands, 1);
  default:
    break;
  }
  indim_status status = indim_collective_verify_alone(p->x.cx, instr);
  if (status != INDIM_OK) {
    return indim_expand_fail(&p->x, status);
  }
  bool starts = instr->op == INDIM_OP_ALL_REDUCE_START || instr->op == INDIM_OP_ALL_GATHER_START ||
                instr->op == INDIM_OP_COLLECTIVE_PERMUTE_START;
  return starts ? start_collective(p, instr, operands) : exchange(p, instr, operands, instr->shape);
}

indim_sized indim_dynamic_one_device(indim_padder *p, const indim_instr *instr, indim_sized *operands) {
  return indim_padder_unpack(p, instr->shape, start_or_end(p, instr, operands));
}
