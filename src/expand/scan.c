// scan: a while loop over the places of one dimension. Each step cuts the inputs there, calls to_apply= with the cuts and
// the carries, puts what it returns first into the outputs, and carries the rest.
#include "expand/kit.h"

typedef struct scan {
  const indim_instr *instr;
  int64_t dim, length;
  int32_t inputs, carries, outputs;
} scan;

static scan read_scan(const indim_instr *instr) {
  int64_t count = 0;
  const indim_shape *shape = instr->shape;
  scan s = {.instr = instr, .carries = (int32_t)indim_instr_int(instr, INDIM_ATTR_NUM_CARRIES, 0)};
  s.dim = indim_instr_ints(instr, INDIM_ATTR_DIMENSIONS, &count)[0];
  s.length = instr->operands[0]->shape->sizes[s.dim];
  s.inputs = instr->operand_count - s.carries;
  s.outputs = (indim_shape_is_tuple(shape) ? (int32_t)shape->member_count : 1) - s.carries;
  return s;
}

// The values are the inputs, the carries, the outputs.
static value step(indim_expander *x, const void *about, value index, value *values) {
  const scan *s = about;
  const indim_computation *called = indim_instr_computation(s->instr, INDIM_ATTR_TO_APPLY);
  bool is_tuple = indim_shape_is_tuple(called->root->shape);
  value *arguments = indim_expand_values(x, s->inputs + s->carries);
  value last = indim_build_scalar_int(x->b, INDIM_S64, s->length - 1);
  value at = indim_instr_bool(s->instr, INDIM_ATTR_IS_REVERSE, false)
                 ? indim_build_binary(x->b, INDIM_OP_SUBTRACT, last, index, NULL, 0)
                 : index;
  for (int32_t k = 0; arguments != NULL && k < s->inputs + s->carries; k++) {
    arguments[k] = k < s->inputs ? indim_expand_cut(x, values[k], s->dim, at) : values[k];
  }
  value given = indim_expand_call(x, called, arguments, s->inputs + s->carries);
  for (int32_t k = 0; k < s->outputs + s->carries; k++) {
    value part = is_tuple ? indim_build_get_tuple_element(x->b, given, k) : given;
    if (k < s->outputs) {
      value *output = &values[s->inputs + s->carries + k];
      *output = indim_expand_put(x, *output, s->dim, at, part);
    } else {
      values[s->inputs + k - s->outputs] = part;
    }
  }
  return indim_expand_next(x, index);
}

// Before the loop.
static void fill_values(indim_expander *x, const scan *s, value *values) {
  for (int32_t k = 0; k < s->inputs + s->carries; k++) {
    values[k] = x->operands[k];
  }
  for (int32_t k = 0; k < s->outputs; k++) {
    values[s->inputs + s->carries + k] = indim_expand_zeros(x, indim_instr_result_shape(s->instr, k));
  }
}

// The outputs, then the carries.
static value take_results(indim_expander *x, const scan *s, const value *values) {
  value *results = indim_expand_values(x, s->outputs + s->carries);
  for (int32_t k = 0; results != NULL && k < s->outputs + s->carries; k++) {
    results[k] = values[k < s->outputs ? s->inputs + s->carries + k : s->inputs + k - s->outputs];
  }
  if (results == NULL) {
    return NULL;
  }
  return indim_shape_is_tuple(s->instr->shape) ? indim_build_tuple(x->b, results, s->outputs + s->carries) : results[0];
}

value indim_expand_scan(indim_expander *x) {
  scan s = read_scan(x->instr);
  indim_expand_loop loop = {0};
  int32_t count = s.inputs + s.carries + s.outputs;
  void *memory = NULL;
  value *values = indim_expand_values(x, count);
  indim_build_fail(x->b, indim_arena_array(&x->b->module->arena, (size_t)count, sizeof(indim_shape *), &memory));
  const indim_shape **shapes = memory;
  if (x->b->status != INDIM_OK) {
    return NULL;
  }
  for (int32_t k = 0; k < count; k++) {
    bool is_operand = k < s.inputs + s.carries;
    shapes[k] = is_operand ? x->instr->operands[k]->shape : indim_instr_result_shape(s.instr, k - s.inputs - s.carries);
  }
  if (s.length > 0) {
    loop = indim_expand_make_loop(x, s.length, shapes, count, step, &s);
  }
  indim_expand_begin(x);
  fill_values(x, &s, values);
  if (s.length > 0) {
    indim_expand_run_loop(x, &loop, values);
  }
  return take_results(x, &s, values);
}
