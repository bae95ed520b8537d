// The Fourier transform service of the host: dimension by dimension, each a batch of rows or of columns that are
// transformed in groups, one in each lane of a vector, or row by row where they are too long or too few for that.
// Every dimension is a parallel loop over groups; a single long row is two such loops (fft_plan.h).
#include "run/aligned_memory.h"
#include "run/fft.h"

#include <string.h>

#include "base/size.h"
#include "run/fft_plan.h"

enum { SLOTS = 16 };  // pieces of a parallel loop at most, each with scratch memory of its own

typedef enum content { COMPLEX, REAL_TO_COMPLEX, COMPLEX_TO_REAL } content;

// One dimension: |outer| times |inner| transforms, of elements that lie |inner| complex numbers apart.
typedef struct stage {
  const indim_fft_plan *plan;
  const indim_fft_kernels *kernels;  // of the groups; NULL: row by row
  content content;
  bool is_f64;
  int64_t outer, inner;
  double in_sign, out_re, out_im;
  const unsigned char *in;
  unsigned char *out;
  int64_t groups_inside;  // columns: groups of each of |outer|
  int64_t count;          // groups, or rows
  int64_t grain;          // of them in a piece
  int64_t slot_bytes;
  unsigned char *slots;
  const indim_fft_context *context;
} stage;

static int64_t complex_bytes(const stage *s) { return indim_fft_complex_bytes(s->is_f64); }

// Of a row on either side.
static int64_t row_bytes(const stage *s, bool is_real) {
  int64_t length = s->plan->length;
  if (is_real) {
    return length * complex_bytes(s) / 2;
  }
  return (s->content == COMPLEX ? length : length / 2 + 1) * complex_bytes(s);
}

static int64_t in_bytes(const stage *s) { return row_bytes(s, s->content == REAL_TO_COMPLEX); }
static int64_t out_bytes(const stage *s) { return row_bytes(s, s->content == COMPLEX_TO_REAL); }

static bool is_halved(const stage *s) { return s->content != COMPLEX && s->plan->length % 2 == 0; }

static bool is_stopped(const indim_fft_context *c) { return c->stop != NULL && *c->stop != 0; }

// Real rows of odd length ----------------------------------------------------------------------------------------------

// Copies |count| reals with strides in reals.
static void copy_reals(bool is_f64, int64_t count, const void *from, int64_t from_stride, void *to, int64_t to_stride) {
  for (int64_t i = 0; i < count; i++) {
    if (is_f64) {
      ((double *)to)[i * to_stride] = ((const double *)from)[i * from_stride];
    } else {
      ((float *)to)[i * to_stride] = ((const float *)from)[i * from_stride];
    }
  }
}

// z[i * stride] = conj(z[j * stride]), strides in complex numbers.
static void copy_conjugate(bool is_f64, void *z, int64_t i, int64_t j) {
  if (is_f64) {
    double *x = z;
    x[2 * i] = x[2 * j];
    x[2 * i + 1] = -x[2 * j + 1];
  } else {
    float *x = z;
    x[2 * i] = x[2 * j];
    x[2 * i + 1] = -x[2 * j + 1];
  }
}

static void clear_imaginary(bool is_f64, void *z, int64_t i) {
  if (is_f64) {
    ((double *)z)[2 * i + 1] = 0;
  } else {
    ((float *)z)[2 * i + 1] = 0;
  }
}

// Completes a Hermitian row from its first half; its elements lie |stride| complex numbers apart.
static void complete_row(bool is_f64, int64_t length, int64_t stride, void *row) {
  clear_imaginary(is_f64, row, 0);
  for (int64_t k = 1; k <= length / 2; k++) {
    copy_conjugate(is_f64, row, (length - k) * stride, k * stride);
  }
}

// Groups of rows -------------------------------------------------------------------------------------------------------

static void run_columns(const stage *s, const void *in, int64_t in_stride, void *out, int64_t out_stride,
                        void *buffer) {
  indim_fft_columns c = {.plan = &s->plan->lanes,
                         .in = in,
                         .in_stride = in_stride,
                         .out = out,
                         .out_stride = out_stride,
                         .in_sign = s->in_sign,
                         .out_re = s->out_re,
                         .out_im = s->out_im,
                         .buffer = buffer};
  s->kernels->columns(&c);
}

// Reals to the even places of a tile whose odd places are zero, rows into lanes; and back.
static void load_odd_rows(const stage *s, int64_t rows, const unsigned char *in, unsigned char *tile) {
  int64_t lanes = s->kernels->lanes;
  memset(tile, 0, (size_t)(s->plan->length * lanes * complex_bytes(s)));
  for (int64_t i = 0; i < rows; i++) {
    copy_reals(s->is_f64, s->plan->length, in + i * in_bytes(s), 1, tile + i * complex_bytes(s), 2 * lanes);
  }
}

static void store_odd_rows(const stage *s, int64_t rows, const unsigned char *tile, unsigned char *out) {
  int64_t lanes = s->kernels->lanes;
  for (int64_t i = 0; i < rows; i++) {
    copy_reals(s->is_f64, s->plan->length, tile + i * complex_bytes(s), 2 * lanes, out + i * out_bytes(s), 1);
  }
}

static void load_rows(const stage *s, int64_t rows, const unsigned char *in, unsigned char *tile) {
  int64_t lanes = s->kernels->lanes;
  int64_t real_bytes = complex_bytes(s) / 2;
  if (s->content == REAL_TO_COMPLEX && !is_halved(s)) {
    load_odd_rows(s, rows, in, tile);
    return;
  }
  int64_t width = s->content == COMPLEX_TO_REAL ? s->plan->length / 2 + 1 : s->plan->complex_length;
  if (rows < lanes) {
    memset(tile, 0, (size_t)(width * lanes * complex_bytes(s)));
  }
  s->kernels->transpose(rows, width, in, in_bytes(s) / real_bytes, tile, 2 * lanes);
  if (s->content == COMPLEX_TO_REAL && is_halved(s)) {
    s->kernels->half_from_real_lanes(s->plan->complex_length, s->plan->real_roots, tile);
  } else if (s->content == COMPLEX_TO_REAL) {
    for (int64_t i = 0; i < lanes; i++) {
      complete_row(s->is_f64, s->plan->length, lanes, tile + i * complex_bytes(s));
    }
  }
}

static void run_row_group(const stage *s, int64_t group, unsigned char *slot) {
  int64_t lanes = s->kernels->lanes;
  int64_t length = s->plan->complex_length;
  int64_t rows = s->outer - group * lanes < lanes ? s->outer - group * lanes : lanes;
  const unsigned char *in = s->in + group * lanes * in_bytes(s);
  unsigned char *out = s->out + group * lanes * out_bytes(s);
  unsigned char *tile = slot + indim_fft_line_up(2 * length * lanes * complex_bytes(s));
  int64_t out_stride = out_bytes(s) / (complex_bytes(s) / 2);
  load_rows(s, rows, in, tile);
  if (s->content == REAL_TO_COMPLEX && is_halved(s)) {
    indim_fft_columns c = {.plan = &s->plan->lanes, .in = tile, .in_stride = 2 * lanes, .in_sign = 1, .buffer = slot};
    const void *split = s->kernels->columns(&c);
    s->kernels->real_from_half_lanes(length, s->plan->real_roots, split, tile);
  } else {
    run_columns(s, tile, 2 * lanes, tile, 2 * lanes, slot);
  }
  if (s->content == COMPLEX_TO_REAL && !is_halved(s)) {
    store_odd_rows(s, rows, tile, out);
    return;
  }
  int64_t width = s->content == REAL_TO_COMPLEX ? s->plan->length / 2 + 1 : length;
  s->kernels->transpose(width, rows, tile, 2 * lanes, out, out_stride);
}

// Single rows ----------------------------------------------------------------------------------------------------------

static bool run_complex_row(const stage *s, const void *in, void *out, unsigned char *slot) {
  return indim_fft_row_run(s->plan->row, s->is_f64, in, out, s->in_sign, s->out_re, s->out_im, slot, s->context->stop);
}

// Of odd length: as complex numbers, |z| has room for.
static bool run_odd_row(const stage *s, const unsigned char *in, unsigned char *out, unsigned char *z,
                        unsigned char *slot) {
  int64_t length = s->plan->length;
  if (s->content == REAL_TO_COMPLEX) {
    memset(z, 0, (size_t)(length * complex_bytes(s)));
    copy_reals(s->is_f64, length, in, 1, z, 2);
    bool ok = run_complex_row(s, z, z, slot);
    memcpy(out, z, (size_t)out_bytes(s));
    return ok;
  }
  memcpy(z, in, (size_t)in_bytes(s));
  complete_row(s->is_f64, length, 1, z);
  bool ok = run_complex_row(s, z, z, slot);
  copy_reals(s->is_f64, length, z, 2, out, 1);
  return ok;
}

static bool run_row(const stage *s, const unsigned char *in, unsigned char *out, unsigned char *slot) {
  const indim_fft_plan *plan = s->plan;
  if (s->content == COMPLEX) {
    return run_complex_row(s, in, out, slot);
  }
  unsigned char *z = slot;
  unsigned char *rest = slot + indim_fft_line_up(plan->complex_length * complex_bytes(s));
  if (!is_halved(s)) {
    return run_odd_row(s, in, out, z, rest);
  }
  if (s->content == REAL_TO_COMPLEX) {
    bool ok = run_complex_row(s, in, out, rest);
    plan->row->kernels->real_row(false, plan->complex_length, plan->real_roots, out, out);
    return ok;
  }
  plan->row->kernels->real_row(true, plan->complex_length, plan->real_roots, in, z);
  return run_complex_row(s, z, out, rest);
}

// Columns --------------------------------------------------------------------------------------------------------------

static void copy_columns(int64_t length, int64_t bytes, const unsigned char *from, int64_t from_stride,
                         unsigned char *to, int64_t to_stride) {
  for (int64_t e = 0; e < length; e++) {
    memcpy(to + e * to_stride, from + e * from_stride, (size_t)bytes);
  }
}

static void run_column_group(const stage *s, int64_t group, unsigned char *slot) {
  int64_t lanes = s->kernels->lanes;
  int64_t length = s->plan->length;
  int64_t first = group % s->groups_inside * lanes;
  int64_t offset = (group / s->groups_inside * length * s->inner + first) * complex_bytes(s);
  if (s->inner - first >= lanes) {
    run_columns(s, s->in + offset, 2 * s->inner, s->out + offset, 2 * s->inner, slot);
    return;
  }
  unsigned char *tile = slot + indim_fft_line_up(2 * length * lanes * complex_bytes(s));
  int64_t bytes = (s->inner - first) * complex_bytes(s);
  int64_t tile_stride = lanes * complex_bytes(s);
  int64_t stride = s->inner * complex_bytes(s);
  memset(tile, 0, (size_t)(length * tile_stride));
  copy_columns(length, bytes, s->in + offset, stride, tile, tile_stride);
  run_columns(s, tile, 2 * lanes, tile, 2 * lanes, slot);
  copy_columns(length, bytes, tile, tile_stride, s->out + offset, stride);
}

// A single column, as a row.
static bool run_column(const stage *s, int64_t column, unsigned char *slot) {
  int64_t length = s->plan->length;
  int64_t bytes = complex_bytes(s);
  int64_t offset = (column / s->inner * length * s->inner + column % s->inner) * bytes;
  unsigned char *rest = slot + indim_fft_line_up(length * bytes);
  copy_columns(length, bytes, s->in + offset, s->inner * bytes, slot, bytes);
  bool ok = run_complex_row(s, slot, slot, rest);
  copy_columns(length, bytes, slot, bytes, s->out + offset, s->inner * bytes);
  return ok;
}

// Loops ----------------------------------------------------------------------------------------------------------------

static void run_groups(void *frame, int64_t begin, int64_t end) {
  const stage *s = frame;
  unsigned char *slot = s->slots + begin / s->grain * s->slot_bytes;
  for (int64_t i = begin; i < end && !is_stopped(s->context); i++) {
    if (s->kernels != NULL && s->inner == 1) {
      run_row_group(s, i, slot);
    } else if (s->kernels != NULL) {
      run_column_group(s, i, slot);
    } else if (s->inner == 1) {
      (void)run_row(s, s->in + i * in_bytes(s), s->out + i * out_bytes(s), slot);
    } else {
      (void)run_column(s, i, slot);
    }
  }
}

static void run_loop(const indim_fft_context *c, bool alone, void (*piece)(void *frame, int64_t begin, int64_t end),
                     void *frame, int64_t count, int64_t grain) {
  if (c->parallel == NULL || alone || count <= grain) {
    piece(frame, 0, count);
  } else {
    c->parallel(c->parallel_user, piece, frame, count, grain);
  }
}

// A long row in two parallel loops.
typedef struct long_row {
  const stage *stage;
  const void *in;
  void *out;
  void *shared;
  unsigned char *slots;
  int64_t slot_bytes;
  int64_t grain;
} long_row;

static void run_first_step(void *frame, int64_t begin, int64_t end) {
  const long_row *l = frame;
  const stage *s = l->stage;
  (void)indim_fft_first_step(s->plan->row, s->is_f64, l->in, l->shared, s->in_sign, begin, end,
                             l->slots + begin / l->grain * l->slot_bytes, s->context->stop);
}

static void run_second_step(void *frame, int64_t begin, int64_t end) {
  const long_row *l = frame;
  const stage *s = l->stage;
  (void)indim_fft_second_step(s->plan->row, s->is_f64, l->shared, l->out, s->out_re, s->out_im, begin, end,
                              l->slots + begin / l->grain * l->slot_bytes, s->context->stop);
}

// Complex rows worth more than one thread, in an array with too few of them.
static bool has_long_rows(const stage *s, bool alone) {
  enum { LONG = 32768, FEW = 4 };
  return !alone && s->context->parallel != NULL && s->content == COMPLEX && s->inner == 1 && s->kernels == NULL &&
         s->outer < FEW && s->plan->length >= LONG && s->plan->row->method == INDIM_FFT_STEPS;
}

static void run_long_rows(const stage *s) {
  const indim_fft_row *row = s->plan->row;
  int64_t shared = indim_fft_row_shared(row, s->is_f64);
  for (int64_t i = 0; i < s->outer && !is_stopped(s->context); i++) {
    long_row l = {.stage = s,
                  .in = s->in + i * in_bytes(s),
                  .out = s->out + i * out_bytes(s),
                  .shared = s->slots,
                  .slots = s->slots + shared,
                  .slot_bytes = indim_fft_row_work(row, s->is_f64)};
    int64_t groups = indim_fft_column_groups(row);
    l.grain = indim_ceil_div(groups, SLOTS);
    run_loop(s->context, false, run_first_step, &l, groups, l.grain);
    groups = indim_fft_row_groups(row);
    l.grain = indim_ceil_div(groups, SLOTS);
    run_loop(s->context, false, run_second_step, &l, groups, l.grain);
  }
}

// Planning -------------------------------------------------------------------------------------------------------------

// The vectors for groups; NULL if rows one by one are faster, or the only way.
static const indim_fft_kernels *choose_kernels(const stage *s, int32_t vector_bytes) {
  static const int32_t widths[] = {64, 32, 16, 0};
  const indim_fft_kernels *best = NULL;
  bool is_row = s->inner == 1;
  // A column that is copied costs about as much again.
  double time = (double)(is_row ? s->outer : 2 * s->outer * s->inner) * indim_fft_row_time(s->plan->row, s->is_f64);
  for (size_t i = 0; s->plan->has_lanes && i < sizeof widths / sizeof widths[0]; i++) {
    const indim_fft_kernels *k = widths[i] <= vector_bytes ? indim_fft_kernels_for(s->is_f64, widths[i]) : NULL;
    if (k == NULL || (widths[i] == 0 && is_row)) {
      continue;
    }
    double each = indim_fft_lanes_time(&s->plan->lanes, k, s->is_f64, is_row ? s->outer : s->inner, is_row);
    double all = is_row ? each : each * (double)s->outer;
    if (all < time) {
      time = all;
      best = k;
    }
  }
  return best;
}

static int64_t slot_bytes_of(const stage *s) {
  const indim_fft_plan *p = s->plan;
  if (s->kernels != NULL) {
    int64_t line = s->kernels->lanes * complex_bytes(s);
    return indim_fft_line_up(2 * p->complex_length * line) + indim_fft_line_up((p->complex_length + 1) * line);
  }
  int64_t row = indim_fft_row_shared(p->row, s->is_f64) + indim_fft_row_work(p->row, s->is_f64);
  bool has_copy = s->content != COMPLEX || s->inner > 1;
  return row + (has_copy ? indim_fft_line_up(p->complex_length * complex_bytes(s)) : 0);
}

// So many in a piece that it is worth a thread's while.
static int64_t grain_of(const stage *s, bool alone) {
  static const double least_work = 16384;  // elements
  if (alone || s->context->parallel == NULL) {
    return s->count;
  }
  double work = (double)s->plan->length * (s->kernels == NULL ? 1 : (double)s->kernels->lanes);
  int64_t grain = indim_ceil_div(s->count, SLOTS);
  int64_t least = (int64_t)(least_work / work) + 1;
  return grain > least ? grain : least;
}

typedef struct transform {
  stage stages[3];  // in the order in which they run
  int64_t stage_count;
  int64_t temporary_bytes;  // IRFFT of several dimensions: complex numbers between its stages
  int64_t slots_bytes;      // the most of a stage
} transform;

static bool is_inverse(const indim_host_fft *sizes) {
  return sizes->kind == INDIM_HOST_FFT_IFFT || sizes->kind == INDIM_HOST_FFT_IRFFT;
}

static bool is_real_kind(const indim_host_fft *sizes) {
  return sizes->kind == INDIM_HOST_FFT_RFFT || sizes->kind == INDIM_HOST_FFT_IRFFT;
}

// What a stage uses of scratch; finishes it.
static int64_t finish_stage(stage *s, bool alone, int32_t vector_bytes) {
  s->kernels = choose_kernels(s, vector_bytes);
  int64_t lanes = s->kernels == NULL ? 1 : s->kernels->lanes;
  s->groups_inside = indim_ceil_div(s->inner, lanes);
  s->count = s->inner == 1 ? indim_ceil_div(s->outer, lanes) : s->outer * s->groups_inside;
  s->grain = grain_of(s, alone);
  s->slot_bytes = slot_bytes_of(s);
  if (has_long_rows(s, alone)) {
    return indim_fft_row_shared(s->plan->row, s->is_f64) + SLOTS * indim_fft_row_work(s->plan->row, s->is_f64);
  }
  return indim_ceil_div(s->count, s->grain) * s->slot_bytes;
}

static void release_plans(const transform *t) {
  for (int64_t i = 0; i < t->stage_count; i++) {
    indim_fft_plan_release(t->stages[i].plan);
  }
}

// The order is from the last dimension to the first, but for IRFFT, whose last dimension becomes real at the end.
static int64_t dimension_of(const indim_host_fft *sizes, int64_t place) {
  if (sizes->kind != INDIM_HOST_FFT_IRFFT) {
    return sizes->rank - 1 - place;
  }
  return place == sizes->rank - 1 ? sizes->rank - 1 : sizes->rank - 2 - place;
}

// Divides at the last stage, where everything is multiplied by a sign anyway.
static void set_factors(const indim_host_fft *sizes, int64_t place, stage *s) {
  double all = 1;
  for (int64_t d = 0; d < sizes->rank; d++) {
    all *= (double)sizes->lengths[d];
  }
  double sign = is_inverse(sizes) ? -1 : 1;
  bool is_last = place == sizes->rank - 1;
  s->in_sign = sign;
  s->out_re = is_inverse(sizes) && is_last ? 1 / all : 1;
  s->out_im = sign * s->out_re;
}

static bool plan_stage(const indim_fft_context *c, const indim_host_fft *sizes, int64_t place, transform *t) {
  int64_t d = dimension_of(sizes, place);
  bool is_last_dim = d == sizes->rank - 1;
  int32_t vector_bytes = c->vector_bytes == 0 ? 64 : c->vector_bytes;
  stage *s = &t->stages[place];
  *s = (stage){.is_f64 = sizes->type == INDIM_F64, .outer = sizes->batch, .inner = 1, .context = c};
  s->content = !is_last_dim || !is_real_kind(sizes) ? COMPLEX
               : sizes->kind == INDIM_HOST_FFT_RFFT ? REAL_TO_COMPLEX
                                                    : COMPLEX_TO_REAL;
  for (int64_t i = 0; i < sizes->rank; i++) {
    bool is_half = i == sizes->rank - 1 && is_real_kind(sizes);
    s->outer *= i < d ? sizes->lengths[i] : 1;
    s->inner *= i <= d ? 1 : is_half ? sizes->lengths[i] / 2 + 1 : sizes->lengths[i];
  }
  set_factors(sizes, place, s);
  s->plan = indim_fft_plan_acquire(s->is_f64, s->content != COMPLEX, sizes->lengths[d], vector_bytes);
  if (s->plan == NULL) {
    return false;
  }
  t->stage_count++;
  int64_t bytes = finish_stage(s, sizes->single_thread != 0, vector_bytes);
  t->slots_bytes = bytes > t->slots_bytes ? bytes : t->slots_bytes;
  return true;
}

static bool is_valid(const indim_host_fft *s) {
  enum { MOST_BYTES = 16 };
  int64_t all = MOST_BYTES;
  if ((s->type != INDIM_F32 && s->type != INDIM_F64) || s->kind < INDIM_HOST_FFT_FFT ||
      s->kind > INDIM_HOST_FFT_IRFFT || s->rank < 1 || s->rank > 3 || s->batch < 0 ||
      !indim_count_mul(all, s->batch, &all)) {
    return false;
  }
  for (int64_t d = 0; d < s->rank; d++) {
    if (s->lengths[d] < 0 || s->lengths[d] == INT64_MAX || !indim_count_mul(all, s->lengths[d] + 1, &all)) {
      return false;
    }
  }
  return true;
}

static bool is_empty(const indim_host_fft *s) {
  bool empty = s->batch == 0;
  for (int64_t d = 0; d < s->rank; d++) {
    empty = empty || s->lengths[d] == 0;
  }
  return empty;
}

static bool plan_transform(const indim_fft_context *c, const indim_host_fft *sizes, transform *t) {
  *t = (transform){.stage_count = 0};
  for (int64_t place = 0; place < sizes->rank; place++) {
    if (!plan_stage(c, sizes, place, t)) {
      release_plans(t);
      return false;
    }
  }
  if (sizes->kind == INDIM_HOST_FFT_IRFFT && sizes->rank > 1) {
    const stage *last = &t->stages[t->stage_count - 1];
    t->temporary_bytes = indim_fft_line_up(last->outer * in_bytes(last));
  }
  return true;
}

static void run_stages(const indim_host_fft *sizes, transform *t, void *out, const void *in, unsigned char *scratch) {
  void *between = t->temporary_bytes > 0 ? (void *)scratch : out;
  for (int64_t i = 0; i < t->stage_count; i++) {
    stage *s = &t->stages[i];
    if (is_stopped(s->context)) {
      return;
    }
    s->in = i == 0 ? in : between;
    s->out = i == t->stage_count - 1 ? out : between;
    s->slots = scratch + t->temporary_bytes;
    if (has_long_rows(s, sizes->single_thread != 0)) {
      run_long_rows(s);
    } else {
      run_loop(s->context, sizes->single_thread != 0, run_groups, s, s->count, s->grain);
    }
  }
}

int64_t indim_fft_scratch_bytes(const indim_fft_context *context, const indim_host_fft *sizes) {
  transform t;
  if (!is_valid(sizes)) {
    return -1;
  }
  if (is_empty(sizes)) {
    return 0;
  }
  if (!plan_transform(context, sizes, &t)) {
    return -1;
  }
  release_plans(&t);
  return t.temporary_bytes + t.slots_bytes;
}

int32_t indim_fft_run(const indim_fft_context *context, const indim_host_fft *sizes, void *out, const void *in,
                      void *scratch, int64_t scratch_bytes) {
  transform t;
  if (!is_valid(sizes)) {
    return INDIM_HOST_FAILED;
  }
  if (is_empty(sizes)) {
    return INDIM_HOST_OK;
  }
  if (!plan_transform(context, sizes, &t)) {
    return INDIM_HOST_FAILED;
  }
  int64_t needed = t.temporary_bytes + t.slots_bytes;
  bool is_own = scratch == NULL || scratch_bytes < needed;
  void *memory = is_own ? indim_aligned_alloc(needed) : scratch;
  if (memory != NULL) {
    run_stages(sizes, &t, out, in, memory);
  }
  if (is_own) {
    indim_aligned_free(memory);
  }
  release_plans(&t);
  return memory == NULL ? INDIM_HOST_FAILED : is_stopped(context) ? INDIM_HOST_STOPPED : INDIM_HOST_OK;
}
