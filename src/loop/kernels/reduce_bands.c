// Reductions of columns and of one long row. Columns are reduced row by row, a few rows at a time, into partial results
// in memory, which stay in the nearest caches: the input is read sequentially. A single row is split into pieces with
// partial results of their own. The split depends on sizes alone, so results are bitwise the same for any number of
// threads.
#include "loop/kernels/reduce.h"
#include "loop/target/cost.h"

// Columns in bands ----------------------------------------------------------------------------------------------------

enum {
  ROWS = 4,            // processed at a time
  MOST_REGISTERS = 8,  // of columns; fewer columns stay in registers instead
  REGISTERS = 4,       // of columns at a time
  PIECES = 16,         // of rows, or of a row
  LEAST_ROWS = 16,     // of a piece
  MOST_RESULTS = 4,    // of a reduction of several inputs, such as argmax
};

bool indim_reduce_suits_bands(const indim_reduction *r) {
  if (r->n > MOST_RESULTS || r->vector_dim < 0 || r->is_reduced[r->vector_dim] || r->order_count != 1 ||
      r->sizes[r->order[0]] < LEAST_ROWS) {
    return false;
  }
  // Of several inputs one register of columns is reduced at a time, and a single chain of their operations waits for itself.
  if (r->collapsed[r->vector_dim] <= (int64_t)(r->is_single ? MOST_REGISTERS : 1) * r->lanes) {
    return false;
  }
  for (int32_t d = r->vector_dim + 1; d < r->rank; d++) {
    if (!r->is_reduced[d] && r->collapsed[d] != 1) {
      return false;
    }
  }
  return true;
}

// A band of columns: partial results from |address| of |storage| on, of each result.
typedef struct band {
  indim_reduction *r;
  const indim_coord *index;  // of the input's outer dimensions
  indim_storage *storage[MOST_RESULTS];
  indim_value_id address[MOST_RESULTS];
  indim_value_id first;  // column of the band
  indim_storage *parts;  // read instead of the input, in rows of |width| elements; NULL: the input
  int64_t width;
} band;

// Accumulates rows |row| to |row| + |rows| at |column| of the band.
static void add_rows(const band *s, int32_t lanes, indim_value_id column, indim_value_id row, int32_t rows) {
  indim_reduction *r = s->r;
  indim_loop_builder *b = &r->l->b;
  indim_value_id address[MOST_RESULTS], acc[MOST_RESULTS], values[MOST_RESULTS];
  for (int32_t k = 0; k < r->n; k++) {
    address[k] = indim_loop_add(b, s->address[k], column);
    acc[k] = indim_loop_load(b, s->storage[k], address[k], lanes, 1);
  }
  indim_coord index[INDIM_MAX_RANK];
  for (int32_t d = 0; d < r->rank; d++) {
    index[d] = s->index[d];
  }
  index[r->vector_dim] = (indim_coord){indim_loop_add(b, s->first, column), lanes > 1 ? 1 : 0};
  for (int32_t i = 0; i < rows && !indim_lower_failed(r->l); i++) {
    indim_value_id at = indim_loop_add_const(b, row, i);
    if (s->parts != NULL) {
      indim_value_id from = indim_loop_add(b, indim_loop_mul_const(b, at, s->width), column);
      values[0] = indim_loop_load(b, s->parts, from, lanes, 1);
    } else {
      index[r->order[0]] = (indim_coord){at, 0};
      indim_reduce_inputs(r, lanes, index, values);
    }
    if (!indim_lower_failed(r->l)) {
      indim_reduce_apply(r, lanes, acc, values, acc);
    }
  }
  for (int32_t k = 0; k < r->n && !indim_lower_failed(r->l); k++) {
    indim_loop_store(b, s->storage[k], address[k], acc[k], 1, false);
  }
}

// Lanes of the vectors of |count| columns: as many registers as leave the fewest vectors for the columns behind the last.
static int32_t column_lanes(const indim_reduction *r, int64_t count) {
  int32_t best = 0;
  int32_t least = 0;
  for (int32_t registers = r->is_gathered || !r->is_single ? 1 : REGISTERS; registers >= 1; registers /= 2) {
    int32_t lanes = indim_piece_lanes(count, registers * r->lanes);
    int32_t rest = 0;
    for (int64_t left = count % lanes; left > 0; left -= indim_piece_lanes(left, r->lanes)) {
      rest++;
    }
    if (best == 0 || rest < least) {
      best = lanes;
      least = rest;
    }
  }
  return best;
}

// The same for all |count| columns.
static void add_columns(const band *s, int64_t count, indim_value_id row, int32_t rows) {
  indim_loop_builder *b = &s->r->l->b;
  int32_t lanes = column_lanes(s->r, count);
  int64_t done = count / lanes * lanes;
  indim_value_id at = indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, done), lanes, 0, NULL, NULL);
  add_rows(s, lanes, at, row, rows);
  indim_loop_for_end(b, NULL, NULL);
  while ((lanes = indim_piece_lanes(count - done, s->r->lanes)) > 0) {
    add_rows(s, lanes, indim_loop_index(b, done), row, rows);
    done += lanes;
  }
}

// Accumulates the rows from |begin| to below |end|, in steps of |ROWS|; the last ones are those before |rows|.
static void add_steps(const band *s, int64_t count, indim_value_id begin, indim_value_id end, int64_t rows) {
  indim_loop_builder *b = &s->r->l->b;
  indim_value_id row = indim_loop_for_begin(b, begin, end, ROWS, 0, NULL, NULL);
  add_columns(s, count, indim_loop_clamp_index(b, row, 0, rows - ROWS), ROWS);
  indim_loop_for_end(b, NULL, NULL);
}

// Initializes the band to |init| and accumulates |rows| rows.
static void fill(const band *s, int64_t count, int64_t rows, const indim_value_id *init) {
  indim_loop_builder *b = &s->r->l->b;
  for (int32_t k = 0; k < s->r->n; k++) {
    indim_loop_fill(b, s->storage[k], s->address[k], init[k], count);
  }
  int64_t done = rows / ROWS * ROWS;
  if (done > 0) {
    add_steps(s, count, indim_loop_index(b, 0), indim_loop_index(b, done), done);
  }
  if (rows > done) {
    add_columns(s, count, indim_loop_index(b, done), (int32_t)(rows - done));
  }
}

// Parallel pieces of rows of a reduction of one input, each with its own partial results, which are combined at the end. A piece is whole steps of rows, so
// that there is one code for all of them; the last ones may have fewer, or none.
static void run_row_pieces(band *s, int64_t columns, int64_t rows, const indim_value_id *init) {
  indim_reduction *r = s->r;
  indim_loop_builder *b = &r->l->b;
  int64_t done = rows / ROWS * ROWS;
  int64_t piece = (done / ROWS + PIECES - 1) / PIECES * ROWS;
  int64_t width = (columns + 15) / 16 * 16;
  indim_flow_item *result = indim_reduce_result(r, 0);
  indim_storage *parts = indim_loop_storage(b, INDIM_STORAGE_SCRATCH, result->shape->type, width * PIECES, "parts");
  indim_loop_region_begin(b, &parts, 1);
  indim_value_id p = indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, PIECES), 1, 0, NULL, NULL);
  indim_loop_for_parallel(b, 1);
  band part = {r, s->index, {parts}, {indim_loop_mul_const(b, p, width)}, s->first, NULL, 0};
  indim_value_id begin = indim_loop_clamp_index(b, indim_loop_mul_const(b, p, piece), 0, done);
  indim_value_id end = indim_loop_clamp_index(b, indim_loop_add_const(b, begin, piece), 0, done);
  indim_loop_fill(b, parts, part.address[0], r->identity, columns);
  add_steps(&part, columns, begin, end, done);
  indim_loop_for_end(b, NULL, NULL);
  indim_element_forget(r->l);
  indim_loop_region_begin(b, s->storage, 1);
  band all = *s;
  all.parts = parts;
  all.width = width;
  fill(&all, columns, PIECES, init);
  if (rows > done) {
    add_columns(s, columns, indim_loop_index(b, done), (int32_t)(rows - done));
  }
}

// Columns of a band: all, but as many as the nearest caches hold, or, for threads, as leave every one some bands.
static int64_t band_width(const indim_reduction *r, int64_t columns, bool may_thread) {
  int64_t most = r->is_single ? INDIM_COST_REDUCED_BAND : columns / PIECES / r->lanes * r->lanes;
  most = most < INDIM_COST_REDUCED_BAND ? most : INDIM_COST_REDUCED_BAND;
  if (may_thread && columns >= 2 * most && most > 0) {
    return most;
  }
  return columns > INDIM_COST_REDUCED_COLUMNS ? INDIM_COST_REDUCED_BAND : columns;
}

void indim_reduce_bands(indim_reduction *r, const indim_coord *index, const indim_value_id *at) {
  indim_loop_builder *b = &r->l->b;
  int64_t columns = r->collapsed[r->vector_dim];
  int64_t rows = r->sizes[r->order[0]];
  bool may_thread = indim_reduce_may_thread(r);
  indim_value_id init[MOST_RESULTS];
  indim_reduce_initial(r, init);
  band s = {.r = r, .index = index, .first = indim_loop_index(b, 0)};
  for (int32_t k = 0; k < r->n; k++) {
    s.storage[k] = indim_reduce_result(r, k)->place.storage;
    s.address[k] = at[k];
  }
  if (r->is_single && may_thread && rows >= PIECES * LEAST_ROWS && columns <= INDIM_COST_REDUCED_COLUMNS) {
    run_row_pieces(&s, columns, rows, init);
    return;
  }
  int64_t width = band_width(r, columns, may_thread);
  int64_t done = columns / width * width;
  if (done > width) {
    s.first = indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, done), width, 0, NULL, NULL);
    if (may_thread) {
      indim_loop_for_parallel(b, 1);
    }
    for (int32_t k = 0; k < r->n; k++) {
      s.address[k] = indim_loop_add(b, at[k], s.first);
    }
    fill(&s, width, rows, init);
    indim_loop_for_end(b, NULL, NULL);
  } else {
    done = 0;
  }
  if (columns > done) {
    s.first = indim_loop_index(b, done);
    for (int32_t k = 0; k < r->n; k++) {
      s.address[k] = indim_loop_add_const(b, at[k], done);
    }
    fill(&s, columns - done, rows, init);
  }
}

// One long row in pieces ----------------------------------------------------------------------------------------------

bool indim_reduce_suits_pieces(const indim_reduction *r) {
  return r->rows == INDIM_REDUCE_ROWS && indim_reduce_is_by_rows(r) && r->order_count == 0 &&
         indim_reduce_may_thread(r) && indim_shape_element_count(indim_reduce_result(r, 0)->shape) == 1 &&
         r->sizes[r->vector_dim] >= 2 * PIECES * INDIM_REDUCE_ROWS * (int64_t)r->lanes;
}

void indim_reduce_pieces(indim_reduction *r) {
  enum { PARTS = PIECES * INDIM_REDUCE_ROWS };
  indim_lowering *l = r->l;
  indim_loop_builder *b = &l->b;
  indim_flow_item *result = indim_reduce_result(r, 0);
  int64_t size = r->sizes[r->vector_dim];
  int64_t part = size / PARTS / r->lanes * r->lanes;
  indim_storage *parts = indim_loop_storage(b, INDIM_STORAGE_SCRATCH, result->shape->type, PARTS, "parts");
  indim_reduce_row rows[INDIM_REDUCE_ROWS];
  indim_loop_region_begin(b, &parts, 1);
  indim_value_id p = indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, PIECES), 1, 0, NULL, NULL);
  indim_loop_for_parallel(b, 1);
  indim_value_id first = indim_loop_mul_const(b, p, INDIM_REDUCE_ROWS);
  for (int32_t k = 0; k < INDIM_REDUCE_ROWS; k++) {
    indim_reduce_origin(r, rows[k].index);
    rows[k].start = indim_loop_mul_const(b, indim_loop_add_const(b, first, k), part);
  }
  indim_value_id acc = r->identity;
  indim_reduce_rows(r, INDIM_REDUCE_ROWS, rows, part, &acc);
  if (!indim_lower_failed(l)) {
    indim_loop_store(b, parts, first, acc, 1, false);
  }
  indim_loop_for_end(b, NULL, NULL);
  // Combines the remainder of the row, the initial value, and the partial results.
  indim_element_forget(l);
  indim_loop_region_begin(b, &result->place.storage, 1);
  indim_reduce_initial(r, &acc);
  rows[0].start = indim_loop_index(b, PARTS * part);
  if (size > PARTS * part) {
    indim_reduce_rows(r, 1, rows, size - PARTS * part, &acc);
  }
  indim_value_id all = indim_loop_load(b, parts, indim_loop_index(b, 0), PARTS, 1);
  indim_reduce_combine(r, 1, PARTS, &all, &all);
  if (!indim_lower_failed(l)) {
    indim_reduce_apply(r, 1, &acc, &all, &acc);
  }
  indim_coord output[INDIM_MAX_RANK];
  for (int32_t d = 0; d < result->shape->rank; d++) {
    output[d] = (indim_coord){indim_loop_index(b, 0), 0};
  }
  indim_element_ctx k = {.l = l, .lanes = 1};
  if (!indim_lower_failed(l)) {
    indim_store_at(&k, result->shape, &result->place, output, acc);
  }
}
