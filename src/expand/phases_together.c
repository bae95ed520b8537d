// A convolution of a dilated image that has few features: the phases (phases.c) become features of one convolution of the image
// as it is, which is less code than a convolution for each, and shares what is read. With dilation 2 along one dimension
//
//   out[2 i], out[2 i + 1]   are features 0 and 1 of place i, of taps 0, 2, 4, .. and 1, 3, .. over the same elements
//
// Where their window is longer than the taps of a phase there are zeros, which integers alone may be multiplied by. With a stride, a place is as many elements behind the
// one before as the image moves in all its phases.
#include <string.h>

#include "base/size.h"
#include "expand/kit.h"
#include "expand/phases.h"

// Phases of strided ones are put side by side one by one. Of the taps at most one in MOST_ZEROS may be left, others being zeros.
// FEW: a host computes floats of more features itself (INDIM_COST_HOST_SIDE); others have convolutions for each phase (phases.c).
enum { MOST_PHASES = 64, MOST_STRIDED = 8, MOST_ZEROS = 2, FEW = 8, FEW_OTHERS = 4 };

// One spatial dimension.
typedef struct division {
  int64_t phases;
  int64_t step;   // elements of the image from place to place
  int64_t low;    // zeros before the filter's first tap
  int64_t taps;   // of each phase
  int64_t first;  // element of the image that tap 0 of place 0 reads
  int64_t places;
} division;

static int64_t floordiv(int64_t x, int64_t by) { return x / by - (x % by < 0); }

static division divide(const indim_window_dim *w, int64_t out) {
  int64_t by = w->base_dilation;
  division d = {.phases = by / indim_gcd(w->stride, by)};
  d.step = d.phases * w->stride / by;
  d.first = -floordiv(w->pad_low, by);
  d.low = (d.phases - 1) * w->stride - (w->pad_low - floordiv(w->pad_low, by) * by);
  d.taps = floordiv(w->size - 1 + d.low, by) + 1;
  d.taps = d.taps < 1 ? 1 : d.taps;
  d.places = (out + d.phases - 1) / d.phases;
  return d;
}

static const indim_window_dim *window_of(const indim_instr *instr, int64_t *out_count) {
  const indim_attr *window = indim_instr_attr(instr, INDIM_ATTR_WINDOW);
  *out_count = window == NULL ? 0 : window->count;
  return window == NULL ? NULL : window->value.window;
}

static const indim_dim_labels *labels_of(const indim_instr *instr) {
  return indim_instr_attr(instr, INDIM_ATTR_DIM_LABELS)->value.dim_labels;
}

// Whether phases have taps that are none of the filter's: zeros, which would make NaN of an infinity of the image that is not theirs.
static bool has_zeros(const indim_window_dim *w, const division *d) {
  int64_t size = (d->phases - 1) * w->stride + (d->taps - 1) * w->base_dilation + 1;
  return d->low > 0 || size - d->low > w->size;
}

static bool divides(const indim_window_dim *w, int64_t out, bool is_integer, int64_t *phases) {
  if (w->base_dilation == 1) {
    return true;
  }
  if (w->window_dilation != 1 || w->base_dilation > MOST_PHASES || w->stride > INT32_MAX) {
    return false;
  }
  division d = divide(w, out);
  *phases *= d.phases;
  return (is_integer || !has_zeros(w, &d)) && *phases <= MOST_PHASES && (w->stride == 1 || d.phases <= MOST_STRIDED) &&
         d.taps * w->base_dilation <= MOST_ZEROS * (w->size + w->base_dilation);
}

bool indim_phases_suit_together(const indim_instr *instr) {
  if (instr->op != INDIM_OP_CONVOLUTION || indim_instr_attr(instr, INDIM_ATTR_SPARSITY_CONFIG) != NULL ||
      indim_instr_int(instr, INDIM_ATTR_BATCH_GROUP_COUNT, 1) != 1) {
    return false;
  }
  int64_t count = 0, phases = 1, dilated = 0;
  const indim_window_dim *w = window_of(instr, &count);
  const indim_dim_labels *labels = labels_of(instr);
  const indim_shape *shapes[] = {instr->operands[0]->shape, instr->operands[1]->shape, instr->shape};
  for (int i = 0; i < 3; i++) {
    if (!indim_shape_is_static(shapes[i]) || indim_shape_element_count(shapes[i]) == 0) {
      return false;
    }
  }
  for (int64_t a = 0; a < count; a++) {
    dilated += w[a].base_dilation > 1;
    if (!divides(&w[a], instr->shape->sizes[labels->output_spatial[a]], indim_type_is_integral(instr->shape->type),
                 &phases)) {
      return false;
    }
  }
  int64_t groups = indim_instr_int(instr, INDIM_ATTR_FEATURE_GROUP_COUNT, 1);
  int64_t few = indim_type_is_float(instr->shape->type) ? FEW : FEW_OTHERS;
  // Lanes that are groups need no phases: places differ between vectors only.
  bool along_groups = groups > 1 && labels->input_feature == instr->operands[0]->shape->rank - 1;
  return dilated > 0 && instr->shape->rank + dilated + 1 < INDIM_MAX_RANK && !along_groups &&
         shapes[1]->sizes[labels->kernel_input] < few && shapes[2]->sizes[labels->output_feature] / groups < FEW;
}

typedef struct together {
  indim_expander *x;
  const indim_dim_labels *labels;
  int32_t count;
  const indim_window_dim *window;
  division d[INDIM_MAX_RANK];
  bool is_divided[INDIM_MAX_RANK];
  int64_t groups, outputs, phases;
  bool is_feature_last;  // of the output of the convolution: lanes are features
} together;

// Divides dimension |dim| of a padded filter into the taps of a phase and the phases, with a stride.
static value strided_phases(together *t, value filter, int32_t dim, const division *d, int64_t stride, int64_t by) {
  int64_t starts[INDIM_MAX_RANK] = {0}, limits[INDIM_MAX_RANK], strides[INDIM_MAX_RANK], sizes[INDIM_MAX_RANK];
  value parts[MOST_STRIDED];
  int32_t rank = filter == NULL ? 0 : filter->shape->rank;
  for (int64_t r = 0; r < d->phases && filter != NULL; r++) {
    for (int32_t i = 0, k = 0; i < rank; i++) {
      limits[i] = filter->shape->sizes[i];
      strides[i] = 1;
      sizes[k++] = i == dim ? d->taps : limits[i];
      if (i == dim) {
        sizes[k++] = 1;
      }
    }
    starts[dim] = (d->phases - 1 - r) * stride;
    limits[dim] = starts[dim] + (d->taps - 1) * by + 1;
    strides[dim] = by;
    parts[r] =
        indim_build_reshape(t->x->b, indim_build_slice(t->x->b, filter, starts, limits, strides), sizes, rank + 1);
  }
  return filter == NULL ? NULL : indim_build_concatenate(t->x->b, parts, (int32_t)d->phases, dim + 1);
}

// The same with a stride of 1, where the phases are the elements between those of one, the last one first.
static value plain_phases(together *t, value filter, int32_t dim, const division *d) {
  int64_t sizes[INDIM_MAX_RANK];
  int32_t k = 0;
  for (int32_t i = 0; filter != NULL && i < filter->shape->rank; i++) {
    sizes[k++] = i == dim ? d->taps : filter->shape->sizes[i];
    if (i == dim) {
      sizes[k++] = d->phases;
    }
  }
  return indim_build_reverse(t->x->b, indim_build_reshape(t->x->b, filter, sizes, k), &(int64_t){dim + 1}, 1);
}

// Divides dimension |dim| of the filter into taps and phases.
static value divide_filter(together *t, value filter, int32_t dim, int32_t a) {
  const division *d = &t->d[a];
  int64_t by = t->window[a].base_dilation, stride = t->window[a].stride;
  return stride == 1 ? plain_phases(t, filter, dim, d) : strided_phases(t, filter, dim, d, stride, by);
}

// Zeros before and behind the taps of dimension |a|, or fewer taps. Few features read the filter element by element: it is put
// into zeros in memory, and has no guards.
static value pad_filter(together *t, value filter, int32_t a) {
  indim_builder *b = t->x->b;
  const division *d = &t->d[a];
  int32_t dim = t->labels->kernel_spatial[a], rank = t->x->instr->operands[1]->shape->rank;
  int64_t low[INDIM_MAX_RANK] = {0}, high[INDIM_MAX_RANK] = {0};
  int64_t size = (d->phases - 1) * t->window[a].stride + (d->taps - 1) * t->window[a].base_dilation + 1;
  low[dim] = d->low;
  high[dim] = size - d->low - t->window[a].size;
  if (filter == NULL || t->is_feature_last || low[dim] < 0 || high[dim] < 0) {
    value zero = indim_build_scalar_int(b, t->x->instr->operands[1]->shape->type, 0);
    return indim_build_pad(b, filter, zero, low, high, NULL);
  }
  value at[INDIM_MAX_RANK];
  int64_t sizes[INDIM_MAX_RANK];
  for (int32_t i = 0; i < rank; i++) {
    at[i] = indim_build_scalar_int(b, INDIM_S64, low[i]);
    sizes[i] = i == dim ? size : filter->shape->sizes[i];
  }
  indim_shape shape;
  indim_build_fail(b, indim_shape_init(t->x->cx, filter->shape->type, rank, sizes, &shape));
  return b->status != INDIM_OK ? NULL
                               : indim_build_dynamic_update_slice(b, indim_expand_zeros(t->x, &shape), filter, at);
}

// The filter with its taps in order, and zeros around them.
static value lay_out_filter(together *t) {
  int64_t reversed[INDIM_MAX_RANK];
  int32_t count = 0;
  value filter = t->x->operands[1];
  for (int32_t a = 0; a < t->count; a++) {
    if (t->window[a].reversal) {
      reversed[count++] = t->labels->kernel_spatial[a];
    }
  }
  filter = count > 0 ? indim_build_reverse(t->x->b, filter, reversed, count) : filter;
  for (int32_t a = 0; a < t->count; a++) {
    filter = t->is_divided[a] ? pad_filter(t, filter, a) : filter;
  }
  return filter;
}

// Divides the outputs, which are dimension |dim|, by groups.
static value divide_outputs(together *t, value filter, int32_t dim) {
  int64_t sizes[INDIM_MAX_RANK];
  int32_t rank = 0;
  for (int32_t i = 0; filter != NULL && i < filter->shape->rank; i++) {
    if (i == dim) {
      sizes[rank++] = t->groups;
    }
    sizes[rank++] = i == dim ? t->outputs : filter->shape->sizes[i];
  }
  return indim_build_reshape(t->x->b, filter, sizes, rank);
}

// After dimension |dim| became two.
static void move_behind(int32_t *at, int32_t count, int32_t dim) {
  for (int32_t i = 0; i < count; i++) {
    at[i] += at[i] > dim;
  }
}

// The filter with dimensions of taps, input features, and all features of the output: of groups, phases, and outputs.
static value make_filter(together *t) {
  value filter = lay_out_filter(t);
  int32_t at[INDIM_MAX_RANK] = {0};  // where each dimension of the filter begins
  int32_t rank = t->count + 2, k = 0;
  int64_t order[INDIM_MAX_RANK], sizes[INDIM_MAX_RANK];
  for (int32_t i = 0; i < rank; i++) {
    at[i] = i;
  }
  for (int32_t a = 0; a < t->count; a++) {
    if (t->is_divided[a]) {
      int32_t dim = at[t->labels->kernel_spatial[a]];
      filter = divide_filter(t, filter, dim, a);
      move_behind(at, rank, dim);
    }
  }
  int32_t output = at[t->labels->kernel_output];
  filter = divide_outputs(t, filter, output);
  move_behind(at, rank, output);
  for (int32_t a = 0; a < t->count; a++) {
    order[k++] = at[t->labels->kernel_spatial[a]];
  }
  order[k++] = at[t->labels->kernel_input];
  order[k++] = output;
  for (int32_t a = 0; a < t->count; a++) {
    if (t->is_divided[a]) {
      order[k++] = at[t->labels->kernel_spatial[a]] + 1;
    }
  }
  order[k++] = output + 1;
  filter = indim_build_transpose(t->x->b, filter, order, k);
  for (int32_t i = 0; filter != NULL && i <= t->count; i++) {
    sizes[i] = filter->shape->sizes[i];
  }
  sizes[t->count + 1] = t->groups * t->phases * t->outputs;
  return indim_build_reshape(t->x->b, filter, sizes, rank);
}

static indim_attr labels_for(together *t) {
  indim_dim_labels labels = *t->labels;
  labels.kernel_input = t->count;
  labels.kernel_output = t->count + 1;
  labels.output_batch = 0;
  labels.output_feature = t->is_feature_last ? t->count + 1 : 1;
  for (int32_t a = 0; a < t->count; a++) {
    labels.kernel_spatial[a] = a;
    labels.output_spatial[a] = a + (t->is_feature_last ? 1 : 2);
  }
  return indim_expand_labels(t->x, &labels);
}

static indim_attr window_for(together *t) {
  indim_window_dim window[INDIM_MAX_RANK];
  for (int32_t a = 0; a < t->count; a++) {
    window[a] = t->window[a];
    window[a].reversal = false;
    if (t->is_divided[a]) {
      const division *d = &t->d[a];
      int64_t in = t->x->instr->operands[0]->shape->sizes[t->labels->input_spatial[a]];
      window[a] = (indim_window_dim){
          .size = d->taps, .stride = d->step, .pad_low = -d->first, .base_dilation = 1, .window_dilation = 1};
      window[a].pad_high = (d->places - 1) * d->step + d->taps - in + d->first;
    }
  }
  return indim_expand_window(t->x, window, t->count);
}

static int64_t places_of(const together *t, int32_t a) {
  return t->is_divided[a] ? t->d[a].places : t->x->instr->shape->sizes[t->labels->output_spatial[a]];
}

static value convolve(together *t, value filter) {
  const indim_instr *instr = t->x->instr;
  indim_attr attrs[3] = {labels_for(t), window_for(t)};
  int64_t count = 2, sizes[INDIM_MAX_RANK];
  if (t->groups > 1) {
    attrs[count++] = *indim_instr_attr(instr, INDIM_ATTR_FEATURE_GROUP_COUNT);
  }
  indim_shape shape;
  sizes[0] = instr->shape->sizes[t->labels->output_batch];
  sizes[t->is_feature_last ? t->count + 1 : 1] = t->groups * t->phases * t->outputs;
  for (int32_t a = 0; a < t->count; a++) {
    sizes[a + (t->is_feature_last ? 1 : 2)] = places_of(t, a);
  }
  indim_build_fail(t->x->b, indim_shape_init(t->x->cx, instr->shape->type, t->count + 2, sizes, &shape));
  value operands[] = {t->x->operands[0], filter};
  return t->x->b->status != INDIM_OK
             ? NULL
             : indim_build_emit(t->x->b, INDIM_OP_CONVOLUTION, &shape, operands, 2, attrs, count);
}

// The output with its features apart, and where its dimensions are then.
typedef struct apart {
  int64_t sizes[INDIM_MAX_RANK];
  int32_t rank;
  int32_t place[INDIM_MAX_RANK], phase[INDIM_MAX_RANK], group, output;
} apart;

static void add_places(const together *t, apart *to) {
  for (int32_t a = 0; a < t->count; a++) {
    to->place[a] = to->rank;
    to->sizes[to->rank++] = places_of(t, a);
  }
}

static void add_features(const together *t, apart *to) {
  to->group = to->rank;
  to->sizes[to->rank++] = t->groups;
  for (int32_t a = 0; a < t->count; a++) {
    if (t->is_divided[a]) {
      to->phase[a] = to->rank;
      to->sizes[to->rank++] = t->d[a].phases;
    }
  }
  to->output = to->rank;
  to->sizes[to->rank++] = t->outputs;
}

// The spatial dimension that is dimension |dim| of the output.
static int32_t spatial_of(const together *t, int32_t dim) {
  int32_t a = 0;
  while (t->labels->output_spatial[a] != dim) {
    a++;
  }
  return a;
}

// Puts the phases between each other, and cuts off what is behind.
static value interleave(together *t, value all) {
  indim_builder *b = t->x->b;
  const indim_shape *shape = t->x->instr->shape;
  apart from = {.sizes = {shape->sizes[t->labels->output_batch]}, .rank = 1};
  int64_t order[INDIM_MAX_RANK], sizes[INDIM_MAX_RANK], starts[INDIM_MAX_RANK] = {0};
  int32_t k = 0;
  if (t->is_feature_last) {
    add_places(t, &from);
    add_features(t, &from);
  } else {
    add_features(t, &from);
    add_places(t, &from);
  }
  for (int32_t d = 0; d < shape->rank; d++) {
    sizes[d] = shape->sizes[d];
    if (d == t->labels->output_batch) {
      order[k++] = 0;
    } else if (d == t->labels->output_feature) {
      order[k++] = from.group;
      order[k++] = from.output;
    } else {
      int32_t a = spatial_of(t, d);
      order[k++] = from.place[a];
      if (t->is_divided[a]) {
        order[k++] = from.phase[a];
        sizes[d] = t->d[a].places * t->d[a].phases;
      }
    }
  }
  all = indim_build_reshape(b, all, from.sizes, from.rank);
  all = indim_build_reshape(b, indim_build_transpose(b, all, order, k), sizes, shape->rank);
  return indim_build_slice(b, all, starts, shape->sizes, NULL);
}

value indim_phases_expand_together(indim_expander *x) {
  const indim_instr *instr = x->instr;
  int64_t count = 0;
  together t = {.x = x, .labels = labels_of(instr), .window = window_of(instr, &count), .phases = 1};
  t.count = (int32_t)count;
  t.groups = indim_instr_int(instr, INDIM_ATTR_FEATURE_GROUP_COUNT, 1);
  t.outputs = instr->shape->sizes[t.labels->output_feature] / t.groups;
  for (int32_t a = 0; a < t.count; a++) {
    t.is_divided[a] = t.window[a].base_dilation > 1;
    if (t.is_divided[a]) {
      t.d[a] = divide(&t.window[a], instr->shape->sizes[t.labels->output_spatial[a]]);
      t.phases *= t.d[a].phases;
    }
  }
  t.is_feature_last = t.groups * t.phases * t.outputs >= FEW;
  indim_expand_begin(x);
  return interleave(&t, convolve(&t, make_filter(&t)));
}
