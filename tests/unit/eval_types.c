// Elementwise ops over every element type: whole types up to 8 bits exhaustively and edge values of the wider ones, held
// against plain C that shares nothing with the evaluator but the float formats' encoding. Each op runs twice, as an
// instruction and inside a computation that map applies.
#include <math.h>

#include "array/element.h"
#include "array/float_format.h"
#include "indim/eval.h"
#include "indim/text.h"
#include "literal_test.h"

enum { MOST = 1 << 16 };

static const indim_type integers[] = {INDIM_S1, INDIM_U1,  INDIM_S2,  INDIM_U2,  INDIM_S4,  INDIM_U4,  INDIM_S8,
                                      INDIM_U8, INDIM_S16, INDIM_U16, INDIM_S32, INDIM_U32, INDIM_S64, INDIM_U64};
static const indim_type floats[] = {
    INDIM_F4E2M1FN,  INDIM_F6E2M3FN,      INDIM_F6E3M2FN,   INDIM_F8E3M4, INDIM_F8E4M3,
    INDIM_F8E4M3FN,  INDIM_F8E4M3B11FNUZ, INDIM_F8E4M3FNUZ, INDIM_F8E5M2, INDIM_F8E5M2FNUZ,
    INDIM_F8E8M0FNU, INDIM_F16,           INDIM_BF16,       INDIM_F32,    INDIM_F64};
#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))

// Elements ------------------------------------------------------------------------------------------------------------

typedef struct sample {
  indim_type type;
  int64_t count;
  indim_element elements[MOST];
} sample;

static uint64_t mask_of(indim_type type) {
  int bits = indim_type_bits(type);
  return bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

static void add_bits(sample *s, uint64_t bits) {
  if (s->count < MOST) {
    s->elements[s->count++] = (indim_element){bits & mask_of(s->type), 0};
  }
}

// All patterns of up to 8 bits, else neighbours of powers of two and of the ends, and some pseudo-random ones.
static void fill_patterns(sample *s, indim_type type) {
  int bits = indim_type_bits(type);
  uint64_t random = 88172645463325252;
  s->type = type;
  s->count = 0;
  if (bits <= 8) {
    for (uint64_t i = 0; i <= mask_of(type); i++) {
      add_bits(s, i);
    }
    return;
  }
  for (int i = 0; i<bits; i += bits> 16 ? 3 : 1) {
    for (int d = -1; d <= 1; d++) {
      add_bits(s, (UINT64_C(1) << i) + (uint64_t)(int64_t)d);
      add_bits(s, ~((UINT64_C(1) << i) + (uint64_t)(int64_t)d));
    }
  }
  for (uint64_t i = 0; i < 12; i++) {
    add_bits(s, i);
    add_bits(s, mask_of(type) - i);
    add_bits(s, (mask_of(type) >> 1) - 4 + i);
  }
  for (int i = 0; i < 60; i++) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    add_bits(s, random);
  }
}

// All pairs of the patterns of a type; |*x| and |*y| of the same length.
static void fill_pairs(sample *x, sample *y, indim_type type) {
  static sample all;
  fill_patterns(&all, type);
  x->type = y->type = type;
  x->count = y->count = 0;
  for (int64_t i = 0; i < all.count; i++) {
    for (int64_t j = 0; j < all.count; j++) {
      add_bits(x, all.elements[i].bits);
      add_bits(y, all.elements[j].bits);
    }
  }
}

// Running -------------------------------------------------------------------------------------------------------------

static indim_status literal_of(indim_ctx *cx, const indim_shape *shape, const sample *s, indim_literal **out) {
  static unsigned char dense[MOST * 16];
  int64_t bytes = indim_type_bytes(shape->type);
  for (int64_t i = 0; i < s->count; i++) {
    indim_element_store(shape->type, 8 * bytes, dense, i, s->elements[i]);
  }
  indim_status status = indim_literal_create(cx, shape, out);
  return status != INDIM_OK ? status : indim_literal_write_dense(cx, *out, dense, s->count * bytes);
}

static bool run(const char *text, const sample *const *inputs, int count, sample *out) {
  static unsigned char dense[MOST * 16];
  indim_ctx *cx = test_cx_new();
  indim_module *module = NULL;
  indim_literal *arguments[2] = {NULL, NULL};
  indim_literal *result = NULL;
  indim_status status = indim_module_parse(cx, indim_str_of("p"), indim_str_of(text), &module);
  status = status == INDIM_OK ? indim_module_verify(cx, module) : status;
  for (int i = 0; status == INDIM_OK && i < count; i++) {
    const indim_instr *parameter = indim_computation_parameter(indim_module_entry(module), i);
    status = literal_of(cx, indim_instr_shape(parameter), inputs[i], &arguments[i]);
  }
  if (status == INDIM_OK) {
    status = indim_eval(cx, module, (const indim_literal *const *)arguments, count, NULL, &result);
  }
  if (status == INDIM_OK) {
    int64_t bytes = indim_type_bytes(indim_literal_shape(result)->type);
    out->type = indim_literal_shape(result)->type;
    out->count = indim_shape_element_count(indim_literal_shape(result));
    status = indim_literal_read_dense(cx, result, dense, out->count * bytes);
    for (int64_t i = 0; i < out->count; i++) {
      out->elements[i] = indim_element_load(out->type, 8 * bytes, dense, i);
    }
  }
  CHECK_MSG(status == INDIM_OK, "%s\n%s", text, test_message(cx));
  indim_literal_destroy(arguments[0]);
  indim_literal_destroy(arguments[1]);
  indim_literal_destroy(result);
  indim_module_destroy(module);
  test_cx_free(cx);
  return status == INDIM_OK;
}

// |attributes| begins with ", " or is empty.
static bool run_op(const char *op, const char *attributes, indim_type to, const sample *x, const sample *y, bool mapped,
                   sample *out) {
  char text[2000];
  const char *from = indim_type_text(x->type);
  const char *second = y == NULL ? "" : indim_type_text(y->type);
  const char *result = indim_type_text(to);
  long long n = x->count;
  const sample *const inputs[] = {x, y};
  const char *both = y == NULL ? "p" : "p, q";
  int used = snprintf(text, sizeof text, "HloModule m\n");
  if (mapped) {
    used += snprintf(text + used, sizeof text - (size_t)used, "f { p = %s[] parameter(0)\n", from);
    if (y != NULL) {
      used += snprintf(text + used, sizeof text - (size_t)used, "  q = %s[] parameter(1)\n", second);
    }
    used +=
        snprintf(text + used, sizeof text - (size_t)used, "  ROOT r = %s[] %s(%s)%s }\n", result, op, both, attributes);
  }
  used += snprintf(text + used, sizeof text - (size_t)used, "ENTRY e { p = %s[%lld] parameter(0)\n", from, n);
  if (y != NULL) {
    used += snprintf(text + used, sizeof text - (size_t)used, "  q = %s[%lld] parameter(1)\n", second, n);
  }
  snprintf(text + used, sizeof text - (size_t)used, "  ROOT r = %s[%lld] %s(%s)%s }\n", result, n, mapped ? "map" : op,
           both, mapped ? ", dimensions={0}, to_apply=f" : attributes);
  return run(text, inputs, y == NULL ? 1 : 2, out);
}

// Integers --------------------------------------------------------------------------------------------------------------

static bool is_signed(indim_type type) { return indim_type_is_signed_int(type); }

static int64_t value_of(indim_type type, uint64_t bits) {
  uint64_t top = (mask_of(type) >> 1) + 1;
  return is_signed(type) && (bits & top) != 0 ? -(int64_t)(mask_of(type) - bits) - 1 : (int64_t)bits;
}

static bool int_less(indim_type type, uint64_t x, uint64_t y) {
  return is_signed(type) ? value_of(type, x) < value_of(type, y) : x < y;
}

static uint64_t int_magnitude(indim_type type, uint64_t x) {
  return is_signed(type) && value_of(type, x) < 0 ? 0 - (uint64_t)value_of(type, x) : x;
}

// By schoolbook: multiply one at a time would take too long, so by binary digits of the exponent, least first.
static uint64_t int_power(indim_type type, uint64_t x, uint64_t y) {
  if (is_signed(type) && value_of(type, y) < 0) {
    return value_of(type, x) == 1;
  }
  uint64_t result = 1;
  for (int i = 63; i >= 0; i--) {
    result = result * result * ((y >> i & 1) != 0 ? x : 1);
  }
  return result;
}

typedef uint64_t int_fn(indim_type type, uint64_t x, uint64_t y);

static uint64_t ref_add(indim_type t, uint64_t x, uint64_t y) { return (void)t, x + y; }
static uint64_t ref_subtract(indim_type t, uint64_t x, uint64_t y) { return (void)t, x - y; }
static uint64_t ref_multiply(indim_type t, uint64_t x, uint64_t y) { return (void)t, x * y; }
static uint64_t ref_and(indim_type t, uint64_t x, uint64_t y) { return (void)t, x & y; }
static uint64_t ref_or(indim_type t, uint64_t x, uint64_t y) { return (void)t, x | y; }
static uint64_t ref_xor(indim_type t, uint64_t x, uint64_t y) { return (void)t, x ^ y; }
static uint64_t ref_maximum(indim_type t, uint64_t x, uint64_t y) { return int_less(t, x, y) ? y : x; }
static uint64_t ref_minimum(indim_type t, uint64_t x, uint64_t y) { return int_less(t, x, y) ? x : y; }

// By magnitudes, so that no case overflows.
static uint64_t ref_divide(indim_type t, uint64_t x, uint64_t y) {
  if (y == 0) {
    return UINT64_MAX;
  }
  uint64_t quotient = int_magnitude(t, x) / int_magnitude(t, y);
  bool negative = is_signed(t) && (value_of(t, x) < 0) != (value_of(t, y) < 0);
  return negative ? 0 - quotient : quotient;
}

static uint64_t ref_remainder(indim_type t, uint64_t x, uint64_t y) {
  if (y == 0) {
    return x;
  }
  uint64_t rest = int_magnitude(t, x) % int_magnitude(t, y);
  return is_signed(t) && value_of(t, x) < 0 ? 0 - rest : rest;
}

static uint64_t ref_shift_left(indim_type t, uint64_t x, uint64_t y) {
  for (uint64_t i = 0; i < y && i < 64; i++) {
    x += x;
  }
  return (void)t, x;
}

static uint64_t ref_shift_right_logical(indim_type t, uint64_t x, uint64_t y) {
  for (uint64_t i = 0; i < y && i < 64; i++) {
    x /= 2;
  }
  return (void)t, x;
}

static uint64_t ref_shift_right_arithmetic(indim_type t, uint64_t x, uint64_t y) {
  uint64_t top = (mask_of(t) >> 1) + 1;
  for (uint64_t i = 0; i < y && i < 64; i++) {
    x = x / 2 + (x & top);
  }
  return x;
}

static uint64_t ref_equal(indim_type t, uint64_t x, uint64_t y) { return (void)t, x == y; }
static uint64_t ref_not_equal(indim_type t, uint64_t x, uint64_t y) { return (void)t, x != y; }
static uint64_t ref_less(indim_type t, uint64_t x, uint64_t y) { return int_less(t, x, y); }
static uint64_t ref_greater(indim_type t, uint64_t x, uint64_t y) { return int_less(t, y, x); }
static uint64_t ref_less_equal(indim_type t, uint64_t x, uint64_t y) { return !int_less(t, y, x); }
static uint64_t ref_greater_equal(indim_type t, uint64_t x, uint64_t y) { return !int_less(t, x, y); }

static uint64_t ref_negate(indim_type t, uint64_t x, uint64_t y) { return (void)t, (void)y, 0 - x; }
static uint64_t ref_not(indim_type t, uint64_t x, uint64_t y) { return (void)t, (void)y, ~x; }
static uint64_t ref_abs(indim_type t, uint64_t x, uint64_t y) { return (void)y, int_magnitude(t, x); }
static uint64_t ref_sign(indim_type t, uint64_t x, uint64_t y) {
  return (void)y, x == 0 ? 0 : is_signed(t) && value_of(t, x) < 0 ? UINT64_MAX : 1;
}
static uint64_t ref_popcnt(indim_type t, uint64_t x, uint64_t y) {
  uint64_t count = 0;
  for (int i = 0; i < indim_type_bits(t); i++) {
    count += x >> i & 1;
  }
  return (void)y, count;
}
static uint64_t ref_clz(indim_type t, uint64_t x, uint64_t y) {
  int i = indim_type_bits(t);
  while (i > 0 && (x >> (i - 1) & 1) == 0) {
    i--;
  }
  return (void)y, (uint64_t)(indim_type_bits(t) - i);
}

typedef struct int_case {
  const char *op;
  const char *attributes;
  int_fn *reference;
  bool unary;
  bool only_signed;
  bool is_test;  // gives a pred
} int_case;

static const int_case int_cases[] = {
    {"add", "", ref_add, false, false, false},
    {"subtract", "", ref_subtract, false, false, false},
    {"multiply", "", ref_multiply, false, false, false},
    {"divide", "", ref_divide, false, false, false},
    {"remainder", "", ref_remainder, false, false, false},
    {"power", "", int_power, false, false, false},
    {"maximum", "", ref_maximum, false, false, false},
    {"minimum", "", ref_minimum, false, false, false},
    {"and", "", ref_and, false, false, false},
    {"or", "", ref_or, false, false, false},
    {"xor", "", ref_xor, false, false, false},
    {"shift-left", "", ref_shift_left, false, false, false},
    {"shift-right-logical", "", ref_shift_right_logical, false, false, false},
    {"shift-right-arithmetic", "", ref_shift_right_arithmetic, false, false, false},
    {"compare", ", direction=EQ", ref_equal, false, false, true},
    {"compare", ", direction=NE", ref_not_equal, false, false, true},
    {"compare", ", direction=LT", ref_less, false, false, true},
    {"compare", ", direction=GT", ref_greater, false, false, true},
    {"compare", ", direction=LE", ref_less_equal, false, false, true},
    {"compare", ", direction=GE", ref_greater_equal, false, false, true},
    {"negate", "", ref_negate, true, false, false},
    {"not", "", ref_not, true, false, false},
    {"popcnt", "", ref_popcnt, true, false, false},
    {"count-leading-zeros", "", ref_clz, true, false, false},
    {"abs", "", ref_abs, true, true, false},
    {"sign", "", ref_sign, true, true, false},
};

static sample first;
static sample second;
static sample actual;

static void check_int_case(const int_case *c, bool mapped) {
  indim_type to = c->is_test ? INDIM_PRED : first.type;
  if (!run_op(c->op, c->attributes, to, &first, c->unary ? NULL : &second, mapped, &actual)) {
    return;
  }
  CHECK_EQ_INT(actual.count, first.count);
  for (int64_t i = 0; i < first.count; i++) {
    uint64_t x = first.elements[i].bits;
    uint64_t y = second.elements[i].bits;
    uint64_t expected = c->reference(first.type, x, y) & mask_of(to);
    if (actual.elements[i].bits != expected) {
      CHECK_MSG(false, "%s%s %s of %" PRIx64 ", %" PRIx64 " is %" PRIx64 ", expected %" PRIx64, c->op, c->attributes,
                indim_type_text(first.type), x, y, actual.elements[i].bits, expected);
      return;
    }
  }
}

TEST(integers_of_every_width) {
  for (int t = 0; t < COUNT(integers); t++) {
    fill_pairs(&first, &second, integers[t]);
    for (int c = 0; c < COUNT(int_cases); c++) {
      if (!int_cases[c].only_signed || is_signed(integers[t])) {
        check_int_case(&int_cases[c], false);
        check_int_case(&int_cases[c], true);
      }
    }
  }
}

TEST(pred) {
  static const struct {
    const char *op;
    const char *attributes;
    unsigned table;  // bit 2 * x + y
  } cases[] = {
      {"add", "", 0xE},
      {"multiply", "", 0x8},
      {"and", "", 0x8},
      {"or", "", 0xE},
      {"xor", "", 0x6},
      {"maximum", "", 0xE},
      {"minimum", "", 0x8},
      {"compare", ", direction=EQ", 0x9},
      {"compare", ", direction=NE", 0x6},
      {"compare", ", direction=LT", 0x2},
      {"compare", ", direction=GT", 0x4},
      {"compare", ", direction=LE", 0xB},
      {"compare", ", direction=GE", 0xD},
  };
  fill_pairs(&first, &second, INDIM_PRED);
  for (int c = 0; c < COUNT(cases); c++) {
    for (int mapped = 0; mapped < 2; mapped++) {
      REQUIRE(run_op(cases[c].op, cases[c].attributes, INDIM_PRED, &first, &second, mapped != 0, &actual));
      for (int64_t i = 0; i < 4; i++) {
        uint64_t at = 2 * first.elements[i].bits + second.elements[i].bits;
        CHECK_MSG(actual.elements[i].bits == (cases[c].table >> at & 1), "%s%s of %d", cases[c].op, cases[c].attributes,
                  (int)at);
      }
    }
  }
  REQUIRE(run_op("not", "", INDIM_PRED, &first, NULL, false, &actual));
  CHECK(actual.elements[0].bits == 1 && actual.elements[3].bits == 0);
}

// Floats ----------------------------------------------------------------------------------------------------------------

typedef double float_fn(double x, double y);

// Types up to f32 are computed in f32, the plain way.
static double in_f32_add(double x, double y) { return (double)((float)x + (float)y); }
static double in_f32_subtract(double x, double y) { return (double)((float)x - (float)y); }
static double in_f32_multiply(double x, double y) { return (double)((float)x * (float)y); }
static double in_f32_divide(double x, double y) { return (double)((float)x / (float)y); }
static double in_f32_remainder(double x, double y) { return (double)fmodf((float)x, (float)y); }
static double in_f32_sqrt(double x, double y) { return (void)y, (double)sqrtf((float)x); }
static double in_f64_add(double x, double y) { return x + y; }
static double in_f64_subtract(double x, double y) { return x - y; }
static double in_f64_multiply(double x, double y) { return x * y; }
static double in_f64_divide(double x, double y) { return x / y; }
static double in_f64_remainder(double x, double y) { return fmod(x, y); }
static double in_f64_sqrt(double x, double y) { return (void)y, sqrt(x); }
static double ref_fmax(double x, double y) { return x != x || y != y ? (double)NAN : x >= y ? x : y; }
static double ref_fmin(double x, double y) { return x != x || y != y ? (double)NAN : x <= y ? x : y; }
static double ref_fabs(double x, double y) { return (void)y, signbit(x) ? -x : x; }
static double ref_fnegate(double x, double y) { return (void)y, -x; }
static double ref_floor(double x, double y) { return (void)y, floor(x); }
static double ref_ceil(double x, double y) { return (void)y, ceil(x); }
static double ref_round(double x, double y) { return (void)y, round(x); }
static double ref_even(double x, double y) { return (void)y, nearbyint(x); }
static double ref_fsign(double x, double y) { return (void)y, x > 0 ? 1 : x < 0 ? -1 : x; }

static const struct {
  const char *op;
  float_fn *narrow;  // f32 and narrower
  float_fn *wide;
  bool unary;
} float_cases[] = {
    {"add", in_f32_add, in_f64_add, false},
    {"subtract", in_f32_subtract, in_f64_subtract, false},
    {"multiply", in_f32_multiply, in_f64_multiply, false},
    {"divide", in_f32_divide, in_f64_divide, false},
    {"remainder", in_f32_remainder, in_f64_remainder, false},
    {"maximum", ref_fmax, ref_fmax, false},
    {"minimum", ref_fmin, ref_fmin, false},
    {"sqrt", in_f32_sqrt, in_f64_sqrt, true},
    {"abs", ref_fabs, ref_fabs, true},
    {"negate", ref_fnegate, ref_fnegate, true},
    {"floor", ref_floor, ref_floor, true},
    {"ceil", ref_ceil, ref_ceil, true},
    {"round-nearest-afz", ref_round, ref_round, true},
    {"round-nearest-even", ref_even, ref_even, true},
    {"sign", ref_fsign, ref_fsign, true},
    {"copy", ref_fabs, ref_fabs, true},
};

static bool is_nan_bits(indim_type type, uint64_t bits) { return isnan(indim_float_decode(type, bits)) != 0; }

// The products and quotients of f8e8m0fnu leave the range of f32; rounded once, they end at 2^-127 and NaN.
static void check_float_case(int c, bool mapped) {
  indim_type type = first.type;
  bool wide = type == INDIM_F64 || type == INDIM_F8E8M0FNU;
  float_fn *reference = wide ? float_cases[c].wide : float_cases[c].narrow;
  bool copies = strcmp(float_cases[c].op, "copy") == 0;
  if (!run_op(float_cases[c].op, "", type, &first, float_cases[c].unary ? NULL : &second, mapped, &actual)) {
    return;
  }
  for (int64_t i = 0; i < first.count; i++) {
    uint64_t x = first.elements[i].bits;
    uint64_t y = second.elements[i].bits;
    double value = reference(indim_float_decode(type, x), indim_float_decode(type, y));
    uint64_t expected = copies ? x : indim_float_encode(type, value);
    uint64_t got = actual.elements[i].bits;
    if (got != expected && !(is_nan_bits(type, got) && is_nan_bits(type, expected))) {
      // A NaN in a type that has none becomes a zero of a sign that is nobody's concern.
      if (isnan(value) && indim_float_decode(type, got) == 0) {
        continue;
      }
      CHECK_MSG(false, "%s %s of %" PRIx64 ", %" PRIx64 " is %" PRIx64 ", expected %" PRIx64, float_cases[c].op,
                indim_type_text(type), x, y, got, expected);
      return;
    }
  }
}

TEST(floats_of_every_type) {
  for (int t = 0; t < COUNT(floats); t++) {
    fill_pairs(&first, &second, floats[t]);
    for (int c = 0; c < COUNT(float_cases); c++) {
      check_float_case(c, false);
      check_float_case(c, true);
    }
  }
}

// FLOAT order by the values, total order by sorting patterns with the definition at hand.
static int64_t order_key(indim_type type, uint64_t bits) {
  const indim_float_format *format = indim_float_format_of(type);
  int64_t magnitude = (int64_t)(bits & (mask_of(type) >> 1));
  if (!format->has_sign) {
    return (int64_t)bits;
  }
  if (bits == (bits & (mask_of(type) >> 1))) {
    return magnitude;
  }
  bool fnuz = strstr(indim_type_text(type), "fnuz") != NULL;
  return fnuz ? (magnitude == 0 ? -128 : -magnitude) : -magnitude - 1;
}

TEST(orders_of_floats) {
  static const char *const directions[] = {"EQ", "NE", "LT", "GT", "LE", "GE"};
  for (int t = 0; t < COUNT(floats); t++) {
    fill_pairs(&first, &second, floats[t]);
    for (int k = 0; k < 12; k++) {
      char attributes[60];
      int d = k % 6;
      bool total = k >= 6;
      snprintf(attributes, sizeof attributes, ", direction=%s%s", directions[d], total ? ", type=TOTALORDER" : "");
      REQUIRE(run_op("compare", attributes, INDIM_PRED, &first, &second, false, &actual));
      for (int64_t i = 0; i < first.count; i++) {
        uint64_t a = first.elements[i].bits;
        uint64_t b = second.elements[i].bits;
        double x = indim_float_decode(floats[t], a);
        double y = indim_float_decode(floats[t], b);
        if (total) {
          int64_t p = order_key(floats[t], a);
          int64_t q = order_key(floats[t], b);
          x = p < q ? 0 : p > q ? 2 : 1;
          y = 1;
        }
        const bool expected[] = {x == y, x != y, x<y, x> y, x <= y, x >= y};
        if (actual.elements[i].bits != expected[d]) {
          CHECK_MSG(false, "%s%s of %" PRIx64 ", %" PRIx64, indim_type_text(floats[t]), attributes, a, b);
          break;
        }
      }
    }
  }
}

TEST(is_finite) {
  for (int t = 0; t < COUNT(floats); t++) {
    fill_patterns(&first, floats[t]);
    REQUIRE(run_op("is-finite", "", INDIM_PRED, &first, NULL, false, &actual));
    for (int64_t i = 0; i < first.count; i++) {
      double x = indim_float_decode(floats[t], first.elements[i].bits);
      CHECK_EQ_UINT(actual.elements[i].bits, x - x == 0);
    }
  }
}

// Conversions -----------------------------------------------------------------------------------------------------------

// Literals convert by code of their own; the two must agree for all pairs of types.
static void check_convert(indim_type to, bool mapped) {
  if (!run_op("convert", "", to, &first, NULL, mapped, &actual)) {
    return;
  }
  bool float_to = indim_type_is_float(to);
  for (int64_t i = 0; i < first.count; i++) {
    indim_element expected = indim_element_convert(first.type, to, first.elements[i]);
    indim_element got = actual.elements[i];
    bool both_nan = float_to && is_nan_bits(to, got.bits) && is_nan_bits(to, expected.bits);
    if (!both_nan && (got.bits != expected.bits || got.imag != expected.imag)) {
      CHECK_MSG(false, "%s %" PRIx64 " to %s is %" PRIx64 ", expected %" PRIx64, indim_type_text(first.type),
                first.elements[i].bits, indim_type_text(to), got.bits, expected.bits);
      return;
    }
  }
}

TEST(convert_between_all_types) {
  indim_type types[COUNT(integers) + COUNT(floats) + 1];
  int count = 0;
  for (int t = 0; t < COUNT(integers); t++) {
    types[count++] = integers[t];
  }
  for (int t = 0; t < COUNT(floats); t++) {
    types[count++] = floats[t];
  }
  types[count++] = INDIM_PRED;
  for (int f = 0; f < count; f++) {
    fill_patterns(&first, types[f]);
    for (int t = 0; t < count; t++) {
      check_convert(types[t], false);
      check_convert(types[t], true);
    }
  }
}

// RNE around rounding boundaries, from 64-bit integers straight to f32.
TEST(convert_rounds_once) {
  static const int64_t values[] = {0x0007FB72E4000000, 0x0007FB72E4000001, 0x0007FB72E7FFFFFF, 0x0007FB72E8000000,
                                   0x4000004000000001, 0x4000004000000000, INT64_MAX,          INT64_MIN,
                                   16777217,           -16777219};
  first.type = INDIM_S64;
  first.count = 0;
  for (int i = 0; i < COUNT(values); i++) {
    add_bits(&first, (uint64_t)values[i]);
  }
  REQUIRE(run_op("convert", "", INDIM_F32, &first, NULL, false, &actual));
  for (int i = 0; i < COUNT(values); i++) {
    float expected = (float)values[i];
    uint32_t bits;
    memcpy(&bits, &expected, sizeof bits);
    CHECK_EQ_UINT(actual.elements[i].bits, bits);
  }
  // 1 + 2^-11 + 2^-40 is above the middle of two f16; by way of f32 it would become the middle.
  double value = 1 + ldexp(1, -11) + ldexp(1, -40);
  first.type = INDIM_F64;
  first.count = 1;
  memcpy(&first.elements[0].bits, &value, sizeof value);
  REQUIRE(run_op("convert", "", INDIM_F16, &first, NULL, false, &actual));
  CHECK_EQ_UINT(actual.elements[0].bits, 0x3C01);
}

// reduce-precision ------------------------------------------------------------------------------------------------------

// The nearest value of a format with e exponent and m mantissa bits, by arithmetic instead of bits.
static double reduced(double x, int e, int m) {
  int exponent = 0;
  if (isnan(x) || isinf(x) || x == 0) {
    return x;
  }
  (void)frexp(x, &exponent);  // 0.1xxx * 2^exponent
  double unit = ldexp(1, exponent - 1 - m);
  double rounded = nearbyint(x / unit) * unit;
  (void)frexp(rounded, &exponent);
  int reach = (1 << (e - 1)) - 1;
  if (exponent - 1 > reach) {
    return rounded > 0 ? HUGE_VAL : -HUGE_VAL;
  }
  return exponent - 1 <= -reach ? copysign(0, rounded) : rounded;
}

TEST(reduce_precision_of_normal_numbers) {
  static const int sizes[][2] = {{5, 10}, {5, 2}, {4, 3}, {2, 1}, {3, 7}, {8, 7}, {1, 0}, {5, 0}};
  static const indim_type types[] = {INDIM_F16, INDIM_BF16, INDIM_F32, INDIM_F64};
  for (int t = 0; t < COUNT(types); t++) {
    const indim_float_format *format = indim_float_format_of(types[t]);
    fill_patterns(&first, types[t]);
    for (int s = 0; s < COUNT(sizes); s++) {
      char attributes[80];
      int e = sizes[s][0];
      int m = sizes[s][1];
      snprintf(attributes, sizeof attributes, ", exponent_bits=%d, mantissa_bits=%d", e, m);
      for (int mapped = 0; mapped < 2; mapped++) {
        REQUIRE(run_op("reduce-precision", attributes, types[t], &first, NULL, mapped != 0, &actual));
        for (int64_t i = 0; i < first.count; i++) {
          uint64_t bits = first.elements[i].bits;
          uint64_t magnitude = bits & ~format->sign_bit;
          if (magnitude < format->min_normal_bits || e >= format->exponent_bits || m > format->mantissa_bits) {
            continue;  // bit patterns of subnormals round at another place; nothing to cut
          }
          double x = indim_float_decode(types[t], bits);
          uint64_t expected =
              isnan(x) ? (m > 0 ? bits : format->infinity_bits) : indim_float_encode(types[t], reduced(x, e, m));
          bool both_nan = isnan(x) && mapped != 0 && m > 0 && is_nan_bits(types[t], actual.elements[i].bits);
          if (actual.elements[i].bits != expected && !both_nan) {
            CHECK_MSG(false, "%s %" PRIx64 " to (%d,%d) is %" PRIx64 ", expected %" PRIx64, indim_type_text(types[t]),
                      bits, e, m, actual.elements[i].bits, expected);
            break;
          }
        }
      }
    }
  }
}

// Formats without infinity or with their only NaN in the way: rounding up must not run into the sign.
TEST(reduce_precision_overflows_as_the_type_does) {
  static const struct {
    indim_type type;
    uint64_t bits;
    uint64_t expected;
  } cases[] = {
      {INDIM_F8E4M3FN, 0x7E, 0x7F},    // 448 to one mantissa bit is 512: NaN
      {INDIM_F8E4M3FN, 0xFE, 0xFF},    // its negative
      {INDIM_F8E4M3FNUZ, 0x7F, 0x80},  // 240 -> 256: NaN
      {INDIM_F4E2M1FN, 0x5, 0x4},      // 3 to no mantissa bit is the middle of 2 and 4; the exponent of 2 is even
      {INDIM_F4E2M1FN, 0x7, 0x7},      // 6 -> 8, which saturates
      {INDIM_F8E5M2, 0x7B, 0x7C},      // 57344 -> inf
  };
  for (int c = 0; c < COUNT(cases); c++) {
    int m = cases[c].type == INDIM_F8E4M3FN || cases[c].type == INDIM_F8E4M3FNUZ ? 1 : 0;
    char attributes[80];
    snprintf(attributes, sizeof attributes, ", exponent_bits=%d, mantissa_bits=%d", 8, m);
    first.type = cases[c].type;
    first.count = 0;
    add_bits(&first, cases[c].bits);
    REQUIRE(run_op("reduce-precision", attributes, first.type, &first, NULL, false, &actual));
    CHECK_MSG(actual.elements[0].bits == cases[c].expected, "%s %" PRIx64 " is %" PRIx64 ", expected %" PRIx64,
              indim_type_text(first.type), cases[c].bits, actual.elements[0].bits, cases[c].expected);
  }
}

// stochastic-convert ----------------------------------------------------------------------------------------------------

// Over all random numbers of a width the average is the value itself: as many of them round up as the fraction says.
TEST(stochastic_convert_rounds_as_often_as_it_should) {
  static const indim_type types[] = {INDIM_S1, INDIM_S2, INDIM_S4, INDIM_S8, INDIM_S16, INDIM_S32, INDIM_S64};
  static const double values[] = {0, 0.25, -0.25, 1.5, -1.75, 6.875, -7.5, 100.0625, 127.5, -127.5, -128.5, 3e4, -1e9};
  for (int t = 0; t < COUNT(types); t++) {
    int64_t most = (int64_t)(mask_of(types[t]) >> 1);
    for (int v = 0; v < COUNT(values); v++) {
      first.type = INDIM_F16;
      second.type = INDIM_U16;
      first.count = second.count = 0;
      double x = indim_float_decode(INDIM_F16, indim_float_encode(INDIM_F16, values[v]));
      for (int i = 0; i < 256; i++) {
        add_bits(&first, indim_float_encode(INDIM_F16, values[v]));
        add_bits(&second, (uint64_t)i * 256);
      }
      REQUIRE(run_op("stochastic-convert", "", types[t], &first, &second, false, &actual));
      double fraction = fabs(x) - floor(fabs(x));
      for (int i = 0; i < 256; i++) {
        double magnitude = floor(fabs(x)) + (i < fraction * 256 ? 1 : 0);
        double expected = isinf(x) || (x >= 0 && magnitude > (double)most) ? (x > 0 ? (double)most : -(double)most - 1)
                          : magnitude > (double)most                       ? -(double)most - 1
                                                                           : copysign(magnitude, x);
        int64_t got = value_of(types[t], actual.elements[i].bits);
        if (got != (int64_t)expected) {
          CHECK_MSG(false, "%g to %s with %d/256 is %" PRId64 ", expected %g", x, indim_type_text(types[t]), i, got,
                    expected);
          break;
        }
      }
    }
  }
}

#define CASES(X)                                 \
  X(integers_of_every_width)                     \
  X(pred)                                        \
  X(floats_of_every_type)                        \
  X(orders_of_floats)                            \
  X(is_finite)                                   \
  X(convert_between_all_types)                   \
  X(convert_rounds_once)                         \
  X(reduce_precision_of_normal_numbers)          \
  X(reduce_precision_overflows_as_the_type_does) \
  X(stochastic_convert_rounds_as_often_as_it_should)
TEST_MAIN(CASES)
