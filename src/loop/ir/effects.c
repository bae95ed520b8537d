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

// The elements relative to its address that a product accesses in storage |i| of its list; low > high when none.
static void product_window(const indim_loop_node *node, int32_t i, int64_t *out_low, int64_t *out_high) {
  static const int sizes[INDIM_MAX_HOST_STORAGES][3] = {{INDIM_MATMUL_BATCH, INDIM_MATMUL_M, INDIM_MATMUL_N},
                                                        {INDIM_MATMUL_BATCH, INDIM_MATMUL_M, INDIM_MATMUL_K},
                                                        {INDIM_MATMUL_BATCH, INDIM_MATMUL_K, INDIM_MATMUL_N}};
  static const int strides[INDIM_MAX_HOST_STORAGES][3] = {
      {INDIM_MATMUL_OUT_BATCH, INDIM_MATMUL_OUT_M, -1},
      {INDIM_MATMUL_LHS_BATCH, INDIM_MATMUL_LHS_M, INDIM_MATMUL_LHS_K},
      {INDIM_MATMUL_RHS_BATCH, INDIM_MATMUL_RHS_K, INDIM_MATMUL_RHS_N}};
  const int64_t *numbers = node->u.host.numbers;
  *out_low = 0;
  *out_high = 0;
  for (int d = 0; d < 3; d++) {
    int64_t size = numbers[sizes[i][d]];
    int64_t reach = indim_index_mul_saturated(size - 1, strides[i][d] < 0 ? 1 : numbers[strides[i][d]]);
    int64_t *to = reach < 0 ? out_low : out_high;
    if (size <= 0) {
      *out_low = 1;
      *out_high = 0;
      return;
    }
    *to = indim_index_add_saturated(*to, reach);
  }
}

static int32_t effects_of_call(const indim_loop_node *node, indim_effect *out) {
  bool accumulates = node->u.host.numbers[INDIM_MATMUL_ACCUMULATE] != 0;
  for (int32_t i = 0; i < node->u.host.storage_count; i++) {
    bool writes = node->u.host.is_written[i];
    out[i] = (indim_effect){.storage = node->u.host.storages[i], .address = node->args[i], .writes = writes};
    out[i].reads = !writes || accumulates;
    product_window(node, i, &out[i].low, &out[i].high);
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
