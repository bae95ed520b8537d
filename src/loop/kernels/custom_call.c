// custom-call of a function of the caller's: a service of the host, which knows the function by its number.
#include "loop/kernels/service.h"

// The call's leaves that are arrays, in its order.
static int32_t array_leaves(const indim_call *call, const indim_shape **out) {
  int32_t count = 0;
  for (int64_t i = 0; i < indim_call_leaf_count(call); i++) {
    const indim_shape *leaf = indim_call_leaf(call, i);
    if (leaf->type != INDIM_TOKEN) {
      out[count++] = leaf;
    }
  }
  return count;
}

// A result that nobody needs has no place yet.
static void place_results(indim_lowering *l, indim_flow_item *item) {
  if (item->member_count > 0 || indim_shape_is_array(item->shape)) {
    indim_lower_place(l, item);
  }
}

void indim_lower_custom_call(indim_lowering *l, indim_flow_item *item) {
  const indim_call *call = l->program->calls.list[item->call - 1];
  const indim_shape *shapes[INDIM_CUSTOM_MOST_ARRAYS];
  int32_t count = array_leaves(call, shapes);
  uint64_t present = 0;
  for (int32_t i = 0; i < count && i < 64; i++) {
    present |= (uint64_t)(indim_shape_element_count(shapes[i]) > 0) << i;
  }
  bool asks = !indim_call_is_check(call) || !l->options->has_foreign_calls;  // the caller's host knows of no checks
  indim_host_custom_call numbers = {.number = asks ? item->call - 1 : INDIM_LOOP_FAILS, .present = (int64_t)present};
  indim_service_arrays arrays = {.layouts = shapes,
                                 .ignores_operands = indim_call_leaf_count(call) == indim_call_result_count(call),
                                 .leaves_out_empty = true};
  place_results(l, item);
  if (!indim_lower_failed(l)) {
    indim_lower_service(l, item, INDIM_HOST_CUSTOM_CALL, &numbers, &arrays);
  }
}
