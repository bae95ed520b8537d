// Strip-mining. See strip_mine.h.
#include "loop/pass/strip_mine.h"

indim_loop_node *indim_strip_mine_around(indim_loop_builder *b, indim_loop_node **link, const indim_value_id *bounds,
                                         int64_t grain) {
  indim_loop_node *loop = *link;
  indim_loop_body *outer = loop->body;
  indim_loop_node *over = indim_loop_new_for(b, outer, bounds, 1);
  if (over == NULL) {
    return NULL;
  }
  over->next = loop->next;
  over->u.loop.grain = grain;
  over->u.loop.is_parallel = true;
  *link = over;
  outer->last = outer->last == loop ? over : outer->last;
  return over;
}

// Makes |list| and then the loop, with new bounds and sequential, the body of the loop around it.
static void nest_loop(indim_loop_program *program, indim_node_list *list, indim_loop_node *loop, indim_value_id first,
                      indim_value_id last) {
  loop->args[0] = first;
  loop->args[1] = last;
  loop->u.loop.is_parallel = false;
  loop->u.loop.grain = 1;
  indim_nodes_move(program, list, loop);
  indim_nodes_become_body(list);
}

// constant + coefficient * term.
static indim_value_id put_affine(indim_loop_builder *b, indim_node_list *list, int64_t constant, indim_value_id term,
                                 int64_t coefficient) {
  indim_affine sum = {.low = constant, .high = constant};
  (void)indim_affine_add(&sum, term, coefficient);
  return indim_nodes_put_sum(b, list, &sum);
}

static indim_value_id put_minimum(indim_loop_builder *b, indim_node_list *list, indim_value_id x, indim_value_id y) {
  const indim_value_id args[2] = {x, y};
  indim_loop_node *node = indim_loop_new_node(b, INDIM_NODE_ELEMENTWISE, 2, args);
  if (node != NULL) {
    node->u.op = (indim_loop_op){.op = INDIM_OP_MINIMUM};
  }
  return indim_nodes_put_index(b, list, node);
}

indim_loop_node **indim_loop_put_bounds(indim_loop_builder *b, indim_loop_node **link, int64_t end,
                                        indim_value_id *out) {
  indim_node_list list = {.body = (*link)->body};
  out[0] = indim_nodes_put_const(b, &list, INDIM_S64, 1, 0);
  out[1] = indim_nodes_put_const(b, &list, INDIM_S64, 1, (uint64_t)end);
  return indim_nodes_insert(&list, link);
}

indim_value_id indim_strip_mine_pieces(indim_loop_builder *b, indim_loop_node **link, int64_t begin, int64_t end) {
  indim_loop_node *loop = *link;
  int64_t length = loop->u.loop.grain * loop->u.loop.step;
  int64_t pieces = (end - begin - 1) / length + 1;
  indim_value_id bounds[2] = {0, 0};
  link = indim_loop_put_bounds(b, link, pieces, bounds);
  indim_loop_node *over = b->status == INDIM_OK ? indim_strip_mine_around(b, link, bounds, 1) : NULL;
  if (over == NULL) {
    return 0;
  }
  indim_node_list list = {.body = over->bodies[0]};
  indim_value_id piece = list.body->first_parameter;
  indim_value_id first = put_affine(b, &list, begin, piece, length);
  indim_value_id last = put_affine(b, &list, begin + length, piece, length);
  if (begin + pieces * length > end) {
    last = put_minimum(b, &list, last, loop->args[1]);
  }
  if (b->status != INDIM_OK) {
    return 0;
  }
  nest_loop(b->program, &list, loop, first, last);
  b->program->values[loop->bodies[0]->first_parameter].step = 0;
  return piece;
}

// Index expansion ---------------------------------------------------------------------------------------------------------

// Expands |index|, itself the result of a sum, in the sum |node|.
static void expand_index(indim_loop_builder *b, indim_loop_node *node, const indim_loop_node *index) {
  indim_affine sum;
  indim_affine own;
  bool fits = indim_affine_of_sum(node, &sum) && indim_affine_of_sum(index, &own);
  int64_t coefficient = fits ? indim_affine_remove(&sum, index->first_result) : 0;
  if (coefficient == 0 || !indim_affine_add_scaled(&sum, &own, coefficient) || sum.count == 0) {
    return;
  }
  indim_value_id *args = indim_loop_copy_of(b, sum.terms, (size_t)sum.count * sizeof *args);
  const int64_t *coefficients = indim_loop_copy_of(b, sum.coefficients, (size_t)sum.count * sizeof *coefficients);
  if (b->status == INDIM_OK) {
    node->args = args;
    node->arg_count = sum.count;
    node->u.affine.coefficients = coefficients;
    node->u.affine.constant = sum.low;
  }
}

// Replaces the body's index by |sum| and expands it in the sums that use it.
static void replace_index(indim_loop_builder *b, indim_loop_body *body, const indim_affine *sum) {
  indim_node_list list = {.body = body};
  indim_value_id index = indim_nodes_put_sum(b, &list, sum);
  if (b->status != INDIM_OK) {
    return;
  }
  indim_loop_rename(body, body->first_parameter, 1, &index);
  for (indim_loop_node *node = body->first; node != NULL; node = indim_loop_next_in(body, node)) {
    if (node->kind == INDIM_NODE_AFFINE) {
      expand_index(b, node, list.first);
    }
  }
  indim_nodes_insert(&list, &body->first);
}

indim_value_id indim_strip_mine_like(indim_loop_builder *b, indim_loop_node **link, int64_t begin, int64_t many,
                                     const indim_loop_node *coarse, const indim_value_id *bounds) {
  indim_loop_node *loop = *link;
  int64_t step = loop->u.loop.step;
  indim_loop_node *over = indim_strip_mine_around(b, link, bounds, coarse->u.loop.grain);
  if (over == NULL) {
    return 0;
  }
  indim_node_list list = {.body = over->bodies[0]};
  indim_value_id first = indim_nodes_put_const(b, &list, INDIM_S64, 1, 0);
  indim_value_id last = indim_nodes_put_const(b, &list, INDIM_S64, 1, (uint64_t)(many * step));
  if (b->status != INDIM_OK) {
    return 0;
  }
  nest_loop(b->program, &list, loop, first, last);
  indim_value_id index = loop->bodies[0]->first_parameter;
  indim_loop_value *value = &b->program->values[index];
  indim_loop_for_range(b->program, first, last, step, &value->low, &value->high);
  value->step = step;
  indim_affine sum = {.low = begin, .high = begin};
  (void)indim_affine_add(&sum, index, 1);
  (void)indim_affine_add(&sum, list.body->first_parameter, many * step);
  replace_index(b, loop->bodies[0], &sum);
  return b->status == INDIM_OK ? list.body->first_parameter : 0;
}
