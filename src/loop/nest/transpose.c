// In-register transpose, for arrays read along another dimension than the result is written: a block of as many rows as
// a vector has lanes is loaded along its contiguous dimension, transposed in registers, and used along the other.
//
// The body may compute anything, so a block is generated twice. First for the rows of the array (lanes along the
// transposed dimension), recording every load in program order and storing nothing. Then for the rows of the result,
// where loads of the same elements are replaced by the transposed registers: those whose index differs from the recorded one
// by as much as the row does. (Their order is not that of before: at another index two loads may be one.) Panels, whose
// indices are other loops', go by the order; an element extracted from a register counts as a load there, because at
// another index it is one. Adjacent squares are transposed together, so that
// consecutive stores fill whole cache lines.
#include <string.h>

#include "loop/ir/build.h"
#include "loop/nest/element.h"

enum { MAX_LOADS = 32, MAX_LANES = INDIM_TRANSPOSE_LANES };

// Where a load was in the first row that was recorded, and how far it moves in each dimension of its item with a step along the
// transposed dimension (between lanes) and along the vector's (between rows).
typedef struct load_place {
  bool is_known;
  indim_value_id *first;
  int64_t *lane_step;
  int64_t *row_step;
} load_place;

struct indim_transposition {
  bool is_replay;
  int32_t square;  // number of the current one among adjacent ones
  int32_t pass;    // current row
  int32_t next;    // number of the next load
  int32_t count;
  int32_t lanes;
  const indim_nest *nest;
  const indim_flow_item *items[MAX_LOADS];    // what each load reads
  indim_value_id rows[MAX_LOADS][MAX_LANES];  // 0: this load is not transposed
  indim_value_id transposed[INDIM_MAX_SQUARES][MAX_LOADS][MAX_LANES];
  load_place places[INDIM_MAX_SQUARES][MAX_LOADS];
  const indim_panel *panel;          // or NULL: registers
  indim_storage *panels[MAX_LOADS];  // that replaces each load, NULL: none
  const indim_coord *index;          // of the body being built
  indim_value_id joined;             // the index of the first row along the joined dimension
};

// Whether the access is a load with a stride above 1 along the vector dimension and contiguous along |dim|.
static bool transposes_along(const indim_nest *nest, const indim_access *access, int32_t dim) {
  return access->item != NULL && access->strides != NULL && indim_index_abs(access->strides[nest->vector_dim]) > 1 &&
         access->strides[dim] == 1;
}

int32_t indim_transpose_dim(const indim_nest *nest) {
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
        stores_along || (access->item == NULL && indim_access_stride(access, nest->vector_dim) == indim_nest_row(nest));
  }
  for (int32_t d = 0; d < nest->rank && stores_along; d++) {
    int32_t count = 0;
    bool may = d != nest->vector_dim && d != nest->stacked - 1 && nest->sizes[d] >= nest->lanes;
    for (int32_t i = 0; i < list->count && may; i++) {
      count += transposes_along(nest, &list->accesses[i], d) ? 1 : 0;
    }
    if (count > best_count) {
      best = d;
      best_count = count;
    }
  }
  return nest->sizes[nest->vector_dim] >= nest->lanes ? best : -1;
}

bool indim_transpose_applies(const indim_nest *nest, const indim_access *access) {
  return nest->transposes && transposes_along(nest, access, nest->transpose_dim);
}

bool indim_transpose_is_mixed(const indim_nest *nest) {
  bool is_mixed = false;
  for (int32_t i = 0; i < nest->list->count && nest->transposes; i++) {
    const indim_access *access = &nest->list->accesses[i];
    is_mixed = is_mixed || (access->item != NULL && !indim_transpose_applies(nest, access));
  }
  return is_mixed;
}

// Whether loads of |item| are to be transposed.
static bool is_transposed(const indim_transposition *t, const indim_flow_item *item) {
  for (int32_t i = 0; i < t->nest->list->count; i++) {
    const indim_access *access = &t->nest->list->accesses[i];
    if (access->item == item && indim_transpose_applies(t->nest, access)) {
      return true;
    }
  }
  return false;
}

// The address of element (w, v) of the current piece's panel.
static indim_value_id panel_address(const indim_transposition *t, indim_loop_builder *b, indim_value_id w,
                                    indim_value_id v) {
  indim_value_id start = t->nest->panel_start == 0 ? indim_loop_index(b, 0) : t->nest->panel_start;
  const indim_value_id terms[] = {start, w, v};
  const int64_t coefficients[] = {1, t->nest->pitch, 1};
  return indim_loop_affine(b, 0, 3, terms, coefficients);
}

static indim_value_id find_in_panel(const indim_transposition *t, indim_element_ctx *k) {
  indim_loop_builder *b = &k->l->b;
  indim_storage *storage = t->panels[t->next];
  if (storage == NULL) {
    return 0;
  }
  const indim_nest *nest = t->nest;
  indim_value_id w = indim_loop_add(b, t->index[nest->transpose_dim].base, indim_loop_mul_const(b, t->panel->w, -1));
  indim_value_id v = indim_loop_add(b, t->index[nest->vector_dim].base, indim_loop_mul_const(b, t->panel->v, -1));
  return indim_loop_load(b, storage, panel_address(t, b, w, v), k->lanes, 1);
}

// Whether x is y and so many.
static bool is_off_by(indim_loop_builder *b, indim_value_id x, indim_value_id y, int64_t count) {
  const indim_value_id terms[] = {x, y};
  const int64_t coefficients[] = {1, -1};
  bool are_scalars = indim_loop_value_of(b, x)->lanes == 1 && indim_loop_value_of(b, y)->lanes == 1;
  const indim_loop_value *difference =
      are_scalars ? indim_loop_value_of(b, indim_loop_affine(b, 0, 2, terms, coefficients)) : NULL;
  return difference != NULL && difference->low == count && difference->high == count;
}

static void note_place(indim_lowering *l, indim_transposition *t, const indim_flow_item *item,
                       const indim_coord *index) {
  load_place *place = &t->places[t->square][t->next];
  int32_t rank = item->shape->rank;
  if (t->pass == 0) {
    *place = (load_place){.first = indim_lower_alloc(l, rank, sizeof *place->first),
                          .lane_step = indim_lower_alloc(l, rank, sizeof *place->lane_step),
                          .row_step = indim_lower_alloc(l, rank, sizeof *place->row_step)};
    place->is_known = index != NULL && !indim_lower_failed(l);
  }
  place->is_known = place->is_known && index != NULL && t->items[t->next] == item;
  for (int32_t d = 0; d < rank && place->is_known; d++) {
    if (t->pass == 0) {
      place->first[d] = index[d].base;
      place->lane_step[d] = index[d].step;
      continue;
    }
    if (t->pass == 1) {
      const indim_loop_value *now = indim_loop_value_of(&l->b, index[d].base);
      const indim_loop_value *before = indim_loop_value_of(&l->b, place->first[d]);
      place->row_step[d] = now->low - before->low;  // if it is a step at all
    }
    place->is_known = index[d].step == place->lane_step[d] &&
                      is_off_by(&l->b, index[d].base, place->first[d], t->pass * place->row_step[d]);
  }
}

static bool is_at(indim_loop_builder *b, const load_place *place, int32_t rank, const indim_coord *index,
                  int32_t pass) {
  bool is_there = place->is_known;
  for (int32_t d = 0; d < rank && is_there; d++) {
    is_there =
        index[d].step == place->row_step[d] && is_off_by(b, index[d].base, place->first[d], pass * place->lane_step[d]);
  }
  return is_there;
}

static indim_value_id find_in_registers(const indim_transposition *t, indim_loop_builder *b,
                                        const indim_flow_item *item, const indim_coord *index) {
  for (int32_t n = 0; n < t->count; n++) {
    indim_value_id found = t->items[n] == item ? t->transposed[t->square][n][t->pass] : 0;
    if (found != 0 && is_at(b, &t->places[t->square][n], item->shape->rank, index, t->pass)) {
      return found;
    }
  }
  return 0;
}

indim_value_id indim_transpose_find(indim_element_ctx *k, const indim_flow_item *item, const indim_coord *index) {
  indim_transposition *t = k->l->turn;
  if (t == NULL || !t->is_replay) {
    return 0;
  }
  if (t->panel == NULL) {
    return find_in_registers(t, &k->l->b, item, index);
  }
  indim_value_id found = t->next >= t->count || t->items[t->next] != item ? 0 : find_in_panel(t, k);
  t->next += found != 0 ? 1 : 0;
  return found;
}

void indim_transpose_note(indim_lowering *l, const indim_flow_item *item, const indim_coord *index, bool is_contiguous,
                          indim_value_id value) {
  indim_transposition *t = l->turn;
  if (t == NULL || t->next >= MAX_LOADS) {
    return;
  }
  if (!t->is_replay) {
    t->items[t->next] = t->pass == 0 ? item : t->items[t->next];
    bool is_same = t->items[t->next] == item;
    bool fits = is_contiguous && value != 0 && l->program->values[value].lanes == t->lanes && is_transposed(t, item);
    t->rows[t->next][t->pass] = fits && is_same ? value : 0;
    if (t->panel == NULL) {
      note_place(l, t, item, index);
    }
    t->count = t->next + 1 > t->count ? t->next + 1 : t->count;
  }
  t->next++;
}

// Replaces each pair of rows at distance |s| by two shuffles of it.
static void shuffle_row_pairs(indim_lowering *l, int32_t lanes, int32_t s, const int32_t *first, const int32_t *second,
                              indim_value_id *rows) {
  for (int32_t i = 0; i < lanes; i++) {
    if ((i & s) == 0) {
      indim_value_id pair[] = {rows[i], rows[i + s]};
      rows[i] = indim_loop_shuffle(&l->b, 2, pair, lanes, first);
      rows[i + s] = indim_loop_shuffle(&l->b, 2, pair, lanes, second);
    }
  }
}

// Transposes a square in steps of one instruction per row. First parts of 16 bytes are exchanged, in halves of ever
// smaller squares: the bits of a lane number above a part's are swapped with the same bits of the row number. Then the
// lanes of two rows are interleaved within their parts: the bit in which the row numbers differ becomes the lowest of
// the lane number, and the highest lane bit within the part becomes the row's.
void indim_transpose_square(indim_lowering *l, int32_t lanes, const indim_value_id *rows, indim_value_id *out) {
  int32_t first[MAX_LANES];
  int32_t second[MAX_LANES];
  int32_t part = (int32_t)(16 / indim_type_bytes(l->program->values[rows[0]].type));
  part = part < 2 ? 1 : part > lanes ? lanes : part;
  memcpy(out, rows, (size_t)lanes * sizeof *out);
  for (int32_t s = lanes / 2; s >= part; s /= 2) {
    for (int32_t k = 0; k < lanes; k++) {
      first[k] = (k & s) == 0 ? k : lanes + k - s;
      second[k] = (k & s) == 0 ? k + s : lanes + k;
    }
    shuffle_row_pairs(l, lanes, s, first, second, out);
  }
  for (int32_t k = 0; k < lanes; k++) {
    first[k] = k / part * part + k % part / 2 + k % 2 * lanes;
    second[k] = first[k] + part / 2;
  }
  for (int32_t s = part / 2; s >= 1; s /= 2) {
    shuffle_row_pairs(l, lanes, s, first, second, out);
  }
}

static void transpose_all(indim_lowering *l, indim_transposition *t) {
  for (int32_t n = 0; n < t->count; n++) {
    bool is_complete = true;
    for (int32_t i = 0; i < t->lanes; i++) {
      is_complete = is_complete && t->rows[n][i] != 0;
    }
    if (is_complete) {
      indim_transpose_square(l, t->lanes, t->rows[n], t->transposed[t->square][n]);
    }
  }
}

// One row of one square: of the array, or in a replay of the result.
static void run_row(indim_nest *nest, indim_coord *index, indim_value_id w, indim_value_id v) {
  indim_lowering *l = nest->l;
  indim_transposition *t = l->turn;
  int64_t per_row = nest->joined > 0 ? nest->sizes[nest->vector_dim] / t->lanes : t->square + 1;
  int64_t first = t->square % per_row * t->lanes;
  indim_element_ctx k = {.l = l, .lanes = t->lanes, .is_trial = !t->is_replay, .streams = nest->streams};
  t->next = 0;
  indim_element_forget(l);
  index[nest->transpose_dim] =
      (indim_coord){indim_loop_add_const(&l->b, w, t->is_replay ? t->pass : 0), t->is_replay ? 0 : 1};
  index[nest->vector_dim] =
      (indim_coord){indim_loop_add_const(&l->b, v, first + (t->is_replay ? 0 : t->pass)), t->is_replay ? 1 : 0};
  if (nest->joined > 0) {
    index[nest->joined - 1] = (indim_coord){indim_loop_add_const(&l->b, t->joined, t->square / per_row), 0};
  }
  indim_nest_rows(nest, &k, index);
}

void indim_transpose_block(indim_nest *nest, indim_coord *index, indim_value_id w, indim_value_id v, int32_t squares) {
  indim_lowering *l = nest->l;
  indim_transposition *t = indim_lower_alloc(l, 1, sizeof *t);
  if (t == NULL) {
    return;
  }
  t->lanes = nest->lanes;
  t->nest = nest;
  t->joined = nest->joined > 0 ? index[nest->joined - 1].base : 0;
  l->turn = t;
  for (t->square = 0; t->square < squares && !indim_lower_failed(l); t->square++) {
    t->count = 0;
    memset(t->rows, 0, sizeof t->rows);
    for (t->pass = 0; t->pass < t->lanes && !indim_lower_failed(l); t->pass++) {
      run_row(nest, index, w, v);
    }
    transpose_all(l, t);
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

// Panels --------------------------------------------------------------------------------------------------------------

void indim_transpose_enter(indim_lowering *l, const indim_coord *index) {
  if (l->turn != NULL) {
    l->turn->index = index;
    l->turn->next = 0;
    indim_element_forget(l);
  }
}

// A panel of the nest that no other load uses.
static indim_storage *choose_panel(const indim_transposition *t, indim_type type) {
  for (int32_t p = 0; p < t->nest->panel_count; p++) {
    bool is_free = t->nest->panels[p]->type == type;
    for (int32_t n = 0; n < t->count && is_free; n++) {
      is_free = t->panels[n] != t->nest->panels[p];
    }
    if (is_free) {
      return t->nest->panels[p];
    }
  }
  return NULL;
}

// Stores the transposed rows of a square at (w, v) of the panels.
static void store_square(indim_lowering *l, indim_transposition *t, indim_value_id w, indim_value_id v) {
  indim_loop_builder *b = &l->b;
  for (int32_t n = 0; n < t->count && !indim_lower_failed(l); n++) {
    const indim_value_id *rows = t->transposed[0][n];
    t->panels[n] = rows[0] == 0 ? NULL : choose_panel(t, l->program->values[rows[0]].type);
    for (int32_t i = 0; i < t->lanes && t->panels[n] != NULL; i++) {
      indim_loop_store(b, t->panels[n], panel_address(t, b, indim_loop_add_const(b, w, i), v), rows[i], 1, false);
    }
  }
}

// Begins a loop over |count| elements in steps of a square. The last square ends at the last element, overlapping its
// predecessor.
static indim_value_id squares_begin(indim_transposition *t, indim_loop_builder *b, int64_t count) {
  int64_t end = (count + t->lanes - 1) / t->lanes * t->lanes;
  indim_value_id at =
      indim_loop_for_begin(b, indim_loop_index(b, 0), indim_loop_index(b, end), t->lanes, 0, NULL, NULL);
  return end == count ? at : indim_loop_binary(b, INDIM_OP_MINIMUM, at, indim_loop_index(b, count - t->lanes));
}

void indim_transpose_fill(indim_nest *nest, indim_coord *index, const indim_panel *panel) {
  indim_lowering *l = nest->l;
  indim_loop_builder *b = &l->b;
  indim_transposition *t = indim_lower_alloc(l, 1, sizeof *t);
  if (t == NULL) {
    return;
  }
  t->lanes = nest->lanes;
  t->nest = nest;
  t->panel = panel;
  l->turn = t;
  indim_value_id v = squares_begin(t, b, panel->columns);
  indim_value_id w = squares_begin(t, b, panel->rows);
  for (t->pass = 0; t->pass < t->lanes && !indim_lower_failed(l); t->pass++) {
    run_row(nest, index, indim_loop_add(b, panel->w, w), indim_loop_add(b, panel->v, v));
  }
  transpose_all(l, t);
  store_square(l, t, w, v);
  indim_loop_for_end(b, NULL, NULL);
  indim_loop_for_end(b, NULL, NULL);
  t->is_replay = true;
}

void indim_transpose_end(indim_lowering *l) {
  l->turn = NULL;
  indim_element_forget(l);
}
