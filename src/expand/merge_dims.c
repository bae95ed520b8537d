// A convolution with three spatial dimensions or more of which some have a window of 1: there they are dimensions of a batch. Two
// of them that are adjacent become one, or one of them and the batch, with reshapes that move nothing before and behind:
//
//   f32[1,1,4,128,128,3], window 1x7x1x1    is    f32[4,1,128,384], window 7x1
//
// Short dimensions, of which loop nests have a copy for each index, are gone then. One pair at a time: what comes out is expanded
// again. Two spatial dimensions are what images have, and are left.
#include "expand/merge_dims.h"

#include <string.h>

#include "expand/kit.h"
#include "expand/phases.h"

enum { BATCH = -1, FEWEST_SPATIAL = 3 };

// Two dimensions that become one: spatial ones, or the batch.
typedef struct pair {
  int32_t first, second;  // by their place in memory
} pair;

static const indim_dim_labels *labels_of(const indim_instr *instr) {
  return indim_instr_attr(instr, INDIM_ATTR_DIM_LABELS)->value.dim_labels;
}

static int32_t input_dim(const indim_dim_labels *labels, int32_t s) {
  return s == BATCH ? labels->input_batch : labels->input_spatial[s];
}

static int32_t output_dim(const indim_dim_labels *labels, int32_t s) {
  return s == BATCH ? labels->output_batch : labels->output_spatial[s];
}

// Whether nothing but dimensions of size 1 lies between two of a shape, |second| behind |first|.
static bool are_adjacent(const indim_shape *shape, int32_t first, int32_t second) {
  bool are = first < second;
  for (int32_t d = first + 1; d < second; d++) {
    are = are && shape->sizes[d] == 1;
  }
  return are;
}

static bool find_pair(const indim_instr *instr, pair *out) {
  const indim_dim_labels *labels = labels_of(instr);
  const indim_window_dim *window = indim_instr_attr(instr, INDIM_ATTR_WINDOW)->value.window;
  bool has_batch = indim_instr_int(instr, INDIM_ATTR_BATCH_GROUP_COUNT, 1) == 1;
  for (int32_t first = has_batch ? BATCH : 0; first < labels->spatial_count; first++) {
    for (int32_t second = has_batch ? BATCH : 0; second < labels->spatial_count; second++) {
      bool suits = first != second && (first == BATCH || indim_expand_window_does_nothing(&window[first])) &&
                   (second == BATCH || indim_expand_window_does_nothing(&window[second]));
      if (suits && are_adjacent(instr->operands[0]->shape, input_dim(labels, first), input_dim(labels, second)) &&
          are_adjacent(instr->shape, output_dim(labels, first), output_dim(labels, second))) {
        *out = (pair){first, second};
        return true;
      }
    }
  }
  return false;
}

bool indim_merge_dims_suits(const indim_instr *instr) {
  if (instr->op != INDIM_OP_CONVOLUTION || instr->shape->rank < FEWEST_SPATIAL + 2 ||
      indim_instr_attr(instr, INDIM_ATTR_SPARSITY_CONFIG) != NULL ||
      indim_instr_attr(instr, INDIM_ATTR_WINDOW) == NULL) {
    return false;
  }
  const indim_shape *shapes[] = {instr->operands[0]->shape, instr->operands[1]->shape, instr->shape};
  for (int i = 0; i < 3; i++) {
    if (shapes[i]->rank != labels_of(instr)->spatial_count + 2 || !indim_shape_is_static(shapes[i]) ||
        !indim_expand_is_row_major(shapes[i]) || indim_shape_element_count(shapes[i]) == 0) {
      return false;
    }
  }
  pair found;
  return find_pair(instr, &found);
}

// Dimension |d| of a shape that loses |gone|.
static int32_t behind(int32_t d, int32_t gone) { return d - (d > gone); }

// The labels without the pair's spatial dimension |s|, which is dimension |in|, |filter| and |out| of the arrays.
static indim_attr labels_without(indim_expander *x, const indim_dim_labels *old, int32_t s, int32_t in, int32_t filter,
                                 int32_t out) {
  int32_t count = old->spatial_count - 1;
  indim_dim_labels labels = {.spatial_count = count,
                             .input_rank = count + 2,
                             .kernel_rank = count + 2,
                             .output_rank = count + 2,
                             .input_batch = behind(old->input_batch, in),
                             .input_feature = behind(old->input_feature, in),
                             .kernel_input = behind(old->kernel_input, filter),
                             .kernel_output = behind(old->kernel_output, filter),
                             .output_batch = behind(old->output_batch, out),
                             .output_feature = behind(old->output_feature, out)};
  for (int32_t i = 0; i < count; i++) {
    int32_t from = i + (i >= s);
    labels.input_spatial[i] = behind(old->input_spatial[from], in);
    labels.kernel_spatial[i] = behind(old->kernel_spatial[from], filter);
    labels.output_spatial[i] = behind(old->output_spatial[from], out);
  }
  return indim_expand_labels(x, &labels);
}

// The window without dimension |s|.
static indim_attr window_without(indim_expander *x, const indim_attr *old, int32_t s) {
  indim_window_dim window[INDIM_MAX_RANK];
  memcpy(window, old->value.window, (size_t)s * sizeof *window);
  memcpy(window + s, old->value.window + s + 1, (size_t)(old->count - s - 1) * sizeof *window);
  return indim_expand_window(x, window, old->count - 1);
}

// The sizes without dimension |gone|, whose elements |into| takes (-1: it has one).
static void sizes_without(const indim_shape *shape, int32_t gone, int32_t into, int64_t *out) {
  for (int32_t d = 0; d < shape->rank; d++) {
    if (d != gone) {
      out[behind(d, gone)] = shape->sizes[d] * (d == into ? shape->sizes[gone] : 1);
    }
  }
}

static value merge_dims(indim_expander *x) {
  const indim_instr *instr = x->instr;
  const indim_dim_labels *labels = labels_of(instr);
  indim_builder *b = x->b;
  pair merged = {0, 0};
  indim_expand_begin(x);
  (void)find_pair(instr, &merged);
  int32_t gone = merged.second == BATCH ? merged.first : merged.second;
  int32_t into = merged.second == BATCH ? BATCH : merged.first;
  int32_t rank = instr->shape->rank;
  int64_t in[INDIM_MAX_RANK], filter[INDIM_MAX_RANK], out[INDIM_MAX_RANK];
  sizes_without(instr->operands[0]->shape, input_dim(labels, gone), input_dim(labels, into), in);
  sizes_without(instr->operands[1]->shape, labels->kernel_spatial[gone], -1, filter);
  sizes_without(instr->shape, output_dim(labels, gone), output_dim(labels, into), out);
  indim_attr attrs[4] = {
      labels_without(x, labels, gone, input_dim(labels, gone), labels->kernel_spatial[gone], output_dim(labels, gone)),
      window_without(x, indim_instr_attr(instr, INDIM_ATTR_WINDOW), gone)};
  int64_t count = 2;
  for (int32_t i = 0; i < instr->attr_count; i++) {
    if (instr->attrs[i].id == INDIM_ATTR_FEATURE_GROUP_COUNT || instr->attrs[i].id == INDIM_ATTR_BATCH_GROUP_COUNT) {
      attrs[count++] = instr->attrs[i];
    }
  }
  indim_shape shape;
  indim_build_fail(b, indim_shape_init(x->cx, instr->shape->type, rank - 1, out, &shape));
  if (b->status != INDIM_OK) {
    return NULL;
  }
  value operands[] = {indim_build_reshape(b, x->operands[0], in, rank - 1),
                      indim_build_reshape(b, x->operands[1], filter, rank - 1)};
  value result = indim_build_emit(b, INDIM_OP_CONVOLUTION, &shape, operands, 2, attrs, count);
  return indim_build_reshape(b, result, instr->shape->sizes, rank);
}

value indim_expand_convolution(indim_expander *x) {
  return indim_merge_dims_suits(x->instr)       ? merge_dims(x)
         : indim_phases_suit_together(x->instr) ? indim_phases_expand_together(x)
                                                : indim_phases_expand(x);
}
