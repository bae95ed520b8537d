// A dot of complex matrices is four of real ones:
//
//   re(xy) = re(x) re(y) - im(x) im(y)        im(xy) = re(x) im(y) + im(x) re(y)
//
// The host multiplies real matrices, several times as fast as lanes of complex numbers are. The sums are those of the four products of
// each pair, in another order.
#include "expand/complex_dot.h"

#include <math.h>

#include "graph/infer_kit.h"

// Multiplications of each product of the batch; and so many for each element that is written on the way: where lanes of complex numbers
// would be elements of a row of the result (those of c128 are at the speed of the host's), and where they would be steps of the sum,
// which are added up besides, of a short sum for few steps.
static const double least_work = 2e4;
static const double least_reuse_c64 = 7;
static const double least_reuse_c128 = 14;
static const double least_reuse_along = 5;
static const double least_reuse_short = 2.2;
static const double short_sum = 48;

static uint64_t contracted(const indim_instr *instr, int32_t operand) {
  return indim_attr_mask(instr, operand == 0 ? INDIM_ATTR_LHS_CONTRACTING_DIMS : INDIM_ATTR_RHS_CONTRACTING_DIMS);
}

static uint64_t batch(const indim_instr *instr, int32_t operand) {
  return indim_attr_mask(instr, operand == 0 ? INDIM_ATTR_LHS_BATCH_DIMS : INDIM_ATTR_RHS_BATCH_DIMS);
}

// The elements of the dimensions in |mask|.
static double elements(const indim_shape *shape, uint64_t mask) {
  double count = 1;
  for (int32_t d = 0; d < shape->rank; d++) {
    count *= (mask >> d & 1) != 0 ? (double)shape->sizes[d] : 1;
  }
  return count;
}

static double rows_of(const indim_instr *instr, int32_t operand) {
  return elements(instr->operands[operand]->shape, ~(contracted(instr, operand) | batch(instr, operand)));
}

// Whether the innermost dimension is one of the sum.
static bool lies_along_sum(const indim_instr *instr, int32_t operand) {
  int32_t rank = instr->operands[operand]->shape->rank;
  return rank > 0 && (contracted(instr, operand) >> (rank - 1) & 1) != 0;
}

bool indim_complex_dot_suits(const indim_instr *instr) {
  indim_type type = instr->shape->type;
  if (instr->op != INDIM_OP_DOT || instr->operand_count != 2 || !indim_type_is_complex(type) ||
      indim_instr_attr(instr, INDIM_ATTR_DOT_ALGORITHM) != NULL || !indim_expand_is_row_major(instr->shape)) {
    return false;
  }
  for (int32_t i = 0; i < 2; i++) {
    const indim_shape *shape = instr->operands[i]->shape;
    if (shape->type != type || !indim_shape_is_static(shape) || !indim_expand_is_row_major(shape)) {
      return false;
    }
  }
  double m = rows_of(instr, 0), n = rows_of(instr, 1);
  double k = elements(instr->operands[0]->shape, contracted(instr, 0));
  bool is_along = lies_along_sum(instr, 0) && lies_along_sum(instr, 1);
  double least_along = k <= short_sum ? least_reuse_short : least_reuse_along;
  double least_across = type == INDIM_C64 ? least_reuse_c64 : least_reuse_c128;
  double least_reuse = is_along ? least_along : least_across;
  return m * n * k >= least_work && m * n * k >= least_reuse * (4 * fmin(m, n) * k + 2 * fmax(m, n) * k + 4 * m * n);
}

value indim_complex_dot_expand(indim_expander *x) {
  indim_builder *b = x->b;
  int64_t contracting = 0, batches = 0;
  indim_dot_dims dims = {.lhs_contracting = indim_instr_ints(x->instr, INDIM_ATTR_LHS_CONTRACTING_DIMS, &contracting),
                         .rhs_contracting = indim_instr_ints(x->instr, INDIM_ATTR_RHS_CONTRACTING_DIMS, &contracting),
                         .lhs_batch = indim_instr_ints(x->instr, INDIM_ATTR_LHS_BATCH_DIMS, &batches),
                         .rhs_batch = indim_instr_ints(x->instr, INDIM_ATTR_RHS_BATCH_DIMS, &batches)};
  dims.contracting_count = (int32_t)contracting;
  dims.batch_count = (int32_t)batches;
  indim_expand_begin(x);
  value re[2], im[2];
  for (int32_t i = 0; i < 2; i++) {
    re[i] = indim_build_unary(b, INDIM_OP_REAL, x->operands[i]);
    im[i] = indim_build_unary(b, INDIM_OP_IMAG, x->operands[i]);
  }
  value re_re = indim_build_dot(b, re[0], re[1], &dims), im_im = indim_build_dot(b, im[0], im[1], &dims);
  value re_im = indim_build_dot(b, re[0], im[1], &dims), im_re = indim_build_dot(b, im[0], re[1], &dims);
  value real = indim_build_binary(b, INDIM_OP_SUBTRACT, re_re, im_im, NULL, 0);
  value imag = indim_build_binary(b, INDIM_OP_ADD, re_im, im_re, NULL, 0);
  return indim_build_binary(b, INDIM_OP_COMPLEX, real, imag, NULL, 0);
}
