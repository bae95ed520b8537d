// dot. A large product of two arrays in memory is a call of the host's library. Everything else is a loop nest over the
// output: if the vector dimension is free, every lane is a sum of its own, with several rows at a time so that loads
// are shared (unroll-and-jam); if it is contracted, lanes are partial sums. The order of the sums, and FMA, are the
// compiler's choice.
#include <string.h>

#include "loop/ir/build.h"
#include "loop/kernels/kernels.h"
#include "loop/target/cost.h"

enum { BATCH = 1, LEFT = 2, RIGHT = 3, CONTRACTED = 4 };

typedef struct product {
  indim_lowering *l;
  indim_flow_item *item;
  indim_flow_item *lhs, *rhs;
  int32_t out_rank, rank;         // dimensions of the output, then the contracted ones
  int64_t sizes[INDIM_MAX_RANK];  // contracted dimensions collapsed
  uint8_t group[INDIM_MAX_RANK];
  int32_t lhs_dim[INDIM_MAX_RANK];  // the nest's dimension of each of the operand's
  int32_t rhs_dim[INDIM_MAX_RANK];
  indim_type sum;  // type of the sums
  int32_t vector_dim;
  int32_t lanes;
  int32_t row_dim;  // dimension that is unroll-and-jammed; -1: none
  int32_t rows;
  indim_access_list *list;
} product;

static void set_up(product *p) {
  const indim_instr *instr = p->item->instr;
  int64_t batch_count = 0, lhs_count = 0, rhs_count = 0;
  const int64_t *lhs_batch = indim_instr_ints(instr, INDIM_ATTR_LHS_BATCH_DIMS, &batch_count);
  const int64_t *rhs_batch = indim_instr_ints(instr, INDIM_ATTR_RHS_BATCH_DIMS, &batch_count);
  const int64_t *lhs_contracting = indim_instr_ints(instr, INDIM_ATTR_LHS_CONTRACTING_DIMS, &lhs_count);
  const int64_t *rhs_contracting = indim_instr_ints(instr, INDIM_ATTR_RHS_CONTRACTING_DIMS, &rhs_count);
  const indim_shape *lhs = p->lhs->shape;
  const indim_shape *rhs = p->rhs->shape;
  p->out_rank = p->item->shape->rank;
  p->rank = p->out_rank + (int32_t)lhs_count;
  int32_t at = 0;
  for (int64_t i = 0; i < batch_count; i++, at++) {
    p->sizes[at] = lhs->sizes[lhs_batch[i]];
    p->group[at] = BATCH;
    p->lhs_dim[lhs_batch[i]] = at;
    p->rhs_dim[rhs_batch[i]] = at;
  }
  for (int32_t d = 0; d < lhs->rank; d++) {
    if (!indim_list_has(lhs_batch, batch_count, d) && !indim_list_has(lhs_contracting, lhs_count, d)) {
      p->sizes[at] = lhs->sizes[d];
      p->group[at] = LEFT;
      p->lhs_dim[d] = at++;
    }
  }
  for (int32_t d = 0; d < rhs->rank; d++) {
    if (!indim_list_has(rhs_batch, batch_count, d) && !indim_list_has(rhs_contracting, rhs_count, d)) {
      p->sizes[at] = rhs->sizes[d];
      p->group[at] = RIGHT;
      p->rhs_dim[d] = at++;
    }
  }
  for (int64_t i = 0; i < lhs_count; i++, at++) {
    p->sizes[at] = lhs->sizes[lhs_contracting[i]];
    p->group[at] = CONTRACTED;
    p->lhs_dim[lhs_contracting[i]] = at;
    p->rhs_dim[rhs_contracting[i]] = at;
  }
  indim_type type = p->item->shape->type;
  p->sum = indim_type_is_float(type) && type != INDIM_F64 ? INDIM_F32 : type;
}

// One factor at a nest index, in the type of the sums.
static indim_value_id factor(product *p, indim_element_ctx *k, bool left, const indim_coord *index) {
  indim_flow_item *operand = left ? p->lhs : p->rhs;
  const int32_t *dims = left ? p->lhs_dim : p->rhs_dim;
  indim_coord inner[INDIM_MAX_RANK];
  for (int32_t d = 0; d < operand->shape->rank; d++) {
    inner[d] = index[dims[d]];
  }
  return indim_loop_convert(&p->l->b, indim_value_at(k, operand, inner, 0), p->sum);
}

static indim_value_id multiply_add(product *p, int32_t lanes, indim_value_id x, indim_value_id y, indim_value_id sum) {
  indim_loop_builder *b = &p->l->b;
  x = indim_loop_splat(b, x, lanes);
  y = indim_loop_splat(b, y, lanes);
  if (p->sum == INDIM_F32 || p->sum == INDIM_F64) {
    return indim_loop_fma(b, x, y, sum);
  }
  return indim_loop_binary(b, INDIM_OP_ADD, indim_loop_binary(b, INDIM_OP_MULTIPLY, x, y), sum);
}

static void analyze_body(indim_nest *nest, indim_element_ctx *k, const indim_coord *index) {
  product *p = nest->user;
  (void)factor(p, k, true, index);
  (void)factor(p, k, false, index);
}

// The host's library --------------------------------------------------------------------------------------------------

// The only dimension of a group of a size other than 1 after collapsing; |*out| is -1 when all have size 1.
static bool only_dim(const product *p, const int64_t *sizes, int32_t group, int32_t *out) {
  *out = -1;
  for (int32_t d = 0; d < p->rank; d++) {
    if (p->group[d] == group && sizes[d] != 1) {
      if (*out >= 0) {
        return false;
      }
      *out = d;
    }
  }
  return true;
}

static int64_t size_of(const int64_t *sizes, int32_t dim) { return dim < 0 ? 1 : sizes[dim]; }
static int64_t stride_of(const int64_t *strides, int32_t dim, int64_t if_absent) {
  return dim < 0 ? if_absent : strides[dim];
}

static bool only_moves(const indim_flow_item *operand) {
  return operand->placement != INDIM_PLACEMENT_INLINE || operand->cost == 0;
}

// One call, or for a batch large enough for all threads a parallel loop of calls: like other loops over the batch, it
// can be fused with them.
static void call_host(indim_lowering *l, indim_storage *const *storages, indim_value_id *addresses,
                      indim_host_matmul sizes) {
  enum { STORAGES = 3 };
  const int64_t strides[STORAGES] = {sizes.out_batch, sizes.lhs_batch, sizes.rhs_batch};
  indim_loop_builder *b = &l->b;
  int64_t batch = sizes.batch;
  bool is_loop = batch >= INDIM_NEST_PIECES && indim_lower_is_enabled(l, INDIM_DECISION_THREADS);
  if (is_loop) {
    indim_value_id i = indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, batch), 1, 0, NULL, NULL);
    indim_loop_for_parallel(b, (batch + INDIM_NEST_PIECES - 1) / INDIM_NEST_PIECES);
    for (int k = 0; k < STORAGES; k++) {
      addresses[k] = indim_loop_add(b, addresses[k], indim_loop_mul_const(b, i, strides[k]));
    }
    sizes.out_batch = sizes.lhs_batch = sizes.rhs_batch = 0;
    sizes.batch = 1;
    sizes.single_thread = 1;
  }
  indim_loop_host(b, &(indim_host_call){.service = INDIM_HOST_MATMUL,
                                        .storage_count = STORAGES,
                                        .written_count = 1,
                                        .storages = storages,
                                        .addresses = addresses,
                                        .numbers = &sizes});
  if (is_loop) {
    indim_loop_for_end(b, NULL, NULL);
  }
}

static bool call_library(product *p, const int64_t *sizes) {
  const indim_access_list *list = p->list;
  const indim_location *at = &p->item->place;
  int32_t batch, m, n, k;
  if ((p->sum != INDIM_F32 && p->sum != INDIM_F64) || p->lhs->shape->type != p->sum || p->rhs->shape->type != p->sum ||
      p->item->shape->type != p->sum || at->tiled != NULL || list->count != 2 || p->l->loop_depth > 0 ||
      !indim_lower_is_enabled(p->l, INDIM_DECISION_LIBRARY) || !only_moves(p->lhs) || !only_moves(p->rhs)) {
    return false;
  }
  if (!only_dim(p, sizes, BATCH, &batch) || !only_dim(p, sizes, LEFT, &m) || !only_dim(p, sizes, RIGHT, &n) ||
      !only_dim(p, sizes, CONTRACTED, &k)) {
    return false;
  }
  int64_t work = indim_index_mul_saturated(size_of(sizes, m) * size_of(sizes, n), size_of(sizes, k));
  const indim_access *lhs = &list->accesses[0];
  const indim_access *rhs = &list->accesses[1];
  if (work < INDIM_COST_HOST_PRODUCT || size_of(sizes, m) < INDIM_COST_HOST_SIDE ||
      size_of(sizes, n) < INDIM_COST_HOST_SIDE || size_of(sizes, k) < INDIM_COST_HOST_SIDE || lhs->strides == NULL ||
      rhs->strides == NULL) {
    return false;
  }
  // In a dense output, collapsed dimensions have the stride of their most minor one.
  if (!indim_location_is_dense(p->item->shape, at)) {
    return false;
  }
  int64_t out_m = at->strides[m];
  int64_t out_n = at->strides[n];
  bool flip = out_n != 1;
  if (flip && out_m != 1) {
    return false;
  }
  for (int32_t d = 0; d < p->out_rank; d++) {  // collapsed dimensions must be collapsible in the output, too
    if (sizes[d] == 1 && p->sizes[d] != 1) {
      int32_t into = p->group[d] == LEFT ? m : p->group[d] == RIGHT ? n : batch;
      int64_t within = at->strides[into];
      for (int32_t e = d + 1; e <= into; e++) {
        within *= p->group[e] == p->group[d] ? p->sizes[e] : 1;
      }
      if (at->strides[d] != within) {
        return false;
      }
    }
  }
  bool lhs_unit = lhs->strides[m] == 1 || lhs->strides[k] == 1;
  bool rhs_unit = rhs->strides[n] == 1 || rhs->strides[k] == 1;
  if (!lhs_unit || !rhs_unit) {
    return false;
  }
  const indim_access *first = flip ? rhs : lhs;
  const indim_access *second = flip ? lhs : rhs;
  int32_t row = flip ? n : m;
  int32_t column = flip ? m : n;
  indim_host_matmul numbers = {.type = p->sum,
                               .batch = size_of(sizes, batch),
                               .m = size_of(sizes, row),
                               .n = size_of(sizes, column),
                               .k = size_of(sizes, k),
                               .lhs_batch = stride_of(first->strides, batch, 0),
                               .lhs_m = first->strides[row],
                               .lhs_k = first->strides[k],
                               .rhs_batch = stride_of(second->strides, batch, 0),
                               .rhs_k = second->strides[k],
                               .rhs_n = second->strides[column],
                               .out_batch = batch < 0 ? 0 : at->strides[batch],
                               .out_m = flip ? out_n : out_m};
  indim_storage *storages[] = {at->storage, p->l->program->storages[first->storage->index],
                               p->l->program->storages[second->storage->index]};
  indim_value_id addresses[] = {indim_location_start(p->l, at), first->base, second->base};
  call_host(p->l, storages, addresses, numbers);
  indim_lower_explain(p->l, p->item, "a product for the host's library");
  return true;
}

// Loops ---------------------------------------------------------------------------------------------------------------

// Accumulates the sums over the contracted dimensions from |dim| on.
static void accumulate(product *p, indim_element_ctx *k, int32_t dim, indim_coord *index, int64_t first_row,
                       int32_t rows, indim_value_id *sums) {
  indim_loop_builder *b = &p->l->b;
  while (dim < p->rank && (p->sizes[dim] == 1 || dim == p->vector_dim)) {
    dim++;
  }
  if (indim_lower_failed(p->l)) {
    return;
  }
  if (dim == p->rank) {
    indim_coord base = p->row_dim < 0 ? index[0] : index[p->row_dim];
    for (int32_t i = 0; i < rows; i++) {
      if (p->row_dim >= 0) {
        index[p->row_dim] = (indim_coord){indim_loop_add_const(b, base.base, first_row + i), 0};
      }
      indim_value_id x = factor(p, k, true, index);
      indim_value_id y = factor(p, k, false, index);
      sums[i] = multiply_add(p, k->lanes, x, y, sums[i]);
    }
    if (p->row_dim >= 0) {
      index[p->row_dim] = base;
    }
    return;
  }
  if (p->sizes[dim] <= INDIM_COST_UNROLLED_LOOP) {
    for (int64_t i = 0; i < p->sizes[dim]; i++) {
      index[dim] = (indim_coord){indim_loop_index(b, i), 0};
      accumulate(p, k, dim + 1, index, first_row, rows, sums);
    }
    return;
  }
  indim_value_id in[INDIM_COST_PRODUCT_ROWS];
  indim_value_id at =
      indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, p->sizes[dim]), 1, rows, sums, in);
  index[dim] = (indim_coord){at, 0};
  p->l->loop_depth++;
  accumulate(p, k, dim + 1, index, first_row, rows, in);
  p->l->loop_depth--;
  indim_loop_for_end(b, in, sums);
}

static void store_sum(product *p, indim_element_ctx *k, const indim_coord *index, indim_value_id sum) {
  sum = indim_loop_convert(&p->l->b, sum, p->item->shape->type);
  indim_store_at(k, p->item->shape, &p->item->place, index, sum);
}

// Whether one lane's elements of all rows are adjacent in memory, followed by those of the next lane.
static bool is_interleaved(const product *p, int32_t rows) {
  const indim_location *at = &p->item->place;
  return p->row_dim >= 0 && rows > 1 && at->tiled == NULL && at->strides[p->row_dim] == 1 &&
         at->strides[p->vector_dim] == rows && p->item->shape->sizes[p->row_dim] == rows;
}

// Stores such rows as one vector.
static void store_interleaved(product *p, indim_element_ctx *k, const indim_coord *index, int32_t rows,
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
static int32_t rows_of_register(const product *p, const indim_element_ctx *k, int32_t rows) {
  const indim_location *at = &p->item->place;
  int32_t of_register = p->l->target->vector_bytes / 16;
  bool is_float = p->sum == p->item->shape->type && indim_type_is_float(p->sum);
  bool is_square = p->row_dim >= 0 && p->rank == p->out_rank + 1 && p->sizes[p->out_rank] == k->lanes &&
                   p->item->shape->sizes[p->vector_dim] == k->lanes;
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
static void register_rows(product *p, indim_element_ctx *k, indim_coord *index, int32_t rows, int32_t of_register) {
  enum { MOST_OF_REGISTER = 4 };
  indim_loop_builder *b = &p->l->b;
  bool left = p->group[p->row_dim] == LEFT;
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
      parts[i] = indim_loop_splat(b, factor(p, k, left, index), lanes);
    }
    x[r] = shuffle_lanes(b, of_register, parts, lanes, full, -1);
    sums[r] = indim_loop_splat(b, indim_loop_const(b, p->sum, 0, 0), full);
  }
  for (int32_t step = 0; step < lanes && !indim_lower_failed(p->l); step++) {
    index[p->out_rank] = (indim_coord){indim_loop_index(b, step), 0};
    indim_value_id y = indim_loop_splat(b, factor(p, k, !left, index), lanes);
    y = shuffle_lanes(b, 1, &y, lanes, full, -1);
    for (int32_t r = 0; r < registers; r++) {
      sums[r] = multiply_add(p, full, shuffle_lanes(b, 1, &x[r], lanes, full, step), y, sums[r]);
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
static void free_lanes(product *p, indim_element_ctx *k, indim_coord *index, int32_t rows) {
  int32_t of_register = rows_of_register(p, k, rows);
  if (of_register > 0) {
    register_rows(p, k, index, rows, of_register);
    return;
  }
  indim_value_id sums[INDIM_COST_PRODUCT_ROWS];
  for (int32_t i = 0; i < rows; i++) {
    sums[i] = indim_loop_const(&p->l->b, p->sum, 0, 0);
    sums[i] = indim_loop_splat(&p->l->b, sums[i], k->lanes);
  }
  accumulate(p, k, p->out_rank, index, 0, rows, sums);
  if (k->lanes <= 64 && is_interleaved(p, rows) && !indim_lower_failed(p->l)) {
    store_interleaved(p, k, index, rows, sums);
    return;
  }
  indim_coord base = p->row_dim < 0 ? (indim_coord){0} : index[p->row_dim];
  for (int32_t i = 0; i < rows && !indim_lower_failed(p->l); i++) {
    if (p->row_dim >= 0) {
      index[p->row_dim] = (indim_coord){indim_loop_add_const(&p->l->b, base.base, i), 0};
    }
    store_sum(p, k, index, sums[i]);
  }
}

// Lanes are partial sums along the contracted dimension.
static void contracted_lanes(product *p, indim_coord *index, int32_t rows, indim_element_ctx *out) {
  indim_loop_builder *b = &p->l->b;
  int64_t size = p->sizes[p->vector_dim];
  int64_t main = size / p->lanes * p->lanes;
  indim_value_id sums[INDIM_COST_PRODUCT_ROWS];
  indim_value_id remainder[INDIM_COST_PRODUCT_ROWS];
  indim_coord base = p->row_dim < 0 ? (indim_coord){0} : index[p->row_dim];
  for (int32_t i = 0; i < rows; i++) {
    remainder[i] = indim_loop_const(b, p->sum, 0, 0);
    sums[i] = indim_loop_splat(b, remainder[i], p->lanes);
  }
  if (main > 0) {
    indim_element_ctx k = {.l = p->l, .lanes = p->lanes};
    indim_value_id in[INDIM_COST_PRODUCT_ROWS];
    indim_value_id at =
        indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, main), p->lanes, rows, sums, in);
    index[p->vector_dim] = (indim_coord){at, 1};
    accumulate(p, &k, p->out_rank, index, 0, rows, in);
    indim_loop_for_end(b, in, sums);
  }
  for (int32_t lanes = 0; (lanes = indim_piece_lanes(size - main, p->lanes)) > 0; main += lanes) {
    indim_element_ctx k = {.l = p->l, .lanes = lanes};
    indim_value_id part[INDIM_COST_PRODUCT_ROWS];
    for (int32_t i = 0; i < rows; i++) {
      part[i] = indim_loop_splat(b, indim_loop_const(b, p->sum, 0, 0), lanes);
    }
    index[p->vector_dim] = (indim_coord){indim_loop_index(b, main), lanes > 1 ? 1 : 0};
    accumulate(p, &k, p->out_rank, index, 0, rows, part);
    for (int32_t i = 0; i < rows && !indim_lower_failed(p->l); i++) {
      indim_loop_op add = {.op = INDIM_OP_ADD};
      indim_value_id total = lanes == 1 ? part[i] : indim_loop_reduce(b, add, part[i]);
      remainder[i] = indim_loop_binary(b, INDIM_OP_ADD, remainder[i], total);
    }
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
  product *p = nest->user;
  indim_coord index[INDIM_MAX_RANK];
  for (int32_t d = 0; d < p->rank; d++) {
    index[d] = d < p->out_rank ? output[d] : (indim_coord){indim_loop_index(&p->l->b, 0), 0};
  }
  if (p->row_dim >= 0) {
    index[p->row_dim].base = indim_loop_add_const(
        &p->l->b, indim_loop_mul_const(&p->l->b, output[p->row_dim].base, p->rows), nest->user_offset);
  }
  if (p->vector_dim >= p->out_rank && p->vector_dim < p->rank) {
    contracted_lanes(p, index, p->rows, k);
  } else {
    free_lanes(p, k, index, p->rows);
  }
}

static void run_output(product *p, int64_t low, int64_t count, int32_t rows) {
  indim_nest nest = {.l = p->l, .rank = p->out_rank, .body = output_body, .user = p, .list = p->list};
  indim_access_list *list = indim_lower_alloc(p->l, 1, sizeof *list);
  if (list == NULL || count == 0) {
    return;
  }
  list->is_full = true;
  nest.list = list;
  nest.cost = 2 * rows;
  for (int32_t d = p->out_rank; d < p->rank; d++) {
    nest.cost = indim_index_mul_saturated(nest.cost, p->sizes[d]);
  }
  memcpy(nest.sizes, p->item->shape->sizes, (size_t)p->out_rank * sizeof *nest.sizes);
  for (int32_t d = 0; d < p->out_rank; d++) {
    nest.order[d] = d;
  }
  nest.vector_dim = p->vector_dim < p->out_rank ? p->vector_dim : -1;
  nest.lanes = nest.vector_dim < 0 ? 1 : p->lanes;
  nest.unroll = 1;
  nest.may_thread = true;
  nest.user_offset = low;
  p->rows = rows;
  if (p->row_dim >= 0) {
    nest.sizes[p->row_dim] = count / rows;
  }
  indim_nest_run(&nest);
}

// One row times a matrix ----------------------------------------------------------------------------------------------

// Rows of the matrix are read sequentially, |steps| of them at a time, and accumulated into sums in the result's
// memory; with threads, in parts of the rows with sums of their own. Bands of columns instead, which need no final
// addition, reach two thirds of that speed: memory is fastest when read sequentially.

static bool is_row_product(const product *p, const int64_t *collapsed, int32_t *out_contracted) {
  int32_t contracted = -1;
  if (p->vector_dim < 0 || p->vector_dim >= p->out_rank || p->sum != p->item->shape->type ||
      p->item->place.tiled != NULL || p->item->place.strides[p->vector_dim] != 1 ||
      p->item->shape->sizes[p->vector_dim] < INDIM_COST_ROW_PRODUCT_COLUMNS) {
    return false;
  }
  for (int32_t d = 0; d < p->rank; d++) {
    if (d == p->vector_dim || collapsed[d] == 1) {
      continue;
    }
    if (d < p->out_rank || contracted >= 0) {
      return false;
    }
    contracted = d;
  }
  for (int32_t d = 0; d < p->out_rank; d++) {
    if (d != p->vector_dim && p->item->shape->sizes[d] != 1) {
      return false;
    }
  }
  *out_contracted = contracted;
  return contracted >= 0 && collapsed[contracted] >= 4 * INDIM_COST_ROW_PRODUCT_STEPS;
}

typedef struct row_product {
  product *p;
  int32_t contracted;
  int64_t columns;
  int32_t steps;         // rows of the matrix at a time
  indim_storage *parts;  // of the sums: from |part| * |columns| on; NULL: the result
  indim_value_id part;
} row_product;

static void set_index(const row_product *r, int32_t lanes, indim_value_id column, indim_coord *index) {
  for (int32_t d = 0; d < r->p->rank; d++) {
    index[d] = (indim_coord){indim_loop_index(&r->p->l->b, 0), 0};
  }
  index[r->p->vector_dim] = (indim_coord){column, lanes > 1 ? 1 : 0};
}

// Adds |steps| products to |sum|, from row |from| of the matrix on.
static indim_value_id add_rows(const row_product *r, indim_element_ctx *k, indim_coord *index, indim_value_id from,
                               int32_t steps, indim_value_id sum) {
  for (int32_t i = 0; i < steps && !indim_lower_failed(r->p->l); i++) {
    index[r->contracted] = (indim_coord){indim_loop_add_const(&r->p->l->b, from, i), 0};
    sum = multiply_add(r->p, k->lanes, factor(r->p, k, true, index), factor(r->p, k, false, index), sum);
  }
  return sum;
}

static void add_steps(const row_product *r, int32_t lanes, indim_value_id column, indim_value_id from, int32_t steps,
                      bool is_first) {
  product *p = r->p;
  indim_loop_builder *b = &p->l->b;
  indim_element_ctx k = {.l = p->l, .lanes = lanes};
  indim_coord index[INDIM_MAX_RANK];
  set_index(r, lanes, column, index);
  indim_value_id at = r->parts == NULL ? 0 : indim_loop_add(b, indim_loop_mul_const(b, r->part, r->columns), column);
  indim_value_id sum = indim_loop_splat(b, indim_loop_const(b, p->sum, 0, 0), lanes);
  if (!is_first) {
    sum = r->parts == NULL ? indim_load_at(&k, p->item->shape, &p->item->place, index)
                           : indim_loop_load(b, r->parts, at, lanes, 1);
  }
  sum = add_rows(r, &k, index, from, steps, sum);
  if (indim_lower_failed(p->l)) {
    return;
  }
  set_index(r, lanes, column, index);
  if (r->parts == NULL) {
    indim_store_at(&k, p->item->shape, &p->item->place, index, sum);
  } else {
    indim_loop_store(b, r->parts, at, sum, 1, false);
  }
}

static void sweep_columns(const row_product *r, indim_value_id from, int32_t steps, bool is_first) {
  indim_loop_builder *b = &r->p->l->b;
  int32_t full = r->p->lanes;
  int64_t main = r->columns / full * full;
  if (main > 0) {
    indim_value_id at = indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, main), full, 0, NULL, NULL);
    add_steps(r, full, at, from, steps, is_first);
    indim_loop_for_end(b, NULL, NULL);
  }
  for (int32_t lanes = 0; (lanes = indim_piece_lanes(r->columns - main, full)) > 0; main += lanes) {
    add_steps(r, lanes, indim_loop_index(b, main), from, steps, is_first);
  }
}

// |count| rows of the matrix from |first| on.
static void sweep_rows(const row_product *r, indim_value_id first, int64_t count) {
  indim_lowering *l = r->p->l;
  indim_loop_builder *b = &l->b;
  int64_t main = count / r->steps * r->steps;
  sweep_columns(r, first, r->steps, true);
  if (main > r->steps) {
    indim_value_id at =
        indim_loop_for_begin(b, indim_loop_index(b, r->steps), indim_loop_index(b, main), r->steps, 0, NULL, NULL);
    l->loop_depth++;
    sweep_columns(r, indim_loop_add(b, first, at), r->steps, false);
    l->loop_depth--;
    indim_loop_for_end(b, NULL, NULL);
  }
  if (count > main) {
    sweep_columns(r, indim_loop_add_const(b, first, main), (int32_t)(count - main), false);
  }
}

// Adds up the parts' sums, and the rows from |done| on that belong to no part.
static void add_parts(const row_product *r, int32_t lanes, indim_value_id column, int64_t parts, int64_t done,
                      int64_t size) {
  indim_loop_builder *b = &r->p->l->b;
  indim_element_ctx k = {.l = r->p->l, .lanes = lanes};
  indim_coord index[INDIM_MAX_RANK];
  indim_value_id sum = indim_loop_load(b, r->parts, column, lanes, 1);
  for (int64_t i = 1; i < parts; i++) {
    indim_value_id part = indim_loop_load(b, r->parts, indim_loop_add_const(b, column, i * r->columns), lanes, 1);
    sum = indim_loop_binary(b, INDIM_OP_ADD, sum, part);
  }
  set_index(r, lanes, column, index);
  sum = add_rows(r, &k, index, indim_loop_index(b, done), (int32_t)(size - done), sum);
  set_index(r, lanes, column, index);
  if (!indim_lower_failed(r->p->l)) {
    indim_store_at(&k, r->p->item->shape, &r->p->item->place, index, sum);
  }
}

static void run_parts(row_product *r, int64_t parts, int64_t size) {
  product *p = r->p;
  indim_loop_builder *b = &p->l->b;
  int64_t rows = size / parts / r->steps * r->steps;
  r->parts = indim_loop_storage(b, INDIM_STORAGE_SCRATCH, p->sum, parts * r->columns, p->item->instr->name.data);
  indim_loop_region_begin(b, &r->parts, 1);
  r->part = indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, parts), 1, 0, NULL, NULL);
  indim_loop_for_parallel(b, 1);
  p->l->loop_depth++;
  sweep_rows(r, indim_loop_mul_const(b, r->part, rows), rows);
  p->l->loop_depth--;
  indim_loop_for_end(b, NULL, NULL);
  indim_element_forget(p->l);
  indim_loop_region_begin(b, &p->item->place.storage, 1);
  int64_t main = r->columns / p->lanes * p->lanes;
  if (main > 0) {
    indim_value_id at =
        indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, main), p->lanes, 0, NULL, NULL);
    add_parts(r, p->lanes, at, parts, parts * rows, size);
    indim_loop_for_end(b, NULL, NULL);
  }
  for (int32_t lanes = 0; (lanes = indim_piece_lanes(r->columns - main, p->lanes)) > 0; main += lanes) {
    add_parts(r, lanes, indim_loop_index(b, main), parts, parts * rows, size);
  }
}

static void run_rows(product *p, int32_t contracted, int64_t size) {
  enum { PARTS = 16 };
  row_product r = {.p = p, .contracted = contracted, .columns = p->item->shape->sizes[p->vector_dim]};
  int64_t parts = r.columns * size / INDIM_COST_ROW_PRODUCT_PART;
  parts = parts < PARTS ? parts : PARTS;
  r.steps = parts > 1 ? INDIM_COST_ROW_PRODUCT_STEPS_PARALLEL : INDIM_COST_ROW_PRODUCT_STEPS;
  if (parts > 1 && size / parts >= 4 * INDIM_COST_ROW_PRODUCT_STEPS && p->l->loop_depth == 0 &&
      indim_lower_is_enabled(p->l, INDIM_DECISION_THREADS)) {
    run_parts(&r, parts, size);
  } else {
    sweep_rows(&r, indim_loop_index(&p->l->b, 0), size);
  }
}

// Chooses the largest free dimension of the operand that does not have the vector dimension: its rows share loads.
static void choose_rows(product *p) {
  p->row_dim = -1;
  int64_t best = 1;
  for (int32_t d = 0; d < p->out_rank; d++) {
    bool other_side = p->vector_dim >= p->out_rank ? p->group[d] != BATCH : p->group[d] != p->group[p->vector_dim];
    if (p->group[d] != BATCH && other_side && p->item->shape->sizes[d] > best && d != p->vector_dim) {
      best = p->item->shape->sizes[d];
      p->row_dim = d;
    }
  }
}

void indim_lower_dot(indim_lowering *l, indim_flow_item *item) {
  product p = {.l = l, .item = item, .lhs = item->operands[0], .rhs = item->operands[1]};
  p.list = indim_lower_alloc(l, 1, sizeof *p.list);
  if (p.list == NULL) {
    return;
  }
  set_up(&p);
  indim_loop_region_begin(&l->b, &item->place.storage, 1);
  bool is_empty = false;
  for (int32_t d = 0; d < p.rank; d++) {
    is_empty = is_empty || p.sizes[d] == 0;
  }
  indim_nest nest = {.l = l, .rank = p.rank, .body = analyze_body, .user = &p, .cost = 2};
  memcpy(nest.sizes, p.sizes, sizeof nest.sizes);
  memcpy(nest.group, p.group, sizeof nest.group);
  if (is_empty) {
    p.vector_dim = -1;
    p.lanes = 1;
  } else {
    indim_nest_analyze(&nest, p.list);
    indim_nest_choose(&nest, NULL);
    if (indim_lower_failed(l) || call_library(&p, nest.sizes)) {
      return;
    }
    p.vector_dim = nest.vector_dim;
    p.lanes = nest.lanes;
    int32_t contracted = -1;
    if (is_row_product(&p, nest.sizes, &contracted)) {
      indim_lower_explain(l, item, "one row times a matrix, several rows of it at a time");
      indim_element_forget(l);
      run_rows(&p, contracted, nest.sizes[contracted]);
      return;
    }
    for (int32_t d = p.out_rank; d < p.rank; d++) {
      p.sizes[d] = nest.sizes[d];
    }
  }
  if (p.vector_dim < 0) {
    p.vector_dim = p.out_rank > 0 ? p.out_rank - 1 : p.rank;
    p.lanes = 1;
  }
  int64_t extent = p.vector_dim < p.rank ? p.sizes[p.vector_dim] : 1;
  if (p.vector_dim < p.out_rank) {
    extent = item->shape->sizes[p.vector_dim];
  }
  while (p.lanes > 1 && p.lanes > extent) {
    p.lanes /= 2;
  }
  p.lanes *= extent >= 2 * (int64_t)p.lanes && p.vector_dim < p.rank ? 2 : 1;
  choose_rows(&p);
  indim_element_forget(l);
  int64_t count = p.row_dim < 0 ? 1 : item->shape->sizes[p.row_dim];
  int32_t rows = p.row_dim < 0 ? 1 : count < INDIM_COST_PRODUCT_ROWS ? (int32_t)count : INDIM_COST_PRODUCT_ROWS;
  run_output(&p, 0, count / rows * rows, rows);
  run_output(&p, count / rows * rows, count % rows, 1);
}
