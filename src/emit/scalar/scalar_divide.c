// Quotients of f32 by a constant as a product and an FMA, bit-identical: the constant's inverse is the sum of two
// floats, high (truncated) and low, and x / c is x low, rounded, plus x high, rounded once. The error is less than
// 2^-45 of the quotient; the quotients of two floats that are that near to a tie are few for each constant, and are
// enumerated and tested at compile time. Where x low would underflow, a branch leads to the division.
#include <math.h>
#include <string.h>

#include "emit/math/math_kit.h"
#include "emit/scalar/scalar.h"

typedef struct inverse {
  float high, low;
  float least;  // the least nonzero dividend whose quotient is right
} inverse;

static float quotient_by(inverse i, float x) { return fmaf(x, i.high, x * i.low); }

// The inverse of an odd number modulo 2^64 by Newton's method: each step doubles the correct bits.
static uint64_t odd_inverse(uint64_t odd) {
  uint64_t out = odd;
  for (int step = 0; step < 5; step++) {
    out *= 2 - odd * out;
  }
  return out;
}

// Whether the quotients of X by C (integers of 24 bits each) nearest to a tie, the midpoint of two floats, are right. A
// tie has 25 bits: it is M 2^-s with X 2^s = M C + k for a small k, s = 24 where X >= C and 25 where not.
static bool ties_are_right(inverse i, uint32_t c, int s) {
  enum { MOST = 16 };
  int zeros = 0;
  while ((c >> zeros & 1) == 0) {
    zeros++;
  }
  if (zeros > 4) {
    return true;  // no k is small
  }
  int bits = s - zeros;
  uint64_t mask = (UINT64_C(1) << bits) - 1;
  uint64_t back = odd_inverse(c >> zeros);
  for (int k = -MOST; k <= MOST; k++) {
    if (k == 0 || k % (1 << zeros) != 0) {
      continue;
    }
    uint64_t rest = (uint64_t)(int64_t)(-k / (1 << zeros));
    for (uint64_t m = rest * back & mask; m < UINT64_C(1) << 25; m += mask + 1) {
      uint64_t x = (m * c + (uint64_t)(int64_t)k) >> s;
      if (m >= UINT64_C(1) << 24 && x >= UINT64_C(1) << 23 && x < UINT64_C(1) << 24 &&
          quotient_by(i, (float)x) != (float)x / (float)c) {
        return false;
      }
    }
  }
  return true;
}

// False if the inverse is not exact enough.
static bool find_inverse(float by, inverse *out) {
  int exponent = 0;
  double significand = frexp(fabs((double)by), &exponent);
  if (!isnormal(by) || exponent < -40 || exponent > 40 || significand == 0.5) {
    return false;
  }
  uint32_t c = (uint32_t)ldexp(significand, 24);
  double exact = 1 / (double)c;  // its own error is far below the last bit of |low|
  float high = (float)exact;
  high = (double)high > exact ? nextafterf(high, 0) : high;
  inverse whole = {high, (float)(exact - (double)high), 0};
  if (whole.low < high * 0x1p-48F || !ties_are_right(whole, c, 24) || !ties_are_right(whole, c, 25)) {
    return false;
  }
  float sign = by < 0 ? -1.0F : 1.0F;
  out->high = sign * ldexpf(whole.high, 24 - exponent);
  out->low = sign * ldexpf(whole.low, 24 - exponent);
  out->least = fmaxf(ldexpf(whole.high / whole.low, -123) * fabsf(by), FLT_MIN);
  return true;
}

// The lanes that are small, but not 0: the quotients of zeros are right.
static LLVMValueRef is_small(const kit *k, LLVMValueRef x, float least) {
  uint32_t bits = 0;
  memcpy(&bits, &least, sizeof bits);
  LLVMValueRef magnitude = as_bits(k, x);
  magnitude = iadd(k, iadd(k, magnitude, magnitude), whole(k, INT64_C(0x7FFFFFFF)));  // 0 wraps around to the end
  return compare_bits(k, LLVMIntSLT, magnitude, whole(k, (int32_t)(UINT32_C(0x7FFFFFFF) + 2 * bits)));
}

// A division is one instruction, but of low throughput in vector units: products are profitable in vectors alone.
LLVMValueRef indim_emit_divide_by_constant(indim_emit *e, LLVMValueRef x, LLVMValueRef y) {
  double by = 0;
  inverse i;
  kit k = kit_of(e, x);
  if (k.is_double || !e->has_fma || (e->fast & INDIM_FAST_RECIPROCAL) != 0 ||
      LLVMGetTypeKind(k.type) != LLVMVectorTypeKind || LLVMIsConstant(x) || !indim_emit_constant_of(y, &by) ||
      !find_inverse((float)by, &i)) {
    return NULL;
  }
  LLVMValueRef usual = fused(&k, x, real(&k, (double)i.high), mul(&k, x, real(&k, (double)i.low)));
  LLVMBasicBlockRef rare = indim_emit_math_block(e, "division");
  LLVMBasicBlockRef after = indim_emit_math_block(e, "");
  LLVMBasicBlockRef before = LLVMGetInsertBlock(e->builder);
  indim_emit_math_branch_rarely(e, indim_emit_math_any_lane(&k, is_small(&k, x, i.least)), rare, after);
  LLVMPositionBuilderAtEnd(e->builder, rare);
  LLVMValueRef divided = quotient(&k, x, y);
  LLVMBuildBr(e->builder, after);
  LLVMPositionBuilderAtEnd(e->builder, after);
  LLVMValueRef result = indim_emit_math_phi(e, k.type, usual, before);
  LLVMAddIncoming(result, &divided, &rare, 1);
  return result;
}
