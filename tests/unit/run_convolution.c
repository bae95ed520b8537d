// The host's convolution against the plainest loop, over random sizes, strides, dilations, padding of both signs, groups and
// orders of all arrays in memory, for every width of vectors; and the same bits for any number of threads.
#include <math.h>
#include <stdlib.h>

#include "array/float_format.h"
#include "exact_sum.h"
#include "host/convolution.h"
#include "run/aligned_memory.h"
#include "run/convolution.h"
#include "test.h"

enum { IMAGE_DIMS = 6, MOST_WORK = 400 * 1000 };

typedef struct problem {
  indim_host_convolution sizes;
  int64_t counts[3];  // elements of out, image, filter
  int64_t filter_start;
} problem;

static uint64_t state;

static int64_t below(int64_t n) {
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (int64_t)((state >> 33) % (uint64_t)n);
}

static int64_t one_of(const int64_t *list, int64_t count) { return list[below(count)]; }
#define ONE_OF(list) one_of(list, (int64_t)(sizeof(list) / sizeof *(list)))

// Lays dimensions out in a random order from |stride| on, with gaps now and then. Returns the number of elements.
static int64_t lay_out(int64_t count, const int64_t *sizes, int64_t stride, int64_t **strides) {
  int64_t left = count;
  bool done[IMAGE_DIMS] = {false};
  while (left > 0) {
    int64_t d = below(count);
    if (!done[d]) {
      done[d] = true;
      *strides[d] = stride;
      stride = stride * sizes[d] + (below(8) == 0 ? 3 : 0);
      left--;
    }
  }
  return stride;
}

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

static indim_host_convolution_dim random_dim(void) {
  indim_host_convolution_dim d = {.out = 1, .in = 1, .taps = 1, .stride = 1, .dilation = 1, .base_dilation = 1};
  static const int64_t steps[] = {1, 1, 1, 1, 2, 3, 4, 6};
  static const int64_t sizes[] = {0, 1, 2, 3, 5, 8, 13, 17, 30, 45};
  static const int64_t taps[] = {0, 1, 1, 2, 3, 3, 3, 4, 5, 7, 11, 20};
  if (below(3) == 0) {
    return d;
  }
  d.in = ONE_OF(sizes);
  d.taps = below(40) == 0 ? 0 : 1 + ONE_OF(taps);
  d.stride = ONE_OF(steps);
  d.dilation = ONE_OF(steps);
  d.base_dilation = ONE_OF(steps);
  d.pad = below(10) - 3;
  int64_t base = d.in == 0 ? 0 : (d.in - 1) * d.base_dilation + 1;
  int64_t span = base + d.pad + below(10) - 3 - (d.taps == 0 ? 0 : (d.taps - 1) * d.dilation + 1);
  d.out = span < 0 ? 0 : floor_div(span, d.stride) + 1;
  return d;
}

static double work_of(const indim_host_convolution *s) {
  double work = (double)s->groups * (double)s->batch * (double)s->features * (double)s->outputs;
  for (int a = 0; a < 3; a++) {
    work *= (double)s->dims[a].out * (double)s->dims[a].taps;
  }
  return work;
}

// Lays the arrays of a problem out, in any order of their dimensions.
static void place(problem *p) {
  indim_host_convolution *s = &p->sizes;
  indim_host_convolution_dim *d = s->dims;
  s->out_group = s->outputs;
  s->filter_group = s->outputs;
  const int64_t out_sizes[] = {s->batch, d[0].out, d[1].out, d[2].out};
  int64_t *outs[] = {&s->out_batch, &d[0].out_stride, &d[1].out_stride, &d[2].out_stride};
  p->counts[0] = lay_out(4, out_sizes, s->groups * s->outputs, outs);
  const int64_t image_sizes[] = {s->groups, s->batch, s->features, d[0].in, d[1].in, d[2].in};
  int64_t *images[] = {&s->image_group,    &s->image_batch,    &s->image_feature,
                       &d[0].image_stride, &d[1].image_stride, &d[2].image_stride};
  p->counts[1] = lay_out(6, image_sizes, 1, images);
  const int64_t filter_sizes[] = {s->features, d[0].taps, d[1].taps, d[2].taps};
  int64_t *filters[] = {&s->filter_feature, &d[0].filter_stride, &d[1].filter_stride, &d[2].filter_stride};
  p->counts[2] = lay_out(4, filter_sizes, s->groups * s->outputs, filters);
  for (int a = 0; a < 3; a++) {
    if (below(3) == 0 && d[a].taps > 0) {  // reversed
      p->filter_start += (d[a].taps - 1) * d[a].filter_stride;
      d[a].filter_stride = -d[a].filter_stride;
    }
  }
}

static problem random_problem(indim_type type, double most) {
  static const int64_t few[] = {0, 1, 1, 1, 2, 3, 4};
  static const int64_t many[] = {1, 2, 3, 4, 7, 12, 16, 17, 24, 33, 40, 64, 70, 300};
  problem p = {0};
  indim_host_convolution *s = &p.sizes;
  do {
    *s = (indim_host_convolution){.type = type,
                                  .groups = below(4) == 0 ? ONE_OF(few) : 1,
                                  .batch = below(3) == 0 ? ONE_OF(many) : ONE_OF(few),
                                  .features = ONE_OF(many),
                                  .outputs = ONE_OF(many)};
    for (int a = 0; a < 3; a++) {
      s->dims[a] = random_dim();
    }
  } while (work_of(s) > most);
  place(&p);
  return p;
}

// Small whole numbers: all sums are exact in any order.
static double number(int64_t i) { return (double)((i * 2654435761 >> 7) % 9 - 4); }

// Numbers as large as the type has, whose sums are still below 2^53.
static double number_of(int64_t type, int64_t i) {
  uint64_t bits = (uint64_t)i * UINT64_C(2654435761) >> 7;
  switch (type) {
  case INDIM_HOST_S8:
    return (double)(int8_t)(bits & 0x7F) - (double)(bits & 0x80);
  case INDIM_HOST_U8:
    return (double)(bits & 0xFF);
  case INDIM_HOST_S16:
    return (double)(bits & 0x7FFF) - (double)(bits & 0x8000);
  default:
    return number(i);
  }
}

static void set(int64_t type, void *array, int64_t i, double x) {
  switch (type) {
  case INDIM_HOST_F32:
    ((float *)array)[i] = (float)x;
    break;
  case INDIM_HOST_F64:
    ((double *)array)[i] = x;
    break;
  case INDIM_HOST_S8:
    ((int8_t *)array)[i] = (int8_t)x;
    break;
  case INDIM_HOST_U8:
    ((uint8_t *)array)[i] = (uint8_t)x;
    break;
  case INDIM_HOST_S16:
    ((int16_t *)array)[i] = (int16_t)x;
    break;
  case INDIM_HOST_BF16:
    ((uint16_t *)array)[i] = (uint16_t)indim_float_encode(INDIM_BF16, x);
    break;
  default:
    ((uint32_t *)array)[i] = (uint32_t)(int64_t)x;
    break;
  }
}

static double get(int64_t type, const void *array, int64_t i) {
  switch (type) {
  case INDIM_HOST_F32:
    return (double)((const float *)array)[i];
  case INDIM_HOST_F64:
    return ((const double *)array)[i];
  case INDIM_HOST_S8:
    return (double)((const int8_t *)array)[i];
  case INDIM_HOST_U8:
    return (double)((const uint8_t *)array)[i];
  case INDIM_HOST_S16:
    return (double)((const int16_t *)array)[i];
  case INDIM_HOST_BF16:
    return indim_float_decode(INDIM_BF16, ((const uint16_t *)array)[i]);
  default:
    return (double)((const uint32_t *)array)[i];
  }
}

static void *filled(int64_t type, int64_t count, int64_t salt) {
  void *array = malloc((size_t)((count < 1 ? 1 : count) * indim_type_bytes((indim_type)type)));
  for (int64_t i = 0; array != NULL && i < count; i++) {
    set(type, array, i, number_of(type, i + salt));
  }
  return array;
}

// The element that tap |tap| reads for place |place|, -1 if none.
static int64_t element_at(const indim_host_convolution_dim *d, int64_t place, int64_t tap) {
  int64_t at = place * d->stride + tap * d->dilation - d->pad;
  if (d->base_dilation == 1) {
    return at < d->in ? at : -1;
  }
  return at < 0 || at % d->base_dilation != 0 || at / d->base_dilation >= d->in ? -1 : at / d->base_dilation;
}

static double *to_doubles(int64_t type, const void *array, int64_t count) {
  double *numbers = malloc((size_t)(count < 1 ? 1 : count) * sizeof *numbers);
  for (int64_t i = 0; numbers != NULL && i < count; i++) {
    numbers[i] = get(type, array, i);
  }
  return numbers;
}

static double plain_sum(const problem *p, const double *image, const double *filter, int64_t group, int64_t batch,
                        const int64_t *place, int64_t output) {
  const indim_host_convolution *s = &p->sizes;
  const indim_host_convolution_dim *d = s->dims;
  image += group * s->image_group + batch * s->image_batch;
  filter += p->filter_start + group * s->filter_group + output;
  double sum = 0;
  for (int64_t i = 0; i < d[0].taps; i++) {
    int64_t x = element_at(&d[0], place[0], i);
    for (int64_t j = 0; j < d[1].taps && x >= 0; j++) {
      int64_t y = element_at(&d[1], place[1], j);
      for (int64_t k = 0; k < d[2].taps && y >= 0; k++) {
        int64_t z = element_at(&d[2], place[2], k);
        if (z >= 0) {
          sum +=
              exact_sum(image + x * d[0].image_stride + y * d[1].image_stride + z * d[2].image_stride, s->image_feature,
                        filter + i * d[0].filter_stride + j * d[1].filter_stride + k * d[2].filter_stride,
                        s->filter_feature, s->features);
        }
      }
    }
  }
  return sum;
}

// |expected| holds what |out| did before; the elements of the output are set there, gaps stay.
static void run_plainly(const problem *p, void *expected, const double *image, const double *filter) {
  const indim_host_convolution *s = &p->sizes;
  const indim_host_convolution_dim *d = s->dims;
  int64_t places = d[0].out * d[1].out * d[2].out;
  for (int64_t i = 0; i < s->groups * s->batch * places * s->outputs; i++) {
    int64_t output = i % s->outputs;
    int64_t rest = i / s->outputs;
    const int64_t place[] = {rest % places / d[2].out / d[1].out, rest % places / d[2].out % d[1].out, rest % d[2].out};
    int64_t batch = rest / places % s->batch;
    int64_t group = rest / places / s->batch;
    int64_t at = group * s->out_group + batch * s->out_batch + output;
    for (int a = 0; a < 3; a++) {
      at += place[a] * d[a].out_stride;
    }
    set(s->type, expected, at, plain_sum(p, image, filter, group, batch, place, output));
  }
}

static int32_t asked;

static void *counting(size_t bytes) {
  asked++;
  return malloc(bytes);
}

static void *no_memory(size_t bytes) {
  (void)bytes;
  return NULL;
}

// Copies are for processors that mind subnormal numbers.
#if defined(__x86_64__)
enum { COPIES = 1 };
#else
enum { COPIES = 0 };
#endif

// What the elements of the image are multiplied by, and the columns of the filter with an even number.
typedef struct factors {
  double image, filter;
  int32_t copies;  // that are made
} factors;

static void multiply(const problem *p, const factors *f, void *image, void *filter) {
  const indim_host_convolution *s = &p->sizes;
  for (int64_t i = 0; i < p->counts[1]; i++) {
    set(s->type, image, i, get(s->type, image, i) * f->image);
  }
  for (int64_t i = 0; i < p->counts[2]; i++) {
    bool is_even = i % (s->groups * s->outputs) % s->outputs % 2 == 0;
    set(s->type, filter, i, get(s->type, filter, i) * (is_even ? f->filter : 1));
  }
}

static void check_factors(const problem *p, int32_t vector_bytes, int64_t problem_number, const factors *f) {
  const indim_host_convolution *s = &p->sizes;
  int64_t filter_bytes = indim_type_bytes((indim_type)indim_convolution_filter_type(s));
  void *image = filled(indim_convolution_image_type(s), p->counts[1], 1);
  void *filter = filled(indim_convolution_filter_type(s), p->counts[2], 1000);
  void *out = filled(s->type, p->counts[0], 5);
  void *expected = filled(s->type, p->counts[0], 5);
  REQUIRE(image != NULL && filter != NULL && out != NULL && expected != NULL);
  if (f->image != 1 || f->filter != 1) {
    multiply(p, f, image, filter);
  }
  double *images = to_doubles(indim_convolution_image_type(s), image, p->counts[1]);
  double *filters = to_doubles(indim_convolution_filter_type(s), filter, p->counts[2]);
  REQUIRE(images != NULL && filters != NULL);
  run_plainly(p, expected, images, filters);
  asked = 0;
  indim_aligned_malloc = f->copies < 0 ? no_memory : counting;
  CHECK(indim_convolution_run(vector_bytes, NULL, NULL, NULL, s, out, image,
                              (const char *)filter + p->filter_start * filter_bytes));
  indim_aligned_malloc = malloc;
  CHECK_EQ_INT(asked, f->copies < 0 ? 0 : f->copies * COPIES);
  int64_t wrong = 0;
  for (int64_t i = 0; i < p->counts[0]; i++) {
    wrong += get(s->type, out, i) != get(s->type, expected, i);
  }
  CHECK_MSG(wrong == 0,
            "problem %" PRId64 " (type %" PRId64 ", %d bytes): groups %" PRId64 ", batch %" PRId64 ", features %" PRId64
            ", outputs %" PRId64 ", out %" PRId64 "x%" PRId64 "x%" PRId64 ": %" PRId64 " of %" PRId64 " differ",
            problem_number, s->type, (int)vector_bytes, s->groups, s->batch, s->features, s->outputs, s->dims[0].out,
            s->dims[1].out, s->dims[2].out, wrong, p->counts[0]);
  free(images);
  free(filters);
  free(image);
  free(filter);
  free(out);
  free(expected);
}

static void check_problem(const problem *p, int32_t vector_bytes, int64_t problem_number) {
  const factors none = {1, 1, 0};
  check_factors(p, vector_bytes, problem_number, &none);
}

TEST(any_sizes) {
  static const int32_t widths[] = {0, 16, 32, 64};
  for (int64_t i = 0; i < 1500; i++) {
    state = (uint64_t)i;
    problem p = random_problem(i % 4 == 0 ? INDIM_F64 : INDIM_F32, i % 50 == 0 ? 20 * MOST_WORK : MOST_WORK / 10);
    check_problem(&p, widths[i % 4], i);
  }
}

// Windows of which some lie beyond one edge and some beyond the other: of a tile of neighbouring rows none may be inside in all steps.
TEST(windows_beyond_opposite_edges) {
  static const int32_t widths[] = {0, 16, 32, 64};
  static const struct {
    int64_t features, outputs, in, taps, dilation, pad;
    int rank;
  } cases[] = {{32, 32, 33, 3, 12, 12, 2}, {32, 8, 33, 3, 6, 6, 2},   {3, 8, 28, 31, 1, 15, 2},
               {16, 16, 20, 13, 1, 6, 2},  {16, 32, 4, 60, 1, 59, 1}, {16, 32, 4, 30, 1, 29, 1}};
  for (int64_t i = 0; i < 8 * (int64_t)(sizeof cases / sizeof *cases); i++) {
    const int64_t in = cases[i / 8].in, taps = cases[i / 8].taps;
    const indim_host_convolution_dim one = {
        .out = 1, .in = 1, .taps = 1, .stride = 1, .dilation = 1, .base_dilation = 1};
    problem p = {.sizes = {.type = i % 2 == 0 ? INDIM_F32 : INDIM_F64, .groups = 1, .batch = 1}};
    state = (uint64_t)i;
    p.sizes.features = cases[i / 8].features;
    p.sizes.outputs = cases[i / 8].outputs;
    for (int a = 0; a < 3; a++) {
      indim_host_convolution_dim *d = &p.sizes.dims[a];
      *d = one;
      if (a >= 3 - cases[i / 8].rank) {
        *d = (indim_host_convolution_dim){.in = in, .taps = taps, .stride = 1, .base_dilation = 1};
        d->dilation = cases[i / 8].dilation;
        d->pad = cases[i / 8].pad;
        d->out = in + 2 * d->pad - (taps - 1) * d->dilation;
      }
    }
    place(&p);
    check_problem(&p, widths[i / 2 % 4], i);
  }
}

// Lies as NHWC does: units of input features are neighbours.
static problem plain_problem(indim_type type, int64_t batch, int64_t features, int64_t outputs, int64_t in,
                             int64_t taps) {
  const indim_host_convolution_dim one = {.out = 1, .in = 1, .taps = 1, .stride = 1, .dilation = 1, .base_dilation = 1};
  problem p = {.sizes = {.type = type, .groups = 1, .batch = batch, .features = features, .outputs = outputs}};
  indim_host_convolution *s = &p.sizes;
  s->dims[0] = one;
  for (int a = 1; a < 3; a++) {
    s->dims[a] = (indim_host_convolution_dim){
        .out = in, .in = in, .taps = taps, .stride = 1, .dilation = 1, .base_dilation = 1, .pad = taps / 2};
    s->dims[a].out_stride = a == 1 ? in * outputs : outputs;
    s->dims[a].image_stride = a == 1 ? in * features : features;
    s->dims[a].filter_stride = a == 1 ? taps * features * outputs : features * outputs;
  }
  s->out_batch = in * in * outputs;
  s->image_batch = in * in * features;
  s->image_feature = 1;
  s->filter_feature = s->filter_group = s->out_group = outputs;
  s->image_group = features;
  p.counts[0] = batch * s->out_batch;
  p.counts[1] = batch * s->image_batch;
  p.counts[2] = taps * taps * features * outputs;
  return p;
}

// Lanes along the sum, of units that are whole vectors and of others.
TEST(few_outputs) {
  static const int32_t widths[] = {0, 16, 32, 64};
  static const int64_t features[] = {16, 17,  20,  24,  31,  32,  33,  40,   48,   63,
                                     64, 100, 128, 255, 256, 257, 512, 1000, 1024, 1040};
  enum { COUNT = sizeof features / sizeof *features };
  for (int64_t i = 0; i < COUNT * 9 * 2 * 4; i++) {
    int64_t width = i % 4, type = i / 4 % 2, outputs = i / 8 % 9 + 1, count = features[i / 72];
    int64_t taps = count > 100 ? 1 : 3;
    problem p = plain_problem(type == 0 ? INDIM_F32 : INDIM_F64, 1 + i % 2, count, outputs, 2 + i % 5, taps);
    check_problem(&p, widths[width], i);
  }
}

// On either side, beside normal ones, with results that are subnormal, normal, or beyond those that a scaled sum has room for; with and
// without memory for copies; filters that are read backwards; and threads, which are in the usual mode afterwards.
TEST(subnormal_numbers) {
  static const int32_t widths[] = {0, 16, 32, 64};
  for (int64_t i = 0; i < 2 * 7 * 2 * 40; i++) {
    bool is_f32 = i % 2 == 0, has_memory = i / 14 % 2 == 0;
    double small = is_f32 ? 0x1p-145 : 0x1p-1070, large = is_f32 ? 0x1p100 : 0x1p900;
    double largest = is_f32 ? 0x1p112 : 0x1p1000;
    const factors cases[] = {{small, 1, 1},     {1, small, 1},       {small, large, 1}, {large, small, 1},
                             {small, small, 2}, {largest, small, 1}, {1, 1, 0}};
    factors f = cases[i / 2 % 7];
    f.copies = has_memory ? f.copies : -1;
    problem p = plain_problem(is_f32 ? INDIM_F32 : INDIM_F64, 2, 1 + i % 23, 2 + i % 31, 3 + i % 6, 3);
    if (i / 28 % 2 == 1) {
      p.sizes.dims[1].filter_stride = -p.sizes.dims[1].filter_stride;
      p.filter_start = -2 * p.sizes.dims[1].filter_stride;
    }
    check_factors(&p, widths[i / 28 % 4], i, &f);
  }
  volatile float least = 0x1p-130F;
  CHECK(least * 0.5F > 0);
}

// What two vectors of a unit have in common is in the sum once: infinity times the filter, and not times a zero.
TEST(an_infinity_counts_once) {
  float image[17] = {0}, filter[17], out = 0;
  for (int32_t at = 0; at < 17; at++) {
    problem p = plain_problem(INDIM_F32, 1, 17, 1, 1, 1);
    for (int32_t i = 0; i < 17; i++) {
      image[i] = i == at ? INFINITY : 1;
      filter[i] = 2;
    }
    CHECK(indim_convolution_run(0, NULL, NULL, NULL, &p.sizes, &out, image, filter));
    CHECK(isinf(out) && out > 0);
  }
}

TEST(small_integers) {
  static const int32_t widths[] = {0, 16, 32, 64};
  static const int64_t types[] = {INDIM_HOST_S8, INDIM_HOST_U8, INDIM_HOST_S16};
  for (int64_t i = 0; i < 800; i++) {
    state = (uint64_t)i + 100000;
    problem p = random_problem(INDIM_S32, i % 50 == 0 ? 20 * MOST_WORK : MOST_WORK / 10);
    p.sizes.image_type = types[i / 4 % 3];
    p.sizes.filter_type = types[i / 12 % 3];
    check_problem(&p, widths[i % 4], i);
  }
}

TEST(bf16) {
  static const int32_t widths[] = {0, 16, 32, 64};
  for (int64_t i = 0; i < 600; i++) {
    state = (uint64_t)i + 200000;
    problem p = random_problem(INDIM_F32, i % 50 == 0 ? 20 * MOST_WORK : MOST_WORK / 10);
    p.sizes.image_type = p.sizes.filter_type = INDIM_HOST_BF16;
    check_problem(&p, widths[i % 4], i);
  }
}

// Numbers that do round: whatever a thread takes at once has to add up in the same order.
TEST(same_bits_for_any_number_of_threads) {
  indim_ctx *cx = NULL;
  REQUIRE(indim_ctx_create(NULL, &cx) == INDIM_OK);
  for (int64_t i = 0; i < 12; i++) {
    problem p;
    state = (uint64_t)i;
    do {
      p = random_problem(INDIM_F32, 3e8);
    } while (work_of(&p.sizes) < 1e7);
    float *image = filled(INDIM_HOST_F32, p.counts[1], 1);
    float *filter = filled(INDIM_HOST_F32, p.counts[2], 2);
    float *first = filled(INDIM_HOST_F32, p.counts[0], 0);
    float *out = filled(INDIM_HOST_F32, p.counts[0], 0);
    REQUIRE(image != NULL && filter != NULL && first != NULL && out != NULL);
    for (int64_t k = 0; k < p.counts[1]; k++) {
      image[k] = image[k] / 3 + (float)k * 1e-6F;
    }
    CHECK(indim_convolution_run(0, NULL, NULL, NULL, &p.sizes, first, image, filter + p.filter_start));
    for (int32_t threads = 1; threads <= 5; threads += 2) {
      indim_pool *pool = NULL;
      REQUIRE(indim_pool_create(cx, threads, &pool) == INDIM_OK);
      CHECK(indim_convolution_run(0, NULL, indim_pool_run, pool, &p.sizes, out, image, filter + p.filter_start));
      CHECK(memcmp(first, out, (size_t)p.counts[0] * sizeof(float)) == 0);
      indim_pool_destroy(pool);
    }
    free(image);
    free(filter);
    free(first);
    free(out);
  }
  indim_ctx_destroy(cx);
}

TEST(stopped_ones_compute_nothing) {
  volatile int32_t stop = 1;
  float x[4] = {1, 2, 3, 4};
  indim_host_convolution_dim one = {.out = 1, .in = 1, .taps = 1, .stride = 1, .dilation = 1, .base_dilation = 1};
  indim_host_convolution s = {
      .type = INDIM_HOST_F32, .groups = 1, .batch = 1, .features = 1, .outputs = 1, .dims = {one, one, one}};
  CHECK(indim_convolution_run(0, &stop, NULL, NULL, &s, x, x + 1, x + 2));
  CHECK(x[0] == 1);
  stop = 0;
  CHECK(indim_convolution_run(0, &stop, NULL, NULL, &s, x, x + 1, x + 2));
  CHECK(x[0] == 6);
}

TEST(senseless_sizes_are_refused) {
  float x[4] = {0};
  indim_host_convolution_dim one = {.out = 1, .in = 1, .taps = 1, .stride = 1, .dilation = 1, .base_dilation = 1};
  indim_host_convolution good = {
      .type = INDIM_HOST_F32, .groups = 1, .batch = 1, .features = 1, .outputs = 1, .dims = {one, one, one}};
  CHECK(indim_convolution_run(0, NULL, NULL, NULL, &good, x, x + 1, x + 2));
  indim_host_convolution s = good;
  s.type = INDIM_S32;
  CHECK(!indim_convolution_run(0, NULL, NULL, NULL, &s, x, x + 1, x + 2));
  s = good;
  s.batch = -1;
  CHECK(!indim_convolution_run(0, NULL, NULL, NULL, &s, x, x + 1, x + 2));
  s = good;
  s.dims[1].stride = 0;
  CHECK(!indim_convolution_run(0, NULL, NULL, NULL, &s, x, x + 1, x + 2));
  s = good;
  s.dims[2].base_dilation = 0;
  CHECK(!indim_convolution_run(0, NULL, NULL, NULL, &s, x, x + 1, x + 2));
  s = good;
  s.dims[0].pad = INT64_C(1) << 40;
  CHECK(!indim_convolution_run(0, NULL, NULL, NULL, &s, x, x + 1, x + 2));
}

#define CASES(X)                         \
  X(any_sizes)                           \
  X(windows_beyond_opposite_edges)       \
  X(few_outputs)                         \
  X(subnormal_numbers)                   \
  X(an_infinity_counts_once)             \
  X(small_integers)                      \
  X(bf16)                                \
  X(same_bits_for_any_number_of_threads) \
  X(stopped_ones_compute_nothing)        \
  X(senseless_sizes_are_refused)

TEST_MAIN(CASES)
