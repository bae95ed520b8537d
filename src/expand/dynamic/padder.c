// The tools of the rules of dynamic dimensions.
#include "expand/dynamic/padder.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ffi/call.h"
#include "graph/infer_kit.h"

// Sizes ------------------------------------------------------------------------------------------------------------------

indim_run_size indim_size_known(int64_t size) { return (indim_run_size){.known = size}; }

indim_run_size indim_size_of(const indim_sized *array, const indim_shape *shape, int32_t dim) {
  return array->sizes == NULL ? indim_size_known(shape->sizes[dim]) : array->sizes[dim];
}

bool indim_size_is_cut(indim_run_size size, int64_t bound) { return size.scalar != NULL || size.known != bound; }

bool indim_size_same(indim_run_size a, indim_run_size b) {
  return a.scalar == b.scalar && (a.scalar != NULL || a.known == b.known);
}

value indim_size_scalar(indim_padder *p, indim_run_size size, indim_type type) {
  return size.scalar == NULL ? indim_build_scalar_int(p->x.b, type, size.known)
                             : indim_expand_convert(&p->x, size.scalar, type);
}

static int64_t fold(indim_op op, int64_t a, int64_t b) {
  switch ((int)op) {
  case INDIM_OP_ADD:
    return a + b;
  case INDIM_OP_SUBTRACT:
    return a - b;
  case INDIM_OP_MULTIPLY:
    return a * b;
  case INDIM_OP_DIVIDE:
    return b == 0 ? -1 : a / b;
  case INDIM_OP_REMAINDER:
    return b == 0 ? a : a % b;
  case INDIM_OP_MINIMUM:
    return a < b ? a : b;
  default:
    return a > b ? a : b;
  }
}

indim_run_size indim_size_op(indim_padder *p, indim_op op, indim_run_size a, indim_run_size b) {
  if (a.scalar == NULL && b.scalar == NULL) {
    return indim_size_known(fold(op, a.known, b.known));  // sizes of arrays and what stands in the program
  }
  value lhs = indim_size_scalar(p, a, INDIM_S64);
  value rhs = indim_size_scalar(p, b, INDIM_S64);
  return (indim_run_size){.scalar = indim_build_binary(p->x.b, op, lhs, rhs, NULL, 0)};
}

indim_run_size indim_size_least(indim_padder *p, indim_run_size a, indim_run_size b) {
  return indim_size_same(a, b) ? a : indim_size_op(p, INDIM_OP_MINIMUM, a, b);
}

indim_run_size indim_size_dilated(indim_padder *p, indim_run_size size, int64_t dilation) {
  if (dilation == 1) {
    return size;
  }
  indim_run_size one = indim_size_known(1);
  indim_run_size steps = indim_size_op(p, INDIM_OP_SUBTRACT, size, one);
  indim_run_size width = indim_size_op(p, INDIM_OP_MULTIPLY, steps, indim_size_known(dilation));
  width = indim_size_op(p, INDIM_OP_ADD, width, one);
  return indim_size_op(p, INDIM_OP_MAXIMUM, width, indim_size_known(0));  // dilation > 1: of size 0 it is negative
}

// As graph/infer_window.c has it, for sizes that fit, since the bound's fits.
indim_run_size indim_size_windows(indim_padder *p, indim_run_size size, const indim_window_dim *window) {
  int64_t width = (window->size - 1) * window->window_dilation + 1;
  indim_run_size base = indim_size_dilated(p, size, window->base_dilation);
  base = indim_size_op(p, INDIM_OP_ADD, base, indim_size_known(window->pad_low + window->pad_high - width));
  // Floors what is not negative, and what is less than the window, -1 at most, becomes 0.
  base = indim_size_op(p, INDIM_OP_ADD, base, indim_size_known(window->stride));
  base = indim_size_op(p, INDIM_OP_MAXIMUM, base, indim_size_known(0));
  return window->stride == 1 ? base : indim_size_op(p, INDIM_OP_DIVIDE, base, indim_size_known(window->stride));
}

indim_run_size *indim_sizes_new(indim_padder *p, int64_t count) {
  void *memory = NULL;
  if (!indim_padder_failed(p)) {
    size_t items = (size_t)(count > 0 ? count : 1);
    indim_build_fail(p->x.b, indim_arena_array(&p->x.b->module->arena, items, sizeof(indim_run_size), &memory));
  }
  return memory;
}

// Shapes -----------------------------------------------------------------------------------------------------------------

static indim_status make_shape(indim_padder *p, const indim_shape *shape, const indim_shape **out);

typedef indim_status shape_fn(indim_padder *p, const indim_shape *shape, const indim_shape **out);

static indim_status make_members(indim_padder *p, const indim_shape *const *members, int64_t count, shape_fn *make,
                                 const indim_shape **out) {
  void *memory = NULL;
  indim_shape tuple;
  indim_arena *arena = &p->x.b->module->arena;
  INDIM_TRY(indim_arena_array(arena, (size_t)count + 1, sizeof(indim_shape *), &memory));
  const indim_shape **made = memory;
  for (int64_t i = 0; i < count; i++) {
    INDIM_TRY(make(p, members[i], &made[i]));
  }
  INDIM_TRY(indim_instr_make_tuple(p->x.cx, p->x.instr, arena, made, count, &tuple));
  return indim_module_intern(p->x.b->module, &tuple, out);
}

static indim_status make_sized(indim_padder *p, const indim_shape *shape, const indim_shape **out) {
  const indim_shape *members[INDIM_MAX_RANK + 1];
  indim_shape fixed = *shape;
  indim_shape size;
  int64_t count = 1;
  fixed.dynamic = 0;
  INDIM_TRY(indim_shape_init(p->x.cx, INDIM_S32, 0, NULL, &size));
  members[0] = &fixed;
  for (int32_t d = 0; d < shape->rank; d++) {
    if (indim_dim_is_dynamic(shape, d)) {
      members[count++] = &size;
    }
  }
  return make_members(p, members, count, make_shape, out);
}

static indim_status make_shape(indim_padder *p, const indim_shape *shape, const indim_shape **out) {
  if (indim_shape_is_static(shape)) {
    return indim_module_intern(p->x.b->module, shape, out);
  }
  return indim_shape_is_tuple(shape) ? make_members(p, shape->members, shape->member_count, make_shape, out)
                                     : make_sized(p, shape, out);
}

const indim_shape *indim_static_shape(indim_padder *p, const indim_shape *shape) {
  const indim_shape *out = NULL;
  if (!indim_padder_failed(p)) {
    indim_build_fail(p->x.b, make_shape(p, shape, &out));
  }
  return out;
}

// As deep as the shape, whose depth is limited.
static indim_status make_data_shape(indim_padder *p, const indim_shape *shape, const indim_shape **out) {
  indim_shape fixed = *shape;
  fixed.dynamic = 0;
  return indim_shape_is_tuple(shape) ? make_members(p, shape->members, shape->member_count, make_data_shape, out)
                                     : indim_module_intern(p->x.b->module, &fixed, out);
}

const indim_shape *indim_padder_data_shape(indim_padder *p, const indim_shape *shape) {
  const indim_shape *out = NULL;
  if (!indim_padder_failed(p)) {
    indim_build_fail(p->x.b, make_data_shape(p, shape, &out));
  }
  return out;
}

// Instructions -----------------------------------------------------------------------------------------------------------

static indim_status copy_shapes(indim_padder *p, const indim_attr *from, indim_attr *to) {
  void *memory = NULL;
  INDIM_TRY(indim_arena_array(&p->x.b->module->arena, (size_t)from->count + 1, sizeof(indim_shape *), &memory));
  const indim_shape **shapes = memory;
  for (int64_t i = 0; i < from->count; i++) {
    INDIM_TRY(make_data_shape(p, from->value.shapes[i], &shapes[i]));
  }
  to->value.shapes = shapes;
  return INDIM_OK;
}

static indim_status copy_attr(indim_padder *p, const indim_attr *from, indim_attr *to) {
  indim_attr_kind kind = indim_attr_kind_of(from->id);
  void *memory = NULL;
  *to = *from;
  if (kind == INDIM_KIND_SHAPES) {
    return copy_shapes(p, from, to);
  }
  if (kind != INDIM_KIND_COMPUTATION && kind != INDIM_KIND_COMPUTATIONS) {
    return INDIM_OK;
  }
  indim_module *module = p->x.b->module;
  INDIM_TRY(indim_arena_array(&module->arena, (size_t)from->count, sizeof(indim_computation *), &memory));
  indim_computation **called = memory;
  for (int64_t i = 0; i < from->count; i++) {
    called[i] = module->computations[p->made[from->value.computations[i]->index]->index];
  }
  to->value.computations = called;
  return INDIM_OK;
}

// Control predecessors are left out: nothing here depends on them.
static indim_status copy_attrs(indim_padder *p, const indim_instr *instr, indim_attr **out) {
  void *memory = NULL;
  INDIM_TRY(indim_arena_array(&p->x.b->module->arena, (size_t)instr->attr_count + 1, sizeof **out, &memory));
  *out = memory;
  for (int32_t i = 0; i < instr->attr_count; i++) {
    INDIM_TRY(copy_attr(p, &instr->attrs[i], &(*out)[i]));
    if (indim_attr_kind_of(instr->attrs[i].id) == INDIM_KIND_INSTRS) {
      (*out)[i].count = 0;
    }
  }
  return INDIM_OK;
}

indim_attr *indim_padder_attrs(indim_padder *p, const indim_instr *instr) {
  indim_attr *attrs = NULL;
  if (!indim_padder_failed(p)) {
    indim_build_fail(p->x.b, copy_attrs(p, instr, &attrs));
  }
  return attrs;
}

value indim_padder_emit(indim_padder *p, const indim_instr *instr, const indim_shape *shape, const value *operands,
                        int64_t count) {
  indim_attr *attrs = indim_padder_attrs(p, instr);
  return indim_build_emit(p->x.b, instr->op, shape, operands, count, attrs, instr->attr_count);
}

value indim_padder_emit_data(indim_padder *p, const indim_instr *instr, const indim_sized *operands) {
  const indim_shape *shape = indim_padder_data_shape(p, instr->shape);
  value *all = indim_expand_values(&p->x, (int64_t)instr->operand_count + 1);
  if (all == NULL) {
    return NULL;
  }
  for (int32_t i = 0; i < instr->operand_count; i++) {
    all[i] = operands[i].data;
  }
  return indim_padder_emit(p, instr, shape, all, instr->operand_count);
}

// Packing ----------------------------------------------------------------------------------------------------------------

indim_sized indim_padder_settle(indim_padder *p, const indim_shape *shape, value data, const indim_run_size *sizes) {
  indim_sized out = {.data = data};
  indim_shape_text text;
  for (int32_t d = 0; d < shape->rank && !indim_padder_failed(p); d++) {
    if (!indim_dim_is_dynamic(shape, d) && indim_size_is_cut(sizes[d], shape->sizes[d])) {
      value bound = indim_build_scalar_int(p->x.b, INDIM_S64, shape->sizes[d]);
      value is_whole = indim_padder_compare(p, indim_size_scalar(p, sizes[d], INDIM_S64), bound, "EQ");
      indim_padder_check(p, is_whole, INDIM_INVALID, &sizes[d], 1,
                         "dimension %d has \1 elements when the program runs, and the result is %s", (int)d,
                         indim_shape_brief(shape, &text));
    }
  }
  if (shape->dynamic == 0) {
    return out;
  }
  out.sizes = indim_sizes_new(p, shape->rank);
  for (int32_t d = 0; out.sizes != NULL && d < shape->rank; d++) {
    out.sizes[d] = indim_dim_is_dynamic(shape, d) ? sizes[d] : indim_size_known(shape->sizes[d]);
  }
  return out;
}

value indim_padder_pack(indim_padder *p, const indim_shape *shape, const indim_sized *array) {
  value members[INDIM_MAX_RANK + 1];
  int32_t count = 1;
  if (!indim_shape_is_array(shape) || shape->dynamic == 0) {
    return array->data;
  }
  members[0] = array->data;
  for (int32_t d = 0; d < shape->rank; d++) {
    if (indim_dim_is_dynamic(shape, d)) {
      members[count++] = indim_size_scalar(p, indim_size_of(array, shape, d), INDIM_S32);
    }
  }
  return indim_build_tuple(p->x.b, members, count);
}

indim_sized indim_padder_unpack(indim_padder *p, const indim_shape *shape, value packed) {
  indim_sized out = {.data = packed};
  int64_t member = 1;
  if (packed == NULL || !indim_shape_is_array(shape) || shape->dynamic == 0) {
    return out;
  }
  out.data = indim_build_get_tuple_element(p->x.b, packed, 0);
  out.sizes = indim_sizes_new(p, shape->rank);
  for (int32_t d = 0; out.sizes != NULL && d < shape->rank; d++) {
    out.sizes[d] = indim_dim_is_dynamic(shape, d)
                       ? (indim_run_size){.scalar = indim_build_get_tuple_element(p->x.b, packed, member++)}
                       : indim_size_known(shape->sizes[d]);
  }
  return out;
}

static value coerce_array(indim_padder *p, value packed, const indim_shape *from, const indim_shape *to) {
  indim_run_size sizes[INDIM_MAX_RANK];
  indim_sized array = indim_padder_unpack(p, from, packed);
  for (int32_t d = 0; d < from->rank; d++) {
    sizes[d] = indim_size_of(&array, from, d);
  }
  array = indim_padder_settle(p, to, array.data, sizes);
  return indim_padder_pack(p, to, &array);
}

// As deep as the shape, whose depth is limited.
value indim_padder_coerce(indim_padder *p, value packed, const indim_shape *from, const indim_shape *to) {
  if (packed == NULL || indim_shape_equal(from, to, INDIM_IGNORE_LAYOUT)) {
    return packed;
  }
  if (!indim_shape_is_tuple(from)) {
    return indim_shape_is_array(from) ? coerce_array(p, packed, from, to) : packed;
  }
  value *members = indim_expand_values(&p->x, from->member_count + 1);
  for (int64_t i = 0; members != NULL && i < from->member_count; i++) {
    value member = indim_build_get_tuple_element(p->x.b, packed, i);
    members[i] = indim_padder_coerce(p, member, from->members[i], to->members[i]);
  }
  return members == NULL ? NULL : indim_build_tuple(p->x.b, members, (int32_t)from->member_count);
}

value indim_padder_operand(indim_padder *p, const indim_instr *instr, const indim_sized *operands, int32_t i,
                           const indim_shape *to) {
  const indim_shape *from = instr->operands[i]->shape;
  return indim_padder_coerce(p, indim_padder_pack(p, from, &operands[i]), from, to);
}

value indim_padder_call(indim_padder *p, const indim_instr *instr, const indim_sized *operands,
                        const indim_computation *called, const indim_shape *to) {
  value *all = indim_expand_values(&p->x, (int64_t)instr->operand_count + 1);
  for (int32_t k = 0; all != NULL && k < instr->operand_count; k++) {
    all[k] = indim_padder_operand(p, instr, operands, k, called->parameters[k]->shape);
  }
  if (all == NULL) {
    return NULL;
  }
  value result = indim_expand_call(&p->x, p->made[called->index], all, instr->operand_count);
  return indim_padder_coerce(p, result, called->root->shape, to);
}

// Results ---------------------------------------------------------------------------------------------------------------

void indim_padder_least_sizes(indim_padder *p, const indim_instr *instr, const indim_sized *operands, int32_t arrays,
                              indim_run_size *sizes) {
  for (int32_t i = 0; i < arrays; i++) {
    const indim_shape *shape = instr->operands[i]->shape;
    for (int32_t d = 0; d < shape->rank; d++) {
      indim_run_size size = indim_size_of(&operands[i], shape, d);
      sizes[d] = i == 0 ? size : indim_size_least(p, sizes[d], size);
    }
  }
}

indim_sized indim_padder_results(indim_padder *p, const indim_instr *instr, const value *results, int32_t count,
                                 const indim_run_size *sizes) {
  if (results == NULL) {
    return (indim_sized){0};
  }
  if (!indim_shape_is_tuple(instr->shape)) {
    return indim_padder_settle(p, instr->shape, results[0], sizes);
  }
  value *members = indim_expand_values(&p->x, (int64_t)count + 1);
  for (int32_t k = 0; members != NULL && k < count; k++) {
    const indim_shape *shape = instr->shape->members[k];
    indim_sized result = indim_padder_settle(p, shape, results[k], sizes);
    members[k] = indim_padder_pack(p, shape, &result);
  }
  return (indim_sized){.data = members == NULL ? NULL : indim_build_tuple(p->x.b, members, count)};
}

value *indim_padder_take_apart(indim_padder *p, value result, int32_t count, bool is_tuple) {
  value *all = indim_expand_values(&p->x, (int64_t)count + 1);
  for (int32_t k = 0; all != NULL && result != NULL && k < count; k++) {
    all[k] = is_tuple ? indim_build_get_tuple_element(p->x.b, result, k) : result;
  }
  return result == NULL ? NULL : all;
}

// Masks ------------------------------------------------------------------------------------------------------------------

value indim_padder_compare(indim_padder *p, value lhs, value rhs, const char *direction) {
  return indim_build_compare(p->x.b, lhs, rhs, direction, NULL, NULL, 0);
}

value indim_padder_counts(indim_padder *p, const indim_shape *shape, const indim_run_size *sizes, uint64_t dims) {
  value all = NULL;
  indim_shape index;
  indim_build_fail(p->x.b, indim_shape_init(p->x.cx, INDIM_S32, shape->rank, shape->sizes, &index));
  for (int32_t d = 0; d < shape->rank && !indim_padder_failed(p); d++) {
    if ((dims >> d & 1) == 0 || !indim_size_is_cut(sizes[d], shape->sizes[d])) {
      continue;
    }
    value place = indim_build_iota(p->x.b, &index, d);
    value size = indim_expand_repeat(&p->x, indim_size_scalar(p, sizes[d], INDIM_S32), &index, NULL);
    value counts = indim_padder_compare(p, place, size, "LT");
    all = all == NULL ? counts : indim_build_binary(p->x.b, INDIM_OP_AND, all, counts, NULL, 0);
  }
  return all;
}

value indim_padder_mask(indim_padder *p, value data, const indim_run_size *sizes, uint64_t dims, value fill) {
  if (data == NULL || fill == NULL) {
    return NULL;
  }
  value counts = indim_padder_counts(p, data->shape, sizes, dims);
  return counts == NULL ? data
                        : indim_build_select(p->x.b, counts, data, indim_expand_repeat(&p->x, fill, data->shape, NULL));
}

value indim_padder_clear(indim_padder *p, value data, const indim_run_size *sizes) {
  return data == NULL
             ? NULL
             : indim_padder_mask(p, data, sizes, UINT64_MAX, indim_build_scalar_int(p->x.b, data->shape->type, 0));
}

// Computations besides ---------------------------------------------------------------------------------------------------

static indim_status open_computation(indim_padder *p, const char *what) {
  char name[64];
  indim_computation *computation = NULL;
  snprintf(name, sizeof name, "%.30s.dynamic.%d", what, (int)p->serial++);
  INDIM_TRY(indim_module_new_computation(p->x.b->module, indim_str_of(name), p->x.instr->offset, &computation));
  p->x.b->current = computation;
  return INDIM_OK;
}

indim_computation *indim_padder_begin(indim_padder *p, const char *what) {
  indim_computation *outer = p->x.b->current;
  if (!indim_padder_failed(p)) {
    indim_build_fail(p->x.b, open_computation(p, what));
  }
  return outer;
}

static indim_status close_computation(indim_padder *p, value root) {
  indim_computation *computation = p->x.b->current;
  computation->root = computation->instrs[root->index];
  INDIM_TRY(indim_computation_finish(computation));
  return indim_module_append(p->x.b->module, computation);
}

const indim_computation *indim_padder_end(indim_padder *p, value root, indim_computation *outer) {
  const indim_computation *done = NULL;
  if (!indim_padder_failed(p)) {
    indim_build_fail(p->x.b, close_computation(p, root));
    done = indim_padder_failed(p) ? NULL : p->x.b->current;
  }
  p->x.b->current = outer;
  return done;
}

value indim_padder_parameter(indim_padder *p, int64_t number, const indim_shape *shape) {
  return shape == NULL ? NULL : indim_build_parameter(p->x.b, number, shape, NULL);
}

// Checks -----------------------------------------------------------------------------------------------------------------

static value fail_call(indim_padder *p, value state, int count, indim_status status, const char *message) {
  value scalars[INDIM_PADDER_MOST_VALUES];
  char text[600];
  indim_shape size;
  indim_str config = {"", 0};
  for (int i = 0; i < count; i++) {
    scalars[i] = indim_build_get_tuple_element(p->x.b, state, i);
  }
  snprintf(text, sizeof text, "%d\n%.120s (%s)\n%.400s", (int)status, p->x.instr->name.data,
           indim_op_get(p->x.instr->op)->text, message);
  if (indim_padder_failed(p)) {
    return NULL;
  }
  indim_build_fail(p->x.b, indim_shape_init(p->x.cx, INDIM_S64, 0, NULL, &size));
  indim_build_fail(p->x.b, indim_arena_str(&p->x.b->module->arena, indim_str_of(text), &config));
  const indim_attr attrs[] = {
      indim_build_attr_word(p->x.b, INDIM_ATTR_CUSTOM_CALL_TARGET, INDIM_CALL_FAILED_CHECK),
      {.id = INDIM_ATTR_CUSTOM_CALL_HAS_SIDE_EFFECT, .offset = INDIM_NO_OFFSET, .count = 1, .value.integer = 1},
      {.id = INDIM_ATTR_BACKEND_CONFIG,
       .offset = INDIM_NO_OFFSET,
       .count = 1,
       .value.text = config,
       .is_string = true}};
  return indim_build_emit(p->x.b, INDIM_OP_CUSTOM_CALL, &size, scalars, count, attrs, 3);
}

// The branches take the tuple of the values and give the first of them.
static const indim_computation *make_branch(indim_padder *p, const indim_shape *state, int count, indim_status status,
                                            const char *message) {
  indim_computation *outer = indim_padder_begin(p, status == INDIM_OK ? "fine" : "failed");
  value all = indim_padder_parameter(p, 0, state);
  value root =
      status == INDIM_OK ? indim_build_get_tuple_element(p->x.b, all, 0) : fail_call(p, all, count, status, message);
  return indim_padder_end(p, root, outer);
}

void indim_padder_check(indim_padder *p, value is_fine, indim_status status, const indim_run_size *sizes, int count,
                        const char *format, ...) {
  value scalars[INDIM_PADDER_MOST_VALUES];
  char message[400];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  for (int i = 0; i < count; i++) {
    scalars[i] = indim_size_scalar(p, sizes[i], INDIM_S64);
  }
  value state = indim_build_tuple(p->x.b, scalars, count);
  if (is_fine == NULL || state == NULL) {
    return;
  }
  const indim_computation *branches[] = {make_branch(p, state->shape, count, INDIM_OK, ""),
                                         make_branch(p, state->shape, count, status, message)};
  const value states[] = {state, state};
  if (!indim_padder_failed(p)) {
    (void)indim_build_conditional(p->x.b, is_fine, branches, states, 2);
  }
}

void indim_padder_check_size(indim_padder *p, indim_run_size size, int32_t dim, int64_t bound) {
  if (size.scalar == NULL && size.known >= 0 && size.known <= bound) {
    return;
  }
  value scalar = indim_size_scalar(p, size, INDIM_S64);
  value low = indim_padder_compare(p, scalar, indim_build_scalar_int(p->x.b, INDIM_S64, 0), "GE");
  value high = indim_padder_compare(p, scalar, indim_build_scalar_int(p->x.b, INDIM_S64, bound), "LE");
  value is_fine = indim_build_binary(p->x.b, INDIM_OP_AND, low, high, NULL, 0);
  indim_padder_check(p, is_fine, INDIM_INVALID, &size, 1, "the size of dimension %d is \1, expected 0 to %lld",
                     (int)dim, (long long)bound);
}
