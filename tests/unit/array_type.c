// Element types: their table, names, predicates, and the two orders between types.
#include "test.h"

#include <math.h>

#include "array/float_format.h"
#include "indim/type.h"

typedef struct row {
  indim_type type;
  const char *text;
  const char *name;
  int bits;
  int bytes;
  char class;  // I invalid, P pred, S signed, U unsigned, F float, C complex, - no array
} row;

static const row rows[] = {
    {INDIM_TYPE_INVALID, "primitive_type_invalid", "PRIMITIVE_TYPE_INVALID", 0, 0, 'I'},
    {INDIM_PRED, "pred", "PRED", 1, 1, 'P'},
    {INDIM_S8, "s8", "S8", 8, 1, 'S'},
    {INDIM_S16, "s16", "S16", 16, 2, 'S'},
    {INDIM_S32, "s32", "S32", 32, 4, 'S'},
    {INDIM_S64, "s64", "S64", 64, 8, 'S'},
    {INDIM_U8, "u8", "U8", 8, 1, 'U'},
    {INDIM_U16, "u16", "U16", 16, 2, 'U'},
    {INDIM_U32, "u32", "U32", 32, 4, 'U'},
    {INDIM_U64, "u64", "U64", 64, 8, 'U'},
    {INDIM_F16, "f16", "F16", 16, 2, 'F'},
    {INDIM_F32, "f32", "F32", 32, 4, 'F'},
    {INDIM_F64, "f64", "F64", 64, 8, 'F'},
    {INDIM_TUPLE, "tuple", "TUPLE", 0, 0, '-'},
    {INDIM_OPAQUE, "opaque", "OPAQUE_TYPE", 0, 0, '-'},
    {INDIM_C64, "c64", "C64", 64, 8, 'C'},
    {INDIM_BF16, "bf16", "BF16", 16, 2, 'F'},
    {INDIM_TOKEN, "token", "TOKEN", 0, 0, '-'},
    {INDIM_C128, "c128", "C128", 128, 16, 'C'},
    {INDIM_F8E5M2, "f8e5m2", "F8E5M2", 8, 1, 'F'},
    {INDIM_F8E4M3FN, "f8e4m3fn", "F8E4M3FN", 8, 1, 'F'},
    {INDIM_S4, "s4", "S4", 4, 1, 'S'},
    {INDIM_U4, "u4", "U4", 4, 1, 'U'},
    {INDIM_F8E4M3B11FNUZ, "f8e4m3b11fnuz", "F8E4M3B11FNUZ", 8, 1, 'F'},
    {INDIM_F8E5M2FNUZ, "f8e5m2fnuz", "F8E5M2FNUZ", 8, 1, 'F'},
    {INDIM_F8E4M3FNUZ, "f8e4m3fnuz", "F8E4M3FNUZ", 8, 1, 'F'},
    {INDIM_S2, "s2", "S2", 2, 1, 'S'},
    {INDIM_U2, "u2", "U2", 2, 1, 'U'},
    {INDIM_F8E4M3, "f8e4m3", "F8E4M3", 8, 1, 'F'},
    {INDIM_F8E3M4, "f8e3m4", "F8E3M4", 8, 1, 'F'},
    {INDIM_S1, "s1", "S1", 1, 1, 'S'},
    {INDIM_U1, "u1", "U1", 1, 1, 'U'},
    {INDIM_F4E2M1FN, "f4e2m1fn", "F4E2M1FN", 4, 1, 'F'},
    {INDIM_F8E8M0FNU, "f8e8m0fnu", "F8E8M0FNU", 8, 1, 'F'},
    {INDIM_BUFFER, "buffer", "BUFFER", 0, 0, '-'},
    {INDIM_F6E3M2FN, "f6e3m2fn", "F6E3M2FN", 6, 1, 'F'},
    {INDIM_F6E2M3FN, "f6e2m3fn", "F6E2M3FN", 6, 1, 'F'},
};

enum { ROWS = sizeof rows / sizeof rows[0] };

TEST(table_1_1) {
  CHECK_EQ_INT(ROWS, INDIM_TYPE_COUNT);
  for (int i = 0; i < ROWS; i++) {
    const row *r = &rows[i];
    CHECK_EQ_INT(r->type, i);  // the numbers of the wire format, in order
    CHECK_EQ_STR(indim_type_text(r->type), r->text);
    CHECK_EQ_STR(indim_type_name(r->type), r->name);
    CHECK_EQ_INT(indim_type_bits(r->type), r->bits);
    CHECK_EQ_INT(indim_type_bytes(r->type), r->bytes);
    CHECK_EQ_INT(indim_type_is_array(r->type), strchr("PSUFC", r->class) != NULL);
    CHECK_EQ_INT(indim_type_is_signed_int(r->type), r->class == 'S');
    CHECK_EQ_INT(indim_type_is_unsigned_int(r->type), r->class == 'U');
    CHECK_EQ_INT(indim_type_is_integral(r->type), r->class == 'S' || r->class == 'U');
    CHECK_EQ_INT(indim_type_is_float(r->type), r->class == 'F');
    CHECK_EQ_INT(indim_type_is_complex(r->type), r->class == 'C');
    CHECK_EQ_INT(indim_type_is_sub_byte(r->type), r->bits > 0 && r->bits < 8 && r->class != 'P');
  }
}

TEST(numbers_that_are_no_type) {
  static const int numbers[] = {-1, 37, 2000, INT32_MIN, INT32_MAX};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    indim_type type = (indim_type)numbers[i];
    CHECK_EQ_STR(indim_type_text(type), "primitive_type_invalid");
    CHECK(!indim_type_is_array(type));
    CHECK_EQ_INT(indim_type_bits(type), 0);
    CHECK(!indim_type_cast_preserves_values(type, INDIM_F32));
    CHECK(!indim_type_cast_preserves_values(INDIM_F32, type));
  }
}

TEST(E34_names_of_types) {
  for (int i = 1; i < ROWS; i++) {
    indim_type type = INDIM_TYPE_INVALID;
    CHECK_MSG(indim_type_parse(indim_str_of(rows[i].text), &type) && type == rows[i].type, "E34: %s", rows[i].text);
  }
}

TEST(E35_no_names) {
  static const char *const texts[] = {"F32", "Pred", "preD", "opaque_type", "", "primitive_type_invalid",
                                      "f3",  "f322", "s3 "};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    indim_type type = INDIM_F64;
    CHECK_MSG(!indim_type_parse(indim_str_of(texts[i]), &type) && type == INDIM_F64, "E35: '%s'", texts[i]);
  }
}

TEST(E36_float_facts) {
  const indim_float_format *f32 = indim_float_format_of(INDIM_F32);
  const indim_float_format *bf16 = indim_float_format_of(INDIM_BF16);
  CHECK_EQ_INT(f32->significand_bits, 24);
  CHECK_EQ_INT(f32->exponent_bits, 8);
  CHECK_EQ_INT(f32->underflow_exponent, -125);
  CHECK_EQ_INT(f32->overflow_exponent, 128);
  CHECK_EQ_INT(bf16->significand_bits, 8);
  CHECK_EQ_INT(bf16->exponent_bits, 8);
  CHECK_EQ_INT(bf16->underflow_exponent, -125);
  CHECK_EQ_INT(bf16->overflow_exponent, 128);
}

TEST(complex_and_component) {
  for (int i = 0; i < ROWS; i++) {
    indim_type type = (indim_type)i;
    indim_type complex = type == INDIM_F32 ? INDIM_C64 : type == INDIM_F64 ? INDIM_C128 : INDIM_TYPE_INVALID;
    CHECK_EQ_INT(indim_type_complex_of(type), complex);
    indim_type component = type == INDIM_C64 ? INDIM_F32 : type == INDIM_C128 ? INDIM_F64 : INDIM_TYPE_INVALID;
    CHECK_EQ_INT(indim_type_component_of(type), component);
  }
}

TEST(integers_of_bits) {
  static const struct {
    int bits;
    indim_type s, u;
  } cases[] = {{1, INDIM_S1, INDIM_U1},
               {2, INDIM_S2, INDIM_U2},
               {4, INDIM_S4, INDIM_U4},
               {8, INDIM_S8, INDIM_U8},
               {16, INDIM_S16, INDIM_U16},
               {32, INDIM_S32, INDIM_U32},
               {64, INDIM_S64, INDIM_U64},
               {0, INDIM_TYPE_INVALID, INDIM_TYPE_INVALID},
               {3, INDIM_TYPE_INVALID, INDIM_TYPE_INVALID},
               {128, INDIM_TYPE_INVALID, INDIM_TYPE_INVALID}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    CHECK_EQ_INT(indim_type_signed_of_bits(cases[i].bits), cases[i].s);
    CHECK_EQ_INT(indim_type_unsigned_of_bits(cases[i].bits), cases[i].u);
  }
}

TEST(higher_precision) {
  static const struct {
    indim_type a, b, higher;
  } cases[] = {
      {INDIM_F16, INDIM_BF16, INDIM_BF16},
      {INDIM_F16, INDIM_F32, INDIM_F32},
      {INDIM_BF16, INDIM_F32, INDIM_F32},
      {INDIM_F32, INDIM_F64, INDIM_F64},
      {INDIM_C64, INDIM_F64, INDIM_C64},
      {INDIM_C64, INDIM_C128, INDIM_C128},
      {INDIM_S32, INDIM_F16, INDIM_F16},
      {INDIM_S64, INDIM_F4E2M1FN, INDIM_F4E2M1FN},
      {INDIM_S32, INDIM_U32, INDIM_S32},
      {INDIM_U64, INDIM_S32, INDIM_U64},
      {INDIM_PRED, INDIM_S1, INDIM_S1},
      {INDIM_PRED, INDIM_U8, INDIM_U8},
      {INDIM_F8E5M2, INDIM_F8E4M3FN, INDIM_F8E5M2},
      {INDIM_F8E4M3FN, INDIM_F8E4M3, INDIM_F8E4M3FN},  // overflow exponent 9 and 8
      {INDIM_F8E5M2, INDIM_F16, INDIM_F16},            // the same range, more digits
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    CHECK_EQ_INT(indim_type_higher_precision(cases[i].a, cases[i].b), cases[i].higher);
    CHECK_EQ_INT(indim_type_higher_precision(cases[i].b, cases[i].a), cases[i].higher);
  }
  for (int i = 0; i < ROWS; i++) {
    CHECK_EQ_INT(indim_type_higher_precision((indim_type)i, (indim_type)i), i);
  }
  // Equal in every respect though not the same: the first one.
  CHECK_EQ_INT(indim_type_higher_precision(INDIM_PRED, INDIM_U1), INDIM_PRED);
  CHECK_EQ_INT(indim_type_higher_precision(INDIM_U1, INDIM_PRED), INDIM_U1);
}

// The truth table of XLA, with the two 6-bit floats added in the second column: true for
// the types listed, false for all others.
static const struct {
  const char *from;
  const char *to;
} preserves[] = {
    {"pred", "pred s1 s2 s4 s8 s16 s32 s64 u1 u2 u4 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128 f8e5m2 f8e4m3 f8e4m3fn "
             "f8e4m3b11fnuz f8e5m2fnuz f8e4m3fnuz f8e3m4 f4e2m1fn f6e3m2fn f6e2m3fn"},
    {"s1", "s1 s2 s4 s8 s16 s32 s64 f16 bf16 f32 f64 c64 c128 f8e5m2 f8e4m3 f8e4m3fn f8e4m3b11fnuz f8e5m2fnuz "
           "f8e4m3fnuz f8e3m4 f4e2m1fn f6e3m2fn f6e2m3fn"},
    {"s2", "s2 s4 s8 s16 s32 s64 f16 bf16 f32 f64 c64 c128 f8e5m2 f8e4m3 f8e4m3fn f8e4m3b11fnuz f8e5m2fnuz "
           "f8e4m3fnuz f8e3m4 f4e2m1fn f6e3m2fn f6e2m3fn"},
    {"s4", "s4 s8 s16 s32 s64 f16 bf16 f32 f64 c64 c128 f8e5m2 f8e4m3 f8e4m3fn f8e4m3b11fnuz f8e5m2fnuz f8e4m3fnuz "
           "f8e3m4 f6e3m2fn"},  // -8 is beyond f6e2m3fn's 7.5
    {"s8", "s8 s16 s32 s64 f16 bf16 f32 f64 c64 c128"},
    {"s16", "s16 s32 s64 f32 f64 c64 c128"},
    {"s32", "s32 s64 f64 c128"},
    {"s64", "s64"},
    {"u1", "u1 u2 u4 u8 u16 u32 u64 s2 s4 s8 s16 s32 s64 f16 bf16 f32 f64 c64 c128 f8e5m2 f8e4m3 f8e4m3fn "
           "f8e4m3b11fnuz f8e5m2fnuz f8e4m3fnuz f8e3m4 f4e2m1fn f6e3m2fn f6e2m3fn"},
    {"u2", "u2 u4 u8 u16 u32 u64 s4 s8 s16 s32 s64 f16 bf16 f32 f64 c64 c128 f8e5m2 f8e4m3 f8e4m3fn f8e4m3b11fnuz "
           "f8e5m2fnuz f8e4m3fnuz f8e3m4 f4e2m1fn f6e3m2fn f6e2m3fn"},
    {"u4", "u4 u8 u16 u32 u64 s8 s16 s32 s64 f16 bf16 f32 f64 c64 c128 f8e4m3 f8e4m3fn f8e4m3b11fnuz f8e4m3fnuz "
           "f8e3m4"},
    {"u8", "u8 u16 u32 u64 s16 s32 s64 f16 bf16 f32 f64 c64 c128"},
    {"u16", "u16 u32 u64 s32 s64 f32 f64 c64 c128"},
    {"u32", "u32 u64 s64 f64 c128"},
    {"u64", "u64"},
    {"f16", "f16 f32 f64 c64 c128"},
    {"bf16", "bf16 f32 f64 c64 c128"},
    {"f32", "f32 f64 c64 c128"},
    {"f64", "f64 c128"},
    {"c64", "c64 c128"},
    {"c128", "c128"},
    {"f8e5m2", "f8e5m2 f16 bf16 f32 f64 c64 c128"},
    {"f8e4m3", "f8e4m3 f16 bf16 f32 f64 c64 c128"},
    {"f8e4m3fn", "f8e4m3fn f16 bf16 f32 f64 c64 c128"},
    {"f8e4m3b11fnuz", "f8e4m3b11fnuz f16 bf16 f32 f64 c64 c128"},
    {"f8e5m2fnuz", "f8e5m2fnuz f16 bf16 f32 f64 c64 c128"},
    {"f8e4m3fnuz", "f8e4m3fnuz f16 bf16 f32 f64 c64 c128"},
    {"f8e3m4", "f8e3m4 f16 bf16 f32 f64 c64 c128"},
    {"f4e2m1fn", "f4e2m1fn f8e5m2 f8e4m3 f8e4m3fn f8e3m4 f16 bf16 f32 f64 c64 c128 f6e3m2fn f6e2m3fn"},
    {"f8e8m0fnu", "f8e8m0fnu bf16 f32 f64 c64 c128"},
    {"f6e3m2fn", "f6e3m2fn f8e5m2 f8e4m3 f8e4m3fn f16 bf16 f32 f64 c64 c128"},
    {"f6e2m3fn", "f6e2m3fn f8e4m3 f8e4m3fn f8e3m4 f16 bf16 f32 f64 c64 c128"},
};

static bool has_word(const char *list, const char *word) {
  size_t size = strlen(word);
  for (const char *at = strstr(list, word); at != NULL; at = strstr(at + 1, word)) {
    if ((at == list || at[-1] == ' ') && (at[size] == ' ' || at[size] == '\0')) {
      return true;
    }
  }
  return false;
}

TEST(cast_preserves_values_table) {
  int from_rows = 0;
  for (size_t i = 0; i < sizeof preserves / sizeof preserves[0]; i++) {
    indim_type from = INDIM_TYPE_INVALID;
    REQUIRE(indim_type_parse(indim_str_of(preserves[i].from), &from));
    from_rows++;
    for (int to = 0; to < ROWS; to++) {
      bool expected = has_word(preserves[i].to, rows[to].text);
      CHECK_MSG(indim_type_cast_preserves_values(from, (indim_type)to) == expected, "%s -> %s should be %d",
                preserves[i].from, rows[to].text, expected);
    }
  }
  CHECK_EQ_INT(from_rows, 32);  // every array type
}

// The value of the n-th bit pattern of a small real type.
static double value_of(indim_type type, uint64_t bits) {
  if (indim_type_is_float(type)) {
    return indim_float_decode(type, bits);
  }
  int32_t width = indim_type_bits(type);
  bool negative = indim_type_is_signed_int(type) && (bits >> (width - 1) & 1) != 0;
  return (double)(negative ? (int64_t)bits - (INT64_C(1) << width) : (int64_t)bits);
}

// Whether |type| has exactly this value: for floats the round trip, for integers the range.
static bool holds(indim_type type, double value) {
  if (indim_type_is_float(type)) {
    double back = indim_float_decode(type, indim_float_encode(type, value));
    return isnan(value) ? isnan(back) : back == value && signbit(back) == signbit(value);
  }
  int32_t value_bits = indim_type_bits(type) - indim_type_is_signed_int(type);
  double least = indim_type_is_signed_int(type) ? -ldexp(1, value_bits) : 0;
  return value == floor(value) && value >= least && value < ldexp(1, value_bits);
}

// The rule says the same as trying every value of every type of at most 16 bits.
TEST(cast_preserves_values_by_trying) {
  int pairs = 0;
  for (int from = 0; from < ROWS; from++) {
    for (int to = 0; to < ROWS; to++) {
      indim_type f = (indim_type)from;
      indim_type t = (indim_type)to;
      bool real = indim_type_is_integral(t) || indim_type_is_float(t);
      if (!(indim_type_is_integral(f) || indim_type_is_float(f)) || indim_type_bits(f) > 16 || !real) {
        continue;
      }
      if (indim_type_is_float(f) && !indim_type_is_float(t)) {
        continue;  // false by rule: fractions, infinities or NaN
      }
      bool all = true;
      for (uint64_t bits = 0; all && bits < UINT64_C(1) << indim_type_bits(f); bits++) {
        all = holds(t, value_of(f, bits));
      }
      CHECK_MSG(indim_type_cast_preserves_values(f, t) == all, "%s -> %s: every value kept is %d", rows[from].text,
                rows[to].text, all);
      pairs++;
    }
  }
  CHECK_EQ_INT(pairs, 485);
}

#define CASES(X)                 \
  X(table_1_1)                   \
  X(numbers_that_are_no_type)    \
  X(E34_names_of_types)          \
  X(E35_no_names)                \
  X(E36_float_facts)             \
  X(complex_and_component)       \
  X(integers_of_bits)            \
  X(higher_precision)            \
  X(cast_preserves_values_table) \
  X(cast_preserves_values_by_trying)
TEST_MAIN(CASES)
