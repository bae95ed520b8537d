// How register arrays are divided into rows of lanes.
#include "loop/regs/regs_internal.h"

static int64_t power_above(int64_t x) {
  int64_t power = 1;
  while (power < x) {
    power *= 2;
  }
  return power;
}

// The divisor of |size| with the least waste when each row takes a power of two, the largest of those that tie, at most a
// register; the whole row when every such cut wastes more.
static int32_t cut_long_row(int64_t size, int64_t width) {
  int64_t best = size;
  int64_t best_cost = power_above(size) + 1;
  for (int64_t lanes = width; lanes >= 2 && lanes * 2 >= width; lanes--) {
    int64_t cost = size / lanes * power_above(lanes);
    if (size % lanes == 0 && cost < best_cost) {
      best = lanes;
      best_cost = cost;
    }
  }
  return (int32_t)best;
}

// The same in a half or a quarter of a register, where whole ones are not filled: 8 points of 3 coordinates are 3 rows of 8
// though a register has 16 lanes. Elements of one row stand in two then, which costs a product with them more than it gains
// until some rows are saved, and more than a quarter of them, or each takes two loads: f64[12,6] times f64[6,6] takes 1.06 of
// the time in 9 rows of 8, f32[8,5] 0.79 in 5 of 8, f32[12,3] 0.70 in 9 of 4.
static int64_t cut_in_parts(int64_t total, int64_t last, int64_t width) {
  enum { LEAST_SAVED = 3 };
  for (int64_t lanes = width / 2; lanes > last; lanes /= 2) {
    int64_t saved = total / last - total / lanes;
    if (total % lanes == 0 && saved >= LEAST_SAVED && (last == 3 || 4 * saved > total / last)) {
      return lanes;
    }
  }
  return last;
}

// The lanes follow from the sizes alone, so that a comparison's preds stand as what was compared. |width| counts lanes of
// 4 bytes: rows of 8 are one register of f32, two of f64.
int32_t indim_regs_row_lanes(const indim_target *target, int32_t rank, const int64_t *sizes) {
  int64_t width = target->vector_bytes / 4;
  int64_t total = 1;
  int64_t last = 1;
  for (int32_t d = rank - 1; d >= 0; d--) {
    total *= sizes[d];
    last = last == 1 ? sizes[d] : last;
  }
  if (total == 0) {
    return 1;  // and no row
  }
  if (last > width) {
    return cut_long_row(last, width);
  }
  bool is_power = power_above(last) == last;
  if (!is_power && total % width == 0) {  // 8 points of 3 coordinates fill 3 registers, not 8 in part
    return (int32_t)width;
  }
  if (!is_power) {
    last = cut_in_parts(total, last, width);
  }
  while (last > 1 && is_power && last * 2 <= width && total / last % 2 == 0) {
    last *= 2;
  }
  return (int32_t)last;
}

// The smallest are scalars: what is done with three coordinates is mostly done with each by itself, and the way from one
// lane to another takes as long as a sum.
int32_t indim_regs_lanes(const indim_target *target, const indim_shape *shape) {
  if (indim_shape_element_count(shape) <= INDIM_REGS_SCALARS) {
    return 1;
  }
  return indim_regs_row_lanes(target, shape->rank, shape->sizes);
}

indim_value_id *indim_regs_new(indim_loop_builder *b, const indim_shape *shape, indim_regs *out) {
  void *memory = NULL;
  *out = (indim_regs){.shape = shape, .lanes = indim_regs_lanes(&b->program->target, shape)};
  int64_t rows = indim_shape_element_count(shape) / out->lanes;
  indim_status status = b->status;
  if (status == INDIM_OK) {
    status = indim_arena_array(&b->program->arena, (size_t)rows, sizeof(indim_value_id), &memory);
    if (status != INDIM_OK) {
      indim_loop_fail(b, status);
    }
  }
  if (status != INDIM_OK) {
    return NULL;
  }
  out->rows = memory;
  out->row_count = (int32_t)rows;
  return memory;
}
