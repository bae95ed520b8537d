// Vector widening. Values keep their numbers and only get more lanes, so most nodes need no change. Those that must not
// process the added lanes (memory, reductions, integer division, which traps on 0) get narrow copies of their args and
// define a narrow value, of which the old number becomes a wide copy. Indices (s64) are not widened: their ranges are
// proofs.
#include "loop/pass/pass.h"

#include <string.h>

#include "loop/ir/rewrite.h"

typedef struct widening {
  indim_loop_program *program;
  indim_loop_builder b;  // makes values and nodes; has no open body
  int32_t limit;         // number of values at the start
  int32_t *lanes;        // before widening
} widening;

static int32_t power_above(int32_t lanes) {
  int32_t power = 1;
  while (power < lanes) {
    power *= 2;
  }
  return power;
}

// Whether |v| is widened.
static bool is_widened(const widening *w, indim_value_id v) {
  return v < w->limit && w->program->values[v].type != INDIM_S64 && power_above(w->lanes[v]) != w->lanes[v];
}

// Makes |to| a copy of |from|, with lanes from |kept| on undefined.
static void emit_copy(widening *w, indim_value_id to, indim_value_id from, int32_t kept, indim_node_list *list) {
  int32_t lanes = w->program->values[to].lanes;
  indim_loop_node *node = indim_loop_new_node(&w->b, INDIM_NODE_SHUFFLE, 1, &from);
  int32_t *map = indim_loop_alloc(&w->b, (size_t)lanes, sizeof *map);
  if (w->b.status != INDIM_OK) {
    return;
  }
  for (int32_t k = 0; k < lanes; k++) {
    map[k] = k < kept ? k : -1;
  }
  node->u.map = map;
  indim_nodes_put_as(&w->b, list, node, to);
}

// Nodes ---------------------------------------------------------------------------------------------------------------

// Whether the node may process the added, undefined lanes.
static bool is_lanewise(const widening *w, const indim_loop_node *node) {
  const indim_loop_value *result = node->result_count > 0 ? &w->program->values[node->first_result] : NULL;
  if (node->kind == INDIM_NODE_CONST || node->kind == INDIM_NODE_LANES || node->kind == INDIM_NODE_SPLAT ||
      node->kind == INDIM_NODE_EXTRACT || node->kind == INDIM_NODE_SHUFFLE || node->kind == INDIM_NODE_FMA) {
    return true;
  }
  if (node->kind != INDIM_NODE_ELEMENTWISE || result->type == INDIM_S64) {
    return false;
  }
  for (int32_t i = 0; i < node->arg_count; i++) {
    if (w->program->values[node->args[i]].type == INDIM_S64) {
      return false;
    }
  }
  bool divides = node->u.op.op == INDIM_OP_DIVIDE || node->u.op.op == INDIM_OP_REMAINDER;
  return !divides || !indim_type_is_integral(result->type);
}

// Repeats the last lane's constant.
static void widen_lanes(widening *w, indim_loop_node *node) {
  int32_t old = w->lanes[node->first_result];
  int32_t lanes = w->program->values[node->first_result].lanes;
  uint64_t *bits = indim_loop_alloc(&w->b, 2 * (size_t)lanes, sizeof *bits);
  for (int32_t k = 0; bits != NULL && k < lanes; k++) {
    memcpy(&bits[2 * k], &node->u.lanes.bits[2 * (k < old ? k : old - 1)], 2 * sizeof *bits);
  }
  node->u.lanes.bits = bits;
}

// Adjusts the map to args that have more lanes now.
static void widen_map(widening *w, indim_loop_node *node) {
  int32_t old = w->lanes[node->first_result];
  int32_t lanes = w->program->values[node->first_result].lanes;
  int32_t *map = indim_loop_alloc(&w->b, (size_t)lanes, sizeof *map);
  for (int32_t k = 0; map != NULL && k < lanes; k++) {
    int32_t from = k < old ? node->u.map[k] : -1;
    int32_t added = 0;
    int32_t i = 0;
    while (from >= 0 && from >= w->lanes[node->args[i]]) {
      from -= w->lanes[node->args[i]];
      added += w->program->values[node->args[i++]].lanes;
    }
    map[k] = from < 0 ? -1 : from + added;
  }
  node->u.map = map;
}

// Keeps args and result at their original lanes.
static void keep_narrow(widening *w, indim_loop_node *node, indim_node_list *list) {
  for (int32_t i = 0; i < node->arg_count && w->b.status == INDIM_OK; i++) {
    indim_value_id v = node->args[i];
    if (is_widened(w, v)) {
      indim_value_id narrow = indim_loop_new_value(&w->b, w->program->values[v].type, w->lanes[v], list->body);
      emit_copy(w, narrow, v, w->lanes[v], list);
      node->args[i] = narrow;
    }
  }
  indim_nodes_append(list, node);
  indim_value_id v = node->first_result;
  if (node->result_count > 0 && is_widened(w, v) && w->b.status == INDIM_OK) {
    indim_value_id narrow = indim_loop_new_value(&w->b, w->program->values[v].type, w->lanes[v], list->body);
    node->first_result = narrow;
    w->program->values[narrow].node = node;
    emit_copy(w, v, narrow, w->lanes[v], list);
  }
}

static void widen_body(widening *w, indim_loop_body *body) {
  indim_node_list list = {.body = body};
  for (indim_loop_node *node = body->first; node != NULL && w->b.status == INDIM_OK;) {
    indim_loop_node *next = node->next;
    for (int32_t k = 0; k < 2 && node->bodies[k] != NULL; k++) {
      widen_body(w, node->bodies[k]);
    }
    if (node->bodies[0] == NULL && !is_lanewise(w, node)) {
      keep_narrow(w, node, &list);
    } else {
      if (node->kind == INDIM_NODE_LANES) {
        widen_lanes(w, node);
      } else if (node->kind == INDIM_NODE_SHUFFLE) {
        widen_map(w, node);
      }
      indim_nodes_append(&list, node);
    }
    node = next;
  }
  if (w->b.status == INDIM_OK) {
    indim_nodes_become_body(&list);
  }
}

indim_status indim_pass_widen(indim_loop_program *program) {
  widening w = {.program = program, .limit = program->value_count};
  void *memory = NULL;
  bool any = false;
  size_t size = (size_t)w.limit * sizeof *w.lanes;
  INDIM_TRY(indim_alloc(program->cx, size, &memory));
  w.lanes = memory;
  for (int32_t v = 0; v < w.limit; v++) {
    w.lanes[v] = program->values[v].lanes;
  }
  for (int32_t v = 0; v < w.limit; v++) {
    if (is_widened(&w, v)) {
      program->values[v].lanes = power_above(w.lanes[v]);
      any = true;
    }
  }
  indim_loop_builder_init(&w.b, program);
  if (any) {
    widen_body(&w, program->body);
  }
  indim_loop_builder_deinit(&w.b);
  indim_free(program->cx, memory, size);
  return w.b.status;
}
