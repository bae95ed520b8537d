// Takes addresses apart: one term after another is replaced by what it is made of, until only those are left that are to stay.
#include "loop/ir/place.h"

#include <string.h>

#include "base/size.h"
#include "loop/ir/build.h"

static void remove_term(indim_loop_place *p, int32_t at) {
  p->count--;
  for (int32_t i = at; i < p->count; i++) {
    p->terms[i] = p->terms[i + 1];
    p->coefficients[i] = p->coefficients[i + 1];
  }
}

// The first term that is not before |term|.
static int32_t find(const indim_loop_place *p, indim_lval term) {
  int32_t at = 0;
  while (at < p->count && p->terms[at] < term) {
    at++;
  }
  return at;
}

bool indim_loop_place_add(indim_loop_place *p, indim_lval term, int64_t coefficient) {
  int32_t at = find(p, term);
  if (at < p->count && p->terms[at] == term) {
    bool fits = indim_int_add(p->coefficients[at], coefficient, &p->coefficients[at]);
    if (fits && p->coefficients[at] == 0) {
      remove_term(p, at);
    }
    return fits;
  }
  if (coefficient == 0) {
    return true;
  }
  if (p->count == INDIM_MAX_PLACE_TERMS) {
    return false;
  }
  for (int32_t i = p->count; i > at; i--) {
    p->terms[i] = p->terms[i - 1];
    p->coefficients[i] = p->coefficients[i - 1];
  }
  p->terms[at] = term;
  p->coefficients[at] = coefficient;
  p->count++;
  return true;
}

bool indim_loop_place_widen(indim_loop_place *p, int64_t coefficient, int64_t low, int64_t high) {
  int64_t from = 0;
  int64_t to = 0;
  return indim_index_mul(coefficient, coefficient > 0 ? low : high, &from) &&
         indim_index_mul(coefficient, coefficient > 0 ? high : low, &to) && indim_int_add(p->low, from, &p->low) &&
         indim_int_add(p->high, to, &p->high);
}

int64_t indim_loop_place_coefficient(const indim_loop_place *p, indim_lval term) {
  int32_t at = find(p, term);
  return at < p->count && p->terms[at] == term ? p->coefficients[at] : 0;
}

bool indim_loop_place_same_terms(const indim_loop_place *x, const indim_loop_place *y) {
  return x->count == y->count && memcmp(x->terms, y->terms, (size_t)x->count * sizeof *x->terms) == 0 &&
         memcmp(x->coefficients, y->coefficients, (size_t)x->count * sizeof *x->coefficients) == 0;
}

void indim_loop_place_cover(indim_loop_place *p, const indim_loop_place *other) {
  p->low = other->low < p->low ? other->low : p->low;
  p->high = other->high > p->high ? other->high : p->high;
}

// How far a for's index gets beyond its begin. A for to the lesser of two ends goes no further than to either.
static bool reach_of_for(const indim_loop_program *program, const indim_loop_node *node, int64_t *out_reach) {
  const indim_loop_node *end = program->values[node->args[1]].node;
  int64_t distance = 0;
  bool is_known = indim_index_distance(program, node->args[0], node->args[1], &distance);
  if (!is_known && end != NULL && end->kind == INDIM_NODE_SCALAR && end->u.op.op == INDIM_OP_MINIMUM) {
    is_known = indim_index_distance(program, node->args[0], end->args[0], &distance) ||
               indim_index_distance(program, node->args[0], end->args[1], &distance);
  }
  *out_reach = distance > 0 ? (distance - 1) / node->u.loop.step * node->u.loop.step : 0;
  return is_known;
}

// Replaces term |at| by what it is made of. False when nothing is known of it.
static bool expand(const indim_loop_program *program, indim_loop_place *p, int32_t at) {
  indim_lval term = p->terms[at];
  int64_t coefficient = p->coefficients[at];
  const indim_loop_value *value = &program->values[term];
  const indim_loop_node *node = value->node;
  const indim_loop_node *owner = value->body->owner;
  int64_t reach = 0;
  remove_term(p, at);
  if (node != NULL && node->kind == INDIM_NODE_AFFINE) {
    bool fits = indim_loop_place_widen(p, coefficient, node->u.affine.constant, node->u.affine.constant);
    for (int32_t i = 0; i < node->arg_count && fits; i++) {
      int64_t product = 0;
      fits = indim_index_mul(coefficient, node->u.affine.coefficients[i], &product) &&
             indim_loop_place_add(p, node->args[i], product);
    }
    return fits;
  }
  if (node != NULL && node->kind == INDIM_NODE_SPLAT) {
    return indim_loop_place_add(p, node->args[0], coefficient);
  }
  // The index alone: what a for carries is a parameter, too, and may be anything.
  bool is_index = node == NULL && owner->kind == INDIM_NODE_FOR && term == value->body->first_parameter;
  if (is_index && reach_of_for(program, owner, &reach)) {
    return indim_loop_place_add(p, owner->args[0], coefficient) && indim_loop_place_widen(p, coefficient, 0, reach);
  }
  return value->low > INT64_MIN && value->high < INT64_MAX &&
         indim_loop_place_widen(p, coefficient, value->low, value->high);
}

static bool is_replaced(const indim_loop_value *value) {
  bool is_constant = value->node != NULL && value->low == value->high;
  bool is_sum = value->node != NULL && value->node->kind == INDIM_NODE_AFFINE;
  return is_sum || is_constant || value->lanes > 1;
}

bool indim_loop_take_apart(const indim_loop_program *program, indim_lval address, int64_t low, int64_t high,
                           indim_loop_keeps *keeps, const void *user, indim_loop_place *out) {
  enum { MOST_STEPS = 256 };
  *out = (indim_loop_place){.low = low, .high = high};
  bool fits = indim_loop_place_add(out, address, 1);
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

void indim_loop_host_span(const indim_loop_node *node, int32_t i, int64_t *out_low, int64_t *out_high) {
  static const int sizes[3][3] = {{INDIM_MATMUL_BATCH, INDIM_MATMUL_M, INDIM_MATMUL_N},
                                  {INDIM_MATMUL_BATCH, INDIM_MATMUL_M, INDIM_MATMUL_K},
                                  {INDIM_MATMUL_BATCH, INDIM_MATMUL_K, INDIM_MATMUL_N}};
  static const int strides[3][3] = {{INDIM_MATMUL_OUT_BATCH, INDIM_MATMUL_OUT_M, -1},
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
