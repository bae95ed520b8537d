// Memory effects of nodes. A new kind of node that accesses memory is added here; verifier, passes and emission query
// it.
#include "loop/ir/effects.h"

#include "loop/ir/index_math.h"

// Lanes relative to one address, or each at its own.
static indim_effect lanes_at(const indim_loop_program *program, const indim_loop_node *node, indim_value_id value) {
  bool has_lanes = program->values[node->args[0]].lanes > 1;
  int64_t last = program->values[value].lanes - 1;
  int64_t reach = has_lanes ? 0 : indim_index_mul_saturated(node->u.memory.lane_stride, last);
  return (indim_effect){.storage = node->u.memory.storage,
                        .address = node->args[0],
                        .low = reach < 0 ? reach : 0,
                        .high = reach > 0 ? reach : 0,
                        .is_masked = node->u.memory.has_mask};
}

static indim_effect block_at(const indim_loop_node *node, int32_t storage, indim_value_id address) {
  return (indim_effect){.storage = storage, .address = address, .high = node->u.move.count - 1};
}

// The elements relative to its address that a product accesses in array |i|; low > high when none.
static void matmul_window(const indim_loop_node *node, int32_t i, int64_t *out_low, int64_t *out_high) {
  const indim_host_matmul *p = (const indim_host_matmul *)(const void *)node->u.host.numbers;
  const int64_t sizes[3][3] = {{p->batch, p->m, p->n}, {p->batch, p->m, p->k}, {p->batch, p->k, p->n}};
  const int64_t strides[3][3] = {
      {p->out_batch, p->out_m, 1}, {p->lhs_batch, p->lhs_m, p->lhs_k}, {p->rhs_batch, p->rhs_k, p->rhs_n}};
  *out_low = 0;
  *out_high = 0;
  for (int d = 0; d < 3; d++) {
    int64_t reach = indim_index_mul_saturated(sizes[i][d] - 1, strides[i][d]);
    int64_t *to = reach < 0 ? out_low : out_high;
    if (sizes[i][d] <= 0) {
      *out_low = 1;
      *out_high = 0;
      return;
    }
    *to = indim_index_add_saturated(*to, reach);
  }
}

// Moves the ends by |count| elements |stride| apart.
static void widen(int64_t count, int64_t stride, int64_t *low, int64_t *high) {
  int64_t reach = indim_index_mul_saturated(count - 1, stride);
  int64_t *to = reach < 0 ? low : high;
  *to = indim_index_add_saturated(*to, reach);
}

// The same of a convolution, as if all of the image were read.
static void convolution_window(const indim_loop_node *node, int32_t i, int64_t *out_low, int64_t *out_high) {
  const indim_host_convolution *p = (const indim_host_convolution *)(const void *)node->u.host.numbers;
  const int64_t sizes[3][3] = {
      {p->groups, p->batch, p->outputs}, {p->groups, p->batch, p->features}, {p->groups, p->features, p->outputs}};
  const int64_t strides[3][3] = {{p->out_group, p->out_batch, 1},
                                 {p->image_group, p->image_batch, p->image_feature},
                                 {p->filter_group, p->filter_feature, 1}};
  bool is_empty = false;
  *out_low = 0;
  *out_high = 0;
  for (int d = 0; d < 3; d++) {
    is_empty = is_empty || sizes[i][d] <= 0;
    widen(sizes[i][d], strides[i][d], out_low, out_high);
  }
  for (int a = 0; a < 3; a++) {
    const indim_host_convolution_dim *d = &p->dims[a];
    int64_t size = i == 0 ? d->out : i == 1 ? d->in : d->taps;
    is_empty = is_empty || size <= 0;
    widen(size, i == 0 ? d->out_stride : i == 1 ? d->image_stride : d->filter_stride, out_low, out_high);
  }
  if (is_empty) {
    *out_low = 1;
    *out_high = 0;
  }
}

// Of a strided service; the others say how many elements.
typedef void window_fn(const indim_loop_node *node, int32_t i, int64_t *out_low, int64_t *out_high);
static window_fn *const windows[INDIM_HOST_SERVICE_COUNT] = {
    [INDIM_HOST_MATMUL] = matmul_window, [INDIM_HOST_CONVOLUTION] = convolution_window};

static int32_t effects_of_call(const indim_loop_node *node, indim_effect *out) {
  bool is_matmul = node->u.host.service == INDIM_HOST_MATMUL;
  bool accumulates = is_matmul && ((const indim_host_matmul *)(const void *)node->u.host.numbers)->accumulate != 0;
  for (int32_t i = 0; i < node->u.host.storage_count; i++) {
    bool writes = i < node->u.host.written_count;
    out[i] = (indim_effect){.storage = node->u.host.storages[i], .address = node->args[i], .writes = writes};
    out[i].reads = !writes || accumulates;
    if (node->u.host.elements != NULL) {
      out[i].high = node->u.host.elements[i] - 1;
    } else {
      windows[node->u.host.service](node, i, &out[i].low, &out[i].high);
    }
  }
  return node->u.host.storage_count;
}

int32_t indim_loop_effects(const indim_loop_program *program, const indim_loop_node *node, indim_effect *out) {
  switch ((int)node->kind) {
  case INDIM_NODE_LOAD:
    out[0] = lanes_at(program, node, node->first_result);
    out[0].reads = true;
    return 1;
  case INDIM_NODE_STORE:
    out[0] = lanes_at(program, node, node->args[1]);
    out[0].writes = true;
    return 1;
  case INDIM_NODE_COPY:
    out[0] = block_at(node, node->u.move.from, node->args[1]);
    out[1] = block_at(node, node->u.move.to, node->args[0]);
    out[0].reads = out[1].writes = true;
    return 2;
  case INDIM_NODE_FILL:
    out[0] = block_at(node, node->u.move.to, node->args[0]);
    out[0].writes = true;
    return 1;
  case INDIM_NODE_HOST:
    return effects_of_call(node, out);
  default:
    return 0;
  }
}
