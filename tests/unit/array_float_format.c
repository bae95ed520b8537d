// Float formats: the worked cases (E..) by id, and the facts at the boundaries.
#include "array/float_format.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

#include "test.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static double negative_nan(void) { return copysign((double)NAN, -1.0); }

typedef struct encode_case {
  const char *id;
  indim_type type;
  double value;
  uint64_t bits;
} encode_case;

static void check_encode(const encode_case *cases, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const encode_case *c = &cases[i];
    uint64_t bits = indim_float_encode(c->type, c->value);
    CHECK_MSG(bits == c->bits, "%s: %a to type %d gives %" PRIx64 ", expected %" PRIx64, c->id, c->value, (int)c->type,
              bits, c->bits);
  }
}

TEST(worked_cases_E01_to_E23) {
  const double ten30 = 1e30;
  const encode_case cases[] = {
      {"E01", INDIM_F4E2M1FN, 5.0, 0x6},
      {"E02", INDIM_F4E2M1FN, 2.5, 0x4},
      {"E02", INDIM_F4E2M1FN, 3.5, 0x6},
      {"E03", INDIM_F4E2M1FN, 0.25, 0x0},
      {"E03", INDIM_F4E2M1FN, 0.75, 0x2},
      {"E03", INDIM_F4E2M1FN, 1.75, 0x4},
      {"E04", INDIM_F4E2M1FN, 7.0, 0x7},
      {"E04", INDIM_F4E2M1FN, ten30, 0x7},
      {"E04", INDIM_F4E2M1FN, INFINITY, 0x7},
      {"E04", INDIM_F4E2M1FN, -ten30, 0xF},
      {"E05", INDIM_F4E2M1FN, NAN, 0x8},
      {"E05", INDIM_F4E2M1FN, negative_nan(), 0x0},
      {"E05", INDIM_F4E2M1FN, -0.1, 0x8},
      {"E06", INDIM_F8E5M2, 9.0, 0x48},
      {"E06", INDIM_F8E5M2, 3.141, 0x42},
      {"E06", INDIM_F8E5M2, 0.1, 0x2E},
      {"E06", INDIM_F8E5M2, 15.5, 0x4C},
      {"E07", INDIM_F8E5M2, 61439.0, 0x7B},
      {"E07", INDIM_F8E5M2, 61440.0, 0x7C},
      {"E07", INDIM_F8E5M2, -ten30, 0xFC},
      {"E07", INDIM_F8E5M2, NAN, 0x7E},
      {"E07", INDIM_F8E5M2, negative_nan(), 0xFE},
      {"E08", INDIM_F8E4M3, 247.0, 0x77},
      {"E08", INDIM_F8E4M3, 248.0, 0x78},
      {"E08", INDIM_F8E4M3, 240.0, 0x77},
      {"E09", INDIM_F8E4M3, 3.141, 0x45},
      {"E09", INDIM_F8E4M3, 0.1, 0x1D},
      {"E09", INDIM_F8E4M3, 15.5, 0x58},
      {"E09", INDIM_F8E4M3FN, 3.141, 0x45},
      {"E09", INDIM_F8E4M3FN, 0.1, 0x1D},
      {"E09", INDIM_F8E4M3FN, 15.5, 0x58},
      {"E10", INDIM_F8E4M3FN, 464.0, 0x7E},
      {"E10", INDIM_F8E4M3FN, 465.0, 0x7F},
      {"E10", INDIM_F8E4M3FN, 480.0, 0x7F},
      {"E10", INDIM_F8E4M3FN, INFINITY, 0x7F},
      {"E10", INDIM_F8E4M3FN, -INFINITY, 0xFF},
      {"E11", INDIM_F8E4M3FN, 248.0, 0x78},
      {"E11", INDIM_F8E4M3FNUZ, 248.0, 0x80},
      {"E12", INDIM_F8E4M3B11FNUZ, 30.0, 0x7F},
      {"E12", INDIM_F8E4M3B11FNUZ, 31.0, 0x80},
      {"E12", INDIM_F8E4M3B11FNUZ, 0x1p-11, 0x04},
      {"E12", INDIM_F8E4M3B11FNUZ, -0.0, 0x00},
      {"E13", INDIM_F8E4M3FNUZ, 1.0, 0x40},
      {"E13", INDIM_F8E4M3FNUZ, -1.0, 0xC0},
      {"E13", INDIM_F8E4M3FNUZ, 0x1p-10, 0x01},
      {"E13", INDIM_F8E4M3FNUZ, 0x1p-11, 0x00},
      {"E14", INDIM_F8E5M2FNUZ, 61439.0, 0x7F},
      {"E14", INDIM_F8E5M2FNUZ, 61440.0, 0x80},
      {"E14", INDIM_F8E5M2FNUZ, 1.0, 0x40},
      {"E15", INDIM_F8E3M4, 15.5, 0x6F},
      {"E15", INDIM_F8E3M4, 15.75, 0x70},
      {"E15", INDIM_F8E3M4, 3.141, 0x49},
      {"E15", INDIM_F8E3M4, 0.1, 0x06},
      {"E15", INDIM_F8E3M4, 0x1p-7, 0x00},
      {"E16", INDIM_F8E8M0FNU, 1.0, 0x7F},
      {"E16", INDIM_F8E8M0FNU, 9.0, 0x82},
      {"E16", INDIM_F8E8M0FNU, 1.5, 0x80},
      {"E16", INDIM_F8E8M0FNU, 3.0, 0x81},
      {"E16", INDIM_F8E8M0FNU, 0.75, 0x7F},
      {"E16", INDIM_F8E8M0FNU, 0.375, 0x7E},
      {"E16", INDIM_F8E8M0FNU, 12.0, 0x83},
      {"E17", INDIM_F8E8M0FNU, 0.0, 0xFF},
      {"E17", INDIM_F8E8M0FNU, -0.0, 0xFF},
      {"E17", INDIM_F8E8M0FNU, -1.0, 0xFF},
      {"E17", INDIM_F8E8M0FNU, NAN, 0xFF},
      {"E17", INDIM_F8E8M0FNU, INFINITY, 0xFF},
      {"E17", INDIM_F8E8M0FNU, 0x1.8p127, 0xFF},
      {"E17", INDIM_F8E8M0FNU, 0x1p128, 0xFF},
      {"E18", INDIM_F8E8M0FNU, 0x1p-128, 0x00},
      {"E18", INDIM_F8E8M0FNU, 0x1p-140, 0x00},
      {"E18", INDIM_F8E8M0FNU, 0x1p-1060, 0x00},
      {"E23", INDIM_BF16, (double)3.14f, 0x4049},
      {"E23", INDIM_BF16, (double)9.001f, 0x4110},
      {"E23", INDIM_BF16, 128.5, 0x4300},
  };
  check_encode(cases, COUNT_OF(cases));
}

TEST(worked_cases_E19_to_E22_between_formats) {
  const struct {
    const char *id;
    indim_type from;
    uint64_t bits;
    indim_type to;
    uint64_t expected;
  } cases[] = {
      {"E19", INDIM_F16, 0x7C01, INDIM_F8E5M2, 0x7E},      {"E19", INDIM_F16, 0x7BFF, INDIM_F8E5M2, 0x7C},
      {"E19", INDIM_F16, 0x0080, INDIM_F8E5M2, 0x00},      {"E19", INDIM_F16, 0x0081, INDIM_F8E5M2, 0x01},
      {"E20", INDIM_F8E5M2, 0x7C, INDIM_F8E4M3FN, 0x7F},   {"E20", INDIM_F8E5M2, 0xFC, INDIM_F8E4M3FN, 0xFF},
      {"E20", INDIM_F8E5M2, 0x7D, INDIM_F8E4M3FN, 0x7F},   {"E20", INDIM_F8E5M2, 0x5F, INDIM_F8E4M3FN, 0x7E},
      {"E20", INDIM_F8E5M2, 0x01, INDIM_F8E4M3FN, 0x00},   {"E21", INDIM_F8E4M3FN, 0x7F, INDIM_F8E5M2, 0x7E},
      {"E21", INDIM_F8E4M3FN, 0xFF, INDIM_F8E5M2, 0xFE},   {"E21", INDIM_F8E4M3FN, 0x7E, INDIM_F8E5M2, 0x5F},
      {"E21", INDIM_F8E4M3FN, 0x01, INDIM_F8E5M2, 0x18},   {"E22", INDIM_F8E5M2FNUZ, 0x80, INDIM_F8E5M2, 0xFE},
      {"E22", INDIM_F8E5M2FNUZ, 0x01, INDIM_F8E5M2, 0x00}, {"E22", INDIM_F8E5M2FNUZ, 0x02, INDIM_F8E5M2, 0x01},
      {"E22", INDIM_F8E5M2FNUZ, 0x03, INDIM_F8E5M2, 0x02},
  };
  for (size_t i = 0; i < COUNT_OF(cases); ++i) {
    uint64_t bits = indim_float_encode(cases[i].to, indim_float_decode(cases[i].from, cases[i].bits));
    CHECK_MSG(bits == cases[i].expected, "%s: bits %" PRIx64 " give %" PRIx64 ", expected %" PRIx64, cases[i].id,
              cases[i].bits, bits, cases[i].expected);
  }
}

// Facts at the boundaries, a block each.
TEST(boundary_facts_3_5) {
  const double below_61440 = nextafter(61440.0, 0.0);
  const double below_248 = nextafter(248.0, 0.0);
  const encode_case cases[] = {
      {"3.5 f16", INDIM_F16, 65519.0, 0x7BFF},
      {"3.5 f16", INDIM_F16, 65520.0, 0x7C00},
      {"3.5 bf16", INDIM_BF16, negative_nan(), 0xFFC0},

      {"3.5 f8e5m2", INDIM_F8E5M2, 0x1.2p0, 0x3C},
      {"3.5 f8e5m2", INDIM_F8E5M2, 0x1.6p0, 0x3E},
      {"3.5 f8e5m2", INDIM_F8E5M2, 57344.0, 0x7B},
      {"3.5 f8e5m2", INDIM_F8E5M2, below_61440, 0x7B},
      {"3.5 f8e5m2", INDIM_F8E5M2, 61440.0, 0x7C},
      {"3.5 f8e5m2", INDIM_F8E5M2, 0x1.Cp-15, 0x04},
      {"3.5 f8e5m2", INDIM_F8E5M2, 0x1p-17, 0x00},
      {"3.5 f8e5m2", INDIM_F8E5M2, 0x1.0000000000001p-17, 0x01},

      {"3.5 f8e4m3", INDIM_F8E4M3, 0x1.1p0, 0x38},
      {"3.5 f8e4m3", INDIM_F8E4M3, 0x1.3p0, 0x3A},
      {"3.5 f8e4m3", INDIM_F8E4M3, 240.0, 0x77},
      {"3.5 f8e4m3", INDIM_F8E4M3, below_248, 0x77},
      {"3.5 f8e4m3", INDIM_F8E4M3, 248.0, 0x78},
      {"3.5 f8e4m3", INDIM_F8E4M3, 0x1.Ep-7, 0x08},
      {"3.5 f8e4m3", INDIM_F8E4M3, 0x1p-10, 0x00},
      {"3.5 f8e4m3", INDIM_F8E4M3, 0x1.0000000000001p-10, 0x01},
      {"3.5 f8e4m3", INDIM_F8E4M3, -INFINITY, 0xF8},
      {"3.5 f8e4m3", INDIM_F8E4M3, NAN, 0x7C},

      {"3.5 f8e4m3fn", INDIM_F8E4M3FN, 448.0, 0x7E},
      {"3.5 f8e4m3fn", INDIM_F8E4M3FN, 464.0, 0x7E},
      {"3.5 f8e4m3fn", INDIM_F8E4M3FN, 0x1.D000000000001p8, 0x7F},
      {"3.5 f8e4m3fn", INDIM_F8E4M3FN, INFINITY, 0x7F},
      {"3.5 f8e4m3fn", INDIM_F8E4M3FN, 0x1.Ep-7, 0x08},
      {"3.5 f8e4m3fn", INDIM_F8E4M3FN, 0x1p-10, 0x00},
      {"3.5 f8e4m3fn", INDIM_F8E4M3FN, 0x1.0000000000001p-10, 0x01},
      {"3.5 f8e4m3fn", INDIM_F8E4M3FN, -0.0, 0x80},

      {"3.5 f8e4m3b11fnuz", INDIM_F8E4M3B11FNUZ, 30.0, 0x7F},
      {"3.5 f8e4m3b11fnuz", INDIM_F8E4M3B11FNUZ, 0x1.EFFFFFFFFFFFFp4, 0x7F},
      {"3.5 f8e4m3b11fnuz", INDIM_F8E4M3B11FNUZ, 31.0, 0x80},
      {"3.5 f8e4m3b11fnuz", INDIM_F8E4M3B11FNUZ, INFINITY, 0x80},
      {"3.5 f8e4m3b11fnuz", INDIM_F8E4M3B11FNUZ, -0.0, 0x00},
      {"3.5 f8e4m3b11fnuz", INDIM_F8E4M3B11FNUZ, 0x1p-10, 0x08},
      {"3.5 f8e4m3b11fnuz", INDIM_F8E4M3B11FNUZ, 0x1p-14, 0x00},
      {"3.5 f8e4m3b11fnuz", INDIM_F8E4M3B11FNUZ, -0x1p-14, 0x00},
      {"3.5 f8e4m3b11fnuz", INDIM_F8E4M3B11FNUZ, 0x1.0000000000001p-14, 0x01},

      {"3.5 f8e5m2fnuz", INDIM_F8E5M2FNUZ, 57344.0, 0x7F},
      {"3.5 f8e5m2fnuz", INDIM_F8E5M2FNUZ, 61440.0, 0x80},
      {"3.5 f8e5m2fnuz", INDIM_F8E5M2FNUZ, -INFINITY, 0x80},
      {"3.5 f8e5m2fnuz", INDIM_F8E5M2FNUZ, -0.0, 0x00},
      {"3.5 f8e5m2fnuz", INDIM_F8E5M2FNUZ, 0x1p-15, 0x04},
      {"3.5 f8e5m2fnuz", INDIM_F8E5M2FNUZ, 0x1p-18, 0x00},
      {"3.5 f8e5m2fnuz", INDIM_F8E5M2FNUZ, 0x1.0000000000001p-18, 0x01},

      {"3.5 f8e4m3fnuz", INDIM_F8E4M3FNUZ, 240.0, 0x7F},
      {"3.5 f8e4m3fnuz", INDIM_F8E4M3FNUZ, below_248, 0x7F},
      {"3.5 f8e4m3fnuz", INDIM_F8E4M3FNUZ, 248.0, 0x80},
      {"3.5 f8e4m3fnuz", INDIM_F8E4M3FNUZ, INFINITY, 0x80},
      {"3.5 f8e4m3fnuz", INDIM_F8E4M3FNUZ, -0.0, 0x00},
      {"3.5 f8e4m3fnuz", INDIM_F8E4M3FNUZ, 0x1p-7, 0x08},
      {"3.5 f8e4m3fnuz", INDIM_F8E4M3FNUZ, 0x1p-11, 0x00},
      {"3.5 f8e4m3fnuz", INDIM_F8E4M3FNUZ, 0x1.0000000000001p-11, 0x01},

      {"3.5 f8e3m4", INDIM_F8E3M4, 0x1.08p0, 0x30},
      {"3.5 f8e3m4", INDIM_F8E3M4, 0x1.18p0, 0x32},
      {"3.5 f8e3m4", INDIM_F8E3M4, 15.5, 0x6F},
      {"3.5 f8e3m4", INDIM_F8E3M4, 0x1.F7FFFFFFFFFFFp3, 0x6F},
      {"3.5 f8e3m4", INDIM_F8E3M4, 15.75, 0x70},
      {"3.5 f8e3m4", INDIM_F8E3M4, 0.25, 0x10},
      {"3.5 f8e3m4", INDIM_F8E3M4, 0x1p-7, 0x00},
      {"3.5 f8e3m4", INDIM_F8E3M4, 0x1.0000000000001p-7, 0x01},

      {"3.5 f4e2m1fn", INDIM_F4E2M1FN, 6.5, 0x7},
      {"3.5 f4e2m1fn", INDIM_F4E2M1FN, -INFINITY, 0xF},
      {"3.5 f4e2m1fn", INDIM_F4E2M1FN, 1.25, 0x2},
      {"3.5 f4e2m1fn", INDIM_F4E2M1FN, 1.75, 0x4},
      {"3.5 f4e2m1fn", INDIM_F4E2M1FN, 0.75, 0x2},
      {"3.5 f4e2m1fn", INDIM_F4E2M1FN, 0.6875, 0x1},
      {"3.5 f4e2m1fn", INDIM_F4E2M1FN, 0.25, 0x0},
      {"3.5 f4e2m1fn", INDIM_F4E2M1FN, 0x1.0000000000001p-2, 0x1},
      {"3.5 f4e2m1fn", INDIM_F4E2M1FN, -0.0, 0x8},

      {"3.5 f8e8m0fnu", INDIM_F8E8M0FNU, 6.0, 0x82},
      {"3.5 f8e8m0fnu", INDIM_F8E8M0FNU, 0x1.7FFFFEp127, 0xFE},
      {"3.5 f8e8m0fnu", INDIM_F8E8M0FNU, 0x1.7FFFFFFFFFFFFp127, 0xFE},
      {"3.5 f8e8m0fnu", INDIM_F8E8M0FNU, 0x1.8p127, 0xFF},
      {"3.5 f8e8m0fnu", INDIM_F8E8M0FNU, 0x1.7p-127, 0x00},
      {"3.5 f8e8m0fnu", INDIM_F8E8M0FNU, 0x1.8p-127, 0x01},

      {"L49 f6", INDIM_F6E3M2FN, 31.0, 0x1F},
      {"L49 f6", INDIM_F6E2M3FN, 8.0, 0x1F},
      {"f6 NaN", INDIM_F6E3M2FN, NAN, 0x20},
      {"f6 NaN", INDIM_F6E2M3FN, negative_nan(), 0x00},
      {"f6 inf", INDIM_F6E2M3FN, -INFINITY, 0x3F},

      // One rounding where two would go wrong: just above a tie of the small format, but a tie again in f32.
      {"once", INDIM_F16, 0x1.0020000000001p0, 0x3C01},
      {"once", INDIM_BF16, 0x1.0100000000001p0, 0x3F81},
      {"once", INDIM_F8E4M3, 0x1.1000000000001p0, 0x39},
      {"once", INDIM_F16, -0x1.0000000000001p-25, 0x8001},
      {"once", INDIM_F16, -0x1p-25, 0x8000},
  };
  check_encode(cases, COUNT_OF(cases));
}

// The formats, one row each; E36 asks for four of the columns.
TEST(format_constants_table_1_4_and_E36) {
  const struct {
    const char *name;
    indim_type type;
    int exponent_bits, mantissa_bits, bias, digits, max_digits10, underflow, overflow;
    uint64_t max_finite, infinity, nan, sign;
    double max_value, min_normal, min_positive;
  } rows[] = {
      {"f16", INDIM_F16, 5, 10, 15, 11, 5, -13, 16, 0x7BFF, 0x7C00, 0x7E00, 0x8000, 65504.0, 0x1p-14, 0x1p-24},
      {"bf16", INDIM_BF16, 8, 7, 127, 8, 4, -125, 128, 0x7F7F, 0x7F80, 0x7FC0, 0x8000, 0x1.FEp127, 0x1p-126, 0x1p-133},
      {"f32", INDIM_F32, 8, 23, 127, 24, 9, -125, 128, 0x7F7FFFFF, 0x7F800000, 0x7FC00000, 0x80000000, (double)FLT_MAX,
       0x1p-126, 0x1p-149},
      {"f64", INDIM_F64, 11, 52, 1023, 53, 17, -1021, 1024, 0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0x7FF8000000000000,
       0x8000000000000000, DBL_MAX, 0x1p-1022, 0x1p-1074},
      {"f8e3m4", INDIM_F8E3M4, 3, 4, 3, 5, 3, -1, 4, 0x6F, 0x70, 0x78, 0x80, 15.5, 0.25, 0x1p-6},
      {"f8e4m3", INDIM_F8E4M3, 4, 3, 7, 4, 3, -5, 8, 0x77, 0x78, 0x7C, 0x80, 240.0, 0x1p-6, 0x1p-9},
      {"f8e4m3fn", INDIM_F8E4M3FN, 4, 3, 7, 4, 3, -5, 9, 0x7E, 0, 0x7F, 0x80, 448.0, 0x1p-6, 0x1p-9},
      {"f8e4m3fnuz", INDIM_F8E4M3FNUZ, 4, 3, 8, 4, 3, -6, 8, 0x7F, 0, 0x80, 0x80, 240.0, 0x1p-7, 0x1p-10},
      {"f8e4m3b11fnuz", INDIM_F8E4M3B11FNUZ, 4, 3, 11, 4, 3, -9, 5, 0x7F, 0, 0x80, 0x80, 30.0, 0x1p-10, 0x1p-13},
      {"f8e5m2", INDIM_F8E5M2, 5, 2, 15, 3, 2, -13, 16, 0x7B, 0x7C, 0x7E, 0x80, 57344.0, 0x1p-14, 0x1p-16},
      {"f8e5m2fnuz", INDIM_F8E5M2FNUZ, 5, 2, 16, 3, 2, -14, 16, 0x7F, 0, 0x80, 0x80, 57344.0, 0x1p-15, 0x1p-17},
      {"f8e8m0fnu", INDIM_F8E8M0FNU, 8, 0, 127, 1, 2, -126, 128, 0xFE, 0, 0xFF, 0, 0x1p127, 0x1p-127, 0x1p-127},
      {"f4e2m1fn", INDIM_F4E2M1FN, 2, 1, 1, 2, 2, 1, 3, 0x7, 0, 0, 0x8, 6.0, 1.0, 0.5},
      {"f6e3m2fn", INDIM_F6E3M2FN, 3, 2, 3, 3, 2, -1, 5, 0x1F, 0, 0, 0x20, 28.0, 0.25, 0x1p-4},
      {"f6e2m3fn", INDIM_F6E2M3FN, 2, 3, 1, 4, 3, 1, 3, 0x1F, 0, 0, 0x20, 7.5, 1.0, 0x1p-3},
  };
  for (size_t i = 0; i < COUNT_OF(rows); ++i) {
    const indim_float_format *f = indim_float_format_of(rows[i].type);
    const char *name = rows[i].name;
    CHECK_MSG(f->exponent_bits == rows[i].exponent_bits && f->mantissa_bits == rows[i].mantissa_bits, "%s: widths",
              name);
    CHECK_MSG(f->bias == rows[i].bias && f->significand_bits == rows[i].digits, "%s: bias, digits", name);
    CHECK_MSG(f->max_digits10 == rows[i].max_digits10, "%s: max_digits10 %d", name, f->max_digits10);
    CHECK_MSG(f->underflow_exponent == rows[i].underflow, "%s: underflow %d", name, f->underflow_exponent);
    CHECK_MSG(f->overflow_exponent == rows[i].overflow, "%s: overflow %d", name, f->overflow_exponent);
    CHECK_MSG(f->max_finite_bits == rows[i].max_finite && f->infinity_bits == rows[i].infinity, "%s: ends", name);
    CHECK_MSG(f->quiet_nan_bits == rows[i].nan && f->sign_bit == rows[i].sign, "%s: NaN, sign", name);
    CHECK_MSG(f->has_infinity == (rows[i].infinity != 0) && f->has_nan == (rows[i].nan != 0), "%s: has", name);
    CHECK_MSG(f->has_sign == (rows[i].sign != 0), "%s: has_sign", name);
    CHECK_MSG(f->bits == f->exponent_bits + f->mantissa_bits + (f->has_sign ? 1 : 0), "%s: bits", name);
    CHECK_MSG(indim_float_decode(rows[i].type, f->max_finite_bits) == rows[i].max_value, "%s: largest", name);
    CHECK_MSG(indim_float_decode(rows[i].type, f->min_normal_bits) == rows[i].min_normal, "%s: normal", name);
    CHECK_MSG(indim_float_decode(rows[i].type, f->min_positive_bits) == rows[i].min_positive, "%s: smallest", name);
    CHECK_MSG(f->payload_mask == (f->has_infinity ? (UINT64_C(1) << f->mantissa_bits) - 1 : 0), "%s: payload", name);
  }
  CHECK(indim_float_format_of(INDIM_F32)->digits10 == FLT_DIG);
  CHECK(indim_float_format_of(INDIM_F64)->digits10 == DBL_DIG);
  CHECK(indim_float_format_of(INDIM_F16)->digits10 == 3);
  CHECK(!indim_float_format_of(INDIM_F8E5M2FNUZ)->has_negative_zero);
  CHECK(indim_float_format_of(INDIM_F4E2M1FN)->has_negative_zero);
}

TEST(only_real_float_types_have_a_format) {
  enum { PRED, SIGNED, UNSIGNED, FLOAT, COMPLEX, OTHER, INVALID };
  const struct {
    indim_type type;
    int class_number;
  } types[] = {
#define INDIM_TYPE(name, number, text, bits, class) {INDIM_##name, class},
#include "indim/type.def"
  };
  for (size_t i = 0; i < COUNT_OF(types); ++i) {
    bool has_format = indim_float_format_of(types[i].type) != NULL;
    CHECK_MSG(has_format == (types[i].class_number == FLOAT), "type %d", (int)types[i].type);
  }
  CHECK(indim_float_format_of((indim_type)-1) == NULL);
  CHECK(indim_float_format_of((indim_type)INDIM_TYPE_COUNT) == NULL);
}

TEST(f4e2m1fn_nibbles) {
  const double values[] = {0, .5, 1, 1.5, 2, 3, 4, 6, -0.0, -.5, -1, -1.5, -2, -3, -4, -6};
  for (uint64_t bits = 0; bits < 16; ++bits) {
    double value = indim_float_decode(INDIM_F4E2M1FN, bits);
    CHECK_MSG(value == values[bits] && signbit(value) == signbit(values[bits]), "nibble %d", (int)bits);
    CHECK(indim_float_decode(INDIM_F4E2M1FN, bits | 0xF0) == value);  // higher bits are not looked at
  }
}

TEST(special_byte_decoding_differs_by_kind) {
  CHECK(indim_float_decode(INDIM_F8E4M3, 0x78) == (double)INFINITY);
  CHECK(indim_float_decode(INDIM_F8E4M3FN, 0x78) == 256.0);
  CHECK(indim_float_decode(INDIM_F8E4M3FNUZ, 0x78) == 128.0);
  CHECK(isnan(indim_float_decode(INDIM_F8E4M3FNUZ, 0x80)) && signbit(indim_float_decode(INDIM_F8E4M3FNUZ, 0x80)));
  CHECK(indim_float_decode(INDIM_F8E4M3FN, 0x80) == 0.0 && signbit(indim_float_decode(INDIM_F8E4M3FN, 0x80)));
  CHECK(isnan(indim_float_decode(INDIM_F8E4M3FN, 0xFF)) && signbit(indim_float_decode(INDIM_F8E4M3FN, 0xFF)));
  CHECK(isnan(indim_float_decode(INDIM_F8E8M0FNU, 0xFF)) && !signbit(indim_float_decode(INDIM_F8E8M0FNU, 0xFF)));
}

// Bits to value to bits is the identity for every pattern of up to 16 bits but NaNs, which come out quiet.
TEST(round_trip_of_every_small_pattern) {
  for (int number = 0; number < INDIM_TYPE_COUNT; ++number) {
    indim_type type = (indim_type)number;
    const indim_float_format *format = indim_float_format_of(type);
    if (format == NULL || format->bits > 16) {
      continue;
    }
    for (uint64_t bits = 0; bits < UINT64_C(1) << format->bits; ++bits) {
      double value = indim_float_decode(type, bits);
      uint64_t expected = isnan(value) ? format->quiet_nan_bits | (bits & format->sign_bit) : bits;
      uint64_t again = indim_float_encode(type, value);
      CHECK_MSG(again == expected, "type %d: %" PRIx64 " came back as %" PRIx64, number, bits, again);
    }
  }
}

static uint64_t f32_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static double f64_of(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

TEST(f32_and_f64_agree_with_the_compiler) {
  uint64_t state = 1;
  for (int i = 0; i < 200000; ++i) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint64_t spread = (state >> 11) % 320 + (1023 - 160);
    double value =
        f64_of((state << 60 & UINT64_C(0x8000000000000000)) | spread << 52 | (state >> 12 & 0xFFFFFFFFFFFFF));
    CHECK_MSG(indim_float_encode(INDIM_F32, value) == f32_bits((float)value), "%a", value);
    CHECK_MSG(indim_float_encode_s64(INDIM_F32, (int64_t)state) == f32_bits((float)(int64_t)state), "%" PRIu64, state);
    CHECK_MSG(indim_float_encode_u64(INDIM_F32, state) == f32_bits((float)state), "%" PRIu64, state);
    CHECK_MSG(f64_of(indim_float_encode_u64(INDIM_F64, state)) == (double)state, "%" PRIu64, state);
  }
  CHECK(indim_float_encode(INDIM_F32, 0x1.FFFFFEFFFFFFFp127) == 0x7F7FFFFF);
  CHECK(indim_float_encode(INDIM_F32, 0x1.FFFFFFp127) == 0x7F800000);
  CHECK(indim_float_encode(INDIM_F32, -0x1p-150) == 0x80000000);
  CHECK(indim_float_encode(INDIM_F32, 0x1.0000000000001p-150) == 0x00000001);
}

TEST(nan_keeps_sign_and_top_of_payload_in_f32) {
  CHECK(indim_float_encode(INDIM_F32, f64_of(UINT64_C(0xFFF0000020000000))) == 0xFFC00001);
  CHECK(indim_float_encode(INDIM_F32, f64_of(UINT64_C(0x7FF0000000000001))) == 0x7FC00000);
  CHECK(indim_float_encode(INDIM_F64, f64_of(UINT64_C(0x7FF8000000000123))) == UINT64_C(0x7FF8000000000123));
  double widened = indim_float_decode(INDIM_F32, 0xFF800001);
  CHECK(indim_float_encode(INDIM_F64, widened) == UINT64_C(0xFFF8000020000000));
  CHECK(indim_float_encode(INDIM_F16, widened) == 0xFE00);
}

TEST(integers_round_once) {
  // The test grids of s64 -> f32 around a rounding boundary.
  CHECK(indim_float_encode_s64(INDIM_F32, INT64_C(0x0007FB72E4000000)) == f32_bits(0x1.FEDCB8p+50f));
  CHECK(indim_float_encode_s64(INDIM_F32, INT64_C(0x0007FB72E4000001)) == f32_bits(0x1.FEDCBAp+50f));
  CHECK(indim_float_encode_s64(INDIM_F32, INT64_C(0x0007FB72E7FFFFFF)) == f32_bits(0x1.FEDCBAp+50f));
  CHECK(indim_float_encode_s64(INDIM_F32, INT64_C(0x0007FB72E8000000)) == f32_bits(0x1.FEDCBAp+50f));
  // A tie only once the double has dropped the last bit.
  CHECK(indim_float_encode_s64(INDIM_F32, INT64_C(0x4000004000000001)) == 0x5E800001);
  CHECK(indim_float_encode_s64(INDIM_F32, -INT64_C(0x4000004000000001)) == 0xDE800001);
  CHECK(indim_float_encode_u64(INDIM_BF16, UINT64_C(0x8080000000000001)) == 0x5F01);
  CHECK(indim_float_encode_s64(INDIM_F16, 2049) == 0x6800);
  CHECK(indim_float_encode_s64(INDIM_F16, 65519) == 0x7BFF);
  CHECK(indim_float_encode_s64(INDIM_F16, INT64_MIN) == 0xFC00);
  CHECK(indim_float_encode_s64(INDIM_F64, INT64_MIN) == UINT64_C(0xC3E0000000000000));
  CHECK(indim_float_encode_u64(INDIM_F64, UINT64_MAX) == UINT64_C(0x43F0000000000000));
  CHECK(indim_float_encode_s64(INDIM_F32, 0) == 0);
  CHECK(indim_float_encode_u64(INDIM_F8E8M0FNU, 0) == 0xFF);
  CHECK(indim_float_encode_s64(INDIM_F8E8M0FNU, -1) == 0xFF);
  CHECK(indim_float_encode_s64(INDIM_F8E8M0FNU, 3) == 0x81);
  CHECK(indim_float_encode_s64(INDIM_F4E2M1FN, -7) == 0xF);
  CHECK(indim_float_encode_s64(INDIM_F8E4M3FN, 465) == 0x7F);
}

#define CASES(X)                              \
  X(worked_cases_E01_to_E23)                  \
  X(worked_cases_E19_to_E22_between_formats)  \
  X(boundary_facts_3_5)                       \
  X(format_constants_table_1_4_and_E36)       \
  X(only_real_float_types_have_a_format)      \
  X(f4e2m1fn_nibbles)                         \
  X(special_byte_decoding_differs_by_kind)    \
  X(round_trip_of_every_small_pattern)        \
  X(f32_and_f64_agree_with_the_compiler)      \
  X(nan_keeps_sign_and_top_of_payload_in_f32) \
  X(integers_round_once)
TEST_MAIN(CASES)
