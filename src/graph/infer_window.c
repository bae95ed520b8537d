// Shape rules of what slides a window: reduce-window, select-and-scatter, convolution.
//   dilated(n, d) = 0 for n = 0, else (n - 1) * d + 1
//   windows       = (low + dilated(n, base) + high - dilated(k, window)) / stride + 1, or 0 where the window does not fit
#include <inttypes.h>
#include <stdio.h>

#include "base/size.h"
#include "graph/infer_kit.h"

static bool dilated(int64_t size, int64_t dilation, int64_t *out_size) {
  *out_size = 0;
  return size == 0 || (indim_count_mul(size - 1, dilation, out_size) && indim_int_add(*out_size, 1, out_size));
}

bool indim_window_count(int64_t size, const indim_window_dim *window, int64_t *out_count) {
  int64_t base = 0;
  int64_t width = 0;
  if (!dilated(size, window->base_dilation, &base) || !indim_int_add(base, window->pad_low, &base) ||
      !indim_int_add(base, window->pad_high, &base) || !dilated(window->size, window->window_dilation, &width)) {
    return false;
  }
  *out_count = base <= 0 || base < width ? 0 : (base - width) / window->stride + 1;
  return true;
}

static indim_status verify_window_dim(indim_ctx *cx, const indim_instr *instr, int64_t i,
                                      const indim_window_dim *window) {
  const struct {
    const char *name;
    int64_t value;
  } parts[] = {{"size", window->size},
               {"stride", window->stride},
               {"lhs_dilate", window->base_dilation},
               {"rhs_dilate", window->window_dilation}};
  for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) {
    if (parts[k].value < 1) {
      return indim_fail_attr(cx, instr, INDIM_ATTR_WINDOW,
                             "window: %s of dimension %" PRId64 " is %" PRId64 ", expected 1 at least", parts[k].name,
                             i, parts[k].value);
    }
  }
  return INDIM_OK;
}

// The window has |rank| dimensions, each sound; none at all is rank 0.
static indim_status verify_window(indim_ctx *cx, const indim_instr *instr, int32_t rank, const char *of,
                                  const indim_window_dim **out_window) {
  const indim_attr *attr = indim_instr_attr(instr, INDIM_ATTR_WINDOW);
  int64_t count = attr == NULL ? 0 : attr->count;
  if (count != rank) {
    indim_fail_attr(cx, instr, INDIM_ATTR_WINDOW, "window= has rank %" PRId64 ", expected %d, the rank of %s", count,
                    (int)rank, of);
    if (attr == NULL) {
      indim_hint(cx, "write window={size=...}, one size for each dimension, with x between them");
    }
    return INDIM_INVALID;
  }
  for (int64_t i = 0; i < count; i++) {
    INDIM_TRY(verify_window_dim(cx, instr, i, &attr->value.window[i]));
  }
  *out_window = attr == NULL ? NULL : attr->value.window;
  return INDIM_OK;
}

// Dimension |dim| of |base| becomes the number of windows along it; "?" stays.
static indim_status slide(indim_ctx *cx, const indim_instr *instr, const indim_shape *base, int32_t dim,
                          const indim_window_dim *window, int64_t *out_count) {
  *out_count = INDIM_UNBOUNDED;
  if (base->sizes[dim] != INDIM_UNBOUNDED && !indim_window_count(base->sizes[dim], window, out_count)) {
    indim_shape_text text;
    return indim_fail_attr(cx, instr, INDIM_ATTR_WINDOW,
                           "window: dimension %d of %s with its padding and dilation "
                           "overflows",
                           (int)dim, indim_shape_brief(base, &text));
  }
  return INDIM_OK;
}

// |base| with each dimension slid over, of the given type.
static indim_status infer_windowed(indim_ctx *cx, const indim_instr *instr, const indim_shape *base,
                                   indim_shape *out_shape) {
  const indim_window_dim *window = NULL;
  indim_shape_text text;
  int64_t sizes[INDIM_MAX_RANK];
  INDIM_TRY(verify_window(cx, instr, base->rank, indim_shape_brief(base, &text), &window));
  for (int32_t i = 0; i < base->rank; i++) {
    INDIM_TRY(slide(cx, instr, base, i, &window[i], &sizes[i]));
  }
  return indim_instr_make_array(cx, instr, base->type, base->rank, sizes, base->dynamic, out_shape);
}

indim_status indim_infer_reduce_window(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                       indim_shape *out_shape) {
  int32_t count = 0;
  indim_shape windows;
  INDIM_TRY(indim_folded_verify(cx, instr, &count));
  INDIM_TRY(indim_combiner_verify(cx, instr, INDIM_ATTR_TO_APPLY, count, count, 0));
  indim_shape input = *indim_operand_shape(instr, 0);
  for (int32_t i = 1; i < count; i++) {
    indim_dims_join(&input, indim_operand_shape(instr, i));
  }
  INDIM_TRY(infer_windowed(cx, instr, &input, &windows));
  return indim_folded_make(cx, instr, arena, &windows, out_shape);
}

// select= takes two elements of the operand and returns pred[].
indim_status indim_infer_select_and_scatter(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                            indim_shape *out_shape) {
  (void)arena;
  INDIM_TRY(indim_operands_verify_arrays(cx, instr, 0, 1));
  INDIM_TRY(indim_operand_verify_scalar(cx, instr, 2, "the value to start from"));
  INDIM_TRY(indim_operands_verify_same_type(cx, instr, 0, 1));
  INDIM_TRY(indim_operands_verify_same_type(cx, instr, 0, 2));
  INDIM_TRY(indim_comparator_verify(cx, instr, INDIM_ATTR_SELECT, 1));
  INDIM_TRY(indim_combiner_verify(cx, instr, INDIM_ATTR_SCATTER, 1, 2, 1));
  const indim_shape *operand = indim_operand_shape(instr, 0);
  const indim_shape *source = indim_operand_shape(instr, 1);
  indim_shape windows;
  INDIM_TRY(infer_windowed(cx, instr, operand, &windows));
  if (!indim_shape_same_dimensions(source, &windows)) {
    indim_shape_text source_text;
    indim_shape_text operand_text;
    indim_shape_text windows_text;
    return indim_fail_instr(
        cx, INDIM_INVALID, instr,
        "the source, operand 1 (%s), is %s, expected %s: one element for each window over operand 0 "
        "(%s), which is %s",
        indim_operand_name(instr, 1), indim_shape_brief(source, &source_text),
        indim_shape_brief(&windows, &windows_text), indim_operand_name(instr, 0),
        indim_shape_brief(operand, &operand_text));
  }
  *out_shape = *operand;
  return INDIM_OK;
}

// Convolution --------------------------------------------------------------------------------------------------------

// One of the three parts of dim_labels=: what it labels, and the dimensions of its two letters.
typedef struct labelled {
  const char *part;
  const char *letters;
  int32_t rank;
  int32_t dims[2];
  const int32_t *spatial;
} labelled;

// The letters of a part name each dimension once: two letters and the spatial digits, no "?".
static indim_status verify_labelled(indim_ctx *cx, const indim_instr *instr, const indim_dim_labels *labels,
                                    const labelled *part) {
  uint64_t seen = 0;
  bool ok = part->rank == labels->spatial_count + 2 && part->rank <= INDIM_MAX_RANK;
  for (int32_t i = 0; ok && i < part->rank; i++) {
    int32_t dim = i < 2 ? part->dims[i] : part->spatial[i - 2];
    ok = dim >= 0 && dim < part->rank && (seen >> dim & 1) == 0;
    seen |= ok ? UINT64_C(1) << dim : 0;
  }
  if (!ok) {
    return indim_fail_attr(cx, instr, INDIM_ATTR_DIM_LABELS,
                           "dim_labels=%.*s: the %s part must hold the letters %s and the digits 0 to %d once each",
                           (int)(labels->text.size < 100 ? labels->text.size : 100), labels->text.data, part->part,
                           part->letters, (int)labels->spatial_count - 1);
  }
  return INDIM_OK;
}

static indim_status verify_labels(indim_ctx *cx, const indim_instr *instr, const indim_dim_labels *labels) {
  const labelled parts[] = {
      {"input", "b and f", labels->input_rank, {labels->input_batch, labels->input_feature}, labels->input_spatial},
      {"kernel", "i and o", labels->kernel_rank, {labels->kernel_input, labels->kernel_output}, labels->kernel_spatial},
      {"output",
       "b and f",
       labels->output_rank,
       {labels->output_batch, labels->output_feature},
       labels->output_spatial}};
  for (int i = 0; i < 3; i++) {
    INDIM_TRY(verify_labelled(cx, instr, labels, &parts[i]));
  }
  for (int32_t i = 0; i < 2; i++) {
    const indim_shape *operand = indim_operand_shape(instr, i);
    if (operand->rank != parts[i].rank) {
      indim_shape_text text;
      return indim_fail_attr(cx, instr, INDIM_ATTR_DIM_LABELS,
                             "dim_labels=%.*s labels %d dimensions of the %s, but operand %d (%s) is %s of rank %d",
                             (int)(labels->text.size < 100 ? labels->text.size : 100), labels->text.data,
                             (int)parts[i].rank, parts[i].part, (int)i, indim_operand_name(instr, i),
                             indim_shape_brief(operand, &text), (int)operand->rank);
    }
  }
  return INDIM_OK;
}

// The window's sizes are the kernel's.
static indim_status verify_kernel(indim_ctx *cx, const indim_instr *instr, const indim_dim_labels *labels,
                                  const indim_window_dim *window) {
  const indim_shape *kernel = indim_operand_shape(instr, 1);
  for (int32_t i = 0; i < labels->spatial_count; i++) {
    int64_t size = kernel->sizes[labels->kernel_spatial[i]];
    if (!indim_size_fits(size, window[i].size)) {
      indim_shape_text text;
      return indim_fail_attr(cx, instr, INDIM_ATTR_WINDOW,
                             "window: size %" PRId64 " of spatial dimension %d, but dimension %d of the kernel, "
                             "operand 1 (%s), which is %s, has size %" PRId64,
                             window[i].size, (int)i, (int)labels->kernel_spatial[i], indim_operand_name(instr, 1),
                             indim_shape_brief(kernel, &text), size);
    }
  }
  return INDIM_OK;
}

static bool known(int64_t size) { return size != INDIM_UNBOUNDED; }

// Features and batches divide into the groups.
static indim_status verify_groups(indim_ctx *cx, const indim_instr *instr, const indim_dim_labels *labels) {
  const indim_shape *input = indim_operand_shape(instr, 0);
  const indim_shape *kernel = indim_operand_shape(instr, 1);
  int64_t feature_groups = indim_instr_int(instr, INDIM_ATTR_FEATURE_GROUP_COUNT, 1);
  int64_t batch_groups = indim_instr_int(instr, INDIM_ATTR_BATCH_GROUP_COUNT, 1);
  int64_t features = input->sizes[labels->input_feature];
  int64_t batch = input->sizes[labels->input_batch];
  int64_t kernel_in = kernel->sizes[labels->kernel_input];
  int64_t kernel_out = kernel->sizes[labels->kernel_output];
  if (feature_groups < 1) {
    return indim_fail_attr(cx, instr, INDIM_ATTR_FEATURE_GROUP_COUNT,
                           "feature_group_count=%" PRId64 ", expected 1 at least", feature_groups);
  }
  if (batch_groups < 1) {
    return indim_fail_attr(cx, instr, INDIM_ATTR_BATCH_GROUP_COUNT,
                           "batch_group_count=%" PRId64 ", expected 1 at least", batch_groups);
  }
  if (feature_groups > 1 && batch_groups > 1) {
    return indim_fail_attr(cx, instr, INDIM_ATTR_BATCH_GROUP_COUNT,
                           "feature_group_count=%" PRId64 " and batch_group_count=%" PRId64
                           ": only one of them may be above 1",
                           feature_groups, batch_groups);
  }
  indim_shape_text input_text;
  indim_shape_text kernel_text;
  indim_shape_brief(input, &input_text);
  indim_shape_brief(kernel, &kernel_text);
  if (known(features) && known(kernel_in) &&
      (features % feature_groups != 0 || features / feature_groups != kernel_in)) {
    char groups[48] = "";
    if (feature_groups > 1) {
      snprintf(groups, sizeof groups, " in each of the %" PRId64 " groups", feature_groups);
    }
    return indim_fail_instr(cx, INDIM_INVALID, instr,
                            "the input, operand 0 (%s), which is %s, has %" PRId64
                            " features, but the kernel, operand 1 (%s), which is %s, takes %" PRId64 "%s",
                            indim_operand_name(instr, 0), input_text.text, features, indim_operand_name(instr, 1),
                            kernel_text.text, kernel_in, groups);
  }
  if (known(kernel_out) && (kernel_out % feature_groups != 0 || kernel_out % batch_groups != 0)) {
    return indim_fail_instr(
        cx, INDIM_INVALID, instr,
        "%" PRId64 " output features of the kernel, operand 1 (%s), which is %s, do not divide into "
        "%" PRId64 " groups",
        kernel_out, indim_operand_name(instr, 1), kernel_text.text, feature_groups > 1 ? feature_groups : batch_groups);
  }
  if (known(batch) && batch % batch_groups != 0) {
    return indim_fail_instr(cx, INDIM_INVALID, instr,
                            "batch %" PRId64 " of the input, operand 0 (%s), which is %s, does not divide into %" PRId64
                            " groups",
                            batch, indim_operand_name(instr, 0), input_text.text, batch_groups);
  }
  return INDIM_OK;
}

// The element type is the declared one, if there is a declared array, else the higher precision of the operands'.
indim_status indim_infer_convolution(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                     indim_shape *out_shape) {
  (void)arena;
  INDIM_TRY(indim_operands_verify_arrays(cx, instr, 0, 1));
  const indim_dim_labels *labels = indim_instr_attr(instr, INDIM_ATTR_DIM_LABELS)->value.dim_labels;
  const indim_window_dim *window = NULL;
  const indim_shape *input = indim_operand_shape(instr, 0);
  const indim_shape *kernel = indim_operand_shape(instr, 1);
  INDIM_TRY(verify_labels(cx, instr, labels));
  INDIM_TRY(verify_window(cx, instr, labels->spatial_count, "dim_labels=", &window));
  INDIM_TRY(verify_kernel(cx, instr, labels, window));
  INDIM_TRY(verify_groups(cx, instr, labels));
  int64_t batch_groups = indim_instr_int(instr, INDIM_ATTR_BATCH_GROUP_COUNT, 1);
  indim_shape dims = indim_shape_plain(INDIM_TOKEN);
  dims.rank = labels->output_rank;
  int64_t batch = input->sizes[labels->input_batch];
  indim_dim_set(&dims, labels->output_batch, known(batch) ? batch / batch_groups : batch,
                indim_dim_is_dynamic(input, labels->input_batch));
  indim_dim_set(&dims, labels->output_feature, kernel->sizes[labels->kernel_output],
                indim_dim_is_dynamic(kernel, labels->kernel_output));
  for (int32_t i = 0; i < labels->spatial_count; i++) {
    int64_t count = 0;
    INDIM_TRY(slide(cx, instr, input, labels->input_spatial[i], &window[i], &count));
    indim_dim_set(&dims, labels->output_spatial[i], count, indim_dim_is_dynamic(input, labels->input_spatial[i]));
  }
  bool declared = instr->shape != NULL && indim_shape_is_array(instr->shape);
  indim_type type = declared ? instr->shape->type : indim_type_higher_precision(input->type, kernel->type);
  return indim_instr_make_array(cx, instr, type, dims.rank, dims.sizes, dims.dynamic, out_shape);
}
