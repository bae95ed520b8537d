// Short decimals convert exactly by one multiplication or division (Clinger's fast path: mantissa below 2^53, power of
// ten up to 22); the rest goes through strtod. Printing takes the digits from a 128-bit product where the value is in
// reach of one, and goes through snprintf otherwise.
#include "base/number.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                       1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// True if the text is short enough for the exact path; |*out| is then the result.
static bool parse_short(indim_str text, double *out) {
  size_t i = 0;
  bool negative = text.size > 0 && text.data[0] == '-';
  uint64_t mantissa = 0;
  int exponent = 0;
  bool after_point = false;
  for (i = negative; i < text.size; i++) {
    char c = text.data[i];
    if (c >= '0' && c <= '9') {
      mantissa = mantissa * 10 + (uint64_t)(c - '0');
      exponent -= after_point;
      if (mantissa > (UINT64_C(1) << 53)) {
        return false;
      }
    } else if (c == '.') {
      after_point = true;
    } else {
      break;
    }
  }
  if (i < text.size) {  // e or E
    i++;
    bool minus = i < text.size && text.data[i] == '-';
    i += i < text.size && (text.data[i] == '-' || text.data[i] == '+');
    int value = 0;
    for (; i < text.size; i++) {
      value = value * 10 + (text.data[i] - '0');
      if (value > 400) {
        return false;
      }
    }
    exponent += minus ? -value : value;
  }
  if (exponent < -22 || exponent > 22) {
    return false;
  }
  double value = (double)mantissa;
  value = exponent < 0 ? value / powers_of_ten[-exponent] : value * powers_of_ten[exponent];
  *out = negative ? -value : value;
  return true;
}

// strtod on a null-terminated copy with |point| for '.'. Digits beyond the buffer cannot matter to the value except
// through the exponent and through being non-zero, so they are counted and summed up in one sticky digit.
static double parse_long(indim_str text) {
  enum { KEPT = 800 };  // a double's midpoints have at most 767 significant digits
  char copy[KEPT + 64];
  size_t size = 0;
  size_t i = 0;
  int64_t exponent = 0;
  bool seen_digit = false;
  bool after_point = false;
  bool sticky = false;
  size_t kept = 0;
  if (text.size > 0 && text.data[0] == '-') {
    copy[size++] = '-';
    i++;
  }
  for (; i < text.size && text.data[i] != 'e' && text.data[i] != 'E'; i++) {
    char c = text.data[i];
    if (c == '.') {
      after_point = true;
      continue;
    }
    seen_digit = seen_digit || c != '0';
    if (!seen_digit || kept < KEPT) {
      if (seen_digit) {
        copy[size++] = c;
        kept++;
      }
      exponent -= after_point;
    } else {
      sticky = sticky || c != '0';
      exponent += !after_point;
    }
  }
  if (kept == 0) {
    copy[size++] = '0';
    exponent = 0;
  }
  if (sticky) {
    copy[size++] = '1';
    exponent--;
  }
  if (i < text.size) {
    i++;
    bool minus = i < text.size && text.data[i] == '-';
    i += i < text.size && (text.data[i] == '-' || text.data[i] == '+');
    int64_t value = 0;
    for (; i < text.size; i++) {
      value = value < 1000000000000 ? value * 10 + (text.data[i] - '0') : value;
    }
    exponent += minus ? -value : value;
  }
  exponent = exponent > 100000 ? 100000 : exponent < -100000 ? -100000 : exponent;
  snprintf(copy + size, sizeof copy - size, "e%d", (int)exponent);
  return strtod(copy, NULL);  // no decimal point left, so the locale does not matter
}

double indim_number_parse(indim_str text) {
  double value = 0;
  return parse_short(text, &value) ? value : parse_long(text);
}

// Printing --------------------------------------------------------------------------------------------------------

// value = mantissa * 2^exponent for a finite, positive value.
static uint64_t split(double value, int *out_exponent) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  int field = (int)(bits >> 52 & 0x7FF);
  uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
  *out_exponent = (field == 0 ? 1 : field) - 1075;
  return field == 0 ? fraction : fraction | UINT64_C(1) << 52;
}

// a * b as 128 bits.
static void multiply(uint64_t a, uint64_t b, uint64_t *out_high, uint64_t *out_low) {
  uint64_t low = (a & 0xFFFFFFFF) * (b & 0xFFFFFFFF);
  uint64_t middle = (a >> 32) * (b & 0xFFFFFFFF) + (low >> 32);
  uint64_t other = (a & 0xFFFFFFFF) * (b >> 32) + (middle & 0xFFFFFFFF);
  *out_high = (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32);
  *out_low = other << 32 | (low & 0xFFFFFFFF);
}

// (high, low) / 2^shift to the nearest integer, ties to even, for 0 < shift < 128 and a result below 2^64.
static uint64_t shift_rounded(uint64_t high, uint64_t low, int shift) {
  uint64_t kept;
  bool half;
  bool rest;
  if (shift > 64) {
    uint64_t below = high & ((UINT64_C(1) << (shift - 64)) - 1);
    uint64_t half_bit = UINT64_C(1) << (shift - 65);
    kept = high >> (shift - 64);
    half = (below & half_bit) != 0;
    rest = (below & (half_bit - 1)) != 0 || low != 0;
  } else {
    uint64_t half_bit = UINT64_C(1) << (shift - 1);
    kept = shift == 64 ? high : low >> shift | high << (64 - shift);
    half = (low & half_bit) != 0;
    rest = (low & (half_bit - 1)) != 0;
  }
  return kept + (half && (rest || (kept & 1) != 0));
}

static const uint64_t powers_of_five[] = {UINT64_C(1),
                                          UINT64_C(5),
                                          UINT64_C(25),
                                          UINT64_C(125),
                                          UINT64_C(625),
                                          UINT64_C(3125),
                                          UINT64_C(15625),
                                          UINT64_C(78125),
                                          UINT64_C(390625),
                                          UINT64_C(1953125),
                                          UINT64_C(9765625),
                                          UINT64_C(48828125),
                                          UINT64_C(244140625),
                                          UINT64_C(1220703125),
                                          UINT64_C(6103515625),
                                          UINT64_C(30517578125),
                                          UINT64_C(152587890625),
                                          UINT64_C(762939453125),
                                          UINT64_C(3814697265625),
                                          UINT64_C(19073486328125),
                                          UINT64_C(95367431640625),
                                          UINT64_C(476837158203125),
                                          UINT64_C(2384185791015625),
                                          UINT64_C(11920928955078125),
                                          UINT64_C(59604644775390625),
                                          UINT64_C(298023223876953125),
                                          UINT64_C(1490116119384765625),
                                          UINT64_C(7450580596923828125)};

// The first |digits| decimal digits of a positive value, rounded, and the decimal exponent of the first of them. Exact:
// value * 10^k is mantissa * 5^k * 2^(exponent + k), and the product fits in 128 bits. False outside that range.
static bool decimal_digits(double value, int digits, uint64_t *out_digits, int *out_first) {
  int exponent = 0;
  uint64_t mantissa = split(value, &exponent);
  uint64_t limit = (uint64_t)powers_of_ten[digits];
  if (mantissa >> 52 == 0) {
    return false;  // subnormal
  }
  // The exponent of the first digit, or one less; adjusted below.
  int first = (int)(((exponent + 52) * INT64_C(315653)) >> 20);
  for (int attempt = 0; attempt < 2; attempt++, first++) {
    int k = digits - 1 - first;
    int shift = -(exponent + k);
    uint64_t high = 0;
    uint64_t low = 0;
    if (k < 0 || k >= (int)(sizeof powers_of_five / sizeof powers_of_five[0]) || shift >= 128 || shift < -10) {
      return false;
    }
    multiply(mantissa, powers_of_five[k], &high, &low);
    if (shift <= 0 ? high != 0 || (low << -shift) >> -shift != low : shift < 64 && high >> shift != 0) {
      continue;  // more digits than wanted
    }
    *out_digits = shift <= 0 ? low << -shift : shift_rounded(high, low, shift);
    *out_first = first;
    if (*out_digits < limit) {
      return *out_digits >= limit / 10;
    }
    if (*out_digits == limit) {  // rounded up to the next power of ten
      *out_digits = limit / 10;
      *out_first = first + 1;
      return true;
    }
  }
  return false;
}

static size_t print_exponent(int exponent, char *out) {
  size_t size = 0;
  unsigned magnitude = exponent < 0 ? (unsigned)-exponent : (unsigned)exponent;
  out[size++] = 'e';
  out[size++] = exponent < 0 ? '-' : '+';
  if (magnitude >= 100) {
    out[size++] = (char)('0' + magnitude / 100);
  }
  out[size++] = (char)('0' + magnitude / 10 % 10);
  out[size++] = (char)('0' + magnitude % 10);
  return size;
}

// Lays out |digits| digits as %g does.
static size_t print_digits(uint64_t value, int digits, int first, char *out) {
  char text[24];
  size_t size = 0;
  bool scientific = first < -4 || first >= digits;
  int count = digits;
  for (int i = digits - 1; i >= 0; i--, value /= 10) {
    text[i] = (char)('0' + value % 10);
  }
  while (count > 1 && text[count - 1] == '0') {
    count--;
  }
  int whole = scientific ? 1 : first + 1;  // digits before the point
  if (whole <= 0) {
    out[size++] = '0';
    out[size++] = '.';
    for (int i = whole; i < 0; i++) {
      out[size++] = '0';
    }
  }
  for (int i = 0; i < count || i < whole; i++) {
    if (i > 0 && i == whole) {
      out[size++] = '.';
    }
    out[size++] = i < count ? text[i] : '0';
  }
  return size + (scientific ? print_exponent(first, out + size) : 0);
}

// Any value, through snprintf.
static size_t print_slowly(double value, int digits, char *out) {
  int size = snprintf(out, 40, "%.*g", digits, value);
  const char *point = localeconv()->decimal_point;
  size_t point_size = strlen(point);
  if (point_size != 1 || point[0] != '.') {
    char *found = point_size == 0 ? NULL : strstr(out, point);
    if (found != NULL) {
      *found = '.';
      memmove(found + 1, found + point_size, strlen(found + point_size) + 1);
      size -= (int)point_size - 1;
    }
  }
  return (size_t)size;
}

size_t indim_number_print(double value, int digits, char *out) {
  size_t size = 0;
  uint64_t decimal = 0;
  int first = 0;
  if (isnan(value) || isinf(value)) {
    strcpy(out, isnan(value) ? (signbit(value) ? "-nan" : "nan") : (value < 0 ? "-inf" : "inf"));
    return strlen(out);
  }
  if (signbit(value)) {
    out[size++] = '-';
    value = -value;
  }
  if (value == 0) {
    out[size++] = '0';
  } else if (digits >= 1 && decimal_digits(value, digits, &decimal, &first)) {
    size += print_digits(decimal, digits, first, out + size);
  } else {
    return size + print_slowly(value, digits, out + size);
  }
  out[size] = '\0';
  return size;
}
