// The convolution service of the host: an implicit matrix product. Rows are places of the output, the sum goes over taps
// and input features, columns are output features; the left side is gathered from the image as it is needed
// (convolution_block.c). A dilated image falls into phases: places of the output whose taps that meet elements are the same
// ones. Each is a convolution of an image that is not dilated, with a part of the filter, so that no inserted zero is
// multiplied. Blocks follow from the sizes alone: the same for any number of threads give the same bits.
#include "run/convolution.h"

#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "host/convolution.h"
#include "run/convolution_block.h"
#include "run/flushing.h"

enum {
  AXES = INDIM_GATHER_AXES,
  MOST_RUN = INDIM_GATHER_DEPTH_BYTES / 8,  // of steps in place
  SUMS_IN_CACHE = 1 << 16                   // elements of the output, which are read again for each part of the sum
};

// Phases ------------------------------------------------------------------------------------------------------------------

// One spatial dimension of a phase: every |step|th place of the output from |place| on, and every |tap_step|th tap from |tap| on.
typedef struct phase {
  int64_t place, step, places;
  int64_t tap, tap_step, taps;
} phase;

static int64_t phase_count(const indim_host_convolution_dim *d) {
  int64_t step = d->base_dilation / indim_gcd(d->stride, d->base_dilation);
  return step < d->out ? step : d->out;
}

static phase phase_of(const indim_host_convolution_dim *d, int64_t number) {
  phase p = {.place = number, .step = d->base_dilation / indim_gcd(d->stride, d->base_dilation)};
  p.tap_step = d->base_dilation / indim_gcd(d->dilation, d->base_dilation);
  p.places = (d->out - number + p.step - 1) / p.step;
  while (p.tap < p.tap_step && p.tap < d->taps &&
         (number * d->stride + p.tap * d->dilation - d->pad) % d->base_dilation != 0) {
    p.tap++;
  }
  p.taps = p.tap == p.tap_step || p.tap == d->taps ? 0 : (d->taps - p.tap + p.tap_step - 1) / p.tap_step;
  return p;
}

static void add_dim(indim_gather_dim *dims, int32_t *count, indim_gather_dim dim) {
  if (dim.size != 1) {
    dims[(*count)++] = dim;
  }
}

// How many elements of the image one behind the other the innermost dimensions pass that together have at most |most|.
static int64_t neighbours(const indim_gather_dim *dims, int32_t count, bool with_axes, int64_t most) {
  int64_t run = 1;
  for (int32_t d = count - 1; d >= 0 && dims[d].image == run && (with_axes || dims[d].axis < 0); d--) {
    if (dims[d].size > most / run) {
      break;
    }
    run *= dims[d].size;
  }
  return run;
}

// How the left side is read, and in which units. |is_whole|: there is one phase; blocks consist of its runs of rows.
static void set_mode(indim_gather *g, bool is_whole) {
  int64_t row_unit = neighbours(g->rows, g->row_dims, false, INT64_MAX);
  g->unit = neighbours(g->steps, g->step_dims, false, INT64_MAX);
  if (g->unit >= INDIM_GATHER_UNIT) {
    g->mode = INDIM_GATHER_UNITS;
  } else if (row_unit >= INDIM_GATHER_UNIT) {
    g->mode = INDIM_GATHER_ROW_UNITS;
    g->unit = row_unit;
  } else if (neighbours(g->steps, g->step_dims, true, INT64_MAX) >= neighbours(g->rows, g->row_dims, true, INT64_MAX)) {
    const indim_gather_dim *inner = &g->steps[g->step_dims - 1];
    int64_t run = inner->axis >= 0 ? inner->size : g->step_dims > 1 ? g->unit * inner[-1].size : 1;
    bool is_run = run >= INDIM_GATHER_RUN && run <= MOST_RUN && neighbours(g->steps, g->step_dims, true, run) == run;
    g->mode = is_run ? INDIM_GATHER_RUNS : INDIM_GATHER_PACKED_ROWS;
    g->unit = is_run ? run : g->unit;
  } else {
    int64_t run = neighbours(g->rows, g->row_dims, true, INDIM_GATHER_ROWS_PACKED);
    bool is_run = is_whole && run >= INDIM_GATHER_ROW_RUN;
    g->mode = is_run ? INDIM_GATHER_ROW_RUNS : INDIM_GATHER_PACKED_STEPS;
    g->unit = is_run ? run : 1;
  }
  bool by_rows = g->mode == INDIM_GATHER_ROW_UNITS || g->mode == INDIM_GATHER_ROW_RUNS;
  g->by_distance = !by_rows && g->rows[g->row_dims - 1].size >= INDIM_GATHER_DISTANT_ROWS;
}

// Whether the batch, or the features, are further apart in the image than the places of an axis.
static bool is_outer(const indim_host_convolution *s, int64_t stride) {
  bool is = true;
  for (int32_t a = 0; a < AXES; a++) {
    is = is && (s->dims[a].in == 1 || llabs(stride) >= llabs(s->dims[a].image_stride));
  }
  return is;
}

static int64_t reach(int64_t count, int64_t stride) { return stride > 0 ? (count - 1) * stride : 0; }

static int64_t image_end(const indim_host_convolution *s) {
  int64_t last =
      reach(s->groups, s->image_group) + reach(s->batch, s->image_batch) + reach(s->features, s->image_feature);
  for (int32_t a = 0; a < AXES; a++) {
    last += reach(s->dims[a].in, s->dims[a].image_stride);
  }
  return last + 1;
}

// One phase of one group as a product. Without steps or rows the counts are 0 and the rest is not complete.
static void make_gather(const indim_host_convolution *s, int64_t group, const phase *phases, indim_gather *g) {
  *g = (indim_gather){.image_end = image_end(s),
                      .first_image = group * s->image_group,
                      .first_filter = group * s->filter_group,
                      .first_out = group * s->out_group,
                      .row_count = s->batch,
                      .step_count = s->features};
  indim_gather_dim batch = {s->batch, s->image_batch, s->out_batch, 0, -1};
  indim_gather_dim features = {s->features, s->image_feature, s->filter_feature, 0, -1};
  bool is_whole = phases[0].step == 1 && phases[1].step == 1 && phases[2].step == 1;
  bool batch_first = is_outer(s, s->image_batch);
  bool features_first = is_outer(s, s->image_feature) && s->image_feature != 1;
  if (batch_first) {
    add_dim(g->rows, &g->row_dims, batch);
  }
  if (features_first) {
    add_dim(g->steps, &g->step_dims, features);
  }
  for (int32_t a = 0; a < AXES; a++) {
    const indim_host_convolution_dim *d = &s->dims[a];
    const phase *p = &phases[a];
    int64_t move = p->step * d->stride / d->base_dilation;
    int64_t tap_move = p->tap_step * d->dilation / d->base_dilation;
    g->origin[a] = (p->place * d->stride + p->tap * d->dilation - d->pad) / d->base_dilation;
    g->limits[a] = d->in;
    g->first_image += g->origin[a] * d->image_stride;
    g->first_filter += p->tap * d->filter_stride;
    g->first_out += p->place * d->out_stride;
    g->row_count *= p->places;
    g->step_count *= p->taps;
    add_dim(g->rows, &g->row_dims,
            (indim_gather_dim){p->places, move * d->image_stride, p->step * d->out_stride, move, a});
    add_dim(g->steps, &g->step_dims,
            (indim_gather_dim){p->taps, tap_move * d->image_stride, p->tap_step * d->filter_stride, tap_move, a});
  }
  if (!batch_first) {
    add_dim(g->rows, &g->row_dims, batch);
  }
  if (!features_first) {
    add_dim(g->steps, &g->step_dims, features);
  }
  g->row_dims = g->row_dims == 0 ? 1 : g->row_dims;
  g->step_dims = g->step_dims == 0 ? 1 : g->step_dims;
  for (int32_t d = 0; d < INDIM_GATHER_DIMS; d++) {
    if (g->rows[d].size == 0) {
      g->rows[d] = (indim_gather_dim){1, 0, 0, 0, -1};
    }
    if (g->steps[d].size == 0) {
      g->steps[d] = (indim_gather_dim){1, 0, 0, 0, -1};
    }
  }
  set_mode(g, is_whole);
}

// Blocks ------------------------------------------------------------------------------------------------------------------

typedef struct job {
  const indim_host_convolution *sizes;
  int32_t vector_bytes;
  const volatile int32_t *stop;
  int64_t phases[AXES];
  int64_t rows, columns;  // of a block
  int64_t row_blocks, column_blocks;
  char *out;
  const char *image;
  const char *filter;
} job;

// Sums of nothing.
static void clear(const job *j, const indim_gather *g, int64_t row, int64_t rows, int64_t column, int64_t columns) {
  size_t size = j->sizes->type == INDIM_HOST_F64 ? sizeof(double) : sizeof(float);
  for (int64_t i = row; i < row + rows; i++) {
    int64_t at = g->first_out + column;
    for (int64_t d = g->row_dims - 1, rest = i; d >= 0; rest /= g->rows[d].size, d--) {
      at += rest % g->rows[d].size * g->rows[d].other;
    }
    memset(j->out + at * (int64_t)size, 0, (size_t)columns * size);
  }
}

static bool is_narrow(const indim_host_convolution *s) { return indim_convolution_image_type(s) != s->type; }

static void run_block(const job *j, const indim_gather *g, int64_t row, int64_t rows, int64_t column) {
  const indim_host_convolution *s = j->sizes;
  int64_t columns = s->outputs - column < j->columns ? s->outputs - column : j->columns;
  if (g->step_count == 0) {
    clear(j, g, row, rows, column, columns);
  } else if (is_narrow(s)) {
    indim_gather_narrow(j->vector_bytes, g, (indim_type)indim_convolution_image_type(s), j->image,
                        (indim_type)indim_convolution_filter_type(s), j->filter, j->out, row, rows, column, columns);
  } else if (s->type == INDIM_HOST_F32) {
    indim_gather_f32(j->vector_bytes, g, (const float *)j->image, (const float *)j->filter, (float *)j->out, row, rows,
                     column, columns);
  } else {
    indim_gather_f64(j->vector_bytes, g, (const double *)j->image, (const double *)j->filter, (double *)j->out, row,
                     rows, column, columns);
  }
}

// Blocks number begin to end, in the order of rows, columns, phases, groups. Neighbours are one block where that fits the
// caches: the sums are the same.
static void run_blocks(void *frame, int64_t begin, int64_t end) {
  const job *j = frame;
  const indim_host_convolution *s = j->sizes;
  for (int64_t i = begin, count = 1; i < end && (j->stop == NULL || *j->stop == 0); i += count) {
    int64_t first = i % j->row_blocks;
    int64_t rest = i / j->row_blocks / j->column_blocks;
    phase phases[AXES];
    for (int32_t a = AXES - 1; a >= 0; a--) {
      phases[a] = phase_of(&s->dims[a], rest % j->phases[a]);
      rest /= j->phases[a];
    }
    indim_gather g;
    make_gather(s, rest, phases, &g);
    count = SUMS_IN_CACHE / (j->rows * j->columns);
    count = count < 1 ? 1 : count < j->row_blocks - first ? count : j->row_blocks - first;
    count = count < end - i ? count : end - i;
    int64_t row = first * j->rows;
    int64_t rows = g.row_count - row < count * j->rows ? g.row_count - row : count * j->rows;
    if (rows > 0) {
      run_block(j, &g, row, rows, i / j->row_blocks % j->column_blocks * j->columns);
    }
  }
}

// Halves blocks until there are enough for threads, or they are hardly worth one. Each block packs its part of the filter
// again, and one that packs its part of the image as well is not cut along the columns first.
static int64_t split_blocks(job *j) {
  enum { ENOUGH_BLOCKS = 16, LEAST_ROWS = 96, LEAST_COLUMNS = 32, ROUND = 12, TALL = 2 };
  static const double least_work = 5e5;  // multiplications
  const indim_host_convolution *s = j->sizes;
  phase first[AXES];
  indim_gather g;
  int64_t parts = s->groups;
  for (int32_t a = 0; a < AXES; a++) {
    j->phases[a] = phase_count(&s->dims[a]);
    parts *= j->phases[a];
    first[a] = phase_of(&s->dims[a], 0);
  }
  make_gather(s, 0, first, &g);
  bool in_place = g.mode == INDIM_GATHER_UNITS || g.mode == INDIM_GATHER_ROW_UNITS || g.by_distance || is_narrow(s);
  int64_t round = g.mode == INDIM_GATHER_ROW_RUNS ? g.unit : ROUND;
  int64_t most = (in_place ? INDIM_GATHER_ROWS : INDIM_GATHER_ROWS_PACKED) / round * round;
  int64_t blocks = indim_ceil_div(g.row_count, most);
  j->rows = indim_ceil_div(indim_ceil_div(g.row_count, blocks), round) * round;
  j->columns = s->outputs;
  for (;;) {
    j->row_blocks = indim_ceil_div(g.row_count, j->rows);
    j->column_blocks = indim_ceil_div(s->outputs, j->columns);
    double work = (double)j->rows * (double)j->columns * (double)g.step_count;
    if ((double)parts * (double)j->row_blocks * (double)j->column_blocks >= ENOUGH_BLOCKS || work <= least_work) {
      break;
    }
    int64_t rows = indim_ceil_div(j->rows, 2 * round) * round;
    int64_t columns = indim_ceil_div(j->columns, 2 * LEAST_COLUMNS) * LEAST_COLUMNS;
    bool can_rows = rows >= LEAST_ROWS && rows < j->rows;
    bool can_columns = columns < j->columns;
    if (!can_rows && !can_columns) {
      break;
    }
    if (can_rows && (!can_columns || j->rows >= TALL * j->columns)) {
      j->rows = rows;
    } else {
      j->columns = columns;
    }
  }
  return parts * j->row_blocks * j->column_blocks;
}

static bool is_valid(const indim_host_convolution *s) {
  const int64_t sizes[] = {s->groups, s->batch, s->features, s->outputs};
  bool is = indim_convolution_takes(s->type, indim_convolution_image_type(s), indim_convolution_filter_type(s));
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    is = is && sizes[i] >= 0 && sizes[i] <= INT32_MAX;
  }
  for (int32_t a = 0; a < AXES; a++) {
    const indim_host_convolution_dim *d = &s->dims[a];
    is = is && d->out >= 0 && d->in >= 0 && d->taps >= 0 && d->stride >= 1 && d->dilation >= 1 && d->base_dilation >= 1;
    is = is && d->out <= INT32_MAX && d->in <= INT32_MAX && d->taps <= INT32_MAX && d->stride <= INT32_MAX;
    is = is && d->dilation <= INT32_MAX && d->base_dilation <= INT32_MAX && d->pad <= INT32_MAX && d->pad >= -INT32_MAX;
  }
  return is;
}

// Of some elements, as they are.
static void run_valid(job *j, indim_parallel_fn *parallel, void *parallel_user) {
  int64_t count = split_blocks(j);
  if (parallel == NULL || j->sizes->single_thread != 0 || count == 1) {
    run_blocks(j, 0, count);
  } else {
    parallel(parallel_user, run_blocks, j, count, 1);
  }
}

// What is flushed of scaled sums is far less than they are rounded by in the end.
static void run_scaled(job *j, indim_parallel_fn *parallel, void *parallel_user) {
  indim_flushing flushing = {parallel, parallel_user, true};
  indim_float_mode before = indim_float_mode_flush_results();
  run_valid(j, parallel == NULL ? NULL : indim_flushing_run, &flushing);
  indim_float_mode_restore(before);
}

bool indim_convolution_run(int32_t vector_bytes, const volatile int32_t *stop, indim_parallel_fn *parallel,
                           void *parallel_user, const indim_host_convolution *sizes, void *out, const void *image,
                           const void *filter) {
  const indim_host_convolution *s = sizes;
  if (!is_valid(s)) {
    return false;
  }
  int64_t elements = s->groups == 0 || s->batch == 0 ? 0 : s->outputs;
  for (int32_t a = 0; a < AXES; a++) {
    elements = s->dims[a].out == 0 ? 0 : elements;
  }
  if (elements == 0) {
    return true;
  }
  job j = {.sizes = s, .vector_bytes = vector_bytes == 0 ? 64 : vector_bytes, .stop = stop, .out = out};
  indim_convolution_scaled scaled;
  if (indim_convolution_scale(&scaled, s, image, filter)) {
    j.image = scaled.image;
    j.filter = scaled.filter;
    run_scaled(&j, parallel, parallel_user);
    bool is_done = indim_convolution_unscale(&scaled, s, out);
    indim_convolution_scaled_free(&scaled);
    if (is_done) {
      return true;
    }
  }
  j.image = image;
  j.filter = filter;
  run_valid(&j, parallel, parallel_user);
  return true;
}
