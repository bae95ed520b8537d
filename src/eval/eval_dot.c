// dot: out[batch, lhs free, rhs free] is the sum of products over the contracting dimensions. f32 and narrower floats
// are summed in double and rounded once, f64 in long double; integers wrap.
#include <string.h>

#include "array/permutation.h"
#include "eval/evaluator.h"

// The elements of one operand as a table of three coordinates: batch, free, contracted, each in row-major order of its
// dimensions as the op lists them.
typedef struct side {
  const indim_value *value;
  int64_t *batch;  // offsets in elements
  int64_t *free;
  int64_t *contracted;
  int64_t batch_count;
  int64_t free_count;
  int64_t contracted_count;
} side;

// Offsets of all indices over |dims| of a shape, in row-major order.
static indim_status list_offsets(indim_arena *arena, const indim_shape *shape, const int64_t *dims, int64_t count,
                                 int64_t **out_offsets, int64_t *out_count) {
  int64_t strides[INDIM_MAX_RANK];
  int64_t index[INDIM_MAX_RANK] = {0};
  int64_t total = 1;
  void *memory = NULL;
  indim_eval_dense_strides(shape, strides);
  for (int64_t i = 0; i < count; i++) {
    total *= shape->sizes[dims[i]];
  }
  INDIM_TRY(indim_arena_array(arena, (size_t)total, sizeof **out_offsets, &memory));
  *out_offsets = memory;
  *out_count = total;
  for (int64_t k = 0; k < total; k++) {
    int64_t offset = 0;
    for (int64_t i = 0; i < count; i++) {
      offset += index[i] * strides[dims[i]];
    }
    (*out_offsets)[k] = offset;
    for (int64_t i = count - 1; i >= 0 && ++index[i] == shape->sizes[dims[i]]; i--) {
      index[i] = 0;
    }
  }
  return INDIM_OK;
}

static indim_status make_side(indim_arena *arena, const indim_instr *instr, const indim_value *value,
                              indim_attr_id batch_id, indim_attr_id contracting_id, side *out) {
  int64_t batch_count = 0;
  int64_t contracting_count = 0;
  const int64_t *batch = indim_instr_ints(instr, batch_id, &batch_count);
  const int64_t *contracting = indim_instr_ints(instr, contracting_id, &contracting_count);
  int64_t free[INDIM_MAX_RANK];
  int64_t free_count = 0;
  for (int32_t d = 0; d < value->shape->rank; d++) {
    if (!indim_list_has(batch, batch_count, d) && !indim_list_has(contracting, contracting_count, d)) {
      free[free_count++] = d;
    }
  }
  *out = (side){.value = value};
  INDIM_TRY(list_offsets(arena, value->shape, batch, batch_count, &out->batch, &out->batch_count));
  INDIM_TRY(list_offsets(arena, value->shape, free, free_count, &out->free, &out->free_count));
  return list_offsets(arena, value->shape, contracting, contracting_count, &out->contracted, &out->contracted_count);
}

// Element of an operand, in the result's type where that differs (a preferred element type).
static indim_scalar load(const side *s, int64_t place, indim_type type) {
  indim_type own = s->value->shape->type;
  indim_scalar value = indim_scalar_load(own, s->value->data, place);
  return own == type ? value : indim_scalar_convert(own, type, value);
}

static indim_scalar sum_products(const side *lhs, int64_t lhs_base, const side *rhs, int64_t rhs_base,
                                 indim_type type) {
  int64_t count = lhs->contracted_count;
  if (indim_type_is_float(type) && type != INDIM_F64) {
    double sum = 0;
    for (int64_t k = 0; k < count; k++) {
      sum += load(lhs, lhs_base + lhs->contracted[k], type).f * load(rhs, rhs_base + rhs->contracted[k], type).f;
    }
    return (indim_scalar){.f = sum};
  }
  if (type == INDIM_F64) {
    long double sum = 0;
    for (int64_t k = 0; k < count; k++) {
      sum += (long double)load(lhs, lhs_base + lhs->contracted[k], type).f *
             (long double)load(rhs, rhs_base + rhs->contracted[k], type).f;
    }
    return (indim_scalar){.f = (double)sum};
  }
  if (indim_type_is_complex(type)) {
    long double re = 0;
    long double im = 0;
    for (int64_t k = 0; k < count; k++) {
      indim_complex x = load(lhs, lhs_base + lhs->contracted[k], type).c;
      indim_complex y = load(rhs, rhs_base + rhs->contracted[k], type).c;
      re += (long double)x.re * (long double)y.re - (long double)x.im * (long double)y.im;
      im += (long double)x.re * (long double)y.im + (long double)x.im * (long double)y.re;
    }
    return (indim_scalar){.c = {(double)re, (double)im}};
  }
  uint64_t sum = 0;
  for (int64_t k = 0; k < count; k++) {
    uint64_t product = (uint64_t)load(lhs, lhs_base + lhs->contracted[k], type).i *
                       (uint64_t)load(rhs, rhs_base + rhs->contracted[k], type).i;
    sum = type == INDIM_PRED ? sum | product : sum + product;
  }
  return (indim_scalar){.i = (int64_t)sum};
}

static indim_status multiply(indim_evaluator *e, const side *lhs, const side *rhs, indim_value *result) {
  indim_type type = result->shape->type;
  int64_t k = 0;
  for (int64_t b = 0; b < lhs->batch_count; b++) {
    for (int64_t i = 0; i < lhs->free_count; i++) {
      for (int64_t j = 0; j < rhs->free_count; j++) {
        indim_scalar sum = sum_products(lhs, lhs->batch[b] + lhs->free[i], rhs, rhs->batch[b] + rhs->free[j], type);
        indim_scalar_store(type, result->data, k++, sum);
        INDIM_TRY(indim_eval_work(e, 1 + lhs->contracted_count));
      }
    }
  }
  return INDIM_OK;
}

indim_status indim_eval_dot(indim_evaluator *e, const indim_instr *instr, indim_value **operands, indim_value **out) {
  indim_arena arena;
  side lhs;
  side rhs;
  indim_value *result = NULL;
  INDIM_TRY(indim_value_new(e->cx, instr->shape, &result));
  if (result->count == 0) {
    *out = result;  // the other dimensions may be immense
    return INDIM_OK;
  }
  indim_arena_init(&arena, e->cx);
  indim_status status =
      make_side(&arena, instr, operands[0], INDIM_ATTR_LHS_BATCH_DIMS, INDIM_ATTR_LHS_CONTRACTING_DIMS, &lhs);
  if (status == INDIM_OK) {
    status = make_side(&arena, instr, operands[1], INDIM_ATTR_RHS_BATCH_DIMS, INDIM_ATTR_RHS_CONTRACTING_DIMS, &rhs);
  }
  if (status == INDIM_OK) {
    status = multiply(e, &lhs, &rhs, result);
  }
  indim_arena_deinit(&arena);
  if (status != INDIM_OK) {
    indim_value_release(e->cx, result);
    return status;
  }
  *out = result;
  return INDIM_OK;
}
