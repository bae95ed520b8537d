// The verifier of loop programs: the walk over the nodes, SSA scoping, and the control nodes. A broken rule is a
// compiler bug, so the status is INTERNAL; every rule is checked from the program alone, independent of the builder's
// state.
#include "loop/verify/verify.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/size.h"

static const indim_loop_value *value_of(const indim_loop_verifier *v, indim_value_id value) {
  return &v->program->values[value];
}

// Storages --------------------------------------------------------------------------------------------------------------

static int64_t bytes_of(const indim_storage *storage) {
  return indim_index_mul_saturated(storage->elements, indim_type_bytes(storage->type));
}

static indim_status check_storage(const indim_loop_verifier *v, const indim_storage *storage, int32_t index) {
  const indim_loop_program *program = v->program;
  const char *wrong = NULL;
  if (storage->index != index) {
    wrong = "is listed at another index than its own";
  } else if (!indim_type_is_array(storage->type) || storage->elements < 0) {
    wrong = "is not an array";
  } else if (storage->shares < 0 || storage->shares > program->storage_count) {
    wrong = "shares the bytes of a storage that does not exist";
  } else if (storage->kind == INDIM_STORAGE_CONSTANT && storage->data == NULL && storage->elements > 0) {
    wrong = "is a constant without data";
  } else if (storage->kind == INDIM_STORAGE_ARGUMENT && program->argument_count > 0 &&
             (storage->number < 0 || storage->number >= program->argument_count)) {
    wrong = "is an argument beyond the last";
  } else if (storage->kind == INDIM_STORAGE_RESULT && program->result_count > 0 &&
             (storage->number < 0 || storage->number >= program->result_count)) {
    wrong = "is a result beyond the last";
  } else if (storage->shares != 0 && bytes_of(program->storages[storage->shares - 1]) < bytes_of(storage)) {
    wrong = "shares the bytes of a smaller storage";
  }
  return wrong == NULL ? INDIM_OK
                       : indim_verify_fail_node(v, NULL, "storage %d (%s) %s", (int)index, storage->name, wrong);
}

// Fills |roots|: follows |shares| to the end, each storage once.
static indim_status find_roots(indim_loop_verifier *v) {
  indim_storage *const *storages = v->program->storages;
  int32_t count = v->program->storage_count;
  for (int32_t i = 0; i < count; i++) {
    INDIM_TRY(check_storage(v, storages[i], i));
    v->roots[i] = -1;
  }
  for (int32_t i = 0; i < count; i++) {
    int32_t at = i;
    int32_t steps = 0;
    while (v->roots[at] < 0 && storages[at]->shares != 0) {
      if (steps++ > count) {
        return indim_verify_fail_node(v, NULL, "storage %d (%s) shares its own bytes", (int)i, storages[i]->name);
      }
      at = storages[at]->shares - 1;
    }
    int32_t root = v->roots[at] < 0 ? at : v->roots[at];
    for (at = i; v->roots[at] < 0; at = at == root ? at : storages[at]->shares - 1) {
      v->roots[at] = root;
    }
  }
  return INDIM_OK;
}

// Scopes ----------------------------------------------------------------------------------------------------------------

static indim_status enter(indim_loop_verifier *v, const indim_loop_body *body) {
  if (v->open_count == v->open_capacity) {
    int32_t capacity = v->open_capacity == 0 ? 16 : v->open_capacity * 2;
    void *memory = (void *)v->open;
    indim_status status = indim_resize(v->program->cx, &memory, (size_t)v->open_capacity * sizeof *v->open,
                                       (size_t)capacity * sizeof *v->open);
    INDIM_TRY(status);
    v->open = memory;
    v->open_capacity = capacity;
  }
  const indim_loop_body *outer = v->open_count == 0 ? NULL : v->open[v->open_count - 1];
  if (body->depth != v->open_count || body->outer != outer) {
    return indim_verify_fail_node(v, body->owner, "a body claims depth %d, but is at %d", (int)body->depth,
                                  (int)v->open_count);
  }
  v->open[v->open_count++] = body;
  return INDIM_OK;
}

static indim_status check_in_scope(const indim_loop_verifier *v, const indim_loop_node *node, int32_t count,
                                   const indim_value_id *values) {
  for (int32_t i = 0; i < count; i++) {
    if (values[i] <= 0 || values[i] >= v->program->value_count || !v->is_defined[values[i]]) {
      return indim_verify_fail_node(v, node, "v%d is not defined before its use", (int)values[i]);
    }
    const indim_loop_body *body = value_of(v, values[i])->body;
    if (body->depth >= v->open_count || v->open[body->depth] != body) {
      return indim_verify_fail_node(v, node, "v%d is not in scope here", (int)values[i]);
    }
  }
  return INDIM_OK;
}

// Records the definition of a value in |body| by |node| (NULL: a body parameter), and that it is the only one.
static indim_status define(indim_loop_verifier *v, const indim_loop_node *at, indim_value_id value,
                           const indim_loop_body *body, const indim_loop_node *node) {
  if (value <= 0 || value >= v->program->value_count || v->is_defined[value]) {
    return indim_verify_fail_node(v, at, "v%d is defined twice or is not a value", (int)value);
  }
  const indim_loop_value *defined = value_of(v, value);
  if (defined->body != body || defined->node != node) {
    return indim_verify_fail_node(v, at, "v%d names another definition", (int)value);
  }
  if (!indim_type_is_array(defined->type) || defined->lanes < 1) {
    return indim_verify_fail_node(v, at, "v%d has %d lanes of %s", (int)value, (int)defined->lanes,
                                  indim_type_text(defined->type));
  }
  v->is_defined[value] = true;
  return INDIM_OK;
}

// Control ---------------------------------------------------------------------------------------------------------------

static bool same_type(const indim_loop_verifier *v, indim_value_id x, indim_value_id y) {
  return value_of(v, x)->type == value_of(v, y)->type && value_of(v, x)->lanes == value_of(v, y)->lanes;
}

static bool is_scalar(const indim_loop_verifier *v, indim_value_id x, indim_type type) {
  return value_of(v, x)->type == type && value_of(v, x)->lanes == 1;
}

static indim_status check_for(const indim_loop_verifier *v, const indim_loop_node *node) {
  if (node->arg_count < 2 || !is_scalar(v, node->args[0], INDIM_S64) || !is_scalar(v, node->args[1], INDIM_S64)) {
    return indim_verify_fail_node(v, node, "begin and end must be s64 scalars");
  }
  if (node->u.loop.step <= 0) {
    return indim_verify_fail_node(v, node, "the step is %lld", (long long)node->u.loop.step);
  }
  if (!node->u.loop.is_parallel) {
    return INDIM_OK;
  }
  if (node->arg_count != 2 || node->u.loop.grain < 1) {
    return indim_verify_fail_node(v, node, "a parallel loop carries %d values, its grain is %lld",
                                  (int)node->arg_count - 2, (long long)node->u.loop.grain);
  }
  for (int32_t i = 1; i < v->open_count; i++) {
    if (v->open[i]->owner->kind == INDIM_NODE_FOR) {
      return indim_verify_fail_node(v, node, "a parallel loop inside another loop");
    }
  }
  return INDIM_OK;
}

static indim_status check_control(const indim_loop_verifier *v, const indim_loop_node *node) {
  if (node->kind == INDIM_NODE_FOR) {
    return check_for(v, node);
  }
  if (node->kind == INDIM_NODE_IF && !is_scalar(v, node->args[0], INDIM_PRED)) {
    return indim_verify_fail_node(v, node, "the condition must be a scalar pred");
  }
  return INDIM_OK;
}

// The body parameters: for a for the index and the carried values, for a while the carried values.
static indim_status check_parameters(indim_loop_verifier *v, const indim_loop_body *body) {
  const indim_loop_node *owner = body->owner;
  int32_t index_count = owner->kind == INDIM_NODE_FOR ? 1 : 0;
  int32_t carried = owner->kind == INDIM_NODE_FOR ? owner->arg_count - 2 : owner->arg_count;
  int32_t count = owner->kind == INDIM_NODE_IF ? 0 : carried + index_count;
  if (body->parameter_count != count) {
    return indim_verify_fail_node(v, owner, "a body has %d parameters, expected %d", (int)body->parameter_count,
                                  (int)count);
  }
  for (int32_t i = 0; i < count; i++) {
    indim_value_id parameter = body->first_parameter + i;
    INDIM_TRY(define(v, owner, parameter, body, NULL));
    indim_value_id like = owner->kind == INDIM_NODE_FOR ? owner->args[i == 0 ? 0 : i + 1] : owner->args[i];
    if (!same_type(v, parameter, like)) {
      return indim_verify_fail_node(v, owner, "parameter v%d is not of v%d's type", (int)parameter, (int)like);
    }
    int64_t low = INT64_MIN;
    int64_t high = INT64_MAX;
    if (i < index_count) {
      indim_loop_for_range(v->program, owner->args[0], owner->args[1], owner->u.loop.step, &low, &high);
    }
    if (value_of(v, parameter)->low > low || value_of(v, parameter)->high < high) {
      return indim_verify_fail_node(v, owner, "v%d may be outside of its range", (int)parameter);
    }
  }
  return INDIM_OK;
}

// What |body| yields: a while's first body one scalar pred, the others the node's carried values or results.
static indim_status check_yields(const indim_loop_verifier *v, const indim_loop_body *body) {
  const indim_loop_node *owner = body->owner;
  if (owner == NULL) {
    return body->yield_count == 0 ? INDIM_OK : indim_verify_fail_node(v, NULL, "the program's own body yields values");
  }
  if (!body->is_closed) {
    return indim_verify_fail_node(v, owner, "a body was not closed");
  }
  INDIM_TRY(check_in_scope(v, owner, body->yield_count, body->yields));
  if (owner->kind == INDIM_NODE_WHILE && body == owner->bodies[0]) {
    bool is_right = body->yield_count == 1 && is_scalar(v, body->yields[0], INDIM_PRED);
    return is_right ? INDIM_OK : indim_verify_fail_node(v, owner, "the condition must yield a scalar pred");
  }
  if (body->yield_count != owner->result_count) {
    return indim_verify_fail_node(v, owner, "a body yields %d values, expected %d", (int)body->yield_count,
                                  (int)owner->result_count);
  }
  for (int32_t i = 0; i < body->yield_count; i++) {
    indim_value_id result = owner->first_result + i;
    if (result <= 0 || result >= v->program->value_count || !same_type(v, body->yields[i], result)) {
      return indim_verify_fail_node(v, owner, "yielded v%d is not of result %d's type", (int)body->yields[i], (int)i);
    }
    if (owner->kind == INDIM_NODE_IF && (value_of(v, result)->low > value_of(v, body->yields[i])->low ||
                                         value_of(v, result)->high < value_of(v, body->yields[i])->high)) {
      return indim_verify_fail_node(v, owner, "v%d may be outside of its range", (int)result);
    }
  }
  return INDIM_OK;
}

static indim_status check_results(indim_loop_verifier *v, const indim_loop_node *node) {
  bool is_for = node->kind == INDIM_NODE_FOR;
  int32_t skipped = is_for ? 2 : 0;
  if (node->kind != INDIM_NODE_IF && node->result_count != node->arg_count - skipped) {
    return indim_verify_fail_node(v, node, "a loop that carries %d values has %d results",
                                  (int)node->arg_count - (int)skipped, (int)node->result_count);
  }
  for (int32_t i = 0; i < node->result_count; i++) {
    INDIM_TRY(define(v, node, node->first_result + i, node->body, node));
    const indim_loop_value *result = value_of(v, node->first_result + i);
    if (node->kind != INDIM_NODE_IF && !same_type(v, node->args[i + skipped], node->first_result + i)) {
      return indim_verify_fail_node(v, node, "result %d is not of the carried value's type", (int)i);
    }
    if (node->kind != INDIM_NODE_IF && (result->low != INT64_MIN || result->high != INT64_MAX)) {
      return indim_verify_fail_node(v, node, "v%d may be outside of its range", (int)(node->first_result + i));
    }
  }
  return INDIM_OK;
}

// Nodes -----------------------------------------------------------------------------------------------------------------

static bool touches_memory(const indim_loop_node *node) {
  indim_node_group group = indim_node_group_of(node->kind);
  return group == INDIM_GROUP_LOAD || group == INDIM_GROUP_WRITE || group == INDIM_GROUP_HINT ||
         group == INDIM_GROUP_HOST;
}

// Rules for every node: its body, the number of its arguments and bodies, and that the arguments are in scope.
static indim_status check_shape(const indim_loop_verifier *v, const indim_loop_node *node) {
  static const struct {
    int args, regions;
  } rows[] = {
#define INDIM_NODE(name, text, args, regions, group, meaning) {args, regions},
#include "loop/ir/nodes.def"
  };
  if ((unsigned)node->kind >= INDIM_NODE_COUNT) {
    return indim_verify_fail_node(v, NULL, "a node of an invalid kind");
  }
  if (node->body != v->open[v->open_count - 1]) {
    return indim_verify_fail_node(v, node, "a node is in another body than it names");
  }
  if (node->arg_count < 0 || (rows[node->kind].args >= 0 && node->arg_count != rows[node->kind].args)) {
    return indim_verify_fail_node(v, node, "a node has %d arguments, expected %d", (int)node->arg_count,
                                  rows[node->kind].args);
  }
  int regions = (node->bodies[0] != NULL) + (node->bodies[1] != NULL);
  if (regions != rows[node->kind].regions || (regions == 1 && node->bodies[0] == NULL)) {
    return indim_verify_fail_node(v, node, "a node has %d bodies, expected %d", regions, rows[node->kind].regions);
  }
  return check_in_scope(v, node, node->arg_count, node->args);
}

// A node without bodies.
static indim_status check_plain(indim_loop_verifier *v, const indim_loop_node *node) {
  bool is_memory = touches_memory(node);
  int32_t expected = is_memory && node->kind != INDIM_NODE_LOAD ? 0 : 1;
  if (node->result_count != expected) {
    return indim_verify_fail_node(v, node, "a node defines %d values, expected %d", (int)node->result_count,
                                  (int)expected);
  }
  if (expected == 1) {
    INDIM_TRY(define(v, node, node->first_result, node->body, node));
  }
  return is_memory ? indim_loop_verify_memory(v, node) : indim_loop_verify_value(v, node);
}

// The walk --------------------------------------------------------------------------------------------------------------

// Enters body |which| of a control node.
static indim_status enter_body(indim_loop_verifier *v, const indim_loop_node *node, int which) {
  const indim_loop_body *body = node->bodies[which];
  if (body->owner != node) {
    return indim_verify_fail_node(v, node, "a body names another owner");
  }
  INDIM_TRY(enter(v, body));
  INDIM_TRY(check_parameters(v, body));
  if (node->kind == INDIM_NODE_FOR) {
    bool runs_never = value_of(v, node->args[0])->low >= value_of(v, node->args[1])->high;
    v->dead = v->dead == 0 && runs_never ? body->depth : v->dead;
    if (node->u.loop.is_parallel) {
      v->parallel = node;
      v->access_count = 0;
    }
  }
  return INDIM_OK;
}

// Leaves the innermost body; |*out_node| is the next node to visit: in the second body, or after the owner. The
// program's own body has no owner: |*out_node| is NULL and no body is open any more.
static indim_status leave_body(indim_loop_verifier *v, const indim_loop_node **out_node) {
  const indim_loop_body *body = v->open[v->open_count - 1];
  const indim_loop_node *owner = body->owner;
  INDIM_TRY(check_yields(v, body));
  v->dead = v->dead == body->depth ? 0 : v->dead;
  if (owner != NULL && v->parallel == owner) {
    INDIM_TRY(indim_loop_verify_parallel(v));
    v->parallel = NULL;
  }
  v->open_count--;
  *out_node = NULL;
  if (owner == NULL) {
    return INDIM_OK;
  }
  if (body == owner->bodies[0] && owner->bodies[1] != NULL) {
    INDIM_TRY(enter_body(v, owner, 1));
    *out_node = owner->bodies[1]->first;
    return INDIM_OK;
  }
  *out_node = owner->next;
  return check_results(v, owner);
}

static indim_status walk(indim_loop_verifier *v) {
  const indim_loop_node *node = v->program->body->first;
  if (v->program->body->owner != NULL) {
    return indim_verify_fail_node(v, NULL, "the program's own body has an owner");
  }
  INDIM_TRY(enter(v, v->program->body));
  while (v->open_count > 0) {
    if (node == NULL) {
      INDIM_TRY(leave_body(v, &node));
      continue;
    }
    INDIM_TRY(check_shape(v, node));
    if (indim_node_group_of(node->kind) != INDIM_GROUP_CONTROL) {
      INDIM_TRY(check_plain(v, node));
      node = node->next;
    } else {
      INDIM_TRY(check_control(v, node));
      INDIM_TRY(enter_body(v, node, 0));
      node = node->bodies[0]->first;
    }
  }
  return INDIM_OK;
}

indim_status indim_loop_verifier_init(indim_loop_verifier *v, const indim_loop_program *program) {
  *v = (indim_loop_verifier){.program = program};
  size_t value_bytes = (size_t)program->value_count * sizeof(bool);
  size_t root_bytes = (size_t)program->storage_count * sizeof(int32_t);
  void *defined = NULL;
  void *roots = NULL;
  indim_status status = indim_alloc_zeroed(program->cx, value_bytes, &defined);
  if (status == INDIM_OK) {
    v->is_defined = defined;
    v->value_count = program->value_count;
    status = indim_alloc(program->cx, root_bytes, &roots);
  }
  v->roots = roots;
  return status == INDIM_OK ? find_roots(v) : status;
}

void indim_loop_verifier_deinit(indim_loop_verifier *v) {
  indim_ctx *cx = v->program->cx;
  indim_free(cx, v->is_defined, (size_t)v->value_count * sizeof *v->is_defined);
  indim_free(cx, v->roots, (size_t)v->program->storage_count * sizeof *v->roots);
  indim_free(cx, (void *)v->open, (size_t)v->open_capacity * sizeof *v->open);
  indim_free(cx, v->accesses, v->access_capacity * sizeof *v->accesses);
}

indim_status indim_loop_verify(const indim_loop_program *program) {
  indim_loop_verifier v;
  indim_status status = indim_loop_verifier_init(&v, program);
  if (status == INDIM_OK) {
    status = walk(&v);
  }
  indim_loop_verifier_deinit(&v);
  return status;
}
