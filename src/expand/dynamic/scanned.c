// scan over dynamic dimensions: a while loop over the places that all inputs have, which carries arrays with their sizes.
//
//   state = (index, length, inputs, carries, for each output: its data, and the least size so far of each dynamic dimension of
//            what a step gives)
#include "expand/dynamic/padder.h"
#include "graph/infer_kit.h"

typedef struct scan {
  indim_padder *p;
  const indim_instr *instr;
  const indim_computation *called;  // of the program
  int32_t dim, inputs, carries, outputs;
  int32_t count;  // values of the state
} scan;

enum { INDEX, LENGTH, ARRAYS };  // of the state

static scan read_scan(indim_padder *p, const indim_instr *instr) {
  int64_t count = 0;
  const indim_shape *shape = instr->shape;
  scan s = {.p = p, .instr = instr, .called = indim_instr_computation(instr, INDIM_ATTR_TO_APPLY)};
  s.dim = (int32_t)indim_instr_ints(instr, INDIM_ATTR_DIMENSIONS, &count)[0];
  s.carries = (int32_t)indim_instr_int(instr, INDIM_ATTR_NUM_CARRIES, 0);
  s.inputs = instr->operand_count - s.carries;
  s.outputs = (indim_shape_is_tuple(shape) ? (int32_t)shape->member_count : 1) - s.carries;
  s.count = ARRAYS + instr->operand_count + s.outputs;
  for (int32_t k = 0; k < s.outputs; k++) {
    const indim_shape *part = indim_instr_result_shape(s.called->root, k);
    for (int32_t d = 0; d < part->rank; d++) {
      s.count += indim_dim_is_dynamic(part, d) ? 1 : 0;
    }
  }
  return s;
}

static value number(const scan *s, int64_t n) { return indim_build_scalar_int(s->p->x.b, INDIM_S64, n); }

// Before the loop: no step has given less than the bounds.
static value start(const scan *s, const indim_sized *operands) {
  indim_padder *p = s->p;
  value *all = indim_expand_values(&p->x, s->count);
  int32_t at = ARRAYS;
  if (all == NULL) {
    return NULL;
  }
  indim_run_size length = indim_size_of(&operands[0], s->instr->operands[0]->shape, s->dim);
  for (int32_t k = 1; k < s->inputs; k++) {
    length = indim_size_least(p, length, indim_size_of(&operands[k], s->instr->operands[k]->shape, s->dim));
  }
  all[INDEX] = number(s, 0);
  all[LENGTH] = indim_size_scalar(p, length, INDIM_S64);
  for (int32_t k = 0; k < s->instr->operand_count; k++) {
    bool is_input = k < s->inputs;
    const indim_shape *own = s->instr->operands[k]->shape;
    all[at++] = indim_padder_operand(p, s->instr, operands, k, is_input ? own : s->called->parameters[k]->shape);
  }
  for (int32_t k = 0; k < s->outputs; k++) {
    const indim_shape *part = indim_instr_result_shape(s->called->root, k);
    const indim_shape *data = indim_padder_data_shape(p, indim_instr_result_shape(s->instr, k));
    all[at++] = data == NULL ? NULL : indim_expand_zeros(&p->x, data);
    for (int32_t d = 0; d < part->rank; d++) {
      if (indim_dim_is_dynamic(part, d)) {
        all[at++] = number(s, part->sizes[d]);
      }
    }
  }
  return indim_build_tuple(p->x.b, all, s->count);
}

static const indim_computation *make_condition(const scan *s, const indim_shape *state) {
  indim_padder *p = s->p;
  indim_computation *outer = indim_padder_begin(p, "scan.condition");
  value all = indim_padder_parameter(p, 0, state);
  value index = indim_build_get_tuple_element(p->x.b, all, INDEX);
  value length = indim_build_get_tuple_element(p->x.b, all, LENGTH);
  return indim_padder_end(p, indim_padder_compare(p, index, length, "LT"), outer);
}

// The cut of input |k| at a place, as to_apply= takes it.
static value cut(const scan *s, value packed, int32_t k, value place) {
  indim_run_size sizes[INDIM_MAX_RANK];
  const indim_shape *whole = s->instr->operands[k]->shape;
  const indim_shape *to = s->called->parameters[k]->shape;
  indim_sized array = indim_padder_unpack(s->p, whole, packed);
  for (int32_t d = 0; d < to->rank; d++) {
    sizes[d] = indim_size_of(&array, whole, d < s->dim ? d : d + 1);
  }
  value data = indim_expand_cut(&s->p->x, array.data, s->dim, place);
  array = indim_padder_settle(s->p, to, data, sizes);
  return indim_padder_pack(s->p, to, &array);
}

// Puts what a step gave for output |k| into the state at |*at|.
static void put(const scan *s, value given, int32_t k, value place, value *all, int32_t *at) {
  indim_padder *p = s->p;
  const indim_shape *part = indim_instr_result_shape(s->called->root, k);
  indim_sized array = indim_padder_unpack(p, part, given);
  all[*at] = indim_expand_put(&p->x, all[*at], s->dim, place, array.data);
  (*at)++;
  for (int32_t d = 0; d < part->rank; d++) {
    if (indim_dim_is_dynamic(part, d)) {
      value own = indim_size_scalar(p, indim_size_of(&array, part, d), INDIM_S64);
      all[*at] = indim_build_binary(p->x.b, INDIM_OP_MINIMUM, all[*at], own, NULL, 0);
      (*at)++;
    }
  }
}

static const indim_computation *make_body(const scan *s, const indim_shape *state) {
  indim_padder *p = s->p;
  const indim_shape *result = s->called->root->shape;
  indim_computation *outer = indim_padder_begin(p, "scan.body");
  value *all = indim_padder_take_apart(p, indim_padder_parameter(p, 0, state), s->count, true);
  value *arguments = indim_expand_values(&p->x, s->instr->operand_count);
  value root = NULL;
  if (all != NULL && arguments != NULL) {
    value behind = indim_build_binary(p->x.b, INDIM_OP_ADD, all[INDEX], number(s, 1), NULL, 0);
    value place = indim_instr_bool(s->instr, INDIM_ATTR_IS_REVERSE, false)
                      ? indim_build_binary(p->x.b, INDIM_OP_SUBTRACT, all[LENGTH], behind, NULL, 0)
                      : all[INDEX];
    for (int32_t k = 0; k < s->instr->operand_count; k++) {
      arguments[k] = k < s->inputs ? cut(s, all[ARRAYS + k], k, place) : all[ARRAYS + k];
    }
    value given = indim_expand_call(&p->x, p->made[s->called->index], arguments, s->instr->operand_count);
    value *parts = indim_padder_take_apart(p, given, s->outputs + s->carries, indim_shape_is_tuple(result));
    int32_t at = ARRAYS + s->instr->operand_count;
    for (int32_t k = 0; parts != NULL && k < s->outputs; k++) {
      put(s, parts[k], k, place, all, &at);
    }
    for (int32_t k = 0; parts != NULL && k < s->carries; k++) {
      const indim_shape *to = s->called->parameters[s->inputs + k]->shape;
      all[ARRAYS + s->inputs + k] =
          indim_padder_coerce(p, parts[s->outputs + k], indim_instr_result_shape(s->called->root, s->outputs + k), to);
    }
    all[INDEX] = behind;
    root = indim_build_tuple(p->x.b, all, s->count);
  }
  return indim_padder_end(p, root, outer);
}

// The outputs, then the carries, as the program's shapes have them.
static indim_sized finish(const scan *s, const value *all) {
  indim_padder *p = s->p;
  value *results = indim_expand_values(&p->x, (int64_t)s->outputs + s->carries);
  int32_t at = ARRAYS + s->instr->operand_count;
  indim_run_size sizes[INDIM_MAX_RANK];
  for (int32_t k = 0; results != NULL && k < s->outputs; k++) {
    const indim_shape *part = indim_instr_result_shape(s->called->root, k);
    const indim_shape *shape = indim_instr_result_shape(s->instr, k);
    value data = all[at++];
    sizes[s->dim] = (indim_run_size){.scalar = all[LENGTH]};
    for (int32_t d = 0; d < part->rank; d++) {
      sizes[d < s->dim ? d : d + 1] =
          indim_dim_is_dynamic(part, d) ? (indim_run_size){.scalar = all[at++]} : indim_size_known(part->sizes[d]);
    }
    indim_sized output = indim_padder_settle(p, shape, data, sizes);
    results[k] = indim_padder_pack(p, shape, &output);
  }
  for (int32_t k = 0; results != NULL && k < s->carries; k++) {
    results[s->outputs + k] =
        indim_padder_coerce(p, all[ARRAYS + s->inputs + k], s->called->parameters[s->inputs + k]->shape,
                            indim_instr_result_shape(s->instr, s->outputs + k));
  }
  if (results == NULL) {
    return (indim_sized){0};
  }
  return indim_padder_unpack(
      p, s->instr->shape,
      indim_shape_is_tuple(s->instr->shape) ? indim_build_tuple(p->x.b, results, s->outputs + s->carries) : results[0]);
}

indim_sized indim_dynamic_scan(indim_padder *p, const indim_instr *instr, indim_sized *operands) {
  scan s = read_scan(p, instr);
  value state = start(&s, operands);
  if (state == NULL || indim_padder_failed(p)) {
    return (indim_sized){0};
  }
  bool has_steps = instr->operands[0]->shape->sizes[s.dim] > 0;
  const indim_computation *condition = has_steps ? make_condition(&s, state->shape) : NULL;
  const indim_computation *body = has_steps ? make_body(&s, state->shape) : NULL;
  if (indim_padder_failed(p)) {
    return (indim_sized){0};
  }
  value end = has_steps ? indim_build_while(p->x.b, condition, body, state) : state;
  value *all = indim_padder_take_apart(p, end, s.count, true);
  return all == NULL ? (indim_sized){0} : finish(&s, all);
}
