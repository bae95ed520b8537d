// Turns indices into places in storage and back.
//
// A layout is read as a list of sizes, major first: the padded widths in the order of minor_to_major reversed. Each
// tile rewrites the tail of that list: "*" entries merge their size into the next more minor one, then every size
// becomes the number of tiles, and the tile's own sizes follow. The place is the row-major position in the last list.
//
//   f32[3,5]{1,0:T(2,2)}:  [3,5] -> [2,3,2,2];   (1,3) -> (0,1,1,1) -> place 7
#include "array/index_plan.h"

#include <inttypes.h>
#include <string.h>

#include "base/size.h"

// Making a plan ---------------------------------------------------------------------------------------------------

// The list of sizes that follows |stage|, into |out|. False on overflow or when the last entry is "*".
static bool next_sizes(const indim_index_stage *stage, indim_index_stage *out) {
  int32_t first = stage->count - stage->tile_rank;
  int32_t merged = 0;
  int64_t tiles[INDIM_MAX_TILE_SIZES];
  int64_t size = 1;
  memcpy(out->sizes, stage->sizes, (size_t)first * sizeof out->sizes[0]);
  for (int32_t i = 0; i < stage->tile_rank; i++) {
    if (!indim_count_mul(size, stage->sizes[first + i], &size)) {
      return false;
    }
    if (stage->tile[i] != INDIM_TILE_COMBINE) {
      tiles[merged] = stage->tile[i];
      out->sizes[first + merged] = indim_ceil_div(size, stage->tile[i]);
      merged++;
      size = 1;
    }
  }
  memcpy(out->sizes + first + merged, tiles, (size_t)merged * sizeof tiles[0]);
  out->count = first + 2 * merged;
  return stage->tile_rank == 0 || stage->tile[stage->tile_rank - 1] != INDIM_TILE_COMBINE;
}

// Puts sizes of 1 in front until the tile fits.
static void add_lead(indim_index_stage *stage, const int64_t *tile, int32_t tile_rank) {
  stage->tile = tile;
  stage->tile_rank = tile_rank;
  stage->lead = tile_rank > stage->count ? tile_rank - stage->count : 0;
  if (stage->lead > 0) {
    memmove(stage->sizes + stage->lead, stage->sizes, (size_t)stage->count * sizeof stage->sizes[0]);
    for (int32_t i = 0; i < stage->lead; i++) {
      stage->sizes[i] = 1;
    }
    stage->count += stage->lead;
  }
}

// Product of sizes; 0 when one is 0, whatever the others.
static bool count_places(const int64_t *sizes, int32_t count, int64_t *out) {
  *out = 1;
  for (int32_t i = 0; i < count; i++) {
    if (sizes[i] == 0) {
      *out = 0;
      return true;
    }
  }
  for (int32_t i = 0; i < count; i++) {
    if (!indim_count_mul(*out, sizes[i], out)) {
      return false;
    }
  }
  return true;
}

static bool round_up(int64_t value, int64_t alignment, int64_t *out) {
  return indim_count_mul(indim_ceil_div(value, alignment), alignment, out);
}

static indim_status fail_overflow(indim_ctx *cx) {
  return indim_fail(cx, INDIM_INVALID, "the places of the array's storage do not fit in 64 bits");
}

// The first stage, and the strides if no tile follows.
static void start_plan(const indim_shape *shape, indim_index_plan *plan) {
  indim_index_stage *stage = &plan->stages[0];
  *stage = (indim_index_stage){.count = shape->rank};
  plan->rank = shape->rank;
  plan->tiled = shape->has_layout && shape->layout.tile_count > 0;
  plan->last_stage = 0;
  bool padded = shape->has_layout && shape->layout.padded_rank > 0;
  for (int32_t i = 0; i < shape->rank; i++) {
    int32_t dim = shape->has_layout ? (int32_t)shape->layout.minor_to_major[shape->rank - 1 - i] : i;
    plan->order[i] = dim;
    plan->sizes[dim] = shape->sizes[dim];
    stage->sizes[i] = padded ? shape->layout.padded_sizes[dim] : shape->sizes[dim];
  }
}

static void fill_strides(indim_index_plan *plan) {
  int64_t stride = 1;
  for (int32_t i = plan->rank - 1; i >= 0; i--) {
    plan->strides[plan->order[i]] = plan->count == 0 ? 0 : stride;  // an empty array's product could overflow
    stride *= plan->count == 0 ? 1 : plan->stages[0].sizes[i];
  }
}

indim_status indim_index_plan_init(indim_ctx *cx, const indim_shape *shape, indim_index_plan *plan) {
  start_plan(shape, plan);
  if (plan->tiled) {
    const int64_t *tile = shape->layout.tile_sizes;
    for (int32_t i = 0; i < shape->layout.tile_count; i++) {
      indim_index_stage *stage = &plan->stages[i];
      add_lead(stage, tile, shape->layout.tile_ranks[i]);
      if (stage->tile_rank > 0 && tile[stage->tile_rank - 1] == INDIM_TILE_COMBINE) {
        return indim_fail(cx, INDIM_INVALID,
                          "tile %" PRId32 " ends in '*': there is no more minor dimension to combine with", i);
      }
      if (!next_sizes(stage, stage + 1)) {
        return fail_overflow(cx);
      }
      tile += stage->tile_rank;
      stage[1].lead = 0;
      stage[1].tile_rank = 0;
    }
    plan->last_stage = shape->layout.tile_count;
  }
  const indim_index_stage *last = &plan->stages[plan->last_stage];
  int64_t tail = shape->has_layout ? shape->layout.tail_alignment : 1;
  if (!count_places(last->sizes, last->count, &plan->count) || !round_up(plan->count, tail, &plan->padded_count)) {
    return fail_overflow(cx);
  }
  fill_strides(plan);
  return INDIM_OK;
}

// Using it --------------------------------------------------------------------------------------------------------

// Rewrites coordinates in |stage|'s list as coordinates in the next one.
static int32_t next_coordinates(const indim_index_stage *stage, const int64_t *in, int64_t *out) {
  int32_t first = stage->count - stage->tile_rank;
  int64_t inner[INDIM_MAX_TILE_SIZES];
  int32_t merged = 0;
  int64_t at = 0;
  for (int32_t i = 0; i < first; i++) {
    out[i] = in[i];
  }
  for (int32_t i = 0; i < stage->tile_rank; i++) {
    at = at * stage->sizes[first + i] + in[first + i];
    if (stage->tile[i] != INDIM_TILE_COMBINE) {
      out[first + merged] = at / stage->tile[i];
      inner[merged] = at % stage->tile[i];
      merged++;
      at = 0;
    }
  }
  memcpy(out + first + merged, inner, (size_t)merged * sizeof inner[0]);
  return first + 2 * merged;
}

int64_t indim_index_plan_place(const indim_index_plan *plan, const int64_t *index) {
  int64_t place = 0;
  if (!plan->tiled) {
    for (int32_t d = 0; d < plan->rank; d++) {
      place += index[d] * plan->strides[d];
    }
    return place;
  }
  int64_t a[INDIM_MAX_PHYSICAL_RANK];
  int64_t b[INDIM_MAX_PHYSICAL_RANK];
  int64_t *from = a;
  int64_t *to = b;
  int32_t lead = plan->stages[0].lead;
  for (int32_t i = 0; i < lead; i++) {
    from[i] = 0;
  }
  for (int32_t i = 0; i < plan->rank; i++) {
    from[lead + i] = index[plan->order[i]];
  }
  for (int32_t s = 0; s < plan->last_stage; s++) {
    next_coordinates(&plan->stages[s], from, to);
    int64_t *swap = from;
    from = to;
    to = swap;
    lead = plan->stages[s + 1].lead;
    if (lead > 0) {
      memmove(from + lead, from, (size_t)(plan->stages[s + 1].count - lead) * sizeof from[0]);
      memset(from, 0, (size_t)lead * sizeof from[0]);
    }
  }
  const indim_index_stage *last = &plan->stages[plan->last_stage];
  for (int32_t i = 0; i < last->count; i++) {
    place = place * last->sizes[i] + from[i];
  }
  return place;
}

// Splits the coordinate |at| of the merged sizes |from|..|to| of |stage| again. The most major one may end up beyond
// its size.
static void split_merged(const indim_index_stage *stage, int32_t from, int32_t to, int64_t at, int64_t *out) {
  for (int32_t i = to; i > from; i--) {
    out[i] = at % stage->sizes[i];
    at /= stage->sizes[i];
  }
  out[from] = at;
}

// Reverse of next_coordinates. Returns false when the place lies beyond a size of |stage|: between two tiles.
static bool previous_coordinates(const indim_index_stage *stage, const int64_t *in, int64_t *out) {
  int32_t first = stage->count - stage->tile_rank;
  int32_t merged = 0;
  for (int32_t i = 0; i < stage->tile_rank; i++) {
    merged += stage->tile[i] != INDIM_TILE_COMBINE;
  }
  memcpy(out, in, (size_t)first * sizeof in[0]);
  bool inside = true;
  int32_t from = first;
  int32_t m = 0;
  int64_t size = 1;
  for (int32_t i = 0; i < stage->tile_rank; i++) {
    size *= stage->sizes[first + i];
    if (stage->tile[i] != INDIM_TILE_COMBINE) {
      int64_t at = in[first + m] * stage->tile[i] + in[first + merged + m];
      inside = inside && at < size;
      split_merged(stage, from, first + i, at, out);
      from = first + i + 1;
      size = 1;
      m++;
    }
  }
  return inside;
}

void indim_index_plan_index(const indim_index_plan *plan, int64_t place, int64_t *out_index, bool *out_is_padding) {
  int64_t a[INDIM_MAX_PHYSICAL_RANK];
  int64_t b[INDIM_MAX_PHYSICAL_RANK];
  int64_t *from = a;
  int64_t *to = b;
  const indim_index_stage *last = &plan->stages[plan->last_stage];
  bool inside = place < plan->count;
  for (int32_t i = last->count - 1; i >= 0; i--) {
    bool most_major = i == 0;  // takes what is left, so that tail padding shows as a coordinate too large
    from[i] = most_major ? place : place % last->sizes[i];
    place /= last->sizes[i];
  }
  for (int32_t s = plan->last_stage - 1; s >= 0; s--) {
    const indim_index_stage *stage = &plan->stages[s];
    inside = previous_coordinates(stage, from, to) && inside;
    memmove(to, to + stage->lead, (size_t)(stage->count - stage->lead) * sizeof to[0]);
    int64_t *swap = from;
    from = to;
    to = swap;
  }
  bool seen_beyond = false;
  for (int32_t i = 0; i < plan->rank; i++) {
    out_index[plan->order[i]] = from[i];
    seen_beyond = seen_beyond || from[i] >= plan->sizes[plan->order[i]];
  }
  *out_is_padding = seen_beyond || !inside;
  if (*out_is_padding && !seen_beyond && plan->rank > 0) {
    out_index[plan->order[0]] += plan->sizes[plan->order[0]];
  }
}

// The public functions --------------------------------------------------------------------------------------------

bool indim_index_in_bounds(const indim_shape *shape, const int64_t *index) {
  if (shape == NULL || (index == NULL && shape->rank > 0)) {
    return false;
  }
  for (int32_t d = 0; d < shape->rank; d++) {
    if (index[d] < 0 || index[d] >= shape->sizes[d]) {
      return false;
    }
  }
  return true;
}

static indim_status make_plan(indim_ctx *cx, const indim_shape *shape, indim_index_plan *plan) {
  if (!indim_shape_is_array(shape) || indim_shape_is_unbounded(shape)) {
    return indim_fail(cx, INDIM_INVALID, "only an array with bounded sizes has places in storage");
  }
  INDIM_TRY(indim_shape_validate(cx, shape, false));
  return indim_index_plan_init(cx, shape, plan);
}

indim_status indim_index_linearize(indim_ctx *cx, const indim_shape *shape, const int64_t *index, int64_t *out_place) {
  indim_index_plan plan;
  INDIM_TRY(make_plan(cx, shape, &plan));
  for (int32_t d = 0; d < shape->rank; d++) {
    if (index[d] < 0 || index[d] >= shape->sizes[d]) {
      return indim_fail(cx, INDIM_INVALID,
                        "index %" PRId64 " of dimension %" PRId32 " is out of bounds: its size is %" PRId64, index[d],
                        d, shape->sizes[d]);
    }
  }
  *out_place = indim_index_plan_place(&plan, index);
  return INDIM_OK;
}

indim_status indim_index_delinearize(indim_ctx *cx, const indim_shape *shape, int64_t place, int64_t *out_index,
                                     bool *out_is_padding) {
  indim_index_plan plan;
  INDIM_TRY(make_plan(cx, shape, &plan));
  if (place < 0 || place >= plan.padded_count) {
    return indim_fail(cx, INDIM_INVALID, "place %" PRId64 " is outside the array's storage of %" PRId64 " places",
                      place, plan.padded_count);
  }
  indim_index_plan_index(&plan, place, out_index, out_is_padding);
  return INDIM_OK;
}

indim_status indim_index_strides(indim_ctx *cx, const indim_shape *shape, int64_t *out_strides) {
  indim_index_plan plan;
  INDIM_TRY(make_plan(cx, shape, &plan));
  if (plan.tiled) {
    return indim_fail(cx, INDIM_INVALID, "a tiled layout has no strides");
  }
  int64_t stride = 1;
  for (int32_t i = plan.rank - 1; i >= 0; i--) {
    out_strides[plan.order[i]] = stride;
    if (i > 0 && !indim_count_mul(stride, plan.stages[0].sizes[i], &stride)) {
      return fail_overflow(cx);
    }
  }
  return INDIM_OK;
}

bool indim_index_next(const indim_shape *shape, int64_t *index) {
  if (shape == NULL || index == NULL) {
    return false;
  }
  for (int32_t d = shape->rank - 1; d >= 0; d--) {
    if (++index[d] < shape->sizes[d]) {
      return true;
    }
    index[d] = 0;
  }
  return false;
}

bool indim_index_next_in_memory(const indim_shape *shape, int64_t *index) {
  if (shape == NULL || index == NULL) {
    return false;
  }
  if (!shape->has_layout) {
    return indim_index_next(shape, index);
  }
  for (int32_t i = 0; i < shape->rank; i++) {
    int64_t d = shape->layout.minor_to_major[i];
    if (++index[d] < shape->sizes[d]) {
      return true;
    }
    index[d] = 0;
  }
  return false;
}

int indim_index_compare(int32_t rank, const int64_t *a, const int64_t *b) {
  for (int32_t d = 0; d < rank; d++) {
    if (a[d] != b[d]) {
      return a[d] < b[d] ? -1 : 1;
    }
  }
  return 0;
}

void indim_index_walk_init(indim_index_walk *walk, const indim_shape *shape, const int64_t *base, const int64_t *count,
                           const int64_t *step) {
  if (walk == NULL) {
    return;
  }
  if (shape == NULL) {
    *walk = (indim_index_walk){.done = true};
    return;
  }
  walk->rank = shape->rank;
  walk->started = false;
  walk->done = false;
  for (int32_t d = 0; d < shape->rank; d++) {
    walk->order[d] = shape->has_layout ? shape->layout.minor_to_major[d] : shape->rank - 1 - d;
    walk->base[d] = base != NULL ? base[d] : 0;
    walk->count[d] = count != NULL ? count[d] : shape->sizes[d];
    walk->step[d] = step != NULL ? step[d] : 1;
    walk->done = walk->done || shape->sizes[d] == 0;
  }
}

bool indim_index_walk_next(indim_index_walk *walk) {
  if (walk == NULL) {
    return false;
  }
  if (walk->done) {
    return false;
  }
  if (!walk->started) {
    walk->started = true;
    memcpy(walk->index, walk->base, (size_t)walk->rank * sizeof walk->index[0]);
    return true;
  }
  for (int32_t i = 0; i < walk->rank; i++) {
    int64_t d = walk->order[i];
    int64_t left = walk->count[d] - (walk->index[d] - walk->base[d]);  // steps are compared so that nothing overflows
    if (walk->step[d] > 0 && walk->step[d] < left) {
      walk->index[d] += walk->step[d];
      return true;
    }
    walk->index[d] = walk->base[d];
  }
  walk->done = true;
  return false;
}
