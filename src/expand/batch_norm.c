// Batch normalisation of an array [.., features, ..], feature by feature:
//
//   training    mean and variance (of all elements, not one fewer) over the other dimensions;
//               y = (x - mean) / sqrt(variance + epsilon) * scale + offset
//   inference   the same with a mean and a variance that are given
//   grad        for r = 1 / sqrt(variance + epsilon), means over the other dimensions, and the gradient dy of y:
//               dx = scale r (dy - mean(dy) - (x - mean) r^2 mean(dy (x - mean))),
//               dscale = sum(dy (x - mean)) r, doffset = sum(dy)
//
// The variance is that of the centered elements, which loses no digits where the mean is large. Floats narrower than f32
// are computed in f32 and rounded at the end. Epsilon is an f32, as XLA keeps it.
#include "expand/batch_norm.h"

typedef struct batch_norm {
  indim_expander *x;
  const indim_batch_norm_part *part;
  const indim_computation *sum;
  indim_type type;               // to compute in
  int64_t feature;               // the dimension
  int64_t dims[INDIM_MAX_RANK];  // the others
  int32_t dim_count;
  double count;  // elements of a feature, where all of them count
} batch_norm;

indim_type indim_batch_norm_work_type(const indim_instr *instr) {
  indim_type type = instr->operands[0]->shape->type;
  return indim_type_bits(type) < 32 ? INDIM_F32 : type;
}

static batch_norm plan(indim_expander *x, const indim_computation *sum, const indim_batch_norm_part *part) {
  const indim_shape *shape = x->instr->operands[0]->shape;
  batch_norm n = {.x = x, .part = part, .sum = sum, .count = 1};
  n.type = indim_batch_norm_work_type(x->instr);
  n.feature = indim_instr_int(x->instr, INDIM_ATTR_FEATURE_INDEX, 0);
  for (int32_t d = 0; d < shape->rank; d++) {
    if (d != n.feature) {
      n.dims[n.dim_count++] = d;
      n.count *= (double)shape->sizes[d];
    }
  }
  return n;
}

static value operand(const batch_norm *n, int32_t k) { return indim_expand_convert(n->x, n->x->operands[k], n->type); }

// |v| of the element type of the operands.
static value result(const batch_norm *n, value v) {
  return indim_expand_convert(n->x, v, n->x->instr->operands[0]->shape->type);
}

// x op v, where v has an element for each feature if x is an array of the operand's shape.
static value combine(const batch_norm *n, indim_op op, value x, value v) {
  bool is_vector = x != NULL && v != NULL && v->shape->rank < x->shape->rank && v->shape->rank > 0;
  return indim_build_binary(n->x->b, op, x, v, &n->feature, is_vector ? 1 : 0);
}

// Operand 0 less |mean|. Each user gets one of its own, to be computed inside its loops rather than kept.
static value center(const batch_norm *n, value mean) { return combine(n, INDIM_OP_SUBTRACT, operand(n, 0), mean); }

// Over what counts.
static value sum(const batch_norm *n, value v) {
  if (n->part != NULL && n->part->counts != NULL && v != NULL) {
    value zero = indim_build_scalar(n->x->b, n->type, 0);
    v = indim_build_select(n->x->b, n->part->counts, v, indim_expand_repeat(n->x, zero, v->shape, NULL));
  }
  return indim_expand_reduce(n->x, n->sum, v, n->dims, n->dim_count);
}

static value divide_by_count(const batch_norm *n, value v) {
  value count = n->part != NULL ? n->part->count : indim_build_scalar(n->x->b, n->type, n->count);
  return combine(n, INDIM_OP_DIVIDE, v, count);
}

// 1 / sqrt(variance + epsilon)
static value inverse_deviation(const batch_norm *n, value variance) {
  float epsilon = (float)indim_instr_attr(n->x->instr, INDIM_ATTR_EPSILON)->value.number;
  value shifted = combine(n, INDIM_OP_ADD, variance, indim_build_scalar(n->x->b, n->type, (double)epsilon));
  return indim_build_unary(n->x->b, INDIM_OP_RSQRT, shifted);
}

static value normalize(const batch_norm *n, value centered, value variance) {
  value factor = combine(n, INDIM_OP_MULTIPLY, inverse_deviation(n, variance), operand(n, 1));
  value scaled = combine(n, INDIM_OP_MULTIPLY, centered, factor);
  return result(n, combine(n, INDIM_OP_ADD, scaled, operand(n, 2)));
}

// Operands: x, scale, offset.
static value train(const batch_norm *n) {
  value mean = divide_by_count(n, sum(n, operand(n, 0)));
  value centered = center(n, mean);
  value variance = divide_by_count(n, sum(n, combine(n, INDIM_OP_MULTIPLY, centered, centered)));
  value results[] = {normalize(n, center(n, mean), variance), result(n, mean), result(n, variance)};
  return indim_build_tuple(n->x->b, results, 3);
}

// Operands: x, scale, offset, mean, variance.
static value infer(const batch_norm *n) { return normalize(n, center(n, operand(n, 3)), operand(n, 4)); }

// Operands: x, scale, mean, variance, dy.
static value differentiate(const batch_norm *n) {
  value gradient = operand(n, 4);
  value mean = operand(n, 2);
  value inverse = inverse_deviation(n, operand(n, 3));
  value offset = sum(n, gradient);
  value product = sum(n, combine(n, INDIM_OP_MULTIPLY, gradient, center(n, mean)));
  value square = combine(n, INDIM_OP_MULTIPLY, inverse, inverse);
  value slope = combine(n, INDIM_OP_MULTIPLY, divide_by_count(n, product), square);
  value rest = combine(n, INDIM_OP_SUBTRACT, gradient, divide_by_count(n, offset));
  rest = combine(n, INDIM_OP_SUBTRACT, rest, combine(n, INDIM_OP_MULTIPLY, center(n, mean), slope));
  value activation = combine(n, INDIM_OP_MULTIPLY, rest, combine(n, INDIM_OP_MULTIPLY, operand(n, 1), inverse));
  value scale = combine(n, INDIM_OP_MULTIPLY, product, inverse);
  value results[] = {result(n, activation), result(n, scale), result(n, offset)};
  return indim_build_tuple(n->x->b, results, 3);
}

value indim_batch_norm_build(indim_expander *x, const indim_computation *sum, const indim_batch_norm_part *part) {
  batch_norm n = plan(x, sum, part);
  return x->instr->op == INDIM_OP_BATCH_NORM_TRAINING    ? train(&n)
         : x->instr->op == INDIM_OP_BATCH_NORM_INFERENCE ? infer(&n)
                                                         : differentiate(&n);
}

value indim_expand_batch_norm(indim_expander *x) {
  const indim_computation *sum = indim_expand_sum(x, indim_batch_norm_work_type(x->instr));
  indim_expand_begin(x);
  return indim_batch_norm_build(x, sum, NULL);
}
