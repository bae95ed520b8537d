// Operands of a product's nest that are laid out before it, because its lanes would be moved one by one.
#include "loop/ir/index_math.h"
#include "loop/kernels/dot.h"
#include "loop/target/cost.h"

enum { LEAST_LANES = 8 };  // rows worth being laid out innermost in place of the sum

// Lays an operand out with dimension |minor| of the nest innermost, if it has that, then the sum, its other rows, and the batch; until
// the nest is built it is read from there. Where |minor| is short, the other rows come before the sum.
static bool lay_out(indim_product *p, bool is_left, int32_t minor) {
  indim_flow_item *operand = is_left ? p->lhs : p->rhs;
  int32_t rows = is_left ? INDIM_PRODUCT_LEFT : INDIM_PRODUCT_RIGHT;
  bool is_short = p->group[minor] == rows && p->sizes[minor] < INDIM_COST_LAID_OUT_ROWS;
  const int32_t order[] = {is_short ? rows : INDIM_PRODUCT_CONTRACTED, is_short ? INDIM_PRODUCT_CONTRACTED : rows,
                           INDIM_PRODUCT_BATCH};
  const indim_shape wanted = indim_product_laid_out(p, is_left, operand->shape->type, order, minor);
  const indim_location *at = indim_lower_copy(p->l, operand, &wanted);
  indim_lower_explain(p->l, p->item, "its %s side is copied for whole vectors", is_left ? "left" : "right");
  if (at != NULL) {
    operand->place = *at;
  }
  return at != NULL;
}

// Lanes are rows of one operand that lie apart in it: all rows of the other one would load them one by one.
static bool lay_out_rows(indim_product *p) {
  bool is_left = p->group[p->vector_dim] == INDIM_PRODUCT_LEFT;
  int64_t rows = indim_product_size_of_group(p, is_left ? INDIM_PRODUCT_RIGHT : INDIM_PRODUCT_LEFT);
  return rows >= INDIM_COST_LAID_OUT_ROWS && indim_product_is_fetched_by_lanes(p) && lay_out(p, is_left, p->vector_dim);
}

// The largest dimension of the nest that only the operand has, if it has enough elements for lanes; else that of the sum.
static int32_t rows_or_sum(const indim_product *p, bool is_left) {
  int32_t best = p->vector_dim;
  int64_t size = LEAST_LANES - 1;
  for (int32_t d = 0; d < p->out_rank; d++) {
    if (p->group[d] == (is_left ? INDIM_PRODUCT_LEFT : INDIM_PRODUCT_RIGHT) && p->sizes[d] > size) {
      best = d;
      size = p->sizes[d];
    }
  }
  return best;
}

// The dimension along which elements of the result are adjacent; -1: none.
static int32_t minor_of_result(const indim_product *p) {
  int32_t minor = -1;
  for (int32_t d = 0; d < p->out_rank; d++) {
    minor = p->item->place.strides[d] == 1 && p->sizes[d] > 1 ? d : minor;
  }
  return minor;
}

// Lanes are along a short sum, along which both operands lie: adding them up takes longer than the sum of rows of the result does, for
// which one operand is laid out.
static bool lay_out_for_rows(indim_product *p) {
  int32_t minor = minor_of_result(p);
  if (minor < 0 || p->group[minor] == INDIM_PRODUCT_BATCH || p->sizes[minor] < LEAST_LANES) {
    return false;
  }
  bool is_left = p->group[minor] == INDIM_PRODUCT_LEFT;
  int64_t rows = indim_product_size_of_group(p, is_left ? INDIM_PRODUCT_RIGHT : INDIM_PRODUCT_LEFT);
  int64_t steps = indim_product_size_of_group(p, INDIM_PRODUCT_CONTRACTED);
  int64_t each = indim_type_is_complex(p->sum) ? INDIM_COST_LAID_OUT_EACH / 2 : INDIM_COST_LAID_OUT_EACH;
  return rows >= INDIM_COST_LAID_OUT_SUM_ROWS && steps <= INDIM_COST_LAID_OUT_STEPS && steps <= each * rows &&
         lay_out(p, is_left, minor);
}

// Lanes are along the sum, as one operand lies along it, but the other one does not: each row of that one would load them one by one.
static bool lay_out_sum(indim_product *p) {
  bool is_done = false;
  for (int32_t side = 0; side < 2; side++) {
    bool is_left = side == 0;
    int64_t rows = indim_product_size_of_group(p, is_left ? INDIM_PRODUCT_RIGHT : INDIM_PRODUCT_LEFT);
    is_done =
        is_done || (rows >= INDIM_COST_LAID_OUT_SUM_ROWS && !indim_product_side_lies_along(p, is_left, p->vector_dim) &&
                    lay_out(p, is_left, rows_or_sum(p, is_left)));
  }
  return is_done || (indim_product_lies_along_sum(p) && lay_out_for_rows(p));
}

// How many elements of the result from dimension |minor| on are adjacent, of one operand's rows.
static int64_t run_of_result(const indim_product *p, int32_t minor) {
  int64_t run = 1;
  for (int32_t d = minor; d >= 0 && p->group[d] == p->group[minor] && p->item->place.strides[d] == run; d--) {
    run = indim_index_mul_saturated(run, p->sizes[d]);
  }
  return run;
}

// Lanes lie apart in the result, where they would be stored one by one: those of its rows are made better ones. The operands are fewer
// elements.
static bool lay_out_for_result(indim_product *p) {
  int64_t m = indim_product_size_of_group(p, INDIM_PRODUCT_LEFT);
  int64_t n = indim_product_size_of_group(p, INDIM_PRODUCT_RIGHT);
  int64_t k = indim_product_size_of_group(p, INDIM_PRODUCT_CONTRACTED);
  int32_t minor = minor_of_result(p);
  bool is_larger = indim_index_mul_saturated(m, n) >= indim_index_mul_saturated(indim_index_add_saturated(m, n), k);
  // Past a short dimension lanes are near each other, and as many rows would be better ones.
  bool is_past = minor >= 0 && p->sizes[minor] < INDIM_COST_LAID_OUT_ROWS &&
                 p->item->place.strides[p->vector_dim] > INDIM_LOOP_MOST_STRIDE;
  if (minor < 0 || p->group[minor] == INDIM_PRODUCT_BATCH || run_of_result(p, minor) < INDIM_COST_LAID_OUT_ROWS ||
      !is_larger || !(is_past || indim_product_is_stored_by_lanes(p))) {
    return false;
  }
  bool is_left = p->group[minor] == INDIM_PRODUCT_LEFT;
  bool is_of_batch = p->group[p->vector_dim] == INDIM_PRODUCT_BATCH;
  return lay_out(p, is_left, minor) && (!is_of_batch || lay_out(p, !is_left, minor));
}

bool indim_product_lay_out(indim_product *p) {
  if (p->vector_dim < 0 || p->l->loop_depth > 0 || p->item->place.tiled != NULL) {
    return false;
  }
  if (p->vector_dim >= p->out_rank) {
    return lay_out_sum(p);
  }
  return (p->group[p->vector_dim] != INDIM_PRODUCT_BATCH && lay_out_rows(p)) || lay_out_for_result(p);
}
