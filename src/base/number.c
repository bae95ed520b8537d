// Short decimals convert exactly by one multiplication or division (Clinger's fast path: mantissa below 2^53, power of
// ten up to 22); the rest goes through strtod with the locale's decimal point put in.
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

size_t indim_number_print(double value, int digits, char *out) {
  if (isnan(value) || isinf(value)) {
    strcpy(out, isnan(value) ? (signbit(value) ? "-nan" : "nan") : (value < 0 ? "-inf" : "inf"));
    return strlen(out);
  }
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
