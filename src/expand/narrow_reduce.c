// Reductions in types with more lanes, and no conversions:
//
//   maximum and minimum of f16 and bf16    of s16 that have their order
//   argmax with an index of s64            with one of s32, where the dimension has so few elements
//
// The bits of a float, those of a magnitude flipped below zero, are in the order of the numbers, with -0 before 0 and the NaNs
// at both ends. As many as there are of either sign are subtracted, modulo 2^16: then all NaNs are behind infinity, where a
// maximum takes them; added, they are all before the least, where a minimum does.
#include "expand/narrow_reduce.h"

#include "array/float_format.h"
#include "expand/kit.h"
#include "expand/split.h"
#include "graph/infer_kit.h"
#include "indim/literal_util.h"

enum { LEAST_ELEMENTS = 64 };

// Extremes of floats ------------------------------------------------------------------------------------------------------

static const indim_computation *reducer_of(const indim_instr *instr) {
  return indim_instr_computation(instr, INDIM_ATTR_TO_APPLY);
}

static bool is_extreme(const indim_instr *instr) {
  const indim_computation *apply = reducer_of(instr);
  const indim_instr *root = apply->root;
  indim_type type = instr->operands[0]->shape->type;
  bool is_op = root->op == INDIM_OP_MAXIMUM || root->op == INDIM_OP_MINIMUM;
  return instr->operand_count == 2 && (type == INDIM_BF16 || type == INDIM_F16) && is_op && root->shape->type == type &&
         root->operands[0]->op == INDIM_OP_PARAMETER && root->operands[1]->op == INDIM_OP_PARAMETER &&
         root->operands[0] != root->operands[1];
}

static value with_int(const indim_expander *x, indim_op op, value v, int64_t number) {
  return v == NULL ? NULL : indim_build_binary(x->b, op, v, indim_build_scalar_int(x->b, INDIM_S16, number), NULL, 0);
}

// Flips the magnitude of what is below zero.
static value flip(const indim_expander *x, value bits) {
  value flipped = with_int(x, INDIM_OP_AND, with_int(x, INDIM_OP_SHIFT_RIGHT_ARITHMETIC, bits, 15), INT16_MAX);
  return indim_build_binary(x->b, INDIM_OP_XOR, bits, flipped, NULL, 0);
}

static value extreme(indim_expander *x) {
  indim_op op = reducer_of(x->instr)->root->op;
  indim_type type = x->instr->operands[0]->shape->type;
  indim_op forth = op == INDIM_OP_MAXIMUM ? INDIM_OP_SUBTRACT : INDIM_OP_ADD;
  indim_op back = op == INDIM_OP_MAXIMUM ? INDIM_OP_ADD : INDIM_OP_SUBTRACT;
  int64_t nans = INT16_MAX - (int64_t)indim_float_format_of(type)->infinity_bits;
  int64_t count = 0;
  const int64_t *dims = indim_instr_ints(x->instr, INDIM_ATTR_DIMENSIONS, &count);
  const indim_computation *apply = indim_expand_reducer(x, "extreme", op, INDIM_S16);
  value keys[2];
  indim_expand_begin(x);
  for (int32_t k = 0; k < 2; k++) {
    value bits = indim_build_bitcast_convert(x->b, x->operands[k], INDIM_S16);
    keys[k] = with_int(x, forth, flip(x, bits), nans);
  }
  value found = indim_build_reduce(x->b, &keys[0], &keys[1], 1, apply, dims, (int32_t)count);
  return indim_build_bitcast_convert(x->b, flip(x, with_int(x, back, found, nans)), type);
}

// Indices -----------------------------------------------------------------------------------------------------------------

// The dimension along which |index| is an iota, as it is or broadcast; -1 for anything else.
static int32_t iota_dim(const indim_instr *index) {
  if (index->op == INDIM_OP_IOTA) {
    return (int32_t)indim_instr_int(index, INDIM_ATTR_IOTA_DIMENSION, 0);
  }
  bool is_repeated = index->op == INDIM_OP_BROADCAST && index->operands[0]->op == INDIM_OP_IOTA;
  int64_t count = 0;
  const int64_t *dims = is_repeated ? indim_instr_ints(index, INDIM_ATTR_DIMENSIONS, &count) : NULL;
  return is_repeated ? (int32_t)dims[iota_dim(index->operands[0])] : -1;
}

// Values of 8 bytes have the lanes of such an index.
static bool has_wide_index(const indim_instr *instr) {
  if (instr->operand_count != 4 || instr->operands[1]->shape->type != INDIM_S64 ||
      indim_type_bytes(instr->operands[0]->shape->type) > 4 || !indim_split_only_selects(reducer_of(instr))) {
    return false;
  }
  const indim_instr *init = instr->operands[3];
  int32_t dim = iota_dim(instr->operands[1]);
  return dim >= 0 && instr->operands[1]->shape->sizes[dim] <= INT32_MAX && init->op == INDIM_OP_CONSTANT &&
         indim_literal_is_all(init->literal, 0);
}

// The reducer with an index of s32.
static const indim_computation *narrowed(indim_expander *x) {
  const indim_computation *apply = reducer_of(x->instr);
  value *of = indim_expand_values(x, apply->instr_count);
  indim_shape scalar;
  indim_build_fail(x->b, indim_shape_init(x->cx, INDIM_S32, 0, NULL, &scalar));
  indim_builder_begin(x->b, "narrowed");
  for (int32_t i = 0; of != NULL && i < apply->instr_count; i++) {
    const indim_instr *instr = apply->instrs[i];
    if (instr->op == INDIM_OP_PARAMETER) {
      const indim_shape *shape = instr->shape->type == INDIM_S64 ? &scalar : instr->shape;
      of[i] = indim_build_parameter(x->b, instr->parameter_number, shape, NULL);
      continue;
    }
    value operands[4];
    int32_t count = instr->operand_count < 4 ? instr->operand_count : 4;
    for (int32_t k = 0; k < count; k++) {
      operands[k] = of[instr->operands[k]->index];
    }
    of[i] = indim_build_emit(x->b, instr->op, NULL, operands, count, instr->attrs, instr->attr_count);
  }
  return of == NULL ? NULL : indim_builder_end(x->b, of[apply->root->index]);
}

static value selection(indim_expander *x) {
  const indim_shape *shape = x->instr->operands[1]->shape;
  int64_t count = 0;
  const int64_t *dims = indim_instr_ints(x->instr, INDIM_ATTR_DIMENSIONS, &count);
  const indim_computation *apply = narrowed(x);
  indim_shape index;
  indim_build_fail(x->b, indim_shape_init(x->cx, INDIM_S32, shape->rank, shape->sizes, &index));
  if (apply == NULL) {
    return NULL;
  }
  indim_expand_begin(x);
  value operands[] = {x->operands[0], indim_build_iota(x->b, &index, iota_dim(x->instr->operands[1]))};
  value inits[] = {x->operands[2], indim_build_scalar_int(x->b, INDIM_S32, 0)};
  value found = indim_build_reduce(x->b, operands, inits, 2, apply, dims, (int32_t)count);
  value results[] = {indim_build_get_tuple_element(x->b, found, 0),
                     indim_expand_convert(x, indim_build_get_tuple_element(x->b, found, 1), INDIM_S64)};
  return indim_build_tuple(x->b, results, 2);
}

bool indim_narrow_reduce_suits(const indim_instr *instr) {
  return instr->op == INDIM_OP_REDUCE && indim_shape_is_static(instr->operands[0]->shape) &&
         indim_shape_element_count(instr->operands[0]->shape) >= LEAST_ELEMENTS &&
         (is_extreme(instr) || has_wide_index(instr));
}

value indim_expand_reduction(indim_expander *x) {
  if (!indim_narrow_reduce_suits(x->instr)) {
    return indim_split_reduce(x);
  }
  return x->instr->operand_count == 2 ? extreme(x) : selection(x);
}
