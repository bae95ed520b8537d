// Index arithmetic.
#include "loop/ir/index_math.h"

#include "base/size.h"

bool indim_index_mul(int64_t a, int64_t b, int64_t *out) {
  bool is_negative = (a < 0) != (b < 0);
  uint64_t x = a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
  uint64_t y = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
  uint64_t limit = (uint64_t)INT64_MAX + (is_negative ? 1U : 0U);
  *out = 0;
  if (x == 0 || y == 0) {
    return true;
  }
  if (x > limit / y) {
    *out = is_negative ? INT64_MIN : INT64_MAX;
    return false;
  }
  uint64_t product = x * y;
  *out = is_negative ? -(int64_t)(product - 1) - 1 : (int64_t)product;
  return true;
}

int64_t indim_index_mul_saturated(int64_t a, int64_t b) {
  int64_t product = 0;
  (void)indim_index_mul(a, b, &product);
  return product;
}

int64_t indim_index_add_saturated(int64_t a, int64_t b) {
  int64_t result = 0;
  if (indim_int_add(a, b, &result)) {
    return result;
  }
  return b > 0 ? INT64_MAX : INT64_MIN;
}

int64_t indim_index_floordiv(int64_t value, int64_t divisor) {
  int64_t quotient = value / divisor;
  return quotient - (value % divisor < 0);
}

int64_t indim_index_modulo(int64_t value, int64_t divisor) {
  int64_t remainder = value % divisor;
  return remainder < 0 ? remainder + divisor : remainder;
}

bool indim_index_type_range(indim_type type, int64_t *out_low, int64_t *out_high) {
  int32_t bits = indim_type_bits(type);
  if (type == INDIM_PRED) {
    *out_low = 0;
    *out_high = 1;
  } else if (indim_type_is_signed_int(type)) {
    *out_high = (int64_t)(((uint64_t)1 << (bits - 1)) - 1);
    *out_low = -*out_high - 1;
  } else if (indim_type_is_unsigned_int(type)) {
    *out_low = 0;
    *out_high = bits >= 63 ? INT64_MAX : ((int64_t)1 << bits) - 1;
  } else {
    return false;
  }
  return true;
}
