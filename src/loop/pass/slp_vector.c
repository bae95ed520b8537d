// Vectors of what SLP groups compute: made of scalars, and taken apart.
#include <string.h>

#include "loop/pass/slp.h"

static void source_of(const indim_slp *p, indim_value_id value, indim_value_id *out_source, int32_t *out_lane) {
  const indim_loop_node *node = p->program->values[value].node;
  *out_source = value;
  *out_lane = 0;
  if (value < p->limit && p->vector[value] != 0) {
    *out_source = p->vector[value];
    *out_lane = p->lane[value];
  } else if (node != NULL && node->kind == INDIM_NODE_EXTRACT) {
    *out_source = node->args[0];
    *out_lane = node->u.lane;
  }
}

// The vector whose lanes are the values in order, or 0.
static indim_value_id whole_vector(const indim_slp *p, int32_t count, const indim_value_id *values) {
  int32_t lanes = p->program->values[values[0]].lanes;
  indim_value_id vector = 0;
  for (int32_t i = 0; i < count; i++) {
    indim_value_id source = 0;
    int32_t lane = 0;
    source_of(p, values[i], &source, &lane);
    if ((i > 0 && source != vector) || lane != i * lanes) {
      return 0;
    }
    vector = source;
  }
  return p->program->values[vector].lanes == count * lanes ? vector : 0;
}

// The innermost body where all of the values are in scope.
static indim_loop_body *scope_of(const indim_slp *p, int32_t count, const indim_value_id *values) {
  indim_loop_body *body = p->program->body;
  for (int32_t i = 0; i < count; i++) {
    indim_loop_body *own = p->program->values[values[i]].body;
    body = own->depth > body->depth ? own : body;
  }
  return body;
}

// A constant node of the values, or NULL when one is not constant.
static indim_loop_node *make_constant(indim_slp *p, int32_t count, const indim_value_id *values) {
  for (int32_t i = 0; i < count; i++) {
    const indim_loop_node *node = p->program->values[values[i]].node;
    if (node == NULL || node->kind != INDIM_NODE_CONST) {
      return NULL;
    }
  }
  int32_t lanes = p->program->values[values[0]].lanes;
  indim_loop_node *node =
      indim_loop_new_node(&p->b, indim_loop_all_same(count, values) ? INDIM_NODE_CONST : INDIM_NODE_LANES, 0, NULL);
  if (node == NULL || indim_loop_all_same(count, values)) {
    if (node != NULL) {
      node->u = p->program->values[values[0]].node->u;
    }
    return node;
  }
  uint64_t *bits = indim_loop_alloc(&p->b, 2 * (size_t)(count * lanes), sizeof *bits);
  for (int32_t k = 0; bits != NULL && k < count * lanes; k++) {
    memcpy(&bits[2 * k], p->program->values[values[k / lanes]].node->u.constant.bits, 2 * sizeof *bits);
  }
  node->u.lanes.bits = bits;
  return node;
}

static void record_gather(indim_slp *p, indim_loop_body *body, indim_loop_node *node, int32_t count,
                          const indim_value_id *values) {
  indim_slp_gather *gather = indim_loop_scratch(&p->b, &p->arena, 1, sizeof *gather);
  indim_value_id *copy = indim_loop_scratch(&p->b, &p->arena, count, sizeof *copy);
  indim_slp_body *entry = indim_slp_body_of(p, body);
  if (p->b.status != INDIM_OK || entry == NULL) {
    return;
  }
  memcpy(copy, values, (size_t)count * sizeof *copy);
  *gather = (indim_slp_gather){.next = entry->gathers, .node = node, .count = count, .values = copy};
  entry->gathers = gather;
  for (int32_t i = 0; i < count; i++) {
    if (values[i] < p->limit) {
      p->gathered[values[i]]++;
    }
  }
}

indim_value_id indim_slp_make_vector(indim_slp *p, indim_node_list *list, int32_t count, const indim_value_id *values) {
  if (p->b.status != INDIM_OK) {
    return 0;
  }
  indim_value_id whole = whole_vector(p, count, values);
  if (whole != 0) {
    return whole;
  }
  indim_type type = p->program->values[values[0]].type;
  int32_t lanes = p->program->values[values[0]].lanes;
  indim_loop_body *scope = scope_of(p, count, values);
  indim_loop_node *node = make_constant(p, count, values);
  if (p->b.status == INDIM_OK && node == NULL) {
    bool is_splat = lanes == 1 && indim_loop_all_same(count, values);
    node = indim_loop_new_node(&p->b, is_splat ? INDIM_NODE_SPLAT : INDIM_NODE_SHUFFLE, 1, values);
    if (node != NULL && !is_splat) {
      indim_slp_fill_shuffle(p, node, count, values);
      record_gather(p, scope, node, count, values);
    }
  }
  if (scope != list->body) {  // before the control node in |scope| that encloses |list|
    indim_loop_body *inner = list->body;
    while (inner->outer != scope) {
      inner = inner->outer;
    }
    list = &indim_slp_body_of(p, inner)->before;
  }
  return indim_nodes_put(&p->b, list, node, type, count * lanes);
}

void indim_slp_take(indim_slp *p, indim_node_list *list, indim_value_id value, indim_value_id vector, int32_t lane) {
  int32_t lanes = p->program->values[value].lanes;
  indim_loop_node *node = indim_loop_new_node(&p->b, lanes == 1 ? INDIM_NODE_EXTRACT : INDIM_NODE_SHUFFLE, 1, &vector);
  if (node == NULL) {
    return;
  }
  if (lanes == 1) {
    node->u.lane = lane;
  } else {
    int32_t *map = indim_loop_alloc(&p->b, (size_t)lanes, sizeof *map);
    for (int32_t k = 0; map != NULL && k < lanes; k++) {
      map[k] = lane + k;
    }
    node->u.map = map;
  }
  indim_nodes_put_as(&p->b, list, node, value);
  p->vector[value] = vector;
  p->lane[value] = lane;
}

void indim_slp_fill_shuffle(indim_slp *p, indim_loop_node *node, int32_t count, const indim_value_id *values) {
  int32_t lanes = p->program->values[values[0]].lanes;
  indim_value_id *sources = indim_loop_alloc(&p->b, (size_t)count, sizeof *sources);
  int32_t *map = indim_loop_alloc(&p->b, (size_t)(count * lanes), sizeof *map);
  int32_t source_count = 0;
  for (int32_t i = 0; i < count && p->b.status == INDIM_OK; i++) {
    indim_value_id source = 0;
    int32_t lane = 0;
    source_of(p, values[i], &source, &lane);
    int32_t at = 0;
    for (; at < source_count && sources[at] != source; at++) {
      lane += p->program->values[sources[at]].lanes;
    }
    if (at == source_count) {
      sources[source_count++] = source;
    }
    for (int32_t k = 0; k < lanes; k++) {
      map[i * lanes + k] = lane + k;
    }
  }
  node->args = sources;
  node->arg_count = source_count;
  node->u.map = map;
}
