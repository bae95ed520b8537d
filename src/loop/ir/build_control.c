// Control: for, if and while. The node is created at the begin and appended to its body at its end; until then it is
// reached as the owner of the open body.
#include "loop/ir/build.h"

// The node whose body is open, if of this kind; else NULL, and INTERNAL.
static indim_loop_node *open_node(indim_loop_builder *b, indim_node_kind kind) {
  if (b->status != INDIM_OK) {
    return NULL;
  }
  indim_loop_node *node = b->body->owner;
  if (node == NULL || node->kind != kind) {
    indim_loop_refuse(b, "the end of a control node that is not open");
    return NULL;
  }
  return node;
}

// Opens body |which| of |node|.
static indim_loop_body *open_body(indim_loop_builder *b, indim_loop_node *node, int32_t which) {
  indim_loop_body *body = indim_loop_alloc(b, 1, sizeof(indim_loop_body));
  if (body == NULL) {
    return NULL;
  }
  body->owner = node;
  body->outer = node->body;
  body->depth = node->body->depth + 1;
  node->bodies[which] = body;
  b->body = body;
  return body;
}

static void close_body(indim_loop_builder *b, int32_t count, const indim_value_id *yields) {
  indim_loop_body *body = b->body;
  if (!indim_loop_check_in_scope(b, count, yields)) {
    return;
  }
  body->yields = count == 0 ? NULL : indim_loop_copy_of(b, yields, (size_t)count * sizeof *yields);
  body->yield_count = b->status == INDIM_OK ? count : 0;
  body->is_closed = true;
  b->body = body->outer;
}

static void zero(int32_t count, indim_value_id *out) {
  for (int32_t i = 0; i < count; i++) {
    out[i] = 0;
  }
}

// Adds one parameter to |body| for each of |like|, of the same types and lanes.
static void add_parameters(indim_loop_builder *b, indim_loop_body *body, int32_t count, const indim_value_id *like,
                           indim_value_id *out) {
  for (int32_t i = 0; i < count; i++) {
    indim_loop_value value = *indim_loop_value_of(b, like[i]);
    out[i] = indim_loop_new_value(b, value.type, value.lanes, body);
    if (body->parameter_count == 0) {
      body->first_parameter = out[i];
    }
    body->parameter_count++;
  }
  if (b->status != INDIM_OK) {
    zero(count, out);
  }
}

// Appends the node to its body, with one result for each of |like|.
static void finish(indim_loop_builder *b, indim_loop_node *node, int32_t count, const indim_value_id *like,
                   indim_value_id *out_results) {
  for (int32_t i = 0; i < count && b->status == INDIM_OK; i++) {
    indim_loop_value value = *indim_loop_value_of(b, like[i]);
    indim_value_id result = indim_loop_new_value(b, value.type, value.lanes, node->body);
    if (result != 0) {
      b->program->values[result].node = node;
      node->first_result = i == 0 ? result : node->first_result;
      out_results[i] = result;
    }
  }
  if (b->status == INDIM_OK) {
    node->result_count = count;
    indim_loop_append(node->body, node);
  }
}

// A control node for the present body.
static indim_loop_node *begin_node(indim_loop_builder *b, indim_node_kind kind, int32_t count,
                                   const indim_value_id *args) {
  indim_loop_node *node = indim_loop_check_in_scope(b, count, args) ? indim_loop_new_node(b, kind, count, args) : NULL;
  if (node != NULL) {
    node->body = b->body;
  }
  return node;
}

indim_value_id indim_loop_for_begin(indim_loop_builder *b, indim_value_id begin, indim_value_id end, int64_t step,
                                    int32_t count, const indim_value_id *carried, indim_value_id *out_carried) {
  zero(count, out_carried);
  const indim_value_id bounds[2] = {begin, end};
  if (step <= 0) {
    indim_loop_refuse(b, "a for loop with step %lld", (long long)step);
  }
  if (!indim_loop_check_in_scope(b, 2, bounds) || !indim_loop_check_in_scope(b, count, carried)) {
    return 0;
  }
  indim_loop_node *node = begin_node(b, INDIM_NODE_FOR, 2, bounds);
  indim_value_id *args = indim_loop_alloc(b, (size_t)count + 2, sizeof *args);
  if (node == NULL || args == NULL) {
    return 0;
  }
  args[0] = begin;
  args[1] = end;
  for (int32_t i = 0; i < count; i++) {
    args[i + 2] = carried[i];
  }
  node->args = args;
  node->arg_count = count + 2;
  node->u.loop.step = step;
  node->u.loop.grain = 1;
  indim_loop_body *body = open_body(b, node, 0);
  if (body == NULL) {
    return 0;
  }
  indim_value_id index = 0;
  add_parameters(b, body, 1, &begin, &index);
  add_parameters(b, body, count, carried, out_carried);
  if (b->status == INDIM_OK) {
    indim_loop_for_range(b->program, begin, end, step, &b->program->values[index].low, &b->program->values[index].high);
    b->program->values[index].step = indim_loop_is_multiple(&b->program->values[begin], step) ? step : 0;
  }
  return b->status == INDIM_OK ? index : 0;
}

void indim_loop_for_parallel(indim_loop_builder *b, int64_t grain) {
  indim_loop_node *node = open_node(b, INDIM_NODE_FOR);
  if (node != NULL && node->arg_count != 2) {
    indim_loop_refuse(b, "a parallel loop carries %d values", (int)(node->arg_count - 2));
  } else if (node != NULL) {
    node->u.loop.is_parallel = true;
    node->u.loop.grain = grain > 0 ? grain : 1;
  }
}

void indim_loop_for_end(indim_loop_builder *b, const indim_value_id *yields, indim_value_id *out_results) {
  indim_loop_node *node = open_node(b, INDIM_NODE_FOR);
  if (node != NULL) {
    close_body(b, node->arg_count - 2, yields);
    finish(b, node, node->arg_count - 2, node->args + 2, out_results);
  }
}

void indim_loop_if_begin(indim_loop_builder *b, indim_value_id pred) {
  indim_loop_node *node = begin_node(b, INDIM_NODE_IF, 1, &pred);
  if (node != NULL) {
    open_body(b, node, 0);
  }
}

void indim_loop_if_else(indim_loop_builder *b, int32_t count, const indim_value_id *yields) {
  indim_loop_node *node = open_node(b, INDIM_NODE_IF);
  if (node != NULL && node->bodies[1] != NULL) {
    indim_loop_refuse(b, "a second else");
  } else if (node != NULL) {
    close_body(b, count, yields);
    open_body(b, node, 1);
  }
}

void indim_loop_if_end(indim_loop_builder *b, const indim_value_id *yields, indim_value_id *out_results) {
  indim_loop_node *node = open_node(b, INDIM_NODE_IF);
  if (node != NULL && node->bodies[1] == NULL) {
    indim_loop_refuse(b, "an if without its else");
  } else if (node != NULL) {
    close_body(b, node->bodies[0]->yield_count, yields);
    finish(b, node, node->bodies[0]->yield_count, node->bodies[0]->yields, out_results);
    for (int32_t i = 0; i < node->result_count && b->status == INDIM_OK; i++) {
      indim_loop_value *value = &b->program->values[node->first_result + i];
      const indim_loop_value *x = indim_loop_value_of(b, node->bodies[0]->yields[i]);
      const indim_loop_value *y = indim_loop_value_of(b, node->bodies[1]->yields[i]);
      value->low = x->low < y->low ? x->low : y->low;
      value->high = x->high > y->high ? x->high : y->high;
    }
  }
}

void indim_loop_while_begin(indim_loop_builder *b, int32_t count, const indim_value_id *carried,
                            indim_value_id *out_carried) {
  zero(count, out_carried);
  indim_loop_node *node = begin_node(b, INDIM_NODE_WHILE, count, carried);
  indim_loop_body *body = node == NULL ? NULL : open_body(b, node, 0);
  if (body != NULL) {
    add_parameters(b, body, count, carried, out_carried);
  }
}

void indim_loop_while_body(indim_loop_builder *b, indim_value_id pred, indim_value_id *out_carried) {
  indim_loop_node *node = open_node(b, INDIM_NODE_WHILE);
  if (node == NULL) {
    return;
  }
  zero(node->arg_count, out_carried);
  if (node->bodies[1] != NULL) {
    indim_loop_refuse(b, "a second body of a while");
    return;
  }
  close_body(b, 1, &pred);
  indim_loop_body *body = b->status == INDIM_OK ? open_body(b, node, 1) : NULL;
  if (body != NULL) {
    add_parameters(b, body, node->arg_count, node->args, out_carried);
  }
}

void indim_loop_while_end(indim_loop_builder *b, const indim_value_id *yields, indim_value_id *out_results) {
  indim_loop_node *node = open_node(b, INDIM_NODE_WHILE);
  if (node != NULL && node->bodies[1] == NULL) {
    indim_loop_refuse(b, "a while without a body");
  } else if (node != NULL) {
    close_body(b, node->arg_count, yields);
    finish(b, node, node->arg_count, node->args, out_results);
  }
}
