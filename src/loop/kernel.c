// Loop nests over the elements of an array. A nest is first surveyed: one element at a general index is computed for
// nothing, which tells how every array it touches lies along every dimension. From that follow the order of the loops,
// which dimensions are one, and which runs in vectors. Then it is built, in segments between the places where a guard
// (of a pad or a concatenate) changes its mind, so that inside a segment no guard is left.
#include <string.h>

#include "loop/build.h"
#include "loop/element.h"

// Survey ---------------------------------------------------------------------------------------------------------------

// The position among the survey's dimensions of a value that is one of its indices; -1 otherwise.
static int32_t survey_dim(const indim_survey *s, indim_lval v) {
  for (int32_t d = 0; d < s->rank; d++) {
    if (s->index[d] == v) {
      return d;
    }
  }
  return -1;
}

static bool is_from_outside(const indim_lowering *l, const indim_survey *s, indim_lval v) {
  const indim_loop_value *value = &l->program->values[v];
  for (int32_t d = 0; d < s->rank; d++) {
    const indim_loop_value *index = &l->program->values[s->index[d]];
    if (index->node == NULL && value->body->depth >= index->body->depth) {
      return false;
    }
  }
  return true;
}

// |v| as constant + sum of strides[d] * index[d] + values from outside the nest. False when it is not of that form.
static bool decode(const indim_lowering *l, const indim_survey *s, indim_lval v, int64_t *strides,
                   bool *out_only_indices, int64_t *out_constant) {
  const indim_loop_value *value = &l->program->values[v];
  memset(strides, 0, (size_t)s->rank * sizeof *strides);
  *out_only_indices = true;
  *out_constant = 0;
  if (value->lanes != 1) {
    return false;
  }
  if (value->low == value->high) {
    *out_constant = value->low;
    return true;
  }
  int32_t dim = survey_dim(s, v);
  if (dim >= 0) {
    strides[dim] = 1;
    return true;
  }
  if (is_from_outside(l, s, v)) {
    *out_only_indices = false;
    return true;
  }
  const indim_loop_node *node = value->node;
  if (node == NULL || node->kind != INDIM_NODE_AFFINE) {
    return false;
  }
  *out_constant = node->u.affine.constant;
  for (int32_t i = 0; i < node->arg_count; i++) {
    dim = survey_dim(s, node->args[i]);
    if (dim >= 0) {
      strides[dim] += node->u.affine.coefficients[i];
    } else if (is_from_outside(l, s, node->args[i])) {
      *out_only_indices = false;
    } else {
      return false;
    }
  }
  return true;
}

// The address where all of the survey's indices are 0, known outside the nest.
static indim_lval address_at_zero(indim_lowering *l, const indim_survey *s, indim_lval v) {
  const indim_loop_value *value = &l->program->values[v];
  indim_loop_builder *b = &l->b;
  if (survey_dim(s, v) >= 0) {
    return indim_loop_index(b, 0);
  }
  if (value->low == value->high || is_from_outside(l, s, v)) {
    return v;
  }
  const indim_loop_node *node = value->node;
  indim_lval address = indim_loop_index(b, node->u.affine.constant);
  for (int32_t i = 0; i < node->arg_count; i++) {
    if (survey_dim(s, node->args[i]) < 0) {
      address = indim_loop_add(b, address, indim_loop_mul_const(b, node->args[i], node->u.affine.coefficients[i]));
    }
  }
  return address;
}

static void note_access(indim_lowering *l, const indim_flow_item *item, const indim_storage *storage,
                        indim_lval address) {
  indim_survey *s = l->survey;
  if (s == NULL || indim_lower_failed(l)) {
    return;
  }
  indim_access_list *list = s->list;
  if (list->count == INDIM_MAX_ACCESSES) {
    list->is_full = true;
    return;
  }
  int64_t strides[INDIM_MAX_RANK];
  bool only_indices = false;
  int64_t constant = 0;
  indim_access *access = &list->accesses[list->count++];
  *access = (indim_access){.item = item, .storage = storage};
  if (decode(l, s, address, strides, &only_indices, &constant)) {
    int64_t *kept = indim_lower_alloc(l, s->rank, sizeof *kept);
    if (kept != NULL) {
      memcpy(kept, strides, (size_t)s->rank * sizeof *kept);
    }
    access->strides = kept;
    access->base = address_at_zero(l, s, address);
  }
}

void indim_survey_access(indim_lowering *l, const indim_flow_item *item, const indim_location *at, indim_lval address) {
  note_access(l, item, at->storage, address);
}

void indim_survey_store(indim_lowering *l, const indim_location *at, indim_lval address) {
  note_access(l, NULL, at->storage, address);
}

void indim_survey_alone(indim_lowering *l, indim_coord x) {
  indim_survey *s = l->survey;
  if (s == NULL || indim_lower_failed(l)) {
    return;
  }
  int64_t strides[INDIM_MAX_RANK];
  bool only_indices = false;
  int64_t constant = 0;
  bool known = decode(l, s, x.base, strides, &only_indices, &constant);
  for (int32_t d = 0; d < s->rank; d++) {
    s->list->alone[d] = s->list->alone[d] || !known || strides[d] != 0;
  }
}

void indim_survey_divided(indim_lowering *l, indim_coord x, indim_lval quotient) {
  if (l->survey == NULL || indim_lower_failed(l)) {
    return;
  }
  const indim_loop_value *range = indim_loop_value_of(&l->b, quotient);
  if (range->low == range->high) {
    indim_survey_alone(l, x);
  }
}

void indim_survey_cut(indim_lowering *l, indim_coord x, int64_t value) {
  indim_survey *s = l->survey;
  if (s == NULL || indim_lower_failed(l)) {
    return;
  }
  indim_survey_alone(l, x);
  int64_t strides[INDIM_MAX_RANK];
  bool only_indices = false;
  int64_t constant = 0;
  if (!decode(l, s, x.base, strides, &only_indices, &constant) || !only_indices) {
    return;
  }
  int32_t dim = -1;
  for (int32_t d = 0; d < s->rank; d++) {
    if (strides[d] != 0) {
      if (dim >= 0) {
        return;
      }
      dim = d;
    }
  }
  if (dim < 0 || (strides[dim] != 1 && strides[dim] != -1)) {
    return;
  }
  // x >= value begins at the index value - constant, or ends behind constant - value.
  int64_t cut = strides[dim] == 1 ? value - constant : constant - value + 1;
  for (int32_t i = 0; i < s->list->cut_count[dim]; i++) {
    if (s->list->cuts[dim][i] == cut) {
      return;
    }
  }
  if (s->list->cut_count[dim] < INDIM_MAX_CUTS) {
    s->list->cuts[dim][s->list->cut_count[dim]++] = cut;
  }
}

// Bytes of a lane in a register (emit/codegen.h).
static int32_t register_bytes(indim_type type) {
  if (type == INDIM_PRED) {
    return 1;
  }
  if (indim_type_is_float(type)) {
    return type == INDIM_F64 ? 8 : 4;
  }
  return type == INDIM_C128 ? 8 : type == INDIM_C64 ? 4 : (int32_t)indim_type_bytes(type);
}

void indim_survey_type(indim_lowering *l, indim_type type) {
  if (l->survey != NULL && register_bytes(type) > l->survey->list->widest) {
    l->survey->list->widest = register_bytes(type);
  }
}

void indim_nest_survey(indim_nest *nest, indim_access_list *out_list) {
  indim_lowering *l = nest->l;
  memset(out_list, 0, sizeof *out_list);
  out_list->rank = nest->rank;
  out_list->widest = 1;
  nest->list = out_list;
  if (indim_lower_failed(l)) {
    return;
  }
  indim_loop_body *outside = l->b.body;
  indim_survey survey = {.rank = nest->rank, .list = out_list};
  indim_coord index[INDIM_MAX_RANK];
  for (int32_t d = 0; d < nest->rank; d++) {
    survey.index[d] = nest->sizes[d] == 1
                          ? indim_loop_index(&l->b, 0)
                          : indim_loop_for_begin(&l->b, indim_loop_index(&l->b, 0),
                                                 indim_loop_index(&l->b, nest->sizes[d]), 1, 0, NULL, NULL);
    index[d] = (indim_coord){survey.index[d], 0};
  }
  indim_kernel k = {.l = l, .lanes = 1};
  indim_survey *outer = l->survey;
  l->survey = &survey;
  indim_element_forget(l);
  nest->body(nest, &k, index);
  l->survey = outer;
  indim_element_forget(l);
  for (indim_loop_body *body = l->b.body; body != outside; body = body->outer) {
    body->is_closed = true;
  }
  l->b.body = outside;
}

// Choosing -------------------------------------------------------------------------------------------------------------

// Whether one step of |outer| is the same as sizes[inner] steps of |inner| for all that is touched.
static bool can_merge(const indim_nest *nest, int32_t outer, int32_t inner) {
  const indim_access_list *list = nest->list;
  if (list->is_full || list->alone[outer] || list->alone[inner] || nest->group[outer] != nest->group[inner]) {
    return false;
  }
  for (int32_t i = 0; i < list->count; i++) {
    const int64_t *strides = list->accesses[i].strides;
    if (strides == NULL || strides[outer] != strides[inner] * nest->sizes[inner]) {
      return false;
    }
  }
  return true;
}

// How well a dimension runs in vectors: contiguous stores first, contiguous loads next; what does not move is free.
static int64_t vector_score(const indim_nest *nest, int32_t dim) {
  const indim_access_list *list = nest->list;
  int64_t score = 0;
  for (int32_t i = 0; i < list->count; i++) {
    const indim_access *access = &list->accesses[i];
    if (access->strides == NULL) {
      continue;
    }
    int64_t stride = indim_index_abs(access->strides[dim]);
    int64_t weight = access->item == NULL ? 3 : 2;
    score += stride == 1 ? 2 * weight : stride == 0 ? weight : 0;
  }
  return score;
}

static int32_t choose_vector_dim(const indim_nest *nest, int32_t lanes) {
  int32_t best = -1;
  int64_t best_score = -1;
  for (int32_t p = nest->rank - 1; p >= 0; p--) {
    int32_t d = nest->order[p];
    if (nest->sizes[d] == 1) {
      continue;
    }
    int64_t filled = nest->sizes[d] < lanes ? nest->sizes[d] : lanes;
    int64_t score = (vector_score(nest, d) + 1) * filled;
    if (score > best_score) {
      best_score = score;
      best = d;
    }
  }
  return best;
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
    if (inner >= 0 && can_merge(nest, d, inner)) {
      nest->sizes[inner] *= nest->sizes[d];
      nest->sizes[d] = 1;
    } else {
      inner = d;
    }
  }
  nest->lanes = nest->l->target->vector_bytes / nest->list->widest;
  nest->vector_dim = choose_vector_dim(nest, nest->lanes);
  nest->unroll = nest->cost <= 12 ? 4 : nest->cost <= 60 ? 2 : 1;
}

// For nests that may be built in squares: they store at one place per index, and their body can be built without storing.
static void choose_turning(indim_nest *nest) {
  nest->turn_dim = indim_lower_without(nest->l, INDIM_DECISION_TURN) ? -1 : indim_turn_dim(nest);
  nest->turns = nest->turn_dim >= 0;
}

// Building -------------------------------------------------------------------------------------------------------------

enum { MAX_SEGMENTS = 24, PIECES = 16, WORTH_THREADS = 32768, SMALL_LOOP = 4, LONG_ITERATION = 1 << 20 };

static void run_dims(indim_nest *nest, int32_t position, indim_coord *index, int32_t segments);

// The borders of the segments of one dimension, from 0 to its size.
static int32_t segment_borders(const indim_nest *nest, int32_t dim, int32_t segments, int64_t *borders) {
  int32_t count = 0;
  borders[count++] = 0;
  const indim_access_list *list = nest->list;
  if (list->cut_count[dim] < INDIM_MAX_CUTS && segments * (list->cut_count[dim] + 1) <= MAX_SEGMENTS) {
    for (int32_t i = 0; i < list->cut_count[dim]; i++) {
      int64_t cut = list->cuts[dim][i];
      if (cut <= 0 || cut >= nest->sizes[dim]) {
        continue;
      }
      int32_t at = count++;
      for (; at > 1 && borders[at - 1] > cut; at--) {
        borders[at] = borders[at - 1];
      }
      borders[at] = cut;
    }
  }
  borders[count] = nest->sizes[dim];
  return count;
}

static void run_body(indim_nest *nest, int32_t lanes, indim_coord *index) {
  indim_kernel k = {.l = nest->l, .lanes = lanes, .streams = nest->streams && lanes == nest->lanes};
  nest->body(nest, &k, index);
}

// |count| elements from |from| on, a number known now, in full vectors and then in halves of one.
static void run_rest(indim_nest *nest, indim_coord *index, indim_lval from, int64_t count) {
  int64_t done = 0;
  for (int32_t lanes = nest->lanes; lanes >= 1; lanes /= 2) {
    for (; count - done >= lanes; done += lanes) {
      index[nest->vector_dim] = (indim_coord){indim_loop_add_const(&nest->l->b, from, done), lanes > 1 ? 1 : 0};
      run_body(nest, lanes, index);
    }
  }
}

static void run_vectors(indim_nest *nest, indim_coord *index, int64_t low, int64_t high, bool threads) {
  indim_loop_builder *b = &nest->l->b;
  int64_t step = (int64_t)nest->lanes * nest->unroll;
  int64_t blocks = (high - low) / step;
  int64_t at = low;
  if (threads && blocks >= 2 * PIECES) {
    int64_t piece = blocks / PIECES * step;
    int64_t pieces = (high - low) / piece;
    indim_lval base = indim_loop_for_begin(b, indim_loop_index(b, at), indim_loop_index(b, at + pieces * piece), piece,
                                           0, NULL, NULL);
    indim_loop_for_parallel(b, 1);
    indim_lval i = indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, piece), step, 0, NULL, NULL);
    run_rest(nest, index, indim_loop_add(b, base, i), step);
    indim_loop_for_end(b, NULL, NULL);
    indim_loop_for_end(b, NULL, NULL);
    at += pieces * piece;
    blocks = (high - at) / step;
  }
  if (blocks > 1) {
    indim_lval i =
        indim_loop_for_begin(b, indim_loop_index(b, at), indim_loop_index(b, at + blocks * step), step, 0, NULL, NULL);
    run_rest(nest, index, i, step);
    indim_loop_for_end(b, NULL, NULL);
    at += blocks * step;
  }
  run_rest(nest, index, indim_loop_index(b, at), high - at);
}

static int64_t elements_within(const indim_nest *nest) {
  int64_t count = 1;
  for (int32_t d = 0; d < nest->rank; d++) {
    count *= nest->sizes[d];
  }
  return count;
}

// Whether the loop over |extent| iterations of the outermost dimension is worth threads.
static bool worth_threads(const indim_nest *nest) {
  indim_lowering *l = nest->l;
  return nest->may_thread && l->loop_depth == 0 && !indim_lower_without(l, INDIM_DECISION_THREADS) &&
         elements_within(nest) >= WORTH_THREADS * 8 / (8 + nest->cost);
}

// How many copies of the body small loops may be written out to.
static int32_t most_copies(const indim_nest *nest) { return nest->cost <= 12 ? 64 : nest->cost <= 100 ? 16 : 4; }

// One element of the turned dimension after the other.
static void run_unturned(indim_nest *nest, indim_coord *index, const int64_t *w, const int64_t *v) {
  indim_loop_builder *b = &nest->l->b;
  if (w[0] >= w[1] || v[0] >= v[1]) {
    return;
  }
  indim_lval at = indim_loop_for_begin(b, indim_loop_index(b, w[0]), indim_loop_index(b, w[1]), 1, 0, NULL, NULL);
  index[nest->turn_dim] = (indim_coord){at, 0};
  run_vectors(nest, index, v[0], v[1], false);
  indim_loop_for_end(b, NULL, NULL);
}

// Blocks of whole cache lines in both directions, of turned squares; |band| (0: none) is added to the place along v.
static void run_squares(indim_nest *nest, indim_coord *index, indim_lval w_low, indim_lval w_high, indim_lval v_low,
                        indim_lval v_high, int64_t block, indim_lval band) {
  indim_loop_builder *b = &nest->l->b;
  indim_lval at_w = indim_loop_for_begin(b, w_low, w_high, block, 0, NULL, NULL);
  indim_lval at_v = indim_loop_for_begin(b, v_low, v_high, block, 0, NULL, NULL);
  for (int64_t x = 0; x < block; x += nest->lanes) {
    for (int64_t y = 0; y < block; y += nest->lanes) {
      indim_turn_block(nest, index, indim_loop_add_const(b, at_w, x),
                       indim_loop_add_const(b, band == 0 ? at_v : indim_loop_add(b, band, at_v), y));
    }
  }
  indim_loop_for_end(b, NULL, NULL);
  indim_loop_for_end(b, NULL, NULL);
}

// Squares for a band of |v| after the other: the rows of a band stay known to the processor's page tables while all of |w|
// passes by. Then what is left on two sides.
static void run_turned(indim_nest *nest, indim_coord *index, const int64_t *w, const int64_t *v) {
  enum { BAND = 128 };
  indim_loop_builder *b = &nest->l->b;
  int64_t lanes = nest->lanes;
  int64_t block = w[1] - w[0] >= 2 * lanes && v[1] - v[0] >= 2 * lanes ? 2 * lanes : lanes;
  int64_t w_end = w[0] + (w[1] - w[0]) / block * block;
  int64_t v_end = v[0] + (v[1] - v[0]) / block * block;
  int64_t bands = (v_end - v[0]) / BAND;
  int64_t band_end = v[0] + bands * BAND;
  indim_lval w_low = indim_loop_index(b, w[0]);
  indim_lval w_high = indim_loop_index(b, w_end);
  if (w_end > w[0] && bands > 1) {
    indim_lval band =
        indim_loop_for_begin(b, indim_loop_index(b, v[0]), indim_loop_index(b, band_end), BAND, 0, NULL, NULL);
    if (worth_threads(nest)) {
      indim_loop_for_parallel(b, (bands + PIECES - 1) / PIECES);
    }
    indim_lval from = indim_loop_index(b, 0);
    indim_lval to = indim_loop_index(b, BAND);
    run_squares(nest, index, w_low, w_high, from, to, block, band);
    indim_loop_for_end(b, NULL, NULL);
  } else {
    band_end = v[0];
  }
  if (w_end > w[0] && v_end > band_end) {
    run_squares(nest, index, w_low, w_high, indim_loop_index(b, band_end), indim_loop_index(b, v_end), block, 0);
  }
  run_unturned(nest, index, (int64_t[]){w_end, w[1]}, v);
  run_unturned(nest, index, (int64_t[]){w[0], w_end}, (int64_t[]){v_end, v[1]});
}

static void run_turned_segments(indim_nest *nest, indim_coord *index, int32_t segments) {
  int64_t w[INDIM_MAX_CUTS + 2];
  int64_t v[INDIM_MAX_CUTS + 2];
  int32_t w_count = segment_borders(nest, nest->turn_dim, segments, w);
  int32_t v_count = segment_borders(nest, nest->vector_dim, segments * w_count, v);
  for (int32_t i = 0; i < w_count; i++) {
    for (int32_t j = 0; j < v_count; j++) {
      run_turned(nest, index, w + i, v + j);
    }
  }
}

static void run_loop(indim_nest *nest, int32_t position, indim_coord *index, int64_t low, int64_t high,
                     int32_t segments) {
  indim_lowering *l = nest->l;
  indim_loop_builder *b = &l->b;
  int32_t dim = nest->order[position];
  int32_t count = (int32_t)(high - low <= SMALL_LOOP ? high - low : 0);
  if (count == 1 || (count > 0 && nest->copies * count <= most_copies(nest))) {
    nest->copies *= count;
    for (int64_t i = low; i < high; i++) {
      index[dim] = (indim_coord){indim_loop_index(b, i), 0};
      run_dims(nest, position + 1, index, segments);
    }
    nest->copies /= count;
    return;
  }
  // Few iterations make few pieces, and uneven ones, which is worth it when each is long.
  bool is_long = high - low >= 4 && elements_within(nest) / (high - low) * (nest->cost + 1) >= LONG_ITERATION;
  bool threads = worth_threads(nest) && (high - low >= 2 * PIECES || is_long);
  index[dim] =
      (indim_coord){indim_loop_for_begin(b, indim_loop_index(b, low), indim_loop_index(b, high), 1, 0, NULL, NULL), 0};
  if (threads) {
    indim_loop_for_parallel(b, (high - low + PIECES - 1) / PIECES);
  }
  l->loop_depth++;
  run_dims(nest, position + 1, index, segments);
  l->loop_depth--;
  indim_loop_for_end(b, NULL, NULL);
}

static void run_dims(indim_nest *nest, int32_t position, indim_coord *index, int32_t segments) {
  while (position < nest->rank &&
         (nest->sizes[nest->order[position]] == 1 || nest->order[position] == nest->vector_dim ||
          (nest->turns && nest->order[position] == nest->turn_dim))) {
    position++;
  }
  bool is_last = position == nest->rank;
  if (is_last && nest->turns) {
    run_turned_segments(nest, index, segments);
    return;
  }
  int32_t dim = is_last ? nest->vector_dim : nest->order[position];
  if (dim < 0) {
    run_body(nest, 1, index);
    return;
  }
  int64_t borders[INDIM_MAX_CUTS + 2];
  int32_t count = segment_borders(nest, dim, segments, borders);
  for (int32_t s = 0; s < count; s++) {
    if (is_last) {
      run_vectors(nest, index, borders[s], borders[s + 1], worth_threads(nest));
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

// Filling an array -----------------------------------------------------------------------------------------------------

typedef struct filling {
  indim_flow_item *item;
  const indim_location *at;
} filling;

static void fill_body(indim_nest *nest, indim_kernel *k, const indim_coord *index) {
  const filling *f = nest->user;
  indim_lval value = indim_element_compute(k, f->item, index);
  if (!indim_lower_failed(k->l)) {
    indim_store_at(k, f->item->shape, f->at, index, value);
  }
}

// Whether what is stored passes the caches: a result that nobody reads again, too large for them together with what it is
// made of.
static bool worth_streaming(const indim_nest *nest, const indim_flow_item *item, const indim_location *at) {
  int64_t cache = nest->l->target->cache_bytes[2] > 0 ? nest->l->target->cache_bytes[2] : INT64_C(16) << 20;
  int64_t bytes = indim_shape_element_count(item->shape) * indim_type_bytes(item->shape->type);
  int64_t total = bytes;
  for (int32_t i = 0; i < nest->list->count; i++) {
    const indim_access *access = &nest->list->accesses[i];
    if (access->item != NULL) {
      total += access->storage->elements * indim_type_bytes(access->storage->type);
    }
  }
  return at->storage->kind == INDIM_STORAGE_RESULT && item->use_count == 1 && bytes >= cache * 3 / 4 &&
         total >= 2 * cache && !indim_lower_without(nest->l, INDIM_DECISION_STREAM);
}

static void run_filling(indim_lowering *l, indim_flow_item *item, const indim_location *at, int64_t cost,
                        indim_nest_body *body) {
  indim_access_list *list = indim_lower_alloc(l, 1, sizeof *list);
  filling f = {item, at};
  indim_nest nest = {.l = l, .rank = item->shape->rank, .cost = cost, .body = body, .user = &f};
  if (list == NULL || indim_lower_failed(l) || indim_shape_element_count(item->shape) == 0) {
    return;
  }
  memcpy(nest.sizes, item->shape->sizes, (size_t)nest.rank * sizeof *nest.sizes);
  for (int32_t d = 0; d < nest.rank && item->row_dims > 0; d++) {
    nest.group[d] = d < nest.rank - item->row_dims ? 1 : 2;
  }
  nest.may_thread = true;
  indim_storage *written[] = {at->storage};
  indim_loop_kernel_begin(&l->b, written, 1);
  indim_nest_survey(&nest, list);
  indim_nest_choose(&nest, at->strides);
  choose_turning(&nest);
  nest.streams = worth_streaming(&nest, item, at);
  indim_nest_run(&nest);
}

void indim_kernel_fill(indim_lowering *l, indim_flow_item *item, const indim_location *at) {
  run_filling(l, item, at, item->cost, fill_body);
}

static void copy_body(indim_nest *nest, indim_kernel *k, const indim_coord *index) {
  const filling *f = nest->user;
  indim_lval value = indim_value_at_lanes(k, f->item, index, 0);
  if (!indim_lower_failed(k->l)) {
    indim_store_at(k, f->item->shape, f->at, index, value);
  }
}

// Both arrays lie one element behind the other in the same order: bytes are moved.
static bool copy_bytes(indim_lowering *l, const indim_flow_item *item, const indim_location *at) {
  const indim_location *from = &item->place;
  const indim_shape *shape = item->shape;
  if (from->storage == NULL || at->tiled != NULL || !indim_location_is_dense(shape, from)) {
    return false;
  }
  for (int32_t d = 0; d < shape->rank; d++) {
    if (shape->sizes[d] != 1 && at->strides[d] != from->strides[d]) {
      return false;
    }
  }
  indim_loop_builder *b = &l->b;
  indim_lval zero = indim_loop_index(b, 0);
  indim_lval to_address = indim_loop_add_const(b, at->base == 0 ? zero : at->base, at->offset);
  indim_lval from_address = indim_loop_add_const(b, from->base == 0 ? zero : from->base, from->offset);
  indim_storage *written[] = {at->storage};
  indim_loop_kernel_begin(b, written, 1);
  indim_loop_copy(b, at->storage, to_address, from->storage, from_address, indim_shape_element_count(shape));
  return true;
}

// A tile element by element: the layout has tiles.
static void copy_elements(indim_lowering *l, indim_flow_item *item, const indim_location *at) {
  int64_t index[INDIM_MAX_RANK] = {0};
  indim_storage *written[] = {at->storage};
  indim_loop_kernel_begin(&l->b, written, 1);
  indim_element_forget(l);
  indim_kernel k = {.l = l, .lanes = 1};
  do {
    indim_coord coords[INDIM_MAX_RANK];
    for (int32_t d = 0; d < item->shape->rank; d++) {
      coords[d] = (indim_coord){indim_loop_index(&l->b, index[d]), 0};
    }
    indim_store_at(&k, item->shape, at, coords, indim_value_at(&k, item, coords, 0));
  } while (indim_index_next(item->shape, index) && !indim_lower_failed(l));
}

void indim_kernel_copy(indim_lowering *l, indim_flow_item *item, const indim_location *at) {
  bool is_constant = item->kind == INDIM_FLOW_OP && item->instr->op == INDIM_OP_CONSTANT;
  if (indim_lower_failed(l) || indim_shape_element_count(item->shape) == 0 || at->storage == NULL) {
    return;
  }
  if (item->has_tile && item->place.storage == NULL) {
    if (at->tiled != NULL) {
      copy_elements(l, item, at);
      return;
    }
    indim_lval address = indim_loop_index(&l->b, at->offset);
    address = at->base == 0 ? address : indim_loop_add(&l->b, address, at->base);
    indim_storage *written[] = {at->storage};
    indim_loop_kernel_begin(&l->b, written, 1);
    indim_tile_store(&l->b, &item->tile, at->storage, address, at->strides);
  } else if (is_constant || !copy_bytes(l, item, at)) {
    run_filling(l, item, at, 0, copy_body);
  }
}
