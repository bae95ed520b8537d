// dot: out[batch, lhs free, rhs free] is the sum of products over the contracting dimensions. f32 and narrower floats are
// summed in double and rounded once, to the result's type (a preferred element type may be narrower than the operands'), f64 in
// long double; integers wrap. Where nothing is contracted there is no sum, and a product of -0 stays that. ragged-dot is the
// same over groups of rows, or of contracted places, whose sizes an operand has; a product with a sparse matrix is the same over the
// elements of each row.
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
  bool is_summed;  // some dimension is contracted
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

// |group|: a dimension that is none of these, -1 for none.
static indim_status make_side(indim_arena *arena, const indim_instr *instr, const indim_value *value,
                              indim_attr_id batch_id, indim_attr_id contracting_id, int64_t group, side *out) {
  int64_t batch_count = 0;
  int64_t contracting_count = 0;
  const int64_t *batch = indim_instr_ints(instr, batch_id, &batch_count);
  const int64_t *contracting = indim_instr_ints(instr, contracting_id, &contracting_count);
  int64_t free[INDIM_MAX_RANK];
  int64_t free_count = 0;
  for (int32_t d = 0; d < value->shape->rank; d++) {
    if (d != group && !indim_list_has(batch, batch_count, d) && !indim_list_has(contracting, contracting_count, d)) {
      free[free_count++] = d;
    }
  }
  *out = (side){.value = value, .is_summed = contracting_count > 0};
  INDIM_TRY(list_offsets(arena, value->shape, batch, batch_count, &out->batch, &out->batch_count));
  INDIM_TRY(list_offsets(arena, value->shape, free, free_count, &out->free, &out->free_count));
  return list_offsets(arena, value->shape, contracting, contracting_count, &out->contracted, &out->contracted_count);
}

// Element of an operand, in the type of the sums.
static indim_scalar load(const side *s, int64_t place, indim_type type) {
  indim_type own = s->value->shape->type;
  indim_scalar value = indim_scalar_load(own, s->value->data, place);
  return own == type ? value : indim_scalar_convert(own, type, value);
}

static indim_scalar sum_products(const side *lhs, int64_t lhs_base, const side *rhs, int64_t rhs_base,
                                 indim_type type) {
  int64_t count = lhs->contracted_count;
  if (indim_type_is_float(type) && type != INDIM_F64) {
    double sum = lhs->is_summed ? 0 : -0.0;
    for (int64_t k = 0; k < count; k++) {
      sum +=
          load(lhs, lhs_base + lhs->contracted[k], INDIM_F64).f * load(rhs, rhs_base + rhs->contracted[k], INDIM_F64).f;
    }
    return (indim_scalar){.f = sum};
  }
  if (type == INDIM_F64) {
    long double sum = lhs->is_summed ? 0 : -0.0L;
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

static indim_status make_sides(indim_arena *arena, const indim_instr *instr, indim_value *const *operands,
                               int64_t group, side *lhs, side *rhs) {
  INDIM_TRY(make_side(arena, instr, operands[0], INDIM_ATTR_LHS_BATCH_DIMS, INDIM_ATTR_LHS_CONTRACTING_DIMS, -1, lhs));
  return make_side(arena, instr, operands[1], INDIM_ATTR_RHS_BATCH_DIMS, INDIM_ATTR_RHS_CONTRACTING_DIMS, group, rhs);
}

// Runs on an arena of its own, once there is something to compute.
typedef indim_status product_fn(indim_evaluator *e, indim_arena *arena, const indim_instr *instr,
                                indim_value *const *operands, indim_value *result);

static indim_status run_product(indim_evaluator *e, const indim_instr *instr, indim_value *const *operands,
                                product_fn *run, indim_value **out) {
  indim_arena arena;
  indim_value *result = NULL;
  INDIM_TRY(indim_value_new(e->cx, instr->shape, &result));
  if (result->count == 0) {
    *out = result;  // the other dimensions may be immense
    return INDIM_OK;
  }
  indim_arena_init(&arena, e->cx);
  indim_status status = run(e, &arena, instr, operands, result);
  indim_arena_deinit(&arena);
  if (status != INDIM_OK) {
    indim_value_release(e->cx, result);
    return status;
  }
  *out = result;
  return INDIM_OK;
}

static indim_status run_dot(indim_evaluator *e, indim_arena *arena, const indim_instr *instr,
                            indim_value *const *operands, indim_value *result) {
  side lhs;
  side rhs;
  INDIM_TRY(make_sides(arena, instr, operands, -1, &lhs, &rhs));
  return multiply(e, &lhs, &rhs, result);
}

indim_status indim_eval_dot(indim_evaluator *e, const indim_instr *instr, indim_value **operands, indim_value **out) {
  return run_product(e, instr, operands, run_dot, out);
}

// Groups ---------------------------------------------------------------------------------------------------------------

// Places along the ragged dimension, among those of its kind: place k of these is k / after % length of the dimension, and
// k / after / length of what stands before it.
typedef struct ragged {
  const indim_value *sizes;
  int64_t length, before, after;
  int64_t groups;
} ragged;

// |dims|: the dimensions of the ragged one's kind, in their order.
static ragged make_ragged(const indim_instr *instr, const indim_value *sizes, const int64_t *dims, int64_t count,
                          int64_t dim) {
  const indim_shape *lhs = instr->operands[0]->shape;
  ragged r = {.sizes = sizes, .length = lhs->sizes[dim], .before = 1, .after = 1};
  bool is_behind = false;
  for (int64_t i = 0; i < count; i++) {
    r.before *= !is_behind && dims[i] != dim ? lhs->sizes[dims[i]] : 1;
    r.after *= is_behind ? lhs->sizes[dims[i]] : 1;
    is_behind = is_behind || dims[i] == dim;
  }
  r.groups = sizes->shape->sizes[sizes->shape->rank - 1];
  return r;
}

// The group of a place in a batch, -1 behind the last one. A negative size is none.
static int64_t find_group(const ragged *r, int64_t batch, int64_t place) {
  int64_t row = place / r->after % r->length;
  int64_t list = r->sizes->shape->rank == 1 ? 0 : batch * r->before + place / r->after / r->length;
  for (int64_t g = 0; g < r->groups; g++) {
    int64_t size = indim_scalar_load(r->sizes->shape->type, r->sizes->data, list * r->groups + g).i;
    if (size > row) {
      return g;
    }
    row -= size > 0 ? size : 0;
  }
  return -1;
}

// Each row times the part of rhs that is its group's; zeros where it has none.
static indim_status multiply_rows(indim_evaluator *e, const side *lhs, const side *rhs, const ragged *r,
                                  int64_t group_stride, indim_value *result) {
  indim_type type = result->shape->type;
  int64_t k = 0;
  for (int64_t b = 0; b < lhs->batch_count; b++) {
    for (int64_t i = 0; i < lhs->free_count; i++) {
      int64_t group = find_group(r, b, i);
      side own = *rhs;
      own.contracted_count = group < 0 ? 0 : rhs->contracted_count;
      side row = *lhs;
      row.contracted_count = own.contracted_count;
      for (int64_t j = 0; j < rhs->free_count; j++) {
        int64_t at = rhs->batch[b] + rhs->free[j] + (group < 0 ? 0 : group * group_stride);
        indim_scalar_store(type, result->data, k++, sum_products(&row, lhs->batch[b] + lhs->free[i], &own, at, type));
        INDIM_TRY(indim_eval_work(e, 1 + own.contracted_count));
      }
    }
  }
  return INDIM_OK;
}

// The contracted places of group |group| in batch |b| alone.
static void keep_group(const side *lhs, const side *rhs, const ragged *r, int64_t b, int64_t group, side *lhs_part,
                       side *rhs_part) {
  int64_t count = 0;
  for (int64_t k = 0; k < lhs->contracted_count; k++) {
    if (find_group(r, b, k) == group) {
      lhs_part->contracted[count] = lhs->contracted[k];
      rhs_part->contracted[count++] = rhs->contracted[k];
    }
  }
  lhs_part->contracted_count = count;
  rhs_part->contracted_count = count;
}

// A product for each group.
static indim_status multiply_parts(indim_evaluator *e, indim_arena *arena, const side *lhs, const side *rhs,
                                   const ragged *r, indim_value *result) {
  indim_type type = result->shape->type;
  side lhs_part = *lhs;
  side rhs_part = *rhs;
  void *memory = NULL;
  size_t count = (size_t)lhs->contracted_count;
  int64_t k = 0;
  INDIM_TRY(indim_arena_array(arena, count, sizeof *lhs_part.contracted, &memory));
  lhs_part.contracted = memory;
  INDIM_TRY(indim_arena_array(arena, count, sizeof *rhs_part.contracted, &memory));
  rhs_part.contracted = memory;
  for (int64_t g = 0; g < r->groups; g++) {
    for (int64_t b = 0; b < lhs->batch_count; b++) {
      keep_group(lhs, rhs, r, b, g, &lhs_part, &rhs_part);
      for (int64_t ij = 0; ij < lhs->free_count * rhs->free_count; ij++) {
        int64_t left = lhs->batch[b] + lhs->free[ij / rhs->free_count];
        int64_t right = rhs->batch[b] + rhs->free[ij % rhs->free_count];
        indim_scalar_store(type, result->data, k++, sum_products(&lhs_part, left, &rhs_part, right, type));
        INDIM_TRY(indim_eval_work(e, 1 + lhs->contracted_count));
      }
    }
  }
  return INDIM_OK;
}

static indim_status run_ragged(indim_evaluator *e, indim_arena *arena, const indim_instr *instr,
                               indim_value *const *operands, indim_value *result) {
  side lhs;
  side rhs;
  int64_t group_count = 0;
  int64_t batch_count = 0;
  int64_t contracting_count = 0;
  int64_t one = 0;
  const int64_t *group = indim_instr_ints(instr, INDIM_ATTR_RHS_GROUP_DIMS, &group_count);
  const int64_t *batch = indim_instr_ints(instr, INDIM_ATTR_LHS_BATCH_DIMS, &batch_count);
  const int64_t *contracting = indim_instr_ints(instr, INDIM_ATTR_LHS_CONTRACTING_DIMS, &contracting_count);
  int64_t dim = indim_instr_ints(instr, INDIM_ATTR_LHS_RAGGED_DIMS, &one)[0];
  INDIM_TRY(make_sides(arena, instr, operands, group_count > 0 ? group[0] : -1, &lhs, &rhs));
  if (indim_list_has(batch, batch_count, dim)) {
    return multiply(e, &lhs, &rhs, result);
  }
  if (indim_list_has(contracting, contracting_count, dim)) {
    ragged r = make_ragged(instr, operands[2], contracting, contracting_count, dim);
    return multiply_parts(e, arena, &lhs, &rhs, &r, result);
  }
  int64_t free[INDIM_MAX_RANK];
  int64_t free_count = 0;
  for (int32_t d = 0; d < operands[0]->shape->rank; d++) {
    if (!indim_list_has(batch, batch_count, d) && !indim_list_has(contracting, contracting_count, d)) {
      free[free_count++] = d;
    }
  }
  int64_t strides[INDIM_MAX_RANK];
  indim_eval_dense_strides(operands[1]->shape, strides);
  ragged r = make_ragged(instr, operands[2], free, free_count, dim);
  return multiply_rows(e, &lhs, &rhs, &r, strides[group[0]], result);
}

indim_status indim_eval_ragged_dot(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                   indim_value **out) {
  return run_product(e, instr, operands, run_ragged, out);
}

// Sparse rows ----------------------------------------------------------------------------------------------------------

static int64_t index_at(const indim_value *indices, int64_t place, int64_t most) {
  int64_t index = indim_scalar_load(indices->shape->type, indices->data, place).i;
  return index < 0 ? 0 : index > most ? most : index;
}

static indim_status run_csr(indim_evaluator *e, indim_arena *arena, const indim_instr *instr,
                            indim_value *const *operands, indim_value *result) {
  enum { DATA, STARTS, COLUMNS, DENSE };
  const indim_shape *dense = operands[DENSE]->shape;
  int64_t elements = instr->operands[DATA]->shape->sizes[0];
  int64_t width = dense->rank == 2 ? dense->sizes[1] : 1;
  void *memory = NULL;
  side lhs = {.value = operands[DATA], .is_summed = true};
  side rhs = {.value = operands[DENSE], .is_summed = true};
  INDIM_TRY(indim_arena_array(arena, (size_t)elements, sizeof *lhs.contracted, &memory));
  lhs.contracted = memory;
  INDIM_TRY(indim_arena_array(arena, (size_t)elements, sizeof *rhs.contracted, &memory));
  rhs.contracted = memory;
  for (int64_t i = 0; i < result->shape->sizes[0]; i++) {
    int64_t begin = index_at(operands[STARTS], i, elements);
    int64_t end = dense->sizes[0] == 0 ? begin : index_at(operands[STARTS], i + 1, elements);
    lhs.contracted_count = end > begin ? end - begin : 0;
    for (int64_t k = 0; k < lhs.contracted_count; k++) {
      lhs.contracted[k] = begin + k;
      rhs.contracted[k] = width * index_at(operands[COLUMNS], begin + k, dense->sizes[0] - 1);
    }
    for (int64_t j = 0; j < width; j++) {
      indim_scalar_store(result->shape->type, result->data, i * width + j,
                         sum_products(&lhs, 0, &rhs, j, result->shape->type));
      INDIM_TRY(indim_eval_work(e, 1 + lhs.contracted_count));
    }
  }
  return INDIM_OK;
}

indim_status indim_eval_csr(indim_evaluator *e, const indim_instr *instr, indim_value **operands, indim_value **out) {
  return run_product(e, instr, operands, run_csr, out);
}
