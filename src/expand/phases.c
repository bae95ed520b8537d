// A convolution of a dilated image (lhs_dilate: the gradient of a strided convolution) where no host computes it: places of the
// output whose taps meet elements are the same ones make a phase, which is a convolution of the image as it is, with a part of
// the filter. No inserted zero is multiplied. With dilation 2 along one dimension
//
//   out[2 i]     = phase 0 [i]      of taps 0, 2, 4, ..
//   out[2 i + 1] = phase 1 [i]      of taps 1, 3, ..
//
// Dimensions are divided one after the other; a place that no tap reaches is 0. run/convolution.c does the same in its blocks.
#include "expand/phases.h"

#include <string.h>

#include "expand/kit.h"

// A sum over fewer features costs less than its phases, which are put together afterwards (phases_together.c has those in one).
enum { MOST_PHASES = 64, LEAST_FEATURES = 4 };

static const indim_attr *window_of(const indim_instr *instr) { return indim_instr_attr(instr, INDIM_ATTR_WINDOW); }

bool indim_phases_suit(const indim_instr *instr) {
  const indim_attr *window = instr->op == INDIM_OP_CONVOLUTION ? window_of(instr) : NULL;
  int64_t phases = 1;
  for (int64_t a = 0; window != NULL && a < window->count; a++) {
    const indim_window_dim *w = &window->value.window[a];
    if (w->base_dilation > 1 && (w->stride != 1 || w->base_dilation > MOST_PHASES)) {
      return false;
    }
    phases *= w->base_dilation > 1 ? w->base_dilation : 1;
    if (phases > MOST_PHASES) {
      return false;
    }
  }
  if (phases == 1) {
    return false;
  }
  int32_t features = indim_instr_attr(instr, INDIM_ATTR_DIM_LABELS)->value.dim_labels->kernel_input;
  return instr->operands[1]->shape->sizes[features] >= LEAST_FEATURES && indim_shape_is_static(instr->shape) &&
         indim_shape_is_static(instr->operands[0]->shape) && indim_shape_is_static(instr->operands[1]->shape) &&
         instr->shape->rank < INDIM_MAX_RANK && indim_shape_element_count(instr->shape) > 0 &&
         indim_instr_attr(instr, INDIM_ATTR_SPARSITY_CONFIG) == NULL;
}

typedef struct phases {
  indim_expander *x;
  const indim_dim_labels *labels;
  int64_t count;                            // spatial dimensions
  const indim_window_dim *whole;            // the window of the instruction
  indim_window_dim window[INDIM_MAX_RANK];  // that of the phase which is being made
  indim_slice_dim taps[INDIM_MAX_RANK];     // of each dimension of the filter
  int64_t sizes[INDIM_MAX_RANK];            // of the output of the phase
} phases;

static int64_t modulo(int64_t x, int64_t by) { return (x % by + by) % by; }

// Phase |number| of dimension |a|: false if it has no taps.
static bool choose_phase(phases *p, int64_t a, int64_t number) {
  const indim_window_dim *w = &p->whole[a];
  int64_t by = w->base_dilation, first = 0, step = 1;
  while (first < w->size && modulo(number + first * w->window_dilation - w->pad_low, by) != 0) {
    first++;
  }
  if (first >= w->size) {
    return false;
  }
  while (step * (w->window_dilation % by) % by != 0) {
    step++;
  }
  int64_t taps = (w->size - first - 1) / step + 1;
  int64_t in = p->x->instr->operands[0]->shape->sizes[p->labels->input_spatial[a]];
  int64_t places = p->sizes[p->labels->output_spatial[a]];
  indim_window_dim *to = &p->window[a];
  *to = (indim_window_dim){.size = taps,
                           .stride = 1,
                           .pad_low = -((number + first * w->window_dilation - w->pad_low) / by),
                           .base_dilation = 1,
                           .window_dilation = taps > 1 ? step * w->window_dilation / by : 1,
                           .reversal = w->reversal};
  to->pad_high = places + (taps - 1) * to->window_dilation - in - to->pad_low;
  int64_t last = first + (taps - 1) * step;
  int64_t start = w->reversal ? w->size - 1 - last : first;
  p->taps[p->labels->kernel_spatial[a]] = (indim_slice_dim){start, start + last - first + 1, step};
  return true;
}

static value convolve(phases *p) {
  const indim_instr *instr = p->x->instr;
  indim_builder *b = p->x->b;
  int64_t starts[INDIM_MAX_RANK], limits[INDIM_MAX_RANK], strides[INDIM_MAX_RANK];
  indim_attr attrs[8];
  int64_t count = 0;
  indim_shape shape;
  indim_build_fail(b, indim_shape_init(p->x->cx, instr->shape->type, instr->shape->rank, p->sizes, &shape));
  for (int32_t d = 0; d < instr->operands[1]->shape->rank; d++) {
    starts[d] = p->taps[d].start;
    limits[d] = p->taps[d].limit;
    strides[d] = p->taps[d].stride;
  }
  for (int32_t i = 0; i < instr->attr_count && count < 8; i++) {
    if (instr->attrs[i].id == INDIM_ATTR_WINDOW) {
      attrs[count++] = indim_expand_window(p->x, p->window, p->count);
    } else if (instr->attrs[i].id == INDIM_ATTR_DIM_LABELS || instr->attrs[i].id == INDIM_ATTR_FEATURE_GROUP_COUNT ||
               instr->attrs[i].id == INDIM_ATTR_BATCH_GROUP_COUNT) {
      attrs[count++] = instr->attrs[i];
    }
  }
  if (b->status != INDIM_OK) {
    return NULL;
  }
  value operands[] = {p->x->operands[0], indim_build_slice(b, p->x->operands[1], starts, limits, strides)};
  return indim_build_emit(b, INDIM_OP_CONVOLUTION, &shape, operands, 2, attrs, count);
}

// The output with the phases of the dimensions from |a| on; those before are chosen. Recurses once for each dimension.
static value combine(phases *p, int64_t a) {
  indim_builder *b = p->x->b;
  while (a < p->count && p->whole[a].base_dilation <= 1) {
    a++;
  }
  if (a == p->count) {
    return convolve(p);
  }
  int32_t dim = p->labels->output_spatial[a];
  int64_t by = p->whole[a].base_dilation, size = p->sizes[dim];
  int64_t places = (size + by - 1) / by;
  int64_t apart[INDIM_MAX_RANK], limits[INDIM_MAX_RANK], ones[INDIM_MAX_RANK], zeros[INDIM_MAX_RANK] = {0};
  int32_t rank = p->x->instr->shape->rank;
  value parts[MOST_PHASES];
  for (int64_t number = 0; number < by; number++) {
    p->sizes[dim] = places;
    bool has_taps = choose_phase(p, a, number);
    int32_t at = 0;
    indim_shape shape;
    value part = has_taps ? combine(p, a + 1) : NULL;
    p->sizes[dim] = places;
    if (!has_taps) {
      indim_build_fail(b, indim_shape_init(p->x->cx, p->x->instr->shape->type, rank, p->sizes, &shape));
      part = b->status == INDIM_OK ? indim_expand_zeros(p->x, &shape) : NULL;
    }
    for (int32_t d = 0; d < rank; d++) {
      apart[at++] = p->sizes[d];
      if (d == dim) {
        apart[at++] = 1;
      }
    }
    parts[number] = indim_build_reshape(b, part, apart, rank + 1);
  }
  value all = indim_build_concatenate(b, parts, (int32_t)by, dim + 1);
  p->sizes[dim] = places * by;
  all = indim_build_reshape(b, all, p->sizes, rank);
  p->sizes[dim] = size;
  for (int32_t d = 0; d < rank; d++) {
    limits[d] = p->sizes[d];
    ones[d] = 1;
  }
  return places * by == size ? all : indim_build_slice(b, all, zeros, limits, ones);
}

value indim_phases_expand(indim_expander *x) {
  const indim_instr *instr = x->instr;
  const indim_attr *window = window_of(instr);
  phases p = {.x = x,
              .labels = indim_instr_attr(instr, INDIM_ATTR_DIM_LABELS)->value.dim_labels,
              .count = window->count,
              .whole = window->value.window};
  memcpy(p.window, p.whole, (size_t)p.count * sizeof *p.window);
  memcpy(p.sizes, instr->shape->sizes, (size_t)instr->shape->rank * sizeof *p.sizes);
  for (int32_t d = 0; d < instr->operands[1]->shape->rank; d++) {
    p.taps[d] = (indim_slice_dim){0, instr->operands[1]->shape->sizes[d], 1};
  }
  indim_expand_begin(x);
  return combine(&p, 0);
}
