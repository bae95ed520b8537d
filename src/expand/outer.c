// A dot that contracts nothing, or dimensions of length 1, out[batch, i, j] = lhs[batch, i] * rhs[batch, j], as a product of two
// broadcasts. Its elements are those of the sum of one product: floats are multiplied in f32, or f64 where there is one, and rounded
// once, to the result's type. The sum starts at -0 where nothing is contracted, and else at 0, which makes 0 of -0.
#include "expand/outer.h"

#include "array/permutation.h"

static bool is_number(const indim_shape *shape) {
  return shape->type != INDIM_PRED && !indim_type_is_complex(shape->type);
}

static bool contracts_none_but_ones(const indim_instr *instr) {
  const indim_shape *lhs = instr->operands[0]->shape;
  int64_t count = 0;
  const int64_t *dims = indim_instr_ints(instr, INDIM_ATTR_LHS_CONTRACTING_DIMS, &count);
  bool is_one = indim_shape_is_static(lhs) && indim_shape_is_static(instr->operands[1]->shape);
  for (int64_t k = 0; k < count && is_one; k++) {
    is_one = lhs->sizes[dims[k]] == 1;
  }
  return count == 0 || is_one;
}

bool indim_outer_suits(const indim_instr *instr) {
  return instr->op == INDIM_OP_DOT && instr->operand_count == 2 && is_number(instr->shape) &&
         is_number(instr->operands[0]->shape) && is_number(instr->operands[1]->shape) && contracts_none_but_ones(instr);
}

// Operand |i| in |shape|'s dimensions: those of the batch, then those of the left, then those of the right.
static value spread(indim_expander *x, int32_t i, const indim_shape *shape) {
  const indim_instr *instr = x->instr;
  const indim_shape *own = instr->operands[i]->shape;
  int64_t count = 0, contracted_count = 0;
  const int64_t *batch =
      indim_instr_ints(instr, i == 0 ? INDIM_ATTR_LHS_BATCH_DIMS : INDIM_ATTR_RHS_BATCH_DIMS, &count);
  const int64_t *contracted = indim_instr_ints(
      instr, i == 0 ? INDIM_ATTR_LHS_CONTRACTING_DIMS : INDIM_ATTR_RHS_CONTRACTING_DIMS, &contracted_count);
  int64_t dims[INDIM_MAX_RANK];
  int64_t sizes[INDIM_MAX_RANK];
  int32_t rank = 0;
  int64_t at = i == 0 ? count : shape->rank - (own->rank - count - contracted_count);
  for (int32_t d = 0; d < own->rank; d++) {
    if (indim_list_has(contracted, contracted_count, d)) {
      continue;
    }
    int64_t place = 0;
    while (place < count && batch[place] != d) {
      place++;
    }
    dims[rank] = place < count ? place : at++;
    sizes[rank++] = own->sizes[d];
  }
  value operand = rank == own->rank ? x->operands[i] : indim_build_reshape(x->b, x->operands[i], sizes, rank);
  return indim_expand_repeat(x, indim_expand_convert(x, operand, shape->type), shape, dims);
}

value indim_outer_expand(indim_expander *x) {
  indim_shape shape = *x->instr->shape;
  if (indim_type_is_float(shape.type) && shape.type != INDIM_F64) {
    bool has_f64 = x->instr->operands[0]->shape->type == INDIM_F64 || x->instr->operands[1]->shape->type == INDIM_F64;
    shape.type = has_f64 ? INDIM_F64 : INDIM_F32;
  }
  indim_expand_begin(x);
  value lhs = spread(x, 0, &shape);
  value rhs = spread(x, 1, &shape);
  value product = indim_build_binary(x->b, INDIM_OP_MULTIPLY, lhs, rhs, NULL, 0);
  if (indim_type_is_float(shape.type) && !indim_expand_has_none(x->instr, INDIM_ATTR_LHS_CONTRACTING_DIMS)) {
    product = indim_build_binary(x->b, INDIM_OP_ADD, product, indim_expand_zeros(x, &shape), NULL, 0);
  }
  return indim_expand_convert(x, product, x->instr->shape->type);
}
