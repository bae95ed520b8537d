// Floating-point element types as bits: what each format can hold, and exact conversion to and from it.
//
// Every value of every format here is a double exactly, so decoding never rounds. Encoding rounds once, to nearest
// with ties to even, straight from the source: a 64-bit integer or a double never passes through a float on its way.
// Bits are right-aligned in a uint64_t; f4e2m1fn uses 4 of them, f6* 6, and higher ones are ignored when decoding.
//
//   indim_float_encode(INDIM_F16, 65519.0)      ->  0x7BFF (65504: the largest)
//   indim_float_encode(INDIM_F16, 65520.0)      ->  0x7C00 (infinity: a tie, and the neighbour would be even)
//   indim_float_encode(INDIM_F8E4M3FN, -1e30)   ->  0xFF   (no infinity in this format: NaN)
//   indim_float_decode(INDIM_F4E2M1FN, 0x5)     ->  3.0
//
// Source: element types as in xla_data.proto; the 8-bit and smaller formats as in the OCP 8-bit and MX papers.
#ifndef INDIM_ARRAY_FLOAT_FORMAT_H
#define INDIM_ARRAY_FLOAT_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include "indim/type.h"

// What the ends of a format's number line look like; float_format.def explains each.
typedef enum indim_float_kind {
  INDIM_FLOAT_IEEE,
  INDIM_FLOAT_FN,
  INDIM_FLOAT_FNUZ,
  INDIM_FLOAT_SCALE,
  INDIM_FLOAT_FINITE
} indim_float_kind;

// The constants of one format. Exponents follow <float.h>: a value is 0.1xxx * 2^exponent, so that 1.0 has exponent 1.
typedef struct indim_float_format {
  indim_float_kind kind;
  int bits;                // all of them: 4, 6, 8, 16, 32 or 64
  int exponent_bits;       // XLA's ExponentWidth
  int mantissa_bits;       // stored ones, without the implicit bit
  int bias;                // exponent field e >= 1 means 2^(e - bias)
  int significand_bits;    // mantissa_bits + 1: XLA's SignificandWidth, C's MANT_DIG
  int underflow_exponent;  // of the smallest normal value: f32 -125
  int overflow_exponent;   // of the largest finite value: f32 128
  int digits10;            // decimal digits that survive text -> bits -> text
  int max_digits10;        // digits that identify every value: print with %.{max_digits10}g
  bool has_sign;
  bool has_infinity;
  bool has_nan;
  bool has_negative_zero;
  bool has_subnormals;
  uint64_t sign_bit;           // 0 without a sign
  uint64_t max_finite_bits;    // of the positive one, as all below
  uint64_t min_normal_bits;    // smallest positive value of full precision
  uint64_t min_positive_bits;  // smallest positive value: a subnormal where there are any
  uint64_t infinity_bits;      // 0 without infinities
  uint64_t quiet_nan_bits;     // 0 without NaNs; the sign bit is set where only that one exists (FNUZ)
  uint64_t payload_mask;       // mantissa bits that a NaN can choose freely, the quiet bit among them; 0 if none
} indim_float_format;

// The format of a real floating-point type; NULL for any other type (integers, pred, complex, tuple, ...).
const indim_float_format *indim_float_format_of(indim_type type);

// The value of |bits|, exactly. A NaN comes out quiet, with its sign, and its payload where the format has one; the
// f64 bits are taken as they are. |type| must be a real floating-point type.
double indim_float_decode(indim_type type, uint64_t bits);

// The bits of |value| rounded once to |type|. Beyond the largest finite value (after rounding): infinity; NaN in FN,
// FNUZ and SCALE formats; the largest value of that sign in FINITE ones. NaN gives the format's quiet NaN with the
// sign kept where there is a choice (f32 keeps the top of the payload as well, f64 everything); FINITE formats have
// none, there +NaN gives -0 and -NaN +0, as XLA does. SCALE (f8e8m0fnu): zero and negative values give NaN, positive
// values below 2^-127 give 2^-127, ties go up.
uint64_t indim_float_encode(indim_type type, double value);

// As indim_float_encode for integers, also with a single rounding: the integer is never made a double first, which
// would turn the example into a tie and lose its last bit.
//   indim_float_encode_s64(INDIM_F32, 0x4000004000000001)  ->  0x5E800001 (2^62 + 2^39), not 0x5E800000
uint64_t indim_float_encode_s64(indim_type type, int64_t value);
uint64_t indim_float_encode_u64(indim_type type, uint64_t value);

#endif  // INDIM_ARRAY_FLOAT_FORMAT_H
