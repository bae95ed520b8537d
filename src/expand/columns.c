// x[:, [2, 0, 5]]: a gather of a few elements of each row, whose numbers are constants, as slices put side by side. Loops know where
// each element comes from then, and write rows whole (loop/nest/stack.c).
#include "expand/columns.h"

#include "base/size.h"

// Longer rows would be written in too many pieces where they are not put together in registers; few rows gain nothing.
enum { MOST_COLUMNS = 8, LEAST_ROWS = 64 };

// Whether all of a gather's sizes but the last are those of its operand, and each column is one of the result's last dimension.
static bool is_of_columns(const indim_instr *instr) {
  const indim_shape *from = instr->operands[0]->shape;
  int32_t last = from->rank - 1;
  int64_t offsets = 0, collapsed = 0, mapped = 0, sizes = 0;
  const int64_t *offset = indim_instr_ints(instr, INDIM_ATTR_OFFSET_DIMS, &offsets);
  const int64_t *collapsed_dim = indim_instr_ints(instr, INDIM_ATTR_COLLAPSED_SLICE_DIMS, &collapsed);
  const int64_t *dim = indim_instr_ints(instr, INDIM_ATTR_START_INDEX_MAP, &mapped);
  const int64_t *size = indim_instr_ints(instr, INDIM_ATTR_SLICE_SIZES, &sizes);
  bool is_so = last > 0 && instr->shape->rank == from->rank && offsets == last && collapsed == 1 && mapped == 1 &&
               collapsed_dim[0] == last && dim[0] == last && sizes == from->rank && size[last] == 1 &&
               indim_expand_has_none(instr, INDIM_ATTR_OPERAND_BATCHING_DIMS);
  for (int32_t d = 0; d < last && is_so; d++) {
    is_so = offset[d] == d && size[d] == from->sizes[d];
  }
  return is_so;
}

// Where the element at |index| of a reshape comes from.
static void index_before(const indim_instr *reshape, const int64_t *index, int64_t *out) {
  const indim_shape *to = reshape->shape;
  const indim_shape *from = reshape->operands[0]->shape;
  int64_t place = 0;
  for (int32_t d = 0; d < to->rank; d++) {
    place = place * to->sizes[d] + index[d];
  }
  for (int32_t d = from->rank - 1; d >= 0; d--) {
    out[d] = place % from->sizes[d];
    place /= from->sizes[d];
  }
}

// An integer that follows from constants, by the ops with which front ends have negative numbers count from the end; false: it does
// not. Recurses at most |depth| times.
static bool find_number(indim_ctx *cx, const indim_instr *instr, const int64_t *index, int32_t depth, int64_t *out) {
  int64_t x[3] = {0};
  int64_t inner[INDIM_MAX_RANK] = {0};
  int64_t count = 0;
  const int64_t *dims = indim_instr_ints(instr, INDIM_ATTR_DIMENSIONS, &count);
  indim_type type = instr->shape->type;
  if (depth == 0 || !(type == INDIM_PRED || indim_type_is_signed_int(type)) || !indim_shape_is_static(instr->shape)) {
    return false;
  }
  if (instr->op == INDIM_OP_CONSTANT) {
    return indim_literal_get_int(cx, instr->literal, index, out) == INDIM_OK;
  }
  if (instr->op == INDIM_OP_BROADCAST || instr->op == INDIM_OP_RESHAPE) {
    for (int64_t d = 0; d < count && instr->op == INDIM_OP_BROADCAST; d++) {
      inner[d] = index[dims[d]];
    }
    if (instr->op == INDIM_OP_RESHAPE) {
      index_before(instr, index, inner);
    }
    return find_number(cx, instr->operands[0], inner, depth - 1, out);
  }
  if (instr->op != INDIM_OP_CONVERT && instr->op != INDIM_OP_ADD && instr->op != INDIM_OP_SELECT &&
      instr->op != INDIM_OP_COMPARE) {
    return false;
  }
  for (int32_t i = 0; i < instr->operand_count; i++) {
    if (!find_number(cx, instr->operands[i], index, depth - 1, &x[i])) {
      return false;
    }
  }
  if (instr->op == INDIM_OP_COMPARE) {
    *out = x[0] < x[1] ? 1 : 0;
    return indim_instr_direction(instr) == INDIM_COMPARE_LT;
  }
  *out = instr->op == INDIM_OP_ADD ? x[0] : instr->op == INDIM_OP_SELECT ? (x[0] != 0 ? x[1] : x[2]) : x[0];
  bool fits = instr->op != INDIM_OP_ADD || indim_int_add(x[0], x[1], out);
  int64_t most = INT64_MAX >> (64 - indim_type_bits(type));
  return fits && type != INDIM_PRED && *out <= most && *out >= -most - 1;
}

// The number of column |i| of the result, clamped to those that there are.
static bool find_column(indim_ctx *cx, const indim_instr *gather, int64_t i, int64_t *out) {
  enum { MOST_DEPTH = 6 };
  const indim_shape *from = gather->operands[0]->shape;
  int64_t last = from->sizes[from->rank - 1] - 1;
  int64_t place[2] = {0, 0};
  place[indim_instr_int(gather, INDIM_ATTR_INDEX_VECTOR_DIM, 0) == 0 ? 1 : 0] = i;
  bool is_known = find_number(cx, gather->operands[1], place, MOST_DEPTH, out);
  *out = *out < 0 ? 0 : *out < last ? *out : last;
  return is_known;
}

bool indim_columns_suit(indim_ctx *cx, const indim_instr *instr) {
  if (instr->op != INDIM_OP_GATHER || !is_of_columns(instr) || !indim_shape_is_static(instr->shape) ||
      !indim_shape_is_static(instr->operands[0]->shape)) {
    return false;
  }
  const indim_shape *indices = instr->operands[1]->shape;
  int64_t count = indim_shape_element_count(instr->shape);
  int64_t columns = instr->shape->sizes[instr->shape->rank - 1];
  bool is_moved = instr->shape->type != INDIM_PRED && !indim_type_is_complex(instr->shape->type) &&
                  indim_expand_is_row_major(instr->shape) && indim_expand_is_row_major(instr->operands[0]->shape);
  bool suits = is_moved && indices->rank >= 1 && indices->rank <= 2 && columns > 1 && columns <= MOST_COLUMNS &&
               count >= LEAST_ROWS * columns && indim_shape_element_count(indices) == columns;
  int64_t column = 0;
  for (int64_t i = 0; i < columns && suits; i++) {
    suits = find_column(cx, instr, i, &column);
  }
  return suits;
}

value indim_expand_gather(indim_expander *x) {
  const indim_instr *instr = x->instr;
  const indim_shape *from = instr->operands[0]->shape;
  int32_t last = from->rank - 1;
  int64_t starts[INDIM_MAX_RANK] = {0}, limits[INDIM_MAX_RANK];
  value parts[MOST_COLUMNS];
  int32_t count = (int32_t)instr->shape->sizes[last];
  indim_expand_begin(x);
  for (int32_t d = 0; d < last; d++) {
    limits[d] = from->sizes[d];
  }
  for (int32_t i = 0; i < count; i++) {
    (void)find_column(x->cx, instr, i, &starts[last]);  // indim_columns_suit has
    limits[last] = starts[last] + 1;
    parts[i] = indim_build_slice(x->b, x->operands[0], starts, limits, NULL);
  }
  return indim_build_concatenate(x->b, parts, count, last);
}
