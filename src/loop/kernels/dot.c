// dot: how a product is computed. A large product of two arrays in memory is left to the host (dot_host.c), one row times a
// matrix reads the matrix sequentially (dot_rows.c), everything else is a loop nest over the output (dot_nest.c). The order
// of the sums, and one rounding instead of two, are ours.
#include <string.h>

#include "host/matmul.h"
#include "loop/ir/build.h"
#include "loop/kernels/dot.h"
#include "loop/target/cost.h"

static void analyze_body(indim_nest *nest, indim_element_ctx *k, const indim_coord *index) {
  indim_product *p = nest->user;
  (void)indim_product_factor(p, k, true, index);
  p->left_accesses = p->list->count;
  (void)indim_product_factor(p, k, false, index);
}

// Chooses the largest free dimension of the operand that does not have the vector dimension: its rows share loads. Lanes of the
// batch share none, so that both operands have one.
static void choose_rows(indim_product *p) {
  p->row_dim = -1;
  int64_t best = 1;
  for (int32_t d = 0; d < p->out_rank; d++) {
    bool other_side =
        p->vector_dim >= p->out_rank ? p->group[d] != INDIM_PRODUCT_BATCH : p->group[d] != p->group[p->vector_dim];
    if (p->group[d] != INDIM_PRODUCT_BATCH && other_side && p->sizes[d] > best && d != p->vector_dim) {
      best = p->sizes[d];
      p->row_dim = d;
    }
  }
  p->column_dim = -1;
  best = 1;
  bool is_batch = p->vector_dim < p->out_rank && p->group[p->vector_dim] == INDIM_PRODUCT_BATCH && p->row_dim >= 0;
  enum { COMPLEX = 2 };  // whose four sums have two registers each
  bool is_complex = indim_type_is_complex(p->sum);
  for (int32_t d = 0; is_batch && d < p->out_rank; d++) {
    bool fits = !is_complex || (p->sizes[d] <= COMPLEX && p->sizes[p->row_dim] <= COMPLEX);
    if (fits && p->group[d] != INDIM_PRODUCT_BATCH && p->group[d] != p->group[p->row_dim] && p->sizes[d] > best) {
      best = p->sizes[d];
      p->column_dim = d;
    }
  }
}

// Dimensions of the output that move together in all three arrays become one, as they did for the operands alone in |nest|:
// the many dimensions of length 2 of a tensor network would be a loop each, or its copies.
static void merge_output(indim_product *p, indim_nest *nest) {
  const indim_location *at = &p->item->place;
  int32_t inner = -1;
  memcpy(nest->sizes, p->sizes, (size_t)p->out_rank * sizeof *nest->sizes);
  for (int32_t d = p->out_rank - 1; d >= 0 && at->tiled == NULL; d--) {
    if (nest->sizes[d] == 1) {
      continue;
    }
    if (inner >= 0 && at->strides[d] == at->strides[inner] * nest->sizes[inner] &&
        indim_nest_can_collapse(nest, d, inner)) {
      nest->sizes[inner] *= nest->sizes[d];
      nest->sizes[d] = 1;
    } else {
      inner = d;
    }
  }
}

static bool is_adjacent(const indim_nest *nest, int32_t dim) {
  bool is = false;
  for (int32_t i = 0; i < nest->list->count; i++) {
    is = is || indim_access_is_adjacent(&nest->list->accesses[i], dim);
  }
  return is;
}

// Whether no operand has to be put together one by one for lanes along |dim|.
static bool is_whole(const indim_nest *nest, int32_t dim) {
  bool is = true;
  for (int32_t i = 0; i < nest->list->count; i++) {
    const indim_access *access = &nest->list->accesses[i];
    is = is && (indim_access_is_adjacent(access, dim) || (access->strides != NULL && access->strides[dim] == 0));
  }
  return is;
}

// The nest's vector dimension was chosen by the operands. Lanes that lie apart there and in the output are loaded and stored one
// by one, and so are those along the sum of an operand that does not lie so, which no sum is worth: a few that are adjacent in both take
// less time, and much less code; along the sum those that are adjacent in an operand alone do, too.
static void prefer_adjacent(const indim_product *p, indim_nest *nest) {
  enum { LEAST_LANES = 4 };
  const indim_location *at = &p->item->place;
  int32_t chosen = nest->vector_dim;
  if (chosen < 0 || at->tiled != NULL) {
    return;
  }
  bool is_apart = chosen < p->out_rank ? at->strides[chosen] != 1 && !is_adjacent(nest, chosen)
                                       : !indim_product_side_lies_along(p, true, chosen) ||
                                             !indim_product_side_lies_along(p, false, chosen);
  for (int32_t d = 0; d < p->out_rank && is_apart; d++) {
    bool is_long = nest->sizes[d] > 1 && p->sizes[d] >= LEAST_LANES;
    bool is_contiguous = at->strides[d] == 1 || (chosen >= p->out_rank && nest->vector_dim == chosen);
    if (is_long && is_contiguous && is_adjacent(nest, d) && (chosen < p->out_rank || is_whole(nest, d))) {
      nest->vector_dim = d;
    }
  }
}

static bool is_left_to_host(indim_product *p, const int64_t *sizes) {
  const char *reason = indim_product_call_host(p, sizes);
  if (reason == NULL) {
    indim_lower_explain(p->l, p->item, "computed by the host");
  } else if (indim_product_call_packed(p)) {
    indim_lower_explain(p->l, p->item, "computed by the host, of operands that are copied into matrices: %s", reason);
    reason = NULL;
  } else {
    indim_lower_explain(p->l, p->item, "not by the host: %s", reason);
  }
  return reason == NULL;
}

indim_flow_item *indim_product_before_conversion(indim_flow_item *operand) {
  bool is_it = operand->placement == INDIM_PLACEMENT_INLINE && operand->kind == INDIM_FLOW_OP &&
               operand->instr->op == INDIM_OP_CONVERT && operand->shape->type == INDIM_S32 &&
               indim_matmul_is_small_int(operand->operands[0]->shape->type);
  return is_it ? operand->operands[0] : operand;
}

// Chooses the lanes and their dimension by how operands and output lie; |nest| has the collapsed sizes then.
static void choose_lanes(indim_product *p, indim_nest *nest) {
  *nest = (indim_nest){.l = p->l, .rank = p->rank, .body = analyze_body, .user = p, .cost = 2};
  memcpy(nest->sizes, p->sizes, sizeof nest->sizes);
  memcpy(nest->group, p->group, sizeof nest->group);
  indim_nest_analyze(nest, p->list);
  indim_nest_choose(nest, NULL);
  prefer_adjacent(p, nest);
  p->vector_dim = nest->vector_dim;
  p->lanes = nest->lanes;
}

void indim_lower_dot(indim_lowering *l, indim_flow_item *item) {
  indim_product p = {.l = l, .item = item, .lhs = indim_product_before_conversion(item->operands[0])};
  p.rhs = indim_product_before_conversion(item->operands[1]);
  p.list = indim_lower_alloc(l, 1, sizeof *p.list);
  if (p.list == NULL) {
    return;
  }
  indim_product_set_up(&p);
  indim_loop_region_begin(&l->b, &item->place.storage, 1);
  bool is_empty = false;
  for (int32_t d = 0; d < p.rank; d++) {
    is_empty = is_empty || p.sizes[d] == 0;
  }
  const indim_location lhs_place = p.lhs->place;
  const indim_location rhs_place = p.rhs->place;
  indim_nest nest;
  if (is_empty) {
    p.vector_dim = -1;
    p.lanes = 1;
  } else {
    choose_lanes(&p, &nest);
    if (indim_lower_failed(l) || is_left_to_host(&p, nest.sizes)) {
      return;
    }
    int32_t contracted = -1;
    if (indim_product_is_one_row(&p, nest.sizes, &contracted)) {
      indim_lower_explain(l, item, "one row times a matrix, several rows of it at a time");
      indim_element_forget(l);
      indim_product_run_one_row(&p, contracted, nest.sizes[contracted]);
      return;
    }
    if (indim_product_lay_out(&p)) {
      indim_loop_region_begin(&l->b, &item->place.storage, 1);
      choose_lanes(&p, &nest);
    }
    merge_output(&p, &nest);
    memcpy(p.sizes, nest.sizes, sizeof p.sizes);
  }
  if (p.vector_dim < 0) {
    p.vector_dim = p.out_rank > 0 ? p.out_rank - 1 : p.rank;
    p.lanes = 1;
  }
  int64_t extent = p.vector_dim < p.rank ? p.sizes[p.vector_dim] : 1;
  while (p.lanes > 1 && p.lanes > extent) {
    p.lanes /= 2;
  }
  choose_rows(&p);
  bool is_doubled =
      extent >= 2 * (int64_t)p.lanes && p.vector_dim < p.rank && p.column_dim < 0 && !indim_type_is_complex(p.sum);
  p.lanes *= is_doubled ? 2 : 1;
  indim_element_forget(l);
  indim_product_run_nest(&p);
  p.lhs->place = lhs_place;
  p.rhs->place = rhs_place;
}
