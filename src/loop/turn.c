// Arrays read along another dimension than the result is written: a block of as many rows as a vector has lanes is loaded
// along the direction in which the array is contiguous, turned in registers, and then used in the other direction.
//
// What an element is made of may be anything; so the block is generated twice. First for the rows of the array (lanes
// along the turned dimension), where every load is noted in the order in which it comes and nothing is stored. Then for
// the rows of the result, where the same loads come in the same order and are given the turned registers. Squares side by
// side are turned together, so that what is stored one after the other fills whole cache lines.
#include <string.h>

#include "loop/build.h"
#include "loop/element.h"

enum { MAX_LOADS = 32, MAX_LANES = 32 };

struct indim_turn {
  bool is_replay;
  int32_t square;  // which of those side by side
  int32_t pass;    // which of the rows
  int32_t next;    // load
  int32_t count;
  int32_t lanes;
  const indim_nest *nest;
  indim_lval rows[MAX_LOADS][MAX_LANES];  // 0: this load is not turned
  indim_lval turned[INDIM_MAX_SQUARES][MAX_LOADS][MAX_LANES];
};

// Whether the nest reads |item| neither along the vector dimension nor not at all along it, but along the turned one.
static bool wants_turning(const indim_nest *nest, const indim_access *access, int32_t dim) {
  return access->item != NULL && access->strides != NULL && indim_index_abs(access->strides[nest->vector_dim]) > 1 &&
         access->strides[dim] == 1;
}

int32_t indim_turn_dim(const indim_nest *nest) {
  const indim_access_list *list = nest->list;
  bool stores_along = false;
  int32_t best = -1;
  int32_t best_count = 0;
  if (nest->vector_dim < 0 || list->is_full || list->count > MAX_LOADS || nest->lanes > MAX_LANES || nest->lanes < 2) {
    return -1;
  }
  for (int32_t i = 0; i < list->count; i++) {
    const indim_access *access = &list->accesses[i];
    stores_along =
        stores_along || (access->item == NULL && access->strides != NULL && access->strides[nest->vector_dim] == 1);
  }
  for (int32_t d = 0; d < nest->rank && stores_along; d++) {
    int32_t count = 0;
    for (int32_t i = 0; i < list->count && d != nest->vector_dim && nest->sizes[d] >= nest->lanes; i++) {
      count += wants_turning(nest, &list->accesses[i], d) ? 1 : 0;
    }
    if (count > best_count) {
      best = d;
      best_count = count;
    }
  }
  return nest->sizes[nest->vector_dim] >= nest->lanes ? best : -1;
}

bool indim_turn_is_mixed(const indim_nest *nest) {
  bool is_mixed = false;
  for (int32_t i = 0; i < nest->list->count && nest->turns; i++) {
    const indim_access *access = &nest->list->accesses[i];
    is_mixed = is_mixed || (access->item != NULL && !wants_turning(nest, access, nest->turn_dim));
  }
  return is_mixed;
}

// Whether loads of |item| are among those to be turned.
static bool is_turned(const indim_turn *t, const indim_flow_item *item) {
  for (int32_t i = 0; i < t->nest->list->count; i++) {
    const indim_access *access = &t->nest->list->accesses[i];
    if (access->item == item && wants_turning(t->nest, access, t->nest->turn_dim)) {
      return true;
    }
  }
  return false;
}

indim_lval indim_turn_find(indim_lowering *l) {
  indim_turn *t = l->turn;
  if (t == NULL || !t->is_replay || t->next >= t->count) {
    return 0;
  }
  indim_lval found = t->turned[t->square][t->next][t->pass];
  t->next += found != 0 ? 1 : 0;
  return found;
}

void indim_turn_note(indim_lowering *l, const indim_flow_item *item, bool is_contiguous, indim_lval value) {
  indim_turn *t = l->turn;
  if (t == NULL || t->next >= MAX_LOADS) {
    return;
  }
  if (!t->is_replay) {
    bool fits = is_contiguous && value != 0 && l->program->values[value].lanes == t->lanes && is_turned(t, item);
    t->rows[t->next][t->pass] = fits ? value : 0;
    t->count = t->next + 1 > t->count ? t->next + 1 : t->count;
  }
  t->next++;
}

// Both shuffles of two rows that stand |s| apart.
static void mix_rows(indim_lowering *l, int32_t lanes, int32_t s, const int32_t *first, const int32_t *second,
                     indim_lval *rows) {
  for (int32_t i = 0; i < lanes; i++) {
    if ((i & s) == 0) {
      indim_lval pair[] = {rows[i], rows[i + s]};
      rows[i] = indim_loop_shuffle(&l->b, 2, pair, lanes, first);
      rows[i + s] = indim_loop_shuffle(&l->b, 2, pair, lanes, second);
    }
  }
}

// Rows and columns change places, in steps that are one instruction each. Parts of 16 bytes are exchanged, halves of ever
// smaller squares: the bits of a lane's number above a part's change places with the same bits of the row's. Inside of the
// parts of two rows, lanes are put one between the other: the bit by which the rows differ becomes the lowest of the lane's
// number, and the highest of that within the part becomes the row's.
static void turn_rows(indim_lowering *l, int32_t lanes, const indim_lval *rows, indim_lval *out) {
  int32_t first[MAX_LANES];
  int32_t second[MAX_LANES];
  int32_t part = 16 * lanes / l->target->vector_bytes;
  part = part < 2 ? 1 : part;
  memcpy(out, rows, (size_t)lanes * sizeof *out);
  for (int32_t s = lanes / 2; s >= part; s /= 2) {
    for (int32_t k = 0; k < lanes; k++) {
      first[k] = (k & s) == 0 ? k : lanes + k - s;
      second[k] = (k & s) == 0 ? k + s : lanes + k;
    }
    mix_rows(l, lanes, s, first, second, out);
  }
  for (int32_t k = 0; k < lanes; k++) {
    first[k] = k / part * part + k % part / 2 + k % 2 * lanes;
    second[k] = first[k] + part / 2;
  }
  for (int32_t s = part / 2; s >= 1; s /= 2) {
    mix_rows(l, lanes, s, first, second, out);
  }
}

static void turn_all(indim_lowering *l, indim_turn *t) {
  for (int32_t n = 0; n < t->count; n++) {
    bool whole = true;
    for (int32_t i = 0; i < t->lanes; i++) {
      whole = whole && t->rows[n][i] != 0;
    }
    if (whole) {
      turn_rows(l, t->lanes, t->rows[n], t->turned[t->square][n]);
    }
  }
}

// One row of one square: of the array, or of the result.
static void run_row(indim_nest *nest, indim_coord *index, indim_lval w, indim_lval v) {
  indim_lowering *l = nest->l;
  indim_turn *t = l->turn;
  int64_t first = (int64_t)t->square * t->lanes;
  indim_kernel k = {.l = l, .lanes = t->lanes, .is_trial = !t->is_replay, .streams = nest->streams};
  t->next = 0;
  indim_element_forget(l);
  index[nest->turn_dim] =
      (indim_coord){indim_loop_add_const(&l->b, w, t->is_replay ? t->pass : 0), t->is_replay ? 0 : 1};
  index[nest->vector_dim] =
      (indim_coord){indim_loop_add_const(&l->b, v, first + (t->is_replay ? 0 : t->pass)), t->is_replay ? 1 : 0};
  nest->body(nest, &k, index);
}

void indim_turn_block(indim_nest *nest, indim_coord *index, indim_lval w, indim_lval v, int32_t squares) {
  indim_lowering *l = nest->l;
  indim_turn *t = indim_lower_alloc(l, 1, sizeof *t);
  if (t == NULL) {
    return;
  }
  t->lanes = nest->lanes;
  t->nest = nest;
  l->turn = t;
  for (t->square = 0; t->square < squares && !indim_lower_failed(l); t->square++) {
    t->count = 0;
    for (t->pass = 0; t->pass < t->lanes && !indim_lower_failed(l); t->pass++) {
      run_row(nest, index, w, v);
    }
    turn_all(l, t);
  }
  t->is_replay = true;
  for (t->pass = 0; t->pass < t->lanes && !indim_lower_failed(l); t->pass++) {
    for (t->square = 0; t->square < squares; t->square++) {
      run_row(nest, index, w, v);
    }
  }
  l->turn = NULL;
  indim_element_forget(l);
}
