// Decimal numbers: printing against the C library's %.*g, parsing against its strtod, over the whole range.
#include "base/number.h"

#include <math.h>
#include <stdlib.h>

#include "test.h"

static uint64_t state = UINT64_C(88172645463325252);
static uint64_t next_random(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

// Doubles of every kind: any bits, floats, integers of any length, around 1, short decimals.
static double random_double(int kind) {
  uint64_t bits = next_random();
  double value = 0;
  float narrow = 0;
  uint32_t word = (uint32_t)bits;
  switch (kind) {
  case 0:
    memcpy(&value, &bits, sizeof value);
    return value;
  case 1:
    memcpy(&narrow, &word, sizeof narrow);
    return (double)narrow;
  case 2:
    return (double)(int64_t)(bits >> (bits % 64));
  case 3:
    return ldexp((double)(bits >> 11), -53) - 0.5;
  default:
    return (double)(bits % 1000000) * pow(10, (double)((bits >> 40) % 30) - 15);
  }
}

static void check_print(double value, int digits) {
  char actual[64];
  char expected[64];
  size_t size = indim_number_print(value, digits, actual);
  snprintf(expected, sizeof expected, "%.*g", digits, value);
  CHECK_MSG(strcmp(actual, expected) == 0 && size == strlen(expected), "%a with %d digits: %s, expected %s", value,
            digits, actual, expected);
}

TEST(prints_as_printf_does) {
  for (int kind = 0; kind < 5; kind++) {
    for (int i = 0; i < 20000; i++) {
      double value = random_double(kind);
      if (!isnan(value)) {
        for (int digits = 1; digits <= 17; digits++) {
          check_print(value, digits);
        }
      }
    }
  }
}

TEST(prints_edges) {
  const double values[] = {0.0,
                           -0.0,
                           1,
                           -1,
                           0.5,
                           9.5,
                           99.5,
                           999999.5,
                           9999995,
                           0.0001,
                           0.00001,
                           1e22,
                           1e23,
                           123456789,
                           1.7976931348623157e308,
                           2.2250738585072014e-308,
                           5e-324,
                           0x1p-126,
                           0x1p-149,
                           0.1,
                           2.5,
                           3.5,
                           16777216,
                           16777217,
                           INFINITY,
                           -INFINITY};
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
    for (int digits = 1; digits <= 17; digits++) {
      check_print(values[i], digits);
    }
  }
  char text[40];
  CHECK(indim_number_print((double)NAN, 6, text) == 3);
  CHECK_EQ_STR(text, "nan");
  indim_number_print(copysign((double)NAN, -1), 6, text);
  CHECK_EQ_STR(text, "-nan");
}

TEST(parses_as_strtod_does) {
  for (int kind = 0; kind < 5; kind++) {
    for (int i = 0; i < 20000; i++) {
      double value = random_double(kind);
      char text[64];
      if (isnan(value) || isinf(value)) {
        continue;
      }
      snprintf(text, sizeof text, "%.*g", 1 + i % 30, value);
      CHECK_MSG(indim_number_parse(indim_str_of(text)) == strtod(text, NULL), "%s", text);
    }
  }
}

TEST(reads_back_what_it_prints) {
  for (int i = 0; i < 100000; i++) {
    double value = random_double(0);
    char text[64];
    if (!isnan(value) && !isinf(value)) {
      size_t size = indim_number_print(value, 17, text);
      CHECK_MSG(indim_number_parse((indim_str){text, size}) == value, "%a", value);
    }
  }
}

// More digits than a double could ever need, around a value that lies half way between two doubles.
TEST(parses_very_long_texts) {
  static char text[3000];
  const char *const half = "9007199254740993";  // 2^53 + 1
  const char *const ends[] = {"", "1", "e-300", "1e5", "0e-2", "e400", "e-400", "e99999999999999999999"};
  for (size_t zeros = 0; zeros < 1200; zeros += 399) {
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
      snprintf(text, sizeof text, "-%s.", half);
      size_t size = strlen(text);
      memset(text + size, '0', zeros);
      strcpy(text + size + zeros, ends[i]);
      CHECK_MSG(indim_number_parse(indim_str_of(text)) == strtod(text, NULL), "%zu zeros, %s", zeros, ends[i]);
      snprintf(text, sizeof text, "000%s", half);
      size = strlen(text);
      memset(text + size, '7', zeros);
      strcpy(text + size + zeros, ends[i]);
      CHECK_MSG(indim_number_parse(indim_str_of(text)) == strtod(text, NULL), "%zu sevens, %s", zeros, ends[i]);
    }
  }
  CHECK(indim_number_parse(indim_str_of("0.000e5")) == 0);
  CHECK(indim_number_parse(indim_str_of("0e500")) == 0);
}

#define CASES(X)               \
  X(prints_as_printf_does)     \
  X(prints_edges)              \
  X(parses_as_strtod_does)     \
  X(reads_back_what_it_prints) \
  X(parses_very_long_texts)
TEST_MAIN(CASES)
