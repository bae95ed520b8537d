// Elementwise instructions and computations of scalars, made into nodes. What comes in is an instruction (or a whole
// computation) and values of some lanes; out come values of as many lanes, each lane computed by itself. A computation
// is written out where it is applied; what it holds of constants stays one lane wide until it meets a vector.
#include "array/element.h"
#include "loop/regs/inline_scope.h"
#include "loop/regs/regs.h"

enum { MAX_STEPS = 1 << 14 };  // instructions of one application with all that it calls

// Elementwise ------------------------------------------------------------------------------------------------------

// In memory.
static int32_t stored_bits(indim_type type) { return type == INDIM_PRED ? 8 : indim_type_bits(type); }

bool indim_loop_can_instr(const indim_instr *instr) {
  bool is_same = indim_op_class_of(instr->op) == INDIM_OP_CLASS_SAME;
  if (!(indim_op_is_elementwise(instr->op) || is_same) || !indim_shape_is_array(instr->shape) ||
      !indim_shape_is_static(instr->shape) || instr->operand_count < 1 || instr->operand_count > 3) {
    return false;
  }
  for (int32_t i = 0; i < instr->operand_count; i++) {
    if (!indim_shape_is_array(instr->operands[i]->shape) || !indim_shape_is_static(instr->operands[i]->shape)) {
      return false;
    }
  }
  if (instr->op == INDIM_OP_BITCAST_CONVERT) {
    return stored_bits(instr->shape->type) == stored_bits(instr->operands[0]->shape->type);
  }
  return instr->op != INDIM_OP_STOCHASTIC_CONVERT || indim_type_is_integral(instr->shape->type);
}

indim_loop_op indim_loop_op_of(const indim_instr *instr) {
  indim_loop_op op = {.op = instr->op};
  if (instr->op == INDIM_OP_COMPARE) {
    op.direction = (int32_t)indim_instr_direction(instr);
    op.total_order = indim_instr_is_total_order(instr);
  }
  if (instr->op == INDIM_OP_REDUCE_PRECISION) {
    int64_t exponent = indim_instr_int(instr, INDIM_ATTR_EXPONENT_BITS, 0);
    int64_t mantissa = indim_instr_int(instr, INDIM_ATTR_MANTISSA_BITS, 0);
    op.exponent_bits = (int32_t)(exponent < 64 ? exponent : 64);  // no format has more
    op.mantissa_bits = (int32_t)(mantissa < 64 ? mantissa : 64);
  }
  return op;
}

// |x| bitcast to |type|. A pred is a byte that holds 0 or 1; any nonzero byte is true.
indim_value_id indim_loop_bitcast(indim_loop_builder *b, indim_value_id x, indim_type type) {
  if (b->status != INDIM_OK) {
    return 0;  // value 0 has no meaningful type
  }
  indim_type from = indim_loop_value_of(b, x)->type;
  if (from == type) {
    return x;
  }
  if (from == INDIM_PRED) {
    return indim_loop_bitcast(b, indim_loop_convert(b, x, INDIM_U8), type);
  }
  if (type == INDIM_PRED) {
    return indim_loop_convert(b, indim_loop_bitcast(b, x, INDIM_U8), INDIM_PRED);
  }
  return indim_loop_elementwise(b, (indim_loop_op){.op = INDIM_OP_BITCAST_CONVERT}, type, 1, &x);
}

static bool is_same_value(const indim_instr *instr) {
  return indim_op_class_of(instr->op) == INDIM_OP_CLASS_SAME ||
         (instr->op == INDIM_OP_REAL && !indim_type_is_complex(instr->operands[0]->shape->type));
}

indim_value_id indim_loop_instr(indim_loop_builder *b, const indim_instr *instr, int32_t count,
                                const indim_value_id *args) {
  indim_value_id wide[3];
  int32_t lanes = 1;
  if (b->status != INDIM_OK) {
    return 0;
  }
  for (int32_t i = 0; i < count; i++) {
    int32_t own = indim_loop_value_of(b, args[i])->lanes;
    lanes = own > lanes ? own : lanes;
  }
  for (int32_t i = 0; i < count; i++) {
    wide[i] = indim_loop_splat(b, args[i], lanes);
  }
  if (b->status != INDIM_OK) {
    return 0;
  }
  indim_type type = instr->shape->type;
  if (is_same_value(instr)) {
    return wide[0];
  }
  if (instr->op == INDIM_OP_IMAG && !indim_type_is_complex(instr->operands[0]->shape->type)) {
    return indim_loop_splat(b, indim_loop_const(b, type, 0, 0), lanes);
  }
  if (instr->op == INDIM_OP_BITCAST_CONVERT) {
    return indim_loop_bitcast(b, wide[0], type);
  }
  if (instr->op == INDIM_OP_CONVERT) {
    return indim_loop_convert(b, wide[0], type);
  }
  return indim_loop_elementwise(b, indim_loop_op_of(instr), type, count, wide);
}

// Computations --------------------------------------------------------------------------------------------------------

// Ops that map a scalar to a scalar.
static bool keeps_scalar(indim_op op) { return indim_op_class_of(op) == INDIM_OP_CLASS_MOVE; }

// A scalar or a flat tuple of scalars; |*out_leaves| counts them.
static bool is_of_scalars(const indim_shape *shape, int64_t *out_leaves) {
  *out_leaves = 1;
  if (!indim_shape_is_tuple(shape)) {
    return indim_shape_is_scalar(shape);
  }
  *out_leaves = shape->member_count;
  for (int64_t i = 0; i < shape->member_count; i++) {
    if (!indim_shape_is_scalar(shape->members[i])) {
      return false;
    }
  }
  return shape->member_count <= MAX_STEPS;
}

static bool can_instr(const indim_instr *instr, int32_t depth, int32_t *steps) {
  int64_t leaves = 0;
  if (--*steps < 0 || !is_of_scalars(instr->shape, &leaves)) {
    return false;
  }
  for (int32_t i = 0; i < instr->operand_count; i++) {
    int64_t ignored = 0;
    if (!is_of_scalars(instr->operands[i]->shape, &ignored)) {
      return false;
    }
  }
  if (instr->op == INDIM_OP_PARAMETER || instr->op == INDIM_OP_TUPLE || instr->op == INDIM_OP_GET_TUPLE_ELEMENT) {
    return true;
  }
  if (instr->op == INDIM_OP_CONSTANT) {
    return indim_shape_is_array(instr->shape) && !indim_literal_is_elided(instr->literal);
  }
  if (indim_inline_called(instr) != NULL) {
    return indim_inline_can(indim_inline_called(instr), depth + 1, steps, can_instr);
  }
  if (keeps_scalar(instr->op)) {
    indim_type type = instr->operand_count == 1 ? instr->operands[0]->shape->type : INDIM_TYPE_INVALID;
    bool same_bits = instr->op == INDIM_OP_BITCAST && stored_bits(type) == stored_bits(instr->shape->type) &&
                     indim_type_is_complex(type) == indim_type_is_complex(instr->shape->type);
    return type == instr->shape->type || same_bits;
  }
  return indim_loop_can_instr(instr);
}

bool indim_loop_can_apply(const indim_computation *computation) {
  int32_t steps = MAX_STEPS;
  for (int32_t i = 0; computation != NULL && i < computation->parameter_count; i++) {
    if (!indim_shape_is_scalar(computation->parameters[i]->shape)) {
      return false;
    }
  }
  return indim_inline_can(computation, 0, &steps, can_instr);
}

// Whether |instr| is an associative and commutative op of parameters |i| and |n| + |i|.
static bool is_pair_op(const indim_instr *instr, int64_t i, int64_t n) {
  if (indim_op_identity_of(instr->op) == INDIM_IDENTITY_NONE) {
    return false;
  }
  const indim_instr *x = instr->operands[0];
  const indim_instr *y = instr->operands[1];
  if (x->op != INDIM_OP_PARAMETER || y->op != INDIM_OP_PARAMETER) {
    return false;
  }
  int64_t a = x->parameter_number;
  int64_t b = y->parameter_number;
  return (a == i && b == n + i) || (b == i && a == n + i);
}

bool indim_loop_can_reorder(const indim_computation *computation) {
  const indim_instr *root = computation->root;
  int64_t n = computation->parameter_count / 2;
  if (root->op != INDIM_OP_TUPLE) {
    return n == 1 && computation->parameter_count == 2 && is_pair_op(root, 0, 1);
  }
  for (int32_t i = 0; i < root->operand_count; i++) {
    if (root->operand_count != n || !is_pair_op(root->operands[i], i, n)) {
      return false;
    }
  }
  return true;
}

static indim_value_id constant(indim_loop_builder *b, const indim_literal *literal) {
  const indim_shape *shape = indim_literal_shape(literal);
  indim_element element =
      indim_element_load(shape->type, indim_shape_element_bits(shape), indim_literal_data(literal), 0);
  return indim_loop_const(b, shape->type, element.bits, element.imag);
}

// The value of an instruction that has one leaf and calls nothing.
static indim_value_id apply_simple(indim_loop_builder *b, const indim_inline_scope *f, const indim_instr *instr) {
  if (instr->op == INDIM_OP_CONSTANT) {
    return constant(b, instr->literal);
  }
  indim_value_id operands[3];
  for (int32_t i = 0; i < instr->operand_count; i++) {
    operands[i] = *(const indim_value_id *)indim_inline_leaf(f, instr->operands[i]);
  }
  if (keeps_scalar(instr->op)) {
    return indim_loop_bitcast(b, operands[0], instr->shape->type);
  }
  return indim_loop_instr(b, instr, instr->operand_count, operands);
}

static void apply_instr(indim_loop_builder *b, const indim_inline_scope *f, const indim_instr *instr, void *out) {
  const indim_computation *called = indim_inline_called(instr);
  if (called == NULL) {
    *(indim_value_id *)out = apply_simple(b, f, instr);
    return;
  }
  indim_value_id *args = indim_inline_operands(b, f, instr);
  if (args != NULL) {
    indim_inline_run(b, called, sizeof *args, args, apply_instr, out);
    indim_inline_release(b, f, instr, args);
  }
}

void indim_loop_apply(indim_loop_builder *b, const indim_computation *computation, int32_t lanes,
                      const indim_value_id *args, indim_value_id *out) {
  int32_t count = indim_inline_leaf_count(computation->root->shape);
  for (int32_t k = 0; k < count; k++) {
    out[k] = 0;
  }
  if (b->status == INDIM_OK) {
    indim_inline_run(b, computation, sizeof *out, args, apply_instr, out);
  }
  for (int32_t k = 0; b->status == INDIM_OK && k < count; k++) {
    out[k] = indim_loop_splat(b, out[k], lanes);
  }
}
