// A dot that contracts nothing, out[batch, i, j] = lhs[batch, i] * rhs[batch, j], as a product of two broadcasts. Its elements
// are those of the sum of one product that starts at -0: floats are multiplied in f32, or f64 where there is one, and rounded
// once, to the result's type.
#include "expand/outer.h"

#include "array/permutation.h"

static bool is_number(const indim_shape *shape) {
  return shape->type != INDIM_PRED && !indim_type_is_complex(shape->type);
}

bool indim_outer_suits(const indim_instr *instr) {
  if (instr->op != INDIM_OP_DOT || instr->operand_count != 2 ||
      !indim_expand_has_none(instr, INDIM_ATTR_LHS_CONTRACTING_DIMS)) {
    return false;
  }
  return is_number(instr->shape) && is_number(instr->operands[0]->shape) && is_number(instr->operands[1]->shape);
}

// Operand |i| in |shape|'s dimensions: those of the batch, then those of the left, then those of the right.
static value spread(indim_expander *x, int32_t i, indim_attr_id batch_id, const indim_shape *shape) {
  const indim_shape *own = x->instr->operands[i]->shape;
  int64_t count = 0;
  const int64_t *batch = indim_instr_ints(x->instr, batch_id, &count);
  int64_t dims[INDIM_MAX_RANK];
  int64_t at = i == 0 ? count : shape->rank - (own->rank - count);
  for (int32_t d = 0; d < own->rank; d++) {
    dims[d] = indim_list_has(batch, count, d) ? 0 : at++;
  }
  for (int64_t k = 0; k < count; k++) {
    dims[batch[k]] = k;
  }
  return indim_expand_repeat(x, indim_expand_convert(x, x->operands[i], shape->type), shape, dims);
}

value indim_outer_expand(indim_expander *x) {
  indim_shape shape = *x->instr->shape;
  if (indim_type_is_float(shape.type) && shape.type != INDIM_F64) {
    bool has_f64 = x->instr->operands[0]->shape->type == INDIM_F64 || x->instr->operands[1]->shape->type == INDIM_F64;
    shape.type = has_f64 ? INDIM_F64 : INDIM_F32;
  }
  indim_expand_begin(x);
  value lhs = spread(x, 0, INDIM_ATTR_LHS_BATCH_DIMS, &shape);
  value rhs = spread(x, 1, INDIM_ATTR_RHS_BATCH_DIMS, &shape);
  value product = indim_build_binary(x->b, INDIM_OP_MULTIPLY, lhs, rhs, NULL, 0);
  return indim_expand_convert(x, product, x->instr->shape->type);
}
