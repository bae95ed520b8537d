// Which values of narrow float types are only moved: loaded, shuffled, chosen, carried, stored. They stay the integers
// that they are in memory, so that moving costs no conversion, takes half or a quarter of the lanes' room, and keeps every
// NaN as it is. Values that meet in a move must be of one kind, so they are put into classes, and a class in which one
// value is computed or computed with stays floats. Values of f16 are integers even there, and converted where they are
// computed with: the instructions for that would make a signalling NaN a quiet one, and every result of f16 is
// converted down and up anyway, to round it.
#include "emit/program.h"

typedef struct classes {
  int32_t *parent;   // of each value; its own number at the root
  bool *is_counted;  // of roots: with a value that is more than moved
} classes;

static int32_t root_of(classes *c, int32_t v) {
  while (c->parent[v] != v) {
    c->parent[v] = c->parent[c->parent[v]];
    v = c->parent[v];
  }
  return v;
}

static void join(classes *c, indim_lval x, indim_lval y) {
  int32_t a = root_of(c, x);
  int32_t b = root_of(c, y);
  c->is_counted[b] = c->is_counted[b] || c->is_counted[a];
  c->parent[a] = b;
}

static void count(classes *c, indim_lval v) { c->is_counted[root_of(c, v)] = true; }

static void count_all(classes *c, const indim_loop_node *node) {
  for (int32_t i = 0; i < node->arg_count; i++) {
    count(c, node->args[i]);
  }
  for (int32_t i = 0; i < node->result_count; i++) {
    count(c, node->first_result + i);
  }
}

// From argument |first| on, all are of the result's class.
static void join_arguments(classes *c, const indim_loop_node *node, int32_t first) {
  for (int32_t i = first; i < node->arg_count; i++) {
    join(c, node->first_result, node->args[i]);
  }
}

// |values| go where those from |first| on are.
static void join_lists(classes *c, indim_lval first, int32_t length, const indim_lval *values) {
  for (int32_t i = 0; i < length; i++) {
    join(c, first + i, values[i]);
  }
}

static void join_control(classes *c, const indim_loop_node *node) {
  const indim_loop_body *const *bodies = (const indim_loop_body *const *)node->bodies;
  if (node->kind == INDIM_NODE_FOR) {
    join_lists(c, node->first_result, node->result_count, node->args + 2);
    join_lists(c, node->first_result, node->result_count, bodies[0]->yields);
    join_lists(c, bodies[0]->first_parameter + 1, node->arg_count - 2, node->args + 2);
  } else if (node->kind == INDIM_NODE_IF) {
    join_lists(c, node->first_result, node->result_count, bodies[0]->yields);
    join_lists(c, node->first_result, node->result_count, bodies[1]->yields);
  } else {
    join_lists(c, node->first_result, node->result_count, node->args);
    join_lists(c, node->first_result, node->result_count, bodies[1]->yields);
    join_lists(c, bodies[0]->first_parameter, node->arg_count, node->args);
    join_lists(c, bodies[1]->first_parameter, node->arg_count, node->args);
  }
}

static void visit(classes *c, const indim_loop_node *node) {
  switch ((int)node->kind) {
  case INDIM_NODE_CONST:
  case INDIM_NODE_LANES:
  case INDIM_NODE_COPY:
  case INDIM_NODE_FILL:
  case INDIM_NODE_STORE:
    break;
  case INDIM_NODE_LOAD:
    join_arguments(c, node, 2);  // the fill
    break;
  case INDIM_NODE_SPLAT:
  case INDIM_NODE_EXTRACT:
  case INDIM_NODE_SHUFFLE:
    join_arguments(c, node, 0);
    break;
  case INDIM_NODE_SCALAR:
    if (node->u.op.op == INDIM_OP_SELECT) {
      join_arguments(c, node, 1);
    } else if (node->u.op.op == INDIM_OP_COPY) {
      join_arguments(c, node, 0);
    } else if (node->u.op.op != INDIM_OP_BITCAST_CONVERT) {
      count_all(c, node);
    }
    break;
  case INDIM_NODE_FOR:
  case INDIM_NODE_IF:
  case INDIM_NODE_WHILE:
    join_control(c, node);
    break;
  default:
    count_all(c, node);
  }
}

// Deeper bodies than the generator takes are left out: it refuses them.
static void visit_body(classes *c, const indim_loop_body *body) {
  if (body == NULL || body->depth > INDIM_EMIT_MAX_DEPTH) {
    return;
  }
  for (const indim_loop_node *node = body->first; node != NULL; node = node->next) {
    visit(c, node);
    visit_body(c, node->bodies[0]);
    visit_body(c, node->bodies[1]);
  }
}

// Floats that fill their bytes and are no float or double of LLVM; their bits as integers.
static indim_type stored_type(indim_type type) {
  bool is_narrow = indim_type_is_float(type) && (indim_type_bits(type) == 8 || indim_type_bits(type) == 16);
  return is_narrow ? indim_type_unsigned_of_bits(indim_type_bits(type)) : type;
}

indim_status indim_emit_find_moves(const indim_loop_program *program, indim_ctx *cx, indim_loop_value *values) {
  bool has_narrow = false;
  for (int32_t v = 0; v < program->value_count && !has_narrow; v++) {
    has_narrow = stored_type(values[v].type) != values[v].type;
  }
  if (!has_narrow) {
    return INDIM_OK;
  }
  size_t bytes = (size_t)program->value_count * (sizeof(int32_t) + sizeof(bool));
  classes c = {NULL, NULL};
  INDIM_TRY(indim_alloc_zeroed(cx, bytes, (void **)&c.parent));
  c.is_counted = (bool *)(c.parent + program->value_count);
  for (int32_t v = 0; v < program->value_count; v++) {
    c.parent[v] = v;
  }
  visit_body(&c, program->body);
  for (int32_t v = 0; v < program->value_count; v++) {
    bool is_half = values[v].type == INDIM_F16 && program->target.has_f16;
    if (is_half || !c.is_counted[root_of(&c, v)]) {
      values[v].type = stored_type(values[v].type);
    }
  }
  indim_free(cx, c.parent, bytes);
  return INDIM_OK;
}
