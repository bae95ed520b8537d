// Which function lowers an op that is a kernel of its own.
#include "loop/kernels/kernels.h"

bool indim_lower_kernel(indim_lowering *l, indim_flow_item *item) {
  switch ((int)item->instr->op) {
  case INDIM_OP_REDUCE:
    indim_lower_reduce(l, item);
    return true;
  case INDIM_OP_DOT:
    indim_lower_dot(l, item);
    return true;
  case INDIM_OP_REDUCE_WINDOW:
    indim_lower_reduce_window(l, item);
    return true;
  case INDIM_OP_SELECT_AND_SCATTER:
    indim_lower_select_and_scatter(l, item);
    return true;
  case INDIM_OP_CONVOLUTION:
    indim_lower_convolution(l, item);
    return true;
  case INDIM_OP_SORT:
    indim_lower_sort(l, item);
    return true;
  case INDIM_OP_TOPK:
    indim_lower_topk(l, item);
    return true;
  default:
    return false;
  }
}

bool indim_lower_takes_elements(const indim_flow_item *item, int32_t k) {
  switch ((int)item->instr->op) {
  case INDIM_OP_REDUCE:
  case INDIM_OP_DOT:
  case INDIM_OP_SCATTER:
  case INDIM_OP_REDUCE_WINDOW:
  case INDIM_OP_SELECT_AND_SCATTER:
  case INDIM_OP_SORT:
  case INDIM_OP_TOPK:
  case INDIM_OP_CONVOLUTION:
    return true;
  case INDIM_OP_DYNAMIC_UPDATE_SLICE:
    return k > 0;
  default:
    return false;
  }
}

// An element of a factor meets every index of the other factor's free dimensions.
static int64_t dot_repeats(const indim_flow_item *item, int32_t k) {
  int64_t count = 0;
  const int64_t *contracting = indim_instr_ints(item->instr, INDIM_ATTR_RHS_CONTRACTING_DIMS, &count);
  int64_t times = indim_shape_element_count(item->shape);
  for (int64_t i = 0; i < count; i++) {
    times = times > INT32_MAX ? times : times * item->operands[1]->shape->sizes[contracting[i]];
  }
  int64_t elements = indim_shape_element_count(item->operands[k]->shape);
  return elements == 0 ? 1 : times / elements;
}

// An element of a window's array is met by as many taps as the strides leave.
static int64_t window_repeats(const indim_flow_item *item, int32_t k) {
  const indim_attr *attr = indim_instr_attr(item->instr, INDIM_ATTR_WINDOW);
  int64_t taps = 1;
  for (int64_t d = 0; attr != NULL && d < attr->count && taps < INT32_MAX; d++) {
    int64_t size = attr->value.window[d].size;
    int64_t stride = attr->value.window[d].stride;
    taps *= size > stride ? (size + stride - 1) / stride : 1;
  }
  bool is_array = item->instr->op == INDIM_OP_SELECT_AND_SCATTER ? k == 0 : k < item->operand_count / 2;
  return is_array ? taps : 1;
}

// An element of the input meets the taps and the output features, one of the kernel the places of the window.
static int64_t convolution_repeats(const indim_flow_item *item, int32_t k) {
  const indim_shape *kernel = item->operands[1]->shape;
  int64_t elements = indim_shape_element_count(item->operands[k]->shape);
  const indim_attr *attr = indim_instr_attr(item->instr, INDIM_ATTR_DIM_LABELS);
  int64_t times = indim_shape_element_count(item->shape);
  for (int32_t d = 0; d < kernel->rank && times <= INT32_MAX; d++) {
    times *= d == attr->value.dim_labels->kernel_output ? 1 : kernel->sizes[d];
  }
  return elements == 0 ? 1 : (times + elements - 1) / elements;
}

int64_t indim_lower_repeats(const indim_flow_item *item, int32_t k) {
  switch ((int)item->instr->op) {
  case INDIM_OP_DOT:
    return dot_repeats(item, k);
  case INDIM_OP_CONVOLUTION:
    return convolution_repeats(item, k);
  case INDIM_OP_REDUCE_WINDOW:
    return indim_lower_is_cumulative(item) ? 1 : window_repeats(item, k);
  case INDIM_OP_SELECT_AND_SCATTER:
    return window_repeats(item, k);
  default:
    return 1;
  }
}
