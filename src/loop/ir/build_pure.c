// Constants, elementwise operations, shuffles and reductions. Simplified here is what lowering emits without checking:
// selects on constant preds, conversions to the same type, s64 sums and products that cannot wrap (they become index
// arithmetic), and shuffles of shuffles, splats and constants.
#include <string.h>

#include "array/element.h"
#include "base/size.h"
#include "loop/ir/build.h"

// Constants -------------------------------------------------------------------------------------------------------------

static indim_value_id constant(indim_loop_builder *b, indim_type type, int32_t lanes, uint64_t bits, uint64_t imag) {
  indim_loop_draft draft = indim_loop_draft_of(INDIM_NODE_CONST, type, lanes, 0, NULL);
  draft.node.u.constant.bits[0] = bits;
  draft.node.u.constant.bits[1] = imag;
  return indim_loop_intern_pure(b, &draft, false);
}

indim_value_id indim_loop_const(indim_loop_builder *b, indim_type type, uint64_t bits, uint64_t imag) {
  return constant(b, type, 1, bits, imag);
}

indim_value_id indim_loop_index(indim_loop_builder *b, int64_t value) {
  return constant(b, INDIM_S64, 1, (uint64_t)value, 0);
}

indim_value_id indim_loop_lanes(indim_loop_builder *b, indim_type type, int32_t lanes, const uint64_t *bits) {
  indim_loop_draft draft = indim_loop_draft_of(INDIM_NODE_LANES, type, lanes, 0, NULL);
  bool all_equal = true;
  for (int32_t i = 1; i < lanes; i++) {
    all_equal &= bits[2 * i] == bits[0] && bits[2 * i + 1] == bits[1];
  }
  if (all_equal) {
    return constant(b, type, lanes, bits[0], bits[1]);
  }
  draft.node.u.lanes.bits = bits;
  return indim_loop_intern_pure(b, &draft, false);
}

// The bits of lane |lane| of a constant. False when |v| is not constant.
static bool constant_lane(const indim_loop_builder *b, indim_value_id v, int32_t lane, indim_element *out) {
  const indim_loop_node *node = indim_loop_node_of(b, v);
  if (node != NULL && node->kind == INDIM_NODE_CONST) {
    *out = (indim_element){node->u.constant.bits[0], node->u.constant.bits[1]};
    return true;
  }
  if (node != NULL && node->kind == INDIM_NODE_LANES) {
    *out = (indim_element){node->u.lanes.bits[2 * lane], node->u.lanes.bits[2 * lane + 1]};
    return true;
  }
  return false;
}

// Whether |v| is a constant pred, the same in every lane.
static bool constant_pred(const indim_loop_builder *b, indim_value_id v, bool *out) {
  const indim_loop_node *node = indim_loop_node_of(b, v);
  if (node == NULL || node->kind != INDIM_NODE_CONST || indim_loop_value_of(b, v)->type != INDIM_PRED) {
    return false;
  }
  *out = node->u.constant.bits[0] != 0;
  return true;
}

// Elementwise -----------------------------------------------------------------------------------------------------------

static bool is_s64_constant(const indim_loop_value *value) {
  return value->type == INDIM_S64 && value->low == value->high;
}

// s64 sums and products that cannot wrap in any lane, as index arithmetic, and divisions of nonnegative values by a
// positive constant. 0 otherwise.
static indim_value_id index_arithmetic(indim_loop_builder *b, indim_op op, const indim_value_id *args) {
  indim_loop_value x = *indim_loop_value_of(b, args[0]);
  indim_loop_value y = *indim_loop_value_of(b, args[1]);
  int64_t low = 0;
  int64_t high = 0;
  if (op == INDIM_OP_ADD && indim_int_add(x.low, y.low, &low) && indim_int_add(x.high, y.high, &high)) {
    return indim_loop_add(b, args[0], args[1]);
  }
  if (op == INDIM_OP_SUBTRACT && y.low > INT64_MIN && indim_int_add(x.low, -y.high, &low) &&
      indim_int_add(x.high, -y.low, &high)) {
    const int64_t coefficients[2] = {1, -1};
    return indim_loop_affine(b, 0, 2, args, coefficients);
  }
  if (op == INDIM_OP_MULTIPLY && (is_s64_constant(&x) || is_s64_constant(&y))) {
    bool first = is_s64_constant(&x);
    const indim_loop_value *other = first ? &y : &x;
    int64_t factor = first ? x.low : y.low;
    if (indim_index_mul(other->low, factor, &low) && indim_index_mul(other->high, factor, &high)) {
      return indim_loop_mul_const(b, args[first ? 1 : 0], factor);
    }
  }
  if (op == INDIM_OP_DIVIDE && x.low >= 0 && is_s64_constant(&y) && y.low > 0) {
    return indim_loop_floordiv(b, args[0], y.low);
  }
  if (op == INDIM_OP_REMAINDER && x.low >= 0 && is_s64_constant(&y) && y.low > 0) {
    return indim_loop_modulo(b, args[0], y.low);
  }
  return 0;
}

bool indim_loop_range(const indim_loop_builder *b, indim_value_id v, int64_t *out_low, int64_t *out_high) {
  enum { DEPTH = 4 };
  const indim_loop_value *value = indim_loop_value_of(b, v);
  if (value->type == INDIM_S64) {
    *out_low = value->low;
    *out_high = value->high;
    return true;
  }
  return indim_loop_narrow_range(b->program, v, DEPTH, out_low, out_high);
}

// The result of a comparison of integers whose ranges decide it.
static bool decide_compare(const indim_loop_value *x, const indim_loop_value *y, int32_t direction, bool *out) {
  bool is_less = x->high < y->low;
  bool is_greater = x->low > y->high;
  bool is_equal = x->low == x->high && y->low == y->high && x->low == y->low;
  bool at_most = x->high <= y->low;
  bool at_least = x->low >= y->high;
  switch ((indim_compare_direction)direction) {
  case INDIM_COMPARE_EQ:
    *out = is_equal;
    return is_equal || is_less || is_greater;
  case INDIM_COMPARE_NE:
    *out = !is_equal;
    return is_equal || is_less || is_greater;
  case INDIM_COMPARE_GE:
    *out = at_least;
    return at_least || is_less;
  case INDIM_COMPARE_GT:
    *out = is_greater;
    return is_greater || at_most;
  case INDIM_COMPARE_LE:
    *out = at_most;
    return at_most || is_greater;
  case INDIM_COMPARE_LT:
    *out = is_less;
    return is_less || at_least;
  }
  return false;
}

// Constant-folds a comparison of two s64 constants lane by lane: masks of loop tails. 0 when they are not constant, or
// too long.
static indim_value_id constant_fold_compare(indim_loop_builder *b, const indim_loop_op *op,
                                            const indim_value_id *args) {
  enum { MAX_LANES = 64 };
  uint64_t bits[2 * MAX_LANES] = {0};
  int32_t lanes = indim_loop_value_of(b, args[0])->lanes;
  for (int32_t i = 0; i < lanes; i++) {
    indim_element x = {0, 0};
    indim_element y = {0, 0};
    bool is_true = false;
    if (lanes > MAX_LANES || !constant_lane(b, args[0], i, &x) || !constant_lane(b, args[1], i, &y)) {
      return 0;
    }
    const indim_loop_value left = {.type = INDIM_S64, .low = (int64_t)x.bits, .high = (int64_t)x.bits};
    const indim_loop_value right = {.type = INDIM_S64, .low = (int64_t)y.bits, .high = (int64_t)y.bits};
    (void)decide_compare(&left, &right, op->direction, &is_true);  // two numbers always decide it
    bits[2 * i] = is_true ? 1 : 0;
  }
  return indim_loop_lanes(b, INDIM_PRED, lanes, bits);
}

// x divided by a constant power of two whose reciprocal is a normal number, as a product with the reciprocal: the same
// result, at a fraction of the latency. 0 otherwise.
static indim_value_id divide_by_power_of_two(indim_loop_builder *b, indim_type type, const indim_value_id *args) {
  if ((type != INDIM_F32 && type != INDIM_F64) || !indim_loop_is(b, args[1], INDIM_NODE_CONST)) {
    return 0;
  }
  int digits = type == INDIM_F32 ? 23 : 52;
  uint64_t most = type == INDIM_F32 ? 254 : 2046;  // biased exponent of the largest finite numbers
  uint64_t bits = indim_loop_node_of(b, args[1])->u.constant.bits[0];
  uint64_t sign = bits & UINT64_C(1) << (type == INDIM_F32 ? 31 : 63);
  uint64_t exponent = (bits ^ sign) >> digits;
  if (bits << (64 - digits) != 0 || exponent < 1 || exponent >= most) {
    return 0;
  }
  uint64_t reciprocal = sign | (most - exponent) << digits;
  return indim_loop_binary(b, INDIM_OP_MULTIPLY, args[0],
                           constant(b, type, indim_loop_value_of(b, args[1])->lanes, reciprocal, 0));
}

// Whether it is known of two values, without their ranges, which is less; |*out|: the comparison's result.
static bool is_decided(const indim_loop_builder *b, int32_t direction, const indim_value_id *args, bool *out) {
  static const bool of_less[] = {[INDIM_COMPARE_LT] = true, [INDIM_COMPARE_LE] = true, [INDIM_COMPARE_NE] = true};
  static const bool of_greater[] = {[INDIM_COMPARE_GT] = true, [INDIM_COMPARE_GE] = true, [INDIM_COMPARE_NE] = true};
  bool is_less = b->less[0] != 0 && args[0] == b->less[0] && args[1] == b->less[1];
  bool is_greater = b->less[0] != 0 && args[1] == b->less[0] && args[0] == b->less[1];
  size_t count = is_less ? sizeof of_less / sizeof *of_less : sizeof of_greater / sizeof *of_greater;
  *out = (size_t)direction < count && (is_less ? of_less : of_greater)[direction];
  return is_less || is_greater;
}

// The maximum of a value and the lowest one, as at the start of a reduction, or the minimum with the highest: the value. 0 otherwise.
static indim_value_id without_bound(const indim_loop_builder *b, indim_op op, indim_type type,
                                    const indim_value_id *args) {
  indim_element bound = {0, 0};
  indim_padding padding = op == INDIM_OP_MAXIMUM ? INDIM_PADDING_LOWEST : INDIM_PADDING_HIGHEST;
  bool is_bounded = indim_element_padding(type, padding, &bound);
  for (int i = 0; i < 2 && is_bounded; i++) {
    const indim_loop_node *node = indim_loop_node_of(b, args[i]);
    if (node != NULL && node->kind == INDIM_NODE_CONST && node->u.constant.bits[0] == bound.bits) {
      return args[1 - i];
    }
  }
  return 0;
}

// An existing value or a cheaper node in its place; 0 if there is none.
static indim_value_id simplify(indim_loop_builder *b, const indim_loop_op *op, indim_type type, int32_t count,
                               const indim_value_id *args) {
  const indim_loop_value x = *indim_loop_value_of(b, args[0]);
  indim_element element = {0, 0};
  indim_loop_value left = x;
  indim_loop_value right = x;
  bool is_true = false;
  if (op->op == INDIM_OP_SELECT && count == 3) {
    return args[1] == args[2] ? args[1] : !constant_pred(b, args[0], &is_true) ? 0 : is_true ? args[1] : args[2];
  }
  if (op->op == INDIM_OP_CONVERT && x.type == type) {
    return args[0];
  }
  if (op->op == INDIM_OP_CONVERT && type == INDIM_S64 && (x.type == INDIM_PRED || indim_type_is_integral(x.type)) &&
      indim_loop_is(b, args[0], INDIM_NODE_CONST) && constant_lane(b, args[0], 0, &element)) {
    return constant(b, type, x.lanes, (uint64_t)indim_element_to_int(x.type, element), 0);
  }
  if (count == 2 && type == INDIM_S64 && x.type == INDIM_S64) {
    return index_arithmetic(b, op->op, args);
  }
  if (count == 2 && op->op == INDIM_OP_COMPARE && is_decided(b, op->direction, args, &is_true)) {
    return constant(b, INDIM_PRED, x.lanes, is_true ? 1 : 0, 0);
  }
  if (count == 2 && op->op == INDIM_OP_COMPARE && indim_loop_range(b, args[0], &left.low, &left.high) &&
      indim_loop_range(b, args[1], &right.low, &right.high)) {
    bool is_known = decide_compare(&left, &right, op->direction, &is_true);
    return is_known              ? constant(b, INDIM_PRED, x.lanes, is_true ? 1 : 0, 0)
           : x.type == INDIM_S64 ? constant_fold_compare(b, op, args)
                                 : 0;
  }
  if (count == 2 && (op->op == INDIM_OP_MAXIMUM || op->op == INDIM_OP_MINIMUM)) {
    return without_bound(b, op->op, type, args);
  }
  if (count == 2 && op->op == INDIM_OP_DIVIDE) {
    return divide_by_power_of_two(b, type, args);
  }
  if (count == 2 && type == INDIM_PRED && (op->op == INDIM_OP_AND || op->op == INDIM_OP_OR)) {
    for (int i = 0; i < 2; i++) {
      if (constant_pred(b, args[i], &is_true)) {
        return args[is_true == (op->op == INDIM_OP_AND) ? 1 - i : i];
      }
    }
  }
  return 0;
}

static bool check_lanes(indim_loop_builder *b, int32_t count, const indim_value_id *args, const char *what) {
  if (!indim_loop_check_in_scope(b, count, args)) {
    return false;
  }
  for (int32_t i = 0; i < count; i++) {
    int32_t first = indim_loop_value_of(b, args[0])->lanes;
    int32_t own = indim_loop_value_of(b, args[i])->lanes;
    if (own != first) {
      indim_loop_refuse(b, "%s of %d and %d lanes", what, (int)first, (int)own);
      return false;
    }
  }
  return true;
}

indim_value_id indim_loop_elementwise(indim_loop_builder *b, indim_loop_op op, indim_type type, int32_t count,
                                      const indim_value_id *args) {
  if (count < 1) {
    indim_loop_refuse(b, "%s without arguments", indim_op_get(op.op)->text);
  }
  if (!check_lanes(b, count, args, indim_op_get(op.op)->text)) {
    return 0;
  }
  indim_value_id simple = indim_loop_fold(b, &op, type, count, args);
  simple = simple == 0 && b->status == INDIM_OK ? simplify(b, &op, type, count, args) : simple;
  if (simple != 0 || b->status != INDIM_OK) {
    return simple;
  }
  indim_loop_draft draft =
      indim_loop_draft_of(INDIM_NODE_ELEMENTWISE, type, indim_loop_value_of(b, args[0])->lanes, count, args);
  draft.node.u.op = op;
  return indim_loop_intern_pure(b, &draft, true);
}

indim_value_id indim_loop_binary(indim_loop_builder *b, indim_op op, indim_value_id x, indim_value_id y) {
  const indim_value_id args[2] = {x, y};
  return indim_loop_elementwise(b, (indim_loop_op){.op = op}, indim_loop_value_of(b, x)->type, 2, args);
}

indim_value_id indim_loop_select(indim_loop_builder *b, indim_value_id pred, indim_value_id on_true,
                                 indim_value_id on_false) {
  const indim_value_id args[3] = {pred, on_true, on_false};
  return indim_loop_elementwise(b, (indim_loop_op){.op = INDIM_OP_SELECT}, indim_loop_value_of(b, on_true)->type, 3,
                                args);
}

indim_value_id indim_loop_convert(indim_loop_builder *b, indim_value_id x, indim_type type) {
  return indim_loop_elementwise(b, (indim_loop_op){.op = INDIM_OP_CONVERT}, type, 1, &x);
}

bool indim_loop_has_fma(indim_type type) {
  return type == INDIM_F32 || type == INDIM_F64 || type == INDIM_C64 || type == INDIM_C128;
}

indim_value_id indim_loop_fma(indim_loop_builder *b, indim_value_id x, indim_value_id y, indim_value_id z) {
  const indim_value_id args[3] = {x, y, z};
  if (!check_lanes(b, 3, args, "fma")) {
    return 0;
  }
  const indim_loop_value *value = indim_loop_value_of(b, x);
  indim_loop_draft draft = indim_loop_draft_of(INDIM_NODE_FMA, value->type, value->lanes, 3, args);
  return indim_loop_intern_pure(b, &draft, true);
}

// Lanes -----------------------------------------------------------------------------------------------------------------

indim_value_id indim_loop_splat(indim_loop_builder *b, indim_value_id x, int32_t lanes) {
  if (!indim_loop_check_in_scope(b, 1, &x)) {
    return 0;
  }
  const indim_loop_value *value = indim_loop_value_of(b, x);
  const indim_loop_node *node = value->node;
  if (value->lanes == lanes) {
    return x;
  }
  if (value->lanes != 1 || lanes < 1) {
    indim_loop_refuse(b, "a splat of %d lanes to %d", (int)value->lanes, (int)lanes);
    return 0;
  }
  if (node != NULL && node->kind == INDIM_NODE_CONST) {
    return constant(b, value->type, lanes, node->u.constant.bits[0], node->u.constant.bits[1]);
  }
  indim_loop_draft draft = indim_loop_draft_of(INDIM_NODE_SPLAT, value->type, lanes, 1, &x);
  return indim_loop_intern_pure(b, &draft, false);
}

// The source of a lane.
typedef struct source {
  indim_value_id value;  // 0: undefined (any value)
  int32_t lane;
} source;

// The argument that contains lane |lane| of the concatenated args. |*at| and |*start| cache the last position found.
static source source_of(const indim_loop_builder *b, int32_t count, const indim_value_id *args, int32_t lane,
                        int32_t *at, int32_t *start) {
  if (lane < *start) {
    *at = 0;
    *start = 0;
  }
  while (*at < count && lane - *start >= indim_loop_value_of(b, args[*at])->lanes) {
    *start += indim_loop_value_of(b, args[*at])->lanes;
    (*at)++;
  }
  return *at < count ? (source){args[*at], lane - *start} : (source){0, -1};
}

// Looks through one node that only moves lanes; one step is enough, since its args were simplified when it was built.
static source look_through(const indim_loop_builder *b, source from) {
  const indim_loop_node *node = from.value == 0 ? NULL : indim_loop_node_of(b, from.value);
  if (node == NULL) {
    return from;
  }
  if (node->kind == INDIM_NODE_SPLAT) {
    return (source){node->args[0], 0};
  }
  if (node->kind == INDIM_NODE_EXTRACT) {
    return (source){node->args[0], node->u.lane};
  }
  if (node->kind == INDIM_NODE_SHUFFLE) {
    int32_t at = 0;
    int32_t start = 0;
    int32_t lane = node->u.map[from.lane];
    return lane < 0 ? (source){0, -1} : source_of(b, node->arg_count, node->args, lane, &at, &start);
  }
  return from;
}

static indim_value_id undefined_value(indim_loop_builder *b, indim_type type, int32_t lanes) {
  return constant(b, type, lanes, 0, 0);
}

indim_value_id indim_loop_extract(indim_loop_builder *b, indim_value_id x, int32_t lane) {
  if (!indim_loop_check_in_scope(b, 1, &x)) {
    return 0;
  }
  indim_loop_value value = *indim_loop_value_of(b, x);
  indim_element element = {0, 0};
  if (lane < 0 || lane >= value.lanes) {
    indim_loop_refuse(b, "lane %d of %d", (int)lane, (int)value.lanes);
    return 0;
  }
  source from = {x, lane};
  do {
    x = from.value;
    lane = from.lane;
    value = *indim_loop_value_of(b, x);
    from = value.lanes == 1 ? from : look_through(b, from);
  } while (from.value != x && from.value != 0);
  if (from.value == 0) {
    return undefined_value(b, value.type, 1);
  }
  if (value.lanes == 1) {
    return x;
  }
  if (constant_lane(b, x, lane, &element)) {
    return constant(b, value.type, 1, element.bits, element.imag);
  }
  indim_loop_draft draft = indim_loop_draft_of(INDIM_NODE_EXTRACT, value.type, 1, 1, &x);
  draft.node.u.lane = lane;
  return indim_loop_intern_pure(b, &draft, false);
}

// A shuffle being built: the source of each lane, and the distinct source values.
typedef struct shuffle {
  int32_t lanes;
  indim_type type;
  source *from;  // one per lane
  indim_value_id *args;
  int32_t *map;
  int32_t arg_count;
} shuffle;

// Fills |args| with the distinct values of |from| in order of first use. Quadratic in the number of lanes, which is
// small.
static void collect(shuffle *s) {
  s->arg_count = 0;
  for (int32_t i = 0; i < s->lanes; i++) {
    int32_t at = 0;
    while (at < s->arg_count && s->args[at] != s->from[i].value) {
      at++;
    }
    if (at == s->arg_count && s->from[i].value != 0) {
      s->args[s->arg_count++] = s->from[i].value;
    }
  }
}

// Whether the lanes of one value move only within 16-byte blocks: one instruction on every target, and a fast one.
static bool stays_in_blocks(const indim_loop_builder *b, const shuffle *s) {
  int32_t bytes = indim_type_bytes(s->type);
  int32_t block = bytes > 0 && bytes < 16 ? 16 / bytes : 1;
  bool stays = s->arg_count == 1 && s->lanes > block && indim_loop_value_of(b, s->args[0])->lanes == s->lanes;
  for (int32_t i = 0; stays && i < s->lanes; i++) {
    stays = s->from[i].value == 0 || s->from[i].lane / block == i / block;
  }
  return stays;
}

// Looks through the sources once, unless that increases the number of arguments. Two are always cheap, but not as cheap
// as one that other users shuffle as well, within 16-byte blocks.
static void compose(const indim_loop_builder *b, shuffle *s, source *before) {
  collect(s);
  int32_t limit = s->arg_count > 2 ? s->arg_count : stays_in_blocks(b, s) ? 1 : 2;
  memcpy(before, s->from, (size_t)s->lanes * sizeof *before);
  for (int32_t i = 0; i < s->lanes; i++) {
    s->from[i] = look_through(b, s->from[i]);
  }
  collect(s);
  if (s->arg_count > limit) {
    memcpy(s->from, before, (size_t)s->lanes * sizeof *before);
    collect(s);
  }
}

// Constant-folds a shuffle of constants. 0 when they are not constant, or after a failure.
static indim_value_id constant_fold_shuffle(indim_loop_builder *b, const shuffle *s) {
  for (int32_t i = 0; i < s->arg_count; i++) {
    if (!indim_loop_is(b, s->args[i], INDIM_NODE_CONST) && !indim_loop_is(b, s->args[i], INDIM_NODE_LANES)) {
      return 0;
    }
  }
  void *memory = NULL;
  size_t size = (size_t)s->lanes * 2 * sizeof(uint64_t);
  b->status = indim_alloc_zeroed(b->program->cx, size, &memory);
  if (b->status != INDIM_OK) {
    return 0;
  }
  uint64_t *bits = memory;
  for (int32_t i = 0; i < s->lanes; i++) {
    indim_element element = {0, 0};
    if (s->from[i].value != 0 && constant_lane(b, s->from[i].value, s->from[i].lane, &element)) {
      bits[2 * i] = element.bits;
      bits[2 * i + 1] = element.imag;
    }
  }
  indim_value_id result = indim_loop_lanes(b, s->type, s->lanes, bits);
  indim_free(b->program->cx, memory, size);
  return result;
}

static bool is_identity(const indim_loop_builder *b, const shuffle *s) {
  if (s->arg_count != 1 || indim_loop_value_of(b, s->args[0])->lanes != s->lanes) {
    return false;
  }
  for (int32_t i = 0; i < s->lanes; i++) {
    if (s->from[i].value != 0 && s->from[i].lane != i) {
      return false;
    }
  }
  return true;
}

static indim_value_id make_shuffle(indim_loop_builder *b, shuffle *s) {
  indim_value_id folded = constant_fold_shuffle(b, s);
  if (folded != 0 || b->status != INDIM_OK) {
    return folded;
  }
  if (is_identity(b, s)) {
    return s->args[0];
  }
  if (s->arg_count == 1 && indim_loop_value_of(b, s->args[0])->lanes == 1) {
    return indim_loop_splat(b, s->args[0], s->lanes);
  }
  indim_loop_draft draft = indim_loop_draft_of(INDIM_NODE_SHUFFLE, s->type, s->lanes, s->arg_count, s->args);
  for (int32_t i = 0; i < s->lanes; i++) {
    int32_t start = 0;
    for (int32_t k = 0; s->from[i].value != 0 && s->args[k] != s->from[i].value; k++) {
      start += indim_loop_value_of(b, s->args[k])->lanes;
    }
    s->map[i] = s->from[i].value == 0 ? -1 : start + s->from[i].lane;
  }
  draft.node.u.map = s->map;
  return indim_loop_intern_pure(b, &draft, false);
}

indim_value_id indim_loop_shuffle(indim_loop_builder *b, int32_t count, const indim_value_id *args, int32_t lanes,
                                  const int32_t *map) {
  if (!indim_loop_check_in_scope(b, count, args)) {
    return 0;
  }
  if (count < 1 || lanes < 1) {
    indim_loop_refuse(b, "a shuffle of %d values to %d lanes", (int)count, (int)lanes);
    return 0;
  }
  void *memory = NULL;
  size_t size = (size_t)lanes * (2 * sizeof(source) + sizeof(indim_value_id) + sizeof(int32_t));
  b->status = indim_alloc_zeroed(b->program->cx, size, &memory);
  if (b->status != INDIM_OK) {
    return 0;
  }
  shuffle s = {.lanes = lanes, .type = indim_loop_value_of(b, args[0])->type, .from = memory};
  source *before = s.from + lanes;
  s.args = (indim_value_id *)(before + lanes);
  s.map = s.args + lanes;
  int32_t at = 0;
  int32_t start = 0;
  for (int32_t i = 0; i < lanes; i++) {
    s.from[i] = map[i] < 0 ? (source){0, -1} : source_of(b, count, args, map[i], &at, &start);
    if (map[i] >= 0 && s.from[i].value == 0) {
      indim_loop_refuse(b, "a shuffle of lane %d, which is none of its arguments", (int)map[i]);
    }
  }
  indim_value_id result = 0;
  if (b->status == INDIM_OK && lanes == 1) {
    result =
        s.from[0].value == 0 ? undefined_value(b, s.type, 1) : indim_loop_extract(b, s.from[0].value, s.from[0].lane);
  } else if (b->status == INDIM_OK) {
    compose(b, &s, before);
    result = make_shuffle(b, &s);
  }
  indim_free(b->program->cx, memory, size);
  return result;
}

indim_value_id indim_loop_reduce(indim_loop_builder *b, indim_loop_op op, indim_value_id x) {
  if (!indim_loop_check_in_scope(b, 1, &x)) {
    return 0;
  }
  const indim_loop_value *value = indim_loop_value_of(b, x);
  if (value->lanes == 1) {
    return x;
  }
  indim_loop_draft draft = indim_loop_draft_of(INDIM_NODE_REDUCE, value->type, 1, 1, &x);
  draft.node.u.op = op;
  return indim_loop_intern_pure(b, &draft, true);
}
