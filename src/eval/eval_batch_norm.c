// Batch normalisation: means over all dimensions but feature_index=, computed in long double and rounded once. Epsilon is an
// f32, as XLA keeps it.
#include <math.h>

#include "eval/evaluator.h"

// Element k of an array belongs to feature k / inner % features.
typedef struct features {
  indim_type type;
  int64_t count;  // features
  int64_t inner;  // elements of the dimensions behind that of the features
  int64_t total;  // elements
  long double per_feature;
  long double epsilon;
} features;

static features read_features(const indim_instr *instr, const indim_value *input) {
  const indim_shape *shape = input->shape;
  int64_t feature = indim_instr_int(instr, INDIM_ATTR_FEATURE_INDEX, 0);
  features f = {
      .type = shape->type, .count = shape->sizes[feature], .inner = 1, .total = input->count, .per_feature = 1};
  for (int32_t d = 0; d < shape->rank; d++) {
    f.inner *= d > feature && input->count > 0 ? shape->sizes[d] : 1;
    f.per_feature *= d != feature ? (long double)shape->sizes[d] : 1;
  }
  f.epsilon = (long double)(float)indim_instr_attr(instr, INDIM_ATTR_EPSILON)->value.number;
  return f;
}

static int64_t feature_of(const features *f, int64_t k) { return k / f->inner % f->count; }

static long double load(const features *f, const indim_value *value, int64_t k) {
  return (long double)indim_scalar_load(f->type, value->data, k).f;
}

// Through double: the result is rounded to the type from there.
static void store(const features *f, const indim_value *value, int64_t k, long double number) {
  indim_scalar_store(f->type, value->data, k, (indim_scalar){.f = (double)number});
}

// Two sums or means for each feature, zero before.
static size_t sums_bytes(const features *f) { return (size_t)f->count * 2 * sizeof(long double); }

static indim_status new_sums(indim_evaluator *e, const features *f, long double **out) {
  void *memory = NULL;
  *out = NULL;
  INDIM_TRY(indim_alloc_zeroed(e->cx, sums_bytes(f), &memory));
  *out = memory;
  return INDIM_OK;
}

// (elements, a vector, another) with undefined elements, as |instr| returns it.
static indim_status new_three(indim_evaluator *e, const indim_instr *instr, indim_value **out) {
  indim_value *members[3] = {NULL, NULL, NULL};
  indim_status status = INDIM_OK;
  for (int i = 0; i < 3 && status == INDIM_OK; i++) {
    status = indim_value_new(e->cx, instr->shape->members[i], &members[i]);
  }
  if (status == INDIM_OK) {
    status = indim_value_new_tuple(e->cx, instr->shape, members, out);
  }
  for (int i = 0; i < 3 && status != INDIM_OK; i++) {
    indim_value_release(e->cx, members[i]);
  }
  return status;
}

// Frees the sums; the |result| is returned, or released after an error.
static indim_status finish(indim_evaluator *e, const features *f, long double *sums, indim_status status,
                           indim_value *result, indim_value **out) {
  indim_free(e->cx, sums, sums_bytes(f));
  if (status != INDIM_OK) {
    indim_value_release(e->cx, result);
    return status;
  }
  *out = result;
  return INDIM_OK;
}

// Training -------------------------------------------------------------------------------------------------------------

// The mean, then the variance around it.
static indim_status find_moments(indim_evaluator *e, const features *f, const indim_value *input, long double *mean,
                                 long double *variance) {
  for (int64_t k = 0; k < f->total; k++) {
    mean[feature_of(f, k)] += load(f, input, k);
    INDIM_TRY(indim_eval_work(e, 1));
  }
  for (int64_t c = 0; c < f->count; c++) {
    mean[c] /= f->per_feature;
  }
  for (int64_t k = 0; k < f->total; k++) {
    long double distance = load(f, input, k) - mean[feature_of(f, k)];
    variance[feature_of(f, k)] += distance * distance;
    INDIM_TRY(indim_eval_work(e, 1));
  }
  for (int64_t c = 0; c < f->count; c++) {
    variance[c] /= f->per_feature;
  }
  return INDIM_OK;
}

static indim_status normalize(indim_evaluator *e, const features *f, indim_value *const *operands,
                              const long double *mean, const long double *variance, const indim_value *out) {
  for (int64_t k = 0; k < f->total; k++) {
    int64_t c = feature_of(f, k);
    long double centered = load(f, operands[0], k) - mean[c];
    long double scaled = centered / sqrtl(variance[c] + f->epsilon) * load(f, operands[1], c);
    store(f, out, k, scaled + load(f, operands[2], c));
    INDIM_TRY(indim_eval_work(e, 1));
  }
  return INDIM_OK;
}

indim_status indim_eval_batch_norm_training(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                            indim_value **out) {
  features f = read_features(instr, operands[0]);
  long double *sums = NULL;
  indim_value *result = NULL;
  INDIM_TRY(new_sums(e, &f, &sums));
  long double *variance = sums + f.count;
  indim_status status = new_three(e, instr, &result);
  status = status == INDIM_OK ? find_moments(e, &f, operands[0], sums, variance) : status;
  status = status == INDIM_OK ? normalize(e, &f, operands, sums, variance, result->members[0]) : status;
  for (int64_t c = 0; c < f.count && status == INDIM_OK; c++) {
    store(&f, result->members[1], c, sums[c]);
    store(&f, result->members[2], c, variance[c]);
  }
  return finish(e, &f, sums, status, result, out);
}

// Inference ------------------------------------------------------------------------------------------------------------

indim_status indim_eval_batch_norm_inference(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                             indim_value **out) {
  features f = read_features(instr, operands[0]);
  long double *given = NULL;
  indim_value *result = NULL;
  INDIM_TRY(new_sums(e, &f, &given));
  for (int64_t c = 0; c < f.count; c++) {
    given[c] = load(&f, operands[3], c);
    given[f.count + c] = load(&f, operands[4], c);
  }
  indim_status status = indim_value_new(e->cx, instr->shape, &result);
  status = status == INDIM_OK ? normalize(e, &f, operands, given, given + f.count, result) : status;
  return finish(e, &f, given, status, result, out);
}

// Gradients ------------------------------------------------------------------------------------------------------------

// The sums of dy and of dy (x - mean).
static indim_status sum_gradients(indim_evaluator *e, const features *f, indim_value *const *operands,
                                  long double *plain, long double *product) {
  for (int64_t k = 0; k < f->total; k++) {
    int64_t c = feature_of(f, k);
    long double gradient = load(f, operands[4], k);
    plain[c] += gradient;
    product[c] += gradient * (load(f, operands[0], k) - load(f, operands[2], c));
    INDIM_TRY(indim_eval_work(e, 1));
  }
  return INDIM_OK;
}

// dx = scale / s (dy - mean(dy) - (x - mean) mean(dy (x - mean)) / s^2), s^2 = variance + epsilon.
static indim_status find_gradients(indim_evaluator *e, const features *f, indim_value *const *operands,
                                   const long double *plain, const long double *product, indim_value *const *results) {
  for (int64_t k = 0; k < f->total; k++) {
    int64_t c = feature_of(f, k);
    long double square = load(f, operands[3], c) + f->epsilon;
    long double centered = load(f, operands[0], k) - load(f, operands[2], c);
    long double rest = load(f, operands[4], k) - plain[c] / f->per_feature;
    rest -= centered * (product[c] / f->per_feature) / square;
    store(f, results[0], k, load(f, operands[1], c) / sqrtl(square) * rest);
    INDIM_TRY(indim_eval_work(e, 1));
  }
  for (int64_t c = 0; c < f->count; c++) {
    store(f, results[1], c, product[c] / sqrtl(load(f, operands[3], c) + f->epsilon));
    store(f, results[2], c, plain[c]);
  }
  return INDIM_OK;
}

indim_status indim_eval_batch_norm_grad(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                        indim_value **out) {
  features f = read_features(instr, operands[0]);
  long double *sums = NULL;
  indim_value *result = NULL;
  INDIM_TRY(new_sums(e, &f, &sums));
  indim_status status = new_three(e, instr, &result);
  status = status == INDIM_OK ? sum_gradients(e, &f, operands, sums, sums + f.count) : status;
  status = status == INDIM_OK ? find_gradients(e, &f, operands, sums, sums + f.count, result->members) : status;
  return finish(e, &f, sums, status, result, out);
}
