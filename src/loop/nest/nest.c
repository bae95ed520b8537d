// Loop nests over the elements of an array. The access analysis determines the loop order, which dimensions are
// collapsed, and which is vectorized. The index set is split where a guard (of a pad or a concatenate) changes its
// value, so that no guard is left inside a segment.
#include <string.h>

#include "loop/ir/build.h"
#include "loop/nest/element.h"
#include "loop/target/cost.h"

enum { LEAST_SQUARE = 4 };

// Choosing ------------------------------------------------------------------------------------------------------------

bool indim_nest_can_collapse(const indim_nest *nest, int32_t outer, int32_t inner) {
  const indim_access_list *list = nest->list;
  if (list->is_full || list->used_as_value[outer] || list->used_as_value[inner] ||
      nest->group[outer] != nest->group[inner]) {
    return false;
  }
  for (int32_t i = 0; i < list->count; i++) {
    int64_t far = indim_access_stride(&list->accesses[i], outer);
    int64_t near = indim_access_stride(&list->accesses[i], inner);
    if (far == INDIM_NO_STRIDE || near == INDIM_NO_STRIDE || far != near * nest->sizes[inner]) {
      return false;
    }
  }
  return true;
}

int64_t indim_nest_longest_segment(const indim_nest *nest, int32_t dim) {
  int64_t borders[INDIM_MAX_SPLIT_POINTS + 2];
  int32_t count = indim_nest_borders(nest, dim, 1, borders);
  int64_t longest = 0;
  for (int32_t i = 0; i < count; i++) {
    longest = borders[i + 1] - borders[i] > longest ? borders[i + 1] - borders[i] : longest;
  }
  return longest;
}

// Profit of vectorizing a dimension: contiguous stores weigh most, then loads; invariant accesses count half.
static int64_t vector_score(const indim_nest *nest, int32_t dim) {
  const indim_access_list *list = nest->list;
  int64_t score = 0;
  for (int32_t i = 0; i < list->count; i++) {
    const indim_access *access = &list->accesses[i];
    int64_t stride = indim_access_stride(access, dim);
    int64_t weight = access->item == NULL ? 3 : 2;
    score += indim_access_is_adjacent(access, dim) ? 2 * weight : stride == 0 ? weight : 0;
  }
  return score;
}

// Whether an array that every dimension steps through is contiguous along |dim|, which fills half a vector at least, or four
// lanes where little is computed. Lanes along another dimension would touch a cache line each, and each line again for every step
// along this one.
static bool fills_lines(const indim_nest *nest, int32_t dim, int32_t lanes) {
  const indim_access_list *list = nest->list;
  int64_t size = indim_nest_longest_segment(nest, dim);
  bool is_long = 2 * size >= lanes || (size >= 4 && nest->cost <= INDIM_COST_MANY_COPIES);
  bool fills = false;
  for (int32_t i = 0; i < list->count && is_long; i++) {
    const int64_t *strides = list->accesses[i].strides;
    bool is_whole = indim_access_is_adjacent(&list->accesses[i], dim);
    for (int32_t d = 0; d < nest->rank && is_whole; d++) {
      is_whole = nest->sizes[d] == 1 || strides == NULL || strides[d] != 0;
    }
    fills = fills || is_whole;
  }
  return fills;
}

// Whether lanes along |dim| are loaded and stored one by one: no access is contiguous, or of so small a stride that vectors are
// taken apart.
static bool is_scattered(const indim_nest *nest, int32_t dim) {
  const indim_access_list *list = nest->list;
  for (int32_t i = 0; i < list->count; i++) {
    const int64_t *strides = list->accesses[i].strides;
    if (strides == NULL || indim_index_abs(strides[dim]) <= INDIM_LOOP_MOST_STRIDE) {
      return false;
    }
  }
  return true;
}

static int32_t choose_vector_dim(const indim_nest *nest, int32_t lanes) {
  int32_t best = -1;
  int64_t best_score = -1;
  bool any_fills = false;
  for (int32_t d = 0; d < nest->rank; d++) {
    any_fills = any_fills || (nest->sizes[d] > 1 && fills_lines(nest, d, lanes));
  }
  for (int32_t p = nest->rank - 1; p >= 0; p--) {
    int32_t d = nest->order[p];
    if (nest->sizes[d] == 1 || (any_fills && !fills_lines(nest, d, lanes))) {
      continue;
    }
    enum { SCATTERED_LANES = 4 };
    int64_t most = is_scattered(nest, d) && lanes > SCATTERED_LANES ? SCATTERED_LANES : lanes;
    int64_t longest = indim_nest_longest_segment(nest, d);
    int64_t filled = longest < most ? longest : most;
    int64_t score = (vector_score(nest, d) + 1) * filled;
    if (score > best_score) {
      best_score = score;
      best = d;
    }
  }
  return best;
}

// Whether the nest computes only bf16, with contiguous accesses: the code generator splits such a vector into its even
// and odd elements, a vector of floats each (emit/program/legalize.c).
static bool is_bf16_row(const indim_nest *nest) {
  const indim_access_list *list = nest->list;
  bool is_row = list->has_bf16 && !list->has_others && nest->cost > 0 && !list->is_full && nest->vector_dim >= 0;
  for (int32_t i = 0; i < list->count && is_row; i++) {
    const int64_t *strides = list->accesses[i].strides;
    is_row = strides != NULL && (strides[nest->vector_dim] == 0 || strides[nest->vector_dim] == 1);
  }
  return is_row;
}

// The bytes of a lane of which vectors are full. A few wide values that are not in memory, as the index that random bits
// are made of, take two registers each rather than leave all others half empty.
static int32_t lane_bytes(const indim_access_list *list) {
  bool is_rare = list->widest == 8 && list->wide_values * INDIM_COST_RARE_WIDE <= list->values && !list->is_full;
  for (int32_t i = 0; i < list->count && is_rare; i++) {
    is_rare = indim_type_bytes(list->accesses[i].storage->type) < 8;
  }
  return is_rare ? 4 : list->widest;
}

void indim_nest_choose(indim_nest *nest, const int64_t *strides) {
  for (int32_t d = 0; d < nest->rank; d++) {
    nest->order[d] = d;
  }
  for (int32_t i = 1; strides != NULL && i < nest->rank; i++) {
    for (int32_t j = i;
         j > 0 && indim_index_abs(strides[nest->order[j - 1]]) < indim_index_abs(strides[nest->order[j]]); j--) {
      int32_t dim = nest->order[j];
      nest->order[j] = nest->order[j - 1];
      nest->order[j - 1] = dim;
    }
  }
  int32_t inner = -1;
  for (int32_t p = nest->rank - 1; p >= 0; p--) {
    int32_t d = nest->order[p];
    if (nest->sizes[d] == 1) {
      continue;
    }
    if (inner >= 0 && indim_nest_can_collapse(nest, d, inner)) {
      nest->sizes[inner] *= nest->sizes[d];
      nest->sizes[d] = 1;
    } else {
      inner = d;
    }
  }
  nest->lanes = nest->l->target->vector_bytes / lane_bytes(nest->list);
  nest->vector_dim = choose_vector_dim(nest, nest->lanes);
  nest->lanes *= is_bf16_row(nest) ? 2 : 1;
  nest->unroll = nest->cost <= INDIM_COST_MANY_COPIES ? 4 : nest->cost <= INDIM_COST_LONG_BODY ? 2 : 1;
}

// The dimension that is transposed with the vector's, or -1. A dimension that is shorter than a vector is transposed in smaller
// squares, and so are small elements of which a vector has more than there are registers.
static int32_t transposed_with(indim_nest *nest, int32_t vector_dim, int32_t lanes) {
  nest->vector_dim = vector_dim;
  nest->lanes = indim_piece_lanes(nest->sizes[vector_dim], lanes);
  int32_t dim = indim_transpose_dim(nest);
  while (dim < 0 && nest->lanes > LEAST_SQUARE) {
    nest->lanes /= 2;
    dim = indim_transpose_dim(nest);
  }
  return dim;
}

// Whether all results have that stride along |dim|.
static bool stores_by(const indim_nest *nest, int32_t dim, int64_t stride) {
  const indim_access_list *list = nest->list;
  bool does = !list->is_full;
  for (int32_t i = 0; i < list->count && does; i++) {
    does = list->accesses[i].item != NULL || indim_access_stride(&list->accesses[i], dim) == stride;
  }
  return does;
}

// The longest dimension along which the results, or their rows (|stacked|), are contiguous, or -1.
static int32_t stored_dim(const indim_nest *nest) {
  int32_t best = -1;
  for (int32_t d = 0; d < nest->rank; d++) {
    bool is_longest = nest->sizes[d] >= LEAST_SQUARE && (best < 0 || nest->sizes[d] > nest->sizes[best]);
    best = is_longest && stores_by(nest, d, indim_nest_row(nest)) ? d : best;
  }
  return best;
}

int64_t indim_nest_bytes(const indim_nest *nest) {
  int64_t bytes = 0;
  for (int32_t i = 0; i < nest->list->count; i++) {
    const indim_storage *storage = nest->list->accesses[i].storage;
    int64_t size = indim_index_mul_saturated(storage->elements, indim_type_bytes(storage->type));
    bytes = indim_index_add_saturated(bytes, size);
  }
  return bytes;
}

// The lanes of squares; 0: none. Complex elements move alone in the same time, with a third of the code, where they are computed
// with, as they have a register for each part then, or wait for memory, unless a column's lines are out of the cache before the next
// column is read; c128 always, which fill a register of the narrowest kind.
static int32_t lanes_of_squares(const indim_nest *nest) {
  bool are_words = false, are_long = false;
  for (int32_t i = 0; i < nest->list->count; i++) {
    indim_type type = nest->list->accesses[i].storage->type;
    are_words = are_words || type == INDIM_C64;
    are_long = are_long || type == INDIM_C128;
  }
  int64_t cache = nest->l->target->cache_bytes[1];
  bool fits = indim_nest_bytes(nest) <= cache;
  bool are_long_columns = nest->vector_dim >= 0 && nest->sizes[nest->vector_dim] > cache / INDIM_TARGET_LINE;
  bool gain = !are_long && (!are_words || (nest->cost == 0 && (fits || are_long_columns)));
  return !gain ? 0 : are_words && nest->lanes > 1 ? nest->lanes / 2 : nest->lanes;
}

// A dimension of two to four elements, along which all results are contiguous. -1: none.
static int32_t short_row(const indim_nest *nest) {
  for (int32_t d = 0; d < nest->rank; d++) {
    if (nest->sizes[d] > 1 && nest->sizes[d] <= INDIM_LOOP_MOST_STRIDE && stores_by(nest, d, 1)) {
      return d;
    }
  }
  return -1;
}

// The dimension that is transposed with |vector_dim|, or with the one along which results are contiguous: vectors along the longer one that
// is read would be stored lane by lane. -1: none.
static int32_t choose_squares(indim_nest *nest, int32_t vector_dim, int32_t lanes) {
  int32_t dim = vector_dim == nest->stacked - 1 ? -1 : transposed_with(nest, vector_dim, lanes);
  int32_t stored = dim < 0 ? stored_dim(nest) : -1;
  return stored >= 0 && stored != vector_dim ? transposed_with(nest, stored, lanes) : dim;
}

void indim_nest_choose_transpose(indim_nest *nest) {
  int32_t lanes = nest->lanes;
  int32_t side = lanes_of_squares(nest);
  int32_t vector_dim = nest->vector_dim;
  nest->transpose_dim = -1;
  nest->stacked = 0;
  if (vector_dim >= 0 && side > 0) {
    nest->transpose_dim = choose_squares(nest, vector_dim, side);
    nest->stacked = nest->transpose_dim < 0 ? short_row(nest) + 1 : 0;
    // A square's code is as many times as long as rows are.
    side = side < INDIM_COST_STACKED_SQUARE ? side : INDIM_COST_STACKED_SQUARE;
    nest->transpose_dim = nest->stacked > 0 ? choose_squares(nest, vector_dim, side) : nest->transpose_dim;
  }
  if (nest->transpose_dim >= 0 && !indim_lower_choose(nest->l, nest->l->b.origin, INDIM_DECISION_TRANSPOSE, true)) {
    nest->transpose_dim = -1;
  }
  nest->transposes = nest->transpose_dim >= 0;
  nest->lanes = nest->transposes ? nest->lanes : lanes;
  nest->vector_dim = nest->transposes ? nest->vector_dim : vector_dim;
  nest->stacked = nest->transposes ? nest->stacked : 0;
}

// Building ------------------------------------------------------------------------------------------------------------

static void run_dims(indim_nest *nest, int32_t position, indim_coord *index, int32_t segments);

int32_t indim_nest_borders(const indim_nest *nest, int32_t dim, int32_t segments, int64_t *borders) {
  int32_t count = 0;
  borders[count++] = 0;
  const indim_access_list *list = nest->list;
  if (list->split_point_count[dim] < INDIM_MAX_SPLIT_POINTS &&
      segments * (list->split_point_count[dim] + 1) <= INDIM_NEST_SEGMENTS) {
    for (int32_t i = 0; i < list->split_point_count[dim]; i++) {
      int64_t point = list->split_points[dim][i];
      if (point <= 0 || point >= nest->sizes[dim]) {
        continue;
      }
      int32_t at = count++;
      for (; at > 1 && borders[at - 1] > point; at--) {
        borders[at] = borders[at - 1];
      }
      borders[at] = point;
    }
  }
  borders[count] = nest->sizes[dim];
  return count;
}

void indim_nest_rows(indim_nest *nest, indim_element_ctx *k, indim_coord *index) {
  if (nest->stacked == 0) {
    nest->body(nest, k, index);
    return;
  }
  indim_stack stack = {.size = indim_nest_row(nest), .is_regular = true};
  k->stack = &stack;
  for (int64_t i = 0; i < stack.size; i++) {
    index[nest->stacked - 1] = (indim_coord){indim_loop_index(&nest->l->b, i), 0};
    nest->body(nest, k, index);
  }
  indim_stack_store(k);
}

static void run_body(indim_nest *nest, int32_t lanes, indim_coord *index) {
  indim_element_ctx k = {.l = nest->l, .lanes = lanes, .streams = nest->streams && lanes == nest->lanes};
  indim_transpose_enter(nest->l, index);
  indim_nest_rows(nest, &k, index);
}

void indim_nest_remainder(indim_nest *nest, indim_coord *index, indim_value_id from, int64_t count) {
  int32_t lanes = 0;
  for (int64_t done = 0; (lanes = indim_piece_lanes(count - done, nest->lanes)) > 0; done += lanes) {
    index[nest->vector_dim] = (indim_coord){indim_loop_add_const(&nest->l->b, from, done), lanes > 1 ? 1 : 0};
    run_body(nest, lanes, index);
  }
}

int64_t indim_nest_line(const indim_nest *nest) {
  int64_t count = nest->lanes;
  for (int32_t i = 0; i < nest->list->count; i++) {
    const indim_access *access = &nest->list->accesses[i];
    int64_t own = INDIM_TARGET_LINE / indim_type_bytes(access->storage->type);
    count = access->item == NULL && own > count ? own : count;
  }
  return count;
}

indim_value_id indim_nest_before_line(const indim_nest *nest, const indim_coord *index, int64_t low,
                                      int64_t *out_line) {
  indim_loop_builder *b = &nest->l->b;
  const indim_access *store = NULL;
  int32_t count = 0;
  for (int32_t i = 0; i < nest->list->count; i++) {
    if (nest->list->accesses[i].item == NULL) {
      store = &nest->list->accesses[i];
      count++;
    }
  }
  if (count != 1 || store->strides == NULL || store->strides[nest->vector_dim] != 1) {
    return 0;
  }
  indim_value_id address = indim_loop_add_const(b, store->base, low);
  for (int32_t d = 0; d < nest->rank; d++) {
    if (d != nest->vector_dim) {
      address = indim_loop_add(b, address, indim_loop_mul_const(b, index[d].base, store->strides[d]));
    }
  }
  *out_line = indim_nest_line(nest);
  return indim_loop_modulo(b, indim_loop_mul_const(b, address, -1), *out_line);
}

void indim_nest_scalar_loop(indim_nest *nest, indim_coord *index, indim_value_id low, indim_value_id high) {
  indim_loop_builder *b = &nest->l->b;
  index[nest->vector_dim] = (indim_coord){indim_loop_for_begin(b, low, high, 1, 0, NULL, NULL), 0};
  run_body(nest, 1, index);
  indim_loop_for_end(b, NULL, NULL);
}

// A vector loop peeled to alignment: |before| scalar iterations, a run-time value, then vectors, then a scalar
// remainder. The number of vectors does not depend on |before|.
static void run_aligned(indim_nest *nest, indim_coord *index, int64_t low, int64_t high, indim_value_id before,
                        int64_t line) {
  indim_loop_builder *b = &nest->l->b;
  int64_t step = (int64_t)nest->lanes * nest->unroll;
  int64_t whole = high - low - (line - 1);
  int64_t done = whole / step * step;
  indim_value_id start = indim_loop_add_const(b, before, low);
  indim_nest_scalar_loop(nest, index, indim_loop_index(b, low), start);
  indim_value_id i = indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, done), step, 0, NULL, NULL);
  indim_nest_remainder(nest, index, indim_loop_add(b, start, i), step);
  indim_loop_for_end(b, NULL, NULL);
  int64_t remainder = (whole - done) / line * line;
  indim_nest_remainder(nest, index, indim_loop_add_const(b, start, done), remainder);
  indim_nest_scalar_loop(nest, index, indim_loop_add_const(b, start, done + remainder), indim_loop_index(b, high));
}

// |count| elements from a constant index, with ordinary stores: a part of a cache line.
static void run_temporal(indim_nest *nest, indim_coord *index, int64_t from, int64_t count) {
  bool streams = nest->streams;
  nest->streams = false;
  indim_nest_remainder(nest, index, indim_loop_index(&nest->l->b, from), count);
  nest->streams = streams;
}

// The part of a vector loop whose vectors are computed |jam| at a time. Returns where it ends.
static int64_t jammed_loop(indim_nest *nest, indim_coord *index, int64_t low, int64_t high, bool threads) {
  indim_loop_builder *b = &nest->l->b;
  int32_t lanes = nest->lanes;
  int64_t step = (int64_t)lanes * nest->jam;
  int64_t blocks = nest->jam > 1 ? (high - low) / step : 0;
  if (blocks < 2) {
    return low;
  }
  nest->lanes = (int32_t)step;
  int64_t end = low + blocks * step;
  indim_value_id i = indim_loop_for_begin(b, indim_loop_index(b, low), indim_loop_index(b, end), step, 0, NULL, NULL);
  if (threads && blocks >= 2 * INDIM_NEST_PIECES) {
    indim_loop_for_parallel(b, (blocks + INDIM_NEST_PIECES - 1) / INDIM_NEST_PIECES);
  }
  indim_nest_remainder(nest, index, i, step);
  indim_loop_for_end(b, NULL, NULL);
  nest->lanes = lanes;
  return end;
}

// The elements from |at| to |high|, the end of a segment from |low| on: vectors, then one narrower one for each piece that is
// left, or a single one for all of them that ends there.
static void run_end(indim_nest *nest, indim_coord *index, int64_t low, int64_t at, int64_t high) {
  indim_loop_builder *b = &nest->l->b;
  int64_t whole = (high - at) / nest->lanes * nest->lanes;
  int32_t last = indim_covering_lanes(high - at - whole);
  bool repeats = nest->may_repeat && indim_piece_count(high - at - whole, nest->lanes) > 1 && high - last >= low;
  indim_nest_remainder(nest, index, indim_loop_index(b, at), repeats ? whole : high - at);
  if (repeats) {
    indim_nest_remainder(nest, index, indim_loop_index(b, high - last), last);
  }
}

void indim_nest_vector_loop(indim_nest *nest, indim_coord *index, int64_t low, int64_t high, bool threads) {
  indim_loop_builder *b = &nest->l->b;
  int64_t step = (int64_t)nest->lanes * nest->unroll;
  int64_t line = 0;
  const int64_t first = low;
  low = jammed_loop(nest, index, low, high, threads);
  int64_t at = low;
  // Non-temporal stores should fill whole cache lines; in long rows, aligning the vectors to lines is worthwhile.
  bool is_long = high - low >= INDIM_COST_ALIGNED_ROW * nest->lanes && nest->cost <= INDIM_COST_MANY_COPIES;
  indim_value_id before = nest->streams && is_long ? indim_nest_before_line(nest, index, low, &line) : 0;
  if (before != 0) {
    const indim_loop_value *range = indim_loop_value_of(b, before);
    if (range->low != range->high && !threads) {
      run_aligned(nest, index, low, high, before, line);
      return;
    }
    at += range->low == range->high ? range->low : 0;
    run_temporal(nest, index, low, at - low);
  }
  int64_t blocks = (high - at) / step;
  if (blocks > 1) {
    indim_value_id i =
        indim_loop_for_begin(b, indim_loop_index(b, at), indim_loop_index(b, at + blocks * step), step, 0, NULL, NULL);
    if (threads && blocks >= 2 * INDIM_NEST_PIECES) {
      indim_loop_for_parallel(b, (blocks + INDIM_NEST_PIECES - 1) / INDIM_NEST_PIECES);
    }
    indim_nest_remainder(nest, index, i, step);
    indim_loop_for_end(b, NULL, NULL);
    at += blocks * step;
  }
  int64_t whole = line == 0 ? high - at : (high - at) / line * line;
  run_end(nest, index, first, at, at + whole);
  run_temporal(nest, index, at + whole, high - at - whole);
}

int64_t indim_nest_elements(const indim_nest *nest) {
  int64_t count = 1;
  for (int32_t d = 0; d < nest->rank; d++) {
    count *= nest->sizes[d];
  }
  return count;
}

bool indim_nest_worth_threads(const indim_nest *nest, int64_t elements) {
  indim_lowering *l = nest->l;
  int64_t least = INDIM_COST_PARALLEL * 8 / indim_index_add_saturated(nest->cost, 8);
  return nest->may_thread && l->loop_depth == 0 && indim_lower_may_thread(l, elements, least);
}

// Whether copies of the body would be loops along the vector dimension that run long, or a few vectors of a long body: one is as fast.
static bool has_long_loop(const indim_nest *nest) {
  bool is_plain = nest->vector_dim >= 0 && !nest->transposes && indim_nest_keeps_threads(nest);
  int64_t vectors = is_plain ? nest->sizes[nest->vector_dim] / nest->lanes : 0;
  return vectors / nest->unroll >= INDIM_COST_LONG_LOOP ||
         (vectors >= 2 && indim_index_mul_saturated(vectors, nest->cost) >= INDIM_COST_LONG_BODIES);
}

// The limit on copies of the body from unrolled small loops. A block that is transposed is long by itself.
static int32_t max_copies(const indim_nest *nest) {
  return nest->is_long || nest->transposes || has_long_loop(nest) ? 1
         : nest->cost <= INDIM_COST_MANY_COPIES                   ? 64
         : nest->cost <= INDIM_COST_SOME_COPIES                   ? 16
                                                                  : 4;
}

indim_value_id indim_nest_pieces_begin(indim_nest *nest, int64_t low, int64_t high, bool threads) {
  indim_loop_builder *b = &nest->l->b;
  indim_value_id begin = indim_loop_index(b, low);
  indim_value_id end = indim_loop_index(b, high);
  if (threads) {
    int64_t each = (high - low + INDIM_NEST_PIECES - 1) / INDIM_NEST_PIECES;
    int64_t pieces = (high - low + each - 1) / each;
    indim_value_id piece =
        indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, pieces), 1, 0, NULL, NULL);
    indim_loop_for_parallel(b, 1);
    begin = indim_loop_add_const(b, indim_loop_mul_const(b, piece, each), low);
    indim_value_id last = indim_loop_add_const(b, begin, each);
    end = pieces * each == high - low ? last : indim_loop_binary(b, INDIM_OP_MINIMUM, last, end);
    indim_nest_make_panels(nest, piece, pieces);
  }
  return indim_loop_for_begin(b, begin, end, 1, 0, NULL, NULL);
}

void indim_nest_pieces_end(indim_nest *nest, bool threads) {
  indim_loop_for_end(&nest->l->b, NULL, NULL);
  if (threads) {
    indim_loop_for_end(&nest->l->b, NULL, NULL);
    nest->panel_start = 0;
  }
}

// Few iterations make few and uneven pieces, which pays only if each of |elements| elements is long.
static bool is_long_iteration(const indim_nest *nest, int64_t elements) {
  bool is_cheap = nest->cost <= INDIM_COST_MANY_COPIES;
  int64_t work = indim_index_mul_saturated(elements, indim_index_add_saturated(nest->cost, 1));
  return work >= INDIM_COST_PARALLEL_ITERATION ||
         (is_cheap && elements >= INDIM_COST_PARALLEL_MOVES * 8 / (nest->cost + 8));
}

// A loop of |count| iterations of |within| elements, outside of others.
static bool is_parallel(const indim_nest *nest, int64_t count, int64_t within) {
  bool is_long = count >= 4 && is_long_iteration(nest, within);
  return indim_nest_worth_threads(nest, within * count) && (count >= 2 * INDIM_NEST_PIECES || is_long);
}

static bool outer_is_parallel(const indim_nest *nest) {
  for (int32_t p = 0; p < nest->rank; p++) {
    int64_t count = nest->sizes[nest->order[p]];
    if (count > 1 && nest->order[p] != nest->vector_dim) {
      return is_parallel(nest, count, indim_nest_elements(nest) / count);
    }
  }
  return false;
}

bool indim_nest_keeps_threads(const indim_nest *nest) {
  return outer_is_parallel(nest) || !indim_nest_worth_threads(nest, indim_nest_elements(nest));
}

static void run_loop(indim_nest *nest, int32_t position, indim_coord *index, int64_t low, int64_t high,
                     int32_t segments) {
  indim_lowering *l = nest->l;
  indim_loop_builder *b = &l->b;
  int32_t dim = nest->order[position];
  int32_t count = (int32_t)(high - low <= INDIM_COST_UNROLLED_LOOP ? high - low : 0);
  if (count == 1 || (count > 0 && nest->copies * count <= max_copies(nest))) {
    nest->copies *= count;
    for (int64_t i = low; i < high; i++) {
      index[dim] = (indim_coord){indim_loop_index(b, i), 0};
      run_dims(nest, position + 1, index, segments);
    }
    nest->copies /= count;
    return;
  }
  bool threads = is_parallel(nest, high - low, indim_nest_elements(nest) / nest->sizes[dim]);
  bool in_pieces = threads && nest->side > 0;
  index[dim] = (indim_coord){indim_nest_pieces_begin(nest, low, high, in_pieces), 0};
  if (threads && !in_pieces) {
    indim_loop_for_parallel(b, (high - low + INDIM_NEST_PIECES - 1) / INDIM_NEST_PIECES);
  }
  l->loop_depth++;
  run_dims(nest, position + 1, index, segments);
  l->loop_depth--;
  indim_nest_pieces_end(nest, in_pieces);
}

static void run_dims(indim_nest *nest, int32_t position, indim_coord *index, int32_t segments) {
  while (position < nest->rank &&
         (nest->sizes[nest->order[position]] == 1 || nest->order[position] == nest->vector_dim ||
          nest->order[position] == nest->stacked - 1 || nest->order[position] == nest->joined - 1 ||
          (nest->transposes && nest->order[position] == nest->transpose_dim))) {
    position++;
  }
  bool is_last = position == nest->rank;
  if (is_last && nest->transposes) {
    indim_nest_transposed(nest, index, segments);
    return;
  }
  int32_t dim = is_last ? nest->vector_dim : nest->order[position];
  if (dim < 0) {
    run_body(nest, 1, index);
    return;
  }
  int64_t borders[INDIM_MAX_SPLIT_POINTS + 2];
  int32_t count = indim_nest_borders(nest, dim, segments, borders);
  for (int32_t s = 0; s < count; s++) {
    if (is_last) {
      indim_nest_vector_loop(nest, index, borders[s], borders[s + 1],
                             indim_nest_worth_threads(nest, borders[s + 1] - borders[s]));
    } else {
      run_loop(nest, position, index, borders[s], borders[s + 1], segments * count);
    }
  }
}

void indim_nest_run(indim_nest *nest) {
  indim_coord index[INDIM_MAX_RANK];
  for (int32_t d = 0; d < nest->rank; d++) {
    if (nest->sizes[d] == 0) {
      return;
    }
    index[d] = (indim_coord){indim_loop_index(&nest->l->b, 0), 0};
  }
  nest->copies = 1;
  if (!indim_lower_failed(nest->l)) {
    run_dims(nest, 0, index, 1);
  }
}
