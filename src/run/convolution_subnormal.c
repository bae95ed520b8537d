// Convolutions with subnormal numbers: tails of Gaussians in an image, gradients that vanish. A side in which there are some is
// copied, times a power of two that makes them normal, as in matmul_subnormal.c.
#include <stdlib.h>

#include "base/float_mode.h"
#include "host/convolution.h"
#include "run/aligned_memory.h"
#include "run/convolution.h"
#include "run/convolution_block.h"
#include "run/subnormal.h"

enum {
  AXES = INDIM_GATHER_AXES,
  ROW = 64,        // elements that are looked at in a row
  SAMPLE = 17,     // every so manieth, so that they are at other places of each line of an image
  LEAST_USES = 16  // of each element, that are worth a look
};

// The elements that an array has around the one that its address is of, in the order of memory.
typedef struct extent {
  int64_t before, behind;
} extent;

static void extend(extent *e, int64_t count, int64_t stride) {
  *(stride < 0 ? &e->before : &e->behind) += (count - 1) * llabs(stride);
}

static extent image_extent(const indim_host_convolution *s) {
  extent e = {0, 0};
  extend(&e, s->groups, s->image_group);
  extend(&e, s->batch, s->image_batch);
  extend(&e, s->features, s->image_feature);
  for (int32_t a = 0; a < AXES; a++) {
    extend(&e, s->dims[a].in, s->dims[a].image_stride);
  }
  return e;
}

static extent filter_extent(const indim_host_convolution *s) {
  extent e = {0, 0};
  extend(&e, s->groups, s->filter_group);
  extend(&e, s->features, s->filter_feature);
  extend(&e, s->outputs, 1);
  for (int32_t a = 0; a < AXES; a++) {
    extend(&e, s->dims[a].taps, s->dims[a].filter_stride);
  }
  return e;
}

static int64_t count_of(const extent *e) { return e->before + e->behind + 1; }

static const char *first_of(indim_type type, const extent *e, const void *at) {
  return (const char *)at - e->before * indim_type_bytes(type);
}

static bool has_subnormals(indim_type type, const extent *e, const void *at) {
  int64_t count = count_of(e);
  bool is_short = count < ROW * SAMPLE;
  indim_rows rows = {type, 1, is_short ? 1 : count / ROW, is_short ? count : ROW, 0, ROW};
  return indim_has_subnormals(&rows, first_of(type, e, at), is_short ? 1 : SAMPLE);
}

// A copy times 2^power, and in |*out| where |at| is in it; both are NULL without memory.
static void *copy_scaled(indim_type type, const extent *e, const void *at, int power, const void **out) {
  indim_rows all = {type, 1, 1, count_of(e), 0, 0};
  char *copy = indim_copy_scaled(&all, first_of(type, e, at), power);
  *out = copy == NULL ? NULL : copy + e->before * indim_type_bytes(type);
  return copy;
}

// Whether each of the image's elements is multiplied often enough, and those of the filter are some.
static bool is_worth_it(const indim_host_convolution *s) {
  int64_t uses = s->features > 0 ? s->outputs : 0;
  for (int32_t a = 0; a < AXES; a++) {
    uses = s->dims[a].in > 0 ? uses * s->dims[a].taps : 0;
  }
  return uses >= LEAST_USES;
}

bool indim_convolution_scale(indim_convolution_scaled *scaled, const indim_host_convolution *s, const void *image,
                             const void *filter) {
  *scaled = (indim_convolution_scaled){.image = image, .filter = filter};
  indim_type type = (indim_type)s->type;
  bool is_float = (type == INDIM_F32 || type == INDIM_F64) && indim_convolution_image_type(s) == s->type &&
                  indim_convolution_filter_type(s) == s->type;
  if (INDIM_SUBNORMALS_ARE_SLOW == 0 || !is_float || !is_worth_it(s)) {
    return false;
  }
  extent images = image_extent(s);
  extent filters = filter_extent(s);
  bool in_image = has_subnormals(type, &images, image);
  bool in_filter = has_subnormals(type, &filters, filter);
  int power = indim_subnormal_power(type, in_image && in_filter);
  if (in_image) {
    scaled->copies[0] = copy_scaled(type, &images, image, power, &scaled->image);
  }
  if (in_filter && scaled->image != NULL) {
    scaled->copies[1] = copy_scaled(type, &filters, filter, power, &scaled->filter);
  }
  scaled->power = in_image && in_filter ? 2 * power : power;
  bool is_scaled = (in_image || in_filter) && scaled->image != NULL && scaled->filter != NULL;
  if (!is_scaled) {
    indim_convolution_scaled_free(scaled);
  }
  return is_scaled;
}

bool indim_convolution_unscale(const indim_convolution_scaled *scaled, const indim_host_convolution *s, void *out) {
  const indim_host_convolution_dim *d = s->dims;
  indim_rows rows = {(indim_type)s->type, d[1].out, d[2].out, s->outputs, d[1].out_stride, d[2].out_stride};
  int64_t bytes = indim_type_bytes((indim_type)s->type);
  bool are_finite = true;
  for (int64_t i = 0; i < s->groups * s->batch * d[0].out; i++) {
    int64_t at = i / (s->batch * d[0].out) * s->out_group + i / d[0].out % s->batch * s->out_batch +
                 i % d[0].out * d[0].out_stride;
    are_finite = indim_unscale(&rows, (char *)out + at * bytes, scaled->power) && are_finite;
  }
  return are_finite;
}

void indim_convolution_scaled_free(indim_convolution_scaled *scaled) {
  indim_aligned_free(scaled->copies[0]);
  indim_aligned_free(scaled->copies[1]);
}
