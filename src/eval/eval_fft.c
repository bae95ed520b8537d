// fft: the discrete Fourier transform along the last one to three dimensions, out[k] = sum of in[j] exp(-2 pi i j k / n).
// Everything is computed in long double and rounded once. A line is split by the smallest prime factor of its length again
// and again; if the length has a large one, the transform is a convolution, computed by lines of a power of two (L. Bluestein,
// "A linear filtering approach to the computation of discrete Fourier transform", 1970).
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/size.h"
#include "eval/evaluator.h"
#include "graph/fft.h"

enum { MOST_PRIME = 61 };

typedef struct number {
  long double re, im;
} number;

static number times(number a, number b) { return (number){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
static number conjugate(number a) { return (number){a.re, -a.im}; }

// exp(-2 pi i j / n) for 0 <= j < n. Symmetry leaves an angle of at most pi / 4, so that right angles are exact.
static number root(int64_t j, int64_t n) {
  static const long double two_pi = 6.283185307179586476925286766559005768L;
  int64_t eighths = 8 * j;
  bool below = eighths > 4 * n;
  eighths = below ? 8 * n - eighths : eighths;
  bool left = eighths > 2 * n;
  eighths = left ? 4 * n - eighths : eighths;
  bool steep = eighths > n;
  eighths = steep ? 2 * n - eighths : eighths;
  long double angle = two_pi * (long double)eighths / (8 * (long double)n);
  long double cosine = steep ? sinl(angle) : cosl(angle);
  long double sine = steep ? cosl(angle) : sinl(angle);
  return (number){left ? -cosine : cosine, below ? sine : -sine};
}

static int64_t smallest_prime(int64_t n) {
  for (int64_t p = 2; p <= MOST_PRIME; p++) {
    if (n % p == 0) {
      return p;
    }
  }
  return n;
}

static bool is_smooth(int64_t n) {
  while (n > 1 && smallest_prime(n) <= MOST_PRIME) {
    n /= smallest_prime(n);
  }
  return n == 1;
}

// Lines ---------------------------------------------------------------------------------------------------------------

// Tables for lines of one length.
typedef struct line_plan {
  indim_evaluator *e;
  int64_t length;
  int64_t size;      // of what is split by primes: the length, or a power of two for a convolution
  number *roots;     // of order |size|
  number *chirp;     // exp(-pi i j^2 / length); NULL: no convolution
  number *spectrum;  // the transform of its conjugate, wrapped around
  number *work;      // 2 * size, for convolutions
} line_plan;

// The transform of |length| elements of |in|, |stride| apart, where length divides p->size. Recurses once for each prime
// factor, of which a length has at most 62.
static indim_status split(const line_plan *p, int64_t length, const number *in, int64_t stride, number *out) {
  if (length == 1) {
    out[0] = in[0];
    return INDIM_OK;
  }
  number terms[MOST_PRIME];
  int64_t prime = smallest_prime(length);
  int64_t part = length / prime;
  for (int64_t j = 0; j < prime; j++) {
    INDIM_TRY(split(p, part, in + j * stride, stride * prime, out + j * part));
  }
  for (int64_t k = 0; k < part; k++) {
    for (int64_t j = 0; j < prime; j++) {
      terms[j] = times(out[j * part + k], p->roots[j * k * (p->size / length)]);
    }
    for (int64_t q = 0; q < prime; q++) {
      number sum = {0, 0};
      for (int64_t j = 0; j < prime; j++) {
        number term = times(terms[j], p->roots[j * q % prime * (p->size / prime)]);
        sum = (number){sum.re + term.re, sum.im + term.im};
      }
      out[q * part + k] = sum;
    }
  }
  return indim_eval_work(p->e, length * prime);
}

// j k = (j^2 + k^2 - (k - j)^2) / 2 makes the transform a convolution with the chirp. A convolution is a product of
// transforms, and the inverse transform is the conjugate of the transform of the conjugate, divided by the size.
static indim_status convolve(const line_plan *p, const number *in, number *out) {
  number *a = p->work;
  number *b = p->work + p->size;
  memset(a, 0, (size_t)p->size * sizeof *a);
  for (int64_t j = 0; j < p->length; j++) {
    a[j] = times(in[j], p->chirp[j]);
  }
  INDIM_TRY(split(p, p->size, a, 1, b));
  for (int64_t j = 0; j < p->size; j++) {
    b[j] = conjugate(times(b[j], p->spectrum[j]));
  }
  INDIM_TRY(split(p, p->size, b, 1, a));
  for (int64_t k = 0; k < p->length; k++) {
    number x = times(conjugate(a[k]), p->chirp[k]);
    out[k] = (number){x.re / (long double)p->size, x.im / (long double)p->size};
  }
  return INDIM_OK;
}

// |in| and |out| differ.
static indim_status transform_line(const line_plan *p, const number *in, number *out) {
  return p->chirp == NULL ? split(p, p->length, in, 1, out) : convolve(p, in, out);
}

static indim_status plan_chirp(indim_arena *arena, line_plan *p) {
  void *tables = NULL;
  INDIM_TRY(indim_arena_array(arena, (size_t)p->length + 3 * (size_t)p->size, sizeof(number), &tables));
  p->spectrum = tables;
  p->work = p->spectrum + p->size;
  p->chirp = p->work + 2 * p->size;
  int64_t square = 0;  // of j, modulo 2 * length
  for (int64_t j = 0; j < p->length; j++) {
    p->chirp[j] = root(square, 2 * p->length);
    p->work[j] = conjugate(p->chirp[j]);
    p->work[j == 0 ? 0 : p->size - j] = p->work[j];
    square = (square + 2 * j + 1) % (2 * p->length);
    INDIM_TRY(indim_eval_work(p->e, 64));
  }
  return split(p, p->size, p->work, 1, p->spectrum);
}

static indim_status plan_line(indim_evaluator *e, indim_arena *arena, int64_t length, line_plan *p) {
  void *roots = NULL;
  *p = (line_plan){.e = e, .length = length, .size = length};
  if (!is_smooth(length)) {
    p->size = 1;
    while (p->size < 2 * length - 1) {
      p->size *= 2;
    }
  }
  INDIM_TRY(indim_arena_array(arena, (size_t)p->size, sizeof(number), &roots));
  p->roots = roots;
  for (int64_t j = 0; j < p->size; j++) {
    p->roots[j] = root(j, p->size);
    INDIM_TRY(indim_eval_work(e, 64));
  }
  return p->size == length ? INDIM_OK : plan_chirp(arena, p);
}

// Arrays --------------------------------------------------------------------------------------------------------------

typedef struct transform {
  indim_evaluator *e;
  indim_arena arena;
  const indim_instr *instr;
  const indim_shape *narrow;  // the shape of |array|: the operand's or the result's, whichever is complex
  const int64_t *lengths;
  int64_t rank;  // transformed dimensions
  bool inverse, from_real, to_real;
  number *array;
  number *in, *out;  // room for one line
} transform;

// Transforms the lines of the array along a dimension, in place.
static indim_status transform_dimension(transform *t, int32_t dim) {
  const indim_shape *shape = t->narrow;
  int64_t length = shape->sizes[dim];
  int64_t stride = 1;
  int64_t count = 1;
  line_plan p;
  for (int32_t d = 0; d < shape->rank; d++) {
    stride *= d > dim ? shape->sizes[d] : 1;
    count *= d != dim ? shape->sizes[d] : 1;
  }
  INDIM_TRY(plan_line(t->e, &t->arena, length, &p));
  for (int64_t line = 0; line < count; line++) {
    number *first = t->array + line / stride * stride * length + line % stride;
    for (int64_t j = 0; j < length; j++) {
      t->in[j] = first[j * stride];
    }
    INDIM_TRY(transform_line(&p, t->in, t->out));
    for (int64_t j = 0; j < length; j++) {
      first[j * stride] = t->out[j];
    }
  }
  return INDIM_OK;
}

// Real lines along the last dimension into the array: half of the results, as the rest is their conjugates.
static indim_status transform_real_lines(transform *t, const indim_value *operand) {
  int64_t length = t->lengths[t->rank - 1];
  int64_t half = length / 2 + 1;
  line_plan p;
  INDIM_TRY(plan_line(t->e, &t->arena, length, &p));
  for (int64_t line = 0; line < operand->count / length; line++) {
    for (int64_t j = 0; j < length; j++) {
      t->in[j] = (number){(long double)indim_scalar_load(operand->shape->type, operand->data, line * length + j).f, 0};
    }
    INDIM_TRY(transform_line(&p, t->in, t->out));
    memcpy(t->array + line * half, t->out, (size_t)half * sizeof *t->out);
  }
  return INDIM_OK;
}

// The way back. Where a result equals its own conjugate the imaginary part does not count.
static indim_status restore_real_lines(transform *t, int64_t count, long double scale, indim_value *result) {
  int64_t length = t->lengths[t->rank - 1];
  int64_t half = length / 2 + 1;
  line_plan p;
  INDIM_TRY(plan_line(t->e, &t->arena, length, &p));
  for (int64_t line = 0; line < count / length; line++) {
    for (int64_t j = 0; j < length; j++) {
      number x = j < half ? t->array[line * half + j] : conjugate(t->array[line * half + length - j]);
      t->in[j] = (number){x.re, 2 * j % length == 0 ? 0 : x.im};
    }
    INDIM_TRY(transform_line(&p, t->in, t->out));
    for (int64_t j = 0; j < length; j++) {
      indim_scalar x = {.f = (double)(t->out[j].re * scale)};
      indim_scalar_store(result->shape->type, result->data, line * length + j, x);
    }
  }
  return INDIM_OK;
}

static void load_array(transform *t, const indim_value *operand) {
  for (int64_t k = 0; k < operand->count; k++) {
    indim_complex c = indim_scalar_load(operand->shape->type, operand->data, k).c;
    t->array[k] = (number){(long double)c.re, (long double)(t->inverse ? -c.im : c.im)};
  }
}

static void store_array(const transform *t, long double scale, indim_value *result) {
  for (int64_t k = 0; k < result->count; k++) {
    number x = t->array[k];
    indim_scalar value = {.c = {(double)(x.re * scale), (double)((t->inverse ? -x.im : x.im) * scale)}};
    indim_scalar_store(result->shape->type, result->data, k, value);
  }
}

static indim_status make_room(transform *t) {
  int64_t count = 1;
  int64_t longest = 1;
  void *memory = NULL;
  for (int32_t d = 0; d < t->narrow->rank; d++) {
    count *= t->narrow->sizes[d];
  }
  for (int64_t i = 0; i < t->rank; i++) {
    longest = t->lengths[i] > longest ? t->lengths[i] : longest;
  }
  INDIM_TRY(indim_arena_array(&t->arena, (size_t)count, sizeof(number), &memory));
  t->array = memory;
  INDIM_TRY(indim_arena_array(&t->arena, (size_t)longest, 2 * sizeof(number), &memory));
  t->in = memory;
  t->out = t->in + longest;
  return INDIM_OK;
}

// The inverse is the conjugate of the transform of the conjugate, divided by all lengths.
static indim_status transform_value(transform *t, const indim_value *operand, indim_value *result) {
  int32_t last = t->narrow->rank - 1;
  int32_t first = t->narrow->rank - (int32_t)t->rank;
  long double all = 1;
  for (int64_t i = 0; i < t->rank; i++) {
    all *= (long double)t->lengths[i];
  }
  INDIM_TRY(make_room(t));
  if (t->from_real) {
    INDIM_TRY(transform_real_lines(t, operand));
  } else {
    load_array(t, operand);
  }
  for (int32_t d = t->from_real || t->to_real ? last - 1 : last; d >= first; d--) {
    INDIM_TRY(transform_dimension(t, d));
  }
  long double scale = t->inverse ? 1 / all : 1;
  if (t->to_real) {
    return restore_real_lines(t, result->count, scale, result);
  }
  store_array(t, scale, result);
  return INDIM_OK;
}

indim_status indim_eval_fft(indim_evaluator *e, const indim_instr *instr, indim_value **operands, indim_value **out) {
  indim_fft_kind kind = indim_fft_kind_of(instr);
  indim_value *result = NULL;
  transform t = {.e = e, .instr = instr};
  t.lengths = indim_instr_ints(instr, INDIM_ATTR_FFT_LENGTH, &t.rank);
  t.from_real = kind == INDIM_FFT_RFFT;
  t.to_real = kind == INDIM_FFT_IRFFT;
  t.inverse = t.to_real || kind == INDIM_FFT_IFFT;
  t.narrow = t.to_real ? operands[0]->shape : instr->shape;
  INDIM_TRY(indim_fft_check(e->cx, instr));
  INDIM_TRY(indim_value_new(e->cx, instr->shape, &result));
  indim_status status = INDIM_OK;
  if (result->count > 0) {
    indim_arena_init(&t.arena, e->cx);
    status = transform_value(&t, operands[0], result);
    indim_arena_deinit(&t.arena);
  }
  if (status != INDIM_OK) {
    indim_value_release(e->cx, result);
    return status;
  }
  *out = result;
  return INDIM_OK;
}
