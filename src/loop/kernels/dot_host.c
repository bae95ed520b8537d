// A large product of two arrays in memory, computed by the host, where they lie or of copies.
#include <string.h>

#include "host/matmul.h"
#include "loop/ir/build.h"
#include "loop/ir/index_math.h"
#include "loop/kernels/dot.h"
#include "loop/target/cost.h"

// How a nest would load and store its vectors: whole; along the sum, so that it adds up the lanes of each element; an operand's
// lanes one by one; or the result's, each in a line of memory of its own.
typedef enum lane_moves { LANES_WHOLE, LANES_ALONG_SUM, LANES_LOADED_APART, LANES_STORED_APART } lane_moves;

enum {
  WORD_BYTES = 4,  // narrower elements are converted, and not gathered by an instruction
  LEAST_ASKED = INDIM_COST_HOST_PRODUCT_SHORT / 4  // multiplications below which the host is no choice
};

// Multiplications from which the host is faster than a nest, by how that moves lanes; for one product of a batch. |vector_bytes|: 0
// before the target is known.
static int64_t least_work(const indim_flow_item *dot, int32_t vector_bytes, int64_t k, lane_moves moves) {
  switch (moves) {
  case LANES_ALONG_SUM:
    return k * indim_type_bytes(dot->shape->type) < vector_bytes ? INDIM_COST_HOST_PRODUCT_SHORT
                                                                 : INDIM_COST_HOST_PRODUCT_ALONG;
  case LANES_LOADED_APART:
    return INDIM_COST_HOST_PRODUCT_ALONG;
  case LANES_STORED_APART:
    return INDIM_COST_HOST_PRODUCT_STORED;
  case LANES_WHOLE:
    break;
  }
  bool is_of_bytes = dot->shape->type == INDIM_S32 && indim_type_bits(dot->operands[0]->shape->type) <= 8;
  return is_of_bytes ? INDIM_COST_HOST_BYTES : INDIM_COST_HOST_PRODUCT;
}

// Whether the host is faster than a nest that moves lanes so.
static bool pays(const indim_flow_item *dot, int32_t vector_bytes, int64_t m, int64_t n, int64_t k, lane_moves moves) {
  int64_t work = indim_index_mul_saturated(indim_index_mul_saturated(m, n), k);
  int64_t side = k >= INDIM_COST_HOST_LONG_SUM ? INDIM_COST_HOST_SIDE_OF_LONG : INDIM_COST_HOST_SIDE;
  int64_t steps = INDIM_COST_HOST_SIDE;
  int32_t bytes = indim_type_bytes(dot->operands[0]->shape->type);
  if (moves != LANES_WHOLE) {
    side = side < INDIM_COST_HOST_SIDE_ALONG ? side : INDIM_COST_HOST_SIDE_ALONG;
    steps = INDIM_COST_HOST_STEPS_ALONG;
  }
  // Halves are converted before, and bytes multiplied in groups of so many steps of so many columns.
  side = bytes == 2                                        ? INDIM_COST_HOST_SIDE
         : bytes == 1 && side < INDIM_COST_HOST_SIDE_ALONG ? INDIM_COST_HOST_SIDE_ALONG
                                                           : side;
  return work >= least_work(dot, vector_bytes, k, moves) && m >= side && n >= side && k >= steps;
}

// Operands that are better in memory -------------------------------------------------------------------------------------
//
// What the host multiplies is in memory in any case. An operand that is computed (x - mean, gradient * mask) is kept there before,
// in its own order: then one array serves all that read it, both sides of x^T x, too, and the other side is read where it lies.

enum {
  MOST_VIEWS = 16
};  // of transposes, and of reshapes: a longer chain is walked along for each product, and gains nothing

// What |item| is a transpose of, of transposes. |dims|: something of each dimension of |item|, then of each of what is returned.
static indim_flow_item *behind_transposes(indim_flow_item *item, int32_t *dims) {
  for (int32_t i = 0; i < MOST_VIEWS && indim_flow_is_op(item, INDIM_OP_TRANSPOSE); i++) {
    int64_t rank = 0;
    const int64_t *permutation = indim_instr_ints(item->instr, INDIM_ATTR_DIMENSIONS, &rank);
    int32_t before[INDIM_MAX_RANK];
    memcpy(before, dims, (size_t)rank * sizeof *dims);
    for (int64_t d = 0; d < rank; d++) {
      dims[permutation[d]] = before[d];
    }
    item = item->operands[0];
  }
  return item;
}

// One side of a product as it would lie in memory.
typedef struct side {
  indim_flow_item *item;                    // behind the transposes
  int32_t dims[INDIM_MAX_RANK];             // of the operand, of each dimension of |item|
  indim_dot_dim kinds[INDIM_MAX_RANK];      // of each dimension of |item|
  int64_t sizes[INDIM_DOT_CONTRACTED + 1];  // of all of a kind
} side;

static void look_at_side(const indim_flow_item *dot, int32_t number, side *out) {
  int32_t rank = dot->operands[number]->shape->rank;
  indim_dot_dim kinds[INDIM_MAX_RANK];
  indim_instr_dot_dims(dot->instr, number, rank, kinds);
  for (int32_t d = 0; d < rank; d++) {
    out->dims[d] = d;
  }
  out->item = behind_transposes(dot->operands[number], out->dims);
  out->sizes[INDIM_DOT_FREE] = out->sizes[INDIM_DOT_BATCH] = out->sizes[INDIM_DOT_CONTRACTED] = 1;
  for (int32_t d = 0; d < rank; d++) {
    out->kinds[d] = kinds[out->dims[d]];
    int64_t *size = &out->sizes[out->kinds[d]];
    *size = indim_index_mul_saturated(*size, out->item->shape->sizes[d]);
  }
}

// The innermost dimension in memory that is not 1; -1: none.
static int32_t row_dim(const side *s) {
  int32_t d = s->item->shape->rank - 1;
  while (d >= 0 && s->item->shape->sizes[d] == 1) {
    d--;
  }
  return d;
}

// Whether the host reads it as a matrix, or as a batch of them: rows are contiguous, and the dimensions of a kind lie together, but
// for two of the batch.
static bool is_matrix(const side *s) {
  int32_t last = row_dim(s);
  int32_t parts[INDIM_DOT_CONTRACTED + 1] = {0};
  int32_t batch = 0;
  bool is = last >= 0 && s->kinds[last] != INDIM_DOT_BATCH;
  for (int32_t d = last; d >= 0 && is; d--) {
    if (s->item->shape->sizes[d] == 1) {
      continue;
    }
    parts[s->kinds[d]] += d == last || s->kinds[d] != s->kinds[last] || s->dims[d] > s->dims[last] ? 1 : 0;
    batch += s->kinds[d] == INDIM_DOT_BATCH ? 1 : 0;
    last = d;
  }
  return is && parts[INDIM_DOT_FREE] <= 1 && parts[INDIM_DOT_CONTRACTED] <= 1 &&
         (parts[INDIM_DOT_BATCH] <= 1 || batch <= 2);
}

indim_flow_item *indim_lower_stored_operand(const indim_flow_item *dot, int32_t number) {
  if (!indim_flow_is_op(dot, INDIM_OP_DOT)) {
    return NULL;
  }
  indim_type type = dot->shape->type;
  side sides[2];
  for (int32_t k = 0; k < 2; k++) {
    if (dot->operands[k]->shape->type != type || (type != INDIM_F32 && type != INDIM_F64)) {
      return NULL;
    }
    look_at_side(dot, k, &sides[k]);
  }
  const side *own = &sides[number];
  bool along_k = true;
  for (int32_t k = 0; k < 2; k++) {
    along_k = along_k && row_dim(&sides[k]) >= 0 && sides[k].kinds[row_dim(&sides[k])] == INDIM_DOT_CONTRACTED;
  }
  bool is_stored = is_matrix(own) && pays(dot, 0, sides[0].sizes[INDIM_DOT_FREE], sides[1].sizes[INDIM_DOT_FREE],
                                          own->sizes[INDIM_DOT_CONTRACTED], along_k ? LANES_ALONG_SUM : LANES_WHOLE);
  indim_flow_item *item = own->item;
  for (int32_t i = 0; i < MOST_VIEWS && indim_flow_is_op(item, INDIM_OP_RESHAPE); i++) {
    item = item->operands[0];
  }
  return is_stored && item->kind == INDIM_FLOW_OP && !indim_op_moves(item->instr->op) ? item : NULL;
}

// The product where its operands lie -------------------------------------------------------------------------------------

// The only dimension of a group of a size other than 1 after collapsing; |*out| is -1 when all have size 1.
static bool only_dim(const indim_product *p, const int64_t *sizes, int32_t group, int32_t *out) {
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

enum { STORAGES = 3 };

// Begins a loop of |count| calls, and moves the addresses by its index.
static void begin_loop(indim_loop_builder *b, int64_t count, bool is_parallel, const int64_t *strides,
                       indim_value_id *addresses) {
  indim_value_id i = indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, count), 1, 0, NULL, NULL);
  if (is_parallel) {
    indim_loop_for_parallel(b, (count + INDIM_NEST_PIECES - 1) / INDIM_NEST_PIECES);
  }
  for (int k = 0; k < STORAGES; k++) {
    addresses[k] = indim_loop_add(b, addresses[k], indim_loop_mul_const(b, i, strides[k]));
  }
}

// One call, or for a batch large enough for all threads a parallel loop of calls: like other loops over the batch, it
// can be fused with them. |outer|: the size of a second dimension of the batch, which is a loop in any case; 1 if there is none.
static void call_host(indim_lowering *l, indim_storage *const *storages, indim_value_id *addresses,
                      indim_host_matmul sizes, int64_t outer, const int64_t *outer_strides) {
  const int64_t strides[STORAGES] = {sizes.out_batch, sizes.lhs_batch, sizes.rhs_batch};
  indim_loop_builder *b = &l->b;
  sizes.is_symmetric = storages[1] == storages[2] && addresses[1] == addresses[2] &&
                       indim_matmul_is_own_transpose(&sizes) && (outer <= 1 || outer_strides[1] == outer_strides[2]);
  int64_t count = outer > 1 ? outer : sizes.batch;
  bool is_parallel = count >= INDIM_NEST_PIECES && indim_lower_is_enabled(l, INDIM_DECISION_THREADS);
  bool is_loop = outer > 1 || is_parallel;
  if (is_loop) {
    begin_loop(b, count, is_parallel, outer > 1 ? outer_strides : strides, addresses);
  }
  if (is_parallel) {
    sizes.single_thread = 1;
  }
  if (is_loop && outer <= 1) {
    sizes.out_batch = sizes.lhs_batch = sizes.rhs_batch = 0;
    sizes.batch = 1;
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

// The dimensions of the product after collapsing, -1 for one that it does not have. |outer|: a second one of the batch, before
// |batch|, as the heads of attention make it that lie between the rows and columns of an operand.
typedef struct groups {
  int32_t outer, batch, m, n, k;
} groups;

static bool find_groups(const indim_product *p, const int64_t *sizes, groups *out) {
  out->outer = out->batch = -1;
  for (int32_t d = 0; d < p->out_rank; d++) {
    if (p->group[d] == INDIM_PRODUCT_BATCH && sizes[d] != 1) {
      if (out->outer >= 0) {
        return false;
      }
      out->outer = out->batch;
      out->batch = d;
    }
  }
  return only_dim(p, sizes, INDIM_PRODUCT_LEFT, &out->m) && only_dim(p, sizes, INDIM_PRODUCT_RIGHT, &out->n) &&
         only_dim(p, sizes, INDIM_PRODUCT_CONTRACTED, &out->k);
}

static const char small[] = "it is small";

static int64_t work_of(const int64_t *sizes, const groups *g) {
  return indim_index_mul_saturated(indim_index_mul_saturated(size_of(sizes, g->m), size_of(sizes, g->n)),
                                   size_of(sizes, g->k));
}

bool indim_product_lies_along_sum(const indim_product *p) {
  return p->vector_dim >= p->out_rank && indim_product_side_lies_along(p, true, p->vector_dim) &&
         indim_product_side_lies_along(p, false, p->vector_dim);
}

bool indim_product_is_fetched_by_lanes(const indim_product *p) {
  enum { NEAR_BYTES = 16 };
  bool is = false;
  for (int32_t i = 0; i < p->list->count && p->vector_dim >= 0; i++) {
    const indim_access *access = &p->list->accesses[i];
    int64_t stride = access->strides == NULL ? INT64_MAX : access->strides[p->vector_dim];
    int32_t bytes = indim_type_bytes(access->storage->type);
    bool is_near = stride == 0 || (stride > 0 && stride <= NEAR_BYTES / bytes && bytes >= WORD_BYTES);
    is = is || (!indim_access_is_adjacent(access, p->vector_dim) && !is_near);
  }
  return is;
}

bool indim_product_is_stored_by_lanes(const indim_product *p) {
  enum { FAR_BYTES = 256 };
  const indim_location *at = &p->item->place;
  return p->vector_dim < p->out_rank && at->tiled == NULL &&
         at->strides[p->vector_dim] * indim_type_bytes(p->item->shape->type) >= FAR_BYTES;
}

static bool has_lanes_of_batch(const indim_product *p) {
  return p->vector_dim >= 0 && p->vector_dim < p->out_rank && p->group[p->vector_dim] == INDIM_PRODUCT_BATCH;
}

static lane_moves moves_of(const indim_product *p) {
  if (indim_product_lies_along_sum(p)) {
    return LANES_ALONG_SUM;
  }
  if (p->vector_dim < 0 || has_lanes_of_batch(p)) {
    return LANES_WHOLE;
  }
  return indim_product_is_fetched_by_lanes(p)  ? LANES_LOADED_APART
         : indim_product_is_stored_by_lanes(p) ? LANES_STORED_APART
                                               : LANES_WHOLE;
}

// Whether dimensions that are collapsed for the operands are collapsed in the output, too: each has the stride of what
// it was collapsed into, times the sizes between.
static bool output_is_collapsed(const indim_product *p, const int64_t *sizes, const groups *g) {
  const indim_location *at = &p->item->place;
  for (int32_t d = 0; d < p->out_rank; d++) {
    if (sizes[d] != 1 || p->sizes[d] == 1) {
      continue;
    }
    int32_t into = p->group[d] == INDIM_PRODUCT_LEFT    ? g->m
                   : p->group[d] == INDIM_PRODUCT_RIGHT ? g->n
                   : d < g->outer                       ? g->outer
                                                        : g->batch;
    int64_t within = at->strides[into];
    for (int32_t e = d + 1; e <= into; e++) {
      within *= p->group[e] == p->group[d] ? p->sizes[e] : 1;
    }
    if (at->strides[d] != within) {
      return false;
    }
  }
  return true;
}

// Whether the host multiplies such elements without a conversion. Products of bf16 are those of f32 where the target has no
// instruction for them.
static bool takes(const indim_product *p, indim_type lhs, indim_type rhs) {
  return indim_matmul_takes(p->sum, lhs, rhs) &&
         (lhs != INDIM_BF16 || indim_features_have(p->l->target->features, "avx512bf16"));
}

static const char *refuses_operands(const indim_product *p) {
  if (!takes(p, p->lhs->shape->type, p->rhs->shape->type) || p->item->shape->type != p->sum) {
    return "its arrays are not all f32, nor all f64, nor small integers summed in s32";
  }
  if (p->l->loop_depth > 0) {
    return "it is in a loop of another kernel";
  }
  if (p->item->place.tiled != NULL || p->list->count != 2) {
    return "its arrays are not all in memory, or tiled";
  }
  return indim_lower_only_moves(p->lhs) && indim_lower_only_moves(p->rhs) ? NULL
                                                                          : "an operand is computed inside the product";
}

static const char *refuses_sizes(const indim_product *p, const int64_t *sizes, groups *g) {
  const indim_location *at = &p->item->place;
  if (!find_groups(p, sizes, g)) {
    return "its dimensions do not collapse into one of each kind, and two of the batch";
  }
  const indim_access *lhs = &p->list->accesses[0];
  const indim_access *rhs = &p->list->accesses[1];
  bool is_affine = lhs->strides != NULL && rhs->strides != NULL;
  int64_t work = work_of(sizes, g);
  if (work < LEAST_ASKED || g->m < 0 || g->n < 0 || g->k < 0) {
    return small;
  }
  bool has_rows = is_affine && indim_location_is_dense(p->item->shape, at) &&
                  (at->strides[g->n] == 1 || at->strides[g->m] == 1) && output_is_collapsed(p, sizes, g) &&
                  (lhs->strides[g->m] == 1 || lhs->strides[g->k] == 1) &&
                  (rhs->strides[g->n] == 1 || rhs->strides[g->k] == 1);
  bool is_along = is_affine && lhs->strides[g->k] == 1 && rhs->strides[g->k] == 1;
  bool wants = pays(p->item, p->l->target->vector_bytes, size_of(sizes, g->m), size_of(sizes, g->n),
                    size_of(sizes, g->k), is_along ? LANES_ALONG_SUM : moves_of(p));
  if (!has_rows) {
    return wants ? "one of its arrays has no contiguous rows" : small;
  }
  return indim_lower_choose_library(p->l, p->item->instr, wants ? NULL : small);
}

const char *indim_product_call_host(indim_product *p, const int64_t *sizes) {
  groups g;
  if (!indim_lower_is_enabled(p->l, INDIM_DECISION_LIBRARY)) {
    return "the decision library is left out";
  }
  const char *reason = refuses_operands(p);
  reason = reason == NULL ? refuses_sizes(p, sizes, &g) : reason;
  if (reason != NULL) {
    return reason;
  }
  const indim_location *at = &p->item->place;
  bool flip = at->strides[g.n] != 1;  // the transposed product has contiguous rows
  const indim_access *first = &p->list->accesses[flip ? 1 : 0];
  const indim_access *second = &p->list->accesses[flip ? 0 : 1];
  int32_t row = flip ? g.n : g.m;
  int32_t column = flip ? g.m : g.n;
  indim_host_matmul numbers = {.type = p->sum,
                               .batch = size_of(sizes, g.batch),
                               .m = size_of(sizes, row),
                               .n = size_of(sizes, column),
                               .k = size_of(sizes, g.k),
                               .lhs_batch = stride_of(first->strides, g.batch, 0),
                               .lhs_m = first->strides[row],
                               .lhs_k = first->strides[g.k],
                               .rhs_batch = stride_of(second->strides, g.batch, 0),
                               .rhs_k = second->strides[g.k],
                               .rhs_n = second->strides[column],
                               .out_batch = stride_of(at->strides, g.batch, 0),
                               .out_m = at->strides[row],
                               .lhs_type = (flip ? p->rhs : p->lhs)->shape->type,
                               .rhs_type = (flip ? p->lhs : p->rhs)->shape->type};
  indim_storage *storages[] = {at->storage, p->l->program->storages[first->storage->index],
                               p->l->program->storages[second->storage->index]};
  indim_value_id addresses[] = {indim_location_start(p->l, at), first->base, second->base};
  const int64_t outer_strides[STORAGES] = {stride_of(at->strides, g.outer, 0), stride_of(first->strides, g.outer, 0),
                                           stride_of(second->strides, g.outer, 0)};
  call_host(p->l, storages, addresses, numbers, size_of(sizes, g.outer), outer_strides);
  return NULL;
}

// Packed operands ------------------------------------------------------------------------------------------------------
//
// Operands that the service does not take as they lie (two contracted dimensions with others between, a type that it does not
// have) are copied once into matrices, and the result out of one: the copies are small beside the product.

// The strides of an operand's groups of dimensions, each as one.
typedef struct matrix {
  indim_storage *storage;
  indim_value_id address;
  int64_t batch, free, contracted;
} matrix;

// The stride of the dimensions of a group taken as one; false if they are not one. |strides|: of the dimensions of the product.
static bool stride_of_group(const indim_product *p, const int64_t *strides, int32_t group, int64_t *out) {
  bool is_first = true;
  int64_t next = 0;
  *out = 0;
  for (int32_t d = p->rank - 1; d >= 0; d--) {
    if (p->group[d] != group || p->sizes[d] == 1) {
      continue;
    }
    if (!is_first && strides[d] != next) {
      return false;
    }
    *out = is_first ? strides[d] : *out;
    next = strides[d] * p->sizes[d];
    is_first = false;
  }
  return true;
}

// The operand as a matrix, or a batch of them; false if it is none where it lies.
static bool read_matrix(const indim_product *p, const indim_stored *stored, bool is_left, matrix *out) {
  const int32_t *dims = is_left ? p->lhs_dim : p->rhs_dim;
  int32_t rank = (is_left ? p->lhs : p->rhs)->shape->rank;
  int64_t strides[INDIM_MAX_RANK] = {0};
  for (int32_t d = 0; d < rank; d++) {
    strides[dims[d]] = stored->strides[d];
  }
  out->storage = stored->storage;
  out->address = stored->address;
  return stride_of_group(p, strides, INDIM_PRODUCT_BATCH, &out->batch) &&
         stride_of_group(p, strides, is_left ? INDIM_PRODUCT_LEFT : INDIM_PRODUCT_RIGHT, &out->free) &&
         stride_of_group(p, strides, INDIM_PRODUCT_CONTRACTED, &out->contracted) &&
         (out->free == 1 || out->contracted == 1);
}

// The operand where it lies, or a copy of |type|: rows of the left one are summed, and columns of the right one, unless it lies in
// rows that are.
static matrix need_matrix(indim_product *p, bool is_left, indim_type type) {
  indim_flow_item *item = is_left ? p->lhs : p->rhs;
  indim_stored stored;
  matrix found = {0};
  if (indim_lower_find_stored(p->l, item, type, &stored) && read_matrix(p, &stored, is_left, &found)) {
    return found;
  }
  int32_t kept = is_left ? INDIM_PRODUCT_LEFT : INDIM_PRODUCT_RIGHT;
  bool sums_rows = is_left || indim_product_lies_along_sum(p);
  const int32_t order[] = {sums_rows ? INDIM_PRODUCT_CONTRACTED : kept, sums_rows ? kept : INDIM_PRODUCT_CONTRACTED,
                           INDIM_PRODUCT_BATCH};
  const indim_shape shape = indim_product_laid_out(p, is_left, type, order, -1);
  if (indim_lower_store_copy(p->l, item, &shape, &stored)) {
    (void)read_matrix(p, &stored, is_left, &found);
  }
  return found;
}

// The strides of the result's rows and batch; false if its rows are not contiguous, or of another type.
static bool read_result(const indim_product *p, const indim_location *at, int64_t *out_batch, int64_t *out_row) {
  int64_t column = 0;
  return at->tiled == NULL && at->storage->type == p->sum &&
         stride_of_group(p, at->strides, INDIM_PRODUCT_BATCH, out_batch) &&
         stride_of_group(p, at->strides, INDIM_PRODUCT_LEFT, out_row) &&
         stride_of_group(p, at->strides, INDIM_PRODUCT_RIGHT, &column) && column == 1;
}

// Whether the copy may compute it, once for each element.
static bool is_cheap(const indim_flow_item *operand) {
  return operand->placement != INDIM_PLACEMENT_INLINE || operand->cost <= INDIM_COST_AGAIN;
}

// The type that an operand is multiplied in: its own, of integers of less than 8 bits that of 8, of floats otherwise that of the
// sums. INVALID where the host has none.
static indim_type factor_type(const indim_product *p, const indim_flow_item *operand) {
  indim_type type = operand->shape->type;
  if (p->sum == INDIM_S32) {
    bool is_byte = indim_type_is_integral(type) && indim_type_bits(type) <= 8;
    type = is_byte ? indim_type_is_signed_int(type) ? INDIM_S8 : INDIM_U8 : type;
    return indim_matmul_is_small_int(type) ? type : INDIM_TYPE_INVALID;
  }
  if (p->sum != INDIM_F32 && p->sum != INDIM_F64) {
    return INDIM_TYPE_INVALID;
  }
  return takes(p, p->lhs->shape->type, p->rhs->shape->type) ? type : p->sum;
}

// Sides from which copies pay. A nest converts each half that it multiplies for every tile of rows; those of bf16 are multiplied in
// groups of at least so many columns.
static int64_t least_packed_side(const indim_product *p) {
  bool is_row = p->vector_dim >= 0 && p->vector_dim < p->out_rank;
  bool is_fetched = indim_product_is_fetched_by_lanes(p);
  bool has_few_lanes = is_row && p->sizes[p->vector_dim] < INDIM_COST_PACKED_SIDE;
  indim_type type = p->lhs->shape->type;
  if (indim_type_bytes(type) == 2 && indim_type_is_float(type) && (is_fetched || has_few_lanes)) {
    return type == INDIM_BF16 ? INDIM_COST_HOST_SIDE : INDIM_COST_HOST_SIDE_ALONG;
  }
  return is_fetched ? INDIM_COST_FETCHED_SIDE : INDIM_COST_PACKED_SIDE;
}

bool indim_product_call_packed(indim_product *p) {
  indim_lowering *l = p->l;
  int64_t m = indim_product_size_of_group(p, INDIM_PRODUCT_LEFT);
  int64_t n = indim_product_size_of_group(p, INDIM_PRODUCT_RIGHT);
  int64_t k = indim_product_size_of_group(p, INDIM_PRODUCT_CONTRACTED);
  int64_t work = indim_index_mul_saturated(indim_index_mul_saturated(m, n), k);
  int64_t least = least_packed_side(p);
  indim_type lhs_type = factor_type(p, p->lhs);
  indim_type rhs_type = factor_type(p, p->rhs);
  bool is_large = work >= (has_lanes_of_batch(p) ? INDIM_COST_PACKED_BATCH : INDIM_COST_HOST_PRODUCT) && m >= least &&
                  n >= least && k >= INDIM_COST_PACKED_SIDE;
  lane_moves moves = moves_of(p);
  is_large = is_large || (moves != LANES_WHOLE && pays(p->item, l->target->vector_bytes, m, n, k, moves));
  bool is_plain = lhs_type != INDIM_TYPE_INVALID && rhs_type != INDIM_TYPE_INVALID && l->loop_depth == 0 &&
                  is_cheap(p->lhs) && is_cheap(p->rhs) && p->item->place.tiled == NULL;
  if (!is_plain || work < LEAST_ASKED || !indim_lower_choose(l, p->item->instr, INDIM_DECISION_LIBRARY, is_large)) {
    return false;
  }
  indim_element_forget(l);
  matrix lhs = need_matrix(p, true, lhs_type);
  matrix rhs = need_matrix(p, false, rhs_type);
  const indim_location wanted = p->item->place;
  int64_t out_batch = 0;
  int64_t out_row = 0;
  bool is_copied = !read_result(p, &wanted, &out_batch, &out_row);
  if (is_copied && !indim_lower_failed(l)) {
    indim_shape shape = *p->item->shape;
    shape.type = p->sum;
    shape.has_layout = true;
    shape.layout = (indim_layout){.rank = shape.rank};
    for (int32_t d = 0; d < shape.rank; d++) {
      shape.layout.minor_to_major[d] = shape.rank - 1 - d;
    }
    p->item->place = indim_location_new(l, &shape, p->item->instr->name.data);
  }
  if (indim_lower_failed(l)) {
    return true;
  }
  (void)read_result(p, &p->item->place, &out_batch, &out_row);
  indim_host_matmul numbers = {.type = p->sum,
                               .batch = indim_product_size_of_group(p, INDIM_PRODUCT_BATCH),
                               .m = m,
                               .n = n,
                               .k = k,
                               .lhs_batch = lhs.batch,
                               .lhs_m = lhs.free,
                               .lhs_k = lhs.contracted,
                               .rhs_batch = rhs.batch,
                               .rhs_k = rhs.contracted,
                               .rhs_n = rhs.free,
                               .out_batch = out_batch,
                               .out_m = out_row,
                               .lhs_type = lhs_type,
                               .rhs_type = rhs_type};
  indim_storage *storages[STORAGES] = {p->item->place.storage, lhs.storage, rhs.storage};
  indim_value_id addresses[STORAGES] = {indim_location_start(l, &p->item->place), lhs.address, rhs.address};
  indim_loop_region_begin(&l->b, storages, 1);
  call_host(l, storages, addresses, numbers, 1, NULL);
  indim_element_forget(l);
  if (is_copied && !indim_lower_failed(l)) {
    indim_nest_copy(l, p->item, &wanted);
    p->item->place = wanted;
  }
  return true;
}
