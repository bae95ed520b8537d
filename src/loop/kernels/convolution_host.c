// A large convolution, computed by the host as an implicit matrix product (run/convolution.c). The host wants output features
// that are contiguous in the output and in the filter, and an image that is contiguous along what the sum or the rows of
// the product go over; arrays that lie otherwise, or are narrower than the sums, are copied.
#include <stdlib.h>
#include <string.h>

#include "host/convolution.h"
#include "loop/ir/build.h"
#include "loop/ir/index_math.h"
#include "loop/kernels/convolution.h"
#include "loop/kernels/dot.h"
#include "loop/kernels/window.h"
#include "loop/target/cost.h"

enum { MOST_SPATIAL = 3, STORAGES = 3 };

typedef struct call {
  indim_lowering *l;
  indim_flow_item *item;
  const indim_dim_labels *labels;
  indim_type type;  // of the sums
  indim_flow_item *operands[2];
  indim_type types[2];  // that they are multiplied in
  indim_host_convolution sizes;
} call;

// The types that operands are multiplied in: that of the sums, or their own where these are small integers, before they are
// converted to s32 on the way.
static void set_types(call *c) {
  for (int32_t i = 0; i < 2; i++) {
    indim_flow_item *item = c->item->operands[i];
    bool is_s32 = c->type == INDIM_S32;
    c->operands[i] = is_s32 ? indim_product_before_conversion(item) : item;
    c->types[i] = is_s32 ? c->operands[i]->shape->type : c->type;
  }
}

static const char *refuses_kind(const call *c) {
  if (!indim_lower_is_enabled(c->l, INDIM_DECISION_LIBRARY)) {
    return "the decision library is left out";
  }
  if (!indim_convolution_takes(c->type, c->types[0], c->types[1])) {
    return "its sums are neither f32 nor f64, nor those of small integers in s32";
  }
  if (c->l->loop_depth > 0) {
    return "it is in a loop of another kernel";
  }
  if (c->labels->spatial_count > MOST_SPATIAL) {
    return "it has more than 3 spatial dimensions";
  }
  return c->item->place.tiled != NULL ? "its output is tiled" : NULL;
}

static bool set_dim(call *c, int32_t s) {
  const indim_dim_labels *l = c->labels;
  const indim_window_dim *w = indim_window_dim_of(c->item->instr, s);
  c->sizes.dims[s] = (indim_host_convolution_dim){.out = c->item->shape->sizes[l->output_spatial[s]],
                                                  .in = c->item->operands[0]->shape->sizes[l->input_spatial[s]],
                                                  .taps = w->size,
                                                  .stride = w->stride,
                                                  .dilation = w->window_dilation,
                                                  .base_dilation = w->base_dilation,
                                                  .pad = w->pad_low};
  const indim_host_convolution_dim *d = &c->sizes.dims[s];
  const int64_t sizes[] = {d->out, d->in, d->taps, d->stride, d->dilation, d->base_dilation, llabs(d->pad)};
  bool fits = true;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    fits = fits && sizes[i] <= INT32_MAX;
  }
  return fits;
}

// All but the strides. False if a number is too large.
static bool set_sizes(call *c) {
  const indim_instr *instr = c->item->instr;
  const indim_shape *filter = c->item->operands[1]->shape;
  int64_t batch_groups = indim_instr_int(instr, INDIM_ATTR_BATCH_GROUP_COUNT, 1);
  int64_t groups = batch_groups > 1 ? batch_groups : indim_instr_int(instr, INDIM_ATTR_FEATURE_GROUP_COUNT, 1);
  c->sizes = (indim_host_convolution){.type = c->type,
                                      .image_type = c->types[0],
                                      .filter_type = c->types[1],
                                      .groups = groups,
                                      .batch = c->item->shape->sizes[c->labels->output_batch],
                                      .features = filter->sizes[c->labels->kernel_input],
                                      .outputs = c->item->shape->sizes[c->labels->output_feature] / groups};
  bool fits = c->sizes.batch <= INT32_MAX && c->sizes.features <= INT32_MAX && c->sizes.outputs <= INT32_MAX;
  for (int32_t s = 0; s < MOST_SPATIAL && fits; s++) {
    c->sizes.dims[s] =
        (indim_host_convolution_dim){.out = 1, .in = 1, .taps = 1, .stride = 1, .dilation = 1, .base_dilation = 1};
    fits = s >= c->labels->spatial_count || set_dim(c, s);
  }
  return fits;
}

// Steps of the sum of one element, without the zeros between the elements of a dilated image.
static int64_t steps_of(const call *c) {
  int64_t steps = c->sizes.features;
  for (int32_t s = 0; s < c->labels->spatial_count; s++) {
    const indim_host_convolution_dim *d = &c->sizes.dims[s];
    steps = indim_index_mul_saturated(steps, (d->taps + d->base_dilation - 1) / d->base_dilation);
  }
  return steps;
}

static bool is_dilated(const call *c) {
  for (int32_t a = 0; a < c->labels->spatial_count; a++) {
    if (c->sizes.dims[a].base_dilation > 1) {
      return true;
    }
  }
  return false;
}

// Whether the image lies along places of the output: a nest's lanes are neighbours of it.
static bool lies_along_places(const call *c, int64_t minor) {
  bool lies = false;
  for (int32_t a = 0; a < c->labels->spatial_count; a++) {
    lies = lies || (c->labels->input_spatial[a] == minor && c->sizes.dims[a].stride == 1);
  }
  return lies;
}

static int64_t steps_with_zeros(const call *c) {
  int64_t steps = c->sizes.features;
  for (int32_t a = 0; a < c->labels->spatial_count; a++) {
    steps = indim_index_mul_saturated(steps, c->sizes.dims[a].taps);
  }
  return steps;
}

static const char TOO_SMALL[] = "it is small";
static const char SHORT_SUMS[] = "its sums are short";
static const char FEW_OUTPUTS[] = "a group has few output features";

// Of small integers, which the host multiplies several at a time: few output features leave lanes for nothing but the input features,
// unless the image lies along its places, where a nest fills them; and of few input features that are neighbours the image
// takes as long to lay out as short sums do.
static const char *refuses_integers(const call *c, int64_t minor, int64_t steps, int64_t work) {
  const indim_host_convolution *s = &c->sizes;
  bool along_features = minor == c->labels->input_feature;
  bool has_rows = s->features >= INDIM_COST_HOST_CONTIGUOUS;
  if (!has_rows || !along_features) {
    bool fills_lanes = !has_rows && lies_along_places(c, minor);
    if (steps <= (fills_lanes ? INDIM_COST_HOST_STEPS_ALONG_PLACES : INDIM_COST_HOST_STEPS)) {
      return SHORT_SUMS;
    }
    if (s->outputs < (along_features ? INDIM_COST_HOST_OUTPUTS : INDIM_COST_HOST_SIDE)) {
      return FEW_OUTPUTS;
    }
  }
  return work < INDIM_COST_HOST_PRODUCT || steps < INDIM_COST_HOST_NARROW_STEPS ? TOO_SMALL : NULL;
}

// A nest would multiply the zeros between the elements of the image.
static const char *refuses_dilated(const call *c, int64_t work) {
  bool has_rows = c->sizes.features >= INDIM_COST_HOST_CONTIGUOUS;
  if (!has_rows && steps_with_zeros(c) < INDIM_COST_HOST_STEPS_DILATED) {
    return SHORT_SUMS;
  }
  if (c->sizes.features < INDIM_COST_HOST_SIDE && c->sizes.outputs < INDIM_COST_HOST_OUTPUTS) {
    return FEW_OUTPUTS;
  }
  return work < INDIM_COST_HOST_DILATED ? TOO_SMALL : NULL;
}

// Whether a nest converts each element of the image again for every tap.
static bool is_half(const call *c) { return indim_type_bytes(c->item->operands[0]->shape->type) == 2; }

// Where input features are contiguous the host reads sums where they lie, if these are not short and there are rows enough to make up
// for packing the filter; of few features it copies them.
static const char *refuses_along_features(const call *c, int64_t steps) {
  int64_t places = c->sizes.batch;
  for (int32_t a = 0; a < MOST_SPATIAL; a++) {
    places = indim_index_mul_saturated(places, c->sizes.dims[a].out);
  }
  if (steps < (is_half(c) ? INDIM_COST_HOST_HALF_STEPS : INDIM_COST_HOST_LONG_SUM)) {
    return SHORT_SUMS;
  }
  if (places < INDIM_COST_HOST_PLACES) {
    return TOO_SMALL;
  }
  int64_t filter = indim_index_mul_saturated(steps, c->sizes.outputs);
  bool pays =
      (is_half(c) && c->sizes.outputs >= INDIM_COST_HOST_SIDE) || c->sizes.features >= INDIM_COST_HOST_CONTIGUOUS ||
      filter >= INDIM_COST_HOST_FILTER_OF_L2 ||
      (c->labels->spatial_count <= 2 && places >= INDIM_COST_HOST_PLACES_COPIED && filter >= INDIM_COST_HOST_FILTER);
  return pays ? NULL : TOO_SMALL;
}

// Whether the convolution is like the gradient of a filter: more taps than places, whose windows overlap. Those of patches, a
// stride apart, do not.
static bool is_like_gradient(const call *c) {
  bool is = true;
  for (int32_t s = 0; s < c->labels->spatial_count; s++) {
    const indim_host_convolution_dim *d = &c->sizes.dims[s];
    int64_t moves = d->stride * (d->out > 1 ? d->out - 1 : 1);
    is = is && d->taps >= d->out && moves < d->taps * d->dilation;
  }
  return is;
}

// The image lies along places or the batch: the host copies it or its windows.
static const char *refuses_other(const call *c, int64_t minor, int64_t steps, int64_t work) {
  bool along_places = lies_along_places(c, minor);
  if (is_like_gradient(c)) {
    int64_t least = along_places ? INDIM_COST_HOST_GRADIENT_ALONG : INDIM_COST_HOST_GRADIENT;
    return c->sizes.outputs < INDIM_COST_HOST_SIDE_ALONG ? FEW_OUTPUTS : work < least ? TOO_SMALL : NULL;
  }
  bool is_large =
      work >= INDIM_COST_HOST_OF_COPIES && indim_index_mul_saturated(steps, c->sizes.outputs) >=
                                               (is_half(c) ? INDIM_COST_HOST_HALF_FILTER : INDIM_COST_HOST_FILTER);
  return is_large ? NULL : TOO_SMALL;
}

static const char *refuses_sizes(const call *c) {
  const indim_shape *image = c->item->operands[0]->shape;
  int64_t minor = image->has_layout ? image->layout.minor_to_major[0] : image->rank - 1;
  int64_t steps = steps_of(c);
  int64_t work = indim_index_mul_saturated(indim_shape_element_count(c->item->shape), steps);
  const char *reason = is_dilated(c)                       ? refuses_dilated(c, work)
                       : c->type == INDIM_S32              ? refuses_integers(c, minor, steps, work)
                       : minor == c->labels->input_feature ? refuses_along_features(c, steps)
                                                           : refuses_other(c, minor, steps, work);
  if (work < INDIM_COST_HOST_PRODUCT / 16) {
    return reason == NULL ? TOO_SMALL : reason;
  }
  return indim_lower_choose_library(c->l, c->item->instr, reason);
}

// Operands ----------------------------------------------------------------------------------------------------------------

indim_shape indim_convolution_laid_out(const indim_shape *shape, indim_type type, int64_t last, int64_t before) {
  indim_shape wanted = *shape;
  int32_t k = 0;
  wanted.type = type;
  wanted.has_layout = true;
  wanted.layout = (indim_layout){.rank = shape->rank};
  wanted.layout.minor_to_major[k++] = last;
  if (before >= 0) {
    wanted.layout.minor_to_major[k++] = before;
  }
  for (int64_t d = shape->rank - 1; d >= 0; d--) {
    if (d != last && d != before) {
      wanted.layout.minor_to_major[k++] = d;
    }
  }
  return wanted;
}

// The bf16 that an operand is, or is converted from on the way; NULL: it is neither.
static indim_flow_item *bf16_of(indim_flow_item *item) {
  bool is_converted = item->placement == INDIM_PLACEMENT_INLINE && item->kind == INDIM_FLOW_OP &&
                      item->instr->op == INDIM_OP_CONVERT && item->operands[0]->shape->type == INDIM_BF16;
  return item->shape->type == INDIM_BF16 ? item : is_converted ? item->operands[0] : NULL;
}

// Tiles multiply bf16 at several times the speed of f32, which makes up for laying the image out, where neighbours in the sum are
// neighbours there.
static void take_bf16(call *c) {
  indim_flow_item *operands[2] = {bf16_of(c->item->operands[0]), bf16_of(c->item->operands[1])};
  bool suits = c->type == INDIM_F32 && operands[0] != NULL && operands[1] != NULL && !is_like_gradient(c) &&
               c->sizes.features >= INDIM_COST_HOST_CONTIGUOUS && c->sizes.outputs >= INDIM_COST_HOST_CONTIGUOUS &&
               indim_features_have(c->l->target->features, "amx-bf16");
  for (int32_t i = 0; i < 2 && suits; i++) {
    c->operands[i] = operands[i];
    c->types[i] = INDIM_BF16;
    c->sizes.image_type = c->sizes.filter_type = INDIM_BF16;
  }
}

// The image's dimension that is to be contiguous: the features, which are summed, or the batch, which is in the rows, as it
// is where the convolution is the gradient of a filter; -1: any, because both are 1.
static int64_t image_order(const call *c, const indim_stored *found) {
  const indim_dim_labels *l = c->labels;
  bool is_gradient = is_like_gradient(c);
  bool sums = c->sizes.features >= INDIM_COST_HOST_CONTIGUOUS;
  bool rows = c->sizes.batch >= INDIM_COST_HOST_CONTIGUOUS;
  if (found != NULL && sums && found->strides[l->input_feature] == 1) {
    return l->input_feature;
  }
  if (found != NULL && rows && found->strides[l->input_batch] == 1) {
    return l->input_batch;
  }
  if (is_gradient && (rows || (!sums && c->sizes.batch > 1))) {
    return l->input_batch;
  }
  return sums || found == NULL || (!is_gradient && c->sizes.features > 1) ? l->input_feature : -1;
}

static indim_stored need_image(call *c) {
  indim_stored found = {0};
  bool is_found = indim_lower_find_stored(c->l, c->operands[0], c->types[0], &found);
  int64_t order = image_order(c, is_found ? &found : NULL);
  if (is_found && (order < 0 || found.strides[order] == 1)) {
    return found;
  }
  const indim_shape shape = indim_convolution_laid_out(c->operands[0]->shape, c->types[0], order, -1);
  (void)indim_lower_store_copy(c->l, c->operands[0], &shape, &found);
  return found;
}

static indim_stored need_filter(call *c) {
  indim_stored found = {0};
  if (indim_lower_find_stored(c->l, c->operands[1], c->types[1], &found) &&
      found.strides[c->labels->kernel_output] == 1) {
    return found;
  }
  const indim_shape shape =
      indim_convolution_laid_out(c->operands[1]->shape, c->types[1], c->labels->kernel_output, c->labels->kernel_input);
  (void)indim_lower_store_copy(c->l, c->operands[1], &shape, &found);
  return found;
}

// The call ----------------------------------------------------------------------------------------------------------------

// Sets the strides; returns the address of the filter's element at tap 0.
static indim_value_id set_strides(call *c, const indim_stored *image, const indim_stored *filter, const int64_t *out) {
  const indim_dim_labels *l = c->labels;
  indim_host_convolution *s = &c->sizes;
  bool splits_batch = indim_instr_int(c->item->instr, INDIM_ATTR_BATCH_GROUP_COUNT, 1) > 1;
  indim_value_id address = filter->address;
  s->out_batch = out[l->output_batch];
  s->image_batch = image->strides[l->input_batch];
  s->image_feature = image->strides[l->input_feature];
  s->filter_feature = filter->strides[l->kernel_input];
  s->out_group = s->filter_group = s->outputs;
  s->image_group = splits_batch ? s->batch * s->image_batch : s->features * s->image_feature;
  for (int32_t a = 0; a < l->spatial_count; a++) {
    indim_host_convolution_dim *d = &s->dims[a];
    d->out_stride = out[l->output_spatial[a]];
    d->image_stride = image->strides[l->input_spatial[a]];
    d->filter_stride = filter->strides[l->kernel_spatial[a]];
    if (indim_window_dim_of(c->item->instr, a)->reversal) {
      address = indim_loop_add_const(&c->l->b, address, (d->taps - 1) * d->filter_stride);
      d->filter_stride = -d->filter_stride;
    }
  }
  return address;
}

const char *indim_convolution_call_host(indim_lowering *l, indim_flow_item *item) {
  indim_type type = item->shape->type;
  call c = {.l = l,
            .item = item,
            .labels = indim_instr_attr(item->instr, INDIM_ATTR_DIM_LABELS)->value.dim_labels,
            .type = indim_type_is_float(type) && type != INDIM_F64 ? INDIM_F32 : type};
  set_types(&c);
  const char *reason = refuses_kind(&c);
  reason = reason == NULL && !set_sizes(&c) ? "a size is 2^31 or more" : reason;
  reason = reason == NULL ? refuses_sizes(&c) : reason;
  if (reason != NULL) {
    return reason;
  }
  take_bf16(&c);
  const indim_location wanted = item->place;
  bool is_copied = wanted.strides[c.labels->output_feature] != 1 || wanted.storage->type != c.type;
  indim_stored image = need_image(&c);
  indim_stored filter = need_filter(&c);
  if (is_copied) {
    const indim_shape shape = indim_convolution_laid_out(item->shape, c.type, c.labels->output_feature, -1);
    item->place = indim_location_new(l, &shape, item->instr->name.data);
  }
  if (indim_lower_failed(l)) {
    return NULL;
  }
  indim_value_id filter_address = set_strides(&c, &image, &filter, item->place.strides);
  indim_storage *storages[STORAGES] = {item->place.storage, image.storage, filter.storage};
  const indim_value_id addresses[STORAGES] = {indim_location_start(l, &item->place), image.address, filter_address};
  indim_loop_region_begin(&l->b, storages, 1);
  indim_loop_host(&l->b, &(indim_host_call){.service = INDIM_HOST_CONVOLUTION,
                                            .storage_count = STORAGES,
                                            .written_count = 1,
                                            .storages = storages,
                                            .addresses = addresses,
                                            .numbers = &c.sizes});
  indim_element_forget(l);
  if (is_copied && !indim_lower_failed(l)) {
    indim_nest_copy(l, item, &wanted);
    item->place = wanted;
  }
  return NULL;
}
