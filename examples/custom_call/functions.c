// A function for custom calls: each row of a matrix divided by its norm, times a factor.
//
//   cc -shared -fPIC -Iinclude examples/custom_call/functions.c -o functions.so -lm
//   indim run --custom-call=unit_rows=./functions.so:unit_rows examples/custom_call/unit_rows.hlo '{{3, 4}, {5, 12}}'
#include <math.h>

#include "indim/custom_call.h"

indim_status unit_rows(void *user, const indim_custom_call *call);

indim_status unit_rows(void *user, const indim_custom_call *call) {
  (void)user;
  if (call->operand_count != 1 || call->result_count != 1 || call->operands[0].shape->type != INDIM_F32 ||
      call->operands[0].shape->rank != 2 || call->results[0].bytes != call->operands[0].bytes) {
    return indim_custom_call_fail(call, INDIM_INVALID, "unit_rows takes one f32 matrix and gives another of its size");
  }
  const indim_custom_attr *factor = indim_custom_call_attr(call, "factor");
  if (factor == NULL || factor->kind != INDIM_CUSTOM_SCALAR || factor->type != INDIM_F32) {
    return indim_custom_call_fail(call, INDIM_INVALID, "unit_rows needs the attribute factor = ... : f32");
  }
  const int64_t *sizes = call->operands[0].shape->sizes;
  const float *x = call->operands[0].data;  // row by row: the program states no other layout
  float *y = call->results[0].data;
  for (int64_t i = 0; i < sizes[0]; i++) {
    float sum = 0;
    for (int64_t j = 0; j < sizes[1]; j++) {
      sum += x[i * sizes[1] + j] * x[i * sizes[1] + j];
    }
    if (sum == 0) {
      return indim_custom_call_fail(call, INDIM_INVALID, "row %d is zero", (int)i);
    }
    for (int64_t j = 0; j < sizes[1]; j++) {
      y[i * sizes[1] + j] = *(const float *)factor->data * x[i * sizes[1] + j] / sqrtf(sum);
    }
  }
  return INDIM_OK;
}
