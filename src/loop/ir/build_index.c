// Index arithmetic: sums with constant coefficients, division and remainder by constants, clamps, and the ranges that
// bound accesses. Everything is simplified as it is built: a sum of sums is one sum, and a division disappears where
// the ranges of the terms prove that its quotient is constant or exact.
#include "array/element.h"
#include "base/size.h"
#include "loop/ir/affine.h"
#include "loop/ir/build.h"

// A sum is split into sums of at most this many terms; a nested sum is flattened only while the result has few terms,
// so that a long chain of additions takes linear time.
enum { MAX_TERMS = INDIM_MAX_AFFINE_TERMS, FLAT_TERMS = 32 };

// Sums ------------------------------------------------------------------------------------------------------------------

// Adds coefficient * v, with |more| terms to follow.
static bool add_value(const indim_loop_program *program, indim_affine *s, indim_value_id v, int64_t coefficient,
                      int32_t more) {
  indim_affine own;
  indim_affine_of(program, v, &own);
  if (coefficient == 0 || own.count == 0) {
    return indim_affine_widen(s, coefficient, own.low, own.high);
  }
  if (s->count + own.count + more <= FLAT_TERMS) {
    indim_affine trial = *s;
    if (indim_affine_add_scaled(&trial, &own, coefficient)) {
      *s = trial;
      return true;
    }
  }
  return indim_affine_add(s, v, coefficient);
}

static indim_value_id index_const(indim_loop_builder *b, int64_t value, int32_t lanes) {
  return indim_loop_splat(b, indim_loop_const(b, INDIM_S64, (uint64_t)value, 0), lanes);
}

// Constant-folds a sum whose only term is a constant vector. 0 when it does not fit.
static indim_value_id fold_lanes(indim_loop_builder *b, const indim_loop_node *node, const indim_affine *s,
                                 int32_t lanes) {
  uint64_t bits[2 * MAX_TERMS] = {0};
  if (lanes > MAX_TERMS) {
    return 0;
  }
  for (int32_t i = 0; i < lanes; i++) {
    int64_t lane = 0;
    if (!indim_index_mul((int64_t)node->u.lanes.bits[2 * i], s->coefficients[0], &lane) ||
        !indim_int_add(s->low, lane, &lane)) {
      return 0;
    }
    bits[2 * i] = (uint64_t)lane;
  }
  return indim_loop_lanes(b, INDIM_S64, lanes, bits);
}

// Whether the sum has a constant remainder modulo |divisor|, and which: 4 + i, where i steps by 8, leaves 4.
static bool residue(const indim_loop_program *program, const indim_affine *s, int64_t divisor, int64_t *out_rest) {
  int64_t total = indim_index_modulo(s->low, divisor);
  for (int32_t i = 0; i < s->count; i++) {
    const indim_loop_value *value = &program->values[s->terms[i]];
    int64_t moved = 0;
    int64_t first = 0;
    if (value->step == 0 || !indim_index_mul(s->coefficients[i], value->step, &moved) || moved % divisor != 0 ||
        !indim_index_mul(s->coefficients[i], value->low, &first)) {
      return false;
    }
    total = indim_index_modulo(total + indim_index_modulo(first, divisor), divisor);
  }
  *out_rest = total;
  return true;
}

// x / k * (c k) is c (x - r) where x always leaves the remainder r.
static void cancel_exact_division(indim_loop_builder *b, indim_affine *s) {
  for (int32_t i = 0; i < s->count; i++) {
    const indim_loop_node *quotient = indim_loop_node_of(b, s->terms[i]);
    if (quotient == NULL || quotient->kind != INDIM_NODE_FLOORDIV ||
        s->coefficients[i] % quotient->u.affine.constant != 0) {
      continue;
    }
    int64_t factor = s->coefficients[i] / quotient->u.affine.constant;
    int64_t rest = 0;
    indim_affine whole;
    indim_affine combined = *s;
    indim_affine_of(b->program, quotient->args[0], &whole);
    (void)indim_affine_remove(&combined, s->terms[i]);
    if (residue(b->program, &whole, quotient->u.affine.constant, &rest) &&
        indim_affine_widen(&combined, factor, -rest, -rest) &&
        add_value(b->program, &combined, quotient->args[0], factor, 0)) {
      *s = combined;
      i = -1;
    }
  }
}

// The term x % k * c that matches the term x / k * (c k) at |at|; -1 if there is none.
static int32_t find_remainder(const indim_loop_builder *b, const indim_affine *s, int32_t at) {
  const indim_loop_node *quotient = indim_loop_node_of(b, s->terms[at]);
  if (quotient == NULL || quotient->kind != INDIM_NODE_FLOORDIV) {
    return -1;
  }
  int64_t divisor = quotient->u.affine.constant;
  for (int32_t i = 0; i < s->count; i++) {
    const indim_loop_node *rest = indim_loop_node_of(b, s->terms[i]);
    int64_t product = 0;
    if (rest != NULL && rest->kind == INDIM_NODE_MODULO && rest->u.affine.constant == divisor &&
        rest->args[0] == quotient->args[0] && indim_index_mul(s->coefficients[i], divisor, &product) &&
        product == s->coefficients[at]) {
      return i;
    }
  }
  return -1;
}

// x / k * (c k) + x % k * c is c x: addresses recombine the indices that a reshape splits.
static void recombine(indim_loop_builder *b, indim_affine *s) {
  for (int32_t i = 0; i < s->count; i++) {
    int32_t rest = find_remainder(b, s, i);
    if (rest < 0) {
      continue;
    }
    indim_affine combined = *s;
    indim_value_id whole = indim_loop_node_of(b, s->terms[i])->args[0];
    (void)indim_affine_remove(&combined, s->terms[i]);
    int64_t coefficient = indim_affine_remove(&combined, s->terms[rest]);
    if (add_value(b->program, &combined, whole, coefficient, 0)) {
      *s = combined;
      i = -1;
    }
  }
}

indim_value_id indim_loop_sum(indim_loop_builder *b, indim_affine *s, int32_t lanes) {
  recombine(b, s);
  cancel_exact_division(b, s);
  if (s->count == 0) {
    return index_const(b, s->low, lanes);
  }
  if (s->count == 1 && indim_loop_is(b, s->terms[0], INDIM_NODE_LANES)) {
    indim_value_id folded = fold_lanes(b, indim_loop_node_of(b, s->terms[0]), s, lanes);
    if (folded != 0 || b->status != INDIM_OK) {
      return folded;
    }
  }
  if (s->count == 1 && s->low == 0 && s->coefficients[0] == 1) {
    return s->terms[0];
  }
  indim_loop_draft draft = indim_loop_draft_of(INDIM_NODE_AFFINE, INDIM_S64, lanes, s->count, s->terms);
  draft.node.u.affine.constant = s->low;
  draft.node.u.affine.coefficients = s->coefficients;
  return indim_loop_intern_pure(b, &draft, false);
}

static bool check_index(indim_loop_builder *b, int32_t count, const indim_value_id *args) {
  if (!indim_loop_check_in_scope(b, count, args)) {
    return false;
  }
  for (int32_t i = 0; i < count; i++) {
    if (indim_loop_value_of(b, args[i])->type != INDIM_S64) {
      indim_loop_refuse(b, "v%d in index arithmetic is not s64", (int)args[i]);
    }
  }
  return b->status == INDIM_OK;
}

// The first args as one sum, at most MAX_TERMS - 1 of them.
static indim_value_id affine_part(indim_loop_builder *b, int64_t constant, int32_t count, const indim_value_id *args,
                                  const int64_t *coefficients, int32_t lanes) {
  indim_affine s = {.low = constant, .high = constant};
  for (int32_t i = 0; i < count; i++) {
    indim_value_id arg = indim_loop_splat(b, args[i], lanes);
    if (b->status == INDIM_OK && !add_value(b->program, &s, arg, coefficients[i], count - 1 - i)) {
      indim_loop_refuse(b, "a constant of an index is beyond s64");
    }
  }
  return b->status == INDIM_OK ? indim_loop_sum(b, &s, lanes) : 0;
}

indim_value_id indim_loop_affine(indim_loop_builder *b, int64_t constant, int32_t count, const indim_value_id *args,
                                 const int64_t *coefficients) {
  if (!check_index(b, count, args)) {
    return 0;
  }
  int32_t lanes = 1;
  for (int32_t i = 0; i < count; i++) {
    int32_t own = indim_loop_value_of(b, args[i])->lanes;
    if (own != 1 && lanes != 1 && own != lanes) {
      indim_loop_refuse(b, "a sum of %d and %d lanes", (int)lanes, (int)own);
      return 0;
    }
    lanes = own > lanes ? own : lanes;
  }
  enum { PART = MAX_TERMS - 1 };
  int32_t first = count < PART ? count : PART;
  indim_value_id result = affine_part(b, constant, first, args, coefficients, lanes);
  for (int32_t at = first; at < count && b->status == INDIM_OK; at += PART) {
    int32_t size = count - at < PART ? count - at : PART;
    result = indim_loop_add(b, result, affine_part(b, 0, size, args + at, coefficients + at, lanes));
  }
  return result;
}

indim_value_id indim_loop_add(indim_loop_builder *b, indim_value_id x, indim_value_id y) {
  const indim_value_id args[2] = {x, y};
  const int64_t coefficients[2] = {1, 1};
  return indim_loop_affine(b, 0, 2, args, coefficients);
}

indim_value_id indim_loop_add_const(indim_loop_builder *b, indim_value_id x, int64_t constant) {
  const int64_t one = 1;
  return indim_loop_affine(b, constant, 1, &x, &one);
}

indim_value_id indim_loop_mul_const(indim_loop_builder *b, indim_value_id x, int64_t factor) {
  return indim_loop_affine(b, 0, 1, &x, &factor);
}

// Division --------------------------------------------------------------------------------------------------------------

// x = divisor * quotients + rest: terms whose coefficient the divisor divides go to the quotients, and as much of the
// constant as leaves a rest in [0, divisor).
static void split(const indim_affine *x, int64_t divisor, indim_affine *quotients, indim_affine *rest) {
  quotients->count = rest->count = 0;
  quotients->low = quotients->high = indim_index_floordiv(x->low, divisor);
  rest->low = rest->high = indim_index_modulo(x->low, divisor);
  for (int32_t i = 0; i < x->count; i++) {
    bool divides = x->coefficients[i] % divisor == 0;
    (void)indim_affine_add(divides ? quotients : rest, x->terms[i], x->coefficients[i] / (divides ? divisor : 1));
  }
}

// Whether all values of |rest| have the same quotient.
static bool one_quotient(const indim_loop_builder *b, const indim_affine *rest, int64_t divisor,
                         int64_t *out_quotient) {
  int64_t low = 0;
  int64_t high = 0;
  indim_affine_range(b->program, rest, &low, &high);
  *out_quotient = indim_index_floordiv(low, divisor);
  return low > INT64_MIN && high < INT64_MAX && *out_quotient == indim_index_floordiv(high, divisor);
}

// Finds the greatest g > 1 that divides the divisor, and all of x but a part that stays inside one multiple of g: x is
// g y + left with left in [0, g). Then x / (g d) is y / d, and x mod (g d) is g (y mod d) + left. Sets |x| to y,
// |divisor| to d and returns g, 1 when there is none.
//
//   (8 i + j) / 80 with 0 <= j < 8: g is 8, y is i, d is 10, j is left
static int64_t cancel_common_factor(const indim_loop_builder *b, indim_affine *x, int64_t *divisor,
                                    indim_affine *out_left) {
  int64_t best = 1;
  int64_t best_quotient = 0;
  indim_affine y;
  for (int32_t i = 0; i < x->count; i++) {
    int64_t common = indim_index_abs(indim_gcd(*divisor, x->coefficients[i]));
    int64_t quotient = 0;
    if (common > best) {
      split(x, common, &y, out_left);
      if (one_quotient(b, out_left, common, &quotient)) {
        best = common;
        best_quotient = quotient;
      }
    }
  }
  if (best == 1) {
    return 1;
  }
  split(x, best, &y, out_left);
  if (!indim_affine_widen(&y, 1, best_quotient, best_quotient) ||
      !indim_affine_widen(out_left, -best, best_quotient, best_quotient)) {
    return 1;
  }
  *x = y;
  *divisor /= best;
  return best;
}

static int64_t clamp(int64_t value, int64_t low, int64_t high) {
  return value < low ? low : value > high ? high : value;
}

// A division or clamp; constant-folded for a constant vector.
static indim_value_id intern_index(indim_loop_builder *b, const indim_loop_draft *draft, bool stays_in_if) {
  uint64_t bits[2 * MAX_TERMS] = {0};
  const indim_loop_node *node = &draft->node;
  const indim_loop_node *x = indim_loop_node_of(b, node->args[0]);
  bool is_constant = x != NULL && x->kind == INDIM_NODE_LANES && draft->lanes <= MAX_TERMS &&
                     indim_loop_value_of(b, node->args[0])->type == INDIM_S64;
  for (int32_t i = 0; i < draft->lanes && is_constant; i++) {
    int64_t lane = (int64_t)x->u.lanes.bits[2 * i];
    lane = node->kind == INDIM_NODE_FLOORDIV ? indim_index_floordiv(lane, node->u.affine.constant)
           : node->kind == INDIM_NODE_MODULO ? indim_index_modulo(lane, node->u.affine.constant)
                                             : clamp(lane, node->u.clamp.low, node->u.clamp.high);
    bits[2 * i] = (uint64_t)lane;
  }
  return is_constant ? indim_loop_lanes(b, INDIM_S64, draft->lanes, bits)
                     : indim_loop_intern_pure(b, draft, stays_in_if);
}

// The division node itself, when no rule simplifies it.
static indim_value_id make_division(indim_loop_builder *b, indim_node_kind kind, indim_affine *s, int64_t divisor,
                                    int32_t lanes) {
  indim_value_id x = indim_loop_sum(b, s, lanes);
  if (x == 0) {
    return 0;
  }
  indim_loop_draft draft = indim_loop_draft_of(kind, INDIM_S64, lanes, 1, &x);
  draft.node.u.affine.constant = divisor;
  return intern_index(b, &draft, false);
}

// s + factor * v.
static indim_value_id add_sum(indim_loop_builder *b, indim_affine *s, indim_value_id v, int64_t factor, int32_t lanes) {
  if (v == 0 || !add_value(b->program, s, v, factor, 0)) {
    indim_loop_refuse(b, "a constant of an index is beyond s64");
    return 0;
  }
  return indim_loop_sum(b, s, lanes);
}

static bool check_division(indim_loop_builder *b, indim_value_id x, int64_t divisor) {
  if (!check_index(b, 1, &x)) {
    return false;
  }
  if (divisor <= 0) {
    indim_loop_refuse(b, "an index is divided by %lld", (long long)divisor);
  }
  return b->status == INDIM_OK;
}

indim_value_id indim_loop_floordiv(indim_loop_builder *b, indim_value_id x, int64_t divisor) {
  if (!check_division(b, x, divisor)) {
    return 0;
  }
  const indim_loop_value *value = indim_loop_value_of(b, x);
  int32_t lanes = value->lanes;
  int64_t quotient = indim_index_floordiv(value->low, divisor);
  if (divisor == 1) {
    return x;
  }
  if (quotient == indim_index_floordiv(value->high, divisor)) {
    return index_const(b, quotient, lanes);
  }
  const indim_loop_node *node = indim_loop_node_of(b, x);
  int64_t product = 0;
  if (node != NULL && node->kind == INDIM_NODE_FLOORDIV &&
      indim_index_mul(node->u.affine.constant, divisor, &product)) {
    return indim_loop_floordiv(b, node->args[0], product);  // recurses once: divisions do not nest
  }
  indim_affine whole;
  indim_affine_of(b->program, x, &whole);
  indim_affine quotients;
  indim_affine rest;
  split(&whole, divisor, &quotients, &rest);
  if (one_quotient(b, &rest, divisor, &quotient)) {
    return add_sum(b, &quotients, index_const(b, quotient, lanes), 1, lanes);
  }
  indim_affine left;
  while (cancel_common_factor(b, &rest, &divisor, &left) > 1) {
  }
  indim_value_id part =
      divisor == 1 ? indim_loop_sum(b, &rest, lanes) : make_division(b, INDIM_NODE_FLOORDIV, &rest, divisor, lanes);
  return quotients.count == 0 && quotients.low == 0 ? part : add_sum(b, &quotients, part, 1, lanes);
}

indim_value_id indim_loop_modulo(indim_loop_builder *b, indim_value_id x, int64_t divisor) {
  if (!check_division(b, x, divisor)) {
    return 0;
  }
  const indim_loop_value *value = indim_loop_value_of(b, x);
  int32_t lanes = value->lanes;
  int64_t quotient = indim_index_floordiv(value->low, divisor);
  if (divisor == 1) {
    return index_const(b, 0, lanes);
  }
  if (value->low >= 0 && value->high < divisor) {
    return x;
  }
  while (indim_loop_is(b, x, INDIM_NODE_MODULO) && indim_loop_node_of(b, x)->u.affine.constant % divisor == 0) {
    x = indim_loop_node_of(b, x)->args[0];
  }
  indim_affine whole;
  indim_affine_of(b->program, x, &whole);
  int64_t left_over = 0;
  if (residue(b->program, &whole, divisor, &left_over)) {
    return index_const(b, left_over, lanes);
  }
  indim_affine quotients;
  indim_affine rest;
  split(&whole, divisor, &quotients, &rest);
  for (int32_t i = 0; i < rest.count; i++) {
    rest.coefficients[i] %= divisor;
  }
  if (one_quotient(b, &rest, divisor, &quotient) && indim_affine_widen(&rest, -quotient, divisor, divisor)) {
    return indim_loop_sum(b, &rest, lanes);
  }
  indim_affine result = {.count = 0};
  indim_affine left;
  int64_t scale = 1;
  for (int64_t common = 0; (common = cancel_common_factor(b, &rest, &divisor, &left)) > 1; scale *= common) {
    if (!indim_affine_add_scaled(&result, &left, scale)) {
      indim_loop_refuse(b, "a constant of an index is beyond s64");
      return 0;
    }
  }
  indim_value_id part = make_division(b, INDIM_NODE_MODULO, &rest, divisor, lanes);
  return scale == 1 ? part : add_sum(b, &result, part, scale, lanes);
}

// Clamps and guards -----------------------------------------------------------------------------------------------------

static indim_value_id clamp_index(indim_loop_builder *b, indim_value_id x, int64_t low, int64_t high, bool is_checked) {
  if (!indim_loop_check_in_scope(b, 1, &x)) {
    return 0;
  }
  indim_loop_value value = *indim_loop_value_of(b, x);
  int64_t least = value.low;
  int64_t most = value.high;
  if (low > high || (value.type != INDIM_S64 && !indim_index_type_range(value.type, &least, &most))) {
    indim_loop_refuse(b, "v%d cannot be clamped as an index", (int)x);
    return 0;
  }
  if (most <= low || least >= high) {
    return index_const(b, most <= low ? low : high, value.lanes);
  }
  if (least >= low && most <= high && value.type != INDIM_U64) {
    return indim_loop_convert(b, x, INDIM_S64);
  }
  indim_loop_draft draft = indim_loop_draft_of(INDIM_NODE_CLAMP_INDEX, INDIM_S64, value.lanes, 1, &x);
  draft.node.u.clamp.low = low;
  draft.node.u.clamp.high = high;
  return intern_index(b, &draft, is_checked);
}

indim_value_id indim_loop_clamp_index(indim_loop_builder *b, indim_value_id x, int64_t low, int64_t high) {
  return clamp_index(b, x, low, high, false);
}

indim_value_id indim_loop_checked_index(indim_loop_builder *b, indim_value_id x, int64_t low, int64_t high) {
  return clamp_index(b, x, low, high, true);
}

// x >= bound or x <= bound, as a pred.
static indim_value_id compare(indim_loop_builder *b, indim_value_id x, indim_compare_direction direction,
                              int64_t bound) {
  indim_loop_value value = *indim_loop_value_of(b, x);
  indim_element element = indim_element_of_int(value.type, bound);
  const indim_loop_op op = {.op = INDIM_OP_COMPARE, .direction = (int32_t)direction};
  indim_value_id args[2] = {x, indim_loop_splat(b, indim_loop_const(b, value.type, element.bits, 0), value.lanes)};
  return indim_loop_elementwise(b, op, INDIM_PRED, 2, args);
}

indim_value_id indim_loop_in_range(indim_loop_builder *b, indim_value_id x, int64_t low, int64_t high) {
  if (!indim_loop_check_in_scope(b, 1, &x)) {
    return 0;
  }
  indim_loop_value value = *indim_loop_value_of(b, x);
  int64_t least = 0;
  int64_t most = 0;
  bool is_ranged = indim_loop_range(b, x, &least, &most) || indim_index_type_range(value.type, &least, &most);
  if (value.type == INDIM_PRED || !is_ranged) {
    indim_loop_refuse(b, "v%d is not an index", (int)x);
    return 0;
  }
  bool is_never = most < low || least > high || low > high;
  bool needs_low = least < low;
  bool needs_high = most > high || value.type == INDIM_U64;
  if (is_never || (!needs_low && !needs_high)) {
    return indim_loop_splat(b, indim_loop_const(b, INDIM_PRED, is_never ? 0 : 1, 0), value.lanes);
  }
  if (needs_high && low == 0 && value.type == INDIM_S32 && value.lanes == 1) {
    // Negative numbers are large then, and what is emitted knows both bounds by the one comparison.
    return compare(b, indim_loop_convert(b, x, INDIM_U32), INDIM_COMPARE_LE, high);
  }
  indim_value_id above = needs_low ? compare(b, x, INDIM_COMPARE_GE, low) : 0;
  indim_value_id below = needs_high ? compare(b, x, INDIM_COMPARE_LE, high) : 0;
  return above == 0 ? below : below == 0 ? above : indim_loop_binary(b, INDIM_OP_AND, above, below);
}
