// cholesky, triangular-solve and LAPACK's custom calls: small matrices as code, others by the host.
#include "linalg/batch.h"
#include "loop/kernels/service.h"
#include "loop/linalg/linalg.h"

// Matrices that lie column by column are passed as they are: in the layout of their shape.
static void mark(const indim_shape *shape, indim_linalg_array *array, const indim_shape **out_layout) {
  array->by_columns = array->rank == 2 && indim_service_is_by_columns(shape);
  *out_layout = array->by_columns ? shape : NULL;
}

void indim_lower_linalg(indim_lowering *l, indim_flow_item *item) {
  indim_linalg_call call;
  indim_host_lapack numbers;
  const indim_shape *layouts[2 * INDIM_LINALG_MOST_ARRAYS];
  l->status = l->status != INDIM_OK ? l->status : indim_linalg_read(l->cx, item->instr, &call);
  if (indim_lower_failed(l)) {
    return;
  }
  bool has_lanes = !l->options->has_foreign_calls && !l->options->is_self_contained;  // not in an object
  const char *reason = indim_small_linalg_refuses(&call, has_lanes);
  if (reason == NULL && indim_small_linalg_lower(l, item, &call)) {
    return;
  }
  indim_lower_explain(l, item, "by the host: %s", reason == NULL ? "an array has tiles" : reason);
  for (int32_t i = 0; i < call.result_count; i++) {
    mark(indim_flow_result(item, i)->shape, &call.results[i], &layouts[i]);
  }
  for (int32_t i = 0; i < call.operand_count; i++) {
    mark(item->operands[i]->shape, &call.operands[i], &layouts[call.result_count + i]);
  }
  indim_linalg_to_host(&call, &numbers);
  indim_lower_service(l, item, INDIM_HOST_LAPACK, &numbers, &(indim_service_arrays){.layouts = layouts});
}
