// The verifier's rules for pure nodes: types, lanes, the union's contents, and that a range is no tighter than the
// arguments' ranges imply.
#include <string.h>

#include "base/size.h"
#include "loop/verify/verify.h"

static const indim_loop_value *arg_of(const indim_loop_verifier *v, const indim_loop_node *node, int32_t i) {
  return &v->program->values[node->args[i]];
}

static const indim_loop_value *result_of(const indim_loop_verifier *v, const indim_loop_node *node) {
  return &v->program->values[node->first_result];
}

// Whether all args have |type| (or, when INVALID, the result's) and the result's lanes.
static bool args_like_result(const indim_loop_verifier *v, const indim_loop_node *node, indim_type type) {
  const indim_loop_value *result = result_of(v, node);
  bool ok = true;
  for (int32_t i = 0; i < node->arg_count; i++) {
    const indim_loop_value *arg = arg_of(v, node, i);
    ok &= arg->lanes == result->lanes && arg->type == (type == INDIM_TYPE_INVALID ? result->type : type);
  }
  return ok;
}

// The result type of a unary or binary op on operands of |type|.
static indim_type result_type(indim_op op, indim_type type) {
  if (op == INDIM_OP_IS_FINITE) {
    return INDIM_PRED;
  }
  bool takes_part = op == INDIM_OP_ABS || op == INDIM_OP_REAL || op == INDIM_OP_IMAG;
  return takes_part && indim_type_is_complex(type) ? indim_type_component_of(type) : type;
}

static bool is_valid_compare(const indim_loop_op *op) {
  return op->direction >= (int32_t)INDIM_COMPARE_EQ && op->direction <= (int32_t)INDIM_COMPARE_LT;
}

static bool types_agree(const indim_loop_verifier *v, const indim_loop_node *node) {
  const indim_loop_value *result = result_of(v, node);
  indim_type first = arg_of(v, node, 0)->type;
  indim_op op = node->u.op.op;
  switch ((int)op) {
  case INDIM_OP_CONVERT:
    return !indim_type_is_complex(first) || indim_type_is_complex(result->type);
  case INDIM_OP_STOCHASTIC_CONVERT:
    return true;
  case INDIM_OP_BITCAST_CONVERT:
    return indim_type_bits(first) == indim_type_bits(result->type);
  case INDIM_OP_COMPLEX:
    return first == arg_of(v, node, 1)->type && indim_type_complex_of(first) == result->type;
  case INDIM_OP_COMPARE:
    return first == arg_of(v, node, 1)->type && result->type == INDIM_PRED && is_valid_compare(&node->u.op);
  case INDIM_OP_SELECT:
    return first == INDIM_PRED && arg_of(v, node, 1)->type == result->type && arg_of(v, node, 2)->type == result->type;
  default:
    return args_like_result(v, node, first) && result_type(op, first) == result->type;
  }
}

static indim_status check_elementwise(const indim_loop_verifier *v, const indim_loop_node *node) {
  if ((unsigned)node->u.op.op >= INDIM_OP_COUNT || !indim_op_is_elementwise(node->u.op.op)) {
    return indim_verify_fail_node(v, node, "an operation that is not elementwise");
  }
  const indim_op_info *info = indim_op_get(node->u.op.op);
  if (node->arg_count < info->least || (info->most >= 0 && node->arg_count > info->most)) {
    return indim_verify_fail_node(v, node, "%s of %d values", info->text, (int)node->arg_count);
  }
  for (int32_t i = 0; i < node->arg_count; i++) {
    if (arg_of(v, node, i)->lanes != result_of(v, node)->lanes) {
      return indim_verify_fail_node(v, node, "argument %d has %d lanes, the result %d", (int)i,
                                    (int)arg_of(v, node, i)->lanes, (int)result_of(v, node)->lanes);
    }
  }
  return types_agree(v, node) ? INDIM_OK : indim_verify_fail_node(v, node, "the types of %s do not agree", info->text);
}

static indim_status check_reduce(const indim_loop_verifier *v, const indim_loop_node *node) {
  const indim_loop_value *result = result_of(v, node);
  indim_op op = node->u.op.op;
  if ((unsigned)op >= INDIM_OP_COUNT || indim_op_identity_of(op) == INDIM_IDENTITY_NONE) {
    return indim_verify_fail_node(v, node, "a reduction by %s", indim_op_get(op)->text);
  }
  if (result->lanes != 1 || result->type != arg_of(v, node, 0)->type) {
    return indim_verify_fail_node(v, node, "a reduction has one lane of its argument's type");
  }
  return INDIM_OK;
}

static indim_status check_constant(const indim_loop_verifier *v, const indim_loop_node *node) {
  const indim_loop_value *result = result_of(v, node);
  int32_t bits =
      indim_type_bits(indim_type_is_complex(result->type) ? indim_type_component_of(result->type) : result->type);
  int32_t lanes = node->kind == INDIM_NODE_LANES ? result->lanes : 1;
  const uint64_t *words = node->kind == INDIM_NODE_LANES ? node->u.lanes.bits : node->u.constant.bits;
  if (words == NULL) {
    return indim_verify_fail_node(v, node, "a constant without bits");
  }
  for (int32_t i = 0; i < 2 * lanes; i++) {
    bool may_be_set = i % 2 == 0 || indim_type_is_complex(result->type);
    if (!may_be_set ? words[i] != 0 : bits < 64 && words[i] >> bits != 0) {
      return indim_verify_fail_node(v, node, "a constant has more bits than %s", indim_type_text(result->type));
    }
  }
  return INDIM_OK;
}

static indim_status check_index(const indim_loop_verifier *v, const indim_loop_node *node) {
  const indim_loop_value *result = result_of(v, node);
  if (result->type != INDIM_S64) {
    return indim_verify_fail_node(v, node, "the result of index arithmetic must be s64");
  }
  if (node->kind == INDIM_NODE_CLAMP_INDEX) {
    const indim_loop_value *x = arg_of(v, node, 0);
    bool is_valid = node->u.clamp.low <= node->u.clamp.high && x->lanes == result->lanes &&
                    (x->type == INDIM_PRED || indim_type_is_integral(x->type));
    return is_valid ? INDIM_OK : indim_verify_fail_node(v, node, "a clamp of a non-integer or to an empty range");
  }
  if (!args_like_result(v, node, INDIM_S64)) {
    return indim_verify_fail_node(v, node, "index arithmetic on other than s64 of the result's lanes");
  }
  if (node->kind != INDIM_NODE_AFFINE && node->u.affine.constant <= 0) {
    return indim_verify_fail_node(v, node, "the divisor is %lld", (long long)node->u.affine.constant);
  }
  return INDIM_OK;
}

static indim_status check_lanes(const indim_loop_verifier *v, const indim_loop_node *node) {
  const indim_loop_value *result = result_of(v, node);
  const indim_loop_value *x = arg_of(v, node, 0);
  if (x->type != result->type) {
    return indim_verify_fail_node(v, node, "lanes of %s moved into %s", indim_type_text(x->type),
                                  indim_type_text(result->type));
  }
  if (node->kind == INDIM_NODE_SPLAT && x->lanes != 1) {
    return indim_verify_fail_node(v, node, "a splat of %d lanes", (int)x->lanes);
  }
  if (node->kind == INDIM_NODE_EXTRACT && (result->lanes != 1 || node->u.lane < 0 || node->u.lane >= x->lanes)) {
    return indim_verify_fail_node(v, node, "lane %d of %d", (int)node->u.lane, (int)x->lanes);
  }
  return INDIM_OK;
}

static indim_status check_shuffle(const indim_loop_verifier *v, const indim_loop_node *node) {
  const indim_loop_value *result = result_of(v, node);
  int64_t total = 0;
  if (node->arg_count < 1 || node->u.map == NULL) {
    return indim_verify_fail_node(v, node, "a shuffle of nothing");
  }
  for (int32_t i = 0; i < node->arg_count; i++) {
    total += arg_of(v, node, i)->lanes;
    if (arg_of(v, node, i)->type != result->type) {
      return indim_verify_fail_node(v, node, "a shuffle of %s into %s", indim_type_text(arg_of(v, node, i)->type),
                                    indim_type_text(result->type));
    }
  }
  for (int32_t i = 0; i < result->lanes; i++) {
    if (node->u.map[i] < -1 || node->u.map[i] >= total) {
      return indim_verify_fail_node(v, node, "a shuffle of lane %d of %d", (int)node->u.map[i], (int)total);
    }
  }
  return INDIM_OK;
}

static indim_status check_kind(const indim_loop_verifier *v, const indim_loop_node *node) {
  switch (node->kind) {
  case INDIM_NODE_CONST:
  case INDIM_NODE_LANES:
    return check_constant(v, node);
  case INDIM_NODE_ELEMENTWISE:
    return check_elementwise(v, node);
  case INDIM_NODE_FMA:
    return indim_loop_has_fma(result_of(v, node)->type) && args_like_result(v, node, INDIM_TYPE_INVALID)
               ? INDIM_OK
               : indim_verify_fail_node(v, node, "fma requires f32, f64 or a complex type");
  case INDIM_NODE_AFFINE:
  case INDIM_NODE_FLOORDIV:
  case INDIM_NODE_MODULO:
  case INDIM_NODE_CLAMP_INDEX:
    return check_index(v, node);
  case INDIM_NODE_SPLAT:
  case INDIM_NODE_EXTRACT:
    return check_lanes(v, node);
  case INDIM_NODE_SHUFFLE:
    return check_shuffle(v, node);
  case INDIM_NODE_REDUCE:
    return check_reduce(v, node);
  case INDIM_NODE_LOAD:
#include "loop/ir/impure.def"
    break;
  }
  return indim_verify_fail_node(v, node, "a node of an invalid kind");
}

indim_status indim_loop_verify_value(indim_loop_verifier *v, const indim_loop_node *node) {
  INDIM_TRY(check_kind(v, node));
  const indim_loop_value *result = result_of(v, node);
  int64_t low = INT64_MIN;
  int64_t high = INT64_MAX;
  if (result->type == INDIM_S64) {
    indim_loop_node_range(v->program, node, result->lanes, &low, &high);
  }
  if (result->low > low || result->high < high) {
    return indim_verify_fail_node(v, node, "v%d may be outside of its range", (int)node->first_result);
  }
  return INDIM_OK;
}
