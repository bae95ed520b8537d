// Cuts copies and fills that are steps of the program into pieces that threads share, where they are long enough: one processor
// alone does not use all that the memory gives.
#include "loop/ir/op.h"
#include "loop/ir/rewrite.h"
#include "loop/pass/pass.h"
#include "loop/pass/strip_mine.h"
#include "loop/target/cost.h"

enum { PIECES = 16, LEAST_PIECES = 8 };

// How many elements a piece has: equal pieces, if there is such a number of them; else some elements are left.
static int64_t piece_of(int64_t count) {
  for (int64_t pieces = PIECES; pieces >= LEAST_PIECES; pieces--) {
    if (count % pieces == 0) {
      return count / pieces;
    }
  }
  return count / PIECES;
}

// Whether pieces may move at the same time. A result in the buffer of its argument has each element where it is, or elsewhere.
static bool may_split(indim_loop_program *program, const indim_loop_node *node) {
  const indim_storage *to = program->storages[node->u.move.to];
  int64_t bytes = indim_index_mul_saturated(node->u.move.count, indim_type_bytes(to->type));
  return bytes >= INDIM_COST_PARALLEL_BYTES &&
         (node->kind == INDIM_NODE_FILL || node->args[0] == node->args[1] ||
          indim_loop_root_of(program, node->u.move.to) != indim_loop_root_of(program, node->u.move.from));
}

// The address |constant| + |coefficient| * |term| elements behind |address|.
static indim_value_id put_address(indim_loop_builder *b, indim_node_list *list, indim_value_id address,
                                  int64_t constant, indim_value_id term, int64_t coefficient) {
  const indim_loop_value *value = indim_loop_value_of(b, address);
  bool is_known = value->low == value->high;
  int64_t first = is_known ? value->low + constant : constant;
  indim_affine sum = {.low = first, .high = first};
  if (!is_known) {
    (void)indim_affine_add(&sum, address, 1);
  }
  if (coefficient != 0) {
    (void)indim_affine_add(&sum, term, coefficient);
  }
  return indim_nodes_put_sum(b, list, &sum);
}

// A move like |node|, of |count| elements that far on, which |list| is given.
static void put_move(indim_loop_builder *b, indim_node_list *list, const indim_loop_node *node, int64_t constant,
                     indim_value_id piece, int64_t coefficient, int64_t count) {
  indim_value_id args[2] = {node->args[0], node->args[1]};
  int32_t addresses = node->kind == INDIM_NODE_COPY ? 2 : 1;
  for (int32_t i = 0; i < addresses && b->status == INDIM_OK; i++) {
    args[i] = put_address(b, list, args[i], constant, piece, coefficient);
  }
  indim_loop_node *move = b->status == INDIM_OK ? indim_loop_new_node(b, node->kind, node->arg_count, args) : NULL;
  if (move != NULL) {
    move->u.move = node->u.move;
    move->u.move.count = count;
    move->origin = node->origin;
    indim_nodes_append(list, move);
  }
}

// Replaces the move at |*link| by a parallel loop, and a move of what is left. Returns the link after them.
static indim_loop_node **split_move(indim_loop_builder *b, indim_loop_node **link) {
  const indim_loop_node *node = *link;
  int64_t each = piece_of(node->u.move.count);
  int64_t pieces = node->u.move.count / each;
  int64_t rest = node->u.move.count - pieces * each;
  indim_value_id bounds[2];
  link = indim_loop_put_bounds(b, link, pieces, bounds);
  indim_loop_node *over = b->status == INDIM_OK ? indim_strip_mine_around(b, link, bounds, 1) : NULL;
  if (over == NULL) {
    return link;
  }
  over->origin = node->origin;
  indim_node_list inside = {.body = over->bodies[0]}, after = {.body = over->body};
  put_move(b, &inside, node, 0, inside.body->first_parameter, each, each);
  if (rest > 0) {
    put_move(b, &after, node, pieces * each, 0, 0, rest);
  }
  if (b->status != INDIM_OK) {
    return link;
  }
  indim_nodes_become_body(&inside);
  return rest > 0 ? indim_nodes_insert(&after, &over->next) : &over->next;
}

// Recurses no deeper than lowering nests whiles and ifs.
static void visit(indim_loop_builder *b, indim_loop_body *body) {
  for (indim_loop_node **link = &body->first; *link != NULL && b->status == INDIM_OK;) {
    indim_loop_node *node = *link;
    bool is_move = node->kind == INDIM_NODE_COPY || node->kind == INDIM_NODE_FILL;
    for (int k = 0; node->kind != INDIM_NODE_FOR && k < 2 && node->bodies[k] != NULL; k++) {
      visit(b, node->bodies[k]);
    }
    link = is_move && may_split(b->program, node) ? split_move(b, link) : &node->next;
  }
}

indim_status indim_pass_split_moves(indim_loop_program *program) {
  indim_loop_builder b;
  indim_loop_builder_init(&b, program);
  visit(&b, program->body);
  indim_status status = b.status;
  indim_loop_builder_deinit(&b);
  return status;
}
