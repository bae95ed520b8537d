// Affine expressions. A decomposition expands one term after another until only terms remain that stay symbolic.
#include "loop/ir/affine.h"

#include <string.h>

#include "base/size.h"
#include "loop/ir/index_math.h"

// Sums ------------------------------------------------------------------------------------------------------------------

static void remove_at(indim_affine *x, int32_t at) {
  x->count--;
  for (int32_t i = at; i < x->count; i++) {
    x->terms[i] = x->terms[i + 1];
    x->coefficients[i] = x->coefficients[i + 1];
  }
}

// The position of the first term that is not less than |term|.
static int32_t find(const indim_affine *x, indim_value_id term) {
  int32_t at = x->count;
  while (at > 0 && x->terms[at - 1] >= term) {
    at--;
  }
  return at;
}

static bool has_at(const indim_affine *x, int32_t at, indim_value_id term) {
  return at < x->count && x->terms[at] == term;
}

static void insert_at(indim_affine *x, int32_t at, indim_value_id term, int64_t coefficient) {
  for (int32_t i = x->count; i > at; i--) {
    x->terms[i] = x->terms[i - 1];
    x->coefficients[i] = x->coefficients[i - 1];
  }
  x->terms[at] = term;
  x->coefficients[at] = coefficient;
  x->count++;
}

bool indim_affine_add(indim_affine *x, indim_value_id term, int64_t coefficient) {
  int32_t at = find(x, term);
  if (has_at(x, at, term)) {
    bool fits = indim_int_add(x->coefficients[at], coefficient, &x->coefficients[at]);
    if (fits && x->coefficients[at] == 0) {
      remove_at(x, at);
    }
    return fits;
  }
  if (coefficient == 0) {
    return true;
  }
  if (x->count == INDIM_MAX_AFFINE_TERMS) {
    return false;
  }
  insert_at(x, at, term, coefficient);
  return true;
}

bool indim_affine_widen(indim_affine *x, int64_t coefficient, int64_t low, int64_t high) {
  int64_t from = 0;
  int64_t to = 0;
  return indim_index_mul(coefficient, coefficient > 0 ? low : high, &from) &&
         indim_index_mul(coefficient, coefficient > 0 ? high : low, &to) && indim_int_add(x->low, from, &x->low) &&
         indim_int_add(x->high, to, &x->high);
}

bool indim_affine_add_scaled(indim_affine *x, const indim_affine *other, int64_t factor) {
  bool fits = indim_affine_widen(x, factor, other->low, other->high);
  for (int32_t i = 0; i < other->count && fits; i++) {
    int64_t product = 0;
    fits = indim_index_mul(other->coefficients[i], factor, &product) && indim_affine_add(x, other->terms[i], product);
  }
  return fits;
}

int64_t indim_affine_coefficient(const indim_affine *x, indim_value_id term) {
  int32_t at = find(x, term);
  return has_at(x, at, term) ? x->coefficients[at] : 0;
}

int64_t indim_affine_remove(indim_affine *x, indim_value_id term) {
  int32_t at = find(x, term);
  if (!has_at(x, at, term)) {
    return 0;
  }
  int64_t coefficient = x->coefficients[at];
  remove_at(x, at);
  return coefficient;
}

bool indim_affine_same_terms(const indim_affine *x, const indim_affine *y) {
  return x->count == y->count && memcmp(x->terms, y->terms, (size_t)x->count * sizeof *x->terms) == 0 &&
         memcmp(x->coefficients, y->coefficients, (size_t)x->count * sizeof *x->coefficients) == 0;
}

void indim_affine_cover(indim_affine *x, const indim_affine *other) {
  x->low = other->low < x->low ? other->low : x->low;
  x->high = other->high > x->high ? other->high : x->high;
}

void indim_affine_range(const indim_loop_program *program, const indim_affine *x, int64_t *out_low, int64_t *out_high) {
  int64_t low = x->low;
  int64_t high = x->high;
  bool low_known = true;
  bool high_known = true;
  for (int32_t i = 0; i < x->count; i++) {
    const indim_loop_value *value = &program->values[x->terms[i]];
    bool is_up = x->coefficients[i] > 0;
    int64_t at_low = 0;
    int64_t at_high = 0;
    low_known = low_known && indim_index_mul(is_up ? value->low : value->high, x->coefficients[i], &at_low) &&
                indim_int_add(low, at_low, &low);
    high_known = high_known && indim_index_mul(is_up ? value->high : value->low, x->coefficients[i], &at_high) &&
                 indim_int_add(high, at_high, &high);
  }
  *out_low = low_known ? low : INT64_MIN;
  *out_high = high_known ? high : INT64_MAX;
}

// Values ----------------------------------------------------------------------------------------------------------------

static void clear(indim_affine *x, int64_t low, int64_t high) {
  x->count = 0;
  x->low = low;
  x->high = high;
}

bool indim_affine_of_sum(const indim_loop_node *sum, indim_affine *out) {
  bool fits = true;
  clear(out, sum->u.affine.constant, sum->u.affine.constant);
  for (int32_t i = 0; i < sum->arg_count && fits; i++) {
    fits = indim_affine_add(out, sum->args[i], sum->u.affine.coefficients[i]);
  }
  return fits;
}

void indim_affine_of(const indim_loop_program *program, indim_value_id v, indim_affine *out) {
  const indim_loop_value *value = &program->values[v];
  if (value->type == INDIM_S64 && value->low == value->high) {
    clear(out, value->low, value->low);
  } else if (value->node == NULL || value->node->kind != INDIM_NODE_AFFINE || !indim_affine_of_sum(value->node, out)) {
    clear(out, 0, 0);
    insert_at(out, 0, v, 1);
  }
}

bool indim_affine_distance(const indim_loop_program *program, indim_value_id begin, indim_value_id end, int64_t *out) {
  indim_affine distance;
  indim_affine from;
  indim_affine_of(program, end, &distance);
  indim_affine_of(program, begin, &from);
  bool fits = indim_affine_add_scaled(&distance, &from, -1);
  *out = distance.low;
  return fits && distance.count == 0;
}

// Decomposition ---------------------------------------------------------------------------------------------------------

// The distance from a for's begin to its last index. A for up to a minimum of two ends is bounded by either.
static bool reach_of_for(const indim_loop_program *program, const indim_loop_node *node, int64_t *out_reach) {
  const indim_loop_node *end = program->values[node->args[1]].node;
  int64_t distance = 0;
  bool is_known = indim_affine_distance(program, node->args[0], node->args[1], &distance);
  if (!is_known && end != NULL && end->kind == INDIM_NODE_ELEMENTWISE && end->u.op.op == INDIM_OP_MINIMUM) {
    is_known = indim_affine_distance(program, node->args[0], end->args[0], &distance) ||
               indim_affine_distance(program, node->args[0], end->args[1], &distance);
  }
  *out_reach = distance > 0 ? (distance - 1) / node->u.loop.step * node->u.loop.step : 0;
  return is_known;
}

// Expands term |at| by its definition or range. False when it has none.
static bool expand(const indim_loop_program *program, indim_affine *x, int32_t at) {
  indim_value_id term = x->terms[at];
  int64_t coefficient = x->coefficients[at];
  const indim_loop_value *value = &program->values[term];
  const indim_loop_node *node = value->node;
  const indim_loop_node *owner = value->body->owner;
  int64_t reach = 0;
  remove_at(x, at);
  if (node != NULL && node->kind == INDIM_NODE_AFFINE) {
    indim_affine own;
    return indim_affine_of_sum(node, &own) && indim_affine_add_scaled(x, &own, coefficient);
  }
  if (node != NULL && node->kind == INDIM_NODE_SPLAT) {
    return indim_affine_add(x, node->args[0], coefficient);
  }
  // The index only: a value that a for carries is a body parameter too, and has no range.
  bool is_index = node == NULL && owner->kind == INDIM_NODE_FOR && term == value->body->first_parameter;
  if (is_index && reach_of_for(program, owner, &reach)) {
    return indim_affine_add(x, owner->args[0], coefficient) && indim_affine_widen(x, coefficient, 0, reach);
  }
  return value->low > INT64_MIN && value->high < INT64_MAX &&
         indim_affine_widen(x, coefficient, value->low, value->high);
}

static bool is_replaced(const indim_loop_value *value) {
  bool is_constant = value->node != NULL && value->low == value->high;
  bool is_sum = value->node != NULL && value->node->kind == INDIM_NODE_AFFINE;
  return is_sum || is_constant || value->lanes > 1;
}

bool indim_affine_decompose(const indim_loop_program *program, indim_value_id address, int64_t low, int64_t high,
                            indim_affine_keeps *keeps, const void *user, indim_affine *out) {
  enum { MOST_STEPS = 256 };
  *out = (indim_affine){.low = low, .high = high};
  bool fits = indim_affine_add(out, address, 1);
  for (int steps = 0; fits && steps < MOST_STEPS; steps++) {
    int32_t at = 0;
    while (at < out->count && !is_replaced(&program->values[out->terms[at]]) && keeps(user, out->terms[at])) {
      at++;
    }
    if (at == out->count) {
      return true;
    }
    fits = expand(program, out, at);
  }
  return false;
}
