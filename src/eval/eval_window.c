// reduce-window, select-and-scatter, convolution: what slides a window over an array. Tap w of the window at place o meets
// base coordinate o * stride + w * window_dilation - pad_low, and an element there if that is not negative, a multiple of
// base_dilation, and its quotient inside the array. What meets nothing is left out.
#include <string.h>

#include "eval/apply.h"

static const indim_window_dim whole = {.size = 1, .stride = 1, .base_dilation = 1, .window_dilation = 1};

// The window of dimension |i|; one element where the text gives none.
static const indim_window_dim *window_dim(const indim_instr *instr, int32_t i) {
  const indim_attr *attr = indim_instr_attr(instr, INDIM_ATTR_WINDOW);
  return attr == NULL ? &whole : &attr->value.window[i];
}

// The element that a tap meets along one dimension; false if none.
static bool meets(const indim_window_dim *window, int64_t size, int64_t place, int64_t tap, int64_t *out_element) {
  int64_t base = place * window->stride + tap * window->window_dilation - window->pad_low;
  *out_element = base / window->base_dilation;
  return base >= 0 && base % window->base_dilation == 0 && *out_element < size;
}

// Steps to the next tap, row-major; false after the last, with all zero again.
static bool next_tap(const indim_instr *instr, int32_t rank, int64_t *tap) {
  for (int32_t d = rank - 1; d >= 0; d--) {
    if (++tap[d] < window_dim(instr, d)->size) {
      return true;
    }
    tap[d] = 0;
  }
  return false;
}

// The element of |shape| (dense) that tap |tap| of the window at |place| meets, as a place in storage; -1 if none.
static int64_t element_met(const indim_instr *instr, const indim_shape *shape, const int64_t *strides,
                           const int64_t *place, const int64_t *tap) {
  int64_t element = 0;
  for (int32_t d = 0; d < shape->rank; d++) {
    int64_t i = 0;
    if (!meets(window_dim(instr, d), shape->sizes[d], place[d], tap[d], &i)) {
      return -1;
    }
    element += i * strides[d];
  }
  return element;
}

// reduce-window -----------------------------------------------------------------------------------------------------

typedef struct folding {
  indim_applied fold;
  int32_t count;
  indim_value **operands;  // inputs, then initial values
  indim_value **results;
  indim_scalar *scalars;  // accumulators, elements, results
  int64_t strides[INDIM_MAX_RANK];
} folding;

static indim_status fold_window(indim_evaluator *e, const indim_instr *instr, folding *f, const int64_t *place) {
  const indim_shape *shape = f->operands[0]->shape;
  int64_t tap[INDIM_MAX_RANK] = {0};
  for (int32_t i = 0; i < f->count; i++) {
    const indim_value *init = f->operands[f->count + i];
    f->scalars[i] = indim_scalar_load(init->shape->type, init->data, 0);
  }
  do {
    int64_t element = element_met(instr, shape, f->strides, place, tap);
    for (int32_t i = 0; element >= 0 && i < f->count; i++) {
      f->scalars[f->count + i] = indim_scalar_load(f->operands[i]->shape->type, f->operands[i]->data, element);
    }
    if (element >= 0) {
      INDIM_TRY(indim_applied_run(&f->fold, f->scalars, f->scalars + 2 * f->count));
      memcpy(f->scalars, f->scalars + 2 * f->count, (size_t)f->count * sizeof *f->scalars);
    }
    INDIM_TRY(indim_eval_work(e, 1));
  } while (next_tap(instr, shape->rank, tap));
  return INDIM_OK;
}

static indim_status fold_windows(indim_evaluator *e, const indim_instr *instr, folding *f) {
  const indim_shape *shape = f->results[0]->shape;
  int64_t place[INDIM_MAX_RANK] = {0};
  for (int64_t k = 0; k < f->results[0]->count; k++) {
    INDIM_TRY(fold_window(e, instr, f, place));
    for (int32_t i = 0; i < f->count; i++) {
      indim_scalar_store(f->results[i]->shape->type, f->results[i]->data, k, f->scalars[i]);
    }
    (void)indim_index_next(shape, place);
  }
  return INDIM_OK;
}

static indim_status fold_into(indim_evaluator *e, const indim_instr *instr, indim_arena *arena, folding *f) {
  void *memory = NULL;
  for (int32_t i = 0; i < f->count; i++) {
    const indim_shape *shape = indim_instr_result_shape(instr, i);
    INDIM_TRY(indim_value_new(e->cx, shape, &f->results[i]));
  }
  INDIM_TRY(indim_arena_array(arena, (size_t)f->count, 3 * sizeof *f->scalars, &memory));
  f->scalars = memory;
  indim_status status = indim_applied_init(e, indim_instr_computation(instr, INDIM_ATTR_TO_APPLY), &f->fold);
  status = status == INDIM_OK ? fold_windows(e, instr, f) : status;
  indim_applied_deinit(&f->fold);
  return status;
}

indim_status indim_eval_reduce_window(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                      indim_value **out) {
  folding f = {.count = instr->operand_count / 2, .operands = operands};
  indim_arena arena;
  void *memory = NULL;
  indim_arena_init(&arena, e->cx);
  indim_eval_dense_strides(operands[0]->shape, f.strides);
  indim_status status = indim_arena_array(&arena, (size_t)f.count, sizeof *f.results, &memory);
  f.results = memory;
  status = status == INDIM_OK ? fold_into(e, instr, &arena, &f) : status;
  if (status == INDIM_OK && indim_shape_is_tuple(instr->shape)) {
    status = indim_value_new_tuple(e->cx, instr->shape, f.results, out);
  } else if (status == INDIM_OK) {
    *out = f.results[0];
  }
  for (int32_t i = 0; status != INDIM_OK && f.results != NULL && i < f.count; i++) {
    indim_value_release(e->cx, f.results[i]);
  }
  indim_arena_deinit(&arena);
  return status;
}

// select-and-scatter ------------------------------------------------------------------------------------------------

// The element that the window at |place| selects: the first one met, replaced by each later one that select(selected, it)
// does not keep out. -1 if the window meets nothing.
static indim_status select_element(const indim_instr *instr, indim_applied *select, const indim_value *operand,
                                   const int64_t *strides, const int64_t *place, int64_t *out_element) {
  const indim_shape *shape = operand->shape;
  int64_t tap[INDIM_MAX_RANK] = {0};
  *out_element = -1;
  do {
    int64_t element = element_met(instr, shape, strides, place, tap);
    indim_scalar keeps = {.i = 0};
    if (element >= 0 && *out_element >= 0) {
      indim_scalar both[2] = {indim_scalar_load(shape->type, operand->data, *out_element),
                              indim_scalar_load(shape->type, operand->data, element)};
      INDIM_TRY(indim_applied_run(select, both, &keeps));
    }
    *out_element = element >= 0 && keeps.i == 0 ? element : *out_element;
    INDIM_TRY(indim_eval_work(select->e, 1));
  } while (next_tap(instr, shape->rank, tap));
  return INDIM_OK;
}

// result[selected] = scatter(source, result[selected]) for each source element in row-major order.
static indim_status scatter_sources(const indim_instr *instr, indim_applied *select, indim_applied *scatter,
                                    indim_value *const *operands, indim_value *result) {
  const indim_value *source = operands[1];
  indim_type type = result->shape->type;
  int64_t place[INDIM_MAX_RANK] = {0};
  int64_t strides[INDIM_MAX_RANK];
  indim_scalar init = indim_scalar_load(operands[2]->shape->type, operands[2]->data, 0);
  indim_eval_dense_strides(result->shape, strides);
  for (int64_t k = 0; k < result->count; k++) {
    indim_scalar_store(type, result->data, k, init);
  }
  for (int64_t k = 0; k < source->count; k++) {
    int64_t element = -1;
    INDIM_TRY(select_element(instr, select, operands[0], strides, place, &element));
    if (element >= 0) {
      indim_scalar both[2] = {indim_scalar_load(source->shape->type, source->data, k),
                              indim_scalar_load(type, result->data, element)};
      indim_scalar sum;
      INDIM_TRY(indim_applied_run(scatter, both, &sum));
      indim_scalar_store(type, result->data, element, sum);
    }
    (void)indim_index_next(source->shape, place);
  }
  return INDIM_OK;
}

indim_status indim_eval_select_and_scatter(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                           indim_value **out) {
  indim_applied select = {.e = e};
  indim_applied scatter = {.e = e};
  indim_value *result = NULL;
  indim_status status = indim_value_new(e->cx, instr->shape, &result);
  if (status == INDIM_OK) {
    status = indim_applied_init(e, indim_instr_computation(instr, INDIM_ATTR_SELECT), &select);
  }
  if (status == INDIM_OK) {
    status = indim_applied_init(e, indim_instr_computation(instr, INDIM_ATTR_SCATTER), &scatter);
  }
  if (status == INDIM_OK) {
    status = scatter_sources(instr, &select, &scatter, operands, result);
  }
  indim_applied_deinit(&select);
  indim_applied_deinit(&scatter);
  if (status != INDIM_OK) {
    indim_value_release(e->cx, result);
    return status;
  }
  *out = result;
  return INDIM_OK;
}

// convolution -------------------------------------------------------------------------------------------------------

// out[n, f, o] = sum over taps w and features i of input[n', i', met by w at o] * kernel[i, f, w], with
//   i' = group * (features of the kernel) + i, group = f / (outputs / feature_group_count)
//   n' = block * (batch of the result) + n,    block = f / (outputs / batch_group_count)
// and w counted from the end where the window is reversed. Sums are those of dot: floats up to f32 in double, f64 in long
// double, rounded once; integers wrap.
typedef struct convolution {
  const indim_instr *instr;
  const indim_dim_labels *labels;
  const indim_value *input;
  const indim_value *kernel;
  indim_type type;
  int64_t input_strides[INDIM_MAX_RANK];
  int64_t kernel_strides[INDIM_MAX_RANK];
  int64_t features;       // of the kernel
  int64_t group_outputs;  // output features of a feature group
  int64_t block_outputs;  // and of a batch group
  int64_t batch;          // of the result
} convolution;

typedef struct product_sum {
  uint64_t integer;
  long double re;
  long double im;
  double narrow;
} product_sum;

static indim_scalar load_as(const indim_value *value, int64_t place, indim_type type) {
  indim_type own = value->shape->type;
  indim_scalar element = indim_scalar_load(own, value->data, place);
  return own == type ? element : indim_scalar_round(type, indim_scalar_convert(own, type, element));
}

static void add_product(indim_type type, indim_scalar x, indim_scalar y, product_sum *sum) {
  if (indim_type_is_complex(type)) {
    sum->re += (long double)x.c.re * (long double)y.c.re - (long double)x.c.im * (long double)y.c.im;
    sum->im += (long double)x.c.re * (long double)y.c.im + (long double)x.c.im * (long double)y.c.re;
  } else if (type == INDIM_F64) {
    sum->re += (long double)x.f * (long double)y.f;
  } else if (indim_type_is_float(type)) {
    sum->narrow += x.f * y.f;
  } else if (type == INDIM_PRED) {
    sum->integer |= (uint64_t)x.i & (uint64_t)y.i;
  } else {
    sum->integer += (uint64_t)x.i * (uint64_t)y.i;
  }
}

static indim_scalar total(indim_type type, const product_sum *sum) {
  if (indim_type_is_complex(type)) {
    return (indim_scalar){.c = {(double)sum->re, (double)sum->im}};
  }
  if (indim_type_is_float(type)) {
    return (indim_scalar){.f = type == INDIM_F64 ? (double)sum->re : sum->narrow};
  }
  return (indim_scalar){.i = (int64_t)sum->integer};
}

// Adds the products of all features for one tap, unless it meets nothing. |input| and |kernel| are the places of feature
// 0 without the spatial part.
static void add_tap(const convolution *c, const int64_t *place, const int64_t *tap, int64_t input, int64_t kernel,
                    product_sum *sum) {
  const indim_dim_labels *l = c->labels;
  for (int32_t s = 0; s < l->spatial_count; s++) {
    const indim_window_dim *window = window_dim(c->instr, s);
    int64_t element = 0;
    if (!meets(window, c->input->shape->sizes[l->input_spatial[s]], place[l->output_spatial[s]], tap[s], &element)) {
      return;
    }
    input += element * c->input_strides[l->input_spatial[s]];
    kernel += (window->reversal ? window->size - 1 - tap[s] : tap[s]) * c->kernel_strides[l->kernel_spatial[s]];
  }
  for (int64_t i = 0; i < c->features; i++) {
    add_product(c->type, load_as(c->input, input + i * c->input_strides[l->input_feature], c->type),
                load_as(c->kernel, kernel + i * c->kernel_strides[l->kernel_input], c->type), sum);
  }
}

static indim_status convolve_at(indim_evaluator *e, const convolution *c, const int64_t *place, indim_scalar *out) {
  const indim_dim_labels *l = c->labels;
  int64_t tap[INDIM_MAX_RANK] = {0};
  int64_t f = place[l->output_feature];
  int64_t n = f / c->block_outputs * c->batch + place[l->output_batch];
  int64_t input =
      n * c->input_strides[l->input_batch] + f / c->group_outputs * c->features * c->input_strides[l->input_feature];
  int64_t kernel = f * c->kernel_strides[l->kernel_output];
  product_sum sum = {0, 0, 0, 0};
  do {
    add_tap(c, place, tap, input, kernel, &sum);
    INDIM_TRY(indim_eval_work(e, 1 + c->features));
  } while (next_tap(c->instr, l->spatial_count, tap));
  *out = total(c->type, &sum);
  return INDIM_OK;
}

static indim_status convolve_into(indim_evaluator *e, const convolution *c, indim_value *result) {
  int64_t place[INDIM_MAX_RANK] = {0};
  for (int64_t k = 0; k < result->count; k++) {
    indim_scalar sum;
    INDIM_TRY(convolve_at(e, c, place, &sum));
    indim_scalar_store(c->type, result->data, k, sum);
    (void)indim_index_next(result->shape, place);
  }
  return INDIM_OK;
}

indim_status indim_eval_convolution(indim_evaluator *e, const indim_instr *instr, indim_value **operands,
                                    indim_value **out) {
  const indim_dim_labels *labels = indim_instr_attr(instr, INDIM_ATTR_DIM_LABELS)->value.dim_labels;
  const indim_shape *kernel = operands[1]->shape;
  int64_t outputs = kernel->sizes[labels->kernel_output];
  int64_t groups = indim_instr_int(instr, INDIM_ATTR_FEATURE_GROUP_COUNT, 1);
  int64_t blocks = indim_instr_int(instr, INDIM_ATTR_BATCH_GROUP_COUNT, 1);
  convolution c = {.instr = instr,
                   .labels = labels,
                   .input = operands[0],
                   .kernel = operands[1],
                   .type = instr->shape->type,
                   .features = kernel->sizes[labels->kernel_input],
                   .group_outputs = outputs / groups > 0 ? outputs / groups : 1,
                   .block_outputs = outputs / blocks > 0 ? outputs / blocks : 1,
                   .batch = instr->shape->sizes[labels->output_batch]};
  indim_value *result = NULL;
  indim_eval_dense_strides(operands[0]->shape, c.input_strides);
  indim_eval_dense_strides(kernel, c.kernel_strides);
  INDIM_TRY(indim_value_new(e->cx, instr->shape, &result));
  indim_status status = convolve_into(e, &c, result);
  if (status != INDIM_OK) {
    indim_value_release(e->cx, result);
    return status;
  }
  *out = result;
  return INDIM_OK;
}
