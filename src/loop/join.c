// Joins loops. Two loops that stand one behind the other, count alike and share an array become one, if whatever one of
// them writes and the other touches lies, for each iteration, in a window of its own: then a row is still in the cache
// (and its outer loop is paid once) when the next step of a softmax or of an optimizer wants it. What stands inside is
// joined in turn.
//
// After that, an array in scratch memory whose last readers write a result at the very same addresses needs no memory of
// its own: it takes the result's.
#include <string.h>

#include "loop/build.h"
#include "loop/lowering.h"
#include "loop/place.h"

enum { MAX_STORAGES = 64 };

// How one loop touches one storage: at stride * index + the same outer terms everywhere, and a window.
typedef struct touch {
  int32_t storage;
  bool reads, writes;
  bool is_known;
  int64_t stride;
  indim_loop_place outer;
} touch;

typedef struct touches {
  indim_loop_program *program;
  const indim_loop_node *loop;
  indim_lval index;
  touch list[MAX_STORAGES];
  int32_t count;
  bool is_opaque;  // calls the host, or touches too many storages
} touches;

// What stays a term of an address: the loop's index, and what is made outside of the loop.
static bool is_fixed(const void *user, indim_lval v) {
  const touches *t = user;
  const indim_loop_value *value = &t->program->values[v];
  const indim_loop_body *body = value->body;
  while (body != NULL && body != t->loop->bodies[0]) {
    body = body->outer;
  }
  return v == t->index || (body == NULL && value->low != value->high);
}

static bool take_apart(const touches *t, indim_lval address, int64_t low, int64_t high, touch *out) {
  indim_loop_place *outer = &out->outer;
  if (!indim_loop_take_apart(t->program, address, low, high, is_fixed, t, outer)) {
    return false;
  }
  out->stride = indim_loop_place_coefficient(outer, t->index);
  return out->stride != INT64_MIN && indim_loop_place_add(outer, t->index, -out->stride);
}

static touch *find_touch(touches *t, int32_t storage) {
  for (int32_t i = 0; i < t->count; i++) {
    if (t->list[i].storage == storage) {
      return &t->list[i];
    }
  }
  return NULL;
}

static bool absorb(touch *to, const touch *other) {
  if (!to->is_known || !other->is_known || to->stride != other->stride ||
      !indim_loop_place_same_terms(&to->outer, &other->outer)) {
    return false;
  }
  indim_loop_place_cover(&to->outer, &other->outer);
  return true;
}

static void note(touches *t, const indim_loop_node *node, int32_t lanes) {
  touch one = {.storage = node->u.memory.storage,
               .reads = node->kind == INDIM_NODE_LOAD,
               .writes = node->kind == INDIM_NODE_STORE};
  int64_t reach = t->program->values[node->args[0]].lanes > 1 ? 0 : (int64_t)(lanes - 1) * node->u.memory.lane_stride;
  one.is_known = take_apart(t, node->args[0], reach < 0 ? reach : 0, reach > 0 ? reach : 0, &one);
  touch *known = find_touch(t, one.storage);
  if (known == NULL) {
    if (t->count == MAX_STORAGES) {
      t->is_opaque = true;
      return;
    }
    t->list[t->count++] = one;
    return;
  }
  known->reads = known->reads || one.reads;
  known->writes = known->writes || one.writes;
  known->is_known = absorb(known, &one);
}

static void collect(touches *t, const indim_loop_body *body) {
  for (const indim_loop_node *node = body->first; node != NULL && !t->is_opaque; node = node->next) {
    switch ((int)node->kind) {
    case INDIM_NODE_LOAD:
      note(t, node, t->program->values[node->first_result].lanes);
      break;
    case INDIM_NODE_STORE:
      note(t, node, t->program->values[node->args[1]].lanes);
      break;
    case INDIM_NODE_COPY:
    case INDIM_NODE_FILL:
    case INDIM_NODE_HOST:
    case INDIM_NODE_WHILE:
      t->is_opaque = true;
      break;
    default:
      for (int32_t k = 0; k < 2 && node->bodies[k] != NULL; k++) {
        collect(t, node->bodies[k]);
      }
      break;
    }
  }
}

static void look(indim_loop_program *program, const indim_loop_node *loop, touches *out) {
  memset(out, 0, sizeof *out);
  out->program = program;
  out->loop = loop;
  out->index = loop->bodies[0]->first_parameter;
  collect(out, loop->bodies[0]);
}

// Deciding ---------------------------------------------------------------------------------------------------------------

static bool count_alike(const indim_loop_node *a, const indim_loop_node *b) {
  return a->kind == INDIM_NODE_FOR && b->kind == INDIM_NODE_FOR && a->arg_count == 2 && b->arg_count == 2 &&
         a->args[0] == b->args[0] && a->args[1] == b->args[1] && a->u.loop.step == b->u.loop.step &&
         a->u.loop.is_parallel == b->u.loop.is_parallel && a->u.loop.grain == b->u.loop.grain;
}

static bool windows_are_apart(const touch *x, const touch *y, int64_t step) {
  touch both = *x;
  int64_t width = 0;
  return absorb(&both, y) && both.stride > 0 && indim_index_mul(both.stride, step, &width) &&
         indim_index_add_saturated(both.outer.high, indim_index_mul_saturated(both.outer.low, -1)) < width;
}

static bool may_join(touches *a, touches *b, const indim_loop_node *loop) {
  bool shares = false;
  if (a->is_opaque || b->is_opaque) {
    return false;
  }
  for (int32_t i = 0; i < b->count; i++) {
    const touch *y = &b->list[i];
    const touch *x = find_touch(a, y->storage);
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
static bool may_move_up(touches *first, const indim_loop_node *node) {
  for (int32_t i = 0; i < node->arg_count; i++) {
    if (first->program->values[node->args[i]].node == first->loop) {
      return false;
    }
  }
  if (node->kind == INDIM_NODE_LOAD) {
    const touch *x = find_touch(first, node->u.memory.storage);
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
  if (to->last == NULL) {
    to->first = from->first;
  } else {
    to->last->next = from->first;
  }
  to->last = from->last == NULL ? to->last : from->last;
  from->first = NULL;
  from->last = NULL;
}

typedef struct joining {
  indim_loop_program *program;
  touches *first, *second;
} joining;

// Joins |second| into |first|; |before| is the node in front of |first| (NULL: none). The nodes between come in front.
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
  move_body(j->program, first->bodies[0], second->bodies[0]);
}

// The loop behind |first| that may join it; all that stands between may move up.
static indim_loop_node *find_partner(joining *j, indim_loop_node *first) {
  look(j->program, first, j->first);
  for (indim_loop_node *node = first->next; node != NULL; node = node->next) {
    if (count_alike(first, node)) {
      look(j->program, node, j->second);
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
  INDIM_TRY(indim_alloc(program->cx, 2 * sizeof(touches), &memory));
  joining j = {.program = program, .first = memory, .second = (touches *)memory + 1};
  join_body(&j, program->body);
  indim_free(program->cx, memory, 2 * sizeof(touches));
  return INDIM_OK;
}
