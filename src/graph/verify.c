// The whole module, checked: its parts hang together (operands before their users, called computations before their
// callers, so that nothing recurses), every declared shape is the one that the op's rule gives, and the entry's stated
// layout fits its parameters and root. A problem is reported where it stands and the rest is checked on: each rule uses
// the declared shapes of its operands, so that one mistake gives one message.
#include <inttypes.h>

#include "graph/infer.h"
#include "graph/infer_kit.h"

typedef struct verification {
  indim_ctx *cx;
  const indim_module *module;
  indim_arena arena;  // inferred tuples; emptied after each instruction
  bool failed;
  int32_t visited;
} verification;

enum { INSTRUCTIONS_PER_POLL = 1024 };

// A broken rule is noted and the check goes on; anything else (memory, a limit, an interruption) ends it.
static indim_status note(verification *v, indim_status status) {
  if (status == INDIM_INVALID || status == INDIM_UNSUPPORTED) {
    v->failed = true;
    return INDIM_OK;
  }
  return status;
}

// Whether the parts hang together -------------------------------------------------------------------------------------

static indim_status verify_before(indim_ctx *cx, const indim_instr *instr, const indim_instr *other, const char *what,
                                  int64_t number) {
  if (other == NULL) {
    return indim_fail_instr(cx, INDIM_INVALID, instr, "%s %" PRId64 " is missing", what, number);
  }
  if (other->computation != instr->computation) {
    return indim_fail_instr(cx, INDIM_INVALID, instr, "%s %" PRId64 " (%s) belongs to another computation, %s", what,
                            number, other->name.data, other->computation->name.data);
  }
  if (other->index >= instr->index) {
    return indim_fail_instr(cx, INDIM_INVALID, instr, "%s %" PRId64 " (%s) does not stand before it", what, number,
                            other->name.data);
  }
  return INDIM_OK;
}

static indim_status verify_called_before(indim_ctx *cx, const indim_instr *instr, const indim_attr *attr) {
  const indim_computation *caller = instr->computation;
  for (int64_t i = 0; i < attr->count; i++) {
    const indim_computation *called = attr->value.computations[i];
    if (called == NULL || called->module != caller->module) {
      return indim_fail_attr(cx, instr, attr->id, "%s= names a computation of another module",
                             indim_attr_text(attr->id));
    }
    if (called->index >= caller->index) {
      return indim_fail_attr(cx, instr, attr->id, "%s=%s does not stand before %s, which calls it: %s",
                             indim_attr_text(attr->id), called->name.data, caller->name.data,
                             called == caller ? "a computation cannot call itself" : "calls cannot go in circles");
    }
  }
  return INDIM_OK;
}

static bool takes_attr(indim_op op, indim_attr_id id) {
  int32_t cursor = 0;
  bool required = false;
  indim_attr_id other = id;
  while (indim_attr_next(op, &cursor, &other, &required)) {
    if (other == id) {
      return true;
    }
  }
  return false;
}

static indim_status verify_parts(indim_ctx *cx, const indim_instr *instr) {
  for (int32_t i = 0; i < instr->operand_count; i++) {
    INDIM_TRY(verify_before(cx, instr, instr->operands[i], "operand", i));
  }
  for (int32_t i = 0; i < instr->attr_count; i++) {
    const indim_attr *attr = &instr->attrs[i];
    if (!takes_attr(instr->op, attr->id)) {
      return indim_fail_attr(cx, instr, attr->id, "takes no attribute %s=", indim_attr_text(attr->id));
    }
    indim_attr_kind kind = indim_attr_kind_of(attr->id);
    if (kind == INDIM_KIND_COMPUTATION || kind == INDIM_KIND_COMPUTATIONS) {
      INDIM_TRY(verify_called_before(cx, instr, attr));
    } else if (kind == INDIM_KIND_INSTRS) {
      for (int64_t k = 0; k < attr->count; k++) {
        INDIM_TRY(verify_before(cx, instr, attr->value.instrs[k], "control predecessor", k));
      }
    }
  }
  return INDIM_OK;
}

// The declared shape ---------------------------------------------------------------------------------------------------

static bool same_shape(const indim_shape *declared, const indim_shape *inferred) {
  if (declared->type == INDIM_TUPLE && inferred->type == INDIM_TUPLE &&
      declared->member_count == inferred->member_count) {
    for (int64_t i = 0; i < declared->member_count; i++) {
      const indim_shape *a = declared->members[i];
      const indim_shape *b = inferred->members[i];
      if (a != b && !indim_shape_compatible(a, b)) {
        return false;
      }
    }
    return true;
  }
  return indim_shape_compatible(declared, inferred);
}

static indim_status verify_declared(indim_ctx *cx, const indim_instr *instr, const indim_shape *inferred) {
  if (same_shape(instr->shape, inferred)) {
    return INDIM_OK;
  }
  indim_shape_text declared_text;
  indim_shape_text inferred_text;
  indim_fail_instr(cx, INDIM_INVALID, instr, "declared %s, but %s %s", indim_shape_brief(instr->shape, &declared_text),
                   instr->op == INDIM_OP_CONSTANT ? "the value is" : "the result is",
                   indim_shape_brief(inferred, &inferred_text));
  if (indim_op_get(instr->op)->shape_inferred) {
    indim_hint(cx, "write %s, or leave the shape out", inferred_text.text);
  } else {
    indim_hint(cx, "write %s", inferred_text.text);
  }
  return INDIM_INVALID;
}

static int64_t count_leaves(const indim_shape *shape) {
  if (shape->type != INDIM_TUPLE) {
    return 1;
  }
  int64_t count = 0;
  for (int64_t i = 0; i < shape->member_count; i++) {
    count += count_leaves(shape->members[i]);
  }
  return count;
}

static indim_status verify_replication(indim_ctx *cx, const indim_instr *instr) {
  const indim_attr *attr = indim_instr_attr(instr, INDIM_ATTR_PARAMETER_REPLICATION);
  int64_t leaves = attr == NULL ? 0 : count_leaves(instr->shape);
  if (attr == NULL || attr->count == leaves) {
    return INDIM_OK;
  }
  return indim_fail_attr(cx, instr, attr->id, "parameter_replication= has length %" PRId64 " for %" PRId64 " array%s",
                         attr->count, leaves, leaves == 1 ? "" : "s");
}

static indim_status verify_shape(indim_ctx *cx, const indim_instr *instr, indim_arena *arena) {
  if (instr->shape == NULL) {
    return indim_fail_instr(cx, INDIM_INVALID, instr, "has no shape");
  }
  indim_status status = indim_shape_validate(cx, instr->shape, false);
  if (status != INDIM_OK) {
    if (instr->offset != INDIM_NO_OFFSET) {
      indim_place(cx, &instr->computation->module->source, instr->offset);
    }
    return status;
  }
  indim_shape inferred;
  INDIM_TRY(indim_infer_shape(cx, instr, arena, &inferred));
  INDIM_TRY(verify_declared(cx, instr, &inferred));
  return verify_replication(cx, instr);
}

// Instructions, computations, the module -------------------------------------------------------------------------------

static indim_status verify_instr(verification *v, const indim_computation *computation, int32_t index) {
  const indim_instr *instr = computation->instrs[index];
  if (++v->visited % INSTRUCTIONS_PER_POLL == 0) {
    INDIM_TRY(indim_poll(v->cx));
  }
  if (instr->index != index || instr->computation != computation || (unsigned)instr->op >= INDIM_OP_COUNT) {
    return indim_fail(v->cx, INDIM_INTERNAL, "instruction %d of computation %s is not where it says", (int)index,
                      computation->name.data);
  }
  indim_status status = verify_parts(v->cx, instr);
  if (status == INDIM_OK) {
    status = verify_shape(v->cx, instr, &v->arena);
    if (v->arena.blocks != NULL) {
      indim_arena_deinit(&v->arena);
      indim_arena_init(&v->arena, v->cx);
    }
  }
  return note(v, status);
}

// Parameters 0 to n-1, each once, as indim_computation_finish leaves them.
static indim_status verify_parameters(indim_ctx *cx, const indim_computation *computation) {
  int32_t count = 0;
  for (int32_t i = 0; i < computation->instr_count; i++) {
    const indim_instr *instr = computation->instrs[i];
    if (instr->op != INDIM_OP_PARAMETER) {
      continue;
    }
    int64_t number = instr->parameter_number;
    if (number < 0 || number >= computation->parameter_count || computation->parameters[number] != instr) {
      indim_fail_instr(cx, INDIM_INVALID, instr, "parameter number %" PRId64 " is not one of 0 to %d, each once",
                       number, (int)computation->parameter_count - 1);
      return INDIM_INVALID;
    }
    count++;
  }
  return count == computation->parameter_count
             ? INDIM_OK
             : indim_fail(cx, INDIM_INTERNAL, "computation %s counts %d parameters, has %d", computation->name.data,
                          (int)computation->parameter_count, (int)count);
}

static indim_status verify_computation(verification *v, const indim_computation *computation) {
  const indim_instr *root = computation->root;
  if (root == NULL || root->computation != computation || root->index < 0 || root->index >= computation->instr_count ||
      computation->instrs[root->index] != root) {
    return indim_fail(v->cx, INDIM_INVALID, "computation %s has no root of its own", computation->name.data);
  }
  for (int32_t i = 0; i < computation->instr_count; i++) {
    INDIM_TRY(verify_instr(v, computation, i));
  }
  return note(v, verify_parameters(v->cx, computation));
}

static indim_status verify_entry_result(indim_ctx *cx, const indim_module *module) {
  const indim_instr *root = module->entry->root;
  if (module->entry_result_shape == NULL || indim_shape_compatible(module->entry_result_shape, root->shape)) {
    return INDIM_OK;
  }
  indim_shape_text stated;
  indim_shape_text actual;
  return indim_fail_instr(cx, INDIM_INVALID, root, "entry_computation_layout= gives the result %s, but the root is %s",
                          indim_shape_brief(module->entry_result_shape, &stated),
                          indim_shape_brief(root->shape, &actual));
}

// The entry's stated layout: layouts may differ from the parameters' own, shapes may not.
static indim_status verify_entry(verification *v) {
  const indim_module *module = v->module;
  const indim_computation *entry = module->entry;
  if (module->entry_parameter_shapes == NULL && module->entry_result_shape == NULL) {
    return INDIM_OK;
  }
  if (module->entry_shape_count != entry->parameter_count) {
    INDIM_TRY(note(v, indim_fail_instr(v->cx, INDIM_INVALID, entry->root,
                                       "entry_computation_layout= has %" PRId64 " parameters, but %s has %d",
                                       module->entry_shape_count, entry->name.data, (int)entry->parameter_count)));
    return note(v, verify_entry_result(v->cx, module));
  }
  for (int32_t i = 0; i < entry->parameter_count; i++) {
    const indim_instr *parameter = entry->parameters[i];
    if (parameter->shape != NULL && !indim_shape_compatible(module->entry_parameter_shapes[i], parameter->shape)) {
      indim_shape_text stated;
      indim_shape_text actual;
      INDIM_TRY(note(v, indim_fail_instr(v->cx, INDIM_INVALID, parameter,
                                         "entry_computation_layout= gives %s for parameter %d, which is %s",
                                         indim_shape_brief(module->entry_parameter_shapes[i], &stated), (int)i,
                                         indim_shape_brief(parameter->shape, &actual))));
    }
  }
  return note(v, verify_entry_result(v->cx, module));
}

static indim_status verify_module(verification *v) {
  const indim_module *module = v->module;
  for (int32_t i = 0; i < module->computation_count; i++) {
    const indim_computation *computation = module->computations[i];
    if (computation->index != i || computation->module != module) {
      return indim_fail(v->cx, INDIM_INTERNAL, "computation %d (%s) is not where it says", (int)i,
                        computation->name.data);
    }
    INDIM_TRY(verify_computation(v, computation));
  }
  if (module->entry == NULL || module->entry->module != module) {
    return indim_fail(v->cx, INDIM_INVALID, "the module has no entry computation");
  }
  return module->entry->root->shape == NULL ? INDIM_OK : verify_entry(v);
}

indim_status indim_module_verify(indim_ctx *cx, const indim_module *module) {
  INDIM_NOT_NULL(cx, cx);
  INDIM_NOT_NULL(cx, module);
  verification v = {.cx = cx, .module = module};
  indim_arena_init(&v.arena, cx);
  indim_status status = verify_module(&v);
  indim_arena_deinit(&v.arena);
  return status != INDIM_OK ? status : v.failed ? INDIM_INVALID : INDIM_OK;
}
