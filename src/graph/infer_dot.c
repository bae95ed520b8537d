// Shape rules of the matrix products: which dimensions are batch, contracting and free, and the result in the order
// batch (as the left side lists them), left free, right free. The operands may be of different
// types; a declared element type is the one that the products are summed in.
#include <inttypes.h>

#include "graph/dynamic.h"
#include "graph/infer_kit.h"

// Operand numbers and attributes of one side.
typedef struct dot_side {
  int32_t operand;
  indim_attr_id batch;
  indim_attr_id contracting;
} dot_side;

static const dot_side left_side = {0, INDIM_ATTR_LHS_BATCH_DIMS, INDIM_ATTR_LHS_CONTRACTING_DIMS};
static const dot_side right_side = {1, INDIM_ATTR_RHS_BATCH_DIMS, INDIM_ATTR_RHS_CONTRACTING_DIMS};
// scaled-dot's operands are lhs, its scale, rhs, its scale.
static const dot_side scaled_right_side = {2, INDIM_ATTR_RHS_BATCH_DIMS, INDIM_ATTR_RHS_CONTRACTING_DIMS};

// In range, no dimension twice, none both batch and contracting.
static indim_status verify_side(indim_ctx *cx, const indim_instr *instr, const dot_side *side) {
  INDIM_TRY(indim_operand_verify_array(cx, instr, side->operand));
  const indim_shape *shape = indim_operand_shape(instr, side->operand);
  INDIM_TRY(indim_attr_verify_dims(cx, instr, side->batch, shape, INDIM_DIMS_UNIQUE));
  INDIM_TRY(indim_attr_verify_dims(cx, instr, side->contracting, shape, INDIM_DIMS_UNIQUE));
  uint64_t both = indim_attr_mask(instr, side->batch) & indim_attr_mask(instr, side->contracting);
  for (int32_t i = 0; i < shape->rank; i++) {
    if ((both >> i & 1) != 0) {
      indim_shape_text text;
      return indim_fail_attr(
          cx, instr, side->contracting, "dimension %d of operand %d (%s), which is %s, is in %s= and in %s=", (int)i,
          (int)side->operand, indim_operand_name(instr, side->operand), indim_shape_brief(shape, &text),
          indim_attr_text(side->batch), indim_attr_text(side->contracting));
    }
  }
  return INDIM_OK;
}

// The lists of both sides pair up dimensions of equal size.
static indim_status verify_pairs(indim_ctx *cx, const indim_instr *instr, int32_t right_operand, indim_attr_id left,
                                 indim_attr_id right) {
  int64_t left_count = 0;
  int64_t right_count = 0;
  const int64_t *left_dims = indim_instr_ints(instr, left, &left_count);
  const int64_t *right_dims = indim_instr_ints(instr, right, &right_count);
  if (left_count != right_count) {
    return indim_fail_attr(cx, instr, right_count == 0 ? left : right,
                           "%s= has length %" PRId64 ", %s= has %" PRId64 ": each pairs one dimension with one",
                           indim_attr_text(left), left_count, indim_attr_text(right), right_count);
  }
  const indim_shape *lhs = indim_operand_shape(instr, 0);
  const indim_shape *rhs = indim_operand_shape(instr, right_operand);
  for (int64_t i = 0; i < left_count; i++) {
    if (!indim_size_fits(lhs->sizes[left_dims[i]], rhs->sizes[right_dims[i]])) {
      indim_shape_text lhs_text;
      indim_shape_text rhs_text;
      indim_dim_text lhs_size;
      indim_dim_text rhs_size;
      return indim_fail_attr(cx, instr, left,
                             "%s=%" PRId64 " has size %s in operand 0 (%s), which is %s, but %s=%" PRId64
                             " has size %s in operand %d (%s), which is %s",
                             indim_attr_text(left), left_dims[i], indim_dim_brief(lhs, left_dims[i], &lhs_size),
                             indim_operand_name(instr, 0), indim_shape_brief(lhs, &lhs_text), indim_attr_text(right),
                             right_dims[i], indim_dim_brief(rhs, right_dims[i], &rhs_size), (int)right_operand,
                             indim_operand_name(instr, right_operand), indim_shape_brief(rhs, &rhs_text));
    }
  }
  return INDIM_OK;
}

// The declared element type, if there is a declared array; else the higher precision of the two.
static indim_type result_type(const indim_instr *instr, const dot_side *right) {
  const indim_shape *declared = instr->shape;
  return declared != NULL && indim_shape_is_array(declared)
             ? declared->type
             : indim_type_higher_precision(indim_operand_shape(instr, 0)->type,
                                           indim_operand_shape(instr, right->operand)->type);
}

typedef struct dim_list {
  int32_t count;
  int64_t sizes[3 * INDIM_MAX_RANK];
  uint64_t dynamic;
} dim_list;

static void append(dim_list *out, const indim_shape *shape, int64_t dim) {
  if (out->count < INDIM_MAX_RANK) {
    out->dynamic |= (uint64_t)indim_dim_is_dynamic(shape, dim) << out->count;
  }
  out->sizes[out->count++] = shape->sizes[dim];
}

// Dimensions of the side's operand that are in none of the masks.
static void append_free(dim_list *out, const indim_instr *instr, const dot_side *side, uint64_t others) {
  const indim_shape *shape = indim_operand_shape(instr, side->operand);
  uint64_t taken = indim_attr_mask(instr, side->batch) | indim_attr_mask(instr, side->contracting) | others;
  for (int32_t i = 0; i < shape->rank; i++) {
    if ((taken >> i & 1) == 0) {
      append(out, shape, i);
    }
  }
}

static void append_batch(dim_list *out, const indim_instr *instr) {
  int64_t count = 0;
  const int64_t *batch = indim_instr_ints(instr, left_side.batch, &count);
  for (int64_t i = 0; i < count; i++) {
    append(out, indim_operand_shape(instr, 0), batch[i]);
  }
}

static indim_status verify_dot(indim_ctx *cx, const indim_instr *instr, const dot_side *right) {
  INDIM_TRY(verify_side(cx, instr, &left_side));
  INDIM_TRY(verify_side(cx, instr, right));
  INDIM_TRY(verify_pairs(cx, instr, right->operand, left_side.contracting, right->contracting));
  return verify_pairs(cx, instr, right->operand, left_side.batch, right->batch);
}

static indim_status infer_product(indim_ctx *cx, const indim_instr *instr, const dot_side *right,
                                  indim_shape *out_shape) {
  INDIM_TRY(verify_dot(cx, instr, right));
  dim_list result = {0};
  append_batch(&result, instr);
  append_free(&result, instr, &left_side, 0);
  append_free(&result, instr, right, 0);
  return indim_instr_make_array(cx, instr, result_type(instr, right), result.count, result.sizes, result.dynamic,
                                out_shape);
}

indim_status indim_infer_dot(indim_ctx *cx, const indim_instr *instr, indim_arena *arena, indim_shape *out_shape) {
  (void)arena;
  return infer_product(cx, instr, &right_side, out_shape);
}

// Batch dimensions stand before contracting and free ones.
int32_t indim_ragged_dot_leading(const indim_instr *instr, int64_t *out_dims) {
  int64_t count = 0;
  int32_t found = 0;
  int64_t ragged = indim_instr_ints(instr, INDIM_ATTR_LHS_RAGGED_DIMS, &count)[0];
  uint64_t batch = indim_attr_mask(instr, left_side.batch);
  uint64_t contracting = indim_attr_mask(instr, left_side.contracting);
  const int64_t *dims = indim_instr_ints(instr, left_side.batch, &count);
  for (int64_t i = 0; i < count && dims[i] != ragged; i++) {
    out_dims[found++] = dims[i];
  }
  if ((contracting >> ragged & 1) != 0) {
    dims = indim_instr_ints(instr, left_side.contracting, &count);
    for (int64_t i = 0; i < count && dims[i] != ragged; i++) {
      out_dims[found++] = dims[i];
    }
  } else if ((batch >> ragged & 1) == 0) {
    for (int64_t i = 0; i < ragged; i++) {
      if (((batch | contracting) >> i & 1) == 0) {
        out_dims[found++] = i;
      }
    }
  }
  return found;
}

// group_sizes is a vector of the groups' sizes, or has the dimensions before the ragged one in front.
static indim_status verify_group_sizes(indim_ctx *cx, const indim_instr *instr, int64_t *out_groups) {
  INDIM_TRY(indim_operand_verify_array(cx, instr, 2));
  INDIM_TRY(indim_operand_verify_classes(cx, instr, 2, INDIM_CLASS_INTEGER));
  const indim_shape *groups = indim_operand_shape(instr, 2);
  const indim_shape *lhs = indim_operand_shape(instr, 0);
  int64_t dims[INDIM_MAX_RANK];
  dim_list before = {0};
  int32_t leading = indim_ragged_dot_leading(instr, dims);
  for (int32_t i = 0; i < leading; i++) {
    append(&before, lhs, dims[i]);
  }
  bool ok = groups->rank == 1 || groups->rank == before.count + 1;
  for (int32_t i = 0; ok && i + 1 < groups->rank; i++) {
    ok = indim_size_fits(groups->sizes[i], before.sizes[i]);
  }
  if (!ok) {
    indim_shape_text text;
    indim_list_text list;
    indim_fail_instr(cx, INDIM_INVALID, instr, "group sizes, operand 2 (%s), are %s, expected a vector of them%s%s",
                     indim_operand_name(instr, 2), indim_shape_brief(groups, &text),
                     before.count > 0 ? ", or one for each of the sizes " : "",
                     before.count > 0 ? indim_list_brief(before.sizes, before.count, &list) : "");
    return INDIM_INVALID;
  }
  *out_groups = groups->sizes[groups->rank - 1];
  return INDIM_OK;
}

// One group dimension on the right, neither batch nor contracting, as long as there are groups.
static indim_status verify_group_dim(indim_ctx *cx, const indim_instr *instr, int64_t groups) {
  const indim_shape *rhs = indim_operand_shape(instr, 1);
  int32_t dim = 0;
  INDIM_TRY(indim_attr_one_dim(cx, instr, INDIM_ATTR_RHS_GROUP_DIMS, rhs, &dim));
  uint64_t taken = indim_attr_mask(instr, right_side.batch) | indim_attr_mask(instr, right_side.contracting);
  if ((taken >> dim & 1) != 0) {
    return indim_fail_attr(cx, instr, INDIM_ATTR_RHS_GROUP_DIMS,
                           "rhs_group_dims={%d} is a batch or contracting dimension too", (int)dim);
  }
  if (!indim_size_fits(rhs->sizes[dim], groups)) {
    indim_shape_text text;
    return indim_fail_attr(cx, instr, INDIM_ATTR_RHS_GROUP_DIMS,
                           "rhs_group_dims={%d} has size %" PRId64 " in operand 1 (%s), which is %s, but there are "
                           "%" PRId64 " groups",
                           (int)dim, rhs->sizes[dim], indim_operand_name(instr, 1), indim_shape_brief(rhs, &text),
                           groups);
  }
  return INDIM_OK;
}

// The ragged dimension of the left side is cut into groups. Free: the right side has a dimension of groups, which the
// result drops. Contracting: the result has one matrix for each group, in front. Batch: a plain dot.
indim_status indim_infer_ragged_dot(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                    indim_shape *out_shape) {
  (void)arena;
  INDIM_TRY(verify_dot(cx, instr, &right_side));
  int32_t ragged = 0;
  int64_t groups = 0;
  int64_t group_dims = 0;
  INDIM_TRY(indim_attr_one_dim(cx, instr, INDIM_ATTR_LHS_RAGGED_DIMS, indim_operand_shape(instr, 0), &ragged));
  INDIM_TRY(verify_group_sizes(cx, instr, &groups));
  const int64_t *group_dim = indim_instr_ints(instr, INDIM_ATTR_RHS_GROUP_DIMS, &group_dims);
  bool contracts = (indim_attr_mask(instr, left_side.contracting) >> ragged & 1) != 0;
  bool in_batch = (indim_attr_mask(instr, left_side.batch) >> ragged & 1) != 0;
  uint64_t dropped = 0;
  dim_list result = {0};
  if (contracts || in_batch) {
    if (group_dims != 0) {
      return indim_fail_attr(cx, instr, INDIM_ATTR_RHS_GROUP_DIMS,
                             "rhs_group_dims= has length %" PRId64 ", expected none where lhs_ragged_dims={%d} is a "
                             "%s dimension",
                             group_dims, (int)ragged, contracts ? "contracting" : "batch");
    }
  } else {
    INDIM_TRY(verify_group_dim(cx, instr, groups));
    dropped = UINT64_C(1) << group_dim[0];
  }
  if (contracts) {
    const indim_shape *sizes = indim_operand_shape(instr, 2);
    append(&result, sizes, sizes->rank - 1);
  }
  append_batch(&result, instr);
  append_free(&result, instr, &left_side, 0);
  append_free(&result, instr, &right_side, dropped);
  return indim_instr_make_array(cx, instr, result_type(instr, &right_side), result.count, result.sizes, result.dynamic,
                                out_shape);
}

// A scale stands for blocks of its operand: a scalar for all of it, or as many dimensions, each size dividing the
// operand's.
static indim_status verify_scale(indim_ctx *cx, const indim_instr *instr, int32_t scale) {
  const indim_shape *scales = indim_operand_shape(instr, scale);
  const indim_shape *scaled = indim_operand_shape(instr, scale - 1);
  INDIM_TRY(indim_operand_verify_array(cx, instr, scale));
  INDIM_TRY(indim_operand_verify_classes(cx, instr, scale, INDIM_CLASS_FLOAT));
  bool ok = scales->rank == 0 || scales->rank == scaled->rank;
  for (int32_t i = 0; ok && i < scales->rank; i++) {
    ok = scales->sizes[i] == scaled->sizes[i] || scales->sizes[i] == INDIM_UNBOUNDED ||
         scaled->sizes[i] == INDIM_UNBOUNDED || (scales->sizes[i] > 0 && scaled->sizes[i] % scales->sizes[i] == 0);
  }
  if (!ok) {
    indim_shape_text scales_text;
    indim_shape_text scaled_text;
    indim_fail_instr(cx, INDIM_INVALID, instr, "scale, operand %d (%s), is %s, which does not fit operand %d (%s), %s",
                     (int)scale, indim_operand_name(instr, scale), indim_shape_brief(scales, &scales_text),
                     (int)scale - 1, indim_operand_name(instr, scale - 1), indim_shape_brief(scaled, &scaled_text));
    indim_hint(cx, "a scale is a scalar, or divides each dimension of what it scales; the operands are lhs, its scale, "
                   "rhs, its scale");
    return INDIM_INVALID;
  }
  return INDIM_OK;
}

indim_status indim_infer_scaled_dot(indim_ctx *cx, const indim_instr *instr, indim_arena *arena,
                                    indim_shape *out_shape) {
  (void)arena;
  INDIM_TRY(indim_operands_verify_arrays(cx, instr, 0, 3));
  INDIM_TRY(verify_scale(cx, instr, 1));
  INDIM_TRY(verify_scale(cx, instr, 3));
  return infer_product(cx, instr, &scaled_right_side, out_shape);
}
