// scan: to_apply= runs for each place of a dimension, on the cuts of the inputs there and the carries of the place before. Of a
// dynamic dimension the places that all inputs have count; along its other dimensions an output has the least size of all steps.
#include <string.h>

#include "eval/dynamic.h"

typedef struct scan {
  indim_evaluator *e;
  const indim_instr *instr;
  const indim_computation *called;
  int64_t dim, length;
  int32_t inputs, carries, outputs;
  indim_value **arguments;  // cuts, then carries
  indim_value **results;    // outputs; then, at the end, carries
  int64_t *sizes;           // of the outputs, INDIM_MAX_RANK each
} scan;

static scan read_scan(indim_evaluator *e, const indim_instr *instr, indim_value *const *operands) {
  int64_t count = 0;
  const indim_shape *shape = instr->shape;
  scan s = {.e = e, .instr = instr, .called = indim_instr_computation(instr, INDIM_ATTR_TO_APPLY)};
  s.dim = indim_instr_ints(instr, INDIM_ATTR_DIMENSIONS, &count)[0];
  s.length = INT64_MAX;
  s.carries = (int32_t)indim_instr_int(instr, INDIM_ATTR_NUM_CARRIES, 0);
  s.inputs = instr->operand_count - s.carries;
  s.outputs = (indim_shape_is_tuple(shape) ? (int32_t)shape->member_count : 1) - s.carries;
  for (int32_t k = 0; k < s.inputs; k++) {
    int64_t length = indim_dynamic_size(operands[k], (int32_t)s.dim);
    s.length = length < s.length ? length : s.length;
  }
  return s;
}

// Copies place |at| of the scanned dimension between an array and a cut of it.
static indim_status copy_cut(const scan *s, const indim_value *whole, int64_t at, const indim_value *cut, bool is_put) {
  int64_t whole_strides[INDIM_MAX_RANK];
  int64_t cut_strides[INDIM_MAX_RANK];
  int64_t sizes[INDIM_MAX_RANK];
  const indim_shape *shape = whole->shape;
  int64_t bytes = indim_type_bytes(shape->type);
  indim_eval_dense_strides(shape, whole_strides);
  indim_eval_dense_strides(cut->shape, cut_strides);
  for (int32_t d = shape->rank - 1; d > s->dim; d--) {
    cut_strides[d] = cut_strides[d - 1];
  }
  cut_strides[s->dim] = 0;
  for (int32_t d = 0; d < shape->rank; d++) {
    sizes[d] = d == s->dim ? 1 : shape->sizes[d];
  }
  unsigned char *there = whole->data + at * whole_strides[s->dim] * bytes;
  if (is_put) {
    return indim_eval_copy_box(s->e, shape->rank, sizes, bytes, there, whole_strides, cut->data, cut_strides);
  }
  return indim_eval_copy_box(s->e, shape->rank, sizes, bytes, cut->data, cut_strides, there, whole_strides);
}

// Gives a cut the sizes of the array's other dimensions.
static indim_status cut_sizes(const scan *s, const indim_value *whole, indim_value *cut) {
  int64_t sizes[INDIM_MAX_RANK];
  for (int32_t d = 0; d < cut->shape->rank; d++) {
    sizes[d] = indim_dynamic_size(whole, d < s->dim ? d : d + 1);
  }
  INDIM_TRY(indim_dynamic_check_sizes(s->e, s->instr, cut->shape, sizes));
  if (cut->sizes != NULL) {
    memcpy(cut->sizes, sizes, (size_t)cut->shape->rank * sizeof *sizes);
  }
  return INDIM_OK;
}

static void lessen_sizes(const scan *s, int32_t output, const indim_value *given) {
  int64_t *sizes = &s->sizes[(int64_t)output * INDIM_MAX_RANK];
  for (int32_t d = 0; d < given->shape->rank; d++) {
    int64_t *size = &sizes[d < s->dim ? d : d + 1];
    int64_t own = indim_dynamic_size(given, d);
    *size = own < *size ? own : *size;
  }
}

static indim_status cut_inputs(const scan *s, indim_value *const *operands, int64_t at) {
  for (int32_t k = 0; k < s->inputs; k++) {
    INDIM_TRY(indim_value_new(s->e->cx, s->called->parameters[k]->shape, &s->arguments[k]));
    INDIM_TRY(copy_cut(s, operands[k], at, s->arguments[k], false));
    INDIM_TRY(cut_sizes(s, operands[k], s->arguments[k]));
  }
  return INDIM_OK;
}

// Of what one run of to_apply= gave, the outputs are put in place and the carries kept for the next.
static indim_status take(const scan *s, const indim_value *given, int64_t at) {
  bool is_tuple = indim_shape_is_tuple(s->called->root->shape);
  for (int32_t k = 0; k < s->outputs; k++) {
    const indim_value *part = is_tuple ? given->members[k] : given;
    INDIM_TRY(copy_cut(s, s->results[k], at, part, true));
    lessen_sizes(s, k, part);
  }
  for (int32_t k = 0; k < s->carries && is_tuple; k++) {
    s->arguments[s->inputs + k] = indim_value_retain(given->members[s->outputs + k]);
  }
  return INDIM_OK;
}

static indim_status run_step(const scan *s, indim_value *const *operands, int64_t at) {
  indim_value *given = NULL;
  INDIM_TRY(cut_inputs(s, operands, at));
  INDIM_TRY(indim_eval_computation(s->e, s->called, s->arguments, s->inputs + s->carries, &given));
  indim_status status = take(s, given, at);
  if (status == INDIM_OK && s->carries == 1 && !indim_shape_is_tuple(s->called->root->shape)) {
    s->arguments[s->inputs] = given;  // a carry and nothing else
    return INDIM_OK;
  }
  indim_value_release(s->e->cx, given);
  return status;
}

static indim_status run_steps(const scan *s, indim_value *const *operands) {
  bool is_reverse = indim_instr_bool(s->instr, INDIM_ATTR_IS_REVERSE, false);
  for (int32_t k = 0; k < s->outputs; k++) {
    const indim_shape *shape = indim_instr_result_shape(s->instr, k);
    INDIM_TRY(indim_value_new(s->e->cx, shape, &s->results[k]));
    if (shape->dynamic != 0) {  // what is not written is 0
      memset(s->results[k]->data, 0, (size_t)s->results[k]->bytes);
    }
    memcpy(&s->sizes[(int64_t)k * INDIM_MAX_RANK], shape->sizes, (size_t)shape->rank * sizeof *s->sizes);
    s->sizes[(int64_t)k * INDIM_MAX_RANK + s->dim] = s->length;
  }
  for (int32_t k = 0; k < s->carries; k++) {
    s->arguments[s->inputs + k] = indim_value_retain(operands[s->inputs + k]);
  }
  for (int64_t i = 0; i < s->length; i++) {
    INDIM_TRY(run_step(s, operands, is_reverse ? s->length - 1 - i : i));
  }
  return INDIM_OK;
}

// The outputs and the carries as one value; what is taken is no longer among the arguments and results.
static indim_status finish(const scan *s, indim_value **out) {
  int32_t count = s->outputs + s->carries;
  for (int32_t k = 0; k < s->outputs; k++) {
    const int64_t *sizes = &s->sizes[(int64_t)k * INDIM_MAX_RANK];
    INDIM_TRY(indim_dynamic_check_sizes(s->e, s->instr, indim_instr_result_shape(s->instr, k), sizes));
    if (s->results[k]->sizes != NULL) {
      memcpy(s->results[k]->sizes, sizes, (size_t)indim_instr_result_shape(s->instr, k)->rank * sizeof *sizes);
    }
  }
  for (int32_t k = 0; k < s->carries; k++) {
    s->results[s->outputs + k] = s->arguments[s->inputs + k];
    s->arguments[s->inputs + k] = NULL;
  }
  if (indim_shape_is_tuple(s->instr->shape)) {
    INDIM_TRY(indim_value_new_tuple(s->e->cx, s->instr->shape, s->results, out));
  } else {
    *out = s->results[0];
  }
  for (int32_t k = 0; k < count; k++) {
    s->results[k] = NULL;
  }
  return INDIM_OK;
}

indim_status indim_eval_scan(indim_evaluator *e, const indim_instr *instr, indim_value **operands, indim_value **out) {
  scan s = read_scan(e, instr, operands);
  size_t arguments = (size_t)(s.inputs + s.carries);
  size_t results = (size_t)(s.outputs + s.carries);
  size_t outputs = (size_t)s.outputs;
  size_t bytes = (arguments + results) * sizeof *s.arguments + outputs * INDIM_MAX_RANK * sizeof *s.sizes;
  void *memory = NULL;
  INDIM_TRY(indim_alloc_zeroed(e->cx, bytes, &memory));
  s.sizes = memory;
  s.arguments = (void *)(s.sizes + outputs * INDIM_MAX_RANK);
  s.results = s.arguments + arguments;
  indim_status status = run_steps(&s, operands);
  status = status == INDIM_OK ? finish(&s, out) : status;
  for (size_t i = 0; i < arguments + results; i++) {
    indim_value_release(e->cx, s.arguments[i]);
  }
  indim_free(e->cx, memory, bytes);
  return status;
}
