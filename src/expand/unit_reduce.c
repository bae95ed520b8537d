// A reduce over dimensions of one element each, such as a mean over a batch of one, is its op on the initial value and the element:
//
//   reduce(f32[1,700] x, init), dimensions={0}, to_apply=add    add(broadcast(init), reshape(x))
#include "expand/unit_reduce.h"

#include "graph/dynamic.h"

bool indim_unit_reduce_suits(const indim_instr *instr) {
  if (instr->op != INDIM_OP_REDUCE || instr->operand_count != 2 || !indim_shape_is_static(instr->operands[0]->shape)) {
    return false;
  }
  const indim_shape *shape = instr->operands[0]->shape;
  const indim_instr *root = indim_computation_single_op(indim_instr_computation(instr, INDIM_ATTR_TO_APPLY));
  bool is_one_op = root != NULL && indim_instr_is_elementwise(root) && root->op != INDIM_OP_COMPARE &&
                   root->shape->type == shape->type && root->operands[0]->shape->type == shape->type;
  int64_t count = 0;
  const int64_t *dims = indim_instr_ints(instr, INDIM_ATTR_DIMENSIONS, &count);
  bool are_one = is_one_op && count > 0;
  for (int64_t i = 0; i < count && are_one; i++) {
    are_one = shape->sizes[dims[i]] == 1;
  }
  return are_one;
}

value indim_unit_reduce_expand(indim_expander *x) {
  const indim_instr *root = indim_instr_computation(x->instr, INDIM_ATTR_TO_APPLY)->root;
  const indim_shape *shape = x->instr->shape;
  indim_expand_begin(x);
  value element = indim_build_reshape(x->b, x->operands[0], shape->sizes, shape->rank);
  value init = indim_expand_repeat(x, x->operands[1], shape, NULL);
  bool is_first = root->operands[0]->parameter_number == 0;
  return indim_build_binary(x->b, root->op, is_first ? init : element, is_first ? element : init, NULL, 0);
}
