// Batch normalisations of what counts.
#include "expand/batch_norm.h"
#include "expand/dynamic/padder.h"
#include "graph/infer_kit.h"

static const indim_computation *make_sum(indim_padder *p, indim_type type) {
  indim_shape scalar;
  indim_build_fail(p->x.b, indim_shape_init(p->x.cx, type, 0, NULL, &scalar));
  indim_computation *outer = indim_padder_begin(p, "sum");
  value lhs = indim_padder_parameter(p, 0, &scalar);
  value rhs = indim_padder_parameter(p, 1, &scalar);
  return indim_padder_end(p, indim_build_binary(p->x.b, INDIM_OP_ADD, lhs, rhs, NULL, 0), outer);
}

// The sizes of operand 0: of its features the least of all operands, of batch-norm-grad also of the gradient's elements.
static void read_sizes(indim_padder *p, const indim_instr *instr, const indim_sized *operands, int64_t feature,
                       indim_run_size *sizes) {
  indim_padder_least_sizes(p, instr, operands, 1, sizes);
  for (int32_t i = 1; i < instr->operand_count; i++) {
    const indim_shape *shape = instr->operands[i]->shape;
    bool has_elements = instr->op == INDIM_OP_BATCH_NORM_GRAD && i == 4;
    for (int32_t d = 0; d < shape->rank; d++) {
      int64_t at = has_elements ? d : feature;
      sizes[at] = indim_size_least(p, sizes[at], indim_size_of(&operands[i], shape, d));
    }
  }
}

// The elements of a feature.
static indim_run_size count_elements(indim_padder *p, const indim_shape *shape, int64_t feature,
                                     const indim_run_size *sizes) {
  indim_run_size count = indim_size_known(1);
  for (int32_t d = 0; d < shape->rank; d++) {
    count = d == feature ? count : indim_size_op(p, INDIM_OP_MULTIPLY, count, sizes[d]);
  }
  return count;
}

indim_sized indim_dynamic_batch_norm(indim_padder *p, const indim_instr *instr, indim_sized *operands) {
  const indim_shape *shape = instr->operands[0]->shape;
  int64_t feature = indim_instr_int(instr, INDIM_ATTR_FEATURE_INDEX, 0);
  indim_type work = indim_batch_norm_work_type(instr);
  bool is_tuple = indim_shape_is_tuple(instr->shape);
  int32_t count = is_tuple ? 3 : 1;
  indim_run_size sizes[INDIM_MAX_RANK];
  read_sizes(p, instr, operands, feature, sizes);
  indim_batch_norm_part part = {
      .counts = indim_padder_counts(p, shape, sizes, ~(UINT64_C(1) << feature)),
      .count =
          indim_expand_convert(&p->x, indim_size_scalar(p, count_elements(p, shape, feature, sizes), INDIM_S64), work)};
  p->x.operands = indim_expand_values(&p->x, instr->operand_count);
  for (int32_t i = 0; p->x.operands != NULL && i < instr->operand_count; i++) {
    p->x.operands[i] = operands[i].data;
  }
  value result = p->x.operands == NULL ? NULL : indim_batch_norm_build(&p->x, make_sum(p, work), &part);
  value *results = indim_padder_take_apart(p, result, count, is_tuple);
  for (int32_t k = 0; results != NULL && k < count; k++) {
    const indim_run_size *own = k == 0 ? sizes : &sizes[feature];
    const indim_shape *declared = is_tuple ? instr->shape->members[k] : instr->shape;
    indim_sized one = indim_padder_settle(p, declared, indim_padder_clear(p, results[k], own), own);
    if (!is_tuple) {
      return one;
    }
    results[k] = indim_padder_pack(p, declared, &one);
  }
  return (indim_sized){.data = results == NULL ? NULL : indim_build_tuple(p->x.b, results, count)};
}
