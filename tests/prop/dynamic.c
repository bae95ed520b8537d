// Random programs over dynamic dimensions (f32[<=6]) through both engines: the same elements count and are equal, behind what
// counts too, which a larger size shows; what fails when it runs fails in both, in the same words.
//
//   test_prop_dynamic                 8 seconds of programs, the same ones every time
//   test_prop_dynamic SECONDS FIRST   that long from a seed on; INDIM_SEED=n runs one, and prints it
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "indim/compile.h"
#include "indim/eval.h"
#include "indim/text.h"
#include "test.h"

enum { MOST_VALUES = 60, MOST_RANK = 3, MOST_SCALARS = 24, ARGUMENTS = 6, RUNS = 4 };

typedef struct array {
  int name;
  bool is_float;
  int rank;
  int sizes[MOST_RANK];
  unsigned dynamic;
} array;

typedef struct maker {
  uint64_t state;
  indim_buffer body, called;
  array values[MOST_VALUES];
  int count, names;
  int scalars[MOST_SCALARS];  // names of s32 scalars, small ones
  int scalar_count;
  int depth;
} maker;

static uint64_t next_number(uint64_t *state) {
  *state += UINT64_C(0x9E3779B97F4A7C15);
  uint64_t z = *state;
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return z ^ (z >> 31);
}

static int choose(maker *m, int below) { return (int)(next_number(&m->state) % (uint64_t)below); }
static bool chance(maker *m, int in) { return choose(m, in) == 0; }

// Text -----------------------------------------------------------------------------------------------------------------

static void add_shape(indim_buffer *out, const array *a) {
  indim_buffer_printf(out, "%s[", a->is_float ? "f32" : "s32");
  for (int d = 0; d < a->rank; d++) {
    indim_buffer_printf(out, "%s%s%d", d > 0 ? "," : "", (a->dynamic >> d & 1) != 0 ? "<=" : "", a->sizes[d]);
  }
  indim_buffer_text(out, "]");
}

// Begins the line of a new value.
static array begin(maker *m, const array *like) {
  array a = *like;
  a.name = m->names++;
  indim_buffer_printf(&m->body, "  v%d = ", a.name);
  add_shape(&m->body, &a);
  indim_buffer_text(&m->body, " ");
  return a;
}

static void keep(maker *m, const array *a) {
  int64_t count = 1;
  for (int d = 0; d < a->rank; d++) {
    count *= a->sizes[d];
  }
  if (m->count < MOST_VALUES && count <= 400) {
    m->values[m->count++] = *a;
  }
}

static array emit(maker *m, const array *like, const char *op, const array *x, const array *y, const char *attributes) {
  array a = begin(m, like);
  indim_buffer_printf(&m->body, "%s(v%d", op, x->name);
  if (y != NULL) {
    indim_buffer_printf(&m->body, ", v%d", y->name);
  }
  indim_buffer_printf(&m->body, ")%s\n", attributes);
  return a;
}

static array constant(maker *m, bool is_float, int number) {
  array scalar = {.is_float = is_float};
  array a = begin(m, &scalar);
  indim_buffer_printf(&m->body, "constant(%d)\n", number);
  return a;
}

static int size_scalar(maker *m, int bound) {
  if (chance(m, 4)) {
    return constant(m, false, choose(m, bound + 1)).name;
  }
  int from = m->scalars[choose(m, m->scalar_count)];
  if (chance(m, 12)) {
    return from;  // may be too large
  }
  int low = constant(m, false, 0).name;
  int high = constant(m, false, bound).name;
  int name = m->names++;
  indim_buffer_printf(&m->body, "  v%d = s32[] clamp(v%d, v%d, v%d)\n", name, low, from, high);
  return name;
}

// Values ---------------------------------------------------------------------------------------------------------------

static array pick(maker *m) {
  int back = chance(m, 2) ? m->count : 4;
  int i = m->count - 1 - choose(m, back < m->count ? back : m->count);
  return m->values[i];
}

static array pick_ranked(maker *m) {
  array a = pick(m);
  for (int i = 0; i < 10 && a.rank == 0; i++) {
    a = pick(m);
  }
  return a;
}

static bool same_bounds(const array *x, const array *y) {
  bool same = x->rank == y->rank && x->is_float == y->is_float;
  for (int d = 0; same && d < x->rank; d++) {
    same = x->sizes[d] == y->sizes[d];
  }
  return same;
}

static array with_size(maker *m, const array *x, int dim) {
  int size = size_scalar(m, x->sizes[dim]);
  array like = *x;
  like.dynamic |= 1U << dim;
  array a = begin(m, &like);
  indim_buffer_printf(&m->body, "set-dimension-size(v%d, v%d), dimensions={%d}\n", x->name, size, dim);
  return a;
}

// One of the same bounds, there already or made.
static array partner(maker *m, const array *x) {
  for (int i = 0; i < 20; i++) {
    array y = pick(m);
    if (same_bounds(x, &y)) {
      return y;
    }
  }
  array like = *x;
  like.dynamic = 0;
  array from = constant(m, x->is_float, choose(m, 5) - 2);
  array y = emit(m, &like, "broadcast", &from, NULL, ", dimensions={}");
  return x->rank > 0 && chance(m, 2) ? with_size(m, &y, choose(m, x->rank)) : y;
}

// So small that sums of products are exact.
static array small(maker *m, const array *x) {
  if (!x->is_float) {
    return *x;
  }
  array low = constant(m, true, -8);
  array high = constant(m, true, 8);
  array a = begin(m, x);
  indim_buffer_printf(&m->body, "clamp(v%d, v%d, v%d)\n", low.name, x->name, high.name);
  return a;
}

// Steps ----------------------------------------------------------------------------------------------------------------

static void do_binary(maker *m) {
  static const char *const ops[] = {"add", "subtract", "maximum", "minimum", "multiply"};
  array x = pick(m);
  array y = partner(m, &x);
  array like = x;
  like.dynamic |= y.dynamic;
  const char *op = ops[choose(m, x.is_float ? 4 : 5)];
  array a = chance(m, 2) ? emit(m, &like, op, &x, &y, "") : emit(m, &like, op, &y, &x, "");
  keep(m, &a);
}

static void do_unary(maker *m) {
  array x = pick(m);
  array a = emit(m, &x, chance(m, 2) ? "negate" : chance(m, 2) ? "copy" : "abs", &x, NULL, "");
  keep(m, &a);
}

static void do_set(maker *m) {
  array x = pick_ranked(m);
  if (x.rank > 0) {
    array a = with_size(m, &x, choose(m, x.rank));
    keep(m, &a);
  }
}

static void do_get(maker *m) {
  array x = pick_ranked(m);
  if (x.rank > 0 && m->scalar_count < MOST_SCALARS) {
    m->scalars[m->scalar_count] = m->names++;
    indim_buffer_printf(&m->body, "  v%d = s32[] get-dimension-size(v%d), dimensions={%d}\n",
                        m->scalars[m->scalar_count], x.name, choose(m, x.rank));
    m->scalar_count++;
  }
}

static void do_broadcast(maker *m) {
  array x = pick(m);
  array like = x;
  char attributes[80];
  int at = choose(m, x.rank + 1);
  if (x.rank == MOST_RANK) {
    return;
  }
  int size = snprintf(attributes, sizeof attributes, ", dimensions={");
  like.rank = x.rank + 1;
  like.dynamic = 0;
  for (int d = 0, from = 0; d < like.rank; d++) {
    like.sizes[d] = d == at ? 1 + choose(m, 4) : x.sizes[from];
    if (d != at) {
      like.dynamic |= (x.dynamic >> from & 1) << d;
      size += snprintf(attributes + size, sizeof attributes - (size_t)size, "%s%d", from > 0 ? "," : "", d);
      from++;
    }
  }
  snprintf(attributes + size, sizeof attributes - (size_t)size, "}");
  array a = emit(m, &like, "broadcast", &x, NULL, attributes);
  keep(m, &a);
}

static void do_transpose(maker *m) {
  array x = pick_ranked(m);
  array like = x;
  char attributes[80];
  int shift = x.rank > 0 ? choose(m, x.rank) : 0;
  int size = snprintf(attributes, sizeof attributes, ", dimensions={");
  like.dynamic = 0;
  for (int d = 0; d < x.rank; d++) {
    int from = (d + shift) % x.rank;
    like.sizes[d] = x.sizes[from];
    like.dynamic |= (x.dynamic >> from & 1) << d;
    size += snprintf(attributes + size, sizeof attributes - (size_t)size, "%s%d", d > 0 ? "," : "", from);
  }
  snprintf(attributes + size, sizeof attributes - (size_t)size, "}");
  array a = emit(m, &like, "transpose", &x, NULL, attributes);
  keep(m, &a);
}

static void do_slice(maker *m) {
  array x = pick_ranked(m);
  array like = x;
  char attributes[120];
  int size = snprintf(attributes, sizeof attributes, ", slice={");
  for (int d = 0; d < x.rank; d++) {
    int start = chance(m, 2) ? 0 : choose(m, x.sizes[d] + 1);
    int limit = chance(m, 2) ? x.sizes[d] : start + choose(m, x.sizes[d] - start + 1);
    int stride = chance(m, 3) ? 2 : 1;
    like.sizes[d] = (limit - start + stride - 1) / stride;
    like.dynamic &= ~(like.sizes[d] == 1 ? 1U << d : 0U);
    size += snprintf(attributes + size, sizeof attributes - (size_t)size, "%s[%d:%d:%d]", d > 0 ? ", " : "", start,
                     limit, stride);
  }
  snprintf(attributes + size, sizeof attributes - (size_t)size, "}");
  array a = emit(m, &like, "slice", &x, NULL, attributes);
  keep(m, &a);
}

static void add_starts(maker *m, int rank) {
  for (int d = 0; d < rank; d++) {
    indim_buffer_printf(&m->body, ", v%d", m->scalars[choose(m, m->scalar_count)]);
  }
  indim_buffer_text(&m->body, ")");
}

static void do_dynamic_slice(maker *m) {
  array x = pick_ranked(m);
  array like = x;
  for (int d = 0; d < x.rank; d++) {
    like.sizes[d] = chance(m, 2) ? x.sizes[d] : choose(m, x.sizes[d] + 1);
    like.dynamic &= ~(like.sizes[d] != x.sizes[d] ? 1U << d : 0U);
  }
  array a = begin(m, &like);
  indim_buffer_printf(&m->body, "dynamic-slice(v%d", x.name);
  add_starts(m, x.rank);
  indim_buffer_text(&m->body, ", dynamic_slice_sizes={");
  for (int d = 0; d < x.rank; d++) {
    indim_buffer_printf(&m->body, "%s%d", d > 0 ? "," : "", like.sizes[d]);
  }
  indim_buffer_text(&m->body, "}\n");
  keep(m, &a);
}

static void do_update(maker *m) {
  array x = pick_ranked(m);
  array part = x;
  part.dynamic = 0;
  for (int d = 0; d < x.rank; d++) {
    part.sizes[d] = chance(m, 2) ? x.sizes[d] : choose(m, x.sizes[d] + 1);
  }
  part = partner(m, &part);
  array a = begin(m, &x);
  indim_buffer_printf(&m->body, "dynamic-update-slice(v%d, v%d", x.name, part.name);
  add_starts(m, x.rank);
  indim_buffer_text(&m->body, "\n");
  keep(m, &a);
}

static void do_reverse(maker *m) {
  array x = pick_ranked(m);
  if (x.rank > 0) {
    char attributes[40];
    snprintf(attributes, sizeof attributes, x.rank > 1 && chance(m, 2) ? ", dimensions={0,%d}" : ", dimensions={%d}",
             x.rank - 1);
    array a = emit(m, &x, "reverse", &x, NULL, attributes);
    keep(m, &a);
  }
}

static void do_concatenate(maker *m) {
  array x = pick_ranked(m);
  array parts[3] = {x};
  array like = x;
  int count = 1 + choose(m, 3);
  int dim = x.rank > 0 ? choose(m, x.rank) : 0;
  for (int i = 1; i < count && x.rank > 0; i++) {
    array other = x;
    other.dynamic = 0;
    other.sizes[dim] = chance(m, 2) ? x.sizes[dim] : choose(m, 4);
    parts[i] = partner(m, &other);
    like.sizes[dim] += other.sizes[dim];
    like.dynamic |= parts[i].dynamic;
  }
  if (x.rank > 0) {
    array a = begin(m, &like);
    indim_buffer_text(&m->body, "concatenate(");
    for (int i = 0; i < count; i++) {
      indim_buffer_printf(&m->body, "%sv%d", i > 0 ? ", " : "", parts[i].name);
    }
    indim_buffer_printf(&m->body, "), dimensions={%d}\n", dim);
    keep(m, &a);
  }
}

static void do_pad(maker *m) {
  array x = pick_ranked(m);
  array like = x;
  array fill = constant(m, x.is_float, choose(m, 5));
  char attributes[120];
  int size = snprintf(attributes, sizeof attributes, ", padding=");
  for (int d = 0; d < x.rank; d++) {
    int low = choose(m, 4) - 1;
    int high = choose(m, 4) - 1;
    int between = chance(m, 3) ? 1 + choose(m, 2) : 0;
    int spread = x.sizes[d] == 0 ? 0 : x.sizes[d] + (x.sizes[d] - 1) * between;
    low = spread + low + high < 0 ? 0 : low;
    high = spread + low + high < 0 ? 0 : high;
    like.sizes[d] = spread + low + high;
    size += snprintf(attributes + size, sizeof attributes - (size_t)size, "%s%d_%d_%d", d > 0 ? "x" : "", low, high,
                     between);
  }
  if (x.rank > 0) {
    array a = emit(m, &like, "pad", &x, &fill, attributes);
    keep(m, &a);
  }
}

// Two dimensions become one, or one two.
static void do_reshape(maker *m) {
  array x = pick_ranked(m);
  array like = x;
  if (x.rank > 1 && chance(m, 2)) {
    int d = choose(m, x.rank - 1);
    unsigned either = (x.dynamic >> d | x.dynamic >> (d + 1)) & 1;
    like.rank--;
    like.sizes[d] = x.sizes[d] * x.sizes[d + 1];
    like.dynamic = (x.dynamic & ((1U << d) - 1)) | either << d;
    for (int k = d + 1; k < like.rank; k++) {
      like.sizes[k] = x.sizes[k + 1];
      like.dynamic |= (x.dynamic >> (k + 1) & 1) << k;
    }
  } else if (x.rank > 0 && x.rank < MOST_RANK) {
    int d = choose(m, x.rank);
    int by = 1 + choose(m, 4);
    bool first = chance(m, 2);
    while (x.sizes[d] % by != 0) {
      by--;
    }
    unsigned is_dynamic = x.dynamic >> d & 1;
    like.rank++;
    like.dynamic = x.dynamic & ((1U << d) - 1);
    for (int k = d; k < like.rank; k++) {
      like.sizes[k] = k == d ? by : k == d + 1 ? x.sizes[d] / by : x.sizes[k - 1];
      like.dynamic |= (k == d       ? (is_dynamic && first)
                       : k == d + 1 ? (is_dynamic && !first)
                                    : x.dynamic >> (k - 1) & 1)
                      << k;
    }
  } else {
    return;
  }
  array a = emit(m, &like, "reshape", &x, NULL, "");
  keep(m, &a);
}

// Folds and products ---------------------------------------------------------------------------------------------------

static int combiner(maker *m, bool is_float, int kind) {
  static const char *const ops[] = {"add", "maximum", "minimum"};
  const char *type = is_float ? "f32" : "s32";
  int name = m->names++;
  indim_buffer_printf(&m->called, "k%d {\n  a = %s[] parameter(0)\n  b = %s[] parameter(1)\n", name, type, type);
  if (kind < 3) {
    indim_buffer_printf(&m->called, "  ROOT c = %s[] %s(a, b)\n}\n", type, ops[kind]);
  } else {  // the larger one without its sign; a fold has the order of what counts
    indim_buffer_printf(&m->called,
                        "  p = %s[] abs(a)\n  q = %s[] abs(b)\n  g = pred[] compare(p, q), direction=GE\n"
                        "  ROOT c = %s[] select(g, p, q)\n}\n",
                        type, type, type);
  }
  return name;
}

static void do_reduce(maker *m) {
  array x = pick_ranked(m);
  array like = {.is_float = x.is_float};
  char dims[40];
  int size = 0;
  dims[0] = '\0';
  for (int d = 0; d < x.rank; d++) {
    if (chance(m, 2)) {
      size += snprintf(dims + size, sizeof dims - (size_t)size, "%s%d", size > 0 ? "," : "", d);
    } else {
      like.dynamic |= (x.dynamic >> d & 1) << like.rank;
      like.sizes[like.rank++] = x.sizes[d];
    }
  }
  x = small(m, &x);
  array start = constant(m, x.is_float, choose(m, 3));
  char attributes[100];
  snprintf(attributes, sizeof attributes, ", dimensions={%s}, to_apply=k%d", dims,
           combiner(m, x.is_float, choose(m, 4)));
  array a = emit(m, &like, "reduce", &x, &start, attributes);
  keep(m, &a);
}

// The largest element and its place, along one dimension.
static void do_argmax(maker *m) {
  array x = pick_ranked(m);
  if (x.rank == 0) {
    return;
  }
  int dim = choose(m, x.rank);
  const char *type = x.is_float ? "f32" : "s32";
  array places = x;
  places.is_float = false;
  places.dynamic = chance(m, 2) ? 0 : x.dynamic;
  array results[2] = {{.is_float = x.is_float}, {.is_float = false}};
  for (int d = 0; d < x.rank; d++) {
    for (int k = 0; k < 2 && d != dim; k++) {
      results[k].dynamic |= (x.dynamic >> d & 1) << results[k].rank;
      results[k].sizes[results[k].rank++] = x.sizes[d];
    }
  }
  int combine = m->names++;
  indim_buffer_printf(&m->called,
                      "k%d {\n  a = %s[] parameter(0)\n  i = s32[] parameter(1)\n  b = %s[] parameter(2)\n  j = s32[] "
                      "parameter(3)\n  g = pred[] compare(a, b), direction=GE\n  c = %s[] select(g, a, b)\n  k = s32[] "
                      "select(g, i, j)\n  ROOT t = (%s[], s32[]) tuple(c, k)\n}\n",
                      combine, type, type, type, type);
  array whole = places;
  whole.dynamic = 0;
  int iota = m->names++;
  indim_buffer_printf(&m->body, "  v%d = ", iota);
  add_shape(&m->body, &whole);
  indim_buffer_printf(&m->body, " iota(), iota_dimension=%d\n", dim);
  array start = constant(m, x.is_float, -1000);
  array none = constant(m, false, -1);
  int pair = m->names++;
  indim_buffer_printf(&m->body, "  v%d = (", pair);
  add_shape(&m->body, &results[0]);
  indim_buffer_text(&m->body, ", ");
  add_shape(&m->body, &results[1]);
  indim_buffer_printf(&m->body, ") reduce(v%d, v%d, v%d, v%d), dimensions={%d}, to_apply=k%d\n", x.name, iota,
                      start.name, none.name, dim, combine);
  for (int k = 0; k < 2; k++) {
    array a = begin(m, &results[k]);
    indim_buffer_printf(&m->body, "get-tuple-element(v%d), index=%d\n", pair, k);
    keep(m, &a);
  }
}

static void do_window(maker *m) {
  array x = pick_ranked(m);
  if (x.rank == 0) {
    return;
  }
  array like = x;
  int dim = choose(m, x.rank);
  int width = 1 + choose(m, 3);
  int stride = 1 + choose(m, 2);
  int low = choose(m, 3);
  int high = choose(m, 3);
  int base = chance(m, 3) ? 2 : 1;
  int window = chance(m, 3) ? 2 : 1;
  int spread = (x.sizes[dim] == 0 ? 0 : (x.sizes[dim] - 1) * base + 1) + low + high;
  int wide = (width - 1) * window + 1;
  like.sizes[dim] = spread < wide || spread <= 0 ? 0 : (spread - wide) / stride + 1;
  x = small(m, &x);
  array start = constant(m, x.is_float, choose(m, 2));
  array a = begin(m, &like);
  indim_buffer_printf(&m->body, "reduce-window(v%d, v%d), window={", x.name, start.name);
  for (int part = 0; part < 5; part++) {
    static const char *const names[] = {"size", " stride", " pad", " lhs_dilate", " rhs_dilate"};
    const int values[] = {width, stride, low, base, window};
    indim_buffer_printf(&m->body, "%s=", names[part]);
    for (int d = 0; d < x.rank; d++) {
      int number = d == dim ? values[part] : part == 2 ? 0 : 1;
      indim_buffer_printf(&m->body, "%s%d", d > 0 ? "x" : "", number);
      if (part == 2) {
        indim_buffer_printf(&m->body, "_%d", d == dim ? high : 0);
      }
    }
  }
  indim_buffer_printf(&m->body, "}, to_apply=k%d\n", combiner(m, x.is_float, choose(m, 4)));
  keep(m, &a);
}

static void do_sort(maker *m) {
  array x = pick_ranked(m);
  if (x.rank == 0) {
    return;
  }
  array y = partner(m, &x);
  bool two = y.dynamic == x.dynamic && chance(m, 2);
  int name = m->names++;
  const char *type = x.is_float ? "f32" : "s32";
  indim_buffer_printf(&m->called, "k%d {\n  a = %s[] parameter(0)\n  b = %s[] parameter(1)\n", name, type, type);
  if (two) {
    indim_buffer_printf(&m->called, "  c = %s[] parameter(2)\n  d = %s[] parameter(3)\n", type, type);
  }
  indim_buffer_printf(&m->called, "  ROOT l = pred[] compare(a, b), direction=%s\n}\n", chance(m, 2) ? "LT" : "GT");
  int pair = m->names++;
  indim_buffer_printf(&m->body, "  v%d = %s", pair, two ? "(" : "");
  add_shape(&m->body, &x);
  if (two) {
    indim_buffer_text(&m->body, ", ");
    add_shape(&m->body, &y);
  }
  indim_buffer_printf(&m->body, "%s sort(v%d", two ? ")" : "", x.name);
  if (two) {
    indim_buffer_printf(&m->body, ", v%d", y.name);
  }
  indim_buffer_printf(&m->body, "), dimensions={%d}, is_stable=true, to_apply=k%d\n", choose(m, x.rank), name);
  if (!two) {
    x.name = pair;
    keep(m, &x);
    return;
  }
  array a = begin(m, &x);
  indim_buffer_printf(&m->body, "get-tuple-element(v%d), index=0\n", pair);
  keep(m, &a);
  a = begin(m, &y);
  indim_buffer_printf(&m->body, "get-tuple-element(v%d), index=1\n", pair);
  keep(m, &a);
}

static void do_dot(maker *m) {
  array x = pick_ranked(m);
  if (x.rank == 0) {
    return;
  }
  int left = choose(m, x.rank);
  array y = {.is_float = x.is_float, .rank = 1 + choose(m, 2)};
  int right = choose(m, y.rank);
  y.sizes[0] = y.sizes[1] = 1 + choose(m, 4);
  y.sizes[right] = x.sizes[left];
  y = partner(m, &y);
  array like = {.is_float = x.is_float};
  x = small(m, &x);
  y = small(m, &y);
  for (int i = 0; i < 2; i++) {
    const array *from = i == 0 ? &x : &y;
    for (int d = 0; d < from->rank && like.rank < MOST_RANK; d++) {
      if (d != (i == 0 ? left : right)) {
        like.dynamic |= (from->dynamic >> d & 1) << like.rank;
        like.sizes[like.rank++] = from->sizes[d];
      }
    }
  }
  if (x.rank + y.rank - 2 <= MOST_RANK) {
    char attributes[80];
    snprintf(attributes, sizeof attributes, ", lhs_contracting_dims={%d}, rhs_contracting_dims={%d}", left, right);
    array a = emit(m, &like, "dot", &x, &y, attributes);
    keep(m, &a);
  }
}

// Rows in groups, or what is contracted.
static void do_ragged_dot(maker *m) {
  array x = pick_ranked(m);
  bool contracts = chance(m, 2);
  int groups = choose(m, 4);
  int width = 1 + choose(m, 3);
  if (x.rank != 2 || groups == 0) {
    return;
  }
  array y = {.is_float = x.is_float, .rank = 3, .sizes = {groups, x.sizes[1], width}};
  array flat = {.is_float = x.is_float, .rank = 2, .sizes = {x.sizes[1], width}};
  array sizes = {.rank = 1, .sizes = {groups}};
  y = partner(m, contracts ? &flat : &y);
  sizes = partner(m, &sizes);
  x = small(m, &x);
  y = small(m, &y);
  array like = {.is_float = x.is_float, .rank = 2, .sizes = {x.sizes[0], width}};
  like.dynamic = (x.dynamic & 1U) | (y.dynamic >> (contracts ? 1 : 2) & 1U) << 1;
  if (contracts) {
    like = (array){.is_float = x.is_float, .rank = 3, .sizes = {groups, x.sizes[0], width}};
    like.dynamic = (sizes.dynamic & 1U) | (x.dynamic & 1U) << 1 | (y.dynamic >> 1 & 1U) << 2;
  }
  array a = begin(m, &like);
  indim_buffer_printf(&m->body, "ragged-dot(v%d, v%d, v%d), lhs_contracting_dims={1}, rhs_contracting_dims={%d}, %s\n",
                      x.name, y.name, sizes.name, contracts ? 0 : 1,
                      contracts ? "lhs_ragged_dims={1}" : "lhs_ragged_dims={0}, rhs_group_dims={0}");
  keep(m, &a);
}

// One spatial dimension.
static void do_convolution(maker *m) {
  array x = pick_ranked(m);
  array like = x;
  if (x.rank != 3) {
    return;
  }
  array kernel = {.is_float = x.is_float, .rank = 3, .sizes = {1 + choose(m, 3), x.sizes[2], 1 + choose(m, 3)}};
  kernel = partner(m, &kernel);
  if ((kernel.dynamic & 1U) != 0) {
    return;
  }
  int stride = 1 + choose(m, 2);
  int low = choose(m, 3);
  int high = choose(m, 3);
  int base = chance(m, 3) ? 2 : 1;
  int window = chance(m, 3) ? 2 : 1;
  int spread = (x.sizes[1] == 0 ? 0 : (x.sizes[1] - 1) * base + 1) + low + high;
  int wide = (kernel.sizes[0] - 1) * window + 1;
  like.sizes[1] = spread < wide || spread <= 0 ? 0 : (spread - wide) / stride + 1;
  like.sizes[2] = kernel.sizes[2];
  like.dynamic = (x.dynamic & 3U) | (kernel.dynamic & 4U);
  x = small(m, &x);
  kernel = small(m, &kernel);
  char attributes[200];
  snprintf(attributes, sizeof attributes,
           ", window={size=%d stride=%d pad=%d_%d lhs_dilate=%d rhs_dilate=%d}, dim_labels=b0f_0io->b0f",
           kernel.sizes[0], stride, low, high, base, window);
  array a = emit(m, &like, "convolution", &x, &kernel, attributes);
  keep(m, &a);
}

// Rows -----------------------------------------------------------------------------------------------------------------

static array take_member(maker *m, const array *like, int tuple, int index);

// The first of each line; where the result is to have k of them, a line may be too short.
static void do_topk(maker *m) {
  array x = pick_ranked(m);
  int last = x.rank - 1;
  if (x.rank == 0) {
    return;
  }
  array like = x;
  like.sizes[last] = choose(m, x.sizes[last] + 1);
  like.dynamic &= chance(m, 6) ? ~(1U << last) : ~0U;
  array places = like;
  places.is_float = false;
  int pair = m->names++;
  indim_buffer_printf(&m->body, "  v%d = (", pair);
  add_shape(&m->body, &like);
  indim_buffer_text(&m->body, ", ");
  add_shape(&m->body, &places);
  indim_buffer_printf(&m->body, ") topk(v%d), k=%d, largest=%s\n", x.name, like.sizes[last],
                      chance(m, 2) ? "true" : "false");
  (void)take_member(m, &like, pair, 0);
  (void)take_member(m, &places, pair, 1);
}

static array drop_dim(const array *x, int dim) {
  array row = {.is_float = x->is_float, .rank = x->rank - 1};
  for (int d = 0; d < row.rank; d++) {
    int from = d < dim ? d : d + 1;
    row.sizes[d] = x->sizes[from];
    row.dynamic |= (x->dynamic >> from & 1) << d;
  }
  return row;
}

// Running sums of the rows, one way or the other, and sometimes rows that are cut besides.
static void do_scan(maker *m) {
  array x = pick_ranked(m);
  int dim = x.rank > 0 ? choose(m, x.rank) : 0;
  if (x.rank == 0) {
    return;
  }
  array row = drop_dim(&x, dim);
  array carry = row;
  carry.dynamic = 0;
  carry = partner(m, &carry);
  array wide = row;  // what the step takes and gives
  wide.dynamic |= carry.dynamic;
  bool cuts = row.rank > 0 && chance(m, 3);
  array output = wide;
  output.dynamic |= cuts ? 1U : 0U;
  int step = m->names++;
  indim_buffer_printf(&m->called, "k%d {\n  x = ", step);
  add_shape(&m->called, &row);
  indim_buffer_text(&m->called, " parameter(0)\n  c = ");
  add_shape(&m->called, &wide);
  indim_buffer_text(&m->called, " parameter(1)\n  s = ");
  add_shape(&m->called, &wide);
  indim_buffer_text(&m->called, cuts ? " maximum(x, c)\n  n = s32[] constant(" : " maximum(x, c)\n");
  if (cuts) {
    indim_buffer_printf(&m->called, "%d)\n  o = ", choose(m, row.sizes[0] + 1));
    add_shape(&m->called, &output);
    indim_buffer_text(&m->called, " set-dimension-size(s, n), dimensions={0}\n");
  }
  indim_buffer_text(&m->called, "  ROOT r = (");
  add_shape(&m->called, &output);
  indim_buffer_text(&m->called, ", ");
  add_shape(&m->called, &wide);
  indim_buffer_printf(&m->called, ") tuple(%s, s)\n}\n", cuts ? "o" : "s");
  array stacked = x;
  stacked.dynamic = x.dynamic & 1U << dim;
  for (int d = 0; d < output.rank; d++) {
    stacked.dynamic |= (output.dynamic >> d & 1) << (d < dim ? d : d + 1);
  }
  int pair = m->names++;
  indim_buffer_printf(&m->body, "  v%d = (", pair);
  add_shape(&m->body, &stacked);
  indim_buffer_text(&m->body, ", ");
  add_shape(&m->body, &wide);
  indim_buffer_printf(&m->body, ") scan(v%d, v%d), dimensions={%d}, num_carries=1, is_reverse=%s, to_apply=k%d\n",
                      x.name, carry.name, dim, chance(m, 2) ? "true" : "false", step);
  (void)take_member(m, &stacked, pair, 0);
  (void)take_member(m, &wide, pair, 1);
}

// Indexing -------------------------------------------------------------------------------------------------------------

// Whole rows of dimension 0 by a vector of indices.
static array any_indices(maker *m) {
  array indices = {.rank = 1, .sizes = {1 + choose(m, 4)}};
  indices = partner(m, &indices);
  return indices;
}

static void add_row_dims(maker *m, int rank) {
  for (int d = 1; d < rank; d++) {
    indim_buffer_printf(&m->body, "%s%d", d > 1 ? "," : "", d);
  }
}

static void do_gather(maker *m) {
  array x = pick_ranked(m);
  if (x.rank == 0 || x.sizes[0] == 0) {
    return;
  }
  array indices = any_indices(m);
  array like = x;
  like.sizes[0] = indices.sizes[0];
  like.dynamic = (x.dynamic & ~1U) | (indices.dynamic & 1U);
  array a = begin(m, &like);
  indim_buffer_printf(&m->body, "gather(v%d, v%d), offset_dims={", x.name, indices.name);
  add_row_dims(m, x.rank);
  indim_buffer_text(&m->body, "}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1");
  for (int d = 1; d < x.rank; d++) {
    indim_buffer_printf(&m->body, ",%d", x.sizes[d]);
  }
  indim_buffer_text(&m->body, "}\n");
  keep(m, &a);
}

static void do_scatter(maker *m) {
  array x = pick_ranked(m);
  if (x.rank == 0) {
    return;
  }
  array indices = any_indices(m);
  array updates = x;
  updates.dynamic = 0;
  updates.sizes[0] = indices.sizes[0];
  updates = partner(m, &updates);
  int fold = combiner(m, x.is_float, choose(m, 3));
  array a = begin(m, &x);
  indim_buffer_printf(&m->body, "scatter(v%d, v%d, v%d), update_window_dims={", x.name, indices.name, updates.name);
  add_row_dims(m, x.rank);
  indim_buffer_printf(
      &m->body, "}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=k%d\n",
      fold);
  keep(m, &a);
}

// Select, normalise, factor, draw ---------------------------------------------------------------------------------------

static void add_dims(indim_buffer *out, const array *a, const char *more) {
  indim_buffer_printf(out, "%s[", a->is_float ? "f32" : "s32");
  for (int d = 0; d < a->rank; d++) {
    indim_buffer_printf(out, "%s%s%d", d > 0 ? "," : "", (a->dynamic >> d & 1) != 0 ? "<=" : "", a->sizes[d]);
  }
  indim_buffer_printf(out, "%s]", a->rank > 0 ? more : more + 1);
}

// Member |index| of a tuple, which is kept.
static array take_member(maker *m, const array *like, int tuple, int index) {
  array a = begin(m, like);
  indim_buffer_printf(&m->body, "get-tuple-element(v%d), index=%d\n", tuple, index);
  keep(m, &a);
  return a;
}

static void do_select_and_scatter(maker *m) {
  array x = pick_ranked(m);
  array source = x;
  int parts[5][MOST_RANK];
  for (int d = 0; d < x.rank; d++) {
    int width = chance(m, 2) ? 1 : 1 + choose(m, 3);
    int stride = chance(m, 2) ? 1 : 1 + choose(m, 2);
    int low = chance(m, 2) ? 0 : choose(m, 2);
    int high = chance(m, 2) ? 0 : choose(m, 2);
    int spread = x.sizes[d] + low + high;
    source.sizes[d] = spread < width || spread <= 0 ? 0 : (spread - width) / stride + 1;
    parts[0][d] = width;
    parts[1][d] = stride;
    parts[2][d] = low;
    parts[3][d] = high;
  }
  if (x.rank == 0) {
    return;
  }
  source.dynamic = 0;
  source = partner(m, &source);
  for (int d = 0; d < x.rank; d++) {  // flags of source and windows agree
    if (((x.dynamic ^ source.dynamic) >> d & 1) != 0) {
      *((x.dynamic >> d & 1) != 0 ? &source : &x) = with_size(m, (x.dynamic >> d & 1) != 0 ? &source : &x, d);
    }
  }
  source = small(m, &source);
  const char *type = x.is_float ? "f32" : "s32";
  int select = m->names++;
  indim_buffer_printf(&m->called,
                      "k%d {\n  a = %s[] parameter(0)\n  b = %s[] parameter(1)\n  ROOT g = pred[] compare(a, b), "
                      "direction=%s\n}\n",
                      select, type, type,
                      chance(m, 3)   ? "LT"
                      : chance(m, 2) ? "GT"
                                     : "GE");
  array start = constant(m, x.is_float, choose(m, 3));
  int fold = combiner(m, x.is_float, choose(m, 3));
  array a = begin(m, &x);
  indim_buffer_printf(&m->body, "select-and-scatter(v%d, v%d, v%d), window={", x.name, source.name, start.name);
  for (int part = 0; part < 3; part++) {
    static const char *const names[] = {"size", " stride", " pad"};
    indim_buffer_printf(&m->body, "%s=", names[part]);
    for (int d = 0; d < x.rank; d++) {
      indim_buffer_printf(&m->body, "%s%d", d > 0 ? "x" : "", parts[part][d]);
      if (part == 2) {
        indim_buffer_printf(&m->body, "_%d", parts[3][d]);
      }
    }
  }
  indim_buffer_printf(&m->body, "}, select=k%d, scatter=k%d\n", select, fold);
  keep(m, &a);
}

// The engines sum in different types: what is kept says on which side of a number the results are.
static void keep_side(maker *m, const array *x) {
  array p = *x;
  array side = constant(m, true, 0);
  indim_buffer_printf(&m->body, "  v%d = f32[] constant(0.3183)\n", m->names);
  side.name = m->names++;
  array wide = *x;
  wide.dynamic = 0;
  array bound = emit(m, &wide, "broadcast", &side, NULL, ", dimensions={}");
  int flag = m->names++;
  indim_buffer_printf(&m->body, "  v%d = pred", flag);
  indim_buffer shape;
  indim_buffer_init(&shape, m->body.cx);
  add_shape(&shape, x);
  indim_buffer_printf(&m->body, "%s compare(v%d, v%d), direction=LT\n", shape.data + 3, x->name, bound.name);
  indim_buffer_deinit(&shape);
  p.is_float = false;
  array a = begin(m, &p);
  indim_buffer_printf(&m->body, "convert(v%d)\n", flag);
  keep(m, &a);
}

static void do_batch_norm(maker *m) {
  static const char *const ops[] = {"training", "inference", "grad"};
  array x = pick_ranked(m);
  if (x.rank == 0 || !x.is_float) {
    return;
  }
  int kind = choose(m, 3);
  int feature = choose(m, x.rank);
  int count = kind == 0 ? 3 : 5;
  array operands[5];
  operands[0] = small(m, &x);
  for (int i = 1; i < count; i++) {
    array vector = {.is_float = true, .rank = 1, .sizes = {x.sizes[feature]}};
    array like = x;
    like.dynamic = 0;
    operands[i] = kind == 2 && i == 4 ? partner(m, &like) : partner(m, &vector);
    operands[i] = small(m, &operands[i]);
    bool is_variance = (kind == 1 && i == 4) || (kind == 2 && i == 3);
    operands[i] = is_variance ? emit(m, &operands[i], "abs", &operands[i], NULL, "") : operands[i];
  }
  array vector = {.is_float = true, .rank = 1, .sizes = {x.sizes[feature]}, .dynamic = x.dynamic >> feature & 1};
  int result = m->names++;
  indim_buffer_printf(&m->body, "  v%d = %s", result, kind == 1 ? "" : "(");
  add_shape(&m->body, &x);
  for (int i = 0; i < 2 && kind != 1; i++) {
    indim_buffer_text(&m->body, ", ");
    add_shape(&m->body, &vector);
  }
  indim_buffer_printf(&m->body, "%s batch-norm-%s(", kind == 1 ? "" : ")", ops[kind]);
  for (int i = 0; i < count; i++) {
    indim_buffer_printf(&m->body, "%sv%d", i > 0 ? ", " : "", operands[i].name);
  }
  indim_buffer_printf(&m->body, "), epsilon=1, feature_index=%d\n", feature);
  array y = x;
  y.name = result;
  for (int i = 0; i < 3 && kind != 1; i++) {
    y = i == 0 ? x : vector;
    array from = begin(m, &y);
    indim_buffer_printf(&m->body, "get-tuple-element(v%d), index=%d\n", result, i);
    keep_side(m, &from);
  }
  if (kind == 1) {
    keep_side(m, &y);
  }
}

// Pivots and info of LU factorisations of as many small matrices as there are elements.
static void do_factor(maker *m) {
  array x = pick(m);
  if (!x.is_float || x.rank >= MOST_RANK) {
    return;
  }
  int matrices = m->names++;
  indim_buffer_printf(&m->body, "  v%d = ", matrices);
  add_dims(&m->body, &x, ",2,1");
  indim_buffer_printf(&m->body, " broadcast(v%d), dimensions={", x.name);
  for (int d = 0; d < x.rank; d++) {
    indim_buffer_printf(&m->body, "%s%d", d > 0 ? "," : "", d);
  }
  array info = x;
  info.is_float = false;
  array pivots = info;
  pivots.sizes[pivots.rank++] = 1;
  char order[40];
  int size = snprintf(order, sizeof order, "{%d,%d", x.rank, x.rank + 1);
  for (int d = x.rank - 1; d >= 0; d--) {
    size += snprintf(order + size, sizeof order - (size_t)size, ",%d", d);
  }
  int call = m->names++;
  indim_buffer_printf(&m->body, "}\n  v%d = (", call);
  add_dims(&m->body, &x, ",2,1");
  indim_buffer_printf(&m->body, "%s}, ", order);
  add_shape(&m->body, &pivots);
  indim_buffer_text(&m->body, ", ");
  add_shape(&m->body, &info);
  indim_buffer_printf(&m->body,
                      ") custom-call(v%d), custom_call_target=\"lapack_sgetrf_ffi\", "
                      "operand_layout_constraints={",
                      matrices);
  add_dims(&m->body, &x, ",2,1");
  indim_buffer_printf(&m->body, "%s}}, api_version=API_VERSION_TYPED_FFI\n", order);
  (void)take_member(m, &pivots, call, 1);
  (void)take_member(m, &info, call, 2);
}

// Of as many numbers as there is room for, those that |x| has.
static void do_draw(maker *m) {
  array x = pick_ranked(m);
  x.is_float = false;
  int dim = x.rank > 0 ? choose(m, x.rank) : 0;
  if (x.rank == 0) {
    return;
  }
  if (chance(m, 3)) {
    array a = begin(m, &x);
    indim_buffer_printf(&m->body, "iota(), iota_dimension=%d\n", dim);
    keep(m, &a);
    return;
  }
  if (m->depth == 0 && chance(m, 2)) {
    array low = constant(m, false, -3);
    array high = constant(m, false, 5);
    array a = emit(m, &x, "rng", &low, &high, ", distribution=rng_uniform");
    a = chance(m, 2) ? with_size(m, &a, dim) : a;
    keep(m, &a);
    return;
  }
  int state = m->names++;
  int drawn = m->names++;
  indim_buffer_printf(&m->body, "  v%d = u64[2] constant({%d, 7})\n  v%d = (u64[2], ", state, choose(m, 9), drawn);
  add_shape(&m->body, &x);
  indim_buffer_printf(&m->body, ") rng-bit-generator(v%d), algorithm=%s\n", state,
                      chance(m, 2) ? "rng_philox" : "rng_three_fry");
  array bits = begin(m, &x);
  indim_buffer_printf(&m->body, "get-tuple-element(v%d), index=1\n", drawn);
  array few = constant(m, false, 15);
  array low = x;
  low.dynamic = 0;
  low = emit(m, &low, "broadcast", &few, NULL, ", dimensions={}");
  bits = emit(m, &x, "and", &bits, &low, "");
  bits = chance(m, 2) ? with_size(m, &bits, dim) : bits;
  keep(m, &bits);
}

static void do_one_device(maker *m) {
  array x = pick_ranked(m);
  int fold = combiner(m, x.is_float, 0);
  int start = m->names++;
  char attributes[120];
  if (x.rank == 0) {
    return;
  }
  indim_buffer shape;
  indim_buffer_init(&shape, m->body.cx);
  add_shape(&shape, &x);
  switch (choose(m, 4)) {
  case 0: {
    snprintf(attributes, sizeof attributes, ", replica_groups={}, to_apply=k%d", fold);
    array a = emit(m, &x, "all-reduce", &x, NULL, attributes);
    keep(m, &a);
    break;
  }
  case 1: {
    snprintf(attributes, sizeof attributes, ", source_target_pairs={%s}", chance(m, 2) ? "{0,0}" : "{1,1}");
    array a = emit(m, &x, "collective-permute", &x, NULL, attributes);
    keep(m, &a);
    break;
  }
  case 2: {
    indim_buffer_printf(&m->body, "  v%d = (%s, %s) all-gather-start(v%d), replica_groups={}, dimensions={0}\n", start,
                        shape.data, shape.data, x.name);
    array a = begin(m, &x);
    indim_buffer_printf(&m->body, "all-gather-done(v%d)\n", start);
    keep(m, &a);
    break;
  }
  default: {
    indim_buffer_printf(&m->body, "  v%d = (%s, %s, u32[]) copy-start(v%d)\n", start, shape.data, shape.data, x.name);
    array a = begin(m, &x);
    indim_buffer_printf(&m->body, "copy-done(v%d)\n", start);
    keep(m, &a);
    break;
  }
  }
  indim_buffer_deinit(&shape);
}

// Control --------------------------------------------------------------------------------------------------------------

static void add_steps(maker *m, int count);

// A computation of its own: what is made inside is not seen outside.
static maker begin_inner(maker *m) {
  maker inner = {.state = next_number(&m->state), .names = m->names + 1000 * (m->depth + 1), .depth = m->depth + 1};
  indim_buffer_init(&inner.body, m->body.cx);
  inner.called = m->called;
  return inner;
}

static void end_inner(maker *m, maker *inner, int name, const char *root) {
  m->called = inner->called;
  indim_buffer_printf(&m->called, "k%d {\n", name);
  indim_buffer_append(&m->called, inner->body.data, inner->body.size);
  indim_buffer_printf(&m->called, "%s}\n", root);
  indim_buffer_deinit(&inner->body);
  m->names = inner->names > m->names ? inner->names : m->names;
}

static void add_state(indim_buffer *out, const array *x) {
  indim_buffer_text(out, "(s32[], ");
  add_shape(out, x);
  indim_buffer_text(out, ")");
}

static void take_state(maker *m, const array *x) {
  indim_buffer_text(&m->body, "  s = ");
  add_state(&m->body, x);
  indim_buffer_printf(&m->body, " parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n  v%d = s32[] copy(i)\n",
                      m->names);
  m->scalars[m->scalar_count++] = m->names++;
  array a = begin(m, x);
  indim_buffer_text(&m->body, "get-tuple-element(s), index=1\n");
  keep(m, &a);
}

// The last value of |x|'s bounds, with its dynamic dimensions.
static array last_like(maker *m, const array *x) {
  for (int i = m->count - 1; i >= 0; i--) {
    if (same_bounds(&m->values[i], x) && m->values[i].dynamic == x->dynamic) {
      return m->values[i];
    }
  }
  return m->values[0];
}

static void do_while(maker *m) {
  array x = pick_ranked(m);
  int condition = m->names++;
  int body = m->names++;
  char root[200];
  if (m->depth > 1) {
    return;
  }
  indim_buffer_printf(&m->called, "k%d {\n  s = ", condition);
  add_state(&m->called, &x);
  indim_buffer_printf(&m->called,
                      " parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n  n = s32[] constant(%d)\n"
                      "  ROOT c = pred[] compare(i, n), direction=LT\n}\n",
                      1 + choose(m, 4));
  maker inner = begin_inner(m);
  take_state(&inner, &x);
  add_steps(&inner, 3);
  array next = last_like(&inner, &x);
  indim_buffer_text(&inner.body, "  one = s32[] constant(1)\n  j = s32[] add(i, one)\n  ROOT t = ");
  add_state(&inner.body, &x);
  snprintf(root, sizeof root, " tuple(j, v%d)\n", next.name);
  end_inner(m, &inner, body, root);
  array zero = constant(m, false, 0);
  int start = m->names++;
  indim_buffer_printf(&m->body, "  v%d = ", start);
  add_state(&m->body, &x);
  indim_buffer_printf(&m->body, " tuple(v%d, v%d)\n", zero.name, x.name);
  int end = m->names++;
  indim_buffer_printf(&m->body, "  v%d = ", end);
  add_state(&m->body, &x);
  indim_buffer_printf(&m->body, " while(v%d), condition=k%d, body=k%d\n", start, condition, body);
  array a = begin(m, &x);
  indim_buffer_printf(&m->body, "get-tuple-element(v%d), index=1\n", end);
  keep(m, &a);
}

static void do_branch(maker *m) {
  array x = pick_ranked(m);
  int names[2] = {m->names, m->names + 1};
  m->names += 2;
  if (m->depth > 1) {
    return;
  }
  for (int i = 0; i < 2; i++) {
    char root[200];
    maker inner = begin_inner(m);
    array a = begin(&inner, &x);
    indim_buffer_text(&inner.body, "parameter(0)\n");
    keep(&inner, &a);
    inner.scalars[inner.scalar_count++] = constant(&inner, false, choose(m, 5)).name;
    add_steps(&inner, 2);
    a = last_like(&inner, &x);
    indim_buffer_printf(&inner.body, "  ROOT r = ");
    add_shape(&inner.body, &x);
    snprintf(root, sizeof root, " copy(v%d)\n", a.name);
    end_inner(m, &inner, names[i], root);
  }
  if (chance(m, 3)) {
    array a = begin(m, &x);
    indim_buffer_printf(&m->body, "call(v%d), to_apply=k%d\n", x.name, names[0]);
    keep(m, &a);
    return;
  }
  array two = constant(m, false, 2);
  int p = m->names++;
  indim_buffer_printf(&m->body, "  v%d = pred[] compare(v%d, v%d), direction=LT\n", p,
                      m->scalars[choose(m, m->scalar_count)], two.name);
  array a = begin(m, &x);
  indim_buffer_printf(&m->body, "conditional(v%d, v%d, v%d), true_computation=k%d, false_computation=k%d\n", p, x.name,
                      x.name, names[0], names[1]);
  keep(m, &a);
}

// Programs -------------------------------------------------------------------------------------------------------------

static void add_steps(maker *m, int count) {
  static void (*const steps[])(maker *) = {do_binary,        do_binary,    do_unary,
                                           do_set,           do_set,       do_get,
                                           do_broadcast,     do_transpose, do_slice,
                                           do_dynamic_slice, do_update,    do_reverse,
                                           do_pad,           do_reshape,   do_reshape,
                                           do_reduce,        do_argmax,    do_window,
                                           do_convolution,   do_sort,      do_dot,
                                           do_concatenate,   do_gather,    do_scatter,
                                           do_while,         do_branch,    do_select_and_scatter,
                                           do_batch_norm,    do_factor,    do_draw,
                                           do_one_device,    do_topk,      do_ragged_dot,
                                           do_scan};
  for (int i = 0; i < count; i++) {
    steps[choose(m, (int)(sizeof steps / sizeof *steps))](m);
  }
}

// What counts, and what is behind it.
static void add_root(maker *m, indim_buffer *out) {
  array results[6];
  int count = 0;
  for (int i = m->count - 1; i >= 0 && count < 5; i -= 1 + choose(m, 2)) {
    array a = m->values[i];
    results[count++] = a;
    if (a.dynamic != 0 && count < 6 && chance(m, 2)) {
      for (int d = 0; d < a.rank; d++) {
        array bound = constant(m, false, a.sizes[d]);
        array like = a;
        array from = a;
        like.dynamic |= 1U << d;
        char attributes[40];
        snprintf(attributes, sizeof attributes, ", dimensions={%d}", d);
        a = emit(m, &like, "set-dimension-size", &from, &bound, attributes);
      }
      results[count++] = a;
    }
  }
  indim_buffer_append(out, m->body.data, m->body.size);
  indim_buffer_text(out, "  ROOT root = (");
  for (int i = 0; i < count; i++) {
    indim_buffer_text(out, i > 0 ? ", " : "");
    add_shape(out, &results[i]);
  }
  indim_buffer_text(out, ") tuple(");
  for (int i = 0; i < count; i++) {
    indim_buffer_printf(out, "%sv%d", i > 0 ? ", " : "", results[i].name);
  }
  indim_buffer_text(out, ")\n}\n");
}

static void make_program(indim_ctx *cx, uint64_t seed, array *parameters, indim_buffer *out) {
  maker m = {.state = seed * UINT64_C(0x5851F42D4C957F2D)};
  indim_buffer entry;
  indim_buffer_init(&m.body, cx);
  indim_buffer_init(&m.called, cx);
  indim_buffer_init(&entry, cx);
  int bounds[] = {1 + choose(&m, 7), 1 + choose(&m, 5)};
  for (int i = 0; i < ARGUMENTS; i++) {
    array a = {.is_float = chance(&m, 2), .rank = i < 2 ? 0 : 1 + choose(&m, MOST_RANK)};
    for (int d = 0; d < a.rank; d++) {
      a.sizes[d] = chance(&m, 4) ? choose(&m, 5) : bounds[choose(&m, 2)];
      a.dynamic |= (unsigned)chance(&m, 2) << d;
    }
    a.is_float = a.is_float && i >= 2;
    parameters[i] = begin(&m, &a);
    indim_buffer_printf(&m.body, "parameter(%d)\n", i);
    if (i < 2) {
      m.scalars[m.scalar_count++] = parameters[i].name;
    } else {
      keep(&m, &parameters[i]);
    }
  }
  add_steps(&m, 2 + choose(&m, 12));
  add_root(&m, &entry);
  indim_buffer_text(out, "HloModule random\n\n");
  indim_buffer_append(out, m.called.data == NULL ? "" : m.called.data, m.called.size);
  indim_buffer_text(out, "ENTRY main {\n");
  indim_buffer_append(out, entry.data, entry.size);
  indim_buffer_deinit(&entry);
  indim_buffer_deinit(&m.body);
  indim_buffer_deinit(&m.called);
}

// Running --------------------------------------------------------------------------------------------------------------

typedef struct tally {
  int64_t same, failed_alike, refused, different;
} tally;

static indim_literal *make_argument(indim_ctx *cx, uint64_t *state, const array *a, int run) {
  int64_t sizes[MOST_RANK];
  indim_shape shape;
  indim_literal *literal = NULL;
  for (int d = 0; d < a->rank; d++) {
    sizes[d] = a->sizes[d];
  }
  if (indim_shape_init_dynamic(cx, a->is_float ? INDIM_F32 : INDIM_S32, a->rank, sizes, a->dynamic, &shape) !=
          INDIM_OK ||
      indim_literal_create(cx, &shape, &literal) != INDIM_OK) {
    abort();
  }
  int64_t count = indim_literal_bytes(literal) / 4;
  for (int64_t i = 0; i < count; i++) {
    int32_t number = (int32_t)(next_number(state) % 9) - (a->rank == 0 ? 1 : 4);
    float real = (float)number;
    memcpy((char *)indim_literal_mutable_data(literal) + 4 * i, a->is_float ? (void *)&real : (void *)&number, 4);
  }
  for (int d = 0; d < a->rank; d++) {
    int64_t size = run == 0                   ? sizes[d]
                   : run == 1 && sizes[d] > 0 ? 1
                                              : (int64_t)(next_number(state) % (uint64_t)(sizes[d] + 1));
    if ((a->dynamic >> d & 1) != 0 && indim_literal_set_dynamic_size(cx, literal, d, size) != INDIM_OK) {
      abort();
    }
  }
  return literal;
}

static const char *last_message(const indim_ctx *cx) {
  size_t count = indim_ctx_diagnostic_count(cx);
  const indim_diagnostic *d = count > 0 ? indim_ctx_diagnostic_get(cx, count - 1) : NULL;
  return d == NULL ? "(no diagnostic)" : d->message;
}

static void print_literal(indim_ctx *cx, const char *what, const indim_literal *literal) {
  indim_buffer text;
  indim_buffer_init(&text, cx);
  if (literal != NULL) {
    indim_literal_print(literal, INDIM_LITERAL_SHAPE | INDIM_LITERAL_ONE_LINE, &text);
  }
  printf("  %s: %s\n", what, text.data == NULL ? "" : text.data);
  indim_buffer_deinit(&text);
}

static void run_both(indim_ctx *cx, const indim_module *module, indim_executable *e,
                     const indim_literal *const *arguments, uint64_t seed, tally *sum) {
  char message[1024];
  indim_literal *expected = NULL;
  indim_literal *actual = NULL;
  indim_status wanted = indim_eval(cx, module, arguments, ARGUMENTS, NULL, &expected);
  snprintf(message, sizeof message, "%s", last_message(cx));
  indim_status given = indim_execute_literals(cx, e, arguments, ARGUMENTS, NULL, &actual);
  bool same = wanted == given;
  if (same && wanted != INDIM_OK) {
    same = strcmp(message, last_message(cx)) == 0;
    sum->failed_alike += same;
  } else if (same) {
    same = indim_literal_equal(expected, actual);
    sum->same += same;
  }
  if (!same) {
    sum->different++;
    printf("seed %llu: evaluated %s %s, compiled %s %s\n", (unsigned long long)seed, indim_status_text(wanted),
           wanted == INDIM_OK ? "" : message, indim_status_text(given), given == INDIM_OK ? "" : last_message(cx));
    for (int i = 0; i < ARGUMENTS; i++) {
      print_literal(cx, "argument", arguments[i]);
    }
    print_literal(cx, "evaluated", expected);
    print_literal(cx, "compiled", actual);
  }
  indim_literal_destroy(expected);
  indim_literal_destroy(actual);
}

static void run_seed(uint64_t seed, bool verbose, tally *sum) {
  static const char *const without[] = {NULL, "inline", "registers", "inline,registers,loop-fusion,in-place"};
  array parameters[ARGUMENTS];
  indim_ctx *cx = NULL;
  indim_buffer text;
  indim_module *module = NULL;
  indim_executable *e = NULL;
  if (indim_ctx_create(NULL, &cx) != INDIM_OK) {
    abort();
  }
  indim_buffer_init(&text, cx);
  make_program(cx, seed, parameters, &text);
  if (verbose) {
    printf("%s", text.data);
  }
  indim_compile_options options = {.without = without[seed % 4]};
  indim_status status = indim_module_parse(cx, indim_str_of("random"), (indim_str){text.data, text.size}, &module);
  status = status == INDIM_OK ? indim_module_verify(cx, module) : status;
  status = status == INDIM_OK ? indim_compile(cx, module, &options, &e) : status;
  if (status != INDIM_OK) {
    sum->refused++;
    printf("seed %llu is refused: %s\n", (unsigned long long)seed, last_message(cx));
  }
  uint64_t state = seed;
  for (int run = 0; run < RUNS && status == INDIM_OK; run++) {
    indim_literal *arguments[ARGUMENTS];
    for (int i = 0; i < ARGUMENTS; i++) {
      arguments[i] = make_argument(cx, &state, &parameters[i], run);
    }
    run_both(cx, module, e, (const indim_literal *const *)arguments, seed, sum);
    for (int i = 0; i < ARGUMENTS; i++) {
      indim_literal_destroy(arguments[i]);
    }
  }
  indim_executable_destroy(e);
  indim_module_destroy(module);
  indim_buffer_deinit(&text);
  indim_ctx_destroy(cx);
}

static double seconds_asked = 8;
static uint64_t first_asked = 1;

static double seconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

TEST(both_engines_agree) {
  tally sum = {0};
  const char *one = getenv("INDIM_SEED");
  double end = seconds_now() + seconds_asked;
  if (one != NULL) {
    run_seed(strtoull(one, NULL, 10), true, &sum);
  }
  for (uint64_t seed = first_asked; one == NULL && (seconds_now() < end || seed < first_asked + 3); seed++) {
    run_seed(seed, false, &sum);
  }
  printf("%lld runs the same, %lld fail alike, %lld programs refused, %lld runs different\n", (long long)sum.same,
         (long long)sum.failed_alike, (long long)sum.refused, (long long)sum.different);
  CHECK_EQ_INT(sum.different, 0);
  CHECK_EQ_INT(sum.refused, 0);
  CHECK(one != NULL || sum.same > 0);
}

int main(int argc, char **argv) {
  static const test_entry entries[] = {{"both_engines_agree", test_case_both_engines_agree}};
  if (indim_compile_available(NULL) != INDIM_OK) {
    printf("this build has no code generator\n1 passed, 0 failed\n");
    return 0;
  }
  seconds_asked = argc > 1 ? strtod(argv[1], NULL) : seconds_asked;
  first_asked = argc > 2 ? strtoull(argv[2], NULL, 10) : first_asked;
  return test_main(entries, 1, 1, argv);
}
