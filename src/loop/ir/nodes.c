// What there is to say of a node's kind and of its op, and the walk over all nodes.
#include "loop/ir/loop.h"

const char *indim_node_text(indim_node_kind kind) {
  static const char *const texts[] = {
#define INDIM_NODE(name, text, args, regions, group, meaning) text,
#include "loop/ir/nodes.def"
  };
  return (unsigned)kind < INDIM_NODE_COUNT ? texts[kind] : "?";
}

indim_node_group indim_node_group_of(indim_node_kind kind) {
  static const indim_node_group groups[] = {
#define INDIM_NODE(name, text, args, regions, group, meaning) INDIM_GROUP_##group,
#include "loop/ir/nodes.def"
  };
  return groups[kind];
}

indim_loop_node *indim_loop_next_in(const indim_loop_body *body, const indim_loop_node *node) {
  for (int i = 0; i < 2; i++) {
    if (node->bodies[i] != NULL && node->bodies[i]->first != NULL) {
      return node->bodies[i]->first;
    }
  }
  while (node->next == NULL) {
    const indim_loop_node *owner = node->body->owner;
    if (node->body == body || owner == NULL) {
      return NULL;
    }
    if (node->body == owner->bodies[0] && owner->bodies[1] != NULL && owner->bodies[1]->first != NULL) {
      return owner->bodies[1]->first;
    }
    node = owner;
  }
  return node->next;
}

indim_loop_node *indim_loop_next(const indim_loop_node *node) { return indim_loop_next_in(NULL, node); }

bool indim_loop_same_op(const indim_loop_op *x, const indim_loop_op *y) {
  return x->op == y->op && x->direction == y->direction && x->total_order == y->total_order &&
         x->exponent_bits == y->exponent_bits && x->mantissa_bits == y->mantissa_bits;
}
