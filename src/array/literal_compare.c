// Compares literals: exactly, bit by bit, and within a tolerance with a report of the worst element.
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "array/float_format.h"
#include "array/literal_internal.h"
#include "array/literal_text.h"
#include "array/shape_internal.h"
#include "array/shape_text.h"

// Exactly ---------------------------------------------------------------------------------------------------------

static bool same_array_shape(const indim_literal *a, const indim_literal *b) {
  return a->shape.type == b->shape.type && a->shape.rank == b->shape.rank &&
         indim_index_compare(a->shape.rank, a->dynamic_sizes, b->dynamic_sizes) == 0;
}

static bool equal_arrays(const indim_literal *a, const indim_literal *b) {
  if (!same_array_shape(a, b) || a->elided || b->elided) {
    return false;
  }
  int32_t rank = a->shape.rank;
  const int64_t *sizes = a->dynamic_sizes;
  bool whole_bytes = indim_type_bits(a->shape.type) >= 8;  // no bits that mean nothing
  if (whole_bytes && a->shape.dynamic == 0 && b->shape.dynamic == 0 && indim_literal_is_plain(a) &&
      indim_literal_is_plain(b)) {
    return memcmp(a->data, b->data, a->bytes) == 0;
  }
  int64_t index[INDIM_MAX_RANK] = {0};
  int64_t length = indim_row_length(rank, sizes);
  for (bool more = indim_rows_any(rank, sizes); more; more = indim_rows_next(rank, sizes, index)) {
    indim_row row_a = indim_row_at(a, index);
    indim_row row_b = indim_row_at(b, index);
    for (int64_t i = 0; i < length; i++) {
      indim_element x = indim_literal_load(a, indim_row_place(&row_a, i));
      indim_element y = indim_literal_load(b, indim_row_place(&row_b, i));
      if (x.bits != y.bits || x.imag != y.imag) {
        return false;
      }
    }
  }
  return true;
}

bool indim_literal_equal(const indim_literal *a, const indim_literal *b) {
  if (a == NULL || b == NULL) {
    return false;
  }
  if (a->shape.type != b->shape.type || a->member_count != b->member_count) {
    return false;
  }
  for (int64_t i = 0; i < a->member_count; i++) {
    if (!indim_literal_equal(a->members[i], b->members[i])) {
      return false;
    }
  }
  return !indim_shape_is_array(&a->shape) || equal_arrays(a, b);
}

// Within a tolerance ----------------------------------------------------------------------------------------------

typedef struct error {
  bool passes;
  double abs;
  double rel;
  double ulps;
} error;

static const error no_error = {.passes = true};
static error infinite_error(void) { return (error){false, (double)INFINITY, (double)INFINITY, (double)INFINITY}; }

// Where a value stands among all values of its type: neighbours differ by 1, both zeros are 0.
static int64_t ordinal(const indim_float_format *format, uint64_t bits) {
  int64_t magnitude = (int64_t)(bits & ~format->sign_bit);
  return (bits & format->sign_bit) != 0 ? -magnitude : magnitude;
}

static error compare_float(indim_type type, uint64_t expected, uint64_t actual, const indim_tolerance *tolerance) {
  double x = indim_element_real(type, (indim_element){expected, 0});
  double y = indim_element_real(type, (indim_element){actual, 0});
  if (expected == actual || (isnan(x) && isnan(y) && tolerance->equal_nans)) {
    return no_error;
  }
  if (!isfinite(x) || !isfinite(y)) {
    return infinite_error();
  }
  const indim_float_format *format = indim_float_format_of(type);
  int64_t a = ordinal(format, expected);
  int64_t b = ordinal(format, actual);
  uint64_t steps = a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
  error e = {false, fabs(x - y), 0, (double)steps};
  e.rel = e.abs == 0 ? 0 : x == 0 ? (double)INFINITY : e.abs / fabs(x);
  e.passes =
      e.abs <= tolerance->abs || e.rel <= tolerance->rel || (tolerance->ulps > 0 && steps <= (uint64_t)tolerance->ulps);
  return e;
}

static error compare_int(indim_type type, indim_element expected, indim_element actual) {
  if (expected.bits == actual.bits) {
    return no_error;
  }
  int64_t x = indim_element_to_int(type, expected);
  int64_t y = indim_element_to_int(type, actual);
  bool less = indim_type_is_signed_int(type) ? x < y : expected.bits < actual.bits;
  uint64_t distance = less ? (uint64_t)y - (uint64_t)x : (uint64_t)x - (uint64_t)y;
  double size = indim_type_is_signed_int(type) ? fabs((double)x) : (double)expected.bits;
  return (error){false, (double)distance, size == 0 ? (double)INFINITY : (double)distance / size, (double)distance};
}

static double larger(double a, double b) { return a > b ? a : b; }

static error compare_elements(indim_type type, indim_element expected, indim_element actual,
                              const indim_tolerance *tolerance) {
  if (indim_type_is_float(type)) {
    return compare_float(type, expected.bits, actual.bits, tolerance);
  }
  if (!indim_type_is_complex(type)) {
    return compare_int(type, expected, actual);
  }
  indim_type part = indim_type_component_of(type);
  error re = compare_float(part, expected.bits, actual.bits, tolerance);
  error im = compare_float(part, expected.imag, actual.imag, tolerance);
  return (error){re.passes && im.passes, larger(re.abs, im.abs), larger(re.rel, im.rel), larger(re.ulps, im.ulps)};
}

static double real_of(indim_type type, indim_element element) {
  if (indim_type_is_float(type) || indim_type_is_complex(type)) {
    return indim_element_real(type, element);
  }
  return indim_type_is_signed_int(type) ? (double)indim_element_to_int(type, element) : (double)element.bits;
}

typedef struct comparison {
  indim_ctx *cx;
  const indim_tolerance *tolerance;
  indim_mismatch *result;
  int64_t leaf;
} comparison;

static void note(comparison *c, indim_type type, error e, const int64_t *index, int32_t rank, indim_element expected,
                 indim_element actual) {
  indim_mismatch *m = c->result;
  bool first_failure = !e.passes && m->count == 0;
  bool worse = e.rel > m->worst_rel || (e.rel == m->worst_rel && e.abs > m->worst_abs);
  m->elements++;
  m->count += !e.passes;
  if (m->worst_leaf >= 0 && !first_failure && (!worse || (e.passes && m->count > 0))) {
    return;
  }
  m->worst_leaf = c->leaf;
  memcpy(m->worst_index, index, (size_t)rank * sizeof index[0]);
  m->worst_expected[0] = real_of(type, expected);
  m->worst_actual[0] = real_of(type, actual);
  m->worst_expected[1] = indim_type_is_complex(type) ? indim_element_imag(type, expected) : 0;
  m->worst_actual[1] = indim_type_is_complex(type) ? indim_element_imag(type, actual) : 0;
  indim_element_print(type, expected, m->worst_expected_text);
  indim_element_print(type, actual, m->worst_actual_text);
  m->worst_abs = e.abs;
  m->worst_rel = e.rel;
  m->worst_ulps = e.ulps;
}

// Shapes as printed, with run-time sizes: "f32[<=4](3)".
static void name_shape(const indim_literal *literal, char out[300]) {
  indim_shape_name name = indim_shape_name_of(&literal->shape);
  size_t size = strlen(name.text);
  memcpy(out, name.text, size + 1);
  for (int32_t d = 0; literal->shape.dynamic != 0 && d < literal->shape.rank && size < 270; d++) {
    out[size++] = d == 0 ? '(' : ',';
    size += indim_element_print(INDIM_S64, indim_element_of_int(INDIM_S64, literal->dynamic_sizes[d]), out + size);
    out[size] = d == literal->shape.rank - 1 ? ')' : '\0';
    out[size + 1] = '\0';
  }
}

static indim_status fail_shapes(const comparison *c, const indim_literal *expected, const indim_literal *actual) {
  char x[300];
  char y[300];
  name_shape(expected, x);
  name_shape(actual, y);
  return indim_fail(c->cx, INDIM_INVALID, "leaf %" PRId64 ": expected %s, got %s", c->leaf, x, y);
}

static indim_status compare_arrays(comparison *c, const indim_literal *expected, const indim_literal *actual) {
  INDIM_TRY(indim_literal_need_array(c->cx, expected, "a comparison"));
  INDIM_TRY(indim_literal_need_array(c->cx, actual, "a comparison"));
  if (!same_array_shape(expected, actual)) {
    return fail_shapes(c, expected, actual);
  }
  indim_type type = expected->shape.type;
  int32_t rank = expected->shape.rank;
  const int64_t *sizes = expected->dynamic_sizes;
  int64_t index[INDIM_MAX_RANK] = {0};
  int64_t length = indim_row_length(rank, sizes);
  for (bool more = indim_rows_any(rank, sizes); more; more = indim_rows_next(rank, sizes, index)) {
    INDIM_TRY(indim_poll(c->cx));
    indim_row row_x = indim_row_at(expected, index);
    indim_row row_y = indim_row_at(actual, index);
    for (int64_t i = 0; i < length; i++) {
      indim_element x = indim_literal_load(expected, indim_row_place(&row_x, i));
      indim_element y = indim_literal_load(actual, indim_row_place(&row_y, i));
      if (rank > 0) {
        index[rank - 1] = i;
      }
      note(c, type, compare_elements(type, x, y, c->tolerance), index, rank, x, y);
    }
  }
  return INDIM_OK;
}

static indim_status compare_trees(comparison *c, const indim_literal *expected, const indim_literal *actual) {
  bool same_kind = indim_shape_is_array(&expected->shape) == indim_shape_is_array(&actual->shape) &&
                   indim_shape_is_tuple(&expected->shape) == indim_shape_is_tuple(&actual->shape);
  if (!same_kind || expected->member_count != actual->member_count) {
    return fail_shapes(c, expected, actual);
  }
  for (int64_t i = 0; i < expected->member_count; i++) {
    INDIM_TRY(compare_trees(c, expected->members[i], actual->members[i]));
  }
  if (indim_shape_is_tuple(&expected->shape)) {
    return INDIM_OK;
  }
  INDIM_TRY(indim_shape_is_array(&expected->shape) ? compare_arrays(c, expected, actual) : INDIM_OK);
  c->leaf++;
  return INDIM_OK;
}

indim_status indim_literal_compare(indim_ctx *cx, const indim_literal *expected, const indim_literal *actual,
                                   const indim_tolerance *tolerance, indim_mismatch *out_mismatch) {
  INDIM_NOT_NULL(cx, expected);
  INDIM_NOT_NULL(cx, actual);
  INDIM_NOT_NULL(cx, tolerance);
  INDIM_NOT_NULL(cx, out_mismatch);
  memset(out_mismatch, 0, sizeof *out_mismatch);
  out_mismatch->worst_leaf = -1;
  comparison c = {cx, tolerance, out_mismatch, 0};
  return compare_trees(&c, expected, actual);
}

// Leaf number |leaf|, counted down as leaves are passed.
static const indim_literal *find_leaf(const indim_literal *literal, int64_t *leaf) {
  if (!indim_shape_is_tuple(&literal->shape)) {
    return (*leaf)-- == 0 ? literal : NULL;
  }
  for (int64_t i = 0; i < literal->member_count; i++) {
    const indim_literal *found = find_leaf(literal->members[i], leaf);
    if (found != NULL) {
      return found;
    }
  }
  return NULL;
}

static void print_distance(const char *name, double value, indim_buffer *out) {
  indim_buffer_printf(out, ", %s %.3g", name, value);
}

void indim_mismatch_print(const indim_mismatch *mismatch, const indim_literal *expected, indim_buffer *out) {
  if (mismatch == NULL || expected == NULL) {
    return;
  }
  const indim_mismatch *m = mismatch;
  int64_t leaf = m->worst_leaf;
  const indim_literal *worst = leaf < 0 ? NULL : find_leaf(expected, &leaf);
  if (m->count == 0) {
    indim_buffer_printf(out, "all %" PRId64 " elements agree", m->elements);
  } else {
    indim_buffer_printf(out, "%" PRId64 " of %" PRId64 " elements differ (%.3g %%)", m->count, m->elements,
                        100 * (double)m->count / (double)m->elements);
  }
  if (worst == NULL || (m->count == 0 && m->worst_rel == 0)) {
    indim_buffer_char(out, '\n');
    return;
  }
  indim_buffer_text(out, "; worst");
  if (indim_shape_is_tuple(&expected->shape)) {
    indim_buffer_printf(out, " in leaf %" PRId64, m->worst_leaf);
  }
  indim_buffer_text(out, " at (");
  for (int32_t d = 0; d < worst->shape.rank; d++) {
    indim_buffer_printf(out, "%s%" PRId64, d > 0 ? "," : "", m->worst_index[d]);
  }
  indim_buffer_printf(out, "): expected %s, got %s", m->worst_expected_text, m->worst_actual_text);
  print_distance("absolute error", m->worst_abs, out);
  print_distance("relative error", m->worst_rel, out);
  print_distance("ulps", m->worst_ulps, out);
  indim_buffer_char(out, '\n');
}
