// Plans of Fourier transforms: factors, methods by estimated time, twiddle factors, and the cache. Twiddle factors are
// products of two roots from tables of about sqrt(length) entries, computed in long double, so that planning costs
// little beside a transform.
#include "run/fft_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "run/aligned_memory.h"

// The memory of a plan: blocks that are freed together.
typedef struct block block;
struct block {
  block *next;
  unsigned char rest_of_line[INDIM_ALIGNED_BYTES - sizeof(void *)];
};

typedef struct builder {
  bool is_f64;
  int32_t vector_bytes;
  block *blocks;
  int64_t bytes;
} builder;

static void *build_alloc(builder *b, int64_t count, int64_t size) {
  int64_t bytes = 0;
  if (!indim_count_mul(count, size, &bytes) || !indim_int_add(bytes, (int64_t)sizeof(block), &bytes)) {
    return NULL;
  }
  block *new_block = indim_aligned_alloc(bytes);
  if (new_block == NULL) {
    return NULL;
  }
  new_block->next = b->blocks;
  b->blocks = new_block;
  b->bytes += bytes;
  return new_block + 1;
}

static void free_blocks(block *blocks) {
  while (blocks != NULL) {
    block *next = blocks->next;
    indim_aligned_free(blocks);
    blocks = next;
  }
}

// Roots of one ---------------------------------------------------------------------------------------------------------

typedef struct number {
  long double re, im;
} number;

// exp(-2 pi i j / n) for 0 <= j < n, by symmetry from an angle of at most pi / 4.
static number root(int64_t j, int64_t n) {
  static const long double two_pi = 6.283185307179586476925286766559005768L;
  int64_t eighths = 8 * j;  // of 1 / (8 n) of a turn
  bool lower = eighths >= 4 * n;
  eighths = lower ? 8 * n - eighths : eighths;
  bool left = eighths >= 2 * n;
  eighths = left ? 4 * n - eighths : eighths;
  bool steep = eighths > n;
  eighths = steep ? 2 * n - eighths : eighths;
  long double angle = two_pi * (long double)eighths / (8 * (long double)n);
  number r = steep ? (number){sinl(angle), cosl(angle)} : (number){cosl(angle), sinl(angle)};
  return (number){left ? -r.re : r.re, lower ? r.im : -r.im};
}

static number product(number a, number b) { return (number){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }

// All roots of order n: root j is low[j % 2^shift] * high[j / 2^shift].
typedef struct roots {
  int64_t n;
  int shift;
  number *low, *high;
} roots;

static bool roots_init(roots *r, int64_t n) {
  *r = (roots){.n = n};
  while (((int64_t)1 << 2 * r->shift) < n) {
    r->shift++;
  }
  int64_t low = (int64_t)1 << r->shift;
  int64_t high = n / low + 1;
  r->low = indim_aligned_alloc((low + high) * (int64_t)sizeof *r->low);
  if (r->low == NULL) {
    return false;
  }
  r->high = r->low + low;
  for (int64_t j = 0; j < low; j++) {
    r->low[j] = root(j % n, n);
  }
  for (int64_t j = 0; j < high; j++) {
    r->high[j] = root((j << r->shift) % n, n);
  }
  return true;
}

static void roots_deinit(roots *r) { indim_aligned_free(r->low); }

static number roots_get(const roots *r, int64_t j) {
  return product(r->low[j & (((int64_t)1 << r->shift) - 1)], r->high[j >> r->shift]);
}

// Reals |re_place| and |im_place| of a table.
static void put(const builder *b, void *table, int64_t re_place, int64_t im_place, number x) {
  if (b->is_f64) {
    ((double *)table)[re_place] = (double)x.re;
    ((double *)table)[im_place] = (double)x.im;
  } else {
    ((float *)table)[re_place] = (float)x.re;
    ((float *)table)[im_place] = (float)x.im;
  }
}

static void put_pair(const builder *b, void *table, int64_t i, number x) { put(b, table, 2 * i, 2 * i + 1, x); }

// Lanes ----------------------------------------------------------------------------------------------------------------

static bool is_fused(int64_t radix) { return radix == 2 || radix == 3 || radix == 4 || radix == 5 || radix == 8; }

static void add_factor(indim_fft_lanes *l, int64_t radix) {
  l->factors[l->factor_count++] = (indim_fft_factor){.radix = radix, .is_fused = is_fused(radix)};
}

// Powers of two as eights and fours, with at most one two.
static void add_twos(indim_fft_lanes *l, int twos) {
  while (twos > 0) {
    int bits = twos >= 5 || twos == 3 ? 3 : twos == 1 ? 1 : 2;
    add_factor(l, (int64_t)1 << bits);
    twos -= bits;
  }
}

// Finds the factors; false if one is too large. Radices whose passes cannot read and write columns come between others.
static bool find_factors(int64_t length, indim_fft_lanes *l) {
  int64_t rest = length;
  int twos = 0;
  *l = (indim_fft_lanes){.length = length};
  for (; rest % 2 == 0; rest /= 2) {
    twos++;
  }
  add_twos(l, twos);
  for (int64_t p = 3; p <= INDIM_FFT_MOST_RADIX && rest > 1; p += 2) {
    for (; rest % p == 0; rest /= p) {
      add_factor(l, p);
    }
  }
  if (l->factor_count > 1) {
    indim_fft_factor second = l->factors[1];  // to the end, where it may be fused
    memmove(&l->factors[1], &l->factors[2], (size_t)(l->factor_count - 2) * sizeof second);
    l->factors[l->factor_count - 1] = second;
  }
  return rest == 1;
}

// Per element of a vector, in cycles of a machine with 32-byte vectors.
static double radix_time(int64_t radix) {
  switch (radix) {
  case 2:
    return 2.4;
  case 3:
    return 3.0;
  case 4:
    return 2.8;
  case 5:
    return 4.0;
  case 8:
    return 4.0;
  default:
    return 2.5 + 0.55 * (double)radix;
  }
}

static double width_time(const indim_fft_kernels *k, bool is_f64) {
  int64_t bytes = k->lanes * (is_f64 ? 8 : 4);
  return k->lanes == 1 ? 1.3 : bytes == 64 ? 1.35 : bytes == 32 ? 1.0 : 1.2;
}

// A group of lanes.
static double group_time(const indim_fft_lanes *l, const indim_fft_kernels *k, bool is_f64) {
  double time = 0;
  for (int32_t i = 0; i < l->factor_count; i++) {
    time += radix_time(l->factors[i].radix);
  }
  double bytes = (double)(2 * l->length * k->lanes * indim_fft_complex_bytes(is_f64));
  double cache = bytes <= (1 << 15) ? 1 : bytes <= (1 << 19) ? 1.25 : bytes <= (1 << 21) ? 2.0 : 3.0;
  return 15 + (double)l->length * time * width_time(k, is_f64) * cache;
}

static double transpose_time(int64_t elements, const indim_fft_kernels *k) {
  return k->lanes <= 2 ? 2.0 * (double)elements : (double)elements * (k->lanes == 4 ? 2.5 : k->lanes == 8 ? 4.5 : 9.0);
}

double indim_fft_lanes_time(const indim_fft_lanes *lanes, const indim_fft_kernels *kernels, bool is_f64, int64_t count,
                            bool transposed) {
  double groups = (double)indim_ceil_div(count, kernels->lanes);
  double moves = transposed ? 2 * transpose_time(lanes->length, kernels) : 0;
  return groups * (group_time(lanes, kernels, is_f64) + moves);
}

// Twiddle factors of the passes, which |r| (of the length's order) has all of.
static bool build_factors(builder *b, const roots *r, indim_fft_lanes *l) {
  int64_t done = 1;
  for (int32_t i = 0; i < l->factor_count; i++) {
    indim_fft_factor *f = &l->factors[i];
    int64_t parts = l->length / done / f->radix;
    void *twiddles = build_alloc(b, parts * (f->radix - 1), indim_fft_complex_bytes(b->is_f64));
    void *circle = build_alloc(b, f->radix, indim_fft_complex_bytes(b->is_f64));
    if (twiddles == NULL || circle == NULL) {
      return false;
    }
    for (int64_t p = 0; p < parts; p++) {
      for (int64_t j = 1; j < f->radix; j++) {
        put_pair(b, twiddles, p * (f->radix - 1) + j - 1, roots_get(r, done * p * j));
      }
    }
    for (int64_t j = 0; j < f->radix; j++) {
      number x = root(j, f->radix);
      put_pair(b, circle, j, (number){x.re, -x.im});
    }
    f->twiddles = twiddles;
    f->roots = circle;
    done *= f->radix;
  }
  return true;
}

static bool build_lanes(builder *b, indim_fft_lanes *l) {
  roots r;
  if (!roots_init(&r, l->length)) {
    return false;
  }
  bool ok = build_factors(b, &r, l);
  roots_deinit(&r);
  return ok;
}

// Methods --------------------------------------------------------------------------------------------------------------

static const int32_t widths[] = {64, 32, 16};
enum { WIDTHS = sizeof widths / sizeof widths[0] };

// The time of a row in two steps.
static double steps_time(const indim_fft_row *row, bool is_f64) {
  const indim_fft_kernels *k = row->kernels;
  double first = group_time(&row->columns, k, is_f64) + 2.0 * (double)row->columns.length * width_time(k, is_f64);
  double second = group_time(&row->rows, k, is_f64) + transpose_time(row->rows.length, k);
  return (double)indim_ceil_div(row->rows.length, k->lanes) * first +
         (double)indim_ceil_div(row->columns.length, k->lanes) * second;
}

static int64_t dense_padded(const indim_fft_row *row) {
  return indim_ceil_div(row->length / 2, row->kernels->lanes) * row->kernels->lanes;
}

static double dense_time(const indim_fft_row *row, bool is_f64) {
  double vectors = (double)(dense_padded(row) / row->kernels->lanes);
  double half = (double)(row->length / 2);
  return 15 + 4.0 * (double)row->length + 3.0 * width_time(row->kernels, is_f64) * half * vectors;
}

double indim_fft_row_time(const indim_fft_row *row, bool is_f64) {
  switch (row->method) {
  case INDIM_FFT_DIRECT:
    return group_time(&row->columns, row->kernels, is_f64);
  case INDIM_FFT_STEPS:
    return steps_time(row, is_f64);
  case INDIM_FFT_DENSE:
    return dense_time(row, is_f64);
  case INDIM_FFT_CHIRP:
    break;
  }
  double moves = (double)(row->inner->length + 2 * row->length) / (double)row->inner->kernels->lanes;
  return 2 * indim_fft_row_time(row->inner, is_f64) + 6 * moves;
}

// The best split into columns and rows for one vector width, if any is better than |best|.
static void choose_steps(const indim_fft_kernels *k, bool is_f64, int64_t length, indim_fft_row *best, double *time) {
  // Sides whose buffers fit into a cache, as long as the length allows that.
  int64_t most = length <= (int64_t)INDIM_FFT_MOST_LANES_LENGTH * INDIM_FFT_MOST_LANES_LENGTH
                     ? INDIM_FFT_MOST_LANES_LENGTH
                     : 4 * INDIM_FFT_MOST_LANES_LENGTH;
  for (int64_t m = k->lanes; m <= length / k->lanes && m <= most; m++) {
    indim_fft_row row = {.length = length, .method = INDIM_FFT_STEPS, .kernels = k};
    if (length % m != 0 || length / m > most || !find_factors(m, &row.columns) ||
        !find_factors(length / m, &row.rows)) {
      continue;
    }
    double t = steps_time(&row, is_f64);
    if (t < *time) {
      *best = row;
      *time = t;
    }
  }
}

// The matrix, for a prime length that has a pass, if any vector width makes it better than |best|.
static void choose_dense(const builder *b, int64_t length, indim_fft_row *best, double *time) {
  if (length > INDIM_FFT_MOST_RADIX || length % 2 == 0 || best->columns.factor_count != 1) {
    return;
  }
  for (int i = 0; i < WIDTHS; i++) {
    const indim_fft_kernels *k = widths[i] <= b->vector_bytes ? indim_fft_kernels_for(b->is_f64, widths[i]) : NULL;
    indim_fft_row row = {.length = length, .method = INDIM_FFT_DENSE, .kernels = k};
    if (k != NULL && dense_time(&row, b->is_f64) < *time) {
      *best = row;
      *time = dense_time(&row, b->is_f64);
    }
  }
}

// The best way for a smooth length, without its tables; its time, HUGE_VAL if there is none.
static double choose_smooth(const builder *b, int64_t length, indim_fft_row *best) {
  double time = HUGE_VAL;
  *best = (indim_fft_row){.length = length, .kernels = indim_fft_kernels_for(b->is_f64, 0)};
  if (!find_factors(length, &best->columns)) {
    return time;
  }
  time = group_time(&best->columns, best->kernels, b->is_f64);
  choose_dense(b, length, best, &time);
  for (int i = 0; i < WIDTHS; i++) {
    const indim_fft_kernels *k = widths[i] <= b->vector_bytes ? indim_fft_kernels_for(b->is_f64, widths[i]) : NULL;
    if (k != NULL) {
      choose_steps(k, b->is_f64, length, best, &time);
    }
  }
  return time;
}

// The best smooth length of at least |least|: a power of two times a small odd number.
static double choose_longer(const builder *b, int64_t least, indim_fft_row *best) {
  static const int64_t odd[] = {1, 3, 5, 7, 9, 15, 25, 27};
  double time = HUGE_VAL;
  for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
    int64_t length = odd[i];
    while (length < least) {
      length *= 2;
    }
    indim_fft_row row;
    double t = choose_smooth(b, length, &row);
    if (t < time) {
      *best = row;
      time = t;
    }
  }
  return time;
}

// Two-step twiddle factors: whole tables while they are small, else two factors each. The last group of columns
// overlaps the one before, unless there are whole groups only.
static bool build_step_tables(builder *b, const roots *r, indim_fft_row *row) {
  enum { SMALL = 8192 };
  int64_t lanes = row->kernels->lanes;
  int64_t m = row->columns.length;
  int64_t groups = indim_ceil_div(row->rows.length, lanes);
  bool whole = row->length <= SMALL;
  void *lane = build_alloc(b, (whole ? groups : 1) * m * lanes, indim_fft_complex_bytes(b->is_f64));
  void *group = whole ? NULL : build_alloc(b, groups * m, indim_fft_complex_bytes(b->is_f64));
  if (lane == NULL || (group == NULL && !whole)) {
    return false;
  }
  for (int64_t g = 0; g < groups; g++) {
    int64_t first = g * lanes + lanes <= row->rows.length ? g * lanes : row->rows.length - lanes;
    for (int64_t e = 0; e < m && !whole; e++) {
      put_pair(b, group, g * m + e, roots_get(r, first * e));
    }
    for (int64_t i = 0; i < m * lanes && (whole || g == 0); i++) {
      int64_t column = (whole ? first : 0) + i % lanes;
      int64_t at = (g * m + i / lanes) * 2 * lanes + i % lanes;
      put(b, lane, at, at + lanes, roots_get(r, column * (i / lanes)));
    }
  }
  row->lane_twiddles = lane;
  row->group_twiddles = group;
  return true;
}

static bool build_matrix(builder *b, indim_fft_row *row) {
  int64_t half = row->length / 2;
  int64_t padded = dense_padded(row);
  int64_t bytes = indim_fft_complex_bytes(b->is_f64);
  void *matrix = build_alloc(b, half * padded, bytes);
  if (matrix == NULL) {
    return false;
  }
  memset(matrix, 0, (size_t)(half * padded * bytes));
  for (int64_t j = 0; j < half; j++) {
    for (int64_t k = 0; k < half; k++) {
      number x = root((j + 1) * (k + 1) % row->length, row->length);
      put(b, matrix, 2 * padded * j + k, 2 * padded * j + padded + k, (number){x.re, -x.im});
    }
  }
  row->matrix = matrix;
  return true;
}

static bool build_smooth(builder *b, indim_fft_row *row) {
  if (row->method == INDIM_FFT_DENSE) {
    return build_matrix(b, row);
  }
  if (!build_lanes(b, &row->columns) || row->method == INDIM_FFT_DIRECT) {
    return row->columns.length <= 1 || row->columns.factors[row->columns.factor_count - 1].roots != NULL;
  }
  roots r;
  if (!build_lanes(b, &row->rows) || !roots_init(&r, row->length)) {
    return false;
  }
  bool ok = build_step_tables(b, &r, row);
  roots_deinit(&r);
  return ok;
}

// exp(-pi i k^2 / length), and the transform of its conjugate, wrapped around.
static bool build_chirp(builder *b, const roots *r, indim_fft_row *row) {
  const indim_fft_row *inner = row->inner;
  int64_t bytes = indim_fft_complex_bytes(b->is_f64);
  void *chirp = build_alloc(b, row->length, bytes);
  void *spectrum = build_alloc(b, inner->length, bytes);
  void *scratch = indim_aligned_alloc(indim_fft_row_shared(inner, b->is_f64) + indim_fft_row_work(inner, b->is_f64));
  if (chirp == NULL || spectrum == NULL || scratch == NULL) {
    indim_aligned_free(scratch);
    return false;
  }
  memset(spectrum, 0, (size_t)(inner->length * bytes));
  int64_t square = 0;
  for (int64_t k = 0; k < row->length; k++) {
    number x = roots_get(r, square);
    number turned = {x.re, -x.im};
    put_pair(b, chirp, k, x);
    put_pair(b, spectrum, k, turned);
    put_pair(b, spectrum, k == 0 ? 0 : inner->length - k, turned);
    square = (square + 2 * k + 1) % (2 * row->length);
  }
  row->chirp = chirp;
  row->chirp_spectrum = spectrum;
  (void)indim_fft_row_run(inner, b->is_f64, spectrum, spectrum, 1, 1, 1, scratch, NULL);
  indim_aligned_free(scratch);
  return true;
}

static int64_t largest_prime(int64_t n) {
  int64_t largest = 1;
  for (int64_t p = 2; p * p <= n; p++) {
    for (; n % p == 0; n /= p) {
      largest = p;
    }
  }
  return n > 1 ? n : largest;
}

static const indim_fft_row *build_row(builder *b, int64_t length) {
  indim_fft_row *row = build_alloc(b, 1, sizeof *row);
  indim_fft_row *inner = build_alloc(b, 1, sizeof *inner);
  if (row == NULL || inner == NULL) {
    return NULL;
  }
  double smooth = choose_smooth(b, length, row);
  indim_fft_row chirp = {.length = length, .method = INDIM_FFT_CHIRP, .inner = inner};
  if (largest_prime(length) > 13) {
    (void)choose_longer(b, 2 * length - 1, inner);
    chirp.kernels = inner->kernels;
    if (indim_fft_row_time(&chirp, b->is_f64) < smooth) {
      *row = chirp;
    }
  }
  if (row->method != INDIM_FFT_CHIRP) {
    return build_smooth(b, row) ? row : NULL;
  }
  roots r;
  if (!build_smooth(b, inner) || !roots_init(&r, 2 * length)) {
    return NULL;
  }
  bool ok = build_chirp(b, &r, row);
  roots_deinit(&r);
  return ok ? row : NULL;
}

// Running a row --------------------------------------------------------------------------------------------------------

static int64_t lanes_buffer(const indim_fft_lanes *l, int64_t lanes, bool is_f64) {
  return indim_fft_line_up(2 * l->length * lanes * indim_fft_complex_bytes(is_f64));
}

int64_t indim_fft_row_shared(const indim_fft_row *row, bool is_f64) {
  int64_t bytes = indim_fft_complex_bytes(is_f64);
  switch (row->method) {
  case INDIM_FFT_DIRECT:
  case INDIM_FFT_DENSE:
    return 0;
  case INDIM_FFT_STEPS:
    return indim_fft_line_up(row->length * bytes);
  case INDIM_FFT_CHIRP:
    break;
  }
  return 2 * indim_fft_line_up(row->inner->length * bytes) + indim_fft_row_shared(row->inner, is_f64);
}

int64_t indim_fft_row_work(const indim_fft_row *row, bool is_f64) {
  int64_t lanes = row->kernels->lanes;
  switch (row->method) {
  case INDIM_FFT_DIRECT:
    return lanes_buffer(&row->columns, 1, is_f64);
  case INDIM_FFT_STEPS: {
    int64_t longer = row->rows.length > row->columns.length ? row->rows.length : row->columns.length;
    return indim_fft_line_up(3 * longer * lanes * indim_fft_complex_bytes(is_f64));
  }
  case INDIM_FFT_DENSE:
    return indim_fft_line_up((2 * row->length + 8 * lanes) * indim_fft_complex_bytes(is_f64));
  case INDIM_FFT_CHIRP:
    break;
  }
  return indim_fft_row_work(row->inner, is_f64);
}

int64_t indim_fft_column_groups(const indim_fft_row *row) { return row->rows.length / row->kernels->lanes; }
int64_t indim_fft_row_groups(const indim_fft_row *row) { return row->columns.length / row->kernels->lanes; }

static const void *at(const void *array, int64_t i, bool is_f64) {
  return (const unsigned char *)array + i * indim_fft_complex_bytes(is_f64);
}
static void *to(void *array, int64_t i, bool is_f64) {
  return (unsigned char *)array + i * indim_fft_complex_bytes(is_f64);
}

static bool is_stopped(const volatile int32_t *stop) { return stop != NULL && *stop != 0; }

// The last group computes the columns that make no whole group too, overlapping its own.
bool indim_fft_first_step(const indim_fft_row *row, bool is_f64, const void *in, void *shared, double in_sign,
                          int64_t begin, int64_t end, void *work, const volatile int32_t *stop) {
  int64_t lanes = row->kernels->lanes;
  int64_t length = row->rows.length;
  int64_t m = row->columns.length;
  indim_fft_columns c = {
      .plan = &row->columns, .in_stride = 2 * length, .out_stride = 2 * length, .in_sign = in_sign, .buffer = work};
  int64_t last = end == length / lanes ? indim_ceil_div(length, lanes) : end;
  for (int64_t g = begin; g < last; g++) {
    if (is_stopped(stop)) {
      return false;
    }
    int64_t first = g * lanes + lanes <= length ? g * lanes : length - lanes;
    bool whole = row->group_twiddles == NULL;
    c.in = at(in, first, is_f64);
    c.out = to(shared, first, is_f64);
    c.lane_twiddles = whole ? at(row->lane_twiddles, g * m * lanes, is_f64) : row->lane_twiddles;
    c.group_twiddles = whole ? NULL : at(row->group_twiddles, g * m, is_f64);
    row->kernels->columns(&c);
  }
  return true;
}

bool indim_fft_second_step(const indim_fft_row *row, bool is_f64, const void *shared, void *out, double out_re,
                           double out_im, int64_t begin, int64_t end, void *work, const volatile int32_t *stop) {
  int64_t lanes = row->kernels->lanes;
  int64_t length = row->rows.length;
  int64_t m = row->columns.length;
  void *tile = to(work, 2 * length * lanes, is_f64);
  indim_fft_columns c = {.plan = &row->rows,
                         .in = tile,
                         .in_stride = 2 * lanes,
                         .out_stride = 2 * m,
                         .in_sign = 1,
                         .out_re = out_re,
                         .out_im = out_im,
                         .buffer = work};
  int64_t last = end == m / lanes ? indim_ceil_div(m, lanes) : end;
  for (int64_t g = begin; g < last; g++) {
    if (is_stopped(stop)) {
      return false;
    }
    int64_t first = g * lanes + lanes <= m ? g * lanes : m - lanes;
    row->kernels->transpose(lanes, length, at(shared, first * length, is_f64), 2 * length, tile, 2 * lanes);
    c.out = to(out, first, is_f64);
    row->kernels->columns(&c);
  }
  return true;
}

static bool run_smooth(const indim_fft_row *row, bool is_f64, const void *in, void *out, double in_sign, double out_re,
                       double out_im, void *scratch, const volatile int32_t *stop) {
  if (row->method == INDIM_FFT_STEPS) {
    void *work = (unsigned char *)scratch + indim_fft_row_shared(row, is_f64);
    return indim_fft_first_step(row, is_f64, in, scratch, in_sign, 0, indim_fft_column_groups(row), work, stop) &&
           indim_fft_second_step(row, is_f64, scratch, out, out_re, out_im, 0, indim_fft_row_groups(row), work, stop);
  }
  indim_fft_columns c = {.plan = &row->columns,
                         .in = in,
                         .in_stride = 2,
                         .out = out,
                         .out_stride = 2,
                         .in_sign = in_sign,
                         .out_re = out_re,
                         .out_im = out_im,
                         .buffer = scratch};
  if (row->method == INDIM_FFT_DENSE) {
    row->kernels->dense(row->length, row->matrix, &c);
  } else {
    row->kernels->columns(&c);
  }
  return !is_stopped(stop);
}

// The convolution is a product of spectra; its inverse transform is that of the conjugate, conjugated.
bool indim_fft_row_run(const indim_fft_row *row, bool is_f64, const void *in, void *out, double in_sign, double out_re,
                       double out_im, void *scratch, const volatile int32_t *stop) {
  if (row->method != INDIM_FFT_CHIRP) {
    return run_smooth(row, is_f64, in, out, in_sign, out_re, out_im, scratch, stop);
  }
  int64_t bytes = indim_fft_complex_bytes(is_f64);
  int64_t n = row->length;
  int64_t longer = row->inner->length;
  const indim_fft_kernels *k = row->kernels;
  unsigned char *a = scratch;
  unsigned char *b = a + indim_fft_line_up(longer * bytes);
  unsigned char *rest = b + indim_fft_line_up(longer * bytes);
  k->multiply(n, in, row->chirp, in_sign, 1, 1, a);
  memset(a + n * bytes, 0, (size_t)((longer - n) * bytes));
  if (!run_smooth(row->inner, is_f64, a, b, 1, 1, 1, rest, stop)) {
    return false;
  }
  k->multiply(longer, b, row->chirp_spectrum, 1, 1 / (double)longer, -1, b);
  if (!run_smooth(row->inner, is_f64, b, a, 1, 1, 1, rest, stop)) {
    return false;
  }
  k->multiply(n, a, row->chirp, -1, out_re, out_re == out_im ? 1 : -1, out);
  return true;
}

// Plans and their cache ------------------------------------------------------------------------------------------------

typedef struct entry {
  indim_fft_plan plan;  // first
  block *blocks;        // one of which contains this
  int64_t bytes;
  int64_t holders;
  int64_t used;  // when acquired last
  bool is_cached;
} entry;

static struct {
  char lock;
  int32_t count;
  int64_t bytes;
  int64_t time;
  entry *entries[INDIM_FFT_MOST_CACHED_PLANS];
} cache;

// Held for some dozens of instructions: no thread sleeps for it.
static void lock_cache(void) {
#if defined(__GNUC__)
  while (__atomic_test_and_set(&cache.lock, __ATOMIC_ACQUIRE)) {
  }
#endif
}

static void unlock_cache(void) {
#if defined(__GNUC__)
  __atomic_clear(&cache.lock, __ATOMIC_RELEASE);
#endif
}

static bool build_real_roots(builder *b, indim_fft_plan *plan) {
  int64_t count = plan->length / 4 + 1;
  void *table = build_alloc(b, count, indim_fft_complex_bytes(b->is_f64));
  roots r;
  if (table == NULL || !roots_init(&r, plan->length)) {
    return false;
  }
  for (int64_t k = 0; k < count; k++) {
    put_pair(b, table, k, roots_get(&r, k));
  }
  roots_deinit(&r);
  plan->real_roots = table;
  return true;
}

static bool build_plan(builder *b, indim_fft_plan *plan) {
  bool halved = plan->is_real && plan->length % 2 == 0;
  plan->complex_length = halved ? plan->length / 2 : plan->length;
  if (halved && !build_real_roots(b, plan)) {
    return false;
  }
  plan->has_lanes =
      plan->complex_length <= INDIM_FFT_MOST_LANES_LENGTH && find_factors(plan->complex_length, &plan->lanes);
  plan->row = build_row(b, plan->complex_length);
  return plan->row != NULL && (!plan->has_lanes || build_lanes(b, &plan->lanes));
}

static entry *new_entry(bool is_f64, bool is_real, int64_t length, int32_t vector_bytes) {
  enum { MOST_LENGTH = 1 << 30 };  // products of indices stay in 64 bits
  builder b = {.is_f64 = is_f64, .vector_bytes = vector_bytes};
  entry *e = length <= MOST_LENGTH ? build_alloc(&b, 1, sizeof *e) : NULL;
  if (e == NULL) {
    return NULL;
  }
  *e = (entry){.plan = {.is_f64 = is_f64, .is_real = is_real, .length = length, .vector_bytes = vector_bytes},
               .holders = 1};
  if (!build_plan(&b, &e->plan)) {
    free_blocks(b.blocks);
    return NULL;
  }
  e->blocks = b.blocks;
  e->bytes = b.bytes;
  return e;
}

// The functions below are called with the lock.

static entry *find_entry(bool is_f64, bool is_real, int64_t length, int32_t vector_bytes) {
  for (int32_t i = 0; i < cache.count; i++) {
    const indim_fft_plan *p = &cache.entries[i]->plan;
    if (p->is_f64 == is_f64 && p->is_real == is_real && p->length == length && p->vector_bytes == vector_bytes) {
      return cache.entries[i];
    }
  }
  return NULL;
}

// Takes the plan that was not used for longest, and that nobody holds, out of the cache; NULL if there is none.
static entry *evict(void) {
  int32_t oldest = -1;
  for (int32_t i = 0; i < cache.count; i++) {
    if (cache.entries[i]->holders == 0 && (oldest < 0 || cache.entries[i]->used < cache.entries[oldest]->used)) {
      oldest = i;
    }
  }
  if (oldest < 0) {
    return NULL;
  }
  entry *e = cache.entries[oldest];
  cache.entries[oldest] = cache.entries[--cache.count];
  cache.bytes -= e->bytes;
  return e;
}

// Puts a new plan into the cache if there is room or can be made; what has to go is chained in |out_evicted|.
static void insert(entry *e, block **out_evicted) {
  if (e->bytes > INDIM_FFT_MOST_CACHED_BYTES) {
    return;
  }
  while (cache.count == INDIM_FFT_MOST_CACHED_PLANS || cache.bytes + e->bytes > INDIM_FFT_MOST_CACHED_BYTES) {
    entry *old = evict();
    if (old == NULL) {
      return;
    }
    block *last = old->blocks;
    while (last->next != NULL) {
      last = last->next;
    }
    last->next = *out_evicted;
    *out_evicted = old->blocks;
  }
  e->is_cached = true;
  cache.entries[cache.count++] = e;
  cache.bytes += e->bytes;
}

const indim_fft_plan *indim_fft_plan_acquire(bool is_f64, bool is_real, int64_t length, int32_t vector_bytes) {
  block *evicted = NULL;
  lock_cache();
  entry *e = find_entry(is_f64, is_real, length, vector_bytes);
  if (e != NULL) {
    e->holders++;
    e->used = ++cache.time;
  }
  unlock_cache();
  if (e != NULL) {
    return &e->plan;
  }
  e = new_entry(is_f64, is_real, length, vector_bytes);
  if (e == NULL) {
    return NULL;
  }
  lock_cache();
  e->used = ++cache.time;
  if (find_entry(is_f64, is_real, length, vector_bytes) == NULL) {  // else another thread was faster
    insert(e, &evicted);
  }
  unlock_cache();
  free_blocks(evicted);
  return &e->plan;
}

void indim_fft_plan_release(const indim_fft_plan *plan) {
  if (plan == NULL) {
    return;
  }
  entry *e = (entry *)(uintptr_t)plan;
  lock_cache();
  bool is_last = --e->holders == 0 && !e->is_cached;
  unlock_cache();
  if (is_last) {
    free_blocks(e->blocks);
  }
}

void indim_fft_plans_clear(void) {
  for (;;) {
    lock_cache();
    entry *e = evict();
    unlock_cache();
    if (e == NULL) {
      return;
    }
    free_blocks(e->blocks);
  }
}

int64_t indim_fft_plans_bytes(void) {
  lock_cache();
  int64_t bytes = cache.bytes;
  unlock_cache();
  return bytes;
}
