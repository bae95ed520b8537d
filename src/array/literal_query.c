// Questions about all elements of an array: is every one this value, how many are.
#include <math.h>

#include "array/literal_internal.h"
#include "indim/literal_util.h"

// What each element is held against.
typedef struct wanted {
  indim_element bits;  // compared bit by bit, or
  double real;         // by value
  double imag;
  bool by_value;
  bool equal_nans;
} wanted;

static bool matches_part(double x, double y, bool equal_nans) { return x == y || (equal_nans && isnan(x) && isnan(y)); }

static bool matches(indim_type type, const wanted *w, indim_element element) {
  if (!w->by_value) {
    return element.bits == w->bits.bits && element.imag == w->bits.imag;
  }
  return matches_part(indim_element_real(type, element), w->real, w->equal_nans) &&
         matches_part(indim_element_imag(type, element), w->imag, w->equal_nans);
}

static bool has_values(const indim_literal *literal) {
  return indim_shape_is_array(&literal->shape) && !literal->elided;
}

// Counts matches; stops at the first that does not match if |all| is set, and returns -1 then.
static int64_t count_matches(const indim_literal *literal, const wanted *w, bool all) {
  int32_t rank = literal->shape.rank;
  const int64_t *sizes = literal->dynamic_sizes;
  int64_t index[INDIM_MAX_RANK] = {0};
  int64_t length = indim_row_length(rank, sizes);
  int64_t count = 0;
  for (bool more = indim_rows_any(rank, sizes); more; more = indim_rows_next(rank, sizes, index)) {
    indim_row row = indim_row_at(literal, index);
    for (int64_t i = 0; i < length; i++) {
      bool match = matches(literal->shape.type, w, indim_literal_load(literal, indim_row_place(&row, i)));
      if (all && !match) {
        return -1;
      }
      count += match;
    }
  }
  return count;
}

static bool is_floating(indim_type type) { return indim_type_is_float(type) || indim_type_is_complex(type); }

// The value in the literal's type, for comparing as numbers compare.
static wanted want_element(indim_type type, indim_element element) {
  wanted w = {.bits = element, .by_value = is_floating(type)};
  if (w.by_value) {
    w.real = indim_element_real(type, element);
    w.imag = indim_element_imag(type, element);
  }
  return w;
}

bool indim_literal_is_all(const indim_literal *literal, int64_t value) {
  if (literal == NULL) {
    return false;
  }
  if (!has_values(literal)) {
    return false;
  }
  indim_type type = literal->shape.type;
  wanted w = {.by_value = is_floating(type)};
  if (w.by_value) {
    // 2^63 as a double is no int64_t, and only values that a double holds exactly can be an element.
    w.real = (double)value;
    bool exact = w.real < 0x1p63 && (int64_t)w.real == value;
    return exact ? count_matches(literal, &w, true) >= 0 : indim_shape_element_count(&literal->shape) == 0;
  }
  w.bits = indim_element_of_int(type, value);
  bool exact = type == INDIM_PRED  ? value == 0 || value == 1
               : type == INDIM_U64 ? value >= 0
                                   : indim_element_to_int(type, w.bits) == value;
  return exact ? count_matches(literal, &w, true) >= 0 : indim_shape_element_count(&literal->shape) == 0;
}

bool indim_literal_is_all_float(const indim_literal *literal, double value) {
  if (literal == NULL) {
    return false;
  }
  indim_type type = literal->shape.type;
  if (!has_values(literal) || !indim_type_is_float(type)) {
    return false;
  }
  wanted w = want_element(type, indim_element_of_float(type, value, 0));
  return count_matches(literal, &w, true) >= 0;
}

bool indim_literal_is_all_complex(const indim_literal *literal, double real, double imag) {
  if (literal == NULL) {
    return false;
  }
  indim_type type = literal->shape.type;
  if (!has_values(literal) || !indim_type_is_complex(type)) {
    return false;
  }
  wanted w = want_element(type, indim_element_of_float(type, real, imag));
  return count_matches(literal, &w, true) >= 0;
}

bool indim_literal_is_all_first(const indim_literal *literal) {
  if (literal == NULL) {
    return false;
  }
  int64_t index[INDIM_MAX_RANK] = {0};
  if (!has_values(literal) || !indim_rows_any(literal->shape.rank, literal->dynamic_sizes)) {
    return false;
  }
  wanted w = {.bits = indim_literal_load(literal, indim_literal_place(literal, index))};
  return count_matches(literal, &w, true) >= 0;
}

int64_t indim_literal_count_equal_int(const indim_literal *literal, int64_t value) {
  if (literal == NULL) {
    return 0;
  }
  if (!has_values(literal)) {
    return 0;
  }
  indim_type type = literal->shape.type;
  indim_element element = indim_element_convert(INDIM_S64, type, indim_element_of_int(INDIM_S64, value));
  wanted w = want_element(type, element);
  w.equal_nans = true;  // f8e8m0fnu makes NaN of 0
  return count_matches(literal, &w, false);
}

int64_t indim_literal_count_equal_float(const indim_literal *literal, double value) {
  if (literal == NULL) {
    return 0;
  }
  if (!has_values(literal)) {
    return 0;
  }
  indim_type type = literal->shape.type;
  indim_element element = indim_element_convert(INDIM_F64, type, indim_element_of_float(INDIM_F64, value, 0));
  wanted w = want_element(type, element);
  w.equal_nans = true;
  return count_matches(literal, &w, false);
}

int64_t indim_literal_count_equal_complex(const indim_literal *literal, double real, double imag) {
  if (literal == NULL) {
    return 0;
  }
  indim_type type = literal->shape.type;
  if (!has_values(literal) || !indim_type_is_complex(type)) {
    return 0;
  }
  wanted w = want_element(type, indim_element_of_float(type, real, imag));
  w.equal_nans = true;
  return count_matches(literal, &w, false);
}
