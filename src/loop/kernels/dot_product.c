// A product as a nest: which dimension of it each dimension of the operands is, and its factors at an index of it.
#include "loop/ir/index_math.h"
#include "loop/kernels/dot.h"

void indim_product_set_up(indim_product *p) {
  const indim_instr *instr = p->item->instr;
  int64_t batch_count = 0, lhs_count = 0, rhs_count = 0;
  const int64_t *lhs_batch = indim_instr_ints(instr, INDIM_ATTR_LHS_BATCH_DIMS, &batch_count);
  const int64_t *rhs_batch = indim_instr_ints(instr, INDIM_ATTR_RHS_BATCH_DIMS, &batch_count);
  const int64_t *lhs_contracting = indim_instr_ints(instr, INDIM_ATTR_LHS_CONTRACTING_DIMS, &lhs_count);
  const int64_t *rhs_contracting = indim_instr_ints(instr, INDIM_ATTR_RHS_CONTRACTING_DIMS, &rhs_count);
  const indim_shape *lhs = p->lhs->shape;
  const indim_shape *rhs = p->rhs->shape;
  p->out_rank = p->item->shape->rank;
  p->rank = p->out_rank + (int32_t)lhs_count;
  int32_t at = 0;
  for (int64_t i = 0; i < batch_count; i++, at++) {
    p->sizes[at] = lhs->sizes[lhs_batch[i]];
    p->group[at] = INDIM_PRODUCT_BATCH;
    p->lhs_dim[lhs_batch[i]] = at;
    p->rhs_dim[rhs_batch[i]] = at;
  }
  indim_dot_dim kinds[INDIM_MAX_RANK];
  indim_instr_dot_dims(instr, 0, lhs->rank, kinds);
  for (int32_t d = 0; d < lhs->rank; d++) {
    if (kinds[d] == INDIM_DOT_FREE) {
      p->sizes[at] = lhs->sizes[d];
      p->group[at] = INDIM_PRODUCT_LEFT;
      p->lhs_dim[d] = at++;
    }
  }
  indim_instr_dot_dims(instr, 1, rhs->rank, kinds);
  for (int32_t d = 0; d < rhs->rank; d++) {
    if (kinds[d] == INDIM_DOT_FREE) {
      p->sizes[at] = rhs->sizes[d];
      p->group[at] = INDIM_PRODUCT_RIGHT;
      p->rhs_dim[d] = at++;
    }
  }
  for (int64_t i = 0; i < lhs_count; i++, at++) {
    p->sizes[at] = lhs->sizes[lhs_contracting[i]];
    p->group[at] = INDIM_PRODUCT_CONTRACTED;
    p->lhs_dim[lhs_contracting[i]] = at;
    p->rhs_dim[rhs_contracting[i]] = at;
  }
  indim_type type = p->item->shape->type;
  p->sum = indim_type_is_float(type) && type != INDIM_F64 ? INDIM_F32 : type;
}

int64_t indim_product_size_of_group(const indim_product *p, int32_t group) {
  int64_t size = 1;
  for (int32_t d = 0; d < p->rank; d++) {
    size = p->group[d] == group ? indim_index_mul_saturated(size, p->sizes[d]) : size;
  }
  return size;
}

bool indim_product_side_lies_along(const indim_product *p, bool is_left, int32_t dim) {
  int32_t end = is_left ? p->left_accesses : p->list->count;
  bool lies = true;
  for (int32_t i = is_left ? 0 : p->left_accesses; i < end && lies; i++) {
    lies = indim_access_is_adjacent(&p->list->accesses[i], dim);
  }
  return lies;
}

indim_shape indim_product_laid_out(const indim_product *p, bool is_left, indim_type type, const int32_t *order,
                                   int32_t minor) {
  const int32_t *dims = is_left ? p->lhs_dim : p->rhs_dim;
  indim_shape shape = *(is_left ? p->lhs : p->rhs)->shape;
  int32_t count = 0;
  shape.type = type;
  shape.has_layout = true;
  shape.layout = (indim_layout){.rank = shape.rank};
  for (int32_t i = 0; i < shape.rank; i++) {
    if (dims[i] == minor) {
      shape.layout.minor_to_major[count++] = i;
    }
  }
  for (int32_t g = 0; g < 3; g++) {
    for (int32_t d = p->rank - 1; d >= 0; d--) {
      for (int32_t i = 0; i < shape.rank && p->group[d] == order[g] && d != minor; i++) {
        if (dims[i] == d) {
          shape.layout.minor_to_major[count++] = i;
        }
      }
    }
  }
  return shape;
}

// One factor at a nest index, in the type of the sums.
indim_value_id indim_product_factor(indim_product *p, indim_element_ctx *k, bool left, const indim_coord *index) {
  indim_flow_item *operand = left ? p->lhs : p->rhs;
  const int32_t *dims = left ? p->lhs_dim : p->rhs_dim;
  indim_coord inner[INDIM_MAX_RANK];
  for (int32_t d = 0; d < operand->shape->rank; d++) {
    inner[d] = index[dims[d]];
  }
  return indim_loop_convert(&p->l->b, indim_value_at(k, operand, inner, 0), p->sum);
}

indim_value_id indim_product_multiply_add(indim_product *p, int32_t lanes, indim_value_id x, indim_value_id y,
                                          indim_value_id sum) {
  indim_loop_builder *b = &p->l->b;
  x = indim_loop_splat(b, x, lanes);
  y = indim_loop_splat(b, y, lanes);
  if (indim_loop_has_fma(p->sum)) {
    return indim_loop_fma(b, x, y, sum);
  }
  return indim_loop_binary(b, INDIM_OP_ADD, indim_loop_binary(b, INDIM_OP_MULTIPLY, x, y), sum);
}
