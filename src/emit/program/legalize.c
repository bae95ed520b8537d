// Type legalization of narrow floats and of c64. Values that are only moved (loaded, shuffled, selected, carried, stored) stay the
// integers that they are in memory, so that moving costs no conversion, takes half or a quarter of the register space,
// and keeps every NaN. Values that meet in a move must have one type, so they form equivalence classes (union-find); a
// class in which one value is computed or is an operand of a computation stays float. Values of f16 are integers even
// then and are converted where they are computed with: conversion instructions would quiet signalling NaNs, and every
// result of f16 is converted down and up anyway, for rounding. A complex number that is only moved is one word in one register
// instead of a part in each of two, into which it would be taken apart and put together again.
//
// Rows of bf16 that are computed elementwise are split into even and odd elements without a shuffle: the even elements
// are the lower halves of a register's words, the odd ones the upper halves, and both become floats by a shift or a
// mask. A class of such values has two registers each, the even lanes and the odd ones, from its loads to its stores.
#include "emit/program/program.h"

typedef struct classes {
  int32_t *parent;    // of each value, union-find; roots are their own parent
  bool *is_computed;  // of roots: the class has a value that is more than moved
} classes;

static int32_t root_of(classes *c, int32_t v) {
  while (c->parent[v] != v) {
    c->parent[v] = c->parent[c->parent[v]];
    v = c->parent[v];
  }
  return v;
}

static void unify(classes *c, indim_value_id x, indim_value_id y) {
  int32_t a = root_of(c, x);
  int32_t b = root_of(c, y);
  c->is_computed[b] = c->is_computed[b] || c->is_computed[a];
  c->parent[a] = b;
}

static void mark_computed(classes *c, indim_value_id v) { c->is_computed[root_of(c, v)] = true; }

static void mark_all_computed(classes *c, const indim_loop_node *node) {
  for (int32_t i = 0; i < node->arg_count; i++) {
    mark_computed(c, node->args[i]);
  }
  for (int32_t i = 0; i < node->result_count; i++) {
    mark_computed(c, node->first_result + i);
  }
}

// Unifies the arguments from |first| on with the result.
static void unify_arguments(classes *c, const indim_loop_node *node, int32_t first) {
  for (int32_t i = first; i < node->arg_count; i++) {
    unify(c, node->first_result, node->args[i]);
  }
}

// Unifies |values| with those from |first| on, pairwise.
static void unify_lists(classes *c, indim_value_id first, int32_t length, const indim_value_id *values) {
  for (int32_t i = 0; i < length; i++) {
    unify(c, first + i, values[i]);
  }
}

static void unify_control(classes *c, const indim_loop_node *node) {
  const indim_loop_body *const *bodies = (const indim_loop_body *const *)node->bodies;
  if (node->kind == INDIM_NODE_FOR) {
    unify_lists(c, node->first_result, node->result_count, node->args + 2);
    unify_lists(c, node->first_result, node->result_count, bodies[0]->yields);
    unify_lists(c, bodies[0]->first_parameter + 1, node->arg_count - 2, node->args + 2);
  } else if (node->kind == INDIM_NODE_IF) {
    unify_lists(c, node->first_result, node->result_count, bodies[0]->yields);
    unify_lists(c, node->first_result, node->result_count, bodies[1]->yields);
  } else {
    unify_lists(c, node->first_result, node->result_count, node->args);
    unify_lists(c, node->first_result, node->result_count, bodies[1]->yields);
    unify_lists(c, bodies[0]->first_parameter, node->arg_count, node->args);
    unify_lists(c, bodies[1]->first_parameter, node->arg_count, node->args);
  }
}

static void visit(classes *c, const indim_loop_node *node) {
  switch ((int)node->kind) {
  case INDIM_NODE_CONST:
  case INDIM_NODE_LANES:
  case INDIM_NODE_COPY:
  case INDIM_NODE_FILL:
  case INDIM_NODE_PREFETCH:
  case INDIM_NODE_STORE:
    break;
  case INDIM_NODE_LOAD:
    unify_arguments(c, node, 2);  // the fill value
    break;
  case INDIM_NODE_SPLAT:
  case INDIM_NODE_EXTRACT:
  case INDIM_NODE_SHUFFLE:
    unify_arguments(c, node, 0);
    break;
  case INDIM_NODE_ELEMENTWISE:
    if (node->u.op.op == INDIM_OP_SELECT) {
      unify_arguments(c, node, 1);
    } else if (node->u.op.op == INDIM_OP_COPY) {
      unify_arguments(c, node, 0);
    } else if (node->u.op.op != INDIM_OP_BITCAST_CONVERT) {
      mark_all_computed(c, node);
    }
    break;
  case INDIM_NODE_FOR:
  case INDIM_NODE_IF:
  case INDIM_NODE_WHILE:
    unify_control(c, node);
    break;
  default:
    mark_all_computed(c, node);
  }
}

// Rows split into even and odd lanes ----------------------------------------------------------------------------------

bool indim_emit_is_uniform(const indim_loop_program *program, indim_value_id v) {
  const indim_loop_node *node = program->values[v].node;
  return node != NULL && (node->kind == INDIM_NODE_CONST || node->kind == INDIM_NODE_SPLAT ||
                          (node->kind == INDIM_NODE_LOAD && node->u.memory.lane_stride == 0 &&
                           !node->u.memory.has_mask && program->values[node->args[0]].lanes == 1));
}

// Contiguous lanes, all of them.
static bool is_row(const indim_loop_program *program, const indim_loop_node *node) {
  return !node->u.memory.has_mask && node->u.memory.lane_stride == 1 && program->values[node->args[0]].lanes == 1;
}

// An operation of bf16 alone. Functions are too long to emit twice.
static bool is_arithmetic(const indim_loop_program *program, const indim_loop_node *node) {
  bool is_it = node->result_count == 1 && program->values[node->first_result].type == INDIM_BF16 &&
               !indim_op_is_function(node->u.op.op);
  for (int32_t i = 0; i < node->arg_count && is_it; i++) {
    is_it = program->values[node->args[i]].type == INDIM_BF16;
  }
  return is_it;
}

static void visit_row(classes *c, const indim_loop_program *program, const indim_loop_node *node) {
  bool fits = false;
  if (node->kind == INDIM_NODE_LOAD || node->kind == INDIM_NODE_STORE) {
    fits = is_row(program, node);
  } else if (node->kind == INDIM_NODE_ELEMENTWISE && is_arithmetic(program, node)) {
    for (int32_t i = 0; i < node->arg_count; i++) {
      if (!indim_emit_is_uniform(program, node->args[i])) {
        unify(c, node->first_result, node->args[i]);
      }
    }
    fits = true;
  }
  if (!fits) {
    mark_all_computed(c, node);
  }
  for (int32_t k = 0; k < 2 && node->bodies[k] != NULL; k++) {
    const indim_loop_body *body = node->bodies[k];
    for (int32_t i = 0; i < body->parameter_count; i++) {
      mark_computed(c, body->first_parameter + i);
    }
    for (int32_t i = 0; i < body->yield_count; i++) {
      mark_computed(c, body->yields[i]);
    }
  }
}

bool indim_emit_has_words(const indim_loop_program *program) {
  return program->target.arch == INDIM_ARCH_X86_64 || program->target.arch == INDIM_ARCH_AARCH64;
}

// The unsigned integer of the bits for floats of 8 or 16 bits, which are not float or double in LLVM, and for c64.
static indim_type stored_type(const indim_loop_program *program, indim_type type) {
  bool is_narrow = indim_type_is_float(type) && (indim_type_bits(type) == 8 || indim_type_bits(type) == 16);
  bool is_word = type == INDIM_C64 && indim_emit_has_words(program);
  return is_narrow || is_word ? indim_type_unsigned_of_bits(indim_type_bits(type)) : type;
}

// Skips bodies deeper than the generator takes: it refuses them.
static void visit_body(classes *c, const indim_loop_program *program, const indim_loop_body *body, bool for_rows) {
  if (body == NULL || body->depth > INDIM_EMIT_MAX_DEPTH) {
    return;
  }
  for (const indim_loop_node *node = body->first; node != NULL; node = node->next) {
    if (for_rows) {
      visit_row(c, program, node);
    } else {
      visit(c, node);
    }
    visit_body(c, program, node->bodies[0], for_rows);
    visit_body(c, program, node->bodies[1], for_rows);
  }
}

// Builds the classes.
static void classify(classes *c, const indim_loop_program *program, bool for_rows) {
  for (int32_t v = 0; v < program->value_count; v++) {
    c->parent[v] = v;
    c->is_computed[v] = false;
  }
  visit_body(c, program, program->body, for_rows);
}

// Values found to be only moved are no floats any more.
static void find_split_rows(classes *c, const indim_loop_program *program, const indim_loop_value *values,
                            bool *is_split) {
  classify(c, program, true);
  for (int32_t v = 0; v < program->value_count; v++) {
    const indim_loop_node *node = values[v].node;
    bool is_row = values[v].type == INDIM_BF16 && values[v].lanes * 2 == program->target.vector_bytes && node != NULL &&
                  (node->kind == INDIM_NODE_LOAD || node->kind == INDIM_NODE_ELEMENTWISE);
    is_split[v] = is_row && !indim_emit_is_uniform(program, v) && !c->is_computed[root_of(c, v)];
  }
}

indim_status indim_emit_legalize(const indim_loop_program *program, indim_arena *arena, indim_loop_value *values,
                                 bool *is_split) {
  bool has_any = false;
  for (int32_t v = 0; v < program->value_count && !has_any; v++) {
    has_any = stored_type(program, values[v].type) != values[v].type;
  }
  if (!has_any) {
    return INDIM_OK;
  }
  classes c = {NULL, NULL};
  INDIM_TRY(indim_arena_array(arena, (size_t)program->value_count, sizeof *c.parent, (void **)&c.parent));
  INDIM_TRY(indim_arena_array(arena, (size_t)program->value_count, sizeof *c.is_computed, (void **)&c.is_computed));
  classify(&c, program, false);
  for (int32_t v = 0; v < program->value_count; v++) {
    bool is_half = values[v].type == INDIM_F16 && program->target.has_f16;
    if (is_half || !c.is_computed[root_of(&c, v)]) {
      values[v].type = stored_type(program, values[v].type);
    }
  }
  find_split_rows(&c, program, values, is_split);
  return INDIM_OK;
}
