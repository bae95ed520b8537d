// ragged-dot: a dot whose left side is cut into groups along one dimension, by sizes that are known at run time.
//
//   rows      lhs [m,k], rhs [g,k,n] -> [m,n]: each row of group q times rhs[q]; zeros for rows behind all groups
//   contract  lhs [m,k], rhs [k,n] -> [g,m,n]: the products of the part of k that is group q
//   batch     a plain dot, whatever the sizes
//
// The first two are loops over tiles: a number of places of the ragged dimension that is known, from where the last tile
// ended to there or to the end of its group. A tile's rows times the part of rhs that is the group's, of which the rows of
// the group are kept; or the dot of both sides' tiles with zeros outside the group, added to the group's. Where batches have
// sizes of their own the tile is the whole, and the loop one over the groups. What a group has no part in is chosen away, not
// multiplied by zero, so that infinities and NaNs stay where they are.
#include "expand/kit.h"
#include "graph/infer_kit.h"

typedef struct ragged {
  indim_expander *x;
  const indim_shape *lhs, *rhs, *out;
  const int64_t *lhs_batch, *rhs_batch, *lhs_contracting, *rhs_contracting;
  int64_t batch_count, contracting_count;
  int64_t ragged;   // dimension of lhs
  int64_t group;    // dimension of rhs, -1: none
  int64_t groups;   // how many
  int32_t leading;  // dimensions of the sizes before that of the groups
  int64_t length;   // of the ragged dimension
  int64_t tile;     // places of it
  int64_t place;    // ragged dimension of the result; of contracted ones, place in the lists
  bool contracts;
} ragged;

static bool has(uint64_t mask, int64_t dim) { return (mask >> dim & 1) != 0; }

// Half of what a group has on average, as a power of two.
static int64_t choose_tile(int64_t length, int64_t groups) {
  enum { LEAST = 16, MOST = 512 };
  int64_t tile = LEAST;
  while (tile < MOST && tile < length / 2 / groups) {
    tile *= 2;
  }
  return tile < length ? tile : length;
}

static int64_t find_place(const ragged *r, uint64_t batch, uint64_t contracting) {
  int64_t place = 0;
  if (r->contracts) {
    while (r->lhs_contracting[place] != r->ragged) {
      place++;
    }
    return place;
  }
  for (int64_t d = 0; d < r->ragged; d++) {
    place += has(batch | contracting, d) ? 0 : 1;
  }
  return r->batch_count + place;
}

static ragged read_ragged(indim_expander *x) {
  const indim_instr *instr = x->instr;
  int64_t count = 0;
  const indim_shape *sizes = instr->operands[2]->shape;
  ragged r = {.x = x, .lhs = instr->operands[0]->shape, .rhs = instr->operands[1]->shape, .out = instr->shape};
  r.lhs_batch = indim_instr_ints(instr, INDIM_ATTR_LHS_BATCH_DIMS, &r.batch_count);
  r.rhs_batch = indim_instr_ints(instr, INDIM_ATTR_RHS_BATCH_DIMS, &count);
  r.lhs_contracting = indim_instr_ints(instr, INDIM_ATTR_LHS_CONTRACTING_DIMS, &r.contracting_count);
  r.rhs_contracting = indim_instr_ints(instr, INDIM_ATTR_RHS_CONTRACTING_DIMS, &count);
  r.ragged = indim_instr_ints(instr, INDIM_ATTR_LHS_RAGGED_DIMS, &count)[0];
  const int64_t *group = indim_instr_ints(instr, INDIM_ATTR_RHS_GROUP_DIMS, &count);
  r.group = count > 0 ? group[0] : -1;
  r.leading = sizes->rank - 1;
  r.groups = sizes->sizes[r.leading];
  r.length = r.lhs->sizes[r.ragged];
  r.tile = r.groups > 0 ? choose_tile(r.length, r.groups) : 0;
  uint64_t contracting = indim_attr_mask(instr, INDIM_ATTR_LHS_CONTRACTING_DIMS);
  r.contracts = has(contracting, r.ragged);
  r.place = find_place(&r, indim_attr_mask(instr, INDIM_ATTR_LHS_BATCH_DIMS), contracting);
  return r;
}

// The plain dot of two arrays that have the dimensions of the sides, but that |dropped| of rhs is gone (-1: none).
static value dot(const ragged *r, value lhs, value rhs, int64_t dropped, const indim_shape *out) {
  int64_t dims[2][INDIM_MAX_RANK] = {{0}};
  indim_builder *b = r->x->b;
  for (int64_t i = 0; i < r->batch_count; i++) {
    dims[0][i] = r->rhs_batch[i] - (dropped >= 0 && r->rhs_batch[i] > dropped ? 1 : 0);
  }
  for (int64_t i = 0; i < r->contracting_count; i++) {
    dims[1][i] = r->rhs_contracting[i] - (dropped >= 0 && r->rhs_contracting[i] > dropped ? 1 : 0);
  }
  value operands[] = {lhs, rhs};
  indim_attr attrs[] = {
      indim_build_attr_ints(b, INDIM_ATTR_LHS_BATCH_DIMS, r->lhs_batch, r->batch_count),
      indim_build_attr_ints(b, INDIM_ATTR_LHS_CONTRACTING_DIMS, r->lhs_contracting, r->contracting_count),
      indim_build_attr_ints(b, INDIM_ATTR_RHS_BATCH_DIMS, dims[0], r->batch_count),
      indim_build_attr_ints(b, INDIM_ATTR_RHS_CONTRACTING_DIMS, dims[1], r->contracting_count)};
  return indim_build_emit(b, INDIM_OP_DOT, out, operands, 2, attrs, 4);
}

// Groups ---------------------------------------------------------------------------------------------------------------

// The sizes as s64, none negative and none above the whole, so that their sums do not overflow.
static value clamp_sizes(const ragged *r) {
  indim_builder *b = r->x->b;
  value sizes = indim_expand_convert(r->x, r->x->operands[2], INDIM_S64);
  return indim_build_clamp(b, indim_build_scalar_int(b, INDIM_S64, 0), sizes,
                           indim_build_scalar_int(b, INDIM_S64, r->lhs->sizes[r->ragged]));
}

// Where each place of dimension |ragged| of |shape| is in group |index|; |leading| are the dimensions of |shape| that those
// of the sizes are. A group begins where those before it end.
static value is_in_group(const ragged *r, value starts, value sizes, value index, const indim_shape *shape,
                         int64_t ragged_dim, const int64_t *leading) {
  indim_builder *b = r->x->b;
  indim_shape places = *shape;
  places.type = INDIM_S64;
  indim_status status = indim_shape_init(r->x->cx, INDIM_S64, shape->rank, shape->sizes, &places);
  if (status != INDIM_OK) {
    indim_build_fail(b, status);
    return NULL;
  }
  value place = indim_build_iota(b, &places, ragged_dim);
  value start = indim_expand_cut(r->x, starts, r->leading, index);
  value end = indim_build_binary(b, INDIM_OP_ADD, start, indim_expand_cut(r->x, sizes, r->leading, index), NULL, 0);
  value from = indim_build_compare(b, place, indim_expand_repeat(r->x, start, &places, leading), "GE", NULL, NULL, 0);
  value to = indim_build_compare(b, place, indim_expand_repeat(r->x, end, &places, leading), "LT", NULL, NULL, 0);
  return indim_build_binary(b, INDIM_OP_AND, from, to, NULL, 0);
}

// Loops over groups ----------------------------------------------------------------------------------------------------

// The values that they carry.
enum { LHS, RHS, STARTS, SIZES, RESULT, VALUES };

// Group |index| of the rows. The dimensions of the sizes are the leading ones of the result, and the ragged one follows.
static value row_step(indim_expander *x, const void *about, value index, value *values) {
  const ragged *r = about;
  int64_t dims[INDIM_MAX_RANK];
  for (int64_t d = 0; d < r->leading; d++) {
    dims[d] = d;
  }
  value is_mine = is_in_group(r, values[STARTS], values[SIZES], index, r->out, r->place, dims);
  value product = dot(r, values[LHS], indim_expand_cut(x, values[RHS], r->group, index), r->group, r->out);
  values[RESULT] = indim_build_select(x->b, is_mine, product, values[RESULT]);
  return indim_expand_next(x, index);
}

// |side| with zeros where the contracted places are not of group |index|.
static value keep_group(const ragged *r, value index, const value *values, value side, const int64_t *batch,
                        const int64_t *contracting) {
  int64_t dims[INDIM_MAX_RANK];
  if (side == NULL) {
    return NULL;
  }
  for (int64_t d = 0; d < r->leading; d++) {
    dims[d] = d < r->batch_count ? batch[d] : contracting[d - r->batch_count];
  }
  value is_mine = is_in_group(r, values[STARTS], values[SIZES], index, side->shape, contracting[r->place], dims);
  return indim_build_select(r->x->b, is_mine, side, indim_build_scalar_int(r->x->b, side->shape->type, 0));
}

// The shape of the result for one group.
static indim_shape group_shape(const ragged *r) {
  indim_shape one = *r->out;
  indim_build_fail(r->x->b, indim_shape_init(r->x->cx, r->out->type, r->out->rank - 1, r->out->sizes + 1, &one));
  return one;
}

static value contract_step(indim_expander *x, const void *about, value index, value *values) {
  const ragged *r = about;
  indim_shape one = group_shape(r);
  value lhs = keep_group(r, index, values, values[LHS], r->lhs_batch, r->lhs_contracting);
  value rhs = keep_group(r, index, values, values[RHS], r->rhs_batch, r->rhs_contracting);
  values[RESULT] = indim_expand_put(x, values[RESULT], 0, index, dot(r, lhs, rhs, -1, &one));
  return indim_expand_next(x, index);
}

// Where each group ends: the sums of the sizes up to it, windows as long as there are groups.
static value sum_up(const ragged *r, const indim_computation *sum, value sizes) {
  indim_builder *b = r->x->b;
  value operands[] = {sizes, indim_build_scalar_int(b, INDIM_S64, 0)};
  int32_t rank = r->leading + 1;
  indim_window_dim window[INDIM_MAX_RANK];
  for (int32_t d = 0; d < rank; d++) {
    window[d] = (indim_window_dim){.size = 1, .stride = 1, .base_dilation = 1, .window_dilation = 1};
  }
  window[r->leading].size = r->groups;
  window[r->leading].pad_low = r->groups - 1;
  indim_attr attrs[] = {indim_expand_window(r->x, window, rank),
                        indim_build_attr_computation(b, INDIM_ATTR_TO_APPLY, sum)};
  if (b->status != INDIM_OK) {
    return NULL;
  }
  return indim_build_emit(b, INDIM_OP_REDUCE_WINDOW, NULL, operands, 2, attrs, 2);
}

static value run_groups(const ragged *r) {
  indim_expander *x = r->x;
  const indim_shape *counts = x->instr->operands[2]->shape;
  indim_shape numbers = *counts;
  indim_build_fail(x->b, indim_shape_init(x->cx, INDIM_S64, counts->rank, counts->sizes, &numbers));
  const indim_shape *shapes[VALUES] = {r->lhs, r->rhs, &numbers, &numbers, r->out};
  const indim_computation *sum = indim_expand_sum(x, INDIM_S64);
  indim_expand_step *step = r->contracts ? contract_step : row_step;
  indim_expand_loop loop = indim_expand_make_loop(x, r->groups, shapes, VALUES, step, r);
  indim_expand_begin(x);
  value sizes = clamp_sizes(r);
  value starts = indim_build_binary(x->b, INDIM_OP_SUBTRACT, sum_up(r, sum, sizes), sizes, NULL, 0);
  value values[VALUES] = {x->operands[0], x->operands[1], starts, sizes, indim_expand_zeros(x, r->out)};
  indim_expand_run_loop(x, &loop, values);
  return values[RESULT];
}

// Loops over tiles -----------------------------------------------------------------------------------------------------

// The values that they carry; the first is where the last group ends.
enum { TILE_END, TILE_LHS, TILE_RHS, TILE_GROUP_ENDS, TILE_RESULT, TILE_VALUES };

typedef struct tiling {
  const ragged *r;
  const indim_computation *sum;
} tiling;

typedef struct tile {
  value first;     // its first place, so that it lies inside
  value from, to;  // the places of it that are new, counted from |first|
  value group;
} tile;

// The tile of the places from |row| on, and in |out_next| where the next one begins.
static tile find_tile(const tiling *t, value row, const value *values, value *out_next) {
  const ragged *r = t->r;
  indim_builder *b = r->x->b;
  int64_t dim = 0;
  value is_before = indim_build_compare(b, values[TILE_GROUP_ENDS], row, "LE", NULL, NULL, 0);
  value ones = indim_expand_convert(r->x, is_before, INDIM_S64);
  tile own = {.group = indim_expand_reduce(r->x, t->sum, ones, &dim, 1)};
  value end = indim_build_binary(b, INDIM_OP_ADD, row, indim_build_scalar_int(b, INDIM_S64, r->tile), NULL, 0);
  value group_end = indim_expand_cut(r->x, values[TILE_GROUP_ENDS], 0, own.group);
  end = indim_build_binary(b, INDIM_OP_MINIMUM, end, group_end, NULL, 0);
  end = indim_build_binary(b, INDIM_OP_MINIMUM, end, values[TILE_END], NULL, 0);
  value last = indim_build_scalar_int(b, INDIM_S64, r->length - r->tile);
  own.first = indim_build_binary(b, INDIM_OP_MINIMUM, row, last, NULL, 0);
  own.from = indim_build_binary(b, INDIM_OP_SUBTRACT, row, own.first, NULL, 0);
  own.to = indim_build_binary(b, INDIM_OP_SUBTRACT, end, own.first, NULL, 0);
  *out_next = end;
  return own;
}

// |on_true| at the new places of a tile along dimension |dim|, |on_false| at all others.
static value choose_new(const ragged *r, const tile *t, int64_t dim, value on_true, value on_false) {
  indim_builder *b = r->x->b;
  indim_shape places;
  if (on_true == NULL) {
    return NULL;
  }
  indim_build_fail(b, indim_shape_init(r->x->cx, INDIM_S64, on_true->shape->rank, on_true->shape->sizes, &places));
  value place = indim_build_iota(b, &places, dim);
  value from = indim_build_compare(b, place, t->from, "GE", NULL, NULL, 0);
  value to = indim_build_compare(b, place, t->to, "LT", NULL, NULL, 0);
  return indim_build_select(b, indim_build_binary(b, INDIM_OP_AND, from, to, NULL, 0), on_true, on_false);
}

static value row_tile_step(indim_expander *x, const void *about, value row, value *values) {
  const ragged *r = ((const tiling *)about)->r;
  value next = NULL;
  tile t = find_tile(about, row, values, &next);
  indim_shape shape = *r->out;
  shape.sizes[r->place] = r->tile;
  indim_build_fail(x->b, indim_shape_init(x->cx, shape.type, shape.rank, shape.sizes, &shape));
  value lhs = indim_expand_part(x, values[TILE_LHS], r->ragged, t.first, r->tile);
  value product = dot(r, lhs, indim_expand_cut(x, values[TILE_RHS], r->group, t.group), r->group, &shape);
  value old = indim_expand_part(x, values[TILE_RESULT], r->place, t.first, r->tile);
  value part = choose_new(r, &t, r->place, product, old);
  values[TILE_RESULT] = indim_expand_put_part(x, values[TILE_RESULT], r->place, t.first, part);
  return next;
}

// The tile of one side, with zeros at places that are not new.
static value side_tile(const ragged *r, const tile *t, value side, int64_t dim) {
  value part = indim_expand_part(r->x, side, dim, t->first, r->tile);
  value zero = side == NULL ? NULL : indim_build_scalar_int(r->x->b, side->shape->type, 0);
  return choose_new(r, t, dim, part, zero);
}

static value contract_tile_step(indim_expander *x, const void *about, value row, value *values) {
  const ragged *r = ((const tiling *)about)->r;
  value next = NULL;
  tile t = find_tile(about, row, values, &next);
  indim_shape one = group_shape(r);
  value lhs = side_tile(r, &t, values[TILE_LHS], r->ragged);
  value rhs = side_tile(r, &t, values[TILE_RHS], r->rhs_contracting[r->place]);
  value old = indim_expand_cut(x, values[TILE_RESULT], 0, t.group);
  value sum = indim_build_binary(x->b, INDIM_OP_ADD, old, dot(r, lhs, rhs, -1, &one), NULL, 0);
  values[TILE_RESULT] = indim_expand_put(x, values[TILE_RESULT], 0, t.group, sum);
  return next;
}

static value run_tiles(const ragged *r) {
  indim_expander *x = r->x;
  indim_shape number;
  indim_shape numbers;
  indim_build_fail(x->b, indim_shape_init(x->cx, INDIM_S64, 0, NULL, &number));
  indim_build_fail(x->b, indim_shape_init(x->cx, INDIM_S64, 1, &r->groups, &numbers));
  const indim_shape *shapes[TILE_VALUES] = {&number, r->lhs, r->rhs, &numbers, r->out};
  tiling t = {r, indim_expand_sum(x, INDIM_S64)};
  indim_expand_step *step = r->contracts ? contract_tile_step : row_tile_step;
  indim_expand_loop loop = indim_expand_make_loop(x, -1, shapes, TILE_VALUES, step, &t);
  indim_expand_begin(x);
  value ends = sum_up(r, t.sum, clamp_sizes(r));
  value last = indim_expand_cut(x, ends, 0, indim_build_scalar_int(x->b, INDIM_S64, r->groups - 1));
  value length = indim_build_scalar_int(x->b, INDIM_S64, r->length);
  value end = indim_build_binary(x->b, INDIM_OP_MINIMUM, last, length, NULL, 0);
  value values[TILE_VALUES] = {end, x->operands[0], x->operands[1], ends, indim_expand_zeros(x, r->out)};
  indim_expand_run_loop(x, &loop, values);
  return values[TILE_RESULT];
}

// Whether sums of narrow floats would be rounded tile by tile.
static bool loses_digits(const ragged *r) {
  return r->contracts && indim_type_is_float(r->out->type) && indim_type_bits(r->out->type) < 32;
}

value indim_expand_ragged_dot(indim_expander *x) {
  ragged r = read_ragged(x);
  if (has(indim_attr_mask(x->instr, INDIM_ATTR_LHS_BATCH_DIMS), r.ragged)) {
    indim_expand_begin(x);
    return dot(&r, x->operands[0], x->operands[1], -1, r.out);
  }
  if (r.groups == 0 || r.length == 0) {
    indim_expand_begin(x);
    return indim_expand_zeros(x, r.out);
  }
  return r.leading > 0 || loses_digits(&r) ? run_groups(&r) : run_tiles(&r);
}
