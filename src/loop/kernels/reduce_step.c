// One step of a reduction: inputs, the reducer applied to lanes, initial values, and which reducers have an identity.
#include <string.h>
#include "array/element.h"
#include "loop/ir/build.h"
#include "loop/kernels/reduce.h"
#include "loop/target/cost.h"

static bool identity_bits(indim_op op, indim_type type, uint64_t *out_bits, uint64_t *out_imag) {
  indim_element e = {0};
  bool is_complex = indim_type_is_complex(type);
  bool exists = true;
  switch (indim_op_identity_of(op)) {
  case INDIM_IDENTITY_NONE:
    return false;
  case INDIM_IDENTITY_ZERO:
    break;
  case INDIM_IDENTITY_NEGATIVE_ZERO:
    exists = type != INDIM_PRED;
    e = indim_type_is_float(type) || is_complex ? indim_element_of_float(type, -0.0, -0.0) : e;
    break;
  case INDIM_IDENTITY_ONE:
    exists = !is_complex;
    e = indim_type_is_float(type) ? indim_element_of_float(type, 1, 0) : indim_element_of_int(type, 1);
    break;
  case INDIM_IDENTITY_LOWEST:
    exists = indim_element_padding(type, INDIM_PADDING_LOWEST, &e);
    break;
  case INDIM_IDENTITY_HIGHEST:
    exists = indim_element_padding(type, INDIM_PADDING_HIGHEST, &e);
    break;
  case INDIM_IDENTITY_ALL_BITS:
    e = type == INDIM_PRED ? (indim_element){1, 0} : indim_element_of_int(type, -1);
    break;
  }
  *out_bits = e.bits;
  *out_imag = e.imag;
  return exists;
}

// Types without a negative zero or infinity have no identity for some ops; these take the general path.
static bool has_plain_zero(indim_type type) {
  return type == INDIM_F32 || type == INDIM_F64 || type == INDIM_F16 || type == INDIM_BF16 ||
         !indim_type_is_float(type);
}

bool indim_lower_single(indim_lowering *l, const indim_computation *apply, indim_type type, indim_loop_op *out_op,
                        indim_value_id *out_identity) {
  const indim_instr *root = indim_computation_single_op(apply);
  uint64_t bits = 0, imag = 0;
  if (root == NULL || root->shape->type != type || !has_plain_zero(type) ||
      !identity_bits(root->op, type, &bits, &imag)) {
    return false;
  }
  *out_op = (indim_loop_op){.op = root->op};
  *out_identity = indim_loop_const(&l->b, type, bits, imag);
  return true;
}

void indim_reduce_inputs(indim_reduction *r, int32_t lanes, const indim_coord *index, indim_value_id *out) {
  indim_element_ctx k = {.l = r->l, .lanes = lanes};
  for (int32_t i = 0; i < r->n; i++) {
    out[i] = indim_value_at_lanes(&k, r->inputs[i], index, 0);
  }
}

void indim_reduce_apply(indim_reduction *r, int32_t lanes, const indim_value_id *acc, const indim_value_id *values,
                        indim_value_id *out) {
  indim_loop_builder *b = &r->l->b;
  indim_value_id few[16];
  indim_value_id *args = r->n <= 8 ? few : indim_lower_alloc(r->l, 2 * (int64_t)r->n, sizeof *args);
  if (args == NULL) {
    return;
  }
  for (int32_t i = 0; i < r->n; i++) {
    args[i] = indim_loop_splat(b, acc[i], lanes);
    args[r->n + i] = indim_loop_splat(b, values[i], lanes);
  }
  indim_loop_apply(b, r->apply, lanes, args, out);
}

void indim_reduce_initial(indim_reduction *r, indim_value_id *acc) {
  indim_element_ctx k = {.l = r->l, .lanes = 1};
  for (int32_t i = 0; i < r->n; i++) {
    acc[i] = indim_value_at(&k, r->inits[i], NULL, 0);
  }
}

void indim_reduce_origin(const indim_reduction *r, indim_coord *index) {
  for (int32_t d = 0; d < r->rank; d++) {
    index[d] = (indim_coord){indim_loop_index(&r->l->b, 0), 0};
  }
}

bool indim_reduce_may_thread(const indim_reduction *r) {
  return r->l->loop_depth == 0 &&
         indim_lower_may_thread(r->l, indim_shape_element_count(r->inputs[0]->shape), INDIM_COST_PARALLEL_REDUCTION);
}
