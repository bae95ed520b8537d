// The picture of a broadcast: which dimension meets which, each operand spread over the result with its copies shaded,
// and the sum of numbers counted up, as the documents on broadcasting do. Of a refused pair: the dimensions at fault,
// and all lists of dimensions that would do.
#include "indim/broadcast.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "build.h"

enum { MOST_LISTS = 12, MOST_ROWS = 12, MOST_COLUMNS = 16, MOST_SLICES = 5, FEW_SLICES = 3 };

typedef struct meeting {
  picture *p;
  const indim_shape *sides[2];
  const int64_t *dims;
  int32_t dim_count;
  const picture_options *options;
  const indim_broadcast *result;  // NULL: refused
  indim_broadcast_reason reason;
  indim_buffer text;
} meeting;

static const char *const side_names[] = {"left", "right"};

static int lower(const meeting *m) { return m->sides[0]->rank < m->sides[1]->rank ? 0 : 1; }

// The dimension of a side that stands in column |column| of |columns|, or -1.
static int32_t dim_in_column(const meeting *m, int side, int32_t column, int32_t columns) {
  const indim_shape *shape = m->sides[side];
  if (m->result != NULL) {
    return side == 0 ? m->result->lhs_dims[column] : m->result->rhs_dims[column];
  }
  bool usable = m->dim_count == shape->rank && shape->rank < columns;
  for (int32_t i = 0; usable && i < m->dim_count; i++) {
    usable = m->dims[i] >= 0 && m->dims[i] < columns && (i == 0 || m->dims[i] > m->dims[i - 1]);
  }
  for (int32_t i = 0; usable && i < shape->rank; i++) {
    if (m->dims[i] == column) {
      return i;
    }
  }
  int32_t aligned = column - (columns - shape->rank);
  return usable || aligned < 0 ? -1 : aligned;
}

// Sizes ------------------------------------------------------------------------------------------------------------

static void size_text(const indim_shape *shape, int32_t dim, char *out) {
  if (shape->sizes[dim] == INDIM_UNBOUNDED) {
    snprintf(out, PICTURE_LABEL_SIZE, "?");
  } else {
    snprintf(out, PICTURE_LABEL_SIZE, "%s%" PRId64, indim_shape_is_dynamic_dim(shape, dim) ? "<=" : "",
             shape->sizes[dim]);
  }
}

static bool sizes_meet(int64_t a, int64_t b) { return a == b || a == 1 || b == 1; }

// The sizes of the operands and the result under each other, what stretches shaded and what clashes marked.
static void add_dimensions(meeting *m) {
  int32_t columns = m->sides[0]->rank > m->sides[1]->rank ? m->sides[0]->rank : m->sides[1]->rank;
  int32_t rows = m->result == NULL ? 2 : 3;
  picture_block *grid = columns == 0 ? NULL : picture_add_grid(m->p, rows, columns, "which dimension meets which");
  if (grid == NULL) {
    return;
  }
  for (int32_t c = 0; c < columns; c++) {
    int32_t dims[2] = {dim_in_column(m, 0, c, columns), dim_in_column(m, 1, c, columns)};
    bool both = dims[0] >= 0 && dims[1] >= 0;
    bool clash = m->result == NULL && both && !sizes_meet(m->sides[0]->sizes[dims[0]], m->sides[1]->sizes[dims[1]]);
    for (int side = 0; side < 2; side++) {
      picture_cell *cell = picture_cell_of(m->p, grid, side, c);
      if (dims[side] >= 0) {
        cell->kind = PICTURE_ELEMENT;
        cell->marked = clash;
        cell->repeated = m->result != NULL && m->sides[side]->sizes[dims[side]] == 1 && m->result->shape.sizes[c] != 1;
        size_text(m->sides[side], dims[side], cell->text);
      }
    }
    if (m->result != NULL) {
      picture_cell *cell = picture_cell_of(m->p, grid, 2, c);
      cell->kind = PICTURE_ELEMENT;
      size_text(&m->result->shape, c, cell->text);
    }
    snprintf(picture_column_label_of(m->p, grid, c), PICTURE_LABEL_SIZE, "%d", (int)c);
  }
  snprintf(grid->corner, sizeof grid->corner, "dimension");
  for (int32_t r = 0; r < rows; r++) {
    snprintf(picture_row_label_of(m->p, grid, r), PICTURE_LABEL_SIZE, "%s", r < 2 ? side_names[r] : "result");
  }
}

// Values -----------------------------------------------------------------------------------------------------------

// The element of a side that an index of the result reads, counted in row-major order.
static int64_t read_element(const meeting *m, int side, const int64_t *index) {
  const indim_shape *shape = m->sides[side];
  int64_t at[INDIM_MAX_RANK] = {0};
  int64_t number = 0;
  for (int32_t d = 0; d < m->result->shape.rank; d++) {
    int32_t dim = side == 0 ? m->result->lhs_dims[d] : m->result->rhs_dims[d];
    if (dim >= 0) {
      at[dim] = shape->sizes[dim] == 1 ? 0 : index[d];
    }
  }
  for (int32_t i = 0; i < shape->rank; i++) {
    number = number * shape->sizes[i] + at[i];
  }
  return number;
}

// Whether the index is not the first that reads this element.
static bool is_copy(const meeting *m, int side, const int64_t *index) {
  for (int32_t d = 0; d < m->result->shape.rank; d++) {
    int32_t dim = side == 0 ? m->result->lhs_dims[d] : m->result->rhs_dims[d];
    if (index[d] > 0 && (dim < 0 || m->sides[side]->sizes[dim] == 1)) {
      return true;
    }
  }
  return false;
}

// The left operand holds 1, 2, 3, ...; the right one goes on from there.
static uint64_t first_value(const meeting *m, int side) {
  return side == 0 ? 1 : 1 + (uint64_t)indim_shape_element_count(m->sides[0]);
}

enum { RESULT = 2 };

static void fill_value(const meeting *m, int what, const int64_t *index, picture_cell *cell) {
  int64_t numbers[2] = {read_element(m, 0, index), read_element(m, 1, index)};
  uint64_t sum = 0;
  cell->kind = PICTURE_ELEMENT;
  for (int side = 0; side < 2; side++) {
    sum += first_value(m, side) + (uint64_t)numbers[side];
  }
  if (what == RESULT) {
    int64_t number = 0;
    for (int32_t d = 0; d < m->result->shape.rank; d++) {
      number = number * m->result->shape.sizes[d] + index[d];
    }
    cell->element = number;
    snprintf(cell->text, sizeof cell->text, "%" PRIu64, sum);
    return;
  }
  cell->element = numbers[what];
  cell->tint = (uint8_t)(1 + numbers[what] % PICTURE_TINTS);
  cell->repeated = is_copy(m, what, index);
  snprintf(cell->text, sizeof cell->text, "%" PRIu64, first_value(m, what) + (uint64_t)numbers[what]);
}

typedef struct extent {
  picture_axis slices;
  picture_axis rows;
  picture_axis columns;
} extent;

static void add_values(meeting *m, int what, const extent *e, int64_t slice, bool beside) {
  const indim_shape *shape = &m->result->shape;
  int32_t rank = shape->rank;
  int64_t index[INDIM_MAX_RANK] = {0};
  char title[64];
  char of[40] = "";
  for (int32_t i = rank - 3; i >= 0; i--) {
    index[i] = slice % shape->sizes[i];
    slice /= shape->sizes[i];
  }
  if (rank == 3) {
    snprintf(of, sizeof of, ", z = %" PRId64, index[0]);
  } else if (rank > 3) {
    indim_buffer leading;
    indim_buffer_init(&leading, m->p->blocks.cx);
    picture_print_sizes(&leading, index, rank - 2);
    snprintf(of, sizeof of, ", %.32s", leading.data == NULL ? "" : leading.data);
    indim_buffer_deinit(&leading);
  }
  snprintf(title, sizeof title, "%s%s", what == RESULT ? "= result" : what == 1 ? "+ right" : "left", of);
  picture_block *grid = picture_add_grid(m->p, e->rows.count, e->columns.count, "%s", title);
  if (grid == NULL) {
    return;
  }
  grid->beside = beside;
  for (int32_t r = 0; r < e->rows.count; r++) {
    for (int32_t c = 0; c < e->columns.count; c++) {
      picture_cell *cell = picture_cell_of(m->p, grid, r, c);
      if (e->rows.at[r] < 0 || e->columns.at[c] < 0) {
        cell->kind = PICTURE_GAP;
        continue;
      }
      if (rank > 1) {
        index[rank - 2] = e->rows.at[r];
      }
      if (rank > 0) {
        index[rank - 1] = e->columns.at[c];
      }
      fill_value(m, what, index, cell);
    }
  }
}

// Columns of the widest values that fit on a line.
static int32_t column_limit(const meeting *m) {
  int32_t width = m->options->width > 0 ? m->options->width : 100;
  uint64_t most = first_value(m, 1) + (uint64_t)indim_shape_element_count(m->sides[1]);
  char text[PICTURE_LABEL_SIZE];
  int32_t size = snprintf(text, sizeof text, "%" PRIu64, most) + 3;  // ( ) and a blank
  int32_t limit = (width - 4) / size;
  return limit < MOST_COLUMNS ? limit : MOST_COLUMNS;
}

static void draw_values(meeting *m) {
  const indim_shape *shape = &m->result->shape;
  int32_t rank = shape->rank;
  int64_t slices = 1;
  extent e;
  bool is_known = !indim_shape_is_unbounded(shape) && !indim_shape_is_unbounded(m->sides[0]) &&
                  !indim_shape_is_unbounded(m->sides[1]);
  if (!is_known || indim_shape_element_count(shape) == 0) {
    picture_note(m->p, is_known ? "a size is 0: no values" : "a size is not known: no values");
    return;
  }
  for (int32_t i = 0; i < rank - 2; i++) {
    slices *= shape->sizes[i];
  }
  int64_t rows = rank > 1 ? shape->sizes[rank - 2] : 1;
  int64_t columns = rank > 0 ? shape->sizes[rank - 1] : 1;
  bool all = m->options->all && indim_shape_element_count(shape) <= PICTURE_MOST_PLACES;
  picture_axis_pick(slices, slices, 0, all ? 256 : rank == 3 ? MOST_SLICES : FEW_SLICES, &e.slices);
  picture_axis_pick(rows, rows, 0, all ? PICTURE_MOST_SHOWN : MOST_ROWS, &e.rows);
  picture_axis_pick(columns, columns, 0, all ? 256 : column_limit(m), &e.columns);
  picture_note(m->p, "added, the elements being 1, 2, 3, ...; what is repeated is paler, or in ( ):");
  for (int32_t s = 0; s < e.slices.count; s++) {
    for (int what = 0; what <= RESULT && e.slices.at[s] >= 0; what++) {
      add_values(m, what, &e, e.slices.at[s], what > 0);
    }
  }
  if (e.slices.left_out + e.rows.left_out + e.columns.left_out > 0) {
    picture_note(m->p, "a miniature of %" PRId64 " elements", indim_shape_element_count(shape));
  }
}

// Words ------------------------------------------------------------------------------------------------------------

static void say_operand(meeting *m, int side) {
  const indim_shape *shape = m->sides[side];
  const int32_t *dims = side == 0 ? m->result->lhs_dims : m->result->rhs_dims;
  int32_t repeats = 0;
  indim_shape_print(shape, false, &m->text);
  for (int32_t d = 0; d < m->result->shape.rank; d++) {
    bool stretched = dims[d] >= 0 && shape->sizes[dims[d]] == 1 && m->result->shape.sizes[d] != 1;
    if (dims[d] < 0 || stretched) {
      char size[PICTURE_LABEL_SIZE];
      size_text(&m->result->shape, d, size);
      indim_buffer_printf(&m->text, "%s%d (%s times%s)", repeats == 0 ? ", repeated along dimension " : ", ", (int)d,
                          size, stretched ? ": its 1 stretches" : "");
      repeats++;
    }
  }
  indim_buffer_text(&m->text, repeats == 0 ? ", as it is" : "");
  picture_fact_from(m->p, side_names[side], &m->text);
}

static void say_refusal(meeting *m, const indim_diagnostic *diagnostic) {
  if (diagnostic != NULL) {
    picture_fact(m->p, "refused", "%s", diagnostic->message);
    if (diagnostic->hint[0] != '\0') {
      picture_fact(m->p, "way out", "%s", diagnostic->hint);
    }
  }
}

// Lists of dimensions ----------------------------------------------------------------------------------------------

static bool dims_meet(const indim_shape *small, int32_t i, const indim_shape *large, int32_t d) {
  int64_t a = small->sizes[i];
  int64_t b = large->sizes[d];
  bool ones = (a == 1 && !indim_shape_is_dynamic_dim(small, i)) || (b == 1 && !indim_shape_is_dynamic_dim(large, d));
  return sizes_meet(a, b) &&
         (a == b || ones || indim_shape_is_dynamic_dim(small, i) == indim_shape_is_dynamic_dim(large, d));
}

int64_t picture_valid_dims(const indim_shape *a, const indim_shape *b, int64_t *out_lists, int64_t most) {
  const indim_shape *small = a->rank < b->rank ? a : b;
  const indim_shape *large = a->rank < b->rank ? b : a;
  // ways[i][d]: lists for the dimensions of |small| from i on among those of |large| from d on; at most INT64_MAX / 2.
  int64_t ways[INDIM_MAX_RANK + 1][INDIM_MAX_RANK + 1];
  for (int32_t i = small->rank; i >= 0; i--) {
    for (int32_t d = large->rank; d >= 0; d--) {
      if (i == small->rank || d == large->rank) {
        ways[i][d] = i == small->rank;
        continue;
      }
      ways[i][d] = ways[i][d + 1] + (dims_meet(small, i, large, d) ? ways[i + 1][d + 1] : 0);
      ways[i][d] = ways[i][d] > INT64_MAX / 4 ? INT64_MAX / 4 : ways[i][d];
    }
  }
  for (int64_t n = 0; n < most && n < ways[0][0]; n++) {
    int64_t left = n;
    int32_t d = 0;
    for (int32_t i = 0; i < small->rank; i++, d++) {
      while (!dims_meet(small, i, large, d) || left >= ways[i + 1][d + 1]) {
        left -= dims_meet(small, i, large, d) ? ways[i + 1][d + 1] : 0;
        d++;
      }
      out_lists[n * small->rank + i] = d;
    }
  }
  return ways[0][0];
}

static void print_list(indim_buffer *out, const int64_t *dims, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    indim_buffer_printf(out, "%s%" PRId64, i == 0 ? "{" : ",", dims[i]);
  }
  indim_buffer_text(out, count == 0 ? "{}" : "}");
}

static bool can_have_dims(const meeting *m) {
  const indim_shape *a = m->sides[0];
  const indim_shape *b = m->sides[1];
  return indim_shape_is_array(a) && indim_shape_is_array(b) && a->rank != b->rank && m->reason != INDIM_BROADCAST_TYPE;
}

static void say_valid_dims(meeting *m) {
  int64_t lists[MOST_LISTS * INDIM_MAX_RANK];
  int32_t rank = m->sides[lower(m)]->rank;
  int64_t count = picture_valid_dims(m->sides[0], m->sides[1], lists, MOST_LISTS);
  if (rank == 0) {
    indim_buffer_text(&m->text, "none are needed: a scalar goes with every shape");
  } else if (count == 0) {
    indim_buffer_text(&m->text, "no list fits: sizes that meet must be equal, or one of them 1");
  }
  for (int64_t n = 0; rank > 0 && n < count && n < MOST_LISTS; n++) {
    indim_buffer_text(&m->text, n == 0 ? "" : ", ");
    print_list(&m->text, lists + n * rank, rank);
  }
  if (rank > 0 && count > MOST_LISTS) {
    indim_buffer_printf(&m->text, " and %s%" PRId64 " more", count == INT64_MAX / 4 ? "over " : "", count - MOST_LISTS);
  }
  picture_fact_from(m->p, "dims that fit", &m->text);
}

// NumPy ------------------------------------------------------------------------------------------------------------

// NumPy aligns the last dimensions and stretches sizes of 1: its result's sizes, or false and the two that differ.
static bool numpy_sizes(const meeting *m, int64_t *out, int32_t *out_rank, int64_t *out_clash) {
  const indim_shape *a = m->sides[0];
  const indim_shape *b = m->sides[1];
  int32_t rank = a->rank > b->rank ? a->rank : b->rank;
  for (int32_t d = rank - 1; d >= 0; d--) {
    int32_t i = d - (rank - a->rank);
    int32_t k = d - (rank - b->rank);
    int64_t x = i < 0 ? 1 : a->sizes[i];
    int64_t y = k < 0 ? 1 : b->sizes[k];
    if (!sizes_meet(x, y)) {
      out_clash[0] = x;
      out_clash[1] = y;
      return false;
    }
    out[d] = x == 1 ? y : x;
  }
  *out_rank = rank;
  return true;
}

static void say_numpy(meeting *m) {
  int64_t sizes[INDIM_MAX_RANK];
  int32_t rank = 0;
  int64_t clash[2] = {0, 0};
  const indim_shape *small = m->sides[lower(m)];
  if (!indim_shape_is_array(m->sides[0]) || !indim_shape_is_array(m->sides[1])) {
    return;
  }
  bool accepts = numpy_sizes(m, sizes, &rank, clash);
  bool has_dims = m->sides[0]->rank != m->sides[1]->rank && small->rank > 0;
  bool same_dims = m->dim_count == small->rank;
  for (int32_t i = 0; same_dims && has_dims && i < small->rank; i++) {
    same_dims = m->dims[i] == rank - small->rank + i;
  }
  if (!accepts) {
    indim_buffer_printf(&m->text, "would refuse: it aligns the last dimensions, where %" PRId64 " meets %" PRId64,
                        clash[0], clash[1]);
    indim_buffer_text(&m->text, m->result != NULL ? "; these dims say what it cannot" : "");
    picture_fact_from(m->p, "NumPy", &m->text);
    return;
  }
  indim_buffer_text(&m->text, m->result == NULL ? "would have guessed " : "would make ");
  picture_print_sizes(&m->text, sizes, rank);
  if (has_dims) {
    int64_t guess[INDIM_MAX_RANK];
    for (int32_t i = 0; i < small->rank; i++) {
      guess[i] = rank - small->rank + i;
    }
    indim_buffer_text(&m->text, ", as dims ");
    print_list(&m->text, guess, small->rank);
    indim_buffer_text(&m->text, " say");
  }
  if (m->result != NULL) {
    indim_buffer_text(&m->text, !has_dims || same_dims ? ": the same" : ": other numbers than with these dims");
  }
  picture_fact_from(m->p, "NumPy", &m->text);
}

// ------------------------------------------------------------------------------------------------------------------

static void add_title(meeting *m) {
  for (int side = 0; side < 2; side++) {
    indim_buffer_text(&m->text, side == 0 ? "" : " with ");
    indim_shape_print(m->sides[side], false, &m->text);
  }
  if (m->dim_count > 0) {
    indim_buffer_text(&m->text, ", dims ");
    print_list(&m->text, m->dims, m->dim_count);
  }
  if (m->result != NULL) {
    indim_buffer_text(&m->text, ": ");
    indim_shape_print(&m->result->shape, false, &m->text);
  }
  picture_heading_from(m->p, &m->text);
}

indim_status picture_add_broadcast(picture *p, const indim_shape *lhs, const indim_shape *rhs, const int64_t *dims,
                                   int32_t dim_count, bool with_numpy, const indim_broadcast *result,
                                   indim_broadcast_reason reason, const indim_diagnostic *diagnostic,
                                   const picture_options *options) {
  static const picture_options usual = {0};
  meeting m = {.p = p, .sides = {lhs, rhs}, .dims = dims, .dim_count = dim_count, .reason = reason};
  m.options = options == NULL ? &usual : options;
  m.result = reason == INDIM_BROADCAST_NONE ? result : NULL;
  unsigned parts = m.options->parts == 0 ? PICTURE_FACTS | PICTURE_DRAWINGS : m.options->parts;
  indim_buffer_init(&m.text, p->blocks.cx);
  add_title(&m);
  if (m.result != NULL) {
    say_operand(&m, 0);
    say_operand(&m, 1);
  } else {
    say_refusal(&m, diagnostic);
  }
  if (can_have_dims(&m) && (parts & PICTURE_FACTS) != 0) {
    say_valid_dims(&m);
  }
  if (with_numpy) {
    say_numpy(&m);
  }
  bool arrays = indim_shape_is_array(lhs) && indim_shape_is_array(rhs);
  if (arrays && (parts & PICTURE_DRAWINGS) != 0) {
    add_dimensions(&m);
    if (m.result != NULL) {
      draw_values(&m);
    }
  }
  indim_buffer_deinit(&m.text);
  return picture_status(p);
}
