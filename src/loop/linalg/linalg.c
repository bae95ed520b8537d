// The loop over the batch around the code of small.def.
#include "loop/linalg/linalg.h"

#include <string.h>

#include "loop/ir/build.h"
#include "loop/linalg/blocks.h"
#include "loop/target/cost.h"

// Which calls ----------------------------------------------------------------------------------------------------------

typedef struct small_routine {
  indim_linalg_id id;
  int64_t (*cost)(const indim_linalg_call *call);
  int64_t lanes;
  void (*writes)(indim_matrix_code *c);
} small_routine;

// Sizes that a routine does not have are -1; no row has them.
#define N indim_linalg_size(call, 'n')
#define M indim_linalg_size(call, 'm')
#define K indim_linalg_size(call, 'k')
#define S indim_linalg_size(call, 's')
#define T indim_linalg_size(call, 't')
#define INDIM_SMALL(routine, cost, lanes, writes) \
  static int64_t cost_of_##writes(const indim_linalg_call *call) { return cost; }
#include "loop/linalg/small.def"
#undef N
#undef M
#undef K
#undef S
#undef T

static const small_routine routines[] = {
#define INDIM_SMALL(routine, cost, lanes, writes) \
  {INDIM_LINALG_##routine, cost_of_##writes, lanes, indim_code_##writes},
#include "loop/linalg/small.def"
};

static const small_routine *routine_of(const indim_linalg_call *call) {
  for (size_t i = 0; i < sizeof routines / sizeof *routines; i++) {
    if (routines[i].id == call->target->id) {
      return &routines[i];
    }
  }
  return NULL;
}

// With the loads, stores and transposes of the arrays' elements.
static int64_t whole_cost(const small_routine *routine, const indim_linalg_call *call) {
  enum { ELEMENT = 4 };
  int64_t cost = routine->cost(call);
  for (int32_t i = 0; i < call->operand_count; i++) {
    cost += ELEMENT * call->operands[i].sizes[0] * call->operands[i].sizes[1];
  }
  for (int32_t i = 0; i < call->result_count; i++) {
    cost += ELEMENT * call->results[i].sizes[0] * call->results[i].sizes[1];
  }
  return cost;
}

static bool is_large(const indim_linalg_array *a) {
  return a->sizes[0] > INDIM_COST_SMALL_MATRIX || a->sizes[1] > INDIM_COST_SMALL_MATRIX;
}

static bool has_large(int32_t count, const indim_linalg_array *arrays) {
  bool has = false;
  for (int32_t i = 0; i < count; i++) {
    has = has || is_large(&arrays[i]);
  }
  return has;
}

static bool is_for_lanes(const small_routine *routine, const indim_linalg_call *call) {
  const int64_t *sizes = call->operands[0].sizes;
  int64_t side = sizes[0] < sizes[1] ? sizes[0] : sizes[1];
  return routine->lanes > 0 && side >= routine->lanes && call->batch >= INDIM_COST_LANES_BATCH;
}

const char *indim_small_linalg_refuses(const indim_linalg_call *call, bool has_lanes) {
  const small_routine *routine = routine_of(call);
  if (routine == NULL) {
    return "this routine is not written as code";
  }
  if (call->type != INDIM_F32 && call->type != INDIM_F64) {
    return "its elements are neither f32 nor f64";
  }
  if (has_lanes && is_for_lanes(routine, call)) {
    return "the host has a lane for each matrix of a batch";
  }
  bool fits = !has_large(call->operand_count, call->operands) && !has_large(call->result_count, call->results) &&
              whole_cost(routine, call) <= INDIM_COST_SMALL_LINALG;
  return fits ? NULL : "its matrices are too large for straight code";
}

// Its arrays -----------------------------------------------------------------------------------------------------------

typedef struct batch {
  indim_lowering *l;
  indim_matrix_code code;
  int32_t count;  // of arrays: the results, then the operands
  indim_matrix_array arrays[2 * INDIM_LINALG_MOST_ARRAYS];
  indim_location places[2 * INDIM_LINALG_MOST_ARRAYS];
  indim_storage *written[INDIM_LINALG_MOST_ARRAYS];  // the results'
  int32_t rank;
  int64_t sizes[INDIM_MAX_RANK];
} batch;

static void add_array(batch *b, const indim_linalg_array *array, const indim_location *at, int32_t batch_rank) {
  indim_matrix_array *a = &b->arrays[b->count];
  b->places[b->count] = *at;
  *a = (indim_matrix_array){.array = array, .at = &b->places[b->count]};
  b->count++;
  int32_t first = array->is_batched ? batch_rank : 0;
  for (int32_t d = 0; d < first && at->tiled == NULL; d++) {
    a->batch_strides[d] = at->strides[d];
  }
  a->row_stride = array->rank > 0 && at->tiled == NULL ? at->strides[first] : 1;
  a->column_stride = array->rank > 1 && at->tiled == NULL ? at->strides[first + 1] : 1;
}

static bool can_merge(const batch *b, int32_t d) {
  for (int32_t i = 0; i < b->count; i++) {
    const int64_t *strides = b->arrays[i].batch_strides;
    if (strides[d - 1] != strides[d] * b->sizes[d]) {
      return false;
    }
  }
  return true;
}

static void remove_dim(batch *b, int32_t d) {
  b->rank--;
  for (int32_t k = d; k < b->rank; k++) {
    b->sizes[k] = b->sizes[k + 1];
    for (int32_t i = 0; i < b->count; i++) {
      b->arrays[i].batch_strides[k] = b->arrays[i].batch_strides[k + 1];
    }
  }
}

// Merges dimensions of the batch that all arrays step through as through one.
static void merge_dims(batch *b) {
  for (int32_t d = b->rank - 1; d >= 0; d--) {
    if (b->sizes[d] == 1) {
      remove_dim(b, d);
    }
  }
  for (int32_t d = b->rank - 1; d > 0; d--) {
    if (can_merge(b, d)) {
      b->sizes[d] *= b->sizes[d - 1];
      remove_dim(b, d - 1);
    }
  }
}

// The loop -------------------------------------------------------------------------------------------------------------

// The code of |b->code.lanes| matrices from number |index| of the last dimension on; |starts|: of each array in the others.
static void write_block(batch *b, const small_routine *routine, const value *starts, value index) {
  indim_matrix_code *c = &b->code;
  int32_t results = c->call->result_count;
  value at[2 * INDIM_LINALG_MOST_ARRAYS];
  int64_t lane_strides[2 * INDIM_LINALG_MOST_ARRAYS];
  for (int32_t i = 0; i < b->count; i++) {
    lane_strides[i] = b->rank > 0 ? b->arrays[i].batch_strides[b->rank - 1] : 0;
    at[i] = indim_loop_add(c->b, starts[i], indim_loop_mul_const(c->b, index, lane_strides[i]));
    int64_t elements = b->arrays[i].array->sizes[0] * b->arrays[i].array->sizes[1];
    value *list = indim_lower_alloc(b->l, elements + 1, sizeof *list);
    if (list == NULL) {
      return;
    }
    value zero = b->arrays[i].array->type == INDIM_S32 ? indim_code_s32(c, 0) : indim_code_real(c, 0);
    for (int64_t k = 0; k < elements; k++) {
      list[k] = zero;
    }
    if (i < results) {
      c->out[i] = list;
    } else {
      c->in[i - results] = list;
      indim_block_load(c, &b->arrays[i], at[i], lane_strides[i], list);
    }
  }
  if (!indim_lower_failed(b->l)) {
    routine->writes(c);
  }
  for (int32_t i = 0; i < results && !indim_lower_failed(b->l); i++) {
    indim_block_store(c, &b->arrays[i], at[i], lane_strides[i], c->out[i]);
  }
}

// All of the batch: in a loop of its own, which the code generator shares with equal ones. Its region keeps the loads there.
static void write_once(batch *b, const small_routine *routine, const value *starts) {
  indim_loop_builder *builder = b->code.b;
  value first = indim_loop_index(builder, 0);
  indim_loop_for_begin(builder, first, indim_loop_index(builder, 1), 1, 0, NULL, NULL);
  indim_loop_region_begin(builder, b->written, b->code.call->result_count);
  b->l->loop_depth++;
  write_block(b, routine, starts, first);
  b->l->loop_depth--;
  indim_loop_for_end(builder, NULL, NULL);
}

// Of the last dimension. A remainder is computed with a whole vector, too: the one that ends with the batch.
static void write_vectors(batch *b, const small_routine *routine, const value *starts) {
  indim_loop_builder *builder = b->code.b;
  int64_t size = b->rank > 0 ? b->sizes[b->rank - 1] : 1;
  int32_t lanes = b->code.lanes;
  int64_t blocks = (size + lanes - 1) / lanes;
  if (blocks == 1 && b->rank <= 1) {
    write_once(b, routine, starts);
    return;
  }
  if (blocks == 1) {
    write_block(b, routine, starts, indim_loop_index(builder, 0));
    return;
  }
  int64_t work = blocks * lanes * whole_cost(routine, b->code.call);
  bool threads = b->rank == 1 && b->l->loop_depth == 0 && blocks >= 2 * INDIM_NEST_PIECES &&
                 indim_lower_may_thread(b->l, work, INDIM_COST_PARALLEL_ITERATION);
  int64_t looped = threads ? size / lanes : blocks;
  value i = indim_loop_for_begin(builder, indim_loop_index(builder, 0), indim_loop_index(builder, looped * lanes),
                                 lanes, 0, NULL, NULL);
  if (threads) {
    indim_loop_for_parallel(builder, (looped + INDIM_NEST_PIECES - 1) / INDIM_NEST_PIECES);
  }
  b->l->loop_depth++;
  write_block(b, routine, starts, indim_loop_clamp_index(builder, i, 0, size - lanes));
  b->l->loop_depth--;
  indim_loop_for_end(builder, NULL, NULL);
  if (looped < blocks) {
    write_block(b, routine, starts, indim_loop_index(builder, size - lanes));
  }
}

// Dimension |d| of the batch and those in it.
static void write_dims(batch *b, const small_routine *routine, int32_t d, const value *starts) {
  if (d >= b->rank - 1) {
    write_vectors(b, routine, starts);
    return;
  }
  indim_loop_builder *builder = b->code.b;
  value inner[2 * INDIM_LINALG_MOST_ARRAYS];
  value i = indim_loop_for_begin(builder, indim_loop_index(builder, 0), indim_loop_index(builder, b->sizes[d]), 1, 0,
                                 NULL, NULL);
  for (int32_t k = 0; k < b->count; k++) {
    inner[k] = indim_loop_add(builder, starts[k], indim_loop_mul_const(builder, i, b->arrays[k].batch_strides[d]));
  }
  b->l->loop_depth++;
  write_dims(b, routine, d + 1, inner);
  b->l->loop_depth--;
  indim_loop_for_end(builder, NULL, NULL);
}

// The widest vectors that the batch fills.
static int32_t lanes_of(const batch *b, indim_type type) {
  int64_t size = b->rank > 0 ? b->sizes[b->rank - 1] : 1;
  int32_t most = b->l->target->vector_bytes / indim_type_bytes(type);
  return size < most ? (int32_t)size : most;
}

bool indim_small_linalg_lower(indim_lowering *l, indim_flow_item *item, const indim_linalg_call *call) {
  batch *b = indim_lower_alloc(l, 1, sizeof *b);
  if (b == NULL) {
    return true;
  }
  b->l = l;
  b->rank = call->batch_rank;
  bool has_tiles = false;
  memcpy(b->sizes, indim_flow_result(item, 0)->shape->sizes, (size_t)b->rank * sizeof *b->sizes);
  for (int32_t i = 0; i < call->result_count; i++) {
    const indim_location *at = &indim_flow_result(item, i)->place;
    add_array(b, &call->results[i], at, call->batch_rank);
    b->written[i] = at->storage;
    has_tiles = has_tiles || at->tiled != NULL;
  }
  for (int32_t i = 0; i < call->operand_count && !indim_lower_failed(l); i++) {
    indim_location at = indim_location_need(l, item->operands[i]);
    if (!indim_lower_failed(l)) {
      add_array(b, &call->operands[i], &at, call->batch_rank);
      has_tiles = has_tiles || at.tiled != NULL;
    }
  }
  if (indim_lower_failed(l) || has_tiles) {
    return !has_tiles;
  }
  merge_dims(b);
  b->code = (indim_matrix_code){.l = l, .b = &l->b, .call = call, .type = call->type, .lanes = lanes_of(b, call->type)};
  value starts[2 * INDIM_LINALG_MOST_ARRAYS];
  indim_loop_region_begin(&l->b, b->written, call->result_count);
  for (int32_t i = 0; i < b->count; i++) {
    starts[i] = indim_location_start(l, b->arrays[i].at);
  }
  write_dims(b, routine_of(call), 0, starts);
  indim_element_forget(l);
  return true;
}
