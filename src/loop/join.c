// Joins loops. Two loops that stand one behind the other, count alike and share an array become one, if whatever one of
// them writes and the other touches lies, for each iteration, in a window of its own: then a row is still in the cache
// (and its outer loop is paid once) when the next step of a softmax or of an optimizer wants it. What stands inside is
// joined in turn.
#include <string.h>

#include "loop/build.h"
#include "loop/lowering.h"
#include "loop/touch.h"

// Deciding ---------------------------------------------------------------------------------------------------------------

// Only the second may carry values.
static bool count_alike(const indim_loop_node *a, const indim_loop_node *b) {
  return a->kind == INDIM_NODE_FOR && b->kind == INDIM_NODE_FOR && a->arg_count == 2 && a->args[0] == b->args[0] &&
         a->args[1] == b->args[1] && a->u.loop.step == b->u.loop.step &&
         a->u.loop.is_parallel == b->u.loop.is_parallel && a->u.loop.grain == b->u.loop.grain;
}

static bool windows_are_apart(const indim_touch *x, const indim_touch *y, int64_t step) {
  indim_touch both = *x;
  int64_t width = 0;
  return indim_touch_absorb(&both, y) && both.stride > 0 && indim_index_mul(both.stride, step, &width) &&
         indim_touch_width(&both) <= width;
}

static bool may_join(indim_touches *a, indim_touches *b, const indim_loop_node *loop) {
  bool shares = false;
  if (a->is_opaque || b->is_opaque) {
    return false;
  }
  for (int32_t i = 0; i < b->count; i++) {
    const indim_touch *y = &b->list[i];
    const indim_touch *x = indim_touches_find(a, y->storage);
    if (x == NULL) {
      continue;
    }
    if ((x->writes || y->writes) && !windows_are_apart(x, y, loop->u.loop.step)) {
      return false;
    }
    shares = shares || x->writes || (x->is_known && y->is_known && x->stride == y->stride && x->stride != 0);
  }
  return shares;
}

// Whether a node between two loops may stand before both: it computes or loads what the first does not write.
static bool may_move_up(indim_touches *first, const indim_loop_node *node) {
  for (int32_t i = 0; i < node->arg_count; i++) {
    if (first->program->values[node->args[i]].node == first->loop) {
      return false;
    }
  }
  if (node->kind == INDIM_NODE_LOAD) {
    const indim_touch *x = indim_touches_find(first, node->u.memory.storage);
    return x == NULL || !x->writes;
  }
  return indim_node_group_of(node->kind) == INDIM_GROUP_VALUE;
}

// Joining ----------------------------------------------------------------------------------------------------------------

static void replace_in_body(indim_loop_body *body, indim_lval from, indim_lval to) {
  for (indim_loop_node *node = body->first; node != NULL; node = node->next) {
    for (int32_t i = 0; i < node->arg_count; i++) {
      node->args[i] = node->args[i] == from ? to : node->args[i];
    }
    for (int32_t k = 0; k < 2 && node->bodies[k] != NULL; k++) {
      replace_in_body(node->bodies[k], from, to);
    }
  }
  for (int32_t i = 0; i < body->yield_count; i++) {
    body->yields[i] = body->yields[i] == from ? to : body->yields[i];
  }
}

// Puts what is in |from| in front of what is in |to|.
static void move_body(indim_loop_program *program, indim_loop_body *to, indim_loop_body *from) {
  replace_in_body(from, from->first_parameter, to->first_parameter);
  for (indim_loop_node *node = from->first; node != NULL; node = node->next) {
    node->body = to;
    for (int32_t r = 0; r < node->result_count; r++) {
      program->values[node->first_result + r].body = to;
    }
    for (int32_t k = 0; k < 2 && node->bodies[k] != NULL; k++) {
      node->bodies[k]->outer = to;
    }
  }
  if (from->last != NULL) {
    from->last->next = to->first;
    to->first = from->first;
    to->last = to->last == NULL ? from->last : to->last;
  }
}

typedef struct joining {
  indim_loop_program *program;
  indim_touches *first, *second;
} joining;

// Joins |first| and |second|, which may carry values, in the place of the first; |before| is the node in front of |first| (NULL: none). The nodes between come in front.
static void join(joining *j, indim_loop_body *body, indim_loop_node *before, indim_loop_node *first,
                 indim_loop_node *second) {
  indim_loop_node *between = first->next;
  if (between != second) {
    indim_loop_node *last = between;
    while (last->next != second) {
      last = last->next;
    }
    last->next = first;
    if (before == NULL) {
      body->first = between;
    } else {
      before->next = between;
    }
  }
  first->next = second->next;
  body->last = body->last == second ? first : body->last;
  move_body(j->program, second->bodies[0], first->bodies[0]);
  first->bodies[0] = second->bodies[0];
  first->bodies[0]->owner = first;
  first->args = second->args;
  first->arg_count = second->arg_count;
  first->first_result = second->first_result;
  first->result_count = second->result_count;
  for (int32_t i = 0; i < first->result_count; i++) {
    j->program->values[first->first_result + i].node = first;
  }
}

// The loop behind |first| that may join it; all that stands between may move up.
static indim_loop_node *find_partner(joining *j, indim_loop_node *first) {
  indim_touches_look(j->program, first, j->first);
  for (indim_loop_node *node = first->next; node != NULL; node = node->next) {
    if (count_alike(first, node)) {
      indim_touches_look(j->program, node, j->second);
      return may_join(j->first, j->second, first) ? node : NULL;
    }
    if (!may_move_up(j->first, node)) {
      return NULL;
    }
  }
  return NULL;
}

static void join_body(joining *j, indim_loop_body *body) {
  indim_loop_node *before = NULL;
  for (indim_loop_node *node = body->first; node != NULL;) {
    indim_loop_node *partner = NULL;
    if (node->kind == INDIM_NODE_FOR && node->arg_count == 2) {
      partner = find_partner(j, node);
    }
    if (partner != NULL) {
      indim_loop_node *between = node->next;
      join(j, body, before, node, partner);
      while (between != partner && between != node) {  // these stand in front now
        before = between;
        between = between->next;
      }
      continue;
    }
    for (int32_t k = 0; k < 2 && node->bodies[k] != NULL; k++) {
      join_body(j, node->bodies[k]);
    }
    before = node;
    node = node->next;
  }
}

indim_status indim_loop_join(indim_loop_program *program) {
  void *memory = NULL;
  INDIM_TRY(indim_alloc(program->cx, 2 * sizeof(indim_touches), &memory));
  joining j = {.program = program, .first = memory, .second = (indim_touches *)memory + 1};
  join_body(&j, program->body);
  indim_free(program->cx, memory, 2 * sizeof(indim_touches));
  return INDIM_OK;
}
