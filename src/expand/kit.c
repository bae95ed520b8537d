// The tools of all expansions.
#include "expand/kit.h"

#include <stdio.h>
#include <string.h>

#include "graph/infer_kit.h"
#include "indim/shape_util.h"

void indim_expand_begin(indim_expander *x) {
  indim_builder_begin(x->b, "expansion");
  for (int32_t i = 0; i < x->instr->operand_count; i++) {
    x->operands[i] = indim_build_parameter(x->b, i, x->instr->operands[i]->shape, NULL);
  }
}

value indim_expand_fail(indim_expander *x, indim_status status) {
  x->is_refused = x->is_refused || x->b->status == INDIM_OK;
  indim_build_fail(x->b, status);
  return NULL;
}

const indim_computation *indim_expand_reducer(indim_expander *x, const char *name, indim_op op, indim_type type) {
  indim_shape scalar;
  indim_build_fail(x->b, indim_shape_init(x->cx, type, 0, NULL, &scalar));
  indim_builder_begin(x->b, name);
  value lhs = indim_build_parameter(x->b, 0, &scalar, NULL);
  value rhs = indim_build_parameter(x->b, 1, &scalar, NULL);
  return indim_builder_end(x->b, indim_build_binary(x->b, op, lhs, rhs, NULL, 0));
}

const indim_computation *indim_expand_sum(indim_expander *x, indim_type type) {
  return indim_expand_reducer(x, "sum", INDIM_OP_ADD, type);
}

value indim_expand_reduce(indim_expander *x, const indim_computation *sum, value operand, const int64_t *dims,
                          int32_t count) {
  value zero = operand == NULL ? NULL : indim_build_scalar(x->b, operand->shape->type, 0);
  return indim_build_reduce(x->b, &operand, &zero, 1, sum, dims, count);
}

bool indim_expand_has_none(const indim_instr *instr, indim_attr_id id) {
  int64_t count = 0;
  (void)indim_instr_ints(instr, id, &count);
  return count == 0;
}

bool indim_expand_is_row_major(const indim_shape *shape) {
  return !shape->has_layout || (shape->layout.padded_rank == 0 && indim_layout_is_descending(&shape->layout) &&
                                indim_layout_is_untiled(&shape->layout, shape->rank, shape->sizes));
}

value indim_expand_convert(indim_expander *x, value operand, indim_type type) {
  return operand == NULL || operand->shape->type == type ? operand : indim_build_convert(x->b, operand, type);
}

value indim_expand_repeat(indim_expander *x, value operand, const indim_shape *shape, const int64_t *dims) {
  if (operand == NULL) {
    return NULL;
  }
  indim_shape to;
  indim_status status = indim_shape_init(x->cx, operand->shape->type, shape->rank, shape->sizes, &to);
  if (status != INDIM_OK) {
    indim_build_fail(x->b, status);
    return NULL;
  }
  indim_attr attr = indim_build_attr_ints(x->b, INDIM_ATTR_DIMENSIONS, dims, operand->shape->rank);
  return indim_build_emit(x->b, INDIM_OP_BROADCAST, &to, &operand, 1, &attr, 1);
}

indim_status indim_expand_label(indim_instr *instr, const indim_instr *origin, bool stands_for_it) {
  char name[200];
  instr->offset = origin->offset;
  if (stands_for_it) {
    instr->name = origin->name;  // of a module that stays
    return INDIM_OK;
  }
  snprintf(name, sizeof name, "%.*s.%s", (int)(origin->name.size < 120 ? origin->name.size : 120), origin->name.data,
           instr->name.data);
  return indim_arena_str(&instr->computation->module->arena, indim_str_of(name), &instr->name);
}

value *indim_expand_values(indim_expander *x, int64_t count) {
  void *memory = NULL;
  if (x->b->status == INDIM_OK) {
    indim_build_fail(x->b, indim_arena_array(&x->b->module->arena, (size_t)count, sizeof(value), &memory));
  }
  return memory;
}

// As deep as the shape, whose depth is limited.
value indim_expand_zeros(indim_expander *x, const indim_shape *shape) {
  if (shape->type == INDIM_TUPLE) {
    value *members = indim_expand_values(x, shape->member_count);
    for (int64_t i = 0; members != NULL && i < shape->member_count; i++) {
      members[i] = indim_expand_zeros(x, shape->members[i]);
    }
    return members == NULL ? NULL : indim_build_tuple(x->b, members, (int32_t)shape->member_count);
  }
  if (shape->type == INDIM_TOKEN) {
    return indim_build_emit(x->b, INDIM_OP_AFTER_ALL, NULL, NULL, 0, NULL, 0);
  }
  if (!indim_shape_is_array(shape)) {
    indim_shape_text text;
    return indim_expand_fail(
        x, indim_fail_instr(x->cx, INDIM_UNSUPPORTED, x->instr, "%s has no zero", indim_shape_brief(shape, &text)));
  }
  return indim_expand_repeat(x, indim_build_scalar_int(x->b, shape->type, 0), shape, NULL);
}

value indim_expand_call(indim_expander *x, const indim_computation *computation, const value *operands, int32_t count) {
  void *memory = NULL;
  if (x->b->status != INDIM_OK) {
    return NULL;
  }
  indim_build_fail(x->b, indim_arena_alloc(&x->b->module->arena, sizeof computation, &memory));
  if (x->b->status != INDIM_OK) {
    return NULL;
  }
  memcpy(memory, &computation, sizeof computation);
  indim_attr attr = {.id = INDIM_ATTR_TO_APPLY, .offset = INDIM_NO_OFFSET, .count = 1, .value.computations = memory};
  return indim_build_emit(x->b, INDIM_OP_CALL, NULL, operands, count, &attr, 1);
}

value indim_expand_part(indim_expander *x, value operand, int64_t dim, value index, int64_t size) {
  value starts[INDIM_MAX_RANK];
  int64_t sizes[INDIM_MAX_RANK];
  if (operand == NULL || index == NULL) {
    return NULL;
  }
  value zero = indim_build_scalar_int(x->b, index->shape->type, 0);
  for (int32_t d = 0; d < operand->shape->rank; d++) {
    starts[d] = d == dim ? index : zero;
    sizes[d] = d == dim ? size : operand->shape->sizes[d];
  }
  return indim_build_dynamic_slice(x->b, operand, starts, sizes);
}

value indim_expand_cut(indim_expander *x, value operand, int64_t dim, value index) {
  int64_t sizes[INDIM_MAX_RANK];
  value part = indim_expand_part(x, operand, dim, index, 1);
  int32_t rank = 0;
  for (int32_t d = 0; part != NULL && d < part->shape->rank; d++) {
    if (d != dim) {
      sizes[rank++] = part->shape->sizes[d];
    }
  }
  return indim_build_reshape(x->b, part, sizes, rank);
}

value indim_expand_put_part(indim_expander *x, value operand, int64_t dim, value index, value part) {
  value starts[INDIM_MAX_RANK];
  if (operand == NULL || index == NULL) {
    return NULL;
  }
  value zero = indim_build_scalar_int(x->b, index->shape->type, 0);
  for (int32_t d = 0; d < operand->shape->rank; d++) {
    starts[d] = d == dim ? index : zero;
  }
  return indim_build_dynamic_update_slice(x->b, operand, part, starts);
}

value indim_expand_put(indim_expander *x, value operand, int64_t dim, value index, value cut) {
  int64_t sizes[INDIM_MAX_RANK];
  if (operand == NULL) {
    return NULL;
  }
  for (int32_t d = 0; d < operand->shape->rank; d++) {
    sizes[d] = d == dim ? 1 : operand->shape->sizes[d];
  }
  value part = indim_build_reshape(x->b, cut, sizes, operand->shape->rank);
  return indim_expand_put_part(x, operand, dim, index, part);
}

// Writes the letters of one part: |first| and |second| and, in digits, the spatial dimensions.
static char *letter(char *text, const char *letters, int32_t first, int32_t second, const int32_t *spatial,
                    int32_t count) {
  text[first] = letters[0];
  text[second] = letters[1];
  for (int32_t s = 0; s < count; s++) {
    text[spatial[s]] = (char)('0' + s);
  }
  return text + count + 2;
}

indim_attr indim_expand_labels(indim_expander *x, const indim_dim_labels *labels) {
  indim_attr attr = {.id = INDIM_ATTR_DIM_LABELS, .offset = INDIM_NO_OFFSET, .count = labels->spatial_count};
  int32_t count = labels->spatial_count;
  void *memory = NULL;
  indim_build_fail(x->b, indim_arena_alloc(&x->b->module->arena, sizeof *labels, &memory));
  if (x->b->status != INDIM_OK) {
    return attr;
  }
  indim_dim_labels *copy = memory;
  *copy = *labels;
  char text[3 * INDIM_MAX_RANK + sizeof "_->"];
  char *at = letter(text, "bf", labels->input_batch, labels->input_feature, labels->input_spatial, count);
  *at++ = '_';
  at = letter(at, "io", labels->kernel_input, labels->kernel_output, labels->kernel_spatial, count);
  *at++ = '-';
  *at++ = '>';
  at = letter(at, "bf", labels->output_batch, labels->output_feature, labels->output_spatial, count);
  indim_build_fail(x->b, indim_arena_str(&x->b->module->arena, (indim_str){text, (size_t)(at - text)}, &copy->text));
  attr.value.dim_labels = copy;
  return attr;
}

bool indim_expand_window_does_nothing(const indim_window_dim *window) {
  return window->size == 1 && window->stride == 1 && window->pad_low == 0 && window->pad_high == 0 &&
         window->base_dilation == 1;
}

indim_attr indim_expand_window(indim_expander *x, const indim_window_dim *window, int64_t count) {
  indim_attr attr = {.id = INDIM_ATTR_WINDOW, .offset = INDIM_NO_OFFSET, .count = count};
  void *memory = NULL;
  indim_build_fail(x->b, indim_arena_array(&x->b->module->arena, (size_t)count, sizeof *window, &memory));
  if (x->b->status == INDIM_OK) {
    memcpy(memory, window, (size_t)count * sizeof *window);
    attr.value.window = memory;
  }
  return attr;
}

// Loops ----------------------------------------------------------------------------------------------------------------

// The tuple of an s64 and the other values.
static indim_status make_state(indim_expander *x, const indim_shape *const *shapes, int32_t count, indim_shape *out) {
  void *memory = NULL;
  indim_arena *arena = &x->b->module->arena;
  INDIM_TRY(indim_arena_alloc(arena, sizeof(indim_shape), &memory));
  indim_shape *index = memory;
  INDIM_TRY(indim_shape_init(x->cx, INDIM_S64, 0, NULL, index));
  INDIM_TRY(indim_arena_array(arena, (size_t)count + 1, sizeof(indim_shape *), &memory));
  const indim_shape **members = memory;
  members[0] = index;
  for (int32_t k = 0; k < count; k++) {
    members[k + 1] = shapes[k];
  }
  return indim_instr_make_tuple(x->cx, x->instr, arena, members, (int64_t)count + 1, out);
}

// Begins "body", or "body.3" where there is one: a loop may be inside another.
static void begin_of_loop(indim_expander *x, const char *name) {
  char text[32];
  int32_t count = x->b->module->computation_count;
  snprintf(text, sizeof text, count > 0 ? "%s.%d" : "%s", name, (int)count);
  indim_builder_begin(x->b, text);
}

static const indim_computation *make_condition(indim_expander *x, const indim_shape *state, int64_t end) {
  begin_of_loop(x, "condition");
  value parameter = indim_build_parameter(x->b, 0, state, NULL);
  value index = indim_build_get_tuple_element(x->b, parameter, 0);
  value last =
      end < 0 ? indim_build_get_tuple_element(x->b, parameter, 1) : indim_build_scalar_int(x->b, INDIM_S64, end);
  return indim_builder_end(x->b, indim_build_compare(x->b, index, last, "LT", NULL, NULL, 0));
}

static const indim_computation *make_body(indim_expander *x, const indim_shape *state, int32_t count,
                                          indim_expand_step *step, const void *about) {
  value *values = indim_expand_values(x, (int64_t)count + 1);
  begin_of_loop(x, "body");
  value parameter = indim_build_parameter(x->b, 0, state, NULL);
  for (int32_t k = 0; values != NULL && k <= count; k++) {
    values[k] = indim_build_get_tuple_element(x->b, parameter, k);
  }
  if (values == NULL) {
    return NULL;
  }
  values[0] = step(x, about, values[0], values + 1);
  return indim_builder_end(x->b, indim_build_tuple(x->b, values, count + 1));
}

value indim_expand_next(indim_expander *x, value index) {
  return indim_build_binary(x->b, INDIM_OP_ADD, index, indim_build_scalar_int(x->b, INDIM_S64, 1), NULL, 0);
}

indim_expand_loop indim_expand_make_loop(indim_expander *x, int64_t end, const indim_shape *const *shapes,
                                         int32_t count, indim_expand_step *step, const void *about) {
  indim_expand_loop loop = {.count = count};
  indim_shape state;
  if (x->b->status != INDIM_OK) {
    return loop;
  }
  indim_build_fail(x->b, make_state(x, shapes, count, &state));
  if (x->b->status == INDIM_OK) {
    loop.condition = make_condition(x, &state, end);
    loop.body = make_body(x, &state, count, step, about);
  }
  return loop;
}

void indim_expand_run_loop(indim_expander *x, const indim_expand_loop *loop, value *values) {
  value *all = indim_expand_values(x, (int64_t)loop->count + 1);
  if (all == NULL) {
    return;
  }
  all[0] = indim_build_scalar_int(x->b, INDIM_S64, 0);
  for (int32_t k = 0; k < loop->count; k++) {
    all[k + 1] = values[k];
  }
  value state = indim_build_tuple(x->b, all, loop->count + 1);
  value end = indim_build_while(x->b, loop->condition, loop->body, state);
  for (int32_t k = 0; k < loop->count; k++) {
    values[k] = indim_build_get_tuple_element(x->b, end, k + 1);
  }
}
