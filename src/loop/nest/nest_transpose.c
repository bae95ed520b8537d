// Loops around transposed blocks. Large arrays go through packed panels: a square of some hundred rows is transposed
// into scratch memory, which stays in the second-level cache, and the rows of the result are filled from there in long
// runs. So memory is read and written in runs whatever the row stride; without panels, the lines of a block evict each
// other where the row stride is a power of two, and fill no cache line of the result where it is odd. Arrays that fit
// the caches are transposed square by square in registers alone.
#include "loop/ir/build.h"
#include "loop/nest/element.h"
#include "loop/target/cost.h"

enum { LEAST_LINES = 2 };

// Choosing ------------------------------------------------------------------------------------------------------------

bool indim_nest_rows_are_misaligned(const indim_nest *nest) {
  int64_t line = indim_nest_line(nest);
  bool is_misaligned = false;
  for (int32_t i = 0; i < nest->list->count; i++) {
    const indim_access *access = &nest->list->accesses[i];
    for (int32_t d = 0; d < nest->rank && access->item == NULL && access->strides != NULL; d++) {
      is_misaligned = is_misaligned || (d != nest->vector_dim && nest->sizes[d] > 1 && access->strides[d] % line != 0);
    }
  }
  return is_misaligned;
}

static int64_t row_bytes(const indim_access *access, int32_t dim) {
  return indim_index_mul_saturated(indim_index_abs(access->strides[dim]), indim_type_bytes(access->storage->type));
}

bool indim_nest_squares_are_lines(const indim_nest *nest) {
  bool are_lines = true;
  for (int32_t i = 0; i < nest->list->count; i++) {
    const indim_access *access = &nest->list->accesses[i];
    bool counts = access->item == NULL || indim_transpose_applies(nest, access);
    are_lines = are_lines && (!counts || nest->lanes * indim_type_bytes(access->storage->type) == INDIM_TARGET_LINE);
  }
  return are_lines && nest->l->target->vector_bytes >= INDIM_TARGET_LINE;
}

// Whether squares without panels would thrash: the rows of one map to few cache sets; or would write partial lines of
// the result: its rows are misaligned, or loads of other arrays come between.
static bool needs_panels(const indim_nest *nest) {
  if (indim_nest_rows_are_misaligned(nest)) {
    return true;
  }
  bool are_lines = indim_nest_squares_are_lines(nest);
  bool is_needed = !are_lines && indim_transpose_is_mixed(nest);
  for (int32_t i = 0; i < nest->list->count && !are_lines; i++) {
    const indim_access *access = &nest->list->accesses[i];
    int32_t dim = access->item == NULL ? nest->transpose_dim : nest->vector_dim;
    bool counts = access->strides != NULL && (access->item == NULL || indim_transpose_applies(nest, access));
    is_needed = is_needed || (counts && row_bytes(access, dim) % INDIM_COST_CONFLICTING_STRIDE == 0);
  }
  return is_needed;
}

// The number of transposed arrays; |*out_bytes|: the widest transposed or stored element.
static int32_t transposed_count(const indim_nest *nest, int64_t *out_bytes) {
  int32_t count = 0;
  *out_bytes = 1;
  for (int32_t i = 0; i < nest->list->count; i++) {
    const indim_access *access = &nest->list->accesses[i];
    int64_t bytes = indim_type_bytes(access->storage->type);
    bool transposes = indim_transpose_applies(nest, access);
    count += transposes ? 1 : 0;
    *out_bytes = (transposes || access->item == NULL) && bytes > *out_bytes ? bytes : *out_bytes;
  }
  return count;
}

static int64_t panel_elements(const indim_nest *nest) {
  return (nest->side + LEAST_LINES * indim_nest_line(nest)) * nest->pitch;
}

void indim_nest_choose_panels(indim_nest *nest) {
  int64_t bytes = 0;
  int64_t total = indim_nest_bytes(nest);
  int32_t count = nest->transposes ? transposed_count(nest, &bytes) : 0;
  int64_t cache = nest->l->target->cache_bytes[1] > 0 ? nest->l->target->cache_bytes[1] : INT64_C(1) << 19;
  int64_t line = indim_nest_line(nest);
  nest->side = 0;
  nest->panel_count = 0;
  nest->panel_start = 0;
  if (count == 0 || nest->stacked > 0 || count > INDIM_MAX_PANELS || total <= cache || !needs_panels(nest)) {
    return;
  }
  // Arrays in the third-level cache need no long runs; otherwise panels take half of the second-level cache.
  nest->is_far = total > nest->l->target->cache_bytes[2];
  int64_t most = nest->is_far ? cache / 2 : cache / 8;
  int64_t side = line;
  while (4 * side * side * bytes * count <= most) {
    side *= 2;
  }
  int64_t least = LEAST_LINES * line;
  if (side < 2 * least || nest->sizes[nest->transpose_dim] < 2 * least || nest->sizes[nest->vector_dim] < 2 * least) {
    return;
  }
  nest->side = side;
  nest->pitch = side + least + line;
  for (int32_t i = 0; i < nest->list->count; i++) {
    const indim_access *access = &nest->list->accesses[i];
    if (indim_transpose_applies(nest, access)) {
      nest->panels[nest->panel_count++] = indim_loop_storage(&nest->l->b, INDIM_STORAGE_SCRATCH, access->storage->type,
                                                             panel_elements(nest), access->storage->name);
    }
  }
}

void indim_nest_make_panels(indim_nest *nest, indim_value_id piece, int64_t count) {
  for (int32_t i = 0; i < nest->panel_count; i++) {
    int64_t elements = panel_elements(nest);
    int64_t all = indim_index_mul_saturated(elements, count);
    nest->panel_start = indim_loop_mul_const(&nest->l->b, piece, elements);
    nest->panels[i]->elements = all > nest->panels[i]->elements ? all : nest->panels[i]->elements;
  }
}

// Panels --------------------------------------------------------------------------------------------------------------

// A constant number of elements starting at |from|.
static void run_vectors(indim_nest *nest, indim_coord *index, indim_value_id from, int64_t count) {
  indim_loop_builder *b = &nest->l->b;
  int64_t step = (int64_t)nest->lanes * nest->unroll;
  int64_t done = count / step * step;
  if (done > step) {
    indim_value_id i = indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, done), step, 0, NULL, NULL);
    indim_nest_remainder(nest, index, indim_loop_add(b, from, i), step);
    indim_loop_for_end(b, NULL, NULL);
  } else {
    done = 0;
  }
  indim_nest_remainder(nest, index, indim_loop_add_const(b, from, done), count - done);
}

// A part of the nest that goes through panels.
typedef struct panel_range {
  indim_nest *nest;
  indim_coord *index;
  int64_t w_begin, w_end;
  int64_t v_begin, v_end;
  int64_t line;     // rows of the result are stored from the panel's first cache line boundary on; 0: from its start on
  bool prefetches;  // prefetches the next panel
} panel_range;

// One row of the result within a panel. The panel overlaps the next one so that it completes the row's last cache line.
static void run_row(const panel_range *r, const indim_panel *panel, bool is_last) {
  indim_nest *nest = r->nest;
  indim_loop_builder *b = &nest->l->b;
  int64_t line = 0;
  if (r->line == 0) {
    run_vectors(nest, r->index, panel->v, panel->columns);
    return;
  }
  indim_value_id start = indim_loop_add(b, panel->v, indim_nest_before_line(nest, r->index, r->v_begin, &line));
  int64_t whole = is_last ? (panel->columns - (line - 1)) / line * line : panel->columns - line;
  run_vectors(nest, r->index, start, whole);
  if (is_last) {
    indim_nest_scalar_loop(nest, r->index, indim_loop_add_const(b, start, whole), indim_loop_index(b, r->v_end));
  }
}

// The distance in elements to a transposed array's next panel: along w or v, or in the next iteration of the enclosing
// loop; 0 for the last one.
static int64_t next_panel_distance(const panel_range *r, const indim_access *access) {
  const indim_nest *nest = r->nest;
  if (r->w_end - r->w_begin > nest->side) {
    return nest->side;
  }
  if (r->v_end - r->v_begin > nest->side) {
    return nest->side * access->strides[nest->vector_dim];
  }
  for (int32_t p = nest->rank - 1; p >= 0; p--) {
    int32_t d = nest->order[p];
    if (d != nest->vector_dim && d != nest->transpose_dim && nest->sizes[d] > 1) {
      return access->strides[d];
    }
  }
  return 0;
}

// The address of an access at element (w, v) of a panel.
static indim_value_id address_in(const panel_range *r, const indim_panel *panel, const indim_access *access,
                                 indim_value_id w, indim_value_id v) {
  const indim_nest *nest = r->nest;
  indim_loop_builder *b = &nest->l->b;
  indim_value_id address = access->base;
  for (int32_t d = 0; d < nest->rank; d++) {
    indim_value_id at = d == nest->transpose_dim ? indim_loop_add(b, panel->w, w)
                        : d == nest->vector_dim  ? indim_loop_add(b, panel->v, v)
                                                 : r->index[d].base;
    address = indim_loop_add(b, address, indim_loop_mul_const(b, at, access->strides[d]));
  }
  return address;
}

// While row |row| of the result is stored: prefetches its share of the next panel's rows, and of the other arrays the
// elements for row + 2.
static void prefetch_next(const panel_range *r, const indim_panel *panel, indim_value_id row) {
  indim_nest *nest = r->nest;
  indim_loop_builder *b = &nest->l->b;
  int64_t each = (panel->columns + panel->rows - 1) / panel->rows;
  for (int32_t i = 0; i < nest->list->count && r->prefetches; i++) {
    const indim_access *access = &nest->list->accesses[i];
    if (access->item == NULL || access->strides == NULL || access->is_packed) {
      continue;
    }
    if (!indim_transpose_applies(nest, access)) {
      int64_t distance = access->strides[nest->vector_dim] == 1 ? 2 * access->strides[nest->transpose_dim] : 0;
      if (distance != 0) {
        indim_value_id address = address_in(r, panel, access, row, indim_loop_index(b, 0));
        indim_loop_prefetch(b, access->storage, address, distance, panel->columns);
      }
      continue;
    }
    int64_t distance = next_panel_distance(r, access);
    for (int64_t e = 0; e < each && distance != 0; e++) {
      indim_value_id v = indim_loop_add_const(b, indim_loop_mul_const(b, row, each), e);
      if (indim_loop_value_of(b, v)->high >= panel->columns) {
        v = indim_loop_binary(b, INDIM_OP_MINIMUM, v, indim_loop_index(b, panel->columns - 1));
      }
      indim_loop_prefetch(b, access->storage, address_in(r, panel, access, indim_loop_index(b, 0), v), distance,
                          panel->rows);
    }
  }
}

static void run_panel(const panel_range *r, const indim_panel *panel, bool is_last) {
  indim_nest *nest = r->nest;
  indim_loop_builder *b = &nest->l->b;
  indim_transpose_fill(nest, r->index, panel);
  indim_value_id row =
      indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, panel->rows), 1, 0, NULL, NULL);
  prefetch_next(r, panel, row);
  r->index[nest->transpose_dim] = (indim_coord){indim_loop_add(b, panel->w, row), 0};
  run_row(r, panel, is_last);
  indim_loop_for_end(b, NULL, NULL);
  indim_transpose_end(nest->l);
}

// The number of whole panels in |count| elements that leaves no too short remainder; |needs_remainder|: nor an empty
// one.
static int64_t whole_panels(const indim_nest *nest, int64_t count, bool needs_remainder) {
  int64_t whole = count / nest->side;
  int64_t remainder = count % nest->side;
  bool is_short = remainder < LEAST_LINES * indim_nest_line(nest) && (remainder > 0 || needs_remainder);
  return whole > 0 && is_short ? whole - 1 : whole;
}

// All panels along w, with |columns| columns; with |threads| in parallel.
static void run_band(const panel_range *r, indim_value_id v, int64_t columns, bool is_last, bool threads) {
  indim_nest *nest = r->nest;
  indim_loop_builder *b = &nest->l->b;
  int64_t whole = whole_panels(nest, r->w_end - r->w_begin, false);
  int64_t at = r->w_begin + whole * nest->side;
  indim_panel panel = {.v = v, .columns = columns};
  if (whole > 0) {
    indim_value_id number = indim_nest_pieces_begin(nest, 0, whole, threads && whole > 1);
    panel.w = indim_loop_add_const(b, indim_loop_mul_const(b, number, nest->side), r->w_begin);
    panel.rows = nest->side;
    run_panel(r, &panel, is_last);
    indim_nest_pieces_end(nest, threads && whole > 1);
  }
  if (at < r->w_end) {
    panel.w = indim_loop_index(b, at);
    panel.rows = r->w_end - at;
    run_panel(r, &panel, is_last);
  }
}

// Where rows are stored from a line boundary on: the elements before it, without panels.
static void run_before_lines(const panel_range *r) {
  indim_nest *nest = r->nest;
  indim_loop_builder *b = &nest->l->b;
  int64_t line = 0;
  indim_value_id w =
      indim_loop_for_begin(b, indim_loop_index(b, r->w_begin), indim_loop_index(b, r->w_end), 1, 0, NULL, NULL);
  r->index[nest->transpose_dim] = (indim_coord){w, 0};
  indim_value_id before = indim_nest_before_line(nest, r->index, r->v_begin, &line);
  indim_nest_scalar_loop(nest, r->index, indim_loop_index(b, r->v_begin), indim_loop_add_const(b, before, r->v_begin));
  indim_loop_for_end(b, NULL, NULL);
}

static void run_panels(indim_nest *nest, indim_coord *index, const int64_t *w, const int64_t *v) {
  indim_loop_builder *b = &nest->l->b;
  bool is_misaligned = nest->streams && indim_nest_rows_are_misaligned(nest);
  panel_range r = {.nest = nest, .index = index, .w_begin = w[0], .w_end = w[1], .v_begin = v[0], .v_end = v[1]};
  r.line = is_misaligned ? indim_nest_line(nest) : 0;
  r.prefetches = nest->is_far && indim_lower_is_enabled(nest->l, INDIM_DECISION_PREFETCH);
  int64_t whole = whole_panels(nest, v[1] - v[0], is_misaligned);
  int64_t at = v[0] + whole * nest->side;
  if (is_misaligned) {
    run_before_lines(&r);
  }
  bool may_thread = indim_nest_worth_threads(nest, indim_nest_elements(nest));
  if (whole == 1) {
    run_band(&r, indim_loop_index(b, v[0]), nest->side + r.line, false, may_thread);
  } else if (whole > 1) {
    indim_value_id panel = indim_nest_pieces_begin(nest, 0, whole, may_thread);
    indim_value_id from = indim_loop_add_const(b, indim_loop_mul_const(b, panel, nest->side), v[0]);
    run_band(&r, from, nest->side + r.line, false, false);
    indim_nest_pieces_end(nest, may_thread);
  }
  if (at < v[1]) {
    run_band(&r, indim_loop_index(b, at), v[1] - at, true, may_thread);
  }
}

// All of both dimensions -----------------------------------------------------------------------------------------------

void indim_nest_transposed(indim_nest *nest, indim_coord *index, int32_t segments) {
  int64_t w[INDIM_MAX_SPLIT_POINTS + 2];
  int64_t v[INDIM_MAX_SPLIT_POINTS + 2];
  int32_t w_count = indim_nest_borders(nest, nest->transpose_dim, segments, w);
  int32_t v_count = indim_nest_borders(nest, nest->vector_dim, segments * w_count, v);
  for (int32_t i = 0; i < w_count; i++) {
    if (nest->joined > 0) {
      indim_nest_squares_joined(nest, index, w + i);
      continue;
    }
    for (int32_t j = 0; j < v_count; j++) {
      int64_t least = LEAST_LINES * indim_nest_line(nest);
      if (nest->side > 0 && w[i + 1] - w[i] >= least && v[j + 1] - v[j] >= least) {
        run_panels(nest, index, w + i, v + j);
      } else {
        indim_nest_squares(nest, index, w + i, v + j);
      }
    }
  }
}
