// A dot of complex matrices is one of real matrices, of twice the steps and twice the rows (or columns, where these are fewer):
//
//   | re(x)  -im(x) |   | re(y) |     | re(xy) |
//   | im(x)   re(x) | * | im(y) |  =  | im(xy) |
//
// The host multiplies real matrices, several times as fast as lanes of complex numbers are. The sums are those of the four products of
// each pair, in another order.
#include "expand/complex_dot.h"

#include <math.h>
#include <string.h>

#include "graph/infer_kit.h"

// Multiplications of each product of the batch; and so many for each element of the copies, where lanes of complex numbers would be
// elements of a row of the result, and where they would be steps of the sum, which are added up besides. Lanes of c128 are at the speed
// of the host's.
static const double least_work = 2e4;
static const double least_reuse_c64 = 4;
static const double least_reuse_c128 = 14;
static const double least_reuse_along = 2.2;

// A side of the product.
typedef struct side {
  const indim_shape *shape;
  uint64_t batch, contracting;
  int64_t contracted_dim;  // the first of those
  int64_t free_dim;        // the first of its own dimensions, -1: none
  int32_t free_count;
} side;

static side side_of(const indim_instr *instr, int32_t operand) {
  bool is_left = operand == 0;
  int64_t count = 0;
  const int64_t *dims =
      indim_instr_ints(instr, is_left ? INDIM_ATTR_LHS_CONTRACTING_DIMS : INDIM_ATTR_RHS_CONTRACTING_DIMS, &count);
  side s = {.shape = instr->operands[operand]->shape,
            .batch = indim_attr_mask(instr, is_left ? INDIM_ATTR_LHS_BATCH_DIMS : INDIM_ATTR_RHS_BATCH_DIMS),
            .contracting =
                indim_attr_mask(instr, is_left ? INDIM_ATTR_LHS_CONTRACTING_DIMS : INDIM_ATTR_RHS_CONTRACTING_DIMS),
            .contracted_dim = count > 0 ? dims[0] : -1,
            .free_dim = -1};
  for (int32_t d = s.shape->rank - 1; d >= 0; d--) {
    if (((s.batch | s.contracting) >> d & 1) == 0) {
      s.free_dim = d;
      s.free_count++;
    }
  }
  return s;
}

// Elements of the dimensions of a side that are (not) in |mask|.
static int64_t elements(const side *s, uint64_t mask, bool in_mask) {
  int64_t count = 1;
  for (int32_t d = 0; d < s->shape->rank; d++) {
    count *= (mask >> d & 1) == (in_mask ? 1 : 0) ? s->shape->sizes[d] : 1;
  }
  return count;
}

// Whether the innermost dimension is one of the sum.
static bool lies_along_sum(const side *s) {
  return s->shape->rank > 0 && (s->contracting >> (s->shape->rank - 1) & 1) != 0;
}

static int64_t rows_of(const side *s) { return elements(s, s->batch | s->contracting, false); }

bool indim_complex_dot_suits(const indim_instr *instr) {
  if (instr->op != INDIM_OP_DOT || instr->operand_count != 2 || !indim_type_is_complex(instr->shape->type) ||
      indim_instr_attr(instr, INDIM_ATTR_DOT_ALGORITHM) != NULL || !indim_expand_is_row_major(instr->shape)) {
    return false;
  }
  const side lhs = side_of(instr, 0);
  const side rhs = side_of(instr, 1);
  if (lhs.shape->type != instr->shape->type || rhs.shape->type != instr->shape->type ||
      !indim_shape_is_static(lhs.shape) || !indim_shape_is_static(rhs.shape) || !indim_expand_is_row_major(lhs.shape) ||
      !indim_expand_is_row_major(rhs.shape)) {
    return false;
  }
  double m = (double)rows_of(&lhs), n = (double)rows_of(&rhs), k = (double)elements(&lhs, lhs.contracting, true);
  double copied = 4 * fmin(m, n) * k + 2 * fmax(m, n) * k + 4 * m * n;
  bool is_along = lies_along_sum(&lhs) && lies_along_sum(&rhs);
  double least_reuse = is_along                          ? least_reuse_along
                       : instr->shape->type == INDIM_C64 ? least_reuse_c64
                                                         : least_reuse_c128;
  return m * n * k >= least_work && m * n * k >= least_reuse * copied;
}

static value join(const indim_expander *x, value first, value second, int64_t dim) {
  value parts[] = {first, second};
  return indim_build_concatenate(x->b, parts, 2, dim);
}

// The |part|-th half of dimension |dim|.
static value half(const indim_expander *x, value all, const indim_shape *shape, int64_t dim, int64_t part) {
  int64_t starts[INDIM_MAX_RANK] = {0};
  int64_t limits[INDIM_MAX_RANK];
  memcpy(limits, shape->sizes, (size_t)shape->rank * sizeof *limits);
  starts[dim] = part * shape->sizes[dim];
  limits[dim] = (part + 1) * shape->sizes[dim];
  return indim_build_slice(x->b, all, starts, limits, NULL);
}

static indim_attr same_dims(const indim_expander *x, indim_attr_id id) {
  int64_t count = 0;
  const int64_t *dims = indim_instr_ints(x->instr, id, &count);
  return indim_build_attr_ints(x->b, id, dims, count);
}

value indim_complex_dot_expand(indim_expander *x) {
  const indim_instr *instr = x->instr;
  indim_builder *b = x->b;
  const side sides[] = {side_of(instr, 0), side_of(instr, 1)};
  int32_t doubled = rows_of(&sides[0]) <= rows_of(&sides[1]) ? 0 : 1;
  int64_t count = 0;
  (void)indim_instr_ints(instr, INDIM_ATTR_LHS_BATCH_DIMS, &count);
  int64_t dim = count + (doubled == 0 ? 0 : sides[0].free_count);  // of the result
  int64_t sizes[INDIM_MAX_RANK];
  memcpy(sizes, instr->shape->sizes, (size_t)instr->shape->rank * sizeof *sizes);
  sizes[dim] *= 2;
  indim_shape shape;
  indim_type real = instr->shape->type == INDIM_C64 ? INDIM_F32 : INDIM_F64;
  indim_build_fail(b, indim_shape_init(x->cx, real, instr->shape->rank, sizes, &shape));
  indim_expand_begin(x);
  value operands[2];
  for (int32_t i = 0; i < 2; i++) {
    value re = indim_build_unary(b, INDIM_OP_REAL, x->operands[i]);
    value im = indim_build_unary(b, INDIM_OP_IMAG, x->operands[i]);
    int64_t steps = sides[i].contracted_dim;
    operands[i] = i == doubled ? join(x, join(x, re, indim_build_unary(b, INDIM_OP_NEGATE, im), steps),
                                      join(x, im, re, steps), sides[i].free_dim)
                               : join(x, re, im, steps);
  }
  indim_attr attrs[] = {same_dims(x, INDIM_ATTR_LHS_BATCH_DIMS), same_dims(x, INDIM_ATTR_LHS_CONTRACTING_DIMS),
                        same_dims(x, INDIM_ATTR_RHS_BATCH_DIMS), same_dims(x, INDIM_ATTR_RHS_CONTRACTING_DIMS)};
  value product = indim_build_emit(b, INDIM_OP_DOT, &shape, operands, 2, attrs, 4);
  return indim_build_binary(b, INDIM_OP_COMPLEX, half(x, product, instr->shape, dim, 0),
                            half(x, product, instr->shape, dim, 1), NULL, 0);
}
