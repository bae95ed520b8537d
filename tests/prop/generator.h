// What random programs are made with: choices, text, values and computations; program.h makes the programs.
//
//   value *v = make(s, &a, "add", &x, &y, NULL, "");       a line of the computation |s|, and its value
//   value w = need(s, &a);                                 an exact value of this shape, there already or made
#ifndef INDIM_TESTS_GENERATOR_H
#define INDIM_TESTS_GENERATOR_H

#include <stdarg.h>
#include <stdlib.h>

#include "indim/literal.h"
#include "test.h"

enum { PROGRAM_RANK = 6, PROGRAM_VALUES = 400, PROGRAM_PARAMETERS = 40, PROGRAM_RESULTS = 80 };

// Choices: a fuzzer's bytes while there are some, then a generator of numbers.
typedef struct choices {
  uint64_t state;
  const uint8_t *bytes;
  size_t left;
  bool with_calls;  // programs may call the host's functions
} choices;

static inline uint64_t choose(choices *c, uint64_t below) {
  if (c->left > 0) {
    uint64_t byte = *c->bytes++;
    c->left--;
    return byte % below;
  }
  c->state += UINT64_C(0x9E3779B97F4A7C15);
  uint64_t z = c->state;
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return (z ^ (z >> 31)) % below;
}

static inline bool chance(choices *c, uint64_t in) { return choose(c, in) == 0; }

typedef struct text {
  char *data;
  size_t size;
  size_t room;
} text;

static inline void text_add(text *t, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  if (t->size + (size_t)length + 1 > t->room) {
    t->room = 2 * t->room + (size_t)length + 1000;
    t->data = realloc(t->data, t->room);
    if (t->data == NULL) {
      abort();
    }
  }
  va_start(arguments, format);
  vsnprintf(t->data + t->size, t->room - t->size, format, arguments);
  va_end(arguments);
  t->size += (size_t)length;
}

typedef struct array {
  indim_type type;
  int32_t rank;
  int64_t sizes[PROGRAM_RANK];
} array;

// How far a result may be from another engine's: to the bit, in ulps, or absolutely.
typedef struct within {
  int64_t ulps;
  double abs;
  double rel;
} within;

typedef struct value {
  array a;
  int name;  // v<name>
  within within;
  bool bits_count;  // its bits are the caller's: no NaN was made
  bool is_parameter;
} value;

typedef struct program {
  char *text;
  int part_count;  // programs side by side that share nothing
  int parameter_count;
  array parameters[PROGRAM_PARAMETERS];
  bool any_values[PROGRAM_PARAMETERS];  // edge values, infinities and NaN; else small numbers
  int result_count;
  within results[PROGRAM_RESULTS];
} program;

typedef struct scope scope;

typedef struct generator {
  choices *c;
  void (*step)(scope *s);  // what adds to a computation, instead of add_step
  text computations;
  int names;
  int64_t base[4];
  int64_t limit;  // elements of a value
  bool is_small;
  program *p;
} generator;

// One computation being made.
struct scope {
  generator *g;
  text body;
  int depth;
  int first;  // values before it are other parts' and not seen
  int count;
  value values[PROGRAM_VALUES];
};

static inline bool is_int(indim_type t) { return indim_type_is_integral(t); }
static inline bool is_real(indim_type t) { return indim_type_is_float(t); }
static inline bool is_complex(indim_type t) { return indim_type_is_complex(t); }
static inline bool is_wide(indim_type t) { return t == INDIM_F32 || t == INDIM_F64; }
static inline bool is_half(indim_type t) { return t == INDIM_F16 || t == INDIM_BF16; }
static inline bool is_exact(const value *v) { return v->within.ulps == 0 && v->within.abs == 0 && v->within.rel == 0; }

static inline int64_t element_count(const array *a) {
  int64_t count = 1;
  for (int32_t i = 0; i < a->rank; i++) {
    count *= a->sizes[i];
  }
  return count;
}

static inline bool same_sizes(const array *a, const array *b) {
  return a->rank == b->rank && memcmp(a->sizes, b->sizes, (size_t)a->rank * sizeof *a->sizes) == 0;
}

static indim_type any_type(choices *c) {
  static const indim_type often[] = {INDIM_F32, INDIM_F32, INDIM_F32, INDIM_S32, INDIM_S32, INDIM_F64, INDIM_PRED};
  static const indim_type rare[] = {
      INDIM_S8,         INDIM_U8,     INDIM_S16,        INDIM_U16, INDIM_U32,      INDIM_S64,
      INDIM_U64,        INDIM_F16,    INDIM_BF16,       INDIM_C64, INDIM_C128,     INDIM_F8E5M2,
      INDIM_S4,         INDIM_U4,     INDIM_BF16,       INDIM_F16, INDIM_F8E4M3FN, INDIM_F8E4M3B11FNUZ,
      INDIM_F8E5M2FNUZ, INDIM_F8E4M3, INDIM_F8E4M3FNUZ, INDIM_S64, INDIM_F8E3M4,   INDIM_S2,
      INDIM_U2,         INDIM_U32,    INDIM_F4E2M1FN};
  return chance(c, 2) ? often[choose(c, sizeof often / sizeof *often)] : rare[choose(c, sizeof rare / sizeof *rare)];
}

static int64_t any_size(choices *c) {
  static const int64_t sizes[] = {0, 1,  1,  2,  2,  3,  3,  4,  5,  6,  7,  8,  8,
                                  9, 15, 16, 16, 17, 31, 32, 33, 63, 64, 65, 100};
  return chance(c, 8) ? 31 + (int64_t)choose(c, 170) : sizes[choose(c, sizeof sizes / sizeof *sizes)];
}

static void any_sizes(generator *g, array *a, int32_t rank) {
  a->rank = rank;
  for (int32_t i = 0; i < rank; i++) {
    a->sizes[i] = chance(g->c, 6) ? any_size(g->c) : g->base[choose(g->c, 4)];
  }
  for (int32_t i = 0; element_count(a) > g->limit; i = (i + 1) % rank) {
    a->sizes[i] = 1 + (int64_t)choose(g->c, 4);
  }
}

static void add_shape(text *t, const array *a) {
  text_add(t, "%s[", indim_type_text(a->type));
  for (int32_t i = 0; i < a->rank; i++) {
    text_add(t, "%s%lld", i > 0 ? "," : "", (long long)a->sizes[i]);
  }
  text_add(t, "]");
}

static void any_order(choices *c, int32_t rank, int64_t *order) {
  for (int32_t i = 0; i < rank; i++) {
    order[i] = i;
  }
  for (int32_t i = rank - 1; i > 0; i--) {
    int32_t j = (int32_t)choose(c, (uint64_t)i + 1);
    int64_t kept = order[i];
    order[i] = order[j];
    order[j] = kept;
  }
}

static void add_list(text *t, const char *before, const int64_t *list, int32_t count, const char *after) {
  text_add(t, "%s", before);
  for (int32_t i = 0; i < count; i++) {
    text_add(t, "%s%lld", i > 0 ? "," : "", (long long)list[i]);
  }
  text_add(t, "%s", after);
}

// A new value of the scope and the beginning of its line, "  v7 = f32[2,3] "; the caller writes the rest.
static value *new_value(scope *s, const array *a) {
  if (s->count == PROGRAM_VALUES) {
    s->count--;  // what is lost stays in the text
  }
  value *v = &s->values[s->count++];
  *v = (value){.a = *a, .name = s->g->names++, .bits_count = !is_real(a->type) && !is_complex(a->type)};
  text_add(&s->body, "  v%d = ", v->name);
  add_shape(&s->body, a);
  if (a->rank > 1 && chance(s->g->c, 12)) {
    int64_t order[PROGRAM_RANK];
    any_order(s->g->c, a->rank, order);
    add_list(&s->body, "{", order, a->rank, "}");
  }
  text_add(&s->body, " ");
  return v;
}

// Takes back the layout, if new_value wrote one.
static void cut_layout(text *t) {
  while (t->data[t->size - 1] != ']') {
    t->size--;
  }
}

// The value made by |op| of up to three others; |attributes| begins with ", " or is empty.
static value *make(scope *s, const array *a, const char *op, const value *x, const value *y, const value *z,
                   const char *attributes) {
  int names[3] = {x == NULL ? -1 : x->name, y == NULL ? -1 : y->name, z == NULL ? -1 : z->name};
  value *v = new_value(s, a);
  text_add(&s->body, "%s(", op);
  for (int i = 0; i < 3 && names[i] >= 0; i++) {
    text_add(&s->body, "%sv%d", i > 0 ? ", " : "", names[i]);
  }
  text_add(&s->body, ")%s\n", attributes);
  return v;
}

static value scalar(scope *s, indim_type type, const char *literal) {
  array a = {.type = type};
  value *v = new_value(s, &a);
  text_add(&s->body, "constant(%s)\n", literal);
  return *v;
}

static value small_constant(scope *s, indim_type type) {
  char number[20];
  int most = indim_type_bits(type) < 4 ? 2 : 6;
  if (type == INDIM_PRED) {
    return scalar(s, type, chance(s->g->c, 2) ? "true" : "false");
  }
  snprintf(number, sizeof number, is_complex(type) ? "(%d, 1)" : "%d", (int)choose(s->g->c, (uint64_t)most));
  return scalar(s, type, number);
}

static const value *pick_any(scope *s) {
  return &s->values[s->first + (int)choose(s->g->c, (uint64_t)(s->count - s->first))];
}

static value pick(scope *s, bool (*accept)(const value *v)) {
  uint64_t count = (uint64_t)(s->count - s->first);
  uint64_t start = choose(s->g->c, count);
  for (uint64_t i = 0; i < count; i++) {
    const value *v = &s->values[(uint64_t)s->first + (start + i) % count];
    if (accept(v)) {
      return *v;
    }
  }
  return small_constant(s, INDIM_F32);
}

static value pick_exact(scope *s) { return pick(s, is_exact); }

// Conversions that both engines do to the bit.
static value as_type(scope *s, const value *v, indim_type type) {
  if (v->a.type == type) {
    return *v;
  }
  array a = v->a;
  value from = *v;
  if (is_complex(from.a.type) && !is_complex(type)) {
    a.type = indim_type_component_of(from.a.type);
    from = *make(s, &a, chance(s->g->c, 2) ? "real" : "imag", &from, NULL, NULL, "");
    if (a.type == type) {
      return from;
    }
  }
  a.type = type;
  return *make(s, &a, "convert", &from, NULL, NULL, "");
}

// Dimensions of |to| that those of |from| can be; false if it cannot be broadcast.
static bool find_dims(const array *from, const array *to, int64_t *dims) {
  int32_t at = 0;
  for (int32_t i = 0; i < from->rank; i++, at++) {
    while (at < to->rank && to->sizes[at] != from->sizes[i]) {
      at++;
    }
    if (at >= to->rank) {
      return false;
    }
    dims[i] = at;
  }
  return true;
}

static value broadcast_to(scope *s, const value *v, const array *to, const int64_t *dims) {
  char attributes[80] = ", dimensions={";
  array a = *to;
  a.type = v->a.type;
  for (int32_t i = 0; i < v->a.rank; i++) {
    snprintf(attributes + strlen(attributes), 10, "%s%lld", i > 0 ? "," : "", (long long)dims[i]);
  }
  strcat(attributes, "}");
  value *out = make(s, &a, "broadcast", v, NULL, NULL, attributes);
  out->within = v->within;
  out->bits_count = v->bits_count;
  return *out;
}

// An exact value of this type and these sizes.
static value need(scope *s, const array *a) {
  choices *c = s->g->c;
  int64_t dims[PROGRAM_RANK];
  char attributes[40];
  uint64_t count = (uint64_t)(s->count - s->first);
  uint64_t start = choose(c, count);
  bool any = !chance(c, 4);
  for (int way = any ? 0 : 1; way < 3; way++) {
    for (uint64_t i = 0; i < count; i++) {
      const value *v = &s->values[(uint64_t)s->first + (start + i) % count];
      bool same = same_sizes(&v->a, a);
      if (is_exact(v) && (way == 0 ? same && v->a.type == a->type : same || (way == 2 && find_dims(&v->a, a, dims)))) {
        value out = *v;
        if (!same) {
          out = broadcast_to(s, &out, a, dims);
        }
        return as_type(s, &out, a->type);
      }
    }
  }
  if (a->rank > 0 && a->type != INDIM_PRED) {
    snprintf(attributes, sizeof attributes, ", iota_dimension=%d", (int)choose(c, (uint64_t)a->rank));
    return *make(s, a, "iota", NULL, NULL, NULL, attributes);
  }
  value constant = small_constant(s, a->type);
  return a->rank == 0 ? constant : broadcast_to(s, &constant, a, dims);
}

static value need_scalar(scope *s, indim_type type) { return need(s, &(array){.type = type}); }

// The value as small whole numbers, so that sums of a few hundred of them are exact.
static value whole(scope *s, const value *v) {
  if (!is_real(v->a.type)) {
    return *v;
  }
  const char *limit = v->a.type == INDIM_BF16 ? "1" : v->a.type == INDIM_F16 || !is_wide(v->a.type) ? "2" : "8";
  char low[8];
  snprintf(low, sizeof low, "-%s", limit);
  value bottom = scalar(s, v->a.type, low);
  value top = scalar(s, v->a.type, limit);
  value rounded = *make(s, &v->a, "round-nearest-even", v, NULL, NULL, "");
  return *make(s, &v->a, "clamp", &bottom, &rounded, &top, "");
}

// How many products or numbers may be summed in this type.
static int64_t most_summed(indim_type type) {
  if (is_complex(type) || is_int(type) || type == INDIM_PRED || is_wide(type)) {
    return 100000;
  }
  return is_half(type) ? 200 : 0;
}

// Computations -------------------------------------------------------------------------------------------------------

#define ANY_OF(c, list) ((list)[choose((c), sizeof(list) / sizeof *(list))])

// The higher or lower of two floats by TOTALORDER, which looks at the bits of NaNs too.
static const char *const by_order[] = {"higher", "lower"};
static bool is_by_order(const char *op) { return strcmp(op, by_order[0]) == 0 || strcmp(op, by_order[1]) == 0; }

// A computation of two scalars; returns its number (k<number>).
static int combine(generator *g, indim_type type, const char *op) {
  int name = g->names++;
  const char *t = indim_type_text(type);
  text_add(&g->computations, "k%d {\n  x = %s[] parameter(0)\n  y = %s[] parameter(1)\n", name, t, t);
  if (strcmp(op, "last") == 0) {
    text_add(&g->computations, "  ROOT r = %s[] copy(y)\n}\n\n", t);
  } else if (is_by_order(op)) {
    text_add(&g->computations,
             "  p = pred[] compare(x, y), direction=%s, type=TOTALORDER\n  ROOT r = %s[] select(p, x, y)\n}\n\n",
             strcmp(op, "higher") == 0 ? "GT" : "LE", t);
  } else {
    text_add(&g->computations, "  ROOT r = %s[] %s(x, y)\n}\n\n", t, op);
  }
  return name;
}

// "(s32[2], f32[])" of values.
static void add_tuple_shape(text *t, const value *values, int count) {
  text_add(t, "(");
  for (int i = 0; i < count; i++) {
    text_add(t, i > 0 ? ", " : "");
    add_shape(t, &values[i].a);
  }
  text_add(t, ")");
}

static void add_tuple(text *t, const value *values, int count) {
  text_add(t, "tuple(");
  for (int i = 0; i < count; i++) {
    text_add(t, "%sv%d", i > 0 ? ", " : "", values[i].name);
  }
  text_add(t, ")\n");
}

static scope *begin_inner(scope *outer) {
  scope *s = calloc(1, sizeof *s);
  if (s == NULL) {
    abort();
  }
  s->g = outer->g;
  s->depth = outer->depth + 1;
  return s;
}

// The finished computation goes before whatever calls it.
static int end_inner(scope *s) {
  int name = s->g->names++;
  text_add(&s->g->computations, "k%d {\n%s}\n\n", name, s->body.data);
  free(s->body.data);
  free(s);
  return name;
}

// Members of a tuple as values of the scope.
static void open_tuple(scope *s, int tuple, const value *like, int count) {
  for (int i = 0; i < count; i++) {
    new_value(s, &like[i].a);
    text_add(&s->body, "get-tuple-element(v%d), index=%d\n", tuple, i);
  }
}

static int take_carry(scope *s, value *carry, int most) {
  int count = 0;
  int wanted = 1 + (int)choose(s->g->c, (uint64_t)most);
  for (int i = 0; i < wanted; i++) {
    carry[count++] = pick_exact(s);
  }
  return count;
}

static int make_tuple(scope *s, const value *values, int count) {
  int tuple = s->g->names++;
  text_add(&s->body, "  v%d = ", tuple);
  add_tuple_shape(&s->body, values, count);
  text_add(&s->body, " ");
  add_tuple(&s->body, values, count);
  return tuple;
}

static const within exactly = {0};

static value take_result(scope *s, int call, int index, const array *a, within near) {
  value *v = new_value(s, a);
  text_add(&s->body, "get-tuple-element(v%d), index=%d\n", call, index);
  v->within = near;
  return *v;
}

// What is moved stays as near as it was.
static value *moved(value *v, const value *from) {
  v->within = from->within;
  v->bits_count = from->bits_count;
  return v;
}

static value any_indices(scope *s, const array *a, int64_t size) {
  value i = need(s, a);
  if (indim_type_bits(a->type) >= 32 && chance(s->g->c, 2)) {
    char number[30];
    snprintf(number, sizeof number, "%lld", (long long)(size > 0 ? size : 1));
    value modulus = scalar(s, a->type, number);
    value by = a->rank == 0 ? modulus : broadcast_to(s, &modulus, a, NULL);
    i = *make(s, a, "remainder", &i, &by, NULL, "");
  }
  return i;
}

// Steps like those of the program; for the insides of computations.
static void add_steps(scope *s, int steps);

#endif  // INDIM_TESTS_GENERATOR_H
