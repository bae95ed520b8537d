// Nests that fill one array: computed element by element, or copied. Dimensions are split where a layout or a reshape
// divides their index.
#include <string.h>

#include "loop/ir/build.h"
#include "loop/nest/element.h"
#include "loop/target/cost.h"

enum { MAX_UNROLL_COST = 60 };  // above, an unrolled step is long code for little gain

// A part of an array, with split dimensions: a step of dimension p is |factor| elements along dimension dim[p] of the
// array.
typedef struct region {
  int32_t rank;
  int64_t sizes[INDIM_MAX_RANK];
  int32_t dim[INDIM_MAX_RANK];
  int64_t factor[INDIM_MAX_RANK];
  bool is_split[INDIM_MAX_RANK];   // results from a split
  int64_t offset[INDIM_MAX_RANK];  // of the region, per dimension of the array
} region;

typedef struct filling {
  indim_flow_item *item;
  const indim_location *at;
  int64_t cost;
  bool is_copy;
  region part;  // the region being filled
} filling;

static void fill_body(indim_nest *nest, indim_element_ctx *k, const indim_coord *index) {
  const filling *f = nest->user;
  indim_coord whole[INDIM_MAX_RANK];
  for (int32_t d = 0; d < f->item->shape->rank; d++) {
    whole[d] = indim_coord_const(k, f->part.offset[d]);
  }
  for (int32_t p = 0; p < f->part.rank; p++) {
    int32_t d = f->part.dim[p];
    whole[d] = indim_coord_add(k, whole[d], indim_coord_scale(k, index[p], f->part.factor[p], 0));
  }
  indim_value_id value =
      f->is_copy ? indim_value_at_lanes(k, f->item, whole, 0) : indim_element_compute(k, f->item, whole);
  if (!indim_lower_failed(k->l)) {
    value = indim_loop_convert(&k->l->b, value, f->at->storage->type);
    indim_store_at(k, f->item->shape, f->at, whole, value);
  }
}

// Whether stores are non-temporal: a result without later reads that exceeds the caches together with its inputs.
static bool is_non_temporal(indim_nest *nest, const indim_flow_item *item, const indim_location *at) {
  enum { LEAST_STREAMED = 1 << 16 };
  int64_t cache = nest->l->target->cache_bytes[2] > 0 ? nest->l->target->cache_bytes[2] : INT64_C(16) << 20;
  int64_t bytes = indim_shape_element_count(item->shape) * indim_type_bytes(item->shape->type);
  int64_t total = bytes;
  for (int32_t i = 0; i < nest->list->count; i++) {
    const indim_access *access = &nest->list->accesses[i];
    bool is_new = access->item != NULL;
    for (int32_t j = 0; j < i && is_new; j++) {
      is_new = nest->list->accesses[j].item == NULL || nest->list->accesses[j].storage != access->storage;
    }
    int64_t own = indim_index_mul_saturated(access->storage->elements, indim_type_bytes(access->storage->type));
    total = is_new ? indim_index_add_saturated(total, own) : total;
  }
  bool pays = bytes >= cache * 3 / 4 && total >= cache * 7 / 4 && !nest->l->target->prefetches_stores;
  return at->storage->kind == INDIM_STORAGE_RESULT && item->use_count == 1 && bytes >= LEAST_STREAMED &&
         indim_lower_choose(nest->l, nest->l->b.origin, INDIM_DECISION_NON_TEMPORAL, pays);
}

// The strides of the store; NULL when not constant.
static const int64_t *stored_strides(const indim_access_list *list) {
  const int64_t *strides = NULL;
  for (int32_t i = 0; i < list->count; i++) {
    strides = list->accesses[i].item == NULL ? list->accesses[i].strides : strides;
  }
  return strides;
}

// Splitting -----------------------------------------------------------------------------------------------------------
//
// Where an index is divided, as in a tiled layout or after a reshape, addresses are not affine. A dimension that is
// split where its quotient changes becomes two loops, in which all addresses are affine again:
//
//   f32[1024]{0:T(128)}     address of 128 i + j: 128 i + j
//   f32[1000]{0:T(128)}     the same for i < 7; then a region of its own for the last 104

enum { MAX_SPLITS = 6, MAX_REGIONS = 32 };

static void analyze_region(indim_nest *nest, filling *f, indim_access_list *list) {
  const indim_flow_item *item = f->item;
  *nest = (indim_nest){.l = nest->l, .rank = f->part.rank, .cost = f->cost, .body = fill_body, .user = f};
  memcpy(nest->sizes, f->part.sizes, (size_t)nest->rank * sizeof *nest->sizes);
  // Addresses are affine only within a part of a split: its dimensions are not collapsed with others.
  for (int32_t p = 0; p < nest->rank; p++) {
    bool is_row = item->separate_row_dims > 0 && f->part.dim[p] >= item->shape->rank - item->separate_row_dims;
    nest->group[p] = f->part.is_split[p] ? (uint8_t)(2 + p) : is_row ? 1 : 0;
  }
  nest->may_thread = true;
  indim_nest_analyze(nest, list);
}

// The number of accesses that are not affine in the indices.
static int32_t non_affine_count(const indim_access_list *list) {
  int32_t count = 0;
  for (int32_t i = 0; i < list->count; i++) {
    count += list->accesses[i].strides == NULL ? 1 : 0;
  }
  return count;
}

// Restricts dimension |p| to |count| elements starting at |from|.
static void narrow(region *r, int32_t p, int64_t from, int64_t count) {
  r->offset[r->dim[p]] += from * r->factor[p];
  r->sizes[p] = count;
}

// Splits dimension |p| of |r| by |part|, after |first| elements; the remainders go to |out_remainders|. Returns how
// many.
static int32_t split_dim(region *r, int32_t p, int64_t part, int64_t first, region *out_remainders) {
  int32_t count = 0;
  int64_t size = r->sizes[p];
  first = first < size ? first : size;
  int64_t parts = (size - first) / part;
  int64_t end = parts > 0 ? first + parts * part : size;
  if (first > 0) {
    out_remainders[count] = *r;
    narrow(&out_remainders[count++], p, 0, first);
  }
  if (end < size) {
    out_remainders[count] = *r;
    narrow(&out_remainders[count++], p, end, size - end);
  }
  narrow(r, p, first, end - first);
  if (parts > 1) {
    size_t tail = (size_t)(r->rank - p);
    memmove(r->sizes + p + 1, r->sizes + p, tail * sizeof *r->sizes);
    memmove(r->dim + p + 1, r->dim + p, tail * sizeof *r->dim);
    memmove(r->factor + p + 1, r->factor + p, tail * sizeof *r->factor);
    memmove(r->is_split + p + 1, r->is_split + p, tail * sizeof *r->is_split);
    r->is_split[p] = r->is_split[p + 1] = true;
    r->rank++;
    r->sizes[p] = parts;
    r->sizes[p + 1] = part;
    r->factor[p] *= part;
  }
  return count;
}

// Splits dimensions of |f|'s region, if that makes accesses affine. Adds the remainders to |todo| and returns its new
// count. |list| is the access analysis of the region, before and after.
static int32_t split_region(indim_nest *nest, filling *f, indim_access_list *list, region *todo, int32_t count) {
  filling trial = *f;
  int32_t remainders = count;
  int32_t non_affine = non_affine_count(list);
  bool is_split = non_affine > 0;
  for (int32_t s = 0; s < MAX_SPLITS && is_split && !indim_lower_failed(nest->l); s++) {
    int32_t p = 0;
    while (p < trial.part.rank && (list->split_factor[p] == 0 || list->split_factor[p] >= trial.part.sizes[p])) {
      p++;
    }
    is_split = p < trial.part.rank && remainders + 2 <= MAX_REGIONS && trial.part.rank < INDIM_MAX_RANK;
    if (is_split) {
      remainders += split_dim(&trial.part, p, list->split_factor[p], list->split_offset[p], todo + remainders);
      analyze_region(nest, &trial, list);
    }
  }
  if (non_affine_count(list) < non_affine) {
    *f = trial;
    nest->user = f;
    return remainders;
  }
  analyze_region(nest, f, list);
  return count;
}

// Guards may be too many for a nest that is split at all of them, as where arrays are put side by side that are padded differently:
// then the dimension with the most of them is cut here, and what guards are left is asked of each part by itself. The first part
// stays in |f|, the others are added to |todo|, whose new count is returned. |list| is the access analysis of the region.
static int32_t cut_region(indim_nest *nest, filling *f, indim_access_list *list, region *todo, int32_t count) {
  int64_t borders[INDIM_MAX_SPLIT_POINTS + 2];
  int32_t segments = 1;
  int32_t p = 0;
  for (int32_t d = 0; d < nest->rank; d++) {
    int32_t own = indim_nest_borders(nest, d, 1, borders);
    segments = segments < INDIM_NEST_SEGMENTS ? segments * own : segments;
    p = list->split_point_count[d] > list->split_point_count[p] ? d : p;
  }
  int32_t parts = indim_nest_borders(nest, p, 1, borders);
  if (segments <= INDIM_NEST_SEGMENTS || parts == 1 || count + parts > MAX_REGIONS) {
    return count;
  }
  for (int32_t i = parts - 1; i > 0; i--) {
    todo[count] = f->part;
    narrow(&todo[count++], p, borders[i], borders[i + 1] - borders[i]);
  }
  narrow(&f->part, p, 0, borders[1]);
  analyze_region(nest, f, list);
  return count;
}

bool indim_nest_stacks(const indim_instr *instr) {
  int64_t count = 0;
  int32_t last = instr->shape->rank - 1;
  return instr->op == INDIM_OP_CONCATENATE && indim_instr_ints(instr, INDIM_ATTR_DIMENSIONS, &count)[0] == last &&
         instr->shape->sizes[last] <= INDIM_COST_UNROLLED_LOOP;
}

// Whether vectors along |dim|, which meet rows of all elements along |row|, are stored as whole ones by shuffles (stack.c): every
// element of a row is the same, or rows of memory are moved backwards. Vectors along rows would be shorter than the registers.
static bool moves_rows(const indim_nest *nest, int32_t dim, int32_t row) {
  const indim_access_list *list = nest->list;
  int64_t size = nest->sizes[row];
  bool moves = dim != row && size > 1 && size < nest->lanes && size <= INDIM_STACK_ROW &&
               size * nest->lanes <= INDIM_STACK_LANES && nest->sizes[dim] >= nest->lanes && !list->is_full &&
               !list->used_as_value[row];
  int32_t loads = 0;
  int32_t moved = 0;
  for (int32_t i = 0; i < list->count && moves; i++) {
    const indim_access *access = &list->accesses[i];
    const int64_t *strides = access->strides;
    bool is_stored = access->item == NULL;
    bool is_repeated = strides != NULL && strides[row] == 0 && indim_index_abs(strides[dim]) <= 1;
    bool is_moved = strides != NULL && strides[row] == 1 && strides[dim] == (is_stored ? size : -size);
    moves = is_moved || (is_repeated && !is_stored);
    loads += is_stored ? 0 : 1;
    moved += !is_stored && is_moved && !access->is_packed ? 1 : 0;
    moves = moves && access->storage->type != INDIM_PRED && !indim_type_is_complex(access->storage->type);
  }
  return moves && (moved == 0 || (moved == 1 && loads == 1 && nest->cost == 0));
}

// Whether no element of |item| is computed, but taken from elsewhere.
static bool only_moves(const indim_flow_item *item, int depth) {
  enum { FAR_ENOUGH = 12 };
  bool is = depth < FAR_ENOUGH && item->kind == INDIM_FLOW_OP &&
            (indim_op_moves(item->instr->op) || item->instr->op == INDIM_OP_CONSTANT);
  for (int32_t k = 0; k < item->operand_count && is; k++) {
    const indim_flow_item *operand = item->operands[k];
    is = operand->placement != INDIM_PLACEMENT_INLINE || only_moves(operand, depth + 1);
  }
  return is;
}

// Whether rows along |row|, parts of which come from rows of other lengths, or are the same everywhere (a pad, arrays side by side, a
// part of a row), are put together in registers, with vectors along |dim| (stack.c). Vectors along rows would be short; what is
// computed must be loaded by vectors that are taken apart.
static bool joins_rows(const indim_nest *nest, int32_t dim, int32_t row) {
  enum { MOST_COST = 64 };
  const indim_access_list *list = nest->list;
  int64_t size = nest->sizes[row];
  bool joins = dim != row && size > 1 && size <= 2 * (int64_t)nest->lanes && size <= INDIM_STACK_ROW &&
               size * nest->lanes <= INDIM_STACK_LANES && indim_nest_longest_segment(nest, dim) >= nest->lanes &&
               indim_nest_longest_segment(nest, row) < nest->lanes && !list->is_full &&
               nest->cost * size <= MOST_COST && list->count > 1;
  bool is_stacked = false;
  const filling *f = nest->user;
  bool is_moved = joins && (f->is_copy || only_moves(f->item, 0));
  for (int32_t i = 0; i < list->count && joins; i++) {
    const indim_access *access = &list->accesses[i];
    const int64_t *strides = access->strides;
    indim_type type = access->storage->type;
    int64_t stride = strides == NULL ? 0 : indim_index_abs(strides[dim]);
    bool is_stored = access->item == NULL;
    // Narrow elements are not gathered; moving them alone leaves time for one by one.
    int32_t bytes = indim_type_bytes(type);
    bool is_taken_apart = is_moved || bytes > 2 || indim_loop_is_narrow_stride(stride, bytes);
    joins = strides != NULL && !access->is_packed && type != INDIM_PRED && !indim_type_is_complex(type) &&
            (is_stored ? strides[row] == 1 && strides[dim] == size
                       : stride <= INDIM_LOOP_MOST_STRIDE ||
                             (nest->cost <= 1 && stride <= INDIM_STACK_ROW && is_taken_apart));
    is_stacked = is_stacked || is_stored;
  }
  return joins && is_stacked;
}

// Of a long body whose operations mostly wait for each other (a recurrence, a polynomial): 1 where it is one chain, 2 where few. Else 0.
static int32_t chains(const indim_nest *nest, const indim_flow_item *item) {
  bool is_one = 10 * nest->cost <= INDIM_COST_ONE_CHAIN * (int64_t)item->chain;
  bool are_few = 10 * nest->cost <= INDIM_COST_FEW_CHAINS * (int64_t)item->chain;
  return nest->cost < INDIM_COST_JAMMED_LEAST ? 0 : is_one ? 1 : are_few ? 2 : 0;
}

// Whether at least half of what is loaded along the vectors is the same all along |dim|: a body that is written out for that dimension
// loads it, and computes from it, once.
static bool is_mostly_shared(const indim_nest *nest, int32_t dim) {
  int32_t loads = 0;
  int32_t shared = 0;
  for (int32_t i = 0; i < nest->list->count; i++) {
    const int64_t *strides = nest->list->accesses[i].item == NULL ? NULL : nest->list->accesses[i].strides;
    bool is_along = strides != NULL && strides[nest->vector_dim] != 0;
    loads += is_along;
    shared += is_along && strides[dim] == 0;
  }
  return shared > 0 && 2 * shared >= loads;
}

// A short dimension along which the result is contiguous, where vectors are stored with a stride of its size: those of all its
// elements together fill memory, and are interleaved. -1: none.
static int32_t interleaved_dim(const indim_nest *nest, const indim_flow_item *item) {
  const indim_access_list *list = nest->list;
  for (int32_t i = 0; i < list->count && !list->is_full; i++) {
    const int64_t *strides = list->accesses[i].item == NULL ? list->accesses[i].strides : NULL;
    for (int32_t d = 0; d < nest->rank && strides != NULL; d++) {
      bool is_short = nest->sizes[d] > 1 && nest->sizes[d] <= INDIM_COST_UNROLLED_LOOP && d != nest->vector_dim &&
                      (nest->cost <= INDIM_COST_LONG_BODY || (is_mostly_shared(nest, d) && chains(nest, item) == 0));
      is_short = is_short || moves_rows(nest, nest->vector_dim, d) || joins_rows(nest, nest->vector_dim, d);
      if (is_short && strides[d] == 1 && strides[nest->vector_dim] == nest->sizes[d]) {
        return d;
      }
    }
  }
  return -1;
}

// Whether all steps along |dim| are so short that vectors along it are taken apart and interleaved in registers.
static bool interleaves_along(const indim_nest *nest, int32_t dim) {
  const indim_access_list *list = nest->list;
  bool is_short = nest->sizes[dim] >= nest->lanes;
  for (int32_t i = 0; i < list->count && is_short; i++) {
    const indim_access *access = &list->accesses[i];
    bool is_stored = access->item == NULL;
    is_short =
        access->strides != NULL &&
        (is_stored ? access->strides[nest->vector_dim] == 1 && access->strides[dim] == nest->sizes[nest->vector_dim]
                   : indim_index_abs(access->strides[dim]) <= INDIM_COST_UNROLLED_LOOP);
  }
  return is_short;
}

// Vectors along a dimension of two or three elements are next to empty.
static void prefer_interleaved(indim_nest *nest) {
  enum { SHORT = 3 };
  bool may_change = nest->vector_dim >= 0 && !nest->transposes && !nest->list->is_full;
  bool is_short =
      may_change && indim_nest_longest_segment(nest, nest->vector_dim) <= SHORT && nest->cost <= INDIM_COST_LONG_BODY;
  for (int32_t d = nest->rank - 1; d >= 0 && may_change; d--) {
    bool is_better = (is_short && interleaves_along(nest, d)) || moves_rows(nest, d, nest->vector_dim) ||
                     joins_rows(nest, d, nest->vector_dim);
    if (d != nest->vector_dim && is_better) {
      nest->vector_dim = d;
      return;
    }
  }
}

// What the elements of a row take beside the body if the vectors are along |dim| and not along rows, so that those of an array
// with rows lie apart: its lanes are moved one by one, and where the arrays do not stay in a cache near, each pass over a column
// of them reads all lines again.
static int64_t cost_of_apart(const indim_nest *nest, int32_t dim, int64_t row) {
  enum { MOVED = 2, LINE = 8 };  // operations for a lane, for a line of memory
  bool is_near = indim_nest_bytes(nest) <= nest->l->target->cache_bytes[1];
  int64_t each = 0;  // in INDIM_TARGET_LINE
  for (int32_t i = 0; i < nest->list->count; i++) {
    const indim_access *access = &nest->list->accesses[i];
    bool is_found = access->strides == NULL;  // by an index in memory
    int64_t stride = is_found ? INDIM_TARGET_LINE : indim_index_abs(access->strides[dim]);
    bool is_moved = is_found ? indim_access_is_adjacent(access, nest->vector_dim) : stride > 1;
    int64_t bytes = is_near ? 0 : stride * indim_type_bytes(access->storage->type);
    bytes = bytes < INDIM_TARGET_LINE ? bytes : INDIM_TARGET_LINE;
    each += is_moved ? MOVED * INDIM_TARGET_LINE + LINE * bytes * (access->item == NULL ? 2 : 1) : 0;
  }
  return row * each / INDIM_TARGET_LINE;
}

// Rows shorter than a vector, along the vector dimension, take the body once for each power of two in their length. One vector of a
// whole row takes it once, and vectors along a longer dimension less, if the body is long enough for what they move.
static void fill_lanes(indim_nest *nest) {
  int32_t dim = nest->vector_dim;
  bool is_plain = dim >= 0 && !nest->transposes && nest->stacked == 0 && !nest->list->is_full;
  int64_t row = is_plain ? nest->sizes[dim] : 0;
  if (row < 2 || row >= nest->lanes || nest->cost < INDIM_COST_FULL_LANES ||
      indim_nest_longest_segment(nest, dim) != row) {
    return;
  }
  int32_t pieces = indim_piece_count(row, nest->lanes);
  int64_t least = indim_index_mul_saturated(nest->cost, pieces) * 3 / 4;
  for (int32_t d = 0; d < nest->rank; d++) {
    int64_t cost = indim_index_mul_saturated(nest->cost, row) / nest->lanes + cost_of_apart(nest, d, row);
    if (d != dim && indim_nest_longest_segment(nest, d) >= 2 * (int64_t)nest->lanes && cost < least) {
      nest->vector_dim = d;
      least = cost;
    }
  }
  if (pieces > 1 && nest->cost < least) {
    nest->vector_dim = dim;
    nest->lanes = (int32_t)row;
    nest->unroll = 1;
  }
}

// The dimension of a few arrays that are put side by side: what they share is computed once for a row. -1: none.
static int32_t stacked_dim(const indim_nest *nest, const filling *f) {
  int32_t p = f->part.rank - 1;
  bool is_row =
      !f->is_copy && indim_nest_stacks(f->item->instr) && p >= 0 && f->part.dim[p] == f->item->shape->rank - 1;
  bool is_whole = is_row && nest->sizes[p] == f->item->shape->sizes[f->item->shape->rank - 1];
  if (nest->vector_dim < 0) {
    return -1;
  }
  return is_whole && p != nest->vector_dim ? p : interleaved_dim(nest, f->item);
}

// Reads of a loop's output use that loop's unroll factor, so that the two loops can be fused (loop_fusion.c).
static void match_unroll(indim_nest *nest, indim_flow_item *item) {
  for (int32_t i = 0; i < nest->list->count && nest->vector_dim >= 0; i++) {
    const indim_access *access = &nest->list->accesses[i];
    bool is_row = access->item != NULL && access->strides != NULL && access->strides[nest->vector_dim] == 1;
    if (is_row && access->item->unroll > 0 && nest->cost <= MAX_UNROLL_COST &&
        indim_shape_element_count(access->item->shape) == indim_shape_element_count(item->shape)) {
      nest->unroll = access->item->unroll;
    }
  }
  item->unroll = nest->unroll;
}

// Whether the lanes of an access are moved one by one, which is two instructions for each.
static bool is_lane_by_lane(const indim_nest *nest, const indim_access *access) {
  if (access->strides != NULL && indim_index_abs(access->strides[nest->vector_dim]) <= INDIM_LOOP_MOST_STRIDE) {
    return false;
  }
  return access->item == NULL || !nest->l->target->has_gather;
}

// A vector that is moved lane by lane is long code and hides the loop around it: several of them one after the other take as many
// times as long to generate, and gain nothing; nor does one of more lanes than the narrowest registers have, which such stores take
// apart, if it is only moved.
static void limit_moved(indim_nest *nest, bool is_only_moved) {
  enum { NARROWEST = 16 };
  int32_t moved = 0;
  bool is_stored = false;
  for (int32_t i = 0; i < nest->list->count && nest->vector_dim >= 0 && !nest->transposes; i++) {
    const indim_access *access = &nest->list->accesses[i];
    bool is_moved = is_lane_by_lane(nest, access);
    moved += is_moved;
    is_stored = is_stored || (is_moved && access->item == NULL);
  }
  int32_t lanes = NARROWEST / nest->list->widest;
  bool is_long = is_stored && is_only_moved && nest->cost <= INDIM_COST_MANY_COPIES && lanes > 0 && nest->lanes > lanes;
  nest->lanes = is_long ? lanes : nest->lanes;
  int32_t most = moved == 0 ? nest->unroll : moved == 1 ? 2 : 1;
  nest->unroll = nest->unroll < most ? nest->unroll : most;
}

// Whether non-temporal stores would leave lines partially filled to other stores or loads, which flush them to memory: vectors that
// are not whole lines, in rows that do not begin with one and are not aligned either (indim_nest_vector_loop), and loads
// between the stores of a line that is transposed in registers.
static bool flushes_partial_lines(const indim_nest *nest) {
  bool are_lines = true;
  for (int32_t i = 0; i < nest->list->count && nest->vector_dim >= 0; i++) {
    const indim_access *access = &nest->list->accesses[i];
    bool is_store = access->item == NULL;
    are_lines = are_lines && (!is_store || nest->lanes * indim_type_bytes(access->storage->type) >= INDIM_TARGET_LINE);
  }
  bool is_aligned = nest->vector_dim >= 0 && nest->cost <= INDIM_COST_MANY_COPIES &&
                    indim_nest_longest_segment(nest, nest->vector_dim) >= INDIM_COST_ALIGNED_ROW * nest->lanes;
  if (!nest->transposes) {
    return !are_lines && !is_aligned && indim_nest_rows_are_misaligned(nest);
  }
  bool is_interrupted = indim_transpose_is_mixed(nest) && !indim_nest_squares_are_lines(nest);
  return nest->side == 0 && (is_interrupted || indim_nest_rows_are_misaligned(nest));
}

// Begins a region that writes |to| and the nest's panels.
static void begin_region(indim_nest *nest, indim_storage *to) {
  indim_storage *written[1 + INDIM_MAX_PANELS] = {to};
  memcpy(written + 1, nest->panels, (size_t)nest->panel_count * sizeof *written);
  indim_loop_region_begin(&nest->l->b, written, 1 + nest->panel_count);
}

// Whether a copy is of another type, as of an array that a kernel wants wider.
static bool converts(const indim_flow_item *item, const indim_location *at) {
  bool is_other =
      item->place.storage != NULL && item->place.packed_bits == 0 && item->place.storage->type != item->shape->type;
  return is_other || at->storage->type != item->shape->type;
}

// How many vectors are computed side by side. A long body whose operations mostly wait for each other leaves most of the processor
// idle, and the next vector is too far behind to be looked at: its instructions come between. Functions of complex numbers are
// several times as long as their costs say.
static int32_t jam_of(const indim_nest *nest, const indim_flow_item *item) {
  bool is_plain = nest->vector_dim >= 0 && !nest->transposes && nest->stacked == 0 && nest->panel_count == 0 &&
                  nest->unroll == 1 && !nest->streams;
  int32_t count = is_plain ? chains(nest, item) : 0;
  bool has_room = nest->l->target->vector_registers >= 32 && !indim_type_is_complex(item->shape->type);
  int32_t jam = count == 1 && has_room ? 4 : count > 0 ? 2 : 1;
  return jam * nest->cost <= INDIM_COST_JAMMED_MOST ? jam : 1;
}

// Whether the end of a row may be computed by one vector that overlaps the one before: its elements are long to compute, and none is
// read again that has been overwritten.
static bool may_repeat(const indim_nest *nest, const indim_storage *to) {
  bool may = nest->vector_dim >= 0 && !nest->transposes && nest->stacked == 0 && !nest->streams &&
             nest->cost > INDIM_COST_MANY_COPIES;
  for (int32_t i = 0; i < nest->list->count && may; i++) {
    const indim_access *access = &nest->list->accesses[i];
    may = access->item == NULL || access->storage != to;
  }
  return may;
}

static void run_filling(indim_lowering *l, indim_flow_item *item, const indim_location *at, int64_t cost,
                        bool is_copy) {
  const indim_shape *shape = item->shape;
  indim_access_list *list = indim_lower_alloc(l, 1, sizeof *list);
  region *todo = indim_lower_alloc(l, MAX_REGIONS, sizeof *todo);
  filling f = {.item = item, .at = at, .cost = cost, .is_copy = is_copy};
  indim_nest nest = {.l = l};
  if (list == NULL || todo == NULL || indim_lower_failed(l) || indim_shape_element_count(shape) == 0) {
    return;
  }
  todo->rank = shape->rank;
  for (int32_t d = 0; d < shape->rank; d++) {
    todo->sizes[d] = shape->sizes[d];
    todo->dim[d] = d;
    todo->factor[d] = 1;
  }
  begin_region(&nest, at->storage);
  for (int32_t count = 1; count > 0 && !indim_lower_failed(l);) {
    f.part = todo[--count];
    analyze_region(&nest, &f, list);
    count = split_region(&nest, &f, list, todo, count);
    count = cut_region(&nest, &f, list, todo, count);
    indim_nest_choose(&nest, stored_strides(list));
    if (!converts(item, at)) {
      indim_nest_choose_transpose(&nest);
    }
    prefer_interleaved(&nest);
    nest.stacked = nest.transposes ? nest.stacked : stacked_dim(&nest, &f) + 1;
    fill_lanes(&nest);
    limit_moved(&nest, is_copy || only_moves(item, 0));
    bool is_wide = nest.stacked > 0 && nest.sizes[nest.stacked - 1] > 2;  // a body has as many vectors
    nest.unroll = is_wide ? 1 : nest.unroll;
    match_unroll(&nest, item);
    nest.streams = is_non_temporal(&nest, item, at);
    if (!converts(item, at)) {
      indim_nest_choose_panels(&nest);
      indim_nest_choose_joined(&nest);
    }
    nest.streams = nest.streams && !flushes_partial_lines(&nest);
    if (nest.panel_count > 0) {
      begin_region(&nest, at->storage);
    }
    nest.may_repeat = !is_copy && may_repeat(&nest, at->storage);
    nest.jam = is_copy ? 1 : jam_of(&nest, item);
    if (nest.jam > 1) {
      indim_lower_explain(l, item, "%d vectors side by side: most of its operations wait for each other",
                          (int)nest.jam);
    }
    indim_nest_run(&nest);
  }
}

void indim_nest_fill(indim_lowering *l, indim_flow_item *item, const indim_location *at) {
  run_filling(l, item, at, item->cost, false);
}

// Copies bytes if both arrays are contiguous with the same strides; returns false otherwise.
static bool copy_bytes(indim_lowering *l, const indim_flow_item *item, const indim_location *at) {
  const indim_location *from = &item->place;
  const indim_shape *shape = item->shape;
  if (from->storage == NULL || at->tiled != NULL || from->storage->type != at->storage->type ||
      !indim_location_is_dense(shape, from)) {
    return false;
  }
  for (int32_t d = 0; d < shape->rank; d++) {
    if (shape->sizes[d] != 1 && at->strides[d] != from->strides[d]) {
      return false;
    }
  }
  indim_loop_builder *b = &l->b;
  indim_value_id to_address = indim_location_start(l, at);
  indim_value_id from_address = indim_location_start(l, from);
  indim_storage *written[] = {at->storage};
  indim_loop_region_begin(b, written, 1);
  indim_loop_copy(b, at->storage, to_address, from->storage, from_address, indim_shape_element_count(shape));
  return true;
}

// Stores a register array element by element into a tiled layout.
static void copy_elements(indim_lowering *l, indim_flow_item *item, const indim_location *at) {
  int64_t index[INDIM_MAX_RANK] = {0};
  indim_storage *written[] = {at->storage};
  indim_loop_region_begin(&l->b, written, 1);
  indim_element_forget(l);
  indim_element_ctx k = {.l = l, .lanes = 1};
  do {
    indim_coord coords[INDIM_MAX_RANK];
    for (int32_t d = 0; d < item->shape->rank; d++) {
      coords[d] = (indim_coord){indim_loop_index(&l->b, index[d]), 0};
    }
    indim_store_at(&k, item->shape, at, coords, indim_value_at(&k, item, coords, 0));
  } while (indim_index_next(item->shape, index) && !indim_lower_failed(l));
}

void indim_nest_copy(indim_lowering *l, indim_flow_item *item, const indim_location *at) {
  bool is_constant = item->kind == INDIM_FLOW_OP && item->instr->op == INDIM_OP_CONSTANT;
  if (indim_lower_failed(l) || indim_shape_element_count(item->shape) == 0 || at->storage == NULL) {
    return;
  }
  if (item->has_regs && item->place.storage == NULL) {
    if (at->tiled != NULL) {
      copy_elements(l, item, at);
      return;
    }
    indim_value_id address = indim_location_start(l, at);
    indim_storage *written[] = {at->storage};
    indim_loop_region_begin(&l->b, written, 1);
    indim_regs_store(&l->b, &item->regs, at->storage, address, at->strides);
  } else if (is_constant || !copy_bytes(l, item, at)) {
    run_filling(l, item, at, 0, true);
  }
}
