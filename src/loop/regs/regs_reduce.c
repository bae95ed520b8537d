// dot and reduce of register arrays. With enough results to fill lanes, each lane is one result and the steps go
// through rows; elements along the rows are transposed first, outside of loops in which they are invariant. A few
// results of many elements are reduced across lanes instead, by halving.
#include <string.h>

#include "base/size.h"
#include "loop/regs/regs_internal.h"
#include "loop/target/cost.h"

enum { MAX_PRODUCTS = 2048, MAX_APPLIED = 64, MAX_ACROSS_LANES = 4, MANY_REGISTERS = 8 };

// The step of a sum or reduction: combines |n| values with |n| others.
typedef struct combiner {
  int32_t n;
  const indim_computation *computation;  // NULL: |op| of a pair of values
  indim_op op;
  bool in_order;  // must not be reordered
} combiner;

enum { MAX_RESULTS = 8 };  // of one reduce

typedef struct entry {
  indim_value_id value[MAX_RESULTS];
} entry;

static entry combine(indim_loop_builder *b, const combiner *c, entry x, entry y) {
  entry out = {{0}};
  if (b->status != INDIM_OK) {
    return out;
  }
  if (c->computation == NULL) {
    out.value[0] = indim_loop_binary(b, c->op, x.value[0], y.value[0]);
    return out;
  }
  indim_value_id args[2 * MAX_RESULTS];
  memcpy(args, x.value, (size_t)c->n * sizeof *args);
  memcpy(args + c->n, y.value, (size_t)c->n * sizeof *args);
  indim_loop_apply(b, c->computation, indim_loop_value_of(b, x.value[0])->lanes, args, out.value);
  return out;
}

// Combines all entries, pairwise as a tree unless in order; overwrites the entries.
static entry combine_all(indim_loop_builder *b, const combiner *c, int32_t count, entry *entries) {
  for (int32_t i = 1; i < count && c->in_order; i++) {
    entries[0] = combine(b, c, entries[0], entries[i]);
  }
  if (c->in_order) {
    return entries[0];
  }
  while (count > 1) {
    int32_t half = count / 2;
    for (int32_t i = 0; i < half; i++) {
      entries[i] = combine(b, c, entries[2 * i], entries[2 * i + 1]);
    }
    if (count % 2 != 0) {
      entries[half] = entries[count - 1];
    }
    count = half + count % 2;
  }
  return entries[0];
}

static entry take_lanes(indim_loop_builder *b, const combiner *c, entry x, int32_t first, int32_t lanes) {
  entry out = {{0}};
  int32_t map[INDIM_REGS_ELEMENTS];
  for (int32_t k = 0; k < lanes; k++) {
    map[k] = first + k;
  }
  for (int32_t i = 0; i < c->n && b->status == INDIM_OK; i++) {
    out.value[i] = indim_loop_shuffle(b, 1, &x.value[i], lanes, map);
  }
  return out;
}

// Whether it is asked whether all lanes are true, or any: one instruction tells.
static bool is_whether(const indim_loop_builder *b, const combiner *c, entry x) {
  return b->status == INDIM_OK && c->computation == NULL && (c->op == INDIM_OP_OR || c->op == INDIM_OP_AND) &&
         indim_loop_value_of(b, x.value[0])->type == INDIM_PRED;
}

// Reduces all lanes of |x|, and |init| if not NULL, to one. |x| is split into powers of two, the largest first: each is
// halved until it is as wide as the next, and combined with it; a single leftover lane is combined with |init|.
static entry reduce_lanes(indim_loop_builder *b, const combiner *c, int32_t lanes, entry x, const entry *init) {
  int32_t width = 1;
  if (is_whether(b, c, x) && lanes > 1) {
    entry whether = {{indim_loop_reduce(b, (indim_loop_op){.op = c->op}, x.value[0])}};
    return init == NULL ? whether : combine(b, c, *init, whether);
  }
  while (width * 2 <= lanes) {
    width *= 2;
  }
  entry acc = take_lanes(b, c, x, 0, width);
  int32_t first = width;
  bool has_met_init = init == NULL;
  for (;;) {
    if ((lanes & width) != 0 && first > width) {
      // |acc| is as wide as this piece.
      entry piece = take_lanes(b, c, x, first - width, width);
      if (width == 1 && !has_met_init) {
        piece = combine(b, c, *init, piece);
        has_met_init = true;
      }
      acc = combine(b, c, acc, piece);
    }
    if (width == 1) {
      break;
    }
    width /= 2;
    acc = combine(b, c, take_lanes(b, c, acc, 0, width), take_lanes(b, c, acc, width, width));
    first += (lanes & width) != 0 ? width : 0;
  }
  return has_met_init ? acc : combine(b, c, *init, acc);
}

static int32_t log2_above(int32_t x) {
  int32_t log = 0;
  while (1 << log < x) {
    log++;
  }
  return log;
}

// Whether |results| of |steps| elements each cost less when reduced across lanes than with a lane for each result,
// where each step costs |step_cost| instructions.
static bool is_better_reduced(int32_t results, int32_t steps, int32_t width, int32_t step_cost) {
  int32_t by_rows = steps * ((results + width - 1) / width) * step_cost;
  int32_t across = results * ((steps + width - 1) / width + 2 * log2_above(steps < width ? steps : width));
  return results <= MAX_ACROSS_LANES && steps >= 3 && across < by_rows;
}

// Lanes of a row of steps that is reduced across lanes; few steps are taken one by one.
static int32_t step_lanes(const indim_loop_builder *b, int64_t steps) {
  return steps <= INDIM_REGS_SCALARS ? 1 : indim_regs_row_lanes(&b->program->target, 1, &steps);
}

// Dot -----------------------------------------------------------------------------------------------------------------

// One operand with its elements in the order contracted, batch, free.
typedef struct side {
  const indim_shape *shape;
  int32_t contracted;  // elements
  int32_t batch;
  int32_t free;
  int32_t perm[INDIM_MAX_RANK];
  indim_regs_pool pool;
  indim_storage *memory;  // a spilled copy in the operand's own order, or NULL
  int32_t memory_row;     // its elements per row
  int32_t memory_stride;  // its elements between row starts
} side;

static int64_t product_of(const indim_shape *shape, const int64_t *dims, int64_t count) {
  int64_t product = 1;
  for (int64_t i = 0; i < count; i++) {
    product *= shape->sizes[dims[i]];
  }
  return product;
}

static void plan_side(const indim_instr *instr, int32_t number, side *s) {
  int64_t batch_count = 0;
  int64_t contracting_count = 0;
  bool left = number == 0;
  const int64_t *batch =
      indim_instr_ints(instr, left ? INDIM_ATTR_LHS_BATCH_DIMS : INDIM_ATTR_RHS_BATCH_DIMS, &batch_count);
  const int64_t *contracting = indim_instr_ints(
      instr, left ? INDIM_ATTR_LHS_CONTRACTING_DIMS : INDIM_ATTR_RHS_CONTRACTING_DIMS, &contracting_count);
  indim_dot_dim kinds[INDIM_MAX_RANK];
  int32_t at = 0;
  s->shape = instr->operands[number]->shape;
  s->memory = NULL;
  indim_instr_dot_dims(instr, number, s->shape->rank, kinds);
  for (int64_t i = 0; i < contracting_count; i++) {
    s->perm[at++] = (int32_t)contracting[i];
  }
  for (int64_t i = 0; i < batch_count; i++) {
    s->perm[at++] = (int32_t)batch[i];
  }
  for (int32_t d = 0; d < s->shape->rank; d++) {
    if (kinds[d] == INDIM_DOT_FREE) {
      s->perm[at++] = d;
    }
  }
  s->contracted = (int32_t)product_of(s->shape, contracting, contracting_count);
  s->batch = (int32_t)product_of(s->shape, batch, batch_count);
  s->free = (int32_t)(indim_shape_element_count(s->shape) / s->contracted / s->batch);
}

bool indim_regs_can_dot(const indim_instr *instr) {
  int64_t contracting = 0;
  int64_t steps = 0;
  indim_type type = instr->shape->type;
  const int64_t *dims = indim_instr_ints(instr, INDIM_ATTR_LHS_CONTRACTING_DIMS, &contracting);
  if (!indim_count_mul(product_of(instr->operands[0]->shape, dims, contracting),
                       indim_shape_element_count(instr->shape), &steps)) {
    return false;
  }
  for (int32_t i = 0; i < 2; i++) {  // complex is not converted to other types
    if (indim_type_is_complex(instr->operands[i]->shape->type) && !indim_type_is_complex(type)) {
      return false;
    }
  }
  return steps <= MAX_PRODUCTS;
}

// Products and sums are of the result's type; of narrow floats f32.
static indim_type sum_type(indim_type type) {
  return indim_type_is_float(type) && type != INDIM_F64 ? INDIM_F32 : type;
}

// Fills the pool. With |in_lanes|, adjacent elements in the new order become adjacent lanes.
static void fill_side(indim_loop_builder *b, const indim_regs *regs, indim_type type, bool in_lanes, side *s) {
  indim_regs_pool pool = {.type = sum_type(type)};
  int32_t rank = s->shape->rank;
  for (int32_t r = 0; r < regs->row_count && b->status == INDIM_OK; r++) {
    indim_value_id row = indim_loop_convert(b, regs->rows[r], pool.type);
    indim_pool_add_value(row, regs->lanes, &pool);
  }
  int32_t last = rank - 1;
  while (last >= 0 && s->shape->sizes[s->perm[last]] == 1) {
    last--;
  }
  int32_t minor = rank - 1;
  while (minor >= 0 && s->shape->sizes[minor] == 1) {
    minor--;
  }
  if (b->status == INDIM_OK && in_lanes && last >= 0 && s->perm[last] != minor) {
    int64_t sizes[2] = {s->batch, s->free};
    int32_t lanes = indim_regs_row_lanes(&b->program->target, 2, sizes);
    indim_pool_transpose(b, &pool, rank, s->shape->sizes, s->perm, lanes, &s->pool);
    return;
  }
  int32_t map[INDIM_REGS_ELEMENTS];
  indim_order_fill(rank, s->shape->sizes, s->perm, map);
  indim_pool_map(&pool, pool.count, map, &s->pool);
}

// Memory for a spilled factor: reused from an earlier product, so that equal products are equal code. Each use writes
// before it reads.
static indim_storage *product_storage(indim_loop_builder *b, indim_type type, int64_t elements) {
  enum { LOOKED_AT = 8 };
  const indim_loop_program *program = b->program;
  int32_t end = program->storage_count > LOOKED_AT ? program->storage_count - LOOKED_AT : 0;
  for (int32_t i = program->storage_count - 1; i >= end; i--) {
    indim_storage *s = program->storages[i];
    if (s->kind == INDIM_STORAGE_SCRATCH && s->type == type && s->elements == elements && s->is_temporary) {
      return s;
    }
  }
  indim_storage *s = indim_loop_storage(b, INDIM_STORAGE_SCRATCH, type, elements, "factor of a product");
  s->is_temporary = true;
  return s;
}

// The lanes of a register of at most 32 bytes. A register of 64 bytes counts as two where each step splats one element
// of the left side: the splat from another register takes as long as for two, while from memory it is free.
static int32_t product_width(const indim_loop_builder *b, indim_type type) {
  indim_target target = b->program->target;
  target.vector_bytes = target.vector_bytes > 32 ? 32 : target.vector_bytes;
  return indim_regs_register_lanes(&target, type);
}

// |lanes|, rounded up to whole registers if more than one. Aligned rows do not cross cache lines.
static int32_t padded_lanes(const indim_loop_builder *b, indim_type type, int32_t lanes) {
  return lanes <= product_width(b, type) ? lanes : 1 << log2_above(lanes);
}

// Spills the elements to memory: a product that splats each of them, and needs more registers than there are, loads
// them from there with a broadcast load.
static void spill_side(indim_loop_builder *b, const indim_regs *regs, indim_type type, side *s) {
  s->memory_row = regs->lanes;
  s->memory_stride = padded_lanes(b, sum_type(type), regs->lanes);
  s->memory = product_storage(b, sum_type(type), regs->row_count * s->memory_stride);
  indim_loop_region_begin(b, &s->memory, 1);
  for (int32_t r = 0; r < regs->row_count && b->status == INDIM_OK; r++) {
    indim_value_id row = indim_loop_convert(b, regs->rows[r], sum_type(type));
    indim_loop_store(b, s->memory, indim_loop_index(b, (int64_t)r * s->memory_stride), row, 1, false);
  }
}

// Loads one element, splat to |lanes| lanes.
static indim_value_id load_splat(indim_loop_builder *b, const side *s, int32_t element, int32_t lanes) {
  int32_t map[INDIM_REGS_ELEMENTS];
  indim_order_fill(s->shape->rank, s->shape->sizes, s->perm, map);
  int32_t at = map[element] / s->memory_row * s->memory_stride + map[element] % s->memory_row;
  return indim_loop_splat(b, indim_loop_load(b, s->memory, indim_loop_index(b, at), 1, 1), lanes);
}

// sum + x * y; |sum| is 0 for the first product.
static indim_value_id add_product(indim_loop_builder *b, indim_type type, indim_value_id sum, indim_value_id x,
                                  indim_value_id y) {
  if (b->status != INDIM_OK) {
    return 0;
  }
  if (indim_loop_has_fma(type)) {
    // Starts from +0, so that a sum of negative zeros is +0.
    indim_value_id zero = indim_loop_splat(b, indim_loop_const(b, type, 0, 0), indim_loop_value_of(b, x)->lanes);
    return indim_loop_fma(b, x, y, sum == 0 ? zero : sum);
  }
  bool is_pred = type == INDIM_PRED;
  indim_value_id product = indim_loop_binary(b, is_pred ? INDIM_OP_AND : INDIM_OP_MULTIPLY, x, y);
  return sum == 0 ? product : indim_loop_binary(b, is_pred ? INDIM_OP_OR : INDIM_OP_ADD, sum, product);
}

static combiner sum_combiner(indim_type type) {
  return (combiner){.n = 1, .op = type == INDIM_PRED ? INDIM_OP_OR : INDIM_OP_ADD};
}

// How the results of a product are summed with a lane for each result.
typedef struct rows {
  int32_t lanes;   // of a row of results: of one or more registers
  int32_t full;    // padded with copies of the last lane, so that one splat serves all its registers
  bool takes_one;  // each step splats one element of the left side
  int32_t width;   // lanes that count as a register
  int32_t registers;
  int32_t chains;   // independent partial sums of a row, to hide the latency of additions
  int32_t at_once;  // rows summed at the same time
} rows;

enum { MOST_CHAINS = 4, MOST_ROWS = 8 };

// Adds the product of step |k| to |sum|, for the row that begins with result |first|.
static indim_value_id add_step(indim_loop_builder *b, const side *lhs, const side *rhs, const rows *r, int32_t first,
                               int32_t k, indim_value_id sum) {
  int32_t x_map[INDIM_REGS_ELEMENTS];
  int32_t y_map[INDIM_REGS_ELEMENTS];
  for (int32_t l = 0; l < r->full; l++) {
    int32_t result = first + (l < r->lanes ? l : r->lanes - 1);
    int32_t row = result / rhs->free;  // of batch and free
    int32_t batch = row / lhs->free;
    x_map[l] = k * lhs->batch * lhs->free + row;
    y_map[l] = l < r->lanes ? (k * rhs->batch + batch) * rhs->free + result % rhs->free : -1;
  }
  bool is_splat = lhs->memory != NULL && x_map[0] == x_map[r->full - 1];
  indim_value_id x = is_splat ? load_splat(b, lhs, x_map[0], r->full) : indim_pool_pick(b, &lhs->pool, r->full, x_map);
  indim_value_id y = indim_pool_pick(b, &rhs->pool, r->full, y_map);
  return add_product(b, lhs->pool.type, sum, x, y);
}

// |count| rows of results from |first| on, interleaved step by step, into |out|.
static void sum_rows(indim_loop_builder *b, const side *lhs, const side *rhs, const rows *r, int32_t first,
                     int32_t count, indim_value_id *out) {
  entry sums[MOST_ROWS][MOST_CHAINS] = {{{{0}}}};
  combiner adds = sum_combiner(lhs->pool.type);
  for (int32_t k = 0; k < lhs->contracted; k++) {
    for (int32_t i = 0; i < count && b->status == INDIM_OK; i++) {
      indim_value_id *sum = &sums[i][k % r->chains].value[0];
      *sum = add_step(b, lhs, rhs, r, first + i * r->lanes, k, *sum);
    }
  }
  for (int32_t i = 0; i < count && b->status == INDIM_OK; i++) {
    entry sum = combine_all(b, &adds, r->chains, sums[i]);
    out[i] = r->full == r->lanes ? sum.value[0] : take_lanes(b, &adds, sum, 0, r->lanes).value[0];
  }
}

// One result: adds rows of products and reduces the sum across lanes.
static indim_value_id sum_across_lanes(indim_loop_builder *b, const side *lhs, const side *rhs, int32_t result) {
  indim_type type = lhs->pool.type;
  int32_t row = result / rhs->free;
  int32_t batch = row / lhs->free;
  int32_t lanes = step_lanes(b, lhs->contracted);
  indim_value_id sum = 0;
  for (int32_t k = 0; k < lhs->contracted && b->status == INDIM_OK; k += lanes) {
    int32_t x_map[INDIM_REGS_ELEMENTS];
    int32_t y_map[INDIM_REGS_ELEMENTS];
    for (int32_t l = 0; l < lanes; l++) {
      x_map[l] = (k + l) * lhs->batch * lhs->free + row;
      y_map[l] = ((k + l) * rhs->batch + batch) * rhs->free + result % rhs->free;
    }
    indim_value_id x = indim_pool_pick(b, &lhs->pool, lanes, x_map);
    sum = add_product(b, type, sum, x, indim_pool_pick(b, &rhs->pool, lanes, y_map));
  }
  combiner adds = sum_combiner(type);
  entry sums = {{sum}};
  return b->status == INDIM_OK ? reduce_lanes(b, &adds, lanes, sums, NULL).value[0] : 0;
}

// Register blocking: half of the registers hold sums of rows that share loads of the right side. The other half lets
// the next rows, or the next product, overlap. Of 32 registers no more are used than of 16: with all of them, chains of
// 6x6 products took 1.2 times as long.
static int32_t rows_at_once(const indim_loop_builder *b, const rows *r) {
  int32_t registers = b->program->target.vector_registers;
  registers = registers == 0 || registers > INDIM_COST_BLOCKED_REGISTERS ? INDIM_COST_BLOCKED_REGISTERS : registers;
  int32_t fit = (registers / 2 - 1) / ((r->lanes + r->width - 1) / r->width);
  return fit < 1 ? 1 : fit < MOST_ROWS ? fit : MOST_ROWS;
}

static void add_results(indim_loop_builder *b, const indim_value_id *values, int32_t count, int32_t lanes,
                        indim_regs_pool *results) {
  for (int32_t i = 0; i < count && b->status == INDIM_OK; i++) {
    indim_pool_add_value(indim_loop_convert(b, values[i], results->type), lanes, results);
  }
}

// Rows of results are the rows of the result's register array; or, if there are many results and a row of the right
// side fills registers, a row of that, so that each step splats one element of the left side.
static rows plan_rows(const indim_loop_builder *b, const indim_instr *instr, const side *lhs, const side *rhs) {
  const indim_target *target = &b->program->target;
  indim_type type = sum_type(instr->shape->type);
  int32_t results = (int32_t)indim_shape_element_count(instr->shape);
  int32_t whole = indim_regs_register_lanes(target, type);
  int32_t width = product_width(b, type);
  rows r = {.lanes = indim_regs_row_lanes(target, instr->shape->rank, instr->shape->sizes), .at_once = 1};
  bool fills = rhs->free % width == 0 && results / width >= 2 * MANY_REGISTERS;
  r.lanes = r.lanes > rhs->free && fills ? rhs->free : r.lanes;
  r.takes_one = r.lanes <= rhs->free;
  r.width = r.takes_one ? width : whole;
  r.full = padded_lanes(b, type, r.lanes);
  r.registers = results / r.lanes * ((r.lanes + r.width - 1) / r.width);
  r.chains = lhs->contracted >= 8 && r.registers <= 2 ? 4 : lhs->contracted >= 4 && r.registers < 8 ? 2 : 1;
  return r;
}

void indim_regs_dot(indim_loop_builder *b, const indim_instr *instr, const indim_regs *operands, indim_regs *out) {
  side lhs;
  side rhs;
  indim_type type = sum_type(instr->shape->type);
  indim_regs_pool pool = {.type = instr->shape->type};
  plan_side(instr, 0, &lhs);
  plan_side(instr, 1, &rhs);
  int32_t results = (int32_t)indim_shape_element_count(instr->shape);
  int32_t width = indim_regs_register_lanes(&b->program->target, type);
  bool across_lanes = is_better_reduced(results, lhs.contracted, width, 2);
  bool right_in_lanes = rhs.free > 1 || lhs.free == 1;
  bool left_in_lanes = rhs.free == 1;
  fill_side(b, &operands[0], instr->shape->type, left_in_lanes && !across_lanes, &lhs);
  fill_side(b, &operands[1], instr->shape->type, right_in_lanes && !across_lanes, &rhs);
  for (int32_t e = 0; e < results && b->status == INDIM_OK && across_lanes; e++) {
    indim_value_id sum = sum_across_lanes(b, &lhs, &rhs, e);
    add_results(b, &sum, 1, 1, &pool);
  }
  rows r = plan_rows(b, instr, &lhs, &rhs);
  if (!across_lanes && rhs.free > 1 && r.registers >= MANY_REGISTERS && indim_type_is_float(type)) {
    if (r.takes_one) {
      spill_side(b, &operands[0], instr->shape->type, &lhs);
    }
    r.at_once = rows_at_once(b, &r);
  }
  for (int32_t e = 0; e < results && b->status == INDIM_OK && !across_lanes; e += r.at_once * r.lanes) {
    indim_value_id sums[MOST_ROWS];
    int32_t left = (results - e) / r.lanes;
    int32_t count = left < r.at_once ? left : r.at_once;
    sum_rows(b, &lhs, &rhs, &r, e, count, sums);
    add_results(b, sums, count, r.lanes, &pool);
  }
  indim_pool_deal(b, &pool, NULL, instr->shape, out);
}

// Reduce --------------------------------------------------------------------------------------------------------------

bool indim_regs_can_reduce(const indim_instr *instr) {
  const indim_computation *computation = indim_instr_computation(instr, INDIM_ATTR_TO_APPLY);
  int32_t n = instr->operand_count / 2;
  if (n < 1 || n > MAX_RESULTS || !indim_loop_can_apply(computation) || computation->instr_count > MAX_APPLIED ||
      computation->parameter_count != 2 * n) {
    return false;
  }
  for (int32_t i = 0; i < n; i++) {  // partial results can be combined
    indim_type type = indim_instr_result_shape(instr, i)->type;
    if (instr->operands[i]->shape->type != type || instr->operands[n + i]->shape->type != type ||
        computation->parameters[i]->shape->type != type || computation->parameters[n + i]->shape->type != type) {
      return false;
    }
  }
  return true;
}

// A reduction with its inputs in the dimension order reduced, kept.
typedef struct reduction {
  combiner step;
  int32_t steps;    // elements per result
  int32_t results;  // elements
  int32_t kept_rank;
  int64_t kept_sizes[INDIM_MAX_RANK];
  int32_t perm[INDIM_MAX_RANK];
  bool minor_is_reduced;
  indim_regs_pool *pools;
} reduction;

static void plan_reduction(const indim_instr *instr, reduction *r) {
  const indim_shape *shape = instr->operands[0]->shape;
  int64_t count = 0;
  const int64_t *dims = indim_instr_ints(instr, INDIM_ATTR_DIMENSIONS, &count);
  bool reduced[INDIM_MAX_RANK] = {false};
  int32_t at = 0;
  for (int64_t i = 0; i < count; i++) {
    reduced[dims[i]] = true;
  }
  r->steps = 1;
  r->results = 1;
  for (int32_t d = 0; d < shape->rank; d++) {
    if (reduced[d]) {
      r->perm[at++] = d;
      r->steps *= (int32_t)shape->sizes[d];
    }
    if (shape->sizes[d] > 1) {
      r->minor_is_reduced = reduced[d];
    }
  }
  for (int32_t d = 0; d < shape->rank; d++) {
    if (!reduced[d]) {
      r->perm[at++] = d;
      r->kept_sizes[r->kept_rank++] = shape->sizes[d];
      r->results *= (int32_t)shape->sizes[d];
    }
  }
}

static void fill_inputs(indim_loop_builder *b, const indim_instr *instr, const indim_regs *operands, bool across_lanes,
                        reduction *r) {
  const indim_shape *shape = instr->operands[0]->shape;
  for (int32_t i = 0; i < r->step.n; i++) {
    indim_regs_pool pool = {.type = instr->operands[i]->shape->type};
    indim_pool_add(&operands[i], &pool);
    if (r->minor_is_reduced && r->results > 1 && !across_lanes) {
      int32_t lanes = indim_regs_row_lanes(&b->program->target, r->kept_rank, r->kept_sizes);
      indim_pool_transpose(b, &pool, shape->rank, shape->sizes, r->perm, lanes, &r->pools[i]);
    } else {
      int32_t map[INDIM_REGS_ELEMENTS];
      indim_order_fill(shape->rank, shape->sizes, r->perm, map);
      indim_pool_map(&pool, pool.count, map, &r->pools[i]);
    }
  }
}

// |lanes| results from |first| on.
static entry reduce_row(indim_loop_builder *b, const reduction *r, int32_t first, int32_t lanes, const entry *init) {
  entry entries[INDIM_REGS_ELEMENTS + 1] = {{{0}}};
  for (int32_t i = 0; i < r->step.n && b->status == INDIM_OK; i++) {
    entries[0].value[i] = indim_loop_splat(b, init->value[i], lanes);
    for (int32_t k = 0; k < r->steps; k++) {
      int32_t map[INDIM_REGS_ELEMENTS];
      for (int32_t l = 0; l < lanes; l++) {
        map[l] = k * r->results + first + l;
      }
      entries[k + 1].value[i] = indim_pool_pick(b, &r->pools[i], lanes, map);
    }
  }
  return combine_all(b, &r->step, r->steps + 1, entries);
}

static entry reduce_across_lanes(indim_loop_builder *b, const reduction *r, int32_t result, const entry *init) {
  entry entries[INDIM_REGS_ELEMENTS] = {{{0}}};
  int32_t lanes = step_lanes(b, r->steps);
  for (int32_t i = 0; i < r->step.n; i++) {
    for (int32_t k = 0; k < r->steps; k += lanes) {
      int32_t map[INDIM_REGS_ELEMENTS];
      for (int32_t l = 0; l < lanes; l++) {
        map[l] = (k + l) * r->results + result;
      }
      entries[k / lanes].value[i] = indim_pool_pick(b, &r->pools[i], lanes, map);
    }
  }
  return reduce_lanes(b, &r->step, lanes, combine_all(b, &r->step, r->steps / lanes, entries), init);
}

void indim_regs_reduce(indim_loop_builder *b, const indim_instr *instr, const indim_regs *operands, indim_regs *out) {
  indim_regs_pool pools[MAX_RESULTS];
  indim_regs_pool results[MAX_RESULTS];
  entry init = {{0}};
  reduction r = {.pools = pools};
  r.step.n = instr->operand_count / 2;
  r.step.computation = indim_instr_computation(instr, INDIM_ATTR_TO_APPLY);
  plan_reduction(instr, &r);
  for (int32_t i = 0; i < r.step.n; i++) {
    init.value[i] = operands[r.step.n + i].rows[0];
    results[i].type = indim_instr_result_shape(instr, i)->type;
    results[i].count = 0;
  }
  int32_t width = indim_regs_register_lanes(&b->program->target, results[0].type);
  r.step.in_order = !indim_loop_can_reorder(r.step.computation);
  bool across_lanes = !r.step.in_order && is_better_reduced(r.results, r.steps, width, r.minor_is_reduced ? 2 : 1);
  int32_t lanes = across_lanes ? 1 : indim_regs_row_lanes(&b->program->target, r.kept_rank, r.kept_sizes);
  fill_inputs(b, instr, operands, across_lanes, &r);
  for (int32_t e = 0; e < r.results && b->status == INDIM_OK; e += lanes) {
    entry row = across_lanes ? reduce_across_lanes(b, &r, e, &init) : reduce_row(b, &r, e, lanes, &init);
    for (int32_t i = 0; i < r.step.n; i++) {
      indim_pool_add_value(row.value[i], lanes, &results[i]);
    }
  }
  for (int32_t i = 0; i < r.step.n; i++) {
    indim_pool_deal(b, &results[i], NULL, indim_instr_result_shape(instr, i), &out[i]);
  }
}
