// A product as loops over the output. A free vector dimension makes each lane a sum of its own, with several rows computed
// together so that each loaded register is used more than once; a contracted one makes the lanes partial sums.
#include <string.h>

#include "loop/ir/build.h"
#include "loop/kernels/dot.h"
#include "loop/target/cost.h"

// The place of a sum of the tile: |column| of |row|.
static void set_place(const indim_product *p, indim_coord *index, const indim_coord *base, int32_t row,
                      int32_t column) {
  indim_loop_builder *b = &p->l->b;
  if (p->row_dim >= 0) {
    index[p->row_dim] = (indim_coord){indim_loop_add_const(b, base[p->row_dim].base, row), 0};
  }
  if (p->column_dim >= 0) {
    index[p->column_dim] = (indim_coord){indim_loop_add_const(b, base[p->column_dim].base, column), 0};
  }
}

// Whether the steps along a contracted dimension are so few that each is code of its own; |copies|: of those around it.
static bool is_unrolled(const indim_product *p, int32_t dim, int64_t copies) {
  int32_t most = indim_type_is_complex(p->sum) ? INDIM_COST_COMPLEX_COPIES : INDIM_COST_PRODUCT_COPIES / p->columns;
  return p->sizes[dim] <= INDIM_COST_UNROLLED_LOOP && copies * p->sizes[dim] <= most;
}

// Where a contracted dimension is cut, so that what is put together along it (a concatenate of gathers) is read part by part without
// masks: ascending, with 0 and the end. Returns the number of parts; one where none would fill |least| steps.
static int32_t parts_of(const indim_product *p, int32_t dim, int64_t least, int64_t *borders) {
  indim_nest nest = {.l = p->l, .rank = p->rank, .list = p->list};
  memcpy(nest.sizes, p->sizes, sizeof nest.sizes);
  int32_t parts = indim_nest_borders(&nest, dim, 1, borders);
  if (indim_nest_longest_segment(&nest, dim) >= least) {
    return parts;
  }
  borders[1] = p->sizes[dim];
  return 1;
}

static void accumulate(indim_product *p, indim_element_ctx *k, int32_t dim, indim_coord *index, int32_t rows,
                       indim_value_id *sums);

// Whether the loop along |dim| is the innermost one of a tile.
static bool is_innermost(const indim_product *p, int32_t dim) {
  int64_t copies = p->copies;
  for (int32_t d = dim + 1; d < p->rank; d++) {
    if (p->sizes[d] != 1 && d != p->vector_dim) {
      if (!is_unrolled(p, d, copies)) {
        return false;
      }
      copies *= p->sizes[d];
    }
  }
  return true;
}

// Into how many sums each sum of a tile is split, so that a step need not wait for the one before: a few registers take the latency of
// an addition for each step.
static int32_t sets_of(const indim_product *p, int32_t lanes, int32_t sums, int64_t steps) {
  enum { LEAST_STEPS = 8 };
  int32_t bytes = lanes * indim_type_bytes(p->sum);
  int32_t registers = sums * (bytes <= p->l->target->vector_bytes ? 1 : bytes / p->l->target->vector_bytes);
  int32_t sets = 1;
  while (sets * 2 * registers <= INDIM_COST_SUM_REGISTERS && steps >= (int64_t)LEAST_STEPS * 2 * sets &&
         p->copies * 2 * sets <= INDIM_COST_PRODUCT_COPIES) {
    sets *= 2;
  }
  return indim_type_is_complex(p->sum) ? 1 : sets;
}

// The steps along |dim| from |low| to |high|, with |sets| of sums, each of every so manieth step.
static void accumulate_steps(indim_product *p, indim_element_ctx *k, int32_t dim, indim_coord *index, int32_t rows,
                             int64_t low, int64_t high, int32_t sets, indim_value_id *sums) {
  enum { MOST = INDIM_COST_PRODUCT_ROWS * INDIM_COST_PRODUCT_COLUMNS };
  _Static_assert((int)INDIM_COST_SUM_REGISTERS <= (int)MOST, "room for all sets");
  indim_loop_builder *b = &p->l->b;
  int32_t count = rows * p->columns;
  int64_t copies = p->copies;
  int64_t main = low + (high - low) / sets * sets;
  indim_value_id all[MOST];
  indim_value_id in[MOST];
  memcpy(all, sums, (size_t)count * sizeof *sums);
  for (int32_t i = count; i < sets * count; i++) {
    all[i] = indim_loop_splat(b, indim_loop_const(b, p->sum, 0, 0), k->lanes);
  }
  indim_value_id at =
      indim_loop_for_begin(b, indim_loop_index(b, low), indim_loop_index(b, main), sets, sets * count, all, in);
  p->l->loop_depth++;
  p->copies *= sets;
  for (int32_t i = 0; i < sets; i++) {
    index[dim] = (indim_coord){indim_loop_add_const(b, at, i), 0};
    accumulate(p, k, dim + 1, index, rows, in + i * count);
  }
  p->copies = copies;
  p->l->loop_depth--;
  indim_loop_for_end(b, in, all);
  for (int64_t i = main; i < high; i++) {
    index[dim] = (indim_coord){indim_loop_index(b, i), 0};
    accumulate(p, k, dim + 1, index, rows, all + (i - low) % sets * count);
  }
  for (int32_t half = sets / 2; half > 0; half /= 2) {
    for (int32_t i = 0; i < half * count; i++) {
      all[i] = indim_loop_binary(b, INDIM_OP_ADD, all[i], all[i + half * count]);
    }
  }
  memcpy(sums, all, (size_t)count * sizeof *sums);
}

// Accumulates the sums of a tile of |rows| by p->columns over the contracted dimensions from |dim| on.
static void accumulate(indim_product *p, indim_element_ctx *k, int32_t dim, indim_coord *index, int32_t rows,
                       indim_value_id *sums) {
  indim_loop_builder *b = &p->l->b;
  while (dim < p->rank && (p->sizes[dim] == 1 || dim == p->vector_dim)) {
    dim++;
  }
  if (indim_lower_failed(p->l)) {
    return;
  }
  if (dim == p->rank) {
    indim_coord base[INDIM_MAX_RANK];
    memcpy(base, index, sizeof base);
    for (int32_t i = 0; i < rows * p->columns; i++) {
      set_place(p, index, base, i / p->columns, i % p->columns);
      indim_value_id x = indim_product_factor(p, k, true, index);
      indim_value_id y = indim_product_factor(p, k, false, index);
      sums[i] = indim_product_multiply_add(p, k->lanes, x, y, sums[i]);
    }
    memcpy(index, base, sizeof base);
    return;
  }
  if (is_unrolled(p, dim, p->copies)) {
    int64_t copies = p->copies;
    p->copies *= p->sizes[dim];
    for (int64_t i = 0; i < p->sizes[dim]; i++) {
      index[dim] = (indim_coord){indim_loop_index(b, i), 0};
      accumulate(p, k, dim + 1, index, rows, sums);
    }
    p->copies = copies;
    return;
  }
  int64_t borders[INDIM_MAX_SPLIT_POINTS + 2];
  int32_t parts = parts_of(p, dim, INDIM_COST_UNROLLED_LOOP, borders);
  int32_t sets = parts == 1 && is_innermost(p, dim) ? sets_of(p, k->lanes, rows * p->columns, p->sizes[dim]) : 1;
  for (int32_t i = 0; i < parts && !indim_lower_failed(p->l); i++) {
    accumulate_steps(p, k, dim, index, rows, borders[i], borders[i + 1], sets, sums);
  }
}

static void store_sum(indim_product *p, indim_element_ctx *k, const indim_coord *index, indim_value_id sum) {
  sum = indim_loop_convert(&p->l->b, sum, p->item->shape->type);
  indim_store_at(k, p->item->shape, &p->item->place, index, sum);
}

// Whether one lane's elements of all rows are adjacent in memory, followed by those of the next lane.
static bool is_interleaved(const indim_product *p, int32_t rows) {
  const indim_location *at = &p->item->place;
  return p->row_dim >= 0 && rows > 1 && p->columns == 1 && at->tiled == NULL && at->strides[p->row_dim] == 1 &&
         at->strides[p->vector_dim] == rows && p->sizes[p->row_dim] == rows;
}

// Stores such rows as one vector.
static void store_interleaved(indim_product *p, indim_element_ctx *k, const indim_coord *index, int32_t rows,
                              const indim_value_id *sums) {
  indim_loop_builder *b = &p->l->b;
  int32_t map[INDIM_COST_PRODUCT_ROWS * 64];
  indim_value_id values[INDIM_COST_PRODUCT_ROWS];
  for (int32_t i = 0; i < rows; i++) {
    values[i] = indim_loop_convert(b, sums[i], p->item->shape->type);
  }
  for (int32_t i = 0; i < rows * k->lanes; i++) {
    map[i] = i % rows * k->lanes + i / rows;
  }
  indim_value_id bases[INDIM_MAX_RANK];
  for (int32_t d = 0; d < p->out_rank; d++) {
    bases[d] = index[d].base;
  }
  indim_value_id address = indim_location_address(p->l, p->item->shape, &p->item->place, bases);
  indim_value_id all = indim_loop_shuffle(b, rows, values, rows * k->lanes, map);
  indim_loop_store(b, p->item->place.storage, address, all, 1, false);
}

// How many rows of 16 bytes fill a register, if the output's rows and the other factor's are that long; 0 otherwise.
static int32_t rows_of_register(const indim_product *p, const indim_element_ctx *k, int32_t rows) {
  const indim_location *at = &p->item->place;
  int32_t of_register = p->l->target->vector_bytes / 16;
  bool is_float = p->sum == p->item->shape->type && indim_type_is_float(p->sum);
  bool is_square = p->row_dim >= 0 && p->group[p->vector_dim] != INDIM_PRODUCT_BATCH && p->rank == p->out_rank + 1 &&
                   p->sizes[p->out_rank] == k->lanes && p->sizes[p->vector_dim] == k->lanes;
  if (!is_float || !is_square || k->lanes * indim_type_bytes(p->sum) != 16 || of_register < 2 ||
      rows % of_register != 0) {
    return 0;
  }
  bool is_contiguous = at->tiled == NULL && at->strides[p->vector_dim] == 1 && at->strides[p->row_dim] == k->lanes;
  return is_contiguous ? of_register : 0;
}

static indim_value_id shuffle_lanes(indim_loop_builder *b, int32_t count, const indim_value_id *values, int32_t lanes,
                                    int32_t full, int32_t step) {
  enum { MOST_LANES = 16 };
  int32_t map[MOST_LANES];
  for (int32_t l = 0; l < full; l++) {
    map[l] = step < 0 ? l % (count * lanes) : l / lanes * lanes + step;
  }
  return b->status == INDIM_OK ? indim_loop_shuffle(b, count, values, full, map) : 0;
}

// Several rows of the output per register. The factor with these rows is loaded once, and each step uses a shuffle of
// it within 16 bytes; the other factor's row is broadcast to every 16 bytes.
static void register_rows(indim_product *p, indim_element_ctx *k, indim_coord *index, int32_t rows,
                          int32_t of_register) {
  enum { MOST_OF_REGISTER = 4 };
  indim_loop_builder *b = &p->l->b;
  bool left = p->group[p->row_dim] == INDIM_PRODUCT_LEFT;
  int32_t lanes = k->lanes;
  int32_t full = lanes * of_register;
  int32_t registers = rows / of_register;
  indim_value_id base = index[p->row_dim].base;
  indim_value_id x[INDIM_COST_PRODUCT_ROWS];
  indim_value_id sums[INDIM_COST_PRODUCT_ROWS];
  for (int32_t r = 0; r < registers && !indim_lower_failed(p->l); r++) {
    indim_value_id parts[MOST_OF_REGISTER];
    index[p->out_rank] = (indim_coord){indim_loop_index(b, 0), 1};
    for (int32_t i = 0; i < of_register; i++) {
      index[p->row_dim] = (indim_coord){indim_loop_add_const(b, base, r * of_register + i), 0};
      parts[i] = indim_loop_splat(b, indim_product_factor(p, k, left, index), lanes);
    }
    x[r] = shuffle_lanes(b, of_register, parts, lanes, full, -1);
    sums[r] = indim_loop_splat(b, indim_loop_const(b, p->sum, 0, 0), full);
  }
  for (int32_t step = 0; step < lanes && !indim_lower_failed(p->l); step++) {
    index[p->out_rank] = (indim_coord){indim_loop_index(b, step), 0};
    indim_value_id y = indim_loop_splat(b, indim_product_factor(p, k, !left, index), lanes);
    y = shuffle_lanes(b, 1, &y, lanes, full, -1);
    for (int32_t r = 0; r < registers; r++) {
      sums[r] = indim_product_multiply_add(p, full, shuffle_lanes(b, 1, &x[r], lanes, full, step), y, sums[r]);
    }
  }
  for (int32_t r = 0; r < registers && !indim_lower_failed(p->l); r++) {
    indim_value_id bases[INDIM_MAX_RANK];
    for (int32_t d = 0; d < p->out_rank; d++) {
      bases[d] = d == p->row_dim ? indim_loop_add_const(b, base, r * of_register) : index[d].base;
    }
    indim_value_id address = indim_location_address(p->l, p->item->shape, &p->item->place, bases);
    indim_loop_store(b, p->item->place.storage, address, sums[r], 1, false);
  }
}

// Lanes are elements of the output.
static void free_lanes(indim_product *p, indim_element_ctx *k, indim_coord *index, int32_t rows) {
  int32_t of_register = rows_of_register(p, k, rows);
  if (of_register > 0) {
    register_rows(p, k, index, rows, of_register);
    return;
  }
  indim_value_id sums[INDIM_COST_PRODUCT_ROWS * INDIM_COST_PRODUCT_COLUMNS];
  for (int32_t i = 0; i < rows * p->columns; i++) {
    sums[i] = indim_loop_const(&p->l->b, p->sum, 0, 0);
    sums[i] = indim_loop_splat(&p->l->b, sums[i], k->lanes);
  }
  accumulate(p, k, p->out_rank, index, rows, sums);
  if (k->lanes <= 64 && is_interleaved(p, rows) && !indim_lower_failed(p->l)) {
    store_interleaved(p, k, index, rows, sums);
    return;
  }
  indim_coord base[INDIM_MAX_RANK];
  memcpy(base, index, sizeof base);
  for (int32_t i = 0; i < rows * p->columns && !indim_lower_failed(p->l); i++) {
    set_place(p, index, base, i / p->columns, i % p->columns);
    store_sum(p, k, index, sums[i]);
  }
}

// The vector with zeros behind it.
static indim_value_id extend(indim_loop_builder *b, indim_type type, indim_value_id x, int32_t lanes, int32_t to) {
  enum { MOST_LANES = 512 };
  int32_t map[MOST_LANES];
  indim_value_id values[] = {x, indim_loop_splat(b, indim_loop_const(b, type, 0, 0), lanes)};
  for (int32_t k = 0; k < to && k < MOST_LANES; k++) {
    map[k] = k < lanes ? k : lanes;
  }
  return indim_loop_shuffle(b, 2, values, to, map);
}

// Adds what the steps from |low| to |high| give: vectors to |sums|, single ones, and all where there are no whole vectors, to
// |remainder|.
static void add_part(indim_product *p, indim_coord *index, int32_t rows, int64_t low, int64_t high,
                     indim_value_id *sums, indim_value_id *remainder) {
  indim_loop_builder *b = &p->l->b;
  int64_t at = low + (high - low) / p->lanes * p->lanes;
  if (at > low) {
    indim_element_ctx k = {.l = p->l, .lanes = p->lanes};
    indim_value_id in[INDIM_COST_PRODUCT_ROWS];
    indim_value_id step =
        indim_loop_for_begin(b, indim_loop_index(b, low), indim_loop_index(b, at), p->lanes, rows, sums, in);
    index[p->vector_dim] = (indim_coord){step, 1};
    accumulate(p, &k, p->out_rank, index, rows, in);
    indim_loop_for_end(b, in, sums);
  }
  for (int32_t lanes = 0; (lanes = indim_piece_lanes(high - at, p->lanes)) > 0; at += lanes) {
    indim_element_ctx k = {.l = p->l, .lanes = lanes};
    indim_value_id part[INDIM_COST_PRODUCT_ROWS];
    for (int32_t i = 0; i < rows; i++) {
      part[i] = indim_loop_splat(b, indim_loop_const(b, p->sum, 0, 0), lanes);
    }
    index[p->vector_dim] = (indim_coord){indim_loop_index(b, at), lanes > 1 ? 1 : 0};
    accumulate(p, &k, p->out_rank, index, rows, part);
    for (int32_t i = 0; i < rows && !indim_lower_failed(p->l); i++) {
      indim_loop_op add = {.op = INDIM_OP_ADD};
      if (high - low >= p->lanes && lanes > 1 && !indim_type_is_complex(p->sum)) {
        sums[i] = indim_loop_binary(b, INDIM_OP_ADD, sums[i], extend(b, p->sum, part[i], lanes, p->lanes));
        continue;
      }
      indim_value_id total = lanes == 1 ? part[i] : indim_loop_reduce(b, add, part[i]);
      remainder[i] = indim_loop_binary(b, INDIM_OP_ADD, remainder[i], total);
    }
  }
}

// Lanes are partial sums along the contracted dimension.
static void contracted_lanes(indim_product *p, indim_coord *index, int32_t rows, indim_element_ctx *out) {
  indim_loop_builder *b = &p->l->b;
  int64_t borders[INDIM_MAX_SPLIT_POINTS + 2];
  int32_t parts = parts_of(p, p->vector_dim, p->lanes, borders);
  indim_value_id sums[INDIM_COST_PRODUCT_ROWS];
  indim_value_id remainder[INDIM_COST_PRODUCT_ROWS];
  indim_coord base = p->row_dim < 0 ? (indim_coord){0} : index[p->row_dim];
  for (int32_t i = 0; i < rows; i++) {
    remainder[i] = indim_loop_const(b, p->sum, 0, 0);
    sums[i] = indim_loop_splat(b, remainder[i], p->lanes);
  }
  for (int32_t i = 0; i < parts && !indim_lower_failed(p->l); i++) {
    add_part(p, index, rows, borders[i], borders[i + 1], sums, remainder);
  }
  for (int32_t i = 0; i < rows && !indim_lower_failed(p->l); i++) {
    indim_loop_op add = {.op = INDIM_OP_ADD};
    indim_value_id total = p->lanes == 1 ? sums[i] : indim_loop_reduce(b, add, sums[i]);
    if (p->row_dim >= 0) {
      index[p->row_dim] = (indim_coord){indim_loop_add_const(b, base.base, i), 0};
    }
    store_sum(p, out, index, indim_loop_binary(b, INDIM_OP_ADD, total, remainder[i]));
  }
}

static void output_body(indim_nest *nest, indim_element_ctx *k, const indim_coord *output) {
  indim_product *p = nest->user;
  indim_coord index[INDIM_MAX_RANK];
  for (int32_t d = 0; d < p->rank; d++) {
    index[d] = d < p->out_rank ? output[d] : (indim_coord){indim_loop_index(&p->l->b, 0), 0};
  }
  if (p->row_dim >= 0) {
    index[p->row_dim].base =
        indim_loop_add_const(&p->l->b, indim_loop_mul_const(&p->l->b, output[p->row_dim].base, p->rows), p->first_row);
  }
  if (p->column_dim >= 0) {
    index[p->column_dim].base = indim_loop_add_const(
        &p->l->b, indim_loop_mul_const(&p->l->b, output[p->column_dim].base, p->columns), p->first_column);
  }
  if (p->vector_dim >= p->out_rank && p->vector_dim < p->rank) {
    contracted_lanes(p, index, p->rows, k);
  } else {
    free_lanes(p, k, index, p->rows);
  }
}

// Whether a tile has a loop over its steps.
static bool has_loop(const indim_product *p) {
  bool is_lane = p->vector_dim >= p->out_rank && p->vector_dim < p->rank;
  bool has = is_lane && p->sizes[p->vector_dim] >= 2 * (int64_t)p->lanes;
  int64_t copies = 1;
  for (int32_t d = p->out_rank; d < p->rank; d++) {
    bool is_step = p->sizes[d] > 1 && d != p->vector_dim;
    has = has || (is_step && !is_unrolled(p, d, copies));
    copies *= is_step && !has ? p->sizes[d] : 1;
  }
  return has;
}

// How many times a row of tiles has the code of one: for whole vectors, and for what is left.
static int32_t pieces_of_row(const indim_product *p) {
  int64_t extent = p->vector_dim < p->out_rank ? p->sizes[p->vector_dim] : 1;
  return (extent >= p->lanes ? 1 : 0) + (extent % p->lanes > 0 ? 1 : 0);
}

// Whether one copy of the tiles' code is as good as one for each row of them, which would be long.
static bool wants_one_copy(const indim_product *p, int64_t row_tiles) {
  return has_loop(p) && row_tiles * pieces_of_row(p) > INDIM_COST_UNROLLED_LOOP;
}

// The tiles of |rows| by p->columns.
static void run_tiles(indim_product *p, int64_t row_tiles, int64_t column_tiles, int32_t rows) {
  indim_nest nest = {.l = p->l, .rank = p->out_rank, .body = output_body, .user = p, .list = p->list};
  indim_access_list *list = indim_lower_alloc(p->l, 1, sizeof *list);
  if (list == NULL || row_tiles == 0 || column_tiles == 0) {
    return;
  }
  list->is_full = true;
  nest.list = list;
  nest.cost = (indim_type_is_complex(p->sum) ? INDIM_COST_COMPLEX_PRODUCT : 2) * rows * p->columns;
  for (int32_t d = p->out_rank; d < p->rank; d++) {
    nest.cost = indim_index_mul_saturated(nest.cost, p->sizes[d]);
  }
  memcpy(nest.sizes, p->sizes, (size_t)p->out_rank * sizeof *nest.sizes);
  for (int32_t d = 0; d < p->out_rank; d++) {
    nest.order[d] = d;
  }
  nest.vector_dim = p->vector_dim < p->out_rank ? p->vector_dim : -1;
  nest.lanes = nest.vector_dim < 0 ? 1 : p->lanes;
  nest.unroll = 1;
  nest.may_thread = nest.may_repeat = true;
  p->rows = rows;
  p->copies = 1;
  if (p->row_dim >= 0) {
    nest.sizes[p->row_dim] = row_tiles;
  }
  if (p->column_dim >= 0) {
    nest.sizes[p->column_dim] = column_tiles;
  }
  bool is_long = rows * p->columns > INDIM_COST_PRODUCT_ROWS || wants_one_copy(p, row_tiles);
  nest.is_long = indim_type_is_complex(p->sum) || (is_long && indim_nest_keeps_threads(&nest));
  indim_nest_run(&nest);
}

void indim_product_run_nest(indim_product *p) {
  int64_t height = p->row_dim < 0 ? 1 : p->sizes[p->row_dim];
  int64_t width = p->column_dim < 0 ? 1 : p->sizes[p->column_dim];
  int32_t rows = height < INDIM_COST_PRODUCT_ROWS ? (int32_t)height : INDIM_COST_PRODUCT_ROWS;
  int64_t most = p->l->target->vector_registers >= 32 ? INDIM_COST_PRODUCT_COLUMNS : INDIM_COST_PRODUCT_COLUMNS / 2;
  int32_t columns = (int32_t)(p->column_dim < 0 ? 1 : width < most ? width : most);
  for (int32_t edge = 0; edge < 4; edge++) {  // whole tiles; the columns, rows and corner that are left, one at a time
    bool is_column = (edge & 1) != 0;
    bool is_row = (edge & 2) != 0;
    p->columns = is_column ? 1 : columns;
    p->first_row = is_row ? height / rows * rows : 0;
    p->first_column = is_column ? width / columns * columns : 0;
    run_tiles(p, is_row ? height % rows : height / rows, is_column ? width % columns : width / columns,
              is_row ? 1 : rows);
  }
}
