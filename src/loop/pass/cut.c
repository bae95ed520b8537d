// Cuts loops in two. See cut.h.
#include "loop/pass/cut.h"

#include "loop/ir/affine.h"

indim_lval indim_loop_put(indim_loop_builder *b, indim_loop_body *body, indim_loop_node **link, indim_loop_node *node) {
  indim_lval value = indim_loop_new_value(b, INDIM_S64, 1, body);
  if (b->status != INDIM_OK) {
    return 0;
  }
  node->body = body;
  node->next = *link;
  *link = node;
  body->last = node->next == NULL ? node : body->last;
  node->first_result = value;
  node->result_count = 1;
  indim_loop_value *made = &b->program->values[value];
  made->node = node;
  if (node->kind == INDIM_NODE_CONST) {
    made->low = made->high = (int64_t)node->u.constant.bits[0];
  } else {
    indim_loop_node_range(b->program, node, 1, &made->low, &made->high);
  }
  return value;
}

indim_lval indim_loop_put_sum(indim_loop_builder *b, indim_loop_body *body, indim_loop_node **link, int64_t constant,
                              int32_t count, const indim_lval *args, const int64_t *coefficients) {
  indim_loop_node *node = indim_loop_new_node(b, count > 0 ? INDIM_NODE_AFFINE : INDIM_NODE_CONST, count, args);
  const int64_t *kept = count > 0 ? indim_loop_copy_of(b, coefficients, (size_t)count * sizeof *kept) : NULL;
  if (b->status != INDIM_OK) {
    return 0;
  }
  if (count > 0) {
    node->u.affine.constant = constant;
    node->u.affine.coefficients = kept;
  } else {
    node->u.constant.bits[0] = (uint64_t)constant;
  }
  return indim_loop_put(b, body, link, node);
}

static void deepen(indim_loop_body *body) {
  body->depth++;
  for (indim_loop_node *node = body->first; node != NULL; node = node->next) {
    for (int32_t k = 0; k < 2 && node->bodies[k] != NULL; k++) {
      deepen(node->bodies[k]);
    }
  }
}

// An empty parallel loop by ones in the place of the loop at |*link|, which stands nowhere then. NULL after a failure.
static indim_loop_node *put_around(indim_loop_builder *b, indim_loop_node **link, const indim_lval *bounds,
                                   int64_t grain) {
  indim_loop_node *loop = *link;
  indim_loop_body *outer = loop->body;
  indim_loop_body *body = indim_loop_alloc(b, 1, sizeof *body);
  indim_loop_node *over = indim_loop_new_node(b, INDIM_NODE_FOR, 2, bounds);
  if (b->status != INDIM_OK) {
    return NULL;
  }
  *body = (indim_loop_body){.owner = over, .outer = outer, .depth = outer->depth + 1, .is_closed = true};
  body->first_parameter = indim_loop_new_value(b, INDIM_S64, 1, body);
  if (b->status != INDIM_OK) {
    return NULL;
  }
  body->parameter_count = 1;
  indim_loop_value *index = &b->program->values[body->first_parameter];
  indim_loop_for_range(b->program, bounds[0], bounds[1], 1, &index->low, &index->high);
  index->step = 1;
  over->body = outer;
  over->next = loop->next;
  over->bodies[0] = body;
  over->u.loop.step = 1;
  over->u.loop.grain = grain;
  over->u.loop.is_parallel = true;
  *link = over;
  outer->last = outer->last == loop ? over : outer->last;
  loop->next = NULL;
  return over;
}

// Puts the loop, with other bounds, at the end of |body|.
static void put_inside(indim_loop_body *body, indim_loop_node *loop, indim_lval first, indim_lval last) {
  loop->args[0] = first;
  loop->args[1] = last;
  loop->u.loop.is_parallel = false;
  loop->u.loop.grain = 1;
  indim_loop_append(body, loop);
  loop->bodies[0]->outer = body;
  deepen(loop->bodies[0]);
}

indim_lval indim_loop_cut_in_pieces(indim_loop_builder *b, indim_loop_node **link, int64_t begin, int64_t end) {
  indim_loop_node *loop = *link;
  indim_loop_body *outer = loop->body;
  int64_t length = loop->u.loop.grain * loop->u.loop.step;
  int64_t pieces = (end - begin - 1) / length + 1;
  indim_lval bounds[2] = {0, 0};
  bounds[0] = indim_loop_put_sum(b, outer, link, 0, 0, NULL, NULL);
  link = b->status == INDIM_OK ? &(*link)->next : link;
  bounds[1] = indim_loop_put_sum(b, outer, link, pieces, 0, NULL, NULL);
  link = b->status == INDIM_OK ? &(*link)->next : link;
  indim_loop_node *over = b->status == INDIM_OK ? put_around(b, link, bounds, 1) : NULL;
  if (over == NULL) {
    return 0;
  }
  indim_loop_body *body = over->bodies[0];
  indim_lval piece = body->first_parameter;
  indim_lval first = indim_loop_put_sum(b, body, &body->first, begin, 1, &piece, &length);
  indim_lval last =
      b->status == INDIM_OK ? indim_loop_put_sum(b, body, &body->last->next, begin + length, 1, &piece, &length) : 0;
  if (b->status == INDIM_OK && begin + pieces * length > end) {
    const indim_lval ends[2] = {last, loop->args[1]};
    indim_loop_node *lesser = indim_loop_new_node(b, INDIM_NODE_SCALAR, 2, ends);
    if (lesser != NULL) {
      lesser->u.op = (indim_loop_op){.op = INDIM_OP_MINIMUM};
      last = indim_loop_put(b, body, &body->last->next, lesser);
    }
  }
  if (b->status != INDIM_OK) {
    return 0;
  }
  put_inside(body, loop, first, last);
  b->program->values[loop->bodies[0]->first_parameter].step = 0;
  return piece;
}

// Another index -----------------------------------------------------------------------------------------------------------

// A sum that stands for an index: its value is |sum|'s, and sums of it are written with its terms.
typedef struct index_sum {
  indim_lval index;
  const indim_loop_node *sum;
} index_sum;

static void write_out(indim_loop_builder *b, indim_loop_node *node, const index_sum *s) {
  indim_affine sum;
  indim_affine index;
  bool fits = indim_affine_of_sum(node, &sum) && indim_affine_of_sum(s->sum, &index);
  int64_t coefficient = fits ? indim_affine_remove(&sum, s->sum->first_result) : 0;
  if (coefficient == 0 || !indim_affine_add_scaled(&sum, &index, coefficient) || sum.count == 0) {
    return;
  }
  indim_lval *args = indim_loop_copy_of(b, sum.terms, (size_t)sum.count * sizeof *args);
  const int64_t *coefficients = indim_loop_copy_of(b, sum.coefficients, (size_t)sum.count * sizeof *coefficients);
  if (b->status == INDIM_OK) {
    node->args = args;
    node->arg_count = sum.count;
    node->u.affine.coefficients = coefficients;
    node->u.affine.constant = sum.low;
  }
}

static void write_out_all(indim_loop_builder *b, indim_loop_body *body, const index_sum *s) {
  for (indim_loop_node *node = body->first; node != NULL && b->status == INDIM_OK; node = node->next) {
    if (node == s->sum) {
      continue;
    }
    for (int32_t i = 0; i < node->arg_count; i++) {
      node->args[i] = node->args[i] == s->index ? s->sum->first_result : node->args[i];
    }
    if (node->kind == INDIM_NODE_AFFINE) {
      write_out(b, node, s);
    }
    for (int32_t k = 0; k < 2 && node->bodies[k] != NULL; k++) {
      write_out_all(b, node->bodies[k], s);
    }
  }
  for (int32_t i = 0; i < body->yield_count; i++) {
    body->yields[i] = body->yields[i] == s->index ? s->sum->first_result : body->yields[i];
  }
}

indim_lval indim_loop_cut_like(indim_loop_builder *b, indim_loop_node **link, int64_t begin, int64_t many,
                               const indim_loop_node *coarse, const indim_lval *bounds) {
  indim_loop_node *loop = *link;
  int64_t step = loop->u.loop.step;
  indim_loop_node *over = put_around(b, link, bounds, coarse->u.loop.grain);
  if (over == NULL) {
    return 0;
  }
  indim_loop_body *body = over->bodies[0];
  indim_lval first = indim_loop_put_sum(b, body, &body->first, 0, 0, NULL, NULL);
  indim_lval last = b->status == INDIM_OK ? indim_loop_put_sum(b, body, &body->first, many * step, 0, NULL, NULL) : 0;
  if (b->status != INDIM_OK) {
    return 0;
  }
  put_inside(body, loop, first, last);
  indim_loop_body *inner = loop->bodies[0];
  indim_lval index = inner->first_parameter;
  indim_loop_value *value = &b->program->values[index];
  indim_loop_for_range(b->program, first, last, step, &value->low, &value->high);
  value->step = step;
  const indim_lval args[2] = {body->first_parameter, index};
  const int64_t coefficients[2] = {many * step, 1};
  indim_lval sum = indim_loop_put_sum(b, inner, &inner->first, begin, 2, args, coefficients);
  if (b->status == INDIM_OK) {
    write_out_all(b, inner, &(index_sum){index, b->program->values[sum].node});
  }
  return b->status == INDIM_OK ? body->first_parameter : 0;
}
