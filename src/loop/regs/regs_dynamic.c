// dynamic-slice and dynamic-update-slice of register arrays. A start is a run-time value with few possibilities: the
// result for each is computed, and a tree of selects by the bits of the start picks one. An update of a single index
// needs no such tree: it is broadcast along the dimension and masked by a comparison of the indices with the start.
#include "loop/regs/regs_internal.h"

// Limit on rows computed for all starts together.
enum { MAX_ROWS = 256, ASSUMED_LANES = 4 };

static int32_t start_operand(const indim_instr *instr) { return instr->op == INDIM_OP_DYNAMIC_SLICE ? 1 : 2; }

// The shape of the block that is read or written.
static const indim_shape *block_shape(const indim_instr *instr) {
  return instr->op == INDIM_OP_DYNAMIC_SLICE ? instr->shape : instr->operands[1]->shape;
}

bool indim_regs_can_dynamic(const indim_instr *instr) {
  if (instr->op != INDIM_OP_DYNAMIC_SLICE && instr->op != INDIM_OP_DYNAMIC_UPDATE_SLICE) {
    return false;
  }
  const indim_shape *whole = instr->operands[0]->shape;
  const indim_shape *block = block_shape(instr);
  int64_t elements = indim_shape_element_count(whole);
  int64_t rows = 0;
  int32_t first = start_operand(instr);
  if (whole->rank > 0 && instr->operand_count != first + whole->rank &&
      (instr->operand_count != first + 1 || instr->operands[first]->shape->rank != 1)) {
    return false;
  }
  for (int32_t d = 0; d < whole->rank; d++) {
    int64_t room = whole->sizes[d] - block->sizes[d];
    if (instr->op == INDIM_OP_DYNAMIC_SLICE) {
      elements = elements / whole->sizes[d] * block->sizes[d];
    } else if (block->sizes[d] == 1) {
      room = 0;
    }
    rows += room == 0 ? 0 : (room + 1) * ((elements + ASSUMED_LANES - 1) / ASSUMED_LANES);
  }
  return rows <= MAX_ROWS;
}

// The start in dimension |d|, clamped so that the block fits: from a scalar per dimension or from one vector.
static indim_value_id find_start(indim_loop_builder *b, const indim_instr *instr, const indim_regs *operands, int32_t d,
                                 int64_t room) {
  int32_t first = start_operand(instr);
  indim_value_id start = 0;
  if (instr->operands[first]->shape->rank == 1) {
    indim_regs_pool pool = {.type = instr->operands[first]->shape->type};
    indim_pool_add(&operands[first], &pool);
    start = indim_pool_pick(b, &pool, 1, &d);
  } else {
    start = operands[first + d].rows[0];
  }
  return indim_loop_clamp_index(b, start, 0, room);
}

static bool is_constant(const indim_loop_builder *b, indim_value_id x) {
  const indim_loop_value *value = indim_loop_value_of(b, x);
  return value->low == value->high;
}

// candidates[start], each a row of |lanes| lanes, by a tree of selects.
static indim_value_id select_by_start(indim_loop_builder *b, indim_value_id start, int64_t count, int32_t lanes,
                                      indim_value_id *candidates) {
  for (int64_t bit = 1; count > 1 && b->status == INDIM_OK; bit *= 2) {
    indim_value_id is_set = indim_loop_modulo(b, indim_loop_floordiv(b, start, bit), 2);
    indim_value_id pred = indim_loop_splat(b, indim_loop_in_range(b, is_set, 1, 1), lanes);
    for (int64_t i = 0; i < count; i += 2) {
      candidates[i / 2] = i + 1 < count ? indim_loop_select(b, pred, candidates[i + 1], candidates[i]) : candidates[i];
    }
    count = (count + 1) / 2;
  }
  return candidates[0];
}

// A shift along dimension |dim|: index i of |new_size| is old index i + start * step (step 1: a slice; -1: the block
// moved up), undefined where that is out of range.
typedef struct shift {
  int32_t rank;
  int32_t dim;
  int64_t sizes[INDIM_MAX_RANK];  // before
  int64_t new_size;
  int64_t room;
  int32_t step;
} shift;

static void map_shift(const shift *s, int64_t start, int32_t *map) {
  int64_t inner = 1;
  int64_t outer = 1;
  for (int32_t d = 0; d < s->rank; d++) {
    *(d < s->dim ? &outer : &inner) *= d == s->dim ? 1 : s->sizes[d];
  }
  for (int64_t e = 0; e < outer * s->new_size * inner; e++) {
    int64_t i = e / inner % s->new_size + start * s->step;
    bool inside = i >= 0 && i < s->sizes[s->dim];
    map[e] = inside ? (int32_t)((e / inner / s->new_size * s->sizes[s->dim] + i) * inner + e % inner) : -1;
  }
}

// Applies the shift by |start| to the pool.
static void apply_shift(indim_loop_builder *b, const shift *s, indim_value_id start, indim_regs_pool *pool) {
  int32_t map[INDIM_REGS_ELEMENTS];
  int64_t sizes[INDIM_MAX_RANK] = {0};
  int64_t count = 1;
  indim_regs_pool out = {.type = pool->type};
  if (b->status != INDIM_OK) {
    return;
  }
  for (int32_t d = 0; d < s->rank; d++) {
    sizes[d] = d == s->dim ? s->new_size : s->sizes[d];
    count *= sizes[d];
  }
  int32_t lanes = indim_regs_row_lanes(&b->program->target, s->rank, sizes);
  int64_t first = is_constant(b, start) ? indim_loop_value_of(b, start)->low : 0;
  int64_t starts = is_constant(b, start) ? 1 : s->room + 1;
  for (int64_t e = 0; e < count; e += lanes) {
    indim_value_id candidates[INDIM_REGS_ELEMENTS];
    for (int64_t i = 0; i < starts; i++) {
      map_shift(s, first + i, map);
      candidates[i] = indim_pool_pick(b, pool, lanes, &map[e]);
    }
    indim_pool_add_value(select_by_start(b, start, starts, lanes, candidates), lanes, &out);
  }
  *pool = out;
}

static void lower_slice(indim_loop_builder *b, const indim_instr *instr, const indim_regs *operands, indim_regs *out) {
  const indim_shape *whole = instr->operands[0]->shape;
  indim_regs_pool pool = {.type = whole->type};
  shift s = {.rank = whole->rank, .step = 1};
  indim_pool_add(&operands[0], &pool);
  for (int32_t d = 0; d < whole->rank; d++) {
    s.sizes[d] = whole->sizes[d];
  }
  for (int32_t d = 0; d < whole->rank; d++) {
    s.dim = d;
    s.new_size = instr->shape->sizes[d];
    s.room = whole->sizes[d] - s.new_size;
    if (s.room > 0) {
      apply_shift(b, &s, find_start(b, instr, operands, d, s.room), &pool);
    }
    s.sizes[d] = s.new_size;
  }
  indim_pool_deal(b, &pool, NULL, instr->shape, out);
}

// Updating ------------------------------------------------------------------------------------------------------------

// Whether start <= index < start + size for the indices of a row's lanes: a scalar pred when they are all equal, else
// one per lane.
static indim_value_id find_inside(indim_loop_builder *b, indim_type type, indim_value_id start, int64_t size,
                                  int32_t lanes, const int64_t *indices) {
  uint64_t low[2 * INDIM_REGS_ELEMENTS] = {0};
  uint64_t high[2 * INDIM_REGS_ELEMENTS] = {0};
  bool same = true;
  indim_type as = indim_type_bytes(type) == 8 ? INDIM_S64 : INDIM_S32;
  uint64_t mask = as == INDIM_S64 ? UINT64_MAX : UINT32_MAX;
  for (int32_t k = 0; k < lanes; k++) {
    same = same && indices[k] == indices[0];
    low[2 * k] = (uint64_t)(indices[k] - size) & mask;
    high[2 * k] = (uint64_t)indices[k] & mask;
  }
  if (same) {
    return indim_loop_in_range(b, start, indices[0] - size + 1, indices[0]);
  }
  indim_value_id wide = indim_loop_splat(b, indim_loop_convert(b, start, as), lanes);
  indim_value_id top[2] = {wide, indim_loop_lanes(b, as, lanes, high)};
  indim_loop_op compare = {.op = INDIM_OP_COMPARE, .direction = size == 1 ? INDIM_COMPARE_EQ : INDIM_COMPARE_LE};
  indim_value_id below = indim_loop_elementwise(b, compare, INDIM_PRED, 2, top);
  if (size == 1) {
    return below;
  }
  indim_value_id bottom[2] = {wide, indim_loop_lanes(b, as, lanes, low)};
  compare.direction = INDIM_COMPARE_GT;
  return indim_loop_binary(b, INDIM_OP_AND, below, indim_loop_elementwise(b, compare, INDIM_PRED, 2, bottom));
}

// The conjunction of two preds, of one lane or several; |x| may be 0 (true).
static indim_value_id mask_and(indim_loop_builder *b, indim_value_id x, indim_value_id y) {
  if (b->status != INDIM_OK || x == 0) {
    return y;
  }
  int32_t x_lanes = indim_loop_value_of(b, x)->lanes;
  int32_t y_lanes = indim_loop_value_of(b, y)->lanes;
  int32_t lanes = x_lanes > y_lanes ? x_lanes : y_lanes;
  return indim_loop_binary(b, INDIM_OP_AND, indim_loop_splat(b, x, lanes), indim_loop_splat(b, y, lanes));
}

// The lanes of row |row| that are inside the updated block; 0 if all.
static indim_value_id find_mask(indim_loop_builder *b, const indim_instr *instr, const indim_value_id *starts,
                                int32_t row, int32_t lanes) {
  const indim_shape *whole = instr->shape;
  const indim_shape *block = block_shape(instr);
  int64_t indices[INDIM_REGS_ELEMENTS];
  int64_t inner = 1;
  indim_value_id mask = 0;
  for (int32_t d = whole->rank - 1; d >= 0; d--) {
    if (whole->sizes[d] > block->sizes[d]) {
      for (int32_t k = 0; k < lanes; k++) {
        indices[k] = ((int64_t)row * lanes + k) / inner % whole->sizes[d];
      }
      mask = mask_and(b, mask, find_inside(b, whole->type, starts[d], block->sizes[d], lanes, indices));
    }
    inner *= whole->sizes[d];
  }
  return mask;
}

static void lower_update(indim_loop_builder *b, const indim_instr *instr, const indim_regs *operands, indim_regs *out) {
  const indim_shape *whole = instr->shape;
  const indim_shape *block = block_shape(instr);
  indim_value_id starts[INDIM_MAX_RANK] = {0};
  indim_regs_pool pool = {.type = whole->type};
  shift s = {.rank = whole->rank, .step = -1};
  indim_pool_add(&operands[1], &pool);
  for (int32_t d = 0; d < whole->rank; d++) {
    s.sizes[d] = block->sizes[d];
  }
  for (int32_t d = 0; d < whole->rank && b->status == INDIM_OK; d++) {
    s.dim = d;
    s.new_size = whole->sizes[d];
    s.room = whole->sizes[d] - block->sizes[d];
    if (s.room > 0) {
      starts[d] = find_start(b, instr, operands, d, s.room);
    }
    if (s.room > 0 && block->sizes[d] == 1) {  // broadcast the single index
      int32_t map[INDIM_REGS_ELEMENTS];
      indim_regs_pool broadcast;
      int32_t inner = 1;
      for (int32_t i = d + 1; i < whole->rank; i++) {
        inner *= (int32_t)s.sizes[i];
      }
      int32_t count = pool.count * (int32_t)s.new_size;
      for (int32_t e = 0; e < count; e++) {
        map[e] = e / inner / (int32_t)s.new_size * inner + e % inner;
      }
      indim_pool_map(&pool, count, map, &broadcast);
      pool = broadcast;
    } else if (s.room > 0) {
      apply_shift(b, &s, starts[d], &pool);
    }
    s.sizes[d] = s.new_size;
  }
  indim_regs update;
  indim_pool_deal(b, &pool, NULL, whole, &update);
  indim_value_id *rows = indim_regs_new(b, whole, out);
  for (int32_t r = 0; rows != NULL && r < out->row_count && b->status == INDIM_OK; r++) {
    indim_value_id mask = find_mask(b, instr, starts, r, out->lanes);
    rows[r] = mask == 0
                  ? update.rows[r]
                  : indim_loop_select(b, indim_loop_splat(b, mask, out->lanes), update.rows[r], operands[0].rows[r]);
  }
}

void indim_regs_dynamic(indim_loop_builder *b, const indim_instr *instr, const indim_regs *operands, indim_regs *out) {
  if (instr->op == INDIM_OP_DYNAMIC_SLICE) {
    lower_slice(b, instr, operands, out);
  } else {
    lower_update(b, instr, operands, out);
  }
}
