// Places of rows and steps of the host's convolution, and which of them lie in the image.
#ifndef INDIM_RUN_CONVOLUTION_PLACES_H
#define INDIM_RUN_CONVOLUTION_PLACES_H

#include "run/convolution_block.h"

// Where a row, or a step of the sum, is.
typedef struct place {
  int64_t image, other;
  int64_t at[INDIM_GATHER_AXES];
} place;

// |count| steps along a dimension.
static inline void move(const indim_gather_dim *dim, int64_t count, place *at) {
  at->image += count * dim->image;
  at->other += count * dim->other;
  if (dim->axis >= 0) {
    at->at[dim->axis] += count * dim->move;
  }
}

// Indices |begin| to |begin| + |count| of the dimensions.
static inline void list_places(const indim_gather_dim *dims, int32_t rank, int64_t begin, int64_t count, place first,
                               place *out) {
  int64_t index[INDIM_GATHER_DIMS] = {0};
  const indim_gather_dim *inner = &dims[rank - 1];
  place at = first;
  for (int32_t d = rank - 1; d >= 0; d--) {
    index[d] = begin % dims[d].size;
    begin /= dims[d].size;
    move(&dims[d], index[d], &at);
  }
  for (int64_t i = 0; i < count;) {
    int64_t end = inner->size - index[rank - 1] + i;
    end = end < count ? end : count;
    place step = {0};
    move(inner, 1, &step);
    int64_t image = at.image, other = at.other, at0 = at.at[0], at1 = at.at[1], at2 = at.at[2];
    int64_t to_image = step.image, to_other = step.other, to0 = step.at[0], to1 = step.at[1], to2 = step.at[2];
    int64_t left = inner->size - index[rank - 1];
    for (; i < end; i++) {
      out[i] = (place){image, other, {at0, at1, at2}};
      image += to_image;
      other += to_other;
      at0 += to0;
      at1 += to1;
      at2 += to2;
    }
    move(inner, left, &at);
    index[rank - 1] = 0;
    move(inner, -inner->size, &at);
    for (int32_t d = rank - 2; d >= 0; d--) {
      bool is_end = ++index[d] == dims[d].size;
      move(&dims[d], is_end ? 1 - dims[d].size : 1, &at);
      if (!is_end) {
        break;
      }
      index[d] = 0;
    }
  }
}

// The least and the greatest place of a list along each axis.
typedef struct bounds {
  place low, high;
} bounds;

static inline bounds bounds_of(const place *places, int64_t count) {
  bounds b = {places[0], places[0]};
  for (int64_t i = 1; i < count; i++) {
    for (int32_t s = 0; s < INDIM_GATHER_AXES; s++) {
      int64_t at = places[i].at[s];
      b.low.at[s] = at < b.low.at[s] ? at : b.low.at[s];
      b.high.at[s] = at > b.high.at[s] ? at : b.high.at[s];
    }
  }
  return b;
}

static inline bool is_inside(const indim_gather *g, const place *row, const place *step) {
  return (uint64_t)(row->at[0] + step->at[0]) < (uint64_t)g->limits[0] &&
         (uint64_t)(row->at[1] + step->at[1]) < (uint64_t)g->limits[1] &&
         (uint64_t)(row->at[2] + step->at[2]) < (uint64_t)g->limits[2];
}

static inline bool are_inside(const indim_gather *g, const bounds *rows, const place *step) {
  return is_inside(g, &rows->low, step) && is_inside(g, &rows->high, step);
}

// Of |count| elements that meet a place of the image each, |move| apart along |axis| (-1: all at one place), those that lie
// inside: from |*out_low| to below the result.
static inline int64_t clip(const indim_gather *g, const place *row, const place *step, int32_t axis, int64_t move,
                           int64_t count, int64_t *out_low) {
  *out_low = 0;
  for (int32_t s = 0; s < INDIM_GATHER_AXES; s++) {
    int64_t at = row->at[s] + step->at[s];
    if (s != axis && (uint64_t)at >= (uint64_t)g->limits[s]) {
      return 0;
    }
  }
  if (axis < 0) {
    return count;
  }
  int64_t at = row->at[axis] + step->at[axis];
  int64_t left = g->limits[axis] - at;
  if (at >= 0 && left > (count - 1) * move) {
    return count;
  }
  int64_t low = at >= 0 ? 0 : move == 1 ? -at : (move - 1 - at) / move;
  int64_t high = left <= 0 ? 0 : move == 1 ? left : (left - 1) / move + 1;
  high = high < count ? high : count;
  *out_low = low < high ? low : high;
  return high;
}

#endif  // INDIM_RUN_CONVOLUTION_PLACES_H
