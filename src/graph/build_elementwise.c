// Elementwise operations with XLA's broadcasting written out: broadcast and reshape instructions, conversions of mixed
// float precision, scalars stretched for select and clamp.
#include <string.h>

#include "graph/build.h"
#include "indim/broadcast.h"

static indim_shape plain_shape(indim_type type, const indim_shape *dimensions) {
  indim_shape shape = *dimensions;
  shape.type = type;
  shape.has_layout = true;
  indim_layout_init(shape.rank, &shape.layout);
  return shape;
}

static bool dim_differs(const indim_shape *a, const indim_shape *b, int32_t dim) {
  return a->sizes[dim] != b->sizes[dim];
}

const indim_instr *indim_build_expand(indim_builder *builder, const indim_instr *operand, const indim_shape *shape,
                                      const int64_t *dims) {
  if (operand == NULL) {
    return NULL;
  }
  const indim_shape *from = operand->shape;
  indim_shape target = plain_shape(from->type, shape);
  if (from->rank < target.rank) {
    indim_shape matched = target;
    for (int32_t i = 0; i < from->rank; i++) {
      uint64_t bit = UINT64_C(1) << dims[i];
      matched.sizes[dims[i]] = from->sizes[i];
      matched.dynamic = (matched.dynamic & ~bit) | (indim_shape_is_dynamic_dim(from, i) ? bit : 0);
    }
    indim_attr attr = indim_build_attr_ints(builder, INDIM_ATTR_DIMENSIONS, dims, from->rank);
    operand = indim_build_emit(builder, INDIM_OP_BROADCAST, &matched, &operand, 1, &attr, 1);
    if (operand == NULL) {
      return NULL;
    }
    from = operand->shape;
  }
  // Sizes of 1 that stretch: drop these dimensions, then broadcast what is left.
  int64_t kept[INDIM_MAX_RANK];
  indim_shape dropped = target;
  dropped.rank = 0;
  dropped.dynamic = 0;
  for (int32_t d = 0; d < target.rank; d++) {
    if (!dim_differs(from, &target, d)) {
      dropped.sizes[dropped.rank] = from->sizes[d];
      dropped.dynamic |= (uint64_t)indim_shape_is_dynamic_dim(from, d) << dropped.rank;
      kept[dropped.rank++] = d;
    }
  }
  if (dropped.rank == target.rank) {
    return operand;
  }
  indim_layout_init(dropped.rank, &dropped.layout);
  operand = indim_build_emit(builder, INDIM_OP_RESHAPE, &dropped, &operand, 1, NULL, 0);
  indim_attr attr = indim_build_attr_ints(builder, INDIM_ATTR_DIMENSIONS, kept, dropped.rank);
  return operand == NULL ? NULL : indim_build_emit(builder, INDIM_OP_BROADCAST, &target, &operand, 1, &attr, 1);
}

static const indim_instr *convert_to(indim_builder *builder, const indim_instr *operand, indim_type type) {
  return operand == NULL || operand->shape->type == type ? operand : indim_build_convert(builder, operand, type);
}

// Brings two operands to one shape and one type. False after an error.
static bool broadcast_pair(indim_builder *builder, const char *what, const indim_instr **lhs, const indim_instr **rhs,
                           const int64_t *dims, int32_t dim_count) {
  indim_broadcast result;
  const indim_instr *pair[] = {*lhs, *rhs};
  if (!indim_build_ready(builder, what, pair, 2)) {
    return false;
  }
  indim_build_fail(builder,
                   indim_broadcast_shapes(builder->cx, (*lhs)->shape, (*rhs)->shape, dims, dim_count, &result, NULL));
  if (builder->status == INDIM_OK && indim_shape_is_unbounded(&result.shape)) {
    indim_build_fail(builder, indim_fail(builder->cx, INDIM_UNSUPPORTED,
                                         "%s: an unbounded dimension (?) cannot be broadcast into a program", what));
  }
  if (builder->status != INDIM_OK) {
    return false;
  }
  int64_t identity[INDIM_MAX_RANK];
  for (int i = 0; i < INDIM_MAX_RANK; i++) {
    identity[i] = i;
  }
  const indim_instr *operands[] = {*lhs, *rhs};
  for (int side = 0; side < 2; side++) {
    bool lower = operands[side]->shape->rank < result.shape.rank;
    operands[side] = indim_build_expand(builder, operands[side], &result.shape, lower ? dims : identity);
    operands[side] = convert_to(builder, operands[side], result.shape.type);
  }
  *lhs = operands[0];
  *rhs = operands[1];
  return builder->status == INDIM_OK;
}

const indim_instr *indim_build_unary(indim_builder *builder, indim_op op, const indim_instr *operand) {
  return indim_build_emit(builder, op, NULL, &operand, 1, NULL, 0);
}

// The types that an op refuses whatever the shapes are; XLA looks at them first.
static indim_status check_types(indim_ctx *cx, indim_op op, const indim_shape *lhs, const indim_shape *rhs) {
  const char *text = indim_op_get(op)->text;
  bool logic = op == INDIM_OP_AND || op == INDIM_OP_OR || op == INDIM_OP_XOR;
  bool any = op == INDIM_OP_ADD || op == INDIM_OP_MULTIPLY || op == INDIM_OP_MAXIMUM || op == INDIM_OP_MINIMUM;
  if (!indim_type_is_array(lhs->type) || !indim_type_is_array(rhs->type)) {
    return INDIM_OK;  // the shape rule says it better
  }
  if (logic && lhs->type != INDIM_PRED && !indim_type_is_integral(lhs->type)) {
    return indim_fail(cx, INDIM_INVALID, "%s needs a predicate or integral type, got %s", text,
                      indim_type_name(lhs->type));
  }
  if (op == INDIM_OP_COMPLEX && !indim_type_is_float(lhs->type)) {
    return indim_fail(cx, INDIM_INVALID, "%s needs a floating type, got %s", text, indim_type_name(lhs->type));
  }
  if (!logic && !any && op != INDIM_OP_COMPLEX && (lhs->type == INDIM_PRED || rhs->type == INDIM_PRED)) {
    return indim_fail(cx, INDIM_INVALID, "%s needs an arithmetic element type, got PRED", text);
  }
  return INDIM_OK;
}

const indim_instr *indim_build_binary(indim_builder *builder, indim_op op, const indim_instr *lhs,
                                      const indim_instr *rhs, const int64_t *dims, int32_t dim_count) {
  const char *text = indim_op_get(op)->text;
  const indim_instr *pair[] = {lhs, rhs};
  if (!indim_build_ready(builder, text, pair, 2)) {
    return NULL;
  }
  indim_build_fail(builder, check_types(builder->cx, op, lhs->shape, rhs->shape));
  if (builder->status != INDIM_OK || !broadcast_pair(builder, text, &lhs, &rhs, dims, dim_count)) {
    return NULL;
  }
  const indim_instr *operands[] = {lhs, rhs};
  return indim_build_emit(builder, op, NULL, operands, 2, NULL, 0);
}

const indim_instr *indim_build_compare(indim_builder *builder, const indim_instr *lhs, const indim_instr *rhs,
                                       const char *direction, const char *type, const int64_t *dims,
                                       int32_t dim_count) {
  if (!broadcast_pair(builder, "compare", &lhs, &rhs, dims, dim_count)) {
    return NULL;
  }
  const indim_instr *operands[] = {lhs, rhs};
  indim_attr attrs[] = {indim_build_attr_word(builder, INDIM_ATTR_DIRECTION, direction == NULL ? "" : direction),
                        indim_build_attr_word(builder, INDIM_ATTR_COMPARE_TYPE, type == NULL ? "" : type)};
  return indim_build_emit(builder, INDIM_OP_COMPARE, NULL, operands, 2, attrs, type == NULL ? 1 : 2);
}

// Scalars among three operands take the shape of the first that is none.
static const indim_instr *build_ternary(indim_builder *builder, indim_op op, const indim_instr *a, const indim_instr *b,
                                        const indim_instr *c) {
  const indim_instr *operands[] = {a, b, c};
  if (!indim_build_ready(builder, indim_op_get(op)->text, operands, 3)) {
    return NULL;
  }
  const indim_shape *shape = NULL;
  for (int i = 0; i < 3 && shape == NULL; i++) {
    shape = operands[i]->shape->rank > 0 ? operands[i]->shape : NULL;
  }
  for (int i = 0; shape != NULL && i < 3; i++) {
    if (indim_shape_is_scalar(operands[i]->shape)) {
      operands[i] = indim_build_expand(builder, operands[i], shape, NULL);
    }
  }
  return indim_build_emit(builder, op, NULL, operands, 3, NULL, 0);
}

const indim_instr *indim_build_select(indim_builder *builder, const indim_instr *pred, const indim_instr *on_true,
                                      const indim_instr *on_false) {
  return build_ternary(builder, INDIM_OP_SELECT, pred, on_true, on_false);
}

const indim_instr *indim_build_clamp(indim_builder *builder, const indim_instr *low, const indim_instr *operand,
                                     const indim_instr *high) {
  return build_ternary(builder, INDIM_OP_CLAMP, low, operand, high);
}

const indim_instr *indim_build_convert(indim_builder *builder, const indim_instr *operand, indim_type type) {
  if (!indim_build_ready(builder, "convert", &operand, 1)) {
    return NULL;
  }
  // Complex to real takes the real part first, as XLA's builder does.
  if (indim_type_is_complex(operand->shape->type) && !indim_type_is_complex(type)) {
    operand = indim_build_unary(builder, INDIM_OP_REAL, operand);
  }
  if (operand == NULL) {
    return NULL;
  }
  indim_shape shape = *operand->shape;
  shape.type = type;
  return indim_build_emit(builder, INDIM_OP_CONVERT, &shape, &operand, 1, NULL, 0);
}

const indim_instr *indim_build_bitcast_convert(indim_builder *builder, const indim_instr *operand, indim_type type) {
  if (!indim_build_ready(builder, "bitcast-convert", &operand, 1)) {
    return NULL;
  }
  indim_shape shape = plain_shape(type, operand->shape);
  int32_t from_bits = operand->shape->type == INDIM_PRED ? 8 : indim_type_bits(operand->shape->type);
  int32_t to_bits = type == INDIM_PRED ? 8 : indim_type_bits(type);
  if (to_bits > 0 && from_bits > to_bits && shape.rank < INDIM_MAX_RANK) {
    shape.sizes[shape.rank++] = from_bits / to_bits;
  } else if (from_bits > 0 && from_bits < to_bits && shape.rank > 0) {
    shape.rank--;
    shape.dynamic &= ~(UINT64_C(1) << shape.rank);
  }
  indim_layout_init(shape.rank, &shape.layout);
  return indim_build_emit(builder, INDIM_OP_BITCAST_CONVERT, &shape, &operand, 1, NULL, 0);
}

const indim_instr *indim_build_reduce_precision(indim_builder *builder, const indim_instr *operand,
                                                int64_t exponent_bits, int64_t mantissa_bits) {
  if (!indim_build_ready(builder, "reduce-precision", &operand, 1)) {
    return NULL;
  }
  indim_attr attrs[] = {indim_build_attr_int(INDIM_ATTR_EXPONENT_BITS, exponent_bits),
                        indim_build_attr_int(INDIM_ATTR_MANTISSA_BITS, mantissa_bits)};
  return indim_build_emit(builder, INDIM_OP_REDUCE_PRECISION, operand->shape, &operand, 1, attrs, 2);
}
