// Range analysis of integers: the range of a result by those of the arguments. The builder computes it for each new
// node, the verifier recomputes it.
#include "array/element.h"
#include "base/size.h"
#include "loop/ir/affine.h"
#include "loop/ir/build.h"

bool indim_loop_is_inside(const indim_loop_value *address, const indim_storage *storage, int64_t lanes,
                          int64_t lane_stride) {
  int64_t reach = indim_index_mul_saturated(lane_stride, lanes > 0 ? lanes - 1 : 0);
  int64_t low = indim_index_add_saturated(address->low, reach < 0 ? reach : 0);
  int64_t high = indim_index_add_saturated(address->high, reach > 0 ? reach : 0);
  return address->low > INT64_MIN && low >= 0 && address->high < INT64_MAX && high < storage->elements;
}

// Nodes -----------------------------------------------------------------------------------------------------------------

static int64_t least(int64_t x, int64_t y) { return x < y ? x : y; }
static int64_t most(int64_t x, int64_t y) { return x > y ? x : y; }
static int64_t clamp(int64_t value, int64_t low, int64_t high) { return most(low, least(value, high)); }

static void sum_range(const indim_loop_program *program, const indim_loop_node *node, int64_t *low, int64_t *high) {
  indim_affine sum;
  if (indim_affine_of_sum(node, &sum)) {
    indim_affine_range(program, &sum, low, high);
  }
}

// What is known of an argument: of an s64 its range; of a narrower integer its type's, or what the nodes it comes from say, looked
// at to |depth|; of others nothing.
static indim_loop_value known(const indim_loop_program *program, indim_value_id v, int32_t depth) {
  indim_loop_value out = program->values[v];
  if (out.type != INDIM_S64) {
    out.low = INT64_MIN;
    out.high = INT64_MAX;
    (void)indim_loop_narrow_range(program, v, depth, &out.low, &out.high);
  }
  return out;
}

// Sums, differences and products of integers of at most 32 bits. What wraps is left to the range of the type.
static void arithmetic_range(indim_op op, const indim_loop_value *x, const indim_loop_value *y, int64_t *low,
                             int64_t *high) {
  const int64_t products[4] = {indim_index_mul_saturated(x->low, y->low), indim_index_mul_saturated(x->low, y->high),
                               indim_index_mul_saturated(x->high, y->low), indim_index_mul_saturated(x->high, y->high)};
  *low = op == INDIM_OP_ADD ? x->low + y->low : op == INDIM_OP_SUBTRACT ? x->low - y->high : products[0];
  *high = op == INDIM_OP_ADD ? x->high + y->high : op == INDIM_OP_SUBTRACT ? x->high - y->low : products[0];
  for (int i = 1; i < 4 && op == INDIM_OP_MULTIPLY; i++) {
    *low = least(*low, products[i]);
    *high = most(*high, products[i]);
  }
}

static void elementwise_range(const indim_loop_program *program, const indim_loop_node *node, indim_type type,
                              int32_t depth, int64_t *low, int64_t *high) {
  const indim_loop_value first = known(program, node->args[0], depth);
  const indim_loop_value second = known(program, node->args[node->arg_count > 1 ? 1 : 0], depth);
  const indim_loop_value third = known(program, node->args[node->arg_count > 2 ? 2 : 0], depth);
  const indim_loop_value *x = &first;
  const indim_loop_value *y = &second;
  const indim_loop_value *z = &third;
  indim_op op = node->u.op.op;
  bool is_narrow = type != INDIM_S64;
  if (op == INDIM_OP_CONVERT) {
    *low = x->low;
    *high = x->high;
  } else if (is_narrow && (op == INDIM_OP_ADD || op == INDIM_OP_SUBTRACT || op == INDIM_OP_MULTIPLY)) {
    arithmetic_range(op, x, y, low, high);
  } else if (is_narrow && op == INDIM_OP_AND && y->low == y->high && y->low >= 0) {
    *low = 0;
    *high = y->high;
  } else if (is_narrow && op == INDIM_OP_REMAINDER && y->low == y->high && y->low > 0) {
    *low = x->low >= 0 ? 0 : 1 - y->low;
    *high = y->low - 1;
  } else if (op == INDIM_OP_MAXIMUM) {
    *low = most(x->low, y->low);
    *high = most(x->high, y->high);
  } else if (op == INDIM_OP_MINIMUM) {
    *low = least(x->low, y->low);
    *high = least(x->high, y->high);
  } else if (op == INDIM_OP_SELECT) {
    *low = least(y->low, z->low);
    *high = most(y->high, z->high);
  } else if (op == INDIM_OP_CLAMP) {  // min(max(low, x), high)
    *low = least(most(x->low, y->low), z->low);
    *high = least(most(x->high, y->high), z->high);
  }
}

static void lanes_range(indim_type type, const uint64_t *bits, int32_t lanes, int64_t *low, int64_t *high) {
  for (int32_t i = 0; i < lanes; i++) {
    int64_t number = indim_element_to_int(type, (indim_element){bits[2 * i], 0});
    *low = i == 0 ? number : least(*low, number);
    *high = i == 0 ? number : most(*high, number);
  }
}

static void clamp_range(const indim_loop_value *x, int64_t low, int64_t high, int64_t *out_low, int64_t *out_high) {
  int64_t from = x->low;
  int64_t to = x->high;
  if (x->type != INDIM_S64) {
    (void)indim_index_type_range(x->type, &from, &to);
  }
  *out_low = clamp(from, low, high);
  *out_high = clamp(to, low, high);
}

static void node_range(const indim_loop_program *program, const indim_loop_node *node, indim_type type, int32_t lanes,
                       int32_t depth, int64_t *out_low, int64_t *out_high) {
  const indim_loop_value first = known(program, node->arg_count > 0 ? node->args[0] : 0, depth);
  const indim_loop_value *x = &first;
  *out_low = INT64_MIN;
  *out_high = INT64_MAX;
  switch (node->kind) {
  case INDIM_NODE_CONST:
    lanes_range(type, node->u.constant.bits, 1, out_low, out_high);
    return;
  case INDIM_NODE_LANES:
    lanes_range(type, node->u.lanes.bits, lanes, out_low, out_high);
    return;
  case INDIM_NODE_ELEMENTWISE:
    elementwise_range(program, node, type, depth, out_low, out_high);
    return;
  case INDIM_NODE_AFFINE:
    sum_range(program, node, out_low, out_high);
    return;
  case INDIM_NODE_FLOORDIV:
    *out_low = indim_index_floordiv(x->low, node->u.affine.constant);
    *out_high = indim_index_floordiv(x->high, node->u.affine.constant);
    return;
  case INDIM_NODE_MODULO:
    *out_low = 0;
    *out_high = node->u.affine.constant - 1;
    return;
  case INDIM_NODE_CLAMP_INDEX:
    clamp_range(x, node->u.clamp.low, node->u.clamp.high, out_low, out_high);
    return;
  case INDIM_NODE_SPLAT:
  case INDIM_NODE_EXTRACT:
    *out_low = x->low;
    *out_high = x->high;
    return;
  case INDIM_NODE_SHUFFLE:
    *out_low = x->low;
    *out_high = x->high;
    for (int32_t i = 1; i < node->arg_count; i++) {
      const indim_loop_value next = known(program, node->args[i], depth);
      *out_low = least(*out_low, next.low);
      *out_high = most(*out_high, next.high);
    }
    return;
  case INDIM_NODE_REDUCE:
    if (node->u.op.op == INDIM_OP_MAXIMUM || node->u.op.op == INDIM_OP_MINIMUM) {
      *out_low = x->low;
      *out_high = x->high;
    }
    return;
  case INDIM_NODE_FMA:
  case INDIM_NODE_LOAD:
#include "loop/ir/impure.def"
    return;
  }
}

void indim_loop_node_range(const indim_loop_program *program, const indim_loop_node *node, int32_t lanes,
                           int64_t *out_low, int64_t *out_high) {
  node_range(program, node, INDIM_S64, lanes, 0, out_low, out_high);
}

bool indim_loop_narrow_range(const indim_loop_program *program, indim_value_id v, int32_t depth, int64_t *out_low,
                             int64_t *out_high) {
  const indim_loop_value *value = &program->values[v];
  int64_t low = INT64_MIN;
  int64_t high = INT64_MAX;
  if (value->type == INDIM_S64 || value->type == INDIM_U64 || !indim_index_type_range(value->type, out_low, out_high)) {
    return false;
  }
  if (depth > 0 && value->node != NULL && indim_type_bits(value->type) <= 32) {
    node_range(program, value->node, value->type, value->lanes, depth - 1, &low, &high);
    if (low >= *out_low && high <= *out_high) {  // else it may wrap
      *out_low = low;
      *out_high = high;
    }
  }
  return true;
}

bool indim_loop_is_multiple(const indim_loop_value *from, int64_t step) {
  return from->low == from->high || (from->step > 0 && from->step % step == 0);
}

void indim_loop_for_range(const indim_loop_program *program, indim_value_id begin, indim_value_id end, int64_t step,
                          int64_t *out_low, int64_t *out_high) {
  const indim_loop_value *from = &program->values[begin];
  const indim_loop_value *to = &program->values[end];
  int64_t distance = 0;
  int64_t high = to->high == INT64_MIN ? INT64_MIN : to->high - 1;
  if (indim_affine_distance(program, begin, end, &distance) && distance > 0) {
    high = least(high, indim_index_add_saturated(from->high, (distance - 1) / step * step));
  } else if (indim_loop_is_multiple(from, step) && high > from->low) {
    uint64_t reach = (uint64_t)high - (uint64_t)from->low;
    high = (int64_t)((uint64_t)from->low + reach / (uint64_t)step * (uint64_t)step);
  }
  *out_low = from->low;
  *out_high = most(high, from->low);
}

int64_t indim_loop_steps(const indim_loop_program *program, const indim_loop_node *loop) {
  const indim_loop_value *begin = &program->values[loop->args[0]];
  const indim_loop_value *end = &program->values[loop->args[1]];
  bool is_known = begin->low == begin->high && end->low == end->high;
  int64_t length = is_known ? indim_index_add_saturated(end->low, indim_index_mul_saturated(begin->low, -1)) : 0;
  return length > 0 ? (length - 1) / loop->u.loop.step + 1 : 0;
}
