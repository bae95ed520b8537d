// Rewriting of finished programs. See rewrite.h.
#include "loop/ir/rewrite.h"

// Lists -----------------------------------------------------------------------------------------------------------------

void indim_nodes_append(indim_node_list *list, indim_loop_node *node) {
  node->body = list->body;
  node->next = NULL;
  *(list->last == NULL ? &list->first : &list->last->next) = node;
  list->last = node;
}

void indim_nodes_append_all(indim_node_list *list, indim_node_list *more) {
  for (indim_loop_node *node = more->first; node != NULL;) {
    indim_loop_node *next = node->next;
    indim_nodes_append(list, node);
    node = next;
  }
  more->first = more->last = NULL;
}

// Sets the depths of |body| and of all nested bodies, outermost first.
static void set_depths(indim_loop_body *body) {
  body->depth = body->outer->depth + 1;
  for (indim_loop_node *node = body->first; node != NULL; node = indim_loop_next_in(body, node)) {
    for (int32_t k = 0; k < 2 && node->bodies[k] != NULL; k++) {
      node->bodies[k]->depth = node->body->depth + 1;
    }
  }
}

void indim_nodes_move(indim_loop_program *program, indim_node_list *list, indim_loop_node *node) {
  indim_nodes_append(list, node);
  for (int32_t i = 0; i < node->result_count; i++) {
    program->values[node->first_result + i].body = list->body;
  }
  for (int32_t k = 0; k < 2 && node->bodies[k] != NULL; k++) {
    node->bodies[k]->outer = list->body;
    set_depths(node->bodies[k]);
  }
}

indim_loop_node **indim_nodes_insert(indim_node_list *list, indim_loop_node **link) {
  if (list->first == NULL) {
    return link;
  }
  list->last->next = *link;
  list->body->last = *link == NULL ? list->last : list->body->last;
  *link = list->first;
  return &list->last->next;
}

void indim_nodes_become_body(const indim_node_list *list) {
  list->body->first = list->first;
  list->body->last = list->last;
}

// New nodes -------------------------------------------------------------------------------------------------------------

void indim_nodes_put_as(indim_loop_builder *b, indim_node_list *list, indim_loop_node *node, indim_value_id value) {
  if (b->status == INDIM_OK) {
    node->first_result = value;
    node->result_count = 1;
    b->program->values[value].node = node;
    indim_nodes_append(list, node);
  }
}

indim_value_id indim_nodes_put(indim_loop_builder *b, indim_node_list *list, indim_loop_node *node, indim_type type,
                               int32_t lanes) {
  indim_value_id value = node == NULL ? 0 : indim_loop_new_value(b, type, lanes, list->body);
  if (value != 0) {
    indim_nodes_put_as(b, list, node, value);
  }
  return value;
}

indim_value_id indim_nodes_put_index(indim_loop_builder *b, indim_node_list *list, indim_loop_node *node) {
  indim_value_id value = indim_nodes_put(b, list, node, INDIM_S64, 1);
  if (value != 0) {
    indim_loop_value *made = &b->program->values[value];
    indim_loop_node_range(b->program, node, 1, &made->low, &made->high);
  }
  return value;
}

indim_value_id indim_nodes_put_const(indim_loop_builder *b, indim_node_list *list, indim_type type, int32_t lanes,
                                     uint64_t bits) {
  indim_loop_node *node = indim_loop_new_node(b, INDIM_NODE_CONST, 0, NULL);
  if (node == NULL) {
    return 0;
  }
  node->u.constant.bits[0] = bits;
  indim_value_id value = indim_nodes_put(b, list, node, type, lanes);
  if (value != 0 && type == INDIM_S64) {
    b->program->values[value].low = b->program->values[value].high = (int64_t)bits;
  }
  return value;
}

indim_value_id indim_nodes_put_sum(indim_loop_builder *b, indim_node_list *list, const indim_affine *sum) {
  if (sum->count == 0) {
    return indim_nodes_put_const(b, list, INDIM_S64, 1, (uint64_t)sum->low);
  }
  indim_loop_node *node = indim_loop_new_node(b, INDIM_NODE_AFFINE, sum->count, sum->terms);
  size_t size = (size_t)sum->count * sizeof *sum->coefficients;
  const int64_t *coefficients = indim_loop_copy_of(b, sum->coefficients, size);
  if (b->status != INDIM_OK) {
    return 0;
  }
  node->u.affine.constant = sum->low;
  node->u.affine.coefficients = coefficients;
  return indim_nodes_put_index(b, list, node);
}

indim_loop_node *indim_loop_new_for(indim_loop_builder *b, indim_loop_body *outer, const indim_value_id *bounds,
                                    int64_t step) {
  indim_loop_body *body = indim_loop_alloc(b, 1, sizeof *body);
  indim_loop_node *node = indim_loop_new_node(b, INDIM_NODE_FOR, 2, bounds);
  indim_value_id index = indim_loop_new_value(b, INDIM_S64, 1, body);
  if (b->status != INDIM_OK) {
    return NULL;
  }
  *body = (indim_loop_body){.owner = node, .outer = outer, .depth = outer->depth + 1, .is_closed = true};
  body->first_parameter = index;
  body->parameter_count = 1;
  indim_loop_value *value = &b->program->values[index];
  indim_loop_for_range(b->program, bounds[0], bounds[1], step, &value->low, &value->high);
  value->step = step;
  node->body = outer;
  node->bodies[0] = body;
  node->u.loop.step = step;
  node->u.loop.grain = 1;
  return node;
}

// Names -----------------------------------------------------------------------------------------------------------------

static void rename_values(int32_t value_count, indim_value_id *values, indim_value_id first, int32_t count,
                          const indim_value_id *to) {
  for (int32_t i = 0; i < value_count; i++) {
    bool is_among = values[i] >= first && values[i] - first < count;
    values[i] = is_among && to[values[i] - first] != 0 ? to[values[i] - first] : values[i];
  }
}

void indim_loop_rename(indim_loop_body *body, indim_value_id first, int32_t count, const indim_value_id *to) {
  rename_values(body->yield_count, body->yields, first, count, to);
  for (indim_loop_node *node = body->first; node != NULL; node = indim_loop_next_in(body, node)) {
    rename_values(node->arg_count, node->args, first, count, to);
    for (int32_t k = 0; k < 2 && node->bodies[k] != NULL; k++) {
      rename_values(node->bodies[k]->yield_count, node->bodies[k]->yields, first, count, to);
    }
  }
}

indim_value_id indim_loop_renumber(indim_loop_builder *b, indim_value_id old) {
  indim_loop_value value = b->program->values[old];
  indim_value_id now = indim_loop_new_value(b, value.type, value.lanes, value.body);
  if (now != 0) {
    b->program->values[now] = value;
  }
  return now;
}

// Passes ----------------------------------------------------------------------------------------------------------------

void *indim_loop_scratch(indim_loop_builder *b, indim_arena *arena, int64_t count, size_t size) {
  void *memory = NULL;
  if (b->status == INDIM_OK) {
    b->status = indim_arena_array(arena, (size_t)count, size, &memory);
  }
  return memory;
}

const bool *indim_loop_shared_storages(indim_loop_builder *b, indim_arena *arena) {
  const indim_loop_program *program = b->program;
  bool *is_shared = indim_loop_scratch(b, arena, program->storage_count, sizeof *is_shared);
  for (int32_t s = 0; s < program->storage_count && is_shared != NULL; s++) {
    if (program->storages[s]->shares != 0) {
      is_shared[s] = is_shared[program->storages[s]->shares - 1] = true;
    }
  }
  return is_shared;
}

bool indim_loop_all_same(int32_t count, const indim_value_id *values) {
  for (int32_t i = 1; i < count; i++) {
    if (values[i] != values[0]) {
      return false;
    }
  }
  return true;
}
