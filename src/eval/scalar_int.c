// Integers and pred. Results may exceed the type's width: they are wrapped afterwards.
#include "eval/scalar_ops.h"

#define X (operands[0].i)
#define Y (operands[1].i)
#define INT_OP(name) indim_scalar indim_int_##name(const indim_scalar_op *op, const indim_scalar *operands)

static indim_scalar of(int64_t value) { return (indim_scalar){.i = value}; }
static indim_scalar of_unsigned(uint64_t value) { return (indim_scalar){.i = (int64_t)value}; }
static bool is_signed(const indim_scalar_op *op) { return indim_type_is_signed_int(op->type); }

int64_t indim_scalar_most(indim_type type) { return (int64_t)(UINT64_MAX >> (64 - indim_type_bits(type)) >> 1); }

uint64_t indim_scalar_pattern(indim_type type, int64_t x) {
  return (uint64_t)x & UINT64_MAX >> (64 - indim_type_bits(type));
}

bool indim_direction_holds(indim_compare_direction direction, bool less, bool equal) {
  switch (direction) {
  case INDIM_COMPARE_EQ:
    return equal;
  case INDIM_COMPARE_NE:
    return !equal;
  case INDIM_COMPARE_GE:
    return !less;
  case INDIM_COMPARE_GT:
    return !less && !equal;
  case INDIM_COMPARE_LE:
    return less || equal;
  case INDIM_COMPARE_LT:
    return less;
  }
  return false;
}

static bool less(const indim_scalar_op *op, int64_t x, int64_t y) {
  return is_signed(op) ? x < y : (uint64_t)x < (uint64_t)y;
}

INT_OP(abs) {
  (void)op;
  return X
  < 0 ? of_unsigned(0 - (uint64_t)X) : of(X);
}

INT_OP(negate) {
  (void)op;
  return of_unsigned(0 - (uint64_t)X);
}

INT_OP(sign) { return of(is_signed(op) && X < 0 ? -1 : X != 0); }
INT_OP(not ) { return of(op->type == INDIM_PRED ? X == 0 : ~X); }

INT_OP(copy) {
  (void)op;
  return operands[0];
}

INT_OP(popcnt) {
  int64_t count = 0;
  for (uint64_t rest = indim_scalar_pattern(op->type, X); rest != 0; rest &= rest - 1) {
    count++;
  }
  return of(count);
}

INT_OP(clz) {
  int64_t zeros = indim_type_bits(op->type);
  for (uint64_t rest = indim_scalar_pattern(op->type, X); rest != 0; rest >>= 1) {
    zeros--;
  }
  return of(zeros);
}

// pred: 1 + 1 is wrapped to true, 1 * 1 is and.
INT_OP(add) {
  (void)op;
  return of_unsigned((uint64_t)X + (uint64_t)Y);
}

INT_OP(subtract) {
  (void)op;
  return of_unsigned((uint64_t)X - (uint64_t)Y);
}

INT_OP(multiply) {
  (void)op;
  return of_unsigned((uint64_t)X * (uint64_t)Y);
}

// The upper 64 bits of the product of two numbers of 64.
static uint64_t high_product(uint64_t x, uint64_t y) {
  uint64_t x_low = (uint32_t)x, x_high = x >> 32;
  uint64_t y_low = (uint32_t)y, y_high = y >> 32;
  uint64_t middle = x_high * y_low + (x_low * y_low >> 32);
  uint64_t other = x_low * y_high + (uint32_t)middle;
  return x_high * y_high + (middle >> 32) + (other >> 32);
}

INT_OP(mulhi) {
  int32_t bits = indim_type_bits(op->type);
  if (bits < 64) {
    return is_signed(op) ? of(X * Y >> bits) : of_unsigned((uint64_t)X * (uint64_t)Y >> bits);
  }
  uint64_t high = high_product((uint64_t)X, (uint64_t)Y);
  if (is_signed(op)) {  // of a negative number x the unsigned one is x + 2^64
    high -= (X < 0 ? (uint64_t)Y : 0) + (Y < 0 ? (uint64_t)X : 0);
  }
  return of_unsigned(high);
}

// x / 0 is -1, or all ones when unsigned; the least value / -1 wraps to itself.
INT_OP(divide) {
  if (Y == 0) {
    return of(-1);
  }
  if (!is_signed(op)) {
    return of_unsigned((uint64_t)X / (uint64_t)Y);
  }
  return Y == -1 ? of_unsigned(0 - (uint64_t)X) : of(X / Y);
}

INT_OP(remainder) {
  if (Y == 0) {
    return of(X);
  }
  if (!is_signed(op)) {
    return of_unsigned((uint64_t)X % (uint64_t)Y);
  }
  return of(Y == -1 ? 0 : X % Y);
}

// By squaring, modulo 2^64. A negative exponent gives 1 for base 1 and 0 otherwise.
INT_OP(power) {
  if (is_signed(op) && Y < 0) {
    return of(X == 1);
  }
  uint64_t result = 1;
  uint64_t base = (uint64_t)X;
  for (uint64_t exponent = (uint64_t)Y; exponent != 0; exponent >>= 1, base *= base) {
    result = (exponent & 1) != 0 ? result * base : result;
  }
  return of_unsigned(result);
}

INT_OP(maximum) { return less(op, X, Y) ? of(Y) : of(X); }
INT_OP(minimum) { return less(op, Y, X) ? of(Y) : of(X); }

INT_OP(and) {
  (void)op;
  return of(X & Y);
}

INT_OP(or) {
  (void)op;
  return of(X | Y);
}

INT_OP(xor) {
  (void)op;
  return of(X ^ Y);
}

// Shift amounts are unsigned; from the width on everything is shifted out.
INT_OP(shift_left) {
  uint64_t amount = indim_scalar_pattern(op->type, Y);
  return amount >= (uint64_t)indim_type_bits(op->type) ? of(0) : of_unsigned((uint64_t)X << amount);
}

INT_OP(shift_right_logical) {
  uint64_t amount = indim_scalar_pattern(op->type, Y);
  return amount >= (uint64_t)indim_type_bits(op->type) ? of(0)
                                                       : of_unsigned(indim_scalar_pattern(op->type, X) >> amount);
}

// The top bit of the pattern fills, also for unsigned types.
INT_OP(shift_right_arithmetic) {
  int shift = 64 - indim_type_bits(op->type);
  int64_t extended = (int64_t)((uint64_t)X << shift) >> shift;
  uint64_t amount = indim_scalar_pattern(op->type, Y);
  return of(extended >> (amount >= 63 || amount >= (uint64_t)indim_type_bits(op->type) ? 63 : amount));
}

INT_OP(compare) { return of(indim_direction_holds(op->direction, less(op, X, Y), X == Y)); }

INT_OP(select) {
  (void)op;
  return X
  != 0 ? operands[1] : operands[2];
}

// min(max(x, low), high): high wins when the bounds cross.
INT_OP(clamp) {
  int64_t low = operands[0].i;
  int64_t high = operands[2].i;
  int64_t value = less(op, Y, low) ? low : Y;
  return of(less(op, high, value) ? high : value);
}

INT_OP(convert) { return indim_scalar_convert(op->type, op->result, operands[0]); }
