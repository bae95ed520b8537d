// A walk over the computations that the entry needs, each of which becomes one of static shapes; loops, branches and calls; and
// the rule of every other op.
#include <stdio.h>
#include <string.h>

#include "array/literal_internal.h"
#include "expand/dynamic/dynamic.h"
#include "expand/dynamic/padder.h"
#include "graph/dynamic.h"
#include "graph/infer_kit.h"
#include "graph/one_device.h"

// Asking -----------------------------------------------------------------------------------------------------------------

// What the root needs, and what has an effect.
static void mark_needed(const indim_computation *computation, bool *needed) {
  memset(needed, 0, (size_t)computation->instr_count * sizeof *needed);
  needed[computation->root->index] = true;
  for (int32_t i = computation->instr_count - 1; i >= 0; i--) {
    const indim_instr *instr = computation->instrs[i];
    needed[i] = needed[i] || instr->op == INDIM_OP_PARAMETER || indim_instr_has_effect(instr);
    for (int32_t k = 0; needed[i] && k < instr->operand_count; k++) {
      needed[instr->operands[k]->index] = true;
    }
  }
}

bool indim_module_is_dynamic(const indim_module *module) {
  for (int32_t c = 0; c < module->computation_count; c++) {
    const indim_computation *computation = module->computations[c];
    for (int32_t i = 0; i < computation->instr_count; i++) {
      const indim_instr *instr = computation->instrs[i];
      if (!indim_shape_is_static(instr->shape) || indim_op_has_sizes(instr->op)) {
        return true;
      }
    }
  }
  return false;
}

// An rng has its numbers by its place in the program, which its copy has not.
static bool is_plain(const indim_instr *instr) {
  bool plain = indim_shape_is_static(instr->shape) && !indim_op_has_sizes(instr->op) && instr->op != INDIM_OP_RNG;
  for (int32_t k = 0; k < instr->operand_count && plain; k++) {
    plain = indim_shape_is_static(instr->operands[k]->shape);
  }
  for (int32_t i = 0; i < instr->attr_count && plain; i++) {
    const indim_attr *attr = &instr->attrs[i];
    indim_attr_kind kind = indim_attr_kind_of(attr->id);
    bool calls = kind == INDIM_KIND_COMPUTATION || kind == INDIM_KIND_COMPUTATIONS;
    for (int64_t k = 0; calls && k < attr->count && plain; k++) {
      const indim_computation *called = attr->value.computations[k];
      plain = indim_shape_is_static(called->root->shape);
      for (int32_t n = 0; n < called->parameter_count && plain; n++) {
        plain = indim_shape_is_static(called->parameters[n]->shape);
      }
    }
  }
  return plain;
}

// Leaves -----------------------------------------------------------------------------------------------------------------

static indim_status add_leaf(indim_padder *p, const indim_instr *instr, const indim_shape *shape, indim_instr **out) {
  INDIM_TRY(indim_computation_add(p->x.b->current, instr->op, instr->name, shape, instr->offset, out));
  (*out)->parameter_number = instr->parameter_number;
  (*out)->literal = instr->literal;
  return INDIM_OK;
}

static value make_leaf(indim_padder *p, const indim_instr *instr) {
  indim_instr *out = NULL;
  const indim_shape *shape = indim_static_shape(p, instr->shape);
  if (!indim_padder_failed(p)) {
    indim_build_fail(p->x.b, add_leaf(p, instr, shape, &out));
  }
  return out;
}

// A size that no sound caller gives is an error of the run.
static void check_sizes(indim_padder *p, const indim_shape *shape, value packed) {
  if (indim_shape_is_static(shape) || indim_padder_failed(p)) {
    return;
  }
  if (indim_shape_is_tuple(shape)) {
    for (int64_t i = 0; i < shape->member_count; i++) {
      if (!indim_shape_is_static(shape->members[i])) {
        check_sizes(p, shape->members[i], indim_build_get_tuple_element(p->x.b, packed, i));
      }
    }
    return;
  }
  indim_sized array = indim_padder_unpack(p, shape, packed);
  for (int32_t d = 0; d < shape->rank && array.sizes != NULL; d++) {
    indim_padder_check_size(p, array.sizes[d], d, shape->sizes[d]);
  }
}

static indim_sized make_parameter(indim_padder *p, const indim_instr *instr) {
  value packed = make_leaf(p, instr);
  if (instr->computation == p->from->entry) {
    check_sizes(p, instr->shape, packed);
  }
  return indim_padder_unpack(p, instr->shape, packed);
}

static value make_constant(indim_padder *p, const indim_shape *shape, const indim_literal *literal);

static indim_status cut_literal(indim_padder *p, const indim_shape *shape, const indim_literal *from,
                                indim_literal **out) {
  indim_shape fixed = *shape;
  fixed.dynamic = 0;
  INDIM_TRY(indim_literal_create(p->x.cx, &fixed, out));
  memcpy(indim_literal_mutable_data(*out), indim_literal_data(from), (size_t)indim_literal_bytes(from));
  return INDIM_OK;
}

static value make_array_constant(indim_padder *p, const indim_shape *shape, const indim_literal *literal) {
  indim_literal *whole = NULL;
  indim_literal *laid_out = NULL;
  indim_run_size sizes[INDIM_MAX_RANK];
  indim_status status = indim_literal_relayout(p->x.cx, literal, shape, &laid_out);
  status = status == INDIM_OK ? cut_literal(p, shape, laid_out, &whole) : status;
  indim_literal_destroy(laid_out);
  if (status != INDIM_OK || indim_padder_failed(p)) {
    indim_literal_destroy(whole);
    indim_build_fail(p->x.b, status);
    return NULL;
  }
  indim_sized array = {.data = indim_build_take_constant(p->x.b, whole), .sizes = sizes};
  for (int32_t d = 0; d < shape->rank; d++) {
    sizes[d] = indim_size_known(indim_literal_dynamic_size(literal, d));
  }
  return indim_padder_pack(p, shape, &array);
}

// As deep as the shape, whose depth is limited.
static value make_constant(indim_padder *p, const indim_shape *shape, const indim_literal *literal) {
  if (indim_shape_is_array(shape)) {
    return make_array_constant(p, shape, literal);
  }
  if (!indim_shape_is_tuple(shape)) {
    return indim_build_constant(p->x.b, literal);
  }
  value *members = indim_expand_values(&p->x, shape->member_count + 1);
  for (int64_t i = 0; members != NULL && i < shape->member_count; i++) {
    members[i] = make_constant(p, shape->members[i], indim_literal_member(literal, i));
  }
  return members == NULL ? NULL : indim_build_tuple(p->x.b, members, (int32_t)shape->member_count);
}

// Sizes ------------------------------------------------------------------------------------------------------------------

static indim_sized get_size(indim_padder *p, const indim_instr *instr, const indim_sized *operands) {
  int64_t count = 0;
  int64_t dim = indim_instr_ints(instr, INDIM_ATTR_DIMENSIONS, &count)[0];
  indim_run_size size = indim_size_of(&operands[0], instr->operands[0]->shape, (int32_t)dim);
  return (indim_sized){.data = indim_size_scalar(p, size, INDIM_S32)};
}

static indim_sized set_size(indim_padder *p, const indim_instr *instr, const indim_sized *operands) {
  int64_t count = 0;
  int64_t number = 0;
  indim_run_size sizes[INDIM_MAX_RANK];
  int32_t dim = (int32_t)indim_instr_ints(instr, INDIM_ATTR_DIMENSIONS, &count)[0];
  const indim_instr *size = instr->operands[1];
  bool is_known =
      size->op == INDIM_OP_CONSTANT && indim_literal_get_int(p->x.cx, size->literal, NULL, &number) == INDIM_OK;
  for (int32_t d = 0; d < instr->shape->rank; d++) {
    sizes[d] = indim_size_of(&operands[0], instr->operands[0]->shape, d);
  }
  sizes[dim] = is_known ? indim_size_known(number) : (indim_run_size){.scalar = operands[1].data};
  indim_padder_check_size(p, sizes[dim], dim, instr->shape->sizes[dim]);
  return indim_padder_settle(p, instr->shape, operands[0].data, sizes);
}

// Control ----------------------------------------------------------------------------------------------------------------

static bool same_dynamic(const indim_shape *a, const indim_shape *b) {
  return indim_shape_equal(a, b, INDIM_IGNORE_LAYOUT);
}

// |called| of one parameter, with one of |parameter| and the result |result|, which differ in what is dynamic.
static const indim_computation *adapt(indim_padder *p, const indim_computation *called, const indim_shape *parameter,
                                      const indim_shape *result) {
  const indim_computation *made = p->made[called->index];
  if (same_dynamic(called->parameters[0]->shape, parameter) && same_dynamic(called->root->shape, result)) {
    return made;
  }
  const indim_shape *given = indim_static_shape(p, parameter);
  indim_computation *outer = indim_padder_begin(p, "adapted");
  value state = indim_padder_coerce(p, indim_padder_parameter(p, 0, given), parameter, called->parameters[0]->shape);
  value root = indim_expand_call(&p->x, made, &state, 1);
  return indim_padder_end(p, indim_padder_coerce(p, root, called->root->shape, result), outer);
}

static void set_computation(indim_padder *p, const indim_instr *instr, indim_attr *attrs, indim_attr_id id,
                            const indim_computation *computation) {
  for (int32_t i = 0; attrs != NULL && computation != NULL && i < instr->attr_count; i++) {
    if (attrs[i].id == id) {
      indim_attr attr = indim_build_attr_computation(p->x.b, id, computation);
      attrs[i].value = attr.value;
    }
  }
}

static indim_sized make_while(indim_padder *p, const indim_instr *instr, const indim_sized *operands) {
  const indim_computation *condition = indim_instr_computation(instr, INDIM_ATTR_CONDITION);
  const indim_computation *body = indim_instr_computation(instr, INDIM_ATTR_BODY);
  const indim_shape *state = body->parameters[0]->shape;
  value start = indim_padder_operand(p, instr, operands, 0, state);
  indim_attr *attrs = indim_padder_attrs(p, instr);
  set_computation(p, instr, attrs, INDIM_ATTR_CONDITION, adapt(p, condition, state, condition->root->shape));
  set_computation(p, instr, attrs, INDIM_ATTR_BODY, adapt(p, body, state, state));
  value end = indim_build_emit(p->x.b, instr->op, NULL, &start, 1, attrs, instr->attr_count);
  return indim_padder_unpack(p, instr->shape, indim_padder_coerce(p, end, state, instr->shape));
}

static void adapt_branches(indim_padder *p, const indim_instr *instr, indim_attr *attr, const indim_attr *old) {
  void *memory = NULL;
  indim_build_fail(p->x.b, indim_arena_array(&p->x.b->module->arena, (size_t)old->count, sizeof(void *), &memory));
  indim_computation **branches = memory;
  for (int64_t i = 0; i < old->count && !indim_padder_failed(p); i++) {
    const indim_computation *called = old->value.computations[i];
    const indim_computation *made = adapt(p, called, called->parameters[0]->shape, instr->shape);
    branches[i] = made == NULL ? NULL : p->x.b->module->computations[made->index];
  }
  attr->value.computations = branches;
}

static indim_sized make_conditional(indim_padder *p, const indim_instr *instr, const indim_sized *operands) {
  const indim_attr *branches = indim_instr_attr(instr, INDIM_ATTR_BRANCH_COMPUTATIONS);
  indim_attr *attrs = indim_padder_attrs(p, instr);
  value *all = indim_expand_values(&p->x, (int64_t)instr->operand_count + 1);
  for (int32_t k = 1; all != NULL && k < instr->operand_count; k++) {
    indim_attr_id id = k == 1 ? INDIM_ATTR_TRUE_COMPUTATION : INDIM_ATTR_FALSE_COMPUTATION;
    const indim_computation *called =
        branches != NULL ? branches->value.computations[k - 1] : indim_instr_computation(instr, id);
    all[k] = indim_padder_operand(p, instr, operands, k, called->parameters[0]->shape);
  }
  if (all == NULL || attrs == NULL) {
    return (indim_sized){0};
  }
  all[0] = operands[0].data;
  for (int32_t i = 0; i < instr->attr_count; i++) {
    indim_attr_kind kind = indim_attr_kind_of(attrs[i].id);
    if (kind == INDIM_KIND_COMPUTATION || kind == INDIM_KIND_COMPUTATIONS) {
      adapt_branches(p, instr, &attrs[i], &instr->attrs[i]);
    }
  }
  value result = indim_build_emit(p->x.b, instr->op, NULL, all, instr->operand_count, attrs, instr->attr_count);
  return indim_padder_unpack(p, instr->shape, result);
}

// call and fusion
static indim_sized make_call(indim_padder *p, const indim_instr *instr, const indim_sized *operands) {
  const indim_computation *called =
      indim_instr_computation(instr, instr->op == INDIM_OP_CALL ? INDIM_ATTR_TO_APPLY : INDIM_ATTR_CALLS);
  return indim_padder_unpack(p, instr->shape, indim_padder_call(p, instr, operands, called, instr->shape));
}

static indim_sized make_tuple(indim_padder *p, const indim_instr *instr, const indim_sized *operands) {
  value *all = indim_expand_values(&p->x, (int64_t)instr->operand_count + 1);
  for (int32_t k = 0; all != NULL && k < instr->operand_count; k++) {
    all[k] = indim_padder_operand(p, instr, operands, k, instr->shape->members[k]);
  }
  return (indim_sized){.data = all == NULL ? NULL : indim_build_tuple(p->x.b, all, instr->operand_count)};
}

static indim_sized get_member(indim_padder *p, const indim_instr *instr, const indim_sized *operands) {
  int64_t index = indim_instr_int(instr, INDIM_ATTR_INDEX, 0);
  const indim_shape *member = instr->operands[0]->shape->members[index];
  value packed = indim_build_get_tuple_element(p->x.b, operands[0].data, index);
  return indim_padder_unpack(p, instr->shape, indim_padder_coerce(p, packed, member, instr->shape));
}

// opt-barrier, domain, add-dependency, copy: the value itself.
static indim_sized pass_on(indim_padder *p, const indim_instr *instr, const indim_sized *operands) {
  return indim_padder_unpack(p, instr->shape, indim_padder_operand(p, instr, operands, 0, instr->shape));
}

// Instructions -----------------------------------------------------------------------------------------------------------

static indim_dynamic_fn *rule_of(const indim_instr *instr) {
  switch ((int)instr->op) {
  case INDIM_OP_BROADCAST:
  case INDIM_OP_TRANSPOSE:
  case INDIM_OP_SLICE:
  case INDIM_OP_DYNAMIC_SLICE:
  case INDIM_OP_GATHER:
    return indim_dynamic_moved;
  case INDIM_OP_DYNAMIC_UPDATE_SLICE:
    return indim_dynamic_update;
  case INDIM_OP_SCATTER:
    return indim_dynamic_scatter;
  case INDIM_OP_RESHAPE:
  case INDIM_OP_DYNAMIC_RESHAPE:
    return indim_dynamic_reshape;
  case INDIM_OP_REVERSE:
    return indim_dynamic_reverse;
  case INDIM_OP_CONCATENATE:
    return indim_dynamic_concatenate;
  case INDIM_OP_PAD:
    return indim_dynamic_pad;
  case INDIM_OP_REDUCE:
    return indim_dynamic_reduce;
  case INDIM_OP_REDUCE_WINDOW:
    return indim_dynamic_reduce_window;
  case INDIM_OP_SORT:
    return indim_dynamic_sort;
  case INDIM_OP_TOPK:
    return indim_dynamic_topk;
  case INDIM_OP_DOT:
    return indim_dynamic_dot;
  case INDIM_OP_RAGGED_DOT:
    return indim_dynamic_ragged_dot;
  case INDIM_OP_SCAN:
    return indim_dynamic_scan;
  case INDIM_OP_CONVOLUTION:
    return indim_dynamic_convolution;
  case INDIM_OP_SELECT_AND_SCATTER:
    return indim_dynamic_select_and_scatter;
  case INDIM_OP_BATCH_NORM_TRAINING:
  case INDIM_OP_BATCH_NORM_INFERENCE:
  case INDIM_OP_BATCH_NORM_GRAD:
    return indim_dynamic_batch_norm;
  case INDIM_OP_RNG:
  case INDIM_OP_RNG_BIT_GENERATOR:
    return indim_dynamic_drawn;
  case INDIM_OP_CUSTOM_CALL:
    return indim_dynamic_custom_call;
  case INDIM_OP_COPY_START:
  case INDIM_OP_COPY_DONE:
  case INDIM_OP_ASYNC_START:
  case INDIM_OP_ASYNC_DONE:
    return indim_dynamic_one_device;
  default:
    return indim_op_is_collective(instr->op)   ? indim_dynamic_one_device
           : indim_instr_is_elementwise(instr) ? indim_dynamic_elementwise
                                               : indim_dynamic_batch;
  }
}

static indim_sized make_dynamic(indim_padder *p, const indim_instr *instr, indim_sized *operands) {
  switch ((int)instr->op) {
  case INDIM_OP_CONSTANT:
    return indim_padder_unpack(p, instr->shape, make_constant(p, instr->shape, instr->literal));
  case INDIM_OP_TUPLE:
    return make_tuple(p, instr, operands);
  case INDIM_OP_GET_TUPLE_ELEMENT:
    return get_member(p, instr, operands);
  case INDIM_OP_COPY:
  case INDIM_OP_OPT_BARRIER:
  case INDIM_OP_DOMAIN:
  case INDIM_OP_ADD_DEPENDENCY:
  case INDIM_OP_ASYNC_UPDATE:
    return pass_on(p, instr, operands);
  case INDIM_OP_AFTER_ALL:
    return (indim_sized){.data = indim_build_emit(p->x.b, INDIM_OP_AFTER_ALL, NULL, NULL, 0, NULL, 0)};
  case INDIM_OP_CALL:
  case INDIM_OP_FUSION:
    return make_call(p, instr, operands);
  case INDIM_OP_WHILE:
    return make_while(p, instr, operands);
  case INDIM_OP_CONDITIONAL:
    return make_conditional(p, instr, operands);
  case INDIM_OP_GET_DIMENSION_SIZE:
    return get_size(p, instr, operands);
  case INDIM_OP_SET_DIMENSION_SIZE:
    return set_size(p, instr, operands);
  default:
    return rule_of(instr)(p, instr, operands);
  }
}

static indim_sized make_plain(indim_padder *p, const indim_instr *instr, const indim_sized *operands) {
  return instr->op == INDIM_OP_CONSTANT ? (indim_sized){.data = make_leaf(p, instr)}
                                        : (indim_sized){.data = indim_padder_emit_data(p, instr, operands)};
}

static void make_instr(indim_padder *p, const indim_instr *instr) {
  void *memory = NULL;
  size_t count = (size_t)instr->operand_count + 1;
  int32_t first = p->x.b->current->instr_count;
  indim_status status = indim_arena_array(&p->x.b->module->arena, count, sizeof(indim_sized), &memory);
  indim_sized *operands = memory;
  if (status == INDIM_OK && indim_shape_is_unbounded(instr->shape)) {
    status = indim_fail_instr(p->x.cx, INDIM_UNSUPPORTED, instr, "a dimension without bound (?) is not compiled");
    indim_hint(p->x.cx, "give it one: f32[<=10]");
  } else if (status == INDIM_OK && indim_instr_is_dynamic(instr)) {
    status = indim_dynamic_verify(p->x.cx, instr);
  }
  indim_build_fail(p->x.b, status);
  for (int32_t k = 0; k < instr->operand_count && !indim_padder_failed(p); k++) {
    operands[k] = p->of[instr->operands[k]->index];
  }
  p->x.instr = instr;
  if (indim_padder_failed(p)) {
    return;
  }
  indim_sized out = instr->op == INDIM_OP_PARAMETER ? make_parameter(p, instr)
                    : is_plain(instr)               ? make_plain(p, instr, operands)
                                                    : make_dynamic(p, instr, operands);
  p->of[instr->index] = out;
  for (int32_t i = first; !indim_padder_failed(p) && i < p->x.b->current->instr_count; i++) {
    indim_instr *made = p->x.b->current->instrs[i];
    indim_build_fail(p->x.b, indim_expand_label(made, instr, made == out.data));
  }
}

// Computations -----------------------------------------------------------------------------------------------------------

static indim_status open_computation(indim_padder *p, const indim_computation *computation) {
  indim_computation *made = NULL;
  void *memory = NULL;
  size_t count = (size_t)computation->instr_count;
  INDIM_TRY(indim_arena_array(&p->x.b->module->arena, count, sizeof *p->of, &memory));
  p->of = memory;
  INDIM_TRY(indim_module_new_computation(p->x.b->module, computation->name, computation->offset, &made));
  made->execution_thread = computation->execution_thread;
  p->x.b->current = made;
  return INDIM_OK;
}

static indim_status make_computation(indim_padder *p, const indim_computation *computation, const bool *needed) {
  const indim_instr *root = computation->root;
  p->x.instr = root;
  INDIM_TRY(open_computation(p, computation));
  for (int32_t i = 0; i < computation->instr_count && !indim_padder_failed(p); i++) {
    if (needed[i]) {
      make_instr(p, computation->instrs[i]);
    }
  }
  INDIM_TRY(p->x.b->status);
  value result = indim_padder_pack(p, root->shape, &p->of[root->index]);
  p->made[computation->index] = indim_padder_end(p, result, NULL);
  return p->x.b->status;
}

static void mark_called(const indim_computation *computation, const bool *needed, bool *is_called) {
  for (int32_t i = 0; i < computation->instr_count; i++) {
    const indim_instr *instr = computation->instrs[i];
    for (int32_t k = 0; needed[i] && k < instr->attr_count; k++) {
      const indim_attr *attr = &instr->attrs[k];
      indim_attr_kind kind = indim_attr_kind_of(attr->id);
      bool calls = kind == INDIM_KIND_COMPUTATION || kind == INDIM_KIND_COMPUTATIONS;
      for (int64_t n = 0; calls && n < attr->count; n++) {
        is_called[attr->value.computations[n]->index] = true;
      }
    }
  }
}

// Callees stand before their callers.
static indim_status make_computations(indim_padder *p) {
  const indim_module *from = p->from;
  size_t count = (size_t)from->computation_count;
  void *memory = NULL;
  bool **needed = NULL;
  bool *is_called = NULL;
  indim_arena *arena = &p->x.b->module->arena;
  INDIM_TRY(indim_arena_array(arena, count, sizeof *p->made, &memory));
  p->made = memory;
  INDIM_TRY(indim_arena_array(arena, count, sizeof *needed, (void **)&needed));
  INDIM_TRY(indim_arena_array(arena, count, sizeof *is_called, (void **)&is_called));
  is_called[from->entry->index] = true;
  for (int32_t c = from->computation_count - 1; c >= 0; c--) {
    if (is_called[c]) {
      INDIM_TRY(
          indim_arena_array(arena, (size_t)from->computations[c]->instr_count, sizeof(bool), (void **)&needed[c]));
      mark_needed(from->computations[c], needed[c]);
      mark_called(from->computations[c], needed[c], is_called);
    }
  }
  for (int32_t c = 0; c < from->computation_count; c++) {
    if (is_called[c]) {
      INDIM_TRY(make_computation(p, from->computations[c], needed[c]));
      INDIM_TRY(indim_poll(p->x.cx));
    }
  }
  p->x.b->module->entry = p->x.b->module->computations[p->made[from->entry->index]->index];
  return INDIM_OK;
}

// The module -------------------------------------------------------------------------------------------------------------

static indim_status copy_header(indim_padder *p) {
  const indim_module *from = p->from;
  indim_module *to = p->x.b->module;
  void *memory = NULL;
  to->source = from->source;
  to->is_scheduled = from->is_scheduled;
  to->replica_count = from->replica_count;
  to->num_partitions = from->num_partitions;
  to->header_attrs = from->header_attrs;
  to->header_attr_count = from->header_attr_count;
  to->parameter_places = from->parameter_places;
  to->place_count = from->place_count;
  to->frames = from->frames;
  p->x.instr = from->entry->root;
  if (from->entry_result_shape != NULL) {
    to->entry_result_shape = indim_static_shape(p, from->entry_result_shape);
  }
  if (from->entry_parameter_shapes != NULL) {
    INDIM_TRY(indim_arena_array(&to->arena, (size_t)from->entry_shape_count, sizeof(void *), &memory));
    to->entry_parameter_shapes = memory;
    to->entry_shape_count = from->entry_shape_count;
    for (int64_t i = 0; i < from->entry_shape_count; i++) {
      to->entry_parameter_shapes[i] = indim_static_shape(p, from->entry_parameter_shapes[i]);
    }
  }
  return p->x.b->status;
}

static indim_status fill(indim_padder *p) {
  indim_status status = make_computations(p);
  if (status == INDIM_INVALID && !p->x.is_refused) {
    const indim_diagnostic *last = indim_ctx_diagnostic_get(p->x.cx, indim_ctx_diagnostic_count(p->x.cx) - 1);
    return indim_fail_instr(p->x.cx, INDIM_INTERNAL, p->x.instr,
                            "its form without dynamic dimensions is not valid: %.300s",
                            last == NULL ? "no reason is known" : last->message);
  }
  INDIM_TRY(status);
  return copy_header(p);
}

indim_status indim_module_make_static(indim_ctx *cx, const indim_module *module, indim_module **out_module) {
  indim_padder p = {.x = {.cx = cx}, .from = module};
  *out_module = NULL;
  INDIM_TRY(indim_builder_create(cx, module->name.data, &p.x.b));
  indim_status status = fill(&p);
  if (status == INDIM_OK) {
    *out_module = p.x.b->module;
    p.x.b->module = NULL;
  }
  indim_builder_destroy(p.x.b);
  return status;
}
