// Two shapes and the named dimensions to the one result shape, or to the one reason against it. The checks run in XLA's
// order, so that a pair with several faults gets the reason that XLA would give.
#include "indim/broadcast.h"

#include <inttypes.h>
#include <string.h>

#include "base/ctx.h"

// A pair being matched: the lower-rank operand is mapped into the higher-rank one's dimensions.
typedef struct matching {
  indim_ctx *cx;
  const indim_shape *lhs;
  const indim_shape *rhs;
  const int64_t *dims;
  int32_t dim_count;
  indim_broadcast_reason reason;
  indim_buffer lhs_text;  // "f32[2,3]", for messages
  indim_buffer rhs_text;
  indim_buffer hint;
} matching;

static const char *text_of(const indim_buffer *buffer) { return buffer->data == NULL ? "" : buffer->data; }

static indim_status refuse(matching *m, indim_broadcast_reason reason) {
  m->reason = reason;
  return INDIM_INVALID;
}

static void print_list(indim_buffer *out, const int64_t *values, int32_t count) {
  indim_buffer_char(out, '{');
  for (int32_t i = 0; i < count; i++) {
    indim_buffer_text(out, i == 0 ? "" : ",");
    indim_buffer_int(out, values[i]);
  }
  indim_buffer_char(out, '}');
}

static bool is_dynamic(const indim_shape *shape, int32_t dim) { return (shape->dynamic >> dim & 1) != 0; }
static bool is_static_one(const indim_shape *shape, int32_t dim) {
  return shape->sizes[dim] == 1 && !is_dynamic(shape, dim);
}

static void set_dim(indim_shape *shape, int32_t dim, int64_t size, bool dynamic) {
  shape->sizes[dim] = size;
  shape->dynamic = (shape->dynamic & ~(UINT64_C(1) << dim)) | (uint64_t)dynamic << dim;
}

static void print_size(indim_buffer *out, const indim_shape *shape, int32_t dim) {
  if (shape->sizes[dim] == INDIM_UNBOUNDED) {
    indim_buffer_char(out, '?');
  } else {
    indim_buffer_printf(out, "%s%" PRId64, is_dynamic(shape, dim) ? "<=" : "", shape->sizes[dim]);
  }
}

// The list of increasing dimensions of |large| whose sizes fit |small|, if there is exactly one; for the hint.
static bool only_fit(const indim_shape *small, const indim_shape *large, int64_t *out_dims) {
  if (small->rank > large->rank) {
    return false;
  }
  // Leftmost and rightmost fit; when they agree there is one only.
  int64_t rightmost[INDIM_MAX_RANK];
  int32_t at = 0;
  for (int32_t i = 0; i < small->rank; i++, at++) {
    while (at < large->rank && large->sizes[at] != small->sizes[i]) {
      at++;
    }
    if (at == large->rank) {
      return false;
    }
    out_dims[i] = at;
  }
  at = large->rank - 1;
  for (int32_t i = small->rank - 1; i >= 0; i--, at--) {
    while (large->sizes[at] != small->sizes[i]) {
      at--;
    }
    rightmost[i] = at;
  }
  return memcmp(out_dims, rightmost, (size_t)small->rank * sizeof *rightmost) == 0;
}

static void suggest_dims(matching *m, const indim_shape *small, const indim_shape *large) {
  int64_t fit[INDIM_MAX_RANK];
  if (only_fit(small, large, fit)) {
    indim_buffer_text(&m->hint, "match it with dims ");
    print_list(&m->hint, fit, small->rank);
  } else {
    indim_buffer_printf(
        &m->hint, "name the dimension of %s that each dimension of %s is matched with, for example dims ",
        text_of(large == m->lhs ? &m->lhs_text : &m->rhs_text), text_of(small == m->lhs ? &m->lhs_text : &m->rhs_text));
    for (int32_t i = 0; i < small->rank; i++) {
      fit[i] = large->rank - small->rank + i;
    }
    print_list(&m->hint, fit, small->rank);
  }
}

// Rule 1.6 c, for entry |i| of the dimension list.
static indim_status match_entry(matching *m, const indim_shape *small, const indim_shape *large, int32_t i) {
  const char *small_text = text_of(small == m->lhs ? &m->lhs_text : &m->rhs_text);
  const char *large_text = text_of(large == m->lhs ? &m->lhs_text : &m->rhs_text);
  int64_t dim = m->dims[i];
  if (dim < 0) {
    indim_fail(m->cx, INDIM_INVALID, "broadcast dimension number %" PRId64 " is negative", dim);
    indim_buffer_printf(&m->hint, "number the dimensions of %s from 0 to %d", large_text, large->rank - 1);
    return refuse(m, INDIM_BROADCAST_NEGATIVE);
  }
  if (dim >= large->rank) {
    indim_fail(m->cx, INDIM_INVALID, "broadcast dimension number %" PRId64 " is too large for %s of rank %d", dim,
               large_text, large->rank);
    indim_buffer_printf(&m->hint, "number the dimensions of %s from 0 to %d", large_text, large->rank - 1);
    return refuse(m, INDIM_BROADCAST_RANGE);
  }
  int64_t small_size = small->sizes[i];
  int64_t large_size = large->sizes[dim];
  if (small_size != large_size && small_size != 1 && large_size != 1) {
    indim_buffer sizes;
    indim_buffer_init(&sizes, m->cx);
    indim_buffer_printf(&sizes, "broadcast dimension %d mismatch: size ", i);
    print_size(&sizes, small, i);
    indim_buffer_printf(&sizes, " of dimension %d of %s is not size ", i, small_text);
    print_size(&sizes, large, (int32_t)dim);
    indim_buffer_printf(&sizes, " of dimension %d of %s", (int)dim, large_text);
    indim_fail(m->cx, INDIM_INVALID, "%s", text_of(&sizes));
    indim_buffer_deinit(&sizes);
    int64_t fit[INDIM_MAX_RANK];
    if (only_fit(small, large, fit)) {
      indim_buffer_text(&m->hint, "dims ");
      print_list(&m->hint, fit, small->rank);
      indim_buffer_text(&m->hint, " would match");
    } else {
      indim_buffer_text(&m->hint, "matched dimensions must be equal, or one of them 1");
    }
    return refuse(m, INDIM_BROADCAST_SIZE);
  }
  if (is_dynamic(small, i) != is_dynamic(large, (int32_t)dim) && small_size != large_size && !is_static_one(small, i) &&
      !is_static_one(large, (int32_t)dim)) {
    indim_fail(m->cx, INDIM_INVALID, "broadcast dimension %d is dynamic on one side only: %s and %s", i, small_text,
               large_text);
    return refuse(m, INDIM_BROADCAST_DYNAMIC);
  }
  if (i > 0 && m->dims[i - 1] >= dim) {
    indim_fail(m->cx, INDIM_INVALID, "broadcast dimensions order is wrong: %" PRId64 " comes after %" PRId64, dim,
               m->dims[i - 1]);
    indim_buffer_text(&m->hint,
                      "the dimensions must increase strictly; transpose the operand first to match them otherwise");
    return refuse(m, INDIM_BROADCAST_ORDER);
  }
  return INDIM_OK;
}

// Rule 1.6: the shape of |large| with the matched dimensions replaced by |small|'s.
static indim_status match_in_dim(matching *m, const indim_shape *small, const indim_shape *large,
                                 indim_shape *out_matched) {
  if (m->dim_count == 0 && small->rank > 0) {
    indim_fail(m->cx, INDIM_INVALID, "shapes must be of equal rank, or say which dimensions match: %s and %s",
               text_of(small == m->lhs ? &m->lhs_text : &m->rhs_text),
               text_of(large == m->lhs ? &m->lhs_text : &m->rhs_text));
    suggest_dims(m, small, large);
    return refuse(m, INDIM_BROADCAST_RANK);
  }
  if (m->dim_count != small->rank) {
    indim_fail(m->cx, INDIM_INVALID,
               "%d broadcast dimensions for %s: their number must match the lower-rank operand's rank, %d",
               m->dim_count, text_of(small == m->lhs ? &m->lhs_text : &m->rhs_text), small->rank);
    if (small->rank == 0) {
      indim_buffer_text(&m->hint, "a scalar goes with every shape; give no dimensions");
    } else {
      suggest_dims(m, small, large);
    }
    return refuse(m, INDIM_BROADCAST_COUNT);
  }
  *out_matched = *large;
  for (int32_t i = 0; i < small->rank; i++) {
    INDIM_TRY(match_entry(m, small, large, i));
    set_dim(out_matched, (int32_t)m->dims[i], small->sizes[i], is_dynamic(small, i));
  }
  return INDIM_OK;
}

// Rule 1.5 on |a| and |b| of equal rank, into |out|, which already has type and rank.
static indim_status merge_degenerate(matching *m, const indim_shape *a, const indim_shape *b, indim_shape *out) {
  for (int32_t d = 0; d < a->rank; d++) {
    int64_t x = a->sizes[d];
    int64_t y = b->sizes[d];
    if (x == 1 || (x == INDIM_UNBOUNDED && y != 1 && y != x)) {
      set_dim(out, d, y, is_dynamic(b, d));
    } else if (y == 1 || (y == INDIM_UNBOUNDED && x != y)) {
      set_dim(out, d, x, is_dynamic(a, d));
    } else if (x == y) {
      set_dim(out, d, x, is_dynamic(a, d) || is_dynamic(b, d));
    } else {
      indim_buffer a_text;
      indim_buffer b_text;
      indim_buffer_init(&a_text, m->cx);
      indim_buffer_init(&b_text, m->cx);
      indim_shape_print(a, false, &a_text);
      indim_shape_print(b, false, &b_text);
      indim_fail(m->cx, INDIM_INVALID, "incompatible shapes %s and %s: dimension %d has sizes %" PRId64 " and %" PRId64,
                 text_of(&a_text), text_of(&b_text), d, x, y);
      indim_buffer_deinit(&a_text);
      indim_buffer_deinit(&b_text);
      indim_buffer_text(&m->hint, "sizes must be equal, or one of them 1");
      return refuse(m, INDIM_BROADCAST_INCOMPATIBLE);
    }
  }
  return INDIM_OK;
}

static bool is_identity(const int64_t *dims, int32_t count, int32_t rank) {
  for (int32_t i = 0; i < count; i++) {
    if (dims[i] != i) {
      return false;
    }
  }
  return count == 0 || count == rank;
}

// Steps 1, 4 and 5: arrays, types, and the dimension list of operands of equal rank.
static indim_status check_operands(matching *m) {
  for (int side = 0; side < 2; side++) {
    const indim_shape *shape = side == 0 ? m->lhs : m->rhs;
    if (!indim_shape_is_array(shape)) {
      indim_fail(m->cx, INDIM_INVALID, "expected an array for the %s operand, got %s", side == 0 ? "left" : "right",
                 text_of(side == 0 ? &m->lhs_text : &m->rhs_text));
      return refuse(m, INDIM_BROADCAST_ARRAY);
    }
  }
  if (m->lhs->type != m->rhs->type && !(indim_type_is_float(m->lhs->type) && indim_type_is_float(m->rhs->type))) {
    indim_fail(m->cx, INDIM_INVALID, "different element types: %s and %s", text_of(&m->lhs_text),
               text_of(&m->rhs_text));
    indim_buffer_text(&m->hint, "convert one of them first");
    return refuse(m, INDIM_BROADCAST_TYPE);
  }
  if (m->lhs->rank == m->rhs->rank && !is_identity(m->dims, m->dim_count, m->lhs->rank)) {
    indim_buffer list;
    indim_buffer_init(&list, m->cx);
    print_list(&list, m->dims, m->dim_count);
    indim_fail(m->cx, INDIM_INVALID, "dims %s for operands of the same rank, %s and %s: must be unset or the identity",
               text_of(&list), text_of(&m->lhs_text), text_of(&m->rhs_text));
    indim_buffer_deinit(&list);
    indim_buffer_text(&m->hint, "leave the dimensions out");
    return refuse(m, INDIM_BROADCAST_IDENTITY);
  }
  return INDIM_OK;
}

// Where each result dimension comes from, for one operand.
static void fill_sources(const matching *m, const indim_shape *operand, const indim_shape *result, int32_t *out_dims,
                         uint64_t *out_stretched) {
  *out_stretched = 0;
  for (int32_t d = 0; d < result->rank; d++) {
    out_dims[d] = operand->rank == result->rank ? d : -1;
  }
  if (operand->rank < result->rank) {
    for (int32_t i = 0; i < operand->rank; i++) {
      out_dims[m->dims[i]] = i;
    }
  }
  for (int32_t d = 0; d < result->rank; d++) {
    if (out_dims[d] >= 0 && operand->sizes[out_dims[d]] == 1 && result->sizes[d] != 1) {
      *out_stretched |= UINT64_C(1) << d;
    }
  }
}

static indim_status match(matching *m, indim_broadcast *out) {
  const indim_shape *lhs = m->lhs;
  const indim_shape *rhs = m->rhs;
  INDIM_TRY(check_operands(m));
  indim_shape result = lhs->rank >= rhs->rank ? *lhs : *rhs;
  result.type = indim_type_higher_precision(lhs->type, rhs->type);
  if (lhs->rank == rhs->rank && memcmp(lhs->sizes, rhs->sizes, (size_t)lhs->rank * sizeof *lhs->sizes) == 0 &&
      !indim_shape_is_unbounded(lhs)) {
    result.dynamic = lhs->dynamic | rhs->dynamic;  // 1.4: the left one's layout stays
  } else {
    indim_layout_init(result.rank, &result.layout);
    result.has_layout = true;
    if (lhs->rank == rhs->rank) {
      INDIM_TRY(merge_degenerate(m, lhs, rhs, &result));
    } else {
      const indim_shape *small = lhs->rank < rhs->rank ? lhs : rhs;
      const indim_shape *large = lhs->rank < rhs->rank ? rhs : lhs;
      indim_shape matched;
      INDIM_TRY(match_in_dim(m, small, large, &matched));
      INDIM_TRY(merge_degenerate(m, &matched, large, &result));
    }
  }
  fill_sources(m, lhs, &result, out->lhs_dims, &out->lhs_stretched);
  fill_sources(m, rhs, &result, out->rhs_dims, &out->rhs_stretched);
  out->shape = result;
  return INDIM_OK;
}

indim_status indim_broadcast_shapes(indim_ctx *cx, const indim_shape *lhs, const indim_shape *rhs, const int64_t *dims,
                                    int32_t dim_count, indim_broadcast *out, indim_broadcast_reason *out_reason) {
  INDIM_NOT_NULL(cx, lhs);
  INDIM_NOT_NULL(cx, rhs);
  INDIM_NOT_NULL(cx, out);
  if (dims == NULL && dim_count > 0) {
    return indim_fail(cx, INDIM_INVALID, "%s: dims is NULL", __func__);
  }
  matching m = {.cx = cx, .lhs = lhs, .rhs = rhs, .dims = dims, .dim_count = dim_count};
  indim_buffer_init(&m.lhs_text, cx);
  indim_buffer_init(&m.rhs_text, cx);
  indim_buffer_init(&m.hint, cx);
  indim_shape_print(lhs, false, &m.lhs_text);
  indim_shape_print(rhs, false, &m.rhs_text);
  indim_status status = m.lhs_text.status != INDIM_OK ? m.lhs_text.status : m.rhs_text.status;
  if (status == INDIM_OK) {
    indim_broadcast result;
    status = match(&m, &result);
    if (status == INDIM_OK) {
      *out = result;
    } else if (m.hint.size > 0) {
      indim_hint(cx, "%s", m.hint.data);
    }
  }
  indim_buffer_deinit(&m.lhs_text);
  indim_buffer_deinit(&m.rhs_text);
  indim_buffer_deinit(&m.hint);
  if (out_reason != NULL) {
    *out_reason = m.reason;
  }
  return status;
}

// The drawing --------------------------------------------------------------------------------------------------------

// One row of the drawing: the text of each column, empty where the operand has no dimension.
typedef struct row {
  const indim_shape *shape;
  int32_t columns[INDIM_MAX_RANK];  // for column c: the shape's dimension, or -1
} row;

static size_t size_width(const indim_shape *shape, int32_t dim) {
  if (shape->sizes[dim] == INDIM_UNBOUNDED) {
    return 1;
  }
  size_t width = is_dynamic(shape, dim) ? 2 : 0;
  int64_t size = shape->sizes[dim];
  do {
    width++;
    size /= 10;
  } while (size > 0);
  return width;
}

static void draw_row(const row *r, int32_t column_count, const size_t *widths, size_t type_width, indim_buffer *out) {
  const char *type = indim_type_text(r->shape->type);
  indim_buffer_printf(out, "  %*s[", (int)type_width, type);
  for (int32_t c = 0; c < column_count; c++) {
    int32_t dim = r->columns[c];
    bool has = dim >= 0;
    size_t width = has ? size_width(r->shape, dim) : 0;
    bool more = false;
    for (int32_t k = c + 1; k < column_count; k++) {
      more = more || r->columns[k] >= 0;
    }
    indim_buffer_printf(out, "%*s", (int)(widths[c] - width), "");
    if (has) {
      print_size(out, r->shape, dim);
    }
    if (c + 1 < column_count) {
      indim_buffer_char(out, has && more ? ',' : ' ');
    }
  }
  indim_buffer_char(out, ']');
}

// Columns of an operand: its own dimensions for the one of higher rank; for the other, where |dims| put them, or right
// aligned when they are unusable.
static void place_columns(const indim_shape *shape, int32_t column_count, const int64_t *dims, int32_t dim_count,
                          row *out) {
  out->shape = shape;
  bool usable = dim_count == shape->rank;
  for (int32_t i = 0; usable && i < dim_count; i++) {
    usable = dims[i] >= 0 && dims[i] < column_count && (i == 0 || dims[i] > dims[i - 1]);
  }
  for (int32_t c = 0; c < column_count; c++) {
    out->columns[c] = -1;
  }
  for (int32_t i = 0; i < shape->rank; i++) {
    bool named = usable && shape->rank < column_count;
    out->columns[named ? dims[i] : column_count - shape->rank + i] = i;
  }
}

// Marks under the columns: '^' at a dimension whose sizes clash.
static void draw_clashes(const row *large, const row *small, int32_t column_count, const size_t *widths,
                         size_t type_width, indim_buffer *out) {
  indim_buffer_printf(out, "  %*s ", (int)type_width, "");
  for (int32_t c = 0; c < column_count; c++) {
    int32_t a = large->columns[c];
    int32_t b = small->columns[c];
    bool clash = a >= 0 && b >= 0 && large->shape->sizes[a] != small->shape->sizes[b] && large->shape->sizes[a] != 1 &&
                 small->shape->sizes[b] != 1;
    indim_buffer_printf(out, "%*s ", (int)widths[c], clash ? "^" : "");
  }
  while (out->size > 0 && out->status == INDIM_OK && out->data[out->size - 1] == ' ') {
    out->data[--out->size] = '\0';
  }
  indim_buffer_char(out, '\n');
}

void indim_broadcast_draw(const indim_shape *lhs, const indim_shape *rhs, const int64_t *dims, int32_t dim_count,
                          const indim_broadcast *result, indim_broadcast_reason reason, indim_buffer *out) {
  if (!indim_shape_is_array(lhs) || !indim_shape_is_array(rhs)) {
    return;
  }
  const indim_shape *large = lhs->rank >= rhs->rank ? lhs : rhs;
  const indim_shape *small = large == lhs ? rhs : lhs;
  int32_t columns = large->rank;
  row large_row;
  row small_row;
  row result_row = {0};
  place_columns(large, columns, NULL, -1, &large_row);
  place_columns(small, columns, dims, dim_count, &small_row);
  size_t widths[INDIM_MAX_RANK];
  size_t type_width = strlen(indim_type_text(large->type));
  size_t small_width = strlen(indim_type_text(small->type));
  type_width = small_width > type_width ? small_width : type_width;
  bool accepted = reason == INDIM_BROADCAST_NONE && result != NULL;
  if (accepted) {
    place_columns(&result->shape, columns, NULL, -1, &result_row);
    size_t width = strlen(indim_type_text(result->shape.type));
    type_width = width > type_width ? width : type_width;
  }
  for (int32_t c = 0; c < columns; c++) {
    size_t a = size_width(large, large_row.columns[c]);
    size_t b = small_row.columns[c] >= 0 ? size_width(small, small_row.columns[c]) : 0;
    size_t r = accepted ? size_width(&result->shape, c) : 0;
    widths[c] = a > b ? a : b;
    widths[c] = r > widths[c] ? r : widths[c];
  }
  draw_row(&large_row, columns, widths, type_width, out);
  indim_buffer_printf(out, "   %s\n", large == lhs ? "left" : "right");
  draw_row(&small_row, columns, widths, type_width, out);
  indim_buffer_printf(out, "   %s", large == lhs ? "right" : "left");
  if (dim_count > 0) {
    indim_buffer_text(out, ", dims ");
    print_list(out, dims, dim_count);
  }
  indim_buffer_char(out, '\n');
  if (accepted) {
    draw_row(&result_row, columns, widths, type_width, out);
    indim_buffer_text(out, "   result\n");
  } else if (reason == INDIM_BROADCAST_SIZE || reason == INDIM_BROADCAST_INCOMPATIBLE) {
    draw_clashes(&large_row, &small_row, columns, widths, type_width, out);
  }
}
