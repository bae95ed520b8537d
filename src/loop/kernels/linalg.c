// cholesky, triangular-solve and LAPACK's custom calls, computed by the host.
#include "loop/kernels/service.h"

#include "linalg/linalg.h"

static bool has_lapack_type(const indim_shape *shape) {
  return shape->type == INDIM_F32 || shape->type == INDIM_F64 || shape->type == INDIM_C64 || shape->type == INDIM_C128;
}

const char *indim_linalg_refuses(const indim_flow_item *item) {
  if (item->instr->op != INDIM_OP_CUSTOM_CALL) {
    return has_lapack_type(item->shape) ? NULL : "it is of neither f32 nor f64 nor complex numbers of these";
  }
  return NULL;  // another target is told with those that are known
}

static indim_host_lapack_array array_of(const indim_linalg_array *a) {
  return (indim_host_lapack_array){
      .type = a->type, .is_batched = a->is_batched, .rows = a->sizes[0], .columns = a->sizes[1]};
}

void indim_lower_lapack(indim_lowering *l, indim_flow_item *item) {
  indim_linalg_call call;
  indim_type type = INDIM_TYPE_INVALID;
  indim_str name = indim_instr_attr(item->instr, INDIM_ATTR_CUSTOM_CALL_TARGET)->value.text;
  if (l->status == INDIM_OK && indim_linalg_find(name, &type) == NULL) {
    l->status = indim_linalg_fail_unknown(l->cx, item->instr, name);
  }
  l->status = l->status != INDIM_OK ? l->status : indim_linalg_parse(l->cx, item->instr, &call);
  if (indim_lower_failed(l)) {
    return;
  }
  indim_host_lapack numbers = {.routine = call.target->id,
                               .type = call.type,
                               .batch = call.batch,
                               .result_count = call.result_count,
                               .operand_count = call.operand_count};
  for (int32_t i = 0; i < call.result_count; i++) {
    numbers.arrays[i] = array_of(&call.results[i]);
  }
  for (int32_t i = 0; i < call.operand_count; i++) {
    numbers.arrays[call.result_count + i] = array_of(&call.operands[i]);
  }
  for (int32_t i = 0; i < INDIM_HOST_LAPACK_SIZES; i++) {
    numbers.sizes[i] = call.sizes[i];
  }
  for (int32_t i = 0; i < INDIM_HOST_LAPACK_ATTRS; i++) {
    numbers.attrs[i] = call.attrs[i];
  }
  indim_lower_service(l, item, INDIM_HOST_LAPACK, &numbers, true);
}

// The last two dimensions of a shape as an array of each matrix.
static indim_host_lapack_array matrix_of(const indim_shape *shape) {
  return (indim_host_lapack_array){.type = shape->type,
                                   .is_batched = 1,
                                   .rows = shape->sizes[shape->rank - 2],
                                   .columns = shape->sizes[shape->rank - 1]};
}

static int64_t batch_of(const indim_shape *shape) {
  int64_t batch = 1;
  for (int32_t d = 0; d < shape->rank - 2; d++) {
    batch *= shape->sizes[d];
  }
  return batch;
}

void indim_lower_cholesky(indim_lowering *l, indim_flow_item *item) {
  indim_host_lapack numbers = {.routine = INDIM_LINALG_COUNT,
                               .type = item->shape->type,
                               .batch = batch_of(item->shape),
                               .result_count = 1,
                               .operand_count = 1,
                               .arrays = {matrix_of(item->shape), matrix_of(item->shape)},
                               .attrs = {indim_instr_bool(item->instr, INDIM_ATTR_LOWER, false)}};
  indim_lower_service(l, item, INDIM_HOST_LAPACK, &numbers, true);
}

void indim_lower_triangular_solve(indim_lowering *l, indim_flow_item *item) {
  const indim_instr *instr = item->instr;
  indim_str trans = indim_instr_word(instr, INDIM_ATTR_TRANSPOSE_A);
  indim_host_lapack_array a = matrix_of(item->operands[0]->shape);
  indim_host_lapack_array b = matrix_of(item->shape);
  indim_host_lapack numbers = {.routine = INDIM_LINALG_TRSM,
                               .type = item->shape->type,
                               .batch = batch_of(item->shape),
                               .result_count = 1,
                               .operand_count = 2,
                               .arrays = {b, a, b}};
  numbers.sizes['s' - 'a'] = a.rows;
  numbers.sizes['m' - 'a'] = b.rows;
  numbers.sizes['n' - 'a'] = b.columns;
  numbers.attrs[0] = indim_instr_bool(instr, INDIM_ATTR_LEFT_SIDE, false) ? 'L' : 'R';  // as linalg.def has them
  numbers.attrs[1] = indim_instr_bool(instr, INDIM_ATTR_LOWER, false) ? 'L' : 'U';
  numbers.attrs[2] = indim_str_is(trans, "ADJOINT") ? 'C' : indim_str_is(trans, "TRANSPOSE") ? 'T' : 'N';
  numbers.attrs[3] = indim_instr_bool(instr, INDIM_ATTR_UNIT_DIAGONAL, false) ? 'U' : 'N';
  indim_lower_service(l, item, INDIM_HOST_LAPACK, &numbers, true);
}
