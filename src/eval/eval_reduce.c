// reduce and map: small computations applied to many elements.
#include <string.h>

#include "eval/apply.h"

// reduce ------------------------------------------------------------------------------------------------------------

// What a reduction works on: |n| inputs and as many accumulators, which are the results.
typedef struct reduction {
  int32_t n;
  indim_value **inputs;
  indim_value **results;
  indim_scalar *scalars;            // 2n arguments, then n results
  int64_t strides[INDIM_MAX_RANK];  // of the result, for each dimension of the input; 0 where it is reduced
} reduction;

// Folds every element into its accumulator, in row-major order of the input.
static indim_status fold(indim_evaluator *e, indim_applied *a, const reduction *r) {
  enum { BETWEEN_POLLS = 1 << 14 };
  const indim_shape *shape = r->inputs[0]->shape;
  int64_t index[INDIM_MAX_RANK] = {0};
  for (int64_t k = 0; k < r->inputs[0]->count; k++) {
    int64_t to = 0;
    for (int32_t d = 0; d < shape->rank; d++) {
      to += index[d] * r->strides[d];
    }
    for (int32_t i = 0; i < r->n; i++) {
      r->scalars[i] = indim_scalar_load(r->results[i]->shape->type, r->results[i]->data, to);
      r->scalars[r->n + i] = indim_scalar_load(r->inputs[i]->shape->type, r->inputs[i]->data, k);
    }
    INDIM_TRY(indim_applied_run(a, r->scalars, r->scalars + 2 * r->n));
    for (int32_t i = 0; i < r->n; i++) {
      indim_scalar_store(r->results[i]->shape->type, r->results[i]->data, to, r->scalars[2 * r->n + i]);
    }
    (void)indim_index_next(shape, index);
    if (k % BETWEEN_POLLS == BETWEEN_POLLS - 1) {
      INDIM_TRY(indim_poll(e->cx));
    }
  }
  return INDIM_OK;
}

static void fill_strides(const indim_instr *instr, const indim_shape *input, reduction *r) {
  int64_t count = 0;
  const int64_t *dims = indim_instr_ints(instr, INDIM_ATTR_DIMENSIONS, &count);
  int64_t stride = 1;
  for (int32_t d = input->rank - 1; d >= 0; d--) {
    bool reduced = false;
    for (int64_t i = 0; i < count; i++) {
      reduced = reduced || dims[i] == d;
    }
    r->strides[d] = reduced ? 0 : stride;
    stride *= reduced ? 1 : input->sizes[d];
  }
}

// The accumulators, each full of its initial value.
static indim_status make_accumulators(indim_evaluator *e, const indim_instr *instr, indim_value **inits, reduction *r) {
  for (int32_t i = 0; i < r->n; i++) {
    const indim_shape *shape = r->n == 1 ? instr->shape : instr->shape->members[i];
    INDIM_TRY(indim_value_new(e->cx, shape, &r->results[i]));
    indim_scalar init = indim_scalar_load(inits[i]->shape->type, inits[i]->data, 0);
    for (int64_t k = 0; k < r->results[i]->count; k++) {
      indim_scalar_store(shape->type, r->results[i]->data, k, init);
    }
  }
  return INDIM_OK;
}

indim_status indim_eval_reduce(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                               indim_value **out) {
  reduction r = {.n = instr->operand_count / 2, .inputs = operands};
  indim_applied a = {.e = e};
  void *memory = NULL;
  size_t values_size = (size_t)r.n * sizeof *r.results;
  size_t size = values_size + 3 * (size_t)r.n * sizeof *r.scalars + sizeof *r.scalars;
  INDIM_TRY(indim_alloc_zeroed(e->cx, size, &memory));
  r.scalars = memory;
  r.results = (indim_value **)(void *)((char *)memory + (size - values_size));
  fill_strides(instr, operands[0]->shape, &r);
  indim_status status = make_accumulators(e, instr, operands + r.n, &r);
  if (status == INDIM_OK) {
    status = indim_applied_init(e, indim_instr_computation(instr, INDIM_ATTR_TO_APPLY), &a);
  }
  if (status == INDIM_OK) {
    status = fold(e, &a, &r);
  }
  if (status == INDIM_OK && indim_shape_is_tuple(instr->shape)) {
    status = indim_value_new_tuple(e->cx, instr->shape, r.results, out);
  } else if (status == INDIM_OK) {
    *out = r.results[0];
  }
  for (int32_t i = 0; status != INDIM_OK && i < r.n; i++) {
    indim_value_release(e->cx, r.results[i]);
  }
  indim_applied_deinit(&a);
  indim_free(e->cx, memory, size);
  return status;
}

// map ---------------------------------------------------------------------------------------------------------------

indim_status indim_eval_map(indim_evaluator *e, const indim_instr *instr, indim_value **operands, indim_value **out) {
  indim_applied a = {.e = e};
  void *memory = NULL;
  indim_value *result = NULL;
  size_t size = ((size_t)instr->operand_count + 1) * sizeof(indim_scalar);
  INDIM_TRY(indim_alloc_zeroed(e->cx, size, &memory));
  indim_scalar *scalars = memory;
  indim_status status = indim_value_new(e->cx, instr->shape, &result);
  if (status == INDIM_OK) {
    status = indim_applied_init(e, indim_instr_computation(instr, INDIM_ATTR_TO_APPLY), &a);
  }
  for (int64_t k = 0; status == INDIM_OK && k < result->count; k++) {
    for (int32_t i = 0; i < instr->operand_count; i++) {
      scalars[i] = indim_scalar_load(operands[i]->shape->type, operands[i]->data, k);
    }
    status = indim_applied_run(&a, scalars, &scalars[instr->operand_count]);
    if (status == INDIM_OK) {
      indim_scalar_store(instr->shape->type, result->data, k, scalars[instr->operand_count]);
      status = k % 1024 == 1023 ? indim_poll(e->cx) : INDIM_OK;
    }
  }
  indim_applied_deinit(&a);
  indim_free(e->cx, memory, size);
  if (status != INDIM_OK) {
    indim_value_release(e->cx, result);
    return status;
  }
  *out = result;
  return INDIM_OK;
}
